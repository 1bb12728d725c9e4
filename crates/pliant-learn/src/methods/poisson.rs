//! Poisson reconstruction: vertex positions from deformation gradients and control points.
//!
//! **Problem.** Predictions give the deformation gradient of each triangle; control points give the
//! positions of a few vertices. Find the surface that fits both.
//!
//! **Equation.** With the matrix `M_t` of each triangle and an orthonormal basis `e₁, e₂` of its
//! plane,
//!
//! ```text
//! min_x Σ_t A_t Σ_a |∂x/∂e_a − M_t e_a|²  +  β w̄ Σ_k |x_k − c_k|²  +  ε w̄ Σ_v |x_v − a_v|²
//! ```
//!
//! `w̄` is the mean weight of an edge in the first sum, so that `β` has the same meaning as in a
//! sum over unweighted edges.
//!
//! **Source.** Huang et al. 2012, section 6.1.3 (`Σ E_e + β Σ E_c`, solved by a precomputed
//! matrix); Feng, Kim, Yu 2008, section 5.
//!
//! **Departures.** The unknowns are vertex positions instead of bone translations, so that the
//! surface stays connected. The third sum keeps vertices without a path to a control point
//! (eyeballs, loose vertices) near the positions `a` that their local frame gives. It is too weak
//! to be visible elsewhere.

use pliant_linalg::{LeastSquares, SparseMatrix};
use pliant_mesh::Mesh;
use pliant_mesh::glam::{DMat3, DVec3};

use crate::{ControlPoints, LearnError};

/// `ε`: a hundred thousand vertices together weigh less than a tenth of a control point.
const ANCHOR: f64 = 1e-6;

/// A triangle is degenerate if twice its area is below this part of its longest side squared.
const FLAT: f64 = 1e-8;

/// How control points constrain a pose.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ControlConstraint {
    /// A penalty with the weight `β`. Huang et al. 2012 use 3 for key-frames and 0.3 for captured
    /// markers.
    Soft(f64),
    /// The control points are at their goals.
    Hard,
}

/// The factored system of one mesh and its control points.
#[derive(Debug, Clone)]
pub(crate) struct Poisson {
    /// Two rows for each triangle that is not degenerate: `√A ∂/∂e_a`.
    rows: SparseMatrix,
    /// The triangle and `√A e_a` of each row.
    directions: Vec<(u32, DVec3)>,
    solver: LeastSquares,
    constraint: ControlConstraint,
    /// `√(β w̄)`; zero for hard constraints.
    control_weight: f64,
    control: Vec<usize>,
}

impl Poisson {
    pub(crate) fn factor(
        mesh: &Mesh,
        control: &ControlPoints,
        constraint: ControlConstraint,
    ) -> Result<Self, LearnError> {
        let (rows, directions) = gradient_rows(mesh);
        // A vertex has six edges: the mean edge weight is a sixth of the mean diagonal of RᵀR.
        let squares: f64 = rows.values().iter().map(|value| value * value).sum();
        let edge_weight = (squares / mesh.vertex_count() as f64 / 6.0).max(f64::MIN_POSITIVE);

        let control: Vec<usize> = control.vertices().iter().map(|&v| v as usize).collect();
        let mut soft: Vec<(usize, f64)> = (0..mesh.vertex_count())
            .map(|v| (v, ANCHOR * edge_weight))
            .collect();
        let mut hard = Vec::new();
        let mut control_weight = 0.0;
        match constraint {
            ControlConstraint::Hard => hard.clone_from(&control),
            ControlConstraint::Soft(beta) => {
                constraint.check()?;
                soft.extend(control.iter().map(|&v| (v, beta * edge_weight)));
                control_weight = (beta * edge_weight).sqrt();
            }
        }

        let solver = LeastSquares::factor(&rows, &soft, &hard)?;
        Ok(Self {
            rows,
            directions,
            solver,
            constraint,
            control_weight,
            control,
        })
    }

    /// Positions for the deformation gradients of the triangles, the anchors of the vertices and
    /// the goals of the control points.
    pub(crate) fn solve(
        &self,
        gradients: &[DMat3],
        anchors: &[DVec3],
        control: &[DVec3],
    ) -> Vec<DVec3> {
        self.solve_rows(&self.right_side(gradients), anchors, control)
    }

