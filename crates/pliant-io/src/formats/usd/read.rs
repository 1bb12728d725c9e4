//! Reader of a USD layer: its meshes and its clip.

use pliant_mesh::glam::DAffine3;
use pliant_rig::Rig;

use super::archive::{self, Archive};
use super::blend_shape::read_targets;
use super::clip::{AnimatedMesh, read_clip};
use super::composition::compose;
use super::layer::{Layer, Prim, Value, entry};
use super::material::read_materials;
use super::mesh::{display_name, prim_error, read_mesh};
use super::skeleton::Skeletons;
use super::stage::{Node, Stage};
use super::write::{ADDED_ROOT, FILE_INDEX};
use super::{binary, finite, other_content, syntax, transform};
use crate::asset::check_file_order;
use crate::parse::finite::NotFinite;
use crate::{Asset, FileProvider, NoFiles, Object, ReadError, UpAxis};

/// The unit of a layer that names none, in metres.
const CENTIMETRE: f64 = 0.01;

/// Reads a layer or an archive without the files to which it refers.
pub fn read(bytes: &[u8]) -> Result<Asset, ReadError> {
    read_document(bytes, &NoFiles)
}

/// Reads the meshes of a layer or an archive with their blend shapes and time samples. Layers to
/// which it refers come from `files`.
pub(crate) fn read_document(bytes: &[u8], files: &dyn FileProvider) -> Result<Asset, ReadError> {
    if !bytes.starts_with(archive::MAGIC) {
        return read_scene(bytes, "", files);
    }

    // An archive refers to files in it only.
    let archive = Archive::open(bytes)?;
    let path = archive.root()?;
    let folder = path.rfind('/').map_or("", |end| &path[..=end]);
    let Some(root) = archive.entry(path) else {
        return Ok(Asset::default());
    };
    let mut asset = read_scene(root?, folder, &archive)?;
    // Its images are in the archive, not in files.
    for image in &mut asset.images {
        image.uri.clear();
    }
    Ok(asset)
}

fn read_scene(bytes: &[u8], folder: &str, files: &dyn FileProvider) -> Result<Asset, ReadError> {
    let composed = compose(parse_layer(bytes)?, folder, bytes.len(), files)?;
    let stage = Stage::new(&composed.layer, composed.bytes)?;
    let mut asset = Asset {
        warnings: composed.warnings,
        other_content: other_content::phrases(&stage),
        ..Asset::default()
    };
    asset.warnings.extend(unread_content(&stage));
    let not_finite = NotFinite::default();
    finite::check(&stage, &not_finite);
    asset.not_finite = not_finite.into_messages();

    read_space(&stage, &mut asset);
    let mut meshes: Vec<usize> = (0..stage.nodes.len())
        .filter(|&k| stage.nodes[k].prim.kind == "Mesh")
        .collect();

    // A layer that is not read may leave them out.
    meshes.retain(|&node| {
        let Node { path, prim, .. } = &stage.nodes[node];
        let has_points = prim.rest("points").is_some();
        if !has_points {
            let what = format!("prim '{path}' is a mesh without points; it is not read");
            asset.warnings.push(what);
        }
        has_points
    });

    // Our own files store the order that the objects had before they became a tree.
    meshes.sort_by_key(|&node| {
        file_index(stage.nodes[node].prim).and_then(|index| index.first().copied())
    });

    // One broken mesh does not hide the others.
    let mut failure = None;
    let mut animated = Vec::new();
    let mut skeletons = Skeletons::default();
    for &node in &meshes {
        stage.spend(transform::cost(&stage, node), "the transforms of the prims")?;
        let points = stage.nodes[node]
            .prim
            .rest("points")
            .and_then(Value::numbers);
        let vertices = points.map_or(0, |points| points.len() / 3);
        let skin = skeletons.skin_of(&stage, node, vertices, &mut asset.warnings)?;
        let scene_from_mesh = match &skin {
            Some(skin) => skin.scene_from_mesh,
            None => transform::scene_from(&stage, node, None),
        };

        let mut object = match read_object(&stage, node, &scene_from_mesh, &mut asset.warnings) {
            Ok(object) => object,
            Err(error) => {
                asset
                    .warnings
                    .push(format!("{}; it is not read", error.message));
                failure.get_or_insert(error);
                continue;
            }
        };
        object.skin = skin.as_ref().map(|skin| skin.binding.clone());
        animated.push(AnimatedMesh::of(&stage, node, scene_from_mesh, skin)?);
        asset.objects.push(object);
    }

    if let Some(error) = failure.filter(|_| asset.objects.is_empty()) {
        return Err(error);
    }
    check_file_order(&mut asset.objects);
    let labels = &stage.material_labels;
    read_materials(&stage, labels, &composed.folder, files, &mut asset);
    if let Some(timeline) = stage.timeline(animated.iter().flat_map(AnimatedMesh::codes))? {
        let clip = read_clip(
            &stage,
            &asset.objects,
            &animated,
            timeline,
            &mut asset.warnings,
        )?;
        asset.clips.push(clip);
    } else {
        warn_about_rest_poses(&stage, &animated, &mut asset.warnings);
    }

    Ok(asset)
}

