//! The noise of a channel, from its own differences.
//!
//! **Equation.** Third differences remove what is smooth and keep noise: independent noise of the
//! deviation `σ` has third differences of the deviation `√20 σ`. With their median absolute value
//! `m`:
//!
//! ```text
//! σ = m / (0.6745 √20)
//! ```
//!
//! **Source.** The median absolute deviation as a robust scale: Hampel, "The influence curve and its
//! role in robust estimation", 1974.
//!
//! **Departures.** Differences of exactly zero do not count: devices cut values below 0, and a
//! channel that rests there says nothing of its noise. Where less than half of the differences
//! count, most of them may be motion, as in lids that only blink; the deviation is then at most the
//! median of the channels that move more.

/// The deviation of the noise of each channel.
pub(super) fn deviations(channels: &[Vec<f64>]) -> Vec<f64> {
    let own: Vec<f64> = channels.iter().map(|values| deviation(values)).collect();
    let moves = |values: &Vec<f64>| {
        let still = values.windows(2).filter(|w| w[0] == w[1]).count();
        2 * still < values.len()
    };
    let mut moving = Vec::new();
    for (values, sigma) in channels.iter().zip(&own) {
        if moves(values) && *sigma > 0.0 {
            moving.push(*sigma);
        }
    }
    moving.sort_by(f64::total_cmp);
    let device = moving.get(moving.len() / 2).copied().unwrap_or(0.0);

    let sigmas = channels.iter().zip(own);
    sigmas
        .map(|(values, sigma)| {
            if moves(values) {
                sigma
            } else {
                sigma.min(device)
            }
        })
        .collect()
}

/// The deviation of the noise; 0 for a channel with fewer than eight moving frames.
fn deviation(values: &[f64]) -> f64 {
    const LEAST: usize = 8;
    let thirds = values
        .windows(4)
        .map(|w| (w[3] - 3.0 * w[2] + 3.0 * w[1] - w[0]).abs());
    let mut differences: Vec<f64> = thirds.filter(|d| *d > 1e-12).collect();
    if differences.len() < LEAST {
        return 0.0;
    }

    let middle = differences.len() / 2;
    let (_, median, _) = differences.select_nth_unstable_by(middle, f64::total_cmp);
    *median / (0.6745 * 20.0_f64.sqrt())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Independent normal numbers of deviation 1, by sums of twelve uniform ones.
    pub(in super::super) fn normal(seed: u64) -> impl FnMut() -> f64 {
        let mut state = seed;
        let mut uniform = move || {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        move || (0..12).map(|_| uniform()).sum::<f64>() - 6.0
    }

    #[test]
    fn planted_noise_is_found_whatever_moves_below_it() {
        let mut normal = normal(1);
        for sigma in [0.001, 0.01, 0.05] {
            let noisy: Vec<f64> = (0..2000)
                .map(|k| 0.5 - 0.5 * (f64::from(k) / 25.0).cos() + sigma * normal())
                .collect();
            let found = deviation(&noisy);
            assert!((found / sigma - 1.0).abs() < 0.1, "{found} for {sigma}");
        }
    }

    #[test]
    fn blinks_alone_are_no_noise() {
        let blink = |k: usize| {
            if k % 100 < 8 {
                (0.4 * (k % 100) as f64).sin().max(0.0)
            } else {
                0.0
            }
        };
        let lid: Vec<f64> = (0..1000).map(blink).collect();
        assert_eq!(deviations(std::slice::from_ref(&lid)), [0.0]);

        let mut normal = normal(2);
        let jaw: Vec<f64> = (0..1000).map(|_| 0.3 + 0.01 * normal()).collect();
        let [jaw, lid] = deviations(&[jaw, lid])[..] else {
            panic!("two channels")
        };
        assert!(lid <= jaw && (jaw / 0.01 - 1.0).abs() < 0.1, "{lid} {jaw}");
    }

    #[test]
    fn a_clean_curve_has_hardly_any_noise() {
        let clean: Vec<f64> = (0..600).map(|k| (f64::from(k) / 30.0).sin()).collect();
        assert!(deviation(&clean) < 1e-4);
        assert_eq!(deviation(&[0.3; 100]), 0.0);
        assert_eq!(deviation(&[]), 0.0);
    }
}
