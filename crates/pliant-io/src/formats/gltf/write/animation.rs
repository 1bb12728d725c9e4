//! Clips as glTF animations of weights and nodes.
//!
//! **Method.** Weights are written as curves of weights. A clip of positions has a target for each
//! frame, with weight 1 at the time of that frame and 0 at those of the others. An object that
//! moves as a whole moves by its node, and a skinned one by the nodes of its joints.

use pliant_mesh::glam::{DAffine3, DQuat, DVec3};
use pliant_rig::{Interpolation, WeightTrack};
use serde_json::json;

use super::buffer_builder::BufferBuilder;
use super::skin::Skins;
use crate::gltf::document::{self, Channel, ChannelTarget, Sampler};
use crate::gltf::extras::{ClipExtras, KEY};
use crate::{Animation, Asset, Motion, PlacementTrack, Shape};

/// The frames of clips that are written as targets, object by object.
pub(in crate::formats::gltf) struct FrameTargets<'a> {
    asset: &'a Asset,
    /// For each object, how many targets it is written with.
    counts: Vec<TargetCounts>,
}

#[derive(Debug, Clone, Copy, Default)]
struct TargetCounts {
    /// Targets of the rig.
    real: usize,
    /// Targets of the rig and frames of clips.
    total: usize,
}

impl<'a> FrameTargets<'a> {
    pub(in crate::formats::gltf) fn of(asset: &'a Asset) -> Self {
        Self {
            asset,
            counts: vec![TargetCounts::default(); asset.objects.len()],
        }
    }

    /// Sets the number of real targets of an object.
    pub(in crate::formats::gltf) fn begin(&mut self, object: usize, targets: usize) {
        let frames = self
            .point_motions(object)
            .map(|(_, frames)| frames.len())
            .sum::<usize>();
        self.counts[object] = TargetCounts {
            real: targets,
            total: targets + frames,
        };
    }

    /// Names and positions of the object's frames, clip after clip.
    pub(in crate::formats::gltf) fn of_object(
        &self,
        object: usize,
    ) -> impl Iterator<Item = (String, &'a [DVec3])> {
        let several = self.asset.clips.len() > 1;
        self.point_motions(object).flat_map(move |(clip, frames)| {
            frames.iter().enumerate().map(move |(k, positions)| {
                let name = clip
                    .frame_names
                    .get(k)
                    .cloned()
                    .unwrap_or_else(|| format!("frame{k}"));
                let name = if several {
                    format!("{}/{name}", clip.name)
                } else {
                    name
                };
                (name, positions.as_slice())
            })
        })
    }

    /// The clips that move an object through positions, with their frames.
    fn point_motions(
        &self,
        object: usize,
    ) -> impl Iterator<Item = (&'a Animation, &'a Vec<Vec<DVec3>>)> {
        self.asset.clips.iter().filter_map(move |clip| {
            // The first motion of an object counts, as in `Animation::positions`.
            let motion = clip.motions.iter().find(|m| m.object == object)?;
            match &motion.shape {
                Shape::Points(frames) => Some((clip, frames)),
                _ => None,
            }
        })
    }

    /// The first target that is a frame of `clip`.
    fn first(&self, clip: &Animation, object: usize) -> usize {
        let before = self
            .point_motions(object)
            .take_while(|(other, _)| !std::ptr::eq(*other, clip));
        self.counts[object].real + before.map(|(_, frames)| frames.len()).sum::<usize>()
    }
}

/// Every clip that moves something, and what was left out.
pub(in crate::formats::gltf) fn animations(
    asset: &Asset,
    nodes: &[usize],
    offsets: &[DVec3],
    skins: &Skins<'_>,
    frames: &FrameTargets<'_>,
    buffer: &mut BufferBuilder,
) -> (Vec<document::Animation>, Vec<String>) {
    let mut animations = Vec::new();
    let mut left_out = Vec::new();
    for clip in &asset.clips {
        let mut writer = ClipWriter::new(clip, nodes, frames, buffer);
        writer.offsets = offsets;
        writer.clip(asset, skins);

        if writer.sheared {
            left_out.push(format!(
                "the shear of an object that clip '{}' moves",
                clip.name
            ));
        }
        if writer.animation.channels.is_empty() {
            left_out.push(format!("clip '{}', which moves nothing", clip.name));
        } else {
            animations.push(writer.animation);
        }
    }

    (animations, left_out)
}

/// The shift that makes every time at least zero, as glTF demands.
fn time_shift(clip: &Animation) -> f64 {
    let times = clip.motions.iter().flat_map(|motion| {
        let weights = match &motion.shape {
            Shape::Weights(track) => track.times_secs(),
            _ => &[],
        };
        weights
            .iter()
            .chain(motion.placement.iter().flat_map(|p| &p.times_secs))
            .copied()
    });
    -times.fold(clip.start_secs.min(0.0), f64::min)
}

