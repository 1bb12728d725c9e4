//! Rigid alignment of a take with the model.
//!
//! **Equation.** In each frame, or once, the rigid motion with the least `Σ |R s q_k + t − c_k|²`
//! over the anchors `q`, where `s = 1`, or `s² = Σ |c_k − c̄|² / Σ |q_k − q̄|²` over all aligned
//! frames.
//!
//! **Departures.** If a frame shows the rest pose, all markers of that frame are aligned with the
//! rest pose first, and anchors are then compared with themselves in that frame. The distance of a
//! marker from its point thus does not matter.

use pliant_mesh::glam::DVec3;

use super::preparation::{Columns, DrivenPoints, markers_error};
use crate::LearnError;
use crate::control::Alignment;

/// The fewest anchors that determine a rotation.
const LEAST: usize = 3;

/// How a take is aligned with the model.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum MarkerAlignment {
    /// The take is already aligned.
    #[default]
    None,
    /// By anchors; without a list, by the markers of all points.
    Rigid {
        /// Markers on a part that stays rigid.
        anchors: Vec<Anchor>,
        /// Aligns all frames by the motion of this one, which keeps the root motion; `None` aligns
        /// every frame on its own.
        frame: Option<usize>,
        /// Whether the take is also scaled to the size of the model.
        scaled: bool,
    },
}

/// A marker that aligns a take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anchor {
    /// Its name or number.
    pub marker: String,
    /// The vertex that corresponds to it, if it drives no point.
    pub vertex: Option<usize>,
}

impl MarkerAlignment {
    pub(super) fn anchors(&self) -> &[Anchor] {
        match self {
            Self::None => &[],
            Self::Rigid { anchors, .. } => anchors,
        }
    }

    pub(super) fn frame(&self) -> Option<usize> {
        match self {
            Self::None => None,
            Self::Rigid { frame, .. } => *frame,
        }
    }
}

/// A scale, then a rigid motion.
struct Similarity {
    scale: f64,
    alignment: Alignment,
}

impl Similarity {
    fn fit(positions: &[DVec3], goals: &[DVec3], scale: f64) -> Self {
        let scaled: Vec<DVec3> = positions.iter().map(|p| *p * scale).collect();
        Self {
            scale,
            alignment: Alignment::of(goals, &scaled),
        }
    }

    fn apply(&self, position: DVec3) -> DVec3 {
        self.alignment.to_rest(position * self.scale)
    }
}

/// Columns that align a take, with their goals.
struct AnchorGoals {
    columns: Vec<usize>,
    goals: Vec<DVec3>,
}

/// Aligns all columns with the model.
pub(super) fn align(
    align: &MarkerAlignment,
    align_frame: Option<usize>,
    rest_frame: Option<usize>,
    columns: &mut Columns,
    to: &DrivenPoints<'_>,
) -> Result<(), LearnError> {
    let MarkerAlignment::Rigid {
        anchors, scaled, ..
    } = align
    else {
        return Ok(());
    };
    let used = anchor_goals(anchors, rest_frame, *scaled, columns, to)?;
    if used.columns.len() < LEAST {
        return Err(markers_error(format!(
            "{} markers align the take; at least {LEAST} are needed to determine a rotation",
            used.columns.len()
        )));
    }

    // One frame for a constant motion, or every frame on its own.
    let fitted: Vec<usize> = match align_frame {
        Some(frame) => vec![frame],
        None => (0..columns.frames.len()).collect(),
    };
    let positions: Vec<Vec<DVec3>> = fitted
        .iter()
        .map(|&frame| seen_positions(&columns.frames[frame], &used.columns))
        .collect();
    // One scale for the whole take.
    let scale = if *scaled {
        size_ratio(&positions, &used.goals)
    } else {
        1.0
    };
    let fits: Vec<Similarity> = positions
        .iter()
        .map(|positions| Similarity::fit(positions, &used.goals, scale))
        .collect();

    for (frame, positions) in columns.frames.iter_mut().enumerate() {
        let fit = &fits[if align_frame.is_some() { 0 } else { frame }];
        for position in positions {
            *position = position.map(|position| fit.apply(position));
        }
    }
    Ok(())
}

/// The positions of some columns, without missing ones.
fn seen_positions(frame: &[Option<DVec3>], columns: &[usize]) -> Vec<DVec3> {
    columns.iter().filter_map(|&column| frame[column]).collect()
}

/// The columns that align, and their goals.
fn anchor_goals(
    anchors: &[Anchor],
    rest_frame: Option<usize>,
    scaled: bool,
    columns: &Columns,
    to: &DrivenPoints<'_>,
) -> Result<AnchorGoals, LearnError> {
    let points: Vec<usize> = (0..to.rest.len())
        .filter(|&column| columns.frames[0][column].is_some())
        .collect();
    let rest: Vec<DVec3> = points.iter().map(|&column| to.rest[column]).collect();
    if anchors.is_empty() {
        return Ok(AnchorGoals {
            columns: points,
            goals: rest,
        });
    }

    // The rest frame, aligned with the rest pose.
    let aligned_rest = rest_frame.map(|frame| {
        let positions = seen_positions(&columns.frames[frame], &points);
        let scale = if scaled {
            size_ratio(std::slice::from_ref(&positions), &rest)
        } else {
            1.0
        };
        let fit = Similarity::fit(&positions, &rest, scale);
        let row = columns.frames[frame].iter();
        row.map(|position| position.map(|position| fit.apply(position)))
            .collect::<Vec<Option<DVec3>>>()
    });

    let mut goals = Vec::with_capacity(anchors.len());
    for (anchor, &column) in anchors.iter().zip(&columns.anchors) {
        let own = aligned_rest.as_ref().and_then(|row| row[column]);
        goals.push(anchor_goal(anchor, own, to.rest.get(column), to.reference)?);
    }
    let used = columns.anchors.iter().take(goals.len());
    Ok(AnchorGoals {
        columns: used.copied().collect(),
        goals,
    })
}

/// The goal of an anchor: its vertex, its position `own` in the rest frame, or the rest position of
/// its point.
fn anchor_goal(
    anchor: &Anchor,
    own: Option<DVec3>,
    rest: Option<&DVec3>,
    reference: &[DVec3],
) -> Result<DVec3, LearnError> {
    let name = &anchor.marker;
    if let Some(vertex) = anchor.vertex {
        return reference.get(vertex).copied().ok_or_else(|| {
            markers_error(format!(
                "marker '{name}' corresponds to vertex {vertex}, but the mesh has {} vertices, counted from 0",
                reference.len()
            ))
        });
    }
    // The rest frame is more accurate than the point, which the marker only approximates.
    own.or(rest.copied()).ok_or_else(|| {
        markers_error(format!(
            "marker '{name}' drives no point; name the vertex that corresponds to it, as {name}:VERTEX, or give a rest frame"
        ))
    })
}

/// The size of `goals` relative to that of the frames.
fn size_ratio(frames: &[Vec<DVec3>], goals: &[DVec3]) -> f64 {
    let mut total = 0.0;
    let mut count = 0.0;
    for positions in frames {
        total += squared_spread(positions);
        count += 1.0;
    }

    let ratio = (count * squared_spread(goals) / total).sqrt();
    if ratio.is_finite() && ratio > 0.0 {
        ratio
    } else {
        1.0
    }
}

/// The sum of squared distances from the mean.
fn squared_spread(points: &[DVec3]) -> f64 {
    let mean = points.iter().sum::<DVec3>() / points.len().max(1) as f64;
    points.iter().map(|p| p.distance_squared(mean)).sum::<f64>()
}
