//! The polygon mesh: authored faces with their attributes, and a fan triangulation.
//!
//! **Problem.** People bring quads, n-gons, UV seams, groups, materials and a vertex
//! order that other files rely on; operators need triangles.
//!
//! **Implementation.** Authored polygons are kept as they came. Beside them stands their fan
//! triangulation: polygon `(a, b, c, d, …)` gives `(a, b, c)`, `(a, c, d)`, …, in order.
//! Everything that does not change when vertices move is shared between the poses of a
//! mesh, so [`Mesh::posed`] copies positions only and the topology is built once.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use glam::{DVec2, DVec3, DVec4};

use crate::{Bounds, MeshError, Topology, VertexId};

/// A polygon mesh in the vertex and face order of its file.
///
/// A clone copies the positions and shares the rest. Positions may hold NaN (so that a report can
/// name it); computations call [`Mesh::require_finite`] first.
#[derive(Debug, Clone)]
pub struct Mesh {
    name: String,
    positions: Vec<DVec3>,
    normals: Option<Arc<CornerLayer<DVec3>>>,
    surface: Arc<Surface>,
}

/// The part of a mesh that all poses share.
#[derive(Debug, Default)]
struct Surface {
    face_starts: Vec<u32>,
    corners: Vec<u32>,
    triangles: Vec<[u32; 3]>,
    triangle_faces: Vec<u32>,
    uv_layers: Vec<CornerLayer<DVec2>>,
    colors: Vec<VertexLayer<DVec4>>,
    groups: FaceLabels,
    materials: FaceLabels,
    material_library: Vec<String>,
    topology: OnceLock<Topology>,
}

/// An index into a [`CornerLayer`], or none where a corner has no value.
pub type Corner = Option<u32>;

/// Values that face corners refer to, such as UVs: two faces may differ at a shared vertex.
#[derive(Debug, Clone, PartialEq)]
pub struct CornerLayer<T> {
    /// The layer's name in its file, often empty.
    pub name: String,
    /// The distinct values in file order, used or not.
    pub values: Vec<T>,
    /// For each face corner (in face order) its value; `None` where the file gives none.
    pub corners: Vec<Corner>,
}

/// One value per vertex, such as a colour.
#[derive(Debug, Clone, PartialEq)]
pub struct VertexLayer<T> {
    /// The layer's name in its file, often empty.
    pub name: String,
    /// One value per vertex.
    pub values: Vec<T>,
}

/// A name for each face, such as its group or material; stored once per name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FaceLabels {
    /// The distinct names in order of first use.
    pub names: Vec<String>,
    /// For each face an index into `names`; empty where the mesh has no labels at all.
    pub of_face: Vec<u32>,
}

impl FaceLabels {
    /// The label of `face`, if the mesh has labels.
    #[must_use]
    pub fn of(&self, face: usize) -> Option<&str> {
        self.of_face
            .get(face)
            .map(|&k| self.names[k as usize].as_str())
    }

    /// Labels from the names of the faces, in their order.
    #[must_use]
    pub fn from_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut labels = Self::default();
        let mut index_of = HashMap::new();
        // Names of many faces are often one text, which is read once, however long it is.
        let mut index_at: HashMap<(*const u8, usize), u32> = HashMap::new();
        for name in names {
            let place = (name.as_ptr(), name.len());
            let index = *index_at.entry(place).or_insert_with(|| {
                *index_of.entry(name).or_insert_with(|| {
                    labels.names.push(name.to_owned());
                    labels.names.len() as u32 - 1
                })
            });
            labels.of_face.push(index);
        }

        labels
    }
}

