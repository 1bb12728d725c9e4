//! The residual layer: a displacement on top of the sliders for goals that no slider reaches.

use numpy::{PyArray1, PyArray2};
use pliant::mesh::SurfacePoint;
use pliant::rig::ResidualOptions;
use pyo3::prelude::*;

use super::Rig;
use crate::arrays::{self, index_array, points_array};
use crate::failure::{Failure, input_error};
use crate::mesh::Mesh;
use crate::work::{run, run_unwatched};

/// The disc around pins of a mesh, factored for any residuals. `radius` is a distance along the surface,
/// in units of the mesh; by default 12 % of the diagonal.
///
/// >>> mesh = pliant.load("specimen:head").mesh()
/// >>> layer = pliant.ResidualLayer(mesh, [4480])
/// >>> residual = layer.solve([[0, 0.5, 0]])
/// >>> (residual.apply(mesh.positions) - mesh.positions)[4480].round(6).tolist()
/// [0.0, 0.5, 0.0]
#[pyclass(frozen, module = "pliant")]
pub(crate) struct ResidualLayer {
    layer: pliant::rig::ResidualLayer,
}

#[pymethods]
impl ResidualLayer {
    #[new]
    #[pyo3(signature = (mesh, pins, *, radius=None, bending_length=ResidualOptions::DEFAULT_BENDING_LENGTH, iterations=ResidualOptions::DEFAULT_ITERATIONS))]
    fn new(
        py: Python<'_>,
        mesh: &Mesh,
        pins: &Bound<'_, PyAny>,
        radius: Option<f64>,
        bending_length: f64,
        iterations: usize,
    ) -> Result<Self, Failure> {
        let pins = arrays::indices("pins", pins)?;
        let pins: Vec<_> = pins.into_iter().map(SurfacePoint::Vertex).collect();
        let options = ResidualOptions::default()
            .with_bending_length(bending_length)
            .with_iterations(iterations);
        let mesh = std::sync::Arc::clone(&mesh.mesh);
        let layer = run_unwatched(py, move || {
            let positions = mesh.positions();
            let radius = radius.unwrap_or_else(|| {
                pliant::rig::ResidualLayer::suggested_radius(&mesh, positions, &[])
            });
            Ok(pliant::rig::ResidualLayer::factor(
                &mesh, positions, &pins, radius, &options,
            )?)
        })?;
        Ok(Self { layer })
    }

    /// The vertices that may move, ascending.
    #[getter]
    fn vertices<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        index_array(py, self.layer.vertices().iter().copied())
    }

    /// The residual that moves each pin by its row of `residuals`, (p, 3).
    fn solve(&self, py: Python<'_>, residuals: &Bound<'_, PyAny>) -> Result<Residual, Failure> {
        let residuals = arrays::points("residuals", residuals)?;
        let residuals = residuals.as_slice();
        let (residual, report) = run(py, || Ok(self.layer.residual(residuals)?))?;
        Ok(Residual { residual, report })
    }

    fn __repr__(&self) -> String {
        format!(
            "<pliant.ResidualLayer: {} vertices>",
            self.layer.vertices().len()
        )
    }
}

/// A displacement that turns with the surface under it.
#[pyclass(frozen, module = "pliant")]
pub(crate) struct Residual {
    residual: pliant::rig::Residual,
    report: pliant::rig::ResidualReport,
}

#[pymethods]
impl Residual {
    /// The vertices that move, ascending.
    #[getter]
    fn vertices<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        index_array(py, self.residual.vertices().iter().copied())
    }

    /// Their displacements on the pose of the layer, (k, 3).
    #[getter]
    fn displacements<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray2<f64>>, Failure> {
        points_array(py, self.residual.displacements().to_vec())
    }

    /// Whether the solve converged.
    #[getter]
    fn converged(&self) -> bool {
        self.report.converged
    }

    /// The positions (n, 3) of any pose with the residual on it, turned with the surface, times `strength`.
    #[pyo3(signature = (positions, strength=1.0))]
    fn apply<'py>(
        &self,
        py: Python<'py>,
        positions: &Bound<'py, PyAny>,
        strength: f64,
    ) -> Result<Bound<'py, PyArray2<f64>>, Failure> {
        let mut positions = arrays::points("positions", positions)?.into_vec();
        if !strength.is_finite() {
            return Err(input_error(format!(
                "strength is {strength}; give a finite number"
            )));
        }
        let positions = run(py, || {
            self.residual.apply_to(&mut positions, strength)?;
            Ok(positions)
        })?;
        points_array(py, positions)
    }

    /// The rig with this residual as a new target, which reaches it at `weight`.
    #[pyo3(signature = (rig, name, *, weight=1.0))]
    fn promote(&self, py: Python<'_>, rig: &Rig, name: &str, weight: f64) -> Result<Rig, Failure> {
        let target = self.residual.to_target(name, weight)?;
        let changed = run(py, || {
            let mut targets = rig.rig.targets().to_vec();
            targets.push(target);
            Ok(rig.rig.with_targets(targets)?)
        })?;
        Ok(Rig::of(changed))
    }

    fn __repr__(&self) -> String {
        format!(
            "<pliant.Residual: {} vertices>",
            self.residual.vertices().len()
        )
    }
}
