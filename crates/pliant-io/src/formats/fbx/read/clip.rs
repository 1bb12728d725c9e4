//! FBX animation stacks as clips, sampled at every frame.

use std::collections::HashSet;
use std::sync::Arc;

use pliant_mesh::glam::{DAffine3, DVec3};
use pliant_rig::{Interpolation, WeightTrack};
use ufbx::EvaluateOpts;

use super::blend_channel::{channels, is_driven};
use super::character::Character;
use super::node_pose::{NodePoses, ancestors};
use super::{PlacedMesh, PlacedMeshes, affine, one_line, vector};
use crate::parse::budget::Budget;
use crate::{Animation, Motion, Object, PlacementTrack, ReadError, Shape, SkinTrack};

/// Chosen: longer clips are rejected; over an hour at 24 frames per second.
const MOST_FRAMES: f64 = 1e5;

/// The clip of a stack; `None` if nothing moves.
pub(super) fn read(
    scene: &ufbx::Scene,
    stack: &ufbx::AnimStack,
    objects: &[Object],
    placed: &PlacedMeshes<'_>,
    budget: &Budget,
    warnings: &mut Vec<String>,
) -> Result<Option<Animation>, ReadError> {
    // Every stack may move every mesh and joint.
    let joints: usize = placed.characters.iter().map(|c| c.nodes.len()).sum();
    budget.spend(objects.len() + joints, "the animation stacks")?;
    let name = one_line(&stack.element.name);
    let Some(times) = FrameTimes::of(scene, stack) else {
        if stack.time_begin == stack.time_end && key_range(stack).is_none() {
            return Ok(None);
        }
        warnings.push(format!(
            "clip '{name}' from {} to {} s has no valid range of frames and is not read",
            stack.time_begin, stack.time_end
        ));
        return Ok(None);
    };

    let reader = StackReader {
        scene,
        stack,
        times,
        budget,
        animated: animated(stack),
    };

    let mut clip = Animation::new(name, reader.times.frames);
    clip.frames_per_second = reader.times.per_second;
    clip.start_secs = reader.times.begin;
    let moved = reader.node_motions(placed, warnings);
    let baked = reader.baked_frames(&placed.meshes, warnings)?;

    for (k, (object, placed)) in objects.iter().zip(&placed.meshes).enumerate() {
        let mut motion = Motion::new(k, Shape::Rest);
        if baked[k].is_empty() {
            motion.shape = reader.shape(object, placed)?;
            motion.skin = moved.skin_track(object, placed);
            motion.placement = moved.placement(&reader, k, object, placed, warnings);
        } else {
            motion.shape = Shape::Points(baked[k].clone());
        }

        let rests = matches!(motion.shape, Shape::Rest);
        if !rests || motion.skin.is_some() || motion.placement.is_some() {
            clip.motions.push(motion);
        }
    }

    Ok((!clip.motions.is_empty()).then_some(clip))
}

/// The frames of a stack.
#[derive(Clone, Copy)]
struct FrameTimes {
    begin: f64,
    per_second: f64,
    frames: usize,
}

impl FrameTimes {
    fn of(scene: &ufbx::Scene, stack: &ufbx::AnimStack) -> Option<Self> {
        // Some files give a stack no range; then its keys do.
        let per_second = scene.settings.frames_per_second;
        let (begin, end) = if stack.time_end > stack.time_begin {
            (stack.time_begin, stack.time_end)
        } else {
            key_range(stack)?
        };

        let frames = ((end - begin) * per_second).round() + 1.0;
        let fits = per_second.is_finite()
            && per_second > 0.0
            && begin.is_finite()
            && (1.0..=MOST_FRAMES).contains(&frames);

        fits.then_some(Self {
            begin,
            per_second,
            frames: frames as usize,
        })
    }

    fn secs(&self, frame: usize) -> f64 {
        self.begin + frame as f64 / self.per_second
    }

    fn all(&self) -> impl Iterator<Item = f64> {
        let times = *self;
        (0..self.frames).map(move |k| times.secs(k))
    }
}

