//! Quadratic programs with limits.

use numpy::{IntoPyArray, PyArray1};
use pliant::linalg::{BoxTerms, BoxWorkspace};
use pyo3::prelude::*;

use crate::arrays;
use crate::failure::{Failure, input_error};
use crate::work::run;

/// The lowest point of `½ xᵀ H x − fᵀ x + Σ cₖ |xₖ|` within limits; `hessian` is `H`, symmetric and positive
/// definite, (n, n).
///
/// >>> quadratic = pliant.BoxQuadratic([[2, 0], [0, 2]])
/// >>> x, kkt = quadratic.solve([2, -2], lower=[0, 0], upper=[0.5, 1])
/// >>> x.tolist()
/// [0.5, 0.0]
#[pyclass(frozen, module = "pliant")]
pub(crate) struct BoxQuadratic {
    quadratic: pliant::linalg::BoxQuadratic,
}

#[pymethods]
impl BoxQuadratic {
    #[new]
    fn new(py: Python<'_>, hessian: &Bound<'_, PyAny>) -> Result<Self, Failure> {
        let rows = arrays::rows("hessian", hessian)?;
        let size = rows.len();
        if rows.iter().any(|row| row.len() != size) {
            return Err(input_error("hessian: give a square matrix, (n, n)"));
        }
        let scale = rows.iter().flatten().fold(0.0_f64, |m, h| m.max(h.abs()));
        let is_symmetric =
            (0..size).all(|i| (0..i).all(|j| (rows[i][j] - rows[j][i]).abs() <= SYMMETRY * scale));
        if !is_symmetric {
            return Err(input_error("hessian is not symmetric; give (H + H.T) / 2"));
        }
        let quadratic = run(py, || Ok(pliant::linalg::BoxQuadratic::new(rows.concat())?))?;
        Ok(Self { quadratic })
    }

    /// The solution (n,), and the largest violation of the conditions of optimality, relative to the largest
    /// `|fₖ| + cₖ`. Without limits, a variable is free.
    #[pyo3(signature = (linear, *, lower=None, upper=None, penalties=None))]
    fn solve<'py>(
        &self,
        py: Python<'py>,
        linear: &Bound<'py, PyAny>,
        lower: Option<&Bound<'py, PyAny>>,
        upper: Option<&Bound<'py, PyAny>>,
        penalties: Option<&Bound<'py, PyAny>>,
    ) -> Result<(Bound<'py, PyArray1<f64>>, f64), Failure> {
        let size = self.quadratic.size();
        let list = |what: &str, values: Option<&Bound<'py, PyAny>>, otherwise: f64| match values {
            Some(values) => arrays::numbers_for(what, values, size, "variables"),
            None => Ok(vec![otherwise; size]),
        };
        let linear = list("linear", Some(linear), 0.0)?;
        let lower = list("lower", lower, f64::NEG_INFINITY)?;
        let upper = list("upper", upper, f64::INFINITY)?;
        let penalties = list("penalties", penalties, 0.0)?;
        for k in 0..size {
            if !linear[k].is_finite() {
                return Err(input_error(format!("linear: entry {k} is {}", linear[k])));
            }
            if !(penalties[k] >= 0.0 && penalties[k].is_finite()) {
                let penalty = penalties[k];
                return Err(input_error(format!(
                    "penalties: entry {k} is {penalty}; give numbers from 0"
                )));
            }
            if lower[k].is_nan() || upper[k].is_nan() || lower[k] > upper[k] {
                return Err(input_error(format!(
                    "the limits of variable {k} are {} and {}; give a lower one and an upper one",
                    lower[k], upper[k]
                )));
            }
        }

        let (x, kkt) = run(py, || {
            let terms = BoxTerms {
                linear: &linear,
                penalties: &penalties,
                lower: &lower,
                upper: &upper,
            };
            let mut x = vec![0.0; size];
            let report = self
                .quadratic
                .solve(&terms, &mut x, &mut BoxWorkspace::default());
            Ok((x, report.kkt))
        })?;
        Ok((x.into_pyarray(py), kkt))
    }
}

/// Differences below this, relative to the largest entry, are rounding.
const SYMMETRY: f64 = 1e-9;
