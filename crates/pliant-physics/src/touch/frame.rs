//! Input and report of a frame of touch.

use pliant_linalg::RigidMotion;
use pliant_mesh::glam::DVec3;

/// The input of a frame.
#[derive(Debug, Clone, Copy)]
pub struct TouchFrame<'a> {
    /// The animated shape at the end of the frame; `None` where it does not change.
    pub shape: Option<&'a [DVec3]>,
    /// The rigid motion of each collider at the end of the frame, from its initial placement.
    pub colliders: &'a [RigidMotion],
    /// Soft vertices and their goals.
    pub pulls: &'a [(usize, DVec3)],
    /// The duration of the frame.
    pub secs: f64,
}

/// The result of a frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TouchReport {
    /// Number of substeps.
    pub substeps: usize,
    /// Soft vertices that a collider pushed in the last substep.
    pub contacts: usize,
    /// Faces that a collider pushed in the last substep, although all of their corners may be
    /// outside.
    pub face_contacts: usize,
    /// The largest penetration of a soft vertex into a collider at the end of the frame.
    pub max_penetration: f64,
    /// The largest penetration of a face with a soft corner into a collider at the end of the frame;
    /// its corners may all be outside.
    pub max_face_penetration: f64,
    /// The largest relative change of the length of an edge with a soft end.
    pub max_strain: f64,
    /// The largest distance of a soft vertex from the animated shape.
    pub max_displacement: f64,
}
