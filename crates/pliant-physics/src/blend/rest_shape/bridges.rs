//! Bridges between the connected components of a shape.
//!
//! **Problem.** Brows, eyes, teeth and clothes share no edge with their host, yet belong to it. Blended
//! one by one, each has its own rigid motion and drifts off.
//!
//! **Method.** Every component is joined to the vertices of others that stay nearest to it in all
//! shapes, until all are one network. A pair of a component costs
//!
//! ```text
//! meanₛ |dˢ| + 4 (maxₛ |dˢ| − minₛ |dˢ|)
//! ```
//!
//! so that pairs which keep their distance come first. Coincident vertices (texture seams) are
//! bridged, too.

use std::collections::{BTreeMap, BTreeSet};

use pliant_linalg::{DisjointSets, parallel};
use pliant_mesh::glam::DVec3;

/// Vertices of a component that look for a partner.
const SAMPLES: usize = 64;
/// Bridges of a component, at least and at most; between them a quarter of the samples.
const BRIDGES: std::ops::RangeInclusive<usize> = 6..=16;
/// The cost of a change of distance relative to the distance. Chosen: lids that close over an eye
/// lose against the corners of the eye.
const CHANGE: f64 = 4.0;
/// Shapes whose distances are measured.
const SHAPES: usize = 4;

/// Pairs that join the components of `ends` over the first `surface` points into one network;
/// points without an end stay alone.
pub(crate) fn bridges(
    ends: &[[u32; 2]],
    twins: &[u32],
    surface: usize,
    shapes: &[&[DVec3]],
) -> Vec<[u32; 2]> {
    let mut sets = DisjointSets::new(shapes[0].len());
    let mut is_used = vec![false; shapes[0].len()];
    for &[i, j] in ends {
        sets.merge(i, j);
        is_used[i as usize] = true;
        is_used[j as usize] = true;
    }

    // Coincident vertices first, unless a spring joins them already.
    let mut known: BTreeSet<[u32; 2]> = ends.iter().map(|&ends| ascending(ends)).collect();
    let mut pairs = Vec::new();
    for (v, &first) in twins.iter().enumerate() {
        let pair = [first, v as u32];
        if first as usize != v && is_used[v] && is_used[first as usize] && known.insert(pair) {
            pairs.push(pair);
            sets.merge(first, v as u32);
        }
    }

    let measured: Vec<&[DVec3]> = (0..shapes.len().min(SHAPES))
        .map(|k| &shapes[k * shapes.len() / shapes.len().min(SHAPES)][..surface])
        .collect();
    let used: Vec<u32> = (0..surface as u32)
        .filter(|&v| is_used[v as usize])
        .collect();
    loop {
        let labels: Vec<u32> = used.iter().map(|&v| sets.find(v)).collect();
        let mut groups: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (&v, &label) in used.iter().zip(&labels) {
            groups.entry(label).or_default().push(v);
        }
        if groups.len() < 2 {
            return pairs;
        }

        // The largest group is the host of the others.
        let host = *groups
            .iter()
            .max_by_key(|(label, members)| (members.len(), std::cmp::Reverse(**label)))
            .expect("there are groups")
            .0;
        for (&label, members) in groups.iter().filter(|(label, _)| **label != host) {
            for pair in nearest_pairs(members, label, &used, &labels, &measured) {
                sets.merge(pair[0], pair[1]);
                if known.insert(pair) {
                    pairs.push(pair);
                }
            }
        }
    }
}

/// The best pairs between a component and all others.
fn nearest_pairs(
    members: &[u32],
    label: u32,
    used: &[u32],
    labels: &[u32],
    shapes: &[&[DVec3]],
) -> Vec<[u32; 2]> {
    let count = members.len().min(SAMPLES);
    let mut found = parallel::map(count, 4, |k| {
        let v = members[k * members.len() / count];
        let others = used.iter().zip(labels).filter(|(_, l)| **l != label);
        let nearest = others
            .map(|(&u, _)| {
                let apart =
                    |shape: &&[DVec3]| shape[u as usize].distance_squared(shape[v as usize]);
                (shapes.iter().map(apart).sum::<f64>(), u)
            })
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .expect("there is another component");
        ascending([v, nearest.1])
    });

    found.sort_by(|a, b| cost(*a, shapes).total_cmp(&cost(*b, shapes)));
    found.dedup();
    found.truncate((count / 4).clamp(*BRIDGES.start(), *BRIDGES.end()));
    found
}

fn ascending([i, j]: [u32; 2]) -> [u32; 2] {
    [i.min(j), i.max(j)]
}

fn cost([u, v]: [u32; 2], shapes: &[&[DVec3]]) -> f64 {
    let apart = |shape: &&[DVec3]| shape[u as usize].distance(shape[v as usize]);
    let least = shapes.iter().map(apart).fold(f64::INFINITY, f64::min);
    let most = shapes.iter().map(apart).fold(0.0, f64::max);
    let mean = shapes.iter().map(apart).sum::<f64>() / shapes.len() as f64;
    mean + CHANGE * (most - least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_join_their_nearest_neighbours_and_single_points_stay_alone() {
        // Three pairs in a row; the second is nearer to the first. Point 6 has no spring.
        let row = [0.0, 1.0, 3.0, 4.0, 9.0, 10.0, 5.0].map(|x| DVec3::X * x);
        let ends = [[0, 1], [2, 3], [4, 5]];
        let twins: Vec<u32> = (0..7).collect();
        let found = bridges(&ends, &twins, 7, &[&row]);

        assert!(
            found.contains(&[1, 2]) && found.contains(&[3, 4]),
            "{found:?}"
        );
        assert!(found.iter().flatten().all(|&v| v != 6));
    }

    #[test]
    fn pairs_that_keep_their_distance_come_first() {
        let still = [0.0, 1.0, 2.0, 6.0].map(|x| DVec3::X * x).to_vec();
        let moved = [0.0, 1.0, 2.0, 9.0].map(|x| DVec3::X * x).to_vec();
        assert!(cost([1, 2], &[&still, &moved]) < cost([2, 3], &[&still, &moved]));
    }
}
