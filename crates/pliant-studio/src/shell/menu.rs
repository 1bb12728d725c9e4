//! The menu bar and the room tabs.

use eframe::egui::{self, Button, Key, KeyboardShortcut, Modifiers, RichText, Ui};

use super::studio::Studio;
use crate::engine::command::Command;
use crate::engine::storage::preferences::{PointerDevice, Theme};
use crate::model::camera::{Projection, Side};
use crate::model::examples::examples;
use crate::model::look::Shading;
use crate::model::room::RoomName;

const UNDO: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::Z);
const REDO: KeyboardShortcut =
    KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::Z);
/// What people from other programs press for redo.
const ALSO_REDO: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::Y);
const ROOM_KEYS: [Key; 5] = [Key::Num1, Key::Num2, Key::Num3, Key::Num4, Key::Num5];
/// How large window parts can be.
const SCALES: [f32; 5] = [0.8, 1.0, 1.25, 1.5, 2.0];

impl Studio {
    /// Menus on the left, rooms beside them.
    pub(crate) fn menu_ui(&mut self, ui: &mut Ui) {
        egui::MenuBar::new().ui(ui, |ui| {
            self.file_menu_ui(ui);
            ui.menu_button("Edit", |ui| self.edit_menu_ui(ui));
            ui.menu_button("View", |ui| self.view_menu_ui(ui));
            ui.menu_button("Examples", |ui| self.examples_menu_ui(ui));
            ui.menu_button("Help", |ui| self.help_menu_ui(ui));
            ui.separator();

            for (k, room) in RoomName::ALL.into_iter().enumerate() {
                let tab = Button::selectable(
                    self.view_state.room == room,
                    RichText::new(room.label()).size(14.5),
                );
                if ui
                    .add(tab)
                    .on_hover_text(format!("{}  (Ctrl+{})", room.hint(), k + 1))
                    .clicked()
                {
                    self.push(Command::Room(room));
                }
            }
        });
    }

    /// Keys that work in every room.
    pub(crate) fn shortcuts(&mut self, ctx: &egui::Context) {
        self.file_shortcuts(ctx);
        if ctx.egui_wants_keyboard_input() || self.filing.has_open_dialog() {
            return;
        }

        let pressed =
            |shortcut: &KeyboardShortcut| ctx.input_mut(|input| input.consume_shortcut(shortcut));

        // Redo first: its keys hold those of undo.
        if pressed(&REDO) || pressed(&ALSO_REDO) {
            self.push(Command::Redo);
        }
        if pressed(&UNDO) {
            self.push(Command::Undo);
        }

        for (key, room) in ROOM_KEYS.into_iter().zip(RoomName::ALL) {
            if pressed(&KeyboardShortcut::new(Modifiers::COMMAND, key)) {
                self.push(Command::Room(room));
            }
        }

        if pressed(&KeyboardShortcut::new(Modifiers::SHIFT, Key::F)) {
            self.push(Command::Frame { selection: true });
        }
        if pressed(&KeyboardShortcut::new(Modifiers::NONE, Key::F)) {
            self.push(Command::Frame { selection: false });
        }
        if ctx.input(|input| input.key_pressed(Key::Escape)) {
            self.help_open = false;
        }
        if ctx.input(|input| input.key_pressed(Key::Questionmark)) {
            self.help_open = !self.help_open;
        }
    }

    fn edit_menu_ui(&mut self, ui: &mut Ui) {
        let step = |ui: &mut Ui, word: &str, label: Option<&str>, shortcut| {
            // The menu names the step, such as "Undo move pin".
            let text = label.map_or_else(
                || word.to_owned(),
                |label| format!("{word} {}", lowercase_first(label)),
            );
            ui.add_enabled(
                label.is_some(),
                Button::new(text).shortcut_text(ui.ctx().format_shortcut(shortcut)),
            )
            .clicked()
        };

        if step(ui, "Undo", self.history.undo_label(), &UNDO) {
            self.push(Command::Undo);
        }
        if step(ui, "Redo", self.history.redo_label(), &REDO) {
            self.push(Command::Redo);
        }
    }

