//! `pliant touch`: soft patches under colliders and pulls.

mod command;

use command::{folder, inside, json, pliant, refuses};
use pliant::io::{Asset, LoadOptions, load, npy, save};
use pliant::mesh::glam::{DVec3, Vec3};
use pliant::mesh::{ExactGeodesics, Mesh, SurfacePoint, shapes};
use pliant::rig::{Clip, Rig, Target};
use serde_json::Value;
use tempfile::TempDir;

/// A ball of 642 vertices, on disk; positions that OBJ returns to the bit.
fn ball(folder: &TempDir) -> (Mesh, String) {
    let path = inside(folder, "ball.obj");
    save(&Asset::from_mesh(shapes::icosphere(3)), &path).unwrap();
    (
        load(&path, &LoadOptions::default())
            .unwrap()
            .mesh()
            .unwrap(),
        path,
    )
}

/// The vertex that is farthest along a direction.
fn outermost(mesh: &Mesh, direction: DVec3) -> usize {
    let along = |v: &usize| mesh.positions()[*v].dot(direction);
    (0..mesh.vertex_count())
        .max_by(|a, b| along(a).total_cmp(&along(b)))
        .unwrap()
}

fn within(mesh: &Mesh, center: usize, radius: f64) -> Vec<u32> {
    ExactGeodesics::new(mesh)
        .unwrap()
        .disc(&[SurfacePoint::Vertex(center as u32)], radius)
        .unwrap()
        .vertices
}

