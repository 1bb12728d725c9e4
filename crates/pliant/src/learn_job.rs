//! Learning with all its files at hand: from a [`LearnRecipe`] to a model or a validation, and from
//! a model to a clip.

use std::path::Path;

use pliant_io::{Asset, LoadOptions};
use pliant_learn::{
    Comparison, ControlPoints, DetailError, DetailLeaveOneOut, DetailOptions, DetailReport,
    DetailedExamples, Examples, LearnError, LearnOptions, Method, Model, TrainingLog,
    suggest_control_points,
};
use pliant_mesh::glam::DVec3;
use pliant_mesh::{Progress, ProgressPart};
use pliant_rig::{Clip, RigError};

use crate::BuiltIn;
use crate::learn_recipe::{LearnRecipe, RecipeControlPoints};
use crate::transfer_recipe::RecipeError;

/// Examples beyond this are told: the time of a regression grows with the third power of their
/// number.
const MANY: usize = 60;

/// Examples, control points and options, checked.
#[derive(Debug, Clone)]
pub struct LearnJob {
    source: Source,
    control: ControlPoints,
    options: LearnOptions,
    chooses_points: bool,
    /// What was odd on reading.
    pub problems: Vec<String>,
}

/// What is learned from.
#[derive(Debug, Clone)]
enum Source {
    Plain(Examples),
    Detailed(Box<DetailedExamples>, DetailOptions),
}

/// What a validation found.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// The errors of the recipe's method and of its rivals.
    pub compared: Comparison,
    /// The errors with details, one for each pose, where the recipe has any.
    pub details: Option<Vec<DetailError>>,
}

impl LearnJob {
    /// Opens what `recipe` names; relative paths start at `folder`.
    ///
    /// # Errors
    /// Files that cannot be read, examples or control points that cannot be learned from.
    pub fn load(recipe: &LearnRecipe, folder: Option<&Path>) -> Result<Self, RecipeError> {
        let mut options = LoadOptions::default().with_specimens(&BuiltIn);
        if let Some(folder) = folder {
            options = options.with_folder(folder);
        }
        let asset = pliant_io::load(&recipe.examples, &options)?;
        let clip = asset.clip()?;
        let at =
            |place: &'static str| move |source: LearnError| RecipeError::Learn { place, source };
        let examples = Examples::from_clip(&clip).map_err(at("examples"))?;
        let control = match &recipe.control_points {
            RecipeControlPoints::Vertices(vertices) => {
                ControlPoints::new(examples.reference(), vertices)
            }
            RecipeControlPoints::Count(count) => {
                suggest_control_points(examples.reference(), *count)
            }
        };
        let control = control.map_err(at("control_points"))?;
        let mut problems = asset.problems;
        problems.extend(
            recipe
                .options()
                .problems(examples.reference().vertex_count()),
        );
        if examples.count() > MANY {
            problems.push(format!(
                "{} examples take long to learn from and to drive by: a few dozen poses that differ tell as much",
                examples.count()
            ));
        }
        let source = match &recipe.detail {
            None => Source::Plain(examples),
            Some(detail) => {
                let detailed = detail.open(examples, &options, &mut problems)?;
                problems.extend(missed_in_words(&detailed));
                Source::Detailed(Box::new(detailed), detail.options(recipe.method.0))
            }
        };
        let chooses_points = matches!(recipe.control_points, RecipeControlPoints::Count(_));
        Ok(Self {
            source,
            control,
            options: recipe.options(),
            chooses_points,
            problems,
        })
    }

    /// What the model is trained with.
    #[must_use]
    pub fn options(&self) -> &LearnOptions {
        &self.options
    }

    /// Whether the recipe left the choice of control points to us.
    #[must_use]
    pub fn chooses_points(&self) -> bool {
        self.chooses_points
    }

    /// An empty log of the work.
    #[must_use]
    pub fn log(&self) -> TrainingLog {
        let examples = match &self.source {
            Source::Plain(examples) => examples,
            Source::Detailed(detailed, _) => detailed.base(),
        };
        TrainingLog::new(examples, &self.control, &self.options)
    }

    /// A model of all examples, going on from `log`.
    ///
    /// # Errors
    /// Options out of range; work that was cancelled.
    pub fn learn(
        self,
        log: &mut TrainingLog,
        progress: &dyn Progress,
    ) -> Result<Model, LearnError> {
        let Self {
            source,
            control,
            options,
            ..
        } = self;
        match source {
            Source::Plain(examples) => {
                Model::train_logged(examples, control, &options, log, progress)
            }
            Source::Detailed(detailed, detail) => {
                Model::train_logged(detailed.base().clone(), control, &options, log, progress)?
                    .with_detail(*detailed, &detail)
            }
        }
    }

    /// How details were measured, where the recipe has any.
    #[must_use]
    pub fn detail_report(&self) -> Option<&DetailReport> {
        match &self.source {
            Source::Plain(_) => None,
            Source::Detailed(detailed, _) => Some(detailed.report()),
        }
    }

    /// Each example left out in turn, going on from `log`, and the same for other methods.
    ///
    /// # Errors
    /// As [`learn`](Self::learn).
    pub fn compare(
        &self,
        against: &[Method],
        log: &mut TrainingLog,
        progress: &dyn Progress,
    ) -> Result<Judged, LearnError> {
        let (control, options) = (&self.control, &self.options);
        match &self.source {
            Source::Plain(examples) => {
                let compared = Comparison::of(examples, control, options, against, log, progress)?;
                Ok(Judged {
                    compared,
                    details: None,
                })
            }
            Source::Detailed(detailed, detail) => {
                let share = 1.0 / (against.len() + 1) as f64;
                let own = ProgressPart {
                    whole: progress,
                    begin: 0.0,
                    size: share,
                };
                let found = DetailLeaveOneOut::logged(
                    (**detailed).clone(),
                    control.clone(),
                    options,
                    detail,
                    log,
                    &own,
                )?;
                let others = ProgressPart {
                    whole: progress,
                    begin: share,
                    size: 1.0 - share,
                };
                let compared = Comparison::with(
                    found.base,
                    detailed.base(),
                    control,
                    options,
                    against,
                    &others,
                )?;
                Ok(Judged {
                    compared,
                    details: Some(found.details),
                })
            }
        }
    }
}

/// A sentence for scans that leave part of the base unmet.
fn missed_in_words(detailed: &DetailedExamples) -> Option<String> {
    let missed: usize = detailed.report().missed.iter().sum();
    let of = detailed.report().missed.len() * detailed.mesh().vertex_count();
    (missed > 0).then(|| format!("[detail]: {missed} of {of} vertices met no surface along their normal and are filled in from around"))
}

/// The frames as a clip of the model's mesh, or `with_detail`, where it has any, of its detailed
/// one.
///
/// # Errors
/// Frames of another vertex count.
pub fn clip_asset(
    model: &Model,
    with_detail: bool,
    name: &str,
    frames: Vec<Vec<DVec3>>,
) -> Result<Asset, RigError> {
    let detailed = if with_detail {
        model.detailed_mesh()
    } else {
        None
    };
    let reference = detailed.unwrap_or_else(|| model.examples().reference().clone());
    Ok(Asset::from_clip(&Clip::new(name, reference, frames)?))
}
