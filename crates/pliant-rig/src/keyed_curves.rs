//! Curves of weights with keys only where they are needed.
//!
//! **Problem.** A solve gives every slider a weight in every frame. An animator wants few keys, and
//! none on sliders that rest.
//!
//! **Equation.** Of the keys `(t, w)` of one slider a part is kept so that straight lines between
//! them pass every other key within `ε`: the two ends first, then in each piece the key that is
//! farthest from its line, until none is farther than `ε`.
//!
//! **Source.** Douglas and Peucker, "Algorithms for the reduction of the number of points required
//! to represent a digitized line or its caricature", 1973.
//!
//! **Ours.** Distances are differences of weight at one time, which is what a viewer sees. A slider
//! within `ε` of zero throughout has no key, one within `ε` of another weight has a single one.

use crate::{Interpolation, RigError, WeightTrack};

/// A weight at a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Key {
    /// When, in seconds.
    pub time_secs: f64,
    /// The weight.
    pub weight: f64,
}

/// Weights over time, slider by slider, straight from key to key and still outside.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyedCurves {
    start_secs: f64,
    end_secs: f64,
    /// The keys of each slider, ascending in time.
    sliders: Vec<Vec<Key>>,
}

impl KeyedCurves {
    /// Keys of each slider, ascending in time, of a clip from `start_secs` to `end_secs`. A slider
    /// without keys is at zero.
    pub fn new(start_secs: f64, end_secs: f64, sliders: Vec<Vec<Key>>) -> Result<Self, RigError> {
        let ordered = |keys: &Vec<Key>| {
            let fine = |k: usize| keys[k].time_secs.is_finite() && keys[k].weight.is_finite();
            (0..keys.len())
                .find(|&k| !(fine(k) && (k == 0 || keys[k - 1].time_secs < keys[k].time_secs)))
        };
        if let Some(key) = sliders.iter().find_map(ordered) {
            return Err(RigError::KeyOrder { key });
        }
        // Written so that NaN is declined.
        if !(start_secs <= end_secs && start_secs.is_finite() && end_secs.is_finite()) {
            return Err(RigError::BadOption {
                what: "the end of a clip",
                value: end_secs,
                needed: "a time at or after its start",
            });
        }
        Ok(Self {
            start_secs,
            end_secs,
            sliders,
        })
    }

    /// The keys of `track` that its curves need to stay within `tolerance` of it at each of its
    /// keys.
    pub fn from_track(track: &WeightTrack, tolerance: f64) -> Result<Self, RigError> {
        if *track.interpolation() != Interpolation::Linear {
            return Err(RigError::NotLinear);
        }
        if !(tolerance >= 0.0 && tolerance.is_finite()) {
            return Err(RigError::BadOption {
                what: "tolerance",
                value: tolerance,
                needed: "a number from 0 up",
            });
        }
        let times = track.times_secs();
        let curve = |slider: usize| -> Vec<Key> {
            times
                .iter()
                .zip(track.keys())
                .map(|(&time_secs, row)| Key {
                    time_secs,
                    weight: row[slider],
                })
                .collect()
        };
        let sliders = (0..track.keys()[0].len())
            .map(|slider| thinned(&curve(slider), tolerance))
            .collect();
        Self::new(times[0], times[times.len() - 1], sliders)
    }

    /// When the clip starts.
    #[must_use]
    pub fn start_secs(&self) -> f64 {
        self.start_secs
    }

    /// When it ends.
    #[must_use]
    pub fn end_secs(&self) -> f64 {
        self.end_secs
    }

    /// The keys of each slider, ascending in time; none for a slider that is always at zero.
    #[must_use]
    pub fn sliders(&self) -> &[Vec<Key>] {
        &self.sliders
    }

    /// All keys of all sliders.
    #[must_use]
    pub fn key_count(&self) -> usize {
        self.sliders.iter().map(Vec::len).sum()
    }

    /// The sliders that have keys.
    #[must_use]
    pub fn moving(&self) -> Vec<usize> {
        (0..self.sliders.len())
            .filter(|&slider| !self.sliders[slider].is_empty())
            .collect()
    }

    /// The weight of one slider at one moment.
    #[must_use]
    pub fn at(&self, slider: usize, time_secs: f64) -> f64 {
        value(&self.sliders[slider], time_secs)
    }

    /// The same curves with a row of all weights wherever a slider has a key, and at both ends:
    /// what files hold.
    #[must_use]
    pub fn to_track(&self) -> WeightTrack {
        let mut times: Vec<f64> = self
            .sliders
            .iter()
            .flatten()
            .map(|key| key.time_secs)
            .chain([self.start_secs, self.end_secs])
            .collect();
        times.sort_by(f64::total_cmp);
        times.dedup();
        let row = |&time: &f64| {
            (0..self.sliders.len())
                .map(|slider| self.at(slider, time))
                .collect()
        };
        let rows = times.iter().map(row).collect();
        WeightTrack::new(times, rows, Interpolation::Linear)
            .expect("times are sorted, finite and distinct")
    }
}

