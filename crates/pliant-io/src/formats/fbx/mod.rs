//! Reader of FBX, through the C library `ufbx`.
//!
//! **Format.** Objects and connections between them: nodes with transforms, meshes of polygons,
//! blend channels with shapes at full weights, curves that animate their properties, and point
//! caches in other files.
//!
//! **Source.** ufbx, its documentation; the rules of in-betweens in [`pliant_rig::Rig`].
//!
//! **Departures.** Positions are those of the scene in the units and axes of the file. A clip is an
//! animation stack; its frame 0 is the first of the stack. Weights are sampled at every frame.
//! Meshes that a skeleton moves become positions frame by frame. Point caches are read if they are
//! PC2.
//!
//! | module | concept |
//! |---|---|
//! | `material` | materials and images |
//! | `mesh` | polygons with their attributes |
//! | `blend_channel` | blend channels → targets |
//! | `cache` | point caches |
//! | `clip` | animation stacks → clips |

mod blend_channel;
mod cache;
mod clip;
mod material;
mod mesh;
#[cfg(test)]
mod tests;

use pliant_mesh::glam::{DAffine3, DMat3, DVec3};
use ufbx::{AllocatorOpts, CoordinateAxis, ErrorType, FileFormat, LoadOpts};

use crate::parse::budget::Budget;
use crate::{Asset, FileProvider, Object, ReadError, UpAxis};

/// Chosen: deeper node trees are rejected; real skeletons have a tenth of it.
const GREATEST_DEPTH: u32 = 500;

/// Reads the meshes of a scene with their blend shapes and animations; `files` opens caches.
pub fn read(bytes: &[u8], files: &dyn FileProvider) -> Result<Asset, ReadError> {
    let scene = ufbx::load_memory(bytes, options(bytes.len()))
        .map_err(|error| load_error(&error, bytes))?;
    let budget = Budget::of_samples(bytes.len());
    let mut asset = Asset::default();
    read_space(&scene.settings, &mut asset);
    for warning in &scene.metadata.warnings {
        asset.warnings.push(one_line(&format!(
            "{} ({} time(s))",
            &*warning.description,
            warning.count.max(1)
        )));
    }

    let labels = material::labels(&scene);
    material::read_materials(&scene, &labels, files, &mut asset);

    let placed = read_meshes(&scene, &labels, files, &budget, &mut asset)?;
    for stack in &scene.anim_stacks {
        asset.clips.extend(clip::read(
            &scene,
            stack,
            &asset.objects,
            &placed,
            &budget,
            &mut asset.warnings,
        )?);
    }

    // Without a clip, nothing else shows that the file rests at other weights.
    let channels = placed.iter().flat_map(|p| blend_channel::channels(p.mesh));
    let set = channels.filter(|channel| channel.weight != 0.0).count();
    if set > 0 && asset.clips.is_empty() {
        asset.warnings.push(format!(
            "{set} blend channel(s) are not at zero; the meshes are read as if they were"
        ));
    }

    Ok(asset)
}

/// Adds every mesh at its node to the asset.
fn read_meshes<'a>(
    scene: &'a ufbx::Scene,
    material_labels: &[String],
    files: &dyn FileProvider,
    budget: &Budget,
    asset: &mut Asset,
) -> Result<Vec<PlacedMesh<'a>>, ReadError> {
    let mut placed = Vec::new();
    for node in &scene.nodes {
        let Some(mesh) = &node.mesh else { continue };
        budget.spend(cost(mesh), "the meshes of the nodes")?;
        let path = path(node);
        budget.spend(path.len(), "the names of the nodes")?;

        let rig = mesh::read_rig(node, mesh, material_labels, budget, &mut asset.warnings)?;
        asset.objects.push(Object {
            path,
            ..Object::new(rig)
        });
        placed.push(PlacedMesh {
            node,
            mesh,
            cache: cache::read(mesh, files, &mut asset.warnings),
        });
    }

    Ok(placed)
}

