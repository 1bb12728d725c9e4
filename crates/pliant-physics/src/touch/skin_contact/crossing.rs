//! Triangles of soft skin that cross others although they do not in the animation.
//!
//! **Problem.** Pairs of vertices and triangles leave gaps: two edges may pass each other, and a
//! fast lid may pass a whole triangle within a frame. No frame may cross itself where the animated
//! shape does not.
//!
//! **Equation.** Two triangles cross where a side of one pierces the other,
//!
//! ```text
//! [p,a,b,c] [q,a,b,c] < 0        [p,q,a,b], [p,q,b,c], [p,q,c,a] of one sign
//! ```
//!
//! with `[a,b,c,d] = (b − a)·((c − a) × (d − a))`. The displacements from the animated shape, in which
//! the pair is apart, of the soft corners of a crossing pair are halved until it is apart again.
//!
//! **Source.** Guigue and Devillers, "Fast and robust triangle-triangle overlap test using
//! orientation predicates", 2003.
//!
//! **Departures.** Pairs with a common vertex are not tested. Neighbours of the corners keep three
//! quarters of their displacement, so that the correction has no crease; after [`ROUNDS`] the corners
//! are at their place in the animation. Candidates are found by sweep and prune along the longest
//! side of the soft region.

use std::collections::BTreeSet;

use pliant_linalg::parallel;
use pliant_mesh::glam::DVec3;
use pliant_mesh::{Bounds, Mesh};

/// Rounds of halving. Chosen: less than a thousandth of a displacement is left.
const ROUNDS: usize = 12;
/// The displacement that corners of crossing pairs, and their neighbours, keep in a round. Chosen.
const CORNER: f64 = 0.5;
const NEIGHBOR: f64 = 0.75;
/// Triangles in one parallel task.
const GRAIN: usize = 128;

/// The crossing test of a soft region.
#[derive(Debug, Clone)]
pub(super) struct CrossingTest {
    /// Triangles with a soft corner, ascending.
    soft_triangles: Vec<u32>,
    is_soft: Vec<bool>,
}

impl CrossingTest {
    pub(super) fn new(soft_triangles: &[u32], soft: &[bool]) -> Self {
        Self {
            soft_triangles: soft_triangles.to_vec(),
            is_soft: soft.to_vec(),
        }
    }

    /// Moves soft vertices of `mesh` at `positions` back towards the animated shape `rest` until no
    /// triangles cross that do not cross there; returns the vertices that moved, ascending. Vertices
    /// that are held do not move; where they make a crossing unavoidable, nothing does.
    pub(super) fn undo_crossings(
        &self,
        mesh: &Mesh,
        rest: &[DVec3],
        positions: &mut [DVec3],
        is_held: impl Fn(u32) -> bool,
    ) -> BTreeSet<u32> {
        let mut moved = BTreeSet::new();
        let given = positions.to_vec();
        let may_move = |v: u32| self.is_soft[v as usize] && !is_held(v);
        for round in 0..=ROUNDS {
            let pairs = self.new_crossings(mesh, rest, positions);
            if pairs.is_empty() {
                return moved;
            }

            let corners: BTreeSet<u32> = pairs
                .iter()
                .flatten()
                .flat_map(|&t| mesh.triangles()[t as usize])
                .filter(|&v| may_move(v))
                .collect();
            let mut neighbors = BTreeSet::new();
            for &v in &corners {
                let row = mesh.topology().vertex_neighbors().row(v as usize);
                neighbors.extend(
                    row.iter()
                        .copied()
                        .filter(|&w| may_move(w) && !corners.contains(&w)),
                );
            }

            let kept = if round == ROUNDS { 0.0 } else { CORNER };
            for (vertices, kept) in [(&corners, kept), (&neighbors, NEIGHBOR)] {
                for &v in vertices {
                    let v = v as usize;
                    let displacement = positions[v] - rest[v];
                    positions[v] = rest[v] + displacement * kept;
                    moved.insert(v as u32);
                }
            }
        }

        if self.new_crossings(mesh, rest, positions).is_empty() {
            return moved;
        }
        positions.copy_from_slice(&given);
        BTreeSet::new()
    }

