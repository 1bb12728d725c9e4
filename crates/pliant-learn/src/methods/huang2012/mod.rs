//! Local kernel CCA on abstract bones (Huang et al. 2012), and its global variant (Feng et al.
//! 2008).
//!
//! - `abstract_bones`: a skinning decomposition of the training examples.
//! - `pose_graph`: rotations of bones by kernel CCA, local in geometry and in pose space.
//! - `bone_translations`: translations of bones from their rotations and the control points.
//! - `bone_predictor`: the three steps together, as a predictor.

mod abstract_bones;
mod bone_predictor;
mod bone_translations;
mod pose_graph;

pub(crate) use abstract_bones::AbstractBones;
pub(crate) use bone_predictor::BonePredictor;
