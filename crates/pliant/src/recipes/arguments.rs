//! Command-line values of choices that recipes and the command line share.

use clap::ValueEnum;
use pliant_transfer::{CorrespondenceMethod, RootMotion};

/// How source and target mesh are matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum CorrespondenceArg {
    /// Registration; the warp as well where the registration is doubtful.
    #[default]
    Auto,
    /// Both meshes are warped to least-squares meshes of the markers.
    Warp,
    /// The source is deformed onto the target.
    Registration,
}

impl From<CorrespondenceArg> for CorrespondenceMethod {
    fn from(argument: CorrespondenceArg) -> Self {
        match argument {
            CorrespondenceArg::Auto => Self::Auto,
            CorrespondenceArg::Warp => Self::Wang2008,
            CorrespondenceArg::Registration => Self::Registration,
        }
    }
}

/// How the root motion of the source is treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum RootMotionArg {
    /// The target travels as far as the source, relative to its size.
    #[default]
    Carry,
    /// The target stays in place.
    Fix,
}

impl From<RootMotionArg> for RootMotion {
    fn from(argument: RootMotionArg) -> Self {
        match argument {
            RootMotionArg::Carry => Self::Carry,
            RootMotionArg::Fix => Self::Fix,
        }
    }
}
