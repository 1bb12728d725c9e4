//! A drag of pins whose prices and limits are known: one quadratic problem, or several through
//! in-betweens.

use pliant_linalg::{BoxQuadratic, BoxWorkspace};
use pliant_mesh::glam::DVec3;

use super::Bounded;
use super::clashes::Clash;
use crate::box_terms::Terms;
use crate::pose::prices::Prices;
use crate::pose::system::{Measured, PinSystem};
use crate::pose::{BoxProblem, Factored, Near, Outcome};

/// All that does not change while pins are dragged.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) candidates: Vec<usize>,
    /// Lower and upper weights of the candidates.
    pub(super) bounds: Vec<[f64; 2]>,
    /// Their ranges, the unit of steps.
    pub(super) ranges: Vec<f64>,
    pub(super) sparsity: f64,
    pub(super) refund: bool,
    pub(super) prices: Prices,
    /// The quadratic, where it does not change with the weights.
    pub(super) hessian: Option<BoxQuadratic>,
    pub(super) resting: Measured,
    /// The last solution, in units of moved surface.
    pub(super) x: Vec<f64>,
    pub(super) workspace: BoxWorkspace,
    /// The buffer of a quadratic that changes with the weights.
    pub(super) spare: Vec<f64>,
}

impl Factored for Prepared {
    fn solve(
        &mut self,
        system: &PinSystem<'_>,
        displacements: &[DVec3],
        near: Option<Near<'_>>,
        weights: &mut [f64],
    ) -> Outcome {
        weights.copy_from_slice(system.weights());
        if self.candidates.is_empty() {
            return Outcome {
                kkt: Some(0.0),
                iterations: 0,
                held: Vec::new(),
            };
        }
        let mut outcome = self.solve_within(system, displacements, near, weights);
        let bounds = self.bounds.clone();
        while let Some(clash) = self.clashing_pair(system, weights) {
            outcome = match clash {
                Clash::Exclusive(pair) => self.decide(pair, system, displacements, near, weights),
                Clash::Opposites(pair) => self.part(pair, system, displacements, near, weights),
            };
        }
        self.bounds = bounds;
        outcome
    }

    fn keeps_limits(&self) -> bool {
        true
    }

    fn reset(&mut self) {
        self.x.fill(0.0);
    }
}

impl Prepared {
    /// Ways below this part of the rig's size are rounding.
    const REST: f64 = 1e-13;

    /// With `x = g Δ` undone, so that unknowns are changes of weights.
    pub(super) fn problem(&self, system: &PinSystem<'_>, displacements: &[DVec3]) -> BoxProblem {
        let measured = system.measure(system.weights(), displacements);
        let window = self.window(system, None, None);
        let terms = self.terms(
            &measured.columns,
            &measured.wanted,
            norm(&measured.wanted),
            window,
        );
        let (n, g) = (self.candidates.len(), &self.prices.extents);
        let hessian = self.prices.hessian(&measured, &self.candidates, Vec::new());
        let scaled = |values: &[f64]| -> Vec<f64> {
            values.iter().zip(g).map(|(value, g)| value * g).collect()
        };
        let limits = |side: usize| {
            self.candidates
                .iter()
                .zip(&self.bounds)
                .map(|(&k, bounds)| bounds[side] - system.weights()[k])
                .collect()
        };
        BoxProblem {
            sliders: self.candidates.clone(),
            hessian: hessian
                .iter()
                .enumerate()
                .map(|(k, h)| h * g[k / n] * g[k % n])
                .collect(),
            linear: scaled(&terms.linear),
            prices: scaled(&terms.prices),
            lower: limits(0),
            upper: limits(1),
        }
    }

