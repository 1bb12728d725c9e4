//! Learning with all its files at hand: from a [`LearnRecipe`] to a model or a validation, and from a model to a clip.

use std::path::Path;

use pliant_io::{Asset, LoadOptions};
use pliant_learn::{
    ControlPoints, DetailError, DetailLeaveOneOut, DetailOptions, DetailReport, DetailedExamples, Examples, LearnError, LearnOptions,
    LeaveOneOut, Model,
};
use pliant_mesh::Progress;
use pliant_mesh::glam::DVec3;
use pliant_rig::{Clip, RigError};

use crate::BuiltIn;
use crate::learn_recipe::LearnRecipe;
use crate::transfer_recipe::RecipeError;

/// Examples, control points and options, checked.
#[derive(Debug, Clone)]
pub struct LearnJob {
    source: Source,
    control: ControlPoints,
    options: LearnOptions,
    /// What was odd on reading.
    pub problems: Vec<String>,
}

/// What is learned from.
#[derive(Debug, Clone)]
enum Source {
    Plain(Examples),
    Detailed(Box<DetailedExamples>, DetailOptions),
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
        let at = |place: &'static str| move |source: LearnError| RecipeError::Learn { place, source };
        let examples = Examples::from_clip(&clip).map_err(at("examples"))?;
        let control = ControlPoints::new(examples.reference(), &recipe.control_points).map_err(at("control_points"))?;
        let mut problems = asset.problems;
        problems.extend(recipe.options().problems(examples.reference().vertex_count()));
        let source = match &recipe.detail {
            None => Source::Plain(examples),
            Some(detail) => {
                let detailed = detail.open(examples, &options, &mut problems)?;
                problems.extend(missed_in_words(&detailed));
                Source::Detailed(Box::new(detailed), detail.options(recipe.method.0))
            }
        };
        Ok(Self { source, control, options: recipe.options(), problems })
    }

    /// What the model is trained with.
    #[must_use]
    pub fn options(&self) -> &LearnOptions {
        &self.options
    }

    /// A model of all examples.
    ///
    /// # Errors
    /// Options out of range; work that was cancelled.
    pub fn learn(self, progress: &dyn Progress) -> Result<Model, LearnError> {
        match self.source {
            Source::Plain(examples) => Model::train(examples, self.control, &self.options, progress),
            Source::Detailed(detailed, detail) => Model::train_detailed(*detailed, self.control, &self.options, &detail, progress),
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

    /// Each example left out in turn.
    ///
    /// # Errors
    /// As [`learn`](Self::learn).
    pub fn validate(self, progress: &dyn Progress) -> Result<LeaveOneOut, LearnError> {
        Ok(self.validate_detailed(progress)?.0)
    }

    /// The same with the errors of the details, one for each pose; none without details.
    ///
    /// # Errors
    /// As [`learn`](Self::learn).
    pub fn validate_detailed(self, progress: &dyn Progress) -> Result<(LeaveOneOut, Option<Vec<DetailError>>), LearnError> {
        match self.source {
            Source::Plain(examples) => Ok((LeaveOneOut::of(examples, self.control, &self.options, progress)?, None)),
            Source::Detailed(detailed, detail) => {
                let found = DetailLeaveOneOut::of(*detailed, self.control, &self.options, &detail, progress)?;
                Ok((found.base, Some(found.details)))
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

/// The frames as a clip of the model's mesh.
///
/// # Errors
/// Frames of another vertex count.
pub fn clip_asset(model: &Model, name: &str, frames: Vec<Vec<DVec3>>) -> Result<Asset, RigError> {
    Ok(Asset::from_clip(&Clip::new(name, model.examples().reference().clone(), frames)?))
}

/// The frames as a clip of the model's detailed mesh; without details as [`clip_asset`].
///
/// # Errors
/// Frames of another vertex count.
pub fn detailed_clip_asset(model: &Model, name: &str, frames: Vec<Vec<DVec3>>) -> Result<Asset, RigError> {
    match model.detailed_mesh() {
        Some(mesh) => Ok(Asset::from_clip(&Clip::new(name, mesh, frames)?)),
        None => clip_asset(model, name, frames),
    }
}
