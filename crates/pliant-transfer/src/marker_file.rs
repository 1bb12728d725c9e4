//! Marker files.
//!
//! **Forms.** JSON `[[source, target], …]` or, by names, `{"noseTip": [source, target], …}`; or
//! lines of two numbers with a comma, a colon or spaces between them, with or without a line before
//! them that counts them. A first line `name,source,target` says that the lines have three columns,
//! in that or another order. Numbers count vertices from 0. `#` starts a comment.

use std::fmt::Write as _;

use serde_json::Value;

use crate::named_entries::{NamedEntries, lines_without_comments};
use crate::{Markers, TransferError};

/// What sets columns apart where one of them is a name.
const SEPARATORS: [char; 3] = [',', ';', '\t'];

/// How markers are written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MarkerFormat {
    /// `[[source, target], …]`, or `{"name": [source, target], …}` where pairs have names.
    #[default]
    Json,
    /// `source,target` or `name,source,target` and a line for each pair.
    Csv,
}

impl Markers {
    /// Reads pairs from JSON or from lines of numbers, with names or without.
    ///
    /// # Errors
    /// [`TransferError::MarkerSyntax`] with the place of what cannot be read.
    pub fn parse(text: &str) -> Result<Self, TransferError> {
        let text = text.trim_start_matches('\u{feff}');
        match text.trim_start().chars().next() {
            Some('{') => parse_named(text),
            Some('[' | '"') => parse_list(text),
            _ => parse_lines(text),
        }
    }

    /// The text of a file that [`parse`](Self::parse) reads. Where some pairs of JSON have names
    /// the others get one, too.
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
        let entry = |(k, (a, b)): (usize, &(u32, u32))| match &self.names()[k] {
            _ if !named => format!("  [{a}, {b}]"),
            Some(name) => format!("  {}: [{a}, {b}]", Value::from(name.as_str())),
            None => format!("  {}: [{a}, {b}]", Value::from(self.free_name("marker"))),
        };
        let entries: Vec<String> = self.pairs().iter().enumerate().map(entry).collect();
        let (open, close) = if named { ('{', '}') } else { ('[', ']') };
        format!("{open}\n{}\n{close}\n", entries.join(",\n"))
    }

    /// A name that no pair has: a word and a number.
    pub(crate) fn free_name(&self, word: &str) -> String {
        let taken = |name: &String| self.names().iter().flatten().any(|known| known == name);
        (0..)
            .map(|number: usize| format!("{word}{number}"))
            .find(|name| !taken(name))
            .expect("there are finitely many names")
    }

    fn to_csv(&self, named: bool) -> Result<String, TransferError> {
        let mut text = String::from(if named {
            "name,source,target\n"
        } else {
            "source,target\n"
        });
        for ((a, b), name) in self.pairs().iter().zip(self.names()) {
            let name = name.as_deref().unwrap_or_default();
            if name.trim() != name || name.contains(SEPARATORS) || name.contains(['#', '\n', '\r'])
            {
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

fn syntax(place: String, what: impl Into<String>) -> TransferError {
    TransferError::MarkerSyntax {
        place,
        what: what.into(),
    }
}

fn broken(error: &serde_json::Error) -> TransferError {
    syntax(format!("line {}", error.line()), error.to_string())
}

fn parse_list(text: &str) -> Result<Markers, TransferError> {
    let entries: Vec<Value> = serde_json::from_str(text).map_err(|error| broken(&error))?;
    let pairs = entries
        .iter()
        .enumerate()
        .map(|(k, value)| pair(value, &format!("entry {k}")))
        .collect::<Result<_, _>>()?;
    Ok(Markers::new(pairs))
}

fn parse_named(text: &str) -> Result<Markers, TransferError> {
    let NamedEntries(entries) = serde_json::from_str(text).map_err(|error| broken(&error))?;
    let mut markers = Markers::default();
    for (name, value) in entries {
        let place = format!("entry '{name}'");
        if value.is_u64() {
            let what = "one vertex is the landmark of one mesh; join the landmarks of both by SOURCE.json+TARGET.json";
            return Err(syntax(place, what));
        }
        let pair = pair(&value, &place)?;
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
    if markers
        .names()
        .iter()
        .flatten()
        .any(|earlier| *earlier == name)
    {
        return Err(syntax(
            place,
            format!("the name '{name}' is taken by an earlier pair"),
        ));
    }
    markers.push(Some(name), pair);
    Ok(())
}

fn pair(value: &Value, place: &str) -> Result<(u32, u32), TransferError> {
    let numbers = value.as_array().filter(|list| list.len() == 2);
    let numbers = numbers.ok_or_else(|| syntax(place.into(), format!("{value} is not a pair")))?;
    let vertex = |number: &Value| {
        let vertex = number.as_u64().and_then(|n| u32::try_from(n).ok());
        vertex.ok_or_else(|| syntax(place.into(), format!("{number} is not a vertex number")))
    };
    Ok((vertex(&numbers[0])?, vertex(&numbers[1])?))
}

fn vertex(word: &str, line: usize) -> Result<u32, TransferError> {
    word.parse().map_err(|_| {
        syntax(
            format!("line {line}"),
            format!("'{word}' is not a vertex number"),
        )
    })
}

fn parse_lines(text: &str) -> Result<Markers, TransferError> {
    let lines = lines_without_comments(text);
    match lines.first().and_then(|(_, header)| Columns::of(header)) {
        Some(columns) => parse_table(&lines[1..], &columns),
        None => parse_pairs(&lines),
    }
}

/// Which columns hold what.
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
            return Err(syntax(
                place,
                format!("'{line}' is not a name and two vertices"),
            ));
        }
        let pair = (
            vertex(words[columns.source], number)?,
            vertex(words[columns.target], number)?,
        );
        match words[columns.name] {
            "" => markers.push(None, pair),
            name => add_named(&mut markers, name.into(), pair, place)?,
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
        let counts_the_rest = words.len() == 1 && words[0].parse() == Ok(lines.len() - 1);
        let is_header = words
            .iter()
            .all(|word| word.starts_with(|c: char| c.is_ascii_alphabetic()));
        if k == 0 && (counts_the_rest || (is_header && words.len() == 2)) {
            continue;
        }
        let [a, b] = words.as_slice() else {
            return Err(syntax(
                format!("line {number}"),
                format!("'{line}' is not a pair"),
            ));
        };
        pairs.push((vertex(a, number)?, vertex(b, number)?));
    }
    Ok(Markers::new(pairs))
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
    fn json_csv_and_counted_lines_say_the_same() {
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
    fn what_is_no_pair_is_named_by_its_place() {
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
    fn what_is_written_is_read_again() {
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
        let mut odd = Markers::default();
        odd.push(Some("a, b".into()), (1, 2));
        assert!(odd.to_text(MarkerFormat::Csv).is_err() && odd.to_text(MarkerFormat::Json).is_ok());
    }
}
