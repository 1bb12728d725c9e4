//! Pseudo-random numbers that are the same on every machine.
//!
//! **Equation.** `sₙ₊₁ = a sₙ + c mod 2⁶⁴`; the upper 53 bits of `s` are a fraction.
//!
//! **Source.** Knuth, "The Art of Computer Programming", volume 2, section 3.3.4, for MMIX's `a`
//! and `c`.

/// A linear congruential generator.
#[derive(Debug, Clone)]
pub(super) struct Lcg(u64);

impl Lcg {
    pub(super) fn new(seed: u64) -> Self {
        let mut lcg = Self(seed);
        lcg.unit(); // The first number of a small seed is small.
        lcg
    }

    /// A number from 0 up to, but not including, 1.
    pub(super) fn unit(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number between `low` and `high`.
    pub(super) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// A whole number below `count`.
    ///
    /// # Panics
    /// If `count` is 0.
    pub(super) fn below(&mut self, count: usize) -> usize {
        assert!(count > 0, "there is no whole number below 0");
        ((self.unit() * count as f64) as usize).min(count - 1)
    }

    /// A random choice of `count` items, each at most once; all items if there are fewer.
    pub(super) fn choose<T: Copy>(&mut self, items: &[T], count: usize) -> Vec<T> {
        let mut left = items.to_vec();
        let mut chosen = Vec::new();
        while chosen.len() < count && !left.is_empty() {
            chosen.push(left.swap_remove(self.below(left.len())));
        }
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_uniform_and_repeat_with_their_seed() {
        let numbers = |seed| {
            let mut lcg = Lcg::new(seed);
            (0..4000)
                .map(|_| lcg.between(2.0, 3.0))
                .collect::<Vec<f64>>()
        };

        let first = numbers(1);
        assert_eq!(first, numbers(1));
        assert_ne!(first, numbers(2));

        let mean = first.iter().sum::<f64>() / 4000.0;
        // Five standard errors of the mean of 4000 uniform numbers.
        assert!(
            (mean - 2.5).abs() < 5.0 * (1.0_f64 / 12.0 / 4000.0).sqrt(),
            "{mean}"
        );

        assert!(first.iter().all(|x| (2.0..3.0).contains(x)));
    }

    #[test]
    fn no_item_is_chosen_twice() {
        let mut chosen = Lcg::new(7).choose(&[1, 2, 3, 4], 9);
        chosen.sort_unstable();
        assert_eq!(chosen, [1, 2, 3, 4]);
        assert_eq!(Lcg::new(7).choose(&[1, 2, 3, 4], 2).len(), 2);
    }
}
