//! Embedding of inner points in another shape: as rigid as possible beneath a given surface.
//!
//! **Problem.** Points were placed inside one shape. Find their positions in another shape, of
//! which only the surface is known, such that no tetrahedron is inverted.
//!
//! **Equation.** With the deformation gradient `F = Σᵢ yᵢ gᵢᵀ` of a tetrahedron, `gᵢ` the gradients
//! of its hat functions, and `v` its volume, minimise over inner points `y` and rotations `R`
//!
//! ```text
//! E = Σₜ vₜ |Fₜ − Rₜ|²,      K y = Σₜ vₜ Rₜ gᵢ      with  Kᵢⱼ = Σₜ vₜ gᵢ·gⱼ
//! ```
//!
//! alternately: each `R` is the rotation nearest to `F`, then `y` solves a linear system whose
//! factor never changes.
//!
//! **Source.** Chao, Pinkall, Sanan, Schröder, "A simple geometric model for elastic deformations",
//! SIGGRAPH 2010, for the energy; Sorkine and Alexa, "As-Rigid-As-Possible Surface Modeling", SGP
//! 2007, for the alternation.
//!
//! **Departures.** The first rotations are those of the surface, extended inwards as harmonic
//! functions, so that a strongly bent limb converges. Tetrahedra that are still inverted are opened
//! by moving their inner corners into the half spaces above the opposite faces, one after the other
//! (Agmon 1954); the caller drops those that cannot be opened.

use pliant_linalg::{
    LinalgError, SolveWorkspace, SparseMatrix, SpdSolver, nearest_rotation, outer, parallel,
};
use pliant_mesh::glam::{DMat3, DVec3};
use pliant_mesh::{Mesh, vertex_normals};

use super::tetrahedron::{thickness, volume};

/// Rounds of rotations and positions. Chosen: the most rigid interior of a flattened shape is
/// buckled; few rounds are rigid enough, and smooth.
const ARAP_ROUNDS: usize = 4;

/// Rounds of opening inverted tetrahedra.
const OPENING_ROUNDS: usize = 30;

/// A tetrahedron thinner than this is opened, to this share of its height at rest.
const FLAT: f64 = 1e-2;
const OPENED: f64 = 0.1;

const TETRAHEDRA_PER_TASK: usize = 256;

/// The linear system of one component, factored once for all shapes.
pub(super) struct ArapEmbedding<'a> {
    rest: &'a Mesh,
    rest_points: &'a [DVec3],
    /// Those with an inner corner.
    tetrahedra: Vec<[u32; 4]>,
    gradients: Vec<[DVec3; 4]>,
    volumes: Vec<f64>,
    solver: SpdSolver,
}

impl<'a> ArapEmbedding<'a> {
    /// `points` are the vertices of `rest`, followed by at least one inner point; tetrahedra
    /// connect each inner point to the surface.
    pub(super) fn new(
        rest: &'a Mesh,
        points: &'a [DVec3],
        tetrahedra: &[[u32; 4]],
    ) -> Result<Self, LinalgError> {
        let surface = rest.vertex_count();
        let tetrahedra: Vec<[u32; 4]> = tetrahedra
            .iter()
            .copied()
            .filter(|t| t.iter().any(|&v| v as usize >= surface))
            .collect();

        let corners = |t: &[u32; 4]| t.map(|v| points[v as usize]);
        let gradients: Vec<[DVec3; 4]> = tetrahedra
            .iter()
            .map(|t| hat_gradients(corners(t)))
            .collect();
        let volumes: Vec<f64> = tetrahedra.iter().map(|t| volume(corners(t))).collect();

        // K over the inner points; the surface enters the right-hand side.
        let mut triplets = Vec::new();
        for ((t, g), v) in tetrahedra.iter().zip(&gradients).zip(&volumes) {
            for (i, j) in (0..16)
                .map(|k| (k / 4, k % 4))
                .filter(|&(i, j)| t[i].min(t[j]) as usize >= surface)
            {
                triplets.push((
                    t[i] - surface as u32,
                    t[j] - surface as u32,
                    v * g[i].dot(g[j]),
                ));
            }
        }

        let inner = points.len() - surface;
        let solver = SpdSolver::factor(&SparseMatrix::from_triplets(inner, inner, &triplets))?;
        Ok(Self {
            rest,
            rest_points: points,
            tetrahedra,
            gradients,
            volumes,
            solver,
        })
    }

