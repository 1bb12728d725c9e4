//! Damped least squares for inverse kinematics (Levenberg–Marquardt with a pose prior).

use pliant_linalg::{DenseMatrix, LinalgError, RigidMotion, symmetric_eigen};
use pliant_mesh::glam::DVec3;

use super::kinematics::{Angles, JointPositions, jacobian};
use super::pose_prior::{PosePrior, PriorExample};
use super::skeleton::{IkRoot, IkSkeleton};
use crate::LearnError;

/// `μ` of each stage, and the change of an angle below which it ends. *Chosen*: the first stage
/// finds the pose near the prior, the last leaves an error below 1e-7 of the reach, and those
/// between make the transition.
const STAGES: [(f64, f64); 5] = [
    (1e-2, 1e-3),
    (1e-3, 1e-3),
    (1e-5, 1e-4),
    (1e-7, 1e-5),
    (1e-10, 1e-13),
];
/// The most steps in one stage; most stages need fewer than ten.
const STEPS: usize = 60;
/// `λ` at the start of a stage, its bounds, and its changes after a good and a bad step.
const FIRST_DAMPING: f64 = 1e-3;
const LEAST_DAMPING: f64 = 1e-14;
const MOST_DAMPING: f64 = 1e8;
const RELAX: f64 = 0.1;
const TIGHTEN: f64 = 4.0;
/// The largest distance of a goal from a fixed root, relative to the length of the chain.
const MOST_DISTANCE: f64 = 1.5;
/// A stage also ends when a step lowers the objective by less than this part of it: goals out of
/// reach are approached without end.
const LEAST_GAIN: f64 = 1e-13;
/// Variances below this part of the greatest are zero.
const NEGLIGIBLE: f64 = 1e-12;

/// A skeleton with a pose prior, ready for many goals.
#[derive(Debug, Clone)]
pub struct IkSolver {
    skeleton: IkSkeleton,
    prior: PosePrior,
    /// `Σ⁻¹`.
    precision: DenseMatrix<f64>,
}

/// A pose of a skeleton.
#[derive(Debug, Clone, PartialEq)]
pub struct IkPose {
    pub(super) angles: Angles,
    /// Positions of all joints, in the skeleton's order.
    pub positions: Vec<DVec3>,
    /// The largest distance of an effector from its goal.
    pub residual: f64,
    /// Number of steps.
    pub steps: usize,
}

/// Goals of the effectors, and the mean of the prior near them.
struct IkTarget {
    goals: Vec<DVec3>,
    mean: Vec<DVec3>,
}

/// A pose during the iteration.
struct Iterate {
    angles: Angles,
    joints: JointPositions,
    /// `|e|² + μ |θ − m|²`.
    objective: f64,
}

/// The system at one pose.
struct Linearized {
    /// `e`.
    error: Vec<f64>,
    /// `J`, three rows per effector.
    rows: DenseMatrix<f64>,
    /// Eigenvalues and eigenvectors of `J Σ Jᵀ`.
    values: Vec<f64>,
    vectors: DenseMatrix<f64>,
    /// `θ − m`, zero without a mean.
    deviation: Vec<f64>,
}

impl IkSolver {
    /// A solver whose prior is the rest pose.
    ///
    /// # Errors
    /// A decomposition that does not converge.
    pub fn new(skeleton: IkSkeleton) -> Result<Self, LearnError> {
        let prior = PosePrior::rest(&skeleton);
        Self::of(skeleton, prior)
    }

    /// A solver whose prior is learned from `poses`: positions of the control points that belong to
    /// joints.
    ///
    /// # Errors
    /// Poses without a position for every such control point.
    pub fn learned(skeleton: IkSkeleton, poses: &[Vec<DVec3>]) -> Result<Self, LearnError> {
        // All known joints are effectors, and the root is free: the fit ignores root motion.
        let mut fitted = skeleton.clone();
        fitted.root = IkRoot::Free;
        fitted.effectors = (0..fitted.joints.len())
            .filter(|&k| fitted.joints[k].control.is_some())
            .collect();
        let prior = PosePrior::rest(&fitted);
        let fitter = Self::of(fitted, prior)?;

        let mut examples = Vec::with_capacity(poses.len());
        for pose in poses {
            let fit = fitter.solve(&fitter.effector_positions(pose)?, None)?;
            let effectors = skeleton.effectors.iter();
            examples.push(PriorExample {
                angles: fit.angles,
                effectors: effectors.map(|&joint| fit.positions[joint]).collect(),
            });
        }
        let prior = PosePrior::of_examples(&skeleton, examples);
        Self::of(skeleton, prior)
    }

