//! Panels that several rooms share.

mod asset_field;
mod curve_view;
mod explain;
mod failed_rig;
mod icon;
mod key_sheet;
mod rig;
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
pub use timeline::timeline_ui;

use eframe::egui::{Color32, Ui};

/// The keys of the panels, for the sheet.
pub const SHORTCUTS: &[crate::help::Sheet] = &[("Timeline", timeline::SHORTCUTS), ("Sliders", rig::SHORTCUTS)];

/// What the last drag did is in this colour, as its pins are; readable on light and on dark.
fn drag_color(ui: &Ui) -> Color32 {
    if ui.visuals().dark_mode { Color32::from_rgb(255, 150, 95) } else { Color32::from_rgb(190, 75, 20) }
}

/// Keys are in this colour.
fn key_color(ui: &Ui) -> Color32 {
    if ui.visuals().dark_mode { Color32::from_rgb(240, 200, 90) } else { Color32::from_rgb(180, 125, 0) }
}
