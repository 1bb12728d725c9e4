//! What happens in a frame of a touch, and what came of it.

use pliant_linalg::RigidMotion;
use pliant_mesh::glam::DVec3;

/// What happens in a frame.
#[derive(Debug, Clone, Copy)]
pub struct TouchFrame<'a> {
    /// The animated shape at the end of the frame; `None` where it stays.
    pub shape: Option<&'a [DVec3]>,
    /// Where each collider is at the end of the frame, from where it was made.
    pub colliders: &'a [RigidMotion],
    /// Soft vertices and the places they are pulled to.
    pub pulls: &'a [(usize, DVec3)],
    /// How long the frame lasts.
    pub secs: f64,
}

/// What a frame was like.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TouchReport {
    /// Substeps that were taken.
    pub substeps: usize,
    /// Soft vertices that a collider pushed in the last of them.
    pub contacts: usize,
    /// How deep a soft vertex is inside a collider at the end of the frame, at most.
    pub max_penetration: f64,
    /// The largest distance of a soft vertex from the animated shape.
    pub max_displacement: f64,
}
