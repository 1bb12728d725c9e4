//! The tapir: a heavy barrel on short legs, with a short trunk and a pale saddle.

use std::f64::consts::TAU;

use pliant_mesh::glam::{DVec3, dvec3 as at};

use super::frame::{Joints, SIDES, mirrored, skeleton};
use super::legs::Posture;
use super::{Animal, Coat};
use crate::implicit::{Body, Limb, Solid};
use crate::math::{bell, cos, sin, smoothstep_between};
use crate::skeleton::Skeleton;
use crate::surface_nets::Grid;

/// Bones of the trunk.
const TRUNK_BONES: usize = 5;

/// The tapir in metres, standing.
pub(super) fn animal() -> Animal {
    let joints = joints();
    let skeleton = skeleton(&joints);
    let body = body(&joints, &skeleton);

    Animal {
        name: "tapir",
        joints,
        skeleton,
        body,
        grid: grid(),
        diffusion: 12,
        coat: coat as Coat,
    }
}

/// The trunk swings from side to side and curls up once in the cycle.
pub(super) fn swing_trunk(skeleton: &Skeleton, t: f64) -> Posture {
    let mut posture = Posture::rest(skeleton);
    for k in 0..TRUNK_BONES {
        // Each bone moves a little later and farther than the one before.
        let late = 0.07 * k as f64;
        let sideways = (0.12 + 0.10 * k as f64) * sin(TAU * (t - late));
        let curl = -(0.10 + 0.15 * k as f64) * 0.5 * (1.0 - cos(TAU * (t - 0.6 * late)));
        posture.bend(skeleton, &format!("trunk_{}", k + 1), [curl, sideways, 0.0]);
    }
    posture
}

fn joints() -> Joints {
    Joints {
        spine: [
            at(0.0, 0.760, -0.440),
            at(0.0, 0.780, -0.280),
            at(0.0, 0.770, 0.060),
            at(0.0, 0.740, 0.360),
            at(0.0, 0.770, 0.500),
            at(0.0, 0.790, 0.630),
            at(0.0, 0.690, 0.880),
        ],
        tail: vec![
            at(0.0, 0.690, -0.625),
            at(0.0, 0.640, -0.680),
            at(0.0, 0.575, -0.705),
            at(0.0, 0.510, -0.700),
        ],
        trunk: vec![
            at(0.0, 0.720, 0.830),
            at(0.0, 0.700, 0.900),
            at(0.0, 0.655, 0.960),
            at(0.0, 0.590, 0.995),
            at(0.0, 0.520, 1.005),
            at(0.0, 0.455, 1.000),
        ],
        ear: [at(0.082, 0.875, 0.595), at(0.128, 0.985, 0.575)],
        fore: [
            at(0.120, 0.780, 0.280),
            at(0.150, 0.570, 0.420),
            at(0.160, 0.450, 0.270),
            at(0.150, 0.230, 0.285),
            at(0.150, 0.088, 0.300),
            at(0.150, 0.035, 0.370),
        ],
        hind: [
            at(0.130, 0.670, -0.440),
            at(0.165, 0.460, -0.330),
            at(0.150, 0.270, -0.520),
            at(0.150, 0.088, -0.490),
            at(0.150, 0.035, -0.420),
        ],
    }
}

fn grid() -> Grid {
    // Closer planes at the feet, the ears and the trunk.
    let rows = |y: f64| {
        if y < 0.12 {
            0.0160
        } else if y < 0.85 {
            0.0225
        } else {
            0.0150
        }
    };

    let slices = |z: f64| if z > 0.56 { 0.0155 } else { 0.0240 };
    Grid {
        planes: [
            Grid::mirrored_planes(0.36, 0.0175),
            Grid::planes(-0.05, 1.08, rows),
            Grid::planes(-0.82, 1.12, slices),
        ],
    }
}

fn body(joints: &Joints, skeleton: &Skeleton) -> Body {
    let mut limbs = vec![
        torso(joints, skeleton),
        tail(joints, skeleton),
        trunk(joints, skeleton),
    ];

    for (side, sign) in SIDES {
        limbs.push(ear(joints, skeleton, side, sign));
        limbs.push(fore_leg(joints, skeleton, side, sign));
        limbs.push(hind_leg(joints, skeleton, side, sign));
    }

    Body {
        limbs,
        fillet: 0.016,
    }
}

