//! Shape distance: the RMS distance of two sets of control points up to a rigid motion.
//!
//! **Equation.** `d(c, cⁱ) = min_{R,t} √(Σ_k |R c_k + t − cⁱ_k|² / K)`, and the **spread** of the
//! examples `max_j min_{i≠j} d(cʲ, cⁱ)`: the largest distance of an example from its nearest
//! neighbour.
//!
//! **Source.** Kendall, "Shape manifolds, Procrustean metrics, and complex projective spaces",
//! 1984, without scaling.

use pliant_mesh::glam::DVec3;

use super::alignment::Alignment;

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
    if examples.len() < 2 {
        return 0.0;
    }

    let mut spread: f64 = 0.0;
    for (j, example) in examples.iter().enumerate() {
        let mut nearest = f64::INFINITY;
        for (i, other) in examples.iter().enumerate() {
            if i != j {
                nearest = nearest.min(shape_distance(example, other));
            }
        }
        spread = spread.max(nearest);
    }
    spread
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::glam::DMat3;

    #[test]
    fn a_rigid_motion_has_distance_zero_and_a_moved_point_does_not() {
        let rest = [DVec3::ZERO, DVec3::X, DVec3::new(0.2, 1.0, 0.5), DVec3::Z];
        let rotation = DMat3::from_axis_angle(DVec3::new(1.0, 2.0, -0.5).normalize(), 2.2);
        let moved = rest.map(|p| rotation * p + DVec3::new(3.0, -1.0, 7.0));
        assert!(shape_distance(&moved, &rest) < 1e-7);
        let mut pulled = moved;
        pulled[2] += DVec3::Y;
        assert!(shape_distance(&pulled, &rest) > 0.1);
        assert!((shape_distance(&pulled, &rest) - shape_distance(&rest, &pulled)).abs() < 1e-7);
    }

    #[test]
    fn the_spread_is_the_largest_distance_to_a_nearest_neighbour() {
        let line = |length: f64| [DVec3::ZERO, DVec3::X * length];
        // Centred lines differ by half of their difference in length at each end.
        let lines = [line(1.0), line(2.0), line(8.0)];
        assert!((spread(&[&lines[0], &lines[1], &lines[2]]) - 3.0).abs() < 1e-9);
        assert_eq!(spread(&[&lines[0]]), 0.0);
    }
}
