//! Active set of the contacts with one obstacle, with Coulomb friction.
//!
//! **Problem.** At equilibrium some vertices press on an obstacle. They must not enter it, may
//! leave it, and slide along it or stick by friction; the state of each is known only once the
//! equilibrium is.
//!
//! **Equation.** At a vertex in contact with spring force `f`, outward normal `n`, normal force `p
//! = −f·n` and tangential force `t = f + p n`:
//!
//! ```text
//! depth ≤ 0,   p ≥ 0,   |t| ≤ μ p while it sticks,   |t| = μ p once it slipped
//! ```
//!
//! Guess the set, solve, correct the guess: vertices inside are added, vertices with `p < 0` are
//! released.
//!
//! **Source.** Ma et al. 2012, section 4, move vertices to the surface and fix them; the active set
//! is that of quadratic programming (Nocedal and Wright, "Numerical Optimization", 2006, section
//! 16.5).
//!
//! **Departures.** Without friction only the normal direction is constrained. With friction a
//! vertex sticks at its first point of contact; if its tangential force is too large it slips on
//! the tangent plane to its equilibrium without friction, and sticks again before that point by the
//! part `μ p / |t|` of the displacement: exact on a plane under a linear force, and repeated until
//! it sticks. A vertex that was released several times in one step is not released again, so that
//! the iteration ends.

use std::collections::BTreeMap;

use pliant_linalg::RigidMotion;
use pliant_mesh::glam::DVec3;

use crate::blend::energy::Constraint;
use crate::contact::obstacle::Contact;

/// Releases of one vertex in a step. Chosen: a vertex that is released repeatedly is just about in
/// contact.
const MOST_RELEASES: u32 = 3;

/// Updates of a tangent plane for its direction alone, in a step: each leaves some hundredth of the
/// error. On an edge of an obstacle the direction never converges.
const MOST_TILTS: u32 = 4;

/// Relative excess of the friction limit that still sticks. Chosen so that a vertex on the boundary
/// of its cone comes to rest.
const FRICTION_SLACK: f64 = 1e-3;

/// Tolerances of contact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ContactTolerance {
    /// Allowed penetration, and distance from the surface of a sliding vertex.
    pub(crate) length: f64,
    /// Smaller forces neither release nor slip.
    pub(crate) force: f64,
}

/// The vertices in contact with one obstacle.
#[derive(Debug, Clone)]
pub(crate) struct ContactSet {
    friction: f64,
    points: BTreeMap<u32, ContactPoint>,
    releases: BTreeMap<u32, u32>,
}

/// A vertex on the surface of the obstacle.
#[derive(Debug, Clone, Copy)]
struct ContactPoint {
    point: DVec3,
    normal: DVec3,
    friction_state: FrictionState,
    /// Updates of its plane in this step for the direction alone.
    tilts: u32,
}

/// How a contact moves along the surface.
#[derive(Debug, Clone, Copy)]
enum FrictionState {
    /// Without friction.
    Sliding,
    /// At the contact point.
    Sticking,
    /// From a point; it sticks again before its new position by `share` of the displacement.
    Slipping { from: DVec3, share: f64 },
}

impl ContactSet {
    /// No contacts. `friction` is Coulomb's coefficient; negative values count as zero.
    pub(crate) fn new(friction: f64) -> Self {
        Self {
            friction: friction.max(0.0),
            points: BTreeMap::new(),
            releases: BTreeMap::new(),
        }
    }

    /// Number of vertices in contact.
    pub(crate) fn len(&self) -> usize {
        self.points.len()
    }

    /// Whether no vertex is in contact.
    pub(crate) fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// The constraints of the vertices in contact, ascending.
    pub(crate) fn constraints(&self) -> Vec<(usize, Constraint)> {
        let mut constraints = Vec::with_capacity(self.points.len());
        for (&vertex, point) in &self.points {
            let constraint = match point.friction_state {
                FrictionState::Sticking => Constraint::Fixed(point.point),
                FrictionState::Sliding | FrictionState::Slipping { .. } => Constraint::Plane {
                    normal: point.normal,
                    offset: point.normal.dot(point.point),
                },
            };
            constraints.push((vertex as usize, constraint));
        }

        constraints
    }

    /// Whether a vertex is in contact.
    pub(crate) fn contains(&self, vertex: u32) -> bool {
        self.points.contains_key(&vertex)
    }

