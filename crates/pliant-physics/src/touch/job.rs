//! A touch simulated from the first frame to the last, with colliders and pulls that move.
//!
//! **Problem.** Colliders and pulls move to a full displacement and, in general, back again. The
//! surface stands still or plays its own clip, whose frame rate may differ from that of the touch.
//!
//! **Equation.** In frame `i` of `N`, every displacement is scaled by the share
//! `s = 1 − |2i/(N−1) − 1|`; a touch that is held uses `s = min(1, 2i/(N−1))`.
//!
//! A collider may have its own timing, a curve of `s` over time, and may ride on a vertex `v` of the
//! animated surface: with the rigid motion `M` that fits the two rings around `v` best from the first
//! frame to this one (Horn 1987), its motion is `M ∘ own`.
//!
//! **Departures.** The patches are selected on the shape of the first frame, where the touch
//! begins, unless the caller gives the soft region.

use std::borrow::Cow;

use pliant_linalg::RigidMotion;
use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, Progress, Stopped, VertexId};
use pliant_rig::{Clip, Target};
use thiserror::Error;
use web_time::Instant;

use super::touched_clip::TouchedClip;
use crate::{
    Collider, ObstacleMotion, PhysicsError, SoftPatch, SoftRegion, Touch, TouchFrame, TouchOptions,
};

/// A collider and its path.
#[derive(Debug, Clone)]
pub struct TouchCollider {
    /// The solid.
    pub collider: Collider,
    /// Its own rigid motion over time, in seconds.
    pub motion: ObstacleMotion,
    /// Duration of that motion; 0 for a collider without one.
    pub motion_secs: f64,
    /// Displacement that the touch adds at share 1.
    pub displacement: DVec3,
    /// The share over time; none for that of the touch.
    pub timing: Option<TouchTiming>,
    /// The vertex of the surface that it rides on.
    pub rides_on: Option<VertexId>,
}

/// A curve of the share of a displacement over time: linear between keys, constant beyond them.
#[derive(Debug, Clone, PartialEq)]
pub struct TouchTiming {
    keys: Vec<(f64, f64)>,
}

impl TouchTiming {
    /// Keys of a time in seconds and a share, where 1 is the full displacement.
    ///
    /// # Errors
    /// [`PhysicsError::Timing`] without a key, for numbers that are not finite, and for times that do
    /// not ascend.
    pub fn new(keys: Vec<(f64, f64)>) -> Result<Self, PhysicsError> {
        let is_sound = |key: usize| {
            let (time, share) = keys[key];
            let ascends = key == 0 || time > keys[key - 1].0;
            time.is_finite() && share.is_finite() && ascends
        };
        match (0..keys.len().max(1)).find(|&key| key >= keys.len() || !is_sound(key)) {
            Some(key) => Err(PhysicsError::Timing { key }),
            None => Ok(Self { keys }),
        }
    }

    /// The share at a time.
    #[must_use]
    pub fn at(&self, secs: f64) -> f64 {
        let after = self.keys.partition_point(|key| key.0 <= secs);
        let last = self.keys.len() - 1;
        let (t0, s0) = self.keys[after.saturating_sub(1)];
        let (t1, s1) = self.keys[after.min(last)];
        if t1 > t0 {
            s0 + (s1 - s0) * ((secs - t0) / (t1 - t0)).clamp(0.0, 1.0)
        } else {
            s0
        }
    }

    /// The time of the last key.
    #[must_use]
    pub fn end_secs(&self) -> f64 {
        self.keys[self.keys.len() - 1].0
    }
}

/// How a touch continues after it has reached its full displacement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TouchEnding {
    /// Colliders and pulls return to where they began.
    #[default]
    Return,
    /// Colliders and pulls stay at the full displacement.
    Hold,
    /// Colliders return; pulls are released at once.
    Release,
}

