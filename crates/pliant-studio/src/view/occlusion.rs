//! Ambient occlusion of what a viewport shows, and when its picture is at rest.
//!
//! **Implementation.** While something moves or a button is held, pictures are drawn with few shadow
//! samples and the last known openness. When nothing changed from one frame to the next, the picture
//! is drawn once more with all samples, and a worker computes the openness of the new pose.

use std::sync::{Arc, Mutex, PoisonError};

use eframe::egui::{Context, Id};

use super::gpu::drawing::Drawing;
use super::scene::{Model, Scene};
use crate::engine::openness::{self, OccludedModel, SceneOpenness};
use crate::engine::work::Latest;

/// The state of a viewport between frames.
#[derive(Clone)]
pub(super) struct Occlusion {
    shared: Arc<Mutex<State>>,
}

struct State {
    worker: Latest<Vec<OccludedModel>, SceneOpenness>,
    requested: Vec<OccludedModel>,
    known: Option<SceneOpenness>,
    last: Option<Drawing>,
}

impl Occlusion {
    /// That of a viewport; it begins with the first frame.
    pub(super) fn of(ctx: &Context, viewport: Id) -> Self {
        let id = viewport.with("occlusion");
        if let Some(known) = ctx.data(|data| data.get_temp::<Self>(id)) {
            return known;
        }

        let window = ctx.clone();
        let state = State {
            worker: openness::start(Arc::new(move || window.request_repaint())),
            requested: Vec::new(),
            known: None,
            last: None,
        };
        let occlusion = Self {
            shared: Arc::new(Mutex::new(state)),
        };
        ctx.data_mut(|data| {
            data.insert_temp(id, occlusion.clone());
            let all = data.get_temp_mut_or_default::<Vec<Self>>(windows_id());
            all.push(occlusion.clone());
        });
        occlusion
    }

    /// The newest openness.
    pub(super) fn known(&self) -> Option<SceneOpenness> {
        self.with(|state| {
            if let Some(Ok(found)) = state.worker.result() {
                state.known = Some(found);
            }
            state.known.clone()
        })
    }

    /// Decides whether a drawing is at rest, and then asks for its openness.
    pub(super) fn settle(&self, ctx: &Context, drawing: &mut Drawing, scene: &Scene) {
        let held = ctx.input(|input| input.pointer.any_down());
        self.with(|state| {
            let same = state
                .last
                .as_ref()
                .filter(|last| last.shows_the_same(drawing));
            let rests = same.is_some_and(|last| last.rests() || !held);
            drawing.set_rests(rests);
            if same.is_none() && !held {
                // The next frame shows whether this one is at rest.
                ctx.request_repaint();
            }

            if rests {
                let models = occluded(scene);
                if state.requested != models {
                    state.requested.clone_from(&models);
                    state.worker.send(models);
                }
            }
            state.last = Some(drawing.clone());
        });
    }

    fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.shared.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Whether ambient occlusion of some viewport is still being computed.
#[must_use]
pub fn occlusion_busy(ctx: &Context) -> bool {
    let all = ctx.data(|data| data.get_temp::<Vec<Occlusion>>(windows_id()));
    all.unwrap_or_default()
        .iter()
        .any(|occlusion| occlusion.with(|state| state.worker.at_work()))
}

fn windows_id() -> Id {
    Id::unique("pliant viewport occlusion")
}

/// Opaque models hide light.
fn occluded(scene: &Scene) -> Vec<OccludedModel> {
    let opaque = scene
        .models
        .iter()
        .filter(|model| model.opacity >= Model::OPAQUE);
    opaque
        .map(|model| OccludedModel {
            surface: model.surface.clone(),
            vertices: model.vertices.clone(),
            placement: model.placement,
        })
        .collect()
}
