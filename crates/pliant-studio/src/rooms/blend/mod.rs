//! The Blend room: shapes between shapes that keep their volume, around obstacles.
//!
//! - `shapes`, `triangle`: the blended shapes and their weights.
//! - `obstacle`: obstacles. `brush`, `stroke`: anchor, fixed vertices, stiffness.
//! - `options`: contact, material, solver.
//! - `picture`, `strain_scale`: the two viewports and their colours.
//! - `figures`: results in numbers. `bake`: takes, export, new targets.

mod bake;
mod brush;
mod figures;
mod obstacle;
mod options;
mod picture;
mod shapes;
mod strain_scale;
mod stroke;
mod triangle;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use eframe::egui::{Key, Ui};
use pliant::mesh::glam::DVec3;

use super::{Pane, PaneCanvas, Room};
use crate::engine::blend::BlendResult;
use crate::engine::blend::arrivals::Arrivals;
use crate::engine::blend::assembly::AssemblyProgress;
use crate::engine::blend::equilibrium::{self, BlendRequest, Source};
use crate::engine::command::Notice;
use crate::engine::context::Cx;
use crate::engine::export::Exportable;
use crate::engine::work::Latest;
use crate::model::room::RoomName;
use bake::Baker;
use brush::{Brush, Tool, anchor_marks};
use obstacle::Obstacles;
use picture::Picture;
use shapes::{Chooser, Sources};

