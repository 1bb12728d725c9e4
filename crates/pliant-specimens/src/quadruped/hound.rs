//! The hound: lean, long legs and upright ears, modelled on the hounds of the Mediterranean
//! islands.

use pliant_mesh::glam::{DVec3, dvec3 as at};

use super::frame::{Joints, SIDES, mirrored, skeleton};
use super::{Animal, Coat};
use crate::implicit::{Body, Limb, Solid};
use crate::math::{bell, smoothstep_between};
use crate::skeleton::Skeleton;
use crate::surface_nets::Grid;

/// The hound in metres, standing.
pub(super) fn animal() -> Animal {
    let joints = joints();
    let skeleton = skeleton(&joints);
    let body = body(&joints, &skeleton);

    Animal {
        name: "hound",
        joints,
        skeleton,
        body,
        grid: grid(),
        diffusion: 22,
        coat: coat as Coat,
    }
}

fn joints() -> Joints {
    Joints {
        spine: [
            at(0.0, 0.590, -0.270),
            at(0.0, 0.605, -0.170),
            at(0.0, 0.600, 0.030),
            at(0.0, 0.600, 0.215),
            at(0.0, 0.690, 0.300),
            at(0.0, 0.785, 0.375),
            at(0.0, 0.760, 0.590),
        ],
        tail: vec![
            at(0.0, 0.575, -0.345),
            at(0.0, 0.520, -0.410),
            at(0.0, 0.450, -0.455),
            at(0.0, 0.385, -0.500),
            at(0.0, 0.335, -0.560),
            at(0.0, 0.315, -0.635),
        ],
        trunk: Vec::new(),
        ear: [at(0.042, 0.835, 0.375), at(0.068, 0.945, 0.365)],
        fore: [
            at(0.060, 0.620, 0.165),
            at(0.082, 0.465, 0.252),
            at(0.088, 0.375, 0.150),
            at(0.080, 0.165, 0.165),
            at(0.080, 0.052, 0.180),
            at(0.080, 0.020, 0.235),
        ],
        hind: [
            at(0.075, 0.545, -0.285),
            at(0.092, 0.375, -0.200),
            at(0.085, 0.190, -0.375),
            at(0.085, 0.050, -0.350),
            at(0.085, 0.020, -0.292),
        ],
    }
}

fn grid() -> Grid {
    // Closer planes at the paws, the face and the ears.
    let rows = |y: f64| {
        if y < 0.06 {
            0.0080
        } else if y < 0.66 {
            0.0146
        } else if y < 0.84 {
            0.0090
        } else {
            0.0072
        }
    };

    let slices = |z: f64| if z > 0.34 { 0.0082 } else { 0.0142 };
    Grid {
        planes: [
            Grid::mirrored_planes(0.19, 0.0093),
            Grid::planes(-0.03, 1.0, rows),
            Grid::planes(-0.70, 0.72, slices),
        ],
    }
}

fn body(joints: &Joints, skeleton: &Skeleton) -> Body {
    let mut limbs = vec![torso(joints, skeleton), tail(joints, skeleton)];
    for (side, sign) in SIDES {
        limbs.push(ear(joints, skeleton, side, sign));
        limbs.push(fore_leg(joints, skeleton, side, sign));
        limbs.push(hind_leg(joints, skeleton, side, sign));
    }

    Body {
        limbs,
        fillet: 0.008,
    }
}

