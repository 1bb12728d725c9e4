//! Mesh report: counts of defects that some methods cannot handle.

use std::collections::HashMap;

use crate::Mesh;
use crate::surface::measure::{distinct_corners, is_flat};

/// Counts of defects that some methods cannot handle.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct MeshReport {
    /// Connected components, unused vertices aside.
    pub components: usize,
    /// Closed walks along edges with one triangle.
    pub boundary_loops: usize,
    /// Edges with more than two triangles.
    pub non_manifold_edges: usize,
    /// Vertices where surfaces touch in a point.
    pub non_manifold_vertices: usize,
    /// Triangles that repeat a vertex or have no area to working precision.
    pub degenerate_triangles: usize,
    /// Triangles whose three vertices another triangle has too.
    pub duplicate_triangles: usize,
    /// Vertices that no face uses.
    pub unused_vertices: usize,
    /// Edges whose two triangles have opposite orientations.
    pub flipped_edges: usize,
    /// Vertices with a coordinate that is NaN or infinite.
    pub not_finite_vertices: usize,
    /// Pairs of triangles that cut through each other, if they were counted.
    pub self_intersections: Option<usize>,
}

impl MeshReport {
    /// Examines `mesh`; self-intersections, which cost more, are counted by
    /// [`with_self_intersections`](Self::with_self_intersections) on request.
    #[must_use]
    pub fn of(mesh: &Mesh) -> Self {
        let topology = mesh.topology();
        Self {
            components: topology.component_count(),
            boundary_loops: topology.boundary_loops().len(),
            non_manifold_edges: topology.non_manifold_edges().count(),
            non_manifold_vertices: topology.non_manifold_vertices().len(),
            degenerate_triangles: (0..mesh.triangles().len())
                .filter(|&t| is_degenerate_triangle(mesh, t))
                .count(),
            duplicate_triangles: duplicates(mesh.triangles()),
            unused_vertices: topology.unused_vertex_count(),
            flipped_edges: topology.flipped_edges().count(),
            not_finite_vertices: mesh.positions().iter().filter(|p| !p.is_finite()).count(),
            self_intersections: None,
        }
    }

    /// One sentence for each kind of defect; empty for a mesh without any. Several components,
    /// open boundaries and unused vertices are normal and not listed.
    #[must_use]
    pub fn problems(&self) -> Vec<String> {
        let found = [
            (
                self.not_finite_vertices,
                "vertices have a coordinate that is NaN or infinite; computations reject the mesh",
            ),
            (
                self.non_manifold_edges,
                "edges have more than two triangles (non-manifold)",
            ),
            (
                self.non_manifold_vertices,
                "vertices join surfaces that touch only there (non-manifold)",
            ),
            (
                self.degenerate_triangles,
                "triangles have no area (degenerate)",
            ),
            (
                self.duplicate_triangles,
                "triangles repeat another one's vertices (duplicate)",
            ),
            (
                self.flipped_edges,
                "edges lie between faces of opposite orientation (flipped)",
            ),
            (
                self.self_intersections.unwrap_or(0),
                "pairs of triangles cut through each other",
            ),
        ];
        found
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect()
    }
}

pub(crate) fn is_degenerate_triangle(mesh: &Mesh, triangle: usize) -> bool {
    // NaN is not flat: it is reported as NaN.
    !distinct_corners(mesh.triangles()[triangle]) || is_flat(mesh.triangle_points(triangle))
}

fn duplicates(triangles: &[[u32; 3]]) -> usize {
    let mut seen: HashMap<[u32; 3], u32> = HashMap::with_capacity(triangles.len());
    let mut repeated = 0;
    for triangle in triangles.iter().filter(|t| distinct_corners(**t)) {
        // Sorted corners are equal for every order of the same three vertices.
        let mut key = *triangle;
        key.sort_unstable();
        let uses = seen.entry(key).or_insert(0);
        *uses += 1;
        repeated += usize::from(*uses > 1);
    }

    repeated
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;

    #[test]
    fn each_kind_of_defect_is_counted() {
        let positions = vec![
            DVec3::ZERO,
            DVec3::X,
            DVec3::Y,
            DVec3::Z,
            DVec3::new(2.0, 0.0, 0.0),
            DVec3::splat(9.0),
            DVec3::new(0.0, -1.0, f64::NAN),
        ];

        // Two equal triangles and a third on edge 0-1; one flat triangle along x.
        let mesh =
            Mesh::from_triangles(positions, &[[0, 1, 2], [0, 1, 2], [1, 0, 3], [0, 1, 4]]).unwrap();
        let health = MeshReport::of(&mesh);

        assert_eq!(
            (
                health.duplicate_triangles,
                health.degenerate_triangles,
                health.unused_vertices
            ),
            (1, 1, 2)
        );

        assert_eq!(
            (health.not_finite_vertices, health.non_manifold_edges),
            (1, 1)
        );

        // The equal triangles run through edges 1-2 and 2-0 in one direction.
        assert_eq!(health.flipped_edges, 2);
        assert_eq!(health.problems().len(), 5);
    }

    #[test]
    fn a_clean_mesh_has_no_problems() {
        let mesh =
            Mesh::from_triangles(vec![DVec3::ZERO, DVec3::X, DVec3::Y], &[[0, 1, 2]]).unwrap();
        assert!(MeshReport::of(&mesh).problems().is_empty());
    }
}