    /// The pose for the goals, and what its prices cost given back.
    pub(super) fn solve_within(
        &mut self,
        system: &PinSystem<'_>,
        displacements: &[DVec3],
        near: Option<Near<'_>>,
        weights: &mut [f64],
    ) -> Outcome {
        let length = norm(&system.missing(system.weights(), displacements));
        if length <= Self::REST * system.poser().size() {
            self.x.fill(0.0);
            return Outcome {
                kkt: Some(0.0),
                ..Outcome::default()
            };
        }
        let first = self.solve_goals(system, displacements, length, near, weights);
        let Some(raised) = self.raised_goals(system, displacements, length, weights) else {
            return first;
        };
        let (before, short) = (self.x.clone(), weights.to_vec());
        let second = self.solve_goals(system, &raised, length, near, weights);
        let share = share_up_to_goal(system, displacements, &short, weights);
        if share < 1.0 {
            self.x
                .iter_mut()
                .zip(&before)
                .for_each(|(x, before)| *x = before + share * (*x - before));
            self.write(system, weights);
        }
        Outcome {
            kkt: first.kkt.zip(second.kkt).map(|(a, b)| a.max(b)),
            iterations: first.iterations + second.iterations,
            ..second
        }
    }

    /// Displacements farther by what pins at `weights` miss of them; nothing where that is nothing,
    /// or too much.
    fn raised_goals(
        &self,
        system: &PinSystem<'_>,
        displacements: &[DVec3],
        length: f64,
        weights: &[f64],
    ) -> Option<Vec<DVec3>> {
        let missed = norm(&system.missing(weights, displacements));
        if !self.refund || missed == 0.0 || missed >= Bounded::REFUND[1] * length {
            return None;
        }
        let [whole, none] = Bounded::REFUND;
        let t = ((missed / length - whole) / (none - whole)).max(0.0);
        let share = 1.0 - t * t * (3.0 - 2.0 * t);
        let places = system.places_at(weights);
        let raised = system
            .pins()
            .iter()
            .zip(system.places())
            .zip(displacements)
            .zip(&places)
            .map(|(((pin, start), way), place)| {
                let (across, goal) = pin.aim.measure(*place, *start + *way);
                *way + across * (goal - *place) * share
            });
        Some(raised.collect())
    }

    fn solve_goals(
        &mut self,
        system: &PinSystem<'_>,
        displacements: &[DVec3],
        length: f64,
        near: Option<Near<'_>>,
        weights: &mut [f64],
    ) -> Outcome {
        if self.hessian.is_some() {
            self.solve_once(system, displacements, length, near, weights)
        } else {
            self.solve_again_and_again(system, displacements, length, near, weights)
        }
    }

    fn solve_once(
        &mut self,
        system: &PinSystem<'_>,
        displacements: &[DVec3],
        length: f64,
        near: Option<Near<'_>>,
        weights: &mut [f64],
    ) -> Outcome {
        let wanted = system.wanted(displacements);
        let terms = self.terms(
            &self.resting.columns,
            &wanted,
            length,
            self.window(system, near, None),
        );
        let quadratic = self
            .hessian
            .as_ref()
            .expect("a constant system has its quadratic");
        let report = quadratic.solve(&terms.borrow(), &mut self.x, &mut self.workspace);
        self.write(system, weights);
        let held = self.held(system, &terms);
        Outcome {
            kkt: Some(report.kkt),
            iterations: report.iterations,
            held,
        }
    }

    /// Lower and upper changes in weight: limits, and around weights that must not be left by more
    /// than a step.
    fn window(
        &self,
        system: &PinSystem<'_>,
        near: Option<Near<'_>>,
        trust: Option<(&[f64], f64)>,
    ) -> Vec<[f64; 2]> {
        let bounds = self.candidates.iter().zip(&self.bounds).enumerate().map(
            |(place, (&slider, &[min, max]))| {
                let start = system.weights()[slider];
                let mut window = [min - start, max - start];
                let centres = near.map(|near| (near.weights[slider] - start, near.step));
                let trusted = trust.map(|(x, radius)| {
                    (
                        x[place] / self.prices.extents[place],
                        radius * self.ranges[place],
                    )
                });
                for (centre, step) in centres.into_iter().chain(trusted) {
                    // Where the two do not meet, what is nearest: a step towards the limits.
                    window = window.map(|bound| bound.max(centre - step).min(centre + step));
                }
                window
            },
        );
        bounds.collect()
    }