fn torso(joints: &Joints, skeleton: &Skeleton) -> Limb {
    let mut torso = Limb::new(0.0, 0.022);
    let [pelvis, loin, chest, neck_1, neck_2, head] =
        ["pelvis", "loin", "chest", "neck_1", "neck_2", "head"].map(|name| skeleton.find(name));
    let flat = |solid: Solid, factor: f64| solid.flattened(DVec3::X, factor);

    // A deep narrow chest, a tucked-up waist, a sloping croup.
    torso.add(Solid::ellipsoid(
        chest,
        at(0.0, 0.500, 0.130),
        at(0.098, 0.150, 0.170),
    ));

    torso.add(
        flat(
            Solid::cone(
                chest,
                at(0.0, 0.520, 0.060),
                at(0.0, 0.555, -0.060),
                [0.125, 0.085],
            ),
            0.78,
        )
        .filleted(0.06),
    );

    torso.add(
        flat(
            Solid::cone(
                loin,
                at(0.0, 0.560, -0.060),
                at(0.0, 0.565, -0.190),
                [0.078, 0.072],
            ),
            0.88,
        )
        .filleted(0.05),
    );

    torso.add(
        Solid::cone(
            pelvis,
            at(0.0, 0.560, -0.200),
            at(0.0, 0.540, -0.310),
            [0.082, 0.062],
        )
        .filleted(0.06),
    );

    // The line of the back, and the breastbone.
    torso.add(
        Solid::cone(
            loin,
            at(0.0, 0.615, -0.020),
            at(0.0, 0.610, -0.200),
            [0.026, 0.026],
        )
        .filleted(0.05),
    );

    torso.add(
        Solid::cone(
            chest,
            at(0.0, 0.610, 0.160),
            at(0.0, 0.612, 0.000),
            [0.034, 0.026],
        )
        .filleted(0.05),
    );

    torso.add(
        Solid::cone(
            chest,
            at(0.0, 0.405, 0.170),
            at(0.0, 0.505, 0.262),
            [0.046, 0.032],
        )
        .filleted(0.08),
    );

    // A long arched neck.
    torso.add(
        flat(
            Solid::cone(
                neck_1,
                at(0.0, 0.555, 0.205),
                joints.spine[4] + at(0.0, -0.012, 0.0),
                [0.100, 0.070],
            ),
            0.82,
        )
        .filleted(0.07),
    );

    torso.add(
        flat(
            Solid::cone(
                neck_2,
                joints.spine[4] + at(0.0, -0.008, 0.0),
                joints.spine[5] + at(0.0, -0.012, 0.0),
                [0.070, 0.057],
            ),
            0.88,
        )
        .filleted(0.03),
    );

    add_head(&mut torso, head);
    torso
}

fn add_head(torso: &mut Limb, head: usize) {
    // Skull, stop, muzzle, lower jaw, nose.
    torso
        .add(Solid::ellipsoid(head, at(0.0, 0.797, 0.402), at(0.055, 0.051, 0.070)).filleted(0.03));
    torso.add(
        Solid::cone(
            head,
            at(0.0, 0.776, 0.455),
            at(0.0, 0.756, 0.572),
            [0.041, 0.0265],
        )
        .flattened(DVec3::X, 0.86)
        .filleted(0.025),
    );

    torso.add(
        Solid::cone(
            head,
            at(0.0, 0.760, 0.430),
            at(0.0, 0.731, 0.560),
            [0.033, 0.0165],
        )
        .flattened(DVec3::X, 0.94)
        .filleted(0.006),
    );

    torso.add(
        Solid::ball(head, at(0.0, 0.767, 0.589), 0.0185)
            .flattened(DVec3::X, 1.12)
            .filleted(0.005),
    );

    for (_, sign) in SIDES {
        let place = |x, y, z| mirrored(at(x, y, z), sign);
        // Cheek, brow, lip, eye, nostril.
        torso.add(Solid::ball(head, place(0.031, 0.772, 0.412), 0.029).filleted(0.03));
        torso.add(
            Solid::cone(
                head,
                place(0.018, 0.829, 0.446),
                place(0.040, 0.824, 0.424),
                [0.0125, 0.010],
            )
            .filleted(0.016),
        );

        torso.add(
            Solid::cone(
                head,
                place(0.018, 0.752, 0.490),
                place(0.0140, 0.746, 0.566),
                [0.0195, 0.0145],
            )
            .filleted(0.006),
        );

        torso.add(Solid::ball(head, place(0.0365, 0.803, 0.4555), 0.0150).filleted(0.002));
        torso.add(
            Solid::ball(head, place(0.0105, 0.765, 0.6065), 0.0056)
                .carved()
                .filleted(0.003),
        );
    }
}

fn tail(joints: &Joints, skeleton: &Skeleton) -> Limb {
    let mut tail = Limb::new(0.04, 0.012);
    let root = skeleton.find("tail_1");
    tail.add_chain(root, &joints.tail, |k| 0.0235 - 0.0026 * k as f64, 0.002);
    tail
}

fn ear(joints: &Joints, skeleton: &Skeleton, side: &str, sign: f64) -> Limb {
    let mut ear = Limb::new(0.016, 0.012);
    let bone = skeleton.find(&format!("ear_{side}_1"));
    let [root, tip] = joints.ear.map(|p| mirrored(p, sign));
    let belly = root.lerp(tip, 0.35);

    // Thin from front to back, with the hollow towards the front and a little outwards.
    let facing = mirrored(at(0.45, 0.10, 0.89), sign).normalize();
    ear.add(Solid::cone(bone, root, belly, [0.022, 0.029]).flattened(facing, 0.62));
    ear.add(
        Solid::cone(bone, belly, tip, [0.029, 0.0095])
            .flattened(facing, 0.62)
            .filleted(0.01),
    );

    // A smaller cone carves the hollow.
    ear.add(
        Solid::cone(
            bone,
            belly + facing * 0.019,
            root.lerp(tip, 0.80) + facing * 0.0165,
            [0.0185, 0.007],
        )
        .flattened(facing, 0.72)
        .carved()
        .filleted(0.006),
    );

    ear
}

