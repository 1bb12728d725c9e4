//! Components without markers follow their surroundings.
//!
//! **Problem.** Markers are on the skin; eyes, teeth and buckles are components of their own. After
//! the markers have moved the skin, these components must move along before they search for their
//! own closest points.
//!
//! **Method.** Each vertex of a component without markers takes the nearest vertex of a component
//! with markers as its reference. The component moves by the similarity that fits the motion of its
//! references.

use std::collections::{BTreeMap, BTreeSet};

use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, Topology};

use super::compatible_triangles::{Facet, FacetTree};
use crate::{Similarity, TransferError};

/// With fewer references a component is translated only: their rotation is not reliable.
const LEAST_REFERENCES_FOR_ROTATION: usize = 6;

/// Moves the components of `rest` without a vertex in `marked` as their surroundings have moved
/// from `rest` to `positions`.
pub(crate) fn carry_loose_parts(
    rest: &Mesh,
    marked: &[u32],
    positions: &mut [DVec3],
) -> Result<(), TransferError> {
    let (references, loose) = split_components(rest, marked);
    if references.is_empty() || loose.is_empty() {
        return Ok(());
    }

    let points: Vec<Facet> = references.iter().map(|&v| point_of(rest, v)).collect();
    let tree = FacetTree::new(&points);
    for vertices in loose.values() {
        // Each reference counts once, however many vertices are near it.
        let mut nearest = BTreeSet::new();
        for &vertex in vertices {
            if let Some((k, _)) = tree.nearest_of_all(&point_of(rest, vertex)) {
                nearest.insert(references[k as usize]);
            }
        }

        let from: Vec<DVec3> = nearest.iter().map(|&v| rest.positions()[v]).collect();
        let to: Vec<DVec3> = nearest.iter().map(|&v| positions[v]).collect();
        let motion = fitted_motion(&from, &to)?;
        for &vertex in vertices {
            positions[vertex] = motion.apply(rest.positions()[vertex]);
        }
    }
    Ok(())
}

/// The vertices of components with a marked vertex, and the vertices of each other component.
fn split_components(rest: &Mesh, marked: &[u32]) -> (Vec<usize>, BTreeMap<u32, Vec<usize>>) {
    let component_of = rest.topology().component_of_vertex();
    let with_marker: BTreeSet<u32> = marked.iter().map(|&v| component_of[v as usize]).collect();

    let mut references = Vec::new();
    let mut loose: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (vertex, &component) in component_of.iter().enumerate() {
        // Vertices without a face belong to no component and stay.
        if component == Topology::NONE {
            continue;
        }
        if with_marker.contains(&component) {
            references.push(vertex);
        } else {
            loose.entry(component).or_default().push(vertex);
        }
    }
    (references, loose)
}

/// A vertex as a query that is compatible with all others.
fn point_of(mesh: &Mesh, vertex: usize) -> Facet {
    Facet {
        centroid: mesh.positions()[vertex],
        normal: DVec3::ZERO,
    }
}

/// The similarity of many references, the mean translation of few.
fn fitted_motion(from: &[DVec3], to: &[DVec3]) -> Result<Similarity, TransferError> {
    if from.len() >= LEAST_REFERENCES_FOR_ROTATION {
        return Similarity::fit(from, to);
    }

    let mut motion = Similarity::IDENTITY;
    let sum = from.iter().zip(to).map(|(&a, &b)| b - a).sum::<DVec3>();
    motion.motion.translation = sum / from.len() as f64;
    Ok(motion)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_shapes::lump;
    use pliant_mesh::glam::DQuat;
    use pliant_mesh::shapes::icosphere;

    #[test]
    fn a_component_without_markers_moves_with_a_rigidly_moved_body() {
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

        for p in positions[..n].iter_mut() {
            *p = go(*p);
        }
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
    fn without_marked_or_without_unmarked_components_nothing_moves() {
        let body = lump(1, 0.0);
        let moved: Vec<DVec3> = body.positions().iter().map(|&p| p * 2.0).collect();
        for marked in [&[][..], &[0, 1]] {
            let mut positions = moved.clone();
            carry_loose_parts(&body, marked, &mut positions).unwrap();
            assert_eq!(positions, moved);
        }
    }
}