    /// The positions of the effectors in a pose of the control points.
    fn effector_positions(&self, control: &[DVec3]) -> Result<Vec<DVec3>, LearnError> {
        let effectors = &self.skeleton.effectors;
        let positions: Option<Vec<DVec3>> = effectors
            .iter()
            .map(|&joint| {
                let point = self.skeleton.joints[joint].control?;
                control.get(point).copied()
            })
            .collect();
        positions.ok_or(LearnError::ControlCount {
            found: control.len(),
            expected: effectors.len(),
        })
    }

    fn of(skeleton: IkSkeleton, prior: PosePrior) -> Result<Self, LearnError> {
        // A locked joint has no variance; its deviation is always zero.
        let (values, vectors) = symmetric_eigen(prior.covariance.as_ref())?;
        let least = NEGLIGIBLE * values.iter().copied().fold(0.0, f64::max);
        let scaled = DenseMatrix::from_fn(values.len(), values.len(), |row, k| {
            if values[k] > least {
                vectors[(row, k)] / values[k]
            } else {
                0.0
            }
        });

        Ok(Self {
            skeleton,
            prior,
            precision: &scaled * vectors.transpose(),
        })
    }

    /// The skeleton.
    #[must_use]
    pub fn skeleton(&self) -> &IkSkeleton {
        &self.skeleton
    }

    /// The pose nearest to the prior with its effectors at `goals`, or as near as possible. The
    /// iteration starts from `start`, or from the mean of the prior.
    ///
    /// # Errors
    /// A number of goals that is not the number of effectors, or a goal that is not finite.
    pub fn solve(&self, goals: &[DVec3], start: Option<&IkPose>) -> Result<IkPose, LearnError> {
        let expected = self.skeleton.effectors.len();
        if goals.len() != expected {
            return Err(LearnError::EffectorCount {
                found: goals.len(),
                expected,
            });
        }
        if let Some(point) = goals.iter().position(|goal| !goal.is_finite()) {
            return Err(LearnError::ControlNotFinite { point });
        }

        // Goals out of reach are clamped for the iteration; the residual refers to the given goals.
        let clamped = self.clamped(goals);
        let target = IkTarget {
            mean: self.prior.mean_near(&self.skeleton, &clamped),
            goals: clamped,
        };
        let mut angles = match start {
            Some(pose) => pose.angles.clone(),
            None => self.first_guess(&target),
        };
        angles.limit(&self.skeleton);

        let mut steps = 0;
        // From the prior to the goals.
        for (mu, tolerance_rad) in STAGES {
            steps += self.descend(&mut angles, &target, mu, tolerance_rad)?;
        }
        let positions = angles.forward(&self.skeleton).positions;
        let mut residual: f64 = 0.0;
        for (&joint, goal) in self.skeleton.effectors.iter().zip(goals) {
            residual = residual.max(positions[joint].distance(*goal));
        }
        Ok(IkPose {
            angles,
            positions,
            residual,
            steps,
        })
    }

    /// Poses for goals frame by frame; each starts from the one before.
    ///
    /// # Errors
    /// As [`solve`](Self::solve).
    pub fn solve_all(&self, frames: &[Vec<DVec3>]) -> Result<Vec<IkPose>, LearnError> {
        let mut poses: Vec<IkPose> = Vec::with_capacity(frames.len());
        for goals in frames {
            poses.push(self.solve(goals, poses.last())?);
        }
        Ok(poses)
    }

    /// Goals with their distance from a fixed root limited, so that steps towards them do not
    /// overshoot. The direction in which the chain stretches stays the same.
    fn clamped(&self, goals: &[DVec3]) -> Vec<DVec3> {
        let skeleton = &self.skeleton;
        let mut clamped = goals.to_vec();
        if skeleton.root == IkRoot::Free {
            return clamped;
        }
        for (&effector, goal) in skeleton.effectors.iter().zip(&mut clamped) {
            let (depth, root) = skeleton.depths[effector];
            let from = skeleton.joints[root].at;
            *goal = from + (*goal - from).clamp_length_max(MOST_DISTANCE * depth);
        }
        clamped
    }

