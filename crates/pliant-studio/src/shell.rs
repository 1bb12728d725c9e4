//! The window: bars, panels, viewports.

use eframe::egui::{self, Key, KeyboardShortcut, Modifiers, Ui, Vec2};

use crate::command::{Command, Mood};
use crate::panels;
use crate::rooms::{On, Pane, RoomName};
use crate::studio::Studio;
use crate::view::viewport_ui;

/// Undo.
pub const UNDO: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::Z);
/// Redo.
pub const REDO: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::Z);

impl eframe::App for Studio {
    fn ui(&mut self, ui: &mut Ui, _frame: &mut eframe::Frame) {
        self.window_ui(ui);
    }
}

impl Studio {
    /// The whole window.
    pub fn window_ui(&mut self, ui: &mut Ui) {
        let ctx = ui.ctx().clone();
        self.begin_frame(&ctx);
        self.shortcuts(&ctx);
        egui::Panel::top("menu").show(ui, |ui| self.menu_ui(ui));
        egui::Panel::bottom("status").show(ui, |ui| self.status_ui(ui));
        egui::Panel::bottom("timeline").resizable(true).show(ui, |ui| {
            self.with_room(self.desk.room, |_, cx| panels::timeline_ui(ui, cx));
        });
        egui::Panel::left("tools").default_size(200.0).show(ui, |ui| self.with_room(self.desk.room, |room, cx| room.tools_ui(ui, cx)));
        egui::Panel::right("options").default_size(300.0).show(ui, |ui| self.options_ui(ui));
        egui::CentralPanel::default().show(ui, |ui| self.viewports_ui(ui));
        self.end_frame(&ctx);
    }

    fn menu_ui(&mut self, ui: &mut Ui) {
        egui::MenuBar::new().ui(ui, |ui| {
            ui.menu_button("Edit", |ui| {
                let undo = self.history.undo_label().map(|label| format!("Undo {label}"));
                if ui.add_enabled(undo.is_some(), egui::Button::new(undo.unwrap_or_else(|| "Undo".into()))).clicked() {
                    self.push(Command::Undo);
                }
                let redo = self.history.redo_label().map(|label| format!("Redo {label}"));
                if ui.add_enabled(redo.is_some(), egui::Button::new(redo.unwrap_or_else(|| "Redo".into()))).clicked() {
                    self.push(Command::Redo);
                }
            });
            for room in RoomName::ALL {
                if ui.selectable_label(self.desk.room == room, room.label()).on_hover_text(room.hint()).clicked() {
                    self.push(Command::Room(room));
                }
            }
        });
    }

    fn shortcuts(&mut self, ctx: &egui::Context) {
        if ctx.egui_wants_keyboard_input() {
            return;
        }
        // Redo first: its keys hold those of undo.
        if ctx.input_mut(|input| input.consume_shortcut(&REDO)) {
            self.push(Command::Redo);
        }
        if ctx.input_mut(|input| input.consume_shortcut(&UNDO)) {
            self.push(Command::Undo);
        }
        if ctx.input(|input| input.key_pressed(Key::F)) {
            self.push(Command::Frame { selection: false });
        }
    }

    fn options_ui(&mut self, ui: &mut Ui) {
        let room = self.desk.room;
        egui::ScrollArea::vertical().show(ui, |ui| {
            self.with_room(room, |room, cx| {
                room.options_ui(ui, cx);
                if room.shows_sliders() {
                    egui::CollapsingHeader::new("Explain").default_open(true).show(ui, |ui| panels::explain_ui(ui, cx));
                    egui::CollapsingHeader::new("Sliders").default_open(true).show(ui, |ui| panels::sliders_ui(ui, cx));
                }
            });
        });
    }

    fn status_ui(&mut self, ui: &mut Ui) {
        ui.horizontal(|ui| {
            if let Some(notice) = &self.notice {
                let color = match notice.mood {
                    Mood::Done | Mood::Hint => ui.visuals().text_color(),
                    Mood::Trouble => ui.visuals().error_fg_color,
                };
                ui.colored_label(color, &notice.text);
            }
            for watch in &self.watches {
                let view = watch.view();
                ui.add(egui::ProgressBar::new(view.done as f32).desired_width(160.0).text(format!("{}: {}", view.name, view.stage)));
                if ui.button("Cancel").clicked() {
                    watch.cancel();
                }
            }
        });
    }

    fn viewports_ui(&mut self, ui: &mut Ui) {
        let name = self.desk.room;
        let panes = self.with_room(name, |room, cx| room.panes(cx));
        let size = Vec2::new(ui.available_width() / panes.len().max(1) as f32, ui.available_height());
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = 0.0;
            for (k, pane) in panes.into_iter().enumerate() {
                self.viewport_ui(name, k, &pane, size, ui);
            }
        });
    }

    fn viewport_ui(&mut self, name: RoomName, k: usize, pane: &Pane, size: Vec2, ui: &mut Ui) {
        let look = self.desk.look.clone();
        let seen = self.desk.cameras.entry(name).or_default();
        seen.resize_with(seen.len().max(k + 1), Default::default);
        if let Some(bounds) = pane.scene.bounds().filter(|_| seen[k].subject != pane.subject) {
            seen[k].camera.frame_in(bounds, f64::from(size.x / size.y.max(1.0)));
            seen[k].subject.clone_from(&pane.subject);
        }
        let mut camera = seen[k].camera.clone();
        let canvas = viewport_ui(ui, (name, k), name.label(), &mut camera, &pane.scene, &look, size);
        if pane.scene.models.is_empty() {
            canvas.painter.text(
                canvas.response.rect.center(),
                egui::Align2::CENTER_CENTER,
                &pane.empty,
                egui::FontId::proportional(15.0),
                ui.visuals().weak_text_color(),
            );
        }
        let on = On { pane: k, scene: &pane.scene, canvas: &canvas };
        let used = self.with_room(name, |room, cx| room.canvas_ui(&on, ui, cx));
        if !used {
            canvas.orbit_with_left(&mut camera);
        }
        self.desk.cameras.entry(name).or_default()[k].camera = camera;
    }
}
