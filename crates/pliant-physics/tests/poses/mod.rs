//! Captured poses for tests, where `PLIANT_DATA` names them.

use std::path::PathBuf;

use pliant_io::LoadOptions;
use pliant_mesh::Mesh;

/// Some frames of a set of poses; `None`, with a message, without the data.
pub(crate) fn poses(name: &str, frames: &[usize]) -> Option<Vec<Mesh>> {
    let Some(folder) = std::env::var_os("PLIANT_DATA") else {
        #[allow(clippy::print_stderr, reason = "a skipped test reports why")]
        {
            eprintln!("skipped: PLIANT_DATA is not set, so {name} is not read");
        }
        return None;
    };

    let path = PathBuf::from(folder).join(format!("{name}.reference.obj"));
    let mesh = pliant_io::load(
        path.to_str().expect("a path in UTF-8"),
        &LoadOptions::default(),
    )
    .unwrap()
    .mesh()
    .unwrap();

    let bytes = std::fs::read(
        path.with_file_name(format!("{}.frames.npy", name.rsplit('/').next().unwrap())),
    )
    .unwrap();

    let rows = pliant_io::npy::read(&bytes)
        .unwrap()
        .into_point_rows("frames")
        .unwrap();

    Some(
        frames
            .iter()
            .map(|&frame| mesh.posed(rows[frame].clone()).unwrap())
            .collect(),
    )
}
