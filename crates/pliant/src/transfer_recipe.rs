//! Recipes of animation synthesis: which clips move which parts of a target, as a TOML file.
//!
//! ```toml
//! target = "tapir.obj"
//!
//! [[source]]
//! name = "walk"
//! clip = "hound.reference.obj+hound.frames.npy"
//! markers = "hound-tapir.json"
//!
//! [[layer]]
//! source = "walk"
//! region = "all"
//! ```

use pliant_io::IoError;
use pliant_transfer::{LayerMode, TransferError};
use serde::Deserialize;
use thiserror::Error;

/// What a recipe file says, before anything it names is opened.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TransferRecipe {
    /// The asset that is to move.
    pub target: String,
    /// The clips that move it.
    #[serde(rename = "source")]
    pub sources: Vec<RecipeSource>,
    /// What goes where, from the lowest up.
    #[serde(rename = "layer")]
    pub layers: Vec<RecipeLayer>,
}

/// A clip, and where its mesh corresponds to the target.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecipeSource {
    /// The name that layers call it by.
    pub name: String,
    /// The asset with the clip.
    pub clip: String,
    /// A file of marker pairs; without one the shapes alone decide.
    pub markers: Option<String>,
}

/// A part of a clip on a part of the target.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecipeLayer {
    /// The name of its source.
    pub source: String,
    /// Where on the target.
    #[serde(default)]
    pub region: Region,
    /// Whether stiff parts of the target are taken or left as a whole, and the parts that bend blend.
    #[serde(default = "yes")]
    pub refine: bool,
    /// How it meets what lies below.
    #[serde(default)]
    pub mode: RecipeMode,
    /// First and last frame of the clip; without it all of them.
    pub frames: Option<[usize; 2]>,
    /// The frame of the output at which it starts.
    #[serde(default)]
    pub at: usize,
    /// Frames of the clip per frame of the output.
    #[serde(default = "one")]
    pub speed: f64,
    /// Frames of the output over which it comes in and goes out.
    #[serde(default)]
    pub ease: f64,
}

/// A part of the target.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(from = "RegionText")]
pub enum Region {
    /// All of it.
    #[default]
    All,
    /// A `.npy` of 0 or 1 per face, or a JSON list of faces.
    File(String),
    /// These faces, counted from 0.
    Faces(Vec<usize>),
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a region is \"all\", the name of a .npy or .json file, or a list of faces counted from 0")]
enum RegionText {
    Word(String),
    Faces(Vec<usize>),
}

impl From<RegionText> for Region {
    fn from(text: RegionText) -> Self {
        match text {
            RegionText::Word(word) if word == "all" => Self::All,
            RegionText::Word(file) => Self::File(file),
            RegionText::Faces(faces) => Self::Faces(faces),
        }
    }
}

/// The names of [`LayerMode`] in a recipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RecipeMode {
    /// [`LayerMode::Blend`].
    #[default]
    Blend,
    /// [`LayerMode::Compound`].
    Compound,
}

impl From<RecipeMode> for LayerMode {
    fn from(mode: RecipeMode) -> Self {
        match mode {
            RecipeMode::Blend => Self::Blend,
            RecipeMode::Compound => Self::Compound,
        }
    }
}

/// What can be wrong with a recipe or with what it names.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RecipeError {
    /// Not TOML, or a key that is missing, unknown or of another kind.
    #[error("line {line}: {message}")]
    Syntax {
        /// The line, counted from 1.
        line: usize,
        /// What is wrong there.
        message: String,
    },
    /// A value that cannot be meant.
    #[error("{place}: {message}")]
    Meaning {
        /// The table and its key.
        place: String,
        /// What is wrong, and what to do.
        message: String,
    },
    /// A file that it names.
    #[error(transparent)]
    File(#[from] IoError),
    /// The transfer.
    #[error("{place}: {source}")]
    Transfer {
        /// The source, file or layer.
        place: String,
        /// What is wrong.
        source: TransferError,
    },
}

impl RecipeError {
    pub(crate) fn meaning(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Meaning { place: place.into(), message: message.into() }
    }

