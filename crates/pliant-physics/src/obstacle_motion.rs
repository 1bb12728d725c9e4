//! Where an obstacle is at any time.
//!
//! **Problem.** An obstacle is animated frame by frame, by positions of all its vertices; what it
//! meets wants to know where it is between frames, and that it did not change its form.
//!
//! **Equation.** Frame `k` is the rigid motion `Rₖ p + tₖ` that fits its positions best; between
//! two frames rotations are interpolated on the sphere, about the middle of the obstacle, which
//! goes along the line.
//!
//! **Source.** Shoemake, "Animating rotation with quaternion curves", SIGGRAPH 1985.
//!
//! **Ours.** Positions that no rigid motion reaches are declined, and the worst of them is named.

use pliant_linalg::RigidMotion;
use pliant_mesh::Bounds;
use pliant_mesh::glam::DVec3;

use crate::PhysicsError;

/// How an obstacle moves from frame to frame.
#[derive(Debug, Clone, PartialEq)]
pub struct ObstacleMotion {
    frames: Vec<RigidMotion>,
    /// What it turns about between frames.
    center: DVec3,
    /// Frames in a unit of time.
    rate: f64,
}

/// Vertices of an obstacle that moves as a whole are off its motion by at most this part of its
/// diagonal: ours, what single precision far from the origin may lose.
const RIGID: f64 = 1e-3;

impl ObstacleMotion {
    /// An obstacle that stays.
    #[must_use]
    pub fn still() -> Self {
        Self::from_frames(Vec::new())
    }

    /// One motion from where the obstacle was made for each frame.
    #[must_use]
    pub fn from_frames(frames: Vec<RigidMotion>) -> Self {
        Self {
            frames,
            center: DVec3::ZERO,
            rate: 1.0,
        }
    }

    /// The motion of an obstacle made at the positions `rest` that stands at `frames`.
    ///
    /// # Errors
    /// [`PhysicsError::BendingObstacle`] if it does not move as a whole; frames of another length.
    pub fn fit(rest: &[DVec3], frames: &[Vec<DVec3>]) -> Result<Self, PhysicsError> {
        let allowed = RIGID * Bounds::of(rest).map_or(0.0, |bounds| bounds.diagonal());
        let fit = |(frame, positions): (usize, &Vec<DVec3>)| {
            let motion = RigidMotion::fit(rest, positions, None)?;
            let off = |vertex: usize| motion.apply(rest[vertex]).distance(positions[vertex]);
            let worst = (0..rest.len()).max_by(|&a, &b| off(a).total_cmp(&off(b)));
            match worst.filter(|&vertex| off(vertex).is_nan() || off(vertex) > allowed) {
                Some(vertex) => Err(PhysicsError::BendingObstacle {
                    frame,
                    vertex,
                    off: off(vertex),
                }),
                None => Ok(motion),
            }
        };
        let center = Bounds::of(rest).map_or(DVec3::ZERO, |bounds| bounds.center());
        Ok(Self {
            center,
            ..Self::from_frames(
                frames
                    .iter()
                    .enumerate()
                    .map(fit)
                    .collect::<Result<Vec<_>, _>>()?,
            )
        })
    }

    /// The same motion with its last frame at `end`, the first at 0; without an end it stays at the
    /// first.
    #[must_use]
    pub fn lasting(self, end: f64) -> Self {
        let rate = if end > 0.0 {
            self.frames.len().saturating_sub(1) as f64 / end
        } else {
            0.0
        };
        Self { rate, ..self }
    }

    /// The motion at a time, in frames unless it is [`lasting`](Self::lasting), between two of them
    /// too. Before the first and after the last it stays, and where the time is no number it is
    /// the first.
    #[must_use]
    pub fn at(&self, time: f64) -> RigidMotion {
        let Some(last) = self.frames.len().checked_sub(1) else {
            return RigidMotion::IDENTITY;
        };
        let frame = time * self.rate;
        let frame = if frame.is_nan() {
            0.0
        } else {
            frame.clamp(0.0, last as f64)
        };
        let (before, after) = (
            self.frames[frame as usize],
            self.frames[(frame as usize + 1).min(last)],
        );
        before.between(&after, frame.fract(), self.center)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::glam::DQuat;
    use pliant_mesh::shapes::icosphere;

    #[test]
    fn a_motion_passes_through_its_frames_and_stays_beyond_them() {
        let frame = |k: f64| RigidMotion {
            rotation: DQuat::from_rotation_z(k),
            translation: DVec3::X * k,
        };
        let motion = ObstacleMotion::from_frames(vec![frame(0.0), frame(1.0), frame(2.0)]);
        for time in [0.0, 0.25, 1.0, 1.5, 2.0] {
            let (found, expected) = (motion.at(time), frame(time));
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
    fn a_motion_is_found_from_positions_and_lasts_as_long_as_it_should() {
        let rest = icosphere(1).positions().to_vec();
        let frame = |k: f64| RigidMotion {
            rotation: DQuat::from_rotation_z(k),
            translation: DVec3::X * k,
        };
        let mut frames: Vec<Vec<DVec3>> = [0.0, 0.5, 1.0]
            .map(|k| rest.iter().map(|p| frame(k).apply(*p)).collect())
            .to_vec();
        let motion = ObstacleMotion::fit(&rest, &frames).unwrap().lasting(10.0);
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
                PhysicsError::BendingObstacle {
                    frame: 1,
                    vertex: 7,
                    ..
                }
            ),
            "{error}"
        );
    }
}
