//! Triangles, edges and vertex positions of a mesh as the graphics card stores them.

use std::sync::Arc;

use pliant::io::Asset;
use pliant::linalg::parallel;
use pliant::mesh::glam::{DVec3, Vec3};
use pliant::mesh::{Bounds, Mesh, vertex_normals_into};

use super::appearance::Appearance;

/// Vertices in one parallel task.
const VERTICES_PER_TASK: usize = 4096;

/// What all poses of a model have in common: the vertices of its triangles and lines, and its
/// materials.
#[derive(Debug, Clone, Default)]
pub struct Surface {
    /// Corners of the triangles, counter-clockwise from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Ends of the lines of the wireframe.
    pub edges: Vec<[u32; 2]>,
    /// Its materials; `None` for plain clay.
    pub appearance: Option<Arc<Appearance>>,
}

impl Surface {
    /// The triangles of a mesh, and the sides of its polygons as they were made: a quad has no
    /// diagonal. Its colours are those of its vertices or of the names of its materials.
    #[must_use]
    pub fn of(mesh: &Mesh) -> Arc<Self> {
        Self::with_appearance(mesh, Appearance::of_mesh(mesh))
    }

    /// As [`of`](Self::of), with the materials and textures of the asset to which the mesh belongs.
    #[must_use]
    pub fn of_asset(asset: &Asset, mesh: &Mesh) -> Arc<Self> {
        // Images that cannot be shown are left to `pliant info`; their material shows its colour.
        let (appearance, _) = Appearance::of_asset(asset, mesh);
        Self::with_appearance(mesh, appearance)
    }

    fn with_appearance(mesh: &Mesh, appearance: Option<Arc<Appearance>>) -> Arc<Self> {
        let sides = mesh
            .faces()
            .flat_map(|face| (0..face.len()).map(|k| [face[k], face[(k + 1) % face.len()]]));
        // An edge between two faces is drawn once.
        let mut edges: Vec<[u32; 2]> = sides.map(|[a, b]| [a.min(b), a.max(b)]).collect();

        edges.sort_unstable();
        edges.dedup();
        Arc::new(Self {
            triangles: mesh.triangles().to_vec(),
            edges,
            appearance,
        })
    }
}

/// Where the vertices are, as the graphics card takes them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Vertices {
    /// One place per vertex.
    pub positions: Vec<Vec3>,
    /// One unit normal per vertex; zero where there is none.
    pub normals: Vec<Vec3>,
}

impl From<(&[DVec3], &[DVec3])> for Vertices {
    fn from((positions, normals): (&[DVec3], &[DVec3])) -> Self {
        let single = |points: &[DVec3]| {
            parallel::map(points.len(), VERTICES_PER_TASK, |v| points[v].as_vec3())
        };
        Self {
            positions: single(positions),
            normals: single(normals),
        }
    }
}

impl Vertices {
    /// A pose of a mesh, with its normals computed.
    ///
    /// # Panics
    /// If there is not one position per vertex.
    #[must_use]
    pub fn of(mesh: &Mesh, positions: &[DVec3]) -> Arc<Self> {
        let mut normals = vec![DVec3::ZERO; positions.len()];
        vertex_normals_into(mesh.topology(), mesh.triangles(), positions, &mut normals);
        Arc::new(Self::from((positions, normals.as_slice())))
    }

    /// The box around all finite positions.
    #[must_use]
    pub fn bounds(&self) -> Option<Bounds> {
        let finite = self.positions.iter().copied().filter(|p| p.is_finite());
        let (min, max) = finite.fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(min, max), p| {
            (min.min(p), max.max(p))
        });
        min.cmple(max).all().then(|| Bounds {
            min: min.as_dvec3(),
            max: max.as_dvec3(),
        })
    }
}
