//! Signed distance and entry points of convex solids in closed form.
//!
//! **Problem.** The signed distance of balls, capsules, cylinders and boxes, and the point where a
//! segment enters them.
//!
//! **Equation.** The signed distance `d` of a convex solid is convex along a segment `x(t)`. Its
//! tangents lie below it, so that the Newton steps
//!
//! ```text
//! t ← t − d(x) / (n(x) · ẋ)
//! ```
//!
//! from outside never pass the first root; where the rate `n · ẋ` is not negative any more, there
//! is none.
//!
//! **Source.** Ericson, "Real-Time Collision Detection", 2005, section 5.1, for the nearest points;
//! Newton's iteration for the entry.
//!
//! **Departures.** Normals outside are computed from the distances beyond each face, not from the
//! difference to the nearest point, which is rounding noise near the surface. Ties go to the first
//! axis, and to the positive side.

use pliant_mesh::Bounds;
use pliant_mesh::glam::{DMat3, DQuat, DVec3};

use super::NearestSurface;

/// Newton steps towards an entry: a segment that grazes the solid halves its distance in each.
const TRIES: usize = 64;

#[derive(Debug, Clone, Copy)]
pub(super) enum ConvexSolid {
    /// A ball where both ends coincide.
    Capsule {
        start: DVec3,
        end: DVec3,
        radius: f64,
    },
    Cylinder {
        start: DVec3,
        end: DVec3,
        radius: f64,
    },
    Cuboid {
        center: DVec3,
        half_extents: DVec3,
        rotation: DQuat,
    },
}

impl ConvexSolid {
    pub(super) fn thickness(&self) -> f64 {
        match self {
            Self::Capsule { radius, .. } => 2.0 * radius,
            Self::Cylinder { start, end, radius } => start.distance(*end).min(2.0 * radius),
            Self::Cuboid { half_extents, .. } => 2.0 * half_extents.min_element(),
        }
    }

    /// The bounds; for a cylinder those of the balls at its ends.
    pub(super) fn bounds(&self) -> Bounds {
        match *self {
            Self::Capsule { start, end, radius } | Self::Cylinder { start, end, radius } => {
                Bounds {
                    min: start.min(end) - DVec3::splat(radius),
                    max: start.max(end) + DVec3::splat(radius),
                }
            }
            Self::Cuboid {
                center,
                half_extents,
                rotation,
            } => {
                // The extent of a rotated box along the coordinate axes.
                let axes = DMat3::from_quat(rotation);
                let reach = axes.x_axis.abs() * half_extents.x
                    + axes.y_axis.abs() * half_extents.y
                    + axes.z_axis.abs() * half_extents.z;
                Bounds {
                    min: center - reach,
                    max: center + reach,
                }
            }
        }
    }

    pub(super) fn nearest(&self, query: DVec3) -> NearestSurface {
        match *self {
            Self::Capsule { start, end, radius } => nearest_on_capsule(query, start, end, radius),
            Self::Cylinder { start, end, radius } => nearest_on_cylinder(query, start, end, radius),
            Self::Cuboid {
                center,
                half_extents,
                rotation,
            } => {
                let NearestSurface {
                    point,
                    normal,
                    depth,
                } = nearest_on_box(rotation.conjugate() * (query - center), half_extents);
                NearestSurface {
                    point: center + rotation * point,
                    normal: rotation * normal,
                    depth,
                }
            }
        }
    }

    /// The first entry of a segment, and the normal there; a depth of at most `on_surface` is not
    /// inside.
    pub(super) fn entry(&self, from: DVec3, to: DVec3, on_surface: f64) -> Option<(DVec3, DVec3)> {
        let segment = to - from;
        let mut time = 0.0;
        for _ in 0..TRIES {
            let NearestSurface { normal, depth, .. } = self.nearest(from + segment * time);

            // Newton's step to the root of the tangent.
            let rate = normal.dot(segment);
            let next = time + depth / rate;
            if depth > on_surface || rate >= 0.0 || next > 1.0 {
                return None;
            }
            if depth >= -on_surface {
                return Some((from + segment * next.max(0.0), normal));
            }

            time = next;
        }

        None
    }
}

fn nearest_on_capsule(query: DVec3, start: DVec3, end: DVec3, radius: f64) -> NearestSurface {
    let core = start + (end - start) * along(start, end, query).clamp(0.0, 1.0);
    let normal = (query - core)
        .try_normalize()
        .unwrap_or_else(|| across(end - start));
    NearestSurface {
        point: core + normal * radius,
        normal,
        depth: radius - query.distance(core),
    }
}

/// The parameter of the foot of `query` on a line: zero at `start`, one at `end`.
fn along(start: DVec3, end: DVec3, query: DVec3) -> f64 {
    let axis = end - start;
    let length_squared = axis.length_squared();
    if length_squared > 0.0 {
        (query - start).dot(axis) / length_squared
    } else {
        0.0
    }
}

/// A unit vector orthogonal to an axis, or any unit vector where the axis has no length.
fn across(axis: DVec3) -> DVec3 {
    axis.try_normalize()
        .map_or(DVec3::Y, DVec3::any_orthonormal_vector)
}

fn nearest_on_cylinder(query: DVec3, start: DVec3, end: DVec3, radius: f64) -> NearestSurface {
    let axis = (end - start).normalize();
    let length = start.distance(end);

    // Depths below the nearer cap and below the side.
    let height = (query - start).dot(axis);
    let foot = start + axis * height;
    let distance = query.distance(foot);
    let outward = (query - foot)
        .try_normalize()
        .unwrap_or_else(|| across(axis));

    let (cap_depth, cap_normal) = if 2.0 * height < length {
        (height, -axis)
    } else {
        (length - height, axis)
    };
    let side_depth = radius - distance;
    let beyond = outward * (-side_depth).max(0.0) + cap_normal * (-cap_depth).max(0.0);

    match beyond.try_normalize() {
        Some(normal) => NearestSurface {
            point: query - beyond,
            normal,
            depth: -beyond.length(),
        },
        None => {
            let (normal, depth) = if side_depth < cap_depth {
                (outward, side_depth)
            } else {
                (cap_normal, cap_depth)
            };
            NearestSurface {
                point: query + normal * depth,
                normal,
                depth,
            }
        }
    }
}

fn nearest_on_box(query: DVec3, half_extents: DVec3) -> NearestSurface {
    // Outside the nearest point is a clamp, inside the nearest face.
    let depths = half_extents - query.abs();
    let side = DVec3::ONE.copysign(query);
    let beyond = side * (-depths).max(DVec3::ZERO);

    match beyond.try_normalize() {
        Some(normal) => NearestSurface {
            point: query - beyond,
            normal,
            depth: -beyond.length(),
        },
        None => {
            let axis = depths.min_position();
            let normal = DVec3::AXES[axis] * side[axis];
            NearestSurface {
                point: query + normal * depths[axis],
                normal,
                depth: depths[axis],
            }
        }
    }
}
