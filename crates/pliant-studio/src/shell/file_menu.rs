//! The File menu.

use std::path::{Path, PathBuf};

use eframe::egui::{self, Key, KeyboardShortcut, Modifiers, Ui};

use super::studio::Studio;
use crate::engine::command::Command;
use crate::engine::export::rig_jobs::{RENAMED, REPAIRED, SPLIT};
use crate::engine::storage::recovery::UnsavedWork;
use crate::model::room::RoomName;

/// New project.
pub const NEW: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::N);
/// Open a file.
pub const OPEN: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::O);
/// Save.
pub const SAVE: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::S);
/// Save under another name.
pub const SAVE_AS: KeyboardShortcut =
    KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::S);
/// Import files.
pub const IMPORT: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::I);
/// Export.
pub const EXPORT: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::E);
/// Quit.
pub const QUIT: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::Q);

impl Studio {
    /// The File menu.
    pub(crate) fn file_menu_ui(&mut self, ui: &mut Ui) {
        ui.menu_button("File", |ui| {
            self.item_ui(ui, "New", Some(NEW), "Start an empty project", || {
                Command::New(Box::default(), RoomName::Pose)
            });
            let tip = "Open a project, or a mesh or rig as the character of a new project";
            self.item_ui(ui, "Open…", Some(OPEN), tip, || Command::AskOpen);
            ui.menu_button("Open recent", |ui| self.recent_ui(ui));

            // The menu has this entry only when there is something to recover.
            if !self.filing.lost().is_empty() {
                ui.menu_button("Recover", |ui| self.lost_ui(ui));
            }

            ui.separator();
            self.item_ui(ui, "Save", Some(SAVE), "Save to the project file", || {
                Command::Save
            });
            self.item_ui(
                ui,
                "Save as…",
                Some(SAVE_AS),
                "Save to another file and continue with that file",
                || Command::AskSave,
            );
            ui.separator();

            let tip = "Import a character, targets or takes into this project, as one undo step";
            self.item_ui(ui, "Import…", Some(IMPORT), tip, || Command::AskImport);
            let tip =
                "Write the mesh, the rig, the animation or a take to a file of another program";
            self.item_ui(ui, "Export…", Some(EXPORT), tip, || Command::AskExport);
            ui.menu_button("Rig", |ui| self.rig_menu_ui(ui));
            self.item_ui(
                ui,
                "Screenshot…",
                None,
                "Save a picture of the window",
                || Command::AskScreenshot,
            );
            ui.separator();
            self.item_ui(
                ui,
                "Quit",
                Some(QUIT),
                "Asks before unsaved changes are lost",
                || Command::Quit,
            );
        });
    }

    /// Jobs on the whole rig; each writes a new file.
    fn rig_menu_ui(&mut self, ui: &mut Ui) {
        let has_sliders = self
            .posed()
            .is_some_and(|posed| !posed.rig.targets().is_empty());
        let jobs = [
            (
                "Rename to ARKit…",
                RENAMED,
                "Sliders get the names of ARKit, where their names or meanings fit",
                has_sliders,
            ),
            (
                "Split left and right…",
                SPLIT,
                "Targets that move both sides become a left and a right one",
                has_sliders,
            ),
            (
                "Repair…",
                REPAIRED,
                "Puts vertex orders and faces of the file right, as `pliant repair` does",
                self.posed().is_some(),
            ),
        ];
        for (label, what, hint, enabled) in jobs {
            let item = ui.add_enabled(enabled, egui::Button::new(label));
            let item = item
                .on_hover_text(format!("{hint}. Writes a new file"))
                .on_disabled_hover_text("Open a rig first");
            if item.clicked() {
                self.push(Command::AskExportOf(what));
                ui.close();
            }
        }
        ui.separator();
        ui.weak("Bones and slider weights of a take, and the targets\nof another head (room Transfer): File › Export.");
    }

    fn item_ui(
        &mut self,
        ui: &mut Ui,
        label: &str,
        shortcut: Option<KeyboardShortcut>,
        tip: &str,
        command: impl FnOnce() -> Command,
    ) {
        let keys = shortcut
            .map(|shortcut| ui.ctx().format_shortcut(&shortcut))
            .unwrap_or_default();
        if ui
            .add(egui::Button::new(label).shortcut_text(keys))
            .on_hover_text(tip)
            .clicked()
        {
            self.push(command());
            ui.close();
        }
    }

    fn recent_ui(&mut self, ui: &mut Ui) {
        let recent: Vec<(PathBuf, bool)> = self.filing.recent();
        if recent.is_empty() {
            ui.weak("No projects yet");
        }

        for (path, exists) in recent {
            // Missing projects stay listed, because a disk may be unmounted.
            let response = ui.add_enabled(exists, egui::Button::new(name(&path)));
            let response = response
                .on_hover_text(path.display().to_string())
                .on_disabled_hover_text(format!("{} does not exist", path.display()));
            if response.clicked() {
                self.push(Command::Open(path.display().to_string()));
                ui.close();
            }
        }
    }

    fn lost_ui(&mut self, ui: &mut Ui) {
        for UnsavedWork {
            text,
            kept,
            project,
            ..
        } in self.filing.lost().to_vec()
        {
            let minutes = kept.elapsed().unwrap_or_default().as_secs() / 60;
            let what = project.as_deref().map_or_else(|| "Untitled".into(), name);
            if ui.button(format!("{what}, {minutes} min ago")).clicked() {
                self.push(Command::Recover(text));
                ui.close();
            }
        }
    }

    /// The shortcuts of the File menu.
    pub(crate) fn file_shortcuts(&mut self, ctx: &egui::Context) {
        if self.filing.has_open_dialog() {
            return;
        }

        let pressed =
            |shortcut: &KeyboardShortcut| ctx.input_mut(|input| input.consume_shortcut(shortcut));

        // Save as first: its keys hold those of save.
        let table = [
            (&SAVE_AS, Command::AskSave),
            (&SAVE, Command::Save),
            (&OPEN, Command::AskOpen),
            (&NEW, Command::New(Box::default(), RoomName::Pose)),
            (&IMPORT, Command::AskImport),
            (&EXPORT, Command::AskExport),
            (&QUIT, Command::Quit),
        ];

        for (shortcut, command) in table {
            if pressed(shortcut) {
                self.push(command);
            }
        }
    }
}

fn name(path: &Path) -> String {
    path.file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}
