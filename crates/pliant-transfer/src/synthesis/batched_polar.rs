//! Polar decompositions of many matrices in SIMD lanes.
//!
//! **Problem.** A frame needs two polar decompositions per triangle; in a scalar loop each step
//! waits for the one before.
//!
//! **Equation.** Newton's iteration for the orthogonal polar factor, with `C` the cofactors of `X`,
//! so that `X⁻ᵀ = C / det X`:
//!
//! ```text
//! X ← ½ (γ X + C / (γ det X)),   γ⁴ = ‖C‖² / (det² ‖X‖²)
//! ```
//!
//! **Source.** Higham, "Computing the polar decomposition, with applications", 1986, eq. 2.9, as in
//! [`nearest_rotation`](pliant_linalg::nearest_rotation()).
//!
//! **Departures.** Eight matrices at a time, entry by entry, which compilers translate into wide
//! instructions, in a build for the processor at hand. Inverted, flat and extreme matrices use the
//! scalar decomposition of [`Polar`].

use pliant_linalg::simd::{Kernel, run_vectorized};
use pliant_mesh::Polar;
use pliant_mesh::glam::{DMat3, DVec3};

/// Matrices that are decomposed together.
pub(crate) const LANES: usize = 8;

/// Least determinant, relative to the cube of the norm, for which the iteration is used; below it,
/// the scalar decomposition.
const WELL_CONDITIONED: f64 = 1e-5;

/// Steps until even the worst conditioned matrix has converged.
const MOST_STEPS: usize = 24;

/// Entries of the matrices in column-major order.
type Entries = [[f64; LANES]; 9];

/// Calls `take` with the index and the [`Polar`] of each of `count` matrices, in order; they equal
/// those of [`Polar::of`] up to rounding.
#[inline]
pub(crate) fn for_each_polar(
    count: usize,
    matrix: impl Fn(usize) -> DMat3,
    take: impl FnMut(usize, &Polar),
) {
    run_vectorized(Polars {
        count,
        matrix,
        take,
    });
}

/// The loop of [`for_each_polar`].
struct Polars<M, T> {
    count: usize,
    matrix: M,
    take: T,
}

impl<M: Fn(usize) -> DMat3, T: FnMut(usize, &Polar)> Kernel for Polars<M, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self {
            count,
            matrix,
            mut take,
        } = self;

        let mut x: Entries = [[0.0; LANES]; 9];
        for start in (0..count).step_by(LANES) {
            for l in 0..LANES {
                // Beyond the end the last matrix is repeated.
                let entries = matrix((start + l).min(count - 1)).to_cols_array();
                for e in 0..9 {
                    x[e][l] = entries[e];
                }
            }

            let is_regular = well_conditioned(&x);
            newton(&mut x, &is_regular);
            for l in 0..LANES.min(count - start) {
                let gradient = matrix(start + l);
                let polar = if is_regular[l] {
                    with_rotation(rotation_of(&x, l), gradient)
                } else {
                    Polar::of(gradient)
                };
                take(start + l, &polar);
            }
        }
    }
}

#[inline(always)]
fn rotation_of(x: &Entries, l: usize) -> DMat3 {
    let column = |c: usize| DVec3::new(x[3 * c][l], x[3 * c + 1][l], x[3 * c + 2][l]);
    DMat3::from_cols(column(0), column(1), column(2))
}

#[inline(always)]
fn with_rotation(rotation: DMat3, gradient: DMat3) -> Polar {
    let product = rotation.transpose() * gradient;
    Polar {
        rotation,
        stretch: (product + product.transpose()) * 0.5,
    }
}

/// The cofactors of one matrix.
#[inline(always)]
fn cofactors(x: &Entries, l: usize) -> [f64; 9] {
    let [a, b, c, d, e, f, g, h, i] = std::array::from_fn(|k| x[k][l]);
    [
        e * i - f * h,
        f * g - d * i,
        d * h - e * g,
        c * h - b * i,
        a * i - c * g,
        b * g - a * h,
        b * f - c * e,
        c * d - a * f,
        a * e - b * d,
    ]
}

#[inline(always)]
fn well_conditioned(x: &Entries) -> [bool; LANES] {
    std::array::from_fn(|l| {
        let cofactor = cofactors(x, l);
        let determinant = x[0][l] * cofactor[0] + x[1][l] * cofactor[1] + x[2][l] * cofactor[2];
        let norm = x
            .iter()
            .map(|entry| entry[l] * entry[l])
            .sum::<f64>()
            .sqrt();

        // Norms whose sixth powers neither overflow nor underflow; NaN fails.
        (1e-40..1e40).contains(&norm) && determinant > WELL_CONDITIONED * norm * norm * norm
    })
}

