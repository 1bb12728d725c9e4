//! Training and validation of a model from a learn recipe.

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
use crate::recipes::{LearnRecipe, RecipeControlPoints, RecipeError};

/// More examples than this give a warning: the time of a regression grows with the third power of
/// their number.
const MANY_EXAMPLES: usize = 60;

/// Examples, control points and options, checked.
#[derive(Debug, Clone)]
pub struct LearnJob {
    examples: TrainingSet,
    control: ControlPoints,
    options: LearnOptions,
    chooses_points: bool,
    /// Warnings of reading.
    pub warnings: Vec<String>,
}

/// The examples, with or without detail.
#[derive(Debug, Clone)]
enum TrainingSet {
    Plain(Examples),
    Detailed(Box<DetailedExamples>, DetailOptions),
}

/// The errors of a leave-one-out validation.
#[derive(Debug, Clone, PartialEq)]
pub struct Validation {
    /// The errors of the recipe's method and of the other methods.
    pub compared: Comparison,
    /// The errors with detail, one for each pose, if the recipe has detail.
    pub details: Option<Vec<DetailError>>,
}

impl LearnJob {
    /// Opens the files of `recipe`; relative paths start at `folder`.
    ///
    /// # Errors
    /// Files that cannot be read, examples or control points that are unsuitable.
    pub fn load(recipe: &LearnRecipe, folder: Option<&Path>) -> Result<Self, RecipeError> {
        // Specimens can stand for files, also in recipes.
        let mut load_options = LoadOptions::default().with_specimens(&BuiltIn);
        if let Some(folder) = folder {
            load_options = load_options.with_folder(folder);
        }

        let asset = pliant_io::load(&recipe.examples, &load_options)?;
        let clip = asset.clip()?;
        let examples = Examples::from_clip(&clip)
            .map_err(RecipeError::learn("examples"))?
            .with_meters_per_unit(asset.meters_per_unit);
        let control = control_points(&recipe.control_points, &examples)
            .map_err(RecipeError::learn("control_points"))?;

        let options = recipe.options();
        let vertices = examples.reference().vertex_count();
        // Reading, options and the number of examples can each give a warning.
        let mut warnings = asset.warnings;
        warnings.extend(options.warnings(vertices));
        if examples.count() > MANY_EXAMPLES {
            warnings.push(format!(
                "{} examples make training and driving slow; use a few dozen poses that differ",
                examples.count()
            ));
        }

        let examples = match &recipe.detail {
            None => TrainingSet::Plain(examples),
            Some(detail) => {
                let detailed = detail.open(examples, &load_options, &mut warnings)?;
                warnings.extend(unmatched_warning(&detailed));
                TrainingSet::Detailed(Box::new(detailed), detail.options(recipe.method))
            }
        };

        Ok(Self {
            examples,
            control,
            options,
            chooses_points: matches!(recipe.control_points, RecipeControlPoints::Count(_)),
            warnings,
        })
    }

    /// The options of the training.
    #[must_use]
    pub fn options(&self) -> &LearnOptions {
        &self.options
    }

    /// Whether the recipe gives only the number of control points.
    #[must_use]
    pub fn chooses_points(&self) -> bool {
        self.chooses_points
    }

    /// An empty log of the training.
    #[must_use]
    pub fn log(&self) -> TrainingLog {
        let examples = match &self.examples {
            TrainingSet::Plain(examples) => examples,
            TrainingSet::Detailed(detailed, _) => detailed.base(),
        };
        TrainingLog::new(examples, &self.control, &self.options)
    }

    /// A model of all examples; continues the work in `log`.
    ///
    /// # Errors
    /// Options out of range; cancelled work.
    pub fn learn(
        self,
        log: &mut TrainingLog,
        progress: &dyn Progress,
    ) -> Result<Model, LearnError> {
        let (control, options) = (self.control, self.options);
        match self.examples {
            TrainingSet::Plain(examples) => {
                Model::train_logged(examples, control, &options, log, progress)
            }
            TrainingSet::Detailed(detailed, detail) => {
                let base = detailed.base().clone();
                let model = Model::train_logged(base, control, &options, log, progress)?;
                model.with_detail(*detailed, &detail)
            }
        }
    }