fn torso(joints: &Joints, skeleton: &Skeleton) -> Limb {
    let mut torso = Limb::new(0.0, 0.040);
    let [pelvis, loin, chest, neck_1, neck_2, head] =
        ["pelvis", "loin", "chest", "neck_1", "neck_2", "head"].map(|name| skeleton.find(name));

    // A barrel that hangs lowest in the middle and a round rump, the highest point.
    torso.add(Solid::ellipsoid(
        chest,
        at(0.0, 0.590, 0.170),
        at(0.220, 0.235, 0.300),
    ));

    torso.add(
        Solid::ellipsoid(loin, at(0.0, 0.570, -0.130), at(0.238, 0.240, 0.330)).filleted(0.10),
    );
    torso.add(
        Solid::ellipsoid(pelvis, at(0.0, 0.625, -0.400), at(0.200, 0.205, 0.225)).filleted(0.12),
    );

    // The line of the back.
    torso.add(
        Solid::cone(
            chest,
            at(0.0, 0.690, 0.250),
            at(0.0, 0.740, -0.050),
            [0.110, 0.080],
        )
        .filleted(0.12),
    );

    // A thick neck with a crest.
    torso.add(
        Solid::cone(
            neck_1,
            at(0.0, 0.640, 0.310),
            joints.spine[4] + at(0.0, -0.055, 0.0),
            [0.205, 0.158],
        )
        .flattened(DVec3::X, 0.86)
        .filleted(0.12),
    );

    torso.add(
        Solid::cone(
            neck_2,
            joints.spine[4] + at(0.0, -0.050, 0.0),
            joints.spine[5] + at(0.0, -0.030, -0.01),
            [0.155, 0.120],
        )
        .flattened(DVec3::X, 0.86)
        .filleted(0.05),
    );

    // The crest along the neck.
    torso.add(
        Solid::cone(
            neck_1,
            at(0.0, 0.820, 0.330),
            at(0.0, 0.885, 0.480),
            [0.030, 0.030],
        )
        .filleted(0.08),
    );

    torso.add(
        Solid::cone(
            neck_2,
            at(0.0, 0.885, 0.480),
            at(0.0, 0.885, 0.600),
            [0.030, 0.028],
        )
        .filleted(0.06),
    );

    add_head(&mut torso, head);
    torso
}

fn add_head(torso: &mut Limb, head: usize) {
    // Skull, snout, lower jaw with its lip.
    torso
        .add(Solid::ellipsoid(head, at(0.0, 0.785, 0.650), at(0.102, 0.108, 0.135)).filleted(0.06));
    torso.add(
        Solid::cone(
            head,
            at(0.0, 0.745, 0.720),
            at(0.0, 0.700, 0.860),
            [0.092, 0.062],
        )
        .flattened(DVec3::X, 0.90)
        .filleted(0.06),
    );

    torso.add(
        Solid::cone(
            head,
            at(0.0, 0.685, 0.680),
            at(0.0, 0.618, 0.848),
            [0.068, 0.034],
        )
        .flattened(DVec3::X, 0.92)
        .filleted(0.025),
    );

    for (_, sign) in SIDES {
        let place = |x, y, z| mirrored(at(x, y, z), sign);
        // Cheek, brow, eye.
        torso.add(Solid::ball(head, place(0.052, 0.735, 0.665), 0.066).filleted(0.05));
        torso.add(
            Solid::cone(
                head,
                place(0.055, 0.842, 0.715),
                place(0.084, 0.826, 0.690),
                [0.022, 0.018],
            )
            .filleted(0.04),
        );

        torso.add(Solid::ball(head, place(0.0820, 0.800, 0.731), 0.0255).filleted(0.004));
    }
}

