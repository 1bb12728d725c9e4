//! Reconstruction of vertex positions from one deformation gradient per triangle.
//!
//! **Problem.** Each triangle has a deformation gradient `M_t`; neighbours disagree about their
//! common vertices. Find the positions that fit all of them best.
//!
//! **Equation.** With the rest positions `v`, the gradient along the surface and the projection
//! `P_t` onto the rest triangle,
//!
//! ```text
//! min_x Σ_t ω_t ‖∇x_t − M_t P_t‖²_F  =  min_x Σ_t ω_t/A_t Σ_{ij∈t} ½ cot θ_ij |(x_i − x_j) − M_t (v_i − v_j)|²
//! ```
//!
//! Its normal equations are a Laplacian (with `ω_t = A_t`, the area, the cotangent one) that does
//! not depend on the frame: it is factored once and solved for three columns at a time.
//!
//! **Source.** Wang and Lee, "Example-driven animation synthesis", 2008, eq. 6; Sumner and Popović,
//! "Deformation transfer for triangle meshes", 2004, section 3; the area weights: Botsch, Sumner,
//! Pauly, Gross, "Deformation transfer for detail-preserving surface editing", 2006.
//!
//! **Departures.** The fourth vertex of Sumner and Popović belongs to one triangle only, and its
//! optimal position makes the normal part of the residual zero, whatever the other three do. So
//! their system, too, can be written for the vertices alone, with `ω_t = 1`
//! ([`ReconstructionWeighting::Sumner2004`]). The sum over edges is the same energy for every
//! triangle with area. For slivers and flat triangles the cotangents are those of a triangle with
//! slightly longer sides, and count less; they are finite and do not move the minimum of
//! deformations that fit together. The position of each connected component is undetermined; its
//! centroid (by area) is that of the rest pose.

use serde::{Deserialize, Serialize};

use pliant_linalg::{SolveWorkspace, SparseMatrix, SpdSolver, parallel};
use pliant_mesh::glam::{DMat3, DVec3};
use pliant_mesh::{Mesh, Topology};

use super::components::Components;
use crate::TransferError;

/// Two sides of a triangle exceed the third by at least this share of it, or all are lengthened
/// until they do. Chosen: no cotangent exceeds ten thousand; nothing changes for needles of that
/// aspect, nor for triangles as flat as 1 : 141.
const LEAST_SLACK: f64 = 1e-4;

/// Slivers below [`LEAST_SLACK`] count by the square of their share of it, but at least this: their
/// gradients are noise, yet a vertex may have no other triangles.
const LEAST_COUNT: f64 = 1e-8;

/// Without area weights no triangle counts more than this times one of mean area.
const LARGEST_INVERSE_AREA: f64 = 1e8;

/// Vertices in one parallel task.
const VERTICES_PER_TASK: usize = 1024;

/// Triangles in one parallel task.
const TRIANGLES_PER_TASK: usize = 4096;

/// The weight `ω` of a triangle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReconstructionWeighting {
    /// Its area: the result does not depend on the resolution of the mesh.
    #[default]
    Area,
    /// Equal for all, as in Sumner and Popović 2004; slivers then count as much as the rest and
    /// reduce the precision.
    #[serde(rename = "classic")]
    Sumner2004,
}

/// The factored system of one rest pose.
#[derive(Debug, Clone)]
pub struct Reconstruction {
    solver: SpdSolver,
    corners: CornerVectors,
    components: Components,
    triangle_count: usize,
}

/// Buffers of a solve.
#[derive(Debug, Clone, Default)]
pub struct ReconstructionWorkspace {
    solve: SolveWorkspace,
}

/// For each vertex its corners: the triangle and `g_i = Σ_j w_ij (v_i − v_j)`, so that the
/// right-hand side is `b_i = Σ M_t g`.
#[derive(Debug, Clone)]
struct CornerVectors {
    /// Where the corners of each vertex start in `vectors`.
    starts: Vec<u32>,
    vectors: Vec<(u32, DVec3)>,
}

impl Reconstruction {
    /// Builds and factors the system of the rest pose `target`.
    ///
    /// # Errors
    /// A mesh without faces or with positions that are not finite.
    pub fn factor(
        target: &Mesh,
        weighting: ReconstructionWeighting,
    ) -> Result<Self, TransferError> {
        target.require_surface()?;
        let weights = edge_weights(target, weighting);
        let components = Components::of(target);
        let matrix = pinned_laplacian(target, &weights, &components);
        Ok(Self {
            solver: SpdSolver::factor(&matrix)?,
            corners: CornerVectors::new(target, &weights),
            components,
            triangle_count: target.triangles().len(),
        })
    }

