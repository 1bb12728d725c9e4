//! The deepest point of a triangle inside an obstacle.
//!
//! **Problem.** All corners of a face may be outside a ball or a finger while its middle is inside;
//! contact needs the point of the face that is deepest, its depth and the direction out.
//!
//! **Equation.** With the signed distance `d` of the obstacle and barycentric coordinates `b`,
//!
//! ```text
//! min d(Σ bᵢ xᵢ)        bᵢ ≥ 0        Σ bᵢ = 1
//! ```
//!
//! For a ball this is the point of the triangle that is closest to its centre, for a capsule the
//! one that is closest to its axis. For other solids projected gradient steps on the triangle find
//! a local minimum, `x ← P(x − s ∇d(x))`, where `P` is the closest point of the triangle; outside
//! the solid the distance is added to `s`, so that strides that vanish alternate projections onto
//! solid and triangle. Where no such step goes deeper, as along the edge of a box, steps parallel to the
//! sides of the triangle are tried.
//!
//! **Source.** Macklin, Erleben, Müller, Chentanez, Jeschke, Corse, "Local optimization for robust
//! signed distance field collision", 2020; outside: Cheney and Goldstein, "Proximity maps for convex
//! sets", 1959.
//!
//! **Departures.** The stride inside halves whenever a step is not deeper. Convex solids are convex
//! functions on the triangle, so that a local minimum is the global one; meshes start from the
//! corners and sides, too. A triangle whose centre is further from the obstacle than its corners
//! are from the centre needs a single query.

use pliant_mesh::closest_on_triangle;
use pliant_mesh::glam::DVec3;

use super::convex::ConvexSolid;
use super::{NearestSurface, Obstacle, Solid};

/// Steps of the local minimisation. Chosen; the stride halves in most of them.
const STEPS: usize = 32;
/// Strides below this share of the size of the triangle end the minimisation. Chosen.
const LEAST_STRIDE: f64 = 1e-4;

/// A point of a triangle with the surface of an obstacle next to it, in the frame of the obstacle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct DeepestPoint {
    pub(crate) barycentric: [f64; 3],
    pub(crate) nearest: NearestSurface,
}

impl Obstacle {
    /// The deepest point of a triangle in the frame of the obstacle, if it is deeper than
    /// `-margin`. `hint` is a point in which the search may begin.
    pub(crate) fn deepest_on_triangle(
        &self,
        corners: [DVec3; 3],
        margin: f64,
        hint: Option<[f64; 3]>,
    ) -> Option<DeepestPoint> {
        let low = corners[0].min(corners[1]).min(corners[2]) - DVec3::splat(margin);
        let high = corners[0].max(corners[1]).max(corners[2]) + DVec3::splat(margin);
        // Written so that a corner that is NaN is near nothing.
        if !(low.cmple(self.bounds.max).all() && high.cmpge(self.bounds.min).all()) {
            return None;
        }

        let deepest = match &self.solid {
            Solid::ConvexSolid(ConvexSolid::Capsule { start, end, .. }) => {
                let barycentric = closest_to_segment(corners, *start, *end);
                self.depth_at(corners, barycentric, f64::INFINITY)?
            }
            Solid::ConvexSolid(_) => self.descended(corners, hint.unwrap_or(CENTER), margin)?,
            Solid::Mesh(_) => self.deepest_of_starts(corners, margin, hint)?,
        };

        (deepest.nearest.depth > -margin).then_some(deepest)
    }

    /// The deepest of several local minima.
    fn deepest_of_starts(
        &self,
        corners: [DVec3; 3],
        margin: f64,
        hint: Option<[f64; 3]>,
    ) -> Option<DeepestPoint> {
        // No point of the triangle is nearer to the obstacle than this ball around its centre.
        let center = self.depth_at(corners, CENTER, margin + radius(corners))?;
        if center.nearest.depth < -margin - radius(corners) {
            return None;
        }

        let starts = hint.into_iter().chain(STARTS);
        let found = starts.filter_map(|start| self.descended(corners, start, margin));
        found.max_by(|a, b| a.nearest.depth.total_cmp(&b.nearest.depth))
    }