fn trunk(joints: &Joints, skeleton: &Skeleton) -> Limb {
    let mut trunk = Limb::new(0.05, 0.045);
    let root = skeleton.find("trunk_1");
    let radius = [0.066, 0.060, 0.053, 0.046, 0.040, 0.037];
    trunk.add_chain(root, &joints.trunk, |k| radius[k], 0.002);

    // The finger-like tip and the two nostrils.
    let tip = joints.trunk[TRUNK_BONES];
    trunk.add(
        Solid::ball(root + TRUNK_BONES - 1, tip + at(0.0, -0.004, 0.003), 0.0385)
            .flattened(DVec3::X, 1.12)
            .filleted(0.006),
    );

    for (_, sign) in SIDES {
        trunk.add(
            Solid::ball(
                root + TRUNK_BONES - 1,
                tip + mirrored(at(0.0180, -0.040, 0.018), sign),
                0.0140,
            )
            .carved()
            .filleted(0.006),
        );
    }

    trunk
}

fn tail(joints: &Joints, skeleton: &Skeleton) -> Limb {
    let mut tail = Limb::new(0.07, 0.022);
    let root = skeleton.find("tail_1");
    tail.add_chain(root, &joints.tail, |k| 0.044 - 0.006 * k as f64, 0.01);
    tail
}

fn ear(joints: &Joints, skeleton: &Skeleton, side: &str, sign: f64) -> Limb {
    let mut ear = Limb::new(0.03, 0.022);
    let bone = skeleton.find(&format!("ear_{side}_1"));
    let [root, tip] = joints.ear.map(|p| mirrored(p, sign));
    let facing = mirrored(at(0.55, 0.05, 0.83), sign).normalize();

    // A round spoon.
    let middle = root.lerp(tip, 0.62);
    ear.add(Solid::cone(bone, root, middle, [0.034, 0.058]).flattened(facing, 0.52));
    ear.add(
        Solid::cone(
            bone,
            root.lerp(tip, 0.28) + facing * 0.030,
            middle + facing * 0.032,
            [0.022, 0.042],
        )
        .flattened(facing, 0.62)
        .carved()
        .filleted(0.010),
    );

    ear
}

fn fore_leg(joints: &Joints, skeleton: &Skeleton, side: &str, sign: f64) -> Limb {
    let mut leg = Limb::new(0.09, 0.022);
    let blade = skeleton.find(&format!("fore_{side}_1"));
    let [top, shoulder, elbow, wrist, knuckle, _] = joints.fore.map(|p| mirrored(p, sign));
    let out = DVec3::X * sign;

    // Shoulder blade and upper arm with their muscles.
    leg.add(
        Solid::cone(
            blade,
            top - at(0.0, 0.050, 0.0) - out * 0.005,
            shoulder - out * 0.012,
            [0.085, 0.100],
        )
        .flattened(DVec3::X, 0.70),
    );

    leg.add(
        Solid::cone(
            blade + 1,
            shoulder - out * 0.010,
            elbow + at(0.0, 0.010, 0.010),
            [0.104, 0.094],
        )
        .flattened(DVec3::X, 0.80)
        .filleted(0.05),
    );

    // Elbow, forearm, wrist and foot.
    leg.add(Solid::ball(blade + 2, elbow + at(0.0, 0.010, -0.048), 0.040).filleted(0.05));
    leg.add(
        Solid::cone(
            blade + 2,
            elbow + at(0.0, -0.005, 0.008),
            wrist,
            [0.086, 0.056],
        )
        .flattened(DVec3::X, 0.88)
        .filleted(0.03),
    );

    leg.add(Solid::ball(blade + 3, wrist + at(0.0, -0.010, 0.008), 0.055).filleted(0.008));
    leg.add(Solid::cone(blade + 3, wrist, knuckle, [0.054, 0.052]).filleted(0.005));
    add_foot(&mut leg, blade + 4, knuckle, 1.0);

    leg
}

