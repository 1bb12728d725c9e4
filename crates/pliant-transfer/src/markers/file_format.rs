//! Marker file formats: JSON, CSV and plain lines.
//!
//! **File formats.** JSON `[[source, target], …]` or, with names, `{"noseTip": [source, target], …}`;
//! or lines of two numbers, separated by a comma, a colon or spaces, optionally after a line with
//! their count. A first line `name,source,target` announces three columns, in this or another order.
//! Vertices count from 0. `#` starts a comment.

use std::fmt::Write as _;

use serde_json::Value;

use crate::markers::named_entries::{NamedEntries, lines_without_comments};
use crate::{Markers, TransferError};

/// Separators of columns if one of them is a name.
const SEPARATORS: [char; 3] = [',', ';', '\t'];

/// The format of a marker file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MarkerFormat {
    /// `[[source, target], …]`, or `{"name": [source, target], …}` if pairs have names.
    #[default]
    Json,
    /// `source,target` or `name,source,target` and a line for each pair.
    Csv,
}

impl Markers {
    /// Reads pairs from JSON or from lines of numbers, with names or without.
    ///
    /// # Errors
    /// [`TransferError::MarkerSyntax`] with the line or entry that cannot be read.
    pub fn parse(text: &str) -> Result<Self, TransferError> {
        let text = text.trim_start_matches('\u{feff}');
        match text.trim_start().chars().next() {
            Some('{') => parse_named(text),
            Some('[' | '"') => parse_list(text),
            _ => parse_lines(text),
        }
    }

    /// The text of a file that [`parse`](Self::parse) reads. If some pairs of a JSON file have
    /// names, the others get one, too.
    ///
    /// # Errors
    /// [`TransferError::NameNotForCsv`].
    pub fn to_text(&self, format: MarkerFormat) -> Result<String, TransferError> {
        let named = self.names().iter().any(Option::is_some);
        match format {
            MarkerFormat::Json => Ok(self.to_json(named)),
            MarkerFormat::Csv => self.to_csv(named),
        }
    }

    fn to_json(&self, named: bool) -> String {
        let mut entries = Vec::with_capacity(self.pairs().len());
        for ((a, b), name) in self.pairs().iter().zip(self.names()) {
            // In an object every entry needs a name.
            if named {
                let name = name.clone().unwrap_or_else(|| self.free_name("marker"));
                entries.push(format!("  {}: [{a}, {b}]", Value::from(name)));
            } else {
                entries.push(format!("  [{a}, {b}]"));
            }
        }

        let entries = entries.join(",\n");
        if named {
            format!("{{\n{entries}\n}}\n")
        } else {
            format!("[\n{entries}\n]\n")
        }
    }

    /// A name that no pair has: `word` and a number.
    pub(crate) fn free_name(&self, word: &str) -> String {
        let mut number = 0;
        loop {
            let name = format!("{word}{number}");
            if !self.has_name(&name) {
                return name;
            }
            number += 1;
        }
    }

    fn has_name(&self, name: &str) -> bool {
        self.names().iter().flatten().any(|known| known == name)
    }

    fn to_csv(&self, named: bool) -> Result<String, TransferError> {
        let header = if named {
            "name,source,target\n"
        } else {
            "source,target\n"
        };
        let mut text = String::from(header);

        for ((a, b), name) in self.pairs().iter().zip(self.names()) {
            let name = name.as_deref().unwrap_or_default();
            if !is_csv_name(name) {
                return Err(TransferError::NameNotForCsv { name: name.into() });
            }
            let _ = if named {
                writeln!(text, "{name},{a},{b}")
            } else {
                writeln!(text, "{a},{b}")
            };
        }
        Ok(text)
    }
}

/// Whether a name reads back unchanged from a line of a CSV file.
fn is_csv_name(name: &str) -> bool {
    name.trim() == name && !name.contains(SEPARATORS) && !name.contains(['#', '\n', '\r'])
}

fn syntax(place: String, what: impl Into<String>) -> TransferError {
    TransferError::MarkerSyntax {
        place,
        what: what.into(),
    }
}

fn json_error(error: &serde_json::Error) -> TransferError {
    let (place, what) = json_problem(error);
    syntax(place, what)
}

/// Where a JSON text is wrong, and what is wrong there.
pub(super) fn json_problem(error: &serde_json::Error) -> (String, String) {
    // The parser's text ends with line and column.
    let text = error.to_string();
    let what = if error.is_data() {
        text.split(" at line ").next().unwrap_or(&text)
    } else {
        "the text is not JSON"
    };
    (format!("line {}", error.line()), what.to_owned())
}

