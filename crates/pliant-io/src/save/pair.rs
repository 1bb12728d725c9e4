//! A pair of files: a mesh, and a NumPy array with its targets or frames.

use std::path::{Path, PathBuf};

use pliant_rig::Clip;

use super::SavePlan;
use crate::file_names::{frame_names_file, is_bare, names_frames, target_names_file};
use crate::formats::clips_left_out;
use crate::{Asset, Format, IoError, npy};

/// The two files of `MESH+ARRAY.npy`, if the mesh has a known ending. The array goes into the
/// folder of the mesh unless it has a folder of its own.
pub(super) fn split(path: &Path) -> Option<(PathBuf, PathBuf)> {
    let (mesh, array) = path.to_str()?.rsplit_once('+')?;
    if Format::of(Path::new(array)) != Some(Format::Npy) {
        return None;
    }

    Format::of(Path::new(mesh))?;
    let array = if is_bare(Path::new(array)) {
        Path::new(mesh).with_file_name(array)
    } else {
        array.into()
    };

    Some((mesh.into(), array))
}

/// The files of a mesh and an array.
pub(super) fn encode(asset: &Asset, mesh: &Path, array: &Path) -> Result<SavePlan, IoError> {
    let (mut files, mut left_out) = super::encode(asset, mesh)?;

    // The array stores what the mesh file leaves out.
    let lost = if names_frames(array) {
        files.extend(frames_files(asset, array)?);
        left_out.retain(|lost| Some(lost) != clips_left_out(asset, 0).as_ref());
        rate_left_out(asset)?
    } else {
        files.extend(deltas_files(asset, array)?);
        left_out.retain(|lost| !lost.ends_with("target(s)"));
        in_betweens_left_out(asset)
    };

    // A mesh file with targets or clips of its own has reported the loss already.
    left_out.extend(lost.filter(|lost| !left_out.contains(lost)));
    Ok((files, left_out))
}

/// An array of frames cannot store their rate.
fn rate_left_out(asset: &Asset) -> Result<Option<String>, IoError> {
    let rate = asset.only_clip()?.frames_per_second;
    Ok((rate != Clip::DEFAULT_FRAMES_PER_SECOND)
        .then(|| format!("the rate of {rate} frames a second")))
}

/// An array of displacements has one row for each target.
fn in_betweens_left_out(asset: &Asset) -> Option<String> {
    let targets = asset.objects.iter().flat_map(|o| o.rig.targets());
    let count: usize = targets.map(|t| t.in_betweens.len()).sum();
    (count > 0).then(|| format!("{count} in-between(s)"))
}

fn frames_files(asset: &Asset, array: &Path) -> Result<Vec<(PathBuf, Vec<u8>)>, IoError> {
    let names = asset.only_clip()?.frame_names.clone();
    let mut files = vec![(array.to_owned(), npy::encode_frames(asset)?)];
    if !names.is_empty() {
        files.push((frame_names_file(array), lines(&names)));
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
        (target_names_file(array), lines(&asset.target_names())),
    ])
}

/// One name per line.
fn lines(names: &[String]) -> Vec<u8> {
    let mut text = Vec::new();
    for name in names {
        // A line break inside a name would shift all names after it.
        text.extend_from_slice(name.replace(char::is_control, " ").as_bytes());
        text.push(b'\n');
    }

    text
}
