//! Appearance of the mesh in a model file: name, UV coordinates, colours, groups and materials.
//!
//! **Layout.** Tables `uv_values_K` (f64, values × 2) and `uv_corners_K` (u32, none is the
//! greatest) for each UV set, `colors_K` (f64, vertices × 4), `group_of_face`, `material_of_face`
//! (u32), and their names as text, one to a line. All tables are optional.

use pliant_mesh::glam::{DVec2, DVec4};
use pliant_mesh::{CornerLayer, FaceLabels, Mesh, MeshBuilder, VertexLayer};

use super::model_file::{Table, Tables};
use crate::LearnError;

/// A corner without a value.
const NONE: u32 = u32::MAX;

/// The appearance tables of a mesh.
pub(crate) fn tables(mesh: &Mesh) -> Vec<(String, Table)> {
    let mut tables = vec![text("mesh_name", [mesh.name()])];
    for (k, layer) in mesh.uv_layers().iter().enumerate() {
        let values = layer.values.iter().flat_map(|uv| uv.to_array());
        tables.push((
            format!("uv_values_{k}"),
            Table::of_numbers(vec![layer.values.len(), 2], values),
        ));

        tables.push((
            format!("uv_corners_{k}"),
            Table::of_indices(layer.corners.iter().map(|corner| corner.unwrap_or(NONE))),
        ));
    }

    for (k, layer) in mesh.colors().iter().enumerate() {
        let values = layer.values.iter().flat_map(|color| color.to_array());
        tables.push((
            format!("colors_{k}"),
            Table::of_numbers(vec![layer.values.len(), 4], values),
        ));
    }

    // Names of all layers, one on each line.
    tables.push(text(
        "uv_names",
        mesh.uv_layers().iter().map(|layer| layer.name.as_str()),
    ));

    tables.push(text(
        "color_names",
        mesh.colors().iter().map(|layer| layer.name.as_str()),
    ));

    // Groups and materials have the same layout.
    for (what, labels) in [("group", mesh.groups()), ("material", mesh.materials())] {
        if !labels.of_face.is_empty() {
            tables.push((
                format!("{what}_of_face"),
                Table::of_indices(labels.of_face.iter().copied()),
            ));
            tables.push(text(
                &format!("{what}_names"),
                labels.names.iter().map(String::as_str),
            ));
        }
    }

    tables
}

fn text<'a>(name: &str, lines: impl IntoIterator<Item = &'a str>) -> (String, Table) {
    let lines: Vec<String> = lines
        .into_iter()
        .map(|line| line.replace('\n', " "))
        .collect();
    (
        name.to_owned(),
        Table::of_bytes(lines.join("\n").into_bytes()),
    )
}

/// The builder with the appearance in `tables`, which is checked when the mesh is built.
///
/// Every table is optional: files of older programs have fewer.
pub(crate) fn with_appearance(
    mut builder: MeshBuilder,
    tables: &Tables<'_>,
) -> Result<MeshBuilder, LearnError> {
    if tables.has("mesh_name") {
        builder.name = tables.lines("mesh_name")?.remove(0);
    }
    for k in (0..).take_while(|k| tables.has(&format!("uv_values_{k}"))) {
        builder.uv_layers.push(uv_layer(tables, k)?);
    }
    for k in (0..).take_while(|k| tables.has(&format!("colors_{k}"))) {
        let values = tables.rows::<4>(&format!("colors_{k}"))?;
        builder.colors.push(VertexLayer {
            name: layer_name(tables, "color_names", k)?,
            values: values.into_iter().map(DVec4::from_array).collect(),
        });
    }

    builder.groups = labels(tables, "group")?;
    builder.materials = labels(tables, "material")?;
    Ok(builder)
}

fn uv_layer(tables: &Tables<'_>, k: usize) -> Result<CornerLayer<DVec2>, LearnError> {
    let values = tables.rows::<2>(&format!("uv_values_{k}"))?;
    let mut corners = Vec::new();
    for corner in tables.indices(&format!("uv_corners_{k}"))? {
        corners.push((corner != NONE).then_some(corner));
    }
    Ok(CornerLayer {
        name: layer_name(tables, "uv_names", k)?,
        values: values.into_iter().map(DVec2::from_array).collect(),
        corners,
    })
}

/// The name of layer `k`; empty if there is none.
fn layer_name(tables: &Tables<'_>, names: &str, k: usize) -> Result<String, LearnError> {
    if !tables.has(names) {
        return Ok(String::new());
    }
    Ok(tables.lines(names)?.into_iter().nth(k).unwrap_or_default())
}

/// Groups or materials, which have the same layout.
fn labels(tables: &Tables<'_>, what: &str) -> Result<FaceLabels, LearnError> {
    let of_face = format!("{what}_of_face");
    if !tables.has(&of_face) {
        return Ok(FaceLabels::default());
    }
    Ok(FaceLabels {
        names: tables.lines(&format!("{what}_names"))?,
        of_face: tables.indices(&of_face)?,
    })
}
