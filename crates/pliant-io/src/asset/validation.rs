//! Checks of an asset: everything fits together, and all numbers are finite.

use super::{Animation, Asset, Motion, Object, Shape};
use crate::{IoError, ReadError};

impl Asset {
    /// Rejects NaN and infinity in positions, targets and frames.
    pub fn require_finite(&self) -> Result<(), IoError> {
        match self.first_non_finite() {
            None => Ok(()),
            Some(message) => Err(IoError::NotFinite {
                file: self.display_name(),
                message,
            }),
        }
    }

    /// A sentence about the first number that is not finite.
    pub(crate) fn first_non_finite(&self) -> Option<String> {
        for object in &self.objects {
            if let Err(error) = object.rig.require_finite() {
                return Some(error.to_string());
            }
        }
        self.clips.iter().find_map(first_non_finite_in_clip)
    }

    /// Whether objects and clips fit together. A reader cannot check what comes from several parts
    /// of a file.
    pub(crate) fn check(&self) -> Result<(), ReadError> {
        let total: usize = self.objects.iter().map(Object::vertex_count).sum();
        for object in &self.objects {
            check_object(object, total)?;
        }
        for clip in &self.clips {
            clip.check(&self.objects)?;
        }
        Ok(())
    }
}

/// Checks skin and file order of an object in an asset whose objects have `total` vertices.
fn check_object(object: &Object, total: usize) -> Result<(), ReadError> {
    let path = &object.path;
    let vertices = object.vertex_count();
    if let Some(skin) = &object.skin {
        skin.check(vertices)
            .map_err(|message| ReadError::whole(format!("object '{path}' {message}")))?;
    }

    // Every vertex of the file is in an object, so that no index can exceed their sum.
    let fits = object
        .file_index
        .as_ref()
        .is_none_or(|index| index.len() == vertices && index.iter().all(|&v| (v as usize) < total));
    if !fits {
        return Err(ReadError::whole(format!(
            "the vertex order of object '{path}' does not fit its {vertices} vertices"
        )));
    }

    Ok(())
}

fn first_non_finite_in_clip(clip: &Animation) -> Option<String> {
    clip.motions.iter().find_map(|motion| {
        non_finite_joint(clip, motion).or_else(|| non_finite_shape(clip, motion))
    })
}

fn non_finite_joint(clip: &Animation, motion: &Motion) -> Option<String> {
    let track = motion.skin.as_ref()?;
    let frame = track
        .motions
        .iter()
        .position(|joints| joints.iter().any(|joint| !joint.is_finite()))?;
    Some(format!(
        "frame {frame} of clip '{}' moves a joint by a number that is not finite; repair the file",
        clip.name
    ))
}

fn non_finite_shape(clip: &Animation, motion: &Motion) -> Option<String> {
    let name = &clip.name;
    match &motion.shape {
        Shape::Rest => None,
        Shape::Points(frames) => frames.iter().enumerate().find_map(|(k, frame)| {
            let vertex = frame.iter().position(|p| !p.is_finite())?;
            Some(format!(
                "frame {k} of clip '{name}' holds a number that is not finite at vertex {vertex}; repair the file"
            ))
        }),
        Shape::Weights(track) => {
            let mut keys = track.keys().iter();
            let key = keys.position(|weights| weights.iter().any(|w| !w.is_finite()))?;
            Some(format!(
                "key {key} of clip '{name}' holds a weight that is not finite; repair the file"
            ))
        }
    }
}
