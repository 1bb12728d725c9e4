//! A trained model, and poses from it.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};

use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, Progress};
use pliant_rig::Skin;

use crate::abstract_bones::AbstractBones;
use crate::arap::Arap;
use crate::bone_driver::BoneDriver;
use crate::confidence::{Calibration, Confidence};
use crate::control_reach::ControlReach;
use crate::detail::Details;
use crate::exact::Residuals;
use crate::meshik::MeshIk;
use crate::poisson::Poisson;
use crate::selection::{Library, Watch};
use crate::shape_distance::{shape_distance, spread};
use crate::workbench::{Predictor, Workbench};
use crate::{
    ControlPoints, DetailLayer, DetailOptions, DetailShares, DetailedExamples, Examples, Hold,
    LearnError, LearnOptions, LocalSettings, Method, TrainingLog,
};

/// What a method has learned from examples.
#[derive(Debug)]
pub struct Model {
    bench: Workbench,
    options: LearnOptions,
    predictor: Arc<dyn Predictor>,
    chosen: Option<LocalSettings>,
    poisson: Arc<Poisson>,
    detail: Option<DetailLayer>,
    /// Found when they are first asked for.
    residuals: OnceLock<Arc<Residuals>>,
    calibration: OnceLock<Option<Calibration>>,
    spread: OnceLock<f64>,
}

/// A model with its control points held in one way, ready for many poses.
#[derive(Debug)]
pub struct Driver<'a> {
    model: &'a Model,
    predictor: Arc<dyn Predictor>,
    poisson: Arc<Poisson>,
    residuals: Option<Arc<Residuals>>,
}

/// A pose.
#[derive(Debug, Clone, PartialEq)]
pub struct Driven {
    /// Where the vertices are.
    pub positions: Vec<DVec3>,
    /// The base that the control points are on, where that is another surface.
    pub held: Option<Vec<DVec3>>,
}

/// A control point that a pose does not meet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Missed {
    /// Its place in the list of control points, counted from 0.
    pub point: usize,
    /// Its vertex.
    pub vertex: usize,
    /// How far it is from where it should be, over the longest side of the reference pose.
    pub by: f64,
}

impl Model {
    /// Learns from all of `examples`; [`Method::Auto`] chooses its settings by leaving each example
    /// out in turn.
    ///
    /// # Errors
    /// Options out of range, a system that cannot be solved, or [`LearnError::Cancelled`].
    pub fn train(
        examples: Examples,
        control: ControlPoints,
        options: &LearnOptions,
        progress: &dyn Progress,
    ) -> Result<Self, LearnError> {
        let mut log = TrainingLog::new(&examples, &control, options);
        Self::train_logged(examples, control, options, &mut log, progress)
    }

    /// As [`train`](Self::train), going on from what `log` knows and adding to it: one that was
    /// cancelled can be resumed.
    ///
    /// # Errors
    /// As there.
    pub fn train_logged(
        examples: Examples,
        control: ControlPoints,
        options: &LearnOptions,
        log: &mut TrainingLog,
        progress: &dyn Progress,
    ) -> Result<Self, LearnError> {
        report(progress, "learning", 0.0)?;
        let trainer = Trainer::new(examples, control, options, None)?;
        let everything = trainer.bench.everything();
        let (predictor, chosen) = trainer.train(
            &everything,
            &mut Watch {
                log,
                progress,
                stage: "learning",
                span: (0.3, 0.9),
            },
        )?;
        report(progress, "learning", 1.0)?;
        Ok(Self::of(trainer, predictor, chosen))
    }

    /// As [`train`](Self::train), with settings of [`Method::Auto`] chosen before.
    ///
    /// # Errors
    /// As there.
    pub fn train_with(
        examples: Examples,
        control: ControlPoints,
        options: &LearnOptions,
        settings: &LocalSettings,
    ) -> Result<Self, LearnError> {
        settings.check()?;
        let trainer = Trainer::new(examples, control, options, Some(settings))?;
        let everything = trainer.bench.everything();
        let predictor = trainer.train_chosen(&everything, settings)?;
        Ok(Self::of(trainer, predictor, Some(*settings)))
    }

