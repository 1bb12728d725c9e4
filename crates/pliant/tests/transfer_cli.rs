//! `pliant flexibility` and `pliant transfer` on the built-in animals.

mod animals;

use animals::{HOUND, farthest, frames_in, json, path, refusal, tapir, walk, written};
use pliant::io::{LoadOptions, load, npy};
use pliant::mesh::Mesh;
use tempfile::TempDir;

fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// The pairs of the two animals as a file.
fn marker_file(folder: &TempDir) -> String {
    written(
        folder,
        "pairs.json",
        serde_json::to_string(&pliant::specimens::markers()).unwrap(),
    )
}

/// A recipe with the hound's walk, and lines after the first layer's source.
fn recipe(folder: &TempDir, name: &str, layer: &str) -> String {
    let text = format!(
        "target = \"specimen:tapir\"\n\n[[source]]\nname = \"walk\"\nclip = \"{HOUND}\"\nmarkers = \"pairs.json\"\n\n[[layer]]\nsource = \"walk\"\n{layer}"
    );
    written(folder, name, text)
}

#[test]
fn flexibility_is_large_in_some_triangles_and_small_in_most() {
    let folder = folder();
    let out = path(&folder, "f.npy");
    let report = json(&["flexibility", HOUND, "--out", &out]);
    let values = npy::read(&std::fs::read(&out).unwrap()).unwrap().values;

    assert_eq!(values.len(), walk().reference().triangles().len());
    assert_eq!(report["triangles"], values.len());
    assert_eq!(
        report["max"].as_f64().unwrap(),
        values.iter().copied().fold(0.0, f64::max)
    );

    let stiff = values.iter().filter(|&&value| value < 0.1).count();
    assert!(
        2 * stiff > values.len() && stiff < values.len(),
        "{stiff} of {}",
        values.len()
    );

    assert!(
        refusal(1, &["flexibility", "specimen:hound", "--out", &out]).contains("'walk'"),
        "two clips: one is to be named"
    );
}

#[test]
fn a_transfer_animates_the_target_and_keeps_its_shape() {
    let folder = folder();
    let markers = marker_file(&folder);
    let out = path(&folder, "tapir.glb");
    let report = json(&[
        "transfer",
        "--source",
        HOUND,
        "--target",
        "specimen:tapir",
        "--markers",
        &markers,
        "--out",
        &out,
    ]);

    let (tapir, walk) = (tapir(), walk());
    assert_eq!(report["frames"], walk.frames().len());
    assert!(
        report["factor_ms"].as_f64().unwrap() > 0.0
            && report["solve_ms_per_frame"].as_f64().unwrap() > 0.0
    );

    let lost =
        report["map"]["uncovered"].as_u64().unwrap() + report["map"]["flipped"].as_u64().unwrap();
    assert!(
        lost < tapir.triangles().len() as u64 / 20,
        "{lost} triangles without a partner"
    );

    assert!(report["map"]["residual"].as_f64().unwrap() < 0.05);
    let moved = load(&out, &LoadOptions::default()).unwrap().clip().unwrap();
    assert_eq!(moved.frames().len(), walk.frames().len());
    assert_eq!(moved.frames_per_second(), walk.frames_per_second());
    assert_eq!(moved.reference().face_count(), tapir.face_count());
    assert_eq!(moved.reference().uv_layers().len(), tapir.uv_layers().len());

    let size = tapir.bounds().unwrap().diagonal();
    let way = moved
        .frames()
        .iter()
        .map(|frame| farthest(frame, tapir.positions()))
        .fold(0.0, f64::max);

    assert!(
        way > 0.05 * size && way < size,
        "the tapir moves by {way} of {size}"
    );
}

#[test]
fn transferring_a_clip_to_its_own_mesh_returns_the_clip() {
    let folder = folder();
    let pairs: Vec<[u32; 2]> = pliant::specimens::markers()
        .iter()
        .map(|pair| [pair[0], pair[0]])
        .collect();
    let lines: String = pairs.iter().map(|[a, b]| format!("{a},{b}\n")).collect();

    let markers = written(&folder, "same.csv", lines);
    let out = path(&folder, "again.npy");

    json(&[
        "transfer",
        "--source",
        HOUND,
        "--target",
        "specimen:hound",
        "--markers",
        &markers,
        "--out",
        &out,
    ]);

    let (walk, again) = (walk(), frames_in(&out));
    let size = walk.reference().bounds().unwrap().diagonal();
    assert_eq!(again.len(), walk.frames().len());
    assert!(
        again
            .iter()
            .zip(walk.frames())
            .all(|(a, b)| farthest(a, b) < 1e-9 * size)
    );
}

