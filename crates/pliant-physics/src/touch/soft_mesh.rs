//! Soft part of a mesh and the ring of held vertices around it.
//!
//! **Problem.** A patch of a few hundred vertices of a head must be simulated at a cost that
//! depends on the patch alone; vertices that do not move bend and stretch its rim.
//!
//! **Departures.** A *node* is a vertex that a constraint uses. Soft nodes come first, then held
//! ones: those outside the patch that share an edge, a triangle or a hinge with a soft one.
//! Everything without a soft node is left out.

use std::collections::BTreeSet;

use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, triangle_area};

use crate::blend::energy::hinge::hinge_corners;
use crate::touch::projection::connections::{Connections, Numbering};

/// Soft vertices with their connections, numbered as nodes.
#[derive(Debug, Clone)]
pub(crate) struct SoftMesh {
    /// The vertex of the mesh of each node.
    pub(crate) vertices: Vec<u32>,
    /// Number of soft nodes; they come first.
    pub(crate) soft_count: usize,
    pub(crate) connections: Connections,
}

impl SoftMesh {
    /// The part of `mesh` around `soft`, in that order.
    pub(crate) fn around(mesh: &Mesh, soft: &[u32]) -> Self {
        let topology = mesh.topology();
        let is_soft: BTreeSet<u32> = soft.iter().copied().collect();

        // All triangles with a soft corner.
        let triangles = distinct(
            soft.iter()
                .flat_map(|&v| topology.vertex_triangles().row(v as usize).iter().copied()),
        );

        // Every hinge with a soft corner lies over an edge of these triangles.
        let sides = distinct(
            triangles
                .iter()
                .flat_map(|&t| topology.triangle_edges()[t as usize]),
        );

        let area = |&t: &u32| triangle_area(mesh.triangle_points(t as usize));
        let touching: Vec<u32> = sides
            .iter()
            .copied()
            .filter(|&e| {
                topology.edges()[e as usize]
                    .iter()
                    .any(|v| is_soft.contains(v))
            })
            .collect();

        let proper = |&[a, b, c]: &[u32; 3]| a != b && b != c && a != c;
        let of_vertices = Connections {
            edges: touching
                .iter()
                .map(|&e| topology.edges()[e as usize])
                .collect(),
            edge_areas: touching
                .iter()
                .map(|&e| {
                    topology
                        .edge_triangles()
                        .row(e as usize)
                        .iter()
                        .map(area)
                        .sum()
                })
                .collect(),
            triangles: triangles
                .iter()
                .map(|&t| mesh.triangles()[t as usize])
                .filter(proper)
                .collect(),
            hinges: sides
                .iter()
                .filter_map(|&e| hinge_corners(mesh, e as usize))
                .collect(),
        };

        let mut nodes = Numbering::starting_with(soft);
        let connections = of_vertices.renumbered(&mut nodes);
        Self {
            vertices: nodes.into_items(),
            soft_count: soft.len(),
            connections,
        }
    }

    /// The mean length of edges, with nodes at `places`.
    pub(crate) fn mean_edge(&self, places: &[DVec3]) -> f64 {
        let lengths = self
            .connections
            .edges
            .iter()
            .map(|&[a, b]| places[a as usize].distance(places[b as usize]));
        lengths.sum::<f64>() / self.connections.edges.len().max(1) as f64
    }
}

fn distinct(items: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut all: Vec<u32> = items.collect();
    all.sort_unstable();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::shapes::icosphere;

    #[test]
    fn a_soft_mesh_has_exactly_the_elements_with_a_soft_corner() {
        let ball = icosphere(3);
        let soft: Vec<u32> = (0..ball.vertex_count() as u32)
            .filter(|&v| ball.positions()[v as usize].z > 0.6)
            .collect();
        let part = SoftMesh::around(&ball, &soft);
        let is_soft = |v: &u32| soft.contains(v);
        let back = |node: &u32| part.vertices[*node as usize];

        // Elements with a soft corner, counted on the whole mesh.
        let edges = ball
            .topology()
            .edges()
            .iter()
            .filter(|e| e.iter().any(is_soft))
            .count();

        let triangles = ball
            .triangles()
            .iter()
            .filter(|t| t.iter().any(is_soft))
            .count();

        let hinges = (0..ball.topology().edges().len())
            .filter_map(|e| hinge_corners(&ball, e))
            .filter(|h| h.iter().any(is_soft))
            .count();

        let held_alone = part
            .connections
            .hinges
            .iter()
            .filter(|h| !h.iter().any(|n| (*n as usize) < part.soft_count))
            .count();

        assert_eq!(
            (
                part.connections.edges.len(),
                part.connections.triangles.len(),
                part.connections.hinges.len() - held_alone
            ),
            (edges, triangles, hinges)
        );

        assert!(
            part.connections
                .edges
                .iter()
                .all(|e| e.iter().map(back).any(|v| is_soft(&v)))
        );

        assert_eq!(part.vertices[..part.soft_count], soft[..]);
        assert_eq!(held_alone, 0);
    }
}
