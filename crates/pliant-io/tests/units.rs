//! Units and up axes across formats: a model measures the same in every file written from it.

use std::path::{Path, PathBuf};

use pliant_io::{Asset, Capabilities, LoadOptions, UpAxis, load, obj, save};
use pliant_mesh::Mesh;
use pliant_mesh::glam::{DVec3, Vec3};
use pliant_rig::{Rig, Target};

/// The height of the model, in metres.
const HEIGHT: f64 = 0.585;

/// A tetrahedron that is 0.585 m high, 0.2 m wide and 0.3 m deep, with a target that lifts its tip
/// by a tenth of its height.
fn model(up_axis: UpAxis, meters_per_unit: f64) -> Asset {
    let place = |x: f64, up: f64, forward: f64| {
        let point = match up_axis {
            UpAxis::X => DVec3::new(up, -x, forward),
            UpAxis::Y => DVec3::new(x, up, forward),
            UpAxis::Z => DVec3::new(x, -forward, up),
        };
        point / meters_per_unit
    };
    let positions = vec![
        place(0.0, 0.0, 0.0),
        place(0.2, 0.0, 0.0),
        place(0.0, 0.0, 0.3),
        place(0.0, HEIGHT, 0.0),
    ];
    let lift = place(0.0, 0.1 * HEIGHT, 0.0).as_vec3();
    let faces = [[0, 1, 3], [1, 2, 3], [2, 0, 3], [0, 2, 1]];
    let mesh = Mesh::from_triangles(positions, &faces).unwrap();
    let target = Target::from_dense("lift", [Vec3::ZERO, Vec3::ZERO, Vec3::ZERO, lift]);

    let mut asset = Asset::from_rig(Rig::new(mesh.named("model"), vec![target]).unwrap());
    asset.up_axis = up_axis;
    asset.meters_per_unit = Some(meters_per_unit);
    asset
}

fn read(path: &Path) -> Asset {
    load(&path.display().to_string(), &LoadOptions::default()).unwrap()
}

/// The extent along the up axis in metres: at rest, and with the target.
fn heights(asset: &Asset) -> [f64; 2] {
    let rig = asset.rig().unwrap();
    let axis = match asset.up_axis {
        UpAxis::X => 0,
        UpAxis::Y => 1,
        UpAxis::Z => 2,
    };
    let unit = asset.meters_per_unit.expect("a file with a unit");
    let height = |positions: &[DVec3]| {
        let along = |p: &DVec3| p[axis];
        let least = positions.iter().map(along).fold(f64::INFINITY, f64::min);
        let greatest = positions.iter().map(along).fold(-f64::INFINITY, f64::max);
        (greatest - least) * unit
    };
    [
        height(rig.neutral().positions()),
        height(&rig.evaluate(&[1.0])),
    ]
}

fn assert_as_high_as_the_model(asset: &Asset, what: &str) {
    let [rest, lifted] = heights(asset);
    assert!((rest - HEIGHT).abs() < 1e-6, "{what}: {rest}");
    assert!((lifted - 1.1 * HEIGHT).abs() < 1e-6, "{what}: {lifted}");
}

#[test]
fn a_model_is_as_high_in_every_file_written_from_it() {
    let folder = tempfile::tempdir().unwrap();
    for up_axis in [UpAxis::X, UpAxis::Y, UpAxis::Z] {
        for unit in [0.01, 1.0, 0.0254] {
            let asset = model(up_axis, unit);
            for first in ["usda", "glb", "gltf"] {
                let one = folder.path().join(format!("one.{first}"));
                assert_eq!(save(&asset, &one).unwrap().left_out, [""; 0]);
                let read_once = read(&one);
                assert_as_high_as_the_model(&read_once, &format!("{up_axis} {unit} {first}"));

                for second in ["usda", "glb"] {
                    let two = folder.path().join(format!("two.{second}"));
                    save(&read_once, &two).unwrap();
                    let what = format!("{up_axis} {unit} {first} {second}");
                    assert_as_high_as_the_model(&read(&two), &what);
                }
            }
        }
    }
}

#[test]
fn usd_declares_the_unit_and_the_axis_of_the_asset() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.usda");
    for (up_axis, unit) in [(UpAxis::Z, 0.01), (UpAxis::Y, 1.0)] {
        save(&model(up_axis, unit), &path).unwrap();
        let again = read(&path);
        assert_eq!(
            (again.up_axis, again.meters_per_unit),
            (up_axis, Some(unit))
        );
    }
}

#[test]
fn a_file_without_a_unit_keeps_its_bits_through_a_glb() {
    let text = b"v 0 0 0\nv 0.1 0 0\nv 0 0.7 0\nv 0 0 1e-3\nf 1 2 3\nf 1 3 4\n";
    let folder = tempfile::tempdir().unwrap();
    let asset = obj::read(text).unwrap();
    assert_eq!(asset.meters_per_unit, None);

    let glb = folder.path().join("model.glb");
    save(&asset, &glb).unwrap();
    let back = folder.path().join("back.obj");
    assert_eq!(save(&read(&glb), &back).unwrap().left_out, [""; 0]);
    let single = |asset: &Asset| -> Vec<Vec3> {
        let mesh = asset.mesh().unwrap();
        mesh.positions().iter().map(|p| p.as_vec3()).collect()
    };
    assert_eq!(single(&read(&back)), single(&asset));
}

#[test]
fn formats_without_a_unit_keep_the_numbers_and_report_the_unit() {
    let folder = tempfile::tempdir().unwrap();
    let asset = model(UpAxis::Y, 0.01);
    for ending in ["obj", "ply"] {
        let path = folder.path().join(format!("model.{ending}"));
        let left_out = save(&asset, &path).unwrap().left_out;
        assert!(
            left_out.contains(&"the unit (one unit is 0.01 m)".to_owned()),
            "{ending}: {left_out:?}"
        );
        let size = read(&path).bounds().unwrap().size();
        assert!((size.y - HEIGHT / 0.01).abs() < 1e-5, "{ending}: {size}");
    }
    assert_eq!(Capabilities::ALL.left_out_of(&asset), [""; 0]);
}

/// A file of the shared data.
fn data(name: &str) -> Option<PathBuf> {
    let Some(folder) = std::env::var_os("PLIANT_DATA") else {
        #[allow(clippy::print_stderr, reason = "a skipped test says why")]
        {
            eprintln!("skipped: PLIANT_DATA is not set, so {name} is not read");
        }
        return None;
    };
    let path = Path::new(&folder).join(name);
    assert!(
        path.exists(),
        "PLIANT_DATA is set, but {} is missing",
        path.display()
    );
    Some(path)
}

#[test]
fn an_fbx_head_in_centimetres_keeps_its_size() {
    let Some(path) = data("facecap-head/FaceCapHeadGeneric.fbx") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let head = read(&path);
    let metres = |asset: &Asset| asset.bounds().unwrap().size() * asset.meters_per_unit.unwrap();
    let expected = metres(&head);
    assert!((0.15..0.35).contains(&expected.y), "{expected}");

    for ending in ["glb", "usda"] {
        let file = folder.path().join(format!("head.{ending}"));
        save(&head, &file).unwrap();
        let size = metres(&read(&file));
        assert!((size - expected).length() < 1e-6, "{ending}: {size}");
    }
}
