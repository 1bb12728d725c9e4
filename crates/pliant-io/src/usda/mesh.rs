//! The surface of a `Mesh` prim, and its blend shapes.

use pliant_mesh::glam::{DAffine3, DVec2, DVec3, DVec4, Vec3};
use pliant_mesh::{CornerLayer, FaceLabels, Mesh, MeshBuilder, VertexLayer};
use pliant_rig::{InBetween, Target};

use super::layer::{Held, Prim, Property, Value, entry};
use super::stage::{Node, Stage};
use crate::ReadError;

/// Something wrong with a prim.
pub(super) fn wrong(node: &Node<'_>, what: impl std::fmt::Display) -> ReadError {
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
        _ => Err(wrong(
            node,
            "has points that are not lists of three numbers",
        )),
    }
}

/// The mesh at rest; what is odd about it goes to `problems`.
pub(super) fn read_mesh(
    stage: &Stage<'_>,
    index: usize,
    scene_from_mesh: &DAffine3,
    problems: &mut Vec<String>,
) -> Result<Mesh, ReadError> {
    let node = &stage.nodes[index];
    let prim = node.prim;
    let rest = prim
        .rest("points")
        .ok_or_else(|| wrong(node, "is a mesh without points"))?;
    let mut builder = MeshBuilder {
        name: shown_name(prim),
        positions: points(node, rest, scene_from_mesh)?,
        ..MeshBuilder::default()
    };
    builder.face_sizes = indices(node, "faceVertexCounts")?;
    builder.corners = indices(node, "faceVertexIndices")?;
    for name in ["faceVertexCounts", "faceVertexIndices"] {
        if prim
            .samples(name)
            .is_some_and(|samples| samples.iter().any(|(_, value)| *value != samples[0].1))
        {
            problems.push(format!(
                "prim '{}' changes its {name} over time; the first are kept",
                node.path
            ));
        }
    }
    if prim.rest("orientation").and_then(Value::text) == Some("leftHanded") {
        problems.push(format!(
            "prim '{}' has left-handed faces, which are kept in their order",
            node.path
        ));
    }
    read_layers(stage, node, &mut builder, scene_from_mesh, problems)?;
    (builder.materials, builder.groups) = labels(prim, builder.face_sizes.len());
    builder
        .build()
        .map_err(|error| wrong(node, format!("is not a mesh: {error}")))
}

/// The name for people, where the layer gives one.
pub(super) fn shown_name(prim: &Prim) -> String {
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
        wrong(
            node,
            format!("has {name} that are not whole numbers from 0 on"),
        )
    })
}

fn index_list(values: &[f64]) -> Option<Vec<u32>> {
    let index =
        |&v: &f64| (v >= 0.0 && v < f64::from(u32::MAX) && v.fract() == 0.0).then_some(v as u32);
    values.iter().map(index).collect()
}

fn read_layers(
    stage: &Stage<'_>,
    node: &Node<'_>,
    builder: &mut MeshBuilder,
    scene_from_mesh: &DAffine3,
    problems: &mut Vec<String>,
) -> Result<(), ReadError> {
    for property in &node.prim.properties {
        let Some(value) = first(property) else {
            continue;
        };
        let (name, kind) = (property.name.as_str(), property.kind.as_str());
        let primvar = name
            .strip_prefix("primvars:")
            .filter(|rest| !rest.contains(':'));
        if primvar.is_some() {
            stage.spend(
                builder.corners.len() + node.prim.properties.len(),
                "the values at the corners",
            )?;
        }
        let found = match (primvar, kind, value) {
            (
                Some(short),
                "texCoord2f" | "texCoord2d" | "texCoord2h" | "float2",
                Value::Numbers { width: 2, values },
            ) => {
                let values = values.chunks_exact(2).map(DVec2::from_slice).collect();
                let layer = corner_layer(
                    node,
                    property,
                    builder,
                    if short == "st" { "" } else { short },
                    values,
                );
                layer.map(|layer| builder.uv_layers.push(layer))
            }
            (short, _, Value::Numbers { width: 3, values })
                if short.unwrap_or(name) == "normals" && builder.normals.is_none() =>
            {
                let turn = scene_from_mesh.matrix3.inverse().transpose();
                let unit = |n: &[f64]| (turn * DVec3::from_slice(n)).normalize_or_zero();
                let same = *scene_from_mesh == DAffine3::IDENTITY;
                let values = values
                    .chunks_exact(3)
                    .map(|n| if same { DVec3::from_slice(n) } else { unit(n) })
                    .collect();
                corner_layer(node, property, builder, "", values)
                    .map(|layer| builder.normals = Some(layer))
            }
            (Some("displayColor"), _, Value::Numbers { width: 3, values })
                if values.len() == 3 * builder.positions.len() =>
            {
                let opacity = node
                    .prim
                    .rest("primvars:displayOpacity")
                    .and_then(Value::numbers)
                    .unwrap_or_default();
                let alpha = |k: usize| opacity.get(k).copied().unwrap_or(1.0);
                let color = |(k, c): (usize, &[f64])| DVec4::new(c[0], c[1], c[2], alpha(k));
                builder.colors = vec![VertexLayer {
                    name: String::new(),
                    values: values.chunks_exact(3).enumerate().map(color).collect(),
                }];
                Some(())
            }
            _ => Some(()),
        };
        if found.is_none() {
            problems.push(format!(
                "'{name}' of prim '{}' does not fit its faces and was skipped",
                node.path
            ));
        }
    }
    Ok(())
}

