//! Choosing sources and the target.

use eframe::egui::{self, Ui};

use super::setup::{Setup, short_name};
use crate::panels::{AssetField, asset_field_ui, asset_kinds};
use crate::rooms::Cx;

/// Files that were browsed for as sources.
pub(super) const SOURCE: &str = "source";
/// A file that was browsed for as the target.
pub(super) const TARGET: &str = "target";

/// Where a clip comes from.
const SOURCE_FIELD: AssetField<'_> = AssetField {
    name: "Source file",
    hint: "file, or file#clip",
    help: "A mesh with an animation; #NAME says which of several clips.",
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
    help: "The mesh that is to move.",
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

/// Which source is worked on, and what is being typed.
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
        let setup = &cx.document.transfer;
        let (names, target): (Vec<(String, String)>, String) = (
            setup
                .sources
                .iter()
                .map(|source| (source.name.clone(), source.clip.clone()))
                .collect(),
            setup.target.clone(),
        );
        let shown = self.source(setup);
        ui.strong("Sources");
        if names.is_empty() {
            ui.weak("None yet");
        }
        for (k, (name, clip)) in names.iter().enumerate() {
            ui.horizontal(|ui| {
                if ui
                    .selectable_label(shown == k, name)
                    .on_hover_text(clip)
                    .clicked()
                {
                    self.source = k;
                }
                let remove = ui
                    .add(egui::Button::new("×").frame(false))
                    .on_hover_text("Take this source and its layers out");
                remove.widget_info(|| {
                    egui::WidgetInfo::labeled(
                        egui::Role::Button,
                        true,
                        format!("Remove source {name}"),
                    )
                });
                if remove.clicked() {
                    cx.edit("Remove source", move |document| {
                        document.transfer.remove_source(k)
                    });
                }
            });
        }
        if let Some(clip) = asset_field_ui(ui, &SOURCE_FIELD, &mut self.source_path, cx) {
            let clip = cx.locator(&clip);
            self.source = names.len();
            cx.edit("Add source", move |document| {
                document.transfer.add_source(clip)
            });
        }
        ui.add_space(8.0);
        ui.strong("Target");
        if target.is_empty() {
            ui.weak("None yet");
        } else {
            ui.label(short_name(&target)).on_hover_text(&target);
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
