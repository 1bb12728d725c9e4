//! The bounded solver: sparse slider weights inside their limits, local to the pins (default).
//!
//! **Problem.** Clipping after a solve misses the goal by a third of its distance. A pseudo-inverse
//! spreads a drag over a dozen sliders, far and near, up to three times their range. Weights should
//! stay inside their limits, a drag should move few sliders and little of the face far from the
//! pins, and nothing may depend on units or on the scale of a slider.
//!
//! **Equation.** Over the change `Δ` of the sliders that move a pin, with `x = g Δ` in units of
//! moved surface:
//!
//! ```text
//! min  ½ |B̄Δ − m|² / β²  +  ½ ρ xᵀ(Q + εI)x  +  λ (|m| / β) Σ |xₖ| / eₖ       l ≤ w₀ + Δ ≤ u
//!
//! gₖ = aₖ + τ maxⱼ(aⱼ rⱼ) / rₖ        aₖ = √Gₖₖ(far) + φ √Gₖₖ(all)        rₖ = uₖ − lₖ
//! Q  = g⁻¹ (G(far) + φ² G(all) + diag (g − a)²) g⁻¹
//! eₖ = |b̄ₖ| / (β gₖ)                  β = max |b̄ₖ| / gₖ
//! ```
//!
//! Two optional terms follow: κ = 10⁶ times the motion of protected vertices in `Q`, and
//! `½ σ gᵢgⱼ (Δᵢ − Δⱼ)²` with σ = 10 for coupled mirror sliders, whose efficiencies are the larger
//! of the two. `eₖ` is at least 10⁻⁴. On rigs with in-betweens and combinations, `g`, `Q`, `β`, `e`
//! and `|m|` are those of the pose at which the pins were grabbed.
//!
//! - `G(far)` counts only surface outside the geodesic disc of the pins (`SurfaceGram`), so both
//!   penalties are on motion outside the disc. The part `φ` of the whole surface penalises sliders
//!   that move only the disc.
//! - The part `τ` of the widest slider keeps narrow sliders from their limits where one wide slider
//!   at a moderate weight does the same.
//! - `eₖ` is the efficiency of a slider: motion of the pins per moved surface, relative to the best
//!   slider. A goal out of reach then does not drive sliders to their limits that hardly help.
//! - The penalty on `|xₖ|` grows with `|m|`: a drag of half the length gives half the weights as
//!   long as no limit is active, and no drag is too small.
//! - λ and ρ are divided by the root of the number of pins: more pins are more evidence.
//!
//! **Opposites.** A slider and its mirror image by name may undo each other (`Gᵢⱼ < −½ √(GᵢᵢGⱼⱼ)`:
//! jaw to the left, jaw to the right). They are never used together: the weaker one is excluded, or
//! both if they are about as strong. For pairs that exclude each other by definition, the problem
//! is solved without either one, and the lower objective wins (`exclusion`).
//!
//! **Debiasing.** The penalties leave a residual `r = m − B̄Δ`. Where it is small (`|r| ≤ 6 %` of
//! `|m|`), the goal was within reach: the problem is solved again for `m + h r` with `h = 1`, which
//! removes the bias of the penalties. Where it is large (25 % and more), the goal is out of reach
//! and `h = 0`; a second solve would only drive sliders to their limits. `h` falls smoothly between
//! the two. The step from the first to the second solution ends before it passes the goal.
//!
//! **Source.** Adding the residual back is one Bregman iteration: Osher, Burger, Goldfarb, Xu, Yin,
//! "An iterative regularization method for total variation-based image restoration", 2005.
//!
//! **Departures.** Both problems are strictly convex, so the pose is unique and does not depend on
//! the order of the pins. It follows the goal continuously except where opposites change, at a rate
//! that only the penalties bound where a slider meets its limit; [`Grab::step`](super::Grab::step)
//! bounds the rate of a drag. [`BoxQuadratic`] solves both problems and certifies the KKT residual.
//! With in-betweens, combinations or curves, each problem is solved by Gauss–Newton inside a trust
//! region (`bounded_drag`).

mod bounded_drag;
mod box_problem;
mod box_terms;
mod debiasing;
mod driven_shapes;
mod exclusion;
mod penalties;

