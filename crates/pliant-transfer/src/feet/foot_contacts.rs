//! Foot contact detection: the vertices of a clip that stand on its ground.
//!
//! **Problem.** A clip does not contain when its feet stand, nor whether its ground moves: a
//! character that walks in place stands on a ground that moves backwards.
//!
//! **Method.** The ground is horizontal, at the lowest height of the clip, and moves by one step `g`
//! from each frame to the next: the step of most vertices near it, or zero if that is too small. A
//! vertex is *planted* in an interval of at least `least_frames` frames in which it is near the
//! ground and hardly moves relative to it.
//!
//! **Source.** Wang and Lee, "Example-driven animation synthesis", 2008, name it an open problem in
//! section 5.
//!
//! **Departures.** The method is our own.

use pliant_mesh::glam::DVec3;
use pliant_rig::Clip;

use crate::TransferError;
use crate::extent::diagonal;

/// Steps that are tried as that of the ground, at regular intervals of all steps near it.
const GROUND_CANDIDATES: usize = 256;

/// Iterations in which the ground's step becomes the mean of the steps near it.
const GROUND_ITERATIONS: usize = 4;

/// When a vertex counts as planted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FootContactOptions {
    up: DVec3,
    height: f64,
    speed: f64,
    least_frames: usize,
}

impl Default for FootContactOptions {
    fn default() -> Self {
        Self {
            up: DVec3::Y,
            height: Self::DEFAULT_HEIGHT,
            speed: Self::DEFAULT_SPEED,
            least_frames: Self::DEFAULT_LEAST_FRAMES,
        }
    }
}

impl FootContactOptions {
    /// Chosen: the height of a hoof, relative to the diagonal.
    pub const DEFAULT_HEIGHT: f64 = 0.03;
    /// Chosen: a tenth of the step of a walking animal's foot from frame to frame, relative to the
    /// diagonal.
    pub const DEFAULT_SPEED: f64 = 0.004;
    /// Chosen: a foot that only passes its lowest point rests for two frames at most.
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

    /// The height above the lowest vertex of the clip that counts as ground, relative to the
    /// diagonal of the reference.
    #[must_use]
    pub fn with_height(self, height: f64) -> Self {
        Self { height, ..self }
    }

