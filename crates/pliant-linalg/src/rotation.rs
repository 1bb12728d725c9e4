//! The rotation nearest to a 3 × 3 matrix, and the rigid motion between two point sets.
//!
//! **Problem.** Split a deformation into rotation and stretch; align one pose with another.
//!
//! **Equation.** The proper rotation that maximises `tr(Rᵀ M)` is the unit quaternion
//! `q` that belongs to the largest eigenvalue of the symmetric 4 × 4 matrix
//!
//! ```text
//! K = ⎡ m₀₀+m₁₁+m₂₂   m₂₁−m₁₂        m₀₂−m₂₀        m₁₀−m₀₁      ⎤
//!     ⎢     ·         m₀₀−m₁₁−m₂₂    m₀₁+m₁₀        m₀₂+m₂₀      ⎥     (w, x, y, z)
//!     ⎢     ·             ·          m₁₁−m₀₀−m₂₂    m₁₂+m₂₁      ⎥
//!     ⎣     ·             ·              ·          m₂₂−m₀₀−m₁₁  ⎦
//! ```
//!
//! which is a rotation (det +1) for inverted and rank-deficient `M` alike, where the
//! polar factor would reflect or not exist. At the maximum `Rᵀ M` is symmetric.
//!
//! **Source.** Horn, "Closed-form solution of absolute orientation using unit
//! quaternions", 1987, section 4.A.
//!
//! **Departures.** Well-conditioned matrices take Newton's iteration for the polar factor
//! (Higham 1986, eq. 2.9: `X ← (γX + X⁻ᵀ/γ)/2`), which reaches the same rotation in a
//! quarter of the time; all others take the eigenvector by Jacobi sweeps.

use std::ops::Range;

use glam::{DMat3, DQuat, DVec3};

use crate::LinalgError;

/// Below this determinant of the matrix divided by the cube of its norm, Newton's iteration gives
/// way to Jacobi's.
const WELL_CONDITIONED: f64 = 1e-6;

/// Norms whose squared entries neither overflow nor underflow.
const SQUARABLE: Range<f64> = 1e-140..1e140;

/// The proper rotation nearest to `matrix` in the sense of the Frobenius norm.
///
/// Inverted and singular matrices give a rotation too; the zero matrix gives the identity.
/// A matrix with NaN or infinity gives NaN.
#[must_use]
pub fn nearest_rotation(matrix: DMat3) -> DMat3 {
    let norm = frobenius(&matrix);
    if !SQUARABLE.contains(&norm) {
        return nearest_rotation_of_extreme(matrix);
    }

    let scaled = matrix * (1.0 / norm); // No overflow or underflow below, in any unit.
    if scaled.determinant() > WELL_CONDITIONED {
        newton_polar(scaled)
    } else {
        DMat3::from_quat(horn_quaternion(&scaled))
    }
}

/// Matrices whose squared norm overflows or underflows, zero matrices and those that are not
/// finite.
#[cold]
fn nearest_rotation_of_extreme(matrix: DMat3) -> DMat3 {
    if !matrix.is_finite() {
        return DMat3::NAN;
    }
    match matrix
        .to_cols_array()
        .into_iter()
        .fold(0.0, |most: f64, entry| most.max(entry.abs()))
    {
        0.0 => DMat3::IDENTITY,
        largest => nearest_rotation(matrix * if largest > 1.0 { 1e-200 } else { 1e200 }),
    }
}

/// A rotation followed by a translation: `x ↦ rotation · x + translation`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RigidMotion {
    /// The rotation.
    pub rotation: DQuat,
    /// The translation, applied after the rotation.
    pub translation: DVec3,
}

impl RigidMotion {
    /// No motion.
    pub const IDENTITY: Self = Self {
        rotation: DQuat::IDENTITY,
        translation: DVec3::ZERO,
    };

    /// Where `point` goes.
    #[must_use]
    pub fn apply(&self, point: DVec3) -> DVec3 {
        self.rotation * point + self.translation
    }

    /// The motion between this one and another, at `share` from 0 to 1: it rotates about `center`,
    /// a point before either motion, which goes along a straight line. Both ends are exact.
    #[must_use]
    pub fn between(&self, to: &Self, share: f64, center: DVec3) -> Self {
        if share == 0.0 {
            return *self;
        }
        if share == 1.0 {
            return *to;
        }

        let rotation = self.rotation.slerp(to.rotation, share);
        Self {
            rotation,
            translation: self.apply(center).lerp(to.apply(center), share) - rotation * center,
        }
    }

