//! The box-constrained quadratic problem of a drag.

/// `min ½ ΔᵀHΔ − fᵀΔ + Σ cₖ |Δₖ|` subject to `l ≤ Δ ≤ u`, over the changes `Δ` of slider weights.
#[derive(Debug, Clone, PartialEq)]
pub struct BoxProblem {
    /// The sliders, ascending: those that are not locked and move a pin.
    pub sliders: Vec<usize>,
    /// The positive definite matrix `H`, row by row.
    pub hessian: Vec<f64>,
    /// The linear part `f`.
    pub linear: Vec<f64>,
    /// The penalties `c` on absolute changes.
    pub penalties: Vec<f64>,
    /// The lower bounds `l` of the changes.
    pub lower: Vec<f64>,
    /// The upper bounds `u` of the changes.
    pub upper: Vec<f64>,
}
