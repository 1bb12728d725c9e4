//! Trained model: the result of training, and its distance from new control points.

use std::sync::{Arc, OnceLock};

use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, Progress, ProgressPart, VertexId};
use pliant_rig::Skin;
use serde::{Deserialize, Serialize};

use super::confidence::Calibration;
use super::driver::Driver;
use crate::control::{ControlDistances, shape_distance, spread};
use crate::detail::Details;
use crate::methods::{
    AbstractBones, BonePredictor, Poisson, Predictor, ResidualCorrection, Trained, Trainer,
    TrainingMonitor,
};
use crate::training::TrainingData;
use crate::{
    ControlConstraint, ControlPoints, DetailLayer, DetailOptions, DetailedExamples, Examples,
    LearnError, LearnOptions, LocalSettings, TrainingLog,
};

/// The name of the work in progress reports.
const STAGE: &str = "learning";

/// Begin and end of the selection as parts of a training: it takes most of the time.
const SELECTION: (f64, f64) = (0.3, 0.9);

/// A method trained on examples. Clones share what is large.
#[derive(Debug, Clone)]
pub struct Model {
    pub(super) data: Arc<TrainingData>,
    pub(super) options: LearnOptions,
    pub(super) predictor: Arc<dyn Predictor>,
    pub(super) chosen: Option<LocalSettings>,
    pub(super) poisson: Arc<Poisson>,
    pub(super) detail: Option<Arc<DetailLayer>>,
    pub(super) cached: Arc<Cached>,
}

/// What is computed at its first use, once for all clones of a model.
#[derive(Debug, Default)]
pub(super) struct Cached {
    pub(super) correction: OnceLock<Arc<ResidualCorrection>>,
    pub(super) calibration: OnceLock<Option<Calibration>>,
    spread: OnceLock<f64>,
}

/// A control point that a pose does not reach.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct UnreachedControlPoint {
    /// Its index in the list of control points, counted from 0.
    pub point: usize,
    /// Its vertex.
    pub vertex: VertexId,
    /// The distance from its goal, over the longest side of the reference pose.
    pub error: f64,
}

impl Model {
    /// Trains on all `examples`. [`Method::Auto`](crate::Method::Auto) chooses its hyper-parameters
    /// by leave-one-out validation.
    ///
    /// # Errors
    /// Options out of range, a system that cannot be solved, or [`LearnError::Stopped`].
    pub fn train(
        examples: Examples,
        control: ControlPoints,
        options: &LearnOptions,
        progress: &dyn Progress,
    ) -> Result<Self, LearnError> {
        let mut log = TrainingLog::new(&examples, &control, options);
        Self::train_logged(examples, control, options, &mut log, progress)
    }

    /// As [`train`](Self::train), with a log: results in `log` are used, new ones are added, so
    /// that a cancelled training can resume.
    ///
    /// # Errors
    /// As [`train`](Self::train).
    pub fn train_logged(
        examples: Examples,
        control: ControlPoints,
        options: &LearnOptions,
        log: &mut TrainingLog,
        progress: &dyn Progress,
    ) -> Result<Self, LearnError> {
        progress.proceed(STAGE, 0.0)?;
        let preparing = ProgressPart {
            whole: progress,
            begin: 0.0,
            size: SELECTION.0,
        };
        let trainer = Trainer::new(examples, control, options, None, &preparing)?;
        let all_examples = trainer.data.all_examples();

        let mut monitor = TrainingMonitor {
            log,
            progress,
            stage: STAGE,
            span: SELECTION,
        };
        let Trained { predictor, chosen } = trainer.train(&all_examples, &mut monitor)?;
        progress.proceed(STAGE, 1.0)?;
        Ok(Self::of(trainer, predictor, chosen))
    }

