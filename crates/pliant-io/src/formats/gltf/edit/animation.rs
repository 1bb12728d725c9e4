//! Edits of animations: removed and new clips, new weights, new motions of nodes and joints.
//!
//! **Method.** An animation whose clip did not change keeps its JSON. If only weights changed, only
//! the channels of weights are replaced. Any other changed clip is written anew; its channels of
//! nodes that move no mesh stay.

use pliant_rig::WeightTrack;
use serde_json::{Map, Value, json};

use super::changes::{has_frames, same_clip};
use super::{DocumentEdit, space};
use crate::gltf::document;
use crate::gltf::extras::KEY;
use crate::gltf::write::{ClipWriter, FrameTargets};
use crate::{Animation, Asset, Motion, PlacementTrack, Shape};

/// How a clip differs from its animation in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClipChange {
    Same,
    /// Only weights of targets differ.
    Weights,
    /// Anything else, or there is no such animation.
    New,
}

impl ClipChange {
    /// The changes of all clips of `asset`.
    pub(super) fn of_all(asset: &Asset, before: &Asset) -> Vec<Self> {
        let mut changes = Vec::with_capacity(asset.clips.len());
        for clip in &asset.clips {
            let known = clip.original.is_some();
            let old = before
                .clips
                .iter()
                .find(|old| known && old.original == clip.original);
            changes.push(match old {
                None => Self::New,
                Some(old) if same_clip(clip, old) => Self::Same,
                Some(old) if same_clip(&without_weights(clip), &without_weights(old)) => {
                    Self::Weights
                }
                Some(_) => Self::New,
            });
        }

        changes
    }
}

/// The clip with objects at rest where weights change their shape.
fn without_weights(clip: &Animation) -> Animation {
    let mut rest = clip.clone();
    for motion in &mut rest.motions {
        if let Shape::Weights(_) = motion.shape {
            motion.shape = Shape::Rest;
        }
    }
    rest.motions
        .retain(|motion| *motion != Motion::new(motion.object, Shape::Rest));
    rest
}

