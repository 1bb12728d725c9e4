//! Linear blend of shapes: the reference of comparisons, and the path of fixed vertices.
//!
//! **Equation.** `x = Σₛ wₛ xˢ`, vertex by vertex.

use pliant_linalg::parallel;
use pliant_mesh::glam::DVec3;

/// Vertices in one parallel task.
const GRAIN: usize = 1024;

/// The position of a vertex in the linear blend.
pub(crate) fn linear_at(shapes: &[Vec<DVec3>], weights: &[f64], vertex: usize) -> DVec3 {
    shapes
        .iter()
        .zip(weights)
        .map(|(shape, &weight)| shape[vertex] * weight)
        .sum()
}

/// The positions of the first `count` vertices in the linear blend.
///
/// # Panics
/// If a shape has fewer vertices.
#[must_use]
pub fn linear_blend(shapes: &[Vec<DVec3>], weights: &[f64], count: usize) -> Vec<DVec3> {
    parallel::map(count, GRAIN, |vertex| linear_at(shapes, weights, vertex))
}

/// The shape that has all the weight, if the others have none.
pub(crate) fn sole_shape(weights: &[f64]) -> Option<usize> {
    // Exact comparisons: only exact weights reproduce a shape to the bit.
    let sole = weights.iter().position(|&weight| weight == 1.0)?;
    let mut others = weights.iter().enumerate().filter(|(s, _)| *s != sole);
    others.all(|(_, &weight)| weight == 0.0).then_some(sole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_shape_has_all_the_weight_only_if_the_others_have_none() {
        assert_eq!(sole_shape(&[0.0, 1.0, 0.0]), Some(1));
        for weights in [
            &[0.5, 0.5][..],
            &[1.0, 0.5, -0.5],
            &[1.0 - f64::EPSILON, 0.0],
            &[],
        ] {
            assert_eq!(sole_shape(weights), None, "{weights:?}");
        }
    }

    #[test]
    fn vertices_move_along_straight_lines() {
        let shapes = [
            vec![DVec3::ZERO, DVec3::X],
            vec![DVec3::Y, DVec3::new(3.0, 0.0, 2.0)],
        ];
        assert_eq!(
            linear_blend(&shapes, &[0.75, 0.25], 2),
            [DVec3::Y * 0.25, DVec3::new(1.5, 0.0, 0.5)]
        );
    }
}
