//! Box-constrained quadratic programming with an L1 penalty (active set method).
//!
//! **Problem.** Sliders have limits, and of many sliders few should move. Clipping after an
//! unconstrained solve is not the nearest point inside, and a fixed number of sweeps is no
//! certificate.
//!
//! **Equation.**
//!
//! ```text
//! min  ½ xᵀ H x − fᵀ x + Σ cₖ |xₖ|      subject to  lₖ ≤ xₖ ≤ uₖ
//! ```
//!
//! with `H` symmetric positive definite and `c ≥ 0`. With `g = H x − f`, a point is optimal where
//! no move of an `xₖ` lowers the objective: `gₖ + cₖ sₖ = 0` between breakpoints (`sₖ` the sign of
//! `xₖ`), `|gₖ| ≤ cₖ` at zero, and the same one-sided at limits.
//!
//! **Source.** A primal active set in the manner of Nocedal and Wright, "Numerical optimization",
//! 2006, algorithm 16.3, with zero as one more bound of each piece, as in the feature-sign search
//! of Lee, Battle, Raina and Ng, 2007.
//!
//! **Departures.** The free variables are solved exactly each time, so the result is exact to
//! rounding, and the largest violation of the conditions is returned as a certificate. From a good
//! start only a few variables change sides; each change costs a row of a `GrowingCholesky`, not a
//! factorisation.

use crate::LinalgError;
use crate::growing_cholesky::GrowingCholesky;

/// The quadratic part of a problem; the rest, [`BoxTerms`], changes from solve to solve.
#[derive(Debug, Clone)]
pub struct BoxQuadratic {
    size: usize,
    /// Row by row.
    hessian: Vec<f64>,
}

/// How a solve ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoxReport {
    /// Number of solves for the free variables.
    pub iterations: usize,
    /// The largest violation of the conditions of optimality, relative to the largest `|fₖ| + cₖ`.
    pub kkt: f64,
}

/// The changing part of a problem.
#[derive(Debug, Clone, Copy)]
pub struct BoxTerms<'a> {
    /// The linear part `f`.
    pub linear: &'a [f64],
    /// The penalty `cₖ ≥ 0` of `|xₖ|`.
    pub penalties: &'a [f64],
    /// Lower limits.
    pub lower: &'a [f64],
    /// Upper limits, none below its lower one.
    pub upper: &'a [f64],
}

/// Buffers that are reused between solves.
#[derive(Debug, Clone, Default)]
pub struct BoxWorkspace {
    gradient: Vec<f64>,
    free: Vec<usize>,
    /// The sides of zero that the free variables are on.
    signs: Vec<f64>,
    is_free: Vec<bool>,
    /// Of the free rows, in the order of `free`.
    factor: GrowingCholesky,
    step: Vec<f64>,
}

impl BoxWorkspace {
    /// `H x − f` at the last solution.
    #[must_use]
    pub fn gradient(&self) -> &[f64] {
        &self.gradient
    }
}

impl BoxQuadratic {
    /// Iterations per variable before giving up. *Chosen*: hundreds of random problems need under
    /// two.
    const ITERATIONS_PER_VARIABLE: usize = 20;
    const LEAST_ITERATIONS: usize = 50;
    /// A certificate that needs no second round.
    const GOOD: f64 = 1e-12;
    /// A violation below this, relative to the largest `|fₖ| + cₖ`, is rounding.
    const TOLERANCE: f64 = 1e-13;

    /// A quadratic with the symmetric positive definite matrix `hessian`, row by row. Declines one
    /// that is not square or not definite.
    pub fn new(hessian: Vec<f64>) -> Result<Self, LinalgError> {
        if hessian.len().isqrt().pow(2) != hessian.len() {
            return Err(LinalgError::NotSquare {
                entries: hessian.len(),
            });
        }

        let quadratic = Self::trusted(hessian);
        let size = quadratic.size;
        let mut factor = GrowingCholesky::default();
        for row in 0..size {
            // Row by row, so that the first bad pivot names its row.
            let entries = &quadratic.hessian[row * size..][..=row];
            let definite = entries.iter().all(|h| h.is_finite())
                && entries[row] > 0.0
                && factor.append(entries.iter().copied());
            if !definite {
                return Err(LinalgError::NotPositiveDefinite { unknown: row, size });
            }
        }

        Ok(quadratic)
    }

