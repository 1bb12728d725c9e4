//! Parts without markers go along with what is beside them.
//!
//! **Problem.** Markers sit on the skin; eyes, teeth and buckles are parts of their own. When the
//! skin has been moved to its markers, these must be taken along before they look for their own
//! place.
//!
//! **Method.** Each vertex of a loose part takes the nearest vertex of a held part for its witness;
//! the part moves by the similarity that the witnesses have made.

use std::collections::{BTreeMap, BTreeSet};

use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, Topology};

use crate::compatible_triangles::{Facet, FacetTree};
use crate::{Similarity, TransferError};

/// Fewer different witnesses tell where a part goes, but not how it turns.
const WITNESSES_OF_A_TURN: usize = 6;

/// Moves the parts of `rest` without a vertex in `held` as their surroundings have moved from
/// `rest` to `positions`.
pub(crate) fn carry_loose_parts(
    rest: &Mesh,
    held: &[u32],
    positions: &mut [DVec3],
) -> Result<(), TransferError> {
    let part_of = rest.topology().component_of_vertex();
    let held_parts: BTreeSet<u32> = held
        .iter()
        .map(|&v| part_of[v as usize])
        .filter(|&part| part != Topology::NONE)
        .collect();
    let mut loose: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    let mut fixed = Vec::new();
    for (vertex, &part) in part_of
        .iter()
        .enumerate()
        .filter(|&(_, &part)| part != Topology::NONE)
    {
        if held_parts.contains(&part) {
            fixed.push(vertex);
        } else {
            loose.entry(part).or_default().push(vertex);
        }
    }
    if fixed.is_empty() || loose.is_empty() {
        return Ok(());
    }
    let place = |vertex: usize| Facet {
        centroid: rest.positions()[vertex],
        normal: DVec3::ZERO,
    };
    let tree = FacetTree::new(
        &fixed
            .iter()
            .map(|&vertex| place(vertex))
            .collect::<Vec<_>>(),
    );
    for vertices in loose.values() {
        let nearest = |&vertex: &usize| {
            tree.nearest_of_all(&place(vertex))
                .map(|(k, _)| fixed[k as usize])
        };
        let witnesses: BTreeSet<usize> = vertices.iter().filter_map(nearest).collect();
        let (from, to): (Vec<DVec3>, Vec<DVec3>) = witnesses
            .iter()
            .map(|&w| (rest.positions()[w], positions[w]))
            .unzip();
        let motion = way(&from, &to)?;
        for &vertex in vertices {
            positions[vertex] = motion.apply(rest.positions()[vertex]);
        }
    }
    Ok(())
}

/// The similarity of many witnesses, the mean step of few.
fn way(from: &[DVec3], to: &[DVec3]) -> Result<Similarity, TransferError> {
    if from.len() >= WITNESSES_OF_A_TURN {
        return Similarity::fit(from, to);
    }
    let mut motion = Similarity::IDENTITY;
    motion.motion.translation =
        from.iter().zip(to).map(|(&a, &b)| b - a).sum::<DVec3>() / from.len() as f64;
    Ok(motion)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_shapes::lump;
    use pliant_mesh::glam::DQuat;
    use pliant_mesh::shapes::icosphere;

    #[test]
    fn a_loose_part_moves_with_a_body_that_moves_as_a_whole() {
        let (body, eye) = (lump(3, 0.0), icosphere(2));
        let n = body.vertex_count();
        let mut points = body.positions().to_vec();
        points.extend(
            eye.positions()
                .iter()
                .map(|&p| p * 0.4 + DVec3::new(1.0, 0.9, 0.3)),
        );
        points.push(DVec3::splat(7.0));
        let mut triangles = body.triangles().to_vec();
        triangles.extend(eye.triangles().iter().map(|t| t.map(|v| v + n as u32)));
        let rest = Mesh::from_triangles(points.clone(), &triangles).unwrap();
        let turn = DQuat::from_scaled_axis(DVec3::new(0.3, 1.0, -0.4));
        let go = |p: DVec3| turn * p * 1.5 + DVec3::Z;
        let mut positions = points.clone();
        positions[..n].iter_mut().for_each(|p| *p = go(*p));
        carry_loose_parts(&rest, &[0, 1, 2, 3], &mut positions).unwrap();
        let last = points.len() - 1;
        assert!(
            positions[..last]
                .iter()
                .zip(&points)
                .all(|(&moved, &p)| moved.distance(go(p)) < 1e-9)
        );
        // A vertex without faces is no part.
        assert_eq!(positions[last], points[last]);
    }

    #[test]
    fn where_nothing_or_everything_is_held_nothing_is_carried() {
        let body = lump(1, 0.0);
        let moved: Vec<DVec3> = body.positions().iter().map(|&p| p * 2.0).collect();
        for held in [&[][..], &[0, 1]] {
            let mut positions = moved.clone();
            carry_loose_parts(&body, held, &mut positions).unwrap();
            assert_eq!(positions, moved);
        }
    }
}
