//! Clips as animations of weights and of nodes.
//!
//! **Form.** Weights are written as they are. A clip of positions has a target for each frame,
//! which has weight 1 at its own time and 0 at those of the others. An object that moves as a whole
//! moves by its node, and one that follows joints by theirs.

use pliant_mesh::glam::{DAffine3, DQuat, DVec3};
use pliant_rig::{Interpolation, WeightTrack};
use serde_json::json;

use super::document::{self, Channel, ChannelTarget, Sampler};
use super::memo::{ClipMemo, KEY};
use super::skin_write::Skins;
use super::store::Store;
use crate::{Animation, Asset, Motion, PlacementTrack, Shape};

/// The frames of clips that become targets, object by object.
pub(super) struct Frames<'a> {
    asset: &'a Asset,
    /// For each object the number of its targets, and of its targets and frames.
    counts: Vec<(usize, usize)>,
}

impl<'a> Frames<'a> {
    pub(super) fn of(asset: &'a Asset) -> Self {
        Self {
            asset,
            counts: vec![(0, 0); asset.objects.len()],
        }
    }

    /// The object has `targets` of its own, before any frame.
    pub(super) fn begin(&mut self, object: usize, targets: usize) {
        let frames = self
            .point_motions(object)
            .map(|(_, frames)| frames.len())
            .sum::<usize>();
        self.counts[object] = (targets, targets + frames);
    }

    /// Names and positions of the object's frames, clip after clip.
    pub(super) fn of_object(&self, object: usize) -> impl Iterator<Item = (String, &'a [DVec3])> {
        let several = self.asset.clips.len() > 1;
        self.point_motions(object).flat_map(move |(clip, frames)| {
            frames.iter().enumerate().map(move |(k, positions)| {
                let name = clip
                    .frame_names
                    .get(k)
                    .cloned()
                    .unwrap_or_else(|| format!("frame{k}"));
                (
                    if several {
                        format!("{}/{name}", clip.name)
                    } else {
                        name
                    },
                    positions.as_slice(),
                )
            })
        })
    }

