//! The content of the two viewports.

use std::sync::Arc;

use super::{Colors, Tool, TransferRoom};
use crate::engine::context::Cx;
use crate::engine::transfer::actor::Actor;
use crate::engine::transfer::maps::SourceMap;
use crate::engine::transfer::player::PlayerFrame;
use crate::model::document::Document;
use crate::model::timeline::TakeFrames;
use crate::model::transfer::{Setup, short_name};
use crate::rooms::Pane;
use crate::view::{Model, Paint, Scene};

impl TransferRoom {
    /// The source, as its clip moves it.
    pub(super) fn source_pane(&mut self, cx: &mut Cx<'_>) -> Pane {
        let setup = &cx.document.transfer;
        let k = self.chooser.source(setup);
        let empty = "Drop a mesh with an animation here, or choose one on the left.";
        let Some(source) = setup.sources.get(k) else {
            return Pane {
                title: "Source".into(),
                empty: empty.into(),
                ..Pane::default()
            };
        };

        let mut pane = Pane {
            title: format!("Source: {}", source.name),
            subject: source.clip.clone(),
            ..Pane::default()
        };

        match self.actors.sources.get(k) {
            Some(Ok(actor)) => {
                let moment = actor.clip().map_or(PlayerFrame::Rest, |clip| {
                    PlayerFrame::Clip(frame_of(cx.clock.frame, clip.frames().len()))
                });
                let model = Model::new(
                    actor.surface.clone(),
                    self.players[0].vertices(actor, moment, cx.wake),
                );

                // The flexibility belongs to the clip, so only sources with a clip have it.
                let heat = actor
                    .motion
                    .as_ref()
                    .ok()
                    .map(|motion| motion.heat.clone())
                    .filter(|_| self.colors == Colors::Flexibility);

                pane.scene = Scene::of(
                    heat.map_or(model.clone(), |heat| model.with_paint(Paint::Heat(heat))),
                );
            }
            Some(Err(message)) => pane.empty.clone_from(message),
            None => {}
        }
        pane
    }

    /// The target, at rest, turned, or as the result moves it.
    pub(super) fn target_pane(&mut self, cx: &mut Cx<'_>) -> Pane {
        let setup = &cx.document.transfer;
        let mut pane = Pane {
            title: format!("Target: {}", short_name(&setup.target)),
            subject: setup.target.clone(),
            ..Pane::default()
        };

        // An empty pane says what to do, or why loading failed.
        match &self.actors.target {
            None => {
                (pane.title, pane.empty) = (
                    "Target".into(),
                    "Drop the target mesh here, or choose one on the left.".into(),
                )
            }
            Some(Err(message)) => pane.empty.clone_from(message),
            Some(Ok(actor)) => {
                let actor = actor.clone();
                let moment = self.target_moment(cx.document, cx.clock.frame);
                let model = Model::new(
                    actor.surface.clone(),
                    self.players[1].vertices(&actor, moment, cx.wake),
                );

                pane.scene = Scene::of(match self.target_paint(&actor, setup) {
                    Some(paint) => model.with_paint(paint),
                    None => model,
                });
            }
        }
        pane
    }

    /// The rotated rest pose while that is worked on, else the result, else the rest.
    fn target_moment(&self, document: &Document, frame: f64) -> PlayerFrame {
        let pose = self
            .preview
            .as_ref()
            .and_then(|preview| preview.pose.clone());
        // Rotations are edited on the reference pose.
        if self.tool == Tool::Rotate {
            return pose.map_or(PlayerFrame::Rest, PlayerFrame::Pose);
        }

        let outcome = document
            .transfer
            .outcome
            .as_ref()
            .filter(|_| !self.hides_result);
        // A result of another target does not fit.
        let take = outcome
            .and_then(|outcome| document.timeline.take(&outcome.take))
            .filter(|take| take.of == document.transfer.target);

        match take.map(|take| (&take.frames, take.frame_count)) {
            Some((TakeFrames::Made(blob), count)) => {
                PlayerFrame::Take(blob.clone(), frame_of(frame, count as usize))
            }
            _ => PlayerFrame::Rest,
        }
    }

    fn target_paint(&self, target: &Actor, setup: &Setup) -> Option<Paint> {
        let map = || {
            self.maps
                .get(&self.actors.key(self.chooser.source(setup), setup)?)
        };
        match self.colors {
            Colors::Clay => None,
            Colors::Flexibility => {
                map().map(|found: Arc<SourceMap>| Paint::Heat(found.flexibility.clone()))
            }
            Colors::Map => map().map(|found| Paint::Heat(found.distance.clone())),
            // A preview of another target does not fit.
            Colors::Regions => {
                let colors = &self.preview.as_ref()?.colors;
                (colors.len() == target.mesh.vertex_count()).then(|| Paint::Colors(colors.clone()))
            }
        }
    }
}

/// The frame of a clip that goes around, at a time of the clock.
fn frame_of(clock: f64, count: usize) -> usize {
    clock.max(0.0).round() as usize % count.max(1)
}
