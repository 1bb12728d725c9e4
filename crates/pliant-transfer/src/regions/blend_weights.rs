//! Blend weights of triangles: one on selected triangles, zero on unselected ones, smooth between.
//!
//! **Problem.** Where two animations meet, a triangle should take a share of each, with a smooth
//! transition.
//!
//! **Equation.** Over the triangles `T`, their neighbours `Qᵢ`, the selected `Φ` and the unselected
//! `Ψ`,
//!
//! ```text
//! min_w  Σ_{i∈T} Σ_{j∈Qᵢ} |wᵢ − wⱼ|²  +  κ Σ_{a∈Φ} |w_a − 1|²  +  κ Σ_{b∈Ψ} |w_b|²
//! ```
//!
//! **Source.** Wang and Lee, "Example-driven animation synthesis", 2008, eq. 5; for faces, which
//! have no stiff partitions, section 4: the transition grows from the boundary of the region by a
//! geodesic distance.
//!
//! **Departures.** The double sum contains every pair twice, so the matrix is twice the Laplacian of
//! the dual graph plus `κ`. The constraint is soft; afterwards triangles of `Φ` and `Ψ` are set to
//! one and zero, from which they differ by about `1/κ`. A component without any constrained triangle
//! has weight zero.

use pliant_linalg::{DisjointSets, SparseMatrix, SpdSolver};
use pliant_mesh::{ExactGeodesics, Mesh, SurfacePoint};

use super::Membership;
use super::dual_graph::neighbor_pairs;
use crate::TransferError;

/// `κ`. Wang and Lee 2008, section 3.2.2.
pub const BLEND_CONSTRAINT_WEIGHT: f64 = 10_000.0;

/// Default width of [`geodesic_band`], relative to the diagonal. Chosen: a corner of the mouth on a
/// head.
pub const DEFAULT_BAND: f64 = 0.05;

/// The weight of every triangle: exactly one and zero on selected and unselected ones, in `[0, 1]`
/// on free ones.
///
/// # Errors
/// Another number of memberships than triangles.
pub fn blend_weights(mesh: &Mesh, members: &[Membership]) -> Result<Vec<f64>, TransferError> {
    TransferError::check_count("the selection", members.len(), mesh.triangles().len())?;
    let mut goals: Vec<Option<[f64; 1]>> = Vec::with_capacity(members.len());
    for member in members {
        goals.push(match member {
            Membership::Selected => Some([1.0]),
            Membership::Unselected => Some([0.0]),
            Membership::Free => None,
        });
    }

    // Without free triangles there is nothing to solve.
    let mut weights = vec![0.0; goals.len()];
    if goals.contains(&None) {
        [weights] = spread_over_triangles(mesh, &goals)?;
    }
    for (weight, goal) in weights.iter_mut().zip(goals) {
        *weight = match goal {
            Some([goal]) => goal,
            None => weight.clamp(0.0, 1.0),
        };
    }
    Ok(weights)
}

/// The selection of a drawn `region` with a smooth border: triangles whose geodesic distance to the
/// border is less than `width` are free.
///
/// `width` is a length in the units of the mesh; with zero, the region is as drawn.
///
/// # Errors
/// A region without one entry per triangle, or a width that is not a number from zero up.
pub fn geodesic_band(
    mesh: &Mesh,
    region: &[bool],
    width: f64,
) -> Result<Vec<Membership>, TransferError> {
    TransferError::check_count("the region", region.len(), mesh.triangles().len())?;
    if !(width >= 0.0 && width.is_finite()) {
        return Err(TransferError::BadNumber {
            what: "the width of the band",
            value: width,
            needed: "a length from zero up",
        });
    }

    let mut members: Vec<Membership> = region.iter().map(|&t| Membership::drawn(t)).collect();
    let border = border_vertices(mesh, region);
    if border.is_empty() || width == 0.0 {
        return Ok(members);
    }

    // The distance of a triangle is the mean of those of its corners: if it is below the width, no
    // corner is three times as far.
    let distances = ExactGeodesics::new(mesh)?
        .disc(&border, 3.0 * width)?
        .to_dense(mesh.vertex_count());
    for (member, triangle) in members.iter_mut().zip(mesh.triangles()) {
        let sum: f64 = triangle.iter().map(|&v| distances[v as usize]).sum();
        if sum < 3.0 * width {
            *member = Membership::Free;
        }
    }
    Ok(members)
}

