//! Export to engines: skins with corrective shapes, and maps of `pliant bake`.

mod command;

use command::{folder, inside, json, pliant, refuses};
use pliant::io::npy;
use pliant::mesh::glam::DVec3;

const WALK: &str = "specimen:hound#walk";

fn frames(path: &str) -> Vec<Vec<DVec3>> {
    npy::read(&std::fs::read(path).unwrap())
        .unwrap()
        .into_point_rows("frames")
        .unwrap()
}

fn farthest(a: &[Vec<DVec3>], b: &[Vec<DVec3>]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter()
        .flatten()
        .zip(b.iter().flatten())
        .map(|(a, b)| a.distance(*b))
        .fold(0.0, f64::max)
}

#[test]
fn a_rig_with_corrective_shapes_reproduces_its_clip() {
    let folder = folder();
    let walk = pliant::specimens::specimen("hound")
        .unwrap()
        .clips
        .swap_remove(0);
    let diagonal = walk.reference().bounds().unwrap().diagonal();

    let out = inside(&folder, "rig.glb");
    let shown = inside(&folder, "r.npy");
    let played = inside(&folder, "played.npy");

    let mut last = f64::INFINITY;
    for morphs in ["0", "2", "1000"] {
        let args = [
            "bones",
            WALK,
            "--count",
            "6",
            "--morphs",
            morphs,
            "--out",
            &out,
            "--reconstruction",
            &shown,
        ];

        let report = json(&args);
        let rms = report["rms_with_morphs"].as_f64().unwrap();
        assert!(rms <= last && report["morphs"].as_u64().unwrap() <= walk.frames().len() as u64);
        last = rms;

        // The file, read again, has the reported error.
        assert!(pliant(&["convert", &out, &played]).status.success());
        assert!(farthest(&frames(&played), &frames(&shown)) < 2e-6 * diagonal);
    }

    assert!(last < 1e-6 * diagonal, "{last}");
    assert!(farthest(&frames(&played), walk.frames()) < 5e-6 * diagonal);
}

#[test]
fn a_skin_survives_conversion_and_a_frame_of_it_is_a_mesh() {
    let folder = folder();
    let rig = inside(&folder, "rig.glb");
    let copy = inside(&folder, "copy.glb");
    let picture = inside(&folder, "frame.png");

    json(&[
        "bones", WALK, "--count", "6", "--morphs", "3", "--out", &rig,
    ]);

    let report = json(&["convert", &rig, &copy]);
    assert_eq!(report["problems"].as_array().unwrap().len(), 0, "{report}");

    let bytes = std::fs::read(&copy).unwrap();
    let has = |word: &[u8]| bytes.windows(word.len()).any(|part| part == word);
    assert!(has(b"\"skins\"") && has(b"JOINTS_0") && has(b"corrective_0"));

    let [a, b] = [&rig, &copy].map(|file| {
        let out = inside(&folder, "f.npy");
        assert!(pliant(&["convert", file, &out]).status.success());
        frames(&out)
    });

    assert!(farthest(&a, &b) < 1e-6 * a[0].iter().map(|p| p.length()).fold(0.0, f64::max));
    assert!(
        pliant(&[
            "render",
            &format!("{rig}@3"),
            "--out",
            &picture,
            "--size",
            "80x60"
        ])
        .status
        .success()
    );

    let usd = json(&["convert", &rig, &inside(&folder, "rig.usda")]);
    assert!(!usd["problems"].to_string().contains("skin"), "{usd}");
}

#[test]
fn a_rig_with_shapes_has_the_same_bytes_on_one_thread_and_on_two() {
    let folder = folder();
    let rig = |threads: &str| {
        let out = inside(&folder, &format!("rig{threads}.glb"));
        assert!(
            pliant(&[
                "bones",
                WALK,
                "--count",
                "5",
                "--morphs",
                "4",
                "--out",
                &out,
                "--threads",
                threads
            ])
            .status
            .success()
        );

        std::fs::read(out).unwrap()
    };

    assert_eq!(rig("1"), rig("2"));
}

/// A sheet of 5 by 5 vertices with UVs and a bump of height `bump` in its middle.
fn sheet(bump: f64, uvs: bool) -> String {
    let mut text = String::new();
    for k in 0..25 {
        let (x, y) = (k % 5, k / 5);
        text += &format!("v {x} {y} {}\n", if k == 12 { bump } else { 0.0 });
        text += &format!(
            "vt {} {}\n",
            0.1 + 0.2 * f64::from(x),
            0.1 + 0.2 * f64::from(y)
        );
    }

    for (x, y) in (0..4).flat_map(|y| (0..4).map(move |x| (x, y))) {
        let corners = [(x, y), (x + 1, y), (x + 1, y + 1), (x, y + 1)].map(|(x, y)| 5 * y + x + 1);
        let corner = |v: i32| {
            if uvs {
                format!("{v}/{v}")
            } else {
                format!("{v}")
            }
        };

        text += &format!("f {}\n", corners.map(corner).join(" "));
    }

    text
}

fn write(folder: &tempfile::TempDir, name: &str, text: &str) -> String {
    let path = inside(folder, name);
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn a_bump_becomes_two_maps_and_a_file_with_its_height() {
    let folder = folder();
    let flat = write(&folder, "flat.obj", &sheet(0.0, true));
    let bumped = write(&folder, "bump.obj", &sheet(0.5, true));
    let out = inside(&folder, "maps");

    let report = json(&[
        "bake",
        &flat,
        &bumped,
        "--size",
        "50",
        "--padding",
        "2",
        "--out",
        &out,
    ]);

    assert_eq!(
        (
            report["offset"].as_f64(),
            report["scale"].as_f64(),
            report["sideways"].as_f64()
        ),
        (Some(0.0), Some(0.5), Some(0.0))
    );

    assert!((report["coverage"].as_f64().unwrap() - 0.64).abs() < 0.02);
    for name in ["displacement.png", "normal.png", "maps.json"] {
        assert!(
            std::path::Path::new(&inside(&folder, &format!("maps/{name}"))).exists(),
            "{name}"
        );
    }

    let again = inside(&folder, "again");
    json(&[
        "bake",
        &flat,
        &bumped,
        "--size",
        "50",
        "--padding",
        "2",
        "--out",
        &again,
        "--threads",
        "1",
    ]);

    for name in ["displacement.png", "normal.png"] {
        let [a, b] = ["maps", "again"]
            .map(|part| std::fs::read(inside(&folder, &format!("{part}/{name}"))).unwrap());
        assert_eq!(a, b, "{name}");
    }

    // Subdivided, the same sheet has more vertices; both sides must agree.
    refuses(
        &["bake", &flat, &bumped, "--levels", "1"],
        &inside(&folder, "no"),
        &["25 vertices", "--levels"],
    );
}

#[test]
fn surfaces_that_cannot_be_baked_are_refused_and_leave_no_file() {
    let folder = folder();
    let bare = write(&folder, "bare.obj", &sheet(0.0, false));
    let flat = write(&folder, "flat.obj", &sheet(0.0, true));
    let out = inside(&folder, "maps");

    refuses(&["bake", &bare, &bare], &out, &["no UVs", "unwrap"]);
    refuses(&["bake", &flat, WALK], &out, &["vertices", "same"]);
    refuses(&["bake", &flat, &flat, "--size", "0"], &out, &["0 by 0"]);
    refuses(&["bake", &flat, "nowhere.obj"], &out, &["nowhere.obj"]);

    // The layout may come from the detailed surface.
    assert!(
        pliant(&["bake", &bare, &flat, "--size", "16", "--out", &out])
            .status
            .success()
    );
}
