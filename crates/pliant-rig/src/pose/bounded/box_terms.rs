//! Linear part, penalties and bounds of a box-constrained problem, owned.

use pliant_linalg::BoxTerms;

/// All of a box-constrained quadratic problem but its matrix; [`BoxTerms`] borrows it.
pub(crate) struct OwnedBoxTerms {
    pub(crate) linear: Vec<f64>,
    pub(crate) penalties: Vec<f64>,
    pub(crate) lower: Vec<f64>,
    pub(crate) upper: Vec<f64>,
}

impl OwnedBoxTerms {
    pub(crate) fn borrow(&self) -> BoxTerms<'_> {
        BoxTerms {
            linear: &self.linear,
            penalties: &self.penalties,
            lower: &self.lower,
            upper: &self.upper,
        }
    }
}
