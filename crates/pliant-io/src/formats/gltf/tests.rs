use pliant_mesh::glam::{DAffine3, DVec2, DVec3, DVec4, Vec3};
use pliant_mesh::{CornerLayer, FaceLabels, Mesh, MeshBuilder, VertexLayer};
use pliant_rig::{
    Combination, Driver, InBetween, Interpolation, Limits, Rig, Rule, Slider, Target, WeightTrack,
};
use serde_json::Value;

use super::*;
use crate::{Animation, Asset, Motion, NoFiles, Object, PlacementTrack, Shape, UpAxis};

fn again(asset: &Asset) -> Asset {
    read(&write(asset).bytes, &NoFiles).unwrap()
}

/// Two quads and a triangle of two materials in turn, with a UV seam, a vertex in the place of
/// another and one that no face uses. All numbers are exact in single precision.
fn patchwork() -> MeshBuilder {
    let mut builder = MeshBuilder {
        name: "patch/work".into(),
        positions: (0..9)
            .map(|k| DVec3::new(f64::from(k % 3), f64::from(k / 3), f64::from(k) * 0.5))
            .collect(),
        ..MeshBuilder::default()
    };

    builder.positions[8] = builder.positions[0];
    builder.push_face(&[0, 1, 4, 3]);
    builder.push_face(&[1, 2, 5, 4]);
    builder.push_face(&[3, 4, 8]);
    builder.materials = FaceLabels::from_names(["skin", "lip", "skin"]);
    builder.groups = FaceLabels::from_names(["upper", "upper", "lower"]);
    builder.material_library = vec!["a.mtl".into()];

    let uvs = (0..11)
        .map(|k| DVec2::new(f64::from(k) / 16.0, 1.0 - f64::from(k) / 32.0))
        .collect();
    builder.uv_layers = vec![CornerLayer {
        name: "map1".into(),
        values: uvs,
        corners: (0..11).map(Some).collect(),
    }];

    builder
}

fn uv_of_corners(mesh: &Mesh) -> Vec<Option<DVec2>> {
    let layer = &mesh.uv_layers()[0];
    layer
        .corners
        .iter()
        .map(|c| c.map(|k| layer.values[k as usize]))
        .collect()
}

#[test]
fn polygons_labels_names_and_vertex_order_survive_a_round_trip() {
    let mut asset = Asset::from_mesh(patchwork().build().unwrap());
    asset.objects[0].smoothing = FaceLabels::from_names(["1", "off", "1"]);
    for bytes in [write(&asset).bytes, write_json(&asset).bytes] {
        let copy = read(&bytes, &NoFiles).unwrap();
        assert!(copy.warnings.is_empty(), "{:?}", copy.warnings);

        let before = asset.objects[0].rig.neutral();
        let after = copy.objects[0].rig.neutral();

        assert_eq!(before.positions(), after.positions());
        assert!(before.faces().eq(after.faces()), "polygons, in order");
        assert_eq!(uv_of_corners(before), uv_of_corners(after));
        assert_eq!(
            (before.materials(), before.groups()),
            (after.materials(), after.groups())
        );

        assert_eq!(
            (before.name(), before.material_library()),
            (after.name(), after.material_library())
        );

        assert_eq!(
            (after.normals(), after.uv_layers()[0].name.as_str()),
            (None, "map1")
        );

        assert_eq!(
            (copy.objects[0].path.as_str(), &copy.objects[0].smoothing),
            ("patch/work", &asset.objects[0].smoothing)
        );

        // Vertex 4 has three UVs in two materials; 1 and 3 have two; 6 and 7 are stored for nobody.
        assert_eq!(copy.objects[0].file_vertices, 13);
    }
}

#[test]
fn a_second_round_trip_changes_no_byte() {
    let mut builder = patchwork();
    builder.normals = Some(CornerLayer {
        name: String::new(),
        values: vec![DVec3::Z, DVec3::X],
        corners: vec![Some(0); 11],
    });

    let asset = Asset::from_mesh(builder.build().unwrap());
    let first = write(&asset).bytes;
    let second = write(&read(&first, &NoFiles).unwrap()).bytes;

    assert!(first == second);
}

