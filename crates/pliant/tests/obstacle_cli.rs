//! `pliant blend` with a box as obstacle.

mod command;

use command::{folder, inside, json, pliant, refuses};
use pliant::io::{Asset, LoadOptions, load, save};
use pliant::mesh::glam::DVec3;
use pliant::mesh::shapes;

#[test]
fn a_growing_shape_stops_at_a_box() {
    let folder = folder();
    let [ball, egg, out] = ["ball.obj", "egg.obj", "out.glb"].map(|name| inside(&folder, name));
    let mesh = shapes::icosphere(2);
    save(&Asset::from_mesh(mesh.clone()), &ball).unwrap();

    let longer = mesh
        .positions()
        .iter()
        .map(|&p| p * DVec3::new(1.6, 0.9, 0.9))
        .collect();

    save(&Asset::from_mesh(mesh.posed(longer).unwrap()), &egg).unwrap();
    // Ten wide and high, one thick: its face is at x = -1.3.
    let report = json(&[
        "blend",
        &ball,
        &egg,
        "--steps",
        "4",
        "--obstacle",
        "box:-1.8,0,0,1,10,10",
        "--out",
        &out,
    ]);

    assert!(
        report["frames"][0]["contacts"] == 0 && report["frames"][4]["contacts"].as_u64() > Some(0),
        "{report}"
    );

    let asset = load(&out, &LoadOptions::default()).unwrap();
    let least = |frame: &Vec<DVec3>| frame.iter().map(|p| p.x).fold(f64::INFINITY, f64::min);
    assert!(
        asset
            .clip()
            .unwrap()
            .frames()
            .iter()
            .all(|frame| least(frame) > -1.3 - 1e-4)
    );

    for wrong in [
        "box:0,0,0,1,1",
        "box:0,0,0,1,1,0",
        "box:0,0,0,1,-1,1",
        "box:0,0,0,1,1,nan",
    ] {
        let none = inside(&folder, "none.glb");
        let output = pliant(&["blend", &ball, &egg, "--obstacle", wrong, "--out", &none]);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{wrong}");
        assert!(message.contains("write box:x,y,z,a,b,c"), "{message}");
        assert!(!std::path::Path::new(&none).exists());
    }

    // A file that does not exist is named.
    refuses(
        &["blend", &ball, &egg, "--obstacle", "wall.obj"],
        &inside(&folder, "none.glb"),
        &["wall.obj"],
    );
}
