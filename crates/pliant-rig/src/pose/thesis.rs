//! Direct manipulation as the thesis has it: five ways from displacements of pins to weights.
//!
//! **Problem.** Find weights whose pose has the pins where they were dragged.
//!
//! **Equation.** With the rows `B̄` at the pins and their displacements `m` (section 3.2.3; `B` in
//! chapter 4):
//!
//! ```text
//! pinv       Δw = B̄⁺ m                                               (4.2)
//! tikhonov   Δw = (B̄ᵀB̄ + αI)⁻¹ B̄ᵀ m                                  (3.3–3.5, 4.3)
//! localized  as tikhonov, with each triplet |bᵢᵏ| < r_act set to zero  (3.6)
//! transpose  Δw = B̄ᵀ m                                               (4.5)
//! hybrid     Δw = (γ B̄⁺ + (1 − γ) B̄ᵀ) m                              (4.7)
//! ```
//!
//! Eq. 4.3 has `αw₀` on its right and `m` measured from the neutral, which is the same as the
//! change `Δw` from `w₀` with `m` measured from the current pose.
//!
//! **Source.** Çetinaslan, "Position Manipulation Techniques for Facial Animation", thesis, 2016,
//! chapters 3 and 4 and appendix C; it builds on Lewis and Anjyo 2010.
//!
//! **Ours.** The formulas of the thesis depend on the scene's unit: α and γ have one, eq. 4.5 turns
//! lengths squared into weights, and eq. 3.6 compares a displacement with a radius.
//! [`Units::Scene`] keeps all that. [`Units::Relative`], the default, measures α in units of the
//! largest eigenvalue of `B̄ᵀB̄`, γ as σmin / σmax, takes the step along `B̄ᵀm` that comes nearest to
//! the goal (`s = |g|² / |B̄g|²` with `g = B̄ᵀm`), and the radii relative to the size of the neutral
//! ([`Poser::size`](super::Poser::size)): then scaling the scene changes no weight. The text's
//! `r_min` and `r_max` matter only through their mean `r_act`.

use pliant_linalg::{DenseMatrix, LinalgError, Svd};
use pliant_mesh::glam::DVec3;

use super::system::{Measured, PinSystem};
use super::{Factored, Near, Outcome, PoseSolver};
use crate::RigError;

/// How parameters that have a unit are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Units {
    /// Relative to the rig, so that scaling the scene changes no weight.
    #[default]
    Relative,
    /// In the scene's own unit, as the thesis has them: scaling the scene changes the weights.
    Scene,
}

/// The pseudo-inverse, eq. 4.2.
#[derive(Debug, Clone, Copy, Default)]
pub struct PseudoInverse;

/// Least squares with a price on weights, eq. 3.5.
#[derive(Debug, Clone, Copy)]
pub struct Tikhonov {
    /// The price α ≥ 0 on squared weights. Default: [`Tikhonov::DEFAULT_ALPHA`].
    pub alpha: f64,
    /// The unit of α.
    pub units: Units,
}

/// Tikhonov without the targets that hardly move a pin, eq. 3.6.
#[derive(Debug, Clone, Copy, Default)]
pub struct Localized {
    /// The solve that follows.
    pub tikhonov: Tikhonov,
    /// The outer radius `r_max` in the asset's units; the inner one is a fifth of it. `None`:
    /// [`Localized::RELATIVE_RADIUS`] of the rig's size, or [`Localized::SCENE_RADIUS`] in
    /// scene units.
    pub outer_radius: Option<f64>,
}

/// The transpose, eq. 4.5.
#[derive(Debug, Clone, Copy, Default)]
pub struct Transpose {
    /// Whether the step along the transpose fits the scene (relative) or is one (scene).
    pub units: Units,
}

/// Between the pseudo-inverse and the transpose, eq. 4.7.
#[derive(Debug, Clone, Copy, Default)]
pub struct Hybrid {
    /// The share γ of the pseudo-inverse; `None` takes it from the smallest singular value.
    pub gamma: Option<f64>,
    /// The unit of an automatic γ and of the transpose.
    pub units: Units,
}

impl Tikhonov {
    /// *Paper*: section 3.3.1.
    pub const DEFAULT_ALPHA: f64 = 1e-4;
}

impl Default for Tikhonov {
    fn default() -> Self {
        Self {
            alpha: Self::DEFAULT_ALPHA,
            units: Units::Relative,
        }
    }
}

impl Localized {
    /// Outer radius in parts of the rig's size. *Ours*: 0.12 cm on a head, so that targets that
    /// move a pin by more than 0.07 cm count.
    pub const RELATIVE_RADIUS: f64 = 0.005;
    /// *Paper*: `r_max` of figure 3.4 and table 3.1, in units of its scenes.
    pub const SCENE_RADIUS: f64 = 0.5;
    /// *Paper*: `r_min : r_max` = 0.1 : 0.5.
    pub const INNER_PART: f64 = 0.2;

