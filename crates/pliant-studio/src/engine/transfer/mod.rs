//! Workers of the Transfer room.
//!
//! - `actor`: the mesh and the clip of a source or of the target.
//! - `marker_pairs`: markers, their mirror images and their quality.
//! - `maps`: correspondences between sources and target.
//! - `run`: the transfer itself, from the setup to a take.
//! - `player`: one frame of an animation.
//! - `preview`: blend weights of regions and the modified reference pose.
//! - `region_colors`: regions as vertex colours.
//! - `recipe_file`: the setup as files for `pliant transfer`.
//! - `arrivals`: files that become sources, the target or a recipe.

pub(crate) mod actor;
pub(crate) mod arrivals;
pub(crate) mod maps;
pub(crate) mod marker_pairs;
pub(crate) mod player;
pub(crate) mod preview;
pub(crate) mod recipe_file;
mod region_colors;
pub(crate) mod run;
