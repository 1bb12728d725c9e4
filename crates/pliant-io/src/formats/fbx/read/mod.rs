//! Reader of FBX, through the C library `ufbx`.
//!
//! **Source.** ufbx, its documentation; the rules of in-betweens in [`pliant_rig::Rig`].
//!
//! **Departures.** Positions are those of the scene in the units and axes of the file. A clip is an
//! animation stack; its frame 0 is the first of the stack. Weights and joints are sampled at every
//! frame. The neutral of a mesh is its shape at weights zero and in its bind pose, even if the file
//! rests at other weights or in another pose. Meshes with a dual quaternion skin become positions
//! frame by frame. Point caches are read if they are PC2. The node of a skinned mesh does
//! not move it; Maya moves such a mesh a second time where its node has left the bind pose.
//!
//! | module | concept |
//! |---|---|
//! | `mesh` | polygons with their attributes |
//! | `blend_channel` | blend channels → targets |
//! | `skin` | clusters → the bones of each vertex |
//! | `material` | materials and images |
//! | `character` | the skeleton that several meshes share |
//! | `cache` | point caches |
//! | `clip` | animation stacks → clips |
//! | `finite` | numbers that are not finite |
//! | `other_content` | what no field of an asset holds |
//! | `structure` | whether the file is whole |
//! | `node_pose` | the transforms of nodes over time |

mod blend_channel;
mod cache;
mod character;
mod clip;
#[cfg(test)]
mod evaluation_tests;
mod finite;
mod material;
mod mesh;
mod node_pose;
mod other_content;
mod skin;
mod structure;

use pliant_mesh::glam::{DAffine3, DMat3, DVec3};
use pliant_rig::Target;
use ufbx::{AllocatorOpts, CoordinateAxis, ErrorType, FileFormat, LoadOpts};

use self::character::{Character, Characters};
#[cfg(test)]
pub(super) use self::evaluation_tests::files_below;
use self::skin::BoundMesh;
use crate::parse::budget::Budget;
use crate::parse::finite::NotFinite;
use crate::{Asset, FileProvider, Object, ReadError, UpAxis};

/// Chosen: deeper node trees are rejected; real skeletons have a tenth of it.
const GREATEST_DEPTH: u32 = 500;

/// Reads the meshes of a scene with their blend shapes and animations; `files` opens caches.
pub fn read(bytes: &[u8], files: &dyn FileProvider) -> Result<Asset, ReadError> {
    let scene = ufbx::load_memory(bytes, options(bytes.len()))
        .map_err(|error| load_error(&error, bytes))?;
    structure::require_complete(bytes)?;
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

    asset.other_content = other_content::phrases(&scene);
    let not_finite = NotFinite::default();
    finite::check(&scene, &not_finite);
    asset.not_finite = not_finite.into_messages();
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

    Ok(asset)
}

/// Adds every mesh at its node to the asset.
fn read_meshes<'a>(
    scene: &'a ufbx::Scene,
    material_labels: &[String],
    files: &dyn FileProvider,
    budget: &Budget,
    asset: &mut Asset,
) -> Result<PlacedMeshes<'a>, ReadError> {
    let mut meshes = Vec::new();
    let mut bound = Vec::new();
    for node in &scene.nodes {
        let Some(mesh) = &node.mesh else { continue };
        budget.spend(cost(mesh), "the meshes of the nodes")?;
        budget.spend_texts(&label_names(node, mesh), "the labels of the meshes")?;
        let path = path(node);
        budget.spend(path.len(), "the names of the nodes")?;

        let cache = cache::read(mesh, files, &mut asset.warnings);
        let deformation = Deformation::of(node, mesh, cache.is_some(), &mut asset.warnings);
        let skin = match deformation {
            Deformation::Skin(skin) => {
                let warnings = &mut asset.warnings;
                Some(BoundMesh::read(node, mesh, skin, budget, warnings)?)
            }
            _ => None,
        };

        // The bones of a skinned mesh place it in the scene, its own node does not.
        let rest = affine(&node.geometry_to_world);
        let scene_from_mesh = skin.as_ref().map_or(rest, |skin| skin.scene_from_mesh);
        let rig = mesh::read_rig(
            node,
            mesh,
            scene_from_mesh,
            material_labels,
            budget,
            &mut asset.warnings,
        )?;
        let (rig, frames) = blend_channel::without_frames(rig, node)?;
        asset.objects.push(Object {
            path,
            rest_weights: blend_channel::rest_weights(mesh, rig.targets().len()),
            ..Object::new(rig)
        });

        bound.push(skin);
        meshes.push(PlacedMesh {
            node,
            mesh,
            frames,
            cache,
            is_baked: matches!(deformation, Deformation::Baked),
            character: None,
        });
    }

    let characters = character::characters(&bound)?;
    Ok(PlacedMeshes::new(meshes, characters, asset))
}

