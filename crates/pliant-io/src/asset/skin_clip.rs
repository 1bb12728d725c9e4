//! Skins of objects, and clips of moving joints.
//!
//! A [`SkinBinding`] says which joints the vertices of an object follow, a [`SkinTrack`] how the
//! joints move in a clip. Targets apply first: they change the object in its reference pose, and
//! the joints then move it.

use std::sync::Arc;

use pliant_mesh::glam::{DAffine3, DVec3};
use pliant_rig::{Interpolation, Skeleton, Skin, Target, WeightTrack};

use crate::{Animation, Asset, IoError, Motion, Shape};

/// Which joints the vertices of an object follow.
#[derive(Debug, Clone, PartialEq)]
pub struct SkinBinding {
    /// The joints of each vertex.
    pub skin: Arc<Skin>,
    /// The joints; several objects may share them.
    pub skeleton: Arc<Skeleton>,
}

/// The motion of the joints of an object in a clip.
#[derive(Debug, Clone, PartialEq)]
pub struct SkinTrack {
    /// Which joints each vertex follows.
    pub binding: SkinBinding,
    /// The transformation of the reference pose by each joint: frame by frame, joint by joint.
    pub motions: Arc<Vec<Vec<DAffine3>>>,
}

impl SkinBinding {
    pub(crate) fn check(&self, vertices: usize) -> Result<(), String> {
        let joints = self.skeleton.joints().len();
        let skinned = self.skin.vertex_count();
        let bones = self.skin.bone_count();
        if skinned == vertices && bones == joints {
            return Ok(());
        }
        Err(format!(
            "has a skin of {skinned} vertices and {bones} bones for {vertices} vertices and {joints} joints"
        ))
    }
}

impl SkinTrack {
    pub(crate) fn check(&self, vertices: usize, frame_count: usize) -> Result<(), String> {
        self.binding.check(vertices)?;
        let joints = self.binding.skeleton.joints().len();
        let complete = self.motions.iter().all(|frame| frame.len() == joints);
        if self.motions.len() == frame_count && complete {
            Ok(())
        } else {
            Err(format!(
                "has no motion of every joint in each of {frame_count} frames"
            ))
        }
    }

    /// The positions in a frame, from the positions `shape` in the reference pose.
    #[must_use]
    pub fn positions(&self, shape: &[DVec3], frame: usize) -> Vec<DVec3> {
        self.binding.skin.blend(shape, &self.motions[frame])
    }
}

impl Asset {
    /// The same asset with `animation` as its only clip, in which the vertices, in the order of the
    /// whole file, follow the joints of `track`; without targets.
    pub fn with_skin_clip(
        &self,
        mut animation: Animation,
        track: &SkinTrack,
    ) -> Result<Self, IoError> {
        let rest = self.mesh()?;
        track
            .check(rest.vertex_count(), track.motions.len())
            .map_err(|message| self.clip_error(&format!("it {message}")))?;

        let mut moved = self.posed(rest.positions())?;
        animation.frame_count = track.motions.len();
        animation.motions.clear();

        for (k, indices) in self.file_indices().iter().enumerate() {
            let skin = Arc::new(track.binding.skin.of_vertices(indices));
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

    /// Like [`with_skin_clip`](Self::with_skin_clip), with `targets` in the order of the whole file,
    /// which change the reference pose by `weights` frame by frame before the joints move it.
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
            let frames = track.motions.len();
            let count = targets.len();
            return Err(self.clip_error(&format!(
                "it needs weights of {count} targets in {frames} frames"
            )));
        }

        // The targets join the asset first, and the curves of their weights follow.
        let shaped = skinned.with_targets(targets)?;
        let animation = shaped.only_clip()?.clone();

        // Objects keep only the targets that move them, so that the order of names may change.
        let names = shaped.target_names();
        let target_of_slider: Vec<usize> = names
            .iter()
            .filter_map(|name| targets.iter().position(|target| target.name == *name))
            .collect();

        let keys = weights
            .iter()
            .map(|row| target_of_slider.iter().map(|&k| row[k]).collect())
            .collect();
        let times = (0..weights.len())
            .map(|frame| animation.time_secs(frame))
            .collect();

        let track =
            WeightTrack::new(times, keys, Interpolation::Linear).map_err(|e| self.rig_error(e))?;
        shaped.with_weight_clip(animation, &track)
    }

    /// The same asset without skins; motions by joints become frames of positions.
    #[must_use]
    pub fn without_skins(&self) -> Self {
        let mut plain = self.clone();
        for object in &mut plain.objects {
            object.skin = None;
            object.rest_joints = None;
        }
        for (clip, original) in plain.clips.iter_mut().zip(&self.clips) {
            for motion in &mut clip.motions {
                if motion.skin.is_some() {
                    *motion = self.baked(original, motion.object);
                }
            }
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
}
