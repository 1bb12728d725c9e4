//! Hyper-parameter selection by leave-one-out validation inside the training set.
//!
//! **Method.** Each training pose except the reference is left out in turn and predicted from the
//! others, on a decimated copy of the examples ([`DecimatedCopy`]). The settings are searched one
//! coordinate after the other: sharpness of the local frames, ridge, refits. Each step keeps the
//! best value.
//!
//! The pose that a validation leaves out is never part of the selection.

use std::sync::{Arc, OnceLock};

use pliant_mesh::{Progress, ProgressPart};

use super::blend::{LocalBlend, LocalPoses};
use super::decimated_validation::{ClosedFormValidation, DecimatedCopy};
use crate::training::TrainingData;
use crate::{ControlPoints, Examples, LearnError, LearnOptions, LocalSettings, TrainingLog};

/// From even weights over the neighbours to weights of the two or three nearest only.
const SHARPNESS: [f64; 3] = [2.0, 5.0, 10.0];
/// From interpolation of the examples, which is best for cyclic motion, to a smooth mean.
const RIDGES: [f64; 5] = [1e-5, 0.003, 0.03, 0.1, 0.4];
/// The index in [`RIDGES`] with which the other settings are compared.
const MIDDLE_RIDGE: usize = 2;
/// The number of refits to compare with none.
const REFITS: usize = 2;

/// One candidate for the sharpness, with the features of the examples at both resolutions.
#[derive(Debug)]
struct SharpnessCandidate {
    sharpness: f64,
    decimated: OnceLock<Arc<LocalPoses>>,
    /// Computed for the chosen candidate only, to save memory on large meshes.
    full: OnceLock<Arc<LocalPoses>>,
}

/// The hyper-parameters to choose from.
#[derive(Debug)]
pub(crate) struct LocalBlendCandidates {
    /// `k_c`.
    neighbors: usize,
    sharpness: Vec<SharpnessCandidate>,
    /// `None` if the settings are known.
    copy: Option<Box<DecimatedCopy>>,
}

/// The log that a training reads and extends, and the receiver of its progress.
pub(crate) struct TrainingMonitor<'a> {
    pub(crate) log: &'a mut TrainingLog,
    pub(crate) progress: &'a dyn Progress,
    pub(crate) stage: &'static str,
    /// Begin and end of the selection as parts of the whole work.
    pub(crate) span: (f64, f64),
}

impl TrainingMonitor<'_> {
    /// The progress of the selection, as a part of the whole work.
    pub(crate) fn part(&self) -> ProgressPart<'_> {
        let (begin, end) = self.span;
        ProgressPart {
            whole: self.progress,
            begin,
            size: end - begin,
        }
    }
}

impl SharpnessCandidate {
    fn new(sharpness: f64) -> Self {
        Self {
            sharpness,
            decimated: OnceLock::new(),
            full: OnceLock::new(),
        }
    }
}

impl LocalBlendCandidates {
    /// All candidates, for a selection.
    pub(crate) fn new(
        examples: &Examples,
        control: &ControlPoints,
        options: &LearnOptions,
        progress: &dyn Progress,
    ) -> Result<Self, LearnError> {
        let copy = DecimatedCopy::new(examples, control, options, progress)?;
        Ok(Self {
            neighbors: options.neighbors(),
            sharpness: SHARPNESS.map(SharpnessCandidate::new).into(),
            copy: Some(Box::new(copy)),
        })
    }

    /// The settings of an earlier selection as the only candidate.
    pub(crate) fn of(settings: &LocalSettings, options: &LearnOptions) -> Self {
        Self {
            neighbors: options.neighbors(),
            sharpness: vec![SharpnessCandidate::new(settings.sharpness)],
            copy: None,
        }
    }

    fn index_of(&self, settings: &LocalSettings) -> usize {
        self.sharpness
            .iter()
            .position(|candidate| candidate.sharpness == settings.sharpness)
            .expect("the sharpness is one of the candidates")
    }