#[test]
fn a_face_without_uvs_stays_without_uvs() {
    let mut builder = patchwork();
    builder.uv_layers[0].corners[8..].fill(None);
    let asset = Asset::from_mesh(builder.build().unwrap());
    let copy = again(&asset);
    assert_eq!(
        uv_of_corners(asset.objects[0].rig.neutral()),
        uv_of_corners(copy.objects[0].rig.neutral())
    );
    assert!(write(&asset).left_out.is_empty());
}

fn lifts() -> Vec<Target> {
    let delta = |v: u32| Vec3::new(0.25, -1.5, v as f32);
    let target = |name: &str, vertices: &[u32]| Target {
        name: name.into(),
        vertices: vertices.to_vec(),
        deltas: vertices.iter().map(|&v| delta(v)).collect(),
        in_betweens: Vec::new(),
    };

    vec![
        target("lift é", &[4, 8]),
        target("nothing", &[]),
        target("all", &[0, 1, 2, 3, 4, 5, 6, 7, 8]),
    ]
}

#[test]
fn sparse_and_dense_targets_survive_a_round_trip_over_several_materials() {
    let rig = Rig::new(patchwork().build().unwrap(), lifts()).unwrap();
    let copy = again(&Asset::from_rig(rig.clone()));
    assert_eq!(copy.objects[0].rig.targets(), rig.targets());
}

#[test]
fn in_betweens_combinations_and_limits_survive_a_round_trip_and_every_viewer_shows_their_shape() {
    let mut targets = lifts();
    targets[0].in_betweens.push(InBetween {
        name: "half".into(),
        weight: 0.5,
        vertices: vec![1],
        deltas: vec![Vec3::X],
    });
    let limits = Limits::new(-1.0, 2.0);
    let mut sliders = vec![Slider::default(); 3];
    sliders[2].limits = limits;
    let rig = Rig::new(patchwork().build().unwrap(), targets)
        .unwrap()
        .with_sliders(sliders)
        .unwrap()
        .with_combinations(vec![Combination {
            name: "both".into(),
            drivers: vec![Driver::Slider(0.into()), Driver::Slider(2.into())],
            rule: Rule::Product,
            vertices: vec![3],
            deltas: vec![Vec3::Y],
        }])
        .unwrap();

    let mut asset = Asset::from_rig(rig.clone());
    let weights = vec![0.25, 0.0, 0.5];
    asset.objects[0].rest_weights = weights.clone();
    let written = write(&asset);
    assert!(written.left_out.is_empty(), "{:?}", written.left_out);

    let copy = again(&asset);
    let restored = &copy.objects[0].rig;
    assert_eq!(restored.targets(), rig.targets());
    assert_eq!(restored.combinations(), rig.combinations());
    assert_eq!(restored.sliders(), rig.sliders());
    assert_eq!(copy.objects[0].rest_weights, weights);

    // Without the settings, the stored weights give the same positions from plain targets.
    let chunks = container::open(&written.bytes).ok().unwrap();
    let mut document: Value = serde_json::from_slice(chunks.json).unwrap();
    document["meshes"][0]["extras"]["pliant"]
        .as_object_mut()
        .unwrap()
        .remove("rig");
    let text = serde_json::to_vec(&document).unwrap();
    let plain = container::pack(text, &[chunks.binary.unwrap()], &[]);
    let plain = read(&plain, &NoFiles).unwrap();
    assert_eq!(plain.target_names().len(), 5);
    let found = plain.resting_mesh().unwrap();
    for (a, b) in found.positions().iter().zip(rig.evaluate(&weights)) {
        assert!(a.distance(b) < 1e-7, "{a} {b}");
    }
}

