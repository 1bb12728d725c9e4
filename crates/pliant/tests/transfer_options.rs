//! Options of `pliant transfer`: feet, reference poses, regions by group and stroke, and
//! self-intersections.

mod animals;

use std::sync::OnceLock;

use animals::{HOUND, farthest, frames_in, json, path, refusal, tapir, walk, written};
use pliant::io::npy;
use pliant::jobs::TransferJob;
use pliant::mesh::glam::DVec3;
use pliant::mesh::{Mesh, shapes};
use pliant::recipes::TransferRecipe;
use pliant::transfer::{Correspondence, CorrespondenceOptions, FootContactOptions, FootContacts};
use serde_json::Value;
use tempfile::TempDir;

/// A folder with the markers of the two animals.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    written(
        &folder,
        "pairs.json",
        serde_json::to_string(&pliant::specimens::markers()).unwrap(),
    );
    folder
}

/// A recipe of the hound's walk on the tapir, with lines at its top, in its layer, and after it.
fn recipe(folder: &TempDir, top: &str, layer: &str) -> String {
    let source =
        format!("[[source]]\nname = \"walk\"\nclip = \"{HOUND}\"\nmarkers = \"pairs.json\"\n");
    written(
        folder,
        "r.toml",
        format!(
            "target = \"specimen:tapir\"\n{top}\n{source}[[layer]]\nsource = \"walk\"\n{layer}\n"
        ),
    )
}

/// The frames of a recipe, with one correspondence for all of them.
fn frames_of(folder: &TempDir, layer: &str) -> Vec<Vec<DVec3>> {
    static FOUND: OnceLock<Correspondence> = OnceLock::new();

    let text = std::fs::read_to_string(recipe(folder, "", layer)).unwrap();
    let job =
        TransferJob::load(&TransferRecipe::parse(&text).unwrap(), Some(folder.path())).unwrap();
    let found = [FOUND
        .get_or_init(|| {
            job.correspondence(0, &CorrespondenceOptions::default())
                .unwrap()
        })
        .clone()];

    let ((layers, _), (options, _)) = (job.layers(&found).unwrap(), job.options(&found).unwrap());
    job.synthesis(&found, layers, options)
        .unwrap()
        .motion(&())
        .unwrap()
        .frames
}

#[test]
fn foot_contacts_of_the_hound_are_on_a_moving_ground() {
    let contacts = FootContacts::find(&walk(), &FootContactOptions::default()).unwrap();
    let step = contacts.ground_step();
    assert!(
        step.z < -0.01 && step.x.abs() < 1e-3 && step.y == 0.0,
        "{step}"
    );

    assert!(
        (0..walk().frames().len()).all(|k| contacts.at(k).len() > 20),
        "some feet stand in every frame of a walk"
    );
}

#[test]
fn planted_feet_of_the_source_are_planted_in_the_target() {
    let folder = folder();
    let plain = path(&folder, "plain.npy");
    let held = path(&folder, "held.npy");
    let markers = path(&folder, "pairs.json");
    let args = [
        "transfer",
        "--source",
        HOUND,
        "--target",
        "specimen:tapir",
        "--markers",
        &markers,
    ];

    let report = json(&[&args[..], &["--out", &plain]].concat());
    assert!(report.get("feet").is_none());

    let report = json(&[&args[..], &["--feet", "--out", &held]].concat());
    let feet = |key: &str| report["feet"][key].as_f64().unwrap();
    assert!(
        feet("vertices") > 20.0 && feet("slide") < 0.01 && feet("slide") < feet("slide_before"),
        "{}",
        report["feet"]
    );

    let plain = frames_in(&plain);
    let held = frames_in(&held);
    let size = tapir().bounds().unwrap().diagonal();

    let changes: Vec<f64> = plain
        .iter()
        .zip(&held)
        .map(|(a, b)| farthest(a, b))
        .collect();

    assert!(
        changes.iter().all(|change| *change < 0.05 * size),
        "{changes:?}"
    );

    let correction = |k: usize, v: usize| held[k][v] - plain[k][v];
    let jumps = (1..plain.len()).flat_map(|k| (0..plain[0].len()).map(move |v| (k, v)));
    let jump = jumps
        .map(|(k, v)| correction(k, v).distance(correction(k - 1, v)))
        .fold(0.0, f64::max);
    let step = plain
        .windows(2)
        .map(|pair| farthest(&pair[0], &pair[1]))
        .fold(0.0, f64::max);

    assert!(
        jump < 0.5 * step,
        "the correction changes by {jump} where the animal moves by {step}"
    );
}

#[test]
fn a_recipe_and_options_give_the_same_result() {
    let folder = folder();
    let by_option = path(&folder, "a.npy");
    let by_recipe = path(&folder, "b.npy");
    let layer = "frames = [2, 8]";
    json(&[
        "transfer",
        &recipe(&folder, "", layer),
        "--feet",
        "--root",
        "fix",
        "--untangle",
        "--out",
        &by_option,
    ]);

    json(&[
        "transfer",
        &recipe(
            &folder,
            "feet = true\nroot = \"fix\"\nuntangle = true\noutput = \"b.npy\"",
            layer,
        ),
    ]);

    assert_eq!(frames_in(&by_option), frames_in(&by_recipe));
    let message = refusal(2, &["transfer", &recipe(&folder, "", "")]);
    assert!(
        message.contains("--out") && message.contains("output ="),
        "{message}"
    );
}

