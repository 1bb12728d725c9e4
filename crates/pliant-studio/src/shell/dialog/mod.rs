//! The file dialog, drawn by the studio itself: the same on every system, in a browser, and in
//! tests.
//!
//! A worker lists the folders, so that a sleeping network share does not block the window.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use eframe::egui::text::{CCursor, CCursorRange};
use eframe::egui::{self, Align, Key, Layout, Modifiers, RichText, Ui};

mod listing;

use listing::{Listing, Look, Take, Typed, folder_worker, look};

use crate::engine::file_request::{DialogAnswer, FileRequest};
use crate::engine::storage::files::{Files, FolderEntry};
use crate::engine::storage::places::home;
use crate::engine::work::host::{Host, host, take_arrived_files};
use crate::engine::work::{Inbox, Latest, Outbox, Wake};
use crate::model::names::shown;
use crate::model::project::absolute;

/// How wide the list of places is, in points.
const PLACES_WIDTH: f32 = 130.0;

/// What a whole folder is.
const RIG_FOLDER: &str =
    "The OBJ files of this folder as one rig: neutral.obj and a target for each other file";

/// A dialog that is open.
pub struct FileDialog {
    request: FileRequest,
    folder: PathBuf,
    folder_text: String,
    name: String,
    kind: usize,
    choice: usize,
    marked: BTreeSet<String>,
    cursor: Option<usize>,
    listing: Option<Listing>,
    lister: Latest<Look, Listing>,
    /// Those folders to go to with one click that are there.
    places: Vec<PathBuf>,
    folder_worker: Latest<Vec<PathBuf>, Vec<PathBuf>>,
    /// Whether it is looked for what stands in the field of the name.
    following: bool,
    /// Why the typed path is not valid.
    error: Option<String>,
    /// A file that exists and is about to be written over.
    overwrite: Option<PathBuf>,
    /// Whether a name was accepted before it is known which files there are.
    accepted: bool,
    fresh: bool,
}

impl FileDialog {
    /// Opens a dialog on `files`.
    #[must_use]
    pub fn new(request: FileRequest, files: Arc<dyn Files>, wake: Wake) -> Self {
        let folder_worker = folder_worker(files.clone(), wake.clone());
        let lister = Latest::new(
            "Listing a folder",
            wake,
            move |inbox: &Inbox<Look>, outbox: &Outbox<Listing>| {
                while let Some(question) = inbox.next() {
                    outbox.put(look(&*files, question));
                }
            },
        );

        folder_worker.send(request.folders.clone());
        let folder = absolute(&request.folder);
        let name = request.name.clone();
        let mut dialog = Self {
            request,
            folder: PathBuf::new(),
            folder_text: String::new(),
            name,
            kind: 0,
            choice: 0,
            marked: BTreeSet::new(),
            cursor: None,
            listing: None,
            lister,
            places: Vec::new(),
            folder_worker,
            following: false,
            error: None,
            overwrite: None,
            accepted: false,
            fresh: true,
        };

        // The folder is shown at once and listed by the worker.
        dialog.go_to(folder.clone());
        dialog.lister.send(Look::Begin(folder));
        dialog
    }

    /// Whether a folder is still being listed.
    #[must_use]
    pub fn busy(&self) -> bool {
        self.lister.busy() || self.folder_worker.busy()
    }

    fn open_folder(&mut self, folder: PathBuf) {
        self.lister.send(Look::In(folder.clone()));
        self.go_to(folder);
    }

    fn go_to(&mut self, folder: PathBuf) {
        self.folder_text = folder.display().to_string();
        self.folder = folder;
        self.marked.clear();
        self.cursor = None;
        self.accepted = false;
        (self.following, self.error) = (false, None);
    }

