//! Rigid alignment of a scan with the reference, by markers and by closest points (ICP).
//!
//! **Problem.** Each scan has its own coordinate system. After a rigid alignment, the remaining
//! difference is the deformation.
//!
//! **Equation.** Over corresponding points `pᵢ` of the scan and `qᵢ` of the reference, at least
//! three and not on a line:
//!
//! ```text
//! min_{R,t}  Σ |R pᵢ + t − qᵢ|²
//! ```
//!
//! Optionally refined by rounds in which `qᵢ` is the closest point of the reference, `nᵢ` its
//! normal, and a small rotation `ω` about the centre `c` and a translation `t` are added: `min Σ
//! (nᵢ · (pᵢ + ω × (pᵢ − c) + t − qᵢ))²`.
//!
//! **Source.** Huang et al. 2012, section 5; the refinement is that of Chen and Medioni,
//! "Object modelling by registration of multiple range images", 1992, trimmed after Chetverikov et
//! al., "The Trimmed Iterative Closest Point Algorithm", 2002.
//!
//! **Departures.** The refinement is optional: it helps if markers are few or inaccurate and most
//! of the scan has not moved.

use pliant_linalg::{LeastSquares, RigidMotion, SparseMatrix, parallel};
use pliant_mesh::glam::{DQuat, DVec3};
use pliant_mesh::{ClosestPoint, Mesh, SurfaceIndex, triangle_normal};
use pliant_transfer::{Markers, TransferError};

use crate::LearnError;

/// The fewest points that determine a rigid motion.
const FEWEST: usize = 3;

/// Distance from a line, relative to the extent, below which points are collinear.
const COLLINEAR: f64 = 1e-3;

/// Vertices of the scan in the refinement.
const SAMPLES: usize = 2000;

/// The part of them, the nearest ones, that each round uses.
const KEPT: f64 = 0.7;

/// Regularisation of motions that the planes leave open, such as the rotation of a ball.
const REGULARISATION: f64 = 1e-9;

/// Vertices in one parallel task.
const VERTICES_PER_TASK: usize = 64;

/// The rigid motion from `scan` to `reference` by `markers`, pairs of a reference vertex and a
/// scan vertex.
///
/// # Errors
/// Vertices that do not exist, fewer than three distinct pairs, or collinear points.
pub(super) fn align_by_markers(
    reference: &Mesh,
    scan: &Mesh,
    markers: &Markers,
) -> Result<RigidMotion, LearnError> {
    for (marker, &(a, b)) in markers.pairs().iter().enumerate() {
        // Both sides of a pair can be out of range.
        for (side, vertex, mesh) in [
            ("reference", a as usize, reference),
            ("scan", b as usize, scan),
        ] {
            if vertex >= mesh.vertex_count() {
                let vertices = mesh.vertex_count();
                return Err(TransferError::MarkerOutOfRange {
                    marker: markers.label(marker),
                    side,
                    vertex,
                    vertices,
                }
                .into());
            }
        }
    }

    let distinct = markers.distinct();
    if distinct.pairs().len() < FEWEST {
        return Err(LearnError::TooFewMarkers {
            found: distinct.pairs().len(),
            needed: FEWEST,
        });
    }

    let (to, from): (Vec<DVec3>, Vec<DVec3>) = distinct
        .pairs()
        .iter()
        .map(|&(a, b)| {
            (
                reference.positions()[a as usize],
                scan.positions()[b as usize],
            )
        })
        .unzip();

    // Collinear points leave the rotation about their line open.
    for (side, points) in [("reference", &to), ("scan", &from)] {
        if are_collinear(points) {
            return Err(LearnError::MarkersOnALine { side });
        }
    }

    Ok(RigidMotion::fit(&from, &to, None)?)
}

/// `start` refined by rounds of closest points, so that the part of `scan` that has moved least
/// coincides with `reference`.
///
/// # Errors
/// A mesh without faces, positions that are not finite.
pub(super) fn refine_by_closest_points(
    reference: &Mesh,
    scan: &Mesh,
    start: RigidMotion,
    rounds: usize,
) -> Result<RigidMotion, LearnError> {
    let index = SurfaceIndex::new(reference)?;
    // An even sample of the vertices is enough for six unknowns.
    let stride = scan.vertex_count().div_ceil(SAMPLES).max(1);
    let from: Vec<DVec3> = scan.positions().iter().step_by(stride).copied().collect();

    let mut motion = start;
    for _ in 0..rounds {
        let places = parallel::map(from.len(), VERTICES_PER_TASK, |k| motion.apply(from[k]));
        let closest = index.closest_points(&places)?;
        // Trimmed ICP: the part that has moved most does not count.
        let mut nearest: Vec<usize> = (0..from.len()).collect();
        nearest.sort_by(|&a, &b| closest[a].distance.total_cmp(&closest[b].distance));
        nearest.truncate(((from.len() as f64 * KEPT) as usize).max(FEWEST.min(from.len())));

        let step = small_step(
            reference,
            nearest.iter().map(|&k| (places[k], closest[k])).collect(),
        )?;

        motion = RigidMotion {
            rotation: (step.rotation * motion.rotation).normalize(),
            translation: step.apply(motion.translation),
        };
    }

    Ok(motion)
}

