//! Clip edits: a change of weights at one time that fades out before and after it.
//!
//! **Problem.** A pose that is corrected in one frame should blend into the frames around it, and
//! sliders that the edit does not change should keep their curves and their keys.
//!
//! **Equation.** `wₖ(t) ← clamp(wₖ(t) + b(|t − t₀| / r) Δₖ)` for every slider with `Δₖ ≠ 0`, with a
//! falloff `b` that is 1 at 0 and 0 from 1 on, and whose slope is zero at both ends.
//!
//! **Departures.** A slider gets keys inside the falloff only: at the times of existing keys, and
//! where these are farther apart than a sixteenth of the radius. Straight lines then differ from
//! the steeper falloff by at most 1.2 % of the change.

use super::keyed_curves::{Key, KeyedCurves};
use crate::{Limits, RigError, WeightTrack};
use pliant_linalg::smoothstep;

/// How an edit fades out over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Falloff {
    /// `1 − 3t² + 2t³`.
    #[default]
    Smooth,
    /// 1 up to half the radius, then the smooth one on the rest: for a pose that is to be held.
    Plateau,
}

impl Falloff {
    /// The factor of the change at a distance of `t` radii.
    #[must_use]
    pub fn at(self, t: f64) -> f64 {
        let t = match self {
            Self::Smooth => t.abs(),
            Self::Plateau => 2.0 * t.abs() - 1.0,
        };
        let t = t.clamp(0.0, 1.0);
        1.0 - smoothstep(t)
    }
}

/// A change of weights at one time.
#[derive(Debug, Clone, PartialEq)]
pub struct ClipEdit {
    /// The time, in seconds.
    pub time_secs: f64,
    /// The change of each slider at that time; sliders with zero or without a change keep their
    /// keys.
    pub change: Vec<f64>,
    /// The duration of the fade before and after it.
    pub falloff_secs: f64,
    /// The shape of the fade.
    pub falloff: Falloff,
}

impl ClipEdit {
    /// Straight segments on either side of the edit.
    const SEGMENTS: f64 = 16.0;

    /// The curves with the edit; `limits` has one range for each slider.
    pub fn apply(&self, curves: &KeyedCurves, limits: &[Limits]) -> Result<KeyedCurves, RigError> {
        self.check(curves, limits)?;
        let times = self.edit_times(curves);
        let mut sliders = Vec::with_capacity(curves.sliders().len());
        for (slider, keys) in curves.sliders().iter().enumerate() {
            sliders.push(match self.change.get(slider) {
                Some(&change) if change != 0.0 => {
                    self.changed_keys(curves, slider, change, limits[slider], &times)
                }
                _ => keys.clone(),
            });
        }

        KeyedCurves::new(curves.start_secs(), curves.end_secs(), sliders)
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

        // All changes must be finite.
        if let Some(slider) = self.change.iter().position(|change| !change.is_finite()) {
            return Err(RigError::BadWeight {
                name: format!("number {slider}"),
            });
        }

        if !(curves.start_secs() <= self.time_secs && self.time_secs <= curves.end_secs()) {
            return Err(RigError::BadOption {
                what: "the time of the edit",
                value: self.time_secs,
                needed: "a time within the clip",
            });
        }
        Ok(())
    }

    /// The keys of one slider with the change, at `edit_times` and at its own keys outside the
    /// falloff.
    fn changed_keys(
        &self,
        curves: &KeyedCurves,
        slider: usize,
        change: f64,
        limits: Limits,
        edit_times: &[f64],
    ) -> Vec<Key> {
        let mut times = edit_times.to_vec();
        for key in &curves.sliders()[slider] {
            if (key.time_secs - self.time_secs).abs() >= self.falloff_secs {
                times.push(key.time_secs);
            }
        }
        times.sort_by(f64::total_cmp);
        times.dedup();

        let mut keys = Vec::with_capacity(times.len());
        for time_secs in times {
            let before = curves.at(slider, time_secs);
            let factor = self
                .falloff
                .at((time_secs - self.time_secs) / self.falloff_secs);

            // A weight outside its limits stays there where the edit does not reach.
            let weight = if factor == 0.0 {
                before
            } else {
                limits.clamp(before + factor * change)
            };
            keys.push(Key { time_secs, weight });
        }

        keys
    }

