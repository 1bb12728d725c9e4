//! From an [`Asset`] to files.

use std::path::{Path, PathBuf};

use pliant_mesh::glam::DVec3;
use pliant_rig::Clip;

use crate::left_out::{clips_left_out, counted};
use crate::load::with_ending;
use crate::pair::{FRAMES, names_file};
use crate::{Asset, Format, Holds, IoError, Written, npy, write_files};

/// What was written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Saved {
    /// The files.
    pub files: Vec<PathBuf>,
    /// What the format could not hold, one phrase each.
    pub left_out: Vec<String>,
}

/// Writes `asset` in the format that the ending of `path` names, all or nothing.
///
/// `MESH+NAME.frames.npy` writes a mesh and its clip, `MESH+NAME.npy` a mesh and its targets, each
/// with the names beside; a `.npy` alone gets the plain positions, V × 3 or frames × V × 3.
pub fn save(asset: &Asset, path: impl AsRef<Path>) -> Result<Saved, IoError> {
    let (files, left_out) = plan_save(asset, path)?;
    write_files(&files)?;
    Ok(Saved {
        files: files.into_iter().map(|(path, _)| path).collect(),
        left_out,
    })
}

/// Files with their bytes, and what was left out of them.
pub type Planned = (Vec<(PathBuf, Vec<u8>)>, Vec<String>);

/// What [`save`] would write, for callers that write it together with other files.
pub fn plan_save(asset: &Asset, path: impl AsRef<Path>) -> Result<Planned, IoError> {
    let path = path.as_ref();
    asset.require_finite()?;
    let (files, left_out) = match pair_of(path) {
        Some((mesh, array)) => write_pair(asset, &mesh, &array)?,
        None => write_one(asset, path)?,
    };
    Ok((files, counted(left_out)))
}

fn write_one(asset: &Asset, path: &Path) -> Result<Planned, IoError> {
    let written = Format::writer_for(path)?(asset)?;
    let mut files = vec![(path.to_owned(), written.bytes)];
    files.extend(
        written
            .beside
            .into_iter()
            .map(|(name, bytes)| (path.with_file_name(name), bytes)),
    );
    Ok((files, written.left_out))
}

/// `MESH+ARRAY.npy`, where the mesh has a known ending; the array goes beside it unless it has a
/// folder.
fn pair_of(path: &Path) -> Option<(PathBuf, PathBuf)> {
    let (mesh, array) = path.to_str()?.rsplit_once('+')?;
    if Format::of(Path::new(array)) != Some(Format::Npy) {
        return None;
    }
    Format::of(Path::new(mesh))?;
    let bare = Path::new(array)
        .parent()
        .is_none_or(|parent| parent.as_os_str().is_empty());
    Some((
        mesh.into(),
        if bare {
            Path::new(mesh).with_file_name(array)
        } else {
            array.into()
        },
    ))
}

fn write_pair(asset: &Asset, mesh: &Path, array: &Path) -> Result<Planned, IoError> {
    let name = array
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .to_lowercase();
    let (mut files, mut left_out) = write_one(asset, mesh)?;
    // What goes into the second file is not lost in the first.
    if name.ends_with(FRAMES) {
        files.extend(frames_files(asset, array)?);
        left_out.retain(|lost| Some(lost) != clips_left_out(asset, 0).as_ref());
    } else {
        files.extend(deltas_files(asset, array)?);
        left_out.retain(|lost| !lost.ends_with("target(s)"));
    }
    let lost = if name.ends_with(FRAMES) {
        rate_left_out(asset)?
    } else {
        in_betweens_left_out(asset)
    };
    // A first file that has targets or clips of its own has told it already.
    left_out.extend(lost.filter(|lost| !left_out.contains(lost)));
    Ok((files, left_out))
}

/// An array of frames has no place for their rate.
fn rate_left_out(asset: &Asset) -> Result<Option<String>, IoError> {
    let rate = asset.only_clip()?.frames_per_second;
    Ok((rate != Clip::DEFAULT_FRAMES_PER_SECOND)
        .then(|| format!("the rate of {rate} frames a second")))
}

/// An array of deltas has one row for each target.
fn in_betweens_left_out(asset: &Asset) -> Option<String> {
    let count: usize = asset
        .objects
        .iter()
        .flat_map(|o| o.rig.targets())
        .map(|t| t.in_betweens.len())
        .sum();
    (count > 0).then(|| format!("{count} in-between(s)"))
}

fn frames_files(asset: &Asset, array: &Path) -> Result<Vec<(PathBuf, Vec<u8>)>, IoError> {
    let names = asset.only_clip()?.frame_names.clone();
    let mut files = vec![(array.to_owned(), frames_array(asset)?)];
    if !names.is_empty() {
        files.push((with_ending(array, ".npy", ".txt"), lines(&names)));
    }
    Ok(files)
}

fn deltas_files(asset: &Asset, array: &Path) -> Result<Vec<(PathBuf, Vec<u8>)>, IoError> {
    let rig = asset.rig()?;
    let vertices = rig.neutral().vertex_count();
    let dense = rig
        .targets()
        .iter()
        .flat_map(|t| t.to_dense(vertices))
        .flat_map(|d| d.to_array());
    let bytes = npy::write_f32(&[rig.targets().len(), vertices, 3], dense);
    Ok(vec![
        (array.to_owned(), bytes),
        (names_file(array), lines(&asset.target_names())),
    ])
}

fn lines(names: &[String]) -> Vec<u8> {
    // A name that broke the line would shift all names after it.
    names
        .iter()
        .flat_map(|name| [name.replace(char::is_control, " ").as_bytes(), b"\n"].concat())
        .collect()
}

fn frames_array(asset: &Asset) -> Result<Vec<u8>, IoError> {
    let clip = asset.clip()?;
    let points = clip.frames().iter().flatten();
    Ok(npy::write_points(
        &[clip.frames().len(), asset.vertex_count()],
        points,
    ))
}

/// The plain result: V × 3, or frames × V × 3 where there is a clip.
pub(crate) fn plain_array(asset: &Asset) -> Result<Written, IoError> {
    // Faces and their attributes are no part of a plain result; only what moves could be missed.
    let left_out = Holds {
        targets: false,
        ..Holds::ALL
    }
    .left_out_of(asset);
    let positions: Vec<DVec3>;
    let bytes = if asset.clips.is_empty() {
        positions = asset.mesh()?.positions().to_vec();
        npy::write_points(&[positions.len()], &positions)
    } else {
        frames_array(asset)?
    };
    Ok(Written {
        bytes,
        left_out,
        ..Written::default()
    })
}