    fn terms(&self, columns: &[f64], wanted: &[f64], length: f64, window: Vec<[f64; 2]>) -> Terms {
        let rows = wanted.len();
        let (extents, gain) = (&self.prices.extents, self.prices.gain);
        let along = |place: usize, slider: usize| {
            let column = &columns[slider * rows..][..rows];
            column.iter().zip(wanted).map(|(b, m)| b * m).sum::<f64>()
                / (extents[place] * gain * gain)
        };
        Terms {
            linear: self
                .candidates
                .iter()
                .enumerate()
                .map(|(place, &slider)| along(place, slider))
                .collect(),
            prices: self
                .prices
                .efficiencies
                .iter()
                .map(|e| self.sparsity * length / (gain * e))
                .collect(),
            lower: window.iter().zip(extents).map(|(w, g)| w[0] * g).collect(),
            upper: window.iter().zip(extents).map(|(w, g)| w[1] * g).collect(),
        }
    }

    /// The weights of `x`, exactly at a limit where `x` is.
    fn write(&self, system: &PinSystem<'_>, weights: &mut [f64]) {
        for (place, &slider) in self.candidates.iter().enumerate() {
            let ([min, max], start, x) =
                (self.bounds[place], system.weights()[slider], self.x[place]);
            let [lower, upper] =
                [min, max].map(|limit| (limit - start) * self.prices.extents[place]);
            weights[slider] = match x {
                x if x >= upper => max,
                x if x <= lower => min,
                x => start + x / self.prices.extents[place],
            };
        }
    }

    /// Sliders at a limit of theirs that would go on if it were not there.
    fn held(&self, system: &PinSystem<'_>, terms: &Terms) -> Vec<usize> {
        let gradient = self.workspace.gradient();
        // Forces below this part of the largest are rounding.
        let least = 1e-12 * terms.linear.iter().map(|f| f.abs()).fold(0.0, f64::max);
        let held = self
            .candidates
            .iter()
            .enumerate()
            .filter(|&(place, &slider)| {
                let (limits, start) = (
                    system.rig().sliders()[slider].limits,
                    system.weights()[slider],
                );
                let (x, g, price) = (self.x[place], gradient[place], terms.prices[place]);
                let at = |limit: f64| x == (limit - start) * self.prices.extents[place];
                let beyond_upper = -(g + if x >= 0.0 { price } else { -price });
                let beyond_lower = g + if x > 0.0 { price } else { -price };
                (at(limits.max) && beyond_upper > least) || (at(limits.min) && beyond_lower > least)
            });
        held.map(|(_, &slider)| slider).collect()
    }

    /// Gauss–Newton: the problem at the pose so far, solved, until the pose stays.
    fn solve_again_and_again(
        &mut self,
        system: &PinSystem<'_>,
        displacements: &[DVec3],
        length: f64,
        near: Option<Near<'_>>,
        weights: &mut [f64],
    ) -> Outcome {
        let mut trust = 1.0;
        self.x.fill(0.0);
        if let Some(near) = near {
            for (place, &slider) in self.candidates.iter().enumerate() {
                self.x[place] =
                    (near.weights[slider] - system.weights()[slider]) * self.prices.extents[place];
            }
        }
        self.write(system, weights);
        let mut objective = self.objective(system, displacements, weights, &self.x, length);
        let mut iterations = 0;
        while iterations < Bounded::MOST_LINEARISATIONS {
            iterations += 1;
            let (quadratic, terms) =
                self.linearised(system, displacements, near, weights, length, Some(trust));
            let before = self.x.clone();
            quadratic.solve(&terms.borrow(), &mut self.x, &mut self.workspace);
            self.spare = quadratic.into_hessian();
            let step = self.step_from(&before);
            self.write(system, weights);
            let now = self.objective(system, displacements, weights, &self.x, length);
            if now < objective {
                objective = now;
                trust = (2.0 * trust).min(1.0);
            } else {
                self.x = before;
                self.write(system, weights);
                // Well inside the step that failed.
                trust = 0.25 * trust.min(step);
            }
            if step < Bounded::STILL || trust < 0.1 * Bounded::STILL {
                break;
            }
        }
        let (quadratic, terms) =
            self.linearised(system, displacements, near, weights, length, None);
        let kkt = quadratic.certificate(&terms.borrow(), &self.x, &mut self.workspace);
        let held = self.held(system, &terms);
        Outcome {
            kkt: Some(kkt),
            iterations,
            held,
        }
    }

