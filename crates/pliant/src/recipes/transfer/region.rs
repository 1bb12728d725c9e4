//! Regions and strokes in the text of a recipe.

use serde::ser::Error as _;
use serde::{Deserialize, Serialize, Serializer};

/// A region of the target.
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
    /// The union of these.
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

    /// The word for it; `None` where the text has no single word.
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
                let Some(words) = words else {
                    return Err(S::Error::custom(
                        "a list of regions names files and groups; give its faces in one list",
                    ));
                };
                words.serialize(serializer)
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
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Default for Strokes {
    fn default() -> Self {
        Self::Lines(Vec::new())
    }
}
