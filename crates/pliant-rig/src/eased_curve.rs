//! Weights over time, through keys.
//!
//! **Problem.** Between keys a weight goes as an animator expects: it jumps, goes straight, or
//! eases without ever leaving the range of the two keys around it, so that a smile keyed from 0 to
//! 1 never asks a slider for more than it has.
//!
//! **Equation.** With `s = (t − t₀) / h₀`, `h₀ = t₁ − t₀` and slopes `m`, the smooth curve is
//! Hermite's cubic. At a key between pieces with secants `δ₋₁` and `δ₀` of lengths `h₋₁` and `h₀`
//! the slope is zero where the secants differ in sign, otherwise
//!
//! ```text
//! m = 3 (h₋₁ + h₀) / ((2 h₀ + h₋₁) / δ₋₁ + (h₀ + 2 h₋₁) / δ₀)
//! ```
//!
//! **Source.** Fritsch and Butland, "A method for constructing local monotone piecewise cubic
//! interpolants", SIAM J. Sci. Stat. Comput. 1984.
//!
//! **Ours.** The slope is zero at the first and the last key: motion starts and ends at rest.

use serde::{Deserialize, Serialize};

/// How a curve goes from a key to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ease {
    /// It stays, and jumps at the next key.
    Step,
    /// Straight.
    #[default]
    Linear,
    /// Gently, never beyond the two keys.
    Smooth,
}

impl Ease {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Smooth, Self::Linear, Self::Step];
}

/// A weight at a frame.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct EasedKey {
    /// The frame.
    pub frame: u32,
    /// The weight.
    pub weight: f64,
    /// How the curve goes on from here.
    #[serde(default)]
    pub ease: Ease,
}

impl EasedKey {
    /// A key that a hand sets: smooth.
    #[must_use]
    pub fn new(frame: u32, weight: f64) -> Self {
        Self {
            frame,
            weight,
            ease: Ease::Smooth,
        }
    }
}

/// The weight that ascending `keys` say at `frame`; still outside them, zero where there are none.
#[must_use]
pub fn eased_weight(keys: &[EasedKey], frame: f64) -> f64 {
    let after = keys.partition_point(|key| f64::from(key.frame) <= frame);
    match (after.checked_sub(1), keys.get(after)) {
        (None, None) => 0.0,
        (None, Some(key)) => key.weight,
        (Some(last), None) => keys[last].weight,
        (Some(before), Some(_)) => between(keys, before, frame),
    }
}

fn between(keys: &[EasedKey], k: usize, frame: f64) -> f64 {
    let (a, b) = (keys[k], keys[k + 1]);
    let span = f64::from(b.frame - a.frame);
    let s = (frame - f64::from(a.frame)) / span;
    match a.ease {
        Ease::Step => a.weight,
        Ease::Linear => (1.0 - s) * a.weight + s * b.weight,
        Ease::Smooth => {
            let (leaving, arriving) = (slope(keys, k) * span, slope(keys, k + 1) * span);
            let rise = b.weight - a.weight;
            let weight = a.weight
                + s * (leaving
                    + s * (3.0 * rise - 2.0 * leaving - arriving
                        + s * (leaving + arriving - 2.0 * rise)));
            weight.clamp(a.weight.min(b.weight), a.weight.max(b.weight)) // Only rounding is cut.
        }
    }
}

