//! Settings chosen by validation inside the training examples, never on the pose to be judged.
//!
//! **Method.** Each training pose but the reference is left out in turn, predicted from the others
//! and measured, on a small copy of the examples ([`Rehearsal`]). The settings are tried one
//! coordinate after the other: the sharpness of the neighbourhoods, the ridge, the refits; each
//! keeps the best.

use std::sync::{Arc, OnceLock};

use pliant_mesh::Progress;

use crate::local_blend::{LocalBlend, LocalPoses, LocalSettings};
use crate::model::report;
use crate::rehearsal::{Rehearsal, Rehearsed};
use crate::workbench::Workbench;
use crate::{ControlPoints, Examples, LearnError, LearnOptions, TrainingLog};

/// From even weights over the neighbours to the two or three nearest.
const SHARPNESS: [f64; 3] = [2.0, 5.0, 10.0];
/// From examples followed to the letter, which a cyclic motion rewards, to a cautious mean.
const RIDGES: [f64; 5] = [1e-5, 0.003, 0.03, 0.1, 0.4];
/// The place in [`RIDGES`] that the other settings are compared with.
const MIDDLE_RIDGE: usize = 2;
/// Refits, when they are on.
const REFITS: usize = 2;

/// A sharpness to choose from, and the examples seen with it at both sizes.
#[derive(Debug)]
struct Shelf {
    sharpness: f64,
    small: OnceLock<Arc<LocalPoses>>,
    /// Made when it is chosen: of a large mesh, only what is used has to fit into memory.
    full: OnceLock<Arc<LocalPoses>>,
}

/// What can be chosen.
#[derive(Debug)]
pub(crate) struct Library {
    /// `k_c`.
    neighbors: usize,
    shelves: Vec<Shelf>,
    /// None where the settings are known.
    rehearsal: Option<Box<Rehearsal>>,
}

/// Who is told how far a choice is, and what has been found out before.
pub(crate) struct Watch<'a> {
    pub(crate) log: &'a mut TrainingLog,
    pub(crate) progress: &'a dyn Progress,
    pub(crate) stage: &'static str,
    /// The part of the whole work that the choice is.
    pub(crate) span: (f64, f64),
}

impl Shelf {
    fn new(sharpness: f64) -> Self {
        Self {
            sharpness,
            small: OnceLock::new(),
            full: OnceLock::new(),
        }
    }
}

impl Library {
    /// To choose from.
    pub(crate) fn new(
        examples: &Examples,
        control: &ControlPoints,
        options: &LearnOptions,
    ) -> Result<Self, LearnError> {
        let shelves = SHARPNESS
            .iter()
            .map(|&sharpness| Shelf::new(sharpness))
            .collect();
        Ok(Self {
            neighbors: options.neighbors(),
            shelves,
            rehearsal: Some(Box::new(Rehearsal::new(examples, control, options)?)),
        })
    }

    /// For settings chosen before.
    pub(crate) fn of(settings: &LocalSettings, options: &LearnOptions) -> Self {
        Self {
            neighbors: options.neighbors(),
            shelves: vec![Shelf::new(settings.sharpness)],
            rehearsal: None,
        }
    }

    fn place_of(&self, settings: &LocalSettings) -> usize {
        self.shelves
            .iter()
            .position(|shelf| shelf.sharpness == settings.sharpness)
            .expect("the library was made for these settings")
    }

    pub(crate) fn train(
        &self,
        bench: &Workbench,
        trained_on: &[usize],
        settings: &LocalSettings,
    ) -> Result<LocalBlend, LearnError> {
        let shelf = &self.shelves[self.place_of(settings)];
        let poses = shelf
            .full
            .get_or_init(|| Arc::new(LocalPoses::new(bench, self.neighbors, shelf.sharpness)));
        LocalBlend::train(poses.clone(), trained_on, settings)
    }

    /// The settings that predict the training examples best from each other.
    pub(crate) fn choose(
        &self,
        trained_on: &[usize],
        watch: &mut Watch<'_>,
    ) -> Result<LocalSettings, LearnError> {
        let rehearsal = self
            .rehearsal
            .as_deref()
            .expect("a library to choose from has a rehearsal");
        let left_out = (0..rehearsal.example_count())
            .find(|example| !trained_on.contains(example))
            .unwrap_or(0);
        let mut search = Search {
            library: self,
            rehearsal,
            trained_on,
            left_out,
            prepared: None,
            done: 0,
            best: None,
        };
        for shelf in &self.shelves {
            search.attempt(
                LocalSettings {
                    sharpness: shelf.sharpness,
                    ridge: RIDGES[MIDDLE_RIDGE],
                    refits: 0,
                },
                watch,
            )?;
        }
        let shelf = search.best();
        for (_, &ridge) in RIDGES
            .iter()
            .enumerate()
            .filter(|(k, _)| *k != MIDDLE_RIDGE)
        {
            search.attempt(LocalSettings { ridge, ..shelf }, watch)?;
        }
        search.attempt(
            LocalSettings {
                refits: REFITS,
                ..search.best()
            },
            watch,
        )?;
        Ok(search.best())
    }
}

/// A choice under way.
struct Search<'a> {
    library: &'a Library,
    rehearsal: &'a Rehearsal,
    trained_on: &'a [usize],
    left_out: usize,
    /// The shelf in hand.
    prepared: Option<(usize, Rehearsed<'a>)>,
    done: usize,
    best: Option<(f64, LocalSettings)>,
}

impl Search<'_> {
    fn best(&self) -> LocalSettings {
        self.best.expect("at least one was tried").1
    }

    fn attempt(
        &mut self,
        settings: LocalSettings,
        watch: &mut Watch<'_>,
    ) -> Result<(), LearnError> {
        let attempts = self.library.shelves.len() + RIDGES.len();
        let (from, to) = watch.span;
        report(
            watch.progress,
            watch.stage,
            from + (to - from) * self.done as f64 / attempts as f64,
        )?;
        self.done += 1;
        let error = match watch.log.error_of(self.left_out, &settings) {
            Some(error) => error,
            None => {
                let error = self.error(&settings)?;
                watch.log.add_trial(self.left_out, settings, error);
                error
            }
        };
        if self.best.is_none_or(|(least, _)| error < least) {
            self.best = Some((error, settings));
        }
        Ok(())
    }

    fn error(&mut self, settings: &LocalSettings) -> Result<f64, LearnError> {
        let place = self.library.place_of(settings);
        if self
            .prepared
            .as_ref()
            .is_none_or(|(held, _)| *held != place)
        {
            let poses = self.library.shelves[place]
                .small
                .get_or_init(|| self.rehearsal.poses(settings.sharpness));
            self.prepared = Some((
                place,
                self.rehearsal.prepare(poses.clone(), self.trained_on)?,
            ));
        }
        let (_, rehearsed) = self.prepared.as_ref().expect("it was just prepared");
        Ok(rehearsed.error(settings))
    }
}
