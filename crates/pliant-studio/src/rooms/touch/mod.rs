//! The Touch room: soft patches, colliders that press into them, pulls, baked takes.
//!
//! - `tools`, `options`: the panels on the left and on the right.
//! - `brush`, `press`, `pull`: the three tools. `pointer`: what they share.
//! - `solid_model`: the collider as the viewport draws it.

mod brush;
mod options;
mod pointer;
mod press;
mod pull;
mod solid_model;
mod tools;

use std::sync::Arc;

use eframe::egui::{Align2, FontId, Key, Rect, Ui, vec2};
use pliant::mesh::glam::DVec3;

use super::{Pane, PaneCanvas, Room};
use crate::engine::character::{PosedCharacter, free_target_name};
use crate::engine::command::Notice;
use crate::engine::context::Cx;
use crate::engine::touch::bake::{Baked, Plan, recorded_place};
use crate::engine::touch::simulation::{self, HeldSolid, STEP_SECS, TouchRequest, TouchResult};
use crate::engine::work::{Latest, Task};
use crate::model::document::{AddedTarget, Character, Locator};
use crate::model::room::RoomName;
use crate::model::touch::{Method, SkinColoring, playing_baked};
use crate::view::legend::LEGEND_SIZE;
use crate::view::{Model, Paint, Scene, legend_ui};
use tools::Tool;

/// The keys of the room, for the list of shortcuts.
pub const SHORTCUTS: &[crate::widgets::ShortcutGroup] = &[(
    "Touch",
    &[
        ("B, P, G", "Brush, press, pull"),
        ("Drag", "Press into the skin and along it"),
        ("Wheel while pressing", "Deeper or shallower"),
        ("Ctrl, Shift, both", "Along the normal, the skin, in depth"),
        ("Del", "Delete the patch"),
    ],
)];

/// A collider hides this much of the skin behind it.
const SOLID_OPACITY: f32 = 0.7;
/// The longest time between two shapes of an animation that plays; more is a jump.
const LONGEST_STEP_SECS: f64 = 0.2;

/// The room.
pub struct TouchRoom {
    tool: Tool,
    brush: brush::PatchBrush,
    press: press::PressTool,
    pull_tool: pull::PullTool,
    /// Started with the first request.
    worker: Option<Latest<TouchRequest, TouchResult>>,
    requested: Option<TouchRequest>,
    asked_frame: f64,
    touched: Option<TouchResult>,
    /// Whether the last request failed.
    declined: bool,
    /// The character for which the tool was chosen.
    subject: Option<Locator>,
    /// Whether the room is open: only then skin moves.
    open: bool,
    baking: Option<Task<Baked>>,
    target_name: String,
}

impl Default for TouchRoom {
    fn default() -> Self {
        Self {
            tool: Tool::Brush,
            brush: brush::PatchBrush::default(),
            press: press::PressTool::default(),
            pull_tool: pull::PullTool::default(),
            worker: None,
            requested: None,
            asked_frame: 0.0,
            touched: None,
            declined: false,
            subject: None,
            open: false,
            baking: None,
            target_name: "touch".into(),
        }
    }
}

impl Room for TouchRoom {
    fn update(&mut self, cx: &mut Cx<'_>) {
        self.open = cx.view_state.room == RoomName::Touch;
        self.choose_tool(cx);
        self.fetch_baked(cx);
        self.fetch_touched(cx);
        if self.open {
            self.request_update(cx);
        }
    }

    fn tools_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        // During a press the wheel belongs to the tool; panels run before viewports, which would
        // zoom.
        self.press.take_wheel(ui);
        self.panel_ui(ui, cx);
    }

    fn options_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        self.figures_ui(ui, cx);
        options::options_ui(ui, cx);
    }

    fn panes(&mut self, cx: &mut Cx<'_>) -> Vec<Pane> {
        let mut pane = Pane {
            empty: "Drop a character here, or choose one in File › Open.".into(),
            subject: cx.document.character.asset.clone(),
            ..Pane::default()
        };
        if let Some(posed) = cx.posed {
            pane.scene = self.scene(posed, cx);
        }
        vec![pane]
    }

    fn canvas_ui(&mut self, on: &PaneCanvas<'_>, ui: &mut Ui, cx: &mut Cx<'_>) -> bool {
        let Some(posed) = cx.posed.cloned() else {
            return false;
        };

        self.keys(ui, cx);
        // The tool goes first: it decides whether the camera gets the drag.
        let used = match self.tool {
            Tool::Brush => self.brush.canvas_ui(on, &posed, ui, cx),
            Tool::Press => self.press.canvas_ui(on, &posed, ui, cx),
            Tool::Pull => self.pull_tool.canvas_ui(on, self.touched.as_ref(), ui, cx),
        };

        if self.tool == Tool::Brush {
            self.brush.paint(on, cx);
        }

        self.press.paint(on);
        if let Some(touched) = &self.touched {
            self.pull_tool.paint(on, touched, cx);
            legend(on, self.tool, touched, cx);
        }

        // Without a soft patch no other tool has an effect.
        if cx.document.touch.patches.is_empty() {
            let hint = "Press on the face and drag outwards to make a soft patch.";
            pointer::label(
                &on.canvas.painter,
                on.canvas.response.rect.left_top() + vec2(14.0, 14.0),
                Align2::LEFT_TOP,
                hint,
                FontId::proportional(14.0),
            );
        }
        used
    }

    fn busy(&self) -> bool {
        let requested = self.open && self.requested.is_some() && !self.declined;
        let moving = requested && self.touched.as_ref().is_none_or(|touched| !touched.rests);
        moving || self.worker.as_ref().is_some_and(Latest::busy) || self.baking.is_some()
    }
}

