//! Driver: evaluates a trained model at positions of the control points.

use std::sync::Arc;

use pliant_mesh::glam::DVec3;

use super::confidence::{Calibration, Confidence};
use super::trained_model::Model;
use crate::methods::{Poisson, Predictor, ResidualCorrection};
use crate::{DetailLayer, DetailWeights, LearnError};

/// A model with a factored system, ready for many poses. It shares the model's data, and may outlive
/// the model that made it.
#[derive(Debug, Clone)]
pub struct Driver {
    model: Model,
    predictor: Arc<dyn Predictor>,
    poisson: Arc<Poisson>,
    correction: Option<Arc<ResidualCorrection>>,
}

/// A pose of a driven model.
#[derive(Debug, Clone, PartialEq)]
pub struct DrivenPose {
    /// The position of each vertex.
    pub positions: Vec<DVec3>,
    /// The smooth base, if the control points are vertices of the base and the pose has detail.
    pub base: Option<Vec<DVec3>>,
}

/// A pose of the base with what the detail layer needs.
struct DetailInput<'a> {
    layer: &'a DetailLayer,
    /// Goals of the control points on the base.
    goals: Vec<DVec3>,
    base: Vec<DVec3>,
}

impl Driver {
    pub(super) fn new(model: Model, predictor: Arc<dyn Predictor>, poisson: Arc<Poisson>) -> Self {
        let exact = model.options.exact();
        let driver = Self {
            model,
            predictor,
            poisson,
            correction: None,
        };
        if exact {
            driver.with_exact_examples()
        } else {
            driver
        }
    }

    /// The same driver, for which the control points of an example give exactly that example. Costs
    /// one pose per example, once.
    #[must_use]
    pub fn with_exact_examples(self) -> Self {
        let model = &self.model;
        let compute = || {
            let examples = model.data.all_examples();
            Arc::new(ResidualCorrection::new(
                &model.data,
                &*self.predictor,
                &self.poisson,
                &examples,
            ))
        };

        // The model keeps the correction for its own constraint only.
        let as_trained = Arc::ptr_eq(&self.poisson, &model.poisson);
        let correction = if as_trained {
            model.cached.correction.get_or_init(compute).clone()
        } else {
            compute()
        };

        Self {
            correction: Some(correction),
            ..self
        }
    }

    /// The expected error of the pose for these positions; `None` for methods other than
    /// [`Method::Auto`](crate::Method::Auto), which have no predictive variance.
    ///
    /// # Errors
    /// As [`pose`](Self::pose).
    pub fn confidence(&self, control: &[DVec3]) -> Result<Option<Confidence>, LearnError> {
        self.check(control)?;
        let model = &self.model;
        let predictor = &*model.predictor;
        let calibration = model
            .cached
            .calibration
            .get_or_init(|| Calibration::of(&model.data, predictor, &model.poisson));

        Ok(match calibration {
            Some(calibration) => calibration.at(&model.data, predictor, control),
            None => None,
        })
    }

    /// The pose for positions of the control points, in their order.
    ///
    /// # Errors
    /// A number of positions that is not the number of control points, or a position that is not
    /// finite.
    pub fn pose(&self, control: &[DVec3]) -> Result<Vec<DVec3>, LearnError> {
        self.check(control)?;
        Ok(self.pose_unchecked(control))
    }

    fn check(&self, control: &[DVec3]) -> Result<(), LearnError> {
        let expected = self.model.data.control.count();
        if control.len() != expected {
            return Err(LearnError::ControlCount {
                found: control.len(),
                expected,
            });
        }

        match control.iter().position(|p| !p.is_finite()) {
            Some(point) => Err(LearnError::ControlNotFinite { point }),
            None => Ok(()),
        }
    }

    pub(super) fn pose_unchecked(&self, control: &[DVec3]) -> Vec<DVec3> {
        let data = &self.model.data;
        let mut positions = self.predictor.pose(data, &self.poisson, control);
        if let Some(correction) = &self.correction {
            correction.add(data, control, &mut positions);
        }
        positions
    }

    /// The pose with its detail, by vertex of [`Model::detailed_mesh`].
    ///
    /// The control points are vertices of the base, or of the detailed surface if the base was made
    /// from it by smoothing. In the second case, the base is solved twice: the second time, the
    /// heights of the control points are subtracted from their goals.
    ///
    /// # Errors
    /// As [`pose`](Self::pose); [`LearnError::NoDetail`] without a detail layer.
    pub fn detailed_pose(&self, control: &[DVec3]) -> Result<Vec<DVec3>, LearnError> {
        let DetailInput { layer, goals, base } = self.detail_input(control)?;
        Ok(layer.pose(&self.model.data, &goals, &base))
    }

    /// The pose, with detail if asked for, and the surface that its control points belong to.
    ///
    /// # Errors
    /// As [`pose`](Self::pose) or [`detailed_pose`](Self::detailed_pose).
    pub fn driven_pose(
        &self,
        control: &[DVec3],
        with_detail: bool,
    ) -> Result<DrivenPose, LearnError> {
        if !with_detail {
            return Ok(DrivenPose {
                positions: self.pose(control)?,
                base: None,
            });
        }

        let DetailInput { layer, goals, base } = self.detail_input(control)?;
        let positions = layer.pose(&self.model.data, &goals, &base);
        // If the base was made by smoothing, the control points that a user sees are vertices of
        // the detailed surface.
        let base = (!layer.controls_detailed_surface()).then_some(base);
        Ok(DrivenPose { positions, base })
    }

    /// The heights of the detail alone, by vertex of [`Model::detailed_mesh`], as in a displacement
    /// map.
    ///
    /// # Errors
    /// As [`detailed_pose`](Self::detailed_pose).
    pub fn heights(&self, control: &[DVec3]) -> Result<Vec<f32>, LearnError> {
        let DetailInput { layer, goals, base } = self.detail_input(control)?;
        Ok(layer.heights(&self.model.data, &goals, &base))
    }

    /// The weight of each example's heights, and the base. For frame loops that reuse their
    /// buffers, with [`DetailLayer::sum_heights`] and [`DetailLayer::displace`].
    ///
    /// # Errors
    /// As [`detailed_pose`](Self::detailed_pose).
    pub fn detail_weights(
        &self,
        control: &[DVec3],
    ) -> Result<(DetailWeights, Vec<DVec3>), LearnError> {
        let DetailInput { layer, goals, base } = self.detail_input(control)?;
        Ok((layer.weights(&self.model.data, &goals, &base), base))
    }

    fn detail_input(&self, control: &[DVec3]) -> Result<DetailInput<'_>, LearnError> {
        let layer = self.model.detail.as_ref().ok_or(LearnError::NoDetail)?;
        let base = self.pose(control)?;
        if !layer.controls_detailed_surface() {
            let goals = control.to_vec();
            return Ok(DetailInput { layer, goals, base });
        }

        let goals = layer.base_goals(&self.model.data, control, &base);
        let base = self.pose(&goals)?;
        Ok(DetailInput { layer, goals, base })
    }
}
