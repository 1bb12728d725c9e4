//! Closest points, rays and what is inside.

use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pliant::linalg::parallel;
use pliant::mesh::TrianglePoint;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::Mesh;
use crate::arrays::{self, index_array, points_array};
use crate::failure::{Failure, input_error};
use crate::work::run_unwatched;

/// Rays or winding numbers of one task of a loop.
const RAYS: usize = 64;

/// A surface prepared for queries.
///
/// >>> mesh = pliant.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
/// >>> index = pliant.SurfaceIndex(mesh)
/// >>> index.closest_points([[0.25, 0.25, 2.0]])["distances"].tolist()
/// [2.0]
#[pyclass(frozen, module = "pliant")]
pub(crate) struct SurfaceIndex {
    index: Arc<pliant::mesh::SurfaceIndex>,
}

fn places<'py>(
    py: Python<'py>,
    found: &Bound<'py, PyDict>,
    places: &[TrianglePoint],
) -> Result<(), Failure> {
    found.set_item(
        "triangles",
        index_array(py, places.iter().map(|place| place.triangle)),
    )?;
    let barycentric: Vec<f64> = places.iter().flat_map(|place| place.barycentric).collect();
    let barycentric: Bound<'py, PyArray2<f64>> =
        barycentric.into_pyarray(py).reshape([places.len(), 3])?;
    Ok(found.set_item("barycentric", barycentric)?)
}

#[pymethods]
impl SurfaceIndex {
    #[new]
    fn new(py: Python<'_>, mesh: &Mesh) -> Result<Self, Failure> {
        let mesh = Arc::clone(&mesh.mesh);
        let index = run_unwatched(py, move || Ok(pliant::mesh::SurfaceIndex::new(&mesh)?))?;
        Ok(Self {
            index: Arc::new(index),
        })
    }

    /// For each query the closest point: `points`, `distances`, `triangles`, `barycentric`.
    fn closest_points<'py>(
        &self,
        py: Python<'py>,
        queries: &Bound<'py, PyAny>,
    ) -> Result<Bound<'py, PyDict>, Failure> {
        let queries = arrays::points("queries", queries)?.into_vec();
        let index = Arc::clone(&self.index);
        let closest = run_unwatched(py, move || Ok(index.closest_points(&queries)?))?;
        let found = PyDict::new(py);
        found.set_item(
            "points",
            points_array(py, closest.iter().map(|c| c.point).collect())?,
        )?;
        let distances: Vec<f64> = closest.iter().map(|c| c.distance).collect();
        found.set_item("distances", distances.into_pyarray(py))?;
        places(
            py,
            &found,
            &closest.iter().map(|c| c.place).collect::<Vec<_>>(),
        )?;
        Ok(found)
    }

    /// For each ray the distance to its first hit, infinity without one, and the triangle or -1.
    #[expect(clippy::type_complexity, reason = "a tuple of arrays")]
    fn cast_rays<'py>(
        &self,
        py: Python<'py>,
        origins: &Bound<'py, PyAny>,
        directions: &Bound<'py, PyAny>,
    ) -> Result<(Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<i64>>), Failure> {
        let origins = arrays::points("origins", origins)?.into_vec();
        let directions = arrays::points("directions", directions)?.into_vec();
        if origins.len() != directions.len() {
            return Err(input_error(format!(
                "directions has {} rows for {} origins; give one for each",
                directions.len(),
                origins.len()
            )));
        }
        let index = Arc::clone(&self.index);
        let hits = run_unwatched(py, move || {
            Ok(parallel::map(origins.len(), RAYS, |k| {
                index.cast_ray(origins[k], directions[k], f64::INFINITY)
            }))
        })?;
        let distances: Vec<f64> = hits
            .iter()
            .map(|hit| hit.as_ref().map_or(f64::INFINITY, |hit| hit.distance))
            .collect();
        let triangles: Vec<i64> = hits
            .iter()
            .map(|hit| hit.as_ref().map_or(-1, |hit| i64::from(hit.place.triangle)))
            .collect();
        Ok((distances.into_pyarray(py), triangles.into_pyarray(py)))
    }

    /// How often the surface winds around each query: 1 inside a closed surface, 0 outside.
    fn winding_numbers<'py>(
        &self,
        py: Python<'py>,
        queries: &Bound<'py, PyAny>,
    ) -> Result<Bound<'py, PyArray1<f64>>, Failure> {
        let queries = arrays::points("queries", queries)?.into_vec();
        let index = Arc::clone(&self.index);
        let numbers = run_unwatched(py, move || {
            Ok(parallel::map(queries.len(), RAYS, |k| {
                index.winding_number(queries[k])
            }))
        })?;
        Ok(numbers.into_pyarray(py))
    }
}
