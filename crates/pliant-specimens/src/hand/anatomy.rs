//! Bones and solids of a right hand, in centimetres: fingers along `+y`, the palm faces `+z`, the
//! thumb is at `+x`.

use pliant_mesh::glam::{DMat3, DVec3, dvec3 as at};

use crate::implicit::{Body, Limb, Solid};
use crate::skeleton::Skeleton;

/// A finger or the thumb.
#[derive(Debug, Clone)]
pub(super) struct Digit {
    pub(super) name: &'static str,
    /// From the knuckle (the wrist's joint for the thumb) to the middle of the last ball.
    pub(super) joints: [DVec3; 4],
    /// Radii at the joints.
    pub(super) radii: [f64; 4],
    /// Where the pulp of the tip faces.
    pub(super) pulp: DVec3,
    /// The first of its three bones.
    pub(super) first_bone: usize,
}

impl Digit {
    /// The unit vector along bone `k`.
    pub(super) fn along(&self, k: usize) -> DVec3 {
        (self.joints[k + 1] - self.joints[k]).normalize()
    }

    /// Where the inside of bone `k` faces, perpendicular to it.
    pub(super) fn inward(&self, k: usize) -> DVec3 {
        let along = self.along(k);
        (self.pulp - along * along.dot(self.pulp)).normalize()
    }

    /// Bending joint `k` rotates about this axis.
    pub(super) fn hinge(&self, k: usize) -> DVec3 {
        self.along(k).cross(self.inward(k))
    }

    /// The axes of bone `k` as columns: hinge, along, inward.
    fn axes(&self, k: usize) -> DMat3 {
        DMat3::from_cols(self.hinge(k), self.along(k), self.inward(k))
    }
}

/// The bones, digits and flesh of the hand.
#[derive(Debug, Clone)]
pub(super) struct Anatomy {
    pub(super) skeleton: Skeleton,
    /// Thumb, index, middle, ring, little.
    pub(super) digits: [Digit; 5],
    pub(super) body: Body,
}

/// Bone 0 is the forearm, bone 1 the palm.
const FOREARM: usize = 0;
const PALM: usize = 1;

pub(super) fn anatomy() -> Anatomy {
    let mut skeleton = Skeleton::default();
    skeleton.add("forearm", None, at(0.0, -5.0, 0.0), at(0.0, 0.0, 0.0));
    skeleton.add("palm", Some(FOREARM), at(0.0, 0.2, 0.0), at(0.5, 9.0, 0.0));

    let mut digits = [
        thumb(),
        finger(
            "index",
            at(2.75, 8.9, -0.15),
            0.100,
            [4.4, 2.6, 1.72],
            [0.97, 0.87, 0.77, 0.62],
        ),
        finger(
            "middle",
            at(0.75, 9.3, -0.25),
            0.015,
            [4.9, 3.0, 1.80],
            [0.99, 0.89, 0.79, 0.64],
        ),
        finger(
            "ring",
            at(-1.22, 8.9, -0.20),
            -0.085,
            [4.5, 2.8, 1.80],
            [0.94, 0.84, 0.75, 0.61],
        ),
        finger(
            "little",
            at(-3.00, 8.0, -0.05),
            -0.215,
            [3.5, 2.05, 1.52],
            [0.83, 0.72, 0.64, 0.53],
        ),
    ];

    // Every digit is a chain of three bones on the palm.
    for digit in &mut digits {
        digit.first_bone = skeleton.add_chain(digit.name, PALM, &digit.joints)[0];
    }

    // The palm is the trunk of the implicit surface; digits are limbs that join it.
    let mut limbs = vec![palm(&digits)];
    limbs.extend(digits.iter().map(|digit| {
        if digit.name == "thumb" {
            thumb_flesh(digit)
        } else {
            finger_flesh(digit)
        }
    }));

    Anatomy {
        skeleton,
        digits,
        body: Body {
            limbs,
            fillet: 0.22,
        },
    }
}