    /// `r_act`, the mean of the inner and the outer radius.
    #[must_use]
    pub fn active_radius(&self, size: f64) -> f64 {
        let fallback = match self.tikhonov.units {
            Units::Relative => Self::RELATIVE_RADIUS * size,
            Units::Scene => Self::SCENE_RADIUS,
        };
        let outer = self.outer_radius.unwrap_or(fallback);
        0.5 * (outer + Self::INNER_PART * outer)
    }
}

/// A change of weights that is linear in the displacements, or a multiple of such.
#[derive(Debug)]
struct Linear {
    measured: Measured,
    /// Sliders × rows; applied to the displacements as they are.
    map: Option<DenseMatrix<f64>>,
    /// Share of the transpose, and whether its step fits the scene.
    transpose: Option<(f64, Units)>,
}

impl Factored for Linear {
    fn solve(
        &mut self,
        system: &PinSystem<'_>,
        displacements: &[DVec3],
        _: Option<Near<'_>>,
        weights: &mut [f64],
    ) -> Outcome {
        let wanted = system.missing(system.weights(), displacements);
        weights.copy_from_slice(system.weights());
        if let Some(map) = &self.map {
            for (slider, weight) in weights.iter_mut().enumerate() {
                *weight += (0..wanted.len())
                    .map(|row| map[(slider, row)] * wanted[row])
                    .sum::<f64>();
            }
        }
        if let Some((share, units)) = self.transpose {
            let along = transposed(&self.measured, &wanted, units);
            weights
                .iter_mut()
                .zip(along)
                .for_each(|(weight, change)| *weight += share * change);
        }
        Outcome {
            kkt: None,
            iterations: 1,
            held: Vec::new(),
        }
    }
}

/// `s B̄ᵀ m` with `s = 1`, or with the step to the point of that line that is nearest to the goal.
fn transposed(measured: &Measured, wanted: &[f64], units: Units) -> Vec<f64> {
    let along: Vec<f64> = (0..measured.slider_count())
        .map(|k| {
            measured
                .column(k)
                .iter()
                .zip(wanted)
                .map(|(b, m)| b * m)
                .sum()
        })
        .collect();
    if units == Units::Scene {
        return along;
    }
    let mut reached = vec![0.0; wanted.len()];
    for (k, &g) in along.iter().enumerate() {
        reached
            .iter_mut()
            .zip(measured.column(k))
            .for_each(|(r, b)| *r += b * g);
    }
    let (above, below) = (
        along.iter().map(|g| g * g).sum::<f64>(),
        reached.iter().map(|r| r * r).sum::<f64>(),
    );
    let step = if below > 0.0 { above / below } else { 0.0 };
    along.iter().map(|g| g * step).collect()
}

/// `(B̄ᵀB̄ + αI)⁻¹B̄ᵀ = V Σ / (Σ² + α) Uᵀ`, and the pseudo-inverse where α is 0.
///
/// Sliders that move no pin are left out and get zeros, not what rounding leaves of them.
fn damped_inverse(
    measured: &Measured,
    alpha: f64,
    units: Units,
) -> Result<DenseMatrix<f64>, LinalgError> {
    let (lively, svd) = decompose(measured)?;
    let largest = svd.values.first().copied().unwrap_or(0.0);
    let alpha = if units == Units::Relative {
        alpha * largest * largest
    } else {
        alpha
    };
    let inverse = if alpha == 0.0 {
        svd.pseudo_inverse(Svd::default_tolerance(measured.rows(), lively.len()))
    } else {
        let damped = DenseMatrix::from_fn(lively.len(), svd.values.len(), |row, k| {
            let value = svd.values[k];
            svd.v[(row, k)] * value / (value * value + alpha)
        });
        &damped * svd.u.transpose()
    };
    let mut map = DenseMatrix::zeros(measured.slider_count(), measured.rows());
    for (row, &slider) in lively.iter().enumerate() {
        (0..measured.rows()).for_each(|column| map[(slider, column)] = inverse[(row, column)]);
    }
    Ok(map)
}

/// The sliders that move a pin, and the decomposition of their columns.
fn decompose(measured: &Measured) -> Result<(Vec<usize>, Svd), LinalgError> {
    let lively: Vec<usize> = (0..measured.slider_count())
        .filter(|&k| measured.column(k).iter().any(|b| *b != 0.0))
        .collect();
    let matrix = DenseMatrix::from_fn(measured.rows(), lively.len(), |row, k| {
        measured.column(lively[k])[row]
    });
    let svd = Svd::of(matrix.as_ref())?;
    Ok((lively, svd))
}

fn linear(system: &PinSystem<'_>) -> Measured {
    let mut measured = system.measure(system.weights(), &vec![DVec3::ZERO; system.pins().len()]);
    let rows = measured.rows();
    for (slider, _) in system
        .rig()
        .sliders()
        .iter()
        .enumerate()
        .filter(|(_, s)| s.locked)
    {
        measured.columns[slider * rows..][..rows].fill(0.0);
    }
    measured
}

