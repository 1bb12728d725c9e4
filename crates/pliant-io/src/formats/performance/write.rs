//! Writers of performances: tables as Live Link Face writes them, and JSON.

use pliant_rig::{Performance, Timecode};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::parse::text::push_number;

/// Writes a table: timecode and the number of channels as Live Link Face has them, or the time in
/// seconds if the performance has no timecode. Missing values are empty cells.
#[must_use]
pub fn write_csv(performance: &Performance) -> Vec<u8> {
    let mut text = Vec::new();
    let channels = performance.channels();
    let lead: &[u8] = match performance.timecode {
        Some(_) => b"Timecode,BlendShapeCount",
        None => b"time_secs",
    };
    text.extend_from_slice(lead);
    for channel in channels {
        text.push(b',');
        push_cell(&mut text, &channel.name);
    }
    text.push(b'\n');

    for (frame, &time) in performance.times_secs().iter().enumerate() {
        match performance.timecode {
            Some(start) => {
                let secs = start.first.secs(start.rate) + time;
                let label = Timecode::at(secs, start.rate, start.first.drop_frame);
                text.extend_from_slice(format!("{label},{}", channels.len()).as_bytes());
            }
            None => push_number(&mut text, time),
        }

        for channel in channels {
            text.push(b',');
            let value = channel.values[frame];
            if value.is_finite() {
                push_number(&mut text, value);
            }
        }
        text.push(b'\n');
    }

    text
}

/// A cell, in quotation marks if it holds a separator.
fn push_cell(text: &mut Vec<u8>, cell: &str) {
    let plain = |c: char| if c.is_control() || c == '"' { ' ' } else { c };
    let cell: String = cell.chars().map(plain).collect();
    if cell.contains([',', ';', '\t']) {
        text.extend_from_slice(format!("\"{cell}\"").as_bytes());
    } else {
        text.extend_from_slice(cell.as_bytes());
    }
}

#[derive(Serialize)]
struct JsonPerformance<'a> {
    name: &'a str,
    fps: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    timecode: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timecode_rate: Option<f64>,
    times: &'a [f64],
    channels: Map<String, Value>,
}

/// Writes `{"name", "fps", "times", "channels": {name: [number]}}`; missing values are `null`.
#[must_use]
pub fn write_json(performance: &Performance) -> Vec<u8> {
    let mut channels = Map::new();
    for channel in performance.channels() {
        channels.insert(channel.name.clone(), json!(channel.values));
    }

    let start = performance.timecode;
    let content = JsonPerformance {
        name: performance.name(),
        fps: performance.frames_per_second(),
        timecode: start.map(|start| start.first.to_string()),
        timecode_rate: start.map(|start| start.rate.frames_per_second()),
        times: performance.times_secs(),
        channels,
    };
    let mut text = serde_json::to_vec(&content).expect("names and numbers are JSON");
    text.push(b'\n');
    text
}