    /// As [`new`](Self::new) for a matrix that is known to be definite, as a Gram matrix plus a
    /// diagonal is: nothing is factored.
    ///
    /// # Panics
    /// If the list is not that of a square matrix.
    #[must_use]
    pub fn trusted(hessian: Vec<f64>) -> Self {
        let size = hessian.len().isqrt();
        assert_eq!(
            size * size,
            hessian.len(),
            "the matrix of a quadratic is square"
        );
        Self { size, hessian }
    }

    /// The number of variables.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// Gives the matrix back, for its buffer.
    #[must_use]
    pub fn into_hessian(self) -> Vec<f64> {
        self.hessian
    }

    /// Moves `x` to the lowest point; it starts from `x`, which may lie outside the box.
    ///
    /// # Panics
    /// If a slice has another length than [`Self::size`].
    pub fn solve(
        &self,
        terms: &BoxTerms<'_>,
        x: &mut [f64],
        workspace: &mut BoxWorkspace,
    ) -> BoxReport {
        let lengths = [
            terms.linear.len(),
            terms.penalties.len(),
            terms.lower.len(),
            terms.upper.len(),
            x.len(),
        ];
        assert!(
            lengths.iter().all(|&n| n == self.size),
            "one number for each of {} variables",
            self.size
        );

        // Violations are relative to the largest possible gradient at zero.
        let scale = terms
            .linear
            .iter()
            .zip(terms.penalties)
            .map(|(f, c)| f.abs() + c)
            .fold(0.0, f64::max);
        let tolerance = Self::TOLERANCE * scale;
        let (mut iterations, mut kkt) = (0, f64::INFINITY);

        // Gradients are updated in place; where rounding has accumulated, a second round starts
        // from fresh ones.
        for _ in 0..3 {
            self.start(terms, x, workspace);
            iterations += self.change_sides(terms, x, workspace, tolerance);
            self.polish(terms, x, workspace);

            let found = self.certificate(terms, x, workspace);

            // Stop where the certificate is good, or a further round no longer improves it.
            if found >= kkt || found <= Self::GOOD {
                kkt = kkt.min(found);
                break;
            }
            kkt = found;
        }

        BoxReport { iterations, kkt }
    }

    /// Frees and fixes variables until none leaves its breakpoint; returns the number of solves for
    /// the free ones.
    fn change_sides(
        &self,
        terms: &BoxTerms<'_>,
        x: &mut [f64],
        workspace: &mut BoxWorkspace,
        tolerance: f64,
    ) -> usize {
        let most = Self::LEAST_ITERATIONS + Self::ITERATIONS_PER_VARIABLE * self.size;
        for iteration in 1..=most {
            // After a step that ended at a breakpoint, the smaller free set is solved first.
            if !workspace.free.is_empty() && !self.advance(terms, x, workspace) {
                continue;
            }
            let Some((variable, sign)) = self.worst(terms, x, workspace, tolerance) else {
                return iteration;
            };
            self.set_free(variable, sign, workspace);
        }

        most
    }

    /// Solves for the free variables once more, from the fixed ones alone: the result has the same
    /// bits for every sequence of steps.
    fn polish(&self, terms: &BoxTerms<'_>, x: &mut [f64], workspace: &mut BoxWorkspace) {
        // The factor is rebuilt in ascending order of the free variables.
        let mut sides: Vec<(usize, f64)> = workspace
            .free
            .iter()
            .copied()
            .zip(workspace.signs.iter().copied())
            .collect();

        sides.sort_unstable_by_key(|(k, _)| *k);
        workspace.factor.clear();
        workspace.free.clear();
        workspace.signs.clear();

        let mut fixed = x.to_vec();
        for &(k, sign) in &sides {
            fixed[k] = 0.0;
            self.set_free(k, sign, workspace);
        }

        // The gradient at the fixed variables alone, with all free ones at zero.
        self.gradient(terms, &fixed, &mut workspace.gradient);
        let BoxWorkspace {
            gradient,
            factor,
            step,
            ..
        } = workspace;

        // The Newton step of the free variables on the pieces that they are in.
        step.clear();
        step.extend(
            sides
                .iter()
                .map(|&(k, sign)| -(gradient[k] + terms.penalties[k] * sign)),
        );
        factor.solve(step);

        for (&(k, sign), &value) in sides.iter().zip(&*step) {
            // Rounding must not carry a variable over the end of its piece.
            let low = breakpoint(terms, k, sign, -1.0);
            let high = breakpoint(terms, k, sign, 1.0);
            x[k] = value.max(low).min(high);
        }
    }