#[test]
fn a_recipe_of_one_layer_equals_the_plain_transfer() {
    let folder = folder();
    let markers = marker_file(&folder);
    let plain = path(&folder, "plain.npy");
    json(&[
        "transfer",
        "--source",
        HOUND,
        "--target",
        "specimen:tapir",
        "--markers",
        &markers,
        "--out",
        &plain,
    ]);

    let plain = frames_in(&plain);
    let whole = path(&folder, "whole.npy");
    let part = path(&folder, "part.npy");
    json(&[
        "transfer",
        &recipe(&folder, "whole.toml", ""),
        "--out",
        &whole,
    ]);

    assert_eq!(frames_in(&whole), plain);
    json(&[
        "transfer",
        &recipe(&folder, "part.toml", "frames = [2, 4]\nat = 1\n"),
        "--out",
        &part,
    ]);

    let (part, tapir) = (frames_in(&part), tapir());
    let size = tapir.bounds().unwrap().diagonal();
    assert_eq!(part.len(), 4);
    assert!(
        farthest(&part[0], tapir.positions()) < 1e-9 * size,
        "nothing shows before the layer starts"
    );

    assert!((0..3).all(|k| farthest(&part[k + 1], &plain[k + 2]) < 1e-9 * size));
}

#[test]
fn a_region_is_the_same_as_array_file_and_list() {
    let folder = folder();
    marker_file(&folder);
    let tapir = tapir();
    let faces: Vec<usize> = (0..tapir.face_count())
        .filter(|&f| tapir.positions()[tapir.face(f)[0] as usize].z > 0.0)
        .collect();

    let mask = (0..tapir.face_count()).map(|f| f64::from(u8::from(faces.contains(&f))));
    written(
        &folder,
        "front.npy",
        npy::write_f64(&[tapir.face_count()], mask),
    );

    written(
        &folder,
        "front.json",
        serde_json::to_string(&faces).unwrap(),
    );

    let frames = |region: &str| {
        let file = recipe(
            &folder,
            "region.toml",
            &format!("{region}\nrefine = false\nframes = [3, 3]\n"),
        );
        let out = path(&folder, "region.npy");

        json(&["transfer", &file, "--out", &out]);
        frames_in(&out)
    };

    let by_array = frames("region = \"front.npy\"");
    assert_eq!(by_array, frames("region = \"front.json\""));
    assert_eq!(by_array, frames(&format!("region = {faces:?}")));
    assert_ne!(by_array, frames("region = \"all\""));
}

#[test]
fn a_missing_face_does_not_change_a_refined_region() {
    let folder = folder();
    marker_file(&folder);
    let tapir = tapir();
    let front: Vec<usize> = (0..tapir.face_count())
        .filter(|&f| tapir.positions()[tapir.face(f)[0] as usize].z > 0.0)
        .collect();

    let frames = |faces: &[usize], refine: bool| {
        let layer = format!("region = {faces:?}\nrefine = {refine}\nframes = [3, 3]\n");
        let file = recipe(&folder, "front.toml", &layer);
        let out = path(&folder, "front.npy");
        json(&["transfer", &file, "--out", &out]);
        frames_in(&out)
    };

    let missed = &front[1..];
    assert_eq!(frames(&front, true), frames(missed, true));
    assert_ne!(frames(&front, false), frames(missed, false));
    assert_ne!(frames(&front, true), vec![tapir.positions().to_vec()]);
}

#[test]
fn a_region_of_one_rigid_face_moves_nothing_with_a_warning() {
    let folder = folder();
    marker_file(&folder);
    let file = recipe(&folder, "one.toml", "region = [0]\nframes = [3, 3]\n");
    let out = path(&folder, "one.npy");
    let report = json(&["transfer", &file, "--root", "fix", "--out", &out]);
    let tapir = tapir();
    let moved = farthest(&frames_in(&out)[0], tapir.positions());

    let warned = report["problems"]
        .as_array()
        .unwrap()
        .iter()
        .any(|problem| problem.as_str().unwrap().contains("layer 0 moves nothing"));

    assert!(
        warned && moved < 1e-9 * tapir.bounds().unwrap().diagonal(),
        "{moved}: {report}"
    );
}

