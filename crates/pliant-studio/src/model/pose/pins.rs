//! Pins as the document stores them.
//!
//! **Implementation.** A free pin moves with the surface: it has a goal only while it is dragged,
//! so other pins and sliders move it along. If a drag does not reach its goal, the pin keeps the
//! goal as a line on the screen and for the residual layer, but the goal has no effect on later
//! drags. A held pin keeps its position in space and takes part in every drag. So do the pins of
//! one stroke while one of them is dragged.

use pliant::mesh::VertexId;
use pliant::mesh::glam::DVec3;
use pliant::rig::Aim;
use serde::{Deserialize, Serialize};

use super::Setup;
use crate::model::document::Weights;

/// A pin.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PinMark {
    /// The vertex it holds.
    pub vertex: VertexId,
    /// Where it should be, if it requests a place: it is held, or it was dragged out of reach.
    pub goal: Option<[f64; 3]>,
    /// Whether it keeps its place while others are dragged.
    pub held: bool,
    /// The stroke it came with.
    pub stroke: Option<u32>,
}

/// A pin in a drag.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DraggedPin {
    /// The vertex it holds.
    pub vertex: VertexId,
    /// Where it should go.
    pub goal: [f64; 3],
    /// Which coordinates matter.
    pub aim: Aim,
    /// Whether the pin is held; methods that support this prefer held pins to the others.
    #[serde(default)]
    pub held: bool,
}

/// The last drag, for the comparison of methods.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Pull {
    /// The weights at which it began.
    pub base: Weights,
    /// The weights at which it ended.
    pub result: Weights,
    /// Its pins.
    pub pins: Vec<DraggedPin>,
}

/// How far from its goal a pin may be, in parts of the rig's size, and count as there. Chosen: a
/// millimetre on a head, which no line on the screen shows.
pub(crate) const REACHED: f64 = 0.004;

impl PinMark {
    /// A free pin.
    #[must_use]
    pub fn new(vertex: impl Into<VertexId>) -> Self {
        Self {
            vertex: vertex.into(),
            ..Self::default()
        }
    }

    /// Where it should be.
    #[must_use]
    pub fn goal(&self) -> Option<DVec3> {
        self.goal.map(DVec3::from_array)
    }

    /// Where it is.
    #[must_use]
    pub fn place(&self, positions: &[DVec3]) -> Option<DVec3> {
        positions.get(self.vertex.index()).copied()
    }
}

impl DraggedPin {
    /// A pin that is requested at a place.
    #[must_use]
    pub fn new(vertex: impl Into<VertexId>, goal: DVec3, aim: Aim) -> Self {
        Self {
            vertex: vertex.into(),
            goal: goal.to_array(),
            aim,
            held: false,
        }
    }

    /// Where it should go.
    #[must_use]
    pub fn goal(&self) -> DVec3 {
        DVec3::from_array(self.goal)
    }
}

impl Setup {
    /// What holds still in a drag of the pins `dragged`: held pins, and those of the same strokes.
    #[must_use]
    pub fn held_beside(&self, dragged: &[usize], positions: &[DVec3]) -> Vec<DraggedPin> {
        let strokes: Vec<u32> = dragged
            .iter()
            .filter_map(|&k| self.pins.get(k)?.stroke)
            .collect();

        let beside = self
            .pins
            .iter()
            .enumerate()
            .filter(|(k, _)| !dragged.contains(k));
        let holds = beside.filter(|(_, mark)| {
            mark.held || mark.stroke.is_some_and(|stroke| strokes.contains(&stroke))
        });

        let pulled = holds.filter_map(|(_, mark)| {
            let place = mark.place(positions)?;
            // A held pin returns to its goal; pins of a stroke stay where they are.
            let goal = if mark.held {
                mark.goal().unwrap_or(place)
            } else {
                place
            };

            Some(DraggedPin {
                held: true,
                ..DraggedPin::new(mark.vertex, goal, Aim::Point)
            })
        });

        pulled.collect()
    }

    /// The last drag, if the pose is still what it led to.
    #[must_use]
    pub fn current_pull(&self, weights: &Weights) -> Option<&Pull> {
        self.pull
            .as_ref()
            .filter(|pull| !pull.pins.is_empty() && pull.result == *weights)
    }

    /// A number that no stroke has.
    #[must_use]
    pub fn next_stroke(&self) -> u32 {
        self.pins
            .iter()
            .filter_map(|mark| mark.stroke)
            .max()
            .map_or(0, |last| last.saturating_add(1))
    }
}
