//! Laying one shape over another when nobody says where its head is.
//!
//! **Problem.** Two shapes of unknown place, turn and size. Find the similarity that lays one over
//! the other, and know when another way round fits nearly as well.
//!
//! **Method.** The principal axes of both surfaces agree up to their signs: four turns. With the
//! turn that both files already share these are the candidates; each is refined by closest points
//! and judged by the mean distance and the disagreement of the normals in both directions.
//!
//! **Source.** Besl and McKay, "A method for registration of 3-D shapes", 1992.

use pliant_linalg::{DenseMatrix, RigidMotion, nearest_rotation, parallel, symmetric_eigen};
use pliant_mesh::glam::{DMat3, DQuat, DVec3};
use pliant_mesh::{Mesh, SurfaceIndex, triangle_normals, vertex_normals};

use crate::extent::{diagonal, moments};
use crate::{MapReport, Similarity, TransferError};

/// Vertices of each mesh that take part.
const SAMPLES: usize = 400;

/// Rounds of closest points for each candidate.
const ROUNDS: usize = 20;

/// Another way round that is worse by less than this factor is a doubt.
const CLEAR: f64 = 1.25;

/// Candidates that end within this angle of each other are one.
const SAME_TURN_RAD: f64 = 0.35;

/// Normals at right angles count as much as this distance, as a part of the diagonal.
const NORMAL_LENGTH: f64 = 0.1;

/// One way to lay a source over a target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AlignmentCandidate {
    /// Takes the source over the target.
    pub similarity: Similarity,
    /// How far apart the surfaces then are: distance over the diagonal, and a tenth for normals at
    /// right angles.
    pub misfit: f64,
    /// How good the map from there is, where it was tried.
    pub fitted: Option<MapReport>,
}

/// The ways a source lies over a target, and how clearly one is the best.
#[derive(Debug, Clone, PartialEq)]
pub struct Alignment {
    /// The best of each way round, the best of all first.
    pub candidates: Vec<AlignmentCandidate>,
}

impl Alignment {
    /// The best way.
    #[must_use]
    pub fn best(&self) -> &AlignmentCandidate {
        &self.candidates[0]
    }

    /// The ways that are nearly as good as the best, itself among them.
    pub(crate) fn likely(&self) -> usize {
        let most = CLEAR * self.best().misfit;
        self.candidates
            .iter()
            .take_while(|candidate| candidate.misfit <= most)
            .count()
    }

    /// Whether no other way round is nearly as good.
    #[must_use]
    pub fn is_sure(&self) -> bool {
        self.likely() == 1
    }

    /// A sentence where it is not sure.
    #[must_use]
    pub fn doubt(&self) -> Option<String> {
        let [best, other, ..] = self.candidates[..self.likely()] else {
            return None;
        };
        let between = other.similarity.motion.rotation * best.similarity.motion.rotation.inverse();
        let (axis, angle) = between.to_axis_angle();
        // A turn by more than half a circle is one by less about the opposite axis.
        let angle = angle.min(std::f64::consts::TAU - angle).to_degrees();
        let [x, y, z] = axis.to_array();
        Some(format!(
            "unsure: without markers the source turned by {angle:.0} degrees about ({x:.1}, {y:.1}, {z:.1}) fits as well (misfit {:.4} and \
             {:.4}); set at least four markers",
            other.misfit, best.misfit
        ))
    }
}

/// Lays `source` over `target` by their shapes alone.
///
/// # Errors
/// If a mesh has no faces or a position is not finite.
pub fn align(source: &Mesh, target: &Mesh) -> Result<Alignment, TransferError> {
    let (from, to) = (Shape::new(source)?, Shape::new(target)?);
    let starts = from.candidates(&to);
    let refined = parallel::map(starts.len(), 1, |k| {
        let similarity = from.refined(&to, starts[k])?;
        Ok(AlignmentCandidate {
            similarity,
            misfit: from.misfit(&to, similarity),
            fitted: None,
        })
    });
    let mut judged = refined
        .into_iter()
        .collect::<Result<Vec<_>, TransferError>>()?;
    judged.sort_by(|a, b| a.misfit.total_cmp(&b.misfit));
    let turn = |candidate: &AlignmentCandidate| candidate.similarity.motion.rotation;
    let mut candidates: Vec<AlignmentCandidate> = Vec::new();
    for next in judged {
        if candidates
            .iter()
            .all(|known| turn(known).angle_between(turn(&next)) > SAME_TURN_RAD)
        {
            candidates.push(next);
        }
    }
    Ok(Alignment { candidates })
}

/// Lays `source` over `target` by their shapes, when it is known how it is turned.
///
/// # Errors
/// As [`align`].
pub(crate) fn align_turned(
    source: &Mesh,
    target: &Mesh,
    turn: DQuat,
) -> Result<Similarity, TransferError> {
    let (from, to) = (Shape::new(source)?, Shape::new(target)?);
    from.refined(&to, from.placed(&to, turn))
}

/// A surface, some of its vertices and its principal axes.
struct Shape {
    index: SurfaceIndex,
    normals: Vec<DVec3>,
    points: Vec<DVec3>,
    point_normals: Vec<DVec3>,
    center: DVec3,
    /// Root mean square distance from the center.
    radius: f64,
    /// Columns, a right-handed basis.
    axes: DMat3,
    diagonal: f64,
}