    pub(crate) fn train(
        &self,
        data: &TrainingData,
        trained_on: &[usize],
        settings: &LocalSettings,
    ) -> Result<LocalBlend, LearnError> {
        let candidate = &self.sharpness[self.index_of(settings)];
        let poses = candidate
            .full
            .get_or_init(|| Arc::new(LocalPoses::new(data, self.neighbors, candidate.sharpness)));
        LocalBlend::train(poses.clone(), trained_on, settings)
    }

    /// The settings with the least leave-one-out error over the training examples.
    pub(crate) fn choose(
        &self,
        trained_on: &[usize],
        monitor: &mut TrainingMonitor<'_>,
    ) -> Result<LocalSettings, LearnError> {
        let mut search = Search::new(self, trained_on);
        // First the sharpness, with a middle ridge.
        for candidate in &self.sharpness {
            let settings = LocalSettings {
                sharpness: candidate.sharpness,
                ridge: RIDGES[MIDDLE_RIDGE],
                refits: 0,
            };
            search.attempt(settings, monitor)?;
        }

        // The middle ridge was part of the first search.
        let sharpest = search.best();
        for (k, &ridge) in RIDGES.iter().enumerate() {
            if k != MIDDLE_RIDGE {
                search.attempt(LocalSettings { ridge, ..sharpest }, monitor)?;
            }
        }

        let refitted = LocalSettings {
            refits: REFITS,
            ..search.best()
        };
        search.attempt(refitted, monitor)?;
        Ok(search.best())
    }
}

/// The state of a search over the candidates.
struct Search<'a> {
    candidates: &'a LocalBlendCandidates,
    copy: &'a DecimatedCopy,
    trained_on: &'a [usize],
    /// The example that is not in the training set; 0 if all are.
    left_out: usize,
    /// The validation of one sharpness candidate, by its index.
    prepared: Option<(usize, ClosedFormValidation<'a>)>,
    done: usize,
    best: Option<(f64, LocalSettings)>,
}

impl<'a> Search<'a> {
    fn new(candidates: &'a LocalBlendCandidates, trained_on: &'a [usize]) -> Self {
        let copy = candidates
            .copy
            .as_deref()
            .expect("candidates for a selection have a decimated copy");
        let left_out = (0..copy.example_count())
            .find(|example| !trained_on.contains(example))
            .unwrap_or(0);

        Self {
            candidates,
            copy,
            trained_on,
            left_out,
            prepared: None,
            done: 0,
            best: None,
        }
    }

    fn best(&self) -> LocalSettings {
        self.best.expect("at least one was tried").1
    }

    fn attempt(
        &mut self,
        settings: LocalSettings,
        monitor: &mut TrainingMonitor<'_>,
    ) -> Result<(), LearnError> {
        let attempts = (self.candidates.sharpness.len() + RIDGES.len()) as f64;
        let selection = monitor.part();
        let part = ProgressPart {
            whole: &selection,
            begin: self.done as f64 / attempts,
            size: 1.0 / attempts,
        };
        part.proceed(monitor.stage, 0.0)?;
        self.done += 1;

        // A resumed training takes the errors of earlier trials from its log.
        let error = match monitor.log.error_of(self.left_out, &settings) {
            Some(error) => error,
            None => {
                let error = self.error(&settings, monitor.stage, &part)?;
                monitor.log.add_trial(self.left_out, settings, error);
                error
            }
        };

        if self.best.is_none_or(|(least, _)| error < least) {
            self.best = Some((error, settings));
        }
        Ok(())
    }

    fn error(
        &mut self,
        settings: &LocalSettings,
        stage: &str,
        progress: &dyn Progress,
    ) -> Result<f64, LearnError> {
        let index = self.candidates.index_of(settings);
        if let Some((held, validation)) = &self.prepared
            && *held == index
        {
            return Ok(validation.error(settings, stage, progress)?);
        }

        let poses = self.candidates.sharpness[index]
            .decimated
            .get_or_init(|| self.copy.poses(settings.sharpness));
        progress.proceed(stage, 0.0)?;
        let validation = self.copy.prepare(poses.clone(), self.trained_on)?;
        let error = validation.error(settings, stage, progress)?;
        self.prepared = Some((index, validation));
        Ok(error)
    }
}
