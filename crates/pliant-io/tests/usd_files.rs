//! USD in every form that people have: binary layers, archives, skeletons.

#![allow(clippy::unwrap_used)]

use pliant_io::{Asset, LoadOptions, load, usda};
use pliant_mesh::glam::DVec3;

const TEXT: &[u8] = include_bytes!("usd/leg.usda");
const BINARY: &[u8] = include_bytes!("usd/leg.usdc");

/// The positions that OpenUSD bakes for the frames of the leg.
fn baked() -> Vec<Vec<DVec3>> {
    let row = |line: &str| {
        let numbers: Vec<f64> = line.split(' ').map(|n| n.parse().unwrap()).collect();
        DVec3::from_slice(&numbers)
    };
    let rows: Vec<DVec3> = include_str!("usd/leg.baked.txt").lines().map(row).collect();
    rows.chunks(13).map(<[DVec3]>::to_vec).collect()
}

fn farthest(found: &[DVec3], expected: &[DVec3]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let pairs = found.iter().zip(expected);
    pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f64::max)
}

fn assert_moves_as_baked(asset: &Asset, tolerance: f64) {
    let clip = asset.clip().unwrap();
    assert_eq!(clip.frames().len(), baked().len());
    for (k, (found, expected)) in clip.frames().iter().zip(&baked()).enumerate() {
        let far = farthest(found, expected);
        assert!(far < tolerance, "frame {k}: {far}");
    }
}

#[test]
fn a_skinned_mesh_moves_as_openusd_bakes_it() {
    for bytes in [TEXT, BINARY] {
        let asset = usda::read(bytes).unwrap();
        assert!(asset.warnings.is_empty(), "{:?}", asset.warnings);
        assert_eq!(asset.objects.len(), 2);
        let skin = asset.objects[0].skin.as_ref().unwrap();
        let names: Vec<&str> = skin
            .skeleton
            .joints()
            .iter()
            .map(|joint| joint.name.as_str())
            .collect();
        assert_eq!(names, ["hip", "knee", "foot"]);
        assert_eq!(asset.target_names(), ["bulge"]);

        // OpenUSD bakes in single precision.
        assert_moves_as_baked(&asset, 1e-5);
    }
}

#[test]
fn a_binary_layer_reads_as_its_text() {
    let text = usda::read(TEXT).unwrap();
    let binary = usda::read(BINARY).unwrap();
    assert_eq!(text.meters_per_unit, Some(0.01));
    assert_eq!(
        (text.meters_per_unit, text.up_axis),
        (binary.meters_per_unit, binary.up_axis)
    );
    for (a, b) in text.objects.iter().zip(&binary.objects) {
        assert_eq!(a.path, b.path);
        assert_eq!(a.rig.targets(), b.rig.targets());
        assert_eq!(a.skin, b.skin);
        let (a, b) = (a.rig.neutral(), b.rig.neutral());
        assert!(a.positions() == b.positions() && a.faces().eq(b.faces()));
    }
}

#[test]
fn the_content_decides_how_a_usd_file_is_read() {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in [
        ("text.usd", TEXT),
        ("binary.usd", BINARY),
        ("binary.usdc", BINARY),
        ("text.usdc", TEXT),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let asset = load(path.to_str().unwrap(), &LoadOptions::default()).unwrap();
        assert_eq!(asset.mesh().unwrap().vertex_count(), 13, "{name}");
    }
}

/// A skeleton of one joint with changed lines.
fn leg_with(from: &str, to: &str) -> Result<Asset, String> {
    let text = std::str::from_utf8(TEXT).unwrap();
    assert!(text.contains(from), "{from}");
    usda::read(text.replacen(from, to, 1).as_bytes()).map_err(|e| e.to_string())
}

#[test]
fn damaged_skins_are_reported() {
    let error = |from: &str, to: &str| leg_with(from, to).unwrap_err();
    assert!(error("[0, 0, 0, 0, 0, 1,", "[9, 0, 0, 0, 0, 1,").contains("follows joint 9 of 3"));
    assert!(error("[1, 0, 1, 0, 0.75", "[-1, 0, 1, 0, 0.75").contains("the weight -1"));
    assert!(error("[0, 0, 0, 0, 0, 1,", "[0, 0, 0, 1,").contains("instead of 20"));
    assert!(error("[0, 0, 0, 0, 0, 1,", "[0, 0, 0, 0, 0, 0.5,").contains("not whole numbers"));
    assert!(error("[\"hip/knee/foot\"]", "[\"hip/toe\"]").contains("joint 'hip/toe'"));

    let warning = |from: &str, to: &str| {
        let asset = leg_with(from, to).unwrap();
        assert!(asset.objects[0].skin.is_none());
        asset.warnings.join("; ")
    };
    assert!(warning("SkelRoot", "Xform").contains("not below a SkelRoot"));
    assert!(warning("</Root/Rig>", "</Root/Fig>").contains("names no skeleton"));
    assert!(warning("[\"hip\", ", "[\"hip\", \"arm\", ").contains("each of its 4 joints"));
}

