//! Dual graph of a mesh: pairs of neighbouring triangles.
//!
//! **Implementation.** Each pair of triangles that share an edge, once per shared edge, in the order of the
//! edges. An edge with three or more triangles gives every pair of them.

use pliant_mesh::Topology;

/// The pairs of triangles with a common edge, the lower triangle first.
pub(crate) fn neighbor_pairs(topology: &Topology) -> Vec<[u32; 2]> {
    let mut pairs = Vec::with_capacity(topology.edges().len());
    for sharing in topology.edge_triangles().iter() {
        for (k, &a) in sharing.iter().enumerate() {
            pairs.extend(sharing[k + 1..].iter().map(|&b| [a.min(b), a.max(b)]));
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::Mesh;
    use pliant_mesh::glam::DVec3;

    #[test]
    fn three_triangles_on_one_edge_are_neighbors_in_pairs() {
        let points = vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z, -DVec3::Y];
        let book = Mesh::from_triangles(points, &[[0, 1, 2], [0, 1, 3], [0, 1, 4]]).unwrap();
        assert_eq!(
            neighbor_pairs(book.topology()),
            vec![[0, 1], [0, 2], [1, 2]]
        );
    }
}
