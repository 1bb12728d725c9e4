//! Recipes of `pliant transfer` with several sources and layers, and their errors.

mod command;

use std::fmt::Write as _;
use std::fs;

use command::{folder, inside, json, refuses};
use pliant::io::npy;
use pliant::mesh::glam::DVec3;
use pliant::mesh::{Mesh, shapes};
use serde_json::Value;
use tempfile::TempDir;

fn written(folder: &TempDir, name: &str, content: impl AsRef<[u8]>) -> String {
    let file = inside(folder, name);
    fs::write(&file, content).expect("a file in a temporary folder");
    file
}

/// A folder with the hound's markers and a clip `still` of the hound that does not move for 24
/// frames.
fn animal_folder() -> TempDir {
    let folder = folder();
    written(
        &folder,
        "pairs.json",
        serde_json::to_string(&pliant::specimens::markers()).unwrap(),
    );

    let rest = pliant::specimens::specimen("hound")
        .expect("a hound")
        .rig
        .neutral()
        .clone();

    written(&folder, "still.reference.obj", obj(&rest));
    let frames = vec![rest.positions().to_vec(); 24];
    written(&folder, "still.frames.npy", array(&frames));

    folder
}

fn array(frames: &[Vec<DVec3>]) -> Vec<u8> {
    let values = frames.iter().flatten().flat_map(|p| p.to_array());
    npy::write_f64(
        &[frames.len(), frames.first().map_or(0, Vec::len), 3],
        values,
    )
}

/// A recipe for the tapir with the hound's walk, the hound at rest, and some layers.
fn recipe(folder: &TempDir, layers: &str) -> String {
    let source = |name: &str, clip: &str| {
        format!("[[source]]\nname = \"{name}\"\nclip = \"{clip}\"\nmarkers = \"pairs.json\"\n\n")
    };
    let sources = source("walk", "specimen:hound#walk")
        + &source("still", "still.reference.obj+still.frames.npy");

    written(
        folder,
        "recipe.toml",
        format!("target = \"specimen:tapir\"\n\n{sources}{layers}"),
    )
}

fn layer(source: &str, more: &str) -> String {
    format!("[[layer]]\nsource = \"{source}\"\nframes = [0, 5]\n{more}\n")
}

fn frames(folder: &TempDir, layers: &str) -> (Vec<Vec<DVec3>>, Value) {
    let out = inside(folder, "out.npy");
    let report = json(&[
        "transfer",
        &recipe(folder, layers),
        "--root",
        "fix",
        "--out",
        &out,
    ]);

    (
        npy::read(&fs::read(&out).unwrap())
            .unwrap()
            .into_point_rows("frames")
            .unwrap(),
        report,
    )
}

fn farthest(a: &[Vec<DVec3>], b: &[Vec<DVec3>]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter()
        .flatten()
        .zip(b.iter().flatten())
        .map(|(p, q)| p.distance(*q))
        .fold(0.0, f64::max)
}

fn tapir() -> Mesh {
    pliant::specimens::specimen("tapir")
        .expect("a tapir")
        .rig
        .neutral()
        .clone()
}

fn has_warning(report: &Value, word: &str) -> bool {
    report["problems"]
        .as_array()
        .unwrap()
        .iter()
        .any(|problem| problem.as_str().unwrap().contains(word))
}

#[test]
fn a_source_at_rest_changes_nothing_in_compound_mode_and_replaces_all_in_blend_mode() {
    let folder = animal_folder();
    let tapir = tapir();
    let front = "region = \"all\"\nrefine = false\n";
    let size = tapir.bounds().unwrap().diagonal();
    let (walk, report) = frames(&folder, &layer("walk", ""));

    assert_eq!(report["sources"].as_array().unwrap().len(), 2);
    let (compound, _) = frames(
        &folder,
        &(layer("walk", "") + &layer("still", &format!("{front}mode = \"compound\"\n"))),
    );

    assert!(farthest(&walk, &compound) < 1e-6 * size);
    let (blend, _) = frames(&folder, &(layer("walk", "") + &layer("still", front)));
    let (still, _) = frames(&folder, &layer("still", ""));

    assert!(farthest(&blend, &still) < 1e-6 * size && farthest(&walk, &still) > 0.02 * size);
}

#[test]
fn a_repeated_layer_changes_nothing() {
    let folder = animal_folder();
    let faces: Vec<usize> = (0..tapir().face_count() / 2).collect();
    let part = layer("walk", &format!("region = {faces:?}\nrefine = false\n"));
    let (once, _) = frames(&folder, &(layer("still", "") + &part));
    let (twice, _) = frames(&folder, &(layer("still", "") + &part + &part));
    let (both, _) = frames(
        &folder,
        &(layer("still", "")
            + &layer(
                "walk",
                &format!(
                    "region = {:?}\nrefine = false\n",
                    [&faces[..], &faces[..]].concat()
                ),
            )),
    );

    let size = tapir().bounds().unwrap().diagonal();
    assert!(
        farthest(&once, &twice) < 1e-6 * size,
        "blending onto itself"
    );
    assert_eq!(once, both, "a face named twice is in the region once");
}

