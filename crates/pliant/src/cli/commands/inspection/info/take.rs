//! `pliant info` of a performance, or of a capture of markers.

use std::fmt::Write;
use std::path::Path;

use pliant_io::{
    LoadOptions, MarkerFile, PerformanceOptions, is_marker_file, read_markers, read_performance,
};
use pliant_mesh::Bounds;
use pliant_mesh::glam::DVec3;
use pliant_rig::{Channel, Performance};
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
    /// The channels of a performance.
    channels: Vec<ChannelSummary>,
    /// Timecode of the first frame; null where the file does not contain it.
    timecode: Option<String>,
    /// Frames that the recording lacks.
    dropped: usize,
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

/// One channel of a performance.
#[derive(Debug, Serialize, JsonSchema)]
struct ChannelSummary {
    name: String,
    /// Frames without a value.
    missing: usize,
    /// Least value; null for a channel without values.
    least: Option<f64>,
    /// Greatest value; null for a channel without values.
    greatest: Option<f64>,
}

pub(super) fn run(path: &Path, console: &Console) -> Result<(), Failure> {
    if let Some(performance) = channels_of(path)? {
        let report = TakeReport::of_performance(&performance);
        let text = report.channel_text();
        return console.print_result(&InfoReport::Take(report), &text, &performance.notes);
    }

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
            channels: Vec::new(),
            timecode: None,
            dropped: 0,
            frames: track.frames().len(),
            fps: track.fps(),
            units: file.units.clone(),
            ignored: file.ignored.clone(),
            bounds: Bounds::of(&positions).map(BoundsReport::from),
        }
    }

    fn of_performance(performance: &Performance) -> Self {
        let start = performance.timecode;
        let dropped = performance.dropped_frames();
        Self {
            meshes: [],
            targets: [],
            clips: [],
            markers: Vec::new(),
            channels: performance.channels().iter().map(summary_of).collect(),
            timecode: start.map(|start| start.first.to_string()),
            dropped: dropped.iter().map(|(_, count)| count).sum(),
            frames: performance.frame_count(),
            fps: Some(performance.frames_per_second()),
            units: None,
            ignored: Vec::new(),
            bounds: None,
        }
    }

    fn channel_text(&self) -> String {
        let start = match &self.timecode {
            Some(label) => format!(", from {label}"),
            None => String::new(),
        };
        let mut text = format!(
            "{} channels, {} frames at {:.5} fps{start}; {} frames are missing\n",
            self.channels.len(),
            self.frames,
            self.fps.unwrap_or_default(),
            self.dropped
        );
        for channel in &self.channels {
            let missing = match channel.missing {
                0 => String::new(),
                count => format!(", missing in {count} frames"),
            };
            let _ = writeln!(
                text,
                "  {}: {:.3} to {:.3}{missing}",
                channel.name,
                channel.least.unwrap_or_default(),
                channel.greatest.unwrap_or_default()
            );
        }
        text
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

/// The performance of a file whose channels are no markers; `None` for a file of markers.
fn channels_of(path: &Path) -> Result<Option<Performance>, Failure> {
    if !path.is_file() {
        return Ok(None);
    }
    // A file that is read as markers stays one, whatever else it may be.
    let as_markers = is_marker_file(path).then(|| read_markers(path));
    if matches!(as_markers, Some(Ok(_))) {
        return Ok(None);
    }

    let locator = path.to_string_lossy();
    let options = PerformanceOptions::default();
    match (
        read_performance(&locator, &options, &LoadOptions::default()),
        as_markers,
    ) {
        (Ok(performance), _) if performance.channels().is_empty() => Ok(None),
        (Ok(performance), _) => Ok(Some(performance)),
        (Err(error), Some(Err(markers))) => Err(Failure::new(format!(
            "{error}; as a capture of markers: {markers}"
        ))),
        (Err(error), _) => Err(error.into()),
    }
}

/// Whether a file holds a performance, by its ending.
pub(super) fn is_performance(path: &Path) -> bool {
    const ENDINGS: [&str; 5] = ["csv", "tsv", "json", "jsonl", "wav"];
    path.is_file()
        && path.extension().is_some_and(|ending| {
            ENDINGS
                .iter()
                .any(|known| ending.eq_ignore_ascii_case(known))
        })
}

fn summary_of(channel: &Channel) -> ChannelSummary {
    let known = || channel.values.iter().copied().filter(|v| v.is_finite());
    ChannelSummary {
        name: channel.name.clone(),
        missing: channel.missing(),
        least: known().reduce(f64::min),
        greatest: known().reduce(f64::max),
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
