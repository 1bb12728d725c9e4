//! Widgets that rooms and panels share.
//!
//! - `theme`: colours and spacing of the window.
//! - `asset_field`: a field for an asset: typed, chosen from files, or built in.
//! - `field`: lists, sliders and accessible names of options panels.
//! - `icon`: small buttons with drawn icons.
//! - `slider_row`: one slider of a rig.
//! - `time_axis`: frames along the screen.
//! - `resizable_panel`: panels that keep the size that the user gave them.

mod asset_field;
pub(crate) mod field;
pub(crate) mod icon;
mod resizable_panel;
pub(crate) mod slider_row;
pub mod theme;
pub(crate) mod time_axis;

use eframe::egui::{Color32, Ui};

pub use asset_field::{AssetField, asset_field_ui, asset_kinds, kinds_of};
pub use resizable_panel::{Edge, resizable_panel_ui};
use theme::ThemeColors;

/// Keys and what they do, under a heading.
pub type ShortcutGroup = (&'static str, &'static [(&'static str, &'static str)]);

/// The colour of the last drag and its pins.
pub(crate) fn drag_color(ui: &Ui) -> Color32 {
    ThemeColors::of(ui.visuals()).drag
}

/// The colour of keys.
pub(crate) fn key_color(ui: &Ui) -> Color32 {
    ThemeColors::of(ui.visuals()).key
}
