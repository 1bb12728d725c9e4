//! Vertices from deformation gradients: the surface whose triangles deform most nearly as told.
//!
//! **Problem.** Each triangle is told how to deform by a matrix `M_t`; neighbours disagree about
//! their common vertices.
//!
//! **Equation.** With the rest positions `v`, the gradient along the surface and the projection
//! `P_t` onto the rest triangle,
//!
//! ```text
//! min_x Σ_t ω_t ‖∇x_t − M_t P_t‖²_F  =  min_x Σ_t ω_t/A_t Σ_{ij∈t} ½ cot θ_ij |(x_i − x_j) − M_t (v_i − v_j)|²
//! ```
//!
//! Its normal equations are a Laplacian (with `ω_t = A_t`, the area, the cotangent one) that does
//! not depend on the frame: factored once, then three columns at a time.
//!
//! **Source.** Wang and Lee, "Example-driven animation synthesis", 2008, eq. 6; Sumner and Popović,
//! "Deformation transfer for triangle meshes", 2004, section 3; the area weights: Botsch, Sumner,
//! Pauly, Gross, "Deformation transfer for detail-preserving surface editing", 2006.
//!
//! **Ours.** The fourth vertex of the 2004 form belongs to one triangle only, and its best place
//! makes the normal's part of the residual zero, whatever the other three do; so that form, too, is
//! a system of the vertices alone, with `ω_t = 1` ([`ReconstructionForm::Classic2004`]). The sum
//! over edges is the same energy for every triangle with area; for slivers and flat triangles the
//! cotangents are those of the triangle with its sides lengthened a little, and count less; that is
//! finite and does not move the minimum of deformations that fit together. Each connected component
//! floats; it is returned with its centroid (by area) in the place of the rest pose.

use pliant_linalg::{SolveWorkspace, SparseMatrix, SpdSolver, parallel};
use pliant_mesh::glam::{DMat3, DVec3};
use pliant_mesh::{Mesh, Topology, triangle_area};

use crate::TransferError;

/// Two sides of a triangle are longer than the third by at least this part of it, or all are
/// lengthened until they are. *Ours*: no cotangent above ten thousand; nothing changes for needles
/// of that aspect, nor for triangles as flat as 1 : 141.
const LEAST_SLACK: f64 = 1e-4;

/// Slivers below [`LEAST_SLACK`] count by the square of what they have of it, but at least this:
/// their gradients are noise, yet a vertex may have no other triangles.
const LEAST_COUNT: f64 = 1e-8;

/// In the unweighted form no triangle counts for more than this times one of mean area.
const LARGEST_INVERSE_AREA: f64 = 1e8;

/// Vertices in one parallel task.
const VERTICES_PER_TASK: usize = 1024;

/// What a triangle counts in the sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReconstructionForm {
    /// Its area: the result does not depend on how finely the surface is cut.
    #[default]
    AreaWeighted,
    /// The same for all, as published; slivers then count as much as the rest and cost digits.
    Classic2004,
}

/// The system of one rest pose, factored.
#[derive(Debug, Clone)]
pub struct Reconstruction {
    solver: SpdSolver,
    /// Where the corners of each vertex start in `corners`.
    starts: Vec<u32>,
    /// For each corner its triangle and `g` in `b_i = Σ M_t g`.
    corners: Vec<(u32, DVec3)>,
    shells: Shells,
    triangle_count: usize,
}

/// Buffers for a solve.
#[derive(Debug, Clone, Default)]
pub struct ReconstructionWorkspace {
    solve: SolveWorkspace,
}

/// The connected components and their centroids.
#[derive(Debug, Clone)]
pub(crate) struct Shells {
    /// The component of each vertex; [`Topology::NONE`] for vertices without a face.
    pub(crate) of_vertex: Vec<u32>,
    /// What each vertex counts in the centroid of its component; of sum one in each.
    pub(crate) shares: Vec<f64>,
    /// The centroids in the rest pose.
    pub(crate) centroids: Vec<DVec3>,
}

