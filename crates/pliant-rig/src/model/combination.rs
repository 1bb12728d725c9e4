//! Combinations: corrective shapes that several sliders drive.
//!
//! **Problem.** The sum of a smile and an open jaw is not a natural mouth; a corrective shape that
//! both sliders drive repairs it.
//!
//! **Equation.** A combination's coefficient is a function of its drivers' values `dᵢ ≥ 0` (values
//! below zero count as zero):
//!
//! ```text
//! product         Π dᵢ
//! lowest          min dᵢ
//! smooth lowest   (Σ dᵢ⁻ᵖ / n)^(−1/p),  p = 4
//! ```
//!
//! All three are 0 where a driver is 0 and 1 where all are 1.
//!
//! **Source.** The first two are those of Maya's combination shapes.
//!
//! **Departures.** The third, a power mean, has no kink where two drivers are equal.

use pliant_mesh::glam::Vec3;
use serde::{Deserialize, Serialize};

use super::SliderId;

/// What drives a combination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Driver {
    /// A slider.
    Slider(SliderId),
    /// A combination before this one, by index.
    Combination(usize),
}

/// How the values of the drivers give the coefficient.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// Their product.
    #[default]
    Product,
    /// The lowest of them.
    Lowest,
    /// About the lowest of them, without a kink.
    SmoothLowest,
}

/// A corrective shape whose coefficient is a function of its drivers.
#[derive(Debug, Clone, PartialEq)]
pub struct Combination {
    /// Its name.
    pub name: String,
    /// At least one driver.
    pub drivers: Vec<Driver>,
    /// How their values give its coefficient.
    pub rule: Rule,
    /// The vertices it moves, ascending.
    pub vertices: Vec<u32>,
    /// The displacement of each of them at coefficient 1.
    pub deltas: Vec<Vec3>,
}

impl Rule {
    /// The exponent `p` of the smooth minimum, whose root is two square roots. *Chosen*: at 4 the
    /// mean of (0.5, 1) is 0.59.
    const SHARPNESS: i32 = 4;

    /// The coefficient of drivers at `values`.
    #[must_use]
    pub fn coefficient(self, values: &[f64]) -> f64 {
        let values = || values.iter().map(|d| d.max(0.0));
        match self {
            Self::Product => values().product(),
            Self::Lowest => values().fold(f64::INFINITY, f64::min),
            Self::SmoothLowest if values().any(|d| d == 0.0) => 0.0,
            Self::SmoothLowest => (values().map(|d| d.powi(-Self::SHARPNESS)).sum::<f64>()
                / values().len() as f64)
                .sqrt()
                .sqrt()
                .recip(),
        }
    }

    /// Its derivative by driver `k`; from the right where it has a kink.
    #[must_use]
    pub fn derivative(self, values: &[f64], k: usize) -> f64 {
        if values[k] < 0.0 {
            return 0.0;
        }
        match self {
            Self::Product => {
                let others = (0..values.len()).filter(|&j| j != k);
                others.map(|j| values[j].max(0.0)).product()
            }

            // Where two are lowest, raising one of them changes nothing.
            Self::Lowest => f64::from(
                (0..values.len()).all(|j| j == k || values[k].max(0.0) < values[j].max(0.0)),
            ),
            Self::SmoothLowest => self.smooth_lowest_derivative(values, k),
        }
    }

    /// The derivative of `M = (Σ x⁻ᵖ / n)^(−1/p)` by `x`, `(M / x)^(p + 1) / n`; for `x → 0` it
    /// tends to `n^(1/p)`.
    fn smooth_lowest_derivative(self, values: &[f64], k: usize) -> f64 {
        let n = values.len() as f64;
        let is_only_zero = values[k] == 0.0 && values.iter().filter(|d| **d <= 0.0).count() == 1;
        if is_only_zero {
            return n.sqrt().sqrt();
        }

        let mean = self.coefficient(values);
        if mean == 0.0 {
            0.0
        } else {
            (mean / values[k]).powi(Self::SHARPNESS + 1) / n
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: [Rule; 3] = [Rule::Product, Rule::Lowest, Rule::SmoothLowest];

    #[test]
    fn a_combination_is_zero_if_a_driver_is_zero_and_one_if_all_are_one() {
        for rule in RULES {
            assert_eq!(rule.coefficient(&[1.0, 1.0, 1.0]), 1.0);
            assert_eq!(rule.coefficient(&[1.0, 0.0, 0.7]), 0.0);
            assert_eq!(rule.coefficient(&[1.0, -0.5]), 0.0);
        }
    }

    #[test]
    fn derivatives_agree_with_differences() {
        let step = 1e-6;
        for rule in RULES {
            for values in [[0.3, 0.7, 0.5], [0.9, 0.2, 0.4], [0.11, 0.1, 1.0]] {
                for k in 0..3 {
                    let shifted = |by: f64| {
                        let mut moved = values;
                        moved[k] += by;
                        rule.coefficient(&moved)
                    };
                    let difference = (shifted(step) - shifted(-step)) / (2.0 * step);

                    assert!(
                        (rule.derivative(&values, k) - difference).abs() < 1e-8,
                        "{rule:?} {values:?} {k}"
                    );
                }
            }
        }
    }

    #[test]
    fn at_zero_the_derivative_is_the_one_from_the_right() {
        for rule in RULES {
            let values = [0.0, 0.8];
            let difference = rule.coefficient(&[1e-7, 0.8]) / 1e-7;
            assert!(
                (rule.derivative(&values, 0) - difference).abs() < 1e-5,
                "{rule:?}"
            );
        }
        for k in 0..2 {
            assert_eq!(
                Rule::Lowest.derivative(&[0.4, 0.4], k),
                0.0,
                "raising one of two equal drivers does not raise the lowest"
            );
        }
    }

    #[test]
    fn the_smooth_lowest_of_equal_drivers_is_their_value() {
        assert!((Rule::SmoothLowest.coefficient(&[0.37; 3]) - 0.37).abs() < 1e-15);
    }
}
