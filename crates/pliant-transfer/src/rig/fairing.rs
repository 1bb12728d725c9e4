//! Implicit fairing of displacements: removes detail below a length scale.
//!
//! **Problem.** Where the map between two surfaces is off by the width of a fold, neighbours take
//! their motion from skin that moves differently, and the target crumples.
//!
//! **Equation.** With the Laplacian `L` and mass `M`, displacements `d` become `d + v` with
//!
//! ```text
//! min_v  |M^½ v|²  +  |λ² M^−½ L (d + v)|²
//! ```
//!
//! which smooths detail shorter than `λ` and keeps longer detail.
//!
//! **Source.** The implicit step of Desbrun, Meyer, Schröder and Barr, "Implicit fairing of
//! irregular meshes using diffusion and curvature flow", 1999, with the squared Laplacian, for
//! displacements instead of positions.

use pliant_linalg::{LeastSquares, LinalgError, SparseMatrix};
use pliant_mesh::Laplacian;
use pliant_mesh::glam::DVec3;

/// The index of a vertex that is no unknown: it is fixed.
pub(crate) const FIXED: u32 = u32::MAX;

/// Displacements without detail shorter than `length`, at the vertices whose `index_of` is not
/// [`FIXED`].
pub(crate) fn faired(
    laplacian: &Laplacian,
    index_of: &[u32],
    displacements: &[DVec3],
    length: f64,
) -> Result<Vec<DVec3>, LinalgError> {
    let mut triplets = Vec::new();
    let mut goals = Vec::new();
    for v in (0..index_of.len()).filter(|&v| laplacian.mass[v] > 0.0) {
        // A row of M^½ v.
        let root = laplacian.mass[v].sqrt();
        if index_of[v] != FIXED {
            triplets.push((goals.len() as u32, index_of[v], root));
            goals.push(DVec3::ZERO);
        }

        // A row of λ² M^−½ L (d + v).
        let weight = length * length / root;
        let first = triplets.len();
        let mut bending = DVec3::ZERO;
        let (columns, values) = laplacian.matrix.row(v);
        for (&column, &value) in columns.iter().zip(values) {
            bending += displacements[column as usize] * value;
            let index = index_of[column as usize];
            if index != FIXED {
                triplets.push((goals.len() as u32, index, weight * value));
            }
        }
        if triplets.len() > first {
            goals.push(-bending * weight);
        }
    }

    let unknowns = index_of.iter().filter(|&&index| index != FIXED).count();
    let matrix = SparseMatrix::from_triplets(goals.len(), unknowns, &triplets);
    let changes = LeastSquares::factor(&matrix, &[], &[])?.solve_points(&goals, &[], &[]);

    let mut result = displacements.to_vec();
    for (displacement, &index) in result.iter_mut().zip(index_of) {
        if index != FIXED {
            *displacement += changes[index as usize];
        }
    }
    Ok(result)
}
