//! Places of joints from their turns, and how the places move with them.
//!
//! **Equation.** `R_j = R_parent exp[θ_j]`, `p_j = p_parent + R_parent (r_j − r_parent)` with rest
//! places `r`; for `k` below `j`
//!
//! ```text
//! ∂p_k / ∂θ_j = −[p_k − p_j]ₓ R_parent(j) A(θ_j),     A(θ) = I + (1 − cos t)/t² [θ]ₓ + (t − sin t)/t³ [θ]ₓ²,   t = |θ|
//! ```

use std::f64::consts::{PI, TAU};

use pliant_linalg::portable;
use pliant_mesh::glam::{DMat3, DQuat, DVec3};

use super::skeleton::{IkRoot, IkSkeleton};

/// A pose: the turn of every joint as a rotation vector in its parent's axes, and the shift of the
/// roots.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Angles {
    pub(super) turns: Vec<DVec3>,
    /// In units of the skeleton's reach.
    pub(super) shift: DVec3,
}

/// Where joints are and how they are turned.
#[derive(Debug, Clone)]
pub(super) struct Placed {
    pub(super) places: Vec<DVec3>,
    /// The turn of each joint's parent.
    above: Vec<DMat3>,
}

impl Angles {
    pub(super) fn rest(skeleton: &IkSkeleton) -> Self {
        Self {
            turns: vec![DVec3::ZERO; skeleton.joints.len()],
            shift: DVec3::ZERO,
        }
    }

    pub(super) fn place(&self, skeleton: &IkSkeleton) -> Placed {
        let count = skeleton.joints.len();
        let mut placed = Placed {
            places: Vec::with_capacity(count),
            above: Vec::with_capacity(count),
        };
        let mut turned: Vec<DMat3> = Vec::with_capacity(count);
        for (k, joint) in skeleton.joints.iter().enumerate() {
            let (above, place) = match skeleton.parents[k] {
                Some(parent) => (
                    turned[parent],
                    placed.places[parent]
                        + turned[parent] * (joint.at - skeleton.joints[parent].at),
                ),
                None => (DMat3::IDENTITY, joint.at + self.shift * skeleton.reach),
            };
            placed.places.push(place);
            placed.above.push(above);
            turned.push(above * DMat3::from_quat(exp(self.turns[k])));
        }
        placed
    }

    /// Brings joints back into their cones, and free roots to the shorter way round.
    pub(super) fn limit(&mut self, skeleton: &IkSkeleton) {
        for (turn, _) in self
            .turns
            .iter_mut()
            .zip(&skeleton.parents)
            .filter(|(_, parent)| skeleton.root == IkRoot::Free && parent.is_none())
        {
            let angle = turn.length();
            if angle > PI {
                *turn *= 1.0 - TAU / angle;
            }
        }
        for (turn, joint) in self.turns.iter_mut().zip(&skeleton.joints) {
            if let Some(limit) = joint.limit_rad {
                *turn = turn.clamp_length_max(limit);
            }
        }
    }
}

/// How one effector moves with each joint: three columns per joint, then three for the shift, in
/// units of the reach.
pub(super) fn jacobian(
    skeleton: &IkSkeleton,
    angles: &Angles,
    placed: &Placed,
    effector: usize,
) -> Vec<DMat3> {
    let count = skeleton.joints.len();
    let mut columns = vec![DMat3::ZERO; count + 1];
    let mut joint = skeleton.parents[effector];
    while let Some(k) = joint {
        let arm = (placed.places[effector] - placed.places[k]) / skeleton.reach;
        columns[k] = -cross(arm) * placed.above[k] * exp_slope(angles.turns[k]);
        joint = skeleton.parents[k];
    }
    if skeleton.root == IkRoot::Free {
        columns[count] = DMat3::IDENTITY;
    }
    columns
}

/// The rotation by `|v|` about `v`, with the same bits on any machine.
fn exp(v: DVec3) -> DQuat {
    let angle = v.length();
    if angle < 1e-9 {
        return DQuat::from_xyzw(0.5 * v.x, 0.5 * v.y, 0.5 * v.z, 1.0).normalize();
    }
    let (sin, cos) = portable::sin_cos(0.5 * angle);
    let axis = v * (sin / angle);
    DQuat::from_xyzw(axis.x, axis.y, axis.z, cos)
}

/// `A(θ)`: how the world sees a rotation vector change.
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
