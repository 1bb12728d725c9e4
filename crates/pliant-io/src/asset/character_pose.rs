//! A pose of a character, in which its sliders still act: a frame of its clip, or its rest pose.
//!
//! **Method.** Targets change a character in its bind pose; joints and the placement of objects move
//! it afterwards, by an affine motion of each vertex (see `Rig::moved_by`). The rig of the pose has
//! the same sliders, so that pins, strokes and touches act on what one sees, and their results are
//! stored in the bind pose.

use std::borrow::Cow;
use std::sync::Arc;

use pliant_mesh::glam::{DAffine3, DMat3, DVec3};
use pliant_rig::{
    Clip, Interpolation, Rig, RigError, Target, WeightTrack, inverse_linear_part,
    inverse_linear_parts,
};

use crate::{Animation, Asset, IoError, Motion, Object, PlacementTrack, Shape, SkinTrack};

/// A pose of the joints and objects of an asset, over its vertices in the order of the whole file.
#[derive(Debug, Clone)]
pub struct CharacterPose {
    /// The motion of each vertex from its shape to where it is seen; `None` if all stay.
    motions: Option<Vec<DAffine3>>,
    /// The shape on which the sliders act, if it is a frame of positions instead of the neutral.
    shape: Option<Vec<DVec3>>,
    weights: Vec<f64>,
    /// The motions of objects in this pose, each of one frame.
    held: Vec<Motion>,
}

impl Asset {
    /// The pose in which the file rests, with all weights at zero.
    #[must_use]
    pub fn rest_pose(&self) -> CharacterPose {
        let resting = Animation::new("", 1);
        CharacterPose {
            weights: vec![0.0; self.target_names().len()],
            ..self.pose_in(&resting, 0)
        }
    }

    /// The pose in a frame of the only clip, with the weights of that frame.
    pub fn pose_at(&self, frame: usize) -> Result<CharacterPose, IoError> {
        let clip = self.only_clip()?;
        if frame >= clip.frame_count {
            return Err(self.rig_error(RigError::NoSuchFrame {
                frame,
                frames: clip.frame_count,
            }));
        }
        Ok(self.pose_in(clip, frame))
    }

    fn pose_in(&self, clip: &Animation, frame: usize) -> CharacterPose {
        let time = clip.time_secs(frame);
        let names = self.target_names();
        let count = self.vertex_count();
        let mut pose = CharacterPose {
            motions: None,
            shape: None,
            weights: vec![0.0; names.len()],
            held: Vec::new(),
        };

        for (k, (object, indices)) in self.objects.iter().zip(&self.file_indices()).enumerate() {
            let motion = clip.motion_of(k);
            if let Some(own) = motion.vertex_motions(object, frame, time) {
                let all = pose
                    .motions
                    .get_or_insert_with(|| vec![DAffine3::IDENTITY; count]);
                for (&index, motion) in indices.iter().zip(own) {
                    all[index as usize] = motion;
                }
            }

            let own_weights = match &motion.shape {
                Shape::Rest => object.rest_weights.clone(),
                Shape::Weights(track) => track.at(time),
                Shape::Points(frames) => {
                    // Sliders add to the positions of the frame.
                    let neutral = || self.neutral_positions(count);
                    let all = pose.shape.get_or_insert_with(neutral);
                    for (&index, &position) in indices.iter().zip(&frames[frame]) {
                        all[index as usize] = position;
                    }
                    Vec::new()
                }
            };
            for (target, &weight) in object.rig.targets().iter().zip(&own_weights) {
                if let Some(slider) = names.iter().position(|name| *name == target.name) {
                    pose.weights[slider] = weight;
                }
            }
            pose.held.extend(held(&motion, object, frame, time));
        }

        pose
    }

    fn neutral_positions(&self, count: usize) -> Vec<DVec3> {
        let mut positions = vec![DVec3::ZERO; count];
        for (object, indices) in self.objects.iter().zip(&self.file_indices()) {
            for (&index, &position) in indices.iter().zip(object.rig.neutral().positions()) {
                positions[index as usize] = position;
            }
        }
        positions
    }

