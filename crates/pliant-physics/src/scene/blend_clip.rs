//! Frames of a blended scene along a path of weights, with figures and timings.
//!
//! **Problem.** The command line, the studio and the demo each need all frames of a
//! [`SceneBlend`] along a path of weights, and the same summary of them.
//!
//! **Method.** Frames are solved in order, since among obstacles a frame depends on the frame
//! before it. The time of the obstacles runs evenly from 0 in the first frame to 1 in the last.

use std::cmp::Reverse;

use pliant_mesh::Progress;
use pliant_mesh::glam::DVec3;
use serde::Serialize;
use web_time::Instant;

use crate::{ContactFrame, PhysicsError, SceneBlend, WeightPath, snap_frames};

/// One solved frame and its time.
#[derive(Debug, Clone, PartialEq)]
pub struct BlendClipFrame {
    /// The frame.
    pub frame: ContactFrame,
    /// Wall time of its solve.
    pub ms: f64,
}

/// The frames of a blend along a path of weights.
///
/// ```
/// use pliant_mesh::{glam::DVec3, shapes};
/// use pliant_physics::{BlendClip, SceneBlend, SceneOptions, WeightPath};
///
/// let ball = shapes::icosphere(2);
/// let egg = ball.posed(ball.positions().iter().map(|p| *p * DVec3::new(1.5, 1.0, 1.0)).collect())?;
/// let mut scene = SceneBlend::new(&[ball, egg], &SceneOptions::default())?;
/// let path = WeightPath::OneWay { shapes: 2, steps: 4 };
/// let clip = BlendClip::along(&mut scene, &path, &())?;
/// assert_eq!(clip.frames.len(), 5);
/// assert!(clip.unbalanced_frames(1e-3).is_empty());
/// # Ok::<(), pliant_physics::PhysicsError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BlendClip {
    /// The frames in order.
    pub frames: Vec<BlendClipFrame>,
}

impl BlendClip {
    /// Solves `scene` at every frame of `path`.
    ///
    /// # Errors
    /// As [`SceneBlend::step`], and [`PhysicsError::Stopped`] if `progress` asks for it.
    pub fn along(
        scene: &mut SceneBlend,
        path: &WeightPath,
        progress: &dyn Progress,
    ) -> Result<Self, PhysicsError> {
        Self::at_weights(scene, &path.frames().collect::<Vec<_>>(), progress)
    }

    /// Solves `scene` at each of these weights, in order.
    ///
    /// # Errors
    /// As [`along`](Self::along).
    pub fn at_weights(
        scene: &mut SceneBlend,
        weights: &[Vec<f64>],
        progress: &dyn Progress,
    ) -> Result<Self, PhysicsError> {
        let count = weights.len();
        let mut frames = Vec::with_capacity(count);
        for (k, weights) in weights.iter().enumerate() {
            let done = k as f64 / count as f64;
            progress.proceed("balancing", done)?;

            // A single frame is at time 0.
            let time = k as f64 / (count.max(2) - 1) as f64;
            let began = Instant::now();
            let frame = scene.step(weights, time)?;
            let ms = began.elapsed().as_secs_f64() * 1e3;

            frames.push(BlendClipFrame { frame, ms });
        }

        Ok(Self { frames })
    }

    /// The positions of every frame.
    #[must_use]
    pub fn positions(&self) -> Vec<Vec<DVec3>> {
        self.frames
            .iter()
            .map(|timed| timed.frame.shape.positions.clone())
            .collect()
    }

    /// Mean time of a frame; 0 without frames.
    #[must_use]
    pub fn mean_ms(&self) -> f64 {
        let total: f64 = self.frames.iter().map(|timed| timed.ms).sum();
        total / self.frames.len().max(1) as f64
    }

    /// The largest residual of a frame.
    #[must_use]
    pub fn max_residual(&self) -> f64 {
        self.frames
            .iter()
            .map(|timed| timed.frame.shape.report.residual)
            .fold(0.0, f64::max)
    }