    /// The largest violation of the conditions of optimality at `x`, relative to the largest `|fₖ|
    /// + cₖ`; its gradient stays in `workspace`.
    ///
    /// # Panics
    /// If a slice has another length than [`Self::size`].
    pub fn certificate(
        &self,
        terms: &BoxTerms<'_>,
        x: &[f64],
        workspace: &mut BoxWorkspace,
    ) -> f64 {
        workspace.gradient.resize(self.size, 0.0);
        self.gradient(terms, x, &mut workspace.gradient);
        let scale = terms
            .linear
            .iter()
            .zip(terms.penalties)
            .map(|(f, c)| f.abs() + c)
            .fold(0.0, f64::max);

        if scale > 0.0 {
            self.violation(terms, x, &workspace.gradient) / scale
        } else {
            0.0
        }
    }

    /// The largest violation of the conditions of optimality at `x`, in the unit of `f`.
    fn violation(&self, terms: &BoxTerms<'_>, x: &[f64], gradient: &[f64]) -> f64 {
        // NaN counts as a violation; `max` alone would drop it.
        let worse = |worst: f64, k: usize| {
            let violation = violation_of(terms, x[k], gradient[k], k).0 + outside(terms, x[k], k);
            if violation.is_nan() {
                violation
            } else {
                worst.max(violation)
            }
        };
        (0..self.size).fold(0.0, worse)
    }

    fn start(&self, terms: &BoxTerms<'_>, x: &mut [f64], workspace: &mut BoxWorkspace) {
        workspace.free.clear();
        workspace.signs.clear();
        workspace.factor.clear();
        workspace.is_free.clear();
        workspace.is_free.resize(self.size, false);

        // Variables that start between breakpoints are free.
        for k in 0..self.size {
            x[k] = x[k].max(terms.lower[k]).min(terms.upper[k]);
            if !at_breakpoint(terms, x[k], k) {
                self.set_free(k, sign_of(x[k]), workspace);
            }
        }

        workspace.gradient.resize(self.size, 0.0);
        self.gradient(terms, x, &mut workspace.gradient);
    }

    fn set_free(&self, variable: usize, sign: f64, workspace: &mut BoxWorkspace) {
        let BoxWorkspace {
            free,
            signs,
            is_free,
            factor,
            ..
        } = workspace;

        free.push(variable);
        signs.push(sign);
        is_free[variable] = true;

        let row = &self.hessian[variable * self.size..][..self.size];
        factor.append(free.iter().map(|&k| row[k]));
    }

    fn gradient(&self, terms: &BoxTerms<'_>, x: &[f64], gradient: &mut [f64]) {
        for (k, out) in gradient.iter_mut().enumerate() {
            *out = -terms.linear[k];
        }
        self.add_rows(
            x.iter()
                .copied()
                .enumerate()
                .filter(|(_, value)| *value != 0.0),
            gradient,
        );
    }

    /// Adds rows of the matrix, each times a factor, to `gradient`: four at a time, so that it is
    /// read and written less often.
    fn add_rows(&self, mut rows: impl Iterator<Item = (usize, f64)>, gradient: &mut [f64]) {
        let row = |k: usize| &self.hessian[k * self.size..][..self.size];
        while let Some((first, factor)) = rows.next() {
            // Where fewer are left, the first one fills up with factor zero.
            let [(b, q), (c, r), (d, s)] =
                std::array::from_fn(|_| rows.next().unwrap_or((first, 0.0)));
            let others = row(b).iter().zip(row(c)).zip(row(d));
            for ((out, a), ((b, c), d)) in gradient.iter_mut().zip(row(first)).zip(others) {
                *out += (a * factor + b * q) + (c * r + d * s);
            }
        }
    }

    /// Goes to the minimum over the free variables, or to the first breakpoint before it; returns
    /// whether it reached the minimum.
    fn advance(&self, terms: &BoxTerms<'_>, x: &mut [f64], workspace: &mut BoxWorkspace) -> bool {
        let BoxWorkspace {
            gradient,
            free,
            signs,
            is_free,
            factor,
            step,
        } = workspace;

        // The Newton step of the free variables.
        step.clear();
        step.extend(
            free.iter()
                .zip(&*signs)
                .map(|(&k, s)| -(gradient[k] + terms.penalties[k] * s)),
        );
        factor.solve(step);

        // The step ends at the first breakpoint: a limit, or zero where a penalty applies.
        let mut reached: Option<(usize, f64)> = None;
        let mut length = 1.0;
        for (place, &k) in free.iter().enumerate() {
            let stop = breakpoint(terms, k, signs[place], step[place]);
            let share = (stop - x[k]) / step[place];
            if step[place] != 0.0 && share < length {
                (length, reached) = (share.max(0.0), Some((place, stop)));
            }
        }

        // Take the step, and update the gradient by the rows of the moved variables.
        for s in step.iter_mut() {
            *s *= length;
        }
        for (&k, s) in free.iter().zip(&*step) {
            x[k] += s;
        }
        self.add_rows(free.iter().copied().zip(step.iter().copied()), gradient);

        // A variable that met a breakpoint leaves the free set.
        let Some((place, stop)) = reached else {
            return true;
        };

        x[free[place]] = stop;
        is_free[free[place]] = false;
        free.remove(place);
        signs.remove(place);
        factor.remove(place);

        false
    }

