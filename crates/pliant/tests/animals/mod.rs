//! The hound and the tapir, and the transfer of a walk from one to the other.

use std::process::{Command, Output};

use pliant::io::npy;
use pliant::mesh::Mesh;
use pliant::mesh::glam::DVec3;
use pliant::rig::Clip;
use serde_json::Value;
use tempfile::TempDir;

pub(crate) const HOUND: &str = "specimen:hound#walk";

pub(crate) fn pliant(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pliant"))
        .args(args)
        .output()
        .expect("the command starts")
}

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

/// The message of a refusal with exit code `code`.
pub(crate) fn refusal(code: i32, args: &[&str]) -> String {
    let output = pliant(args);
    assert_eq!(output.status.code(), Some(code), "{args:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub(crate) fn path(folder: &TempDir, name: &str) -> String {
    folder
        .path()
        .join(name)
        .to_str()
        .expect("a temporary path in UTF-8")
        .to_owned()
}

pub(crate) fn written(folder: &TempDir, name: &str, content: impl AsRef<[u8]>) -> String {
    let file = path(folder, name);
    std::fs::write(&file, content).expect("a file in a temporary folder");
    file
}

pub(crate) fn walk() -> Clip {
    pliant::specimens::specimen("hound")
        .expect("a hound")
        .clips
        .swap_remove(0)
}

pub(crate) fn tapir() -> Mesh {
    pliant::specimens::specimen("tapir")
        .expect("a tapir")
        .rig
        .neutral()
        .clone()
}

pub(crate) fn frames_in(file: &str) -> Vec<Vec<DVec3>> {
    npy::read(&std::fs::read(file).unwrap())
        .unwrap()
        .into_point_rows("frames")
        .unwrap()
}

pub(crate) fn farthest(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter()
        .zip(b)
        .map(|(p, q)| p.distance(*q))
        .fold(0.0, f64::max)
}
