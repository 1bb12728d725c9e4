use std::collections::HashMap;

use pliant_mesh::glam::{DAffine3, DVec3};
use pliant_rig::{Interpolation, Rig, WeightTrack};

use super::layer::{Prim, Value, entry};
use super::mesh::{points, read_mesh, read_targets, shown_name, wrong};
use super::stage::{Stage, Timeline, around, ends};
use super::syntax::parse;
use super::transform;
use super::write::{CLIP_NAME, FILE_INDEX};
use crate::merge::check_file_order;
use crate::{Animation, Asset, Motion, Object, PlacementTrack, ReadError, Shape, UpAxis};

/// Reads the meshes of a layer with their blend shapes and time samples.
pub fn read(bytes: &[u8]) -> Result<Asset, ReadError> {
    let layer = parse(bytes)?;
    let stage = Stage::new(&layer, bytes.len())?;
    let mut asset = Asset {
        problems: unread(&stage),
        ..Asset::default()
    };
    read_space(&stage, &mut asset);
    let mut meshes: Vec<usize> = (0..stage.nodes.len())
        .filter(|&k| stage.nodes[k].prim.kind == "Mesh")
        .collect();
    // Our own files keep the order that objects had before they became a tree.
    meshes.sort_by_key(|&node| {
        file_index(stage.nodes[node].prim).and_then(|index| index.first().copied())
    });
    let mut moving = Vec::new();
    for &node in &meshes {
        stage.spend(transform::cost(&stage, node), "the places of the prims")?;
        let scene_from_mesh = transform::scene_from(&stage, node, None);
        let object = read_object(&stage, node, &scene_from_mesh, &mut asset.problems)?;
        moving.push(Moving::of(&stage, node, scene_from_mesh)?);
        asset.objects.push(object);
    }
    check_file_order(&mut asset.objects);
    if let Some(timeline) = stage.timeline(moving.iter().flat_map(Moving::codes))? {
        let clip = read_clip(
            &stage,
            &asset.objects,
            &moving,
            timeline,
            &mut asset.problems,
        )?;
        asset.clips.push(clip);
    }
    Ok(asset)
}

/// Which way is up and how long a unit is; USD itself takes Y where a layer does not say.
fn read_space(stage: &Stage<'_>, asset: &mut Asset) {
    let said = entry(&stage.layer.metadata, "upAxis").and_then(Value::text);
    match said.map(|said| (said, UpAxis::of(said))) {
        None => {}
        Some((_, Some(axis))) => asset.up_axis = axis,
        Some((said, None)) => asset.problems.push(format!(
            "the up axis '{}' is unknown; Y is assumed",
            said.escape_debug()
        )),
    }
    asset.meters_per_unit = stage
        .number("metersPerUnit")
        .filter(|unit| *unit > 0.0 && unit.is_finite());
}

/// What the layer has beyond what is read here.
fn unread(stage: &Stage<'_>) -> Vec<String> {
    const ARCS: [&str; 4] = ["references", "payload", "inherits", "specializes"];
    let count =
        |which: &dyn Fn(&Prim) -> bool| stage.nodes.iter().filter(|node| which(node.prim)).count();
    let kinds = [
        (
            stage
                .layer
                .metadata
                .iter()
                .filter(|(key, _)| key == "subLayers")
                .count(),
            "list(s) of sublayers are not read",
        ),
        (
            count(&|p| ARCS.iter().any(|arc| entry(&p.metadata, arc).is_some())),
            "prim(s) refer to other prims or files, which are not read",
        ),
        (
            count(&|p| p.varies),
            "prim(s) have variants, which are not read",
        ),
        (
            count(&|p| p.kind == "Mesh" && p.rest("primvars:skel:jointIndices").is_some()),
            "mesh(es) follow joints, which are not applied",
        ),
        (
            count(&|p| p.kind == "PointInstancer"),
            "instancer(s) are not read",
        ),
    ];
    kinds
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect()
}

