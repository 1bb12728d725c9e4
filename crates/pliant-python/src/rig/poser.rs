//! Slider weights from pins: a poser, a drag, and the pose that it gives.

use std::sync::Mutex;

use numpy::{IntoPyArray, PyArray1, PyArray2};
use pliant::rig::{
    Bounded, Hybrid, Localized, MostProbable, PinResult, PoseSolver, PseudoInverse, Range,
    SliderPairs, Tikhonov, Transpose, Units,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::Rig;
use super::pin::pins;
use super::prior::PosePrior;
use crate::arrays::{self, points_array};
use crate::failure::{Failure, input_error};
use crate::report::choice;
use crate::work::{lock, run};

/// A rig prepared for pins; see `Rig.poser`.
///
/// >>> poser = pliant.load("specimen:head").rig().poser()
/// >>> pose = poser.grab([4480, 855]).solve([[0.7, 1.1, 0], [0, 0, 0]])
/// >>> pose.errors.max() < 0.2, "mouthSmileLeft" in pose.active
/// (np.True_, True)
#[pyclass(frozen, module = "pliant")]
pub(crate) struct Poser {
    pub(crate) poser: pliant::rig::Poser,
    pub(crate) rig: Rig,
}

#[pymethods]
impl Poser {
    /// The spread of the vertices, to which default lengths are relative.
    #[getter]
    fn size(&self) -> f64 {
        self.poser.size()
    }

    /// Takes hold of pins at a pose.
    #[pyo3(signature = (pins, weights=None, *, solver="box", range="clip", sparsity=Bounded::DEFAULT_SPARSITY, damping=Bounded::DEFAULT_DAMPING, reach=None, symmetric=false, protected=None, alpha=Tikhonov::DEFAULT_ALPHA, gamma=None, radius=None, units="relative", prior=None))]
    #[expect(
        clippy::too_many_arguments,
        reason = "options are keywords of one call"
    )]
    fn grab(
        &self,
        py: Python<'_>,
        pins: &Bound<'_, PyAny>,
        weights: Option<&Bound<'_, PyAny>>,
        solver: &str,
        range: &str,
        sparsity: f64,
        damping: f64,
        reach: Option<f64>,
        symmetric: bool,
        protected: Option<&Bound<'_, PyAny>>,
        alpha: f64,
        gamma: Option<f64>,
        radius: Option<f64>,
        units: &str,
        prior: Option<&PosePrior>,
    ) -> Result<Grab, Failure> {
        let pins = self::pins(pins)?;
        let weights = match weights {
            Some(weights) => self.rig.weights(weights)?,
            None => vec![0.0; self.rig.rig.sliders().len()],
        };
        let range = choice(
            "range",
            range,
            &[("clip", Range::Clip), ("free", Range::Free)],
        )?;
        let units = choice(
            "units",
            units,
            &[("relative", Units::Relative), ("scene", Units::Scene)],
        )?;

        let tikhonov = Tikhonov { alpha, units };
        if prior.is_some() && solver != "box" {
            return Err(input_error(
                "prior needs the solver 'box'; the other solvers have no prior",
            ));
        }
        let solver: Box<dyn PoseSolver> = match (solver, prior) {
            ("box", Some(prior)) => Box::new(MostProbable::new(prior.prior_for(&self.rig.rig)?)),
            ("box", None) => {
                let mut bounded = Bounded::default()
                    .with_sparsity(sparsity)
                    .with_damping(damping)
                    .with_reach(reach);
                if symmetric {
                    let partners = SliderPairs::by_name(&self.rig.names()).partners().to_vec();
                    bounded = bounded.with_symmetry(partners, 1.0);
                }
                if let Some(protected) = protected {
                    let vertices = arrays::indices("protected", protected)?;
                    for &vertex in &vertices {
                        self.rig.rig.neutral().require_vertex(vertex as usize)?;
                    }
                    bounded = bounded.with_protected(vertices);
                }
                Box::new(bounded)
            }
            ("pinv", _) => Box::new(PseudoInverse),
            ("tikhonov", _) => Box::new(tikhonov),
            ("localized", _) => Box::new(Localized {
                tikhonov,
                outer_radius: radius,
            }),
            ("transpose", _) => Box::new(Transpose { units }),
            ("hybrid", _) => Box::new(Hybrid { gamma, units }),
            (other, _) => {
                return Err(input_error(format!(
                    "solver is '{other}'; give one of 'box', 'pinv', 'tikhonov', 'localized', 'transpose', 'hybrid'"
                )));
            }
        };

        let count = pins.len();
        let goals = pins.iter().map(|pin| pin.displacement).collect();
        let grab = run(py, || {
            Ok(self.poser.grab(&weights, &pins, solver.as_ref(), range)?)
        })?;
        Ok(Grab {
            grab: Mutex::new(grab),
            count,
            goals,
            rig: self.rig.clone(),
        })
    }
}

