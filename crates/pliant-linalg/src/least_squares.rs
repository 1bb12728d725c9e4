//! Linear least squares with soft and hard constraints, factored once.
//!
//! **Problem.** Find the `x` that fits `A x ≈ b` best, stays near given targets in some unknowns,
//! and takes given values in others.
//!
//! **Equation.**
//!
//! ```text
//! min ‖A x − b‖² + Σᵢ ωᵢ (xᵢ − cᵢ)²     subject to  xⱼ = dⱼ
//! ```
//!
//! With `N = Aᵀ A + Ω`, the free unknowns `F` and the hard ones `H` it is solved by
//! `N_FF x_F = (Aᵀ b + Ω c)_F − N_FH d`.
//!
//! **Source.** The normal equations; Sorkine & Cohen-Or, "Least-squares meshes", SMI 2004, for
//! their use on meshes.
//!
//! **Departures.** Hard unknowns are eliminated instead of weighted heavily, so they are exact and
//! do not reduce the accuracy.

use std::ops::{AddAssign, Mul, Sub};

use glam::DVec3;

use crate::{LinalgError, SolveWorkspace, SparseMatrix, SpdSolver};

/// Marks a hard unknown among the numbers of the free ones.
const HARD: u32 = u32::MAX;

/// A least squares problem that is ready for any right-hand side, targets and values.
#[derive(Debug, Clone)]
pub struct LeastSquares {
    /// `Aᵀ`.
    transpose: SparseMatrix,
    soft: Vec<(usize, f64)>,
    hard: Vec<usize>,
    /// The unknowns that are solved for.
    free: Vec<u32>,
    /// `N_FH`.
    coupling: SparseMatrix,
    /// The factor of `N_FF`.
    solver: SpdSolver,
}

impl LeastSquares {
    /// Factors the problem of the matrix `a`, with the weights `ω` of soft unknowns and the list of
    /// hard ones.
    ///
    /// Weights of an unknown that is listed twice add up; a hard unknown ignores its weight.
    ///
    /// # Errors
    /// - [`LinalgError::Index`] if a constraint names an unknown that does not exist,
    /// - [`LinalgError::Weight`] if a weight is negative or not finite,
    /// - [`LinalgError::Repeated`] if an unknown is hard twice,
    /// - [`LinalgError::NotFinite`] if the matrix holds NaN or infinity,
    /// - [`LinalgError::NotPositiveDefinite`] if a connected part of the free unknowns is not
    ///   determined.
    pub fn factor(
        a: &SparseMatrix,
        soft: &[(usize, f64)],
        hard: &[usize],
    ) -> Result<Self, LinalgError> {
        let diagonal = soft_weights(a.columns(), soft)?;
        let numbers = number_free(a.columns(), hard)?;
        if let Some(row) =
            (0..a.rows()).find(|&row| a.row(row).1.iter().any(|value| !value.is_finite()))
        {
            return Err(LinalgError::NotFinite { row });
        }

        // Normal equations, split into free and hard unknowns.
        let transpose = a.transpose();
        let normal = transpose
            .times(a)
            .plus(1.0, &SparseMatrix::diagonal(&diagonal));
        let free: Vec<u32> = (0..a.columns() as u32)
            .filter(|&i| numbers[i as usize] != HARD)
            .collect();

        let (inner, coupling) = split(&normal, &numbers, &free, hard);

        // Errors name the unknown of the caller, not its number among the free ones.
        let solver = SpdSolver::factor(&inner).map_err(|error| match error {
            LinalgError::NotPositiveDefinite { unknown, size } => {
                LinalgError::NotPositiveDefinite {
                    unknown: free[unknown] as usize,
                    size,
                }
            }
            other => other,
        })?;

        Ok(Self {
            transpose,
            soft: soft.to_vec(),
            hard: hard.to_vec(),
            free,
            coupling,
            solver,
        })
    }