/// The ends of edges between the region and the rest.
fn border_vertices(mesh: &Mesh, region: &[bool]) -> Vec<SurfacePoint> {
    let topology = mesh.topology();
    let mut ends: Vec<u32> = Vec::new();
    for (edge, sharing) in topology
        .edges()
        .iter()
        .zip(topology.edge_triangles().iter())
    {
        // An edge is on the border if its triangles disagree.
        let has_inside = sharing.iter().any(|&t| region[t as usize]);
        let has_outside = sharing.iter().any(|&t| !region[t as usize]);
        if has_inside && has_outside {
            ends.extend(edge);
        }
    }

    ends.sort_unstable();
    ends.dedup();
    ends.into_iter().map(SurfacePoint::Vertex).collect()
}

/// Eq. 5 for any values: columns that are near `goals` where these are given and smooth between
/// neighbours; zero on components without a goal.
pub(crate) fn spread_over_triangles<const N: usize>(
    mesh: &Mesh,
    goals: &[Option<[f64; N]>],
) -> Result<[Vec<f64>; N], TransferError> {
    let solver = SpdSolver::factor(&constrained_dual_laplacian(mesh, goals))?;
    // Right-hand side κ times the goal; N columns share one factorisation.
    let mut columns = vec![vec![0.0; goals.len()]; N];
    for (t, goal) in goals.iter().enumerate() {
        if let Some(goal) = goal {
            for (column, value) in columns.iter_mut().zip(goal) {
                column[t] = BLEND_CONSTRAINT_WEIGHT * value;
            }
        }
    }

    solver.solve_columns(&mut columns);
    Ok(std::array::from_fn(|c| std::mem::take(&mut columns[c])))
}

