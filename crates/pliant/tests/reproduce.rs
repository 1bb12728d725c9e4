//! `pliant reproduce` from outside.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn pliant(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pliant")).args(args).output().expect("the command starts")
}

fn shown(path: &Path) -> &str {
    path.to_str().expect("a temporary path in UTF-8")
}

/// The files that a page shows or links to.
fn named_files(html: &str) -> Vec<String> {
    let after = |start: &str| html.split(start).skip(1).filter_map(|rest| rest.split('"').next().map(str::to_owned)).collect::<Vec<_>>();
    after("src=\"").into_iter().chain(after("href=\"")).filter(|file| !file.starts_with('#')).collect()
}

#[test]
fn every_page_is_written_with_all_that_it_names() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let out = place.path().join("deep").join("papers");
    let output = pliant(&["reproduce", "pose", "--out", shown(&out), "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let object: Value = serde_json::from_slice(&output.stdout).expect("one JSON object on stdout");
    assert_eq!(object["pages"][0]["name"], "pose");
    assert!(object["figures"].as_array().is_some_and(|figures| !figures.is_empty()), "{object}");
    let pages = [out.join("index.html"), out.join("pose").join("index.html")];
    for page in &pages {
        let html = std::fs::read_to_string(page).expect("a page");
        let files = named_files(&html);
        assert!(!files.is_empty() && html.trim_end().ends_with("</html>"));
        for file in files {
            assert!(page.with_file_name(&file).is_file(), "{file}, named by {}", page.display());
        }
    }
}

#[test]
fn the_thesis_values_stand_beside_ours() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let output = pliant(&["reproduce", "pose", "--out", shown(place.path()), "--json", "--quiet"]);
    let object: Value = serde_json::from_slice(&output.stdout).expect("one JSON object on stdout");
    let tables = object["tables"].as_array().expect("tables");
    for value in ["6,720", "9,562", "built-in head"] {
        let has = |table: &Value| {
            table["rows"].as_array().into_iter().flatten().flat_map(|row| row.as_array()).flatten().any(|cell| cell == value)
        };
        assert!(tables.iter().any(has), "{value} in {object}");
    }
}

#[test]
fn an_unknown_name_is_wrong_usage_and_the_names_are_listed() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let out = place.path().join("papers");
    let output = pliant(&["reproduce", "prose", "--out", shown(&out)]);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("'prose'") && message.contains("pose") && !out.exists(), "{message}");
    assert_eq!(pliant(&["reproduce", "pose"]).status.code(), Some(2), "--out is needed");
}

#[test]
fn what_cannot_be_read_or_written_is_named_and_leaves_nothing() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let file = place.path().join("file");
    std::fs::write(&file, "words").expect("a file in a temporary folder");
    let (nowhere, out, under_a_file) = (place.path().join("nowhere"), place.path().join("papers"), file.join("papers"));
    for (args, word) in [
        (["reproduce", "--out", shown(&out), "--data", shown(&nowhere)].as_slice(), "nowhere"),
        (["reproduce", "--out", shown(&out), "--data", shown(&file)].as_slice(), "not a folder"),
        (["reproduce", "--out", shown(&under_a_file)].as_slice(), "file"),
    ] {
        let output = pliant(args);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{args:?}: {message}");
        assert!(message.contains(word) && message.trim_end().lines().count() == 1, "{message}");
        assert!(!out.exists(), "nothing is left behind");
    }
}

#[test]
fn sets_that_a_data_folder_lacks_are_named() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let data = place.path().join("sets");
    std::fs::create_dir(&data).expect("a folder in a temporary folder");
    let out = place.path().join("papers");
    let output = pliant(&["reproduce", "pose", "--data", shown(&data), "--out", shown(&out), "--json", "--quiet"]);
    let object: Value = serde_json::from_slice(&output.stdout).expect("one JSON object on stdout");
    let problems = object["problems"].to_string();
    assert!(["ict-facekit", "makehuman-face", "facecap-head"].iter().all(|set| problems.contains(set)), "{problems}");
}
