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
