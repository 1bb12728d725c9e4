//! Where markers were while they were not seen.
//!
//! **Equation.** A short gap between the frames `a` and `b` is filled by the cubic through the
//! marker at `a − n`, `a`, `b`, `b + n`, where `n` is the length of the gap: exact for cubics, and
//! independent noise of the four does not grow, however long the gap is. In a long one the marker
//! goes with its neighbours: `(1 − s) M_a p_a + s M_b p_b` with `s = (f − a)/(b − a)`, where `M` is
//! the best rigid motion of the nearest markers that are seen at both ends of it.
//!
//! **Ours.** Before the first and after the last sight only one end is known. Frames without any
//! marker are crossed in a straight line, or held at the ends of the take, which keeps its length
//! and so its sound.

use pliant_mesh::glam::DVec3;

use crate::control_points::Alignment;

/// Neighbours that carry a marker: enough for a motion, few enough to be near.
const NEIGHBORS: usize = 4;
/// Gaps of which a message tells at most.
const TOLD: usize = 6;

/// How a gap was filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Time,
    Neighbors,
    Line,
}

/// A filled gap: first and last frame, how, and whose.
type Filled = ([usize; 2], Way, Vec<usize>);

/// Fills every gap of columns that are seen at least once; what was done, frames counted from
/// `origin`.
pub(super) fn fill(
    frames: &mut [Vec<Option<DVec3>>],
    labels: &[String],
    max_gap: usize,
    origin: usize,
) -> Vec<String> {
    let seen = frames.to_vec();
    let mut told: Vec<Filled> = Vec::new();
    for column in 0..labels.len() {
        for [first, last] in runs(&seen, column) {
            let way = fill_gap(&seen, frames, column, [first, last], max_gap);
            match told
                .iter_mut()
                .find(|(range, known, _)| *range == [first, last] && *known == way)
            {
                Some((.., columns)) => columns.push(column),
                None => told.push(([first, last], way, vec![column])),
            }
        }
    }
    told.sort_by_key(|([first, last], ..)| (std::cmp::Reverse(last - first), *first));
    let mut messages: Vec<String> = told
        .iter()
        .take(TOLD)
        .map(|filled| message(filled, labels, seen.len(), origin))
        .collect();
    if told.len() > TOLD {
        messages.push(format!(
            "{} shorter gaps were filled as well",
            told.len() - TOLD
        ));
    }
    messages
}

/// Gaps of a column, by first and last frame; none where it is never seen.
fn runs(seen: &[Vec<Option<DVec3>>], column: usize) -> Vec<[usize; 2]> {
    let mut runs: Vec<[usize; 2]> = Vec::new();
    for (frame, _) in seen
        .iter()
        .enumerate()
        .filter(|(_, places)| places[column].is_none())
    {
        match runs.last_mut() {
            Some([_, last]) if *last + 1 == frame => *last = frame,
            _ => runs.push([frame, frame]),
        }
    }
    runs.retain(|[first, last]| last - first + 1 < seen.len());
    runs
}

fn fill_gap(
    seen: &[Vec<Option<DVec3>>],
    frames: &mut [Vec<Option<DVec3>>],
    column: usize,
    [first, last]: [usize; 2],
    max_gap: usize,
) -> Way {
    let before = first.checked_sub(1);
    let after = Some(last + 1).filter(|&after| after < seen.len());
    if let (Some(a), Some(b), true) = (before, after, last - first < max_gap) {
        let knots = knots(seen, column, a, b);
        (first..=last)
            .for_each(|f| frames[f][column] = Some(super::time::through(&knots, f as f64)));
        return Way::Time;
    }
    let mut way = Way::Line;
    for f in first..=last {
        let carried = |end: Option<usize>| end.map(|end| carry(seen, column, end, f));
        let (here, there) = (carried(before), carried(after));
        if here.or(there).is_some_and(|(_, by_neighbors)| by_neighbors) {
            way = Way::Neighbors;
        }
        frames[f][column] = match (here, there) {
            (Some((p, _)), Some((q, _))) => {
                Some(p.lerp(q, (f + 1 - first) as f64 / (last + 2 - first) as f64))
            }
            (one, other) => one.or(other).map(|(place, _)| place),
        };
    }
    way
}

