//! Weights along a way through shapes, frame by frame.
//!
//! **Equation.** Between two stops `a` and `b`, `n` steps apart, frame `k` has `w = (1 − k/n) a +
//! (k/n) b`. Every stop is a frame of its own, to the bit.

use serde::{Deserialize, Serialize};

/// Weights at a frame.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WeightKey {
    /// The frame.
    pub frame: u32,
    /// How much of each shape.
    pub weights: Vec<f64>,
}

/// A way through the weights of shapes.
///
/// ```
/// use pliant_physics::WeightWay;
///
/// let way = WeightWay::There { shapes: 2, steps: 4 };
/// let shares: Vec<f64> = way.frames().map(|weights| weights[1]).collect();
/// assert_eq!(shares, [0.0, 0.25, 0.5, 0.75, 1.0]);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum WeightWay {
    /// From the first shape over the others to the last.
    There {
        /// How many shapes there are.
        shapes: usize,
        /// Steps from one shape to the next; at least one is made.
        steps: u32,
    },
    /// And back to the first.
    AndBack {
        /// How many shapes there are.
        shapes: usize,
        /// Steps from one shape to the next; at least one is made.
        steps: u32,
    },
    /// From key to key, which ascend; the first frame is that of the first key. A key that is not
    /// after the one before it takes no time.
    Keys(Vec<WeightKey>),
}

impl WeightWay {
    /// How many frames it has; costs nothing.
    #[must_use]
    pub fn frame_count(&self) -> usize {
        match self {
            Self::There { shapes, steps } => last_frame(*shapes, *steps) + 1,
            Self::AndBack { shapes, steps } => 2 * last_frame(*shapes, *steps) + 1,
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
            Self::There { shapes, steps } => {
                Box::new((0..=last_frame(*shapes, *steps)).map(|k| swept(*shapes, *steps, k)))
            }
            Self::AndBack { shapes, steps } => {
                let last = last_frame(*shapes, *steps);
                Box::new(
                    (0..=last)
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

/// The weights of a frame on the way from the first shape to the last.
fn swept(shapes: usize, steps: u32, frame: usize) -> Vec<f64> {
    let steps = steps.max(1) as usize;
    let (from, share) = (frame / steps, (frame % steps) as f64 / steps as f64);
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
    fn a_way_there_and_back_passes_all_shapes_and_returns_by_the_same_frames() {
        let way: Vec<Vec<f64>> = WeightWay::AndBack {
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
        assert_eq!(way[..5], expected.map(Vec::from));
        assert_eq!((way.len(), &way[5], &way[8]), (9, &way[3], &way[0]));
    }

    #[test]
    fn a_way_along_keys_has_a_frame_for_each_between_them_and_passes_the_keys() {
        let key = |frame, b| WeightKey {
            frame,
            weights: vec![1.0 - b, b],
        };
        let shares = WeightWay::Keys(vec![key(3, 0.0), key(7, 1.0), key(9, 0.5)])
            .frames()
            .map(|weights| weights[1])
            .collect::<Vec<_>>();
        assert_eq!(shares, [0.0, 0.25, 0.5, 0.75, 1.0, 0.75, 0.5]);
    }

    #[test]
    fn frames_are_counted_as_they_are_made_and_weights_sum_to_one() {
        let key = |frame| WeightKey {
            frame,
            weights: vec![0.25, 0.75],
        };
        let swept = [0, 1, 2, 3]
            .into_iter()
            .flat_map(|shapes| [0, 1, 5, 7].map(|steps| (shapes, steps)));
        let swept = swept.flat_map(|(shapes, steps)| {
            [
                WeightWay::There { shapes, steps },
                WeightWay::AndBack { shapes, steps },
            ]
        });
        let keyed =
            [vec![], vec![key(3)], vec![key(3), key(7), key(5), key(6)]].map(WeightWay::Keys);
        for way in swept.chain(keyed) {
            assert_eq!(way.frame_count(), way.frames().count(), "{way:?}");
            let whole = |weights: Vec<f64>| {
                weights.is_empty() || (weights.iter().sum::<f64>() - 1.0).abs() < 4.0 * f64::EPSILON
            };
            assert!(way.frames().all(whole), "{way:?}");
        }
    }
}
