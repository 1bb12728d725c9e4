//! The most probable pose for given pins (maximum a posteriori).
//!
//! **Problem.** The bounded solver moves few sliders near the pins; it knows nothing of faces. A
//! [`PosePrior`] does.
//!
//! **Equation.** With the system `B̄ Δ = m` of the pins and the weights `w = w₀ + Δ`
//!
//! ```text
//! min  ½ |B̄Δ − m|² / σ²  +  ½ ΔᵀC⁻¹Δ        l ≤ w ≤ u        σ² = τ² tr(B̄CB̄ᵀ) / rows
//! ```
//!
//! **Departures.** `σ` is relative to how far the pins move in a typical pose, so that units do not
//! matter and changes are homogeneous in the drag until a limit is met. The prior is on the change, so
//! that a drag from a pose keeps what it does not ask to change. A locked slider keeps its
//! weight. All other sliders may move, also those that no pin moves, because they belong to the same
//! expression. With in-betweens, combinations or curves, the problem is linearised again until the
//! weights rest, in steps that lower the objective.

use pliant_linalg::{BoxQuadratic, BoxTerms, BoxWorkspace};
use pliant_mesh::glam::DVec3;

use super::PosePrior;
use crate::RigError;
use crate::pose::{Factored, Outcome, PinSystem, PoseSolver, StepLimit};

/// A pose solver with a prior over poses as its penalty.
#[derive(Debug, Clone, PartialEq)]
pub struct MostProbable {
    prior: PosePrior,
    tolerance: f64,
}

impl MostProbable {
    /// `τ`. *Measured* on poses of the second half of a range of motion, on the ICT head: a third
    /// and three times as much change the error of the weights by under 5 %.
    pub const DEFAULT_TOLERANCE: f64 = 3e-3;

    /// A solver for rigs with the sliders of `prior`.
    #[must_use]
    pub fn new(prior: PosePrior) -> Self {
        Self {
            prior,
            tolerance: Self::DEFAULT_TOLERANCE,
        }
    }

    /// How far a pin may miss its goal, relative to its motion in a typical pose. Default:
    /// [`DEFAULT_TOLERANCE`](Self::DEFAULT_TOLERANCE).
    #[must_use]
    pub fn with_tolerance(self, tolerance: f64) -> Self {
        Self { tolerance, ..self }
    }
}

impl MostProbable {
    /// `√(tr(B̄CB̄ᵀ) / rows)`: the root mean square motion of a coordinate of the pins.
    fn typical_motion(&self, system: &PinSystem) -> f64 {
        let still = vec![DVec3::ZERO; system.pins().len()];
        let projected = system.project(system.weights(), &still);
        let n = projected.slider_count();
        let moments = self.prior.moments();
        let mut trace = 0.0;
        for i in 0..n {
            let column = projected.column(i);
            if column.iter().all(|b| *b == 0.0) {
                continue;
            }
            for j in 0..n {
                trace += moments[i * n + j] * dot(column, projected.column(j));
            }
        }
        (trace.max(0.0) / projected.rows().max(1) as f64).sqrt()
    }
}

impl PoseSolver for MostProbable {
    fn name(&self) -> &'static str {
        "prior"
    }

    fn factor(&self, system: &PinSystem) -> Result<Box<dyn Factored>, RigError> {
        let found = self.prior.slider_count();
        let expected = system.rig().targets().len();
        if found != expected {
            return Err(RigError::SliderCount { found, expected });
        }
        if !(self.tolerance > 0.0 && self.tolerance.is_finite()) {
            return Err(RigError::BadOption {
                what: "the tolerance of pins",
                value: self.tolerance,
                needed: "a number above 0",
            });
        }
        let sliders = system.rig().sliders();
        let free = (0..sliders.len()).filter(|&k| !sliders[k].locked);
        Ok(Box::new(PriorDrag {
            free: free.collect(),
            sigma: self.tolerance * self.typical_motion(system),
            solver: self.clone(),
            workspace: BoxWorkspace::default(),
        }))
    }
}

/// A solver that is prepared for a set of pins.
#[derive(Debug)]
struct PriorDrag {
    solver: MostProbable,
    /// The sliders that are not locked, ascending.
    free: Vec<usize>,
    /// `σ`; zero if no slider moves a pin.
    sigma: f64,
    workspace: BoxWorkspace,
}

/// The box-constrained problem of a linearisation.
struct Linearised {
    quadratic: BoxQuadratic,
    linear: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
}

