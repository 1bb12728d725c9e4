//! `pliant sketch` on the built-in head.

mod command;

use command::{folder, inside, json, pliant, refuses};
use pliant::mesh::Mesh;
use pliant::mesh::glam::DVec3;
use pliant::rig::{Rig, SketchCamera, Stroke, Target};
use serde_json::Value;
use tempfile::TempDir;

/// The head, a front view of it, and a folder for strokes.
struct HeadSketch {
    rig: Rig,
    camera: SketchCamera,
    folder: TempDir,
}

impl HeadSketch {
    fn new() -> Self {
        let folder = folder();
        let picture = inside(&folder, "face.png");
        let drawn = json(&[
            "render",
            "specimen:head",
            "--view",
            "front",
            "--size",
            "320x320",
            "--out",
            &picture,
        ]);

        let camera =
            serde_json::from_value(drawn["camera"].clone()).expect("the camera of a stroke file");
        Self {
            rig: pliant::specimens::specimen("head")
                .expect("the head is built in")
                .rig,
            camera,
            folder,
        }
    }

    /// The vertex that a slider moves most.
    fn moved_most(&self, slider: &str) -> usize {
        let target = &self.rig.targets()[self
            .rig
            .slider_named(slider)
            .expect("a slider of the head")
            .index()];
        let lengths = target.deltas.iter().map(|d| d.length());
        let (k, _) = lengths
            .enumerate()
            .max_by(|a, b| a.1.total_cmp(&b.1))
            .expect("it moves something");
        target.vertices[k] as usize
    }

    fn pixel(&self, vertex: usize) -> [f64; 2] {
        self.camera
            .project(self.rig.neutral().positions()[vertex])
            .expect("in front of the camera")
    }

    /// A parabola from `a` to `b` whose middle is `sag` pixels below their chord.
    fn bow(&self, name: &str, a: [f64; 2], b: [f64; 2], sag: f64) -> String {
        let at = |t: f64| {
            [
                a[0] + t * (b[0] - a[0]),
                a[1] + t * (b[1] - a[1]) + 4.0 * t * (1.0 - t) * sag,
            ]
        };
        self.write(name, (0..=24).map(|k| at(f64::from(k) / 24.0)).collect())
    }

    fn write(&self, name: &str, points: Vec<[f64; 2]>) -> String {
        let path = inside(&self.folder, name);
        let text = serde_json::to_string(&Stroke {
            camera: self.camera,
            points,
        })
        .expect("a stroke is JSON");
        std::fs::write(&path, text).expect("a file in a temporary folder");
        path
    }

    fn corners(&self) -> [usize; 2] {
        ["mouthSmileRight", "mouthSmileLeft"].map(|slider| self.moved_most(slider))
    }

    fn smile(&self) -> String {
        let [right, left] = self.corners().map(|v| self.pixel(v));
        self.bow("smile.json", right, left, 10.0)
    }

    /// An arch over the left brow.
    fn brow(&self) -> String {
        let [x, y] = self.pixel(self.moved_most("browOuterUpLeft"));
        self.bow("brow.json", [x - 20.0, y + 4.0], [x + 14.0, y + 4.0], -8.0)
    }

    fn sketch(&self, args: &[&str]) -> Value {
        let out = inside(&self.folder, "posed.npy");
        json(&[&["sketch", "specimen:head", "--out", &out], args].concat())
    }

    fn posed(&self, found: &Value) -> Vec<DVec3> {
        let weight = |target: &Target| found["weights"][&target.name].as_f64().unwrap_or(0.0);
        self.rig
            .evaluate(&self.rig.targets().iter().map(weight).collect::<Vec<_>>())
    }
}

fn point(value: &Value) -> DVec3 {
    serde_json::from_value(value.clone()).expect("three numbers")
}

fn pins(found: &Value) -> &[Value] {
    found["pins"].as_array().expect("a list of pins")
}