fn hind_leg(joints: &Joints, skeleton: &Skeleton, side: &str, sign: f64) -> Limb {
    let mut leg = Limb::new(0.10, 0.022);
    let thigh = skeleton.find(&format!("hind_{side}_1"));
    let [hip, knee, hock, knuckle, _] = joints.hind.map(|p| mirrored(p, sign));
    let out = DVec3::X * sign;

    // A broad thigh, fuller behind, and the knee.
    leg.add(
        Solid::cone(
            thigh,
            hip - out * 0.010,
            knee + at(0.0, 0.020, -0.020) - out * 0.012,
            [0.170, 0.108],
        )
        .flattened(DVec3::X, 0.58),
    );

    leg.add(
        Solid::cone(
            thigh,
            hip + at(0.0, -0.050, -0.080) - out * 0.006,
            knee + at(0.0, 0.010, -0.130) - out * 0.014,
            [0.100, 0.066],
        )
        .flattened(DVec3::X, 0.66)
        .filleted(0.06),
    );

    leg.add(
        Solid::ball(thigh, knee + at(0.0, 0.010, 0.000), 0.074)
            .flattened(DVec3::X, 0.85)
            .filleted(0.05),
    );

    // Second thigh, point of the hock, and foot.
    leg.add(
        Solid::cone(
            thigh + 1,
            knee + at(0.0, -0.010, -0.030),
            hock + at(0.0, 0.000, 0.006),
            [0.092, 0.052],
        )
        .flattened(DVec3::X, 0.80)
        .filleted(0.05),
    );

    leg.add(
        Solid::cone(
            thigh + 2,
            hock + at(0.0, 0.040, -0.034),
            hock,
            [0.026, 0.045],
        )
        .filleted(0.03),
    );

    leg.add(Solid::cone(thigh + 2, hock, knuckle, [0.053, 0.051]).filleted(0.008));
    add_foot(&mut leg, thigh + 3, knuckle, 0.97);
    leg
}

/// Three hoofed toes and the sole behind them.
fn add_foot(leg: &mut Limb, bone: usize, knuckle: DVec3, size: f64) {
    let place = |x: f64, y: f64, z: f64| at(knuckle.x + x * size, y * size, knuckle.z + z * size);

    // The body of the foot.
    leg.add(
        Solid::cone(
            bone,
            place(0.0, 0.075, 0.002),
            place(0.0, 0.050, 0.022),
            [0.052, 0.050],
        )
        .filleted(0.010),
    );

    // Three toes; the middle one is the largest.
    for (x, reach, width) in [
        (-0.046, 0.046, 0.025),
        (0.0, 0.072, 0.030),
        (0.046, 0.046, 0.025),
    ] {
        leg.add(
            Solid::cone(
                bone,
                place(0.6 * x, 0.070, 0.4 * reach),
                place(x, 0.032, reach),
                [0.026, width],
            )
            .filleted(0.010),
        );
        leg.add(Solid::ball(bone, place(1.05 * x, 0.0255, reach + 0.010), width).filleted(0.008));
    }

    // The sole.
    leg.add(
        Solid::ball(bone, place(0.0, 0.026, 0.008), 0.026)
            .flattened(DVec3::X, 1.8)
            .filleted(0.016),
    );
}

/// Black with a pale saddle and pale tips of the ears.
fn coat(p: DVec3) -> DVec3 {
    let black = at(0.20, 0.18, 0.18);
    let pale = at(0.86, 0.84, 0.80);

    // The saddle's edges lean: forward on the flank, and it spares the legs.
    let front = 1.0 - smoothstep_between(0.08, 0.14, p.z + 0.30 * (p.y - 0.60));
    let rear = smoothstep_between(-0.68, -0.58, p.z - 0.30 * (p.y - 0.65));
    let low = smoothstep_between(0.38, 0.46, p.y + 0.20 * (p.z + 0.1).min(0.0));

    // Tips of the ears, hooves and eyes.
    let ear_tip = smoothstep_between(0.980, 0.995, p.y);
    let hoof = 1.0 - smoothstep_between(0.030, 0.045, p.y);
    let eye = bell(p.distance(at(0.1000 * p.x.signum(), 0.803, 0.744)) / 0.021);
    let hide = black.lerp(pale, (front * rear * low).max(ear_tip));

    hide.lerp(at(0.34, 0.30, 0.26), hoof)
        .lerp(at(0.03, 0.02, 0.02), smoothstep_between(0.3, 0.7, eye))
}
