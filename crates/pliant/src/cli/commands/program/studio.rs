//! `pliant studio`: start the interactive program.

use std::env::consts::EXE_SUFFIX;
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cli::report::failure::Failure;

const EXAMPLES: &str = "\
Examples:
  # Open the built-in head
  pliant studio

  # Open a rig
  pliant studio face.glb

  # Open a project
  pliant studio shot.pliant

The studio is a separate program, `pliant-studio`, so that the command line
builds without a window system. It is searched beside `pliant` and then on the
PATH. To install it, run
  cargo install --path crates/pliant-studio";

/// Opens the interactive program.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Mesh, rig, or project of the studio.
    #[arg(value_name = "ASSET")]
    asset: Option<String>,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let name = format!("pliant-studio{EXE_SUFFIX}");

    // A studio beside this program has the same version; the PATH may hold another one.
    let program = beside_this_program(&name).unwrap_or_else(|| PathBuf::from(&name));
    let status = Command::new(&program)
        .args(&args.asset)
        .status()
        .map_err(|error| start_failure(&name, &program, &error))?;

    match status.code() {
        Some(0) => Ok(()),
        // The studio has printed the reason itself.
        Some(_) => Err(Failure::new("the studio ended with an error")),
        None => Err(Failure::new(
            "the studio was stopped; your work is saved, start it again",
        )),
    }
}

fn start_failure(name: &str, program: &Path, error: &Error) -> Failure {
    if error.kind() == ErrorKind::NotFound {
        Failure::new(format!(
            "the studio is not installed: there is no {name} beside this program or on the PATH; install it with `cargo install --path crates/pliant-studio`"
        ))
    } else {
        Failure::new(format!("cannot start {}: {error}", program.display()))
    }
}

/// The program of this name in the folder of the running program.
fn beside_this_program(name: &str) -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?.with_file_name(name);
    program.is_file().then_some(program)
}
