//! Laplacians, gradients, deformation gradients, and linear systems.

use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArray3, PyArrayMethods};
use pliant::linalg::LeastSquares as Problem;
use pliant::mesh::glam::DMat3;
use pliant::mesh::mean_value_laplacian;
use pyo3::prelude::*;

use super::Mesh;
use super::remeshing::positions_of;
use crate::arrays::{self, points_array};
use crate::failure::{Failure, input_error};
use crate::report::choice;
use crate::work::{run, run_unwatched};

/// A sparse matrix in compressed rows: what `scipy.sparse.csr_array((data, indices, indptr), shape)`
/// takes.
///
/// >>> matrix = pliant.SparseMatrix([2.0, 3.0], [1, 0], [0, 1, 2], 2)
/// >>> matrix.to_dense().tolist(), (matrix @ [1.0, 10.0]).tolist()
/// ([[0.0, 2.0], [3.0, 0.0]], [20.0, 3.0])
#[pyclass(frozen, module = "pliant", from_py_object)]
#[derive(Clone)]
pub(crate) struct SparseMatrix {
    pub(crate) matrix: Arc<pliant::linalg::SparseMatrix>,
}

impl SparseMatrix {
    fn of(matrix: pliant::linalg::SparseMatrix) -> Self {
        Self {
            matrix: Arc::new(matrix),
        }
    }

    /// A matrix of this class, or anything in compressed rows, as those of scipy.
    fn from_any(matrix: &Bound<'_, PyAny>) -> Result<Self, Failure> {
        if let Ok(matrix) = matrix.cast::<Self>() {
            return Ok(matrix.get().clone());
        }
        if !matrix.hasattr("tocsr")? {
            let kind = matrix.get_type().qualname()?;
            return Err(input_error(format!(
                "the matrix is a {kind}; give a SparseMatrix or a sparse matrix of scipy, as scipy.sparse.csr_array makes it"
            )));
        }
        let rows = matrix.call_method0("tocsr")?;
        // Ascending columns, each once; the caller's own matrix stays as it is.
        let rows = rows.call_method0("copy")?;
        rows.call_method0("sum_duplicates")?;
        let (_, columns): (usize, usize) = rows.getattr("shape")?.extract()?;
        Self::new(
            &rows.getattr("data")?,
            &rows.getattr("indices")?,
            &rows.getattr("indptr")?,
            columns,
        )
    }
}

/// Arrays from outside that describe a matrix in compressed rows.
fn require_rows(
    columns: usize,
    starts: &[usize],
    indices: &[u32],
    data: &[f64],
) -> Result<(), Failure> {
    let wrong = |what: &str| {
        Err(input_error(format!(
            "{what}; give row starts and ascending columns"
        )))
    };
    if starts.first() != Some(&0) || starts.windows(2).any(|w| w[0] > w[1]) {
        return wrong("indptr does not ascend from 0");
    }
    if starts.last() != Some(&indices.len()) || indices.len() != data.len() {
        return wrong("indptr does not end where the entries end");
    }
    let ascending = |w: &[usize]| indices[w[0]..w[1]].windows(2).all(|pair| pair[0] < pair[1]);
    if !starts.windows(2).all(ascending) {
        return wrong("the columns of a row do not ascend");
    }
    if indices.iter().any(|&index| index as usize >= columns) {
        return wrong("indices has an entry beyond the last column");
    }
    Ok(())
}

#[pymethods]
impl SparseMatrix {
    #[new]
    fn new(
        data: &Bound<'_, PyAny>,
        indices: &Bound<'_, PyAny>,
        indptr: &Bound<'_, PyAny>,
        columns: usize,
    ) -> Result<Self, Failure> {
        let data = arrays::numbers("data", data)?;
        let indices = arrays::indices("indices", indices)?;
        let starts: Vec<usize> = arrays::indices("indptr", indptr)?
            .into_iter()
            .map(|s| s as usize)
            .collect();
        require_rows(columns, &starts, &indices, &data)?;
        Ok(Self::of(pliant::linalg::SparseMatrix::from_rows(
            columns, starts, indices, data,
        )))
    }