/// The times of the first and the last key of a stack, for files that give the stack no range.
fn key_range(stack: &ufbx::AnimStack) -> Option<(f64, f64)> {
    let values = stack
        .layers
        .iter()
        .flat_map(|layer| layer.anim_values.iter());
    let curves = values.flat_map(|value| value.curves.iter().flatten());
    let times = curves
        .flat_map(|curve| [curve.keyframes.first(), curve.keyframes.last()])
        .flatten()
        .map(|key| key.time);

    times.fold(None, |range, time| {
        Some(range.map_or((time, time), |(first, last): (f64, f64)| {
            (first.min(time), last.max(time))
        }))
    })
}

/// The elements that a stack animates.
fn animated(stack: &ufbx::AnimStack) -> HashSet<u32> {
    stack
        .layers
        .iter()
        .flat_map(|layer| layer.anim_props.iter())
        .map(|prop| prop.element.element_id)
        .collect()
}

struct StackReader<'a> {
    scene: &'a ufbx::Scene,
    stack: &'a ufbx::AnimStack,
    times: FrameTimes,
    budget: &'a Budget,
    animated: HashSet<u32>,
}

/// The motions of nodes in a clip. Both lists are empty if there are too many frames.
struct NodeMotions {
    /// For each mesh, its transform in the scene frame by frame; empty if it does not move.
    scene_from_mesh: Vec<Vec<DAffine3>>,
    /// For each character, its joints frame by frame; `None` if they rest in the bind pose.
    joints: Vec<Option<Arc<Vec<Vec<DAffine3>>>>>,
}

