//! The part of a mesh that gives way, and the ring around it that does not.
//!
//! **Problem.** A patch of a few hundred vertices of a head is to be moved at a cost that depends on the patch alone; its rim is
//! bent and stretched by vertices that stay.
//!
//! **Ours.** A *node* is a vertex that a constraint reads. Soft nodes come first, then the held ones: those outside the patch that
//! share an edge, a triangle or a hinge with a soft one. Everything that touches no soft node is left out.

use std::collections::BTreeMap;

use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, triangle_area};

use crate::hinge::hinge_corners;

/// Soft vertices with all that connects them, counted as nodes.
#[derive(Debug, Clone)]
pub(crate) struct SoftMesh {
    /// The vertex of the mesh that each node is.
    pub(crate) vertices: Vec<u32>,
    /// How many nodes are soft; they come first.
    pub(crate) soft_count: usize,
    pub(crate) edges: Vec<[u32; 2]>,
    /// The area of the triangles at each edge.
    pub(crate) edge_areas: Vec<f64>,
    pub(crate) triangles: Vec<[u32; 3]>,
    /// Both ends of an edge with two triangles, then their third corners.
    pub(crate) hinges: Vec<[u32; 4]>,
}

impl SoftMesh {
    /// The part of `mesh` around `soft`, in that order.
    pub(crate) fn around(mesh: &Mesh, soft: &[u32]) -> Self {
        let topology = mesh.topology();
        let mut nodes = Nodes::new(soft);
        let triangles = distinct(soft.iter().flat_map(|&v| topology.vertex_triangles().row(v as usize).iter().copied()));
        // Among the hinges over the sides of those triangles is every hinge with a soft corner.
        let sides = distinct(triangles.iter().flat_map(|&t| topology.triangle_edges()[t as usize]));
        let area =
            |e: u32| topology.edge_triangles().row(e as usize).iter().map(|&t| triangle_area(mesh.triangle_points(t as usize))).sum();
        let touching: Vec<u32> =
            sides.iter().copied().filter(|&e| topology.edges()[e as usize].iter().any(|&v| nodes.is_soft(v))).collect();
        let edges: Vec<[u32; 2]> = touching.iter().map(|&e| topology.edges()[e as usize]).collect();
        let hinges: Vec<[u32; 4]> = sides.iter().filter_map(|&e| hinge_corners(mesh, e as usize)).collect();
        let proper = |&[a, b, c]: &[u32; 3]| a != b && b != c && a != c;
        let triangles: Vec<[u32; 3]> = triangles.iter().map(|&t| mesh.triangles()[t as usize]).filter(proper).collect();
        Self {
            edges: nodes.all(&edges),
            edge_areas: touching.into_iter().map(area).collect(),
            triangles: nodes.all(&triangles),
            hinges: nodes.all(&hinges),
            soft_count: soft.len(),
            vertices: nodes.vertices,
        }
    }

    /// The mean length of edges, with nodes at `places`.
    pub(crate) fn mean_edge(&self, places: &[DVec3]) -> f64 {
        let lengths = self.edges.iter().map(|&[a, b]| places[a as usize].distance(places[b as usize]));
        lengths.sum::<f64>() / self.edges.len().max(1) as f64
    }
}

fn distinct(items: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut all: Vec<u32> = items.collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Numbers for things in the order in which they are met.
pub(crate) struct Nodes {
    of_vertex: BTreeMap<u32, u32>,
    vertices: Vec<u32>,
    soft_count: usize,
}

impl Nodes {
    pub(crate) fn new(soft: &[u32]) -> Self {
        Self { of_vertex: soft.iter().enumerate().map(|(k, &v)| (v, k as u32)).collect(), vertices: soft.to_vec(), soft_count: soft.len() }
    }

    fn is_soft(&self, vertex: u32) -> bool {
        self.of_vertex.get(&vertex).is_some_and(|&node| (node as usize) < self.soft_count)
    }

    pub(crate) fn all<const N: usize>(&mut self, elements: &[[u32; N]]) -> Vec<[u32; N]> {
        elements.iter().map(|element| element.map(|vertex| self.node(vertex))).collect()
    }

    pub(crate) fn into_vertices(self) -> Vec<u32> {
        self.vertices
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
