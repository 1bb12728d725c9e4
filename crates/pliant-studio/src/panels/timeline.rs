//! Keys over time.

use eframe::egui::Ui;

use crate::rooms::Cx;

/// Play, scrub and key.
pub fn timeline_ui(ui: &mut Ui, cx: &mut Cx<'_>) {
    ui.horizontal(|ui| {
        let label = if cx.clock.playing { "Pause" } else { "Play" };
        if ui.button(label).clicked() {
            cx.clock.playing = !cx.clock.playing;
        }
    });
}
