//! Posed characters: sliders, strokes and touches act in a frame, and files keep skin and bind pose.

mod character;
mod command;

use character::{Character, FPS, FRAMES, farthest};
use command::{folder, inside, json, pliant, refuses};
use pliant::io::{Asset, LoadOptions, Shape, load, npy};
use pliant::mesh::glam::DVec3;

/// Positions in files are single precision, about 3 units from the origin.
const ROUNDING: f64 = 2e-6;

fn open(path: &str) -> Asset {
    load(path, &LoadOptions::default()).unwrap()
}

fn points(path: &str) -> Vec<Vec<DVec3>> {
    let array = npy::read(&std::fs::read(path).unwrap()).unwrap();
    let vertices = array.shape[array.shape.len() - 2];
    let points: Vec<DVec3> = array
        .values
        .chunks_exact(3)
        .map(DVec3::from_slice)
        .collect();
    points
        .chunks_exact(vertices)
        .map(<[DVec3]>::to_vec)
        .collect()
}

/// The outermost vertex of the side that slider `right` pushes.
fn right_vertex(character: &Character) -> usize {
    let along = |v: &usize| character.mesh.positions()[*v].x;
    let vertices = 0..character.mesh.vertex_count();
    vertices
        .max_by(|a, b| along(a).total_cmp(&along(b)))
        .unwrap()
}

fn triple(point: DVec3) -> String {
    format!("{},{},{}", point.x, point.y, point.z)
}

#[test]
fn a_pin_in_a_frame_moves_the_posed_surface_and_the_file_keeps_its_bind_pose() {
    let folder = folder();
    let character = Character::new();
    let file = character.file(&folder);
    let vertex = right_vertex(&character);

    // The displacement of slider `right` at weight 0.5, rotated by the joints of frame 2.
    let joints = Character::joints(2);
    let rest = character.posed(joints, [0.0, 0.0]);
    let wanted = character.posed(joints, [0.5, 0.0])[vertex] - rest[vertex];
    assert!(
        wanted.normalize().dot(DVec3::X) < 0.95,
        "the pose rotates the displacement"
    );

    let frame = format!("{file}@2");
    let pin = format!("{vertex}:{}", triple(wanted));
    let posed = inside(&folder, "posed.glb");
    let report = json(&[
        "pose", &frame, "--pin", &pin, "--method", "pinv", "--out", &posed,
    ]);
    let weight = |name: &str| report["weights"][name].as_f64().unwrap_or(0.0);
    assert!((weight("right") - 0.5).abs() < 1e-4, "{report}");
    let goal = rest[vertex] + wanted;
    let reached = &report["pins"][0]["reached"];
    let reached = [0, 1, 2].map(|k| reached[k].as_f64().unwrap());
    assert!(DVec3::from_array(reached).distance(goal) < 1e-4);

    let before = open(&file);
    let after = open(&posed);
    assert_eq!(
        after.mesh().unwrap().positions(),
        before.mesh().unwrap().positions()
    );
    assert_eq!(after.objects[0].skin, before.objects[0].skin);
    assert_eq!(after.clips[0].motions, before.clips[0].motions);
    assert!((after.objects[0].rest_weights[0] - weight("right")).abs() < 1e-6);

    // The same as plain positions.
    let flat = inside(&folder, "flat.npy");
    json(&[
        "pose", &frame, "--pin", &pin, "--method", "pinv", "--out", &flat,
    ]);
    let expected = character.posed(joints, [weight("right"), weight("up")]);
    assert!(farthest(&points(&flat)[0], &expected) < ROUNDING);
}

