//! Clips as animation stacks with curves of weights, joints and placements.
//!
//! **Method.** A curve has a key at every frame, with straight lines between them; keys inside a
//! constant stretch are left out, and so is a curve that never leaves the value at rest. A clip of
//! positions has a channel for each frame, with weight 1 at that frame and 0 at the others.

use pliant_mesh::glam::DAffine3;

use super::node::{Node, properties, property};
use super::scene::{Id, Scene};
use super::skin::{Bones, local_motion};
use super::transform::{PART_NAMES, Transform};
use crate::{Animation, Asset, Motion, Shape};

/// Units of time in a second.
const TICKS_PER_SECOND: f64 = 46_186_158_000.0;

/// A time in the units of the file.
pub(super) fn ticks(secs: f64) -> i64 {
    (secs * TICKS_PER_SECOND).round() as i64
}

/// The written parts of an object.
pub(super) struct WrittenObject {
    pub(super) model: Id,
    /// The channels of its targets, and then those of the frames of all clips.
    pub(super) channels: Vec<Id>,
}

/// Writes clips as stacks.
pub(super) struct StackWriter<'a> {
    pub(super) asset: &'a Asset,
    pub(super) objects: &'a [WrittenObject],
    pub(super) bones: &'a [Bones<'a>],
    /// For each object, how many channels of frames belong to the clips before.
    pub(super) frames_before: Vec<usize>,
}

impl StackWriter<'_> {
    /// Adds the stack of a clip.
    pub(super) fn add(&mut self, scene: &mut Scene, clip: &Animation) {
        let last = clip.time_secs(clip.frame_count.saturating_sub(1));
        let span = [("Start", clip.start_secs), ("Stop", last)];
        let times = ["Local", "Reference"].into_iter().flat_map(|kind| {
            span.map(|(end, secs)| {
                property(&format!("{kind}{end}"), "KTime", "Time", "").value(ticks(secs))
            })
        });
        let names = [clip.name.as_str(), "AnimStack", ""];
        let stack = scene.add("AnimationStack", names, [properties(times)]);
        let layer = scene.add("AnimationLayer", ["BaseLayer", "AnimLayer", ""], []);
        scene.connect(layer, stack);

        let mut curves = CurveWriter {
            scene,
            layer,
            is_empty: true,
            times: (0..clip.frame_count)
                .map(|k| ticks(clip.time_secs(k)))
                .collect(),
        };
        for object in 0..self.objects.len() {
            self.add_weights(&mut curves, clip, object);
            self.add_placement(&mut curves, clip, object);
        }
        for bones in self.bones {
            self.add_joints(&mut curves, clip, bones);
        }
        if curves.is_empty {
            self.add_resting_curve(&mut curves);
        }
    }

    /// Adds a curve that changes nothing, because readers drop a stack without curves.
    fn add_resting_curve(&self, curves: &mut CurveWriter<'_>) {
        let joint = self.bones.iter().find_map(|bones| {
            let joints = bones.skeleton.joints().len();
            let rest = |joint| local_motion(bones.skeleton, &identities(joints), joint);
            Some((*bones.models.first()?, Transform::of(&rest(0))))
        });
        let object = self.objects.first();
        let object = object.map(|object| (object.model, Transform::IDENTITY));
        if let Some((node, rest)) = joint.or(object) {
            let rest = rest.translation.to_array();
            let values = rest.map(|value| curves.values(|_| value));
            curves.write_vector(node, PART_NAMES[0], rest, &values);
        }
    }

    fn add_weights(&mut self, curves: &mut CurveWriter<'_>, clip: &Animation, object: usize) {
        let written = &self.objects[object];
        let source = &self.asset.objects[object];
        let targets = source.rig.targets().len();
        let motion = motion(clip, object);
        let rest = |channel: usize| source.rest_weights.get(channel).copied().unwrap_or(0.0);

        // Without weights of its own, a clip shows the weights at rest; frames of positions replace them.
        let rows: Vec<Vec<f64>> = match motion.map(|motion| &motion.shape) {
            Some(Shape::Weights(track)) => {
                let frames = 0..clip.frame_count;
                frames.map(|k| track.at(clip.time_secs(k))).collect()
            }
            Some(Shape::Points(_)) => vec![vec![0.0; targets]; clip.frame_count],
            Some(Shape::Rest) | None => Vec::new(),
        };
        for (channel, &id) in written.channels[..targets].iter().enumerate() {
            let weight = |frame: usize| rows.get(frame).map_or(rest(channel), |row| row[channel]);
            let percent = |frame: usize| weight(frame) * 100.0;
            curves.add_weight(id, rest(channel) * 100.0, percent);
        }

        if let Some(Shape::Points(frames)) = motion.map(|motion| &motion.shape) {
            let first = targets + self.frames_before[object];
            for (k, &id) in written.channels[first..][..frames.len()].iter().enumerate() {
                curves.add_weight(id, 0.0, |frame| if frame == k { 100.0 } else { 0.0 });
            }
            self.frames_before[object] += frames.len();
        }
    }

    fn add_placement(&mut self, curves: &mut CurveWriter<'_>, clip: &Animation, object: usize) {
        let Some(placement) = motion(clip, object).and_then(|m| m.placement.as_ref()) else {
            return;
        };
        let frames = 0..clip.frame_count;
        let moved = frames.map(|k| placement.at(clip.time_secs(k)));
        let model = self.objects[object].model;
        self.add_transforms(curves, model, &Transform::IDENTITY, moved);
    }

    fn add_joints(&mut self, curves: &mut CurveWriter<'_>, clip: &Animation, bones: &Bones<'_>) {
        let Some(track) = motion(clip, bones.object).and_then(|m| m.skin.as_ref()) else {
            return;
        };
        let rest = identities(bones.models.len());
        for (joint, &model) in bones.models.iter().enumerate() {
            let rest = Transform::of(&local_motion(bones.skeleton, &rest, joint));
            let locals = track
                .motions
                .iter()
                .map(|frame| local_motion(bones.skeleton, frame, joint));
            self.add_transforms(curves, model, &rest, locals);
        }
    }

    /// Adds the curves of a node that moves by `transforms`, frame by frame.
    fn add_transforms(
        &mut self,
        curves: &mut CurveWriter<'_>,
        model: Id,
        rest: &Transform,
        transforms: impl Iterator<Item = DAffine3>,
    ) {
        let mut frames: Vec<Transform> = Vec::new();
        for matrix in transforms {
            let before = frames.last().unwrap_or(rest);
            frames.push(Transform::following(&matrix, Some(before)));
        }

        for part in 0..3 {
            let value = |frame: usize, axis: usize| frames[frame].parts()[part][axis];
            curves.add_vector(
                model,
                PART_NAMES[part],
                rest.parts()[part].to_array(),
                value,
            );
        }
    }
}

