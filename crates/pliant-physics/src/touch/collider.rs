//! Solids that soft skin gives way to.
//!
//! **Problem.** A finger, a spoon, a wall moves, and so does the skin; at the end of every substep
//! no vertex may be inside, however fast either was.
//!
//! **Equation.** In the solid's own frame a vertex goes straight from `p` to `q` in a substep.
//! Where that way enters the solid at `e` with the normal `n`, it is kept on that side, `q ← q +
//! max(0, n·(e − q)) n`; then it is moved to the nearest point of the surface if it is
//! still inside. Of the way `t` along the surface, friction takes back at most `μ` times the push.
//!
//! **Source.** Eq. 5.13 of Çetinaslan's thesis is the last but one, for a sphere; friction: Bender,
//! Müller, Macklin, "A survey on position based dynamics", 2017, section 5.
//!
//! **Ours.** Continuous where a way is long beside the solid; the nearest point alone is right, and
//! quicker, where it is short.

use pliant_linalg::RigidMotion;
use pliant_mesh::glam::{BVec3, DVec3};

use crate::obstacle::Nearest;
use crate::{Obstacle, PhysicsError};

/// Ways longer than this share of the thinnest part are followed: ours; half of it is where the
/// nearest way out may be the wrong one.
const CONTINUOUS: f64 = 0.25;

/// Rounds over several solids that press on one vertex: ours.
const ROUNDS: usize = 4;

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

    /// Whether it is thin enough to pass between vertices of a surface with edges of this length.
    #[must_use]
    pub fn passes_between(&self, edge: f64) -> bool {
        self.obstacle.thickness() < edge
    }

    /// How far any of its points goes at most between two places.
    pub(crate) fn travel(&self, from: &RigidMotion, to: &RigidMotion) -> f64 {
        let bounds = self.obstacle.bounds();
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

/// A solid in one substep.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MovingCollider<'a> {
    collider: &'a Collider,
    back_before: RigidMotion,
    after: RigidMotion,
    back_after: RigidMotion,
    /// A ball around it, and its way in the substep.
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

    /// The way out for a place inside, in the solid's own frame.
    fn way_out(&self, place: DVec3) -> Option<Nearest> {
        self.collider
            .obstacle
            .nearest(place, 0.0)
            .filter(|near| near.depth > 0.0)
    }

    /// Where a vertex that goes `from` → `to` ends, if the solid is in its way.
    fn met(&self, from: DVec3, to: DVec3) -> Option<DVec3> {
        let reach = self.reach + from.distance(to);
        if to.distance_squared(self.center) > reach * reach {
            return None;
        }
        let obstacle = &self.collider.obstacle;
        let (start, end) = (self.back_before.apply(from), self.back_after.apply(to));
        let (mut place, mut normal) = (end, DVec3::ZERO);
        // A mesh may have walls thinner than itself.
        if (obstacle.is_mesh() || start.distance(end) > CONTINUOUS * obstacle.thickness())
            && let Some((entry, out)) = obstacle.entry(start, end)
        {
            (place, normal) = (end + out * out.dot(entry - end).max(0.0), out);
        }
        if let Some(near) = self.way_out(place) {
            (place, normal) = (near.point, near.normal);
        }
        if place == end {
            return None;
        }
        if self.collider.friction > 0.0 {
            place = self.rubbed(start, end, place, normal);
            place = self.way_out(place).map_or(place, |near| near.point);
        }
        Some(self.after.apply(place))
    }

    /// The place after friction.
    fn rubbed(&self, start: DVec3, end: DVec3, place: DVec3, normal: DVec3) -> DVec3 {
        let way = place - start;
        let along = way - normal * normal.dot(way);
        let most = self.collider.friction * place.distance(end);
        place - along.clamp_length_max(most)
    }

    fn depth(&self, place: DVec3) -> f64 {
        self.way_out(self.back_after.apply(place))
            .map_or(0.0, |near| near.depth)
    }
}

/// Where a vertex that goes `from` → `to` ends among solids, if any is in its way.
pub(crate) fn meet(colliders: &[MovingCollider<'_>], from: DVec3, to: DVec3) -> Option<DVec3> {
    let mut place = to;
    for _ in 0..ROUNDS {
        let mut pushed = false;
        for collider in colliders {
            if let Some(next) = collider.met(from, place) {
                (place, pushed) = (next, true);
            }
        }
        if !pushed {
            break;
        }
    }
    (place != to).then_some(place)
}

/// A vertex moved to the nearest point of the surface of each solid that it is inside.
pub(crate) fn outside(colliders: &[MovingCollider<'_>], place: DVec3) -> DVec3 {
    colliders.iter().fold(place, |place, solid| {
        let near = solid.way_out(solid.back_after.apply(place));
        near.map_or(place, |near| solid.after.apply(near.point))
    })
}

/// The deepest that a vertex is inside any solid.
pub(crate) fn depth(colliders: &[MovingCollider<'_>], place: DVec3) -> f64 {
    colliders
        .iter()
        .map(|collider| collider.depth(place))
        .fold(0.0, f64::max)
}
