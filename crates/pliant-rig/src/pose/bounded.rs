//! The default solver: weights inside their limits, few of them, near the pins.
//!
//! **Problem.** Clipping after a solve leaves the goal by a third of the way; a pseudo-inverse
//! spreads a drag over a dozen sliders, far and near, up to three times their range. Weights should
//! stay inside their limits, a drag should move few sliders and little of the face beyond the hand,
//! and nothing may depend on units or on how sliders are scaled.
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
//! plus, where asked for, κ = 10⁶ times the motion of protected vertices in `Q`, and `½ σ gᵢgⱼ (Δᵢ
//! − Δⱼ)²` with σ = 10 for coupled mirror sliders, whose efficiencies are the larger of the two.
//! `eₖ` counts as 10⁻⁴ at least. Through in-betweens and combinations `g`, `Q`, `β`, `e` and `|m|`
//! are those of the pose that was grabbed.
//!
//! Opposites, a slider and its mirror image by name that undo each other (`Gᵢⱼ < −½ √(GᵢᵢGⱼⱼ)`: a
//! jaw to the left and one to the right), are never used together: where both would be, the weaker
//! one goes, or both where they are about as strong. Of pairs that exclude each other each is tried
//! without the other, and the lower objective wins.
//!
//! `G(far)` counts only surface beyond the geodesic disc of the pins (`SurfaceGram`), so that both
//! prices are on motion outside it; the share `φ` of the whole keeps a slider that lives inside the
//! disc from being free, and the share `τ` of the widest slider keeps small ones from going to
//! their limits where one wide slider at a moderate weight does the same. `eₖ` is how well a slider
//! moves the pins for the surface it moves, beside the best one: a goal out of reach should not
//! drive sliders to their limits that hardly help. The price of `|xₖ|` grows with `|m|`: then a
//! drag of half the length gives half the weights as long as no limit is met, and no drag is too
//! small.
//!
//! λ and ρ are divided by the root of the number of pins: more pins say more, and prices need to
//! say less.
//!
//! **Refund.** Prices keep a drag a little short of its goal, `r = m − B̄Δ`. Where that is little
//! (`|r| ≤ 6 %` of `|m|`), the goal was within reach: the problem is solved again for `m + h r`
//! with `h = 1`, which gives back what the prices cost. Where it is much (25 % and more), the goal
//! is out of reach, `h = 0`, and chasing it would only drive sliders to their limits; `h` falls
//! smoothly between the two. The step from the first to the second solution ends before it passes
//! the goal.
//!
//! **Ours.** Both problems are strictly convex, so the pose is unique and does not depend on the
//! order of pins. It follows the goal continuously but for where opposites part, at a speed that
//! only prices bound where a slider meets its limit: a hand drags by
//! [`Grab::step`](super::Grab::step), which bounds it. Both are solved to a certificate by
//! [`BoxQuadratic`]. Through in-betweens, combinations and curves each is solved again at each new
//! pose (Gauss–Newton, inside a trust region that shrinks until the true objective falls).

mod clashes;
mod prepared;

use pliant_linalg::{BoxQuadratic, BoxWorkspace};
use pliant_mesh::glam::DVec3;

use self::prepared::Prepared;
use super::prices::{DrivenShapes, Prices};
use super::system::PinSystem;
use super::{BoxProblem, Factored, PoseSolver};
use crate::{RigError, SliderName};

/// The solver inside limits.
#[derive(Debug, Clone, PartialEq)]
pub struct Bounded {
    reach: Option<f64>,
    sparsity: f64,
    damping: f64,
    symmetry: f64,
    mirror: Vec<Option<usize>>,
    protected: Vec<u32>,
    refund: bool,
}

impl Bounded {
    /// Radius of the disc in parts of the rig's size. *Ours*: 2.5 cm on a head, the size of a
    /// cheek.
    pub const DEFAULT_REACH: f64 = 0.1;
    /// *Measured* on six goals of a scanned head, four times as far as sliders reach: pins end 6 %
    /// of the way above the best possible (median); at 1e-3 it is 8 %, at 5e-3 12 %.
    pub const DEFAULT_SPARSITY: f64 = 8e-4;
    /// *Measured*: less of it makes sliders jump where one meets its limit, more leaves goals
    /// within reach unreached.
    pub const DEFAULT_DAMPING: f64 = 2e-3;
    /// What prices may cost of the way, in parts of it, and be given back whole; and from where on
    /// nothing is. *Measured* together with the two above.
    const REFUND: [f64; 2] = [0.06, 0.25];
    /// The share φ of the whole surface in a slider's extent. *Ours*: motion near the pin costs
    /// half of motion far from it.
    const NEAR_SHARE: f64 = 0.5;
    /// The share ε of the identity beside `Q`. *Ours*: shares a drag between equal sliders, for
    /// which `Q` is singular.
    const IDENTITY_SHARE: f64 = 0.01;
    /// The share τ of the widest slider in every extent. *Measured*: from 0.2 on a lower lip pulled
    /// down opens the jaw instead of driving three lip sliders to their limits; more makes
    /// planted poses harder to find again.
    const WIDEST_SHARE: f64 = 0.2;
    /// The least efficiency that a price reckons with. *Ours*: sliders below it are out of any drag
    /// anyway.
    pub(super) const LEAST_EFFICIENCY: f64 = 1e-4;
    /// How much more motion of protected vertices costs than that of others. *Ours*.
    const PROTECTION: f64 = 1e6;
    /// How firmly mirrored sliders are tied at strength 1, beside the pull of the pins. *Ours*.
    const COUPLING: f64 = 10.0;
    /// No damping at all would leave sliders that agree at the pins undetermined.
    pub(super) const LEAST_DAMPING: f64 = 1e-9;
    /// *Ours*: poses of heads need under ten.
    const MOST_LINEARISATIONS: usize = 60;
    /// Shapes that correlate less than this undo each other. *Ours*.
    const OPPOSITE: f64 = -0.5;
    /// Gauss–Newton ends when no slider moves by this part of its range.
    const STILL: f64 = 1e-12;

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

