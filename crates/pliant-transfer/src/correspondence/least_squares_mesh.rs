//! Least-squares mesh: a surface defined by its connectivity and a few control points.
//!
//! **Problem.** Bring two different surfaces into nearly the same shape if only the positions of a
//! few markers are known.
//!
//! **Equation.** With the mean-value Laplacian `L` of the mesh and markers with goals `c`,
//!
//! ```text
//! min  ‖L V'‖² + Σ ω |c'ᵢ − cᵢ|²        ω = 10000
//! ```
//!
//! **Source.** Wang and Lee, "Example-driven animation synthesis", 2008, eqs. 2 and 3 (eq. 4 stacks
//! rows that would weigh markers by `ω²`; `ω` is meant); Sorkine and Cohen-Or, "Least-squares
//! meshes", 2004.
//!
//! **Departures.** Rows of `L` are divided by their diagonal: `ω` then means the same in every unit
//! and for every meshing, and a needle weighs no more than any other vertex. A thousandth of
//! uniform weights ties the corners of needles to the rest. A component without markers has no
//! shape of its own; its vertices are drawn to given positions, as are vertices without triangles.

use std::sync::Arc;

use pliant_linalg::{SolveWorkspace, SparseMatrix, SpdSolver, Symbolic};
use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, MeshError, mean_value_laplacian};

use crate::TransferError;

/// `ω`, the weight of a marker. Wang and Lee 2008, section 3.1.2.
pub const MARKER_WEIGHT: f64 = 10_000.0;

/// Share of uniform weights in each row. Chosen: without it, the two ends of a very short edge are
/// tied to each other only, and drift away together.
const UNIFORM_SHARE: f64 = 1e-3;

/// How strongly a vertex of a component without markers is drawn to its given position.
const POSITION_WEIGHT: f64 = 1.0;

/// The least-squares mesh of `mesh` with the vertices of `markers` at the given goals.
///
/// `positions` has one position per vertex, which matters only on components without a marker.
///
/// # Errors
/// If a position is not finite, a marker names no vertex, or `positions` has another length than
/// the mesh has vertices.
pub fn least_squares_mesh(
    mesh: &Mesh,
    markers: &[(u32, DVec3)],
    positions: &[DVec3],
) -> Result<Vec<DVec3>, TransferError> {
    MeshError::require_count(
        "the list of positions",
        positions.len(),
        mesh.vertex_count(),
    )?;
    let laplacian = normalized(mean_value_laplacian(mesh)?);

    let mut weights = vec![0.0; mesh.vertex_count()];
    let mut rhs = vec![DVec3::ZERO; mesh.vertex_count()];
    let mut marked = Vec::with_capacity(markers.len());
    for &(vertex, goal) in markers {
        mesh.require_vertex(vertex as usize)?;
        weights[vertex as usize] += MARKER_WEIGHT;
        rhs[vertex as usize] += goal * MARKER_WEIGHT;
        marked.push(vertex as usize);
    }
    for vertex in unreached(&laplacian, &marked) {
        weights[vertex] += POSITION_WEIGHT;
        rhs[vertex] += positions[vertex] * POSITION_WEIGHT;
    }

    // Normal equations Lᵀ L + diag(weights).
    let normal = laplacian
        .transpose()
        .times(&laplacian)
        .plus(1.0, &SparseMatrix::diagonal(&weights));
    let symbolic = Arc::new(Symbolic::with_places(&normal, mesh.positions())?);
    let solver = SpdSolver::factor_with(symbolic, &normal)?;
    solver.solve_points_in_place(&mut rhs, &mut SolveWorkspace::new());
    Ok(rhs)
}

/// Rows divided by their diagonal, with a small share of uniform weights; rows of vertices without
/// neighbours stay zero.
pub(crate) fn normalized(mut laplacian: SparseMatrix) -> SparseMatrix {
    let starts = laplacian.starts().to_vec();
    let indices = laplacian.indices().to_vec();
    for (row, range) in starts.windows(2).map(|w| w[0]..w[1]).enumerate() {
        let neighbors = range.len().saturating_sub(1) as f64;
        let values = &mut laplacian.values_mut()[range.clone()];
        let diagonal = indices[range]
            .iter()
            .position(|&column| column as usize == row)
            .expect("every row has its diagonal");

        // A row without a positive diagonal has uniform weights only.
        let scale = values[diagonal];
        let (factor, uniform) = if scale > 0.0 {
            ((1.0 - UNIFORM_SHARE) / scale, UNIFORM_SHARE / neighbors)
        } else {
            (0.0, 1.0 / neighbors)
        };

        for value in values.iter_mut() {
            *value = *value * factor - uniform;
        }
        values[diagonal] = f64::from(u8::from(neighbors > 0.0));
    }
    laplacian
}