/// Pins that are held and moved.
///
/// >>> rig = pliant.Rig([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]], [[[0, 0, 1]] * 3], ["lift"])
/// >>> grab = rig.poser().grab([pliant.Pin(0)], solver="pinv")
/// >>> grab.solve([[0, 0, 0.25]]).weights.tolist()
/// [0.25]
#[pyclass(frozen, module = "pliant")]
pub(crate) struct Grab {
    grab: Mutex<pliant::rig::Grab>,
    count: usize,
    /// The displacements that the pins came with.
    goals: Vec<pliant::mesh::glam::DVec3>,
    rig: Rig,
}

impl Grab {
    fn displacements(
        &self,
        displacements: Option<&Bound<'_, PyAny>>,
    ) -> Result<Vec<pliant::mesh::glam::DVec3>, Failure> {
        let Some(displacements) = displacements else {
            return Ok(self.goals.clone());
        };
        let found = arrays::points("displacements", displacements)?.into_vec();
        if found.len() != self.count {
            return Err(input_error(format!(
                "displacements has {} rows for {} pins; give one for each",
                found.len(),
                self.count
            )));
        }
        if let Some(pin) = found.iter().position(|d| !d.is_finite()) {
            return Err(input_error(format!(
                "displacements: row {pin} is not finite; give finite numbers"
            )));
        }
        Ok(found)
    }

    fn pose(&self, pose: pliant::rig::Pose) -> Pose {
        Pose::of(pose, self.rig.clone())
    }
}

#[pymethods]
impl Grab {
    /// The pose whose pins are at `displacements` from where they were grabbed.
    #[pyo3(signature = (displacements=None))]
    fn solve(
        &self,
        py: Python<'_>,
        displacements: Option<&Bound<'_, PyAny>>,
    ) -> Result<Pose, Failure> {
        let displacements = self.displacements(displacements)?;
        let pose = run(py, || Ok(lock(&self.grab)?.solve(&displacements)))?;
        Ok(self.pose(pose))
    }

    /// As `solve`, but no weight changes by more than `step` since the last pose.
    fn step(
        &self,
        py: Python<'_>,
        displacements: &Bound<'_, PyAny>,
        step: f64,
    ) -> Result<Pose, Failure> {
        if step.is_nan() || step < 0.0 {
            return Err(input_error(format!("step is {step}; give a number from 0")));
        }
        let displacements = self.displacements(Some(displacements))?;
        let pose = run(py, || Ok(lock(&self.grab)?.step(&displacements, step)))?;
        Ok(self.pose(pose))
    }

    /// Back to the weights at which the pins were grabbed.
    fn reset(&self, py: Python<'_>) -> Result<(), Failure> {
        run(py, || {
            lock(&self.grab)?.reset();
            Ok(())
        })
    }

    /// Which sliders moved, what each did at each pin, and what no slider reaches.
    fn explain<'py>(&self, py: Python<'py>, pose: &Pose) -> Result<Bound<'py, PyDict>, Failure> {
        let explanation = run(py, || Ok(lock(&self.grab)?.explain(&pose.pose)))?;
        let names = self.rig.names();
        let moves: Vec<Bound<'py, PyDict>> = explanation
            .moves
            .iter()
            .map(|moved| {
                let entry = PyDict::new(py);
                entry.set_item("slider", names[moved.slider.index()])?;
                entry.set_item("from", moved.from)?;
                entry.set_item("to", moved.to)?;
                let shares = moved
                    .shares
                    .iter()
                    .map(|share| share.displacement)
                    .collect();
                entry.set_item("displacements", points_array(py, shares)?)?;
                let of_goal: Vec<f64> = moved.shares.iter().map(|share| share.of_goal).collect();
                entry.set_item("of_goal", of_goal.into_pyarray(py))?;
                Ok(entry)
            })
            .collect::<Result<_, Failure>>()?;

        let report = PyDict::new(py);
        report.set_item("moves", moves)?;
        report.set_item("unreachable", points_array(py, explanation.unreachable)?)?;
        Ok(report)
    }
}

/// The fields of a pickled pose; goal, reached position and error of each pin.
type PoseState = (
    Rig,
    String,
    Vec<f64>,
    Vec<([f64; 3], [f64; 3], f64)>,
    Vec<usize>,
    Option<f64>,
    usize,
    Vec<String>,
);

/// The names of the solvers, as poses have them.
const METHODS: [&str; 7] = [
    "box",
    "pinv",
    "tikhonov",
    "localized",
    "transpose",
    "hybrid",
    "prior",
];

