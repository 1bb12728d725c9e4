//! Reader of an Alembic archive: its meshes and its clip.

use pliant_rig::Rig;

use super::archive::Archive;
use super::clip::{ClipReader, Timeline};
use super::mesh::{MeshReader, mesh_error};
use super::scene::{Scene, SceneMesh};
use super::transform::transform_points;
use crate::asset::check_file_order;
use crate::{Asset, Object, ReadError};

/// Reads the meshes of an archive with their samples over time.
pub fn read(bytes: &[u8]) -> Result<Asset, ReadError> {
    let archive = Archive::open(bytes)?;
    let scene = Scene::of(&archive)?;
    let mut asset = Asset {
        warnings: scene.warnings().collect(),
        other_content: scene.warnings().collect(),
        ..Asset::default()
    };

    let timeline = Timeline::of(&archive, &scene, &mut asset.warnings)?;
    let mut read = Vec::with_capacity(scene.meshes.len());
    for (k, mesh) in scene.meshes.iter().enumerate() {
        let object = read_object(&archive, &scene, mesh, timeline, &mut asset.warnings)?;
        read.extend(object.map(|object| (k, object)));
    }

    // Our own files store the order that the objects had before they became a tree.
    read.sort_by_key(|(_, object)| {
        let index = object.file_index.as_ref();
        index.and_then(|index| index.first().copied())
    });
    let (of_object, objects): (Vec<usize>, Vec<Object>) = read.into_iter().unzip();
    asset.objects = objects;
    check_file_order(&mut asset.objects);

    if let Some(timeline) = timeline {
        let reader = ClipReader {
            archive: &archive,
            scene: &scene,
            timeline,
        };
        let vertices: Vec<usize> = asset.objects.iter().map(Object::vertex_count).collect();
        let clip = reader.read(&of_object, &vertices, &mut asset.warnings)?;
        asset.clips.push(clip);
    }
    asset.not_finite = archive.not_finite.into_messages();
    Ok(asset)
}

/// A mesh at the first frame; `None` if it has no points, with a warning.
fn read_object<'a>(
    archive: &Archive<'a>,
    scene: &Scene<'a>,
    mesh: &SceneMesh<'a>,
    timeline: Option<Timeline>,
    warnings: &mut Vec<String>,
) -> Result<Option<Object>, ReadError> {
    let Some(points) = mesh.positions() else {
        warnings.push(format!(
            "object '{}' has no points and is not read",
            mesh.path
        ));
        return Ok(None);
    };

    let depth = scene.transforms.depth(mesh.transform);
    archive
        .budget
        .spend(mesh.path.len() / 4 + depth, "the names of the objects")?;
    let time = timeline.map(|timeline| timeline.start_secs);
    let reader = MeshReader {
        archive,
        mesh,
        time,
        scene_from_mesh: mesh.scene_from_mesh(&scene.transforms, time),
    };

    let own = points.points(archive, reader.sample_of(points)?)?;
    let vertices = own.len();
    let rest = reader.rest_pose()?;
    require_count(
        mesh,
        "a rest pose of",
        rest.as_ref().map(Vec::len),
        vertices,
    )?;
    let mut positions = rest.unwrap_or(own);
    transform_points(&mut positions, &reader.scene_from_mesh);

    let file_index = reader.file_index()?;
    let indices = file_index.as_ref().map(Vec::len);
    require_count(mesh, "a vertex order of", indices, vertices)?;

    let rig = Rig::without_targets(reader.read(positions, warnings)?);
    Ok(Some(Object {
        path: mesh.path.clone(),
        file_index,
        ..Object::new(rig)
    }))
}

/// Rejects something that has not as many entries as the mesh has vertices.
fn require_count(
    mesh: &SceneMesh<'_>,
    what: &str,
    found: Option<usize>,
    vertices: usize,
) -> Result<(), ReadError> {
    match found {
        Some(found) if found != vertices => Err(mesh_error(
            mesh,
            format!("has {what} {found} vertices, but {vertices} points; export it again"),
        )),
        _ => Ok(()),
    }
}
