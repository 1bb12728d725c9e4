//! State of an equilibrium solve, and its backtracking line search.
//!
//! **Problem.** Every solver proposes directions. None may take a step that raises the energy, or
//! it may converge to a maximum.
//!
//! **Equation.** A step `t` along `δ` is taken when `E(x + t δ) ≤ E(x) − c t f·δ`, `t = 1` first
//! and then the minimum of the parabola through the known values. The residual is the largest
//! remaining force, `max |P fᵢ|`, in units of `k = 1/r̄`: a sum of strains, so it has no unit.
//!
//! **Source.** Nocedal and Wright, "Numerical Optimization", 2006, sections 3.1 and 3.5.
//!
//! **Departures.** Close to the equilibrium the decrease is below the rounding of the energy; there
//! a step is taken when the energy stays within that rounding.

use pliant_mesh::glam::DVec3;

use crate::blend::energy::Support;
use crate::blend::energy::{Node, SpringEnergy};

/// How a solve ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BlendReport {
    /// Steps taken.
    pub iterations: usize,
    /// The largest force on an unknown vertex, in units of `k = 1/r̄`.
    pub residual: f64,
    /// Whether the residual is within the tolerance of the solver.
    pub converged: bool,
}

/// The required share of the decrease that the slope predicts: the usual constant (Nocedal and
/// Wright, section 3.1).
const DECREASE: f64 = 1e-4;
/// Rounding of the energy relative to itself: thousands of springs, each to 2⁻⁵².
const ENERGY_ROUNDING: f64 = 1e-13;
/// Trials along one direction; the last step is a millionth.
const TRIALS: usize = 16;

/// Positions of a solve, with the forces there.
pub(crate) struct Equilibrium<'a> {
    pub(crate) energy: &'a SpringEnergy,
    pub(crate) support: &'a Support,
    pub(crate) positions: Vec<DVec3>,
    /// On the unknowns, in the allowed directions.
    pub(crate) forces: Vec<DVec3>,
    pub(crate) iterations: usize,
    value: f64,
    nodes: Vec<Node>,
    trial: Vec<DVec3>,
}

impl<'a> Equilibrium<'a> {
    pub(crate) fn start(
        energy: &'a SpringEnergy,
        support: &'a Support,
        mut positions: Vec<DVec3>,
    ) -> Self {
        support.place(&mut positions);
        let mut nodes = vec![Node::default(); energy.points()];
        let value = energy.evaluate(&positions, &mut nodes);
        let mut forces = vec![DVec3::ZERO; support.unknown_vertices().len()];

        support.gather_forces(&nodes, &mut forces);
        Self {
            energy,
            support,
            trial: positions.clone(),
            positions,
            forces,
            iterations: 0,
            value,
            nodes,
        }
    }

    /// Whether a vertex is in contact.
    pub(crate) fn is_in_contact(&self) -> bool {
        !self.support.is_unconstrained() || self.energy.has_unilateral()
    }

    /// The largest remaining force.
    pub(crate) fn residual(&self) -> f64 {
        self.forces
            .iter()
            .map(|f| f.length_squared())
            .fold(0.0, f64::max)
            .sqrt()
    }

    pub(crate) fn report(&self, tolerance: f64) -> BlendReport {
        let residual = self.residual();
        BlendReport {
            iterations: self.iterations,
            residual,
            converged: residual <= tolerance,
        }
    }

    /// Line search along `direction`; the step length, or `None` where no step lowers the energy.
    pub(crate) fn step(&mut self, direction: &[DVec3]) -> Option<f64> {
        let support = self.support;
        self.step_along(direction, |from, share, to| {
            support.advance(from, share, direction, to)
        })
    }

    /// As [`step`](Self::step) on a path that starts along `direction`: `path(from, t, to)`.
    pub(crate) fn step_along(
        &mut self,
        direction: &[DVec3],
        mut path: impl FnMut(&[DVec3], f64, &mut [DVec3]),
    ) -> Option<f64> {
        // Written so that NaN is no descent direction.
        let slope = dot(&self.forces, direction);
        if slope.is_nan() || slope <= 0.0 {
            return None;
        }

        let rounding = ENERGY_ROUNDING * self.value;
        let mut step = 1.0;
        for _ in 0..TRIALS {
            // Armijo's condition, up to rounding.
            path(&self.positions, step, &mut self.trial);
            let value = self.energy.evaluate(&self.trial, &mut self.nodes);
            if value <= self.value - DECREASE * step * slope + rounding {
                self.accept(value);
                return Some(step);
            }

            // The minimum of the parabola through the energy, its slope and the trial.
            let parabola = 0.5 * slope * step * step / (value - self.value + slope * step);
            step = if parabola.is_finite() {
                parabola.clamp(0.1 * step, 0.5 * step)
            } else {
                0.1 * step
            };
        }

        None
    }

    /// The displacement of the unknowns in the last step.
    pub(crate) fn last_move(&self) -> Vec<DVec3> {
        self.support
            .unknown_vertices()
            .iter()
            .map(|&v| self.positions[v as usize] - self.trial[v as usize])
            .collect()
    }

    /// Moves some vertices to positions of lower energy.
    pub(crate) fn place(&mut self, vertices: &[u32], places: &[DVec3]) {
        self.trial.copy_from_slice(&self.positions);
        for (&vertex, place) in vertices.iter().zip(places) {
            self.trial[vertex as usize] = *place;
        }
        let value = self.energy.evaluate(&self.trial, &mut self.nodes);
        self.accept(value);
    }

    fn accept(&mut self, value: f64) {
        std::mem::swap(&mut self.positions, &mut self.trial);
        self.value = value;
        self.iterations += 1;
        self.support.gather_forces(&self.nodes, &mut self.forces);
    }
}

/// The inner product of two fields of vectors, summed in order.
pub(crate) fn dot(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blend::energy::Spring;

    #[test]
    fn a_step_lowers_the_energy_and_an_ascent_direction_is_refused() {
        let energy = SpringEnergy::new(
            2,
            &[[0, 1]],
            &[Spring {
                rest: 1.0,
                stiffness: 1.0,
            }],
        );

        let support = Support::holding(&[true, false]);
        let mut state = Equilibrium::start(&energy, &support, vec![DVec3::ZERO, DVec3::X * 3.0]);
        assert_eq!(state.residual(), 2.0);
        assert!(
            state.step(&[DVec3::X]).is_none(),
            "away from the rest length"
        );

        let before = state.value;
        let share = state
            .step(&[DVec3::X * -100.0])
            .expect("a shorter step helps");

        assert!(share < 1.0 && state.value < before);
        assert!(state.residual() < 2.0 && state.iterations == 1);
    }
}
