//! Direct manipulation of Çetinaslan 2016: pseudo-inverse, Tikhonov, localized, transpose, hybrid.
//!
//! **Problem.** Find weights whose pose has the pins at their goals.
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
//! Eq. 4.3 has `αw₀` on its right side and measures `m` from the neutral. This is the same as the
//! change `Δw` from `w₀` with `m` measured from the current pose.
//!
//! **Source.** Çetinaslan, "Position Manipulation Techniques for Facial Animation", thesis, 2016,
//! chapters 3 and 4 and appendix C; it builds on Lewis and Anjyo 2010.
//!
//! **Departures.** The formulas of the thesis depend on the unit of the scene: α and γ have a unit,
//! eq. 4.5 gives weights as squared lengths, and eq. 3.6 compares a displacement with a radius.
//! [`Units::Scene`] keeps this. [`Units::Relative`], the default, makes the weights independent of
//! the scale of the scene:
//!
//! - α is relative to the largest eigenvalue of `B̄ᵀB̄`, and γ is σmin / σmax.
//! - The transpose takes the step along `B̄ᵀm` that comes nearest to the goal (`s = |g|² / |B̄g|²`
//!   with `g = B̄ᵀm`).
//! - The radii are relative to the size of the neutral ([`Poser::size`](super::Poser::size)).
//!
//! The radii `r_min` and `r_max` of the thesis matter only through their mean `r_act`.
//!
//! The thesis has pins in space only. A pin that leaves coordinates free ([`Aim`](crate::Aim)) has
//! projected rows and a projected displacement; all five equations hold for them. The rows of free
//! coordinates do not count where the smallest singular value matters (hybrid).

use pliant_linalg::{DenseMatrix, LinalgError, Svd};
use pliant_mesh::glam::DVec3;

use super::pin_system::{PinSystem, ProjectedSystem};
use super::{Factored, Outcome, PoseSolver, StepLimit};
use crate::RigError;

/// The unit of parameters that depend on the scale of the scene.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Units {
    /// Relative to the rig, so that scaling the scene changes no weight.
    #[default]
    Relative,
    /// The unit of the scene, as in the thesis: scaling the scene changes the weights.
    Scene,
}

/// The pseudo-inverse, eq. 4.2.
#[derive(Debug, Clone, Copy, Default)]
pub struct PseudoInverse;

/// Least squares with Tikhonov regularisation, eq. 3.5.
#[derive(Debug, Clone, Copy)]
pub struct Tikhonov {
    /// The regularisation α ≥ 0 on squared weights. Default: [`Tikhonov::DEFAULT_ALPHA`].
    pub alpha: f64,
    /// The unit of α.
    pub units: Units,
}

/// Tikhonov regularisation without the targets that hardly move a pin, eq. 3.6.
#[derive(Debug, Clone, Copy, Default)]
pub struct Localized {
    /// The solve that follows.
    pub tikhonov: Tikhonov,
    /// The outer radius `r_max` in asset units; the inner one is a fifth of it. `None`:
    /// [`Localized::RELATIVE_RADIUS`] of the rig's size, or [`Localized::SCENE_RADIUS`] in
    /// scene units.
    pub outer_radius: Option<f64>,
}

/// The transpose, eq. 4.5.
#[derive(Debug, Clone, Copy, Default)]
pub struct Transpose {
    /// Whether the step along the transpose is optimal (relative) or 1 (scene).
    pub units: Units,
}

