//! Worker that simulates soft skin; the newest request wins.
//!
//! **Implementation.** The worker takes the newest request, simulates a sixtieth of a second,
//! answers, and looks for a newer request; nothing is queued. Without a new request it continues
//! until the skin is at rest. A patch is selected on the neutral, so that it covers the same skin
//! in every pose. A collider that is already inside the skin at the start of the simulation comes
//! from the position where the user took it.

use std::sync::{Arc, Mutex, PoisonError};

use pliant::linalg::RigidMotion;
use pliant::mesh::ExactGeodesics;
use pliant::mesh::glam::DVec3;
use pliant::physics::{SoftPatch, SoftRegion, Touch, TouchFrame, TouchOptions, TouchReport};
use web_time::{Duration, Instant};

use super::skin_colors::{SkinColors, SkinMap};
use crate::engine::character::PosedCharacter;
use crate::engine::surface::Vertices;
use crate::engine::work::{Inbox, Latest, Outbox, Wake};
use crate::model::touch::{ColliderSetup, SkinColoring};

/// A step of the simulation, in seconds: that of most displays.
pub(crate) const STEP_SECS: f64 = 1.0 / 60.0;
/// Skin that moves by less than this part of its mean edge in a step is still.
const STILL: f64 = 2e-4;
/// The number of still steps in a row that count as rest: longer than the turning point of an
/// oscillation.
const STILL_STEPS: usize = 8;
/// The longest time that oscillating skin is simulated without a request.
const LONGEST_ALONE_SECS: f64 = 8.0;
/// The number of steps in which a collider moves from its start to its position, if the simulation
/// begins with it inside.
const ARRIVAL_STEPS: usize = 12;
/// While an animation plays its next shape is waited for this long.
const LONGEST_WAIT: Duration = Duration::from_millis(100);

/// What should be simulated.
#[derive(Debug, Clone)]
pub(crate) struct TouchRequest {
    /// The character's own shape.
    pub posed: Arc<PosedCharacter>,
    /// Where it is soft, on the neutral.
    pub patches: Vec<SoftPatch>,
    /// Material and simulation options.
    pub options: TouchOptions,
    /// The collider.
    pub solid: Option<HeldSolid>,
    /// A vertex, and how far it is pulled from the character's own shape.
    pub pull: Option<(usize, DVec3)>,
    /// Which colours are requested.
    pub shown: SkinColoring,
    /// Whether the patch brush is active.
    pub brushed: bool,
    /// The time since the shape before, while an animation plays.
    pub playing_secs: Option<f64>,
}

/// A collider at a place.
#[derive(Debug, Clone, PartialEq)]
pub struct HeldSolid {
    /// Its form; its own place does not matter.
    pub solid: ColliderSetup,
    /// Half its thickness.
    pub radius: f64,
    /// Its friction.
    pub friction: f64,
    /// Its centre.
    pub place: DVec3,
    /// Where it was outside the skin.
    pub from: DVec3,
}

impl HeldSolid {
    /// Whether it is the same collider, perhaps moved.
    fn is_same(&self, other: &Self) -> bool {
        let form = |held: &Self| ColliderSetup {
            place: None,
            from: None,
            depth: 0.0,
            ..held.solid.clone()
        };
        (form(self), self.radius, self.friction, self.from)
            == (form(other), other.radius, other.friction, other.from)
    }
}

impl TouchRequest {
    /// Whether the result would be the same.
    #[must_use]
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.posed, &other.posed)
            && (&self.patches, &self.options, &self.solid, &self.pull)
                == (&other.patches, &other.options, &other.solid, &other.pull)
            && (self.shown, self.brushed) == (other.shown, other.brushed)
    }
}

/// The skin after a step.
#[derive(Debug, Clone)]
pub struct TouchResult {
    /// The character's own shape.
    pub posed: Arc<PosedCharacter>,
    /// Which vertices are soft.
    pub region: Arc<SoftRegion>,
    /// Where all vertices are.
    pub positions: Arc<Vec<DVec3>>,
    /// The vertices for the graphics card.
    pub vertices: Arc<Vertices>,
    /// The colours that were wanted.
    pub colors: Option<SkinColors>,
    /// Where the collider is.
    pub solid: Option<HeldSolid>,
    /// Contacts, depths and displacements.
    pub report: TouchReport,
    /// Seconds that the step took.
    pub secs: f64,
    /// Whether all motion has ended.
    pub rests: bool,
}