    pub(crate) fn solve_rows(
        &self,
        right: &[DVec3],
        anchors: &[DVec3],
        control: &[DVec3],
    ) -> Vec<DVec3> {
        match self.constraint {
            ControlConstraint::Hard => self.solver.solve_points(right, anchors, control),
            ControlConstraint::Soft(_) => {
                let soft = [anchors, control].concat();
                self.solver.solve_points(right, &soft, &[])
            }
        }
    }

    /// The harmonic displacement of the surface that moves the control points by `steps`.
    pub(crate) fn harmonic_displacement(&self, steps: &[DVec3]) -> Vec<DVec3> {
        let right = vec![DVec3::ZERO; self.rows.rows()];
        let anchors = vec![DVec3::ZERO; self.rows.columns()];
        self.solve_rows(&right, &anchors, steps)
    }

    /// `√A M_t e_a`, row by row.
    pub(crate) fn right_side(&self, gradients: &[DMat3]) -> Vec<DVec3> {
        self.directions
            .iter()
            .map(|&(t, direction)| gradients[t as usize] * direction)
            .collect()
    }

    /// The residuals of the triangle equations and, for soft constraints, of the control points.
    /// The sum of their squares is the energy.
    pub(crate) fn residual(
        &self,
        positions: &[DVec3],
        right: &[DVec3],
        control: &[DVec3],
    ) -> Vec<DVec3> {
        let mut residual = self.rows.multiply(positions);
        for (value, goal) in residual.iter_mut().zip(right) {
            *value -= *goal;
        }
        for (&v, goal) in self.control.iter().zip(control) {
            residual.push((positions[v] - *goal) * self.control_weight);
        }
        residual
    }
}

impl ControlConstraint {
    /// Rejects a `β` that is not a number above zero.
    pub(super) fn check(self) -> Result<(), LearnError> {
        match self {
            Self::Soft(beta) if !(beta > 0.0 && beta.is_finite()) => Err(LearnError::BadNumber {
                what: "beta",
                value: beta,
                needed: "a number above zero",
            }),
            _ => Ok(()),
        }
    }
}