use pliant_linalg::{BoxQuadratic, BoxWorkspace};
use pliant_mesh::glam::DVec3;

pub use box_problem::BoxProblem;
pub(crate) use box_terms::OwnedBoxTerms;

use super::{Factored, PinSystem, PoseSolver};
use crate::RigError;
use bounded_drag::BoundedDrag;
use penalties::Penalties;

/// The default solver: a sparse quadratic problem inside the slider limits.
#[derive(Debug, Clone, PartialEq)]
pub struct Bounded {
    reach: Option<f64>,
    sparsity: f64,
    damping: f64,
    symmetry: f64,
    mirror: Vec<Option<usize>>,
    protected: Vec<u32>,
    debiasing: bool,
}

impl Bounded {
    /// Radius of the disc relative to the size of the rig. *Chosen*: 2.5 cm on a head, the size of
    /// a cheek.
    pub const DEFAULT_REACH: f64 = 0.1;
    /// *Measured* on six goals of a scanned head, four times as far as sliders reach: the error of
    /// the pins is 6 % of the drag above the least possible (median); at 1e-3 it is 8 %, at 5e-3
    /// 12 %.
    pub const DEFAULT_SPARSITY: f64 = 8e-4;
    /// *Measured*: smaller values make weights jump where a slider meets its limit, larger ones
    /// miss goals that are within reach.
    pub const DEFAULT_DAMPING: f64 = 2e-3;

    /// Radius around the pins within which motion is penalised less, in asset units. Default:
    /// [`DEFAULT_REACH`](Self::DEFAULT_REACH) of [`Poser::size`](super::Poser::size).
    #[must_use]
    pub fn with_reach(self, reach: Option<f64>) -> Self {
        Self { reach, ..self }
    }

    /// The penalty λ on each moved slider; zero spreads a drag over all sliders that help.
    /// Default: [`DEFAULT_SPARSITY`](Self::DEFAULT_SPARSITY).
    #[must_use]
    pub fn with_sparsity(self, sparsity: f64) -> Self {
        Self { sparsity, ..self }
    }

    /// The penalty ρ on moved surface: small values reach the goal exactly, 1 and more follow it
    /// partly, along the transpose. Default: [`DEFAULT_DAMPING`](Self::DEFAULT_DAMPING).
    #[must_use]
    pub fn with_damping(self, damping: f64) -> Self {
        Self { damping, ..self }
    }

    /// Couples the changes of mirrored sliders: `mirror[k]` is the partner of slider `k`. Strength
    /// 0 leaves them free, 1 couples them firmly.
    #[must_use]
    pub fn with_symmetry(self, mirror: Vec<Option<usize>>, strength: f64) -> Self {
        Self {
            mirror,
            symmetry: strength,
            ..self
        }
    }

    /// Whether a second solve removes the bias of the penalties where the goal is within reach; see
    /// the module. Default: yes.
    #[must_use]
    pub fn with_debiasing(self, debiasing: bool) -> Self {
        Self { debiasing, ..self }
    }

    /// Vertices whose motion is penalised strongly.
    #[must_use]
    pub fn with_protected(self, protected: Vec<u32>) -> Self {
        Self { protected, ..self }
    }

    fn check(&self, system: &PinSystem<'_>) -> Result<(), RigError> {
        let options = [
            ("reach", self.reach.unwrap_or(1.0)),
            ("sparsity", self.sparsity),
            ("damping", self.damping),
            ("symmetry", self.symmetry),
        ];
        for (what, value) in options {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(RigError::BadOption {
                    what,
                    value,
                    needed: "a number from 0 up",
                });
            }
        }

        // The mirror map is either empty or has one entry per slider.
        let rig = system.rig();
        let found = self.mirror.len();
        let expected = rig.targets().len();
        if found != 0 && found != expected {
            return Err(RigError::OtherMirror {
                what: "pairs of sliders",
                found,
                expected,
            });
        }

        for &partner in self.mirror.iter().flatten() {
            rig.require_slider(partner)?;
        }
        for &vertex in &self.protected {
            rig.neutral().require_vertex(vertex as usize)?;
        }
        Ok(())
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
            debiasing: true,
        }
    }
}

