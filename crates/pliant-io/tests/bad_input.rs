//! Errors of bad input: one line that names the file and the cause.

use std::fs;

use pliant_io::{Asset, LoadOptions, Specimens, UpAxis, load, npy, obj, save};
use pliant_mesh::glam::{DVec3, Vec3Swizzles};
use tempfile::TempDir;

const TRIANGLE: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";

fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    folder
}

fn message(folder: &TempDir, locator: &str) -> String {
    let error = load(locator, &LoadOptions::default().with_folder(folder.path())).unwrap_err();
    let text = error.to_string();
    assert!(!text.contains('\n'), "one line: {text}");
    text
}

fn assert_says(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "'{word}' in: {text}");
    }
}

#[test]
fn missing_files_empty_files_and_folders_are_reported() {
    let folder = folder(&[
        ("empty.obj", b""),
        ("box/readme.txt", b"x"),
        ("tri.obj", TRIANGLE.as_bytes()),
        ("what.xyzzy", b"?"),
    ]);

    assert_says(
        &message(&folder, "none.obj"),
        &["none.obj", "does not exist"],
    );

    assert_says(
        &message(&folder, "none.obj+x.npy"),
        &["none.obj+x.npy", "does not exist"],
    );

    assert_says(
        &message(&folder, "tri.obj+x.npy"),
        &["x.npy", "does not exist"],
    );
    assert_says(&message(&folder, "empty.obj"), &["empty.obj", "is empty"]);
    assert_says(&message(&folder, "box"), &["box", "no .obj files"]);

    assert_says(
        &message(&folder, "tri.obj+box"),
        &["box", "no .target files"],
    );

    assert_says(
        &message(&folder, "what.xyzzy"),
        &["what.xyzzy", "unknown", "obj"],
    );

    assert_says(
        &message(&folder, "tri.obj/x.obj"),
        &["tri.obj/x.obj", "does not exist"],
    );
}

#[test]
fn an_index_out_of_range_is_reported_with_file_and_line() {
    let folder = folder(&[("far.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n")]);
    assert_says(
        &message(&folder, "far.obj"),
        &["far.obj, line 4: ", "vertex 9", "3"],
    );
}

#[test]
fn nan_is_an_error_or_a_warning_on_request() {
    let deltas = npy::write_f32(&[1, 3, 3], [f32::NAN; 9]);
    let folder = folder(&[
        ("nan.obj", b"v 0 0 0\nv nan 0 0\nv 0 1 0\nf 1 2 3\n"),
        ("tri.obj", TRIANGLE.as_bytes()),
        ("d.npy", &deltas),
    ]);

    assert_says(&message(&folder, "nan.obj"), &["nan.obj", "vertex 1"]);
    assert_says(
        &message(&folder, "tri.obj+d.npy"),
        &["d.npy", "target 'target0'", "vertex 0"],
    );

    for (locator, words) in [("nan.obj", "vertex 1"), ("tri.obj+d.npy", "target0")] {
        let asset = load(
            locator,
            &LoadOptions::default()
                .with_folder(folder.path())
                .keeping_not_finite(),
        )
        .unwrap();

        assert!(
            asset.warnings.iter().any(|p| p.contains(words)),
            "{:?}",
            asset.warnings
        );

        let out = folder.path().join("out.obj");
        assert!(save(&asset, &out).is_err() && !out.exists());
    }
}

#[test]
fn deltas_and_frames_that_do_not_fit_are_reported() {
    let tri = TRIANGLE.as_bytes();
    let few = npy::write_f64(&[1, 2, 3], [0.0; 6]);
    let flat = npy::write_f64(&[3, 3], [0.0; 9]);
    let whole = npy::write_i64(&[1, 3, 3], [0; 9]);

    let files: [(&str, &[u8]); 6] = [
        ("t.obj", tri),
        ("few.npy", &few),
        ("few.frames.npy", &few),
        ("flat.npy", &flat),
        ("whole.npy", &whole),
        ("text.npy", b"0 0 0\n"),
    ];

    let folder = folder(&files);
    assert_says(
        &message(&folder, "t.obj+few.npy"),
        &["few.npy", "2 vertices", "3"],
    );

    assert_says(
        &message(&folder, "t.obj+few.frames.npy"),
        &["few.frames.npy", "frames", "2 vertices", "3"],
    );
    assert_says(&message(&folder, "t.obj+flat.npy"), &["flat.npy", "3 × 3"]);
    assert_says(
        &message(&folder, "t.obj+whole.npy"),
        &["whole.npy", "floating-point"],
    );

    assert_says(
        &message(&folder, "t.obj+text.npy"),
        &["text.npy", "not a .npy"],
    );
    assert_says(&message(&folder, "few.npy"), &["few.npy", "MESH+ARRAY"]);
}

