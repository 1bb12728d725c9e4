//! The default solver: weights inside their limits, few of them, near the pins.
//!
//! **Problem.** Clipping after a solve leaves the goal by a third of the way; a pseudo-inverse spreads a drag over a dozen
//! sliders, far and near, up to three times their range. Weights should stay inside their limits, a drag should move
//! few sliders and little of the face beyond the hand, and nothing may depend on units or on how sliders are scaled.
//!
//! **Equation.** Over the change `Δ` of the sliders that move a pin, with `x = g Δ` in units of moved surface:
//!
//! ```text
//! min  ½ |B̄Δ − m|² / β²  +  ½ ρ xᵀ(Q + εI)x  +  λ (|m| / β) Σ |xₖ| / eₖ       l ≤ w₀ + Δ ≤ u
//!
//! gₖ = √Gₖₖ(far) + φ √Gₖₖ(all)        Q = g⁻¹ (G(far) + φ² G(all)) g⁻¹
//! eₖ = |b̄ₖ| / (β gₖ)                  β = max |b̄ₖ| / gₖ
//! ```
//!
//! `G(far)` counts only surface beyond the geodesic disc of the pins (`SurfaceGram`), so that both prices are on motion
//! outside it; the share `φ` of the whole keeps a slider that lives inside the disc from being free. `eₖ` is how well a slider
//! moves the pins for the surface it moves, beside the best one: a goal out of reach should not drive sliders to their limits
//! that hardly help. The price of `|xₖ|` grows with `|m|`: then a drag of half the length gives half the weights as long as no
//! limit is met, and no drag is too small.
//!
//! **Ours.** The problem is strictly convex, so its solution is unique, does not depend on the order of pins, and follows the
//! goal without jumps; it is solved to a certificate by [`BoxQuadratic`]. Through in-betweens, combinations and curves it
//! is solved again at each new pose (Gauss–Newton, inside a trust region that shrinks until the true objective falls).

use pliant_linalg::{BoxQuadratic, BoxTerms, BoxWorkspace};
use pliant_mesh::glam::DVec3;

use super::prices::{DrivenShapes, Prices};
use super::system::{Measured, PinSystem};
use super::{BoxProblem, Factored, Near, Outcome, PoseSolver};
use crate::RigError;

/// The solver inside limits.
#[derive(Debug, Clone, PartialEq)]
pub struct Bounded {
    reach: Option<f64>,
    sparsity: f64,
    damping: f64,
    symmetry: f64,
    mirror: Vec<Option<usize>>,
    protected: Vec<u32>,
    protection: f64,
}

impl Bounded {
    /// Radius of the disc in parts of the rig's size. *Ours*: some 4 cm on a head, the size of a cheek.
    pub const DEFAULT_REACH: f64 = 0.1;
    /// *Measured* on 200 drags of a scanned head: half of it halves the pin error and moves half a slider more.
    pub const DEFAULT_SPARSITY: f64 = 3e-4;
    /// *Measured*: three times as much triples the pin error; a third of it doubles the largest jump.
    pub const DEFAULT_DAMPING: f64 = 5e-4;
    /// The share φ of the whole surface in a slider's extent. *Ours*: motion near the pin costs half of motion far from it.
    const NEAR_SHARE: f64 = 0.5;
    /// The share ε of the identity beside `Q`. *Ours*: shares a drag between equal sliders, for which `Q` is singular.
    const IDENTITY_SHARE: f64 = 0.01;
    /// The least extent in parts of the largest: a slider that moves next to nothing is still not free.
    const LEAST_EXTENT: f64 = 1e-3;
    /// The least efficiency that a price reckons with. *Ours*: sliders below it are out of any drag anyway.
    pub(super) const LEAST_EFFICIENCY: f64 = 1e-4;
    /// How much more motion of protected vertices costs than that of others. *Ours*.
    const DEFAULT_PROTECTION: f64 = 1e6;
    const MOST_LINEARISATIONS: usize = 60;

