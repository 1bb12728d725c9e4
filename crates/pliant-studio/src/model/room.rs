//! The five rooms of the studio by name.

use serde::{Deserialize, Serialize};

/// Which room is open.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum RoomName {
    /// Pins and strokes on a rig.
    #[default]
    Pose,
    /// Contact on soft skin.
    Touch,
    /// Shapes as equilibria.
    Blend,
    /// Animations from other meshes.
    Transfer,
    /// A mesh driven by a few points.
    Learn,
}

impl RoomName {
    /// All of them, in the order of their tabs.
    pub const ALL: [Self; 5] = [
        Self::Pose,
        Self::Touch,
        Self::Blend,
        Self::Transfer,
        Self::Learn,
    ];

    /// Text of its tab.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Pose => "Pose",
            Self::Touch => "Touch",
            Self::Blend => "Blend",
            Self::Transfer => "Transfer",
            Self::Learn => "Learn",
        }
    }

    /// Text of its tooltip.
    #[must_use]
    pub fn hint(self) -> &'static str {
        match self {
            Self::Pose => "Drag pins or draw strokes; the sliders follow",
            Self::Touch => "Press colliders into soft skin",
            Self::Blend => "Blend shapes without shrinking, around obstacles",
            Self::Transfer => "Transfer animations of other meshes to this mesh",
            Self::Learn => "Train a model that drives a mesh by a few control points",
        }
    }
}
