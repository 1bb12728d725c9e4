//! Opening, importing, questions before data is lost, and notices.

#[path = "journey/filing.rs"]
mod filing;
mod journey;

use std::path::{Path, PathBuf};
use std::process::Command as Process;

use eframe::egui::accesskit::Role;
use eframe::egui::{Event, Key, Modifiers};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use filing::{edit, head, last_notice, lift, lose_work, on_disk, places, request, start};
use journey::Journey;
use pliant::mesh::glam::DVec3;
use pliant_studio::Recover;
use pliant_studio::engine::command::{Command, Severity};
use pliant_studio::engine::storage::files::NativeFiles;
use pliant_studio::engine::storage::project_store::{self, BlobStore};
use pliant_studio::model::document::Document;
use pliant_studio::model::project::Project;
use pliant_studio::model::room::RoomName;
use pliant_studio::model::timeline::Take;

/// A rig with a clip, and the clip alone.
fn hound_and_walk(folder: &Path) -> (PathBuf, PathBuf) {
    let hound = folder.join("hound.glb");
    let walk = folder.join("walk.mdd");
    let asset = pliant::load("specimen:hound#walk").unwrap();
    pliant::io::save(&asset, &hound).unwrap();
    pliant::io::save(&asset, &walk).unwrap();
    (hound, walk)
}

/// A studio with the head saved as `face.pliant`.
fn saved_head(folder: &Path) -> Option<(Journey, PathBuf)> {
    let path = folder.join("face.pliant");
    let mut journey = start(head())?;
    lift(&mut journey, 0.5);
    request(&mut journey, Command::SaveAs(path.clone()));
    Some((journey, path))
}

fn is_there(journey: &Journey, text: &str) -> bool {
    journey.harness.query_by_label_contains(text).is_some()
}

fn type_text(journey: &mut Journey, text: &str) {
    for letter in text.chars() {
        journey.harness.event(Event::Text(letter.to_string()));
        journey.harness.step();
    }
    journey.settle();
}

/// What stands in the field of the name.
fn name_field(journey: &Journey) -> String {
    journey
        .harness
        .get_by_role_and_label(Role::TextInput, "Name")
        .accesskit_node()
        .value()
        .unwrap_or_default()
}

#[test]
fn opening_a_mesh_starts_a_project_without_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let (hound, _) = hound_and_walk(folder.path());
    let Some((mut journey, path)) = saved_head(folder.path()) else {
        return;
    };

    let saved = journey.document();
    lift(&mut journey, 0.75);
    let mine = journey.document();
    let open = || Command::Open(hound.display().to_string());

    request(&mut journey, open());
    journey.click("Cancel");
    assert_eq!(
        (journey.document(), journey.studio().project_path()),
        (mine, Some(&*path))
    );

    request(&mut journey, open());
    journey.click("Don't save");
    assert_eq!(
        journey.document().character.asset,
        hound.display().to_string()
    );

    assert_eq!(journey.studio().project_path(), None);
    assert!(!journey.studio().is_unsaved());
    journey.undo();

    assert_eq!(
        journey.document().character.asset,
        hound.display().to_string(),
        "another project has another past"
    );

    // The next save requests a name, and the old project is as it was.
    journey.press(Modifiers::COMMAND, Key::S);
    assert!(is_there(&journey, "Save project"));
    assert_eq!(on_disk(&path), saved);
}

#[test]
fn a_dropped_mesh_opens_after_a_question_about_unsaved_work() {
    let folder = tempfile::tempdir().unwrap();
    let (hound, _) = hound_and_walk(folder.path());
    let Some(mut journey) = start(head()) else {
        return;
    };

    lift(&mut journey, 0.5);
    let mine = journey.document();
    journey.drop_files(std::slice::from_ref(&hound));

    assert_eq!(journey.document(), mine, "not before it is answered");
    journey.click("Don't save");
    assert_eq!(
        journey.document().character.asset,
        hound.display().to_string()
    );
}