    /// The radius around the pins within which motion is cheap, in the asset's units. Default:
    /// [`DEFAULT_REACH`](Self::DEFAULT_REACH) of [`Poser::size`](super::Poser::size).
    #[must_use]
    pub fn with_reach(self, reach: Option<f64>) -> Self {
        Self { reach, ..self }
    }

    /// The price λ of moving one more slider; zero spreads a drag over all that help.
    /// Default: [`DEFAULT_SPARSITY`](Self::DEFAULT_SPARSITY).
    #[must_use]
    pub fn with_sparsity(self, sparsity: f64) -> Self {
        Self { sparsity, ..self }
    }

    /// The price ρ of moved surface: small reaches the goal exactly, 1 and more follows it half-heartedly along the
    /// transpose. Default: [`DEFAULT_DAMPING`](Self::DEFAULT_DAMPING).
    #[must_use]
    pub fn with_damping(self, damping: f64) -> Self {
        Self { damping, ..self }
    }

    /// Couples the changes of mirrored sliders: `mirror[k]` is the partner of slider `k`; 0 leaves them free, 1 ties them
    /// firmly.
    #[must_use]
    pub fn with_symmetry(self, mirror: Vec<Option<usize>>, strength: f64) -> Self {
        Self { mirror, symmetry: strength, ..self }
    }

    /// Vertices that should stay where they are.
    #[must_use]
    pub fn with_protected(self, protected: Vec<u32>) -> Self {
        Self { protected, ..self }
    }

    fn check(&self, system: &PinSystem<'_>) -> Result<(), RigError> {
        let options =
            [("reach", self.reach.unwrap_or(1.0)), ("sparsity", self.sparsity), ("damping", self.damping), ("symmetry", self.symmetry)];
        for (what, value) in options {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(RigError::BadOption { what, value, needed: "a number from 0 up" });
            }
        }
        let mesh = system.rig().neutral();
        Ok(self.protected.iter().try_for_each(|&v| mesh.require_vertex(v as usize))?)
    }
}

impl Default for Bounded {
    fn default() -> Self {
        Self {
            reach: None,
            sparsity: Self::DEFAULT_SPARSITY,
            damping: Self::DEFAULT_DAMPING,
            symmetry: 0.0,
            mirror: Vec::new(),
            protected: Vec::new(),
            protection: Self::DEFAULT_PROTECTION,
        }
    }
}

impl PoseSolver for Bounded {
    fn name(&self) -> &'static str {
        "box"
    }

    fn factor(&self, system: &PinSystem<'_>) -> Result<Box<dyn Factored>, RigError> {
        Ok(Box::new(self.prepare(system)?))
    }
}

impl Bounded {
    /// The quadratic problem of a drag, at the system's weights: what a solve minimises, for the curious and for other solvers.
    ///
    /// Through in-betweens, combinations and curves it is the first of several.
    ///
    /// # Panics
    /// If there is not one displacement for each pin.
    pub fn problem(&self, system: &PinSystem<'_>, displacements: &[DVec3]) -> Result<BoxProblem, RigError> {
        assert_eq!(displacements.len(), system.pins().len(), "one displacement for each pin");
        Ok(self.prepare(system)?.problem(system, displacements))
    }

    fn prepare(&self, system: &PinSystem<'_>) -> Result<Prepared, RigError> {
        self.check(system)?;
        let moving = system.moving();
        let sliders = system.rig().sliders();
        let candidates: Vec<usize> = (0..sliders.len()).filter(|&k| moving[k] && !sliders[k].locked).collect();
        let resting = system.measure(system.weights(), &vec![DVec3::ZERO; system.pins().len()]);
        let mut prices = self.prices(system, &candidates)?;
        prices.scale(&resting, &candidates);
        let hessian = system.is_constant().then(|| BoxQuadratic::new(prices.hessian(&resting, &candidates, Vec::new()))).transpose()?;
        let bounds = candidates.iter().map(|&k| {
            let (limits, start) = (sliders[k].limits, system.weights()[k]);
            // A slider that starts outside its limits is not pulled back by a drag elsewhere.
            [limits.min.min(start), limits.max.max(start)]
        });
        Ok(Prepared {
            sparsity: self.sparsity,
            bounds: bounds.collect(),
            x: vec![0.0; candidates.len()],
            candidates,
            prices,
            hessian,
            resting,
            workspace: BoxWorkspace::default(),
            spare: Vec::new(),
        })
    }
}

