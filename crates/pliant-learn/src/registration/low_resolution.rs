//! Smoothing (implicit fairing) and decimation of a scan.
//!
//! **Problem.** The registration is smooth and cannot follow wrinkles. It needs a scan without
//! them, and a reference with few, evenly spread vertices.
//!
//! **Equation.** With Laplacian `L`, mass `m` and the positions `p` of the scan, boundaries fixed:
//!
//! ```text
//! min_x  Σ mᵢ |xᵢ − pᵢ|²  +  λ⁴ Σ |(L x)ᵢ|² / mᵢ
//! ```
//!
//! A wave of length `ℓ` keeps `1 / (1 + (2πλ/ℓ)⁴)` of its height. Edge collapses then reduce the
//! number of vertices.
//!
//! **Source.** Huang et al. 2012, section 5, smooth and retile as in Turk, "Re-tiling
//! polygonal surfaces", 1992. The implicit step is that of Desbrun, Meyer, Schröder and Barr,
//! "Implicit fairing of irregular meshes using diffusion and curvature flow", 1999.
//!
//! **Departures.** The squared Laplacian replaces the Laplacian, so that round parts hardly shrink.
//! `λ` is a length, so that scans of different resolution are smoothed equally. Edge collapses with
//! a term for even spacing, and a relaxation of the vertices on the surface, replace retiling. Only
//! the reference is decimated: an example is only used for closest points.

use std::collections::BTreeSet;

use pliant_linalg::{LeastSquares, SparseMatrix, parallel};
use pliant_mesh::glam::DVec3;
use pliant_mesh::{
    Decimation, DecimationBudget, DecimationOptions, Laplacian, Mesh, Smoother, SmoothingOptions,
    SurfaceIndex, VertexPlacement, triangle_normals, vertex_normals,
};

use crate::LearnError;

/// Weight of the edge length relative to the distance from the surface: vertices are spread almost
/// as evenly as by retiling.
const EVENNESS: f64 = 0.1;

/// Rounds of relaxation of the coarse vertices, the repulsion of retiling.
const RELAXATIONS: usize = 5;

/// Vertices in one parallel task.
const VERTICES_PER_TASK: usize = 64;

/// The mesh without waves much shorter than 2π `length`; boundaries are fixed.
///
/// # Errors
/// A mesh without faces, positions that are not finite.
pub(super) fn faired(mesh: &Mesh, length: f64) -> Result<Mesh, LearnError> {
    mesh.require_surface()?;
    if length <= 0.0 {
        return Ok(mesh.clone());
    }

    let laplacian = Laplacian::robust(mesh)?;
    let held = held_vertices(mesh, &laplacian);
    let free: Vec<usize> = (0..mesh.vertex_count()).filter(|&v| !held[v]).collect();

    let mut triplets = Vec::new();
    for (row, &v) in free.iter().enumerate() {
        // λ² / √m scales a row of the Laplacian.
        let weight = length * length / laplacian.mass[v].sqrt();
        let (neighbours, values) = laplacian.matrix.row(v);
        for (&c, &value) in neighbours.iter().zip(values) {
            triplets.push((row as u32, c, weight * value));
        }
    }

    let bending = SparseMatrix::from_triplets(free.len(), mesh.vertex_count(), &triplets);
    let soft: Vec<(usize, f64)> = free.iter().map(|&v| (v, laplacian.mass[v])).collect();
    let hard: Vec<usize> = (0..mesh.vertex_count()).filter(|&v| held[v]).collect();
    let solver = LeastSquares::factor(&bending, &soft, &hard)?;
    let positions = |vertices: &[usize]| -> Vec<DVec3> {
        vertices.iter().map(|&v| mesh.positions()[v]).collect()
    };
    let zeros = vec![DVec3::ZERO; free.len()];
    Ok(mesh.posed(solver.solve_points(&zeros, &positions(&free), &positions(&hard)))?)
}

/// `smooth`, decimated to at most `vertices` of its vertices, evenly spread, including `kept`.
///
/// # Errors
/// As [`faired`], and kept vertices that do not exist.
pub(super) fn coarsened(
    smooth: &Mesh,
    vertices: usize,
    kept: &[u32],
) -> Result<Decimation, LearnError> {
    // Coarse vertices are vertices of the smooth surface, so that the reference coincides with it.
    let options = DecimationOptions::default()
        .with_placement(VertexPlacement::Subset)
        .with_evenness(EVENNESS)
        .with_kept(kept.to_vec());
    Ok(smooth.decimated(DecimationBudget::Vertices(vertices), &options)?)
}

/// The coarse mesh with its vertices moved along `smooth` towards the mean of their neighbours,
/// except for boundaries and the vertices in `held`.
///
/// # Errors
/// As [`faired`].
pub(super) fn relaxed(coarse: &Mesh, smooth: &Mesh, held: &[u32]) -> Result<Mesh, LearnError> {
    let index = SurfaceIndex::new(smooth)?;
    let facing = triangle_normals(smooth);
    let smoother = Smoother::of(coarse, &SmoothingOptions::default().with_iterations(1))?;
    // Markers and boundaries keep their positions.
    let held: BTreeSet<usize> = held
        .iter()
        .map(|&v| v as usize)
        .chain(
            coarse
                .topology()
                .boundary_loops()
                .concat()
                .iter()
                .map(|&v| v as usize),
        )
        .collect();

    let mut mesh = coarse.clone();
    for _ in 0..RELAXATIONS {
        let goals = smoother.smooth(mesh.positions());
        let normals = vertex_normals(&mesh);
        let slid = parallel::map(goals.len(), VERTICES_PER_TASK, |v| {
            if held.contains(&v) {
                return mesh.positions()[v];
            }
            // Only triangles of the same side: thin parts have two layers.
            let same_side = |t: u32| facing[t as usize].dot(normals[v]) > 0.0;
            let closest = index.closest_point_where(goals[v], same_side);
            closest.map_or(mesh.positions()[v], |closest| closest.point)
        });

        mesh = mesh.posed(slid)?;
    }

    Ok(mesh)
}

