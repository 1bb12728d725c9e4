//! The room.

use eframe::egui::Ui;
use serde::{Deserialize, Serialize};

use super::{Cx, On, Pane, Room};
use crate::blob::Blob;
use crate::document::Locator;

/// What the document remembers of it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Setup {}

impl Setup {
    /// Visits every name of an asset.
    pub fn for_each_locator(&mut self, _visit: &mut dyn FnMut(&mut Locator)) {}

    /// Visits every big result.
    pub fn for_each_blob(&mut self, _visit: &mut dyn FnMut(&mut Blob)) {}
}

/// The room.
#[derive(Debug, Default)]
pub struct BlendRoom {}

impl Room for BlendRoom {
    fn tools_ui(&mut self, _ui: &mut Ui, _cx: &mut Cx<'_>) {}

    fn options_ui(&mut self, _ui: &mut Ui, _cx: &mut Cx<'_>) {}

    fn panes(&mut self, _cx: &mut Cx<'_>) -> Vec<Pane> {
        vec![Pane::default()]
    }

    fn canvas_ui(&mut self, _on: &On<'_>, _ui: &mut Ui, _cx: &mut Cx<'_>) -> bool {
        false
    }
}
