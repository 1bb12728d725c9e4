//! Real files: the asset evaluated at a frame equals the scene evaluated by the library.
//!
//! Files are those below the folder in the environment variable `PLIANT_DATA`.

use std::path::{Path, PathBuf};

use pliant_mesh::glam::DVec3;
use ufbx::EvaluateOpts;

use super::{affine, options, read, vector};
use crate::{Animation, Asset, NoFiles};

/// The largest difference, relative to the diagonal of the scene.
const TOLERANCE: f64 = 1e-5;

/// All files below a folder with the ending of the format.
pub(in crate::formats::fbx) fn files_below(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            files_below(&path, found);
        } else if path
            .extension()
            .is_some_and(|e| e.eq_ignore_ascii_case("fbx"))
        {
            found.push(path);
        }
    }
}

/// The greatest distance of a frame from the evaluated scene, relative to the diagonal.
fn distance(asset: &Asset, clip: &Animation, frame: usize, moment: &ufbx::Scene) -> f64 {
    let (mut least, mut greatest) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    let mut farthest = 0.0_f64;
    let nodes = moment.nodes.iter().filter(|node| node.mesh.is_some());
    for (k, node) in nodes.enumerate() {
        let mesh = node.mesh.as_ref().unwrap();
        if !mesh.cache_deformers.is_empty() {
            continue;
        }
        let world = affine(&node.geometry_to_world);
        let expected = mesh
            .skinned_position
            .values
            .iter()
            .map(|p| match mesh.skinned_is_local {
                true => world.transform_point3(vector(p)),
                false => vector(p),
            });
        let found = clip.positions(k, &asset.objects[k], frame);
        for (found, expected) in found.iter().zip(expected) {
            farthest = farthest.max(found.distance(expected));
            least = least.min(expected);
            greatest = greatest.max(expected);
        }
    }
    if farthest == 0.0 {
        0.0
    } else {
        farthest / greatest.distance(least)
    }
}

/// The clips of a file at three frames each, compared with the library; how many it has.
fn compare(path: &Path, failures: &mut Vec<String>) -> usize {
    let bytes = std::fs::read(path).unwrap();
    let (Ok(asset), Ok(scene)) = (
        read(&bytes, &NoFiles),
        ufbx::load_memory(&bytes, options(bytes.len())),
    ) else {
        return 0;
    };

    let mut stacks = scene.anim_stacks.iter();
    for clip in &asset.clips {
        let same_name = |stack: &&ufbx::Ref<ufbx::AnimStack>| *stack.element.name == clip.name;
        let stack = stacks
            .find(same_name)
            .expect("clips are in the order of stacks");
        for frame in [0, clip.frame_count / 3, clip.frame_count - 1] {
            let evaluate = EvaluateOpts {
                evaluate_skinning: true,
                ..EvaluateOpts::default()
            };
            let time = clip.time_secs(frame);
            let moment = ufbx::evaluate_scene(&scene, &stack.anim, time, evaluate).unwrap();
            let distance = distance(&asset, clip, frame, &moment);
            if distance > TOLERANCE || distance.is_nan() {
                let (path, name) = (path.display(), &clip.name);
                failures.push(format!(
                    "{path}, clip '{name}', frame {frame}: {distance:e}"
                ));
            }
        }
    }

    asset.clips.len()
}

#[test]
fn every_frame_equals_the_scene_that_the_library_evaluates() {
    let Some(folder) = std::env::var_os("PLIANT_DATA") else {
        #[allow(clippy::print_stderr, reason = "a skipped test says why")]
        {
            eprintln!("skipped: PLIANT_DATA is not set, so no FBX file is read");
        }
        return;
    };
    let mut files = Vec::new();
    files_below(Path::new(&folder), &mut files);
    files.sort();

    let mut failures = Vec::new();
    let clips: usize = files.iter().map(|path| compare(path, &mut failures)).sum();
    assert!(clips > 0, "no FBX clip below PLIANT_DATA");
    let (count, lines) = (failures.len(), failures.join("\n"));
    assert!(
        failures.is_empty(),
        "{count} frames of {clips} clips differ:\n{lines}"
    );
}
