//! Damped least squares until the effectors are where they should be, or as near as they come.

use pliant_linalg::{DenseMatrix, LinalgError, RigidMotion, symmetric_eigen};
use pliant_mesh::glam::DVec3;

use super::kinematics::{Angles, Placed, jacobian};
use super::natural::{Natural, Shown};
use super::skeleton::{IkRoot, IkSkeleton};
use crate::LearnError;

/// `μ` of each stage, and the change of an angle below which it ends. *Ours*: the first finds the
/// natural pose near the goals, the last leaves less than 1e-7 of the reach of miss; those between
/// only hand on.
const STAGES: [(f64, f64); 5] = [
    (1e-2, 1e-3),
    (1e-3, 1e-3),
    (1e-5, 1e-4),
    (1e-7, 1e-5),
    (1e-10, 1e-13),
];
/// Steps in one stage at most; most stages take fewer than ten.
const STEPS: usize = 60;
/// `λ` at the start of a stage, how far it may rise before a pose counts as the best there is, and
/// how it changes.
const FIRST_DAMPING: f64 = 1e-3;
const LEAST_DAMPING: f64 = 1e-14;
const MOST_DAMPING: f64 = 1e8;
const RELAX: f64 = 0.1;
const TIGHTEN: f64 = 4.0;
/// Goals farther from a fixed root than this many times the length of the chain are brought to it.
const BEYOND: f64 = 1.5;
/// A stage also ends where a step lowers the cost by less than this part of it: goals out of reach
/// are approached for ever.
const LEAST_GAIN: f64 = 1e-13;

/// Variances below this part of the greatest are none.
const NOTHING: f64 = 1e-12;

/// A skeleton with its natural angles, ready for many goals.
#[derive(Debug, Clone)]
pub struct IkSolver {
    skeleton: IkSkeleton,
    natural: Natural,
    /// `Σ⁻¹`.
    precision: DenseMatrix<f64>,
}

/// A pose of a skeleton.
#[derive(Debug, Clone, PartialEq)]
pub struct IkPose {
    pub(super) angles: Angles,
    /// Where all joints are, in the skeleton's order.
    pub places: Vec<DVec3>,
    /// The largest distance of an effector from its goal.
    pub miss: f64,
    /// Steps that were taken.
    pub steps: usize,
}

/// Where effectors should be, and which angles are natural there.
struct Wish {
    goals: Vec<DVec3>,
    natural: Vec<DVec3>,
}

/// The system at one pose.
struct Linearized {
    error: Vec<f64>,
    /// `J`, three rows per effector.
    rows: DenseMatrix<f64>,
    /// Eigenvalues and vectors of `J Σ Jᵀ`.
    values: Vec<f64>,
    vectors: DenseMatrix<f64>,
    /// `θ − m`, zero where nothing pulls.
    off: Vec<f64>,
}

impl IkSolver {
    /// Natural is the rest pose.
    ///
    /// # Errors
    /// A decomposition that does not converge.
    pub fn new(skeleton: IkSkeleton) -> Result<Self, LearnError> {
        let natural = Natural::rest(&skeleton);
        Self::of(skeleton, natural)
    }

    /// Natural is what `poses` show: places of the control points that sit at joints.
    ///
    /// # Errors
    /// Poses without a place for every such control point.
    pub fn learned(skeleton: IkSkeleton, poses: &[Vec<DVec3>]) -> Result<Self, LearnError> {
        // All that is known of a pose guides the fit, wherever the whole of it has gone.
        let mut fitted = skeleton.clone();
        fitted.root = IkRoot::Free;
        fitted.effectors = (0..fitted.joints.len())
            .filter(|&k| fitted.joints[k].control.is_some())
            .collect();
        let natural = Natural::rest(&fitted);
        let fitter = Self::of(fitted, natural)?;
        let angles = poses.iter().map(|pose| {
            let control = |&joint: &usize| {
                fitter.skeleton.joints[joint]
                    .control
                    .and_then(|point| pose.get(point).copied())
            };
            let goals: Option<Vec<DVec3>> = fitter.skeleton.effectors.iter().map(control).collect();
            let goals = goals.ok_or(LearnError::ControlCount {
                found: pose.len(),
                expected: fitter.skeleton.effectors.len(),
            })?;
            let IkPose { angles, places, .. } = fitter.solve(&goals, None)?;
            Ok(Shown {
                angles,
                effectors: skeleton
                    .effectors
                    .iter()
                    .map(|&joint| places[joint])
                    .collect(),
            })
        });
        let shown = angles.collect::<Result<Vec<Shown>, LearnError>>()?;
        let natural = Natural::of_poses(&skeleton, shown);
        Self::of(skeleton, natural)
    }