#[test]
fn a_smile_lifts_the_corners_of_the_mouth_and_an_arch_the_brow() {
    let head = HeadSketch::new();
    let smile = head.sketch(&["--stroke", &head.smile()]);
    let rest = head.rig.neutral().positions();
    let posed = head.posed(&smile);

    for corner in head.corners() {
        assert!(
            posed[corner].y > rest[corner].y + 0.1,
            "{} {}",
            posed[corner],
            rest[corner]
        );
    }

    let weight = |name: &str| smile["weights"][name].as_f64().unwrap_or(0.0);
    assert!(
        weight("mouthSmileLeft") > 0.1 && weight("mouthFrownLeft") < 0.02,
        "{smile}"
    );

    let stroke = &smile["strokes"][0];
    assert_eq!(
        (stroke["ends"].as_str(), &stroke["cut"]),
        (Some("against"), &Value::Null)
    );

    let [r, angle, m] = ["radius", "central_angle_degrees", "middle_ordinate"]
        .map(|key| stroke[key].as_f64().unwrap());
    assert!(
        (m / (r * (1.0 - (angle.to_radians() / 2.0).cos())) - 1.0).abs() < 1e-9,
        "M = r (1 − cos θ/2)"
    );

    let brow = head.sketch(&["--stroke", &head.brow()]);
    let posed = head.posed(&brow);
    assert_eq!(brow["strokes"][0]["ends"], "with", "{brow}");

    for pin in pins(&brow) {
        let v = pin["vertex"].as_u64().unwrap() as usize;
        assert!(posed[v].y > rest[v].y, "the whole brow rises: {brow}");
    }
}

#[test]
fn a_stroke_moves_the_sliders_of_its_feature_only() {
    let head = HeadSketch::new();
    let feature = |found: &Value| found["feature_of_stroke"][0].as_str().map(str::to_owned);
    let has_only = |found: &Value, words: &[&str]| {
        let weights = found["weights"].as_object().expect("weights by name");
        !weights.is_empty()
            && weights
                .keys()
                .all(|name| words.iter().any(|word| name.starts_with(word)))
    };

    // A wide arch, which the nose and the lids could imitate.
    let [x, y] = head.pixel(head.moved_most("browOuterUpLeft"));
    let arch = head.bow("arch.json", [x - 24.0, y + 2.0], [x + 16.0, y + 2.0], -12.0);
    let brow = head.sketch(&["--stroke", &arch]);
    assert_eq!(feature(&brow).as_deref(), Some("brow"));
    assert!(has_only(&brow, &["brow"]), "{}", brow["weights"]);

    let smile = head.sketch(&["--stroke", &head.smile()]);
    assert_eq!(feature(&smile).as_deref(), Some("lip"));
    assert!(has_only(&smile, &["mouth", "jaw"]), "{}", smile["weights"]);

    // Said, not found.
    let told = head.sketch(&["--stroke", &arch, "--feature", "lid"]);
    assert_eq!(feature(&told).as_deref(), Some("lid"));
    let any = head.sketch(&["--stroke", &arch, "--feature", "any"]);
    assert_eq!(feature(&any), None);
}

#[test]
fn pins_report_absolute_positions_and_their_distance() {
    let head = HeadSketch::new();
    let found = head.sketch(&["--stroke", &head.smile()]);
    let posed = head.posed(&found);

    assert_eq!(
        (found["method"].as_str(), pins(&found).len()),
        (Some("box"), 3)
    );

    for pin in pins(&found) {
        let goal = point(&pin["goal"]);
        let reached = point(&pin["reached"]);
        let error = pin["error"].as_f64().unwrap();
        assert!((goal.distance(reached) - error).abs() < 1e-9);
        assert!(posed[pin["vertex"].as_u64().unwrap() as usize].distance(reached) < 1e-9);
    }

    assert!(found["kkt"].as_f64().unwrap() < 1e-6);
    let thesis = head.sketch(&[
        "--stroke",
        &head.smile(),
        "--method",
        "tikhonov",
        "--depth",
        "plane",
        "--frame",
        "world",
    ]);

    assert_eq!(thesis["method"], "tikhonov");
}

#[test]
fn a_later_stroke_leaves_an_earlier_one_in_place() {
    let head = HeadSketch::new();
    let (smile, brow) = (head.smile(), head.brow());
    let alone = head.sketch(&["--stroke", &smile]);
    let both = head.sketch(&["--stroke", &smile, "--stroke", &brow]);

    assert_eq!(both["stroke_of_pin"], serde_json::json!([0, 0, 0, 1, 1, 1]));
    let m = both["strokes"][0]["middle_ordinate"].as_f64().unwrap();
    for (before, after) in pins(&alone).iter().zip(pins(&both)) {
        assert!(point(&before["reached"]).distance(point(&after["reached"])) < 0.02 * m);
    }

    assert!(
        both["weights"]["browOuterUpLeft"].as_f64().unwrap_or(0.0) > 0.1,
        "{both}"
    );
}

