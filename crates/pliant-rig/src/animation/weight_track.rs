//! Weight tracks: slider weights at keys, with step, linear or cubic interpolation.
//!
//! **Problem.** An animation of weights keeps the keys of its file, and also gives the weights at
//! any time between them.
//!
//! **Equation.** Between keys `(t₀, p₀)` and `(t₁, p₁)` with `s = (t − t₀) / (t₁ − t₀)`: `p₀`
//! (step), `(1 − s) p₀ + s p₁` (linear), or the cubic Hermite curve with the tangents `(t₁ − t₀)
//! b₀` and `(t₁ − t₀) a₁`:
//!
//! ```text
//! (2s³ − 3s² + 1) p₀ + (s³ − 2s² + s)(t₁ − t₀) b₀ + (3s² − 2s³) p₁ + (s³ − s²)(t₁ − t₀) a₁
//! ```
//!
//! **Source.** Khronos, glTF 2.0 specification, appendix C.
//!
//! **Departures.** Before the first key and after the last the weights are constant.

use crate::{RigError, SliderId};

/// How a track interpolates between keys.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Interpolation {
    /// Constant up to the next key.
    Step,
    /// A straight line from key to key.
    #[default]
    Linear,
    /// A cubic curve with given tangents, one row per key, one number per weight, in weight per
    /// second.
    Cubic {
        /// Tangents on arriving at each key.
        arriving: Vec<Vec<f64>>,
        /// Tangents on leaving each key.
        leaving: Vec<Vec<f64>>,
    },
}

/// Weights of all sliders of one rig at ascending times.
#[derive(Debug, Clone, PartialEq)]
pub struct WeightTrack {
    times_secs: Vec<f64>,
    keys: Vec<Vec<f64>>,
    interpolation: Interpolation,
}

impl WeightTrack {
    /// A track whose key `k` has one weight per slider, reached at `times_secs[k]`.
    pub fn new(
        times_secs: Vec<f64>,
        keys: Vec<Vec<f64>>,
        interpolation: Interpolation,
    ) -> Result<Self, RigError> {
        let count = times_secs.len();
        let width = keys.first().map_or(0, Vec::len);
        check_rows("keys", &keys, count, width)?;
        if let Interpolation::Cubic { arriving, leaving } = &interpolation {
            check_rows("arriving tangents", arriving, count, width)?;
            check_rows("leaving tangents", leaving, count, width)?;
        }

        if keys.is_empty() {
            return Err(RigError::Track {
                what: "keys",
                found: 0,
                expected: 1,
            });
        }

        // NaN fails these comparisons.
        let rising =
            |k: usize| times_secs[k].is_finite() && (k == 0 || times_secs[k - 1] < times_secs[k]);
        if let Some(key) = (0..times_secs.len()).find(|&k| !rising(k)) {
            return Err(RigError::KeyOrder { key });
        }

        Ok(Self {
            times_secs,
            keys,
            interpolation,
        })
    }

    /// The time of each key, ascending, in seconds.
    #[must_use]
    pub fn times_secs(&self) -> &[f64] {
        &self.times_secs
    }

    /// The weights of each key, one per slider.
    #[must_use]
    pub fn keys(&self) -> &[Vec<f64>] {
        &self.keys
    }

    /// How the track interpolates between keys.
    #[must_use]
    pub fn interpolation(&self) -> &Interpolation {
        &self.interpolation
    }

    /// The same curves with keys at other times, linear between them.
    pub fn sampled(&self, times_secs: Vec<f64>) -> Result<Self, RigError> {
        let keys = times_secs.iter().map(|&time| self.at(time)).collect();
        Self::new(times_secs, keys, Interpolation::Linear)
    }

    /// The curves of other weights that `map` gives for those of this track. The map must be linear
    /// and give equally many weights for every row; tangents follow it, too.
    #[must_use]
    pub fn mapped(&self, map: impl Fn(&[f64]) -> Vec<f64>) -> Self {
        let rows = |rows: &[Vec<f64>]| rows.iter().map(|row| map(row)).collect();
        let interpolation = match &self.interpolation {
            Interpolation::Cubic { arriving, leaving } => Interpolation::Cubic {
                arriving: rows(arriving),
                leaving: rows(leaving),
            },
            other => other.clone(),
        };

        Self {
            times_secs: self.times_secs.clone(),
            keys: rows(&self.keys),
            interpolation,
        }
    }

    /// The curves of some sliders, in this order.
    ///
    /// # Panics
    /// If the track has no such slider.
    #[must_use]
    pub fn of_sliders(&self, sliders: &[SliderId]) -> Self {
        self.mapped(|row| sliders.iter().map(|k| row[k.index()]).collect())
    }

