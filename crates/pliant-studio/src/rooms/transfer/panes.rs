//! What stands in the two viewports.

use std::sync::Arc;

use super::maps::FoundMap;
use super::player::Moment;
use super::setup::{Setup, short_name};
use super::stage::Actor;
use super::{Colors, Tool, TransferRoom};
use crate::document::Document;
use crate::rooms::{Cx, Pane};
use crate::timeline::TakeFrames;
use crate::view::{Model, Paint, Scene};

impl TransferRoom {
    /// The source, as its clip moves it.
    pub(super) fn source_pane(&mut self, cx: &mut Cx<'_>) -> Pane {
        let setup = &cx.document.transfer;
        let k = self.chooser.source(setup);
        let empty = "Drop a mesh with the animation that you want here, or choose one on the left.";
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
        match self.cast.sources.get(k) {
            Some(Ok(actor)) => {
                let moment = actor.clip().map_or(Moment::Rest, |clip| {
                    Moment::Clip(frame_of(cx.clock.frame, clip.frames().len()))
                });
                let model = Model::new(
                    actor.surface.clone(),
                    self.players[0].vertices(actor, moment, cx.wake),
                );
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
            Some(Err(sentence)) => pane.empty.clone_from(sentence),
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
        match &self.cast.target {
            None => {
                (pane.title, pane.empty) = (
                    "Target".into(),
                    "Drop the mesh that is to move here, or choose one on the left.".into(),
                )
            }
            Some(Err(sentence)) => pane.empty.clone_from(sentence),
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

    /// The turned rest pose while that is worked on, else the result, else the rest.
    fn target_moment(&self, document: &Document, frame: f64) -> Moment {
        let pose = self
            .preview
            .as_ref()
            .and_then(|preview| preview.pose.clone());
        if self.tool == Tool::Turn {
            return pose.map_or(Moment::Rest, Moment::Pose);
        }
        let outcome = document
            .transfer
            .outcome
            .as_ref()
            .filter(|_| !self.hides_result);
        let take = outcome
            .and_then(|outcome| document.timeline.take(&outcome.take))
            .filter(|take| take.of == document.transfer.target);
        match take.map(|take| (&take.frames, take.frame_count)) {
            Some((TakeFrames::Made(blob), count)) => {
                Moment::Take(blob.clone(), frame_of(frame, count as usize))
            }
            _ => Moment::Rest,
        }
    }

    fn target_paint(&self, target: &Actor, setup: &Setup) -> Option<Paint> {
        let map = || {
            self.maps
                .get(&self.cast.key(self.chooser.source(setup), setup)?)
        };
        match self.colors {
            Colors::Clay => None,
            Colors::Flexibility => {
                map().map(|found: Arc<FoundMap>| Paint::Heat(found.flexibility.clone()))
            }
            Colors::Map => map().map(|found| Paint::Heat(found.distance.clone())),
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