#[test]
fn groups_lists_and_strokes_select_their_faces() {
    let folder = folder();
    let tapir = tapir();
    let of_groups = |names: &[&str]| -> Vec<usize> {
        (0..tapir.face_count())
            .filter(|&f| {
                tapir
                    .groups()
                    .of(f)
                    .is_some_and(|group| names.contains(&group))
            })
            .collect()
    };

    let frames = |layer: &str| {
        frames_of(
            &folder,
            &format!("{layer}\nrefine = false\nframes = [3, 3]"),
        )
    };

    let head = of_groups(&["head"]);
    assert!(!head.is_empty());
    assert_eq!(
        frames("region = \"#head\""),
        frames(&format!("region = {head:?}"))
    );

    let both = of_groups(&["head", "tail"]);
    assert_eq!(
        frames("region = [\"#head\", \"#tail\"]"),
        frames(&format!("region = {both:?}"))
    );

    // A stroke of one vertex is the faces around it; triangles of one face are drawn on together
    // only if both touch.
    let vertex = tapir.face(head[0])[0];
    let around: Vec<u32> = tapir
        .topology()
        .vertex_triangles()
        .row(vertex as usize)
        .to_vec();

    let stroke = frames(&format!("strokes = [[{vertex}]]"));
    assert!(
        around.len() > 2
            && stroke != frames("region = \"#head\"")
            && stroke != frames("region = \"all\"")
    );

    written(&folder, "lines.json", format!("[[{vertex}]]"));
    assert_eq!(stroke, frames("strokes = \"lines.json\""));
    assert_eq!(
        frames(&format!("strokes = [[{vertex}]]\nwidth = 4.0")),
        frames("region = \"all\""),
        "wider than the animal"
    );
}

#[test]
fn a_band_blends_the_border_and_a_threshold_decides_what_is_stiff() {
    let folder = folder();
    let frames = |layer: &str| {
        frames_of(
            &folder,
            &format!("region = \"#head\"\nframes = [3, 3]\n{layer}"),
        )
    };

    let [hard, none, band] = ["refine = false", "band = 0.0", "band = 0.05"].map(frames);
    assert_eq!(hard, none, "a band without width is the region as drawn");
    assert_ne!(hard, band);

    // Nothing is stiff below zero: then the band decides by itself.
    assert_eq!(frames("threshold = 0.0"), band);
    assert_ne!(frames("threshold = 0.1"), band);
}

#[test]
fn a_modified_pose_rotates_its_region_and_zero_degrees_change_nothing() {
    let folder = folder();
    let turned = |degrees: f64| {
        frames_of(
            &folder,
            &format!(
                "frames = [3, 3]\n[[modify]]\nregion = \"#head\"\nband = 0.05\naxis = [0, 1, 0]\ndegrees = {degrees}"
            ),
        )
    };

    let plain = frames_of(&folder, "frames = [3, 3]");
    let size = tapir().bounds().unwrap().diagonal();

    assert!(farthest(&turned(0.0)[0], &plain[0]) < 1e-9 * size);
    let moved = farthest(&turned(25.0)[0], &plain[0]);
    assert!(
        moved > 0.02 * size && moved < 0.5 * size,
        "{moved} of {size}"
    );
}

#[test]
fn equal_reference_poses_are_aligned_without_rotation() {
    let folder = folder();
    let walk = walk();
    let pairs: Vec<[u32; 2]> = pliant::specimens::markers()
        .iter()
        .map(|pair| [pair[0], pair[0]])
        .collect();

    let markers = written(&folder, "same.json", serde_json::to_string(&pairs).unwrap());
    let out = path(&folder, "own.npy");
    let args = [
        "transfer",
        "--source",
        HOUND,
        "--target",
        "specimen:hound",
        "--markers",
        &markers,
        "--align-poses",
        "--out",
        &out,
    ];

    json(&args);
    let size = walk.reference().bounds().unwrap().diagonal();
    let own = frames_in(&out);

    assert!(
        own.iter()
            .zip(walk.frames())
            .all(|(a, b)| farthest(a, b) < 1e-6 * size)
    );
}

/// Two balls side by side that approach: a source without contact, and a target whose balls are
/// thicker.
fn balls(radius: f64, apart: f64) -> Mesh {
    let ball = shapes::icosphere(3);
    let n = ball.vertex_count() as u32;
    let one = |x: f64| {
        ball.positions()
            .iter()
            .map(move |p| *p * radius + DVec3::X * x)
    };

    let triangles: Vec<[u32; 3]> = ball
        .triangles()
        .iter()
        .copied()
        .chain(ball.triangles().iter().map(|t| t.map(|v| v + n)))
        .collect();

    Mesh::from_triangles(
        one(-apart / 2.0).chain(one(apart / 2.0)).collect(),
        &triangles,
    )
    .unwrap()
}

