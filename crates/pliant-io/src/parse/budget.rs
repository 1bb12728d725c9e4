//! A bound on the memory that a file may ask for.
//!
//! **Problem.** Sharing and sampling let a few bytes ask for much memory: one blend shape that a
//! thousand targets use, one key that lasts for a million frames, an array of zeros without bytes.
//! Sizes in the file itself are checked against its length where they are read; the budget bounds
//! what is computed from them. Everything that is made from a file spends it: decoded numbers, texts
//! that are repeated for each object, steps of searches over lists of the file.

use std::cell::Cell;
use std::fmt::Display;

use super::memory;
use crate::ReadError;

/// Chosen: what a decoded number takes while it is used: itself, its copy as a position or a corner, and its
/// place in a table of equal ones.
const BYTES_PER_NUMBER: usize = 4 * size_of::<f64>();

/// How many more numbers may be decoded from a file.
#[derive(Debug)]
pub(crate) struct Budget {
    left: Cell<usize>,
    bytes: Cell<usize>,
    per_byte: usize,
}

impl Budget {
    /// For a file whose curves are sampled over time. Chosen: 3 million numbers for any file, and
    /// 16 for each of its bytes. A clip of two keys over some hundred frames stays below.
    pub(crate) fn of_samples(bytes: usize) -> Self {
        Self::new(bytes, 16, 3_000_000)
    }

    /// For a file whose arrays are read as they are. Chosen: 64 MiB as `f64` for any file, because
    /// meshes may share arrays (the spheres of a material chart need 6 million numbers from 240 kB),
    /// and 4 numbers for each of its bytes. Most files read each byte about once.
    pub(crate) fn of_arrays(bytes: usize) -> Self {
        Self::new(bytes, 4, 1 << 23)
    }

    /// For bytes that are unpacked from a file. Chosen: 32 MiB for any file, and 64 bytes for each of
    /// its bytes; constant rows of real files take a hundredth, but few rows are constant.
    pub(crate) fn of_unpacked(bytes: usize) -> Self {
        Self::new(bytes, 64, 1 << 25)
    }

    fn new(bytes: usize, per_byte: usize, free: usize) -> Self {
        Self {
            left: Cell::new(bytes.saturating_mul(per_byte).saturating_add(free)),
            bytes: Cell::new(bytes),
            per_byte,
        }
    }

    /// How many bytes were read so far.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.get()
    }

    /// Adds bytes of other files, or of decompressed buffers.
    pub(crate) fn grow(&self, bytes: usize) {
        self.left.set(
            self.left
                .get()
                .saturating_add(bytes.saturating_mul(self.per_byte)),
        );
        self.bytes.set(self.bytes.get().saturating_add(bytes));
    }

    /// Rejects `what` if it takes more numbers than are left.
    pub(crate) fn spend(&self, numbers: usize, what: impl Display) -> Result<(), ReadError> {
        if self.try_spend(numbers) {
            return memory::require(numbers.saturating_mul(BYTES_PER_NUMBER), what);
        }
        let message = format!(
            "{what}: {numbers} numbers are needed, more than a file of this size can hold; the file is damaged, export it again"
        );
        Err(ReadError::whole(message))
    }

    /// Rejects copies of `texts` that take more memory than is left.
    pub(crate) fn spend_texts<T: AsRef<str>>(
        &self,
        texts: &[T],
        what: impl Display,
    ) -> Result<(), ReadError> {
        let bytes: usize = texts.iter().map(|text| text.as_ref().len()).sum();
        self.spend(bytes / 8 + texts.len(), what)
    }

    /// Takes so many numbers, if they are left.
    pub(crate) fn try_spend(&self, numbers: usize) -> bool {
        match self.left.get().checked_sub(numbers) {
            Some(left) => {
                self.left.set(left);
                true
            }
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spending_reduces_the_budget_and_more_bytes_increase_it() {
        let budget = Budget::of_arrays(10);
        let all = (1 << 23) + 40;
        assert!(budget.try_spend(all - 1) && !budget.try_spend(2));
        assert!(
            budget
                .spend(2, "accessor 7")
                .unwrap_err()
                .message
                .contains("accessor 7: 2 numbers")
        );

        budget.grow(1);
        assert_eq!(budget.bytes(), 11);
        assert!(budget.try_spend(5) && !budget.try_spend(1));
    }
}
