//! The interface of all trained methods: positions for given control points.

use pliant_mesh::glam::DVec3;

use super::huang2012::AbstractBones;
use super::poisson::{ControlConstraint, Poisson};
use crate::LearnError;
use crate::training::TrainingData;

/// A trained method.
pub(crate) trait Predictor: Send + Sync + std::fmt::Debug {
    /// Positions of all vertices for positions of the control points.
    fn pose(&self, data: &TrainingData, poisson: &Poisson, control: &[DVec3]) -> Vec<DVec3>;

    /// The same method with another constraint on the control points; `None` if the constraint
    /// concerns the Poisson system only.
    fn with_constraint(
        &self,
        _data: &TrainingData,
        _constraint: ControlConstraint,
    ) -> Result<Option<Box<dyn Predictor>>, LearnError> {
        Ok(None)
    }

    /// The abstract bones, if the method has any.
    fn bones(&self) -> Option<&AbstractBones> {
        None
    }

    /// The predictive variance of each region, relative to the variance of the examples; `None` if
    /// the method has no variance.
    fn variances(&self, _data: &TrainingData, _control: &[DVec3]) -> Option<Vec<f64>> {
        None
    }

    /// The same method with the same settings, trained without one example; `None` if the method
    /// has no variance.
    fn without(&self, _example: usize) -> Option<Box<dyn Predictor>> {
        None
    }
}
