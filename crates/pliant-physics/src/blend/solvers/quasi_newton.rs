//! Limited-memory quasi-Newton method (L-BFGS) with a preconditioner.
//!
//! **Problem.** A factored matrix that only resembles the Hessian gives good directions but
//! converges slowly; the last steps reveal the true curvature and compensate for it.
//!
//! **Equation.** With the last steps `sₖ` and changes of force `yₖ = f(xₖ) − f(xₖ₊₁)`, and `M⁻¹` in
//! place of the usual multiple of the identity, the two-loop recursion gives `δ = B f`, where `B yₖ
//! = sₖ` for the newest pair.
//!
//! **Source.** Nocedal and Wright 2006, algorithm 7.4; Liu, Bouaziz and Kavan, "Quasi-Newton
//! methods for real-time simulation of hyperelastic materials", 2017, section 4 (the factor inside
//! the recursion).

use std::collections::VecDeque;

use pliant_mesh::glam::DVec3;

use crate::blend::solvers::equilibrium::{Equilibrium, dot};

/// An approximation of the inverse Hessian.
pub(crate) trait Preconditioner {
    /// Replaces forces on the unknowns by displacements.
    fn apply(&mut self, vectors: &mut [DVec3]);

    /// Called before every step but the first few: a chance to solve for a few vertices separately.
    fn prepare(&mut self, _state: &mut Equilibrium<'_>, _tolerance: f64) {}

    /// Takes a step that starts along `direction`; returns the displacement, or `None` where no
    /// step lowers the energy.
    fn advance(
        &mut self,
        state: &mut Equilibrium<'_>,
        mut direction: Vec<DVec3>,
    ) -> Option<Vec<DVec3>> {
        let share = state.step(&direction)?;
        for d in &mut direction {
            *d *= share;
        }
        Some(direction)
    }
}

/// Pairs kept. Measured: more than eight hardly reduce the number of steps, and each step costs
/// more.
const MEMORY: usize = 8;
/// The residual has to halve within so many steps, or the solve counts as stalled. Chosen.
const PATIENCE: usize = 60;

/// Steps after which a few large forces are a local problem and not a transient. Chosen.
const EVEN_AFTER: usize = 3;
/// Longest pause of `prepare` after it did not halve the residual. Measured on a crumpled cow,
/// where local solves are most of the work and frames take a fifth less.
const MOST_PAUSE: usize = 7;

struct Pair {
    step: Vec<DVec3>,
    change: Vec<DVec3>,
    /// `step · change`, positive.
    curvature: f64,
}

/// Steps until the residual is at most `tolerance`, at most `limit` of them; stops early where it
/// stalls.
pub(crate) fn relax(
    state: &mut Equilibrium<'_>,
    preconditioner: &mut impl Preconditioner,
    tolerance: f64,
    limit: usize,
) {
    let mut memory: VecDeque<Pair> = VecDeque::new();
    let mut best = (state.residual(), 0);
    let mut even_from = EVEN_AFTER;
    let mut pause = 0;

    for count in 0..limit {
        // Local solves pause for longer and longer while they do not help.
        if count >= even_from && state.residual() > tolerance {
            let before = state.residual();
            preconditioner.prepare(state, tolerance);
            pause = if state.residual() < 0.5 * before {
                0
            } else {
                (2 * pause + 1).min(MOST_PAUSE)
            };
            even_from = count + 1 + pause;
        }

        let residual = state.residual();
        if residual <= tolerance || count > best.1 + PATIENCE {
            return;
        }

        if residual < 0.5 * best.0 {
            best = (residual, count);
        }

        // Where no step lowers the energy, the memory may be to blame: restart without it.
        let direction = direction(state, preconditioner, &memory);
        let before = state.forces.clone();
        let step = match preconditioner.advance(state, direction) {
            Some(step) => step,
            None if memory.is_empty() => return,
            None => {
                memory.clear();
                continue;
            }
        };

        // Only pairs of positive curvature keep the approximation definite.
        let mut change = before;
        for (old, new) in change.iter_mut().zip(&state.forces) {
            *old -= *new;
        }
        let curvature = dot(&step, &change);
        if curvature > f64::EPSILON * dot(&change, &change).sqrt() * dot(&step, &step).sqrt() {
            if memory.len() == MEMORY {
                memory.pop_front();
            }
            memory.push_back(Pair {
                step,
                change,
                curvature,
            });
        }
    }
}

/// The two-loop recursion (Nocedal and Wright, algorithm 7.4).
fn direction(
    state: &Equilibrium<'_>,
    preconditioner: &mut impl Preconditioner,
    memory: &VecDeque<Pair>,
) -> Vec<DVec3> {
    let mut vector = state.forces.clone();
    let mut shares = Vec::with_capacity(memory.len());
    for pair in memory.iter().rev() {
        let share = dot(&pair.step, &vector) / pair.curvature;
        add(&mut vector, -share, &pair.change);
        shares.push(share);
    }

    // The preconditioner is the initial inverse Hessian of the recursion, within the constraints.
    preconditioner.apply(&mut vector);
    state.support.project(&mut vector);
    for (pair, share) in memory.iter().zip(shares.iter().rev()) {
        let correction = share - dot(&pair.change, &vector) / pair.curvature;
        add(&mut vector, correction, &pair.step);
    }

    vector
}

fn add(vector: &mut [DVec3], factor: f64, other: &[DVec3]) {
    for (v, o) in vector.iter_mut().zip(other) {
        *v += *o * factor;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blend::energy::Spring;
    use crate::blend::energy::SpringEnergy;
    use crate::blend::energy::Support;

    struct Share(f64);

    impl Preconditioner for Share {
        fn apply(&mut self, vectors: &mut [DVec3]) {
            for v in vectors.iter_mut() {
                *v *= self.0;
            }
        }
    }

    #[test]
    fn a_chain_converges_with_a_bad_preconditioner_but_not_without_memory() {
        let links = 12;
        let ends: Vec<[u32; 2]> = (0..links).map(|i| [i, i + 1]).collect();
        let springs = vec![
            Spring {
                rest: 0.5,
                stiffness: 2.0
            };
            links as usize
        ];

        let energy = SpringEnergy::new(links as usize + 1, &ends, &springs);
        let support = Support::holding(
            &(0..=links)
                .map(|v| v == 0 || v == links)
                .collect::<Vec<_>>(),
        );

        let start: Vec<DVec3> = (0..=links)
            .map(|v| DVec3::new(f64::from(v), f64::from(v * (links - v)) * 0.02, 0.0))
            .collect();
        let mut state = Equilibrium::start(&energy, &support, start.clone());

        relax(&mut state, &mut Share(0.2), 1e-9, 100);
        assert!(state.residual() <= 1e-9, "{}", state.residual());
        assert!(
            state
                .positions
                .iter()
                .enumerate()
                .all(|(v, p)| p.distance(DVec3::X * v as f64) < 1e-8),
            "uniformly stretched"
        );

        // As many steps of the preconditioner alone do not converge.
        let mut plain = Equilibrium::start(&energy, &support, start);
        for _ in 0..state.iterations {
            let direction: Vec<DVec3> = plain.forces.iter().map(|f| *f * 0.2).collect();
            plain.step(&direction);
        }

        assert!(plain.residual() > 1e-4);
    }
}
