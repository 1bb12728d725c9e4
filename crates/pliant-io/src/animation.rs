//! Clips as files hold them: each object's motion, in the file's own terms.
//!
//! An animation of weights stays one, so that it can be written as one;
//! [`Asset::clip`](crate::Asset::clip) gives the plain positions that most work needs.

use pliant_mesh::glam::{DAffine3, DVec3};
use pliant_rig::{Clip, WeightTrack};

use crate::{Object, ReadError, SkinTrack};

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
    /// The time of frame 0 on the tracks' clock.
    pub start_secs: f64,
    /// Names of the frames; empty where the file gives none.
    pub frame_names: Vec<String>,
    /// What moves. An object without a motion rests.
    pub motions: Vec<Motion>,
}

/// How one object moves.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Motion {
    /// Which object, by its place in the asset.
    pub object: usize,
    /// How its shape changes.
    pub shape: Shape,
    /// How joints then take it along.
    pub skin: Option<SkinTrack>,
    /// How it then moves as a whole.
    pub placement: Option<PlacementTrack>,
}

/// How the shape of an object changes over time.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Shape {
    /// It does not.
    Rest,
    /// One list of absolute positions per frame.
    Points(Vec<Vec<DVec3>>),
    /// By the weights of the object's targets.
    Weights(WeightTrack),
}

/// How an object moves as a whole: maps from its rest place to where it is, at ascending times.
#[derive(Debug, Clone, PartialEq)]
pub struct PlacementTrack {
    /// The time of each key, ascending, in seconds.
    pub times_secs: Vec<f64>,
    /// The place at each key, relative to the object's rest pose in the asset.
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
        }
    }

    /// The time of a frame on the tracks' clock.
    #[must_use]
    pub fn time_secs(&self, frame: usize) -> f64 {
        self.start_secs + frame as f64 / self.frames_per_second
    }

    /// The positions of `object`, the asset's object number `index`, in one frame.
    #[must_use]
    pub fn positions(&self, index: usize, object: &Object, frame: usize) -> Vec<DVec3> {
        let mut motions = self.motions.iter().filter(|m| m.object == index);
        match motions.next() {
            None => object.rig.neutral().positions().to_vec(),
            Some(motion) => motion.positions(object, frame, self.time_secs(frame)),
        }
    }

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
        let mut positions = match &self.shape {
            Shape::Rest => object.rig.neutral().positions().to_vec(),
            Shape::Points(frames) => frames[frame].clone(),
            Shape::Weights(track) => object.rig.evaluate(&track.at(time_secs)),
        };
        if let Some(track) = &self.skin {
            positions = track.positions(&positions, frame);
        }
        if let Some(placement) = &self.placement {
            let moved = placement.at(time_secs);
            positions
                .iter_mut()
                .for_each(|p| *p = moved.transform_point3(*p));
        }
        positions
    }

    fn check(&self, object: &Object, frame_count: usize) -> Result<(), String> {
        let vertices = object.rig.neutral().vertex_count();
        match &self.shape {
            Shape::Rest => {}
            Shape::Points(frames) => {
                if frames.len() != frame_count {
                    return Err(format!(
                        "has positions for {} of {frame_count} frames",
                        frames.len()
                    ));
                }
                if let Some((k, frame)) =
                    frames.iter().enumerate().find(|(_, f)| f.len() != vertices)
                {
                    return Err(format!(
                        "has {} vertices in frame {k}, but its mesh has {vertices}",
                        frame.len()
                    ));
                }
            }
            Shape::Weights(track) => {
                let (weights, targets) = (track.keys()[0].len(), object.rig.targets().len());
                if weights != targets {
                    return Err(format!(
                        "moves {weights} targets, but its mesh has {targets}"
                    ));
                }
            }
        }
        if let Some(track) = &self.skin {
            track.check(vertices, frame_count)?;
        }
        match &self.placement {
            Some(track)
                if track.times_secs.is_empty()
                    || track.times_secs.len() != track.moved_from_rest.len() =>
            {
                Err(format!(
                    "has {} times for {} places",
                    track.times_secs.len(),
                    track.moved_from_rest.len()
                ))
            }
            _ => Ok(()),
        }
    }
}

impl PlacementTrack {
    /// The place at one moment: scale and translation go straight, rotation along the great circle.
    #[must_use]
    pub fn at(&self, time_secs: f64) -> DAffine3 {
        let next = self.times_secs.partition_point(|&t| t <= time_secs);
        if next == 0 || next == self.times_secs.len() {
            return self.moved_from_rest[next.saturating_sub(1)];
        }
        let (from, to) = (self.times_secs[next - 1], self.times_secs[next]);
        let s = (time_secs - from) / (to - from);
        if s == 0.0 {
            return self.moved_from_rest[next - 1];
        }
        let [a, b] =
            [next - 1, next].map(|k| self.moved_from_rest[k].to_scale_rotation_translation());
        DAffine3::from_scale_rotation_translation(
            a.0.lerp(b.0, s),
            a.1.slerp(b.1, s),
            a.2.lerp(b.2, s),
        )
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::FRAC_PI_2;

    use super::*;

    #[test]
    fn a_quarter_turn_is_an_eighth_turn_half_way() {
        let turn = |angle: f64| DAffine3::from_rotation_z(angle);
        let track = PlacementTrack {
            times_secs: vec![0.0, 2.0],
            moved_from_rest: vec![turn(0.0), turn(FRAC_PI_2)],
        };
        let half = track.at(1.0).transform_point3(DVec3::X);
        assert!((half - DVec3::new(0.5_f64.sqrt(), 0.5_f64.sqrt(), 0.0)).length() < 1e-15);
        assert_eq!(track.at(-1.0), turn(0.0));
        assert_eq!(track.at(9.0), turn(FRAC_PI_2));
    }
}
