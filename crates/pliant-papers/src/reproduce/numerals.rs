//! Numbers as tables show them, and summaries of many numbers.

/// Median and quartiles of some values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Quartiles {
    pub(super) low: f64,
    pub(super) median: f64,
    pub(super) high: f64,
}

impl Quartiles {
    pub(super) fn of(mut values: Vec<f64>) -> Self {
        values.sort_unstable_by(f64::total_cmp);
        let at = |share: f64| {
            values
                .get((share * values.len().saturating_sub(1) as f64).round() as usize)
                .copied()
                .unwrap_or(0.0)
        };

        Self {
            low: at(0.25),
            median: at(0.5),
            high: at(0.75),
        }
    }
}

pub(super) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    Quartiles::of(values.into_iter().collect()).median
}

/// The mean; zero without values.
pub(super) fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut count = 0_usize;
    let mut sum = 0.0;
    for value in values {
        count += 1;
        sum += value;
    }
    sum / count.max(1) as f64
}

pub(super) fn greatest(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().fold(f64::NEG_INFINITY, f64::max)
}

pub(super) fn least(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().fold(f64::INFINITY, f64::min)
}

/// A number with about three digits.
pub(super) fn rounded(value: f64) -> String {
    match value.abs() {
        v if v < 1.0 => format!("{value:.3}"),
        v if v < 10.0 => format!("{value:.2}"),
        v if v < 100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// A share in percent, without the sign.
pub(super) fn percent(share: f64) -> String {
    match 100.0 * share.abs() {
        v if v < 1.0 => format!("{:.2}", 100.0 * share),
        v if v < 100.0 => format!("{:.1}", 100.0 * share),
        _ => format!("{:.0}", 100.0 * share),
    }
}

/// A count with a comma between groups of three digits.
pub(super) fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A name that fits below a bar of a plot.
pub(super) fn shortened(name: &str) -> String {
    const MOST: usize = 19;
    if name.chars().count() <= MOST {
        name.to_owned()
    } else {
        name.chars().take(MOST - 1).chain(['…']).collect()
    }
}

/// A file name: lower-case letters, digits and dashes.
pub(super) fn file_stem(name: &str) -> String {
    name.to_lowercase()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect()
}

/// The cells of a table row that begins with a name.
pub(super) fn row(name: impl Into<String>, cells: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut row = vec![name.into()];
    row.extend(cells);
    row
}

/// The cell of a table without a value.
pub(super) fn gap() -> String {
    "–".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_are_taken_from_the_sorted_values() {
        let quartiles = Quartiles::of(vec![5.0, 1.0, 4.0, 2.0, 3.0]);
        assert_eq!(
            quartiles,
            Quartiles {
                low: 2.0,
                median: 3.0,
                high: 4.0
            }
        );

        assert_eq!(Quartiles::of(Vec::new()).median, 0.0);
        assert_eq!((mean([1.0, 2.0, 6.0]), mean([])), (3.0, 0.0));
    }

    #[test]
    fn counts_are_grouped_by_thousands() {
        assert_eq!(
            [0, 999, 1000, 26_719, 1_234_567].map(grouped),
            ["0", "999", "1,000", "26,719", "1,234,567"]
        );
    }

    #[test]
    fn only_long_names_are_shortened() {
        assert_eq!(shortened("mouthSmile_L"), "mouthSmile_L");
        assert_eq!(
            shortened("mouth-depression-retraction"),
            "mouth-depression-r…"
        );
        assert_eq!(file_stem("Face Cap 2"), "face-cap-2");
    }

    #[test]
    fn small_numbers_keep_their_digits() {
        assert_eq!(
            [0.1234, -2.345, 45.67, 678.9].map(rounded),
            ["0.123", "-2.35", "45.7", "679"]
        );
        assert_eq!([0.00123, 0.123, 1.5].map(percent), ["0.12", "12.3", "150"]);
    }
}
