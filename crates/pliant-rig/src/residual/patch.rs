//! Part of a mesh with its own numbering.

use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, MeshError, SurfacePoint, TrianglePoint};

/// Some triangles and vertices of a mesh.
#[derive(Debug, Clone)]
pub(super) struct Patch {
    /// The part as a mesh of triangles; vertex `k` of it is `vertices[k]` of the whole, triangle
    /// `t` is `triangles[t]`.
    pub(super) mesh: Mesh,
    /// Vertices of the whole, ascending.
    pub(super) vertices: Vec<u32>,
    /// Triangles of the whole, ascending.
    pub(super) triangles: Vec<u32>,
}

impl Patch {
    /// The triangles of `mesh`, posed at `positions`, that touch a vertex of `core`.
    pub(super) fn around(
        mesh: &Mesh,
        positions: &[DVec3],
        core: &[u32],
    ) -> Result<Self, MeshError> {
        let around = mesh.topology().vertex_triangles();
        let triangles = sorted(core.iter().flat_map(|&v| around.row(v as usize)).copied());
        Self::cut(mesh, positions, triangles, core)
    }

    /// The triangles whose bounding box is within `radius`, in space, of one of `points`, and the
    /// vertices `core`.
    ///
    /// No geodesic distance is shorter than the distance in space, so the geodesic disc of the
    /// radius is inside the patch.
    pub(super) fn within(
        mesh: &Mesh,
        positions: &[DVec3],
        points: &[DVec3],
        radius: f64,
        core: &[u32],
    ) -> Result<Self, MeshError> {
        // A little more, since paths and their lengths are rounded.
        let reach = radius * (1.0 + 1e-6);
        let mut triangles = Vec::new();
        for (t, triangle) in (0..).zip(mesh.triangles()) {
            let [a, b, c] = triangle.map(|v| positions[v as usize]);
            let low = a.min(b).min(c);
            let high = a.max(b).max(c);
            if points
                .iter()
                .any(|point| point.distance(point.clamp(low, high)) <= reach)
            {
                triangles.push(t);
            }
        }

        Self::cut(mesh, positions, triangles, core)
    }

    fn cut(
        mesh: &Mesh,
        positions: &[DVec3],
        triangles: Vec<u32>,
        core: &[u32],
    ) -> Result<Self, MeshError> {
        let corners = triangles.iter().map(|&t| mesh.triangles()[t as usize]);
        let vertices = sorted(corners.clone().flatten().chain(core.iter().copied()));
        let local = |v: u32| {
            vertices
                .binary_search(&v)
                .expect("a corner of the patch is in the patch") as u32
        };

        // Renumber the corners.
        let corners: Vec<[u32; 3]> = corners.map(|triangle| triangle.map(local)).collect();
        let points = vertices.iter().map(|&v| positions[v as usize]).collect();
        Ok(Self {
            mesh: Mesh::from_triangles(points, &corners)?,
            vertices,
            triangles,
        })
    }

    /// The index in the patch of a vertex of the whole.
    pub(super) fn local(&self, vertex: u32) -> usize {
        self.vertices
            .binary_search(&vertex)
            .expect("the vertex is in the patch")
    }

    /// The same point, on the patch.
    pub(super) fn local_point(&self, point: &SurfacePoint) -> SurfacePoint {
        match *point {
            SurfacePoint::Vertex(v) => SurfacePoint::Vertex(self.local(v) as u32),
            SurfacePoint::InTriangle(TrianglePoint {
                triangle,
                barycentric,
            }) => {
                let triangle = self
                    .triangles
                    .binary_search(&triangle)
                    .expect("the triangle is in the patch") as u32;
                SurfacePoint::InTriangle(TrianglePoint {
                    triangle,
                    barycentric,
                })
            }
        }
    }
}

/// The vertices of `core` and their neighbours, ascending.
pub(super) fn grown(mesh: &Mesh, core: &[u32]) -> Vec<u32> {
    let neighbors = mesh.topology().vertex_neighbors();
    sorted(
        core.iter()
            .flat_map(|&v| neighbors.row(v as usize))
            .chain(core)
            .copied(),
    )
}

/// Ascending, each once.
pub(super) fn sorted(vertices: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut vertices: Vec<u32> = vertices.collect();
    vertices.sort_unstable();
    vertices.dedup();
    vertices
}
