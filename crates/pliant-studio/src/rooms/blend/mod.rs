//! Blend: shapes between shapes that do not shrink, around what is in the way.

mod arrivals;
mod bake;
mod balance;
mod brush;
mod examples;
mod figures;
mod joining;
mod obstacle;
mod options;
mod picture;
mod setup;
mod shapes;
mod strain_scale;
mod stroke;
mod triangle;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use eframe::egui::{Key, Ui};
use pliant::mesh::glam::DVec3;

pub use balance::{Balanced, Side, Solved};
pub use examples::{bar_around_a_cylinder, examples, expressions, three_shapes};
pub use figures::Figures;
pub use obstacle::{Form, ObstacleMark};
pub use setup::{Bake, BlendKey, Body, Cage, Material, Setup, ShapeMark, Solver, Way};

use super::{Cx, On, Pane, Room, RoomName};
use crate::command::Notice;
use crate::export::Exportable;
use crate::work::Latest;
use arrivals::Arrivals;
use bake::Baker;
use balance::{Question, Source};
use brush::{Brush, Tool, anchor_marks};
use joining::Joining;
use obstacle::Obstacles;
use picture::Picture;
use shapes::{Chooser, Sources};

/// The keys of the room, for the sheet.
pub const SHORTCUTS: &[crate::help::Sheet] = &[(
    "Blend",
    &[
        ("Q, W, E, R", "Select, anchor, fix, stiffness"),
        ("Shift+click", "One more place of the anchor"),
        ("Ctrl+drag", "Erase with a brush"),
        ("Arrows", "Nudge the point in the triangle"),
        ("Del", "Delete the obstacle"),
    ],
)];

/// The keys of the tools, as in the Pose room.
const TOOL_KEYS: [(Key, Tool); 4] = [
    (Key::Q, Tool::Select),
    (Key::W, Tool::Anchor),
    (Key::E, Tool::Fix),
    (Key::R, Tool::Stiffness),
];

/// The room.
#[derive(Default)]
pub struct BlendRoom {
    worker: Option<Latest<Question, Balanced>>,
    /// What was last asked, and whether its answer is still to come.
    asked: Option<Question>,
    waiting: bool,
    shown: Option<Arc<Balanced>>,
    /// Why nothing is shown.
    trouble: String,
    joining: Joining,
    chooser: Chooser,
    arrivals: Arrivals,
    brush: Brush,
    obstacles: Obstacles,
    picture: Picture,
    baker: Baker,
}

impl BlendRoom {
    /// The blend that is shown.
    #[must_use]
    pub fn balanced(&self) -> Option<&Arc<Balanced>> {
        self.shown.as_ref()
    }

    fn fetch(&mut self, cx: &mut Cx<'_>) {
        let answer = self.worker.as_ref().and_then(Latest::answer);
        let newest = self.asked.as_ref().map_or(0, |asked| asked.number);
        match answer {
            None => {}
            Some(Ok(balanced)) => {
                self.waiting &= !(balanced.arrived && balanced.number == newest);
                self.trouble.clear();
                self.shown = Some(Arc::new(balanced));
            }
            Some(Err(sentence)) => {
                (self.waiting, self.shown) = (false, None);
                cx.tell(Notice::trouble(sentence.clone()));
                self.trouble = sentence;
            }
        }
    }

    /// Asks for the blend that the document wants, once.
    fn ask(&mut self, cx: &mut Cx<'_>, sources: Vec<Source>) {
        let setup = &cx.document.blend;
        if let Some(asked) = &mut self.asked
            && asked.sources == sources
            && asked.setup.same_scene(setup)
            && asked.setup.weights == setup.weights
        {
            // A rig that was made anew with the same shapes is known at a glance from now on.
            asked.sources = sources;
            return;
        }
        if self.brush.paints() {
            return;
        }
        let number = self.asked.as_ref().map_or(1, |asked| asked.number + 1);
        let question = Question {
            number,
            sources,
            setup: setup.clone(),
        };
        self.worker
            .get_or_insert_with(|| balance::start(cx.wake.clone(), self.joining.clone()))
            .ask(question.clone());
        (self.asked, self.waiting) = (Some(question), true);
        self.trouble.clear();
    }

    fn keys(&mut self, ui: &Ui, cx: &mut Cx<'_>) {
        let plain =
            |key: Key| ui.input(|input| input.key_pressed(key) && input.modifiers.is_none());
        if plain(Key::Delete) {
            self.obstacles.delete(cx);
        }
        if let Some((_, tool)) = TOOL_KEYS.into_iter().find(|(key, _)| plain(*key)) {
            self.brush.tool = tool;
        }
    }

