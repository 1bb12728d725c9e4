//! Panels that several rooms share.

mod explain;
mod rig;
mod timeline;

pub use explain::explain_ui;
pub use rig::sliders_ui;
pub use timeline::timeline_ui;

/// The keys of the panels, for the sheet.
pub const SHORTCUTS: &[crate::help::Sheet] = &[];
