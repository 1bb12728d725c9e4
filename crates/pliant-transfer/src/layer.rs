//! Layers of a synthesis: which part of a clip goes where, when and how.
//!
//! **Form.** Layers apply in order, each to what lies below it. In frame `k` of the output a layer
//! shows the moment `first + (k − at) · speed` of its clip, as long as that does not pass `last`;
//! outside that time it is silent.

use crate::TransferError;

/// How a layer meets what lies below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LayerMode {
    /// It replaces what is below, by its weight.
    #[default]
    Blend,
    /// It deforms further what is below: the product of both.
    Compound,
}

/// A part of a source's clip on a part of the target.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// Index of the source.
    pub source: usize,
    /// How much of the layer each target triangle takes, from zero to one.
    pub weights: Vec<f64>,
    /// How it meets what lies below.
    pub mode: LayerMode,
    /// First and last frame of the clip.
    pub frames: (usize, usize),
    /// The frame of the output at which the layer starts.
    pub at: usize,
    /// Frames of the clip per frame of the output.
    pub speed: f64,
    /// Frames of the output over which the layer comes in and goes out; zero starts and ends at
    /// once.
    pub ease: f64,
}

/// A moment between two frames of a clip.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Moment {
    pub(crate) frame: usize,
    /// The part of the way to the next frame, in [0, 1).
    pub(crate) part: f64,
}

impl Layer {
    /// A moment this close to a frame is that frame: speeds like 1/3 do not add up to whole frames.
    const SAME_FRAME: f64 = 1e-9;

    /// All of a clip's frames at its own speed, from the first frame of the output on, blended.
    #[must_use]
    pub fn whole(source: usize, weights: Vec<f64>, clip_frames: usize) -> Self {
        let frames = (0, clip_frames.saturating_sub(1));
        Self {
            source,
            weights,
            mode: LayerMode::Blend,
            frames,
            at: 0,
            speed: 1.0,
            ease: 0.0,
        }
    }

    /// Longest output, in frames. *Ours*: an hour of film; more is a slip of the pen.
    pub const MOST_FRAMES: usize = 86_400;

    /// Frames of the output in which the layer shows.
    #[must_use]
    pub fn duration(&self) -> usize {
        let way = self.frames.1.saturating_sub(self.frames.0) as f64;
        ((way / self.speed + Self::SAME_FRAME) as usize).saturating_add(1)
    }

    /// The frame of the output after the last in which the layer shows.
    #[must_use]
    pub fn end(&self) -> usize {
        self.at.saturating_add(self.duration())
    }

    /// What the layer shows in frame `k` of the output, if anything.
    pub(crate) fn moment(&self, k: usize) -> Option<Moment> {
        let since = k
            .checked_sub(self.at)
            .filter(|&since| since < self.duration())?;
        let way = since as f64 * self.speed;
        let whole = (way + Self::SAME_FRAME).floor();
        let part = (way - whole).max(0.0);
        let frame = (self.frames.0 + whole as usize).min(self.frames.1);
        Some(Moment {
            frame,
            part: if part < Self::SAME_FRAME || frame == self.frames.1 {
                0.0
            } else {
                part
            },
        })
    }

    /// How far the layer has come in at frame `k`, from zero to one: a smooth step at both ends.
    pub(crate) fn presence(&self, k: usize) -> f64 {
        let since = k.saturating_sub(self.at) as f64;
        let left = self.end().saturating_sub(k + 1) as f64;
        let x = ((since.min(left) + 1.0) / (self.ease + 1.0)).min(1.0);
        x * x * (3.0 - 2.0 * x)
    }

    /// Declines weights and numbers out of range; `index` names the layer.
    pub(crate) fn check(
        &self,
        index: usize,
        triangles: usize,
        clip_frames: usize,
    ) -> Result<(), TransferError> {
        TransferError::check_count("the weights of a layer", self.weights.len(), triangles)?;
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
    fn at_its_own_speed_every_frame_shows_once() {
        let layer = layer((4, 9), 2, 1.0);
        assert_eq!(
            (layer.duration(), layer.moment(1), layer.moment(8)),
            (6, None, None)
        );
        for k in 2..8 {
            assert_eq!(
                layer.moment(k),
                Some(Moment {
                    frame: k + 2,
                    part: 0.0
                })
            );
        }
    }

    #[test]
    fn a_third_of_the_speed_takes_three_times_as_long_and_hits_whole_frames() {
        let layer = layer((0, 9), 0, 1.0 / 3.0);
        assert_eq!(layer.duration(), 28);
        for k in 0..28 {
            let moment = layer.moment(k).unwrap();
            assert!((moment.frame as f64 + moment.part - k as f64 / 3.0).abs() < 1e-8);
            assert_eq!(moment.part == 0.0, k % 3 == 0, "frame {k}");
        }
    }

    #[test]
    fn an_eased_layer_rises_and_falls_and_an_abrupt_one_is_there_at_once() {
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
    fn frames_beyond_the_clip_and_weights_beyond_one_are_declined() {
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
