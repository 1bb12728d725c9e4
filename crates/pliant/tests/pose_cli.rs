//! `pliant pose`: the residual layer and the prior.

mod command;

use command::{folder, inside, json, pliant, refuses};
use pliant::mesh::glam::DVec3;
use pliant::rig::Rig;
use serde_json::Value;
use tempfile::TempDir;

fn head() -> Rig {
    pliant::specimens::specimen("head")
        .expect("the head is built in")
        .rig
}

/// The vertex of the head that a slider moves most.
fn moved_most(slider: &str) -> usize {
    let rig = head();
    let target = &rig.targets()[rig
        .slider_named(slider)
        .expect("a slider of the head")
        .index()];
    let (k, _) = target
        .deltas
        .iter()
        .map(|d| d.length())
        .enumerate()
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .expect("it moves something");

    target.vertices[k] as usize
}

fn points(path: &str) -> Vec<DVec3> {
    let array = pliant::io::npy::read(&std::fs::read(path).expect("a file that was written"))
        .expect("an array");
    array.values.chunks(3).map(DVec3::from_slice).collect()
}

/// A brow pulled farther than its sliders go.
fn far_pin() -> String {
    format!("{}:0.2,1.6,0.8", moved_most("browOuterUpLeft"))
}

#[test]
fn a_prior_says_where_it_comes_from_and_moves_both_sides_of_an_expression() {
    let folder = folder();
    let out = inside(&folder, "posed.npy");
    let pin = format!("{}:0.2,0.5,0", moved_most("mouthSmileLeft"));
    let pose = |prior: &str| {
        json(&[
            "pose",
            "specimen:head",
            "--pin",
            &pin,
            "--prior",
            prior,
            "--out",
            &out,
        ])
    };

    let known = pose("builtin");
    assert_eq!(known["method"], "prior");
    assert_eq!(known["prior"]["source"], "specimen:head");
    assert_eq!(
        known["prior"]["sliders"].as_u64().unwrap() as usize,
        head().targets().len()
    );
    assert!(known["kkt"].as_f64().unwrap() < 1e-6, "{}", known["kkt"]);

    // The performance smiles with both corners.
    let weight = |name: &str| known["weights"][name].as_f64().unwrap_or(0.0);
    assert!(
        weight("mouthSmileLeft") > 0.1 && weight("mouthSmileRight") > 0.1,
        "{}",
        known["weights"]
    );

    let plain = pose("none");
    assert_eq!(
        (&plain["method"], &plain["prior"]),
        (&"box".into(), &Value::Null)
    );
    let base = ["pose", "specimen:head", "--pin", &pin, "--out", &out];
    let refused = |args: &[&str], part: &str| {
        let output = pliant(&[&base[..], args].concat());
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            !output.status.success() && message.contains(part),
            "{message}"
        );
    };
    refused(&["--prior", "specimen:bar"], "specimen:bar");
    refused(&["--prior", "builtin", "--method", "pinv"], "--method box");
}

#[test]
fn a_residual_layer_reaches_the_pins_and_moves_nothing_far_from_them() {
    let folder = folder();
    let pin = far_pin();
    let out = inside(&folder, "layer.npy");
    let bare = inside(&folder, "bare.npy");

    let without = json(&["pose", "specimen:head", "--pin", &pin, "--out", &bare]);
    let with = json(&[
        "pose",
        "specimen:head",
        "--pin",
        &pin,
        "--residual",
        "3",
        "--out",
        &out,
    ]);

    assert!(
        without["pins"][0]["error"].as_f64().unwrap() > 0.5
            && with["pins"][0]["error"].as_f64().unwrap() < 1e-9,
        "{with}"
    );
    assert_eq!(without["weights"], with["weights"]);

    assert!(
        without.get("residual").is_none()
            && with["residual"]["converged"] == true
            && with["residual"]["radius"] == 3.0
    );

    let (plain, layered) = (points(&bare), points(&out));
    let center = plain[moved_most("browOuterUpLeft")];
    let moved: Vec<usize> = (0..plain.len())
        .filter(|&v| plain[v] != layered[v])
        .collect();

    assert!(
        moved.len() > 10 && moved.len() <= with["residual"]["vertices"].as_u64().unwrap() as usize
    );
    assert!(moved.iter().all(|&v| plain[v].distance(center) <= 3.0));

    let largest = moved
        .iter()
        .map(|&v| plain[v].distance(layered[v]))
        .fold(0.0, f64::max);

    assert!((largest - with["residual"]["largest"].as_f64().unwrap()).abs() < 1e-12);
}

