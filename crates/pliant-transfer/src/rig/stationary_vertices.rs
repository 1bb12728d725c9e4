//! Stationary vertices: what a shape does not move stays in place, to the bit.
//!
//! **Problem.** Gradients that do not fit together move everything a little, and a smile would move
//! the back of the head.
//!
//! **Equation.** With the best fit `x` of the gradients, the rest pose `v` and a Laplacian `L`, the
//! positions that fix a set `S` of vertices are `x + u` with
//!
//! ```text
//! u = v − x   on S        L u = 0   elsewhere
//! ```
//!
//! With the Laplacian of the fit this would be the best fit among those that fix `S`, because the
//! energy of `x + u` is that of `x` plus `uᵀ L u`. Here it is the Laplacian of the repaired
//! triangulation, whose weights are never negative, and the fit is nearly the best.
//!
//! **Departures.** The method is our own. A vertex of the target belongs to `S` if none of the
//! triangles around it takes from a source triangle that moves. Components without such a vertex are
//! unchanged. In a map between different surfaces, a few such vertices amid moving ones are errors
//! of the map; they are released.

use pliant_linalg::{LinalgError, SparseMatrix, SpdSolver};
use pliant_mesh::glam::DVec3;
use pliant_mesh::{Laplacian, Mesh, Topology};

use crate::TriangleMap;

/// Islands of stationary vertices are at most this share of the moving vertices of their component.
const ISLAND_SHARE: f64 = 0.1;

/// The index of a vertex that is no unknown.
const NO_UNKNOWN: u32 = u32::MAX;

/// For each vertex of `target` whether no moving source vertex affects it; `source_moves` has one
/// entry per source vertex.
pub(crate) fn stationary_vertices(
    target: &Mesh,
    map: &TriangleMap,
    source_triangles: &[[u32; 3]],
    source_moves: &[bool],
) -> Vec<bool> {
    let moves = |&(s, _): &(u32, f64)| {
        let corners = source_triangles[s as usize];
        corners.iter().any(|&v| source_moves[v as usize])
    };

    let component_of = target.topology().component_of_vertex();
    let mut stationary: Vec<bool> = component_of.iter().map(|&c| c != Topology::NONE).collect();
    // Triangles without a source follow their surroundings, so they may move.
    for (triangle, row) in target.triangles().iter().zip(map.rows()) {
        if row.is_empty() || row.iter().any(moves) {
            for &v in triangle {
                stationary[v as usize] = false;
            }
        }
    }
    stationary
}

/// Releases small islands of stationary vertices amid many that move.
pub(crate) fn release_islands(target: &Mesh, stationary: &mut [bool]) {
    let component_of = target.topology().component_of_vertex();
    let mut moving = vec![0_usize; target.topology().component_count()];
    for (v, &component) in component_of.iter().enumerate() {
        if !stationary[v] && component != Topology::NONE {
            moving[component as usize] += 1;
        }
    }

    let mut seen = vec![false; stationary.len()];
    for start in 0..stationary.len() {
        if seen[start] || !stationary[start] {
            continue;
        }
        let island = island_of(target, start, stationary, &mut seen);
        // A large region without motion is meant; a small island is an error of the map.
        let in_component = moving[component_of[start] as usize] as f64;
        if (island.len() as f64) < ISLAND_SHARE * in_component {
            for v in island {
                stationary[v] = false;
            }
        }
    }
}

/// The stationary vertices that edges connect with `start`.
fn island_of(target: &Mesh, start: usize, stationary: &[bool], seen: &mut [bool]) -> Vec<usize> {
    let neighbors = target.topology().vertex_neighbors();
    seen[start] = true;
    let mut island = vec![start];
    let mut next = 0;
    while next < island.len() {
        for &w in neighbors.row(island[next]) {
            let w = w as usize;
            if stationary[w] && !seen[w] {
                seen[w] = true;
                island.push(w);
            }
        }
        next += 1;
    }
    island
}

/// Sets the stationary vertices to their positions in `target`, and moves the rest of their
/// components smoothly along.
pub(crate) fn fix_stationary(
    target: &Mesh,
    laplacian: &Laplacian,
    stationary: &[bool],
    positions: &mut [DVec3],
) -> Result<(), LinalgError> {
    let free = free_vertices(target, laplacian, stationary);
    if !free.is_empty() {
        let displacements = free_displacements(target, laplacian, stationary, &free, positions)?;
        for (&v, displacement) in free.iter().zip(displacements) {
            positions[v] += displacement;
        }
    }

    // Assigned, not added, so that they are equal to the bit.
    for (v, position) in positions.iter_mut().enumerate() {
        if stationary[v] {
            *position = target.positions()[v];
        }
    }
    Ok(())
}

/// The vertices that are not stationary, but on a component with a stationary vertex, and have an
/// equation.
fn free_vertices(target: &Mesh, laplacian: &Laplacian, stationary: &[bool]) -> Vec<usize> {
    let component_of = target.topology().component_of_vertex();
    let mut has_stationary = vec![false; target.topology().component_count()];
    for v in (0..stationary.len()).filter(|&v| stationary[v]) {
        has_stationary[component_of[v] as usize] = true;
    }

    // Components without any stationary vertex have no boundary values and are left.
    let mut free = Vec::new();
    for (v, &component) in component_of.iter().enumerate() {
        let is_held = has_stationary.get(component as usize) == Some(&true);
        if !stationary[v] && is_held && laplacian.matrix.get(v, v) > 0.0 {
            free.push(v);
        }
    }
    free
}

/// `u` at the free vertices.
fn free_displacements(
    target: &Mesh,
    laplacian: &Laplacian,
    stationary: &[bool],
    free: &[usize],
    positions: &[DVec3],
) -> Result<Vec<DVec3>, LinalgError> {
    let mut index_of = vec![NO_UNKNOWN; stationary.len()];
    for (k, &v) in free.iter().enumerate() {
        index_of[v] = k as u32;
    }

    // Known displacements v − x of stationary neighbours move to the right-hand side.
    let mut triplets = Vec::new();
    let mut rhs = vec![DVec3::ZERO; free.len()];
    for (k, &v) in free.iter().enumerate() {
        let (columns, values) = laplacian.matrix.row(v);
        for (&column, &value) in columns.iter().zip(values) {
            let w = column as usize;
            if stationary[w] {
                rhs[k] -= (target.positions()[w] - positions[w]) * value;
            } else if index_of[w] != NO_UNKNOWN {
                triplets.push((k as u32, index_of[w], value));
            }
        }
    }

    let matrix = SparseMatrix::from_triplets(free.len(), free.len(), &triplets);
    Ok(SpdSolver::factor(&matrix)?.solve_points(&rhs))
}