/// The vertices that no chain of non-zero entries connects to a marked one, ascending.
fn unreached(laplacian: &SparseMatrix, marked: &[usize]) -> Vec<usize> {
    let mut reached = vec![false; laplacian.rows()];
    let mut stack = Vec::new();
    for &vertex in marked {
        if vertex < laplacian.rows() {
            reached[vertex] = true;
            stack.push(vertex);
        }
    }

    // An edge has a weight at both ends or at none, so the rows contain all connections.
    while let Some(vertex) = stack.pop() {
        let (columns, values) = laplacian.row(vertex);
        for (&column, &value) in columns.iter().zip(values) {
            if value != 0.0 && !std::mem::replace(&mut reached[column as usize], true) {
                stack.push(column as usize);
            }
        }
    }

    (0..laplacian.rows())
        .filter(|&vertex| !reached[vertex])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_shapes::lump;

    fn markers(mesh: &Mesh, vertices: &[u32]) -> Vec<(u32, DVec3)> {
        vertices
            .iter()
            .map(|&v| (v, mesh.positions()[v as usize]))
            .collect()
    }

    #[test]
    fn the_gradient_of_the_energy_vanishes() {
        let mesh = lump(3, 0.0);
        let held = markers(&mesh, &[0, 1, 2, 3, 5, 8, 100]);
        let warped = least_squares_mesh(&mesh, &held, mesh.positions()).unwrap();
        let laplacian = normalized(mean_value_laplacian(&mesh).unwrap());

        let mut gradient = laplacian.transpose().multiply(&laplacian.multiply(&warped));
        for &(vertex, place) in &held {
            gradient[vertex as usize] += (warped[vertex as usize] - place) * MARKER_WEIGHT;
        }

        assert!(
            gradient.iter().all(|g| g.length() < 1e-9),
            "{:?}",
            gradient.iter().map(|g| g.length()).fold(0.0, f64::max)
        );

        assert!(
            held.iter()
                .all(|&(vertex, place)| warped[vertex as usize].distance(place) < 1e-3)
        );
    }

    #[test]
    fn a_change_of_units_scales_the_result() {
        let mesh = lump(2, 0.0);
        let held = markers(&mesh, &[0, 1, 2, 3, 5]);
        let plain = least_squares_mesh(&mesh, &held, mesh.positions()).unwrap();
        let large = mesh
            .posed(mesh.positions().iter().map(|&p| p * 1024.0).collect())
            .unwrap();

        // The size of the mesh has no effect; the size of the goals scales the result.
        assert_eq!(
            least_squares_mesh(&large, &held, mesh.positions()).unwrap(),
            plain
        );

        let scaled: Vec<(u32, DVec3)> = held.iter().map(|&(v, p)| (v, p / 1024.0)).collect();
        let small = least_squares_mesh(&mesh, &scaled, mesh.positions()).unwrap();
        assert!(small.iter().zip(&plain).all(|(&a, &b)| a * 1024.0 == b));
    }

    #[test]
    fn components_without_markers_and_isolated_vertices_take_their_given_positions() {
        let ball = lump(1, 0.0);
        let n = ball.vertex_count() as u32;
        let mut positions = ball.positions().to_vec();
        positions.extend([DVec3::X, DVec3::Y, DVec3::Z, DVec3::ONE].map(|p| p * 10.0));

        let mut triangles = ball.triangles().to_vec();
        triangles.push([n, n + 1, n + 2]);
        let mesh = Mesh::from_triangles(positions, &triangles).unwrap();
        let places: Vec<DVec3> = mesh.positions().iter().map(|&p| p + DVec3::Y).collect();
        let warped = least_squares_mesh(&mesh, &markers(&mesh, &[0, 1, 2, 3, 5]), &places).unwrap();
        let center = |points: &[DVec3]| points.iter().sum::<DVec3>() / 3.0;
        let part = n as usize..n as usize + 3;

        assert!(center(&warped[part.clone()]).distance(center(&places[part])) < 1e-9);
        assert_eq!(warped[n as usize + 3], places[n as usize + 3]);
        assert!(least_squares_mesh(&mesh, &[], &places[1..]).is_err());
    }

    #[test]
    fn degenerate_triangles_and_duplicate_vertices_give_finite_positions() {
        let ball = lump(1, 0.0);
        let n = ball.vertex_count() as u32;
        let mut positions = ball.positions().to_vec();
        positions.extend([positions[0], positions[0], positions[1]]);

        let mut triangles = ball.triangles().to_vec();
        triangles.extend([[0, n, n + 1], [n, n + 1, n + 2], [0, 1, n + 2]]);
        let mesh = Mesh::from_triangles(positions, &triangles).unwrap();
        let warped =
            least_squares_mesh(&mesh, &markers(&mesh, &[0, 1, 2, 3, 5]), mesh.positions()).unwrap();

        assert!(warped.iter().all(|p| p.is_finite()));
    }

    #[test]
    fn a_thin_needle_does_not_distort_the_mesh() {
        let ball = lump(2, 0.0);
        let n = ball.vertex_count() as u32;
        let mut positions = ball.positions().to_vec();
        let mut triangles = ball.triangles().to_vec();
        let [a, b, c] = triangles.swap_remove(40);
        let [p, q, r] = [a, b, c].map(|v| positions[v as usize]);

        positions.push(p + (q - p) * 1e-7 + (r - p) * 1e-7);
        triangles.extend([[a, b, n], [b, c, n], [c, a, n]]);
        let mesh = Mesh::from_triangles(positions, &triangles).unwrap();
        let held = markers(&ball, &[0, 1, 2, 3, 5, 8]);
        let plain = least_squares_mesh(&ball, &held, ball.positions()).unwrap();
        let warped = least_squares_mesh(&mesh, &held, mesh.positions()).unwrap();

        let off = plain
            .iter()
            .zip(&warped)
            .map(|(a, b)| a.distance(*b))
            .fold(0.0, f64::max);
        let size = ball.bounds().unwrap().diagonal();

        assert!(
            off < 0.2 * size && warped[n as usize].distance(warped[a as usize]) < 0.01 * size,
            "{off} {size}"
        );
    }
}
