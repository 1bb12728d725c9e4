//! The Pose room: pins and strokes on a rig; the sliders follow.
//!
//! - `tools`, `options`: the panels on the left and on the right.
//! - `pin_tool`, `overlay`: pins under the pointer and over the picture.
//! - `strokes`, `stroke_library`: drawn lines, saved strokes, landmarks.
//! - `compare`: two methods on the same pins.

mod compare;
mod options;
mod overlay;
mod pin_tool;
mod stroke_library;
mod strokes;
mod tools;

use std::sync::Arc;

use eframe::egui::{Color32, Key, Modifiers, Ui};
use pliant::mesh::Bounds;
use pliant::mesh::glam::DVec3;

use super::{Pane, PaneCanvas, Room};
use crate::engine::character::{PosedCharacter, SolveReport};
use crate::engine::context::Cx;
use crate::engine::heat::Heat;
use crate::engine::pose::onion_skins::{OnionSkins, Side, ghost_surface};
use crate::engine::pose::{mirror, residual_layer};
use crate::engine::surface::Vertices;
use crate::model::pose::Method;
use crate::model::room::RoomName;
use crate::view::{Model, Paint, Scene};

/// What the left button does; not stored in the document, so that undo does not change it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tool {
    /// Sets and drags pins.
    #[default]
    Pin,
    /// Bends the face along a line.
    Stroke,
    /// Takes a line on the face to where another is drawn.
    Curve,
    /// Marks places by which strokes are kept.
    Landmark,
}

impl Tool {
    /// All of them, in the order of their keys.
    pub const ALL: [Self; 4] = [Self::Pin, Self::Stroke, Self::Curve, Self::Landmark];

    fn key(self) -> Key {
        match self {
            Self::Pin => Key::Q,
            Self::Stroke => Key::W,
            Self::Curve => Key::E,
            Self::Landmark => Key::R,
        }
    }
}

/// The keys of the room, for the list of shortcuts.
pub const SHORTCUTS: &[crate::widgets::ShortcutGroup] = &[(
    "Pose",
    &[
        ("Q, W, E, R", "Pin, stroke, curve, landmarks"),
        ("Click", "Set or select a pin"),
        ("Drag", "Move in the view plane"),
        ("Ctrl+drag", "Move along the normal"),
        ("Shift+drag", "Move along the skin"),
        ("Ctrl+Shift+drag", "Move in depth"),
        ("H", "Hold or release the pin"),
        ("Del, X", "Delete the pin"),
        ("M", "Mirror pins"),
        ("`", "Show the other method while pressed"),
        ("Esc", "Discard the first line of a curve"),
    ],
)];

/// Ghosts of what was.
const BEFORE: Color32 = Color32::from_rgb(230, 130, 60);
/// Ghosts of what comes.
const AFTER: Color32 = Color32::from_rgb(80, 190, 120);
/// Chosen: seen on skin, without hiding it.
const GHOST_OPACITY: f32 = 0.4;

/// The room.
#[derive(Default)]
pub struct PoseRoom {
    tool: Tool,
    pin_tool: pin_tool::PinTool,
    strokes: strokes::Strokes,
    library: stroke_library::SaveStrokeForm,
    layer: residual_layer::ResidualLayerView,
    compare: compare::Compare,
    mirror: mirror::Mirror,
    seen: overlay::VisiblePins,
    skins: OnionSkins,
    serial: u64,
    target_name: String,
}

impl Room for PoseRoom {
    fn update(&mut self, cx: &mut Cx<'_>) {
        self.mirror.update(cx);
        self.layer.update(self.pin_tool.selected, cx);
        self.compare.update(cx);
        self.seen.fetch();
        let wanted = cx.view_state.look.onion && cx.view_state.room == RoomName::Pose;
        self.skins.update(wanted, cx);
        self.take_drawn(cx);
    }

    fn tools_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        self.tools_panel_ui(ui, cx);
    }

    fn options_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        self.options_panel_ui(ui, cx);
    }

    fn panes(&mut self, cx: &mut Cx<'_>) -> Vec<Pane> {
        self.compare.link_cameras(cx);
        let setup = &cx.document.pose;
        let Some(posed) = cx.posed else {
            return vec![empty_pane(cx)];
        };

        let face = self.layer.face(posed);
        let mut first = pane(cx, posed, face.vertices, face.heat);
        first.selection = self.selection_bounds(cx, posed);
        first.scene.models.extend(self.ghosts(cx, posed));

        // Without a comparison there is one viewport.
        let Some((method, other)) = setup.compared.zip(self.compare.posed()) else {
            return vec![first];
        };

        let second = pane(cx, other, other.vertices.clone(), None);
        // While the key is pressed, only the other method is shown.
        if self.compare.instead {
            return vec![Pane {
                title: format!("B: {}", method.kind.label()),
                ..second
            }];
        }
        if !self.compare.side_by_side {
            return vec![first];
        }

        let title = |letter, method: &Method| format!("{letter}: {}", method.kind.label());
        vec![
            Pane {
                title: title('A', &setup.method),
                ..first
            },
            Pane {
                title: title('B', &method),
                ..second
            },
        ]
    }

    fn canvas_ui(&mut self, on: &PaneCanvas<'_>, ui: &mut Ui, cx: &mut Cx<'_>) -> bool {
        let Some(posed) = cx.posed.cloned() else {
            return false;
        };

        let is_other = on.pane == 1 || self.compare.instead;
        // Keys are handled once, whichever viewport has the pointer.
        if on.pane == 0 {
            self.keys(ui, cx);
        }

        // The other method is shown and cannot be edited.
        if is_other {
            self.compare.canvas_ui(on, cx);
            return false;
        }

        let face = self.layer.face(&posed);
        let used = self.tool_ui(on, ui, &posed, &face.positions, cx);
        self.paint_overlay(on, ui, &posed, &face.positions, cx);
        self.compare.caption_ui(on, last_solve(cx));
        used
    }

    fn shows_sliders(&self) -> bool {
        true
    }

    fn busy(&self) -> bool {
        self.layer.busy()
            || self.compare.busy()
            || self.mirror.busy()
            || self.seen.busy()
            || self.skins.busy()
    }
}