    /// Surface and inner points of another shape, given its surface.
    pub(super) fn embed(&self, shape: &Mesh) -> Vec<DVec3> {
        let mut points = shape.positions().to_vec();
        points.resize(self.rest_points.len(), DVec3::ZERO);
        self.solve(&mut points, &self.first_rotations(shape));
        for _ in 0..ARAP_ROUNDS {
            let rotations = self.nearest_rotations(&points);
            self.solve(&mut points, &rotations);
        }
        self.open(&mut points);
        points
    }

    /// Solves for the inner points.
    fn solve(&self, points: &mut [DVec3], rotations: &[DMat3]) {
        let surface = self.rest.vertex_count();
        let stress = |t: usize, i: usize| rotations[t] * self.gradients[t][i];
        let mut inner = self.right_hand_side(points, stress);
        self.solver
            .solve_points_in_place(&mut inner, &mut SolveWorkspace::new());
        points[surface..].copy_from_slice(&inner);
    }

    /// `vₜ stress` at the inner points minus the terms of the surface.
    fn right_hand_side(
        &self,
        surface_values: &[DVec3],
        stress: impl Fn(usize, usize) -> DVec3,
    ) -> Vec<DVec3> {
        let surface = self.rest.vertex_count();
        let mut sums = vec![DVec3::ZERO; self.rest_points.len() - surface];
        for (t, corners) in self.tetrahedra.iter().enumerate() {
            let g = &self.gradients[t];
            for i in (0..4).filter(|&i| corners[i] as usize >= surface) {
                let held = (0..4).filter(|&j| (corners[j] as usize) < surface);
                let held: DVec3 = held
                    .map(|j| surface_values[corners[j] as usize] * g[i].dot(g[j]))
                    .sum();
                sums[corners[i] as usize - surface] += (stress(t, i) - held) * self.volumes[t];
            }
        }

        sums
    }

    /// The rotations of the surface, extended harmonically to the interior.
    fn first_rotations(&self, shape: &Mesh) -> Vec<DMat3> {
        // The columns of the rotations are extended as three harmonic fields.
        let surface = surface_rotations(self.rest, shape);
        let columns = [0, 1, 2].map(|k| {
            let mut column: Vec<DVec3> = surface.iter().map(|r| r.col(k)).collect();
            let inner = self.right_hand_side(&column, |_, _| DVec3::ZERO);
            column.extend(self.solver.solve_points(&inner));
            column
        });

        let mean =
            |k: usize, t: &[u32; 4]| t.iter().map(|&v| columns[k][v as usize]).sum::<DVec3>();
        parallel::map(self.tetrahedra.len(), TETRAHEDRA_PER_TASK, |t| {
            let corners = &self.tetrahedra[t];
            nearest_rotation(DMat3::from_cols(
                mean(0, corners),
                mean(1, corners),
                mean(2, corners),
            ))
        })
    }

    fn nearest_rotations(&self, points: &[DVec3]) -> Vec<DMat3> {
        parallel::map(self.tetrahedra.len(), TETRAHEDRA_PER_TASK, |t| {
            let corners = self.tetrahedra[t];
            let g = self.gradients[t];
            let column = |k: usize| {
                (0..4)
                    .map(|i| points[corners[i] as usize] * g[i][k])
                    .sum::<DVec3>()
            };
            nearest_rotation(DMat3::from_cols(column(0), column(1), column(2)))
        })
    }

