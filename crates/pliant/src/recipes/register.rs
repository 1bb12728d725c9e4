//! Register recipes: scans and their markers on the reference, as a TOML file.
//!
//! ```toml
//! reference = "relaxed.ply"
//! vertices = 12000
//!
//! [[example]]
//! scan = "fist.ply"
//! markers = "relaxed-fist.json"
//! ```

use std::path::Path;

use pliant_learn::ScanOptions;
use serde::Deserialize;

use super::RecipeError;

/// The content of a register recipe; nothing that it names is opened yet.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RegisterRecipe {
    /// The asset with the reference scan.
    pub reference: String,
    /// The greatest number of vertices of the coarse mesh.
    pub vertices: Option<usize>,
    /// Levels of subdivision between the coarse mesh and the fine one.
    pub levels: Option<usize>,
    /// The length below which smoothing removes detail, in edges of the coarse mesh.
    pub smoothing: Option<f64>,
    /// The largest displacement along a normal, in edges of the coarse mesh.
    pub reach: Option<f64>,
    /// Iterations of closest points (ICP) that refine the rigid alignment.
    pub icp: Option<usize>,
    /// Whether an example is deformed from the most similar registered pose; if not, from the
    /// reference.
    pub chain: Option<bool>,
    /// Iterations of closest points that deform the coarse reference onto an example.
    pub steps: Option<usize>,
    /// The length below which the coarse reference stays rigid in the last iteration, as part of the
    /// scan's size.
    pub stiffness: Option<f64>,
    /// The other scans.
    #[serde(rename = "example")]
    pub examples: Vec<RecipeExample>,
}

/// One scan besides the reference.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecipeExample {
    /// The name of its frame; that of its file if there is none.
    pub name: Option<String>,
    /// The asset with the scan.
    pub scan: String,
    /// Pairs of a reference vertex and a vertex of the scan.
    pub markers: String,
}

impl RecipeExample {
    /// The name of the example in messages and of its frame.
    #[must_use]
    pub fn label(&self) -> String {
        if let Some(name) = &self.name {
            return name.clone();
        }
        let stem = Path::new(&self.scan).file_stem().unwrap_or_default();
        stem.to_string_lossy().into_owned()
    }
}

impl RegisterRecipe {
    /// Reads a recipe; an unknown key, no example and a name that occurs twice are errors.
    ///
    /// # Errors
    /// [`RecipeError::Syntax`] with the line, [`RecipeError::Meaning`] with the key.
    pub fn parse(text: &str) -> Result<Self, RecipeError> {
        let recipe: Self =
            toml::from_str(text).map_err(|error| RecipeError::syntax(text, &error))?;
        if recipe.examples.is_empty() {
            return Err(RecipeError::meaning(
                "example",
                "there is none; add [[example]] with scan and markers",
            ));
        }

        // Frames are named after their examples, so names must be unique.
        let names: Vec<String> = recipe.examples.iter().map(RecipeExample::label).collect();
        if let Some(k) = (0..names.len()).find(|&k| names[..k].contains(&names[k])) {
            return Err(RecipeError::meaning(
                "example",
                format!("two are called '{}'; give each a name of its own", names[k]),
            ));
        }

        Ok(recipe)
    }

    /// The options for registration.
    #[must_use]
    pub fn options(&self) -> ScanOptions {
        let mut options = ScanOptions::default();
        if let Some(steps) = self.steps {
            let registration = options.registration().with_steps(steps);
            options = options.with_registration(registration);
        }
        if let Some(vertices) = self.vertices {
            options = options.with_vertices(vertices);
        }

        // The recipe sets the final length; the initial one keeps its default.
        let [first, last] = ScanOptions::DEFAULT_LENGTHS;
        options
            .with_lengths(first, self.stiffness.unwrap_or(last))
            .with_levels(self.levels.unwrap_or(ScanOptions::DEFAULT_LEVELS))
            .with_smoothing(self.smoothing.unwrap_or(ScanOptions::DEFAULT_SMOOTHING))
            .with_reach(self.reach.unwrap_or(ScanOptions::DEFAULT_REACH))
            .with_icp(self.icp.unwrap_or(0))
            .with_chain(self.chain.unwrap_or(true))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: &str =
        "reference = \"a.ply\"\n[[example]]\nscan = \"b.ply\"\nmarkers = \"ab.json\"\n";

    #[test]
    fn keys_left_out_take_the_default() {
        let recipe = RegisterRecipe::parse(SHORT).unwrap();
        assert_eq!(
            (recipe.options(), recipe.examples[0].label()),
            (ScanOptions::default(), "b".into())
        );

        let keys = "vertices = 900\nlevels = 2\nsmoothing = 2.0\nreach = 4.0\nicp = 5\nchain = false\nsteps = 3\nstiffness = 0.01\n";
        let expected = ScanOptions::default()
            .with_vertices(900)
            .with_levels(2)
            .with_smoothing(2.0)
            .with_reach(4.0)
            .with_icp(5)
            .with_chain(false);

        let expected = expected.with_lengths(ScanOptions::DEFAULT_LENGTHS[0], 0.01);
        let registration = expected.registration().with_steps(3);
        assert_eq!(
            RegisterRecipe::parse(&format!("{keys}{SHORT}"))
                .unwrap()
                .options(),
            expected.with_registration(registration)
        );
    }

    #[test]
    fn errors_name_the_line_or_the_key() {
        let message = |text: &str| RegisterRecipe::parse(text).unwrap_err().to_string();
        assert!(message(&format!("vertces = 3\n{SHORT}")).starts_with("line 1: "));
        assert!(message("reference = \"a.ply\"\n").contains("example"));
        assert!(message("reference = \"a.ply\"\nexample = []\n").contains("there is none"));
        assert!(message(&format!("{SHORT}{}", &SHORT[SHORT.find('[').unwrap()..])).contains("'b'"));
    }
}
