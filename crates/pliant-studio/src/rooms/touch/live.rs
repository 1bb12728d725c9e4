//! The simulation beside the window: it steps while something moves, and the newest hand wins.
//!
//! **Ours.** The worker takes the newest question, steps through a sixtieth of a second, answers,
//! and looks for a newer question; nothing is queued. Where none came it goes on alone until the
//! skin rests. A patch is chosen on the neutral shape, so that it is the same skin in every pose. A
//! solid that was already inside the skin when the simulation began comes from where a hand took
//! it.

use std::sync::{Arc, Mutex, PoisonError};

use pliant::linalg::RigidMotion;
use pliant::mesh::ExactGeodesics;
use pliant::mesh::glam::DVec3;
use pliant::physics::{SoftPatch, SoftRegion, Touch, TouchFrame, TouchOptions, TouchReport};
use web_time::{Duration, Instant};

use super::setup::Shown;
use super::skin_map::{SkinColors, SkinMap};
use super::solid::Solid;
use crate::character::Posed;
use crate::view::Vertices;
use crate::work::{Inbox, Latest, Outbox, Wake};

/// A step of the simulation, in seconds: that of most displays.
pub(super) const STEP_SECS: f64 = 1.0 / 60.0;
/// Skin that moves by less than this part of its mean edge in a step is still.
const STILL: f64 = 2e-4;
/// So many still steps in a row are rest: longer than a turn of a swing lasts.
const STILL_STEPS: usize = 8;
/// Skin that swings for ever is shown for so long.
const LONGEST_ALONE_SECS: f64 = 8.0;
/// Steps in which a solid comes from where it was taken to where it is, when the simulation begins
/// with it inside.
const ARRIVAL_STEPS: usize = 12;
/// While an animation plays its next shape is waited for this long.
const LONGEST_WAIT: Duration = Duration::from_millis(100);

/// What should be simulated.
#[derive(Debug, Clone)]
pub(super) struct Ask {
    /// The character's own shape.
    pub posed: Arc<Posed>,
    /// Where it is soft, on the neutral.
    pub patches: Vec<SoftPatch>,
    /// What it is made of.
    pub options: TouchOptions,
    /// What presses.
    pub solid: Option<HeldSolid>,
    /// A vertex, and how far it is pulled from the character's own shape.
    pub pull: Option<(usize, DVec3)>,
    /// Which colours are wanted.
    pub shown: Shown,
    /// Whether the patch is what one looks at now, not the dent.
    pub brushed: bool,
    /// The time since the shape before, while an animation plays.
    pub playing_secs: Option<f64>,
}

/// A solid at a place.
#[derive(Debug, Clone, PartialEq)]
pub struct HeldSolid {
    /// Its form; its own place does not matter.
    pub solid: Solid,
    /// Half its thickness.
    pub radius: f64,
    /// Its friction.
    pub friction: f64,
    /// Its middle.
    pub place: DVec3,
    /// Where it was outside the skin.
    pub from: DVec3,
}

impl HeldSolid {
    /// Whether it is the same thing, wherever it is: it was not put elsewhere but moved there.
    fn is_same(&self, other: &Self) -> bool {
        let form = |held: &Self| Solid {
            place: None,
            from: None,
            depth: 0.0,
            ..held.solid.clone()
        };
        (form(self), self.radius, self.friction, self.from)
            == (form(other), other.radius, other.friction, other.from)
    }
}

impl Ask {
    /// Whether the answer would be the same.
    #[must_use]
    pub(super) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.posed, &other.posed)
            && (&self.patches, &self.options, &self.solid, &self.pull)
                == (&other.patches, &other.options, &other.solid, &other.pull)
            && (self.shown, self.brushed) == (other.shown, other.brushed)
    }
}

/// The skin after a step.
#[derive(Debug, Clone)]
pub struct Touched {
    /// The character's own shape.
    pub posed: Arc<Posed>,
    /// Which vertices are soft.
    pub region: Arc<SoftRegion>,
    /// Where all vertices are.
    pub positions: Arc<Vec<DVec3>>,
    /// The same for the card.
    pub vertices: Arc<Vertices>,
    /// The colours that were wanted.
    pub colors: Option<SkinColors>,
    /// Where the solid is.
    pub solid: Option<HeldSolid>,
    /// Contacts, depths and ways.
    pub report: TouchReport,
    /// Seconds that the step took.
    pub secs: f64,
    /// Whether nothing moves any more.
    pub rests: bool,
}

