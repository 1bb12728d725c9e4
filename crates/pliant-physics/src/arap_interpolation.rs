//! Shapes between two shapes by their tetrahedra, each as rigid as possible: the classical peer of
//! a blend of springs.
//!
//! **Problem.** A way from one shape to another on which the inside turns rather than shears,
//! without any search.
//!
//! **Equation.** With `F = R S` the map of a tetrahedron from the first shape to the second, its
//! ideal map at `α`, and the shape whose maps `B(x)` are nearest to all of those,
//!
//! ```text
//! A(α) = slerp(I, R, α) ((1 − α) I + α S)        min Σ vol |B(x) − A(α)|²
//! ```
//!
//! which is one solve with a Laplacian that does not depend on `α`.
//!
//! **Source.** Alexa, Cohen-Or, Levin, "As-rigid-as-possible shape interpolation", SIGGRAPH 2000,
//! sections 3 and 4. Where the shape stands is said by one vertex that moves in a straight line, as
//! there.
//!
//! **Ours.** Tetrahedra are those of the [`Interior`] and count by their volume in the first shape,
//! so that how finely the inside is cut does not matter. Vertices without a tetrahedron move in
//! straight lines: a surface without an inside is blended linearly.

use pliant_linalg::{LinalgError, SolveWorkspace, SparseMatrix, SpdSolver, parallel};
use pliant_mesh::glam::{DMat3, DQuat, DVec3};
use pliant_mesh::{Mesh, Polar};

use crate::PhysicsError;
use crate::interior::{Interior, InteriorOptions};

/// Tetrahedra in one parallel task.
const GRAIN: usize = 256;

/// Tetrahedra of less volume for their longest side are left out.
const FLAT: f64 = 1e-9;

/// Two shapes ready to be interpolated.
#[derive(Debug)]
pub struct ArapInterpolation {
    surface: usize,
    /// Surface vertices and points inside, of both shapes.
    shapes: [Vec<DVec3>; 2],
    elements: Vec<Element>,
    /// One vertex of each connected part, and each without a tetrahedron.
    held: Vec<u32>,
    /// How strongly they are: any number, since holding one vertex of a part costs nothing.
    hold: f64,
    factor: SpdSolver,
}

/// A tetrahedron between the shapes.
#[derive(Debug)]
struct Element {
    corners: [u32; 4],
    /// The gradients of its corners' hat functions in the first shape, times its volume.
    slopes: [DVec3; 4],
    turn: DQuat,
    stretch: DMat3,
}

impl ArapInterpolation {
    /// Fills both shapes, takes their tetrahedra apart and factors.
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
        let held = first_of_each_part(points, &tetrahedra);
        let elements = parallel::map(tetrahedra.len(), GRAIN, |t| {
            Element::new(tetrahedra[t], &shapes)
        });
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
        let diagonal: f64 = triplets
            .iter()
            .filter(|(i, j, _)| i == j)
            .map(|(_, _, value)| value)
            .sum();
        let hold = if diagonal > 0.0 {
            diagonal / points as f64
        } else {
            1.0
        };
        triplets.extend(held.iter().map(|&vertex| (vertex, vertex, hold)));
        let factor = SpdSolver::factor(&SparseMatrix::from_triplets(points, points, &triplets))?;
        Ok(Self {
            surface,
            shapes,
            elements,
            held,
            hold,
            factor,
        })
    }

    /// The surface at `alpha`: 0 is the first shape, 1 the second.
    #[must_use]
    pub fn at(&self, alpha: f64) -> Vec<DVec3> {
        let ideal = parallel::map(self.elements.len(), GRAIN, |t| {
            self.elements[t].ideal(alpha)
        });
        let mut sides = vec![DVec3::ZERO; self.shapes[0].len()];
        for (element, map) in self.elements.iter().zip(&ideal) {
            for (&corner, &slope) in element.corners.iter().zip(&element.slopes) {
                sides[corner as usize] += *map * slope;
            }
        }
        for &vertex in &self.held {
            let vertex = vertex as usize;
            sides[vertex] += self.shapes[0][vertex].lerp(self.shapes[1][vertex], alpha) * self.hold;
        }
        self.factor
            .solve_points_in_place(&mut sides, &mut SolveWorkspace::new());
        sides.truncate(self.surface);
        sides
    }
}

