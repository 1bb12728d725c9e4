//! What a shape does not move stays where it is, to the bit.
//!
//! **Problem.** Gradients that do not fit together push a little at everything, and a smile would
//! move the back of the head.
//!
//! **Equation.** With the best fit `x` of the gradients, the rest pose `v` and a Laplacian `L`,
//! what holds a set `S` of vertices is `x + u` with
//!
//! ```text
//! u = v − x   on S        L u = 0   elsewhere
//! ```
//!
//! With the Laplacian of the fit that would be the best fit among those that hold `S`, since the
//! energy of `x + u` is that of `x` plus `uᵀ L u`; here it is that of the repaired triangulation,
//! whose weights are never negative, and next to the best.
//!
//! **Ours.** A vertex of the target belongs to `S` when none of the triangles around it takes from
//! a source triangle that moves. Shells without such a vertex are left where they are. In a map
//! between different surfaces a few such vertices amid moving ones are places where the map errs,
//! and move along.

use pliant_linalg::{LinalgError, SparseMatrix, SpdSolver};
use pliant_mesh::glam::DVec3;
use pliant_mesh::{Laplacian, Mesh, Topology};

use crate::TriangleMap;

/// Islands of still vertices are at most this part of what moves in their shell.
const ISLAND: f64 = 0.1;

/// For each vertex of `target` whether no source vertex that moves has a say in it; `source_moves`
/// is told per source vertex.
pub(crate) fn still_vertices(
    target: &Mesh,
    map: &TriangleMap,
    source_triangles: &[[u32; 3]],
    source_moves: &[bool],
) -> Vec<bool> {
    let mut still: Vec<bool> = target
        .topology()
        .component_of_vertex()
        .iter()
        .map(|&shell| shell != Topology::NONE)
        .collect();
    let moves = |&(s, _): &(u32, f64)| {
        source_triangles[s as usize]
            .iter()
            .any(|&v| source_moves[v as usize])
    };
    for (triangle, row) in target.triangles().iter().zip(map.rows()) {
        if row.is_empty() || row.iter().any(moves) {
            triangle.iter().for_each(|&v| still[v as usize] = false);
        }
    }
    still
}

/// Lets the vertices that are `still` amid many that are not move along.
pub(crate) fn free_islands(target: &Mesh, still: &mut [bool]) {
    let (shells, around) = (
        target.topology().component_of_vertex(),
        target.topology().vertex_neighbors(),
    );
    let mut moving = vec![0_usize; target.topology().component_count()];
    (0..still.len())
        .filter(|&v| !still[v] && shells[v] != Topology::NONE)
        .for_each(|v| moving[shells[v] as usize] += 1);
    let mut seen = vec![false; still.len()];
    for start in 0..still.len() {
        if seen[start] || !still[start] {
            continue;
        }
        seen[start] = true;
        let mut island = vec![start];
        let mut next = 0;
        while next < island.len() {
            for &w in around.row(island[next]) {
                if still[w as usize] && !std::mem::replace(&mut seen[w as usize], true) {
                    island.push(w as usize);
                }
            }
            next += 1;
        }
        if (island.len() as f64) < ISLAND * moving[shells[start] as usize] as f64 {
            island.iter().for_each(|&v| still[v] = false);
        }
    }
}

/// Puts the vertices that are `still` back to their places in `target`, and bends the rest of their
/// shells after them.
pub(crate) fn hold_still(
    target: &Mesh,
    laplacian: &Laplacian,
    still: &[bool],
    positions: &mut [DVec3],
) -> Result<(), LinalgError> {
    let shells = target.topology().component_of_vertex();
    let mut held = vec![false; target.topology().component_count()];
    for (v, _) in still.iter().enumerate().filter(|(_, still)| **still) {
        held[shells[v] as usize] = true;
    }
    let has_equation = |v: usize| {
        held.get(shells[v] as usize).copied().unwrap_or(false) && laplacian.matrix.get(v, v) > 0.0
    };
    let free: Vec<usize> = (0..still.len())
        .filter(|&v| !still[v] && has_equation(v))
        .collect();
    let shift = |v: usize, positions: &[DVec3]| target.positions()[v] - positions[v];
    if !free.is_empty() {
        let mut number = vec![u32::MAX; still.len()];
        free.iter()
            .enumerate()
            .for_each(|(k, &v)| number[v] = k as u32);
        let mut triplets = Vec::new();
        let mut sides = vec![DVec3::ZERO; free.len()];
        for (k, &v) in free.iter().enumerate() {
            let (columns, values) = laplacian.matrix.row(v);
            for (&column, &value) in columns.iter().zip(values) {
                if still[column as usize] {
                    sides[k] -= shift(column as usize, positions) * value;
                } else if number[column as usize] != u32::MAX {
                    triplets.push((k as u32, number[column as usize], value));
                }
            }
        }
        let bend = SpdSolver::factor(&SparseMatrix::from_triplets(
            free.len(),
            free.len(),
            &triplets,
        ))?
        .solve_points(&sides);
        free.iter()
            .zip(bend)
            .for_each(|(&v, bend)| positions[v] += bend);
    }
    for v in (0..still.len()).filter(|&v| still[v]) {
        positions[v] = target.positions()[v];
    }
    Ok(())
}
