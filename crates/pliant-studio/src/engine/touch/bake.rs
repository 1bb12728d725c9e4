//! Baking of the recorded press over the whole timeline to a take.

use std::borrow::Cow;
use std::sync::Arc;

use pliant::linalg::RigidMotion;
use pliant::mesh::glam::DVec3;
use pliant::physics::{ObstacleMotion, SoftRegion};
use pliant::physics::{TouchCollider, TouchEnding, TouchJob};
use pliant::rig::{Clip, Rig, WeightTrack};

use super::simulation::message;
use crate::engine::character::PosedCharacter;
use crate::engine::library::Library;
use crate::engine::work::Watch;
use crate::model::document::{Character, Document};
use crate::model::timeline::{Take, TakeFrames, Timeline, made_frame};
use crate::model::touch::{Method, RecordedPress, Setup, playing_baked};

/// How long a released collider takes to return, and how long the skin is simulated after that.
/// Chosen by eye.
const RETURN_SECS: f64 = 0.25;
const SETTLE_SECS: f64 = 0.75;
/// The largest number of samples of a collider's path; longer paths are sampled more coarsely.
const MOST_SAMPLES: f64 = 1e6;

/// Everything that baking needs.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    setup: Setup,
    character: Character,
    timeline: Timeline,
    posed: Arc<PosedCharacter>,
    /// The take below, with its frames where they are in a file.
    below: Option<(Take, Option<Clip>)>,
}

/// The result.
#[derive(Debug)]
pub(crate) struct Baked {
    /// The take.
    pub(crate) take: Take,
    /// The take that was playing below.
    pub(crate) below: Option<String>,
    /// A warning for the user.
    pub(crate) problem: Option<String>,
}

impl Plan {
    /// Gathers it; the message says what is missing.
    pub(crate) fn new(
        document: &Document,
        library: &mut Library,
        posed: &Arc<PosedCharacter>,
    ) -> Result<Self, String> {
        // A baked take is baked again on what was playing below it.
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
    pub(crate) fn bake(&self, watch: &Watch) -> Result<Baked, String> {
        let job = self.job()?;
        let clip = job.run(watch).map_err(message)?;
        let take = Take::made("Touch", self.character.asset.clone(), &clip.frames, job.fps);
        let problem = clip.warnings(&job).into_iter().next();
        Ok(Baked {
            take,
            below: self.below.as_ref().map(|(take, _)| take.name.clone()),
            problem,
        })
    }

    fn job(&self) -> Result<TouchJob, String> {
        let rig = &self.posed.rig;
        let setup = &self.setup;
        // On the neutral, as in the window.
        let region = SoftRegion::select(rig.neutral(), &setup.soft_patches()).map_err(message)?;
        let fps = self.timeline.frames_per_second;
        let animation = self.animation(rig)?;
        let mesh = if animation.is_some() {
            rig.neutral().clone()
        } else {
            rig.neutral().posed(self.own_shape()).map_err(message)?
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
            .map(|pull| (pull.vertex.index(), DVec3::from_array(pull.offset)));
        let pulls = pulled.filter(|(vertex, _)| {
            setup.simulation.method == Method::Xpbd && region.node_of(*vertex).is_some()
        });

        Ok(TouchJob {
            animation,
            region: Some(region),
            colliders: self.collider(last / fps)?.into_iter().collect(),
            pulls: pulls.into_iter().collect(),
            ending: if setup.stays {
                TouchEnding::Hold
            } else {
                TouchEnding::Release
            },
            options: setup.touch_options(),
            frames: Some(last as usize + 1),
            fps,
            ..TouchJob::new(mesh, setup.soft_patches())
        })
    }

    /// The collider on the recorded path.
    fn collider(&self, secs: f64) -> Result<Option<TouchCollider>, String> {
        let setup = &self.setup;
        if setup.recorded.is_none() {
            return Ok(None);
        }

        let collider = setup
            .solid
            .collider(setup.solid_radius(&self.posed), setup.friction())
            .map_err(message)?;
        // The path is sampled at the rate of the recording.
        let samples = (secs * RecordedPress::RATE).ceil().min(MOST_SAMPLES) as usize;
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

        let motion =
            ObstacleMotion::from_frames((0..=samples).map(motion).collect()).with_duration(secs);
        Ok(Some(TouchCollider {
            collider,
            motion,
            motion_secs: secs,
            displacement: DVec3::ZERO,
            timing: None,
            rides_on: None,
        }))
    }

    /// The animation of the character under the touch; `None` without one.
    fn animation(&self, rig: &Rig) -> Result<Option<Clip>, String> {
        let (frames, fps) = match &self.below {
            Some((_, Some(clip))) => return Ok(Some(clip.clone())),
            Some((take, None)) => (
                match take.weight_track() {
                    Some((sliders, track)) => {
                        self.weighted_frames(rig, sliders, &track.map_err(message)?)
                    }
                    None => made_frames(take, rig.neutral().vertex_count())?,
                },
                take.frames_per_second,
            ),
            // A character without keys stands still.
            None if self.timeline.keys.values().all(|keys| keys.is_empty()) => return Ok(None),
            None => (
                (0..=self.timeline.last_frame)
                    .map(|k| self.keyed_shape(rig, k))
                    .collect(),
                self.timeline.frames_per_second,
            ),
        };

        let clip = Clip::new("below", rig.neutral().clone(), frames).map_err(message)?;
        Ok(Some(clip.with_frames_per_second(fps)))
    }

    /// The character's shape at a frame of the keys.
    fn keyed_shape(&self, rig: &Rig, frame: u32) -> Vec<DVec3> {
        let keyed = self.timeline.weights_at(f64::from(frame));
        // Sliders without keys keep the weight of the document.
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
                if self.character.is_inactive(&target.name) {
                    0.0
                } else {
                    weight(&target.name)
                }
            })
            .collect();

        rig.evaluate(&weights)
    }

