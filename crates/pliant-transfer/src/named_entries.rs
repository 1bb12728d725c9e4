//! What the files of markers and landmarks have in common: an order, names that occur once,
//! comments.

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;

/// The entries of a JSON object in the order of the file, doubled names included.
pub(crate) struct NamedEntries(pub(crate) Vec<(String, Value)>);

impl<'de> Deserialize<'de> for NamedEntries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = NamedEntries;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object of names")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<NamedEntries, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(NamedEntries(entries))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

/// The lines that say something, with their numbers counted from 1; `#` starts a comment.
pub(crate) fn lines_without_comments(text: &str) -> Vec<(usize, &str)> {
    let content = |line: &'_ str| -> usize { line.find('#').unwrap_or(line.len()) };
    let lines = text.lines().map(|line| line[..content(line)].trim());
    (1..)
        .zip(lines)
        .filter(|(_, line)| !line.is_empty())
        .collect()
}
