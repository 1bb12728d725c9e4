//! Clips: positions of one mesh over time.

use std::sync::Arc;

use numpy::{PyArray2, PyArray3};
use pliant::io::Stored;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::arrays::{self, points_array, poses_array};
use crate::failure::{Failure, input_error};
use crate::mesh::Mesh;
use crate::work::run;

/// Positions of one mesh over time: a reference mesh, and frames of shape (f, n, 3).
///
/// >>> mesh = pliant.Mesh([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], [[0, 1, 2, 3]])
/// >>> clip = pliant.Clip(mesh, [mesh.positions, mesh.positions + 1], frames_per_second=2)
/// >>> len(clip), clip.duration_secs, clip.positions_at(0.25)[0].tolist()
/// (2, 0.5, [0.5, 0.5, 0.5])
/// >>> clip[-1][0].tolist()
/// [1.0, 1.0, 1.0]
#[pyclass(frozen, module = "pliant", from_py_object)]
#[derive(Clone)]
pub(crate) struct Clip {
    pub(crate) clip: Arc<pliant::rig::Clip>,
}

impl Clip {
    pub(crate) fn of(clip: pliant::rig::Clip) -> Self {
        Self {
            clip: Arc::new(clip),
        }
    }
}

#[pymethods]
impl Clip {
    #[new]
    #[pyo3(signature = (reference, frames, *, name="", frame_names=None, frames_per_second=None))]
    fn new(
        reference: &Mesh,
        frames: &Bound<'_, PyAny>,
        name: &str,
        frame_names: Option<Vec<String>>,
        frames_per_second: Option<f64>,
    ) -> Result<Self, Failure> {
        let frames = arrays::poses("frames", frames)?;
        let count = frames.len();
        let mut clip = pliant::rig::Clip::new(name, (*reference.mesh).clone(), frames)?;
        if let Some(names) = frame_names {
            if names.len() != count {
                return Err(input_error(format!(
                    "frame_names has {} entries for {count} frames; give one for each",
                    names.len()
                )));
            }
            clip = clip.with_frame_names(names);
        }
        if let Some(fps) = frames_per_second {
            if !(fps.is_finite() && fps > 0.0) {
                return Err(input_error(format!(
                    "frames_per_second is {fps}; give a number above 0"
                )));
            }
            clip = clip.with_frames_per_second(fps);
        }
        Ok(Self::of(clip))
    }

    /// The name, often that of the file.
    #[getter]
    fn name(&self) -> &str {
        self.clip.name()
    }

    /// The mesh in the reference pose; it is not a frame.
    #[getter]
    fn reference(&self) -> Mesh {
        Mesh::of(self.clip.reference().clone())
    }

    /// Absolute positions, (f, n, 3): a new array each time, so take it before a loop. `clip[k]` copies one
    /// frame only.
    #[getter]
    fn frames<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray3<f64>>, Failure> {
        poses_array(py, self.clip.frames(), self.clip.reference().vertex_count())
    }

    /// The names of the frames; empty where the file gives none.
    #[getter]
    fn frame_names(&self) -> Vec<String> {
        self.clip.frame_names().to_vec()
    }

    /// Frames per second.
    #[getter]
    fn frames_per_second(&self) -> f64 {
        self.clip.frames_per_second()
    }

    /// The time from the first frame to the last, in seconds.
    #[getter]
    fn duration_secs(&self) -> f64 {
        self.clip.duration_secs()
    }

    /// Positions (n, 3) at a time in seconds: a cubic spline through the frames.
    fn positions_at<'py>(
        &self,
        py: Python<'py>,
        secs: f64,
    ) -> Result<Bound<'py, PyArray2<f64>>, Failure> {
        let positions = run(py, || Ok(self.clip.positions_at(secs).into_owned()))?;
        points_array(py, positions)
    }

    /// One frame as a mesh, counted from 0.
    fn mesh_at(&self, frame: usize) -> Result<Mesh, Failure> {
        Ok(Mesh::of(self.clip.mesh_at(frame)?))
    }

    fn __len__(&self) -> usize {
        self.clip.frames().len()
    }

    /// Absolute positions of one frame, (n, 3); negative numbers count from the end.
    fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        frame: isize,
    ) -> Result<Bound<'py, PyArray2<f64>>, Failure> {
        let frames = self.clip.frames();
        let count = frames.len();
        let index = if frame < 0 {
            count.checked_sub(frame.unsigned_abs())
        } else {
            usize::try_from(frame).ok()
        };
        let Some(positions) = index.and_then(|index| frames.get(index)) else {
            let message =
                format!("there is no frame {frame}; the clip has {count}, counted from 0");
            return Err(PyIndexError::new_err(message).into());
        };
        points_array(py, positions.to_vec())
    }

    /// All of it as bytes, exactly; `from_bytes` makes it again. For caches and other processes, not for
    /// keeping work: save files for that.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyBytes>, Failure> {
        let bytes = run(py, || Ok(self.clip.to_bytes()))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// What `to_bytes` stored.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> Result<Self, Failure> {
        let stored = run(py, || Ok(pliant::rig::Clip::from_bytes(bytes)?))?;
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
        let frames = self.clip.frames().len();
        let vertices = self.clip.reference().vertex_count();
        format!("<pliant.Clip: {frames} frames of {vertices} vertices>")
    }
}