/// A linear blend of the pseudo-inverse and the transpose, eq. 4.7.
#[derive(Debug, Clone, Copy, Default)]
pub struct Hybrid {
    /// The weight γ of the pseudo-inverse; `None` takes it from the smallest singular value.
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
    /// Outer radius relative to the size of the rig. *Chosen*: 0.12 cm on a head, so that targets
    /// that move a pin by more than 0.07 cm count.
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

/// A change of weights that is linear in the displacements, or a multiple of it.
#[derive(Debug)]
struct LinearMap {
    projected: ProjectedSystem,
    /// Sliders × rows; applied to the displacements as they are.
    matrix: Option<DenseMatrix<f64>>,
    /// The weight of the transpose, and the unit of its step.
    transpose: Option<(f64, Units)>,
}

impl Factored for LinearMap {
    fn solve(
        &mut self,
        system: &PinSystem,
        displacements: &[DVec3],
        _: Option<StepLimit<'_>>,
        weights: &mut [f64],
    ) -> Outcome {
        // At the start the residual is the displacement itself.
        let goals = system.residual(system.weights(), displacements);
        weights.copy_from_slice(system.weights());

        if let Some(matrix) = &self.matrix {
            for (slider, weight) in weights.iter_mut().enumerate() {
                let row = (0..goals.len()).map(|row| matrix[(slider, row)] * goals[row]);
                *weight += row.sum::<f64>();
            }
        }

        if let Some((factor, units)) = self.transpose {
            let changes = transposed(&self.projected, &goals, units);
            for (weight, change) in weights.iter_mut().zip(changes) {
                *weight += factor * change;
            }
        }

        Outcome {
            kkt: None,
            iterations: 1,
            held: Vec::new(),
        }
    }
}

/// `s B̄ᵀ m` with `s = 1`, or with the step to the point of that line that is nearest to the goal.
fn transposed(projected: &ProjectedSystem, goals: &[f64], units: Units) -> Vec<f64> {
    let mut changes: Vec<f64> = (0..projected.slider_count())
        .map(|k| {
            let column = projected.column(k).iter();
            column.zip(goals).map(|(b, m)| b * m).sum()
        })
        .collect();
    if units == Units::Scene {
        return changes;
    }

    // s = |g|² / |B̄g|² with g = B̄ᵀm.
    let mut image = vec![0.0; goals.len()];
    for (k, &g) in changes.iter().enumerate() {
        for (r, b) in image.iter_mut().zip(projected.column(k)) {
            *r += b * g;
        }
    }

    let numerator = changes.iter().map(|g| g * g).sum::<f64>();
    let denominator = image.iter().map(|r| r * r).sum::<f64>();
    let step = if denominator > 0.0 {
        numerator / denominator
    } else {
        0.0
    };

    for change in &mut changes {
        *change *= step;
    }
    changes
}

/// `(B̄ᵀB̄ + αI)⁻¹B̄ᵀ = V Σ / (Σ² + α) Uᵀ`, and the pseudo-inverse where α is 0.
///
/// Sliders that move no pin are left out of the decomposition; their rows are exact zeros.
fn regularised_inverse(
    projected: &ProjectedSystem,
    alpha: f64,
    units: Units,
) -> Result<DenseMatrix<f64>, LinalgError> {
    let (moving, svd) = decompose(projected)?;
    let largest = svd.values.first().copied().unwrap_or(0.0);

    // A relative α refers to the largest eigenvalue of B̄ᵀB̄.
    let alpha = match units {
        Units::Relative => alpha * largest * largest,
        Units::Scene => alpha,
    };

    let inverse = if alpha == 0.0 {
        // Targets are in single precision, so that smaller singular values are their rounding.
        svd.pseudo_inverse(Svd::single_precision_tolerance(
            projected.rows(),
            moving.len(),
        ))
    } else {
        // Σ / (Σ² + α), the filter factors of Tikhonov regularisation.
        let damped = DenseMatrix::from_fn(moving.len(), svd.values.len(), |row, k| {
            let value = svd.values[k];
            svd.v[(row, k)] * value / (value * value + alpha)
        });
        &damped * svd.u.transpose()
    };

    // Rows of sliders that move no pin stay zero.
    let mut matrix = DenseMatrix::zeros(projected.slider_count(), projected.rows());
    for (row, &slider) in moving.iter().enumerate() {
        for column in 0..projected.rows() {
            matrix[(slider, column)] = inverse[(row, column)];
        }
    }

    Ok(matrix)
}

/// The sliders that move a pin, and the decomposition of their columns.
fn decompose(projected: &ProjectedSystem) -> Result<(Vec<usize>, Svd), LinalgError> {
    let moving: Vec<usize> = (0..projected.slider_count())
        .filter(|&k| projected.column(k).iter().any(|b| *b != 0.0))
        .collect();
    let matrix = DenseMatrix::from_fn(projected.rows(), moving.len(), |row, k| {
        projected.column(moving[k])[row]
    });

    let svd = Svd::of(matrix.as_ref())?;
    Ok((moving, svd))
}

/// The system at its start, with zero columns for locked sliders.
fn project_unlocked(system: &PinSystem) -> ProjectedSystem {
    let mut projected = system.project(system.weights(), &vec![DVec3::ZERO; system.pins().len()]);
    let rows = projected.rows();
    for (k, slider) in system.rig().sliders().iter().enumerate() {
        if slider.locked {
            projected.columns[k * rows..][..rows].fill(0.0);
        }
    }

    projected
}

fn linear_map(
    projected: ProjectedSystem,
    matrix: Option<DenseMatrix<f64>>,
    transpose: Option<(f64, Units)>,
) -> Box<dyn Factored> {
    Box::new(LinearMap {
        projected,
        matrix,
        transpose,
    })
}

impl PoseSolver for PseudoInverse {
    fn name(&self) -> &'static str {
        "pinv"
    }

