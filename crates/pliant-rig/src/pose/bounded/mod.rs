//! The bounded solver: sparse slider weights inside their limits, local to the pins (default).
//!
//! **Problem.** Clipping after a solve misses the goal by a third of its distance. A pseudo-inverse
//! spreads a drag over a dozen sliders, far and near, up to three times their range. Weights should
//! stay inside their limits, a drag should move few sliders and little of the face far from the
//! pins, and nothing may depend on units or on the scale of a slider. Weights should follow the
//! hand without jumps, and a hand far away should give no face that an animator would not make.
//!
//! **Equation.** Over the change `Δ` of the sliders that move a pin, with `x = g Δ` in units of
//! moved surface:
//!
//! ```text
//! min  ½ |B̄Δ − m|² / β²  +  ½ ρ xᵀ(Q + εI)x  +  λ (|m| / β) Σ |xₖ| / eₖ       l ≤ w₀ + Δ ≤ u
//!
//! gₖ = aₖ + τ maxⱼ(aⱼ rⱼ) / rₖ        aₖ = √Gₖₖ(far) + φ √Gₖₖ(all)        rₖ = uₖ − lₖ
//! Q  = g⁻¹ (G(far) + φ² G(all) + diag (g − a)²) g⁻¹ + η diag (1 − e)⁴
//! eₖ ∝ cₖ |b̄ₖ| / gₖ,  max eₖ = 1       β = max |b̄ₖ| / gₖ        cₖ = maxₚ |b̄ₖₚ| / maxᵥ |dₖᵥ|
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
//! - `eₖ` is the efficiency of a slider: motion of the pins per moved surface, times the centrality
//!   `cₖ`, the largest motion `b̄ₖₚ` of a pin relative to the largest motion `dₖᵥ` of any vertex,
//!   relative to the best slider. A slider is made for the place that it moves most: a brow goes
//!   down by the slider of the brow, not by that of the nose, although both move it. A goal out of reach then does not drive sliders to their limits that hardly help, and
//!   the term `η` slows those down that would have to move fast to help.
//! - The penalty on `|xₖ|` grows with `|m|`: a drag of half the length gives half the weights as
//!   long as no limit is active, and no drag is too small.
//! - More pins are more evidence: λ is divided by the root of their number, ρ by its third power.
//!
//! **A pose in steps.** Every step is continuous in the goal, and so is the pose; it depends on
//! nothing else, and not on the path of the hand.
//!
//! 1. `reach`: a goal that neither single sliders nor several ones reach is shortened; far beyond it
//!    has one length, its direction counts more than its place, and λ is four times as large, so that few
//!    sliders follow.
//! 2. The problem is solved for that goal: few sliders, biased by the penalties.
//! 3. `exclusion`: of sliders that exclude each other (declared pairs, opposites, puffed cheeks and an
//!    open jaw) the stronger one stays, as far as it is stronger. `mouthClose` follows `jawOpen`.
//! 4. `debiasing`: within reach, further solves towards raised goals remove the bias of the
//!    penalties, inside bounds that follow from the first one.
//! 5. `exaggeration`: sliders that move the same place share its range. `walls`: together they push no
//!    side of a cheek, a lip or a lid through the other one.
//!
//! **Departures.** Each problem is strictly convex with the same matrix, so the pose is unique and
//! does not depend on the order of the pins. The penalty ρ bounds the rate at which weights follow
//! the goal. [`BoxQuadratic`] solves the problems and certifies their KKT residuals. With
//! in-betweens, combinations or curves, each problem is solved by Gauss–Newton inside a trust region
//! (`bounded_drag`). [`Grab::step`](super::Grab::step) also limits the change of every weight.

mod bounded_drag;
mod box_problem;
mod box_terms;
mod debiasing;
mod driven_shapes;
mod exaggeration;
mod exclusion;
mod penalties;
mod reach;
mod walls;

#[cfg(test)]
mod tests;

use pliant_linalg::{BoxQuadratic, BoxWorkspace};
use pliant_mesh::MeshError;
use pliant_mesh::glam::DVec3;

pub use box_problem::BoxProblem;
pub(crate) use box_terms::OwnedBoxTerms;
pub(super) use exaggeration::{Landmark, landmarks, peaks};
pub(super) use walls::{Wall, walls};

use super::{Factored, PinSystem, PoseSolver};
use crate::RigError;
use bounded_drag::BoundedDrag;
use exclusion::SliderRules;
use penalties::Penalties;
use reach::Reach;

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
    goal_limit: Option<f64>,
}

impl Bounded {
    /// Radius of the disc relative to the size of the rig. *Chosen*: 2.5 cm on a head, the size of
    /// a cheek.
    pub const DEFAULT_REACH: f64 = 0.1;
    /// *Measured* on the ICT face: a drag within reach moves 3.4 sliders; at 8e-3 it moves 2.5, and
    /// more goals are missed. Far beyond reach it is four times as large.
    pub const DEFAULT_SPARSITY: f64 = 3e-3;
    /// *Measured* on the ICT and facecap faces: the rate at which weights follow the goal is
    /// at most `1 / (2 √ρ)` in units of moved surface for each of the solves; smaller values let
    /// weights jump where a slider meets its limit, larger ones miss goals that are within reach.
    pub const DEFAULT_DAMPING: f64 = 0.06;
    /// *Chosen* between 1, which misses more goals that several sliders reach, and 1.5, from which on
    /// far goals drive more sliders to their limits.
    pub const DEFAULT_GOAL_LIMIT: f64 = 1.2;

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