    /// The shapes of a take of weights.
    fn weighted_frames(
        &self,
        rig: &Rig,
        sliders: &[String],
        track: &WeightTrack,
    ) -> Vec<Vec<DVec3>> {
        let column = |name: &String| sliders.iter().position(|slider| slider == name);
        let columns: Vec<Option<usize>> = rig
            .targets()
            .iter()
            .map(|target| {
                column(&target.name).filter(|_| !self.character.is_inactive(&target.name))
            })
            .collect();
        let shape = |row: &Vec<f64>| {
            let weights: Vec<f64> = columns.iter().map(|c| c.map_or(0.0, |k| row[k])).collect();
            rig.evaluate(&weights)
        };
        track.keys().iter().map(shape).collect()
    }

    /// The shape of a character without keys.
    fn own_shape(&self) -> Vec<DVec3> {
        self.keyed_shape(&self.posed.rig, 0)
    }
}

/// The duration of the press and of what follows it.
fn pressed_secs(setup: &Setup, fps: f64) -> f64 {
    let Some(recorded) = &setup.recorded else {
        return 0.0;
    };
    recorded.start_frame / fps
        + recorded.secs()
        + if setup.stays { 0.0 } else { RETURN_SECS }
        + SETTLE_SECS
}

/// The position of the collider at a time from the first frame: on the recorded path, then held or
/// returning.
pub(crate) fn recorded_place(setup: &Setup, secs: f64, fps: f64) -> Option<DVec3> {
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

/// The frames of a take that are in a file; `None` for one that was made in the studio.
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

    // A clip in another file may be in another unit than the character.
    let character = library.ready(&take.of);
    let asset = character
        .as_ref()
        .map_or(Cow::Borrowed(&loaded.asset), |character| {
            loaded.asset.in_space_of(&character.asset)
        });
    asset
        .clip()
        .map(Some)
        .map_err(|error| format!("The take {} cannot be simulated: {error}.", take.name))
}

fn made_frames(take: &Take, vertex_count: usize) -> Result<Vec<Vec<DVec3>>, String> {
    let TakeFrames::Made(blob) = &take.frames else {
        return Ok(Vec::new());
    };

    // A frame of another vertex count is none.
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
    fn a_recorded_collider_follows_its_path_and_returns_unless_it_stays() {
        // One second from x = 1 to x = 3, half a second after the bake begins.
        let seen = [(5.0, DVec3::X), (6.0, DVec3::X * 3.0)];
        let mut setup = Setup {
            recorded: RecordedPress::of(12.0, &seen),
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