    /// Moves inner points into the half spaces above their opposite faces where a tetrahedron is
    /// flat or inverted.
    fn open(&self, points: &mut [DVec3]) {
        let surface = self.rest.vertex_count();

        // Agmon's relaxation, on suspicious tetrahedra only.
        let rings = self.rings();
        let mut suspects: Vec<u32> = (0..self.tetrahedra.len() as u32).collect();

        for _ in 0..OPENING_ROUNDS {
            suspects.retain(|&t| {
                thickness(self.tetrahedra[t as usize].map(|v| points[v as usize])) < FLAT
            });

            let corners = suspects.iter().flat_map(|&t| self.tetrahedra[t as usize]);
            let moved = ascending(corners.filter(|&v| v as usize >= surface).collect());
            for &v in &moved {
                self.lift(points, v, &rings[v as usize - surface]);
            }

            // Only the tetrahedra around moved points have changed.
            suspects = ascending(
                moved
                    .iter()
                    .flat_map(|&v| &rings[v as usize - surface])
                    .copied()
                    .collect(),
            );
        }
    }

    /// The tetrahedra around each inner point.
    fn rings(&self) -> Vec<Vec<u32>> {
        let surface = self.rest.vertex_count();
        let mut rings = vec![Vec::new(); self.rest_points.len() - surface];
        for (t, corners) in self.tetrahedra.iter().enumerate() {
            for &v in corners.iter().filter(|&&v| v as usize >= surface) {
                rings[v as usize - surface].push(t as u32);
            }
        }
        rings
    }

    /// One round over the faces opposite to `vertex`: where it is too low above one, it rises to
    /// the required height.
    fn lift(&self, points: &mut [DVec3], vertex: u32, ring: &[u32]) {
        for &t in ring {
            let corners = self.tetrahedra[t as usize];

            // The height over the opposite face at rest is one over the gradient's length.
            let place = corners
                .iter()
                .position(|&v| v == vertex)
                .expect("the ring holds tetrahedra of the vertex");

            // The gradient of the corner's hat function is one over its height.
            let required = OPENED / self.gradients[t as usize][place].length();
            let [a, b, c] = opposite(corners, place).map(|v| points[v as usize]);
            let Some(up) = (b - a).cross(c - a).try_normalize() else {
                continue;
            };

            let height = up.dot(points[vertex as usize] - a);
            if height < required {
                points[vertex as usize] += up * (required - height);
            }
        }
    }
}

