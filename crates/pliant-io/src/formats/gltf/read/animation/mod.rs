//! glTF animations as clips: curves of weights, of nodes and of joints.
//!
//! **Problem.** A glTF animation is a set of curves, each with its own keys, for the weights of a
//! mesh or for the scale, rotation or translation of a node. A clip has frames, and an object moves
//! as a whole.
//!
//! **Method.** Curves of weights stay curves. The transforms of the nodes above a mesh are
//! multiplied at every key of their curves, relative to rest: `W(t) W(0)⁻¹`. Joints are evaluated
//! at every frame. Frames lie on the grid of the keys if there is one, else at the default rate.
//!
//! **Departures.** If several nodes move, or a curve is cubic, the product is not linear between
//! keys; then every frame becomes a key, too. A step becomes a key just before the next one.
//!
//! `curve` evaluates the curves of samplers, `frames` chooses the frames of a clip.

mod curve;
mod frames;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use pliant_mesh::glam::{DAffine3, DVec3};
use pliant_rig::Target;

use self::curve::{Curve, CurveKind};
use self::frames::empty_clip;
use super::accessor::Source;
use super::nodes::{LocalTransform, NodeTree, unit_rotation};
use super::scene::PlacedMesh;
use super::skin::{BoundSkin, update_worlds};
use crate::gltf::document;
use crate::gltf::extras::{ClipExtras, parse};
use crate::{Animation, Motion, Object, PlacementTrack, ReadError, Shape, SkinTrack};

/// Reads every animation that moves an object.
pub(super) fn read(
    source: &Source<'_>,
    nodes: &NodeTree<'_>,
    skins: &BTreeMap<usize, BoundSkin>,
    objects: &[Object],
    placed: &[PlacedMesh],
    warnings: &mut Vec<String>,
) -> Result<Vec<Animation>, ReadError> {
    let mut with_frames = HashMap::new();
    for (k, place) in placed.iter().enumerate() {
        if let (Some(&node), false) = (place.chain.first(), place.frames.is_empty()) {
            with_frames.entry(node).or_insert(k);
        }
    }
    let chains: usize = placed.iter().map(|place| 1 + place.chain.len()).sum();
    let joints: usize = skins.values().map(|skin| skin.nodes.len()).sum();
    let reader = ClipReader {
        source,
        nodes,
        skins,
        objects,
        placed,
        with_frames,
    };

    let mut clips = Vec::new();
    for (k, animation) in source.document.animations.iter().enumerate() {
        let name = animation
            .name
            .clone()
            .unwrap_or_else(|| format!("animation{k}"));
        // Every animation may move every object.
        let steps = nodes.nodes.len() + chains + joints;
        let budget = &source.buffers.budget;
        budget.spend(steps, format_args!("animation {k}"))?;
        let clip = reader
            .clip(&name, animation, warnings)
            .map_err(|e| ReadError {
                message: format!("animation {k} '{name}': {}", e.message),
                ..e
            })?;
        clips.extend(clip.map(|clip| Animation {
            original: Some(k),
            ..clip
        }));
    }

    Ok(clips)
}

struct ClipReader<'a> {
    source: &'a Source<'a>,
    nodes: &'a NodeTree<'a>,
    skins: &'a BTreeMap<usize, BoundSkin>,
    objects: &'a [Object],
    placed: &'a [PlacedMesh],
    /// The first mesh with frames at each node.
    with_frames: HashMap<usize, usize>,
}

/// The curves of one node.
#[derive(Default)]
struct NodeCurves {
    translation: Option<Curve>,
    rotation: Option<Curve>,
    scale: Option<Curve>,
    weights: Option<Curve>,
}

impl NodeCurves {
    /// The curves that change the transform of the node.
    fn transform_curves(&self) -> impl Iterator<Item = &Curve> {
        [&self.translation, &self.rotation, &self.scale]
            .into_iter()
            .flatten()
    }

    fn moves_node(&self) -> bool {
        self.transform_curves().next().is_some()
    }
}

/// The curves of each animated node.
type CurvesOfNodes = HashMap<usize, NodeCurves>;

