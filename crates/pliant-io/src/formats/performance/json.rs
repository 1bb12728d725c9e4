//! Reader of performances in JSON, in the forms that tools write.
//!
//! **Format.** One of
//!
//! - `{"fps", "channels": {name: [number]}}`: what [`write_json`](super::write_json) writes;
//! - `{"fps", "sliders": {name: [[seconds, weight]]}}`: the keys of `pliant invert`;
//! - `{"exportFps", "facsNames", "weightMat": [[number]]}`: Audio2Face, also with other keys for
//!   names (`names`, `blendShapeNames`) and rows (`frames`, `weights`);
//! - a list of frames, or `{"frames": [frame]}`, or one frame on each line, where a frame is an
//!   object of numbers, or holds such an object (`blendShapes`, `weights`, `animationValues`)
//!   beside its time (`timestamp`, `time`, `timeCode`): dumps of ARKit and of Faceware.
//!
//! **Departures.** A channel that some frames lack is missing there. `null` is a missing value.

use std::collections::HashMap;

use pliant_rig::{Channel, Performance, Timecode};
use serde_json::{Map, Value};

use super::PerformanceOptions;
use super::clock::{Clock, FrameTimes};
use crate::ReadError;
use crate::parse::budget::Budget;
use crate::parse::text::{Lines, excerpt};

/// Names of times, in lower case.
const TIME_KEYS: [&str; 7] = [
    "timestamp",
    "time",
    "t",
    "time_ms",
    "timems",
    "seconds",
    "secs",
];
const FRAME_KEYS: [&str; 3] = ["frame", "framenumber", "frameindex"];
const NAME_KEYS: [&str; 6] = [
    "facsnames",
    "names",
    "blendshapenames",
    "blendshapes",
    "shapes",
    "poses",
];
const ROW_KEYS: [&str; 5] = ["weightmat", "frames", "weights", "values", "data"];
/// The most frames that keys of a few bytes may ask for.
const MOST_FRAMES: f64 = 1e6;

/// Reads a performance.
///
/// # Errors
/// Text that is not JSON, with its line; JSON in another form; times that are no numbers.
pub(super) fn read(bytes: &[u8], options: &PerformanceOptions) -> Result<Performance, ReadError> {
    let text = super::table::decoded(bytes)?;
    let text = text.trim_start_matches('\u{feff}');
    let budget = Budget::of_samples(bytes.len());
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Array(frames)) => of_frames(&frames, None, &budget, options),
        Ok(Value::Object(object)) => of_object(&object, &budget, options),
        Ok(_) => Err(unknown_form()),
        Err(error) => match lines(text) {
            Some(frames) => of_frames(&frames?, None, &budget, options),
            None => Err(ReadError::line(
                error.line(),
                "the text is not JSON; export the performance again",
            )),
        },
    }
}

/// The frames of a text with one object on each line; `None` for other texts.
fn lines(text: &str) -> Option<Result<Vec<Value>, ReadError>> {
    let mut frames = Vec::new();
    let mut lines = Lines::of(text.as_bytes()).filter(|(_, line)| !line.trim_ascii().is_empty());
    let (_, first) = lines.next()?;
    frames.push(
        serde_json::from_slice(first)
            .ok()
            .filter(Value::is_object)?,
    );

    for (number, line) in lines {
        match serde_json::from_slice(line) {
            Ok(frame) => frames.push(frame),
            Err(_) => {
                return Some(Err(ReadError::line(
                    number,
                    "the line is not JSON; give one frame on each line",
                )));
            }
        }
    }
    Some(Ok(frames))
}

fn unknown_form() -> ReadError {
    ReadError::whole(
        "the JSON is no performance; give {\"fps\": 60, \"channels\": {\"jawOpen\": [0, 0.5]}} or a list of frames such as {\"time\": 0, \"blendShapes\": {\"jawOpen\": 0.5}}",
    )
}

