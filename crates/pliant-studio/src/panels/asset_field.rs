//! A field for an asset: typed, chosen among files, or built in.

use eframe::egui::{Button, Key, Role, TextEdit, Ui, WidgetInfo};
use pliant::io::Format;

use crate::command::{Command, Wanted};
use crate::dialog::{Kind, Request};
use crate::rooms::Cx;

/// What a field is for.
#[derive(Debug, Clone, Copy)]
pub struct AssetField<'a> {
    /// What it is called, such as `Source file`.
    pub name: &'a str,
    /// What stands in it while it is empty.
    pub hint: &'a str,
    /// What a person may type.
    pub help: &'a str,
    /// Assets that need no file, for a menu; without any there is no menu.
    pub built_in: &'a [&'a str],
    /// What the room calls files that were browsed for, see
    /// [`Room::take_files`](crate::rooms::Room::take_files).
    pub what: &'static str,
    /// Which files the dialog shows.
    pub kinds: fn() -> Vec<Kind>,
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
    line.on_hover_text(format!("{} Enter takes it.", field.help));
    let chosen = ui.horizontal(|ui| {
        browse_ui(ui, field, cx);
        built_in_ui(ui, field)
    });
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
        let (title, action) = (format!("Choose {}", lower(field.name)), "Choose".into());
        let request = Request {
            title,
            action,
            kinds: (field.kinds)(),
            ..Request::default()
        };
        cx.command(Command::AskFiles(Wanted {
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

/// A name within a sentence.
fn lower(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_lowercase().chain(letters).collect()
    })
}

/// Meshes, rigs and clips, in every format that Pliant reads.
#[must_use]
pub fn asset_kinds() -> Vec<Kind> {
    let endings = Format::ALL
        .into_iter()
        .filter(|format| format.can_read())
        .map(|format| format.ending().to_owned());
    vec![
        Kind::new("Meshes, rigs and clips", endings.collect()),
        every_file(),
    ]
}

/// Files of one kind, or all.
#[must_use]
pub fn kinds_of(label: &str, endings: &[&str]) -> Vec<Kind> {
    vec![
        Kind::new(
            label,
            endings.iter().map(|ending| (*ending).to_owned()).collect(),
        ),
        every_file(),
    ]
}

fn every_file() -> Kind {
    Kind::new("All files", Vec::new())
}
