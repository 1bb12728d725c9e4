//! Activation `φ(w)`: coefficients of all shapes at given slider weights, with derivatives.
//!
//! **Problem.** A rig is linear in its shapes but not in its sliders: in-betweens bend the path of
//! a slider, and combinations depend on several sliders. Solvers need the coefficients and their
//! derivatives.
//!
//! **Equation.** `x = x₀ + Σₛ φₛ(w) δₛ`. A target with keys `(w₀, d₀), (w₁, d₁), …` (among them
//! `(0, 0)` and `(1, δ)`) gives each key's shape a hat function, or the cardinal function of a
//! cubic Hermite spline. The slope of the spline at a key is that of the parabola through its two
//! neighbours; at the two ends it is the slope of the secant. Beyond the outer keys both are
//! extended linearly. Combinations are functions of their drivers.
//!
//! **Source.** Piecewise linear in-betweens as FBX and UsdSkel define them.
//!
//! **Departures.** The spline is ours.

use std::ops::Range;

use super::combination::{Combination, Driver, Rule};
use crate::{Path, Slider, Target};

/// The map from slider weights to coefficients of shapes.
///
/// Shapes are ordered by slider, each target's own shape before its in-betweens, and combinations
/// last; a rig with neither has one shape per slider, and its coefficients are its weights.
#[derive(Debug, Clone, PartialEq)]
pub struct Activation {
    sliders: Vec<Keys>,
    combinations: Vec<(Vec<Driver>, Rule)>,
    shape_count: usize,
}

/// A nonzero entry of the Jacobian `∂φ/∂w`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ActivationDerivative {
    /// The shape.
    pub shape: usize,
    /// The slider.
    pub slider: usize,
    /// The derivative.
    pub value: f64,
}

/// The keys of one slider: ascending weights and their shapes; the neutral has none.
#[derive(Debug, Clone, PartialEq)]
struct Keys {
    first_shape: usize,
    keys: Vec<(f64, Option<usize>)>,
    path: Path,
}

/// Values and derivatives of the keys around a weight: (key, value, derivative).
type KeyCoefficients = [(usize, f64, f64); 4];

impl Activation {
    pub(crate) fn new(
        targets: &[Target],
        sliders: &[Slider],
        combinations: &[Combination],
    ) -> Self {
        let mut next_shape = 0;
        let mut all_keys = Vec::with_capacity(targets.len());
        for (target, slider) in targets.iter().zip(sliders) {
            all_keys.push(Keys::new(target, next_shape, slider.path));
            next_shape += 1 + target.in_betweens.len();
        }

        let combinations: Vec<_> = combinations
            .iter()
            .map(|c| (c.drivers.clone(), c.rule))
            .collect();
        Self {
            shape_count: next_shape + combinations.len(),
            sliders: all_keys,
            combinations,
        }
    }

    /// The number of shapes.
    #[must_use]
    pub fn shape_count(&self) -> usize {
        self.shape_count
    }

    /// The number of sliders.
    #[must_use]
    pub fn slider_count(&self) -> usize {
        self.sliders.len()
    }

    /// Whether coefficients are the weights themselves.
    #[must_use]
    pub fn is_linear(&self) -> bool {
        self.shape_count == self.sliders.len()
    }

    /// The coefficients at `weights`; missing weights count as zero.
    #[must_use]
    pub fn coefficients(&self, weights: &[f64]) -> Vec<f64> {
        let mut coefficients = vec![0.0; self.shape_count];
        self.coefficients_into(weights, &mut coefficients);
        coefficients
    }

    /// The coefficients at `weights` into a buffer of [`Self::shape_count`] numbers.
    pub fn coefficients_into(&self, weights: &[f64], coefficients: &mut [f64]) {
        coefficients.fill(0.0);
        for (keys, &weight) in self.sliders.iter().zip(weights) {
            keys.around(weight, |shape, value, _| coefficients[shape] += value);
        }

        let first = self.shape_count - self.combinations.len();
        let mut values = Vec::new();
        for (k, (drivers, rule)) in self.combinations.iter().enumerate() {
            driver_values(
                drivers,
                weights,
                &coefficients[first..first + k],
                &mut values,
            );
            coefficients[first + k] = rule.coefficient(&values);
        }
    }

