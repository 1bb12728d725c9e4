//! A mesh that only its connectivity and a few points shape.
//!
//! **Problem.** Bring two unlike surfaces into nearly the same shape when all that is known is
//! where a few vertices belong.
//!
//! **Equation.** With the mean-value Laplacian `L` of the mesh and markers that belong to the
//! places `c`,
//!
//! ```text
//! min  ‖L V'‖² + Σ ω |c'ᵢ − cᵢ|²        ω = 10000
//! ```
//!
//! **Source.** Wang and Lee, "Example-driven animation synthesis", 2008, eqs. 2 and 3 (eq. 4 stacks
//! rows that would weigh markers by `ω²`; `ω` is meant); Sorkine and Cohen-Or, "Least-squares
//! meshes", 2004.
//!
//! **Ours.** Rows of `L` are divided by their diagonal: `ω` then means the same in every unit and
//! for every meshing, and a needle weighs no more than any other vertex; a thousandth of equal
//! weights keeps its corners tied to the rest. A part without markers has no shape of its own; its
//! vertices are drawn to the places they are given, as are vertices without any triangle.

use std::sync::Arc;

use pliant_linalg::{SolveWorkspace, SparseMatrix, SpdSolver, Symbolic};
use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, mean_value_laplacian};

use crate::TransferError;

/// `ω`, the weight of a marker. Paper: section 3.1.2.
pub const MARKER_WEIGHT: f64 = 10_000.0;

/// Part of equal weights in each row. Ours: two ends of a very short edge would otherwise know only
/// each other and fly away together.
const EQUAL_SHARE: f64 = 1e-3;

/// How strongly a vertex of a part without markers is drawn to its place.
const PLACE_WEIGHT: f64 = 1.0;

/// The least-squares mesh of `mesh` with the vertices of `markers` at the given places.
///
/// `places` holds a place for every vertex, which only matters on parts that hold no marker.
///
/// # Errors
/// If a position is not finite or a marker names no vertex.
///
/// # Panics
/// If `places` has another length than the mesh has vertices.
pub fn least_squares_mesh(
    mesh: &Mesh,
    markers: &[(u32, DVec3)],
    places: &[DVec3],
) -> Result<Vec<DVec3>, TransferError> {
    assert_eq!(places.len(), mesh.vertex_count(), "one place per vertex");
    let laplacian = normalized(mean_value_laplacian(mesh)?);
    let mut weights = vec![0.0; mesh.vertex_count()];
    let mut rhs = vec![DVec3::ZERO; mesh.vertex_count()];
    let mut pull = |vertex: usize, place: DVec3, weight: f64| {
        weights[vertex] += weight;
        rhs[vertex] += place * weight;
    };
    for &(vertex, place) in markers {
        mesh.require_vertex(vertex as usize)?;
        pull(vertex as usize, place, MARKER_WEIGHT);
    }
    let marked: Vec<usize> = markers.iter().map(|&(vertex, _)| vertex as usize).collect();
    for vertex in unreached(&laplacian, &marked) {
        pull(vertex, places[vertex], PLACE_WEIGHT);
    }
    let normal = laplacian
        .transpose()
        .times(&laplacian)
        .plus(1.0, &SparseMatrix::diagonal(&weights));
    let symbolic = Arc::new(Symbolic::with_places(&normal, mesh.positions())?);
    SpdSolver::factor_with(symbolic, &normal)?
        .solve_points_in_place(&mut rhs, &mut SolveWorkspace::new());
    Ok(rhs)
}

/// Rows divided by their diagonal, with a trace of equal weights mixed in; rows of vertices without
/// neighbours stay zero.
pub(crate) fn normalized(mut laplacian: SparseMatrix) -> SparseMatrix {
    let starts = laplacian.starts().to_vec();
    let indices = laplacian.indices().to_vec();
    for (row, range) in starts.windows(2).map(|w| w[0]..w[1]).enumerate() {
        let neighbours = range.len().saturating_sub(1) as f64;
        let values = &mut laplacian.values_mut()[range.clone()];
        let own = indices[range]
            .iter()
            .position(|&column| column as usize == row)
            .expect("every row has its diagonal");
        let scale = values[own];
        let (share, equal) = if scale > 0.0 {
            ((1.0 - EQUAL_SHARE) / scale, EQUAL_SHARE / neighbours)
        } else {
            (0.0, 1.0 / neighbours)
        };
        values
            .iter_mut()
            .for_each(|value| *value = *value * share - equal);
        values[own] = f64::from(u8::from(neighbours > 0.0));
    }
    laplacian
}

/// The unknowns that no chain of non-zero entries links to a marked one, in order.
fn unreached(laplacian: &SparseMatrix, marked: &[usize]) -> Vec<usize> {
    let mut reached = vec![false; laplacian.rows()];
    let mut queue: Vec<usize> = marked
        .iter()
        .copied()
        .filter(|&vertex| vertex < laplacian.rows())
        .collect();
    for &vertex in &queue {
        reached[vertex] = true;
    }
    // An edge has a weight at both ends or at none, so rows alone tell who is linked.
    while let Some(vertex) = queue.pop() {
        let (columns, values) = laplacian.row(vertex);
        for (&column, &value) in columns.iter().zip(values) {
            if value != 0.0 && !std::mem::replace(&mut reached[column as usize], true) {
                queue.push(column as usize);
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
    fn units_change_nothing() {
        let mesh = lump(2, 0.0);
        let held = markers(&mesh, &[0, 1, 2, 3, 5]);
        let plain = least_squares_mesh(&mesh, &held, mesh.positions()).unwrap();
        let large = mesh
            .posed(mesh.positions().iter().map(|&p| p * 1024.0).collect())
            .unwrap();
        // The mesh's own size has no say at all, that of the places is the result's.
        assert_eq!(
            least_squares_mesh(&large, &held, mesh.positions()).unwrap(),
            plain
        );
        let scaled: Vec<(u32, DVec3)> = held.iter().map(|&(v, p)| (v, p / 1024.0)).collect();
        let small = least_squares_mesh(&mesh, &scaled, mesh.positions()).unwrap();
        assert!(small.iter().zip(&plain).all(|(&a, &b)| a * 1024.0 == b));
    }

    #[test]
    fn parts_without_markers_and_loose_vertices_come_to_their_places() {
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
    }

    #[test]
    fn triangles_without_area_and_doubled_vertices_leave_it_finite() {
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
    fn the_finest_needle_does_not_throw_the_mesh_off() {
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