    #[expect(clippy::type_complexity, reason = "a class and its arguments")]
    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> Result<(Bound<'py, PyAny>, (Vec<f64>, Vec<u32>, Vec<usize>, usize)), Failure> {
        let matrix = &slf.get().matrix;
        let arguments = (
            matrix.values().to_vec(),
            matrix.indices().to_vec(),
            matrix.starts().to_vec(),
            matrix.columns(),
        );
        Ok((slf.get_type().into_any(), arguments))
    }

    /// Rows and columns.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.matrix.rows(), self.matrix.columns())
    }

    /// The entries, row by row.
    #[getter]
    fn data<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.matrix.values().to_vec().into_pyarray(py)
    }

    /// The column of each entry.
    #[getter]
    fn indices<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i32>> {
        let indices: Vec<i32> = self
            .matrix
            .indices()
            .iter()
            .map(|&index| index as i32)
            .collect();
        indices.into_pyarray(py)
    }

    /// Where each row begins, and where the last one ends.
    #[getter]
    fn indptr<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i32>> {
        let starts: Vec<i32> = self
            .matrix
            .starts()
            .iter()
            .map(|&start| start as i32)
            .collect();
        starts.into_pyarray(py)
    }

    /// The same matrix as `scipy.sparse.csr_array`; needs scipy.
    fn to_scipy<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>, Failure> {
        let sparse = py.import("scipy.sparse")?;
        let parts = (self.data(py), self.indices(py), self.indptr(py));
        let keywords = pyo3::types::PyDict::new(py);
        keywords.set_item("shape", self.shape())?;
        Ok(sparse.call_method("csr_array", (parts,), Some(&keywords))?)
    }

    /// The same matrix with its zeros, (rows, columns).
    fn to_dense<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray2<f64>>, Failure> {
        let (rows, columns) = self.shape();
        let mut all = vec![0.0; rows * columns];
        for row in 0..rows {
            let (indices, values) = self.matrix.row(row);
            for (&column, &value) in indices.iter().zip(values) {
                all[row * columns + column as usize] = value;
            }
        }
        Ok(all.into_pyarray(py).reshape([rows, columns])?)
    }

    /// The product with a vector.
    fn __matmul__<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
    ) -> Result<Bound<'py, PyArray1<f64>>, Failure> {
        let x = arrays::numbers_for("the vector", x, self.matrix.columns(), "columns")?;
        let product = run(py, || Ok(self.matrix.multiply(&x)))?;
        Ok(product.into_pyarray(py))
    }

    fn __repr__(&self) -> String {
        let (rows, columns) = self.shape();
        format!(
            "<pliant.SparseMatrix: {rows} × {columns}, {} entries>",
            self.matrix.entries()
        )
    }
}

/// The Laplacian of a mesh, positive semi-definite and integrated over the cells of the vertices,
/// and the mass of each vertex.
///
/// >>> matrix, mass = pliant.laplacian(pliant.load("specimen:bar:coarse").mesh())
/// >>> bool(abs(matrix @ (mass * 0 + 1)).max() < 1e-9)
/// True
#[pyfunction]
#[pyo3(signature = (mesh, *, kind="cotangent"))]
pub(crate) fn laplacian<'py>(
    py: Python<'py>,
    mesh: &Mesh,
    kind: &str,
) -> Result<(SparseMatrix, Bound<'py, PyArray1<f64>>), Failure> {
    let robust = choice("kind", kind, &[("cotangent", false), ("robust", true)])?;
    let mesh = Arc::clone(&mesh.mesh);
    let found = run_unwatched(py, move || {
        Ok(if robust {
            pliant::mesh::Laplacian::robust(&mesh)?
        } else {
            pliant::mesh::Laplacian::cotangent(&mesh)?
        })
    })?;
    Ok((SparseMatrix::of(found.matrix), found.mass.into_pyarray(py)))
}

/// The mean value Laplacian of a mesh, which is not symmetric.
///
/// >>> mesh = pliant.load("specimen:bar:coarse").mesh()
/// >>> pliant.mean_value_laplacian(mesh).shape == (mesh.vertex_count, mesh.vertex_count)
/// True
#[pyfunction(name = "mean_value_laplacian")]
pub(crate) fn mean_values(py: Python<'_>, mesh: &Mesh) -> Result<SparseMatrix, Failure> {
    Ok(SparseMatrix::of(run(py, || {
        Ok(mean_value_laplacian(&mesh.mesh)?)
    })?))
}