/// Starts the worker.
#[must_use]
pub(crate) fn start(wake: Wake) -> Latest<TouchRequest, TouchResult> {
    start_with(wake, |_| ())
}

/// Starts a worker that calls `before` with the request of each step: where tests look in.
fn start_with(
    wake: Wake,
    before: impl Fn(&TouchRequest) + Send + Sync + 'static,
) -> Latest<TouchRequest, TouchResult> {
    // Without threads the worker is called again for every request.
    let kept = Mutex::new(None);
    Latest::new(
        "Touching",
        wake,
        move |inbox: &Inbox<TouchRequest>, outbox: &Outbox<TouchResult>| {
            // The state is taken out, so that a panic leaves nothing half done.
            let mut stage = kept.lock().unwrap_or_else(PoisonError::into_inner).take();
            while let Some(request) = inbox.next() {
                stage = serve(stage, request, inbox, outbox, &before);
            }
            *kept.lock().unwrap_or_else(PoisonError::into_inner) = stage;
        },
    )
}

/// Steps until the skin rests or a newer request is pending.
fn serve(
    stage: Option<SimulationState>,
    request: TouchRequest,
    inbox: &Inbox<TouchRequest>,
    outbox: &Outbox<TouchResult>,
    before: &dyn Fn(&TouchRequest),
) -> Option<SimulationState> {
    // Another surface is another character: nothing can be kept.
    let fitted = match stage
        .filter(|stage| Arc::ptr_eq(&stage.requested.posed.surface, &request.posed.surface))
    {
        Some(stage) => stage.fitted(request),
        None => SimulationState::new(request),
    };

    let mut stage = fitted.map_err(|message| outbox.put(Err(message))).ok()?;
    loop {
        before(&stage.requested);
        let started = Instant::now();
        let touched = stage
            .step()
            .map_err(|message| outbox.put(Err(message)))
            .ok()?;

        let rests = touched.rests;
        outbox.put(Ok(touched));
        // Without threads one call is one step, so that the caller is not blocked.
        if rests
            || cfg!(not(feature = "parallel"))
            || newer_waits(
                stage.requested.playing_secs.take().is_some(),
                started,
                inbox,
            )
        {
            return Some(stage);
        }
    }
}

/// Whether a newer request waits when the next step is due. While an animation plays, its shapes
/// set the pace.
fn newer_waits(plays: bool, started: Instant, inbox: &Inbox<TouchRequest>) -> bool {
    let due = if plays {
        LONGEST_WAIT
    } else {
        Duration::from_secs_f64(STEP_SECS)
    };
    while started.elapsed() < due && !(plays && inbox.waits()) {
        std::thread::sleep((due - started.elapsed().min(due)).min(Duration::from_millis(1)));
    }
    inbox.waits()
}

/// The simulation from one request to the next.
struct SimulationState {
    requested: TouchRequest,
    geodesics: ExactGeodesics,
    region: Arc<SoftRegion>,
    /// The undeformed skin.
    calm: Touch,
    touch: Touch,
    map: SkinMap,
    still_steps: usize,
    alone_secs: f64,
}

impl SimulationState {
    fn new(request: TouchRequest) -> Result<Self, String> {
        let mesh = request.posed.rig.neutral();
        let mut geodesics = ExactGeodesics::new(mesh).map_err(message)?;
        let region =
            SoftRegion::select_on(mesh, &mut geodesics, &request.patches).map_err(message)?;
        let calm = Touch::on(mesh, region.clone(), &request.options).map_err(message)?;
        // The simulation starts from the undeformed skin.
        let touch = calm.clone();
        let map = SkinMap::new(mesh, &mut geodesics, &request.patches).map_err(message)?;

        let mut stage = Self {
            requested: request,
            geodesics,
            region: Arc::new(region),
            calm,
            touch,
            map,
            still_steps: 0,
            alone_secs: 0.0,
        };

        stage.start_undeformed()?;
        Ok(stage)
    }

