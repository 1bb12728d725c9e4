//! Names of sliders: their sides, vocabularies, and which name means which.

mod face_parts;
mod nearest;
mod side_style;
mod slider_name;
mod slider_names;
mod vocabulary;

pub use face_parts::all_groups;
pub use nearest::did_you_mean;
pub use side_style::SideStyle;
pub use slider_name::{Side, SliderName, mirrored_name};
pub use slider_names::{Likeness, NameMap, NamePair, match_names};
pub use vocabulary::Vocabulary;
