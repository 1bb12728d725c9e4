//! Layers of a synthesis: which frames of a source apply where, when and how.
//!
//! **Implementation.** Layers apply in order, each to the result of those below it. In frame `k` of
//! the output a layer has the clip time `first + (k − at) · speed`, until that exceeds `last`.
//! Outside this interval it is not active.

use pliant_linalg::smoothstep;
use serde::{Deserialize, Serialize};

use super::HOLDING_WEIGHT;
use crate::TransferError;

/// How a layer combines with the result of the layers below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LayerMode {
    /// It replaces the result below, by its weight.
    #[default]
    Blend,
    /// It deforms the result below further: the product of both.
    Compound,
}

/// Some frames of a source's clip on a region of the target.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// Index of the source.
    pub source: usize,
    /// The blend weight of each target triangle, from zero to one.
    pub weights: Vec<f64>,
    /// How the layer combines with the result below.
    pub mode: LayerMode,
    /// First and last frame of the clip.
    pub frames: (usize, usize),
    /// The frame of the output at which the layer starts.
    pub at: usize,
    /// Frames of the clip per frame of the output.
    pub speed: f64,
    /// Frames of the output over which the layer fades in and out; with zero it starts and ends at
    /// once.
    pub ease: f64,
}

/// A time of a clip, between two frames.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ClipTime {
    pub(crate) frame: usize,
    /// The fraction of the interval to the next frame, in [0, 1).
    pub(crate) fraction: f64,
}

impl Layer {
    /// Longest output, in frames. Chosen: an hour of film; more is a typing mistake.
    pub const MOST_FRAMES: usize = 86_400;

    /// A time this close to a frame is that frame: speeds like 1/3 do not add up to whole frames.
    const SAME_FRAME: f64 = 1e-9;

    /// All frames of a clip at its own speed, from the first frame of the output on, blended.
    #[must_use]
    pub fn whole(source: usize, weights: Vec<f64>, clip_frames: usize) -> Self {
        Self {
            source,
            weights,
            mode: LayerMode::Blend,
            frames: (0, clip_frames.saturating_sub(1)),
            at: 0,
            speed: 1.0,
            ease: 0.0,
        }
    }

    /// Number of frames of the output in which the layer is active.
    #[must_use]
    pub fn duration(&self) -> usize {
        let clip_frames = self.frames.1.saturating_sub(self.frames.0) as f64;
        ((clip_frames / self.speed + Self::SAME_FRAME) as usize).saturating_add(1)
    }

    /// The frame of the output after the last in which the layer is active.
    #[must_use]
    pub fn end(&self) -> usize {
        self.at.saturating_add(self.duration())
    }

    /// Whether the layer has the larger part of a triangle.
    pub(super) fn holds(&self, triangle: usize) -> bool {
        self.weights[triangle] > HOLDING_WEIGHT
    }

    /// The time of the clip in frame `k` of the output, if the layer is active.
    pub(crate) fn clip_time(&self, k: usize) -> Option<ClipTime> {
        let since = k
            .checked_sub(self.at)
            .filter(|&since| since < self.duration())?;
        let elapsed = since as f64 * self.speed;
        // The tolerance keeps 0.999… of a frame from becoming the frame before.
        let whole = (elapsed + Self::SAME_FRAME).floor();
        let fraction = (elapsed - whole).max(0.0);

        let frame = (self.frames.0 + whole as usize).min(self.frames.1);
        let is_on_frame = fraction < Self::SAME_FRAME || frame == self.frames.1;
        Some(ClipTime {
            frame,
            fraction: if is_on_frame { 0.0 } else { fraction },
        })
    }

    /// The fade of the layer in frame `k`, from zero to one: a smoothstep at both ends.
    pub(crate) fn presence(&self, k: usize) -> f64 {
        let since = k.saturating_sub(self.at) as f64;
        let left = self.end().saturating_sub(k + 1) as f64;
        let x = ((since.min(left) + 1.0) / (self.ease + 1.0)).min(1.0);
        smoothstep(x)
    }

