//! How much a shape between shapes is distorted.
//!
//! **Problem.** Tell in a few numbers whether a shape shrank, lost volume or was stretched, beside
//! the linear blend.
//!
//! **Equation.** With the blended lengths `r̄` of the edges of the surface, the strain of a shape is
//! the mean of `|ℓ − r̄| / r̄`. That of a vertex has a sign: the mean of `(ℓ − r̄) / r̄` over its
//! edges, above zero where the surface is stretched.

use pliant_linalg::parallel;
use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;

use crate::springs::length;

/// Edges in one parallel task.
const EDGES_PER_TASK: usize = 4096;

/// Figures of a surface.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Distortion {
    /// Area of the surface.
    pub area: f64,
    /// Signed volume of the surface.
    pub volume: f64,
    /// How far edges are from their blended lengths: the mean share.
    pub strain: f64,
}

impl Distortion {
    /// The figures of `surface` where edges would be as long as the weighted mean of those in
    /// `shapes`, of which only the vertices of the surface are looked at. Edges of no length
    /// are left out of the strain.
    #[must_use]
    pub(crate) fn of(surface: &Mesh, shapes: &[Vec<DVec3>], weights: &[f64]) -> Self {
        Self::beside(surface, &blended_lengths(surface, shapes, weights))
    }

    /// The same where the blended lengths of the edges are known.
    #[must_use]
    pub(crate) fn beside(surface: &Mesh, blended: &[f64]) -> Self {
        let (mut sum, mut count) = (0.0, 0_usize);
        for (&edge, &rest) in surface
            .topology()
            .edges()
            .iter()
            .zip(blended)
            .filter(|(_, rest)| **rest > 0.0)
        {
            sum += (length(surface.positions(), edge) - rest).abs() / rest;
            count += 1;
        }
        Self {
            area: surface.area(),
            volume: surface.signed_volume(),
            strain: sum / count.max(1) as f64,
        }
    }
}

/// The weighted mean of the lengths that each edge of a mesh has in `shapes`.
pub(crate) fn blended_lengths(mesh: &Mesh, shapes: &[Vec<DVec3>], weights: &[f64]) -> Vec<f64> {
    let edges = mesh.topology().edges();
    let blended = |edge: usize| {
        shapes
            .iter()
            .zip(weights)
            .map(|(shape, &weight)| weight * length(shape, edges[edge]))
            .sum()
    };
    parallel::map(edges.len(), EDGES_PER_TASK, blended)
}

/// How far the edges at each vertex of `surface` are from their blended lengths: the mean share,
/// above zero where they are longer. Edges of no blended length are left out, and a vertex without
/// others has none.
#[must_use]
pub fn vertex_strains(surface: &Mesh, shapes: &[Vec<DVec3>], weights: &[f64]) -> Vec<f64> {
    let blended = blended_lengths(surface, shapes, weights);
    let mut sums = vec![(0.0, 0_u32); surface.vertex_count()];
    for (&edge, &rest) in surface
        .topology()
        .edges()
        .iter()
        .zip(&blended)
        .filter(|(_, rest)| **rest > 0.0)
    {
        let strain = (length(surface.positions(), edge) - rest) / rest;
        for vertex in edge {
            let (sum, count) = &mut sums[vertex as usize];
            (*sum, *count) = (*sum + strain, *count + 1);
        }
    }
    sums.into_iter()
        .map(|(sum, count)| sum / f64::from(count.max(1)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_shapes::{bar, bent};

    #[test]
    fn shapes_have_no_strain_at_their_own_weights_and_one_scaled_by_a_tenth_has_a_tenth() {
        let bar = bar(8, 2);
        let shapes = [bar.points.clone(), bent(&bar.points, 90.0)];
        assert_eq!(Distortion::of(&bar.mesh, &shapes, &[1.0, 0.0]).strain, 0.0);
        let larger = bar
            .mesh
            .posed(bar.mesh.positions().iter().map(|p| *p * 1.1).collect())
            .unwrap();
        let figures = Distortion::of(&larger, &shapes, &[1.0, 0.0]);
        assert!((figures.strain - 0.1).abs() < 1e-12);
        assert!(
            (figures.area / bar.mesh.area() - 1.21).abs() < 1e-12
                && (figures.volume / bar.mesh.signed_volume() - 1.331).abs() < 1e-12
        );
    }

    #[test]
    fn edges_without_length_are_left_out() {
        let bar = bar(4, 2);
        let point = vec![DVec3::ZERO; bar.points.len()];
        let strain = Distortion::of(
            &bar.mesh
                .posed(point[..bar.mesh.vertex_count()].to_vec())
                .unwrap(),
            &[point],
            &[1.0],
        )
        .strain;
        assert_eq!(strain, 0.0);
    }

    #[test]
    fn each_vertex_of_a_shape_that_grew_by_a_tenth_is_stretched_by_a_tenth() {
        let bar = bar(8, 2);
        let shapes = [bar.points.clone(), bent(&bar.points, 90.0)];
        for factor in [1.1, 0.9, 1.0] {
            let scaled = bar
                .mesh
                .posed(bar.mesh.positions().iter().map(|p| *p * factor).collect())
                .unwrap();
            let strains = vertex_strains(&scaled, &shapes, &[1.0, 0.0]);
            assert_eq!(strains.len(), bar.mesh.vertex_count());
            assert!(
                strains
                    .iter()
                    .all(|strain| (strain - (factor - 1.0)).abs() < 1e-12),
                "{factor}"
            );
        }
    }
}