    fn of(skeleton: IkSkeleton, natural: Natural) -> Result<Self, LearnError> {
        let (values, vectors) = symmetric_eigen(natural.covariance.as_ref())?;
        // What never turns has no variance, and is never off.
        let least = NOTHING * values.iter().copied().fold(0.0, f64::max);
        let scaled = DenseMatrix::from_fn(values.len(), values.len(), |row, k| {
            if values[k] > least {
                vectors[(row, k)] / values[k]
            } else {
                0.0
            }
        });
        Ok(Self {
            skeleton,
            natural,
            precision: &scaled * vectors.transpose(),
        })
    }

    /// The skeleton.
    #[must_use]
    pub fn skeleton(&self) -> &IkSkeleton {
        &self.skeleton
    }

    /// The most natural pose with its effectors at `goals`, or as near as they come; the search
    /// begins at `start`, else at what is natural.
    ///
    /// # Errors
    /// Another number of goals than effectors, or one that is not finite.
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
        let near = self.clamped(goals);
        let wish = Wish {
            natural: self.natural.near(&self.skeleton, &near),
            goals: near,
        };
        let mut angles = start.map_or_else(|| self.first_guess(&wish), |pose| pose.angles.clone());
        angles.limit(&self.skeleton);
        let mut steps = 0;
        for (mu, still_rad) in STAGES {
            steps += self.descend(&mut angles, &wish, mu, still_rad)?;
        }
        let places = angles.place(&self.skeleton).places;
        let distances = self
            .skeleton
            .effectors
            .iter()
            .zip(goals)
            .map(|(&joint, goal)| places[joint].distance(*goal));
        Ok(IkPose {
            miss: distances.fold(0.0, f64::max),
            angles,
            places,
            steps,
        })
    }

    /// Poses for goals frame by frame, each begun at the one before.
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

    /// Goals far out of reach, brought along their direction from a fixed root to where steps
    /// towards them do not overshoot: a chain stretches the same way.
    fn clamped(&self, goals: &[DVec3]) -> Vec<DVec3> {
        let skeleton = &self.skeleton;
        let near = |(&effector, goal): (&usize, &DVec3)| {
            let (depth, root) = skeleton.depths[effector];
            let from = skeleton.joints[root].at;
            from + (*goal - from).clamp_length_max(BEYOND * depth)
        };
        match skeleton.root {
            IkRoot::Fixed => skeleton.effectors.iter().zip(goals).map(near).collect(),
            IkRoot::Free => goals.to_vec(),
        }
    }

    /// What is natural, moved as a whole to the goals where the root is free.
    fn first_guess(&self, wish: &Wish) -> Angles {
        let goals = &wish.goals;
        let mut angles = Angles {
            turns: wish.natural.clone(),
            ..Angles::rest(&self.skeleton)
        };
        if self.skeleton.root == IkRoot::Fixed {
            return angles;
        }
        let rest: Vec<DVec3> = self
            .skeleton
            .effectors
            .iter()
            .map(|&joint| self.skeleton.joints[joint].at)
            .collect();
        let roots: Vec<usize> = (0..self.skeleton.joints.len())
            .filter(|&k| self.skeleton.parents[k].is_none())
            .collect();
        let motion = if goals.len() < 3 {
            let shift = goals
                .iter()
                .zip(&rest)
                .map(|(goal, rest)| *goal - *rest)
                .sum::<DVec3>()
                / goals.len() as f64;
            RigidMotion {
                translation: shift,
                ..RigidMotion::IDENTITY
            }
        } else {
            RigidMotion::fit(&rest, goals, None).unwrap_or(RigidMotion::IDENTITY)
        };
        let root_at = self.skeleton.joints[roots[0]].at;
        roots
            .iter()
            .for_each(|&root| angles.turns[root] = motion.rotation.to_scaled_axis());
        angles.shift = (motion.apply(root_at) - root_at) / self.skeleton.reach;
        angles
    }

    /// Steps until nothing moves; how many.
    fn descend(
        &self,
        angles: &mut Angles,
        wish: &Wish,
        mu: f64,
        still_rad: f64,
    ) -> Result<usize, LearnError> {
        let (mut lambda, mut placed) = (FIRST_DAMPING * mu.max(1e-6), angles.place(&self.skeleton));
        let mut cost = self.cost(angles, &placed, wish, mu);
        for step in 0..STEPS {
            let system = self.linearize(angles, &placed, wish)?;
            let moved = loop {
                let mut next = self.stepped(angles, &system, mu, lambda);
                next.limit(&self.skeleton);
                let next_placed = next.place(&self.skeleton);
                let next_cost = self.cost(&next, &next_placed, wish, mu);
                if next_cost < cost {
                    let change = if cost - next_cost < LEAST_GAIN * cost {
                        0.0
                    } else {
                        change(angles, &next)
                    };
                    (*angles, placed, cost) = (next, next_placed, next_cost);
                    lambda = (lambda * RELAX).max(LEAST_DAMPING);
                    break change;
                }
                lambda *= TIGHTEN;
                if lambda > MOST_DAMPING {
                    break 0.0;
                }
            };
            if moved < still_rad {
                return Ok(step + 1);
            }
        }
        Ok(STEPS)
    }

    /// `|e|² + μ |θ − m|²`, lengths in units of the reach.
    fn cost(&self, angles: &Angles, placed: &Placed, wish: &Wish, mu: f64) -> f64 {
        let misses = self
            .skeleton
            .effectors
            .iter()
            .zip(&wish.goals)
            .map(|(&joint, goal)| (*goal - placed.places[joint]).length_squared());
        let off = self.off(angles, wish);
        let pull: f64 = (0..off.len())
            .map(|row| {
                off[row]
                    * (0..off.len())
                        .map(|k| self.precision[(row, k)] * off[k])
                        .sum::<f64>()
            })
            .sum();
        misses.sum::<f64>() / (self.skeleton.reach * self.skeleton.reach) + mu * pull
    }

    fn off(&self, angles: &Angles, wish: &Wish) -> Vec<f64> {
        let turns = angles
            .turns
            .iter()
            .zip(&wish.natural)
            .zip(&self.natural.pulled);
        let off = turns.flat_map(|((turn, mean), &pulled)| {
            if pulled {
                (*turn - *mean).to_array()
            } else {
                [0.0; 3]
            }
        });
        off.chain([0.0; 3]).collect()
    }

    fn linearize(
        &self,
        angles: &Angles,
        placed: &Placed,
        wish: &Wish,
    ) -> Result<Linearized, LinalgError> {
        let skeleton = &self.skeleton;
        let blocks: Vec<_> = skeleton
            .effectors
            .iter()
            .map(|&joint| jacobian(skeleton, angles, placed, joint))
            .collect();
        let size = 3 * (skeleton.joints.len() + 1);
        let rows = DenseMatrix::from_fn(3 * blocks.len(), size, |row, column| {
            blocks[row / 3][column / 3].col(column % 3)[row % 3]
        });
        let reached = &rows * &self.natural.covariance * rows.transpose();
        let (values, vectors) = symmetric_eigen(reached.as_ref())?;
        let misses = skeleton
            .effectors
            .iter()
            .zip(&wish.goals)
            .map(|(&joint, goal)| (*goal - placed.places[joint]) / skeleton.reach);
        let error = misses.flat_map(|miss| miss.to_array()).collect();
        Ok(Linearized {
            error,
            rows,
            values,
            vectors,
            off: self.off(angles, wish),
        })
    }

    /// `θ + Δθ` of the module's equation.
    fn stepped(&self, angles: &Angles, system: &Linearized, mu: f64, lambda: f64) -> Angles {
        let (nu, c) = (mu + lambda, mu / (mu + lambda));
        let Linearized {
            error,
            rows,
            values,
            vectors,
            off,
        } = system;
        let count = error.len();
        let dot = |row: usize| (0..off.len()).map(|k| rows[(row, k)] * off[k]).sum::<f64>();
        let wanted: Vec<f64> = (0..count).map(|row| error[row] + c * dot(row)).collect();
        let modes: Vec<f64> = (0..count)
            .map(|mode| {
                (0..count)
                    .map(|row| vectors[(row, mode)] * wanted[row])
                    .sum::<f64>()
                    / (values[mode].max(0.0) + nu)
            })
            .collect();
        let forces: Vec<f64> = (0..count)
            .map(|row| {
                (0..count)
                    .map(|mode| vectors[(row, mode)] * modes[mode])
                    .sum()
            })
            .collect();
        let torques: Vec<f64> = (0..off.len())
            .map(|k| (0..count).map(|row| rows[(row, k)] * forces[row]).sum())
            .collect();
        let covariance = &self.natural.covariance;
        let step = |k: usize| {
            (0..off.len())
                .map(|j| covariance[(k, j)] * torques[j])
                .sum::<f64>()
                - c * off[k]
        };
        let steps: Vec<DVec3> = (0..off.len() / 3)
            .map(|k| DVec3::new(step(3 * k), step(3 * k + 1), step(3 * k + 2)))
            .collect();
        Angles {
            turns: angles
                .turns
                .iter()
                .zip(&steps)
                .map(|(turn, step)| *turn + *step)
                .collect(),
            shift: angles.shift + steps[angles.turns.len()],
        }
    }
}

fn change(a: &Angles, b: &Angles) -> f64 {
    let turns = a.turns.iter().zip(&b.turns).map(|(a, b)| a.distance(*b));
    turns.fold(a.shift.distance(b.shift), f64::max)
}