impl Bounded {
    /// Extents `g` and their quadratic price, on the sliders in `candidates`.
    fn prices(&self, system: &PinSystem<'_>, candidates: &[usize]) -> Result<Prices, RigError> {
        let poser = system.poser();
        let gram = poser.gram();
        let reach = self.reach.unwrap_or(Self::DEFAULT_REACH * poser.size());
        let driven = DrivenShapes::of(system, candidates);
        let near = gram.over(&poser.near_pins(system, reach)?, &driven.shapes);
        let guarded: Vec<(u32, f64)> = self.protected.iter().map(|&v| (v, self.protection)).collect();
        let guarded = (!guarded.is_empty()).then(|| gram.over(&guarded, &driven.shapes));
        let shares = Self::NEAR_SHARE * Self::NEAR_SHARE;
        let whole = gram.whole(&driven.shapes);
        let far: Vec<f64> = whole.iter().zip(&near).map(|(all, near)| all - near).collect();
        let moved: Vec<f64> = whole.iter().zip(&far).map(|(all, far)| far + shares * all).collect();
        let (far, all, mut moved) = (driven.in_sliders(&far), driven.in_sliders(&whole), driven.in_sliders(&moved));
        let n = candidates.len();
        let extent = |k: usize| far[k * n + k].max(0.0).sqrt() + Self::NEAR_SHARE * all[k * n + k].max(0.0).sqrt();
        let mut extents: Vec<f64> = (0..n).map(extent).collect();
        let largest = extents.iter().copied().fold(0.0, f64::max);
        // Pins on vertices without area: any extent serves.
        extents.iter_mut().for_each(|g| *g = if largest > 0.0 { g.max(Self::LEAST_EXTENT * largest) } else { 1.0 });
        if let Some(guarded) = guarded {
            moved.iter_mut().zip(driven.in_sliders(&guarded)).for_each(|(sum, g)| *sum += g);
        }
        for row in 0..n {
            for column in 0..n {
                moved[row * n + column] /= extents[row] * extents[column];
            }
            moved[row * n + row] += Self::IDENTITY_SHARE;
        }
        self.couple(candidates, &extents, &mut moved);
        Ok(Prices { efficiencies: vec![1.0; n], extents, moved, gain: 1.0, damping: self.damping })
    }

    /// `τ gᵢ gⱼ (Δᵢ − Δⱼ)²` for mirrored sliders `i` and `j`.
    fn couple(&self, candidates: &[usize], extents: &[f64], moved: &mut [f64]) {
        let n = candidates.len();
        // Firm at 1: a thousand times the price of moving the surface itself.
        let strength = 1e3 * self.symmetry;
        for (row, &slider) in candidates.iter().enumerate() {
            let partner = self.mirror.get(slider).copied().flatten();
            let Some(column) = partner.and_then(|p| candidates.binary_search(&p).ok()).filter(|&c| c > row) else { continue };
            let (a, b) = (extents[row], extents[column]);
            moved[row * n + row] += strength * b / a;
            moved[column * n + column] += strength * a / b;
            moved[row * n + column] -= strength;
            moved[column * n + row] -= strength;
        }
    }
}

/// All that does not change while pins are dragged.
#[derive(Debug)]
struct Prepared {
    candidates: Vec<usize>,
    /// Lower and upper weights of the candidates.
    bounds: Vec<[f64; 2]>,
    sparsity: f64,
    prices: Prices,
    /// The quadratic, where it does not change with the weights.
    hessian: Option<BoxQuadratic>,
    resting: Measured,
    /// The last solution, in units of moved surface.
    x: Vec<f64>,
    workspace: BoxWorkspace,
    /// The buffer of a quadratic that changes with the weights.
    spare: Vec<f64>,
}