/// The rig at `rig`, posed by the weights at `weights`, is the mesh at `out`.
fn agrees(rig: &str, weights: &str, out: &str) {
    let rig = pliant::io::load(rig, &pliant::io::LoadOptions::default())
        .expect("a rig that was written")
        .rig()
        .expect("one rig");
    let map: Value =
        serde_json::from_slice(&std::fs::read(weights).expect("weights that were written"))
            .expect("JSON");

    let weights: Vec<f64> = rig
        .targets()
        .iter()
        .map(|t| map[&t.name].as_f64().unwrap_or(0.0))
        .collect();

    let worst = rig
        .evaluate(&weights)
        .iter()
        .zip(points(out))
        .map(|(a, b)| a.distance(b))
        .fold(0.0, f64::max);

    // Displacements are kept in single precision; no slider of the head goes farther than 4.
    assert!(worst < 8.0 * f64::from(f32::EPSILON) * 4.0, "{worst}");
}

fn paths(folder: &TempDir) -> [String; 3] {
    ["rig.usda", "w.json", "posed.npy"].map(|name| inside(folder, name))
}

#[test]
fn a_promoted_layer_is_a_slider_that_reproduces_the_pose() {
    let folder = folder();
    let [rig, weights, out] = paths(&folder);
    let found = json(&[
        "pose",
        "specimen:head",
        "--pin",
        &far_pin(),
        "--promote",
        "browPeak",
        "--rig-out",
        &rig,
        "--weights-out",
        &weights,
        "--out",
        &out,
    ]);

    assert_eq!(found["weights"]["browPeak"], 1.0);
    agrees(&rig, &weights, &out);
}