fn factored(
    measured: Measured,
    map: Option<DenseMatrix<f64>>,
    transpose: Option<(f64, Units)>,
) -> Box<dyn Factored> {
    Box::new(Linear {
        measured,
        map,
        transpose,
    })
}

impl PoseSolver for PseudoInverse {
    fn name(&self) -> &'static str {
        "pinv"
    }

    fn factor(&self, system: &PinSystem<'_>) -> Result<Box<dyn Factored>, RigError> {
        let measured = linear(system);
        let map = damped_inverse(&measured, 0.0, Units::Scene)?;
        Ok(factored(measured, Some(map), None))
    }
}

impl PoseSolver for Tikhonov {
    fn name(&self) -> &'static str {
        "tikhonov"
    }

    fn factor(&self, system: &PinSystem<'_>) -> Result<Box<dyn Factored>, RigError> {
        require_from_zero("alpha", self.alpha)?;
        let measured = linear(system);
        let map = damped_inverse(&measured, self.alpha, self.units)?;
        Ok(factored(measured, Some(map), None))
    }
}

impl PoseSolver for Localized {
    fn name(&self) -> &'static str {
        "localized"
    }

    fn factor(&self, system: &PinSystem<'_>) -> Result<Box<dyn Factored>, RigError> {
        require_from_zero("alpha", self.tikhonov.alpha)?;
        let radius = self.active_radius(system.poser().size());
        require_from_zero("the radius", radius)?;
        let mut measured = linear(system);
        let pins = system.pins().len();
        for slider in 0..measured.slider_count() {
            // The displacement itself counts, not what of it a pin's aim and stiffness leave.
            for (pin, _) in system
                .pulls(slider)
                .iter()
                .enumerate()
                .filter(|(_, pull)| pull.length() < radius)
            {
                measured.columns[3 * (slider * pins + pin)..][..3].fill(0.0);
            }
        }
        let map = damped_inverse(&measured, self.tikhonov.alpha, self.tikhonov.units)?;
        Ok(factored(measured, Some(map), None))
    }
}

impl PoseSolver for Transpose {
    fn name(&self) -> &'static str {
        "transpose"
    }

    fn factor(&self, system: &PinSystem<'_>) -> Result<Box<dyn Factored>, RigError> {
        Ok(factored(linear(system), None, Some((1.0, self.units))))
    }
}

impl PoseSolver for Hybrid {
    fn name(&self) -> &'static str {
        "hybrid"
    }

    fn factor(&self, system: &PinSystem<'_>) -> Result<Box<dyn Factored>, RigError> {
        let measured = linear(system);
        let gamma = match self.gamma {
            Some(gamma) => gamma,
            None => automatic_gamma(&measured, self.units)?,
        };
        if !(0.0..=1.0).contains(&gamma) {
            return Err(RigError::BadOption {
                what: "gamma",
                value: gamma,
                needed: "from 0 to 1",
            });
        }
        let inverse = damped_inverse(&measured, 0.0, Units::Scene)?;
        let map = DenseMatrix::from_fn(inverse.nrows(), inverse.ncols(), |row, column| {
            gamma * inverse[(row, column)]
        });
        Ok(factored(
            measured,
            Some(map),
            Some((1.0 - gamma, self.units)),
        ))
    }
}

/// The smallest singular value of `B̄`: by itself, at most one (the thesis), or over the largest.
fn automatic_gamma(measured: &Measured, units: Units) -> Result<f64, LinalgError> {
    let (lively, svd) = decompose(measured)?;
    let (Some(&largest), Some(&last)) = (svd.values.first(), svd.values.last()) else {
        return Ok(0.0);
    };
    // Columns of zeros count as sliders of the rig: with fewer lively ones than rows, the smallest
    // value is theirs.
    let smallest = if lively.len() < measured.rows().min(measured.slider_count()) {
        0.0
    } else {
        last
    };
    Ok(match units {
        Units::Scene => smallest.min(1.0),
        Units::Relative if largest > 0.0 => smallest / largest,
        Units::Relative => 0.0,
    })
}

fn require_from_zero(what: &'static str, value: f64) -> Result<(), RigError> {
    if value >= 0.0 && value.is_finite() {
        Ok(())
    } else {
        Err(RigError::BadOption {
            what,
            value,
            needed: "a number from 0 up",
        })
    }
}

/// How far weights are from those that were wanted: `√(Σ |wᵢ − w̄ᵢ|² / N)`, eq. 4.8.
///
/// # Panics
/// If the two differ in length.
#[must_use]
pub fn weight_error(weights: &[f64], wanted: &[f64]) -> f64 {
    assert_eq!(
        weights.len(),
        wanted.len(),
        "one wanted weight for each weight"
    );
    let sum: f64 = weights
        .iter()
        .zip(wanted)
        .map(|(w, v)| (w - v) * (w - v))
        .sum();
    (sum / weights.len().max(1) as f64).sqrt()
}
