//! `pliant info` of a learned model.

use std::path::Path;

use pliant_io::read_file;
use pliant_learn::Model;
use serde_json::{Map, Value, json};

use super::console::Console;
use super::failure::Failure;

pub(crate) fn run(path: &Path, console: &Console) -> Result<(), Failure> {
    let model = Model::from_bytes(&read_file(path)?)
        .map_err(|error| Failure::about(path.display(), &error))?;
    console.result(describe_json(&model), &describe(&model), &[])
}

fn describe_json(model: &Model) -> Map<String, Value> {
    let detail = model.detail().map(|layer| json!({"mode": layer.options().mode().name(), "vertices": layer.mesh().vertex_count()}));
    let pairs = [
        ("meshes", json!([])),
        ("targets", json!([])),
        ("clips", json!([])),
        ("method", json!(model.options().method().name())),
        (
            "chosen",
            json!(model.chosen().map(|settings| settings.to_string())),
        ),
        (
            "vertices",
            json!(model.examples().reference().vertex_count()),
        ),
        ("control_vertices", json!(model.control().vertices())),
        ("bones", json!(model.bone_count())),
        ("examples", json!(model.examples().names())),
        ("detail", json!(detail)),
    ];
    pairs
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value))
        .collect()
}

fn describe(model: &Model) -> String {
    let examples = model.examples();
    let vertices: Vec<String> = model
        .control()
        .vertices()
        .iter()
        .map(u32::to_string)
        .collect();
    let detail = model.detail().map_or_else(String::new, |layer| {
        format!(
            "  details of {} vertices, {}\n",
            layer.mesh().vertex_count(),
            layer.options().mode().name()
        )
    });
    format!(
        "model of '{}', {} vertices\n  method {}{}, {} bones\n  {} control points, in this order: {}\n{detail}  the reference and {} examples: {}\n",
        examples.reference().name(),
        examples.reference().vertex_count(),
        model.options().method().name(),
        model
            .chosen()
            .map_or_else(String::new, |settings| format!(" ({settings})")),
        model.bone_count(),
        vertices.len(),
        vertices.join(", "),
        examples.names().len(),
        examples.names().join(", "),
    )
}
