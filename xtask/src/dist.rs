//! `cargo xtask dist`: release archives with programs, man pages and shell completions.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::Outcome;
use crate::process::call;

const SHELLS: [&str; 5] = ["bash", "elvish", "fish", "powershell", "zsh"];
const PROGRAMS: [&str; 2] = ["pliant", "pliant-studio"];
const TEXTS: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// Builds the programs for `target` (the machine's own by default) and packs
/// `target/dist/pliant-VERSION-TARGET.tar.gz`.
pub(crate) fn run(root: &Path, target: Option<&str>) -> Outcome<()> {
    let mut build = Command::new(env!("CARGO"));
    build.args([
        "build",
        "--release",
        "--locked",
        "-p",
        "pliant",
        "-p",
        "pliant-studio",
    ]);
    if let Some(target) = target {
        build.args(["--target", target]);
    }
    call(build.current_dir(root))?;

    let built = match target {
        Some(target) => root.join("target").join(target).join("release"),
        None => root.join("target").join("release"),
    };
    let name = format!(
        "pliant-{}-{}",
        env!("CARGO_PKG_VERSION"),
        target.unwrap_or(std::env::consts::ARCH)
    );
    let dist = root.join("target").join("dist");
    let folder = dist.join(&name);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(folder.join("completions"))?;

    for program in PROGRAMS {
        let file = format!("{program}{}", std::env::consts::EXE_SUFFIX);
        fs::copy(built.join(&file), folder.join(&file))?;
    }
    for text in TEXTS {
        fs::copy(root.join(text), folder.join(text))?;
    }

    let pliant = folder.join(format!("pliant{}", std::env::consts::EXE_SUFFIX));
    for shell in SHELLS {
        let output = Command::new(&pliant)
            .args(["completions", shell])
            .output()?;
        if !output.status.success() {
            return Err(format!("pliant completions {shell} ended with {}", output.status).into());
        }
        fs::write(
            folder.join("completions").join(format!("pliant.{shell}")),
            output.stdout,
        )?;
    }
    call(
        Command::new(&pliant)
            .arg("man")
            .arg("--out")
            .arg(folder.join("man")),
    )?;

    let archive = format!("{name}.tar.gz");
    call(
        Command::new("tar")
            .args(["-czf", &archive, &name])
            .current_dir(&dist),
    )?;
    println!("{}", dist.join(archive).display());
    Ok(())
}