/// A surface, the soft patches on it, and what touches them.
#[derive(Debug, Clone)]
pub struct TouchJob {
    /// The surface.
    pub mesh: Mesh,
    /// Its own animation; without one it stands still.
    pub animation: Option<Clip>,
    /// The soft patches.
    pub patches: Vec<SoftPatch>,
    /// The vertices of the patches, where the caller selected them before [default: those within
    /// the patches on the shape of the first frame].
    pub region: Option<SoftRegion>,
    /// The solids that press on the patches.
    pub colliders: Vec<TouchCollider>,
    /// Soft vertices, and the displacement of each pull from the animated shape at share 1.
    pub pulls: Vec<(usize, DVec3)>,
    /// What follows the full displacement.
    pub ending: TouchEnding,
    /// Material and method of the simulation.
    pub options: TouchOptions,
    /// Frames of the touch [default: as many as its animations have, or
    /// [`DEFAULT_FRAMES`](Self::DEFAULT_FRAMES)].
    pub frames: Option<usize>,
    /// Simulated time after the touch.
    pub settle_secs: f64,
    /// Frames per second.
    pub fps: f64,
}

/// Why a touch cannot be simulated.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TouchError {
    /// The simulation rejects its input.
    #[error(transparent)]
    Physics(#[from] PhysicsError),
    /// No frame, or too many.
    #[error(
        "a touch of {frames} frame(s) cannot be simulated; give 1 to {most} frames by the frame count, the frame rate or the settle time"
    )]
    FrameCount {
        /// The frames that the job asks for.
        frames: usize,
        /// The greatest number of frames.
        most: usize,
    },
    /// The frames do not fit into memory.
    #[error(
        "{frames} frames of {vertices} vertices need {gigabytes} GB; use fewer frames, a lower frame rate, or a part of the mesh"
    )]
    Memory {
        /// Frames.
        frames: usize,
        /// Vertices.
        vertices: usize,
        /// Their size.
        gigabytes: usize,
    },
    /// The animation belongs to another mesh, or has no frame.
    #[error(
        "the animation has {frames} frame(s) of {found} vertices for a mesh of {expected}; give a clip of the same mesh"
    )]
    AnimationMismatch {
        /// Frames of the animation.
        frames: usize,
        /// Vertices of the animation.
        found: usize,
        /// Vertices of the mesh.
        expected: usize,
    },
    /// A frame that equals the animated shape gives no target.
    #[error(
        "frame {frame} of the touch moves nothing, so it gives no target; choose another frame, or let a collider reach the patch"
    )]
    EmptyTarget {
        /// Counted from 0.
        frame: usize,
    },
    /// A frame that the touch does not have.
    #[error("the touch has {frames} frames, so there is no frame {frame}; frames count from 0")]
    NoSuchFrame {
        /// The requested frame.
        frame: usize,
        /// How many there are.
        frames: usize,
    },
    /// The caller stopped the work.
    #[error("stopped; nothing was written")]
    Stopped(#[from] Stopped),
}

impl TouchJob {
    /// Chosen: one second at the default frame rate, with the full displacement on a frame.
    pub const DEFAULT_FRAMES: usize = 61;
    /// Chosen: a day at 24 frames a second, more than any shot has.
    pub const MOST_FRAMES: usize = 24 * 86_400;
    /// Chosen: what a workstation can spare for the positions of all frames.
    pub const MOST_BYTES: usize = 8 << 30;
    /// Chosen: the refresh rate of most displays, in frames per second.
    pub const DEFAULT_FPS: f64 = 60.0;

    /// A touch of `mesh` in `patches`, without colliders and pulls.
    #[must_use]
    pub fn new(mesh: Mesh, patches: Vec<SoftPatch>) -> Self {
        Self {
            mesh,
            animation: None,
            patches,
            region: None,
            colliders: Vec::new(),
            pulls: Vec::new(),
            ending: TouchEnding::Return,
            options: TouchOptions::default(),
            frames: None,
            settle_secs: 0.0,
            fps: Self::DEFAULT_FPS,
        }
    }