/// The gradient in the plane of each triangle, weighted by the root of its area.
fn gradient_rows(mesh: &Mesh) -> (SparseMatrix, Vec<(u32, DVec3)>) {
    let mut triplets = Vec::new();
    let mut directions = Vec::new();
    for (t, corners) in mesh.triangles().iter().enumerate() {
        let [a, b, c] = mesh.triangle_points(t);
        let normal = (b - a).cross(c - a);
        let longest = a
            .distance_squared(b)
            .max(b.distance_squared(c))
            .max(c.distance_squared(a));
        if normal.length() <= FLAT * longest {
            continue;
        }

        // ∇φ of a corner: the opposite side rotated by 90°, over twice the area.
        let slopes = [c - b, a - c, b - a].map(|side| normal.cross(side) / normal.length_squared());
        let root = (0.5 * normal.length()).sqrt();
        let first = (b - a).normalize();
        let second = normal.cross(first).normalize();
        for direction in [first, second] {
            let row = directions.len() as u32;
            for (corner, slope) in corners.iter().zip(slopes) {
                triplets.push((row, *corner, root * slope.dot(direction)));
            }
            directions.push((t as u32, direction * root));
        }
    }

    (
        SparseMatrix::from_triplets(directions.len(), mesh.vertex_count(), &triplets),
        directions,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::{DeformationGradients, shapes};

    fn farthest(a: &[DVec3], b: &[DVec3]) -> f64 {
        a.iter()
            .zip(b)
            .map(|(a, b)| a.distance(*b))
            .fold(0.0, f64::max)
    }

    fn wave(p: DVec3) -> DVec3 {
        DVec3::new(
            p.x + 0.2 * (3.0 * p.y).sin(),
            p.y * p.x.cos(),
            p.z + 0.5 * p.x * p.x,
        )
    }

    #[test]
    fn a_pose_is_reconstructed_from_its_own_gradients_and_control_points() {
        let rest = shapes::icosphere(3);
        let pose: Vec<DVec3> = rest.positions().iter().map(|p| wave(*p)).collect();
        let gradients = DeformationGradients::from_rest(&rest)
            .unwrap()
            .at(&pose)
            .unwrap();

        let points = ControlPoints::new(&rest, &[0, 50, 100]).unwrap();
        for constraint in [ControlConstraint::Soft(3.0), ControlConstraint::Hard] {
            let poisson = Poisson::factor(&rest, &points, constraint).unwrap();
            assert!(
                farthest(&poisson.solve(&gradients, &pose, &points.at(&pose)), &pose) < 1e-9,
                "{constraint:?}"
            );
        }
    }

    #[test]
    fn hard_points_are_exact_and_soft_points_are_nearer_for_larger_beta() {
        let rest = shapes::bumpy_sheet(8, 0.3);
        let points = ControlPoints::new(&rest, &[0, 8, 40]).unwrap();
        let still = vec![DMat3::IDENTITY; rest.triangles().len()];
        let mut goals = points.at(rest.positions());

        goals[2] += DVec3::Z;
        let miss = |constraint: ControlConstraint| {
            let found = Poisson::factor(&rest, &points, constraint).unwrap().solve(
                &still,
                rest.positions(),
                &goals,
            );
            farthest(&points.at(&found), &goals)
        };

        assert_eq!(miss(ControlConstraint::Hard), 0.0);
        assert!(
            miss(ControlConstraint::Soft(30.0)) < miss(ControlConstraint::Soft(3.0))
                && miss(ControlConstraint::Soft(3.0)) < miss(ControlConstraint::Soft(0.3))
        );
    }

    #[test]
    fn the_solution_has_the_least_energy() {
        let rest = shapes::bumpy_sheet(6, 0.3);
        let points = ControlPoints::new(&rest, &[0, 8, 40]).unwrap();
        let poisson = Poisson::factor(&rest, &points, ControlConstraint::Soft(2.0)).unwrap();
        let gradients: Vec<DMat3> = (0..rest.triangles().len())
            .map(|t| DMat3::from_rotation_z(0.1 * (t % 5) as f64))
            .collect();

        let goals: Vec<DVec3> = points
            .at(rest.positions())
            .iter()
            .map(|p| *p + DVec3::Y * 0.2)
            .collect();
        let right = poisson.right_side(&gradients);

        let energy = |positions: &[DVec3]| {
            poisson
                .residual(positions, &right, &goals)
                .iter()
                .map(|r| r.length_squared())
                .sum::<f64>()
        };

        let found = poisson.solve(&gradients, rest.positions(), &goals);
        // Every perturbation raises the energy.
        for v in [0, 7, 40] {
            for step in [DVec3::X, DVec3::Y, DVec3::Z] {
                let mut other = found.clone();
                other[v] += step * 1e-2;
                assert!(energy(&other) > energy(&found));
            }
        }
    }

    #[test]
    fn a_component_without_control_points_follows_its_anchors() {
        let triangle = |x: f64| {
            [
                DVec3::new(x, 0.0, 0.0),
                DVec3::new(x + 1.0, 0.0, 0.0),
                DVec3::new(x, 1.0, 0.0),
            ]
        };

        let positions: Vec<DVec3> = triangle(0.0)
            .into_iter()
            .chain(triangle(3.0))
            .chain([DVec3::ONE])
            .collect();
        let mesh = Mesh::from_triangles(positions, &[[0, 1, 2], [3, 4, 5]]).unwrap();
        let points = ControlPoints::new(&mesh, &[0, 1, 2]).unwrap();
        let lift = DVec3::Z * 4.0;
        let lifted: Vec<DVec3> = mesh.positions().iter().map(|p| *p + lift).collect();
        let poisson = Poisson::factor(&mesh, &points, ControlConstraint::Soft(3.0)).unwrap();

        assert!(
            farthest(
                &poisson.solve(&[DMat3::IDENTITY; 2], &lifted, &points.at(&lifted)),
                &lifted
            ) < 1e-6
        );
    }

    #[test]
    fn a_weight_that_is_not_positive_is_rejected() {
        let mesh = shapes::icosphere(1);
        let points = ControlPoints::new(&mesh, &[0, 1, 2]).unwrap();
        assert!(
            [0.0, -1.0, f64::NAN]
                .into_iter()
                .all(
                    |beta| Poisson::factor(&mesh, &points, ControlConstraint::Soft(beta)).is_err()
                )
        );
    }
}
