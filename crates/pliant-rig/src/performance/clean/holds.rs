//! Holds without jitter: where a channel rests, it rests exactly.
//!
//! **Method.** A hold is a run of at least `LEAST_SECS` whose values stay within a band of the
//! height `h`; runs are as long as possible, from left to right. Its values become their median.
//! No value changes by more than `h`. Over `BLEND` frames on either side the change fades out by smoothsteps, so that no step appears.

use pliant_linalg::smoothstep;

/// *Chosen*: shorter rests are turns of a motion.
const LEAST_SECS: f64 = 0.2;
/// Frames over which the change fades out.
const BLEND: usize = 4;

/// Flattens holds within a band of height `band`. Returns the number of holds.
pub(super) fn flatten(times: &[f64], values: &mut [f64], band: f64) -> usize {
    let mut holds = 0;
    let mut changes = vec![0.0; values.len()];
    let mut held = vec![false; values.len()];
    let mut first = 0;
    while first < values.len() {
        let length = run_within(&values[first..], band);
        let last = first + length - 1;
        if times[last] - times[first] < LEAST_SECS {
            first += 1;
            continue;
        }

        let mut sorted = values[first..=last].to_vec();
        let (_, median, _) = sorted.select_nth_unstable_by(length / 2, f64::total_cmp);
        for k in first..=last {
            changes[k] = *median - values[k];
            held[k] = true;
        }
        holds += 1;
        first = last + 1;
    }

    // Frames beside a hold follow its end.
    for k in 0..values.len() {
        if held[k] {
            continue;
        }
        let before = (1..=BLEND.min(k)).find(|&d| held[k - d]);
        let after = (1..=BLEND).find(|&d| held.get(k + d) == Some(&true));
        let fade = |distance: usize| 1.0 - smoothstep(distance as f64 / (BLEND + 1) as f64);
        let from_before = before.map_or((0.0, 0.0), |d| (fade(d), changes[k - d]));
        let from_after = after.map_or((0.0, 0.0), |d| (fade(d), changes[k + d]));
        // Between two holds the changes are a mean, so that none exceeds the band.
        let sum = from_before.0 + from_after.0;
        let both = from_before.0 * from_before.1 + from_after.0 * from_after.1;
        changes[k] = both / sum.max(1.0);
    }
    for (value, change) in values.iter_mut().zip(&changes) {
        *value += change;
    }
    holds
}

/// The length of the longest run from the start within a band.
fn run_within(values: &[f64], band: f64) -> usize {
    let [mut low, mut high] = [values[0]; 2];
    for (k, &value) in values.iter().enumerate() {
        low = low.min(value);
        high = high.max(value);
        if high - low > band {
            return k;
        }
    }
    values.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rest_becomes_constant_and_a_motion_stays() {
        let times: Vec<f64> = (0..90).map(|k| f64::from(k) / 60.0).collect();
        let value = |k: usize| match k {
            0..30 => 0.2 + 0.002 * (k % 3) as f64,
            30..60 => 0.2 + 0.6 * smoothstep((k - 30) as f64 / 30.0),
            _ => 0.8 - 0.002 * (k % 2) as f64,
        };
        let source: Vec<f64> = (0..90).map(value).collect();
        let mut values = source.clone();
        assert_eq!(flatten(&times, &mut values, 0.008), 2);

        assert!(values[..30].windows(2).all(|w| w[0] == w[1]));
        assert!(values[62..].windows(2).all(|w| w[0] == w[1]));
        assert_eq!(values[38..54], source[38..54]);
        for (a, b) in values.iter().zip(&source) {
            assert!((a - b).abs() <= 0.008 + 1e-12);
        }
    }
}