fn first(property: &Property) -> Option<&Value> {
    match &property.value {
        Held::Always(Value::Nothing) => None,
        Held::Always(value) => Some(value),
        Held::Samples(samples) => samples.first().map(|(_, value)| value),
    }
}

/// Values for each corner, by the interpolation and the indices that the file gives.
fn corner_layer<T>(
    node: &Node<'_>,
    property: &Property,
    builder: &MeshBuilder,
    name: &str,
    values: Vec<T>,
) -> Option<CornerLayer<T>> {
    let list = node
        .prim
        .rest(&format!("{}:indices", property.name))
        .and_then(Value::numbers)
        .map(index_list);
    let list = match list {
        Some(list) => Some(list?),
        None => None,
    };
    let unauthored = entry(&property.metadata, "unauthoredValuesIndex").and_then(Value::number);
    let corners = builder.corners.len();
    let default = if property.name == "normals" {
        "vertex"
    } else {
        "constant"
    };
    let slots: Vec<u32> = match entry(&property.metadata, "interpolation")
        .and_then(Value::text)
        .unwrap_or(default)
    {
        "faceVarying" => (0..corners as u32).collect(),
        "vertex" | "varying" => builder.corners.clone(),
        "uniform" => {
            let total: u64 = builder.face_sizes.iter().map(|&size| u64::from(size)).sum();
            // Sizes that lie are declined when the mesh is built.
            if total != corners as u64 {
                return None;
            }
            builder
                .face_sizes
                .iter()
                .zip(0..)
                .flat_map(|(&size, face)| std::iter::repeat_n(face, size as usize))
                .collect()
        }
        _ => vec![0; corners],
    };
    let pick = |slot: u32| -> Option<Option<u32>> {
        let index = list
            .as_ref()
            .map_or(Some(slot), |list| list.get(slot as usize).copied())?;
        let missing = unauthored == Some(f64::from(index));
        ((index as usize) < values.len()).then_some((!missing).then_some(index))
    };
    let corners: Vec<Option<u32>> = slots.into_iter().map(pick).collect::<Option<_>>()?;
    let mut layer = CornerLayer {
        name: name.into(),
        values,
        corners,
    };
    // The value that stands for none is no value of the mesh, where it is the last.
    if unauthored == Some(layer.values.len() as f64 - 1.0) {
        layer.values.pop();
    }
    Some(layer)
}

/// Materials and groups from subsets of faces.
fn labels(prim: &Prim, faces: usize) -> (FaceLabels, FaceLabels) {
    let mut names: [Vec<Option<usize>>; 2] = [vec![None; faces], vec![None; faces]];
    let subsets: Vec<&Prim> = prim
        .children
        .iter()
        .filter(|child| child.kind == "GeomSubset")
        .collect();
    for (k, subset) in subsets.iter().enumerate() {
        let material = subset.rest("familyName").and_then(Value::text) == Some("materialBind");
        let members = subset
            .rest("indices")
            .and_then(Value::numbers)
            .and_then(index_list)
            .unwrap_or_default();
        for face in members {
            if let Some(label) = names[usize::from(!material)].get_mut(face as usize) {
                *label = Some(k);
            }
        }
    }
    let shown: Vec<String> = subsets.iter().map(|subset| shown_name(subset)).collect();
    let [materials, groups] = names.map(|of_face| match of_face.iter().any(Option::is_some) {
        true => FaceLabels::from_names(
            of_face
                .iter()
                .map(|label| label.map_or("", |k| shown[k].as_str())),
        ),
        false => FaceLabels::default(),
    });
    (materials, groups)
}