/// Weight per frame at a key.
fn slope(keys: &[EasedKey], k: usize) -> f64 {
    if k == 0 || k + 1 == keys.len() {
        return 0.0;
    }
    let piece = |a: EasedKey, b: EasedKey| {
        (
            f64::from(b.frame - a.frame),
            (b.weight - a.weight) / f64::from(b.frame - a.frame),
        )
    };
    let ((h0, d0), (h1, d1)) = (piece(keys[k - 1], keys[k]), piece(keys[k], keys[k + 1]));
    if d0 * d1 <= 0.0 {
        0.0
    } else {
        3.0 * (h0 + h1) / ((2.0 * h1 + h0) / d0 + (h1 + 2.0 * h0) / d1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(ease: Ease, keys: &[(u32, f64)]) -> Vec<EasedKey> {
        keys.iter()
            .map(|&(frame, weight)| EasedKey {
                frame,
                weight,
                ease,
            })
            .collect()
    }

    /// Uneven spacing, a plateau, turns, and a steep step beside a shallow one: where cubics
    /// overshoot.
    const HARD: &[(u32, f64)] = &[
        (0, 0.0),
        (2, 0.1),
        (3, 1.0),
        (20, 1.0),
        (21, 0.98),
        (40, -0.5),
        (44, 0.2),
    ];

    #[test]
    fn a_curve_passes_its_keys_and_rests_outside_whatever_its_ease() {
        for ease in Ease::ALL {
            let keys = keys(ease, HARD);
            assert!(
                keys.iter()
                    .all(|key| eased_weight(&keys, f64::from(key.frame)) == key.weight),
                "{ease:?}"
            );
            assert_eq!(
                (eased_weight(&keys, -3.0), eased_weight(&keys, 99.0)),
                (0.0, 0.2)
            );
        }
        assert_eq!(eased_weight(&[], 3.0), 0.0);
    }

    #[test]
    fn between_two_keys_every_curve_is_monotone_and_inside_them() {
        for ease in Ease::ALL {
            let keys = keys(ease, HARD);
            for pair in keys.windows(2) {
                let sign = (pair[1].weight - pair[0].weight).signum();
                let frames = (0..=200).map(|k| {
                    f64::from(pair[0].frame)
                        + f64::from(pair[1].frame - pair[0].frame) * f64::from(k) / 200.0
                });
                let weights: Vec<f64> = frames.map(|frame| eased_weight(&keys, frame)).collect();
                assert!(
                    weights
                        .windows(2)
                        .all(|w| (w[1] - w[0]) * sign >= -f64::EPSILON),
                    "{ease:?} {pair:?}"
                );
                let (low, high) = (
                    pair[0].weight.min(pair[1].weight),
                    pair[0].weight.max(pair[1].weight),
                );
                assert!(
                    weights.iter().all(|w| (low..=high).contains(w)),
                    "{ease:?} {pair:?}"
                );
            }
        }
    }

    #[test]
    fn a_smooth_curve_has_no_kink_at_its_keys_and_is_half_way_at_half_time() {
        let curve = keys(Ease::Smooth, HARD);
        for key in &curve[1..curve.len() - 1] {
            let (at, step) = (f64::from(key.frame), 1e-6);
            let (before, after) = (
                (key.weight - eased_weight(&curve, at - step)) / step,
                (eased_weight(&curve, at + step) - key.weight) / step,
            );
            assert!((before - after).abs() < 1e-4, "{key:?}: {before} {after}");
        }
        let two = keys(Ease::Smooth, &[(0, 0.0), (24, 0.8)]);
        assert!((eased_weight(&two, 12.0) - 0.4).abs() < 1e-15);
        assert!(eased_weight(&two, 1.0) < 0.8 / 24.0, "it starts gently");
    }

    #[test]
    fn steps_hold_and_lines_are_straight() {
        let ends = [(10, 0.0), (20, 0.8)];
        assert_eq!(eased_weight(&keys(Ease::Step, &ends), 19.9), 0.0);
        assert_eq!(eased_weight(&keys(Ease::Linear, &ends), 15.0), 0.4);
    }

    #[test]
    fn keys_of_older_documents_are_straight() {
        let key: EasedKey = serde_json::from_str(r#"{"frame": 3, "weight": 0.5}"#).unwrap();
        assert_eq!(
            key,
            EasedKey {
                frame: 3,
                weight: 0.5,
                ease: Ease::Linear
            }
        );
    }
}
