//! Paired significance tests: the sign test and the Wilcoxon signed-rank test, both exact.
//!
//! **Problem.** Two methods have errors on the same few poses. Ten pairs are too few for a normal
//! approximation.
//!
//! **Equation.** With the differences `d_i ≠ 0`, whose signs are equally likely if neither method
//! is better,
//!
//! ```text
//! sign test:  p = 2 P(B ≤ min(n₊, n₋)),  B ~ Binomial(n, ½)        signed rank:  p = 2 min(P(W ≤ w), P(W ≥ w)),  W = Σ_{d_i > 0} rank|d_i|
//! ```
//!
//! both at most one. Equal `|d_i|` share the mean of their ranks.
//!
//! **Source.** Dixon and Mood, "The statistical sign test", 1946; Wilcoxon, "Individual comparisons
//! by ranking methods", 1945; pairs without a difference are left out, as in these publications.
//!
//! **Implementation.** The distribution of `W` is enumerated, also with ties, for any number of
//! pairs: doubled ranks are integers.

/// Two methods compared on the same poses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedTest {
    /// Pairs with a difference.
    pub pairs: usize,
    /// The number of pairs in which the first method has the lower error.
    pub lower: usize,
    /// Mean difference: error of the first method minus that of the second.
    pub mean_difference: f64,
    /// Two-sided p-value of the sign test.
    pub sign_p: f64,
    /// Two-sided p-value of the signed-rank test.
    pub rank_p: f64,
}

impl PairedTest {
    /// Compares errors pair by pair.
    ///
    /// # Panics
    /// If the lists differ in length.
    #[must_use]
    pub fn of(first: &[f64], second: &[f64]) -> Self {
        assert_eq!(
            first.len(),
            second.len(),
            "one error of each method per pose"
        );

        let all: Vec<f64> = first.iter().zip(second).map(|(a, b)| a - b).collect();
        let differences: Vec<f64> = all.iter().copied().filter(|d| *d != 0.0).collect();
        let lower = differences.iter().filter(|d| **d < 0.0).count();

        Self {
            pairs: differences.len(),
            lower,
            mean_difference: all.iter().sum::<f64>() / all.len().max(1) as f64,
            sign_p: sign_test(lower, differences.len()),
            rank_p: signed_ranks(&differences),
        }
    }
}

/// `2 P(B ≤ min(k, n − k))`, at most one.
fn sign_test(k: usize, n: usize) -> f64 {
    /// Halvings at a time, far from the limits of the number range.
    const HALVINGS: usize = 500;

    // Binomial coefficients and their sum. Both are halved n times in total; some halvings happen
    // early, so that large n do not overflow.
    let halved = |times: usize| 0.5_f64.powi(times as i32);
    let mut coefficient = 1.0_f64;
    let mut sum = 0.0;
    let mut halvings = n;
    for i in 0..=k.min(n - k) {
        sum += coefficient;
        coefficient *= (n - i) as f64 / (i + 1) as f64;
        if sum > 1.0 / halved(HALVINGS) && halvings > HALVINGS {
            coefficient *= halved(HALVINGS);
            sum *= halved(HALVINGS);
            halvings -= HALVINGS;
        }
    }

    let left = halvings.min(HALVINGS);
    (2.0 * sum * halved(left) * halved(halvings - left)).min(1.0)
}

fn signed_ranks(differences: &[f64]) -> f64 {
    let ranks = doubled_ranks(differences);
    let total: usize = ranks.iter().sum();

    // Probability of each sum of positive ranks; the ranks enter one after the other.
    let mut probability = vec![0.0; total + 1];
    probability[0] = 1.0;

    for &rank in &ranks {
        probability = (0..=total)
            .map(|sum| {
                0.5 * (probability[sum]
                    + if sum >= rank {
                        probability[sum - rank]
                    } else {
                        0.0
                    })
            })
            .collect();
    }

    let positive: usize = ranks
        .iter()
        .zip(differences)
        .filter(|(_, d)| **d > 0.0)
        .map(|(rank, _)| rank)
        .sum();

    let below: f64 = probability[..=positive].iter().sum();
    let above: f64 = probability[positive..].iter().sum();
    (2.0 * below.min(above)).min(1.0)
}