    /// The weights at one time.
    #[must_use]
    pub fn at(&self, time_secs: f64) -> Vec<f64> {
        let next = self.times_secs.partition_point(|&t| t <= time_secs);
        if next == 0 || next == self.keys.len() {
            return self.keys[next.saturating_sub(1)].clone();
        }

        // The segment between keys `last` and `next`.
        let last = next - 1;
        let span = self.times_secs[next] - self.times_secs[last];
        let s = (time_secs - self.times_secs[last]) / span;
        let (from, to) = (&self.keys[last], &self.keys[next]);

        match &self.interpolation {
            Interpolation::Step => from.clone(),
            Interpolation::Linear => from
                .iter()
                .zip(to)
                .map(|(a, b)| (1.0 - s) * a + s * b)
                .collect(),
            Interpolation::Cubic { arriving, leaving } => (0..from.len())
                .map(|k| hermite(s, span, from[k], leaving[last][k], to[k], arriving[next][k]))
                .collect(),
        }
    }
}

fn check_rows(
    what: &'static str,
    rows: &[Vec<f64>],
    count: usize,
    width: usize,
) -> Result<(), RigError> {
    if rows.len() != count {
        return Err(RigError::Track {
            what,
            found: rows.len(),
            expected: count,
        });
    }
    match rows.iter().find(|row| row.len() != width) {
        Some(row) => Err(RigError::Track {
            what: "weights in a key",
            found: row.len(),
            expected: width,
        }),
        None => Ok(()),
    }
}

fn hermite(s: f64, span: f64, from: f64, leaving: f64, to: f64, arriving: f64) -> f64 {
    let s2 = s * s;
    let s3 = s * s * s;
    (2.0 * s3 - 3.0 * s2 + 1.0) * from
        + (s3 - 2.0 * s2 + s) * span * leaving
        + (3.0 * s2 - 2.0 * s3) * to
        + (s3 - s2) * span * arriving
}

#[cfg(test)]
mod tests {
    use super::*;

    fn track(interpolation: Interpolation) -> WeightTrack {
        WeightTrack::new(vec![1.0, 3.0], vec![vec![0.0], vec![8.0]], interpolation).unwrap()
    }

    #[test]
    fn a_track_passes_through_its_keys_and_is_constant_outside() {
        let cubic = Interpolation::Cubic {
            arriving: vec![vec![1.0]; 2],
            leaving: vec![vec![2.0]; 2],
        };
        for interpolation in [Interpolation::Step, Interpolation::Linear, cubic] {
            let track = track(interpolation);
            for (time, weight) in [(0.0, 0.0), (1.0, 0.0), (3.0, 8.0), (9.0, 8.0)] {
                assert_eq!(track.at(time), [weight]);
            }
        }
    }

    #[test]
    fn interpolation_between_keys_is_step_linear_or_cubic() {
        assert_eq!(track(Interpolation::Step).at(2.9), [0.0]);
        assert_eq!(track(Interpolation::Linear).at(2.5), [6.0]);

        // The parabola (t − 1)² · 2 has slope 0 and 8 at the keys; a cubic curve reproduces it.
        let parabola = Interpolation::Cubic {
            arriving: vec![vec![0.0], vec![8.0]],
            leaving: vec![vec![0.0], vec![8.0]],
        };
        assert!((track(parabola).at(2.5)[0] - 4.5).abs() < 1e-14);
    }

    #[test]
    fn a_sampled_track_passes_through_the_samples() {
        let steps = track(Interpolation::Step)
            .sampled(vec![0.0, 2.0, 4.0])
            .unwrap();
        assert_eq!(steps.keys(), [[0.0], [0.0], [8.0]]);
        assert_eq!(steps.at(3.0), [4.0]);
    }

    #[test]
    fn a_subset_of_sliders_keeps_its_curves() {
        let rows = |scale: f64| vec![vec![scale, 2.0 * scale, 3.0 * scale]; 2];
        let cubic = Interpolation::Cubic {
            arriving: rows(1.0),
            leaving: rows(-2.0),
        };
        let whole = WeightTrack::new(vec![0.0, 1.0], rows(5.0), cubic).unwrap();
        let some = whole.of_sliders(&[2, 0].map(SliderId::new));

        for time in [0.0, 0.3, 1.0] {
            assert_eq!(some.at(time), [whole.at(time)[2], whole.at(time)[0]]);
        }
    }

    #[test]
    fn keys_that_do_not_fit_are_errors() {
        let new = |times: &[f64], keys: &[&[f64]]| {
            WeightTrack::new(
                times.to_vec(),
                keys.iter().map(|k| k.to_vec()).collect(),
                Interpolation::Linear,
            )
            .unwrap_err()
        };

        assert_eq!(
            new(&[0.0, 0.0], &[&[1.0], &[2.0]]),
            RigError::KeyOrder { key: 1 }
        );
        assert_eq!(new(&[f64::NAN], &[&[1.0]]), RigError::KeyOrder { key: 0 });
        assert_eq!(
            new(&[0.0], &[]),
            RigError::Track {
                what: "keys",
                found: 0,
                expected: 1
            }
        );
        assert_eq!(
            new(&[0.0, 1.0], &[&[1.0], &[2.0, 3.0]]),
            RigError::Track {
                what: "weights in a key",
                found: 2,
                expected: 1
            }
        );
        assert_eq!(
            new(&[], &[]),
            RigError::Track {
                what: "keys",
                found: 0,
                expected: 1
            }
        );
    }
}
