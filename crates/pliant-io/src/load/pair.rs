//! A pair of files: a mesh, and a second file with its targets or frames.
//!
//! | second file | content |
//! |---|---|
//! | `NAME.frames.npy` | frames × V × 3, absolute; names in `NAME.frames.txt` |
//! | `STEM.npy`, `STEM.delta.npy` | targets × V × 3, target minus neutral; names in `STEM.names.txt` |
//! | a folder of `.target` files, or one | a target each |
//! | a file without faces and with a clip | a point cache |

use std::path::Path;

use pliant_mesh::glam::DVec3;
use pliant_rig::{Rig, Target};

use super::{folder, load_file};
use crate::asset::restricted;
use crate::file_names::{frame_names_file, names_frames, stem, target_names_file};
use crate::files::{exists, is_folder, read_regular_file};
use crate::parse::memory;
use crate::{Animation, Asset, Format, IoError, Motion, ReadError, Shape, npy, read_file};

/// Adds the content of the file or folder `second` to `base`.
pub(super) fn load(mut base: Asset, second: &Path) -> Result<Asset, IoError> {
    let paired = match Format::of(second) {
        format if is_folder(second) || format == Some(Format::Target) => {
            let count = base.vertex_count();
            let targets = folder::makehuman_targets(second, count, &mut base.warnings)?;
            with_targets(base, targets)
        }
        Some(Format::Npy) if names_frames(second) => with_frames(base, second),
        Some(Format::Npy) => with_deltas(base, second),
        _ => with_cache(base, second),
    }?;

    let source = format!("{}+{}", paired.source, second.display());
    Ok(Asset { source, ..paired })
}

fn with_frames(mut base: Asset, path: &Path) -> Result<Asset, IoError> {
    let frames = point_rows(path, "frames", base.vertex_count())?;
    let mut clip = Animation::new(clip_name(path), frames.len());
    clip.frame_names = read_names(
        &frame_names_file(path),
        frames.len(),
        "frames",
        &mut base.warnings,
    )?;

    base.name.clone_from(&clip.name);
    Ok(with_points(base, clip, frames))
}

fn clip_name(path: &Path) -> String {
    let name = stem(path);
    name.strip_suffix(".frames").unwrap_or(&name).to_owned()
}

/// Adds a clip of absolute positions in the vertex order of the whole file.
fn with_points(mut base: Asset, mut clip: Animation, frames: Vec<Vec<DVec3>>) -> Asset {
    if base.objects.len() == 1 {
        clip.motions = vec![Motion::new(0, Shape::Points(frames))];
    } else {
        for (k, indices) in base.file_indices().iter().enumerate() {
            let mut own = Vec::with_capacity(frames.len());
            for frame in &frames {
                own.push(indices.iter().map(|&v| frame[v as usize]).collect());
            }
            clip.motions.push(Motion::new(k, Shape::Points(own)));
        }
    }

    base.clips.push(clip);
    base
}

fn with_deltas(mut base: Asset, path: &Path) -> Result<Asset, IoError> {
    let rows = point_rows(path, "deltas", base.vertex_count())?;
    if look_absolute(&rows, base.mesh()?.positions()) {
        let name = stem(path);
        base.warnings.push(format!(
            "'{}' looks like absolute positions (a clip), not displacements; name it {name}.frames.npy to read it as a clip",
            path.display()
        ));
    }

    let names_file = target_names_file(path);
    let mut names = read_names(&names_file, rows.len(), "targets", &mut base.warnings)?;
    if names.is_empty() && !rows.is_empty() {
        base.warnings.push(format!(
            "there is no '{}', so the targets are numbered",
            names_file.display()
        ));
        names = (0..rows.len()).map(|k| format!("target{k}")).collect();
    }

    let targets = names
        .into_iter()
        .zip(rows)
        .map(|(name, row)| Target::from_dense(name, row.iter().map(|d| d.as_vec3())))
        .collect();

    // Names that are not distinct are the fault of the file of names.
    with_targets(base, targets).map_err(|e| match e {
        IoError::Rig { source, .. } => IoError::Rig {
            file: names_file.display().to_string(),
            source,
        },
        other => other,
    })
}

