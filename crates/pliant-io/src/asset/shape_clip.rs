//! Clips of few shapes with weights instead of a shape for each frame.
//!
//! **Problem.** A morph target for each frame is exact and large. Most clips need few targets within
//! a tolerance that nobody sees (see `ShapeBasis`), whose weights every player interpolates.

use pliant_mesh::glam::{DMat3, DVec3};
use pliant_rig::{Interpolation, ShapeBasis, Target, WeightTrack, inverse_linear_part};

use crate::{Animation, Asset, IoError, Shape};

/// For each frame, vertices in the order of the whole file with their displacements.
type Displacements = [Vec<(u32, DVec3)>];

impl Asset {
    /// Chosen: what a shape clip may differ from its frames, relative to the diagonal of the bounds:
    /// 13 micrometres on a head.
    pub const SHAPE_CLIP_TOLERANCE: f64 = 3e-5;

    /// Like [`with_displaced_clip`](Self::with_displaced_clip), with few new targets called
    /// `NAME.1`, `NAME.2` … and their weights instead of frames. No vertex is farther than
    /// `tolerance` from its frame.
    ///
    /// # Errors
    /// A base clip whose shapes are frames of positions; displacements that are not finite.
    pub fn with_shape_clip(
        &self,
        base: &Animation,
        displacements: &Displacements,
        tolerance: f64,
    ) -> Result<Self, IoError> {
        let unposed = self.unposed_displacements(base, displacements);
        self.with_basis(base, &unposed, tolerance)
    }

    /// The same asset with its only clip as few new targets and their weights. No vertex is farther
    /// than `tolerance` from its frame.
    ///
    /// # Errors
    /// No clip, or several; a clip without frames of positions.
    pub fn with_clip_as_shapes(&self, tolerance: f64) -> Result<Self, IoError> {
        let clip = self.only_clip()?;
        let mut base = clip.clone();
        let mut displacements = vec![Vec::new(); clip.frame_count];
        let indices = self.file_indices();
        for motion in &mut base.motions {
            let Shape::Points(frames) = &motion.shape else {
                continue;
            };
            let neutral = self.objects[motion.object].rig.neutral().positions();
            let indices = &indices[motion.object];
            for (list, frame) in displacements.iter_mut().zip(frames) {
                for ((&index, from), to) in indices.iter().zip(neutral).zip(frame) {
                    if from != to {
                        list.push((index, *to - *from));
                    }
                }
            }
            motion.shape = Shape::Rest;
        }

        if base.motions == clip.motions {
            return Err(self.clip_error("its clip has no frames of positions; it is small already"));
        }
        self.with_basis(&base, &displacements, tolerance)
    }

    /// The same asset without targets that no clip and no rest weight uses.
    pub fn without_unused_targets(&self) -> Result<Self, IoError> {
        let mut used = std::collections::HashSet::new();
        for (k, object) in self.objects.iter().enumerate() {
            let motions = self.clips.iter().flat_map(|clip| &clip.motions);
            let mut rows = vec![object.rest_weights.as_slice()];
            for motion in motions.filter(|motion| motion.object == k) {
                if let Shape::Weights(track) = &motion.shape {
                    rows.extend(track.keys().iter().map(Vec::as_slice));
                }
            }
            for (target, slider) in object.rig.targets().iter().zip(0..) {
                let moves = |row: &&[f64]| row.get(slider).is_some_and(|weight| *weight != 0.0);
                if rows.iter().any(moves) {
                    used.insert(target.name.clone());
                }
            }
        }

        self.map_rigs(|object| {
            let numbered = object.rig.targets().iter().enumerate();
            let kept = numbered.filter(|(_, target)| used.contains(&target.name));
            let (sources, targets) = kept.map(|(k, target)| (Some(k), target.clone())).unzip();
            let sources: Vec<Option<usize>> = sources;
            Ok((object.rig.with_targets(targets)?, sources))
        })
    }

    /// Displacements of what one sees as displacements of the shape before joints move it.
    fn unposed_displacements(
        &self,
        base: &Animation,
        displacements: &Displacements,
    ) -> Vec<Vec<(u32, DVec3)>> {
        let mut unposed = displacements.to_vec();
        for (k, (object, indices)) in self.objects.iter().zip(&self.file_indices()).enumerate() {
            let motion = base.motion_of(k);
            for (frame, list) in unposed.iter_mut().enumerate() {
                if list.is_empty() {
                    continue;
                }
                let time = base.time_secs(frame);
                let Some(motions) = motion.vertex_motions(object, frame, time) else {
                    break;
                };
                for (vertex, displacement) in list {
                    if let Ok(own) = indices.binary_search(vertex) {
                        let inverse = inverse_linear_part(&motions[own]);
                        *displacement = inverse.unwrap_or(DMat3::IDENTITY) * *displacement;
                    }
                }
            }
        }
        unposed
    }

