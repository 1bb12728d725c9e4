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
use pliant_learn::LearnError;
use pliant_mesh::glam::DVec3;
use pliant_transfer::{
    CorrespondenceMethod, LayerMode, ReconstructionForm, RootMotion, TransferError,
};
use serde::ser::Error as _;
use serde::{Deserialize, Serialize, Serializer};
use thiserror::Error;

/// What a recipe file says, before anything it names is opened.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TransferRecipe {
    /// The asset that is to move.
    pub target: String,
    /// Where the result goes if the caller does not say.
    pub output: Option<String>,
    /// What becomes of the way that a source covers.
    #[serde(default)]
    pub root: RecipeRoot,
    /// Whether feet that stand in a source stand in the target.
    #[serde(default)]
    pub feet: bool,
    /// The direction away from the ground, for `feet`.
    #[serde(default)]
    pub up: RecipeUp,
    /// Whether frames that cut through themselves are counted.
    #[serde(default)]
    pub check: bool,
    /// Whether frames that cut through themselves are counted and corrected.
    #[serde(default)]
    pub untangle: bool,
    /// What a triangle counts in the reconstruction.
    #[serde(default)]
    pub form: RecipeForm,
    /// The clips that move it.
    #[serde(rename = "source")]
    pub sources: Vec<RecipeSource>,
    /// What goes where, from the lowest up.
    #[serde(rename = "layer")]
    pub layers: Vec<RecipeLayer>,
    /// Parts of the target's reference pose that are turned before anything moves.
    #[serde(rename = "modify", default, skip_serializing_if = "Vec::is_empty")]
    pub modifications: Vec<RecipeModification>,
}

/// A clip, and where its mesh corresponds to the target.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RecipeSource {
    /// The name that layers call it by.
    pub name: String,
    /// The asset with the clip.
    pub clip: String,
    /// A file of marker pairs; without one the shapes alone decide.
    pub markers: Option<String>,
    /// How it is brought together with the target.
    #[serde(default)]
    pub method: RecipeMethod,
    /// Whether the motion of a source that faces another way than the target is turned to fit.
    #[serde(default = "yes")]
    pub turn: bool,
    /// Whether reference poses that differ are made up for, stiff part by stiff part.
    #[serde(default)]
    pub align_poses: bool,
}

/// A part of a clip on a part of the target.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RecipeLayer {
    /// The name of its source.
    pub source: String,
    /// Where on the target; all of it if there is no stroke either.
    pub region: Option<Region>,
    /// Lines over the target, which belong to the region too.
    #[serde(default, skip_serializing_if = "Strokes::is_empty")]
    pub strokes: Strokes,
    /// Width of the strokes, as part of the target's diagonal.
    #[serde(default)]
    pub width: f64,
    /// Whether stiff parts of the target are taken or left as a whole, and the parts that bend
    /// blend.
    #[serde(default = "yes")]
    pub refine: bool,
    /// The flexibility below which a triangle is stiff.
    #[serde(default)]
    pub threshold: Threshold,
    /// How the border of the region is softened instead.
    #[serde(default)]
    pub band: Band,
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

/// A region of the target's reference pose that is turned.
///
/// The keys of a region stand here and in [`RecipeLayer`] one by one: flattened from one struct,
/// unknown keys could not be declined.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RecipeModification {
    /// As in a layer.
    pub region: Option<Region>,
    /// As in a layer.
    #[serde(default, skip_serializing_if = "Strokes::is_empty")]
    pub strokes: Strokes,
    /// As in a layer.
    #[serde(default)]
    pub width: f64,
    /// As in a layer; what is stiff is told by the lowest layer's source.
    #[serde(default = "yes")]
    pub refine: bool,
    /// As in a layer.
    #[serde(default)]
    pub threshold: Threshold,
    /// As in a layer.
    #[serde(default)]
    pub band: Band,
    /// The axis of the turn, of any length but zero, in the target's directions.
    pub axis: [f64; 3],
    /// The angle, in degrees, by the right hand.
    pub degrees: f64,
}

