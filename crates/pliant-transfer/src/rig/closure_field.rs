//! Closure field: the smooth displacement that gives pairs of points their gaps.
//!
//! **Equation.** With the Laplacian `L`, the mass `M`, the points `B₁ x` and `B₂ x` of a pair, the
//! error `e` of its gap and the share `ρ` of its first point,
//!
//! ```text
//! min_u  |M^−½ (M + ℓ² L) u|²  +  ω² Σ |B₁ u − ρ e|² + |B₂ u + (1 − ρ) e|²
//! ```
//!
//! a smooth field that fades over the length `ℓ`.

use pliant_linalg::{LeastSquares, LinalgError, SparseMatrix};
use pliant_mesh::glam::DVec3;
use pliant_mesh::{Laplacian, Mesh, TrianglePoint};

use super::fairing::FIXED;

/// `ω²`: the weight of a pair against a field of height one over an area `ℓ²`. Chosen: pairs that
/// agree close to a ten-thousandth of the gap.
const PAIR_WEIGHT: f64 = 1e4;

/// A pair of points on the target and the gap it should have.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClosingPair {
    pub(super) ends: [TrianglePoint; 2],
    pub(super) gap: DVec3,
    /// `ρ`: the share of the correction that the first end takes.
    pub(super) share: f64,
}

impl ClosingPair {
    /// The vector from the first end to the second.
    pub(super) fn gap_at(&self, target: &Mesh, positions: &[DVec3]) -> DVec3 {
        let [from, to] = self
            .ends
            .map(|end| end.position(target.triangles(), positions));
        to - from
    }

    /// `e`: the difference of the gap from that it should have.
    pub(super) fn error_at(&self, target: &Mesh, positions: &[DVec3]) -> DVec3 {
        self.gap_at(target, positions) - self.gap
    }
}

/// A least-squares system for the unknown vertices.
pub(super) struct ClosureField<'a> {
    target: &'a Mesh,
    laplacian: &'a Laplacian,
    /// The index of each vertex among the unknowns, or [`FIXED`].
    index_of: &'a [u32],
    /// `ℓ`.
    length: f64,
    triplets: Vec<(u32, u32, f64)>,
    goals: Vec<DVec3>,
}

impl<'a> ClosureField<'a> {
    /// The field without any pair.
    pub(super) fn new(
        target: &'a Mesh,
        laplacian: &'a Laplacian,
        index_of: &'a [u32],
        length: f64,
    ) -> Self {
        let mut field = Self {
            target,
            laplacian,
            index_of,
            length,
            triplets: Vec::new(),
            goals: Vec::new(),
        };
        for v in (0..index_of.len()).filter(|&v| laplacian.mass[v] > 0.0) {
            field.add_smoothness(v);
        }
        field
    }

    /// The row of `M^−½ (M + ℓ² L)` of vertex `v`, if it has an unknown.
    fn add_smoothness(&mut self, v: usize) {
        let mass = self.laplacian.mass[v];
        let root = mass.sqrt();
        let row = self.goals.len() as u32;
        let first = self.triplets.len();
        let (columns, values) = self.laplacian.matrix.row(v);
        for (&column, &value) in columns.iter().zip(values) {
            let index = self.index_of[column as usize];
            if index != FIXED {
                // The mass is on the diagonal only.
                let own = if column as usize == v { mass } else { 0.0 };
                let entry = (own + self.length * self.length * value) / root;
                self.triplets.push((row, index, entry));
            }
        }
        if self.triplets.len() > first {
            self.goals.push(DVec3::ZERO);
        }
    }

    /// The two rows of a pair, whose error is measured at `positions`.
    pub(super) fn add_pair(&mut self, pair: &ClosingPair, positions: &[DVec3]) {
        let weight = PAIR_WEIGHT.sqrt() * self.length;
        let error = pair.error_at(self.target, positions);
        // ρ e at the first end, −(1 − ρ) e at the second.
        for (end, share) in pair.ends.iter().zip([pair.share, pair.share - 1.0]) {
            let row = self.goals.len() as u32;
            let corners = self.target.triangles()[end.triangle as usize];
            for (&v, coordinate) in corners.iter().zip(end.barycentric) {
                let index = self.index_of[v as usize];
                if index != FIXED {
                    self.triplets.push((row, index, weight * coordinate));
                }
            }
            self.goals.push(error * share * weight);
        }
    }

    /// `positions` moved by the field.
    pub(super) fn solve(&self, positions: &[DVec3]) -> Result<Vec<DVec3>, LinalgError> {
        let unknowns = self
            .index_of
            .iter()
            .filter(|&&index| index != FIXED)
            .count();
        let matrix = SparseMatrix::from_triplets(self.goals.len(), unknowns, &self.triplets);
        let field = LeastSquares::factor(&matrix, &[], &[])?.solve_points(&self.goals, &[], &[]);

        let mut moved = positions.to_vec();
        for (position, &index) in moved.iter_mut().zip(self.index_of) {
            if index != FIXED {
                *position += field[index as usize];
            }
        }
        Ok(moved)
    }
}
