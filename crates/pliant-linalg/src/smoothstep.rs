//! The cubic that rises smoothly from 0 to 1.

/// `u² (3 − 2u)`: 0 at 0 and 1 at 1, with zero slope at both. `u` is expected in `[0, 1]`.
#[must_use]
#[inline]
pub fn smoothstep(u: f64) -> f64 {
    u * u * (3.0 - 2.0 * u)
}

#[cfg(test)]
mod tests {
    use super::smoothstep;

    #[test]
    fn smoothstep_is_zero_and_one_at_its_ends_with_zero_slope() {
        let step = 1e-6;
        assert_eq!(smoothstep(0.0), 0.0);
        assert_eq!(smoothstep(0.5), 0.5);
        assert_eq!(smoothstep(1.0), 1.0);
        assert!(smoothstep(step) / step < 1e-5);
        assert!((1.0 - smoothstep(1.0 - step)) / step < 1e-5);
    }
}