#[test]
fn a_layer_for_two_sliders_is_scaled_by_their_product_with_a_warning() {
    let folder = folder();
    let [rig, weights, out] = paths(&folder);
    let start = inside(&folder, "start.json");
    std::fs::write(&start, r#"{"jawOpen": 0.8, "mouthPucker": 0.5}"#)
        .expect("a file in a temporary folder");

    let pin = format!("{}:0.4,0,0.4", moved_most("mouthSmileLeft"));
    let lock = "jawOpen,mouthPucker";
    let found = json(&[
        "pose",
        "specimen:head",
        "--pin",
        &pin,
        "--weights-in",
        &start,
        "--lock",
        lock,
        "--promote-combination",
        "jawOpen+mouthPucker",
        "--rig-out",
        &rig,
        "--weights-out",
        &weights,
        "--out",
        &out,
    ]);

    assert!(
        (found["weights"]["jawOpen_mouthPucker"].as_f64().unwrap() - 0.4).abs() < 1e-12,
        "{found}"
    );

    assert!(
        found["problems"]
            .to_string()
            .contains("jawOpen × mouthPucker"),
        "{found}"
    );

    agrees(&rig, &weights, &out);
}

#[test]
fn a_layer_as_an_in_between_changes_the_path_of_its_slider() {
    let folder = folder();
    let rig_out = inside(&folder, "rig.usda");
    let out = inside(&folder, "posed.npy");
    let start = inside(&folder, "start.json");

    std::fs::write(&start, r#"{"browOuterUpLeft": 0.6}"#).expect("a file in a temporary folder");
    let found = json(&[
        "pose",
        "specimen:head",
        "--pin",
        &far_pin(),
        "--weights-in",
        &start,
        "--lock",
        "browOuterUpLeft",
        "--promote-in-between",
        "browOuterUpLeft",
        "--rig-out",
        &rig_out,
        "--out",
        &out,
    ]);

    let rig = pliant::io::load(&rig_out, &pliant::io::LoadOptions::default())
        .unwrap()
        .rig()
        .unwrap();
    let slider = rig.slider_named("browOuterUpLeft").unwrap().index();

    assert!(
        rig.targets()[slider]
            .in_betweens
            .iter()
            .any(|shape| (shape.weight - 0.6).abs() < 1e-6)
    );

    let weights: Vec<f64> = rig
        .targets()
        .iter()
        .map(|t| found["weights"][&t.name].as_f64().unwrap_or(0.0))
        .collect();

    let worst = rig
        .evaluate(&weights)
        .iter()
        .zip(points(&out))
        .map(|(a, b)| a.distance(b))
        .fold(0.0, f64::max);

    assert!(worst < 1e-4, "{worst}");
}

#[test]
fn the_heat_map_peaks_at_the_pin_with_its_unreachable_length() {
    let folder = folder();
    let map = inside(&folder, "heat.npy");
    let out = inside(&folder, "posed.obj");
    let found = json(&[
        "pose",
        "specimen:head",
        "--pin",
        &far_pin(),
        "--heatmap",
        &map,
        "--out",
        &out,
    ]);

    let heat = pliant::io::npy::read(&std::fs::read(&map).unwrap())
        .unwrap()
        .values;
    let unreachable = found["pins"][0]["unreachable"].as_f64().unwrap();
    let peak = heat.iter().copied().fold(0.0, f64::max);

    assert_eq!(heat.len(), head().neutral().vertex_count());
    assert!(
        unreachable > 0.5
            && (heat[moved_most("browOuterUpLeft")] - unreachable).abs() < 1e-9
            && peak <= unreachable + 1e-9
    );

    let picture = inside(&folder, "heat.png");
    json(&[
        "render", &out, "--scalar", &map, "--size", "80x80", "--out", &picture,
    ]);
}

#[test]
fn invalid_promotions_are_refused_and_leave_no_file() {
    let folder = folder();
    let [rig, weights, out] = paths(&folder);
    let pin = far_pin();
    let base = ["--rig-out", &rig, "--weights-out", &weights];
    let wrong = |what: &[&str], words: &[&str]| {
        refuses(
            &[&["pose", "specimen:head", "--pin", &pin], &base[..], what].concat(),
            &out,
            words,
        );
        assert!(
            !std::path::Path::new(&rig).exists() && !std::path::Path::new(&weights).exists(),
            "nothing is left behind"
        );
    };

    wrong(&["--promote", "jawOpen"], &["specimen:head", "jawOpen"]);
    wrong(
        &["--promote-in-between", "jawOpen"],
        &["in-between", "0.001"],
    );
    wrong(&["--promote-in-between", "earWiggle"], &["earWiggle"]);

    wrong(
        &["--promote-combination", "jawOpen+mouthPucker"],
        &["coefficient", "0.001"],
    );

    wrong(
        &[
            "--promote",
            "peak",
            "--heatmap",
            &inside(&folder, "heat.csv"),
        ],
        &["heat.csv", ".npy"],
    );

    for usage in [
        &["--promote", "peak"][..],
        &["--rig-out", &rig],
        &["--residual", "-1"],
        &["--promote-combination", "jawOpen", "--rig-out", &rig],
    ] {
        let output = pliant(
            &[
                &["pose", "specimen:head", "--pin", &pin, "--out", &out],
                usage,
            ]
            .concat(),
        );
        assert_eq!(
            output.status.code(),
            Some(2),
            "{usage:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}
