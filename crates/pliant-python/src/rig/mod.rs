//! Rigs: a neutral mesh, targets and sliders.
//!
//! - `pin`, `poser`: slider weights from pins.
//! - `inverter`: slider weights of a clip.
//! - `prior`: poses that are probable.
//! - `residual`: what no slider reaches.
//! - `performance`, `live_session`, `marker_track`: slider weights of a capture.
//! - `sketched_pose`: slider weights from strokes.

pub(crate) mod inverter;
pub(crate) mod live_session;
pub(crate) mod marker_track;
pub(crate) mod performance;
pub(crate) mod pin;
pub(crate) mod poser;
pub(crate) mod prior;
pub(crate) mod residual;
pub(crate) mod sketched_pose;

use std::sync::{Arc, OnceLock};

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArray3, PyArrayMethods};
use pliant::io::Stored;
use pliant::mesh::Progress;
use pliant::mesh::glam::DVec3;
use pliant::rig::{
    Evaluator, Limits, MirrorPlane, RigError, RigSettings, Side, SideStyle, SliderPairs,
    SplitOptions, Target, VertexMirror, Vocabulary, match_names, mirror_rig, split_rig,
    splittable_targets, symmetric_rig,
};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};

use crate::arrays::{self, points_array};
use crate::failure::{Failure, input_error};
use crate::mesh::{Mesh, mesh_from_arrays};
use crate::report::{choice, from_python};
use crate::work::{run, run_long, run_unwatched};
use poser::Poser;

/// A neutral mesh and the targets that move it: positions (n, 3), faces, deltas (s, n, 3), names.
///
/// >>> rig = pliant.Rig([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]], [[[0, 0, 1]] * 3], ["lift"])
/// >>> rig.evaluate([0.5]).tolist()
/// [[0.0, 0.0, 0.5], [1.0, 0.0, 0.5], [0.0, 1.0, 0.5]]
#[pyclass(frozen, module = "pliant", from_py_object)]
#[derive(Clone)]
pub(crate) struct Rig {
    pub(crate) rig: Arc<pliant::rig::Rig>,
    evaluator: Arc<OnceLock<Evaluator>>,
}

impl Rig {
    pub(crate) fn of(rig: pliant::rig::Rig) -> Self {
        Self {
            rig: Arc::new(rig),
            evaluator: Arc::default(),
        }
    }

    /// Weights as an array of one per slider, or as a dictionary from names to weights, in which
    /// sliders that are not named are at zero.
    pub(crate) fn weights(&self, weights: &Bound<'_, PyAny>) -> Result<Vec<f64>, Failure> {
        let count = self.rig.sliders().len();
        if let Ok(by_name) = weights.cast::<PyDict>() {
            let mut all = vec![0.0; count];
            for (name, weight) in by_name {
                let Ok(name) = name.extract::<String>() else {
                    return Err(input_error(format!(
                        "weights has the key {}; keys are names of sliders",
                        name.repr()?
                    )));
                };
                let slider = self.rig.slider_named(&name)?;
                let kind = weight.get_type().qualname()?;
                all[slider.index()] = weight.extract().map_err(|_| {
                    input_error(format!("the weight of '{name}' is a {kind}; give a number"))
                })?;
            }
            self.require_numbers(&all)?;
            return Ok(all);
        }
        let all = arrays::numbers_for("weights", weights, count, "sliders")?;
        self.require_numbers(&all)?;
        Ok(all)
    }

    /// Declines weights that are NaN or infinite.
    fn require_numbers(&self, weights: &[f64]) -> Result<(), Failure> {
        match weights.iter().position(|weight| !weight.is_finite()) {
            Some(slider) => Err(RigError::BadWeight {
                name: self.rig.targets()[slider].name.clone(),
            }
            .into()),
            None => Ok(()),
        }
    }

    /// Sliders as names or numbers.
    pub(crate) fn sliders(&self, sliders: &Bound<'_, PyAny>) -> Result<Vec<usize>, Failure> {
        let mut found = Vec::new();
        for slider in sliders.try_iter()? {
            let slider = slider?;
            if let Ok(name) = slider.cast::<PyString>() {
                found.push(self.rig.slider_named(&name.to_cow()?)?.index());
            } else {
                let index: usize = slider.extract()?;
                if index >= self.rig.sliders().len() {
                    return Err(input_error(format!(
                        "slider {index} does not exist; the rig has {}, counted from 0",
                        self.rig.sliders().len()
                    )));
                }
                found.push(index);
            }
        }
        Ok(found)
    }

