//! Recipe files: what the commands `transfer`, `learn` and `register` work on, as TOML text.
//!
//! A recipe is the content of the file; nothing that it names is opened yet. [`jobs`](crate::jobs)
//! open the named files and do the work.
//!
//! - [`TransferRecipe`] (`transfer/`): sources, layers and regions of an animation synthesis.
//! - [`LearnRecipe`] (`learn`): examples, control points and method of a model, with
//!   [`DetailRecipe`] (`detail`) for fine detail.
//! - [`RegisterRecipe`] (`register`): scans that become poses of one mesh.
//! - [`SkeletonFile`] (`skeleton`): joints and end effectors for inverse kinematics.
//! - [`read_markers`] (`markers`): files of marker pairs and landmarks.
//! - [`RecipeError`] (`error`): everything that can be wrong with them.
//! - `arguments`: command-line values of the library's choices; `named`: choices by name.

#[cfg(feature = "cli")]
mod arguments;
mod detail;
mod error;
mod learn;
mod markers;
mod named;
mod register;
mod skeleton;
mod transfer;

#[cfg(feature = "cli")]
pub use arguments::{CorrespondenceArg, RootMotionArg};
pub use detail::{DetailRecipe, DetailSources};
pub use error::RecipeError;
pub use learn::{LearnRecipe, RecipeAll, RecipeControlPoints, RecipeCount};
pub use markers::{marker_format, read_markers};
pub use pliant_transfer::{
    BorderBand, CorrespondenceMethod, LayerMode, ReconstructionWeighting, RootMotion,
    StiffnessThreshold,
};
pub use register::{RecipeExample, RegisterRecipe};
pub use skeleton::{JointEntry, NaturalEntry, RootEntry, SkeletonFile};
pub(crate) use transfer::SelectionReader;
pub use transfer::{
    RecipeLayer, RecipeModification, RecipeSource, Region, Strokes, TransferRecipe, UpAxis,
};