const MOST_LINEARISATIONS: usize = 30;
/// A change of a weight below this ends the iteration. *Chosen*: weights are shown with three
/// digits.
const STEP_TOLERANCE: f64 = 1e-6;

impl Factored for PriorDrag {
    fn solve(
        &mut self,
        system: &PinSystem,
        displacements: &[DVec3],
        step_limit: Option<StepLimit<'_>>,
        weights: &mut [f64],
    ) -> Outcome {
        weights.copy_from_slice(system.weights());
        let goals = system.residual(weights, displacements);
        let length = norm(&goals);
        if length == 0.0 || self.sigma == 0.0 || self.free.is_empty() {
            return Outcome {
                kkt: Some(0.0),
                ..Outcome::default()
            };
        }
        let sigma = self.sigma;

        let mut iterations = 0;
        let mut objective = self.objective(system, displacements, sigma, weights);
        while iterations < MOST_LINEARISATIONS {
            iterations += 1;
            let problem = self.linearised(system, displacements, sigma, step_limit, weights);
            let mut found: Vec<f64> = self.free.iter().map(|&k| weights[k]).collect();
            problem.quadratic.solve(
                &problem.terms(&vec![0.0; found.len()]),
                &mut found,
                &mut self.workspace,
            );

            // The problem of a linear rig is exact.
            if system.is_constant() {
                self.write(&found, weights);
                break;
            }
            let Some((new, new_objective, step)) =
                self.line_search(system, displacements, sigma, weights, &found, objective)
            else {
                break;
            };
            weights.copy_from_slice(&new);
            objective = new_objective;
            if step < STEP_TOLERANCE {
                break;
            }
        }

        self.certify(
            system,
            displacements,
            sigma,
            step_limit,
            weights,
            iterations,
        )
    }

    fn keeps_limits(&self) -> bool {
        true
    }
}

impl Linearised {
    fn terms<'a>(&'a self, penalties: &'a [f64]) -> BoxTerms<'a> {
        BoxTerms {
            linear: &self.linear,
            penalties,
            lower: &self.lower,
            upper: &self.upper,
        }
    }
}

impl PriorDrag {
    /// The problem in the weights of the free sliders, linearised at `weights`.
    fn linearised(
        &self,
        system: &PinSystem,
        displacements: &[DVec3],
        sigma: f64,
        step_limit: Option<StepLimit<'_>>,
        weights: &[f64],
    ) -> Linearised {
        let projected = system.project(weights, displacements);
        let n = self.free.len();
        let scale = 1.0 / (sigma * sigma);
        let prior = self.solver.prior.precision();
        let sliders = system.rig().sliders();

        let mut hessian = vec![0.0; n * n];
        let mut forces = Vec::with_capacity(n);
        for (row, &i) in self.free.iter().enumerate() {
            let column = projected.column(i);
            forces.push(scale * dot(column, &projected.goals));
            for (other, &j) in self.free[..=row].iter().enumerate() {
                let entry = scale * dot(column, projected.column(j)) + prior[i * sliders.len() + j];
                hessian[row * n + other] = entry;
                hessian[other * n + row] = entry;
            }
        }

        // The unknowns are the weights: H w is added to the force at w.
        let gradient = self.solver.prior.gradient(&changes(system, weights));
        let mut linear = Vec::with_capacity(n);
        for (row, &i) in self.free.iter().enumerate() {
            let own = self.free.iter().zip(&hessian[row * n..][..n]);
            let product: f64 = own.map(|(&j, h)| h * weights[j]).sum();
            linear.push(forces[row] - gradient[i] + product);
        }

        let mut lower = Vec::with_capacity(n);
        let mut upper = Vec::with_capacity(n);
        for &k in &self.free {
            // A slider that starts outside its limits is not pulled back.
            let start = system.weights()[k];
            let mut bounds = [
                sliders[k].limits.min.min(start),
                sliders[k].limits.max.max(start),
            ];
            if let Some(limit) = step_limit {
                let [low, high] = [limit.weights[k] - limit.step, limit.weights[k] + limit.step];
                bounds = bounds.map(|bound| bound.max(low).min(high));
            }
            lower.push(bounds[0]);
            upper.push(bounds[1]);
        }

        Linearised {
            quadratic: BoxQuadratic::trusted(hessian),
            linear,
            lower,
            upper,
        }
    }

    fn write(&self, found: &[f64], weights: &mut [f64]) {
        for (&k, weight) in self.free.iter().zip(found) {
            weights[k] = *weight;
        }
    }

