//! FBX meshes: polygons and their attributes.

use pliant_mesh::glam::{DAffine3, DVec2, DVec3, DVec4};
use pliant_mesh::{CornerLayer, FaceLabels, MeshBuilder, VertexLayer};
use pliant_rig::Rig;

use super::blend_channel::read_targets;
use super::{affine, one_line, vector};
use crate::ReadError;
use crate::parse::budget::Budget;

/// The mesh at its node, with the targets of its blend channels.
pub(super) fn read_rig(
    node: &ufbx::Node,
    mesh: &ufbx::Mesh,
    material_labels: &[String],
    budget: &Budget,
    warnings: &mut Vec<String>,
) -> Result<Rig, ReadError> {
    let scene_from_mesh = affine(&node.geometry_to_world);
    let faces = Faces::of(mesh);
    let mut builder = MeshBuilder {
        name: one_line(&node.element.name),
        positions: mesh
            .vertices
            .iter()
            .map(|v| scene_from_mesh.transform_point3(vector(v)))
            .collect(),
        face_sizes: faces.sizes(),
        corners: faces.pick(&mesh.vertex_indices).unwrap_or_default(),
        materials: faces.labels(
            &mesh.face_material,
            &node
                .materials
                .iter()
                .map(|m| label(m, material_labels))
                .collect::<Vec<_>>(),
        ),
        groups: faces.labels(
            &mesh.face_group,
            &mesh
                .face_groups
                .iter()
                .map(|g| &*g.name)
                .collect::<Vec<_>>(),
        ),
        ..MeshBuilder::default()
    };

    let name = one_line(&node.element.name);
    let mut warn = |count: usize, what: &str| {
        if count > 0 {
            warnings.push(format!("mesh '{name}': {count} {what}"));
        }
    };

    warn(
        mesh.faces.len() - faces.kept.len(),
        "face(s) with fewer than 3 corners were skipped",
    );

    let (uvs, misfits) = read_uvs(mesh, &faces);
    builder.uv_layers = uvs;
    warn(misfits, "UV set(s) do not fit the faces and were skipped");

    builder.normals = read_normals(mesh, &faces, &scene_from_mesh);
    let (colors, mixed) = read_colors(mesh, &faces);
    builder.colors = colors;
    warn(
        mixed,
        "set(s) of colours that differ between the corners of a vertex were skipped",
    );

    let neutral = builder.build()?;
    let targets = read_targets(mesh, &scene_from_mesh, budget)?;
    Ok(Rig::new(neutral, targets)?)
}

/// The label of the faces of a material.
fn label<'a>(material: &ufbx::Material, labels: &'a [String]) -> &'a str {
    let known = labels.get(material.element.typed_id as usize);
    known.map_or("", String::as_str)
}

/// The faces that are polygons.
struct Faces<'a> {
    mesh: &'a ufbx::Mesh,
    kept: Vec<usize>,
}

impl<'a> Faces<'a> {
    fn of(mesh: &'a ufbx::Mesh) -> Self {
        Self {
            mesh,
            kept: (0..mesh.faces.len())
                .filter(|&k| mesh.faces[k].num_indices >= 3)
                .collect(),
        }
    }

    fn sizes(&self) -> Vec<u32> {
        self.kept
            .iter()
            .map(|&k| self.mesh.faces[k].num_indices)
            .collect()
    }

    /// The entries of the corners of the kept faces, from a list with an entry for each corner.
    fn pick(&self, indices: &[u32]) -> Option<Vec<u32>> {
        let corners = self.kept.iter().map(|&k| {
            let begin = self.mesh.faces[k].index_begin as usize;
            let count = self.mesh.faces[k].num_indices as usize;
            indices.get(begin..begin.checked_add(count)?)
        });
        Some(corners.collect::<Option<Vec<_>>>()?.concat())
    }

    fn labels(&self, of_face: &[u32], names: &[&str]) -> FaceLabels {
        let name = |k: &usize| {
            of_face
                .get(*k)
                .and_then(|&label| names.get(label as usize))
                .copied()
                .unwrap_or("")
        };

        if self.kept.iter().all(|k| name(k).is_empty()) {
            return FaceLabels::default();
        }

        FaceLabels::from_names(self.kept.iter().map(name))
    }
}

/// A layer, if every index is valid.
fn layer<T>(name: &str, values: Vec<T>, corners: Vec<u32>) -> Option<CornerLayer<T>> {
    let known = corners.iter().all(|&k| (k as usize) < values.len());
    known.then(|| CornerLayer {
        name: name.into(),
        values,
        corners: corners.into_iter().map(Some).collect(),
    })
}

/// The UV sets that fit the faces, and how many do not.
fn read_uvs(mesh: &ufbx::Mesh, faces: &Faces<'_>) -> (Vec<CornerLayer<DVec2>>, usize) {
    let read = |set: &ufbx::UvSet| {
        let values = set
            .vertex_uv
            .values
            .iter()
            .map(|uv| DVec2::new(uv.x, uv.y))
            .collect();
        layer(
            &one_line(&set.name),
            values,
            faces.pick(&set.vertex_uv.indices)?,
        )
    };

    let layers: Vec<_> = mesh.uv_sets.iter().filter_map(read).collect();
    let without = mesh.uv_sets.len() - layers.len();
    (layers, without)
}

fn read_normals(
    mesh: &ufbx::Mesh,
    faces: &Faces<'_>,
    scene_from_mesh: &DAffine3,
) -> Option<CornerLayer<DVec3>> {
    if !mesh.vertex_normal.exists || mesh.generated_normals {
        return None;
    }

    let matrix = scene_from_mesh.matrix3.inverse().transpose();
    let is_identity = scene_from_mesh.matrix3 == pliant_mesh::glam::DMat3::IDENTITY;
    let normal = |n: &ufbx::Vec3| {
        if is_identity {
            vector(n)
        } else {
            (matrix * vector(n)).normalize_or_zero()
        }
    };

    layer(
        "",
        mesh.vertex_normal.values.iter().map(normal).collect(),
        faces.pick(&mesh.vertex_normal.indices)?,
    )
}

/// The colour sets with one colour for each vertex, and how many have several.
fn read_colors(mesh: &ufbx::Mesh, faces: &Faces<'_>) -> (Vec<VertexLayer<DVec4>>, usize) {
    let read = |set: &ufbx::ColorSet| {
        let vertices = faces.pick(&mesh.vertex_indices)?;
        let colors = faces.pick(&set.vertex_color.indices)?;

        // A set is kept only if all corners of each vertex have the same colour.
        let mut values: Vec<Option<DVec4>> = vec![None; mesh.num_vertices];
        for (&vertex, &color) in vertices.iter().zip(&colors) {
            let color = set.vertex_color.values.get(color as usize)?;
            let color = DVec4::new(color.x, color.y, color.z, color.w);
            if *values.get_mut(vertex as usize)?.get_or_insert(color) != color {
                return None;
            }
        }

        Some(VertexLayer {
            name: one_line(&set.name),
            values: values
                .into_iter()
                .map(|c| c.unwrap_or(DVec4::ONE))
                .collect(),
        })
    };

    let layers: Vec<_> = mesh.color_sets.iter().filter_map(read).collect();
    let without = mesh.color_sets.len() - layers.len();
    (layers, without)
}
