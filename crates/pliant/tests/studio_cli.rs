//! `pliant studio` starts the studio program.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Mutex;

use tempfile::TempDir;

/// One test at a time: a process started by another test inherits the program that is being
/// written here, and the system refuses to run a program that is open for writing.
static ALONE: Mutex<()> = Mutex::new(());

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
fn a_missing_studio_is_reported_with_the_command_that_installs_it() {
    let _guard = ALONE.lock();
    let output = studio(alone().path(), &[]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        message.contains("cargo install --path crates/pliant-studio")
            && message.lines().count() == 1,
        "{message}"
    );
}

#[test]
fn the_studio_gets_the_asset_and_its_failure_is_reported() {
    let _guard = ALONE.lock();
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
