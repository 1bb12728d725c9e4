//! Feet that stand: vertices of a clip that rest on its ground.
//!
//! **Problem.** A clip does not say when its feet stand, nor whether its ground does: an animal
//! that walks on the spot stands on a ground that is carried back under it.
//!
//! **Method.** The ground is level, at the lowest height of the clip, and moves by one step `g`
//! from each frame to the next: the step that most vertices near it make, or none where that is
//! hardly a step. A vertex is *planted* over a run of at least `least_frames` frames in which it is
//! near the ground and hardly moves against it.
//!
//! **Source.** Wang and Lee, "Example-driven animation synthesis", 2008, name it an open problem in
//! section 5.
//!
//! **Ours.** All of it.

use pliant_mesh::glam::DVec3;
use pliant_rig::Clip;

use crate::TransferError;
use crate::flexibility::require_frames;

/// Steps that are tried as that of the ground: evenly taken from all steps near it.
const GROUND_CANDIDATES: usize = 256;

/// Rounds in which the ground's step becomes the mean of those near it.
const GROUND_ROUNDS: usize = 4;

/// When a vertex counts as planted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContactOptions {
    up: DVec3,
    height: f64,
    speed: f64,
    least_frames: usize,
}

impl Default for ContactOptions {
    fn default() -> Self {
        Self {
            up: DVec3::Y,
            height: Self::DEFAULT_HEIGHT,
            speed: Self::DEFAULT_SPEED,
            least_frames: Self::DEFAULT_LEAST_FRAMES,
        }
    }
}

impl ContactOptions {
    /// *Ours*: the height of a hoof, as part of the diagonal.
    pub const DEFAULT_HEIGHT: f64 = 0.03;
    /// *Ours*: a tenth of what the foot of a walking animal covers from frame to frame, as part of
    /// the diagonal.
    pub const DEFAULT_SPEED: f64 = 0.004;
    /// *Ours*: a foot that only passes its lowest point rests for two frames at most.
    pub const DEFAULT_LEAST_FRAMES: usize = 3;

    /// The direction away from the ground. Default: y.
    #[must_use]
    pub fn with_up(self, up: DVec3) -> Self {
        Self {
            up: up.normalize_or(DVec3::Y),
            ..self
        }
    }

    pub(crate) fn up(&self) -> DVec3 {
        self.up
    }

    /// How far above the lowest vertex of the clip the ground reaches, as part of the diagonal of
    /// the reference.
    #[must_use]
    pub fn with_height(self, height: f64) -> Self {
        Self { height, ..self }
    }

    /// How far a planted vertex moves against the ground from frame to frame at most, as part of
    /// the diagonal of the reference.
    #[must_use]
    pub fn with_speed(self, speed: f64) -> Self {
        Self { speed, ..self }
    }
}

/// The planted vertices of every frame of a clip.
#[derive(Debug, Clone, PartialEq)]
pub struct FootContacts {
    planted: Vec<Vec<u32>>,
    ground_step: DVec3,
}

impl FootContacts {
    /// Looks for them in all frames of `clip`.
    ///
    /// # Errors
    /// A clip without frames, or a position that is not finite.
    pub fn find(clip: &Clip, options: &ContactOptions) -> Result<Self, TransferError> {
        require_frames(clip)?;
        let frames = clip.frames();
        let diagonal = clip
            .reference()
            .bounds()
            .map_or(0.0, |bounds| bounds.diagonal());
        let ground = frames
            .iter()
            .flatten()
            .map(|p| options.up.dot(*p))
            .fold(f64::INFINITY, f64::min);
        let low = |p: DVec3| options.up.dot(p) - ground <= options.height * diagonal;
        let stays_low = |f: usize, v: usize| low(frames[f][v]) && low(frames[f - 1][v]);
        let slack = options.speed * diagonal;
        let steps = (1..frames.len()).flat_map(|f| {
            (0..frames[f].len())
                .filter(move |&v| stays_low(f, v))
                .map(move |v| (f, v))
        });
        let level_step = |(f, v): (usize, usize)| {
            (frames[f][v] - frames[f - 1][v]).reject_from_normalized(options.up)
        };
        let ground_step = most_common_step(&steps.map(level_step).collect::<Vec<_>>(), slack);
        let rests = |f: usize, v: usize| {
            stays_low(f, v) && (frames[f][v] - frames[f - 1][v]).distance(ground_step) <= slack
        };
        let mut planted = vec![Vec::new(); frames.len()];
        for v in 0..clip.reference().vertex_count() {
            let mut first = 0;
            for f in 1..=frames.len() {
                if f == frames.len() || !rests(f, v) {
                    if f - first >= options.least_frames {
                        planted[first..f]
                            .iter_mut()
                            .for_each(|frame| frame.push(v as u32));
                    }
                    first = f;
                }
            }
        }
        Ok(Self {
            planted,
            ground_step,
        })
    }

