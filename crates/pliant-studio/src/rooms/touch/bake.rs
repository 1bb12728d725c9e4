//! The last press over the whole timeline, as a take.

use std::sync::Arc;

use pliant::linalg::RigidMotion;
use pliant::mesh::glam::DVec3;
use pliant::physics::{ObstacleMotion, SoftRegion};
use pliant::rig::{Clip, Rig};
use pliant::touch_job::{Stroke, TouchCollider, TouchJob};

use super::live::sentence;
use super::setup::{Method, Recorded, Setup, playing_baked};
use crate::character::Posed;
use crate::document::{Character, Document};
use crate::library::Library;
use crate::timeline::{Take, TakeFrames, Timeline, made_frame};
use crate::work::Watch;

/// How long a solid that does not stay takes to go back, and how long skin is watched then: ours.
const RETURN_SECS: f64 = 0.25;
const SETTLE_SECS: f64 = 0.75;
/// The most places of a solid's way: beyond hours of it they lie further apart.
const MOST_SAMPLES: f64 = 1e6;

/// All that baking needs, without the window.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    setup: Setup,
    character: Character,
    timeline: Timeline,
    posed: Arc<Posed>,
    /// The take below, with its frames where they are in a file.
    below: Option<(Take, Option<Clip>)>,
}

/// What came of it.
#[derive(Debug)]
pub(super) struct Baked {
    /// The take.
    pub(super) take: Take,
    /// The take that was playing below.
    pub(super) below: Option<String>,
    /// What a person should know.
    pub(super) problem: Option<String>,
}

impl Plan {
    /// Gathers it; the sentence says what is missing.
    pub(super) fn new(
        document: &Document,
        library: &mut Library,
        posed: &Arc<Posed>,
    ) -> Result<Self, String> {
        let name = match playing_baked(document) {
            Some(baked) => document.touch.baked.get(baked).cloned().flatten(),
            None => document.timeline.playing_take.clone(),
        };
        let below = match name.and_then(|name| document.timeline.take(&name)) {
            None => None,
            Some(take) => Some((take.clone(), clip_of(take, library)?)),
        };
        Ok(Self {
            setup: document.touch.clone(),
            character: document.character.clone(),
            timeline: document.timeline.clone(),
            posed: posed.clone(),
            below,
        })
    }

    /// Simulates all frames.
    pub(super) fn bake(&self, watch: &Watch) -> Result<Baked, String> {
        let job = self.job()?;
        let clip = job.run(watch).map_err(sentence)?;
        let take = Take::made("Touch", self.character.asset.clone(), &clip.frames, job.fps);
        let problem = clip.problems(&job).into_iter().next();
        Ok(Baked {
            take,
            below: self.below.as_ref().map(|(take, _)| take.name.clone()),
            problem,
        })
    }

    fn job(&self) -> Result<TouchJob, String> {
        let (rig, setup) = (&self.posed.rig, &self.setup);
        // On the neutral, as in the window.
        let region = SoftRegion::select(rig.neutral(), &setup.soft_patches()).map_err(sentence)?;
        let fps = self.timeline.frames_per_second;
        let animation = self.animation(rig)?;
        let mesh = if animation.is_some() {
            rig.neutral().clone()
        } else {
            rig.neutral().posed(self.own_shape()).map_err(sentence)?
        };
        let below = self.below.as_ref().map(|(take, _)| {
            self.timeline
                .frames_of(take.frame_count as usize, take.frames_per_second)
        });
        let last = f64::from(below.unwrap_or(self.timeline.last_frame))
            .max((pressed_secs(setup, fps) * fps).ceil())
            .min(f64::from(Timeline::MAX_FRAME));
        let pulled = setup
            .pull
            .map(|pull| (pull.vertex as usize, DVec3::from_array(pull.offset)));
        let pulls = pulled.filter(|(vertex, _)| {
            setup.simulation.method == Method::Xpbd && region.node_of(*vertex).is_some()
        });
        Ok(TouchJob {
            animation,
            region: Some(region),
            colliders: self.collider(last / fps)?.into_iter().collect(),
            pulls: pulls.into_iter().collect(),
            stroke: if setup.stays {
                Stroke::Hold
            } else {
                Stroke::LetGo
            },
            options: setup.touch_options(),
            frames: Some(last as usize + 1),
            fps,
            ..TouchJob::new(mesh, setup.soft_patches())
        })
    }

    /// The solid on the hand's way.
    fn collider(&self, secs: f64) -> Result<Option<TouchCollider>, String> {
        let setup = &self.setup;
        if setup.recorded.is_none() {
            return Ok(None);
        }
        let collider = setup
            .solid
            .collider(setup.solid_radius(&self.posed), setup.friction())
            .map_err(sentence)?;
        let samples = (secs * Recorded::RATE).ceil().min(MOST_SAMPLES) as usize;
        let motion = |k: usize| {
            let place = recorded_place(
                setup,
                secs * k as f64 / samples.max(1) as f64,
                self.timeline.frames_per_second,
            );
            RigidMotion {
                translation: place.unwrap_or_default(),
                ..RigidMotion::IDENTITY
            }
        };
        let motion = ObstacleMotion::from_frames((0..=samples).map(motion).collect()).lasting(secs);
        Ok(Some(TouchCollider {
            collider,
            motion,
            motion_secs: secs,
            toward: DVec3::ZERO,
        }))
    }