    /// Pairs of triangles that cross at `positions` and not in the animated shape.
    pub(super) fn new_crossings(
        &self,
        mesh: &Mesh,
        rest: &[DVec3],
        positions: &[DVec3],
    ) -> Vec<[u32; 2]> {
        // Only what has moved can cross anew.
        let has_moved = |&t: &u32| {
            mesh.triangles()[t as usize]
                .iter()
                .any(|&v| positions[v as usize] != rest[v as usize])
        };
        let moved: Vec<u32> = self
            .soft_triangles
            .iter()
            .copied()
            .filter(has_moved)
            .collect();
        let corners_of = |t: u32| mesh.triangles()[t as usize].map(|v| positions[v as usize]);
        let Some(whole) = Bounds::of(
            &moved
                .iter()
                .flat_map(|&t| corners_of(t))
                .collect::<Vec<_>>(),
        ) else {
            return Vec::new();
        };

        // All triangles near them, sorted along the longest side.
        let axis = whole.size().max_position();
        let mut near: Vec<(f64, u32)> = Vec::new();
        let mut widest: f64 = 0.0;
        for t in 0..mesh.triangles().len() as u32 {
            let (low, high) = extent(corners_of(t));
            if low.cmple(whole.max).all() && high.cmpge(whole.min).all() {
                near.push((low[axis], t));
                widest = widest.max(high[axis] - low[axis]);
            }
        }
        near.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));

        let is_moved = |t: u32| moved.binary_search(&t).is_ok();
        let found = parallel::map(moved.len(), GRAIN, |k| {
            let own = moved[k];
            let (low, high) = extent(corners_of(own));
            let begin = near.partition_point(|entry| entry.0 < low[axis] - widest);
            let mut pairs = Vec::new();
            for &(at, other) in &near[begin..] {
                if at > high[axis] {
                    break;
                }
                // Each pair of moved triangles is tested once.
                if other == own || (is_moved(other) && other < own) {
                    continue;
                }
                let (from, to) = extent(corners_of(other));
                if !(from.cmple(high).all() && to.cmpge(low).all()) {
                    continue;
                }
                if self.cross(mesh, own, other, positions) && !self.cross(mesh, own, other, rest) {
                    pairs.push([own, other]);
                }
            }
            pairs
        });

        found.into_iter().flatten().collect()
    }

    fn cross(&self, mesh: &Mesh, one: u32, other: u32, positions: &[DVec3]) -> bool {
        let [first, second] = [one, other].map(|t| mesh.triangles()[t as usize]);
        if first.iter().any(|v| second.contains(v)) {
            return false;
        }
        let first = first.map(|v| positions[v as usize]);
        let second = second.map(|v| positions[v as usize]);
        let pierces = |one: [DVec3; 3], other: [DVec3; 3]| {
            (0..3).any(|k| side_pierces([one[k], one[(k + 1) % 3]], other))
        };
        pierces(first, second) || pierces(second, first)
    }
}

fn extent([a, b, c]: [DVec3; 3]) -> (DVec3, DVec3) {
    (a.min(b).min(c), a.max(b).max(c))
}

fn side_pierces([p, q]: [DVec3; 2], [a, b, c]: [DVec3; 3]) -> bool {
    let volume = |a: DVec3, b: DVec3, c: DVec3, d: DVec3| (b - a).dot((c - a).cross(d - a));
    if volume(p, a, b, c) * volume(q, a, b, c) >= 0.0 {
        return false;
    }
    let signs = [volume(p, q, a, b), volume(p, q, b, c), volume(p, q, c, a)];
    signs.iter().all(|&s| s > 0.0) || signs.iter().all(|&s| s < 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two facing quads of two triangles each, `gap` apart.
    fn plates(gap: f64) -> Mesh {
        let square = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)];
        let mut positions: Vec<DVec3> = Vec::new();
        for (height, shift) in [(0.0, 0.0), (gap, 0.3)] {
            positions.extend(
                square
                    .iter()
                    .map(|&(x, y)| DVec3::new(x + shift, y + shift, height)),
            );
        }
        Mesh::from_polygons(positions, &[vec![0, 1, 2, 3], vec![4, 5, 6, 7]]).unwrap()
    }

    #[test]
    fn a_crossing_that_the_animation_does_not_have_is_undone() {
        let mesh = plates(0.2);
        let soft = vec![false, false, false, false, true, true, true, true];
        let test = CrossingTest::new(&[2, 3], &soft);
        let rest = mesh.positions().to_vec();
        let mut positions = rest.clone();
        positions[4].z -= 0.5;

        assert!(!test.new_crossings(&mesh, &rest, &positions).is_empty());
        let moved = test.undo_crossings(&mesh, &rest, &mut positions, |_| false);
        assert!(moved.contains(&4));
        assert!(test.new_crossings(&mesh, &rest, &positions).is_empty());
        assert_eq!(positions[..4], rest[..4]);
    }

    #[test]
    fn crossings_of_the_animation_stay() {
        let mesh = plates(0.2);
        let mut rest = mesh.positions().to_vec();
        rest[4].z -= 0.5;
        let test = CrossingTest::new(
            &[2, 3],
            &[false, false, false, false, true, true, true, true],
        );
        let mut positions = rest.clone();
        positions[4].z -= 0.1;
        let before = positions.clone();
        assert!(
            test.undo_crossings(&mesh, &rest, &mut positions, |_| false)
                .is_empty()
        );
        assert_eq!(positions, before);
    }
}