#[test]
fn errors_about_missing_names_and_frames_list_the_existing_ones() {
    let two = "o left/eye\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\no right/eye\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 4 5 6\n";
    let frames = npy::write_f64(&[2, 3, 3], [0.5; 18]);
    let folder = folder(&[
        ("two.obj", two.as_bytes()),
        ("t.obj", TRIANGLE.as_bytes()),
        ("t.frames.npy", &frames),
    ]);

    assert_says(
        &message(&folder, "two.obj#eye"),
        &["two.obj", "'eye'", "'left/eye'", "'right/eye'"],
    );

    assert_says(
        &message(&folder, "two.obj#nose"),
        &["two.obj", "'nose'", "'left/eye'"],
    );

    assert_says(
        &message(&folder, "t.obj+t.frames.npy@2"),
        &["t.frames.npy", "frame 2", "2 frames"],
    );
    assert_says(&message(&folder, "t.obj@0"), &["t.obj", "no clip"]);

    let error = load(
        "t.obj@first",
        &LoadOptions::default().with_folder(folder.path()),
    )
    .unwrap_err();

    assert!(error.is_usage() && error.to_string().contains("'first'"));
}

#[test]
fn folders_of_shapes_need_a_neutral_and_one_vertex_count() {
    let wide = TRIANGLE.replace("v 1 0 0", "v 3 0 0");
    let files: [(&str, &[u8]); 6] = [
        ("good/rest.obj", TRIANGLE.as_bytes()),
        ("good/wide.obj", wide.as_bytes()),
        ("bad/neutral.obj", TRIANGLE.as_bytes()),
        (
            "bad/more.obj",
            b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 1\nf 1 2 3\n",
        ),
        ("targets/far.target", b"0 1 0 0\n3 1 0 0\n"),
        ("tri.obj", TRIANGLE.as_bytes()),
    ];

    let folder = folder(&files);
    assert_says(
        &message(&folder, "good"),
        &["good", "'neutral.obj'", "--neutral", "rest"],
    );
    assert_says(&message(&folder, "bad"), &["more.obj", "4 vertices", "3"]);

    assert_says(
        &message(&folder, "tri.obj+targets"),
        &["far.target, line 2", "vertex 3"],
    );
    assert_says(&message(&folder, "good"), &["(there are rest, wide)"]);

    let rig = load(
        "good",
        &LoadOptions::default()
            .with_folder(folder.path())
            .with_neutral("rest.obj"),
    )
    .unwrap()
    .rig()
    .unwrap();

    assert_eq!(rig.targets()[0].name, "wide");
    assert_eq!(
        (&*rig.targets()[0].vertices, rig.targets()[0].deltas[0].x),
        (&[1_u32][..], 2.0)
    );
}

#[test]
fn an_empty_target_is_a_target_that_moves_nothing_with_a_warning() {
    let folder = folder(&[
        ("tri.obj", TRIANGLE.as_bytes()),
        ("targets/none.target", b""),
        ("targets/comment.target", b"# nothing\n"),
        ("targets/up.target", b"0 0 1 0\n"),
    ]);
    let options = LoadOptions::default().with_folder(folder.path());
    let asset = load("tri.obj+targets", &options).unwrap();
    assert_eq!(asset.target_names(), ["comment", "none", "up"]);
    for name in ["comment.target", "none.target"] {
        let is_said = |warning: &String| warning.contains(name) && warning.contains("moves no");
        assert!(asset.warnings.iter().any(is_said), "{name}");
    }
    assert_eq!(asset.warnings.len(), 2);
}

#[test]
fn the_name_of_the_neutral_ignores_case() {
    let folder = folder(&[
        ("rig/Neutral.OBJ", TRIANGLE.as_bytes()),
        ("rig/smile.obj", TRIANGLE.as_bytes()),
    ]);
    let rig = load("rig", &LoadOptions::default().with_folder(folder.path())).unwrap();
    assert_eq!(rig.target_names(), ["smile"]);
}

#[test]
fn the_error_for_a_mesh_as_second_file_lists_what_is_possible() {
    let folder = folder(&[
        ("rig.obj", TRIANGLE.as_bytes()),
        ("smile.obj", TRIANGLE.as_bytes()),
    ]);
    assert_says(
        &message(&folder, "rig.obj+smile.obj"),
        &[
            "smile.obj: ",
            ".npy",
            ".frames.npy",
            ".mdd",
            ".pc2",
            ".target",
            "neutral.obj",
        ],
    );
}