/// The small motion that minimises the distances of points from the planes of their closest points.
fn small_step(
    reference: &Mesh,
    pairs: Vec<(DVec3, ClosestPoint)>,
) -> Result<RigidMotion, LearnError> {
    let count = pairs.len() as f64;
    let center = pairs.iter().map(|(p, _)| *p).sum::<DVec3>() / count;
    let size = (pairs
        .iter()
        .map(|(p, _)| p.distance_squared(center))
        .sum::<f64>()
        / count)
        .sqrt();

    let mut triplets = Vec::with_capacity(6 * pairs.len());
    let mut goals = Vec::with_capacity(pairs.len());
    for (row, (p, closest)) in pairs.iter().enumerate() {
        let normal = triangle_normal(reference.triangle_points(closest.place.triangle as usize));
        // The rotation is measured by the displacement of a point at the distance `size`, so that
        // both parts have the same unit.
        let entries = [((*p - center) / size).cross(normal), normal]
            .map(|part| part.to_array())
            .concat();

        for (k, entry) in entries.into_iter().enumerate() {
            triplets.push((row as u32, k as u32, entry));
        }
        goals.push(normal.dot(closest.point - *p));
    }

    // Motions that the planes leave open are regularised to zero.
    let soft: Vec<(usize, f64)> = (0..6).map(|k| (k, REGULARISATION * count)).collect();
    let matrix = SparseMatrix::from_triplets(pairs.len(), 6, &triplets);
    let x = LeastSquares::factor(&matrix, &soft, &[])?.solve(&goals, &[0.0; 6], &[]);
    let rotation = DQuat::from_scaled_axis(DVec3::new(x[0], x[1], x[2]) / size);

    Ok(RigidMotion {
        rotation,
        translation: center + DVec3::new(x[3], x[4], x[5]) - rotation * center,
    })
}

fn are_collinear(points: &[DVec3]) -> bool {
    let first = points[0];
    let farthest = points.iter().fold(DVec3::ZERO, |best, p| {
        if (*p - first).length() > best.length() {
            *p - first
        } else {
            best
        }
    });

    let off = points
        .iter()
        .map(|p| (*p - first).cross(farthest).length())
        .fold(0.0, f64::max);

    off <= COLLINEAR * farthest.length_squared()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::glam::DQuat;
    use pliant_mesh::shapes::{bumpy_sheet, icosphere};

    fn motion() -> RigidMotion {
        RigidMotion {
            rotation: DQuat::from_scaled_axis(DVec3::new(0.7, -2.0, 1.1)),
            translation: DVec3::new(5.0, -30.0, 2.0),
        }
    }

    fn moved(mesh: &Mesh, motion: RigidMotion) -> Mesh {
        mesh.posed(mesh.positions().iter().map(|&p| motion.apply(p)).collect())
            .unwrap()
    }

    fn same(vertices: &[u32]) -> Markers {
        Markers::new(vertices.iter().map(|&v| (v, v)).collect())
    }

    #[test]
    fn three_markers_invert_a_rigid_motion() {
        let mesh = bumpy_sheet(8, 0.2);
        let scan = moved(&mesh, motion());
        let back = align_by_markers(&mesh, &scan, &same(&[0, 8, 40])).unwrap();
        let off = scan
            .positions()
            .iter()
            .zip(mesh.positions())
            .map(|(&p, q)| back.apply(p).distance(*q))
            .fold(0.0, f64::max);

        assert!(off < 1e-13 * 30.0, "{off:e}");
    }

    #[test]
    fn closest_points_correct_inaccurate_markers() {
        let mesh = icosphere(3);
        let mesh = mesh
            .posed(
                mesh.positions()
                    .iter()
                    .map(|&p| p * DVec3::new(3.0, 2.0, 1.0))
                    .collect(),
            )
            .unwrap();

        let careless = RigidMotion {
            rotation: DQuat::from_rotation_z(0.1),
            translation: DVec3::new(0.05, 0.02, -0.04),
        };
        let rough = moved(&mesh, careless);
        let off = |motion: RigidMotion| {
            let each = rough.positions().iter().zip(mesh.positions());
            (each
                .map(|(&p, q)| motion.apply(p).distance_squared(*q))
                .sum::<f64>()
                / mesh.vertex_count() as f64)
                .sqrt()
        };

        let refined = refine_by_closest_points(&mesh, &rough, RigidMotion::IDENTITY, 15).unwrap();
        assert!(
            off(refined) < 1e-3 * off(RigidMotion::IDENTITY),
            "{} {}",
            off(refined),
            off(RigidMotion::IDENTITY)
        );

        assert_eq!(
            refine_by_closest_points(&mesh, &rough, careless, 0).unwrap(),
            careless
        );
    }

    #[test]
    fn markers_that_determine_no_motion_are_rejected() {
        let sheet = bumpy_sheet(4, 0.0);
        let align = |markers: &Markers| align_by_markers(&sheet, &sheet, markers).unwrap_err();
        assert_eq!(
            align(&same(&[0, 24, 0])),
            LearnError::TooFewMarkers {
                found: 2,
                needed: 3
            }
        );

        assert_eq!(
            align(&same(&[0, 1, 2, 3])),
            LearnError::MarkersOnALine { side: "reference" }
        );

        let far = align(&Markers::new(vec![(0, 0), (1, 1), (2, 99)])).to_string();
        assert!(
            far.contains("marker 2") && far.contains("99") && far.contains("scan"),
            "{far}"
        );
    }
}