fn finger(
    name: &'static str,
    knuckle: DVec3,
    lean: f64,
    lengths: [f64; 3],
    radii: [f64; 4],
) -> Digit {
    // A straight finger, which leans sideways a little.
    let along = at(lean, 1.0, 0.0).normalize();
    let mut joints = [knuckle; 4];
    for k in 0..3 {
        joints[k + 1] = joints[k] + along * lengths[k];
    }

    Digit {
        name,
        joints,
        radii,
        pulp: DVec3::Z,
        first_bone: 0,
    }
}

fn thumb() -> Digit {
    Digit {
        name: "thumb",
        joints: [
            at(2.0, 1.9, 0.55),
            at(4.55, 5.2, 1.55),
            at(6.05, 8.05, 2.05),
            at(6.80, 9.85, 2.25),
        ],
        radii: [1.12, 1.10, 0.94, 0.73],
        pulp: at(-0.62, 0.25, 0.74),
        first_bone: 0,
    }
}

fn palm(digits: &[Digit; 5]) -> Limb {
    let mut palm = Limb::new(0.0, 0.45);
    let flat = |solid: Solid, factor: f64| solid.flattened(DVec3::Z, factor);

    // The forearm narrows to the wrist.
    palm.add(flat(
        Solid::cone(
            FOREARM,
            at(0.0, -7.0, -0.15),
            at(0.0, -1.2, -0.10),
            [2.90, 2.58],
        ),
        0.70,
    ));

    palm.add(
        flat(
            Solid::cone(
                PALM,
                at(0.0, -1.6, -0.10),
                at(0.25, 3.0, 0.10),
                [2.56, 3.00],
            ),
            0.62,
        )
        .filleted(0.5),
    );

    // The bones of the palm, splayed from the wrist, and their heads, the knuckles.
    let roots = [
        at(0.95, 1.6, -0.15),
        at(0.35, 1.5, -0.2),
        at(-0.45, 1.5, -0.15),
        at(-1.15, 1.7, -0.05),
    ];

    for (digit, root) in digits[1..].iter().zip(roots) {
        let knuckle = digit.joints[0];
        palm.add(
            flat(
                Solid::cone(
                    PALM,
                    root,
                    knuckle - at(0.0, 0.30, 0.0),
                    [1.42, digit.radii[0] + 0.10],
                ),
                0.92,
            )
            .filleted(0.7),
        );

        // The head of the bone shows as the knuckle on the back of the hand.
        palm.add(
            Solid::ball(PALM, knuckle + at(0.0, -0.1, -0.12), digit.radii[0] * 0.84).filleted(0.30),
        );

        // The pad under the knuckle.
        palm.add(
            Solid::ellipsoid(PALM, knuckle + at(0.0, -0.65, 0.36), at(0.90, 1.35, 0.52))
                .filleted(0.7),
        );
    }

    // The edge of the hand under the little finger, and the heel of the palm.
    palm.add(Solid::ellipsoid(PALM, at(-2.10, 4.4, 0.48), at(1.45, 3.2, 1.00)).filleted(1.2));
    palm.add(Solid::ellipsoid(PALM, at(-1.40, 2.2, 0.45), at(1.15, 1.8, 0.92)).filleted(1.2));

    // The ball of the thumb, and the web to the index finger.
    let thumb = &digits[0];
    palm.add(
        Solid::cone(
            thumb.first_bone,
            at(1.65, 2.7, 0.55),
            at(3.05, 4.7, 1.05),
            [1.15, 1.25],
        )
        .filleted(1.2),
    );

    palm.add(
        flat(
            Solid::cone(PALM, at(2.4, 6.9, 0.1), at(3.4, 5.2, 0.65), [0.72, 0.72]),
            0.8,
        )
        .filleted(0.9),
    );

    // The cut through the forearm: so large a ball is flat here.
    palm.add(
        Solid::ball(FOREARM, at(0.0, -64.6, 0.0), 60.0)
            .carved()
            .filleted(0.9),
    );

    palm
}

