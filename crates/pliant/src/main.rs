//! The `pliant` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(pliant::cli::run_arguments(std::env::args_os()))
}
