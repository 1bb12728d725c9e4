//! The surface of a `Mesh` prim: polygons, UVs, normals, colours and labels of faces.

use std::rc::Rc;

use pliant_mesh::glam::{DAffine3, DVec2, DVec3, DVec4};
use pliant_mesh::{CornerLayer, FaceLabels, Mesh, MeshBuilder, VertexLayer};

use super::layer::{Prim, Property, PropertyValue, Value, entry};
use super::material;
use super::stage::{Node, Stage};
use crate::ReadError;

/// An error of a prim.
pub(super) fn prim_error(node: &Node<'_>, what: impl std::fmt::Display) -> ReadError {
    ReadError::whole(format!("prim '{}' {what}", node.path))
}

/// Points of three numbers each, in the space of the scene.
pub(super) fn points(
    node: &Node<'_>,
    value: &Value,
    scene_from_mesh: &DAffine3,
) -> Result<Vec<DVec3>, ReadError> {
    match value {
        Value::Numbers { width: 3, values } => Ok(values
            .chunks_exact(3)
            .map(|p| scene_from_mesh.transform_point3(DVec3::from_slice(p)))
            .collect()),
        Value::Numbers { values, .. } if values.is_empty() => Ok(Vec::new()),
        _ => Err(prim_error(
            node,
            "has points that are not lists of three numbers",
        )),
    }
}

/// The mesh at rest.
pub(super) fn read_mesh(
    stage: &Stage<'_>,
    index: usize,
    scene_from_mesh: &DAffine3,
    warnings: &mut Vec<String>,
) -> Result<Mesh, ReadError> {
    let node = &stage.nodes[index];
    let prim = node.prim;
    let rest = prim
        .rest("points")
        .ok_or_else(|| prim_error(node, "is a mesh without points"))?;
    let mut builder = MeshBuilder {
        name: display_name(prim),
        positions: points(node, rest, scene_from_mesh)?,
        ..MeshBuilder::default()
    };

    builder.face_sizes = indices(node, "faceVertexCounts")?;
    builder.corners = indices(node, "faceVertexIndices")?;
    warn_about_faces(node, warnings);

    read_layers(stage, node, &mut builder, scene_from_mesh, warnings)?;
    if is_left_handed(prim) {
        reverse_faces(&mut builder);
    }
    let (materials, groups) = labels(stage, index, builder.face_sizes.len())?;
    builder.materials = materials;
    builder.groups = groups;
    let removed = remove_small_faces(&mut builder);
    if removed > 0 {
        warnings.push(format!(
            "prim '{}' has {removed} face(s) of fewer than three corners, which were left out",
            node.path
        ));
    }
    builder
        .build()
        .map_err(|error| prim_error(node, format!("is not a mesh: {error}")))
}

fn warn_about_faces(node: &Node<'_>, warnings: &mut Vec<String>) {
    let prim = node.prim;
    for name in ["faceVertexCounts", "faceVertexIndices"] {
        if prim
            .samples(name)
            .is_some_and(|samples| samples.iter().any(|(_, value)| *value != samples[0].1))
        {
            warnings.push(format!(
                "prim '{}' changes its {name} over time; the first are kept",
                node.path
            ));
        }
    }

    if is_left_handed(prim) {
        warnings.push(format!(
            "prim '{}' has left-handed faces, whose corners are reversed",
            node.path
        ));
    }
}

/// Removes faces without an area by their number of corners, with the values at them; returns how
/// many. A mesh whose shape changes over time may begin with none.
fn remove_small_faces(builder: &mut MeshBuilder) -> usize {
    let sizes = std::mem::take(&mut builder.face_sizes);
    let corners: u64 = sizes.iter().map(|&size| u64::from(size)).sum();
    let is_kept: Vec<bool> = sizes.iter().map(|&size| size >= 3).collect();
    let removed = is_kept.iter().filter(|kept| !**kept).count();
    // The mesh builder rejects sizes that do not sum up to the corners.
    if removed == 0 || corners != builder.corners.len() as u64 {
        builder.face_sizes = sizes;
        return 0;
    }

    let of_corner: Vec<bool> = sizes
        .iter()
        .flat_map(|&size| std::iter::repeat_n(size >= 3, size as usize))
        .collect();
    builder.corners = kept(&builder.corners, &of_corner);
    let uvs = builder.uv_layers.iter_mut().map(|layer| &mut layer.corners);
    let normals = builder.normals.iter_mut().map(|layer| &mut layer.corners);
    for layer in uvs.chain(normals) {
        *layer = kept(layer, &of_corner);
    }
    for labels in [&mut builder.materials, &mut builder.groups] {
        labels.of_face = kept(&labels.of_face, &is_kept);
    }
    builder.face_sizes = kept(&sizes, &is_kept);
    removed
}

