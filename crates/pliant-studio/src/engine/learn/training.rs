//! Long tasks of learning: suggested control points, training, leave-one-out validation.

use std::sync::Arc;

use pliant::learn::{DetailedExamples, Examples, LeaveOneOut, Model, suggest_control_points};
use pliant::mesh::Progress;
use pliant::recipes::SkeletonFile;
use web_time::Instant;

use super::arrivals::has_joint_per_point;
use super::pose_cache::PoseCache;
use super::poses::PoseSet;
use crate::engine::command::Notice;
use crate::engine::context::Cx;
use crate::engine::work::Task;
use crate::model::blob::Blob;
use crate::model::document::{Document, Locator};
use crate::model::learn::{
    Details, Drive, DrivenBy, ExampleError, Setup, Trained, TrainingSettings, Validation,
};
use crate::model::names::to_message;

/// The tasks in progress.
#[derive(Debug, Default)]
pub(crate) struct TrainingTasks {
    training: Option<Task<Trained>>,
    judging: Option<Task<Validation>>,
    /// Points, and the recipe that they are for.
    suggesting: Option<Task<(TrainingSettings, Vec<u32>)>>,
    /// The sources that were trained on automatically: once is enough, also after it was
    /// cancelled or taken back.
    by_itself: Option<Vec<Locator>>,
}

/// Everything that a task needs.
struct TrainingJob {
    recipe: TrainingSettings,
    poses: Arc<PoseSet>,
    detailed: Option<Arc<PoseSet>>,
}

impl TrainingTasks {
    /// Fetches results. Returns whether a model came.
    pub(crate) fn update(&mut self, pose_cache: &PoseCache, cx: &mut Cx<'_>) -> bool {
        let setup = &cx.document.learn;
        let alone = setup.trains_itself
            && setup.trained.is_none()
            && self.by_itself.as_ref() != Some(&setup.recipe.sources);

        if alone && pose_cache.ready_for(&setup.recipe) && self.training.is_none() {
            self.by_itself = Some(setup.recipe.sources.clone());
            self.train(pose_cache, cx);
        }

        self.keep_suggested(cx);
        let judged = Task::finished(&mut self.judging);
        keep(judged, cx, "Validate", |document, judged| {
            document.learn.judged = Some(judged)
        });

        let trained = Task::finished(&mut self.training);
        let came = matches!(trained, Some(Ok(_)));
        keep(trained, cx, "Train", |document, trained| {
            let drive = &mut document.learn.drive;
            // Goals of the old model are meaningless for the new one.
            *drive = Drive {
                goals: Vec::new(),
                effectors: Vec::new(),
                ..drive.clone()
            };

            leave_unfit_skeleton(&mut document.learn, &trained);
            document.learn.trained = Some(trained);
        });
        came
    }

    fn keep_suggested(&mut self, cx: &mut Cx<'_>) {
        let points = Task::finished(&mut self.suggesting);
        let recipe = &cx.document.learn.recipe;
        // Points of other examples would be meaningless vertex indices.
        if let Some(Ok((of, _))) = &points
            && (&of.sources, &of.rest) != (&recipe.sources, &recipe.rest)
        {
            cx.notify(Notice::hint(
                "The examples changed during the computation; press Suggest again.",
            ));
            return;
        }

        if let Some(Ok((_, points))) = &points {
            let count = points.len();
            let before = recipe.points.len();
            cx.notify(Notice::done(match before {
                0 => format!("Placed {count} control points as far from each other as possible; drag a point to move it."),
                _ => format!("{count} control points replaced the previous {before}; undo restores those."),
            }));
        }

        keep(
            points,
            cx,
            "Suggest control points",
            |document, (_, points)| document.learn.recipe.points = points,
        );
    }

    /// Whether something is in progress.
    #[must_use]
    pub(crate) fn busy(&self) -> bool {
        self.training.is_some() || self.judging.is_some() || self.suggesting.is_some()
    }

    /// Whether a model is being trained.
    #[must_use]
    pub(crate) fn is_training(&self) -> bool {
        self.training.is_some()
    }

    /// Whether poses are being left out in turn.
    #[must_use]
    pub(crate) fn is_validating(&self) -> bool {
        self.judging.is_some()
    }

    /// Asks a training in progress to stop.
    pub(crate) fn cancel_training(&self) {
        if let Some(task) = &self.training {
            task.watch().cancel();
        }
    }

    /// Starts to train, instead of a training in progress.
    pub(crate) fn train(&mut self, pose_cache: &PoseCache, cx: &mut Cx<'_>) {
        if let Some(order) = TrainingJob::of(pose_cache, &cx.document.learn.recipe) {
            self.training = Some(cx.start("Training", move |watch| order.train(watch)));
        }
    }

