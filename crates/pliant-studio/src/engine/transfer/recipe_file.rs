//! Recipe files for `pliant transfer`: saving and loading of a setup with its marker pairs.

use std::path::{Path, PathBuf};

use pliant::io::is_file;
use pliant::jobs::TransferJob;
use pliant::recipes::TransferRecipe;
use pliant::transfer::MarkerFormat;

use super::maps::MapKey;
use super::marker_pairs::all_markers;
use crate::engine::command::Notice;
use crate::engine::context::Cx;
use crate::engine::export::{NewFile, write_files};
use crate::engine::file_request::FileKind;
use crate::engine::storage::files::files_of_program;
use crate::engine::work::Task;
use crate::model::names::{shown, to_message};
use crate::model::project::{absolute, portable};
use crate::model::transfer::Setup;

/// A recipe to be loaded.
pub(crate) const LOAD: &str = "recipe";
/// A name for a recipe to be saved.
pub(crate) const SAVE: &str = "recipe to save";

/// Saving in progress.
#[derive(Debug, Default)]
pub(crate) struct RecipeFile {
    task: Option<Task<String>>,
}

/// Recipes, for a dialog.
pub(crate) fn recipe_kind() -> FileKind {
    FileKind::new("Recipe for pliant transfer", vec!["toml".into()])
}

impl RecipeFile {
    /// Whether files are being written.
    #[must_use]
    pub(crate) fn busy(&self) -> bool {
        self.task.is_some()
    }

    /// Tells that files were written.
    pub(crate) fn update(&mut self, cx: &mut Cx<'_>) {
        match Task::finished(&mut self.task) {
            None => {}
            Some(Ok(message)) => cx.notify(Notice::done(format!(
                "{message} Run it with `pliant transfer`."
            ))),
            Some(Err(message)) => cx.notify(Notice::error(message)),
        }
    }

    /// Writes the files under a name that the user chose.
    pub(crate) fn save(&mut self, keys: Vec<MapKey>, path: PathBuf, cx: &Cx<'_>) {
        let setup = cx.document.transfer.clone();
        let files = files_of_program();
        let work = move |_: &_| write_files(&recipe_files(&setup, &keys, &path)?, &*files);
        self.task = Some(Task::start("Saving the recipe", cx.wake.clone(), work));
    }
}

/// A recipe and the marker files that it names. Paths near it are relative to its folder.
pub(crate) fn recipe_files(
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
    for (k, ((source, entry), key)) in setup
        .sources
        .iter()
        .zip(&mut recipe.sources)
        .zip(keys)
        .enumerate()
    {
        entry.clip = portable(&entry.clip, folder);
        if !source.pairs.is_empty() {
            let name = format!("{stem}-markers-{}.json", k + 1);
            let (markers, _) =
                all_markers(&key.source, &key.target, &source.pairs, source.mirrored);
            let text = markers.to_text(MarkerFormat::Json).map_err(to_message)?;
            files.push((path.with_file_name(&name), text.into_bytes()));
            entry.markers = Some(name);
        }
    }

    // The dialog confirmed only the recipe itself.
    if let Some((taken, _)) = files
        .iter()
        .find(|(file, _)| is_file(file) && !is_file(&path))
    {
        return Err(format!(
            "'{}' already exists and the markers of the recipe would replace it; choose another name.",
            taken.display()
        ));
    }

    let text = recipe.to_toml().map_err(to_message)?;
    files.insert(0, (path, text.into_bytes()));
    Ok(files)
}

/// Reads a recipe with all that it names; also what the studio has no place for, a message each.
pub(crate) fn read_recipe(path: &Path) -> Result<(Setup, Vec<String>), String> {
    let path = absolute(path);
    let name = shown(&path);
    let text = std::fs::read_to_string(&path)
        .map_err(|error| format!("'{name}' cannot be read: {error}."))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let to_text =
        |error: pliant::recipes::RecipeError| format!("'{name}' is not a valid recipe: {error}.");

    let recipe = TransferRecipe::parse(&text).map_err(to_text)?;
    // Loading the job checks all files that the recipe names.
    let job = TransferJob::load(&recipe, Some(folder)).map_err(to_text)?;
    Ok(Setup::of_recipe(&recipe, &job, folder))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::storage::files::NativeFiles;
    use crate::engine::transfer::actor::actor;
    use std::sync::Arc;

    fn half_marked() -> (Setup, Vec<MapKey>) {
        let mut setup = crate::model::transfer::walking_tapir().transfer;
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
    fn a_saved_recipe_contains_mirrored_markers_and_loads_again() {
        let (setup, keys) = half_marked();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("walk.toml");
        write_files(&recipe_files(&setup, &keys, &path).unwrap(), &NativeFiles).unwrap();

        let (back, problems) = read_recipe(&path).unwrap();
        assert!(
            problems.is_empty() && (&back.target, &back.layers) == (&setup.target, &setup.layers),
            "{problems:?}"
        );

        let pairs = &back.sources[0].pairs;
        let placed = &setup.sources[0].pairs;
        assert!(
            placed.iter().all(|pair| pairs.contains(pair)) && pairs.len() > placed.len(),
            "both sides are written out"
        );
        assert!(!back.sources[0].mirrored, "and not mirrored once more");
    }

    #[test]
    fn existing_marker_files_are_not_replaced() {
        let (setup, keys) = half_marked();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("walk-markers-1.json"), "mine").unwrap();

        let message = recipe_files(&setup, &keys, &folder.path().join("walk.toml")).unwrap_err();
        assert!(
            message.contains("walk-markers-1.json") && message.contains("another name"),
            "{message}"
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
    fn an_invalid_recipe_is_reported_by_name_and_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("odd.toml");
        std::fs::write(&path, "target = 'a'\nnonsense\n").unwrap();
        let message = read_recipe(&path).unwrap_err();
        assert!(
            message.contains("odd.toml") && message.contains("line 2"),
            "{message}"
        );
    }
}
