//! `pliant studio`.

use std::env::consts::EXE_SUFFIX;
use std::path::PathBuf;
use std::process::Command;

use super::Failure;

const EXAMPLES: &str = "\
Examples:
  pliant studio                  the built-in head, ready to be dragged
  pliant studio face.glb         a rig of yours
  pliant studio shot.pliant      a project

The studio is a program of its own, `pliant-studio`, so that the command line builds without a window. It is
looked for beside `pliant`, then on the PATH; `cargo install --path crates/pliant-studio` puts it there.";

/// Opens the window in which meshes are posed, touched, blended, transferred and learned by hand.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A mesh, a rig, or a project of the studio.
    #[arg(value_name = "ASSET")]
    asset: Option<String>,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let name = format!("pliant-studio{EXE_SUFFIX}");
    let program = beside_this(&name).unwrap_or_else(|| PathBuf::from(&name));
    let status = Command::new(&program).args(&args.asset).status().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Failure::could_not(format!(
            "the studio is not installed: there is no {name} beside this program or on the PATH; `cargo install --path crates/pliant-studio` puts it there"
        )),
        _ => Failure::could_not(format!("{} could not be started: {error}", program.display())),
    })?;
    match status.code() {
        Some(0) => Ok(()),
        // It said why itself.
        Some(_) => Err(Failure::could_not("the studio ended with an error")),
        None => Err(Failure::could_not(
            "the studio was stopped; what you did is kept, start it again",
        )),
    }
}

/// The program of this name in the folder of the running one.
fn beside_this(name: &str) -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?.with_file_name(name);
    program.is_file().then_some(program)
}
