//! Finer, coarser and smoother meshes.

use std::sync::Arc;

use numpy::{PyArray1, PyArray2};
use pliant::mesh::{
    DecimationBudget, DecimationOptions, LoopWeights, SmoothingBoundary, SmoothingOptions,
    SmoothingWeights, VertexPlacement,
};
use pyo3::prelude::*;

use super::Mesh;
use crate::arrays::{self, index_array, points_array};
use crate::failure::{Failure, input_error};
use crate::report::choice;
use crate::work::{run, run_long, run_unwatched};

/// Loop subdivision, computed once for a mesh and applied to any pose.
///
/// >>> mesh = pliant.Mesh([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], [[0, 1, 2, 3]])
/// >>> pliant.LoopSubdivision(mesh, 2).mesh.vertex_count
/// 25
#[pyclass(frozen, module = "pliant")]
pub(crate) struct LoopSubdivision {
    subdivision: pliant::mesh::LoopSubdivision,
    coarse: usize,
}

/// A subdivision with more triangles would need over ten gigabytes.
const MOST_TRIANGLES: usize = 50_000_000;

/// Positions of a mesh of that many vertices.
pub(crate) fn positions_of(
    what: &str,
    positions: &Bound<'_, PyAny>,
    vertices: usize,
) -> Result<arrays::Points, Failure> {
    let positions = arrays::points(what, positions)?;
    let found = positions.as_slice().len();
    if found != vertices {
        return Err(input_error(format!(
            "{what} has {found} rows for a mesh of {vertices} vertices; give one for each"
        )));
    }
    Ok(positions)
}

#[pymethods]
impl LoopSubdivision {
    #[new]
    #[pyo3(signature = (mesh, levels=1, *, weights="loop"))]
    fn new(py: Python<'_>, mesh: &Mesh, levels: usize, weights: &str) -> Result<Self, Failure> {
        let weights = choice(
            "weights",
            weights,
            &[("loop", LoopWeights::Loop), ("warren", LoopWeights::Warren)],
        )?;
        let mesh = Arc::clone(&mesh.mesh);
        // Each level makes four triangles of one.
        let growth = u32::try_from(levels).map_or(None, |levels| 4_usize.checked_pow(levels));
        let triangles = growth.and_then(|growth| growth.checked_mul(mesh.triangles().len()));
        if triangles.is_none_or(|triangles| triangles > MOST_TRIANGLES) {
            return Err(input_error(format!(
                "levels is {levels}; the mesh would have over {MOST_TRIANGLES} triangles, give fewer levels"
            )));
        }
        let coarse = mesh.vertex_count();
        let subdivision = run_unwatched(py, move || {
            Ok(pliant::mesh::LoopSubdivision::with_weights(
                &mesh, levels, weights,
            )?)
        })?;
        Ok(Self {
            subdivision,
            coarse,
        })
    }

    /// The resulting mesh.
    #[getter]
    fn mesh(&self) -> Mesh {
        Mesh::of(self.subdivision.mesh().clone())
    }

    /// The refined positions of a coarse pose.
    fn apply<'py>(
        &self,
        py: Python<'py>,
        positions: &Bound<'py, PyAny>,
    ) -> Result<Bound<'py, PyArray2<f64>>, Failure> {
        let positions = positions_of("positions", positions, self.coarse)?;
        let positions = positions.as_slice();
        let refined = run(py, || Ok(self.subdivision.apply(positions)))?;
        points_array(py, refined)
    }
}

/// A coarse mesh and its relation to the original.
///
/// >>> bar = pliant.load("specimen:bar").mesh()
/// >>> coarse = pliant.Decimation(bar, vertices=500)
/// >>> coarse.mesh.vertex_count, coarse.prolong(coarse.mesh.positions).shape == bar.positions.shape
/// (500, True)
#[pyclass(frozen, module = "pliant")]
pub(crate) struct Decimation {
    decimation: pliant::mesh::Decimation,
}

