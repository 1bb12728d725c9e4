//! The setup as files for `pliant transfer`: a recipe, and the marker pairs of each source beside it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use eframe::egui::{self, Ui};
use pliant::transfer::MarkerFormat;
use pliant::transfer_recipe::{RecipeLayer, RecipeModification, Region, TransferRecipe};
use serde::Serialize;

use super::maps::MapKey;
use super::marker_pairs::all_markers;
use super::setup::Setup;
use crate::command::Notice;
use crate::rooms::Cx;
use crate::work::Task;

/// Saving under way, and the path that is typed.
#[derive(Debug, Default)]
pub(super) struct RecipeFile {
    path: String,
    task: Option<Task<PathBuf>>,
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
            Some(Ok(path)) => cx.tell(Notice::done(format!("Saved {}; run it with `pliant transfer`.", path.display()))),
            Some(Err(sentence)) => cx.tell(Notice::trouble(sentence)),
        }
    }

    /// Where to save, and a button.
    pub(super) fn save_ui(&mut self, keys: Option<Vec<MapKey>>, ui: &mut Ui, cx: &mut Cx<'_>) {
        ui.collapsing("Recipe for the command line", |ui| {
            let field = ui.add(egui::TextEdit::singleline(&mut self.path).hint_text("transfer.toml").desired_width(f32::INFINITY));
            field.widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, "Recipe file"));
            let save = ui.add_enabled(keys.is_some() && self.task.is_none(), egui::Button::new("Save recipe"));
            let save = save.on_hover_text("A .toml for `pliant transfer`, with the markers in .json files beside it");
            if let Some(keys) = keys.filter(|_| save.clicked()) {
                let typed = if self.path.trim().is_empty() { "transfer.toml" } else { self.path.trim() };
                let (path, setup) = (cx.library.folder().join(typed), cx.document.transfer.clone());
                self.task = Some(Task::start("Saving the recipe", cx.wake.clone(), move |_| save_files(&setup, &keys, &path)));
            }
        });
    }
}

fn save_files(setup: &Setup, keys: &[MapKey], path: &Path) -> Result<PathBuf, String> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut recipe = setup.recipe();
    let mut files = Vec::new();
    for (k, ((source, told), key)) in setup.sources.iter().zip(&mut recipe.sources).zip(keys).enumerate() {
        if !source.pairs.is_empty() {
            let name = format!("{stem}-markers-{}.json", k + 1);
            let (markers, _) = all_markers(&key.source, &key.target, &source.pairs, source.mirrored);
            files.push((path.with_file_name(&name), markers.to_text(MarkerFormat::Json).map_err(|error| error.to_string())?));
            told.markers = Some(name);
        }
    }
    files.push((path.to_owned(), recipe_text(&recipe)));
    for (file, text) in files {
        std::fs::write(&file, text).map_err(|error| format!("{}: {error}; choose another place.", file.display()))?;
    }
    Ok(path.to_owned())
}

/// The text that [`TransferRecipe::parse`] reads back: all keys but those of strokes and files, which the studio has not.
fn recipe_text(recipe: &TransferRecipe) -> String {
    let mut text = String::new();
    let mut put = |key: &str, value: String| {
        let _ = writeln!(text, "{key} = {value}");
    };
    put("target", json(&recipe.target));
    put("root", json(&recipe.root));
    put("feet", json(&recipe.feet));
    put("up", json(&recipe.up));
    put("check", json(&recipe.check));
    put("untangle", json(&recipe.untangle));
    for source in &recipe.sources {
        let _ = write!(text, "\n[[source]]\nname = {}\nclip = {}\n", json(&source.name), json(&source.clip));
        if let Some(markers) = &source.markers {
            let _ = writeln!(text, "markers = {}", json(markers));
        }
        let _ =
            write!(text, "method = {}\nturn = {}\nalign_poses = {}\n", json(&source.method), json(&source.turn), json(&source.align_poses));
    }
    recipe.layers.iter().for_each(|layer| text.push_str(&layer_text(layer)));
    recipe.modifications.iter().for_each(|modification| text.push_str(&modification_text(modification)));
    text
}

fn layer_text(layer: &RecipeLayer) -> String {
    let mut text = format!("\n[[layer]]\nsource = {}\n{}", json(&layer.source), region_text(layer.region.as_ref(), layer.refine));
    let _ = writeln!(text, "mode = {}", json(&layer.mode));
    if let Some(frames) = &layer.frames {
        let _ = writeln!(text, "frames = {}", json(frames));
    }
    let _ = write!(text, "at = {}\nspeed = {:?}\nease = {:?}\n", layer.at, layer.speed, layer.ease);
    text
}

fn modification_text(modification: &RecipeModification) -> String {
    let RecipeModification { region, refine, axis, degrees, .. } = modification;
    format!("\n[[modify]]\n{}axis = {axis:?}\ndegrees = {degrees:?}\n", region_text(region.as_ref(), *refine))
}

fn region_text(region: Option<&Region>, refine: bool) -> String {
    match region {
        Some(Region::Faces(faces)) => format!("region = {}\nrefine = {refine}\n", json(faces)),
        _ => format!("refine = {refine}\n"),
    }
}

/// Strings, lists and truths are written alike in JSON and TOML.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rooms::transfer::stage::actor;
    use pliant::transfer_job::TransferJob;
    use std::sync::Arc;

    #[test]
    fn a_recipe_comes_back_from_its_text() {
        let mut setup = Setup { target: "a \"b\".obj".into(), feet: true, ..Setup::default() };
        setup.add_source("specimen:hound#walk".into());
        setup.add_source("clips/run.glb".into());
        setup.add_region("run");
        setup.regions[0].faces = Arc::new(vec![3, 5, 8]);
        setup.set_turn("Region", [0.0, 12.5, -3.0]);
        setup.layers[1].frames = Some([2, 9]);
        setup.layers[1].speed = 1.0 / 3.0;
        let mut recipe = setup.recipe();
        recipe.sources[1].markers = Some("run.json".into());
        assert_eq!(TransferRecipe::parse(&recipe_text(&recipe)).unwrap(), recipe);
    }

    #[test]
    fn saved_files_are_a_job_with_the_markers_of_both_sides() {
        let mut setup = crate::rooms::transfer::walking_tapir().transfer;
        let half: Vec<[u32; 2]> = setup.sources[0].pairs.iter().step_by(5).copied().collect();
        setup.sources[0].pairs = Arc::new(half.clone());
        let key = MapKey::of(&setup.sources[0], &actor("specimen:hound#walk"), &actor("specimen:tapir"));
        let folder = tempfile::tempdir().unwrap();
        let path = save_files(&setup, &[key], &folder.path().join("walk.toml")).unwrap();
        let recipe = TransferRecipe::parse(&std::fs::read_to_string(path).unwrap()).unwrap();
        let job = TransferJob::load(&recipe, Some(folder.path())).unwrap();
        let markers = job.sources()[0].markers.as_ref().unwrap();
        assert!(half.iter().all(|&[a, b]| markers.pairs().contains(&(a, b))) && markers.pairs().len() > half.len(), "{markers:?}");
    }
}
