//! Time samples of a USD layer as a clip: points, weights of blend shapes, and transforms.

use std::collections::HashMap;
use std::sync::Arc;

use pliant_mesh::glam::{DAffine3, DVec3};
use pliant_rig::{Interpolation, WeightTrack};

use super::layer::Value;
use super::mesh::{points, prim_error};
use super::skeleton::{SkinnedMesh, is_below_skeletal_root};
use super::stage::{Stage, Timeline, ends, samples_around};
use super::transform;
use super::write::CLIP_NAME;
use crate::{Animation, Motion, Object, PlacementTrack, ReadError, Shape, SkinTrack};

/// Everything of a mesh that changes over time.
pub(super) struct AnimatedMesh<'a> {
    node: usize,
    scene_from_mesh: DAffine3,
    points: Option<&'a [(f64, Value)]>,
    weights: Option<BlendWeights<'a>>,
    /// The time codes of the transforms above it, or of the joints that it follows.
    transform_codes: Vec<f64>,
    skin: Option<SkinnedMesh>,
}

/// The weights of the blend shapes of a mesh.
struct BlendWeights<'a> {
    /// For each target of the mesh, its index in the animation.
    indices: Vec<Option<usize>>,
    /// The weights over time, or else constant weights.
    samples: Result<&'a [(f64, Value)], &'a Value>,
}

impl<'a> AnimatedMesh<'a> {
    pub(super) fn of(
        stage: &Stage<'a>,
        node: usize,
        scene_from_mesh: DAffine3,
        skin: Option<SkinnedMesh>,
    ) -> Result<Self, ReadError> {
        let prim = stage.nodes[node].prim;
        // Blend shapes deform only below a SkelRoot.
        let weights = if is_below_skeletal_root(stage, node) {
            BlendWeights::of(stage, node)?
        } else {
            None
        };

        Ok(Self {
            node,
            scene_from_mesh,
            points: prim.samples("points"),
            weights,
            // The joints of a skinned mesh place it, its own transform does not.
            transform_codes: match &skin {
                Some(skin) => skin.skeleton.codes(stage),
                None => transform::codes(stage, node),
            },
            skin,
        })
    }

    pub(super) fn node(&self) -> usize {
        self.node
    }

    /// Whether it follows joints that rest in another pose than that of its neutral.
    pub(super) fn rests_in_other_pose(&self) -> bool {
        let skin = self.skin.as_ref();
        skin.is_some_and(|skin| skin.skeleton.rests_in_other_pose())
    }

    /// The first and last time codes of everything that moves it.
    pub(super) fn codes(&self) -> impl Iterator<Item = f64> {
        let points = self.points.into_iter().flat_map(ends);
        let weights = self.weights.iter().flat_map(|w| {
            w.samples
                .into_iter()
                .flat_map(ends)
                .chain(w.samples.err().map(|_| 0.0))
        });
        points
            .chain(weights)
            .chain(self.transform_codes.iter().copied())
    }
}

impl<'a> BlendWeights<'a> {
    fn of(stage: &Stage<'a>, node: usize) -> Result<Option<Self>, ReadError> {
        // The animation may be bound to the skeleton or to a parent of the mesh.
        let skeleton = stage.inherited(node, "skel:skeleton");
        let source = |from| stage.inherited(from, "skel:animationSource");
        let Some(animation) = skeleton.and_then(source).or_else(|| source(node)) else {
            return Ok(None);
        };

        let animation = stage.nodes[animation].prim;
        let names = stage.nodes[node]
            .prim
            .rest("skel:blendShapes")
            .map_or(&[][..], Value::texts);
        let known = animation.rest("blendShapes").map_or(&[][..], Value::texts);

        let weights = animation
            .samples("blendShapeWeights")
            .map(Ok)
            .or_else(|| animation.value("blendShapeWeights").map(Err));
        let Some(samples) = weights.filter(|_| !names.is_empty()) else {
            return Ok(None);
        };

        stage.spend(known.len(), "the names of the blend shapes")?;
        let index_of: HashMap<&str, usize> = known.iter().map(String::as_str).zip(0..).collect();
        let indices = names
            .iter()
            .map(|name| index_of.get(name.as_str()).copied())
            .collect();

        Ok(Some(Self { indices, samples }))
    }

