//! Chores of the workspace: `cargo xtask TASK`.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for a terminal"
)]

mod dist;
mod interop;
mod process;
mod same;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
cargo xtask interop    opens our GLBs in the Khronos validator and in Blender
                       (needs Node with npm and Python 3.11 with venv; installs both
                       programs below target/interop)

cargo xtask dist [--target TRIPLE]
                       builds the release programs and packs them with man pages and
                       shell completions: target/dist/pliant-VERSION-TARGET.tar.gz

cargo xtask same [--record] [--program PATH] [--only TEXT]
                       runs the commands of xtask/same.txt and compares all results
                       with those of the last --record
                       (default program: target/debug/pliant)";

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask lies in the workspace");

    let outcome = match arguments.first().map(String::as_str) {
        Some("interop") => interop::run(root),
        Some("dist") => dist(root, &arguments[1..]),
        Some("same") => same(root, &arguments[1..]),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };

    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Reads the options of `dist` and runs it.
fn dist(root: &Path, arguments: &[String]) -> Outcome<()> {
    match arguments {
        [] => dist::run(root, None),
        [option, target] if option == "--target" => dist::run(root, Some(target)),
        _ => Err(format!("unknown options {arguments:?}\n{USAGE}").into()),
    }
}

/// Reads the options of `same` and runs it.
fn same(root: &Path, arguments: &[String]) -> Outcome<()> {
    let mut record = false;
    let mut program = root.join("target").join("debug").join("pliant");
    let mut only = None;

    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut value = || rest.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--record" => record = true,
            "--program" => program = PathBuf::from(value()?),
            "--only" => only = Some(value()?.clone()),
            _ => return Err(format!("unknown option {argument}\n{USAGE}").into()),
        }
    }

    same::run(root, &program, record, only.as_deref())
}