/// Gradient and divergence of functions on a surface.
///
/// >>> mesh = pliant.Mesh([[0, 0, 0], [2, 0, 0], [0, 1, 0]], [[0, 1, 2]])
/// >>> pliant.SurfaceGradient(mesh).gradient([0, 1, 0]).tolist()
/// [[0.5, 0.0, 0.0]]
#[pyclass(frozen, module = "pliant")]
pub(crate) struct SurfaceGradient {
    gradient: pliant::mesh::SurfaceGradient,
}

#[pymethods]
impl SurfaceGradient {
    #[new]
    fn new(py: Python<'_>, mesh: &Mesh) -> Result<Self, Failure> {
        Ok(Self {
            gradient: run(py, || Ok(pliant::mesh::SurfaceGradient::of(&mesh.mesh)?))?,
        })
    }

    /// The gradient in each triangle of one value per vertex.
    fn gradient<'py>(
        &self,
        py: Python<'py>,
        function: &Bound<'py, PyAny>,
    ) -> Result<Bound<'py, PyArray2<f64>>, Failure> {
        let function = arrays::numbers("function", function)?;
        let gradient = run(py, || Ok(self.gradient.gradient(&function)?))?;
        points_array(py, gradient)
    }

    /// The divergence at each vertex of one vector per triangle.
    fn divergence<'py>(
        &self,
        py: Python<'py>,
        field: &Bound<'py, PyAny>,
    ) -> Result<Bound<'py, PyArray1<f64>>, Failure> {
        let field = arrays::points("field", field)?;
        let field = field.as_slice();
        let divergence = run(py, || Ok(self.gradient.divergence(field)?))?;
        Ok(divergence.into_pyarray(py))
    }

    /// The area of each triangle, (m,).
    #[getter]
    fn areas<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.gradient.areas().to_vec().into_pyarray(py)
    }
}

/// Deformation gradients of the triangles of a mesh.
///
/// >>> mesh = pliant.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
/// >>> pliant.DeformationGradients(mesh).at(mesh.positions * [2, 1, 1])[0].diagonal()[:2].round(6).tolist()
/// [2.0, 1.0]
#[pyclass(frozen, module = "pliant")]
pub(crate) struct DeformationGradients {
    gradients: pliant::mesh::DeformationGradients,
    vertices: usize,
}

#[pymethods]
impl DeformationGradients {
    #[new]
    fn new(py: Python<'_>, rest: &Mesh) -> Result<Self, Failure> {
        let gradients = run(py, || {
            Ok(pliant::mesh::DeformationGradients::from_rest(&rest.mesh)?)
        })?;
        Ok(Self {
            gradients,
            vertices: rest.mesh.vertex_count(),
        })
    }

    /// One 3 × 3 matrix per triangle, which acts on column vectors.
    fn at<'py>(
        &self,
        py: Python<'py>,
        positions: &Bound<'py, PyAny>,
    ) -> Result<Bound<'py, PyArray3<f64>>, Failure> {
        let positions = positions_of("positions", positions, self.vertices)?;
        let positions = positions.as_slice();
        let gradients = run(py, || Ok(self.gradients.at(positions)?))?;
        let count = gradients.len();
        // Columns in the library, rows in numpy.
        let rows: Vec<DMat3> = gradients.iter().map(DMat3::transpose).collect();
        let numbers: Vec<f64> = rows.iter().flat_map(DMat3::to_cols_array).collect();
        Ok(numbers.into_pyarray(py).reshape([count, 3, 3])?)
    }
}

/// A symmetric positive definite system, factored once and solved often. The matrix is a `SparseMatrix` or
/// one of scipy.
///
/// >>> matrix = pliant.SparseMatrix([2.0, 4.0], [0, 1], [0, 1, 2], 2)
/// >>> pliant.SpdSolver(matrix).solve([1.0, 1.0]).round(12).tolist()
/// [0.5, 0.25]
#[pyclass(frozen, module = "pliant")]
pub(crate) struct SpdSolver {
    solver: pliant::linalg::SpdSolver,
}

