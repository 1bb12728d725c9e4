//! A mesh and, in a second file, what moves it.
//!
//! | second | holds |
//! |---|---|
//! | `NAME.frames.npy` | frames × V × 3, absolute; names in `NAME.frames.txt` |
//! | `STEM.npy`, `STEM.delta.npy` | targets × V × 3, target minus neutral; names in `STEM.names.txt` |
//! | a folder of `.target` files, or one | a target each |
//! | a file without faces and with a clip | a point cache |

use std::path::{Path, PathBuf};

use pliant_mesh::glam::{DVec3, Vec3};
use pliant_rig::{InBetween, Rig, Target};

use crate::load::{load_file, stem, with_ending};
use crate::{
    Animation, Asset, Format, IoError, Motion, Object, ReadError, Shape, folder, npy, read_file,
};

/// Whether a `.npy` holds frames rather than deltas: by its name.
pub(crate) const FRAMES: &str = ".frames.npy";

/// Gives `base` what the file or folder `second` holds.
pub(crate) fn load(base: Asset, second: &Path) -> Result<Asset, IoError> {
    let name = second
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .to_lowercase();
    let paired = match Format::of(second) {
        format if second.is_dir() || format == Some(Format::Target) => {
            let targets = folder::makehuman_targets(second, base.vertex_count())?;
            with_targets(base, targets)
        }
        Some(Format::Npy) if name.ends_with(FRAMES) => with_frames(base, second),
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
        &with_ending(path, ".npy", ".txt"),
        frames.len(),
        "frames",
        &mut base.problems,
    )?;
    base.name.clone_from(&clip.name);
    Ok(with_points(base, clip, frames))
}

fn clip_name(path: &Path) -> String {
    let name = stem(path);
    name.strip_suffix(".frames").unwrap_or(&name).to_owned()
}

/// Adds a clip of absolute positions in the whole file's vertex order.
pub(crate) fn with_points(mut base: Asset, mut clip: Animation, frames: Vec<Vec<DVec3>>) -> Asset {
    clip.motions = if base.objects.len() == 1 {
        vec![Motion::new(0, Shape::Points(frames))]
    } else {
        let own = |places: &Vec<u32>| {
            frames
                .iter()
                .map(|f| places.iter().map(|&v| f[v as usize]).collect())
                .collect()
        };
        base.file_indices()
            .iter()
            .enumerate()
            .map(|(k, places)| Motion::new(k, Shape::Points(own(places))))
            .collect()
    };
    base.clips.push(clip);
    base
}

fn with_deltas(mut base: Asset, path: &Path) -> Result<Asset, IoError> {
    let rows = point_rows(path, "deltas", base.vertex_count())?;
    if look_absolute(&rows, base.mesh()?.positions()) {
        let name = stem(path);
        base.problems.push(format!(
            "'{}' looks like absolute positions (a clip), not displacements; name it {name}.frames.npy to read it as a clip",
            path.display()
        ));
    }
    let names_file = names_file(path);
    let mut names = read_names(&names_file, rows.len(), "targets", &mut base.problems)?;
    if names.is_empty() && !rows.is_empty() {
        let shown = names_file.display();
        base.problems.push(format!(
            "there is no '{shown}', so the targets are numbered"
        ));
        names = (0..rows.len()).map(|k| format!("target{k}")).collect();
    }
    let targets = names
        .into_iter()
        .zip(rows)
        .map(|(name, row)| Target::from_dense(name, row.iter().map(|d| d.as_vec3())))
        .collect();
    with_targets(base, targets).map_err(|e| match e {
        IoError::Rig { source, .. } => IoError::Rig {
            file: names_file.display().to_string(),
            source,
        },
        other => other,
    })
}

/// Where the names of the targets in `array` are.
pub(crate) fn names_file(array: &Path) -> PathBuf {
    let stem = stem(array);
    array.with_file_name(format!(
        "{}.names.txt",
        stem.strip_suffix(".delta").unwrap_or(&stem)
    ))
}

/// Whether most rows have the mesh's own distances from vertex to vertex: positions keep them
/// wherever they move and turn, displacements do not.
fn look_absolute(rows: &[Vec<DVec3>], rest: &[DVec3]) -> bool {
    let steps = |points: &[DVec3]| {
        points
            .windows(2)
            .map(|pair| pair[0].distance(pair[1]))
            .collect::<Vec<f64>>()
    };
    let at_rest = steps(rest);
    let keeps_distances = |row: &&Vec<DVec3>| {
        let own = steps(row);
        let change: f64 = own.iter().zip(&at_rest).map(|(a, b)| (a - b).abs()).sum();
        change < 0.5 * own.iter().sum::<f64>()
    };
    rows.iter().filter(keeps_distances).count() * 2 > rows.len()
}

