//! Long work on the examples: points are suggested, a model is trained, poses are left out in turn.

use std::sync::Arc;

use pliant::learn::{DetailedExamples, Examples, LeaveOneOut, Model, suggest_control_points};
use pliant::mesh::Progress;
use web_time::Instant;

use super::poses::PoseSet;
use super::setup::{Details, Drive, ExampleError, Judged, Recipe, Trained};
use super::stock::Stock;
use crate::blob::Blob;
use crate::command::Notice;
use crate::document::{Document, Locator};
use crate::rooms::Cx;
use crate::work::Task;

/// The tasks under way.
#[derive(Debug, Default)]
pub(super) struct Work {
    training: Option<Task<Trained>>,
    judging: Option<Task<Judged>>,
    /// Points, and the recipe that they are for.
    suggesting: Option<Task<(Recipe, Vec<u32>)>>,
    /// The sources that were trained on without being asked: once is enough, also after it was
    /// cancelled or taken back.
    by_itself: Option<Vec<Locator>>,
}

/// Everything that a task needs.
struct Order {
    recipe: Recipe,
    poses: Arc<PoseSet>,
    detailed: Option<Arc<PoseSet>>,
}

impl Work {
    /// Fetches results. Says whether a model came.
    pub(super) fn update(&mut self, stock: &Stock, cx: &mut Cx<'_>) -> bool {
        let setup = &cx.document.learn;
        let alone = setup.trains_itself
            && setup.trained.is_none()
            && self.by_itself.as_ref() != Some(&setup.recipe.sources);
        if alone && stock.ready_for(&setup.recipe) && self.training.is_none() {
            self.by_itself = Some(setup.recipe.sources.clone());
            self.train(stock, cx);
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
            // Other points are wanted elsewhere: a pose of the old model means nothing to the new
            // one.
            *drive = Drive {
                goals: Vec::new(),
                effectors: Vec::new(),
                ..drive.clone()
            };
            document.learn.trained = Some(trained);
        });
        came
    }

    fn keep_suggested(&mut self, cx: &mut Cx<'_>) {
        let points = Task::finished(&mut self.suggesting);
        let recipe = &cx.document.learn.recipe;
        if let Some(Ok((of, _))) = &points
            && (&of.sources, &of.rest) != (&recipe.sources, &recipe.rest)
        {
            cx.tell(Notice::hint(
                "The examples changed meanwhile; ask for points again.",
            ));
            return;
        }
        if let Some(Ok((_, points))) = &points {
            let (count, before) = (points.len(), recipe.points.len());
            cx.tell(Notice::done(match before {
                0 => format!("{count} points, as far from each other as can be; drag one to where it serves better."),
                _ => format!("{count} points in place of the {before} that were there; undo brings those back."),
            }));
        }
        keep(
            points,
            cx,
            "Suggest control points",
            |document, (_, points)| document.learn.recipe.points = points,
        );
    }

    /// Whether something is under way.
    #[must_use]
    pub(super) fn busy(&self) -> bool {
        self.training.is_some() || self.judging.is_some() || self.suggesting.is_some()
    }

    /// Whether a model is being trained.
    #[must_use]
    pub(super) fn is_training(&self) -> bool {
        self.training.is_some()
    }

    /// Whether poses are being left out in turn.
    #[must_use]
    pub(super) fn is_judging(&self) -> bool {
        self.judging.is_some()
    }

    /// Asks a training under way to stop.
    pub(super) fn cancel_training(&self) {
        self.training.iter().for_each(|task| task.watch().cancel());
    }

    /// Starts to train, in place of a training under way.
    pub(super) fn train(&mut self, stock: &Stock, cx: &mut Cx<'_>) {
        if let Some(order) = Order::of(stock, &cx.document.learn.recipe) {
            self.training = Some(cx.start("Training", move |watch| order.train(watch)));
        }
    }

    /// Starts to leave poses out in turn.
    pub(super) fn judge(&mut self, stock: &Stock, cx: &mut Cx<'_>) {
        if let Some(order) = Order::of(stock, &cx.document.learn.recipe) {
            self.judging = Some(cx.start("Leaving examples out", move |watch| order.judge(watch)));
        }
    }

    /// Starts to choose `count` points.
    pub(super) fn suggest(&mut self, count: usize, stock: &Stock, cx: &mut Cx<'_>) {
        let recipe = cx.document.learn.recipe.clone();
        if let Some(poses) = stock.poses().cloned() {
            let work = move |_: &_| {
                let mesh = poses.rest_mesh(&recipe)?;
                let control =
                    suggest_control_points(&mesh, count).map_err(|error| error.to_string())?;
                Ok((recipe, control.vertices().to_vec()))
            };
            // No bar: it is over before one could be read.
            self.suggesting = Some(Task::start("Choosing points", cx.wake.clone(), work));
        }
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
        Some(Err(sentence)) => cx.tell(Notice::trouble(format!("{label}: {sentence}"))),
    }
}

impl Order {
    fn of(stock: &Stock, recipe: &Recipe) -> Option<Self> {
        let poses = stock.poses()?.clone();
        stock.ready_for(recipe).then(|| Self {
            recipe: recipe.clone(),
            poses,
            detailed: stock.detailed().cloned(),
        })
    }

    fn train(self, progress: &dyn Progress) -> Result<Trained, String> {
        let began = Instant::now();
        let (recipe, options) = (&self.recipe, self.recipe.options());
        let told = |error: pliant::learn::LearnError| error.to_string();
        let (examples, control) = self.poses.examples(recipe)?;
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
        let model = model.map_err(told)?;
        Ok(Trained {
            problems: options.problems(model.examples().reference().vertex_count()),
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
                smoothed.map(Some).map_err(|error| error.to_string())
            }
            (Details::Asset(_), Some(detailed)) => self
                .poses
                .details(&self.recipe, base.clone(), detailed)
                .map(Some),
            (Details::None, _) | (Details::Asset(_), None) => Ok(None),
        }
    }

    fn judge(self, progress: &dyn Progress) -> Result<Judged, String> {
        let (examples, control) = self.poses.examples(&self.recipe)?;
        let found = LeaveOneOut::of(examples, control, &self.recipe.options(), progress)
            .map_err(|error| error.to_string())?;
        let used = self.poses.used(&self.recipe);
        let errors = used[1..].iter().zip(found.poses).map(|(&k, error)| {
            let pose = self.poses.poses[k].id.clone();
            ExampleError {
                pose,
                name: error.name,
                rms: error.rms,
            }
        });
        Ok(Judged {
            errors: errors.collect(),
            of: self.recipe,
        })
    }
}
