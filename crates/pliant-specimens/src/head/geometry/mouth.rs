//! The lips, and the mouth bag behind them.

use std::f64::consts::FRAC_PI_2;

use pliant_mesh::glam::DVec3;

use super::anatomy as an;
use super::half::{Half, Part};
use super::sculpt::Sculpt;
use crate::math::{bell, cos, sin};

/// Steps from the middle of the upper lip over the corner to the middle of the lower lip.
pub(in crate::head) const STEPS: usize = 40;
/// The step at the corner.
pub(in crate::head) const CORNER: usize = 20;
/// Rings from the grid to the border of the red of the lips.
pub(in crate::head) const SKIN_RINGS: usize = 7;
/// The ring where the lips meet.
pub(in crate::head) const CONTACT: usize = SKIN_RINGS + 6;

/// One ring of the lips: height above the line of contact as a part of the lip's height, distance
/// in front of the face, and reach beyond the corner.
struct Profile {
    height: f64,
    forward: f64,
    reach: f64,
}

const LIPS: [Profile; 10] = [
    Profile {
        height: 1.0,
        forward: 0.05,
        reach: 0.24,
    },
    Profile {
        height: 0.85,
        forward: 0.17,
        reach: 0.19,
    },
    Profile {
        height: 0.64,
        forward: 0.27,
        reach: 0.14,
    },
    Profile {
        height: 0.42,
        forward: 0.31,
        reach: 0.09,
    },
    Profile {
        height: 0.22,
        forward: 0.27,
        reach: 0.05,
    },
    Profile {
        height: 0.07,
        forward: 0.14,
        reach: 0.02,
    },
    Profile {
        height: 0.0,
        forward: -0.04,
        reach: 0.0,
    },
    Profile {
        height: 0.05,
        forward: -0.18,
        reach: -0.04,
    },
    Profile {
        height: 0.3,
        forward: -0.34,
        reach: -0.06,
    },
    Profile {
        height: 0.8,
        forward: -0.46,
        reach: -0.05,
    },
];

/// The bag: depth behind the lips, half width, and height above and below the line of the lips. It
/// leaves room for the teeth.
const BAG: [[f64; 4]; 6] = [
    [0.52, 2.45, 0.85, 0.85],
    [0.56, 2.65, 1.42, 1.35],
    [1.3, 2.75, 1.7, 1.75],
    [2.7, 2.8, 1.85, 1.85],
    [4.0, 2.6, 1.8, 1.75],
    [5.0, 2.0, 1.4, 1.4],
];

/// Whether a step belongs to the upper lip; the corner belongs to both.
fn is_upper(step: usize) -> bool {
    step <= CORNER
}

/// From 1 in the middle of the upper lip over 0 at the corner to −1 in the middle of the lower lip.
pub(in crate::head) fn upness(step: usize) -> f64 {
    let c = cos(sweep(step)).max(0.0);
    if is_upper(step) { c } else { -c }
}

/// From the midline (0) to the corner (π/2).
fn sweep(step: usize) -> f64 {
    let steps = if is_upper(step) { step } else { STEPS - step };
    FRAC_PI_2 * steps as f64 / CORNER as f64
}

/// Height of the line where the lips meet.
fn contact_height(x: f64) -> f64 {
    let u = x / an::MOUTH_HALF_WIDTH;
    an::MOUTH_Y + 0.36 * u * u - 0.05 * bell(x / 0.5) + 0.03
}

/// Height of a lip between contact and border.
fn lip_height(step: usize) -> f64 {
    let c = cos(sweep(step)).max(0.0);
    let x = an::MOUTH_HALF_WIDTH * sin(sweep(step));
    if is_upper(step) {
        0.46 * c * (1.0 + 0.16 * bell((x - 0.5) / 0.35) - 0.06 * bell(x / 0.25))
    } else {
        -0.66 * c
    }
}

fn lip_point(sculpt: Sculpt, step: usize, profile: &Profile) -> DVec3 {
    let s = sweep(step);
    let x = (an::MOUTH_HALF_WIDTH + profile.reach) * sin(s);

    // A small gap keeps the lips from touching at rest.
    let gap = if is_upper(step) { 0.012 } else { -0.012 } * cos(s).max(0.0).sqrt();
    let y = contact_height(x) + lip_height(step) * profile.height + gap;
    let base = sculpt.front(x, y);
    let normal = sculpt.normal(sculpt.front(x, an::MOUTH_Y));
    let out = DVec3::new(normal.x, 0.0, normal.z).normalize_or_zero();

    // Lips thin out towards the corner, which lies a little deeper.
    let full = cos(s).max(0.0).sqrt();
    let forward = if profile.forward > 0.0 {
        profile.forward * full
    } else {
        profile.forward
    };

    base + out * (forward - 0.10 * (1.0 - full))
}

/// Fills the mouth's hole with skin, lips and bag.
pub(in crate::head) fn add_mouth(half: &mut Half, sculpt: Sculpt, outer: &[u32]) {
    let loop_points: Vec<DVec3> = outer.iter().map(|&v| half.points[v as usize]).collect();
    let border: Vec<DVec3> = (0..=STEPS)
        .map(|step| lip_point(sculpt, step, &LIPS[0]))
        .collect();

    half.mouth_loop = outer.to_vec();

    // Skin between the grid and the border of the lips.
    let mut last = outer.to_vec();
    for ring in 1..SKIN_RINGS {
        let t = ring as f64 / SKIN_RINGS as f64;
        let points: Vec<DVec3> = (0..=STEPS)
            .map(|k| sculpt.project(loop_points[k].lerp(border[k], t), 3))
            .collect();
        last = add_ring(half, &last, ring, &points, false, "skin");
    }

    // The lips: skin at the border, then the red, then the inside.
    for (k, profile) in LIPS.iter().enumerate() {
        let points: Vec<DVec3> = (0..=STEPS)
            .map(|step| lip_point(sculpt, step, profile))
            .collect();
        let material = if k == 0 {
            "skin"
        } else if k <= 7 {
            "lips"
        } else {
            "mouth"
        };

        last = add_ring(half, &last, SKIN_RINGS + k, &points, true, material);
    }

    let front = sculpt.front(0.0, an::MOUTH_Y);

    // The bag widens behind the lips to hold the teeth and narrows towards the throat.
    for (k, [depth, width, above, below]) in BAG.into_iter().enumerate() {
        let points: Vec<DVec3> = (0..=STEPS)
            .map(|step| {
                let s = sweep(step);
                let x = width * sin(s);
                let round = cos(s).max(0.0).sqrt();
                let y = if is_upper(step) {
                    above * round
                } else {
                    -below * round
                };

                // The chin recedes below the lip.
                DVec3::new(
                    x,
                    an::MOUTH_Y + 0.1 + y,
                    front.z - depth - 0.12 * x * x - 0.28 * (-y).max(0.0),
                )
            })
            .collect();
        last = add_ring(
            half,
            &last,
            SKIN_RINGS + LIPS.len() + k,
            &points,
            true,
            "mouth",
        );
    }

    half.half_cap(&last, 12, Part::Throat, true, "mouth");
}

fn add_ring(
    half: &mut Half,
    outer: &[u32],
    ring: usize,
    points: &[DVec3],
    pinned: bool,
    material: &'static str,
) -> Vec<u32> {
    let part = |step: usize| Part::Mouth {
        ring: ring as u16,
        step: step as u16,
    };

    let ids: Vec<u32> = points
        .iter()
        .enumerate()
        .map(|(step, &p)| half.point(p, part(step), pinned, step == 0 || step == STEPS))
        .collect();

    half.strip(outer, &ids, material);
    ids
}