/// The numbers in ascending order, each once.
fn ascending(mut numbers: Vec<u32>) -> Vec<u32> {
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// The face opposite to a corner, counterclockwise seen from that corner of a positive tetrahedron.
fn opposite([a, b, c, d]: [u32; 4], place: usize) -> [u32; 3] {
    [[b, d, c], [a, c, d], [a, d, b], [a, b, c]][place]
}

/// Gradients of the four hat functions.
fn hat_gradients([a, b, c, d]: [DVec3; 4]) -> [DVec3; 4] {
    let inverse = DMat3::from_cols(b - a, c - a, d - a).inverse().transpose();
    let [x, y, z] = [inverse.x_axis, inverse.y_axis, inverse.z_axis];
    [-(x + y + z), x, y, z]
}

/// The rotation of the surface at each vertex: nearest to that of its edges and its normal.
fn surface_rotations(rest: &Mesh, shape: &Mesh) -> Vec<DMat3> {
    let rest_normals = vertex_normals(rest);
    let normals = vertex_normals(shape);
    let from = rest.positions();
    let to = shape.positions();
    parallel::map(rest.vertex_count(), TETRAHEDRA_PER_TASK, |v| {
        // Covariance of the edges; the normal fixes the rotation of flat neighbourhoods.
        let mut turned = DMat3::ZERO;
        let mut scale = 0.0;
        for &w in rest.topology().vertex_neighbors().row(v) {
            let before = from[w as usize] - from[v];
            let after = to[w as usize] - to[v];
            turned += outer(after, before);
            scale += after.length() * before.length();
        }
        nearest_rotation(turned + outer(normals[v], rest_normals[v]) * (0.5 * scale))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blend::interior::delaunay::delaunay;
    use crate::test_solids::{bar, bent, cells, steps};
    use pliant_mesh::glam::DQuat;

    /// A bar with inner points off its grid, and all its tetrahedra.
    fn stuffed() -> (Mesh, Vec<DVec3>, Vec<[u32; 4]>) {
        let surface = bar(4);
        let inner = cells(
            [
                &steps(0.3, 3.7, 10),
                &steps(-0.25, 0.25, 2),
                &steps(-0.25, 0.25, 2),
            ],
            |_| true,
        );

        let points = [surface.positions(), inner.positions()].concat();
        let tetrahedra = delaunay(&points)
            .into_iter()
            .filter(|t| thickness(t.map(|v| points[v as usize])) > 0.01)
            .collect();

        (surface, points, tetrahedra)
    }

    #[test]
    fn a_rigid_motion_of_the_surface_moves_the_interior_rigidly() {
        let (surface, points, tetrahedra) = stuffed();
        let turn = DQuat::from_axis_angle(DVec3::new(3.0, -1.0, 2.0).normalize(), 2.8);
        let motion = |p: &DVec3| turn * *p + DVec3::new(1.0, 2.0, 3.0);
        let moved = surface
            .posed(surface.positions().iter().map(motion).collect())
            .unwrap();

        let embedded = ArapEmbedding::new(&surface, &points, &tetrahedra)
            .unwrap()
            .embed(&moved);

        assert!(
            points
                .iter()
                .map(motion)
                .zip(&embedded)
                .all(|(p, q)| p.distance(*q) < 1e-9)
        );
    }

    #[test]
    fn a_stretched_surface_stretches_the_interior_uniformly() {
        let (surface, points, tetrahedra) = stuffed();
        let stretch = |p: &DVec3| *p * DVec3::new(1.5, 0.8, 0.9);
        let stretched = surface
            .posed(surface.positions().iter().map(stretch).collect())
            .unwrap();
        let embedded = ArapEmbedding::new(&surface, &points, &tetrahedra)
            .unwrap()
            .embed(&stretched);

        // Where flat tetrahedra are left out of a point's ring it is drawn a little to one side.
        let furthest = points
            .iter()
            .map(stretch)
            .zip(&embedded)
            .map(|(p, q)| p.distance(*q))
            .fold(0.0, f64::max);

        assert!(furthest < 0.02, "{furthest}");
    }

    #[test]
    fn the_interior_of_a_bent_bar_has_no_inverted_tetrahedron() {
        let (surface, points, tetrahedra) = stuffed();
        let embedded = ArapEmbedding::new(&surface, &points, &tetrahedra)
            .unwrap()
            .embed(&bent(&surface, 90.0));

        assert!(
            tetrahedra
                .iter()
                .all(|t| thickness(t.map(|v| embedded[v as usize])) > 0.0)
        );

        // The bend in closed form is not the most rigid, but near it.
        let closed_form = bent(&bar(4).posed(surface.positions().to_vec()).unwrap(), 90.0);
        assert_eq!(&embedded[..surface.vertex_count()], closed_form.positions());

        // The closed form of the bend.
        let radius = 4.0 / 90.0_f64.to_radians();
        for (p, q) in points.iter().zip(&embedded) {
            let (sine, cosine) = (p.x / radius).sin_cos();
            let bent = DVec3::new((radius - p.z) * sine, p.y, radius - (radius - p.z) * cosine);
            assert!(bent.distance(*q) < 0.05, "{p}: {q} for {bent}");
        }
    }

    #[test]
    fn an_inner_point_outside_the_surface_is_moved_back() {
        let (surface, points, tetrahedra) = stuffed();
        let embedding = ArapEmbedding::new(&surface, &points, &tetrahedra).unwrap();
        let mut tangled = points.clone();
        tangled[surface.vertex_count() + 20] += DVec3::new(0.0, 0.7, 0.1);

        assert!(
            tetrahedra
                .iter()
                .any(|t| thickness(t.map(|v| tangled[v as usize])) < 0.0)
        );
        embedding.open(&mut tangled);

        assert!(
            tetrahedra
                .iter()
                .all(|t| thickness(t.map(|v| tangled[v as usize])) > 0.0)
        );
    }
}
