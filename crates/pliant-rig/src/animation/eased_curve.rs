//! Keyed curves with easing: step, linear and monotone cubic.
//!
//! **Problem.** Between keys a weight is constant, linear, or eased without leaving the range of
//! the two keys around it, so that a smile keyed from 0 to 1 stays inside the limits of its slider.
//!
//! **Equation.** With `s = (t − t₀) / h₀`, `h₀ = t₁ − t₀` and slopes `m`, the smooth curve is
//! Hermite's cubic. At a key between segments with secants `δ₋₁` and `δ₀` of lengths `h₋₁` and `h₀`
//! the slope is zero where the secants differ in sign, otherwise
//!
//! ```text
//! m = 3 (h₋₁ + h₀) / ((2 h₀ + h₋₁) / δ₋₁ + (h₀ + 2 h₋₁) / δ₀)
//! ```
//!
//! **Source.** Fritsch and Butland, "A method for constructing local monotone piecewise cubic
//! interpolants", SIAM J. Sci. Stat. Comput. 1984.
//!
//! **Departures.** The slope is zero at the first and the last key: motion starts and ends at rest.

use serde::{Deserialize, Serialize};

/// How a curve continues from a key to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ease {
    /// Constant up to the next key.
    Step,
    /// A straight line.
    #[default]
    Linear,
    /// A monotone cubic, which never leaves the range of the two keys.
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
    /// How the curve continues.
    #[serde(default)]
    pub ease: Ease,
}

impl EasedKey {
    /// A smooth key, as a user sets it.
    #[must_use]
    pub fn new(frame: u32, weight: f64) -> Self {
        Self {
            frame,
            weight,
            ease: Ease::Smooth,
        }
    }
}

/// The weight of ascending `keys` at `frame`; constant outside them, zero if there are none.
#[must_use]
pub fn eased_weight(keys: &[EasedKey], frame: f64) -> f64 {
    let after = keys.partition_point(|key| f64::from(key.frame) <= frame);
    match (after.checked_sub(1), keys.get(after)) {
        (None, None) => 0.0,
        (None, Some(key)) => key.weight,
        (Some(last), None) => keys[last].weight,
        (Some(before), Some(_)) => interpolate(keys, before, frame),
    }
}

/// The weight between keys `k` and `k + 1`.
fn interpolate(keys: &[EasedKey], k: usize, frame: f64) -> f64 {
    let a = keys[k];
    let b = keys[k + 1];
    let span = f64::from(b.frame - a.frame);
    let s = (frame - f64::from(a.frame)) / span;

    match a.ease {
        Ease::Step => a.weight,
        Ease::Linear => (1.0 - s) * a.weight + s * b.weight,
        Ease::Smooth => {
            let leaving = slope(keys, k) * span;
            let arriving = slope(keys, k + 1) * span;
            let rise = b.weight - a.weight;
            let weight = a.weight
                + s * (leaving
                    + s * (3.0 * rise - 2.0 * leaving - arriving
                        + s * (leaving + arriving - 2.0 * rise)));

            // Only rounding is clipped.
            weight.clamp(a.weight.min(b.weight), a.weight.max(b.weight))
        }
    }
}

/// The slope at a key, in weight per frame.
fn slope(keys: &[EasedKey], k: usize) -> f64 {
    if k == 0 || k + 1 == keys.len() {
        return 0.0;
    }

    let [a, b, c] = [keys[k - 1], keys[k], keys[k + 1]];
    let h0 = f64::from(b.frame - a.frame);
    let h1 = f64::from(c.frame - b.frame);
    let d0 = (b.weight - a.weight) / h0;
    let d1 = (c.weight - b.weight) / h1;
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

    /// Uneven spacing, a plateau, turning points, and a steep step beside a shallow one: cases in
    /// which cubics overshoot.
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
    fn a_curve_passes_through_its_keys_and_is_constant_outside() {
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
    fn between_two_keys_every_curve_is_monotone() {
        for ease in Ease::ALL {
            let keys = keys(ease, HARD);
            for pair in keys.windows(2) {
                // Sample each segment between two keys.
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

                let low = pair[0].weight.min(pair[1].weight);
                let high = pair[0].weight.max(pair[1].weight);

                assert!(
                    weights.iter().all(|w| (low..=high).contains(w)),
                    "{ease:?} {pair:?}"
                );
            }
        }
    }

    #[test]
    fn a_smooth_curve_has_no_kink_at_its_keys_and_is_symmetric() {
        let curve = keys(Ease::Smooth, HARD);
        for key in &curve[1..curve.len() - 1] {
            let at = f64::from(key.frame);
            let step = 1e-6;
            let before = (key.weight - eased_weight(&curve, at - step)) / step;
            let after = (eased_weight(&curve, at + step) - key.weight) / step;
            assert!((before - after).abs() < 1e-4, "{key:?}: {before} {after}");
        }

        let two = keys(Ease::Smooth, &[(0, 0.0), (24, 0.8)]);
        assert!((eased_weight(&two, 12.0) - 0.4).abs() < 1e-15);
        assert!(eased_weight(&two, 1.0) < 0.8 / 24.0, "it starts slowly");
    }

    #[test]
    fn steps_are_constant_and_lines_are_straight() {
        let ends = [(10, 0.0), (20, 0.8)];
        assert_eq!(eased_weight(&keys(Ease::Step, &ends), 19.9), 0.0);
        assert_eq!(eased_weight(&keys(Ease::Linear, &ends), 15.0), 0.4);
    }

    #[test]
    fn keys_of_older_documents_are_linear() {
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