/// The motions of joints that rest.
fn identities(count: usize) -> Vec<DAffine3> {
    vec![DAffine3::IDENTITY; count]
}

/// The motion of an object in a clip; of several, the first counts.
fn motion(clip: &Animation, object: usize) -> Option<&Motion> {
    clip.motions.iter().find(|motion| motion.object == object)
}

/// Adds curves to a layer.
struct CurveWriter<'a> {
    scene: &'a mut Scene,
    layer: Id,
    is_empty: bool,
    /// The time of each frame.
    times: Vec<i64>,
}

impl CurveWriter<'_> {
    /// Adds the curve of a channel, in percent, unless it stays at rest.
    fn add_weight(&mut self, channel: Id, rest: f64, value: impl Fn(usize) -> f64) {
        let values = self.values(value);
        if values.iter().all(|&v| v == rest as f32) {
            return;
        }
        let node = self.curve_node(
            "DeformPercent",
            channel,
            "DeformPercent",
            &[("d|DeformPercent", rest)],
        );
        self.add_curve(node, "d|DeformPercent", rest, &values);
    }

    /// Adds the three curves of a property, unless they stay at rest.
    fn add_vector(
        &mut self,
        model: Id,
        property: &str,
        rest: [f64; 3],
        value: impl Fn(usize, usize) -> f64,
    ) {
        let lists: [Vec<f32>; 3] = [0, 1, 2].map(|axis| self.values(|frame| value(frame, axis)));
        let rests = |(values, rest): (&Vec<f32>, f64)| values.iter().all(|&v| v == rest as f32);
        if !lists.iter().zip(rest).all(rests) {
            self.write_vector(model, property, rest, &lists);
        }
    }

    fn write_vector(&mut self, model: Id, property: &str, rest: [f64; 3], lists: &[Vec<f32>; 3]) {
        let names = ["d|X", "d|Y", "d|Z"];
        let short = &property[4..5];
        let defaults: Vec<(&str, f64)> = names.into_iter().zip(rest).collect();
        let node = self.curve_node(short, model, property, &defaults);
        for ((name, rest), values) in names.into_iter().zip(rest).zip(lists) {
            self.add_curve(node, name, rest, values);
        }
    }

    fn values(&self, value: impl Fn(usize) -> f64) -> Vec<f32> {
        (0..self.times.len())
            .map(|frame| value(frame) as f32)
            .collect()
    }

    fn curve_node(&mut self, name: &str, object: Id, driven: &str, rest: &[(&str, f64)]) -> Id {
        let values = rest
            .iter()
            .map(|(name, value)| property(name, "Number", "", "A").value(*value));
        let names = [name, "AnimCurveNode", ""];
        let node = self
            .scene
            .add("AnimationCurveNode", names, [properties(values)]);
        self.is_empty = false;
        self.scene.connect(node, self.layer);
        self.scene.connect_property(node, object, driven);
        node
    }

    fn add_curve(&mut self, node: Id, name: &str, rest: f64, values: &[f32]) {
        // A key between two equal ones changes nothing.
        let is_inner = |k: usize| {
            k > 0
                && k + 1 < values.len()
                && values[k - 1] == values[k]
                && values[k] == values[k + 1]
        };
        let keys: Vec<usize> = (0..values.len()).filter(|&k| !is_inner(k)).collect();
        let times: Vec<i64> = keys.iter().map(|&k| self.times[k]).collect();
        let count = keys.len() as i32;
        let keys: Vec<f32> = keys.iter().map(|&k| values[k]).collect();

        // All keys share one set of flags: straight lines.
        const LINEAR: i32 = 4;
        let children = [
            Node::of("Default", rest),
            Node::of("KeyVer", 4008),
            Node::of("KeyTime", times),
            Node::of("KeyValueFloat", keys),
            Node::of("KeyAttrFlags", vec![LINEAR]),
            Node::of("KeyAttrDataFloat", vec![0.0_f32; 4]),
            Node::of("KeyAttrRefCount", vec![count]),
        ];
        let curve = self
            .scene
            .add("AnimationCurve", ["", "AnimCurve", ""], children);
        self.scene.connect_property(curve, node, name);
    }
}