impl Shells {
    pub(crate) fn of(mesh: &Mesh) -> Self {
        let of_vertex = mesh.topology().component_of_vertex().to_vec();
        let count = mesh.topology().component_count();
        let mut shares = vec![0.0; mesh.vertex_count()];
        for (t, triangle) in mesh.triangles().iter().enumerate() {
            let third = triangle_area(mesh.triangle_points(t)) / 3.0;
            triangle.iter().for_each(|&v| shares[v as usize] += third);
        }
        let mut totals = vec![(0.0, 0_u32); count];
        for (share, &shell) in shares
            .iter()
            .zip(&of_vertex)
            .filter(|(_, shell)| **shell != Topology::NONE)
        {
            totals[shell as usize].0 += share;
            totals[shell as usize].1 += 1;
        }
        for (share, &shell) in shares.iter_mut().zip(&of_vertex) {
            *share = match totals.get(shell as usize) {
                None => 0.0,
                Some(&(area, _)) if area > 0.0 => *share / area,
                Some(&(_, vertices)) => 1.0 / f64::from(vertices),
            };
        }
        let mut shells = Self {
            of_vertex,
            shares,
            centroids: vec![DVec3::ZERO; count],
        };
        shells.centroids = shells.centroids_at(mesh.positions());
        shells
    }

    /// The centroid of every component in another pose.
    pub(crate) fn centroids_at(&self, positions: &[DVec3]) -> Vec<DVec3> {
        let mut centroids = vec![DVec3::ZERO; self.centroids.len()];
        for ((position, share), &shell) in positions.iter().zip(&self.shares).zip(&self.of_vertex) {
            if shell != Topology::NONE {
                centroids[shell as usize] += *position * *share;
            }
        }
        centroids
    }
}

impl Reconstruction {
    /// Builds and factors the system of the rest pose `target`.
    ///
    /// # Errors
    /// A mesh without faces or with positions that are not finite.
    pub fn factor(target: &Mesh, form: ReconstructionForm) -> Result<Self, TransferError> {
        target.require_surface()?;
        let weights = edge_weights(target, form);
        let shells = Shells::of(target);
        let solver = SpdSolver::factor(&pinned_laplacian(target, &weights, &shells))?;
        let (starts, corners) = corner_vectors(target, &weights);
        Ok(Self {
            solver,
            starts,
            corners,
            shells,
            triangle_count: target.triangles().len(),
        })
    }

    /// Number of triangles, that is of gradients to give.
    #[must_use]
    pub fn triangle_count(&self) -> usize {
        self.triangle_count
    }

    /// Number of vertices.
    #[must_use]
    pub fn vertex_count(&self) -> usize {
        self.shells.of_vertex.len()
    }

    pub(crate) fn shells(&self) -> &Shells {
        &self.shells
    }

    /// The vertices that fit `gradients` best, each component with its centroid where it is at
    /// rest; vertices without a face are put at the origin.
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
        parallel::for_each_chunk_mut(positions, VERTICES_PER_TASK, |start, chunk| {
            for (k, sum) in chunk.iter_mut().enumerate() {
                let range = self.starts[start + k] as usize..self.starts[start + k + 1] as usize;
                *sum = self.corners[range]
                    .iter()
                    .map(|&(t, g)| gradients[t as usize] * g)
                    .sum();
            }
        });
        self.solver
            .solve_points_in_place(positions, &mut workspace.solve);
        let found = self.shells.centroids_at(positions);
        for (position, &shell) in positions.iter_mut().zip(&self.shells.of_vertex) {
            if shell != Topology::NONE {
                *position += self.shells.centroids[shell as usize] - found[shell as usize];
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
        self.solve_into(
            gradients,
            &mut ReconstructionWorkspace::default(),
            &mut positions,
        );
        positions
    }
}

/// For each triangle the weight of the side opposite each corner. A triangle that repeats a vertex
/// is the one side that it has.
fn edge_weights(mesh: &Mesh, form: ReconstructionForm) -> Vec<[f64; 3]> {
    let mean_area = mesh.area() / mesh.triangles().len() as f64;
    parallel::map(mesh.triangles().len(), 4096, |t| {
        let [a, b, c] = mesh.triangles()[t];
        if a == b || b == c || c == a {
            return [
                0.0,
                if a == b && b != c { LEAST_COUNT } else { 0.0 },
                if a == b { 0.0 } else { LEAST_COUNT },
            ];
        }
        let points = mesh.triangle_points(t);
        let (cotangents, area) = safe_cotangents(points);
        let counts = match form {
            ReconstructionForm::AreaWeighted => 1.0,
            // Relative to the mean area, so that the units do not matter.
            ReconstructionForm::Classic2004 if mean_area > 0.0 => {
                (mean_area / area).min(LARGEST_INVERSE_AREA)
            }
            ReconstructionForm::Classic2004 => 1.0,
        };
        cotangents.map(|cotangent| 0.5 * cotangent * counts)
    })
}

/// Cotangents of the corners, and the area, of the triangle; for a sliver those of one with
/// slightly longer sides, times what it counts.
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
    let more = LEAST_SLACK - slack / longest;
    let [x, y, z] = sides.map(|side| side / longest + more); // Units are gone: no square underflows.
    let double_area = 0.5 * ((x + y + z) * (y + z - x) * (z + x - y) * (x + y - z)).sqrt();
    let cotangent =
        |opposite: f64, p: f64, q: f64| (p * p + q * q - opposite * opposite) / (2.0 * double_area);
    let counts = (slack / longest / LEAST_SLACK).powi(2).max(LEAST_COUNT);
    let cotangents = [cotangent(x, y, z), cotangent(y, z, x), cotangent(z, x, y)];
    (
        cotangents.map(|cotangent| cotangent * counts),
        0.5 * double_area * longest * longest,
    )
}