#[test]
fn an_import_is_one_undo_step() {
    let folder = tempfile::tempdir().unwrap();
    let (hound, _) = hound_and_walk(folder.path());
    let Some((mut journey, path)) = saved_head(folder.path()) else {
        return;
    };

    let saved = journey.document();
    request(&mut journey, Command::Import(vec![hound.clone()]));
    let imported = journey.document();

    assert_eq!(
        (&*imported.character.asset, imported.timeline.takes.len()),
        (hound.to_str().unwrap(), 1)
    );
    assert_eq!(journey.studio().project_path(), Some(&*path));
    assert!(journey.studio().is_unsaved());

    assert_eq!(
        last_notice(&mut journey),
        (
            "Imported hound.glb; undo removes it.".into(),
            Severity::Done
        )
    );
    journey.undo();

    assert_eq!(journey.document(), saved);
    journey.redo();
    assert_eq!(journey.document(), imported);
    request(&mut journey, Command::Import(vec![path]));

    assert!(
        last_notice(&mut journey)
            .0
            .contains("open it with File › Open"),
        "{:?}",
        last_notice(&mut journey)
    );
}

#[test]
fn a_fitting_clip_becomes_a_take_by_open_drop_and_import() {
    let folder = tempfile::tempdir().unwrap();
    let (hound, walk) = hound_and_walk(folder.path());
    let Some(mut journey) = start(Document::default()) else {
        return;
    };

    request(&mut journey, Command::Open(hound.display().to_string()));
    let path = folder.path().join("hound.pliant");
    request(&mut journey, Command::SaveAs(path.clone()));

    let saved = journey.document();
    for way in 0..3 {
        match way {
            0 => request(&mut journey, Command::Open(walk.display().to_string())),
            1 => journey.drop_files(std::slice::from_ref(&walk)),
            _ => request(&mut journey, Command::Import(vec![walk.clone()])),
        }

        assert_eq!(
            journey.document().timeline.takes.len(),
            2,
            "{way}: {:?}",
            last_notice(&mut journey)
        );

        assert_eq!(journey.studio().project_path(), Some(&*path));
        journey.undo();
        assert_eq!(journey.document(), saved);
    }
}

#[test]
fn menu_and_shortcuts_distinguish_open_and_import() {
    let Some(mut journey) = start(head()) else {
        return;
    };

    journey.click("File");
    assert!(is_there(&journey, "Open…") && is_there(&journey, "Import…"));
    journey.press(Modifiers::NONE, Key::Escape);
    journey.press(Modifiers::COMMAND, Key::I);

    assert!(is_there(&journey, "Import into this project"));
    journey.press(Modifiers::NONE, Key::Escape);
    journey.press(Modifiers::COMMAND, Key::O);

    assert!(!is_there(&journey, "Import into this project"));
    assert!(
        journey
            .harness
            .query_by_role_and_label(Role::TextInput, "Name")
            .is_some()
    );
}

#[test]
fn takes_and_keys_have_separate_ranges() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("face.pliant");
    let rest = pliant::load("specimen:head")
        .unwrap()
        .mesh()
        .unwrap()
        .positions()
        .to_vec();

    let mut document = head();
    // 132 steps of a twelfth are eleven seconds.
    document
        .timeline
        .takes
        .push(Take::made("long", "specimen:head", &vec![rest; 133], 12.0));

    document.timeline.playing_take = Some("long".into());
    let Some(mut journey) = start(document) else {
        return;
    };

    let frame_at_the_end = |journey: &mut Journey| {
        journey.press(Modifiers::NONE, Key::End);
        request(journey, Command::SaveAs(path.clone()));
        project_store::open(&NativeFiles, &path)
            .unwrap()
            .project
            .view_state
            .frame
    };

    assert_eq!(frame_at_the_end(&mut journey), 264.0);
    request(
        &mut journey,
        edit(|document| document.timeline.playing_take = None),
    );

    assert_eq!(frame_at_the_end(&mut journey), 48.0);
    journey.undo();
    assert_eq!(frame_at_the_end(&mut journey), 264.0);
}

#[test]
fn typing_over_the_offered_name_keeps_its_ending() {
    let folder = tempfile::tempdir().unwrap();
    let Some((mut journey, _)) = saved_head(folder.path()) else {
        return;
    };

    journey.press(Modifiers::COMMAND | Modifiers::SHIFT, Key::S);
    assert_eq!(name_field(&journey), "face.pliant");
    type_text(&mut journey, "smile");

    assert_eq!(name_field(&journey), "smile.pliant");
    journey.press(Modifiers::NONE, Key::Enter);
    assert_eq!(
        journey.studio().project_path(),
        Some(&*folder.path().join("smile.pliant"))
    );
}

