//! A [`BoxTerms`] that owns its numbers.

use pliant_linalg::BoxTerms;

/// Everything of one problem inside limits beside its matrix.
pub(crate) struct Terms {
    pub(crate) linear: Vec<f64>,
    pub(crate) prices: Vec<f64>,
    pub(crate) lower: Vec<f64>,
    pub(crate) upper: Vec<f64>,
}

impl Terms {
    pub(crate) fn borrow(&self) -> BoxTerms<'_> {
        BoxTerms {
            linear: &self.linear,
            prices: &self.prices,
            lower: &self.lower,
            upper: &self.upper,
        }
    }
}
