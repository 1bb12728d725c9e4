//! Rigs whose sliders drive a blend of springs.

use std::sync::{Arc, Mutex};

use pyo3::prelude::*;

use super::blend_frame::BlendFrame;
use super::obstacle::Obstacle;
use super::scene_keywords::{Amount, SceneKeywords};
use crate::arrays;
use crate::failure::Failure;
use crate::rig::Rig;
use crate::work::{lock, run, run_long};

/// A rig whose sliders drive a blend of springs: parts rotate and keep their lengths, where the linear rig shrinks.
///
/// `poses`, rows of slider weights, limits the shapes to those that are used: each of them takes time.
///
/// >>> rest = pliant.load("specimen:bar:coarse").mesh()
/// >>> bent = pliant.load("specimen:bar:coarse#bend@24").mesh()
/// >>> rig = pliant.Rig(rest.positions, rest.faces, [bent.positions - rest.positions], ["bend"])
/// >>> half = pliant.RigBlend(rig).at({"bend": 0.5})
/// >>> half.converged, round(half.volume / rest.signed_volume(), 2)
/// (True, 1.0)
#[pyclass(frozen, module = "pliant")]
pub(crate) struct RigBlend {
    blend: Arc<Mutex<pliant::physics::RigBlend>>,
    rig: Rig,
}

#[pymethods]
impl RigBlend {
    #[new]
    #[pyo3(signature = (rig, *, poses=None, solver="fast", energy="springs", interior=Amount::Auto, cage=Amount::Auto, obstacles=Vec::new(), friction=0.0, self_contact=false, contact="active-set"))]
    #[expect(
        clippy::too_many_arguments,
        reason = "options are keywords of one call"
    )]
    fn new(
        py: Python<'_>,
        rig: Rig,
        poses: Option<&Bound<'_, PyAny>>,
        solver: &str,
        energy: &str,
        interior: Amount,
        cage: Amount,
        obstacles: Vec<Obstacle>,
        friction: f64,
        self_contact: bool,
        contact: &str,
    ) -> Result<Self, Failure> {
        let keywords = SceneKeywords {
            solver,
            energy,
            interior,
            cage,
            friction,
            self_contact,
            contact,
        };
        let options = keywords.scene(keywords.blend()?, obstacles)?;
        let sliders = rig.rig.sliders().len();
        let poses = poses
            .map(|poses| arrays::rows_for("poses", poses, sliders, "sliders"))
            .transpose()?;

        let shared = Arc::clone(&rig.rig);
        let blend = run_long(py, None, move |_| {
            let rig = (*shared).clone();
            Ok(match poses {
                Some(poses) => pliant::physics::RigBlend::for_poses(rig, &poses, &options)?,
                None => pliant::physics::RigBlend::new(rig, &options)?,
            })
        })?;
        Ok(Self {
            blend: Arc::new(Mutex::new(blend)),
            rig,
        })
    }

    /// Warnings about the shapes, one sentence each.
    #[getter]
    fn warnings(&self, py: Python<'_>) -> Result<Vec<String>, Failure> {
        run(py, || Ok(lock(&self.blend)?.scene().warnings().to_vec()))
    }

    /// The shape at slider weights. `time` moves obstacles from 0 to 1.
    #[pyo3(signature = (weights, *, time=0.0))]
    fn at(
        &self,
        py: Python<'_>,
        weights: &Bound<'_, PyAny>,
        time: f64,
    ) -> Result<BlendFrame, Failure> {
        let weights = self.rig.weights(weights)?;
        let blend = Arc::clone(&self.blend);
        let frame = run_long(py, None, move |watch| {
            Ok(watch.lock(&blend)?.step(&weights, time)?)
        })?;
        Ok(BlendFrame { frame })
    }

    fn __repr__(&self) -> String {
        let sliders = self.rig.rig.sliders().len();
        let vertices = self.rig.rig.neutral().vertex_count();
        format!("<pliant.RigBlend: {sliders} sliders, {vertices} vertices>")
    }
}
