//! Another method on the same pins, side by side or while a key is held.

use std::sync::Arc;

use eframe::egui::{Align2, FontId, vec2};

use super::overlay::paint_pins;
use super::{Method, Pull};
use crate::character::{self, Ask, Drag, Posed, Question, RigSpec, Solve};
use crate::command::Notice;
use crate::desk::SeenBy;
use crate::rooms::{Cx, On, RoomName};
use crate::work::Latest;

/// The other method's pose.
pub(super) struct Compare {
    /// Whether both are shown.
    pub(super) side_by_side: bool,
    /// Whether the other one is shown alone, while a key is held.
    pub(super) instead: bool,
    worker: Option<Latest<Question, Posed>>,
    asked: Option<Asked>,
    posed: Option<Arc<Posed>>,
    seen: Option<SeenBy>,
}

impl Default for Compare {
    fn default() -> Self {
        Self {
            side_by_side: true,
            instead: false,
            worker: None,
            asked: None,
            posed: None,
            seen: None,
        }
    }
}

struct Asked {
    rig: RigSpec,
    pull: Pull,
    method: Method,
}

/// What a method did, in numbers.
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
    pub(super) fn of(solve: &Solve) -> Self {
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

    fn sentence(&self) -> String {
        format!("{} sliders · {:.2} % off", self.sliders, self.error_percent)
    }
}

impl Compare {
    /// Fetches the other pose and asks for the one that is wanted.
    pub(super) fn update(&mut self, cx: &mut Cx<'_>) {
        match self.worker.as_ref().and_then(Latest::answer) {
            Some(Ok(posed)) => self.posed = Some(Arc::new(posed)),
            Some(Err(sentence)) => {
                self.posed = None;
                cx.tell(Notice::trouble(sentence));
            }
            None => {}
        }
        if cx.desk.room != RoomName::Pose {
            return;
        }
        let setup = &cx.document.pose;
        let (Some(method), Some(pull)) = (setup.compared, &setup.pull) else {
            // What it holds of the rig is worth a second one.
            *self = Self {
                side_by_side: self.side_by_side,
                ..Self::default()
            };
            return;
        };
        let Some(loaded) = cx.library.ready(&cx.document.character.asset) else {
            return;
        };
        let asked = Asked {
            rig: RigSpec {
                loaded,
                character: cx.document.character.clone(),
            },
            pull: pull.clone(),
            method,
        };
        let known = |old: &Asked| {
            old.rig == asked.rig
                && (&old.pull.base, &old.pull.pins, old.method) == (&pull.base, &pull.pins, method)
        };
        if self.asked.as_ref().is_some_and(known) {
            return;
        }
        let method = Method {
            symmetric: method.symmetric || setup.mirrored,
            ..method
        };
        let hand = character::Hand::Pull(pull.pins.clone());
        let drag = Drag {
            gesture: 0,
            serial: 0,
            base: pull.base.clone(),
            method,
            hand,
        };
        let worker = self
            .worker
            .get_or_insert_with(|| character::start(cx.wake.clone()));
        worker.ask(Question {
            rig: asked.rig.clone(),
            ask: Ask::Drag(drag),
        });
        self.asked = Some(asked);
    }

    /// The other pose.
    pub(super) fn posed(&self) -> Option<&Arc<Posed>> {
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
        let Some(seen) = cx.desk.cameras.get_mut(&RoomName::Pose) else {
            return;
        };
        if cx.document.pose.compared.is_none() || seen.is_empty() {
            self.seen = None;
            return;
        }
        let moved = seen
            .iter()
            .find(|seen| self.seen.as_ref() != Some(seen) && !seen.subject.is_empty());
        let shared = moved.unwrap_or(&seen[0]).clone();
        seen.resize_with(seen.len().max(2), Default::default);
        seen.fill(shared.clone());
        self.seen = Some(shared);
    }

    /// The other method's pins and figures.
    pub(super) fn canvas_ui(&self, on: &On<'_>, cx: &Cx<'_>) {
        let Some(posed) = &self.posed else { return };
        paint_pins(on, &posed.positions, &cx.document.pose.pins, None, |_| true);
        if let Some(solve) = &posed.solve {
            caption_ui(on, solve);
        }
    }

    /// The figures of the first method, where there are two.
    pub(super) fn caption_ui(&self, on: &On<'_>, solve: Option<&Solve>) {
        if let Some(solve) = solve.filter(|_| self.posed.is_some()) {
            caption_ui(on, solve);
        }
    }
}

fn caption_ui(on: &On<'_>, solve: &Solve) {
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
        Figures::of(solve).sentence(),
        FontId::proportional(13.0),
        color,
    );
}
