//! Smoothing without lag, as strong as the noise asks for.
//!
//! **Problem.** Noise shows as a trembling face; a filter over past frames lags, and one over all
//! frames alike cuts blinks.
//!
//! **Equation.** The smooth curve `x` of the values `y` minimises
//!
//! ```text
//! Σₜ mₜ (xₜ − yₜ)² + λ Σₜ vₜ (xₜ₋₁ − 2xₜ + xₜ₊₁)²        vₜ = 1 / (1 + (dₜ / κ)²)
//! ```
//!
//! with the second differences `d` of the estimate before, so that a true acceleration, which noise
//! alone would hardly give, costs little. `λ` is the largest one at which the root mean square of
//! `x − y` does not exceed the deviation `σ` of the noise (the discrepancy principle), and
//! `κ = 3 σ √6 / 4`, where `√6 σ` is the deviation of second differences of noise. The normal
//! equations have five diagonals and are solved in linear time.
//!
//! **Source.** Whittaker, "On a new method of graduation", 1923. Morozov, "On the solution of
//! functional equations by the method of regularization", 1966. The weights `v` are those of the
//! Cauchy loss: Holland, Welsch, "Robust regression using iteratively reweighted least-squares",
//! 1977.
//!
//! **Departures.** Frames of a contact have large weights `m`, so that a lid or the lips close as far
//! as in the take.

/// Rounds of reweighting. *Chosen*: later ones change curves by less than the noise.
const ROUNDS: usize = 4;
/// Halvings of the interval of the logarithm of λ.
const HALVINGS: usize = 18;
/// λ from far below to far above one frame of memory.
const LOG_RANGE: [f64; 2] = [-6.0, 6.0];

/// The smooth curve. `weights` has one `m` for each frame.
pub(super) fn smoothed(values: &[f64], weights: &[f64], sigma: f64) -> Vec<f64> {
    if values.len() < 3 || sigma <= 0.0 {
        return values.to_vec();
    }

    let kappa = 3.0 * sigma * 6.0_f64.sqrt() / 4.0;
    let mut bends = vec![1.0; values.len()];
    let mut estimate = values.to_vec();
    for _ in 0..ROUNDS {
        estimate = by_discrepancy(values, weights, &bends, sigma);
        for k in 1..values.len() - 1 {
            let second = estimate[k - 1] - 2.0 * estimate[k] + estimate[k + 1];
            bends[k] = 1.0 / (1.0 + (second / kappa) * (second / kappa));
        }
    }
    estimate
}

/// The curve with the largest λ whose distance from the values does not exceed the noise.
fn by_discrepancy(values: &[f64], weights: &[f64], bends: &[f64], sigma: f64) -> Vec<f64> {
    let [mut low, mut high] = LOG_RANGE;
    let mut best = values.to_vec();
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        let curve = whittaker(values, weights, bends, 10.0_f64.powf(middle));
        let squares = curve.iter().zip(values).map(|(x, y)| (x - y) * (x - y));
        let rms = (squares.sum::<f64>() / values.len() as f64).sqrt();
        if rms <= sigma {
            low = middle;
            best = curve;
        } else {
            high = middle;
        }
    }
    best
}

/// The minimum for one λ: an LDLᵀ factorisation of five diagonals.
fn whittaker(values: &[f64], weights: &[f64], bends: &[f64], lambda: f64) -> Vec<f64> {
    let n = values.len();
    // Diagonals of M + λ DᵀVD: main, first and second.
    let mut main = weights.to_vec();
    let mut first = vec![0.0; n];
    let mut second = vec![0.0; n];
    for k in 1..n - 1 {
        let penalty = lambda * bends[k];
        main[k - 1] += penalty;
        main[k] += 4.0 * penalty;
        main[k + 1] += penalty;
        first[k - 1] -= 2.0 * penalty;
        first[k] -= 2.0 * penalty;
        second[k - 1] += penalty;
    }

    // L has ones on its diagonal, l1 and l2 below it.
    let mut x: Vec<f64> = values.iter().zip(weights).map(|(y, m)| m * y).collect();
    for k in 0..n {
        if k >= 1 {
            let l1 = first[k - 1] / main[k - 1];
            main[k] -= l1 * first[k - 1];
            if k + 1 < n {
                first[k] -= l1 * second[k - 1];
            }
            x[k] -= l1 * x[k - 1];
        }
        if k >= 2 {
            let l2 = second[k - 2] / main[k - 2];
            main[k] -= l2 * second[k - 2];
            x[k] -= l2 * x[k - 2];
        }
    }
    for k in (0..n).rev() {
        let mut value = x[k];
        if k + 1 < n {
            value -= first[k] * x[k + 1];
        }
        if k + 2 < n {
            value -= second[k] * x[k + 2];
        }
        x[k] = value / main[k];
    }
    x
}

