//! A clip as the fits see it: centred, of diagonal 1, the places of a vertex side by side.

use pliant_mesh::glam::{DAffine3, DMat3, DVec3};
use pliant_rig::Clip;

use crate::LearnError;

/// The reference positions and where the examples take them, in units that do not depend on the
/// scene's.
#[derive(Debug)]
pub(super) struct MovingPoints {
    /// Reference positions about their mean, divided by the diagonal of their bounds.
    pub(super) rest: Vec<DVec3>,
    /// Vertex after vertex its positions in all frames, about the means of the frames, in the same
    /// unit.
    moved: Vec<DVec3>,
    frame_count: usize,
    unit: f64,
    rest_mean: DVec3,
    frame_means: Vec<DVec3>,
}

impl MovingPoints {
    pub(super) fn of(clip: &Clip) -> Result<Self, LearnError> {
        let reference = clip.reference();
        reference.require_surface()?;
        for (frame, positions) in clip.frames().iter().enumerate() {
            if let Some(vertex) = positions.iter().position(|p| !p.is_finite()) {
                return Err(LearnError::FrameNotFinite { frame, vertex });
            }
        }
        let unit = reference.bounds().map_or(0.0, |bounds| bounds.diagonal());
        if !(unit > 0.0 && unit.is_finite()) {
            return Err(LearnError::NoExtent);
        }
        let mean = |points: &[DVec3]| points.iter().sum::<DVec3>() / points.len() as f64;
        let (rest_mean, frame_means) = (
            mean(reference.positions()),
            clip.frames().iter().map(|f| mean(f)).collect::<Vec<_>>(),
        );
        let rest = reference
            .positions()
            .iter()
            .map(|p| (*p - rest_mean) / unit)
            .collect();
        let places = |v: usize| {
            clip.frames()
                .iter()
                .zip(&frame_means)
                .map(move |(frame, mean)| (frame[v] - *mean) / unit)
        };
        let moved = (0..reference.vertex_count()).flat_map(places).collect();
        Ok(Self {
            rest,
            moved,
            frame_count: clip.frames().len(),
            unit,
            rest_mean,
            frame_means,
        })
    }

    pub(super) fn vertex_count(&self) -> usize {
        self.rest.len()
    }

    pub(super) fn frame_count(&self) -> usize {
        self.frame_count
    }

    /// Where the frames take a vertex.
    pub(super) fn moved(&self, vertex: usize) -> &[DVec3] {
        &self.moved[vertex * self.frame_count..][..self.frame_count]
    }

    /// A motion in a frame as one in the clip's own units and place.
    pub(super) fn in_clip(&self, frame: usize, motion: &Motion) -> DAffine3 {
        let translation =
            self.frame_means[frame] + motion.shift * self.unit - motion.turn * self.rest_mean;
        DAffine3 {
            matrix3: motion.turn,
            translation,
        }
    }
}

/// A linear map and a shift: where a bone takes points in one frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Motion {
    pub(super) turn: DMat3,
    pub(super) shift: DVec3,
}

impl Motion {
    pub(super) const REST: Self = Self {
        turn: DMat3::IDENTITY,
        shift: DVec3::ZERO,
    };

    pub(super) fn apply(&self, point: DVec3) -> DVec3 {
        self.turn * point + self.shift
    }
}

/// The sum over the frames of the squared distances between where a bone takes a point and where it
/// goes; stops above `bound`.
pub(super) fn squared_miss(motions: &[Motion], rest: DVec3, moved: &[DVec3], bound: f64) -> f64 {
    let mut sum = 0.0;
    for (motion, place) in motions.iter().zip(moved) {
        sum += (motion.apply(rest) - *place).length_squared();
        if sum > bound {
            break;
        }
    }
    sum
}
