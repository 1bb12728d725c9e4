//! Contacts of the inverse rig: gaps between surface points that count for themselves.
//!
//! **Problem.** Lids and lips are a small part of a surface. A fit over the whole of it leaves them a
//! little open, which everybody sees.
//!
//! **Equation.** With the gap `g(w) = g₀ + Σₛ φₛ(w) γₛ` of each of `m` pairs of points, where `γₛ` is
//! the difference of the displacements of the two points by shape `s`, the objective of a frame
//! gains
//!
//! ```text
//! ½ κ / m · Σ |g(w) − ĝ|²
//! ```
//!
//! for the gaps `ĝ` of the other rig. It is a sum over shapes like the fit, and is added to its
//! matrices.

use std::collections::BTreeMap;

use pliant_mesh::TrianglePoint;
use pliant_mesh::glam::DVec3;

use super::shape_projections::FrameProjection;
use crate::{Activation, Rig};

/// `κ`: what all gaps weigh against the whole surface. *Chosen*: as much as all of it.
const WEIGHT: f64 = 1.0;

/// The gaps of pairs of surface points in all poses of a rig.
#[derive(Debug, Clone)]
pub struct ContactGaps {
    activation: Activation,
    rest: Vec<DVec3>,
    /// `γ`, by shape.
    shapes: Vec<Vec<DVec3>>,
}

impl ContactGaps {
    /// The gaps of `pairs` on `rig`.
    #[must_use]
    pub fn of(rig: &Rig, pairs: &[[TrianglePoint; 2]]) -> Self {
        let mesh = rig.neutral();
        let triangles = mesh.triangles();
        let rest = pairs.iter().map(|ends| {
            let [from, to] = ends.map(|end| end.position(triangles, mesh.positions()));
            to - from
        });

        // For each vertex the pairs that it is part of, with its weight in the gap.
        let mut uses: BTreeMap<u32, Vec<(usize, f64)>> = BTreeMap::new();
        for (pair, ends) in pairs.iter().enumerate() {
            for (end, sign) in ends.iter().zip([-1.0, 1.0]) {
                let sum: f64 = end.barycentric.iter().sum();
                let corners = triangles[end.triangle as usize];
                for (v, weight) in corners.into_iter().zip(end.barycentric) {
                    uses.entry(v).or_default().push((pair, sign * weight / sum));
                }
            }
        }

        let mut shapes = Vec::with_capacity(rig.activation().shape_count());
        for (vertices, deltas) in rig.shapes() {
            let mut gaps = vec![DVec3::ZERO; pairs.len()];
            for (v, delta) in vertices.iter().zip(deltas) {
                for &(pair, weight) in uses.get(v).into_iter().flatten() {
                    gaps[pair] += weight * delta.as_dvec3();
                }
            }
            shapes.push(gaps);
        }
        Self {
            activation: rig.activation().clone(),
            rest: rest.collect(),
            shapes,
        }
    }

    /// The number of pairs.
    #[must_use]
    pub fn pair_count(&self) -> usize {
        self.rest.len()
    }

    /// The gaps at rest.
    #[must_use]
    pub fn at_rest(&self) -> &[DVec3] {
        &self.rest
    }

    /// The gaps at some weights.
    #[must_use]
    pub fn at(&self, weights: &[f64]) -> Vec<DVec3> {
        let mut gaps = self.rest.clone();
        for (gap, change) in gaps.iter_mut().zip(self.changes(weights)) {
            *gap += change;
        }
        gaps
    }

    /// `g(w) − g₀`.
    fn changes(&self, weights: &[f64]) -> Vec<DVec3> {
        let mut changes = vec![DVec3::ZERO; self.rest.len()];
        let coefficients = self.activation.coefficients(weights);
        for (&coefficient, shape) in coefficients.iter().zip(&self.shapes) {
            if coefficient == 0.0 {
                continue;
            }
            for (change, gap) in changes.iter_mut().zip(shape) {
                *change += coefficient * *gap;
            }
        }
        changes
    }

    /// Adds the products of all shapes to the Gram matrix of the fit.
    pub(super) fn add_to_gram(&self, gram: &mut [f64]) {
        let count = self.shapes.len();
        for (s, a) in self.shapes.iter().enumerate() {
            for (r, b) in self.shapes.iter().enumerate() {
                gram[s * count + r] += self.factor() * product(a, b);
            }
        }
    }

    /// Adds the gaps of `other` at `weights` to the projection of a frame.
    pub(super) fn add_to_projection(
        &self,
        other: &Self,
        weights: &[f64],
        projection: &mut FrameProjection,
    ) {
        let goals = other.changes(weights);
        for (sum, shape) in projection.onto_shapes.iter_mut().zip(&self.shapes) {
            *sum += self.factor() * product(shape, &goals);
        }
        projection.energy += self.factor() * product(&goals, &goals);
    }

    fn factor(&self) -> f64 {
        WEIGHT / self.rest.len().max(1) as f64
    }
}

fn product(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum()
}

#[cfg(test)]
mod tests {
    use pliant_mesh::Mesh;
    use pliant_mesh::glam::Vec3;

    use super::*;
    use crate::Target;

    #[test]
    fn gaps_are_those_of_the_posed_points() {
        let corners = vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::ONE];
        let mesh = Mesh::from_triangles(corners, &[[0, 1, 2], [1, 3, 2]]).unwrap();
        let move_one = Target::from_dense("a", [Vec3::X, Vec3::ZERO, Vec3::Z, Vec3::ZERO]);
        let move_other = Target::from_dense("b", [Vec3::ZERO, Vec3::Y, Vec3::ZERO, Vec3::ONE]);
        let rig = Rig::new(mesh, vec![move_one, move_other]).unwrap();
        let point = |triangle, barycentric| TrianglePoint {
            triangle,
            barycentric,
        };
        let pairs = [[point(0, [0.5, 0.25, 0.25]), point(1, [0.2, 0.8, 0.0])]];
        let gaps = ContactGaps::of(&rig, &pairs);
        for weights in [[0.0, 0.0], [0.4, 0.9], [1.0, 0.0]] {
            let posed = rig.evaluate(&weights);
            let [a, b] = pairs[0].map(|end| end.position(rig.neutral().triangles(), &posed));
            assert!((gaps.at(&weights)[0] - (b - a)).length() < 1e-7);
        }
        assert_eq!(gaps.pair_count(), 1);
    }
}
