//! Readers meet damaged files: they decline or give an asset, and never panic, hang or grow.

use pliant_io::{npy, obj, off, target_file};
use proptest::collection::vec;
use proptest::prelude::*;

const OBJ: &[u8] = b"mtllib a.mtl\no one\nv 0 0 0 1 0 0\nv 1e0 0 -0.5 \\\n 1 0 0\nv 0 1 0\nv nan 1 0\nvt 0 1\nvn 0 0 1\n\
    g lid\nusemtl skin\ns 1\nf 1/1/1 2/1/1 3//1 -1\no two\nv 5 5 5\nl 1 2\nf 5 1 2\n";
const OFF: &[u8] = b"STCNOFF # c\n4 2 0\n0 0 0 0 0 1 255 0 0 0 0\n1 0 0 0 0 1 0 1 0 0 1\n1 1 0 0 0 1 0.5 0 0 1 1\n0 1 0 0 0 1 1 1 1 1 0 0\n4 0 1 2 3\n3 0 1 2 9 9 9\n";
const TARGET: &[u8] = b"# t\n0 1 2 3\n5 .5 -1e-3 0\n";

/// Some bytes of `seed` replaced, removed, doubled or cut off.
fn mutated(seed: Vec<u8>) -> impl Strategy<Value = Vec<u8>> {
    let alphabet = prop_oneof![any::<u8>(), proptest::sample::select(b"0123456789-+./# \\\n\rvfgonust".to_vec())];
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
    fn a_damaged_target_is_declined_or_read(bytes in mutated(TARGET.to_vec())) {
        if let Ok(target) = target_file::read(&bytes, "t", 6) {
            prop_assert!(target.vertices.iter().all(|&v| v < 6));
        }
    }
}