#[test]
fn self_intersections_of_a_thicker_target_are_counted_and_removed() {
    let folder = folder();
    let obj = |name: &str, mesh: &Mesh| {
        let vertices = mesh
            .positions()
            .iter()
            .map(|p| format!("v {} {} {}\n", p.x, p.y, p.z));

        let faces = mesh
            .triangles()
            .iter()
            .map(|t| format!("f {} {} {}\n", t[0] + 1, t[1] + 1, t[2] + 1));

        written(&folder, name, vertices.chain(faces).collect::<String>())
    };

    let source = obj("thin.reference.obj", &balls(0.8, 2.2));
    let target = obj("thick.obj", &balls(1.0, 2.2));
    let frames: Vec<DVec3> = [2.2, 2.0, 1.94]
        .iter()
        .flat_map(|apart| balls(0.8, *apart).positions().to_vec())
        .collect();

    let numbers = frames.iter().flat_map(|p| p.to_array());
    let count = balls(1.0, 2.2).vertex_count();
    written(
        &folder,
        "thin.frames.npy",
        npy::write_f64(&[3, count, 3], numbers),
    );

    let markers = written(
        &folder,
        "all.json",
        serde_json::to_string(&(0..count).map(|v| [v, v]).collect::<Vec<_>>()).unwrap(),
    );
    let clip = format!("{source}+{}", path(&folder, "thin.frames.npy"));
    let cut = path(&folder, "cut.npy");
    let parted = path(&folder, "parted.npy");

    let args = [
        "transfer",
        "--source",
        &clip,
        "--target",
        &target,
        "--markers",
        &markers,
    ];

    let report = json(&[&args[..], &["--check", "--out", &cut]].concat());
    let counts = |report: &Value| {
        report["intersections"]
            .as_array()
            .unwrap()
            .iter()
            .map(|n| n.as_u64().unwrap())
            .collect::<Vec<_>>()
    };

    assert!(
        counts(&report)[0] == 0 && counts(&report)[2] > 0,
        "{report}"
    );
    assert!(
        report["problems"]
            .to_string()
            .contains("frames have self-intersections")
    );

    let report = json(&[&args[..], &["--untangle", "--out", &parted]].concat());
    assert_eq!(counts(&report), [0, 0, 0]);

    let (cut, parted) = (frames_in(&cut), frames_in(&parted));
    assert_eq!(
        cut[0], parted[0],
        "what cuts nowhere does not change by a bit"
    );
    assert!(farthest(&cut[2], &parted[2]) < 0.1);
}

#[test]
fn each_layer_has_its_own_frames_and_speed() {
    let folder = folder();
    // The walk twice as fast from its fourth frame on: every second frame of the plain transfer.
    let plain = frames_of(&folder, "");
    let fast = frames_of(&folder, "frames = [4, 12]\nspeed = 2.0\nat = 1");
    assert_eq!(fast.len(), 6);
    let size = tapir().bounds().unwrap().diagonal();
    assert!((0..5).all(|k| farthest(&fast[k + 1], &plain[4 + 2 * k]) < 1e-9 * size));
}

#[test]
fn a_refused_recipe_option_names_its_place_and_the_remedy() {
    let folder = folder();
    let out = path(&folder, "no.npy");
    let refused = |top: &str, layer: &str| {
        refusal(
            1,
            &["transfer", &recipe(&folder, top, layer), "--out", &out],
        )
    };

    for (top, layer, names) in [
        ("feet = 1", "", ["r.toml", "line 2", "boolean"]),
        ("root = \"free\"", "", ["line 2", "free", "carry"]),
        ("up = \"w\"", "", ["line 2", "w", "`y`"]),
        (
            "",
            "band = -0.1",
            ["r.toml", "layer 0, band", "from zero up"],
        ),
        (
            "",
            "threshold = -1.0",
            ["layer 0, threshold", "-1", "from zero up"],
        ),
        (
            "",
            "region = \"#wings\"",
            ["layer 0, region", "'wings'", "'head'"],
        ),
        (
            "",
            "strokes = [[0, 99999999]]",
            ["layer 0, strokes, stroke 0", "99999999", "r.toml"],
        ),
        (
            "",
            "strokes = \"nowhere.json\"",
            ["r.toml", "nowhere.json", "does not exist"],
        ),
        (
            "",
            "strokes = [[0, 1]]\nwidth = nan",
            ["layer 0, width", "NaN", "from zero up"],
        ),
        (
            "",
            "[[modify]]\naxis = [0, 0, 0]\ndegrees = 5",
            ["modify 0, axis", "[0, 0, 0]", "[0, 1, 0]"],
        ),
    ] {
        let message = refused(top, layer);
        assert!(
            names.iter().all(|name| message.contains(name)),
            "{top}{layer}: {message}"
        );
        assert_eq!(message.lines().count(), 1);
    }

    assert!(!folder.path().join("no.npy").exists());
}
