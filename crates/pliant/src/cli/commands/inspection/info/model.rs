//! `pliant info` of a trained model.

use std::path::Path;

use pliant_io::read_file;
use pliant_learn::Model;
use schemars::JsonSchema;
use serde::Serialize;

use super::InfoReport;
use crate::cli::report::console::Console;
use crate::cli::report::failure::Failure;

/// The content of a trained model.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ModelReport {
    /// Always empty: a model has no objects.
    meshes: [(); 0],
    /// Always empty: a model has no targets.
    targets: [(); 0],
    /// Always empty: a model has no clips.
    clips: [(); 0],
    /// Method of the recipe.
    method: String,
    /// Settings that `auto` chose; null for other methods.
    chosen: Option<String>,
    /// Vertices of the mesh.
    vertices: usize,
    /// Vertices of the control points, in their order.
    control_vertices: Vec<u32>,
    /// Abstract bones.
    bones: usize,
    /// Names of the examples, without the reference pose.
    examples: Vec<String>,
    /// The detail layer; null without one.
    detail: Option<DetailSummary>,
}

/// The detail layer of a model.
#[derive(Debug, Serialize, JsonSchema)]
struct DetailSummary {
    /// How heights are predicted.
    mode: String,
    /// Vertices of the detailed mesh.
    vertices: usize,
}

pub(super) fn run(path: &Path, console: &Console) -> Result<(), Failure> {
    let model = Model::from_bytes(&read_file(path)?)
        .map_err(|error| Failure::about(path.display(), &error))?;
    let report = ModelReport::new(&model);
    let text = report.text(model.examples().reference().name());
    console.print_result(&InfoReport::Model(report), &text, &[])
}

impl ModelReport {
    fn new(model: &Model) -> Self {
        let examples = model.examples();
        let detail = model.detail().map(|layer| DetailSummary {
            mode: layer.options().mode().name().to_owned(),
            vertices: layer.mesh().vertex_count(),
        });
        Self {
            meshes: [],
            targets: [],
            clips: [],
            method: model.options().method().name().to_owned(),
            chosen: model.chosen().map(|settings| settings.to_string()),
            vertices: examples.reference().vertex_count(),
            control_vertices: model.control().vertices().to_vec(),
            bones: model.bone_count(),
            examples: examples.names().to_vec(),
            detail,
        }
    }

    fn text(&self, mesh: &str) -> String {
        let chosen = match &self.chosen {
            Some(settings) => format!(" ({settings})"),
            None => String::new(),
        };
        let detail = match &self.detail {
            Some(DetailSummary { mode, vertices }) => {
                format!("  detail of {vertices} vertices, {mode}\n")
            }
            None => String::new(),
        };
        let vertices: Vec<String> = self.control_vertices.iter().map(u32::to_string).collect();

        format!(
            "model of '{mesh}', {} vertices\n  method {}{chosen}, {} bones\n  {} control points, in this order: {}\n{detail}  reference pose and {} examples: {}\n",
            self.vertices,
            self.method,
            self.bones,
            vertices.len(),
            vertices.join(", "),
            self.examples.len(),
            self.examples.join(", "),
        )
    }
}
