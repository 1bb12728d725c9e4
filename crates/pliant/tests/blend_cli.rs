//! `pliant blend`: obstacles, cages, stiffness and energy terms.

mod command;

use command::{folder, inside, json, pliant, refuses};
use pliant::io::{Animation, Asset, LoadOptions, load, save};
use pliant::mesh::glam::DVec3;
use pliant::mesh::{Mesh, VertexLayer, shapes};
use tempfile::TempDir;

/// A ball, and the same ball as an egg along x.
fn poses(folder: &TempDir) -> [String; 2] {
    let files = ["ball.obj", "egg.obj"].map(|name| inside(folder, name));
    save(&Asset::from_mesh(shapes::icosphere(2)), &files[0]).unwrap();
    save(
        &Asset::from_mesh(scaled(DVec3::new(1.6, 0.9, 0.9), DVec3::ZERO)),
        &files[1],
    )
    .unwrap();
    files
}

fn scaled(scale: DVec3, shift: DVec3) -> Mesh {
    let ball = shapes::icosphere(2);
    ball.posed(
        ball.positions()
            .iter()
            .map(|&p| p * scale + shift)
            .collect(),
    )
    .unwrap()
}

/// The frames of a clip.
fn frames(file: &str) -> Vec<Vec<DVec3>> {
    load(file, &LoadOptions::default())
        .unwrap()
        .clip()
        .unwrap()
        .frames()
        .to_vec()
}

/// The least distance from a point to all vertices of a frame.
fn nearest(frame: &[DVec3], center: DVec3) -> f64 {
    frame
        .iter()
        .map(|p| p.distance(center))
        .fold(f64::INFINITY, f64::min)
}

#[test]
fn a_growing_shape_stops_at_a_ball_and_reports_its_contacts() {
    let folder = folder();
    let [ball, egg] = poses(&folder);
    let free = inside(&folder, "free.glb");
    let held = inside(&folder, "held.glb");
    let still = json(&["blend", &ball, &egg, "--steps", "4", "--out", &free]);

    assert!(
        still["frames"]
            .as_array()
            .unwrap()
            .iter()
            .all(|frame| frame["contacts"] == 0)
    );

    // Both spellings of a negative number.
    for obstacle in [
        &["--obstacle", "sphere:-1.9,0,0,0.5"][..],
        &["--obstacle=sphere:-1.9,0,0,0.5"],
    ] {
        let report = json(
            &[
                &["blend", &ball, &egg, "--steps", "4", "--out", &held],
                obstacle,
            ]
            .concat(),
        );

        assert!(
            report["frames"][0]["contacts"] == 0
                && report["frames"][4]["contacts"].as_u64() > Some(0),
            "{report}"
        );

        assert!(
            report["frames"]
                .as_array()
                .unwrap()
                .iter()
                .all(|frame| frame["converged"] == true),
            "{report}"
        );

        let (free, held) = (frames(&free), frames(&held));
        let center = DVec3::X * -1.9;
        assert!(
            nearest(&free[4], center) < 0.4
                && held.iter().all(|frame| nearest(frame, center) > 0.5 - 1e-4)
        );

        assert_eq!(held[0], free[0]);
    }
}

#[test]
fn a_file_with_a_clip_is_an_obstacle_that_moves() {
    let folder = folder();
    let [ball, _] = poses(&folder);
    let hammer = inside(&folder, "hammer.glb");
    let out = inside(&folder, "hit.glb");
    let strikes: Vec<Vec<DVec3>> = [3.0, 1.3]
        .map(|x| scaled(DVec3::splat(0.5), DVec3::X * x).positions().to_vec())
        .to_vec();

    let still = Asset::from_mesh(scaled(DVec3::splat(0.5), DVec3::X * 3.0));
    save(
        &still
            .with_point_clip(Animation::new("strike", 2), &strikes)
            .unwrap(),
        &hammer,
    )
    .unwrap();

    let report = json(&[
        "blend",
        &ball,
        &ball,
        "--steps",
        "2",
        "--obstacle",
        &hammer,
        "--friction",
        "0.2",
        "--out",
        &out,
    ]);

    assert!(
        report["frames"][0]["contacts"] == 0 && report["frames"][2]["contacts"].as_u64() > Some(0),
        "{report}"
    );

    let tip = frames(&out)[2]
        .iter()
        .map(|p| p.x)
        .fold(f64::NEG_INFINITY, f64::max);

    assert!(tip < 0.95, "dented, where it was 1: {tip}");
}

