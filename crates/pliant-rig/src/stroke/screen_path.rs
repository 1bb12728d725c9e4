//! Filling of gaps in a stroke on the screen (Catmull–Rom).
//!
//! **Problem.** A fast hand leaves long gaps between recorded points. On a curved surface the line
//! must follow the surface between them, so rays are needed there too.
//!
//! **Equation.** Between two points the path is the mean of the parabola through them and the point
//! before, and of the one through them and the point after, `(1 − s) Q₀(t) + s Q₁(t)`, with
//! centripetal parameters `tᵢ₊₁ − tᵢ = √|pᵢ₊₁ − pᵢ|`.
//!
//! **Source.** Overhauser, "Analytic definition of curves and surfaces by parabolic blending", 1968
//! (the Catmull–Rom spline); Lee, "Choosing nodes in parametric curve interpolation", 1989, for the
//! parameters.
//!
//! **Departures.** Recorded points are kept, and only gaps longer than a part of the stroke are
//! filled. Next to an end the only parabola is used.

use glam::DVec2;

use crate::RigError;

/// The longest step relative to the length of the stroke. *Chosen*: enough for rays to follow a
/// face.
const LONGEST_STEP: f64 = 1.0 / 32.0;

/// The drawn points, with more points in long gaps.
///
/// # Errors
/// [`RigError::PointNotFinite`], or [`RigError::TooShort`] without two different points.
pub(crate) fn fill_gaps(points: &[[f64; 2]]) -> Result<Vec<DVec2>, RigError> {
    let drawn = distinct_points(points)?;
    let length = path_length(&drawn);

    // Long gaps get intermediate points.
    let mut path = vec![drawn[0]];
    for i in 0..drawn.len() - 1 {
        let steps = drawn[i].distance(drawn[i + 1]) / (LONGEST_STEP * length);
        let count = steps.ceil().max(1.0) as usize;
        path.extend((1..count).map(|k| blended(&drawn, i, k as f64 / count as f64)));
        path.push(drawn[i + 1]);
    }

    Ok(path)
}

/// The drawn points without repetitions, at least two.
fn distinct_points(points: &[[f64; 2]]) -> Result<Vec<DVec2>, RigError> {
    if let Some(point) = points.iter().position(|p| !p.iter().all(|c| c.is_finite())) {
        return Err(RigError::PointNotFinite {
            what: "the stroke",
            point,
        });
    }

    let mut drawn: Vec<DVec2> = points.iter().map(|p| DVec2::from_array(*p)).collect();
    // A pointer at rest repeats its position.
    drawn.dedup();
    if drawn.len() < 2 || path_length(&drawn) == 0.0 {
        return Err(RigError::TooShort {
            what: "the stroke",
            found: drawn.len().min(1),
            needed: 2,
        });
    }

    Ok(drawn)
}

/// The length of a polyline on the screen.
pub(crate) fn path_length(points: &[DVec2]) -> f64 {
    points
        .windows(2)
        .map(|pair| pair[0].distance(pair[1]))
        .sum()
}

/// The point at `s` from 0 to 1 between drawn points `i` and `i + 1`.
fn blended(drawn: &[DVec2], i: usize, s: f64) -> DVec2 {
    let [a, b] = [drawn[i], drawn[i + 1]];
    let reach = a.distance(b).sqrt();

    // The parabolas through the point before and the point after, in local parameters.
    let before = i.checked_sub(1).map(|k| {
        parabola(
            [drawn[k], a, b],
            [-drawn[k].distance(a).sqrt(), 0.0, reach],
            s * reach,
        )
    });

    let after = drawn.get(i + 2).map(|c| {
        parabola(
            [a, b, *c],
            [0.0, reach, reach + b.distance(*c).sqrt()],
            s * reach,
        )
    });

    match (before, after) {
        (Some(before), Some(after)) => before.lerp(after, s),
        (Some(only), None) | (None, Some(only)) => only,
        (None, None) => a.lerp(b, s),
    }
}

/// The parabola through three points at three parameters (Lagrange).
fn parabola([a, b, c]: [DVec2; 3], [t_a, t_b, t_c]: [f64; 3], t: f64) -> DVec2 {
    let basis = |t_0: f64, t_1: f64, t_2: f64| (t - t_1) * (t - t_2) / ((t_0 - t_1) * (t_0 - t_2));
    a * basis(t_a, t_b, t_c) + b * basis(t_b, t_c, t_a) + c * basis(t_c, t_a, t_b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawn_points_are_kept_and_no_step_is_long() {
        let drawn = [
            [0.0, 0.0],
            [0.0, 0.0],
            [100.0, 10.0],
            [101.0, 12.0],
            [90.0, 300.0],
        ];

        let path = fill_gaps(&drawn).unwrap();
        assert!(drawn.iter().all(|p| path.contains(&DVec2::from_array(*p))));

        let length = path_length(&path);
        assert!(
            path.windows(2)
                .all(|pair| pair[0].distance(pair[1]) < 2.0 * LONGEST_STEP * length)
        );
    }

    #[test]
    fn nine_points_of_a_half_circle_are_a_circle_to_a_thousandth() {
        let at = |k: usize| std::f64::consts::PI * k as f64 / 8.0;
        let drawn: Vec<[f64; 2]> = (0..9).map(|k| [at(k).cos(), at(k).sin()]).collect();
        let worst = fill_gaps(&drawn)
            .unwrap()
            .iter()
            .map(|p| (p.length() - 1.0).abs())
            .fold(0.0, f64::max);
        assert!(worst < 1e-3, "{worst}: chords would miss it by 0.02");
    }

    #[test]
    fn two_points_give_a_straight_line() {
        let path = fill_gaps(&[[0.0, 0.0], [30.0, 60.0]]).unwrap();
        assert!(path.len() == 33 && path.iter().all(|p| (p.y - 2.0 * p.x).abs() < 1e-12));
    }

    #[test]
    fn single_points_and_points_that_are_not_finite_are_errors() {
        assert!(matches!(
            fill_gaps(&[]),
            Err(RigError::TooShort { found: 0, .. })
        ));
        assert!(matches!(
            fill_gaps(&[[1.0, 2.0]; 4]),
            Err(RigError::TooShort { found: 1, .. })
        ));
        assert!(matches!(
            fill_gaps(&[[1.0, 2.0], [f64::NAN, 2.0]]),
            Err(RigError::PointNotFinite { point: 1, .. })
        ));
    }
}