    /// As [`train`](Self::train) by a method on abstract bones, with bones found before.
    pub(crate) fn train_on_bones(
        examples: Examples,
        control: ControlPoints,
        options: &LearnOptions,
        bones: AbstractBones,
    ) -> Result<Self, LearnError> {
        let trainer = Trainer::new(examples, control, options, None)?;
        let everything = trainer.bench.everything();
        let reach = ControlReach::of(trainer.bench.examples.reference(), &trainer.bench.control);
        let predictor = BoneDriver::train(&trainer.bench, &reach, &everything, bones, options)?;
        Ok(Self::of(trainer, Box::new(predictor), None))
    }

    /// As [`train`](Self::train) on the base, with the details above it.
    ///
    /// # Errors
    /// As there, and settings of the details out of range.
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

    /// The same model with other details; their base is that of the model.
    ///
    /// # Errors
    /// Details of another base, or settings out of range.
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

    /// The same with details above it.
    pub(crate) fn with_details(
        mut self,
        details: Details,
        options: &DetailOptions,
    ) -> Result<Self, LearnError> {
        self.detail = Some(DetailLayer::train(&self.bench, details, options)?);
        Ok(self)
    }

    fn of(trainer: Trainer, predictor: Box<dyn Predictor>, chosen: Option<LocalSettings>) -> Self {
        let (residuals, calibration, spread) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Self {
            bench: trainer.bench,
            options: trainer.options,
            predictor: Arc::from(predictor),
            chosen,
            poisson: Arc::new(trainer.poisson),
            detail: None,
            residuals,
            calibration,
            spread,
        }
    }

    /// The examples learned from.
    #[must_use]
    pub fn examples(&self) -> &Examples {
        &self.bench.examples
    }

    /// The vertices that steer it.
    #[must_use]
    pub fn control(&self) -> &ControlPoints {
        &self.bench.control
    }

    /// What it was trained with.
    #[must_use]
    pub fn options(&self) -> &LearnOptions {
        &self.options
    }

    /// What [`Method::Auto`] chose; none for the other methods.
    #[must_use]
    pub fn chosen(&self) -> Option<LocalSettings> {
        self.chosen
    }

    /// Regions of the surface that move by themselves.
    #[must_use]
    pub fn bone_count(&self) -> usize {
        self.bones()
            .map_or(self.bench.regions.count(), |bones| bones.skin.bone_count())
    }

    /// Which abstract bones each vertex follows, for the methods that have them.
    #[must_use]
    pub fn skin(&self) -> Option<&Skin> {
        self.bones().map(|bones| &bones.skin)
    }

    pub(crate) fn bones(&self) -> Option<&AbstractBones> {
        self.predictor.bones()
    }

    /// The details above the base, where it has learned any.
    #[must_use]
    pub fn detail(&self) -> Option<&DetailLayer> {
        self.detail.as_ref()
    }

    /// The detailed mesh in its reference pose; none without details.
    #[must_use]
    pub fn detailed_mesh(&self) -> Option<Mesh> {
        let layer = self.detail.as_ref()?;
        Some(
            layer
                .mesh()
                .posed(layer.example(self.bench.examples.pose(0), 0))
                .expect("one position per vertex"),
        )
    }

