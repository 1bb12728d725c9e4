//! Positions and sizes of the parts of the head, in centimetres: x to the character's left, y up, z
//! forward.

use pliant_mesh::glam::DVec3;

/// Centre of the left eyeball.
pub(in crate::head) const EYE: DVec3 = DVec3::new(3.35, -0.4, 5.75);
/// Radius of an eyeball.
pub(in crate::head) const EYE_RADIUS: f64 = 2.1;
/// How far the outside of a lid stands off the eyeball.
pub(in crate::head) const LID_THICKNESS: f64 = 0.2;
/// How far the inside of a lid stands off the eyeball.
pub(in crate::head) const LID_CLEARANCE: f64 = 0.08;
/// Where the lips meet, in the middle of the face.
pub(in crate::head) const MOUTH_Y: f64 = -6.05;
/// Half the width of the mouth.
pub(in crate::head) const MOUTH_HALF_WIDTH: f64 = 2.35;
/// A point on the axis of the jaw.
pub(in crate::head) const HINGE: DVec3 = DVec3::new(0.0, -2.4, 0.3);
