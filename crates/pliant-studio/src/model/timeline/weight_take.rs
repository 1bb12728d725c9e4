//! Takes of weights: what a device recorded, or a file of a performance, on the sliders.

use pliant::io::npy;
use pliant::rig::{Interpolation, RigError, WeightTrack};
use serde::{Deserialize, Serialize};

use super::{Take, TakeFrames};
use crate::model::blob::Blob;
use crate::model::document::{Locator, Weights};

/// The weights of some sliders at evenly spaced times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WeightFrames {
    /// The sliders.
    pub sliders: Vec<String>,
    /// A NumPy array of `f32`, frames × sliders.
    pub frames: Blob,
}

impl WeightFrames {
    /// The weights of `sliders` in each frame.
    #[must_use]
    pub fn new(sliders: Vec<String>, rows: &[Vec<f64>]) -> Self {
        let shape = [rows.len(), sliders.len()];
        let numbers = rows.iter().flatten().map(|weight| *weight as f32);
        Self {
            frames: Blob::new(npy::write_f32(&shape, numbers), "npy"),
            sliders,
        }
    }

    /// The weights of one frame; `None` where the bytes do not hold it.
    #[must_use]
    pub fn row(&self, frame: usize) -> Option<Vec<f64>> {
        let bytes = self.frames.bytes();
        // The NumPy header has its length in bytes 8 and 9.
        let header = usize::from(u16::from_le_bytes(bytes.get(8..10)?.try_into().ok()?));
        let size = 4 * self.sliders.len();
        let begin = 10 + header + frame * size;
        let numbers = bytes.get(begin..begin + size)?.chunks_exact(4);
        let weight = |b: &[u8]| f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        Some(numbers.map(weight).collect())
    }

    /// The weights at a frame, on straight lines between frames.
    #[must_use]
    pub fn at(&self, frame: f64) -> Option<Weights> {
        let share = frame.fract();
        let mut row = self.row(frame.floor() as usize)?;
        if share > 0.0 {
            let next = self.row(frame.floor() as usize + 1)?;
            for (weight, next) in row.iter_mut().zip(next) {
                *weight += share * (next - *weight);
            }
        }
        let named = self.sliders.iter().cloned().zip(row);
        Some(named.filter(|(_, weight)| *weight != 0.0).collect())
    }
}

impl Take {
    /// A take of weights, of rows that are as long as `sliders`.
    #[must_use]
    pub fn of_weights(
        name: impl Into<String>,
        of: impl Into<Locator>,
        sliders: Vec<String>,
        rows: &[Vec<f64>],
        frames_per_second: f64,
    ) -> Self {
        Self {
            name: name.into(),
            of: of.into(),
            frames: TakeFrames::Weights(WeightFrames::new(sliders, rows)),
            frames_per_second,
            frame_count: rows.len() as u32,
        }
    }

    /// The sliders of a take of weights and their track; `None` for other takes.
    #[must_use]
    pub fn weight_track(&self) -> Option<(&[String], Result<WeightTrack, RigError>)> {
        let TakeFrames::Weights(weights) = &self.frames else {
            return None;
        };
        let times = (0..self.frame_count).map(|k| f64::from(k) / self.frames_per_second);
        let rows = (0..self.frame_count as usize).map_while(|k| weights.row(k));
        let track = WeightTrack::new(times.collect(), rows.collect(), Interpolation::Linear);
        Some((&weights.sliders, track))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_restored_from_their_bytes_and_interpolated() {
        let sliders = vec!["jawOpen".to_owned(), "smile".to_owned()];
        let rows = [vec![0.0, 0.5], vec![1.0, 0.25]];
        let take = Take::of_weights("take", "specimen:head", sliders, &rows, 60.0);
        let TakeFrames::Weights(weights) = &take.frames else {
            panic!("weights")
        };

        assert_eq!(weights.row(1), Some(vec![1.0, 0.25]));
        assert_eq!(weights.row(2), None);
        assert_eq!(weights.at(0.5).unwrap()["jawOpen"], 0.5);
        assert!(!weights.at(0.0).unwrap().contains_key("jawOpen"));
        let (names, track) = take.weight_track().unwrap();
        assert_eq!((names.len(), track.unwrap().keys().len()), (2, 2));
    }
}
