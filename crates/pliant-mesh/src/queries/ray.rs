//! Ray–triangle intersection, for one triangle or for all of a pose.
//!
//! **Problem.** A person clicks on a surface that moves in every frame: no search tree lives long
//! enough to pay for itself.
//!
//! **Equation.** Sheared so that the ray runs along an axis, a triangle is hit where the three edge
//! functions of its projection have one sign; those functions are also its barycentric coordinates.
//!
//! **Source.** Woop, Benthin, Wald, "Watertight Ray/Triangle Intersection", JCGT 2013.
//!
//! **Departures.** The search over a pose first notes for each vertex on which sides of the ray it
//! lies, in two directions across it. A triangle with all corners on one side is skipped at the
//! cost of three bytes; the few that are left are tested as in the tree's search.

use glam::DVec3;
use pliant_linalg::parallel;

use crate::queries::surface_index::is_moderate;
use crate::{RayHit, TrianglePoint};

/// Vertices or triangles in one parallel task.
const ITEMS_PER_TASK: usize = 8192;

/// The first triangle of a pose that a ray from `origin` along `direction` (of any length but zero)
/// meets, from either side.
///
/// Cost is linear in vertices and triangles; nothing is kept. Where two triangles are equally near,
/// the one with the lower index is taken. Positions may be of single precision; a triangle with a
/// corner that is not finite is not hit.
///
/// # Panics
/// If a triangle names a vertex that is not there.
#[must_use]
pub fn nearest_ray_hit<P>(
    positions: &[P],
    triangles: &[[u32; 3]],
    origin: DVec3,
    direction: DVec3,
) -> Option<RayHit>
where
    P: Copy + Into<DVec3> + Sync,
{
    let ray = Ray::new(origin, direction)?;
    let sides = parallel::map(positions.len(), ITEMS_PER_TASK, |v| {
        ray.sides(positions[v].into())
    });

    // Each task searches a range of triangles, without those that lie on one side of the ray.
    let tasks = triangles.len().div_ceil(ITEMS_PER_TASK);
    let nearest_of_task = parallel::map(tasks, 1, |task| {
        let first = task * ITEMS_PER_TASK;
        let part = &triangles[first..triangles.len().min(first + ITEMS_PER_TASK)];
        let around = part.iter().enumerate().filter(|(_, [a, b, c])| {
            sides[*a as usize] & sides[*b as usize] & sides[*c as usize] == 0
        });

        nearest_of(around.filter_map(|(k, corners)| {
            let (distance, barycentric) =
                ray.triangle_hit(corners.map(|v| positions[v as usize].into()))?;
            Some(RayHit {
                place: TrianglePoint {
                    triangle: (first + k) as u32,
                    barycentric,
                },
                distance,
            })
        }))
    });

    nearest_of(nearest_of_task.into_iter().flatten())
}

/// The hit at the least distance; the first of equals.
fn nearest_of(hits: impl Iterator<Item = RayHit>) -> Option<RayHit> {
    hits.reduce(|best, hit| {
        if hit.distance < best.distance {
            hit
        } else {
            best
        }
    })
}

/// A ray sheared so that it runs along its dominant axis.
pub(crate) struct Ray {
    origin: DVec3,
    axes: [usize; 3],
    shear: DVec3,
    inverse: DVec3,
    /// Rows that shear a point to its first two coordinates.
    across: [DVec3; 2],
}

impl Ray {
    /// Smaller components count as this: no box is missed, and zero times infinity does not arise.
    const SMALLEST_COMPONENT: f64 = 1e-300;
    /// Boxes are widened by this part, since the slab distances are rounded.
    const WIDENING: f64 = 1.0 + 8.0 * f64::EPSILON;

    pub(crate) fn new(origin: DVec3, direction: DVec3) -> Option<Self> {
        // Scaling first keeps the square of huge and tiny directions in range.
        let direction = (direction / direction.abs().max_element()).try_normalize()?;
        if !is_moderate(origin) || !direction.is_finite() {
            return None;
        }

        // The dominant component becomes the axis of the sheared frame, so that no division is
        // unstable.
        let z = direction.abs().max_position();
        let axes = [(z + 1) % 3, (z + 2) % 3, z];
        let along = direction[z];
        let shear = DVec3::new(
            direction[axes[0]] / along,
            direction[axes[1]] / along,
            1.0 / along,
        );

        // Slab distances need a reciprocal of every component, also of zero ones.
        let floor = |d: f64| {
            if d.abs() < Self::SMALLEST_COMPONENT {
                Self::SMALLEST_COMPONENT.copysign(d)
            } else {
                d
            }
        };

        let inverse =
            DVec3::new(floor(direction.x), floor(direction.y), floor(direction.z)).recip();

        // Rows that map a point relative to the origin to its two sheared coordinates.
        let across = [0, 1].map(|k| {
            let mut row = DVec3::ZERO;
            (row[axes[k]], row[z]) = (1.0, -shear[k]);
            row
        });

        Some(Self {
            origin,
            axes,
            shear,
            inverse,
            across,
        })
    }

