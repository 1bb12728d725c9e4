//! `pliant man`: man pages of all commands.

use std::fs;
use std::path::PathBuf;

use clap::CommandFactory;

use crate::cli::Cli;
use crate::cli::report::failure::Failure;

const EXAMPLES: &str = "\
Examples:
  # Pages for `man pliant` and `man pliant-pose`
  pliant man --out ~/.local/share/man/man1";

/// Writes a man page for the program and for each command.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Folder for the pages. It is made if it does not exist.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    fs::create_dir_all(&args.out)
        .and_then(|()| clap_mangen::generate_to(Cli::command(), &args.out))
        .map_err(|error| {
            Failure::new(format!(
                "'{}' cannot be written: {error}; name another folder",
                args.out.display()
            ))
        })
}