/// Without a clip, nothing shows the pose in which a skeleton rests.
fn warn_about_rest_poses(
    stage: &Stage<'_>,
    animated: &[AnimatedMesh<'_>],
    warnings: &mut Vec<String>,
) {
    for mesh in animated {
        if mesh.rests_in_other_pose() {
            warnings.push(format!(
                "mesh '{}' rests in another pose than its bind pose; its neutral is the bind pose",
                stage.nodes[mesh.node()].path
            ));
        }
    }
}

/// Parses a layer, as text or binary by its content.
pub(super) fn parse_layer(bytes: &[u8]) -> Result<Layer, ReadError> {
    if bytes.starts_with(binary::MAGIC) {
        binary::parse(bytes)
    } else {
        syntax::parse(bytes)
    }
}

/// Reads the up axis and the unit. The default of USD is Y.
fn read_space(stage: &Stage<'_>, asset: &mut Asset) {
    let named = entry(&stage.layer.metadata, "upAxis").and_then(Value::text);
    if let Some(named) = named {
        match UpAxis::of(named) {
            Some(axis) => asset.up_axis = axis,
            None => asset.warnings.push(format!(
                "the up axis '{}' is unknown; Y is assumed",
                named.escape_debug()
            )),
        }
    }

    // OpenUSD: a layer without a unit is in centimetres.
    let unit = stage.number("metersPerUnit").unwrap_or(CENTIMETRE);
    let is_length = unit > 0.0 && unit.is_finite();
    if !is_length {
        asset.warnings.push(format!(
            "a unit of {unit} metres is no length; centimetres are assumed"
        ));
    }
    asset.meters_per_unit = Some(if is_length { unit } else { CENTIMETRE });
}

/// Warnings about the content of the scene that is not read.
fn unread_content(stage: &Stage<'_>) -> Option<String> {
    let prims = stage.nodes.iter().map(|node| node.prim);
    let instancers = prims.filter(|prim| prim.kind == "PointInstancer").count();
    (instancers > 0).then(|| format!("{instancers} instancer(s) are not read"))
}

fn read_object(
    stage: &Stage<'_>,
    index: usize,
    scene_from_mesh: &DAffine3,
    warnings: &mut Vec<String>,
) -> Result<Object, ReadError> {
    let node = &stage.nodes[index];
    // References may show one mesh many times.
    let numbers = |name| {
        node.prim
            .rest(name)
            .and_then(Value::numbers)
            .map_or(0, <[f64]>::len)
    };
    stage.spend(
        numbers("points") + numbers("faceVertexIndices") + numbers("faceVertexCounts"),
        "the meshes",
    )?;
    let mesh = read_mesh(stage, index, scene_from_mesh, warnings)?;
    let targets = read_targets(stage, index, mesh.vertex_count(), scene_from_mesh)?;
    let rig = Rig::new(mesh, targets)
        .map_err(|error| prim_error(node, format!("is not a rig: {error}")))?;
    let mut names: Vec<String> = stage
        .ancestors(index)
        .filter(|&k| stage.nodes[k].prim.value(ADDED_ROOT).is_none())
        .map(|k| format!("/{}", display_name(stage.nodes[k].prim).replace('/', "_")))
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

/// The indices of the vertices of a mesh in the order of the whole file, if our own writer stored
/// them.
fn file_index(prim: &Prim) -> Option<Vec<u32>> {
    let numbers = prim.value(FILE_INDEX)?.numbers()?;
    let mut indices = Vec::with_capacity(numbers.len());
    for &number in numbers {
        if !(number >= 0.0 && number < f64::from(u32::MAX) && number.fract() == 0.0) {
            return None;
        }
        indices.push(number as u32);
    }

    Some(indices)
}
