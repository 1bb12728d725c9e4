//! `pliant info` of a take of markers.

use std::fmt::Write;
use std::path::Path;

use pliant_io::{MarkerFile, read_markers};
use pliant_mesh::Bounds;
use pliant_mesh::glam::DVec3;
use serde_json::{Map, Value, json};

use super::console::Console;
use super::failure::Failure;

pub(crate) fn run(path: &Path, console: &Console) -> Result<(), Failure> {
    let file = read_markers(path)?;
    let track = &file.track;
    let mut problems = Vec::new();
    if track.blind_frames() > 0 {
        problems.push(format!(
            "{} of {} frames show no marker",
            track.blind_frames(),
            track.frames().len()
        ));
    }
    console.result(describe_json(&file), &describe(&file), &problems)
}

/// Gaps of each marker: how many, frames in all, the longest.
fn gaps_of(file: &MarkerFile) -> Vec<(usize, usize, usize)> {
    let mut found = vec![(0, 0, 0); file.track.marker_count()];
    for gap in file.track.gaps() {
        let (count, missing, longest) = &mut found[gap.marker];
        (*count, *missing, *longest) =
            (*count + 1, *missing + gap.length, gap.length.max(*longest));
    }
    found
}

fn describe_json(file: &MarkerFile) -> Map<String, Value> {
    let track = &file.track;
    let marker = |(name, (gaps, missing, longest)): (&String, (usize, usize, usize))| json!({"name": name, "gaps": gaps, "missing_frames": missing, "longest_gap": longest});
    let markers: Vec<Value> = track
        .names()
        .iter()
        .zip(gaps_of(file))
        .map(marker)
        .collect();
    let bounds = bounds(file).map_or(
        Value::Null,
        |b| json!({"min": b.min.to_array(), "max": b.max.to_array()}),
    );
    let pairs = [
        ("meshes", json!([])),
        ("targets", json!([])),
        ("clips", json!([])),
        ("markers", json!(markers)),
        ("frames", json!(track.frames().len())),
        ("fps", json!(track.fps())),
        ("units", json!(file.units)),
        ("ignored", json!(file.ignored)),
        ("bounds", bounds),
    ];
    pairs
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value))
        .collect()
}

fn bounds(file: &MarkerFile) -> Option<Bounds> {
    let places: Vec<DVec3> = file
        .track
        .frames()
        .iter()
        .flatten()
        .flatten()
        .copied()
        .collect();
    Bounds::of(&places)
}

fn describe(file: &MarkerFile) -> String {
    let track = &file.track;
    let rate = track.fps().map_or_else(
        || "at an unknown rate".into(),
        |fps| format!("at {fps:.5} fps"),
    );
    let units = file
        .units
        .as_ref()
        .map_or_else(String::new, |units| format!(", in {units}"));
    let mut text = format!(
        "{} markers, {} frames {rate}{units}\n",
        track.marker_count(),
        track.frames().len()
    );
    for (name, gaps) in track.names().iter().zip(gaps_of(file)) {
        let _ = match gaps {
            (0, ..) => writeln!(text, "  {name}"),
            (gaps, missing, longest) => writeln!(
                text,
                "  {name}: not seen in {missing} frames, {gaps} gap(s), the longest of {longest}"
            ),
        };
    }
    if !file.ignored.is_empty() {
        let _ = writeln!(text, "left out: {}", file.ignored.join(", "));
    }
    text
}
