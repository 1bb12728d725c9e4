//! Places of one mesh by their names.
//!
//! **Problem.** A character's landmarks are set once; markers for each pair of characters follow
//! from the names that both have.
//!
//! **Forms.** JSON `{"noseTip": vertex, …}`, or lines of a name and a vertex with a comma, a
//! semicolon, a tab or spaces between them. Numbers count vertices from 0. `#` starts a comment.

use crate::named_entries::{NamedEntries, lines_without_comments};
use crate::{Markers, TransferError};

/// Vertices of one mesh, each with a name that occurs once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Landmarks {
    places: Vec<(String, u32)>,
}

impl Landmarks {
    /// Reads landmarks from JSON or from lines.
    ///
    /// # Errors
    /// [`TransferError::LandmarkSyntax`] with the place of what cannot be read.
    pub fn parse(text: &str) -> Result<Self, TransferError> {
        let text = text.trim_start_matches('\u{feff}');
        if text.trim_start().starts_with(['{', '[', '"']) {
            Self::parse_json(text)
        } else {
            Self::parse_lines(text)
        }
    }

    /// All names and vertices in order.
    #[must_use]
    pub fn places(&self) -> &[(String, u32)] {
        &self.places
    }

    /// The markers of the names that both meshes have, in the order of the source, and a sentence
    /// for those that only one has.
    #[must_use]
    pub fn paired(source: &Self, target: &Self) -> (Markers, Vec<String>) {
        let vertex = |landmarks: &Self, name: &str| {
            landmarks
                .places
                .iter()
                .find(|(known, _)| known == name)
                .map(|&(_, vertex)| vertex)
        };
        let mut markers = Markers::default();
        for (name, a) in &source.places {
            if let Some(b) = vertex(target, name) {
                markers.push(Some(name.clone()), (*a, b));
            }
        }
        let missing = |from: &Self, other: &Self, sides: [&str; 2]| {
            let names: Vec<String> = from
                .places
                .iter()
                .filter(|(name, _)| vertex(other, name).is_none())
                .map(|(name, _)| format!("'{name}'"))
                .collect();
            let [has, lacks] = sides;
            (!names.is_empty()).then(|| {
                format!(
                    "the {has} has landmark(s) that the {lacks} has not: {}",
                    names.join(", ")
                )
            })
        };
        let problems = [
            missing(source, target, ["source", "target"]),
            missing(target, source, ["target", "source"]),
        ];
        (markers, problems.into_iter().flatten().collect())
    }

    fn add(
        &mut self,
        name: &str,
        vertex: Option<u32>,
        place: String,
        said: &str,
    ) -> Result<(), TransferError> {
        let wrong = |what: String| Err(TransferError::LandmarkSyntax { place, what });
        let Some(vertex) = vertex else {
            return wrong(format!("{said} is not a vertex number"));
        };
        if self.places.iter().any(|(known, _)| known == name) {
            return wrong(format!("the name '{name}' occurs twice"));
        }
        self.places.push((name.into(), vertex));
        Ok(())
    }

    fn parse_json(text: &str) -> Result<Self, TransferError> {
        let NamedEntries(entries) =
            serde_json::from_str(text).map_err(|error| TransferError::LandmarkSyntax {
                place: format!("line {}", error.line()),
                what: error.to_string(),
            })?;
        let mut landmarks = Self::default();
        for (name, value) in entries {
            let vertex = value.as_u64().and_then(|vertex| u32::try_from(vertex).ok());
            landmarks.add(&name, vertex, format!("entry '{name}'"), &value.to_string())?;
        }
        Ok(landmarks)
    }

    fn parse_lines(text: &str) -> Result<Self, TransferError> {
        let mut landmarks = Self::default();
        for (k, (number, line)) in lines_without_comments(text).into_iter().enumerate() {
            let cut = line
                .rfind([',', ';', '\t'])
                .or_else(|| line.rfind(' '))
                .unwrap_or(0);
            let (name, vertex) = (
                line[..cut].trim(),
                line[cut..].trim_start_matches([',', ';', '\t', ' ']),
            );
            if k == 0
                && (name.to_lowercase(), vertex.to_lowercase()) == ("name".into(), "vertex".into())
            {
                continue;
            }
            let vertex = vertex.parse().ok().filter(|_| !name.is_empty());
            landmarks.add(name, vertex, format!("line {number}"), &format!("'{line}'"))?;
        }
        Ok(landmarks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_both_have_are_markers_and_the_others_are_told() {
        let source = Landmarks::parse("{\"tail\": 9, \"nose\": 4, \"horn\": 1}").unwrap();
        let target =
            Landmarks::parse("name,vertex\nnose,40\nhump,3 # of a camel\ntail,90\n").unwrap();
        let (markers, problems) = Landmarks::paired(&source, &target);
        assert_eq!(markers.pairs(), [(9, 90), (4, 40)]);
        assert_eq!(markers.names(), [Some("tail".into()), Some("nose".into())]);
        assert!(
            problems.len() == 2 && problems[0].contains("'horn'") && problems[1].contains("'hump'"),
            "{problems:?}"
        );
        assert!(Landmarks::paired(&source, &source).1.is_empty());
    }

    #[test]
    fn names_twice_and_vertices_that_are_none_are_declined_with_their_place() {
        for (text, place) in [
            ("{\"a\": 1, \"a\": 2}", "entry 'a'"),
            ("{\"a\": -1}", "entry 'a'"),
            ("{\"a\": [1, 2]}", "entry 'a'"),
            ("[1, 2]", "line 1"),
            ("a,1\nb;x\n", "line 2"),
            ("a 1\na 2\n", "line 2"),
            ("17\n", "line 1"),
        ] {
            let error = Landmarks::parse(text).unwrap_err();
            assert!(
                matches!(&error, TransferError::LandmarkSyntax { place: found, .. } if found == place),
                "{text}: {error:?}"
            );
        }
    }
}
