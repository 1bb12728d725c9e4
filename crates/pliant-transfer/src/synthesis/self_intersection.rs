//! Self-intersection removal: separates triangles that intersect in a pose but not at rest.
//!
//! **Problem.** A target with thicker legs than the source pushes them into each other. Triangles
//! that already intersect in the rest pose (teeth in gums) are intended and stay.
//!
//! **Method.** A pair of intersecting triangles is *new* unless the rest pose has an intersection
//! between the same two or their neighbours. New pairs are separated in iterations: with the outward
//! normals `n_s`, `n_t` of a pair and the depth `h` by which the shallower one is behind the plane
//! of the other, the corners have the goals
//!
//! ```text
//! g_s = h/2 · n,   g_t = −h/2 · n,   n = (n_t − n_s) / |n_t − n_s|
//! ```
//!
//! and a displacement field `d` follows them over a patch of `PATCH_RINGS` rings:
//!
//! ```text
//! min_d Σ_i |d_i − mean_{j~i} d_j|² + κ Σ_v |d_v − g_v|²,   d = 0 outside the patch
//! ```
//!
//! until nothing intersects, or the correction exceeds `LARGEST_CORRECTION` of the diagonal. The
//! pose with the fewest intersections is kept.
//!
//! **Departures.** The method is our own. Depths are those of single triangles, so deep
//! intersections take several iterations, and slight ones move the surface little. A pose without
//! new pairs is unchanged.

use std::collections::VecDeque;

use pliant_linalg::{LeastSquares, SparseMatrix};
use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, triangle_normal};

use crate::TransferError;
use crate::extent::diagonal;

/// Most iterations. Measured: legs that overlap by half a leg need about twenty.
const MOST_ITERATIONS: usize = 40;

/// The largest displacement of a vertex, relative to the diagonal. Chosen: more is another pose.
const LARGEST_CORRECTION: f64 = 0.03;

/// Edges from an intersection to the fixed surface. Chosen: wide enough that a dent is no crease.
const PATCH_RINGS: usize = 8;

/// `κ`: the weight of the goals relative to the smoothness.
const GOAL_WEIGHT: f64 = 4.0;

/// Distance between separated triangles, relative to their size.
const MARGIN: f64 = 1e-2;

/// A vertex outside the patch.
const OUTSIDE: u32 = u32::MAX;

/// Removes the self-intersections of poses of a mesh that its rest pose does not have.
#[derive(Debug, Clone)]
pub struct SelfIntersectionRemoval<'a> {
    rest: &'a Mesh,
    /// Pairs that intersect at rest, ascending.
    at_rest: Vec<[u32; 2]>,
    diagonal: f64,
}

/// The result of the removal for one pose.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SelfIntersectionReport {
    /// New pairs of intersecting triangles before.
    pub before: usize,
    /// New pairs of intersecting triangles after.
    pub after: usize,
    /// The largest displacement of a vertex, in the units of the mesh.
    pub largest_correction: f64,
}

/// The vertices around intersections.
struct Patch {
    vertices: Vec<u32>,
    /// The index of each vertex of the mesh among `vertices`, or [`OUTSIDE`].
    index_of: Vec<u32>,
}

impl<'a> SelfIntersectionRemoval<'a> {
    /// Finds the intersections at rest.
    ///
    /// # Errors
    /// Positions that are not finite.
    pub fn new(rest: &'a Mesh) -> Result<Self, TransferError> {
        Ok(Self {
            rest,
            at_rest: rest.self_intersections()?,
            diagonal: diagonal(rest),
        })
    }

    /// The pairs of triangles that intersect in a pose and not at rest, ascending.
    ///
    /// # Errors
    /// Another number of positions than vertices, or positions that are not finite.
    pub fn new_pairs(&self, positions: &[DVec3]) -> Result<Vec<[u32; 2]>, TransferError> {
        let mut pairs = self.rest.posed(positions.to_vec())?.self_intersections()?;
        if !self.at_rest.is_empty() {
            pairs.retain(|&[s, t]| !self.intersects_at_rest(s, t));
        }
        Ok(pairs)
    }

