//! Performances: named channels over time, with markers and timecode.

use std::collections::BTreeMap;

use super::rotation::RotationChannel;
use super::timecode::{FrameRate, Timecode};
use crate::{MarkerTrack, RigError, did_you_mean};

/// What the numbers of a channel are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ChannelKind {
    /// A weight of a shape; 0 is rest, 1 the whole shape.
    Weight,
    /// An angle of the head or of an eye, in radians.
    Rotation(RotationChannel),
    /// A number of unknown meaning, such as an angle of a joint.
    Other,
}

/// One recorded number over time.
#[derive(Debug, Clone, PartialEq)]
pub struct Channel {
    /// Its name in the file.
    pub name: String,
    /// What its numbers are.
    pub kind: ChannelKind,
    /// One number for each frame; NaN where it is missing.
    pub values: Vec<f64>,
}

impl Channel {
    /// A channel whose kind follows from its name: an angle of the head or of an eye, or a weight.
    #[must_use]
    pub fn new(name: impl Into<String>, values: Vec<f64>) -> Self {
        let name = name.into();
        let kind = match RotationChannel::of_name(&name) {
            Some(rotation) => ChannelKind::Rotation(rotation),
            None => ChannelKind::Weight,
        };
        Self { name, kind, values }
    }

    /// How many frames have no number.
    #[must_use]
    pub fn missing(&self) -> usize {
        self.values.iter().filter(|value| value.is_nan()).count()
    }
}

/// Where labels of frames begin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimecodeStart {
    /// The label of the first frame.
    pub first: Timecode,
    /// The rate of the labels, which may be a multiple of that of the frames.
    pub rate: FrameRate,
}

/// A recorded or synthesised performance.
#[derive(Debug, Clone, PartialEq)]
pub struct Performance {
    name: String,
    times_secs: Vec<f64>,
    frames_per_second: f64,
    channels: Vec<Channel>,
    /// Labels of the frames, if the file has them.
    pub timecode: Option<TimecodeStart>,
    /// Markers of the same take. Their frames have a rate of their own.
    pub markers: Option<MarkerTrack>,
    /// What the reader guessed or corrected, one sentence each.
    pub notes: Vec<String>,
}

impl Performance {
    /// A performance whose frame `k` is at `times_secs[k]`, counted from the first frame.
    /// Duplicate names of channels get a number, as in `jawOpen#2`.
    ///
    /// # Errors
    /// [`RigError::KeyOrder`] if times do not ascend, [`RigError::Track`] if a channel has another
    /// number of values than there are times, [`RigError::BadOption`] for a rate that is not above
    /// 0.
    pub fn new(
        name: impl Into<String>,
        times_secs: Vec<f64>,
        frames_per_second: f64,
        channels: Vec<Channel>,
    ) -> Result<Self, RigError> {
        // NaN fails these comparisons.
        let rising =
            |k: usize| times_secs[k].is_finite() && (k == 0 || times_secs[k - 1] < times_secs[k]);
        if let Some(key) = (0..times_secs.len()).find(|&k| !rising(k)) {
            return Err(RigError::KeyOrder { key });
        }

        if !(frames_per_second > 0.0 && frames_per_second.is_finite()) {
            return Err(RigError::BadOption {
                what: "the rate of a performance",
                value: frames_per_second,
                needed: "frames per second above 0",
            });
        }

        if let Some(channel) = channels.iter().find(|c| c.values.len() != times_secs.len()) {
            return Err(RigError::Track {
                what: "values in a channel",
                found: channel.values.len(),
                expected: times_secs.len(),
            });
        }

        Ok(Self {
            name: name.into(),
            times_secs,
            frames_per_second,
            channels: with_distinct_names(channels),
            timecode: None,
            markers: None,
            notes: Vec::new(),
        })
    }

    /// A performance of evenly spaced frames.
    pub fn even(
        name: impl Into<String>,
        frames_per_second: f64,
        channels: Vec<Channel>,
    ) -> Result<Self, RigError> {
        let count = channels.first().map_or(0, |channel| channel.values.len());
        let times = (0..count).map(|k| k as f64 / frames_per_second).collect();
        Self::new(name, times, frames_per_second, channels)
    }