    /// Number of unknowns, hard ones included.
    #[must_use]
    pub fn size(&self) -> usize {
        self.transpose.rows()
    }

    /// The best `x`, for one number per row of the matrix, soft constraint and hard constraint, in
    /// the order given to [`factor`](Self::factor).
    ///
    /// # Panics
    /// If the numbers of right-hand sides, targets or values do not fit.
    #[must_use]
    pub fn solve(&self, b: &[f64], soft_targets: &[f64], hard_values: &[f64]) -> Vec<f64> {
        self.solve_with(b, soft_targets, hard_values, |rhs| {
            self.solver.solve_in_place(rhs, &mut SolveWorkspace::new())
        })
    }

    /// The best points, coordinate by coordinate; otherwise as [`solve`](Self::solve).
    ///
    /// # Panics
    /// If the numbers of right-hand sides, targets or values do not fit.
    #[must_use]
    pub fn solve_points(
        &self,
        b: &[DVec3],
        soft_targets: &[DVec3],
        hard_values: &[DVec3],
    ) -> Vec<DVec3> {
        self.solve_with(b, soft_targets, hard_values, |rhs| {
            self.solver
                .solve_points_in_place(rhs, &mut SolveWorkspace::new())
        })
    }

    fn solve_with<T>(
        &self,
        b: &[T],
        soft_targets: &[T],
        hard_values: &[T],
        solve: impl FnOnce(&mut [T]),
    ) -> Vec<T>
    where
        T: Copy + Default + Send + Sync + AddAssign + Sub<Output = T> + Mul<f64, Output = T>,
    {
        assert_eq!(
            b.len(),
            self.transpose.columns(),
            "one right-hand side per row of the matrix"
        );
        assert_eq!(
            soft_targets.len(),
            self.soft.len(),
            "one target per soft constraint"
        );
        assert_eq!(
            hard_values.len(),
            self.hard.len(),
            "one value per hard constraint"
        );

        // `Aᵀ b + Ω c`, less the known part of the hard unknowns.
        let mut x = self.transpose.multiply(b);
        for (&(unknown, weight), &target) in self.soft.iter().zip(soft_targets) {
            x[unknown] += target * weight;
        }

        let known = self.coupling.multiply(hard_values);
        let mut rhs: Vec<T> = self
            .free
            .iter()
            .zip(known)
            .map(|(&i, known)| x[i as usize] - known)
            .collect();

        // Free unknowns get the solution, hard ones their values.
        solve(&mut rhs);
        for (&i, value) in self.free.iter().zip(rhs) {
            x[i as usize] = value;
        }
        for (&unknown, &value) in self.hard.iter().zip(hard_values) {
            x[unknown] = value;
        }

        x
    }
}

/// The sum of the weights of every unknown.
fn soft_weights(unknowns: usize, soft: &[(usize, f64)]) -> Result<Vec<f64>, LinalgError> {
    let mut diagonal = vec![0.0; unknowns];
    for &(unknown, weight) in soft {
        if unknown >= unknowns {
            return Err(LinalgError::Index {
                what: "a soft constraint",
                index: unknown,
                size: unknowns,
            });
        }

        if !(weight >= 0.0 && weight.is_finite()) {
            return Err(LinalgError::Weight { unknown, weight });
        }

        diagonal[unknown] += weight;
    }

    Ok(diagonal)
}

/// The number of every unknown among the free ones, [`HARD`] for the others.
fn number_free(unknowns: usize, hard: &[usize]) -> Result<Vec<u32>, LinalgError> {
    let mut numbers = vec![0; unknowns];
    for &unknown in hard {
        match numbers.get_mut(unknown) {
            None => {
                return Err(LinalgError::Index {
                    what: "a hard constraint",
                    index: unknown,
                    size: unknowns,
                });
            }
            Some(number) if *number == HARD => return Err(LinalgError::Repeated { unknown }),
            Some(number) => *number = HARD,
        }
    }

    let free = numbers.iter_mut().filter(|number| **number != HARD);
    for (k, number) in free.enumerate() {
        *number = k as u32;
    }
    Ok(numbers)
}

