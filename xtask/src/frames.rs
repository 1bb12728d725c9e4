//! `cargo xtask frames FOLDER`: FBX files against the meshes that their programs exported.
//!
//! A file `NAME.obj` or `NAME_FRAME.obj` in FOLDER is what `NAME_VERSION_ascii.fbx` and
//! `NAME_VERSION_binary.fbx` should look like, at rest or in that frame. Positions are compared corner
//! by corner where both files have their faces in one order, else each expected vertex with the
//! nearest one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pliant::io::Asset;
use pliant::mesh::glam::DVec3;

use crate::Outcome;

/// *Chosen*: OBJ texts have six decimals, and animation curves are single precision.
const TOLERANCE: f64 = 1e-4;

pub(crate) fn run(folder: &Path) -> Outcome<()> {
    let mut names: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        names.push(entry?.path());
    }
    names.sort();

    let mut scenes: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for path in &names {
        if let Some(name) = scene_name(path) {
            scenes.entry(name).or_default().push(path.clone());
        }
    }

    let mut equal = 0;
    let mut different = Vec::new();
    for path in names.iter().filter(|path| has_ending(path, "obj")) {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let (name, frame) = match scenes.contains_key(&*stem) {
            true => (stem.to_string(), None),
            false => match stem.rsplit_once('_') {
                Some((name, frame)) if frame.parse::<usize>().is_ok() => {
                    (name.to_owned(), frame.parse::<f64>().ok())
                }
                _ => continue,
            },
        };
        for scene in scenes.get(&name).into_iter().flatten() {
            match distance(scene, path, frame) {
                Ok(far) if far <= TOLERANCE => equal += 1,
                Ok(far) => different.push((scene, path, format!("{far:.2e} of the diagonal"))),
                Err(error) => different.push((scene, path, error.to_string())),
            }
        }
    }

    println!("{equal} of {} frames are equal", equal + different.len());
    for (scene, path, why) in different {
        let name = |path: &Path| {
            path.file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned()
        };
        println!("{} | {} | {why}", name(scene), name(path));
    }
    Ok(())
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension()
        .is_some_and(|found| found.eq_ignore_ascii_case(ending))
}

/// `NAME` of `NAME_7400_binary.fbx`.
fn scene_name(path: &Path) -> Option<String> {
    let stem = path
        .file_stem()?
        .to_str()
        .filter(|_| has_ending(path, "fbx"))?;
    let name = stem
        .strip_suffix("_ascii")
        .or_else(|| stem.strip_suffix("_binary"))?;
    let (name, version) = name.rsplit_once('_')?;
    version.parse::<u32>().ok()?;
    Some(name.to_owned())
}

/// The largest distance of corresponding points, relative to the diagonal of the expected mesh.
fn distance(scene: &Path, expected: &Path, frame: Option<f64>) -> Outcome<f64> {
    let load = |path: &Path| pliant::load(&path.display().to_string());
    let asset = load(scene)?;
    let expected = load(expected)?.mesh()?;
    let positions = match frame {
        Some(frame) => in_frame(&asset, frame)?,
        None => asset.resting_mesh()?.positions().to_vec(),
    };
    let found = asset.mesh()?.posed(positions)?;

    let bounds = expected.bounds().ok_or("no vertices")?;
    let size = (bounds.max - bounds.min).length().max(f64::MIN_POSITIVE);
    let corners = |mesh: &pliant::mesh::Mesh| -> Vec<DVec3> {
        let vertices = mesh.faces().flatten();
        vertices.map(|&v| mesh.positions()[v as usize]).collect()
    };
    let (a, b) = (corners(&found), corners(&expected));
    let in_order = if a.len() == b.len() {
        a.iter()
            .zip(&b)
            .map(|(a, b)| a.distance(*b))
            .fold(0.0, f64::max)
    } else {
        f64::INFINITY
    };
    if in_order <= TOLERANCE * size {
        return Ok(in_order / size);
    }

    // The exporters may have ordered faces in another way.
    let mut farthest = 0.0_f64;
    for &wanted in &b {
        let near = a
            .iter()
            .map(|p| p.distance_squared(wanted))
            .fold(f64::INFINITY, f64::min);
        farthest = farthest.max(near);
    }
    Ok(farthest.sqrt().min(in_order) / size)
}

/// The positions at a frame of the scene's own numbering.
fn in_frame(asset: &Asset, frame: f64) -> Outcome<Vec<DVec3>> {
    let Some(clip) = asset.clips.first() else {
        return Ok(asset.resting_mesh()?.positions().to_vec());
    };
    let index = frame - clip.start_secs * clip.frames_per_second;
    let index = index.round().max(0.0) as usize;
    let last = clip.frame_count.saturating_sub(1);
    Ok(asset
        .clip_positions(0, index.min(last))
        .ok_or("no such frame")?)
}
