//! A take brought to where the model is.
//!
//! **Equation.** In each frame, or once, the rigid motion with the least `Σ |R s q_k + t − c_k|²`
//! over the anchors `q`, where `s = 1`, or `s² = Σ |c_k − c̄|² / Σ |q_k − q̄|²` over all frames that
//! are aligned.
//!
//! **Ours.** Where a frame is known to be the rest pose, anchors are compared with themselves in
//! that frame, after all markers of it were brought to the rest pose: then it does not matter that
//! no marker sits on the point it stands for.

use pliant_mesh::glam::DVec3;

use super::{Columns, MarkerSource};
use crate::LearnError;
use crate::control_points::Alignment;

/// Fewer anchors tell no turn.
const LEAST: usize = 3;

/// By what a take is brought to the model.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Align {
    /// By nothing: it is there already.
    #[default]
    None,
    /// By markers, all those of points where none are named.
    By {
        /// Markers on a part that stays rigid.
        anchors: Vec<Anchor>,
        /// Aligns all frames as this one, which keeps the motion of the whole; without it every
        /// frame for itself.
        frame: Option<usize>,
        /// Whether the take is scaled to the model's size too.
        scaled: bool,
    },
}

/// A marker that aligns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anchor {
    /// Its name or number.
    pub marker: String,
    /// The vertex it stands for, where it stands for none of the points.
    pub vertex: Option<usize>,
}

impl Align {
    pub(super) fn anchors(&self) -> &[Anchor] {
        match self {
            Self::None => &[],
            Self::By { anchors, .. } => anchors,
        }
    }

    pub(super) fn frame(&self) -> Option<usize> {
        match self {
            Self::None => None,
            Self::By { frame, .. } => *frame,
        }
    }
}

/// A scale, then a rigid motion.
struct Fit {
    scale: f64,
    alignment: Alignment,
}

impl Fit {
    fn of(places: &[DVec3], goals: &[DVec3], scale: f64) -> Self {
        let scaled: Vec<DVec3> = places.iter().map(|place| *place * scale).collect();
        Self {
            scale,
            alignment: Alignment::of(goals, &scaled),
        }
    }

    fn apply(&self, place: DVec3) -> DVec3 {
        self.alignment.to_rest(place * self.scale)
    }
}

/// Moves all of `columns`.
pub(super) fn align(
    align: &Align,
    align_frame: Option<usize>,
    rest_frame: Option<usize>,
    columns: &mut Columns,
    to: &MarkerSource<'_>,
) -> Result<(), LearnError> {
    let Align::By {
        anchors, scaled, ..
    } = align
    else {
        return Ok(());
    };
    let (used, goals) = goals(anchors, rest_frame, *scaled, columns, to)?;
    if used.len() < LEAST {
        let why = format!(
            "{} markers align the take; at least {LEAST} are needed to tell a turn",
            used.len()
        );
        return Err(LearnError::Markers { why });
    }
    let at = |frame: usize| -> Vec<DVec3> {
        used.iter()
            .filter_map(|&column| columns.frames[frame][column])
            .collect()
    };
    let fitted: Vec<usize> =
        align_frame.map_or_else(|| (0..columns.frames.len()).collect(), |frame| vec![frame]);
    let scale = if *scaled {
        ratio(fitted.iter().map(|&frame| at(frame)), &goals)
    } else {
        1.0
    };
    let fits: Vec<Fit> = fitted
        .iter()
        .map(|&frame| Fit::of(&at(frame), &goals, scale))
        .collect();
    for (frame, places) in columns.frames.iter_mut().enumerate() {
        let fit = &fits[if align_frame.is_some() { 0 } else { frame }];
        places
            .iter_mut()
            .for_each(|place| *place = place.map(|place| fit.apply(place)));
    }
    Ok(())
}

/// The columns that align, and where they belong.
fn goals(
    anchors: &[Anchor],
    rest_frame: Option<usize>,
    scaled: bool,
    columns: &Columns,
    to: &MarkerSource<'_>,
) -> Result<(Vec<usize>, Vec<DVec3>), LearnError> {
    let seen = |column: &usize| columns.frames[0][*column].is_some();
    let points: Vec<usize> = (0..to.rest.len()).filter(seen).collect();
    let rest_of = |columns: &[usize]| {
        columns
            .iter()
            .map(|&column| to.rest[column])
            .collect::<Vec<_>>()
    };
    let base = rest_frame.map(|frame| {
        let places: Vec<DVec3> = points
            .iter()
            .filter_map(|&column| columns.frames[frame][column])
            .collect();
        let goals = rest_of(&points);
        let scale = if scaled {
            ratio([places.clone()], &goals)
        } else {
            1.0
        };
        (frame, Fit::of(&places, &goals, scale))
    });
    if anchors.is_empty() {
        return Ok((points.clone(), rest_of(&points)));
    }
    let goal = |(anchor, &column): (&Anchor, &usize)| {
        let own = base
            .as_ref()
            .and_then(|(frame, fit)| columns.frames[*frame][column].map(|place| fit.apply(place)));
        let place = match anchor.vertex {
            Some(vertex) => to.reference.get(vertex).copied().ok_or_else(|| {
                let why = format!(
                    "marker '{}' stands for vertex {vertex}, but the mesh has {}, counted from 0",
                    anchor.marker,
                    to.reference.len()
                );
                LearnError::Markers { why }
            })?,
            None => own.or_else(|| to.rest.get(column).copied()).ok_or_else(|| {
                let name = &anchor.marker;
                let why =
                    format!("marker '{name}' drives no point; say which vertex it stands for, as {name}:VERTEX, or give a rest frame");
                LearnError::Markers { why }
            })?,
        };
        Ok((column, place))
    };
    Ok(anchors
        .iter()
        .zip(&columns.anchors)
        .map(goal)
        .collect::<Result<Vec<_>, LearnError>>()?
        .into_iter()
        .unzip())
}

/// The size of `goals` over that of the frames.
fn ratio(frames: impl IntoIterator<Item = Vec<DVec3>>, goals: &[DVec3]) -> f64 {
    let spread = |points: &[DVec3]| {
        let mean = points.iter().sum::<DVec3>() / points.len().max(1) as f64;
        points.iter().map(|p| p.distance_squared(mean)).sum::<f64>()
    };
    let (mut total, mut count) = (0.0, 0.0);
    for places in frames {
        total += spread(&places);
        count += 1.0;
    }
    let ratio = (count * spread(goals) / total).sqrt();
    if ratio.is_finite() && ratio > 0.0 {
        ratio
    } else {
        1.0
    }
}