    /// The positions at weights, one for each slider.
    pub(crate) fn positions_at(&self, weights: &[f64]) -> Vec<DVec3> {
        let evaluator = self
            .evaluator
            .get_or_init(|| Evaluator::new(self.rig.neutral(), self.rig.shapes()));
        let coefficients = self.rig.activation().coefficients(weights);
        let mut positions = vec![DVec3::ZERO; self.rig.neutral().vertex_count()];
        evaluator.positions_into(&coefficients, &mut positions);
        positions
    }
}

#[pymethods]
impl Rig {
    #[new]
    #[pyo3(signature = (positions, faces, deltas, names=None, *, limits=None, name=""))]
    fn new(
        py: Python<'_>,
        positions: &Bound<'_, PyAny>,
        faces: &Bound<'_, PyAny>,
        deltas: &Bound<'_, PyAny>,
        names: Option<Vec<String>>,
        limits: Option<&Bound<'_, PyAny>>,
        name: &str,
    ) -> Result<Self, Failure> {
        let neutral = mesh_from_arrays(positions, faces, name)?;
        let deltas = arrays::displacements("deltas", deltas, neutral.vertex_count())?;
        let names =
            names.unwrap_or_else(|| (0..deltas.len()).map(|k| format!("target{k}")).collect());
        if names.len() != deltas.len() {
            return Err(input_error(format!(
                "names has {} entries for {} shapes of deltas; give one for each",
                names.len(),
                deltas.len()
            )));
        }

        let rig = run(py, || {
            let named = names.into_iter().zip(deltas);
            let targets = named
                .map(|(name, deltas)| Target::from_dense(name, deltas))
                .collect();
            let rig = pliant::rig::Rig::new(neutral, targets)?;
            rig.require_finite()?;
            Ok(rig)
        })?;
        let rig = Self::of(rig);
        match limits {
            Some(limits) => rig.with_limits(limits),
            None => Ok(rig),
        }
    }

    /// The names of the sliders.
    #[getter]
    fn names(&self) -> Vec<&str> {
        self.rig
            .targets()
            .iter()
            .map(|target| target.name.as_str())
            .collect()
    }

    /// The mesh at weight 0.
    #[getter]
    fn neutral(&self) -> Mesh {
        Mesh::of(self.rig.neutral().clone())
    }

    /// Positions of the neutral, (n, 3).
    #[getter]
    fn positions<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray2<f64>>, Failure> {
        points_array(py, self.rig.neutral().positions().to_vec())
    }

    /// The fan triangulation of the neutral, (m, 3).
    #[getter]
    fn triangles<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray2<i64>>, Failure> {
        arrays::triangle_array(py, self.rig.neutral().triangles())
    }

    /// The displacements of all targets, (s, n, 3), float32.
    #[getter]
    fn deltas<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray3<f32>>, Failure> {
        let vertices = self.rig.neutral().vertex_count();
        let targets = self.rig.targets();
        let all: Vec<f32> = run(py, || {
            let dense = targets.iter().flat_map(|target| target.to_dense(vertices));
            Ok(dense
                .flat_map(|delta| delta.to_array())
                .collect::<Vec<f32>>())
        })?;
        Ok(all.into_pyarray(py).reshape([targets.len(), vertices, 3])?)
    }

    /// The least and the greatest weight of each slider, (s, 2).
    #[getter]
    fn limits<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray2<f64>>, Failure> {
        let limits: Vec<Vec<f64>> = self
            .rig
            .sliders()
            .iter()
            .map(|slider| vec![slider.limits.min, slider.limits.max])
            .collect();
        arrays::rows_array(py, &limits, 2)
    }

    /// Whether each slider keeps its weight.
    #[getter]
    fn locked(&self) -> Vec<bool> {
        self.rig
            .sliders()
            .iter()
            .map(|slider| slider.locked)
            .collect()
    }

    /// The names of the combinations.
    #[getter]
    fn combinations(&self) -> Vec<&str> {
        self.rig
            .combinations()
            .iter()
            .map(|combination| combination.name.as_str())
            .collect()
    }

