//! An asset with a new clip of slider weights, split into its objects.

use pliant_rig::{RigError, SliderId, Target, WeightTrack};

use crate::{Animation, Asset, IoError, Motion, Shape};

impl Asset {
    /// The same asset, resting at the weight that `weight_of` gives for the name of each slider.
    #[must_use]
    pub fn with_rest_weights(&self, weight_of: impl Fn(&str) -> f64) -> Self {
        let mut resting = self.clone();
        for object in &mut resting.objects {
            let targets = object.rig.targets().iter();
            let own: Vec<f64> = targets.map(|target| weight_of(&target.name)).collect();

            // A list of zeros is the same as none.
            let rests_elsewhere = own.iter().any(|&weight| weight != 0.0);
            object.rest_weights = if rests_elsewhere { own } else { Vec::new() };
        }

        resting
    }

    /// The same asset with `animation` as its only clip, moved by `track`: the weights of all
    /// sliders in the order of [`Asset::rig`]. Each object gets the weights of its own targets;
    /// objects without targets keep the motions of `animation`.
    pub fn with_weight_clip(
        &self,
        mut animation: Animation,
        track: &WeightTrack,
    ) -> Result<Self, IoError> {
        let names = self.target_names();
        let found = track.keys()[0].len();
        let expected = names.len();
        if found != expected {
            return Err(self.rig_error(RigError::SliderCount { found, expected }));
        }

        for (index, object) in self.objects.iter().enumerate() {
            let targets = object.rig.targets();
            if targets.is_empty() {
                continue;
            }

            let slider_of = |target: &Target| {
                let index = names.iter().position(|known| *known == target.name);
                SliderId::from(index.expect("every target has its name in the list"))
            };
            let sliders: Vec<SliderId> = targets.iter().map(slider_of).collect();
            let shape = Shape::Weights(track.of_sliders(&sliders));

            let motions = &mut animation.motions;
            match motions.iter_mut().find(|motion| motion.object == index) {
                Some(motion) => motion.shape = shape,
                None => motions.push(Motion::new(index, shape)),
            }
        }

        Ok(self.with_new_clip(animation))
    }
}

#[cfg(test)]
mod tests {
    use pliant_mesh::Mesh;
    use pliant_mesh::glam::{DVec3, Vec3};
    use pliant_rig::{Interpolation, Rig};

    use super::*;
    use crate::Object;

    fn object(path: &str, targets: &[&str]) -> Object {
        let mesh =
            Mesh::from_triangles(vec![DVec3::ZERO, DVec3::X, DVec3::Y], &[[0, 1, 2]]).unwrap();
        let lift = |name: &&str| Target::from_dense(*name, [Vec3::Z; 3]);
        Object {
            path: path.into(),
            ..Object::new(Rig::new(mesh, targets.iter().map(lift).collect()).unwrap())
        }
    }

    #[test]
    fn each_object_is_moved_by_its_own_sliders() {
        let objects = vec![
            object("/skin", &["smile", "jaw"]),
            object("/hat", &[]),
            object("/teeth", &["jaw", "bite"]),
        ];

        let asset = Asset {
            objects,
            ..Asset::default()
        };
        let rows = vec![vec![0.0, 0.0, 0.0], vec![1.0, 2.0, 3.0]];
        let track = WeightTrack::new(vec![0.0, 1.0], rows.clone(), Interpolation::Linear).unwrap();

        let moved = asset
            .with_weight_clip(Animation::new("take", 25), &track)
            .unwrap();
        moved.check().unwrap();

        assert_eq!(
            moved.frame_positions(24).unwrap(),
            asset.rig().unwrap().evaluate(&rows[1])
        );
        assert_eq!(moved.clips[0].motions.len(), 2, "the hat rests");

        let short = WeightTrack::new(vec![0.0], vec![vec![1.0]], Interpolation::Linear).unwrap();
        assert!(
            asset
                .with_weight_clip(Animation::new("take", 1), &short)
                .is_err()
        );
    }
}
