//! Least-squares fit of a cubic B-spline to a freehand stroke.
//!
//! **Problem.** A recorded stroke has noise from the hand and the mouse; a spline with few control
//! points removes it.
//!
//! **Equation.** A clamped cubic B-spline (a NURBS curve of degree 3 with unit weights) on uniform
//! knots, `C(t) = Σ Nᵢ(t) Pᵢ`. Recorded points `h_k` have the chord-length parameter `t_k` and the
//! weight `l_k`, the length that they represent; the control points minimise
//!
//! ```text
//! min Σ_k l_k |C(t_k) − h_k|² + ε² Σ_i |Pᵢ₋₁ − 2 Pᵢ + Pᵢ₊₁|²
//! ```
//!
//! **Source.** Piegl and Tiller, "The NURBS Book", 2nd edition, algorithm A2.2 for the basis,
//! equation 9.5 for chord lengths. The degree is that of Çetinaslan, "Position Manipulation
//! Techniques for Facial Animation", PhD thesis, Universidade do Porto, 2016, section 3.2.1: lower
//! ones leave the surface, higher ones keep the noise.
//!
//! **Departures.** Weights by length make the fit independent of the speed of the hand. Ends are
//! fitted like all points, since they have noise too. The regularisation `ε = 10⁻⁵` determines only
//! what the points leave undetermined.

use glam::DVec3;
use pliant_linalg::{LeastSquares, SparseMatrix};
use pliant_mesh::MeshError;

use super::polyline::Polyline;
use crate::RigError;

/// A clamped cubic B-spline on uniform knots over `[0, 1]`.
#[derive(Debug, Clone, PartialEq)]
pub struct CubicSpline {
    control_points: Vec<DVec3>,
}

impl CubicSpline {
    const DEGREE: usize = 3;
    /// `ε`.
    const REGULARISATION: f64 = 1e-5;
    /// Chords that approximate the arc length. *Chosen*: on a half circle the error is below 10⁻⁴
    /// of the length.
    const CHORDS: usize = 128;

    /// The best spline with `control_points` (at least 4) for points in their order.
    pub fn fit(points: &[DVec3], control_points: usize) -> Result<Self, RigError> {
        if control_points <= Self::DEGREE {
            return Err(RigError::BadOption {
                what: "the number of control points",
                value: control_points as f64,
                needed: "at least 4",
            });
        }

        let line = Polyline::new("the stroke", points, false)?;
        let parameters = line.parameters();
        let matrix = fit_matrix(&parameters, control_points);
        let solver = LeastSquares::factor(&matrix, &[], &[]).map_err(MeshError::from)?;

        // Relative to the first point, to avoid cancellation far from the origin.
        let origin = line.corners()[0];
        let mut goals = Vec::with_capacity(matrix.rows());
        for (corner, root) in line.corners().iter().zip(length_roots(&parameters)) {
            goals.push((*corner - origin) * root);
        }
        goals.resize(matrix.rows(), DVec3::ZERO);
        let fitted = solver.solve_points(&goals, &[], &[]);
        Ok(Self {
            control_points: fitted.into_iter().map(|p| p + origin).collect(),
        })
    }

    /// The control points, in order.
    #[must_use]
    pub fn control_points(&self) -> &[DVec3] {
        &self.control_points
    }

    /// The point at parameter `t`, clamped to `[0, 1]`.
    #[must_use]
    pub fn at(&self, t: f64) -> DVec3 {
        let (first, weights) = basis(t.clamp(0.0, 1.0), self.control_points.len());
        weights
            .iter()
            .zip(&self.control_points[first..])
            .map(|(w, p)| *p * *w)
            .sum()
    }

    /// `count` points at equal arc length, including both ends.
    pub(crate) fn samples(&self, count: usize) -> Result<Vec<DVec3>, RigError> {
        let chords: Vec<DVec3> = (0..=Self::CHORDS)
            .map(|k| self.at(k as f64 / Self::CHORDS as f64))
            .collect();
        Ok(Polyline::new("the stroke", &chords, false)?.samples(count))
    }
}

/// Rows of the fit: one for each point, then the second differences of the control points.
fn fit_matrix(parameters: &[f64], control_points: usize) -> SparseMatrix {
    let mut triplets = Vec::new();
    for (row, (&t, root)) in parameters.iter().zip(length_roots(parameters)).enumerate() {
        // Four basis functions are nonzero at each point.
        let (first, weights) = basis(t, control_points);
        for (k, weight) in weights.iter().enumerate() {
            triplets.push((row as u32, (first + k) as u32, root * weight));
        }
    }

    for middle in 1..control_points - 1 {
        let row = (parameters.len() + middle - 1) as u32;
        for (k, factor) in [1.0, -2.0, 1.0].into_iter().enumerate() {
            let column = (middle - 1 + k) as u32;
            triplets.push((row, column, factor * CubicSpline::REGULARISATION));
        }
    }

    SparseMatrix::from_triplets(
        parameters.len() + control_points - 2,
        control_points,
        &triplets,
    )
}

/// Roots of the lengths that points represent: half the distance to each neighbour.
fn length_roots(parameters: &[f64]) -> impl Iterator<Item = f64> {
    let last = parameters.len() - 1;
    (0..=last).map(move |k| {
        (0.5 * (parameters[(k + 1).min(last)] - parameters[k.saturating_sub(1)])).sqrt()
    })
}

/// Knot `i` of a clamped uniform cubic spline.
fn knot(i: usize, control_points: usize) -> f64 {
    let spans = (control_points - CubicSpline::DEGREE) as f64;
    (i.saturating_sub(CubicSpline::DEGREE) as f64 / spans).min(1.0)
}

