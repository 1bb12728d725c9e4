//! Captured markers over time: named points that are not seen in every frame.

use std::collections::BTreeMap;

use pliant_mesh::glam::DVec3;

use crate::{RigError, did_you_mean};

/// A take of markers.
#[derive(Debug, Clone, PartialEq)]
pub struct MarkerTrack {
    names: Vec<String>,
    fps: Option<f64>,
    frames: Vec<Vec<Option<DVec3>>>,
}

/// Frames in a row in which a marker is not seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MarkerGap {
    /// The marker, counted from 0.
    pub marker: usize,
    /// The first frame without it, counted from 0.
    pub first: usize,
    /// How many frames follow without it, the first included.
    pub length: usize,
}

impl MarkerTrack {
    /// A take with one place, or none, per name and frame. A name that was there before gets a
    /// number, as in `hand#2`; one that is empty becomes the marker's index. A rate that is no
    /// number above zero counts as unknown.
    ///
    /// # Errors
    /// Frames of another length than `names`; places that are not finite.
    pub fn new(
        names: Vec<String>,
        fps: Option<f64>,
        frames: Vec<Vec<Option<DVec3>>>,
    ) -> Result<Self, RigError> {
        for (frame, places) in frames.iter().enumerate() {
            if places.len() != names.len() {
                return Err(RigError::MarkerCount {
                    frame,
                    found: places.len(),
                    expected: names.len(),
                });
            }
            if let Some(marker) = places
                .iter()
                .position(|place| place.is_some_and(|p| !p.is_finite()))
            {
                return Err(RigError::MarkerNotFinite { frame, marker });
            }
        }
        let fps = fps.filter(|fps| fps.is_finite() && *fps > 0.0);
        Ok(Self {
            names: distinct(names),
            fps,
            frames,
        })
    }

    /// The markers' names; no two are alike.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Frames per second, where the take says so.
    #[must_use]
    pub fn fps(&self) -> Option<f64> {
        self.fps
    }

    /// Where each marker is in each frame, if it is seen.
    #[must_use]
    pub fn frames(&self) -> &[Vec<Option<DVec3>>] {
        &self.frames
    }

    /// Number of markers.
    #[must_use]
    pub fn marker_count(&self) -> usize {
        self.names.len()
    }

    /// The marker called `name`; where none is, the marker of that number, counted from 0.
    ///
    /// # Errors
    /// [`RigError::NoSuchMarker`] with names that are like it.
    pub fn marker(&self, name: &str) -> Result<usize, RigError> {
        let called = self.names.iter().position(|other| other == name);
        let numbered = || {
            name.parse()
                .ok()
                .filter(|&marker: &usize| marker < self.names.len())
        };
        called
            .or_else(numbered)
            .ok_or_else(|| RigError::NoSuchMarker {
                marker: format!("'{name}'"),
                known: did_you_mean(name, self.names.iter().map(String::as_str)),
            })
    }

    /// Every run of frames without a marker, marker by marker.
    #[must_use]
    pub fn gaps(&self) -> Vec<MarkerGap> {
        let mut gaps = Vec::new();
        for marker in 0..self.names.len() {
            let mut first = None;
            for (frame, places) in self.frames.iter().enumerate() {
                match (places[marker].is_none(), first) {
                    (true, None) => first = Some(frame),
                    (false, Some(began)) => {
                        gaps.push(MarkerGap {
                            marker,
                            first: began,
                            length: frame - began,
                        });
                        first = None;
                    }
                    _ => {}
                }
            }
            gaps.extend(first.map(|first| MarkerGap {
                marker,
                first,
                length: self.frames.len() - first,
            }));
        }
        gaps
    }

    /// How many frames show no marker at all.
    #[must_use]
    pub fn blind_frames(&self) -> usize {
        self.frames
            .iter()
            .filter(|places| places.iter().all(Option::is_none))
            .count()
    }
}

fn distinct(names: Vec<String>) -> Vec<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut distinct: Vec<String> = Vec::with_capacity(names.len());
    for (k, name) in names.into_iter().enumerate() {
        let mut name = if name.is_empty() { k.to_string() } else { name };
        while let Some(count) = seen.get_mut(&name) {
            *count += 1;
            name = format!("{name}#{count}");
        }
        seen.insert(name.clone(), 1);
        distinct.push(name);
    }
    distinct
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take() -> MarkerTrack {
        let seen = Some(DVec3::X);
        let frames = vec![
            vec![None, seen],
            vec![seen, None],
            vec![None, None],
            vec![None, seen],
        ];
        MarkerTrack::new(vec!["wrist".into(), "elbow".into()], Some(120.0), frames).unwrap()
    }

    #[test]
    fn gaps_are_found_at_both_ends_and_between() {
        let gap = |marker, first, length| MarkerGap {
            marker,
            first,
            length,
        };
        assert_eq!(take().gaps(), [gap(0, 0, 1), gap(0, 2, 2), gap(1, 1, 2)]);
        assert_eq!(take().blind_frames(), 1);
    }

    #[test]
    fn markers_are_found_by_name_then_by_number_and_likely_names_are_told() {
        assert_eq!(
            (take().marker("elbow").unwrap(), take().marker("1").unwrap()),
            (1, 1)
        );
        let told = take().marker("elbo").unwrap_err().to_string();
        assert!(
            told.contains("'elbo'") && told.contains("did you mean elbow"),
            "{told}"
        );
        assert!(take().marker("2").is_err());
    }

    #[test]
    fn names_become_distinct() {
        let names = ["a", "a", "", "a#2", "a"].map(str::to_owned).to_vec();
        let track = MarkerTrack::new(names, None, Vec::new()).unwrap();
        let mut sorted = track.names().to_vec();
        assert_eq!(sorted[..3], ["a", "a#2", "2"]);
        sorted.sort();
        sorted.dedup();
        assert_eq!(sorted.len(), 5);
    }

    #[test]
    fn frames_that_do_not_fit_are_declined() {
        assert!(MarkerTrack::new(vec!["a".into()], None, vec![vec![]]).is_err());
        assert!(MarkerTrack::new(vec!["a".into()], None, vec![vec![Some(DVec3::NAN)]]).is_err());
        assert_eq!(
            MarkerTrack::new(Vec::new(), Some(0.0), Vec::new())
                .unwrap()
                .fps(),
            None
        );
    }
}