/// Reads the up axis and the unit.
fn read_space(settings: &ufbx::SceneSettings, asset: &mut Asset) {
    asset.up_axis = match settings.axes.up {
        CoordinateAxis::PositiveX | CoordinateAxis::NegativeX => UpAxis::X,
        CoordinateAxis::PositiveZ | CoordinateAxis::NegativeZ => UpAxis::Z,
        _ => UpAxis::Y,
    };

    if matches!(
        settings.axes.up,
        CoordinateAxis::NegativeX | CoordinateAxis::NegativeY | CoordinateAxis::NegativeZ
    ) {
        asset.warnings.push(format!(
            "the up axis is the negative {0}; it is read as {0}, so the model is upside down",
            asset.up_axis
        ));
    }

    asset.meters_per_unit =
        Some(settings.unit_meters).filter(|unit| *unit > 0.0 && unit.is_finite());
}

/// A mesh at its node.
struct PlacedMesh<'a> {
    node: &'a ufbx::Node,
    mesh: &'a ufbx::Mesh,
    cache: Option<cache::Cache>,
}

fn options(file_bytes: usize) -> LoadOpts<'static> {
    // Arrays may be compressed, real ones to a tenth; more is a decompression bomb.
    let memory_limit = file_bytes.saturating_mul(100).saturating_add(64 << 20);
    let limited = || AllocatorOpts {
        memory_limit,
        ..AllocatorOpts::default()
    };

    LoadOpts {
        temp_allocator: limited(),
        result_allocator: limited(),
        file_format: FileFormat::Fbx,
        ignore_embedded: false,
        node_depth_limit: GREATEST_DEPTH,
        ..LoadOpts::default()
    }
}

fn load_error(error: &ufbx::Error, bytes: &[u8]) -> ReadError {
    // The library accepts any text as the beginning of a scene.
    let is_text_scene = || {
        [&b"FBXHeaderExtension"[..], b"Objects:"]
            .iter()
            .any(|word| bytes.windows(word.len()).any(|w| w == *word))
    };

    if !bytes.starts_with(b"Kaydara FBX Binary") && !is_text_scene() {
        return ReadError::byte(
            0,
            "the file is not an FBX scene, neither binary nor text; check its ending",
        );
    }

    match error.type_ {
        ErrorType::TruncatedFile => ReadError::byte(
            bytes.len(),
            "the file ends inside the scene; it is cut off, export it again",
        ),
        ErrorType::MemoryLimit => ReadError::whole(
            "the scene needs far more memory than the file has bytes; the file is damaged, export it again",
        ),
        ErrorType::UnsupportedVersion => ReadError::whole(
            "the version of the scene is not supported; export it as FBX 7.4 or later",
        ),
        _ => {
            let why = one_line(&error.description);
            ReadError::whole(format!(
                "not a readable FBX scene ({why}): the file is cut off or damaged; copy it or export it again"
            ))
        }
    }
}

fn one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}

/// About how many numbers a mesh takes.
fn cost(mesh: &ufbx::Mesh) -> usize {
    // Each corner has an index to a vertex, a normal, and a value of every set.
    let corners = mesh
        .num_indices
        .saturating_mul(2 + mesh.uv_sets.len() + mesh.color_sets.len());
    corners
        .saturating_add(mesh.num_vertices.saturating_mul(3))
        .saturating_add(mesh.num_faces)
}

/// The names from the root to the node, as a path.
fn path(node: &ufbx::Node) -> String {
    let mut names = vec![node];
    while let Some(parent) = names[names.len() - 1]
        .parent
        .as_ref()
        .filter(|parent| !parent.is_root)
    {
        names.push(parent);
    }

    names
        .iter()
        .rev()
        .map(|node| format!("/{}", one_line(&node.element.name).replace('/', "_")))
        .collect()
}

fn vector(v: &ufbx::Vec3) -> DVec3 {
    DVec3::new(v.x, v.y, v.z)
}

fn affine(m: &ufbx::Matrix) -> DAffine3 {
    let columns = DMat3::from_cols(
        DVec3::new(m.m00, m.m10, m.m20),
        DVec3::new(m.m01, m.m11, m.m21),
        DVec3::new(m.m02, m.m12, m.m22),
    );
    DAffine3::from_mat3_translation(columns, DVec3::new(m.m03, m.m13, m.m23))
}