    /// The longest goal of a pin relative to the reach of single sliders; longer goals are shortened.
    /// `None` follows every goal, whatever the face looks like. Default: [`DEFAULT_GOAL_LIMIT`](Self::DEFAULT_GOAL_LIMIT).
    #[must_use]
    pub fn with_goal_limit(self, goal_limit: Option<f64>) -> Self {
        Self { goal_limit, ..self }
    }

    /// Vertices whose motion is penalised strongly.
    #[must_use]
    pub fn with_protected(self, protected: Vec<u32>) -> Self {
        Self { protected, ..self }
    }

    fn check(&self, system: &PinSystem) -> Result<(), RigError> {
        let options = [
            ("reach", self.reach.unwrap_or(1.0)),
            ("sparsity", self.sparsity),
            ("damping", self.damping),
            ("symmetry", self.symmetry),
            ("goal limit", self.goal_limit.unwrap_or(1.0)),
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
            goal_limit: Some(Self::DEFAULT_GOAL_LIMIT),
        }
    }
}

impl PoseSolver for Bounded {
    fn name(&self) -> &'static str {
        "box"
    }

    fn factor(&self, system: &PinSystem) -> Result<Box<dyn Factored>, RigError> {
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
    /// # Errors
    /// Without one displacement for each pin, and for weights out of their range.
    pub fn problem(
        &self,
        system: &PinSystem,
        displacements: &[DVec3],
    ) -> Result<BoxProblem, RigError> {
        MeshError::require_count(
            "the list of displacements",
            displacements.len(),
            system.pins().len(),
        )?;
        Ok(self.factor_drag(system)?.problem(system, displacements))
    }

    fn factor_drag(&self, system: &PinSystem) -> Result<BoundedDrag, RigError> {
        self.check(system)?;
        let sliders = system.rig().sliders();
        let candidates = self.candidates(system);
        let ranges: Vec<f64> = candidates
            .iter()
            .map(|&k| sliders[k].limits.range())
            .collect();

        // Gain and efficiencies are those of the pose at which the pins were grabbed.
        let at_start = system.project(system.weights(), &vec![DVec3::ZERO; system.pins().len()]);
        let damping = self.damping / root_pin_count(system).powi(3);
        let mut penalties = Penalties::assemble(self, system, &candidates, &ranges, damping)?;
        penalties.scale(&at_start, &candidates);
        penalties.scale_by_centrality(system, &at_start, &candidates);
        for pair in self.coupled_pairs(&candidates) {
            penalties.share_efficiency(pair);
        }
        penalties.penalise_inefficiency();

        let quadratic = if system.is_constant() {
            let hessian = penalties.hessian(&at_start, &candidates, Vec::new());
            Some(BoxQuadratic::new(hessian)?)
        } else {
            None
        };

        let bounds = weight_bounds(system, &candidates);
        let mirrored = penalties.mirrored.iter().copied();
        let rules = match self.goal_limit {
            Some(_) => SliderRules::of(system, mirrored, penalties.opposing.iter().copied()),
            None => SliderRules::declared(system, mirrored),
        };
        let mut drag = BoundedDrag {
            sparsity: self.sparsity / root_pin_count(system),
            debiasing: self.debiasing,
            bounds,
            rules,
            reach: Reach::default(),
            x: vec![0.0; candidates.len()],
            candidate_of: positions_in(&candidates, sliders.len()),
            ranges,
            candidates,
            penalties,
            quadratic,
            measured: None,
            at_start,
            workspace: BoxWorkspace::default(),
            hessian_buffer: Vec::new(),
        };
        drag.bound_needing_sliders(system);
        drag.reach = Reach::of(
            system,
            &drag.at_start,
            &drag.candidates,
            &drag.bounds,
            self.goal_limit,
        );

        Ok(drag)
    }

    /// The sliders that move a pin, and those coupled to them, without locked ones; ascending.
    fn candidates(&self, system: &PinSystem) -> Vec<usize> {
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

/// For each of `count` sliders its place among `candidates`.
fn positions_in(candidates: &[usize], count: usize) -> Vec<Option<usize>> {
    let mut positions = vec![None; count];
    for (k, &slider) in candidates.iter().enumerate() {
        positions[slider] = Some(k);
    }

    positions
}

/// The limits of the candidates, extended to their start.
fn weight_bounds(system: &PinSystem, candidates: &[usize]) -> Vec<[f64; 2]> {
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
fn root_pin_count(system: &PinSystem) -> f64 {
    let pulling = system.pins().iter().filter(|pin| pin.stiffness > 0.0);
    (pulling.count().max(1) as f64).sqrt()
}
