//! Files in single precision: what they lose is measured, reported and, where it destroys the shape,
//! refused.

use pliant_io::{Animation, Asset, LoadOptions, Motion, PlacementTrack, Shape, load, save};
use pliant_mesh::Mesh;
use pliant_mesh::glam::{DAffine3, DVec3};
use tempfile::TempDir;

const SIDE: usize = 8;

/// A sheet 0.5 wide of 8 × 8 vertices with its first corner at `offset`.
fn sheet(offset: DVec3) -> Asset {
    let at = |k: usize| 0.5 * k as f64 / (SIDE - 1) as f64;
    let mut positions = Vec::new();
    let mut faces = Vec::new();
    for row in 0..SIDE {
        for column in 0..SIDE {
            positions.push(offset + DVec3::new(at(column), at(row), 0.1 * at(row) * at(column)));
            if row > 0 && column > 0 {
                let v = (row * SIDE + column) as u32;
                let s = SIDE as u32;
                faces.extend([[v - s - 1, v - s, v], [v - s - 1, v, v - 1]]);
            }
        }
    }
    Asset::from_mesh(Mesh::from_triangles(positions, &faces).unwrap())
}

/// The sheet in a wave, one frame for each of five phases, moved by `drift` from frame to frame.
fn waving(offset: DVec3, drift: DVec3) -> Asset {
    let mut asset = sheet(offset);
    let rest = asset.objects[0].rig.neutral().positions().to_vec();
    let frames = (0..5).map(|k| {
        let wave = |p: &DVec3| {
            *p + drift * k as f64 + DVec3::Z * 0.05 * ((p.x - offset.x) * 9.0 + k as f64).sin()
        };
        rest.iter().map(wave).collect()
    });
    let mut clip = Animation::new("wave", 5);
    clip.motions = vec![Motion::new(0, Shape::Points(frames.collect()))];
    asset.clips = vec![clip];
    asset
}

/// Saves and loads; the positions at rest and in each frame, with the phrases of what was left out.
fn round_trip(folder: &TempDir, asset: &Asset, name: &str) -> Result<(Asset, Vec<String>), String> {
    let path = folder.path().join(name);
    let report = save(asset, &path).map_err(|error| error.to_string())?;
    let again = load(&path.display().to_string(), &LoadOptions::default()).unwrap();
    Ok((again, report.left_out))
}

fn farthest(a: &[DVec3], b: &[DVec3]) -> f64 {
    let distances = a.iter().zip(b).map(|(a, b)| a.distance(*b));
    distances.fold(0.0, f64::max)
}

/// The largest distance of a vertex from where it should be, in all frames.
fn error_of_frames(given: &Asset, found: &Asset) -> f64 {
    let mut error = 0.0_f64;
    for clip in 0..given.clips.len() {
        for frame in 0..given.clips[clip].frame_count {
            let [a, b] = [given, found].map(|asset| asset.clip_positions(clip, frame).unwrap());
            error = error.max(farthest(&a, &b));
        }
    }
    error
}

/// The same, also at rest.
fn error(given: &Asset, found: &Asset) -> f64 {
    let [a, b] = [given, found].map(|asset| asset.mesh().unwrap());
    farthest(a.positions(), b.positions()).max(error_of_frames(given, found))
}

#[test]
fn gltf_and_usd_keep_the_shape_of_what_is_far_away() {
    let folder = tempfile::tempdir().unwrap();
    let mut several = sheet(DVec3::ZERO);
    several
        .objects
        .extend(sheet(DVec3::new(-1e7, 3e6, 0.125)).objects);
    several
        .objects
        .extend(sheet(DVec3::new(1e7, 3e6, 0.1)).objects);
    let mut carried = sheet(DVec3::splat(1e7));
    let turn = DAffine3::from_rotation_z(0.3);
    let mut clip = Animation::new("turn", 2);
    let mut motion = Motion::new(0, Shape::Rest);
    let center = DAffine3::from_translation(DVec3::splat(1e7));
    motion.placement = Some(PlacementTrack {
        times_secs: vec![0.0, 1.0],
        moved_from_rest: vec![DAffine3::IDENTITY, center * turn * center.inverse()],
    });
    // A placement turns about the origin of the scene between keys: its frames are its keys.
    clip.frames_per_second = 1.0;
    clip.motions = vec![motion];
    carried.clips = vec![clip];

    for (what, asset) in [
        ("a sheet", sheet(DVec3::new(1e7, 2e6, -3.3e6))),
        ("a clip", waving(DVec3::new(1e7, 0.0, 0.0), DVec3::ZERO)),
        ("a turning sheet", carried),
    ] {
        for ending in ["glb", "gltf", "usda"] {
            let (again, left_out) = round_trip(&folder, &asset, &format!("far.{ending}")).unwrap();
            let far = error(&asset, &again);
            // Positions in double precision have 2e-9 at this distance.
            let bound = if what == "a turning sheet" { 1.0 } else { 1e-7 };
            assert!(far < bound, "{what} in {ending}: {far}");
            assert!(
                far < 1e-6 || !left_out.is_empty(),
                "{what} in {ending}: {left_out:?}"
            );
            // Saved once more, it stays the same.
            let (third, _) = round_trip(&folder, &again, &format!("again.{ending}")).unwrap();
            assert!(error(&again, &third) < 1e-7, "{what} in {ending} again");
        }
    }
    for ending in ["glb", "usda"] {
        let (again, left_out) = round_trip(&folder, &several, &format!("all.{ending}")).unwrap();
        assert!(
            error(&several, &again) < 1e-7 && left_out.is_empty(),
            "{ending} {left_out:?}"
        );
    }
}

