//! An obstacle with its placement and its contact set.

use pliant_linalg::RigidMotion;
use pliant_mesh::Bounds;
use pliant_mesh::glam::DVec3;

use super::LastStep;
use super::face_clearance::FaceClearance;
use crate::contact::contact_set::ContactSet;
use crate::contact::obstacle::Obstacle;
use crate::contact::obstacle_motion::ObstacleMotion;

/// The largest displacement of vertex and obstacle towards each other in a substep, relative to
/// the thickness of the obstacle; from one half on the nearest surface point may be the wrong one.
const MOST_MOVE: f64 = 0.2;

/// An obstacle with its placement and its contact set.
#[derive(Debug)]
pub(super) struct ContactBody {
    pub(super) obstacle: Obstacle,
    motion: ObstacleMotion,
    pub(super) placement: RigidMotion,
    pub(super) contacts: ContactSet,
    pub(super) clearance: FaceClearance,
}

impl ContactBody {
    /// An obstacle at its placement at time 0, without contacts.
    pub(super) fn new(obstacle: Obstacle, motion: ObstacleMotion, friction: f64) -> Self {
        Self {
            placement: motion.at(0.0),
            obstacle,
            motion,
            contacts: ContactSet::new(friction),
            clearance: FaceClearance::default(),
        }
    }

    /// Moves to the placement at `time`, with all contacts.
    pub(super) fn move_to(&mut self, time: f64) {
        let placement = self.motion.at(time);
        let back = self.placement.inverse();
        let motion = RigidMotion {
            rotation: placement.rotation * back.rotation,
            translation: placement.apply(back.translation),
        };
        self.contacts.begin_step(&motion);
        let contacts = &self.contacts;
        self.clearance.retain(|vertex| contacts.contains(vertex));
        self.placement = placement;
    }

    /// Substeps for the longest relative displacement of a vertex near the obstacle; `None` if no
    /// vertex is near.
    pub(super) fn substeps_needed(
        &self,
        last: &LastStep,
        free: &[DVec3],
        time: f64,
        margin: f64,
    ) -> Option<f64> {
        // The box that the obstacle sweeps, and how far its corners go.
        let before = self.corners(&self.placement);
        let after = self.corners(&self.motion.at(time));
        let travel = before
            .iter()
            .zip(&after)
            .map(|(a, b)| a.distance(*b))
            .fold(0.0, f64::max);
        let swept = grown(&[before, after].concat(), margin + 0.5 * travel)?;

        let displacement = |vertex: usize| {
            let from = last.free[vertex];
            let to = free[vertex];
            let length = from.distance(to);
            let passed = grown(&[from, to, last.points[vertex]], 0.5 * length)?;
            overlap(&passed, &swept).then_some(length)
        };
        let longest = (0..free.len()).filter_map(displacement).reduce(f64::max)?;

        Some((longest + travel) / (MOST_MOVE * self.obstacle.thickness()))
    }

    /// The corners of the bounds at a placement.
    fn corners(&self, placement: &RigidMotion) -> [DVec3; 8] {
        let Bounds { min, max } = self.obstacle.bounds();
        let side = |corner: usize, bit: usize, low: f64, high: f64| {
            if corner >> bit & 1 == 0 { low } else { high }
        };

        std::array::from_fn(|c| {
            placement.apply(DVec3::new(
                side(c, 0, min.x, max.x),
                side(c, 1, min.y, max.y),
                side(c, 2, min.z, max.z),
            ))
        })
    }
}

/// The bounds of finite points, enlarged by `reach`.
fn grown(points: &[DVec3], reach: f64) -> Option<Bounds> {
    let Bounds { min, max } = Bounds::of(points)?;
    Some(Bounds {
        min: min - DVec3::splat(reach),
        max: max + DVec3::splat(reach),
    })
}

fn overlap(a: &Bounds, b: &Bounds) -> bool {
    a.min.cmple(b.max).all() && b.min.cmple(a.max).all()
}
