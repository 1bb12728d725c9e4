//! `cargo xtask extension`: the Blender extension, packed with a wheel; and its tests in Blender.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Outcome;
use crate::process::call;

/// Builds a wheel with optimisation, unless one is given, and packs it with `blender/pliant`:
/// `target/dist/pliant-VERSION-PLATFORM.zip`.
pub(crate) fn run(root: &Path, wheel: Option<PathBuf>) -> Outcome<()> {
    let wheel = match wheel {
        Some(wheel) => wheel,
        None => build_wheel(root)?,
    };
    pack(root, &wheel, &root.join("target").join("dist"))
}

/// Packs the extension with `wheel` and tries it in every supported Blender.
pub(crate) fn try_in_blender(root: &Path, wheel: &Path, folder: &Path) -> Outcome<()> {
    pack(root, wheel, folder)?;
    let zip = newest(folder, "zip")?;
    call(
        Command::new("python3")
            .arg(root.join("blender").join("tests").join("run.py"))
            .arg("--zip")
            .arg(zip)
            .args(["--all", "--require"]),
    )
}

fn pack(root: &Path, wheel: &Path, out: &Path) -> Outcome<()> {
    call(
        Command::new("python3")
            .arg(root.join("blender").join("package.py"))
            .arg("--wheel")
            .arg(wheel)
            .arg("--out")
            .arg(out),
    )
}

/// The wheel of the Python package for this machine.
fn build_wheel(root: &Path) -> Outcome<PathBuf> {
    let folder = root.join("target").join("wheels");
    call(
        Command::new("python3")
            .args(["-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir"])
            .arg(&folder)
            .arg(root),
    )?;
    newest(&folder, "whl")
}

/// The file with this ending that was written last.
pub(crate) fn newest(folder: &Path, ending: &str) -> Outcome<PathBuf> {
    let mut best = None;
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|found| found == ending) {
            let time = path.metadata()?.modified()?;
            best = best.max(Some((time, path)));
        }
    }
    let (_, path) = best.ok_or_else(|| format!("there is no .{ending} in {}", folder.display()))?;
    Ok(path)
}