    /// What the character does below the touch; `None` where it stands still.
    fn animation(&self, rig: &Rig) -> Result<Option<Clip>, String> {
        let (frames, fps) = match &self.below {
            Some((_, Some(clip))) => return Ok(Some(clip.clone())),
            Some((take, None)) => (
                made_frames(take, rig.neutral().vertex_count())?,
                take.frames_per_second,
            ),
            None if self.timeline.keys.values().all(|keys| keys.is_empty()) => return Ok(None),
            None => (
                (0..=self.timeline.last_frame)
                    .map(|k| self.keyed_shape(rig, k))
                    .collect(),
                self.timeline.frames_per_second,
            ),
        };
        let clip = Clip::new("below", rig.neutral().clone(), frames).map_err(sentence)?;
        Ok(Some(clip.with_frames_per_second(fps)))
    }

    /// The character's shape at a frame of the keys.
    fn keyed_shape(&self, rig: &Rig, frame: u32) -> Vec<DVec3> {
        let keyed = self.timeline.weights_at(f64::from(frame));
        let weight = |name: &str| {
            keyed
                .get(name)
                .copied()
                .unwrap_or_else(|| self.character.shown_weight(name))
        };
        let weights: Vec<f64> = rig
            .targets()
            .iter()
            .map(|target| {
                if self.character.is_silent(&target.name) {
                    0.0
                } else {
                    weight(&target.name)
                }
            })
            .collect();
        rig.evaluate(&weights)
    }

    /// The shape of a character without keys.
    fn own_shape(&self) -> Vec<DVec3> {
        self.keyed_shape(&self.posed.rig, 0)
    }
}

/// How long the hand's press and what follows it last.
fn pressed_secs(setup: &Setup, fps: f64) -> f64 {
    let Some(recorded) = &setup.recorded else {
        return 0.0;
    };
    recorded.start_frame / fps
        + recorded.secs()
        + if setup.stays { 0.0 } else { RETURN_SECS }
        + SETTLE_SECS
}

/// Where the solid is so many seconds from the first frame: on the hand's way, then there or back.
pub(super) fn recorded_place(setup: &Setup, secs: f64, fps: f64) -> Option<DVec3> {
    let recorded = setup.recorded.as_ref()?;
    let since = secs - recorded.start_frame / fps;
    let place = recorded.at(since)?;
    let gone = if setup.stays {
        0.0
    } else {
        ((since - recorded.secs()) / RETURN_SECS).clamp(0.0, 1.0)
    };
    Some(place.lerp(setup.solid.from.map_or(place, DVec3::from_array), gone))
}

/// The frames of a take that are in a file; `None` for one that was made here.
fn clip_of(take: &Take, library: &mut Library) -> Result<Option<Clip>, String> {
    let TakeFrames::Clip(locator) = &take.frames else {
        return Ok(None);
    };
    let Some(loaded) = library.ready(locator) else {
        return Err(format!(
            "The take {} is still being loaded; wait a moment and bake again.",
            take.name
        ));
    };
    loaded
        .asset
        .clip()
        .map(Some)
        .map_err(|error| format!("The take {} cannot be touched: {error}.", take.name))
}

fn made_frames(take: &Take, vertex_count: usize) -> Result<Vec<Vec<DVec3>>, String> {
    let TakeFrames::Made(blob) = &take.frames else {
        return Ok(Vec::new());
    };
    let frame = |k: u32| {
        made_frame(blob, k as usize, vertex_count)
            .map(|places| places.iter().map(|p| p.as_dvec3()).collect())
    };
    let frames: Option<Vec<Vec<DVec3>>> = (0..take.frame_count).map(frame).collect();
    frames.ok_or_else(|| {
        format!(
            "The take {} belongs to another mesh; play the keys or another take and bake again.",
            take.name
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_solid_waits_for_its_frame_goes_its_way_and_returns_unless_it_stays() {
        let seen = [(5.0, DVec3::X), (6.0, DVec3::X * 3.0)];
        let mut setup = Setup {
            recorded: Recorded::of(12.0, &seen),
            ..Setup::default()
        };
        setup.solid.from = Some([0.0, 0.0, 0.0]);
        let x = |setup: &Setup, secs: f64| recorded_place(setup, secs, 24.0).unwrap().x;
        assert_eq!(
            [
                x(&setup, 0.0),
                x(&setup, 0.5),
                x(&setup, 1.0),
                x(&setup, 1.5)
            ],
            [1.0, 1.0, 2.0, 3.0]
        );
        assert_eq!(x(&setup, 1.5 + RETURN_SECS), 0.0);
        setup.stays = true;
        assert_eq!(x(&setup, 9.0), 3.0);
        assert_eq!(recorded_place(&Setup::default(), 1.0, 24.0), None);
    }
}