impl PoseRoom {
    fn tool_ui(
        &mut self,
        on: &PaneCanvas<'_>,
        ui: &mut Ui,
        posed: &Arc<PosedCharacter>,
        positions: &[DVec3],
        cx: &mut Cx<'_>,
    ) -> bool {
        let tool = self.tool;
        let over_pin = on.canvas.press_origin().is_some_and(|p| {
            pin_tool::pin_under(p, on, positions, &cx.document.pose.pins).is_some()
        });

        // Pins can also be dragged while a stroke tool is active.
        let drags_pin =
            tool == Tool::Pin || self.pin_tool.holds() || (over_pin && !self.strokes.draws());

        match tool {
            _ if drags_pin && tool != Tool::Landmark => {
                self.pin_tool_ui(on, ui, posed, positions, cx)
            }
            Tool::Stroke | Tool::Curve => self.strokes_ui(on, ui, posed, cx),
            Tool::Landmark => self.landmarks_ui(on, positions, cx),
            Tool::Pin => false,
        }
    }

    /// Shortcuts of the room.
    fn keys(&mut self, ui: &Ui, cx: &mut Cx<'_>) {
        if ui.ctx().egui_wants_keyboard_input() {
            return;
        }

        let pressed = |key: Key| {
            ui.input(|input| input.key_pressed(key) && input.modifiers == Modifiers::NONE)
        };

        for tool in Tool::ALL.into_iter().filter(|tool| pressed(tool.key())) {
            self.choose_tool(tool);
        }
        if pressed(Key::Delete) || pressed(Key::X) {
            self.delete_selected(cx);
        }
        if pressed(Key::H) {
            self.toggle_held(cx);
        }
        if pressed(Key::M) {
            toggle_mirrored(cx);
        }

        if pressed(Key::Escape) {
            self.strokes.forget();
            self.pin_tool.selected = None;
        }

        // The key shows the other method as long as it is pressed.
        let instead =
            ui.input(|input| input.key_down(Key::Backtick)) && cx.document.pose.compared.is_some();
        if instead != self.compare.instead {
            self.compare.instead = instead;
            ui.ctx().request_repaint();
        }
    }

    fn choose_tool(&mut self, tool: Tool) {
        self.strokes.forget();
        self.tool = tool;
    }

    /// A number for the next drag.
    fn next_serial(&mut self) -> u64 {
        self.serial += 1;
        self.serial
    }

    /// Other poses that shine through: that before the drag, and those at keys.
    fn ghosts(&self, cx: &Cx<'_>, posed: &PosedCharacter) -> Vec<Model> {
        let model = |surface, vertices, color, opacity| {
            Model::new(surface, vertices).as_ghost(color, opacity)
        };
        if let Some(before) = self.pin_tool.before() {
            let look = cx.view_state.look;
            let surface = look
                .ghost
                .then(|| ghost_surface(&posed.surface, &posed.vertices, before))
                .flatten();
            let ghost =
                surface.map(|surface| model(surface, before.clone(), BEFORE, GHOST_OPACITY));
            return ghost.into_iter().collect();
        }

        self.skins
            .ghosts()
            .iter()
            .map(|ghost| {
                let color = match ghost.side {
                    Side::Before => BEFORE,
                    Side::After => AFTER,
                };
                let opacity = GHOST_OPACITY * ghost.strength;
                model(
                    ghost.surface.clone(),
                    ghost.vertices.clone(),
                    color,
                    opacity,
                )
            })
            .collect()
    }

    fn selection_bounds(&self, cx: &Cx<'_>, posed: &PosedCharacter) -> Option<Bounds> {
        let mark = cx.document.pose.pins.get(self.pin_tool.selected?)?;
        let place = mark.place(&posed.positions)?;
        let whole = Bounds::of(&posed.positions)?;
        let reach = DVec3::splat(0.12 * whole.diagonal());
        Some(Bounds {
            min: place - reach,
            max: place + reach,
        })
    }
}

/// The last solve, if the pose is what it led to.
fn last_solve<'a>(cx: &Cx<'a>) -> Option<&'a SolveReport> {
    let (solve, posed) = cx.solve.zip(cx.posed)?;
    (solve.pose.weights == posed.weights).then_some(solve)
}

fn toggle_mirrored(cx: &mut Cx<'_>) {
    let label = if cx.document.pose.mirrored {
        "Stop mirroring pins"
    } else {
        "Mirror pins"
    };
    cx.edit(label, |document| document.pose.mirrored ^= true);
}

fn empty_pane(cx: &Cx<'_>) -> Pane {
    let empty = if cx.document.character.asset.is_empty() {
        "Drop a rig here, or choose one in File › Open."
    } else {
        "Loading the rig…"
    };
    Pane {
        empty: empty.into(),
        ..Pane::default()
    }
}

fn pane(cx: &Cx<'_>, posed: &PosedCharacter, vertices: Arc<Vertices>, heat: Option<Heat>) -> Pane {
    let model = Model::new(posed.surface.clone(), vertices);
    let model = match heat {
        Some(heat) => model.with_paint(Paint::Heat(heat)),
        None => model,
    };

    Pane {
        scene: Scene::of(model),
        subject: cx.document.character.asset.clone(),
        ..Pane::default()
    }
}
