//! An asset with a new clip of positions, split into its objects.

use std::sync::Arc;

use pliant_mesh::glam::{DAffine3, DVec3};
use pliant_rig::{RigError, inverse_linear_part};

use crate::{Animation, Asset, IoError, Motion, Object, Shape, SkinTrack};

impl Asset {
    /// The same asset with `animation` as its only clip, in which the vertices, in the order of the
    /// whole file, have the positions `frames`.
    ///
    /// Names, UVs and polygons stay. Targets are removed, because nothing uses them any more, unless a
    /// save can add the clip to the file that the asset was read from.
    pub fn with_point_clip(
        &self,
        mut animation: Animation,
        frames: &[Vec<DVec3>],
    ) -> Result<Self, IoError> {
        let expected = self.vertex_count();
        for (k, frame) in frames.iter().enumerate() {
            if frame.len() != expected {
                return Err(self.rig_error(RigError::VertexCount {
                    what: format!("frame {k}"),
                    found: frame.len(),
                    expected,
                }));
            }
        }

        animation.frame_count = frames.len();
        animation.motions.clear();
        for (object, indices) in self.file_indices().iter().enumerate() {
            let mut own = Vec::with_capacity(frames.len());
            for frame in frames {
                own.push(indices.iter().map(|&v| frame[v as usize]).collect());
            }
            if is_still(&self.objects[object], &own) {
                continue;
            }
            let mut motion = Motion::new(object, Shape::Points(own));
            if self.original.is_some() {
                motion = before_joints(&self.objects[object], motion);
            }
            animation.motions.push(motion);
        }

        // A clip in which nothing moves keeps its frames with the first object.
        if animation.motions.is_empty() && !self.objects.is_empty() {
            let rest = self.objects[0].rig.neutral().positions().to_vec();
            let own = vec![rest; frames.len()];
            animation.motions = vec![Motion::new(0, Shape::Points(own))];
        }

        let moved = self.with_new_clip(animation);
        if self.original.is_some() {
            Ok(moved)
        } else {
            moved.without_idle_targets()
        }
    }

    /// The same asset without the targets of objects whose clips are frames of positions.
    pub(crate) fn without_idle_targets(&self) -> Result<Self, IoError> {
        let mut bare = self.clone();
        for (k, object) in bare.objects.iter_mut().enumerate() {
            let motions = self.clips.iter().flat_map(|clip| &clip.motions);
            let mut own = motions.filter(|motion| motion.object == k).peekable();
            let idle = own.peek().is_some() && own.all(|m| matches!(m.shape, Shape::Points(_)));
            if idle {
                let positions = object.rig.neutral().positions().to_vec();
                *object = object.posed(positions).map_err(|e| self.rig_error(e))?;
            }
        }

        bare.original = None;
        Ok(bare)
    }
}

/// The motion of an object whose file rests in another pose than its bind pose: its frames are stored in
/// the bind pose, and the joints at rest move them to where they should be. The file keeps its skin.
fn before_joints(object: &Object, motion: Motion) -> Motion {
    let (Some((binding, rest)), Shape::Points(frames)) = (object.rest_motions(), &motion.shape)
    else {
        return motion;
    };

    let mut inverses = Vec::with_capacity(object.vertex_count());
    for vertex in binding.skin.vertex_motions(rest) {
        // Where joints collapse the surface, nothing leads back.
        let Some(linear) = inverse_linear_part(&vertex) else {
            return motion;
        };
        let translation = -(linear * vertex.translation);
        inverses.push(DAffine3::from_mat3_translation(linear, translation));
    }

    let mut stored = Vec::with_capacity(frames.len());
    for frame in frames {
        let pairs = inverses.iter().zip(frame);
        stored.push(
            pairs
                .map(|(inverse, p)| inverse.transform_point3(*p))
                .collect(),
        );
    }
    Motion {
        skin: Some(SkinTrack {
            binding: binding.clone(),
            motions: Arc::new(vec![rest.to_vec(); frames.len()]),
        }),
        shape: Shape::Points(stored),
        ..motion
    }
}

/// Whether an object stays at its neutral in all frames, so that a clip need not say so.
fn is_still(object: &Object, frames: &[Vec<DVec3>]) -> bool {
    let neutral = object.rig.neutral().positions();
    let rests = object.skin.is_none() && object.rest_weights.iter().all(|w| *w == 0.0);
    rests && !frames.is_empty() && frames.iter().all(|frame| frame == neutral)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::obj;

    #[test]
    fn each_object_follows_its_part_of_the_frames() {
        let text = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 5 0 0\no front\nf 1 2 3\no back\nf 3 2 4\n";
        let asset = obj::read(text).unwrap();
        let rest = asset.mesh().unwrap().positions().to_vec();
        let frames: Vec<Vec<DVec3>> = (0..3)
            .map(|k| {
                rest.iter()
                    .map(|p| *p * 2.0 + DVec3::Z * f64::from(k))
                    .collect()
            })
            .collect();

        let moved = asset
            .with_point_clip(Animation::new("grow", 0), &frames)
            .unwrap();
        moved.check().unwrap();

        assert_eq!(moved.objects.len(), asset.objects.len());
        assert_eq!(moved.mesh().unwrap().positions(), rest);
        assert_eq!(moved.clip().unwrap().frames(), frames);
        assert!(
            asset
                .with_point_clip(Animation::new("short", 0), &[rest[1..].to_vec()])
                .is_err()
        );
    }
}
