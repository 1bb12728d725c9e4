//! Which vertices touch an obstacle, and what that lets them do.
//!
//! **Problem.** A shape in balance presses some vertices on an obstacle. These must not enter it,
//! may leave it, may slide along it, or are held by friction; which do what is known only once the
//! balance is.
//!
//! **Equation.** At a touching vertex with spring force `f`, outward normal `n`, push `p = −f·n`
//! and pull along the surface `t = f + p n`:
//!
//! ```text
//! depth ≤ 0,   p ≥ 0,   |t| ≤ μ p while it holds,   |t| = μ p once it slipped
//! ```
//!
//! Guess who touches, solve, correct the guess: who is inside is added, who is pulled away (`p <
//! 0`) is released.
//!
//! **Source.** Section 4 of the paper moves vertices to the surface and fixes them; the active set
//! is that of quadratic programming (Nocedal and Wright, "Numerical Optimization", 2006, section
//! 16.5).
//!
//! **Ours.** Only the normal direction is barred without friction. With friction a vertex is held
//! where it met the obstacle; if it pulls too hard it slips on the tangent plane to where it would
//! come to rest without friction, and is held again short of that by the part `μ p / |t|` of the
//! way: exact on a plane under a linear pull, and repeated until it holds. A vertex that was
//! released several times in one step is not released again, so that the search ends.

use std::collections::BTreeMap;

use pliant_linalg::RigidMotion;
use pliant_mesh::glam::DVec3;

use crate::obstacle::Contact;
use crate::support::Constraint;

/// Releases of one vertex in a step before it has to stay: ours; one that is released again and
/// again is on the brink of touching.
const MOST_RELEASES: u32 = 3;

/// Tangent planes that are laid anew for their direction alone, in a step: each takes some
/// hundredth of the error of the last. On the edge of an obstacle there is no end to it.
const MOST_TILTS: u32 = 4;

/// Friction is exceeded from this part above its limit on: ours, so that a vertex on the rim of its
/// cone comes to rest.
const FRICTION_SLACK: f64 = 1e-3;

/// How exactly contacts are met.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ContactTolerance {
    /// Vertices may be this deep inside, or off the surface they slide on.
    pub(crate) length: f64,
    /// Forces below this neither pull away nor slip.
    pub(crate) force: f64,
}

/// The vertices that touch one obstacle.
#[derive(Debug, Clone)]
pub(crate) struct ContactSet {
    friction: f64,
    touches: BTreeMap<u32, Touch>,
    releases: BTreeMap<u32, u32>,
}

/// One vertex on the surface of the obstacle.
#[derive(Debug, Clone, Copy)]
struct Touch {
    point: DVec3,
    normal: DVec3,
    grip: Grip,
    /// How often its plane was laid anew in this step although the vertex was on the surface.
    tilts: u32,
}

#[derive(Debug, Clone, Copy)]
enum Grip {
    /// Without friction.
    Slides,
    /// At the touch's point.
    Holds,
    /// On its way from a point; it is held again short of where it gets by `share` of the way.
    Slips { from: DVec3, share: f64 },
}

impl ContactSet {
    /// No vertex touches. `friction` is Coulomb's coefficient; what is not positive is none.
    pub(crate) fn new(friction: f64) -> Self {
        Self {
            friction: friction.max(0.0),
            touches: BTreeMap::new(),
            releases: BTreeMap::new(),
        }
    }

    /// How many vertices touch.
    pub(crate) fn len(&self) -> usize {
        self.touches.len()
    }

    /// Whether none touches.
    pub(crate) fn is_empty(&self) -> bool {
        self.touches.is_empty()
    }

    /// What the touching vertices may do, in ascending order.
    pub(crate) fn constraints(&self) -> Vec<(usize, Constraint)> {
        let constraint = |touch: &Touch| match touch.grip {
            Grip::Holds => Constraint::Fixed(touch.point),
            Grip::Slides | Grip::Slips { .. } => Constraint::Plane {
                normal: touch.normal,
                offset: touch.normal.dot(touch.point),
            },
        };
        self.touches
            .iter()
            .map(|(&vertex, touch)| (vertex as usize, constraint(touch)))
            .collect()
    }

    /// Whether a vertex touches.
    pub(crate) fn touches(&self, vertex: u32) -> bool {
        self.touches.contains_key(&vertex)
    }

