//! Damaged files: readers return an error or an asset, and never panic, hang or exhaust memory.

use pliant_io::{
    Animation, Asset, Format, MarkerFile, Motion, NoFiles, PlacementTrack, Shape, alembic, markers,
    npy, obj, off, ply, point_cache, target_file, usda,
};
use pliant_mesh::glam::{DAffine3, Vec3};
use pliant_rig::{InBetween, Interpolation, Rig, Target, WeightTrack};
use proptest::collection::vec;
use proptest::prelude::*;

const OBJ: &[u8] = b"mtllib a.mtl\no one\nv 0 0 0 1 0 0\nv 1e0 0 -0.5 \\\n 1 0 0\nv 0 1 0\nv nan 1 0\nvt 0 1\nvn 0 0 1\n\
    g lid\nusemtl skin\ns 1\nf 1/1/1 2/1/1 3//1 -1\no two\nv 5 5 5\nl 1 2\nf 5 1 2\n";
const OFF: &[u8] = b"STCNOFF # c\n4 2 0\n0 0 0 0 0 1 255 0 0 0 0\n1 0 0 0 0 1 0 1 0 0 1\n1 1 0 0 0 1 0.5 0 0 1 1\n0 1 0 0 0 1 1 1 1 1 0 0\n4 0 1 2 3\n3 0 1 2 9 9 9\n";
const TARGET: &[u8] = b"# t\n0 1 2 3\n5 .5 -1e-3 0\n";

const USDC: &[u8] = include_bytes!("usd/leg.usdc");

const USDZ: &[u8] = include_bytes!("usd/scene.usdz");

const PLY: &[u8] = b"ply\nformat ascii 1.0\ncomment c\nelement vertex 3\nproperty double x\nproperty float y\nproperty int z\nproperty uchar red\n\
    property uchar green\nproperty uchar blue\nelement face 1\nproperty list uchar int vertex_indices\nproperty list uchar float texcoord\nelement edge 1\n\
    property list short char x\nend_header\n0 0 0 1 2 3\n1 0 0 255 0 0\n0 1e-3 0 9 9 9\n3 0 1 2 6 0 0 1 0 0 1\n2 7 8\n";

/// Some bytes of `seed` replaced, removed, doubled or cut off.
fn mutated(seed: Vec<u8>) -> impl Strategy<Value = Vec<u8>> {
    let alphabet = prop_oneof![
        any::<u8>(),
        proptest::sample::select(b"0123456789-+./# \\\n\rvfgonust".to_vec())
    ];
    vec((any::<prop::sample::Index>(), 0..4_u8, alphabet), 0..12).prop_map(move |changes| {
        let mut bytes = seed.clone();
        for (at, kind, byte) in changes {
            if bytes.is_empty() {
                break;
            }

            let at = at.index(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => drop(bytes.remove(at)),
                2 => bytes.insert(at, byte),
                _ if byte < 16 => bytes.truncate(at),
                _ => bytes.extend_from_within(at..),
            }

            bytes.truncate(100_000);
        }

        bytes
    })
}

/// A quad and a triangle with texture coordinates and labels, whose sliders and points move.
fn moving() -> Asset {
    let quad = b"o a\nv 0 0 0\nv 1 0 0\nv 1 1 0.5\nv 0 1 0\nvt 0 0\nvt 1 0.1\ng lid\nusemtl skin\nf 1/1 2/2 3/1 4/2\nf 1/1 3/2 4/1\n";
    let mesh = obj::read(quad).unwrap().mesh().unwrap();
    let mut lid = Target::from_dense("lid", (0..4).map(|k| Vec3::X * k as f32));
    lid.in_betweens.push(InBetween {
        name: "half".into(),
        weight: 0.5,
        vertices: vec![2],
        deltas: vec![Vec3::Z],
    });

    let mut asset = Asset::from_rig(Rig::new(mesh, vec![lid]).unwrap());
    let mut clip = Animation::new("blink", 3);
    let track = WeightTrack::new(
        vec![0.0, 0.1],
        vec![vec![0.0], vec![1.0]],
        Interpolation::Linear,
    )
    .unwrap();

    clip.motions.push(Motion::new(0, Shape::Weights(track)));
    asset.clips.push(clip);
    asset
}

/// Some bytes of `seed` replaced, so that what is at offsets stays there.
fn replaced(seed: Vec<u8>) -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![any::<u8>(), Just(0), Just(1), Just(0xff)];
    vec((any::<prop::sample::Index>(), byte), 1..5).prop_map(move |changes| {
        let mut bytes = seed.clone();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes
    })
}

/// An archive of an object whose points change and that also moves as a whole.
fn archive() -> Vec<u8> {
    let mut asset = moving();
    asset.clips[0].motions[0].placement = Some(PlacementTrack {
        times_secs: vec![0.0, 1.0],
        moved_from_rest: vec![DAffine3::IDENTITY, DAffine3::from_rotation_x(0.5)],
    });
    alembic::write(&asset).unwrap().bytes
}