impl Element {
    fn new(corners: [u32; 4], shapes: &[Vec<DVec3>; 2]) -> Self {
        let [before, after] = [sides(corners, &shapes[0]), sides(corners, &shapes[1])];
        let inverse = before.inverse();
        let [b, c, d] = [0, 1, 2].map(|row| inverse.row(row) * (before.determinant() / 6.0));
        let polar = Polar::of(after * inverse);
        Self {
            corners,
            slopes: [-(b + c + d), b, c, d],
            turn: DQuat::from_mat3(&polar.rotation).normalize(),
            stretch: polar.stretch,
        }
    }

    fn volume(&self, points: &[DVec3]) -> f64 {
        sides(self.corners, points).determinant() / 6.0
    }

    /// The map that this tetrahedron would have by itself.
    fn ideal(&self, alpha: f64) -> DMat3 {
        let turn = DMat3::from_quat(DQuat::IDENTITY.slerp(self.turn, alpha));
        turn * (DMat3::IDENTITY * (1.0 - alpha) + self.stretch * alpha)
    }
}

/// Whether a tetrahedron has no volume to speak of: its map would be rounding noise.
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

/// The least vertex of each set of vertices that tetrahedra join.
fn first_of_each_part(points: usize, tetrahedra: &[[u32; 4]]) -> Vec<u32> {
    let mut least: Vec<u32> = (0..points as u32).collect();
    fn root(least: &mut [u32], mut vertex: u32) -> u32 {
        while least[vertex as usize] != vertex {
            least[vertex as usize] = least[least[vertex as usize] as usize]; // Halves the way for those who come later.
            vertex = least[vertex as usize];
        }
        vertex
    }
    for corners in tetrahedra {
        let roots = corners.map(|corner| root(&mut least, corner));
        let first = roots.into_iter().fold(roots[0], u32::min);
        roots
            .iter()
            .for_each(|&other| least[other as usize] = first);
    }
    (0..points as u32)
        .filter(|&vertex| least[vertex as usize] == vertex)
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
    fn a_turned_and_scaled_copy_turns_evenly_and_grows_linearly() {
        let (axis, angle_rad) = (DVec3::new(1.0, 2.0, -0.5).normalize(), 2.4);
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
        // Where it stands is up to the vertex that moves in a straight line.
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
    fn a_bent_bar_keeps_what_lines_lose() {
        let (arap, bar) = between(|points| bent(points, 90.0));
        let volume = |positions: Vec<DVec3>| {
            bar.mesh.posed(positions).unwrap().signed_volume() / bar.mesh.signed_volume()
        };
        let lines = (0..bar.mesh.vertex_count())
            .map(|v| arap.shapes[0][v].midpoint(arap.shapes[1][v]))
            .collect();
        assert!((volume(arap.at(0.5)) - 1.0).abs() < 0.02 && volume(lines) < 0.9);
    }

    #[test]
    fn a_sheet_without_an_inside_is_blended_linearly() {
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
    fn a_filled_ball_is_turned_as_it_is() {
        let ball = icosphere(3);
        let turn = DQuat::from_rotation_y(1.0);
        let turned = ball
            .posed(ball.positions().iter().map(|p| turn * *p).collect())
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
    fn every_part_is_held_once() {
        let two = [[3, 1, 2, 5], [2, 5, 6, 7], [9, 10, 8, 11]];
        assert_eq!(first_of_each_part(13, &two), [0, 1, 4, 8, 12]);
    }
}