    /// `½ |B̄Δ − m|² / σ² + ½ ΔᵀC⁻¹Δ`.
    fn objective(
        &self,
        system: &PinSystem,
        displacements: &[DVec3],
        sigma: f64,
        weights: &[f64],
    ) -> f64 {
        let residual = norm(&system.residual(weights, displacements)) / sigma;
        0.5 * residual * residual + self.solver.prior.energy(&changes(system, weights))
    }

    /// The first point on the way to `found` that lowers the objective, and the change of the
    /// weights.
    fn line_search(
        &self,
        system: &PinSystem,
        displacements: &[DVec3],
        sigma: f64,
        weights: &[f64],
        found: &[f64],
        objective: f64,
    ) -> Option<(Vec<f64>, f64, f64)> {
        let mut target = weights.to_vec();
        self.write(found, &mut target);
        for halvings in 0..20 {
            let part = 0.5_f64.powi(halvings);
            let mut step = 0.0_f64;
            let mut new = weights.to_vec();
            for (new, to) in new.iter_mut().zip(&target) {
                let change = part * (to - *new);
                step = step.max(change.abs());
                *new = if part == 1.0 { *to } else { *new + change };
            }
            let value = self.objective(system, displacements, sigma, &new);
            if value < objective {
                return Some((new, value, step));
            }
        }
        None
    }

    /// The KKT residual at `weights`, and the sliders that a limit holds.
    fn certify(
        &mut self,
        system: &PinSystem,
        displacements: &[DVec3],
        sigma: f64,
        step_limit: Option<StepLimit<'_>>,
        weights: &[f64],
        iterations: usize,
    ) -> Outcome {
        let problem = self.linearised(system, displacements, sigma, step_limit, weights);
        let at: Vec<f64> = self.free.iter().map(|&k| weights[k]).collect();
        let penalties = vec![0.0; at.len()];
        let terms = problem.terms(&penalties);
        let kkt = problem
            .quadratic
            .certificate(&terms, &at, &mut self.workspace);

        // Forces below this part of the largest are rounding.
        let least = 1e-9 * problem.linear.iter().map(|f| f.abs()).fold(0.0, f64::max);
        let gradient = self.workspace.gradient();
        let mut held = Vec::new();
        for (k, &slider) in self.free.iter().enumerate() {
            let beyond_upper = at[k] >= problem.upper[k] && gradient[k] < -least;
            let beyond_lower = at[k] <= problem.lower[k] && gradient[k] > least;
            if at[k] != 0.0 && (beyond_upper || beyond_lower) {
                held.push(slider);
            }
        }

        Outcome {
            kkt: Some(kkt),
            iterations,
            held,
        }
    }
}

/// `Δ`: the changes of the weights since the pins were grabbed.
fn changes(system: &PinSystem, weights: &[f64]) -> Vec<f64> {
    let pairs = weights.iter().zip(system.weights());
    pairs.map(|(weight, start)| weight - start).collect()
}

