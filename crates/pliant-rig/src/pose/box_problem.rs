//! The quadratic problem behind a drag.

/// `min ½ ΔᵀHΔ − fᵀΔ + Σ cₖ |Δₖ|` within `l ≤ Δ ≤ u`, over the changes `Δ` of some sliders'
/// weights.
#[derive(Debug, Clone, PartialEq)]
pub struct BoxProblem {
    /// The sliders, ascending: those that are not locked and move a pin.
    pub sliders: Vec<usize>,
    /// The positive definite matrix `H`, row by row.
    pub hessian: Vec<f64>,
    /// The linear part `f`.
    pub linear: Vec<f64>,
    /// The prices `c`.
    pub prices: Vec<f64>,
    /// The most negative changes `l`.
    pub lower: Vec<f64>,
    /// The largest changes `u`.
    pub upper: Vec<f64>,
}
