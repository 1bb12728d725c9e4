//! The weight curves of a clip as a performance, with the rotations of head and eyes.
//!
//! **Method.** The inverse of [`Asset::with_performance`]: the head is the joint of that name, or the
//! placement of the object with the most targets; eyes are joints or objects, relative to the head.

use pliant_mesh::glam::{DAffine3, DQuat};
use pliant_rig::{Channel, Performance, RotatingPart};

use super::played::{eye_of_path, part_of_name};
use crate::{Animation, Asset, IoError, Shape};

/// Angles that never exceed this, in radians, are rounding.
const LEAST_ANGLE: f64 = 1e-5;

impl Asset {
    /// The weights of the only clip, or of the main one, at each of its frames: one channel for
    /// each target that the clip moves, under the name of the target; and the angles of the head and
    /// of the eyes if these rotate.
    ///
    /// # Errors
    /// An asset without a clip, or whose clip moves no targets.
    pub fn performance(&self) -> Result<Performance, IoError> {
        let clip = self.only_clip()?;
        let mut channels: Vec<Channel> = Vec::new();
        for motion in &clip.motions {
            let Shape::Weights(track) = &motion.shape else {
                continue;
            };
            let rows: Vec<Vec<f64>> = (0..clip.frame_count)
                .map(|frame| track.at(clip.time_secs(frame)))
                .collect();
            for (k, target) in self.objects[motion.object].rig.targets().iter().enumerate() {
                // Objects of one head move by the same sliders.
                if channels.iter().all(|channel| channel.name != target.name) {
                    let values = rows.iter().map(|row| row[k]).collect();
                    channels.push(Channel::new(&*target.name, values));
                }
            }
        }

        if channels.is_empty() {
            return Err(self.clip_error(
                "its clip moves no targets; give a clip of weight curves, or use `pliant invert` to find them",
            ));
        }
        channels.extend(self.rotations(clip));
        Performance::even(&*clip.name, clip.frames_per_second, channels)
            .map_err(|error| self.rig_error(error))
    }

    /// The angles of the head and of the eyes that rotate in a clip.
    fn rotations(&self, clip: &Animation) -> Vec<Channel> {
        let parts = [
            (RotatingPart::Head, "Head"),
            (RotatingPart::LeftEye, "LeftEye"),
            (RotatingPart::RightEye, "RightEye"),
        ];
        let motions = parts.map(|(part, _)| self.motion_of(part, clip));
        if motions.iter().all(Option::is_none) {
            return Vec::new();
        }
        let Ok(rig) = self.rig() else {
            return Vec::new();
        };

        let axes = self.character_axes(&rig);
        let turn = |motion: &DAffine3| DQuat::from_mat3(&rotation_part(motion));
        let mut channels = Vec::new();
        for ((part, name), motion) in parts.into_iter().zip(&motions) {
            let Some(motion) = motion else { continue };
            let mut angles = Vec::with_capacity(motion.len());
            for (frame, own) in motion.iter().enumerate() {
                let mut rotation = turn(own);
                if let (true, Some(head)) = (part != RotatingPart::Head, &motions[0]) {
                    rotation = turn(&head[frame]).conjugate() * rotation;
                }
                angles.push(axes.angles(rotation));
            }
            for (column, angle) in ["Yaw", "Pitch", "Roll"].into_iter().enumerate() {
                let values: Vec<f64> = angles.iter().map(|angles| angles[column]).collect();
                if values.iter().any(|value| value.abs() > LEAST_ANGLE) {
                    channels.push(Channel::new(format!("{name}{angle}"), values));
                }
            }
        }
        channels
    }

    /// How a part moves from its rest in each frame of a clip; `None` for a part without a motion.
    fn motion_of(&self, part: RotatingPart, clip: &Animation) -> Option<Vec<DAffine3>> {
        for motion in &clip.motions {
            let Some(skin) = &motion.skin else { continue };
            let joints = skin.binding.skeleton.joints();
            let is_part = |name: &str| part_of_name(name) == Some(part);
            if let Some(joint) = joints.iter().position(|joint| is_part(&joint.name)) {
                return Some(skin.motions.iter().map(|frame| frame[joint]).collect());
            }
        }

        let is_part = |object: usize| match part {
            RotatingPart::Head => Some(object) == self.face(),
            _ => eye_of_path(&self.objects[object].path) == Some(part),
        };
        let placed = clip.motions.iter().find_map(|motion| {
            let track = motion.placement.as_ref()?;
            is_part(motion.object).then_some(track)
        })?;
        let frames = 0..clip.frame_count;
        Some(
            frames
                .map(|frame| placed.at(clip.time_secs(frame)))
                .collect(),
        )
    }

    /// The object with the most targets.
    fn face(&self) -> Option<usize> {
        let count = |k: &usize| self.objects[*k].rig.targets().len();
        (0..self.objects.len())
            .max_by_key(count)
            .filter(|k| count(k) > 0)
    }
}

/// The columns of a motion without their lengths.
fn rotation_part(motion: &DAffine3) -> pliant_mesh::glam::DMat3 {
    let mut matrix = motion.matrix3;
    matrix.x_axis = matrix.x_axis.normalize_or_zero();
    matrix.y_axis = matrix.y_axis.normalize_or_zero();
    matrix.z_axis = matrix.z_axis.normalize_or_zero();
    matrix
}
