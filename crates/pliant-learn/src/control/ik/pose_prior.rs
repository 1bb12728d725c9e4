//! Pose prior: mean and covariance of joint angles, from the rest pose or from examples.
//!
//! **Equation.** With the distances `dᵢ` of the goals from the effectors of example `i`, whose
//! angles are `θᵢ`, the mean near the goals is
//!
//! ```text
//! m = Σ wᵢ θᵢ / Σ wᵢ        wᵢ = 1 / (dᵢ² + ε²)²
//! ```
//!
//! **Departures.** The mean is local: a spread hand is far from the mean of fists but near a hand
//! that is almost spread. A limb is a chain without branches. Angles of one limb are correlated as
//! in the examples; angles of different limbs are independent, because a few poses do not show how
//! two fingers are related.

use pliant_linalg::{DenseMatrix, RigidMotion};
use pliant_mesh::glam::DVec3;

use super::kinematics::Angles;
use super::skeleton::{IkRoot, IkSkeleton};

/// The variance of a joint with stiffness 1 without examples: one radian squared.
const FREE: f64 = 1.0;
/// The variance of a joint in addition to that of the examples, relative to [`FREE`]. *Chosen*:
/// about 13 degrees, so that goals between and beyond the examples are reached by small deviations.
const LOOSE: f64 = 0.05;
/// The variance of a free root, whose mean has no influence.
const ROOT: f64 = 100.0;

/// `ε`, relative to the reach.
const AT_EXAMPLE: f64 = 1e-2;

/// The angles of an example, and the positions of its effectors.
#[derive(Debug, Clone)]
pub(super) struct PriorExample {
    pub(super) angles: Angles,
    pub(super) effectors: Vec<DVec3>,
}

/// Mean and covariance of all angles; the translation of the root is last.
#[derive(Debug, Clone)]
pub(super) struct PosePrior {
    mean: Vec<DVec3>,
    examples: Vec<PriorExample>,
    pub(super) covariance: DenseMatrix<f64>,
    /// Whether the mean of a joint has an influence: not for a free root.
    pub(super) has_mean: Vec<bool>,
}

impl PosePrior {
    /// The rest pose, with the stiffness of the joints.
    pub(super) fn rest(skeleton: &IkSkeleton) -> Self {
        Self::of(skeleton, &[], FREE)
    }

    /// The prior of some examples and the rest pose.
    pub(super) fn of_examples(skeleton: &IkSkeleton, mut examples: Vec<PriorExample>) -> Self {
        let angles: Vec<&Angles> = examples.iter().map(|example| &example.angles).collect();
        let prior = Self::of(skeleton, &angles, LOOSE);

        let effectors = skeleton.effectors.iter();
        examples.push(PriorExample {
            angles: Angles::rest(skeleton),
            effectors: effectors.map(|&joint| skeleton.joints[joint].at).collect(),
        });
        Self { examples, ..prior }
    }

    /// `m` for effectors at `goals`.
    pub(super) fn mean_near(&self, skeleton: &IkSkeleton, goals: &[DVec3]) -> Vec<DVec3> {
        if self.examples.is_empty() {
            return self.mean.clone();
        }

        let least = (AT_EXAMPLE * skeleton.reach).powi(2);
        // Examples near the goals dominate.
        let mut weights = Vec::with_capacity(self.examples.len());
        for example in &self.examples {
            let aligned = aligned_goals(skeleton, &example.effectors, goals);
            let pairs = example.effectors.iter().zip(aligned);
            let square: f64 = pairs.map(|(a, b)| a.distance_squared(b)).sum();
            weights.push((square / goals.len() as f64 + least).powi(-2));
        }
        let total: f64 = weights.iter().sum();

        let mean = |k: usize| {
            let examples = self.examples.iter().zip(&weights);
            examples
                .map(|(example, weight)| example.angles.rotations[k] * (weight / total))
                .sum::<DVec3>()
        };
        (0..self.mean.len())
            .map(|k| {
                if self.has_mean[k] {
                    mean(k)
                } else {
                    DVec3::ZERO
                }
            })
            .collect()
    }