#[test]
fn weights_of_every_interpolation_survive_a_round_trip() {
    let mut asset = Asset::from_rig(Rig::new(patchwork().build().unwrap(), lifts()).unwrap());
    asset.objects[0].rest_weights = vec![0.5, 0.0, -1.0];
    let keys = vec![
        vec![-0.5, 0.0, 3.0],
        vec![2.5, 1.0, 0.0],
        vec![0.0, 0.0, 0.0],
    ];

    let tangents = || vec![vec![1.0, -2.0, 0.5]; 3];
    let cubic = Interpolation::Cubic {
        arriving: tangents(),
        leaving: tangents(),
    };

    for (k, interpolation) in [Interpolation::Step, Interpolation::Linear, cubic]
        .into_iter()
        .enumerate()
    {
        let track = WeightTrack::new(vec![0.5, 1.0, 2.0], keys.clone(), interpolation).unwrap();
        let mut clip = Animation::new(format!("clip {k}"), 4);
        (clip.frames_per_second, clip.start_secs) = (2.0, 0.5);
        clip.motions = vec![Motion::new(0, Shape::Weights(track))];
        asset.clips.push(clip);
    }

    let copy = again(&asset);
    assert_eq!(copy.objects[0].rest_weights, [0.5, 0.0, -1.0]);
    for (before, after) in asset.clips.iter().zip(&copy.clips) {
        assert_eq!(
            (&before.name, before.frame_count, before.start_secs),
            (&after.name, after.frame_count, after.start_secs)
        );

        let (Shape::Weights(a), Shape::Weights(b)) =
            (&before.motions[0].shape, &after.motions[0].shape)
        else {
            panic!("weights")
        };

        assert_eq!(a, b);
    }
}

