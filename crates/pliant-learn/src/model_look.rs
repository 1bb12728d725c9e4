//! What a model file keeps of its mesh beside positions and faces: name, UVs, colours, groups and
//! materials.
//!
//! **Form.** Tables `uv_values_K` (f64, values × 2) and `uv_corners_K` (u32, none is the greatest)
//! for each UV set, `colors_K` (f64, vertices × 4), `group_of_face`, `material_of_face` (u32), and
//! their names as text, one to a line. All of them may be missing.

use pliant_mesh::glam::{DVec2, DVec4};
use pliant_mesh::{CornerLayer, FaceLabels, Mesh, MeshBuilder, VertexLayer};

use crate::LearnError;
use crate::model_file::{Table, Tables};

/// A corner without a value.
const NONE: u32 = u32::MAX;

/// The tables of a mesh.
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
    tables.push(text(
        "uv_names",
        mesh.uv_layers().iter().map(|layer| layer.name.as_str()),
    ));
    tables.push(text(
        "color_names",
        mesh.colors().iter().map(|layer| layer.name.as_str()),
    ));
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

/// The builder with what `tables` tell of its look; checked when it is built.
pub(crate) fn dressed(
    builder: MeshBuilder,
    tables: &Tables<'_>,
) -> Result<MeshBuilder, LearnError> {
    let mut builder = builder;
    if tables.has("mesh_name") {
        builder.name = tables.lines("mesh_name")?.remove(0);
    }
    let named = |names: &str, k: usize| -> Result<String, LearnError> {
        Ok(if tables.has(names) {
            tables.lines(names)?.into_iter().nth(k).unwrap_or_default()
        } else {
            String::new()
        })
    };
    for k in (0..).take_while(|k| tables.has(&format!("uv_values_{k}"))) {
        let values = tables
            .rows::<2>(&format!("uv_values_{k}"))?
            .into_iter()
            .map(DVec2::from_array)
            .collect();
        let corners = tables.indices(&format!("uv_corners_{k}"))?;
        let corners = corners
            .into_iter()
            .map(|corner| Some(corner).filter(|&corner| corner != NONE))
            .collect();
        builder.uv_layers.push(CornerLayer {
            name: named("uv_names", k)?,
            values,
            corners,
        });
    }
    for k in (0..).take_while(|k| tables.has(&format!("colors_{k}"))) {
        let values = tables
            .rows::<4>(&format!("colors_{k}"))?
            .into_iter()
            .map(DVec4::from_array)
            .collect();
        builder.colors.push(VertexLayer {
            name: named("color_names", k)?,
            values,
        });
    }
    let labels = |what: &str| -> Result<FaceLabels, LearnError> {
        let of_face = format!("{what}_of_face");
        if !tables.has(&of_face) {
            return Ok(FaceLabels::default());
        }
        Ok(FaceLabels {
            names: tables.lines(&format!("{what}_names"))?,
            of_face: tables.indices(&of_face)?,
        })
    };
    (builder.groups, builder.materials) = (labels("group")?, labels("material")?);
    Ok(builder)
}
