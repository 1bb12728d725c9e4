//! Other programs, called one after the other.

use std::process::Command;

use crate::Outcome;

/// Prints and runs a command; an error unless it succeeds.
pub(crate) fn call(command: &mut Command) -> Outcome<()> {
    println!("$ {command:?}");
    let status = command
        .status()
        .map_err(|error| format!("{command:?} could not start: {error}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{command:?} ended with {status}").into())
    }
}