impl ClipReader<'_> {
    /// One animation; `None` if it moves no mesh.
    fn clip(
        &self,
        name: &str,
        animation: &document::Animation,
        warnings: &mut Vec<String>,
    ) -> Result<Option<Animation>, ReadError> {
        let own: Option<ClipExtras> = parse(&animation.extras);
        let own = own.as_ref();
        let curves = self.curves(animation, own, warnings, name)?;
        let times = key_times(&curves, own);
        let mut clip = empty_clip(name, &times, own, warnings);

        // Objects that share a skin share its joint motions.
        let mut joint_motions = BTreeMap::new();
        for (&k, skin) in self.skins {
            if let Some(motions) = self.joint_motions(skin, &curves, &clip, warnings) {
                joint_motions.insert(k, Arc::new(motions));
            }
        }

        for (k, placed) in self.placed.iter().enumerate() {
            let shape = self.shape(k, placed, &curves, own, &clip)?;
            let placement = self.placement(placed, &curves, &clip, warnings);
            let motions = placed.skin.and_then(|skin| joint_motions.get(&skin));
            let skin = motions
                .zip(self.objects[k].skin.clone())
                .map(|(motions, binding)| SkinTrack {
                    binding,
                    motions: Arc::clone(motions),
                });

            if placement.is_some() || skin.is_some() || !matches!(shape, Shape::Rest) {
                clip.motions.push(Motion {
                    placement,
                    skin,
                    ..Motion::new(k, shape)
                });
            }
        }

        if clip.motions.is_empty() {
            warnings.push(format!("clip '{name}' moves no mesh and was not read"));
            return Ok(None);
        }

        Ok(Some(clip))
    }

    /// The curves of all nodes above meshes and joints.
    fn curves(
        &self,
        animation: &document::Animation,
        own: Option<&ClipExtras>,
        warnings: &mut Vec<String>,
        name: &str,
    ) -> Result<CurvesOfNodes, ReadError> {
        let mut needed = vec![false; self.nodes.nodes.len()];
        let chains = self.placed.iter().flat_map(|placed| &placed.chain);
        let joints = self.skins.values().flat_map(|skin| &skin.nodes);
        for &node in chains.chain(joints) {
            needed[node] = true;
        }

        let mut curves = CurvesOfNodes::new();
        let mut removed_keys = 0;
        for channel in &animation.channels {
            let node = channel.target.node;
            let Some(node) = node.filter(|&node| needed.get(node) == Some(&true)) else {
                continue;
            };

            // Weights that select the frames of our own clip are not an animation of targets.
            let path = channel.target.path.as_str();
            if path == "weights" && self.first_frame_target(node, own).is_some() {
                continue;
            }

            let width = match path {
                "translation" | "scale" => 3,
                "rotation" => 4,
                "weights" => 1,
                _ => continue,
            };
            let curve = self.curve(animation, channel.sampler, width, &mut removed_keys)?;

            let node_curves = curves.entry(node).or_default();
            match path {
                "translation" => node_curves.translation = Some(curve),
                "rotation" => node_curves.rotation = Some(curve),
                "scale" => node_curves.scale = Some(curve),
                _ => node_curves.weights = Some(curve),
            }
        }

        if removed_keys > 0 {
            warnings.push(format!(
                "clip '{name}' has {removed_keys} key(s) that do not come after the key before; they were left out"
            ));
        }

        Ok(curves)
    }

    /// The curve of a sampler, whose rows have `width` numbers; weights may have more.
    fn curve(
        &self,
        animation: &document::Animation,
        index: usize,
        width: usize,
        removed_keys: &mut usize,
    ) -> Result<Curve, ReadError> {
        let samplers = &animation.samplers;
        let Some(sampler) = samplers.get(index) else {
            let count = samplers.len();
            return Err(ReadError::whole(format!(
                "a channel has sampler {index}, but there are {count} samplers; export the file again"
            )));
        };

        let times = self.source.numbers(sampler.input, &["SCALAR"])?;
        let accessor_type = ["SCALAR", "VEC2", "VEC3", "VEC4"][width - 1];
        let values = self.source.numbers(sampler.output, &[accessor_type])?;
        let kind = match sampler.interpolation.as_deref() {
            Some("STEP") => CurveKind::Step,
            Some("CUBICSPLINE") => CurveKind::Cubic,
            _ => CurveKind::Linear,
        };

        let rows = times.len() * if kind == CurveKind::Cubic { 3 } else { 1 };
        if rows == 0 || !values.len().is_multiple_of(rows) {
            return Err(ReadError::whole(format!(
                "sampler {index} has {} numbers for {} keys; export the file again",
                values.len(),
                times.len()
            )));
        }

        let found = values.len() / rows;
        if width > 1 && found != width {
            return Err(ReadError::whole(format!(
                "sampler {index} has {found} numbers a key instead of {width}; export the file again"
            )));
        }

        let mut curve = Curve {
            times,
            values,
            width: found,
            kind,
        };
        *removed_keys += curve.remove_disordered_keys();

        Ok(curve)
    }

    /// The first target of the mesh at `node` that is a frame of this clip, if there are any.
    fn first_frame_target(&self, node: usize, own: Option<&ClipExtras>) -> Option<usize> {
        let placed = &self.placed[*self.with_frames.get(&node)?];
        let (_, first) = own?.points.iter().find(|(mesh, _)| *mesh == placed.mesh)?;
        Some(*first)
    }

    /// How the shape of an object changes: through frames of positions, or by weights.
    fn shape(
        &self,
        index: usize,
        placed: &PlacedMesh,
        curves: &CurvesOfNodes,
        own: Option<&ClipExtras>,
        clip: &Animation,
    ) -> Result<Shape, ReadError> {
        let Some(&node) = placed.chain.first() else {
            return Ok(Shape::Rest);
        };

        let object = &self.objects[index];
        let targets = placed.stored_targets;
        if let Some(first) = self.first_frame_target(node, own) {
            let frames = first
                .checked_sub(targets)
                .and_then(|k| placed.frames.get(k..)?.get(..clip.frame_count));
            if let Some(frames) = frames {
                let positions = frames.iter().map(|frame| frame_positions(object, frame));
                return Ok(Shape::Points(positions.collect()));
            }
        }

        let curve = curves.get(&node).and_then(|curves| curves.weights.as_ref());
        let Some(curve) = curve.filter(|_| targets > 0) else {
            return Ok(Shape::Rest);
        };

        // In the file, frames of other clips are targets after the real ones.
        if curve.width != targets && curve.width != targets + placed.frames.len() {
            return Err(ReadError::whole(format!(
                "it moves {} weights of mesh '{}', which has {targets} targets; export the file again",
                curve.width,
                object.name()
            )));
        }

        let track = curve.weight_track(targets)?;
        Ok(Shape::Weights(match &placed.sliders {
            Some(sliders) => sliders.weight_track(&track),
            None => track,
        }))
    }

    /// The motion of an object as a whole; `None` if it rests.
    fn placement(
        &self,
        placed: &PlacedMesh,
        curves: &CurvesOfNodes,
        clip: &Animation,
        warnings: &mut Vec<String>,
    ) -> Option<PlacementTrack> {
        let moving: Vec<&NodeCurves> = placed
            .chain
            .iter()
            .filter_map(|node| curves.get(node))
            .filter(|curves| curves.moves_node())
            .collect();

        // The joints of a skinned mesh move it, its node does not.
        if moving.is_empty() || placed.skin.is_some() {
            return None;
        }

        let times = placement_times(&moving, clip);
        let numbers = times.len().saturating_mul(placed.chain.len() + 12);
        let rest_inverse = placed.scene_from_mesh.inverse();
        let why = if !self.source.buffers.budget.try_spend(numbers) {
            Some("has more keys than a file of this size can hold")
        } else if !rest_inverse.is_finite() {
            Some("starts from a transformation that is not invertible")
        } else {
            None
        };
        if let Some(why) = why {
            warnings.push(format!(
                "clip '{}' moves an object, but that motion {why}; it was not read",
                clip.name
            ));
            return None;
        }

        let mut moved_from_rest = Vec::with_capacity(times.len());
        for &time in &times {
            moved_from_rest.push(self.world_at(placed, curves, time) * rest_inverse);
        }

        let moves = moved_from_rest
            .iter()
            .any(|m| !m.abs_diff_eq(DAffine3::IDENTITY, 1e-12));
        moves.then_some(PlacementTrack {
            times_secs: times,
            moved_from_rest,
        })
    }

    fn world_at(&self, placed: &PlacedMesh, curves: &CurvesOfNodes, time: f64) -> DAffine3 {
        let mut transform = DAffine3::IDENTITY;
        for &node in &placed.chain {
            transform = self.local_at(node, curves, time) * transform;
        }
        transform
    }

    /// The transform of a node relative to its parent at a time.
    fn local_at(&self, node: usize, curves: &CurvesOfNodes, time: f64) -> DAffine3 {
        let curves = curves.get(&node).filter(|curves| curves.moves_node());
        let Some(curves) = curves else {
            return self.nodes.local(node);
        };

        let mut local = self.local_at_rest(node);
        if let Some(curve) = &curves.translation {
            local.translation = DVec3::from_slice(&curve.at(time));
        }
        if let Some(curve) = &curves.scale {
            local.scale = DVec3::from_slice(&curve.at(time));
        }
        if let Some(curve) = &curves.rotation {
            local.rotation = curve.rotation_at(time);
        }

        local.matrix()
    }

    /// For each frame and joint, the motion of the neutral; `None` if all joints stay in the bind
    /// pose.
    fn joint_motions(
        &self,
        skin: &BoundSkin,
        curves: &CurvesOfNodes,
        clip: &Animation,
        warnings: &mut Vec<String>,
    ) -> Option<Vec<Vec<DAffine3>>> {
        let moves = |node: &usize| curves.get(node).is_some_and(NodeCurves::moves_node);
        if skin.rests_as_bound && !skin.nodes.iter().any(moves) {
            return None;
        }

        let numbers_per_frame = skin.nodes.len() + 12 * skin.joints.len();
        let numbers = clip.frame_count.saturating_mul(numbers_per_frame);
        if !self.source.buffers.budget.try_spend(numbers) {
            warnings.push(format!(
                "clip '{}' moves joints in more frames than a file of this size can hold; they were not read",
                clip.name
            ));
            return None;
        }

        let mut worlds = vec![DAffine3::IDENTITY; self.nodes.nodes.len()];
        let mut motions = Vec::with_capacity(clip.frame_count);
        for frame in 0..clip.frame_count {
            let time = clip.time_secs(frame);
            let local = |node| self.local_at(node, curves, time);
            update_worlds(self.nodes, &skin.nodes, local, &mut worlds);

            let of_joints = skin.joints.iter().zip(&skin.from_neutral);
            motions.push(
                of_joints
                    .map(|(&node, from_neutral)| worlds[node] * *from_neutral)
                    .collect(),
            );
        }

        Some(motions)
    }

    fn local_at_rest(&self, node: usize) -> LocalTransform {
        if self.nodes.nodes[node].matrix.is_none() {
            return LocalTransform::of(&self.nodes.nodes[node]);
        }
        let (scale, rotation, translation) = self.nodes.local(node).to_scale_rotation_translation();
        LocalTransform {
            scale,
            rotation: unit_rotation(rotation),
            translation,
        }
    }
}

