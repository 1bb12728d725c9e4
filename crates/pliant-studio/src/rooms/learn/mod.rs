//! The room.

use eframe::egui::Ui;
use serde::{Deserialize, Serialize};

use super::{Cx, On, Pane, Room};

/// What the document remembers of it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Setup {}

/// The room.
#[derive(Debug, Default)]
pub struct LearnRoom {}

impl Room for LearnRoom {
    fn tools_ui(&mut self, _ui: &mut Ui, _cx: &mut Cx<'_>) {}

    fn options_ui(&mut self, _ui: &mut Ui, _cx: &mut Cx<'_>) {}

    fn panes(&mut self, _cx: &mut Cx<'_>) -> Vec<Pane> {
        vec![Pane::default()]
    }

    fn canvas_ui(&mut self, _on: &On<'_>, _ui: &mut Ui, _cx: &mut Cx<'_>) -> bool {
        false
    }
}