impl TouchRoom {
    /// The skin that is shown; `None` before there is a soft patch, and while a baked take plays.
    #[must_use]
    pub fn touched(&self) -> Option<&TouchResult> {
        self.touched.as_ref()
    }

    /// A character that comes with a patch is ready to be pressed.
    fn choose_tool(&mut self, cx: &Cx<'_>) {
        let asset = &cx.document.character.asset;
        if self.subject.as_ref() != Some(asset) {
            self.tool = if cx.document.touch.patches.is_empty() {
                Tool::Brush
            } else {
                Tool::Press
            };
            self.subject = Some(asset.clone());
        }
    }

    fn keys(&mut self, ui: &Ui, cx: &mut Cx<'_>) {
        if ui.ctx().egui_wants_keyboard_input() {
            return;
        }

        let plain =
            |key: Key| ui.input(|input| input.key_pressed(key) && input.modifiers.is_none());
        if let Some(tool) = Tool::ALL.into_iter().find(|tool| plain(tool.key())) {
            self.tool = tool;
        }
        if plain(Key::Delete) {
            self.brush.delete(cx);
        }
    }

    fn fetch_touched(&mut self, cx: &mut Cx<'_>) {
        match self.worker.as_ref().and_then(Latest::result) {
            None => {}
            Some(Ok(touched)) => self.touched = Some(touched),
            Some(Err(message)) => {
                // An equal request is not sent again.
                (self.touched, self.declined) = (None, true);
                cx.notify(Notice::error(message));
            }
        }
    }

    /// Requests the skin that the document wants, unless it was requested already.
    fn request_update(&mut self, cx: &mut Cx<'_>) {
        let Some(mut request) = request(self.tool, cx) else {
            (self.requested, self.touched) = (None, None);
            return;
        };

        let before = self.requested.as_ref();
        let same = before.is_some_and(|before| before.is_same(&request));
        let moving = self.touched.as_ref().is_some_and(|touched| !touched.rests);

        // Without threads the worker does one step for each request.
        if same && (cfg!(feature = "parallel") || !moving) {
            return;
        }

        if cx.clock.playing
            && before.is_some_and(|before| !Arc::ptr_eq(&before.posed, &request.posed))
        {
            let passed =
                (cx.clock.frame - self.asked_frame) / cx.document.timeline.frames_per_second;
            request.playing_secs = Some(if passed > 0.0 && passed <= LONGEST_STEP_SECS {
                passed
            } else {
                STEP_SECS
            });
        }

        self.asked_frame = cx.clock.frame;
        (self.requested, self.declined) = (Some(request.clone()), false);
        self.worker
            .get_or_insert_with(|| simulation::start(cx.wake.clone()))
            .send(request);
    }

    fn scene(&self, posed: &Arc<PosedCharacter>, cx: &Cx<'_>) -> Scene {
        // A result for another character is not drawn.
        let touched = self
            .touched
            .as_ref()
            .filter(|touched| Arc::ptr_eq(&touched.posed.surface, &posed.surface));
        let vertices = touched.map_or(&posed.vertices, |touched| &touched.vertices);

        let mut face = Model::new(posed.surface.clone(), vertices.clone());
        if let Some(skin) = touched.and_then(|touched| touched.colors.as_ref()) {
            face = face.with_paint(Paint::Colors(skin.colors.clone()));
        }

        let solid = self.solid_model(posed, cx).map(|model| {
            model
                .with_paint(Paint::Plain(tools::SOLID_COLOR))
                .with_opacity(SOLID_OPACITY)
        });

        Scene {
            models: std::iter::once(face).chain(solid).collect(),
        }
    }

    /// The collider where the shown skin met it, so that neither is ahead of the other.
    fn solid_model(&self, posed: &PosedCharacter, cx: &Cx<'_>) -> Option<Model> {
        let setup = &cx.document.touch;
        let idle = setup.solid.place.is_none() && self.tool != Tool::Press;
        if setup.patches.is_empty() || idle {
            return None;
        }
        // While a baked take plays, the collider follows its recording.
        if playing_baked(cx.document).is_some() {
            let fps = cx.document.timeline.frames_per_second;
            let place = recorded_place(setup, cx.clock.frame / fps, fps)?;
            return Some(setup.solid.model(setup.solid_radius(posed), place));
        }

        if let Some(held) = self
            .touched
            .as_ref()
            .and_then(|touched| touched.solid.as_ref())
        {
            return Some(held.solid.model(held.radius, held.place));
        }

        let (solid, place) = setup.solid_at(posed)?;
        Some(solid.model(setup.solid_radius(posed), place))
    }