impl Shape {
    fn new(mesh: &Mesh) -> Result<Self, TransferError> {
        let index = SurfaceIndex::new(mesh)?;
        let (center, covariance) = moments(mesh);
        let (_, vectors) = symmetric_eigen(
            DenseMatrix::from_fn(3, 3, |row, column| covariance.col(column)[row]).as_ref(),
        )?;
        let axis = |k: usize| DVec3::new(vectors[(0, k)], vectors[(1, k)], vectors[(2, k)]);
        let (x, y) = (axis(2), axis(1));
        let step = mesh.vertex_count().div_ceil(SAMPLES).max(1);
        let all_normals = vertex_normals(mesh);
        let used = (0..mesh.vertex_count())
            .filter(|&v| all_normals[v] != DVec3::ZERO)
            .step_by(step);
        let sampled: Vec<usize> = used.collect();
        Ok(Self {
            index,
            normals: triangle_normals(mesh),
            points: sampled.iter().map(|&v| mesh.positions()[v]).collect(),
            point_normals: sampled.iter().map(|&v| all_normals[v]).collect(),
            center,
            radius: (covariance.x_axis.x + covariance.y_axis.y + covariance.z_axis.z).sqrt(),
            axes: nearest_rotation(DMat3::from_cols(x, y, x.cross(y))),
            diagonal: diagonal(mesh),
        })
    }

    /// The turns that take principal axes to principal axes, and the one that both files share.
    fn candidates(&self, target: &Self) -> Vec<Similarity> {
        let signs = [
            DVec3::new(1.0, 1.0, 1.0),
            DVec3::new(1.0, -1.0, -1.0),
            DVec3::new(-1.0, 1.0, -1.0),
            DVec3::new(-1.0, -1.0, 1.0),
        ];
        let turns = signs.map(|sign| {
            DQuat::from_mat3(&(target.axes * DMat3::from_diagonal(sign) * self.axes.transpose()))
                .normalize()
        });
        std::iter::once(DQuat::IDENTITY)
            .chain(turns)
            .map(|turn| self.placed(target, turn))
            .collect()
    }

    /// Turned, as large as the target and on its center.
    fn placed(&self, target: &Self, rotation: DQuat) -> Similarity {
        let ratio = target.radius / self.radius;
        let scale = if ratio.is_finite() && ratio > 0.0 {
            ratio
        } else {
            1.0
        };
        let translation = target.center - rotation * (self.center * scale);
        Similarity {
            scale,
            motion: RigidMotion {
                rotation,
                translation,
            },
        }
    }

    /// Closest points and the best similarity in turn.
    fn refined(&self, target: &Self, start: Similarity) -> Result<Similarity, TransferError> {
        let mut similarity = start;
        for _ in 0..ROUNDS {
            let pair = |(&p, &n): (&DVec3, &DVec3)| {
                let (moved, normal) = (similarity.apply(p), similarity.motion.rotation * n);
                Some((p, target.closest(moved, normal)?.0))
            };
            let (from, to): (Vec<DVec3>, Vec<DVec3>) = self
                .points
                .iter()
                .zip(&self.point_normals)
                .filter_map(pair)
                .unzip();
            // Closest points alone would shrink the shape into the other; the size stays that of
            // the two surfaces.
            let scaled: Vec<DVec3> = from.iter().map(|&p| p * similarity.scale).collect();
            similarity.motion = RigidMotion::fit(&scaled, &to, None)?;
        }
        Ok(similarity)
    }

    /// The closest point that does not face away, and the normal there.
    fn closest(&self, point: DVec3, normal: DVec3) -> Option<(DVec3, DVec3)> {
        let found = self
            .index
            .closest_point_where(point, |t| self.normals[t as usize].dot(normal) > 0.0)?;
        Some((found.point, self.normals[found.place.triangle as usize]))
    }

    /// The mean over the points of both shapes, in parts of the target's diagonal.
    fn misfit(&self, target: &Self, similarity: Similarity) -> f64 {
        let turn = similarity.motion.rotation;
        let back = similarity.motion.inverse();
        let apart =
            |found: Option<(DVec3, DVec3)>, point: DVec3, normal: DVec3, scale: f64| match found {
                Some((place, facing)) => {
                    scale * place.distance(point) / target.diagonal
                        + NORMAL_LENGTH * (1.0 - facing.dot(normal))
                }
                None => 1.0,
            };
        let there = self.points.iter().zip(&self.point_normals).map(|(&p, &n)| {
            let (point, normal) = (similarity.apply(p), turn * n);
            apart(target.closest(point, normal), point, normal, 1.0)
        });
        let here = target
            .points
            .iter()
            .zip(&target.point_normals)
            .map(|(&q, &n)| {
                let (point, normal) = (back.apply(q) / similarity.scale, back.rotation * n);
                apart(self.closest(point, normal), point, normal, similarity.scale)
            });
        let mean = |sum: f64, count: usize| sum / count.max(1) as f64;
        0.5 * (mean(there.sum(), self.points.len()) + mean(here.sum(), target.points.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_shapes::lump;
    use pliant_mesh::shapes::icosphere;

    #[test]
    fn a_turned_and_scaled_copy_is_found_from_any_side() {
        let source = lump(3, 0.0);
        for axis in [
            DVec3::X,
            DVec3::new(0.3, 2.0, 1.0),
            DVec3::new(-2.0, 0.1, 1.5),
        ] {
            let turn = DQuat::from_scaled_axis(axis);
            let move_ = |p: DVec3| turn * p * 40.0 + DVec3::new(100.0, -30.0, 7.0);
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
                off < 1e-3 * diagonal(&target) && found.is_sure(),
                "{off} {found:?}"
            );
        }
    }

    #[test]
    fn a_shape_that_fits_both_ways_round_is_a_doubt() {
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
            !found.is_sure() && found.doubt().unwrap().contains("turned by 180 degrees"),
            "{found:?}"
        );
        assert_eq!(
            found.candidates.len(),
            4,
            "an egg of three different axes lies in itself in four ways"
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
                .doubt()
                .is_none()
        );
    }
}