    fn with_basis(
        &self,
        base: &Animation,
        displacements: &Displacements,
        tolerance: f64,
    ) -> Result<Self, IoError> {
        let is_points = |shape: &Shape| matches!(shape, Shape::Points(_));
        if base.motions.iter().any(|motion| is_points(&motion.shape)) {
            return Err(self.clip_error(
                "its clip has frames of positions, to which shapes cannot be added; bake frames",
            ));
        }

        let mut basis = ShapeBasis::of(displacements, &base.name, tolerance)
            .map_err(|error| self.rig_error(error))?;
        let rig = self.rig()?;
        let mut targets = rig.targets().to_vec();
        for target in &mut basis.targets {
            while targets.iter().any(|known| known.name == target.name) {
                target.name.push('+');
            }
            targets.push(target.clone());
        }

        let shaped = self.with_targets(&targets)?;
        let names = shaped.target_names();
        if names.is_empty() {
            return self.with_displaced_clip(base, displacements);
        }
        let mut keys = Vec::with_capacity(base.frame_count);
        for (frame, own) in basis.weights.iter().enumerate() {
            let weight = |name: &String| {
                let new = |target: &Target| target.name == *name;
                match basis.targets.iter().position(new) {
                    Some(k) => own[k],
                    None => self.base_weight(base, frame, name),
                }
            };
            keys.push(names.iter().map(weight).collect());
        }

        let times = (0..base.frame_count).map(|frame| base.time_secs(frame));
        let track = WeightTrack::new(times.collect(), keys, Interpolation::Linear)
            .map_err(|error| self.rig_error(error))?;
        let mut animation = base.clone();
        animation.original = None;
        shaped.with_weight_clip(animation, &track)
    }

    /// The weight of a target in a frame.
    fn base_weight(&self, base: &Animation, frame: usize, name: &str) -> f64 {
        for (k, object) in self.objects.iter().enumerate() {
            let targets = object.rig.targets();
            let Some(slider) = targets.iter().position(|target| target.name == name) else {
                continue;
            };
            let motion = base.motions.iter().find(|motion| motion.object == k);
            let weights = match motion.map(|motion| &motion.shape) {
                Some(Shape::Weights(track)) => track.at(base.time_secs(frame)),
                _ => object.rest_weights.clone(),
            };
            return weights.get(slider).copied().unwrap_or(0.0);
        }
        0.0
    }
}

#[cfg(test)]
mod tests {
    use pliant_mesh::glam::Vec3;
    use pliant_mesh::shapes::icosphere;
    use pliant_rig::Rig;

    use super::*;
    use crate::gltf;

    /// A ball with two sliders, of which a clip of 20 frames moves one.
    fn moving() -> (Asset, Animation) {
        let mesh = icosphere(2);
        let push = |name: &str, side: Vec3| {
            let deltas = mesh.positions().iter();
            let deltas = deltas.map(|p| side * (p.as_vec3().dot(side) - 0.5).max(0.0));
            Target::from_dense(name, deltas.collect::<Vec<_>>())
        };
        let targets = vec![push("x", Vec3::X), push("y", Vec3::Y)];
        let asset = Asset::from_rig(Rig::new(mesh, targets).unwrap());
        let keys = vec![vec![0.0, 0.0], vec![0.0, 1.0]];
        let track = WeightTrack::new(vec![0.0, 0.5], keys, Interpolation::Linear).unwrap();
        let mut clip = Animation::new("touch", 20);
        clip.frames_per_second = 40.0;
        let asset = asset.with_weight_clip(clip, &track).unwrap();
        let clip = asset.clips[0].clone();
        (asset, clip)
    }

    fn dents(frames: usize) -> Vec<Vec<(u32, DVec3)>> {
        let dent = |frame: usize| {
            let depth = (frame as f64 * 0.4).sin() * 0.1;
            (10..40).map(move |v| (v, DVec3::new(depth, 0.02 * f64::from(v) * depth, 0.0)))
        };
        (0..frames).map(|frame| dent(frame).collect()).collect()
    }

    #[test]
    fn a_shape_clip_is_the_displaced_clip_within_its_tolerance() {
        let (asset, base) = moving();
        let dents = dents(base.frame_count);
        let exact = asset.with_displaced_clip(&base, &dents).unwrap();
        let shaped = asset.with_shape_clip(&base, &dents, 1e-5).unwrap();
        assert_eq!(shaped.target_names(), ["x", "y", "touch.1"]);

        for frame in 0..base.frame_count {
            let pairs = [&exact, &shaped].map(|asset| asset.frame_positions(frame).unwrap());
            for (a, b) in pairs[0].iter().zip(&pairs[1]) {
                assert!(a.distance(*b) <= 1.1e-5, "frame {frame}");
            }
        }
        let sizes = [&exact, &shaped].map(|asset| gltf::write(asset).bytes.len());
        assert!(sizes[1] * 3 < sizes[0], "{sizes:?}");

        let fewer = shaped.without_unused_targets().unwrap();
        assert_eq!(fewer.target_names(), ["y", "touch.1"]);
        let pairs = [&fewer, &shaped].map(|asset| asset.frame_positions(13).unwrap());
        assert_eq!(pairs[0], pairs[1]);
    }

    #[test]
    fn frames_of_a_clip_become_shapes_and_weights() {
        let (asset, base) = moving();
        let exact = asset
            .with_displaced_clip(&base, &dents(base.frame_count))
            .unwrap();
        let shaped = exact.with_clip_as_shapes(1e-5).unwrap();
        for frame in [0, 7, 19] {
            let pairs = [&exact, &shaped].map(|asset| asset.frame_positions(frame).unwrap());
            for (a, b) in pairs[0].iter().zip(&pairs[1]) {
                assert!(a.distance(*b) <= 1.1e-5, "frame {frame}");
            }
        }
        assert!(
            shaped.with_clip_as_shapes(1e-5).is_err(),
            "nothing is left to do"
        );
    }
}