    /// A driver that holds control points as trained.
    #[must_use]
    pub fn driver(&self) -> Driver<'_> {
        let driver = Driver {
            model: self,
            predictor: self.predictor.clone(),
            poisson: self.poisson.clone(),
            residuals: None,
        };
        if self.options.exact() {
            driver.exactly()
        } else {
            driver
        }
    }

    /// A driver that holds control points in another way; factors a system once.
    ///
    /// # Errors
    /// A `β` that is not a number above zero.
    pub fn driver_with(&self, hold: Hold) -> Result<Driver<'_>, LearnError> {
        let poisson = Arc::new(Poisson::factor(
            self.bench.examples.reference(),
            &self.bench.control,
            hold,
        )?);
        let held = self.predictor.held(&self.bench, hold)?;
        let predictor = held.map_or_else(|| self.predictor.clone(), Arc::from);
        let driver = Driver {
            model: self,
            predictor,
            poisson,
            residuals: None,
        };
        Ok(if self.options.exact() {
            driver.exactly()
        } else {
            driver
        })
    }

    /// How far `control` is from the nearest example, over how far the loneliest example is from
    /// its nearest: above about two the examples do not show what is asked. Rigid motion does
    /// not count.
    ///
    /// # Panics
    /// If there is another number of places than control points.
    #[must_use]
    pub fn novelty(&self, control: &[DVec3]) -> f64 {
        assert_eq!(
            control.len(),
            self.bench.control.count(),
            "one place per control point"
        );
        let points: Vec<&[DVec3]> = self.bench.points.iter().map(Vec::as_slice).collect();
        let nearest = points
            .iter()
            .map(|example| shape_distance(control, example))
            .fold(f64::INFINITY, f64::min);
        let spread = *self.spread.get_or_init(|| spread(&points));
        // Examples that are all the same say nothing beyond themselves; a thousandth of a per cent
        // is rounding.
        nearest
            / spread
                .max(1e-5 * self.bench.examples.longest_side())
                .max(f64::MIN_POSITIVE)
    }

    /// The control points that `positions` miss by more than `tolerance` longest sides, in their
    /// order.
    ///
    /// # Panics
    /// If there are fewer positions than vertices.
    #[must_use]
    pub fn missed(&self, positions: &[DVec3], control: &[DVec3], tolerance: f64) -> Vec<Missed> {
        let side = self.bench.examples.longest_side().max(f64::MIN_POSITIVE);
        let vertices = self
            .bench
            .control
            .vertices()
            .iter()
            .zip(control)
            .enumerate();
        let all = vertices.map(|(point, (&vertex, goal))| {
            let vertex = vertex as usize;
            Missed {
                point,
                vertex,
                by: positions[vertex].distance(*goal) / side,
            }
        });
        all.filter(|missed| missed.by > tolerance).collect()
    }

    /// The pose for places of the control points, in their order.
    ///
    /// # Errors
    /// As [`Driver::pose`].
    pub fn drive(&self, control: &[DVec3]) -> Result<Vec<DVec3>, LearnError> {
        self.driver().pose(control)
    }

    /// The mean error, RMS / longest side, of the examples driven by their own control points.
    #[must_use]
    pub fn fit_error(&self) -> f64 {
        let count = self.bench.examples.count();
        let driver = self.driver();
        let error = |i: usize| {
            self.bench
                .examples
                .error(&driver.pose_unchecked(&self.bench.points[i]), i)
        };
        (0..count).map(error).sum::<f64>() / count as f64
    }
}