/// A region with the way in which its border is treated, of a layer or a modification.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Selection<'a> {
    pub(crate) region: Option<&'a Region>,
    pub(crate) strokes: &'a Strokes,
    pub(crate) width: f64,
    pub(crate) refine: bool,
    pub(crate) threshold: Threshold,
    pub(crate) band: Band,
}

impl RecipeLayer {
    pub(crate) fn selection(&self) -> Selection<'_> {
        let Self {
            region,
            strokes,
            width,
            refine,
            threshold,
            band,
            ..
        } = self;
        Selection {
            region: region.as_ref(),
            strokes,
            width: *width,
            refine: *refine,
            threshold: *threshold,
            band: *band,
        }
    }
}

impl RecipeModification {
    pub(crate) fn selection(&self) -> Selection<'_> {
        let Self {
            region,
            strokes,
            width,
            refine,
            threshold,
            band,
            ..
        } = self;
        Selection {
            region: region.as_ref(),
            strokes,
            width: *width,
            refine: *refine,
            threshold: *threshold,
            band: *band,
        }
    }
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
    /// The faces of a group of the asset.
    Group(String),
    /// These faces, counted from 0.
    Faces(Vec<usize>),
    /// What is in any of these.
    Union(Vec<Region>),
}

#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "a region is \"all\", the name of a .npy or .json file, \"#\" and the name of a group, a list of those, or a list of faces counted from 0"
)]
enum RegionText {
    Word(String),
    Faces(Vec<usize>),
    Words(Vec<String>),
}

impl From<RegionText> for Region {
    fn from(text: RegionText) -> Self {
        match text {
            RegionText::Word(word) => Self::named(word),
            RegionText::Faces(faces) => Self::Faces(faces),
            RegionText::Words(words) => Self::Union(words.into_iter().map(Self::named).collect()),
        }
    }
}

impl Region {
    fn named(word: String) -> Self {
        match word.strip_prefix('#') {
            Some(group) => Self::Group(group.to_owned()),
            None if word == "all" => Self::All,
            None => Self::File(word),
        }
    }

    /// The word that names it, where one does.
    fn word(&self) -> Option<String> {
        match self {
            Self::All => Some("all".into()),
            Self::File(file) => Some(file.clone()),
            Self::Group(group) => Some(format!("#{group}")),
            Self::Faces(_) | Self::Union(_) => None,
        }
    }
}

impl Serialize for Region {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Faces(faces) => faces.serialize(serializer),
            Self::Union(parts) => {
                let words: Option<Vec<String>> = parts.iter().map(Self::word).collect();
                words
                    .ok_or_else(|| {
                        S::Error::custom(
                            "a list of regions names files and groups; give its faces in one list",
                        )
                    })?
                    .serialize(serializer)
            }
            Self::All | Self::File(_) | Self::Group(_) => self.word().serialize(serializer),
        }
    }
}

/// Lines of vertices over the target, counted from 0.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(
    untagged,
    expecting = "strokes are lists of vertices, [[0, 1], [2, 3, 4]], counted from 0, or the name of a .json file with such lists"
)]
pub enum Strokes {
    /// The lines themselves.
    Lines(Vec<Vec<u32>>),
    /// A JSON file of them.
    File(String),
}

impl Strokes {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Default for Strokes {
    fn default() -> Self {
        Self::Lines(Vec::new())
    }
}

/// How the border of a region is softened.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
#[serde(try_from = "NumberOrWord")]
pub enum Band {
    /// By what bends between stiff parts; by a band of [`pliant_transfer::DEFAULT_BAND`] where
    /// nothing is stiff.
    #[default]
    Auto,
    /// By a band along its border, whatever is stiff: so many of the target's diagonals to either
    /// side.
    Share(f64),
}

/// What counts as stiff.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
#[serde(try_from = "NumberOrWord")]
pub enum Threshold {
    /// What [`Partitions::found`](pliant_transfer::Partitions::found) takes for it.
    #[default]
    Auto,
    /// A flexibility below this.
    Below(f64),
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected \"auto\" or a number")]
enum NumberOrWord {
    Number(f64),
    Word(String),
}

