//! Interpolation of missing markers.
//!
//! **Equation.** A short gap between the frames `a` and `b` is filled by the cubic through the
//! marker at `a − n`, `a`, `b`, `b + n`, where `n` is the length of the gap. This is exact for
//! cubics, and independent noise of the four positions does not grow with the length of the gap. In
//! a long gap the marker follows its neighbours: `(1 − s) M_a p_a + s M_b p_b` with `s = (f − a)/(b
//! − a)`, where `M` is the best rigid motion of the nearest markers that are seen in both frames.
//!
//! **Departures.** Before the first and after the last frame with the marker, only one end is
//! known. Frames without any marker are interpolated linearly, or held at the ends of the take, so
//! that the take keeps its length and stays in time with its sound.

use pliant_mesh::glam::DVec3;

use super::time_filter;
use crate::control::Alignment;

/// Neighbours whose motion a marker follows: enough for a rigid motion, few enough to be near.
const NEIGHBORS: usize = 4;
/// The most gaps, and the most markers of a gap, in messages.
const MOST_REPORTED: usize = 6;

/// How a gap was filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FillMethod {
    /// Cubic interpolation over time.
    Cubic,
    /// The rigid motion of neighbouring markers.
    Neighbors,
    /// Linear interpolation, or a constant at the ends.
    Linear,
}

/// A filled gap.
struct FilledGap {
    /// First and last frame.
    range: [usize; 2],
    method: FillMethod,
    columns: Vec<usize>,
}

/// Fills every gap of columns that are seen at least once. Returns messages about them, with frames
/// counted from `origin`.
pub(super) fn fill(
    frames: &mut [Vec<Option<DVec3>>],
    labels: &[String],
    max_gap: usize,
    origin: usize,
) -> Vec<String> {
    let seen = frames.to_vec();
    let mut filled: Vec<FilledGap> = Vec::new();
    for column in 0..labels.len() {
        for range in gaps_of(&seen, column) {
            let method = fill_gap(&seen, frames, column, range, max_gap);
            // Equal gaps of several markers are reported together.
            let known = filled
                .iter_mut()
                .find(|gap| gap.range == range && gap.method == method);
            match known {
                Some(gap) => gap.columns.push(column),
                None => filled.push(FilledGap {
                    range,
                    method,
                    columns: vec![column],
                }),
            }
        }
    }

    // The longest gaps first.
    filled.sort_by_key(|gap| (std::cmp::Reverse(gap.range[1] - gap.range[0]), gap.range[0]));
    let mut messages: Vec<String> = filled
        .iter()
        .take(MOST_REPORTED)
        .map(|gap| gap.message(labels, seen.len(), origin))
        .collect();
    if filled.len() > MOST_REPORTED {
        messages.push(format!(
            "{} shorter gaps were filled as well",
            filled.len() - MOST_REPORTED
        ));
    }
    messages
}

/// Gaps of a column, by first and last frame; none for a column that is never seen.
fn gaps_of(seen: &[Vec<Option<DVec3>>], column: usize) -> Vec<[usize; 2]> {
    let mut gaps: Vec<[usize; 2]> = Vec::new();
    for (frame, positions) in seen.iter().enumerate() {
        if positions[column].is_some() {
            continue;
        }
        match gaps.last_mut() {
            Some([_, last]) if *last + 1 == frame => *last = frame,
            _ => gaps.push([frame, frame]),
        }
    }

    gaps.retain(|[first, last]| last - first + 1 < seen.len());
    gaps
}

fn fill_gap(
    seen: &[Vec<Option<DVec3>>],
    frames: &mut [Vec<Option<DVec3>>],
    column: usize,
    [first, last]: [usize; 2],
    max_gap: usize,
) -> FillMethod {
    let before = first.checked_sub(1);
    let after = Some(last + 1).filter(|&after| after < seen.len());
    // A short gap with both ends is interpolated over time.
    if let (Some(a), Some(b), true) = (before, after, last - first < max_gap) {
        let knots = knots(seen, column, a, b);
        for f in first..=last {
            frames[f][column] = Some(time_filter::lagrange(&knots, f as f64));
        }
        return FillMethod::Cubic;
    }

    let mut method = FillMethod::Linear;
    for f in first..=last {
        // A long gap follows the neighbours from both ends.
        let from_before = before.map(|end| follow(seen, column, end, f));
        let from_after = after.map(|end| follow(seen, column, end, f));
        if from_before
            .or(from_after)
            .is_some_and(|followed| followed.has_neighbors)
        {
            method = FillMethod::Neighbors;
        }

        frames[f][column] = match (from_before, from_after) {
            (Some(p), Some(q)) => {
                let s = (f + 1 - first) as f64 / (last + 2 - first) as f64;
                Some(p.position.lerp(q.position, s))
            }
            (one, other) => one.or(other).map(|followed| followed.position),
        };
    }
    method
}