/// The state of writing one clip as an animation.
pub(in crate::formats::gltf) struct ClipWriter<'a> {
    clip: &'a Animation,
    nodes: &'a [usize],
    /// What the nodes of objects add to their positions; empty if nothing.
    offsets: &'a [DVec3],
    frames: &'a FrameTargets<'a>,
    buffer: &'a mut BufferBuilder,
    time_shift: f64,
    /// Whether a transform had a shear, which glTF cannot animate.
    pub(in crate::formats::gltf) sheared: bool,
    pub(in crate::formats::gltf) animation: document::Animation,
}

impl<'a> ClipWriter<'a> {
    /// Writes `clip`, whose objects have the given `nodes`, into `buffer`.
    pub(in crate::formats::gltf) fn new(
        clip: &'a Animation,
        nodes: &'a [usize],
        frames: &'a FrameTargets<'a>,
        buffer: &'a mut BufferBuilder,
    ) -> Self {
        Self {
            clip,
            nodes,
            offsets: &[],
            frames,
            buffer,
            time_shift: time_shift(clip),
            sheared: false,
            animation: document::Animation::default(),
        }
    }
    /// The channels of all motions, and the `extras`.
    fn clip(&mut self, asset: &Asset, skins: &Skins<'_>) {
        let clip = self.clip;
        let mut points = Vec::new();
        for object in 0..asset.objects.len() {
            if let Some(motion) = clip.motions.iter().find(|m| m.object == object) {
                points.extend(self.motion(motion));
            }
        }

        for (node, moved_from_rest) in skins.moving_nodes(clip) {
            let frames = 0..moved_from_rest.len();
            let track = PlacementTrack {
                times_secs: frames.map(|frame| clip.time_secs(frame)).collect(),
                moved_from_rest,
            };
            self.placement(node, &track);
        }

        self.finish(points);
    }

    /// Adds the name of the clip and the `extras`; `points` are what [`motion`](Self::motion) returned.
    pub(in crate::formats::gltf) fn finish(&mut self, points: Vec<(usize, usize)>) {
        let clip = self.clip;
        self.animation.name = Some(clip.name.clone()).filter(|name| !name.is_empty());
        let own = ClipExtras {
            frames: clip.frame_count,
            frames_per_second: clip.frames_per_second,
            start_secs: clip.start_secs + self.time_shift,
            frame_names: clip.frame_names.clone(),
            points,
        };
        self.animation.extras = json!({ KEY: own });
    }

    /// Writes a motion. Returns (mesh, first target) if its frames are targets.
    pub(in crate::formats::gltf) fn motion(&mut self, motion: &Motion) -> Option<(usize, usize)> {
        let mut points = None;
        match &motion.shape {
            Shape::Rest => {}
            Shape::Weights(track) => self.weights(motion.object, track),
            Shape::Points(_) => points = self.points(motion.object),
        }

        if let Some(placement) = &motion.placement {
            let node = self.nodes[motion.object];
            match self.offsets.get(motion.object) {
                Some(&offset) if offset != DVec3::ZERO => {
                    self.placement(node, &self.around(placement, offset));
                }
                _ => self.placement(node, placement),
            }
        }

        points
    }

    /// A placement of positions relative to an offset. Between keys, a node turns about its own origin, not
    /// about that of the scene, so that every frame becomes a key.
    fn around(&self, placement: &PlacementTrack, offset: DVec3) -> PlacementTrack {
        let frames = (0..self.clip.frame_count).map(|frame| self.clip.time_secs(frame));
        let mut times_secs: Vec<f64> = placement.times_secs.iter().copied().chain(frames).collect();
        times_secs.sort_unstable_by(f64::total_cmp);
        times_secs.dedup();

        let offset = DAffine3::from_translation(offset);
        let moved = times_secs.iter().map(|&time| placement.at(time) * offset);
        PlacementTrack {
            moved_from_rest: moved.collect(),
            times_secs,
        }
    }

    pub(in crate::formats::gltf) fn weights(&mut self, object: usize, track: &WeightTrack) {
        let total = self.frames.counts[object].total;
        let (times, kept) = self.times(track.times_secs());
        if total == 0 || kept.is_empty() {
            return;
        }

        let interpolation = match track.interpolation() {
            Interpolation::Cubic { .. } => "CUBICSPLINE",
            Interpolation::Step => "STEP",
            Interpolation::Linear => "LINEAR",
        };

        let mut rows = Vec::new();
        for &k in &kept {
            let value = &track.keys()[k];
            match track.interpolation() {
                Interpolation::Cubic { arriving, leaving } => {
                    push_weights(&mut rows, &arriving[k], total);
                    push_weights(&mut rows, value, total);
                    push_weights(&mut rows, &leaving[k], total);
                }
                _ => push_weights(&mut rows, value, total),
            }
        }

        let input = self.buffer.times(&times);
        let output = self.buffer.curve(&rows);
        self.channel(self.nodes[object], "weights", input, output, interpolation);
    }

