//! How an object follows joints, beside the positions that come of it.

use std::sync::Arc;

use pliant_mesh::glam::{DAffine3, DVec3};
use pliant_rig::{Skeleton, Skin};

use crate::{Animation, Asset, IoError};

/// The skin behind the frames of an object.
///
/// Formats that know skins write it in place of the frames; for all others the frames are there.
#[derive(Debug, Clone, PartialEq)]
pub struct SkinTrack {
    /// Which joints each vertex of the object follows.
    pub skin: Skin,
    /// The joints; objects that share them are moved by the same ones.
    pub skeleton: Arc<Skeleton>,
    /// Where each joint takes the rest pose: frame by frame, joint by joint.
    pub motions: Arc<Vec<Vec<DAffine3>>>,
}

impl SkinTrack {
    pub(crate) fn check(&self, vertices: usize, frame_count: usize) -> Result<(), String> {
        let joints = self.skeleton.joints().len();
        if self.skin.vertex_count() != vertices || self.skin.bone_count() != joints {
            let (own, bones) = (self.skin.vertex_count(), self.skin.bone_count());
            return Err(format!("has a skin of {own} vertices and {bones} bones for {vertices} vertices and {joints} joints"));
        }
        match self.motions.len() != frame_count || self.motions.iter().any(|frame| frame.len() != joints) {
            true => Err(format!("has joints that do not move in each of {frame_count} frames")),
            false => Ok(()),
        }
    }
}

impl Asset {
    /// The same asset with `animation` as its only clip, in which the vertices, in the whole file's order, follow the
    /// joints of `track`.
    pub fn with_skin_clip(&self, animation: Animation, track: &SkinTrack) -> Result<Self, IoError> {
        let rest = self.mesh()?;
        let frames: Vec<Vec<DVec3>> = match track.check(rest.vertex_count(), track.motions.len()) {
            Ok(()) => track.motions.iter().map(|motions| track.skin.blend(rest.positions(), motions)).collect(),
            Err(message) => return Err(IoError::Clip { file: self.shown_source(), message: format!("it {message}") }),
        };
        let mut moved = self.with_point_clip(animation, &frames)?;
        for (motion, places) in moved.clips[0].motions.iter_mut().zip(self.file_indices()) {
            motion.skin = Some(SkinTrack { skin: track.skin.of_vertices(&places), ..track.clone() });
        }
        Ok(moved)
    }
}
