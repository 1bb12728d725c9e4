//! Lids and eyeball.
//!
//! **Implementation.** A point near the eyeball is given by a side angle `λ` and a rotation `β`
//! about the axis through both corners of the eye: `d = (sin λ, cos λ sin β, cos λ cos β)`. A lid
//! that rotates about that axis slides along the eyeball, so a blink only changes `β`.

use std::f64::consts::TAU;

use pliant_mesh::glam::DVec3;

use super::anatomy as an;
use super::half::{Half, Part};
use super::sculpt::Sculpt;
use crate::math::{cos, sin};

/// Steps around the eye.
pub(in crate::head) const STEPS: usize = 48;
/// Rings from the grid to the outer edge of the lid's margin.
pub(in crate::head) const SKIN_RINGS: usize = 10;
/// The ring at the outer edge of the margin.
pub(in crate::head) const MARGIN_OUTER: usize = SKIN_RINGS;
/// The ring at the inner edge, which touches the eyeball but for a film of tears.
pub(in crate::head) const MARGIN_INNER: usize = SKIN_RINGS + 2;

/// Middle and half of the side angles between the corners, in radians.
const SIDES: [f64; 2] = [-0.02, 0.93];

/// Side angle and rotation of the lid's margin, in radians.
pub(in crate::head) fn margin(step: usize) -> (f64, f64) {
    let rotation = TAU * step as f64 / STEPS as f64;
    let [upper, lower] = margins_at_step(step);
    (
        SIDES[0] - SIDES[1] * cos(rotation),
        if step < STEPS / 2 { upper } else { lower },
    )
}

/// Rotations of both margins at a step.
pub(in crate::head) fn margins_at_step(step: usize) -> [f64; 2] {
    margins(cos(TAU * step as f64 / STEPS as f64))
}

/// Rotations of the upper and the lower margin, from 1 at the inner to −1 at the outer corner.
fn margins(inward: f64) -> [f64; 2] {
    let height = (1.0 - inward * inward).max(0.0).sqrt();
    [
        0.60 * height * (1.0 + 0.06 * inward),
        -0.50 * height * (1.0 - 0.12 * inward),
    ]
}

/// Rotations of both margins at the side angle of a point; both zero beyond the corners.
pub(in crate::head) fn margins_at(p: DVec3) -> [f64; 2] {
    let target = (p - an::EYE).normalize_or_zero().dot(axes()[0]);
    // The arcsine by Newton's method, which nears it from below.
    let side = (0..6).fold(target, |side, _| {
        side - (sin(side) - target) / cos(side).max(0.1)
    });
    margins(((SIDES[0] - side) / SIDES[1]).clamp(-1.0, 1.0))
}

/// The direction from the eyeball's centre at a side angle and a rotation.
pub(in crate::head) fn direction(side: f64, rotation: f64) -> DVec3 {
    let [x, y, z] = axes();
    x * sin(side) + y * (cos(side) * sin(rotation)) + z * (cos(side) * cos(rotation))
}

/// Axes of the eye opening: through its corners, up, and out of the head. It looks a little
/// outward, as faces are round.
pub(in crate::head) fn axes() -> [DVec3; 3] {
    let (yaw, roll) = (0.16, 0.06);
    let across = DVec3::new(cos(yaw), 0.0, -sin(yaw));
    let x = across * cos(roll) + DVec3::Y * sin(roll);
    let y = DVec3::Y * cos(roll) - across * sin(roll);
    [x, y, x.cross(y)]
}

/// A point `offset` off the eyeball, `spread` radians beyond the margin.
fn lid_point(step: usize, spread: f64, offset: f64) -> DVec3 {
    let rotation = TAU * step as f64 / STEPS as f64;
    let (side, height) = margin(step);
    // The normal of an ellipse in (λ, β).
    let (nx, ny) = (-cos(rotation) * 0.6, sin(rotation) * 0.93);
    let norm = (nx * nx + ny * ny).sqrt();
    // The corners' insides stop short of the pole, where rotations lose their meaning.
    let side = (side + spread * nx / norm).clamp(-1.42, 1.42);
    an::EYE + direction(side, height + spread * ny / norm) * (an::EYE_RADIUS + offset)
}

