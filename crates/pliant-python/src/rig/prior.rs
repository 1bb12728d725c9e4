//! Pose priors: which weights go together in known clips.

use numpy::{IntoPyArray, PyArray1};
use pliant::rig::{Interpolation, WeightTrack};
use pyo3::prelude::*;

use super::Rig;
use crate::arrays;
use crate::failure::{Failure, input_error};
use crate::work::run;

/// The second moments of the weights of known poses: an array of shape (f, s), and the names of its
/// columns. `Poser.grab(…, prior=prior)` then finds the most probable pose for the pins.
///
/// >>> prior = pliant.PosePrior([[1.0, 0.9], [0.5, 0.4], [0.0, 0.1]], ["smile", "cheek"])
/// >>> prior.energy([1.0, 1.0]) < prior.energy([1.0, 0.0])
/// True
#[pyclass(frozen, module = "pliant", from_py_object)]
#[derive(Clone)]
pub(crate) struct PosePrior {
    prior: pliant::rig::PosePrior,
    track: WeightTrack,
    names: Vec<String>,
}

impl PosePrior {
    /// The prior for the sliders of a rig, paired by name or meaning.
    pub(crate) fn prior_for(
        &self,
        rig: &pliant::rig::Rig,
    ) -> Result<pliant::rig::PosePrior, Failure> {
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        Ok(pliant::rig::PosePrior::learn_by_name(&names, &self.track, rig)?.0)
    }
}

/// Rows of weights as a track with a key for each row.
pub(crate) fn track(rows: Vec<Vec<f64>>) -> Result<WeightTrack, Failure> {
    let times = (0..rows.len()).map(|t| t as f64).collect();
    Ok(WeightTrack::new(times, rows, Interpolation::Linear)?)
}

#[pymethods]
impl PosePrior {
    #[new]
    #[pyo3(signature = (weights, names))]
    fn new(weights: &Bound<'_, PyAny>, names: Vec<String>) -> Result<Self, Failure> {
        let rows = arrays::rows("weights", weights)?;
        if let Some(row) = rows.iter().find(|row| row.len() != names.len()) {
            return Err(input_error(format!(
                "weights has {} columns for {} names; give one name for each",
                row.len(),
                names.len()
            )));
        }
        if rows.iter().flatten().any(|weight| !weight.is_finite()) {
            return Err(input_error(
                "weights holds NaN or infinity; give finite numbers",
            ));
        }
        let track = track(rows)?;
        Ok(Self {
            prior: pliant::rig::PosePrior::learn(&[&track])?,
            track,
            names,
        })
    }

    /// The names of the sliders.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    /// The mean weight of each slider, (s,).
    #[getter]
    fn mean<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.prior.mean().to_vec().into_pyarray(py)
    }

    /// How improbable weights (s,) are: half of their squared length in the metric of the prior.
    fn energy(&self, weights: &Bound<'_, PyAny>) -> Result<f64, Failure> {
        let count = self.prior.slider_count();
        let weights = arrays::numbers_for("weights", weights, count, "sliders")?;
        Ok(self.prior.energy(&weights))
    }

    /// Whether the prior knows sliders of a rig; without one in common it declines.
    fn fits(&self, py: Python<'_>, rig: &Rig) -> bool {
        run(py, || Ok(self.prior_for(&rig.rig).is_ok())).unwrap_or(false)
    }

    fn __repr__(&self) -> String {
        format!(
            "<pliant.PosePrior: {} poses of {} sliders>",
            self.prior.pose_count(),
            self.prior.slider_count()
        )
    }
}
