//! Parsing that marker files and landmark files share: ordered JSON objects, lines with comments.

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;

/// The entries of a JSON object in the order of the file, repeated names included.
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

/// The lines that are not empty without their comments, with their numbers counted from 1; `#`
/// starts a comment.
pub(crate) fn lines_without_comments(text: &str) -> Vec<(usize, &str)> {
    let mut lines = Vec::new();
    for (k, line) in text.lines().enumerate() {
        let end = line.find('#').unwrap_or(line.len());
        let content = line[..end].trim();
        if !content.is_empty() {
            lines.push((k + 1, content));
        }
    }
    lines
}