#[test]
fn a_typed_path_is_unchanged_until_it_is_accepted() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("shots")).unwrap();
    let Some((mut journey, _)) = saved_head(folder.path()) else {
        return;
    };

    journey.press(Modifiers::COMMAND | Modifiers::SHIFT, Key::S);
    journey.press(Modifiers::COMMAND, Key::A);
    let missing = format!("{}/gone/first", folder.path().display());
    type_text(&mut journey, &missing);

    assert_eq!(name_field(&journey), missing);
    journey.press(Modifiers::NONE, Key::Enter);
    assert!(is_there(&journey, "does not exist; correct the path"));
    assert_eq!(name_field(&journey), missing, "to be corrected");

    // Tab goes into a folder and keeps the name that was offered.
    journey.press(Modifiers::COMMAND, Key::A);
    type_text(&mut journey, "shots/");
    journey.press(Modifiers::NONE, Key::Tab);

    assert_eq!(name_field(&journey), "face.pliant");
    type_text(&mut journey, "first");
    journey.press(Modifiers::NONE, Key::Enter);

    assert_eq!(
        journey.studio().project_path(),
        Some(&*folder.path().join("shots/first.pliant"))
    );
}

#[test]
fn errors_stay_and_results_disappear() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut journey) = start(head()) else {
        return;
    };

    request(
        &mut journey,
        Command::Open(folder.path().join("none.pliant").display().to_string()),
    );

    request(
        &mut journey,
        Command::SaveAs(folder.path().join("face.pliant")),
    );

    assert!(is_there(&journey, "none.pliant") && is_there(&journey, "Saved face.pliant."));
    // The very frame in which its time is over shows it no longer: without the user at the mouse
    // there may be no other.
    let later = journey.harness.ctx.input(|input| input.time) + 10.0;

    journey.harness.input_mut().time = Some(later);
    journey.harness.step();
    assert!(is_there(&journey, "none.pliant") && !is_there(&journey, "Saved face.pliant."));
    journey.click("Dismiss");

    assert!(is_there(&journey, "Ready"));
}

#[test]
fn a_failed_rig_shows_its_reason_and_can_be_reloaded() {
    let folder = tempfile::tempdir().unwrap();
    let (hound, _) = hound_and_walk(folder.path());
    let late = folder.path().join("late.glb");
    let mut document = Document::default();

    document.character.asset = late.display().to_string();
    let Some(mut journey) = start(document) else {
        return;
    };

    let messages = journey
        .harness
        .get_all_by_label_contains("late.glb")
        .count();

    assert!(
        messages >= 3,
        "in the viewport, above the sliders and at the bottom: {messages}"
    );
    std::fs::copy(hound, &late).unwrap();
    journey.click("Try again");

    assert!(journey.harness.query_by_label("Try again").is_none() && is_there(&journey, "Ready"));
    request(
        &mut journey,
        Command::Export(folder.path().join("posed.obj")),
    );

    assert_eq!(last_notice(&mut journey).1, Severity::Done);
}

#[test]
fn a_non_finite_take_is_reported_and_the_character_stays_visible() {
    let folder = tempfile::tempdir().unwrap();
    let count = pliant::load("specimen:head").unwrap().vertex_count();
    let mut document = head();
    document.timeline.takes.push(Take::made(
        "void",
        "specimen:head",
        &vec![vec![DVec3::NAN; count]; 3],
        24.0,
    ));

    document.timeline.playing_take = Some("void".into());
    let Some(mut journey) = start(document) else {
        return;
    };

    let (message, severity) = last_notice(&mut journey);
    assert!(
        message.contains("not finite") && severity == Severity::Error,
        "{message}"
    );

    let path = folder.path().join("posed.obj");
    request(&mut journey, Command::Export(path.clone()));
    let posed = pliant::load(path.to_str().unwrap()).unwrap();

    assert!(
        posed
            .mesh()
            .unwrap()
            .positions()
            .iter()
            .all(|place| place.is_finite())
    );
}

