//! `pliant studio` starts the program beside it.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

/// `pliant` alone in a folder, so that nothing lies beside it but what a test puts there.
fn alone() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(env!("CARGO_BIN_EXE_pliant"), folder.path().join("pliant")).unwrap();
    folder
}

fn studio(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(folder.join("pliant"));
    command
        .arg("studio")
        .args(arguments)
        .env("PATH", "")
        .output()
        .unwrap()
}

fn put_studio(folder: &Path, script: &str) {
    let program = folder.join("pliant-studio");
    fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn without_the_studio_one_line_says_how_to_get_it() {
    let output = studio(alone().path(), &[]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        said.contains("cargo install --path crates/pliant-studio") && said.lines().count() == 1,
        "{said}"
    );
}

#[test]
fn the_asset_is_handed_on_and_the_end_is_told() {
    let folder = alone();
    put_studio(folder.path(), r#"echo "opened $1""#);
    let output = studio(folder.path(), &["face.glb"]);
    assert_eq!(
        (output.status.code(), &*output.stdout),
        (Some(0), b"opened face.glb\n".as_slice())
    );
    put_studio(folder.path(), "exit 3");
    assert_eq!(studio(folder.path(), &[]).status.code(), Some(1));
}
