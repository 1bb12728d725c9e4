//! The panel that runs the transfer and shows its correspondences.

use eframe::egui::{self, Ui};

use super::{Colors, TransferRoom, figures};
use crate::engine::context::Cx;

impl TransferRoom {
    /// Options, the button, and how the last run went.
    pub(super) fn run_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        let document = cx.document;
        let setup = &document.transfer;
        ui.strong("Transfer");
        figures::choices_ui(ui, cx);

        let keys = self
            .actors
            .keys(setup)
            .filter(|keys| !keys.is_empty() && !setup.layers.is_empty() && !self.run.busy());
        let accent = ui.visuals().selection;
        let text = egui::RichText::new("Run transfer").color(accent.stroke.color);

        let button = egui::Button::new(text)
            .fill(accent.bg_fill)
            .min_size(egui::vec2(ui.available_width(), 28.0));
        let run = ui
            .add_enabled(keys.is_some(), button)
            .on_hover_text("Compute the animation of all layers as a take");

        // A new run shows its result.
        if let (true, Some(keys), Some(target)) =
            (run.clicked(), keys, self.actors.target().cloned())
        {
            self.run.start(&target, keys, &self.maps, cx);
            self.hides_result = false;
        }

        if setup.target.is_empty() || setup.sources.is_empty() {
            ui.weak("Choose a source and a target on the left.");
        }
        if let Some(outcome) = &setup.outcome {
            figures::figures_ui(outcome, ui);
        }
    }

    /// The map between the shown source and the target.
    pub(super) fn map_ui(&mut self, source: usize, ui: &mut Ui, cx: &mut Cx<'_>) {
        let document = cx.document;
        let setup = &document.transfer;
        ui.strong("Correspondence");

        let Some(key) = self.actors.key(source, setup) else {
            ui.weak("Needs a source and a target.");
            return;
        };

        match (self.maps.get(&key), self.maps.error(&key)) {
            (Some(found), _) => found.figures_ui(ui),
            (None, Some(message)) => {
                ui.colored_label(
                    ui.visuals().warn_fg_color,
                    format!("No correspondence: {message}"),
                );
            }
            (None, None) => {
                ui.weak(if self.maps.busy() {
                    "Matching …"
                } else {
                    "Not computed yet for these markers."
                });
            }
        }

        let missing = self.maps.get(&key).is_none() && !self.maps.busy();
        if ui
            .add_enabled(missing, egui::Button::new("Find correspondence"))
            .on_hover_text("Find corresponding triangles")
            .clicked()
        {
            // A failed correspondence is not computed again without a request.
            self.maps.try_again();
            self.maps.request(&key, &setup.sources[source].name, cx);
            self.colors = Colors::Map;
        }
    }
}
