//! Pose: click to pin, drag to move, draw a stroke, and the sliders follow.

mod compare;
mod examples;
mod hand;
mod layer;
mod marks;
mod method;
mod mirror;
mod options;
mod overlay;
mod stroke_library;
mod strokes;
mod tools;

use std::collections::BTreeMap;
use std::sync::Arc;

use eframe::egui::{Key, Modifiers, Ui};
use pliant::mesh::Bounds;
use pliant::mesh::glam::DVec3;
use serde::{Deserialize, Serialize};

pub use examples::{beyond, examples, head, smile, two_methods};
pub use marks::{PinMark, Pull, Pulled};
pub use method::{Method, MethodKind};
pub use stroke_library::KeptStroke;

use super::{Cx, On, Pane, Room};
use crate::character::{LineOptions, Posed, Solve};
use crate::document::Locator;
use crate::view::{Heat, Model, Paint, Scene, Vertices};

/// What the document remembers of posing.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Setup {
    /// The pins.
    pub pins: Vec<PinMark>,
    /// The last drag.
    pub pull: Option<Pull>,
    /// Whether pins and strokes act on both sides.
    pub mirrored: bool,
    /// Whether a drag in the plane of the screen asks for depth, too.
    pub fixed_depth: bool,
    /// How pins become weights.
    pub method: Method,
    /// Another method to compare with.
    pub compared: Option<Method>,
    /// How lines become pins.
    pub lines: LineOptions,
    /// Places that tell where strokes are, for each rig: the same ones in the same order.
    pub landmarks: BTreeMap<Locator, Vec<u32>>,
    /// Strokes that were kept.
    pub strokes: Vec<KeptStroke>,
    /// What no slider reaches.
    pub sculpt: Sculpt,
    /// The colours of the face.
    pub heat: HeatKind,
}

impl Setup {
    /// Takes off what belongs to vertices of the character; choices stay.
    pub fn let_go(&mut self) {
        self.pins.clear();
        self.pull = None;
    }

    /// Visits every name of an asset.
    pub fn for_each_locator(&mut self, visit: &mut dyn FnMut(&mut Locator)) {
        let landmarks =
            std::mem::take(&mut self.landmarks)
                .into_iter()
                .map(|(mut asset, vertices)| {
                    visit(&mut asset);
                    (asset, vertices)
                });
        self.landmarks = landmarks.collect();
        self.strokes
            .iter_mut()
            .for_each(|stroke| visit(&mut stroke.asset));
    }
}

/// The smooth layer on top of the sliders.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Sculpt {
    /// Whether it takes up what no slider reaches.
    pub on: bool,
    /// How far around pins it moves the surface, in the asset's units; `None` suits the mesh.
    pub radius: Option<f64>,
}

/// What the left button does; no part of the document, so that undo leaves it in the hand.
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

/// What colours show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HeatKind {
    /// Clay.
    #[default]
    Off,
    /// How much of the goals no slider reaches.
    Unreachable,
    /// How far the pose is from the neutral.
    Displacement,
    /// How far along the surface it is from the selected pin, or from the nearest where none is
    /// selected.
    Geodesic,
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

/// The keys of the room, for the sheet.
pub const SHORTCUTS: &[crate::help::Sheet] = &[(
    "Pose",
    &[
        ("Q, W, E, R", "Pin, stroke, curve, landmarks"),
        ("Click", "Set or select a pin"),
        ("Drag", "Move in the plane of the screen"),
        ("Ctrl+drag", "Move along the normal"),
        ("Shift+drag", "Move along the skin"),
        ("Ctrl+Shift+drag", "Move in depth"),
        ("H", "Hold the pin, or let it go"),
        ("Del, X", "Delete the pin"),
        ("M", "Mirror pins"),
        ("`", "See the other method while held"),
        ("Esc", "Forget the first line of a curve"),
    ],
)];

/// The room.
#[derive(Default)]
pub struct PoseRoom {
    tool: Tool,
    hand: hand::Hand,
    strokes: strokes::Strokes,
    library: stroke_library::Shelf,
    layer: layer::Layer,
    compare: compare::Compare,
    mirror: mirror::Mirror,
    seen: overlay::Seen,
    serial: u64,
    target_name: String,
}

impl Room for PoseRoom {
    fn update(&mut self, cx: &mut Cx<'_>) {
        self.mirror.update(cx);
        self.layer.update(self.hand.selected, cx);
        self.compare.update(cx);
        self.seen.fetch();
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
        let Some((method, other)) = setup.compared.zip(self.compare.posed()) else {
            return vec![first];
        };
        let second = pane(cx, other, other.vertices.clone(), None);
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

    fn canvas_ui(&mut self, on: &On<'_>, ui: &mut Ui, cx: &mut Cx<'_>) -> bool {
        let Some(posed) = cx.posed.cloned() else {
            return false;
        };
        let is_other = on.pane == 1 || self.compare.instead;
        if on.pane == 0 {
            self.keys(ui, cx);
        }
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
        self.layer.busy() || self.compare.busy() || self.mirror.busy() || self.seen.busy()
    }
}

impl PoseRoom {
    fn tool_ui(
        &mut self,
        on: &On<'_>,
        ui: &mut Ui,
        posed: &Arc<Posed>,
        positions: &[DVec3],
        cx: &mut Cx<'_>,
    ) -> bool {
        let tool = self.tool;
        let over_pin = on
            .canvas
            .press_origin()
            .is_some_and(|p| hand::pin_under(p, on, positions, &cx.document.pose.pins).is_some());
        // Pins can be adjusted with a pen in the hand, too.
        let drags_pin =
            tool == Tool::Pin || self.hand.holds() || (over_pin && !self.strokes.draws());
        match tool {
            _ if drags_pin && tool != Tool::Landmark => self.hand_ui(on, ui, posed, positions, cx),
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
            self.hand.selected = None;
        }
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

    fn selection_bounds(&self, cx: &Cx<'_>, posed: &Posed) -> Option<Bounds> {
        let mark = cx.document.pose.pins.get(self.hand.selected?)?;
        let (place, whole) = (mark.place(&posed.positions)?, Bounds::of(&posed.positions)?);
        let reach = DVec3::splat(0.12 * whole.diagonal());
        Some(Bounds {
            min: place - reach,
            max: place + reach,
        })
    }
}

/// The last solve, if the pose is what it led to.
fn last_solve<'a>(cx: &Cx<'a>) -> Option<&'a Solve> {
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

fn pane(cx: &Cx<'_>, posed: &Posed, vertices: Arc<Vertices>, heat: Option<Heat>) -> Pane {
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
