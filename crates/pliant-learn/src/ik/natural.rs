//! Which angles are natural: what the examples do near the goals, and how angles vary, limb by
//! limb.
//!
//! **Equation.** With the distances `dᵢ` of the goals from the effectors of example `i`, whose
//! angles are `θᵢ`, natural is
//!
//! ```text
//! m = Σ wᵢ θᵢ / Σ wᵢ        wᵢ = 1 / (dᵢ² + ε²)²
//! ```
//!
//! **Ours.** A spread hand is not natural about the mean of fists, but it is near a hand that is
//! nearly spread. A limb is a chain without branches. Angles of one limb vary together in the
//! examples, those of different limbs independently: a handful of poses tells too little of what
//! two fingers have to do with each other.

use pliant_linalg::{DenseMatrix, RigidMotion};
use pliant_mesh::glam::DVec3;

use super::kinematics::Angles;
use super::skeleton::{IkRoot, IkSkeleton};

/// The variance of a joint with stiffness 1 of which nothing is known: a radian squared.
const FREE: f64 = 1.0;
/// The variance that a joint keeps beyond what examples show, relative to [`FREE`]. *Ours*: about
/// 13 degrees, so that goals between and beyond the examples are met by small departures from them.
const LOOSE: f64 = 0.05;
/// The variance of a free root; its mean counts nothing.
const ROOT: f64 = 100.0;

/// `ε`, as a part of the reach.
const AT_EXAMPLE: f64 = 1e-2;

/// The angles of a pose, and where its effectors are.
#[derive(Debug, Clone)]
pub(super) struct Shown {
    pub(super) angles: Angles,
    pub(super) effectors: Vec<DVec3>,
}

/// Mean and covariance of all angles; the shift of the root comes last.
#[derive(Debug, Clone)]
pub(super) struct Natural {
    mean: Vec<DVec3>,
    shown: Vec<Shown>,
    pub(super) covariance: DenseMatrix<f64>,
    /// Whether a joint is pulled to its mean: not a free root.
    pub(super) pulled: Vec<bool>,
}

impl Natural {
    /// The rest pose, with stiffness.
    pub(super) fn rest(skeleton: &IkSkeleton) -> Self {
        Self::of(skeleton, &[], FREE)
    }

    /// What poses of the skeleton show, the rest pose among them.
    pub(super) fn of_poses(skeleton: &IkSkeleton, poses: Vec<Shown>) -> Self {
        let angles: Vec<&Angles> = poses.iter().map(|pose| &pose.angles).collect();
        let rest = Angles::rest(skeleton);
        let at_rest = skeleton
            .effectors
            .iter()
            .map(|&joint| skeleton.joints[joint].at)
            .collect();
        let natural = Self::of(skeleton, &angles, LOOSE);
        Self {
            shown: poses
                .into_iter()
                .chain([Shown {
                    angles: rest,
                    effectors: at_rest,
                }])
                .collect(),
            ..natural
        }
    }

    /// `m` for effectors at `goals`.
    pub(super) fn near(&self, skeleton: &IkSkeleton, goals: &[DVec3]) -> Vec<DVec3> {
        if self.shown.is_empty() {
            return self.mean.clone();
        }
        let least = (AT_EXAMPLE * skeleton.reach).powi(2);
        let square = |shown: &Shown| {
            shown
                .effectors
                .iter()
                .zip(place(skeleton, &shown.effectors, goals))
                .map(|(a, b)| a.distance_squared(b))
                .sum::<f64>()
        };
        let weights: Vec<f64> = self
            .shown
            .iter()
            .map(|shown| (square(shown) / goals.len() as f64 + least).powi(-2))
            .collect();
        let total: f64 = weights.iter().sum();
        let mean = |k: usize| {
            self.shown
                .iter()
                .zip(&weights)
                .map(|(shown, weight)| shown.angles.turns[k] * (weight / total))
                .sum::<DVec3>()
        };
        (0..self.mean.len())
            .map(|k| if self.pulled[k] { mean(k) } else { DVec3::ZERO })
            .collect()
    }

    fn of(skeleton: &IkSkeleton, poses: &[&Angles], spread: f64) -> Self {
        let count = skeleton.joints.len();
        let free = |k: usize| {
            skeleton.root == IkRoot::Free && (k == count || skeleton.parents[k].is_none())
        };
        let locked = |k: usize| k < count && skeleton.joints[k].limit_rad == Some(0.0);
        let share = 1.0 / (poses.len() + 1) as f64;
        let mean_turn = |k: usize| {
            if locked(k) {
                DVec3::ZERO
            } else {
                poses.iter().map(|pose| pose.turns[k]).sum::<DVec3>() * share
            }
        };
        let mean: Vec<DVec3> = (0..count).map(mean_turn).collect();
        let limbs = limbs(skeleton);
        let size = 3 * (count + 1);
        let covariance = DenseMatrix::from_fn(size, size, |row, column| {
            let (a, b) = (row / 3, column / 3);
            if locked(a) || locked(b) {
                return 0.0; // It never turns, so no step may count on it.
            }
            // A shift that nothing moves counts nothing, whatever stands here.
            if a == count || b == count || free(a) || free(b) {
                return if row == column { ROOT } else { 0.0 };
            }
            let stiff = (skeleton.joints[a].stiffness * skeleton.joints[b].stiffness).sqrt();
            let own = if row == column { spread } else { 0.0 };
            let off = |turn: DVec3, joint: usize, axis: usize| turn[axis] - mean[joint][axis];
            let shown = |turns: &dyn Fn(usize) -> DVec3| {
                off(turns(a), a, row % 3) * off(turns(b), b, column % 3)
            };
            let together = limbs[a] == limbs[b];
            let seen: f64 = poses
                .iter()
                .map(|pose| shown(&|k| pose.turns[k]))
                .sum::<f64>()
                + shown(&|_| DVec3::ZERO);
            (own + if together { seen * share } else { 0.0 }) / stiff
        });
        Self {
            mean,
            shown: Vec::new(),
            covariance,
            pulled: (0..=count)
                .map(|k| k < count && !free(k) && !locked(k))
                .collect(),
        }
    }
}

/// The goals as seen from an example: as they are where the root is fixed, else moved onto it as a
/// whole.
fn place(skeleton: &IkSkeleton, example: &[DVec3], goals: &[DVec3]) -> Vec<DVec3> {
    match skeleton.root {
        IkRoot::Free if goals.len() >= 3 => {
            let motion = RigidMotion::fit(goals, example, None).unwrap_or(RigidMotion::IDENTITY);
            goals.iter().map(|goal| motion.apply(*goal)).collect()
        }
        _ => goals.to_vec(),
    }
}

/// The limb of each joint: a new one begins at a root and below every joint with several children.
fn limbs(skeleton: &IkSkeleton) -> Vec<usize> {
    let children = |joint: usize| {
        skeleton
            .parents
            .iter()
            .filter(|parent| **parent == Some(joint))
            .count()
    };
    let mut limbs: Vec<usize> = Vec::with_capacity(skeleton.joints.len());
    for (k, parent) in skeleton.parents.iter().enumerate() {
        let limb = parent
            .filter(|&parent| children(parent) == 1)
            .map_or(k, |parent| limbs[parent]);
        limbs.push(limb);
    }
    limbs
}
