//! A number that is not finite, anywhere in a file of any format, is listed or refused.
//!
//! Every layer of an asset has a value of its own. Each format writes the asset; then that value is
//! found in the bytes and replaced.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pliant_io::{
    Animation, Asset, LoadOptions, Material, Motion, PlacementTrack, Shape, SkinBinding, SkinTrack,
    load, npy, save,
};
use pliant_mesh::glam::{DAffine3, DQuat, DVec2, DVec3, DVec4, Vec3};
use pliant_mesh::{CornerLayer, MeshBuilder, VertexLayer};
use pliant_rig::{Influence, Interpolation, Joint, Rig, Skeleton, Skin, Target, WeightTrack};

const POSITION: f64 = 0.71875;
const UV: f64 = 0.15625;
const NORMAL: f64 = 0.28;
const COLOR: f64 = 0.40625;
const DELTA: f64 = 0.46875;
const WEIGHT_KEY: f64 = 0.59375;
const FRAME: f64 = 0.84375;
const INFLUENCE: f64 = 0.65625;
const JOINT: f64 = 0.21875;
const JOINT_KEY: f64 = 0.78125;
const PLACEMENT_KEY: f64 = 0.53125;
const REST_WEIGHT: f64 = 0.09375;
const ROUGHNESS: f64 = 0.90625;

fn mesh() -> MeshBuilder {
    let mut builder = MeshBuilder {
        name: "sheet".into(),
        positions: vec![
            DVec3::ZERO,
            DVec3::new(POSITION, 0.0, 0.0),
            DVec3::new(0.0, 0.5, 0.0),
        ],
        uv_layers: vec![CornerLayer {
            name: String::new(),
            values: vec![DVec2::ZERO, DVec2::new(UV, 0.0), DVec2::Y],
            corners: vec![Some(0), Some(1), Some(2)],
        }],
        normals: Some(CornerLayer {
            name: String::new(),
            values: vec![DVec3::Z, DVec3::new(NORMAL, 0.96, 0.0), DVec3::Z],
            corners: vec![Some(0), Some(1), Some(2)],
        }),
        colors: vec![VertexLayer {
            name: String::new(),
            values: vec![DVec4::ONE, DVec4::new(COLOR, 0.0, 0.0, 1.0), DVec4::ONE],
        }],
        ..MeshBuilder::default()
    };
    builder.push_face(&[0, 1, 2]);
    builder
}

/// A sheet with a slider and a material.
fn rig() -> Asset {
    let mut builder = mesh();
    builder.materials = pliant_mesh::FaceLabels::from_names(["skin"]);
    let lift = Target::from_dense("lift", [Vec3::ZERO, Vec3::X * DELTA as f32, Vec3::Z]);
    let mut asset = Asset::from_rig(Rig::new(builder.build().unwrap(), vec![lift]).unwrap());
    let mut skin = Material::new("skin");
    skin.roughness = ROUGHNESS;
    asset.materials = vec![skin];
    asset.objects[0].rest_weights = vec![REST_WEIGHT];
    asset
}

/// The rig, whose slider moves and which moves as a whole.
fn weights() -> Asset {
    let mut asset = rig();
    let mut clip = Animation::new("play", 2);
    clip.frames_per_second = 10.0;
    let keys = vec![vec![WEIGHT_KEY], vec![1.0]];
    let track = WeightTrack::new(vec![0.0, 0.1], keys, Interpolation::Linear).unwrap();
    let mut motion = Motion::new(0, Shape::Weights(track));
    motion.placement = Some(PlacementTrack {
        times_secs: vec![0.0, 0.1],
        moved_from_rest: vec![
            DAffine3::IDENTITY,
            DAffine3::from_translation(DVec3::X * PLACEMENT_KEY),
        ],
    });
    clip.motions = vec![motion];
    asset.clips = vec![clip];
    asset
}

