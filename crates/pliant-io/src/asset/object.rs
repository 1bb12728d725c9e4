//! An object of an asset: a mesh with its targets, skin and storage order.

use std::sync::Arc;

use pliant_mesh::FaceLabels;
use pliant_mesh::glam::{DAffine3, DVec3};
use pliant_rig::{Rig, RigError};

use super::SkinBinding;
use crate::gltf::Seams;

/// A mesh of an asset and the targets that move it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Object {
    /// The path of the object in the file, as `/rig/child`; its last part is the name. Empty if the
    /// file gives none.
    pub path: String,
    /// The mesh and its targets; there may be none.
    pub rig: Rig,
    /// How many vertices the file stores for it, before welding.
    pub file_vertices: usize,
    /// For each vertex, its index in the order of the whole file, ascending; vertices of one index
    /// are one vertex. `None`: they follow those of the objects before.
    pub file_index: Option<Vec<u32>>,
    /// The OBJ smoothing group of each face.
    pub smoothing: FaceLabels,
    /// The weights at which the file rests, one for each target; empty if all are zero.
    pub rest_weights: Vec<f64>,
    /// The joints that its vertices follow, if there are any. Its neutral is then its bind pose.
    pub skin: Option<SkinBinding>,
    /// The motion of the bind pose by each joint at rest, if the file rests in another pose.
    pub rest_joints: Option<Arc<Vec<DAffine3>>>,
    /// How glTF stored its vertices, so that the writer stores them identically.
    pub(crate) seams: Option<Arc<Seams>>,
    /// Which object of its original file it is; `None` for an object made by a program.
    pub(crate) original: Option<usize>,
}

impl Object {
    /// An object whose path is the name of its mesh.
    #[must_use]
    pub fn new(rig: Rig) -> Self {
        Self {
            path: rig.neutral().name().to_owned(),
            file_vertices: rig.neutral().vertex_count(),
            rig,
            file_index: None,
            smoothing: FaceLabels::default(),
            rest_weights: Vec::new(),
            skin: None,
            rest_joints: None,
            seams: None,
            original: None,
        }
    }

    /// The last part of its path.
    #[must_use]
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    /// Its number of vertices.
    #[must_use]
    pub fn vertex_count(&self) -> usize {
        self.rig.neutral().vertex_count()
    }

    /// Its positions as the file shows it: at its rest weights, then in the rest pose of its joints.
    #[must_use]
    pub fn resting_positions(&self) -> Vec<DVec3> {
        let shape = self.rig.evaluate(&self.rest_weights);
        match self.rest_motions() {
            Some((binding, motions)) => binding.skin.blend(&shape, motions),
            None => shape,
        }
    }

    /// Its joints and their motions from the bind pose, if the file rests in another pose.
    pub(crate) fn rest_motions(&self) -> Option<(&SkinBinding, &[DAffine3])> {
        let binding = self.fitting_skin()?;
        let motions = self.rest_joints.as_deref()?;
        (motions.len() == binding.skin.bone_count()).then_some((binding, motions))
    }

    /// The object at other positions, without targets and skin.
    pub(crate) fn posed(&self, positions: Vec<DVec3>) -> Result<Self, RigError> {
        let neutral = self.rig.neutral().posed(positions)?;
        Ok(Self {
            rig: Rig::without_targets(neutral),
            rest_weights: Vec::new(),
            skin: None,
            rest_joints: None,
            ..self.clone()
        })
    }
}
