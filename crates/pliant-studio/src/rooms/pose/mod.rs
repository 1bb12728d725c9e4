//! Pose: click to pin, drag to move, and the sliders follow.

mod method;
mod pins;

use eframe::egui::{self, Ui};
use serde::{Deserialize, Serialize};

pub use method::{Method, MethodKind};

use super::{Cx, On, Pane, Room};
use crate::document::{Character, Document};
use crate::blob::Blob;
use crate::document::Locator;
use crate::view::{Model, Scene};

/// What the document remembers of posing.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Setup {
    /// The pins.
    pub pins: Vec<PinMark>,
    /// How they become weights.
    pub method: Method,
}

impl Setup {
    /// Visits every name of an asset.
    pub fn for_each_locator(&mut self, _visit: &mut dyn FnMut(&mut Locator)) {}

    /// Visits every big result.
    pub fn for_each_blob(&mut self, _visit: &mut dyn FnMut(&mut Blob)) {}
}

/// A pin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PinMark {
    /// The vertex it holds.
    pub vertex: u32,
    /// Where it should be.
    pub goal: [f64; 3],
    /// Whether it keeps its place while others are dragged.
    pub held: bool,
}

/// The room.
#[derive(Debug, Default)]
pub struct PoseRoom {
    hand: pins::Hand,
}

impl Room for PoseRoom {
    fn tools_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        self.hand.tools_ui(ui, cx);
    }

    fn options_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        method_ui(ui, cx);
    }

    fn panes(&mut self, cx: &mut Cx<'_>) -> Vec<Pane> {
        let mut pane = Pane {
            empty: "Drop a rig here, or choose one in File › Open.".into(),
            subject: cx.document.character.asset.clone(),
            ..Pane::default()
        };
        if let Some(posed) = cx.posed {
            pane.scene = Scene { models: vec![Model::new(posed.surface.clone(), posed.vertices.clone())] };
        }
        vec![pane]
    }

    fn canvas_ui(&mut self, on: &On<'_>, ui: &mut Ui, cx: &mut Cx<'_>) -> bool {
        self.hand.canvas_ui(on, ui, cx)
    }

    fn shows_sliders(&self) -> bool {
        true
    }
}

/// The built-in head at rest.
#[must_use]
pub fn head() -> Document {
    Document { character: Character { asset: "specimen:head".into(), ..Character::default() }, ..Document::default() }
}

fn method_ui(ui: &mut Ui, cx: &mut Cx<'_>) {
    let mut method = cx.document.pose.method;
    let chosen = egui::ComboBox::from_label("Method").selected_text(method.kind.label());
    chosen.show_ui(ui, |ui| {
        for kind in MethodKind::ALL {
            ui.selectable_value(&mut method.kind, kind, kind.label()).on_hover_text(kind.hint());
        }
    });
    if method != cx.document.pose.method {
        cx.edit("Choose method", move |document| document.pose.method = method);
    }
}