impl<'a> PlacedMeshes<'a> {
    /// Gives the objects of `asset` their skins.
    fn new(mut meshes: Vec<PlacedMesh<'a>>, characters: Characters<'a>, asset: &mut Asset) -> Self {
        let Characters {
            characters,
            bindings,
        } = characters;
        for (k, binding) in bindings.into_iter().enumerate() {
            let Some((character, binding)) = binding else {
                continue;
            };
            asset.objects[k].skin = Some(binding);
            meshes[k].character = Some(character);
            if !characters[character].rests_as_bound {
                asset.objects[k].rest_joints = characters[character].rest_motions();
                asset.warnings.push(format!(
                    "mesh '{}' rests in another pose than its bind pose; its neutral is the bind pose",
                    asset.objects[k].name()
                ));
            }
        }

        Self { meshes, characters }
    }
}

/// How the points of a mesh move, besides its targets.
enum Deformation<'a> {
    None,
    /// By joints.
    Skin(&'a ufbx::SkinDeformer),
    /// By joints that a skin cannot express: frames of positions.
    Baked,
}

impl<'a> Deformation<'a> {
    fn of(
        node: &ufbx::Node,
        mesh: &'a ufbx::Mesh,
        has_cache: bool,
        warnings: &mut Vec<String>,
    ) -> Self {
        let Some(skin) = skin::deformer(mesh) else {
            return Self::None;
        };

        let name = one_line(&node.element.name);
        if has_cache {
            warnings.push(format!(
                "mesh '{name}' has a point cache, which replaces its skin"
            ));
            return Self::None;
        }
        if skin::is_dual_quaternion(skin) {
            warnings.push(format!(
                "mesh '{name}' has a dual quaternion skin; its clips hold the resulting positions"
            ));
            return Self::Baked;
        }

        Self::Skin(skin)
    }
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

/// The meshes of a scene and the skeletons that they follow.
struct PlacedMeshes<'a> {
    meshes: Vec<PlacedMesh<'a>>,
    characters: Vec<Character<'a>>,
}

/// A mesh at its node.
struct PlacedMesh<'a> {
    node: &'a ufbx::Node,
    mesh: &'a ufbx::Mesh,
    /// Channels that are frames of our own clips.
    frames: Vec<Target>,
    cache: Option<cache::Cache>,
    /// Whether clips hold its positions frame by frame.
    is_baked: bool,
    /// The character whose joints move it.
    character: Option<usize>,
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

/// The names that each node with this mesh repeats.
fn label_names<'a>(node: &'a ufbx::Node, mesh: &'a ufbx::Mesh) -> Vec<&'a str> {
    let materials = node.materials.iter().map(|m| &*m.element.name);
    let groups = mesh.face_groups.iter().map(|group| &*group.name);
    let uvs = mesh.uv_sets.iter().map(|set| &*set.name);
    materials.chain(groups).chain(uvs).collect()
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
