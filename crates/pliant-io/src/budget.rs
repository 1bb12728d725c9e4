//! A bound on what a file may grow to when it is read.
//!
//! **Problem.** Sharing and sampling let a few bytes ask for much memory: one blend shape that a thousand
//! targets name, one key that a million frames hold. Sizes that stand in the file itself are checked against
//! its length where they are read; this bounds what is made from them.

use std::cell::Cell;

use crate::ReadError;

/// How many more numbers may be made from a file.
#[derive(Debug)]
pub(crate) struct Budget {
    left: Cell<usize>,
}

impl Budget {
    /// *Ours*: a few megabytes for any file, and 16 numbers for each of its bytes. A clip whose two keys hold
    /// for some hundred frames stays below it.
    pub(crate) fn of_file(bytes: usize) -> Self {
        Self { left: Cell::new(bytes.saturating_mul(16).saturating_add(3_000_000)) }
    }

    /// Declines `what` where it takes more numbers than are left.
    pub(crate) fn spend(&self, numbers: usize, what: &str) -> Result<(), ReadError> {
        if self.try_spend(numbers) {
            return Ok(());
        }
        Err(ReadError::whole(format!("{what} would fill far more memory than the file has bytes; it is damaged, export it again")))
    }

    /// Whether so many numbers are left; if so, they are spent.
    pub(crate) fn try_spend(&self, numbers: usize) -> bool {
        let left = self.left.get().checked_sub(numbers);
        left.inspect(|&left| self.left.set(left)).is_some()
    }
}
