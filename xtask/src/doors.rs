//! `cargo xtask doors`: the packages that people install, built and tried as they would.
//!
//! - `checks/doors/wheel.py`: the wheel and the source archive of the Python package.
//! - `blender/tests/run.py`: the Blender extension with that wheel, in every supported Blender.

use std::path::Path;
use std::process::Command;

use crate::Outcome;
use crate::extension;
use crate::process::call;

/// Builds the packages below `target/doors` and checks them.
pub(crate) fn run(root: &Path) -> Outcome<()> {
    let folder = root.join("target").join("doors");
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
        "maturin>=1.9.4,<2",
        "twine",
        "ziglang",
    ]))?;

    let scripts = root.join("checks").join("doors");
    call(
        Command::new(&python)
            .arg(scripts.join("wheel.py"))
            .arg(&folder)
            .current_dir(root),
    )?;

    let wheel = extension::newest(&folder.join("wheels"), "whl")?;
    extension::try_in_blender(root, &wheel, &folder)
}
