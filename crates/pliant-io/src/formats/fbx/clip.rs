//! FBX animation stacks as clips, sampled at every frame.

use std::collections::HashSet;

use pliant_mesh::glam::{DAffine3, DVec3};
use pliant_rig::{Interpolation, WeightTrack};
use ufbx::EvaluateOpts;

use super::blend_channel::channels;
use super::{PlacedMesh, affine, one_line, vector};
use crate::parse::budget::Budget;
use crate::{Animation, Motion, Object, PlacementTrack, ReadError, Shape};

/// Chosen: longer clips are rejected; over an hour at 24 frames per second.
const MOST_FRAMES: f64 = 1e5;

/// The clip of a stack; `None` if nothing moves.
pub(super) fn read(
    scene: &ufbx::Scene,
    stack: &ufbx::AnimStack,
    objects: &[Object],
    placed: &[PlacedMesh<'_>],
    budget: &Budget,
    warnings: &mut Vec<String>,
) -> Result<Option<Animation>, ReadError> {
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

    let mut reader = StackReader {
        scene,
        stack,
        times,
        budget,
        animated: animated(stack),
    };

    let mut clip = Animation::new(name, reader.times.frames);
    clip.frames_per_second = reader.times.per_second;
    clip.start_secs = reader.times.begin;
    let posed = reader.node_motions(placed, warnings)?;

    for (k, (object, placed)) in objects.iter().zip(placed).enumerate() {
        let posed = posed.as_ref().map(|objects| &objects[k]);
        let motion = reader.motion(k, object, placed, posed, warnings)?;
        clip.motions.extend(motion);
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

/// The motion of one mesh by its nodes and joints, frame by frame.
#[derive(Default)]
struct NodeMotion {
    scene_from_mesh: Vec<DAffine3>,
    skinned: Vec<Vec<DVec3>>,
}

impl StackReader<'_> {
    fn node_moves(&self, node: &ufbx::Node) -> bool {
        std::iter::successors(Some(node), |node| node.parent.as_deref())
            .any(|node| self.animated.contains(&node.element.element_id))
    }

    /// Whether a skeleton may move the mesh: it has a skin, and any node is animated.
    fn skin_moves(&self, mesh: &ufbx::Mesh) -> bool {
        !mesh.skin_deformers.is_empty()
            && self
                .scene
                .nodes
                .iter()
                .any(|node| self.animated.contains(&node.element.element_id))
    }

    /// The motion of every mesh by its nodes; `None` if no node moves, or if there are too many frames.
    fn node_motions(
        &mut self,
        placed: &[PlacedMesh<'_>],
        warnings: &mut Vec<String>,
    ) -> Result<Option<Vec<NodeMotion>>, ReadError> {
        let skinned: Vec<bool> = placed.iter().map(|p| self.skin_moves(p.mesh)).collect();
        if !skinned.contains(&true) && !placed.iter().any(|p| self.node_moves(p.node)) {
            return Ok(None);
        }

        // Skinned meshes need the positions of every frame, the others only a transform.
        let points: usize = placed
            .iter()
            .zip(&skinned)
            .filter(|(_, skinned)| **skinned)
            .map(|(p, _)| 3 * p.mesh.num_vertices)
            .sum();

        // Chosen: evaluating an element costs about as much as eight numbers.
        let per_frame = points
            .saturating_add(8 * self.scene.elements.len())
            .saturating_add(12 * placed.len());

        if !self
            .budget
            .try_spend(self.times.frames.saturating_mul(per_frame))
        {
            warnings.push(format!(
                "the motion of nodes in clip '{}' is too long to be read",
                one_line(&self.stack.element.name)
            ));
            return Ok(None);
        }

        let mut posed: Vec<NodeMotion> = placed.iter().map(|_| NodeMotion::default()).collect();
        for time in self.times.all() {
            let options = EvaluateOpts {
                evaluate_skinning: points > 0,
                ..EvaluateOpts::default()
            };
            let moment = ufbx::evaluate_scene(self.scene, &self.stack.anim, time, options);
            let moment = moment.map_err(|error| {
                ReadError::whole(format!(
                    "the scene at {time} s cannot be evaluated ({}); export the file again",
                    &*error.description
                ))
            })?;

            for ((posed, placed), &skinned) in posed.iter_mut().zip(placed).zip(&skinned) {
                posed.push(&moment, placed, skinned);
            }
        }

        Ok(Some(posed))
    }

    fn motion(
        &self,
        index: usize,
        object: &Object,
        placed: &PlacedMesh<'_>,
        posed: Option<&NodeMotion>,
        warnings: &mut Vec<String>,
    ) -> Result<Option<Motion>, ReadError> {
        let rest = affine(&placed.node.geometry_to_world);
        if let Some(posed) = posed.filter(|posed| !posed.skinned.is_empty()) {
            return Ok(Some(Motion::new(
                index,
                Shape::Points(posed.skinned.clone()),
            )));
        }

        // A point cache replaces the blend shapes.
        let shape = match &placed.cache {
            Some(cache) => {
                self.budget.spend(
                    self.times.frames.saturating_mul(3 * cache.points()),
                    "the frames of a point cache",
                )?;
                Shape::Points(
                    self.times
                        .all()
                        .map(|time| cache.at(time * self.times.per_second, &rest))
                        .collect(),
                )
            }
            None => self.weights(object, placed)?,
        };

        let placement = match posed.filter(|_| self.node_moves(placed.node)) {
            Some(posed) => self.placement(posed, &rest, object, warnings),
            None => None,
        };
        let moves = placement.is_some() || !matches!(shape, Shape::Rest);

        Ok(moves.then_some(Motion {
            placement,
            ..Motion::new(index, shape)
        }))
    }

    fn weights(&self, object: &Object, placed: &PlacedMesh<'_>) -> Result<Shape, ReadError> {
        let channels: Vec<_> = channels(placed.mesh).collect();
        debug_assert_eq!(
            channels.len(),
            object.rig.targets().len(),
            "a target per channel"
        );

        // A channel that is constant but not zero still changes the shape.
        let used = channels
            .iter()
            .any(|c| c.weight != 0.0 || self.animated.contains(&c.element.element_id));
        if !used {
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

        let keys = self.times.all().map(key).collect();
        Ok(Shape::Weights(WeightTrack::new(
            self.times.all().collect(),
            keys,
            Interpolation::Linear,
        )?))
    }

    fn placement(
        &self,
        posed: &NodeMotion,
        rest: &DAffine3,
        object: &Object,
        warnings: &mut Vec<String>,
    ) -> Option<PlacementTrack> {
        // Placements are relative to the rest pose in the scene.
        let mesh_from_scene = rest.inverse();
        if !mesh_from_scene.is_finite() {
            warnings.push(format!(
                "mesh '{}' is scaled to zero at rest, so that its motion is not read",
                object.path
            ));
            return None;
        }

        let moved_from_rest = posed
            .scene_from_mesh
            .iter()
            .map(|scene_from_mesh| *scene_from_mesh * mesh_from_scene)
            .collect();

        Some(PlacementTrack {
            times_secs: self.times.all().collect(),
            moved_from_rest,
        })
    }
}

impl NodeMotion {
    fn push(&mut self, moment: &ufbx::Scene, placed: &PlacedMesh<'_>, skinned: bool) {
        let node = &moment.nodes[placed.node.element.typed_id as usize];
        let scene_from_mesh = affine(&node.geometry_to_world);
        self.scene_from_mesh.push(scene_from_mesh);

        if skinned {
            let mesh = &moment.meshes[placed.mesh.element.typed_id as usize];
            let position = |p: &ufbx::Vec3| {
                if mesh.skinned_is_local {
                    scene_from_mesh.transform_point3(vector(p))
                } else {
                    vector(p)
                }
            };

            self.skinned
                .push(mesh.skinned_position.values.iter().map(position).collect());
        }
    }
}