    /// Number of triangles, which is the number of gradients.
    #[must_use]
    pub fn triangle_count(&self) -> usize {
        self.triangle_count
    }

    /// Number of vertices.
    #[must_use]
    pub fn vertex_count(&self) -> usize {
        self.components.of_vertex.len()
    }

    pub(crate) fn components(&self) -> &Components {
        &self.components
    }

    /// The vertices that fit `gradients` best, each component with its centroid of the rest pose;
    /// vertices without a face are at the origin.
    ///
    /// # Panics
    /// If there is not one gradient per triangle and one position per vertex.
    pub fn solve_into(
        &self,
        gradients: &[DMat3],
        workspace: &mut ReconstructionWorkspace,
        positions: &mut [DVec3],
    ) {
        assert_eq!(
            gradients.len(),
            self.triangle_count,
            "one gradient per triangle"
        );
        assert_eq!(
            positions.len(),
            self.vertex_count(),
            "one position per vertex"
        );

        // Right-hand side b = Σ M_t g, gathered by vertex: no two tasks write to one entry.
        parallel::for_each_chunk_mut(positions, VERTICES_PER_TASK, |start, chunk| {
            for (v, sum) in (start..).zip(chunk) {
                let corners = self.corners.of_vertex(v).iter();
                *sum = corners.map(|&(t, g)| gradients[t as usize] * g).sum();
            }
        });
        self.solver
            .solve_points_in_place(positions, &mut workspace.solve);

        // The pinned vertex is at the origin; the centroid of the rest pose is restored.
        let centroids = self.components.centroids_at(positions);
        for (position, &component) in positions.iter_mut().zip(&self.components.of_vertex) {
            if component != Topology::NONE {
                let c = component as usize;
                *position += self.components.centroids[c] - centroids[c];
            }
        }
    }

    /// As [`solve_into`](Self::solve_into), into a new list.
    ///
    /// # Panics
    /// If there is not one gradient per triangle.
    #[must_use]
    pub fn solve(&self, gradients: &[DMat3]) -> Vec<DVec3> {
        let mut positions = vec![DVec3::ZERO; self.vertex_count()];
        let mut workspace = ReconstructionWorkspace::default();
        self.solve_into(gradients, &mut workspace, &mut positions);
        positions
    }
}

/// For each triangle the weight of the edge opposite each corner. A triangle with a repeated vertex
/// is a single edge.
fn edge_weights(mesh: &Mesh, weighting: ReconstructionWeighting) -> Vec<[f64; 3]> {
    let count = mesh.triangles().len();
    let mean_area = mesh.area() / count as f64;
    parallel::map(count, TRIANGLES_PER_TASK, |t| {
        let [a, b, c] = mesh.triangles()[t];
        if a == b || b == c || c == a {
            return [
                0.0,
                if a == b && b != c { LEAST_COUNT } else { 0.0 },
                if a == b { 0.0 } else { LEAST_COUNT },
            ];
        }

        let (cotangents, area) = safe_cotangents(mesh.triangle_points(t));
        let factor = match weighting {
            // Relative to the mean area, so that the units do not matter.
            ReconstructionWeighting::Sumner2004 if mean_area > 0.0 => {
                (mean_area / area).min(LARGEST_INVERSE_AREA)
            }
            ReconstructionWeighting::Area | ReconstructionWeighting::Sumner2004 => 1.0,
        };
        cotangents.map(|cotangent| 0.5 * cotangent * factor)
    })
}