#[test]
fn fine_tuning_takes_one_pin_further_and_holds_the_others() {
    let head = HeadSketch::new();
    let smile = head.smile();
    let plain = head.sketch(&["--stroke", &smile]);
    let tuned = head.sketch(&["--stroke", &smile, "--drag", "2:0.1,0.15,0"]);

    let moved: Vec<DVec3> = (0..3)
        .map(|k| point(&pins(&tuned)[k]["reached"]) - point(&pins(&plain)[k]["reached"]))
        .collect();

    assert!(moved[2].y > 0.1 && moved[2].y < 0.2, "{moved:?}");
    assert!(
        moved[0].y.abs() < 0.03 && moved[1].y.abs() < 0.03,
        "{moved:?}"
    );
}

#[test]
fn a_symmetric_stroke_moves_both_brows_alike() {
    let head = HeadSketch::new();
    let found = head.sketch(&["--stroke", &head.brow(), "--symmetric"]);
    assert_eq!(pins(&found).len(), 6);
    let weight = |name: &str| found["weights"][name].as_f64().unwrap_or(0.0);
    assert!(
        (weight("browOuterUpLeft") - weight("browOuterUpRight")).abs() < 1e-6
            && weight("browOuterUpRight") > 0.1,
        "{found}"
    );
}

#[test]
fn a_line_moves_to_another_line() {
    let head = HeadSketch::new();
    let [right, left] = head.corners().map(|v| head.pixel(v));
    let line = head.bow("line.json", right, left, 2.0);
    let goal = head.bow(
        "goal.json",
        [right[0] - 2.0, right[1] - 5.0],
        [left[0] + 2.0, left[1] - 5.0],
        6.0,
    );

    let found = head.sketch(&["--stroke", &line, "--toward", &goal]);
    assert!(pins(&found).len() >= 3, "{found}");

    // The corners' goals are about five pixels away; a pixel is as wide as the picture's height
    // over its pixels there.
    let depth = (head.rig.neutral().positions()[head.corners()[0]] - head.camera.eye)
        .dot(head.camera.forward());
    let pixel = 2.0 * depth * (head.camera.fov_y_degrees.to_radians() / 2.0).tan() / 320.0;

    for end in [&pins(&found)[0], &pins(&found)[pins(&found).len() - 1]] {
        assert!(end["error"].as_f64().unwrap() < 1.5 * pixel, "{found}");
    }

    let usage = pliant(&[
        "sketch",
        "specimen:head",
        "--stroke",
        &line,
        "--stroke",
        &line,
        "--toward",
        &goal,
        "--out",
        "nowhere.obj",
    ]);

    assert_eq!(usage.status.code(), Some(2));
}

/// The head, `scale` times as large.
fn scaled(rig: &Rig, scale: f64) -> Rig {
    let neutral: Mesh = rig
        .neutral()
        .posed(
            rig.neutral()
                .positions()
                .iter()
                .map(|p| *p * scale)
                .collect(),
        )
        .expect("as many vertices");

    let grown = |t: &Target| Target {
        deltas: t.deltas.iter().map(|d| *d * scale as f32).collect(),
        in_betweens: Vec::new(),
        ..t.clone()
    };

    Rig::new(neutral, rig.targets().iter().map(grown).collect()).expect("a rig like the head")
}

