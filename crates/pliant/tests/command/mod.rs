//! Runs the command as a user does.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

pub(crate) fn pliant(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pliant"))
        .args(args)
        .output()
        .expect("the command starts")
}

pub(crate) fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// The path of a file in a folder, as an argument.
pub(crate) fn inside(folder: &TempDir, name: &str) -> String {
    folder
        .path()
        .join(name)
        .to_str()
        .expect("a temporary path in UTF-8")
        .to_owned()
}

/// Runs a command that succeeds and prints one JSON object.
pub(crate) fn json(args: &[&str]) -> Value {
    let output = pliant(&[args, &["--json"]].concat());
    assert_eq!(
        output.status.code(),
        Some(0),
        "{args:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).expect("one JSON object on stdout")
}

/// The command gives exit code 1, one line on stderr that contains all `words`, and no `out`.
pub(crate) fn refuses(args: &[&str], out: &str, words: &[&str]) {
    let output = pliant(&[args, &["--out", out]].concat());
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{args:?}: {message}");
    assert_eq!(message.trim_end().lines().count(), 1, "{message}");
    for word in words.iter() {
        assert!(message.contains(word), "'{word}' in: {message}");
    }
    assert!(!Path::new(out).exists(), "nothing is left behind");
}