    /// Starts to leave poses out in turn.
    pub(crate) fn validate(&mut self, pose_cache: &PoseCache, cx: &mut Cx<'_>) {
        if let Some(order) = TrainingJob::of(pose_cache, &cx.document.learn.recipe) {
            self.judging = Some(cx.start("Leave-one-out validation", move |watch| {
                order.validate(watch)
            }));
        }
    }

    /// Starts to choose `count` points.
    pub(crate) fn suggest(&mut self, count: usize, pose_cache: &PoseCache, cx: &mut Cx<'_>) {
        let recipe = cx.document.learn.recipe.clone();
        if let Some(poses) = pose_cache.poses().cloned() {
            let work = move |_: &_| {
                let mesh = poses.rest_mesh(&recipe)?;
                let control = suggest_control_points(&mesh, count).map_err(to_message)?;
                Ok((recipe, control.vertices().to_vec()))
            };
            // No progress bar, because the task is short.
            self.suggesting = Some(Task::start(
                "Choosing control points",
                cx.wake.clone(),
                work,
            ));
        }
    }
}

/// Joints of a skeleton are at control points: with others it goes, and points drive the new model.
fn leave_unfit_skeleton(learn: &mut Setup, trained: &Trained) {
    let points = &trained.of.points;
    let moved = learn
        .trained
        .as_ref()
        .is_some_and(|before| before.of.points != *points);
    let unfit = |skeleton: &mut SkeletonFile| moved || !has_joint_per_point(skeleton, points.len());
    learn.skeleton.take_if(unfit);

    if learn.skeleton.is_none() && learn.drive.by == DrivenBy::Effectors {
        learn.drive.by = DrivenBy::Points;
    }
}

/// Puts a result into the document, or says why there is none.
fn keep<T: Send + 'static>(
    result: Option<Result<T, String>>,
    cx: &mut Cx<'_>,
    label: &str,
    change: impl FnOnce(&mut Document, T) + Send + 'static,
) {
    match result {
        None => {}
        Some(Ok(value)) => cx.edit(label, move |document| change(document, value)),
        Some(Err(message)) => cx.notify(Notice::error(format!("{label}: {message}"))),
    }
}

impl TrainingJob {
    fn of(pose_cache: &PoseCache, recipe: &TrainingSettings) -> Option<Self> {
        let poses = pose_cache.poses()?.clone();
        pose_cache.ready_for(recipe).then(|| Self {
            recipe: recipe.clone(),
            poses,
            detailed: pose_cache.detailed().cloned(),
        })
    }

    fn train(self, progress: &dyn Progress) -> Result<Trained, String> {
        let began = Instant::now();
        let recipe = &self.recipe;
        let options = self.recipe.options();
        let (examples, control) = self.poses.examples(recipe)?;
        // Fine detail is trained on top of the coarse model, where a source has it.
        let detailed = self.detailed_examples(&examples)?;
        let model = match detailed {
            None => Model::train(examples, control, &options, progress),
            Some(detailed) => Model::train_detailed(
                detailed,
                control,
                &options,
                &recipe.detail_options(),
                progress,
            ),
        };

        let model = model.map_err(to_message)?;
        Ok(Trained {
            problems: options.warnings(model.examples().reference().vertex_count()),
            chosen: model
                .chosen()
                .map_or_else(String::new, |settings| settings.to_string()),
            examples: model.examples().count(),
            bones: model.bone_count(),
            fit_error: model.fit_error(),
            model: Blob::new(model.to_bytes(), "safetensors"),
            secs: began.elapsed().as_secs_f64(),
            of: self.recipe,
        })
    }

    fn detailed_examples(&self, base: &Examples) -> Result<Option<DetailedExamples>, String> {
        match (&self.recipe.details, &self.detailed) {
            (Details::Smoothing, _) => {
                let smoothed =
                    DetailedExamples::by_smoothing(base, DetailedExamples::DEFAULT_SMOOTHING);
                smoothed.map(Some).map_err(to_message)
            }
            (Details::Asset(_), Some(detailed)) => self
                .poses
                .details(&self.recipe, base.clone(), detailed)
                .map(Some),
            // Details from a file need their poses to be loaded.
            (Details::None, _) | (Details::Asset(_), None) => Ok(None),
        }
    }

    fn validate(self, progress: &dyn Progress) -> Result<Validation, String> {
        let (examples, control) = self.poses.examples(&self.recipe)?;
        let found = LeaveOneOut::of(examples, control, &self.recipe.options(), progress)
            .map_err(to_message)?;
        let used = self.poses.used(&self.recipe);
        let errors = used[1..].iter().zip(found.poses).map(|(&k, error)| {
            let pose = self.poses.poses[k].id.clone();
            ExampleError {
                pose,
                name: error.name,
                rms: error.rms,
            }
        });

        Ok(Validation {
            errors: errors.collect(),
            of: self.recipe,
        })
    }
}