/// All key times, ascending, each once.
fn key_times(curves: &CurvesOfNodes, own: Option<&ClipExtras>) -> Vec<f64> {
    let mut times = Vec::new();
    for curves in curves.values() {
        for curve in curves.transform_curves().chain(&curves.weights) {
            times.extend_from_slice(&curve.times);
        }
    }

    if times.is_empty() && own.is_some_and(|own| own.frames > 0) {
        times.push(0.0);
    }

    times.sort_unstable_by(f64::total_cmp);
    times.dedup();
    times
}

fn frame_positions(object: &Object, frame: &Target) -> Vec<DVec3> {
    let mut positions = object.rig.neutral().positions().to_vec();
    frame.add_to(1.0, &mut positions);
    positions
}

/// The times at which the transform of an object is sampled: the keys of the curves, the ends of
/// steps, and the frames if the transform is not linear between keys.
fn placement_times(moving: &[&NodeCurves], clip: &Animation) -> Vec<f64> {
    let mut times = Vec::new();
    let mut any_cubic = false;
    for curve in moving.iter().flat_map(|curves| curves.transform_curves()) {
        times.extend_from_slice(&curve.times);
        any_cubic |= curve.kind == CurveKind::Cubic;

        // A step holds its value until just before the next key, in single precision.
        if curve.kind == CurveKind::Step {
            let ends = curve.times.iter().skip(1);
            times.extend(ends.map(|&time| f64::from((time as f32).next_down())));
        }
    }

    if moving.len() > 1 || any_cubic {
        times.extend((0..clip.frame_count).map(|frame| clip.time_secs(frame)));
    }

    // A frame that equals a key up to rounding is that key.
    times.sort_unstable_by(f64::total_cmp);
    times.dedup_by(|a, b| (*a as f32) == (*b as f32));

    times
}
