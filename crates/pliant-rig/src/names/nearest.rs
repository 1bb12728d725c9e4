//! Names for a message about one that does not exist.

use std::cmp::Reverse;

/// The five of `names` that begin most like `name`, as a question; that there is none where there
/// is none.
#[must_use]
pub fn did_you_mean<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let lower = name.to_lowercase();
    let common = |other: &str| {
        other
            .to_lowercase()
            .chars()
            .zip(lower.chars())
            .take_while(|(a, b)| a == b)
            .count()
    };
    let mut near: Vec<&str> = names.into_iter().collect();
    near.sort_by_key(|other| (Reverse(common(other)), other.len().abs_diff(name.len())));
    near.truncate(5);
    if near.is_empty() {
        "it has none".into()
    } else {
        format!("did you mean {}?", near.join(", "))
    }
}