/// Everything of one solve that is not the pose itself.
struct Terms {
    linear: Vec<f64>,
    prices: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
}

impl Terms {
    fn borrow(&self) -> BoxTerms<'_> {
        BoxTerms { linear: &self.linear, prices: &self.prices, lower: &self.lower, upper: &self.upper }
    }
}

impl Factored for Prepared {
    fn solve(&mut self, system: &PinSystem<'_>, displacements: &[DVec3], near: Option<Near<'_>>, weights: &mut [f64]) -> Outcome {
        weights.copy_from_slice(system.weights());
        if self.candidates.is_empty() {
            return Outcome { kkt: Some(0.0), iterations: 0, held: Vec::new() };
        }
        let outcome = self.solve_within(system, displacements, near, weights);
        match self.clashing_pair(system, weights) {
            Some(pair) => self.decide(pair, system, displacements, near, weights),
            None => outcome,
        }
    }

    fn reset(&mut self) {
        self.x.fill(0.0);
    }
}

impl Prepared {
    /// With `x = g Δ` undone, so that unknowns are changes of weights.
    fn problem(&self, system: &PinSystem<'_>, displacements: &[DVec3]) -> BoxProblem {
        let measured = system.measure(system.weights(), displacements);
        let window = self.window(system, None, None);
        let terms = self.terms(&measured.columns, &measured.wanted, norm(&measured.wanted), window);
        let (n, g) = (self.candidates.len(), &self.prices.extents);
        let hessian = self.prices.hessian(&measured, &self.candidates, Vec::new());
        let scaled = |values: &[f64]| -> Vec<f64> { values.iter().zip(g).map(|(value, g)| value * g).collect() };
        let limits =
            |side: usize| self.candidates.iter().zip(&self.bounds).map(|(&k, bounds)| bounds[side] - system.weights()[k]).collect();
        BoxProblem {
            sliders: self.candidates.clone(),
            hessian: hessian.iter().enumerate().map(|(k, h)| h * g[k / n] * g[k % n]).collect(),
            linear: scaled(&terms.linear),
            prices: scaled(&terms.prices),
            lower: limits(0),
            upper: limits(1),
        }
    }

    fn solve_within(&mut self, system: &PinSystem<'_>, displacements: &[DVec3], near: Option<Near<'_>>, weights: &mut [f64]) -> Outcome {
        if self.hessian.is_some() {
            self.solve_once(system, displacements, near, weights)
        } else {
            self.solve_again_and_again(system, displacements, near, weights)
        }
    }

    /// Two sliders that exclude each other and are both away from zero, of which the drag moved one there.
    fn clashing_pair(&self, system: &PinSystem<'_>, weights: &[f64]) -> Option<[usize; 2]> {
        let away = |slider: usize, weights: &[f64]| weights[slider] != 0.0;
        let clash = |pair: &&[usize; 2]| {
            pair.iter().all(|&k| away(k, weights)) && pair.iter().any(|&k| !away(k, system.weights()) && self.place(k).is_some())
        };
        system.rig().exclusive_pairs().iter().find(clash).copied()
    }

    fn place(&self, slider: usize) -> Option<usize> {
        self.candidates.binary_search(&slider).ok()
    }

