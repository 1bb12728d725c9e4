//! Edits of animations: removed and new clips, new weights, new motions of nodes and joints.
//!
//! **Method.** An animation whose clip did not change keeps its JSON. If only weights changed, only
//! the channels of weights are replaced. Any other changed clip is written anew; its channels of
//! nodes that move no mesh stay.

use serde_json::{Map, Value, json};

use super::changes::same_clip;
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
            // An animation that moves no mesh has no clip, and stays.
            let is_this = |clip: &&Animation| clip.original == Some(index);
            let Some(before) = self.before.asset.clips.iter().find(is_this) else {
                animations.push(animation);
                continue;
            };
            let before = before.name.clone();

            let now = asset.clips.iter().position(|clip| is_this(&clip));
            let Some(clip) = now else {
                if asset.keeps_original_clips {
                    self.keep(&mut animation, index, frames)?;
                    animations.push(animation);
                } else {
                    self.changed = true;
                }
                continue;
            };
            match self.clip_changes[clip] {
                ClipChange::New => {
                    let others = self.channels_of_other_nodes(&animation)?;
                    animation = self.new_animation(&asset.clips[clip], frames, Some(others))?;
                }
                ClipChange::Same => {
                    self.replace_weights(&mut animation, &asset.clips[clip], false, frames)?;
                }
                ClipChange::Weights => {
                    self.replace_weights(&mut animation, &asset.clips[clip], true, frames)?;
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

    /// The nodes that show the mesh of an object.
    fn nodes_of(&self, object: usize) -> Vec<usize> {
        let mesh = self.before.placed[object].mesh;
        let nodes = self.source.document.nodes.iter().enumerate();
        nodes
            .filter(|(_, node)| node.mesh == Some(mesh))
            .map(|(k, _)| k)
            .collect()
    }

    /// The first node of each object; a mesh that no node shows has none.
    fn first_nodes(&self) -> Vec<usize> {
        let placed = self.before.placed.iter();
        placed
            .map(|place| place.chain.first().copied().unwrap_or(usize::MAX))
            .collect()
    }

    /// Adapts an animation whose clip is not in the asset to new lists of targets.
    fn keep(
        &mut self,
        animation: &mut Value,
        index: usize,
        frames: &FrameTargets<'_>,
    ) -> Option<()> {
        let clips = &self.before.asset.clips;
        let mut clip = clips.iter().find(|c| c.original == Some(index))?.clone();
        for motion in &mut clip.motions {
            let changes = &self.changes[motion.object];
            if let Shape::Weights(track) = &motion.shape
                && changes.target_list()
            {
                let column = |row: &[f64], source: Option<usize>| source.map_or(0.0, |k| row[k]);
                let sources = changes.stored_target.iter();
                let mapped = track.mapped(|row| sources.clone().map(|&k| column(row, k)).collect());
                motion.shape = Shape::Weights(mapped);
            }
        }

        self.replace_weights(animation, &clip, false, frames)
    }

    /// Replaces the weights of objects whose targets or weights changed.
    fn replace_weights(
        &mut self,
        animation: &mut Value,
        clip: &Animation,
        weights_change: bool,
        frames: &FrameTargets<'_>,
    ) -> Option<()> {
        let asset = self.asset;
        let nodes = self.first_nodes();
        let mut writer_buffer = std::mem::take(&mut self.buffer);
        let mut writer = ClipWriter::new(clip, &nodes, frames, &mut writer_buffer);
        let mut replaced = Vec::new();

        for object in 0..asset.objects.len() {
            let lists_change = self.changes[object].target_list();
            if !lists_change && !weights_change {
                continue;
            }

            replaced.extend(self.nodes_of(object));
            let motion = clip.motions.iter().find(|m| m.object == object);
            if let Some(Shape::Weights(track)) = motion.map(|m| &m.shape)
                && nodes[object] != usize::MAX
            {
                writer.weights(object, track);
            }
        }

        let written = writer.animation;
        self.buffer = writer_buffer;
        if replaced.is_empty() {
            return Some(());
        }

        self.changed = true;
        let animation = animation.as_object_mut()?;
        let is_replaced = |channel: &Value| {
            let target = channel.get("target");
            let path = target.and_then(|t| t.get("path")).and_then(Value::as_str);
            let node = target.and_then(|t| t.get("node")).and_then(Value::as_u64);
            path == Some("weights") && node.is_some_and(|n| replaced.contains(&(n as usize)))
        };
        let channels = animation.get_mut("channels")?.as_array_mut()?;
        channels.retain(|channel| !is_replaced(channel));
        add_channels(animation, &written)?;
        remove_unused_samplers(animation)
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
        let mut points = Vec::new();
        let mut moved_nodes = Vec::new();
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut writer = ClipWriter::new(clip, &nodes, frames, &mut buffer);

        for (object, &node) in nodes.iter().enumerate() {
            let motion = clip.motions.iter().find(|m| m.object == object);
            let Some(motion) = motion.filter(|_| node != usize::MAX) else {
                continue;
            };

            let track = motion.placement.as_ref();
            let placement = match track {
                Some(track) => Some(space::local_track(track, &self.before.nodes, node)?),
                None => None,
            };
            moved_nodes.extend(placement.is_some().then_some(node));
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
            .map(|(object, first)| (self.before.placed[object].mesh, first));
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