    pub(crate) fn transfer(place: impl Into<String>) -> impl FnOnce(TransferError) -> Self {
        let place = place.into();
        move |source| Self::Transfer { place, source }
    }
}

impl TransferRecipe {
    /// A recipe to start from, with every key explained.
    pub const TEMPLATE: &str = include_str!("transfer_recipe.toml");

    /// Reads a recipe; keys that it does not know are declined.
    ///
    /// # Errors
    /// [`RecipeError::Syntax`] with the line.
    pub fn parse(text: &str) -> Result<Self, RecipeError> {
        toml::from_str(text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start.min(text.len()));
            let line = 1 + text.as_bytes()[..start].iter().filter(|&&byte| byte == b'\n').count();
            RecipeError::Syntax { line, message: error.message().to_owned() }
        })
    }

    /// The recipe of a whole clip on a whole target.
    #[must_use]
    pub fn plain(clip: &str, target: &str, markers: Option<&str>) -> Self {
        let source = RecipeSource { name: clip.into(), clip: clip.into(), markers: markers.map(Into::into) };
        Self { target: target.into(), layers: vec![RecipeLayer::whole(clip)], sources: vec![source] }
    }
}

impl RecipeLayer {
    /// All of a source on all of the target.
    #[must_use]
    pub fn whole(source: &str) -> Self {
        let (region, mode) = (Region::All, RecipeMode::Blend);
        Self { source: source.into(), region, refine: true, mode, frames: None, at: 0, speed: 1.0, ease: 0.0 }
    }
}

fn yes() -> bool {
    true
}

fn one() -> f64 {
    1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: &str = "target = \"t.obj\"\n[[source]]\nname = \"a\"\nclip = \"c.glb\"\n[[layer]]\nsource = \"a\"\n";

    fn line_and_message(text: &str) -> (usize, String) {
        match TransferRecipe::parse(text) {
            Err(RecipeError::Syntax { line, message }) => (line, message),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_a_layer_leaves_out_is_the_whole_clip_on_all_of_the_target() {
        let recipe = TransferRecipe::parse(SHORT).unwrap();
        assert_eq!(recipe.layers, [RecipeLayer::whole("a")]);
        assert_eq!(recipe.sources[0].markers, None);
    }

    #[test]
    fn the_template_is_a_recipe_and_names_every_key() {
        let recipe = TransferRecipe::parse(TransferRecipe::TEMPLATE).unwrap();
        assert_eq!((recipe.sources.len(), recipe.layers.len()), (1, 1));
        for key in ["target", "name", "clip", "markers", "source", "region", "refine", "mode", "frames", "at", "speed", "ease"] {
            assert!(TransferRecipe::TEMPLATE.lines().any(|line| line.trim_start_matches("# ").starts_with(&format!("{key} ="))), "{key}");
        }
    }

    #[test]
    fn regions_are_a_word_a_file_or_a_list() {
        let region = |text: &str| TransferRecipe::parse(&format!("{SHORT}region = {text}\n")).map(|r| r.layers[0].region.clone());
        assert_eq!(region("\"all\"").unwrap(), Region::All);
        assert_eq!(region("\"legs.npy\"").unwrap(), Region::File("legs.npy".into()));
        assert_eq!(region("[3, 1]").unwrap(), Region::Faces(vec![3, 1]));
        assert!(region("true").unwrap_err().to_string().contains("a list of faces"));
    }

    #[test]
    fn errors_name_the_line_and_the_key() {
        let (line, message) = line_and_message(&format!("{SHORT}sped = 2.0\n"));
        assert!(line == 7 && message.contains("sped") && message.contains("speed"), "{line}: {message}");
        let (line, message) = line_and_message(&format!("{SHORT}mode = \"mix\"\n"));
        assert!(line == 7 && message.contains("mix") && message.contains("compound"), "{line}: {message}");
        assert_eq!(line_and_message(&format!("{SHORT}frames = [-1, 4]\n")).0, 7);
        assert!(line_and_message("target = \"t.obj\"\n").1.contains("source"));
        assert_eq!(line_and_message("target = \"t.obj\"\nnot toml at all\n").0, 2);
    }
}
