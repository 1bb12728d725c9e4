//! The strip of the tour above the view: the task, a check mark once it is done, and the next one.

use eframe::egui::{self, Button, Label, RichText, Shape, Stroke, Ui, Vec2, vec2};

use super::studio::Studio;
use crate::engine::command::Command;
use crate::model::room::RoomName;
use crate::model::tour::TASKS;
use crate::widgets::theme;

impl Studio {
    /// The strip, while there is a tour; returns whether it is shown.
    pub(crate) fn tour_ui(&mut self, ui: &mut Ui) -> bool {
        self.tour.note(self.history.document());
        let Some((k, task)) = self.tour.task() else {
            return false;
        };
        let done = self.tour.is_done(k);
        let is_there = self.view_state.room == task.room;

        let frame = egui::Frame::side_top_panel(ui.style())
            .fill(ui.visuals().faint_bg_color)
            .inner_margin(egui::Margin::symmetric(12, 8));
        egui::Panel::top("tour").frame(frame).show(ui, |ui| {
            ui.horizontal_wrapped(|ui| {
                self.tasks_ui(ui, k);
                ui.separator();
                if done {
                    check_mark_ui(ui);
                    ui.label(RichText::new("Done").strong().color(success_color(ui)));
                    if k + 1 < TASKS.len() {
                        let room = TASKS[k + 1].room.label();
                        if ui.button(format!("Next: {room}")).clicked() {
                            self.begin_task(k + 1);
                        }
                    }
                } else if !is_there && ui.button("Back to the task").clicked() {
                    self.push(Command::Room(task.room));
                }
                if ui
                    .button("End tour")
                    .on_hover_text("Help › Tour starts it again")
                    .clicked()
                {
                    self.tour.end();
                }
            });
            ui.add(Label::new(RichText::new(task.goal).strong().size(15.0)).wrap());
            ui.add(Label::new(task.how).wrap());
        });
        true
    }

    /// The five rooms: the tasks that are done, and the one at hand. A click begins another.
    fn tasks_ui(&mut self, ui: &mut Ui, current: usize) {
        ui.strong("Tour");
        for (k, task) in TASKS.iter().enumerate() {
            if self.tour.is_done(k) {
                check_mark_ui(ui);
            }
            let label = format!("{}. {}", k + 1, task.room.label());
            let button = Button::selectable(k == current, label);
            if ui.add(button).on_hover_text(task.goal).clicked() && k != current {
                self.begin_task(k);
            }
        }
    }

    /// Opens the document of a task; unsaved work is asked about first.
    pub(crate) fn begin_task(&mut self, k: usize) {
        let document = (TASKS[k].example)();
        self.tour.begin(k, &document);
        let room: RoomName = TASKS[k].room;
        self.push(Command::New(Box::new(document), room));
    }
}

/// A check mark, drawn without a font.
fn check_mark_ui(ui: &mut Ui) {
    let (_, rect) = ui.allocate_space(Vec2::splat(12.0));
    let at = |x: f32, y: f32| rect.min + vec2(x, y) * rect.size();
    let line = vec![at(0.1, 0.55), at(0.4, 0.85), at(0.95, 0.15)];
    let stroke = Stroke::new(2.0, success_color(ui));
    ui.painter().add(Shape::line(line, stroke));
}

fn success_color(ui: &Ui) -> egui::Color32 {
    theme::ThemeColors::of(ui.visuals()).accent
}