/// The pose that a drag gives.
#[pyclass(frozen, module = "pliant")]
pub(crate) struct Pose {
    pub(crate) pose: pliant::rig::Pose,
    rig: Rig,
}

impl Pose {
    pub(crate) fn of(pose: pliant::rig::Pose, rig: Rig) -> Self {
        Self { pose, rig }
    }
}

#[pymethods]
impl Pose {
    /// The name of the solver.
    #[getter]
    fn method(&self) -> &str {
        self.pose.method
    }

    /// The weight of each slider, (s,).
    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.pose.weights.clone().into_pyarray(py)
    }

    /// The sliders that are visibly away from zero, by name.
    #[getter]
    fn active<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>, Failure> {
        let active = PyDict::new(py);
        for (name, &weight) in self.rig.names().iter().zip(&self.pose.weights) {
            if weight.abs() > pliant::rig::Pose::ACTIVE {
                active.set_item(name, weight)?;
            }
        }
        Ok(active)
    }

    /// The goal of each pin, (p, 3).
    #[getter]
    fn goals<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray2<f64>>, Failure> {
        points_array(py, self.pose.pins.iter().map(|pin| pin.goal).collect())
    }

    /// Where the pose brings each pin, (p, 3).
    #[getter]
    fn reached<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray2<f64>>, Failure> {
        points_array(py, self.pose.pins.iter().map(|pin| pin.reached).collect())
    }

    /// The distance of each pin from its goal, (p,), in the coordinates that it constrains.
    #[getter]
    fn errors<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        let errors: Vec<f64> = self.pose.pins.iter().map(|pin| pin.error).collect();
        errors.into_pyarray(py)
    }

    /// The sliders that a limit holds back.
    #[getter]
    fn at_limit(&self) -> Vec<&str> {
        let names = self.rig.names();
        self.pose
            .at_limit
            .iter()
            .map(|slider| names[slider.index()])
            .collect()
    }

    /// The KKT residual, or `None` for solvers without one.
    #[getter]
    fn kkt(&self) -> Option<f64> {
        self.pose.kkt
    }

    /// Iterations of the solver.
    #[getter]
    fn iterations(&self) -> usize {
        self.pose.iterations
    }

    /// Warnings, one sentence each.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.pose.warnings.clone()
    }

    /// The positions of the pose, (n, 3).
    fn positions<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray2<f64>>, Failure> {
        let positions = run(py, || Ok(self.rig.positions_at(&self.pose.weights)))?;
        points_array(py, positions)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> Result<(Bound<'py, PyAny>, PoseState), Failure> {
        let make = py.get_type::<Self>().getattr("_restored")?;
        let pose = &self.pose;
        let pins = pose.pins.iter();
        let state = (
            self.rig.clone(),
            pose.method.to_owned(),
            pose.weights.clone(),
            pins.map(|pin| (pin.goal.to_array(), pin.reached.to_array(), pin.error))
                .collect(),
            pose.at_limit.iter().map(|slider| slider.index()).collect(),
            pose.kkt,
            pose.iterations,
            pose.warnings.clone(),
        );
        Ok((make, state))
    }

    /// What `__reduce__` stored.
    #[staticmethod]
    #[expect(clippy::too_many_arguments, reason = "the fields of a pose")]
    fn _restored(
        rig: Rig,
        method: &str,
        weights: Vec<f64>,
        pins: Vec<([f64; 3], [f64; 3], f64)>,
        at_limit: Vec<usize>,
        kkt: Option<f64>,
        iterations: usize,
        warnings: Vec<String>,
    ) -> Result<Self, Failure> {
        let sliders = rig.rig.sliders().len();
        if weights.len() != sliders || at_limit.iter().any(|slider| *slider >= sliders) {
            return Err(input_error("this pose is one of another rig"));
        }
        let pins = pins.into_iter().map(|(goal, reached, error)| PinResult {
            goal: goal.into(),
            reached: reached.into(),
            error,
        });
        let pose = pliant::rig::Pose {
            method: METHODS
                .iter()
                .find(|known| **known == method)
                .unwrap_or(&""),
            weights,
            pins: pins.collect(),
            at_limit: at_limit.into_iter().map(Into::into).collect(),
            kkt,
            iterations,
            warnings,
        };
        Ok(Self { pose, rig })
    }

    fn __repr__(&self) -> String {
        let worst = self
            .pose
            .pins
            .iter()
            .map(|pin| pin.error)
            .fold(0.0, f64::max);
        format!(
            "<pliant.Pose: {} sliders, largest pin error {worst:.3e}>",
            self.pose.active_sliders()
        )
    }
}
