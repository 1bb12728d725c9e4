//! Bound on the distance at which moving parts of a surface may collide (continuous collision).
//!
//! **Problem.** Between two shapes a limb may pass through another one. Which triangles a vertex
//! may meet depends on the motion of both; a search within the longest displacements of both covers
//! most of the surface, although neighbours move alike.
//!
//! **Equation.** A triangle with the centre `m`, the radius `r` and the displacement `u` may meet a
//! vertex at `x` with the displacement `w` only if
//!
//! ```text
//! |w − u| + r ≥ |x − m|        for a cluster:  |w − ū| + σ ≥ |x − c| − ρ
//! ```
//!
//! where all centres of the cluster are within `ρ` of `c` and `σ` is the largest `|u − ū| + r` in
//! it. The largest left side over the clusters for which this holds bounds the distance at which
//! the vertex may meet anything.

use pliant_mesh::glam::DVec3;

/// Triangles of a cluster, at most. Chosen: about the root of their number on an animal, so that
/// testing the clusters costs as much as testing the triangles of one.
const GROUP: usize = 64;
/// Relative enlargement of a reach, for the rounding of distances.
const ROUNDING: f64 = 1e-9;

/// A moving surface.
#[derive(Debug)]
pub(crate) struct CollisionBound {
    triangles: Vec<MovingTriangle>,
    clusters: Vec<TriangleCluster>,
}

#[derive(Debug, Clone, Copy)]
struct MovingTriangle {
    center: DVec3,
    radius: f64,
    displacement: DVec3,
}

#[derive(Debug)]
struct TriangleCluster {
    center: DVec3,
    /// `ρ`.
    radius: f64,
    displacement: DVec3,
    /// `σ`.
    spread: f64,
}

impl CollisionBound {
    /// The surface of `triangles`, moving between two poses.
    pub(crate) fn new(triangles: &[[u32; 3]], from: &[DVec3], to: &[DVec3]) -> Self {
        let triangles: Vec<MovingTriangle> = triangles
            .iter()
            .map(|corners| MovingTriangle::of(corners, from, to))
            .collect();
        let mut order: Vec<u32> = (0..triangles.len() as u32).collect();
        let mut clusters = Vec::new();
        gather(&triangles, &mut order, &mut clusters);
        Self {
            triangles,
            clusters,
        }
    }

    /// The mean displacement of a triangle.
    pub(crate) fn displacement(&self, triangle: u32) -> DVec3 {
        self.triangles[triangle as usize].displacement
    }

    /// Whether a vertex with the given displacement may meet a triangle.
    pub(crate) fn may_meet(&self, position: DVec3, displacement: DVec3, triangle: u32) -> bool {
        let MovingTriangle {
            center,
            radius,
            displacement: other,
        } = self.triangles[triangle as usize];
        displacement.distance(other) + radius >= position.distance(center)
    }

    /// All triangles that a vertex with the given displacement may meet are nearer than this.
    pub(crate) fn reach(&self, position: DVec3, displacement: DVec3) -> f64 {
        self.clusters
            .iter()
            .map(|cluster| cluster.reach(position, displacement))
            .fold(0.0, f64::max)
            * (1.0 + ROUNDING)
    }
}

impl MovingTriangle {
    fn of(corners: &[u32; 3], from: &[DVec3], to: &[DVec3]) -> Self {
        let [a, b, c] = corners.map(|v| from[v as usize]);
        let center = (a + b + c) / 3.0;
        let radius = center
            .distance(a)
            .max(center.distance(b))
            .max(center.distance(c));

        let displacement = corners
            .map(|v| to[v as usize] - from[v as usize])
            .iter()
            .sum::<DVec3>()
            / 3.0;

        Self {
            center,
            radius,
            displacement,
        }
    }
}