    /// The largest number of contacts with obstacles in a frame.
    #[must_use]
    pub fn max_contacts(&self) -> usize {
        let contacts = self.frames.iter().map(|timed| timed.frame.contacts);
        contacts.max().unwrap_or(0)
    }

    /// The largest number of self-contacts in a frame.
    #[must_use]
    pub fn max_self_contacts(&self) -> usize {
        let contacts = self.frames.iter().map(|timed| timed.frame.self_contacts);
        contacts.max().unwrap_or(0)
    }

    /// The greatest depth of a vertex inside another part of the surface.
    #[must_use]
    pub fn max_self_depth(&self) -> f64 {
        self.frames
            .iter()
            .map(|timed| timed.frame.self_depth)
            .fold(0.0, f64::max)
    }

    /// The first frame with the most inverted elements, and their number; `None` where no element
    /// is inverted.
    #[must_use]
    pub fn most_inverted(&self) -> Option<(usize, usize)> {
        self.frames
            .iter()
            .map(|timed| timed.frame.shape.inverted)
            .enumerate()
            .max_by_key(|&(frame, count)| (count, Reverse(frame)))
            .filter(|&(_, count)| count > 0)
    }

    /// Volumes of a path between two shapes, in percent of the linear interpolation between its
    /// ends; `None` where an end encloses no volume.
    #[must_use]
    pub fn relative_volume(&self) -> Option<RelativeVolume> {
        let [first, .., last] = self.frames.as_slice() else {
            return None;
        };

        let begin = first.frame.shape.volume;
        let end = last.frame.shape.volume;
        if !(begin > 0.0 && end > 0.0) {
            return None;
        }

        let mut range = RelativeVolume {
            least: f64::INFINITY,
            most: 0.0,
            least_linear: f64::INFINITY,
        };
        for timed in &self.frames {
            let shape = &timed.frame.shape;
            let expected = begin + (end - begin) * shape.weights[1];
            let own = 100.0 * shape.volume / expected;
            let linear = 100.0 * shape.linear.volume / expected;

            range.least = range.least.min(own);
            range.most = range.most.max(own);
            range.least_linear = range.least_linear.min(linear);
        }

        Some(range)
    }

    /// Frames whose forces do not balance to `tolerance`.
    #[must_use]
    pub fn unbalanced_frames(&self, tolerance: f64) -> Vec<usize> {
        self.frames_where(|frame| frame.shape.report.residual > tolerance)
    }

    /// Frames whose forces balance while the set of contacts still changes.
    #[must_use]
    pub fn unsettled_frames(&self, tolerance: f64) -> Vec<usize> {
        self.frames_where(|frame| {
            !frame.shape.report.converged && frame.shape.report.residual <= tolerance
        })
    }

    /// Frames to which the shape snaps, see [`snap_frames`].
    #[must_use]
    pub fn snap_frames(&self) -> Vec<usize> {
        let positions: Vec<&[DVec3]> = self
            .frames
            .iter()
            .map(|timed| &timed.frame.shape.positions[..])
            .collect();
        snap_frames(&positions)
    }

    /// Frames with vertices that were moved to the surface of an obstacle after the solve.
    #[must_use]
    pub fn moved_frames(&self) -> Vec<usize> {
        self.frames_where(|frame| frame.moved > 0)
    }

    /// Frames with fixed or pulled vertices inside an obstacle.
    #[must_use]
    pub fn stuck_frames(&self) -> Vec<usize> {
        self.frames_where(|frame| frame.stuck > 0)
    }

    /// Frames with vertices inside another part of the surface.
    #[must_use]
    pub fn self_penetrating_frames(&self) -> Vec<usize> {
        self.frames_where(|frame| frame.self_depth > 0.0)
    }

    fn frames_where(&self, is_so: impl Fn(&ContactFrame) -> bool) -> Vec<usize> {
        (0..self.frames.len())
            .filter(|&k| is_so(&self.frames[k].frame))
            .collect()
    }
}