#[test]
fn a_mesh_and_its_frames_can_be_written_as_a_pair_with_the_targets_own_names() {
    let folder = folder();
    let markers = marker_file(&folder);
    let out = path(&folder, "new.reference.obj+new.frames.npy");

    json(&[
        "transfer",
        "--source",
        HOUND,
        "--target",
        "specimen:tapir",
        "--markers",
        &markers,
        "--method",
        "warp",
        "--out",
        &out,
    ]);

    let back = load(&out, &LoadOptions::default()).unwrap();
    assert_eq!(back.clip().unwrap().frames().len(), walk().frames().len());

    let names = |mesh: &Mesh| {
        (0..mesh.face_count())
            .map(|f| mesh.groups().of(f).map(str::to_owned))
            .collect::<Vec<_>>()
    };

    assert_eq!(names(&back.mesh().unwrap()), names(&tapir()));
}

#[test]
fn the_template_runs_as_it_is_and_is_not_overwritten() {
    let folder = folder();
    let file = path(&folder, "start.toml");
    json(&["transfer", "--init", &file]);
    let out = path(&folder, "start.npy");
    assert_eq!(
        json(&["transfer", &file, "--out", &out])["frames"],
        walk().frames().len()
    );
    assert!(refusal(1, &["transfer", "--init", &file]).contains("already exists"));
}

#[test]
fn refusals_name_the_file_the_line_and_the_key() {
    let folder = folder();
    marker_file(&folder);
    let out = path(&folder, "no.npy");
    let refused = |layer: &str| {
        refusal(
            1,
            &[
                "transfer",
                &recipe(&folder, "bad.toml", layer),
                "--out",
                &out,
            ],
        )
    };

    for (layer, names) in [
        ("sped = 2.0\n", ["bad.toml", "line 10", "sped"]),
        (
            "frames = [0, 9999]\n",
            ["bad.toml", "layer 0, frames", "9999"],
        ),
        (
            "speed = 0.0\n",
            ["bad.toml", "layer 0, speed", "above zero"],
        ),
        ("at = 9000000000000\n", ["bad.toml", "layer 0", "the most"]),
        (
            "region = \"nowhere.npy\"\n",
            ["bad.toml", "nowhere.npy", "does not exist"],
        ),
        (
            "region = [99999999]\n",
            ["bad.toml", "layer 0, region", "99999999"],
        ),
        (
            "\n[[layer]]\nsource = \"trot\"\n",
            ["bad.toml", "layer 1, source", "'trot'"],
        ),
        (
            "\n[[source]]\nname = \"walk\"\nclip = \"specimen:hound#stretch\"\n",
            ["bad.toml", "source 1, name", "walk"],
        ),
    ] {
        let message = refused(layer);
        assert!(
            names.iter().all(|name| message.contains(name)),
            "{layer}: {message}"
        );
        assert_eq!(message.lines().count(), 1);
    }

    written(&folder, "short.npy", npy::write_f64(&[3], [0.0, 1.0, 0.0]));
    assert!(refused("region = \"short.npy\"\n").contains("one per face"));

    let few = written(&folder, "few.json", "[[0, 0], [1, 1], [2, 2]]");
    let plain = [
        "transfer",
        "--source",
        HOUND,
        "--target",
        "specimen:tapir",
        "--out",
        &out,
    ];

    assert!(refusal(1, &[&plain[..], &["--markers", &few]].concat()).contains("at least 4"));
    assert!(
        refusal(1, &[&plain[..], &["--markers", "nowhere.json"]].concat()).contains("nowhere.json")
    );
    assert!(!folder.path().join("no.npy").exists());
}

#[test]
fn a_source_without_a_target_and_a_recipe_beside_a_source_are_wrong_usage() {
    refusal(2, &["transfer"]);
    refusal(2, &["transfer", "--source", HOUND, "--out", "x.npy"]);
    refusal(
        2,
        &[
            "transfer",
            "r.toml",
            "--source",
            HOUND,
            "--target",
            "specimen:tapir",
            "--out",
            "x.npy",
        ],
    );

    refusal(
        2,
        &["transfer", "--source", HOUND, "--target", "specimen:tapir"],
    );
}
