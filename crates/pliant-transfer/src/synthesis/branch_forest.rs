//! Rotation vectors beyond `π`: branches unwrapped over the mesh and over time.
//!
//! **Problem.** A tail that rotates by 170° at its root and by 190° further out has the shortest
//! angles +170° and −170°. Interpolated halfway, one triangle goes to the left and its neighbour to
//! the right.
//!
//! **Method.** The triangles that blend form patches. In each patch a spanning tree leads from a
//! seed to all triangles, and every triangle takes the branch of its rotation vector nearest to that
//! of its parent. The seed takes the branch nearest to its own in the frame before, unless it has
//! jumped by more than 90°: then the clip was cut, and the seed starts again. At a start it takes
//! the branch, out of the shortest and `2π` more or less, with the smallest sum of squares over its
//! patch.
//!
//! **Departures.** Wang and Lee 2008 do not treat branches. The tree prefers well-shaped triangles
//! (a maximum spanning tree of shape quality), because the rotation of a sliver is noise. Outside a
//! patch weights are zero or one, where all branches give the same rotation; so patches need not
//! agree with each other.

use pliant_linalg::DisjointSets;
use std::f64::consts::{FRAC_PI_2, TAU};
use std::ops::Range;

use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;

use super::gradient_blend::nearest_branch;
use crate::regions::dual_graph::neighbor_pairs;

/// The parent of a seed.
const SEED: u32 = u32::MAX;

/// Spanning trees over patches of triangles.
#[derive(Debug, Clone)]
pub(crate) struct BranchForest {
    /// The triangles of all patches, ascending. The other fields refer to their indices in this list.
    triangles: Vec<u32>,
    /// Tree after tree, parents before children: each triangle and its parent, [`SEED`] for a
    /// seed.
    steps: Vec<(u32, u32)>,
    /// Where each tree starts among the steps, and where the last one ends.
    trees: Vec<usize>,
}

impl BranchForest {
    /// Trees over the triangles of `mesh` for which `member` holds.
    pub(crate) fn grow(mesh: &Mesh, member: impl Fn(usize) -> bool) -> Self {
        let count = mesh.triangles().len();
        let quality: Vec<f64> = (0..count)
            .map(|t| shape_quality(mesh.triangle_points(t)))
            .collect();
        let neighbors = tree_neighbors(mesh, &quality, &member);
        let triangles: Vec<u32> = (0..count as u32).filter(|&t| member(t as usize)).collect();

        // The best-shaped triangle of each patch is its seed.
        let mut by_quality: Vec<u32> = (0..triangles.len() as u32).collect();
        let quality_of = |place: u32| quality[triangles[place as usize] as usize];
        by_quality.sort_by(|&a, &b| quality_of(b).total_cmp(&quality_of(a)).then(a.cmp(&b)));

        let mut forest = Self {
            steps: Vec::with_capacity(triangles.len()),
            triangles,
            trees: Vec::new(),
        };
        let mut seen = vec![false; forest.triangles.len()];
        for seed in by_quality {
            if !std::mem::replace(&mut seen[seed as usize], true) {
                forest.grow_tree(seed, &neighbors, &mut seen);
            }
        }
        forest.trees.push(forest.steps.len());
        forest
    }

    /// Adds the tree of a seed by breadth-first search.
    fn grow_tree(&mut self, seed: u32, neighbors: &[Vec<u32>], seen: &mut [bool]) {
        let mut next = self.steps.len();
        self.trees.push(next);
        self.steps.push((seed, SEED));
        // The steps are also the queue: parents come before children.
        while next < self.steps.len() {
            let (parent, _) = self.steps[next];
            for neighbor in &neighbors[self.triangles[parent as usize] as usize] {
                let place = self
                    .triangles
                    .binary_search(neighbor)
                    .expect("trees stay within their patches");
                if !std::mem::replace(&mut seen[place], true) {
                    self.steps.push((place as u32, parent));
                }
            }
            next += 1;
        }
    }

    /// The triangles of all patches, ascending; the rotation vectors of [`unwrap`](Self::unwrap) are in
    /// this order.
    pub(crate) fn triangles(&self) -> &[u32] {
        &self.triangles
    }

    /// Replaces each rotation vector by its branch. `seeds` has those of the frame before (empty at
    /// first) and is updated.
    pub(crate) fn unwrap(&self, logs: &mut [DVec3], seeds: &mut Vec<DVec3>) {
        // Below 90° neighbours differ by less than π: all are on the shortest branch if their seed
        // is.
        let all_short = logs.iter().copied().all(is_short);
        for tree in 0..self.trees.len() - 1 {
            let steps = self.trees[tree]..self.trees[tree + 1];
            let shortest = logs[self.steps[steps.start].0 as usize];
            let continued = match seeds.get(tree) {
                Some(&before) => continuation(shortest, before),
                None => None,
            };
            let branch = match continued {
                Some(branch) => branch,
                None if all_short => shortest,
                None => self.smallest_branch(steps.clone(), logs),
            };

            if tree < seeds.len() {
                seeds[tree] = branch;
            } else {
                seeds.push(branch);
            }
            if !(all_short && is_short(branch)) {
                self.spread(steps, branch, logs);
            }
        }
    }