impl Driver<'_> {
    /// The same, with control points of an example returning that example to the last digit. Costs
    /// a pose per example, once.
    #[must_use]
    pub fn exactly(self) -> Self {
        let model = self.model;
        let find = || {
            let everything = model.bench.everything();
            Arc::new(Residuals::new(
                &model.bench,
                &*self.predictor,
                &self.poisson,
                &everything,
            ))
        };
        let as_trained = Arc::ptr_eq(&self.poisson, &model.poisson);
        let residuals = if as_trained {
            model.residuals.get_or_init(find).clone()
        } else {
            find()
        };
        Self {
            residuals: Some(residuals),
            ..self
        }
    }

    /// How sure the model is of the pose for these places; none for methods other than
    /// [`Method::Auto`], which cannot tell.
    ///
    /// # Errors
    /// As [`pose`](Self::pose).
    pub fn confidence(&self, control: &[DVec3]) -> Result<Option<Confidence>, LearnError> {
        self.check(control)?;
        let Model {
            bench, predictor, ..
        } = self.model;
        let calibration = self
            .model
            .calibration
            .get_or_init(|| Calibration::of(bench, &**predictor, &self.model.poisson));
        Ok(calibration
            .as_ref()
            .and_then(|calibration| calibration.at(bench, &**predictor, control)))
    }

    /// The pose for places of the control points, in their order.
    ///
    /// # Errors
    /// Another number of places than control points, or one that is not finite.
    pub fn pose(&self, control: &[DVec3]) -> Result<Vec<DVec3>, LearnError> {
        self.check(control)?;
        Ok(self.pose_unchecked(control))
    }

    fn check(&self, control: &[DVec3]) -> Result<(), LearnError> {
        let expected = self.model.bench.control.count();
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

    fn pose_unchecked(&self, control: &[DVec3]) -> Vec<DVec3> {
        let bench = &self.model.bench;
        let mut positions = self.predictor.pose(bench, &self.poisson, control);
        if let Some(residuals) = &self.residuals {
            residuals.add(bench, control, &mut positions);
        }
        positions
    }

    /// The pose with its details, by vertex of [`Model::detailed_mesh`].
    ///
    /// The control points are those of the base, or of the detailed surface where the base was made
    /// from it by smoothing; then the base is solved twice, the second time with the heights of
    /// the control points taken off.
    ///
    /// # Errors
    /// As [`pose`](Self::pose); [`LearnError::NoDetail`] without details.
    pub fn detailed_pose(&self, control: &[DVec3]) -> Result<Vec<DVec3>, LearnError> {
        let (layer, goals, base) = self.settled(control)?;
        Ok(layer.pose(&self.model.bench, &goals, &base))
    }

    /// The pose, with its details where asked, and where its control points are held.
    ///
    /// # Errors
    /// As [`pose`](Self::pose) or [`detailed_pose`](Self::detailed_pose).
    pub fn driven(&self, control: &[DVec3], with_detail: bool) -> Result<Driven, LearnError> {
        if !with_detail {
            return Ok(Driven {
                positions: self.pose(control)?,
                held: None,
            });
        }
        let (layer, goals, base) = self.settled(control)?;
        let positions = layer.pose(&self.model.bench, &goals, &base);
        // Of a base that was made by smoothing, the points that a person sees are on the detailed
        // surface.
        Ok(Driven {
            positions,
            held: (!layer.is_steered()).then_some(base),
        })
    }

    /// The heights of the details alone, by vertex of [`Model::detailed_mesh`]: what a displacement
    /// map holds.
    ///
    /// # Errors
    /// As [`detailed_pose`](Self::detailed_pose).
    pub fn heights(&self, control: &[DVec3]) -> Result<Vec<f32>, LearnError> {
        let (layer, goals, base) = self.settled(control)?;
        Ok(layer.heights(&self.model.bench, &goals, &base))
    }

    /// What each example's details count, and the base that they stand on: for frame loops that
    /// keep their buffers, with [`DetailLayer::sum_heights`] and [`DetailLayer::raise`].
    ///
    /// # Errors
    /// As [`detailed_pose`](Self::detailed_pose).
    pub fn detail_shares(
        &self,
        control: &[DVec3],
    ) -> Result<(DetailShares, Vec<DVec3>), LearnError> {
        let (layer, goals, base) = self.settled(control)?;
        Ok((layer.shares(&self.model.bench, &goals, &base), base))
    }

    /// The details, where the control points of the base are, and the base there.
    fn settled(
        &self,
        control: &[DVec3],
    ) -> Result<(&DetailLayer, Vec<DVec3>, Vec<DVec3>), LearnError> {
        let layer = self.model.detail.as_ref().ok_or(LearnError::NoDetail)?;
        let base = self.pose(control)?;
        if !layer.is_steered() {
            return Ok((layer, control.to_vec(), base));
        }
        let goals = layer.base_goals(&self.model.bench, control, &base);
        let base = self.pose(&goals)?;
        Ok((layer, goals, base))
    }
}