/// The cotangents of the corners of a triangle, and its area; for a sliver those of a triangle with
/// slightly longer sides, scaled down.
fn safe_cotangents([a, b, c]: [DVec3; 3]) -> ([f64; 3], f64) {
    let sides = [b.distance(c), c.distance(a), a.distance(b)];
    let longest = sides[0].max(sides[1]).max(sides[2]);
    if longest <= 0.0 {
        return ([LEAST_COUNT; 3], 0.0); // A point: as if equilateral.
    }

    let slack = sides[0] + sides[1] + sides[2] - 2.0 * longest;
    if slack >= LEAST_SLACK * longest {
        let double_area = (b - a).cross(c - a).length();
        let dots = [(b - a).dot(c - a), (c - b).dot(a - b), (a - c).dot(b - c)];
        return (dots.map(|dot| dot / double_area), 0.5 * double_area);
    }

    // Relative to the longest side, so that no square underflows; the area by Heron's formula.
    let more = LEAST_SLACK - slack / longest;
    let [x, y, z] = sides.map(|side| side / longest + more);
    let double_area = 0.5 * ((x + y + z) * (y + z - x) * (z + x - y) * (x + y - z)).sqrt();
    let cotangent =
        |opposite: f64, p: f64, q: f64| (p * p + q * q - opposite * opposite) / (2.0 * double_area);

    let count = (slack / longest / LEAST_SLACK).powi(2).max(LEAST_COUNT);
    let cotangents = [cotangent(x, y, z), cotangent(y, z, x), cotangent(z, x, y)];
    (
        cotangents.map(|cotangent| cotangent * count),
        0.5 * double_area * longest * longest,
    )
}

/// The Laplacian of the weights, with the diagonal doubled at one vertex per component.
///
/// The right-hand side of a component sums to zero, so this vertex is solved to the origin, as if
/// it were fixed there.
fn pinned_laplacian(mesh: &Mesh, weights: &[[f64; 3]], components: &Components) -> SparseMatrix {
    let n = mesh.vertex_count();
    let mut triplets = Vec::with_capacity(6 * weights.len() + n);
    let mut diagonal = vec![0.0; n];
    // Weight k belongs to the edge opposite corner k.
    for (triangle, weights) in mesh.triangles().iter().zip(weights) {
        for (k, &weight) in weights.iter().enumerate() {
            if weight == 0.0 {
                continue;
            }
            let i = triangle[(k + 1) % 3];
            let j = triangle[(k + 2) % 3];
            triplets.extend([(i, j, -weight), (j, i, -weight)]);
            diagonal[i as usize] += weight;
            diagonal[j as usize] += weight;
        }
    }

    // A Laplacian has constants in its kernel, one per component; a pin makes it definite.
    let mut is_pinned = vec![false; components.centroids.len()];
    for (v, &component) in components.of_vertex.iter().enumerate() {
        let is_pinned = is_pinned
            .get_mut(component as usize)
            .filter(|_| diagonal[v] > 0.0);
        let pin = match is_pinned {
            None => 1.0, // Without an edge: an equation of its own.
            Some(true) => 0.0,
            Some(is_pinned) => {
                *is_pinned = true;
                diagonal[v]
            }
        };
        triplets.push((v as u32, v as u32, diagonal[v] + pin));
    }
    SparseMatrix::from_triplets(n, n, &triplets)
}

impl CornerVectors {
    fn new(mesh: &Mesh, weights: &[[f64; 3]]) -> Self {
        let n = mesh.vertex_count();
        let mut starts = vec![0; n + 1];
        for triangle in mesh.triangles() {
            for k in (0..3).filter(|&k| is_first(triangle, k)) {
                starts[triangle[k] as usize + 1] += 1;
            }
        }
        for v in 0..n {
            starts[v + 1] += starts[v];
        }

        let mut next = starts.clone();
        let mut vectors = vec![(0, DVec3::ZERO); starts[n] as usize];
        for (t, triangle) in mesh.triangles().iter().enumerate() {
            let points = mesh.triangle_points(t);
            for k in (0..3).filter(|&k| is_first(triangle, k)) {
                // The weight of an edge is that of the opposite corner.
                let (i, j) = ((k + 1) % 3, (k + 2) % 3);
                let to_i = (points[k] - points[i]) * weights[t][j];
                let to_j = (points[k] - points[j]) * weights[t][i];
                let place = &mut next[triangle[k] as usize];
                vectors[*place as usize] = (t as u32, to_i + to_j);
                *place += 1;
            }
        }
        Self { starts, vectors }
    }

    fn of_vertex(&self, v: usize) -> &[(u32, DVec3)] {
        &self.vectors[self.starts[v] as usize..self.starts[v + 1] as usize]
    }
}