    /// Frames of the touch itself, without those in which it settles.
    #[must_use]
    pub fn touch_frames(&self) -> usize {
        if let Some(frames) = self.frames {
            return frames;
        }

        let mut longest_secs = self.animation.as_ref().map_or(0.0, Clip::duration_secs);
        for collider in &self.colliders {
            let timing = collider.timing.as_ref();
            longest_secs = longest_secs
                .max(collider.motion_secs)
                .max(timing.map_or(0.0, TouchTiming::end_secs));
        }
        if longest_secs > 0.0 {
            // Without the small addition, rounding could drop the last frame.
            ((longest_secs * self.fps + 1e-6) as usize).saturating_add(1)
        } else {
            Self::DEFAULT_FRAMES
        }
    }

    /// All frames, including those in which the surface settles.
    #[must_use]
    pub fn frame_count(&self) -> usize {
        self.touch_frames()
            .saturating_add((self.settle_secs * self.fps).round() as usize)
    }

    /// The share of the full displacement in a frame, from 0 to 1.
    #[must_use]
    pub fn share(&self, frame: usize) -> f64 {
        let last = self.touch_frames().saturating_sub(1);
        if last == 0 {
            return 0.0;
        }

        let outward = 2.0 * frame.min(last) as f64 / last as f64;
        if self.ending == TouchEnding::Hold {
            outward.min(1.0)
        } else {
            1.0 - (outward - 1.0).abs()
        }
    }