/// `2 L + κ C`, and one on the diagonal of components without a goal, whose solution is then zero.
fn constrained_dual_laplacian<const N: usize>(
    mesh: &Mesh,
    goals: &[Option<[f64; N]>],
) -> SparseMatrix {
    let pairs = neighbor_pairs(mesh.topology());
    // Components without a goal would make the matrix singular.
    let mut components = DisjointSets::new(goals.len());
    for &[a, b] in &pairs {
        components.merge(a, b);
    }
    let (component_of, component_count) = components.into_labels();
    let mut has_goal = vec![false; component_count];
    for (goal, &component) in goals.iter().zip(&component_of) {
        has_goal[component as usize] |= goal.is_some();
    }

    let mut triplets = Vec::with_capacity(4 * pairs.len() + goals.len());
    for (t, goal) in goals.iter().enumerate() {
        let diagonal = if !has_goal[component_of[t] as usize] {
            1.0
        } else if goal.is_some() {
            BLEND_CONSTRAINT_WEIGHT
        } else {
            0.0
        };
        triplets.push((t as u32, t as u32, diagonal));
    }
    for [a, b] in pairs {
        triplets.extend([(a, a, 2.0), (b, b, 2.0), (a, b, -2.0), (b, a, -2.0)]);
    }
    SparseMatrix::from_triplets(goals.len(), goals.len(), &triplets)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::glam::DVec3;
    use pliant_mesh::shapes;

    /// A strip of `n` triangles, each the neighbour of the next.
    fn strip(n: u32) -> Mesh {
        let points = (0..n + 2)
            .map(|i| DVec3::new(f64::from(i), f64::from(i % 2), 0.0))
            .collect();
        let triangles: Vec<[u32; 3]> = (0..n)
            .map(|i| {
                if i % 2 == 0 {
                    [i, i + 1, i + 2]
                } else {
                    [i + 1, i, i + 2]
                }
            })
            .collect();

        Mesh::from_triangles(points, &triangles).unwrap()
    }

    #[test]
    fn along_a_strip_weights_are_linear() {
        let mesh = strip(10);
        let mut members = vec![Membership::Free; 10];
        (members[0], members[9]) = (Membership::Selected, Membership::Unselected);

        let weights = blend_weights(&mesh, &members).unwrap();
        assert_eq!((weights[0], weights[9]), (1.0, 0.0));

        // The soft constraints at the ends are violated by the slope over κ.
        assert!(
            weights
                .iter()
                .enumerate()
                .all(|(t, w)| (w - (1.0 - t as f64 / 9.0)).abs() < 1.0 / BLEND_CONSTRAINT_WEIGHT)
        );
    }

    #[test]
    fn weights_minimise_equation_five() {
        let mesh = shapes::bumpy_sheet(5, 0.2);
        let goals: Vec<Option<[f64; 1]>> = (0..50)
            .map(|t| [Some([1.0]), None, None, Some([0.0])][(t * 7 + t / 5) % 4])
            .collect();
        let [weights] = spread_over_triangles(&mesh, &goals).unwrap();
        let energy = |w: &[f64]| {
            let smooth: f64 = (0..50)
                .flat_map(|i| {
                    mesh.topology()
                        .adjacent_triangles(i)
                        .map(move |j| (i, j as usize))
                })
                .map(|(i, j)| (w[i] - w[j]).powi(2))
                .sum();

            let held: f64 = goals
                .iter()
                .zip(w)
                .filter_map(|(g, w)| g.map(|[g]| (w - g).powi(2)))
                .sum();

            smooth + BLEND_CONSTRAINT_WEIGHT * held
        };

        for t in 0..50 {
            let slope = [1e-4, -1e-4].map(|step| {
                let mut moved = weights.clone();
                moved[t] += step;
                energy(&moved)
            });
            assert!((slope[0] - slope[1]).abs() / 2e-4 < 1e-6, "triangle {t}");
        }
    }

    #[test]
    fn weights_are_between_zero_and_one_and_zero_on_components_without_a_goal() {
        let sheet = shapes::bumpy_sheet(6, 0.2);
        let mut builder = sheet.to_builder();
        builder.positions.extend([
            DVec3::splat(5.0),
            DVec3::splat(6.0),
            DVec3::new(5.0, 6.0, 5.0),
        ]);

        builder.push_face(&[49, 50, 51]);
        let mesh = builder.build().unwrap();
        let members: Vec<Membership> = (0..73)
            .map(|t| match t {
                0..=20 => Membership::Selected,
                50..=71 => Membership::Unselected,
                _ => Membership::Free,
            })
            .collect();

        let weights = blend_weights(&mesh, &members).unwrap();
        assert!(weights.iter().all(|w| (0.0..=1.0).contains(w)));
        assert!(weights[..21].iter().all(|&w| w == 1.0) && weights[50..].iter().all(|&w| w == 0.0));
        assert!(weights[21..50].iter().all(|&w| w > 0.0 && w < 1.0));
    }

    #[test]
    fn the_band_contains_the_triangles_within_its_width_of_the_border() {
        let n = 20;
        let sheet = shapes::flat_sheet(n, 0.0);
        let centroid = |t: usize| sheet.triangle_points(t).into_iter().sum::<DVec3>() / 3.0;
        let region: Vec<bool> = (0..sheet.triangles().len())
            .map(|t| centroid(t).x < 0.5)
            .collect();

        let members = geodesic_band(&sheet, &region, 0.2).unwrap();
        for (t, member) in members.iter().enumerate() {
            let distance = (centroid(t).x - 0.5).abs();
            if distance < 0.19 {
                assert_eq!(*member, Membership::Free);
            } else if distance > 0.21 {
                assert_eq!(*member, Membership::drawn(region[t]));
            }
        }

        assert!(
            geodesic_band(&sheet, &region, 0.0)
                .unwrap()
                .iter()
                .all(|&m| m != Membership::Free)
        );

        assert!(geodesic_band(&sheet, &region, -1.0).is_err());
    }
}
