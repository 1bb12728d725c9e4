//! One linear step of a registration: rotated Laplacian coordinates and attractions.
//!
//! **Equation.** With fixed closest points and rotations the energy of the [registration](super) is
//! quadratic. Its matrix keeps one sparsity pattern, which is analysed once.

use std::sync::Arc;

use pliant_linalg::{
    SolveWorkspace, SparseMatrix, SpdSolver, Symbolic, nearest_rotation, parallel,
};
use pliant_mesh::glam::{DMat3, DVec3};
use pliant_mesh::{Mesh, mean_value_laplacian};

use super::attraction::Attraction;
use crate::TransferError;
use crate::correspondence::least_squares_mesh::normalized;
use crate::extent::vertex_areas;

/// Vertices in one parallel task.
const VERTICES_PER_TASK: usize = 128;

/// Weight that keeps a vertex at its position if nothing else holds it: negligible beside a weight
/// of one.
const DAMPING: f64 = 1e-6;

/// [`DAMPING`] relative to the stiffness; it keeps the matrix definite however fine the mesh is.
const RELATIVE_DAMPING: f64 = 1e-10;

/// Limit of the scale of a neighbourhood, up and down.
const LARGEST_STRETCH: f64 = 4.0;

/// The quadratic problem of one step, and what does not change from step to step.
pub(super) struct LinearStep {
    rest: Vec<DVec3>,
    laplacian: SparseMatrix,
    transpose: SparseMatrix,
    /// Laplacian coordinates at rest, `L p`.
    coordinates: Vec<DVec3>,
    /// `Lᵀ L`, with an entry for every pair of corners of a triangle.
    smoothness: SparseMatrix,
    /// Areas of the vertices over their mean.
    pub(super) masses: Vec<f64>,
    /// The mean area of a vertex, `h²`.
    pub(super) mean_area: f64,
    solver: Option<SpdSolver>,
    workspace: SolveWorkspace,
}

impl LinearStep {
    pub(super) fn new(rest: &Mesh) -> Result<Self, TransferError> {
        rest.require_surface()?;
        let laplacian = normalized(mean_value_laplacian(rest)?);
        let transpose = laplacian.transpose();
        // Explicit zeros give every later attraction an entry in the pattern.
        let smoothness = transpose.times(&laplacian).plus(1.0, &corner_pattern(rest));

        let mut masses = vertex_areas(rest);
        let mean = masses.iter().sum::<f64>() / masses.len() as f64;
        let mean_area = if mean > 0.0 { mean } else { 1.0 };
        for mass in &mut masses {
            *mass /= mean_area;
        }

        Ok(Self {
            rest: rest.positions().to_vec(),
            coordinates: laplacian.multiply(rest.positions()),
            laplacian,
            transpose,
            smoothness,
            masses,
            mean_area,
            solver: None,
            workspace: SolveWorkspace::new(),
        })
    }

    /// Attractions of the markers, each with a `share` of the surface.
    pub(super) fn marker_attractions(
        &self,
        markers: &[(u32, DVec3)],
        share: f64,
    ) -> Vec<Attraction> {
        let weight = share * self.rest.len() as f64;
        markers
            .iter()
            .map(|&(vertex, goal)| Attraction::of_vertex(vertex as usize, goal, weight))
            .collect()
    }

