//! Questions before something would be lost: changes that are not saved, or what another program
//! saved.

use eframe::egui::{self, Key, Modifiers};

use super::Purpose;
use crate::dialog::modal_frame;
use crate::names::shown;
use crate::studio::Studio;

enum Choice {
    Save,
    Discard,
    Cancel,
}

/// What to do about a file that another program changed.
enum Way {
    Replace,
    SaveAs,
    Cancel,
}

impl Studio {
    /// The question before unsaved changes would be lost.
    pub(super) fn question_ui(&mut self, ctx: &egui::Context) {
        if self.filing.question.is_none() || self.filing.dialog.is_some() {
            return;
        }
        let name = self.filing.name();
        let modal = egui::Modal::new(egui::Id::unique("unsaved"))
            .frame(modal_frame(ctx))
            .show(ctx, |ui| {
                ui.set_width(340.0);
                ui.heading(format!("Save changes to {name}?"));
                ui.add_space(4.0);
                ui.label("Without saving, the changes since the last save are lost.");
                ui.add_space(10.0);
                ui.horizontal(|ui| {
                    let save = ui
                        .button(egui::RichText::new("Save changes").strong())
                        .on_hover_text("Enter")
                        .clicked()
                        .then_some(Choice::Save);
                    let discard = ui.button("Don't save").clicked().then_some(Choice::Discard);
                    let cancel = ui
                        .button("Cancel")
                        .on_hover_text("Escape")
                        .clicked()
                        .then_some(Choice::Cancel);
                    save.or(discard).or(cancel)
                })
                .inner
            });
        let enter = ctx
            .input_mut(|input| input.consume_key(Modifiers::NONE, Key::Enter))
            .then_some(Choice::Save);
        let away = modal.should_close().then_some(Choice::Cancel);
        match modal.inner.or(enter).or(away) {
            None => {}
            Some(Choice::Cancel) => self.filing.question = None,
            Some(Choice::Discard) => {
                if let Some(then) = self.filing.question.take() {
                    self.proceed(then, ctx);
                }
            }
            Some(Choice::Save) => {
                self.filing.after_save = self.filing.question.take();
                self.save();
            }
        }
    }

    /// The question before what another program saved would be lost.
    pub(super) fn changed_ui(&mut self, ctx: &egui::Context) {
        let Some(path) = self
            .filing
            .changed
            .clone()
            .filter(|_| self.filing.dialog.is_none())
        else {
            return;
        };
        let modal = egui::Modal::new(egui::Id::unique("changed")).frame(modal_frame(ctx)).show(ctx, |ui| {
            ui.set_width(400.0);
            ui.heading(format!("Replace {}?", shown(&path)));
            ui.add_space(4.0);
            ui.label("Another program changed this file since you opened or saved it here. Replacing it loses those changes.");
            ui.add_space(10.0);
            ui.horizontal(|ui| {
                let save_as = ui.button(egui::RichText::new("Save as…").strong()).on_hover_text("Enter").clicked().then_some(Way::SaveAs);
                let replace = ui.button("Replace").clicked().then_some(Way::Replace);
                let cancel = ui.button("Cancel").on_hover_text("Escape").clicked().then_some(Way::Cancel);
                save_as.or(replace).or(cancel)
            })
            .inner
        });
        let enter = ctx
            .input_mut(|input| input.consume_key(Modifiers::NONE, Key::Enter))
            .then_some(Way::SaveAs);
        let away = modal.should_close().then_some(Way::Cancel);
        let Some(way) = modal.inner.or(enter).or(away) else {
            return;
        };
        self.filing.changed = None;
        match way {
            Way::Cancel => self.filing.after_save = None,
            Way::Replace => self.save_to(path),
            Way::SaveAs => self.ask(Purpose::Save),
        }
    }
}
