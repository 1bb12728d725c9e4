//! `[detail]` of a recipe of `pliant learn`.

mod bending_sheet;
mod command;

use std::fs;

use bending_sheet::{AMOUNTS, POINTS, array, bent, frames_of, obj, points, sheet, sheet_recipe};
use command::{inside, json, refuses};
use pliant::mesh::glam::DVec3;
use pliant::mesh::{LoopSubdivision, vertex_normals};
use tempfile::TempDir;

/// The subdivided sheet with ripples that grow with the bend.
fn rippled(amount: f64) -> Vec<DVec3> {
    let finer = LoopSubdivision::of(&sheet()).unwrap();
    let smooth = finer.apply(&bent(amount));
    let normals = vertex_normals(&finer.mesh().posed(smooth.clone()).unwrap());
    let rest = finer.mesh().positions();
    (0..rest.len())
        .map(|v| smooth[v] + normals[v] * (0.1 * amount * (rest[v].x * 9.0).sin()))
        .collect()
}

/// As [`sheet_recipe`], with a clip of its ripples and scans of them.
fn rippled_recipe(more: &str) -> (TempDir, String) {
    let (folder, recipe) = sheet_recipe(more);
    let finer = LoopSubdivision::of(&sheet()).unwrap();
    fs::write(
        inside(&folder, "ripple.reference.obj"),
        obj(finer.mesh(), &rippled(0.0)),
    )
    .unwrap();

    fs::write(
        inside(&folder, "ripple.frames.npy"),
        array(&AMOUNTS.map(rippled)),
    )
    .unwrap();

    for (k, amount) in [0.0].into_iter().chain(AMOUNTS).enumerate() {
        fs::write(
            inside(&folder, &format!("scan{k}.obj")),
            obj(finer.mesh(), &rippled(amount)),
        )
        .unwrap();
    }

    (folder, recipe)
}

const CLIP: &str = "[detail]\nexamples = \"ripple.reference.obj+ripple.frames.npy\"\n";
const SCANS: &str = "[detail]\nexamples = [\"scan0.obj\", \"scan1.obj\", \"scan2.obj\", \"scan3.obj\", \"scan4.obj\"]\nreach = 1.5\n";

#[test]
fn a_model_is_driven_with_and_without_detail() {
    for more in [CLIP, SCANS] {
        let (folder, recipe) = rippled_recipe(more);
        let model = inside(&folder, "m.safetensors");
        let out = inside(&folder, "out.npy");
        let file = inside(&folder, "p.npy");

        let report = json(&["learn", &recipe, "--out", &model]);
        assert!(
            report["detail"]["levels"] == 1
                && report["detail"]["mode"] == "auto"
                && report["detail"]["height_edges"].is_number(),
            "{report}"
        );

        fs::write(&file, array(&[points(0.25)])).unwrap();
        let frame = |more: &[&str]| {
            let report =
                json(&[&["drive", &model, "--points", &file, "--out", &out], more].concat());
            (report, frames_of(&out).remove(0))
        };
        let (report, detailed) = frame(&[]);
        let truth = rippled(0.25);

        assert!(
            report["detail"] == true && report["vertices"] == truth.len(),
            "{report}"
        );

        assert!(
            detailed
                .iter()
                .zip(&truth)
                .all(|(a, b)| a.distance(*b) < 0.02)
        );

        let (report, base) = frame(&["--no-detail"]);
        assert!(report["detail"] == false && base.len() == sheet().vertex_count());
        assert_eq!(frame(&["--threads", "1"]).1, frame(&["--threads", "2"]).1);
    }
}

#[test]
fn validate_lists_errors_with_and_without_detail() {
    let (_folder, recipe) = rippled_recipe(CLIP);
    let report = json(&["validate", &recipe]);
    let pose = &report["poses"][1];

    for key in [
        "rms",
        "detail_rms",
        "base_rms",
        "static_rms",
        "height_rms",
        "static_height_rms",
    ] {
        assert!(pose[key].is_number(), "{key}: {report}");
    }

    let mean = &report["mean_detail"];
    assert!(
        mean["height_rms"].as_f64() < mean["static_height_rms"].as_f64(),
        "{report}"
    );
}

#[test]
fn examples_without_a_base_are_smoothed_and_keep_their_faces() {
    let (folder, _) = rippled_recipe("");
    let recipe = inside(&folder, "r.toml");
    let model = inside(&folder, "m.safetensors");
    let text = format!(
        "examples = \"ripple.reference.obj+ripple.frames.npy\"\ncontrol_points = {POINTS:?}\n[detail]\nsmoothing = 5\n"
    );

    fs::write(&recipe, text).unwrap();
    let report = json(&["learn", &recipe, "--out", &model]);
    assert!(
        report["detail"]["levels"] == 0 && report["detail"]["vertices"] == rippled(0.0).len(),
        "{report}"
    );
}

#[test]
fn invalid_detail_settings_are_refused_in_one_line() {
    for (more, words) in [
        ("[detail]\nlevles = 1\n", &["line 4", "levles"][..]),
        ("[detail]\nmode = \"bumpy\"\n", &["bumpy", "cascaded"]),
        ("[detail]\nlevels = 1\n", &["detail.levels"]),
        ("[detail]\nsmoothing = 0\n", &["smoothing", "0"]),
        (
            "[detail]\nexamples = [\"scan0.obj\"]\n",
            &["1 detailed poses", "5 examples"],
        ),
        ("[detail]\nexamples = \"nothing.glb\"\n", &["nothing.glb"]),
        (
            "[detail]\nexamples = \"ripple.reference.obj+ripple.frames.npy\"\nlevels = 40\n",
            &["levels"],
        ),
        (
            "[detail]\nexamples = \"ripple.reference.obj+ripple.frames.npy\"\nsmoothing = 4\n",
            &["detail.smoothing"],
        ),
    ] {
        let (folder, recipe) = rippled_recipe(more);
        refuses(
            &["learn", &recipe],
            &inside(&folder, "m.safetensors"),
            words,
        );
    }
}