    fn view_menu_ui(&mut self, ui: &mut Ui) {
        if ui
            .add(Button::new("Frame everything").shortcut_text("F"))
            .clicked()
        {
            self.push(Command::Frame { selection: false });
        }

        if ui
            .add(Button::new("Frame selection").shortcut_text("Shift+F"))
            .clicked()
        {
            self.push(Command::Frame { selection: true });
        }

        ui.menu_button("Look from", |ui| self.sides_menu_ui(ui));
        let capture = ui.checkbox(&mut self.capture.open, "Capture");
        capture.on_hover_text("Record a live performance, calibrate a device, clean a take");
        ui.separator();
        self.display_menu_ui(ui);
        self.projection_ui(ui);

        ui.menu_button("Navigation", |ui| {
            let pointer = &mut self.preferences.pointer;
            ui.radio_value(pointer, PointerDevice::Mouse, "Mouse or pen")
                .on_hover_text(
                    "As in Blender (middle button) and Maya (Alt and a button); the wheel zooms",
                );
            ui.radio_value(pointer, PointerDevice::TouchPad, "Touch pad")
                .on_hover_text("Two fingers orbit, with Shift they pan; a pinch or Ctrl zooms");
        });

        ui.separator();
        ui.radio_value(&mut self.preferences.theme, Theme::Dark, "Dark");
        ui.radio_value(&mut self.preferences.theme, Theme::Light, "Light");
        ui.menu_button("Scale", |ui| {
            for scale in SCALES {
                let text = format!("{:.0} %", scale * 100.0);
                ui.radio_value(&mut self.preferences.scale, scale, text);
            }
        });
    }

    fn display_menu_ui(&mut self, ui: &mut Ui) {
        let look = &mut self.view_state.look;
        ui.radio_value(&mut look.shading, Shading::Smooth, "Smooth shading");
        ui.radio_value(&mut look.shading, Shading::Flat, "Flat shading");
        ui.checkbox(&mut look.clay, "Plain clay");
        ui.checkbox(&mut look.wireframe, "Wireframe");
        ui.checkbox(&mut look.backfaces, "Tint back faces");
        ui.checkbox(&mut look.grid, "Ground grid");
        ui.checkbox(&mut look.legend, "Colour legend");
        ui.checkbox(&mut look.axes, "Axes in the corner");
        ui.checkbox(&mut look.ghost, "Ghost while dragging")
            .on_hover_text("The pose before the drag shines through beside the new one");
        ui.checkbox(&mut look.onion, "Onion skins").on_hover_text(
            "The poses at two keys before (orange) and after (green) this frame, in Pose",
        );
    }

    /// The projection of all viewports of the room.
    fn projection_ui(&mut self, ui: &mut Ui) {
        let room = self.view_state.room;
        let cameras = self.view_state.cameras.entry(room).or_default();
        let mut flat = cameras
            .first()
            .is_some_and(|seen| seen.camera.projection == Projection::Orthographic);

        if ui.checkbox(&mut flat, "Orthographic  (5)").changed() {
            let projection = if flat {
                Projection::Orthographic
            } else {
                Projection::Perspective
            };
            for seen in cameras {
                seen.camera.projection = projection;
            }
        }
    }

    /// The sides, for all viewports of the room; a key is for the one under the pointer.
    fn sides_menu_ui(&mut self, ui: &mut Ui) {
        for (label, key, from_left) in [
            ("Three-quarter", "2", true),
            ("Three-quarter, other side", "Alt+2", false),
        ] {
            if ui.add(Button::new(label).shortcut_text(key)).clicked() {
                let room = self.view_state.room;
                for seen in self.view_state.cameras.entry(room).or_default() {
                    seen.camera.look_three_quarter(from_left);
                }
            }
        }

        for side in Side::ALL {
            if ui
                .add(Button::new(side.label()).shortcut_text(side.shortcut()))
                .clicked()
            {
                let cameras = self
                    .view_state
                    .cameras
                    .entry(self.view_state.room)
                    .or_default();
                for seen in cameras.iter_mut() {
                    seen.camera.look_from(side);
                }
            }
        }
    }

    fn examples_menu_ui(&mut self, ui: &mut Ui) {
        for room in RoomName::ALL {
            ui.menu_button(room.label(), |ui| {
                for (name, example) in examples(room) {
                    if ui.button(name).clicked() {
                        self.push(Command::New(Box::new(example()), room));
                    }
                }
            });
        }
    }

    fn help_menu_ui(&mut self, ui: &mut Ui) {
        if ui
            .add(Button::new("Shortcuts").shortcut_text("?"))
            .clicked()
        {
            self.help_open = true;
        }

        if ui
            .button("Tour")
            .on_hover_text("Five short tasks on built-in models, one for each room")
            .clicked()
        {
            self.begin_task(0);
        }

        if ui.button("First steps").clicked() {
            self.preferences.hint_seen = false;
            self.preferences.hints_seen.clear();
        }

        ui.separator();
        ui.weak(concat!("Pliant ", env!("CARGO_PKG_VERSION")));
    }
}

fn lowercase_first(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_lowercase().chain(letters).collect()
    })
}
