//! Clips as files store them: shape, skin and placement of each object over time.
//!
//! A clip of weights stays a clip of weights, so that it can be written as one.
//! [`Asset::clip`](crate::Asset::clip) gives the plain positions that most work needs.

use pliant_mesh::glam::{DAffine3, DVec3};
use pliant_rig::{Clip, WeightTrack};

use crate::{Object, ReadError, SkinBinding, SkinTrack};

/// A named clip of an asset: how each of its objects moves.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Animation {
    /// The clip's name, often that of its file.
    pub name: String,
    /// How many frames it has. The rest pose is not a frame.
    pub frame_count: usize,
    /// Frames per second.
    pub frames_per_second: f64,
    /// The time of frame 0 in the time of the tracks.
    pub start_secs: f64,
    /// Names of the frames; empty if the file gives none.
    pub frame_names: Vec<String>,
    /// What moves. An object without a motion rests.
    pub motions: Vec<Motion>,
    /// Which animation of its original file it is; `None` for a clip made by a program.
    pub(crate) original: Option<usize>,
}

/// How one object moves.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Motion {
    /// The index of the object in the asset.
    pub object: usize,
    /// How its shape changes.
    pub shape: Shape,
    /// How joints then move it.
    pub skin: Option<SkinTrack>,
    /// How it then moves as a whole.
    pub placement: Option<PlacementTrack>,
}

/// How the shape of an object changes over time.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Shape {
    /// It does not change.
    Rest,
    /// One list of absolute positions per frame.
    Points(Vec<Vec<DVec3>>),
    /// By the weights of the object's targets.
    Weights(WeightTrack),
}

/// The motion of an object as a whole: transformations from its rest pose, at ascending times.
#[derive(Debug, Clone, PartialEq)]
pub struct PlacementTrack {
    /// The time of each key, ascending, in seconds.
    pub times_secs: Vec<f64>,
    /// The transformation from the rest pose in the asset, at each key.
    pub moved_from_rest: Vec<DAffine3>,
}

impl Animation {
    /// An animation without motions at the default rate.
    #[must_use]
    pub fn new(name: impl Into<String>, frame_count: usize) -> Self {
        Self {
            name: name.into(),
            frame_count,
            frames_per_second: Clip::DEFAULT_FRAMES_PER_SECOND,
            start_secs: 0.0,
            frame_names: Vec::new(),
            motions: Vec::new(),
            original: None,
        }
    }

    /// The time of a frame in the time of the tracks.
    #[must_use]
    pub fn time_secs(&self, frame: usize) -> f64 {
        self.start_secs + frame as f64 / self.frames_per_second
    }

    /// The positions of `object`, the asset's object number `index`, in one frame.
    #[must_use]
    pub fn positions(&self, index: usize, object: &Object, frame: usize) -> Vec<DVec3> {
        let mut motions = self.motions.iter().filter(|m| m.object == index);
        match motions.next() {
            None => object.resting_positions(),
            Some(motion) => motion.positions(object, frame, self.time_secs(frame)),
        }
    }

    /// Rejects motions that do not fit their objects.
    pub(crate) fn check(&self, objects: &[Object]) -> Result<(), ReadError> {
        let wrong = |what: String| {
            Err(ReadError::whole(format!(
                "clip '{}' {what}; export it again",
                self.name
            )))
        };

        if !(self.frames_per_second.is_finite()
            && self.frames_per_second > 0.0
            && self.start_secs.is_finite())
        {
            return wrong(format!(
                "has {} frames a second from {} s",
                self.frames_per_second, self.start_secs
            ));
        }

        for motion in &self.motions {
            let Some(object) = objects.get(motion.object) else {
                return wrong(format!(
                    "moves object {} of {}",
                    motion.object,
                    objects.len()
                ));
            };
            motion.check(object, self.frame_count).or_else(wrong)?;
        }

        Ok(())
    }
}

impl Motion {
    /// The motion of object number `object` by a change of its shape.
    #[must_use]
    pub fn new(object: usize, shape: Shape) -> Self {
        Self {
            object,
            shape,
            placement: None,
            skin: None,
        }
    }

    fn positions(&self, object: &Object, frame: usize, time_secs: f64) -> Vec<DVec3> {
        let mut positions = self.shape_positions(object, frame, time_secs);
        if let Some(placement) = &self.placement {
            let moved = placement.at(time_secs);
            for position in &mut positions {
                *position = moved.transform_point3(*position);
            }
        }

        positions
    }

    /// The positions before the object moves as a whole.
    pub(crate) fn shape_positions(
        &self,
        object: &Object,
        frame: usize,
        time_secs: f64,
    ) -> Vec<DVec3> {
        let shape = self.own_shape(object, frame, time_secs);
        match self.joints(object, frame) {
            Some((binding, motions)) => binding.skin.blend(&shape, motions),
            None => shape,
        }
    }