    /// Result of the worker.
    fn fetch(&mut self) -> Option<DialogAnswer> {
        if let Some(Ok(places)) = self.folder_worker.result() {
            self.places = places;
        }

        let answer = self.lister.result()?;
        // Further typing cancels the choice.
        let followed = std::mem::take(&mut self.following);
        let mut listing = match answer {
            Ok(listing) if followed || listing.typed.is_none() => listing,
            Ok(_) => return None,
            Err(message) => {
                self.error = Some(message).filter(|_| followed);
                return None;
            }
        };

        let typed = listing.typed.take();
        if typed.is_some() || self.listing.is_none() {
            self.go_to(listing.folder.clone());
        }
        // A listing of a folder that was left is ignored.
        if listing.folder == self.folder {
            self.listing = Some(listing);
        }

        self.name = match typed? {
            // The name that was offered is offered again.
            Typed::Folder if self.request.saves => self.request.name.clone(),
            Typed::Folder => String::new(),
            Typed::Name(name, Take::Nothing) => name,
            Typed::Name(name, Take::It) => {
                self.name = name;
                return self.accept();
            }
        };

        self.fresh = true;
        None
    }

    /// The path that stands in the field of the name, if it is more than a name.
    fn typed_path(&self) -> Option<PathBuf> {
        let typed = self.name.trim();
        let is_path = typed.contains(std::path::is_separator) || typed == "~" || typed == "..";
        is_path.then(|| absolute(&self.folder.join(expanded(typed))))
    }

    /// Looks where a path that was typed leads; returns whether there is one.
    fn follow(&mut self, take: Take) -> bool {
        let path = self.typed_path();
        self.following = path.is_some();
        if let Some(path) = path.clone() {
            self.lister.send(Look::For(path, take));
        }
        path.is_some()
    }

    /// The dialog; returns the user's choice, if any.
    pub fn dialog_ui(&mut self, ctx: &egui::Context) -> Option<DialogAnswer> {
        let arrived = take_arrived_files();
        if !arrived.is_empty() && !self.request.saves {
            return Some(self.chosen(arrived));
        }
        if let Some(answer) = self.fetch() {
            return Some(answer);
        }

        // Keys are read before the widgets, which would consume them.
        let keys = self.keys(ctx);
        let modal = egui::Modal::new(egui::Id::unique("file dialog"))
            .frame(modal_frame(ctx))
            .show(ctx, |ui| {
                let size = ui.ctx().content_rect().size();
                ui.set_width((size.x * 0.6).clamp(320.0, 760.0));
                ui.heading(&self.request.title);
                ui.add_space(4.0);
                self.folder_ui(ui);
                ui.separator();

                let picked = self.columns_ui(ui, (size.y * 0.5).clamp(120.0, 420.0));
                ui.separator();
                self.name_ui(ui);
                ui.add_space(6.0);

                let pressed = self.buttons_ui(ui);
                picked.or(pressed)
            });

        let away = self.overwrite.is_none() && modal.should_close();
        // A name was accepted before the folder was listed; now it can be checked.
        let waited = (self.accepted && self.listed().is_some()).then_some(DialogAction::Accept);
        match modal.inner.or(keys).or(waited) {
            Some(DialogAction::Cancel) => Some(DialogAnswer::Cancelled),
            Some(DialogAction::Accept) => self.accept(),
            Some(DialogAction::Folder) => Some(self.chosen(vec![self.folder.clone()])),
            Some(DialogAction::Replace) => {
                self.overwrite.take().map(|path| self.chosen(vec![path]))
            }
            None => away.then_some(DialogAnswer::Cancelled),
        }
    }

