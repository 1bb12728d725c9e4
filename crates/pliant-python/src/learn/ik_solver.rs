//! Control points from goals of end effectors.

use std::sync::Arc;

use numpy::{PyArray2, PyArray3};
use pliant::recipes::SkeletonFile;
use pyo3::prelude::*;

use super::model::Model;
use crate::arrays::{self, points_array, poses_array};
use crate::failure::Failure;
use crate::report::from_python;
use crate::work::{run, run_unwatched};

/// Control points of a model from goals of a few end effectors, by inverse kinematics.
///
/// `skeleton` has the keys of a skeleton file: `joints`, each with `name`, `parent`, one of `control`, `vertex`
/// and `at`, and `effector`; every control point needs a joint. Among the poses that reach the goals, those that
/// resemble the examples are preferred (`"natural": "rest"` prefers the rest pose).
///
/// >>> hand = pliant.load("specimen:hand").clip()
/// >>> model = pliant.Model.train(hand, 3, method="arap")
/// >>> joints = [{"name": "root", "control": 0}, {"name": "middle", "parent": "root", "control": 1}]
/// >>> joints += [{"name": "tip", "parent": "middle", "control": 2, "effector": True}]
/// >>> ik = pliant.IkSolver(model, {"joints": joints})
/// >>> ik.effectors, ik.solve(hand.frames[2][model.control_vertices[2:]]).shape
/// (['tip'], (3, 3))
#[pyclass(frozen, module = "pliant")]
pub(crate) struct IkSolver {
    solver: Arc<pliant::learn::IkSolver>,
    points: usize,
}

#[pymethods]
impl IkSolver {
    #[new]
    fn new(py: Python<'_>, model: &Model, skeleton: &Bound<'_, PyAny>) -> Result<Self, Failure> {
        let file: SkeletonFile = from_python("skeleton", skeleton)?;
        let points = model.model.control().count();
        let model = Arc::clone(&model.model);
        let solver = run_unwatched(py, move || Ok(file.solver(&model)?))?;
        Ok(Self {
            solver: Arc::new(solver),
            points,
        })
    }

    /// The names of the end effectors, in the order of their goals.
    #[getter]
    fn effectors(&self) -> Vec<String> {
        let effectors = self.solver.skeleton().effectors();
        effectors.map(|joint| joint.name.clone()).collect()
    }

    /// Control points (p, 3) for goals (e, 3) of the end effectors.
    fn solve<'py>(
        &self,
        py: Python<'py>,
        goals: &Bound<'py, PyAny>,
    ) -> Result<Bound<'py, PyArray2<f64>>, Failure> {
        let goals = arrays::points("goals", goals)?;
        let goals = goals.as_slice();
        let controls = run(py, || {
            let pose = self.solver.solve(goals, None)?;
            Ok(self
                .solver
                .skeleton()
                .controls(&pose.positions, self.points))
        })?;
        points_array(py, controls)
    }

    /// Control points (f, p, 3) for goals (f, e, 3); each frame starts from the one before.
    fn solve_all<'py>(
        &self,
        py: Python<'py>,
        goals: &Bound<'py, PyAny>,
    ) -> Result<Bound<'py, PyArray3<f64>>, Failure> {
        let goals = arrays::poses("goals", goals)?;
        let solver = Arc::clone(&self.solver);
        let points = self.points;
        let controls = run_unwatched(py, move || {
            let poses = solver.solve_all(&goals)?;
            let controls = poses.iter();
            let skeleton = solver.skeleton();
            Ok(controls
                .map(|pose| skeleton.controls(&pose.positions, points))
                .collect::<Vec<_>>())
        })?;
        poses_array(py, &controls, self.points)
    }

    fn __repr__(&self) -> String {
        let joints = self.solver.skeleton().joints().len();
        let effectors = self.solver.skeleton().effectors().count();
        format!("<pliant.IkSolver: {joints} joints, {effectors} end effectors>")
    }
}
