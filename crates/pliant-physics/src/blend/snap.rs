//! Detection of snaps: frames where a sequence of shapes is not smooth.
//!
//! **Problem.** Springs may have several equilibria. Where the one that a sequence follows ceases
//! to exist, the shape snaps to another between two frames: every frame is an equilibrium, and yet
//! an animator sees a pop.
//!
//! **Equation.** Frame `k` snaps if `maxᵥ |xᵥᵏ − xᵥᵏ⁻¹| > 2½ m`, where `m` is the median of that
//! maximum over all steps.

use pliant_mesh::glam::DVec3;

/// Steps this many times longer than the median are snaps. Chosen: sequences that ease in and out
/// by cosine stay below 1.6.
const LONG: f64 = 2.5;

/// Fewer steps have no meaningful median.
const LEAST_STEPS: usize = 4;

/// The frames of a sequence to which the shape snaps.
#[must_use]
pub fn snap_frames(sequence: &[&[DVec3]]) -> Vec<usize> {
    let steps: Vec<f64> = sequence
        .windows(2)
        .map(|pair| largest_step(pair[0], pair[1]))
        .collect();
    if steps.len() < LEAST_STEPS {
        return Vec::new();
    }

    // The median is robust against the snaps themselves.
    let mut sorted = steps.clone();
    sorted.sort_by(f64::total_cmp);
    let median = sorted[sorted.len() / 2];

    let mut snaps = Vec::new();
    for (k, &step) in steps.iter().enumerate() {
        if median > 0.0 && step > LONG * median {
            snaps.push(k + 1);
        }
    }

    snaps
}

/// The largest distance of a vertex from its position in the last frame.
fn largest_step(from: &[DVec3], to: &[DVec3]) -> f64 {
    from.iter()
        .zip(to)
        .map(|(p, q)| p.distance(*q))
        .fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sequence(places: &[f64]) -> Vec<Vec<DVec3>> {
        places
            .iter()
            .map(|x| vec![DVec3::ZERO, DVec3::X * *x])
            .collect()
    }

    fn snaps_of(places: &[f64]) -> Vec<usize> {
        let frames = sequence(places);
        snap_frames(&frames.iter().map(Vec::as_slice).collect::<Vec<_>>())
    }

    #[test]
    fn a_long_step_is_a_snap_and_uniform_or_eased_sequences_have_none() {
        assert_eq!(snaps_of(&[0.0, 1.0, 2.0, 5.0, 6.0, 7.0]), [3]);
        assert!(snaps_of(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]).is_empty());
        let eased: Vec<f64> = (0..=36)
            .map(|k| 0.5 - 0.5 * (std::f64::consts::PI * f64::from(k) / 36.0).cos())
            .collect();
        assert!(snaps_of(&eased).is_empty());
    }

    #[test]
    fn constant_and_short_sequences_have_no_snaps() {
        assert!(snaps_of(&[1.0; 9]).is_empty());
        assert!(snaps_of(&[0.0, 0.0, 9.0]).is_empty());
        assert!(snaps_of(&[]).is_empty());
    }
}