/// Whether most rows have the distances from vertex to vertex of the mesh. Positions keep them
/// under any rigid motion, displacements do not.
fn look_absolute(rows: &[Vec<DVec3>], rest: &[DVec3]) -> bool {
    let at_rest = successive_distances(rest);
    let mut absolute = 0;
    for row in rows {
        let own = successive_distances(row);
        let change: f64 = own.iter().zip(&at_rest).map(|(a, b)| (a - b).abs()).sum();
        absolute += usize::from(change < 0.5 * own.iter().sum::<f64>());
    }

    absolute * 2 > rows.len()
}

fn successive_distances(points: &[DVec3]) -> Vec<f64> {
    points
        .windows(2)
        .map(|pair| pair[0].distance(pair[1]))
        .collect()
}

/// What the second file of a pair can be, for a message.
const SECOND_FILES: &str = "name after '+' displacements (NAME.npy), frames (NAME.frames.npy), a point cache (.abc, .mcx, .mdd, .pc2), \
                            or .target files (one, or a folder of them); for targets as OBJs, name a folder that has them and neutral.obj";

fn with_cache(mut base: Asset, path: &Path) -> Result<Asset, IoError> {
    let cache = load_file(path)?;
    if cache.clips.is_empty() {
        let message = format!("it holds nothing that moves another mesh; {SECOND_FILES}");
        return Err(cache.clip_error(&message));
    }

    // The frames are those of the cache, the objects those of the mesh.
    let clip = cache.only_clip()?;
    let moving = cache.clip()?;
    let found = cache.vertex_count();
    let expected = base.vertex_count();
    if found != expected {
        return Err(count_error(path, "points of the cache", found, expected));
    }

    let clip = Animation {
        motions: Vec::new(),
        start_secs: 0.0,
        ..clip.clone()
    };

    base.warnings.extend(cache.warnings);
    base.not_finite.extend(cache.not_finite);
    Ok(with_points(base, clip, moving.frames().to_vec()))
}

/// The rows of an array of points over the vertices of the mesh.
fn point_rows(path: &Path, what: &str, vertex_count: usize) -> Result<Vec<Vec<DVec3>>, IoError> {
    let in_file = |e: ReadError| e.in_file(path.display().to_string());
    let bytes = read_file(path)?;
    // Half precision becomes doubles, twice.
    memory::require(bytes.len().saturating_mul(8), what).map_err(in_file)?;
    let array = npy::read(&bytes).map_err(in_file)?;
    let found = array.shape.get(1).copied();
    let rows = array.into_point_rows(what).map_err(in_file)?;
    if rows.is_empty() {
        let error = ReadError::whole(format!("it holds no {what}; save the array again"));
        return Err(in_file(error));
    }
    match found {
        Some(found) if found != vertex_count => Err(count_error(path, what, found, vertex_count)),
        _ => Ok(rows),
    }
}

fn count_error(path: &Path, what: &str, found: usize, expected: usize) -> IoError {
    let message = format!(
        "the {what} are for {found} vertices, but the mesh has {expected}; export both from one mesh"
    );
    ReadError::whole(message).in_file(path.display().to_string())
}

/// One name per line; none if the file does not exist or has another number of names.
fn read_names(
    path: &Path,
    count: usize,
    what: &str,
    warnings: &mut Vec<String>,
) -> Result<Vec<String>, IoError> {
    if !exists(path) {
        return Ok(Vec::new());
    }

    let bytes = read_regular_file(path)?;
    let text = String::from_utf8_lossy(&bytes);
    // Empty lines are not names.
    let names: Vec<String> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect();

    if names.len() == count {
        return Ok(names);
    }

    warnings.push(format!(
        "'{}' has {} names for {count} {what}, so they are numbered instead",
        path.display(),
        names.len()
    ));

    Ok(Vec::new())
}

/// The asset with targets over the vertex order of the whole file. Every object gets all of them,
/// which keeps their order.
pub(super) fn with_targets(mut base: Asset, targets: Vec<Target>) -> Result<Asset, IoError> {
    let file_indices = base.file_indices();
    let single = base.objects.len() == 1;
    for (k, indices) in file_indices.iter().enumerate() {
        let own = if single {
            targets.clone()
        } else {
            targets.iter().map(|t| restricted(t, indices)).collect()
        };

        let neutral = base.objects[k].rig.neutral().clone();
        base.objects[k].rig = Rig::new(neutral, own).map_err(|e| base.rig_error(e))?;
    }

    Ok(base)
}
