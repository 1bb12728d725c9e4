//! Markers of an optical capture.

use std::collections::BTreeMap;
use std::sync::Arc;

use numpy::PyArray3;
use pliant::learn::{ControlTrack, MarkerAlignment, MarkerPreparation};
use pliant::mesh::glam::DVec3;
use pliant::rig::{InvertOptions, Inverter, MarkerAttachment};
use pyo3::prelude::*;

use super::Rig;
use super::performance::Performance;
use crate::arrays::{self, locator, poses_array};
use crate::failure::{Failure, input_error};
use crate::learn::model::Model;
use crate::work::{run, run_unwatched};

/// Named markers of an optical capture over time: frames (f, m, 3), with NaN where a marker is not seen.
///
/// >>> track = pliant.MarkerTrack(["chin", "brow"], [[[0, 0, 0], [0, 1, 0]]], frames_per_second=120)
/// >>> track.names, len(track), track.frames.shape
/// (['chin', 'brow'], 1, (1, 2, 3))
#[pyclass(frozen, module = "pliant")]
pub(crate) struct MarkerTrack {
    track: Arc<pliant::rig::MarkerTrack>,
}

#[pymethods]
impl MarkerTrack {
    #[new]
    #[pyo3(signature = (names, frames, *, frames_per_second=None))]
    fn new(
        names: Vec<String>,
        frames: &Bound<'_, PyAny>,
        frames_per_second: Option<f64>,
    ) -> Result<Self, Failure> {
        let seen = |p: DVec3| (!p.is_nan()).then_some(p);
        let frames = arrays::poses("frames", frames)?;
        let frames = frames
            .into_iter()
            .map(|frame| frame.into_iter().map(seen).collect());
        let track = pliant::rig::MarkerTrack::new(names, frames_per_second, frames.collect())?;
        Ok(Self {
            track: Arc::new(track),
        })
    }

    /// Opens a capture: C3D, TRC, BVH, CSV or NPY.
    #[staticmethod]
    fn load(py: Python<'_>, path: &Bound<'_, PyAny>) -> Result<Self, Failure> {
        let path = locator(path)?;
        let file = run_unwatched(py, move || Ok(pliant::io::read_markers(path.as_ref())?))?;
        Ok(Self {
            track: Arc::new(file.track),
        })
    }

    /// The names of the markers.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.track.names().to_vec()
    }

    /// Positions, (f, m, 3), with NaN where a marker is not seen.
    #[getter]
    fn frames<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray3<f64>>, Failure> {
        let frames = self.track.frames().iter();
        let frames: Vec<Vec<DVec3>> = frames
            .map(|frame| frame.iter().map(|p| p.unwrap_or(DVec3::NAN)).collect())
            .collect();
        poses_array(py, &frames, self.track.marker_count())
    }

    /// The rate, or `None` where the file gives none.
    #[getter]
    fn frames_per_second(&self) -> Option<f64> {
        self.track.fps()
    }

    /// The performance of a rig that fits the markers, with the motion of the head: `vertices` maps at least three
    /// markers to vertices; all others attach where they lie in frame `rest_frame` (by default the first that
    /// shows the mapped ones).
    #[pyo3(signature = (rig, vertices, *, rest_frame=None, roughness=None))]
    fn performance(
        &self,
        py: Python<'_>,
        rig: &Rig,
        vertices: BTreeMap<String, usize>,
        rest_frame: Option<usize>,
        roughness: Option<f64>,
    ) -> Result<Performance, Failure> {
        let mut pairs = Vec::new();
        for (name, vertex) in vertices {
            pairs.push((self.track.marker(&name)?, vertex.into()));
        }
        let shows_all = |frame: &Vec<Option<DVec3>>| pairs.iter().all(|(m, _)| frame[*m].is_some());
        let first = self.track.frames().iter().position(shows_all);
        let Some(rest_frame) = rest_frame.or(first) else {
            return Err(input_error(
                "no frame shows all markers of vertices; give fewer, or rest_frame",
            ));
        };

        let mut options = InvertOptions::default();
        if let Some(roughness) = roughness {
            options = options.with_roughness(roughness);
        }
        let rate = self.track.fps().unwrap_or(30.0);
        let track = Arc::clone(&self.track);
        let rig = Arc::clone(&rig.rig);
        let performance = run_unwatched(py, move || {
            let attachment = MarkerAttachment::new(&rig, &track, rest_frame, &pairs)?;
            let inverter = Inverter::factor(&rig, &options)?;
            let solved = attachment.solve(&inverter, &rig, &track, rate)?;
            let axes = pliant::io::Asset::from_rig((*rig).clone()).character_axes(&rig);
            Ok(solved.performance("markers", &rig, &axes, rate)?)
        })?;
        Ok(Performance::of(performance))
    }

    /// Control points of a model, (f, p, 3): `markers` names one marker for each control point, or `None` for a point that
    /// follows its neighbours; by default they are in order. Gaps of up to `max_gap` frames are interpolated,
    /// longer ones follow neighbours. `scale` is the length of a unit of the take in units of the model. `align` moves every frame onto the rest pose, also in
    /// size (`"scaled"`).
    #[pyo3(signature = (model, *, markers=None, scale=1.0, max_gap=MarkerPreparation::DEFAULT_MAX_GAP, align="none", rest_frame=None, frames_per_second=None))]
    #[expect(
        clippy::too_many_arguments,
        reason = "options are keywords of one call"
    )]
    fn control_points<'py>(
        &self,
        py: Python<'py>,
        model: &Model,
        markers: Option<Vec<Option<String>>>,
        scale: f64,
        max_gap: usize,
        align: &str,
        rest_frame: Option<usize>,
        frames_per_second: Option<f64>,
    ) -> Result<Bound<'py, PyArray3<f64>>, Failure> {
        let rigid = |scaled| MarkerAlignment::Rigid {
            anchors: Vec::new(),
            frame: None,
            scaled,
        };
        let align = match align {
            "none" => MarkerAlignment::None,
            "rigid" => rigid(false),
            "scaled" => rigid(true),
            _ => {
                return Err(input_error(format!(
                    "align is '{align}'; give 'none', 'rigid' or 'scaled'"
                )));
            }
        };
        let preparation = MarkerPreparation {
            align,
            markers,
            scale,
            max_gap: Some(max_gap),
            rest_frame,
            fps: frames_per_second,
            ..MarkerPreparation::default()
        };
        let points = model.model.control().count();
        let prepared = run(py, || {
            Ok(ControlTrack::from_markers(
                &self.track,
                &model.model,
                &preparation,
            )?)
        })?;
        poses_array(py, &prepared.frames, points)
    }

    fn __len__(&self) -> usize {
        self.track.frames().len()
    }

    fn __repr__(&self) -> String {
        let markers = self.track.marker_count();
        format!(
            "<pliant.MarkerTrack: {} frames of {markers} markers>",
            self.__len__()
        )
    }
}