    /// The same asset with the motions of `base` as a new clip, in which vertices are displaced.
    /// `displacements` lists, for each frame, vertices in the order of the whole file with their
    /// displacements of what one sees.
    ///
    /// Joints and objects move as in `base`. The displaced shapes are stored before them, so that
    /// the character keeps its skin.
    pub fn with_displaced_clip(
        &self,
        base: &Animation,
        displacements: &[Vec<(u32, DVec3)>],
    ) -> Result<Self, IoError> {
        if displacements.len() != base.frame_count {
            let found = displacements.len();
            let expected = base.frame_count;
            return Err(self.clip_error(&format!(
                "it needs displacements for {expected} frames, but there are {found}"
            )));
        }

        let mut animation = base.clone();
        animation.original = None;
        for (k, (object, indices)) in self.objects.iter().zip(&self.file_indices()).enumerate() {
            let mut own = Vec::with_capacity(displacements.len());
            for frame in displacements {
                let in_object = |(vertex, displacement): &(u32, DVec3)| {
                    let index = indices.binary_search(vertex).ok()?;
                    (*displacement != DVec3::ZERO).then_some((index, *displacement))
                };
                own.push(frame.iter().filter_map(in_object).collect::<Vec<_>>());
            }
            if own.iter().all(Vec::is_empty) {
                continue;
            }

            let motion = base.motion_of(k);
            let mut frames = Vec::with_capacity(base.frame_count);
            for (frame, displaced) in own.iter().enumerate() {
                frames.push(displaced_shape(base, &motion, object, frame, displaced));
            }
            let displaced = Motion {
                object: k,
                shape: Shape::Points(frames),
                skin: motion.skin_track(object, base.frame_count),
                placement: motion.placement.clone(),
            };
            match animation.motions.iter_mut().find(|m| m.object == k) {
                Some(motion) => *motion = displaced,
                None => animation.motions.push(displaced),
            }
        }

        // A clip in which nothing moves keeps its frames with the first object.
        if animation.motions.is_empty()
            && let Some(first) = self.objects.first()
        {
            let frames = vec![first.resting_positions(); base.frame_count];
            animation.motions = vec![Motion::new(0, Shape::Points(frames))];
        }
        Ok(self.with_new_clip(animation))
    }
}

impl CharacterPose {
    /// The weights of the sliders in this pose, in the order of [`Asset::rig`].
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Whether vertices are elsewhere than in the neutral.
    #[must_use]
    pub fn is_moved(&self) -> bool {
        self.motions.is_some() || self.shape.is_some()
    }

    /// The rig of the asset in this pose, with the same sliders.
    pub fn rig(&self, rig: &Rig) -> Result<Rig, RigError> {
        let shaped = match &self.shape {
            Some(positions) => rig
                .clone()
                .with_neutral(rig.neutral().posed(positions.clone())?)?,
            None => rig.clone(),
        };
        match &self.motions {
            Some(motions) => shaped.moved_by(motions),
            None => Ok(shaped),
        }
    }

    /// A target of the rig in this pose as one of the asset, which joints move afterwards.
    #[must_use]
    pub fn unposed(&self, target: &Target) -> Target {
        match &self.motions {
            Some(motions) => target.transformed_by(&inverse_linear_parts(motions)),
            None => target.clone(),
        }
    }

    /// The vertices that the pose collapses to a plane, a line or a point, so that displacements of
    /// them have no unique origin.
    #[must_use]
    pub fn collapsed_vertices(&self) -> Vec<usize> {
        let motions = self.motions.iter().flatten().enumerate();
        let collapsed = motions.filter(|(_, motion)| inverse_linear_part(motion).is_none());
        collapsed.map(|(vertex, _)| vertex).collect()
    }

