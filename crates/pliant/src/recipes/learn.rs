//! Learn recipes: examples, control points and method of a model, as a TOML file.
//!
//! ```toml
//! examples = "horse.reference.obj+horse.frames.npy"
//! control_points = [12, 480, 3107]
//! method = "auto"
//! ```

use pliant_learn::{LearnOptions, Method};
use serde::Deserialize;

use super::{DetailRecipe, RecipeError, named};

/// The content of a learn recipe; nothing that it names is opened yet.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LearnRecipe {
    /// The asset with the clip to learn from.
    pub examples: String,
    /// The vertices of the control points, counted from 0, or how many to choose.
    pub control_points: RecipeControlPoints,
    /// The method that predicts poses.
    #[serde(default, deserialize_with = "named::choice")]
    pub method: Method,
    /// Control points that drive a bone: a number or "all".
    pub k_c: Option<RecipeCount>,
    /// Examples on which a local model of Huang et al. 2012 is trained: a number, or "all" for one
    /// model of all poses.
    pub k_p: Option<RecipeCount>,
    /// How closely control points are followed.
    pub beta: Option<f64>,
    /// The number of abstract bones.
    pub bones: Option<usize>,
    /// Whether an example's own control points return it exactly.
    #[serde(default)]
    pub exact: bool,
    /// Fine detail above the poses.
    pub detail: Option<DetailRecipe>,
}

/// Control points: vertices, or how many to choose.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a list of vertices counted from 0, or how many to choose"
)]
pub enum RecipeControlPoints {
    /// These vertices.
    Vertices(Vec<usize>),
    /// This many, as far from each other as possible.
    Count(usize),
}

/// A number of neighbours.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged, expecting = "give a number or \"all\"")]
pub enum RecipeCount {
    /// This many.
    Number(usize),
    /// All of them.
    Name(RecipeAll),
}

/// The word for all neighbours.
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
    /// Reads a recipe; an unknown key is an error.
    ///
    /// # Errors
    /// [`RecipeError::Syntax`] with the line.
    pub fn parse(text: &str) -> Result<Self, RecipeError> {
        toml::from_str(text).map_err(|error| RecipeError::syntax(text, &error))
    }

    /// The options for training.
    #[must_use]
    pub fn options(&self) -> LearnOptions {
        let mut options = LearnOptions::default().with_method(self.method);
        if let Some(k_c) = &self.k_c {
            options = options.with_neighbors(k_c.count());
        }
        if let Some(k_p) = &self.k_p {
            options = options.with_pose_neighbors(k_p.count());
        }
        if let Some(beta) = self.beta {
            options = options.with_beta(beta);
        }
        if let Some(bones) = self.bones {
            options = options.with_bones(bones);
        }
        options.with_exact(self.exact)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: &str = "examples = \"a.glb\"\ncontrol_points = [1, 2, 3]\n";

    #[test]
    fn keys_left_out_take_the_default() {
        assert_eq!(
            LearnRecipe::parse(SHORT).unwrap().options(),
            LearnOptions::default()
        );

        let more = LearnRecipe::parse(&format!(
            "{SHORT}method = \"feng\"\nk_c = 5\nk_p = 4\nbeta = 0.3\nbones = 20\n"
        ))
        .unwrap();

        let expected = LearnOptions::default()
            .with_method(Method::Feng2008)
            .with_neighbors(5)
            .with_pose_neighbors(4)
            .with_beta(0.3)
            .with_bones(20);

        assert_eq!(more.options(), expected);
    }

    #[test]
    fn all_selects_the_four_variants_of_figure_6() {
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
    fn control_points_are_vertices_or_their_number() {
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
    fn errors_name_the_line_and_the_key() {
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
