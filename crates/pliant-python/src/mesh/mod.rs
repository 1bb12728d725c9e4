//! Meshes.
//!
//! - `box_quadratic`: quadratic programs with limits.
//! - `geodesics`: distances along the surface.
//! - `operators`: Laplacians, gradients and linear systems.
//! - `remeshing`: finer and coarser meshes.
//! - `surface_index`: closest points and rays.

pub(crate) mod box_quadratic;
pub(crate) mod geodesics;
pub(crate) mod operators;
pub(crate) mod remeshing;
pub(crate) mod surface_index;

use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1, PyArray2};
use pliant::io::Stored;
use pliant::mesh::{MeshBuilder, MeshReport, vertex_normals};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::arrays::{self, index_array, points_array, triangle_array};
use crate::failure::Failure;
use crate::work::run;

/// A mesh of polygons: positions (n, 3), and faces as an array of shape (m, corners) or a list of lists.
///
/// Faces may have any number of corners; operators use their fan triangulation, `triangles`.
///
/// >>> mesh = pliant.Mesh([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], [[0, 1, 2, 3]])
/// >>> mesh.triangles.tolist(), mesh.area()
/// ([[0, 1, 2], [0, 2, 3]], 1.0)
#[pyclass(frozen, module = "pliant", from_py_object)]
#[derive(Clone)]
pub(crate) struct Mesh {
    pub(crate) mesh: Arc<pliant::mesh::Mesh>,
}

impl Mesh {
    pub(crate) fn of(mesh: pliant::mesh::Mesh) -> Self {
        Self {
            mesh: Arc::new(mesh),
        }
    }
}

/// A mesh from arrays, for this module and for rigs.
pub(crate) fn mesh_from_arrays(
    positions: &Bound<'_, PyAny>,
    faces: &Bound<'_, PyAny>,
    name: &str,
) -> Result<pliant::mesh::Mesh, Failure> {
    let positions = arrays::points("positions", positions)?.into_vec();
    let polygons = arrays::polygons("faces", faces)?;
    let builder = MeshBuilder {
        name: name.to_owned(),
        positions,
        face_sizes: polygons.sizes,
        corners: polygons.corners,
        ..MeshBuilder::default()
    };
    Ok(builder.build()?)
}

#[pymethods]
impl Mesh {
    #[new]
    #[pyo3(signature = (positions, faces, *, name=""))]
    fn new(
        positions: &Bound<'_, PyAny>,
        faces: &Bound<'_, PyAny>,
        name: &str,
    ) -> Result<Self, Failure> {
        Ok(Self::of(mesh_from_arrays(positions, faces, name)?))
    }

    /// The name.
    #[getter]
    fn name(&self) -> &str {
        self.mesh.name()
    }

    /// Positions of the vertices, (n, 3).
    #[getter]
    fn positions<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray2<f64>>, Failure> {
        points_array(py, self.mesh.positions().to_vec())
    }

    /// The vertices of each face, as lists.
    #[getter]
    fn faces(&self) -> Vec<Vec<u32>> {
        self.mesh.faces().map(<[u32]>::to_vec).collect()
    }

    /// The fan triangulation of the faces, (m, 3).
    #[getter]
    fn triangles<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray2<i64>>, Failure> {
        triangle_array(py, self.mesh.triangles())
    }

    /// The face of each triangle, (m,).
    #[getter]
    fn triangle_faces<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        index_array(py, self.mesh.triangle_faces().iter().copied())
    }

    /// The number of vertices.
    #[getter]
    fn vertex_count(&self) -> usize {
        self.mesh.vertex_count()
    }

    /// The number of faces.
    #[getter]
    fn face_count(&self) -> usize {
        self.mesh.face_count()
    }

    /// The same faces at other positions, (n, 3).
    fn posed(&self, positions: &Bound<'_, PyAny>) -> Result<Self, Failure> {
        let positions = arrays::points("positions", positions)?.into_vec();
        Ok(Self::of(self.mesh.posed(positions)?))
    }

    /// The area of all triangles, in squared units of the mesh.
    fn area(&self) -> f64 {
        self.mesh.area()
    }

    /// The volume of a closed mesh; negative where faces point inwards.
    fn signed_volume(&self) -> f64 {
        self.mesh.signed_volume()
    }

    /// The mean length of the edges of the triangles.
    fn mean_edge_length(&self) -> f64 {
        self.mesh.mean_edge_length()
    }

    /// Unit normals of the vertices, (n, 3).
    fn vertex_normals<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray2<f64>>, Failure> {
        let normals = run(py, || Ok(vertex_normals(&self.mesh)))?;
        points_array(py, normals)
    }

    /// The connected component of each vertex, (n,), counted from 0.
    fn vertex_components<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        index_array(
            py,
            self.mesh.topology().component_of_vertex().iter().copied(),
        )
    }

    /// One value per triangle, (m,), as area-weighted means at the vertices, (n,).
    fn vertex_means<'py>(
        &self,
        py: Python<'py>,
        of_triangles: &Bound<'py, PyAny>,
    ) -> Result<Bound<'py, PyArray1<f64>>, Failure> {
        let count = self.mesh.triangles().len();
        let values = arrays::numbers_for("of_triangles", of_triangles, count, "triangles")?;
        Ok(self.mesh.vertex_means(&values).into_pyarray(py))
    }

    /// Counts of components, holes, non-manifold edges and other faults, as a dictionary.
    fn report<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>, Failure> {
        let report = run(py, || Ok(MeshReport::of(&self.mesh)))?;
        let found = PyDict::new(py);
        found.set_item("components", report.components)?;
        found.set_item("boundary_loops", report.boundary_loops)?;
        found.set_item("non_manifold_edges", report.non_manifold_edges)?;
        found.set_item("non_manifold_vertices", report.non_manifold_vertices)?;
        found.set_item("degenerate_triangles", report.degenerate_triangles)?;
        found.set_item("duplicate_triangles", report.duplicate_triangles)?;
        found.set_item("unused_vertices", report.unused_vertices)?;
        found.set_item("flipped_edges", report.flipped_edges)?;
        found.set_item("not_finite_vertices", report.not_finite_vertices)?;
        found.set_item("problems", report.problems())?;
        Ok(found)
    }

    /// All of it as bytes, exactly; `from_bytes` makes it again. For caches and other processes, not for
    /// keeping work: save files for that.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyBytes>, Failure> {
        let bytes = run(py, || Ok(self.mesh.to_bytes()))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// What `to_bytes` stored.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> Result<Self, Failure> {
        let stored = run(py, || Ok(pliant::mesh::Mesh::from_bytes(bytes)?))?;
        Ok(Self::of(stored))
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> Result<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,)), Failure> {
        let make = py.get_type::<Self>().getattr("from_bytes")?;
        Ok((make, (self.to_bytes(py)?,)))
    }

    /// A viewer for notebooks: see `pliant.view`.
    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyAny>, Failure> {
        let notebook = slf.py().import("pliant.notebook")?;
        Ok(notebook.call_method1("html_of", (slf,))?)
    }

    fn __repr__(&self) -> String {
        let [vertices, faces] = [self.mesh.vertex_count(), self.mesh.face_count()];
        format!("<pliant.Mesh: {vertices} vertices, {faces} faces>")
    }
}
