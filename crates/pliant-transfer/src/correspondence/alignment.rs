//! Alignment without markers: the similarity transformation that brings one shape onto another.
//!
//! **Problem.** Position, orientation and size of two shapes are unknown. Find the similarity that
//! aligns them, and report if another orientation fits almost as well.
//!
//! **Method.** The principal axes of both surfaces agree up to their signs, which gives four
//! rotations. These and the identity are the candidate orientations. Iterative closest points
//! refine each of them. The misfit is the mean distance plus the disagreement of the normals, in
//! both directions.
//!
//! **Source.** Besl and McKay, "A method for registration of 3-D shapes", 1992.

use pliant_linalg::{DenseMatrix, RigidMotion, nearest_rotation, parallel, symmetric_eigen};
use pliant_mesh::glam::{DMat3, DQuat, DVec3};
use pliant_mesh::{Mesh, SurfaceIndex, triangle_normals, vertex_normals};

use super::MapReport;
use crate::extent::{diagonal, moments};
use crate::{Similarity, TransferError};

/// Sample vertices of each mesh.
const SAMPLES: usize = 400;

/// Iterations of closest points for each candidate.
const ITERATIONS: usize = 20;

/// The best orientation is ambiguous if the misfit of another one is less than this factor larger.
const AMBIGUOUS_RATIO: f64 = 1.25;

/// Candidates whose rotations differ by less than this angle are the same.
const SAME_ROTATION_RAD: f64 = 0.35;

/// Perpendicular normals count as much as this distance, relative to the diagonal.
const NORMAL_LENGTH: f64 = 0.1;

/// One orientation of the source on the target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AlignmentCandidate {
    /// Takes the source to the target.
    pub similarity: Similarity,
    /// The mean distance of the aligned surfaces over the diagonal, plus 0.1 for perpendicular
    /// normals.
    pub misfit: f64,
    /// The report of the map from this orientation, if it was tried.
    pub fitted: Option<MapReport>,
}

/// The candidate orientations of a source on a target.
#[derive(Debug, Clone, PartialEq)]
pub struct Alignment {
    /// Distinct orientations in ascending order of their misfit.
    pub candidates: Vec<AlignmentCandidate>,
}

impl Alignment {
    /// The candidate with the lowest misfit.
    #[must_use]
    pub fn best(&self) -> &AlignmentCandidate {
        &self.candidates[0]
    }

    /// Number of candidates that fit almost as well as the best, including it.
    pub(crate) fn plausible_count(&self) -> usize {
        let most = AMBIGUOUS_RATIO * self.best().misfit;
        self.candidates
            .iter()
            .take_while(|candidate| candidate.misfit <= most)
            .count()
    }

    /// Whether no other orientation fits almost as well as the best.
    #[must_use]
    pub fn is_unambiguous(&self) -> bool {
        self.plausible_count() == 1
    }

    /// A warning if another orientation fits almost as well.
    #[must_use]
    pub fn ambiguity(&self) -> Option<String> {
        let [best, other, ..] = self.candidates[..self.plausible_count()] else {
            return None;
        };

        let between = other.similarity.motion.rotation * best.similarity.motion.rotation.inverse();
        let (axis, angle) = between.to_axis_angle();
        let [x, y, z] = axis.to_array();
        // A rotation by more than π is one by less than π about the opposite axis.
        let angle = angle.min(std::f64::consts::TAU - angle).to_degrees();

        Some(format!(
            "unsure: without markers, the source rotated by {angle:.0} degrees about ({x:.1}, {y:.1}, {z:.1}) fits as well (misfit {:.4} and \
             {:.4}); set at least four markers",
            other.misfit, best.misfit
        ))
    }
}

/// Aligns `source` with `target` by their shapes alone.
///
/// # Errors
/// If a mesh has no faces or a position is not finite.
pub fn align(source: &Mesh, target: &Mesh) -> Result<Alignment, TransferError> {
    let source = SampledShape::new(source)?;
    let target = SampledShape::new(target)?;
    let starts = source.candidates(&target);

    let refined = parallel::map(starts.len(), 1, |k| {
        let similarity = source.refined(&target, starts[k])?;
        Ok(AlignmentCandidate {
            similarity,
            misfit: source.misfit(&target, similarity),
            fitted: None,
        })
    });
    let mut refined = refined
        .into_iter()
        .collect::<Result<Vec<_>, TransferError>>()?;
    refined.sort_by(|a, b| a.misfit.total_cmp(&b.misfit));

    // Different starts may end in the same orientation; the first of these has the lowest misfit.
    let mut candidates: Vec<AlignmentCandidate> = Vec::new();
    for next in refined {
        if candidates.iter().all(|known| known.is_rotated_to(&next)) {
            candidates.push(next);
        }
    }
    Ok(Alignment { candidates })
}