#[pymethods]
impl SpdSolver {
    #[new]
    fn new(py: Python<'_>, matrix: &Bound<'_, PyAny>) -> Result<Self, Failure> {
        let matrix = SparseMatrix::from_any(matrix)?.matrix;
        let (rows, columns) = (matrix.rows(), matrix.columns());
        if rows != columns {
            return Err(input_error(format!(
                "the matrix is {rows} × {columns}; give a square one"
            )));
        }
        Ok(Self {
            solver: run_unwatched(py, move || Ok(pliant::linalg::SpdSolver::factor(&matrix)?))?,
        })
    }

    /// The solution for one right-hand side (n,), or for one per column (n, k).
    fn solve<'py>(
        &self,
        py: Python<'py>,
        rhs: &Bound<'py, PyAny>,
    ) -> Result<Bound<'py, PyAny>, Failure> {
        let size = self.solver.size();
        let (shape, mut columns) = arrays::columns("rhs", rhs, size)?;
        let columns = run(py, || {
            self.solver.solve_columns(&mut columns);
            Ok(columns)
        })?;
        arrays::columns_array(py, &shape, &columns)
    }
}

/// A least squares problem with soft and hard constraints, factored once.
///
/// >>> identity = pliant.SparseMatrix([1.0, 1.0], [0, 1], [0, 1, 2], 2)
/// >>> problem = pliant.LeastSquares(identity, soft={0: 1.0}, hard=[1])
/// >>> problem.solve([1.0, 1.0], soft_targets=[3.0], hard_values=[5.0]).round(9).tolist()
/// [2.0, 5.0]
#[pyclass(frozen, module = "pliant")]
pub(crate) struct LeastSquares {
    problem: Problem,
    rows: usize,
    soft: usize,
    hard: usize,
}

#[pymethods]
impl LeastSquares {
    /// `soft` maps unknowns to weights, `hard` lists unknowns with given values.
    #[new]
    #[pyo3(signature = (matrix, *, soft=None, hard=None))]
    fn new(
        py: Python<'_>,
        matrix: &Bound<'_, PyAny>,
        soft: Option<std::collections::BTreeMap<usize, f64>>,
        hard: Option<&Bound<'_, PyAny>>,
    ) -> Result<Self, Failure> {
        let matrix = SparseMatrix::from_any(matrix)?.matrix;
        let soft: Vec<(usize, f64)> = soft.unwrap_or_default().into_iter().collect();
        let hard: Vec<usize> = match hard {
            Some(hard) => arrays::indices("hard", hard)?
                .into_iter()
                .map(|k| k as usize)
                .collect(),
            None => Vec::new(),
        };
        let [rows, soft_count, hard_count] = [matrix.rows(), soft.len(), hard.len()];
        let problem = run_unwatched(py, move || Ok(Problem::factor(&matrix, &soft, &hard)?))?;
        Ok(Self {
            problem,
            rows,
            soft: soft_count,
            hard: hard_count,
        })
    }

    /// The best solution. Soft targets are in the order of ascending unknowns.
    #[pyo3(signature = (b, *, soft_targets=None, hard_values=None))]
    fn solve<'py>(
        &self,
        py: Python<'py>,
        b: &Bound<'py, PyAny>,
        soft_targets: Option<&Bound<'py, PyAny>>,
        hard_values: Option<&Bound<'py, PyAny>>,
    ) -> Result<Bound<'py, PyArray1<f64>>, Failure> {
        let list = |what: &str, values: Option<&Bound<'py, PyAny>>, count: usize| match values {
            Some(values) => arrays::numbers_for(what, values, count, "constraints"),
            None if count == 0 => Ok(Vec::new()),
            None => Err(input_error(format!(
                "{what}: give {count} numbers, one for each constraint"
            ))),
        };
        let b = arrays::numbers_for("b", b, self.rows, "rows")?;
        let soft = list("soft_targets", soft_targets, self.soft)?;
        let hard = list("hard_values", hard_values, self.hard)?;
        let solution = run(py, || Ok(self.problem.solve(&b, &soft, &hard)))?;
        Ok(solution.into_pyarray(py))
    }
}