    /// The same rig with other limits: an array of shape (s, 2), or a dictionary from names to pairs.
    fn with_limits(&self, limits: &Bound<'_, PyAny>) -> Result<Self, Failure> {
        let mut sliders = self.rig.sliders().to_vec();
        if let Ok(by_name) = limits.cast::<PyDict>() {
            for (name, range) in by_name {
                let name: String = name.extract()?;
                let [min, max]: [f64; 2] = range.extract()?;
                sliders[self.rig.slider_named(&name)?.index()].limits = Limits::new(min, max);
            }
        } else {
            let rows = arrays::rows("limits", limits)?;
            if rows.len() != sliders.len() || rows.first().is_some_and(|row| row.len() != 2) {
                return Err(input_error(format!(
                    "limits has shape ({}, {}); give {} × 2 numbers, the least and the greatest weight of each slider",
                    rows.len(),
                    rows.first().map_or(0, Vec::len),
                    sliders.len()
                )));
            }
            for (slider, row) in sliders.iter_mut().zip(&rows) {
                slider.limits = Limits::new(row[0], row[1]);
            }
        }
        Ok(Self::of((*self.rig).clone().with_sliders(sliders)?))
    }

    /// The same rig, in which some sliders keep their weights: names or numbers.
    fn with_locked(&self, sliders: &Bound<'_, PyAny>) -> Result<Self, Failure> {
        let mut all = self.rig.sliders().to_vec();
        for slider in self.sliders(sliders)? {
            all[slider].locked = true;
        }
        Ok(Self::of((*self.rig).clone().with_sliders(all)?))
    }

    /// The same rig with limits, locks, groups, in-betweens and combinations, as in the settings file of
    /// `pliant pose`.
    fn with_settings(&self, settings: &Bound<'_, PyAny>) -> Result<Self, Failure> {
        let settings: RigSettings = from_python("settings", settings)?;
        Ok(Self::of(settings.apply(&self.rig)?))
    }

    /// The same rig with pairs of sliders of which at most one differs from zero.
    fn with_exclusive(&self, pairs: &Bound<'_, PyAny>) -> Result<Self, Failure> {
        let mut all = self.rig.exclusive_pairs().to_vec();
        for pair in pairs.try_iter()? {
            let pair = self.sliders(&pair?)?;
            let [a, b] = pair[..] else {
                return Err(input_error("pairs: give two sliders each"));
            };
            all.push([a.into(), b.into()]);
        }
        Ok(Self::of((*self.rig).clone().with_exclusive_pairs(all)?))
    }