impl AlignmentCandidate {
    /// Whether the two orientations differ.
    fn is_rotated_to(&self, other: &Self) -> bool {
        let rotation = self.similarity.motion.rotation;
        rotation.angle_between(other.similarity.motion.rotation) > SAME_ROTATION_RAD
    }
}

/// Aligns `source` with `target` by their shapes, with an approximate `rotation` given.
///
/// # Errors
/// As [`align`].
pub(crate) fn align_with_rotation(
    source: &Mesh,
    target: &Mesh,
    rotation: DQuat,
) -> Result<Similarity, TransferError> {
    let source = SampledShape::new(source)?;
    let target = SampledShape::new(target)?;
    source.refined(&target, source.centered_on(&target, rotation))
}

/// A surface with sample points and principal axes.
struct SampledShape {
    index: SurfaceIndex,
    triangle_normals: Vec<DVec3>,
    points: Vec<DVec3>,
    point_normals: Vec<DVec3>,
    center: DVec3,
    /// Root mean square distance from the center.
    radius: f64,
    /// Columns, a right-handed basis.
    axes: DMat3,
    diagonal: f64,
}

/// A point of a surface and the normal there.
#[derive(Clone, Copy)]
struct OrientedPoint {
    position: DVec3,
    normal: DVec3,
}

impl SampledShape {
    fn new(mesh: &Mesh) -> Result<Self, TransferError> {
        let index = SurfaceIndex::new(mesh)?;
        let (center, covariance) = moments(mesh);

        // Every k-th vertex that has a face.
        let normals = vertex_normals(mesh);
        let step = mesh.vertex_count().div_ceil(SAMPLES).max(1);
        let sampled: Vec<usize> = (0..mesh.vertex_count())
            .filter(|&v| normals[v] != DVec3::ZERO)
            .step_by(step)
            .collect();

        Ok(Self {
            index,
            triangle_normals: triangle_normals(mesh),
            points: sampled.iter().map(|&v| mesh.positions()[v]).collect(),
            point_normals: sampled.iter().map(|&v| normals[v]).collect(),
            center,
            radius: (covariance.x_axis.x + covariance.y_axis.y + covariance.z_axis.z).sqrt(),
            axes: principal_axes(covariance)?,
            diagonal: diagonal(mesh),
        })
    }

    /// The rotations that take principal axes to principal axes, and the identity: files often
    /// share an orientation.
    fn candidates(&self, target: &Self) -> Vec<Similarity> {
        // Signs of determinant one: the axes stay a right-handed basis.
        let signs = [
            DVec3::new(1.0, 1.0, 1.0),
            DVec3::new(1.0, -1.0, -1.0),
            DVec3::new(-1.0, 1.0, -1.0),
            DVec3::new(-1.0, -1.0, 1.0),
        ];

        let mut candidates = vec![self.centered_on(target, DQuat::IDENTITY)];
        for sign in signs {
            let rotation = target.axes * DMat3::from_diagonal(sign) * self.axes.transpose();
            let rotation = DQuat::from_mat3(&rotation).normalize();
            candidates.push(self.centered_on(target, rotation));
        }
        candidates
    }

    /// The similarity with this rotation that takes size and center to those of the target.
    fn centered_on(&self, target: &Self, rotation: DQuat) -> Similarity {
        let ratio = target.radius / self.radius;
        let scale = if ratio.is_finite() && ratio > 0.0 {
            ratio
        } else {
            1.0
        };

        // The scale acts first: x ↦ R (s x) + t.
        let translation = target.center - rotation * (self.center * scale);
        Similarity {
            scale,
            motion: RigidMotion {
                rotation,
                translation,
            },
        }
    }

    /// Iterative closest points from `start`.
    fn refined(&self, target: &Self, start: Similarity) -> Result<Similarity, TransferError> {
        let mut similarity = start;
        for _ in 0..ITERATIONS {
            let mut from = Vec::with_capacity(self.points.len());
            let mut to = Vec::with_capacity(self.points.len());
            for (&point, &normal) in self.points.iter().zip(&self.point_normals) {
                let moved = similarity.apply(point);
                let normal = similarity.motion.rotation * normal;
                if let Some(closest) = target.closest(moved, normal) {
                    // A fitted scale would shrink the shape into the other one; the scale of the
                    // start stays.
                    from.push(point * similarity.scale);
                    to.push(closest.position);
                }
            }
            similarity.motion = RigidMotion::fit(&from, &to, None)?;
        }
        Ok(similarity)
    }

