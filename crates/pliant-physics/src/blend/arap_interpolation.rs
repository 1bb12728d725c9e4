//! As-rigid-as-possible shape interpolation (ARAP) of two shapes by their tetrahedra.
//!
//! **Problem.** A path from one shape to another on which the interior rotates and does not shear,
//! without an iterative solve: a classical method to compare a blend of springs with.
//!
//! **Equation.** With `F = R S` the map of a tetrahedron from the first shape to the second, its
//! ideal map at `α`, and the shape whose maps `B(x)` are nearest to all ideal maps,
//!
//! ```text
//! A(α) = slerp(I, R, α) ((1 − α) I + α S)        min Σ vol |B(x) − A(α)|²
//! ```
//!
//! which is one solve with a Laplacian that does not depend on `α`.
//!
//! **Source.** Alexa, Cohen-Or, Levin, "As-rigid-as-possible shape interpolation", SIGGRAPH 2000,
//! sections 3 and 4. As there, one vertex that moves in a straight line fixes the translation.
//!
//! **Departures.** Tetrahedra are those of the [`Interior`] and are weighted by their volume in the
//! first shape, so that the resolution of the interior does not matter. Vertices without a
//! tetrahedron move in straight lines: a surface without an interior is blended linearly.

use pliant_linalg::{DisjointSets, LinalgError, SolveWorkspace, SparseMatrix, SpdSolver, parallel};
use pliant_mesh::glam::{DMat3, DQuat, DVec3};
use pliant_mesh::{Mesh, Polar};

use crate::PhysicsError;
use crate::blend::interior::{Interior, InteriorOptions};

/// Tetrahedra in one parallel task.
const GRAIN: usize = 256;

/// Tetrahedra with less volume relative to their longest side are left out.
const FLAT: f64 = 1e-9;

/// Two shapes with a factored Laplacian.
#[derive(Debug)]
pub struct ArapInterpolation {
    surface: usize,
    /// Surface vertices and interior points of both shapes.
    shapes: [Vec<DVec3>; 2],
    elements: Vec<ArapElement>,
    /// One vertex of each connected component, and each vertex without a tetrahedron.
    held: Vec<u32>,
    /// The stiffness that holds them: any number, since holding one vertex of a component needs no
    /// energy.
    hold_stiffness: f64,
    factor: SpdSolver,
}

/// A tetrahedron between the shapes.
#[derive(Debug)]
struct ArapElement {
    corners: [u32; 4],
    /// The gradients of the hat functions of its corners in the first shape, times its volume.
    slopes: [DVec3; 4],
    rotation: DQuat,
    stretch: DMat3,
}

impl ArapInterpolation {
    /// Fills both shapes, decomposes the maps of their tetrahedra and factors the Laplacian.
    ///
    /// # Errors
    /// Shapes that are not poses of one mesh, or not finite.
    pub fn new(from: &Mesh, to: &Mesh, options: &InteriorOptions) -> Result<Self, PhysicsError> {
        let interior = Interior::fill(&[from, to], options)?;
        let shapes = [
            [from.positions(), interior.points(0)].concat(),
            [to.positions(), interior.points(1)].concat(),
        ];

        Ok(Self::of(
            from.vertex_count(),
            shapes,
            interior.tetrahedra(),
        )?)
    }

    fn of(
        surface: usize,
        shapes: [Vec<DVec3>; 2],
        tetrahedra: &[[u32; 4]],
    ) -> Result<Self, LinalgError> {
        let points = shapes[0].len();
        let tetrahedra: Vec<[u32; 4]> = tetrahedra
            .iter()
            .copied()
            .filter(|corners| !is_flat(&sides(*corners, &shapes[0])))
            .collect();

        // Without a held vertex the Laplacian of a component is singular.
        let held = first_of_each_component(points, &tetrahedra);
        let elements = parallel::map(tetrahedra.len(), GRAIN, |t| {
            ArapElement::new(tetrahedra[t], &shapes)
        });

        // The Laplacian over hat functions: vol ∇φᵢ·∇φⱼ.
        let mut triplets = Vec::with_capacity(16 * elements.len() + held.len());
        for element in &elements {
            let volume = element.volume(&shapes[0]);
            for (i, a) in element.corners.iter().zip(element.slopes) {
                triplets.extend(
                    element
                        .corners
                        .iter()
                        .zip(element.slopes)
                        .map(|(j, b)| (*i, *j, a.dot(b) / volume)),
                );
            }
        }

        // A hold of the order of the other entries keeps the condition number.
        let diagonal: f64 = triplets
            .iter()
            .filter(|(i, j, _)| i == j)
            .map(|(_, _, value)| value)
            .sum();

        let hold_stiffness = if diagonal > 0.0 {
            diagonal / points as f64
        } else {
            1.0
        };

        triplets.extend(held.iter().map(|&vertex| (vertex, vertex, hold_stiffness)));
        let factor = SpdSolver::factor(&SparseMatrix::from_triplets(points, points, &triplets))?;
        Ok(Self {
            surface,
            shapes,
            elements,
            held,
            hold_stiffness,
            factor,
        })
    }

