//! Touching a surface from the first frame to the last: where colliders and pulls are in each, and
//! what becomes of the skin.
//!
//! **Problem.** A touch goes somewhere and comes back, on a surface that stands still or plays a
//! clip of its own, at a rate that need not be the clip's.
//!
//! **Equation.** In frame `i` of `N` everything has gone the share `s = 1 − |2i/(N−1) − 1|` of its
//! way, or, where it stays there, `s = min(1, 2i/(N−1))`.
//!
//! **Ours.** The patch is chosen on the surface as it is in the first frame, where the touch
//! begins, unless it was chosen before.

use std::borrow::Cow;
use std::ops::ControlFlow;

use pliant_linalg::RigidMotion;
use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, Progress};
use pliant_physics::{
    Collider, ObstacleMotion, PhysicsError, SoftPatch, SoftRegion, Touch, TouchFrame, TouchOptions,
};
use pliant_rig::{Clip, Target};
use thiserror::Error;
use web_time::Instant;

use crate::touched_clip::TouchedClip;

/// A solid and its way.
#[derive(Debug, Clone)]
pub struct TouchCollider {
    /// The solid.
    pub collider: Collider,
    /// Its own motion, in seconds.
    pub motion: ObstacleMotion,
    /// How long that lasts; 0 where it has none.
    pub motion_secs: f64,
    /// Where the touch takes it beside that.
    pub toward: DVec3,
}

/// How a touch goes on after it has gone all its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stroke {
    /// Back to where it began.
    #[default]
    ToAndFro,
    /// It stays there.
    Hold,
    /// Colliders go back, pulls let go at once.
    LetGo,
}

/// A surface and what touches it.
#[derive(Debug, Clone)]
pub struct TouchJob {
    /// The surface.
    pub mesh: Mesh,
    /// What it does by itself; without it, it stands still.
    pub animation: Option<Clip>,
    /// Where it is soft.
    pub patches: Vec<SoftPatch>,
    /// The vertices of those patches, where they were chosen before [default: those within the
    /// patches on the first frame's shape].
    pub region: Option<SoftRegion>,
    /// What it gives way to.
    pub colliders: Vec<TouchCollider>,
    /// Soft vertices, and how far each is pulled from the surface's own shape.
    pub pulls: Vec<(usize, DVec3)>,
    /// How the touch goes on.
    pub stroke: Stroke,
    /// What it is made of and how it is simulated.
    pub options: TouchOptions,
    /// Frames of the touch [default: as many as its animations have, or
    /// [`DEFAULT_FRAMES`](Self::DEFAULT_FRAMES)].
    pub frames: Option<usize>,
    /// How long it is watched afterwards.
    pub settle_secs: f64,
    /// Frames per second.
    pub fps: f64,
}

/// Why a surface cannot be touched so.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TouchError {
    /// What the simulation declines.
    #[error(transparent)]
    Physics(#[from] PhysicsError),
    /// There is nothing to be made, or more than anyone watches.
    #[error(
        "a touch of {frames} frame(s) is none that can be made; give 1 to {most}, by its frames, its rate or the time it settles"
    )]
    FrameCount {
        /// How many there would be.
        frames: usize,
        /// How many there may be.
        most: usize,
    },
    /// More than fits into memory.
    #[error(
        "{frames} frames of {vertices} vertices need {gigabytes} GB; take fewer frames, a lower rate, or a part of the mesh"
    )]
    TooMuch {
        /// Frames.
        frames: usize,
        /// Vertices.
        vertices: usize,
        /// What they take.
        gigabytes: usize,
    },
    /// An animation of another mesh, or without frames.
    #[error(
        "the animation has {frames} frame(s) of {found} vertices for a mesh of {expected}; give a clip of the same mesh"
    )]
    OtherAnimation {
        /// Its frames.
        frames: usize,
        /// Its vertices.
        found: usize,
        /// The mesh's vertices.
        expected: usize,
    },
    /// A frame that adds nothing.
    #[error(
        "frame {frame} of the touch moves nothing, so that it makes no target; choose another, or let something reach the patch"
    )]
    NoTarget {
        /// Counted from 0.
        frame: usize,
    },
    /// Someone asked to stop.
    #[error("cancelled; nothing was written")]
    Cancelled,
}

