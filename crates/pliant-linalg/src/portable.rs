//! Sine, cosine and exponential that give the same bits on every machine.
//!
//! **Problem.** The standard library's versions come from the platform and may differ in the last
//! bit; a built-in model, or a byte of a picture, would then differ between machines.
//!
//! **Equation.** Reduce to a small interval with a constant split in two, then sum the Taylor
//! series by Horner's rule; only sums, products and quotients, which IEEE 754 fixes to the bit.
//!
//! **Departures.** Arguments are angles and falloffs of models, so |x| stays below a few hundred
//! and two-part constants suffice.

/// Multiples of π/2 are subtracted in two parts, so that the first product is exact.
const QUARTER_HIGH: f64 = 1.570_796_326_734_125_6;
const QUARTER_LOW: f64 = 6.077_100_506_506_192e-11;
/// The same for the natural logarithm of two.
const LN2_HIGH: f64 = 0.693_147_180_369_123_8;
const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// The sine of an angle in radians.
#[must_use]
pub fn sin(angle_rad: f64) -> f64 {
    let (quarter, rest) = split_quarters(angle_rad);
    match quarter {
        0 => sin_series(rest),
        1 => cos_series(rest),
        2 => -sin_series(rest),
        _ => -cos_series(rest),
    }
}

/// The cosine of an angle in radians.
#[must_use]
pub fn cos(angle_rad: f64) -> f64 {
    let (quarter, rest) = split_quarters(angle_rad);
    match quarter {
        0 => cos_series(rest),
        1 => -sin_series(rest),
        2 => -cos_series(rest),
        _ => sin_series(rest),
    }
}

/// The exponential; zero below -700, where the true value is negligible.
#[must_use]
pub fn exp(x: f64) -> f64 {
    if x < -700.0 {
        return 0.0;
    }
    let doublings = (x * std::f64::consts::LOG2_E).round();
    let rest = (x - doublings * LN2_HIGH) - doublings * LN2_LOW;
    let series = (1..=14)
        .rev()
        .fold(1.0, |sum, k| 1.0 + sum * rest / f64::from(k));
    series * f64::from_bits(((doublings as i64 + 1023) as u64) << 52)
}

/// Sine and cosine of an angle in radians.
#[must_use]
pub fn sin_cos(angle_rad: f64) -> (f64, f64) {
    (sin(angle_rad), cos(angle_rad))
}

/// The tangent of an angle in radians.
#[must_use]
pub fn tan(angle_rad: f64) -> f64 {
    sin(angle_rad) / cos(angle_rad)
}

fn split_quarters(angle_rad: f64) -> (i64, f64) {
    let quarters = (angle_rad * std::f64::consts::FRAC_2_PI).round();
    let rest = (angle_rad - quarters * QUARTER_HIGH) - quarters * QUARTER_LOW;
    ((quarters as i64).rem_euclid(4), rest)
}

/// Accurate for |x| ≤ π/4.
fn sin_series(x: f64) -> f64 {
    let square = x * x;
    x * (1..=9).rev().fold(1.0, |sum, k| {
        1.0 - sum * square / f64::from(2 * k * (2 * k + 1))
    })
}

/// Accurate for |x| ≤ π/4.
fn cos_series(x: f64) -> f64 {
    let square = x * x;
    (1..=9).rev().fold(1.0, |sum, k| {
        1.0 - sum * square / f64::from(2 * k * (2 * k - 1))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_agree_with_the_platform_to_a_few_last_bits() {
        for k in -2000..=2000 {
            let x = f64::from(k) * 0.0137;
            assert!((sin(x) - x.sin()).abs() < 4e-15, "sin {x}");
            assert!((cos(x) - x.cos()).abs() < 4e-15, "cos {x}");
            assert!(
                (exp(x) - x.exp()).abs() <= 8.0 * f64::EPSILON * x.exp(),
                "exp {x}"
            );

            assert!(
                (tan(x) - x.tan()).abs() < 1e-13 * (1.0 + x.tan() * x.tan()),
                "tan {x}"
            );
        }
    }
}
