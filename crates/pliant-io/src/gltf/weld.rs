//! Stored vertices back to vertices.
//!
//! **Problem.** A vertex on a seam is stored several times; moved apart, the surface would tear
//! there.
//!
//! **Form.** Stored vertices are one where their places are the same bits and no target and no
//! joint moves them apart. Vertices are numbered in the order in which they are first stored.

use std::collections::HashMap;

use super::primitive::Stored;
use super::split::Displacements;

/// For each stored vertex its vertex.
pub(super) fn weld(stored: &Stored) -> Vec<u32> {
    let motions = motions(stored);
    let mut index_of = HashMap::with_capacity(stored.positions.len());
    let key = |(position, motion): (&[f32; 3], u64)| (position.map(bits), motion);
    let keys = stored.positions.iter().zip(motions).map(key);
    keys.map(|key| {
        let next = index_of.len() as u32;
        *index_of.entry(key).or_insert(next)
    })
    .collect()
}

/// For each vertex the stored vertex that speaks for it: the first.
pub(super) fn speakers(vertex_of: &[u32], vertices: usize) -> Vec<u32> {
    let mut speaker = vec![u32::MAX; vertices];
    for (stored, &vertex) in vertex_of.iter().enumerate().rev() {
        speaker[vertex as usize] = stored as u32;
    }
    speaker
}

/// A number for all that moves each stored vertex; equal motions have equal numbers.
fn motions(stored: &Stored) -> Vec<u64> {
    let mut motions = vec![0; stored.positions.len()];
    for (target, Displacements { vertices, deltas }) in stored.targets.iter().enumerate() {
        for (&vertex, delta) in vertices.iter().zip(deltas) {
            let motion = &mut motions[vertex as usize];
            *motion = mixed(*motion, target as u64);
            delta
                .iter()
                .for_each(|&x| *motion = mixed(*motion, u64::from(bits(x))));
        }
    }
    for set in stored.joints.iter().chain(&stored.joint_weights) {
        for (motion, joints) in motions.iter_mut().zip(set) {
            joints
                .iter()
                .for_each(|&x| *motion = mixed(*motion, u64::from(bits(x))));
        }
    }
    motions
}

/// The bits of a number; both zeros have the same.
fn bits(x: f32) -> u32 {
    (x + 0.0).to_bits()
}

/// Steele, Lea and Flood's "SplitMix64" step (OOPSLA 2014) over a running number.
fn mixed(state: u64, value: u64) -> u64 {
    let mut z = (state ^ value).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_place_is_one_vertex_unless_something_moves_it_apart() {
        let place = [1.0, 2.0, 3.0];
        let mut stored = Stored {
            positions: vec![place, [0.0; 3], place, [-0.0, 0.0, 0.0]],
            ..Stored::default()
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
        assert_eq!(speakers(&weld(&stored), 3), [0, 1, 3]);
    }
}