/// The weight of ascending keys at one moment.
fn value(keys: &[Key], time_secs: f64) -> f64 {
    let next = keys.partition_point(|key| key.time_secs <= time_secs);
    match (next.checked_sub(1).map(|last| keys[last]), keys.get(next)) {
        (None, None) => 0.0,
        (None, Some(key)) => key.weight,
        (Some(key), None) => key.weight,
        (Some(from), Some(to)) => on_line(from, *to, time_secs),
    }
}

fn on_line(from: Key, to: Key, time_secs: f64) -> f64 {
    let s = (time_secs - from.time_secs) / (to.time_secs - from.time_secs);
    (1.0 - s) * from.weight + s * to.weight
}

fn thinned(keys: &[Key], tolerance: f64) -> Vec<Key> {
    if keys.iter().all(|key| key.weight.abs() <= tolerance) {
        return Vec::new();
    }
    let (lowest, highest) = keys.iter().fold((f64::MAX, f64::MIN), |(low, high), key| {
        (low.min(key.weight), high.max(key.weight))
    });
    if highest - lowest <= 2.0 * tolerance {
        return vec![Key {
            time_secs: keys[0].time_secs,
            weight: lowest + 0.5 * (highest - lowest),
        }];
    }
    let mut kept = vec![false; keys.len()];
    let mut open = vec![(0, keys.len() - 1)];
    while let Some((first, last)) = open.pop() {
        (kept[first], kept[last]) = (true, true);
        let distance =
            |k: usize| (keys[k].weight - on_line(keys[first], keys[last], keys[k].time_secs)).abs();
        let farthest = (first + 1..last)
            .map(|k| (k, distance(k)))
            .fold((first, tolerance), |a, b| if b.1 > a.1 { b } else { a });
        if farthest.0 > first {
            open.extend([(first, farthest.0), (farthest.0, last)]);
        }
    }
    keys.iter()
        .zip(kept)
        .filter(|(_, kept)| *kept)
        .map(|(key, _)| *key)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn track(columns: &[&[f64]]) -> WeightTrack {
        let frames = columns[0].len();
        let rows = (0..frames)
            .map(|t| columns.iter().map(|column| column[t]).collect())
            .collect();
        WeightTrack::new(
            (0..frames).map(|t| t as f64 / 24.0).collect(),
            rows,
            Interpolation::Linear,
        )
        .unwrap()
    }

    #[test]
    fn sliders_that_rest_have_no_keys_and_straight_ones_only_their_corners() {
        let track = track(&[&[0.0; 5], &[0.25; 5], &[0.0, 0.5, 1.0, 0.5, 0.0]]);
        let curves = KeyedCurves::from_track(&track, 1e-9).unwrap();
        assert_eq!(curves.moving(), [1, 2]);
        assert_eq!(
            curves.sliders().iter().map(Vec::len).collect::<Vec<_>>(),
            [0, 1, 3]
        );
        assert_eq!(
            curves.sliders()[2]
                .iter()
                .map(|key| key.weight)
                .collect::<Vec<_>>(),
            [0.0, 1.0, 0.0]
        );
        assert_eq!(
            curves.to_track().times_secs(),
            [0.0, 2.0 / 24.0, 4.0 / 24.0]
        );
    }

    #[test]
    fn steps_and_cubic_curves_are_declined_until_they_are_sampled() {
        let steps = WeightTrack::new(
            vec![0.0, 1.0],
            vec![vec![0.0], vec![1.0]],
            Interpolation::Step,
        )
        .unwrap();
        assert_eq!(
            KeyedCurves::from_track(&steps, 0.0),
            Err(RigError::NotLinear)
        );
        let sampled = steps.sampled(vec![0.0, 0.5, 1.0]).unwrap();
        assert_eq!(
            KeyedCurves::from_track(&sampled, 0.0).unwrap().key_count(),
            3
        );
    }

    #[test]
    fn keys_out_of_order_are_declined() {
        let key = |time_secs| Key {
            time_secs,
            weight: 1.0,
        };
        assert_eq!(
            KeyedCurves::new(0.0, 2.0, vec![vec![], vec![key(1.0), key(1.0)]]),
            Err(RigError::KeyOrder { key: 1 })
        );
        assert!(KeyedCurves::new(1.0, 0.0, vec![]).is_err());
        assert!(KeyedCurves::new(0.0, f64::NAN, vec![]).is_err());
    }

    proptest! {
        #[test]
        fn thinned_curves_stay_within_their_tolerance_and_none_keeps_everything(
            weights in prop::collection::vec(-1.0..1.0f64, 1..60),
            tolerance in 0.0..0.5f64,
        ) {
            let whole = track(&[&weights]);
            let curves = KeyedCurves::from_track(&whole, tolerance).unwrap();
            for (time, row) in whole.times_secs().iter().zip(whole.keys()) {
                prop_assert!((curves.at(0, *time) - row[0]).abs() <= tolerance + 4.0 * f64::EPSILON);
                prop_assert!((curves.to_track().at(*time)[0] - row[0]).abs() <= tolerance + 4.0 * f64::EPSILON);
            }
            prop_assert!(curves.key_count() <= weights.len());
            let exact = KeyedCurves::from_track(&whole, 0.0).unwrap();
            prop_assert!(whole.times_secs().iter().zip(whole.keys()).all(|(t, row)| (exact.at(0, *t) - row[0]).abs() <= 4.0 * f64::EPSILON));
        }
    }
}