fn of_object(
    object: &Map<String, Value>,
    budget: &Budget,
    options: &PerformanceOptions,
) -> Result<Performance, ReadError> {
    let rate = rate_of(object);
    if let Some(Value::Object(channels)) = object.get("channels") {
        return of_channels(object, channels, rate, options);
    }
    if let Some(Value::Object(sliders)) = object.get("sliders") {
        return of_keys(sliders, rate, budget, options);
    }

    let by_key = |keys: &[&str], element: fn(&Value) -> bool| {
        keys.iter().find_map(|key| {
            let mut fields = object.iter();
            let found =
                fields.find(|(name, value)| lower(name) == *key && is_list_of(value, element));
            found.map(|(_, value)| value)
        })
    };
    let names = by_key(&NAME_KEYS, Value::is_string);
    let rows = by_key(&ROW_KEYS, Value::is_array);
    if let (Some(names), Some(rows)) = (names, rows) {
        return of_matrix(names, rows, rate, options);
    }
    if let Some(Value::Array(frames)) = by_key(&["frames", "data", "samples"], Value::is_object) {
        return of_frames(frames, rate, budget, options);
    }

    // An object of lists of numbers is an object of channels.
    let is_channels = object
        .values()
        .any(|value| is_list_of(value, Value::is_number));
    if is_channels {
        let lists = object.iter().filter(|(_, value)| value.is_array());
        let channels = lists.map(|(name, value)| (name.clone(), value.clone()));
        return of_channels(object, &channels.collect(), rate, options);
    }
    Err(unknown_form())
}

/// Whether a value is a list whose first element passes a test.
fn is_list_of(value: &Value, element: fn(&Value) -> bool) -> bool {
    array(value).first().is_some_and(element)
}

fn lower(name: &str) -> String {
    name.to_lowercase()
}

/// The rate that an object declares.
fn rate_of(object: &Map<String, Value>) -> Option<f64> {
    let keys = [
        "fps",
        "exportfps",
        "framerate",
        "frames_per_second",
        "framespersecond",
    ];
    let found = object
        .iter()
        .filter(|(name, _)| keys.contains(&lower(name).as_str()))
        .find_map(|(_, value)| value.as_f64());
    found.filter(|rate| *rate > 0.0 && rate.is_finite())
}

/// A number, NaN for a missing one.
fn value_of(value: &Value, place: impl FnOnce() -> String) -> Result<f64, ReadError> {
    match value {
        Value::Null => Ok(f64::NAN),
        Value::Bool(flag) => Ok(f64::from(u8::from(*flag))),
        Value::Number(number) => Ok(number.as_f64().unwrap_or(f64::NAN)),
        Value::String(text) if text.eq_ignore_ascii_case("nan") => Ok(f64::NAN),
        other => Err(ReadError::whole(format!(
            "{}: '{}' is not a number; correct it, or write null where the value is missing",
            place(),
            excerpt(other.to_string().as_bytes())
        ))),
    }
}

/// Lists of values by channel, with times or a rate beside them.
fn of_channels(
    object: &Map<String, Value>,
    channels: &Map<String, Value>,
    rate: Option<f64>,
    options: &PerformanceOptions,
) -> Result<Performance, ReadError> {
    let mut named = Vec::new();
    for (name, values) in channels {
        let Value::Array(list) = values else {
            return Err(ReadError::whole(format!(
                "channel '{name}' is not a list of numbers"
            )));
        };
        let mut numbers = Vec::with_capacity(list.len());
        for (frame, value) in list.iter().enumerate() {
            numbers.push(value_of(value, || {
                format!("channel '{name}', frame {frame}")
            })?);
        }
        named.push((name.clone(), numbers));
    }

    let count = named.first().map_or(0, |(_, values)| values.len());
    if let Some((name, values)) = named.iter().find(|(_, values)| values.len() != count) {
        return Err(ReadError::whole(format!(
            "channel '{name}' has {} values, but '{}' has {count}; give one for each frame",
            values.len(),
            named[0].0
        )));
    }

    let clock = match object.get("times") {
        Some(Value::Array(list)) if list.len() == count => {
            let mut times = Vec::with_capacity(count);
            for (frame, value) in list.iter().enumerate() {
                times.push(value_of(value, || format!("time of frame {frame}"))?);
            }
            Clock::Times(times, "seconds".into())
        }
        Some(Value::Array(list)) => {
            return Err(ReadError::whole(format!(
                "there are {} times for {count} values; give one for each frame",
                list.len()
            )));
        }
        _ => Clock::Absent(count),
    };
    let mut performance = assembled(named, &clock, rate, options)?;
    if let Some(start) = object.get("timecode").and_then(Value::as_str) {
        let label_rate = object.get("timecode_rate").and_then(Value::as_f64);
        performance.timecode = super::start_of(start, label_rate, performance.frames_per_second());
    }
    Ok(performance)
}