    /// The touching vertices, ascending, and the outward normals where they touch.
    pub(crate) fn normals(&self) -> impl Iterator<Item = (u32, DVec3)> + '_ {
        self.touches
            .iter()
            .map(|(&vertex, touch)| (vertex, touch.normal))
    }

    /// Begins a step: the obstacle moved by `motion` and takes along who touches it.
    pub(crate) fn begin_step(&mut self, motion: &RigidMotion) {
        self.releases.clear();
        for touch in self.touches.values_mut() {
            touch.point = motion.apply(touch.point);
            touch.normal = motion.rotation * touch.normal;
            touch.tilts = 0;
            if let Grip::Slips { from, .. } = &mut touch.grip {
                *from = motion.apply(*from);
            }
        }
    }

    /// Corrects the set after a solve; returns how many vertices changed. At zero the contact
    /// conditions hold.
    ///
    /// `contacts` are those of the solved `positions` with a margin of some tolerances at least;
    /// `force_on` is the force of the springs on a vertex, without that of the obstacle.
    pub(crate) fn update(
        &mut self,
        positions: &[DVec3],
        contacts: &[Contact],
        force_on: impl Fn(u32) -> DVec3,
        tolerance: ContactTolerance,
    ) -> usize {
        let found: BTreeMap<u32, &Contact> = contacts
            .iter()
            .map(|contact| (contact.vertex, contact))
            .collect();
        let before = std::mem::take(&mut self.touches);
        let mut changes = 0;
        for (vertex, touch) in before {
            let next = self.next_touch(
                vertex,
                touch,
                found.get(&vertex).copied(),
                positions[vertex as usize],
                force_on(vertex),
                tolerance,
            );
            changes += usize::from(next.is_none_or(|(_, changed)| changed));
            match next {
                Some((touch, _)) => drop(self.touches.insert(vertex, touch)),
                None => *self.releases.entry(vertex).or_default() += 1,
            }
        }
        for contact in contacts
            .iter()
            .filter(|contact| contact.depth > tolerance.length)
        {
            let grip = if self.friction > 0.0 {
                Grip::Holds
            } else {
                Grip::Slides
            };
            self.touches.entry(contact.vertex).or_insert_with(|| {
                changes += 1;
                Touch {
                    point: contact.point,
                    normal: contact.normal,
                    grip,
                    tilts: 0,
                }
            });
        }
        changes
    }

    /// What becomes of a touch, and whether that is a change; `None` if it ends.
    fn next_touch(
        &self,
        vertex: u32,
        touch: Touch,
        contact: Option<&Contact>,
        position: DVec3,
        force: DVec3,
        tolerance: ContactTolerance,
    ) -> Option<(Touch, bool)> {
        let push = -force.dot(touch.normal);
        let may_leave = self
            .releases
            .get(&vertex)
            .is_none_or(|&count| count < MOST_RELEASES);
        let Some(contact) = contact.filter(|_| push >= -tolerance.force || !may_leave) else {
            // Off the rim of the obstacle there is nothing to stay on.
            return None;
        };
        let on_surface = Touch {
            point: contact.point,
            normal: contact.normal,
            ..touch
        };
        let is_off = contact.depth.abs() > tolerance.length;
        match touch.grip {
            Grip::Slides => {
                // The push on a plane that is askew pulls along the surface.
                let is_askew = touch.tilts < MOST_TILTS
                    && push * touch.normal.cross(contact.normal).length() > tolerance.force;
                let tilts = touch.tilts + u32::from(is_askew && !is_off);
                Some((
                    Touch {
                        tilts,
                        ..on_surface
                    },
                    is_off || is_askew,
                ))
            }
            Grip::Slips { from, share } => {
                let goal = from.lerp(position, 1.0 - share);
                Some((
                    Touch {
                        point: goal,
                        grip: Grip::Holds,
                        ..on_surface
                    },
                    true,
                ))
            }
            // A point that it slipped to lies on the tangent plane.
            Grip::Holds if is_off => Some((on_surface, true)),
            Grip::Holds => {
                let pull = (force + touch.normal * push).length();
                let limit = self.friction * push.max(0.0);
                if pull <= limit * (1.0 + FRICTION_SLACK) + tolerance.force {
                    return Some((touch, false));
                }
                Some((
                    Touch {
                        grip: Grip::Slips {
                            from: touch.point,
                            share: limit / pull,
                        },
                        ..touch
                    },
                    true,
                ))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Obstacle;

    const TOLERANCE: ContactTolerance = ContactTolerance {
        length: 1e-9,
        force: 1e-9,
    };

    /// Vertices that springs of stiffness one pull to goals: the balance under constraints in
    /// closed form.
    fn settle(set: &mut ContactSet, obstacle: &Obstacle, goals: &[DVec3]) -> (Vec<DVec3>, usize) {
        for round in 0..200 {
            let mut positions = goals.to_vec();
            for (vertex, constraint) in set.constraints() {
                positions[vertex] = constraint.nearest(positions[vertex]);
            }
            let contacts = obstacle.contacts(&positions, 0.5);
            let changes = set.update(
                &positions,
                &contacts,
                |v| goals[v as usize] - positions[v as usize],
                TOLERANCE,
            );
            if changes == 0 {
                return (positions, round);
            }
        }
        panic!("the search did not end");
    }

    /// A slab whose top is the plane y = 0, far beyond all vertices.
    fn floor() -> Obstacle {
        Obstacle::cylinder(DVec3::Y * -100.0, DVec3::ZERO, 100.0).unwrap()
    }

    #[test]
    fn without_friction_a_vertex_rests_at_the_point_of_a_ball_nearest_to_its_goal() {
        let ball = Obstacle::sphere(DVec3::ZERO, 1.0).unwrap();
        let goals = [
            DVec3::new(0.3, 0.6, 0.0),
            DVec3::new(-0.1, 0.0, 0.9),
            DVec3::new(2.0, 0.0, 0.0),
        ];
        let (positions, _) = settle(&mut ContactSet::new(0.0), &ball, &goals);
        for (position, goal) in positions.iter().zip(&goals[..2]) {
            assert!(position.distance(goal.normalize()) < 1e-6, "{position}");
        }
        assert_eq!(positions[2], goals[2]);
    }

    #[test]
    fn a_vertex_slides_along_a_ball_after_its_goal_and_leaves_it() {
        let ball = Obstacle::sphere(DVec3::ZERO, 1.0).unwrap();
        let mut set = ContactSet::new(0.0);
        settle(&mut set, &ball, &[DVec3::new(0.0, 0.9, 0.0)]);
        let goal = DVec3::new(0.5, 0.7, 0.1);
        let (positions, _) = settle(&mut set, &ball, &[goal]);
        assert!(
            positions[0].distance(goal.normalize()) < 1e-4,
            "{}",
            positions[0]
        );
        let (positions, _) = settle(&mut set, &ball, &[DVec3::new(0.0, 1.5, 0.0)]);
        assert_eq!(positions[0], DVec3::new(0.0, 1.5, 0.0));
        assert!(
            set.is_empty(),
            "nothing sticks to what it is pulled away from"
        );
    }

    #[test]
    fn friction_holds_inside_its_cone_and_gives_way_to_its_rim() {
        let (friction, depth) = (0.5, 0.2);
        for reach in [0.05, 0.0999, 0.2, 1.0] {
            let mut set = ContactSet::new(friction);
            settle(&mut set, &floor(), &[DVec3::new(0.0, -depth, 0.0)]);
            let (positions, _) = settle(&mut set, &floor(), &[DVec3::new(reach, -depth, 0.0)]);
            // Coulomb on a plane: the vertex follows until its goal is μ times the depth ahead.
            let expected = (reach - friction * depth).max(0.0);
            assert!(
                positions[0].distance(DVec3::X * expected) < 1e-3 * depth,
                "{reach}: {}",
                positions[0]
            );
        }
    }

    #[test]
    fn friction_on_a_ball_ends_with_the_pull_within_the_cone() {
        let ball = Obstacle::sphere(DVec3::ZERO, 1.0).unwrap();
        let friction = 0.3;
        let mut set = ContactSet::new(friction);
        settle(&mut set, &ball, &[DVec3::new(0.0, 0.8, 0.0)]);
        let goal = DVec3::new(0.5, 0.5, 0.0);
        let (positions, _) = settle(&mut set, &ball, &[goal]);
        let (force, normal) = (goal - positions[0], positions[0].normalize());
        let push = -force.dot(normal);
        let pull = (force + normal * push).length();
        assert!((positions[0].length() - 1.0).abs() < 1e-6);
        assert!(pull <= friction * push * 1.01, "{pull} {push}");
        assert!(positions[0].x > 0.1, "it did slip");
    }

    #[test]
    fn who_is_held_goes_along_with_an_obstacle_that_moves() {
        let mut set = ContactSet::new(10.0);
        settle(&mut set, &floor(), &[DVec3::new(0.0, -0.2, 0.0)]);
        let motion = RigidMotion {
            rotation: pliant_mesh::glam::DQuat::IDENTITY,
            translation: DVec3::new(0.1, 0.0, 0.0),
        };
        set.begin_step(&motion);
        let constraints = set.constraints();
        assert!(
            matches!(constraints[..], [(0, Constraint::Fixed(place))] if place.distance(DVec3::X * 0.1) < 1e-12),
            "{constraints:?}"
        );
    }

    proptest::proptest! {
        #[test]
        fn the_search_ends_with_nobody_inside(
            goals in proptest::collection::vec((-1.5_f64..1.5, -1.5_f64..1.5, -1.5_f64..1.5), 1..20),
            friction in 0.0_f64..2.0
        ) {
            let capsule = Obstacle::capsule(DVec3::new(-0.5, 0.1, 0.0), DVec3::new(0.6, -0.2, 0.1), 0.7).unwrap();
            let goals: Vec<DVec3> = goals.into_iter().map(DVec3::from).collect();
            let (positions, _) = settle(&mut ContactSet::new(friction), &capsule, &goals);
            proptest::prop_assert!(capsule.contacts(&positions, 0.0).iter().all(|contact| contact.depth <= TOLERANCE.length));
        }
    }
}