fn parse_list(text: &str) -> Result<Markers, TransferError> {
    let entries: Vec<Value> = serde_json::from_str(text).map_err(|error| json_error(&error))?;
    let mut pairs = Vec::with_capacity(entries.len());
    for (k, value) in entries.iter().enumerate() {
        pairs.push(json_pair(value, &format!("entry {k}"))?);
    }
    Ok(Markers::new(pairs))
}

fn parse_named(text: &str) -> Result<Markers, TransferError> {
    let NamedEntries(entries) = serde_json::from_str(text).map_err(|error| json_error(&error))?;
    let mut markers = Markers::default();
    for (name, value) in entries {
        let place = format!("entry '{name}'");
        // A landmark file in place of a marker file is a common mistake.
        if value.is_u64() {
            let what = "a name with one vertex is a landmark of one mesh; join the landmarks of both meshes by SOURCE.json+TARGET.json";
            return Err(syntax(place, what));
        }
        let pair = json_pair(&value, &place)?;
        add_named(&mut markers, name, pair, place)?;
    }
    Ok(markers)
}

/// Adds a pair with a name that no earlier one has.
fn add_named(
    markers: &mut Markers,
    name: String,
    pair: (u32, u32),
    place: String,
) -> Result<(), TransferError> {
    if markers.has_name(&name) {
        let what = format!("an earlier pair has the name '{name}'");
        return Err(syntax(place, what));
    }
    markers.push(Some(name), pair);
    Ok(())
}

fn json_pair(value: &Value, place: &str) -> Result<(u32, u32), TransferError> {
    match value.as_array().map(Vec::as_slice) {
        Some([a, b]) => Ok((json_vertex(a, place)?, json_vertex(b, place)?)),
        _ => Err(syntax(place.into(), format!("{value} is not a pair"))),
    }
}

fn json_vertex(number: &Value, place: &str) -> Result<u32, TransferError> {
    number
        .as_u64()
        .and_then(|n| u32::try_from(n).ok())
        .ok_or_else(|| syntax(place.into(), format!("{number} is not a vertex number")))
}

fn vertex(word: &str, line: usize) -> Result<u32, TransferError> {
    word.parse().map_err(|_| {
        let what = format!("'{word}' is not a vertex number");
        syntax(format!("line {line}"), what)
    })
}

fn parse_lines(text: &str) -> Result<Markers, TransferError> {
    let lines = lines_without_comments(text);
    match lines.first().and_then(|(_, header)| Columns::of(header)) {
        Some(columns) => parse_table(&lines[1..], &columns),
        None => parse_pairs(&lines),
    }
}

/// The indices of the columns.
struct Columns {
    name: usize,
    source: usize,
    target: usize,
}

impl Columns {
    fn of(header: &str) -> Option<Self> {
        let words: Vec<String> = header
            .split(SEPARATORS)
            .map(|word| word.trim().to_lowercase())
            .collect();
        let column = |what: &str| words.iter().position(|word| word == what);
        let columns = Self {
            name: column("name")?,
            source: column("source")?,
            target: column("target")?,
        };

        (words.len() == 3).then_some(columns)
    }
}

fn parse_table(lines: &[(usize, &str)], columns: &Columns) -> Result<Markers, TransferError> {
    let mut markers = Markers::default();
    for &(number, line) in lines {
        let place = format!("line {number}");
        let words: Vec<&str> = line.split(SEPARATORS).map(str::trim).collect();
        if words.len() != 3 {
            let what = format!("'{line}' is not a name and two vertices");
            return Err(syntax(place, what));
        }

        let source = vertex(words[columns.source], number)?;
        let target = vertex(words[columns.target], number)?;
        // An empty cell means that the pair has no name.
        match words[columns.name] {
            "" => markers.push(None, (source, target)),
            name => add_named(&mut markers, name.into(), (source, target), place)?,
        }
    }
    Ok(markers)
}