    /// The mean of the prior; with a free root, moved rigidly to the goals.
    fn first_guess(&self, target: &IkTarget) -> Angles {
        let skeleton = &self.skeleton;
        let mut angles = Angles {
            rotations: target.mean.clone(),
            ..Angles::rest(skeleton)
        };
        if skeleton.root == IkRoot::Fixed {
            return angles;
        }

        let effectors = skeleton.effectors.iter();
        let rest: Vec<DVec3> = effectors.map(|&joint| skeleton.joints[joint].at).collect();
        // The rigid motion of the effectors moves all roots.
        let motion = rigid_motion(&rest, &target.goals);
        let roots: Vec<usize> = (0..skeleton.joints.len())
            .filter(|&k| skeleton.parents[k].is_none())
            .collect();
        for &root in &roots {
            angles.rotations[root] = motion.rotation.to_scaled_axis();
        }
        let root_at = skeleton.joints[roots[0]].at;
        angles.translation = (motion.apply(root_at) - root_at) / skeleton.reach;
        angles
    }

    /// Levenberg–Marquardt steps until no angle changes by more than the tolerance. Returns the
    /// number of steps.
    fn descend(
        &self,
        angles: &mut Angles,
        target: &IkTarget,
        mu: f64,
        tolerance_rad: f64,
    ) -> Result<usize, LearnError> {
        let mut lambda = FIRST_DAMPING * mu.max(1e-6);
        let mut current = self.evaluate(angles.clone(), target, mu);
        for step in 0..STEPS {
            let system = self.linearize(&current, target)?;
            let mut change_rad = 0.0;
            // The damping grows until a step lowers the objective.
            while lambda <= MOST_DAMPING {
                let mut angles = self.stepped(&current.angles, &system, mu, lambda);
                angles.limit(&self.skeleton);
                let next = self.evaluate(angles, target, mu);
                if next.objective < current.objective {
                    if current.objective - next.objective >= LEAST_GAIN * current.objective {
                        change_rad = largest_change(&current.angles, &next.angles);
                    }
                    current = next;
                    lambda = (lambda * RELAX).max(LEAST_DAMPING);
                    break;
                }
                lambda *= TIGHTEN;
            }

            if change_rad < tolerance_rad {
                *angles = current.angles;
                return Ok(step + 1);
            }
        }

        *angles = current.angles;
        Ok(STEPS)
    }

    fn evaluate(&self, angles: Angles, target: &IkTarget, mu: f64) -> Iterate {
        let joints = angles.forward(&self.skeleton);
        let objective = self.objective(&angles, &joints, target, mu);
        Iterate {
            angles,
            joints,
            objective,
        }
    }

    /// `|e|² + μ |θ − m|²`, lengths relative to the reach.
    fn objective(
        &self,
        angles: &Angles,
        joints: &JointPositions,
        target: &IkTarget,
        mu: f64,
    ) -> f64 {
        let pairs = self.skeleton.effectors.iter().zip(&target.goals);
        let squares: f64 = pairs
            .map(|(&joint, goal)| (*goal - joints.positions[joint]).length_squared())
            .sum();

        let deviation = self.deviation(angles, target);
        let size = deviation.len();
        // (θ − m)ᵀ Σ⁻¹ (θ − m).
        let row_product = |row: usize| {
            (0..size)
                .map(|k| self.precision[(row, k)] * deviation[k])
                .sum::<f64>()
        };
        let penalty: f64 = (0..size).map(|row| deviation[row] * row_product(row)).sum();
        squares / (self.skeleton.reach * self.skeleton.reach) + mu * penalty
    }

    /// `θ − m`, zero without a mean.
    fn deviation(&self, angles: &Angles, target: &IkTarget) -> Vec<f64> {
        let mut deviation = Vec::with_capacity(3 * (angles.rotations.len() + 1));
        for (k, rotation) in angles.rotations.iter().enumerate() {
            deviation.extend(if self.prior.has_mean[k] {
                (*rotation - target.mean[k]).to_array()
            } else {
                [0.0; 3]
            });
        }
        deviation.extend([0.0; 3]);
        deviation
    }