    /// The vertices that are planted in `frame`, ascending.
    #[must_use]
    pub fn at(&self, frame: usize) -> &[u32] {
        &self.planted[frame]
    }

    /// How far the ground moves from each frame to the next: zero for a clip that covers its way.
    #[must_use]
    pub fn ground_step(&self) -> DVec3 {
        self.ground_step
    }
}

/// The step that has most of `steps` within `slack`; zero if that is no longer than `slack`, or if
/// there are none.
fn most_common_step(steps: &[DVec3], slack: f64) -> DVec3 {
    let near = |center: DVec3| {
        steps
            .iter()
            .filter(move |step| step.distance(center) <= slack)
    };
    let stride = steps.len().div_ceil(GROUND_CANDIDATES).max(1);
    let candidates = std::iter::once(DVec3::ZERO).chain(steps.iter().copied().step_by(stride));
    let counted = candidates.map(|candidate| (near(candidate).count(), candidate));
    let (_, mut step) = counted.fold(
        (0, DVec3::ZERO),
        |best, next| if next.0 > best.0 { next } else { best },
    );
    for _ in 0..GROUND_ROUNDS {
        let count = near(step).count();
        if count > 0 {
            step = near(step).sum::<DVec3>() / count as f64;
        }
    }
    if step.length() <= slack {
        DVec3::ZERO
    } else {
        step
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_shapes::{leg, stepping};

    #[test]
    fn the_sole_is_planted_while_it_stands_and_nothing_else_is() {
        let clip = stepping(&leg(1.0));
        let contacts = FootContacts::find(&clip, &ContactOptions::default()).unwrap();
        for k in 0..9 {
            assert_eq!(
                contacts.at(k),
                if k < 6 { &[0, 1, 2, 3][..] } else { &[] },
                "frame {k}"
            );
        }
    }

    #[test]
    fn a_rest_of_two_frames_is_no_stand() {
        let mesh = leg(1.0);
        let frame = |k: usize| {
            mesh.positions()
                .iter()
                .map(|p| *p + DVec3::X * (k / 2) as f64)
                .collect()
        };
        let clip = Clip::new("hops", mesh.clone(), (0..6).map(frame).collect()).unwrap();
        let contacts = FootContacts::find(&clip, &ContactOptions::default()).unwrap();
        assert!((0..6).all(|k| contacts.at(k).is_empty()));
    }

    #[test]
    fn on_a_ground_that_moves_the_sole_is_planted_as_on_one_that_rests() {
        let still = stepping(&leg(1.0));
        let step = DVec3::new(-0.2, 0.0, 0.1);
        let carried =
            |(k, frame): (usize, &Vec<DVec3>)| frame.iter().map(|p| *p + step * k as f64).collect();
        let clip = Clip::new(
            "on the spot",
            leg(1.0),
            still.frames().iter().enumerate().map(carried).collect(),
        )
        .unwrap();
        let [still, moving] = [still, clip]
            .map(|clip| FootContacts::find(&clip, &ContactOptions::default()).unwrap());
        assert_eq!(still.ground_step(), DVec3::ZERO);
        assert!(
            moving.ground_step().distance(step) < 1e-12,
            "{}",
            moving.ground_step()
        );
        assert!((0..9).all(|k| still.at(k) == moving.at(k)));
    }
}