    /// The local minimum of the signed distance that is reached from `start`.
    fn descended(&self, corners: [DVec3; 3], start: [f64; 3], margin: f64) -> Option<DeepestPoint> {
        let size = radius(corners);
        let reach = margin + 2.0 * size;
        let mut best = self.depth_at(corners, start, reach)?;
        if best.nearest.depth < -reach {
            return None;
        }

        let mut stride = size;
        let mut from = best;
        for _ in 0..STEPS {
            let NearestSurface { normal, depth, .. } = from.nearest;
            // Outside, to the surface first, and beyond it by the stride.
            let step = stride - depth.min(0.0);
            let goal = point_at(corners, from.barycentric) - normal * step;
            let (barycentric, _) = closest_on_triangle(corners, goal);
            let Some(next) = self.depth_at(corners, barycentric, reach) else {
                break;
            };

            if next.nearest.depth > best.nearest.depth {
                // Further along what has become deeper.
                (best, from) = (next, next);
            } else if let Some(beside) = self.deeper_beside(corners, best, stride / size, reach) {
                (best, from) = (beside, beside);
            } else {
                from = best;
                stride *= 0.5;
                if stride < LEAST_STRIDE * size {
                    break;
                }
            }
        }

        Some(best)
    }

    /// A deeper point of the triangle next to `point`, parallel to the sides. Along the edges of a
    /// box or cylinder the gradient points across them and never along.
    fn deeper_beside(
        &self,
        corners: [DVec3; 3],
        point: DeepestPoint,
        share: f64,
        reach: f64,
    ) -> Option<DeepestPoint> {
        if !matches!(self.solid, Solid::ConvexSolid(_)) {
            return None;
        }

        let sides = [(0, 1), (1, 0), (1, 2), (2, 1), (2, 0), (0, 2)];
        let beside = sides.into_iter().filter_map(|(to, from)| {
            let mut barycentric = point.barycentric;
            let part = share.min(barycentric[from]);
            barycentric[to] += part;
            barycentric[from] -= part;
            self.depth_at(corners, barycentric, reach)
        });
        let deepest = beside.max_by(|a, b| a.nearest.depth.total_cmp(&b.nearest.depth))?;
        (deepest.nearest.depth > point.nearest.depth).then_some(deepest)
    }

    fn depth_at(
        &self,
        corners: [DVec3; 3],
        barycentric: [f64; 3],
        reach: f64,
    ) -> Option<DeepestPoint> {
        let nearest = self.nearest(point_at(corners, barycentric), reach)?;
        Some(DeepestPoint {
            barycentric,
            nearest,
        })
    }
}

const CENTER: [f64; 3] = [1.0 / 3.0; 3];
/// Where the minimisation begins for solids that are not convex.
const STARTS: [[f64; 3]; 7] = [
    CENTER,
    [1.0, 0.0, 0.0],
    [0.0, 1.0, 0.0],
    [0.0, 0.0, 1.0],
    [0.5, 0.5, 0.0],
    [0.0, 0.5, 0.5],
    [0.5, 0.0, 0.5],
];

fn point_at([a, b, c]: [DVec3; 3], [u, v, w]: [f64; 3]) -> DVec3 {
    a * u + b * v + c * w
}

/// The largest distance of a corner from the centre.
fn radius(corners: [DVec3; 3]) -> f64 {
    let center = point_at(corners, CENTER);
    corners
        .iter()
        .map(|corner| corner.distance(center))
        .fold(0.0, f64::max)
}

/// The point of a triangle that is closest to a segment; of a segment through the triangle, the
/// point in which they meet.
fn closest_to_segment(corners: [DVec3; 3], start: DVec3, end: DVec3) -> [f64; 3] {
    if start == end {
        return closest_on_triangle(corners, start).0;
    }
    if let Some(barycentric) = crossing(corners, start, end) {
        return barycentric;
    }

    // Otherwise an end of the segment or a side of the triangle is involved.
    let mut best = CENTER;
    let mut least = f64::INFINITY;
    for place in [start, end] {
        let (barycentric, point) = closest_on_triangle(corners, place);
        if point.distance_squared(place) < least {
            (best, least) = (barycentric, point.distance_squared(place));
        }
    }
    for (i, j) in [(0, 1), (1, 2), (2, 0)] {
        let (along, squared) = closest_of_segments([corners[i], corners[j]], [start, end]);
        if squared < least {
            best = [0.0; 3];
            best[i] = 1.0 - along;
            best[j] = along;
            least = squared;
        }
    }

    best
}

