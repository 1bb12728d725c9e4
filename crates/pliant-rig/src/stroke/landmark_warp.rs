//! Landmark warp: a similarity and a biharmonic interpolation from one face to another.
//!
//! **Problem.** Two faces have different meshes, sizes and proportions. A few landmarks are known
//! on both; points near them should be mapped accordingly.
//!
//! **Equation.** Landmarks `pᵢ` are mapped to `qᵢ`. A similarity `S(p) = s R (p − p̄) + q̄` is
//! fitted in least squares; its residual is interpolated with the biharmonic kernel `|r|` of space
//! and an affine part, in `u = (p − p̄) / ρ` with the root mean square radius `ρ` of the landmarks:
//!
//! ```text
//! W(p) = S(p) + Σᵢ wᵢ |u − uᵢ| + a + A u        W(pᵢ) = qᵢ,   Σ wᵢ = 0,   Σ wᵢ uᵢᵀ = 0
//! J(p) = s R + ( A + Σᵢ wᵢ (u − uᵢ)ᵀ / |u − uᵢ| ) / ρ
//! ```
//!
//! **Source.** Umeyama, "Least-squares estimation of transformation parameters between two point
//! patterns", 1991, for `S` (without mirroring); Duchon, "Splines minimizing rotation-invariant
//! semi-norms in Sobolev spaces", 1977, for the kernel.
//!
//! **Departures.** Fewer than four landmarks, or nearly coplanar ones, do not determine the affine
//! part: `S` alone is used. Landmarks on a line do not determine the rotation about it; the
//! smallest rotation is used. At a landmark, where `|r|` has a kink, the kernel does not contribute
//! to `J`.

use glam::{DMat3, DQuat, DVec3};
use pliant_linalg::{DenseMatrix, RigidMotion, Svd};
use pliant_mesh::MeshError;

use crate::RigError;

/// A smooth map of space that maps landmarks to landmarks.
#[derive(Debug, Clone, PartialEq)]
pub struct LandmarkWarp {
    /// `s R`.
    linear: DMat3,
    from_center: DVec3,
    to_center: DVec3,
    residual: Option<BiharmonicMap>,
}

/// The interpolated residual of the similarity.
#[derive(Debug, Clone, PartialEq)]
struct BiharmonicMap {
    /// `ρ`.
    radius: f64,
    /// `uᵢ` and `wᵢ`.
    centers: Vec<(DVec3, DVec3)>,
    /// `a`.
    shift: DVec3,
    /// `A`.
    affine: DMat3,
}

/// The dimension that landmarks span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
enum Span {
    Point,
    Line,
    Plane,
    Space,
}

impl LandmarkWarp {
    /// Landmarks whose least extent is below this part of the greatest count as coplanar. *Chosen*:
    /// below it, an error of a landmark by a hundredth of the face would invert the depth.
    const COPLANAR: f64 = 1e-2;
    /// The same for a line.
    const COLLINEAR: f64 = 1e-4;
    /// Singular values below this part of the largest are dropped: duplicate landmarks.
    const REPEATED: f64 = 1e-12;

    /// The map from each of `from` to its partner in `to`; needs at least one pair.
    pub fn fit(from: &[DVec3], to: &[DVec3]) -> Result<Self, RigError> {
        check_pairs(from, to)?;
        let from_center = from.iter().sum::<DVec3>() / from.len() as f64;
        let to_center = to.iter().sum::<DVec3>() / to.len() as f64;
        let p: Vec<DVec3> = from.iter().map(|v| *v - from_center).collect();
        let q: Vec<DVec3> = to.iter().map(|v| *v - to_center).collect();

        // The similarity.
        let span = span_of(&p)?;
        let rotation = best_rotation(&p, &q, span)?;
        let linear = DMat3::from_quat(rotation) * best_scale(&p, &q, rotation)?;

        // The interpolation of its residual.
        let residual = if from.len() >= 4 && span == Span::Space {
            let residuals: Vec<DVec3> = p.iter().zip(&q).map(|(p, q)| *q - linear * *p).collect();
            Some(BiharmonicMap::interpolate(&p, &residuals)?)
        } else {
            None
        };

        Ok(Self {
            linear,
            from_center,
            to_center,
            residual,
        })
    }

    /// Whether the map is only a similarity, because the landmarks do not determine more.
    #[must_use]
    pub fn is_similarity(&self) -> bool {
        self.residual.is_none()
    }

    /// The image of a point.
    #[must_use]
    pub fn apply(&self, point: DVec3) -> DVec3 {
        let offset = point - self.from_center;
        let residual = match &self.residual {
            Some(residual) => residual.at(offset),
            None => DVec3::ZERO,
        };
        self.linear * offset + residual + self.to_center
    }

    /// The linear map of small displacements at a point.
    #[must_use]
    pub fn jacobian(&self, point: DVec3) -> DMat3 {
        let residual = match &self.residual {
            Some(residual) => residual.jacobian(point - self.from_center),
            None => DMat3::ZERO,
        };
        self.linear + residual
    }
}

