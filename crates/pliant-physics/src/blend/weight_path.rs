//! Paths of shape weights, frame by frame.
//!
//! **Equation.** Between two stops `a` and `b`, `n` steps apart, frame `k` has `w = (1 − k/n) a +
//! (k/n) b`. Every stop is a frame, to the bit.

use serde::{Deserialize, Serialize};

/// Weights at a frame.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WeightKey {
    /// The frame.
    pub frame: u32,
    /// The weight of each shape.
    pub weights: Vec<f64>,
}

/// A path through the weights of several shapes.
///
/// ```
/// use pliant_physics::WeightPath;
///
/// let path = WeightPath::OneWay { shapes: 2, steps: 4 };
/// let shares: Vec<f64> = path.frames().map(|weights| weights[1]).collect();
/// assert_eq!(shares, [0.0, 0.25, 0.5, 0.75, 1.0]);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum WeightPath {
    /// From the first shape through the others to the last.
    OneWay {
        /// Number of shapes.
        shapes: usize,
        /// Steps from one shape to the next; at least one.
        steps: u32,
    },
    /// The same path and back to the first shape.
    RoundTrip {
        /// Number of shapes.
        shapes: usize,
        /// Steps from one shape to the next; at least one.
        steps: u32,
    },
    /// From key to key, in ascending frames; the path starts at the frame of the first key. A key
    /// that is not after the one before it takes no time.
    Keys(Vec<WeightKey>),
}

impl WeightPath {
    /// Number of frames; needs no evaluation.
    #[must_use]
    pub fn frame_count(&self) -> usize {
        match self {
            Self::OneWay { shapes, steps } => last_frame(*shapes, *steps) + 1,
            Self::RoundTrip { shapes, steps } => 2 * last_frame(*shapes, *steps) + 1,
            Self::Keys(keys) => {
                keys.len().min(1)
                    + keys
                        .windows(2)
                        .map(|pair| steps_between(&pair[0], &pair[1]) as usize)
                        .sum::<usize>()
            }
        }
    }

    /// The weights of every frame, in order.
    pub fn frames(&self) -> Box<dyn Iterator<Item = Vec<f64>> + '_> {
        match self {
            Self::OneWay { shapes, steps } => {
                Box::new((0..=last_frame(*shapes, *steps)).map(|k| swept(*shapes, *steps, k)))
            }
            Self::RoundTrip { shapes, steps } => {
                let last = last_frame(*shapes, *steps);
                Box::new(
                    (0..=last)
                        // The turning point is not repeated.
                        .chain((0..last).rev())
                        .map(|k| swept(*shapes, *steps, k)),
                )
            }
            Self::Keys(keys) => {
                let first = keys.first().map(|key| key.weights.clone());
                Box::new(
                    first
                        .into_iter()
                        .chain(keys.windows(2).flat_map(|pair| between(&pair[0], &pair[1]))),
                )
            }
        }
    }
}

fn last_frame(shapes: usize, steps: u32) -> usize {
    steps.max(1) as usize * shapes.saturating_sub(1)
}

/// The weights of a frame on the path from the first shape to the last.
fn swept(shapes: usize, steps: u32, frame: usize) -> Vec<f64> {
    let steps = steps.max(1) as usize;

    // At most two neighbouring shapes have weight.
    let from = frame / steps;
    let share = (frame % steps) as f64 / steps as f64;
    let weight = |shape: usize| match shape.checked_sub(from) {
        Some(0) => 1.0 - share,
        Some(1) => share,
        _ => 0.0,
    };
    (0..shapes).map(weight).collect()
}

fn steps_between(from: &WeightKey, to: &WeightKey) -> u32 {
    to.frame.saturating_sub(from.frame)
}

/// The frames after a key up to the next.
fn between<'a>(from: &'a WeightKey, to: &'a WeightKey) -> impl Iterator<Item = Vec<f64>> + use<'a> {
    let steps = steps_between(from, to);
    (1..=steps).map(move |step| {
        // Keys are interpolated linearly; the last step is the next key.
        let share = f64::from(step) / f64::from(steps);
        from.weights
            .iter()
            .zip(&to.weights)
            .map(|(a, b)| a * (1.0 - share) + b * share)
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_trip_passes_all_shapes_and_returns_by_the_same_frames() {
        let path: Vec<Vec<f64>> = WeightPath::RoundTrip {
            shapes: 3,
            steps: 2,
        }
        .frames()
        .collect();

        let expected = [
            [1.0, 0.0, 0.0],
            [0.5, 0.5, 0.0],
            [0.0, 1.0, 0.0],
            [0.0, 0.5, 0.5],
            [0.0, 0.0, 1.0],
        ];

        assert_eq!(path[..5], expected.map(Vec::from));
        assert_eq!((path.len(), &path[5], &path[8]), (9, &path[3], &path[0]));
    }

    #[test]
    fn a_path_along_keys_passes_the_keys_and_has_every_frame_between_them() {
        let key = |frame, b| WeightKey {
            frame,
            weights: vec![1.0 - b, b],
        };
        let shares = WeightPath::Keys(vec![key(3, 0.0), key(7, 1.0), key(9, 0.5)])
            .frames()
            .map(|weights| weights[1])
            .collect::<Vec<_>>();
        assert_eq!(shares, [0.0, 0.25, 0.5, 0.75, 1.0, 0.75, 0.5]);
    }

    #[test]
    fn the_frame_count_is_correct_and_weights_sum_to_one() {
        let key = |frame| WeightKey {
            frame,
            weights: vec![0.25, 0.75],
        };
        let swept = [0, 1, 2, 3]
            .into_iter()
            .flat_map(|shapes| [0, 1, 5, 7].map(|steps| (shapes, steps)));

        let swept = swept.flat_map(|(shapes, steps)| {
            [
                WeightPath::OneWay { shapes, steps },
                WeightPath::RoundTrip { shapes, steps },
            ]
        });

        let keyed =
            [vec![], vec![key(3)], vec![key(3), key(7), key(5), key(6)]].map(WeightPath::Keys);
        for path in swept.chain(keyed) {
            assert_eq!(path.frame_count(), path.frames().count(), "{path:?}");
            let whole = |weights: Vec<f64>| {
                weights.is_empty() || (weights.iter().sum::<f64>() - 1.0).abs() < 4.0 * f64::EPSILON
            };
            assert!(path.frames().all(whole), "{path:?}");
        }
    }
}
