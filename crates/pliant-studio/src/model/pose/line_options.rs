//! How a drawn line becomes pins.

use pliant::rig::{SideStretch, SketchOptions};
use serde::{Deserialize, Serialize};

/// How a line becomes pins.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LineOptions {
    /// Scale of the displacement at the middle of a stroke.
    pub middle: f64,
    /// Scale of the displacement at its ends.
    pub sides: f64,
    /// Direction of the displacement at its ends.
    pub ends: Ends,
    /// Whether pins keep to the plane of the stroke.
    pub flat: bool,
    /// Whether both lines of a curve are loops.
    pub closed: bool,
    /// Whether inner points of a curve may slide along the one they should go to.
    pub slide: bool,
}

impl Default for LineOptions {
    fn default() -> Self {
        Self {
            middle: SketchOptions::DEFAULT_MIDDLE_SCALE,
            sides: SketchOptions::DEFAULT_SIDE_SCALE,
            ends: Ends::Auto,
            flat: false,
            closed: false,
            slide: false,
        }
    }
}

/// Direction of the displacement at the ends of a stroke.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ends {
    /// As the sliders can follow.
    #[default]
    Auto,
    /// Outwards and against the bend.
    Against,
    /// Outwards and with the bend.
    With,
}

impl Ends {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Auto, Self::Against, Self::With];

    /// Text of the list entry.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Auto => "Automatic",
            Self::Against => "Against the bend",
            Self::With => "With the bend",
        }
    }

    /// The interpretations of a stroke, the most likely first.
    pub(crate) fn interpretations(self) -> &'static [SideStretch] {
        const ALL: [SideStretch; 2] = [SideStretch::Tangent, SideStretch::Bow];
        match self {
            Self::Auto => &ALL,
            Self::Against => &ALL[..1],
            Self::With => &ALL[1..],
        }
    }
}
