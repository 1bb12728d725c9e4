//! Which triangles are neighbours: pairs over shared edges, and the parts they form.
//!
//! **Form.** Each pair of triangles that share an edge, once per shared edge, in the order of the
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

/// Disjoint sets that are joined pair by pair; a set is named by its lowest member.
#[derive(Debug, Clone)]
pub(crate) struct DisjointSets {
    parent: Vec<u32>,
}

impl DisjointSets {
    /// Every one of `count` items by itself.
    pub(crate) fn new(count: usize) -> Self {
        Self {
            parent: (0..count as u32).collect(),
        }
    }

    /// The lowest member of the set of `item`.
    pub(crate) fn find(&mut self, item: u32) -> u32 {
        let mut root = item;
        while self.parent[root as usize] != root {
            root = self.parent[root as usize];
        }
        let mut next = item;
        while next != root {
            next = std::mem::replace(&mut self.parent[next as usize], root);
        }
        root
    }

    /// Joins two sets; false if they were one.
    pub(crate) fn join(&mut self, a: u32, b: u32) -> bool {
        let (a, b) = (self.find(a), self.find(b));
        self.parent[a.max(b) as usize] = a.min(b);
        a != b
    }

    /// For each item the number of its set; sets are numbered in the order of their lowest members.
    /// Also how many there are.
    pub(crate) fn numbered(mut self) -> (Vec<u32>, usize) {
        let mut count = 0;
        let mut number = vec![0; self.parent.len()];
        for item in 0..self.parent.len() as u32 {
            let root = self.find(item);
            if root == item {
                number[item as usize] = count;
                count += 1;
            } else {
                number[item as usize] = number[root as usize];
            }
        }
        (number, count as usize)
    }
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

    #[test]
    fn sets_are_numbered_by_their_lowest_members() {
        let mut sets = DisjointSets::new(5);
        assert!(sets.join(4, 1) && sets.join(3, 2) && !sets.join(1, 4));
        assert_eq!(sets.numbered(), (vec![0, 1, 2, 2, 1], 3));
    }
}