/// Starts the worker.
#[must_use]
pub(super) fn start(wake: Wake) -> Latest<Ask, Touched> {
    start_with(wake, |_| ())
}

/// Starts a worker that calls `before` with the question of each step: where tests look in.
fn start_with(wake: Wake, before: impl Fn(&Ask) + Send + Sync + 'static) -> Latest<Ask, Touched> {
    // Without threads the worker is called anew for every question.
    let kept = Mutex::new(None);
    Latest::new(
        "Touching",
        wake,
        move |inbox: &Inbox<Ask>, outbox: &Outbox<Touched>| {
            // Taken out, so that a fault leaves nothing half done behind.
            let mut stage = kept.lock().unwrap_or_else(PoisonError::into_inner).take();
            while let Some(ask) = inbox.next() {
                stage = serve(stage, ask, inbox, outbox, &before);
            }
            *kept.lock().unwrap_or_else(PoisonError::into_inner) = stage;
        },
    )
}

/// Steps until the skin rests or a newer question waits.
fn serve(
    stage: Option<Stage>,
    ask: Ask,
    inbox: &Inbox<Ask>,
    outbox: &Outbox<Touched>,
    before: &dyn Fn(&Ask),
) -> Option<Stage> {
    let fitted =
        match stage.filter(|stage| Arc::ptr_eq(&stage.asked.posed.surface, &ask.posed.surface)) {
            Some(stage) => stage.fitted(ask),
            None => Stage::new(ask),
        };
    let mut stage = fitted.map_err(|sentence| outbox.put(Err(sentence))).ok()?;
    loop {
        before(&stage.asked);
        let begun = Instant::now();
        let touched = stage
            .step()
            .map_err(|sentence| outbox.put(Err(sentence)))
            .ok()?;
        let rests = touched.rests;
        outbox.put(Ok(touched));
        if rests
            || cfg!(not(feature = "parallel"))
            || newer_waits(stage.asked.playing_secs.take().is_some(), begun, inbox)
        {
            return Some(stage);
        }
    }
}

/// Whether a newer question waits when the next step is due. While an animation plays, its shapes
/// set the pace.
fn newer_waits(plays: bool, begun: Instant, inbox: &Inbox<Ask>) -> bool {
    let due = if plays {
        LONGEST_WAIT
    } else {
        Duration::from_secs_f64(STEP_SECS)
    };
    while begun.elapsed() < due && !(plays && inbox.waits()) {
        std::thread::sleep((due - begun.elapsed().min(due)).min(Duration::from_millis(1)));
    }
    inbox.waits()
}

/// The simulation from one question to the next.
struct Stage {
    asked: Ask,
    geodesics: ExactGeodesics,
    region: Arc<SoftRegion>,
    /// The skin that nothing has touched yet.
    calm: Touch,
    touch: Touch,
    map: SkinMap,
    still_steps: usize,
    alone_secs: f64,
}

impl Stage {
    fn new(ask: Ask) -> Result<Self, String> {
        let mesh = ask.posed.rig.neutral();
        let mut geodesics = ExactGeodesics::new(mesh).map_err(sentence)?;
        let region = SoftRegion::select_on(mesh, &mut geodesics, &ask.patches).map_err(sentence)?;
        let calm = Touch::on(mesh, region.clone(), &ask.options).map_err(sentence)?;
        let touch = calm.clone();
        let map = SkinMap::new(mesh, &mut geodesics, &ask.patches).map_err(sentence)?;
        let mut stage = Self {
            asked: ask,
            geodesics,
            region: Arc::new(region),
            calm,
            touch,
            map,
            still_steps: 0,
            alone_secs: 0.0,
        };
        stage.arrive()?;
        Ok(stage)
    }

