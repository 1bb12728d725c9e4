//! The timeline: keys and takes.

mod clipboard;
mod keys;
mod takes;
mod weight_take;

use std::collections::BTreeMap;

use pliant::io::npy;
use pliant::mesh::glam::{DVec3, Vec3};
use serde::{Deserialize, Serialize};

use super::blob::Blob;
use super::document::Locator;
use super::names::free_name;

pub use pliant::rig::{Ease, EasedKey as Key, eased_weight as weight_at};

pub use clipboard::{copied, pasted};
pub use keys::{
    KeyAt, Keys, Picked, changed_sliders, eased, key_at, moved, picked_frames, without,
};
pub use weight_take::WeightFrames;

/// What happens over time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Timeline {
    /// Frames in a second.
    pub frames_per_second: f64,
    /// The last frame; the first is 0.
    pub last_frame: u32,
    /// The keys of each slider, ascending; a slider without keys keeps its weight.
    pub keys: Keys,
    /// Animations that are positions, not sliders, and clips of files.
    pub takes: Vec<Take>,
    /// The take that plays instead of the keys.
    pub playing_take: Option<String>,
    /// The frame at which the weights of keyed sliders are those of their curves, or were before
    /// the user moved them. It comes back with them on undo, so that a pose of another frame is
    /// never taken for that of the one on the clock.
    pub shown_frame: f64,
}

/// An animation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Take {
    /// Its name, unlike all others.
    pub name: String,
    /// The asset whose vertices it moves.
    pub of: Locator,
    /// Where its frames are.
    pub frames: TakeFrames,
    /// Frames in a second.
    pub frames_per_second: f64,
    /// How many frames.
    pub frame_count: u32,
}

/// Where a take's frames are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum TakeFrames {
    /// In a clip of a file.
    Clip(Locator),
    /// Made here: positions as a NumPy array of `f32`, frames × vertices × 3.
    Made(Blob),
    /// A recorded or imported performance: weights of sliders.
    Weights(WeightFrames),
}

impl Default for Timeline {
    fn default() -> Self {
        Self {
            frames_per_second: 24.0,
            last_frame: 48,
            keys: BTreeMap::new(),
            takes: Vec::new(),
            playing_take: None,
            shown_frame: 0.0,
        }
    }
}

impl Timeline {
    /// Longer than any shot; a timeline beyond it could not be drawn.
    pub const MAX_FRAME: u32 = 1_000_000;

    /// The take of this name.
    #[must_use]
    pub fn take(&self, name: &str) -> Option<&Take> {
        self.takes.iter().find(|take| take.name == name)
    }

    /// How many frames of this timeline so many frames of another rate last, after the first.
    #[must_use]
    pub fn frames_of(&self, frame_count: usize, frames_per_second: f64) -> u32 {
        let frames =
            frame_count.saturating_sub(1) as f64 / frames_per_second * self.frames_per_second;
        // A little more than a whole number is rounding.
        (frames - 1e-6)
            .ceil()
            .clamp(1.0, f64::from(Self::MAX_FRAME)) as u32
    }

    /// Adds a take under its name, or under that name with a number where there is one already, and
    /// returns which.
    pub fn add_take(&mut self, mut take: Take) -> String {
        take.name = free_name(&take.name, |name| self.take(name).is_some());
        let name = take.name.clone();
        self.takes.push(take);
        name
    }
}

impl Take {
    /// A take made in the studio, of frames with equally many vertices.
    #[must_use]
    pub fn made(
        name: impl Into<String>,
        of: impl Into<Locator>,
        frames: &[Vec<DVec3>],
        frames_per_second: f64,
    ) -> Self {
        let frame_count = frames.len() as u32;
        let shape = [frames.len(), frames.first().map_or(0, Vec::len), 3];
        // Single precision halves the file and is more than the screen shows.
        let bytes = npy::write_f32(
            &shape,
            frames.iter().flatten().flat_map(|p| p.as_vec3().to_array()),
        );

        let frames = TakeFrames::Made(Blob::new(bytes, "npy"));
        Self {
            name: name.into(),
            of: of.into(),
            frames,
            frames_per_second,
            frame_count,
        }
    }

    /// Its frames, if they were made in the studio.
    pub fn blob_mut(&mut self) -> Option<&mut Blob> {
        match &mut self.frames {
            TakeFrames::Made(blob) => Some(blob),
            TakeFrames::Weights(weights) => Some(&mut weights.frames),
            TakeFrames::Clip(_) => None,
        }
    }
}

/// One frame of a take made in the studio; `None` where the bytes do not hold it.
#[must_use]
pub fn made_frame(blob: &Blob, frame: usize, vertex_count: usize) -> Option<Vec<Vec3>> {
    let bytes = blob.bytes();
    // The NumPy header has its length in bytes 8 and 9.
    let header = usize::from(u16::from_le_bytes(bytes.get(8..10)?.try_into().ok()?));
    let size = vertex_count * 12;
    let begin = 10 + header + frame * size;
    let numbers = bytes.get(begin..begin + size)?;
    let number =
        |k: usize| f32::from_le_bytes([numbers[k], numbers[k + 1], numbers[k + 2], numbers[k + 3]]);

    Some(
        (0..vertex_count)
            .map(|v| Vec3::new(number(12 * v), number(12 * v + 4), number(12 * v + 8)))
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_restored_from_their_bytes() {
        let frames = vec![
            vec![DVec3::new(1.0, 2.0, 3.0), DVec3::X],
            vec![DVec3::Y, DVec3::new(0.5, -4.0, 8.0)],
        ];
        let take = Take::made("press", "specimen:head", &frames, 24.0);
        let TakeFrames::Made(blob) = &take.frames else {
            panic!("made here")
        };

        for (k, frame) in frames.iter().enumerate() {
            assert_eq!(
                made_frame(blob, k, 2),
                Some(frame.iter().map(|p| p.as_vec3()).collect())
            );
        }

        assert_eq!(made_frame(blob, 2, 2), None);
    }

    #[test]
    fn names_of_takes_are_unique() {
        let mut timeline = Timeline::default();
        let take = Take::made("press", "specimen:head", &[], 24.0);
        assert_eq!(timeline.add_take(take.clone()), "press");
        assert_eq!(timeline.add_take(take), "press 2");
    }
}