    /// Arrows walk the list, Enter accepts, Escape takes back.
    fn keys(&mut self, ctx: &egui::Context) -> Option<DialogAction> {
        let pressed = |key| ctx.input_mut(|input| input.consume_key(Modifiers::NONE, key));
        if self.overwrite.is_some() {
            if pressed(Key::Escape) {
                self.overwrite = None;
            }
            return pressed(Key::Enter).then_some(DialogAction::Replace);
        }

        let count = self.shown().len();
        let step = isize::from(pressed(Key::ArrowDown)) - isize::from(pressed(Key::ArrowUp));
        if step != 0 && count > 0 {
            let from = self
                .cursor
                .map_or(if step > 0 { -1 } else { count as isize }, |at| at as isize);
            self.cursor = Some((from + step).clamp(0, count as isize - 1) as usize);
        }

        // In the field of the folder Enter goes there.
        let in_folder = ctx.memory(|memory| memory.has_focus(egui::Id::unique("dialog folder")));
        (!in_folder && pressed(Key::Enter)).then_some(DialogAction::Accept)
    }

    fn folder_ui(&mut self, ui: &mut Ui) {
        ui.horizontal(|ui| {
            let up = self.folder.parent().map(Path::to_owned);
            if ui
                .add_enabled(up.is_some(), egui::Button::new("Up"))
                .on_hover_text("Go to the parent folder")
                .clicked()
            {
                self.open_folder(up.unwrap_or_default());
            }

            let label = ui.label("Folder");
            let field = egui::TextEdit::singleline(&mut self.folder_text)
                .id(egui::Id::unique("dialog folder"))
                .desired_width(f32::INFINITY);
            let response = ui.add(field).labelled_by(label.id);

            if response.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter)) {
                self.open_folder(absolute(&expanded(&self.folder_text)));
            }
        });
    }

    /// Places on the left, the folder beside them, in a space of fixed size: lists may grow, the
    /// window may not.
    fn columns_ui(&mut self, ui: &mut Ui, height: f32) -> Option<DialogAction> {
        let (whole, _) = ui.allocate_exact_size(
            egui::vec2(ui.available_width(), height),
            egui::Sense::hover(),
        );
        // Fixed areas: long lists scroll instead of growing the dialog.
        let (left, right) = whole.split_left_right_at_x(whole.left() + PLACES_WIDTH);
        let places = egui::UiBuilder::new()
            .max_rect(left)
            .layout(Layout::top_down_justified(Align::Min));

        self.places_ui(&mut ui.new_child(places), height);
        let list = right.with_min_x(right.left() + 8.0);
        ui.painter()
            .rect_filled(list, 4.0, ui.visuals().extreme_bg_color);

        let inside = list.shrink(6.0);
        let rows = egui::UiBuilder::new()
            .max_rect(inside)
            .layout(Layout::top_down_justified(Align::Min));

        self.entries_ui(&mut ui.new_child(rows), inside.height())
    }

    fn places_ui(&mut self, ui: &mut Ui, height: f32) {
        let mut places: Vec<(String, PathBuf)> = home()
            .map(|home| ("Home".to_owned(), home))
            .into_iter()
            .collect();

        // The root folder has no name to show.
        let recent = self
            .places
            .iter()
            .filter(|folder| folder.file_name().is_some());

        places.extend(recent.map(|folder| (shown(folder), folder.clone())));
        egui::ScrollArea::vertical()
            .id_salt("dialog places")
            .max_height(height)
            .auto_shrink(false)
            .show(ui, |ui| {
                for (name, folder) in places {
                    let here = folder == self.folder;
                    if ui
                        .selectable_label(here, name)
                        .on_hover_text(folder.display().to_string())
                        .clicked()
                    {
                        self.open_folder(folder);
                    }
                }
            });
    }

    fn entries_ui(&mut self, ui: &mut Ui, height: f32) -> Option<DialogAction> {
        let shown = self.shown();
        match self.listed() {
            None => drop(ui.weak("Listing…")),
            Some(Err(message)) => drop(ui.colored_label(ui.visuals().error_fg_color, message)),
            _ if shown.is_empty() => drop(ui.weak("No matching files in this folder.")),
            _ => {}
        }

        let mut press = None;
        let row = ui.spacing().interact_size.y;
        let rows = egui::ScrollArea::vertical()
            .id_salt("dialog entries")
            .max_height(height)
            .auto_shrink(false);

        // Only visible rows are built; a folder may hold thousands of files.
        rows.show_rows(ui, row, shown.len(), |ui, range| {
            for k in range {
                let pressed = self.entry_ui(ui, k, &shown[k]);
                press = press.take().or(pressed);
            }
        });
        press
    }

    fn entry_ui(&mut self, ui: &mut Ui, k: usize, entry: &FolderEntry) -> Option<DialogAction> {
        let highlighted = self.marked.contains(&entry.name) || self.cursor == Some(k);
        let text = if entry.folder {
            RichText::new(format!("{}/", entry.name)).strong()
        } else {
            RichText::new(&entry.name)
        };

        let response = ui.selectable_label(highlighted, text);
        // The list scrolls with the arrow keys.
        if self.cursor == Some(k)
            && ui
                .input(|input| input.key_pressed(Key::ArrowDown) || input.key_pressed(Key::ArrowUp))
        {
            response.scroll_to_me(None);
        }

        if response.double_clicked() || (entry.folder && response.clicked()) {
            self.pick(entry, false);
            return (!entry.folder).then_some(DialogAction::Accept);
        }

        if response.clicked() {
            // Several files can be opened, but only one saved.
            let modifiers = ui.input(|input| input.modifiers);
            if !self.request.saves && modifiers.shift {
                self.pick_range(k);
            } else {
                self.pick(entry, !self.request.saves && modifiers.command);
            }
        }
        None
    }

    /// Marks all files from the one that was picked last to row `k`.
    fn pick_range(&mut self, k: usize) {
        let shown = self.shown();
        let last = shown.iter().position(|entry| entry.name == self.name);
        let from = last.unwrap_or(k);
        let anchor = self.name.clone();
        for entry in &shown[from.min(k)..=from.max(k)] {
            if !entry.folder {
                self.pick(entry, true);
            }
        }
        // The next range begins at the same file.
        if last.is_some() {
            self.name = anchor;
        }
    }

    fn pick(&mut self, entry: &FolderEntry, adds: bool) {
        self.cursor = None;
        if entry.folder {
            // While saving, the typed name is kept when the folder changes.
            if !self.request.saves {
                self.name.clear();
            }
            self.open_folder(self.folder.join(&entry.name));
            return;
        }

        if !adds {
            self.marked.clear();
        }

        self.marked.insert(entry.name.clone());
        self.name.clone_from(&entry.name);
    }

    fn name_ui(&mut self, ui: &mut Ui) {
        egui::Grid::new("dialog name")
            .num_columns(2)
            .show(ui, |ui| {
                let label = ui.label("Name");
                let field = egui::TextEdit::singleline(&mut self.name)
                    .id(egui::Id::unique("dialog name field"))
                    .desired_width(f32::INFINITY);
                let response = ui.add(field).labelled_by(label.id);

                // Typing replaces the offered name and keeps its ending.
                if std::mem::take(&mut self.fresh) {
                    response.request_focus();
                    select_stem(ui, response.id, &self.name);
                }

                // A typed name replaces what was selected in the list.
                if response.changed() {
                    self.accepted = false;
                    self.marked.clear();
                    self.cursor = None;
                    (self.following, self.error) = (false, None);
                }

                if response.lost_focus() && ui.input(|input| input.key_pressed(Key::Tab)) {
                    self.follow(Take::Nothing);
                }
                ui.end_row();

                if !self.request.kinds.is_empty() {
                    let kinds: Vec<&str> =
                        self.request.kinds.iter().map(|kind| &*kind.label).collect();
                    list_ui(ui, "Kind", &kinds, &mut self.kind);
                    ui.end_row();
                }

                if !self.request.choices.is_empty() {
                    let (choices, before): (Vec<&str>, usize) = (
                        self.request
                            .choices
                            .iter()
                            .map(|choice| &*choice.name)
                            .collect(),
                        self.choice,
                    );

                    list_ui(ui, &self.request.choice_label, &choices, &mut self.choice);
                    if self.choice != before {
                        self.follow_choice();
                    }
                    ui.end_row();
                }
            });
    }

    /// Another choice may go with other kinds of files; the name loses the ending that it had for
    /// the old one.
    fn follow_choice(&mut self) {
        let kinds = self.request.choices[self.choice].kinds.clone();
        // The ending belonged to the old choice.
        if let Some((stem, _)) = self.name.rsplit_once('.')
            && self
                .request
                .kinds
                .iter()
                .any(|kind| !kind.endings.is_empty() && kind.holds(&self.name))
            && !kinds.iter().any(|kind| kind.holds(&self.name))
        {
            self.name = stem.to_owned();
        }

        (self.request.kinds, self.kind) = (kinds, 0);
    }

    fn buttons_ui(&mut self, ui: &mut Ui) -> Option<DialogAction> {
        if let Some(message) = &self.error {
            ui.colored_label(ui.visuals().error_fg_color, message);
        }
        // Replacing a file needs a second confirmation.
        if let Some(path) = &self.overwrite {
            let name = shown(path);
            ui.horizontal(|ui| {
                ui.label(format!("'{name}' already exists."));
                if ui.button("Keep it").on_hover_text("Escape").clicked() {
                    self.overwrite = None;
                }
                ui.button("Replace")
                    .on_hover_text("Enter")
                    .clicked()
                    .then_some(DialogAction::Replace)
            })
            .inner
        } else {
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let accept = ui
                    .add_enabled(
                        !self.name.trim().is_empty(),
                        egui::Button::new(&self.request.action),
                    )
                    .on_hover_text("Enter")
                    .clicked();

                let cancel = ui.button("Cancel").on_hover_text("Escape").clicked();
                if let Some(host) = host() {
                    self.page_buttons_ui(ui, host);
                }
                let folder = self.request.takes_folder
                    && ui
                        .button("Use this folder")
                        .on_hover_text(RIG_FOLDER)
                        .clicked();
                if cancel {
                    Some(DialogAction::Cancel)
                } else if folder {
                    Some(DialogAction::Folder)
                } else {
                    accept.then_some(DialogAction::Accept)
                }
            })
            .inner
        }
    }

    /// Between the files that the page keeps and those of the computer.
    fn page_buttons_ui(&self, ui: &mut Ui, host: &Host) {
        if !self.request.saves && ui.button("From this computer…").clicked() {
            let kinds = self.request.kinds.get(self.kind);
            (host.ask_files)(kinds.map_or(&[], |kind| &kind.endings));
        }

        let marked = self.marked.iter().next();
        if let Some(name) = marked
            && ui
                .button("Download")
                .on_hover_text("Save a copy on this computer")
                .clicked()
        {
            (host.give_file)(self.folder.join(name));
        }
    }

    /// Contents of this folder; `None` while it is being listed.
    fn listed(&self) -> Option<Result<&[FolderEntry], &str>> {
        let listing = self
            .listing
            .as_ref()
            .filter(|listing| listing.folder == self.folder)?;
        Some(listing.entries.as_deref().map_err(|message| &**message))
    }

    /// What the list shows: visible files of the kind whose names hold what is typed.
    fn shown(&self) -> Vec<FolderEntry> {
        let listed = self.listed().and_then(Result::ok);
        // While opening, the typed name filters the list.
        let is_search =
            !self.request.saves && self.marked.is_empty() && self.typed_path().is_none();
        let typed = if is_search {
            self.name.trim().to_lowercase()
        } else {
            String::new()
        };

        let kind = self
            .request
            .kinds
            .get(self.kind)
            .cloned()
            .unwrap_or_default();

        let fits = |entry: &&FolderEntry| {
            let kind = entry.folder || kind.holds(&entry.name);
            // Hidden files are not offered.
            kind && !entry.name.starts_with('.')
                && (typed.is_empty() || entry.name.to_lowercase().contains(&typed))
        };

        listed.into_iter().flatten().filter(fits).cloned().collect()
    }

    /// Enter or the button: goes into a folder, completes a name, asks before it replaces a
    /// file, or makes the choice.
    fn accept(&mut self) -> Option<DialogAnswer> {
        // A typed path is followed by the worker first.
        if self.cursor.is_none() && self.follow(Take::It) {
            return None;
        }

        let shown = self.shown();
        let at_cursor = self.cursor.and_then(|k| shown.get(k).cloned());
        let typed = self.name.trim().to_owned();
        let exact = shown.iter().find(|entry| entry.name == typed).cloned();
        // A search with one match stands for that file.
        let only = shown
            .first()
            .filter(|_| shown.len() == 1 && !self.request.saves && !typed.is_empty())
            .cloned();

        if let Some(entry) = at_cursor.or(exact.filter(|entry| entry.folder)).or(only) {
            self.pick(&entry, false);
            if entry.folder {
                return None;
            }
        } else if typed.is_empty() {
            return None;
        }

        if self.request.saves {
            return self.accept_name();
        }

        let names = if self.marked.is_empty() {
            BTreeSet::from([self.name.trim().to_owned()])
        } else {
            self.marked.clone()
        };

        if let Some(name) = names.iter().find(|name| !self.may_open(name)) {
            self.error = Some(format!(
                "The file '{name}' does not exist in this folder; choose one from the list."
            ));
            return None;
        }

        let paths = names.iter().map(|name| self.folder.join(name)).collect();
        Some(self.chosen(paths))
    }

    /// Whether a name can be opened: one of a file that is there, or of a part of one (`FILE#PART`,
    /// `MESH+DELTAS`).
    fn may_open(&self, name: &str) -> bool {
        let there = |entries: &[FolderEntry]| entries.iter().any(|entry| entry.name == name);
        name.contains(['#', '+', '@']) || self.listed().is_none_or(|listed| listed.is_ok_and(there))
    }

    fn accept_name(&mut self) -> Option<DialogAnswer> {
        let typed = self.name.trim().to_owned();
        let endings = self
            .request
            .kinds
            .get(self.kind)
            .map(|kind| kind.endings.clone())
            .unwrap_or_default();

        // A name with a known ending keeps it; others get the ending of the chosen kind.
        let known = self
            .request
            .kinds
            .iter()
            .any(|kind| !kind.endings.is_empty() && kind.holds(&typed));

        let name = if known {
            typed
        } else {
            endings
                .first()
                .map_or(typed.clone(), |ending| format!("{typed}.{ending}"))
        };

        // Whether the file exists is known when the folder is listed.
        self.accepted = self.listed().is_none();
        let exists = self.listed()?.is_ok_and(|entries| {
            entries
                .iter()
                .any(|entry| !entry.folder && entry.name == name)
        });

        let path = self.folder.join(name);
        if exists {
            self.overwrite = Some(path);
            return None;
        }

        Some(self.chosen(vec![path]))
    }

    fn chosen(&self, paths: Vec<PathBuf>) -> DialogAnswer {
        DialogAnswer::Chosen {
            paths,
            choice: self.choice,
        }
    }
}

