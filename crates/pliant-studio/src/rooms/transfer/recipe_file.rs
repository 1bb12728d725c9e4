//! The setup as files for `pliant transfer`, there and back: a recipe, and the marker pairs of each
//! source beside it.

use std::path::{Path, PathBuf};

use eframe::egui::{self, Ui};
use pliant::transfer::MarkerFormat;
use pliant::transfer_job::TransferJob;
use pliant::transfer_recipe::TransferRecipe;

use super::maps::MapKey;
use super::marker_pairs::all_markers;
use super::setup::Setup;
use crate::command::{Command, Notice, Wanted};
use crate::dialog::{Kind, Request};
use crate::export::{NewFile, write_files};
use crate::files::NativeFiles;
use crate::names::shown;
use crate::panels::kinds_of;
use crate::project::{absolute, portable};
use crate::rooms::Cx;
use crate::work::Task;

/// A recipe to be loaded.
pub(super) const LOAD: &str = "recipe";
/// A name for a recipe to be saved.
pub(super) const SAVE: &str = "recipe to save";

/// Saving under way.
#[derive(Debug, Default)]
pub(super) struct RecipeFile {
    task: Option<Task<String>>,
}

/// Recipes, for a dialog.
pub(super) fn recipe_kind() -> Kind {
    Kind::new("Recipe of the command line", vec!["toml".into()])
}

impl RecipeFile {
    /// Whether files are being written.
    #[must_use]
    pub(super) fn busy(&self) -> bool {
        self.task.is_some()
    }

    /// Tells that files were written.
    pub(super) fn update(&mut self, cx: &mut Cx<'_>) {
        match Task::finished(&mut self.task) {
            None => {}
            Some(Ok(sentence)) => cx.tell(Notice::done(format!(
                "{sentence} Run it with `pliant transfer`."
            ))),
            Some(Err(sentence)) => cx.tell(Notice::trouble(sentence)),
        }
    }

    /// Buttons to load and to save; `ready` says whether there is something to save.
    pub(super) fn recipe_ui(&self, ready: bool, ui: &mut Ui, cx: &mut Cx<'_>) {
        ui.collapsing("Recipe for the command line", |ui| {
            ui.horizontal(|ui| {
                if ui
                    .button("Load recipe…")
                    .on_hover_text("A .toml of `pliant transfer`, in place of what is set up here")
                    .clicked()
                {
                    let kinds = kinds_of("Recipe of the command line", &["toml"]);
                    let request = Request {
                        title: "Load recipe".into(),
                        action: "Load".into(),
                        kinds,
                        ..Request::default()
                    };
                    cx.command(Command::AskFiles(Wanted {
                        what: LOAD,
                        request,
                    }));
                }
                let save = ui.add_enabled(
                    ready && self.task.is_none(),
                    egui::Button::new("Save recipe…"),
                );
                let save = save.on_hover_text(
                    "A .toml for `pliant transfer`, with the markers in .json files beside it",
                );
                if save
                    .on_disabled_hover_text("Choose a source and a target first")
                    .clicked()
                {
                    let (title, action, kinds) =
                        ("Save recipe".into(), "Save".into(), vec![recipe_kind()]);
                    let request = Request {
                        title,
                        action,
                        kinds,
                        saves: true,
                        name: "transfer".into(),
                        ..Request::default()
                    };
                    cx.command(Command::AskFiles(Wanted {
                        what: SAVE,
                        request,
                    }));
                }
            });
        });
    }

    /// Writes the files under a name that a person chose.
    pub(super) fn save(&mut self, keys: Vec<MapKey>, path: PathBuf, cx: &Cx<'_>) {
        let setup = cx.document.transfer.clone();
        let work = move |_: &_| write_files(&recipe_files(&setup, &keys, &path)?, &NativeFiles);
        self.task = Some(Task::start("Saving the recipe", cx.wake.clone(), work));
    }
}

