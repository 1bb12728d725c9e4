//! Animation stacks, sampled at every frame.

use std::collections::HashSet;

use pliant_mesh::glam::{DAffine3, DVec3};
use pliant_rig::{Interpolation, WeightTrack};
use ufbx::EvaluateOpts;

use super::{Placed, affine, mesh, one_line, vector};
use crate::budget::Budget;
use crate::{Animation, Motion, Object, PlacementTrack, ReadError, Shape};

/// Longer clips are declined: over an hour at 24 frames a second.
const MOST_FRAMES: f64 = 1e5;

/// The clip of a stack; none where nothing moves.
pub(super) fn read(
    scene: &ufbx::Scene,
    stack: &ufbx::AnimStack,
    objects: &[Object],
    placed: &[Placed<'_>],
    budget: &Budget,
    problems: &mut Vec<String>,
) -> Result<Option<Animation>, ReadError> {
    let name = one_line(&stack.element.name);
    let Some(times) = Times::of(scene, stack) else {
        if stack.time_begin == stack.time_end && key_range(stack).is_none() {
            return Ok(None);
        }
        problems.push(format!(
            "clip '{name}' from {} to {} s is not read",
            stack.time_begin, stack.time_end
        ));
        return Ok(None);
    };
    let mut reader = Reader {
        scene,
        stack,
        times,
        budget,
        animated: animated(stack),
    };
    let mut clip = Animation::new(name, reader.times.frames);
    (clip.frames_per_second, clip.start_secs) = (reader.times.per_second, reader.times.begin);
    let posed = reader.posed_scene(placed, problems)?;
    for (k, (object, placed)) in objects.iter().zip(placed).enumerate() {
        let posed = posed.as_ref().map(|objects| &objects[k]);
        let motion = reader.motion(k, object, placed, posed, problems)?;
        clip.motions.extend(motion);
    }
    Ok((!clip.motions.is_empty()).then_some(clip))
}

/// The frames of a stack.
#[derive(Clone, Copy)]
struct Times {
    begin: f64,
    per_second: f64,
    frames: usize,
}

impl Times {
    fn of(scene: &ufbx::Scene, stack: &ufbx::AnimStack) -> Option<Self> {
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

/// From the first key of a stack to its last: some files give it no range of its own.
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

struct Reader<'a> {
    scene: &'a ufbx::Scene,
    stack: &'a ufbx::AnimStack,
    times: Times,
    budget: &'a Budget,
    animated: HashSet<u32>,
}

/// What the nodes do to one mesh, frame by frame.
#[derive(Default)]
struct Posed {
    scene_from_mesh: Vec<DAffine3>,
    skinned: Vec<Vec<DVec3>>,
}

impl Reader<'_> {
    fn node_moves(&self, node: &ufbx::Node) -> bool {
        std::iter::successors(Some(node), |node| node.parent.as_deref())
            .any(|node| self.animated.contains(&node.element.element_id))
    }

    /// A skeleton moves the mesh; which of its bones does not matter.
    fn skin_moves(&self, mesh: &ufbx::Mesh) -> bool {
        !mesh.skin_deformers.is_empty()
            && self
                .scene
                .nodes
                .iter()
                .any(|node| self.animated.contains(&node.element.element_id))
    }

    /// Every frame of the whole scene, where nodes move; nothing where that is too much.
    fn posed_scene(
        &mut self,
        placed: &[Placed<'_>],
        problems: &mut Vec<String>,
    ) -> Result<Option<Vec<Posed>>, ReadError> {
        let skinned: Vec<bool> = placed.iter().map(|p| self.skin_moves(p.mesh)).collect();
        if !skinned.contains(&true) && !placed.iter().any(|p| self.node_moves(p.node)) {
            return Ok(None);
        }
        let points: usize = placed
            .iter()
            .zip(&skinned)
            .filter(|(_, skinned)| **skinned)
            .map(|(p, _)| 3 * p.mesh.num_vertices)
            .sum();
        // Posing an element takes as long as many numbers.
        let per_frame = points
            .saturating_add(8 * self.scene.elements.len())
            .saturating_add(12 * placed.len());
        if !self
            .budget
            .try_spend(self.times.frames.saturating_mul(per_frame))
        {
            problems.push(format!(
                "the motion of nodes in clip '{}' is too long to be read",
                one_line(&self.stack.element.name)
            ));
            return Ok(None);
        }
        let mut posed: Vec<Posed> = placed.iter().map(|_| Posed::default()).collect();
        for time in self.times.all() {
            let options = EvaluateOpts {
                evaluate_skinning: points > 0,
                ..EvaluateOpts::default()
            };
            let moment = ufbx::evaluate_scene(self.scene, &self.stack.anim, time, options);
            let moment = moment.map_err(|error| {
                ReadError::whole(format!(
                    "the scene at {time} s cannot be posed ({})",
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
        placed: &Placed<'_>,
        posed: Option<&Posed>,
        problems: &mut Vec<String>,
    ) -> Result<Option<Motion>, ReadError> {
        let rest = affine(&placed.node.geometry_to_world);
        if let Some(posed) = posed.filter(|posed| !posed.skinned.is_empty()) {
            return Ok(Some(Motion::new(
                index,
                Shape::Points(posed.skinned.clone()),
            )));
        }
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
            Some(posed) => self.placement(posed, &rest, object, problems),
            None => None,
        };
        let moves = placement.is_some() || !matches!(shape, Shape::Rest);
        Ok(moves.then_some(Motion {
            placement,
            ..Motion::new(index, shape)
        }))
    }

    fn weights(&self, object: &Object, placed: &Placed<'_>) -> Result<Shape, ReadError> {
        let channels: Vec<_> = mesh::channels(placed.mesh).collect();
        debug_assert_eq!(
            channels.len(),
            object.rig.targets().len(),
            "a target per channel"
        );
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
        posed: &Posed,
        rest: &DAffine3,
        object: &Object,
        problems: &mut Vec<String>,
    ) -> Option<PlacementTrack> {
        let mesh_from_scene = rest.inverse();
        if !mesh_from_scene.is_finite() {
            problems.push(format!(
                "mesh '{}' rests with no size, so that its motion is not read",
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

impl Posed {
    fn push(&mut self, moment: &ufbx::Scene, placed: &Placed<'_>, skinned: bool) {
        let node = &moment.nodes[placed.node.element.typed_id as usize];
        let scene_from_mesh = affine(&node.geometry_to_world);
        self.scene_from_mesh.push(scene_from_mesh);
        if skinned {
            let mesh = &moment.meshes[placed.mesh.element.typed_id as usize];
            let place = |p: &ufbx::Vec3| {
                if mesh.skinned_is_local {
                    scene_from_mesh.transform_point3(vector(p))
                } else {
                    vector(p)
                }
            };
            self.skinned
                .push(mesh.skinned_position.values.iter().map(place).collect());
        }
    }
}