    fn of(skeleton: &IkSkeleton, poses: &[&Angles], variance: f64) -> Self {
        // The rest pose, with all angles zero, is one of the poses.
        let count = skeleton.joints.len();
        let part = 1.0 / (poses.len() + 1) as f64;
        let mut mean = vec![DVec3::ZERO; count];
        for k in (0..count).filter(|&k| !is_locked(skeleton, k)) {
            mean[k] = poses.iter().map(|pose| pose.rotations[k]).sum::<DVec3>() * part;
        }

        // Deviations of the same limb are correlated.
        let limbs = limbs(skeleton);
        let statistics = Statistics {
            skeleton,
            poses,
            mean: &mean,
            limbs: &limbs,
            part,
            variance,
        };
        let size = 3 * (count + 1);
        let covariance =
            DenseMatrix::from_fn(size, size, |row, column| statistics.covariance(row, column));
        let has_mean = (0..=count)
            .map(|k| k < count && !is_free(skeleton, k) && !is_locked(skeleton, k))
            .collect();
        Self {
            mean,
            examples: Vec::new(),
            covariance,
            has_mean,
        }
    }
}

/// Whether index `k`, a joint or the translation, belongs to a free root.
fn is_free(skeleton: &IkSkeleton, k: usize) -> bool {
    skeleton.root == IkRoot::Free && (k == skeleton.joints.len() || skeleton.parents[k].is_none())
}

/// Whether a joint cannot rotate.
fn is_locked(skeleton: &IkSkeleton, k: usize) -> bool {
    k < skeleton.joints.len() && skeleton.joints[k].limit_rad == Some(0.0)
}

/// The input of the covariance.
struct Statistics<'a> {
    skeleton: &'a IkSkeleton,
    poses: &'a [&'a Angles],
    mean: &'a [DVec3],
    limbs: &'a [usize],
    /// One over the number of poses.
    part: f64,
    /// The variance in addition to that of the poses.
    variance: f64,
}

impl Statistics<'_> {
    fn covariance(&self, row: usize, column: usize) -> f64 {
        let a = row / 3;
        let b = column / 3;
        let count = self.skeleton.joints.len();
        if is_locked(self.skeleton, a) || is_locked(self.skeleton, b) {
            return 0.0; // No step may depend on a locked joint.
        }
        // The translation of a fixed root has no influence, whatever its variance.
        let is_root = |k: usize| k == count || is_free(self.skeleton, k);
        if is_root(a) || is_root(b) {
            return if row == column { ROOT } else { 0.0 };
        }

        let joints = &self.skeleton.joints;
        let stiffness = (joints[a].stiffness * joints[b].stiffness).sqrt();
        let own = if row == column { self.variance } else { 0.0 };
        let shown = if self.limbs[a] == self.limbs[b] {
            self.sum_of_products(row, column) * self.part
        } else {
            0.0
        };
        (own + shown) / stiffness
    }

    /// The sum over all poses, with the rest pose last, of products of deviations.
    fn sum_of_products(&self, row: usize, column: usize) -> f64 {
        let a = row / 3;
        let b = column / 3;
        let product = |x: DVec3, y: DVec3| {
            (x[row % 3] - self.mean[a][row % 3]) * (y[column % 3] - self.mean[b][column % 3])
        };
        let poses = self.poses.iter();
        poses
            .map(|pose| product(pose.rotations[a], pose.rotations[b]))
            .sum::<f64>()
            + product(DVec3::ZERO, DVec3::ZERO)
    }
}

/// The goals relative to an example: unchanged for a fixed root, otherwise aligned with its
/// effectors.
fn aligned_goals(skeleton: &IkSkeleton, example: &[DVec3], goals: &[DVec3]) -> Vec<DVec3> {
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
    let mut children = vec![0; skeleton.joints.len()];
    for &parent in skeleton.parents.iter().flatten() {
        children[parent] += 1;
    }

    let mut limbs: Vec<usize> = Vec::with_capacity(skeleton.joints.len());
    for (k, parent) in skeleton.parents.iter().enumerate() {
        limbs.push(match parent {
            Some(parent) if children[*parent] == 1 => limbs[*parent],
            _ => k,
        });
    }
    limbs
}