    /// The largest step of a planted vertex relative to the ground from frame to frame, relative to
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
    /// Detects the contacts in all frames of `clip`.
    ///
    /// # Errors
    /// A clip without frames, or a position that is not finite.
    pub fn find(clip: &Clip, options: &FootContactOptions) -> Result<Self, TransferError> {
        TransferError::check_frames(clip)?;
        let ground = Ground::of(clip, options);
        let ground_step = most_common_step(&ground.horizontal_steps(), ground.tolerance);

        // A run ends with the first frame in which the vertex does not rest, or with the clip.
        let frames = clip.frames().len();
        let mut planted = vec![Vec::new(); frames];
        for v in 0..clip.reference().vertex_count() {
            let mut first = 0;
            for f in 1..=frames {
                if f < frames && ground.rests(f, v, ground_step) {
                    continue;
                }
                if f - first >= options.least_frames {
                    for frame in &mut planted[first..f] {
                        frame.push(v as u32);
                    }
                }
                first = f;
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

    /// The displacement of the ground from each frame to the next: zero for a character that moves
    /// forwards.
    #[must_use]
    pub fn ground_step(&self) -> DVec3 {
        self.ground_step
    }
}

/// The ground of a clip.
struct Ground<'a> {
    frames: &'a [Vec<DVec3>],
    up: DVec3,
    level: f64,
    /// Vertices below this height above the level are near the ground.
    height: f64,
    /// The largest step of a vertex that rests.
    tolerance: f64,
}

impl<'a> Ground<'a> {
    fn of(clip: &'a Clip, options: &FootContactOptions) -> Self {
        let diagonal = diagonal(clip.reference());
        let mut level = f64::INFINITY;
        for position in clip.frames().iter().flatten() {
            level = level.min(options.up.dot(*position));
        }
        Self {
            frames: clip.frames(),
            up: options.up,
            level,
            height: options.height * diagonal,
            tolerance: options.speed * diagonal,
        }
    }

    fn is_low(&self, frame: usize, v: usize) -> bool {
        self.up.dot(self.frames[frame][v]) - self.level <= self.height
    }

    /// Whether a vertex is near the ground in a frame and in the one before.
    fn stays_low(&self, frame: usize, v: usize) -> bool {
        self.is_low(frame, v) && self.is_low(frame - 1, v)
    }

    fn step(&self, frame: usize, v: usize) -> DVec3 {
        self.frames[frame][v] - self.frames[frame - 1][v]
    }

    /// Whether a vertex near the ground moves with it from the frame before.
    fn rests(&self, frame: usize, v: usize, ground_step: DVec3) -> bool {
        self.stays_low(frame, v) && self.step(frame, v).distance(ground_step) <= self.tolerance
    }

    /// The horizontal steps of all vertices that stay near the ground.
    fn horizontal_steps(&self) -> Vec<DVec3> {
        let mut steps = Vec::new();
        for f in 1..self.frames.len() {
            for v in 0..self.frames[f].len() {
                if self.stays_low(f, v) {
                    steps.push(self.step(f, v).reject_from_normalized(self.up));
                }
            }
        }
        steps
    }
}

/// The step that has most of `steps` within `tolerance`; zero if it is not longer than `tolerance`,
/// or if there are none.
fn most_common_step(steps: &[DVec3], tolerance: f64) -> DVec3 {
    // Mode seeking: the candidate with most steps near it, then mean shift.
    let stride = steps.len().div_ceil(GROUND_CANDIDATES).max(1);
    let mut step = DVec3::ZERO;
    let mut most = near(steps, step, tolerance).count();
    for &candidate in steps.iter().step_by(stride) {
        let count = near(steps, candidate, tolerance).count();
        if count > most {
            step = candidate;
            most = count;
        }
    }

    for _ in 0..GROUND_ITERATIONS {
        let count = near(steps, step, tolerance).count();
        if count > 0 {
            step = near(steps, step, tolerance).sum::<DVec3>() / count as f64;
        }
    }

    if step.length() <= tolerance {
        DVec3::ZERO
    } else {
        step
    }
}

/// The steps within `tolerance` of `center`.
fn near(steps: &[DVec3], center: DVec3, tolerance: f64) -> impl Iterator<Item = &DVec3> {
    steps
        .iter()
        .filter(move |step| step.distance(center) <= tolerance)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_shapes::{leg, stepping};

    #[test]
    fn only_the_sole_is_planted_and_only_while_it_stands() {
        let clip = stepping(&leg(1.0));
        let contacts = FootContacts::find(&clip, &FootContactOptions::default()).unwrap();
        for k in 0..9 {
            assert_eq!(
                contacts.at(k),
                if k < 6 { &[0, 1, 2, 3][..] } else { &[] },
                "frame {k}"
            );
        }
    }

    #[test]
    fn a_rest_of_two_frames_is_no_contact() {
        let mesh = leg(1.0);
        let frame = |k: usize| {
            mesh.positions()
                .iter()
                .map(|p| *p + DVec3::X * (k / 2) as f64)
                .collect()
        };

        let clip = Clip::new("hops", mesh.clone(), (0..6).map(frame).collect()).unwrap();
        let contacts = FootContacts::find(&clip, &FootContactOptions::default()).unwrap();
        assert!((0..6).all(|k| contacts.at(k).is_empty()));
    }

    #[test]
    fn a_moving_ground_gives_the_same_contacts_as_a_resting_one() {
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
            .map(|clip| FootContacts::find(&clip, &FootContactOptions::default()).unwrap());
        assert_eq!(still.ground_step(), DVec3::ZERO);
        assert!(
            moving.ground_step().distance(step) < 1e-12,
            "{}",
            moving.ground_step()
        );

        assert!((0..9).all(|k| still.at(k) == moving.at(k)));
    }
}