    /// The variable at a breakpoint with the largest violation, and the side it leaves to.
    fn worst(
        &self,
        terms: &BoxTerms<'_>,
        x: &[f64],
        workspace: &BoxWorkspace,
        tolerance: f64,
    ) -> Option<(usize, f64)> {
        // Free variables were solved exactly; only those at breakpoints can be violated.
        let mut worst = (tolerance, None);
        for k in 0..self.size {
            let (size, sign) = violation_of(terms, x[k], workspace.gradient[k], k);
            if size > worst.0 && !workspace.is_free[k] && at_breakpoint(terms, x[k], k) {
                worst = (size, Some((k, sign)));
            }
        }

        worst.1
    }
}

fn at_breakpoint(terms: &BoxTerms<'_>, x: f64, k: usize) -> bool {
    x == terms.lower[k] || x == terms.upper[k] || (x == 0.0 && terms.penalties[k] > 0.0)
}

/// How much the objective falls per unit of the best move of variable `k`, and the sign of `x` on
/// that side.
fn violation_of(terms: &BoxTerms<'_>, x: f64, gradient: f64, k: usize) -> (f64, f64) {
    let penalty = terms.penalties[k];

    // At zero the penalty has a kink: its slope differs on the two sides.
    let right = if x >= 0.0 { 1.0 } else { -1.0 };
    let left = if x > 0.0 { 1.0 } else { -1.0 };
    let up = if x < terms.upper[k] {
        -(gradient + penalty * right)
    } else {
        0.0
    };
    let down = if x > terms.lower[k] {
        gradient + penalty * left
    } else {
        0.0
    };

    // Written so that NaN is not taken for zero.
    if up.is_nan() || down.is_nan() {
        (f64::NAN, right)
    } else if up >= down {
        (up.max(0.0), right)
    } else {
        (down.max(0.0), left)
    }
}

fn outside(terms: &BoxTerms<'_>, x: f64, k: usize) -> f64 {
    (terms.lower[k] - x).max(x - terms.upper[k]).max(0.0)
}

/// Where a variable on the side `sign` of zero stops when it moves along `step`.
fn breakpoint(terms: &BoxTerms<'_>, k: usize, sign: f64, step: f64) -> f64 {
    // The kink at zero ends the piece, too.
    let kink = terms.penalties[k] > 0.0;
    if step > 0.0 {
        if kink && sign < 0.0 {
            terms.upper[k].min(0.0)
        } else {
            terms.upper[k]
        }
    } else if kink && sign > 0.0 {
        terms.lower[k].max(0.0)
    } else {
        terms.lower[k]
    }
}