impl NumberOrWord {
    /// The number, or nothing for "auto".
    fn number(self) -> Result<Option<f64>, String> {
        match self {
            Self::Number(number) => Ok(Some(number)),
            Self::Word(word) if word == "auto" => Ok(None),
            Self::Word(word) => Err(format!("expected \"auto\" or a number, not \"{word}\"")),
        }
    }
}

impl TryFrom<NumberOrWord> for Band {
    type Error = String;

    fn try_from(text: NumberOrWord) -> Result<Self, String> {
        Ok(text.number()?.map_or(Self::Auto, Self::Share))
    }
}

impl TryFrom<NumberOrWord> for Threshold {
    type Error = String;

    fn try_from(text: NumberOrWord) -> Result<Self, String> {
        Ok(text.number()?.map_or(Self::Auto, Self::Below))
    }
}

impl Serialize for Band {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Auto => serializer.serialize_str("auto"),
            Self::Share(share) => serializer.serialize_f64(*share),
        }
    }
}

impl Serialize for Threshold {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Auto => serializer.serialize_str("auto"),
            Self::Below(flexibility) => serializer.serialize_f64(*flexibility),
        }
    }
}

/// The names of [`LayerMode`] in a recipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize)]
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

/// The names of [`RootMotion`] in a recipe and on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum RecipeRoot {
    /// The target covers the same way for its size.
    #[default]
    Carry,
    /// The target stays in place.
    Fix,
}

impl From<RecipeRoot> for RootMotion {
    fn from(root: RecipeRoot) -> Self {
        match root {
            RecipeRoot::Carry => Self::Carry,
            RecipeRoot::Fix => Self::Fix,
        }
    }
}

/// The direction away from the ground.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum RecipeUp {
    /// Along x.
    X,
    /// Along y.
    #[default]
    Y,
    /// Along z.
    Z,
}

impl From<RecipeUp> for DVec3 {
    fn from(up: RecipeUp) -> Self {
        match up {
            RecipeUp::X => Self::X,
            RecipeUp::Y => Self::Y,
            RecipeUp::Z => Self::Z,
        }
    }
}

/// The names of [`ReconstructionForm`] in a recipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RecipeForm {
    /// [`ReconstructionForm::AreaWeighted`].
    #[default]
    Area,
    /// [`ReconstructionForm::Classic2004`].
    Classic,
}

impl From<RecipeForm> for ReconstructionForm {
    fn from(form: RecipeForm) -> Self {
        match form {
            RecipeForm::Area => Self::AreaWeighted,
            RecipeForm::Classic => Self::Classic2004,
        }
    }
}

/// The names of [`CorrespondenceMethod`] in a recipe and on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum RecipeMethod {
    /// Registration, and the warp too where that is doubtful.
    #[default]
    Auto,
    /// Both meshes are warped to least-squares meshes of the markers.
    Warp,
    /// The source is laid onto the target.
    Registration,
}