    /// The derivatives of all coefficients at `weights`, ordered by shape.
    #[must_use]
    pub fn derivatives(&self, weights: &[f64]) -> Vec<ActivationDerivative> {
        let mut derivatives = Vec::with_capacity(self.shape_count);
        for (slider, keys) in self.sliders.iter().enumerate() {
            let weight = weights.get(slider).copied().unwrap_or(0.0);
            keys.around(weight, |shape, _, value| {
                derivatives.push(ActivationDerivative {
                    shape,
                    slider,
                    value,
                })
            });
        }

        if !self.combinations.is_empty() {
            self.push_combination_derivatives(weights, &mut derivatives);
        }
        derivatives.retain(|entry| entry.value != 0.0);
        derivatives
    }

    /// Appends the derivatives of the combinations, by the chain rule through nested ones.
    fn push_combination_derivatives(
        &self,
        weights: &[f64],
        derivatives: &mut Vec<ActivationDerivative>,
    ) {
        let coefficients = self.coefficients(weights);
        let first = self.shape_count - self.combinations.len();
        let mut values = Vec::new();

        // The range of the derivatives of each combination in the list.
        let mut rows: Vec<Range<usize>> = Vec::with_capacity(self.combinations.len());

        for (k, (drivers, rule)) in self.combinations.iter().enumerate() {
            let shape = first + k;
            let begin = derivatives.len();
            driver_values(drivers, weights, &coefficients[first..], &mut values);
            for (i, driver) in drivers.iter().enumerate() {
                let outer = rule.derivative(&values, i);
                match *driver {
                    Driver::Slider(slider) => derivatives.push(ActivationDerivative {
                        shape,
                        slider: slider.index(),
                        value: outer,
                    }),
                    Driver::Combination(c) => {
                        for index in rows[c].clone() {
                            let inner = derivatives[index];
                            derivatives.push(ActivationDerivative {
                                shape,
                                slider: inner.slider,
                                value: outer * inner.value,
                            });
                        }
                    }
                }
            }

            rows.push(begin..derivatives.len());
        }
    }
}

fn driver_values(drivers: &[Driver], weights: &[f64], combined: &[f64], values: &mut Vec<f64>) {
    values.clear();
    for driver in drivers {
        values.push(match *driver {
            Driver::Slider(k) => weights.get(k.index()).copied().unwrap_or(0.0),
            Driver::Combination(c) => combined[c],
        });
    }
}

impl Keys {
    fn new(target: &Target, first_shape: usize, path: Path) -> Self {
        let mut keys = Vec::with_capacity(2 + target.in_betweens.len());
        for (k, in_between) in target.in_betweens.iter().enumerate() {
            keys.push((in_between.weight, Some(first_shape + 1 + k)));
        }

        // In-betweens may lie below 0 or beyond 1, so the neutral and the target are sorted in.
        keys.push((0.0, None));
        keys.push((1.0, Some(first_shape)));
        keys.sort_by(|a, b| a.0.total_cmp(&b.0));

        Self {
            first_shape,
            keys,
            path,
        }
    }

    /// Calls `each(shape, value, derivative)` for the shapes around `weight`.
    fn around(&self, weight: f64, mut each: impl FnMut(usize, f64, f64)) {
        if self.keys.len() == 2 {
            // Without in-betweens the coefficient is the weight itself, to the bit.
            return each(self.first_shape, weight, 1.0);
        }

        let around = match self.path {
            Path::Linear => self.linear(weight),
            Path::Spline => self.spline(weight),
        };

        for (key, value, derivative) in around {
            let Some(shape) = self.keys[key].1 else {
                continue; // The neutral has no shape.
            };
            if value != 0.0 || derivative != 0.0 {
                each(shape, value, derivative);
            }
        }
    }

    /// The segment around `weight`, by the index of its lower key. The outer segments extend beyond
    /// the keys.
    fn segment(&self, weight: f64) -> usize {
        let upper = self.keys.partition_point(|key| key.0 <= weight);
        upper.clamp(1, self.keys.len() - 1) - 1
    }

    fn linear(&self, weight: f64) -> KeyCoefficients {
        let lower = self.segment(weight);
        let from = self.keys[lower].0;
        let span = self.keys[lower + 1].0 - from;

        // Two keys at one weight are a jump; the weight is at its far side.
        let (value, derivative) = if span > 0.0 {
            ((weight - from) / span, 1.0 / span)
        } else {
            (1.0, 0.0)
        };

        [
            (lower, 1.0 - value, -derivative),
            (lower + 1, value, derivative),
            (lower, 0.0, 0.0),
            (lower, 0.0, 0.0),
        ]
    }