fn fore_leg(joints: &Joints, skeleton: &Skeleton, side: &str, sign: f64) -> Limb {
    let mut leg = Limb::new(0.050, 0.012);
    let blade = skeleton.find(&format!("fore_{side}_1"));
    let [_, shoulder, elbow, wrist, knuckle, _] = joints.fore.map(|p| mirrored(p, sign));
    let out = DVec3::X * sign;
    let thin = |solid: Solid, factor: f64| solid.flattened(DVec3::X, factor);

    // Shoulder blade under the skin, upper arm with its muscle.
    leg.add(thin(
        Solid::cone(
            blade,
            mirrored(at(0.060, 0.590, 0.160), sign),
            shoulder - out * 0.008,
            [0.040, 0.042],
        ),
        0.60,
    ));

    leg.add(
        thin(
            Solid::cone(
                blade + 1,
                shoulder - out * 0.006,
                elbow + at(0.0, 0.012, 0.010),
                [0.042, 0.039],
            ),
            0.72,
        )
        .filleted(0.02),
    );

    leg.add(
        thin(
            Solid::cone(
                blade + 1,
                mirrored(at(0.085, 0.490, 0.175), sign),
                elbow + at(0.0, 0.012, -0.010),
                [0.050, 0.024],
            ),
            0.55,
        )
        .filleted(0.04),
    );

    // Forearm, wrist, pastern: each begins with the width at which the one before ends.
    let mid_forearm = elbow.lerp(wrist, 0.55) + at(0.0, 0.0, 0.002);
    leg.add(
        thin(
            Solid::cone(
                blade + 2,
                elbow + at(0.0, 0.000, 0.008),
                mid_forearm,
                [0.036, 0.0215],
            ),
            0.84,
        )
        .filleted(0.012),
    );

    leg.add(
        thin(
            Solid::cone(
                blade + 2,
                mid_forearm,
                wrist + at(0.0, 0.014, 0.0),
                [0.0215, 0.0195],
            ),
            0.92,
        )
        .filleted(0.003),
    );

    // The point of the elbow, then the wrist and the pastern.
    leg.add(Solid::ball(blade + 2, elbow + at(0.0, 0.010, -0.024), 0.014).filleted(0.02));
    leg.add(
        Solid::cone(
            blade + 3,
            wrist + at(0.0, 0.010, 0.002),
            wrist + at(0.0, -0.020, 0.002),
            [0.0205, 0.0195],
        )
        .filleted(0.006),
    );

    leg.add(
        thin(
            Solid::cone(
                blade + 3,
                wrist + at(0.0, -0.015, 0.0),
                knuckle,
                [0.0190, 0.0195],
            ),
            0.96,
        )
        .filleted(0.004),
    );

    add_paw(&mut leg, blade + 4, knuckle, 1.0);
    leg
}

fn hind_leg(joints: &Joints, skeleton: &Skeleton, side: &str, sign: f64) -> Limb {
    let mut leg = Limb::new(0.055, 0.012);
    let thigh = skeleton.find(&format!("hind_{side}_1"));
    let [hip, knee, hock, knuckle, _] = joints.hind.map(|p| mirrored(p, sign));
    let out = DVec3::X * sign;
    let thin = |solid: Solid, factor: f64| solid.flattened(DVec3::X, factor);

    // A broad flat thigh, fuller behind.
    leg.add(thin(
        Solid::cone(
            thigh,
            hip + at(0.0, -0.010, 0.006) - out * 0.006,
            knee + at(0.0, 0.020, -0.008) - out * 0.004,
            [0.086, 0.050],
        ),
        0.55,
    ));

    leg.add(
        thin(
            Solid::cone(
                thigh,
                hip + at(0.0, -0.030, -0.045),
                knee + at(0.0, 0.000, -0.058) - out * 0.008,
                [0.050, 0.030],
            ),
            0.60,
        )
        .filleted(0.04),
    );

    leg.add(thin(Solid::ball(thigh, knee + at(0.0, 0.006, 0.004), 0.030), 0.8).filleted(0.03));
    // Second thigh, narrowing to the tendon; hock with its point; long pastern.
    let calf = knee.lerp(hock, 0.58) + at(0.0, -0.002, 0.004);
    leg.add(
        thin(
            Solid::cone(
                thigh + 1,
                knee + at(0.0, -0.006, -0.010),
                calf,
                [0.041, 0.0225],
            ),
            0.74,
        )
        .filleted(0.02),
    );

    leg.add(
        thin(
            Solid::cone(
                thigh + 1,
                calf,
                hock + at(0.0, 0.006, 0.0),
                [0.0225, 0.0185],
            ),
            0.80,
        )
        .filleted(0.003),
    );

    leg.add(
        thin(
            Solid::cone(
                thigh + 2,
                hock + at(0.0, 0.024, -0.015),
                hock + at(0.0, -0.010, -0.004),
                [0.0100, 0.0180],
            ),
            0.90,
        )
        .filleted(0.012),
    );

    leg.add(
        thin(
            Solid::cone(
                thigh + 2,
                hock + at(0.0, 0.004, 0.002),
                knuckle,
                [0.0205, 0.0190],
            ),
            0.94,
        )
        .filleted(0.006),
    );

    add_paw(&mut leg, thigh + 3, knuckle, 0.94);
    leg
}

