//! A folder as a rig: OBJs of one topology, or MakeHuman targets.

use std::path::{Path, PathBuf};

use pliant_mesh::Mesh;
use pliant_rig::Target;

use super::{load_file, pair};
use crate::file_names::stem;
use crate::files::{is_folder, list_folder, read_regular_file};
use crate::{Asset, IoError, ReadError, target_file};

/// A folder of OBJs: the file named `neutral`, and the others as targets with the names of their
/// files.
pub(super) fn load(folder: &Path, neutral: &str) -> Result<Asset, IoError> {
    let files = list_folder(folder, "obj")?;
    if files.is_empty() {
        return Err(IoError::Directory {
            path: folder.into(),
            hint: "it holds no .obj files to make a rig of",
        });
    }
    let Some(neutral_file) = find_neutral(&files, neutral) else {
        let message = format!(
            "the folder has no '{neutral}'; name the neutral with --neutral (there are {})",
            some_stems(&files)
        );
        return Err(ReadError::whole(message).in_file(folder.display().to_string()));
    };

    // Every other file is a target over the vertices of the neutral.
    let mut asset = load_file(neutral_file)?;
    let rest = asset.mesh()?;
    let mut targets = Vec::new();
    for file in files.iter().filter(|file| *file != neutral_file) {
        targets.push(target_of(file, &rest, &mut asset.warnings)?);
    }

    asset.name = folder
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    asset.source = folder.display().to_string();

    pair::with_targets(asset, targets)
}

/// The file of this name, with or without its ending. An exact match comes before one that ignores
/// case.
fn find_neutral<'a>(files: &'a [PathBuf], neutral: &str) -> Option<&'a PathBuf> {
    let name = |path: &PathBuf| {
        path.file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    };

    for file in files {
        if name(file) == neutral || stem(file) == neutral {
            return Some(file);
        }
    }
    files.iter().find(|file| {
        name(file).eq_ignore_ascii_case(neutral) || stem(file).eq_ignore_ascii_case(neutral)
    })
}

/// The first names, and `…` if there are more.
fn some_stems(files: &[PathBuf]) -> String {
    const MOST_NAMES: usize = 8;

    let mut names: Vec<String> = files
        .iter()
        .take(MOST_NAMES)
        .map(|path| stem(path))
        .collect();

    if files.len() > MOST_NAMES {
        names.push("…".into());
    }

    names.join(", ")
}

/// The target of an OBJ: its displacements from the neutral.
fn target_of(file: &Path, rest: &Mesh, warnings: &mut Vec<String>) -> Result<Target, IoError> {
    let shape = load_file(file)?;
    let mesh = shape.mesh()?;
    let found = mesh.vertex_count();
    let expected = rest.vertex_count();
    if found != expected {
        let message = format!(
            "the target has {found} vertices, but the neutral has {expected}; export both from one mesh"
        );
        return Err(ReadError::whole(message).in_file(shape.source));
    }

    let source = &shape.source;
    for warning in &shape.warnings {
        warnings.push(format!("{source}: {warning}"));
    }
    if !mesh.faces().eq(rest.faces()) {
        warnings.push(format!(
            "{source}: the faces are not those of the neutral; if the vertices are in another order, export it again"
        ));
    }

    let deltas = mesh
        .positions()
        .iter()
        .zip(rest.positions())
        .map(|(p, r)| (*p - *r).as_vec3());

    Ok(Target::from_dense(stem(file), deltas))
}

/// A folder of `.target` files, or one such file, over `vertex_count` vertices. Empty targets give
/// warnings.
pub(super) fn makehuman_targets(
    path: &Path,
    vertex_count: usize,
    warnings: &mut Vec<String>,
) -> Result<Vec<Target>, IoError> {
    let files = if is_folder(path) {
        list_folder(path, "target")?
    } else {
        vec![path.to_owned()]
    };

    if files.is_empty() {
        return Err(IoError::Directory {
            path: path.into(),
            hint: "it holds no .target files",
        });
    }

    let mut targets = Vec::with_capacity(files.len());
    for file in &files {
        // MakeHuman writes a shape that moves nothing as a file without lines.
        let bytes = read_regular_file(file)?;
        let target = target_file::read(&bytes, &stem(file), vertex_count)
            .map_err(|e| e.in_file(file.display().to_string()))?;
        if target.vertices.is_empty() {
            warnings.push(format!("{}: the target moves no vertex", file.display()));
        }
        targets.push(target);
    }

    Ok(targets)
}