    /// The minimum for a stiffness length, with the local rotations of `positions`.
    pub(super) fn solve(
        &mut self,
        positions: &[DVec3],
        length: f64,
        attractions: &[Attraction],
    ) -> Result<Vec<DVec3>, TransferError> {
        // (ℓ/h)⁴/16, where h² is the mean area of a vertex.
        let stiffness = (length * length / self.mean_area).powi(2) / 16.0;
        let damping = DAMPING.max(RELATIVE_DAMPING * stiffness);

        let mut matrix = self.smoothness.clone();
        for value in matrix.values_mut() {
            *value *= stiffness;
        }
        let coordinates = self.rotated_coordinates(positions, stiffness);
        let mut rhs = self.transpose.multiply(&coordinates);

        // The damping keeps vertices without any attraction where they are.
        for (vertex, &position) in positions.iter().enumerate() {
            rhs[vertex] += position * damping;
            add_to_entry(&mut matrix, vertex, vertex, damping);
        }
        // Normal equations of w |Σ b_i x_i − g|².
        for attraction in attractions {
            for (i, own) in attraction.terms() {
                rhs[i] += attraction.goal * (attraction.weight * own);
                for (j, other) in attraction.terms() {
                    add_to_entry(&mut matrix, i, j, attraction.weight * own * other);
                }
            }
        }

        self.factor(&matrix)?;
        let solver = self.solver.as_ref().expect("factored above");
        solver.solve_points_in_place(&mut rhs, &mut self.workspace);
        Ok(rhs)
    }

    /// Factors the matrix of a step. The first one also fixes the elimination order.
    fn factor(&mut self, matrix: &SparseMatrix) -> Result<(), TransferError> {
        match &mut self.solver {
            Some(solver) => solver.refactor(matrix)?,
            none => {
                let symbolic = Arc::new(Symbolic::with_places(matrix, &self.rest)?);
                *none = Some(SpdSolver::factor_with(symbolic, matrix)?);
            }
        }
        Ok(())
    }

    /// `Tᵢ (L p)ᵢ`, times the stiffness.
    fn rotated_coordinates(&self, positions: &[DVec3], stiffness: f64) -> Vec<DVec3> {
        parallel::map(positions.len(), VERTICES_PER_TASK, |i| {
            let (rotation, stretch) = self.local_similarity(positions, i);
            rotation * self.coordinates[i] * (stretch * stiffness)
        })
    }

    /// `Tᵢ`, the rotation and scale of the edges around vertex `i`.
    fn local_similarity(&self, positions: &[DVec3], i: usize) -> (DMat3, f64) {
        let mut covariance = DMat3::ZERO;
        let mut squared_rest = 0.0;
        let mut squared_now = 0.0;
        let (columns, weights) = self.laplacian.row(i);
        for (&column, &weight) in columns.iter().zip(weights) {
            let j = column as usize;
            if j == i {
                continue;
            }

            // Off-diagonal entries of the Laplacian are negative: subtracting adds.
            let p = self.rest[j] - self.rest[i];
            let q = positions[j] - positions[i];
            covariance -=
                DMat3::from_cols(q * (p.x * weight), q * (p.y * weight), q * (p.z * weight));
            squared_rest -= weight * p.length_squared();
            squared_now -= weight * q.length_squared();
        }

        let stretch = if squared_rest > 0.0 {
            (squared_now / squared_rest)
                .sqrt()
                .clamp(1.0 / LARGEST_STRETCH, LARGEST_STRETCH)
        } else {
            1.0
        };
        (nearest_rotation(covariance), stretch)
    }
}

/// Zeros for every pair of corners of a triangle, so that an attraction of any point finds its
/// entries.
fn corner_pattern(mesh: &Mesh) -> SparseMatrix {
    let n = mesh.vertex_count();
    let mut entries = Vec::with_capacity(6 * mesh.triangles().len() + n);
    for &[a, b, c] in mesh.triangles() {
        for (i, j) in [(a, b), (b, a), (b, c), (c, b), (c, a), (a, c)] {
            entries.push((i, j, 0.0));
        }
    }
    entries.extend((0..n as u32).map(|i| (i, i, 0.0)));
    SparseMatrix::from_triplets(n, n, &entries)
}

fn add_to_entry(matrix: &mut SparseMatrix, row: usize, column: usize, value: f64) {
    let place = matrix
        .row(row)
        .0
        .binary_search(&(column as u32))
        .expect("corners of a triangle have an entry in the pattern");
    let start = matrix.starts()[row];
    matrix.values_mut()[start + place] += value;
}
