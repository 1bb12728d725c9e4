//! Smooth blend weights of the regressions of the nearest control points.
//!
//! **Equation.** With the distances `d₁ ≤ d₂ ≤ d₃ ≤ d₄` along the surface to the four nearest
//! control points,
//!
//! ```text
//! wₖ ∝ (1 − dₖ/d₄)²        k = 1, 2, 3
//! ```
//!
//! A point that becomes the third nearest has weight zero at that moment, so that the blend is
//! continuous wherever the distances are.
//!
//! **Implementation.** Distances are computed on the base and subdivided like coordinates.

use pliant_linalg::parallel;
use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;

use super::surface::DetailSurface;
use crate::ControlPoints;
use crate::surface::{across_components, distances_from};

/// Vertices in one parallel task.
const VERTICES_PER_TASK: usize = 4096;

/// The regressions of one vertex in ascending order, and their weights of sum one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct BlendEntry {
    pub(crate) models: [u32; BlendEntry::MODELS],
    pub(crate) weights: [f32; BlendEntry::MODELS],
}

impl BlendEntry {
    /// The most regressions of a vertex.
    pub(crate) const MODELS: usize = 3;

    /// From the four nearest control points, nearest first; the last one only scales the weights of
    /// the others.
    fn of(nearest: &[(f32, u32); 4]) -> Self {
        // With only three control points there is no fourth distance.
        let last = if nearest[3].0.is_finite() {
            nearest[3].0
        } else {
            2.0 * nearest[2].0
        };

        let weight = |k: usize| {
            if last > 0.0 {
                (1.0 - nearest[k].0 / last).max(0.0).powi(2) + f32::MIN_POSITIVE
            } else {
                1.0
            }
        };

        let mut pairs: [(u32, f32); Self::MODELS] =
            std::array::from_fn(|k| (nearest[k].1, weight(k)));
        pairs.sort_by_key(|(model, _)| *model);

        let total: f32 = pairs.iter().map(|(_, weight)| weight).sum();
        Self {
            models: pairs.map(|(model, _)| model),
            weights: pairs.map(|(_, weight)| weight / total),
        }
    }
}

/// The blend of every vertex of the detailed surface.
pub(crate) fn blend_of(
    base: &Mesh,
    control: &ControlPoints,
    surface: &DetailSurface,
) -> Vec<BlendEntry> {
    let distances: Vec<Vec<f64>> = parallel::map(control.count(), 1, |k| {
        let source = control.vertices()[k];
        across_components(base, source, distances_from(base, source))
    });

    // Three distances at a time are subdivided as the coordinates of one point.
    let mut nearest = vec![[(f32::INFINITY, 0_u32); 4]; surface.vertex_count()];
    for (group, three) in distances.chunks(3).enumerate() {
        let mut field = vec![DVec3::ZERO; base.vertex_count()];
        for (k, of_point) in three.iter().enumerate() {
            for (value, &distance) in field.iter_mut().zip(of_point) {
                value[k] = distance;
            }
        }

        let refined = surface.refine(&field);
        parallel::for_each_chunk_mut(&mut nearest, VERTICES_PER_TASK, |start, chunk| {
            for (list, distances) in chunk.iter_mut().zip(&refined[start..]) {
                for k in 0..three.len() {
                    insert(list, distances[k] as f32, (3 * group + k) as u32);
                }
            }
        });
    }
    parallel::map(nearest.len(), VERTICES_PER_TASK, |v| {
        BlendEntry::of(&nearest[v])
    })
}

/// Keeps the four nearest in order; of two equally near, the one that came first.
fn insert(list: &mut [(f32, u32); 4], distance: f32, model: u32) {
    if distance >= list[3].0 {
        return;
    }
    let place = list
        .iter()
        .position(|(other, _)| distance < *other)
        .expect("nearer than the last");
    list[place..].rotate_right(1);
    list[place] = (distance, model);
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::shapes;

    fn sheet() -> (Mesh, ControlPoints) {
        let mesh = shapes::flat_sheet(12, 0.0);
        let control = ControlPoints::new(&mesh, &[0, 12, 84, 156, 168]).unwrap();
        (mesh, control)
    }

    #[test]
    fn weights_sum_to_one_and_are_largest_at_their_own_control_point() {
        let (mesh, control) = sheet();
        let surface = DetailSurface::of(&mesh, 1).unwrap();
        let blend = blend_of(&mesh, &control, &surface);

        assert_eq!(blend.len(), surface.vertex_count());
        assert!(
            blend
                .iter()
                .all(|entry| (entry.weights.iter().sum::<f32>() - 1.0).abs() < 1e-6)
        );

        for (k, &v) in control.vertices().iter().enumerate() {
            let entry = blend[v as usize];
            let most = (0..3)
                .max_by(|a, b| entry.weights[*a].total_cmp(&entry.weights[*b]))
                .unwrap();
            assert_eq!(entry.models[most], k as u32);
        }
    }

    #[test]
    fn weights_of_neighbours_differ_at_most_by_a_multiple_of_their_edge_length() {
        // |∂w/∂d| of the normalised squares stays below a small multiple of 1/d₄, and d₄ is about
        // half the sheet or more.
        let (mesh, control) = sheet();
        let surface = DetailSurface::of(&mesh, 2).unwrap();
        let blend = blend_of(&mesh, &control, &surface);
        let dense = |entry: &BlendEntry| {
            let mut weights = [0.0_f32; 5];
            for (&model, weight) in entry.models.iter().zip(entry.weights) {
                weights[model as usize] += weight;
            }
            weights
        };

        for [a, b] in surface.mesh().topology().edges() {
            let one = dense(&blend[*a as usize]);
            let other = dense(&blend[*b as usize]);
            let jump = one
                .iter()
                .zip(other)
                .map(|(x, y)| (x - y).abs())
                .fold(0.0, f32::max);
            assert!(jump < 0.35, "{jump} between {a} and {b}");
        }
    }

    #[test]
    fn three_control_points_and_a_separate_component_have_a_blend() {
        let two = [shapes::icosphere(1), shapes::icosphere(1)];
        let shifted: Vec<DVec3> = two[1]
            .positions()
            .iter()
            .map(|p| *p + DVec3::X * 5.0)
            .collect();

        let positions = [two[0].positions(), &shifted].concat();
        let triangles: Vec<[u32; 3]> = two[0]
            .triangles()
            .iter()
            .copied()
            .chain(two[1].triangles().iter().map(|t| t.map(|v| v + 42)))
            .collect();

        let mesh = Mesh::from_triangles(positions, &triangles).unwrap();
        // All control points are on the first component.
        let control = ControlPoints::new(&mesh, &[0, 5, 9]).unwrap();
        let blend = blend_of(&mesh, &control, &DetailSurface::of(&mesh, 0).unwrap());

        assert!(
            blend
                .iter()
                .all(|entry| entry.models == [0, 1, 2]
                    && entry.weights.iter().all(|w| w.is_finite()))
        );
    }
}
