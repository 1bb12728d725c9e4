//! Performances: channels over time, from devices and programs.
//!
//! Formats work on bytes and return a [`Performance`]; [`read_performance`] chooses one by the
//! content of a file. Files of markers (C3D, BVH, TRC, tables of positions) give a performance with
//! a [`MarkerTrack`](pliant_rig::MarkerTrack), assets with clips one of weight curves.
//!
//! | module | concept |
//! |---|---|
//! | `table` | tables (CSV): Live Link Face, Rokoko, Faceware, any table with a header |
//! | `json` | JSON of ARKit dumps, Audio2Face, Faceware and `pliant invert` |
//! | `clock` | times of frames, from timecode, seconds or numbers of frames |
//! | `wav` | sounds, for visemes |
//! | `write` | tables and JSON |
//! | `live` | packets of devices that send over the network |

mod clock;
mod json;
pub mod live;
mod table;
#[cfg(test)]
mod tests;
mod wav;
mod write;

use std::path::Path;

use pliant_rig::{
    Channel, ChannelKind, FrameRate, Performance, Timecode, TimecodeStart, visemes_of_speech,
};

use crate::{IoError, LoadOptions, ReadError, load, markers, read_file};

pub use clock::usual_rate;
pub use wav::{Sound, read_wav};
pub use write::{write_csv, write_json};

/// What a file of a performance does not say.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PerformanceOptions {
    frames_per_second: Option<f64>,
    timecode_rate: Option<FrameRate>,
}

impl PerformanceOptions {
    /// Frames per second of a file without times. Default: what the file says, or 30.
    #[must_use]
    pub fn with_frames_per_second(self, frames_per_second: f64) -> Self {
        Self {
            frames_per_second: Some(frames_per_second),
            ..self
        }
    }

    /// The rate of timecode. Default: the least standard rate that has all the labels.
    #[must_use]
    pub fn with_timecode_rate(self, rate: FrameRate) -> Self {
        Self {
            timecode_rate: Some(rate),
            ..self
        }
    }
}

/// Reads a performance from a table, from JSON, from markers, or from the weight curves of an asset
/// (GLB, FBX, USD; a `locator` may name a clip). What was guessed is in its notes.
///
/// # Errors
/// A file that cannot be read, with the place in it.
pub fn read_performance(
    locator: &str,
    options: &PerformanceOptions,
    load_options: &LoadOptions<'_>,
) -> Result<Performance, IoError> {
    let path = Path::new(locator);
    let ending = ending_of(path);
    if !is_performance_file(path) {
        return load(locator, load_options)?.performance();
    }

    let bytes = read_file(path)?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let read = match ending.as_str() {
        "json" | "jsonl" | "ndjson" => read_json(&bytes, options),
        "wav" => of_sound(&bytes, options),
        "c3d" => of_markers(markers::c3d::read(&bytes), options),
        "bvh" => of_markers(markers::bvh::read(&bytes), options),
        "trc" => of_markers(markers::trc::read(&bytes), options),
        _ => read_csv(&bytes, options),
    };
    read.map(|performance| performance.with_name(stem))
        .map_err(|error| error.in_file(locator))
}

/// Whether a file is a performance or a capture of markers, and no asset, by its ending.
#[must_use]
pub fn is_performance_file(path: &Path) -> bool {
    matches!(
        ending_of(path).as_str(),
        "csv" | "tsv" | "txt" | "json" | "jsonl" | "ndjson" | "c3d" | "bvh" | "trc" | "wav"
    )
}

fn ending_of(path: &Path) -> String {
    let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase());
    ending.unwrap_or_default()
}

/// Reads a table of channels, or of markers if most of its columns are positions.
///
/// # Errors
/// As the formats; each error has its line and column.
pub fn read_csv(bytes: &[u8], options: &PerformanceOptions) -> Result<Performance, ReadError> {
    if let Ok(file) = markers::csv::read(bytes)
        && file.named
        && 3 * file.track.marker_count() > file.ignored.len()
    {
        return of_markers(Ok(file), options);
    }
    table::read(bytes, options).map(in_usual_units)
}