#[test]
fn a_format_without_nodes_refuses_to_merge_and_reports_smaller_errors_in_units() {
    let folder = tempfile::tempdir().unwrap();
    for ending in ["abc", "mdd", "pc2"] {
        let name = format!("clip.{ending}");
        let lost = round_trip(&folder, &waving(DVec3::X * 1e7, DVec3::ZERO), &name);
        let message = lost.map(|_| ()).unwrap_err();
        assert!(
            message.contains("units") && message.contains("origin"),
            "{message}"
        );
        assert!(!folder.path().join(&name).exists());

        for distance in [1e2, 1e3, 1e4] {
            let asset = waving(DVec3::new(distance, 0.3, 0.7), DVec3::ZERO);
            let (again, left_out) = round_trip(&folder, &asset, &name).unwrap();
            // A point cache alone has no rest pose.
            let far = match ending {
                "abc" => error(&asset, &again),
                _ => error_of_frames(&asset, &again),
            };
            let said = left_out
                .iter()
                .find(|phrase| phrase.contains("exact positions"));
            let said = said.unwrap_or_else(|| panic!("{ending} at {distance}: {left_out:?}"));
            let number = said
                .split("up to ")
                .nth(1)
                .unwrap()
                .split(' ')
                .next()
                .unwrap();
            let number: f64 = number.parse().unwrap();
            assert!(
                (number / far - 1.0).abs() < 0.01,
                "{ending} at {distance}: {far}, {said}"
            );
        }
        let near = waving(DVec3::ZERO, DVec3::ZERO);
        let (_, left_out) = round_trip(&folder, &near, &name).unwrap();
        assert!(
            !left_out.iter().any(|phrase| phrase.contains("exact")),
            "{left_out:?}"
        );
    }
}

#[test]
fn a_clip_that_walks_far_away_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let asset = waving(DVec3::ZERO, DVec3::X * 333.3);
    for ending in ["glb", "usda", "fbx", "abc", "mdd", "pc2"] {
        let (again, left_out) = round_trip(&folder, &asset, &format!("walk.{ending}")).unwrap();
        let is_exact = error_of_frames(&asset, &again) < 0.5e-6;
        let is_said = left_out
            .iter()
            .any(|phrase| phrase.contains("exact positions"));
        assert!(is_exact || is_said, "{ending}: {left_out:?}");
    }
}

#[test]
fn an_edited_gltf_that_loses_precision_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let (mut asset, _) = round_trip(&folder, &sheet(DVec3::ZERO), "near.glb").unwrap();
    let rig = asset.objects[0].rig.clone();
    let moved = rig
        .neutral()
        .positions()
        .iter()
        .map(|p| *p + DVec3::X * 1000.3)
        .collect();
    let moved = rig.neutral().posed(moved).unwrap();
    asset.objects[0].rig = rig.with_neutral(moved).unwrap();
    let (again, left_out) = round_trip(&folder, &asset, "moved.glb").unwrap();
    let far = error(&asset, &again);
    assert!(
        far < 1e-6 * 0.7
            || left_out
                .iter()
                .any(|phrase| phrase.contains("exact positions")),
        "{far} {left_out:?}"
    );
}

#[test]
fn numbers_beyond_single_precision_are_refused_everywhere() {
    let folder = tempfile::tempdir().unwrap();
    for ending in ["glb", "gltf", "usda", "abc", "mdd", "pc2", "fbx"] {
        let name = format!("huge.{ending}");
        for huge in [1e39, -3.5e38, 1e300] {
            let lost = round_trip(&folder, &waving(DVec3::Y * huge, DVec3::ZERO), &name);
            let message = lost.map(|_| ()).unwrap_err();
            assert!(message.contains("32-bit"), "{ending}: {message}");
            assert!(!folder.path().join(&name).exists());
        }
    }
    // In kilometres; glTF is in metres.
    let mut asset = sheet(DVec3::X * 1e36);
    asset.meters_per_unit = Some(1000.0);
    let message = round_trip(&folder, &asset, "km.glb")
        .map(|_| ())
        .unwrap_err();
    assert!(message.contains("32-bit"), "{message}");
}
