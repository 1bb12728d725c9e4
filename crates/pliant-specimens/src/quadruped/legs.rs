//! Inverse kinematics of legs with given footholds.
//!
//! **Problem.** The body moves freely; the feet must stand where the gait puts them.
//!
//! **Equation.** The paw's place and the rotation of the bone above it give the ankle `c`. With the
//! root joint `a`, the two bone lengths `l₁`, `l₂` and `d = |c − a|`, the middle joint lies at `x =
//! (l₁² − l₂² + d²) / 2d` along `c − a` and `√(l₁² − x²)` aside, towards the side on which it bends
//! at rest. A bone rotates by the shortest arc.

use pliant_mesh::glam::{DQuat, DVec3};

use crate::math;
use crate::skeleton::{Motion, Skeleton};

/// The legs in the order of their steps in a walk.
pub(super) const LEGS: [&str; 4] = ["hind_left", "fore_left", "hind_right", "fore_right"];

/// The motion of one foot, relative to rest. Angles rotate about `x`: positive swings
/// hanging bones backwards and tips bones that point forwards down.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Step {
    /// Shift of the knuckle, where the paw begins.
    pub(super) shift: DVec3,
    /// Rotation of the paw.
    pub(super) paw_rad: f64,
    /// Rotation of the bone above the paw.
    pub(super) shank_rad: f64,
    /// Rotation of the shoulder blade against the chest; unused in hind legs.
    pub(super) blade_rad: f64,
}

/// Rotations of the spine, head, ears and tail, and the motion of the feet.
#[derive(Debug, Clone)]
pub(super) struct Posture {
    /// The rotation of each bone against its parent; those of legs are ignored.
    pub(super) rotations: Vec<DQuat>,
    /// Shift of the pelvis.
    pub(super) shift: DVec3,
    /// One for each of [`LEGS`].
    pub(super) steps: [Step; 4],
}

impl Posture {
    /// Standing at rest.
    pub(super) fn rest(skeleton: &Skeleton) -> Self {
        Self {
            rotations: skeleton.rest(),
            shift: DVec3::ZERO,
            steps: [Step::default(); 4],
        }
    }

    /// Rotates the bone called `name` by pitch (about `x`), yaw (about `y`) and roll (about `z`).
    pub(super) fn bend(&mut self, skeleton: &Skeleton, name: &str, [pitch, yaw, roll]: [f64; 3]) {
        let rotation = math::rotation_about(DVec3::Y, yaw)
            * math::rotation_about(DVec3::X, pitch)
            * math::rotation_about(DVec3::Z, roll);
        let own = &mut self.rotations[skeleton.find(name)];
        *own = rotation * *own;
    }

    /// The motion of every bone, with the feet where the steps put them.
    pub(super) fn motions(&self, skeleton: &Skeleton) -> Vec<Motion> {
        let mut rotations = self.rotations.clone();
        for (leg, step) in LEGS.iter().zip(&self.steps) {
            // Legs are children of the spine only, so its motions do not depend on the legs.
            let motions = skeleton.motions(&rotations, self.shift);
            let first = skeleton.find(&format!("{leg}_1"));
            let world = leg_turns(skeleton, first, leg.starts_with("fore"), &motions, step);

            let mut above = skeleton.bones[first]
                .parent
                .map_or(DQuat::IDENTITY, |parent| motions[parent].rotation);

            // Rotations in the world become rotations against the parent.
            for (k, rotation) in world.into_iter().enumerate() {
                rotations[first + k] = above.conjugate() * rotation;
                above = rotation;
            }
        }

        skeleton.motions(&rotations, self.shift)
    }
}

/// The rotations in the world of the bones of one leg, from the top to the paw.
fn leg_turns(
    skeleton: &Skeleton,
    first: usize,
    has_blade: bool,
    motions: &[Motion],
    step: &Step,
) -> Vec<DQuat> {
    let bones = &skeleton.bones;
    let parent = motions[bones[first].parent.expect("legs hang on the spine")];
    let mut rotations = Vec::with_capacity(5);

    // Fore legs have a shoulder blade above the two bones that are solved for.
    let (upper, root) = if has_blade {
        let blade = parent.rotation * math::rotation_about(DVec3::X, step.blade_rad);
        rotations.push(blade);
        (
            first + 1,
            parent.apply(bones[first].head) + blade * (bones[first].tail - bones[first].head),
        )
    } else {
        (first, parent.apply(bones[first].head))
    };

    // The foot and the bone above it give the ankle, which the two upper bones must reach.
    let shank = math::rotation_about(DVec3::X, step.shank_rad);
    let ankle = bones[upper + 3].head + step.shift
        - shank * (bones[upper + 2].tail - bones[upper + 2].head);
    let rest = [bones[upper].head, bones[upper].tail, bones[upper + 1].tail];

    // The side to which a leg bends rotates with its span, so that no reach can flip the joint.
    let carried =
        DQuat::from_rotation_arc((rest[2] - rest[0]).normalize(), (ankle - root).normalize());
    let bent_to = carried * aside(rest[1] - rest[0], rest[2] - rest[0]);
    let middle = middle_joint(
        root,
        ankle,
        rest[0].distance(rest[1]),
        rest[1].distance(rest[2]),
        bent_to,
    );

    rotations.push(DQuat::from_rotation_arc(
        (rest[1] - rest[0]).normalize(),
        (middle - root).normalize(),
    ));

    rotations.push(DQuat::from_rotation_arc(
        (rest[2] - rest[1]).normalize(),
        (ankle - middle).normalize(),
    ));
    rotations.push(shank);
    rotations.push(math::rotation_about(DVec3::X, step.paw_rad));

    rotations
}

/// The part of `vector` perpendicular to `axis`.
fn aside(vector: DVec3, axis: DVec3) -> DVec3 {
    vector - axis * (vector.dot(axis) / axis.length_squared())
}

/// The joint between two bones of the given lengths that span from `root` to `end`, bent towards
/// `bent_to`. A span that is too long leaves the leg straight.
fn middle_joint(root: DVec3, end: DVec3, upper: f64, lower: f64, bent_to: DVec3) -> DVec3 {
    let span = end - root;
    let distance = span.length().min(upper + lower);
    let along = (upper * upper - lower * lower + distance * distance) / (2.0 * distance);
    let off = (upper * upper - along * along).max(0.0).sqrt();
    root + span.normalize() * along + aside(bent_to, span).normalize() * off
}