#[cfg(test)]
mod tests {
    use super::super::noise::tests::normal;
    use super::*;

    fn rms(a: &[f64], b: &[f64]) -> f64 {
        let squares = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b));
        (squares.sum::<f64>() / a.len() as f64).sqrt()
    }

    #[test]
    fn the_solution_satisfies_the_normal_equations() {
        let values: Vec<f64> = (0..9).map(|k| f64::from(k * k % 5)).collect();
        let weights: Vec<f64> = (0..9).map(|k| 1.0 + f64::from(k % 3)).collect();
        let bends: Vec<f64> = (0..9).map(|k| 0.5 + f64::from(k % 2)).collect();
        let lambda = 2.5;
        let x = whittaker(&values, &weights, &bends, lambda);
        let objective = |x: &[f64]| {
            let fit: f64 = (0..9)
                .map(|k| weights[k] * (x[k] - values[k]).powi(2))
                .sum();
            let rough: f64 = (1..8)
                .map(|k| bends[k] * (x[k - 1] - 2.0 * x[k] + x[k + 1]).powi(2))
                .sum();
            fit + lambda * rough
        };
        for k in 0..9 {
            let step = 1e-4;
            let mut moved = [x.clone(), x.clone()];
            moved[0][k] -= step;
            moved[1][k] += step;
            let gradient = (objective(&moved[1]) - objective(&moved[0])) / (2.0 * step);
            assert!(gradient.abs() < 1e-9, "{k}: {gradient}");
        }
    }

    #[test]
    fn lines_are_kept_and_a_curve_is_not_delayed() {
        let line: Vec<f64> = (0..50).map(|k| 0.1 * f64::from(k)).collect();
        let smooth = smoothed(&line, &[1.0; 50], 0.01);
        assert!(rms(&line, &smooth) < 1e-9);

        // The best shift of a smoothed hump against the hump is none.
        let hump: Vec<f64> = (0..120)
            .map(|k| (-((f64::from(k) - 60.0) / 8.0).powi(2)).exp())
            .collect();
        let mut normal = normal(3);
        let noisy: Vec<f64> = hump.iter().map(|v| v + 0.02 * normal()).collect();
        let smooth = smoothed(&noisy, &[1.0; 120], 0.02);
        let shifted = |shift: usize| rms(&hump[2..118], &smooth[shift..116 + shift]);
        for other in [0, 1, 3, 4] {
            assert!(shifted(2) < shifted(other), "{other}");
        }
    }

    #[test]
    fn noise_falls_and_a_blink_keeps_its_depth() {
        let mut normal = normal(5);
        let sigma = 0.01;
        let blink = [0.2, 0.6, 0.95, 1.0, 0.8, 0.5, 0.25, 0.1];
        let clean: Vec<f64> = (0..400)
            .map(|k| match k {
                200..=207 => blink[k - 200],
                _ => 0.05 + 0.04 * (k as f64 / 40.0).sin(),
            })
            .collect();
        let noisy: Vec<f64> = clean.iter().map(|v| v + sigma * normal()).collect();
        let smooth = smoothed(&noisy, &vec![1.0; 400], sigma);

        let rest = [0..190, 220..400];
        for range in rest {
            let before = rms(&noisy[range.clone()], &clean[range.clone()]);
            let after = rms(&smooth[range.clone()], &clean[range]);
            assert!(after < 0.55 * before, "{after} of {before}");
        }
        let peak = smooth[198..210].iter().copied().fold(0.0, f64::max);
        assert!((peak - 1.0).abs() < 0.03, "{peak}");
    }
}
