//! How much a file may ask for.
//!
//! **Problem.** A few bytes of JSON can name the same array again and again, or an array of zeros that has no
//! bytes at all, so that a small file asks for endless memory.
//!
//! **Form.** Numbers that are taken from a file are counted; an honest file takes each of its bytes about once.

use std::cell::Cell;

use crate::ReadError;

/// The numbers that may still be taken.
pub(super) struct Budget {
    left: Cell<usize>,
    bytes: Cell<usize>,
}

impl Budget {
    /// What any file may take: 8 MiB as `f64`.
    const FREE: usize = 1 << 20;
    /// Numbers for each byte of the file; honest files stay below 1.
    const PER_BYTE: usize = 4;

    pub(super) fn new(bytes: usize) -> Self {
        let left = bytes.saturating_mul(Self::PER_BYTE).saturating_add(Self::FREE);
        Self { left: Cell::new(left), bytes: Cell::new(bytes) }
    }

    /// How many bytes have shown up so far.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.get()
    }

    /// More bytes have shown up: buffers beside the file, or unpacked ones.
    pub(super) fn grow(&self, bytes: usize) {
        self.left.set(self.left.get().saturating_add(bytes.saturating_mul(Self::PER_BYTE)));
        self.bytes.set(self.bytes.get().saturating_add(bytes));
    }

    /// Takes `count` numbers, or declines.
    pub(super) fn take(&self, count: usize, what: impl FnOnce() -> String) -> Result<(), ReadError> {
        match self.left.get().checked_sub(count) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => {
                let message = format!("{} asks for {count} numbers, more than a file of this size can hold; export it again", what());
                Err(ReadError::whole(message))
            }
        }
    }
}