/// The frame of a question: as a menu's, with more air.
pub(crate) fn modal_frame(ctx: &egui::Context) -> egui::Frame {
    egui::Frame::popup(&ctx.global_style()).inner_margin(16.0)
}

enum DialogAction {
    Accept,
    Folder,
    Replace,
    Cancel,
}

fn list_ui(ui: &mut Ui, label: &str, texts: &[&str], chosen: &mut usize) {
    let name = ui.label(label);
    let list = egui::ComboBox::new(("dialog list", label), "")
        .selected_text(texts[*chosen])
        .show_ui(ui, |ui| {
            // The press that opens the list also raises the dialog, which would cover it.
            ui.ctx().move_to_top(ui.layer_id());
            for (k, text) in texts.iter().enumerate() {
                ui.selectable_value(chosen, k, *text);
            }
        });
    list.response.labelled_by(name.id);
}

/// Selects what the user types another name over: all but the ending.
fn select_stem(ui: &Ui, field: egui::Id, name: &str) {
    let stem = name
        .rsplit_once('.')
        .map_or(name, |(stem, _)| stem)
        .chars()
        .count();
    let mut state = egui::text_edit::TextEditState::load(ui.ctx(), field).unwrap_or_default();

    state
        .cursor
        .set_char_range(Some(CCursorRange::two(CCursor::new(0), CCursor::new(stem))));
    state.store(ui.ctx(), field);
}

