//! Numbers that look random and are the same on every machine.
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
        let mut made = Self(seed);
        made.unit(); // The first number of a small seed is small.
        made
    }

    /// From 0 up to, but not including, 1.
    pub(super) fn unit(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(super) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// A whole number below `count`.
    ///
    /// # Panics
    /// If there is none.
    pub(super) fn below(&mut self, count: usize) -> usize {
        assert!(count > 0, "no whole number is below 0");
        ((self.unit() * count as f64) as usize).min(count - 1)
    }

    /// `count` of the items, all if there are fewer, each once.
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
    fn numbers_fill_their_range_evenly_and_repeat_with_their_seed() {
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
    fn what_is_chosen_is_chosen_once() {
        let mut chosen = Lcg::new(7).choose(&[1, 2, 3, 4], 9);
        chosen.sort_unstable();
        assert_eq!(chosen, [1, 2, 3, 4]);
        assert_eq!(Lcg::new(7).choose(&[1, 2, 3, 4], 2).len(), 2);
    }
}
