//! Filling of missing values along time.
//!
//! **Equation.** A short gap is filled by the cubic Hermite curve whose tangents are those of
//! Fritsch and Carlson: with the slopes `a`, `b` of the lines on either side of a knot, `0` where
//! they differ in sign, else their harmonic mean. The curve is monotone between its ends, so that a
//! filled eyelid closes neither too far nor twice. A long gap is filled by `(1 − s) x₀ + s x₁` with
//! the smoothstep `s`; before the first value and after the last, the value is held.
//!
//! **Source.** Fritsch, Carlson, "Monotone piecewise cubic interpolation", 1980.

use pliant_linalg::smoothstep;

/// Missing values in a row: the first frame and their number.
pub(super) fn gaps_of(values: &[f64]) -> Vec<(usize, usize)> {
    let mut gaps: Vec<(usize, usize)> = Vec::new();
    for (frame, value) in values.iter().enumerate() {
        if !value.is_nan() {
            continue;
        }
        match gaps.last_mut() {
            Some((first, length)) if *first + *length == frame => *length += 1,
            _ => gaps.push((frame, 1)),
        }
    }
    gaps
}

/// Fills every gap of `values` at `times`; gaps of more than `longest_secs` by smoothsteps. A
/// channel without any value becomes zero. Returns the number of filled values.
pub(super) fn fill(times: &[f64], values: &mut [f64], longest_secs: f64) -> usize {
    let gaps = gaps_of(values);
    let known: Vec<usize> = (0..values.len()).filter(|&k| !values[k].is_nan()).collect();
    if known.is_empty() {
        values.fill(0.0);
        return values.len();
    }

    let source = values.to_vec();
    for &(first, length) in &gaps {
        let next = known.partition_point(|&k| k < first);
        let before = next.checked_sub(1).map(|k| known[k]);
        let after = known.get(next).copied();
        let (Some(a), Some(b)) = (before, after) else {
            let end = before.or(after).expect("some value is known");
            values[first..first + length].fill(source[end]);
            continue;
        };

        let span = times[b] - times[a];
        let is_short = span <= longest_secs + 1.5 * span / (length + 1) as f64;
        let slope = (source[b] - source[a]) / span;
        let outer = |knot: usize, other: Option<&usize>| {
            let slope_beside =
                other.map(|&other| (source[knot] - source[other]) / (times[knot] - times[other]));
            slope_beside.map_or(0.0, |beside| monotone_tangent(beside, slope))
        };
        let leaving = outer(a, next.checked_sub(2).map(|k| &known[k]));
        let arriving = outer(b, known.get(next + 1));

        for frame in first..first + length {
            let s = (times[frame] - times[a]) / span;
            values[frame] = if is_short {
                hermite(s, [source[a], leaving * span, source[b], arriving * span])
            } else {
                source[a] + smoothstep(s) * (source[b] - source[a])
            };
        }
    }
    gaps.iter().map(|(_, length)| length).sum()
}

/// The harmonic mean of two slopes of one sign; zero at a turn.
fn monotone_tangent(a: f64, b: f64) -> f64 {
    if a * b > 0.0 {
        2.0 * a * b / (a + b)
    } else {
        0.0
    }
}

/// The cubic from `p` with tangent `m` to `q` with tangent `n`.
fn hermite(s: f64, [p, m, q, n]: [f64; 4]) -> f64 {
    let step = smoothstep(s);
    let t = 1.0 - s;
    p + step * (q - p) + s * t * t * m - s * s * t * n
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(values: &[f64], longest: f64) -> Vec<f64> {
        let times: Vec<f64> = (0..values.len()).map(|k| k as f64).collect();
        let mut values = values.to_vec();
        fill(&times, &mut values, longest);
        values
    }

    const N: f64 = f64::NAN;

    #[test]
    fn a_line_continues_through_a_short_gap() {
        let line = filled(&[0.0, 1.0, N, N, 4.0, 5.0], 9.0);
        for (k, value) in line.iter().enumerate() {
            assert!((value - k as f64).abs() < 1e-12);
        }
    }

    #[test]
    fn a_filled_gap_never_leaves_the_range_of_its_ends() {
        for values in [
            [0.0, 0.9, N, N, N, 1.0, 0.0],
            [0.3, 0.0, N, N, N, 0.0, 0.9],
            [5.0, 0.1, N, N, N, 0.2, 9.0],
        ] {
            let result = filled(&values, 9.0);
            let (low, high) = (values[1].min(values[5]), values[1].max(values[5]));
            assert!(
                result[2..5].iter().all(|v| (low..=high).contains(v)),
                "{result:?}"
            );
            assert!(
                result[2..5]
                    .windows(2)
                    .all(|w| (w[1] - w[0]) * (values[5] - values[1]) >= 0.0)
            );
        }
    }

    #[test]
    fn long_gaps_rest_at_both_ends_and_outer_ones_are_held() {
        assert_eq!(
            filled(&[N, 2.0, N, N, N, 4.0, N], 1.0),
            [2.0, 2.0, 2.3125, 3.0, 3.6875, 4.0, 4.0]
        );
        assert_eq!(filled(&[N, N], 1.0), [0.0, 0.0]);
        assert_eq!(gaps_of(&[N, 1.0, N, N]), [(0, 1), (2, 2)]);
    }
}