    /// Rejects weights and numbers out of range; `index` is that of the layer.
    pub(crate) fn check(
        &self,
        index: usize,
        triangles: usize,
        clip_frames: usize,
    ) -> Result<(), TransferError> {
        self.check_numbers(triangles)?;
        // The last frame is included.
        let (first, last) = self.frames;
        if first > last || last >= clip_frames {
            return Err(TransferError::BadFrames {
                layer: index,
                first,
                last,
                frames: clip_frames,
            });
        }
        if self.end() > Self::MOST_FRAMES {
            return Err(TransferError::EndlessLayer {
                layer: index,
                end: self.end(),
                most: Self::MOST_FRAMES,
            });
        }
        Ok(())
    }

    fn check_numbers(&self, triangles: usize) -> Result<(), TransferError> {
        TransferError::check_count("the weights of a layer", self.weights.len(), triangles)?;
        // NaN is in no range, so it is rejected as well.
        if let Some(&value) = self.weights.iter().find(|w| !(0.0..=1.0).contains(*w)) {
            return Err(TransferError::BadNumber {
                what: "the weight of a triangle in a layer",
                value,
                needed: "from zero to one",
            });
        }

        if !(self.speed > 0.0 && self.speed.is_finite()) {
            return Err(TransferError::BadNumber {
                what: "the speed of a layer",
                value: self.speed,
                needed: "above zero",
            });
        }
        if !(self.ease >= 0.0 && self.ease.is_finite()) {
            return Err(TransferError::BadNumber {
                what: "the ease of a layer",
                value: self.ease,
                needed: "a number of frames from zero up",
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(frames: (usize, usize), at: usize, speed: f64) -> Layer {
        Layer {
            frames,
            at,
            speed,
            ..Layer::whole(0, vec![], 30)
        }
    }

    #[test]
    fn at_speed_one_every_frame_occurs_once() {
        let layer = layer((4, 9), 2, 1.0);
        assert_eq!(
            (layer.duration(), layer.clip_time(1), layer.clip_time(8)),
            (6, None, None)
        );

        for k in 2..8 {
            assert_eq!(
                layer.clip_time(k),
                Some(ClipTime {
                    frame: k + 2,
                    fraction: 0.0
                })
            );
        }
    }

    #[test]
    fn a_third_of_the_speed_takes_three_times_as_long_and_hits_whole_frames() {
        let layer = layer((0, 9), 0, 1.0 / 3.0);
        assert_eq!(layer.duration(), 28);
        for k in 0..28 {
            let time = layer.clip_time(k).unwrap();
            assert!((time.frame as f64 + time.fraction - k as f64 / 3.0).abs() < 1e-8);
            assert_eq!(time.fraction == 0.0, k % 3 == 0, "frame {k}");
        }
    }

    #[test]
    fn an_eased_layer_fades_in_and_out_and_an_abrupt_one_does_not() {
        let abrupt = layer((0, 9), 0, 1.0);
        assert!((0..10).all(|k| abrupt.presence(k) == 1.0));
        let eased = Layer {
            ease: 3.0,
            ..abrupt
        };
        assert!((0..3).all(|k| eased.presence(k) < eased.presence(k + 1)
            && eased.presence(9 - k) == eased.presence(k)));
        assert_eq!(eased.presence(3), 1.0);
    }

    #[test]
    fn frames_beyond_the_clip_and_weights_beyond_one_are_rejected() {
        assert!(layer((0, 29), 0, 1.0).check(0, 0, 30).is_ok());
        assert!(matches!(
            layer((0, 30), 0, 1.0).check(2, 0, 30),
            Err(TransferError::BadFrames {
                layer: 2,
                last: 30,
                ..
            })
        ));

        assert!(matches!(
            layer((5, 4), 0, 1.0).check(0, 0, 30),
            Err(TransferError::BadFrames { .. })
        ));
        assert!(layer((0, 1), 0, 0.0).check(0, 0, 30).is_err());
        assert!(matches!(
            layer((0, 1), 0, 1e-300).check(3, 0, 30),
            Err(TransferError::EndlessLayer { layer: 3, .. })
        ));

        assert!(Layer::whole(0, vec![0.5, 1.1], 1).check(0, 2, 1).is_err());
    }
}