    /// The surface at `alpha`: 0 is the first shape, 1 the second.
    #[must_use]
    pub fn at(&self, alpha: f64) -> Vec<DVec3> {
        let ideal = parallel::map(self.elements.len(), GRAIN, |t| {
            self.elements[t].ideal(alpha)
        });

        // The right-hand side: the ideal maps applied to the gradients.
        let mut sides = vec![DVec3::ZERO; self.shapes[0].len()];
        for (element, map) in self.elements.iter().zip(&ideal) {
            for (&corner, &slope) in element.corners.iter().zip(&element.slopes) {
                sides[corner as usize] += *map * slope;
            }
        }

        for &vertex in &self.held {
            let vertex = vertex as usize;
            sides[vertex] +=
                self.shapes[0][vertex].lerp(self.shapes[1][vertex], alpha) * self.hold_stiffness;
        }

        self.factor
            .solve_points_in_place(&mut sides, &mut SolveWorkspace::new());
        sides.truncate(self.surface);

        sides
    }
}

impl ArapElement {
    fn new(corners: [u32; 4], shapes: &[Vec<DVec3>; 2]) -> Self {
        let [before, after] = [sides(corners, &shapes[0]), sides(corners, &shapes[1])];

        // The rows of the inverse are the gradients of the hat functions.
        let inverse = before.inverse();
        let [b, c, d] = [0, 1, 2].map(|row| inverse.row(row) * (before.determinant() / 6.0));
        let polar = Polar::of(after * inverse);

        Self {
            corners,
            slopes: [-(b + c + d), b, c, d],
            rotation: DQuat::from_mat3(&polar.rotation).normalize(),
            stretch: polar.stretch,
        }
    }

    fn volume(&self, points: &[DVec3]) -> f64 {
        sides(self.corners, points).determinant() / 6.0
    }

    /// The interpolated map of this tetrahedron alone.
    fn ideal(&self, alpha: f64) -> DMat3 {
        let rotation = DMat3::from_quat(DQuat::IDENTITY.slerp(self.rotation, alpha));
        rotation * (DMat3::IDENTITY * (1.0 - alpha) + self.stretch * alpha)
    }
}

/// Whether a tetrahedron has almost no volume: rounding would decide its map.
fn is_flat(sides: &DMat3) -> bool {
    let longest = [sides.x_axis, sides.y_axis, sides.z_axis]
        .map(DVec3::length)
        .into_iter()
        .fold(0.0, f64::max);
    sides.determinant() <= FLAT * longest.powi(3)
}

/// From the first corner to the three others, as columns.
fn sides(corners: [u32; 4], points: &[DVec3]) -> DMat3 {
    let [a, b, c, d] = corners.map(|v| points[v as usize]);
    DMat3::from_cols(b - a, c - a, d - a)
}

