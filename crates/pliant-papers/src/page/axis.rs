//! Axes of a plot: positions of values, ends and ticks.
//!
//! **Problem.** The ends of an axis and its ticks are round numbers that enclose the data, at any
//! scale of the data.
//!
//! **Equation.** A linear axis steps by 1, 2 or 5 times a power of ten, the finest that needs no
//! more than `MOST_STEPS` steps; its ends are whole steps. On a logarithmic axis from `a` to `b`
//! the value `v` lies at
//!
//! ```text
//! (log v − log a) / (log b − log a)
//! ```
//!
//! and the ends are 1, 2 or 5 times a power of ten; over many decades, powers of ten alone.
//!
//! **Departures.** Values that an axis cannot show (NaN, infinity, beyond 1e300, below zero on a
//! logarithmic axis) have no position and are not drawn.

/// The largest number of steps between the ends of an axis. Chosen: labels of five digits do not
/// overlap on a plot of default size.
const MOST_STEPS: usize = 7;
/// Beyond this the difference of two values may overflow.
const LARGEST: f64 = 1e300;
/// Below this the steps of a linear axis would underflow.
const NARROWEST: f64 = 1e-290;

/// An axis of a plot: its title and its scale.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    title: String,
    kind: Kind,
    covered: Vec<f64>,
}

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Linear,
    Logarithmic,
    Categories(Vec<String>),
}

impl Axis {
    /// A linear axis; the title names the quantity and its unit.
    #[must_use]
    pub fn linear(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            kind: Kind::Linear,
            covered: Vec::new(),
        }
    }

    /// A logarithmic axis, for values above zero.
    #[must_use]
    pub fn logarithmic(title: impl Into<String>) -> Self {
        Self {
            kind: Kind::Logarithmic,
            ..Self::linear(title)
        }
    }

    /// An axis of names; the k-th name, counted from 0, is at the value `k`.
    #[must_use]
    pub fn categories<S: Into<String>>(
        title: impl Into<String>,
        names: impl IntoIterator<Item = S>,
    ) -> Self {
        Self {
            kind: Kind::Categories(names.into_iter().map(Into::into).collect()),
            ..Self::linear(title)
        }
    }

    /// The axis extended to include these values.
    #[must_use]
    pub fn covering(mut self, values: impl IntoIterator<Item = f64>) -> Self {
        self.covered.extend(values);
        self
    }

    /// The title.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The names of an axis of names.
    pub(super) fn names(&self) -> Option<&[String]> {
        match &self.kind {
            Kind::Categories(names) => Some(names),
            _ => None,
        }
    }

    /// The axis with ends and ticks for `values`.
    pub(super) fn scale(&self, values: impl IntoIterator<Item = f64>) -> Scale {
        let logarithmic = self.kind == Kind::Logarithmic;
        let all = values
            .into_iter()
            .chain(self.covered.iter().copied())
            .filter(|&v| holds(v, logarithmic));
        let (low, high) = all.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
            (low.min(v), high.max(v))
        });

        let ends = (low <= high).then_some([low, high]);
        match &self.kind {
            Kind::Linear => linear(ends.unwrap_or([0.0, 1.0])),
            Kind::Logarithmic => logarithmic_scale(ends.unwrap_or([1.0, 10.0])),
            Kind::Categories(names) => side_by_side(names, ends),
        }
    }
}

/// An axis with its ends.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scale {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) ticks: Vec<Tick>,
    logarithmic: bool,
}

/// A value with its label.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tick {
    pub(super) value: f64,
    pub(super) label: String,
}

impl Scale {
    /// The position of `value`, 0 at the low end and 1 at the high end; `None` for a value that the
    /// axis cannot show.
    pub(super) fn position(&self, value: f64) -> Option<f64> {
        if !holds(value, self.logarithmic) {
            return None;
        }
        let along = |v: f64| if self.logarithmic { v.log10() } else { v };
        Some((along(value) - along(self.low)) / (along(self.high) - along(self.low)))
    }

    /// The base of bars: zero, or the end nearest to zero.
    pub(super) fn ground(&self) -> f64 {
        if self.logarithmic {
            self.low
        } else {
            0.0_f64.clamp(self.low, self.high)
        }
    }
}

fn holds(value: f64, logarithmic: bool) -> bool {
    value.abs() <= LARGEST && (!logarithmic || value >= 1.0 / LARGEST)
}

