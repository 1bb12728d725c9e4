//! How far control points are from an example, but for a rigid motion.
//!
//! **Equation.** `d(c, cⁱ) = min_{R,t} √(Σ_k |R c_k + t − cⁱ_k|² / K)`, and the **spread** of the
//! examples `max_j min_{i≠j} d(cʲ, cⁱ)`: how lonely the loneliest of them is.
//!
//! **Source.** Kendall, "Shape manifolds, Procrustean metrics, and complex projective spaces",
//! 1984; size is kept.

use pliant_mesh::glam::DVec3;

use crate::control_points::Alignment;

/// `d`, in the unit of the scene.
pub(crate) fn shape_distance(control: &[DVec3], example: &[DVec3]) -> f64 {
    let alignment = Alignment::of(example, control);
    let squares = control
        .iter()
        .zip(example)
        .map(|(now, then)| alignment.to_rest(*now).distance_squared(*then));
    (squares.sum::<f64>() / control.len() as f64).sqrt()
}

/// The spread of some examples; zero for fewer than two.
pub(crate) fn spread(examples: &[&[DVec3]]) -> f64 {
    let nearest = |j: usize| {
        let others = (0..examples.len()).filter(|&i| i != j);
        others
            .map(|i| shape_distance(examples[j], examples[i]))
            .fold(f64::INFINITY, f64::min)
    };
    if examples.len() < 2 {
        0.0
    } else {
        (0..examples.len()).map(nearest).fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::glam::DMat3;

    #[test]
    fn a_rigid_motion_is_no_distance_and_a_pull_is() {
        let rest = [DVec3::ZERO, DVec3::X, DVec3::new(0.2, 1.0, 0.5), DVec3::Z];
        let turn = DMat3::from_axis_angle(DVec3::new(1.0, 2.0, -0.5).normalize(), 2.2);
        let moved = rest.map(|p| turn * p + DVec3::new(3.0, -1.0, 7.0));
        assert!(shape_distance(&moved, &rest) < 1e-7);
        let mut pulled = moved;
        pulled[2] += DVec3::Y;
        assert!(shape_distance(&pulled, &rest) > 0.1);
        assert!((shape_distance(&pulled, &rest) - shape_distance(&rest, &pulled)).abs() < 1e-7);
    }

    #[test]
    fn the_spread_is_the_distance_of_the_loneliest() {
        let line = |length: f64| [DVec3::ZERO, DVec3::X * length];
        // Centred lines differ by half of their difference in length at each end.
        let lines = [line(1.0), line(2.0), line(8.0)];
        assert!((spread(&[&lines[0], &lines[1], &lines[2]]) - 3.0).abs() < 1e-9);
        assert_eq!(spread(&[&lines[0]]), 0.0);
    }
}