    fn linearize(&self, current: &Iterate, target: &IkTarget) -> Result<Linearized, LinalgError> {
        let skeleton = &self.skeleton;
        let mut blocks = Vec::with_capacity(skeleton.effectors.len());
        let mut error = Vec::with_capacity(3 * skeleton.effectors.len());
        for (&joint, goal) in skeleton.effectors.iter().zip(&target.goals) {
            blocks.push(jacobian(skeleton, &current.angles, &current.joints, joint));
            let distance = (*goal - current.joints.positions[joint]) / skeleton.reach;
            error.extend(distance.to_array());
        }

        let size = 3 * (skeleton.joints.len() + 1);
        let rows = DenseMatrix::from_fn(3 * blocks.len(), size, |row, column| {
            blocks[row / 3][column / 3].col(column % 3)[row % 3]
        });
        // J Σ Jᵀ is small: three rows per effector.
        let reached = &rows * &self.prior.covariance * rows.transpose();
        let (values, vectors) = symmetric_eigen(reached.as_ref())?;
        Ok(Linearized {
            error,
            rows,
            values,
            vectors,
            deviation: self.deviation(&current.angles, target),
        })
    }

    /// `θ + Δθ` of the module's equation.
    fn stepped(&self, angles: &Angles, system: &Linearized, mu: f64, lambda: f64) -> Angles {
        let c = mu / (mu + lambda);
        let torques = system.torques(c, mu + lambda);
        let covariance = &self.prior.covariance;
        let size = system.deviation.len();
        // Δθ = Σ Jᵀ(…) − c (θ − m).
        let step = |k: usize| {
            (0..size)
                .map(|j| covariance[(k, j)] * torques[j])
                .sum::<f64>()
                - c * system.deviation[k]
        };

        let mut next = angles.clone();
        for (k, rotation) in next.rotations.iter_mut().enumerate() {
            *rotation += DVec3::new(step(3 * k), step(3 * k + 1), step(3 * k + 2));
        }
        let last = 3 * angles.rotations.len();
        next.translation += DVec3::new(step(last), step(last + 1), step(last + 2));
        next
    }
}

impl Linearized {
    /// `Jᵀ (J Σ Jᵀ + ν I)⁻¹ (e + c J (θ − m))`, by the eigenvectors of `J Σ Jᵀ`.
    fn torques(&self, c: f64, nu: f64) -> Vec<f64> {
        let count = self.error.len();
        let size = self.deviation.len();
        let row_product = |row: usize| {
            (0..size)
                .map(|k| self.rows[(row, k)] * self.deviation[k])
                .sum::<f64>()
        };
        let right: Vec<f64> = (0..count)
            .map(|row| self.error[row] + c * row_product(row))
            .collect();

        // Right side in the basis of the eigenvectors, divided by the damped eigenvalues.
        let mut modes = Vec::with_capacity(count);
        for mode in 0..count {
            let rows = 0..count;
            let sum: f64 = rows.map(|row| self.vectors[(row, mode)] * right[row]).sum();
            modes.push(sum / (self.values[mode].max(0.0) + nu));
        }
        let mut forces: Vec<f64> = Vec::with_capacity(count);
        for row in 0..count {
            let terms = (0..count).map(|mode| self.vectors[(row, mode)] * modes[mode]);
            forces.push(terms.sum());
        }
        let mut torques = Vec::with_capacity(size);
        for k in 0..size {
            let terms = (0..count).map(|row| self.rows[(row, k)] * forces[row]);
            torques.push(terms.sum());
        }
        torques
    }
}

/// The rigid motion from `rest` to `goals`; a translation for fewer than three points.
fn rigid_motion(rest: &[DVec3], goals: &[DVec3]) -> RigidMotion {
    if goals.len() >= 3 {
        return RigidMotion::fit(rest, goals, None).unwrap_or(RigidMotion::IDENTITY);
    }
    let steps = goals.iter().zip(rest).map(|(goal, rest)| *goal - *rest);
    RigidMotion {
        translation: steps.sum::<DVec3>() / goals.len() as f64,
        ..RigidMotion::IDENTITY
    }
}

/// The largest change of a rotation vector, or of the translation.
fn largest_change(a: &Angles, b: &Angles) -> f64 {
    let mut change = a.translation.distance(b.translation);
    for (a, b) in a.rotations.iter().zip(&b.rotations) {
        change = change.max(a.distance(*b));
    }
    change
}