#[test]
fn a_clip_of_positions_survives_a_round_trip_with_targets_and_other_clips() {
    let rig = Rig::new(patchwork().build().unwrap(), lifts()).unwrap();
    let mut asset = Asset::from_rig(rig);
    let rest = asset.objects[0].rig.neutral().positions().to_vec();

    for name in ["fall", "rise"] {
        let frames = (0..5)
            .map(|k| {
                rest.iter()
                    .map(|p| *p * f64::from(k + 1) - DVec3::Z * 0.125)
                    .collect()
            })
            .collect();

        let mut clip = Animation::new(name, 5);
        clip.start_secs = -1.0;
        clip.frame_names = (0..5).map(|k| format!("{name}{k}")).collect();
        clip.motions = vec![Motion::new(0, Shape::Points(frames))];
        asset.clips.push(clip);
    }

    let track = WeightTrack::new(
        vec![0.0, 1.0],
        vec![vec![0.0; 3], vec![1.0; 3]],
        Interpolation::Linear,
    )
    .unwrap();

    let mut weights = Animation::new("weights", 2);
    weights.motions = vec![Motion::new(0, Shape::Weights(track))];
    asset.clips.push(weights);

    let copy = again(&asset);
    assert_eq!(
        copy.objects[0].rig.targets(),
        asset.objects[0].rig.targets()
    );

    for (before, after) in asset.clips.iter().zip(&copy.clips) {
        assert_eq!(
            (&before.name, &before.frame_names),
            (&after.name, &after.frame_names)
        );
        match (&before.motions[0].shape, &after.motions[0].shape) {
            (Shape::Points(a), Shape::Points(b)) => assert_eq!(a, b),
            (Shape::Weights(a), Shape::Weights(b)) => assert_eq!(a, b),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn the_placement_of_an_object_survives_a_round_trip() {
    let still = Object {
        path: "/room/still".into(),
        ..Object::new(Rig::without_targets(patchwork().build().unwrap()))
    };

    let thrown = Object {
        path: "/room/thrown".into(),
        ..Object::new(Rig::without_targets(patchwork().build().unwrap()))
    };

    let places = (0..4).map(|k| {
        let angle = f64::from(k) * 2.0;
        DAffine3::from_rotation_y(angle)
            * DAffine3::from_translation(DVec3::X * angle)
            * DAffine3::from_scale(DVec3::splat(1.0 + angle))
    });

    let placement = PlacementTrack {
        times_secs: vec![0.0, 0.5, 1.0, 1.5],
        moved_from_rest: places.collect(),
    };
    let mut clip = Animation::new("throw", 4);

    clip.frames_per_second = 2.0;
    clip.motions = vec![Motion {
        placement: Some(placement),
        ..Motion::new(1, Shape::Rest)
    }];

    let asset = Asset {
        objects: vec![still, thrown],
        clips: vec![clip],
        ..Asset::default()
    };
    let copy = again(&asset);

    assert_eq!(
        copy.objects
            .iter()
            .map(|o| o.path.as_str())
            .collect::<Vec<_>>(),
        ["/room/still", "/room/thrown"]
    );

    assert_eq!(copy.clips[0].motions.len(), 1);
    for frame in 0..4 {
        let [a, b] = [&asset, &copy].map(|asset| asset.frame_positions(frame).unwrap());
        assert!(
            a.iter().zip(&b).all(|(a, b)| (*a - *b).length() < 1e-4),
            "frame {frame}"
        );
    }
}

#[test]
fn colours_and_authored_normals_survive_a_round_trip() {
    let mut builder = patchwork();
    let colors = (0..9)
        .map(|k| DVec4::new(f64::from(k) / 16.0, 0.5, 0.25, 1.0))
        .collect();

    builder.colors = vec![VertexLayer {
        name: String::new(),
        values: colors,
    }];

    let corners = (0..11).map(|k| Some(k % 2)).collect();
    builder.normals = Some(CornerLayer {
        name: String::new(),
        values: vec![DVec3::Z, -DVec3::Y],
        corners,
    });

    let before = builder.build().unwrap();
    let copy = again(&Asset::from_mesh(before.clone()));
    let after = copy.objects[0].rig.neutral();

    assert_eq!(before.colors()[0].values, after.colors()[0].values);
    let normals = |mesh: &Mesh| {
        let layer = mesh.normals().unwrap();
        layer
            .corners
            .iter()
            .map(|c| layer.values[c.unwrap() as usize])
            .collect::<Vec<_>>()
    };

    assert_eq!(normals(&before), normals(after));
}

#[test]
fn points_without_faces_survive_a_round_trip() {
    let mesh = MeshBuilder {
        positions: vec![DVec3::X, DVec3::Y, DVec3::Y],
        ..MeshBuilder::default()
    }
    .build()
    .unwrap();
    let copy = again(&Asset::from_mesh(mesh.clone()));
    assert_eq!(copy.objects[0].rig.neutral().positions(), mesh.positions());
    assert_eq!(copy.objects[0].rig.neutral().face_count(), 0);
}

#[test]
fn a_posed_mesh_is_stored_with_its_seams() {
    let copy = again(&Asset::from_mesh(patchwork().build().unwrap()));
    let moved: Vec<DVec3> = copy.objects[0]
        .rig
        .neutral()
        .positions()
        .iter()
        .map(|p| *p * 2.0)
        .collect();

    let posed = again(&copy.posed(&moved).unwrap());
    assert_eq!(
        (
            posed.objects[0].rig.neutral().positions(),
            posed.objects[0].file_vertices
        ),
        (&moved[..], 13)
    );
}

#[test]
fn a_mesh_that_another_program_changed_is_welded_by_position() {
    let written = write(&Asset::from_mesh(patchwork().build().unwrap())).bytes;
    // A byte of the second stored vertex's x: vertex 1 is stored in both materials, so that they
    // disagree now.
    let positions = written.len() - read_binary_len(&written);
    let mut changed = written.clone();

    changed[positions + 12 + 2] ^= 0x10;
    let copy = read(&changed, &NoFiles).unwrap();
    assert!(
        copy.warnings[0].contains("changed by another program"),
        "{:?}",
        copy.warnings
    );

    assert!(copy.objects[0].rig.neutral().face_count() == 5, "triangles");
}

fn read_binary_len(glb: &[u8]) -> usize {
    container::open(glb).ok().unwrap().binary.unwrap().len()
}

/// A triangle whose target lifts it and displaces its normals by numbers that no shape has.
fn with_odd_target_normals() -> Vec<u8> {
    let mut builder = MeshBuilder {
        positions: vec![DVec3::ZERO, DVec3::X, DVec3::Y],
        ..MeshBuilder::default()
    };
    builder.push_face(&[0, 1, 2]);
    builder.normals = Some(CornerLayer {
        name: String::new(),
        values: vec![DVec3::Z],
        corners: vec![Some(0); 3],
    });
    let rig = Rig::new(
        builder.build().unwrap(),
        vec![Target::from_dense("lift", [Vec3::Z, Vec3::ZERO, Vec3::Y])],
    );
    let bytes = write(&Asset::from_rig(rig.unwrap())).bytes;

    // The same file, with the displacements of positions as those of normals.
    let chunks = container::open(&bytes).unwrap();
    let mut json: Value = serde_json::from_slice(chunks.json).unwrap();
    let target = &mut json["meshes"][0]["primitives"][0]["targets"][0];
    target["NORMAL"] = target["POSITION"].clone();
    let text = serde_json::to_vec(&json).unwrap();
    container::pack(text, &[chunks.binary.unwrap()], &[])
}

#[test]
fn a_new_document_keeps_the_displacements_of_normals_that_its_file_had() {
    let asset = read(&with_odd_target_normals(), &NoFiles).unwrap();
    let known = asset.original.as_ref().unwrap();
    let blocks = &asset.objects[0].seams.as_ref().unwrap().blocks;
    let before = known.target_normals(0, blocks).unwrap();
    assert_eq!(before[0].deltas, [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]);

    // A second object asks for a new document, also where up is another axis for a while.
    for up_axis in [UpAxis::Y, UpAxis::Z] {
        let mut several = asset.in_space(up_axis, 1.0).into_owned();
        let second = Object {
            path: "second".into(),
            ..Object::new(several.objects[0].rig.clone())
        };
        several.objects.push(second);
        let copy = again(&several);
        assert_eq!(copy.objects.len(), 2);
        let known = copy.original.as_ref().unwrap();
        let blocks = &copy.objects[0].seams.as_ref().unwrap().blocks;
        let after = known.target_normals(0, blocks).unwrap();
        assert_eq!(after, before, "{up_axis:?}");
    }
}

#[test]
fn an_asset_and_its_file_share_bytes_and_targets() {
    let bytes = std::sync::Arc::new(with_odd_target_normals());
    let asset = read_shared(&bytes, &NoFiles).ok().unwrap();
    let original = asset.original.as_ref().unwrap();
    assert!(std::sync::Arc::ptr_eq(&original.bytes, &bytes));
    let known = original.objects[0].targets();
    assert!(std::ptr::eq(known, asset.objects[0].rig.targets()));

    // What is known from reading says the same as reading again.
    let chunks = container::open(&bytes).unwrap();
    let document = read::open_document(chunks.json).unwrap();
    let buffers = read::Buffers::open(&document, &chunks, &NoFiles)
        .ok()
        .unwrap();
    let source = read::Source::open(&document, buffers, &chunks).unwrap();
    for objects in [&original.objects[..], &[]] {
        let scene = read::Scene::read(&source, &NoFiles, objects).unwrap();
        let (a, b) = (&scene.asset.objects[0], &asset.objects[0]);
        assert_eq!(a.rig.targets(), b.rig.targets());
        assert_eq!((&a.path, a.seams.as_deref()), (&b.path, b.seams.as_deref()));
        assert_eq!((a.original, a.file_vertices), (b.original, b.file_vertices));
    }
}