    /// The animated shape of a frame, without the touch.
    #[must_use]
    pub fn shape(&self, frame: usize) -> Cow<'_, [DVec3]> {
        match &self.animation {
            Some(clip) => clip.positions_at(frame as f64 / self.fps),
            None => Cow::Borrowed(self.mesh.positions()),
        }
    }

    /// Simulates all frames.
    ///
    /// # Errors
    /// Input that the simulation rejects, an animation of another mesh, cancelled work.
    pub fn run(&self, progress: &dyn Progress) -> Result<TouchedClip, TouchError> {
        let mesh = self.first_mesh()?;
        progress.proceed("finding the patch", 0.0)?;

        let began = Instant::now();
        let region = match &self.region {
            Some(region) => region.clone(),
            None => SoftRegion::select(&mesh, &self.patches)?,
        };
        let select_ms = began.elapsed().as_secs_f64() * 1e3;

        // Invalid input is declined before the first frame.
        for vertex in self.colliders.iter().filter_map(|solid| solid.rides_on) {
            mesh.require_vertex(vertex).map_err(PhysicsError::from)?;
        }
        for &(vertex, _) in &self.pulls {
            mesh.require_vertex(vertex).map_err(PhysicsError::from)?;
        }
        let mut touch = Touch::on(&mesh, region, &self.options)?;
        for solid in &self.colliders {
            touch.add_collider(solid.collider.clone())?;
        }

        let frame_count = self.frame_count();
        let mut clip = TouchedClip::begin(self, &touch, select_ms);
        for frame in 0..frame_count {
            progress.proceed("touching", frame as f64 / frame_count as f64)?;
            self.step(frame, &mut touch, &mut clip)?;
        }

        Ok(clip)
    }

    /// The displacement of a frame from the animated shape, as a target.
    ///
    /// # Errors
    /// [`TouchError::EmptyTarget`] if no vertex is displaced, [`TouchError::NoSuchFrame`] if the clip
    /// has no such frame.
    pub fn target(
        &self,
        clip: &TouchedClip,
        frame: usize,
        name: &str,
    ) -> Result<Target, TouchError> {
        let touched = clip.frames.get(frame).ok_or(TouchError::NoSuchFrame {
            frame,
            frames: clip.frames.len(),
        })?;
        let shape = self.shape(frame);
        let displacements = touched
            .iter()
            .zip(shape.iter())
            .map(|(touched, animated)| (*touched - *animated).as_vec3());
        let target = Target::from_dense(name, displacements);

        if target.vertices.is_empty() {
            Err(TouchError::EmptyTarget { frame })
        } else {
            Ok(target)
        }
    }

    /// The rigid motion of each collider in a frame, relative to where it was created.
    #[must_use]
    pub fn motions(&self, frame: usize) -> Vec<RigidMotion> {
        let secs = frame as f64 / self.fps;
        let mut motions = Vec::with_capacity(self.colliders.len());
        for solid in &self.colliders {
            let own = solid.motion.at(secs);
            let timing = solid.timing.as_ref();
            let share = timing.map_or_else(|| self.share(frame), |timing| timing.at(secs));
            let own = RigidMotion {
                translation: own.translation + solid.displacement * share,
                ..own
            };
            let ride = solid.rides_on.and_then(|vertex| self.ride(vertex, frame));
            motions.push(match ride {
                Some(ride) => RigidMotion {
                    rotation: ride.rotation * own.rotation,
                    translation: ride.apply(own.translation),
                },
                None => own,
            });
        }
        motions
    }

    /// The rigid motion of the surface around a vertex from the first frame; none where it stands
    /// still, and for a vertex that does not exist.
    fn ride(&self, vertex: VertexId, frame: usize) -> Option<RigidMotion> {
        self.animation.as_ref()?;
        self.mesh.require_vertex(vertex).ok()?;
        let around = self.mesh.topology().two_ring(vertex);
        let places = |frame: usize| -> Vec<DVec3> {
            let shape = self.shape(frame);
            let rings = around.iter().copied().chain([vertex.get()]);
            rings.map(|v| shape[v as usize]).collect()
        };
        RigidMotion::fit(&places(0), &places(frame), None).ok()
    }

    fn step(
        &self,
        frame: usize,
        touch: &mut Touch,
        clip: &mut TouchedClip,
    ) -> Result<(), TouchError> {
        let shape = self.shape(frame);
        let motions = self.motions(frame);
        let pulls = self.pulls_at(frame, &shape);

        let began = Instant::now();
        let report = touch.step(&TouchFrame {
            shape: self.animation.is_some().then_some(shape.as_ref()),
            colliders: &motions,
            pulls: &pulls,
            secs: 1.0 / self.fps,
        })?;
        let step_ms = began.elapsed().as_secs_f64() * 1e3;

        clip.add(self, touch, &motions, report, step_ms);
        Ok(())
    }

    /// The goals of the pulled vertices; none before the touch begins and after a release.
    fn pulls_at(&self, frame: usize, shape: &[DVec3]) -> Vec<(usize, DVec3)> {
        let share = self.share(frame);
        let middle = 0.5 * self.touch_frames().saturating_sub(1) as f64;
        let released = self.ending == TouchEnding::Release && frame as f64 > middle;
        if share == 0.0 || released {
            return Vec::new();
        }

        self.pulls
            .iter()
            .map(|&(vertex, displacement)| (vertex, shape[vertex] + displacement * share))
            .collect()
    }

    /// The surface in the first frame, after the checks of the whole job.
    fn first_mesh(&self) -> Result<Mesh, TouchError> {
        self.require_frames()?;
        self.require_memory()?;
        self.require_own_animation()?;

        let positions = self.shape(0).into_owned();
        Ok(self.mesh.posed(positions).map_err(PhysicsError::from)?)
    }

    fn require_frames(&self) -> Result<(), TouchError> {
        let frames = self.frame_count();
        let most = Self::MOST_FRAMES;
        if !(1..=most).contains(&frames) {
            return Err(TouchError::FrameCount { frames, most });
        }
        Ok(())
    }

    fn require_memory(&self) -> Result<(), TouchError> {
        let frames = self.frame_count();
        let vertices = self.mesh.vertex_count();
        let bytes = frames
            .saturating_mul(vertices)
            .saturating_mul(size_of::<DVec3>());
        if bytes > Self::MOST_BYTES {
            return Err(TouchError::Memory {
                frames,
                vertices,
                gigabytes: bytes >> 30,
            });
        }
        Ok(())
    }

    fn require_own_animation(&self) -> Result<(), TouchError> {
        let Some(clip) = &self.animation else {
            return Ok(());
        };

        let frames = clip.frames().len();
        let found = clip.reference().vertex_count();
        let expected = self.mesh.vertex_count();
        if frames == 0 || found != expected {
            return Err(TouchError::AnimationMismatch {
                frames,
                found,
                expected,
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Obstacle;
    use pliant_mesh::shapes::icosphere;
    use std::ops::ControlFlow;

    fn pressed() -> TouchJob {
        let collider = Collider::new(Obstacle::sphere(DVec3::X * 1.4, 0.3).unwrap(), 0.0).unwrap();
        let solid = TouchCollider {
            collider,
            motion: ObstacleMotion::still(),
            motion_secs: 0.0,
            displacement: DVec3::X * -0.4,
            timing: None,
            rides_on: None,
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
                    center: nearest.into(),
                    radius: 0.8,
                }],
            )
        }
    }

    #[test]
    fn a_touch_is_fully_displaced_in_the_middle_and_returns_at_the_end() {
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
            ending: TouchEnding::Hold,
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
    fn a_collider_with_timing_follows_its_curve() {
        let timing = TouchTiming::new(vec![(0.1, 0.0), (0.3, 1.0), (0.5, 0.5)]).unwrap();
        for (secs, share) in [(0.0, 0.0), (0.1, 0.0), (0.2, 0.5), (0.4, 0.75), (9.0, 0.5)] {
            assert!((timing.at(secs) - share).abs() < 1e-12, "{secs}");
        }

        let mut job = pressed();
        job.colliders[0].timing = Some(timing);
        assert_eq!(job.touch_frames(), 31);
        let moved = job.motions(12)[0].translation;
        assert!((moved - DVec3::X * -0.2).length() < 1e-12, "{moved}");

        for wrong in [vec![], vec![(0.0, f64::NAN)], vec![(0.2, 0.0), (0.2, 1.0)]] {
            assert!(matches!(
                TouchTiming::new(wrong),
                Err(PhysicsError::Timing { .. })
            ));
        }
    }

    #[test]
    fn a_collider_that_rides_on_a_turning_body_turns_with_it() {
        use pliant_mesh::glam::DQuat;

        // In the frame of the body, the touch is that of the still body.
        let still = TouchJob {
            frames: Some(21),
            ..pressed()
        };
        let turn = |frame: usize| DQuat::from_rotation_y(0.05 * frame as f64);
        let frames = (0..21)
            .map(|k| {
                still
                    .mesh
                    .positions()
                    .iter()
                    .map(|p| turn(k) * *p)
                    .collect()
            })
            .collect();
        let animation = Clip::new("turn", still.mesh.clone(), frames)
            .unwrap()
            .with_frames_per_second(60.0);
        let mut riding = TouchJob {
            animation: Some(animation),
            ..still.clone()
        };
        riding.colliders[0].rides_on = Some(still.patches[0].center);

        let expected = still.run(&()).unwrap();
        let found = riding.run(&()).unwrap();
        assert!(expected.max_displacement() > 0.2);
        for (k, (a, b)) in found.frames.iter().zip(&expected.frames).enumerate() {
            let off = a.iter().zip(b).map(|(a, b)| a.distance(turn(k) * *b));
            let off = off.fold(0.0, f64::max);
            assert!(off < 0.03, "{off} in frame {k}");
        }

        riding.colliders[0].rides_on = Some(9999.into());
        assert!(matches!(riding.run(&()), Err(TouchError::Physics(_))));
    }

    #[test]
    fn the_animated_shape_plus_the_target_is_the_touched_frame() {
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
            Err(TouchError::EmptyTarget { frame: 0 })
        ));
        assert!(matches!(
            job.target(&clip, clip.frames.len(), "none"),
            Err(TouchError::NoSuchFrame { .. })
        ));
    }

    #[test]
    fn a_region_selected_before_is_the_one_that_deforms() {
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
    fn cancelled_work_returns_the_cancelled_error() {
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
            Err(TouchError::Stopped(_))
        ));
    }

    #[test]
    fn a_job_without_frames_or_with_the_animation_of_another_mesh_is_an_error() {
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
            Err(TouchError::AnimationMismatch {
                frames: 1,
                found: 42,
                expected: 162
            })
        ));
    }
}