/// The frames of an `.npy`.
fn frames(path: &str) -> Vec<Vec<DVec3>> {
    let array = npy::read(&std::fs::read(path).unwrap()).unwrap();
    let [_, vertices, 3] = array.shape[..] else {
        panic!("{:?}", array.shape)
    };

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

fn problems(report: &Value) -> String {
    report["problems"].to_string()
}

/// Runs `touch` on the right side of the ball, with a radius of 0.6. Returns report and frames.
fn touch(folder: &TempDir, mesh: &Mesh, path: &str, more: &[&str]) -> (Value, Vec<Vec<DVec3>>) {
    let center = outermost(mesh, DVec3::X).to_string();
    let out = inside(folder, "out.npy");

    let report = json(
        &[
            &[
                "touch", path, "--center", &center, "--radius", "0.6", "--out", &out,
            ],
            more,
        ]
        .concat(),
    );

    (report, frames(&out))
}

const PRESS: [&str; 4] = ["--collider", "sphere:1.5,0,0,0.3", "--toward", "-0.45,0,0"];

#[test]
fn a_press_goes_there_and_back_and_nothing_outside_the_patch_moves_by_a_bit() {
    let folder = folder();
    let (mesh, path) = ball(&folder);
    let (report, frames) = touch(
        &folder,
        &mesh,
        &path,
        &[&PRESS[..], &["--frames", "21"]].concat(),
    );

    let soft = within(&mesh, outermost(&mesh, DVec3::X), 0.6);
    assert_eq!((report["frames"].as_u64(), frames.len()), (Some(21), 21));
    assert_eq!(report["patch_vertices"].as_u64(), Some(soft.len() as u64));

    for (i, frame) in frames.iter().enumerate() {
        let share = 1.0 - (2.0 * i as f64 / 20.0 - 1.0).abs();
        let center = DVec3::new(1.5 - 0.45 * share, 0.0, 0.0);
        assert!(
            soft.iter()
                .all(|&v| frame[v as usize].distance(center) > 0.3 - 1e-9),
            "frame {i}"
        );

        let rigid = (0..mesh.vertex_count()).filter(|v| soft.binary_search(&(*v as u32)).is_err());
        assert!(
            rigid.into_iter().all(|v| frame[v] == mesh.positions()[v]),
            "frame {i}"
        );
    }

    // The sphere reaches the surface after two fifths of its displacement, and is deepest in the middle.
    assert_eq!(frames[3], mesh.positions());
    assert_eq!(report["furthest_frame"], 10);
    assert!(
        report["max_displacement"].as_f64() > Some(0.2) && report["contacts"].as_u64() > Some(0),
        "{report}"
    );

    for key in [
        "max_penetration",
        "step_ms",
        "select_ms",
        "substeps",
        "last_displacement",
        "fps",
    ] {
        assert!(report[key].is_number(), "{key} in {report}");
    }

    assert_eq!(problems(&report), "[]");
}

#[test]
fn a_held_press_stays_and_a_settled_press_returns() {
    let folder = folder();
    let (mesh, path) = ball(&folder);
    let vertex = outermost(&mesh, DVec3::X);
    let timing = ["--frames", "21", "--settle", "2", "--fps", "30"];
    let (report, back) = touch(&folder, &mesh, &path, &[&PRESS[..], &timing].concat());

    assert_eq!(report["frames"], 21 + 60);
    assert!(
        back.last().unwrap()[vertex].distance(mesh.positions()[vertex]) < 1e-4,
        "{report}"
    );

    let (_, held) = touch(
        &folder,
        &mesh,
        &path,
        &[&PRESS[..], &timing, &["--hold"]].concat(),
    );

    // Beside its innermost point the sphere leaves a little more room.
    let inner_end = 1.5 - 0.45 - 0.3;
    assert!(
        (10..81).all(|i| held[i][vertex].x < inner_end + 1e-3),
        "the sphere stays in its way"
    );
}

#[test]
fn skin_under_a_ball_that_stays_comes_to_rest() {
    let folder = folder();
    let out = inside(&folder, "held.npy");
    let cheek = [
        "--center",
        "2134",
        "--radius",
        "4",
        "--collider",
        "sphere:6,-3.2,9.7,1.5",
        "--toward",
        "-0.7,-0.2,-1.35",
    ];

    json(
        &[
            &[
                "touch",
                "specimen:head",
                "--frames",
                "21",
                "--hold",
                "--settle",
                "2",
                "--out",
                &out,
            ],
            &cheek[..],
        ]
        .concat(),
    );

    let held = frames(&out);
    let [.., before, last] = &held[..] else {
        panic!("{} frames", held.len())
    };

    let apart = before
        .iter()
        .zip(last)
        .map(|(a, b)| a.distance(*b))
        .fold(0.0, f64::max);

    // The head is in centimetres: no vertex moves by more than a micrometre in a frame.
    assert!(apart < 1e-4, "{apart}");
}

#[test]
fn pulls_are_exact_in_every_frame_and_can_be_released() {
    let folder = folder();
    let (mesh, path) = ball(&folder);
    let vertex = outermost(&mesh, DVec3::X);
    let rest = mesh.positions()[vertex];
    let pull = format!("{vertex}:0.2,0.1,0");
    let share = |i: usize| 1.0 - (2.0 * i as f64 / 10.0 - 1.0).abs();
    let off = |frames: &[Vec<DVec3>], i: usize, share: f64| {
        frames[i][vertex].distance(rest + DVec3::new(0.2, 0.1, 0.0) * share)
    };

    let (_, there_and_back) = touch(&folder, &mesh, &path, &["--pull", &pull, "--frames", "11"]);
    assert!((0..10).all(|i| off(&there_and_back, i, share(i)) < 1e-9));

    let (_, held) = touch(
        &folder,
        &mesh,
        &path,
        &["--pull", &pull, "--frames", "11", "--hold"],
    );

    assert!((5..11).all(|i| off(&held, i, 1.0) < 1e-9));
    let (_, free) = touch(
        &folder,
        &mesh,
        &path,
        &[
            "--pull", &pull, "--frames", "11", "--let-go", "--settle", "2",
        ],
    );

    assert!(off(&free, 5, 1.0) < 1e-9);
    assert!(
        off(&free, 6, share(6)) > 1e-3,
        "from then on it swings by itself"
    );
    assert!(free.last().unwrap()[vertex].distance(rest) < 1e-4);
}

#[test]
fn several_patches_and_colliders_move_independently() {
    let folder = folder();
    let (mesh, path) = ball(&folder);
    let [right, left, top] = [DVec3::X, DVec3::NEG_X, DVec3::Y].map(|side| outermost(&mesh, side));
    let out = inside(&folder, "two.npy");
    let centers = [right, left, top].map(|v| v.to_string());
    let patches = [
        "--center",
        &centers[0],
        "--radius",
        "0.5",
        "--center",
        &centers[1],
        "--radius",
        "0.3",
        "--center",
        &centers[2],
    ];

    let solids = [
        "--collider",
        "sphere:1.4,0,0,0.3",
        "--collider",
        "box:-1.4,0,0,0.4,0.2,0.2",
        "--toward",
        "0,0,0",
        "--toward",
        "0.3,0,0",
    ];

    let report = json(
        &[
            &[
                "touch", &path, "--frames", "5", "--out", &out, "--radius", "0.4",
            ],
            &patches[..],
            &solids,
        ]
        .concat(),
    );

    // Radii belong to centres in their order.
    let own: usize = [(right, 0.4), (left, 0.5), (top, 0.3)]
        .iter()
        .map(|&(v, r)| within(&mesh, v, r).len())
        .sum();

    assert_eq!(report["patch_vertices"].as_u64(), Some(own as u64));
    let turn = &frames(&out)[2];
    assert_eq!(
        turn[right],
        mesh.positions()[right],
        "the first collider stays where it does not touch"
    );

    assert!(turn[left].x > -0.9 - 1e-9, "the second presses");
    assert_eq!(turn[top], mesh.positions()[top]);
}

#[test]
fn a_closed_mesh_collider_follows_its_clip() {
    let folder = folder();
    let (mesh, path) = ball(&folder);
    let block = shapes::closed_box([2, 2, 2], DVec3::splat(0.4));
    let middle = block.positions().iter().sum::<DVec3>() / block.vertex_count() as f64;
    let at = |x: f64| {
        block
            .positions()
            .iter()
            .map(|p| *p - middle + DVec3::X * x)
            .collect::<Vec<_>>()
    };

    let clip = Clip::new(
        "come",
        block.posed(at(2.0)).unwrap(),
        vec![at(2.0), at(1.5), at(1.0)],
    )
    .unwrap()
    .with_frames_per_second(10.0);

    let solid = inside(&folder, "block.glb");
    save(&Asset::from_clip(&clip), &solid).unwrap();
    let (report, frames) = touch(
        &folder,
        &mesh,
        &path,
        &["--collider", &solid, "--fps", "20"],
    );

    // Two tenths of a second at twenty frames a second, both ends included.
    assert_eq!(frames.len(), 5);

    let vertex = outermost(&mesh, DVec3::X);
    assert_eq!(frames[2][vertex], mesh.positions()[vertex]);
    assert!(frames[4][vertex].x <= 0.8 + 1e-5, "{report}");
}

#[test]
fn a_rig_is_touched_in_its_pose_and_a_frame_becomes_a_target() {
    let folder = folder();
    let mesh = shapes::icosphere(3);
    let wide = Target::from_dense(
        "wide",
        mesh.positions()
            .iter()
            .map(|p| Vec3::new(p.x as f32, 0.0, 0.0)),
    );

    let rig = Rig::new(mesh.clone(), vec![wide]).unwrap();
    let [path, out, weights, more] =
        ["rig.usda", "out.npy", "w.json", "more.usda"].map(|name| inside(&folder, name));
    save(&Asset::from_rig(rig), &path).unwrap();
    std::fs::write(&weights, "{\"wide\": 1}").unwrap();

    let center = outermost(&mesh, DVec3::X).to_string();
    let args = [
        "touch",
        &path,
        "--center",
        &center,
        "--radius",
        "0.6",
        "--collider",
        "sphere:2.5,0,0,0.3",
        "--toward",
        "-0.5,0,0",
    ];

    json(
        &[
            &args[..],
            &["--weights", "wide=1", "--frames", "11", "--out", &out],
        ]
        .concat(),
    );

    let clip = frames(&out);
    let posed = load(&path, &LoadOptions::default())
        .unwrap()
        .rig()
        .unwrap()
        .evaluate(&[1.0]);

    assert_eq!(clip[0], posed, "the pose is where it begins");
    let report = json(
        &[
            &args[..],
            &[
                "--weights-in",
                &weights,
                "--frames",
                "11",
                "--as-target",
                "dent",
                "--out",
                &more,
            ],
        ]
        .concat(),
    );

    assert_eq!(
        (
            report["target"]["name"].as_str(),
            report["target"]["frame"].as_u64()
        ),
        (Some("dent"), Some(5))
    );

    let dented = load(&more, &LoadOptions::default()).unwrap().rig().unwrap();
    let names: Vec<&str> = dented
        .targets()
        .iter()
        .map(|target| target.name.as_str())
        .collect();

    assert_eq!(names, ["wide", "dent"]);
    let both = dented.evaluate(&[1.0, 1.0]);
    assert!(
        both.iter()
            .zip(&clip[5])
            .all(|(a, b)| a.distance(*b) < 1e-6),
        "both sliders together are the touched frame"
    );

    let none = inside(&folder, "none.usda");
    refuses(
        &[&args[..], &["--as-target", "wide"]].concat(),
        &none,
        &["--as-target wide", "already"],
    );

    refuses(
        &[&args[..], &["--as-target", "late", "--at", "61"]].concat(),
        &none,
        &["61 frames"],
    );

    refuses(
        &[&args[..], &["--as-target", "still", "--at", "0"]].concat(),
        &none,
        &["frame 0", "moves nothing"],
    );

    refuses(
        &[&args[..], &["--as-target", "dent"]].concat(),
        &inside(&folder, "none.obj"),
        &["cannot store targets"],
    );
}

#[test]
fn a_mesh_without_targets_becomes_a_rig_with_one() {
    let folder = folder();
    let (mesh, path) = ball(&folder);
    let center = outermost(&mesh, DVec3::X).to_string();
    let out = inside(&folder, "rig.glb");

    json(
        &[
            &[
                "touch",
                &path,
                "--center",
                &center,
                "--radius",
                "0.6",
                "--as-target",
                "dent",
                "--out",
                &out,
            ],
            &PRESS[..],
        ]
        .concat(),
    );

    assert_eq!(
        load(&out, &LoadOptions::default()).unwrap().target_names(),
        ["dent"]
    );
}

#[test]
fn an_animated_surface_without_contact_is_unchanged() {
    let folder = folder();
    let mesh = shapes::icosphere(2);
    let moved = |k: u32| {
        mesh.positions()
            .iter()
            .map(|p| *p + DVec3::Y * (0.25 * f64::from(k * k)))
            .collect::<Vec<_>>()
    };

    let clip = Clip::new("up", mesh.clone(), (0..5).map(moved).collect())
        .unwrap()
        .with_frames_per_second(24.0);
    let path = inside(&folder, "clip.usda");
    let out = inside(&folder, "out.npy");

    save(&Asset::from_clip(&clip), &path).unwrap();
    let far = [
        "touch",
        &path,
        "--center",
        "0",
        "--radius",
        "0.7",
        "--collider",
        "sphere:9,9,9,1",
        "--out",
        &out,
    ];

    let report = json(&[&far[..], &["--animate", "--fps", "24"]].concat());
    assert!(
        problems(&report).contains("no collider touches"),
        "{report}"
    );

    let read = load(&path, &LoadOptions::default())
        .unwrap()
        .clip()
        .unwrap();

    assert_eq!(
        frames(&out),
        read.frames(),
        "at its own rate it is the clip"
    );
    json(&[&far[..], &["--animate", "--fps", "48"]].concat());

    let finer = frames(&out);
    assert_eq!(finer.len(), 9);
    assert_eq!(finer[4], read.frames()[2]);

    let report = json(&[&far[..], &["--frames", "2"]].concat());
    assert!(problems(&report).contains("clip is not played"), "{report}");

    // Inertia makes soft parts lag: at the first acceleration upwards, once it is known how fast
    // the clip begins, they are below it.
    json(&[
        "touch",
        &path,
        "--center",
        "0",
        "--radius",
        "0.7",
        "--animate",
        "--fps",
        "24",
        "--inertia",
        "1",
        "--out",
        &out,
    ]);

    assert_eq!(frames(&out)[1], read.frames()[1]);
    assert!(frames(&out)[2][0].y < read.frames()[2][0].y - 1e-3);
}

#[test]
fn gravity_pulls_soft_vertices_and_pins_stay() {
    let folder = folder();
    let (mesh, path) = ball(&folder);
    let soft = within(&mesh, outermost(&mesh, DVec3::X), 0.6);
    let pinned = soft[soft.len() / 2] as usize;
    let (_, frames) = touch(
        &folder,
        &mesh,
        &path,
        &[
            "--gravity",
            "0,-9.8,0",
            "--pin",
            &pinned.to_string(),
            "--frames",
            "10",
        ],
    );

    assert_eq!(frames[9][pinned], mesh.positions()[pinned]);
    let fallen = |v: &&u32| frames[9][**v as usize].y < mesh.positions()[**v as usize].y;
    assert!(soft.iter().filter(fallen).count() > soft.len() / 2);
}

#[test]
fn materials_of_the_command_line_are_those_of_the_simulation() {
    let folder = folder();
    let (mesh, path) = ball(&folder);
    let sag = |more: &[&str]| {
        let (report, _) = touch(
            &folder,
            &mesh,
            &path,
            &[
                &["--gravity", "0,-9.8,0", "--frames", "120", "--damping", "1"],
                more,
            ]
            .concat(),
        );
        report["last_displacement"].as_f64().unwrap()
    };

    // Everything at rest under gravity is as far as stiffness, the square of the frequency, lets
    // it.
    let soft = sag(&["--frequency", "4"]);
    let stiff = sag(&["--frequency", "8"]);

    assert!((soft / stiff - 4.0).abs() < 0.4, "{soft} {stiff}");
    assert!(
        sag(&["--frequency", "4", "--spread", "1"]) < 0.9 * soft,
        "what is felt farther along the surface is held by more of its rim"
    );
}

#[test]
fn unusual_input_gives_warnings() {
    let folder = folder();
    let (mesh, path) = ball(&folder);
    let center = outermost(&mesh, DVec3::X).to_string();
    let out = inside(&folder, "out.npy");
    let warnings = |radius: &str, more: &[&str]| {
        let args = [
            "touch", &path, "--center", &center, "--radius", radius, "--frames", "3", "--out", &out,
        ];
        problems(&json(&[&args[..], more].concat()))
    };

    assert!(warnings("50", &PRESS).contains("holds all that is connected"));
    assert!(warnings("0.6", &["--collider", "sphere:1.1,0,0,0.3"]).contains("begins inside"));

    let first = frames(&out)[0]
        .iter()
        .map(|p| p.distance(DVec3::X * 1.1))
        .fold(f64::INFINITY, f64::min);

    assert!(first > 0.3 - 1e-9, "and is out of it in the first frame");
    assert!(
        warnings(
            "0.2",
            &["--collider", "sphere:1.5,0,0,0.4", "--toward", "-0.3,0,0"]
        )
        .contains("outside the soft patches in frame 1")
    );

    assert!(
        warnings(
            "0.6",
            &["--pull", &format!("{center}:0.1,0,0"), "--friction", "0.5"]
        )
        .contains("--friction")
    );
}

#[test]
fn a_clip_can_be_written_in_every_clip_format() {
    let folder = folder();
    let (mesh, path) = ball(&folder);
    let center = outermost(&mesh, DVec3::X).to_string();

    for name in ["out.glb", "out.usda", "out.mdd", "out.pc2"] {
        let out = inside(&folder, name);
        json(
            &[
                &[
                    "touch", &path, "--center", &center, "--radius", "0.6", "--frames", "7",
                    "--out", &out,
                ],
                &PRESS[..],
            ]
            .concat(),
        );

        let clip = load(&out, &LoadOptions::default()).unwrap().clip().unwrap();
        assert_eq!(clip.frames().len(), 7, "{name}");
    }

    refuses(
        &[
            &["touch", &path, "--center", &center, "--radius", "0.6"],
            &PRESS[..],
        ]
        .concat(),
        &inside(&folder, "out.ply"),
        &["cannot store a clip"],
    );
}

#[test]
fn invalid_touches_are_refused() {
    let folder = folder();
    let (_, path) = ball(&folder);
    let none = inside(&folder, "none.npy");
    let with = |center: &'static str, radius: &'static str, more: &[&'static str]| {
        [
            &["touch", &path, "--center", center, "--radius", radius],
            more,
        ]
        .concat()
        .iter()
        .map(|s| s.to_string())
        .collect::<Vec<_>>()
    };

    let refused = |args: Vec<String>, words: &[&str]| {
        refuses(
            &args.iter().map(String::as_str).collect::<Vec<_>>(),
            &none,
            words,
        )
    };

    refused(with("642", "0.6", &PRESS), &["642"]);
    refused(with("0", "0", &PRESS), &["radius 0"]);
    refused(with("0", "nan", &PRESS), &["radius NaN"]);
    refused(
        with("0", "0.6", &["--pull", "641:0,0,1"]),
        &["641", "outside every soft patch"],
    );

    refused(
        with("0", "0.6", &["--pull", "700:0,0,1"]),
        &["700", "642 vertices"],
    );

    refused(
        with("0", "0.6", &["--gravity", "0,0,1", "--pin", "700"]),
        &["700"],
    );

    refused(
        with("0", "0.6", &["--collider", "nothing.obj"]),
        &["nothing.obj"],
    );

    refused(
        with("0", "0.6", &["--pull", "0:0,0,1", "--pull", "0:0,0,2"]),
        &["vertex 0 is pulled to two positions"],
    );

    refused(
        with("0", "0.6", &["--pull", "0:0,0,1", "--pin", "0"]),
        &["vertex 0 is both pinned and pulled"],
    );

    refused(
        with("0", "0.6", &["--pull", "0:0,0,1", "--method", "verlet"]),
        &["does not support pulls"],
    );

    refused(
        with("0", "0.6", &["--gravity", "0,0,1", "--settle", "1e12"]),
        &["frame(s) cannot be simulated"],
    );

    refused(
        with(
            "0",
            "0.6",
            &["--gravity", "0,0,1", "--self-contact", "--method", "verlet"],
        ),
        &["does not support skin contact"],
    );

    refused(
        with("0", "0.6", &["--gravity", "0,0,1", "--frequency", "0"]),
        &["frequency"],
    );

    refused(
        with("0", "0.6", &["--gravity", "0,0,1", "--weights", "smile=1"]),
        &["smile"],
    );

    refused(
        with("0", "0.6", &["--animate", "--inertia", "1"]),
        &["no clip"],
    );
}

#[test]
fn wrong_usage_gives_exit_code_2_and_names_the_remedy() {
    let folder = folder();
    let (_, path) = ball(&folder);
    let none = inside(&folder, "none.npy");
    let start = [
        "touch", &path, "--center", "0", "--radius", "1", "--out", &none,
    ];

    let wrong: [(&[&str], &str); 10] = [
        (&[], "nothing touches the patch"),
        (
            &["--radius", "2", "--pull", "0:0,0,1"],
            "2 --radius for 1 --center",
        ),
        (
            &["--toward", "0,0,1", "--pull", "0:0,0,1"],
            "1 --toward for 0 --collider",
        ),
        (&["--pull", "0:0,0,1", "--k-damp", "0.3"], "--method verlet"),
        (
            &[
                "--gravity",
                "0,0,1",
                "--method",
                "verlet",
                "--frequency",
                "3",
            ],
            "has no material",
        ),
        (&["--pull", "0:0,0"], "V:dx,dy,dz"),
        (
            &["--collider", "sphere:0,0,0,1", "--toward", "0,0,nan"],
            "three numbers",
        ),
        (&["--pull", "0:0,0,1", "--frames", "0"], "--frames"),
        (
            &["--pull", "0:0,0,1", "--fps", "0"],
            "frames per second above 0",
        ),
        (&["--inertia", "1"], "--animate"),
    ];

    for (more, words) in wrong {
        let output = pliant(&[&start[..], more].concat());
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{more:?}: {message}");
        assert!(message.contains(words), "{more:?}: {message}");
        assert!(!std::path::Path::new(&none).exists());
    }
}

#[test]
fn help_has_examples_and_the_defaults_of_the_library() {
    let help = String::from_utf8(pliant(&["touch", "--help"]).stdout).unwrap();
    for words in [
        "Examples:",
        "pliant touch specimen:head",
        "Material:",
        "pliant schema touch",
    ] {
        assert!(help.contains(words), "'{words}' in {help}");
    }

    let skin = pliant::physics::SoftMaterial::default();
    for value in [
        skin.frequency_hz,
        skin.damping_ratio,
        skin.spread,
        skin.roundness,
        skin.strain_limit,
    ] {
        assert!(
            help.contains(&format!("[default: {value}]")),
            "{value} in {help}"
        );
    }
}