impl BiharmonicMap {
    fn interpolate(offsets: &[DVec3], residuals: &[DVec3]) -> Result<Self, RigError> {
        // Relative coordinates keep the system independent of the unit.
        let n = offsets.len();
        let radius = (offsets.iter().map(|p| p.length_squared()).sum::<f64>() / n as f64).sqrt();
        let u: Vec<DVec3> = offsets.iter().map(|p| *p / radius).collect();

        // The pseudo-inverse tolerates duplicate landmarks.
        let goals =
            DenseMatrix::from_fn(n + 4, 3, |i, c| if i < n { residuals[i][c] } else { 0.0 });
        let inverse = Svd::of(interpolation_matrix(&u).as_ref())
            .map_err(MeshError::from)?
            .pseudo_inverse(LandmarkWarp::REPEATED);
        let solved = &inverse * &goals;

        let row = |i: usize| DVec3::new(solved[(i, 0)], solved[(i, 1)], solved[(i, 2)]);
        Ok(Self {
            radius,
            centers: (0..n).map(|i| (u[i], row(i))).collect(),
            shift: row(n),
            affine: DMat3::from_cols(row(n + 1), row(n + 2), row(n + 3)),
        })
    }

    fn at(&self, offset: DVec3) -> DVec3 {
        let u = offset / self.radius;
        let kernels = self
            .centers
            .iter()
            .map(|(center, w)| *w * u.distance(*center));
        self.shift + self.affine * u + kernels.sum::<DVec3>()
    }

    fn jacobian(&self, offset: DVec3) -> DMat3 {
        let u = offset / self.radius;
        let mut sum = self.affine;
        for (center, w) in &self.centers {
            let gradient = (u - *center).normalize_or_zero();
            sum += DMat3::from_cols(*w * gradient.x, *w * gradient.y, *w * gradient.z);
        }
        sum * (1.0 / self.radius)
    }
}

/// Kernel rows with the affine part, then the side conditions `Σ w = 0` and `Σ w uᵀ = 0`.
fn interpolation_matrix(u: &[DVec3]) -> DenseMatrix<f64> {
    let n = u.len();
    let affine = |i: usize, k: usize| if k == 0 { 1.0 } else { u[i][k - 1] };
    DenseMatrix::from_fn(n + 4, n + 4, |i, j| match (i < n, j < n) {
        (true, true) => u[i].distance(u[j]),
        (true, false) => affine(i, j - n),
        (false, true) => affine(j, i - n),
        (false, false) => 0.0,
    })
}

fn check_pairs(from: &[DVec3], to: &[DVec3]) -> Result<(), RigError> {
    let expected = from.len().max(1);
    let found = to.len();
    if found != expected {
        return Err(RigError::Landmarks { found, expected });
    }

    match from
        .iter()
        .zip(to)
        .position(|(p, q)| !p.is_finite() || !q.is_finite())
    {
        Some(point) => Err(RigError::PointNotFinite {
            what: "the landmarks",
            point,
        }),
        None => Ok(()),
    }
}

fn span_of(offsets: &[DVec3]) -> Result<Span, RigError> {
    let matrix = DenseMatrix::from_fn(offsets.len().max(3), 3, |i, c| {
        offsets.get(i).map_or(0.0, |p| p[c])
    });
    let extents = Svd::of(matrix.as_ref()).map_err(MeshError::from)?.values;

    Ok(if extents[0] == 0.0 {
        Span::Point
    } else if extents[1] <= LandmarkWarp::COLLINEAR * extents[0] {
        Span::Line
    } else if extents[2] <= LandmarkWarp::COPLANAR * extents[0] {
        Span::Plane
    } else {
        Span::Space
    })
}

fn best_rotation(p: &[DVec3], q: &[DVec3], span: Span) -> Result<DQuat, RigError> {
    if span > Span::Line {
        return Ok(RigidMotion::fit(p, q, None)
            .map_err(MeshError::from)?
            .rotation);
    }

    // The farthest landmark gives the direction of the line.
    let mut farthest = 0;
    for k in 1..p.len() {
        if p[k].length_squared() > p[farthest].length_squared() {
            farthest = k;
        }
    }

    let from = p.get(farthest).and_then(|p| p.try_normalize());
    let to = q.get(farthest).and_then(|q| q.try_normalize());
    Ok(match (from, to) {
        (Some(from), Some(to)) => DQuat::from_rotation_arc(from, to),
        _ => DQuat::IDENTITY,
    })
}

