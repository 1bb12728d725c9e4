//! Keyed weight curves, one per slider, with few keys (Douglas–Peucker).
//!
//! **Problem.** A solve gives every slider a weight in every frame. An animator wants few keys, and
//! none on sliders that do not move.
//!
//! **Equation.** Of the keys `(t, w)` of one slider a subset is kept such that the straight lines
//! between them pass every other key within `ε`: first the two ends, then in each segment the key
//! that is farthest from its line, until none is farther than `ε`.
//!
//! **Source.** Douglas and Peucker, "Algorithms for the reduction of the number of points required
//! to represent a digitized line or its caricature", 1973.
//!
//! **Departures.** Distances are differences of weight at one time, which is what a viewer sees. A
//! slider that is always within `ε` of zero has no key; one within `ε` of another weight has one.

use crate::{Interpolation, RigError, SliderId, WeightTrack};

/// A weight at a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Key {
    /// The time, in seconds.
    pub time_secs: f64,
    /// The weight.
    pub weight: f64,
}

/// Weights over time, slider by slider; linear between keys and constant outside them.
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
        for keys in &sliders {
            if let Some(key) = first_unordered_key(keys) {
                return Err(RigError::KeyOrder { key });
            }
        }

        // NaN fails these comparisons.
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

    /// The keys of `track` that are needed to stay within `tolerance` of it at each of its keys.
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
        let mut sliders = Vec::new();
        for slider in 0..track.keys()[0].len() {
            // The column of one slider.
            let keys = times.iter().zip(track.keys()).map(|(&time_secs, row)| Key {
                time_secs,
                weight: row[slider],
            });
            sliders.push(simplified(&keys.collect::<Vec<_>>(), tolerance));
        }

        Self::new(times[0], times[times.len() - 1], sliders)
    }

    /// The start of the clip.
    #[must_use]
    pub fn start_secs(&self) -> f64 {
        self.start_secs
    }

    /// The end of the clip.
    #[must_use]
    pub fn end_secs(&self) -> f64 {
        self.end_secs
    }

    /// The keys of each slider, ascending in time; none for a slider that is always at zero.
    #[must_use]
    pub fn sliders(&self) -> &[Vec<Key>] {
        &self.sliders
    }

    /// The number of keys of all sliders.
    #[must_use]
    pub fn key_count(&self) -> usize {
        self.sliders.iter().map(Vec::len).sum()
    }

    /// The sliders that have keys.
    #[must_use]
    pub fn moving(&self) -> Vec<SliderId> {
        (0..self.sliders.len())
            .filter(|&slider| !self.sliders[slider].is_empty())
            .map(SliderId::from)
            .collect()
    }

    /// The weight of one slider at one time.
    #[must_use]
    pub fn at(&self, slider: impl Into<SliderId>, time_secs: f64) -> f64 {
        value(&self.sliders[slider.into().index()], time_secs)
    }

    /// The same curves with a key of all weights wherever a slider has a key, and at both ends, as
    /// files store them.
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
        let mut rows = Vec::with_capacity(times.len());
        for &time in &times {
            rows.push(self.sliders.iter().map(|keys| value(keys, time)).collect());
        }

        WeightTrack::new(times, rows, Interpolation::Linear)
            .expect("times are sorted, finite and distinct")
    }
}

/// The first key that is not finite or not later than the one before it.
fn first_unordered_key(keys: &[Key]) -> Option<usize> {
    (0..keys.len()).find(|&k| {
        let finite = keys[k].time_secs.is_finite() && keys[k].weight.is_finite();
        !(finite && (k == 0 || keys[k - 1].time_secs < keys[k].time_secs))
    })
}

/// The weight of ascending keys at one time.
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

/// A subset of the keys whose lines pass all keys within `tolerance`.
fn simplified(keys: &[Key], tolerance: f64) -> Vec<Key> {
    if keys.iter().all(|key| key.weight.abs() <= tolerance) {
        return Vec::new();
    }

    let mut lowest = f64::MAX;
    let mut highest = f64::MIN;
    for key in keys {
        lowest = lowest.min(key.weight);
        highest = highest.max(key.weight);
    }
    if highest - lowest <= 2.0 * tolerance {
        return vec![Key {
            time_secs: keys[0].time_secs,
            weight: lowest + 0.5 * (highest - lowest),
        }];
    }

    // Douglas–Peucker with an explicit stack of segments.
    let mut kept = vec![false; keys.len()];
    let mut segments = vec![(0, keys.len() - 1)];
    while let Some((first, last)) = segments.pop() {
        kept[first] = true;
        kept[last] = true;
        if let Some(farthest) = farthest_key(keys, first, last, tolerance) {
            segments.extend([(first, farthest), (farthest, last)]);
        }
    }

    let mut subset = keys.to_vec();
    let mut flags = kept.into_iter();
    subset.retain(|_| flags.next() == Some(true));
    subset
}

/// The key between two others that is farthest from their line, if it is farther than `tolerance`.
fn farthest_key(keys: &[Key], first: usize, last: usize, tolerance: f64) -> Option<usize> {
    let mut farthest = None;
    let mut largest = tolerance;
    for k in first + 1..last {
        let line = on_line(keys[first], keys[last], keys[k].time_secs);
        let distance = (keys[k].weight - line).abs();
        if distance > largest {
            farthest = Some(k);
            largest = distance;
        }
    }

    farthest
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
    fn constant_sliders_have_at_most_one_key_and_linear_ones_only_their_corners() {
        let track = track(&[&[0.0; 5], &[0.25; 5], &[0.0, 0.5, 1.0, 0.5, 0.0]]);
        let curves = KeyedCurves::from_track(&track, 1e-9).unwrap();
        assert_eq!(curves.moving(), [1, 2].map(SliderId::new));
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
    fn steps_and_cubic_curves_are_errors_until_they_are_sampled() {
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
    fn keys_out_of_order_are_errors() {
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
        fn simplified_curves_stay_within_the_tolerance_and_zero_keeps_all(
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