impl From<RecipeMethod> for CorrespondenceMethod {
    fn from(method: RecipeMethod) -> Self {
        match method {
            RecipeMethod::Auto => Self::Auto,
            RecipeMethod::Warp => Self::Warp,
            RecipeMethod::Registration => Self::Registration,
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
    /// The examples or control points of a learn recipe, or the learning.
    #[error("{place}: {source}")]
    Learn {
        /// The key.
        place: &'static str,
        /// What is wrong.
        source: LearnError,
    },
}

impl RecipeError {
    /// What the parser says of `text`, with the line.
    pub(crate) fn syntax(text: &str, error: &toml::de::Error) -> Self {
        let start = error.span().map_or(0, |span| span.start.min(text.len()));
        let line = 1 + text.as_bytes()[..start]
            .iter()
            .filter(|&&byte| byte == b'\n')
            .count();
        Self::Syntax {
            line,
            message: error.message().to_owned(),
        }
    }

    pub(crate) fn meaning(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Meaning {
            place: place.into(),
            message: message.into(),
        }
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
        toml::from_str(text).map_err(|error| RecipeError::syntax(text, &error))
    }

    /// The text that [`parse`](Self::parse) reads back as the same recipe.
    ///
    /// # Errors
    /// [`RecipeError::Meaning`] for a union of regions with a list of faces in it, which the format
    /// cannot express.
    pub fn to_toml(&self) -> Result<String, RecipeError> {
        toml::to_string(self).map_err(|error| RecipeError::meaning("region", error.to_string()))
    }

    /// The recipe of a whole clip on a whole target.
    #[must_use]
    pub fn plain(clip: &str, target: &str, markers: Option<&str>) -> Self {
        let source = RecipeSource {
            name: clip.into(),
            clip: clip.into(),
            markers: markers.map(Into::into),
            method: RecipeMethod::Auto,
            turn: true,
            align_poses: false,
        };
        Self {
            target: target.into(),
            output: None,
            root: RecipeRoot::Carry,
            feet: false,
            up: RecipeUp::Y,
            check: false,
            untangle: false,
            form: RecipeForm::Area,
            layers: vec![RecipeLayer::whole(clip)],
            sources: vec![source],
            modifications: Vec::new(),
        }
    }
}

impl RecipeLayer {
    /// All of a source on all of the target.
    #[must_use]
    pub fn whole(source: &str) -> Self {
        Self {
            source: source.into(),
            region: None,
            strokes: Strokes::default(),
            width: 0.0,
            refine: true,
            threshold: Threshold::Auto,
            band: Band::Auto,
            mode: RecipeMode::Blend,
            frames: None,
            at: 0,
            speed: 1.0,
            ease: 0.0,
        }
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
        let top = [
            "target", "output", "root", "feet", "up", "check", "untangle", "form",
        ];
        let of_source = ["name", "clip", "markers", "method", "turn", "align_poses"];
        let of_layer = [
            "source",
            "region",
            "strokes",
            "width",
            "refine",
            "threshold",
            "band",
            "mode",
            "frames",
            "at",
            "speed",
            "ease",
        ];
        for key in top
            .iter()
            .chain(&of_source)
            .chain(&of_layer)
            .chain(&["axis", "degrees"])
        {
            assert!(
                TransferRecipe::TEMPLATE.lines().any(|line| line
                    .trim_start_matches("# ")
                    .starts_with(&format!("{key} ="))),
                "{key}"
            );
        }
    }

    #[test]
    fn every_line_of_the_template_that_is_commented_out_is_a_recipe_too() {
        let is_key = |line: &str| {
            line.starts_with("[[")
                || line
                    .split_once(" = ")
                    .is_some_and(|(key, _)| !key.contains(' '))
        };
        let line = |line: &str| {
            line.strip_prefix("# ")
                .filter(|rest| is_key(rest))
                .unwrap_or(line)
                .to_owned()
                + "\n"
        };
        let recipe = TransferRecipe::parse(
            &TransferRecipe::TEMPLATE
                .lines()
                .map(line)
                .collect::<String>(),
        )
        .unwrap();
        assert_eq!(
            (
                recipe.modifications.len(),
                recipe.output.is_some(),
                recipe.layers[0].frames.is_some()
            ),
            (1, true, true)
        );
        assert!(
            recipe.layers[0].strokes != Strokes::default() && recipe.sources[0].markers.is_some()
        );
    }

    #[test]
    fn regions_are_a_word_a_file_or_a_list() {
        let region = |text: &str| {
            TransferRecipe::parse(&format!("{SHORT}region = {text}\n"))
                .map(|r| r.layers[0].region.clone().unwrap())
        };
        assert_eq!(region("\"all\"").unwrap(), Region::All);
        assert_eq!(
            region("\"legs.npy\"").unwrap(),
            Region::File("legs.npy".into())
        );
        assert_eq!(region("[3, 1]").unwrap(), Region::Faces(vec![3, 1]));
        assert_eq!(region("\"#legs\"").unwrap(), Region::Group("legs".into()));
        assert_eq!(
            region("[\"#legs\", \"a.npy\"]").unwrap(),
            Region::Union(vec![
                Region::Group("legs".into()),
                Region::File("a.npy".into())
            ])
        );
        assert!(
            region("true")
                .unwrap_err()
                .to_string()
                .contains("a list of faces")
        );
    }

    #[test]
    fn a_recipe_comes_back_from_its_text_with_everything_that_it_says() {
        let is_key = |line: &str| {
            line.starts_with("[[")
                || line
                    .split_once(" = ")
                    .is_some_and(|(key, _)| !key.contains(' '))
        };
        let line = |line: &str| {
            line.strip_prefix("# ")
                .filter(|rest| is_key(rest))
                .unwrap_or(line)
                .to_owned()
                + "\n"
        };
        let full = TransferRecipe::parse(
            &TransferRecipe::TEMPLATE
                .lines()
                .map(line)
                .collect::<String>(),
        )
        .unwrap();
        let mut odd = TransferRecipe::plain("a \"b\"\t\u{7f}.glb#walk", "t\\u.obj", None);
        odd.form = RecipeForm::Classic;
        odd.layers[0].speed = 1.0 / 3.0;
        odd.layers[0].band = Band::Share(0.02);
        odd.layers[0].threshold = Threshold::Below(0.1);
        odd.layers[0].strokes = Strokes::Lines(vec![vec![0, 1], vec![2, 3, 4]]);
        odd.layers[0].region = Some(Region::Union(vec![
            Region::Group("legs".into()),
            Region::File("a.npy".into()),
        ]));
        for recipe in [full, odd, TransferRecipe::parse(SHORT).unwrap()] {
            assert_eq!(
                TransferRecipe::parse(&recipe.to_toml().unwrap()).unwrap(),
                recipe
            );
        }
    }

    #[test]
    fn what_the_format_cannot_express_is_declined() {
        let mut recipe = TransferRecipe::parse(SHORT).unwrap();
        recipe.layers[0].region = Some(Region::Union(vec![Region::Faces(vec![1])]));
        assert!(
            recipe
                .to_toml()
                .unwrap_err()
                .to_string()
                .contains("in one list")
        );
    }

    #[test]
    fn errors_name_the_line_and_the_key() {
        let (line, message) = line_and_message(&format!("{SHORT}sped = 2.0\n"));
        assert!(
            line == 7 && message.contains("sped") && message.contains("speed"),
            "{line}: {message}"
        );
        let (line, message) = line_and_message(&format!("{SHORT}mode = \"mix\"\n"));
        assert!(
            line == 7 && message.contains("mix") && message.contains("compound"),
            "{line}: {message}"
        );
        assert_eq!(line_and_message(&format!("{SHORT}frames = [-1, 4]\n")).0, 7);
        let (line, message) = line_and_message(&format!("{SHORT}band = \"wide\"\n"));
        assert!(
            line == 7 && message.contains("wide") && message.contains("auto"),
            "{line}: {message}"
        );
        let (line, message) = line_and_message(&format!("{SHORT}strokes = [1, 2]\n"));
        assert!(
            line == 7 && message.contains("[[0, 1], [2, 3, 4]]"),
            "{line}: {message}"
        );
        let (line, message) = line_and_message(&format!("root = \"free\"\n{SHORT}"));
        assert!(line == 1 && message.contains("carry"), "{line}: {message}");
        assert!(
            line_and_message(&format!("{SHORT}[[modify]]\naxis = [0, 1, 0]\n"))
                .1
                .contains("degrees")
        );
        assert!(
            line_and_message("target = \"t.obj\"\n")
                .1
                .contains("source")
        );
        assert_eq!(
            line_and_message("target = \"t.obj\"\nnot toml at all\n").0,
            2
        );
    }
}
