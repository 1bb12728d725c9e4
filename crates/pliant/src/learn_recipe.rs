//! Recipes of learning: which poses, which control points, which method, as a TOML file.
//!
//! ```toml
//! examples = "horse.reference.obj+horse.frames.npy"
//! control_points = [12, 480, 3107]
//! method = "auto"
//! ```

use pliant_learn::{LearnOptions, Method};
use serde::Deserialize;

use crate::learn_detail::DetailRecipe;
use crate::transfer_recipe::RecipeError;

/// What a recipe file says, before anything it names is opened.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LearnRecipe {
    /// The asset with the clip to learn from.
    pub examples: String,
    /// The vertices that steer it, counted from 0, or how many are to be chosen.
    pub control_points: RecipeControlPoints,
    /// How poses are made.
    #[serde(default)]
    pub method: RecipeLearnMethod,
    /// Control points that a bone listens to: a number or "all".
    pub k_c: Option<RecipeCount>,
    /// Examples that a local model of the paper is trained on: a number, or "all" for one model of
    /// all poses.
    pub k_p: Option<RecipeCount>,
    /// How closely control points are followed.
    pub beta: Option<f64>,
    /// Regions of the surface that move by themselves.
    pub bones: Option<usize>,
    /// Whether an example's own control points return it exactly.
    #[serde(default)]
    pub exact: bool,
    /// Fine detail above the poses.
    pub detail: Option<DetailRecipe>,
}

/// Vertices, or how many.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a list of vertices counted from 0, or how many to choose"
)]
pub enum RecipeControlPoints {
    /// These.
    Vertices(Vec<usize>),
    /// So many, as far from each other as they can be.
    Count(usize),
}

/// The name of a [`Method`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(try_from = "String")]
pub struct RecipeLearnMethod(pub Method);

impl TryFrom<String> for RecipeLearnMethod {
    type Error = pliant_learn::LearnError;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        name.parse().map(Self)
    }
}

/// How many neighbours.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged, expecting = "give a number or \"all\"")]
pub enum RecipeCount {
    /// So many.
    Number(usize),
    /// By name: as many as there are.
    Name(RecipeAll),
}

/// The word for all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RecipeAll {
    /// `"all"`.
    All,
}

impl RecipeCount {
    fn count(&self) -> usize {
        match self {
            Self::Number(count) => *count,
            Self::Name(RecipeAll::All) => LearnOptions::ALL,
        }
    }
}

impl LearnRecipe {
    /// Reads a recipe; keys that it does not know are declined.
    ///
    /// # Errors
    /// [`RecipeError::Syntax`] with the line.
    pub fn parse(text: &str) -> Result<Self, RecipeError> {
        toml::from_str(text).map_err(|error| RecipeError::syntax(text, &error))
    }

    /// What a model is to be trained with.
    #[must_use]
    pub fn options(&self) -> LearnOptions {
        let mut options = LearnOptions::default().with_method(self.method.0);
        options = self
            .k_c
            .as_ref()
            .map_or(options, |k_c| options.with_neighbors(k_c.count()));
        options = self
            .k_p
            .as_ref()
            .map_or(options, |k_p| options.with_pose_neighbors(k_p.count()));
        options = self.beta.map_or(options, |beta| options.with_beta(beta));
        self.bones
            .map_or(options, |bones| options.with_bones(bones))
            .with_exact(self.exact)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: &str = "examples = \"a.glb\"\ncontrol_points = [1, 2, 3]\n";

    #[test]
    fn what_a_recipe_leaves_out_is_the_default() {
        assert_eq!(
            LearnRecipe::parse(SHORT).unwrap().options(),
            LearnOptions::default()
        );
        let more = LearnRecipe::parse(&format!(
            "{SHORT}method = \"feng\"\nk_c = 5\nk_p = 4\nbeta = 0.3\nbones = 20\n"
        ))
        .unwrap();
        let asked = LearnOptions::default()
            .with_method(Method::Feng)
            .with_neighbors(5)
            .with_pose_neighbors(4)
            .with_beta(0.3)
            .with_bones(20);
        assert_eq!(more.options(), asked);
    }

    #[test]
    fn the_four_variants_of_figure_6_are_told_by_all() {
        let with = |more: &str| {
            LearnRecipe::parse(&format!("{SHORT}{more}")).map(|recipe| recipe.options())
        };
        let all = with("k_c = \"all\"\nk_p = \"all\"\n").unwrap();
        assert_eq!(
            (all.neighbors(), all.pose_neighbors()),
            (LearnOptions::ALL, LearnOptions::ALL)
        );
        assert_eq!(
            with("k_p = \"all\"\n").unwrap().neighbors(),
            LearnOptions::DEFAULT_NEIGHBORS
        );
        let Err(RecipeError::Syntax { line, message }) = with("k_c = \"many\"\n") else {
            panic!("a word that is no number")
        };
        assert!(
            line == 3 && message.contains("\"all\""),
            "{line}: {message}"
        );
    }

    #[test]
    fn control_points_are_vertices_or_a_number_of_them() {
        assert_eq!(
            LearnRecipe::parse(SHORT).unwrap().control_points,
            RecipeControlPoints::Vertices(vec![1, 2, 3])
        );
        let counted =
            LearnRecipe::parse("examples = \"a.glb\"\ncontrol_points = 20\nexact = true\n")
                .unwrap();
        assert_eq!(counted.control_points, RecipeControlPoints::Count(20));
        assert!(counted.options().exact());
    }

    #[test]
    fn errors_name_the_line_and_the_culprit() {
        let at = |text: &str| match LearnRecipe::parse(text) {
            Err(RecipeError::Syntax { line, message }) => (line, message),
            other => panic!("{other:?}"),
        };
        let (line, message) = at(&format!("{SHORT}method = \"magic\"\n"));
        assert!(
            line == 3 && message.contains("magic") && message.contains("meshik"),
            "{line}: {message}"
        );
        let (line, message) = at(&format!("{SHORT}contrl_points = [1]\n"));
        assert!(
            line == 3 && message.contains("contrl_points"),
            "{line}: {message}"
        );
        assert_eq!(at("examples = \"a.glb\"\ncontrol_points = [1, -1]\n").0, 2);
        let (line, message) = at(&format!("{SHORT}[detail]\nlevles = 2\n"));
        assert!(line == 4 && message.contains("levles"), "{line}: {message}");
        let (line, message) = at(&format!("{SHORT}[detail]\nmode = \"bumpy\"\n"));
        assert!(line == 4 && message.contains("bumpy"), "{line}: {message}");
        assert!(at("examples = \"a.glb\"\n").1.contains("control_points"));
    }
}
