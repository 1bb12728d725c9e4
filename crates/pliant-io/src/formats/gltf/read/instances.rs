//! The places at which the scene shows a mesh.
//!
//! **Problem.** Several nodes may show one mesh, and `EXT_mesh_gpu_instancing` shows the mesh of a
//! node many times. An asset has an object for each of them.
//!
//! **Method.** Objects are the meshes at their first places, in the order of the meshes; then all
//! further places. So the vertex numbers of a file do not depend on how often it shows a mesh.
//!
//! **Departures.** A mesh is read at its first place only if all places together would need more than
//! [`MOST_NUMBERS`]; a warning says so.

use pliant_mesh::glam::{DAffine3, DQuat, DVec3};

use super::accessor::Source;
use super::nodes::{NodeTree, unit_rotation};
use crate::ReadError;
use crate::gltf::document::{InstanceTable, Mesh};

/// Chosen: 240 MB in double precision, for all further places of the meshes of a file.
const MOST_NUMBERS: usize = 30_000_000;

/// Where the scene shows a mesh.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::formats::gltf) struct Instance {
    pub(in crate::formats::gltf) node: usize,
    /// The number and the transform of one of several instances at this node.
    pub(super) of_node: Option<(usize, DAffine3)>,
}

/// The places of each mesh.
pub(super) fn of_meshes(
    source: &Source<'_>,
    nodes: &NodeTree<'_>,
    warnings: &mut Vec<String>,
) -> Result<Vec<Vec<Instance>>, ReadError> {
    let meshes = &source.document.meshes;
    let mut all = vec![Vec::new(); meshes.len()];
    for (k, node) in nodes.nodes.iter().enumerate() {
        let Some(mesh) = node.mesh else { continue };
        let count = meshes.len();
        let Some(places) = all.get_mut(mesh) else {
            return Err(ReadError::whole(format!(
                "node {k} shows mesh {mesh}, but there are {count} meshes; export the file again"
            )));
        };

        match &node.extensions.instances {
            Some(table) => places.extend(of_table(source, k, table)?),
            None => places.push(Instance {
                node: k,
                of_node: None,
            }),
        }
    }

    let mut left = MOST_NUMBERS;
    for (mesh, places) in meshes.iter().zip(&mut all) {
        let further = places.len().saturating_sub(1);
        let numbers = numbers(source, mesh).saturating_mul(further);
        match left.checked_sub(numbers) {
            Some(rest) => {
                left = rest;
                source.buffers.budget.grow(numbers);
            }
            None => {
                warnings.push(format!(
                    "mesh '{}' is shown {} times and was read at the first place only, because all together need too much memory",
                    mesh.name.as_deref().unwrap_or_default(),
                    places.len()
                ));
                places.truncate(1);
            }
        }
    }

    Ok(all)
}

/// The instances at one node. The table multiplies the transform of the node from the right.
fn of_table(
    source: &Source<'_>,
    node: usize,
    table: &InstanceTable,
) -> Result<Vec<Instance>, ReadError> {
    let in_node = |error: ReadError| ReadError {
        message: format!("the instances of node {node}: {}", error.message),
        ..error
    };
    let accessor = |name: &str| table.attributes.get(name).copied();
    let vectors = |name: &str| match accessor(name) {
        Some(index) => source.vectors::<3>(index, &["VEC3"]).map_err(in_node),
        None => Ok(Vec::new()),
    };

    let translations = vectors("TRANSLATION")?;
    let scales = vectors("SCALE")?;
    let rotations = match accessor("ROTATION") {
        Some(index) => source.vectors::<4>(index, &["VEC4"]).map_err(in_node)?,
        None => Vec::new(),
    };

    let lengths = [translations.len(), scales.len(), rotations.len()];
    let count = lengths.into_iter().max().unwrap_or(0);
    if lengths.into_iter().any(|n| n != 0 && n != count) {
        return Err(in_node(ReadError::whole(
            "their attributes have different lengths; export the file again",
        )));
    }

    let vector = |list: &[[f32; 3]], k: usize, default: DVec3| {
        let own = list.get(k).map(|v| DVec3::from_array(v.map(f64::from)));
        own.unwrap_or(default)
    };
    let instances = (0..count).map(|k| {
        let rotation = rotations
            .get(k)
            .map(|q| DQuat::from_array(q.map(f64::from)));
        let transform = DAffine3::from_scale_rotation_translation(
            vector(&scales, k, DVec3::ONE),
            unit_rotation(rotation.unwrap_or(DQuat::IDENTITY)),
            vector(&translations, k, DVec3::ZERO),
        );
        Instance {
            node,
            of_node: Some((k, transform)),
        }
    });
    Ok(instances.collect())
}

/// About how many numbers an object of this mesh takes.
fn numbers(source: &Source<'_>, mesh: &Mesh) -> usize {
    let count = |accessor: Option<usize>| {
        let known = accessor.and_then(|k| source.document.accessors.get(k));
        known.map_or(0, |accessor| accessor.count)
    };
    let mut numbers: usize = 0;
    for primitive in &mesh.primitives {
        let vertices = count(primitive.attributes.get("POSITION").copied());
        let of_vertex = 16 + 6 * primitive.targets.len();
        let indices = count(primitive.indices);
        let own = vertices.saturating_mul(of_vertex).saturating_add(indices);
        numbers = numbers.saturating_add(own);
    }
    numbers
}