    /// Size of the shapes, and a place above them.
    fn extent(&self) -> (f64, DVec3) {
        let bounds = self
            .shown
            .as_ref()
            .and_then(|shown| shown.ground.mesh.bounds());
        bounds.map_or((2.0, DVec3::Y), |b| {
            (
                b.size().length(),
                DVec3::new(
                    b.center().x,
                    b.max.y + 0.15 * b.size().length(),
                    b.center().z,
                ),
            )
        })
    }
}

impl Room for BlendRoom {
    fn update(&mut self, cx: &mut Cx<'_>) {
        self.baker.fetch(cx);
        self.joining.show(cx);
        self.arrivals.update(cx);
        self.brush.update(cx);
        if cx.desk.room != RoomName::Blend {
            return;
        }
        self.fetch(cx);
        match shapes::sources(cx) {
            Sources::Ready(sources) => self.ask(cx, sources),
            Sources::Coming => {}
            Sources::Missing(sentence) => {
                (self.shown, self.asked, self.waiting) = (None, None, false);
                self.trouble = sentence;
            }
        }
    }

    fn tools_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        self.brush.tools_ui(ui, cx);
        ui.add_space(10.0);
        ui.strong("Obstacles");
        let (size, above) = self.extent();
        self.obstacles.list_ui(ui, cx, size, above);
        ui.add_space(10.0);
        self.picture.look_ui(ui);
    }

    fn options_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        self.chooser.shapes_ui(ui, cx);
        if cx.document.blend.shapes.is_empty() {
            return;
        }
        ui.add_space(10.0);
        shapes::weights_ui(ui, cx);
        ui.add_space(10.0);
        match &self.shown {
            Some(shown) => {
                figures::figures_ui(ui, shown, !cx.document.blend.obstacles.is_empty());
                ui.collapsing("Solve", |ui| figures::report_ui(ui, shown));
            }
            None if self.trouble.is_empty() => _ = ui.weak("Joining the shapes by springs …"),
            None => {
                ui.colored_label(ui.visuals().error_fg_color, &self.trouble);
                if self.asked.is_some()
                    && ui
                        .button("Try again")
                        .on_hover_text("Join the shapes by springs once more")
                        .clicked()
                {
                    self.asked = None;
                    self.trouble.clear();
                }
            }
        }
        ui.add_space(10.0);
        options::contact_ui(ui, cx);
        ui.collapsing("More", |ui| options::more_ui(ui, cx));
        ui.add_space(10.0);
        let sources = self.asked.as_ref().map(|asked| asked.sources.clone());
        self.baker.bake_ui(ui, cx, sources.as_deref());
        bake::keep_ui(ui, cx, self.shown.as_ref());
    }

    fn panes(&mut self, cx: &mut Cx<'_>) -> Vec<Pane> {
        self.picture.link_cameras(cx);
        let models: Vec<_> = self
            .obstacles
            .models(&cx.document.blend.obstacles)
            .collect();
        let empty = if self.trouble.is_empty() {
            "Joining the shapes by springs …"
        } else {
            &self.trouble
        };
        self.picture
            .panes(cx, self.shown.as_ref(), self.brush.tool, &models, empty)
    }

    fn canvas_ui(&mut self, on: &On<'_>, ui: &mut Ui, cx: &mut Cx<'_>) -> bool {
        let Some(shown) = self.shown.clone() else {
            return false;
        };
        let side = self.picture.side(on.pane, &shown);
        anchor_marks(on, &cx.document.blend.anchor, &side.positions);
        if self.picture.is_physical(on.pane) && self.obstacles.gizmo_ui(on, ui, cx) {
            return true;
        }
        if on.canvas.response.hovered() && !ui.ctx().egui_wants_keyboard_input() {
            self.keys(ui, cx);
        }
        if self.brush.tool == Tool::Select && on.canvas.tool_clicked() {
            let hit = on.canvas.pointer().and_then(|place| on.pick(place));
            self.obstacles
                .select(hit.and_then(|hit| hit.model.checked_sub(1)));
        }
        self.brush.canvas_ui(on, ui, cx, &shown.ground)
    }

    fn drop_hint(&self) -> &'static str {
        "Drop a pose of the same mesh to make it a shape"
    }

    fn accept(&mut self, path: &Path, cx: &mut Cx<'_>) -> bool {
        self.arrivals.accept(path, cx)
    }

    fn take_files(&mut self, what: &'static str, paths: Vec<PathBuf>, cx: &mut Cx<'_>) {
        self.chooser.forget_typed();
        self.arrivals.take(what, &paths, cx);
    }

    fn exports(&mut self, cx: &mut Cx<'_>) -> Vec<Exportable> {
        let (Some(shown), Some(asked)) = (&self.shown, &self.asked) else {
            return Vec::new();
        };
        bake::exports(cx, shown, &asked.sources)
    }

    fn busy(&self) -> bool {
        self.waiting
            || self.brush.busy()
            || self.picture.busy()
            || self.baker.busy()
            || self.arrivals.busy()
    }
}
