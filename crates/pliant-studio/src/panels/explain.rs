//! What the last solve did.

use eframe::egui::Ui;

use crate::rooms::Cx;

/// Method, pins, sliders, limits hit, what is out of reach, and how long it took.
pub fn explain_ui(ui: &mut Ui, cx: &mut Cx<'_>) {
    let Some(solve) = cx.solve else {
        ui.weak("Drag a pin to see what the solver did.");
        return;
    };
    ui.label(format!(
        "{}: {} pins, {} sliders, {:.0} µs",
        solve.pose.method,
        solve.pose.pins.len(),
        solve.explanation.moves.len(),
        solve.secs * 1e6
    ));
}
