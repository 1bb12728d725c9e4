//! Warnings about a driven clip: control points that are missed, and frames beyond the examples.

use pliant_mesh::glam::DVec3;
use serde::{Deserialize, Serialize};

use crate::{Model, UnreachedControlPoint};

/// A control point missed by less than this part of the longest side gives no warning. *Chosen*:
/// half of what an animator sees at arm's length.
const TOLERANCE: f64 = 0.005;
/// A frame is outside the range of the examples if it is this many times farther from them than
/// the most isolated example is from the others.
const OUTSIDE: f64 = 2.0;
/// Control points that are named one by one; further ones are counted.
const MOST_NAMED: usize = 5;

/// Collects the warnings of a driven clip frame by frame.
#[derive(Debug)]
pub struct DriveReport<'a> {
    model: &'a Model,
    findings: DriveFindings,
}

/// What the frames of a driven clip show: control points that are missed, and frames outside the
/// range of the examples.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct DriveFindings {
    /// For each control point the frame in which it is missed by most, and the distance.
    pub worst: Vec<Option<(usize, UnreachedControlPoint)>>,
    /// The number of frames outside the range of the examples.
    pub outside: usize,
    /// The frame that is farthest from the examples, and its novelty.
    pub farthest: Option<(usize, f64)>,
}

impl<'a> DriveReport<'a> {
    /// A report without frames.
    #[must_use]
    pub fn new(model: &'a Model) -> Self {
        Self {
            model,
            findings: DriveFindings {
                worst: vec![None; model.control().count()],
                ..DriveFindings::default()
            },
        }
    }

    /// Adds a frame: the goals of its control points and the positions of all vertices.
    pub fn add(&mut self, frame: usize, goals: &[DVec3], positions: &[DVec3]) {
        for missed in self
            .model
            .unreached_control_points(positions, goals, TOLERANCE)
        {
            let worst = &mut self.findings.worst[missed.point];
            if worst.is_none_or(|(_, before)| missed.error > before.error) {
                *worst = Some((frame, missed));
            }
        }

        let novelty = self.model.novelty(goals);
        if novelty > OUTSIDE {
            let findings = &mut self.findings;
            findings.outside += 1;
            if findings.farthest.is_none_or(|(_, before)| novelty > before) {
                findings.farthest = Some((frame, novelty));
            }
        }
    }

    /// The warnings so far, see [`DriveFindings::warnings`].
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        self.findings.warnings()
    }

    /// What was found.
    #[must_use]
    pub fn into_findings(self) -> DriveFindings {
        self.findings
    }
}

impl DriveFindings {
    /// Adds the findings of other frames of the same clip, so that the result is that of all frames
    /// in order: of equal distances the earlier frame counts.
    pub fn join(&mut self, other: &Self) {
        for (worst, other) in self.worst.iter_mut().zip(&other.worst) {
            let Some((frame, missed)) = other else {
                continue;
            };
            let is_worse = worst.is_none_or(|(before, least)| {
                missed.error > least.error || (missed.error == least.error && *frame < before)
            });
            if is_worse {
                *worst = Some((*frame, *missed));
            }
        }

        self.outside += other.outside;
        if let Some((frame, novelty)) = other.farthest {
            let is_farther = self.farthest.is_none_or(|(before, least)| {
                novelty > least || (novelty == least && frame < before)
            });
            if is_farther {
                self.farthest = Some((frame, novelty));
            }
        }
    }

    /// One sentence for each control point that was not followed, and one for the frames outside
    /// the range of the examples.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let mut missed: Vec<(usize, UnreachedControlPoint)> =
            self.worst.iter().copied().flatten().collect();
        missed.sort_by(|a, b| {
            b.1.error
                .total_cmp(&a.1.error)
                .then(a.1.point.cmp(&b.1.point))
        });

        let mut warnings = Vec::new();
        for (frame, missed) in missed.iter().take(MOST_NAMED) {
            warnings.push(missed_line(*frame, missed));
        }
        if missed.len() > MOST_NAMED {
            warnings.push(format!(
                "{} more control points cannot be followed",
                missed.len() - MOST_NAMED
            ));
        }
        warnings.extend(self.outside_line());

        warnings
    }

    fn outside_line(&self) -> Option<String> {
        let (frame, novelty) = self.farthest?;
        let frames = match self.outside {
            1 => "1 frame is".to_owned(),
            count => format!("{count} frames are"),
        };
        Some(format!(
            "{frames} outside what the examples show, most of all frame {frame}: it is {novelty:.1} times as far from the examples as they \
             are from each other"
        ))
    }
}

fn missed_line(frame: usize, missed: &UnreachedControlPoint) -> String {
    let UnreachedControlPoint {
        point,
        vertex,
        error: by,
    } = missed;
    format!(
        "control point {point} (vertex {vertex}) cannot be followed: in frame {frame} it is missed by {:.1} % of the longest side",
        by * 100.0
    )
}
