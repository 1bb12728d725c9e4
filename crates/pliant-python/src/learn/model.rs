//! Trained models.

use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1, PyArray2};
use pliant::learn::{
    Comparison, ControlConstraint, ControlPoints, ControlTrack, DetailMode, DetailOptions,
    DetailedExamples, DriveOptions, DrivenClip, Examples, LearnOptions, LeaveOneOut, Method,
    TrainingLog, suggest_control_points,
};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::arrays::{self, index_array, locator, points_array};
use crate::clip::Clip;
use crate::failure::{Failure, input_error};
use crate::mesh::Mesh;
use crate::report::choice;
use crate::work::{run, run_long};

/// A mesh trained on examples, driven by control points.
///
/// >>> hand = pliant.load("specimen:hand").clip()
/// >>> model = pliant.Model.train(hand, 24, method="arap")
/// >>> model.drive(hand.frames[3][model.control_vertices]).shape == hand.reference.positions.shape
/// True
#[pyclass(frozen, module = "pliant", from_py_object)]
#[derive(Clone)]
pub(crate) struct Model {
    pub(crate) model: Arc<pliant::learn::Model>,
}

fn learn_options(
    method: &str,
    neighbors: Option<usize>,
    pose_neighbors: Option<usize>,
    beta: Option<f64>,
    bones: Option<usize>,
    exact: bool,
) -> Result<LearnOptions, Failure> {
    let mut options = LearnOptions::default()
        .with_method(method.parse::<Method>()?)
        .with_exact(exact);
    if let Some(neighbors) = neighbors {
        options = options.with_neighbors(neighbors);
    }
    if let Some(neighbors) = pose_neighbors {
        options = options.with_pose_neighbors(neighbors);
    }
    if let Some(beta) = beta {
        options = options.with_beta(beta);
    }
    if let Some(bones) = bones {
        options = options.with_bones(bones);
    }
    Ok(options)
}

fn control_points(
    mesh: &pliant::mesh::Mesh,
    control: &Bound<'_, PyAny>,
) -> Result<ControlPoints, Failure> {
    if let Ok(count) = control.extract::<usize>() {
        return Ok(suggest_control_points(mesh, count)?);
    }
    let vertices: Vec<usize> = arrays::indices("control", control)?
        .into_iter()
        .map(|v| v as usize)
        .collect();
    Ok(ControlPoints::new(mesh, &vertices)?)
}