/// The first vertex of each set of vertices that tetrahedra join.
fn first_of_each_component(points: usize, tetrahedra: &[[u32; 4]]) -> Vec<u32> {
    let mut sets = DisjointSets::new(points);
    for &[first, others @ ..] in tetrahedra {
        for other in others {
            sets.merge(first, other);
        }
    }

    (0..points as u32)
        .filter(|&vertex| sets.find(vertex) == vertex)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_shapes::{bar, bent, twisted};
    use pliant_mesh::glam::Vec3Swizzles;
    use pliant_mesh::shapes::{bumpy_sheet, icosphere};

    fn off(found: &[DVec3], expected: &[DVec3]) -> f64 {
        found
            .iter()
            .zip(expected)
            .map(|(a, b)| a.distance(*b))
            .fold(0.0, f64::max)
    }

    fn between(
        shape: impl Fn(&[DVec3]) -> Vec<DVec3>,
    ) -> (ArapInterpolation, crate::test_shapes::Bar) {
        let bar = bar(16, 4);
        let shapes = [bar.points.clone(), shape(&bar.points)];
        (
            ArapInterpolation::of(bar.mesh.vertex_count(), shapes, &bar.tetrahedra).unwrap(),
            bar,
        )
    }

    #[test]
    fn the_ends_are_the_shapes() {
        let (arap, bar) = between(|points| twisted(&bent(points, 70.0), 80.0));
        let surface = bar.mesh.vertex_count();
        assert!(off(&arap.at(0.0), &bar.points[..surface]) < 1e-9);
        assert!(off(&arap.at(1.0), &arap.shapes[1][..surface]) < 1e-9);
    }

    #[test]
    fn a_rotated_and_scaled_copy_rotates_uniformly_and_grows_linearly() {
        let axis = DVec3::new(1.0, 2.0, -0.5).normalize();
        let angle_rad = 2.4;
        let (arap, bar) = between(|points| {
            points
                .iter()
                .map(|p| DQuat::from_axis_angle(axis, angle_rad) * *p * 2.0)
                .collect()
        });

        let quarter = DQuat::from_axis_angle(axis, 0.25 * angle_rad);
        let found = arap.at(0.25);
        let expected: Vec<DVec3> = bar.points[..found.len()]
            .iter()
            .map(|p| quarter * *p * 1.25)
            .collect();

        // The vertex that moves in a straight line fixes the translation.
        let shift = found[0] - expected[0];
        assert!(
            off(
                &found,
                &expected.iter().map(|p| *p + shift).collect::<Vec<_>>()
            ) < 1e-9
        );

        assert!(found[0].distance(bar.points[0].lerp(arap.shapes[1][0], 0.25)) < 1e-12);
    }

    #[test]
    fn a_bent_bar_keeps_the_volume_that_linear_blending_loses() {
        let (arap, bar) = between(|points| bent(points, 90.0));
        let volume = |positions: Vec<DVec3>| {
            bar.mesh.posed(positions).unwrap().signed_volume() / bar.mesh.signed_volume()
        };

        // The midpoints of straight lines.
        let lines = (0..bar.mesh.vertex_count())
            .map(|v| arap.shapes[0][v].midpoint(arap.shapes[1][v]))
            .collect();
        assert!((volume(arap.at(0.5)) - 1.0).abs() < 0.02 && volume(lines) < 0.9);
    }

    #[test]
    fn a_sheet_without_an_interior_is_blended_linearly() {
        let sheet = bumpy_sheet(3, 0.1);
        let moved = sheet
            .posed(
                sheet
                    .positions()
                    .iter()
                    .map(|p| DVec3::new(p.z, 2.0 * p.x, p.y))
                    .collect(),
            )
            .unwrap();

        let found = ArapInterpolation::new(&sheet, &moved, &InteriorOptions::default())
            .unwrap()
            .at(0.3);
        let lines: Vec<DVec3> = sheet
            .positions()
            .iter()
            .zip(moved.positions())
            .map(|(a, b)| a.lerp(*b, 0.3))
            .collect();

        assert!(off(&found, &lines) < 1e-12);
    }

    #[test]
    fn a_rotated_ball_keeps_its_volume() {
        let ball = icosphere(3);
        let rotation = DQuat::from_rotation_y(1.0);
        let turned = ball
            .posed(ball.positions().iter().map(|p| rotation * *p).collect())
            .unwrap();
        let found = ball
            .posed(
                ArapInterpolation::new(&ball, &turned, &InteriorOptions::default())
                    .unwrap()
                    .at(0.5),
            )
            .unwrap();

        assert!((found.signed_volume() / ball.signed_volume() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn tetrahedra_without_volume_are_left_out() {
        let bar = bar(6, 2);
        let collinear: Vec<u32> = (0..bar.points.len() as u32)
            .filter(|&v| bar.points[v as usize].yz() == bar.points[0].yz())
            .collect();
        let flat = [collinear[0], collinear[1], collinear[2], collinear[3]];
        let shapes = [bar.points.clone(), bent(&bar.points, 60.0)];

        let find = |tetrahedra: &[[u32; 4]]| {
            ArapInterpolation::of(bar.mesh.vertex_count(), shapes.clone(), tetrahedra)
                .unwrap()
                .at(0.4)
        };

        assert_eq!(
            find(&[&bar.tetrahedra[..], &[flat]].concat()),
            find(&bar.tetrahedra)
        );
    }

    #[test]
    fn every_component_is_held_once() {
        let two = [[3, 1, 2, 5], [2, 5, 6, 7], [9, 10, 8, 11]];
        assert_eq!(first_of_each_component(13, &two), [0, 1, 4, 8, 12]);
    }
}