/// Gathers the parts of a [`Mesh`]; [`MeshBuilder::build`] checks that they fit.
#[derive(Debug, Clone, Default)]
pub struct MeshBuilder {
    /// The mesh's name.
    pub name: String,
    /// Vertex positions in file order.
    pub positions: Vec<DVec3>,
    /// Number of corners of each face.
    pub face_sizes: Vec<u32>,
    /// Vertex of each corner, face after face.
    pub corners: Vec<u32>,
    /// UV sets.
    pub uv_layers: Vec<CornerLayer<DVec2>>,
    /// Authored normals.
    pub normals: Option<CornerLayer<DVec3>>,
    /// Vertex colours (RGBA, 0 to 1).
    pub colors: Vec<VertexLayer<DVec4>>,
    /// Group of each face.
    pub groups: FaceLabels,
    /// Material of each face.
    pub materials: FaceLabels,
    /// Material files that the mesh's file names.
    pub material_library: Vec<String>,
}

impl MeshBuilder {
    /// Appends a face by its vertices.
    pub fn push_face(&mut self, vertices: &[u32]) {
        self.face_sizes.push(vertices.len() as u32);
        self.corners.extend_from_slice(vertices);
    }

    /// Checks every count and index and makes the mesh.
    pub fn build(self) -> Result<Mesh, MeshError> {
        self.check_sizes()?;
        self.check_faces()?;
        self.check_layers()?;

        let mut face_starts = Vec::with_capacity(self.face_sizes.len() + 1);
        face_starts.push(0);
        let mut start = 0;
        for &size in &self.face_sizes {
            start += size;
            face_starts.push(start);
        }

        // A fan per face; the triangulation follows the order of the faces.
        let (triangles, triangle_faces) = fan(&face_starts, &self.corners);
        let surface = Surface {
            face_starts,
            corners: self.corners,
            triangles,
            triangle_faces,
            uv_layers: self.uv_layers,
            colors: self.colors,
            groups: self.groups,
            materials: self.materials,
            material_library: self.material_library,
            topology: OnceLock::new(),
        };

        Ok(Mesh {
            name: self.name,
            positions: self.positions,
            normals: self.normals.map(Arc::new),
            surface: Arc::new(surface),
        })
    }

    fn check_sizes(&self) -> Result<(), MeshError> {
        let limit = u32::MAX as usize; // u32::MAX itself is kept free as "none".
        if self.positions.len() >= limit {
            return Err(MeshError::TooLarge {
                what: "vertices",
                count: self.positions.len(),
            });
        }
        if self.corners.len() >= limit {
            return Err(MeshError::TooLarge {
                what: "face corners",
                count: self.corners.len(),
            });
        }

        let expected: usize = self.face_sizes.iter().map(|&size| size as usize).sum();
        count("the list of face corners", self.corners.len(), expected)
    }

    fn check_faces(&self) -> Result<(), MeshError> {
        let mut start = 0;
        for (face, &size) in self.face_sizes.iter().enumerate() {
            if size < 3 {
                return Err(MeshError::TooFewCorners {
                    face,
                    corners: size as usize,
                });
            }

            let end = start + size as usize;
            if let Some(&vertex) = self.corners[start..end]
                .iter()
                .find(|&&v| v as usize >= self.positions.len())
            {
                return Err(MeshError::VertexOutOfRange {
                    face,
                    vertex: vertex as usize,
                    vertices: self.positions.len(),
                });
            }

            start = end;
        }

        Ok(())
    }

    fn check_layers(&self) -> Result<(), MeshError> {
        let (faces, corners) = (self.face_sizes.len(), self.corners.len());
        for layer in &self.uv_layers {
            check_layer("a UV set", layer, corners)?;
        }
        if let Some(layer) = &self.normals {
            check_layer("the normals", layer, corners)?;
        }
        for layer in &self.colors {
            count("a colour layer", layer.values.len(), self.positions.len())?;
        }

        // Labels are optional: an empty list is complete.
        for (what, labels) in [
            ("the groups", &self.groups),
            ("the materials", &self.materials),
        ] {
            if !labels.of_face.is_empty() {
                count(what, labels.of_face.len(), faces)?;
            }
            if let Some(&label) = labels
                .of_face
                .iter()
                .find(|&&k| k as usize >= labels.names.len())
            {
                return Err(MeshError::NoSuchValue {
                    what,
                    index: label as usize,
                    size: labels.names.len(),
                });
            }
        }

        Ok(())
    }
}