/// `N_FF` and `N_FH`.
fn split(
    normal: &SparseMatrix,
    numbers: &[u32],
    free: &[u32],
    hard: &[usize],
) -> (SparseMatrix, SparseMatrix) {
    let mut hard_numbers = vec![0; numbers.len()];
    for (k, &unknown) in hard.iter().enumerate() {
        hard_numbers[unknown] = k as u32;
    }

    // Columns of free unknowns keep their order, so that rows stay sorted.
    let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    let mut coupled = Vec::new();
    for (row, &i) in free.iter().enumerate() {
        let (columns, entries) = normal.row(i as usize);
        for (&column, &entry) in columns.iter().zip(entries) {
            match numbers[column as usize] {
                HARD => coupled.push((row as u32, hard_numbers[column as usize], entry)),
                number => {
                    indices.push(number);
                    values.push(entry);
                }
            }
        }

        starts.push(indices.len());
    }

    let inner = SparseMatrix::from_rows(free.len(), starts, indices, values);
    (
        inner,
        SparseMatrix::from_triplets(free.len(), hard.len(), &coupled),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Differences along a path of `n` unknowns from `first` on.
    fn path(triplets: &mut Vec<(u32, u32, f64)>, row: &mut u32, first: u32, n: u32) {
        for i in first..first + n - 1 {
            triplets.extend([(*row, i, -1.0), (*row, i + 1, 1.0 + 0.1 * f64::from(i % 3))]);
            *row += 1;
        }
    }

    fn two_paths() -> SparseMatrix {
        let (mut triplets, mut row) = (Vec::new(), 0);
        path(&mut triplets, &mut row, 0, 6);
        path(&mut triplets, &mut row, 6, 5);
        SparseMatrix::from_triplets(row as usize, 11, &triplets)
    }

    /// Gaussian elimination with pivoting.
    fn solve_dense(mut m: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
        let n = b.len();
        for k in 0..n {
            let pivot = (k..n)
                .max_by(|&i, &j| m[i][k].abs().total_cmp(&m[j][k].abs()))
                .unwrap();
            m.swap(k, pivot);
            b.swap(k, pivot);

            for i in k + 1..n {
                let factor = m[i][k] / m[k][k];
                for j in k..n {
                    m[i][j] -= factor * m[k][j];
                }
                b[i] -= factor * b[k];
            }
        }

        for k in (0..n).rev() {
            b[k] = (b[k] - (k + 1..n).map(|j| m[k][j] * b[j]).sum::<f64>()) / m[k][k];
        }

        b
    }

    #[test]
    fn the_solution_is_that_of_the_dense_equations_with_multipliers() {
        let a = two_paths();
        let soft = [(1, 0.7), (8, 2.0), (1, 0.1)];
        let hard = [4, 9];
        let problem = LeastSquares::factor(&a, &soft, &hard).unwrap();
        let b: Vec<f64> = (0..a.rows()).map(|i| (i as f64).sin()).collect();
        let targets = [0.3, -1.0, 0.5];
        let values = [2.0, 1.0];

        // Stationarity of the Lagrangian: [N Eᵀ; E 0] [x; λ] = [Aᵀ b + Ω c; d].
        let n = 11;
        let mut m = vec![vec![0.0; n + 2]; n + 2];

        let mut rhs = a.transpose().multiply(&b);
        for row in 0..a.rows() {
            for i in 0..n {
                for j in 0..n {
                    m[i][j] += a.get(row, i) * a.get(row, j);
                }
            }
        }

        for (&(i, weight), target) in soft.iter().zip(targets) {
            m[i][i] += weight;
            rhs[i] += weight * target;
        }

        for (k, (&j, value)) in hard.iter().zip(values).enumerate() {
            (m[n + k][j], m[j][n + k]) = (1.0, 1.0);
            rhs.push(value);
        }

        let expected = solve_dense(m, rhs);
        let x = problem.solve(&b, &targets, &values);
        assert!(
            x.iter().zip(&expected).all(|(x, e)| (x - e).abs() < 1e-12),
            "{x:?} {expected:?}"
        );
    }

    #[test]
    fn hard_values_are_exact_and_points_are_solved_per_coordinate() {
        let a = two_paths();
        let hard = [0, 7];
        let problem = LeastSquares::factor(&a, &[(3, 1.0)], &hard).unwrap();
        let b: Vec<DVec3> = (0..a.rows())
            .map(|i| DVec3::new(i as f64, 1.0, -0.5))
            .collect();

        let targets = [DVec3::new(0.1, 0.2, 0.3)];
        let values = [DVec3::splat(0.1) / 3.0, DVec3::new(1e9, -1e-9, 7.7)];
        let points = problem.solve_points(&b, &targets, &values);

        assert_eq!([points[0], points[7]], values);
        for axis in 0..3 {
            let pick = |list: &[DVec3]| list.iter().map(|p| p[axis]).collect::<Vec<_>>();
            let x = problem.solve(&pick(&b), &pick(&targets), &pick(&values));
            let largest = x.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
            assert!(
                x.iter()
                    .zip(&points)
                    .all(|(x, p)| (x - p[axis]).abs() <= 1e-13 * largest)
            );
        }
    }

    #[test]
    fn the_error_names_a_component_without_constraints() {
        let (mut triplets, mut row) = (Vec::new(), 0);
        for (first, n) in [(0, 6), (6, 5)] {
            for i in first..first + n - 1 {
                triplets.extend([(row, i, -1.0), (row, i + 1, 1.0)]);
                row += 1;
            }
        }

        let a = SparseMatrix::from_triplets(row as usize, 11, &triplets);
        let error = LeastSquares::factor(&a, &[(2, 1.0)], &[]).unwrap_err();
        assert!(
            matches!(
                error,
                LinalgError::NotPositiveDefinite {
                    unknown: 6..=10,
                    size: 5
                }
            ),
            "{error:?}"
        );

        let error = LeastSquares::factor(&a, &[], &[8]).unwrap_err();
        assert!(
            matches!(
                error,
                LinalgError::NotPositiveDefinite {
                    unknown: 0..=5,
                    size: 6
                }
            ),
            "{error:?}"
        );

        assert!(LeastSquares::factor(&a, &[(2, 1.0)], &[8]).is_ok());
    }

    #[test]
    fn bad_constraints_are_errors() {
        let a = two_paths();
        assert!(matches!(
            LeastSquares::factor(&a, &[(11, 1.0)], &[]),
            Err(LinalgError::Index { index: 11, .. })
        ));

        assert!(matches!(
            LeastSquares::factor(&a, &[], &[12]),
            Err(LinalgError::Index { index: 12, .. })
        ));

        assert!(matches!(
            LeastSquares::factor(&a, &[(1, -1.0)], &[]),
            Err(LinalgError::Weight { unknown: 1, .. })
        ));

        assert!(matches!(
            LeastSquares::factor(&a, &[(1, f64::NAN)], &[]),
            Err(LinalgError::Weight { unknown: 1, .. })
        ));

        assert!(matches!(
            LeastSquares::factor(&a, &[], &[3, 3]),
            Err(LinalgError::Repeated { unknown: 3 })
        ));
    }

    #[test]
    fn a_problem_whose_every_unknown_is_hard_returns_the_values() {
        let a = two_paths();
        let hard: Vec<usize> = (0..11).rev().collect();
        let values: Vec<f64> = (0..11).map(|i| f64::from(i) / 7.0).collect();
        let x =
            LeastSquares::factor(&a, &[], &hard)
                .unwrap()
                .solve(&vec![1.0; a.rows()], &[], &values);
        assert!(hard.iter().zip(&values).all(|(&i, &value)| x[i] == value));
    }
}
