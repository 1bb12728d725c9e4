//! `cargo xtask interop`: our GLBs in the Khronos validator and in Blender.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Outcome;
use crate::process::call;

/// Writes GLBs of the specimens and of the shared rigs and opens them elsewhere.
pub(crate) fn run(root: &Path) -> Outcome<()> {
    let folder = root.join("target").join("interop");

    std::fs::create_dir_all(&folder)?;
    let files = write_glbs(&folder)?;
    let scripts = root.join("checks").join("interop");

    call(
        Command::new("npm")
            .args([
                "install",
                "--silent",
                "--no-audit",
                "--no-fund",
                "gltf-validator",
            ])
            .current_dir(&folder),
    )?;

    call(
        Command::new("node")
            .arg(scripts.join("gltf_validate.mjs"))
            .args(&files)
            .env("GLTF_VALIDATOR", &folder),
    )?;

    let python = folder.join("venv").join("bin").join("python");
    if !python.exists() {
        call(
            Command::new("python3")
                .args(["-m", "venv"])
                .arg(folder.join("venv")),
        )?;
    }

    call(Command::new(&python).args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "bpy==5.0.1",
        "numpy",
    ]))?;

    call(
        Command::new(&python)
            .arg(scripts.join("blender_roundtrip.py"))
            .args(&files),
    )
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