#[pymethods]
impl Model {
    /// Trains on the frames of a clip. `control` lists vertices, or is the number of control points to
    /// choose.
    #[staticmethod]
    #[pyo3(signature = (clip, control, *, method="auto", neighbors=None, pose_neighbors=None, beta=None, bones=None, exact=false, progress=None))]
    #[expect(
        clippy::too_many_arguments,
        reason = "options are keywords of one call"
    )]
    fn train(
        py: Python<'_>,
        clip: &Clip,
        control: &Bound<'_, PyAny>,
        method: &str,
        neighbors: Option<usize>,
        pose_neighbors: Option<usize>,
        beta: Option<f64>,
        bones: Option<usize>,
        exact: bool,
        progress: Option<Bound<'_, PyAny>>,
    ) -> Result<Self, Failure> {
        let options = learn_options(method, neighbors, pose_neighbors, beta, bones, exact)?;
        let examples = Examples::from_clip(&clip.clip)?;
        let control = control_points(examples.reference(), control)?;
        let model = run_long(py, progress, move |progress| {
            Ok(pliant::learn::Model::train(
                examples, control, &options, progress,
            )?)
        })?;
        Ok(Self {
            model: Arc::new(model),
        })
    }

    /// The leave-one-out errors of a training: one for each frame, over the longest side.
    #[staticmethod]
    #[pyo3(signature = (clip, control, *, method="auto", neighbors=None, pose_neighbors=None, beta=None, bones=None, exact=false, progress=None))]
    #[expect(
        clippy::too_many_arguments,
        reason = "options are keywords of one call"
    )]
    fn validate<'py>(
        py: Python<'py>,
        clip: &Clip,
        control: &Bound<'py, PyAny>,
        method: &str,
        neighbors: Option<usize>,
        pose_neighbors: Option<usize>,
        beta: Option<f64>,
        bones: Option<usize>,
        exact: bool,
        progress: Option<Bound<'py, PyAny>>,
    ) -> Result<Bound<'py, PyArray1<f64>>, Failure> {
        let options = learn_options(method, neighbors, pose_neighbors, beta, bones, exact)?;
        let examples = Examples::from_clip(&clip.clip)?;
        let control = control_points(examples.reference(), control)?;
        let errors = run_long(py, progress, move |progress| {
            Ok(LeaveOneOut::of(examples, control, &options, progress)?)
        })?;
        Ok(errors.rms().into_pyarray(py))
    }

    /// The leave-one-out errors of several methods on the same control points, with exact paired tests of the first
    /// against each other one: `errors` maps a method to one error for each frame, and `tests` each method
    /// but the first to `mean_difference` (negative where the first is better), `sign_p` and `rank_p`.
    #[staticmethod]
    #[pyo3(signature = (clip, control, methods, *, neighbors=None, pose_neighbors=None, beta=None, bones=None, progress=None))]
    #[expect(
        clippy::too_many_arguments,
        reason = "options are keywords of one call"
    )]
    fn compare<'py>(
        py: Python<'py>,
        clip: &Clip,
        control: &Bound<'py, PyAny>,
        methods: Vec<String>,
        neighbors: Option<usize>,
        pose_neighbors: Option<usize>,
        beta: Option<f64>,
        bones: Option<usize>,
        progress: Option<Bound<'py, PyAny>>,
    ) -> Result<Bound<'py, PyDict>, Failure> {
        let Some((first, others)) = methods.split_first() else {
            return Err(input_error("methods is empty; give at least one method"));
        };
        let options = learn_options(first, neighbors, pose_neighbors, beta, bones, false)?;
        let against = others
            .iter()
            .map(|name| Ok(name.parse::<Method>()?))
            .collect::<Result<Vec<_>, Failure>>()?;
        let examples = Examples::from_clip(&clip.clip)?;
        let control = control_points(examples.reference(), control)?;
        let found = run_long(py, progress, move |progress| {
            let mut log = TrainingLog::new(&examples, &control, &options);
            Ok(Comparison::of(
                &examples, &control, &options, &against, &mut log, progress,
            )?)
        })?;

        let errors = PyDict::new(py);
        let tests = PyDict::new(py);
        errors.set_item(first, found.errors.rms().into_pyarray(py))?;
        for (name, other) in others.iter().zip(&found.others) {
            errors.set_item(name, other.errors.rms().into_pyarray(py))?;
            let test = PyDict::new(py);
            test.set_item("mean_difference", other.test.mean_difference)?;
            test.set_item("sign_p", other.test.sign_p)?;
            test.set_item("rank_p", other.test.rank_p)?;
            tests.set_item(name, test)?;
        }
        let report = PyDict::new(py);
        report.set_item("errors", errors)?;
        report.set_item("tests", tests)?;
        Ok(report)
    }

    /// Trains on the smooth base of the frames of a clip, with the fine detail as heights above it: `smoothing`
    /// rounds make the base. `detail` is `"auto"`, `"direct"`, `"cascaded"` or `"static"`.
    #[staticmethod]
    #[pyo3(signature = (clip, control, *, smoothing=DetailedExamples::DEFAULT_SMOOTHING, detail="auto", method="auto", neighbors=None, pose_neighbors=None, beta=None, bones=None, progress=None))]
    #[expect(
        clippy::too_many_arguments,
        reason = "options are keywords of one call"
    )]
    fn train_detailed(
        py: Python<'_>,
        clip: &Clip,
        control: &Bound<'_, PyAny>,
        smoothing: usize,
        detail: &str,
        method: &str,
        neighbors: Option<usize>,
        pose_neighbors: Option<usize>,
        beta: Option<f64>,
        bones: Option<usize>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> Result<Self, Failure> {
        let options = learn_options(method, neighbors, pose_neighbors, beta, bones, false)?;
        let modes = DetailMode::ALL.map(|mode| (mode.name(), mode));
        let detail = DetailOptions::default().with_mode(choice("detail", detail, &modes)?);
        let examples = Examples::from_clip(&clip.clip)?;
        let control = control_points(examples.reference(), control)?;
        let model = run_long(py, progress, move |progress| {
            let detailed = DetailedExamples::by_smoothing(&examples, smoothing)?;
            Ok(pliant::learn::Model::train_detailed(
                detailed, control, &options, &detail, progress,
            )?)
        })?;
        Ok(Self {
            model: Arc::new(model),
        })
    }

    /// Opens a model file.
    #[staticmethod]
    fn load(py: Python<'_>, path: &Bound<'_, PyAny>) -> Result<Self, Failure> {
        let path = locator(path)?;
        let model = run(py, || {
            let bytes = pliant::io::read_file(path.as_ref())?;
            Ok(pliant::learn::Model::from_bytes(&bytes)?)
        })?;
        Ok(Self {
            model: Arc::new(model),
        })
    }

    /// What `to_bytes` stored.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> Result<Self, Failure> {
        let model = run(py, || Ok(pliant::learn::Model::from_bytes(bytes)?))?;
        Ok(Self {
            model: Arc::new(model),
        })
    }

    /// Writes a model file (`.safetensors`).
    fn save(&self, py: Python<'_>, path: &Bound<'_, PyAny>) -> Result<(), Failure> {
        let path = locator(path)?;
        run(py, || {
            Ok(pliant::io::write_files(&[(
                path.into(),
                self.model.to_bytes(),
            )])?)
        })
    }

    /// The model file as bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyBytes>, Failure> {
        let bytes = run(py, || Ok(self.model.to_bytes()))?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> Result<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,)), Failure> {
        let make = py.get_type::<Self>().getattr("from_bytes")?;
        Ok((make, (self.to_bytes(py)?,)))
    }

    /// The mesh in the reference pose.
    #[getter]
    fn reference(&self) -> Mesh {
        Mesh::of(self.model.examples().reference().clone())
    }

    /// The vertices of the control points, (p,).
    #[getter]
    fn control_vertices<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        index_array(py, self.model.control().vertices().iter().copied())
    }

    /// The mean error of the training poses, RMS over the longest side.
    #[getter]
    fn fit_error(&self, py: Python<'_>) -> Result<f64, Failure> {
        run(py, || Ok(self.model.fit_error()))
    }

    /// The mesh where the control points go, (n, 3). `exact` gives the examples exactly; `detailed` adds the
    /// heights of the detail layer, by vertex of `detailed_reference`.
    #[pyo3(signature = (control, *, exact=false, detailed=false))]
    fn drive<'py>(
        &self,
        py: Python<'py>,
        control: &Bound<'py, PyAny>,
        exact: bool,
        detailed: bool,
    ) -> Result<Bound<'py, PyArray2<f64>>, Failure> {
        let control = arrays::points("control", control)?;
        let control = control.as_slice();
        let positions = run(py, || {
            let driver = self.model.driver();
            let driver = if exact {
                driver.with_exact_examples()
            } else {
                driver
            };
            Ok(driver.driven_pose(control, detailed)?.positions)
        })?;
        points_array(py, positions)
    }

    /// The mesh with its detail in the reference pose, or `None` without a detail layer.
    #[getter]
    fn detailed_reference(&self) -> Option<Mesh> {
        self.model.detailed_mesh().map(Mesh::of)
    }

    /// The clip of moving control points: positions of shape (frames, points, 3).
    #[pyo3(signature = (control, *, hold=None, exact=false, jiggle=None, frames_per_second=None, progress=None))]
    fn drive_clip(
        &self,
        py: Python<'_>,
        control: &Bound<'_, PyAny>,
        hold: Option<&Bound<'_, PyAny>>,
        exact: bool,
        jiggle: Option<(f64, f64)>,
        frames_per_second: Option<f64>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> Result<Clip, Failure> {
        let track = ControlTrack {
            frames: arrays::poses("control", control)?,
            fps: frames_per_second,
            warnings: Vec::new(),
            effectors: None,
        };
        let hold = match hold {
            None => None,
            Some(hold) if hold.extract::<&str>().is_ok_and(|hold| hold == "hard") => {
                Some(ControlConstraint::Hard)
            }
            Some(hold) => match hold.extract::<f64>() {
                Ok(beta) => Some(ControlConstraint::Soft(beta)),
                Err(_) => return Err(input_error("hold: give 'hard' or a number")),
            },
        };
        let options = DriveOptions {
            hold,
            exact,
            jiggle,
            ..DriveOptions::default()
        };
        let model = Arc::clone(&self.model);
        let clip = run_long(py, progress, move |progress| {
            let driven = DrivenClip::of_with_progress(&model, &track, &options, progress)?;
            let reference = model.examples().reference().clone();
            Ok(pliant::rig::Clip::new("driven", reference, driven.frames)?)
        })?;
        Ok(Clip::of(match frames_per_second {
            Some(fps) => clip.with_frames_per_second(fps),
            None => clip,
        }))
    }

    /// The expected error of each vertex for these control points, over the longest side; `None` for
    /// methods without one.
    fn confidence<'py>(
        &self,
        py: Python<'py>,
        control: &Bound<'py, PyAny>,
    ) -> Result<Option<Bound<'py, PyArray1<f64>>>, Failure> {
        let control = arrays::points("control", control)?;
        let control = control.as_slice();
        let confidence = run(py, || Ok(self.model.driver().confidence(control)?))?;
        Ok(confidence.map(|confidence| confidence.expected_error.into_pyarray(py)))
    }

    fn __repr__(&self) -> String {
        format!(
            "<pliant.Model: {} vertices, {} control points, {} examples>",
            self.model.examples().reference().vertex_count(),
            self.model.control().count(),
            self.model.examples().count()
        )
    }
}
