//! The walk cycle: four beats, planted feet, and the motion of the body.
//!
//! **Equation.** A cycle has length one. Each foot touches down at its own time, stands for the
//! part [`DUTY`] of the cycle while the ground carries it back at constant speed, and swings
//! forward on a cubic whose ends move with the ground:
//!
//! ```text
//! stance  z = T (1/2 − u / DUTY)
//! swing   z = cubic Hermite from −T/2 to T/2 with both slopes −T (1 − DUTY) / DUTY
//! ```
//!
//! **Source.** The footfall order hind left, fore left, hind right, fore right of a walk is
//! Muybridge's, "Animals in Motion", 1899.
//!
//! **Departures.** The animal stays in place and the ground moves, so that the clip is a loop. All
//! amplitudes are set by eye.

use std::f64::consts::TAU;

use pliant_mesh::glam::DVec3;

use super::legs::{Posture, Step};
use crate::math::{self, sin};
use crate::skeleton::Skeleton;

/// Part of the cycle for which a foot stands.
pub(super) const DUTY: f64 = 0.64;
/// Touch-down times of the legs, in the order of [`LEGS`](super::legs::LEGS).
pub(super) const TOUCHDOWN: [f64; 4] = [0.0, 0.25, 0.5, 0.75];
/// Distance `T` that the ground moves during a stance, in metres.
pub(super) const TRAVEL: f64 = 0.30;
/// How high a swinging foot is lifted, hind and fore, in metres.
const LIFT: [f64; 2] = [0.055, 0.070];

/// Values at increasing times in `[0, 1)` that repeat with period one.
type Keys = [(f64, f64)];

/// Rotation of the bone above the paw, in radians: landing, mid stance, push-off, folded, reaching.
const HIND_SHANK: [(f64, f64); 5] = [
    (0.0, -0.22),
    (0.32, 0.02),
    (0.64, 0.50),
    (0.76, 0.72),
    (0.92, -0.05),
];
const FORE_SHANK: [(f64, f64); 5] = [
    (0.0, -0.18),
    (0.32, 0.02),
    (0.64, 0.42),
    (0.76, 1.15),
    (0.92, 0.05),
];
/// Rotation of the shoulder blade, in radians.
const BLADE: [(f64, f64); 4] = [(0.0, -0.17), (0.32, 0.02), (0.66, 0.17), (0.84, -0.04)];

/// The posture at time `t` of the cycle.
pub(super) fn walk(skeleton: &Skeleton, t: f64) -> Posture {
    let mut posture = Posture::rest(skeleton);
    // A wave with `beats` per cycle that peaks at `peak`.
    let wave = |beats: f64, peak: f64| math::cos(TAU * beats * (t - peak));

    // The swinging side sinks and lags, and the weight moves to the other side; two beats of height
    // for each pair of legs.
    let (hind_mid_swing, fore_mid_swing) = (0.82, 0.07);
    posture.shift = DVec3::new(
        -0.010 * wave(1.0, hind_mid_swing),
        0.006 * wave(2.0, 0.32) - 0.010,
        0.004 * wave(2.0, 0.1),
    );

    // Pitch, yaw and roll of the two ends of the spine; loin and chest share their difference.
    let pelvis = [
        0.015 * wave(2.0, 0.05),
        -0.060 * wave(1.0, 0.0),
        -0.045 * wave(1.0, hind_mid_swing),
    ];
    let chest = [
        0.018 * wave(2.0, 0.30),
        -0.055 * wave(1.0, 0.25),
        -0.040 * wave(1.0, fore_mid_swing),
    ];

    posture.bend(skeleton, "pelvis", pelvis);
    posture.bend(
        skeleton,
        "loin",
        [0, 1, 2].map(|k| 0.45 * (chest[k] - pelvis[k])),
    );

    posture.bend(
        skeleton,
        "chest",
        [0, 1, 2].map(|k| 0.55 * (chest[k] - pelvis[k])),
    );

    // The neck balances the chest, so that the head stays level.
    posture.bend(
        skeleton,
        "neck_1",
        [0.060 * wave(2.0, 0.28), -0.5 * chest[1], -0.4 * chest[2]],
    );
    posture.bend(
        skeleton,
        "neck_2",
        [0.030 * wave(2.0, 0.33), -0.4 * chest[1], -0.3 * chest[2]],
    );
    posture.bend(
        skeleton,
        "head",
        [
            -0.070 * wave(2.0, 0.31),
            0.02 * wave(1.0, 0.35),
            -0.2 * chest[2],
        ],
    );

    for side in ["left", "right"] {
        posture.bend(
            skeleton,
            &format!("ear_{side}_1"),
            [0.07 * wave(2.0, 0.42), 0.0, 0.0],
        );
    }

    sway_tail(&mut posture, skeleton, t);
    posture.steps =
        [0, 1, 2, 3].map(|leg| step(leg % 2 == 1, (t - TOUCHDOWN[leg]).rem_euclid(1.0)));

    posture
}