/// A recipe and the marker files that it names. Paths near it are relative to its folder.
pub(super) fn recipe_files(
    setup: &Setup,
    keys: &[MapKey],
    path: &Path,
) -> Result<Vec<NewFile>, String> {
    let stem = path
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let path = absolute(path);
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut recipe = setup.recipe();
    recipe.target = portable(&recipe.target, folder);
    let mut files = Vec::new();
    for (k, ((source, told), key)) in setup
        .sources
        .iter()
        .zip(&mut recipe.sources)
        .zip(keys)
        .enumerate()
    {
        told.clip = portable(&told.clip, folder);
        if !source.pairs.is_empty() {
            let name = format!("{stem}-markers-{}.json", k + 1);
            let (markers, _) =
                all_markers(&key.source, &key.target, &source.pairs, source.mirrored);
            let text = markers
                .to_text(MarkerFormat::Json)
                .map_err(|error| error.to_string())?;
            files.push((path.with_file_name(&name), text.into_bytes()));
            told.markers = Some(name);
        }
    }
    // Only the recipe itself was asked about.
    if let Some((taken, _)) = files
        .iter()
        .find(|(file, _)| file.exists() && !path.exists())
    {
        return Err(format!(
            "'{}' exists already, and the recipe's markers would replace it; choose another name.",
            taken.display()
        ));
    }
    let text = recipe.to_toml().map_err(|error| error.to_string())?;
    files.insert(0, (path, text.into_bytes()));
    Ok(files)
}

/// Reads a recipe with all that it names; also what the studio has no place for, a sentence each.
pub(super) fn read_recipe(path: &Path) -> Result<(Setup, Vec<String>), String> {
    let path = absolute(path);
    let name = shown(&path);
    let text = std::fs::read_to_string(&path)
        .map_err(|error| format!("'{name}' cannot be read: {error}."))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let told = |error: pliant::transfer_recipe::RecipeError| {
        format!("'{name}' is no recipe that can be used: {error}.")
    };
    let recipe = TransferRecipe::parse(&text).map_err(told)?;
    let job = TransferJob::load(&recipe, Some(folder)).map_err(told)?;
    Ok(Setup::of_recipe(&recipe, &job, folder))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rooms::transfer::stage::actor;
    use std::sync::Arc;

    fn half_marked() -> (Setup, Vec<MapKey>) {
        let mut setup = crate::rooms::transfer::walking_tapir().transfer;
        setup.sources[0].pairs =
            Arc::new(setup.sources[0].pairs.iter().step_by(5).copied().collect());
        let key = MapKey::of(
            &setup.sources[0],
            &actor("specimen:hound#walk"),
            &actor("specimen:tapir"),
        );
        (setup, vec![key])
    }

    #[test]
    fn saved_files_are_a_job_with_the_markers_of_both_sides_and_load_again() {
        let (setup, keys) = half_marked();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("walk.toml");
        write_files(&recipe_files(&setup, &keys, &path).unwrap(), &NativeFiles).unwrap();
        let (back, problems) = read_recipe(&path).unwrap();
        assert!(
            problems.is_empty() && (&back.target, &back.layers) == (&setup.target, &setup.layers),
            "{problems:?}"
        );
        let (pairs, placed) = (&back.sources[0].pairs, &setup.sources[0].pairs);
        assert!(
            placed.iter().all(|pair| pairs.contains(pair)) && pairs.len() > placed.len(),
            "both sides are written out"
        );
        assert!(!back.sources[0].mirrored, "and not mirrored once more");
    }

    #[test]
    fn markers_of_another_recipe_are_not_replaced_unasked() {
        let (setup, keys) = half_marked();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("walk-markers-1.json"), "mine").unwrap();
        let told = recipe_files(&setup, &keys, &folder.path().join("walk.toml")).unwrap_err();
        assert!(
            told.contains("walk-markers-1.json") && told.contains("another name"),
            "{told}"
        );
        std::fs::write(folder.path().join("walk.toml"), "asked about").unwrap();
        assert_eq!(
            recipe_files(&setup, &keys, &folder.path().join("walk.toml"))
                .unwrap()
                .len(),
            2
        );
    }

    #[test]
    fn a_file_that_is_no_recipe_is_told_by_name_and_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("odd.toml");
        std::fs::write(&path, "target = 'a'\nnonsense\n").unwrap();
        let told = read_recipe(&path).unwrap_err();
        assert!(
            told.contains("odd.toml") && told.contains("line 2"),
            "{told}"
        );
    }
}