    /// Gives a tree the branches that follow from that of its seed; returns the sum of squares.
    fn spread(&self, tree: Range<usize>, seed: DVec3, logs: &mut [DVec3]) -> f64 {
        let mut total = 0.0;
        for &(place, parent) in &self.steps[tree] {
            let log = if parent == SEED {
                seed
            } else {
                nearest_branch(logs[place as usize], logs[parent as usize])
            };
            logs[place as usize] = log;
            total += log.length_squared();
        }
        total
    }

    /// The branch of the seed with the smallest sum of squares over its tree.
    fn smallest_branch(&self, tree: Range<usize>, logs: &mut [DVec3]) -> DVec3 {
        let shortest = logs[self.steps[tree.start].0 as usize];
        let revolution = shortest.normalize_or_zero() * TAU;
        let mut best = shortest;
        let mut least = self.spread(tree.clone(), shortest, logs);
        for candidate in [shortest - revolution, shortest + revolution] {
            let total = self.spread(tree.clone(), candidate, logs);
            if total < least {
                best = candidate;
                least = total;
            }
        }
        best
    }
}

/// Whether a rotation is below 90°.
fn is_short(log: DVec3) -> bool {
    log.length_squared() < FRAC_PI_2 * FRAC_PI_2
}

/// The branch nearest to that of the frame before; `None` after a cut.
fn continuation(log: DVec3, before: DVec3) -> Option<DVec3> {
    let next = nearest_branch(log, before);
    (next.distance(before) < FRAC_PI_2).then_some(next)
}

/// Area over the squared sides: largest for an equilateral triangle, zero for a flat one.
fn shape_quality([a, b, c]: [DVec3; 3]) -> f64 {
    let sides = a.distance_squared(b) + b.distance_squared(c) + c.distance_squared(a);
    if sides > 0.0 {
        (b - a).cross(c - a).length() / sides
    } else {
        0.0
    }
}

/// Neighbours along the maximum spanning forest, where the quality of a pair is the lower one of the
/// two.
fn tree_neighbors(mesh: &Mesh, quality: &[f64], member: &impl Fn(usize) -> bool) -> Vec<Vec<u32>> {
    let worse = |[a, b]: [u32; 2]| quality[a as usize].min(quality[b as usize]);
    let mut pairs = neighbor_pairs(mesh.topology());
    pairs.retain(|&[a, b]| member(a as usize) && member(b as usize));
    pairs.sort_by(|&p, &q| worse(q).total_cmp(&worse(p)).then(p.cmp(&q)));

    // Kruskal: the best pairs first, skipping those that would close a cycle.
    let mut sets = DisjointSets::new(quality.len());
    let mut neighbors = vec![Vec::new(); quality.len()];
    for [a, b] in pairs {
        if sets.merge(a, b) {
            neighbors[a as usize].push(b);
            neighbors[b as usize].push(a);
        }
    }

    neighbors
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_linalg::{rotation_from_vector, rotation_vector};
    use pliant_mesh::glam::DQuat;
    use pliant_mesh::shapes;

    #[test]
    fn a_twist_by_two_revolutions_over_a_sheet_is_unwrapped() {
        let sheet = shapes::bumpy_sheet(30, 0.1);
        let forest = BranchForest::grow(&sheet, |_| true);
        let angle = |t: u32| {
            2.0 * TAU
                * (sheet
                    .triangle_points(t as usize)
                    .into_iter()
                    .map(|p| p.x)
                    .sum::<f64>()
                    / 3.0)
                - TAU
        };

        let mut logs: Vec<DVec3> = forest
            .triangles()
            .iter()
            .map(|&t| rotation_vector(DQuat::from_rotation_x(angle(t))))
            .collect();

        forest.unwrap(&mut logs, &mut Vec::new());
        for (log, &t) in logs.iter().zip(forest.triangles()) {
            assert!(log.distance(DVec3::X * angle(t)) < 1e-9, "triangle {t}");
        }
    }

    #[test]
    fn a_rotation_over_time_is_followed_beyond_pi_and_a_cut_restarts_it() {
        let sheet = shapes::bumpy_sheet(3, 0.1);
        let forest = BranchForest::grow(&sheet, |t| t != 7);
        let mut seeds = Vec::new();

        for frame in 0..40 {
            let expected = DVec3::Z * (0.2 * f64::from(frame));
            let mut logs =
                vec![rotation_vector(rotation_from_vector(expected)); forest.triangles().len()];
            forest.unwrap(&mut logs, &mut seeds);
            assert!(
                logs.iter().all(|log| log.distance(expected) < 1e-9),
                "frame {frame}"
            );
        }

        let mut logs = vec![DVec3::Y * 3.0; forest.triangles().len()];
        forest.unwrap(&mut logs, &mut seeds);
        assert!(logs.iter().all(|&log| log.distance(DVec3::Y * 3.0) < 1e-12));
    }

    #[test]
    fn separate_patches_have_separate_seeds() {
        let sheet = shapes::bumpy_sheet(9, 0.1);
        let column = |t: usize| t / 18;
        let forest = BranchForest::grow(&sheet, |t| column(t) % 3 == 0);
        assert_eq!(forest.triangles().len(), 3 * 18);
        assert_eq!(forest.trees.len(), 3 + 1);
    }
}