/// `~` is the user's own folder.
fn expanded(text: &str) -> PathBuf {
    match (text.strip_prefix('~'), home()) {
        (Some(rest), Some(home)) => home.join(rest.trim_start_matches(['/', '\\'])),
        _ => PathBuf::from(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::file_request::{DialogAnswer, DialogChoice, FileKind, FileRequest};
    use crate::engine::storage::files::NativeFiles;

    /// A frame of the window.
    fn frame(dialog: &mut FileDialog) -> Option<DialogAnswer> {
        let mut answer = None;
        let mut output = egui::Context::default().run_ui(egui::RawInput::default(), |ui| {
            answer = dialog.dialog_ui(ui.ctx())
        });
        // No window paints this dialog.
        output.textures_delta.clear();
        answer
    }

    fn settle(dialog: &mut FileDialog) -> Option<DialogAnswer> {
        while dialog.lister.at_work() || dialog.folder_worker.at_work() {
            std::thread::yield_now();
        }
        frame(dialog)
    }

    fn begin() -> (tempfile::TempDir, FileDialog) {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("there")).unwrap();
        std::fs::write(root.path().join("there/face.pliant"), "x").unwrap();
        std::fs::write(root.path().join("other.pliant"), "x").unwrap();

        let kinds = vec![FileKind::new("Project", vec!["pliant".into()])];
        let request = FileRequest {
            saves: true,
            kinds,
            folder: root.path().into(),
            ..FileRequest::default()
        };

        let mut dialog = FileDialog::new(request, Arc::new(NativeFiles), Arc::new(|| ()));
        assert_eq!(settle(&mut dialog), None);
        (root, dialog)
    }

    #[test]
    fn overwriting_is_confirmed_even_if_the_folder_is_not_listed_yet() {
        let (root, mut dialog) = begin();
        dialog.open_folder(root.path().join("there"));
        dialog.name = "face".into();

        assert_eq!(
            (dialog.accept(), &dialog.overwrite),
            (None, &None),
            "nobody knows yet"
        );
        assert_eq!(settle(&mut dialog), None);

        assert_eq!(
            dialog.overwrite,
            Some(root.path().join("there/face.pliant"))
        );
    }

    #[test]
    fn a_choice_changes_the_file_ending() {
        let (root, mut dialog) = begin();
        let recipe = DialogChoice {
            name: "Recipe".into(),
            kinds: vec![FileKind::new("Recipe", vec!["toml".into()])],
        };

        dialog.request.choices = vec![
            DialogChoice {
                name: "Project".into(),
                kinds: dialog.request.kinds.clone(),
            },
            recipe,
        ];

        (dialog.name, dialog.choice) = ("walk.pliant".into(), 1);
        dialog.follow_choice();
        assert_eq!(
            dialog.accept(),
            Some(DialogAnswer::Chosen {
                paths: vec![root.path().join("walk.toml")],
                choice: 1
            })
        );
    }

    #[test]
    fn a_name_is_accepted_after_its_folder_is_listed() {
        let (root, mut dialog) = begin();
        dialog.open_folder(root.path().join("there"));
        dialog.name = "other".into();

        assert_eq!(dialog.accept(), None);
        let path = root.path().join("there/other.pliant");
        assert_eq!(
            settle(&mut dialog),
            Some(DialogAnswer::Chosen {
                paths: vec![path],
                choice: 0
            })
        );
    }

    fn type_name(dialog: &mut FileDialog, name: impl Into<String>) -> Option<DialogAnswer> {
        dialog.name = name.into();
        dialog.accept().or_else(|| settle(dialog))
    }

    #[test]
    fn a_typed_path_is_used_unchanged() {
        // A relative path starts at the folder shown.
        let (root, mut dialog) = begin();
        let path = root.path().join("there/new.pliant");
        assert_eq!(
            type_name(&mut dialog, "there/new"),
            Some(DialogAnswer::Chosen {
                paths: vec![path],
                choice: 0
            })
        );

        let (root, mut dialog) = begin();
        assert_eq!(
            type_name(
                &mut dialog,
                root.path().join("there/face").display().to_string()
            ),
            None
        );

        assert_eq!(
            dialog.overwrite,
            Some(root.path().join("there/face.pliant")),
            "a file that is there is a question"
        );
    }

    #[test]
    fn a_typed_folder_is_opened_and_a_missing_one_is_reported() {
        let (root, mut dialog) = begin();
        dialog.request.name = "Untitled.pliant".into();
        assert_eq!(type_name(&mut dialog, "there/"), None);
        assert_eq!(
            (&dialog.folder, &*dialog.name),
            (&root.path().join("there"), "Untitled.pliant")
        );

        // The text stays, so that it can be corrected.
        assert_eq!(type_name(&mut dialog, "../gone/face"), None);
        assert_eq!(
            (&dialog.folder, &*dialog.name),
            (&root.path().join("there"), "../gone/face"),
            "as it was typed"
        );

        let gone = root.path().join("gone").display().to_string();
        assert!(
            dialog
                .error
                .as_ref()
                .is_some_and(|message| message.contains(&gone)),
            "{:?}",
            dialog.error
        );
    }

    #[test]
    fn further_typing_is_not_interrupted() {
        let (root, mut dialog) = begin();
        dialog.name = "there/".into();
        assert_eq!(dialog.accept(), None);
        // As the field does on each letter.
        (dialog.name, dialog.following) = ("there/fa".into(), false);
        assert_eq!(settle(&mut dialog), None);
        assert_eq!((&*dialog.folder, &*dialog.name), (root.path(), "there/fa"));
    }

    #[test]
    fn a_missing_file_is_not_opened() {
        let (root, mut dialog) = begin();
        dialog.request.saves = false;
        assert_eq!(type_name(&mut dialog, "there/none.pliant"), None);
        assert!(
            dialog
                .error
                .as_ref()
                .is_some_and(|message| message.contains("none.pliant")),
            "{:?}",
            dialog.error
        );

        let paths = vec![root.path().join("there/face.pliant")];
        assert_eq!(
            type_name(&mut dialog, "../there/face.pliant"),
            Some(DialogAnswer::Chosen { paths, choice: 0 })
        );
    }

    #[test]
    fn missing_folders_are_not_offered() {
        let root = tempfile::tempdir().unwrap();
        let kept = root.path().join("kept");
        let gone = root.path().join("gone/deep");
        std::fs::create_dir(&kept).unwrap();

        let request = FileRequest {
            folder: gone.clone(),
            folders: vec![gone, kept.clone()],
            ..FileRequest::default()
        };
        let mut dialog = FileDialog::new(request, Arc::new(NativeFiles), Arc::new(|| ()));

        assert_eq!(settle(&mut dialog), None);
        assert_eq!(
            (dialog.places, dialog.folder),
            (vec![kept], root.path().to_owned())
        );
    }
}
