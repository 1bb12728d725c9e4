//! Triangles of two surfaces that lie on each other.
//!
//! **Problem.** The source has been laid onto the target. Which of its triangles does a target
//! triangle lie on, and how much on each?
//!
//! **Method.** Points spread evenly over the target triangle ask for the closest point of the
//! source among the triangles that face the same way; each triangle found counts as often as it is
//! found. A large triangle asks with more points, so that it hears of every source triangle it
//! covers; a small one asks at its centroid.
//!
//! **Ours.** Where all that faces the same way is out of reach, the nearest facing away is the
//! other side of the same part, and better than anything far off.

use pliant_linalg::parallel;
use pliant_mesh::glam::DVec3;
use pliant_mesh::{
    ClosestPoint, Mesh, SurfaceIndex, triangle_area, triangle_normal, triangle_normals,
};

use crate::TransferError;
use crate::extent::size;
use crate::map_report::{Coverage, Partners, REACH};

/// Target triangles in one parallel task.
const TRIANGLES_PER_TASK: usize = 64;

/// Most rows of sample points in a triangle: 36 points see nearly all triangles below.
const MOST_ROWS: usize = 6;

/// The partners of every triangle of `target` on `source`, which lies on it.
pub(crate) fn match_surfaces(source: &Mesh, target: &Mesh) -> Result<Vec<Partners>, TransferError> {
    let index = SurfaceIndex::new(source)?;
    let normals = triangle_normals(source);
    let reach = REACH * size(target);
    let grain = source.area() / source.triangles().len() as f64;
    Ok(parallel::map(
        target.triangles().len(),
        TRIANGLES_PER_TASK,
        |t| {
            let corners = target.triangle_points(t);
            let normal = triangle_normal(corners);
            let compatible = |s: u32| {
                normal == DVec3::ZERO
                    || normals[s as usize] == DVec3::ZERO
                    || normals[s as usize].dot(normal) > 0.0
            };
            let found: Vec<(ClosestPoint, Coverage)> = samples(corners, grain)
                .into_iter()
                .map(|point| {
                    let fitting = index.closest_point_where(point, compatible);
                    match fitting.filter(|closest| closest.distance <= reach) {
                        Some(closest) => (closest, Coverage::Covered),
                        None => beyond_reach(
                            fitting,
                            index
                                .closest_point(point)
                                .expect("a point of a finite mesh"),
                            reach,
                        ),
                    }
                })
                .collect();
            merge(&found)
        },
    ))
}

/// What to take when nothing that faces the same way is in reach.
fn beyond_reach(
    fitting: Option<ClosestPoint>,
    any: ClosestPoint,
    reach: f64,
) -> (ClosestPoint, Coverage) {
    if any.distance <= reach {
        (any, Coverage::Flipped)
    } else {
        (fitting.unwrap_or(any), Coverage::Uncovered)
    }
}

/// The centroids of the `k²` equal parts of a triangle, with `k` so that each is about as large as
/// `grain`, or as small as `k` may make it.
fn samples([a, b, c]: [DVec3; 3], grain: f64) -> Vec<DVec3> {
    let parts = triangle_area([a, b, c]) / grain;
    let rows = if parts.is_finite() {
        (parts.sqrt().round() as usize).clamp(1, MOST_ROWS)
    } else {
        1
    };
    let step = 1.0 / (3 * rows) as f64;
    let at = |i: usize, j: usize| a + (b - a) * (i as f64 * step) + (c - a) * (j as f64 * step);
    let upright = (0..rows).flat_map(|i| (0..rows - i).map(move |j| (3 * i + 1, 3 * j + 1)));
    let inverted = (1..rows).flat_map(|i| (1..=rows - i).map(move |j| (3 * i - 1, 3 * j - 1)));
    upright.chain(inverted).map(|(i, j)| at(i, j)).collect()
}

/// Sources counted over the samples, in the order of their numbers; the coverage of most samples.
fn merge(found: &[(ClosestPoint, Coverage)]) -> Partners {
    let mut triangles: Vec<u32> = found
        .iter()
        .map(|(closest, _)| closest.place.triangle)
        .collect();
    triangles.sort_unstable();
    let sources = triangles
        .chunk_by(|a, b| a == b)
        .map(|same| (same[0], same.len() as f64))
        .collect();
    let distance = found
        .iter()
        .map(|(closest, _)| closest.distance)
        .sum::<f64>()
        / found.len() as f64;
    let count = |coverage| found.iter().filter(|(_, c)| *c == coverage).count();
    let coverage = match [Coverage::Flipped, Coverage::Uncovered]
        .into_iter()
        .find(|&c| 2 * count(c) > found.len())
    {
        Some(lost) => lost,
        None => Coverage::Covered,
    };
    Partners {
        sources,
        distance,
        coverage,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_as_many_as_the_area_asks_and_balance_about_the_centroid() {
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