    /// A clip in which `asset` stays in this pose at `weights`, for the given number of frames.
    pub fn held_clip(
        &self,
        asset: &Asset,
        name: &str,
        weights: &[f64],
        frame_count: usize,
    ) -> Result<Animation, IoError> {
        let mut clip = Animation::new(name, frame_count);
        for motion in &self.held {
            clip.motions.push(Motion {
                skin: motion.skin.as_ref().map(|track| SkinTrack {
                    binding: track.binding.clone(),
                    motions: Arc::new(vec![track.motions[0].clone(); frame_count]),
                }),
                shape: match &motion.shape {
                    Shape::Points(frames) => Shape::Points(vec![frames[0].clone(); frame_count]),
                    other => other.clone(),
                },
                ..motion.clone()
            });
        }

        let names = asset.target_names();
        for (k, object) in asset.objects.iter().enumerate() {
            let weight_of = |target: &Target| {
                let slider = names.iter().position(|name| *name == target.name);
                slider.and_then(|k| weights.get(k)).copied().unwrap_or(0.0)
            };
            let own: Vec<f64> = object.rig.targets().iter().map(weight_of).collect();
            let rest = |k: usize| object.rest_weights.get(k).copied().unwrap_or(0.0);
            if own.iter().enumerate().all(|(k, &weight)| weight == rest(k)) {
                continue;
            }
            let track = WeightTrack::new(vec![0.0], vec![own], Interpolation::Linear)
                .map_err(|e| asset.rig_error(e))?;
            let shape = Shape::Weights(track);
            match clip.motions.iter_mut().find(|motion| motion.object == k) {
                Some(motion) if matches!(motion.shape, Shape::Points(_)) => {}
                Some(motion) => motion.shape = shape,
                None => clip.motions.push(Motion::new(k, shape)),
            }
        }

        Ok(clip)
    }
}

impl Animation {
    /// The motion of an object; at rest without one.
    pub(super) fn motion_of(&self, object: usize) -> Cow<'_, Motion> {
        let found = self.motions.iter().find(|motion| motion.object == object);
        match found {
            Some(motion) => Cow::Borrowed(motion),
            None => Cow::Owned(Motion::new(object, Shape::Rest)),
        }
    }

    /// The clip with another number of frames per second and another length; the last frame stays
    /// where there are more. Joints are interpolated relative to their parents.
    #[must_use]
    pub fn resampled(&self, frames_per_second: f64, frame_count: usize) -> Self {
        let mut resampled = Self {
            frame_count,
            frames_per_second,
            frame_names: Vec::new(),
            original: None,
            ..self.clone()
        };
        if frames_per_second == self.frames_per_second && frame_count == self.frame_count {
            return resampled;
        }

        let last = self.frame_count.saturating_sub(1) as f64;
        let ratio = self.frames_per_second / frames_per_second;
        let places: Vec<f64> = (0..frame_count)
            .map(|frame| nearest_frame((frame as f64 * ratio).min(last)))
            .collect();
        for motion in &mut resampled.motions {
            if let Some(track) = &mut motion.skin {
                let rows = places.iter().map(|&at| track.motions_at(at)).collect();
                track.motions = Arc::new(rows);
            }
            if let Shape::Points(frames) = &motion.shape {
                let positions = places.iter().map(|&at| points_at(frames, at)).collect();
                motion.shape = Shape::Points(positions);
            }
        }
        resampled
    }
}

impl Motion {
    /// Its track of joints; one of the joints at rest where the file rests in another pose than the
    /// bind pose.
    fn skin_track(&self, object: &Object, frame_count: usize) -> Option<SkinTrack> {
        if self.skin.is_some() || matches!(self.shape, Shape::Points(_)) {
            return self.skin.clone();
        }
        let (binding, motions) = object.rest_motions()?;
        Some(SkinTrack {
            binding: binding.clone(),
            motions: Arc::new(vec![motions.to_vec(); frame_count]),
        })
    }
}

