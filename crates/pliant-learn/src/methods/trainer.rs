//! Training of any method on any subset of the examples.

use pliant_mesh::{Progress, ProgressPart};

use super::huang2012::{AbstractBones, BonePredictor};
use super::local_blend::{LocalBlendCandidates, TrainingMonitor};
use super::poisson::{ControlConstraint, Poisson};
use super::predictor::Predictor;
use super::sorkine2007::Sorkine2007;
use super::sumner2005::Sumner2005;
use crate::control::ControlDistances;
use crate::training::TrainingData;
use crate::{
    ControlPoints, Examples, LearnError, LearnOptions, LocalSettings, Method, TrainingLog,
};

/// Trains on any subset of the examples.
#[derive(Debug)]
pub(crate) struct Trainer {
    pub(crate) data: TrainingData,
    pub(crate) poisson: Poisson,
    pub(crate) options: LearnOptions,
    preparation: SharedPreparation,
}

/// A trained method, and the hyper-parameters that it chose.
pub(crate) struct Trained {
    pub(crate) predictor: Box<dyn Predictor>,
    /// `None` for methods without hyper-parameter selection.
    pub(crate) chosen: Option<LocalSettings>,
}

/// What a method computes once for all subsets.
#[derive(Debug)]
enum SharedPreparation {
    Candidates(LocalBlendCandidates),
    Distances(ControlDistances),
    None,
}

impl SharedPreparation {
    fn of(
        data: &TrainingData,
        options: &LearnOptions,
        chosen: Option<&LocalSettings>,
        progress: &dyn Progress,
    ) -> Result<Self, LearnError> {
        Ok(match (options.method(), chosen) {
            (Method::Auto, Some(settings)) => {
                Self::Candidates(LocalBlendCandidates::of(settings, options))
            }
            (Method::Auto, None) => Self::Candidates(LocalBlendCandidates::new(
                &data.examples,
                &data.control,
                options,
                progress,
            )?),
            (Method::Huang2012 | Method::Feng2008, _) => Self::Distances(ControlDistances::of(
                data.examples.reference(),
                &data.control,
                progress,
            )?),
            (Method::Sumner2005 | Method::Sorkine2007, _) => Self::None,
        })
    }
}

impl Trainer {
    /// `chosen` are hyper-parameters of [`Method::Auto`] from an earlier selection.
    pub(crate) fn new(
        examples: Examples,
        control: ControlPoints,
        options: &LearnOptions,
        chosen: Option<&LocalSettings>,
        progress: &dyn Progress,
    ) -> Result<Self, LearnError> {
        let [gathering, preparing] = [0.2, 0.6].map(|begin| ProgressPart {
            whole: progress,
            begin,
            size: 0.4,
        });
        options.check()?;
        let constraint = ControlConstraint::Soft(options.beta());
        let poisson = Poisson::factor(examples.reference(), &control, constraint)?;
        let data = TrainingData::new(examples, control, options.regions(), &gathering)?;
        let preparation = SharedPreparation::of(&data, options, chosen, &preparing)?;

        Ok(Self {
            data,
            poisson,
            options: *options,
            preparation,
        })
    }

    /// Trains on the examples `trained_on`; hyper-parameters are chosen from these alone.
    pub(crate) fn train(
        &self,
        trained_on: &[usize],
        monitor: &mut TrainingMonitor<'_>,
    ) -> Result<Trained, LearnError> {
        let data = &self.data;
        let predictor: Box<dyn Predictor> = match (&self.preparation, self.options.method()) {
            (SharedPreparation::Candidates(candidates), _) => {
                // Only this method chooses hyper-parameters.
                let settings = candidates.choose(trained_on, monitor)?;
                return Ok(Trained {
                    predictor: Box::new(candidates.train(data, trained_on, &settings)?),
                    chosen: Some(settings),
                });
            }
            (SharedPreparation::Distances(distances), _) => {
                // Bones are found again for every subset.
                let count = self.options.bones();
                let bones = AbstractBones::find(data, trained_on, count, &monitor.part())?;
                Box::new(BonePredictor::train(
                    data,
                    distances,
                    trained_on,
                    bones,
                    &self.options,
                )?)
            }
            (SharedPreparation::None, Method::Sumner2005) => {
                Box::new(Sumner2005::train(data, trained_on))
            }
            (SharedPreparation::None, _) => {
                Box::new(Sorkine2007::new(data, self.options.neighbors()))
            }
        };

        Ok(Trained {
            predictor,
            chosen: None,
        })
    }

    /// As [`train`](Self::train), with given hyper-parameters of [`Method::Auto`].
    pub(crate) fn train_chosen(
        &self,
        trained_on: &[usize],
        settings: &LocalSettings,
    ) -> Result<Box<dyn Predictor>, LearnError> {
        if let SharedPreparation::Candidates(candidates) = &self.preparation {
            let blend = candidates.train(&self.data, trained_on, settings)?;
            return Ok(Box::new(blend));
        }

        // The other methods choose nothing, so that their log stays empty.
        let mut log = TrainingLog::new(&self.data.examples, &self.data.control, &self.options);
        let mut monitor = TrainingMonitor {
            log: &mut log,
            progress: &(),
            stage: "learning",
            span: (0.0, 1.0),
        };
        Ok(self.train(trained_on, &mut monitor)?.predictor)
    }
}
