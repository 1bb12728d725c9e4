//! Removal of spikes: one or two frames that leave the curve and come back.
//!
//! **Equation.** The line with the least squared distance from the two frames on either side of a
//! run of one or two frames predicts the run. The run is a spike if it is farther than
//! `max(8 σ, 0.03)` from the line on one side, and more than eight times as far as any of the four
//! frames is from the line themselves.
//!
//! **Departures.** The second condition keeps blinks and plosives: their flanks are no line. A run
//! becomes missing and is filled like a gap.

/// *Chosen*: a jump that is visible on a face, as a part of the range of a slider.
const LEAST_JUMP: f64 = 0.03;
/// *Chosen*: one in 10¹⁵ frames of normal noise.
const NOISE_FACTOR: f64 = 8.0;
/// *Chosen*: the flanks of a blink of four frames are a seventh of its height from their line.
const FLANK_FACTOR: f64 = 8.0;

/// Marks spikes as missing. Returns their number.
pub(super) fn remove(values: &mut [f64], sigma: f64) -> usize {
    let threshold = f64::max(NOISE_FACTOR * sigma, LEAST_JUMP);
    let mut spikes = 0;
    for length in [1, 2] {
        let mut frame = 2;
        while frame + length + 2 <= values.len() {
            if is_spike(values, frame, length, threshold) {
                values[frame..frame + length].fill(f64::NAN);
                spikes += 1;
                frame += length;
            }
            frame += 1;
        }
    }
    spikes
}

fn is_spike(values: &[f64], first: usize, length: usize, threshold: f64) -> bool {
    let after = first + length;
    let frames = [first - 2, first - 1, after, after + 1];
    let known = frames.map(|k| values[k]);
    if known
        .iter()
        .chain(&values[first..after])
        .any(|v| v.is_nan())
    {
        return false;
    }

    // The frames are symmetric about their middle.
    let middle = frames.iter().sum::<usize>() as f64 / 4.0;
    let offsets = frames.map(|k| k as f64 - middle);
    let mean = known.iter().sum::<f64>() / 4.0;
    let products = offsets.iter().zip(&known).map(|(t, x)| t * x);
    let slope = products.sum::<f64>() / offsets.iter().map(|t| t * t).sum::<f64>();
    let line = |k: usize| mean + slope * (k as f64 - middle);

    let flank = frames
        .iter()
        .map(|&k| (values[k] - line(k)).abs())
        .fold(0.0, f64::max);
    let least = threshold.max(FLANK_FACTOR * flank);
    let above = (first..after).all(|k| values[k] - line(k) > least);
    let below = (first..after).all(|k| line(k) - values[k] > least);
    above || below
}

#[cfg(test)]
mod tests {
    use super::*;

    fn removed(values: &[f64]) -> Vec<usize> {
        let mut values = values.to_vec();
        remove(&mut values, 0.001);
        (0..values.len()).filter(|&k| values[k].is_nan()).collect()
    }

    #[test]
    fn spikes_of_one_and_two_frames_are_found_on_slopes() {
        let mut slope: Vec<f64> = (0..20).map(|k| 0.02 * f64::from(k)).collect();
        slope[6] = 0.9;
        slope[12] = 0.0;
        slope[13] = 0.0;
        assert_eq!(removed(&slope), [6, 12, 13]);
    }

    #[test]
    fn blinks_and_steps_are_no_spikes() {
        // A blink of 130 ms at 30 and at 60 frames per second, a plosive, and a step.
        for values in [
            &[0.0, 0.0, 0.0, 0.3, 0.9, 0.8, 0.3, 0.1, 0.0, 0.0][..],
            &[
                0.0, 0.0, 0.1, 0.3, 0.7, 0.95, 1.0, 0.8, 0.6, 0.4, 0.2, 0.1, 0.0, 0.0,
            ],
            &[0.3, 0.3, 0.28, 0.15, 0.02, 0.12, 0.26, 0.3, 0.3],
            &[0.0, 0.0, 0.0, 0.0, 0.8, 0.8, 0.8, 0.8],
        ] {
            assert!(removed(values).is_empty(), "{values:?}");
        }
    }
}
