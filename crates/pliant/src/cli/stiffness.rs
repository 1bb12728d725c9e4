//! How stiff a surface is: a file of numbers, or the colours of its vertices.

use std::path::PathBuf;

use pliant_io::{npy, read_file};
use pliant_mesh::Mesh;
use pliant_physics::painted_stiffness;

use super::failure::Failure;

#[derive(Debug, Clone)]
pub(crate) enum StiffnessArg {
    /// The colours of the shape.
    Color,
    File(PathBuf),
}

pub(crate) fn parse_stiffness(text: &str) -> Result<StiffnessArg, String> {
    Ok(if matches!(text, "color" | "colour") {
        StiffnessArg::Color
    } else {
        StiffnessArg::File(text.into())
    })
}

impl StiffnessArg {
    /// The number of each vertex of `mesh`, which was read from `name`.
    pub(crate) fn load(&self, mesh: &Mesh, name: &str) -> Result<Vec<f64>, Failure> {
        match self {
            Self::Color => painted_stiffness(mesh).map_err(|error| Failure::about(name, &error)),
            Self::File(path) => {
                let array = npy::read(&read_file(path)?)
                    .map_err(|error| Failure::about(path.display(), &error))?;
                Ok(array.values)
            }
        }
    }
}