    /// Cubic Hermite spline: `h₀₀ p₀ + h₁₀ Δ m₀ + h₀₁ p₁ + h₁₁ Δ m₁` with slopes `m` that are
    /// linear in the shapes of the keys.
    fn spline(&self, weight: f64) -> KeyCoefficients {
        let first = self.keys[0].0;
        let last = self.keys[self.keys.len() - 1].0;
        let lower = self.segment(weight);
        let span = self.keys[lower + 1].0 - self.keys[lower].0;
        if span <= 0.0 {
            return self.linear(weight);
        }

        let inside = weight.clamp(first, last);

        // The parameter from 0 to 1 within the segment.
        let s = (inside - self.keys[lower].0) / span;
        let (h, dh) = hermite_basis(s);

        // Of the keys lower − 1 … lower + 2.
        let values = self.spline_coefficients(lower, h, 1.0, span);
        let derivatives = self.spline_coefficients(lower, dh, 1.0 / span, span);

        // Linear beyond the outer keys.
        let beyond = weight - inside;
        let key = |k: usize| (lower + k).saturating_sub(1).min(self.keys.len() - 1);
        std::array::from_fn(|k| (key(k), values[k] + beyond * derivatives[k], derivatives[k]))
    }

    /// The coefficients of the keys `lower − 1 … lower + 2` for Hermite basis values
    /// `basis · scale`.
    fn spline_coefficients(
        &self,
        lower: usize,
        basis: [f64; 4],
        scale: f64,
        span: f64,
    ) -> [f64; 4] {
        let mut coefficients = [0.0; 4];
        coefficients[1] += basis[0] * scale;
        coefficients[2] += basis[2] * scale;
        for (key, index) in [(lower, 1), (lower + 1, 3)] {
            for (neighbour, factor) in self.slope_coefficients(key) {
                coefficients[neighbour + 1 - lower] += basis[index] * scale * span * factor;
            }
        }

        coefficients
    }

    /// The slope at a key as a linear combination of the keys around it: (key, coefficient).
    fn slope_coefficients(&self, key: usize) -> Vec<(usize, f64)> {
        let at = |k: usize| self.keys[k].0;
        let secant = |a: usize, scale: f64| {
            [
                (a, -scale / (at(a + 1) - at(a))),
                (a + 1, scale / (at(a + 1) - at(a))),
            ]
        };

        // Coincident keys have no secant.
        let usable = |a: usize| at(a + 1) > at(a);
        let before = (key > 0 && usable(key - 1)).then(|| at(key) - at(key - 1));
        let after = (key + 1 < self.keys.len() && usable(key)).then(|| at(key + 1) - at(key));

        // The parabola weighs the two secants by the lengths of the opposite segments.
        match (before, after) {
            (Some(h0), Some(h1)) => {
                [secant(key - 1, h1 / (h0 + h1)), secant(key, h0 / (h0 + h1))].concat()
            }
            (Some(_), None) => secant(key - 1, 1.0).to_vec(),
            (None, Some(_)) => secant(key, 1.0).to_vec(),
            (None, None) => Vec::new(),
        }
    }
}

