//! Real files in formats other than OBJ: compared with the published meshes, and round trips.
//!
//! These tests need the folder in the environment variable `PLIANT_DATA`. Without it, they are
//! skipped and say so; with it, a missing file is a failure.

use std::collections::HashSet;
use std::path::PathBuf;

use pliant_io::{Asset, LoadOptions, Shape, UpAxis, load, save};
use pliant_mesh::Mesh;
use pliant_mesh::glam::{DVec2, DVec3, Vec3};

fn data(name: &str) -> Option<String> {
    match std::env::var_os("PLIANT_DATA") {
        Some(folder) => {
            let path = PathBuf::from(folder).join(name);
            assert!(
                path.exists(),
                "PLIANT_DATA is set, but {} is missing",
                path.display()
            );
            Some(path.to_str().expect("a path in UTF-8").to_owned())
        }
        None => {
            #[allow(clippy::print_stderr, reason = "a skipped test says why")]
            {
                eprintln!("skipped: PLIANT_DATA is not set, so {name} is not read");
            }
            None
        }
    }
}

fn read(locator: &str) -> Asset {
    load(locator, &LoadOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// The asset written as `name` and read again.
fn again(asset: &Asset, name: &str) -> Asset {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    save(asset, &path).unwrap_or_else(|error| panic!("{error}"));
    read(path.to_str().unwrap())
}

fn farthest(a: &[DVec3], b: &[DVec3]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter()
        .zip(b)
        .map(|(a, b)| (*a - *b).abs().max_element())
        .fold(0.0, f64::max)
}

fn diagonal(points: &[DVec3]) -> f64 {
    pliant_mesh::Bounds::of(points).map_or(0.0, |b| b.diagonal())
}

/// The UV of every corner.
fn corner_uvs(mesh: &Mesh) -> Vec<Option<DVec2>> {
    let layer = |m: &Mesh| m.uv_layers().first().cloned();
    layer(mesh).map_or_else(Vec::new, |layer| {
        layer
            .corners
            .iter()
            .map(|c| c.map(|k| layer.values[k as usize]))
            .collect()
    })
}

const MESHES: [&str; 6] = [
    "ict-facekit/generic_neutral_mesh.obj",
    "makehuman-face/base.obj",
    "horse-camel/camel-poses.reference.obj",
    "candide3/candide3.obj",
    "static/decimated-max.obj",
    "cheburashka/cheburashka.obj",
];

#[test]
fn ply_keeps_every_bit_of_positions_polygons_and_uvs() {
    for name in MESHES {
        let Some(path) = data(name) else { return };
        let before = read(&path).mesh().unwrap();
        let after = again(&read(&path), "copy.ply").mesh().unwrap();

        assert!(
            before.positions() == after.positions() && before.faces().eq(after.faces()),
            "{name}"
        );

        assert!(
            corner_uvs(&before) == corner_uvs(&after),
            "{name}: texture coordinates"
        );
    }
}

#[test]
fn usda_keeps_polygons_names_and_labels_and_single_precision() {
    for name in MESHES {
        let Some(path) = data(name) else { return };
        let asset = read(&path);
        let before = asset.mesh().unwrap();
        let after = again(&asset, "copy.usda").mesh().unwrap();

        assert!(before.faces().eq(after.faces()), "{name}");
        let rounding = f64::from(f32::EPSILON) * diagonal(before.positions());
        assert!(
            farthest(before.positions(), after.positions()) <= rounding,
            "{name}"
        );

        let single = |uvs: Vec<Option<DVec2>>| {
            uvs.into_iter()
                .map(|uv| uv.map(|uv| uv.as_vec2()))
                .collect::<Vec<_>>()
        };

        assert!(
            single(corner_uvs(&before)) == single(corner_uvs(&after)),
            "{name}: texture coordinates"
        );

        assert!(
            before.groups() == after.groups() && before.materials() == after.materials(),
            "{name}: labels"
        );
    }
}

#[test]
fn usda_keeps_every_target_of_a_real_head() {
    let Some(path) = data("ict-facekit/generic_neutral_mesh.obj") else {
        return;
    };
    let asset = read(&format!("{path}+expressions.delta.npy"));
    let after = again(&asset, "head.usda");
    assert!(asset.rig().unwrap().targets() == after.rig().unwrap().targets());
}

#[test]
fn clips_survive_a_round_trip_through_point_caches_and_usda() {
    let Some(path) = data("elastic-cow/elastic-cow-every4th.reference.obj") else {
        return;
    };

    let asset = read(&format!("{path}+elastic-cow-every4th.frames.npy"));
    let before = asset.clip().unwrap();
    for name in ["cow.mdd", "cow.pc2", "cow.usda", "cow.abc"] {
        let after = again(&asset, name);
        assert!(
            after.clip().unwrap().frames() == before.frames(),
            "{name}: frames of single precision"
        );

        // A point cache has no place for a name, so that its file gives one.
        assert_eq!(
            after.clips[0].name,
            if name.ends_with("usda") || name.ends_with("abc") {
                before.name()
            } else {
                "cow"
            },
            "{name}"
        );

        assert_eq!(
            after.clips[0].frames_per_second,
            before.frames_per_second(),
            "{name}"
        );
    }

    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(&path, folder.path().join("cow.obj")).unwrap();
    save(&asset, folder.path().join("cow.mdd")).unwrap();

    let pair = read(&format!("{}/cow.obj+cow.mdd", folder.path().display()));
    assert!(pair.clip().unwrap().frames() == before.frames());
    assert_eq!(pair.mesh().unwrap().face_count(), 5804);
}

#[test]
fn an_alembic_cache_moves_the_mesh_that_it_was_made_from() {
    let Some(cache) = data("dem-bones/Bone_Anim.abc") else {
        return;
    };

    let asset = read(&cache);
    assert!(asset.warnings.is_empty(), "{:?}", asset.warnings);
    let mesh = asset.mesh().unwrap();
    assert_eq!((mesh.vertex_count(), mesh.face_count()), (754, 752));
    let clip = &asset.clips[0];
    assert_eq!((clip.frame_count, clip.frames_per_second), (400, 24.0));

    let copy = again(&asset, "copy.abc");
    assert_eq!(copy.objects[0].path, asset.objects[0].path);
    let rounding = f64::from(f32::EPSILON) * diagonal(mesh.positions());
    for frame in [0, 200, 399] {
        let far = farthest(
            &copy.frame_positions(frame).unwrap(),
            &asset.frame_positions(frame).unwrap(),
        );
        assert!(far <= rounding, "frame {frame}: {far}");
    }
}

#[cfg(feature = "fbx")]
#[test]
fn an_alembic_cache_has_the_faces_and_the_motion_of_its_fbx_files() {
    let Some(cache) = data("dem-bones/Bone_Anim.abc") else {
        return;
    };

    let asset = read(&cache);
    let rest = read(&data("dem-bones/Bone_Geom.fbx").unwrap());
    let faces = rest.mesh().unwrap();
    assert!(asset.mesh().unwrap().faces().eq(faces.faces()));
    let far = farthest(faces.positions(), &asset.frame_positions(0).unwrap());
    assert!(far < 1e-3, "the rest pose is frame 0: {far}");

    let pair = read(&format!(
        "{}+{cache}",
        data("dem-bones/Bone_Geom.fbx").unwrap()
    ));
    assert_eq!(pair.clip().unwrap().frames().len(), 400);
    assert_eq!(corner_uvs(&pair.mesh().unwrap()), corner_uvs(&faces));

    // Twenty bones were fitted to the cache, and stay within 2 % of the size of the mesh.
    let fitted = read(&data("dem-bones/Decomposition_20.fbx").unwrap());
    let size = diagonal(faces.positions());
    for frame in [0, 100, 399] {
        let far = farthest(
            &asset.frame_positions(frame).unwrap(),
            &fitted.frame_positions(frame).unwrap(),
        );
        assert!(far < 0.02 * size, "frame {frame}: {far} of {size}");
    }
}

#[test]
fn real_point_caches_have_their_frames() {
    for (name, frames, points) in [
        ("cube.mdd", 4, 24),
        ("max_cache_box_7500_binary_fpc/max_cache_box.pc2", 11, 770),
    ] {
        let Some(path) = data(&format!("point-caches/{name}")) else {
            return;
        };

        let asset = read(&path);
        let clip = asset.clip().unwrap();
        assert_eq!(
            (
                clip.frames().len(),
                clip.reference().vertex_count(),
                clip.reference().face_count()
            ),
            (frames, points, 0)
        );

        assert!(asset.warnings.is_empty(), "{:?}", asset.warnings);
        let ending = &name[name.len() - 3..];
        assert!(
            again(&asset, &format!("copy.{ending}"))
                .clip()
                .unwrap()
                .frames()
                == clip.frames(),
            "{name}"
        );
    }
}

#[test]
fn fbx_in_betweens_give_the_meshes_that_maya_exported() {
    for kind in ["ascii", "binary"] {
        let Some(path) = data(&format!(
            "fbx-blendshapes/maya_blend_inbetween_7500_{kind}.fbx"
        )) else {
            return;
        };

        let asset = read(&path);
        assert_eq!((asset.vertex_count(), asset.target_names().len()), (26, 2));

        let between: usize = asset.objects[0]
            .rig
            .targets()
            .iter()
            .map(|t| t.in_betweens.len())
            .sum();

        assert_eq!(between, 3, "five shapes on two channels");
        for frame in [1, 30, 60, 65, 71, 80, 89, 120] {
            let expected =
                read(&data(&format!("fbx-blendshapes/maya_blend_inbetween_{frame}.obj")).unwrap())
                    .mesh()
                    .unwrap();

            // The author's frame 1 is frame 0; the text has six decimals.
            let far = farthest(
                &asset.frame_positions(frame - 1).unwrap(),
                expected.positions(),
            );

            assert!(far < 1e-6, "{kind}, frame {frame}: {far}");
        }

        let copy = again(&asset, "copy.usda");
        for frame in [0, 29, 64, 119] {
            let far = farthest(
                &asset.frame_positions(frame).unwrap(),
                &copy.frame_positions(frame).unwrap(),
            );
            assert!(far < 1e-6, "{kind} to USDA, frame {frame}: {far}");
        }
    }
}

#[test]
fn fbx_versions_of_one_scene_agree() {
    let names = ["7100_ascii", "7100_binary", "7700_ascii", "7700_binary"]
        .map(|kind| format!("fbx-blendshapes/maya_blend_shape_cube_{kind}.fbx"));
    let Some(first) = data(&names[0]).map(|path| read(&path)) else {
        return;
    };

    assert_eq!(
        (
            first.vertex_count(),
            first.target_names().len(),
            first.mesh().unwrap().face_count()
        ),
        (8, 2, 6)
    );

    for name in &names[1..] {
        let other = read(&data(name).unwrap());
        // Later exporters put the deformer's name before the channel's.
        assert_eq!(other.target_names(), first.target_names(), "{name}");
        assert!(
            farthest(
                other.mesh().unwrap().positions(),
                first.mesh().unwrap().positions()
            ) < 1e-6,
            "{name}"
        );

        assert!(
            farthest(
                &other.rig().unwrap().evaluate(&[0.7, 0.4]),
                &first.rig().unwrap().evaluate(&[0.7, 0.4])
            ) < 1e-6,
            "{name}"
        );
    }
}

#[test]
fn a_captured_head_has_its_52_channels() {
    let Some(path) = data("facecap-head/FaceCapHeadGeneric.fbx") else {
        return;
    };

    let asset = read(&path);
    assert_eq!(asset.target_names().len(), 52);

    let head = asset
        .objects
        .iter()
        .find(|o| !o.rig.targets().is_empty())
        .unwrap();
    let mesh = head.rig.neutral();

    assert_eq!(
        (
            mesh.vertex_count(),
            mesh.face_count(),
            mesh.triangles().len()
        ),
        (2659, 2674, 5032)
    );

    assert!(!mesh.uv_layers().is_empty());
    for name in ["jawOpen", "eyeBlink_L", "mouthSmile_R"] {
        assert!(
            asset.target_names().iter().any(|target| target == name),
            "{name}: {:?}",
            asset.target_names()
        );
    }
}

#[test]
fn an_fbx_cache_gives_the_meshes_that_max_exported() {
    let Some(path) = data("point-caches/max_cache_box_7500_binary.fbx") else {
        return;
    };

    let asset = read(&path);
    assert!(asset.warnings.is_empty(), "{:?}", asset.warnings);
    assert!(matches!(asset.clips[0].motions[0].shape, Shape::Points(_)));

    let first = (asset.clips[0].start_secs * asset.clips[0].frames_per_second).round() as usize;
    for frame in [44, 48] {
        let expected = read(&data(&format!("point-caches/max_cache_box_{frame}.obj")).unwrap())
            .mesh()
            .unwrap();
        let found = asset.at_frame(frame - first).unwrap().mesh().unwrap();

        // The exporters number vertices differently, but write faces in one order.
        let corners = |mesh: &Mesh| {
            mesh.faces()
                .flatten()
                .map(|&v| mesh.positions()[v as usize])
                .collect::<Vec<_>>()
        };

        let far = farthest(&corners(&found), &corners(&expected));
        assert!(far < 1e-4, "frame {frame}: {far}");
    }
}

#[test]
fn an_fbx_skeleton_moves_its_mesh_like_the_fitted_rig() {
    let Some(path) = data("dem-bones/Bone_All.fbx") else {
        return;
    };

    let true_rig = read(&path);
    let fitted = read(&data("dem-bones/Decomposition_20.fbx").unwrap());
    let a = true_rig.clip().unwrap();
    let b = fitted.clip().unwrap();

    assert_eq!((a.frames().len(), a.reference().vertex_count()), (400, 754));
    let rms = |f: &dyn Fn(usize, usize) -> DVec3| {
        let all = (0..400).flat_map(|k| (0..754).map(move |v| (k, v)));
        (all.map(|(k, v)| f(k, v).length_squared()).sum::<f64>() / (400.0 * 754.0)).sqrt()
    };

    let between = rms(&|k, v| a.frames()[k][v] - b.frames()[k][v]);
    let motion = rms(&|k, v| a.frames()[k][v] - a.reference().positions()[v]);

    // Twenty bones cannot follow every bend; were either skeleton read wrongly, the two would
    // differ as much as they move.
    assert!(between < 0.1 * motion, "{between} of {motion}");
    assert!(
        farthest(&a.frames()[0], &b.frames()[0]) < 1e-3,
        "at the start nothing is bent"
    );
}

#[test]
fn a_z_up_fbx_stands_upright_in_metres_in_a_glb() {
    let Some(path) = data("point-caches/max_cache_box_7500_binary.fbx") else {
        return;
    };

    let asset = read(&path);
    assert_eq!(asset.up_axis, UpAxis::Z);

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("box.glb");
    let lost = save(&asset, &path).unwrap().left_out;
    assert!(!lost.iter().any(|what| what.contains("axis")), "{lost:?}");

    let upright = read(&path.display().to_string());
    assert_eq!(
        (upright.up_axis, upright.meters_per_unit),
        (UpAxis::Y, Some(1.0))
    );
    let size = |asset: &Asset| asset.bounds().unwrap().size() * asset.meters_per_unit.unwrap();
    let (in_file, in_glb) = (size(&asset), size(&upright));
    let expected = DVec3::new(in_file.x, in_file.z, in_file.y);
    assert!((in_glb - expected).length() < 1e-6 * in_file.length());

    let copy = again(&asset, "copy.usda");
    assert_eq!(
        (copy.up_axis, copy.meters_per_unit),
        (UpAxis::Z, asset.meters_per_unit)
    );
    assert_eq!(copy.clips[0].name, asset.clips[0].name);
}

#[test]
fn usd_blend_shapes_equal_their_baked_baseline() {
    let Some(path) = data("usd-blendshapes/blendshapes.usda") else {
        return;
    };

    let asset = read(&format!("{path}#/TestPlane/Mesh"));
    let clip = asset.clip().unwrap();
    assert_eq!(
        (
            clip.frames().len(),
            clip.reference().vertex_count(),
            clip.reference().face_count()
        ),
        (131, 121, 100)
    );

    let names: Vec<String> = "ABCDEF".chars().map(|c| format!("target{c}")).collect();
    assert_eq!(asset.target_names(), names);
    assert_eq!(
        asset.objects[0]
            .rig
            .targets()
            .iter()
            .map(|t| t.in_betweens.len())
            .collect::<Vec<_>>(),
        [0, 0, 2, 1, 1, 1]
    );

    let baked = read(&format!(
        "{}#/TestPlane/Mesh",
        data("usd-blendshapes/baseline/blendshapes.baked.usda").unwrap()
    ));

    let size = baked
        .clip()
        .unwrap()
        .frames()
        .iter()
        .map(|f| diagonal(f))
        .fold(0.0, f64::max);

    for (k, (found, expected)) in clip
        .frames()
        .iter()
        .zip(baked.clip().unwrap().frames())
        .enumerate()
    {
        let far = farthest(found, expected);
        assert!(far < 1e-6 * size, "frame {k}: {far}");
    }

    let copy = again(&asset, "copy.usda");
    assert_eq!(
        copy.objects[0].rig.targets(),
        asset.objects[0].rig.targets()
    );

    let worst = clip
        .frames()
        .iter()
        .zip(copy.clip().unwrap().frames())
        .map(|(a, b)| farthest(a, b))
        .fold(0.0, f64::max);

    assert!(worst < 1e-6 * size, "{worst}");
}

#[test]
fn loose_triangles_of_a_real_mesh_weld_to_its_vertices() {
    let Some(path) = data("elastic-cow/elastic-cow-every4th.reference.obj") else {
        return;
    };

    let mesh = read(&path).mesh().unwrap();
    let mut bytes = vec![0; 80];
    bytes.extend_from_slice(&(mesh.face_count() as u32).to_le_bytes());

    for triangle in mesh.triangles() {
        bytes.extend_from_slice(&[0; 12]);
        let corners = triangle.map(|v| {
            mesh.positions()[v as usize]
                .as_vec3()
                .to_array()
                .map(f32::to_le_bytes)
                .concat()
        });

        bytes.extend_from_slice(&corners.concat());
        bytes.extend_from_slice(&[0; 2]);
    }

    let welded = pliant_io::stl::read(&bytes).unwrap().mesh().unwrap();
    let places: HashSet<_> = mesh
        .positions()
        .iter()
        .map(|p| (p.as_vec3() + Vec3::ZERO).to_array().map(f32::to_bits))
        .collect();

    assert_eq!(
        (welded.vertex_count(), welded.face_count()),
        (places.len(), mesh.face_count())
    );
    assert_eq!(pliant_mesh::MeshReport::of(&welded).boundary_loops, 0);
}
