//! Strokes on whole faces: the built-in head, and a scanned one where `PLIANT_DATA` names it.

use std::path::PathBuf;

use pliant::mesh::glam::DVec3;
use pliant::mesh::{Bounds, Mesh};
use pliant::rig::{Pin, PinPlace, RigError, SideStretch, Sketch, SketchCamera, SketchOptions};

const SIZE: [u32; 2] = [800, 800];

/// A camera in front of a face that looks towards +Z.
fn front(mesh: &Mesh) -> SketchCamera {
    let bounds = mesh.bounds().expect("a face has vertices");
    let eye = bounds.center() + DVec3::Z * 2.5 * bounds.diagonal();
    let target = bounds.center();

    SketchCamera {
        eye,
        target,
        up: DVec3::Y,
        fov_y_degrees: 28.0,
        width: SIZE[0],
        height: SIZE[1],
    }
}

/// The place in the picture of a share of the face's box, from its lower left corner.
fn on_face(bounds: &Bounds, camera: &SketchCamera, x: f64, y: f64) -> [f64; 2] {
    let place = bounds.min + bounds.size() * DVec3::new(x, y, 0.5);
    camera
        .project(place)
        .expect("the face is in front of the camera")
}

/// A ⌣ from left to right over the middle of a face, at this height.
fn smile(mesh: &Mesh, camera: &SketchCamera, height: f64) -> Vec<[f64; 2]> {
    let bounds = mesh.bounds().expect("a face has vertices");
    let share = |k: i32| f64::from(k) / 40.0 - 0.5;
    (0..=40)
        .map(|k| {
            on_face(
                &bounds,
                camera,
                0.5 + 0.24 * share(k),
                height + 0.2 * share(k) * share(k),
            )
        })
        .collect()
}

fn assert_smiles(mesh: &Mesh) {
    let camera = front(mesh);
    let drawn = smile(mesh, &camera, 0.4);
    let sketch = |options: &SketchOptions| {
        Sketch::from_stroke(mesh, mesh.positions(), &camera, &drawn, options).unwrap()
    };
    let found = sketch(&SketchOptions::default().with_pin_place(PinPlace::Surface));

    let ways: Vec<DVec3> = found
        .pins
        .iter()
        .map(|pin: &Pin| pin.displacement)
        .collect();

    assert!(ways[1].y < 0.0, "the middle goes down: {ways:?}");
    assert!(
        ways[0].y > 0.0 && ways[2].y > 0.0 && ways[0].x < 0.0 && ways[2].x > 0.0,
        "the corners go up and out: {ways:?}"
    );

    assert!(
        (ways[1].length() / found.middle_ordinate - SketchOptions::DEFAULT_MIDDLE_SCALE).abs()
            < 1e-12
    );

    let with_bow = sketch(
        &SketchOptions::default()
            .with_pin_place(PinPlace::Surface)
            .with_side_stretch(SideStretch::Bow),
    );

    assert!(with_bow.pins[0].displacement.y < 0.0);
    // The curve lies under the stroke: the spline leaves it by less than a pixel or two of a
    // picture of 800.
    for point in found.curve.positions(mesh).unwrap() {
        let [u, v] = camera.project(point).unwrap();
        let nearest = drawn
            .iter()
            .map(|p| (p[0] - u).hypot(p[1] - v))
            .fold(f64::INFINITY, f64::min);
        assert!(nearest < 4.0, "{nearest} pixels beside the stroke");
    }

    let beside = Sketch::from_stroke(
        mesh,
        mesh.positions(),
        &camera,
        &[[1.0, 1.0], [9.0, 2.0]],
        &SketchOptions::default(),
    );

    assert_eq!(beside, Err(RigError::StrokeOffModel { points: 2 }));
}

#[test]
fn a_smile_on_the_built_in_head_pulls_its_corners_up() {
    let head = pliant::specimens::specimen("head").expect("the head is built in");
    assert_smiles(head.rig.neutral());
}

#[test]
fn a_smile_on_a_scanned_face_pulls_its_corners_up() {
    let Some(folder) = std::env::var_os("PLIANT_DATA") else {
        #[allow(clippy::print_stderr, reason = "a skipped test says why")]
        {
            eprintln!("skipped: PLIANT_DATA is not set");
        }
        return;
    };

    let path = PathBuf::from(folder).join("ict-facekit/generic_neutral_mesh.obj");
    let asset = pliant::io::load(
        path.to_str().expect("a path in UTF-8"),
        &pliant::io::LoadOptions::default(),
    )
    .unwrap();

    assert_smiles(asset.objects[0].rig.neutral());
}