fn written(asset: &Asset) -> (String, Asset) {
    let written = usda::write(asset).unwrap();
    assert!(written.left_out.is_empty(), "{:?}", written.left_out);
    let copy = usda::read(&written.bytes).unwrap();
    assert!(copy.warnings.is_empty(), "{:?}", copy.warnings);
    (String::from_utf8(written.bytes).unwrap(), copy)
}

#[test]
fn a_written_skin_moves_as_before() {
    let asset = usda::read(TEXT).unwrap();
    let (text, copy) = written(&asset);
    assert_moves_as_baked(&copy, 1e-5);

    assert_eq!(
        text.matches("def Skeleton ").count(),
        1,
        "both meshes share it"
    );
    assert!(text.contains("metersPerUnit = 0.01") && text.contains("upAxis = \"Z\""));
    assert_eq!(
        copy.objects[0].rig.targets(),
        asset.objects[0].rig.targets()
    );
    for (a, b) in asset.objects.iter().zip(&copy.objects) {
        let names = |asset: &pliant_io::Object| {
            let joints = asset.skin.clone().unwrap().skeleton.joints().to_vec();
            joints.into_iter().map(|j| j.name).collect::<Vec<_>>()
        };
        assert_eq!(names(a), names(b));
    }
}

#[test]
fn meshes_whose_weights_differ_get_skeletons_of_their_own() {
    let mut asset = usda::read(TEXT).unwrap();
    // The second mesh gets a target of the same name that rests.
    let lift = pliant_rig::Target::from_dense("bulge", [pliant_mesh::glam::Vec3::Z; 3]);
    let shoe = asset.objects[1].rig.neutral().clone();
    asset.objects[1].rig = pliant_rig::Rig::new(shoe, vec![lift]).unwrap();

    let (text, copy) = written(&asset);
    assert_eq!(text.matches("def Skeleton ").count(), 2);
    assert_moves_as_baked(&copy, 1e-5);
}

#[test]
fn what_moves_a_skinned_object_as_a_whole_moves_its_joints() {
    let mut asset = usda::read(TEXT).unwrap();
    let lifted = pliant_mesh::glam::DAffine3::from_translation(DVec3::Z);
    for motion in &mut asset.clips[0].motions {
        motion.placement = Some(pliant_io::PlacementTrack {
            times_secs: vec![0.0],
            moved_from_rest: vec![lifted],
        });
    }

    let (_, copy) = written(&asset);
    let found = copy.frame_positions(8).unwrap();
    let expected: Vec<DVec3> = baked()[8].iter().map(|p| *p + DVec3::Z).collect();
    assert!(farthest(&found, &expected) < 1e-5);
}

#[test]
fn a_skin_that_also_moves_point_by_point_is_written_as_positions() {
    let mut asset = usda::read(TEXT).unwrap();
    let rest = asset.objects[1].rig.neutral().positions().to_vec();
    let frames = asset.clips[0].frame_count;
    asset.clips[0].motions[1].shape = pliant_io::Shape::Points(vec![rest; frames]);

    let written = usda::write(&asset).unwrap();
    assert!(
        written.left_out[0].contains("1 skin(s) of meshes that also move point by point"),
        "{:?}",
        written.left_out
    );
    assert_moves_as_baked(&usda::read(&written.bytes).unwrap(), 1e-5);
}

#[test]
fn a_scene_of_many_layers_equals_that_of_openusd() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/usd");
    for name in ["scene/root.usda", "scene.usdz"] {
        let asset = load(&format!("{folder}/{name}"), &LoadOptions::default()).unwrap();
        assert!(asset.warnings.is_empty(), "{:?}", asset.warnings);
        assert_equals_openusd(&asset);
    }
}