fn check_layer<T>(
    what: &'static str,
    layer: &CornerLayer<T>,
    corners: usize,
) -> Result<(), MeshError> {
    count(what, layer.corners.len(), corners)?;
    match layer
        .corners
        .iter()
        .flatten()
        .find(|&&k| k as usize >= layer.values.len())
    {
        Some(&k) => Err(MeshError::NoSuchValue {
            what,
            index: k as usize,
            size: layer.values.len(),
        }),
        None => Ok(()),
    }
}

fn count(what: &'static str, found: usize, expected: usize) -> Result<(), MeshError> {
    if found == expected {
        Ok(())
    } else {
        Err(MeshError::Count {
            what,
            found,
            expected,
        })
    }
}

fn fan(face_starts: &[u32], corners: &[u32]) -> (Vec<[u32; 3]>, Vec<u32>) {
    let faces = face_starts.len() - 1;
    let triangle_count = corners.len().saturating_sub(2 * faces);
    let mut triangles = Vec::with_capacity(triangle_count);
    let mut triangle_faces = Vec::with_capacity(triangle_count);
    for face in 0..faces {
        let polygon = &corners[face_starts[face] as usize..face_starts[face + 1] as usize];
        for k in 1..polygon.len() - 1 {
            triangles.push([polygon[0], polygon[k], polygon[k + 1]]);
            triangle_faces.push(face as u32);
        }
    }

    (triangles, triangle_faces)
}

impl Mesh {
    /// A mesh of polygons without further attributes.
    pub fn from_polygons(positions: Vec<DVec3>, polygons: &[Vec<u32>]) -> Result<Self, MeshError> {
        let mut builder = MeshBuilder {
            positions,
            ..Default::default()
        };
        for polygon in polygons {
            builder.push_face(polygon);
        }
        builder.build()
    }

    /// A mesh of triangles without further attributes.
    pub fn from_triangles(
        positions: Vec<DVec3>,
        triangles: &[[u32; 3]],
    ) -> Result<Self, MeshError> {
        let mut builder = MeshBuilder {
            positions,
            ..Default::default()
        };

        for triangle in triangles {
            builder.push_face(triangle);
        }

        builder.build()
    }

    /// The same mesh with its vertices elsewhere. Authored normals, which fit the old place only,
    /// are dropped.
    pub fn posed(&self, positions: Vec<DVec3>) -> Result<Self, MeshError> {
        count(
            "the list of new positions",
            positions.len(),
            self.positions.len(),
        )?;
        Ok(Self {
            name: self.name.clone(),
            positions,
            normals: None,
            surface: Arc::clone(&self.surface),
        })
    }

