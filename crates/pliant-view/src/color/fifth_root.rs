//! The fifth root, with the same bits on every platform.
//!
//! **Problem.** `powf` comes from the mathematical library of the platform and may differ in its last
//! bits, so that a pixel may differ in its byte.
//!
//! **Equation.** The sRGB curve needs `x^(12/5) = x² (x²)^(1/5)`; Newton's steps for the root are
//!
//! ```text
//! y ← (4 y + x / y⁴) / 5
//! ```
//!
//! **Departures.** Nothing in the path from a scene to its pixels calls the platform's mathematical
//! library; sine and cosine are those of [`pliant_linalg::portable`].

/// The fifth root of a number in `[0, 1]`.
pub(crate) fn fifth_root(x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }

    // From above, Newton's iteration decreases monotonically; 1 is above every root here.
    let mut y = 1.0_f64;
    for _ in 0..100 {
        let next = (4.0 * y + x / (y * y * y * y)) / 5.0;
        if next >= y {
            break;
        }
        y = next;
    }

    y
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fifth_power_undoes_the_fifth_root() {
        for k in 0..=1000 {
            let x = f64::from(k) / 1000.0;
            assert!(
                (fifth_root(x).powi(5) - x).abs() <= 8.0 * f64::EPSILON * x.max(1e-3),
                "{x}"
            );
        }
    }
}