#[test]
fn edits_during_opening_are_not_lost_without_a_question() {
    let folder = tempfile::tempdir().unwrap();
    let Some((mut journey, path)) = saved_head(folder.path()) else {
        return;
    };

    let saved = journey.document();
    request(&mut journey, Command::New(Box::new(head()), RoomName::Pose));
    journey
        .studio()
        .request_command(Command::Open(path.display().to_string()));
    lift(&mut journey, 0.125);

    assert_eq!(
        journey.document().character.weights["jawOpen"],
        0.125,
        "not replaced without a word"
    );
    journey.click("Don't save");

    assert_eq!(
        (journey.document(), journey.studio().project_path()),
        (saved, Some(&*path))
    );
}

/// Another program saves the project with another pose.
fn save_elsewhere(path: &Path) -> Document {
    let mut document = head();
    document.character.set_weight("browInnerUp", 1.0);
    let project = Project {
        document: document.clone(),
        ..Project::default()
    };
    project_store::save(&NativeFiles, path, &project, &mut BlobStore::default()).unwrap();
    document
}

#[test]
fn changes_of_another_program_are_not_overwritten_without_a_question() {
    let folder = tempfile::tempdir().unwrap();
    let Some((mut journey, path)) = saved_head(folder.path()) else {
        return;
    };

    lift(&mut journey, 0.25);
    // Two saves in a row are one's own.
    journey.studio().request_command(Command::Save);
    request(&mut journey, Command::Save);

    assert_eq!(on_disk(&path), journey.document());
    let theirs = save_elsewhere(&path);
    lift(&mut journey, 0.75);
    request(&mut journey, Command::Save);

    assert!(is_there(&journey, "Another program changed this file"));
    journey.click("Cancel");
    assert_eq!(
        (on_disk(&path), journey.studio().is_unsaved()),
        (theirs.clone(), true)
    );

    request(&mut journey, Command::Save);
    journey.click("Save as…");
    type_text(&mut journey, "mine");
    journey.press(Modifiers::NONE, Key::Enter);

    assert_eq!(
        (on_disk(&path), on_disk(&folder.path().join("mine.pliant"))),
        (theirs, journey.document())
    );
    save_elsewhere(&folder.path().join("mine.pliant"));
    lift(&mut journey, 0.875);
    request(&mut journey, Command::Save);
    journey.click("Replace");

    assert_eq!(
        (
            on_disk(&folder.path().join("mine.pliant")),
            journey.studio().is_unsaved()
        ),
        (journey.document(), false)
    );
}

#[test]
fn saving_to_a_missing_folder_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let shots = folder.path().join("shots");
    std::fs::create_dir(&shots).unwrap();

    let Some((mut journey, _)) = saved_head(&shots) else {
        return;
    };

    std::fs::remove_dir_all(&shots).unwrap();
    lift(&mut journey, 0.25);
    request(&mut journey, Command::Save);

    let (message, severity) = last_notice(&mut journey);
    assert!(
        severity == Severity::Error
            && message.contains("folder no longer exists")
            && !message.contains("free some space"),
        "{message}"
    );
}

#[test]
fn unsaved_work_that_crashed_two_programs_is_only_in_the_menu() {
    let folder = tempfile::tempdir().unwrap();
    let places = places(folder.path());
    let path = folder.path().join("face.pliant");
    let Some(mine) = lose_work(&places, &path) else {
        return;
    };

    let lost =
        pliant_studio::engine::storage::recovery::lost_work(&NativeFiles, &places.state).remove(0);
    std::fs::write(lost.text.with_extension("starts"), "2").unwrap();
    let Some(mut next) = start(head()) else {
        return;
    };

    next.studio().enable_autosave(places, Recover::Newest);
    next.settle();
    assert_eq!(next.document(), head());

    let (message, severity) = last_notice(&mut next);
    assert!(
        message.contains("'face.pliant'")
            && message.contains("File › Recover")
            && severity == Severity::Error,
        "{message}"
    );

    request(&mut next, Command::Recover(lost.text));
    assert_eq!(next.document(), mine, "whoever asks for it gets it");
}

#[test]
fn a_closed_standard_output_is_no_error() {
    for option in ["--help", "--version"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = Process::new(env!("CARGO_BIN_EXE_pliant-studio"))
            .arg(option)
            .stdout(writer)
            .output()
            .unwrap();

        assert!(
            output.status.success() && output.stderr.is_empty(),
            "{option}: {output:?}"
        );
    }
}
