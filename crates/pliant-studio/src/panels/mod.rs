//! Panels that several rooms share.

mod asset_field;
mod curve_view;
mod explain;
mod failed_rig;
mod icon;
mod key_sheet;
mod rig;
mod sash;
mod slider_book;
mod slider_row;
mod takes;
mod time_axis;
mod timeline;
mod transport;

pub use asset_field::{AssetField, asset_field_ui, asset_kinds, kinds_of};
pub use explain::explain_ui;
pub use failed_rig::failed_rig_ui;
pub use rig::sliders_ui;
pub use sash::{Edge, PanelSizes, sash_ui};
pub use timeline::timeline_ui;

use eframe::egui::{Color32, Ui};

use crate::theme::Inks;

/// The keys of the panels, for the sheet.
pub const SHORTCUTS: &[crate::help::Sheet] = &[
    ("Timeline", timeline::SHORTCUTS),
    ("Sliders", rig::SHORTCUTS),
];

/// What the last drag did is in this colour, as its pins are.
fn drag_color(ui: &Ui) -> Color32 {
    Inks::of(ui.visuals()).drag
}

/// Keys are in this colour.
fn key_color(ui: &Ui) -> Color32 {
    Inks::of(ui.visuals()).key
}