/// Up to two sights on either side, the outer ones as far off as the gap is long, or as near to
/// that as there are any.
fn knots(seen: &[Vec<Option<DVec3>>], column: usize, a: usize, b: usize) -> Vec<(f64, DVec3)> {
    let length = b - a - 1;
    let sight = |frame: usize| seen[frame][column].map(|place| (frame as f64, place));
    let outer_before = (a.saturating_sub(length)..a).find_map(sight);
    let outer_after = (b + 1..=(b + length).min(seen.len() - 1))
        .rev()
        .find_map(sight);
    [outer_before, sight(a), sight(b), outer_after]
        .into_iter()
        .flatten()
        .collect()
}

/// Where the marker would be at `f` if it went with its neighbours from `from`; whether there were
/// any.
fn carry(seen: &[Vec<Option<DVec3>>], column: usize, from: usize, f: usize) -> (DVec3, bool) {
    let place =
        seen[from][column].expect("a gap begins and ends beside frames that show the marker");
    let both = |k: usize| Some((seen[from][k]?, seen[f][k]?));
    let pairs: Vec<(DVec3, DVec3)> = (0..seen[f].len()).filter_map(both).collect();
    (carried(place, &pairs), !pairs.is_empty())
}

/// Where `place` goes with the nearest of `pairs` of places before and after.
fn carried(place: DVec3, pairs: &[(DVec3, DVec3)]) -> DVec3 {
    let mut near = pairs.to_vec();
    near.sort_by(|a, b| {
        a.0.distance_squared(place)
            .total_cmp(&b.0.distance_squared(place))
    });
    near.truncate(NEIGHBORS);
    let (old, new): (Vec<DVec3>, Vec<DVec3>) = near.into_iter().unzip();
    match old.len() {
        0 => place,
        // Too few to tell a turn.
        1 | 2 => {
            place
                + old
                    .iter()
                    .zip(&new)
                    .map(|(old, new)| *new - *old)
                    .sum::<DVec3>()
                    / old.len() as f64
        }
        _ => Alignment::of(&old, &new).to_present(place),
    }
}

/// The points of a frame; those without a place go with their neighbours from rest.
pub(super) fn place_absent(places: &[Option<DVec3>], rest: &[DVec3]) -> Vec<DVec3> {
    let pairs: Vec<(DVec3, DVec3)> = rest
        .iter()
        .zip(places)
        .filter_map(|(rest, place)| Some((*rest, (*place)?)))
        .collect();
    rest.iter()
        .zip(places)
        .map(|(rest, place)| place.unwrap_or_else(|| carried(*rest, &pairs)))
        .collect()
}

fn message(
    ([first, last], way, columns): &Filled,
    labels: &[String],
    count: usize,
    origin: usize,
) -> String {
    let names: Vec<&str> = columns
        .iter()
        .take(TOLD)
        .map(|&column| labels[column].as_str())
        .collect();
    let more = if columns.len() > TOLD {
        format!(" and {} more", columns.len() - TOLD)
    } else {
        String::new()
    };
    let who = match columns.len() {
        all if all == labels.len() && all > 1 => "no marker is".into(),
        1 => format!("marker '{}' is not", names[0]),
        _ => format!("markers {}{more} are not", names.join(", ")),
    };
    let frames = if first == last {
        format!("frame {}", first + origin)
    } else {
        format!("frames {} to {}", first + origin, last + origin)
    };
    let at_end = *first == 0 || *last + 1 == count;
    let how = match way {
        Way::Time => "filled along time",
        Way::Neighbors => "filled by the motion of their neighbours",
        Way::Line if at_end => "held",
        Way::Line => "crossed in a straight line",
    };
    format!(
        "{who} seen in {frames} ({} in a row): {how}",
        last - first + 1
    )
}
