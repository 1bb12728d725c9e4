//! Surfaces that run through themselves in motion: found against the rest pose, and parted where a
//! small correction does.
//!
//! **Problem.** A target with thicker legs than the source's pushes them into one another. What
//! already cut in the rest pose (teeth in gums) is meant so and not to be touched.
//!
//! **Method.** A pair of triangles that cut is *new* unless the rest pose has a cut between the
//! same two or their neighbours. The new pairs are parted in rounds: with the outward normals
//! `n_s`, `n_t` of a pair and the depth `h` to which the one that is less deep reaches behind the
//! other's plane, the corners are told to move by
//!
//! ```text
//! g_s = h/2 · n,   g_t = −h/2 · n,   n = (n_t − n_s) / |n_t − n_s|
//! ```
//!
//! and a field `d` takes that over a patch of `PATCH_RINGS` rings around them:
//!
//! ```text
//! min_d Σ_i |d_i − mean_{j~i} d_j|² + κ Σ_v |d_v − g_v|²,   d = 0 outside the patch
//! ```
//!
//! until nothing cuts, or the correction passes `LARGEST_CORRECTION` of the diagonal; the pose with
//! the fewest cuts is kept.
//!
//! **Ours.** All of it. Depths are those of single triangles, so what is deep is parted round by
//! round and what hardly touches is hardly moved; a pose without new pairs is returned as it is.

use std::collections::VecDeque;

use pliant_linalg::{LeastSquares, SparseMatrix};
use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, triangle_normal};

use crate::TransferError;

/// Rounds of parting. *Measured*: legs that overlap by half a leg need about twenty.
const MOST_ROUNDS: usize = 40;

/// How far a vertex may be moved, as part of the diagonal. *Ours*: more is another pose.
const LARGEST_CORRECTION: f64 = 0.03;

/// Edges from a cut to where nothing moves. *Ours*: wide enough that a dent is no crease.
const PATCH_RINGS: usize = 8;

/// κ: what being parted counts against being smooth.
const PARTING_WEIGHT: f64 = 4.0;

/// What parted triangles are kept apart, as part of their own size.
const MARGIN: f64 = 1e-2;

/// Where a pose of a mesh cuts through itself, other than at rest.
#[derive(Debug, Clone)]
pub struct Entanglement<'a> {
    rest: &'a Mesh,
    /// Pairs that cut at rest, ascending.
    at_rest: Vec<[u32; 2]>,
    diagonal: f64,
}

/// What parting did to one pose.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parting {
    /// New pairs of triangles that cut before.
    pub before: usize,
    /// Those left.
    pub after: usize,
    /// How far a vertex was moved at most, in the units of the mesh.
    pub largest_correction: f64,
}

impl<'a> Entanglement<'a> {
    /// Looks for what cuts at rest.
    ///
    /// # Errors
    /// Positions that are not finite.
    pub fn new(rest: &'a Mesh) -> Result<Self, TransferError> {
        let diagonal = rest.bounds().map_or(0.0, |bounds| bounds.diagonal());
        Ok(Self {
            rest,
            at_rest: rest.self_intersections()?,
            diagonal,
        })
    }

    /// The pairs of triangles that cut in a pose and not at rest, ascending.
    ///
    /// # Errors
    /// Another number of positions than vertices, or positions that are not finite.
    pub fn new_pairs(&self, positions: &[DVec3]) -> Result<Vec<[u32; 2]>, TransferError> {
        let mut pairs = self.rest.posed(positions.to_vec())?.self_intersections()?;
        if !self.at_rest.is_empty() {
            pairs.retain(|&[s, t]| !self.cuts_at_rest(s, t));
        }
        Ok(pairs)
    }

    /// Whether the pair or one of their neighbours cut at rest.
    fn cuts_at_rest(&self, s: u32, t: u32) -> bool {
        let near_t = self.neighborhood(t);
        self.neighborhood(s).iter().any(|&a| {
            near_t
                .iter()
                .any(|&b| self.at_rest.binary_search(&[a.min(b), a.max(b)]).is_ok())
        })
    }

    /// The triangle and all that share a corner with it.
    fn neighborhood(&self, t: u32) -> Vec<u32> {
        let around = self.rest.topology().vertex_triangles();
        let mut near: Vec<u32> = self.rest.triangles()[t as usize]
            .iter()
            .flat_map(|&v| around.row(v as usize))
            .copied()
            .collect();
        near.sort_unstable();
        near.dedup();
        near
    }

    /// What [`part`](Self::part) would start from, and nothing done.
    ///
    /// # Errors
    /// As [`new_pairs`](Self::new_pairs).
    pub fn look_at(&self, positions: &[DVec3]) -> Result<Parting, TransferError> {
        let count = self.new_pairs(positions)?.len();
        Ok(Parting {
            before: count,
            after: count,
            largest_correction: 0.0,
        })
    }