/// Keys of each slider, sampled at the rate.
fn of_keys(
    sliders: &Map<String, Value>,
    rate: Option<f64>,
    budget: &Budget,
    options: &PerformanceOptions,
) -> Result<Performance, ReadError> {
    let mut curves: Vec<(String, Vec<[f64; 2]>)> = Vec::new();
    for (name, keys) in sliders {
        let keys: Vec<[f64; 2]> = serde_json::from_value(keys.clone()).map_err(|_| {
            ReadError::whole(format!(
                "slider '{name}' is not a list of [seconds, weight]; export the keys again"
            ))
        })?;
        if let Some(key) = (1..keys.len()).find(|&k| keys[k - 1][0] >= keys[k][0]) {
            return Err(ReadError::whole(format!(
                "slider '{name}': key {key} is not later than the one before it; sort the keys"
            )));
        }
        curves.push((name.clone(), keys));
    }

    let ends = curves
        .iter()
        .flat_map(|(_, keys)| keys.first().into_iter().chain(keys.last()));
    let [mut start, mut end] = [f64::INFINITY, f64::NEG_INFINITY];
    for key in ends {
        start = start.min(key[0]);
        end = end.max(key[0]);
    }
    if start > end {
        return Err(ReadError::whole(
            "no slider has a key; there is nothing to play",
        ));
    }

    let rate = options.frames_per_second.or(rate).unwrap_or(30.0);
    let frames = (end - start) * rate;
    if !(0.0..MOST_FRAMES).contains(&frames) {
        return Err(ReadError::whole(format!(
            "the keys last for {frames:.0} frames; a million is the most"
        )));
    }
    let count = (frames + 1e-6).floor() as usize + 1;
    budget.spend(count.saturating_mul(curves.len()), "the sliders")?;
    let named = curves.into_iter().map(|(name, keys)| {
        let at = |k: usize| value_at(&keys, start + k as f64 / rate);
        (name, (0..count).map(at).collect())
    });
    assembled(named.collect(), &Clock::Absent(count), Some(rate), options)
}

/// The value of ascending keys at a time: linear between them, constant outside, zero without keys.
fn value_at(keys: &[[f64; 2]], time: f64) -> f64 {
    let next = keys.partition_point(|key| key[0] <= time);
    match (next.checked_sub(1).map(|last| keys[last]), keys.get(next)) {
        (None, None) => 0.0,
        (None, Some(key)) => key[1],
        (Some(key), None) => key[1],
        (Some(from), Some(to)) => {
            let s = (time - from[0]) / (to[0] - from[0]);
            (1.0 - s) * from[1] + s * to[1]
        }
    }
}

