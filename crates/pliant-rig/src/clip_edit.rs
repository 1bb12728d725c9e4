//! A drag at one moment of a clip, fading out before and after it.
//!
//! **Problem.** A pose that is corrected in one frame should blend into the frames around it, and
//! sliders that the drag left alone should keep their curves and their keys.
//!
//! **Equation.** `wₖ(t) ← clamp(wₖ(t) + b(|t − t₀| / r) Δₖ)` for every slider with `Δₖ ≠ 0`, with a
//! bell `b` that is 1 at 0, 0 from 1 on, and whose slope vanishes at both ends.
//!
//! **Ours.** A slider gets keys inside the bell only: where the clip has them anyway, and where
//! those are farther apart than a sixteenth of the radius, at which straight lines miss the steeper
//! bell by at most 1.2 % of the change.

use crate::keyed_curves::{Key, KeyedCurves};
use crate::{Limits, RigError, WeightTrack};

/// How an edit fades.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Bell {
    /// `1 − 3t² + 2t³`.
    #[default]
    Smooth,
    /// Whole as far as half the radius, then as the smooth one on the rest: for a pose that is to
    /// be held.
    Plateau,
}

impl Bell {
    /// The share of the change at a distance of `t` radii.
    #[must_use]
    pub fn at(self, t: f64) -> f64 {
        let fade = |t: f64| {
            let t = t.clamp(0.0, 1.0);
            1.0 - t * t * (3.0 - 2.0 * t)
        };
        match self {
            Self::Smooth => fade(t.abs()),
            Self::Plateau => fade(2.0 * t.abs() - 1.0),
        }
    }
}

/// A change of weights at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct ClipEdit {
    /// When, in seconds.
    pub time_secs: f64,
    /// What is added to each slider then; sliders at zero and missing ones are left alone.
    pub change: Vec<f64>,
    /// How long before and after it fades out.
    pub falloff_secs: f64,
    /// How.
    pub bell: Bell,
}

impl ClipEdit {
    /// Pieces of straight line on either side of the moment.
    const PIECES: f64 = 16.0;

    /// The curves with the edit; `limits` has one range for each slider.
    pub fn apply(&self, curves: &KeyedCurves, limits: &[Limits]) -> Result<KeyedCurves, RigError> {
        self.check(curves, limits)?;
        let clip_times = curves.to_track().times_secs().to_vec();
        let sliders = curves.sliders().iter().enumerate().map(|(slider, keys)| {
            match self.change.get(slider) {
                Some(&change) if change != 0.0 => {
                    self.bent(curves, slider, change, limits[slider], &clip_times)
                }
                _ => keys.clone(),
            }
        });
        KeyedCurves::new(curves.start_secs(), curves.end_secs(), sliders.collect())
    }

    fn check(&self, curves: &KeyedCurves, limits: &[Limits]) -> Result<(), RigError> {
        let expected = curves.sliders().len();
        if limits.len() != expected || self.change.len() > expected {
            let found = if limits.len() == expected {
                self.change.len()
            } else {
                limits.len()
            };
            return Err(RigError::SliderCount { found, expected });
        }
        if !(self.falloff_secs > 0.0 && self.falloff_secs.is_finite()) {
            return Err(RigError::BadOption {
                what: "falloff",
                value: self.falloff_secs,
                needed: "a time above 0",
            });
        }
        if let Some(slider) = self.change.iter().position(|change| !change.is_finite()) {
            return Err(RigError::BadWeight {
                name: format!("number {slider}"),
            });
        }
        if !(curves.start_secs() <= self.time_secs && self.time_secs <= curves.end_secs()) {
            return Err(RigError::BadOption {
                what: "the time of the edit",
                value: self.time_secs,
                needed: "a moment of the clip",
            });
        }
        Ok(())
    }

    /// The keys of one slider with the change.
    fn bent(
        &self,
        curves: &KeyedCurves,
        slider: usize,
        change: f64,
        limits: Limits,
        clip_times: &[f64],
    ) -> Vec<Key> {
        let inside = |time: f64| (time - self.time_secs).abs() < self.falloff_secs;
        let own = curves.sliders()[slider]
            .iter()
            .map(|key| key.time_secs)
            .filter(|&time| !inside(time));
        let mut times: Vec<f64> = own.chain(self.times(curves, clip_times)).collect();
        times.sort_by(f64::total_cmp);
        times.dedup();
        let weight = |time: f64| {
            let before = curves.at(slider, time);
            let share = self.bell.at((time - self.time_secs) / self.falloff_secs);
            // What lay outside its limits stays there where the edit does not reach.
            if share == 0.0 {
                before
            } else {
                limits.clamp(before + share * change)
            }
        };
        times
            .into_iter()
            .map(|time_secs| Key {
                time_secs,
                weight: weight(time_secs),
            })
            .collect()
    }

    /// The clip's times inside the bell, its ends and its middle, with gaps filled.
    fn times(&self, curves: &KeyedCurves, clip_times: &[f64]) -> Vec<f64> {
        let within = |time: f64| time.max(curves.start_secs()).min(curves.end_secs());
        let (from, to) = (
            within(self.time_secs - self.falloff_secs),
            within(self.time_secs + self.falloff_secs),
        );
        let mut times: Vec<f64> = clip_times
            .iter()
            .copied()
            .filter(|&t| from < t && t < to)
            .chain([from, self.time_secs, to])
            .collect();
        times.sort_by(f64::total_cmp);
        times.dedup();
        let mut filled = vec![times[0]];
        for pair in times.windows(2) {
            let pieces = ((pair[1] - pair[0]) * Self::PIECES / self.falloff_secs)
                .ceil()
                .max(1.0);
            let inner =
                (1..pieces as usize).map(|k| pair[0] + (pair[1] - pair[0]) * k as f64 / pieces);
            filled.extend(inner.chain([pair[1]]));
        }
        filled
    }
}