fn finger_flesh(digit: &Digit) -> Limb {
    let mut flesh = Limb::new(0.50, 0.10);
    let bone = digit.first_bone;

    // Slightly flattened cones along the bones.
    for k in 0..3 {
        let solid = Solid::cone(
            bone + k,
            digit.joints[k],
            digit.joints[k + 1],
            [digit.radii[k] * 0.97, digit.radii[k + 1] * 0.97],
        );
        flesh.add(solid.flattened(digit.inward(k), 0.95).filleted(0.04));
    }

    // The broad root reaches its neighbours, which makes the webs.
    let middle = digit.joints[0].lerp(digit.joints[1], 0.45) + digit.inward(0) * 0.04;
    let root = Solid::cone(
        bone,
        digit.joints[0] + digit.inward(0) * 0.04,
        middle,
        [digit.radii[0] * 0.93, digit.radii[0] * 0.96],
    );

    flesh.add(root.flattened(digit.inward(0), 0.90).filleted(0.10));
    // Joints are a little wider than the bones between them; pads sit on the inside.
    for (k, size) in [(1, 0.96), (2, 0.95)] {
        flesh.add(
            Solid::ball(
                bone + k,
                digit.joints[k] - digit.inward(k) * 0.05,
                digit.radii[k] * size,
            )
            .filleted(0.12),
        );
    }

    // Pads between the joints, on the inside of the finger.
    for (k, place, size) in [(0, 0.66, 0.74), (1, 0.52, 0.78)] {
        let center = digit.joints[k].lerp(digit.joints[k + 1], place)
            + digit.inward(k) * digit.radii[k + 1] * 0.26;
        let half = at(
            digit.radii[k + 1] * size,
            digit.joints[k].distance(digit.joints[k + 1]) * 0.34,
            digit.radii[k + 1] * size,
        );
        flesh.add(oriented(bone + k, digit.axes(k), center, half).filleted(0.20));
    }

    add_tip(&mut flesh, digit, bone + 2);
    flesh
}

fn thumb_flesh(digit: &Digit) -> Limb {
    let mut flesh = Limb::new(0.90, 0.28);
    let bone = digit.first_bone;

    // Slightly flattened cones along the bones.
    for k in 0..3 {
        let solid = Solid::cone(
            bone + k,
            digit.joints[k],
            digit.joints[k + 1],
            [digit.radii[k] * 0.97, digit.radii[k + 1] * 0.97],
        );
        flesh.add(solid.flattened(digit.inward(k), 0.92).filleted(0.06));
    }

    // The two joints, a little wider than the bones between them.
    flesh.add(
        Solid::ball(
            bone + 1,
            digit.joints[1] - digit.inward(1) * 0.08,
            digit.radii[1] * 0.92,
        )
        .filleted(0.2),
    );

    flesh.add(
        Solid::ball(
            bone + 2,
            digit.joints[2] - digit.inward(2) * 0.05,
            digit.radii[2] * 0.95,
        )
        .filleted(0.15),
    );

    add_tip(&mut flesh, digit, bone + 2);
    flesh
}

/// The pulp and the nail.
fn add_tip(flesh: &mut Limb, digit: &Digit, bone: usize) {
    let [.., before, tip] = digit.joints;
    let radius = digit.radii[3];
    let (along, inward) = (digit.along(2), digit.inward(2));

    // The pulp, an ellipsoid towards the inside …
    flesh.add(
        oriented(
            bone,
            digit.axes(2),
            before.lerp(tip, 0.72) + inward * radius * 0.30,
            at(0.92, 1.45, 0.85) * radius,
        )
        .filleted(0.20),
    );

    // … and the nail, a thin one on the outside.
    let nail = tip - along * radius * 0.06 - inward * radius * 0.60;
    flesh.add(oriented(bone, digit.axes(2), nail, at(0.76, 1.02, 0.38) * radius).filleted(0.03));
}

/// An ellipsoid with half axes along the columns of `axes`.
fn oriented(bone: usize, axes: DMat3, center: DVec3, half_axes: DVec3) -> Solid {
    Solid::ball(bone, center, 1.0).scaled(axes * DMat3::from_diagonal(half_axes))
}
