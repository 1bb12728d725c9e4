//! `[detail]` of a learn recipe from the outside.

mod bending_sheet;
mod command;

use std::fs;

use bending_sheet::{AMOUNTS, POINTS, array, bent, frames_of, obj, points, sheet, studio};
use command::{declines, inside, json};
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

/// As [`studio`], with a clip of its ripples and scans of them.
fn rippled_studio(more: &str) -> (TempDir, String) {
    let (folder, recipe) = studio(more);
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
fn a_sheet_is_driven_with_its_ripples_and_without() {
    for more in [CLIP, SCANS] {
        let (folder, recipe) = rippled_studio(more);
        let (model, out, file) = (
            inside(&folder, "m.safetensors"),
            inside(&folder, "out.npy"),
            inside(&folder, "p.npy"),
        );
        let told = json(&["learn", &recipe, "--out", &model]);
        assert!(
            told["detail"]["levels"] == 1
                && told["detail"]["mode"] == "auto"
                && told["detail"]["height_edges"].is_number(),
            "{told}"
        );
        fs::write(&file, array(&[points(0.25)])).unwrap();
        let frame = |more: &[&str]| {
            let told = json(&[&["drive", &model, "--points", &file, "--out", &out], more].concat());
            (told, frames_of(&out).remove(0))
        };
        let (told, detailed) = frame(&[]);
        let truth = rippled(0.25);
        assert!(
            told["detail"] == true && told["vertices"] == truth.len(),
            "{told}"
        );
        assert!(
            detailed
                .iter()
                .zip(&truth)
                .all(|(a, b)| a.distance(*b) < 0.02)
        );
        let (told, base) = frame(&["--no-detail"]);
        assert!(told["detail"] == false && base.len() == sheet().vertex_count());
        assert_eq!(frame(&["--threads", "1"]).1, frame(&["--threads", "2"]).1);
    }
}

#[test]
fn validate_tells_the_errors_with_details_beside_those_of_the_base() {
    let (_folder, recipe) = rippled_studio(CLIP);
    let told = json(&["validate", &recipe]);
    let pose = &told["poses"][1];
    for key in [
        "rms",
        "detail_rms",
        "base_rms",
        "static_rms",
        "height_rms",
        "static_height_rms",
    ] {
        assert!(pose[key].is_number(), "{key}: {told}");
    }
    let mean = &told["mean_detail"];
    assert!(
        mean["height_rms"].as_f64() < mean["static_height_rms"].as_f64(),
        "{told}"
    );
}

#[test]
fn examples_without_a_base_are_smoothed_and_keep_their_faces() {
    let (folder, _) = rippled_studio("");
    let (recipe, model) = (inside(&folder, "r.toml"), inside(&folder, "m.safetensors"));
    let text = format!(
        "examples = \"ripple.reference.obj+ripple.frames.npy\"\ncontrol_points = {POINTS:?}\n[detail]\nsmoothing = 5\n"
    );
    fs::write(&recipe, text).unwrap();
    let told = json(&["learn", &recipe, "--out", &model]);
    assert!(
        told["detail"]["levels"] == 0 && told["detail"]["vertices"] == rippled(0.0).len(),
        "{told}"
    );
}

#[test]
fn details_that_cannot_be_are_told_in_one_line() {
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
        let (folder, recipe) = rippled_studio(more);
        declines(
            &["learn", &recipe],
            &inside(&folder, "m.safetensors"),
            words,
        );
    }
}