/// Names beside rows of values.
fn of_matrix(
    names: &Value,
    rows: &Value,
    rate: Option<f64>,
    options: &PerformanceOptions,
) -> Result<Performance, ReadError> {
    let names: Vec<&str> = array(names)
        .iter()
        .map(|name| name.as_str().unwrap_or_default())
        .collect();
    let rows = array(rows);
    let mut named: Vec<(String, Vec<f64>)> = names
        .iter()
        .map(|name| ((*name).to_owned(), Vec::with_capacity(rows.len())))
        .collect();

    for (frame, row) in rows.iter().enumerate() {
        let cells = array(row);
        if cells.len() != names.len() {
            return Err(ReadError::whole(format!(
                "frame {frame} has {} values for {} names; export the file again",
                cells.len(),
                names.len()
            )));
        }
        for ((name, values), cell) in named.iter_mut().zip(cells) {
            values.push(value_of(cell, || format!("frame {frame}, '{name}'"))?);
        }
    }
    assembled(named, &Clock::Absent(rows.len()), rate, options)
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// A list of frames, each an object.
fn of_frames(
    frames: &[Value],
    rate: Option<f64>,
    budget: &Budget,
    options: &PerformanceOptions,
) -> Result<Performance, ReadError> {
    let mut index: HashMap<&str, usize> = HashMap::new();
    let mut named: Vec<(String, Vec<f64>)> = Vec::new();
    let mut times: Vec<f64> = Vec::new();
    let mut numbers: Vec<f64> = Vec::new();
    let mut labels: Vec<Timecode> = Vec::new();
    let mut time_key = String::new();

    for (frame, value) in frames.iter().enumerate() {
        let Value::Object(fields) = value else {
            return Err(ReadError::whole(format!("frame {frame} is no JSON object")));
        };
        for (name, value) in fields {
            let key = lower(name);
            if TIME_KEYS.contains(&key.as_str()) && value.is_number() {
                times.push(value_of(value, String::new)?);
                time_key.clone_from(name);
            } else if FRAME_KEYS.contains(&key.as_str()) && value.is_number() {
                numbers.push(value_of(value, String::new)?);
            } else if key == "timecode" {
                labels.extend(value.as_str().and_then(Timecode::parse));
            }
        }

        for (name, value) in weights_of(fields) {
            // A channel of one frame has a value in all of them.
            if !index.contains_key(name) {
                budget.spend(frames.len(), "the channels")?;
            }
            let channel = *index.entry(name).or_insert_with(|| {
                named.push((name.to_owned(), Vec::new()));
                named.len() - 1
            });
            let values = &mut named[channel].1;
            values.resize(frame, f64::NAN);
            values.push(value);
        }
    }

    for (_, values) in &mut named {
        values.resize(frames.len(), f64::NAN);
    }
    let count = frames.len();
    let clock = if times.len() == count && count > 0 {
        Clock::Times(times, time_key)
    } else if labels.len() == count && count > 0 {
        Clock::Timecode(labels)
    } else if numbers.len() == count && count > 0 {
        Clock::Frames(numbers)
    } else {
        Clock::Absent(count)
    };
    assembled(named, &clock, rate, options)
}

/// Names and numbers of a frame: those of the objects in it, or else its own.
fn weights_of(fields: &Map<String, Value>) -> Vec<(&str, f64)> {
    let mut found = Vec::new();
    for value in fields.values() {
        if let Value::Object(inner) = value {
            found.extend(numbers_of(inner));
        }
    }
    if !found.is_empty() {
        return found;
    }

    let is_clock = |name: &str| {
        let key = lower(name);
        TIME_KEYS.contains(&key.as_str()) || FRAME_KEYS.contains(&key.as_str())
    };
    found.extend(numbers_of(fields));
    found.retain(|(name, _)| !is_clock(name));
    found
}

fn numbers_of(fields: &Map<String, Value>) -> impl Iterator<Item = (&str, f64)> {
    fields.iter().filter_map(|(name, value)| match value {
        Value::Number(number) => Some((name.as_str(), number.as_f64()?)),
        Value::Null => Some((name.as_str(), f64::NAN)),
        _ => None,
    })
}

fn assembled(
    named: Vec<(String, Vec<f64>)>,
    clock: &Clock,
    rate: Option<f64>,
    options: &PerformanceOptions,
) -> Result<Performance, ReadError> {
    if named.is_empty() || named[0].1.is_empty() {
        return Err(ReadError::whole(
            "the JSON holds no channel with a value; give names and numbers",
        ));
    }

    let FrameTimes {
        times_secs,
        rows,
        frames_per_second,
        timecode,
        notes,
    } = clock.frame_times(options, rate)?;
    let channels = named
        .into_iter()
        .map(|(name, values)| Channel::new(name, rows.iter().map(|&row| values[row]).collect()));
    let mut performance = Performance::new("", times_secs, frames_per_second, channels.collect())?;
    performance.timecode = timecode;
    performance.notes = notes;
    Ok(performance)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(text: &str) -> Performance {
        read(text.as_bytes(), &PerformanceOptions::default()).unwrap()
    }

    fn values(take: &Performance, name: &str) -> Vec<f64> {
        take.channel(name).unwrap().values.clone()
    }

    #[test]
    fn every_form_gives_the_same_channels() {
        for text in [
            r#"{"fps": 50, "channels": {"jawOpen": [0, 0.5], "smile": [1, 0.25]}}"#,
            r#"{"exportFps": 50.0, "numPoses": 2, "facsNames": ["jawOpen", "smile"], "weightMat": [[0, 1], [0.5, 0.25]]}"#,
            r#"[{"time": 0, "blendShapes": {"jawOpen": 0, "smile": 1}}, {"time": 0.02, "blendShapes": {"jawOpen": 0.5, "smile": 0.25}}]"#,
            r#"{"frames": [{"time": 3, "jawOpen": 0, "smile": 1}, {"time": 3.02, "jawOpen": 0.5, "smile": 0.25}]}"#,
            "{\"timestamp\": 0, \"animationValues\": {\"jawOpen\": 0, \"smile\": 1}}\n{\"timestamp\": 20, \"animationValues\": {\"jawOpen\": 0.5, \"smile\": 0.25}}\n",
            r#"{"fps": 50, "sliders": {"jawOpen": [[0, 0], [0.02, 0.5]], "smile": [[0, 1], [0.02, 0.25]]}}"#,
        ] {
            let take = take(text);
            assert_eq!(values(&take, "jawOpen"), [0.0, 0.5], "{text}");
            assert_eq!(values(&take, "smile"), [1.0, 0.25], "{text}");
            assert!((take.frames_per_second() - 50.0).abs() < 1e-9, "{text}");
        }
    }

    #[test]
    fn a_channel_that_a_frame_lacks_is_missing_there() {
        let take = take(r#"[{"a": 1}, {"b": 2}, {"a": null, "b": 3}]"#);
        assert!(values(&take, "a")[1].is_nan() && values(&take, "a")[2].is_nan());
        assert!(values(&take, "b")[0].is_nan());
        assert_eq!(values(&take, "b")[2], 3.0);
    }

    #[test]
    fn other_texts_are_errors() {
        for (text, word) in [
            ("{", "line 1"),
            ("3", "no performance"),
            ("[]", "no channel"),
            ("{\"a\": \"b\"}", "no performance"),
            ("{\"channels\": {\"a\": [1, \"x\"]}}", "frame 1"),
            ("{\"channels\": {\"a\": [1], \"b\": [1, 2]}}", "'b' has 2"),
            ("{\"sliders\": {\"a\": [[0, 0], [0, 1]]}}", "key 1"),
            (
                "{\"fps\": 60, \"sliders\": {\"a\": [[0, 0], [1e9, 1]]}}",
                "million",
            ),
            ("{\"a\": 1}\n{\"a\": 2\n", "line 2"),
            (
                "{\"facsNames\": [\"a\"], \"weightMat\": [[1, 2]]}",
                "frame 0 has 2",
            ),
        ] {
            let error = read(text.as_bytes(), &PerformanceOptions::default());
            let message = error.unwrap_err().in_file("x.json").to_string();
            assert!(message.contains(word), "'{word}' in: {message}");
        }
    }
}
