//! Where a walk between shapes is not smooth.
//!
//! **Problem.** Springs may balance in several ways. Where the one that a walk follows ends, the
//! shape snaps to another between two frames: every frame is in balance, and yet an animator sees a
//! pop.
//!
//! **Equation.** Frame `k` snaps if `maxᵥ |xᵥᵏ − xᵥᵏ⁻¹| > 2½ m`, where `m` is the median of that
//! over all steps.

use pliant_mesh::glam::DVec3;

/// Steps this many times longer than the median one are snaps. *Ours*: walks that ease in and out
/// by cosine stay below 1.6.
const LONG: f64 = 2.5;

/// Fewer steps have no usual length.
const LEAST_STEPS: usize = 4;

/// The frames of a walk to which the shape snaps.
#[must_use]
pub fn snaps(walk: &[&[DVec3]]) -> Vec<usize> {
    let step = |pair: &[&[DVec3]]| {
        pair[0]
            .iter()
            .zip(pair[1])
            .map(|(p, q)| p.distance(*q))
            .fold(0.0, f64::max)
    };
    let steps: Vec<f64> = walk.windows(2).map(step).collect();
    if steps.len() < LEAST_STEPS {
        return Vec::new();
    }
    let mut sorted = steps.clone();
    sorted.sort_by(f64::total_cmp);
    let usual = sorted[sorted.len() / 2];
    (0..steps.len())
        .filter(|&k| usual > 0.0 && steps[k] > LONG * usual)
        .map(|k| k + 1)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(places: &[f64]) -> Vec<Vec<DVec3>> {
        places
            .iter()
            .map(|x| vec![DVec3::ZERO, DVec3::X * *x])
            .collect()
    }

    fn snaps_of(places: &[f64]) -> Vec<usize> {
        let frames = walk(places);
        snaps(&frames.iter().map(Vec::as_slice).collect::<Vec<_>>())
    }

    #[test]
    fn a_frame_that_is_far_from_the_one_before_snaps_and_even_or_eased_walks_do_not() {
        assert_eq!(snaps_of(&[0.0, 1.0, 2.0, 5.0, 6.0, 7.0]), [3]);
        assert!(snaps_of(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]).is_empty());
        let eased: Vec<f64> = (0..=36)
            .map(|k| 0.5 - 0.5 * (std::f64::consts::PI * f64::from(k) / 36.0).cos())
            .collect();
        assert!(snaps_of(&eased).is_empty());
    }

    #[test]
    fn walks_that_stand_still_or_are_short_have_no_snaps() {
        assert!(snaps_of(&[1.0; 9]).is_empty());
        assert!(snaps_of(&[0.0, 0.0, 9.0]).is_empty());
        assert!(snaps_of(&[]).is_empty());
    }
}
