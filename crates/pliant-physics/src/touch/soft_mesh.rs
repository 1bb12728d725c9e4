//! The part of a mesh that gives way, and the ring around it that does not.
//!
//! **Problem.** A patch of a few hundred vertices of a head is to be moved at a cost that depends on the patch alone; its rim is
//! bent and stretched by vertices that stay.
//!
//! **Ours.** A *node* is a vertex that a constraint reads. Soft nodes come first, then the held ones: those outside the patch that
//! share an edge, a triangle or a hinge with a soft one. Everything that touches no soft node is left out.

use std::collections::BTreeMap;

use pliant_mesh::Mesh;

use crate::hinge::hinge_corners;

/// Soft vertices with all that connects them, counted as nodes.
#[derive(Debug, Clone)]
pub(crate) struct SoftMesh {
    /// The vertex of the mesh that each node is.
    pub(crate) vertices: Vec<u32>,
    /// How many nodes are soft; they come first.
    pub(crate) soft_count: usize,
    pub(crate) edges: Vec<[u32; 2]>,
    pub(crate) triangles: Vec<[u32; 3]>,
    /// Both ends of an edge with two triangles, then their third corners.
    pub(crate) hinges: Vec<[u32; 4]>,
}

impl SoftMesh {
    /// The part of `mesh` around `soft`, in that order.
    pub(crate) fn around(mesh: &Mesh, soft: &[u32]) -> Self {
        let topology = mesh.topology();
        let mut nodes = Nodes { of_vertex: soft.iter().enumerate().map(|(k, &v)| (v, k as u32)).collect(), vertices: soft.to_vec() };
        let rows = |rows: &dyn Fn(u32) -> Vec<u32>| {
            let mut all: Vec<u32> = soft.iter().flat_map(|&v| rows(v)).collect();
            all.sort_unstable();
            all.dedup();
            all
        };
        let triangles = rows(&|v| topology.vertex_triangles().row(v as usize).to_vec());
        // The hinges over the sides of those triangles hold every hinge with a soft corner.
        let mut sides: Vec<u32> = triangles.iter().flat_map(|&t| topology.triangle_edges()[t as usize]).collect();
        sides.sort_unstable();
        sides.dedup();
        let is_soft = |nodes: &Nodes, v: u32| nodes.of_vertex.get(&v).is_some_and(|&node| (node as usize) < soft.len());
        let touching = |e: &u32| topology.edges()[*e as usize].iter().any(|&v| is_soft(&nodes, v));
        let edges: Vec<[u32; 2]> = sides.iter().filter(|e| touching(e)).map(|&e| topology.edges()[e as usize]).collect();
        let hinges: Vec<[u32; 4]> = sides.iter().filter_map(|&e| hinge_corners(mesh, e as usize)).collect();
        let triangles: Vec<[u32; 3]> =
            triangles.iter().map(|&t| mesh.triangles()[t as usize]).filter(|[a, b, c]| a != b && b != c && a != c).collect();
        let (edges, triangles) = (nodes.all(&edges), nodes.all(&triangles));
        let hinges = nodes.all(&hinges);
        Self { vertices: nodes.vertices, soft_count: soft.len(), edges, triangles, hinges }
    }
}

struct Nodes {
    of_vertex: BTreeMap<u32, u32>,
    vertices: Vec<u32>,
}

impl Nodes {
    fn all<const N: usize>(&mut self, elements: &[[u32; N]]) -> Vec<[u32; N]> {
        elements.iter().map(|element| element.map(|vertex| self.node(vertex))).collect()
    }

    fn node(&mut self, vertex: u32) -> u32 {
        *self.of_vertex.entry(vertex).or_insert_with(|| {
            self.vertices.push(vertex);
            self.vertices.len() as u32 - 1
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::shapes::icosphere;

    #[test]
    fn a_patch_holds_exactly_the_elements_with_a_soft_corner() {
        let ball = icosphere(3);
        let soft: Vec<u32> = (0..ball.vertex_count() as u32).filter(|&v| ball.positions()[v as usize].z > 0.6).collect();
        let part = SoftMesh::around(&ball, &soft);
        let is_soft = |v: &u32| soft.contains(v);
        let back = |node: &u32| part.vertices[*node as usize];
        let edges = ball.topology().edges().iter().filter(|e| e.iter().any(is_soft)).count();
        let triangles = ball.triangles().iter().filter(|t| t.iter().any(is_soft)).count();
        let hinges = (0..ball.topology().edges().len()).filter_map(|e| hinge_corners(&ball, e)).filter(|h| h.iter().any(is_soft)).count();
        let held_alone = part.hinges.iter().filter(|h| !h.iter().any(|n| (*n as usize) < part.soft_count)).count();
        assert_eq!((part.edges.len(), part.triangles.len(), part.hinges.len() - held_alone), (edges, triangles, hinges));
        assert!(part.edges.iter().all(|e| e.iter().map(back).any(|v| is_soft(&v))));
        assert_eq!(part.vertices[..part.soft_count], soft[..]);
        assert_eq!(held_alone, 0);
    }
}
