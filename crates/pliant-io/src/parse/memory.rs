//! Memory that cannot be had is an error, not the end of the program.
//!
//! **Problem.** An allocation that fails ends a program. Most of those of a reader are sized by its file.
//!
//! **Method.** Before a reader makes what a file asks for, as much memory is reserved and released at
//! once. A machine or a limit (`ulimit -v`) that cannot give it says so here, where an error can be
//! returned.
//!
//! **Departures.** Another thread may take the memory in between, and a system that promises more than it
//! has may end the program later.

use std::hint::black_box;

use crate::ReadError;

/// Chosen: smaller pieces are not worth a question to the system.
const LEAST: usize = 1 << 20;

/// Rejects `what` if so many bytes cannot be reserved.
pub(crate) fn require(bytes: usize, what: impl std::fmt::Display) -> Result<(), ReadError> {
    if bytes < LEAST {
        return Ok(());
    }
    let mut reserved: Vec<u8> = Vec::new();
    let result = reserved.try_reserve_exact(bytes);
    // Without a use, the compiler would remove the reservation.
    black_box(&mut reserved);
    result.map_err(|_| {
        let mib = bytes.div_ceil(1 << 20);
        ReadError::whole(format!(
            "{what}: {mib} MiB of memory cannot be had; close other programs, or split the file"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_beyond_any_machine_is_an_error_of_one_line() {
        assert!(require(1000, "a small list").is_ok());
        let error = require(isize::MAX as usize, "the frames").unwrap_err();
        assert!(error.message.starts_with("the frames: "), "{error}");
        assert!(error.message.contains("cannot be had") && !error.message.contains('\n'));
    }
}
