//! Motion-capture markers over time, with gaps.

use std::collections::BTreeMap;

use pliant_mesh::glam::DVec3;

use crate::{RigError, did_you_mean};

/// Positions of named markers over time; a marker may be missing in a frame.
#[derive(Debug, Clone, PartialEq)]
pub struct MarkerTrack {
    names: Vec<String>,
    fps: Option<f64>,
    frames: Vec<Vec<Option<DVec3>>>,
}

/// Consecutive frames in which a marker is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MarkerGap {
    /// The marker, counted from 0.
    pub marker: usize,
    /// The first frame without it, counted from 0.
    pub first: usize,
    /// The number of frames without it.
    pub length: usize,
}

impl MarkerTrack {
    /// A track with one position, or none, per name and frame. A duplicate name gets a number, as
    /// in `hand#2`; an empty one becomes the marker's index. A rate that is not finite and positive
    /// counts as unknown.
    ///
    /// # Errors
    /// [`RigError::MarkerCount`] if a frame has another length than `names`,
    /// [`RigError::MarkerNotFinite`] if a position is not finite.
    pub fn new(
        names: Vec<String>,
        fps: Option<f64>,
        frames: Vec<Vec<Option<DVec3>>>,
    ) -> Result<Self, RigError> {
        for (frame, positions) in frames.iter().enumerate() {
            if positions.len() != names.len() {
                return Err(RigError::MarkerCount {
                    frame,
                    found: positions.len(),
                    expected: names.len(),
                });
            }
            if let Some(marker) = positions
                .iter()
                .position(|position| position.is_some_and(|p| !p.is_finite()))
            {
                return Err(RigError::MarkerNotFinite { frame, marker });
            }
        }

        let fps = fps.filter(|fps| fps.is_finite() && *fps > 0.0);
        Ok(Self {
            names: distinct_names(names),
            fps,
            frames,
        })
    }

    /// The names of the markers, all distinct.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Frames per second, if known.
    #[must_use]
    pub fn fps(&self) -> Option<f64> {
        self.fps
    }

    /// The position of each marker in each frame, if it is seen.
    #[must_use]
    pub fn frames(&self) -> &[Vec<Option<DVec3>>] {
        &self.frames
    }

    /// The number of markers.
    #[must_use]
    pub fn marker_count(&self) -> usize {
        self.names.len()
    }

    /// The marker called `name`, or else the marker of that number, counted from 0.
    ///
    /// # Errors
    /// [`RigError::NoSuchMarker`] with similar names.
    pub fn marker(&self, name: &str) -> Result<usize, RigError> {
        if let Some(marker) = self.names.iter().position(|other| other == name) {
            return Ok(marker);
        }
        match name.parse() {
            Ok(marker) if marker < self.names.len() => Ok(marker),
            _ => Err(RigError::NoSuchMarker {
                marker: format!("'{name}'"),
                known: did_you_mean(name, self.names.iter().map(String::as_str)),
            }),
        }
    }

    /// Every run of frames without a marker, marker by marker.
    #[must_use]
    pub fn gaps(&self) -> Vec<MarkerGap> {
        let mut gaps = Vec::new();
        for marker in 0..self.names.len() {
            let mut first = None;
            for (frame, positions) in self.frames.iter().enumerate() {
                match (positions[marker].is_none(), first) {
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

            // A gap may last to the end of the track.
            gaps.extend(first.map(|first| MarkerGap {
                marker,
                first,
                length: self.frames.len() - first,
            }));
        }

        gaps
    }

    /// The number of frames without any marker.
    #[must_use]
    pub fn frames_without_markers(&self) -> usize {
        self.frames
            .iter()
            .filter(|positions| positions.iter().all(Option::is_none))
            .count()
    }
}

fn distinct_names(names: Vec<String>) -> Vec<String> {
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
        assert_eq!(take().frames_without_markers(), 1);
    }

    #[test]
    fn markers_are_found_by_name_then_by_number_and_errors_suggest_names() {
        assert_eq!(
            (take().marker("elbow").unwrap(), take().marker("1").unwrap()),
            (1, 1)
        );

        let message = take().marker("elbo").unwrap_err().to_string();
        assert!(
            message.contains("'elbo'") && message.contains("did you mean elbow"),
            "{message}"
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
    fn frames_that_do_not_fit_are_errors() {
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
