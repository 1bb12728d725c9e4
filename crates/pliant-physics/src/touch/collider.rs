//! Colliders: solids that press on soft skin, with continuous collision and friction.
//!
//! **Problem.** A finger, a spoon or a wall moves, and so does the skin; at the end of every
//! substep no vertex may be inside, at any speed of either.
//!
//! **Equation.** In the frame of the solid a vertex moves straight from `p` to `q` in a substep.
//! Where this segment enters the solid at `e` with the normal `n`, it is kept on that side, `q ← q
//! + max(0, n·(e − q)) n`; then it is moved to the nearest point of the surface if it is still
//! inside. Friction removes at most `μ` times the normal correction from the tangential
//! displacement `t`.
//!
//! **Source.** Çetinaslan 2016, eq. 5.13, is the projection to the surface, for a sphere; friction:
//! Bender, Müller, Macklin, "A survey on position based dynamics", 2017, section 5.
//!
//! **Departures.** A vertex between several colliders, which projection to one pushes into the next,
//! leaves their union along the direction in which the way out is shortest. Continuous collision where a displacement is long relative to the solid; the
//! nearest point alone is correct, and faster, where it is short.

use pliant_linalg::RigidMotion;
use pliant_mesh::Bounds;
use pliant_mesh::glam::{BVec3, DVec3};

use crate::contact::obstacle::NearestSurface;
use crate::{Obstacle, PhysicsError};

/// Displacements longer than this share of the thickness use continuous collision. Chosen: from one
/// half on the nearest surface point may be the wrong one.
const CONTINUOUS: f64 = 0.25;

/// Rounds over several colliders that press on one vertex. Chosen.
const ROUNDS: usize = 4;

/// Steps along a direction out of several colliders, and their least length relative to the size of
/// the largest one. Chosen.
const EXIT_STEPS: usize = 128;
const EXIT_STEP: f64 = 1e-5;

/// A solid with friction.
#[derive(Debug, Clone)]
pub struct Collider {
    obstacle: Obstacle,
    friction: f64,
}

impl Collider {
    /// A solid; `friction` is Coulomb's coefficient.
    ///
    /// # Errors
    /// [`PhysicsError::Friction`] unless it is finite and not negative.
    pub fn new(obstacle: Obstacle, friction: f64) -> Result<Self, PhysicsError> {
        if !(friction >= 0.0 && friction.is_finite()) {
            return Err(PhysicsError::Friction { value: friction });
        }
        Ok(Self { obstacle, friction })
    }

    /// The solid.
    #[must_use]
    pub fn obstacle(&self) -> &Obstacle {
        &self.obstacle
    }

    pub(crate) fn friction(&self) -> f64 {
        self.friction
    }

    /// Whether it may pass between vertices of a surface with edges of this length.
    #[must_use]
    pub fn is_thinner_than(&self, edge: f64) -> bool {
        self.obstacle.thickness() < edge
    }

    /// The largest displacement of its points between two placements.
    pub(crate) fn travel(&self, from: &RigidMotion, to: &RigidMotion) -> f64 {
        let bounds = self.obstacle.bounds();

        // A rigid motion moves a corner of the bounds furthest.
        let corner = |k: usize| {
            DVec3::select(
                BVec3::new(k & 1 != 0, k & 2 != 0, k & 4 != 0),
                bounds.max,
                bounds.min,
            )
        };

        (0..8)
            .map(|k| from.apply(corner(k)).distance(to.apply(corner(k))))
            .fold(0.0, f64::max)
    }
}

/// A collider in one substep.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MovingCollider<'a> {
    collider: &'a Collider,
    back_before: RigidMotion,
    after: RigidMotion,
    back_after: RigidMotion,
    /// Centre of a ball around it and its motion in the substep.
    center: DVec3,
    reach: f64,
}

impl<'a> MovingCollider<'a> {
    pub(crate) fn new(collider: &'a Collider, before: RigidMotion, after: RigidMotion) -> Self {
        let bounds = collider.obstacle.bounds();
        let center = after.apply((bounds.min + bounds.max) * 0.5);
        let reach = 0.5 * bounds.diagonal() + collider.travel(&before, &after);

        Self {
            collider,
            back_before: before.inverse(),
            after,
            back_after: after.inverse(),
            center,
            reach,
        }
    }

    /// The nearest surface point of a position inside, in the frame of the solid.
    fn exit_point(&self, place: DVec3) -> Option<NearestSurface> {
        self.collider
            .obstacle
            .nearest(place, 0.0)
            .filter(|near| near.depth > 0.0)
    }

    /// The final position of a vertex that moves `from` → `to`, if it collides.
    fn collided_with(&self, from: DVec3, to: DVec3) -> Option<DVec3> {
        // Cull by a ball around the moving solid.
        let reach = self.reach + from.distance(to);
        if to.distance_squared(self.center) > reach * reach {
            return None;
        }

        let obstacle = &self.collider.obstacle;
        let start = self.back_before.apply(from);
        let end = self.back_after.apply(to);
        let mut place = end;
        let mut normal = DVec3::ZERO;

        // A mesh may have walls thinner than its thickness.
        if (obstacle.is_mesh() || start.distance(end) > CONTINUOUS * obstacle.thickness())
            && let Some((entry, out)) = obstacle.entry(start, end)
        {
            (place, normal) = (end + out * out.dot(entry - end).max(0.0), out);
        }

        // Then out to the nearest surface point, if it is still inside.
        if let Some(near) = self.exit_point(place) {
            (place, normal) = (near.point, near.normal);
        }
        if place == end {
            return None;
        }

        if self.collider.friction > 0.0 {
            place = self.after_friction(start, end, place, normal);
            place = self.exit_point(place).map_or(place, |near| near.point);
        }

        Some(self.after.apply(place))
    }