#[pymethods]
impl Decimation {
    /// Collapses edges until so many vertices or triangles are left. `poses` are kept as well as the
    /// mesh itself.
    #[new]
    #[pyo3(signature = (mesh, *, vertices=None, triangles=None, placement="optimal", poses=None, kept=None, progress=None))]
    #[expect(
        clippy::too_many_arguments,
        reason = "options are keywords of one call"
    )]
    fn new(
        py: Python<'_>,
        mesh: &Mesh,
        vertices: Option<usize>,
        triangles: Option<usize>,
        placement: &str,
        poses: Option<&Bound<'_, PyAny>>,
        kept: Option<&Bound<'_, PyAny>>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> Result<Self, Failure> {
        let budget = match (vertices, triangles) {
            (Some(vertices), None) => DecimationBudget::Vertices(vertices),
            (None, Some(triangles)) => DecimationBudget::Triangles(triangles),
            _ => return Err(input_error("give a number of vertices or of triangles")),
        };
        let placements = [
            ("optimal", VertexPlacement::Optimal),
            ("subset", VertexPlacement::Subset),
        ];
        let mut options = DecimationOptions::default().with_placement(choice(
            "placement",
            placement,
            &placements,
        )?);
        if let Some(poses) = poses {
            options = options.with_poses(arrays::poses("poses", poses)?);
        }
        if let Some(kept) = kept {
            options = options.with_kept(arrays::indices("kept", kept)?);
        }
        let mesh = Arc::clone(&mesh.mesh);
        let decimation = run_long(py, progress, move |progress| {
            Ok(mesh.decimated_with_progress(budget, &options, progress)?)
        })?;
        Ok(Self { decimation })
    }

    /// The resulting mesh.
    #[getter]
    fn mesh(&self) -> Mesh {
        Mesh::of(self.decimation.mesh().clone())
    }

    /// The original vertex that each coarse vertex comes from.
    #[getter]
    fn sources<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        index_array(py, self.decimation.sources().iter().copied())
    }

    /// Whether the number of vertices or triangles was reached.
    #[getter]
    fn budget_met(&self) -> bool {
        self.decimation.budget_met()
    }

    /// The largest distance between both surfaces at the vertices, in units of the mesh.
    #[getter]
    fn deviation(&self) -> f64 {
        self.decimation.deviation()
    }

    /// Original vertices on the coarse surface of any coarse pose.
    fn prolong<'py>(
        &self,
        py: Python<'py>,
        coarse: &Bound<'py, PyAny>,
    ) -> Result<Bound<'py, PyArray2<f64>>, Failure> {
        let coarse = positions_of("coarse", coarse, self.decimation.mesh().vertex_count())?;
        let coarse = coarse.as_slice();
        let fine = run(py, || Ok(self.decimation.prolong(coarse)))?;
        points_array(py, fine)
    }
}

const SMOOTHING_WEIGHTS: [(&str, SmoothingWeights); 2] = [
    ("uniform", SmoothingWeights::Uniform),
    ("inverse-length", SmoothingWeights::InverseLength),
];
const SMOOTHING_BOUNDARIES: [(&str, SmoothingBoundary); 3] = [
    ("fixed", SmoothingBoundary::Fixed),
    ("along-curve", SmoothingBoundary::AlongCurve),
    ("free", SmoothingBoundary::Free),
];

/// Smoothing, computed once for a mesh and applied to any pose. `pass_band` keeps the volume (Taubin 1995).
///
/// >>> bar = pliant.load("specimen:bar:coarse").mesh()
/// >>> smooth = pliant.Smoother(bar, iterations=10).smooth(bar.positions)
/// >>> bar.posed(smooth).area() < bar.area()
/// True
#[pyclass(frozen, module = "pliant")]
pub(crate) struct Smoother {
    smoother: pliant::mesh::Smoother,
    vertices: usize,
}

#[pymethods]
impl Smoother {
    #[new]
    #[pyo3(signature = (mesh, *, iterations=SmoothingOptions::DEFAULT_ITERATIONS, step=SmoothingOptions::DEFAULT_STEP, pass_band=None, weights="uniform", boundary="fixed"))]
    fn new(
        py: Python<'_>,
        mesh: &Mesh,
        iterations: usize,
        step: f64,
        pass_band: Option<f64>,
        weights: &str,
        boundary: &str,
    ) -> Result<Self, Failure> {
        let mut options = SmoothingOptions::default()
            .with_iterations(iterations)
            .with_step(step)
            .with_weights(choice("weights", weights, &SMOOTHING_WEIGHTS)?)
            .with_boundary(choice("boundary", boundary, &SMOOTHING_BOUNDARIES)?);
        if let Some(band) = pass_band {
            options = options.with_pass_band(band);
        }
        let smoother = run(py, || Ok(pliant::mesh::Smoother::of(&mesh.mesh, &options)?))?;
        Ok(Self {
            smoother,
            vertices: mesh.mesh.vertex_count(),
        })
    }

    /// The smoothed positions of a pose, (n, 3).
    fn smooth<'py>(
        &self,
        py: Python<'py>,
        positions: &Bound<'py, PyAny>,
    ) -> Result<Bound<'py, PyArray2<f64>>, Failure> {
        let positions = positions_of("positions", positions, self.vertices)?;
        let smoothed = run(py, || Ok(self.smoother.smooth(positions.as_slice())))?;
        points_array(py, smoothed)
    }
}