    /// The largest way from `before`, in parts of the sliders' ranges.
    fn step_from(&self, before: &[f64]) -> f64 {
        let steps = before
            .iter()
            .zip(&self.x)
            .zip(&self.prices.extents)
            .zip(&self.ranges);
        steps
            .map(|(((a, b), g), range)| ((a - b) / (g * range)).abs())
            .fold(0.0, f64::max)
    }

    /// The quadratic problem that agrees with the true one at `weights` to first order.
    fn linearised(
        &mut self,
        system: &PinSystem<'_>,
        displacements: &[DVec3],
        near: Option<Near<'_>>,
        weights: &[f64],
        length: f64,
        trust: Option<f64>,
    ) -> (BoxQuadratic, Terms) {
        let measured = system.measure(weights, displacements);
        let mut wanted = measured.wanted.clone();
        for (place, &slider) in self.candidates.iter().enumerate() {
            let change = self.x[place] / self.prices.extents[place];
            wanted
                .iter_mut()
                .zip(measured.column(slider))
                .for_each(|(m, b)| *m += b * change);
        }
        let window = self.window(system, near, trust.map(|radius| (&*self.x, radius)));
        let terms = self.terms(&measured.columns, &wanted, length, window);
        let hessian =
            self.prices
                .hessian(&measured, &self.candidates, std::mem::take(&mut self.spare));
        let quadratic = BoxQuadratic::trusted(hessian);
        (quadratic, terms)
    }

    pub(super) fn objective(
        &self,
        system: &PinSystem<'_>,
        displacements: &[DVec3],
        weights: &[f64],
        x: &[f64],
        length: f64,
    ) -> f64 {
        let missing = norm(&system.missing(weights, displacements)) / self.prices.gain;
        let paid: f64 = x
            .iter()
            .zip(&self.prices.efficiencies)
            .map(|(x, e)| x.abs() / e)
            .sum();
        let sparse = self.sparsity * length / self.prices.gain * paid;
        0.5 * missing * missing + self.prices.energy(x) + sparse
    }
}

pub(super) fn norm(values: &[f64]) -> f64 {
    values.iter().map(|v| v * v).sum::<f64>().sqrt()
}

/// How much of the step from one pose to another, at most all of it, the pins may go without
/// passing their goals: with the ways `p` of the pins and their goals `m`, `p·(m − p) ≥ 0` stays
/// true.
fn share_up_to_goal(
    system: &PinSystem<'_>,
    displacements: &[DVec3],
    from: &[f64],
    to: &[f64],
) -> f64 {
    let wanted = system.missing(system.weights(), displacements);
    let way = |weights: &[f64]| -> Vec<f64> {
        wanted
            .iter()
            .zip(system.missing(weights, displacements))
            .map(|(m, missing)| m - missing)
            .collect()
    };
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let (start, end) = (way(from), way(to));
    let step: Vec<f64> = end.iter().zip(&start).map(|(e, s)| e - s).collect();
    // (s + t d)·(m − s − t d) = c + b t − a t².
    let (a, b, c) = (
        dot(&step, &step),
        dot(&step, &wanted) - 2.0 * dot(&start, &step),
        dot(&start, &wanted) - dot(&start, &start),
    );
    if a == 0.0 || c + b - a >= 0.0 {
        return 1.0;
    }
    ((b + (b * b + 4.0 * a * c.max(0.0)).sqrt()) / (2.0 * a)).clamp(0.0, 1.0)
}
