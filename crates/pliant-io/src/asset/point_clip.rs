//! An asset with a new clip of positions, split into its objects.

use pliant_mesh::glam::DVec3;
use pliant_rig::RigError;

use crate::{Animation, Asset, IoError, Motion, Shape};

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
            animation
                .motions
                .push(Motion::new(object, Shape::Points(own)));
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