    /// The weights of the targets that are the frames of an object.
    fn points(&mut self, object: usize) -> Option<(usize, usize)> {
        let count = self.clip.frame_count;
        let first = self.frames.first(self.clip, object);
        let total = self.frames.counts[object].total;
        let times: Vec<f64> = (0..count).map(|frame| self.clip.time_secs(frame)).collect();
        let (times, kept) = self.times(&times);
        if kept.is_empty() {
            return None;
        }

        let mut rows = vec![[0.0]; kept.len() * total];
        for (row, frame) in kept.iter().enumerate() {
            rows[row * total + first + frame] = [1.0];
        }

        let input = self.buffer.times(&times);
        let output = self.buffer.curve(&rows);
        self.channel(self.nodes[object], "weights", input, output, "LINEAR");
        Some((object, first))
    }

    /// The motion of a node, relative to its parent.
    pub(in crate::formats::gltf) fn placement(&mut self, node: usize, track: &PlacementTrack) {
        let (mut times, mut kept) = self.times(&track.times_secs);
        if kept.is_empty() {
            return;
        }

        // A node that stays where it is needs one key.
        let first = track.moved_from_rest[kept[0]];
        if kept.iter().all(|&k| track.moved_from_rest[k] == first) {
            times.truncate(1);
            kept.truncate(1);
        }

        let mut translations: Vec<[f32; 3]> = Vec::with_capacity(kept.len());
        let mut rotations: Vec<[f32; 4]> = Vec::with_capacity(kept.len());
        let mut scales: Vec<[f32; 3]> = Vec::with_capacity(kept.len());
        let mut last: Option<DQuat> = None;
        let mut scaled = false;

        for &k in &kept {
            let (scale, rotation, translation) = self.decomposed(&track.moved_from_rest[k]);

            // Of the two quaternions of a rotation, the one nearer to the key before.
            let opposite = last.is_some_and(|last| last.dot(rotation) < 0.0);
            let rotation = if opposite { -rotation } else { rotation };
            last = Some(rotation);

            scaled |= !scale.abs_diff_eq(DVec3::ONE, 1e-6);
            translations.push(translation.as_vec3().to_array());
            rotations.push(rotation.as_quat().to_array());
            scales.push(scale.as_vec3().to_array());
        }

        let input = self.buffer.times(&times);
        let output = self.buffer.curve(&translations);
        self.channel(node, "translation", input, output, "LINEAR");

        let output = self.buffer.curve(&rotations);
        self.channel(node, "rotation", input, output, "LINEAR");

        if scaled {
            let output = self.buffer.curve(&scales);
            self.channel(node, "scale", input, output, "LINEAR");
        }
    }

    /// Scale, rotation and translation of a transform; glTF cannot animate shear.
    fn decomposed(&mut self, transform: &DAffine3) -> (DVec3, DQuat, DVec3) {
        let determinant = transform.matrix3.determinant();
        if determinant == 0.0 || !determinant.is_finite() {
            self.sheared = true;
            return (DVec3::ZERO, DQuat::IDENTITY, transform.translation);
        }

        let (scale, rotation, translation) = transform.to_scale_rotation_translation();
        let again = DAffine3::from_scale_rotation_translation(scale, rotation, translation);
        self.sheared |= !again
            .matrix3
            .abs_diff_eq(transform.matrix3, 1e-6 * scale.abs().max_element());

        (scale, rotation, translation)
    }

    /// The times in single precision, strictly ascending, and which keys they are.
    fn times(&self, times: &[f64]) -> (Vec<f32>, Vec<usize>) {
        let mut kept: Vec<(f32, usize)> = Vec::with_capacity(times.len());
        for (k, &time) in times.iter().enumerate() {
            let time = (time + self.time_shift) as f32;
            if time.is_finite() && kept.last().is_none_or(|&(last, _)| last < time) {
                kept.push((time, k));
            }
        }
        kept.into_iter().unzip()
    }

    fn channel(
        &mut self,
        node: usize,
        path: &str,
        input: usize,
        output: usize,
        interpolation: &str,
    ) {
        let sampler = self.animation.samplers.len();
        self.animation.samplers.push(Sampler {
            input,
            output,
            interpolation: Some(interpolation.into()),
        });

        let target = ChannelTarget {
            node: Some(node),
            path: path.into(),
        };

        self.animation.channels.push(Channel { sampler, target });
    }
}

/// Adds a row of weights, filled with zeros up to `total`.
fn push_weights(rows: &mut Vec<[f32; 1]>, weights: &[f64], total: usize) {
    let end = rows.len() + total;
    rows.extend(weights.iter().map(|&w| [w as f32]));
    rows.resize(end, [0.0]);
}