    /// Solves with either slider of a pair at zero and takes what comes nearer to the goals.
    fn decide(
        &mut self,
        pair: [usize; 2],
        system: &PinSystem<'_>,
        displacements: &[DVec3],
        near: Option<Near<'_>>,
        weights: &mut [f64],
    ) -> Outcome {
        let length = norm(&system.missing(system.weights(), displacements));
        let mut best: Option<(f64, Outcome, Vec<f64>, Vec<f64>)> = None;
        let places = pair.map(|slider| self.place(slider));
        for place in places.into_iter().flatten() {
            let bounds = std::mem::replace(&mut self.bounds[place], [0.0; 2]);
            let outcome = self.solve(system, displacements, near, weights);
            self.bounds[place] = bounds;
            let objective = self.objective(system, displacements, weights, &self.x, length);
            if best.as_ref().is_none_or(|(lowest, ..)| objective < *lowest) {
                best = Some((objective, outcome, weights.to_vec(), self.x.clone()));
            }
        }
        let (_, outcome, chosen, x) = best.expect("a clashing pair has a slider that moved");
        weights.copy_from_slice(&chosen);
        self.x = x;
        outcome
    }

    fn solve_once(&mut self, system: &PinSystem<'_>, displacements: &[DVec3], near: Option<Near<'_>>, weights: &mut [f64]) -> Outcome {
        let wanted = system.wanted(displacements);
        let terms = self.terms(&self.resting.columns, &wanted, norm(&wanted), self.window(system, near, None));
        let quadratic = self.hessian.as_ref().expect("a constant system has its quadratic");
        let report = quadratic.solve(&terms.borrow(), &mut self.x, &mut self.workspace);
        self.write(system, &terms, weights);
        let held = self.held(&terms);
        Outcome { kkt: Some(report.kkt), iterations: report.iterations, held }
    }

    /// Lower and upper changes in weight: limits, and around weights that must not be left by more than a step.
    fn window(&self, system: &PinSystem<'_>, near: Option<Near<'_>>, trust: Option<(&[f64], f64)>) -> Vec<[f64; 2]> {
        let bounds = self.candidates.iter().zip(&self.bounds).enumerate().map(|(place, (&slider, &[min, max]))| {
            let start = system.weights()[slider];
            let mut window = [min - start, max - start];
            let centres = near.map(|near| (near.weights[slider] - start, near.step));
            let trusted = trust.map(|(x, radius)| (x[place] / self.prices.extents[place], radius));
            for (centre, step) in centres.into_iter().chain(trusted) {
                window = [window[0].max(centre - step).min(window[1]), window[1].min(centre + step).max(window[0])];
            }
            window
        });
        bounds.collect()
    }

    fn terms(&self, columns: &[f64], wanted: &[f64], length: f64, window: Vec<[f64; 2]>) -> Terms {
        let rows = wanted.len();
        let (extents, gain) = (&self.prices.extents, self.prices.gain);
        let along = |place: usize, slider: usize| {
            let column = &columns[slider * rows..][..rows];
            column.iter().zip(wanted).map(|(b, m)| b * m).sum::<f64>() / (extents[place] * gain * gain)
        };
        Terms {
            linear: self.candidates.iter().enumerate().map(|(place, &slider)| along(place, slider)).collect(),
            prices: self.prices.efficiencies.iter().map(|e| self.sparsity * length / (gain * e)).collect(),
            lower: window.iter().zip(extents).map(|(w, g)| w[0] * g).collect(),
            upper: window.iter().zip(extents).map(|(w, g)| w[1] * g).collect(),
        }
    }

    fn write(&self, system: &PinSystem<'_>, terms: &Terms, weights: &mut [f64]) {
        for (place, &slider) in self.candidates.iter().enumerate() {
            let ([min, max], x) = (self.bounds[place], self.x[place]);
            let start = system.weights()[slider];
            weights[slider] = match x {
                x if x == terms.upper[place] && terms.upper[place] >= (max - start) * self.prices.extents[place] => max,
                x if x == terms.lower[place] && terms.lower[place] <= (min - start) * self.prices.extents[place] => min,
                x => (start + x / self.prices.extents[place]).max(min).min(max),
            };
        }
    }

