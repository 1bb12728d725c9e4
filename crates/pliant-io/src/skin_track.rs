//! How objects follow joints.
//!
//! **Form.** A [`SkinBinding`] says which joints the vertices of an object follow, a [`SkinTrack`]
//! how these move in a clip. Shapes come first: the targets move the object in its reference pose,
//! and the joints then take it along.

use std::sync::Arc;

use pliant_mesh::glam::{DAffine3, DVec3};
use pliant_rig::{Interpolation, Skeleton, Skin, Target, WeightTrack};

use crate::{Animation, Asset, IoError, Motion, Shape};

/// Which joints the vertices of an object follow.
#[derive(Debug, Clone, PartialEq)]
pub struct SkinBinding {
    /// The joints of each vertex.
    pub skin: Arc<Skin>,
    /// The joints; objects that share them are moved by the same ones.
    pub skeleton: Arc<Skeleton>,
}

/// How the joints of an object move in a clip.
#[derive(Debug, Clone, PartialEq)]
pub struct SkinTrack {
    /// Which joints each vertex follows.
    pub binding: SkinBinding,
    /// Where each joint takes the reference pose: frame by frame, joint by joint.
    pub motions: Arc<Vec<Vec<DAffine3>>>,
}

impl SkinBinding {
    pub(crate) fn check(&self, vertices: usize) -> Result<(), String> {
        let joints = self.skeleton.joints().len();
        if self.skin.vertex_count() != vertices || self.skin.bone_count() != joints {
            let (own, bones) = (self.skin.vertex_count(), self.skin.bone_count());
            return Err(format!(
                "has a skin of {own} vertices and {bones} bones for {vertices} vertices and {joints} joints"
            ));
        }
        Ok(())
    }
}

impl SkinTrack {
    pub(crate) fn check(&self, vertices: usize, frame_count: usize) -> Result<(), String> {
        self.binding.check(vertices)?;
        let joints = self.binding.skeleton.joints().len();
        match self.motions.len() != frame_count
            || self.motions.iter().any(|frame| frame.len() != joints)
        {
            true => Err(format!(
                "has joints that do not move in each of {frame_count} frames"
            )),
            false => Ok(()),
        }
    }

    /// Where the vertices go in a frame from `shape`, in which they are in the reference pose.
    #[must_use]
    pub fn positions(&self, shape: &[DVec3], frame: usize) -> Vec<DVec3> {
        self.binding.skin.blend(shape, &self.motions[frame])
    }
}

impl Asset {
    /// The same asset with `animation` as its only clip, in which the vertices, in the whole file's
    /// order, follow the joints of `track`; without targets.
    pub fn with_skin_clip(
        &self,
        mut animation: Animation,
        track: &SkinTrack,
    ) -> Result<Self, IoError> {
        let rest = self.mesh()?;
        track
            .check(rest.vertex_count(), track.motions.len())
            .map_err(|message| self.wrong_clip(&format!("it {message}")))?;
        let mut moved = self.posed(rest.positions())?;
        animation.frame_count = track.motions.len();
        animation.motions.clear();
        for (k, places) in self.file_indices().iter().enumerate() {
            let skin = Arc::new(track.binding.skin.of_vertices(places));
            let binding = SkinBinding {
                skin,
                ..track.binding.clone()
            };
            moved.objects[k].skin = Some(binding.clone());
            animation.motions.push(Motion {
                skin: Some(SkinTrack {
                    binding,
                    ..track.clone()
                }),
                ..Motion::new(k, Shape::Rest)
            });
        }
        moved.clips = vec![animation];
        Ok(moved)
    }

    /// As [`with_skin_clip`](Self::with_skin_clip), with `targets` over the whole file's order that
    /// move the reference pose before the joints do, by `weights` frame by frame.
    pub fn with_shaped_skin_clip(
        &self,
        animation: Animation,
        track: &SkinTrack,
        targets: &[Target],
        weights: &[Vec<f64>],
    ) -> Result<Self, IoError> {
        let skinned = self.with_skin_clip(animation, track)?;
        if targets.is_empty() {
            return Ok(skinned);
        }
        if weights.len() != track.motions.len()
            || weights.iter().any(|row| row.len() != targets.len())
        {
            let (frames, count) = (track.motions.len(), targets.len());
            return Err(self.wrong_clip(&format!(
                "it has weights for other than {count} targets in {frames} frames"
            )));
        }
        let shaped = skinned.with_targets(targets)?;
        let animation = shaped.only_clip()?.clone();
        // Objects keep the targets that move them, so that their first names may come in another
        // order.
        let names = shaped.target_names();
        let places: Vec<usize> = names
            .iter()
            .filter_map(|name| targets.iter().position(|target| target.name == *name))
            .collect();
        let keys = weights
            .iter()
            .map(|row| places.iter().map(|&k| row[k]).collect())
            .collect();
        let times = (0..weights.len())
            .map(|frame| animation.time_secs(frame))
            .collect();
        let track =
            WeightTrack::new(times, keys, Interpolation::Linear).map_err(|e| self.broken(e))?;
        shaped.with_weight_clip(animation, &track)
    }

    /// The same asset without skins: what moves by joints goes through positions instead.
    #[must_use]
    pub fn without_skins(&self) -> Self {
        let mut plain = self.clone();
        plain
            .objects
            .iter_mut()
            .for_each(|object| object.skin = None);
        for clip in &mut plain.clips {
            let baked: Vec<Option<Motion>> = clip
                .motions
                .iter()
                .map(|motion| {
                    motion
                        .skin
                        .as_ref()
                        .map(|_| self.baked(clip, motion.object))
                })
                .collect();
            clip.motions
                .iter_mut()
                .zip(baked)
                .for_each(|(motion, baked)| {
                    if let Some(baked) = baked {
                        *motion = baked
                    }
                });
        }
        plain
    }

    /// The motion of an object in a clip, as plain positions.
    pub(crate) fn baked(&self, clip: &Animation, object: usize) -> Motion {
        let frames = (0..clip.frame_count)
            .map(|frame| clip.positions(object, &self.objects[object], frame))
            .collect();
        Motion::new(object, Shape::Points(frames))
    }

    pub(crate) fn wrong_clip(&self, message: &str) -> IoError {
        IoError::Clip {
            file: self.shown_source(),
            message: message.into(),
        }
    }
}