fn linear([low, high]: [f64; 2]) -> Scale {
    let [low, high] = widened(low, high);
    let step = round_step((high - low) / MOST_STEPS as f64);

    // The small offset absorbs rounding: an end that is a whole step does not get another step.
    let first = (low / step + 1e-9).floor();
    let last = (high / step - 1e-9).ceil();
    let values: Vec<f64> = (0..=(last - first) as usize)
        .map(|k| (first + k as f64) * step)
        .collect();

    let ticks = values
        .iter()
        .map(|&value| Tick {
            value,
            label: label_in_steps(value, step, low.abs().max(high.abs())),
        })
        .collect();

    Scale {
        low: first * step,
        high: last * step,
        ticks,
        logarithmic: false,
    }
}

/// Ends that differ.
fn widened(low: f64, high: f64) -> [f64; 2] {
    let reach = low.abs().max(high.abs());
    if reach < NARROWEST {
        [0.0, 1.0]
    } else if high - low > 1e-9 * reach {
        [low, high]
    } else {
        [low - 0.5 * reach, high + 0.5 * reach]
    }
}

/// The least of 1, 2 and 5 times a power of ten that is not below `least`.
fn round_step(least: f64) -> f64 {
    let power = 10.0_f64.powf(least.log10().floor());
    let step = [1.0, 2.0, 5.0]
        .into_iter()
        .find(|m| m * power >= least * (1.0 - 1e-9));
    step.unwrap_or(10.0) * power
}

fn logarithmic_scale([low, high]: [f64; 2]) -> Scale {
    let (first, last) = (decade_below(low), decade_above(high));
    // Up to three decades have room for 1, 2 and 5 in each.
    let fine = last - first <= 3;
    let every = ((last - first) as usize).div_ceil(MOST_STEPS).max(1) as i32;
    let decades = (first..=last + every).step_by(every as usize);
    let mut values: Vec<f64> = match fine {
        true => decades
            .flat_map(|d| [1.0, 2.0, 5.0].map(|m| m * power_of_ten(d)))
            .collect(),
        false => decades.map(power_of_ten).collect(),
    };

    // The last tick at or below the data, the first at or above it, and those between.
    let start = values
        .iter()
        .rposition(|&v| v <= low * (1.0 + 1e-9))
        .unwrap_or(0);

    let end = values
        .iter()
        .position(|&v| v >= high * (1.0 - 1e-9))
        .unwrap_or(values.len() - 1)
        .max(start + 1);

    values.truncate(end + 1);
    values.drain(..start);
    let ends = [values[0], values[values.len() - 1]];
    // Scientific notation only where plain digits would be long.
    let plain = ends[0] >= 1e-4 && ends[1] < 1e6;
    let ticks = values
        .iter()
        .map(|&value| Tick {
            value,
            label: if plain {
                plain_label(value)
            } else {
                scientific(value, 0)
            },
        })
        .collect();

    Scale {
        low: ends[0],
        high: ends[1],
        ticks,
        logarithmic: true,
    }
}

/// The exponent of the greatest power of ten that is not above `value`.
fn decade_below(value: f64) -> i32 {
    (value.log10() + 1e-9).floor() as i32
}

/// The exponent of the least power of ten that is not below `value`.
fn decade_above(value: f64) -> i32 {
    (value.log10() - 1e-9).ceil() as i32
}

/// Parsed rather than multiplied, so that it is the floating-point number nearest to the power.
fn power_of_ten(exponent: i32) -> f64 {
    format!("1e{exponent}").parse().expect("a power of ten")
}

fn side_by_side(names: &[String], ends: Option<[f64; 2]>) -> Scale {
    let last = names.len().max(1) as f64 - 1.0;
    let [low, high] = ends.map_or([0.0, last], |[low, high]| [low.min(0.0), high.max(last)]);
    let ticks = names
        .iter()
        .enumerate()
        .map(|(k, name)| Tick {
            value: k as f64,
            label: name.clone(),
        })
        .collect();

    Scale {
        low: low - 0.5,
        high: high + 0.5,
        ticks,
        logarithmic: false,
    }
}