impl fmt::Display for LocalSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "local frames, sharpness {}, ridge {}, {} refits",
            self.sharpness, self.ridge, self.refits
        )
    }
}

/// Trains on any part of the examples.
#[derive(Debug)]
pub(crate) struct Trainer {
    pub(crate) bench: Workbench,
    pub(crate) poisson: Poisson,
    pub(crate) options: LearnOptions,
    stock: Stock,
}

/// What a method prepares once for all parts.
#[derive(Debug)]
enum Stock {
    Library(Library),
    Reach(ControlReach),
    None,
}

impl Stock {
    fn of(
        bench: &Workbench,
        options: &LearnOptions,
        chosen: Option<&LocalSettings>,
    ) -> Result<Self, LearnError> {
        Ok(match (options.method(), chosen) {
            (Method::Auto, Some(settings)) => Self::Library(Library::of(settings, options)),
            (Method::Auto, None) => {
                Self::Library(Library::new(&bench.examples, &bench.control, options)?)
            }
            (Method::Paper | Method::Feng, _) => {
                Self::Reach(ControlReach::of(bench.examples.reference(), &bench.control))
            }
            (Method::MeshIk | Method::Arap, _) => Self::None,
        })
    }
}

impl Trainer {
    /// `chosen` is what [`Method::Auto`] need not choose any more.
    pub(crate) fn new(
        examples: Examples,
        control: ControlPoints,
        options: &LearnOptions,
        chosen: Option<&LocalSettings>,
    ) -> Result<Self, LearnError> {
        options.check()?;
        let poisson = Poisson::factor(examples.reference(), &control, Hold::Soft(options.beta()))?;
        let bench = Workbench::new(examples, control, options.regions())?;
        let stock = Stock::of(&bench, options, chosen)?;
        Ok(Self {
            bench,
            poisson,
            options: *options,
            stock,
        })
    }

    /// Trains on some examples, and says what was chosen from them alone.
    pub(crate) fn train(
        &self,
        trained_on: &[usize],
        watch: &mut Watch<'_>,
    ) -> Result<(Box<dyn Predictor>, Option<LocalSettings>), LearnError> {
        let bench = &self.bench;
        Ok(match (&self.stock, self.options.method()) {
            (Stock::Library(library), _) => {
                let settings = library.choose(trained_on, watch)?;
                (
                    Box::new(library.train(bench, trained_on, &settings)?),
                    Some(settings),
                )
            }
            (Stock::Reach(reach), _) => {
                let bones = AbstractBones::find(bench, trained_on, self.options.bones())?;
                (
                    Box::new(BoneDriver::train(
                        bench,
                        reach,
                        trained_on,
                        bones,
                        &self.options,
                    )?),
                    None,
                )
            }
            (Stock::None, Method::MeshIk) => (Box::new(MeshIk::train(bench, trained_on)), None),
            (Stock::None, _) => (Box::new(Arap::new(bench, self.options.neighbors())), None),
        })
    }

    fn train_chosen(
        &self,
        trained_on: &[usize],
        settings: &LocalSettings,
    ) -> Result<Box<dyn Predictor>, LearnError> {
        match &self.stock {
            Stock::Library(library) => Ok(Box::new(library.train(
                &self.bench,
                trained_on,
                settings,
            )?)),
            _ => {
                let mut log =
                    TrainingLog::new(&self.bench.examples, &self.bench.control, &self.options);
                Ok(self
                    .train(
                        trained_on,
                        &mut Watch {
                            log: &mut log,
                            progress: &(),
                            stage: "learning",
                            span: (0.0, 1.0),
                        },
                    )?
                    .0)
            }
        }
    }
}

pub(crate) fn report(progress: &dyn Progress, stage: &str, done: f64) -> Result<(), LearnError> {
    match progress.report(stage, done) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(LearnError::Cancelled),
    }
}