    /// Makes anew what `ask` has otherwise.
    fn fitted(mut self, ask: Ask) -> Result<Self, String> {
        let before = std::mem::replace(&mut self.asked, ask);
        let (ask, mesh) = (&self.asked, self.asked.posed.rig.neutral());
        let elsewhere = before.patches != ask.patches;
        let otherwise = elsewhere || before.options != ask.options;
        if elsewhere {
            self.region = Arc::new(
                SoftRegion::select_on(mesh, &mut self.geodesics, &ask.patches).map_err(sentence)?,
            );
            self.map = SkinMap::new(mesh, &mut self.geodesics, &ask.patches).map_err(sentence)?;
        }
        if otherwise {
            self.calm = Touch::on(mesh, (*self.region).clone(), &ask.options).map_err(sentence)?;
        }
        let same_solid = match (&before.solid, &ask.solid) {
            (Some(before), Some(now)) => before.is_same(now),
            (before, now) => before.is_none() && now.is_none(),
        };
        if otherwise || !same_solid {
            self.arrive()?;
        }
        (self.still_steps, self.alone_secs) = (0, 0.0);
        Ok(self)
    }

    /// Begins with calm skin, to which the solid comes.
    fn arrive(&mut self) -> Result<(), String> {
        self.touch = self.calm.clone();
        let Some(held) = self.asked.solid.clone() else {
            return Ok(());
        };
        self.touch
            .add_collider(
                held.solid
                    .collider(held.radius, held.friction)
                    .map_err(sentence)?,
            )
            .map_err(sentence)?;
        if held.place != held.from {
            for k in 0..=ARRIVAL_STEPS {
                self.step_to(
                    Some(held.from.lerp(held.place, k as f64 / ARRIVAL_STEPS as f64)),
                    STEP_SECS,
                )?;
            }
        }
        Ok(())
    }

    fn step_to(&mut self, place: Option<DVec3>, secs: f64) -> Result<TouchReport, String> {
        let shape = &self.asked.posed.positions;
        let motions: Vec<RigidMotion> = place
            .map(|translation| RigidMotion {
                translation,
                ..RigidMotion::IDENTITY
            })
            .into_iter()
            .collect();
        let soft = self
            .asked
            .pull
            .filter(|(vertex, _)| self.region.node_of(*vertex).is_some());
        let pulls: Vec<(usize, DVec3)> = soft
            .map(|(vertex, offset)| (vertex, shape[vertex] + offset))
            .into_iter()
            .collect();
        self.touch
            .step(&TouchFrame {
                shape: Some(shape),
                colliders: &motions,
                pulls: &pulls,
                secs,
            })
            .map_err(sentence)
    }

    /// Steps and looks at the skin.
    fn step(&mut self) -> Result<Touched, String> {
        let begun = Instant::now();
        let before = soft_places(&self.touch);
        let secs = self.asked.playing_secs.unwrap_or(STEP_SECS);
        let report = self.step_to(self.asked.solid.as_ref().map(|held| held.place), secs)?;
        let after = soft_places(&self.touch);
        let moved = before
            .iter()
            .zip(&after)
            .map(|(a, b)| a.distance(*b))
            .fold(0.0, f64::max);
        self.still_steps = if moved <= STILL * self.touch.mean_edge() {
            self.still_steps + 1
        } else {
            0
        };
        self.alone_secs += secs;
        let positions = Arc::new(self.touch.positions().to_vec());
        let vertices = Vertices::of(self.asked.posed.rig.neutral(), &positions);
        if self.asked.shown == Shown::Distance {
            self.map
                .measure(&mut self.geodesics, &self.asked.patches)
                .map_err(sentence)?;
        }
        let colors = self.map.colors(
            self.asked.shown,
            self.asked.brushed,
            &self.touch,
            &self.asked.posed.positions,
        );
        let rests = self.still_steps >= STILL_STEPS || self.alone_secs > LONGEST_ALONE_SECS;
        let (posed, region, solid) = (
            self.asked.posed.clone(),
            self.region.clone(),
            self.asked.solid.clone(),
        );
        Ok(Touched {
            posed,
            region,
            positions,
            vertices,
            colors,
            solid,
            report,
            secs: begun.elapsed().as_secs_f64(),
            rests,
        })
    }
}

fn soft_places(touch: &Touch) -> Vec<DVec3> {
    touch
        .region()
        .vertices()
        .iter()
        .map(|&v| touch.positions()[v as usize])
        .collect()
}

/// An error as it is shown: what, where, what to do.
pub(super) fn sentence(error: impl std::fmt::Display) -> String {
    let text = format!("The skin cannot be touched so: {error}");
    if text.ends_with('.') {
        text
    } else {
        text + "."
    }
}

#[cfg(test)]
mod tests;