    /// A lower bound of the distance to anything in a box; the greatest number when the ray misses
    /// it.
    pub(crate) fn box_distance(&self, min: DVec3, max: DVec3) -> f64 {
        let s = (min - self.origin) * self.inverse;
        let t = (max - self.origin) * self.inverse;
        let enter = s.min(t).max_element().max(0.0);
        let leave = s.max(t).min_element();

        if enter <= leave * Self::WIDENING {
            enter / Self::WIDENING
        } else {
            f64::MAX
        }
    }

    /// Distance and barycentric coordinates of the hit. The sign of each edge function is the exact
    /// opposite of the neighbour's across that edge, so no ray slips through between two
    /// triangles.
    pub(crate) fn triangle_hit(&self, corners: [DVec3; 3]) -> Option<(f64, [f64; 3])> {
        let [x, y, z] = self.axes;

        // Corners in the sheared frame, in which the ray is the z axis.
        let [a, b, c] = corners.map(|p| {
            let q = p - self.origin;
            DVec3::new(
                q[x] - self.shear.x * q[z],
                q[y] - self.shear.y * q[z],
                self.shear.z * q[z],
            )
        });

        // Edge functions, also the unnormalised barycentric coordinates.
        let weights = [
            c.x * b.y - c.y * b.x,
            a.x * c.y - a.y * c.x,
            b.x * a.y - b.y * a.x,
        ];
        let [u, v, w] = weights;

        // Mixed signs: the ray passes outside. All zero: the triangle is seen edge-on.
        if (u < 0.0 || v < 0.0 || w < 0.0) && (u > 0.0 || v > 0.0 || w > 0.0) {
            return None;
        }

        let sum = u + v + w;
        if sum == 0.0 {
            return None;
        }

        let barycentric = weights.map(|weight| weight / sum);
        let distance = barycentric[0] * a.z + barycentric[1] * b.z + barycentric[2] * c.z;
        (distance >= 0.0 && distance.is_finite()).then_some((distance, barycentric))
    }

    /// One bit for each side of the ray on which a point lies, in the two directions across it;
    /// none on the ray or for NaN.
    #[inline] // The search is generic, so it is compiled elsewhere; a call per vertex would be most of its cost.
    fn sides(&self, p: DVec3) -> u8 {
        // Products with zero and one are exact: these are the sheared coordinates of
        // `triangle_hit`, without asking for an axis.
        let [x, y] = self.across.map(|row| row.dot(p - self.origin));
        u8::from(x > 0.0) | u8::from(x < 0.0) << 1 | u8::from(y > 0.0) << 2 | u8::from(y < 0.0) << 3
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SurfaceIndex;
    use crate::shapes::icosphere;
    use crate::test_shapes::{Random, irregular_torus};

    #[test]
    fn a_search_without_a_tree_finds_what_the_tree_finds() {
        let mut hits = 0;
        for mesh in [irregular_torus(120, 90), icosphere(5)] {
            let index = SurfaceIndex::new(&mesh).unwrap();
            let mut random = Random(21);
            for _ in 0..300 {
                let origin = random.point() * 4.0;
                let direction = random.point() - origin;
                let found = nearest_ray_hit(mesh.positions(), mesh.triangles(), origin, direction);
                assert_eq!(found, index.cast_ray(origin, direction, f64::INFINITY));
                hits += usize::from(found.is_some());
            }
        }

        assert!(hits > 100, "only {hits} rays of 600 hit");
    }

    #[test]
    fn single_precision_moves_a_hit_by_no_more_than_its_rounding() {
        let mesh = icosphere(4);
        let single: Vec<glam::Vec3> = mesh.positions().iter().map(|p| p.as_vec3()).collect();
        let origin = DVec3::new(0.2, -0.3, 4.0);
        let exact =
            nearest_ray_hit(mesh.positions(), mesh.triangles(), origin, DVec3::NEG_Z).unwrap();
        let rounded = nearest_ray_hit(&single, mesh.triangles(), origin, DVec3::NEG_Z).unwrap();
        assert_eq!(exact.place.triangle, rounded.place.triangle);
        assert!((exact.distance - rounded.distance).abs() < 4.0 * f64::from(f32::EPSILON));
    }

    #[test]
    fn invalid_rays_and_nan_corners_give_no_hit() {
        let corners = [DVec3::ZERO, DVec3::X, DVec3::Y];
        let triangles = [[0, 1, 2]];
        let inside = DVec3::new(0.2, 0.2, 1.0);

        assert!(nearest_ray_hit(&corners, &triangles, inside, DVec3::NEG_Z).is_some());
        for direction in [DVec3::ZERO, DVec3::NAN] {
            assert_eq!(
                nearest_ray_hit(&corners, &triangles, inside, direction),
                None
            );
        }

        let lost = [DVec3::ZERO, DVec3::NAN, DVec3::Y];
        assert_eq!(
            nearest_ray_hit(&lost, &triangles, inside, DVec3::NEG_Z),
            None
        );

        assert_eq!(
            nearest_ray_hit::<DVec3>(&[], &[], inside, DVec3::NEG_Z),
            None
        );
    }
}
