//! How far away a vertex on its way may meet other parts of its own surface.
//!
//! **Problem.** On the way from one shape to another a limb may pass through another one. Which
//! triangles a vertex may meet depends on how both move; to ask for all within the longest ways of
//! both is to ask for most of the surface, though neighbours move alike.
//!
//! **Equation.** A triangle with the middle `m`, the radius `r` and the way `u` may meet a vertex
//! at `x` with the way `w` only if
//!
//! ```text
//! |w − u| + r ≥ |x − m|        for a group:  |w − ū| + σ ≥ |x − c| − ρ
//! ```
//!
//! where all middles of the group are within `ρ` of `c` and `σ` is the largest `|u − ū| + r` in it.
//! The largest left side over the groups for which this holds is how far away the vertex may meet
//! anything.

use pliant_mesh::glam::DVec3;

/// Triangles of a group, at most: ours, about the root of their number on an animal, so that groups
/// cost as much as what is in one.
const GROUP: usize = 64;
/// Added to a reach, as a part of itself, for the rounding of distances.
const ROUNDING: f64 = 1e-9;

/// A surface on its way.
#[derive(Debug)]
pub(crate) struct Passing {
    triangles: Vec<Moving>,
    groups: Vec<Group>,
}

#[derive(Debug, Clone, Copy)]
struct Moving {
    middle: DVec3,
    radius: f64,
    way: DVec3,
}

#[derive(Debug)]
struct Group {
    middle: DVec3,
    /// `ρ`.
    radius: f64,
    way: DVec3,
    /// `σ`.
    spread: f64,
}

impl Passing {
    /// The surface of `triangles` on its way between two poses.
    pub(crate) fn new(triangles: &[[u32; 3]], from: &[DVec3], to: &[DVec3]) -> Self {
        let triangles: Vec<Moving> = triangles
            .iter()
            .map(|corners| Moving::of(corners, from, to))
            .collect();
        let mut order: Vec<u32> = (0..triangles.len() as u32).collect();
        let mut groups = Vec::new();
        gather(&triangles, &mut order, &mut groups);
        Self { triangles, groups }
    }

    /// The mean way of a triangle.
    pub(crate) fn way(&self, triangle: u32) -> DVec3 {
        self.triangles[triangle as usize].way
    }

    /// Whether a vertex with some way may meet a triangle.
    pub(crate) fn may_meet(&self, place: DVec3, way: DVec3, triangle: u32) -> bool {
        let Moving {
            middle,
            radius,
            way: other,
        } = self.triangles[triangle as usize];
        way.distance(other) + radius >= place.distance(middle)
    }

    /// All triangles that a vertex with some way may meet are nearer than this.
    pub(crate) fn reach(&self, place: DVec3, way: DVec3) -> f64 {
        self.groups
            .iter()
            .map(|group| group.reach(place, way))
            .fold(0.0, f64::max)
            * (1.0 + ROUNDING)
    }
}

impl Moving {
    fn of(corners: &[u32; 3], from: &[DVec3], to: &[DVec3]) -> Self {
        let [a, b, c] = corners.map(|v| from[v as usize]);
        let middle = (a + b + c) / 3.0;
        let radius = middle
            .distance(a)
            .max(middle.distance(b))
            .max(middle.distance(c));
        let way = corners
            .map(|v| to[v as usize] - from[v as usize])
            .iter()
            .sum::<DVec3>()
            / 3.0;
        Self {
            middle,
            radius,
            way,
        }
    }
}

impl Group {
    fn of(members: &[Moving]) -> Self {
        let mean =
            |of: fn(&Moving) -> DVec3| members.iter().map(of).sum::<DVec3>() / members.len() as f64;
        let (middle, way) = (mean(|t| t.middle), mean(|t| t.way));
        let radius = members
            .iter()
            .map(|t| t.middle.distance(middle))
            .fold(0.0, f64::max);
        let spread = members
            .iter()
            .map(|t| t.way.distance(way) + t.radius)
            .fold(0.0, f64::max);
        Self {
            middle,
            radius,
            way,
            spread,
        }
    }

    fn reach(&self, place: DVec3, way: DVec3) -> f64 {
        let reach = way.distance(self.way) + self.spread;
        if reach * (1.0 + ROUNDING) + self.radius >= place.distance(self.middle) {
            reach
        } else {
            0.0
        }
    }
}

/// Halves `order` along its longest side until groups are small.
fn gather(triangles: &[Moving], order: &mut [u32], groups: &mut Vec<Group>) {
    let middle = |t: u32| triangles[t as usize].middle;
    if order.len() <= GROUP {
        let members: Vec<Moving> = order.iter().map(|&t| triangles[t as usize]).collect();
        groups.extend((!members.is_empty()).then(|| Group::of(&members)));
        return;
    }
    let (low, high) = order
        .iter()
        .fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(l, h), &t| {
            (l.min(middle(t)), h.max(middle(t)))
        });
    let axis = (high - low).max_position();
    let half = order.len() / 2;
    order.select_nth_unstable_by(half, |&a, &b| {
        middle(a)[axis].total_cmp(&middle(b)[axis]).then(a.cmp(&b))
    });
    let (lower, upper) = order.split_at_mut(half);
    gather(triangles, lower, groups);
    gather(triangles, upper, groups);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_shapes::{bar, bent};

    #[test]
    fn all_that_a_vertex_may_meet_is_within_its_reach_which_is_short_where_neighbours_move_alike() {
        let bar = bar(40, 3);
        let (mesh, to) = (&bar.mesh, bent(&bar.points, 60.0));
        let passing = Passing::new(mesh.triangles(), &bar.points, &to);
        assert!(passing.groups.len() > 10);
        let reach = |v: usize| passing.reach(bar.points[v], to[v] - bar.points[v]);
        for v in 0..mesh.vertex_count() {
            let (place, way) = (bar.points[v], to[v] - bar.points[v]);
            for t in (0..mesh.triangles().len() as u32).filter(|&t| passing.may_meet(place, way, t))
            {
                let nearest = mesh
                    .triangle_points(t as usize)
                    .iter()
                    .map(|p| p.distance(place))
                    .fold(f64::INFINITY, f64::min);
                assert!(nearest <= reach(v), "vertex {v}, triangle {t}");
                assert!(
                    passing.triangles[t as usize].middle.distance(place) <= reach(v),
                    "vertex {v}, triangle {t}"
                );
            }
        }
        let longest = (0..mesh.vertex_count())
            .map(|v| to[v].distance(bar.points[v]))
            .fold(0.0, f64::max);
        assert!(
            (0..mesh.vertex_count()).any(|v| reach(v) < 0.5 * longest),
            "half of the longest way: {longest}"
        );
    }

    #[test]
    fn what_moves_as_one_meets_nothing_but_its_neighbours() {
        let bar = bar(40, 3);
        let to: Vec<DVec3> = bar
            .points
            .iter()
            .map(|p| *p + DVec3::new(100.0, 20.0, -3.0))
            .collect();
        let passing = Passing::new(bar.mesh.triangles(), &bar.points, &to);
        let edge = bar.mesh.mean_edge_length();
        assert!(
            (0..bar.mesh.vertex_count())
                .all(|v| passing.reach(bar.points[v], to[v] - bar.points[v]) < 2.0 * edge)
        );
    }
}