/// Replaces matrices by their orthogonal factors; lanes that are not `is_regular` become the
/// identity.
#[inline(always)]
fn newton(x: &mut Entries, is_regular: &[bool; LANES]) {
    for l in (0..LANES).filter(|&l| !is_regular[l]) {
        for e in 0..9 {
            x[e][l] = if e % 4 == 0 { 1.0 } else { 0.0 };
        }
    }

    let mut scaled = true;
    for _ in 0..MOST_STEPS {
        let change = step(x, scaled).into_iter().fold(0.0, f64::max);
        // The error after a step is about half the square of the change: below 1e-8 here, and to
        // rounding after one more.
        if change < 1e-8 {
            break;
        }
        scaled = change > 1e-2; // Near convergence the plain iteration is as fast and cheaper.
    }

    step(x, false);
}

/// One step of the iteration on all lanes; returns the squared changes.
#[inline(always)]
fn step(x: &mut Entries, scaled: bool) -> [f64; LANES] {
    let mut change = [0.0; LANES];
    for l in 0..LANES {
        let c = cofactors(x, l);
        let determinant = x[0][l] * c[0] + x[1][l] * c[1] + x[2][l] * c[2];
        let gamma = if scaled {
            let (mut own, mut inverse) = (0.0, 0.0);
            for e in 0..9 {
                own += x[e][l] * x[e][l];
                inverse += c[e] * c[e];
            }
            (inverse / (determinant * determinant * own)).sqrt().sqrt()
        } else {
            1.0
        };

        // X ← ½ (γ X + C / (γ det X)).
        let (keep, add) = (0.5 * gamma, 0.5 / (gamma * determinant));
        for e in 0..9 {
            let next = keep * x[e][l] + add * c[e];
            change[l] += (next - x[e][l]) * (next - x[e][l]);
            x[e][l] = next;
        }
    }

    change
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn largest(m: DMat3) -> f64 {
        m.to_cols_array()
            .into_iter()
            .fold(0.0, |a: f64, b| a.max(b.abs()))
    }

    proptest! {
        #[test]
        fn all_lanes_agree_with_the_scalar_decomposition(m in prop::collection::vec(prop::array::uniform9(-2.0..2.0_f64), LANES)) {
            let mut found = Vec::new();
            for_each_polar(LANES, |l| DMat3::from_cols_array(&m[l]), |_, polar| found.push(*polar));
            for (polar, m) in found.iter().zip(&m) {
                let matrix = DMat3::from_cols_array(m);
                // The rotation of a nearly flat matrix is sensitive to small changes.
                let sharpness = 1e-13 / matrix.determinant().abs().clamp(1e-6, 1.0);
                let single = Polar::of(matrix);
                prop_assert!(largest(polar.rotation - single.rotation) < sharpness);
                prop_assert!(largest(polar.product() - matrix) < 1e-11);
                prop_assert!((polar.rotation.determinant() - 1.0).abs() < 1e-13);
            }
        }
    }

    #[test]
    fn lanes_are_independent_and_extreme_matrices_stay_finite() {
        let rotation = DMat3::from_rotation_y(1.2);
        let matrices = [
            DMat3::ZERO,
            rotation * -1.0,
            rotation * 1e-200,
            rotation * 1e200,
            DMat3::from_diagonal(DVec3::new(1.0, 1e-12, 1.0)),
            rotation,
            rotation * 3.0,
            rotation,
        ];

        for_each_polar(
            LANES,
            |l| matrices[l],
            |l, polar| {
                assert!(
                    largest(polar.rotation - Polar::of(matrices[l]).rotation) < 1e-14,
                    "{}",
                    matrices[l]
                );
                assert!(polar.product().is_finite());
            },
        );
    }

    #[test]
    fn every_matrix_is_visited_once_for_any_count() {
        let mut seen = Vec::new();
        for_each_polar(
            19,
            |k| DMat3::from_rotation_z(0.1 * k as f64),
            |k, polar| {
                assert!(largest(polar.rotation - DMat3::from_rotation_z(0.1 * k as f64)) < 1e-15);
                seen.push(k);
            },
        );

        assert_eq!(seen, (0..19).collect::<Vec<_>>());
    }
}