#[test]
fn a_flat_pose_of_a_file_that_rests_elsewhere_is_the_mesh_as_it_rests() {
    let folder = folder();
    let character = Character::new();
    let file = character.resting_file(&folder, 3);
    let vertex = right_vertex(&character);

    let joints = Character::joints(3);
    let rest = character.posed(joints, [0.0, 0.0]);
    let wanted = character.posed(joints, [1.0, 0.0])[vertex] - rest[vertex];
    let pin = format!("{vertex}:{}", triple(wanted));
    let out = inside(&folder, "flat.obj");
    let report = json(&["pose", &file, "--pin", &pin, "--flat", "--out", &out]);
    let weight = |name: &str| report["weights"][name].as_f64().unwrap_or(0.0);
    let expected = character.posed(joints, [weight("right"), weight("up")]);
    assert!(weight("right") > 0.5, "{report}");
    assert!(farthest(open(&out).mesh().unwrap().positions(), &expected) < ROUNDING);

    // Pictures and picks show the same pose.
    let near = triple(rest[vertex]);
    let picked = json(&["pick", &file, "--near", &near]);
    assert_eq!(picked["vertices"][0]["vertex"], vertex);
}

#[test]
fn a_promoted_layer_of_a_posed_character_is_stored_in_its_bind_pose() {
    let folder = folder();
    let character = Character::new();
    let frame = format!("{}@3", character.file(&folder));
    let vertex = right_vertex(&character);
    let joints = Character::joints(3);
    let rest = character.posed(joints, [0.0, 0.0]);

    // No slider moves the side of the ball tangentially.
    let pin = format!("{vertex}:0,0.1,0.15");
    let out = inside(&folder, "posed.glb");
    let report = json(&[
        "pose",
        &frame,
        "--pin",
        &pin,
        "--residual",
        "0.5",
        "--out",
        &out,
    ]);
    let asset = open(&out);
    let object = &asset.objects[0];
    assert_eq!(object.rig.targets().len(), 3, "{report}");

    let shape = object.rig.evaluate(&object.rest_weights);
    let moved = object.skin.as_ref().unwrap().skin.blend(&shape, &joints);
    let goal = rest[vertex] + DVec3::new(0.0, 0.1, 0.15);
    assert!(moved[vertex].distance(goal) < 1e-5, "{report}");
}

/// `touch` with a ball that presses the right side of the character in `frame`.
fn press(character: &Character, frame: usize) -> Vec<String> {
    let vertex = right_vertex(character);
    let at = character.posed(Character::joints(frame), [0.0, 0.0])[vertex];
    let inward = character.posed(Character::joints(frame), [-0.5, 0.0])[vertex] - at;
    let outward = -inward.normalize();
    let options = [
        ("--center", vertex.to_string()),
        ("--radius", "0.5".into()),
        (
            "--collider",
            format!("sphere:{},0.2", triple(at + outward * 0.25)),
        ),
        ("--toward", triple(outward * -0.2)),
    ];
    let options = options.into_iter();
    options
        .flat_map(|(name, value)| [name.to_owned(), value])
        .collect()
}

fn run_touch(asset: &str, options: &[String], more: &[&str]) -> serde_json::Value {
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    json(&[&["touch", asset], &options[..], more].concat())
}

#[test]
fn a_touched_frame_keeps_the_skin_and_shows_the_posed_dent() {
    let folder = folder();
    let character = Character::new();
    let file = character.file(&folder);
    let options = press(&character, 2);
    let frame = format!("{file}@2");
    let [glb, array] = ["touched.glb", "touched.npy"].map(|name| inside(&folder, name));
    let report = run_touch(&frame, &options, &["--frames", "9", "--out", &glb]);
    run_touch(&frame, &options, &["--frames", "9", "--out", &array]);
    assert!(
        report["max_displacement"].as_f64().unwrap() > 0.05,
        "{report}"
    );

    let asset = open(&glb);
    let binding = asset.objects[0].skin.clone().expect("the skin stays");
    assert_eq!(
        asset.mesh().unwrap().positions(),
        open(&file).mesh().unwrap().positions()
    );
    assert_eq!(asset.clips.len(), 2, "the clip of the file stays");

    let clip = asset.only_clip().unwrap();
    assert_eq!(clip.name, "touch");
    let motion = &clip.motions[0];
    let Shape::Points(shapes) = &motion.shape else {
        panic!("frames of positions");
    };
    let expected = points(&array);
    let rest = character.posed(Character::joints(2), [0.0, 0.0]);
    let mut still = 0;
    for (shape, expected) in shapes.iter().zip(&expected) {
        let posed = binding.skin.blend(shape, &Character::joints(2));
        assert!(farthest(&posed, expected) < ROUNDING);
        let neutral = asset.objects[0].rig.neutral().positions();
        still = (0..neutral.len())
            .filter(|&v| shape[v] == neutral[v])
            .count();
    }
    let patch = report["patch_vertices"].as_u64().unwrap() as usize;
    assert!(
        still >= rest.len() - patch,
        "vertices outside the patch keep their bits"
    );

    // Pliant's own view of the file is the same.
    for (frame, expected) in expected.iter().enumerate() {
        assert!(farthest(&asset.frame_positions(frame).unwrap(), expected) < ROUNDING);
    }
}

