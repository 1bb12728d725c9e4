//! `--stiffness`: a file with a number for each vertex, or the vertex colours.

use std::path::PathBuf;

use pliant_io::{npy, read_file};
use pliant_mesh::Mesh;
use pliant_physics::painted_stiffness;

use crate::cli::report::failure::Failure;

/// Where the stiffness of the vertices comes from.
#[derive(Debug, Clone)]
pub(crate) enum StiffnessArg {
    /// The vertex colours of the first shape.
    Color,
    File(PathBuf),
}

/// Parses `color` or the name of a file.
pub(crate) fn parse_stiffness(text: &str) -> Result<StiffnessArg, String> {
    Ok(if matches!(text, "color" | "colour") {
        StiffnessArg::Color
    } else {
        StiffnessArg::File(text.into())
    })
}

impl StiffnessArg {
    /// A number for each vertex of `mesh`, which was read from `locator`.
    pub(crate) fn load(&self, mesh: &Mesh, locator: &str) -> Result<Vec<f64>, Failure> {
        match self {
            Self::Color => painted_stiffness(mesh).map_err(|error| Failure::about(locator, &error)),
            Self::File(path) => {
                let array = npy::read(&read_file(path)?)
                    .map_err(|error| Failure::about(path.display(), &error))?;
                Ok(array.values)
            }
        }
    }
}
