//! The modules of the studio form layers: model, engine, view, widgets, rooms, shell.
//!
//! A module may use its own layer and those before it. The model and the engine know no user
//! interface.

use std::fs;
use std::path::{Path, PathBuf};

/// The layers, from the lowest to the highest.
const LAYERS: [&str; 6] = ["model", "engine", "view", "widgets", "rooms", "shell"];
/// Layers without a user interface.
const WITHOUT_UI: [&str; 2] = ["model", "engine"];

#[test]
fn every_module_uses_only_its_own_layer_and_lower_ones() {
    let violations: Vec<String> = sources()
        .iter()
        .flat_map(|(layer, path, text)| violations(layer, path, text))
        .collect();
    assert!(violations.is_empty(), "{}", violations.join("\n"));
}

#[test]
fn all_source_folders_are_layers() {
    let mut folders: Vec<String> = Vec::new();
    for entry in fs::read_dir(source_folder()).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if entry.path().is_dir() {
            folders.push(name);
        } else {
            assert!(
                name == "lib.rs" || name == "main.rs",
                "{name} is in no layer"
            );
        }
    }

    folders.sort();
    let mut layers = LAYERS.map(str::to_owned);
    layers.sort();
    assert_eq!(folders, layers);
}

#[test]
fn no_folder_holds_more_than_fifteen_files() {
    let mut folders = vec![source_folder()];
    while let Some(folder) = folders.pop() {
        let mut count = 0;
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                count += 1;
            }
        }
        assert!(count <= 15, "{} holds {count} files", folder.display());
    }
}

#[test]
fn violations_are_found() {
    let found = |layer: &str, text: &str| violations(layer, Path::new("test.rs"), text).len();

    assert_eq!(found("model", "use crate::engine::library::Library;\n"), 1);
    assert_eq!(found("engine", "use crate::{model, view};\n"), 1);
    assert_eq!(found("engine", "fn f(ui: &mut eframe::egui::Ui) {}\n"), 1);
    assert_eq!(
        found(
            "view",
            "    let room = crate::rooms::pose::PoseRoom::default();\n"
        ),
        1
    );
    assert_eq!(found("model", "use super::super::shell::Studio;\n"), 1);

    assert_eq!(found("rooms", "use crate::engine::context::Cx;\n"), 0);
    assert_eq!(found("rooms", "use eframe::egui::Ui;\n"), 0);
    assert_eq!(
        found("model", "/// See [`Studio`](crate::shell::Studio).\n"),
        0
    );
    assert_eq!(found("model", "use pliant::view::Camera;\n"), 0);
}

/// All sources in layers: layer, path, text.
fn sources() -> Vec<(&'static str, PathBuf, String)> {
    let mut sources = Vec::new();
    for layer in LAYERS {
        let mut folders = vec![source_folder().join(layer)];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|ending| ending == "rs") {
                    let text = fs::read_to_string(&path).unwrap();
                    sources.push((layer, path, text));
                }
            }
        }
    }
    sources
}

fn source_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The lines of a module of `layer` that mention a higher layer, or a user interface where there
/// must be none. Comments may mention anything.
fn violations(layer: &str, path: &Path, text: &str) -> Vec<String> {
    let own = LAYERS.iter().position(|name| *name == layer).unwrap();
    let mut found = Vec::new();
    let mut in_use = String::new();

    for (number, line) in text.lines().enumerate() {
        let code = line.split("//").next().unwrap_or_default();
        // An import may span several lines.
        in_use.push_str(code);
        let statement = in_use.clone();
        if !code.trim_start().starts_with("use ") && !in_use.trim_start().starts_with("use ")
            || code.trim_end().ends_with(';')
        {
            in_use.clear();
        }

        let higher = LAYERS[own + 1..]
            .iter()
            .find(|higher| mentions(&statement, higher));
        let ui = WITHOUT_UI.contains(&layer) && statement.contains("egui");
        if let Some(higher) = higher {
            found.push(format!(
                "{}:{}: {layer} uses {higher}",
                path.display(),
                number + 1
            ));
        }
        if ui {
            found.push(format!(
                "{}:{}: {layer} mentions egui",
                path.display(),
                number + 1
            ));
        }
    }
    found
}

/// Whether a statement names a layer by `crate::LAYER`, `super::LAYER` or `crate::{…, LAYER}`.
fn mentions(statement: &str, layer: &str) -> bool {
    let direct = ["crate::", "super::super::"]
        .iter()
        .any(|root| has_word(statement, &format!("{root}{layer}")));
    let grouped = statement
        .split_once("crate::{")
        .is_some_and(|(_, group)| has_word(&group.replace("::", "∷"), layer));
    direct || grouped
}

/// Whether `word` occurs with no letter, digit or underscore after it, nor before it.
fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '∷';
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(|c| c.is_alphanumeric() || c == '_')
    })
}