/// Compares with lines of time code, path and point.
fn assert_equals_openusd(asset: &Asset) {
    let expected = include_str!("usd/scene/expected.txt");
    let mut compared = 0;
    for (k, object) in asset.objects.iter().enumerate() {
        for code in [0, 4, 12, 20, 33, 48] {
            let wanted: Vec<DVec3> = expected
                .lines()
                .map(|line| line.split(' ').collect::<Vec<_>>())
                .filter(|words| words[0] == code.to_string() && words[1] == object.path)
                .map(|words| DVec3::from_array([2, 3, 4].map(|k| words[k].parse().unwrap())))
                .collect();
            let found = asset.clips[0].positions(k, object, code);
            let far = farthest(&found, &wanted);
            assert!(
                far < 1e-5,
                "{} at {code}: {found:?} and {wanted:?}",
                object.path
            );
            compared += found.len();
        }
    }
    assert_eq!(compared, expected.lines().count(), "no mesh is missing");
}

/// Loads `root` from a folder with these files.
fn load_with(root: &str, files: &[(&str, &[u8])]) -> Asset {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("in");
    std::fs::create_dir(&inside).unwrap();
    std::fs::write(inside.join("root.usda"), root).unwrap();
    for (name, bytes) in files {
        std::fs::write(inside.join(name), bytes).unwrap();
    }
    let path = inside.join("root.usda");
    load(path.to_str().unwrap(), &LoadOptions::default()).unwrap()
}

#[test]
fn references_that_cannot_be_followed_are_warnings() {
    let warning = |prim: &str| {
        let root = format!(
            "#usda 1.0\ndef Xform \"a\" ({prim}) {{ def Mesh \"m\" {{ point3f[] points = [(0, 0, 0)] }} }}\n"
        );
        let outside: &[u8] = b"#usda 1.0\ndef Mesh \"secret\" { point3f[] points = [(9, 9, 9)] }\n";
        let other: &[u8] =
            b"#usda 1.0\n( subLayers = [@root.usda@] )\ndef \"x\" {}\ndef \"y\" {}\n";
        let asset = load_with(
            &root,
            &[
                ("../secret.usda", outside),
                ("other.usda", other),
                ("cut.usdc", &BINARY[..200]),
            ],
        );
        assert_eq!(asset.mesh().unwrap().vertex_count(), 1, "{prim}");
        asset.warnings.join("; ")
    };

    for (prim, message) in [
        (
            "references = @../secret.usda@</secret>",
            "'../secret.usda' is outside the folder",
        ),
        ("references = @/etc/passwd@", "outside the folder"),
        ("references = @none.usda@", "none.usda' does not exist"),
        ("references = @other.usda@", "without a default prim"),
        (
            "references = @other.usda@</z>",
            "refers to '/z', which does not exist",
        ),
        ("references = @cut.usdc@", "'cut.usdc': "),
        ("references = </a>", "refers to '/a', which contains it"),
        ("references = </a/m>", "refers to '/a/m', which contains it"),
        (
            "references = @root.usda@</a>",
            "refers to '/a', which contains it",
        ),
        ("references = @other.usda@</a>", "which contains it"),
        ("inherits = </a>", "refers to '/a', which contains it"),
    ] {
        let found = warning(prim);
        assert!(found.contains(message), "{prim}: {found}");
    }
}

#[test]
fn sublayers_that_contain_each_other_are_read_once() {
    let root = "#usda 1.0\n( subLayers = [@b.usda@] )\ndef Mesh \"m\" { point3f[] points = [(0, 0, 0)] }\n";
    let other = b"#usda 1.0\n( subLayers = [@root.usda@] )\n";
    let asset = load_with(root, &[("b.usda", other)]);
    assert_eq!(asset.objects.len(), 1);
    assert!(
        asset.warnings.iter().any(|w| w.contains("sublayers")),
        "{:?}",
        asset.warnings
    );
}

#[test]
fn references_cannot_multiply_a_file_without_bound() {
    // Each prim refers twice to the one before.
    let mut text = String::from("#usda 1.0\ndef Mesh \"p0\" { point3f[] points = [(0, 0, 0)] }\n");
    for k in 1..40 {
        let below = k - 1;
        text += &format!(
            "def \"p{k}\" {{ def \"a\" (references = </p{below}>) {{}}\n def \"b\" (references = </p{below}>) {{}} }}\n"
        );
    }
    let error = usda::read(text.as_bytes()).unwrap_err();
    assert!(
        error.message.contains("the references of the prims"),
        "{error}"
    );
}