/// The Laplacian of the weights, with its own diagonal added once more at one vertex per component.
///
/// The right-hand side of a component sums to zero, so that vertex comes out at the origin exactly
/// as if it were fixed there.
fn pinned_laplacian(mesh: &Mesh, weights: &[[f64; 3]], shells: &Shells) -> SparseMatrix {
    let n = mesh.vertex_count();
    let mut triplets = Vec::with_capacity(6 * weights.len() + n);
    let mut diagonal = vec![0.0; n];
    for (triangle, weights) in mesh.triangles().iter().zip(weights) {
        for k in (0..3).filter(|&k| weights[k] != 0.0) {
            let (i, j) = (triangle[(k + 1) % 3], triangle[(k + 2) % 3]);
            triplets.extend([(i, j, -weights[k]), (j, i, -weights[k])]);
            diagonal[i as usize] += weights[k];
            diagonal[j as usize] += weights[k];
        }
    }
    let mut pinned = vec![false; shells.centroids.len()];
    for (v, &shell) in shells.of_vertex.iter().enumerate() {
        let shell = pinned.get_mut(shell as usize).filter(|_| diagonal[v] > 0.0);
        let pin = match shell.map(|done| std::mem::replace(done, true)) {
            None => 1.0, // Without a side: an equation of its own.
            Some(true) => 0.0,
            Some(false) => diagonal[v],
        };
        triplets.push((v as u32, v as u32, diagonal[v] + pin));
    }
    SparseMatrix::from_triplets(n, n, &triplets)
}