/// Up to two known positions on either side. The outer ones are at the distance of the gap's
/// length, or as near to that as possible.
fn knots(seen: &[Vec<Option<DVec3>>], column: usize, a: usize, b: usize) -> Vec<(f64, DVec3)> {
    let length = b - a - 1;
    let known = |frame: usize| seen[frame][column].map(|position| (frame as f64, position));
    let outer_before = (a.saturating_sub(length)..a).find_map(known);
    let last = (b + length).min(seen.len() - 1);
    let outer_after = (b + 1..=last).rev().find_map(known);

    [outer_before, known(a), known(b), outer_after]
        .into_iter()
        .flatten()
        .collect()
}

/// A position that follows the motion of neighbours.
#[derive(Clone, Copy)]
struct Followed {
    position: DVec3,
    has_neighbors: bool,
}

/// The position of a marker in frame `f` if it follows its neighbours from frame `from`.
fn follow(seen: &[Vec<Option<DVec3>>], column: usize, from: usize, f: usize) -> Followed {
    let position = seen[from][column].expect("the frames beside a gap show the marker");
    let pairs: Vec<(DVec3, DVec3)> = seen[from]
        .iter()
        .zip(&seen[f])
        .filter_map(|(before, after)| Some(((*before)?, (*after)?)))
        .collect();
    Followed {
        position: followed(position, &pairs),
        has_neighbors: !pairs.is_empty(),
    }
}

/// `position` moved by the rigid motion of the nearest `pairs` of positions before and after.
fn followed(position: DVec3, pairs: &[(DVec3, DVec3)]) -> DVec3 {
    let mut near = pairs.to_vec();
    near.sort_by(|a, b| {
        a.0.distance_squared(position)
            .total_cmp(&b.0.distance_squared(position))
    });
    near.truncate(NEIGHBORS);

    let (before, after): (Vec<DVec3>, Vec<DVec3>) = near.into_iter().unzip();
    match before.len() {
        0 => position,
        // Two points do not determine a rotation.
        1 | 2 => {
            let steps = before
                .iter()
                .zip(&after)
                .map(|(before, after)| *after - *before);
            position + steps.sum::<DVec3>() / before.len() as f64
        }
        _ => Alignment::of(&before, &after).to_present(position),
    }
}

/// The points of a frame; points without a position follow their neighbours from rest.
pub(super) fn place_absent(positions: &[Option<DVec3>], rest: &[DVec3]) -> Vec<DVec3> {
    let pairs: Vec<(DVec3, DVec3)> = rest
        .iter()
        .zip(positions)
        .filter_map(|(rest, position)| Some((*rest, (*position)?)))
        .collect();
    let points = rest.iter().zip(positions);
    points
        .map(|(rest, position)| position.unwrap_or_else(|| followed(*rest, &pairs)))
        .collect()
}

impl FilledGap {
    fn message(&self, labels: &[String], frame_count: usize, origin: usize) -> String {
        let [first, last] = self.range;
        let frames = if first == last {
            format!("frame {}", first + origin)
        } else {
            format!("frames {} to {}", first + origin, last + origin)
        };

        // At the ends of a take there is nothing to interpolate with.
        let at_end = first == 0 || last + 1 == frame_count;
        let method = match self.method {
            FillMethod::Cubic => "filled by a cubic over time",
            FillMethod::Neighbors => "filled by the motion of neighbours",
            FillMethod::Linear if at_end => "held",
            FillMethod::Linear => "filled by linear interpolation",
        };
        format!(
            "{} seen in {frames} ({} in a row): {method}",
            self.subject(labels),
            last - first + 1
        )
    }

    fn subject(&self, labels: &[String]) -> String {
        let count = self.columns.len();
        if count == labels.len() && count > 1 {
            return "no marker is".into();
        }
        if let [column] = self.columns[..] {
            return format!("marker '{}' is not", labels[column]);
        }

        let columns = self.columns.iter().take(MOST_REPORTED);
        let names: Vec<&str> = columns.map(|&column| labels[column].as_str()).collect();
        let more = if count > MOST_REPORTED {
            format!(" and {} more", count - MOST_REPORTED)
        } else {
            String::new()
        };
        format!("markers {}{more} are not", names.join(", "))
    }
}