fn best_scale(p: &[DVec3], q: &[DVec3], rotation: DQuat) -> Result<f64, RigError> {
    let size: f64 = p.iter().map(|p| p.length_squared()).sum();
    // Landmarks at one place have no size that could be compared.
    if size == 0.0 {
        return Ok(1.0);
    }

    let products = p.iter().zip(q).map(|(p, q)| (rotation * *p).dot(*q));
    let value = products.sum::<f64>() / size;
    if value > 0.0 && value.is_finite() {
        return Ok(value);
    }

    Err(RigError::BadOption {
        what: "the scale from the saved landmarks to the new ones",
        value,
        needed: "above 0; check their order",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn landmarks() -> Vec<DVec3> {
        (0..9)
            .map(f64::from)
            .map(|k| {
                DVec3::new(
                    (k * 1.3).sin() * 3.0,
                    (k * 2.1).cos() * 4.0,
                    (k * 0.7).sin() * 2.0 + 10.0,
                )
            })
            .collect()
    }

    /// A map that is no similarity.
    fn other_face(p: DVec3) -> DVec3 {
        DVec3::new(
            2.0 * p.x + 0.1 * p.y * p.y,
            1.5 * p.y + 0.3 * p.x,
            1.8 * p.z + 0.05 * p.x * p.y,
        )
    }

    #[test]
    fn landmarks_are_reached_and_the_jacobian_is_the_derivative() {
        let from = landmarks();
        let to: Vec<DVec3> = from.iter().map(|p| other_face(*p)).collect();
        let warp = LandmarkWarp::fit(&from, &to).unwrap();

        assert!(!warp.is_similarity());
        assert!(
            from.iter()
                .zip(&to)
                .all(|(p, q)| warp.apply(*p).distance(*q) < 1e-11)
        );

        let h = 1e-5;
        for p in [DVec3::new(0.3, -0.4, 9.5), DVec3::new(5.0, 1.0, 12.0)] {
            for axis in DVec3::AXES {
                let slope = (warp.apply(p + axis * h) - warp.apply(p - axis * h)) / (2.0 * h);
                assert!((warp.jacobian(p) * axis).distance(slope) < 1e-7, "{slope}");
            }
        }
    }

    #[test]
    fn similarities_and_affine_maps_are_kept_exactly() {
        let from = landmarks();
        let rotation = DMat3::from_axis_angle(DVec3::new(1.0, -2.0, 0.5).normalize(), 2.0) * 30.0;
        let shear = DMat3::from_cols_array(&[1.0, 0.2, -0.1, 0.4, 2.0, 0.3, 0.0, 0.5, 0.7]);

        for linear in [rotation, shear] {
            let carry = |p: DVec3| linear * p + DVec3::new(100.0, -5.0, 3.0);
            let warp =
                LandmarkWarp::fit(&from, &from.iter().map(|p| carry(*p)).collect::<Vec<_>>())
                    .unwrap();

            for p in [DVec3::ZERO, DVec3::new(9.0, 8.0, -7.0)] {
                assert!(warp.apply(p).distance(carry(p)) < 1e-10 * carry(p).length());
                assert!(
                    (warp.jacobian(p) * DVec3::ONE).distance(linear * DVec3::ONE) < 1e-10 * 30.0
                );
            }
        }
    }

    #[test]
    fn few_coplanar_or_collinear_landmarks_give_a_similarity() {
        let flat: Vec<DVec3> = landmarks()
            .iter()
            .map(|p| DVec3::new(p.x, p.y, 0.0))
            .collect();
        let straight: Vec<DVec3> = (0..5)
            .map(|k| DVec3::new(1.0, 2.0, 3.0) * f64::from(k))
            .collect();

        let rotation = DQuat::from_axis_angle(DVec3::new(0.0, 1.0, 1.0).normalize(), 0.8);
        for from in [
            flat,
            straight.clone(),
            landmarks()[..3].to_vec(),
            landmarks()[..1].to_vec(),
        ] {
            let same = LandmarkWarp::fit(&from, &from).unwrap();
            assert!(same.is_similarity());

            let p = DVec3::new(1.0, -3.0, 2.0);
            assert!(
                same.apply(p).distance(p) < 1e-13 * 30.0,
                "a face is mapped onto itself: {}",
                same.apply(p)
            );

            let to: Vec<DVec3> = from
                .iter()
                .map(|p| rotation * *p * 3.0 + DVec3::X)
                .collect();
            let moved = LandmarkWarp::fit(&from, &to).unwrap();

            // The scale of a single landmark is unknown, its position is not.
            assert!(
                from.iter()
                    .zip(&to)
                    .all(|(p, q)| moved.apply(*p).distance(*q) < 1e-12 * 40.0)
            );
        }
    }

    #[test]
    fn a_duplicate_landmark_does_not_change_the_map() {
        let mut from = landmarks();
        from.push(from[4]);
        let to: Vec<DVec3> = from.iter().map(|p| other_face(*p)).collect();
        let warp = LandmarkWarp::fit(&from, &to).unwrap();
        assert!(
            from.iter()
                .zip(&to)
                .all(|(p, q)| warp.apply(*p).distance(*q) < 1e-10)
        );
    }

    #[test]
    fn landmarks_that_do_not_pair_are_errors() {
        let from = landmarks();
        assert_eq!(
            LandmarkWarp::fit(&from, &from[1..]),
            Err(RigError::Landmarks {
                found: 8,
                expected: 9
            })
        );
        assert!(LandmarkWarp::fit(&[], &[]).is_err());
        assert!(matches!(
            LandmarkWarp::fit(&from[..1], &[DVec3::NAN]),
            Err(RigError::PointNotFinite { point: 0, .. })
        ));
        assert!(
            matches!(
                LandmarkWarp::fit(&from, &[DVec3::ONE; 9]),
                Err(RigError::BadOption { .. })
            ),
            "all coincide"
        );
    }
}