#[test]
fn an_empty_region_moves_nothing_with_a_warning() {
    let folder = animal_folder();
    let (_, report) = frames(
        &folder,
        &(layer("still", "") + &layer("walk", "region = []\nrefine = false\n")),
    );

    assert!(
        has_warning(&report, "layer 1 moves nothing: its region is empty"),
        "{}",
        report["problems"]
    );
}

#[test]
fn files_that_are_missing_or_do_not_fit_are_named() {
    let folder = animal_folder();
    let out = inside(&folder, "no.npy");
    let refused = |layers: &str, words: &[&str]| {
        refuses(&["transfer", &recipe(&folder, layers)], &out, words)
    };
    let faces = tapir().face_count();

    written(
        &folder,
        "long.npy",
        npy::write_f64(&[faces + 1], vec![0.0; faces + 1]),
    );

    refused(
        &layer("walk", "region = \"long.npy\"\n"),
        &["layer 0, region", "long.npy", &faces.to_string()],
    );

    written(
        &folder,
        "values.npy",
        npy::write_f64(&[faces], vec![0.5; faces]),
    );

    refused(
        &layer("walk", "region = \"values.npy\"\n"),
        &["values.npy", "0 or 1"],
    );

    refused(
        &layer("walk", "region = \"gone.json\"\n"),
        &["gone.json", "does not exist"],
    );

    refused(
        "[[source]]\nname = \"walk\"\nclip = \"specimen:hound#stretch\"\n\n[[layer]]\nsource = \"walk\"\n",
        &["source 2, name", "'walk'"],
    );

    refused(
        "[[source]]\nname = \"x\"\nclip = \"gone.glb\"\n\n[[layer]]\nsource = \"x\"\n",
        &["gone.glb"],
    );

    let no_markers = "[[source]]\nname = \"x\"\nclip = \"specimen:hound#walk\"\nmarkers = \"gone.csv\"\n\n[[layer]]\nsource = \"x\"\n";
    refused(no_markers, &["gone.csv"]);
}

#[test]
fn a_clip_whose_frames_have_another_vertex_count_is_declined() {
    let folder = animal_folder();
    written(
        &folder,
        "still.frames.npy",
        array(&[vec![DVec3::ZERO; 17], vec![DVec3::ZERO; 17]]),
    );

    refuses(
        &["transfer", &recipe(&folder, &layer("walk", ""))],
        &inside(&folder, "no.npy"),
        &["still.frames.npy", "17"],
    );
}

/// Two balls, one beside the other.
fn two_balls(apart: f64) -> Mesh {
    let ball = shapes::icosphere(2);
    let n = ball.vertex_count() as u32;
    let squeezed = |p: &DVec3| *p * DVec3::new(1.0, 0.8, 0.6) + DVec3::Z * 0.2 * p.y * p.y;
    let positions = [0.0, apart]
        .iter()
        .flat_map(|x| {
            ball.positions()
                .iter()
                .map(move |p| squeezed(p) + DVec3::X * *x)
        })
        .collect();

    let triangles: Vec<[u32; 3]> = [0, n]
        .iter()
        .flat_map(|first| ball.triangles().iter().map(move |t| t.map(|v| v + first)))
        .collect();

    Mesh::from_triangles(positions, &triangles).unwrap()
}

fn obj(mesh: &Mesh) -> String {
    let mut text = String::new();
    for p in mesh.positions().iter() {
        writeln!(text, "v {} {} {}", p.x, p.y, p.z).unwrap();
    }
    for [a, b, c] in mesh.triangles().iter() {
        writeln!(text, "f {} {} {}", a + 1, b + 1, c + 1).unwrap();
    }
    text
}

#[test]
fn markers_on_different_components_give_a_warning() {
    let folder = folder();
    let (source, target) = (two_balls(3.0), two_balls(4.0));
    let n = source.vertex_count() as u32 / 2;
    written(&folder, "balls.reference.obj", obj(&source));

    let bounce = source
        .positions()
        .iter()
        .map(|p| *p + DVec3::Y * p.x.max(0.0))
        .collect();

    written(
        &folder,
        "balls.frames.npy",
        array(&[source.positions().to_vec(), bounce]),
    );

    let target = written(&folder, "target.obj", obj(&target));
    let mut pairs: Vec<[u32; 2]> = [0, n]
        .iter()
        .flat_map(|first| (0..12).map(move |v| [v + first, v + first]))
        .collect();

    pairs.push([20, n + 20]);
    let file = written(
        &folder,
        "pairs.json",
        serde_json::to_string(&pairs).unwrap(),
    );

    let clip = inside(&folder, "balls.reference.obj+balls.frames.npy");
    let meshes = ["--source", &clip, "--target", &target, "--markers", &file];
    let report = json(
        &[
            &["transfer"],
            &meshes[..],
            &["--out", &inside(&folder, "moved.npy")],
        ]
        .concat(),
    );

    assert!(
        report["frames"] == 2 && has_warning(&report, "marker 24 (20, "),
        "{}",
        report["problems"]
    );

    let check = json(&[&["markers", "check"], &meshes[..]].concat());
    assert_eq!(check["markers"][24]["flaws"][0], "other_part");
}