#[test]
fn a_touch_of_a_moving_character_keeps_its_joints_moving() {
    let folder = folder();
    let character = Character::new();
    let file = character.file(&folder);
    let vertex = right_vertex(&character).to_string();
    let fps = (2.0 * FPS).to_string();
    let pull = format!("{vertex}:0.1,0.1,0");
    let out = inside(&folder, "touched.glb");
    let array = inside(&folder, "touched.npy");
    for out in [&out, &array] {
        json(&[
            "touch",
            &file,
            "--animate",
            "--center",
            &vertex,
            "--radius",
            "0.5",
            "--pull",
            &pull,
            "--fps",
            &fps,
            "--out",
            out,
        ]);
    }

    let asset = open(&out);
    assert!(asset.objects[0].skin.is_some());
    let simulated = points(&array);
    assert_eq!(simulated.len(), 2 * FRAMES - 1);
    let patch = character.mesh.positions();
    let center = patch[right_vertex(&character)];
    for frame in 0..simulated.len() {
        let found = asset.frame_positions(frame).unwrap();
        if frame % 2 == 0 {
            assert!(farthest(&found, &simulated[frame]) < ROUNDING);
            let expected = character.posed(Character::joints(frame / 2), [0.0, 0.0]);
            for v in (0..found.len()).filter(|&v| patch[v].distance(center) > 0.6) {
                assert!(found[v].distance(expected[v]) < ROUNDING, "frame {frame}");
            }
        }
    }
}

#[test]
fn a_touch_as_a_target_is_stored_in_the_bind_pose() {
    let folder = folder();
    let character = Character::new();
    let file = character.file(&folder);
    let options = press(&character, 3);
    let out = inside(&folder, "rig.glb");
    let array = inside(&folder, "frames.npy");
    let frame = format!("{file}@3");
    let report = run_touch(
        &frame,
        &options,
        &["--frames", "9", "--as-target", "dent", "--out", &out],
    );
    run_touch(&frame, &options, &["--frames", "9", "--out", &array]);

    let rig = open(&out).rig().unwrap();
    let shape = rig.evaluate(&[0.0, 0.0, 1.0]);
    let asset = open(&file);
    let binding = asset.objects[0].skin.clone().unwrap();
    let posed = binding.skin.blend(&shape, &Character::joints(3));
    let frame = report["target"]["frame"].as_u64().unwrap() as usize;
    assert!(farthest(&posed, &points(&array)[frame]) < ROUNDING);
}

#[test]
fn a_frame_with_animate_is_a_usage_error() {
    let folder = folder();
    let file = format!("{}@1", Character::new().file(&folder));
    let out = inside(&folder, "no.glb");
    let output = pliant(&[
        "touch",
        &file,
        "--animate",
        "--center",
        "0",
        "--radius",
        "0.5",
        "--pull",
        "0:0,0.1,0",
        "--out",
        &out,
    ]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_frame_that_does_not_exist_is_refused() {
    let folder = folder();
    let frame = format!("{}@9", Character::new().file(&folder));
    let out = inside(&folder, "no.glb");
    let words = ["frame 9", "4 frames"];
    refuses(&["pose", &frame, "--pin", "0:0,0.1,0"], &out, &words);
    let touch = ["touch", &frame, "--center", "0", "--radius", "0.5"];
    refuses(
        &[&touch[..], &["--pull", "0:0,0.1,0"]].concat(),
        &out,
        &words,
    );
}