/// Twice the rank of each `|d|`, counted from 1; equal ones share the mean.
fn doubled_ranks(differences: &[f64]) -> Vec<usize> {
    let rank = |d: &f64| {
        let smaller = differences
            .iter()
            .filter(|other| other.abs() < d.abs())
            .count();

        let equal = differences
            .iter()
            .filter(|other| other.abs() == d.abs())
            .count();

        2 * smaller + equal + 1
    };
    differences.iter().map(rank).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn against_zero(differences: &[f64]) -> PairedTest {
        PairedTest::of(differences, &vec![0.0; differences.len()])
    }

    #[test]
    fn five_of_five_is_a_sixteenth_and_six_of_six_a_thirty_second_by_either_test() {
        let five = against_zero(&[0.1, 0.4, 0.2, 0.9, 0.3]);
        assert_eq!(
            (five.sign_p, five.rank_p, five.lower, five.pairs),
            (0.0625, 0.0625, 0, 5)
        );
        let six = against_zero(&[-0.1, -0.4, -0.2, -0.9, -0.3, -2.0]);
        assert_eq!((six.sign_p, six.rank_p, six.lower), (0.03125, 0.03125, 6));
    }

    #[test]
    fn thousands_of_pairs_have_a_sign_test() {
        // By the normal distribution with its correction for whole numbers, which is good to four
        // digits here: 2 Φ(−(|k − n/2| − ½) / (√n / 2)) for n = 4000 and k = 1937 is 2
        // Φ(−1.97643).
        assert!(
            (sign_test(1937, 4000) / 0.048_107 - 1.0).abs() < 1e-3,
            "{}",
            sign_test(1937, 4000)
        );

        assert_eq!(sign_test(1000, 2000), 1.0);
        assert_eq!(sign_test(3, 4000), 0.0);

        // Halving in between changes nothing but rounding: P(B ≤ k) and P(B ≤ n − k − 1) fill the
        // whole.
        let below = |k: usize, n: usize| sign_test(k, n) / 2.0;
        let mut middle = 1.0;

        for i in 1..=600 {
            middle *= (2 * i - 1) as f64 / (2 * i) as f64;
        }
        assert!(
            (2.0 * below(599, 1200) + middle - 1.0).abs() < 1e-10,
            "{} {middle}",
            below(599, 1200)
        );
    }

    #[test]
    fn ten_pairs_with_the_rank_sum_eight_have_the_tabled_probability() {
        // Wilcoxon's table: for n = 10, P(W ≤ 8) = 25 / 1024.
        let differences = [1.0, 2.0, 3.0, 4.0, -5.0, 6.0, 7.0, 8.0, 9.0, 10.0]
            .map(|d: f64| if d == 3.0 { -d } else { d });
        assert!((against_zero(&differences).rank_p - 2.0 * 25.0 / 1024.0).abs() < 1e-15);
    }

    #[test]
    fn the_distribution_is_that_of_all_sign_patterns() {
        let differences = [0.5, -0.5, 1.5, 2.0, -0.1, 2.0, 2.0, -3.0];
        let ranks = doubled_ranks(&differences);
        // Each of the 256 sign patterns is equally likely.
        let sum_of = |signs: u32| {
            (0..8)
                .filter(|k| signs >> k & 1 == 1)
                .map(|k| ranks[k])
                .sum::<usize>()
        };

        let own = (0..8)
            .filter(|&k| differences[k] > 0.0)
            .map(|k| ranks[k])
            .sum::<usize>();
        let part = |keep: &dyn Fn(usize) -> bool| {
            (0..256).filter(|&signs| keep(sum_of(signs))).count() as f64 / 256.0
        };

        let expected = (2.0 * part(&|sum| sum <= own).min(part(&|sum| sum >= own))).min(1.0);
        assert!((signed_ranks(&differences) - expected).abs() < 1e-15);
    }

    #[test]
    fn swapping_the_methods_changes_signs_only() {
        let a = [0.1, 0.2, 0.3, 0.9];
        let b = [0.2, 0.1, 0.5, 1.0];
        let there = PairedTest::of(&a, &b);
        let back = PairedTest::of(&b, &a);
        assert_eq!(
            (there.sign_p, there.rank_p, there.lower),
            (back.sign_p, back.rank_p, back.pairs - back.lower)
        );
        assert_eq!(there.mean_difference, -back.mean_difference);
    }

    #[test]
    fn equal_errors_have_p_values_of_one() {
        let same = PairedTest::of(&[0.1, 0.2], &[0.1, 0.2]);
        assert_eq!((same.pairs, same.sign_p, same.rank_p), (0, 1.0, 1.0));
    }
}
