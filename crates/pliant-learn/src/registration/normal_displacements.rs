//! How far a scan lies from a smooth surface, along its normals.
//!
//! **Problem.** The fine shape of a scan as one number for each vertex of a base surface.
//!
//! **Equation.** With the base's places `x` and unit normals `n`, the `h` of least magnitude, at
//! most a limit, for which
//!
//! ```text
//! x + h n  lies on the scan, where the scan faces the same way: n · n_scan > c
//! ```
//!
//! Where there is none, `h` is harmonic over the base between those that are known: `(L h)ᵢ = 0`.
//!
//! **Source.** Huang and others 2012, section 5, "a per-vertex displacement … along the vertex
//! normals".
//!
//! **Ours.** Rays run both ways. What faces away (the other side of a finger) is looked through;
//! what lies much farther along the normal than the scan lies from the vertex at all is another
//! layer, and a miss.

use pliant_linalg::{LeastSquares, SparseMatrix, parallel};
use pliant_mesh::glam::DVec3;
use pliant_mesh::{Laplacian, Mesh, SurfaceIndex, triangle_normals};

use crate::LearnError;

/// Vertices in one parallel task.
const VERTICES_PER_TASK: usize = 64;

/// The least cosine between the normals of a base and of the scan on it: 78°, steeper than wrinkles
/// are.
const FACING: f64 = 0.2;

/// A hit farther off than so many times the closest point is another layer of the scan: no slope
/// that [`FACING`] takes is this steep.
const OTHER_LAYER: f64 = 1.0 / FACING;

/// What rounding may add to the way to a scan that lies on the base, as a part of the limit.
const ROUNDING: f64 = 1e-9;

/// How far beside the normal a rim may be, as a part of the limit: rays slip past it by rounding.
const AT_RIM: f64 = 1e-3;

/// How weakly an unknown height is drawn to zero, which settles parts that no ray met at all.
const TO_ZERO: f64 = 1e-12;

/// A scan that rays and closest points are asked of.
#[derive(Debug, Clone)]
pub(crate) struct ScanSurface {
    index: SurfaceIndex,
    normals: Vec<DVec3>,
}

impl ScanSurface {
    /// A scan ready to be asked.
    ///
    /// # Errors
    /// A mesh without faces, positions that are not finite.
    pub(crate) fn new(scan: &Mesh) -> Result<Self, LearnError> {
        Ok(Self {
            index: SurfaceIndex::new(scan)?,
            normals: triangle_normals(scan),
        })
    }

    /// The way along `normal`, signed, to the scan; see [`normal_displacements`].
    fn height(&self, place: DVec3, normal: DVec3, limit: f64) -> Option<f64> {
        let same_way = |t: u32| self.normals[t as usize].dot(normal) > FACING;
        let closest = self.index.closest_point_within(place, limit, same_way)?;
        let (reach, limit) = (
            limit,
            limit.min(closest.distance * OTHER_LAYER + ROUNDING * limit),
        );
        let cast = |direction: DVec3, reach: f64| {
            self.index
                .cast_ray_where(place, direction, reach, same_way)
                .map(|hit| hit.distance)
        };
        let up = cast(normal, limit);
        let down = cast(-normal, up.unwrap_or(limit));
        match (up, down) {
            (Some(up), Some(down)) if down < up => Some(-down),
            (Some(up), _) => Some(up),
            (None, Some(down)) => Some(-down),
            (None, None) => {
                let offset = closest.point - place;
                let along = offset.dot(normal);
                (offset.distance(normal * along) < AT_RIM * reach).then_some(along)
            }
        }
    }
}

/// The height of a scan over each vertex of a base.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NormalDisplacements {
    /// Along the unit normal; zero where the scan was missed.
    pub(crate) heights: Vec<f64>,
    /// Vertices whose ray met no scan that faces their way, ascending.
    pub(crate) missed: Vec<u32>,
}

/// The height of `scan` over each of `positions` along unit `normals`, none larger than `limit`.
///
/// # Panics
/// If there is not one normal per position.
#[must_use]
pub(crate) fn normal_displacements(
    scan: &ScanSurface,
    positions: &[DVec3],
    normals: &[DVec3],
    limit: f64,
) -> NormalDisplacements {
    assert_eq!(positions.len(), normals.len(), "one normal per position");
    let found = parallel::map(positions.len(), VERTICES_PER_TASK, |v| {
        scan.height(positions[v], normals[v], limit)
    });
    let missed = (0..found.len())
        .filter(|&v| found[v].is_none())
        .map(|v| v as u32)
        .collect();
    NormalDisplacements {
        heights: found.into_iter().map(Option::unwrap_or_default).collect(),
        missed,
    }
}

