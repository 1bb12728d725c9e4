//! Area, volume and strain of a blended shape.
//!
//! **Problem.** Show in a few numbers whether a shape shrank, lost volume or was stretched, in
//! comparison with the linear blend.
//!
//! **Equation.** With the blended lengths `r̄` of the edges of the surface, the strain of a shape
//! is the mean of `|ℓ − r̄| / r̄`. The strain of a vertex is signed: the mean of `(ℓ − r̄) / r̄`
//! over its edges, positive where the surface is stretched.

use pliant_linalg::parallel;
use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;

use crate::blend::energy::springs::length;

/// Edges in one parallel task.
const EDGES_PER_TASK: usize = 4096;

/// Measures of a surface.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Distortion {
    /// Area of the surface.
    pub area: f64,
    /// Signed volume of the surface.
    pub volume: f64,
    /// Mean relative difference of the edges from their blended lengths.
    pub strain: f64,
}

impl Distortion {
    /// The measures of `surface` relative to the weighted mean of the edge lengths in `shapes`, of
    /// which only the surface vertices are used. Edges of zero blended length do not count in the
    /// strain.
    #[must_use]
    pub(crate) fn of(surface: &Mesh, shapes: &[Vec<DVec3>], weights: &[f64]) -> Self {
        Self::beside(surface, &blended_lengths(surface, shapes, weights))
    }

    /// The same with given blended lengths of the edges.
    #[must_use]
    pub(crate) fn beside(surface: &Mesh, blended: &[f64]) -> Self {
        let mut sum = 0.0;
        let mut count = 0_usize;
        for (&edge, &rest) in surface.topology().edges().iter().zip(blended) {
            if rest > 0.0 {
                sum += (length(surface.positions(), edge) - rest).abs() / rest;
                count += 1;
            }
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

/// The mean relative difference of the edges at each vertex of `surface` from their blended
/// lengths, positive where they are longer. Edges of zero blended length do not count; a vertex
/// without other edges has no strain.
#[must_use]
pub fn vertex_strains(surface: &Mesh, shapes: &[Vec<DVec3>], weights: &[f64]) -> Vec<f64> {
    let blended = blended_lengths(surface, shapes, weights);

    // Each edge contributes to both of its ends.
    let mut sums = vec![(0.0, 0_u32); surface.vertex_count()];
    for (&edge, &rest) in surface.topology().edges().iter().zip(&blended) {
        if rest > 0.0 {
            let strain = (length(surface.positions(), edge) - rest) / rest;
            for vertex in edge {
                let (sum, count) = &mut sums[vertex as usize];
                *sum += strain;
                *count += 1;
            }
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
    fn a_given_shape_has_no_strain_and_one_enlarged_by_a_tenth_has_a_strain_of_a_tenth() {
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
    fn edges_of_zero_length_do_not_count() {
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
    fn the_vertex_strain_of_a_scaled_shape_is_the_scale_minus_one() {
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