fn parse_pairs(lines: &[(usize, &str)]) -> Result<Markers, TransferError> {
    let mut pairs = Vec::with_capacity(lines.len());
    for (k, &(number, line)) in lines.iter().enumerate() {
        let words: Vec<&str> = line
            .split([',', ';', ':', ' ', '\t'])
            .filter(|word| !word.is_empty())
            .collect();
        // A heading is optional; without it the first line is a pair.
        if k == 0 && is_heading(&words, lines.len() - 1) {
            continue;
        }

        let [a, b] = words.as_slice() else {
            let what = format!("'{line}' is not a pair");
            return Err(syntax(format!("line {number}"), what));
        };
        pairs.push((vertex(a, number)?, vertex(b, number)?));
    }
    Ok(Markers::new(pairs))
}

/// Whether the words of the first line are the number of the lines that follow, or two column
/// names.
fn is_heading(words: &[&str], following: usize) -> bool {
    match words {
        [count] => count.parse() == Ok(following),
        [a, b] => starts_with_letter(a) && starts_with_letter(b),
        _ => false,
    }
}

fn starts_with_letter(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn syntax_place(text: &str) -> String {
        match Markers::parse(text) {
            Err(TransferError::MarkerSyntax { place, .. }) => place,
            other => panic!("{other:?}"),
        }
    }

    fn named() -> Markers {
        let mut markers = Markers::default();
        markers.push(Some("nose tip".into()), (3, 5));
        markers.push(Some("earTip_L".into()), (12, 1));
        markers
    }

    #[test]
    fn json_csv_and_counted_lines_give_the_same_markers() {
        let expected = Markers::new(vec![(3, 5), (0, 7), (12, 1)]);
        for text in [
            "[[3, 5], [0, 7], [12, 1]]",
            "3,5\n0,7\n12,1\n",
            "source,target\r\n3,5\r\n0,7\r\n12,1",
            "3\n3, 5\n0, 7\n12, 1\n\n",
            "# pairs\n3 5\n0 7 # the nose\n12:1",
        ] {
            assert_eq!(Markers::parse(text).unwrap(), expected, "{text}");
        }

        assert_eq!(Markers::parse("[]").unwrap(), Markers::parse("").unwrap());
    }

    #[test]
    fn names_come_from_the_keys_of_json_and_from_a_column() {
        for text in [
            "{\"nose tip\": [3, 5], \"earTip_L\": [12, 1]}",
            "name,source,target\nnose tip,3,5\nearTip_L,12,1\n",
            "# of two animals\nTarget; Name; Source\n5; nose tip; 3\n1; earTip_L; 12",
        ] {
            assert_eq!(Markers::parse(text).unwrap(), named(), "{text}");
        }
    }

    #[test]
    fn errors_name_the_place_of_what_is_not_a_pair() {
        assert_eq!(syntax_place("[[1, 2],\n [3, 4"), "line 2");
        assert_eq!(syntax_place("[[1, 2], [3, 4, 5]]"), "entry 1");
        assert_eq!(syntax_place("[[1, -2]]"), "entry 0");
        assert_eq!(syntax_place("[[1, 2.5]]"), "entry 0");
        assert_eq!(syntax_place("1,2\n3,-4\n"), "line 2");
        assert_eq!(syntax_place("1,2\n3,4,5\n"), "line 2");

        assert_eq!(
            syntax_place("these are not the markers you are looking for"),
            "line 1"
        );
        assert_eq!(syntax_place("{\"a\": 1}"), "entry 'a'");
        assert_eq!(
            syntax_place("{\"a\": [1, 2],\n \"a\": [3, 4]}"),
            "entry 'a'"
        );

        assert_eq!(syntax_place("name,source,target\na,1,2\na,3,4\n"), "line 3");
        assert_eq!(syntax_place("name,source,target\na,1\n"), "line 2");
        assert_eq!(syntax_place("name,source,target\na,1,b\n"), "line 2");
    }

    #[test]
    fn written_markers_read_back_unchanged() {
        let plain = Markers::new(vec![(3, 5), (0, 7)]);
        let mut partly = named();
        partly.push(None, (8, 8));

        for format in [MarkerFormat::Json, MarkerFormat::Csv] {
            for markers in [&plain, &named()] {
                assert_eq!(
                    Markers::parse(&markers.to_text(format).unwrap()).unwrap(),
                    *markers
                );
            }
            assert_eq!(
                Markers::parse(&partly.to_text(format).unwrap())
                    .unwrap()
                    .pairs(),
                partly.pairs()
            );
        }

        let mut with_comma = Markers::default();
        with_comma.push(Some("a, b".into()), (1, 2));
        assert!(
            with_comma.to_text(MarkerFormat::Csv).is_err()
                && with_comma.to_text(MarkerFormat::Json).is_ok()
        );
    }
}
