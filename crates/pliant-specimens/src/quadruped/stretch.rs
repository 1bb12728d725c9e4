//! The stretch clip: the chest goes down, the rump stays up, the tail wags.

use std::f64::consts::TAU;

use pliant_mesh::glam::DVec3;

use super::legs::{Posture, Step};
use crate::math::{sin, smoothstep_between};
use crate::skeleton::Skeleton;

/// The posture at time `t` from 0 to 1: down, hold and up again.
pub(super) fn stretch(skeleton: &Skeleton, t: f64) -> Posture {
    let mut posture = Posture::rest(skeleton);

    // Both envelopes rise from 0 to 1 and return: the bow, and the wag while it is held.
    let bow = smoothstep_between(0.08, 0.42, t) * (1.0 - smoothstep_between(0.70, 0.98, t));
    let wag = smoothstep_between(0.25, 0.40, t) * (1.0 - smoothstep_between(0.68, 0.80, t));
    posture.shift = DVec3::new(0.0, -0.010, -0.075) * bow;
    posture.bend(
        skeleton,
        "pelvis",
        [0.27 * bow, 0.03 * wag * sin(TAU * 5.0 * t), 0.0],
    );
    posture.bend(skeleton, "loin", [0.06 * bow, 0.0, 0.0]);
    posture.bend(skeleton, "chest", [0.05 * bow, 0.0, 0.0]);

    // The neck bends up while the chest sinks, so that the head looks ahead.
    posture.bend(skeleton, "neck_1", [-0.40 * bow, 0.0, 0.0]);
    posture.bend(skeleton, "neck_2", [-0.22 * bow, 0.0, 0.0]);
    posture.bend(
        skeleton,
        "head",
        [-0.08 * bow, 0.0, 0.10 * wag * sin(TAU * 1.5 * t)],
    );

    // The tail is lifted, mostly at its root, and wags in a wave.
    for (k, lift) in [0.95, 0.35, 0.25, 0.15, 0.10].into_iter().enumerate() {
        let sideways = 0.30 * wag * sin(TAU * (5.0 * t - 0.10 * k as f64));
        posture.bend(
            skeleton,
            &format!("tail_{}", k + 1),
            [lift * bow, sideways, 0.0],
        );
    }

    for side in ["left", "right"] {
        posture.bend(skeleton, &format!("ear_{side}_1"), [-0.25 * bow, 0.0, 0.0]);
    }

    // Hind legs stand and only tilt a little.
    posture.steps[0].shank_rad = 0.10 * bow;
    posture.steps[2].shank_rad = 0.10 * bow;

    // One paw after the other creeps forward, and back in the same order.
    posture.steps[1] = reach(
        smoothstep_between(0.06, 0.24, t) * (1.0 - smoothstep_between(0.72, 0.88, t)),
        bow,
    );
    posture.steps[3] = reach(
        smoothstep_between(0.18, 0.38, t) * (1.0 - smoothstep_between(0.82, 0.98, t)),
        bow,
    );

    posture
}

fn reach(forward: f64, bow: f64) -> Step {
    let lift = 0.028 * 4.0 * forward * (1.0 - forward);
    Step {
        shift: DVec3::new(0.0, lift, 0.120 * forward),
        paw_rad: 0.0,
        shank_rad: -0.60 * bow,
        blade_rad: -0.15 * bow,
    }
}
