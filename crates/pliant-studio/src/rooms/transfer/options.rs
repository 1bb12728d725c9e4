//! The transfer and its maps, on the right side.

use eframe::egui::{self, Ui};

use super::{Colors, TransferRoom, run};
use crate::rooms::Cx;

impl TransferRoom {
    /// Options, the button, and how the last run went.
    pub(super) fn run_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        let document = cx.document;
        let setup = &document.transfer;
        ui.strong("Transfer");
        run::choices_ui(ui, cx);
        let keys = self
            .cast
            .keys(setup)
            .filter(|keys| !keys.is_empty() && !setup.layers.is_empty() && !self.run.busy());
        let accent = ui.visuals().selection;
        let text = egui::RichText::new("Run transfer").color(accent.stroke.color);
        let button = egui::Button::new(text)
            .fill(accent.bg_fill)
            .min_size(egui::vec2(ui.available_width(), 28.0));
        let run = ui
            .add_enabled(keys.is_some(), button)
            .on_hover_text("Make the target move by all layers; the result is a take");
        if let (true, Some(keys), Some(target)) = (run.clicked(), keys, self.cast.target().cloned())
        {
            self.run.start(&target, keys, &self.maps, cx);
            self.hides_result = false;
        }
        if setup.target.is_empty() || setup.sources.is_empty() {
            ui.weak("Choose a source and a target on the left.");
        }
        if let Some(outcome) = &setup.outcome {
            run::figures_ui(outcome, ui);
        }
    }

    /// The map between the shown source and the target.
    pub(super) fn map_ui(&mut self, source: usize, ui: &mut Ui, cx: &mut Cx<'_>) {
        let document = cx.document;
        let setup = &document.transfer;
        ui.strong("Map");
        let Some(key) = self.cast.key(source, setup) else {
            ui.weak("Needs a source and a target.");
            return;
        };
        match (self.maps.get(&key), self.maps.trouble(&key)) {
            (Some(found), _) => found.figures_ui(ui),
            (None, Some(sentence)) => {
                ui.colored_label(ui.visuals().warn_fg_color, format!("No map: {sentence}"));
            }
            (None, None) => {
                ui.weak(if self.maps.busy() {
                    "Matching …"
                } else {
                    "Not found yet for these markers."
                });
            }
        }
        let missing = self.maps.get(&key).is_none() && !self.maps.busy();
        if ui
            .add_enabled(missing, egui::Button::new("Find map"))
            .on_hover_text("Which triangles belong together")
            .clicked()
        {
            self.maps.try_again();
            self.maps.want(&key, &setup.sources[source].name, cx);
            self.colors = Colors::Map;
        }
    }
}
