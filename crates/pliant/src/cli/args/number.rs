//! Numbers with a range.

/// Parses a finite number.
pub(crate) fn finite(text: &str) -> Result<f64, String> {
    text.trim()
        .parse()
        .ok()
        .filter(|value: &f64| value.is_finite())
        .ok_or_else(|| format!("'{text}' is not a finite number"))
}

/// Parses a finite number that is zero or greater.
pub(crate) fn non_negative(text: &str) -> Result<f64, String> {
    finite(text)
        .ok()
        .filter(|value| *value >= 0.0)
        .ok_or_else(|| format!("'{text}' is not a number from zero up"))
}

/// Parses a finite number greater than zero.
pub(crate) fn positive(text: &str) -> Result<f64, String> {
    finite(text)
        .ok()
        .filter(|value| *value > 0.0)
        .ok_or_else(|| format!("'{text}' is not a number above zero, as in 0.5"))
}

/// Parses a frame rate.
pub(crate) fn frame_rate(text: &str) -> Result<f64, String> {
    positive(text).map_err(|_| {
        format!("'{text}' is not a frame rate; give frames per second above 0, as in 60")
    })
}

/// Parses a coefficient of friction.
pub(crate) fn friction(text: &str) -> Result<f64, String> {
    non_negative(text).map_err(|_| {
        format!("'{text}' is not a coefficient of friction; give a number from 0, as in 0.3")
    })
}

/// Parses all numbers of a list that is separated by commas, or none.
pub(crate) fn list(text: &str) -> Option<Vec<f64>> {
    text.split(',')
        .map(|part| part.trim().parse().ok())
        .collect()
}