#[test]
fn positions_in_a_file_of_displacements_are_reported() {
    let rest = obj::read(TRIANGLE.as_bytes()).unwrap().mesh().unwrap();
    // Turned, growing, and far from where it rests.
    let drift = DVec3::splat(5.0);
    let frames = (0..4).map(|k| {
        rest.positions()
            .iter()
            .map(|p| p.yzx() * (1.0 + 0.1 * f64::from(k)) + drift * f64::from(k))
            .collect()
    });

    let flat = |rows: Vec<Vec<DVec3>>| {
        npy::write_f64(
            &[rows.len(), 3, 3],
            rows.iter().flatten().flat_map(|p| p.to_array()),
        )
    };

    let positions = flat(frames.collect());
    let moved = flat(
        (0..4)
            .map(|k| {
                rest.positions()
                    .iter()
                    .map(|p| *p * 0.1 * f64::from(k) + drift)
                    .collect()
            })
            .collect(),
    );

    let folder = folder(&[
        ("t.obj", TRIANGLE.as_bytes()),
        ("x.npy", &positions),
        ("d.npy", &moved),
    ]);

    let warnings = |locator: &str| {
        load(locator, &LoadOptions::default().with_folder(folder.path()))
            .unwrap()
            .warnings
    };

    assert!(
        warnings("t.obj+x.npy")
            .iter()
            .any(|p| p.contains("looks like absolute positions") && p.contains("x.frames.npy"))
    );

    assert!(
        !warnings("t.obj+d.npy")
            .iter()
            .any(|p| p.contains("absolute"))
    );
}

#[test]
fn an_up_axis_that_a_format_cannot_store_is_reported() {
    let folder = folder(&[]);
    let mut asset = obj::read(TRIANGLE.as_bytes()).unwrap();
    asset.up_axis = UpAxis::Z;

    assert_eq!(
        save(&asset, folder.path().join("up.obj")).unwrap().left_out,
        ["the up axis Z"]
    );

    asset.meters_per_unit = Some(0.01);
    assert_eq!(
        save(&asset, folder.path().join("cm.obj")).unwrap().left_out,
        ["the up axis Z", "the unit (one unit is 0.01 m)"]
    );
    let upright = save(&asset, folder.path().join("up.glb")).unwrap();
    assert_eq!(upright.left_out, [""; 0]);
}

#[test]
fn a_failed_write_leaves_nothing_behind() {
    let folder = folder(&[("file", b"x"), ("taken/x", b"x")]);
    let asset = obj::read(TRIANGLE.as_bytes()).unwrap();
    let message = |name: &str| {
        save(&asset, folder.path().join(name))
            .unwrap_err()
            .to_string()
    };

    fs::create_dir(folder.path().join("dir.obj")).unwrap();
    // A regular file as parent fails for every user, also for root.
    assert_says(
        &message("file/out.obj"),
        &["file/out.obj", "cannot be written"],
    );

    assert_says(&message("dir.obj"), &["dir.obj", "folder"]);
    assert_says(&message("out.xyzzy"), &["out.xyzzy", "unknown", "obj"]);
    assert_says(
        &message("none/out.obj"),
        &[
            "none/out.obj",
            "cannot be written",
            "there is no folder",
            "make it first",
        ],
    );

    let mut left: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();

    left.sort();
    assert_eq!(left, ["dir.obj", "file", "taken"]);
}

struct OnlyDot;

impl Specimens for OnlyDot {
    fn names(&self) -> Vec<String> {
        vec!["dot".into()]
    }
    fn specimen(&self, name: &str) -> Option<Asset> {
        (name == "dot").then(|| obj::read(b"v 1 2 3\n").unwrap())
    }
}

#[test]
fn specimens_come_from_the_caller() {
    let options = LoadOptions::default().with_specimens(&OnlyDot);
    assert_eq!(load("specimen:dot", &options).unwrap().vertex_count(), 1);
    assert_says(
        &load("specimen:cat", &options).unwrap_err().to_string(),
        &["'cat'", "dot"],
    );
}

