//! Slider names: words, sides, vocabularies and matching.
//!
//! - [`SliderName`], [`Side`]: the words and the sides in a name, and its [mirrored
//!   name](mirrored_name).
//! - [`Vocabulary`]: published lists of slider names (ARKit, FACS, VRM, MakeHuman).
//! - [`match_names`]: the name of each slider in a vocabulary; `lexicon` holds its index.
//! - [`did_you_mean`]: suggestions for an unknown name.

mod did_you_mean;
mod lexicon;
mod name_matching;
mod slider_name;
mod vocabulary;

pub use did_you_mean::did_you_mean;
pub use name_matching::{MatchKind, NameMap, NamePair, match_names};
pub use slider_name::{Side, SliderName, mirrored_name};
pub(crate) use slider_name::{parts, spelled_like};
pub use vocabulary::Vocabulary;