    /// The same mesh under another name.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..self
        }
    }

    /// Every part, to be changed and built again.
    #[must_use]
    pub fn to_builder(&self) -> MeshBuilder {
        let surface = &*self.surface;
        MeshBuilder {
            name: self.name.clone(),
            positions: self.positions.clone(),
            face_sizes: surface
                .face_starts
                .windows(2)
                .map(|w| w[1] - w[0])
                .collect(),
            corners: surface.corners.clone(),
            uv_layers: surface.uv_layers.clone(),
            normals: self.normals.as_deref().cloned(),
            colors: surface.colors.clone(),
            groups: surface.groups.clone(),
            materials: surface.materials.clone(),
            material_library: surface.material_library.clone(),
        }
    }

    /// The mesh's name, often empty.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Vertex positions in file order.
    #[must_use]
    pub fn positions(&self) -> &[DVec3] {
        &self.positions
    }

    /// Number of vertices.
    #[must_use]
    pub fn vertex_count(&self) -> usize {
        self.positions.len()
    }

    /// Number of authored faces.
    #[must_use]
    pub fn face_count(&self) -> usize {
        self.surface.face_starts.len() - 1
    }

    /// The vertices of one authored face.
    #[must_use]
    pub fn face(&self, face: usize) -> &[u32] {
        &self.surface.corners[self.face_corners(face)]
    }

    /// The corners of one authored face, as indices into [`CornerLayer::corners`].
    #[must_use]
    pub fn face_corners(&self, face: usize) -> std::ops::Range<usize> {
        self.surface.face_starts[face] as usize..self.surface.face_starts[face + 1] as usize
    }

    /// The authored faces in file order.
    pub fn faces(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        (0..self.face_count()).map(|face| self.face(face))
    }

    /// Number of face corners.
    #[must_use]
    pub fn corner_count(&self) -> usize {
        self.surface.corners.len()
    }

    /// The fan triangulation, in face order.
    #[must_use]
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.surface.triangles
    }

    /// For each triangle the authored face it came from.
    #[must_use]
    pub fn triangle_faces(&self) -> &[u32] {
        &self.surface.triangle_faces
    }

    /// UV sets, with v pointing up as in OBJ.
    #[must_use]
    pub fn uv_layers(&self) -> &[CornerLayer<DVec2>] {
        &self.surface.uv_layers
    }

    /// Authored normals, where the file has some.
    #[must_use]
    pub fn normals(&self) -> Option<&CornerLayer<DVec3>> {
        self.normals.as_deref()
    }

    /// Vertex colours.
    #[must_use]
    pub fn colors(&self) -> &[VertexLayer<DVec4>] {
        &self.surface.colors
    }

    /// Group of each face.
    #[must_use]
    pub fn groups(&self) -> &FaceLabels {
        &self.surface.groups
    }

    /// Material of each face.
    #[must_use]
    pub fn materials(&self) -> &FaceLabels {
        &self.surface.materials
    }

    /// Material files that the mesh's file names.
    #[must_use]
    pub fn material_library(&self) -> &[String] {
        &self.surface.material_library
    }

    /// Edges, rings, adjacency, loops and components; built on first use and shared by all poses.
    #[must_use]
    pub fn topology(&self) -> &Topology {
        self.surface
            .topology
            .get_or_init(|| Topology::of(self.positions.len(), &self.surface.triangles))
    }

    /// Whether both are poses of one mesh: the same faces, at any positions.
    #[must_use]
    pub fn same_surface(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.surface, &other.surface)
            || (self.positions.len() == other.positions.len()
                && self.surface.face_starts == other.surface.face_starts
                && self.surface.corners == other.surface.corners)
    }

    /// The box around all finite vertices; `None` without any.
    #[must_use]
    pub fn bounds(&self) -> Option<Bounds> {
        Bounds::of(&self.positions)
    }

    /// The corners of one triangle in space.
    #[must_use]
    pub fn triangle_points(&self, triangle: usize) -> [DVec3; 3] {
        self.surface.triangles[triangle].map(|v| self.positions[v as usize])
    }

    /// Declines a mesh with NaN or infinite positions.
    pub fn require_finite(&self) -> Result<(), MeshError> {
        match self.positions.iter().position(|p| !p.is_finite()) {
            None => Ok(()),
            Some(vertex) => {
                let found = self.positions.iter().filter(|p| !p.is_finite()).count();
                Err(MeshError::NotFinite { vertex, found })
            }
        }
    }

    /// Declines a mesh without faces or with NaN positions.
    pub fn require_surface(&self) -> Result<(), MeshError> {
        self.require_finite()?;
        if self.surface.triangles.is_empty() {
            Err(MeshError::NoFaces)
        } else {
            Ok(())
        }
    }

    /// Declines a vertex index that the mesh does not have.
    pub fn require_vertex(&self, vertex: impl Into<VertexId>) -> Result<(), MeshError> {
        let vertex = vertex.into().index();
        let vertices = self.positions.len();
        if vertex < vertices {
            Ok(())
        } else {
            Err(MeshError::NoSuchVertex { vertex, vertices })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pentagon_and_triangle() -> MeshBuilder {
        let positions = (0..6)
            .map(|i| DVec3::new(f64::from(i), f64::from(i * i), 0.0))
            .collect();
        let mut builder = MeshBuilder {
            positions,
            ..Default::default()
        };

        builder.push_face(&[0, 1, 2, 3, 4]);
        builder.push_face(&[4, 5, 0]);
        builder
    }

    #[test]
    fn polygons_are_kept_beside_their_fan_triangulation() {
        let mesh = pentagon_and_triangle().build().unwrap();
        assert_eq!(mesh.face(0), &[0, 1, 2, 3, 4]);
        assert_eq!(
            mesh.triangles(),
            &[[0, 1, 2], [0, 2, 3], [0, 3, 4], [4, 5, 0]]
        );
        assert_eq!(mesh.triangle_faces(), &[0, 0, 0, 1]);
    }

    #[test]
    fn poses_share_one_topology() {
        let mesh = pentagon_and_triangle().build().unwrap();
        let pose = mesh
            .posed(mesh.positions().iter().map(|p| *p * 2.0).collect())
            .unwrap();
        assert!(std::ptr::eq(mesh.topology(), pose.topology()));
        assert!(mesh.same_surface(&pose));
    }

    #[test]
    fn the_error_names_a_face_with_a_missing_vertex() {
        let mut builder = pentagon_and_triangle();
        builder.push_face(&[0, 1, 9]);
        let message = builder.build().unwrap_err().to_string();
        assert!(
            message.contains("face 2")
                && message.contains("vertex 9")
                && message.contains("6 vertices"),
            "{message}"
        );
    }

    #[test]
    fn a_face_of_two_corners_is_declined() {
        let mut builder = pentagon_and_triangle();
        builder.push_face(&[0, 1]);
        assert_eq!(
            builder.build().unwrap_err(),
            MeshError::TooFewCorners {
                face: 2,
                corners: 2
            }
        );
    }

    #[test]
    fn a_pose_with_another_vertex_count_is_declined() {
        let mesh = pentagon_and_triangle().build().unwrap();
        assert!(matches!(
            mesh.posed(vec![DVec3::ZERO; 5]),
            Err(MeshError::Count {
                found: 5,
                expected: 6,
                ..
            })
        ));
    }

    #[test]
    fn the_error_names_a_label_or_uv_outside_its_list() {
        let mut builder = pentagon_and_triangle();
        builder.groups = FaceLabels {
            names: vec!["skin".into()],
            of_face: vec![0, 3],
        };

        assert_eq!(
            builder.build().unwrap_err(),
            MeshError::NoSuchValue {
                what: "the groups",
                index: 3,
                size: 1
            }
        );

        let mut builder = pentagon_and_triangle();
        builder.uv_layers.push(CornerLayer {
            name: String::new(),
            values: vec![DVec2::ZERO; 2],
            corners: vec![Some(2); 8],
        });

        assert_eq!(
            builder.build().unwrap_err(),
            MeshError::NoSuchValue {
                what: "a UV set",
                index: 2,
                size: 2
            }
        );
    }

    #[test]
    fn positions_that_are_not_finite_are_found_and_counted() {
        let mut builder = pentagon_and_triangle();
        builder.positions[3].y = f64::NAN;
        builder.positions[4].x = f64::INFINITY;

        assert_eq!(
            builder.build().unwrap().require_finite(),
            Err(MeshError::NotFinite {
                vertex: 3,
                found: 2
            })
        );
    }

    #[test]
    fn labels_are_stored_once_per_name() {
        let labels = FaceLabels::from_names(["skin", "skin", "eye", "skin"]);
        assert_eq!(
            labels,
            FaceLabels {
                names: vec!["skin".into(), "eye".into()],
                of_face: vec![0, 0, 1, 0]
            }
        );
    }
}