    /// Parts what cuts in `positions` and not at rest, as far as small corrections do.
    ///
    /// # Errors
    /// As [`new_pairs`](Self::new_pairs).
    pub fn part(&self, positions: &mut [DVec3]) -> Result<Parting, TransferError> {
        let mut pairs = self.new_pairs(positions)?;
        let mut parting = Parting {
            before: pairs.len(),
            after: pairs.len(),
            largest_correction: 0.0,
        };
        if pairs.is_empty() {
            return Ok(parting);
        }
        let (start, mut pose) = (positions.to_vec(), positions.to_vec());
        for _ in 0..MOST_ROUNDS {
            self.part_once(&pairs, &mut pose)?;
            let correction = pose
                .iter()
                .zip(&start)
                .map(|(now, before)| now.distance(*before))
                .fold(0.0, f64::max);
            if correction > LARGEST_CORRECTION * self.diagonal {
                break;
            }
            pairs = self.new_pairs(&pose)?;
            if pairs.len() < parting.after {
                positions.copy_from_slice(&pose);
                parting = Parting {
                    after: pairs.len(),
                    largest_correction: correction,
                    ..parting
                };
            }
            if pairs.is_empty() {
                break;
            }
        }
        Ok(parting)
    }

    /// One round: the corners of cutting triangles are told where to go, and a patch around them
    /// follows.
    fn part_once(&self, pairs: &[[u32; 2]], pose: &mut [DVec3]) -> Result<(), TransferError> {
        let goals = self.goals(pairs, pose);
        let (patch, local) = self.patch(goals.iter().map(|(v, _)| *v));
        let soft: Vec<(usize, f64)> = goals
            .iter()
            .map(|(v, _)| (local[*v as usize] as usize, PARTING_WEIGHT))
            .collect();
        let targets: Vec<DVec3> = goals.iter().map(|(_, goal)| *goal).collect();
        let (bending, rows) = self.bending(&patch, &local);
        let moves = LeastSquares::factor(&bending, &soft, &[])?.solve_points(
            &vec![DVec3::ZERO; rows],
            &targets,
            &[],
        );
        patch
            .iter()
            .zip(moves)
            .for_each(|(&v, shift)| pose[v as usize] += shift);
        Ok(())
    }

    /// For each corner of a cutting triangle, ascending, the mean of where its pairs send it, as
    /// long as the longest of them.
    fn goals(&self, pairs: &[[u32; 2]], pose: &[DVec3]) -> Vec<(u32, DVec3)> {
        let mut told: Vec<(u32, DVec3)> = Vec::new();
        for &pair in pairs {
            let corners = pair.map(|t| self.rest.triangles()[t as usize]);
            let [s, t] = corners.map(|corners| corners.map(|v| pose[v as usize]));
            let shift = parting_shift(s, t) * 0.5;
            told.extend(corners[0].map(|v| (v, shift)));
            told.extend(corners[1].map(|v| (v, -shift)));
        }
        told.sort_by_key(|(v, _)| *v);
        let mean = |told: &[(u32, DVec3)]| {
            let longest = told
                .iter()
                .map(|(_, shift)| shift.length())
                .fold(0.0, f64::max);
            (
                told[0].0,
                told.iter()
                    .map(|(_, shift)| *shift)
                    .sum::<DVec3>()
                    .normalize_or_zero()
                    * longest,
            )
        };
        told.chunk_by(|a, b| a.0 == b.0).map(mean).collect()
    }

    /// The vertices within `PATCH_RINGS` edges of `seeds`, and the number of each vertex among
    /// them.
    fn patch(&self, seeds: impl Iterator<Item = u32>) -> (Vec<u32>, Vec<u32>) {
        let mut local = vec![OUTSIDE; self.rest.vertex_count()];
        let (mut patch, mut queue) = (Vec::new(), VecDeque::new());
        let mut reach = |v: u32, ring: usize, queue: &mut VecDeque<(u32, usize)>| {
            if local[v as usize] == OUTSIDE {
                local[v as usize] = patch.len() as u32;
                patch.push(v);
                queue.push_back((v, ring));
            }
        };
        seeds.for_each(|v| reach(v, 0, &mut queue));
        while let Some((v, ring)) = queue.pop_front() {
            if ring < PATCH_RINGS {
                self.rest
                    .topology()
                    .vertex_neighbors()
                    .row(v as usize)
                    .iter()
                    .for_each(|&w| reach(w, ring + 1, &mut queue));
            }
        }
        (patch, local)
    }