/// Four arched toes and the pad under them.
fn add_paw(leg: &mut Limb, bone: usize, knuckle: DVec3, size: f64) {
    let place = |x: f64, y: f64, z: f64| at(knuckle.x + x * size, y, knuckle.z + z * size);

    // The body of the paw.
    leg.add(
        Solid::cone(
            bone,
            place(0.0, 0.036, 0.002),
            place(0.0, 0.028, 0.030),
            [0.023, 0.022],
        )
        .flattened(DVec3::X, 1.15)
        .filleted(0.012),
    );

    // Four toes of two bones each; the middle ones reach farther.
    for (x, reach) in [
        (-0.0265, 0.042),
        (-0.0095, 0.058),
        (0.0095, 0.058),
        (0.0265, 0.042),
    ] {
        leg.add(
            Solid::cone(
                bone,
                place(0.6 * x, 0.036, reach - 0.028),
                place(x, 0.026, reach - 0.004),
                [0.011, 0.0125],
            )
            .filleted(0.008),
        );
        leg.add(
            Solid::cone(
                bone,
                place(x, 0.025, reach - 0.004),
                place(x, 0.0140, reach + 0.007),
                [0.0120, 0.0115],
            )
            .filleted(0.006),
        );
    }

    // The pad.
    leg.add(
        Solid::ellipsoid(
            bone,
            place(0.0, 0.0140, 0.026),
            at(0.030, 0.0135, 0.036) * size,
        )
        .filleted(0.008),
    );
}

/// Chestnut with a pale chest, white toes and a dark nose and eyes.
fn coat(p: DVec3) -> DVec3 {
    let chestnut = at(0.62, 0.36, 0.17);
    let cream = at(0.90, 0.82, 0.70);
    let dark = at(0.10, 0.07, 0.06);
    let side = p.x.abs();

    // Pale parts, each with a soft edge.
    let socks = 1.0 - smoothstep_between(0.06, 0.12, p.y);
    let breast = smoothstep_between(0.22, 0.29, p.z)
        * (1.0 - smoothstep_between(0.52, 0.60, p.y))
        * (1.0 - smoothstep_between(0.035, 0.07, side))
        * smoothstep_between(0.36, 0.40, p.y);
    let belly = (1.0 - smoothstep_between(0.41, 0.47, p.y - 0.25 * (0.1 - p.z).max(0.0)))
        * (1.0 - smoothstep_between(0.03, 0.06, side))
        * smoothstep_between(0.33, 0.36, p.y)
        * smoothstep_between(-0.24, -0.16, p.z);
    let tail_tip = 1.0 - smoothstep_between(-0.595, -0.565, p.z);
    let pale = socks.max(breast).max(belly).max(tail_tip);

    // Dark parts are painted over all others.
    let nose = smoothstep_between(0.577, 0.584, p.z) * smoothstep_between(0.748, 0.754, p.y);
    let eye = bell(p.distance(at(0.0470 * p.x.signum(), 0.804, 0.4625)) / 0.0130);
    let inner_ear = smoothstep_between(0.845, 0.87, p.y) * 0.25;

    let hide = chestnut
        .lerp(cream, pale)
        .lerp(at(0.75, 0.52, 0.42), inner_ear);

    hide.lerp(dark, nose.max(smoothstep_between(0.3, 0.7, eye)))
}
