//! Corresponding triangles of two surfaces that lie on each other, by closest points.
//!
//! **Problem.** The source is registered onto the target. Find the source triangles under each
//! target triangle, and how much of it each of them covers.
//!
//! **Method.** Sample points spread evenly over the target triangle. Each takes the closest point of
//! the source among the triangles that face the same direction; the weight of a source triangle is
//! the number of samples that take it. A target triangle larger than the mean source triangle has
//! more samples, a small one has its centroid only.
//!
//! **Departures.** If all triangles that face the same direction are out of reach, the nearest one
//! that faces away is taken: it is the other side of the same part.

use pliant_linalg::parallel;
use pliant_mesh::glam::DVec3;
use pliant_mesh::{
    ClosestPoint, Mesh, SurfaceIndex, triangle_area, triangle_normal, triangle_normals,
};

use super::map_report::{Coverage, MatchedSources, REACH};
use crate::TransferError;
use crate::extent::size;

/// Target triangles in one parallel task.
const TRIANGLES_PER_TASK: usize = 64;

/// Most rows of sample points in a triangle: 36 points meet nearly all triangles below.
const MOST_ROWS: usize = 6;

/// The sources of every triangle of `target` on `source`, which lies on it.
pub(crate) fn match_surfaces(
    source: &Mesh,
    target: &Mesh,
) -> Result<Vec<MatchedSources>, TransferError> {
    let surface = SourceSurface {
        index: SurfaceIndex::new(source)?,
        normals: triangle_normals(source),
        reach: REACH * size(target),
    };
    // The mean area of a source triangle sets the density of samples.
    let grain = source.area() / source.triangles().len() as f64;

    let count = target.triangles().len();
    Ok(parallel::map(count, TRIANGLES_PER_TASK, |t| {
        let corners = target.triangle_points(t);
        let normal = triangle_normal(corners);
        let found: Vec<(ClosestPoint, Coverage)> = samples(corners, grain)
            .into_iter()
            .map(|point| surface.closest(point, normal))
            .collect();
        merge(&found)
    }))
}

/// The registered source.
struct SourceSurface {
    index: SurfaceIndex,
    normals: Vec<DVec3>,
    /// Beyond this distance a point is not covered.
    reach: f64,
}

impl SourceSurface {
    /// The closest point to a point of the target with this normal, and whether it covers it.
    fn closest(&self, point: DVec3, normal: DVec3) -> (ClosestPoint, Coverage) {
        let compatible = self
            .index
            .closest_point_where(point, |s| self.is_compatible(s, normal));
        if let Some(closest) = compatible
            && closest.distance <= self.reach
        {
            return (closest, Coverage::Covered);
        }

        // Nothing compatible within reach: flipped if something else is, uncovered if nothing is.
        let any = self
            .index
            .closest_point(point)
            .expect("a point of a finite mesh");
        if any.distance <= self.reach {
            (any, Coverage::Flipped)
        } else {
            (compatible.unwrap_or(any), Coverage::Uncovered)
        }
    }

    /// Triangles without area have no normal and are compatible with all others.
    fn is_compatible(&self, triangle: u32, normal: DVec3) -> bool {
        let own = self.normals[triangle as usize];
        normal == DVec3::ZERO || own == DVec3::ZERO || own.dot(normal) > 0.0
    }
}

/// The centroids of the `k²` congruent parts of a triangle, with `k` such that the area of each is
/// about `grain`.
fn samples([a, b, c]: [DVec3; 3], grain: f64) -> Vec<DVec3> {
    let parts = triangle_area([a, b, c]) / grain;
    let rows = if parts.is_finite() {
        (parts.sqrt().round() as usize).clamp(1, MOST_ROWS)
    } else {
        1
    };

    // Barycentric coordinates in thirds of a row: upright parts first, then inverted ones.
    let step = 1.0 / (3 * rows) as f64;
    let at = |i: usize, j: usize| a + (b - a) * (i as f64 * step) + (c - a) * (j as f64 * step);
    let mut points = Vec::with_capacity(rows * rows);
    for i in 0..rows {
        for j in 0..rows - i {
            points.push(at(3 * i + 1, 3 * j + 1));
        }
    }
    for i in 1..rows {
        for j in 1..=rows - i {
            points.push(at(3 * i - 1, 3 * j - 1));
        }
    }
    points
}

/// The sources of all samples in ascending order; the coverage is that of most samples.
fn merge(found: &[(ClosestPoint, Coverage)]) -> MatchedSources {
    let mut triangles: Vec<u32> = found
        .iter()
        .map(|(closest, _)| closest.place.triangle)
        .collect();
    // Sorted, so that rows do not depend on the order of samples.
    triangles.sort_unstable();
    let sources = triangles
        .chunk_by(|a, b| a == b)
        .map(|same| (same[0], same.len() as f64))
        .collect();

    let distances = found.iter().map(|(closest, _)| closest.distance);
    MatchedSources {
        sources,
        distance: distances.sum::<f64>() / found.len() as f64,
        coverage: coverage_of_most(found),
    }
}

fn coverage_of_most(found: &[(ClosestPoint, Coverage)]) -> Coverage {
    for lost in [Coverage::Flipped, Coverage::Uncovered] {
        let count = found.iter().filter(|(_, c)| *c == lost).count();
        if 2 * count > found.len() {
            return lost;
        }
    }
    Coverage::Covered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_samples_follows_the_area_and_their_mean_is_the_centroid() {
        let corners = [DVec3::ZERO, DVec3::X * 3.0, DVec3::new(1.0, 2.0, 0.5)];
        let area = triangle_area(corners);
        for rows in 1..=MOST_ROWS {
            let points = samples(corners, area / (rows * rows) as f64);
            assert_eq!(points.len(), rows * rows);
            let mean = points.iter().sum::<DVec3>() / points.len() as f64;
            assert!(mean.distance(corners.into_iter().sum::<DVec3>() / 3.0) < 1e-14);
        }
        assert_eq!(samples([DVec3::ONE; 3], area), vec![DVec3::ONE]);
    }
}
