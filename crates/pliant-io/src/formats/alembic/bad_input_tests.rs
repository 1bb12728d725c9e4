//! Damaged archives: one clear error, and memory in proportion to the file.

use pliant_mesh::glam::DVec3;

use super::encode::{Encoder, Members, PropertyHead, WrittenNumber};
use super::ogawa::{self, DATA};
use super::read;

const MESH: &str = "schema=AbcGeom_PolyMesh_v1";

fn points(count: usize, height: f32) -> Vec<u8> {
    let numbers = [0.0, height, 1.0].into_iter().cycle().take(3 * count);
    numbers.flat_map(f32::to_le_bytes).collect()
}

/// A mesh with positions over time, one triangle, and the times of its samples.
fn file(frames: impl IntoIterator<Item = Vec<u8>>, faces: [&[i32]; 2], period: f64) -> Vec<u8> {
    let mut encoder = Encoder::new(2);
    let mut geometry = Members::default();
    let head = PropertyHead {
        name: "P",
        metadata: "geoScope=vtx;interpretation=point",
        is_array: true,
        number: WrittenNumber::F32,
        extent: 3,
        sampling: 1,
    };
    let frames = frames.into_iter().map(Ok);
    encoder.property(&mut geometry, &head, frames).unwrap();
    for (name, indices) in [".faceCounts", ".faceIndices"].into_iter().zip(faces) {
        let head = PropertyHead {
            name,
            metadata: "",
            number: WrittenNumber::I32,
            extent: 1,
            sampling: 0,
            ..head
        };
        let bytes = indices.iter().flat_map(|k| k.to_le_bytes()).collect();
        encoder.property(&mut geometry, &head, [Ok(bytes)]).unwrap();
    }

    let mut properties = Members::default();
    encoder.compound(&mut properties, ".geom", "", geometry);
    let mut top = Members::default();
    encoder.object(&mut top, "mesh", MESH, &properties, Members::default());
    encoder.finish(top, "", &[(1.0, 0.0), (period, 0.0)])
}

fn triangle(frames: impl IntoIterator<Item = Vec<u8>>) -> Vec<u8> {
    file(frames, [&[3], &[0, 1, 2]], 0.5)
}

fn assert_rejected(bytes: &[u8], words: &[&str]) {
    let error = read(bytes).unwrap_err();
    assert!(!error.message.contains('\n'), "{error}");
    for word in words {
        assert!(error.message.contains(word), "'{word}' in: {error}");
    }
}

#[test]
fn every_truncated_file_is_rejected() {
    let whole = triangle([points(3, 0.0), points(3, 1.0)]);
    assert_eq!(read(&whole).unwrap().clips[0].frame_count, 2);
    for length in 0..whole.len() {
        assert!(read(&whole[..length]).is_err(), "{length} bytes");
    }
}

#[test]
fn a_few_points_that_are_held_for_very_many_frames_are_rejected() {
    let held = std::iter::repeat_n(points(300, 1.0), 20_000);
    let bytes = triangle(std::iter::once(points(300, 0.0)).chain(held));
    assert!(bytes.len() < 10_000);
    assert_rejected(&bytes, &["more than a file of this size"]);
}

#[test]
fn too_many_frames_are_rejected() {
    let held = std::iter::repeat_n(points(1, 1.0), 200_000);
    let bytes = triangle(std::iter::once(points(1, 0.0)).chain(held));
    assert_rejected(&bytes, &["200001 frames", "at most 100000"]);
}

#[test]
fn an_object_that_contains_itself_is_rejected() {
    let mut bytes = triangle([points(3, 0.0)]);
    let top = ogawa::open(&bytes).unwrap().group(2).unwrap();
    let (position, inner) = (top.position(), top.group(1).unwrap().position());

    // The only child of the top becomes the top.
    bytes[position + 16..position + 24].copy_from_slice(&(position as u64).to_le_bytes());
    assert_rejected(&bytes, &["its own parent"]);

    // A compound of properties that contains itself ends with its headers.
    bytes[position + 16..position + 24].copy_from_slice(&(inner as u64).to_le_bytes());
    bytes[inner + 8..inner + 16].copy_from_slice(&(inner as u64).to_le_bytes());
    assert!(read(&bytes).is_err() || read(&bytes).unwrap().objects.is_empty());
}

#[test]
fn counts_of_terabytes_are_rejected() {
    let whole = triangle([points(3, 0.0)]);
    let mut bytes = whole.clone();
    // The first data of the file are the positions.
    bytes[16..24].copy_from_slice(&(1_u64 << 42).to_le_bytes());
    assert_rejected(&bytes, &["data of 4398046511104 bytes are announced"]);

    let mut bytes = whole;
    let root = u64::from_le_bytes(bytes[8..16].try_into().unwrap()) as usize;
    bytes[root..root + 8].copy_from_slice(&(DATA - 1).to_le_bytes());
    assert_rejected(&bytes, &["children is announced"]);
}

#[test]
fn faces_that_do_not_fit_are_rejected() {
    for (faces, words) in [
        ([&[3][..], &[0, 1, 3]], "vertex 3"),
        ([&[3], &[0, 1]], "3 corners together, but 2 indices"),
        ([&[-3], &[0, 1, 2]], "which is not an index"),
        ([&[i32::MAX, i32::MAX], &[0]], "corners together"),
    ] {
        assert_rejected(&file([points(3, 0.0)], faces, 0.5), &[words]);
    }
}

#[test]
fn times_that_stand_still_are_rejected() {
    let frames = [points(3, 0.0), points(3, 1.0)];
    for period in [0.0, -1.0, f64::NAN] {
        let bytes = file(frames.clone(), [&[3], &[0, 1, 2]], period);
        assert_rejected(&bytes, &["times that ascend"]);
    }
}

#[test]
fn a_number_of_points_that_changes_is_a_warning() {
    let asset = read(&triangle([points(3, 0.5), points(4, 1.0)])).unwrap();
    assert_eq!(asset.objects[0].vertex_count(), 3);
    assert!(asset.clips[0].motions.is_empty());
    let warnings = asset.warnings.join("; ");
    assert!(warnings.contains("4 points at frame 1 and 3"), "{warnings}");
}

#[test]
fn faces_of_two_corners_are_dropped_with_a_warning() {
    let bytes = file([points(3, 0.5)], [&[2, 3], &[0, 1, 0, 1, 2]], 0.5);
    let asset = read(&bytes).unwrap();
    let mesh = asset.objects[0].rig.neutral();
    assert_eq!((mesh.face_count(), mesh.face(0)), (1, &[2, 1, 0][..]));
    assert_eq!(mesh.positions()[0], DVec3::new(0.0, 0.5, 1.0));
    assert!(
        asset.warnings[0].contains("1 face(s)"),
        "{:?}",
        asset.warnings
    );
}