/// The track with `edit`, inside `limits`, one for each slider.
///
/// The track must go straight from key to key. Rows of all weights have no place for keys of single
/// sliders; an edit of [`KeyedCurves`] adds keys to the sliders it changes only.
pub fn edit_clip(
    track: &WeightTrack,
    edit: &ClipEdit,
    limits: &[Limits],
) -> Result<WeightTrack, RigError> {
    Ok(edit
        .apply(&KeyedCurves::from_track(track, 0.0)?, limits)?
        .to_track())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Interpolation;

    fn resting(end_secs: f64, sliders: usize) -> KeyedCurves {
        KeyedCurves::new(0.0, end_secs, vec![Vec::new(); sliders]).unwrap()
    }

    fn edit(time_secs: f64, change: &[f64], falloff_secs: f64) -> ClipEdit {
        ClipEdit {
            time_secs,
            change: change.to_vec(),
            falloff_secs,
            bell: Bell::Smooth,
        }
    }

    #[test]
    fn bells_are_whole_in_the_middle_gone_at_the_rim_and_flat_at_both() {
        for bell in [Bell::Smooth, Bell::Plateau] {
            assert_eq!((bell.at(0.0), bell.at(1.0), bell.at(-3.0)), (1.0, 0.0, 0.0));
            for place in [0.0, 0.5, 1.0, -1.0] {
                let slopes =
                    [-1e-7, 1e-7].map(|step| (bell.at(place + step) - bell.at(place)) / step);
                assert!(
                    (slopes[0] - slopes[1]).abs() < 1e-5,
                    "{bell:?} has no corner at {place}"
                );
            }
            assert_eq!(bell.at(0.3), bell.at(-0.3));
        }
        assert_eq!(Bell::Plateau.at(0.5), 1.0);
    }

    #[test]
    fn an_edit_reaches_its_moment_whole_and_nothing_beyond_its_falloff() {
        let curves = resting(4.0, 3);
        for bell in [Bell::Smooth, Bell::Plateau] {
            let edit = ClipEdit {
                bell,
                ..edit(2.0, &[0.0, 0.5], 0.75)
            };
            let edited = edit.apply(&curves, &[Limits::default(); 3]).unwrap();
            assert_eq!(edited.moving(), [1], "keys only on the slider that changed");
            assert_eq!(edited.at(1, 2.0), 0.5);
            for outside in [0.0, 1.0, 1.25, 2.75, 4.0] {
                assert_eq!(edited.at(1, outside), 0.0);
            }
            for k in 0..=400 {
                let time = 4.0 * f64::from(k) / 400.0;
                let wanted = 0.5 * bell.at((time - 2.0) / 0.75);
                assert!((edited.at(1, time) - wanted).abs() <= 0.012 * 0.5, "{time}");
            }
        }
    }

    #[test]
    fn an_edit_stays_inside_limits_and_leaves_other_curves_alone() {
        let ramp = |a, b| {
            vec![
                Key {
                    time_secs: 0.0,
                    weight: a,
                },
                Key {
                    time_secs: 2.0,
                    weight: b,
                },
            ]
        };
        let curves = KeyedCurves::new(0.0, 2.0, vec![ramp(0.0, 1.0), ramp(1.0, 0.0)]).unwrap();
        let edited = edit(1.0, &[0.9], 0.5)
            .apply(&curves, &[Limits::default(); 2])
            .unwrap();
        assert_eq!(edited.at(0, 1.0), 1.0);
        assert!(
            edited.sliders()[0]
                .iter()
                .all(|key| (0.0..=1.0).contains(&key.weight))
        );
        assert_eq!(edited.sliders()[1], curves.sliders()[1]);
        assert_eq!(edited.at(0, 0.25), curves.at(0, 0.25));
    }

    #[test]
    fn an_edit_and_its_opposite_cancel_at_every_frame() {
        let times: Vec<f64> = (0..49).map(|t| f64::from(t) / 24.0).collect();
        let rows = times
            .iter()
            .map(|t| vec![0.5 + 0.3 * (3.0 * t).sin(), 0.2 * t])
            .collect();
        let track = WeightTrack::new(times.clone(), rows, Interpolation::Linear).unwrap();
        let there = edit_clip(&track, &edit(1.0, &[0.1, -0.2], 0.4), &[Limits::FREE; 2]).unwrap();
        assert!((there.at(1.0)[0] - track.at(1.0)[0] - 0.1).abs() < 1e-12);
        let back = edit_clip(&there, &edit(1.0, &[-0.1, 0.2], 0.4), &[Limits::FREE; 2]).unwrap();
        for &time in &times {
            assert!(
                back.at(time)
                    .iter()
                    .zip(track.at(time))
                    .all(|(a, b)| (a - b).abs() < 1e-12),
                "{time}"
            );
        }
    }

    #[test]
    fn edits_that_make_no_sense_are_declined() {
        let (curves, limits) = (resting(1.0, 2), [Limits::default(); 2]);
        assert!(edit(0.5, &[0.1], 0.0).apply(&curves, &limits).is_err());
        assert!(edit(2.0, &[0.1], 0.5).apply(&curves, &limits).is_err());
        assert!(edit(0.5, &[f64::NAN], 0.5).apply(&curves, &limits).is_err());
        assert!(edit(0.5, &[0.1; 3], 0.5).apply(&curves, &limits).is_err());
        assert!(edit(0.5, &[0.1], 0.5).apply(&curves, &limits[..1]).is_err());
    }
}