impl PoseSolver for Bounded {
    fn name(&self) -> &'static str {
        "box"
    }

    fn factor(&self, system: &PinSystem<'_>) -> Result<Box<dyn Factored>, RigError> {
        Ok(Box::new(self.factor_drag(system)?))
    }
}

impl Bounded {
    /// The quadratic problem of a drag at the system's weights, for inspection and for other
    /// solvers.
    ///
    /// With debiasing it is the first of two problems; with in-betweens, combinations or curves the
    /// first of several.
    ///
    /// # Panics
    /// If there is not one displacement for each pin.
    pub fn problem(
        &self,
        system: &PinSystem<'_>,
        displacements: &[DVec3],
    ) -> Result<BoxProblem, RigError> {
        assert_eq!(
            displacements.len(),
            system.pins().len(),
            "one displacement for each pin"
        );
        Ok(self.factor_drag(system)?.problem(system, displacements))
    }

    fn factor_drag(&self, system: &PinSystem<'_>) -> Result<BoundedDrag, RigError> {
        self.check(system)?;
        let sliders = system.rig().sliders();
        let candidates = self.candidates(system);
        let ranges: Vec<f64> = candidates
            .iter()
            .map(|&k| sliders[k].limits.range())
            .collect();

        // Gain and efficiencies are those of the pose at which the pins were grabbed.
        let at_start = system.project(system.weights(), &vec![DVec3::ZERO; system.pins().len()]);
        let damping = self.damping / root_pin_count(system);
        let mut penalties = Penalties::assemble(self, system, &candidates, &ranges, damping)?;
        penalties.scale(&at_start, &candidates);
        for pair in self.coupled_pairs(&candidates) {
            penalties.share_efficiency(pair);
        }

        let quadratic = if system.is_constant() {
            let hessian = penalties.hessian(&at_start, &candidates, Vec::new());
            Some(BoxQuadratic::new(hessian)?)
        } else {
            None
        };

        Ok(BoundedDrag {
            sparsity: self.sparsity / root_pin_count(system),
            debiasing: self.debiasing,
            bounds: weight_bounds(system, &candidates),
            x: vec![0.0; candidates.len()],
            ranges,
            candidates,
            penalties,
            quadratic,
            at_start,
            workspace: BoxWorkspace::default(),
            hessian_buffer: Vec::new(),
        })
    }

    /// The sliders that move a pin, and those coupled to them, without locked ones; ascending.
    fn candidates(&self, system: &PinSystem<'_>) -> Vec<usize> {
        let moving = system.moving_sliders();
        let mut included = moving.clone();
        if self.symmetry > 0.0 {
            for (k, partner) in self.mirror.iter().enumerate() {
                if let (true, Some(partner)) = (moving[k], *partner) {
                    included[partner] = true;
                }
            }
        }

        let sliders = system.rig().sliders();
        (0..sliders.len())
            .filter(|&k| included[k] && !sliders[k].locked)
            .collect()
    }

    /// Pairs of candidates that are coupled, each pair once.
    fn coupled_pairs(&self, candidates: &[usize]) -> Vec<[usize; 2]> {
        let mut pairs = Vec::new();
        if self.symmetry == 0.0 {
            return pairs;
        }

        for (row, &slider) in candidates.iter().enumerate() {
            let Some(partner) = self.mirror.get(slider).copied().flatten() else {
                continue;
            };
            // A pair is met at both of its sliders, and counts at the first.
            if let Ok(column) = candidates.binary_search(&partner)
                && column > row
            {
                pairs.push([row, column]);
            }
        }

        pairs
    }
}

/// The limits of the candidates, extended to their start.
fn weight_bounds(system: &PinSystem<'_>, candidates: &[usize]) -> Vec<[f64; 2]> {
    let mut bounds = Vec::with_capacity(candidates.len());
    for &k in candidates {
        // A slider that starts outside its limits is not pulled back by a drag elsewhere.
        let start = system.weights()[k];
        let limits = system.rig().sliders()[k].limits;
        bounds.push([limits.min.min(start), limits.max.max(start)]);
    }

    bounds
}

/// The root of the number of pins with a positive stiffness, at least 1.
fn root_pin_count(system: &PinSystem<'_>) -> f64 {
    let pulling = system.pins().iter().filter(|pin| pin.stiffness > 0.0);
    (pulling.count().max(1) as f64).sqrt()
}