impl StackReader<'_> {
    fn node_moves(&self, node: &ufbx::Node) -> bool {
        ancestors(node).any(|node| self.animated.contains(&node.element.element_id))
    }

    fn character_moves(&self, character: &Character<'_>) -> bool {
        let mut nodes = character.nodes.iter();
        !character.rests_as_bound || nodes.any(|node| self.node_moves(node))
    }

    /// The motions of meshes and joints by their nodes.
    fn node_motions(&self, placed: &PlacedMeshes<'_>, warnings: &mut Vec<String>) -> NodeMotions {
        let moving_meshes: Vec<bool> = placed.meshes.iter().map(|p| self.mesh_moves(p)).collect();
        let characters = &placed.characters;
        let moving: Vec<bool> = characters.iter().map(|c| self.character_moves(c)).collect();

        let meshes = placed.meshes.iter().zip(&moving_meshes);
        let meshes = meshes.filter(|(_, moves)| **moves).map(|(p, _)| p.node);
        let joints = characters.iter().zip(&moving).filter(|(_, moves)| **moves);
        let joints = joints.flat_map(|(character, _)| character.nodes.iter().copied());
        let wanted: Vec<&ufbx::Node> = meshes.chain(joints).collect();
        let poses = NodePoses::new(self.scene, wanted.iter().copied(), &self.animated);

        // Chosen: evaluating a node costs about as much as sixteen numbers.
        let numbers = wanted.len().saturating_mul(12) + poses.len().saturating_mul(16);
        if !self
            .budget
            .try_spend(self.times.frames.saturating_mul(numbers))
        {
            warnings.push(format!(
                "the motion of nodes in clip '{}' is too long to be read",
                one_line(&self.stack.element.name)
            ));
            return NodeMotions::none(placed);
        }
        if wanted.is_empty() {
            return NodeMotions::none(placed);
        }

        self.sampled_motions(placed, &moving_meshes, &moving, &poses)
    }

    /// The motions of the meshes and characters that move, at every frame.
    fn sampled_motions(
        &self,
        placed: &PlacedMeshes<'_>,
        moving_meshes: &[bool],
        moving: &[bool],
        poses: &NodePoses<'_>,
    ) -> NodeMotions {
        let characters = &placed.characters;
        let mut motions = NodeMotions::none(placed);

        let mut joints = vec![Vec::new(); characters.len()];
        for time in self.times.all() {
            let worlds = poses.at(&self.stack.anim, time);
            let world = |node: &ufbx::Node| worlds[poses.position(node)];
            for (k, placed) in placed.meshes.iter().enumerate() {
                if moving_meshes[k] {
                    let placement = world(placed.node) * affine(&placed.node.geometry_to_node);
                    motions.scene_from_mesh[k].push(placement);
                }
            }

            for (k, character) in characters.iter().enumerate() {
                if moving[k] {
                    let joint = |(node, bone): (&&ufbx::Node, &DAffine3)| world(node) * *bone;
                    let bones = character.nodes.iter().zip(&character.bone_from_neutral);
                    joints[k].push(bones.map(joint).collect::<Vec<_>>());
                }
            }
        }

        motions.joints = joints
            .into_iter()
            .map(|frames| (!frames.is_empty()).then(|| Arc::new(frames)))
            .collect();
        motions
    }

    /// Whether nodes move a mesh as a whole.
    fn mesh_moves(&self, placed: &PlacedMesh<'_>) -> bool {
        placed.character.is_none() && !placed.is_baked && self.node_moves(placed.node)
    }

    /// For each mesh whose skin only the library can evaluate, its positions frame by frame.
    fn baked_frames(
        &self,
        placed: &[PlacedMesh<'_>],
        warnings: &mut Vec<String>,
    ) -> Result<Vec<Vec<Vec<DVec3>>>, ReadError> {
        let mut frames = vec![Vec::new(); placed.len()];
        let baked = placed.iter().filter(|p| p.is_baked);
        let points: usize = baked.map(|p| 3 * p.mesh.num_vertices).sum();
        if points == 0 || self.animated.is_empty() {
            return Ok(frames);
        }

        // Chosen: evaluating an element costs about as much as eight numbers.
        let per_frame = points.saturating_add(8 * self.scene.elements.len());
        if !self
            .budget
            .try_spend(self.times.frames.saturating_mul(per_frame))
        {
            warnings.push(format!(
                "the motion of dual quaternion skins in clip '{}' is too long to be read",
                one_line(&self.stack.element.name)
            ));
            return Ok(frames);
        }

        for time in self.times.all() {
            let options = EvaluateOpts {
                evaluate_skinning: true,
                ..EvaluateOpts::default()
            };
            let moment = ufbx::evaluate_scene(self.scene, &self.stack.anim, time, options);
            let moment = moment.map_err(|error| {
                ReadError::whole(format!(
                    "the scene at {time} s cannot be evaluated ({}); export the file again",
                    &*error.description
                ))
            })?;

            for (frames, placed) in frames.iter_mut().zip(placed) {
                if placed.is_baked {
                    frames.push(skinned_positions(&moment, placed));
                }
            }
        }

        Ok(frames)
    }

    /// How the shape of an object changes before joints and nodes move it.
    fn shape(&self, object: &Object, placed: &PlacedMesh<'_>) -> Result<Shape, ReadError> {
        // A point cache replaces the blend shapes.
        let Some(cache) = &placed.cache else {
            return self.weights(object, placed);
        };

        self.budget.spend(
            self.times.frames.saturating_mul(3 * cache.points()),
            "the frames of a point cache",
        )?;
        let rest = affine(&placed.node.geometry_to_world);
        Ok(Shape::Points(
            self.times
                .all()
                .map(|time| cache.at(time, self.times.per_second, &rest))
                .collect(),
        ))
    }

    fn weights(&self, object: &Object, placed: &PlacedMesh<'_>) -> Result<Shape, ReadError> {
        let channels: Vec<_> = channels(placed.mesh).collect();
        let targets = object.rig.targets().len();
        debug_assert_eq!(
            channels.len(),
            targets + placed.frames.len(),
            "a target per channel"
        );

        // A channel that is constant but not zero still changes the shape.
        let animated = |c: &&ufbx::BlendChannel| self.animated.contains(&c.element.element_id);
        let may_change = |c: &&ufbx::BlendChannel| c.weight != 0.0 || animated(c) || is_driven(c);
        if !channels.iter().any(may_change) {
            return Ok(Shape::Rest);
        }

        self.budget.spend(
            self.times.frames.saturating_mul(channels.len() + 4),
            "the weights of the blend shapes",
        )?;

        let key = |time: f64| {
            channels
                .iter()
                .map(|c| ufbx::evaluate_blend_weight(&self.stack.anim, c, time))
                .collect()
        };

        let mut keys: Vec<Vec<f64>> = self.times.all().map(key).collect();
        if keys
            .iter()
            .any(|row| row[targets..].iter().any(|&w| w != 0.0))
        {
            return self.frame_positions(object, placed, &keys);
        }
        for row in &mut keys {
            row.truncate(targets);
        }

        let rests = keys.iter().flatten().all(|&w| w == 0.0);
        if rests && !channels[..targets].iter().any(animated) {
            return Ok(Shape::Rest);
        }

        Ok(Shape::Weights(WeightTrack::new(
            self.times.all().collect(),
            keys,
            Interpolation::Linear,
        )?))
    }

    /// The positions of an object in a clip that was written as frames.
    fn frame_positions(
        &self,
        object: &Object,
        placed: &PlacedMesh<'_>,
        keys: &[Vec<f64>],
    ) -> Result<Shape, ReadError> {
        let numbers = keys.len().saturating_mul(3 * object.vertex_count());
        self.budget.spend(numbers, "the frames of a clip")?;

        let mut frames = Vec::with_capacity(keys.len());
        for row in keys {
            let (weights, of_frames) = row.split_at(object.rig.targets().len());
            let mut positions = object.rig.evaluate(weights);
            let used = placed
                .frames
                .iter()
                .zip(of_frames)
                .filter(|(_, w)| **w != 0.0);
            for (frame, &weight) in used {
                frame.add_to(weight, &mut positions);
            }
            frames.push(positions);
        }

        Ok(Shape::Points(frames))
    }
}

