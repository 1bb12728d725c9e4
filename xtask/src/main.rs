//! Chores that need other programs: `cargo xtask interop`.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for a terminal"
)]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const USAGE: &str = "\
cargo xtask interop    our GLBs in the Khronos validator and in Blender; installs both below target/interop
                       (needs Node with npm, Python 3.11 with venv, and their registries)";

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    let task = std::env::args().nth(1);
    let outcome = match task.as_deref() {
        Some("interop") => interop(),
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

/// Writes GLBs of the specimens and of the shared rigs and opens them elsewhere.
fn interop() -> Outcome<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask lies in the workspace");
    let folder = root.join("target").join("interop");
    std::fs::create_dir_all(&folder)?;
    let files = write_glbs(&folder)?;
    let scripts = root.join("checks").join("interop");

    run(Command::new("npm")
        .args([
            "install",
            "--silent",
            "--no-audit",
            "--no-fund",
            "gltf-validator",
        ])
        .current_dir(&folder))?;
    run(Command::new("node")
        .arg(scripts.join("gltf_validate.mjs"))
        .args(&files)
        .env("GLTF_VALIDATOR", &folder))?;

    let python = folder.join("venv").join("bin").join("python");
    if !python.exists() {
        run(Command::new("python3")
            .args(["-m", "venv"])
            .arg(folder.join("venv")))?;
    }
    run(Command::new(&python).args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "bpy==5.0.1",
        "numpy",
    ]))?;
    run(Command::new(&python)
        .arg(scripts.join("blender_roundtrip.py"))
        .args(&files))
}

fn write_glbs(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let mut assets: Vec<(String, String)> = pliant::specimens::names()
        .iter()
        .map(|name| (format!("specimen:{name}"), name.replace(':', "-")))
        .collect();
    match std::env::var("PLIANT_DATA") {
        Ok(data) => {
            let rig = format!("{data}/ict-facekit/generic_neutral_mesh.obj+expressions.delta.npy");
            assets.push((rig, "ict".into()));
            assets.push((
                format!("{data}/facecap-head/facecap-plain.glb"),
                "facecap".into(),
            ));
        }
        Err(_) => println!("PLIANT_DATA is not set: only the specimens are checked"),
    }
    let mut files = Vec::new();
    for (locator, name) in assets {
        let path = folder.join(format!("{name}.glb"));
        pliant::io::save(&pliant::load(&locator)?, &path)?;
        files.push(path);
    }
    Ok(files)
}

fn run(command: &mut Command) -> Outcome<()> {
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