impl DocumentEdit<'_> {
    /// Replaces, removes and adds animations.
    pub(super) fn animations(&mut self, frames: &FrameTargets<'_>) -> Option<()> {
        let asset = self.asset;
        let old = self.json.get_mut("animations").map(Value::take);
        let old = old.and_then(|v| v.as_array().cloned()).unwrap_or_default();
        let mut animations = Vec::with_capacity(old.len());

        for (index, mut animation) in old.into_iter().enumerate() {
            // An animation without a clip moves no mesh, or another node that shows one.
            let is_this = |clip: &&Animation| clip.original == Some(index);
            let Some(before) = self.before.asset.clips.iter().find(is_this) else {
                self.adapt_weights(&mut animation, None, frames)?;
                animations.push(animation);
                continue;
            };
            let moves_frames = (0..self.changes.len())
                .any(|object| self.changes[object].target_list() && has_frames(before, object));
            let before = before.name.clone();

            let now = asset.clips.iter().position(|clip| is_this(&clip));
            let Some(clip) = now else {
                // A new clip replaces that of the same name, and frames that it takes the place of.
                let mut new = asset.clips.iter().filter(|clip| clip.original.is_none());
                let replaced = moves_frames || new.any(|clip| clip.name == before);
                if asset.keeps_original_clips && !replaced {
                    self.adapt_weights(&mut animation, None, frames)?;
                    animations.push(animation);
                } else {
                    self.changed = true;
                }
                continue;
            };
            match self.clip_changes[clip] {
                ClipChange::Same | ClipChange::Weights if !moves_frames => {
                    self.adapt_weights(&mut animation, Some(&asset.clips[clip]), frames)?;
                }
                _ => {
                    let others = self.channels_of_other_nodes(&animation)?;
                    animation = self.new_animation(&asset.clips[clip], frames, Some(others))?;
                }
            }

            if asset.clips[clip].name != before {
                self.changed = true;
                let animation = animation.as_object_mut()?;
                animation.insert("name".into(), json!(asset.clips[clip].name));
            }
            animations.push(animation);
        }

        for clip in asset.clips.iter().filter(|clip| clip.original.is_none()) {
            animations.push(self.new_animation(clip, frames, None)?);
        }

        // A clip that moves nothing has no channels, which glTF does not allow.
        animations.retain(|animation| {
            let channels = animation.get("channels").and_then(Value::as_array);
            channels.is_some_and(|channels| !channels.is_empty())
        });
        self.note_main_clip(animations.len())?;
        let document = self.json.as_object_mut()?;
        if animations.is_empty() {
            document.remove("animations");
        } else {
            document.insert("animations".into(), Value::Array(animations));
        }

        Some(())
    }

    /// Notes which of several animations is the main clip.
    fn note_main_clip(&mut self, animations: usize) -> Option<()> {
        let main = self.asset.main_clip.as_ref().filter(|_| animations > 1);
        if self.asset.main_clip == self.before.asset.main_clip || main.is_none() {
            return Some(());
        }

        self.changed = true;
        let extras = self.json.as_object_mut()?.entry("extras");
        let extras = extras.or_insert_with(|| json!({}));
        if !extras.is_object() {
            *extras = json!({});
        }
        extras[KEY] = json!({ "mainClip": main });
        Some(())
    }

    /// The first node of each object; a mesh that no node shows has none.
    fn first_nodes(&self) -> Vec<usize> {
        let placed = self.before.placed.iter();
        placed
            .map(|place| place.chain.first().copied().unwrap_or(usize::MAX))
            .collect()
    }

    /// Adapts the weights of an animation to new lists of targets. With a `clip`, the first node of
    /// each mesh gets the weights of the clip instead.
    fn adapt_weights(
        &mut self,
        animation: &mut Value,
        clip: Option<&Animation>,
        frames: &FrameTargets<'_>,
    ) -> Option<()> {
        let firsts = self.first_nodes();
        for object in 0..self.asset.objects.len() {
            let nodes = self.nodes_of(object);
            let list_changes = self.changes[object].target_list();
            let motion = clip.and_then(|clip| clip.motions.iter().find(|m| m.object == object));
            let from_clip = clip.is_some() && !self.tracks_are_stored(object, clip, motion);

            if list_changes {
                for &node in &nodes {
                    if !(from_clip && node == firsts[object]) {
                        self.resize_channel(animation, object, node)?;
                    }
                }
            }
            if from_clip {
                let track = motion.and_then(|motion| match &motion.shape {
                    Shape::Weights(track) => Some(track),
                    _ => None,
                });
                self.replace_channel(animation, object, firsts[object], clip?, track, frames)?;
            }
        }

        Some(())
    }

    /// Whether the weights of an object in a clip are those of the file, up to the order of targets.
    fn tracks_are_stored(
        &self,
        object: usize,
        clip: Option<&Animation>,
        motion: Option<&Motion>,
    ) -> bool {
        let original = clip.and_then(|clip| clip.original);
        let before = self.before.asset.clips.iter();
        let before = before.filter(|old| old.original == original);
        let old = before
            .flat_map(|old| &old.motions)
            .find(|m| m.object == object);
        let track = |motion: Option<&Motion>| match motion.map(|m| m.shape.clone()) {
            Some(Shape::Weights(track)) => Some(track),
            _ => None,
        };

        let sources = &self.changes[object].source_target;
        let column = |row: &[f64], source: &Option<usize>| source.map_or(0.0, |k| row[k]);
        let mapped = track(old)
            .map(|old| old.mapped(|row| sources.iter().map(|k| column(row, k)).collect()));
        track(motion) == mapped
    }

    /// Adapts the curve of the weights of one node to the new list of targets.
    fn resize_channel(&mut self, animation: &mut Value, object: usize, node: usize) -> Option<()> {
        let Some(channel) = weights_channel(animation, node) else {
            return Some(());
        };
        let sources = self.changes[object].source_target.clone();
        let old_count = self.before.asset.objects[object].rig.targets().len();
        let stored = self.stored_target_count(object).max(old_count);
        let new_count = self.target_counts[object];

        let fields = animation.as_object_mut()?;
        if new_count == 0 {
            fields.get_mut("channels")?.as_array_mut()?.remove(channel);
            return remove_unused_samplers(fields);
        }

        let sampler = fields.get("channels")?.get(channel)?.get("sampler")?;
        let mut sampler = fields
            .get("samplers")?
            .get(sampler.as_u64()? as usize)?
            .clone();
        let output = sampler.get("output")?.as_u64()? as usize;
        let numbers = self.source.numbers(output, &["SCALAR"]).ok()?;
        let mut rows = Vec::with_capacity(numbers.len() / stored * new_count);
        for row in numbers.chunks_exact(stored) {
            let end = rows.len() + new_count;
            let weights = sources.iter().map(|source| source.map_or(0.0, |k| row[k]));
            rows.extend(weights.map(|weight| [weight as f32]));
            rows.resize(end, [0.0]);
        }

        // Other channels may use the same sampler.
        sampler["output"] = json!(self.buffer.curve(&rows));
        let samplers = fields.get_mut("samplers")?.as_array_mut()?;
        samplers.push(sampler);
        let index = samplers.len() - 1;
        fields.get_mut("channels")?.get_mut(channel)?["sampler"] = json!(index);
        self.changed = true;

        remove_unused_samplers(fields)
    }

    /// How many targets a mesh has in the file, with frames of clips.
    fn stored_target_count(&self, object: usize) -> usize {
        let mesh = &self.source.document.meshes[self.before.placed[object].mesh];
        let mut counts = mesh.primitives.iter().map(|p| p.targets.len());
        counts.find(|&count| count > 0).unwrap_or(0)
    }

    /// Replaces the weights of one node by those of a clip.
    fn replace_channel(
        &mut self,
        animation: &mut Value,
        object: usize,
        node: usize,
        clip: &Animation,
        track: Option<&WeightTrack>,
        frames: &FrameTargets<'_>,
    ) -> Option<()> {
        self.changed = true;
        if let Some(channel) = weights_channel(animation, node) {
            let channels = animation.get_mut("channels")?.as_array_mut()?;
            channels.remove(channel);
        }

        let nodes = self.first_nodes();
        let mut writer = ClipWriter::new(clip, &nodes, frames, &mut self.buffer);
        if let Some(track) = track
            && node != usize::MAX
        {
            writer.weights(object, track);
        }
        let written = writer.animation;
        let fields = animation.as_object_mut()?;
        add_channels(fields, &written)?;
        remove_unused_samplers(fields)
    }

    /// The animation without the channels that move meshes and joints.
    fn channels_of_other_nodes(&self, animation: &Value) -> Option<Value> {
        let mut moves_mesh = vec![false; self.source.document.nodes.len()];
        let chains = self.before.placed.iter().flat_map(|placed| &placed.chain);
        let joints = self.before.skins.values().flat_map(|skin| &skin.nodes);
        for &node in chains.chain(joints) {
            moves_mesh[node] = true;
        }

        let mut rest = animation.clone();
        let fields = rest.as_object_mut()?;
        let channels = fields.get_mut("channels")?.as_array_mut()?;
        channels.retain(|channel| {
            let node = channel.get("target").and_then(|t| t.get("node"));
            let node = node.and_then(Value::as_u64).map(|node| node as usize);
            node.is_none_or(|node| moves_mesh.get(node) != Some(&true))
        });
        remove_unused_samplers(fields)?;

        Some(rest)
    }

    /// A clip as an animation, with the channels of `others` if there are any.
    fn new_animation(
        &mut self,
        clip: &Animation,
        frames: &FrameTargets<'_>,
        others: Option<Value>,
    ) -> Option<Value> {
        self.changed = true;
        let nodes = self.first_nodes();
        let node_motions = self.node_motions(clip);
        let mut points = Vec::new();
        let mut moved_nodes = Vec::new();
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut writer = ClipWriter::new(clip, &nodes, frames, &mut buffer);

        for (object, &node) in nodes.iter().enumerate() {
            let motion = clip.motions.iter().find(|m| m.object == object);
            // Instances of one table move with their node.
            let repeats = nodes[..object].contains(&node);
            if node == usize::MAX || repeats {
                continue;
            }
            // An object that rests below a joint that moves needs a motion, too.
            let skin = self.before.placed[object].skin;
            let placement = match skin {
                None => self.placement_of(clip, &node_motions, node)?,
                Some(_) => None,
            };
            moved_nodes.extend(placement.is_some().then_some(node));
            let resting = Motion::new(object, Shape::Rest);
            let Some(motion) = motion.or(placement.as_ref().map(|_| &resting)) else {
                continue;
            };

            // Frames without a track of joints are where they should be; joints that rest elsewhere
            // would move them again.
            let bound = skin.is_none_or(|skin| self.before.skins[&skin].rests_as_bound);
            let unskinned = motion.skin.is_none();
            if !bound && unskinned && matches!(motion.shape, Shape::Points(_)) {
                return None;
            }

            let local = Motion {
                placement,
                ..motion.clone()
            };
            points.extend(writer.motion(&local));
        }

        for (node, track) in self.joint_tracks(clip) {
            writer.placement(node, &track);
            moved_nodes.push(node);
        }

        let meshes = points
            .into_iter()
            .map(|(object, first)| (self.shared[object].mesh, first));
        writer.finish(meshes.collect());
        if writer.sheared {
            self.left_out.push(format!(
                "the shear of an object that clip '{}' moves",
                clip.name
            ));
        }
        let written = writer.animation;
        self.buffer = buffer;

        for node in moved_nodes {
            self.decompose_matrix(node)?;
        }
        if written.channels.is_empty() {
            self.left_out
                .push(format!("clip '{}', which moves nothing", clip.name));
        }

        joined(others, &written)
    }

    /// The motion of each joint of a clip, relative to its parent.
    fn joint_tracks(&self, clip: &Animation) -> Vec<(usize, PlacementTrack)> {
        let mut tracks = Vec::new();
        for (&index, skin) in &self.before.skins {
            // Objects that share a skin share its motions.
            let follows = |motion: &&Motion| self.before.placed[motion.object].skin == Some(index);
            let motions = clip.motions.iter().filter(follows);
            let Some(track) = motions.filter_map(|motion| motion.skin.as_ref()).next() else {
                continue;
            };

            let mut of_joints: Vec<(usize, Vec<_>)> =
                skin.joints.iter().map(|&node| (node, Vec::new())).collect();
            for motions in track.motions.iter() {
                let locals = space::joint_locals(skin, motions, &self.before.nodes);
                for ((_, list), (_, local)) in of_joints.iter_mut().zip(locals) {
                    list.push(local);
                }
            }

            let frames = 0..track.motions.len();
            let times: Vec<f64> = frames.map(|frame| clip.time_secs(frame)).collect();
            for (node, moved_from_rest) in of_joints {
                // Skins may share joints.
                if tracks.iter().any(|(known, _)| *known == node) {
                    continue;
                }
                tracks.push((
                    node,
                    PlacementTrack {
                        times_secs: times.clone(),
                        moved_from_rest,
                    },
                ));
            }
        }

        tracks
    }

    /// Replaces the matrix of a node by translation, rotation and scale, which can be animated.
    fn decompose_matrix(&mut self, node: usize) -> Option<()> {
        let local = self.before.nodes.local(node);
        let json = self.json.get_mut("nodes")?.get_mut(node)?.as_object_mut()?;
        if json.remove("matrix").is_some() {
            let (scale, rotation, translation) = local.to_scale_rotation_translation();
            json.insert("translation".into(), json!(translation.to_array()));
            json.insert("rotation".into(), json!(rotation.to_array()));
            json.insert("scale".into(), json!(scale.to_array()));
        }
        Some(())
    }
}