impl NodeMotions {
    /// Nothing moves.
    fn none(placed: &PlacedMeshes<'_>) -> Self {
        Self {
            scene_from_mesh: vec![Vec::new(); placed.meshes.len()],
            joints: vec![None; placed.characters.len()],
        }
    }

    /// The motion of the joints of an object.
    fn skin_track(&self, object: &Object, placed: &PlacedMesh<'_>) -> Option<SkinTrack> {
        let motions = self.joints[placed.character?].clone()?;
        let binding = object.skin.clone()?;
        Some(SkinTrack { binding, motions })
    }

    /// The motion of object number `index` as a whole.
    fn placement(
        &self,
        reader: &StackReader<'_>,
        index: usize,
        object: &Object,
        placed: &PlacedMesh<'_>,
        warnings: &mut Vec<String>,
    ) -> Option<PlacementTrack> {
        let scene_from_mesh = &self.scene_from_mesh[index];
        if scene_from_mesh.is_empty() {
            return None;
        }

        // Placements are relative to the rest pose in the scene.
        let mesh_from_scene = affine(&placed.node.geometry_to_world).inverse();
        if !mesh_from_scene.is_finite() {
            warnings.push(format!(
                "mesh '{}' is scaled to zero at rest, so that its motion is not read",
                object.path
            ));
            return None;
        }

        let moved = scene_from_mesh.iter().map(|moved| *moved * mesh_from_scene);
        Some(PlacementTrack {
            times_secs: reader.times.all().collect(),
            moved_from_rest: moved.collect(),
        })
    }
}

/// The positions of a mesh in an evaluated scene.
fn skinned_positions(moment: &ufbx::Scene, placed: &PlacedMesh<'_>) -> Vec<DVec3> {
    let node = &moment.nodes[placed.node.element.typed_id as usize];
    let mesh = &moment.meshes[placed.mesh.element.typed_id as usize];
    let scene_from_mesh = affine(&node.geometry_to_world);
    let position = |p: &ufbx::Vec3| {
        if mesh.skinned_is_local {
            scene_from_mesh.transform_point3(vector(p))
        } else {
            vector(p)
        }
    };

    mesh.skinned_position.values.iter().map(position).collect()
}
