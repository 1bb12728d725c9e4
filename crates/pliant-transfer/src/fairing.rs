//! Displacements without what is too short to be trusted.
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
//! which evens out what is shorter than `λ` and keeps what is longer.
//!
//! **Source.** The implicit step of Desbrun, Meyer, Schröder and Barr, "Implicit fairing of
//! irregular meshes using diffusion and curvature flow", 1999, with the squared Laplacian, of
//! displacements instead of places.

use pliant_linalg::{LeastSquares, LinalgError, SparseMatrix};
use pliant_mesh::Laplacian;
use pliant_mesh::glam::DVec3;

/// The number of a vertex that stays.
pub(crate) const FIXED: u32 = u32::MAX;

/// Displacements of which what is shorter than `length` is evened out, at the vertices that have a
/// number.
pub(crate) fn faired(
    laplacian: &Laplacian,
    number: &[u32],
    displacements: &[DVec3],
    length: f64,
) -> Result<Vec<DVec3>, LinalgError> {
    let columns = number.iter().filter(|&&k| k != FIXED).count();
    let (mut triplets, mut goals) = (Vec::new(), Vec::new());
    for v in (0..number.len()).filter(|&v| laplacian.mass[v] > 0.0) {
        let root = laplacian.mass[v].sqrt();
        if number[v] != FIXED {
            triplets.push((goals.len() as u32, number[v], root));
            goals.push(DVec3::ZERO);
        }
        let (neighbours, values) = laplacian.matrix.row(v);
        let weight = length * length / root;
        let first = triplets.len();
        let free = neighbours
            .iter()
            .zip(values)
            .filter(|(c, _)| number[**c as usize] != FIXED);
        triplets.extend(
            free.map(|(&c, &value)| (goals.len() as u32, number[c as usize], weight * value)),
        );
        if triplets.len() > first {
            let bend: DVec3 = neighbours
                .iter()
                .zip(values)
                .map(|(&c, &value)| displacements[c as usize] * value)
                .sum();
            goals.push(-bend * weight);
        }
    }
    let matrix = SparseMatrix::from_triplets(goals.len(), columns, &triplets);
    let change = LeastSquares::factor(&matrix, &[], &[])?.solve_points(&goals, &[], &[]);
    Ok(displacements
        .iter()
        .zip(number)
        .map(|(&d, &k)| {
            if k == FIXED {
                d
            } else {
                d + change[k as usize]
            }
        })
        .collect())
}