    /// Rebuilds what differs in `request`.
    fn fitted(mut self, request: TouchRequest) -> Result<Self, String> {
        let before = std::mem::replace(&mut self.requested, request);
        let request = &self.requested;
        let mesh = self.requested.posed.rig.neutral();
        let elsewhere = before.patches != request.patches;
        let otherwise = elsewhere || before.options != request.options;

        // Other patches need another region and other colours.
        if elsewhere {
            self.region = Arc::new(
                SoftRegion::select_on(mesh, &mut self.geodesics, &request.patches)
                    .map_err(message)?,
            );
            self.map =
                SkinMap::new(mesh, &mut self.geodesics, &request.patches).map_err(message)?;
        }

        if otherwise {
            self.calm =
                Touch::on(mesh, (*self.region).clone(), &request.options).map_err(message)?;
        }

        // A replaced collider must enter from outside again.
        let same_solid = match (&before.solid, &request.solid) {
            (Some(before), Some(now)) => before.is_same(now),
            (before, now) => before.is_none() && now.is_none(),
        };

        if otherwise || !same_solid {
            self.start_undeformed()?;
        }

        (self.still_steps, self.alone_secs) = (0, 0.0);
        Ok(self)
    }

    /// Starts with the undeformed skin; the collider moves towards it.
    fn start_undeformed(&mut self) -> Result<(), String> {
        self.touch = self.calm.clone();
        let Some(held) = self.requested.solid.clone() else {
            return Ok(());
        };

        self.touch
            .add_collider(
                held.solid
                    .collider(held.radius, held.friction)
                    .map_err(message)?,
            )
            .map_err(message)?;

        // A collider inside the skin would push vertices out on the wrong side.
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
        let shape = &self.requested.posed.positions;
        let motions: Vec<RigidMotion> = place
            .map(|translation| RigidMotion {
                translation,
                ..RigidMotion::IDENTITY
            })
            .into_iter()
            .collect();

        // A pulled vertex may lie outside the patches after an edit.
        let soft = self
            .requested
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
            .map_err(message)
    }

    /// Simulates one step and measures the skin.
    fn step(&mut self) -> Result<TouchResult, String> {
        let started = Instant::now();
        let before = soft_places(&self.touch);
        let secs = self.requested.playing_secs.unwrap_or(STEP_SECS);
        let report = self.step_to(self.requested.solid.as_ref().map(|held| held.place), secs)?;
        let after = soft_places(&self.touch);
        let moved = before
            .iter()
            .zip(&after)
            .map(|(a, b)| a.distance(*b))
            .fold(0.0, f64::max);

        // Rest is several still steps, because an oscillation is still at its turning points.
        self.still_steps = if moved <= STILL * self.touch.mean_edge() {
            self.still_steps + 1
        } else {
            0
        };
        self.alone_secs += secs;

        let positions = Arc::new(self.touch.positions().to_vec());
        let vertices = Vertices::of(self.requested.posed.rig.neutral(), &positions);
        // Distances are expensive and measured only when they are shown.
        if self.requested.shown == SkinColoring::Distance {
            self.map
                .measure(&mut self.geodesics, &self.requested.patches)
                .map_err(message)?;
        }

        let colors = self.map.colors(
            self.requested.shown,
            self.requested.brushed,
            &self.touch,
            &self.requested.posed.positions,
        );

        let rests = self.still_steps >= STILL_STEPS || self.alone_secs > LONGEST_ALONE_SECS;
        let posed = self.requested.posed.clone();
        let region = self.region.clone();
        let solid = self.requested.solid.clone();

        Ok(TouchResult {
            posed,
            region,
            positions,
            vertices,
            colors,
            solid,
            report,
            secs: started.elapsed().as_secs_f64(),
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
pub(crate) fn message(error: impl std::fmt::Display) -> String {
    let text = format!("The skin cannot be simulated: {error}");
    if text.ends_with('.') {
        text
    } else {
        text + "."
    }
}

#[cfg(test)]
#[path = "simulation_tests.rs"]
mod tests;