    /// Whether the pair or some of their neighbours intersect at rest.
    fn intersects_at_rest(&self, s: u32, t: u32) -> bool {
        let near_t = self.neighborhood(t);
        for a in self.neighborhood(s) {
            for &b in &near_t {
                let pair = [a.min(b), a.max(b)];
                if self.at_rest.binary_search(&pair).is_ok() {
                    return true;
                }
            }
        }
        false
    }

    /// The triangle and all that share a corner with it.
    fn neighborhood(&self, t: u32) -> Vec<u32> {
        let around = self.rest.topology().vertex_triangles();
        let mut near = Vec::new();
        for &v in &self.rest.triangles()[t as usize] {
            near.extend_from_slice(around.row(v as usize));
        }
        near.sort_unstable();
        near.dedup();
        near
    }

    /// Counts the new intersections and changes nothing.
    ///
    /// # Errors
    /// As [`new_pairs`](Self::new_pairs).
    pub fn count(&self, positions: &[DVec3]) -> Result<SelfIntersectionReport, TransferError> {
        let count = self.new_pairs(positions)?.len();
        Ok(SelfIntersectionReport {
            before: count,
            after: count,
            largest_correction: 0.0,
        })
    }

    /// Removes the new intersections of `positions`, as far as small corrections can.
    ///
    /// # Errors
    /// As [`new_pairs`](Self::new_pairs).
    pub fn remove(&self, positions: &mut [DVec3]) -> Result<SelfIntersectionReport, TransferError> {
        let mut pairs = self.new_pairs(positions)?;
        let mut report = SelfIntersectionReport {
            before: pairs.len(),
            after: pairs.len(),
            largest_correction: 0.0,
        };
        if pairs.is_empty() {
            return Ok(report);
        }

        // An iteration may create new intersections; the best pose so far is in `positions`.
        let start = positions.to_vec();
        let mut pose = positions.to_vec();
        for _ in 0..MOST_ITERATIONS {
            self.separate(&pairs, &mut pose)?;
            let correction = largest_distance(&pose, &start);
            if correction > LARGEST_CORRECTION * self.diagonal {
                break;
            }

            pairs = self.new_pairs(&pose)?;
            if pairs.len() < report.after {
                positions.copy_from_slice(&pose);
                report.after = pairs.len();
                report.largest_correction = correction;
            }
            if pairs.is_empty() {
                break;
            }
        }
        Ok(report)
    }

    /// One iteration: moves the corners of intersecting triangles and a patch around them.
    fn separate(&self, pairs: &[[u32; 2]], pose: &mut [DVec3]) -> Result<(), TransferError> {
        let goals = self.goals(pairs, pose);
        let patch = self.patch(&goals);
        let mut weights = Vec::with_capacity(goals.len());
        let mut shifts = Vec::with_capacity(goals.len());
        for &(v, shift) in &goals {
            weights.push((patch.index_of[v as usize] as usize, GOAL_WEIGHT));
            shifts.push(shift);
        }

        // Soft constraints: opposing goals of neighbours need not be met exactly.
        let smoothness = self.smoothness(&patch);
        let zeros = vec![DVec3::ZERO; smoothness.rows()];
        let field =
            LeastSquares::factor(&smoothness, &weights, &[])?.solve_points(&zeros, &shifts, &[]);
        for (&v, shift) in patch.vertices.iter().zip(field) {
            pose[v as usize] += shift;
        }
        Ok(())
    }

    /// For each corner of an intersecting triangle, ascending, the direction of the mean of its
    /// goals, with the length of the longest.
    fn goals(&self, pairs: &[[u32; 2]], pose: &[DVec3]) -> Vec<(u32, DVec3)> {
        let mut shifts: Vec<(u32, DVec3)> = Vec::new();
        for &pair in pairs {
            let [first, second] = pair.map(|t| self.rest.triangles()[t as usize]);
            let s = first.map(|v| pose[v as usize]);
            let t = second.map(|v| pose[v as usize]);
            let shift = separating_shift(s, t) * 0.5;
            shifts.extend(first.map(|v| (v, shift)));
            shifts.extend(second.map(|v| (v, -shift)));
        }

        // Goals of one vertex may oppose each other; the longest one keeps the step from vanishing.
        shifts.sort_by_key(|(v, _)| *v);
        let mut goals = Vec::new();
        for of_vertex in shifts.chunk_by(|a, b| a.0 == b.0) {
            let mut sum = DVec3::ZERO;
            let mut longest: f64 = 0.0;
            for (_, shift) in of_vertex {
                sum += *shift;
                longest = longest.max(shift.length());
            }
            goals.push((of_vertex[0].0, sum.normalize_or_zero() * longest));
        }
        goals
    }