/// Fills the eye's hole with rings of skin and lid.
pub(in crate::head) fn add_lids(half: &mut Half, sculpt: Sculpt, outer: &[u32]) {
    let loop_points: Vec<DVec3> = outer.iter().map(|&v| half.points[v as usize]).collect();
    let mut last = outer.to_vec();
    for ring in 1..=SKIN_RINGS {
        // Rings are denser towards the lid; all but the last lie on the sculpt.
        let t = ring as f64 / SKIN_RINGS as f64;
        let f = 1.0 - (1.0 - t) * (1.0 - 0.25 * t);
        let points = (0..STEPS).map(|step| {
            let edge = lid_point(step, 0.05, an::LID_THICKNESS);
            if ring == SKIN_RINGS {
                edge
            } else {
                sculpt.project(loop_points[step].lerp(edge, f), 4)
            }
        });

        let points: Vec<DVec3> = points.collect();
        last = add_ring(half, &last, ring, &points, ring == SKIN_RINGS, "skin");
    }

    // The margin's edge, then the inside of the lid close to the eyeball.
    for (k, (spread, offset)) in [
        (0.0, 0.0),
        (0.0, 0.0),
        (0.10, 0.0),
        (0.32, 0.01),
        (0.58, 0.03),
    ]
    .into_iter()
    .enumerate()
    {
        let offset = if k == 0 {
            an::LID_THICKNESS * 0.7
        } else {
            an::LID_CLEARANCE + offset
        };
        let points: Vec<DVec3> = (0..STEPS)
            .map(|step| lid_point(step, spread, offset))
            .collect();

        last = add_ring(half, &last, SKIN_RINGS + 1 + k, &points, true, "skin");
    }
}

fn add_ring(
    half: &mut Half,
    outer: &[u32],
    ring: usize,
    points: &[DVec3],
    pinned: bool,
    material: &'static str,
) -> Vec<u32> {
    let part = |step: usize| Part::Eye {
        ring: ring as u16,
        step: step as u16,
    };

    let mut ids: Vec<u32> = points
        .iter()
        .enumerate()
        .map(|(step, &p)| half.point(p, part(step), pinned, false))
        .collect();

    ids.push(ids[0]);
    for step in 0..STEPS {
        // The edge of the upper lid carries the lashes.
        let lashes =
            (MARGIN_OUTER + 1..=MARGIN_INNER).contains(&ring) && (1..STEPS / 2 - 1).contains(&step);
        half.strip(
            &outer[step..step + 2],
            &ids[step..step + 2],
            if lashes { "lash" } else { material },
        );
    }

    ids
}

/// Angles of the eyeball's rings from its front pole, in degrees, with the material outside each.
#[rustfmt::skip]
const BALL_RINGS: [(f64, &str); 16] = [
    (5., "pupil"), (10., "pupil"), (15., "pupil"), (16.5, "iris"), (22., "iris"), (28., "iris"), (33., "iris"), (35., "limbus"),
    (37.5, "sclera"), (46., "sclera"), (55., "sclera"), (66., "sclera"), (80., "sclera"),
    (100., "sclera"), (125., "sclera"), (150., "sclera"),
];
const BALL_STEPS: usize = 32;

/// Adds the eyeball, a component of its own.
pub(in crate::head) fn add_eyeball(half: &mut Half) {
    let mut last: Option<Vec<u32>> = None;
    for (k, (degrees, _)) in BALL_RINGS.iter().enumerate() {
        let angle = degrees.to_radians();
        let mut ids: Vec<u32> = (0..BALL_STEPS)
            .map(|step| {
                // Clockwise seen from the front, from the lower left corner of the caps' grids.
                let around = -TAU * (step as f64 / BALL_STEPS as f64) - 0.75 * TAU * 0.5;
                let d = DVec3::new(
                    sin(angle) * cos(around),
                    sin(angle) * sin(around),
                    cos(angle),
                );
                half.point(an::EYE + d * an::EYE_RADIUS, Part::Eyeball, true, false)
            })
            .collect();

        ids.push(ids[0]);

        // The first ring is closed by the pupil, each later one joins the ring before it.
        match &last {
            None => half.cap(&ids, Part::Eyeball, "pupil"),
            Some(inner) => half.strip(&ids, inner, BALL_RINGS[k - 1].1),
        }

        last = Some(ids);
    }

    // The caps are flat grids; their vertices are moved onto the ball.
    let mut back = last.expect("there are rings");
    back.reverse();
    half.cap(&back, Part::Eyeball, "sclera");

    for p in half
        .points
        .iter_mut()
        .zip(&half.parts)
        .filter(|(_, part)| **part == Part::Eyeball)
        .map(|(p, _)| p)
    {
        *p = an::EYE + (*p - an::EYE).normalize() * an::EYE_RADIUS;
    }
}
