//! The `pliant` command.

use std::process::ExitCode;

mod cli;

fn main() -> ExitCode {
    cli::run(cli::parse())
}