/// Reads JSON of any known form.
///
/// # Errors
/// Text that is no performance.
pub fn read_json(bytes: &[u8], options: &PerformanceOptions) -> Result<Performance, ReadError> {
    json::read(bytes, options).map(in_usual_units)
}

/// The visemes of a sound.
fn of_sound(bytes: &[u8], options: &PerformanceOptions) -> Result<Performance, ReadError> {
    let sound = read_wav(bytes)?;
    let rate = options.frames_per_second.unwrap_or(60.0);
    let mut performance = visemes_of_speech("", &sound.samples, sound.rate, rate)?;
    performance.notes = vec![
        "visemes were estimated from the amplitude and the spectrum of the sound; sounds are not recognised"
            .into(),
    ];
    Ok(performance)
}

/// A performance of markers alone.
fn of_markers(
    file: Result<markers::MarkerFile, ReadError>,
    options: &PerformanceOptions,
) -> Result<Performance, ReadError> {
    let track = file?.track;
    let mut notes = Vec::new();
    let rate = options
        .frames_per_second
        .or(track.fps())
        .unwrap_or_else(|| {
            notes.push(
            "the file gives no frame rate; 30 frames per second were assumed (--take-fps sets it)"
                .into(),
        );
            30.0
        });

    let times = (0..track.frames().len()).map(|k| k as f64 / rate).collect();
    let mut performance = Performance::new("", times, rate, Vec::new())?;
    performance.markers = Some(track);
    performance.notes = notes;
    Ok(performance)
}

/// The label of the first frame, at the rate of the labels or else of the frames.
fn start_of(label: &str, label_rate: Option<f64>, frame_rate: f64) -> Option<TimecodeStart> {
    Some(TimecodeStart {
        first: Timecode::parse(label)?,
        rate: FrameRate::of(label_rate.unwrap_or(frame_rate))?,
    })
}

/// Weights of percent as parts of one, and degrees as radians. The size of the numbers decides.
fn in_usual_units(performance: Performance) -> Performance {
    /// Half of the weights go beyond this only if they are percentages.
    const LARGEST_WEIGHT: f64 = 2.0;

    let greatest = |channel: &Channel| channel.values.iter().fold(0.0, |a, v| f64::max(a, v.abs()));
    let mut weights = Vec::new();
    let mut largest_angle = 0.0_f64;
    for channel in performance.channels() {
        match channel.kind {
            ChannelKind::Rotation(_) => largest_angle = largest_angle.max(greatest(channel)),
            _ => weights.push(greatest(channel)),
        }
    }
    weights.retain(|greatest| *greatest > 0.0);
    weights.sort_by(f64::total_cmp);

    let middle = weights.get(weights.len() / 2).copied().unwrap_or(0.0);
    let is_percent = middle > LARGEST_WEIGHT && middle <= 150.0;
    let is_degrees = largest_angle > std::f64::consts::PI;
    if !is_percent && !is_degrees {
        return performance;
    }

    let mut notes = performance.notes.clone();
    if is_percent {
        notes.push("weights were read as percentages, since most exceed 2".into());
    }
    if is_degrees {
        notes.push(
            "rotations were read as degrees, since they exceed half a turn in radians".into(),
        );
    }
    let factor = |kind: ChannelKind| match kind {
        ChannelKind::Rotation(_) if is_degrees => std::f64::consts::PI / 180.0,
        ChannelKind::Rotation(_) => 1.0,
        _ if is_percent => 0.01,
        _ => 1.0,
    };

    let channels = performance.channels().iter().map(|channel| Channel {
        values: channel
            .values
            .iter()
            .map(|v| v * factor(channel.kind))
            .collect(),
        ..channel.clone()
    });
    let mut converted = Performance::new(
        performance.name(),
        performance.times_secs().to_vec(),
        performance.frames_per_second(),
        channels.collect(),
    )
    .expect("only values changed");
    converted.timecode = performance.timecode;
    converted.notes = notes;
    converted
}