impl TouchJob {
    /// Ours: a second, with the turn on a frame.
    pub const DEFAULT_FRAMES: usize = 61;
    /// A day at 24 frames a second is more than any shot has: ours.
    pub const MOST_FRAMES: usize = 24 * 86_400;
    /// What all frames together may take: ours, what a workstation has to spare.
    pub const MOST_BYTES: usize = 8 << 30;
    /// The rate that a touch is simulated at unless one asks for another: that of the contract, and
    /// of most displays.
    pub const DEFAULT_FPS: f64 = 60.0;

    /// A touch of `mesh` in `patches` by nothing so far.
    #[must_use]
    pub fn new(mesh: Mesh, patches: Vec<SoftPatch>) -> Self {
        Self {
            mesh,
            animation: None,
            patches,
            region: None,
            colliders: Vec::new(),
            pulls: Vec::new(),
            stroke: Stroke::ToAndFro,
            options: TouchOptions::default(),
            frames: None,
            settle_secs: 0.0,
            fps: Self::DEFAULT_FPS,
        }
    }

    /// Frames of the touch itself.
    #[must_use]
    pub fn way_frames(&self) -> usize {
        let clip_secs = self.animation.as_ref().map_or(0.0, Clip::duration_secs);
        let longest = self
            .colliders
            .iter()
            .map(|collider| collider.motion_secs)
            .fold(clip_secs, f64::max);
        // Rounding may not cost the last frame.
        let of_animations = ((longest * self.fps + 1e-6) as usize).saturating_add(1);
        self.frames.unwrap_or(if longest > 0.0 {
            of_animations
        } else {
            Self::DEFAULT_FRAMES
        })
    }

    /// All frames, with those in which it settles.
    #[must_use]
    pub fn frame_count(&self) -> usize {
        self.way_frames()
            .saturating_add((self.settle_secs * self.fps).round() as usize)
    }

    /// The share of its way that a touch has gone in a frame.
    #[must_use]
    pub fn share(&self, frame: usize) -> f64 {
        let last = self.way_frames().saturating_sub(1);
        if last == 0 {
            return 0.0;
        }
        let there = 2.0 * frame.min(last) as f64 / last as f64;
        if self.stroke == Stroke::Hold {
            there.min(1.0)
        } else {
            1.0 - (there - 1.0).abs()
        }
    }