/// A tick of a linear axis, with as many decimals as its step needs.
fn label_in_steps(value: f64, step: f64, reach: f64) -> String {
    let exponent = (step.log10() + 1e-9).floor();
    if !(1e-3..1e7).contains(&reach) {
        // Enough digits to distinguish the ticks.
        let digits = ((reach.log10() + 1e-9).floor() - exponent).clamp(0.0, 9.0);
        return scientific(value, digits as usize);
    }
    let decimals = (-exponent).clamp(0.0, 12.0) as usize;
    signed(&format!("{value:.decimals$}"))
}

fn plain_label(value: f64) -> String {
    let decimals = (-(value.log10() + 1e-9).floor()).clamp(0.0, 12.0) as usize;
    signed(&format!("{value:.decimals$}"))
}

/// A value with at most four digits.
pub(super) fn readable(value: f64) -> String {
    if !value.is_finite() {
        return "not a number".to_owned();
    }

    let size = value.abs();
    if size != 0.0 && !(1e-4..1e7).contains(&size) {
        return scientific(value, 3);
    }

    let whole = if size < 1.0 {
        0
    } else {
        size.log10().floor() as usize
    };

    // Decimals count from the first digit that is not zero.
    let leading_zeros = if size == 0.0 || size >= 1.0 {
        0
    } else {
        (-size.log10()).ceil() as usize
    };
    let decimals = (3 + leading_zeros).saturating_sub(whole);
    let text = format!("{value:.decimals$}");

    signed(if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        &text
    })
}

/// `m·10ⁿ` with at most `digits` decimals in `m`.
fn scientific(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$e}");
    let (mantissa, exponent) = text.split_once('e').expect("a number in scientific form");
    let mantissa = if mantissa.contains('.') {
        mantissa.trim_end_matches('0').trim_end_matches('.')
    } else {
        mantissa
    };

    match mantissa {
        "0" | "-0" => "0".to_owned(),
        "1" => format!("10{}", raised(exponent)),
        "-1" => format!("−10{}", raised(exponent)),
        _ => format!("{}·10{}", signed(mantissa), raised(exponent)),
    }
}

/// An integer in superscript digits.
fn raised(exponent: &str) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    exponent
        .chars()
        .map(|c| c.to_digit(10).map_or('⁻', |digit| DIGITS[digit as usize]))
        .collect()
}