    /// The position after friction.
    fn after_friction(&self, start: DVec3, end: DVec3, place: DVec3, normal: DVec3) -> DVec3 {
        let displacement = place - start;

        // Coulomb: at most μ times the normal correction.
        let along = displacement - normal * normal.dot(displacement);
        let most = self.collider.friction * place.distance(end);
        place - along.clamp_length_max(most)
    }

    pub(crate) fn thickness(&self) -> f64 {
        self.collider.obstacle.thickness()
    }

    pub(crate) fn friction(&self) -> f64 {
        self.collider.friction
    }

    /// The displacement of a point along the surface of the moving solid, in the world.
    pub(crate) fn slip(&self, from: DVec3, to: DVec3, normal: DVec3) -> DVec3 {
        let start = self.back_before.apply(from);
        let end = self.back_after.apply(to);
        let displacement = self.after.rotation * (end - start);
        displacement - normal * normal.dot(displacement)
    }

    /// Bounds of the collider over its motion, enlarged by `margin`.
    pub(crate) fn swept_bounds(&self, margin: f64) -> Bounds {
        let reach = DVec3::splat(self.reach + margin);
        Bounds {
            min: self.center - reach,
            max: self.center + reach,
        }
    }

    /// The deepest point of a triangle that is deeper than `-margin`, with the surface next to it
    /// in world coordinates.
    pub(crate) fn deepest_on_triangle(
        &self,
        corners: [DVec3; 3],
        margin: f64,
        hint: Option<[f64; 3]>,
    ) -> Option<([f64; 3], NearestSurface)> {
        let center = (corners[0] + corners[1] + corners[2]) / 3.0;
        let size = corners
            .iter()
            .map(|corner| corner.distance_squared(center))
            .fold(0.0, f64::max)
            .sqrt();
        let reach = self.reach + size + margin;
        if center.distance_squared(self.center) > reach * reach {
            return None;
        }

        let local = corners.map(|corner| self.back_after.apply(corner));
        let found = self
            .collider
            .obstacle
            .deepest_on_triangle(local, margin, hint)?;
        let nearest = NearestSurface {
            point: self.after.apply(found.nearest.point),
            normal: self.after.rotation * found.nearest.normal,
            depth: found.nearest.depth,
        };
        Some((found.barycentric, nearest))
    }

    fn depth(&self, place: DVec3) -> f64 {
        self.exit_point(self.back_after.apply(place))
            .map_or(0.0, |near| near.depth)
    }
}

/// The final position of a vertex that moves `from` → `to` among colliders, if it collides with
/// any.
pub(crate) fn collided(colliders: &[MovingCollider<'_>], from: DVec3, to: DVec3) -> Option<DVec3> {
    let mut place = to;
    for _ in 0..ROUNDS {
        let mut pushed = false;
        for collider in colliders {
            if let Some(next) = collider.collided_with(from, place) {
                (place, pushed) = (next, true);
            }
        }

        if !pushed {
            return (place != to).then_some(place);
        }
    }

    Some(out_of_union(colliders, place))
}

/// A position outside of all colliders, if it is inside one.
pub(crate) fn pushed_out(colliders: &[MovingCollider<'_>], place: DVec3) -> DVec3 {
    let mut out = place;
    for _ in 0..ROUNDS {
        let next = projected_out(colliders, out);
        if next == out {
            return out;
        }
        out = next;
    }

    out_of_union(colliders, out)
}

/// The way out of the union of all colliders along the normals of those around a position, or along
/// their sum, whichever is shortest; the position itself if it is outside.
fn out_of_union(colliders: &[MovingCollider<'_>], place: DVec3) -> DVec3 {
    let mut directions = Vec::new();
    let mut sum = DVec3::ZERO;
    for collider in colliders {
        if let Some(near) = collider.exit_point(collider.back_after.apply(place)) {
            let normal = collider.after.rotation * near.normal;
            directions.push(normal);
            sum += normal;
        }
    }
    directions.extend(sum.try_normalize());

    let exits = directions
        .iter()
        .filter_map(|direction| Some((exit_along(colliders, place, *direction)?, *direction)));
    exits
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .map_or(place, |(length, direction)| place + direction * length)
}

/// The distance along a direction at which a position is outside of all colliders.
fn exit_along(colliders: &[MovingCollider<'_>], place: DVec3, direction: DVec3) -> Option<f64> {
    let size = colliders
        .iter()
        .map(|collider| collider.reach)
        .fold(0.0, f64::max);

    // No surface is nearer than the depth, so that a step by the depth does not leave by much.
    let mut length = 0.0;
    for _ in 0..EXIT_STEPS {
        let depth = depth(colliders, place + direction * length);
        if depth <= 0.0 {
            return Some(length);
        }
        length += depth.max(EXIT_STEP * size);
    }

    None
}

/// A position moved to the nearest surface point of each collider that it is inside.
pub(crate) fn projected_out(colliders: &[MovingCollider<'_>], place: DVec3) -> DVec3 {
    colliders.iter().fold(place, |place, solid| {
        let near = solid.exit_point(solid.back_after.apply(place));
        near.map_or(place, |near| solid.after.apply(near.point))
    })
}

/// The largest penetration into any collider.
pub(crate) fn depth(colliders: &[MovingCollider<'_>], place: DVec3) -> f64 {
    colliders
        .iter()
        .map(|collider| collider.depth(place))
        .fold(0.0, f64::max)
}