#[test]
fn the_contact_method_of_ma2012_keeps_vertices_out_of_several_obstacles() {
    let folder = folder();
    let [ball, egg] = poses(&folder);
    let out = inside(&folder, "out.glb");
    let report = json(&[
        "blend",
        &ball,
        &egg,
        "--steps",
        "2",
        "--contact",
        "paper",
        "--out",
        &out,
        "--obstacle",
        "sphere:1.9,0,0,0.5",
        "--obstacle",
        "capsule:-1.9,-1,0,-1.9,1,0,0.5",
    ]);

    assert!(
        report["frames"][2]["contacts"].as_u64() > Some(1),
        "{report}"
    );
    let last = &frames(&out)[2];
    assert!(nearest(last, DVec3::X * 1.9) > 0.5 - 1e-4);
    assert!(
        last.iter()
            .all(|p| DVec3::new(p.x + 1.9, 0.0, p.z).length() > 0.5 - 1e-4)
    );
}

/// Two balls as one surface, the second `along` y beside the first.
fn two_balls(along: f64) -> Mesh {
    let ball = shapes::icosphere(2);
    let count = ball.vertex_count() as u32;
    let second = ball
        .positions()
        .iter()
        .map(|&p| p + DVec3::new(1.8, along, 0.0));

    let faces = ball
        .triangles()
        .iter()
        .flat_map(|&t| [t, t.map(|v| v + count)])
        .collect::<Vec<_>>();

    Mesh::from_triangles(
        ball.positions().iter().copied().chain(second).collect(),
        &faces,
    )
    .unwrap()
}