    /// The positions before joints and the placement move them.
    pub(crate) fn own_shape(&self, object: &Object, frame: usize, time_secs: f64) -> Vec<DVec3> {
        match &self.shape {
            Shape::Rest => object.rig.evaluate(&object.rest_weights),
            Shape::Points(frames) => frames[frame].clone(),
            Shape::Weights(track) => object.rig.evaluate(&track.at(time_secs)),
        }
    }

    /// The joints that move the shape in a frame, with their motions. Frames of positions without a
    /// track of joints are where they should be.
    pub(super) fn joints<'a>(
        &'a self,
        object: &'a Object,
        frame: usize,
    ) -> Option<(&'a SkinBinding, &'a [DAffine3])> {
        match (&self.skin, &self.shape) {
            (Some(track), _) => Some((&track.binding, &track.motions[frame])),
            (None, Shape::Points(_)) => None,
            (None, _) => object.rest_motions(),
        }
    }

    /// The motion of each vertex in a frame, from its shape to where it is seen; `None` if all stay.
    pub(crate) fn vertex_motions(
        &self,
        object: &Object,
        frame: usize,
        time_secs: f64,
    ) -> Option<Vec<DAffine3>> {
        let joints = self.joints(object, frame);
        let placement = self.placement.as_ref().map(|track| track.at(time_secs));
        let mut motions = match joints {
            Some((binding, motions)) => binding.skin.vertex_motions(motions),
            None => vec![DAffine3::IDENTITY; placement.map_or(0, |_| object.vertex_count())],
        };
        if let Some(placement) = placement {
            for motion in &mut motions {
                *motion = placement * *motion;
            }
        }
        (!motions.is_empty()).then_some(motions)
    }

    fn check(&self, object: &Object, frame_count: usize) -> Result<(), String> {
        self.shape.check(object, frame_count)?;
        if let Some(track) = &self.skin {
            track.check(object.vertex_count(), frame_count)?;
        }

        if let Some(track) = &self.placement {
            let times = track.times_secs.len();
            let transforms = track.moved_from_rest.len();
            if times == 0 || times != transforms {
                return Err(format!("has {times} times for {transforms} placements"));
            }
        }

        Ok(())
    }
}

impl Shape {
    fn check(&self, object: &Object, frame_count: usize) -> Result<(), String> {
        match self {
            Self::Rest => Ok(()),
            Self::Points(frames) => check_frames(frames, object.vertex_count(), frame_count),
            Self::Weights(track) => {
                let weights = track.keys()[0].len();
                let targets = object.rig.targets().len();
                if weights == targets {
                    Ok(())
                } else {
                    Err(format!(
                        "moves {weights} targets, but its mesh has {targets}"
                    ))
                }
            }
        }
    }
}

fn check_frames(frames: &[Vec<DVec3>], vertices: usize, frame_count: usize) -> Result<(), String> {
    if frames.len() != frame_count {
        let found = frames.len();
        return Err(format!("has positions for {found} of {frame_count} frames"));
    }

    for (k, frame) in frames.iter().enumerate() {
        if frame.len() != vertices {
            let found = frame.len();
            return Err(format!(
                "has {found} vertices in frame {k}, but its mesh has {vertices}"
            ));
        }
    }

    Ok(())
}

impl PlacementTrack {
    /// The transformation at a time. Scale and translation are interpolated linearly, rotation along
    /// the great circle.
    #[must_use]
    pub fn at(&self, time_secs: f64) -> DAffine3 {
        let next = self.times_secs.partition_point(|&t| t <= time_secs);
        if next == 0 || next == self.times_secs.len() {
            return self.moved_from_rest[next.saturating_sub(1)];
        }

        let from = self.times_secs[next - 1];
        let to = self.times_secs[next];
        let s = (time_secs - from) / (to - from);
        if s == 0.0 {
            return self.moved_from_rest[next - 1];
        }

        let (scale, rotation, translation) =
            self.moved_from_rest[next - 1].to_scale_rotation_translation();
        let (next_scale, next_rotation, next_translation) =
            self.moved_from_rest[next].to_scale_rotation_translation();
        DAffine3::from_scale_rotation_translation(
            scale.lerp(next_scale, s),
            rotation.slerp(next_rotation, s),
            translation.lerp(next_translation, s),
        )
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::FRAC_PI_2;

    use super::*;

    #[test]
    fn half_way_to_a_quarter_rotation_is_an_eighth_rotation() {
        let rotated = |angle: f64| DAffine3::from_rotation_z(angle);
        let track = PlacementTrack {
            times_secs: vec![0.0, 2.0],
            moved_from_rest: vec![rotated(0.0), rotated(FRAC_PI_2)],
        };
        let half = track.at(1.0).transform_point3(DVec3::X);
        assert!((half - DVec3::new(0.5_f64.sqrt(), 0.5_f64.sqrt(), 0.0)).length() < 1e-15);
        assert_eq!(track.at(-1.0), rotated(0.0));
        assert_eq!(track.at(9.0), rotated(FRAC_PI_2));
    }
}
