//! The `[detail]` of a learn recipe: where fine detail comes from and how it is learned.
//!
//! ```toml
//! [detail]
//! examples = "sculpted.reference.obj+sculpted.frames.npy"
//! levels = 1
//! mode = "auto"
//! ```

use pliant_io::LoadOptions;
use pliant_learn::{DetailMode, DetailOptions, DetailedExamples, Examples, LearnError, Method};
use pliant_mesh::Mesh;
use serde::Deserialize;

use crate::transfer_recipe::RecipeError;

/// What a recipe says of fine detail.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DetailRecipe {
    /// The detailed poses; without them the examples are smoothed to be their own base.
    pub examples: Option<DetailSources>,
    /// How often the base is subdivided [default: to about the vertices of the detailed
    /// reference].
    pub levels: Option<usize>,
    /// What details are predicted from [default: as the method of the recipe has it].
    pub mode: Option<RecipeDetailMode>,
    /// Rounds of smoothing that make the base, without `examples`.
    pub smoothing: Option<usize>,
    /// How far a surface may be from the base, in mean edges.
    pub reach: Option<f64>,
}

/// Where detailed poses are.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum DetailSources {
    /// One clip, its reference pose first.
    Clip(String),
    /// A surface for each example, that of the reference pose first.
    Surfaces(Vec<String>),
}

/// The name of a [`DetailMode`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct RecipeDetailMode(pub DetailMode);

impl TryFrom<String> for RecipeDetailMode {
    type Error = LearnError;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        name.parse().map(Self)
    }
}

impl DetailRecipe {
    /// How details are learned beside `method`.
    #[must_use]
    pub fn options(&self, method: Method) -> DetailOptions {
        DetailOptions::default().with_mode(
            self.mode
                .map_or_else(|| DetailMode::of_method(method), |mode| mode.0),
        )
    }

    /// Opens what it names and measures the details of `base` against it; adds what was odd to
    /// `problems`.
    ///
    /// # Errors
    /// Files that cannot be read, poses that do not fit the examples, or numbers out of range.
    pub fn open(
        &self,
        base: Examples,
        options: &LoadOptions<'_>,
        problems: &mut Vec<String>,
    ) -> Result<DetailedExamples, RecipeError> {
        let at = |source: LearnError| RecipeError::Learn {
            place: "detail",
            source,
        };
        self.check()?;
        let reach = self.reach.unwrap_or(DetailedExamples::DEFAULT_REACH);
        match &self.examples {
            None => DetailedExamples::by_smoothing(
                &base,
                self.smoothing
                    .unwrap_or(DetailedExamples::DEFAULT_SMOOTHING),
            )
            .map_err(at),
            Some(DetailSources::Clip(locator)) => {
                let asset = pliant_io::load(locator, options)?;
                let clip = asset.clip()?;
                let levels = self.levels_for(&base, clip.reference());
                problems.extend(asset.problems);
                DetailedExamples::from_clip(base, levels, reach, &clip).map_err(at)
            }
            Some(DetailSources::Surfaces(locators)) => {
                if locators.len() != base.count() {
                    return Err(at(LearnError::DetailCount {
                        found: locators.len(),
                        expected: base.count(),
                    }));
                }
                let load = |locator: &String| {
                    Ok::<Mesh, RecipeError>(pliant_io::load(locator, options)?.mesh()?)
                };
                let levels = self.levels_for(&base, &load(&locators[0])?);
                let surfaces = locators
                    .iter()
                    .map(|locator| load(locator).map_err(InDetail));
                DetailedExamples::from_surfaces(base, levels, reach, surfaces)
                    .map_err(|InDetail(error)| error)
            }
        }
    }

    fn levels_for(&self, base: &Examples, detailed: &Mesh) -> usize {
        self.levels.unwrap_or_else(|| {
            DetailedExamples::levels_for(base.reference(), detailed.vertex_count())
        })
    }

    /// Declines keys that have no meaning beside each other.
    fn check(&self) -> Result<(), RecipeError> {
        let no_examples = "it has no meaning without examples of the detail; leave it out";
        match (&self.examples, self.smoothing, self.levels, self.reach) {
            (Some(_), Some(_), ..) => Err(RecipeError::meaning(
                "detail.smoothing",
                "examples bring their own base; leave out either the smoothing or them",
            )),
            (None, _, Some(_), _) => Err(RecipeError::meaning("detail.levels", no_examples)),
            (None, _, _, Some(_)) => Err(RecipeError::meaning("detail.reach", no_examples)),
            _ => Ok(()),
        }
    }
}

/// Whatever is wrong with the surfaces of a recipe's detail.
struct InDetail(RecipeError);

impl From<LearnError> for InDetail {
    fn from(source: LearnError) -> Self {
        Self(RecipeError::Learn {
            place: "detail",
            source,
        })
    }
}