    /// The price ρ of moved surface: small reaches the goal exactly, 1 and more follows it
    /// half-heartedly along the transpose. Default: [`DEFAULT_DAMPING`](Self::DEFAULT_DAMPING).
    #[must_use]
    pub fn with_damping(self, damping: f64) -> Self {
        Self { damping, ..self }
    }

    /// Couples the changes of mirrored sliders: `mirror[k]` is the partner of slider `k`; 0 leaves
    /// them free, 1 ties them firmly.
    #[must_use]
    pub fn with_symmetry(self, mirror: Vec<Option<usize>>, strength: f64) -> Self {
        Self {
            mirror,
            symmetry: strength,
            ..self
        }
    }

    /// Whether what the prices cost of a goal within reach is given back; see the module. Default:
    /// yes.
    #[must_use]
    pub fn with_refund(self, refund: bool) -> Self {
        Self { refund, ..self }
    }

    /// Vertices that should stay where they are.
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
        let (rig, sliders) = (system.rig(), self.mirror.len());
        if sliders != 0 && sliders != rig.targets().len() {
            return Err(RigError::OtherMirror {
                what: "pairs of sliders",
                found: sliders,
                expected: rig.targets().len(),
            });
        }
        self.mirror
            .iter()
            .flatten()
            .try_for_each(|&partner| rig.require_slider(partner))?;
        let mesh = rig.neutral();
        Ok(self
            .protected
            .iter()
            .try_for_each(|&v| mesh.require_vertex(v as usize))?)
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
            refund: true,
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
    /// The quadratic problem of a drag, at the system's weights: what a solve minimises, for the
    /// curious and for other solvers.
    ///
    /// It is the first of two where prices are refunded, and of several through in-betweens,
    /// combinations and curves.
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
        Ok(self.prepare(system)?.problem(system, displacements))
    }

    fn prepare(&self, system: &PinSystem<'_>) -> Result<Prepared, RigError> {
        self.check(system)?;
        let sliders = system.rig().sliders();
        let candidates = self.candidates(system);
        let resting = system.measure(system.weights(), &vec![DVec3::ZERO; system.pins().len()]);
        let ranges: Vec<f64> = candidates
            .iter()
            .map(|&k| sliders[k].limits.range())
            .collect();
        let mut prices = self.prices(system, &candidates, &ranges)?;
        prices.scale(&resting, &candidates);
        for [a, b] in self.ties(&candidates) {
            // What is tied to a good slider is as good as it.
            let better = prices.efficiencies[a].max(prices.efficiencies[b]);
            (prices.efficiencies[a], prices.efficiencies[b]) = (better, better);
        }
        let hessian = system
            .is_constant()
            .then(|| BoxQuadratic::new(prices.hessian(&resting, &candidates, Vec::new())))
            .transpose()?;
        let bounds = candidates.iter().map(|&k| {
            let (limits, start) = (sliders[k].limits, system.weights()[k]);
            // A slider that starts outside its limits is not pulled back by a drag elsewhere.
            [limits.min.min(start), limits.max.max(start)]
        });
        Ok(Prepared {
            sparsity: self.sparsity / per_pin(system),
            refund: self.refund,
            bounds: bounds.collect(),
            x: vec![0.0; candidates.len()],
            ranges,
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
    /// The sliders that move a pin, and those tied to them; ascending.
    fn candidates(&self, system: &PinSystem<'_>) -> Vec<usize> {
        let mut wanted = system.moving();
        if self.symmetry > 0.0 {
            let tied: Vec<usize> = (0..wanted.len())
                .filter(|&k| wanted[k])
                .filter_map(|k| self.mirror.get(k).copied().flatten())
                .collect();
            tied.into_iter().for_each(|partner| wanted[partner] = true);
        }
        let sliders = system.rig().sliders();
        (0..sliders.len())
            .filter(|&k| wanted[k] && !sliders[k].locked)
            .collect()
    }

    /// Extents `g` and their quadratic price, on the sliders in `candidates`.
    fn prices(
        &self,
        system: &PinSystem<'_>,
        candidates: &[usize],
        ranges: &[f64],
    ) -> Result<Prices, RigError> {
        let poser = system.poser();
        let gram = poser.gram();
        let reach = self.reach.unwrap_or(Self::DEFAULT_REACH * poser.size());
        let driven = DrivenShapes::of(system, candidates);
        let near = gram.over(&poser.near_pins(system, reach)?, &driven.shapes);
        let guarded: Vec<(u32, f64)> = self
            .protected
            .iter()
            .map(|&v| (v, Self::PROTECTION))
            .collect();
        let guarded = (!guarded.is_empty()).then(|| gram.over(&guarded, &driven.shapes));
        let shares = Self::NEAR_SHARE * Self::NEAR_SHARE;
        let whole = gram.whole(&driven.shapes);
        let far: Vec<f64> = whole
            .iter()
            .zip(&near)
            .map(|(all, near)| all - near)
            .collect();
        let moved: Vec<f64> = whole
            .iter()
            .zip(&far)
            .map(|(all, far)| far + shares * all)
            .collect();
        let (far, all, mut moved) = (
            driven.in_sliders(&far),
            driven.in_sliders(&whole),
            driven.in_sliders(&moved),
        );
        let n = candidates.len();
        let extent = |k: usize| {
            far[k * n + k].max(0.0).sqrt() + Self::NEAR_SHARE * all[k * n + k].max(0.0).sqrt()
        };
        let areas: Vec<f64> = (0..n).map(extent).collect();
        let widest = areas
            .iter()
            .zip(ranges)
            .map(|(a, r)| a * r)
            .fold(0.0, f64::max);
        // Pins on vertices without area: any extent serves.
        let share = |r: &f64| {
            if widest > 0.0 {
                Self::WIDEST_SHARE * widest / r
            } else {
                1.0
            }
        };
        let extents: Vec<f64> = areas
            .iter()
            .zip(ranges)
            .map(|(a, r)| a + share(r))
            .collect();
        (0..n).for_each(|k| moved[k * n + k] += share(&ranges[k]) * share(&ranges[k]));
        if let Some(guarded) = guarded {
            moved
                .iter_mut()
                .zip(driven.in_sliders(&guarded))
                .for_each(|(sum, g)| *sum += g);
        }
        for row in 0..n {
            for column in 0..n {
                moved[row * n + column] /= extents[row] * extents[column];
            }
            moved[row * n + row] += Self::IDENTITY_SHARE;
        }
        self.couple(
            candidates,
            &extents,
            self.damping / per_pin(system),
            &mut moved,
        );
        let alike = |i: usize, j: usize| all[i * n + j] / (all[i * n + i] * all[j * n + j]).sqrt();
        let pairs = (0..n).flat_map(|i| (i + 1..n).map(move |j| [i, j]));
        // Written so that what moves no surface, and has no likeness, is no opposite.
        let name = |k: usize| SliderName::parse(&system.rig().targets()[candidates[k]].name);
        let sides = |i: usize, j: usize| name(i).is_sided() && name(i).mirrored() == name(j);
        let opposites = pairs
            .filter(|&[i, j]| alike(i, j) < Self::OPPOSITE && sides(i, j))
            .collect();
        Ok(Prices {
            opposites,
            efficiencies: vec![1.0; n],
            extents,
            moved,
            gain: 1.0,
            damping: self.damping / per_pin(system),
        })
    }

    /// Places of candidates that are tied to each other, each pair once.
    fn ties(&self, candidates: &[usize]) -> Vec<[usize; 2]> {
        if self.symmetry == 0.0 {
            return Vec::new();
        }
        let tie = |(row, &slider): (usize, &usize)| {
            let partner = self.mirror.get(slider).copied().flatten()?;
            let column = candidates
                .binary_search(&partner)
                .ok()
                .filter(|&column| column > row)?;
            Some([row, column])
        };
        candidates.iter().enumerate().filter_map(tie).collect()
    }

    /// `½ σ gᵢgⱼ (Δᵢ − Δⱼ)²` for mirrored sliders `i` and `j`.
    fn couple(&self, candidates: &[usize], extents: &[f64], damping: f64, moved: &mut [f64]) {
        let n = candidates.len();
        // `moved` is multiplied by the damping, the tie is not to be.
        let strength = Self::COUPLING * self.symmetry / damping.max(Self::LEAST_DAMPING);
        for [row, column] in self.ties(candidates) {
            let (a, b) = (extents[row], extents[column]);
            moved[row * n + row] += strength * b / a;
            moved[column * n + column] += strength * a / b;
            moved[row * n + column] -= strength;
            moved[column * n + row] -= strength;
        }
    }
}

/// The root of the number of pins that pull.
fn per_pin(system: &PinSystem<'_>) -> f64 {
    (system
        .pins()
        .iter()
        .filter(|pin| pin.stiffness > 0.0)
        .count()
        .max(1) as f64)
        .sqrt()
}
