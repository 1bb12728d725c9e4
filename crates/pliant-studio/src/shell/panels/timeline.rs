//! The timeline panel.

use std::collections::BTreeSet;

use eframe::egui::{Button, Ui};

use super::curve_view::curves_ui;
use super::key_sheet::{KeyDrag, ruler_ui, sheet_ui};
use super::takes::{KeyConversion, takes_ui};
use super::transport::{id, range_ui, shortcuts, transport_ui};
use crate::engine::context::Cx;
use crate::model::timeline::{KeyAt, Picked};

/// Keys of the keyboard that the timeline knows.
pub(crate) const SHORTCUTS: &[(&str, &str)] = &[
    ("Space", "Play or pause"),
    ("K", "Key changed sliders"),
    ("Shift+K", "Key all sliders"),
    (", and .", "Previous and next frame"),
    ("Shift+, and Shift+.", "Previous and next key"),
    ("Home and End", "First and last frame"),
    (
        "Click, Shift+click",
        "Select a key, add one to the selection",
    ),
    ("Drag beside keys", "Select keys with a box"),
    ("Drag a key", "Move the selected keys, by whole frames"),
    ("Ctrl+C, Ctrl+X", "Copy or cut the selected keys"),
    ("Ctrl+V", "Paste keys at the shown frame"),
    ("Delete", "Delete selected keys, over the timeline"),
];

/// The state of the timeline panel.
#[derive(Clone, Default)]
pub(crate) struct Panel {
    /// Selected keys.
    pub(crate) picked: Picked,
    /// Sliders whose curves are shown; all that have keys where this is empty.
    pub(crate) sliders: BTreeSet<String>,
    /// Whether curves are shown instead of rows.
    pub(crate) curves: bool,
    /// Whether each slider has its row.
    pub(crate) folded: bool,
    /// Keys or a box being dragged.
    pub(crate) drag: Option<KeyDrag>,
    /// A clip that becomes keys.
    pub(crate) keying: KeyConversion,
}

/// Play, scrub and key. `has_sliders` returns whether the room has what can be keyed. Returns how
/// high the panel must be.
pub fn timeline_ui(ui: &mut Ui, has_sliders: bool, cx: &mut Cx<'_>) -> f32 {
    let mut panel =
        ui.data_mut(|data| std::mem::take(data.get_temp_mut_or_default::<Panel>(id("panel"))));
    forget_lost(&mut panel, cx);
    shortcuts(ui, &mut panel.picked, cx);

    let top = ui.cursor().top();
    ui.add_space(4.0);
    ui.horizontal_wrapped(|ui| {
        transport_ui(ui, &mut panel.picked, cx);
        let curves = ui.add(Button::selectable(panel.curves, "Curves"));
        if curves
            .on_hover_text("Show weights over time instead of rows of keys")
            .clicked()
        {
            panel.curves = !panel.curves;
        }

        ui.separator();
        takes_ui(ui, &panel.keying, cx);
        range_ui(ui, cx);
    });

    ui.add_space(2.0);
    let mut needed = 0.0;
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        let axis = ruler_ui(ui, cx);
        let begin = ui.cursor().top();
        let hint = if has_sliders {
            "No keys yet. Move a slider and press K."
        } else {
            "No keys. Sliders are keyed in the Pose room."
        };

        let least = if panel.curves {
            curves_ui(ui, axis, hint, &mut panel, cx)
        } else {
            sheet_ui(ui, axis, hint, &mut panel, cx)
        };

        // The buttons wrap in a narrow window; the panel grows with them.
        needed = begin - top + least;
    });

    ui.data_mut(|data| data.insert_temp(id("panel"), panel));
    needed + ui.spacing().item_spacing.y
}

/// Keys and sliders that are not there any more are not selected either.
fn forget_lost(panel: &mut Panel, cx: &Cx<'_>) {
    let timeline = &cx.document.timeline;
    panel
        .picked
        .retain(|KeyAt { slider, frame }| timeline.has_key(slider, *frame));
    panel
        .sliders
        .retain(|slider| timeline.keys.contains_key(slider));
}