    /// The vertices in contact, ascending, with their outward normals.
    pub(crate) fn normals(&self) -> impl Iterator<Item = (u32, DVec3)> + '_ {
        self.points
            .iter()
            .map(|(&vertex, point)| (vertex, point.normal))
    }

    /// Begins a step: the obstacle moved by `motion`, and its contacts with it.
    pub(crate) fn begin_step(&mut self, motion: &RigidMotion) {
        self.releases.clear();
        for point in self.points.values_mut() {
            point.point = motion.apply(point.point);
            point.normal = motion.rotation * point.normal;
            point.tilts = 0;
            if let FrictionState::Slipping { from, .. } = &mut point.friction_state {
                *from = motion.apply(*from);
            }
        }
    }

    /// Corrects the set after a solve; returns the number of changes. At zero the contact
    /// conditions hold.
    ///
    /// `contacts` are those of the solved `positions` with a margin of at least some tolerances;
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
            .map(|contact| (contact.vertex.get(), contact))
            .collect();

        // Present contacts stay, change or are released.
        let mut changes = 0;
        for (vertex, point) in std::mem::take(&mut self.points) {
            let next = self.next_state(
                vertex,
                point,
                found.get(&vertex).copied(),
                positions[vertex as usize],
                force_on(vertex),
                tolerance,
            );
            if let Some((point, changed)) = next {
                self.points.insert(vertex, point);
                changes += usize::from(changed);
            } else {
                *self.releases.entry(vertex).or_default() += 1;
                changes += 1;
            }
        }

        // Vertices inside the obstacle are added.
        let friction_state = if self.friction > 0.0 {
            FrictionState::Sticking
        } else {
            FrictionState::Sliding
        };
        for contact in contacts {
            let vertex = contact.vertex.get();
            if contact.depth > tolerance.length && !self.contains(vertex) {
                let point = ContactPoint {
                    point: contact.point,
                    normal: contact.normal,
                    friction_state,
                    tilts: 0,
                };
                self.points.insert(vertex, point);
                changes += 1;
            }
        }

        changes
    }

    /// The next state of a contact, and whether it changed; `None` if it is released.
    fn next_state(
        &self,
        vertex: u32,
        point: ContactPoint,
        contact: Option<&Contact>,
        position: DVec3,
        force: DVec3,
        tolerance: ContactTolerance,
    ) -> Option<(ContactPoint, bool)> {
        // A vertex that is pulled away leaves, unless it was released too often.
        let push = -force.dot(point.normal);
        let may_leave = self
            .releases
            .get(&vertex)
            .is_none_or(|&count| count < MOST_RELEASES);

        let Some(contact) = contact.filter(|_| push >= -tolerance.force || !may_leave) else {
            // It is pulled away, or has left the rim of the obstacle.
            return None;
        };

        let on_surface = ContactPoint {
            point: contact.point,
            normal: contact.normal,
            ..point
        };
        let is_off = contact.depth.abs() > tolerance.length;

        match point.friction_state {
            FrictionState::Sliding => {
                // On a plane with a wrong normal the normal force has a tangential part.
                let is_tilted = point.tilts < MOST_TILTS
                    && push * point.normal.cross(contact.normal).length() > tolerance.force;
                let tilts = point.tilts + u32::from(is_tilted && !is_off);

                Some((
                    ContactPoint {
                        tilts,
                        ..on_surface
                    },
                    is_off || is_tilted,
                ))
            }
            FrictionState::Slipping { from, share } => {
                let goal = from.lerp(position, 1.0 - share);
                Some((
                    ContactPoint {
                        point: goal,
                        friction_state: FrictionState::Sticking,
                        ..on_surface
                    },
                    true,
                ))
            }

            // A point that it slipped to lies on the tangent plane.
            FrictionState::Sticking if is_off => Some((on_surface, true)),
            FrictionState::Sticking => {
                // Coulomb's cone.
                let pull = (force + point.normal * push).length();
                let limit = self.friction * push.max(0.0);
                if pull <= limit * (1.0 + FRICTION_SLACK) + tolerance.force {
                    return Some((point, false));
                }

                Some((
                    ContactPoint {
                        friction_state: FrictionState::Slipping {
                            from: point.point,
                            share: limit / pull,
                        },
                        ..point
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
        panic!("the iteration did not end");
    }

    /// A slab whose top is the plane y = 0, far beyond all vertices.
    fn floor() -> Obstacle {
        Obstacle::cylinder(DVec3::Y * -100.0, DVec3::ZERO, 100.0).unwrap()
    }

    #[test]
    fn without_friction_a_vertex_rests_at_the_surface_point_nearest_to_its_goal() {
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
    fn a_vertex_follows_its_goal_along_a_ball_and_leaves_it() {
        let ball = Obstacle::sphere(DVec3::ZERO, 1.0).unwrap();
        let mut set = ContactSet::new(0.0);
        settle(&mut set, &ball, &[DVec3::new(0.0, 0.9, 0.0)]);

        // The goal moves along the surface, then away from it.
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
            "a vertex that is pulled away does not stick"
        );
    }

    #[test]
    fn friction_sticks_inside_its_cone_and_slips_to_its_boundary() {
        let friction = 0.5;
        let depth = 0.2;
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
    fn friction_on_a_ball_ends_with_the_tangential_force_within_the_cone() {
        let ball = Obstacle::sphere(DVec3::ZERO, 1.0).unwrap();
        let friction = 0.3;
        let mut set = ContactSet::new(friction);
        settle(&mut set, &ball, &[DVec3::new(0.0, 0.8, 0.0)]);

        let goal = DVec3::new(0.5, 0.5, 0.0);
        let (positions, _) = settle(&mut set, &ball, &[goal]);
        let force = goal - positions[0];
        let normal = positions[0].normalize();
        let push = -force.dot(normal);
        let pull = (force + normal * push).length();

        assert!((positions[0].length() - 1.0).abs() < 1e-6);
        assert!(pull <= friction * push * 1.01, "{pull} {push}");
        assert!(positions[0].x > 0.1, "it did slip");
    }

    #[test]
    fn a_sticking_vertex_moves_with_its_obstacle() {
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
        fn the_iteration_ends_with_no_vertex_inside(
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