    /// The clips that hold positions of an object.
    fn point_motions(
        &self,
        object: usize,
    ) -> impl Iterator<Item = (&'a Animation, &'a Vec<Vec<DVec3>>)> {
        self.asset.clips.iter().filter_map(move |clip| {
            // As when frames are evaluated, the first motion counts.
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
        self.counts[object].0 + before.map(|(_, frames)| frames.len()).sum::<usize>()
    }
}

/// Every clip that moves something, and what of them was left out.
pub(super) fn animations(
    asset: &Asset,
    nodes: &[usize],
    skins: &Skins<'_>,
    frames: &Frames<'_>,
    store: &mut Store,
) -> (Vec<document::Animation>, Vec<String>) {
    let (mut animations, mut left_out) = (Vec::new(), Vec::new());
    for clip in &asset.clips {
        let mut writer = ClipWriter {
            clip,
            nodes,
            frames,
            store,
            shift: shift_of(clip),
            sheared: false,
            animation: document::Animation::default(),
        };
        let mut points = Vec::new();
        for object in 0..asset.objects.len() {
            if let Some(motion) = clip.motions.iter().find(|m| m.object == object) {
                points.extend(writer.motion(motion));
            }
        }
        for (node, places) in skins.moving_nodes(clip) {
            let times_secs = (0..places.len())
                .map(|frame| clip.time_secs(frame))
                .collect();
            writer.placement(
                node,
                &PlacementTrack {
                    times_secs,
                    moved_from_rest: places,
                },
            );
        }
        let (mut animation, sheared) = (writer.animation, writer.sheared);
        if sheared {
            left_out.push(format!(
                "the shear of an object that clip '{}' moves",
                clip.name
            ));
        }
        if animation.channels.is_empty() {
            left_out.push(format!("clip '{}', which moves nothing", clip.name));
            continue;
        }
        animation.name = Some(clip.name.clone()).filter(|name| !name.is_empty());
        let memo = ClipMemo {
            frames: clip.frame_count,
            frames_per_second: clip.frames_per_second,
            start_secs: clip.start_secs + shift_of(clip),
            frame_names: clip.frame_names.clone(),
            points,
        };
        animation.extras = json!({ KEY: memo });
        animations.push(animation);
    }
    (animations, left_out)
}

/// What makes every time at least zero, as glTF wants it.
fn shift_of(clip: &Animation) -> f64 {
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

struct ClipWriter<'a> {
    clip: &'a Animation,
    nodes: &'a [usize],
    frames: &'a Frames<'a>,
    store: &'a mut Store,
    shift: f64,
    sheared: bool,
    animation: document::Animation,
}

impl ClipWriter<'_> {
    /// Gives (mesh, first target) where the motion's frames are targets.
    fn motion(&mut self, motion: &Motion) -> Option<(usize, usize)> {
        let mut points = None;
        match &motion.shape {
            Shape::Rest => {}
            Shape::Weights(track) => self.weights(motion.object, track),
            Shape::Points(_) => points = self.points(motion.object),
        }
        if let Some(placement) = &motion.placement {
            self.placement(self.nodes[motion.object], placement);
        }
        points
    }

    fn weights(&mut self, object: usize, track: &WeightTrack) {
        let total = self.frames.counts[object].1;
        let (times, kept) = self.times(track.times_secs());
        if total == 0 || kept.is_empty() {
            return;
        }
        let row = |row: &[f64]| {
            let mut row: Vec<[f32; 1]> = row.iter().map(|&w| [w as f32]).collect();
            row.resize(total, [0.0]);
            row
        };
        let (name, rows): (_, Vec<[f32; 1]>) = match track.interpolation() {
            Interpolation::Cubic { arriving, leaving } => {
                let key = |&k: &usize| {
                    [&arriving[k], &track.keys()[k], &leaving[k]]
                        .into_iter()
                        .flat_map(|r| row(r))
                        .collect::<Vec<_>>()
                };
                ("CUBICSPLINE", kept.iter().flat_map(key).collect())
            }
            Interpolation::Step => (
                "STEP",
                kept.iter().flat_map(|&k| row(&track.keys()[k])).collect(),
            ),
            Interpolation::Linear => (
                "LINEAR",
                kept.iter().flat_map(|&k| row(&track.keys()[k])).collect(),
            ),
        };
        let (input, output) = (self.store.times(&times), self.store.curve(&rows));
        self.channel(self.nodes[object], "weights", input, output, name);
    }

    fn points(&mut self, object: usize) -> Option<(usize, usize)> {
        let (count, first, total) = (
            self.clip.frame_count,
            self.frames.first(self.clip, object),
            self.frames.counts[object].1,
        );
        let times: Vec<f64> = (0..count).map(|frame| self.clip.time_secs(frame)).collect();
        let (times, kept) = self.times(&times);
        if kept.is_empty() {
            return None;
        }
        let mut rows = vec![[0.0]; kept.len() * total];
        kept.iter()
            .enumerate()
            .for_each(|(row, frame)| rows[row * total + first + frame] = [1.0]);
        let (input, output) = (self.store.times(&times), self.store.curve(&rows));
        self.channel(self.nodes[object], "weights", input, output, "LINEAR");
        Some((object, first))
    }

    fn placement(&mut self, node: usize, track: &PlacementTrack) {
        let (times, kept) = self.times(&track.times_secs);
        if kept.is_empty() {
            return;
        }
        let mut parts: Vec<(DVec3, DQuat, DVec3)> = Vec::with_capacity(kept.len());
        for &k in &kept {
            let (scale, rotation, translation) = self.decomposed(&track.moved_from_rest[k]);
            // The shorter way round to the key before.
            let turn_back = parts
                .last()
                .is_some_and(|(_, last, _)| last.dot(rotation) < 0.0);
            parts.push((
                scale,
                if turn_back { -rotation } else { rotation },
                translation,
            ));
        }
        let input = self.store.times(&times);
        let three = |v: DVec3| v.as_vec3().to_array();
        let translations: Vec<[f32; 3]> = parts.iter().map(|p| three(p.2)).collect();
        let rotations: Vec<[f32; 4]> = parts.iter().map(|p| p.1.as_quat().to_array()).collect();
        let scales: Vec<[f32; 3]> = parts.iter().map(|p| three(p.0)).collect();
        let output = self.store.curve(&translations);
        self.channel(node, "translation", input, output, "LINEAR");
        let output = self.store.curve(&rotations);
        self.channel(node, "rotation", input, output, "LINEAR");
        if parts.iter().any(|p| !p.0.abs_diff_eq(DVec3::ONE, 1e-6)) {
            let output = self.store.curve(&scales);
            self.channel(node, "scale", input, output, "LINEAR");
        }
    }

    fn decomposed(&mut self, place: &DAffine3) -> (DVec3, DQuat, DVec3) {
        let determinant = place.matrix3.determinant();
        if determinant == 0.0 || !determinant.is_finite() {
            self.sheared = true;
            return (DVec3::ZERO, DQuat::IDENTITY, place.translation);
        }
        let (scale, rotation, translation) = place.to_scale_rotation_translation();
        let again = DAffine3::from_scale_rotation_translation(scale, rotation, translation);
        self.sheared |= !again
            .matrix3
            .abs_diff_eq(place.matrix3, 1e-6 * scale.abs().max_element());
        (scale, rotation, translation)
    }

    /// Times in single precision, ascending, and which of the keys they are.
    fn times(&self, times: &[f64]) -> (Vec<f32>, Vec<usize>) {
        let mut kept: Vec<(f32, usize)> = Vec::with_capacity(times.len());
        for (k, &time) in times.iter().enumerate() {
            let time = (time + self.shift) as f32;
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
