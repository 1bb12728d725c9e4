//! A bound on what a file may grow to when it is read.
//!
//! **Problem.** Sharing and sampling let a few bytes ask for much memory: one blend shape that a
//! thousand targets name, one key that a million frames hold, an array of zeros that has no bytes
//! at all. Sizes that stand in the file itself are checked against its length where they are read;
//! this bounds what is made from them.

use std::cell::Cell;
use std::fmt::Display;

use crate::ReadError;

/// How many more numbers may be made from a file.
#[derive(Debug)]
pub(crate) struct Budget {
    left: Cell<usize>,
    bytes: Cell<usize>,
    per_byte: usize,
}

impl Budget {
    /// For a file whose numbers are sampled over time. *Ours*: a few megabytes for any file, and 16
    /// numbers for each of its bytes. A clip whose two keys hold for some hundred frames stays
    /// below it.
    pub(crate) fn of_samples(bytes: usize) -> Self {
        Self::new(bytes, 16, 3_000_000)
    }

    /// For a file whose arrays are taken as they are. *Ours*: 8 MiB as `f64` for any file, and 4
    /// numbers for each of its bytes; an honest file takes each of them about once, and so
    /// stays below 1.
    pub(crate) fn of_arrays(bytes: usize) -> Self {
        Self::new(bytes, 4, 1 << 20)
    }

    fn new(bytes: usize, per_byte: usize, free: usize) -> Self {
        Self {
            left: Cell::new(bytes.saturating_mul(per_byte).saturating_add(free)),
            bytes: Cell::new(bytes),
            per_byte,
        }
    }

    /// How many bytes have shown up so far.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.get()
    }

    /// More bytes have shown up: buffers beside the file, or unpacked ones.
    pub(crate) fn grow(&self, bytes: usize) {
        self.left.set(
            self.left
                .get()
                .saturating_add(bytes.saturating_mul(self.per_byte)),
        );
        self.bytes.set(self.bytes.get().saturating_add(bytes));
    }

    /// Declines `what` where it takes more numbers than are left.
    pub(crate) fn spend(&self, numbers: usize, what: impl Display) -> Result<(), ReadError> {
        if self.try_spend(numbers) {
            return Ok(());
        }
        let message = format!(
            "{what}: {numbers} numbers are asked for, more than a file of this size can hold; it is damaged, export it again"
        );
        Err(ReadError::whole(message))
    }

    /// Whether so many numbers are left; if so, they are spent.
    pub(crate) fn try_spend(&self, numbers: usize) -> bool {
        let left = self.left.get().checked_sub(numbers);
        left.inspect(|&left| self.left.set(left)).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_spent_is_gone_and_more_bytes_allow_more() {
        let budget = Budget::of_arrays(10);
        let all = (1 << 20) + 40;
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