/// What a pair can be made of, for a second file that holds nothing that moves.
const SECONDS: &str = "after '+' may stand displacements (NAME.npy), frames (NAME.frames.npy), a point cache (.mdd, .pc2), \
                       or .target files (one, or a folder of them); for targets as OBJs, name a folder that has them and neutral.obj";

fn with_cache(mut base: Asset, path: &Path) -> Result<Asset, IoError> {
    let cache = load_file(path)?;
    if cache.clips.is_empty() {
        let message = format!("it holds nothing that moves another mesh; {SECONDS}");
        return Err(IoError::Clip {
            file: cache.shown_source(),
            message,
        });
    }
    let clip = cache.only_clip()?;
    let moving = cache.clip()?;
    let (found, expected) = (cache.vertex_count(), base.vertex_count());
    if found != expected {
        return Err(other_count(path, "points of the cache", found, expected));
    }
    let clip = Animation {
        motions: Vec::new(),
        start_secs: 0.0,
        ..clip.clone()
    };
    base.problems.extend(cache.problems);
    Ok(with_points(base, clip, moving.frames().to_vec()))
}

fn point_rows(path: &Path, what: &str, vertex_count: usize) -> Result<Vec<Vec<DVec3>>, IoError> {
    let in_file = |e: ReadError| e.in_file(path.display().to_string());
    let array = npy::read(&read_file(path)?).map_err(in_file)?;
    let found = array.shape.get(1).copied();
    let rows = array.into_point_rows(what).map_err(in_file)?;
    match found {
        Some(found) if found != vertex_count => Err(other_count(path, what, found, vertex_count)),
        _ => Ok(rows),
    }
}

fn other_count(path: &Path, what: &str, found: usize, expected: usize) -> IoError {
    let message = format!(
        "the {what} are for {found} vertices, but the mesh has {expected}; export both from one mesh"
    );
    ReadError::whole(message).in_file(path.display().to_string())
}

/// One name per line; none where the file is not there.
fn read_names(
    path: &PathBuf,
    count: usize,
    what: &str,
    problems: &mut Vec<String>,
) -> Result<Vec<String>, IoError> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let bytes = std::fs::read(path).map_err(|e| IoError::reading(path, e))?;
    let text = String::from_utf8_lossy(&bytes);
    let names: Vec<String> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect();
    if names.len() == count {
        return Ok(names);
    }
    problems.push(format!(
        "'{}' has {} names for {count} {what}, so they are numbered instead",
        path.display(),
        names.len()
    ));
    Ok(Vec::new())
}

/// Gives the asset targets over the whole file's vertex order. Every object gets all of them, so
/// that their order stays.
pub(crate) fn with_targets(mut base: Asset, targets: Vec<Target>) -> Result<Asset, IoError> {
    let places = base.file_indices();
    let single = base.objects.len() == 1;
    let rig = |object: &Object, places: &[u32], targets: &[Target]| {
        let own = if single {
            targets.to_vec()
        } else {
            targets.iter().map(|t| restricted(t, places)).collect()
        };
        Rig::new(object.rig.neutral().clone(), own)
    };
    for k in 0..base.objects.len() {
        base.objects[k].rig =
            rig(&base.objects[k], &places[k], &targets).map_err(|e| base.broken(e))?;
    }
    Ok(base)
}

/// What of `target` moves the vertices at `places`, which ascend.
fn restricted(target: &Target, places: &[u32]) -> Target {
    let own = |vertices: &[u32], deltas: &[Vec3]| -> (Vec<u32>, Vec<Vec3>) {
        let moved = vertices
            .iter()
            .zip(deltas)
            .filter_map(|(v, d)| Some((places.binary_search(v).ok()? as u32, *d)));
        moved.unzip()
    };
    let (vertices, deltas) = own(&target.vertices, &target.deltas);
    let between = |b: &InBetween| {
        let (vertices, deltas) = own(&b.vertices, &b.deltas);
        InBetween {
            name: b.name.clone(),
            weight: b.weight,
            vertices,
            deltas,
        }
    };
    Target {
        name: target.name.clone(),
        vertices,
        deltas,
        in_betweens: target.in_betweens.iter().map(between).collect(),
    }
}
