//! Comparison of two methods on the same pins, side by side or while a key is pressed.

use std::sync::Arc;

use eframe::egui::{Align2, FontId, vec2};

use super::overlay::paint_pins;
use crate::engine::character::{
    self, CharacterRequest, Drag, PoseRequest, PosedCharacter, RigSpec, SolveReport,
};
use crate::engine::command::Notice;
use crate::engine::context::Cx;
use crate::engine::work::Latest;
use crate::model::pose::{Method, Pull};
use crate::model::room::RoomName;
use crate::model::view_state::FramedCamera;
use crate::rooms::PaneCanvas;

/// The other method's pose.
pub(super) struct Compare {
    /// Whether both are shown.
    pub(super) side_by_side: bool,
    /// Whether the other one is shown alone, while a key is held.
    pub(super) instead: bool,
    worker: Option<Latest<CharacterRequest, PosedCharacter>>,
    requested: Option<ComparedDrag>,
    posed: Option<Arc<PosedCharacter>>,
    seen: Option<FramedCamera>,
}

impl Default for Compare {
    fn default() -> Self {
        Self {
            side_by_side: true,
            instead: false,
            worker: None,
            requested: None,
            posed: None,
            seen: None,
        }
    }
}

struct ComparedDrag {
    rig: RigSpec,
    pull: Pull,
    method: Method,
}

/// Figures of a method.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Figures {
    /// Sliders that moved.
    pub(super) sliders: usize,
    /// The largest distance of a pin from its goal, in percent of the rig's size.
    pub(super) error_percent: f64,
    /// Microseconds of the solve.
    pub(super) micros: f64,
}

impl Figures {
    /// The figures of a solve.
    pub(super) fn of(solve: &SolveReport) -> Self {
        let error = solve
            .pose
            .pins
            .iter()
            .map(|pin| pin.error)
            .fold(0.0, f64::max);
        Self {
            sliders: solve.explanation.moves.len(),
            error_percent: 100.0 * error / solve.size,
            micros: solve.secs * 1e6,
        }
    }

    fn message(&self) -> String {
        format!(
            "{} sliders · error {:.2} %",
            self.sliders, self.error_percent
        )
    }
}

impl Compare {
    /// Fetches the other pose and requests the one that is requested.
    pub(super) fn update(&mut self, cx: &mut Cx<'_>) {
        match self.worker.as_ref().and_then(Latest::result) {
            Some(Ok(posed)) => self.posed = Some(Arc::new(posed)),
            Some(Err(message)) => {
                self.posed = None;
                cx.notify(Notice::error(message));
            }
            None => {}
        }

        if cx.view_state.room != RoomName::Pose {
            return;
        }

        let setup = &cx.document.pose;
        let (Some(method), Some(pull)) = (setup.compared, &setup.pull) else {
            // A second worker keeps its own factorisation of the rig.
            *self = Self {
                side_by_side: self.side_by_side,
                ..Self::default()
            };
            return;
        };
        let Some(loaded) = cx.library.ready(&cx.document.character.asset) else {
            return;
        };

        let requested = ComparedDrag {
            rig: RigSpec {
                loaded,
                character: cx.document.character.clone(),
            },
            pull: pull.clone(),
            method,
        };

        let known = |old: &ComparedDrag| {
            old.rig == requested.rig
                && (&old.pull.base, &old.pull.pins, old.method) == (&pull.base, &pull.pins, method)
        };
        if self.requested.as_ref().is_some_and(known) {
            return;
        }

        let method = Method {
            symmetric: method.symmetric || setup.mirrored,
            ..method
        };
        let input = character::DragInput::Pull(pull.pins.clone());
        let drag = Drag {
            gesture: 0,
            serial: 0,
            base: pull.base.clone(),
            method,
            input,
        };

        let worker = self
            .worker
            .get_or_insert_with(|| character::start(cx.wake.clone()));
        worker.send(CharacterRequest {
            rig: requested.rig.clone(),
            pose: PoseRequest::Drag(drag),
        });

        self.requested = Some(requested);
    }

    /// The other pose.
    pub(super) fn posed(&self) -> Option<&Arc<PosedCharacter>> {
        self.posed.as_ref()
    }

    /// The figures of the other method.
    pub(super) fn figures(&self) -> Option<Figures> {
        self.posed.as_ref()?.solve.as_deref().map(Figures::of)
    }

    /// Whether the other pose is being made.
    pub(super) fn busy(&self) -> bool {
        self.worker.as_ref().is_some_and(Latest::busy)
    }

    /// Both viewports look from the same place, whichever was moved.
    pub(super) fn link_cameras(&mut self, cx: &mut Cx<'_>) {
        let Some(seen) = cx.view_state.cameras.get_mut(&RoomName::Pose) else {
            return;
        };
        if cx.document.pose.compared.is_none() || seen.is_empty() {
            self.seen = None;
            return;
        }

        // The camera that changed since the last frame leads the other.
        let moved = seen
            .iter()
            .find(|seen| self.seen.as_ref() != Some(seen) && !seen.subject.is_empty());
        let shared = moved.unwrap_or(&seen[0]).clone();

        seen.resize_with(seen.len().max(2), Default::default);
        seen.fill(shared.clone());
        self.seen = Some(shared);
    }

    /// The other method's pins and figures.
    pub(super) fn canvas_ui(&self, on: &PaneCanvas<'_>, cx: &Cx<'_>) {
        let Some(posed) = &self.posed else { return };
        paint_pins(on, &posed.positions, &cx.document.pose.pins, None, |_| true);
        if let Some(solve) = &posed.solve {
            caption_ui(on, solve);
        }
    }

    /// The figures of the first method, where there are two.
    pub(super) fn caption_ui(&self, on: &PaneCanvas<'_>, solve: Option<&SolveReport>) {
        if let Some(solve) = solve.filter(|_| self.posed.is_some()) {
            caption_ui(on, solve);
        }
    }
}

fn caption_ui(on: &PaneCanvas<'_>, solve: &SolveReport) {
    let painter = &on.canvas.painter;
    let color = painter
        .ctx()
        .style_of(painter.ctx().theme())
        .visuals
        .strong_text_color();

    let place = on.canvas.response.rect.center_bottom() - vec2(0.0, 14.0);
    painter.text(
        place,
        Align2::CENTER_BOTTOM,
        Figures::of(solve).message(),
        FontId::proportional(13.0),
        color,
    );
}