/// ReadFailure, or an asset that stays within the size of its file.
fn rejected_or_valid(format: Format, bytes: &[u8]) -> Result<(), TestCaseError> {
    let Ok(asset) = format.read(bytes, &NoFiles) else {
        return Ok(());
    };

    // What is stored takes a byte or more each; packed text of FBX and held frames take less.
    prop_assert!(asset.vertex_count() <= 100 * bytes.len());
    let _ = asset.rig();

    for clip in &asset.clips {
        for frame in [0, clip.frame_count.saturating_sub(1)]
            .into_iter()
            .filter(|&k| k < clip.frame_count)
        {
            for (k, object) in asset.objects.iter().enumerate() {
                prop_assert_eq!(
                    clip.positions(k, object, frame).len(),
                    object.vertex_count()
                );
            }
        }
    }

    Ok(())
}

fn stl_text() -> Vec<u8> {
    let facet = "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1e0 0 0\nvertex 0 1 nan\nendloop\nendfacet\n";
    format!("solid a b\n{facet}{facet}endsolid\nsolid\n{facet}endsolid\n").into_bytes()
}

fn stl_packed() -> Vec<u8> {
    [
        &b"solid of bytes"[..],
        &[0; 66],
        &2_u32.to_le_bytes(),
        &[63; 100],
    ]
    .concat()
}

#[cfg(feature = "fbx")]
const FBX: &[u8] = include_bytes!("../src/formats/fbx/quad.fbx");
#[cfg(feature = "fbx")]
const SKINNED_FBX: &[u8] = include_bytes!("../src/formats/fbx/arm.fbx");

/// Two points over three frames of 16-bit integers, with names, a rate and an analog sample.
fn c3d() -> Vec<u8> {
    let mut bytes = vec![0; 1024];
    bytes[..10].copy_from_slice(&[2, 0x50, 2, 0, 1, 0, 1, 0, 3, 0]);
    bytes[12..18].copy_from_slice(&[0, 0, 0x80, 0x3f, 3, 0]);
    bytes[512..516].copy_from_slice(&[1, 0x50, 1, 84]);

    let records =
        b"\x05\xffPOINT\x03\x00\x00\x06\x01LABELS\x0b\x00\xff\x02\x02\x02M1M2\x00\x04\x01RATE\x09\x00\x04\x00\x00\x00\xf0\x42\x00\x00";
    bytes[516..516 + records.len()].copy_from_slice(records);

    for word in 0..27_i16 {
        bytes.extend_from_slice(&(word - 4 * (word % 5)).to_le_bytes());
    }

    bytes
}

const BVH: &[u8] = b"HIERARCHY\nROOT hip\n{\n OFFSET 0 0 1\n CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation\n JOINT knee\n {\n\
    OFFSET 0 -1e0 0\n CHANNELS 3 Yrotation Xrotation Zrotation\n End Site\n {\n OFFSET 0 -1 .5\n }\n }\n}\nMOTION\nFrames: 2\nFrame Time: .01\n\
    1 2 3 10 20 30 40 50 60\n0 0 0 0 0 0 0 0 -90\n";
const TABLE: &[u8] =
    b"Frame;M1_x;M1_y;M1_z;x2;y2;z2;note\n1;0,5;1;2;NA;NA;NA;a\n2;1e0;-1;nan;3;4;5;\n";

/// ReadFailure, or a take no larger than its file allows.
fn rejected_or_read(
    file: Result<MarkerFile, pliant_io::ReadError>,
    bytes: &[u8],
) -> Result<(), TestCaseError> {
    let Ok(file) = file else { return Ok(()) };
    let track = &file.track;
    prop_assert!(track.marker_count() * track.frames().len() <= 3_000_000 + 16 * bytes.len());
    prop_assert!(
        track
            .gaps()
            .iter()
            .all(|gap| gap.first + gap.length <= track.frames().len())
    );

    prop_assert!(
        track
            .frames()
            .iter()
            .flatten()
            .flatten()
            .all(|place| place.is_finite())
    );

    Ok(())
}