/// For each vertex its corners: the triangle and `g_i = Σ_j w_ij (v_i − v_j)`.
fn corner_vectors(mesh: &Mesh, weights: &[[f64; 3]]) -> (Vec<u32>, Vec<(u32, DVec3)>) {
    // A vertex that a triangle repeats counts once, at its first corner: there begins the side that
    // such a triangle has.
    let is_first = |triangle: &[u32; 3], k: usize| !triangle[..k].contains(&triangle[k]);
    let mut starts = vec![0; mesh.vertex_count() + 1];
    for triangle in mesh.triangles() {
        (0..3)
            .filter(|&k| is_first(triangle, k))
            .for_each(|k| starts[triangle[k] as usize + 1] += 1);
    }
    (1..starts.len()).for_each(|v| starts[v] += starts[v - 1]);
    let mut next_place = starts.clone();
    let mut corners = vec![(0, DVec3::ZERO); starts[mesh.vertex_count()] as usize];
    for (t, triangle) in mesh.triangles().iter().enumerate() {
        let points = mesh.triangle_points(t);
        for k in (0..3).filter(|&k| is_first(triangle, k)) {
            let [next, last] = [(k + 1) % 3, (k + 2) % 3];
            let side =
                |other: usize, opposite: usize| (points[k] - points[other]) * weights[t][opposite];
            let place = &mut next_place[triangle[k] as usize];
            corners[*place as usize] = (t as u32, side(next, last) + side(last, next));
            *place += 1;
        }
    }
    (starts, corners)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_linalg::LeastSquares;
    use pliant_mesh::{DeformationGradients, Laplacian, shapes};

    const FORMS: [ReconstructionForm; 2] = [
        ReconstructionForm::AreaWeighted,
        ReconstructionForm::Classic2004,
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
        let shells = Shells::of(rest);
        let found = shells.centroids_at(pose);
        pose.iter()
            .zip(&shells.of_vertex)
            .map(|(p, &s)| *p + shells.centroids[s as usize] - found[s as usize])
            .collect()
    }

    #[test]
    fn a_pose_comes_back_from_its_own_gradients() {
        for rest in [shapes::icosphere(3), shapes::bumpy_sheet(20, 0.3)] {
            let pose: Vec<DVec3> = rest.positions().iter().map(|p| wave(*p)).collect();
            let gradients = DeformationGradients::from_rest(&rest)
                .unwrap()
                .at(&pose)
                .unwrap();
            for form in FORMS {
                let found = Reconstruction::factor(&rest, form)
                    .unwrap()
                    .solve(&gradients);
                assert!(
                    largest_apart(&found, &centred(&rest, &pose)) < 1e-12,
                    "{form:?}"
                );
            }
        }
    }

    #[test]
    fn one_matrix_for_all_triangles_is_that_linear_map() {
        let rest = shapes::bumpy_sheet(8, 0.3);
        let map = DMat3::from_cols(
            DVec3::new(1.0, 0.2, 0.0),
            DVec3::new(-0.5, 2.0, 0.1),
            DVec3::new(0.3, 0.0, 0.7),
        );
        let mapped: Vec<DVec3> = rest.positions().iter().map(|p| map * *p).collect();
        for form in FORMS {
            let found = Reconstruction::factor(&rest, form)
                .unwrap()
                .solve(&[map; 128]);
            assert!(largest_apart(&found, &centred(&rest, &mapped)) < 1e-13);
        }
    }

    #[test]
    fn the_default_system_is_the_cotangent_laplacian() {
        let mesh = shapes::bumpy_sheet(6, 0.3);
        let weights = edge_weights(&mesh, ReconstructionForm::AreaWeighted);
        let ours = pinned_laplacian(&mesh, &weights, &Shells::of(&mesh));
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

    /// The 2004 system as published: three rows per triangle, a fourth vertex each, the first
    /// vertex fixed.
    fn published_2004(mesh: &Mesh, gradients: &[DMat3]) -> Vec<DVec3> {
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
    fn the_classic_form_is_the_published_one_without_its_fourth_vertices() {
        let mesh = shapes::bumpy_sheet(5, 0.3);
        let gradients: Vec<DMat3> = (0..50)
            .map(|t| {
                DMat3::from_axis_angle(
                    DVec3::new(1.0, 0.3, (t % 7) as f64).normalize(),
                    (t as f64).sin(),
                )
            })
            .collect();
        let published = centred(&mesh, &published_2004(&mesh, &gradients));
        let found = Reconstruction::factor(&mesh, ReconstructionForm::Classic2004)
            .unwrap()
            .solve(&gradients);
        assert!(largest_apart(&found, &published) < 1e-10);
        let by_area = Reconstruction::factor(&mesh, ReconstructionForm::AreaWeighted)
            .unwrap()
            .solve(&gradients);
        assert!(
            largest_apart(&by_area, &published) > 1e-3,
            "the two forms differ where gradients do not fit"
        );
    }

    /// A sheet with needles, a flat triangle, a doubled vertex, a fin on an inner edge, another
    /// shell and a lone vertex.
    fn awkward(size: f64) -> Mesh {
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
    fn needles_flat_triangles_fins_shells_and_lone_vertices_stay_finite_and_in_place_at_any_size() {
        for size in [1e-3, 1.0, 1e3] {
            let rest = awkward(size);
            let turn = DMat3::from_axis_angle(DVec3::new(0.2, 0.5, 1.0).normalize(), 2.0);
            let turned: Vec<DVec3> = rest.positions().iter().map(|p| turn * *p).collect();
            // The published form gives needles the weight of all others, and loses digits to them.
            for (form, tolerance) in FORMS.into_iter().zip([1e-11, 1e-4]) {
                let found = Reconstruction::factor(&rest, form)
                    .unwrap()
                    .solve(&vec![turn; rest.triangles().len()]);
                let with_face = rest.vertex_count() - 1;
                let expected = centred(
                    &rest.posed(rest.positions().to_vec()).unwrap(),
                    &turned[..with_face],
                );
                assert!(found.iter().all(|p| p.is_finite()));
                assert!(
                    largest_apart(&found[..with_face], &expected) < tolerance * size,
                    "{form:?} {size}"
                );
            }
        }
    }
}