/// A number with a minus sign (none before zero) and with commas from five digits on.
fn signed(number: &str) -> String {
    let (negative, size) = number
        .strip_prefix('-')
        .map_or((false, number), |rest| (true, rest));
    let zero = size.chars().all(|c| c == '0' || c == '.');
    let (whole, rest) = size.split_at(size.find('.').unwrap_or(size.len()));

    let mut grouped = String::new();
    for (k, digit) in whole.chars().enumerate() {
        if whole.len() > 4 && k > 0 && (whole.len() - k).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }

    format!(
        "{}{grouped}{rest}",
        if negative && !zero { "−" } else { "" }
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: &Scale) -> Vec<&str> {
        scale.ticks.iter().map(|tick| tick.label.as_str()).collect()
    }

    #[test]
    fn ticks_enclose_the_data_at_any_scale() {
        let sizes = [1e-200, 3e-7, 0.02, 1.0, 17.0, 9562.0, 4.4e9, 1e200];
        for (k, &size) in sizes.iter().enumerate() {
            for [a, b] in [
                [0.0, 1.0],
                [-1.0, 1.0],
                [0.31, 0.34],
                [-7.0, -2.0],
                [1.0, 1.0],
            ] {
                let ends = [a * size, b * size];
                let scale = Axis::linear("").scale(ends);
                let first = &scale.ticks[0];
                let last = &scale.ticks[scale.ticks.len() - 1];

                assert!(
                    first.value <= ends[0] + 1e-8 * size && last.value >= ends[1] - 1e-8 * size,
                    "{k}: {ends:?} in {scale:?}"
                );

                assert!(
                    (2..=MOST_STEPS + 3).contains(&scale.ticks.len()),
                    "{scale:?}"
                );
                assert_eq!((first.value, last.value), (scale.low, scale.high));
                assert!(
                    ends.iter()
                        .all(|&v| (-1e-7..=1.0 + 1e-7).contains(&scale.position(v).unwrap()))
                );

                let unlike: std::collections::BTreeSet<_> = labels(&scale).into_iter().collect();
                assert_eq!(
                    unlike.len(),
                    scale.ticks.len(),
                    "two ticks read alike: {scale:?}"
                );
            }
        }
    }

    #[test]
    fn steps_are_one_two_or_five_times_a_power_of_ten() {
        assert_eq!(
            labels(&Axis::linear("").scale([0.0, 1.0])),
            ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]
        );

        assert_eq!(
            labels(&Axis::linear("").scale([-3.0, 11.0])),
            ["−4", "−2", "0", "2", "4", "6", "8", "10", "12"]
        );

        assert_eq!(
            labels(&Axis::linear("").scale([0.0, 30_000.0])),
            [
                "0", "5000", "10,000", "15,000", "20,000", "25,000", "30,000"
            ]
        );

        assert_eq!(
            labels(&Axis::linear("").scale([0.0, 4e-5])),
            ["0", "10⁻⁵", "2·10⁻⁵", "3·10⁻⁵", "4·10⁻⁵"]
        );
    }

    #[test]
    fn a_logarithmic_axis_places_by_ratio() {
        let scale = Axis::logarithmic("").scale([1.0, 1e4]);
        assert_eq!([scale.low, scale.high], [1.0, 1e4]);
        for (value, place) in [
            (1.0, 0.0),
            (10.0, 0.25),
            (100.0, 0.5),
            (10.0_f64.sqrt(), 0.125),
            (1e4, 1.0),
        ] {
            assert!((scale.position(value).unwrap() - place).abs() < 1e-12);
        }

        assert_eq!(labels(&scale), ["1", "10", "100", "1000", "10,000"]);
        assert_eq!(
            labels(&Axis::logarithmic("").scale([0.015, 0.3])),
            ["0.01", "0.02", "0.05", "0.1", "0.2", "0.5"]
        );
    }

    #[test]
    fn a_logarithmic_axis_encloses_its_data() {
        for [low, high] in [
            [3.0, 4.0],
            [1.0, 1.0],
            [0.02, 0.02],
            [1e-290, 1e290],
            [7e-9, 5e3],
            [999.0, 1001.0],
            [1e-3, 1e-3],
        ] {
            let scale = Axis::logarithmic("").scale([low, high]);
            assert!(
                scale.low <= low * (1.0 + 1e-8)
                    && scale.high >= high * (1.0 - 1e-8)
                    && scale.low < scale.high,
                "{scale:?}"
            );

            assert!(
                scale.ticks.len() <= 12,
                "{} ticks from {low} to {high}",
                scale.ticks.len()
            );
        }
    }

    #[test]
    fn what_an_axis_cannot_hold_has_no_position() {
        let linear = Axis::linear("").scale([0.0, f64::NAN, 1.0]);
        let log = Axis::logarithmic("").scale([1.0, -5.0, f64::INFINITY, 10.0]);

        assert_eq!(
            [linear.low, linear.high, log.low, log.high],
            [0.0, 1.0, 1.0, 10.0]
        );

        assert!(
            [f64::NAN, f64::INFINITY, -f64::INFINITY, 1e305]
                .iter()
                .all(|&v| linear.position(v).is_none())
        );

        assert!(
            [0.0, -1.0, f64::NAN]
                .iter()
                .all(|&v| log.position(v).is_none())
        );
    }

    #[test]
    fn names_stand_in_the_middle_of_equal_parts() {
        let scale = Axis::categories("", ["a", "b", "c", "d"]).scale([]);
        let places: Vec<f64> = scale
            .ticks
            .iter()
            .map(|tick| scale.position(tick.value).unwrap())
            .collect();
        assert_eq!(places, [0.125, 0.375, 0.625, 0.875]);
        assert_eq!(Axis::categories("", [""; 0]).scale([]).ticks, []);
    }

    #[test]
    fn values_are_shown_with_four_digits() {
        let shown = [
            0.0,
            -0.0,
            1.0,
            -2.5,
            0.015,
            9562.0,
            26_719.0,
            1.0 / 3.0,
            1e-9,
            -1.5e12,
            f64::NAN,
        ]
        .map(readable);
        assert_eq!(
            shown,
            [
                "0",
                "0",
                "1",
                "−2.5",
                "0.015",
                "9562",
                "26,719",
                "0.3333",
                "10⁻⁹",
                "−1.5·10¹²",
                "not a number"
            ]
        );
    }
}