    fn factor(&self, system: &PinSystem) -> Result<Box<dyn Factored>, RigError> {
        let projected = project_unlocked(system);
        let matrix = regularised_inverse(&projected, 0.0, Units::Scene)?;
        Ok(linear_map(projected, Some(matrix), None))
    }
}

impl PoseSolver for Tikhonov {
    fn name(&self) -> &'static str {
        "tikhonov"
    }

    fn factor(&self, system: &PinSystem) -> Result<Box<dyn Factored>, RigError> {
        require_from_zero("alpha", self.alpha)?;
        let projected = project_unlocked(system);
        let matrix = regularised_inverse(&projected, self.alpha, self.units)?;
        Ok(linear_map(projected, Some(matrix), None))
    }
}

impl PoseSolver for Localized {
    fn name(&self) -> &'static str {
        "localized"
    }

    fn factor(&self, system: &PinSystem) -> Result<Box<dyn Factored>, RigError> {
        require_from_zero("alpha", self.tikhonov.alpha)?;
        let radius = self.active_radius(system.poser().size());
        require_from_zero("the radius", radius)?;

        // The displacement itself counts, before the aim and the stiffness of a pin.
        let mut projected = project_unlocked(system);
        let pins = system.pins().len();
        for slider in 0..projected.slider_count() {
            for (pin, derivative) in system.pin_derivatives(slider).iter().enumerate() {
                if derivative.length() < radius {
                    projected.columns[3 * (slider * pins + pin)..][..3].fill(0.0);
                }
            }
        }

        let Tikhonov { alpha, units } = self.tikhonov;
        let matrix = regularised_inverse(&projected, alpha, units)?;
        Ok(linear_map(projected, Some(matrix), None))
    }
}

impl PoseSolver for Transpose {
    fn name(&self) -> &'static str {
        "transpose"
    }

    fn factor(&self, system: &PinSystem) -> Result<Box<dyn Factored>, RigError> {
        let projected = project_unlocked(system);
        Ok(linear_map(projected, None, Some((1.0, self.units))))
    }
}

impl PoseSolver for Hybrid {
    fn name(&self) -> &'static str {
        "hybrid"
    }

    fn factor(&self, system: &PinSystem) -> Result<Box<dyn Factored>, RigError> {
        let projected = project_unlocked(system);
        let gamma = match self.gamma {
            Some(gamma) => gamma,
            None => automatic_gamma(&projected, system.constrained_coordinates(), self.units)?,
        };
        if !(0.0..=1.0).contains(&gamma) {
            return Err(RigError::BadOption {
                what: "gamma",
                value: gamma,
                needed: "from 0 to 1",
            });
        }

        // Eq. 4.7: the pseudo-inverse with weight γ; the transpose is added in the solve.
        let inverse = regularised_inverse(&projected, 0.0, Units::Scene)?;
        let matrix = DenseMatrix::from_fn(inverse.nrows(), inverse.ncols(), |row, column| {
            gamma * inverse[(row, column)]
        });
        let transpose = (1.0 - gamma, self.units);

        Ok(linear_map(projected, Some(matrix), Some(transpose)))
    }
}

/// The smallest singular value of `B̄` on the coordinates that the pins constrain: clipped to 1 (the
/// thesis), or relative to the largest.
fn automatic_gamma(
    projected: &ProjectedSystem,
    constrained: usize,
    units: Units,
) -> Result<f64, LinalgError> {
    let (moving, svd) = decompose(projected)?;
    let full_rank = constrained.min(projected.slider_count());
    let (Some(&largest), Some(last)) = (svd.values.first(), full_rank.checked_sub(1)) else {
        return Ok(0.0);
    };

    // Sliders that move no pin are zero columns of B̄: with fewer moving sliders than coordinates,
    // the smallest singular value is zero.
    let rounding = largest * Svd::single_precision_tolerance(projected.rows(), moving.len());
    let smallest = if moving.len() < full_rank || svd.values[last] <= rounding {
        0.0
    } else {
        svd.values[last]
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

/// The root mean square error of weights: `√(Σ |wᵢ − w̄ᵢ|² / N)`, eq. 4.8.
///
/// # Panics
/// If the two differ in length.
#[must_use]
pub fn weight_error(weights: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(
        weights.len(),
        expected.len(),
        "one expected weight for each weight"
    );

    let squares = weights.iter().zip(expected).map(|(w, v)| (w - v) * (w - v));
    (squares.sum::<f64>() / weights.len().max(1) as f64).sqrt()
}