    /// Its name, often that of its file.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The same performance under another name.
    #[must_use]
    pub fn with_name(self, name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..self
        }
    }

    /// The time of each frame, ascending, in seconds.
    #[must_use]
    pub fn times_secs(&self) -> &[f64] {
        &self.times_secs
    }

    /// The usual number of frames per second. Where frames are missing, times are farther apart.
    #[must_use]
    pub fn frames_per_second(&self) -> f64 {
        self.frames_per_second
    }

    /// The number of recorded frames.
    #[must_use]
    pub fn frame_count(&self) -> usize {
        self.times_secs.len()
    }

    /// The time from the first frame to the last.
    #[must_use]
    pub fn duration_secs(&self) -> f64 {
        match (self.times_secs.first(), self.times_secs.last()) {
            (Some(first), Some(last)) => last - first,
            _ => 0.0,
        }
    }

    /// The channels in the order of the file.
    #[must_use]
    pub fn channels(&self) -> &[Channel] {
        &self.channels
    }

    /// The channels, to be changed in place; their number of values must stay.
    pub(crate) fn channels_mut(&mut self) -> &mut [Channel] {
        &mut self.channels
    }

    /// The channel of this name.
    ///
    /// # Errors
    /// [`RigError::NoSuchChannel`] with similar names.
    pub fn channel(&self, name: &str) -> Result<&Channel, RigError> {
        self.channels
            .iter()
            .find(|channel| channel.name == name)
            .ok_or_else(|| RigError::NoSuchChannel {
                channel: name.to_owned(),
                known: did_you_mean(name, self.channels.iter().map(|c| c.name.as_str())),
            })
    }

    /// The frames after which at least one frame is missing, with the number of missing ones.
    #[must_use]
    pub fn dropped_frames(&self) -> Vec<(usize, usize)> {
        let mut dropped = Vec::new();
        for (k, pair) in self.times_secs.windows(2).enumerate() {
            let steps = ((pair[1] - pair[0]) * self.frames_per_second).round();
            if steps >= 2.0 {
                dropped.push((k, steps as usize - 1));
            }
        }
        dropped
    }

    /// The same performance at evenly spaced times, linear between its frames. A value next to a
    /// missing one is missing, too, unless the time is that of a frame.
    pub fn resampled(&self, frames_per_second: f64) -> Result<Self, RigError> {
        const MOST_FRAMES: f64 = 10e6;
        let frames = self.duration_secs() * frames_per_second;
        if !(frames_per_second > 0.0 && frames < MOST_FRAMES) {
            return Err(RigError::BadOption {
                what: "the rate of a performance",
                value: frames_per_second,
                needed: "frames per second above 0, with fewer than ten million frames",
            });
        }

        // Rounding must not lose the last frame.
        let count = if self.times_secs.is_empty() {
            0
        } else {
            (frames + 1e-6).floor() as usize + 1
        };
        let start = self.times_secs.first().copied().unwrap_or_default();
        let times: Vec<f64> = (0..count)
            .map(|k| start + k as f64 / frames_per_second)
            .collect();

        let mut channels = Vec::with_capacity(self.channels.len());
        for channel in &self.channels {
            let value = |&time: &f64| value_at(&self.times_secs, &channel.values, time);
            channels.push(Channel {
                values: times.iter().map(value).collect(),
                ..channel.clone()
            });
        }

        let mut even = Self::new(&*self.name, times, frames_per_second, channels)?;
        even.timecode = self.timecode;
        even.markers = self.markers.clone();
        even.notes = self.notes.clone();
        Ok(even)
    }
}

/// The value at a time, linear between frames and constant outside them.
fn value_at(times: &[f64], values: &[f64], time: f64) -> f64 {
    // Times nearer than this to a frame are on it.
    const TOLERANCE_SECS: f64 = 1e-7;
    let next = times.partition_point(|&t| t <= time + TOLERANCE_SECS);
    if next == 0 || next == times.len() {
        return values[next.saturating_sub(1)];
    }

    let (from, to) = (times[next - 1], times[next]);
    let s = ((time - from) / (to - from)).max(0.0);
    if s * (to - from) <= TOLERANCE_SECS {
        values[next - 1]
    } else {
        (1.0 - s) * values[next - 1] + s * values[next]
    }
}

fn with_distinct_names(mut channels: Vec<Channel>) -> Vec<Channel> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for channel in &mut channels {
        while let Some(count) = seen.get_mut(&channel.name) {
            *count += 1;
            channel.name = format!("{}#{count}", channel.name);
        }
        seen.insert(channel.name.clone(), 1);
    }
    channels
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ramp(times: &[f64]) -> Performance {
        let channel = Channel::new("jawOpen", times.iter().map(|t| 2.0 * t).collect());
        Performance::new("take", times.to_vec(), 30.0, vec![channel]).unwrap()
    }

    #[test]
    fn dropped_frames_are_found_by_the_times() {
        let times = [0.0, 1.0, 2.0, 4.0, 5.0, 9.0].map(|k| k / 30.0);
        assert_eq!(ramp(&times).dropped_frames(), [(2, 1), (4, 3)]);
    }

    #[test]
    fn a_resampled_line_is_the_same_line_with_all_its_frames() {
        let times = [0.0, 1.0, 2.0, 4.0, 5.0, 9.0].map(|k| k / 30.0);
        let even = ramp(&times).resampled(30.0).unwrap();
        assert_eq!(even.frame_count(), 10);
        assert!(even.dropped_frames().is_empty());
        for (time, value) in even.times_secs().iter().zip(&even.channels()[0].values) {
            assert!((value - 2.0 * time).abs() < 1e-12);
        }
        assert!(ramp(&times).resampled(0.0).is_err());
        assert!(ramp(&times).resampled(1e12).is_err());
    }

    #[test]
    fn kinds_follow_from_names_and_names_become_distinct() {
        let channels = ["HeadYaw", "jawOpen", "jawOpen"].map(|name| Channel::new(name, vec![]));
        let take = Performance::even("take", 60.0, channels.to_vec()).unwrap();
        assert!(matches!(take.channels()[0].kind, ChannelKind::Rotation(_)));
        assert_eq!(take.channels()[2].name, "jawOpen#2");
        assert_eq!(take.channels()[2].kind, ChannelKind::Weight);
    }

    #[test]
    fn values_that_do_not_fit_are_errors() {
        let channel = |count| vec![Channel::new("a", vec![0.0; count])];
        assert!(Performance::new("x", vec![0.0, 0.0], 30.0, channel(2)).is_err());
        assert!(Performance::new("x", vec![0.0, f64::NAN], 30.0, channel(2)).is_err());
        assert!(Performance::new("x", vec![0.0, 1.0], 30.0, channel(1)).is_err());
        assert!(Performance::new("x", vec![0.0], 0.0, channel(1)).is_err());
        let message = ramp(&[0.0]).channel("jawOpn").unwrap_err().to_string();
        assert!(message.contains("jawOpen"), "{message}");
    }
}
