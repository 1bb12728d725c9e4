//! The jaw: a rotation about the hinge before the ears.

use pliant_mesh::glam::{DVec2, DVec3};

use super::face::{Face, front_bump, rotated};
use crate::head::geometry::anatomy as an;
use crate::head::geometry::half::Part;
use crate::head::geometry::mouth;
use crate::math::smoothstep_between;

/// How far the jaw opens, in radians.
const OPENING: f64 = 0.44;
/// The part of the gap between the lips that the lower lip closes.
const LOWER_SHARE: f64 = 0.88;

/// Every vertex rotates about the hinge by its own part of the opening, so it stays on its circle
/// at all weights.
pub(in crate::head) fn open(face: &Face, v: usize, _side: f64, w: f64) -> DVec3 {
    let site = face.sites()[v];
    if site.jaw == 0.0 {
        return DVec3::ZERO;
    }
    let q = rotated(site.p, an::HINGE, DVec3::X, OPENING * site.jaw * w);
    // Corners of the mouth come in as the lips part; a move along the axis leaves the circle's
    // radius alone.
    let parted = site.lip * 4.0 * site.jaw * (1.0 - site.jaw);
    q - site.p - DVec3::X * (0.16 * site.p.x * parted * w)
}

/// Brings the lips together while the jaw is open: the lower lip stays behind, the upper one comes
/// to meet it.
pub(in crate::head) fn close_lips(face: &Face, v: usize, _side: f64, w: f64) -> DVec3 {
    let site = face.sites()[v];

    // On the skin the opening is undone; on the lips both lines of contact are brought together.
    let near = front_bump(site.p, DVec2::new(0.0, an::MOUTH_Y), DVec2::new(4.4, 3.4));
    let stay = open(face, v, 1.0, 1.0) * -LOWER_SHARE;

    match site.part {
        Part::Skin => stay * (near * w),
        Part::Mouth { step, .. } => {
            // The vertex of the other lip at the same distance from the corner.
            let [own, other] =
                [usize::from(step), mouth::STEPS - usize::from(step)].map(|s| face.contact(s));
            let place = |u: usize| face.sites()[u].p + open(face, u, 1.0, 1.0);
            let share = if site.upness > 0.0 {
                1.0 - LOWER_SHARE
            } else {
                LOWER_SHARE
            };

            let meet = (place(other) - place(own)) * share;
            let depth = smoothstep_between(4.5, 7.5, site.p.z);
            stay.lerp(meet, site.lip) * (w * depth * (1.0 - (1.0 - site.lip) * (1.0 - near)))
        }
        _ => DVec3::ZERO,
    }
}

pub(in crate::head) fn forward(face: &Face, v: usize, _side: f64, w: f64) -> DVec3 {
    DVec3::new(0.0, -0.12, 0.85) * (face.sites()[v].jaw * w)
}

pub(in crate::head) fn sideways(face: &Face, v: usize, side: f64, w: f64) -> DVec3 {
    // The chin swings, the angles of the jaw stay near their hinges.
    let site = face.sites()[v];

    // It drops a little, so that the lips do not intersect.
    DVec3::new(side * 0.8, -0.1, 0.0) * (site.jaw * smoothstep_between(-1.5, 6.0, site.p.z) * w)
}