/// The first of the four control points with a nonzero basis function at `t`, and the values of the
/// four basis functions (algorithm A2.2).
fn basis(t: f64, control_points: usize) -> (usize, [f64; 4]) {
    let spans = control_points - CubicSpline::DEGREE;
    let first = ((t * spans as f64) as usize).min(spans - 1);
    let span = first + CubicSpline::DEGREE;

    let mut values = [1.0, 0.0, 0.0, 0.0];
    for degree in 1..=CubicSpline::DEGREE {
        // The triangular scheme raises the degree by one in each pass.
        let mut saved = 0.0;
        for r in 0..degree {
            let right = knot(span + r + 1, control_points) - t;
            let left = t - knot(span + 1 + r - degree, control_points);
            let part = values[r] / (right + left);
            values[r] = saved + right * part;
            saved = left * part;
        }

        values[degree] = saved;
    }

    (first, values)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arc(angle_rad: f64, count: usize) -> Vec<DVec3> {
        let at = |k: usize| angle_rad * k as f64 / (count - 1) as f64;
        (0..count)
            .map(|k| DVec3::new(at(k).cos(), at(k).sin(), 0.0))
            .collect()
    }

    #[test]
    fn the_basis_is_a_partition_of_unity_and_the_ends_are_control_points() {
        for control_points in [4, 5, 7, 12] {
            for k in 0..=100 {
                let (first, shares) = basis(f64::from(k) / 100.0, control_points);
                assert!(
                    first + 4 <= control_points && shares.iter().all(|s| (0.0..=1.0).contains(s))
                );
                assert!((shares.iter().sum::<f64>() - 1.0).abs() < 8.0 * f64::EPSILON);
            }

            assert_eq!(basis(0.0, control_points), (0, [1.0, 0.0, 0.0, 0.0]));
            assert_eq!(
                basis(1.0, control_points),
                (control_points - 4, [0.0, 0.0, 0.0, 1.0])
            );
        }
    }

    #[test]
    fn a_straight_line_is_fitted_exactly_at_constant_speed() {
        let line: Vec<DVec3> = [0.0, 0.1, 0.15, 0.6, 1.0]
            .iter()
            .map(|&s| DVec3::new(s, 2.0 * s, 1.0 - s))
            .collect();
        let spline = CubicSpline::fit(&line, 5).unwrap();

        for k in 0..=10 {
            let t = f64::from(k) / 10.0;
            let p = spline.at(f64::from(k) / 10.0);
            assert!(
                p.distance(DVec3::new(p.x, 2.0 * p.x, 1.0 - p.x)) < 1e-12,
                "on the line: {p}"
            );
            assert!((p.x - t).abs() < 1e-6, "{p} {t}");
        }
    }

    #[test]
    fn the_fit_to_an_arc_is_of_fourth_order_in_the_length_of_a_span() {
        let worst = |control_points: usize| {
            let spline = CubicSpline::fit(&arc(2.5, 400), control_points).unwrap();
            (0..=200)
                .map(|k| (spline.at(f64::from(k) / 200.0).length() - 1.0).abs())
                .fold(0.0, f64::max)
        };

        let errors = [5, 7, 11].map(worst);

        // Two, four and eight spans: sixteen times better each time, less what the ends cost.
        assert!(
            errors[0] < 4e-3 && errors[1] < errors[0] / 12.0 && errors[2] < errors[1] / 12.0,
            "{errors:?}"
        );
    }

    #[test]
    fn noise_is_removed_from_an_arc() {
        let noise = |k: usize| (((k * 7919) % 101) as f64 / 50.0 - 1.0) * 0.02;
        let noisy: Vec<DVec3> = arc(2.0, 200)
            .into_iter()
            .enumerate()
            .map(|(k, p)| p * (1.0 + noise(k)))
            .collect();

        let rms = |points: &[DVec3]| {
            (points
                .iter()
                .map(|p| (p.length() - 1.0).powi(2))
                .sum::<f64>()
                / points.len() as f64)
                .sqrt()
        };

        let smooth = CubicSpline::fit(&noisy, 5).unwrap().samples(200).unwrap();
        assert!(
            rms(&smooth) < 0.4 * rms(&noisy),
            "{} {}",
            rms(&smooth),
            rms(&noisy)
        );
    }

    #[test]
    fn the_fit_does_not_depend_on_the_speed_of_the_hand() {
        let even = arc(1.5, 400);
        let slow_start: Vec<DVec3> = (0..600)
            .map(|k| 1.5 * (f64::from(k) / 599.0).powi(3))
            .map(|a| DVec3::new(a.cos(), a.sin(), 0.0))
            .collect();

        let a = CubicSpline::fit(&even, 5).unwrap();
        let b = CubicSpline::fit(&slow_start, 5).unwrap();

        assert!((0..=20).all(|k| {
            a.at(f64::from(k) / 20.0)
                .distance(b.at(f64::from(k) / 20.0))
                < 1e-4
        }));
    }

    #[test]
    fn two_points_far_from_the_origin_are_enough_for_a_spline() {
        let ends = [DVec3::splat(1e6), DVec3::splat(1e6) + DVec3::X];
        let spline = CubicSpline::fit(&ends, 7).unwrap();
        assert!(spline.at(0.0).distance(ends[0]) < 1e-6 && spline.at(1.0).distance(ends[1]) < 1e-6);
        assert!(matches!(
            CubicSpline::fit(&ends, 3),
            Err(RigError::BadOption { .. })
        ));
    }
}