/// The values whose flag is set; a list of another length stays as it is.
fn kept<T: Clone>(values: &[T], flags: &[bool]) -> Vec<T> {
    if values.len() != flags.len() {
        return values.to_vec();
    }
    let pairs = values.iter().zip(flags);
    pairs
        .filter(|(_, flag)| **flag)
        .map(|(value, _)| value.clone())
        .collect()
}

fn is_left_handed(prim: &Prim) -> bool {
    prim.rest("orientation").and_then(Value::text) == Some("leftHanded")
}

/// Reverses the corners of every face after its first one, with the values at them.
fn reverse_faces(builder: &mut MeshBuilder) {
    let mut first = 0_usize;
    for &size in &builder.face_sizes {
        let end = first.saturating_add(size as usize);
        let range = first + usize::from(size > 0)..end;
        // The mesh builder rejects sizes that do not sum up to the corners.
        if let Some(corners) = builder.corners.get_mut(range.clone()) {
            corners.reverse();
        }
        let uvs = builder.uv_layers.iter_mut().map(|layer| &mut layer.corners);
        let normals = builder.normals.iter_mut().map(|layer| &mut layer.corners);
        for layer in uvs.chain(normals) {
            if let Some(corners) = layer.get_mut(range.clone()) {
                corners.reverse();
            }
        }
        first = end;
    }
}

/// The `displayName` of a prim, else its name.
pub(super) fn display_name(prim: &Prim) -> String {
    entry(&prim.metadata, "displayName")
        .and_then(Value::text)
        .unwrap_or(&prim.name)
        .to_owned()
}

fn indices(node: &Node<'_>, name: &str) -> Result<Vec<u32>, ReadError> {
    let values = node
        .prim
        .rest(name)
        .and_then(Value::numbers)
        .unwrap_or_default();
    index_list(values).ok_or_else(|| {
        prim_error(
            node,
            format!("has {name} that are not whole numbers from 0 on"),
        )
    })
}

/// The numbers as indices, if all are.
pub(super) fn index_list(values: &[f64]) -> Option<Vec<u32>> {
    let index =
        |&v: &f64| (v >= 0.0 && v < f64::from(u32::MAX) && v.fract() == 0.0).then_some(v as u32);
    values.iter().map(index).collect()
}

/// Reads UV sets, normals and colours. An attribute that does not fit the faces is skipped with a
/// warning.
fn read_layers(
    stage: &Stage<'_>,
    node: &Node<'_>,
    builder: &mut MeshBuilder,
    scene_from_mesh: &DAffine3,
    warnings: &mut Vec<String>,
) -> Result<(), ReadError> {
    for property in &node.prim.properties {
        let Some(value) = rest_value(property) else {
            continue;
        };

        let primvar = property.name.strip_prefix("primvars:");
        let primvar = primvar.filter(|rest| !rest.contains(':'));
        if primvar.is_some() {
            stage.spend(
                builder.corners.len() + node.prim.properties.len(),
                "the values at the corners",
            )?;
        }

        if primvar == Some("displayColor") && is_per_face(property) {
            warnings.push(format!(
                "'{}' of prim '{}' has colours of faces or corners, which are not read",
                property.name, node.path
            ));
        }
        let fits = read_layer(node, property, primvar, value, builder, scene_from_mesh);
        if fits.is_none() {
            warnings.push(format!(
                "'{}' of prim '{}' does not fit its faces and was skipped",
                property.name, node.path
            ));
        }
    }
    Ok(())
}

