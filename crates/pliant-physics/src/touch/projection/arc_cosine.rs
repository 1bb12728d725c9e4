//! Arc cosine of eight numbers at a time.
//!
//! **Problem.** A library's arc cosine takes one number at a time and is rounded differently from
//! system to system. And near 0 and π, where hinges of a smooth surface are, the cosine alone has
//! only half of the digits of the angle.
//!
//! **Equation.** With the cosine `D` and the sine `s = √(1 − D²)`, which is known wherever the
//! gradient of the angle is, the smaller of `|D|` and `s` is at most `√½`, and
//!
//! ```text
//! cos⁻¹ D = sin⁻¹ s  or  π − sin⁻¹ s  where s ≤ |D|,        π/2 − sin⁻¹ D  elsewhere
//! sin⁻¹ z = z + z t p(t),  t = z² ≤ ½
//! ```
//!
//! **Departures.** `p` is the polynomial of degree 19 that interpolates the Taylor series of
//! `(sin⁻¹ z − z) / z³` at the Chebyshev points of `[0, ½]`, computed with eighty digits: its error
//! is less than 2·10⁻¹⁸ of the angle. Only products, sums and selections: the same bits on every
//! machine.

use std::f64::consts::{FRAC_PI_2, PI};

use crate::touch::projection::lanes::Lanes;

/// `p`, four powers of `t` in a row, lowest first.
const SERIES: [[f64; 4]; 5] = [
    [
        0.166_666_666_666_666_66,
        0.075_000_000_000_002_8,
        0.044_642_857_142_113_93,
        0.030_381_944_522_502_47,
    ],
    [
        0.022_372_154_765_520_06,
        0.017_352_910_485_470_593,
        0.013_961_569_507_071_28,
        0.011_603_298_700_993_395,
    ],
    [
        0.009_171_609_990_067_688,
        0.013_442_391_811_587_498,
        -0.025_581_324_215_004_28,
        0.171_011_462_200_202_44,
    ],
    [
        -0.629_713_841_914_128_8,
        1.896_318_748_571_737_4,
        -4.297_586_832_199_174,
        7.358_619_925_497_619,
    ],
    [
        -9.158_597_380_805_83,
        7.882_945_092_301_659,
        -4.201_910_132_386_751,
        1.065_665_884_053_500_5,
    ],
];

/// The angle from 0 to π with these cosine and sine.
#[inline(always)]
pub(crate) fn arc_cosine(cosine: Lanes, sine: Lanes) -> Lanes {
    // The arc sine of the smaller of both is accurate.
    let size = cosine.max(-cosine);
    let nearest = arc_sine(size.min(sine));

    // Signs and offsets rather than cases: each is one choice between two constants.
    let axis = sine.zip(
        size,
        |sine, size| if sine <= size { 0.0 } else { FRAC_PI_2 },
    );
    let sign = sine.zip(size, |sine, size| if sine <= size { 1.0 } else { -1.0 });
    let acute = axis + sign * nearest;

    cosine.map(|cosine| if cosine < 0.0 { PI } else { 0.0 })
        + cosine.map(|cosine| if cosine < 0.0 { -1.0 } else { 1.0 }) * acute
}

/// The arc sine of numbers from 0 to √½.
#[inline(always)]
fn arc_sine(z: Lanes) -> Lanes {
    let t = z * z;
    let square = t * t;
    let fourth = square * square;

    // Four chains of a quarter of the length: a chain waits for each of its sums.
    let [mut p0, mut p1, mut p2, mut p3] = SERIES[4].map(Lanes::splat);
    for row in SERIES[..4].iter().rev() {
        p0 = p0 * fourth + Lanes::splat(row[0]);
        p1 = p1 * fourth + Lanes::splat(row[1]);
        p2 = p2 * fourth + Lanes::splat(row[2]);
        p3 = p3 * fourth + Lanes::splat(row[3]);
    }

    z + z * t * (p0 + p1 * t + (p2 + p3 * t) * square)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn angle_of(cosine: f64, sine: f64) -> f64 {
        arc_cosine(Lanes::splat(cosine), Lanes::splat(sine)).0[3]
    }

    /// The cosine and the sine are each off by half a unit in the last place of numbers up to one,
    /// and the sums are.
    const ROUNDING: f64 = 3.0 * f64::EPSILON;

    #[test]
    fn the_result_is_the_arc_cosine_to_the_last_digits() {
        for k in 0..=1_000_000 {
            let cosine = f64::from(k) * 2e-6 - 1.0;
            let sine = ((1.0 - cosine) * (1.0 + cosine)).sqrt();
            let found = angle_of(cosine, sine);
            assert!(
                (found - cosine.acos()).abs() < ROUNDING,
                "{cosine}: {found} instead of {}",
                cosine.acos()
            );
        }
    }

    #[test]
    fn angles_below_the_resolution_of_their_cosine_are_accurate() {
        for exponent in 0..300 {
            let angle = 0.7 * 10_f64.powi(-exponent);
            assert!(
                (angle_of(angle.cos(), angle.sin()) - angle).abs() <= ROUNDING * angle,
                "{angle}"
            );

            assert!(
                (angle_of(-angle.cos(), angle.sin()) - (PI - angle)).abs() <= 2.0 * ROUNDING,
                "{angle}"
            );
        }
    }

    #[test]
    fn multiples_of_a_right_angle_are_exact() {
        assert_eq!(
            (angle_of(1.0, 0.0), angle_of(0.0, 1.0), angle_of(-1.0, 0.0)),
            (0.0, FRAC_PI_2, PI)
        );
    }

    #[test]
    fn every_lane_has_its_own_angle() {
        let angles = Lanes([0.0, 0.1, 0.8, 1.5, 1.6, 2.4, 3.0, PI]);
        let found = arc_cosine(angles.map(f64::cos), angles.map(f64::sin));
        for k in 0..8 {
            assert!((found.0[k] - angles.0[k]).abs() < ROUNDING, "{k}");
        }
    }
}