/// The blend shapes that a mesh names, as targets in the space of the scene.
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
        return Err(wrong(
            node,
            format!("names {} blend shapes but has {}", names.len(), paths.len()),
        ));
    }
    let target = |(name, path): (&String, &String)| {
        let shape = stage.resolve(index, path).ok_or_else(|| {
            wrong(
                node,
                format!("names the blend shape '{path}', which does not exist"),
            )
        })?;
        read_target(stage, &stage.nodes[shape], name, vertices, scene_from_mesh)
    };
    names.iter().zip(paths).map(target).collect()
}

fn read_target(
    stage: &Stage<'_>,
    node: &Node<'_>,
    name: &str,
    vertices: usize,
    scene_from_mesh: &DAffine3,
) -> Result<Target, ReadError> {
    let indices = node.prim.rest("pointIndices").and_then(Value::numbers);
    stage.spend(
        node.prim.properties.len() + indices.map_or(0, <[f64]>::len),
        "the blend shapes",
    )?;
    let moved = match indices {
        Some(list) if !list.is_empty() => Some(
            index_list(list)
                .ok_or_else(|| wrong(node, "has pointIndices that are not whole numbers"))?,
        ),
        _ => None,
    };
    let shape = |what: &str, value: Option<&Value>| {
        let offsets = value.and_then(Value::numbers).unwrap_or_default();
        stage.spend(2 * offsets.len(), "the blend shapes")?;
        sparse(offsets, moved.as_deref(), vertices, scene_from_mesh)
            .map_err(|why| wrong(node, format!("has {what} that {why}")))
    };
    let (own, deltas) = shape("offsets", node.prim.rest("offsets"))?;
    let mut target = Target {
        name: name.into(),
        vertices: own,
        deltas,
        in_betweens: Vec::new(),
    };
    for property in &node.prim.properties {
        let Some(short) = property
            .name
            .strip_prefix("inbetweens:")
            .filter(|rest| !rest.contains(':'))
        else {
            continue;
        };
        let weight = entry(&property.metadata, "weight").and_then(Value::number);
        let weight = weight.filter(|w| w.is_finite() && *w != 0.0 && *w != 1.0);
        let weight = weight.ok_or_else(|| {
            wrong(
                node,
                format!("has the in-between '{short}' without a weight other than 0 and 1"),
            )
        })?;
        let (vertices, deltas) = shape(&property.name, first(property))?;
        let name = entry(&property.metadata, "displayName")
            .and_then(Value::text)
            .unwrap_or(short)
            .to_owned();
        target.in_betweens.push(InBetween {
            name,
            weight,
            vertices,
            deltas,
        });
    }
    target
        .in_betweens
        .sort_by(|a, b| a.weight.total_cmp(&b.weight));
    Ok(target)
}

/// The offsets that are not zero, by ascending vertex.
fn sparse(
    offsets: &[f64],
    moved: Option<&[u32]>,
    vertices: usize,
    scene_from_mesh: &DAffine3,
) -> Result<(Vec<u32>, Vec<Vec3>), String> {
    let (found, expected) = (offsets.len() / 3, moved.map_or(vertices, <[u32]>::len));
    if !offsets.is_empty() && (found != expected || !offsets.len().is_multiple_of(3)) {
        return Err(format!("are for {found} vertices instead of {expected}"));
    }
    let at = |k: usize| moved.map_or(k as u32, |moved| moved[k]);
    if let Some(far) = moved.and_then(|moved| moved.iter().find(|&&v| v as usize >= vertices)) {
        return Err(format!("move vertex {far}, but the mesh has {vertices}"));
    }
    let delta = |d: &[f64]| {
        scene_from_mesh
            .transform_vector3(DVec3::from_slice(d))
            .as_vec3()
    };
    let mut all: Vec<(u32, Vec3)> = offsets
        .chunks_exact(3)
        .enumerate()
        .map(|(k, d)| (at(k), delta(d)))
        .collect();
    all.retain(|(_, d)| *d != Vec3::ZERO);
    all.sort_by_key(|(v, _)| *v);
    all.dedup_by_key(|(v, _)| *v);
    Ok(all.into_iter().unzip())
}
