//! Chores of the workspace: `cargo xtask TASK`.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for a terminal"
)]

mod corpus;
mod dist;
mod doors;
mod extension;
mod frames;
mod interop;
mod process;
mod same;
mod web;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
cargo xtask interop    opens our GLBs in the Khronos validator and in Blender
                       (needs Node with npm and Python 3.11 with venv; installs both
                       programs below target/interop)

cargo xtask corpus FOLDER [--only TEXT] [--list FILE] [--jobs N]
                       reads every asset below a folder of public files, saves it in its
                       own format and prints what was read, refused and kept
                       (checks/corpus.md lists the files)

cargo xtask frames FOLDER
                       compares FBX files with the meshes that their programs exported as
                       NAME_FRAME.obj (the `data` folder of ufbx)

cargo xtask dist [--target TRIPLE]
                       builds the release programs and packs them with man pages and
                       shell completions: target/dist/pliant-VERSION-TARGET.tar.gz

cargo xtask doors      builds the wheel and the source archive of the Python package, checks
                       tag, size and metadata, installs the wheel into an empty environment,
                       and tries the Blender extension in every supported Blender (needs
                       Python with venv, 3.11 and 3.13 for Blender, and the network)

cargo xtask extension [--wheel FILE]
                       builds the Python wheel with optimisation, or takes one, and packs the
                       Blender extension: target/dist/pliant-VERSION-PLATFORM.zip

cargo xtask same [--record] [--program PATH] [--only TEXT]
                       runs the commands of xtask/same.txt and compares all results
                       with those of the last --record
                       (default program: target/debug/pliant)

cargo xtask web [--out FOLDER | --test]
                       builds the studio as a page for any static host: target/web-page
                       (installs the target wasm32-unknown-unknown and the component
                       rust-src). --test also tries it in headless Chromium (needs
                       chromium, Node and npm; pictures: target/web-pictures)";

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask lies in the workspace");

    let outcome = match arguments.first().map(String::as_str) {
        Some("interop") => interop::run(root),
        Some("corpus") => corpus(&arguments[1..]),
        // One file of a corpus, in a process of its own.
        Some("corpus-file") => match &arguments[1..] {
            [path] => corpus::probe(Path::new(path)),
            _ => Err("corpus-file needs one path".into()),
        },
        Some("frames") => match &arguments[1..] {
            [folder] => frames::run(Path::new(folder)),
            _ => Err("frames needs one folder".into()),
        },
        Some("dist") => dist(root, &arguments[1..]),
        Some("doors") => doors::run(root),
        Some("extension") => {
            file_option(&arguments[1..], "--wheel").and_then(|wheel| extension::run(root, wheel))
        }
        Some("same") => same(root, &arguments[1..]),
        Some("web") => match &arguments[1..] {
            [test] if test == "--test" => web::test(root),
            other => file_option(other, "--out").and_then(|out| web::run(root, out).map(drop)),
        },
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

/// The file of the only option of a task.
fn file_option(arguments: &[String], name: &str) -> Outcome<Option<PathBuf>> {
    match arguments {
        [] => Ok(None),
        [option, file] if option == name => Ok(Some(PathBuf::from(file))),
        _ => Err(format!("unknown options {arguments:?}\n{USAGE}").into()),
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

/// Reads the options of `corpus` and runs it.
fn corpus(arguments: &[String]) -> Outcome<()> {
    let mut folder = None;
    let mut options = corpus::Options {
        folder: PathBuf::new(),
        only: None,
        list: None,
        jobs: 2,
    };

    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut value = || rest.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--only" => options.only = Some(value()?.clone()),
            "--list" => options.list = Some(PathBuf::from(value()?)),
            "--jobs" => options.jobs = value()?.parse()?,
            path if folder.is_none() && !path.starts_with('-') => {
                folder = Some(PathBuf::from(path))
            }
            _ => return Err(format!("unknown option {argument}\n{USAGE}").into()),
        }
    }

    options.folder = folder.ok_or("name the folder of files: cargo xtask corpus FOLDER")?;
    corpus::run(&options)
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
