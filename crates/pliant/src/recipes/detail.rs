//! The table `[detail]` of a learn recipe: the source of fine detail and how it is learned.
//!
//! ```toml
//! [detail]
//! examples = "sculpted.reference.obj+sculpted.frames.npy"
//! levels = 1
//! mode = "auto"
//! ```

use std::borrow::Cow;

use pliant_io::{Asset, LoadOptions};
use pliant_learn::{DetailMode, DetailOptions, DetailedExamples, Examples, LearnError, Method};
use pliant_mesh::Mesh;
use serde::Deserialize;

use super::{RecipeError, named};

/// The table `[detail]` of a learn recipe.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DetailRecipe {
    /// The detailed poses; without them, the smoothed examples are the base of their own detail.
    pub examples: Option<DetailSources>,
    /// How often the base is subdivided [default: to about the vertices of the detailed
    /// reference].
    pub levels: Option<usize>,
    /// What detail is predicted from [default: as the method of the recipe does].
    #[serde(default, deserialize_with = "named::optional_choice")]
    pub mode: Option<DetailMode>,
    /// Rounds of smoothing that give the base, without `examples`.
    pub smoothing: Option<usize>,
    /// The greatest distance of a surface from the base, in mean edge lengths.
    pub reach: Option<f64>,
}

/// The files of detailed poses.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum DetailSources {
    /// One clip, its reference pose first.
    Clip(String),
    /// One surface for each example, that of the reference pose first.
    Surfaces(Vec<String>),
}

impl DetailRecipe {
    /// The options for learning detail beside `method`.
    #[must_use]
    pub fn options(&self, method: Method) -> DetailOptions {
        let mode = self.mode.unwrap_or_else(|| DetailMode::of_method(method));
        DetailOptions::default().with_mode(mode)
    }

    /// Opens the named files and measures the detail above `base`; adds the warnings of reading to
    /// `warnings`.
    ///
    /// # Errors
    /// Files that cannot be read, poses that do not fit the examples, or numbers out of range.
    pub fn open(
        &self,
        base: Examples,
        options: &LoadOptions<'_>,
        warnings: &mut Vec<String>,
    ) -> Result<DetailedExamples, RecipeError> {
        self.check()?;
        match &self.examples {
            None => self.by_smoothing(&base),
            Some(DetailSources::Clip(locator)) => self.read_clip(base, locator, options, warnings),
            Some(DetailSources::Surfaces(locators)) => self.read_surfaces(base, locators, options),
        }
    }

    fn by_smoothing(&self, base: &Examples) -> Result<DetailedExamples, RecipeError> {
        let rounds = self
            .smoothing
            .unwrap_or(DetailedExamples::DEFAULT_SMOOTHING);
        DetailedExamples::by_smoothing(base, rounds).map_err(RecipeError::learn("detail"))
    }

    fn read_clip(
        &self,
        base: Examples,
        locator: &str,
        options: &LoadOptions<'_>,
        warnings: &mut Vec<String>,
    ) -> Result<DetailedExamples, RecipeError> {
        let asset = pliant_io::load(locator, options)?;
        let clip = in_unit(base.meters_per_unit(), &asset).clip()?;
        let levels = self.levels_for(&base, clip.reference());
        warnings.extend(asset.warnings);
        DetailedExamples::from_clip(base, levels, self.reach(), &clip)
            .map_err(RecipeError::learn("detail"))
    }

    fn read_surfaces(
        &self,
        base: Examples,
        locators: &[String],
        options: &LoadOptions<'_>,
    ) -> Result<DetailedExamples, RecipeError> {
        if locators.len() != base.count() {
            return Err(RecipeError::learn("detail")(LearnError::DetailCount {
                found: locators.len(),
                expected: base.count(),
            }));
        }

        let unit = base.meters_per_unit();
        // Surfaces are opened one at a time: scans of all examples may not fit into memory.
        let load = |locator: &String| -> Result<Mesh, RecipeError> {
            let asset = pliant_io::load(locator, options)?;
            Ok(in_unit(unit, &asset).mesh()?)
        };
        let levels = self.levels_for(&base, &load(&locators[0])?);
        let surfaces = locators
            .iter()
            .map(|locator| load(locator).map_err(SurfaceError));

        DetailedExamples::from_surfaces(base, levels, self.reach(), surfaces)
            .map_err(|SurfaceError(error)| error)
    }

    fn reach(&self) -> f64 {
        self.reach.unwrap_or(DetailedExamples::DEFAULT_REACH)
    }

    fn levels_for(&self, base: &Examples, detailed: &Mesh) -> usize {
        self.levels.unwrap_or_else(|| {
            DetailedExamples::levels_for(base.reference(), detailed.vertex_count())
        })
    }

    /// Rejects keys that contradict each other.
    fn check(&self) -> Result<(), RecipeError> {
        let no_examples = "it has no meaning without examples of the detail; remove it";
        match (&self.examples, self.smoothing, self.levels, self.reach) {
            (Some(_), Some(_), ..) => Err(RecipeError::meaning(
                "detail.smoothing",
                "examples have their own base; remove either the smoothing or the examples",
            )),
            (None, _, Some(_), _) => Err(RecipeError::meaning("detail.levels", no_examples)),
            (None, _, _, Some(_)) => Err(RecipeError::meaning("detail.reach", no_examples)),
            _ => Ok(()),
        }
    }
}

/// The asset in the unit of the base, where both are known.
fn in_unit(meters_per_unit: Option<f64>, asset: &Asset) -> Cow<'_, Asset> {
    match meters_per_unit {
        Some(unit) => asset.in_space(asset.up_axis, unit),
        None => Cow::Borrowed(asset),
    }
}

/// An error while the surfaces of the detail are read.
struct SurfaceError(RecipeError);

impl From<LearnError> for SurfaceError {
    fn from(source: LearnError) -> Self {
        Self(RecipeError::learn("detail")(source))
    }
}
