//! `cargo xtask interop`: our files in the Khronos validator and in Blender.
//!
//! GLBs are validated, and their vertices and shape keys compared number by number. Files of every
//! writer are opened in Blender, and size, joints, shape keys and images compared.

use std::path::{Path, PathBuf};
use std::process::Command;

use pliant::io::Asset;
use serde_json::{Value, json};

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
    )?;

    let character = folder.join("character.glb");
    call(
        Command::new(&python)
            .arg(root.join("benches/peers/character_peers.py"))
            .arg("--character")
            .arg(&character)
            .args(["60", "40", "8"]),
    )?;
    let (manifest, glbs) = write_all_formats(&folder, &character)?;
    call(
        Command::new("node")
            .arg(scripts.join("gltf_validate.mjs"))
            .args(&glbs)
            .env("GLTF_VALIDATOR", &folder),
    )?;
    call(
        Command::new(&python)
            .arg(scripts.join("blender_open.py"))
            .arg(&manifest),
    )
}

/// Saves specimens, the character of the benches and shared files in every format. Returns the
/// manifest for Blender, and the GLBs.
fn write_all_formats(folder: &Path, character: &Path) -> Outcome<(PathBuf, Vec<PathBuf>)> {
    let character = character.display().to_string();
    let mut assets = vec![
        ("specimen:head".to_owned(), "head"),
        ("specimen:hand".to_owned(), "hand"),
        (character, "skinned"),
    ];
    if let Ok(data) = std::env::var("PLIANT_DATA") {
        assets.push((format!("{data}/facecap-head/facecap-plain.glb"), "facecap"));
        assets.push((format!("{data}/hands/generic-hand-left.glb"), "glove"));
    }

    let folder = folder.join("formats");
    std::fs::create_dir_all(&folder)?;
    let mut entries = Vec::new();
    let mut glbs = Vec::new();
    for (locator, name) in assets {
        let asset = pliant::load(&locator)?;
        for ending in ["glb", "fbx", "usda", "abc", "obj", "ply"] {
            let path = folder.join(format!("{name}.{ending}"));
            // A GLB that nothing changes keeps its bytes, which would test no writer.
            let mut still = asset.clone();
            still.clips.clear();
            pliant::io::save(&still, &path)?;
            entries.push(expected(&still, &path, ending)?);
            if ending == "glb" {
                glbs.push(path);
            }
        }
    }

    let manifest = folder.join("manifest.json");
    std::fs::write(&manifest, serde_json::to_vec_pretty(&entries)?)?;
    Ok((manifest, glbs))
}

/// What Blender should find in a file.
fn expected(asset: &Asset, path: &Path, ending: &str) -> Outcome<Value> {
    // Alembic is written in metres.
    let has_unit = ["glb", "fbx", "usda", "abc"].contains(&ending);
    let has_skins = has_unit && ending != "abc";
    let unit = asset.meters_per_unit.filter(|_| has_unit).unwrap_or(1.0);
    let bounds = asset.mesh()?.bounds().ok_or("no vertices")?;
    let extents = (bounds.max - bounds.min) * unit;

    let mut joints: Vec<&str> = Vec::new();
    for skin in asset
        .objects
        .iter()
        .filter_map(|object| object.skin.as_ref())
    {
        joints.extend(skin.skeleton.joints().iter().map(|j| j.name.as_str()));
    }
    let mut textures = Vec::new();
    for image in &asset.images {
        if let Some([width, height]) = png_size(&image.bytes) {
            textures.push([width, height]);
        }
    }

    Ok(json!({
        "path": path,
        "extents": extents.to_array(),
        "joints": has_skins.then_some(joints),
        "keys": has_skins.then(|| asset.target_names()),
        "textures": (has_skins || ending == "obj").then_some(textures),
    }))
}

/// Width and height of a PNG.
fn png_size(bytes: &[u8]) -> Option<[u32; 2]> {
    let number = |at: usize| {
        let bytes = bytes.get(at..at + 4)?.try_into().ok()?;
        Some(u32::from_be_bytes(bytes))
    };
    bytes.starts_with(b"\x89PNG").then_some(())?;
    Some([number(16)?, number(20)?])
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