/// The keys of the room, for the list of shortcuts.
pub const SHORTCUTS: &[crate::widgets::ShortcutGroup] = &[(
    "Blend",
    &[
        ("Q, W, E, R", "Select, anchor, fix, stiffness"),
        ("Shift+click", "Add a vertex to the anchor"),
        ("Ctrl+drag", "Erase with a brush"),
        ("Arrows", "Move the point in the triangle"),
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
    worker: Option<Latest<BlendRequest, BlendResult>>,
    /// The last request, and whether its result is pending.
    requested: Option<BlendRequest>,
    waiting: bool,
    shown: Option<Arc<BlendResult>>,
    /// Why nothing is shown.
    error: String,
    assembly_progress: AssemblyProgress,
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
    pub fn blend_result(&self) -> Option<&Arc<BlendResult>> {
        self.shown.as_ref()
    }

    fn fetch(&mut self, cx: &mut Cx<'_>) {
        let answer = self.worker.as_ref().and_then(Latest::result);
        let newest = self
            .requested
            .as_ref()
            .map_or(0, |requested| requested.number);
        match answer {
            None => {}
            Some(Ok(blend_result)) => {
                // Intermediate results do not end the wait.
                self.waiting &= !(blend_result.arrived && blend_result.number == newest);
                self.error.clear();
                self.shown = Some(Arc::new(blend_result));
            }
            Some(Err(message)) => {
                (self.waiting, self.shown) = (false, None);
                cx.notify(Notice::error(message.clone()));
                self.error = message;
            }
        }
    }

    /// Requests the blend that the document wants, once.
    fn request_update(&mut self, cx: &mut Cx<'_>, sources: Vec<Source>) {
        let setup = &cx.document.blend;
        if let Some(requested) = &mut self.requested
            && requested.sources == sources
            && requested.setup.same_scene(setup)
            && requested.setup.weights == setup.weights
        {
            // A rebuilt rig with the same shapes is recognised by its address from now on.
            requested.sources = sources;
            return;
        }

        if self.brush.paints() {
            return;
        }

        let number = self
            .requested
            .as_ref()
            .map_or(1, |requested| requested.number + 1);
        let request = BlendRequest {
            number,
            sources,
            setup: setup.clone(),
        };

        self.worker
            .get_or_insert_with(|| {
                equilibrium::start(cx.wake.clone(), self.assembly_progress.clone())
            })
            .send(request.clone());
        (self.requested, self.waiting) = (Some(request), true);
        self.error.clear();
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
        // Without a shape the size of a built-in bar is assumed.
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
        self.assembly_progress.show(cx);
        self.arrivals.update(cx);
        self.brush.update(cx);
        // Springs are assembled only while the room is open.
        if cx.view_state.room != RoomName::Blend {
            return;
        }

        self.fetch(cx);
        match shapes::sources(cx) {
            Sources::Ready(sources) => self.request_update(cx, sources),
            Sources::Coming => {}
            Sources::Missing(message) => {
                (self.shown, self.requested, self.waiting) = (None, None, false);
                self.error = message;
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

        // Figures, progress or the error of the last request.
        match &self.shown {
            Some(shown) => {
                figures::figures_ui(ui, shown, !cx.document.blend.obstacles.is_empty());
                ui.collapsing("Solve", |ui| figures::report_ui(ui, shown));
            }
            None if self.error.is_empty() => _ = ui.weak("Assembling the springs …"),
            None => {
                ui.colored_label(ui.visuals().error_fg_color, &self.error);
                if self.requested.is_some()
                    && ui
                        .button("Try again")
                        .on_hover_text("Assemble the springs again")
                        .clicked()
                {
                    self.requested = None;
                    self.error.clear();
                }
            }
        }

        ui.add_space(10.0);
        options::contact_ui(ui, cx);
        ui.collapsing("More", |ui| options::more_ui(ui, cx));
        ui.add_space(10.0);

        let sources = self
            .requested
            .as_ref()
            .map(|requested| requested.sources.clone());
        self.baker.bake_ui(ui, cx, sources.as_deref());
        bake::keep_ui(ui, cx, self.shown.as_ref());
    }

    fn panes(&mut self, cx: &mut Cx<'_>) -> Vec<Pane> {
        self.picture.link_cameras(cx);
        let models: Vec<_> = self
            .obstacles
            .models(&cx.document.blend.obstacles)
            .collect();

        let empty = if self.error.is_empty() {
            "Assembling the springs …"
        } else {
            &self.error
        };

        self.picture
            .panes(cx, self.shown.as_ref(), self.brush.tool, &models, empty)
    }

    fn canvas_ui(&mut self, on: &PaneCanvas<'_>, ui: &mut Ui, cx: &mut Cx<'_>) -> bool {
        let Some(shown) = self.shown.clone() else {
            return false;
        };

        let side = self.picture.side(on.pane, &shown);
        anchor_marks(on, &cx.document.blend.anchor, &side.positions);
        // Obstacles act on the physical blend only, so the gizmo is there.
        if self.picture.is_physical(on.pane) && self.obstacles.gizmo_ui(on, ui, cx) {
            return true;
        }

        if on.canvas.response.hovered() && !ui.ctx().egui_wants_keyboard_input() {
            self.keys(ui, cx);
        }

        if self.brush.tool == Tool::Select && on.canvas.tool_clicked() {
            let hit = on.canvas.pointer().and_then(|place| on.pick(place));
            self.obstacles
                // Model 0 is the shape; obstacles follow.
                .select(hit.and_then(|hit| hit.model.checked_sub(1)));
        }

        self.brush.canvas_ui(on, ui, cx, &shown.ground)
    }

    fn drop_hint(&self) -> &'static str {
        "Drop a pose of the same mesh to add it as a shape"
    }

    fn accept(&mut self, path: &Path, cx: &mut Cx<'_>) -> bool {
        self.arrivals.accept(path, cx)
    }

    fn take_files(&mut self, what: &'static str, paths: Vec<PathBuf>, cx: &mut Cx<'_>) {
        self.chooser.clear_typed();
        self.arrivals.take(what, &paths, cx);
    }

    fn exports(&mut self, cx: &mut Cx<'_>) -> Vec<Exportable> {
        let (Some(shown), Some(requested)) = (&self.shown, &self.requested) else {
            return Vec::new();
        };
        bake::exports(cx, shown, &requested.sources)
    }

    fn busy(&self) -> bool {
        self.waiting
            || self.brush.busy()
            || self.picture.busy()
            || self.baker.busy()
            || self.arrivals.busy()
    }
}