    /// Bakes the last press over the timeline.
    fn bake(&mut self, cx: &mut Cx<'_>) {
        let Some(posed) = cx.posed.cloned() else {
            return;
        };
        match Plan::new(cx.document, cx.library, &posed) {
            Ok(plan) => {
                self.baking = Some(cx.start("Baking the touch", move |watch| plan.bake(watch)))
            }
            Err(message) => cx.notify(Notice::error(message)),
        }
    }

    fn fetch_baked(&mut self, cx: &mut Cx<'_>) {
        match Task::finished(&mut self.baking) {
            None => {}
            Some(Err(message)) => cx.notify(Notice::error(message)),
            Some(Ok(Baked {
                take,
                below,
                problem,
            })) => {
                let count = take.frame_count;
                cx.edit("Bake touch", move |document| {
                    let name = document.timeline.add_take(take);
                    // The take below is stored, so that the touch can be edited and baked again.
                    document.touch.baked.insert(name.clone(), below);
                    document.timeline.playing_take = Some(name);
                });

                let done = Notice::done(format!(
                    "Baked {count} frames as a take; play it on the timeline."
                ));
                cx.notify(problem.map_or(done, |problem| {
                    Notice::hint(format!("Baked, but {problem}."))
                }));
            }
        }
    }

    /// Makes a slider of what the touch adds to the character's own shape now.
    fn keep_as_target(&mut self, cx: &mut Cx<'_>) {
        let Some(touched) = &self.touched else { return };
        let added = added_target(
            touched,
            &free_name(&self.target_name, touched, &cx.document.character),
        );
        cx.notify(Notice::done(format!("Added the slider {}.", added.name)));
        cx.edit("Add touch as slider", move |document| {
            document.character.added.push(added)
        });
    }
}

/// What the skin's colours mean, where viewports have their legends.
fn legend(on: &PaneCanvas<'_>, tool: Tool, touched: &TouchResult, cx: &Cx<'_>) {
    // A tint has no scale to read off.
    let tinted = tool != Tool::Brush && cx.document.touch.shown == SkinColoring::Softness;
    if let Some(skin) = touched
        .colors
        .as_ref()
        .filter(|_| cx.view_state.look.legend && !tinted)
    {
        let corner = on.canvas.response.rect.right_bottom() - LEGEND_SIZE - vec2(14.0, 14.0);
        legend_ui(
            &on.canvas.painter,
            Rect::from_min_size(corner, LEGEND_SIZE),
            &skin.heat,
        );
    }
}

/// The skin that the document wants; `None` without a character or a patch, and while a take plays
/// that was baked in this room.
fn request(tool: Tool, cx: &Cx<'_>) -> Option<TouchRequest> {
    let posed = cx.posed?;
    let setup = &cx.document.touch;
    let count = posed.positions.len();
    // Patches of another character may name vertices that do not exist.
    if setup.patches.is_empty()
        || playing_baked(cx.document).is_some()
        || setup
            .patches
            .iter()
            .any(|patch| patch.center.index() >= count)
    {
        return None;
    }

    let pull = setup
        .pull
        .filter(|pull| pull.holds && setup.simulation.method == Method::Xpbd);
    let solid = setup.solid_at(posed).map(|(solid, place)| HeldSolid {
        radius: setup.solid_radius(posed),
        friction: setup.friction(),
        from: solid.from.map_or(place, DVec3::from_array),
        solid,
        place,
    });

    Some(TouchRequest {
        posed: posed.clone(),
        patches: setup.soft_patches(),
        options: setup.touch_options(),
        solid,
        pull: pull.map(|pull| (pull.vertex.index(), DVec3::from_array(pull.offset))),
        shown: setup.shown,
        brushed: tool == Tool::Brush,
        playing_secs: None,
    })
}

/// What the touch adds to the character's own shape.
fn added_target(touched: &TouchResult, name: &str) -> AddedTarget {
    let displacement =
        |&v: &u32| (touched.positions[v as usize] - touched.posed.positions[v as usize]).as_vec3();
    // Only vertices that moved belong to the target.
    let moved = || {
        touched
            .region
            .vertices()
            .iter()
            .filter(|v| displacement(v).length_squared() > 0.0)
    };

    let vertices = moved().copied().collect();
    let deltas = moved().map(|v| displacement(v).to_array()).collect();

    AddedTarget {
        name: name.to_owned(),
        vertices: Arc::new(vertices),
        deltas: Arc::new(deltas),
    }
}

/// A name that no slider has: the wanted one, or that with a number.
fn free_name(wanted: &str, touched: &TouchResult, character: &Character) -> String {
    let wanted = if wanted.trim().is_empty() {
        "touch"
    } else {
        wanted.trim()
    };

    free_target_name(wanted, &touched.posed.rig, &character.added)
}
