//! `BlendShape` prims as targets.

use pliant_mesh::glam::{DAffine3, DVec3, Vec3};
use pliant_rig::{InBetween, Target};

use super::layer::{Property, Value, entry};
use super::mesh::{index_list, prim_error, rest_value};
use super::stage::{Node, Stage};
use crate::ReadError;

/// The blend shapes of a mesh, as targets in the space of the scene.
pub(super) fn read_targets(
    stage: &Stage<'_>,
    index: usize,
    vertices: usize,
    scene_from_mesh: &DAffine3,
) -> Result<Vec<Target>, ReadError> {
    let node = &stage.nodes[index];
    let names = node
        .prim
        .rest("skel:blendShapes")
        .map_or(&[][..], Value::texts);

    let paths = node
        .prim
        .value("skel:blendShapeTargets")
        .map_or(&[][..], Value::texts);

    if names.len() != paths.len() {
        return Err(prim_error(
            node,
            format!("names {} blend shapes but has {}", names.len(), paths.len()),
        ));
    }

    let mut targets = Vec::with_capacity(names.len());
    for (name, path) in names.iter().zip(paths) {
        let Some(shape) = stage.resolve(index, path) else {
            let message = format!("names the blend shape '{path}', which does not exist");
            return Err(prim_error(node, message));
        };
        let shape = BlendShape {
            stage,
            node: &stage.nodes[shape],
            vertices,
            scene_from_mesh,
        };
        targets.push(shape.target(name)?);
    }

    Ok(targets)
}

/// A `BlendShape` prim of a mesh.
struct BlendShape<'a> {
    stage: &'a Stage<'a>,
    node: &'a Node<'a>,
    /// The number of vertices of the mesh.
    vertices: usize,
    scene_from_mesh: &'a DAffine3,
}

impl BlendShape<'_> {
    fn target(&self, name: &str) -> Result<Target, ReadError> {
        let prim = self.node.prim;
        let moved = self.moved_vertices()?;
        let moved = moved.as_deref();
        let (vertices, deltas) = self.displacements("offsets", prim.rest("offsets"), moved)?;

        let mut in_betweens = Vec::new();
        for property in &prim.properties {
            let short = property.name.strip_prefix("inbetweens:");
            if let Some(short) = short.filter(|short| !short.contains(':')) {
                in_betweens.push(self.in_between(property, short, moved)?);
            }
        }
        in_betweens.sort_by(|a, b| a.weight.total_cmp(&b.weight));

        Ok(Target {
            name: name.into(),
            vertices,
            deltas,
            in_betweens,
        })
    }

    /// The vertices that the offsets belong to; `None` if they belong to all vertices.
    fn moved_vertices(&self) -> Result<Option<Vec<u32>>, ReadError> {
        let prim = self.node.prim;
        let indices = prim.rest("pointIndices").and_then(Value::numbers);
        let indices = indices.unwrap_or_default();
        self.stage
            .spend(prim.properties.len() + indices.len(), "the blend shapes")?;

        // An empty list means every vertex.
        if indices.is_empty() {
            return Ok(None);
        }
        match index_list(indices) {
            Some(indices) => Ok(Some(indices)),
            None => Err(prim_error(
                self.node,
                "has pointIndices that are not whole numbers",
            )),
        }
    }

    fn in_between(
        &self,
        property: &Property,
        short: &str,
        moved: Option<&[u32]>,
    ) -> Result<InBetween, ReadError> {
        let weight = entry(&property.metadata, "weight").and_then(Value::number);
        let weight = weight.filter(|w| w.is_finite() && *w != 0.0 && *w != 1.0);
        let Some(weight) = weight else {
            let message =
                format!("has the in-between '{short}' without a weight other than 0 and 1");
            return Err(prim_error(self.node, message));
        };

        let (vertices, deltas) = self.displacements(&property.name, rest_value(property), moved)?;
        let name = entry(&property.metadata, "displayName").and_then(Value::text);
        Ok(InBetween {
            name: name.unwrap_or(short).to_owned(),
            weight,
            vertices,
            deltas,
        })
    }

    /// The displacements of property `what`.
    fn displacements(
        &self,
        what: &str,
        value: Option<&Value>,
        moved: Option<&[u32]>,
    ) -> Result<(Vec<u32>, Vec<Vec3>), ReadError> {
        let offsets = value.and_then(Value::numbers).unwrap_or_default();
        self.stage.spend(2 * offsets.len(), "the blend shapes")?;
        sparse(offsets, moved, self.vertices, self.scene_from_mesh)
            .map_err(|why| prim_error(self.node, format!("has {what} that {why}")))
    }
}

/// The offsets that are not zero, by ascending vertex.
fn sparse(
    offsets: &[f64],
    moved: Option<&[u32]>,
    vertices: usize,
    scene_from_mesh: &DAffine3,
) -> Result<(Vec<u32>, Vec<Vec3>), String> {
    let found = offsets.len() / 3;
    let expected = moved.map_or(vertices, <[u32]>::len);
    if !offsets.is_empty() && (found != expected || !offsets.len().is_multiple_of(3)) {
        return Err(format!("are for {found} vertices instead of {expected}"));
    }

    if let Some(far) = moved.and_then(|moved| moved.iter().find(|&&v| v as usize >= vertices)) {
        return Err(format!(
            "move vertex {far}, but the mesh has {vertices} vertices"
        ));
    }

    let mut all: Vec<(u32, Vec3)> = Vec::with_capacity(found);
    for (k, offset) in offsets.chunks_exact(3).enumerate() {
        let vertex = moved.map_or(k as u32, |moved| moved[k]);
        let delta = scene_from_mesh.transform_vector3(DVec3::from_slice(offset));
        all.push((vertex, delta.as_vec3()));
    }

    // Vertices ascend and occur once; of repeated ones, the first counts.
    all.retain(|(_, d)| *d != Vec3::ZERO);
    all.sort_by_key(|(v, _)| *v);
    all.dedup_by_key(|(v, _)| *v);

    Ok(all.into_iter().unzip())
}
