//! `pliant info` of a capture of markers.

use std::fmt::Write;
use std::path::Path;

use pliant_io::{MarkerFile, read_markers};
use pliant_mesh::Bounds;
use pliant_mesh::glam::DVec3;
use schemars::JsonSchema;
use serde::Serialize;

use super::{BoundsReport, InfoReport};
use crate::cli::report::console::Console;
use crate::cli::report::failure::Failure;

/// The content of a capture.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TakeReport {
    /// Always empty: a capture has no meshes.
    meshes: [(); 0],
    /// Always empty: a capture has no targets.
    targets: [(); 0],
    /// Always empty: a capture has no clips of meshes.
    clips: [(); 0],
    /// The markers.
    markers: Vec<MarkerSummary>,
    /// Number of frames.
    frames: usize,
    /// Frames per second; null where the file does not contain them.
    fps: Option<f64>,
    /// Unit of length; null where the file does not contain it.
    units: Option<String>,
    /// Columns or channels that are no markers.
    ignored: Vec<String>,
    /// Bounding box of all positions; null without one.
    bounds: Option<BoundsReport>,
}

/// One marker and its gaps.
#[derive(Debug, Default, Serialize, JsonSchema)]
struct MarkerSummary {
    name: String,
    /// Number of gaps.
    gaps: usize,
    /// Frames of all gaps.
    missing_frames: usize,
    /// Frames of the longest gap.
    longest_gap: usize,
}

pub(super) fn run(path: &Path, console: &Console) -> Result<(), Failure> {
    let file = read_markers(path)?;
    let report = TakeReport::new(&file);
    let text = report.text();

    let mut warnings = Vec::new();
    let blind = file.track.frames_without_markers();
    if blind > 0 {
        warnings.push(format!(
            "{blind} of {} frames show no marker",
            report.frames
        ));
    }
    console.print_result(&InfoReport::Take(report), &text, &warnings)
}

impl TakeReport {
    fn new(file: &MarkerFile) -> Self {
        let track = &file.track;
        let positions: Vec<DVec3> = track.frames().iter().flatten().flatten().copied().collect();
        Self {
            meshes: [],
            targets: [],
            clips: [],
            markers: marker_summaries(file),
            frames: track.frames().len(),
            fps: track.fps(),
            units: file.units.clone(),
            ignored: file.ignored.clone(),
            bounds: Bounds::of(&positions).map(BoundsReport::from),
        }
    }

    fn text(&self) -> String {
        let rate = match self.fps {
            Some(fps) => format!("at {fps:.5} fps"),
            None => "at an unknown frame rate".into(),
        };
        let units = match &self.units {
            Some(units) => format!(", in {units}"),
            None => String::new(),
        };
        let markers = self.markers.len();
        let mut text = format!("{markers} markers, {} frames {rate}{units}\n", self.frames);

        for marker in &self.markers {
            let MarkerSummary { name, gaps, .. } = marker;
            let _ = if *gaps == 0 {
                writeln!(text, "  {name}")
            } else {
                writeln!(
                    text,
                    "  {name}: missing in {} frames, {gaps} gap(s), the longest has {} frames",
                    marker.missing_frames, marker.longest_gap
                )
            };
        }
        if !self.ignored.is_empty() {
            let _ = writeln!(text, "ignored: {}", self.ignored.join(", "));
        }

        text
    }
}

fn marker_summaries(file: &MarkerFile) -> Vec<MarkerSummary> {
    let mut markers: Vec<MarkerSummary> = file
        .track
        .names()
        .iter()
        .map(|name| MarkerSummary {
            name: name.to_string(),
            ..MarkerSummary::default()
        })
        .collect();

    // A marker may have several gaps.
    for gap in file.track.gaps() {
        let marker = &mut markers[gap.marker];
        marker.gaps += 1;
        marker.missing_frames += gap.length;
        marker.longest_gap = marker.longest_gap.max(gap.length);
    }
    markers
}