fn norm(values: &[f64]) -> f64 {
    dot(values, values).sqrt()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Interpolation, Pin, Poser, Range, Rig, Slider, Target, WeightTrack};
    use pliant_mesh::glam::Vec3;
    use pliant_mesh::shapes::flat_sheet;

    /// Four sliders: two lift the same corner, two lift others.
    fn rig() -> Rig {
        let sheet = flat_sheet(8, 0.0);
        let centers = [DVec3::ZERO, DVec3::ZERO, DVec3::X, DVec3::Y];
        let directions = [Vec3::new(0.0, 0.3, 1.0), Vec3::Z, Vec3::Z, Vec3::Z];
        let mut targets = Vec::new();
        for (k, (center, direction)) in centers.into_iter().zip(directions).enumerate() {
            let height = |p: &DVec3| (1.0 - p.distance(center) / 0.9).max(0.0) as f32;
            let deltas = sheet.positions().iter().map(|p| direction * height(p));
            targets.push(Target::from_dense(
                format!("{k}"),
                deltas.collect::<Vec<_>>(),
            ));
        }
        Rig::new(sheet, targets).unwrap()
    }

    /// The second and the fourth slider move together, the others hardly.
    fn prior() -> PosePrior {
        let keys: Vec<Vec<f64>> = (0..20)
            .map(|t| {
                let weight = f64::from(t % 10) / 10.0;
                vec![0.05 * weight, weight, 0.02, weight]
            })
            .collect();
        let times = (0..keys.len()).map(|t| t as f64).collect();
        let track = WeightTrack::new(times, keys, Interpolation::Linear).unwrap();
        PosePrior::learn(&[&track]).unwrap()
    }

    fn solve(rig: &Rig, lift: f64) -> crate::Pose {
        let poser = Poser::new(rig).unwrap();
        let pin = Pin::new(0, DVec3::Z * lift);
        let solver = MostProbable::new(prior());
        let mut grab = poser.grab(&[], &[pin], &solver, Range::Clip).unwrap();
        grab.solve(&[DVec3::Z * lift])
    }

    #[test]
    fn one_pin_gives_the_pose_that_the_clips_know() {
        let pose = solve(&rig(), 0.5);
        assert!(pose.kkt.unwrap() < 1e-9, "{:?}", pose.kkt);
        assert!(pose.pins[0].error < 0.02, "{:?}", pose.pins);
        let [a, b, c, d] = pose.weights[..] else {
            panic!("four sliders")
        };
        assert!(
            b > 0.35 && (b - d).abs() < 0.15,
            "together: {:?}",
            pose.weights
        );
        assert!(
            a < 0.2 * b && c < 0.1 * b,
            "the others rest: {:?}",
            pose.weights
        );
    }

    #[test]
    fn half_the_drag_gives_half_the_weights_and_no_drag_rest() {
        let rig = rig();
        let whole = solve(&rig, 0.4);
        let half = solve(&rig, 0.2);
        for (w, h) in whole.weights.iter().zip(&half.weights) {
            assert!(
                (w - 2.0 * h).abs() < 1e-9,
                "{:?} {:?}",
                whole.weights,
                half.weights
            );
        }
        assert!(solve(&rig, 0.0).weights.iter().all(|w| *w == 0.0));
    }

    #[test]
    fn no_single_weight_lowers_the_objective() {
        let rig = rig();
        let pose = solve(&rig, 0.7);
        let prior = prior();

        // tr(B̄CB̄ᵀ) from the motion of vertex 0 by each slider.
        let motion = |k: usize| {
            let mut weights = [0.0; 4];
            weights[k] = 1.0;
            rig.evaluate(&weights)[0] - rig.evaluate(&[])[0]
        };
        let mut trace = 0.0;
        for i in 0..4 {
            for j in 0..4 {
                trace += prior.moments()[4 * i + j] * motion(i).dot(motion(j));
            }
        }
        let sigma = MostProbable::DEFAULT_TOLERANCE * (trace / 3.0).sqrt();
        let objective = |weights: &[f64]| {
            let residual = rig.evaluate(weights)[0] - rig.evaluate(&[])[0] - DVec3::Z * 0.7;
            0.5 * residual.length_squared() / (sigma * sigma) + prior.energy(weights)
        };
        let least = objective(&pose.weights);
        for k in 0..4 {
            for step in [-1e-4, 1e-4] {
                let mut moved = pose.weights.clone();
                moved[k] = (moved[k] + step).clamp(0.0, 1.0);
                assert!(
                    objective(&moved) >= least - 1e-9 * least,
                    "slider {k}, {step}"
                );
            }
        }
    }

    #[test]
    fn a_small_drag_from_a_pose_keeps_the_pose() {
        let rig = rig();
        let poser = Poser::new(&rig).unwrap();
        let start = [0.1, 0.2, 0.7, 0.3];
        let pin = Pin::new(0, DVec3::Z * 1e-6);
        let solver = MostProbable::new(prior());
        let mut grab = poser.grab(&start, &[pin], &solver, Range::Clip).unwrap();
        let pose = grab.solve(&[DVec3::Z * 1e-6]);
        for (found, start) in pose.weights.iter().zip(start) {
            assert!((found - start).abs() < 1e-5, "{:?}", pose.weights);
        }
    }

    #[test]
    fn locked_sliders_stay_and_limits_hold() {
        let mut sliders = vec![Slider::default(); 4];
        sliders[1].locked = true;
        let pose = solve(&rig().with_sliders(sliders).unwrap(), 3.0);
        assert_eq!(pose.weights[1], 0.0);
        assert!(pose.weights.iter().all(|w| (0.0..=1.0).contains(w)));
        assert!(!pose.at_limit.is_empty());
    }

    #[test]
    fn a_prior_for_another_rig_is_an_error() {
        let other = Rig::new(flat_sheet(8, 0.0), rig().targets()[..3].to_vec()).unwrap();
        let poser = Poser::new(&other).unwrap();
        let solver = MostProbable::new(prior());
        let grab = poser.grab(&[], &[Pin::new(0, DVec3::Z)], &solver, Range::Clip);
        assert!(matches!(
            grab,
            Err(RigError::SliderCount {
                found: 4,
                expected: 3
            })
        ));
    }
}