fn sign_of(x: f64) -> f64 {
    if x < 0.0 { -1.0 } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn solve(
        quadratic: &BoxQuadratic,
        linear: &[f64],
        penalties: &[f64],
        lower: &[f64],
        upper: &[f64],
        x: &mut [f64],
    ) -> BoxReport {
        quadratic.solve(
            &BoxTerms {
                linear,
                penalties,
                lower,
                upper,
            },
            x,
            &mut BoxWorkspace::default(),
        )
    }

    /// Thousands of sweeps of coordinate descent: slow, simple, and certain to converge.
    fn by_sweeps(
        hessian: &[f64],
        linear: &[f64],
        penalties: &[f64],
        lower: &[f64],
        upper: &[f64],
    ) -> Vec<f64> {
        let n = linear.len();
        let mut x: Vec<f64> = (0..n).map(|k| 0f64.max(lower[k]).min(upper[k])).collect();
        for _ in 0..20_000 {
            for k in 0..n {
                let rest: f64 = (0..n)
                    .filter(|&j| j != k)
                    .map(|j| hessian[k * n + j] * x[j])
                    .sum();
                let pull = linear[k] - rest;
                let shrunk = pull.signum() * (pull.abs() - penalties[k]).max(0.0);
                x[k] = (shrunk / hessian[k * n + k]).max(lower[k]).min(upper[k]);
            }
        }

        x
    }

    #[test]
    fn one_variable_is_a_soft_threshold_cut_to_its_limits() {
        let quadratic = BoxQuadratic::new(vec![2.0]).unwrap();
        for (linear, wanted) in [
            (3.0, 1.0),
            (0.9, 0.0),
            (-3.0, -0.5),
            (2.0, 0.5),
            (-1.0, 0.0),
        ] {
            let mut x = [0.3];
            let report = solve(&quadratic, &[linear], &[1.0], &[-0.5], &[2.0], &mut x);
            assert!(
                (x[0] - wanted).abs() <= 2.0 * f64::EPSILON,
                "f = {linear}: {x:?}"
            );
            assert!(report.kkt <= 2.0 * f64::EPSILON);
        }
    }

    #[test]
    fn without_limits_and_penalties_it_is_a_linear_solve() {
        let quadratic = BoxQuadratic::new(vec![4.0, 1.0, 1.0, 3.0]).unwrap();
        let mut x = [0.0; 2];
        solve(
            &quadratic,
            &[1.0, 2.0],
            &[0.0; 2],
            &[f64::NEG_INFINITY; 2],
            &[f64::INFINITY; 2],
            &mut x,
        );

        assert!((x[0] - 1.0 / 11.0).abs() < 1e-15 && (x[1] - 7.0 / 11.0).abs() < 1e-15);
    }

    #[test]
    fn a_matrix_that_is_not_definite_is_declined() {
        assert!(BoxQuadratic::new(vec![1.0, 0.0, 0.0, -1.0]).is_err());
        assert!(BoxQuadratic::new(vec![f64::NAN]).is_err());
        assert!(
            BoxQuadratic::new(vec![1.0, 2.0, 2.0, 1.0]).is_err(),
            "a saddle"
        );
        assert_eq!(
            BoxQuadratic::new(vec![1.0; 5]).unwrap_err(),
            LinalgError::NotSquare { entries: 5 }
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn random_problems_end_with_a_certificate_at_the_solution_of_coordinate_descent(
            rows in prop::collection::vec(prop::collection::vec(-1.0..1.0f64, 6), 3..12),
            linear in prop::collection::vec(-2.0..2.0f64, 6),
            penalties in prop::collection::vec(0.0..1.0f64, 6),
            limits in prop::collection::vec((-1.0..0.5f64, 0.0..1.0f64), 6),
            start in prop::collection::vec(-2.0..2.0f64, 6),
        ) {
            let n = 6;
            let mut hessian = vec![0.0; n * n];
            for row in &rows {
                for i in 0..n { for j in 0..n { hessian[i * n + j] += row[i] * row[j]; } }
            }
            (0..n).for_each(|k| hessian[k * n + k] += 0.05);
            let lower: Vec<f64> = limits.iter().map(|l| l.0).collect();
            let upper: Vec<f64> = limits.iter().map(|l| l.0 + l.1).collect();
            // Every third penalty is zero, where zero is no breakpoint.
            let penalties: Vec<f64> = penalties.iter().enumerate().map(|(k, &c)| if k % 3 == 0 { 0.0 } else { c }).collect();
            let mut x = start.clone();
            let report = solve(&BoxQuadratic::new(hessian.clone()).unwrap(), &linear, &penalties, &lower, &upper, &mut x);
            prop_assert!(report.kkt < 1e-12, "kkt {}", report.kkt);
            let swept = by_sweeps(&hessian, &linear, &penalties, &lower, &upper);
            for k in 0..n {
                prop_assert!((x[k] - swept[k]).abs() < 1e-7, "{x:?} {swept:?}");
                prop_assert!(lower[k] <= x[k] && x[k] <= upper[k]);
            }
        }
    }

    #[test]
    fn a_thousand_correlated_variables_end_with_a_certificate() {
        let n = 1000;
        let mut hessian = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..n {
                hessian[i * n + j] = (-(i.abs_diff(j) as f64) / 30.0).exp();
            }
            hessian[i * n + i] += 1e-3;
        }

        let linear: Vec<f64> = (0..n)
            .map(|k| crate::portable::sin(k as f64 * 0.7) * 3.0)
            .collect();
        let mut x = vec![0.0; n];
        let report = solve(
            &BoxQuadratic::new(hessian).unwrap(),
            &linear,
            &vec![2.0; n],
            &vec![0.0; n],
            &vec![1.0; n],
            &mut x,
        );

        assert!(report.kkt < 1e-12, "{report:?}");
        assert!(x.iter().any(|v| *v > 0.0) && x.iter().all(|v| (0.0..=1.0).contains(v)));
    }
}