    /// The key times of all curves inside the falloff, its ends and its middle, with gaps filled.
    fn edit_times(&self, curves: &KeyedCurves) -> Vec<f64> {
        // The falloff ends at the ends of the clip.
        let within_clip = |time: f64| time.max(curves.start_secs()).min(curves.end_secs());
        let from = within_clip(self.time_secs - self.falloff_secs);
        let to = within_clip(self.time_secs + self.falloff_secs);

        let mut times = vec![from, self.time_secs, to];
        for &time in curves.to_track().times_secs() {
            if from < time && time < to {
                times.push(time);
            }
        }
        times.sort_by(f64::total_cmp);
        times.dedup();

        // Fill gaps, so that straight segments follow the falloff.
        let mut filled = vec![times[0]];
        for pair in times.windows(2) {
            let span = pair[1] - pair[0];
            let segments = (span * Self::SEGMENTS / self.falloff_secs).ceil().max(1.0);
            for k in 1..segments as usize {
                filled.push(pair[0] + span * k as f64 / segments);
            }
            filled.push(pair[1]);
        }

        filled
    }
}

/// The track with `edit`, inside `limits`, one for each slider.
///
/// The track must be linear between keys. Each key of a track has the weights of all sliders; an
/// edit of [`KeyedCurves`] adds keys only to the sliders it changes.
pub fn edit_clip(
    track: &WeightTrack,
    edit: &ClipEdit,
    limits: &[Limits],
) -> Result<WeightTrack, RigError> {
    let curves = KeyedCurves::from_track(track, 0.0)?;
    Ok(edit.apply(&curves, limits)?.to_track())
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
            falloff: Falloff::Smooth,
        }
    }

    #[test]
    fn a_falloff_is_one_in_the_middle_zero_at_the_rim_and_flat_at_both() {
        for falloff in [Falloff::Smooth, Falloff::Plateau] {
            assert_eq!(
                (falloff.at(0.0), falloff.at(1.0), falloff.at(-3.0)),
                (1.0, 0.0, 0.0)
            );
            for at in [0.0, 0.5, 1.0, -1.0] {
                let slopes =
                    [-1e-7, 1e-7].map(|step| (falloff.at(at + step) - falloff.at(at)) / step);
                assert!(
                    (slopes[0] - slopes[1]).abs() < 1e-5,
                    "{falloff:?} has no corner at {at}"
                );
            }

            assert_eq!(falloff.at(0.3), falloff.at(-0.3));
        }
        assert_eq!(Falloff::Plateau.at(0.5), 1.0);
    }

    #[test]
    fn an_edit_is_complete_at_its_time_and_zero_beyond_its_falloff() {
        let curves = resting(4.0, 3);
        for falloff in [Falloff::Smooth, Falloff::Plateau] {
            let edit = ClipEdit {
                falloff,
                ..edit(2.0, &[0.0, 0.5], 0.75)
            };
            let edited = edit.apply(&curves, &[Limits::default(); 3]).unwrap();

            assert_eq!(
                edited.moving(),
                [1.into()],
                "keys only on the slider that changed"
            );
            assert_eq!(edited.at(1, 2.0), 0.5);
            for outside in [0.0, 1.0, 1.25, 2.75, 4.0] {
                assert_eq!(edited.at(1, outside), 0.0);
            }

            // The straight segments are within 1.2 % of the falloff.
            for k in 0..=400 {
                let time = 4.0 * f64::from(k) / 400.0;
                let expected = 0.5 * falloff.at((time - 2.0) / 0.75);
                assert!(
                    (edited.at(1, time) - expected).abs() <= 0.012 * 0.5,
                    "{time}"
                );
            }
        }
    }

    #[test]
    fn an_edit_stays_inside_limits_and_keeps_other_curves() {
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

        // At time 1 the first slider is at 0.5, so the edit is clipped.
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
    fn invalid_edits_are_errors() {
        let curves = resting(1.0, 2);
        let limits = [Limits::default(); 2];
        assert!(edit(0.5, &[0.1], 0.0).apply(&curves, &limits).is_err());
        assert!(edit(2.0, &[0.1], 0.5).apply(&curves, &limits).is_err());
        assert!(edit(0.5, &[f64::NAN], 0.5).apply(&curves, &limits).is_err());
        assert!(edit(0.5, &[0.1; 3], 0.5).apply(&curves, &limits).is_err());
        assert!(edit(0.5, &[0.1], 0.5).apply(&curves, &limits[..1]).is_err());
    }
}
