//! Functions whose last bit does not depend on the platform.
//!
//! **Problem.** `sin`, `cos`, `tan` and `powf` come from the platform's mathematical library and may differ in
//! their last bits; a pixel may then differ in its byte.
//!
//! **Equation.** Sums, products, quotients and square roots are fixed by IEEE 754. Sine and cosine are Taylor sums
//! after reduction to `|r| ≤ π/4`; the fifth root, which the sRGB curve `x^(12/5) = x² (x²)^(1/5)` needs, is Newton's:
//!
//! ```text
//! y ← (4 y + x / y⁴) / 5
//! ```
//!
//! **Ours.** Nothing in the path from a scene to its pixels calls the platform's mathematical library.

use std::f64::consts::FRAC_PI_2;

/// What `FRAC_PI_2` lacks of π/2.
const FRAC_PI_2_REST: f64 = 6.123_233_995_736_766e-17;

/// Sine and cosine of an angle; exact to a few units in the last place for angles of a few turns.
pub(crate) fn sin_cos(angle_rad: f64) -> (f64, f64) {
    let quarter = (angle_rad / FRAC_PI_2).round();
    let r = (angle_rad - quarter * FRAC_PI_2) - quarter * FRAC_PI_2_REST;
    let (s, c) = (taylor(r, r, 2.0), taylor(1.0, r, 1.0));
    match quarter.rem_euclid(4.0) as u8 {
        0 => (s, c),
        1 => (c, -s),
        2 => (-s, -c),
        _ => (-c, s),
    }
}

/// The tangent of an angle below a right one.
pub(crate) fn tan(angle_rad: f64) -> f64 {
    let (s, c) = sin_cos(angle_rad);
    s / c
}

/// `first − first r²/(k (k+1)) + …`: the sine for `first = r, k = 2`, the cosine for `first = 1, k = 1`.
fn taylor(first: f64, r: f64, k: f64) -> f64 {
    let (mut term, mut sum, mut k) = (first, first, k);
    // Ten terms: (π/4)²⁰ / 20! is far below the last bit.
    for _ in 0..10 {
        term *= -r * r / (k * (k + 1.0));
        sum += term;
        k += 2.0;
    }
    sum
}

/// The fifth root of a number in `[0, 1]`.
pub(crate) fn fifth_root(x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    // From above, Newton's steps fall monotonically; 1 is above every root here.
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
    fn sine_and_cosine_agree_with_the_platform_to_the_last_places() {
        for k in -400..400 {
            let angle = f64::from(k) * 0.0317;
            let (s, c) = sin_cos(angle);
            assert!((s - angle.sin()).abs() < 4.0 * f64::EPSILON && (c - angle.cos()).abs() < 4.0 * f64::EPSILON, "{angle}");
        }
    }

    #[test]
    fn the_fifth_power_undoes_the_fifth_root() {
        for k in 0..=1000 {
            let x = f64::from(k) / 1000.0;
            assert!((fifth_root(x).powi(5) - x).abs() <= 8.0 * f64::EPSILON * x.max(1e-3), "{x}");
        }
    }
}