#[test]
fn content_that_a_format_cannot_store_is_reported() {
    let deltas = npy::write_f32(&[1, 3, 3], [1.0; 9]);
    let folder = folder(&[
        ("t.obj", TRIANGLE.as_bytes()),
        ("d.npy", &deltas),
        ("d.names.txt", b"lift\n"),
    ]);

    let asset = load(
        "t.obj+d.npy",
        &LoadOptions::default().with_folder(folder.path()),
    )
    .unwrap();

    assert_eq!(asset.target_names(), ["lift"]);
    assert_eq!(
        save(&asset, folder.path().join("out.obj"))
            .unwrap()
            .left_out,
        ["1 target(s)"]
    );

    let mut resting = asset.clone();
    resting.objects[0].rest_weights = vec![0.5];
    assert_eq!(
        save(&resting, folder.path().join("out.usda"))
            .unwrap()
            .left_out,
        ["1 weight(s) at rest (all targets rest at zero)"]
    );

    let frames = npy::write_f32(&[1, 3, 3], [1.0; 9]);
    fs::write(folder.path().join("w.frames.npy"), frames).unwrap();
    let mut clip = load(
        "t.obj+w.frames.npy",
        &LoadOptions::default().with_folder(folder.path()),
    )
    .unwrap();

    clip.clips[0].frames_per_second = 60.0;
    assert_eq!(
        save(&clip, folder.path().join("o.obj+o.frames.npy"))
            .unwrap()
            .left_out,
        ["the rate of 60 frames a second"]
    );
}

#[test]
fn warnings_of_the_second_file_are_reported() {
    let turned = TRIANGLE.replace("f 1 2 3", "f 1 3 2");
    assert_ne!(turned, TRIANGLE);
    let folder = folder(&[
        ("rig/neutral.obj", TRIANGLE.as_bytes()),
        ("rig/smile.obj", format!("{turned}l 1 2\n").as_bytes()),
    ]);
    let rig = load("rig", &LoadOptions::default().with_folder(folder.path())).unwrap();
    assert_says(&rig.warnings[0], &["smile.obj", "1 × 'l'"]);
    assert_says(&rig.warnings[1], &["smile.obj", "not those of the neutral"]);
}

#[test]
fn damaged_and_empty_files_are_refused_and_only_reports_describe_them() {
    let mut counted = b"ply\nformat ascii 1.0\n".to_vec();
    counted.extend(b"element vertex 0\nproperty float x\nproperty float y\nproperty float z\n");
    counted.extend(b"element face 0\nproperty list uchar int vertex_indices\nend_header\n");
    let no_rows = npy::write_f32(&[0, 3, 3], []);
    let files: [(&str, &[u8]); 9] = [
        ("zeros.stl", &[0; 684]),
        ("none.stl", &[0; 84]),
        ("text.stl", b"solid a\nendsolid a\n"),
        ("none.ply", &counted),
        ("none.off", b"OFF\n0 0 0\n"),
        ("none.usda", b"#usda 1.0\ndef Xform \"a\"\n{\n}\n"),
        ("tri.obj", TRIANGLE.as_bytes()),
        ("none.frames.npy", &no_rows),
        ("none.npy", &no_rows),
    ];
    let folder = folder(&files);
    let report = LoadOptions::default()
        .with_folder(folder.path())
        .keeping_not_finite();

    for name in ["none.stl", "text.stl", "none.ply", "none.off", "none.usda"] {
        assert_says(&message(&folder, name), &[name, "no vertex"]);
        assert_eq!(load(name, &report).unwrap().vertex_count(), 0, "{name}");
    }
    for name in ["zeros.stl", "tri.obj+none.frames.npy", "tri.obj+none.npy"] {
        message(&folder, name);
        assert!(load(name, &report).is_err(), "{name}");
    }
}

#[test]
fn an_fbx_file_that_is_cut_off_anywhere_is_refused() {
    let folder = folder(&[("tri.obj", TRIANGLE.as_bytes())]);
    let asset = load(
        "tri.obj",
        &LoadOptions::default().with_folder(folder.path()),
    )
    .unwrap();
    let whole = pliant_io::fbx::write(&asset).unwrap().bytes;
    let path = folder.path().join("cut.fbx");
    fs::write(&path, &whole).unwrap();
    let locator = path.display().to_string();
    load(&locator, &LoadOptions::default()).unwrap();

    // All that follows the last section is a footer, which no reader needs.
    let footer = whole.len() - 200;
    for length in (1..footer).step_by(37) {
        fs::write(&path, &whole[..length]).unwrap();
        let refused = load(&locator, &LoadOptions::default().keeping_not_finite());
        assert!(refused.is_err(), "{length} bytes of {}", whole.len());
    }
}
