//! A blended shape and its figures.

use numpy::PyArray2;
use pliant::physics::{BlendReport, ContactFrame, Distortion};
use pyo3::prelude::*;

use crate::arrays::{self, points_array};
use crate::failure::Failure;

/// The fields of a pickled frame.
type FrameState<'py> = (
    Vec<f64>,
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray2<f64>>,
    (usize, f64, bool),
    [f64; 3],
    [f64; 3],
    [usize; 7],
    f64,
);

/// A blended shape.
#[pyclass(frozen, module = "pliant")]
pub(crate) struct BlendFrame {
    pub(super) frame: ContactFrame,
}

#[pymethods]
impl BlendFrame {
    /// Positions of the vertices, (n, 3).
    #[getter]
    fn positions<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray2<f64>>, Failure> {
        points_array(py, self.frame.shape.positions.clone())
    }

    /// Positions of the interior points, (k, 3).
    #[getter]
    fn interior<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray2<f64>>, Failure> {
        points_array(py, self.frame.shape.interior.clone())
    }

    /// Whether the residual is within the tolerance of the solver.
    #[getter]
    fn converged(&self) -> bool {
        self.frame.shape.report.converged
    }

    /// The largest force on a vertex, in units of `1 / mean rest length`.
    #[getter]
    fn residual(&self) -> f64 {
        self.frame.shape.report.residual
    }

    /// Iterations of the solver.
    #[getter]
    fn iterations(&self) -> usize {
        self.frame.shape.report.iterations
    }

    /// The area of the surface.
    #[getter]
    fn area(&self) -> f64 {
        self.frame.shape.area
    }

    /// The signed volume of the surface.
    #[getter]
    fn volume(&self) -> f64 {
        self.frame.shape.volume
    }

    /// The mean relative difference of the edges from their blended lengths.
    #[getter]
    fn strain(&self) -> f64 {
        self.frame.shape.strain
    }

    /// Tetrahedra of the interior whose volume changed its sign.
    #[getter]
    fn inverted(&self) -> usize {
        self.frame.shape.inverted
    }

    /// Vertices in contact with an obstacle.
    #[getter]
    fn contacts(&self) -> usize {
        self.frame.contacts
    }

    /// Vertices in contact with the same surface.
    #[getter]
    fn self_contacts(&self) -> usize {
        self.frame.self_contacts
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> Result<(Bound<'py, PyAny>, FrameState<'py>), Failure> {
        let make = py.get_type::<Self>().getattr("_restored")?;
        let shape = &self.frame.shape;
        let report = &shape.report;
        let linear = &shape.linear;
        let state = (
            shape.weights.clone(),
            self.positions(py)?,
            self.interior(py)?,
            (report.iterations, report.residual, report.converged),
            [shape.area, shape.volume, shape.strain],
            [linear.area, linear.volume, linear.strain],
            [
                shape.inverted,
                self.frame.contacts,
                self.frame.moved,
                self.frame.stuck,
                self.frame.substeps,
                self.frame.self_contacts,
                self.frame.faces,
            ],
            self.frame.self_depth,
        );
        Ok((make, state))
    }

    /// What `__reduce__` stored.
    #[staticmethod]
    #[expect(clippy::too_many_arguments, reason = "the fields of a frame")]
    fn _restored(
        weights: Vec<f64>,
        positions: &Bound<'_, PyAny>,
        interior: &Bound<'_, PyAny>,
        report: (usize, f64, bool),
        measures: [f64; 3],
        linear: [f64; 3],
        counts: [usize; 7],
        self_depth: f64,
    ) -> Result<Self, Failure> {
        let [area, volume, strain] = measures;
        let [linear_area, linear_volume, linear_strain] = linear;
        let [
            inverted,
            contacts,
            moved,
            stuck,
            substeps,
            self_contacts,
            faces,
        ] = counts;
        let (iterations, residual, converged) = report;
        Ok(Self {
            frame: ContactFrame {
                shape: pliant::physics::BlendFrame {
                    weights,
                    positions: arrays::points("positions", positions)?.into_vec(),
                    interior: arrays::points("interior", interior)?.into_vec(),
                    report: BlendReport {
                        iterations,
                        residual,
                        converged,
                    },
                    area,
                    volume,
                    strain,
                    linear: Distortion {
                        area: linear_area,
                        volume: linear_volume,
                        strain: linear_strain,
                    },
                    inverted,
                },
                contacts,
                moved,
                stuck,
                substeps,
                self_contacts,
                faces,
                self_depth,
            },
        })
    }

    /// A frame is an array of its positions wherever numpy wants one.
    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> Result<Bound<'py, PyAny>, Failure> {
        let _ = copy; // The array is new in any case.
        let positions = self.positions(py)?;
        match dtype {
            Some(dtype) => Ok(positions.call_method1("astype", (dtype,))?),
            None => Ok(positions.into_any()),
        }
    }

    fn __repr__(&self) -> String {
        let shape = &self.frame.shape;
        let converged = if shape.report.converged {
            "converged"
        } else {
            "not converged"
        };
        format!(
            "<pliant.BlendFrame: {} vertices, {converged}>",
            shape.positions.len()
        )
    }
}