fn read_object(
    stage: &Stage<'_>,
    index: usize,
    scene_from_mesh: &DAffine3,
    problems: &mut Vec<String>,
) -> Result<Object, ReadError> {
    let node = &stage.nodes[index];
    let mesh = read_mesh(stage, index, scene_from_mesh, problems)?;
    let targets = read_targets(stage, index, mesh.vertex_count(), scene_from_mesh)?;
    let rig =
        Rig::new(mesh, targets).map_err(|error| wrong(node, format!("is not a rig: {error}")))?;
    let mut names: Vec<String> = stage
        .upward(index)
        .map(|k| format!("/{}", shown_name(stage.nodes[k].prim).replace('/', "_")))
        .collect();
    names.reverse();
    let path = names.concat();
    stage.spend(path.len(), "the names of the prims")?;
    Ok(Object {
        path,
        file_index: file_index(node.prim),
        ..Object::new(rig)
    })
}

/// The places of a mesh's vertices in the whole file, where the writer has kept them.
fn file_index(prim: &Prim) -> Option<Vec<u32>> {
    let whole = |&place: &f64| {
        (place >= 0.0 && place < f64::from(u32::MAX) && place.fract() == 0.0)
            .then_some(place as u32)
    };
    prim.value(FILE_INDEX)?
        .numbers()?
        .iter()
        .map(whole)
        .collect()
}

/// What of a mesh may change over time.
struct Moving<'a> {
    node: usize,
    scene_from_mesh: DAffine3,
    points: Option<&'a [(f64, Value)]>,
    weights: Option<Weights<'a>>,
    placements: Vec<f64>,
}

/// The animation of a mesh's blend shapes.
struct Weights<'a> {
    /// For each of the mesh's targets, its place in the animation.
    places: Vec<Option<usize>>,
    /// The weights over time, or one pose.
    samples: Result<&'a [(f64, Value)], &'a Value>,
}

impl<'a> Moving<'a> {
    fn of(stage: &Stage<'a>, node: usize, scene_from_mesh: DAffine3) -> Result<Self, ReadError> {
        let prim = stage.nodes[node].prim;
        // Blend shapes act below a SkelRoot only.
        let deforms = stage
            .upward(node)
            .any(|k| stage.nodes[k].prim.kind == "SkelRoot");
        let weights = if deforms {
            Weights::of(stage, node)?
        } else {
            None
        };
        Ok(Self {
            node,
            scene_from_mesh,
            points: prim.samples("points"),
            weights,
            placements: transform::codes(stage, node),
        })
    }

    /// The first and last time codes of all that moves it.
    fn codes(&self) -> impl Iterator<Item = f64> {
        let points = self.points.into_iter().flat_map(ends);
        let weights = self.weights.iter().flat_map(|w| {
            w.samples
                .into_iter()
                .flat_map(ends)
                .chain(w.samples.err().map(|_| 0.0))
        });
        points.chain(weights).chain(self.placements.iter().copied())
    }
}

impl<'a> Weights<'a> {
    fn of(stage: &Stage<'a>, node: usize) -> Result<Option<Self>, ReadError> {
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
        let places = names
            .iter()
            .map(|name| index_of.get(name.as_str()).copied())
            .collect();
        Ok(Some(Self { places, samples }))
    }

    fn track(&self, stage: &Stage<'_>, timeline: Timeline) -> Result<WeightTrack, ReadError> {
        let key = |value: &Value| {
            let all = value.numbers().unwrap_or_default();
            self.places
                .iter()
                .map(|place| place.and_then(|k| all.get(k).copied()).unwrap_or(0.0))
                .collect()
        };
        let keys = |samples: &[(f64, Value)]| {
            samples
                .iter()
                .map(|(code, value)| (code / timeline.codes_per_second, key(value)))
                .unzip()
        };
        let (times, keys): (Vec<f64>, Vec<Vec<f64>>) = match self.samples {
            Ok(samples) => {
                stage.spend(
                    samples.len().saturating_mul(self.places.len() + 4),
                    "the weights of the blend shapes",
                )?;
                keys(samples)
            }
            Err(pose) => (vec![0.0], vec![key(pose)]),
        };
        Ok(WeightTrack::new(times, keys, Interpolation::Linear)?)
    }
}