    /// As [`train`](Self::train), with given hyper-parameters of
    /// [`Method::Auto`](crate::Method::Auto).
    ///
    /// # Errors
    /// As [`train`](Self::train).
    pub fn train_with(
        examples: Examples,
        control: ControlPoints,
        options: &LearnOptions,
        settings: &LocalSettings,
    ) -> Result<Self, LearnError> {
        settings.check()?;
        let trainer = Trainer::new(examples, control, options, Some(settings), &())?;
        let all_examples = trainer.data.all_examples();
        let predictor = trainer.train_chosen(&all_examples, settings)?;
        Ok(Self::of(trainer, predictor, Some(*settings)))
    }

    /// As [`train`](Self::train) for a method on abstract bones, with given bones.
    pub(crate) fn train_on_bones(
        examples: Examples,
        control: ControlPoints,
        options: &LearnOptions,
        bones: AbstractBones,
    ) -> Result<Self, LearnError> {
        let trainer = Trainer::new(examples, control, options, None, &())?;
        let data = &trainer.data;
        let all_examples = data.all_examples();
        let distances = ControlDistances::of(data.examples.reference(), &data.control, &())?;
        let predictor = BonePredictor::train(data, &distances, &all_examples, bones, options)?;
        Ok(Self::of(trainer, Box::new(predictor), None))
    }

    /// As [`train`](Self::train) on the smooth base, with a detail layer on it.
    ///
    /// # Errors
    /// As [`train`](Self::train), and settings of the detail out of range.
    pub fn train_detailed(
        detailed: DetailedExamples,
        control: ControlPoints,
        options: &LearnOptions,
        detail: &DetailOptions,
        progress: &dyn Progress,
    ) -> Result<Self, LearnError> {
        let (base, details) = detailed.into_parts();
        Self::train(base, control, options, progress)?.with_details(details, detail)
    }

    /// The same model with another detail layer; the base must be that of the model.
    ///
    /// # Errors
    /// Detail of another base, or settings out of range.
    pub fn with_detail(
        self,
        detailed: DetailedExamples,
        options: &DetailOptions,
    ) -> Result<Self, LearnError> {
        let (base, details) = detailed.into_parts();
        if base.count() != self.examples().count()
            || !base.reference().same_surface(self.examples().reference())
        {
            return Err(LearnError::OtherBase);
        }
        self.with_details(details, options)
    }

    /// The same model with a detail layer.
    pub(crate) fn with_details(
        mut self,
        details: Details,
        options: &DetailOptions,
    ) -> Result<Self, LearnError> {
        self.detail = Some(Arc::new(DetailLayer::train(&self.data, details, options)?));
        Ok(self)
    }

    fn of(trainer: Trainer, predictor: Box<dyn Predictor>, chosen: Option<LocalSettings>) -> Self {
        Self {
            data: Arc::new(trainer.data),
            options: trainer.options,
            predictor: Arc::from(predictor),
            chosen,
            poisson: Arc::new(trainer.poisson),
            detail: None,
            cached: Arc::default(),
        }
    }

    /// The examples of the training.
    #[must_use]
    pub fn examples(&self) -> &Examples {
        &self.data.examples
    }

    /// The control points.
    #[must_use]
    pub fn control(&self) -> &ControlPoints {
        &self.data.control
    }

    /// The options of the training.
    #[must_use]
    pub fn options(&self) -> &LearnOptions {
        &self.options
    }

    /// The hyper-parameters that [`Method::Auto`](crate::Method::Auto) chose; `None` for the other
    /// methods.
    #[must_use]
    pub fn chosen(&self) -> Option<LocalSettings> {
        self.chosen
    }

    /// Number of abstract bones, or of regions for a method without bones.
    #[must_use]
    pub fn bone_count(&self) -> usize {
        match self.bones() {
            Some(bones) => bones.skin.bone_count(),
            None => self.data.regions.count(),
        }
    }

    /// Skinning weights of the abstract bones, for a method that has them.
    #[must_use]
    pub fn skin(&self) -> Option<&Skin> {
        self.bones().map(|bones| &bones.skin)
    }

    pub(crate) fn bones(&self) -> Option<&AbstractBones> {
        self.predictor.bones()
    }

