//! Welding of stored glTF vertices that are one vertex of the surface.
//!
//! **Problem.** A vertex on a seam is stored several times. If the copies moved apart, the surface
//! would tear there.
//!
//! **Method.** StoredMesh vertices are one vertex if their positions are equal bit by bit and no target
//! and no joint moves them apart. Vertices are numbered in the order in which they are first stored.

use std::collections::HashMap;

use super::primitive::StoredMesh;
use crate::gltf::seams::Displacements;

/// For each stored vertex, its vertex.
pub(super) fn weld(stored: &StoredMesh) -> Vec<u32> {
    // Most vertices are alone at their place, whatever moves them.
    let shared = places_of_several(&stored.positions);
    if !shared.contains(&true) {
        return (0..stored.positions.len() as u32).collect();
    }

    let mut index_of = HashMap::with_capacity(stored.positions.len());
    let mut vertex_of = Vec::with_capacity(stored.positions.len());
    for (position, motion) in stored.positions.iter().zip(motion_hashes(stored, &shared)) {
        let next = index_of.len() as u32;
        let key = (position.map(bits), motion);
        vertex_of.push(*index_of.entry(key).or_insert(next));
    }

    vertex_of
}

/// For each stored vertex, whether another one has its position.
fn places_of_several(positions: &[[f32; 3]]) -> Vec<bool> {
    let mut first_at = HashMap::with_capacity(positions.len());
    let mut shared = vec![false; positions.len()];
    for (vertex, position) in positions.iter().enumerate() {
        let first = *first_at.entry(position.map(bits)).or_insert(vertex);
        if first != vertex {
            shared[first] = true;
            shared[vertex] = true;
        }
    }
    shared
}

/// For each stored vertex whose place is shared, a hash of everything that moves it: targets and
/// joints.
fn motion_hashes(stored: &StoredMesh, shared: &[bool]) -> Vec<u64> {
    let mut hashes = vec![0; stored.positions.len()];
    for (target, Displacements { vertices, deltas }) in stored.targets.iter().enumerate() {
        let moved = vertices.iter().zip(deltas);
        for (&vertex, delta) in moved.filter(|(vertex, _)| shared[**vertex as usize]) {
            let hash = &mut hashes[vertex as usize];
            *hash = mixed(*hash, target as u64);
            for &x in delta {
                *hash = mixed(*hash, u64::from(bits(x)));
            }
        }
    }

    for set in stored.joints.iter().chain(&stored.joint_weights) {
        let own = hashes.iter_mut().zip(set).zip(shared);
        for ((hash, joints), _) in own.filter(|(_, shared)| **shared) {
            for &x in joints {
                *hash = mixed(*hash, u64::from(bits(x)));
            }
        }
    }

    hashes
}

/// The bits of a number; both zeros have the same.
fn bits(x: f32) -> u32 {
    (x + 0.0).to_bits()
}

/// Adds a value to a hash: the "SplitMix64" step of Steele, Lea and Flood (OOPSLA 2014).
fn mixed(state: u64, value: u64) -> u64 {
    let mut z = (state ^ value).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gltf::seams::representatives;

    #[test]
    fn equal_positions_are_one_vertex_unless_a_target_or_joint_moves_them_apart() {
        let point = [1.0, 2.0, 3.0];
        let mut stored = StoredMesh {
            positions: vec![point, [0.0; 3], point, [-0.0, 0.0, 0.0]],
            ..StoredMesh::default()
        };

        assert_eq!(weld(&stored), [0, 1, 0, 1]);
        stored.targets = vec![Displacements {
            vertices: vec![2],
            deltas: vec![[0.0, 0.0, 1.0]],
        }];

        assert_eq!(weld(&stored), [0, 1, 2, 1]);
        stored.targets = vec![Displacements {
            vertices: vec![0, 2],
            deltas: vec![[0.0, 0.0, 1.0]; 2],
        }];

        assert_eq!(weld(&stored), [0, 1, 0, 1]);
        stored.joints = vec![vec![[0.0; 4], [0.0; 4], [0.0; 4], [1.0, 0.0, 0.0, 0.0]]];
        assert_eq!(weld(&stored), [0, 1, 0, 2]);
        assert_eq!(representatives(&weld(&stored), 3), [0, 1, 3]);
    }
}