/// Whether corner `k` is the first one of its vertex. A vertex that a triangle repeats counts once,
/// at its first corner, where the single edge of such a triangle starts.
fn is_first(triangle: &[u32; 3], k: usize) -> bool {
    !triangle[..k].contains(&triangle[k])
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_linalg::LeastSquares;
    use pliant_mesh::{DeformationGradients, Laplacian, shapes};

    const WEIGHTINGS: [ReconstructionWeighting; 2] = [
        ReconstructionWeighting::Area,
        ReconstructionWeighting::Sumner2004,
    ];

    fn wave(p: DVec3) -> DVec3 {
        DVec3::new(
            p.x + 0.2 * (3.0 * p.y).sin(),
            p.y * p.x.cos(),
            p.z + 0.5 * p.x * p.x,
        )
    }

    fn largest_apart(a: &[DVec3], b: &[DVec3]) -> f64 {
        a.iter()
            .zip(b)
            .map(|(a, b)| a.distance(*b))
            .fold(0.0, f64::max)
    }

    /// `pose` with the centroid of each component where it is at rest.
    fn centred(rest: &Mesh, pose: &[DVec3]) -> Vec<DVec3> {
        let components = Components::of(rest);
        let found = components.centroids_at(pose);
        pose.iter()
            .zip(&components.of_vertex)
            .map(|(p, &s)| *p + components.centroids[s as usize] - found[s as usize])
            .collect()
    }

    #[test]
    fn a_pose_is_reconstructed_from_its_own_gradients() {
        for rest in [shapes::icosphere(3), shapes::bumpy_sheet(20, 0.3)] {
            let pose: Vec<DVec3> = rest.positions().iter().map(|p| wave(*p)).collect();
            let gradients = DeformationGradients::from_rest(&rest)
                .unwrap()
                .at(&pose)
                .unwrap();

            for weighting in WEIGHTINGS {
                let found = Reconstruction::factor(&rest, weighting)
                    .unwrap()
                    .solve(&gradients);
                assert!(
                    largest_apart(&found, &centred(&rest, &pose)) < 1e-12,
                    "{weighting:?}"
                );
            }
        }
    }

    #[test]
    fn equal_gradients_give_that_linear_map() {
        let rest = shapes::bumpy_sheet(8, 0.3);
        let map = DMat3::from_cols(
            DVec3::new(1.0, 0.2, 0.0),
            DVec3::new(-0.5, 2.0, 0.1),
            DVec3::new(0.3, 0.0, 0.7),
        );

        let mapped: Vec<DVec3> = rest.positions().iter().map(|p| map * *p).collect();
        for weighting in WEIGHTINGS {
            let found = Reconstruction::factor(&rest, weighting)
                .unwrap()
                .solve(&[map; 128]);
            assert!(largest_apart(&found, &centred(&rest, &mapped)) < 1e-13);
        }
    }

    #[test]
    fn the_default_system_is_the_cotangent_laplacian() {
        let mesh = shapes::bumpy_sheet(6, 0.3);
        let weights = edge_weights(&mesh, ReconstructionWeighting::Area);
        let ours = pinned_laplacian(&mesh, &weights, &Components::of(&mesh));
        let theirs = Laplacian::cotangent(&mesh).unwrap().matrix;

        for row in 1..mesh.vertex_count() {
            let (columns, values) = ours.row(row);
            assert!(
                columns
                    .iter()
                    .zip(values)
                    .all(|(&c, v)| (v - theirs.get(row, c as usize)).abs() < 1e-12)
            );
        }
    }

    /// The system of Sumner and Popović 2004: three rows per triangle, a fourth vertex each, the first
    /// vertex fixed.
    fn sumner_2004(mesh: &Mesh, gradients: &[DMat3]) -> Vec<DVec3> {
        let n = mesh.vertex_count();
        let (mut triplets, mut goals) = (Vec::new(), Vec::new());
        for (t, triangle) in mesh.triangles().iter().enumerate() {
            let [v0, v1, v2] = mesh.triangle_points(t);
            let cross = (v1 - v0).cross(v2 - v0);
            let inverse =
                DMat3::from_cols(v1 - v0, v2 - v0, cross / cross.length().sqrt()).inverse();

            for column in 0..3 {
                let row = (3 * t + column) as u32;
                let parts = inverse.col(column); // Column of V⁻¹: what v1 − v0, v2 − v0 and v3 − v0 give to D's column.
                for (k, vertex) in [triangle[1], triangle[2], (n + t) as u32]
                    .into_iter()
                    .enumerate()
                {
                    triplets.extend([(row, vertex, parts[k]), (row, triangle[0], -parts[k])]);
                }

                goals.push(gradients[t].col(column));
            }
        }

        let a = SparseMatrix::from_triplets(goals.len(), n + mesh.triangles().len(), &triplets);
        let mut x =
            LeastSquares::factor(&a, &[], &[0])
                .unwrap()
                .solve_points(&goals, &[], &[DVec3::ZERO]);

        x.truncate(n);
        x
    }

    #[test]
    fn the_sumner_2004_weighting_equals_the_published_system_without_its_fourth_vertices() {
        let mesh = shapes::bumpy_sheet(5, 0.3);
        let gradients: Vec<DMat3> = (0..50)
            .map(|t| {
                DMat3::from_axis_angle(
                    DVec3::new(1.0, 0.3, (t % 7) as f64).normalize(),
                    (t as f64).sin(),
                )
            })
            .collect();

        let published = centred(&mesh, &sumner_2004(&mesh, &gradients));
        let found = Reconstruction::factor(&mesh, ReconstructionWeighting::Sumner2004)
            .unwrap()
            .solve(&gradients);

        assert!(largest_apart(&found, &published) < 1e-10);
        let by_area = Reconstruction::factor(&mesh, ReconstructionWeighting::Area)
            .unwrap()
            .solve(&gradients);

        assert!(
            largest_apart(&by_area, &published) > 1e-3,
            "the two weightings differ if the gradients do not fit together"
        );
    }

    /// A sheet with needles, a flat triangle, a doubled vertex, a fin on an inner edge, another
    /// component and an isolated vertex.
    fn degenerate(size: f64) -> Mesh {
        let sheet = shapes::bumpy_sheet(6, 0.2);
        let mut points = sheet.positions().to_vec();
        let mut triangles = sheet.triangles().to_vec();

        for (t, near) in [(3, 1e-3), (20, 1e-7), (40, 0.0)] {
            let [a, b, c] = triangles[t];
            let [p, q, r] = [a, b, c].map(|v| points[v as usize]);
            points.push(p + (q - p) * near + (r - p) * near);
            let m = points.len() as u32 - 1;
            triangles[t] = [a, b, m];
            triangles.extend([[b, c, m], [c, a, m]]);
        }

        let n = points.len() as u32;
        points.extend([
            (points[8] + points[9]) * 0.5 + DVec3::Z,
            DVec3::splat(3.0),
            DVec3::new(3.0, 4.0, 3.0),
            DVec3::new(4.0, 3.0, 3.0),
        ]);

        triangles.extend([[8, 9, n], [n + 1, n + 2, n + 3], [4, 4, 5]]);
        // Vertices that only triangles with a repeated vertex use: on the sheet in every order, two
        // on their own, and one quite alone.
        let m = points.len() as u32;

        points.extend([1.5, 2.5, 3.5, 4.5, 5.5, 6.5].map(|x| DVec3::new(x, -1.0, 0.5)));
        triangles.extend([
            [6, 6, m],
            [m + 1, 6, 6],
            [6, m + 2, 6],
            [m + 3, m + 3, m + 4],
            [m + 5; 3],
        ]);

        points.push(DVec3::ONE);
        Mesh::from_triangles(points.into_iter().map(|p| p * size).collect(), &triangles).unwrap()
    }

    #[test]
    fn needles_flat_triangles_fins_components_and_isolated_vertices_are_finite_and_in_place_at_any_size()
     {
        for size in [1e-3, 1.0, 1e3] {
            let rest = degenerate(size);
            let rotation = DMat3::from_axis_angle(DVec3::new(0.2, 0.5, 1.0).normalize(), 2.0);
            let rotated: Vec<DVec3> = rest.positions().iter().map(|p| rotation * *p).collect();

            // Equal weights give needles the weight of all others, which reduces the precision.
            for (weighting, tolerance) in WEIGHTINGS.into_iter().zip([1e-11, 1e-4]) {
                let found = Reconstruction::factor(&rest, weighting)
                    .unwrap()
                    .solve(&vec![rotation; rest.triangles().len()]);
                let with_face = rest.vertex_count() - 1;
                let expected = centred(
                    &rest.posed(rest.positions().to_vec()).unwrap(),
                    &rotated[..with_face],
                );

                assert!(found.iter().all(|p| p.is_finite()));
                assert!(
                    largest_apart(&found[..with_face], &expected) < tolerance * size,
                    "{weighting:?} {size}"
                );
            }
        }
    }
}
