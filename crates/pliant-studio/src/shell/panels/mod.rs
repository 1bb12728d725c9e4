//! Panels of the window: sliders, explanation of the last solve, timeline.
//!
//! - `rig`, `slider_book`, `failed_rig`: the sliders of the character.
//! - `objects`: the objects of the character.
//! - `poses`: saved poses; `pictures`: their textures, and those of sliders.
//! - `explain`: the last solve.
//! - `timeline`, `transport`, `takes`: the timeline and its buttons.
//! - `capture`: live performances and the cleaning of takes.
//! - `key_sheet`, `curve_view`: keys as rows and as curves.

mod capture;
mod curve_view;
mod explain;
mod failed_rig;
mod key_sheet;
mod objects;
mod pictures;
mod poses;
mod rig;
mod slider_index;
mod takes;
mod timeline;
mod transport;

pub(crate) use capture::CapturePanel;
pub use explain::explain_ui;
pub use failed_rig::failed_rig_ui;
pub(crate) use objects::ObjectsPanel;
pub(crate) use pictures::PanelPictures;
pub(crate) use poses::PosesPanel;
pub(crate) use rig::sliders_ui;
pub use timeline::timeline_ui;

/// The keys of the panels, for the list of shortcuts.
pub const SHORTCUTS: &[crate::widgets::ShortcutGroup] = &[
    ("Timeline", timeline::SHORTCUTS),
    ("Sliders", rig::SHORTCUTS),
    ("Poses", poses::SHORTCUTS),
];