    /// The vertices within `PATCH_RINGS` edges of the vertices of `goals`.
    fn patch(&self, goals: &[(u32, DVec3)]) -> Patch {
        let mut patch = Patch {
            vertices: Vec::new(),
            index_of: vec![OUTSIDE; self.rest.vertex_count()],
        };
        let mut queue = VecDeque::new();
        for &(v, _) in goals {
            if patch.insert(v) {
                queue.push_back((v, 0));
            }
        }

        let neighbors = self.rest.topology().vertex_neighbors();
        // Breadth-first, so that `ring` is the number of edges to the nearest goal.
        while let Some((v, ring)) = queue.pop_front() {
            if ring == PATCH_RINGS {
                continue;
            }
            for &w in neighbors.row(v as usize) {
                if patch.insert(w) {
                    queue.push_back((w, ring + 1));
                }
            }
        }
        patch
    }

    /// The rows `d_i − mean_{j~i} d_j` of the vertices of the patch and their neighbours, where `d`
    /// is zero outside the patch.
    fn smoothness(&self, patch: &Patch) -> SparseMatrix {
        let neighbors = self.rest.topology().vertex_neighbors();
        let mut centers = patch.vertices.clone();
        for &v in &patch.vertices {
            centers.extend_from_slice(neighbors.row(v as usize));
        }
        centers.sort_unstable();
        centers.dedup();

        let mut triplets = Vec::new();
        // Rows of neighbours outside the patch make the field fade to zero at its border.
        for (row, &v) in centers.iter().enumerate() {
            let around = neighbors.row(v as usize);
            for &w in around {
                let column = patch.index_of[w as usize];
                if column != OUTSIDE {
                    triplets.push((row as u32, column, -1.0 / around.len() as f64));
                }
            }
            let column = patch.index_of[v as usize];
            if column != OUTSIDE {
                triplets.push((row as u32, column, 1.0));
            }
        }
        SparseMatrix::from_triplets(centers.len(), patch.vertices.len(), &triplets)
    }
}

impl Patch {
    /// Adds a vertex; false if the patch has it.
    fn insert(&mut self, v: u32) -> bool {
        let index = &mut self.index_of[v as usize];
        if *index != OUTSIDE {
            return false;
        }
        *index = self.vertices.len() as u32;
        self.vertices.push(v);
        true
    }
}

fn largest_distance(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter()
        .zip(b)
        .map(|(a, b)| a.distance(*b))
        .fold(0.0, f64::max)
}

/// The shift of the first triangle relative to the second after which one of them is no longer
/// behind the plane of the other.
fn separating_shift(s: [DVec3; 3], t: [DVec3; 3]) -> DVec3 {
    let normal_s = triangle_normal(s);
    let normal_t = triangle_normal(t);
    let depth = depth_behind(s, normal_t, t[0]).min(depth_behind(t, normal_s, s[0]));
    let size = (s[1] - s[0]).cross(s[2] - s[0]).length().sqrt();
    (normal_t - normal_s).normalize_or(normal_t) * (depth + MARGIN * size)
}

