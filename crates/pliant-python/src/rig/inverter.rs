//! The inverse rig: slider weights of a clip.

use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1, PyArray2};
use pliant::rig::InvertOptions;
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};

use super::Rig;
use crate::arrays::{self, rows_array};
use crate::clip::Clip;
use crate::failure::Failure;
use crate::report::{from_python, to_python};
use crate::work::{run_long, run_unwatched};

/// A rig prepared for the inverse problem.
///
/// >>> rig = pliant.load("specimen:head").rig()
/// >>> clip = pliant.Clip(rig.neutral, rig.evaluate({"jawOpen": 0.5})[None])
/// >>> inverse = pliant.Inverter(rig).invert(clip)
/// >>> round(inverse.weights[0, rig.names.index("jawOpen")], 2)
/// np.float64(0.5)
#[pyclass(frozen, module = "pliant")]
pub(crate) struct Inverter {
    inverter: Arc<pliant::rig::Inverter>,
}

#[pymethods]
impl Inverter {
    #[new]
    #[pyo3(signature = (rig, *, ridge=None, sparsity=None, roughness=None, tolerance=None, align=false))]
    fn new(
        py: Python<'_>,
        rig: &Rig,
        ridge: Option<f64>,
        sparsity: Option<f64>,
        roughness: Option<f64>,
        tolerance: Option<f64>,
        align: bool,
    ) -> Result<Self, Failure> {
        let mut options = InvertOptions::default().with_align(align);
        if let Some(ridge) = ridge {
            options = options.with_ridge(ridge);
        }
        if let Some(sparsity) = sparsity {
            options = options.with_sparsity(sparsity);
        }
        if let Some(roughness) = roughness {
            options = options.with_roughness(roughness);
        }
        if let Some(tolerance) = tolerance {
            options = options.with_tolerance(tolerance);
        }
        let rig = Arc::clone(&rig.rig);
        let inverter = run_unwatched(py, move || {
            Ok(pliant::rig::Inverter::factor(&rig, &options)?)
        })?;
        Ok(Self {
            inverter: Arc::new(inverter),
        })
    }

    /// The weights of a clip.
    #[pyo3(signature = (clip, *, progress=None))]
    fn invert(
        &self,
        py: Python<'_>,
        clip: &Clip,
        progress: Option<Bound<'_, PyAny>>,
    ) -> Result<Inverse, Failure> {
        let inverter = Arc::clone(&self.inverter);
        let clip = Arc::clone(&clip.clip);
        let inverse = run_long(py, progress, move |progress| {
            Ok(inverter.invert_with_progress(&clip, progress)?)
        })?;
        Ok(Inverse::of(inverse))
    }
}

/// The weights of a clip.
#[pyclass(frozen, module = "pliant")]
pub(crate) struct Inverse {
    weights: Vec<Vec<f64>>,
    report: Report,
}

/// How the solve ended.
#[derive(Clone, Serialize, Deserialize)]
struct Report {
    rms: Vec<f64>,
    sweeps: usize,
    linearisations: usize,
    largest_change: f64,
    converged: bool,
    objective: f64,
    kkt: f64,
    noise: Option<f64>,
    sparsity: f64,
    roughness: f64,
}

impl Inverse {
    fn of(inverse: pliant::rig::Inverse) -> Self {
        let report = inverse.report;
        Self {
            weights: inverse.track.keys().to_vec(),
            report: Report {
                rms: report.rms,
                sweeps: report.sweeps,
                linearisations: report.linearisations,
                largest_change: report.largest_change,
                converged: report.converged,
                objective: report.objective,
                kkt: report.kkt,
                noise: report.noise,
                sparsity: report.sparsity,
                roughness: report.roughness,
            },
        }
    }
}

#[pymethods]
impl Inverse {
    /// Weights, (frames, sliders).
    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray2<f64>>, Failure> {
        rows_array(py, &self.weights, self.weights.first().map_or(0, Vec::len))
    }

    /// The root mean square error of each frame over the surface, in units of the asset.
    #[getter]
    fn rms<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.report.rms.clone().into_pyarray(py)
    }

    /// Whether the last sweep changed no weight by more than the tolerance.
    #[getter]
    fn converged(&self) -> bool {
        self.report.converged
    }

    /// The largest KKT residual of any frame, relative to the largest force on a slider.
    #[getter]
    fn kkt(&self) -> f64 {
        self.report.kkt
    }

    /// How the solve ended: `rms`, `sweeps`, `linearisations`, `largest_change`, `converged`, `objective`,
    /// `kkt`, and the `noise`, `sparsity` and `roughness` that were found or given.
    fn report<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>, Failure> {
        to_python(py, &self.report)
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> Result<(Bound<'py, PyAny>, InverseState<'py>), Failure> {
        let make = py.get_type::<Self>().getattr("_restored")?;
        Ok((make, (self.weights(py)?, self.report(py)?)))
    }

    /// What `__reduce__` stored.
    #[staticmethod]
    fn _restored(weights: &Bound<'_, PyAny>, report: &Bound<'_, PyAny>) -> Result<Self, Failure> {
        Ok(Self {
            weights: arrays::rows("weights", weights)?,
            report: from_python("report", report)?,
        })
    }

    fn __repr__(&self) -> String {
        format!("<pliant.Inverse: {} frames>", self.weights.len())
    }
}

/// The weights and the report of a pickled inverse.
type InverseState<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyAny>);