/// The cubic Hermite basis `h₀₀, h₁₀, h₀₁, h₁₁` and its derivative.
fn hermite_basis(s: f64) -> ([f64; 4], [f64; 4]) {
    let values = [
        2.0 * s * s * s - 3.0 * s * s + 1.0,
        s * s * s - 2.0 * s * s + s,
        3.0 * s * s - 2.0 * s * s * s,
        s * s * s - s * s,
    ];
    let derivatives = [
        6.0 * s * s - 6.0 * s,
        3.0 * s * s - 4.0 * s + 1.0,
        6.0 * s - 6.0 * s * s,
        3.0 * s * s - 2.0 * s,
    ];

    (values, derivatives)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::InBetween;
    use pliant_mesh::glam::Vec3;

    fn lid(weights: &[f64]) -> Target {
        let mut lid = Target::from_dense("lid", [Vec3::Z]);
        lid.in_betweens = weights
            .iter()
            .map(|&weight| InBetween {
                name: String::new(),
                weight,
                vertices: vec![0],
                deltas: vec![Vec3::X],
            })
            .collect();

        lid
    }

    fn slider(path: Path) -> Slider {
        Slider {
            path,
            ..Slider::default()
        }
    }

    fn one(weights: &[f64], path: Path) -> Activation {
        Activation::new(&[lid(weights)], &[slider(path)], &[])
    }

    #[test]
    fn at_a_key_only_its_own_shape_has_a_coefficient() {
        for path in [Path::Linear, Path::Spline] {
            let keys = [0.2, 0.5, 0.8];
            let activation = one(&keys, path);
            for (k, &weight) in keys.iter().enumerate() {
                let mut expected = vec![0.0; 4];
                expected[k + 1] = 1.0;
                let found = activation.coefficients(&[weight]);

                assert!(
                    found
                        .iter()
                        .zip(&expected)
                        .all(|(a, b)| (a - b).abs() < 1e-14),
                    "{path:?} {weight}: {found:?}"
                );
            }

            assert!(
                activation
                    .coefficients(&[0.0])
                    .iter()
                    .all(|c| c.abs() < 1e-14)
            );
        }
    }

    #[test]
    fn in_betweens_on_the_straight_path_change_nothing() {
        // The shapes at 0.2, 0.5 and 0.8 are those fractions of the target: Σ φ d is the weight.
        for path in [Path::Linear, Path::Spline] {
            let activation = one(&[0.2, 0.5, 0.8], path);
            for weight in [-0.4, 0.1, 0.33, 0.5, 0.77, 1.0, 1.6] {
                let c = activation.coefficients(&[weight]);
                assert!(
                    (c[0] + 0.2 * c[1] + 0.5 * c[2] + 0.8 * c[3] - weight).abs() < 1e-14,
                    "{path:?} {weight}"
                );
            }
        }
    }

    #[test]
    fn a_spline_has_no_kink_and_reproduces_a_parabola_inside() {
        let activation = one(&[0.25, 0.5, 0.75], Path::Spline);
        let parabola = |w: f64| {
            let c = activation.coefficients(&[w]);
            c[0] + 0.0625 * c[1] + 0.25 * c[2] + 0.5625 * c[3]
        };

        for weight in [0.3, 0.45, 0.6, 0.74] {
            assert!((parabola(weight) - weight * weight).abs() < 1e-14);
        }

        for key in [0.0, 0.25, 0.5, 0.75, 1.0] {
            let [left, right] =
                [-1e-6, 1e-6].map(|step| (parabola(key + step) - parabola(key)) / step);
            assert!((left - right).abs() < 1e-4, "{key}: {left} {right}");
        }
    }

    #[test]
    fn derivatives_agree_with_differences_for_in_betweens_and_nested_combinations() {
        let targets = [lid(&[0.3, 0.6]), lid(&[]), lid(&[0.5])];
        let sliders = [
            slider(Path::Spline),
            slider(Path::Linear),
            slider(Path::Linear),
        ];

        let shape = |drivers: Vec<Driver>, rule| Combination {
            name: String::new(),
            drivers,
            rule,
            vertices: vec![],
            deltas: vec![],
        };

        let combinations = [
            shape(
                vec![Driver::Slider(0.into()), Driver::Slider(1.into())],
                Rule::Product,
            ),
            shape(
                vec![Driver::Combination(0), Driver::Slider(2.into())],
                Rule::SmoothLowest,
            ),
        ];

        let activation = Activation::new(&targets, &sliders, &combinations);
        assert_eq!(activation.shape_count(), 8);

        // Several paths from a slider to a shape add up in the Jacobian.
        let weights = [0.4, 0.7, 0.35];
        let mut jacobian = [[0.0; 3]; 8];
        for entry in activation.derivatives(&weights) {
            jacobian[entry.shape][entry.slider] += entry.value;
        }

        for slider in 0..3 {
            let shifted = |by: f64| {
                let mut moved = weights;
                moved[slider] += by;
                activation.coefficients(&moved)
            };

            // Central differences.
            let (up, down) = (shifted(1e-6), shifted(-1e-6));

            for shape in 0..8 {
                let difference = (up[shape] - down[shape]) / 2e-6;
                assert!(
                    (jacobian[shape][slider] - difference).abs() < 1e-7,
                    "shape {shape} slider {slider}"
                );
            }
        }
    }

    #[test]
    fn without_in_betweens_coefficients_are_the_weights_to_the_bit() {
        let activation = Activation::new(
            &[lid(&[]), lid(&[])],
            &[Slider::default(), Slider::default()],
            &[],
        );
        assert!(activation.is_linear());
        assert_eq!(activation.coefficients(&[0.1, -2.7]), [0.1, -2.7]);
    }
}
