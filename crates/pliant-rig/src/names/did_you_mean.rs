//! Suggestions for an unknown name.

use std::cmp::Reverse;

/// The five of `names` that share the longest beginning with `name`, as a question; a statement
/// that there is none if the list is empty.
#[must_use]
pub fn did_you_mean<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let mut similar: Vec<&str> = names.into_iter().collect();
    similar.sort_by_key(|other| {
        let common = common_prefix(name, other);
        (Reverse(common), other.len().abs_diff(name.len()))
    });
    similar.truncate(5);

    if similar.is_empty() {
        "it has none".into()
    } else {
        format!("did you mean {}?", similar.join(", "))
    }
}

/// The number of equal characters at the beginning, in any case.
fn common_prefix(a: &str, b: &str) -> usize {
    let a = a.to_lowercase();
    let b = b.to_lowercase();
    a.chars().zip(b.chars()).take_while(|(x, y)| x == y).count()
}
