//! What a driven clip did not do as asked, in sentences.

use pliant_learn::{Missed, Model};
use pliant_mesh::glam::DVec3;

/// Longest sides by which a control point may be missed without a word. *Ours*: half of what an
/// animator sees at arm's length.
const TOLERANCE: f64 = 0.005;
/// A query this many times farther from the examples than the loneliest of them is from the others
/// is beyond what they show.
const OUTSIDE: f64 = 2.0;
/// Control points named one by one; more are counted.
const MOST_NAMED: usize = 5;

/// Collects, frame by frame.
#[derive(Debug)]
pub struct DriveReport<'a> {
    model: &'a Model,
    /// Where each control point was missed most: the frame, and by how much.
    worst: Vec<Option<(usize, Missed)>>,
    /// Frames outside what the examples show, and the worst of them.
    outside: usize,
    farthest: Option<(usize, f64)>,
}

impl<'a> DriveReport<'a> {
    /// Nothing yet.
    #[must_use]
    pub fn new(model: &'a Model) -> Self {
        Self {
            model,
            worst: vec![None; model.control().count()],
            outside: 0,
            farthest: None,
        }
    }

    /// Takes in a frame: where its control points should be and where all vertices are.
    pub fn note(&mut self, frame: usize, goals: &[DVec3], positions: &[DVec3]) {
        for missed in self.model.missed(positions, goals, TOLERANCE) {
            let worst = &mut self.worst[missed.point];
            if worst.is_none_or(|(_, before)| missed.by > before.by) {
                *worst = Some((frame, missed));
            }
        }
        let novelty = self.model.novelty(goals);
        if novelty > OUTSIDE {
            self.outside += 1;
            if self.farthest.is_none_or(|(_, before)| novelty > before) {
                self.farthest = Some((frame, novelty));
            }
        }
    }

    /// One sentence for each point that was not followed, and one for frames beyond the examples.
    #[must_use]
    pub fn problems(&self) -> Vec<String> {
        let mut missed: Vec<(usize, Missed)> = self.worst.iter().copied().flatten().collect();
        missed.sort_by(|a, b| b.1.by.total_cmp(&a.1.by).then(a.1.point.cmp(&b.1.point)));
        let mut problems: Vec<String> = missed
            .iter()
            .take(MOST_NAMED)
            .map(|(frame, missed)| missed_line(*frame, missed))
            .collect();
        if missed.len() > MOST_NAMED {
            problems.push(format!(
                "{} more control points cannot be followed",
                missed.len() - MOST_NAMED
            ));
        }
        problems.extend(self.farthest.map(|(frame, novelty)| {
            let frames = if self.outside == 1 { "1 frame is".into() } else { format!("{} frames are", self.outside) };
            format!("{frames} outside what the examples show, frame {frame} most: {novelty:.1} times as far from them as they are from each other")
        }));
        problems
    }
}

fn missed_line(frame: usize, missed: &Missed) -> String {
    let Missed { point, vertex, by } = missed;
    format!(
        "control point {point} (vertex {vertex}) cannot be followed: in frame {frame} it is missed by {:.1} % of the longest side",
        by * 100.0
    )
}