    /// Positions (n, 3) at weights: one per slider, or a dictionary from names. An array of shape (f, s)
    /// gives poses (f, n, 3).
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        weights: &Bound<'py, PyAny>,
    ) -> Result<Bound<'py, PyAny>, Failure> {
        let vertices = self.rig.neutral().vertex_count();
        // A table of weights gives a clip, a list gives one shape.
        if weights.cast::<PyDict>().is_err() && arrays::is_table(weights) {
            let rows = arrays::rows("weights", weights)?;
            if rows.iter().any(|row| row.len() != self.rig.sliders().len()) {
                return Err(input_error(format!(
                    "weights has rows of {} entries for {} sliders; give one for each",
                    rows[0].len(),
                    self.rig.sliders().len()
                )));
            }
            for row in &rows {
                self.require_numbers(row)?;
            }
            let rig = self.clone();
            let poses = run_long(py, None, move |watch| {
                let count = rows.len();
                let mut poses = Vec::with_capacity(count);
                for (k, weights) in rows.iter().enumerate() {
                    watch.proceed("evaluating", k as f64 / count as f64)?;
                    poses.push(rig.positions_at(weights));
                }
                Ok(poses)
            })?;
            return Ok(arrays::poses_array(py, &poses, vertices)?.into_any());
        }
        let weights = self.weights(weights)?;
        let positions = run(py, || Ok(self.positions_at(&weights)))?;
        Ok(points_array(py, positions)?.into_any())
    }

    /// The rig with every target mirrored to the other side.
    fn mirror(&self, py: Python<'_>) -> Result<Self, Failure> {
        let rig = run(py, || {
            let mirror = self.vertex_mirror()?;
            let pairs = SliderPairs::by_name(&self.names());
            Ok(mirror_rig(&self.rig, &mirror, &pairs)?)
        })?;
        Ok(Self::of(rig))
    }

    /// The symmetric rig made of the targets of one side, `"left"` or `"right"` of the character.
    #[pyo3(signature = (side="left"))]
    fn symmetric(&self, py: Python<'_>, side: &str) -> Result<Self, Failure> {
        let side = choice(
            "side",
            side,
            &[("left", Side::Left), ("right", Side::Right)],
        )?;
        let rig = run(py, || {
            let mirror = self.vertex_mirror()?;
            let pairs = SliderPairs::by_name(&self.names());
            Ok(symmetric_rig(&self.rig, &mirror, &pairs, side)?)
        })?;
        Ok(Self::of(rig))
    }

    /// Weights (s,) with left and right sliders exchanged, paired by name.
    fn mirror_weights<'py>(
        &self,
        py: Python<'py>,
        weights: &Bound<'py, PyAny>,
    ) -> Result<Bound<'py, PyArray1<f64>>, Failure> {
        let weights = self.weights(weights)?;
        let mirrored = SliderPairs::by_name(&self.names()).mirror_weights(&weights);
        Ok(mirrored.into_pyarray(py))
    }

    /// The rig with targets divided into a left and a right one; by default those that move both sides.
    /// `width` is that of the transition, in units of the mesh.
    #[pyo3(signature = (targets=None, *, width=None))]
    fn split(
        &self,
        py: Python<'_>,
        targets: Option<&Bound<'_, PyAny>>,
        width: Option<f64>,
    ) -> Result<Self, Failure> {
        let targets = targets.map(|targets| self.sliders(targets)).transpose()?;
        let rig = run(py, || {
            let plane = self.mirror_plane()?;
            let targets = targets.unwrap_or_else(|| splittable_targets(&self.rig, plane));
            let mut options = SplitOptions::new(&self.rig, plane);
            if let Some(width) = width {
                options = options.with_width(width);
            }
            let style = SideStyle::of_rig(&self.rig);
            Ok(split_rig(&self.rig, &targets, &options, &style)?.rig)
        })?;
        Ok(Self::of(rig))
    }

    /// The rig with other names: a dictionary from old to new names, or a vocabulary.
    fn rename(&self, names: &Bound<'_, PyAny>) -> Result<Self, Failure> {
        let mut targets = self.rig.targets().to_vec();
        if let Ok(vocabulary) = names.extract::<String>() {
            let Some(to) = Vocabulary::from_name(&vocabulary) else {
                return Err(input_error(format!(
                    "'{vocabulary}' is no vocabulary; give arkit, facs, vrm, vrm0 or makehuman, or a dictionary of names"
                )));
            };
            for pair in match_names(&self.names(), to).pairs {
                targets[pair.source].name = pair.name;
            }
        } else {
            let by_name = names.cast::<PyDict>().map_err(PyErr::from)?;
            for (from, to) in by_name {
                let from: String = from.extract()?;
                targets[self.rig.slider_named(&from)?.index()].name = to.extract()?;
            }
        }
        Ok(Self::of(self.rig.with_targets(targets)?))
    }

    /// The rig prepared for pins.
    fn poser(&self, py: Python<'_>) -> Result<Poser, Failure> {
        let rig = Arc::clone(&self.rig);
        let poser = run_unwatched(py, move || Ok(pliant::rig::Poser::new(&rig)?))?;
        Ok(Poser {
            poser,
            rig: self.clone(),
        })
    }

    fn __len__(&self) -> usize {
        self.rig.sliders().len()
    }

    /// All of it as bytes, exactly; `from_bytes` makes it again. For caches and other processes, not for
    /// keeping work: save files for that.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyBytes>, Failure> {
        let bytes = run(py, || Ok(self.rig.to_bytes()))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// What `to_bytes` stored.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> Result<Self, Failure> {
        let stored = run(py, || Ok(pliant::rig::Rig::from_bytes(bytes)?))?;
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
        let vertices = self.rig.neutral().vertex_count();
        format!(
            "<pliant.Rig: {vertices} vertices, {} sliders>",
            self.rig.sliders().len()
        )
    }
}

impl Rig {
    fn mirror_plane(&self) -> Result<MirrorPlane, Failure> {
        MirrorPlane::find(self.rig.neutral()).ok_or_else(|| {
            input_error("the neutral has no mirror plane; sides cannot be told apart")
        })
    }

    pub(crate) fn vertex_mirror(&self) -> Result<VertexMirror, Failure> {
        Ok(VertexMirror::by_position(
            self.rig.neutral(),
            self.mirror_plane()?,
        ))
    }
}