/// The point in which a segment crosses a triangle.
fn crossing([a, b, c]: [DVec3; 3], start: DVec3, end: DVec3) -> Option<[f64; 3]> {
    let direction = end - start;
    let normal = (b - a).cross(c - a);
    let rate = normal.dot(direction);
    let time = normal.dot(a - start) / rate;
    if !(0.0..=1.0).contains(&time) {
        return None;
    }

    let point = start + direction * time;
    let scale = normal.length_squared();
    let w = (b - a).cross(point - a).dot(normal) / scale;
    let v = (point - a).cross(c - a).dot(normal) / scale;
    let u = 1.0 - v - w;
    (u >= 0.0 && v >= 0.0 && w >= 0.0).then_some([u, v, w])
}

/// The parameter on the first of two segments where it is closest to the second one, and the
/// squared distance there.
fn closest_of_segments([a, b]: [DVec3; 2], [c, d]: [DVec3; 2]) -> (f64, f64) {
    let first = b - a;
    let second = d - c;
    let offset = a - c;
    let aa = first.length_squared();
    let bb = second.length_squared();
    let ab = first.dot(second);
    let determinant = aa * bb - ab * ab;

    let clamped = |value: f64| {
        if value.is_finite() {
            value.clamp(0.0, 1.0)
        } else {
            0.0
        }
    };
    // Alternating clamps: of two lines, then of one segment to the other.
    let along = clamped((ab * second.dot(offset) - bb * first.dot(offset)) / determinant);
    let other = clamped((ab * along + second.dot(offset)) / bb);
    let along = clamped((ab * other - first.dot(offset)) / aa);

    let gap = (a + first * along) - (c + second * other);
    (along, gap.length_squared())
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::glam::DQuat;
    use pliant_mesh::shapes::icosphere;

    /// The largest depth on a fine grid of a triangle.
    fn sampled(obstacle: &Obstacle, corners: [DVec3; 3]) -> f64 {
        let count = 120;
        let mut deepest = f64::NEG_INFINITY;
        for i in 0..=count {
            for j in 0..=count - i {
                let u = f64::from(i) / f64::from(count);
                let v = f64::from(j) / f64::from(count);
                let point = point_at(corners, [u, v, 1.0 - u - v]);
                if let Some(near) = obstacle.nearest(point, 10.0) {
                    deepest = deepest.max(near.depth);
                }
            }
        }
        deepest
    }

    fn solids() -> Vec<Obstacle> {
        let tilt = DQuat::from_rotation_z(0.4) * DQuat::from_rotation_x(0.7);
        vec![
            Obstacle::sphere(DVec3::ZERO, 0.3).unwrap(),
            Obstacle::capsule(DVec3::new(-1.0, 0.1, 0.0), DVec3::new(0.9, 0.2, 0.3), 0.15).unwrap(),
            Obstacle::cylinder(DVec3::new(0.0, -0.5, 0.0), DVec3::new(0.1, 0.6, 0.0), 0.25)
                .unwrap(),
            Obstacle::cuboid(DVec3::ZERO, DVec3::new(0.5, 0.2, 0.3), tilt).unwrap(),
            Obstacle::mesh(&icosphere(2)).unwrap(),
        ]
    }

    #[test]
    fn no_sample_of_a_triangle_is_deeper_than_its_deepest_point() {
        let mut inside = 0;
        for solid in solids() {
            for k in 0..60 {
                // Triangles around the solid in all directions, some of them through it.
                let angle = f64::from(k) * 2.4;
                let height = f64::from(k) / 30.0 - 1.0;
                let spread = (1.0 - height * height).max(0.0).sqrt();
                let out = DVec3::new(spread * angle.cos(), height, spread * angle.sin());
                let side = out.any_orthonormal_vector();
                let middle = out * (0.1 + 0.02 * f64::from(k % 40));
                let corner = |turn: f64| {
                    middle
                        + DQuat::from_axis_angle(out, turn + angle) * side * 0.7
                        + out * (0.1 * turn)
                };
                let corners = [corner(0.0), corner(2.0), corner(4.1)];

                let expected = sampled(&solid, corners);
                let found = solid
                    .deepest_on_triangle(corners, 2.0, None)
                    .map_or(f64::NEG_INFINITY, |deepest| deepest.nearest.depth);
                inside += usize::from(expected > 0.0);
                // The search is local: 2 % of the size of the triangle.
                assert!(
                    found > expected - 0.02,
                    "{found} for {expected}, triangle {k}"
                );
            }
        }
        assert!(inside > 60, "{inside} triangles enter a solid");
    }
}