    /// The detail layer, if the model has one.
    #[must_use]
    pub fn detail(&self) -> Option<&DetailLayer> {
        self.detail.as_deref()
    }

    /// The detailed mesh in its reference pose; `None` without a detail layer.
    #[must_use]
    pub fn detailed_mesh(&self) -> Option<Mesh> {
        let layer = self.detail.as_ref()?;
        let positions = layer.example(self.data.examples.pose(0), 0);
        let mesh = layer.mesh().posed(positions);
        Some(mesh.expect("one position per vertex"))
    }

    /// A driver with the constraint of the training.
    #[must_use]
    pub fn driver(&self) -> Driver {
        Driver::new(self.clone(), self.predictor.clone(), self.poisson.clone())
    }

    /// A driver with another constraint on the control points; factors a system once.
    ///
    /// # Errors
    /// A `β` that is not a number above zero.
    pub fn driver_with(&self, constraint: ControlConstraint) -> Result<Driver, LearnError> {
        let data = &self.data;
        let poisson = Poisson::factor(data.examples.reference(), &data.control, constraint)?;
        let predictor = match self.predictor.with_constraint(data, constraint)? {
            Some(predictor) => Arc::from(predictor),
            None => self.predictor.clone(),
        };
        Ok(Driver::new(self.clone(), predictor, Arc::new(poisson)))
    }

    /// The shape distance of `control` from the nearest example, relative to the largest distance
    /// between an example and its nearest neighbour. Above about 2, `control` is outside the range
    /// of the examples. The distance is invariant to rigid motion.
    ///
    /// # Panics
    /// If the number of positions is not the number of control points.
    #[must_use]
    pub fn novelty(&self, control: &[DVec3]) -> f64 {
        assert_eq!(
            control.len(),
            self.data.control.count(),
            "one position per control point"
        );

        let points: Vec<&[DVec3]> = self.data.points.iter().map(Vec::as_slice).collect();
        let mut nearest = f64::INFINITY;
        for example in &points {
            nearest = nearest.min(shape_distance(control, example));
        }

        // Identical examples have a spread of zero. Differences below a thousandth of a per cent
        // of the size are rounding.
        let spread = *self.cached.spread.get_or_init(|| spread(&points));
        let least = 1e-5 * self.data.examples.longest_side();
        nearest / spread.max(least).max(f64::MIN_POSITIVE)
    }

    /// The control points whose distance from their goals in `control` is above `tolerance`
    /// (relative to the longest side), in their order.
    ///
    /// # Panics
    /// If there are fewer positions than vertices.
    #[must_use]
    pub fn unreached_control_points(
        &self,
        positions: &[DVec3],
        control: &[DVec3],
        tolerance: f64,
    ) -> Vec<UnreachedControlPoint> {
        let side = self.data.examples.longest_side().max(f64::MIN_POSITIVE);
        let vertices = self.data.control.vertices();
        let mut unreached = Vec::new();
        for (point, (&vertex, goal)) in vertices.iter().zip(control).enumerate() {
            // Relative to the size of the reference, like all errors.
            let error = positions[vertex as usize].distance(*goal) / side;
            if error > tolerance {
                unreached.push(UnreachedControlPoint {
                    point,
                    vertex: VertexId::new(vertex),
                    error,
                });
            }
        }
        unreached
    }

    /// The pose for positions of the control points, in their order.
    ///
    /// # Errors
    /// As [`Driver::pose`].
    pub fn drive(&self, control: &[DVec3]) -> Result<Vec<DVec3>, LearnError> {
        self.driver().pose(control)
    }

    /// The mean error, RMS / longest side, of the examples driven by their own control points.
    #[must_use]
    pub fn fit_error(&self) -> f64 {
        let count = self.data.examples.count();
        let driver = self.driver();
        let mut errors = Vec::with_capacity(count);
        for (example, points) in self.data.points.iter().enumerate() {
            let positions = driver.pose_unchecked(points);
            errors.push(self.data.examples.error(&positions, example));
        }
        errors.iter().sum::<f64>() / count as f64
    }
}