/// A sheet that moves point by point.
fn points() -> Asset {
    let mesh = mesh().build().unwrap();
    let rest = mesh.positions().to_vec();
    let mut moved = rest.clone();
    moved[2] = DVec3::new(FRAME, 0.5, 0.0);
    let mut asset = Asset::from_mesh(mesh);
    let mut clip = Animation::new("play", 2);
    clip.motions = vec![Motion::new(0, Shape::Points(vec![rest, moved]))];
    asset.clips = vec![clip];
    asset
}

/// A sheet that two joints move.
fn skinned() -> Asset {
    let influences = |first: f64| {
        vec![
            Influence {
                bone: 0,
                weight: first,
            },
            Influence {
                bone: 1,
                weight: 1.0 - first,
            },
        ]
    };
    let joint = |name: &str, origin: DVec3, parent| Joint {
        name: name.into(),
        origin,
        axes: DQuat::IDENTITY,
        parent,
    };
    let skin = Skin::new(2, [influences(1.0), influences(INFLUENCE), influences(0.0)]);
    let joints = vec![
        joint("hip", DVec3::new(JOINT, 0.0, 0.0), None),
        joint("knee", DVec3::new(JOINT, 0.25, 0.0), Some(0)),
    ];
    let moved = DAffine3::from_translation(DVec3::new(0.0, 0.0, JOINT_KEY));
    let track = SkinTrack {
        binding: SkinBinding {
            skin: Arc::new(skin.unwrap()),
            skeleton: Arc::new(Skeleton::new(joints).unwrap()),
        },
        motions: Arc::new(vec![vec![DAffine3::IDENTITY; 2], vec![moved; 2]]),
    };
    let asset = Asset::from_mesh(mesh().build().unwrap());
    asset
        .with_skin_clip(Animation::new("step", 2), &track)
        .unwrap()
}

/// The bytes with every number `value` replaced by `bad`, and how many there were.
fn damaged(bytes: &[u8], text: bool, value: f64, bad: f64) -> (Vec<u8>, usize) {
    let mut patterns: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    let (single, bad_single) = (value as f32, bad as f32);
    if text {
        let written = format!("{single}");
        patterns.push((
            written.into_bytes(),
            format!("{bad}").to_lowercase().into_bytes(),
        ));
    } else {
        for sign in [1.0, -1.0] {
            let rounded = f64::from(single) * sign;
            let bad_bytes = bad_single.to_le_bytes();
            let singles = [
                (rounded as f32).to_le_bytes(),
                (rounded as f32).to_be_bytes(),
            ];
            patterns.push((singles[0].to_vec(), bad_bytes.to_vec()));
            patterns.push((singles[1].to_vec(), bad_single.to_be_bytes().to_vec()));
            for double in [value * sign, rounded] {
                patterns.push((double.to_le_bytes().to_vec(), bad.to_le_bytes().to_vec()));
            }
        }
    }

    let mut out = Vec::with_capacity(bytes.len());
    let mut found = 0;
    let mut at = 0;
    'bytes: while at < bytes.len() {
        for (good, bad) in &patterns {
            let follows = bytes.get(at + good.len()).copied().unwrap_or(b' ');
            let ends = !text || !(follows.is_ascii_digit() || follows == b'.');
            if bytes[at..].starts_with(good) && ends {
                out.extend_from_slice(bad);
                at += good.len();
                found += 1;
                continue 'bytes;
            }
        }
        out.push(bytes[at]);
        at += 1;
    }
    (out, found)
}

