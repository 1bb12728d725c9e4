//! Choice of sources and target mesh.

use eframe::egui::{self, Ui};

use crate::engine::context::Cx;
use crate::model::transfer::{Setup, short_name};
use crate::widgets::{AssetField, asset_field_ui, asset_kinds};

/// Files that were browsed for as sources.
pub(super) const SOURCE: &str = "source";
/// A file that was browsed for as the target.
pub(super) const TARGET: &str = "target";

/// Where a clip comes from.
const SOURCE_FIELD: AssetField<'_> = AssetField {
    name: "Source file",
    hint: "file, or file#clip",
    help: "A mesh with an animation; #NAME selects one of several clips.",
    built_in: &[
        "specimen:hound#walk",
        "specimen:hound#stretch",
        "specimen:tapir#trunk",
        "specimen:head",
    ],
    what: SOURCE,
    kinds: asset_kinds,
};

/// Where the target comes from.
const TARGET_FIELD: AssetField<'_> = AssetField {
    name: "Target file",
    hint: "file",
    help: "The mesh that receives the animation.",
    built_in: &[
        "specimen:tapir",
        "specimen:hound",
        "specimen:hand",
        "specimen:head",
        "specimen:bar",
    ],
    what: TARGET,
    kinds: asset_kinds,
};

/// The selected source and the text being typed.
#[derive(Debug, Default)]
pub(super) struct Chooser {
    /// The source that is shown.
    pub(super) source: usize,
    source_path: String,
    target_path: String,
}

impl Chooser {
    /// Sources and the target.
    pub(super) fn assets_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        self.sources_ui(ui, cx);
        ui.add_space(8.0);
        self.target_ui(ui, cx);
    }

    fn sources_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        let sources = &cx.document.transfer.sources;
        let shown = self.source(&cx.document.transfer);
        ui.strong("Sources");
        if sources.is_empty() {
            ui.weak("None yet");
        }

        for (k, source) in sources.iter().enumerate() {
            ui.horizontal(|ui| {
                let label = ui.selectable_label(shown == k, &source.name);
                if label.on_hover_text(&source.clip).clicked() {
                    self.source = k;
                }
                if remove_ui(&source.name, ui) {
                    cx.edit("Remove source", move |document| {
                        document.transfer.remove_source(k)
                    });
                }
            });
        }

        // A new source is shown at once.
        let count = sources.len();
        if let Some(clip) = asset_field_ui(ui, &SOURCE_FIELD, &mut self.source_path, cx) {
            let clip = cx.locator(&clip);
            self.source = count;
            cx.edit("Add source", move |document| {
                document.transfer.add_source(clip)
            });
        }
    }

    fn target_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        let target = &cx.document.transfer.target;
        ui.strong("Target");
        if target.is_empty() {
            ui.weak("None yet");
        } else {
            ui.label(short_name(target)).on_hover_text(target);
        }

        if let Some(target) = asset_field_ui(ui, &TARGET_FIELD, &mut self.target_path, cx) {
            let target = cx.locator(&target);
            cx.edit("Choose target", move |document| {
                document.transfer.set_target(target)
            });
        }
    }

    /// The source that is shown.
    #[must_use]
    pub(super) fn source(&self, setup: &Setup) -> usize {
        self.source.min(setup.sources.len().saturating_sub(1))
    }
}

/// A button that removes a source; returns whether it was clicked.
fn remove_ui(name: &str, ui: &mut Ui) -> bool {
    let remove = ui
        .add(egui::Button::new("×").frame(false))
        .on_hover_text("Remove this source and its layers");
    remove.widget_info(|| {
        let label = format!("Remove source {name}");
        egui::WidgetInfo::labeled(egui::Role::Button, true, label)
    });
    remove.clicked()
}