    /// The surface's own shape in a frame.
    #[must_use]
    pub fn shape(&self, frame: usize) -> Cow<'_, [DVec3]> {
        let own = Cow::Borrowed(self.mesh.positions());
        self.animation
            .as_ref()
            .map_or(own, |clip| clip.positions_at(frame as f64 / self.fps))
    }

    /// Simulates all frames.
    ///
    /// # Errors
    /// What the simulation declines, animations of other meshes, work that was cancelled.
    pub fn run(&self, progress: &dyn Progress) -> Result<TouchedClip, TouchError> {
        let mesh = self.first_shape()?;
        report(progress, "finding the patch", 0.0)?;
        let began = Instant::now();
        let region = self
            .region
            .clone()
            .map_or_else(|| SoftRegion::select(&mesh, &self.patches), Ok)?;
        let select_ms = began.elapsed().as_secs_f64() * 1e3;
        self.pulls
            .iter()
            .try_for_each(|&(vertex, _)| mesh.require_vertex(vertex))
            .map_err(PhysicsError::from)?;
        let mut touch = Touch::on(&mesh, region, &self.options)?;
        self.colliders
            .iter()
            .try_for_each(|solid| touch.add_collider(solid.collider.clone()))?;
        let mut clip = TouchedClip::begin(self, &touch, select_ms);
        for frame in 0..self.frame_count() {
            report(
                progress,
                "touching",
                frame as f64 / self.frame_count() as f64,
            )?;
            self.step(frame, &mut touch, &mut clip)?;
        }
        Ok(clip)
    }

    /// What a frame adds to the surface's own shape, as a target.
    ///
    /// # Errors
    /// [`TouchError::NoTarget`] where that is nothing.
    ///
    /// # Panics
    /// If the clip, which must be this touch's, has no such frame.
    pub fn target(
        &self,
        clip: &TouchedClip,
        frame: usize,
        name: &str,
    ) -> Result<Target, TouchError> {
        let shape = self.shape(frame);
        let added = clip.frames[frame]
            .iter()
            .zip(shape.iter())
            .map(|(touched, own)| (*touched - *own).as_vec3());
        let target = Target::from_dense(name, added);
        if target.vertices.is_empty() {
            Err(TouchError::NoTarget { frame })
        } else {
            Ok(target)
        }
    }

    /// Where colliders are in a frame, from where they were made.
    pub(crate) fn motions(&self, frame: usize) -> Vec<RigidMotion> {
        let moved = |solid: &TouchCollider| {
            let own = solid.motion.at(frame as f64 / self.fps);
            RigidMotion {
                translation: own.translation + solid.toward * self.share(frame),
                ..own
            }
        };
        self.colliders.iter().map(moved).collect()
    }

    fn step(
        &self,
        frame: usize,
        touch: &mut Touch,
        clip: &mut TouchedClip,
    ) -> Result<(), TouchError> {
        let (shape, motions) = (self.shape(frame), self.motions(frame));
        let pulls = self.pulls_at(frame, &shape);
        let shape = self.animation.is_some().then_some(shape.as_ref());
        let began = Instant::now();
        let report = touch.step(&TouchFrame {
            shape,
            colliders: &motions,
            pulls: &pulls,
            secs: 1.0 / self.fps,
        })?;
        clip.add(
            self,
            touch,
            &motions,
            report,
            began.elapsed().as_secs_f64() * 1e3,
        );
        Ok(())
    }

    /// Places of pulled vertices; none where a pull has let go.
    fn pulls_at(&self, frame: usize, shape: &[DVec3]) -> Vec<(usize, DVec3)> {
        let share = self.share(frame);
        let turn = 0.5 * self.way_frames().saturating_sub(1) as f64;
        if share == 0.0 || (self.stroke == Stroke::LetGo && frame as f64 > turn) {
            return Vec::new();
        }
        self.pulls
            .iter()
            .map(|&(vertex, way)| (vertex, shape[vertex] + way * share))
            .collect()
    }

    /// The surface where the touch begins.
    fn first_shape(&self) -> Result<Mesh, TouchError> {
        let (frames, most) = (self.frame_count(), Self::MOST_FRAMES);
        if !(1..=most).contains(&frames) {
            return Err(TouchError::FrameCount { frames, most });
        }
        let (vertices, bytes) = (
            self.mesh.vertex_count(),
            frames
                .saturating_mul(self.mesh.vertex_count())
                .saturating_mul(size_of::<DVec3>()),
        );
        if bytes > Self::MOST_BYTES {
            return Err(TouchError::TooMuch {
                frames,
                vertices,
                gigabytes: bytes >> 30,
            });
        }
        if let Some(clip) = &self.animation {
            let (frames, found, expected) = (
                clip.frames().len(),
                clip.reference().vertex_count(),
                self.mesh.vertex_count(),
            );
            if frames == 0 || found != expected {
                return Err(TouchError::OtherAnimation {
                    frames,
                    found,
                    expected,
                });
            }
        }
        Ok(self
            .mesh
            .posed(self.shape(0).into_owned())
            .map_err(PhysicsError::from)?)
    }
}