#[test]
fn a_saved_stroke_gives_the_same_pose_on_a_scaled_face() {
    let head = HeadSketch::new();
    let landmarks = [
        "mouthSmileRight",
        "mouthSmileLeft",
        "browOuterUpLeft",
        "browOuterUpRight",
        "jawOpen",
    ]
    .map(|s| head.moved_most(s));

    let listed = landmarks.map(|v| v.to_string()).join(",");
    let small = inside(&head.folder, "small.glb");
    let large = inside(&head.folder, "large.glb");

    for (path, scale) in [(&small, 1.0), (&large, 4.0)] {
        pliant::io::save(&pliant::io::Asset::from_rig(scaled(&head.rig, scale)), path)
            .expect("a rig in a temporary folder");
    }

    let library = inside(&head.folder, "lines.json");
    let out = inside(&head.folder, "posed.npy");

    let save = [
        "--save",
        &library,
        "--as",
        "smile",
        "--landmarks",
        &listed,
        "--out",
        &out,
    ];

    let drawn = json(&[&["sketch", &small, "--stroke", &head.smile()], &save[..]].concat());
    let entry = format!("{library}#smile");
    let reused = json(&[
        "sketch",
        &large,
        "--use",
        &entry,
        "--landmarks",
        &listed,
        "--out",
        &out,
    ]);

    for (name, weight) in drawn["weights"].as_object().unwrap() {
        let again = reused["weights"][name].as_f64().unwrap_or(0.0);
        assert!(
            (weight.as_f64().unwrap() - again).abs() < 1e-3,
            "{name}: {weight} {again}"
        );
    }

    let missing = format!("{library}#frown");
    refuses(
        &["sketch", &large, "--use", &missing, "--landmarks", &listed],
        &inside(&head.folder, "no.obj"),
        &["frown", "smile", "lines.json"],
    );

    refuses(
        &["sketch", &large, "--use", &entry, "--landmarks", "1,2"],
        &inside(&head.folder, "no.obj"),
        &["lines.json#smile", "2 landmarks"],
    );
}

#[test]
fn a_stroke_that_leaves_the_head_is_cut_with_a_warning() {
    let head = HeadSketch::new();
    let [x, y] = head.pixel(head.moved_most("browOuterUpLeft"));
    let found = head.sketch(&[
        "--stroke",
        &head.bow("edge.json", [x - 30.0, y], [315.0, y], -10.0),
    ]);

    let cut = &found["strokes"][0]["cut"];
    assert_eq!(
        (
            cut["kept"]["on_model"].as_bool(),
            cut["dropped"][0]["on_model"].as_bool()
        ),
        (Some(true), Some(false))
    );

    let problems = found["problems"].as_array().unwrap();
    assert!(
        problems.iter().any(|p| p
            .as_str()
            .is_some_and(|p| p.contains("edge.json") && p.contains("beside the model"))),
        "{problems:?}"
    );
}

#[test]
fn an_invalid_stroke_is_named_in_one_line() {
    let head = HeadSketch::new();
    let out = inside(&head.folder, "no.obj");
    let wrong = |path: &str, words: &[&str]| {
        refuses(&["sketch", "specimen:head", "--stroke", path], &out, words)
    };

    wrong(
        &head.write("dot.json", vec![[160.0, 200.0]]),
        &["dot.json", "1 different point"],
    );

    wrong(
        &head.bow("beside.json", [2.0, 2.0], [20.0, 2.0], 3.0),
        &["beside.json", "on the model"],
    );
    wrong(&inside(&head.folder, "nowhere.json"), &["nowhere.json"]);

    let text = |name: &str, text: &str| {
        let path = inside(&head.folder, name);
        std::fs::write(&path, text).expect("a file in a temporary folder");
        path
    };

    wrong(
        &text("broken.json", "{\"camera\": "),
        &["broken.json", "is not a stroke", "points"],
    );

    let stroke = std::fs::read_to_string(head.smile()).expect("just written");
    let mut blind: Value = serde_json::from_str(&stroke).expect("a stroke");
    blind["camera"]["fov_y_degrees"] = 0.into();
    wrong(
        &text("blind.json", &blind.to_string()),
        &["blind.json", "fov_y_degrees"],
    );

    refuses(
        &[
            "sketch",
            "specimen:head",
            "--stroke",
            &head.smile(),
            "--drag",
            "7:0,1,0",
        ],
        &out,
        &["7", "3 pins"],
    );

    let square = text(
        "square.obj",
        "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n",
    );

    refuses(
        &["sketch", &square, "--stroke", &head.smile()],
        &out,
        &["square.obj", "no targets"],
    );
}

#[test]
fn render_reports_the_camera_of_its_picture() {
    let head = HeadSketch::new();
    let shot = pliant::pictures::Shot::new(pliant_view::View::Front, [320, 320]);
    let camera = shot.camera(head.rig.neutral(), &pliant::pictures::Look::default());

    for p in head.rig.neutral().positions().iter().step_by(500) {
        let report = head.camera.project(*p).unwrap();
        let drawn = camera.project(*p, [320, 320]).unwrap();
        assert!(
            (report[0] - drawn[0]).hypot(report[1] - drawn[1]) < 1e-6,
            "{report:?} {drawn:?}"
        );
    }
}