    /// The closest point that does not face away.
    fn closest(&self, point: DVec3, normal: DVec3) -> Option<OrientedPoint> {
        let closest = self.index.closest_point_where(point, |t| {
            self.triangle_normals[t as usize].dot(normal) > 0.0
        })?;
        Some(OrientedPoint {
            position: closest.point,
            normal: self.triangle_normals[closest.place.triangle as usize],
        })
    }

    /// The mean misfit over the samples of both shapes, relative to the target's diagonal.
    fn misfit(&self, target: &Self, similarity: Similarity) -> f64 {
        let mut forward = 0.0;
        for (&position, &normal) in self.points.iter().zip(&self.point_normals) {
            let moved = OrientedPoint {
                position: similarity.apply(position),
                normal: similarity.motion.rotation * normal,
            };
            forward += target.misfit_of(moved, 1.0, target.diagonal);
        }

        // Backwards as well: otherwise a source that fits a small part of the target would fit.
        let inverse = similarity.motion.inverse();
        let mut backward = 0.0;
        for (&position, &normal) in target.points.iter().zip(&target.point_normals) {
            let moved = OrientedPoint {
                position: inverse.apply(position) / similarity.scale,
                normal: inverse.rotation * normal,
            };
            backward += self.misfit_of(moved, similarity.scale, target.diagonal);
        }

        0.5 * (forward / self.points.len().max(1) as f64
            + backward / target.points.len().max(1) as f64)
    }

    /// The misfit of one point; `scale` takes lengths of this shape to those of `diagonal`.
    fn misfit_of(&self, point: OrientedPoint, scale: f64, diagonal: f64) -> f64 {
        match self.closest(point.position, point.normal) {
            Some(closest) => {
                scale * closest.position.distance(point.position) / diagonal
                    + NORMAL_LENGTH * (1.0 - closest.normal.dot(point.normal))
            }
            None => 1.0,
        }
    }
}

/// The eigenvectors of a covariance, the largest first, as a right-handed basis.
fn principal_axes(covariance: DMat3) -> Result<DMat3, TransferError> {
    let matrix = DenseMatrix::from_fn(3, 3, |row, column| covariance.col(column)[row]);
    let (_, vectors) = symmetric_eigen(matrix.as_ref())?;

    // Eigenvalues are in ascending order.
    let first = DVec3::new(vectors[(0, 2)], vectors[(1, 2)], vectors[(2, 2)]);
    let second = DVec3::new(vectors[(0, 1)], vectors[(1, 1)], vectors[(2, 1)]);
    let axes = DMat3::from_cols(first, second, first.cross(second));
    Ok(nearest_rotation(axes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_shapes::lump;
    use pliant_mesh::shapes::icosphere;

    #[test]
    fn a_rotated_and_scaled_copy_is_aligned_from_any_orientation() {
        let source = lump(3, 0.0);
        for axis in [
            DVec3::X,
            DVec3::new(0.3, 2.0, 1.0),
            DVec3::new(-2.0, 0.1, 1.5),
        ] {
            let rotation = DQuat::from_scaled_axis(axis);
            let move_ = |p: DVec3| rotation * p * 40.0 + DVec3::new(100.0, -30.0, 7.0);
            let target = lump(3, 0.0)
                .posed(source.positions().iter().map(|&p| move_(p)).collect())
                .unwrap();
            let found = align(&source, &target).unwrap();

            let off = source
                .positions()
                .iter()
                .map(|&p| found.best().similarity.apply(p).distance(move_(p)))
                .fold(0.0, f64::max);

            assert!(
                off < 1e-3 * diagonal(&target) && found.is_unambiguous(),
                "{off} {found:?}"
            );
        }
    }

    #[test]
    fn a_shape_that_fits_in_several_orientations_gives_a_warning() {
        let ball = icosphere(3);
        let egg = ball
            .posed(
                ball.positions()
                    .iter()
                    .map(|&p| p * DVec3::new(3.0, 2.0, 1.0))
                    .collect(),
            )
            .unwrap();

        let found = align(&egg, &egg).unwrap();
        assert!(
            !found.is_unambiguous()
                && found
                    .ambiguity()
                    .unwrap()
                    .contains("rotated by 180 degrees"),
            "{found:?}"
        );

        assert_eq!(
            found.candidates.len(),
            4,
            "an egg of three different axes fits itself in four orientations"
        );

        assert!(
            found
                .candidates
                .iter()
                .all(|candidate| candidate.misfit < 0.01)
        );

        assert!(
            align(&lump(3, 0.0), &lump(3, 0.3))
                .unwrap()
                .ambiguity()
                .is_none()
        );
    }
}