/// The range of volumes on a path, in percent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RelativeVolume {
    /// The least volume of a frame.
    pub least: f64,
    /// The greatest volume of a frame.
    pub most: f64,
    /// The least volume of the linear blend.
    pub least_linear: f64,
}

/// The figures of one frame, as a report lists them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BlendFrameFigures {
    /// Steps of the solver.
    pub iterations: usize,
    /// The largest nodal force that remains.
    pub residual: f64,
    /// Whether forces balance and contacts have settled.
    pub converged: bool,
    /// Area of the surface.
    pub area: f64,
    /// Signed volume of the surface.
    pub volume: f64,
    /// Mean strain of the edges.
    pub strain: f64,
    /// The same of the linear blend.
    pub linear: LinearFigures,
    /// Inverted elements.
    pub inverted: usize,
    /// Vertices that touch an obstacle.
    pub contacts: usize,
    /// Faces between whose vertices a thin obstacle presses.
    pub faces: usize,
    /// Substeps from the frame before.
    pub substeps: usize,
    /// Wall time of the solve.
    pub ms: f64,
}

/// Figures of the linear blend.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LinearFigures {
    /// Area of the surface.
    pub area: f64,
    /// Signed volume of the surface.
    pub volume: f64,
    /// Mean strain of the edges.
    pub strain: f64,
}

impl BlendClipFrame {
    /// The figures of this frame.
    #[must_use]
    pub fn figures(&self) -> BlendFrameFigures {
        let frame = &self.frame;
        let shape = &frame.shape;
        BlendFrameFigures {
            iterations: shape.report.iterations,
            residual: shape.report.residual,
            converged: shape.report.converged,
            area: shape.area,
            volume: shape.volume,
            strain: shape.strain,
            linear: LinearFigures {
                area: shape.linear.area,
                volume: shape.linear.volume,
                strain: shape.linear.strain,
            },
            inverted: shape.inverted,
            contacts: frame.contacts,
            faces: frame.faces,
            substeps: frame.substeps,
            ms: self.ms,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SceneOptions;
    use pliant_mesh::shapes::icosphere;
    use std::ops::ControlFlow;

    fn ball_to_egg() -> SceneBlend {
        let ball = icosphere(2);
        let stretch = DVec3::new(1.4, 1.0, 1.0);
        let egg = ball.positions().iter().map(|p| *p * stretch).collect();
        let shapes = [ball.clone(), ball.posed(egg).unwrap()];
        SceneBlend::new(&shapes, &SceneOptions::default()).unwrap()
    }

    #[test]
    fn a_clip_has_the_frames_of_single_steps() {
        let path = WeightPath::OneWay {
            shapes: 2,
            steps: 3,
        };
        let clip = BlendClip::along(&mut ball_to_egg(), &path, &()).unwrap();

        let mut scene = ball_to_egg();
        for (k, weights) in path.frames().enumerate() {
            let expected = scene.step(&weights, k as f64 / 3.0).unwrap();
            assert_eq!(clip.frames[k].frame, expected);
        }
        assert_eq!(clip.positions().len(), 4);
    }

    #[test]
    fn the_ends_of_a_path_have_their_own_volume() {
        let path = WeightPath::OneWay {
            shapes: 2,
            steps: 4,
        };
        let clip = BlendClip::along(&mut ball_to_egg(), &path, &()).unwrap();
        let volume = clip.relative_volume().unwrap();

        assert!(
            volume.least <= 100.0 + 1e-9 && volume.most >= 100.0 - 1e-9,
            "{volume:?}"
        );
        assert!(clip.unbalanced_frames(1e-3).is_empty() && clip.snap_frames().is_empty());
    }

    #[test]
    fn a_stopped_clip_returns_the_stopped_error() {
        struct Stop;
        impl Progress for Stop {
            fn report(&self, _: &str, _: f64) -> ControlFlow<()> {
                ControlFlow::Break(())
            }
        }

        let stopped = BlendClip::at_weights(&mut ball_to_egg(), &[vec![0.5, 0.5]], &Stop);
        assert!(matches!(stopped, Err(PhysicsError::Stopped(_))));
    }
}
