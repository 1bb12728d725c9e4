//! Forward kinematics of a skeleton, and its Jacobian.
//!
//! **Equation.** `R_j = R_parent exp[θ_j]`, `p_j = p_parent + R_parent (r_j − r_parent)` with rest
//! positions `r`; for `k` below `j`
//!
//! ```text
//! ∂p_k / ∂θ_j = −[p_k − p_j]ₓ R_parent(j) A(θ_j),     A(θ) = I + (1 − cos t)/t² [θ]ₓ + (t − sin t)/t³ [θ]ₓ²,   t = |θ|
//! ```

use std::f64::consts::{PI, TAU};

use pliant_linalg::{portable, portable_rotation_from_vector};
use pliant_mesh::glam::{DMat3, DVec3};

use super::skeleton::{IkRoot, IkSkeleton};

/// A pose of a skeleton.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Angles {
    /// The rotation vector of every joint, in the axes of its parent.
    pub(super) rotations: Vec<DVec3>,
    /// The translation of the roots, relative to the skeleton's reach.
    pub(super) translation: DVec3,
}

/// Positions of all joints.
#[derive(Debug, Clone)]
pub(super) struct JointPositions {
    pub(super) positions: Vec<DVec3>,
    /// The rotation of each joint's parent.
    parent_rotations: Vec<DMat3>,
}

impl Angles {
    pub(super) fn rest(skeleton: &IkSkeleton) -> Self {
        Self {
            rotations: vec![DVec3::ZERO; skeleton.joints.len()],
            translation: DVec3::ZERO,
        }
    }

    pub(super) fn forward(&self, skeleton: &IkSkeleton) -> JointPositions {
        let count = skeleton.joints.len();
        let mut positions: Vec<DVec3> = Vec::with_capacity(count);
        let mut parent_rotations = Vec::with_capacity(count);
        let mut rotations: Vec<DMat3> = Vec::with_capacity(count);
        for (k, joint) in skeleton.joints.iter().enumerate() {
            let (above, position) = match skeleton.parents[k] {
                Some(parent) => {
                    // The rest bone, rotated by all joints above it.
                    let bone = joint.at - skeleton.joints[parent].at;
                    let above = rotations[parent];
                    (above, positions[parent] + above * bone)
                }
                None => {
                    let translation = self.translation * skeleton.reach;
                    (DMat3::IDENTITY, joint.at + translation)
                }
            };
            positions.push(position);
            parent_rotations.push(above);
            rotations
                .push(above * DMat3::from_quat(portable_rotation_from_vector(self.rotations[k])));
        }
        JointPositions {
            positions,
            parent_rotations,
        }
    }

    /// Limits joints to their cones, and the rotation of free roots to half a revolution.
    pub(super) fn limit(&mut self, skeleton: &IkSkeleton) {
        for (rotation, parent) in self.rotations.iter_mut().zip(&skeleton.parents) {
            let angle = rotation.length();
            if skeleton.root == IkRoot::Free && parent.is_none() && angle > PI {
                *rotation *= 1.0 - TAU / angle;
            }
        }
        for (rotation, joint) in self.rotations.iter_mut().zip(&skeleton.joints) {
            if let Some(limit) = joint.limit_rad {
                *rotation = rotation.clamp_length_max(limit);
            }
        }
    }
}

/// The Jacobian of one effector, relative to the reach: three columns per joint, then three for the
/// translation.
pub(super) fn jacobian(
    skeleton: &IkSkeleton,
    angles: &Angles,
    joints: &JointPositions,
    effector: usize,
) -> Vec<DMat3> {
    let count = skeleton.joints.len();
    let mut columns = vec![DMat3::ZERO; count + 1];
    let mut joint = skeleton.parents[effector];

    while let Some(k) = joint {
        // From the rotating joint to the effector.
        let arm = (joints.positions[effector] - joints.positions[k]) / skeleton.reach;
        columns[k] = -cross(arm) * joints.parent_rotations[k] * exp_slope(angles.rotations[k]);
        joint = skeleton.parents[k];
    }

    if skeleton.root == IkRoot::Free {
        columns[count] = DMat3::IDENTITY;
    }

    columns
}

/// `A(θ)`: the derivative of the exponential map.
fn exp_slope(v: DVec3) -> DMat3 {
    let t = v.length();
    let (a, b) = if t < 1e-4 {
        (0.5 - t * t / 24.0, 1.0 / 6.0 - t * t / 120.0)
    } else {
        let (sin, cos) = portable::sin_cos(t);
        ((1.0 - cos) / (t * t), (t - sin) / (t * t * t))
    };
    let k = cross(v);
    DMat3::IDENTITY + k * a + k * k * b
}

/// `[v]ₓ`, so that `[v]ₓ w = v × w`.
fn cross(v: DVec3) -> DMat3 {
    DMat3::from_cols(
        DVec3::new(0.0, v.z, -v.y),
        DVec3::new(-v.z, 0.0, v.x),
        DVec3::new(v.y, -v.x, 0.0),
    )
}