/// Reads one attribute, if it is one of a mesh; `None` if it does not fit the faces.
fn read_layer(
    node: &Node<'_>,
    property: &Property,
    primvar: Option<&str>,
    value: &Value,
    builder: &mut MeshBuilder,
    scene_from_mesh: &DAffine3,
) -> Option<()> {
    let Value::Numbers { width, values } = value else {
        return Some(());
    };

    // USD names the first UV set `st`.
    if let Some(short) = primvar.filter(|_| *width == 2 && is_uv_type(&property.kind)) {
        let values = values.chunks_exact(2).map(DVec2::from_slice).collect();
        let name = if short == "st" { "" } else { short };
        let layer = corner_layer(node, property, builder, name, values)?;
        builder.uv_layers.push(layer);
        return Some(());
    }

    let name = primvar.unwrap_or(&property.name);
    if *width == 3 && name == "normals" && builder.normals.is_none() {
        let values = normals(values, scene_from_mesh);
        builder.normals = Some(corner_layer(node, property, builder, "", values)?);
    } else if *width == 3 && primvar == Some("displayColor") {
        builder.colors = colors(node, property, values, builder.positions.len())?;
    }

    Some(())
}

fn is_uv_type(kind: &str) -> bool {
    matches!(kind, "texCoord2f" | "texCoord2d" | "texCoord2h" | "float2")
}

fn normals(values: &[f64], scene_from_mesh: &DAffine3) -> Vec<DVec3> {
    let matrix = scene_from_mesh.matrix3.inverse().transpose();
    let is_identity = *scene_from_mesh == DAffine3::IDENTITY;
    let mut normals = Vec::with_capacity(values.len() / 3);
    for normal in values.chunks_exact(3).map(DVec3::from_slice) {
        normals.push(if is_identity {
            normal
        } else {
            (matrix * normal).normalize_or_zero()
        });
    }

    normals
}

/// Vertex colours, with the opacities of the prim as alpha; none for colours of faces or corners. One
/// colour is that of all vertices.
fn colors(
    node: &Node<'_>,
    property: &Property,
    values: &[f64],
    vertices: usize,
) -> Option<Vec<VertexLayer<DVec4>>> {
    if values.is_empty() || (is_per_face(property) && values.len() > 3) {
        return Some(Vec::new());
    }

    let opacity = node.prim.rest("primvars:displayOpacity");
    let opacity = opacity.and_then(Value::numbers).unwrap_or_default();
    let indices = node.prim.rest("primvars:displayColor:indices");
    let indices = match indices.and_then(Value::numbers) {
        Some(numbers) => Some(index_list(numbers)?),
        None => None,
    };

    let rows = values.len() / 3;
    let mut colors = Vec::with_capacity(vertices);
    for vertex in 0..vertices {
        let slot = match &indices {
            Some(indices) => *indices.get(vertex.min(indices.len().saturating_sub(1)))? as usize,
            None if rows == 1 => 0,
            None => vertex,
        };
        let color = values.get(3 * slot..3 * slot + 3)?;
        let alpha = opacity
            .get(slot)
            .or(opacity.first().filter(|_| opacity.len() == 1));
        let alpha = alpha.copied().unwrap_or(1.0);
        colors.push(DVec4::new(color[0], color[1], color[2], alpha));
    }

    Some(vec![VertexLayer {
        name: String::new(),
        values: colors,
    }])
}

/// Whether a property has a value for each face or corner.
fn is_per_face(property: &Property) -> bool {
    let interpolation = entry(&property.metadata, "interpolation").and_then(Value::text);
    matches!(interpolation, Some("uniform" | "faceVarying"))
}

/// The value of a property at rest.
pub(super) fn rest_value(property: &Property) -> Option<&Value> {
    match &property.value {
        PropertyValue::Constant(Value::Nothing) => None,
        PropertyValue::Constant(value) => Some(value),
        PropertyValue::Samples(samples) => samples.first().map(|(_, value)| value),
    }
}