/// A wave that runs down the tail, sideways once and up and down twice in a cycle.
fn sway_tail(posture: &mut Posture, skeleton: &Skeleton, t: f64) {
    let bones = skeleton
        .bones
        .iter()
        .filter(|b| b.name.starts_with("tail"))
        .count();
    for k in 0..bones {
        // Each bone repeats the motion of the one before it, a little later.
        let late = 0.09 * k as f64;
        let sideways = 0.13 * sin(TAU * (t - late));
        let upward = 0.05 * sin(2.0 * TAU * (t - late)) + if k == 0 { 0.10 } else { 0.02 };
        posture.bend(
            skeleton,
            &format!("tail_{}", k + 1),
            [upward, sideways, 0.0],
        );
    }
}

/// The motion of a foot at phase `u` after its touch-down.
fn step(fore: bool, u: f64) -> Step {
    let shank_rad = periodic(if fore { &FORE_SHANK } else { &HIND_SHANK }, u);
    let blade_rad = periodic(&BLADE, u);

    // In stance the ground carries the foot back at constant speed.
    if u < DUTY {
        let shift = DVec3::Z * TRAVEL * (0.5 - u / DUTY);
        return Step {
            shift,
            paw_rad: 0.0,
            shank_rad,
            blade_rad,
        };
    }

    // In the swing, `w` runs from 0 to 1.
    let w = (u - DUTY) / (1.0 - DUTY);
    let slope = -TRAVEL * (1.0 - DUTY) / DUTY;
    let bump = 16.0 * w * w * (1.0 - w) * (1.0 - w);
    let lift = LIFT[usize::from(fore)] * bump * (1.25 - 0.5 * w);

    // Toes trail while the foot leaves and point ahead before it lands.
    let paw_rad = bump * (1.5 - 2.1 * w) * if fore { 1.15 } else { 0.9 };
    let shift = DVec3::new(
        0.0,
        lift,
        hermite(-0.5 * TRAVEL, 0.5 * TRAVEL, slope, slope, w),
    );

    Step {
        shift,
        paw_rad,
        shank_rad,
        blade_rad,
    }
}

/// The cubic from `a` to `b` over `[0, 1]` with these slopes at its ends.
fn hermite(a: f64, b: f64, slope_a: f64, slope_b: f64, t: f64) -> f64 {
    let (t2, t3) = (t * t, t * t * t);
    a * (2.0 * t3 - 3.0 * t2 + 1.0)
        + b * (3.0 * t2 - 2.0 * t3)
        + slope_a * (t3 - 2.0 * t2 + t)
        + slope_b * (t3 - t2)
}

/// The smooth periodic curve through `keys`, with slopes from the neighbours on both sides.
fn periodic(keys: &Keys, t: f64) -> f64 {
    let count = keys.len() as isize;

    // Keys repeat with the period, so that neighbours exist on both sides.
    let key = |k: isize| {
        let (time, value) = keys[k.rem_euclid(count) as usize];
        (time + k.div_euclid(count) as f64, value)
    };
    let slope = |k: isize| (key(k + 1).1 - key(k - 1).1) / (key(k + 1).0 - key(k - 1).0);

    // The key before `t`, or the last one of the period before.
    let k = keys
        .iter()
        .rposition(|&(time, _)| time <= t)
        .map_or(-1, |k| k as isize);
    let ((t0, v0), (t1, v1)) = (key(k), key(k + 1));
    let width = t1 - t0;

    hermite(
        v0,
        v1,
        slope(k) * width,
        slope(k + 1) * width,
        (t - t0) / width,
    )
}