    /// The motion that undoes this one.
    #[must_use]
    pub fn inverse(&self) -> Self {
        let rotation = self.rotation.conjugate();
        Self {
            rotation,
            translation: rotation * -self.translation,
        }
    }

    /// The motion that takes `from` to `to` with the least sum of weighted squared distances
    /// (Procrustes).
    ///
    /// One weight per point, or none for equal ones. Fewer than three points, or points on a line,
    /// leave the rotation undetermined; the result is then one of the best motions.
    pub fn fit(from: &[DVec3], to: &[DVec3], weights: Option<&[f64]>) -> Result<Self, LinalgError> {
        let expected = from.len();
        if to.len() != expected {
            return Err(LinalgError::Size {
                what: "the list of goal points",
                found: to.len(),
                expected,
            });
        }

        if let Some(found) = weights.map(<[f64]>::len).filter(|&found| found != expected) {
            return Err(LinalgError::Size {
                what: "the list of weights",
                found,
                expected,
            });
        }

        // Without any weight there is nothing to fit.
        let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
        let total: f64 = (0..expected).map(weight).sum();
        if total <= 0.0 {
            return Ok(Self::IDENTITY);
        }

        // The best translation maps one centroid onto the other; the rotation follows from the
        // covariance.
        let centroid =
            |points: &[DVec3]| (0..expected).map(|i| points[i] * weight(i)).sum::<DVec3>() / total;
        let (from_center, to_center) = (centroid(from), centroid(to));

        let mut covariance = DMat3::ZERO;
        for i in 0..expected {
            let p = (from[i] - from_center) * weight(i);
            let q = to[i] - to_center;
            covariance += outer(q, p);
        }

        let rotation = DQuat::from_mat3(&nearest_rotation(covariance)).normalize();
        Ok(Self {
            rotation,
            translation: to_center - rotation * from_center,
        })
    }
}

/// `a bᵀ`.
#[inline]
#[must_use]
pub fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

fn frobenius(m: &DMat3) -> f64 {
    (m.x_axis.length_squared() + m.y_axis.length_squared() + m.z_axis.length_squared()).sqrt()
}

/// Newton's iteration for the orthogonal polar factor of a matrix with positive determinant.
fn newton_polar(matrix: DMat3) -> DMat3 {
    let mut x = matrix;
    for _ in 0..20 {
        // Quadratic once close: 20 is twice what a determinant of WELL_CONDITIONED needs.
        let inverse_transpose = x.inverse().transpose();
        let gamma = (frobenius(&inverse_transpose) / frobenius(&x)).sqrt();
        let next = (x * gamma + inverse_transpose * (1.0 / gamma)) * 0.5;
        let change = frobenius(&(next - x));

        x = next;
        if change < 1e-8 {
            // The error after a step is the square of the change: one more, unscaled, is exact to
            // rounding.
            return (x + x.inverse().transpose()) * 0.5;
        }
    }

    x
}

/// The unit quaternion of the largest eigenvalue of Horn's matrix.
fn horn_quaternion(m: &DMat3) -> DQuat {
    let at = |row: usize, column: usize| m.col(column)[row];
    let (d0, d1, d2) = (at(0, 0), at(1, 1), at(2, 2));

    // Entries of Horn's matrix above the diagonal.
    let wx = at(2, 1) - at(1, 2);
    let wy = at(0, 2) - at(2, 0);
    let wz = at(1, 0) - at(0, 1);
    let xy = at(0, 1) + at(1, 0);
    let xz = at(0, 2) + at(2, 0);
    let yz = at(1, 2) + at(2, 1);

    let matrix = [
        [d0 + d1 + d2, wx, wy, wz],
        [wx, d0 - d1 - d2, xy, xz],
        [wy, xy, d1 - d0 - d2, yz],
        [wz, xz, yz, d2 - d0 - d1],
    ];

    let (values, vectors) = jacobi_eigen(matrix);
    let largest = (1..4).fold(0, |best, k| if values[k] > values[best] { k } else { best });
    let [w, x, y, z] = [0, 1, 2, 3].map(|row| vectors[row][largest]);

    DQuat::from_xyzw(x, y, z, w).normalize()
}

