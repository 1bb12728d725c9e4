//! Rigid motion of an obstacle over time.
//!
//! **Problem.** An obstacle is animated by the positions of all its vertices in each frame; contact
//! needs its rigid motion between frames, and a check that it does not deform.
//!
//! **Equation.** Frame `k` is the rigid motion `Rₖ p + tₖ` that fits its positions best; between
//! two frames rotations are interpolated on the sphere, about the centre of the obstacle, which
//! moves along the line.
//!
//! **Source.** Shoemake, "Animating rotation with quaternion curves", SIGGRAPH 1985.
//!
//! **Departures.** Frames that are not rigid motions are rejected, and the vertex with the largest
//! error is named.

use pliant_linalg::RigidMotion;
use pliant_mesh::Bounds;
use pliant_mesh::glam::DVec3;

use crate::PhysicsError;

/// The rigid motion of an obstacle from frame to frame.
#[derive(Debug, Clone, PartialEq)]
pub struct ObstacleMotion {
    frames: Vec<RigidMotion>,
    /// The centre of rotation between frames.
    center: DVec3,
    /// Frames per unit of time.
    rate: f64,
}

/// Allowed distance of vertices from the rigid motion, relative to the diagonal. Chosen: the
/// rounding of single precision far from the origin.
const RIGID: f64 = 1e-3;

impl ObstacleMotion {
    /// An obstacle that does not move.
    #[must_use]
    pub fn still() -> Self {
        Self::from_frames(Vec::new())
    }

    /// One rigid motion from the initial placement for each frame.
    #[must_use]
    pub fn from_frames(frames: Vec<RigidMotion>) -> Self {
        Self {
            frames,
            center: DVec3::ZERO,
            rate: 1.0,
        }
    }

    /// The motion of an obstacle with the initial positions `rest` and the positions `frames`.
    ///
    /// # Errors
    /// [`PhysicsError::DeformingObstacle`] if it does not move rigidly; frames of another length.
    pub fn fit(rest: &[DVec3], frames: &[Vec<DVec3>]) -> Result<Self, PhysicsError> {
        let bounds = Bounds::of(rest);
        let allowed = RIGID * bounds.map_or(0.0, |bounds| bounds.diagonal());

        let mut motions = Vec::with_capacity(frames.len());
        for (frame, positions) in frames.iter().enumerate() {
            let motion = RigidMotion::fit(rest, positions, None)?;
            let off = |vertex: usize| motion.apply(rest[vertex]).distance(positions[vertex]);
            let worst = (0..rest.len()).max_by(|&a, &b| off(a).total_cmp(&off(b)));
            if let Some(vertex) = worst
                && (off(vertex).is_nan() || off(vertex) > allowed)
            {
                return Err(PhysicsError::DeformingObstacle {
                    frame,
                    vertex,
                    off: off(vertex),
                });
            }
            motions.push(motion);
        }

        Ok(Self {
            center: bounds.map_or(DVec3::ZERO, |bounds| bounds.center()),
            ..Self::from_frames(motions)
        })
    }

    /// The same motion with its first frame at 0 and its last frame at `end`; without a positive
    /// end it stays at the first frame.
    #[must_use]
    pub fn with_duration(self, end: f64) -> Self {
        let rate = if end > 0.0 {
            self.frames.len().saturating_sub(1) as f64 / end
        } else {
            0.0
        };
        Self { rate, ..self }
    }

    /// The motion at a time, in frames unless [`with_duration`](Self::with_duration) is set;
    /// interpolated between frames. It is constant before the first and after the last frame, and
    /// NaN counts as the first.
    #[must_use]
    pub fn at(&self, time: f64) -> RigidMotion {
        let Some(last) = self.frames.len().checked_sub(1) else {
            return RigidMotion::IDENTITY;
        };

        // Clamped to the first and the last frame.
        let frame = time * self.rate;
        let frame = if frame.is_nan() {
            0.0
        } else {
            frame.clamp(0.0, last as f64)
        };

        let before = self.frames[frame as usize];
        let after = self.frames[(frame as usize + 1).min(last)];

        before.between(&after, frame.fract(), self.center)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::glam::DQuat;
    use pliant_mesh::shapes::icosphere;

    #[test]
    fn a_motion_passes_through_its_frames_and_is_constant_beyond_them() {
        let frame = |k: f64| RigidMotion {
            rotation: DQuat::from_rotation_z(k),
            translation: DVec3::X * k,
        };
        let motion = ObstacleMotion::from_frames(vec![frame(0.0), frame(1.0), frame(2.0)]);

        for time in [0.0, 0.25, 1.0, 1.5, 2.0] {
            let found = motion.at(time);
            let expected = frame(time);
            assert!(
                found.rotation.angle_between(expected.rotation) < 1e-7
                    && found.translation.distance(expected.translation) < 1e-12
            );
        }

        assert_eq!(motion.at(-3.0), frame(0.0));
        assert_eq!(motion.at(9.0), frame(2.0));
        assert_eq!(motion.at(f64::NAN), frame(0.0));
        assert_eq!(ObstacleMotion::still().at(5.0), RigidMotion::IDENTITY);
    }

    #[test]
    fn a_motion_is_fitted_to_positions_and_has_the_given_duration() {
        let rest = icosphere(1).positions().to_vec();
        let frame = |k: f64| RigidMotion {
            rotation: DQuat::from_rotation_z(k),
            translation: DVec3::X * k,
        };
        let mut frames: Vec<Vec<DVec3>> = [0.0, 0.5, 1.0]
            .map(|k| rest.iter().map(|p| frame(k).apply(*p)).collect())
            .to_vec();

        let motion = ObstacleMotion::fit(&rest, &frames)
            .unwrap()
            .with_duration(10.0);
        for (time, expected) in [
            (0.0, 0.0),
            (2.5, 0.25),
            (5.0, 0.5),
            (10.0, 1.0),
            (99.0, 1.0),
        ] {
            assert!(
                motion
                    .at(time)
                    .translation
                    .distance(frame(expected).translation)
                    < 1e-12,
                "{time}"
            );
        }

        frames[1][7] += DVec3::Y * 0.1;
        let error = ObstacleMotion::fit(&rest, &frames).unwrap_err();
        assert!(
            matches!(
                error,
                PhysicsError::DeformingObstacle {
                    frame: 1,
                    vertex: 7,
                    ..
                }
            ),
            "{error}"
        );
    }
}