/// The edge length of an even triangulation of the mesh's area with so many vertices.
pub(super) fn even_edge(mesh: &Mesh, vertices: usize) -> f64 {
    // Each vertex of equilateral triangles of side e has an area of e² √3/2.
    (mesh.area() / vertices.max(1) as f64 * 2.0 / 3f64.sqrt()).sqrt()
}

/// Vertices on boundaries, on non-manifold edges, or without a surface.
fn held_vertices(mesh: &Mesh, laplacian: &Laplacian) -> Vec<bool> {
    let topology = mesh.topology();
    let mut held: Vec<bool> = laplacian.mass.iter().map(|&mass| mass <= 0.0).collect();
    for (edge, ends) in topology.edges().iter().enumerate() {
        if topology.edge_triangles().row(edge).len() != 2 {
            for &v in ends {
                held[v as usize] = true;
            }
        }
    }
    held
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::shapes::icosphere;
    use std::f64::consts::TAU;

    /// A strip along x with waves of height one thousandth across it, its long sides free of
    /// boundaries' influence in the middle.
    fn wavy(rows: usize, wavelength: f64) -> Mesh {
        let columns = rows / 2;
        let at = |i: usize, j: usize| {
            let x = 4.0 * i as f64 / rows as f64;
            let y = 2.0 * j as f64 / columns as f64;
            DVec3::new(x, y, 1e-3 * (TAU * x / wavelength).sin())
        };

        let positions = (0..=rows)
            .flat_map(|i| (0..=columns).map(move |j| at(i, j)))
            .collect();
        let v = |i: usize, j: usize| (i * (columns + 1) + j) as u32;
        let cell = |i: usize, j: usize| vec![v(i, j), v(i + 1, j), v(i + 1, j + 1), v(i, j + 1)];
        let polygons: Vec<Vec<u32>> = (0..rows)
            .flat_map(|i| (0..columns).map(move |j| cell(i, j)))
            .collect();

        Mesh::from_polygons(positions, &polygons).unwrap()
    }

    /// The height of the waves in the middle of the strip.
    fn amplitude(mesh: &Mesh) -> f64 {
        let middle = mesh
            .positions()
            .iter()
            .filter(|p| (p.x - 2.0).abs() < 0.6 && (p.y - 1.0).abs() < 0.1);
        middle.map(|p| p.z.abs()).fold(0.0, f64::max)
    }

    #[test]
    fn a_wave_is_damped_as_in_the_equation() {
        for wavelength in [0.5, 0.8] {
            let expected = 1e-3 / (1.0 + (TAU * 0.1 / wavelength).powi(4));
            let found = amplitude(&faired(&wavy(120, wavelength), 0.1).unwrap());
            assert!(
                (found / expected - 1.0).abs() < 0.05,
                "{wavelength}: {found:e} {expected:e}"
            );
        }
    }

    #[test]
    fn two_triangulations_of_one_surface_are_smoothed_equally() {
        let [coarse, fine] =
            [60, 140].map(|rows| amplitude(&faired(&wavy(rows, 0.6), 0.1).unwrap()));
        assert!((coarse / fine - 1.0).abs() < 0.05, "{coarse:e} {fine:e}");
    }

    #[test]
    fn round_parts_hardly_shrink_and_boundaries_stay() {
        let ball = icosphere(4);
        let smooth = faired(&ball, 0.2).unwrap();
        let least = smooth
            .positions()
            .iter()
            .map(|p| p.length())
            .fold(1.0, f64::min);

        // The coordinates of a unit sphere have the eigenvalue 2.
        assert!(
            (least - 1.0 / (1.0 + 4.0 * 0.2f64.powi(4))).abs() < 2e-3,
            "{least}"
        );

        let strip = wavy(40, 1.0);
        let faired = faired(&strip, 0.2).unwrap();
        let boundary = strip.topology().boundary_loops().concat();

        assert!(
            boundary
                .iter()
                .all(|&v| faired.positions()[v as usize] == strip.positions()[v as usize])
        );
    }

    #[test]
    fn coarse_vertices_are_few_and_evenly_spread_and_include_the_kept_ones() {
        let ball = icosphere(4);
        let coarse = coarsened(&ball, 400, &[7, 1000]).unwrap();
        assert!(coarse.mesh().vertex_count() <= 400 && coarse.budget_met());
        assert!([7, 1000].iter().all(|v| coarse.sources().contains(v)));

        let lengths: Vec<f64> = {
            let p = coarse.mesh().positions();
            coarse
                .mesh()
                .topology()
                .edges()
                .iter()
                .map(|&[a, b]| p[a as usize].distance(p[b as usize]))
                .collect()
        };

        let longest = lengths.iter().copied().fold(0.0, f64::max);
        assert!(
            longest < 2.5 * even_edge(&ball, 400),
            "{longest} {}",
            even_edge(&ball, 400)
        );
    }
}
