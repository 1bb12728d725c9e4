//! The boundary of an open surface: which of its vertices and points are on it.

use pliant_mesh::{Mesh, TrianglePoint};

/// The boundary edges of a mesh and their vertices.
pub(super) struct Boundary<'a> {
    mesh: &'a Mesh,
    vertices: Vec<bool>,
}

impl<'a> Boundary<'a> {
    pub(super) fn of(mesh: &'a Mesh) -> Self {
        let topology = mesh.topology();
        let mut vertices = vec![false; mesh.vertex_count()];
        for (edge, ends) in topology.edges().iter().enumerate() {
            if topology.is_boundary_edge(edge) {
                vertices[ends[0] as usize] = true;
                vertices[ends[1] as usize] = true;
            }
        }
        Self { mesh, vertices }
    }

    /// Whether a vertex is on a boundary edge.
    pub(super) fn has_vertex(&self, vertex: usize) -> bool {
        self.vertices[vertex]
    }

    /// Whether a point is on a boundary edge, or on a vertex of one.
    pub(super) fn holds(&self, point: &TrianglePoint) -> bool {
        let corners = self.mesh.triangles()[point.triangle as usize];
        let touched: Vec<u32> = (0..3)
            .filter(|&k| point.barycentric[k] > 0.0)
            .map(|k| corners[k])
            .collect();

        // One corner: on a vertex; two corners: on an edge; three: inside the triangle.
        let topology = self.mesh.topology();
        match touched[..] {
            [v] => self.vertices[v as usize],
            [a, b] => topology
                .edge_between(a, b)
                .is_some_and(|edge| topology.is_boundary_edge(edge)),
            _ => false,
        }
    }
}
