//! Choosing sources and the target.

use eframe::egui::{self, Ui};

use super::setup::{Setup, short_name};
use crate::rooms::Cx;

/// Built-in clips.
pub(super) const CLIPS: [&str; 4] = ["specimen:hound#walk", "specimen:hound#stretch", "specimen:tapir#trunk", "specimen:head"];
/// Built-in targets.
pub(super) const TARGETS: [&str; 5] = ["specimen:tapir", "specimen:hound", "specimen:hand", "specimen:head", "specimen:bar"];

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
        let (names, target): (Vec<(String, String)>, String) =
            (setup.sources.iter().map(|source| (source.name.clone(), source.clip.clone())).collect(), setup.target.clone());
        let shown = self.source(setup);
        ui.strong("Sources");
        for (k, (name, clip)) in names.iter().enumerate() {
            ui.horizontal(|ui| {
                if ui.selectable_label(shown == k, name).on_hover_text(clip).clicked() {
                    self.source = k;
                }
                let remove = ui.add(egui::Button::new("×").frame(false)).on_hover_text("Take this source and its layers out");
                remove.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, format!("Remove source {name}")));
                if remove.clicked() {
                    cx.edit("Remove source", move |document| document.transfer.remove_source(k));
                }
            });
        }
        if let Some(clip) = chosen_ui("Add source", &CLIPS, "Source file", &mut self.source_path, ui) {
            let clip = cx.locator(&clip);
            self.source = names.len();
            cx.edit("Add source", move |document| document.transfer.add_source(clip));
        }
        ui.add_space(8.0);
        ui.strong("Target");
        if target.is_empty() {
            ui.weak("None yet");
        } else {
            ui.label(short_name(&target)).on_hover_text(&target);
        }
        if let Some(target) = chosen_ui("Choose target", &TARGETS, "Target file", &mut self.target_path, ui) {
            let target = cx.locator(&target);
            cx.edit("Choose target", move |document| document.transfer.set_target(target));
        }
    }

    /// The source that is shown.
    #[must_use]
    pub(super) fn source(&self, setup: &Setup) -> usize {
        self.source.min(setup.sources.len().saturating_sub(1))
    }
}

/// A menu of built-in assets, and a field for any other; what was chosen.
fn chosen_ui(menu: &str, built_in: &[&str], field: &str, path: &mut String, ui: &mut Ui) -> Option<String> {
    let mut chosen = None;
    ui.menu_button(format!("{menu} …"), |ui| {
        for locator in built_in {
            if ui.button(short_name(locator)).on_hover_text(*locator).clicked() {
                chosen = Some((*locator).to_owned());
                ui.close();
            }
        }
    });
    let typed = ui.add(egui::TextEdit::singleline(path).hint_text("file, or file#clip").desired_width(f32::INFINITY));
    typed.widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, field));
    let entered = typed.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter));
    if entered && !path.trim().is_empty() {
        chosen = Some(std::mem::take(path).trim().to_owned());
    }
    typed.on_hover_text("Type the path of a file and press Enter");
    chosen
}