    fn track(&self, stage: &Stage<'_>, timeline: Timeline) -> Result<WeightTrack, ReadError> {
        let mut times = Vec::new();
        let mut keys = Vec::new();
        match self.samples {
            Ok(samples) => {
                stage.spend(
                    samples.len().saturating_mul(self.indices.len() + 4),
                    "the weights of the blend shapes",
                )?;
                for (code, value) in samples {
                    times.push(code / timeline.codes_per_second);
                    keys.push(self.key(value));
                }
            }
            Err(constant) => {
                times.push(0.0);
                keys.push(self.key(constant));
            }
        }

        Ok(WeightTrack::new(times, keys, Interpolation::Linear)?)
    }

    /// The weights of the targets in one sample; zero for targets that it does not name.
    fn key(&self, value: &Value) -> Vec<f64> {
        let all = value.numbers().unwrap_or_default();
        let weight = |index: Option<usize>| index.and_then(|k| all.get(k).copied());
        self.indices
            .iter()
            .map(|&index| weight(index).unwrap_or(0.0))
            .collect()
    }
}

/// The clip of all animated meshes.
pub(super) fn read_clip(
    stage: &Stage<'_>,
    objects: &[Object],
    animated: &[AnimatedMesh<'_>],
    timeline: Timeline,
    warnings: &mut Vec<String>,
) -> Result<Animation, ReadError> {
    let name = stage
        .nodes
        .iter()
        .filter(|node| node.parent.is_none())
        .find_map(|root| root.prim.value(CLIP_NAME)?.text());
    let mut clip = Animation::new(name.unwrap_or_default(), timeline.frames);
    clip.frames_per_second = timeline.frames_per_second;
    clip.start_secs = timeline.start / timeline.codes_per_second;

    // Objects that share a skeleton share the motions of its joints.
    let mut joint_motions = HashMap::new();
    for (k, (object, animated)) in objects.iter().zip(animated).enumerate() {
        let shape = read_shape(stage, object, animated, timeline, warnings)?;
        let placement = read_placement(stage, animated, timeline, warnings)?;
        let skin = read_joint_motions(stage, animated, timeline, &mut joint_motions)?;
        if placement.is_some() || skin.is_some() || !matches!(shape, Shape::Rest) {
            clip.motions.push(Motion {
                placement,
                skin,
                ..Motion::new(k, shape)
            });
        }
    }

    Ok(clip)
}

/// The motions of the joints that a mesh follows; `None` if they rest in the bind pose.
fn read_joint_motions(
    stage: &Stage<'_>,
    animated: &AnimatedMesh<'_>,
    timeline: Timeline,
    known: &mut HashMap<usize, Arc<Vec<Vec<DAffine3>>>>,
) -> Result<Option<SkinTrack>, ReadError> {
    let Some(skin) = &animated.skin else {
        return Ok(None);
    };
    let skeleton = &skin.skeleton;
    if animated.transform_codes.is_empty() && !skeleton.rests_in_other_pose() {
        return Ok(None);
    }

    let motions = match known.get(&skeleton.node()) {
        Some(motions) => Arc::clone(motions),
        None => Arc::new(skeleton.motions(stage, timeline)?),
    };
    known.insert(skeleton.node(), Arc::clone(&motions));
    Ok(Some(SkinTrack {
        binding: skin.binding.clone(),
        motions,
    }))
}

fn read_shape(
    stage: &Stage<'_>,
    object: &Object,
    animated: &AnimatedMesh<'_>,
    timeline: Timeline,
    warnings: &mut Vec<String>,
) -> Result<Shape, ReadError> {
    let track = match &animated.weights {
        Some(weights) => Some(weights.track(stage, timeline)?),
        None => None,
    };
    let Some(samples) = animated.points else {
        return Ok(track.map_or(Shape::Rest, Shape::Weights));
    };

    // A clip has one topology.
    let vertices = object.vertex_count();
    let count = |value: &Value| value.numbers().map_or(0, |numbers| numbers.len() / 3);
    let other = samples
        .iter()
        .map(|(_, value)| count(value))
        .find(|n| *n != vertices);
    if let Some(other) = other {
        warnings.push(format!(
            "prim '{}' has {vertices} points at one time and {other} at another; only the first are read",
            stage.nodes[animated.node].path
        ));
        return Ok(track.map_or(Shape::Rest, Shape::Weights));
    }

    let targets = track.as_ref().map_or(0, |_| object.rig.targets().len());
    let numbers_per_frame = 3 * object.vertex_count() + targets + 3;
    stage.spend(
        timeline.frames.saturating_mul(numbers_per_frame),
        "the frames of the points",
    )?;

    // USD adds blend shapes to the points of the time.
    let mut frames = Vec::with_capacity(timeline.frames);
    for code in timeline.codes() {
        let (from, to, along) = samples_around(samples, code);
        let mut positions = sample_points(stage, object, animated, from)?;
        if along > 0.0 {
            let to = sample_points(stage, object, animated, to)?;
            for (position, to) in positions.iter_mut().zip(to) {
                *position = position.lerp(to, along);
            }
        }

        let time_secs = code / timeline.codes_per_second;
        add_targets(object, track.as_ref(), time_secs, &mut positions);
        frames.push(positions);
    }

    Ok(Shape::Points(frames))
}

/// The points of a time sample, as many as the mesh has at rest.
fn sample_points(
    stage: &Stage<'_>,
    object: &Object,
    animated: &AnimatedMesh<'_>,
    value: &Value,
) -> Result<Vec<DVec3>, ReadError> {
    let node = &stage.nodes[animated.node];
    let points = points(node, value, &animated.scene_from_mesh)?;
    let found = points.len();
    let vertices = object.vertex_count();
    if found == vertices {
        Ok(points)
    } else {
        Err(prim_error(
            node,
            format!("has {found} points at one time and {vertices} at another"),
        ))
    }
}

fn add_targets(
    object: &Object,
    track: Option<&WeightTrack>,
    time_secs: f64,
    positions: &mut [DVec3],
) {
    let Some(track) = track else { return };
    for (target, weight) in object.rig.targets().iter().zip(track.at(time_secs)) {
        if weight != 0.0 {
            target.add_to(weight, positions);
        }
    }
}

/// The transform of each frame. Between keys, transform operations are not linear.
fn read_placement(
    stage: &Stage<'_>,
    animated: &AnimatedMesh<'_>,
    timeline: Timeline,
    warnings: &mut Vec<String>,
) -> Result<Option<PlacementTrack>, ReadError> {
    if animated.transform_codes.is_empty() || animated.skin.is_some() {
        return Ok(None);
    }

    let mesh_from_scene = animated.scene_from_mesh.inverse();
    if !mesh_from_scene.is_finite() {
        warnings.push(format!(
            "prim '{}' is scaled to zero at rest, so that its motion is not read",
            stage.nodes[animated.node].path
        ));
        return Ok(None);
    }

    let cost = transform::cost(stage, animated.node);
    stage.spend(
        timeline.frames.saturating_mul(cost),
        "the transforms of a prim",
    )?;

    let mut times_secs = Vec::with_capacity(timeline.frames);
    let mut moved_from_rest = Vec::with_capacity(timeline.frames);
    for code in timeline.codes() {
        let scene_from_mesh = transform::scene_from(stage, animated.node, Some(code));
        times_secs.push(code / timeline.codes_per_second);
        moved_from_rest.push(scene_from_mesh * mesh_from_scene);
    }

    Ok(Some(PlacementTrack {
        times_secs,
        moved_from_rest,
    }))
}