impl NormalDisplacements {
    /// Heights with those of `unknown` vertices, ascending, replaced by what is smooth over `base`
    /// between the others.
    ///
    /// # Errors
    /// A base whose positions are not finite.
    pub(crate) fn filled(&self, base: &Mesh, unknown: &[u32]) -> Result<Vec<f64>, LearnError> {
        if unknown.is_empty() {
            return Ok(self.heights.clone());
        }
        let laplacian = Laplacian::robust(base)?;
        let mut is_unknown = vec![false; self.heights.len()];
        unknown.iter().for_each(|&v| is_unknown[v as usize] = true);
        let mut triplets = Vec::new();
        for (row, &v) in unknown.iter().enumerate() {
            let (neighbours, values) = laplacian.matrix.row(v as usize);
            triplets.extend(
                neighbours
                    .iter()
                    .zip(values)
                    .map(|(&c, &value)| (row as u32, c, value)),
            );
        }
        let flux = SparseMatrix::from_triplets(unknown.len(), self.heights.len(), &triplets);
        let soft: Vec<(usize, f64)> = unknown.iter().map(|&v| (v as usize, TO_ZERO)).collect();
        let known: Vec<usize> = (0..self.heights.len())
            .filter(|&v| !is_unknown[v])
            .collect();
        let values: Vec<f64> = known.iter().map(|&v| self.heights[v]).collect();
        Ok(LeastSquares::factor(&flux, &soft, &known)?.solve(
            &vec![0.0; unknown.len()],
            &vec![0.0; unknown.len()],
            &values,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::shapes::icosphere;
    use pliant_mesh::vertex_normals;

    fn scaled(mesh: &Mesh, factor: f64) -> Mesh {
        mesh.posed(mesh.positions().iter().map(|&p| p * factor).collect())
            .unwrap()
    }

    fn heights(scan: &Mesh, base: &Mesh, limit: f64) -> NormalDisplacements {
        normal_displacements(
            &ScanSurface::new(scan).unwrap(),
            base.positions(),
            &vertex_normals(base),
            limit,
        )
    }

    #[test]
    fn a_larger_and_a_smaller_ball_lie_above_and_below() {
        let base = icosphere(3);
        for (radius, limit) in [(1.05, 0.1), (0.95, 0.1)] {
            let found = heights(&scaled(&icosphere(4), radius), &base, limit);
            assert!(found.missed.is_empty());
            assert!(
                found
                    .heights
                    .iter()
                    .all(|h| (h - (radius - 1.0)).abs() < 4e-3),
                "{radius}"
            );
        }
    }

    #[test]
    fn what_faces_away_or_lies_beyond_the_limit_is_missed() {
        let base = icosphere(2);
        assert_eq!(
            heights(&scaled(&base, 1.2), &base, 0.1).missed.len(),
            base.vertex_count()
        );
        let inward: Vec<[u32; 3]> = base
            .triangles()
            .iter()
            .map(|&[a, b, c]| [a, c, b])
            .collect();
        let turned =
            Mesh::from_triangles(scaled(&base, 1.02).positions().to_vec(), &inward).unwrap();
        assert_eq!(
            heights(&turned, &base, 0.5).missed.len(),
            base.vertex_count()
        );
    }

    #[test]
    fn over_a_hole_heights_are_between_those_around_it() {
        let base = icosphere(3);
        let fine = icosphere(4);
        let lifted = fine
            .posed(
                fine.positions()
                    .iter()
                    .map(|&p| p * (1.05 + 0.02 * p.x))
                    .collect(),
            )
            .unwrap();
        let open: Vec<[u32; 3]> = {
            let low = |t: &&[u32; 3]| t.iter().all(|&v| lifted.positions()[v as usize].z < 0.9);
            lifted.triangles().iter().filter(low).copied().collect()
        };
        let scan = Mesh::from_triangles(lifted.positions().to_vec(), &open).unwrap();
        let found = heights(&scan, &base, 0.2);
        assert!(!found.missed.is_empty() && found.missed.len() < base.vertex_count() / 4);
        let filled = found.filled(&base, &found.missed).unwrap();
        let known = (0..filled.len()).filter(|v| !found.missed.contains(&(*v as u32)));
        assert!(known.clone().all(|v| filled[v] == found.heights[v]));
        for &v in &found.missed {
            let truth = 0.05 + 0.02 * base.positions()[v as usize].x;
            assert!(
                (filled[v as usize] - truth).abs() < 4e-3,
                "{} {truth}",
                filled[v as usize]
            );
        }
    }

    #[test]
    fn where_no_ray_meets_anything_the_base_stays() {
        let base = icosphere(1);
        let found = heights(&scaled(&base, 3.0), &base, 0.1);
        assert_eq!(
            found.filled(&base, &found.missed).unwrap(),
            vec![0.0; base.vertex_count()]
        );
    }
}