proptest! {
    // PROPTEST_CASES asks for more.
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.max(4000), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_damaged_obj_is_declined_or_comes_back_as_it_was_read(bytes in mutated(OBJ.to_vec())) {
        if let Ok(asset) = obj::read(&bytes) {
            let mesh = asset.mesh().unwrap();
            prop_assert!(mesh.vertex_count() <= bytes.len() && mesh.corner_count() <= bytes.len());
            let again = obj::read(&obj::write(&asset).bytes).unwrap();
            let copy = again.mesh().unwrap();
            prop_assert_eq!(mesh.vertex_count(), copy.vertex_count());
            prop_assert!(mesh.faces().eq(copy.faces()));
            let bits = |m: &pliant_mesh::Mesh| m.positions().iter().flat_map(|p| p.to_array().map(|x| if x.is_nan() { 0 } else { x.to_bits() })).collect::<Vec<_>>();
            prop_assert_eq!(bits(&mesh), bits(&copy));
        }
    }

    #[test]
    fn a_damaged_off_is_declined_or_read(bytes in mutated(OFF.to_vec())) {
        if let Ok(asset) = off::read(&bytes) {
            prop_assert!(asset.mesh().unwrap().vertex_count() <= bytes.len());
        }
    }

    #[test]
    fn a_damaged_npy_is_declined_or_read(bytes in mutated(npy::write_f64(&[2, 3, 3], (0..18).map(f64::from)))) {
        if let Ok(array) = npy::read(&bytes) {
            prop_assert!(array.values.len() <= bytes.len());
            prop_assert_eq!(array.values.len(), array.shape.iter().product::<usize>());
            let _ = array.into_point_rows("frames");
        }
    }

    #[test]
    fn a_damaged_capture_is_declined_or_read(bytes in mutated(c3d())) {
        rejected_or_read(markers::c3d::read(&bytes), &bytes)?;
    }

    #[test]
    fn a_damaged_skeleton_in_motion_is_declined_or_read(bytes in mutated(BVH.to_vec())) {
        rejected_or_read(markers::bvh::read(&bytes), &bytes)?;
    }

    #[test]
    fn a_damaged_table_of_markers_is_declined_or_read(bytes in mutated(TABLE.to_vec())) {
        rejected_or_read(markers::csv::read(&bytes), &bytes)?;
    }

    #[test]
    fn a_damaged_array_of_markers_is_declined_or_read(bytes in mutated(npy::write_f64(&[2, 3, 3], (0..18).map(f64::from)))) {
        rejected_or_read(markers::read_array(&bytes), &bytes)?;
    }

    #[test]
    fn a_damaged_target_is_declined_or_read(bytes in mutated(TARGET.to_vec())) {
        if let Ok(target) = target_file::read(&bytes, "t", 6) {
            prop_assert!(target.vertices.iter().all(|&v| v < 6));
        }
    }

    #[test]
    fn a_damaged_ply_is_declined_or_read(bytes in mutated(ply::write(&moving()).unwrap().bytes)) {
        rejected_or_valid(Format::Ply, &bytes)?;
    }

    #[test]
    fn a_damaged_ply_text_is_declined_or_read(bytes in mutated(PLY.to_vec())) {
        rejected_or_valid(Format::Ply, &bytes)?;
    }

    #[test]
    fn a_damaged_stl_is_declined_or_read(bytes in prop_oneof![mutated(stl_text()), mutated(stl_packed())]) {
        rejected_or_valid(Format::Stl, &bytes)?;
    }

    #[test]
    fn a_damaged_point_cache_is_rejected_or_read(
        mdd in mutated(point_cache::write_mdd(&moving()).unwrap().bytes),
        pc2 in mutated(point_cache::write_pc2(&moving()).unwrap().bytes),
    ) {
        rejected_or_valid(Format::Mdd, &mdd)?;
        rejected_or_valid(Format::Pc2, &pc2)?;
    }

    #[test]
    fn a_damaged_usda_is_declined_or_read(bytes in mutated(usda::write(&moving()).unwrap().bytes)) {
        rejected_or_valid(Format::Usda, &bytes)?;
    }

    #[test]
    fn a_damaged_alembic_is_rejected_or_read(bytes in prop_oneof![mutated(archive()), replaced(archive())]) {
        rejected_or_valid(Format::Alembic, &bytes)?;
    }

    #[test]
    fn a_damaged_binary_usd_is_declined_or_read(
        bytes in prop_oneof![mutated(USDC.to_vec()), mutated(USDZ.to_vec())],
    ) {
        rejected_or_valid(Format::Usd, &bytes)?;
    }

    #[cfg(feature = "fbx")]
    #[test]
    fn a_damaged_fbx_is_declined_or_read(bytes in mutated(FBX.to_vec())) {
        rejected_or_valid(Format::Fbx, &bytes)?;
    }

    #[cfg(feature = "fbx")]
    #[test]
    fn a_damaged_skin_of_fbx_is_declined_or_read(bytes in mutated(SKINNED_FBX.to_vec())) {
        rejected_or_valid(Format::Fbx, &bytes)?;
    }
}

#[test]
fn the_undamaged_takes_are_valid() {
    for (file, count, frames) in [
        (markers::c3d::read(&c3d()), 2, 3),
        (markers::bvh::read(BVH), 3, 2),
        (markers::csv::read(TABLE), 2, 2),
    ] {
        let file = file.unwrap();
        assert_eq!(
            (file.track.marker_count(), file.track.frames().len()),
            (count, frames),
            "{file:?}"
        );
    }
}