    /// The report on measuring detail, if the recipe has detail.
    #[must_use]
    pub fn detail_report(&self) -> Option<&DetailReport> {
        match &self.examples {
            TrainingSet::Plain(_) => None,
            TrainingSet::Detailed(detailed, _) => Some(detailed.report()),
        }
    }

    /// Leave-one-out validation of the recipe's method and of other methods; continues the work in
    /// `log`.
    ///
    /// # Errors
    /// As [`learn`](Self::learn).
    pub fn compare(
        &self,
        against: &[Method],
        log: &mut TrainingLog,
        progress: &dyn Progress,
    ) -> Result<Validation, LearnError> {
        let all: Vec<usize> = (0..self.pose_count()).collect();
        self.compare_frames(against, &all, log, progress)
    }

    /// Number of poses that a validation leaves out: all but the reference pose.
    #[must_use]
    pub fn pose_count(&self) -> usize {
        let examples = match &self.examples {
            TrainingSet::Plain(examples) => examples,
            TrainingSet::Detailed(detailed, _) => detailed.base(),
        };
        examples.count() - 1
    }

    /// As [`compare`](Self::compare), for some poses only, counted from 0 without the reference.
    ///
    /// # Errors
    /// As [`learn`](Self::learn).
    pub fn compare_frames(
        &self,
        against: &[Method],
        frames: &[usize],
        log: &mut TrainingLog,
        progress: &dyn Progress,
    ) -> Result<Validation, LearnError> {
        let (control, options) = (&self.control, &self.options);
        let (detailed, detail) = match &self.examples {
            TrainingSet::Plain(examples) => {
                return Ok(Validation {
                    compared: Comparison::of_frames(
                        examples, control, options, against, frames, log, progress,
                    )?,
                    details: None,
                });
            }
            TrainingSet::Detailed(detailed, detail) => (detailed, detail),
        };

        // Every method takes the same share of the progress.
        let share = 1.0 / (against.len() + 1) as f64;
        let own_progress = ProgressPart {
            whole: progress,
            begin: 0.0,
            size: share,
        };
        let own = DetailLeaveOneOut::of_frames(
            (**detailed).clone(),
            control.clone(),
            options,
            detail,
            frames,
            log,
            &own_progress,
        )?;

        let other_progress = ProgressPart {
            whole: progress,
            begin: share,
            size: 1.0 - share,
        };
        let compared = Comparison::with(
            own.base,
            detailed.base(),
            control,
            options,
            against,
            frames,
            &other_progress,
        )?;

        Ok(Validation {
            compared,
            details: Some(own.details),
        })
    }
}

fn control_points(
    recipe: &RecipeControlPoints,
    examples: &Examples,
) -> Result<ControlPoints, LearnError> {
    match recipe {
        RecipeControlPoints::Vertices(vertices) => {
            ControlPoints::new(examples.reference(), vertices)
        }
        RecipeControlPoints::Count(count) => suggest_control_points(examples.reference(), *count),
    }
}

/// A sentence about vertices of the base that meet no scanned surface.
fn unmatched_warning(detailed: &DetailedExamples) -> Option<String> {
    let missed: usize = detailed.report().missed.iter().sum();
    let of = detailed.report().missed.len() * detailed.mesh().vertex_count();
    (missed > 0).then(|| {
        format!(
            "[detail]: {missed} of {of} vertices met no surface along their normal; their heights are interpolated from their neighbours"
        )
    })
}

/// The frames as a clip of the model's mesh, or of its detailed mesh if the model has one and
/// `with_detail` asks for it.
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

    let mut asset = Asset::from_clip(&Clip::new(name, reference, frames)?);
    asset.meters_per_unit = model.examples().meters_per_unit();
    Ok(asset)
}