#[test]
fn parts_in_self_contact_push_each_other_and_are_reported() {
    let folder = folder();
    let files = ["before.obj", "after.obj"].map(|name| inside(&folder, name));
    for (file, along) in files.iter().zip([-2.5, 2.5]) {
        save(&Asset::from_mesh(two_balls(along)), file).unwrap();
    }

    let free = inside(&folder, "free.glb");
    let kept = inside(&folder, "kept.glb");
    json(&[
        "blend", &files[0], &files[1], "--steps", "10", "--out", &free,
    ]);

    let report = json(&[
        "blend",
        &files[0],
        &files[1],
        "--steps",
        "10",
        "--self-contact",
        "--out",
        &kept,
    ]);

    let pairs = |frame: usize| report["frames"][frame]["self_contacts"].as_u64().unwrap();
    assert!(pairs(0) == 0 && pairs(5) > 0 && pairs(10) == 0, "{report}");
    assert!(
        report["frames"]
            .as_array()
            .unwrap()
            .iter()
            .all(|frame| frame["converged"] == true && frame["self_depth"] == 0.0),
        "{report}"
    );

    let (free, kept) = (frames(&free), frames(&kept));
    let half = free[0].len() / 2;
    let reach = |frame: &[DVec3]| {
        frame[half..]
            .iter()
            .map(|p| p.x)
            .fold(f64::INFINITY, f64::min)
    };

    assert!(
        reach(&free[5]) < 0.81 && reach(&kept[5]) > 0.85,
        "the second ball is dented: {}",
        reach(&kept[5])
    );
    assert_eq!((&kept[0], &kept[10]), (&free[0], &free[10]));

    let none = inside(&folder, "no.glb");
    let output = pliant(&[
        "blend",
        &files[0],
        &files[1],
        "--self-contact",
        "--contact",
        "paper",
        "--out",
        &none,
    ]);

    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn an_invalid_obstacle_is_refused_in_one_line_and_leaves_no_file() {
    let folder = folder();
    let [ball, egg] = poses(&folder);
    let out = inside(&folder, "no.glb");
    let open = inside(&folder, "open.obj");

    save(&Asset::from_mesh(shapes::bumpy_sheet(3, 0.1)), &open).unwrap();
    refuses(
        &["blend", &ball, &egg, "--obstacle", &open],
        &out,
        &["open.obj", "not closed"],
    );

    refuses(
        &["blend", &ball, &egg, "--obstacle", "missing.obj"],
        &out,
        &["missing.obj"],
    );

    let wrong = [
        "sphere:0,0,1",
        "sphere:0,nan,0,1",
        "sphere:0,0,0,-1",
        "sphere:a,b,c,d",
        "capsule:0,0,0,1",
        "cylinder:0,0,0,0,0,0,1",
    ];

    for wrong in wrong
        .map(|text| ["--obstacle", text])
        .into_iter()
        .chain([["--friction", "nan"], ["--friction=-1", "--quiet"]])
    {
        let output = pliant(&["blend", &ball, &egg, wrong[0], wrong[1], "--out", &out]);
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
        assert!(!std::path::Path::new(&out).exists());
    }
}

/// A ball of 2562 vertices and an egg, painted dark where x is above zero.
fn painted_poses(folder: &TempDir, ending: &str) -> [String; 2] {
    let ball = shapes::icosphere(4);
    let mut builder = ball.to_builder();
    let gray = |p: &DVec3| if p.x > 0.0 { 0.0 } else { 1.0 };
    let values = builder
        .positions
        .iter()
        .map(|p| DVec3::splat(gray(p)).extend(1.0))
        .collect();

    builder.colors = vec![VertexLayer {
        name: String::new(),
        values,
    }];

    let painted = builder.build().unwrap();
    let egg = painted
        .posed(
            ball.positions()
                .iter()
                .map(|&p| p * DVec3::new(1.6, 0.9, 0.9))
                .collect(),
        )
        .unwrap();

    let files = ["painted", "egg"].map(|name| inside(folder, &format!("{name}.{ending}")));
    save(&Asset::from_mesh(painted), &files[0]).unwrap();
    save(&Asset::from_mesh(egg), &files[1]).unwrap();

    files
}

#[test]
fn a_cage_is_reported_and_gives_all_vertices_and_exact_ends() {
    let folder = folder();
    let [ball, egg] = painted_poses(&folder, "obj");
    let out = inside(&folder, "caged.npy");
    let plain = json(&["blend", &ball, &egg, "--steps", "2", "--out", &out]);

    assert!(
        plain["cage"].is_null() && plain["vertices"] == 2562,
        "{plain}"
    );

    let report = json(&[
        "blend", &ball, &egg, "--steps", "2", "--cage", "400", "--out", &out,
    ]);

    assert!(
        report["cage"]["vertices"] == 400 && report["vertices"] == 2562,
        "{report}"
    );
    assert!(report["springs"]["structure"].as_u64() < plain["springs"]["structure"].as_u64());
    assert!(
        report["problems"].to_string().contains("cage of 400"),
        "{report}"
    );

    for frame in 0..3 {
        let volume =
            |object: &serde_json::Value| object["frames"][frame]["volume"].as_f64().unwrap();
        assert!(
            (volume(&report) / volume(&plain) - 1.0).abs() < 0.01,
            "{frame}: {} {}",
            volume(&report),
            volume(&plain)
        );
    }

    let ends = pliant::io::npy::read(&std::fs::read(&out).unwrap())
        .unwrap()
        .values;
    let first = load(&ball, &LoadOptions::default())
        .unwrap()
        .mesh()
        .unwrap();

    let kept: Vec<f64> = first
        .positions()
        .iter()
        .flat_map(|p| p.to_array())
        .collect();

    assert_eq!(ends[..kept.len()], kept);
    let around = json(&[
        "blend",
        &ball,
        &egg,
        "--steps",
        "2",
        "--cage",
        "400",
        "--obstacle",
        "sphere:1.9,0,0,0.5",
        "--out",
        &out,
    ]);

    assert!(
        around["problems"]
            .to_string()
            .contains("obstacles push the cage"),
        "{around}"
    );
}

#[test]
fn stiffness_is_read_from_the_colours_of_the_first_shape() {
    let folder = folder();
    let out = inside(&folder, "firm.npy");
    let mut results = Vec::new();

    for (ending, extra) in [
        ("ply", &["--stiffness", "color"][..]),
        ("glb", &["--stiffness", "color"]),
        ("obj", &[]),
    ] {
        let [ball, egg] = painted_poses(&folder, ending);
        let pull = [
            "--pull",
            "0:-0.8,1.2,0",
            "--weights",
            "0.5,0.5",
            "--solver",
            "tight",
        ];

        json(&[&["blend", &ball, &egg, "--out", &out], &pull[..], extra].concat());
        results.push(
            pliant::io::npy::read(&std::fs::read(&out).unwrap())
                .unwrap()
                .values,
        );
    }

    let most = |a: &[f64], b: &[f64]| {
        a.iter()
            .zip(b)
            .map(|(x, y)| (x - y).abs())
            .fold(0.0, f64::max)
    };

    assert!(
        most(&results[0], &results[1]) < 1e-3,
        "formats agree: {}",
        most(&results[0], &results[1])
    );

    assert!(
        most(&results[0], &results[2]) > 1e-2,
        "paint matters: {}",
        most(&results[0], &results[2])
    );

    let [ball, egg] = poses(&folder);
    std::fs::remove_file(&out).unwrap();
    refuses(
        &["blend", &ball, &egg, "--stiffness", "color"],
        &out,
        &["ball.obj", "no vertex colours"],
    );

    for wrong in ["3", "some", "-5"] {
        let output = pliant(&["blend", &ball, &egg, "--cage", wrong, "--out", &out]);
        assert_eq!(output.status.code(), Some(2), "{wrong}");
    }
}

#[test]
fn energy_terms_are_reported_and_respect_an_obstacle() {
    let folder = folder();
    let [ball, egg] = poses(&folder);
    let out = inside(&folder, "held.glb");

    for (energy, reported) in [
        ("springs,volume,angles:2", "springs,angles:2,volume"),
        ("shell", "edges,angles,volume"),
    ] {
        let walk = [
            "blend",
            &ball,
            &egg,
            "--steps",
            "3",
            "--energy",
            energy,
            "--obstacle",
            "sphere:-1.9,0,0,0.5",
            "--out",
            &out,
        ];

        let report = json(&walk);
        assert_eq!(report["energy"], reported);
        assert!(
            report["frames"]
                .as_array()
                .unwrap()
                .iter()
                .all(|frame| frame["converged"] == true && frame["inverted"] == 0),
            "{report}"
        );

        assert!(
            frames(&out)
                .iter()
                .all(|frame| nearest(frame, DVec3::X * -1.9) > 0.5 - 1e-4)
        );
    }

    std::fs::remove_file(&out).unwrap();
    for wrong in ["angles", "spring", "springs,volume:-1", "path,volume"] {
        let run = pliant(&["blend", &ball, &egg, "--energy", wrong, "--out", &out]);
        assert_eq!(run.status.code(), Some(2), "{wrong}");
        assert!(!std::path::Path::new(&out).exists());
    }
}

#[test]
fn the_path_is_the_default_and_a_named_solver_selects_springs() {
    let folder = folder();
    let [ball, egg] = poses(&folder);
    let out = inside(&folder, "walk.glb");
    let energy = |options: &[&str]| {
        let walk = ["blend", &ball, &egg, "--steps", "2", "--out", &out];
        json(&[&walk[..], options].concat())["energy"].clone()
    };

    assert_eq!(energy(&[]), "path");
    assert_eq!(energy(&["--solver", "fast"]), "springs");
    assert_eq!(energy(&["--solver", "tight", "--energy", "path"]), "path");
}
