//! Questions before data is lost: unsaved changes, or changes of another program.

use eframe::egui::{self, Key, Modifiers};

use super::Purpose;
use crate::model::names::shown;
use crate::shell::dialog::modal_frame;
use crate::shell::studio::Studio;

/// A question with two answers, and a button that cancels.
struct Question {
    id: egui::Id,
    width: f32,
    heading: String,
    text: &'static str,
    buttons: [&'static str; 2],
}

enum Answer {
    First,
    Second,
    Cancel,
}

impl Question {
    /// Shows the question. Enter stands for the first button, Escape for the last.
    fn answer(&self, ctx: &egui::Context) -> Option<Answer> {
        let modal = egui::Modal::new(self.id).frame(modal_frame(ctx));
        let modal = modal.show(ctx, |ui| {
            ui.set_width(self.width);
            ui.heading(&self.heading);
            ui.add_space(4.0);
            ui.label(self.text);
            ui.add_space(10.0);
            ui.horizontal(|ui| self.buttons_ui(ui)).inner
        });

        let enter = ctx.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Enter));
        let enter = enter.then_some(Answer::First);
        let away = modal.should_close().then_some(Answer::Cancel);
        modal.inner.or(enter).or(away)
    }

    fn buttons_ui(&self, ui: &mut egui::Ui) -> Option<Answer> {
        let [first, second] = self.buttons;
        let first = ui
            .button(egui::RichText::new(first).strong())
            .on_hover_text("Enter");
        let second = ui.button(second);
        let cancel = ui.button("Cancel").on_hover_text("Escape");

        let first = first.clicked().then_some(Answer::First);
        let second = second.clicked().then_some(Answer::Second);
        let cancel = cancel.clicked().then_some(Answer::Cancel);
        first.or(second).or(cancel)
    }
}

impl Studio {
    /// The question before unsaved changes would be lost.
    pub(super) fn question_ui(&mut self, ctx: &egui::Context) {
        if self.filing.question.is_none() || self.filing.dialog.is_some() {
            return;
        }

        let question = Question {
            id: egui::Id::unique("unsaved"),
            width: 340.0,
            heading: format!("Save changes to {}?", self.filing.name()),
            text: "Without saving, the changes since the last save are lost.",
            buttons: ["Save changes", "Don't save"],
        };
        match question.answer(ctx) {
            None => {}
            Some(Answer::Cancel) => self.filing.question = None,
            Some(Answer::Second) => {
                if let Some(then) = self.filing.question.take() {
                    self.proceed(then, ctx);
                }
            }
            // The pending action continues when the save has succeeded.
            Some(Answer::First) => {
                self.filing.after_save = self.filing.question.take();
                self.save();
            }
        }
    }

    /// The question before what another program saved would be lost.
    pub(super) fn changed_ui(&mut self, ctx: &egui::Context) {
        let changed = self.filing.changed.clone();
        let Some(path) = changed.filter(|_| self.filing.dialog.is_none()) else {
            return;
        };

        let question = Question {
            id: egui::Id::unique("changed"),
            width: 400.0,
            heading: format!("Replace {}?", shown(&path)),
            text: "Another program changed this file since you opened or saved it here. \
                   Replacing it loses those changes.",
            buttons: ["Save as…", "Replace"],
        };
        let Some(answer) = question.answer(ctx) else {
            return;
        };

        // The question is answered, whatever the answer is.
        self.filing.changed = None;
        match answer {
            Answer::Cancel => self.filing.after_save = None,
            Answer::Second => self.save_to(path),
            Answer::First => self.open_dialog(Purpose::Save),
        }
    }
}
