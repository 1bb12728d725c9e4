//! Landmarks: named vertices of one mesh.
//!
//! **Problem.** The landmarks of a character are set once; the markers for each pair of characters
//! follow from their common names.
//!
//! **File formats.** JSON `{"noseTip": vertex, …}`, or lines of a name and a vertex, separated by a
//! comma, a semicolon, a tab or spaces. Vertices count from 0. `#` starts a comment.

use super::file_format::json_problem;
use super::named_entries::{NamedEntries, lines_without_comments};
use crate::{Markers, TransferError};

/// Vertices of one mesh, each with a unique name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Landmarks {
    places: Vec<(String, u32)>,
}

impl Landmarks {
    /// Reads landmarks from JSON or from lines.
    ///
    /// # Errors
    /// [`TransferError::LandmarkSyntax`] with the line or entry that cannot be read.
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

    /// The markers of the names that both meshes have, in the order of the source, and a warning
    /// for the names that only one mesh has.
    #[must_use]
    pub fn paired(source: &Self, target: &Self) -> (Markers, Vec<String>) {
        let mut markers = Markers::default();
        for (name, a) in &source.places {
            if let Some(b) = target.vertex(name) {
                markers.push(Some(name.clone()), (*a, b));
            }
        }

        // Names are often spelled differently, so missing ones are reported for both sides.
        let mut warnings = Vec::new();
        warnings.extend(source.missing_warning(target, ["source", "target"]));
        warnings.extend(target.missing_warning(source, ["target", "source"]));
        (markers, warnings)
    }

    fn vertex(&self, name: &str) -> Option<u32> {
        let (_, vertex) = self.places.iter().find(|(known, _)| known == name)?;
        Some(*vertex)
    }

    /// A warning about names that `other` does not have; `sides` are the names of the two meshes.
    fn missing_warning(&self, other: &Self, [has, lacks]: [&str; 2]) -> Option<String> {
        let mut missing = Vec::new();
        for (name, _) in &self.places {
            if other.vertex(name).is_none() {
                missing.push(format!("'{name}'"));
            }
        }

        (!missing.is_empty()).then(|| {
            format!(
                "the {has} has landmark(s) that the {lacks} does not have: {}",
                missing.join(", ")
            )
        })
    }

    /// Adds a landmark; `text` is what the file has at `place`.
    fn add(
        &mut self,
        name: &str,
        vertex: Option<u32>,
        place: String,
        text: &str,
    ) -> Result<(), TransferError> {
        let Some(vertex) = vertex else {
            return Err(TransferError::LandmarkSyntax {
                place,
                what: format!("{text} is not a vertex number"),
            });
        };
        if self.vertex(name).is_some() {
            return Err(TransferError::LandmarkSyntax {
                place,
                what: format!("the name '{name}' occurs twice"),
            });
        }

        self.places.push((name.into(), vertex));
        Ok(())
    }

    fn parse_json(text: &str) -> Result<Self, TransferError> {
        let parsed = serde_json::from_str(text);
        let NamedEntries(entries) = parsed.map_err(|error| {
            let (place, what) = json_problem(&error);
            TransferError::LandmarkSyntax { place, what }
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
            // A name may contain spaces if another separator follows it.
            let separator = line
                .rfind([',', ';', '\t'])
                .or_else(|| line.rfind(' '))
                .unwrap_or(0);
            let name = line[..separator].trim();
            let vertex = line[separator..].trim_start_matches([',', ';', '\t', ' ']);

            let is_header = name.to_lowercase() == "name" && vertex.to_lowercase() == "vertex";
            if k == 0 && is_header {
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
    fn common_names_give_markers_and_the_others_give_warnings() {
        let source = Landmarks::parse("{\"tail\": 9, \"nose\": 4, \"horn\": 1}").unwrap();
        let target =
            Landmarks::parse("name,vertex\nnose,40\nhump,3 # of a camel\ntail,90\n").unwrap();
        let (markers, warnings) = Landmarks::paired(&source, &target);

        assert_eq!(markers.pairs(), [(9, 90), (4, 40)]);
        assert_eq!(markers.names(), [Some("tail".into()), Some("nose".into())]);
        assert!(
            warnings.len() == 2 && warnings[0].contains("'horn'") && warnings[1].contains("'hump'"),
            "{warnings:?}"
        );

        assert!(Landmarks::paired(&source, &source).1.is_empty());
    }

    #[test]
    fn errors_name_the_place_of_repeated_names_and_invalid_vertices() {
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
