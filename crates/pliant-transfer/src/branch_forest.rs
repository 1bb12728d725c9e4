//! Rotations beyond a half turn, unwrapped over the mesh and over time.
//!
//! **Problem.** A tail that turns by 170° at its root and by 190° a little further out is read as
//! +170° and −170°: blended half way towards the body, one triangle goes to the left and its
//! neighbour to the right.
//!
//! **Method.** The triangles that blend form patches. In each patch a spanning tree leads from a
//! seed to all triangles, and every triangle takes the branch of its logarithm that is nearest to
//! its parent's. The seed takes the branch nearest to its own in the frame before, unless it has
//! jumped by more than a quarter turn: then the clip was cut, and it starts anew. At a start it
//! takes the branch, out of the shortest and one turn more or less, with which its patch turns
//! least in all.
//!
//! **Ours.** The tree runs through well-shaped triangles where it can (a maximum spanning tree of
//! shape quality): the turn of a sliver is noise, and nobody should take a branch from it. Outside
//! a patch weights are zero or one, where all branches give the same rotation; so patches need not
//! agree with each other.

use std::f64::consts::{FRAC_PI_2, TAU};
use std::ops::Range;

use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;

use crate::blend::nearest_branch;
use crate::dual_graph::{DisjointSets, neighbor_pairs};

/// The parent of a seed.
const SEED: u32 = u32::MAX;

/// Spanning trees over patches of triangles.
#[derive(Debug, Clone)]
pub(crate) struct BranchForest {
    /// The triangles of all patches, ascending. All else names them by their place in this list.
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

    fn grow_tree(&mut self, seed: u32, neighbors: &[Vec<u32>], seen: &mut [bool]) {
        let mut next = self.steps.len();
        self.trees.push(next);
        self.steps.push((seed, SEED));
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

    /// The triangles of all patches, ascending; the logarithms of [`unwrap`](Self::unwrap) are in
    /// this order.
    pub(crate) fn triangles(&self) -> &[u32] {
        &self.triangles
    }

    /// Replaces each logarithm by its branch; `seeds` holds those of the frame before (empty at
    /// first) and is renewed.
    pub(crate) fn unwrap(&self, logs: &mut [DVec3], seeds: &mut Vec<DVec3>) {
        // Below a quarter turn no neighbours can be a half turn apart: all are on the shortest
        // branch, if their seed is.
        let all_short = logs
            .iter()
            .all(|log| log.length_squared() < FRAC_PI_2 * FRAC_PI_2);
        for (tree, range) in self
            .trees
            .windows(2)
            .map(|ends| ends[0]..ends[1])
            .enumerate()
        {
            let shortest = logs[self.steps[range.start].0 as usize];
            let followed = seeds.get(tree).and_then(|&before| follow(shortest, before));
            let branch = match followed {
                Some(branch) => branch,
                None if all_short => shortest,
                None => self.least_turn(range.clone(), logs),
            };
            if tree < seeds.len() {
                seeds[tree] = branch
            } else {
                seeds.push(branch)
            }
            if !(all_short && branch.length_squared() < FRAC_PI_2 * FRAC_PI_2) {
                self.spread(range, branch, logs);
            }
        }
    }

    /// Gives a tree the branches that go with that of its seed; returns the sum of squares.
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

    /// The branch of the seed with which a tree turns least.
    fn least_turn(&self, tree: Range<usize>, logs: &mut [DVec3]) -> DVec3 {
        let shortest = logs[self.steps[tree.start].0 as usize];
        let about = shortest.normalize_or_zero() * TAU;
        let candidates = [shortest, shortest - about, shortest + about];
        let totals = candidates.map(|seed| self.spread(tree.clone(), seed, logs));
        candidates[(1..3).fold(0, |best, k| if totals[k] < totals[best] { k } else { best })]
    }
}

/// The branch next to that of the frame before; none after a cut.
fn follow(log: DVec3, before: DVec3) -> Option<DVec3> {
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

/// Neighbours along the maximum spanning forest, where a pair is as good as the worse of the two.
fn tree_neighbors(mesh: &Mesh, quality: &[f64], member: &impl Fn(usize) -> bool) -> Vec<Vec<u32>> {
    let worse = |[a, b]: [u32; 2]| quality[a as usize].min(quality[b as usize]);
    let mut pairs = neighbor_pairs(mesh.topology());
    pairs.retain(|&[a, b]| member(a as usize) && member(b as usize));
    pairs.sort_by(|&p, &q| worse(q).total_cmp(&worse(p)).then(p.cmp(&q)));
    let mut sets = DisjointSets::new(quality.len());
    let mut neighbors = vec![Vec::new(); quality.len()];
    for [a, b] in pairs {
        if sets.join(a, b) {
            neighbors[a as usize].push(b);
            neighbors[b as usize].push(a);
        }
    }
    neighbors
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blend::{rotation_exp, rotation_log};
    use pliant_mesh::glam::DQuat;
    use pliant_mesh::shapes;

    #[test]
    fn a_twist_of_two_turns_over_a_sheet_is_unwrapped_from_end_to_end() {
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
            .map(|&t| rotation_log(DQuat::from_rotation_x(angle(t))))
            .collect();
        forest.unwrap(&mut logs, &mut Vec::new());
        for (log, &t) in logs.iter().zip(forest.triangles()) {
            assert!(log.distance(DVec3::X * angle(t)) < 1e-9, "triangle {t}");
        }
    }

    #[test]
    fn a_turn_over_time_is_followed_beyond_a_half_turn_and_a_cut_starts_anew() {
        let sheet = shapes::bumpy_sheet(3, 0.1);
        let forest = BranchForest::grow(&sheet, |t| t != 7);
        let mut seeds = Vec::new();
        for frame in 0..40 {
            let expected = DVec3::Z * (0.2 * f64::from(frame));
            let mut logs = vec![rotation_log(rotation_exp(expected)); forest.triangles().len()];
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
    fn patches_that_do_not_touch_have_a_seed_each() {
        let sheet = shapes::bumpy_sheet(9, 0.1);
        let column = |t: usize| t / 18;
        let forest = BranchForest::grow(&sheet, |t| column(t) % 3 == 0);
        assert_eq!(forest.triangles().len(), 3 * 18);
        assert_eq!(forest.trees.len(), 3 + 1);
    }
}
