//! Displacements of a scan from a smooth surface along its normals (ray casting).
//!
//! **Problem.** Describe the fine shape of a scan by one number for each vertex of a base surface.
//!
//! **Equation.** With the positions `x` and unit normals `n` of the base, the `h` of least
//! magnitude, at most a limit, for which
//!
//! ```text
//! x + h n  lies on the scan, where the scan faces the same side: n · n_scan > c
//! ```
//!
//! Elsewhere, `h` is harmonic on the base between the known values: `(L h)ᵢ = 0`.
//!
//! **Source.** Huang et al. 2012, section 5, "a per-vertex displacement … along the vertex
//! normals".
//!
//! **Departures.** Rays are cast in both directions. Triangles that face the other side (the other
//! side of a finger) are ignored. A hit much farther along the normal than the closest point
//! belongs to another layer and is ignored too.

use pliant_linalg::{LeastSquares, SparseMatrix, parallel};
use pliant_mesh::glam::DVec3;
use pliant_mesh::{Laplacian, Mesh, SurfaceIndex, triangle_normals};

use crate::LearnError;

/// Vertices in one parallel task.
const VERTICES_PER_TASK: usize = 64;

/// The least cosine between the normals of base and scan: 78°, steeper than wrinkles.
const FACING: f64 = 0.2;

/// A hit at more than so many times the distance of the closest point belongs to another layer of
/// the scan: no slope that [`FACING`] accepts is this steep.
const OTHER_LAYER: f64 = 1.0 / FACING;

/// Tolerance for rounding when the scan coincides with the base, relative to the limit.
const ROUNDING: f64 = 1e-9;

/// The largest distance of a boundary from the normal, relative to the limit: by rounding, rays
/// miss boundaries that they should hit.
const AT_BOUNDARY: f64 = 1e-3;

/// Regularisation of unknown heights towards zero, for components without any hit.
const TO_ZERO: f64 = 1e-12;

/// A scan with an index for rays and closest points.
#[derive(Debug, Clone)]
pub(crate) struct ScanSurface {
    index: SurfaceIndex,
    normals: Vec<DVec3>,
}

impl ScanSurface {
    /// Builds the index of a scan.
    ///
    /// # Errors
    /// A mesh without faces, positions that are not finite.
    pub(crate) fn new(scan: &Mesh) -> Result<Self, LearnError> {
        Ok(Self {
            index: SurfaceIndex::new(scan)?,
            normals: triangle_normals(scan),
        })
    }

    /// The signed distance along `normal` to the scan; see [`normal_displacements`].
    fn height(&self, position: DVec3, normal: DVec3, limit: f64) -> Option<f64> {
        let same_side = |t: u32| self.normals[t as usize].dot(normal) > FACING;
        let closest = self
            .index
            .closest_point_within(position, limit, same_side)?;
        let same_layer = limit.min(closest.distance * OTHER_LAYER + ROUNDING * limit);

        let cast = |direction: DVec3, reach: f64| {
            self.index
                .cast_ray_where(position, direction, reach, same_side)
                .map(|hit| hit.distance)
        };
        // The shorter of the two hits counts.
        let up = cast(normal, same_layer);
        let down = cast(-normal, up.unwrap_or(same_layer));

        match (up, down) {
            (Some(up), Some(down)) if down < up => Some(-down),
            (Some(up), _) => Some(up),
            (None, Some(down)) => Some(-down),
            (None, None) => {
                // Both rays missed a boundary that lies on the normal up to rounding.
                let offset = closest.point - position;
                let along = offset.dot(normal);
                (offset.distance(normal * along) < AT_BOUNDARY * limit).then_some(along)
            }
        }
    }
}

/// The height of a scan over each vertex of a base.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NormalDisplacements {
    /// Along the unit normal; zero for missed rays.
    pub(crate) heights: Vec<f64>,
    /// Vertices whose ray hit no scan of the same side, ascending.
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
    // Vertices without a hit keep height zero until they are filled.
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
    /// Heights with those of the `unknown` vertices, ascending, replaced by harmonic interpolation
    /// on `base`.
    ///
    /// # Errors
    /// A base whose positions are not finite.
    pub(crate) fn filled(&self, base: &Mesh, unknown: &[u32]) -> Result<Vec<f64>, LearnError> {
        if unknown.is_empty() {
            return Ok(self.heights.clone());
        }

        let laplacian = Laplacian::robust(base)?;
        let mut is_unknown = vec![false; self.heights.len()];
        for &v in unknown {
            is_unknown[v as usize] = true;
        }

        // Rows of the Laplacian at unknown vertices; known heights are hard constraints.
        let mut triplets = Vec::new();
        for (row, &v) in unknown.iter().enumerate() {
            let (neighbours, values) = laplacian.matrix.row(v as usize);
            for (&c, &value) in neighbours.iter().zip(values) {
                triplets.push((row as u32, c, value));
            }
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
    fn a_larger_and_a_smaller_ball_have_positive_and_negative_heights() {
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
    fn surfaces_of_the_other_side_or_beyond_the_limit_are_missed() {
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

        // The scan has a hole at the north pole.
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
    fn without_any_hit_the_heights_are_zero() {
        let base = icosphere(1);
        let found = heights(&scaled(&base, 3.0), &base, 0.1);
        assert_eq!(
            found.filled(&base, &found.missed).unwrap(),
            vec![0.0; base.vertex_count()]
        );
    }
}
