//! Loops compiled for the widest vector registers of the current processor.
//!
//! The crate is built for any processor of its kind; `pulp` chooses among several builds of a loop
//! at run time. Sums and products are rounded the same in all of them.

/// A loop that gains from wide registers. Everything it calls must be inlined to gain too.
pub trait Kernel {
    /// What it returns.
    type Output;

    /// Runs the loop; to be called through [`run_vectorized`].
    fn run(self) -> Self::Output;
}

/// Runs a kernel in the build for the widest registers there are.
pub fn run_vectorized<K: Kernel>(kernel: K) -> K::Output {
    // The closure consumes the kernel: one that could be called twice would be called through a
    // shim that is not inlined.
    pulp::Arch::new().dispatch(
        #[inline(always)]
        move || kernel.run(),
    )
}