impl SkinTrack {
    /// The motions of the joints between frames. Each joint is interpolated relative to its parent:
    /// scale and translation linearly, rotation along the great circle.
    fn motions_at(&self, at: f64) -> Vec<DAffine3> {
        let before = at as usize;
        let Some(next) = self.motions.get(before + 1).filter(|_| at.fract() != 0.0) else {
            return self.motions[before].clone();
        };

        let joints = self.binding.skeleton.joints();
        let mut worlds: Vec<Option<DAffine3>> = vec![None; joints.len()];
        for first in 0..joints.len() {
            // Parents before children.
            let mut pending = vec![first];
            while let Some(&joint) = pending.last() {
                let parent = joints[joint].parent;
                match parent {
                    Some(parent) if worlds[parent].is_none() => pending.push(parent),
                    _ => {
                        pending.pop();
                        let local = |motions: &[DAffine3]| {
                            let world = motions[joint] * joints[joint].bind();
                            let of_parent = parent.map(|p| motions[p] * joints[p].bind());
                            of_parent.map_or(world, |parent| parent.inverse() * world)
                        };
                        let [a, b] = [&self.motions[before], next].map(|m| local(m));
                        let own = interpolated(&a, &b, at.fract());
                        let of_parent = parent.and_then(|parent| worlds[parent]);
                        worlds[joint] = Some(of_parent.map_or(own, |parent| parent * own));
                    }
                }
            }
        }

        let worlds = worlds.into_iter().zip(joints);
        worlds
            .map(|(world, joint)| world.unwrap_or_default() * joint.bind().inverse())
            .collect()
    }
}

/// A transformation between two: scale and translation linear, rotation along the great circle. Where
/// one of them collapses space, all numbers are linear.
fn interpolated(a: &DAffine3, b: &DAffine3, s: f64) -> DAffine3 {
    if inverse_linear_part(a).is_none() || inverse_linear_part(b).is_none() {
        let linear = a.matrix3 * (1.0 - s) + b.matrix3 * s;
        return DAffine3::from_mat3_translation(linear, a.translation.lerp(b.translation, s));
    }
    let track = PlacementTrack {
        times_secs: vec![0.0, 1.0],
        moved_from_rest: vec![*a, *b],
    };
    track.at(s)
}

/// A position in a clip that is a frame up to rounding is that frame, as in [`Clip::positions_at`].
fn nearest_frame(at: f64) -> f64 {
    let near = (at - at.round()).abs() < Clip::FRAME_TOLERANCE;
    if near { at.round() } else { at }
}

fn points_at(frames: &[Vec<DVec3>], at: f64) -> Vec<DVec3> {
    let before = at as usize;
    match frames.get(before + 1).filter(|_| at.fract() != 0.0) {
        None => frames[before].clone(),
        Some(next) => {
            let pairs = frames[before].iter().zip(next);
            pairs.map(|(a, b)| a.lerp(*b, at.fract())).collect()
        }
    }
}

/// The motion of one frame as a clip of one frame; `None` if the object rests. Weights are not part
/// of it.
fn held(motion: &Motion, object: &Object, frame: usize, time_secs: f64) -> Option<Motion> {
    let joints = motion.joints(object, frame);
    let skin = joints.map(|(binding, motions)| SkinTrack {
        binding: binding.clone(),
        motions: Arc::new(vec![motions.to_vec()]),
    });
    let placement = motion.placement.as_ref().map(|track| PlacementTrack {
        times_secs: vec![0.0],
        moved_from_rest: vec![track.at(time_secs)],
    });
    let shape = match &motion.shape {
        Shape::Points(frames) => Shape::Points(vec![frames[frame].clone()]),
        _ => Shape::Rest,
    };
    let rests = skin.is_none() && placement.is_none() && matches!(shape, Shape::Rest);
    (!rests).then_some(Motion {
        object: motion.object,
        shape,
        skin,
        placement,
    })
}

/// The shape of an object in a frame before joints move it, with displacements of what one sees.
fn displaced_shape(
    base: &Animation,
    motion: &Motion,
    object: &Object,
    frame: usize,
    displacements: &[(usize, DVec3)],
) -> Vec<DVec3> {
    let time = base.time_secs(frame);
    let mut shape = motion.own_shape(object, frame, time);
    if displacements.is_empty() {
        return shape;
    }

    let motions = motion.vertex_motions(object, frame, time);
    for &(vertex, displacement) in displacements {
        let inverse = motions
            .as_ref()
            .and_then(|all| inverse_linear_part(&all[vertex]));
        shape[vertex] += inverse.unwrap_or(DMat3::IDENTITY) * displacement;
    }
    shape
}