/// Eigenvalues and eigenvectors (as columns) of a small symmetric matrix by cyclic Jacobi
/// rotations.
pub(crate) fn jacobi_eigen<const N: usize>(mut a: [[f64; N]; N]) -> ([f64; N], [[f64; N]; N]) {
    let mut vectors = [[0.0; N]; N];
    for (k, row) in vectors.iter_mut().enumerate() {
        row[k] = 1.0;
    }

    for _ in 0..50 {
        // Stop where the entries beside the diagonal are rounding.
        let off: f64 = (0..N)
            .flat_map(|p| (0..p).map(move |q| (p, q)))
            .map(|(p, q)| a[p][q] * a[p][q])
            .sum();
        let diagonal: f64 = (0..N).map(|p| a[p][p] * a[p][p]).sum();
        if off <= f64::EPSILON * f64::EPSILON * diagonal || off.is_nan() {
            break;
        }

        for p in 0..N {
            for q in p + 1..N {
                jacobi_rotate(&mut a, &mut vectors, p, q);
            }
        }
    }

    (std::array::from_fn(|k| a[k][k]), vectors)
}

/// Zeroes `a[p][q]` by a plane rotation (Golub and Van Loan, algorithm 8.5.1).
fn jacobi_rotate<const N: usize>(
    a: &mut [[f64; N]; N],
    vectors: &mut [[f64; N]; N],
    p: usize,
    q: usize,
) {
    if a[p][q] == 0.0 {
        return;
    }

    // The smaller of the two angles, which keeps the rotation stable.
    let tau = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
    let t = tau.signum() / (tau.abs() + (1.0 + tau * tau).sqrt());
    let c = 1.0 / (1.0 + t * t).sqrt();
    let s = t * c;

    for row in a.iter_mut() {
        (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
    }
    for k in 0..N {
        (a[p][k], a[q][k]) = (c * a[p][k] - s * a[q][k], s * a[p][k] + c * a[q][k]);
    }
    for row in vectors.iter_mut() {
        (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn matrix() -> impl Strategy<Value = DMat3> {
        prop::array::uniform9(-1.0..1.0).prop_map(|m| DMat3::from_cols_array(&m))
    }

    fn assert_is_rotation(r: &DMat3) {
        assert!(
            frobenius(&(r.transpose() * *r - DMat3::IDENTITY)) < 1e-13,
            "{r:?}"
        );
        assert!((r.determinant() - 1.0).abs() < 1e-13, "{r:?}");
    }

    fn assert_symmetric(s: &DMat3, scale: f64) {
        assert!(frobenius(&(*s - s.transpose())) < 1e-11 * scale, "{s:?}");
    }

    proptest! {
        #[test]
        fn the_nearest_rotation_is_a_rotation_and_leaves_a_symmetric_stretch(m in matrix()) {
            let r = nearest_rotation(m);
            assert_is_rotation(&r);
            assert_symmetric(&(r.transpose() * m), 1.0);
        }

        #[test]
        fn no_other_rotation_is_nearer(m in matrix(), axis in prop::array::uniform3(-1.0..1.0_f64), angle in -3.0..3.0_f64) {
            let axis = DVec3::from_array(axis);
            prop_assume!(axis.length() > 0.01);
            let r = nearest_rotation(m);
            let other = DMat3::from_axis_angle(axis.normalize(), angle) * r;
            prop_assert!(frobenius(&(m - r)) <= frobenius(&(m - other)) + 1e-12);
        }

        #[test]
        fn rank_one_and_zero_matrices_have_a_rotation_too(a in prop::array::uniform3(-1.0..1.0_f64), b in prop::array::uniform3(-1.0..1.0_f64)) {
            let (a, b) = (DVec3::from_array(a), DVec3::from_array(b));
            let m = DMat3::from_cols(a * b.x, a * b.y, a * b.z);
            let r = nearest_rotation(m);
            assert_is_rotation(&r);
            assert_symmetric(&(r.transpose() * m), 1.0);
        }

        #[test]
        fn newton_and_jacobi_agree_on_well_conditioned_matrices(m in matrix()) {
            let m = m * (1.0 / frobenius(&m));
            prop_assume!(m.determinant() > 1e-3);
            let difference = newton_polar(m) - DMat3::from_quat(horn_quaternion(&m));
            prop_assert!(frobenius(&difference) < 1e-11);
        }

        #[test]
        fn the_nearest_rotation_does_not_depend_on_scale(m in matrix(), exponent in -300..300_i32) {
            let scaled = m * 10.0_f64.powi(exponent);
            prop_assert!(frobenius(&(nearest_rotation(scaled) - nearest_rotation(m))) < 1e-9);
        }
    }

    #[test]
    fn a_reflection_becomes_a_rotation() {
        let r = nearest_rotation(DMat3::from_diagonal(DVec3::new(3.0, 2.0, -1.0)));
        assert_eq!(r, DMat3::IDENTITY);
        assert_eq!(nearest_rotation(DMat3::ZERO), DMat3::IDENTITY);
    }

    #[test]
    fn nan_and_infinity_give_nan_rather_than_a_rotation() {
        for bad in [f64::NAN, f64::INFINITY] {
            for matrix in [
                DMat3::from_diagonal(DVec3::new(1.0, bad, 1.0)),
                DMat3::from_cols_array(&[bad; 9]),
            ] {
                assert!(nearest_rotation(matrix).is_nan());
            }
        }
    }

    #[test]
    fn a_known_motion_is_recovered_and_inverted() {
        let points: Vec<DVec3> = (0..9)
            .map(|i| DVec3::new((i * i % 7) as f64, (i * 3 % 5) as f64, i as f64))
            .collect();
        let planted = RigidMotion {
            rotation: DQuat::from_axis_angle(DVec3::new(1.0, 2.0, -1.0).normalize(), 2.5),
            translation: DVec3::new(4.0, -5.0, 6.0),
        };

        let moved: Vec<DVec3> = points.iter().map(|&p| planted.apply(p)).collect();
        let found = RigidMotion::fit(&points, &moved, None).unwrap();
        assert!(
            points
                .iter()
                .zip(&moved)
                .all(|(&p, &q)| found.apply(p).distance(q) < 1e-13 * 20.0)
        );

        assert!(
            points
                .iter()
                .all(|&p| found.inverse().apply(found.apply(p)).distance(p) < 1e-13 * 20.0)
        );
    }

    #[test]
    fn mirrored_points_are_fitted_by_a_rotation_not_a_reflection() {
        let points = [DVec3::X, DVec3::Y, DVec3::Z, DVec3::new(1.0, 2.0, 3.0)];
        let mirrored = points.map(|p| DVec3::new(-p.x, p.y, p.z));
        let misfit = |motion: &RigidMotion| {
            points
                .iter()
                .zip(&mirrored)
                .map(|(&p, &q)| motion.apply(p).distance_squared(q))
                .sum::<f64>()
        };

        let found = RigidMotion::fit(&points, &mirrored, None).unwrap();
        assert!(misfit(&found) > 0.1, "a mirror would fit exactly");
        for k in 0..200 {
            let axis = DVec3::new(
                (k % 7) as f64 - 3.0,
                (k % 5) as f64 - 2.0,
                (k % 3) as f64 - 0.9,
            )
            .normalize();
            for angle in [1e-3, 0.1, 1.0, 3.0] {
                let rotation = DQuat::from_axis_angle(axis, angle) * found.rotation;
                let center = |list: &[DVec3; 4]| list.iter().sum::<DVec3>() / 4.0;
                let other = RigidMotion {
                    rotation,
                    translation: center(&mirrored) - rotation * center(&points),
                };
                assert!(misfit(&found) <= misfit(&other) + 1e-12);
            }
        }
    }

    #[test]
    fn a_point_of_weight_zero_has_no_influence() {
        let from = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
        let to = [
            DVec3::ONE,
            DVec3::ONE + DVec3::X,
            DVec3::ONE + DVec3::Y,
            DVec3::splat(77.0),
        ];
        let found = RigidMotion::fit(&from, &to, Some(&[1.0, 1.0, 1.0, 0.0])).unwrap();
        assert!((0..3).all(|i| found.apply(from[i]).distance(to[i]) < 1e-14));
    }

    #[test]
    fn lists_of_wrong_length_are_declined() {
        let message = RigidMotion::fit(&[DVec3::X], &[], None)
            .unwrap_err()
            .to_string();
        assert!(
            message.contains("goal points") && message.contains('0'),
            "{message}"
        );
    }
}