/// The largest depth of `points` behind the plane through `on` with this normal.
fn depth_behind(points: [DVec3; 3], normal: DVec3, on: DVec3) -> f64 {
    points
        .map(|p| normal.dot(on - p))
        .into_iter()
        .fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::shapes::icosphere;

    /// Two fingers side by side: long balls of half width 0.5 whose axes are `apart`.
    fn fingers(apart: f64) -> Mesh {
        let ball = icosphere(3);
        let n = ball.vertex_count() as u32;
        let finger = |x: f64| {
            ball.positions()
                .iter()
                .map(move |p| DVec3::new(0.5 * p.x + x, 2.0 * p.y, 0.5 * p.z))
        };

        let triangles: Vec<[u32; 3]> = ball
            .triangles()
            .iter()
            .copied()
            .chain(ball.triangles().iter().map(|t| t.map(|v| v + n)))
            .collect();

        Mesh::from_triangles(finger(0.0).chain(finger(apart)).collect(), &triangles).unwrap()
    }

    fn farthest(a: &[DVec3], b: &[DVec3]) -> f64 {
        a.iter()
            .zip(b)
            .map(|(p, q)| p.distance(*q))
            .fold(0.0, f64::max)
    }

    #[test]
    fn overlapping_fingers_are_separated_by_about_their_overlap() {
        for size in [1e-3, 1.0, 1e3] {
            let scaled = |apart: f64| {
                fingers(apart)
                    .positions()
                    .iter()
                    .map(|p| *p * size)
                    .collect::<Vec<_>>()
            };

            let rest = fingers(1.1).posed(scaled(1.1)).unwrap();
            let (before, mut after) = (scaled(0.95), scaled(0.95));
            let report = SelfIntersectionRemoval::new(&rest)
                .unwrap()
                .remove(&mut after)
                .unwrap();

            assert!(report.before > 0 && report.after == 0, "{report:?}");
            assert!(
                rest.posed(after.clone())
                    .unwrap()
                    .self_intersections()
                    .unwrap()
                    .is_empty()
            );

            // Each gives way by half of the overlap of 0.05, and no more than what a triangle's
            // size adds.
            let moved = farthest(&before, &after);

            assert!(
                moved == report.largest_correction && moved > 0.02 * size && moved < 0.1 * size,
                "{moved}"
            );
        }
    }

    #[test]
    fn a_pose_without_intersections_does_not_change_by_a_bit() {
        let rest = fingers(1.1);
        let pose = fingers(1.01).positions().to_vec();
        let mut after = pose.clone();
        let report = SelfIntersectionRemoval::new(&rest)
            .unwrap()
            .remove(&mut after)
            .unwrap();

        assert_eq!(
            (report, after),
            (
                SelfIntersectionReport {
                    before: 0,
                    after: 0,
                    largest_correction: 0.0
                },
                pose
            )
        );
    }

    #[test]
    fn intersections_at_rest_do_not_count_even_if_they_move_a_little() {
        let rest = fingers(0.95);
        assert!(!rest.self_intersections().unwrap().is_empty());

        let removal = SelfIntersectionRemoval::new(&rest).unwrap();
        assert_eq!(
            removal.new_pairs(rest.positions()).unwrap(),
            Vec::<[u32; 2]>::new()
        );

        assert_eq!(
            removal.new_pairs(fingers(0.945).positions()).unwrap(),
            Vec::<[u32; 2]>::new()
        );

        assert!(
            !removal
                .new_pairs(fingers(0.7).positions())
                .unwrap()
                .is_empty()
        );
    }

    #[test]
    fn fingers_that_approach_continuously_are_corrected_continuously() {
        const STEP: f64 = 0.005;

        let rest = fingers(1.1);
        let removal = SelfIntersectionRemoval::new(&rest).unwrap();
        let corrections: Vec<Vec<DVec3>> = (0..20)
            .map(|k| {
                let before = fingers(1.02 - STEP * f64::from(k)).positions().to_vec();
                let mut after = before.clone();
                assert_eq!(removal.remove(&mut after).unwrap().after, 0);
                after.iter().zip(&before).map(|(a, b)| *a - *b).collect()
            })
            .collect();

        let jump = corrections
            .windows(2)
            .map(|pair| farthest(&pair[0], &pair[1]))
            .fold(0.0, f64::max);

        assert!(jump < 6.0 * STEP, "{jump}");
    }

    #[test]
    fn intersections_that_are_too_deep_are_reduced_and_reported() {
        let rest = fingers(1.1);
        let before = fingers(0.3).positions().to_vec();
        let mut after = fingers(0.3).positions().to_vec();
        let report = SelfIntersectionRemoval::new(&rest)
            .unwrap()
            .remove(&mut after)
            .unwrap();

        assert!(
            report.after > 0 && report.after <= report.before,
            "{report:?}"
        );

        let diagonal = rest.bounds().unwrap().diagonal();
        assert!(farthest(&before, &after) <= LARGEST_CORRECTION * diagonal);
        assert!(
            SelfIntersectionRemoval::new(&rest)
                .unwrap()
                .remove(&mut [DVec3::ZERO])
                .is_err()
        );
    }
}
