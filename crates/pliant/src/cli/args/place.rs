//! A vertex by its number, or by the name of a landmark of the face.

use std::cell::OnceCell;

use pliant::landmarks::{self, GOOD_CONFIDENCE, LEAST_CONFIDENCE};
use pliant_rig::{FaceLandmark, FoundLandmark, Rig};

use crate::cli::report::failure::Failure;

/// A vertex, as the user names it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Place {
    Vertex(usize),
    Landmark(FaceLandmark),
}

/// Parses a vertex or a landmark.
pub(crate) fn parse_place(text: &str) -> Result<Place, String> {
    let text = text.trim();
    if let Ok(vertex) = text.parse() {
        return Ok(Place::Vertex(vertex));
    }
    match FaceLandmark::from_name(text) {
        Some(landmark) => Ok(Place::Landmark(landmark)),
        None => Err(format!(
            "'{text}' is not a vertex; vertices are whole numbers from 0, or landmarks of a face such as 'chin', 'nose tip' and \
             'mouth corner left' (`pliant pick --help` lists them)"
        )),
    }
}

/// The vertices of places on one asset.
pub(crate) struct Places<'a> {
    rig: &'a Rig,
    locator: &'a str,
    found: OnceCell<Vec<FoundLandmark>>,
}

impl<'a> Places<'a> {
    pub(crate) fn on(rig: &'a Rig, locator: &'a str) -> Self {
        Self {
            rig,
            locator,
            found: OnceCell::new(),
        }
    }

    /// The number of a vertex, which is not checked, or the vertex of a landmark.
    pub(crate) fn vertex(&self, place: Place) -> Result<usize, Failure> {
        match place {
            Place::Vertex(vertex) => Ok(vertex),
            Place::Landmark(landmark) => Ok(self.landmark(landmark)?.vertex as usize),
        }
    }

    pub(crate) fn vertices(&self, places: &[Place]) -> Result<Vec<usize>, Failure> {
        places.iter().map(|&place| self.vertex(place)).collect()
    }

    /// A landmark with enough confidence.
    pub(crate) fn landmark(&self, landmark: FaceLandmark) -> Result<FoundLandmark, Failure> {
        let all = self.landmarks()?;
        let found = all.iter().find(|found| found.landmark == landmark);
        match found {
            Some(found) if found.confidence >= LEAST_CONFIDENCE => Ok(*found),
            _ => Err(Failure::new(format!(
                "{}: no landmark '{landmark}' was found on it (confidence {:.2}); give the number of a vertex, which `pliant pick` finds by \
                 --near or --pixel",
                self.locator,
                found.map_or(0.0, |found| found.confidence)
            ))),
        }
    }

    /// All landmarks, whatever their confidence.
    pub(crate) fn landmarks(&self) -> Result<&[FoundLandmark], Failure> {
        if let Some(found) = self.found.get() {
            return Ok(found);
        }
        let found =
            landmarks::of_rig(self.rig).map_err(|error| Failure::about(self.locator, &error))?;
        Ok(self.found.get_or_init(|| found))
    }

    /// Warnings about landmarks among `places` that may be off.
    pub(crate) fn warnings(&self, places: &[Place]) -> Vec<String> {
        let mut warnings = Vec::new();
        for place in places {
            let Place::Landmark(landmark) = place else {
                continue;
            };
            let found = self.found.get().into_iter().flatten();
            let Some(found) = found.into_iter().find(|found| found.landmark == *landmark) else {
                continue;
            };
            if found.confidence < GOOD_CONFIDENCE {
                warnings.push(format!(
                    "landmark '{landmark}' is uncertain (vertex {}, confidence {:.2}); look at it with `pliant pick --picture`",
                    found.vertex, found.confidence
                ));
            }
        }
        warnings
    }
}
