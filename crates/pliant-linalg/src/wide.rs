//! Loops compiled for the widest registers of the processor at hand.
//!
//! The crate is built for any processor of its kind; `faer` chooses among several builds of its
//! kernels at run time, and lends that choice to ours. Sums and products are rounded the same in
//! all of them.

use faer::traits::ComplexField;

/// A loop that gains from wide registers. Everything it calls must be inlined to gain too.
pub trait Kernel {
    /// What it returns.
    type Output;

    /// Runs the loop; to be called through [`run_wide`].
    fn run(self) -> Self::Output;
}

/// Runs a kernel in the build for the widest registers there are.
pub fn run_wide<K: Kernel>(kernel: K) -> K::Output {
    // The closure consumes the kernel: one that could be called twice would be called through a
    // shim that is not inlined.
    <f64 as ComplexField>::Arch::default().dispatch(
        #[inline(always)]
        move || kernel.run(),
    )
}