    /// `d_i − mean_{j~i} d_j` at the vertices of the patch and those next to it, where what lies
    /// outside is zero; and how many.
    fn bending(&self, patch: &[u32], local: &[u32]) -> (SparseMatrix, usize) {
        let neighbors = self.rest.topology().vertex_neighbors();
        let mut centers: Vec<u32> = patch
            .iter()
            .flat_map(|&v| neighbors.row(v as usize))
            .chain(patch)
            .copied()
            .collect();
        centers.sort_unstable();
        centers.dedup();
        let mut triplets = Vec::new();
        for (row, &v) in centers.iter().enumerate() {
            let around = neighbors.row(v as usize);
            let entries = around
                .iter()
                .map(|&w| (w, -1.0 / around.len() as f64))
                .chain([(v, 1.0)]);
            let inside = entries.filter(|(w, _)| local[*w as usize] != OUTSIDE);
            triplets.extend(inside.map(|(w, value)| (row as u32, local[w as usize], value)));
        }
        (
            SparseMatrix::from_triplets(centers.len(), patch.len(), &triplets),
            centers.len(),
        )
    }
}

/// A vertex that is in no patch.
const OUTSIDE: u32 = u32::MAX;

/// What moves the first triangle against the second until one of them is no longer behind the
/// other's plane.
fn parting_shift(s: [DVec3; 3], t: [DVec3; 3]) -> DVec3 {
    let (normal_s, normal_t) = (triangle_normal(s), triangle_normal(t));
    let behind = |points: [DVec3; 3], normal: DVec3, on: DVec3| {
        points
            .map(|p| normal.dot(on - p))
            .into_iter()
            .fold(0.0, f64::max)
    };
    let depth = behind(s, normal_t, t[0]).min(behind(t, normal_s, s[0]));
    let size = (s[1] - s[0]).cross(s[2] - s[0]).length().sqrt();
    (normal_t - normal_s).normalize_or(normal_t) * (depth + MARGIN * size)
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
    fn two_fingers_pushed_into_one_another_come_apart_by_about_what_they_overlap() {
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
            let parting = Entanglement::new(&rest).unwrap().part(&mut after).unwrap();
            assert!(parting.before > 0 && parting.after == 0, "{parting:?}");
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
                moved == parting.largest_correction && moved > 0.02 * size && moved < 0.1 * size,
                "{moved}"
            );
        }
    }

    #[test]
    fn a_pose_that_cuts_nowhere_does_not_change_by_a_bit() {
        let rest = fingers(1.1);
        let pose = fingers(1.01).positions().to_vec();
        let mut after = pose.clone();
        let parting = Entanglement::new(&rest).unwrap().part(&mut after).unwrap();
        assert_eq!(
            (parting, after),
            (
                Parting {
                    before: 0,
                    after: 0,
                    largest_correction: 0.0
                },
                pose
            )
        );
    }

    #[test]
    fn what_cuts_at_rest_does_not_count_also_when_it_slides_a_little() {
        let rest = fingers(0.95);
        assert!(!rest.self_intersections().unwrap().is_empty());
        let entanglement = Entanglement::new(&rest).unwrap();
        assert_eq!(
            entanglement.new_pairs(rest.positions()).unwrap(),
            Vec::<[u32; 2]>::new()
        );
        assert_eq!(
            entanglement.new_pairs(fingers(0.945).positions()).unwrap(),
            Vec::<[u32; 2]>::new()
        );
        assert!(
            !entanglement
                .new_pairs(fingers(0.7).positions())
                .unwrap()
                .is_empty()
        );
    }

    #[test]
    fn fingers_that_approach_steadily_give_way_steadily() {
        const STEP: f64 = 0.005;
        let rest = fingers(1.1);
        let entanglement = Entanglement::new(&rest).unwrap();
        let corrections: Vec<Vec<DVec3>> = (0..20)
            .map(|k| {
                let before = fingers(1.02 - STEP * f64::from(k)).positions().to_vec();
                let mut after = before.clone();
                assert_eq!(entanglement.part(&mut after).unwrap().after, 0);
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
    fn what_is_too_deep_is_left_with_the_fewest_cuts_found_and_said_so() {
        let rest = fingers(1.1);
        let (before, mut after) = (
            fingers(0.3).positions().to_vec(),
            fingers(0.3).positions().to_vec(),
        );
        let parting = Entanglement::new(&rest).unwrap().part(&mut after).unwrap();
        assert!(
            parting.after > 0 && parting.after <= parting.before,
            "{parting:?}"
        );
        let diagonal = rest.bounds().unwrap().diagonal();
        assert!(farthest(&before, &after) <= LARGEST_CORRECTION * diagonal);
        assert!(
            Entanglement::new(&rest)
                .unwrap()
                .part(&mut [DVec3::ZERO])
                .is_err()
        );
    }
}
