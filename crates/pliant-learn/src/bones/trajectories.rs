//! Vertex trajectories: a clip, centred and scaled to diagonal 1, vertex by vertex.

use pliant_mesh::glam::{DAffine3, DMat3, DVec3};
use pliant_rig::Clip;

use crate::LearnError;

/// Reference positions and trajectories of all vertices, independent of the unit of the scene.
#[derive(Debug)]
pub(super) struct Trajectories {
    /// Reference positions relative to their mean, divided by the diagonal of their bounds.
    pub(super) rest: Vec<DVec3>,
    /// Positions in all frames, vertex after vertex, relative to the means of the frames, in the
    /// same unit.
    moved: Vec<DVec3>,
    frame_count: usize,
    unit: f64,
    rest_mean: DVec3,
    frame_means: Vec<DVec3>,
}

impl Trajectories {
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

        let rest_mean = mean(reference.positions());
        let rest = reference
            .positions()
            .iter()
            .map(|p| (*p - rest_mean) / unit)
            .collect();
        // Each frame is centred on its own mean.
        let frame_means: Vec<DVec3> = clip.frames().iter().map(|f| mean(f)).collect();
        let mut moved = Vec::with_capacity(reference.vertex_count() * frame_means.len());
        for v in 0..reference.vertex_count() {
            for (frame, mean) in clip.frames().iter().zip(&frame_means) {
                moved.push((frame[v] - *mean) / unit);
            }
        }

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

    /// The positions of a vertex in all frames.
    pub(super) fn moved(&self, vertex: usize) -> &[DVec3] {
        &self.moved[vertex * self.frame_count..][..self.frame_count]
    }

    /// A motion in a frame, in the units and coordinates of the clip.
    pub(super) fn in_clip(&self, frame: usize, motion: &Motion) -> DAffine3 {
        let translation = self.frame_means[frame] + motion.translation * self.unit
            - motion.linear * self.rest_mean;
        DAffine3 {
            matrix3: motion.linear,
            translation,
        }
    }
}

fn mean(points: &[DVec3]) -> DVec3 {
    points.iter().sum::<DVec3>() / points.len() as f64
}

/// The motion of a bone in one frame: a linear map and a translation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Motion {
    pub(super) linear: DMat3,
    pub(super) translation: DVec3,
}

impl Motion {
    pub(super) const REST: Self = Self {
        linear: DMat3::IDENTITY,
        translation: DVec3::ZERO,
    };

    pub(super) fn apply(&self, point: DVec3) -> DVec3 {
        self.linear * point + self.translation
    }
}

/// The sum over the frames of the squared distances between a point moved by a bone and its
/// trajectory. The sum stops above `bound`.
pub(super) fn squared_error(motions: &[Motion], rest: DVec3, moved: &[DVec3], bound: f64) -> f64 {
    let mut sum = 0.0;
    for (motion, position) in motions.iter().zip(moved) {
        sum += (motion.apply(rest) - *position).length_squared();
        if sum > bound {
            break;
        }
    }
    sum
}