/// Values for each corner, by the interpolation and the indices of the file; `None` if they do not
/// fit the faces.
fn corner_layer<T>(
    node: &Node<'_>,
    property: &Property,
    builder: &MeshBuilder,
    name: &str,
    mut values: Vec<T>,
) -> Option<CornerLayer<T>> {
    let indices = node.prim.rest(&format!("{}:indices", property.name));
    let indices = match indices.and_then(Value::numbers) {
        Some(numbers) => Some(index_list(numbers)?),
        None => None,
    };

    let unauthored = entry(&property.metadata, "unauthoredValuesIndex").and_then(Value::number);
    let slots = corner_slots(property, builder)?;
    let mut corners = Vec::with_capacity(slots.len());
    for slot in slots {
        let index = match &indices {
            Some(indices) => indices.get(slot as usize).copied()?,
            None => slot,
        };
        if index as usize >= values.len() {
            return None;
        }
        let missing = unauthored == Some(f64::from(index));
        corners.push((!missing).then_some(index));
    }

    // The value that marks a missing one is not a value of the mesh. The writer puts it last.
    if unauthored == Some(values.len() as f64 - 1.0) {
        values.pop();
    }

    Some(CornerLayer {
        name: name.into(),
        values,
        corners,
    })
}

/// For each corner, the position of its value before `indices` apply.
fn corner_slots(property: &Property, builder: &MeshBuilder) -> Option<Vec<u32>> {
    let corners = builder.corners.len();
    let default = if property.name == "normals" {
        "vertex"
    } else {
        "constant"
    };

    let interpolation = entry(&property.metadata, "interpolation").and_then(Value::text);
    Some(match interpolation.unwrap_or(default) {
        "faceVarying" => (0..corners as u32).collect(),
        "vertex" | "varying" => builder.corners.clone(),
        "uniform" => {
            // The mesh builder rejects sizes that do not sum up to the corners.
            let total: u64 = builder.face_sizes.iter().map(|&size| u64::from(size)).sum();
            if total != corners as u64 {
                return None;
            }

            let mut slots = Vec::with_capacity(corners);
            for (face, &size) in builder.face_sizes.iter().enumerate() {
                slots.extend(std::iter::repeat_n(face as u32, size as usize));
            }
            slots
        }
        _ => vec![0; corners],
    })
}

/// Materials and groups of faces. A face has the material of its subset, or else that of the mesh; a subset
/// without a material prim gives its own name.
fn labels(
    stage: &Stage<'_>,
    index: usize,
    faces: usize,
) -> Result<(FaceLabels, FaceLabels), ReadError> {
    let node = &stage.nodes[index];
    let label_of = |material: Option<usize>| {
        let label = material.and_then(|material| stage.material_labels.get(&material));
        label.cloned()
    };
    // The names of each kind, and for each face the index of its name.
    let of_mesh = label_of(material::bound(stage, index)).unwrap_or_default();
    let mut materials = (vec![of_mesh], vec![0; faces]);
    let mut groups = (vec![String::new()], vec![0; faces]);

    let children = node.prim.children.iter().map(Rc::as_ref);
    for subset in children.filter(|child| child.kind == "GeomSubset") {
        let is_material = subset.rest("familyName").and_then(Value::text) == Some("materialBind");
        let own = stage.resolve(index, &format!("{}/{}", node.path, subset.name));
        let bound = own.and_then(|own| material::own_binding(stage, own));
        let label = label_of(bound).unwrap_or_else(|| display_name(subset));
        let members = subset
            .rest("indices")
            .and_then(Value::numbers)
            .and_then(index_list)
            .unwrap_or_default();

        stage.spend(label.len() / 8 + members.len(), "the subsets of faces")?;
        let (names, of_face) = if is_material {
            &mut materials
        } else {
            &mut groups
        };
        for face in members {
            if let Some(of_face) = of_face.get_mut(face as usize) {
                *of_face = names.len();
            }
        }
        names.push(label);
    }

    let [materials, groups] = [materials, groups].map(|(names, of_face)| {
        if of_face.iter().all(|&name| names[name].is_empty()) {
            return FaceLabels::default();
        }
        FaceLabels::from_names(of_face.iter().map(|&name| names[name].as_str()))
    });
    stage.spend_names(&materials)?;
    Ok((materials, groups))
}