    /// Sliders at a limit that would go on if it were not there.
    fn held(&self, terms: &Terms) -> Vec<usize> {
        let gradient = self.workspace.gradient();
        let scale = terms.linear.iter().map(|f| f.abs()).fold(0.0, f64::max);
        let held = self.candidates.iter().enumerate().filter(|&(place, _)| {
            let (x, g, price) = (self.x[place], gradient[place], terms.prices[place]);
            let limit = |bound: f64, weight: f64| x == bound && weight.is_finite();
            let [min, max] = self.bounds[place];
            let beyond_upper = -(g + if x >= 0.0 { price } else { -price });
            let beyond_lower = g + if x > 0.0 { price } else { -price };
            (limit(terms.upper[place], max) && beyond_upper > 1e-12 * scale)
                || (limit(terms.lower[place], min) && beyond_lower > 1e-12 * scale)
        });
        held.map(|(_, &slider)| slider).collect()
    }

    /// Gauss–Newton: the problem at the pose so far, solved, until the pose stays.
    fn solve_again_and_again(
        &mut self,
        system: &PinSystem<'_>,
        displacements: &[DVec3],
        near: Option<Near<'_>>,
        weights: &mut [f64],
    ) -> Outcome {
        let length = norm(&system.missing(system.weights(), displacements));
        let mut trust = 1.0;
        self.x.fill(0.0);
        if let Some(near) = near {
            for (place, &slider) in self.candidates.iter().enumerate() {
                self.x[place] = (near.weights[slider] - system.weights()[slider]) * self.prices.extents[place];
            }
        }
        self.set(system, &self.x, weights);
        let mut objective = self.objective(system, displacements, weights, &self.x, length);
        let mut iterations = 0;
        while iterations < Bounded::MOST_LINEARISATIONS {
            iterations += 1;
            let (quadratic, terms) = self.linearised(system, displacements, near, weights, length, Some(trust));
            let before = self.x.clone();
            quadratic.solve(&terms.borrow(), &mut self.x, &mut self.workspace);
            self.spare = quadratic.into_hessian();
            let step = before.iter().zip(&self.x).zip(&self.prices.extents).map(|((a, b), g)| ((a - b) / g).abs()).fold(0.0, f64::max);
            self.set(system, &self.x, weights);
            let now = self.objective(system, displacements, weights, &self.x, length);
            if now < objective {
                objective = now;
                trust = (2.0 * trust).min(1.0);
            } else {
                self.x = before;
                self.set(system, &self.x, weights);
                trust = 0.25 * trust.min(step);
            }
            if step < 1e-12 || trust < 1e-13 {
                break;
            }
        }
        let (quadratic, terms) = self.linearised(system, displacements, near, weights, length, None);
        let kkt = quadratic.certificate(&terms.borrow(), &self.x, &mut self.workspace);
        let held = self.held(&terms);
        Outcome { kkt: Some(kkt), iterations, held }
    }

    fn set(&self, system: &PinSystem<'_>, x: &[f64], weights: &mut [f64]) {
        for (place, &slider) in self.candidates.iter().enumerate() {
            let [min, max] = self.bounds[place];
            weights[slider] = (system.weights()[slider] + x[place] / self.prices.extents[place]).max(min).min(max);
        }
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
            wanted.iter_mut().zip(measured.column(slider)).for_each(|(m, b)| *m += b * change);
        }
        let window = self.window(system, near, trust.map(|radius| (&*self.x, radius)));
        let terms = self.terms(&measured.columns, &wanted, length, window);
        let hessian = self.prices.hessian(&measured, &self.candidates, std::mem::take(&mut self.spare));
        let quadratic = BoxQuadratic::new(hessian).expect("damping makes the quadratic definite");
        (quadratic, terms)
    }

    fn objective(&self, system: &PinSystem<'_>, displacements: &[DVec3], weights: &[f64], x: &[f64], length: f64) -> f64 {
        let missing = norm(&system.missing(weights, displacements)) / self.prices.gain;
        let paid: f64 = x.iter().zip(&self.prices.efficiencies).map(|(x, e)| x.abs() / e).sum();
        let sparse = self.sparsity * length / self.prices.gain * paid;
        0.5 * missing * missing + self.prices.energy(x) + sparse
    }
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|v| v * v).sum::<f64>().sqrt()
}
