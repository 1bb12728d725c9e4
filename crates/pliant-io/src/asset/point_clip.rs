//! An asset with a new clip of positions, split into its objects.

use pliant_mesh::glam::DVec3;
use pliant_rig::RigError;

use crate::{Animation, Asset, IoError, Motion, Shape};

impl Asset {
    /// The same asset with `animation` as its only clip, in which the vertices, in the order of the
    /// whole file, have the positions `frames`.
    ///
    /// Names, UVs and polygons stay; targets are removed, because nothing uses them any more.
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

        let mut moved = self.posed(self.mesh()?.positions())?;
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

        moved.clips = vec![animation];
        Ok(moved)
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
