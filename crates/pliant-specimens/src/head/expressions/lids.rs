//! Eyes: lids that rotate about the axis through the corners, and eyeballs that rotate about their
//! centres.

use pliant_mesh::glam::DVec3;

use super::brow_muscles as brows;
use super::face::{Face, rotated};
use crate::head::geometry::anatomy as an;
use crate::head::geometry::eye;
use crate::head::geometry::half::Part;
use crate::math::smoothstep_between;

/// Where between the margins the lids meet, from the lower one.
const MEETING: f64 = 0.14;
/// Lids that meet leave a film between them, in radians.
const FILM: f64 = 0.004;

/// How far a lid vertex rotates when its margin rotates by `angle` there: all of it at the margin
/// and inside, none at the rim of the socket.
fn lid_turn(ring: usize, angle: f64) -> f64 {
    angle * smoothstep_between(0.12, 1.0, ring as f64 / eye::SKIN_RINGS as f64)
}

/// Near the corners skin outside the margin follows less, as both lids pull at it.
fn corner_calm(ring: usize, step: usize) -> f64 {
    let half = eye::STEPS / 2;
    let from_corner = (step % half).min(half - step % half) as f64;
    let outside = (eye::MARGIN_OUTER.saturating_sub(ring) as f64 / 3.0).min(1.0);
    1.0 - outside * (1.0 - smoothstep_between(0.0, 5.0, from_corner))
}

/// Rotates the upper lid by `upper` and the lower by `lower` of their angles to the meeting line.
fn turn_lids(face: &Face, v: usize, upper: f64, lower: f64) -> DVec3 {
    let site = face.sites()[v];
    let Part::Eye { ring, step } = site.part else {
        return DVec3::ZERO;
    };

    let (ring, step) = (usize::from(ring), usize::from(step));
    // Inside, a point rotates as the margin does at its own side angle, so that nothing is sheared
    // across the other lid.
    let [top, bottom] = if ring > eye::MARGIN_INNER {
        eye::margins_at(site.p)
    } else {
        eye::margins_at_step(step)
    };

    // Both margins rotate towards one line and leave a thin film between them.
    let line = bottom + MEETING * (top - bottom);
    let film = FILM * smoothstep_between(0.0, 0.2, top - bottom);
    let way = if step < eye::STEPS / 2 {
        (line + film - top) * upper
    } else {
        (line - film - bottom) * lower
    };

    let angle = lid_turn(ring, way) * corner_calm(ring, step);
    // A greater rotation lowers z towards y: a positive rotation about −x lifts.
    let q = rotated(site.p, an::EYE, -eye::axes()[0], angle);

    settle(q, ring, angle.abs()) - site.p
}

/// Skin that slides over the eyeball comes to lie as close to it as the lid does.
fn settle(q: DVec3, ring: usize, angle: f64) -> DVec3 {
    if ring > eye::MARGIN_OUTER {
        return q;
    }
    let offset = q - an::EYE;
    let snug = an::EYE_RADIUS + an::LID_THICKNESS;
    let length = offset.length();
    an::EYE + offset * ((length + (snug - length) * smoothstep_between(0.1, 0.9, angle)) / length)
}

/// Both lids meet.
pub(in crate::head) fn blink(face: &Face, v: usize, side: f64, w: f64) -> DVec3 {
    if side < 0.0 {
        DVec3::ZERO
    } else {
        turn_lids(face, v, w, w)
    }
}

pub(in crate::head) fn squint(face: &Face, v: usize, side: f64, w: f64) -> DVec3 {
    if side < 0.0 {
        return DVec3::ZERO;
    }
    turn_lids(face, v, 0.16 * w, 2.2 * w) + brows::raise_cheek(face, v, 0.35 * w)
}

pub(in crate::head) fn wide(face: &Face, v: usize, side: f64, w: f64) -> DVec3 {
    if side < 0.0 {
        DVec3::ZERO
    } else {
        turn_lids(face, v, -0.2 * w, -0.7 * w)
    }
}

/// Rotates eyeball and lids.
fn look(
    face: &Face,
    v: usize,
    side: f64,
    axis: DVec3,
    angle_rad: f64,
    upper: f64,
    lower: f64,
) -> DVec3 {
    let site = face.sites()[v];
    if side < 0.0 {
        return DVec3::ZERO;
    }

    if site.part == Part::Eyeball {
        rotated(site.p, an::EYE, axis, angle_rad) - site.p
    } else {
        turn_lids(face, v, upper, lower)
    }
}

pub(in crate::head) fn look_up(face: &Face, v: usize, side: f64, w: f64) -> DVec3 {
    look(face, v, side, -DVec3::X, 0.40 * w, -0.17 * w, 0.6 * w)
}

pub(in crate::head) fn look_down(face: &Face, v: usize, side: f64, w: f64) -> DVec3 {
    look(face, v, side, DVec3::X, 0.48 * w, 0.42 * w, -0.8 * w)
}

pub(in crate::head) fn look_in(face: &Face, v: usize, side: f64, w: f64) -> DVec3 {
    look(face, v, side, -DVec3::Y, 0.46 * w, 0.0, 0.0)
}

pub(in crate::head) fn look_out(face: &Face, v: usize, side: f64, w: f64) -> DVec3 {
    look(face, v, side, DVec3::Y, 0.5 * w, 0.0, 0.0)
}