fn report(progress: &dyn Progress, stage: &str, done: f64) -> Result<(), TouchError> {
    match progress.report(stage, done) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(TouchError::Cancelled),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::shapes::icosphere;
    use pliant_physics::Obstacle;

    fn pressed() -> TouchJob {
        let collider = Collider::new(Obstacle::sphere(DVec3::X * 1.4, 0.3).unwrap(), 0.0).unwrap();
        let solid = TouchCollider {
            collider,
            motion: ObstacleMotion::still(),
            motion_secs: 0.0,
            toward: DVec3::X * -0.4,
        };
        let mesh = icosphere(2);
        let nearest = (0..mesh.vertex_count())
            .max_by(|&a, &b| mesh.positions()[a].x.total_cmp(&mesh.positions()[b].x))
            .unwrap();
        TouchJob {
            colliders: vec![solid],
            ..TouchJob::new(
                mesh,
                vec![SoftPatch {
                    center: nearest,
                    radius: 0.8,
                }],
            )
        }
    }

    #[test]
    fn a_touch_has_gone_all_its_way_in_the_middle_and_is_back_at_the_end() {
        let job = TouchJob {
            frames: Some(9),
            settle_secs: 0.5,
            ..pressed()
        };
        let shares: Vec<f64> = (0..10).map(|frame| job.share(frame)).collect();
        assert_eq!(
            shares,
            [0.0, 0.25, 0.5, 0.75, 1.0, 0.75, 0.5, 0.25, 0.0, 0.0]
        );
        assert_eq!(job.frame_count(), 39);
        let held = TouchJob {
            stroke: Stroke::Hold,
            ..job.clone()
        };
        assert!((4..39).all(|frame| held.share(frame) == 1.0));
        assert_eq!(
            TouchJob {
                frames: Some(1),
                ..job
            }
            .share(0),
            0.0
        );
    }

    #[test]
    fn a_target_on_top_of_the_shape_is_the_touched_frame() {
        let job = pressed();
        let clip = job.run(&()).unwrap();
        let frame = clip.furthest_frame();
        assert_eq!(frame, TouchJob::DEFAULT_FRAMES / 2);
        let mut positions = job.shape(frame).into_owned();
        job.target(&clip, frame, "dent")
            .unwrap()
            .add_to(1.0, &mut positions);
        assert!(
            positions
                .iter()
                .zip(&clip.frames[frame])
                .all(|(a, b)| a.distance(*b) < 1e-7)
        );
        assert!(matches!(
            job.target(&clip, 0, "none"),
            Err(TouchError::NoTarget { frame: 0 })
        ));
    }

    #[test]
    fn a_region_that_was_chosen_before_is_the_one_that_gives_way() {
        let job = pressed();
        let smaller = [SoftPatch {
            radius: 0.5,
            ..job.patches[0]
        }];
        let chosen = TouchJob {
            region: Some(SoftRegion::select(&job.mesh, &smaller).unwrap()),
            ..job.clone()
        };
        let expected = TouchJob {
            patches: smaller.to_vec(),
            ..job
        };
        assert_eq!(
            chosen.run(&()).unwrap().frames,
            expected.run(&()).unwrap().frames
        );
    }

    #[test]
    fn work_that_is_cancelled_says_so() {
        struct Once(std::sync::atomic::AtomicUsize);
        impl Progress for Once {
            fn report(&self, _: &str, _: f64) -> ControlFlow<()> {
                let asked = self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                if asked < 5 {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                }
            }
        }
        assert!(matches!(
            pressed().run(&Once(0.into())),
            Err(TouchError::Cancelled)
        ));
    }

    #[test]
    fn what_does_not_fit_is_declined() {
        assert!(matches!(
            TouchJob {
                frames: Some(0),
                ..pressed()
            }
            .run(&()),
            Err(TouchError::FrameCount { frames: 0, .. })
        ));
        let other = Clip::new(
            "other",
            icosphere(1),
            vec![icosphere(1).positions().to_vec()],
        )
        .unwrap();
        let wrong = TouchJob {
            animation: Some(other),
            ..pressed()
        }
        .run(&());
        assert!(matches!(
            wrong,
            Err(TouchError::OtherAnimation {
                frames: 1,
                found: 42,
                expected: 162
            })
        ));
    }
}
