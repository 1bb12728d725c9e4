//! A text field for an asset: typed, chosen from files, or built in.

use eframe::egui::{Button, Key, Role, TextEdit, Ui, WidgetInfo};
use pliant::io::Format;

use crate::engine::command::{Command, RoomFileRequest};
use crate::engine::context::Cx;
use crate::engine::file_request::{FileKind, FileRequest};

/// The settings of the field.
#[derive(Debug, Clone, Copy)]
pub struct AssetField<'a> {
    /// Its label, such as `Source file`.
    pub name: &'a str,
    /// Its placeholder text.
    pub hint: &'a str,
    /// Accepted text.
    pub help: &'a str,
    /// Assets that need no file, for a menu; without any there is no menu.
    pub built_in: &'a [&'a str],
    /// What the room calls files that were browsed for, see
    /// [`Room::take_files`](crate::rooms::Room::take_files).
    pub what: &'static str,
    /// Which files the dialog shows.
    pub kinds: fn() -> Vec<FileKind>,
}

/// A line to type into, and below it a button that opens the file dialog and a menu of built-in
/// assets.
///
/// Returns what was typed and confirmed, or chosen from the menu. Files of the dialog go to the
/// room.
pub fn asset_field_ui(
    ui: &mut Ui,
    field: &AssetField<'_>,
    typed: &mut String,
    cx: &mut Cx<'_>,
) -> Option<String> {
    let line = ui.add(
        TextEdit::singleline(typed)
            .hint_text(field.hint)
            .desired_width(f32::INFINITY),
    );

    line.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, field.name));
    let entered = line.lost_focus()
        && ui.input(|input| input.key_pressed(Key::Enter))
        && !typed.trim().is_empty();

    line.on_hover_text(format!("{} Press Enter to apply.", field.help));
    let chosen = ui.horizontal(|ui| {
        browse_ui(ui, field, cx);
        built_in_ui(ui, field)
    });
    // The field is empty again for the next asset.
    let entered = entered.then(|| std::mem::take(typed).trim().to_owned());

    entered.or(chosen.inner)
}

fn browse_ui(ui: &mut Ui, field: &AssetField<'_>, cx: &mut Cx<'_>) {
    let browse = ui
        .add(Button::new("Browse…"))
        .on_hover_text("Choose a file");
    browse.widget_info(|| {
        WidgetInfo::labeled(
            Role::Button,
            true,
            format!("Browse for {}", lower(field.name)),
        )
    });

    if browse.clicked() {
        let title = format!("Choose {}", lower(field.name));
        let action = "Choose".into();
        let request = FileRequest {
            title,
            action,
            kinds: (field.kinds)(),
            ..FileRequest::default()
        };

        cx.command(Command::AskFiles(RoomFileRequest {
            what: field.what,
            request,
        }));
    }
}

fn built_in_ui(ui: &mut Ui, field: &AssetField<'_>) -> Option<String> {
    if field.built_in.is_empty() {
        return None;
    }

    let mut chosen = None;
    let menu = ui.menu_button("Built-in", |ui| {
        for locator in field.built_in {
            if ui.button(*locator).clicked() {
                chosen = Some((*locator).to_owned());
                ui.close();
            }
        }
    });

    menu.response.widget_info(|| {
        WidgetInfo::labeled(
            Role::Button,
            true,
            format!("Built-in {}", lower(field.name)),
        )
    });
    chosen
}

/// A name within a message.
fn lower(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_lowercase().chain(letters).collect()
    })
}

/// Meshes, rigs and clips, in every format that Pliant reads.
#[must_use]
pub fn asset_kinds() -> Vec<FileKind> {
    let endings = Format::ALL
        .into_iter()
        .filter(|format| format.can_read())
        .map(|format| format.ending().to_owned());
    vec![
        FileKind::new("Meshes, rigs and clips", endings.collect()),
        every_file(),
    ]
}

/// Files of one kind, or all.
#[must_use]
pub fn kinds_of(label: &str, endings: &[&str]) -> Vec<FileKind> {
    vec![
        FileKind::new(
            label,
            endings.iter().map(|ending| (*ending).to_owned()).collect(),
        ),
        every_file(),
    ]
}

fn every_file() -> FileKind {
    FileKind::new("All files", Vec::new())
}