fn read_clip(
    stage: &Stage<'_>,
    objects: &[Object],
    moving: &[Moving<'_>],
    timeline: Timeline,
    problems: &mut Vec<String>,
) -> Result<Animation, ReadError> {
    let name = stage
        .nodes
        .iter()
        .filter(|node| node.parent.is_none())
        .find_map(|root| root.prim.value(CLIP_NAME)?.text());
    let mut clip = Animation::new(name.unwrap_or_default(), timeline.frames);
    clip.frames_per_second = timeline.frames_per_second;
    clip.start_secs = timeline.start / timeline.codes_per_second;
    for (k, (object, moving)) in objects.iter().zip(moving).enumerate() {
        let shape = read_shape(stage, object, moving, timeline)?;
        let placement = read_placement(stage, moving, timeline, problems)?;
        if placement.is_some() || !matches!(shape, Shape::Rest) {
            clip.motions.push(Motion {
                placement,
                ..Motion::new(k, shape)
            });
        }
    }
    Ok(clip)
}

fn read_shape(
    stage: &Stage<'_>,
    object: &Object,
    moving: &Moving<'_>,
    timeline: Timeline,
) -> Result<Shape, ReadError> {
    let track = moving
        .weights
        .as_ref()
        .map(|weights| weights.track(stage, timeline))
        .transpose()?;
    let Some(samples) = moving.points else {
        return Ok(track.map_or(Shape::Rest, Shape::Weights));
    };
    let node = &stage.nodes[moving.node];
    let vertices = object.vertex_count();
    let targets = if track.is_some() {
        object.rig.targets().len()
    } else {
        0
    };
    stage.spend(
        timeline.frames.saturating_mul(3 * vertices + targets + 3),
        "the frames of the points",
    )?;
    let sample = |value: &Value| {
        let points = points(node, value, &moving.scene_from_mesh)?;
        let found = points.len();
        if found == vertices {
            Ok(points)
        } else {
            Err(wrong(
                node,
                format!("has {found} points at one time and {vertices} at another"),
            ))
        }
    };
    let frame = |code: f64| -> Result<Vec<DVec3>, ReadError> {
        let (from, to, along) = around(samples, code);
        let mut positions = sample(from)?;
        if along > 0.0 {
            let to = sample(to)?;
            positions
                .iter_mut()
                .zip(to)
                .for_each(|(a, b)| *a = a.lerp(b, along));
        }
        add_targets(
            object,
            track.as_ref(),
            code / timeline.codes_per_second,
            &mut positions,
        );
        Ok(positions)
    };
    Ok(Shape::Points(
        timeline.codes().map(frame).collect::<Result<_, _>>()?,
    ))
}

fn add_targets(
    object: &Object,
    track: Option<&WeightTrack>,
    time_secs: f64,
    positions: &mut [DVec3],
) {
    let Some(track) = track else { return };
    for (target, weight) in object
        .rig
        .targets()
        .iter()
        .zip(track.at(time_secs))
        .filter(|(_, w)| *w != 0.0)
    {
        target.add_to(weight, positions);
    }
}

/// A place for each frame, as operations between keys do not go straight.
fn read_placement(
    stage: &Stage<'_>,
    moving: &Moving<'_>,
    timeline: Timeline,
    problems: &mut Vec<String>,
) -> Result<Option<PlacementTrack>, ReadError> {
    if moving.placements.is_empty() {
        return Ok(None);
    }
    let mesh_from_scene = moving.scene_from_mesh.inverse();
    if !mesh_from_scene.is_finite() {
        problems.push(format!(
            "prim '{}' rests with no size, so that its motion is not read",
            stage.nodes[moving.node].path
        ));
        return Ok(None);
    }
    stage.spend(
        timeline
            .frames
            .saturating_mul(transform::cost(stage, moving.node)),
        "the places of a prim",
    )?;
    let moved_from_rest = timeline
        .codes()
        .map(|code| transform::scene_from(stage, moving.node, Some(code)) * mesh_from_scene)
        .collect();
    let times_secs = timeline
        .codes()
        .map(|code| code / timeline.codes_per_second)
        .collect();
    Ok(Some(PlacementTrack {
        times_secs,
        moved_from_rest,
    }))
}
