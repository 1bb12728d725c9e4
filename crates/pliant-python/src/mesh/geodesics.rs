//! Distances along a surface: the heat method, factored once, and exact polyhedral distances.

use std::sync::{Arc, Mutex};

use numpy::{IntoPyArray, PyArray1};
use pliant::mesh::{HeatOptions, HeatVariant, SurfacePoint};
use pyo3::prelude::*;

use super::Mesh;
use crate::arrays::{self, index_array};
use crate::failure::{Failure, input_error};
use crate::report::choice;
use crate::work::{run, run_long, run_unwatched};

/// Distances along a surface by the heat method, factored once for a mesh.
///
/// >>> mesh = pliant.Mesh([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], [[0, 1, 2, 3]])
/// >>> pliant.HeatGeodesics(mesh).distances(0).shape
/// (4,)
#[pyclass(frozen, module = "pliant")]
pub(crate) struct HeatGeodesics {
    heat: pliant::mesh::HeatGeodesics,
}

/// A vertex, or a list of vertices.
fn sources(sources: &Bound<'_, PyAny>) -> Result<Vec<SurfacePoint>, Failure> {
    let vertices = arrays::one_or_more_indices("sources", sources)?;
    Ok(vertices.into_iter().map(SurfacePoint::Vertex).collect())
}

#[pymethods]
impl HeatGeodesics {
    #[new]
    #[pyo3(signature = (mesh, *, variant="anchored", time_factor=None))]
    fn new(
        py: Python<'_>,
        mesh: &Mesh,
        variant: &str,
        time_factor: Option<f64>,
    ) -> Result<Self, Failure> {
        let variants = [
            ("anchored", HeatVariant::Anchored),
            ("published", HeatVariant::Published),
        ];
        let mut options =
            HeatOptions::default().with_variant(choice("variant", variant, &variants)?);
        if let Some(factor) = time_factor {
            options = options.with_time_factor(factor);
        }
        let mesh = Arc::clone(&mesh.mesh);
        let heat = run_unwatched(py, move || {
            Ok(pliant::mesh::HeatGeodesics::factor(&mesh, &options)?)
        })?;
        Ok(Self { heat })
    }

    /// The distance of each vertex, (n,), from a vertex or the nearest of several; infinity on
    /// components without a source.
    fn distances<'py>(
        &self,
        py: Python<'py>,
        sources: &Bound<'py, PyAny>,
    ) -> Result<Bound<'py, PyArray1<f64>>, Failure> {
        let sources = self::sources(sources)?;
        let distances = run(py, || Ok(self.heat.distances(&sources)?))?;
        Ok(distances.into_pyarray(py))
    }
}

/// Exact distances on the polyhedron.
///
/// >>> mesh = pliant.Mesh([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], [[0, 1, 2, 3]])
/// >>> pliant.ExactGeodesics(mesh).distances([0]).round(3).tolist()
/// [0.0, 1.0, 1.414, 1.0]
#[pyclass(frozen, module = "pliant")]
pub(crate) struct ExactGeodesics {
    exact: Arc<Mutex<pliant::mesh::ExactGeodesics>>,
}

/// The vertices of a disc, and their distances.
type Disc<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>);

#[pymethods]
impl ExactGeodesics {
    #[new]
    fn new(py: Python<'_>, mesh: &Mesh) -> Result<Self, Failure> {
        let mesh = Arc::clone(&mesh.mesh);
        let exact = run_unwatched(py, move || Ok(pliant::mesh::ExactGeodesics::new(&mesh)?))?;
        Ok(Self {
            exact: Arc::new(Mutex::new(exact)),
        })
    }

    /// The distance of each vertex, (n,), from a vertex or the nearest of several; infinity on
    /// components without a source.
    #[pyo3(signature = (sources, *, progress=None))]
    fn distances<'py>(
        &self,
        py: Python<'py>,
        sources: &Bound<'py, PyAny>,
        progress: Option<Bound<'py, PyAny>>,
    ) -> Result<Bound<'py, PyArray1<f64>>, Failure> {
        let sources = self::sources(sources)?;
        let exact = Arc::clone(&self.exact);
        let distances = run_long(py, progress, move |watch| {
            let mut exact = watch.lock(&exact)?;
            Ok(exact.distances_with_progress(&sources, watch)?)
        })?;
        Ok(distances.into_pyarray(py))
    }

    /// Vertices within `radius` of the sources, ascending, and their distances.
    #[pyo3(signature = (sources, radius, *, progress=None))]
    fn disc<'py>(
        &self,
        py: Python<'py>,
        sources: &Bound<'py, PyAny>,
        radius: f64,
        progress: Option<Bound<'py, PyAny>>,
    ) -> Result<Disc<'py>, Failure> {
        let sources = self::sources(sources)?;
        let exact = Arc::clone(&self.exact);
        let disc = run_long(py, progress, move |watch| {
            let mut exact = watch.lock(&exact)?;
            Ok(exact.disc_with_progress(&sources, radius, watch)?)
        })?;
        Ok((
            index_array(py, disc.vertices),
            disc.distances.into_pyarray(py),
        ))
    }
}

/// The vertices on the shortest path over edges, both ends included; `None` where no path exists.
///
/// >>> bar = pliant.load("specimen:bar:coarse").mesh()
/// >>> path = pliant.edge_path(bar, 0, 5)
/// >>> int(path[0]), int(path[-1])
/// (0, 5)
#[pyfunction]
pub(crate) fn edge_path<'py>(
    py: Python<'py>,
    mesh: &Mesh,
    start: u32,
    end: u32,
) -> Result<Option<Bound<'py, PyArray1<i64>>>, Failure> {
    let count = mesh.mesh.vertex_count();
    for vertex in [start, end] {
        if vertex as usize >= count {
            return Err(input_error(format!(
                "vertex {vertex} does not exist; the mesh has {count}, counted from 0"
            )));
        }
    }
    let path = run(py, || Ok(pliant::mesh::edge_path(&mesh.mesh, start, end)))?;
    Ok(path.map(|path| arrays::index_array(py, std::iter::once(start).chain(path))))
}