/// Writes `asset`, damages the file `damage` of it, and checks that it is refused and reported.
fn assert_refused(asset: &Asset, out: &Path, damage: &str, what: &str, value: f64) {
    let folder = out.parent().unwrap();
    save(asset, out).unwrap();
    let file: PathBuf = folder.join(damage);
    let bytes = std::fs::read(&file).unwrap();
    let ending = file.extension().unwrap().to_str().unwrap();
    let is_text = matches!(ending, "obj" | "usda" | "mtl" | "target");
    let locator = out.display().to_string();
    load(&locator, &LoadOptions::default()).unwrap();

    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let (broken, found) = damaged(&bytes, is_text, value, bad);
        assert!(found > 0, "{damage} stores no {what}");
        std::fs::write(&file, broken).unwrap();

        let refused = load(&locator, &LoadOptions::default());
        let error = refused.expect_err(&format!("{damage}: {what} of {bad} passes"));
        let text = error.to_string();
        assert!(
            text.contains("finite") && !text.contains('\n'),
            "{damage}, {what}: {text}"
        );

        let kept = load(&locator, &LoadOptions::default().keeping_not_finite());
        let kept = kept.unwrap_or_else(|e| panic!("{damage}, {what} of {bad}: no report: {e}"));
        assert!(
            kept.warnings
                .iter()
                .any(|warning| warning.contains("finite")),
            "{damage}, {what} of {bad}: {:?}",
            kept.warnings
        );
        // Nothing damaged gets into a file.
        let copy = folder.join("copy.glb");
        assert!(
            save(&kept, &copy).is_err() && !copy.exists(),
            "{damage}, {what}"
        );
    }
}

#[test]
fn every_layer_of_every_format_is_finite_or_refused() {
    let layers = [
        (POSITION, "position", "obj ply glb usda abc fbx"),
        (UV, "UV", "obj ply glb usda abc fbx"),
        (NORMAL, "normal", "obj glb usda abc fbx"),
        (COLOR, "colour", "obj glb usda abc fbx"),
        (DELTA, "target", "glb usda fbx"),
    ];
    let folder = tempfile::tempdir().unwrap();
    for (value, what, endings) in layers {
        for ending in endings.split(' ') {
            let name = format!("rig.{ending}");
            assert_refused(&rig(), &folder.path().join(&name), &name, what, value);
        }
    }
}

#[test]
fn materials_are_finite_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("rig.usda");
    assert_refused(&rig(), &out, "rig.usda", "roughness", ROUGHNESS);

    let mut asset = rig();
    asset.materials[0].base_color.w = ROUGHNESS;
    asset.materials[0].alpha = pliant_io::AlphaMode::Blend;
    let out = folder.path().join("look.obj");
    assert_refused(&asset, &out, "sheet.mtl", "opacity", ROUGHNESS);
}

#[test]
fn clips_are_finite_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (asset, value, what, endings) in [
        (weights(), WEIGHT_KEY, "key of a weight", "glb usda fbx"),
        (
            weights(),
            PLACEMENT_KEY,
            "key of a placement",
            "glb usda fbx",
        ),
        (points(), FRAME, "frame", "glb usda abc mdd pc2"),
    ] {
        for ending in endings.split(' ') {
            // glTF and FBX store differences from the neutral, and FBX keys in percent.
            let value = match (what, ending) {
                ("frame", "glb") => value,
                ("key of a weight", "fbx") => 100.0 * value,
                _ => value,
            };
            let name = format!("clip.{ending}");
            assert_refused(&asset, &folder.path().join(&name), &name, what, value);
        }
    }

    let sheet = folder.path().join("t.obj+t.frames.npy");
    save(&points(), &sheet).unwrap();
    let array = folder.path().join("t.frames.npy");
    std::fs::write(&array, npy::write_f32(&[1, 3, 3], [f32::INFINITY; 9])).unwrap();
    let error = load(&sheet.display().to_string(), &LoadOptions::default()).unwrap_err();
    assert!(error.to_string().contains("finite"), "{error}");
}

#[test]
fn skins_are_finite_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (value, what, endings) in [
        (INFLUENCE, "weight of a skin", "glb usda fbx"),
        (JOINT, "bind pose", "glb usda fbx"),
        (JOINT_KEY, "key of a joint", "glb usda fbx"),
    ] {
        for ending in endings.split(' ') {
            let name = format!("skin.{ending}");
            assert_refused(&skinned(), &folder.path().join(&name), &name, what, value);
        }
    }
}