/// The channel of an animation that moves the weights of a node.
fn weights_channel(animation: &Value, node: usize) -> Option<usize> {
    let channels = animation.get("channels")?.as_array()?;
    channels.iter().position(|channel| {
        let target = channel.get("target");
        let path = target.and_then(|t| t.get("path")).and_then(Value::as_str);
        let of_node = target.and_then(|t| t.get("node")).and_then(Value::as_u64);
        path == Some("weights") && of_node == Some(node as u64)
    })
}

/// An animation with the channels of another one before its own.
fn joined(others: Option<Value>, written: &document::Animation) -> Option<Value> {
    let Some(mut animation) = others else {
        return serde_json::to_value(written).ok();
    };

    let fields = animation.as_object_mut()?;
    if let Some(name) = &written.name {
        fields.insert("name".into(), json!(name));
    }
    let own = written.extras.as_object()?;
    let extras = fields.entry("extras").or_insert_with(|| json!({}));
    if !extras.is_object() {
        *extras = json!({});
    }
    for (key, value) in own {
        extras.as_object_mut()?.insert(key.clone(), value.clone());
    }
    add_channels(fields, written)?;

    Some(animation)
}

/// Adds the channels of `written` and their samplers.
fn add_channels(animation: &mut Map<String, Value>, written: &document::Animation) -> Option<()> {
    let samplers = animation.entry("samplers").or_insert_with(|| json!([]));
    let samplers = samplers.as_array_mut()?;
    let first = samplers.len();
    for sampler in &written.samplers {
        samplers.push(serde_json::to_value(sampler).ok()?);
    }

    let channels = animation.entry("channels").or_insert_with(|| json!([]));
    for channel in &written.channels {
        let mut channel = serde_json::to_value(channel).ok()?;
        let sampler = channel.get("sampler")?.as_u64()? as usize;
        channel
            .as_object_mut()?
            .insert("sampler".into(), json!(first + sampler));
        channels.as_array_mut()?.push(channel);
    }

    Some(())
}

/// Removes samplers that no channel uses.
fn remove_unused_samplers(animation: &mut Map<String, Value>) -> Option<()> {
    let samplers = animation.get_mut("samplers")?.take();
    let samplers = samplers.as_array()?;
    let mut new_index = vec![None; samplers.len()];
    let mut kept = Vec::with_capacity(samplers.len());

    for channel in animation.get_mut("channels")?.as_array_mut()? {
        let index = channel.get("sampler")?.as_u64()? as usize;
        let sampler = samplers.get(index)?;
        let renumbered = *new_index[index].get_or_insert_with(|| {
            kept.push(sampler.clone());
            kept.len() - 1
        });
        channel
            .as_object_mut()?
            .insert("sampler".into(), json!(renumbered));
    }

    animation.insert("samplers".into(), Value::Array(kept));
    Some(())
}