impl TriangleCluster {
    fn of(members: &[MovingTriangle]) -> Self {
        let mean = |of: fn(&MovingTriangle) -> DVec3| {
            members.iter().map(of).sum::<DVec3>() / members.len() as f64
        };
        let center = mean(|t| t.center);
        let displacement = mean(|t| t.displacement);
        let radius = members
            .iter()
            .map(|t| t.center.distance(center))
            .fold(0.0, f64::max);

        let spread = members
            .iter()
            .map(|t| t.displacement.distance(displacement) + t.radius)
            .fold(0.0, f64::max);

        Self {
            center,
            radius,
            displacement,
            spread,
        }
    }

    fn reach(&self, position: DVec3, displacement: DVec3) -> f64 {
        let reach = displacement.distance(self.displacement) + self.spread;
        if reach * (1.0 + ROUNDING) + self.radius >= position.distance(self.center) {
            reach
        } else {
            0.0
        }
    }
}

/// Halves `order` along its longest side until clusters are small.
fn gather(triangles: &[MovingTriangle], order: &mut [u32], clusters: &mut Vec<TriangleCluster>) {
    let center = |t: u32| triangles[t as usize].center;
    if order.len() <= GROUP {
        let members: Vec<MovingTriangle> = order.iter().map(|&t| triangles[t as usize]).collect();
        clusters.extend((!members.is_empty()).then(|| TriangleCluster::of(&members)));
        return;
    }

    let (low, high) = order
        .iter()
        .fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(l, h), &t| {
            (l.min(center(t)), h.max(center(t)))
        });
    // Median split along the longest side.
    let axis = (high - low).max_position();
    let half = order.len() / 2;

    order.select_nth_unstable_by(half, |&a, &b| {
        center(a)[axis].total_cmp(&center(b)[axis]).then(a.cmp(&b))
    });

    let (lower, upper) = order.split_at_mut(half);
    gather(triangles, lower, clusters);
    gather(triangles, upper, clusters);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_shapes::{bar, bent};

    #[test]
    fn all_triangles_that_a_vertex_may_meet_are_within_its_reach() {
        let bar = bar(40, 3);
        let mesh = &bar.mesh;
        let to = bent(&bar.points, 60.0);
        let passing = CollisionBound::new(mesh.triangles(), &bar.points, &to);

        assert!(passing.clusters.len() > 10);
        let reach = |v: usize| passing.reach(bar.points[v], to[v] - bar.points[v]);
        for v in 0..mesh.vertex_count() {
            let position = bar.points[v];
            let displacement = to[v] - bar.points[v];
            for t in (0..mesh.triangles().len() as u32)
                .filter(|&t| passing.may_meet(position, displacement, t))
            {
                let nearest = mesh
                    .triangle_points(t as usize)
                    .iter()
                    .map(|p| p.distance(position))
                    .fold(f64::INFINITY, f64::min);

                assert!(nearest <= reach(v), "vertex {v}, triangle {t}");
                assert!(
                    passing.triangles[t as usize].center.distance(position) <= reach(v),
                    "vertex {v}, triangle {t}"
                );
            }
        }

        let longest = (0..mesh.vertex_count())
            .map(|v| to[v].distance(bar.points[v]))
            .fold(0.0, f64::max);

        assert!(
            (0..mesh.vertex_count()).any(|v| reach(v) < 0.5 * longest),
            "half of the longest displacement: {longest}"
        );
    }

    #[test]
    fn a_rigid_translation_has_a_short_reach() {
        let bar = bar(40, 3);
        let to: Vec<DVec3> = bar
            .points
            .iter()
            .map(|p| *p + DVec3::new(100.0, 20.0, -3.0))
            .collect();

        let passing = CollisionBound::new(bar.mesh.triangles(), &bar.points, &to);
        let edge = bar.mesh.mean_edge_length();
        assert!(
            (0..bar.mesh.vertex_count())
                .all(|v| passing.reach(bar.points[v], to[v] - bar.points[v]) < 2.0 * edge)
        );
    }
}
