//! The blendshape rig: neutral mesh, targets, sliders, and the positions they give.
//!
//! - [`Rig`]: a neutral mesh with targets, sliders and combinations.
//! - [`Target`], [`InBetween`]: sparse displacements from the neutral.
//! - [`Slider`], [`SliderId`], [`Limits`], [`Path`], [`SliderGroup`]: a control, and how it reaches
//!   its target.
//! - [`Combination`], [`Driver`], [`Rule`]: correctives that several sliders drive.
//! - [`Activation`]: the coefficients `φ(w)` of all shapes, with derivatives.
//! - [`Evaluator`]: positions at given weights, updated when few weights change.
//! - `surface_gram`: inner products of shapes over the surface.
//! - [`RigSettings`]: all that a rig holds beside its geometry, by name, for files.
//! - [`FlatRig`], [`StoredSliders`]: in-betweens and combinations as targets, for glTF.
//! - [`all_groups`]: groups of sliders by the part of the face that their names mention.
//! - [`find_reordered_targets`]: targets whose vertices are stored in another order.
//! - [`VertexOrder`]: that order, and the shape in the order of the neutral.
//! - [`Preset`]: weights of several sliders under one name.
//! - `posable`: the part of the surface that targets move.
//! - `moved_rig`: the rig of a posed character, `Rig::moved_by`.
//! - [`Skin`], [`Skeleton`]: linear blend skinning weights and the joints they refer to.

mod activation;
mod combination;
mod evaluator;
mod face_groups;
mod flat_rig;
mod moved_rig;
mod order_repair;
mod posable;
mod preset;
mod rig;
mod rig_settings;
mod skeleton;
mod skin;
mod slider;
mod slider_id;
mod surface_gram;
mod target;
mod vertex_order;

pub use activation::{Activation, ActivationDerivative};
pub use combination::{Combination, Driver, Rule};
pub use evaluator::{EvaluatedPose, Evaluator};
pub use face_groups::all_groups;
pub use flat_rig::{FlatRig, StoredSliders};
pub use moved_rig::{inverse_linear_part, inverse_linear_parts};
pub use order_repair::VertexOrder;
pub use preset::Preset;
pub use rig::Rig;
pub use rig_settings::{CombinationSettings, InBetweenSettings, RigSettings};
pub use skeleton::{Joint, Skeleton};
pub use skin::{Influence, Skin};
pub use slider::{Limits, Path, Slider, SliderGroup};
pub use slider_id::SliderId;
pub(crate) use surface_gram::SurfaceGram;
pub use target::{InBetween, Target};
pub use vertex_order::{ReorderedTarget, find_reordered_targets};
