//! The smooth, coarse version of a scan.
//!
//! **Problem.** Deformation transfer keeps neighbours together and cannot follow wrinkles; it wants
//! a scan without them, and a reference that is even and small.
//!
//! **Equation.** With Laplacian `L`, mass `m` and the places `p` of the scan, rims held:
//!
//! ```text
//! min_x  Σ mᵢ |xᵢ − pᵢ|²  +  λ⁴ Σ |(L x)ᵢ|² / mᵢ
//! ```
//!
//! A wave of length `ℓ` is left at `1 / (1 + (2πλ/ℓ)⁴)` of its height. Edges of the result then
//! collapse until few vertices are left.
//!
//! **Source.** Huang and others 2012, section 5, smooths and retiles after Turk, "Re-tiling
//! polygonal surfaces", 1992. The implicit step is that of Desbrun, Meyer, Schröder and Barr,
//! "Implicit fairing of irregular meshes using diffusion and curvature flow", 1999.
//!
//! **Ours.** The squared Laplacian in place of the plain one: round parts hardly shrink. `λ` is a
//! length, so scans of different tiling are smoothed alike. Evenly spread edge collapse, after
//! which vertices slide apart on the surface, takes the place of retiling, and only the
//! reference is collapsed: an example is only ever asked for its closest points, which need no
//! tiling of their own.

use std::collections::BTreeSet;

use pliant_linalg::{LeastSquares, SparseMatrix, parallel};
use pliant_mesh::glam::DVec3;
use pliant_mesh::{
    Decimation, DecimationBudget, DecimationOptions, Laplacian, Mesh, Smoother, SmoothingOptions,
    SurfaceIndex, VertexPlacement, triangle_normals, vertex_normals,
};

use crate::LearnError;

/// What the length of an edge costs beside the distance from the surface: vertices spread nearly as
/// evenly as by retiling.
const EVENNESS: f64 = 0.1;

/// Rounds in which coarse vertices slide apart: the repulsion of retiling.
const RELAXATIONS: usize = 5;

/// Vertices in one parallel task.
const VERTICES_PER_TASK: usize = 64;

/// The mesh without waves much shorter than 2π `length`; rims stay.
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
        let weight = length * length / laplacian.mass[v].sqrt();
        let (neighbours, values) = laplacian.matrix.row(v);
        triplets.extend(
            neighbours
                .iter()
                .zip(values)
                .map(|(&c, &value)| (row as u32, c, weight * value)),
        );
    }
    let bends = SparseMatrix::from_triplets(free.len(), mesh.vertex_count(), &triplets);
    let soft: Vec<(usize, f64)> = free.iter().map(|&v| (v, laplacian.mass[v])).collect();
    let hard: Vec<usize> = (0..mesh.vertex_count()).filter(|&v| held[v]).collect();
    let places = |vertices: &[usize]| {
        vertices
            .iter()
            .map(|&v| mesh.positions()[v])
            .collect::<Vec<_>>()
    };
    let solver = LeastSquares::factor(&bends, &soft, &hard)?;
    Ok(mesh.posed(solver.solve_points(
        &vec![DVec3::ZERO; free.len()],
        &places(&free),
        &places(&hard),
    ))?)
}

/// At most `vertices` of the vertices of `smooth`, evenly spread, `kept` among them.
///
/// # Errors
/// As [`faired`], and kept vertices that are not there.
pub(super) fn coarsened(
    smooth: &Mesh,
    vertices: usize,
    kept: &[u32],
) -> Result<Decimation, LearnError> {
    // Coarse vertices stay on the smooth surface, so that the reference lies on itself.
    let options = DecimationOptions::default()
        .with_placement(VertexPlacement::Subset)
        .with_evenness(EVENNESS)
        .with_kept(kept.to_vec());
    Ok(smooth.decimated(DecimationBudget::Vertices(vertices), &options)?)
}

/// The coarse mesh with its vertices slid along `smooth` towards the middle of their neighbours,
/// but for rims and those of `held`.
///
/// # Errors
/// As [`faired`].
pub(super) fn relaxed(coarse: &Mesh, smooth: &Mesh, held: &[u32]) -> Result<Mesh, LearnError> {
    let index = SurfaceIndex::new(smooth)?;
    let facing = triangle_normals(smooth);
    let smoother = Smoother::of(coarse, &SmoothingOptions::default().with_iterations(1))?;
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
        let (goals, normals) = (smoother.smooth(mesh.positions()), vertex_normals(&mesh));
        let slid = parallel::map(goals.len(), VERTICES_PER_TASK, |v| {
            let same_way = |t: u32| facing[t as usize].dot(normals[v]) > 0.0;
            let found = if held.contains(&v) {
                None
            } else {
                index.closest_point_where(goals[v], same_way)
            };
            found.map_or(mesh.positions()[v], |closest| closest.point)
        });
        mesh = mesh.posed(slid)?;
    }
    Ok(mesh)
}

/// The edge of an even tiling of the mesh's area by so many vertices.
pub(super) fn even_edge(mesh: &Mesh, vertices: usize) -> f64 {
    // Each vertex of equilateral triangles of side e has an area of e² √3/2.
    (mesh.area() / vertices.max(1) as f64 * 2.0 / 3f64.sqrt()).sqrt()
}

/// Vertices on rims, on edges of three triangles, or on no surface.
fn held_vertices(mesh: &Mesh, laplacian: &Laplacian) -> Vec<bool> {
    let topology = mesh.topology();
    let mut held: Vec<bool> = laplacian.mass.iter().map(|&mass| mass <= 0.0).collect();
    for (edge, ends) in topology.edges().iter().enumerate() {
        if topology.edge_triangles().row(edge).len() != 2 {
            ends.iter().for_each(|&v| held[v as usize] = true);
        }
    }
    held
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::shapes::icosphere;
    use std::f64::consts::TAU;

    /// A strip along x with waves of height one thousandth across it, its long sides free of rims'
    /// influence in the middle.
    fn wavy(rows: usize, wavelength: f64) -> Mesh {
        let columns = rows / 2;
        let at = |i: usize, j: usize| {
            let (x, y) = (
                4.0 * i as f64 / rows as f64,
                2.0 * j as f64 / columns as f64,
            );
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
    fn a_wave_is_left_at_the_part_that_the_equation_says() {
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
    fn two_tilings_of_one_surface_are_smoothed_alike() {
        let [coarse, fine] =
            [60, 140].map(|rows| amplitude(&faired(&wavy(rows, 0.6), 0.1).unwrap()));
        assert!((coarse / fine - 1.0).abs() < 0.05, "{coarse:e} {fine:e}");
    }

    #[test]
    fn round_parts_hardly_shrink_and_rims_stay() {
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
        let rim = strip.topology().boundary_loops().concat();
        assert!(
            rim.iter()
                .all(|&v| faired.positions()[v as usize] == strip.positions()[v as usize])
        );
    }

    #[test]
    fn coarse_vertices_are_few_evenly_spread_and_those_to_keep_among_them() {
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
