//! Projects as a person uses them: save, open again, drop files, export, close with unsaved
//! changes.

#[path = "journey/filing.rs"]
mod filing;
mod journey;

use eframe::egui::accesskit::Role;
use eframe::egui::{Event, Key, Modifiers};
use egui_kittest::kittest::Queryable as _;
use filing::{ask, head, is_kept, leave, lift, lose_work, places, said, start};
use pliant_studio::Recover;
use pliant_studio::command::{Command, Mood};
use pliant_studio::document::Document;
use pliant_studio::project;
use pliant_studio::rooms::RoomName;

#[test]
fn a_saved_project_opens_as_the_same_document() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("smile.pliant");
    let Some(mut journey) = start(head()) else {
        return;
    };
    assert!(!journey.studio().is_unsaved());
    lift(&mut journey, 0.625);
    assert!(journey.studio().is_unsaved());
    ask(&mut journey, Command::SaveAs(path.clone()));
    assert_eq!(
        said(&mut journey),
        ("Saved smile.pliant.".into(), Mood::Done)
    );
    assert!(!journey.studio().is_unsaved());
    assert_eq!(journey.studio().project_path(), Some(&*path));
    let saved = journey.document();
    lift(&mut journey, 0.25);
    journey.undo();
    assert!(!journey.studio().is_unsaved(), "back at what is saved");
    let Some(mut other) = start(Document::default()) else {
        return;
    };
    ask(&mut other, Command::Open(path.display().to_string()));
    assert_eq!(other.document(), saved);
    assert!(!other.studio().is_unsaved());
    // The next save goes to the same file without a question.
    lift(&mut other, 0.125);
    ask(&mut other, Command::Save);
    assert_eq!(
        project::open(&pliant_studio::files::NativeFiles, &path)
            .unwrap()
            .project
            .document,
        other.document()
    );
}

#[test]
fn foreign_damaged_and_newer_files_are_one_sentence_each_and_stay_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut journey) = start(head()) else {
        return;
    };
    let before = journey.document();
    let cases = [
        ("foreign", "solid cube", "is no Pliant project"),
        (
            "half",
            "{\"format\": \"pliant project\", \"version\": 1,\n\"document\": {\"chara",
            "cut off",
        ),
        (
            "newer",
            "{\"format\": \"pliant project\", \"version\": 2}",
            "newer Pliant",
        ),
        (
            "wrong",
            "{\"format\": \"pliant project\", \"version\": 1, \"document\": {\"timeline\": 3}}",
            "damaged",
        ),
        ("empty", "", "is no Pliant project"),
    ];
    for (name, text, expected) in cases {
        let path = folder.path().join(format!("{name}.pliant"));
        std::fs::write(&path, text).unwrap();
        ask(&mut journey, Command::Open(path.display().to_string()));
        let (sentence, mood) = said(&mut journey);
        assert!(
            sentence.contains(expected)
                && sentence.contains(name)
                && mood == Mood::Trouble
                && !sentence.contains('\n'),
            "{sentence}"
        );
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        assert_eq!(journey.document(), before);
    }
    ask(
        &mut journey,
        Command::Open(folder.path().join("none.pliant").display().to_string()),
    );
    assert!(
        said(&mut journey).0.contains("no such file"),
        "{:?}",
        said(&mut journey)
    );
}

#[test]
fn dropped_files_become_character_and_takes_of_a_new_project() {
    let folder = tempfile::tempdir().unwrap();
    let hound = folder.path().join("hound.glb");
    pliant::io::save(&pliant::load("specimen:hound#walk").unwrap(), &hound).unwrap();
    let notes = folder.path().join("notes.txt");
    std::fs::write(&notes, "buy milk").unwrap();
    let Some(mut journey) = start(head()) else {
        return;
    };
    journey.drop_files(&[notes.clone(), hound.clone()]);
    let document = journey.document();
    assert_eq!(document.character.asset, hound.display().to_string());
    assert_eq!(document.timeline.takes.len(), 1);
    let (sentence, mood) = said(&mut journey);
    assert!(
        sentence.contains("notes.txt") && mood == Mood::Trouble,
        "{sentence}"
    );
    let path = folder.path().join("hound.pliant");
    ask(&mut journey, Command::SaveAs(path.clone()));
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(
        text.contains("\"hound.glb\"") && !text.contains(&folder.path().display().to_string()),
        "paths are relative: {text}"
    );
    journey.drop_files(&[path]);
    assert_eq!(
        journey.document().character.asset,
        hound.display().to_string()
    );
}

#[test]
fn the_dialog_saves_opens_and_asks_before_it_writes_over() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("shots")).unwrap();
    let Some(mut journey) = start(head()) else {
        return;
    };
    lift(&mut journey, 0.5);
    journey.press(Modifiers::COMMAND, Key::S);
    assert!(journey.harness.query_by_label("Save project").is_some());
    // A path that is typed leads into its folder.
    let typed = format!("{}/shots/first", folder.path().display());
    journey.press(Modifiers::COMMAND, Key::A);
    journey.harness.event(Event::Text(typed));
    journey.settle();
    journey.press(Modifiers::NONE, Key::Enter);
    let path = folder.path().join("shots/first.pliant");
    assert!(path.exists(), "{:?}", journey.studio().notice());
    // The same name again is a question.
    lift(&mut journey, 0.25);
    journey.press(Modifiers::COMMAND | Modifiers::SHIFT, Key::S);
    journey.press(Modifiers::NONE, Key::Enter);
    assert!(
        journey
            .harness
            .query_by_label_contains("exists already")
            .is_some()
    );
    journey.press(Modifiers::NONE, Key::Escape);
    assert!(
        journey
            .harness
            .query_by_label_contains("exists already")
            .is_none()
    );
    assert!(journey.studio().is_unsaved());
    journey.press(Modifiers::NONE, Key::Enter);
    journey.click("Replace");
    assert!(journey.harness.query_by_label("Replace").is_none());
    assert!(!journey.studio().is_unsaved());
    // Opened by the keyboard alone: the arrow chooses, Enter takes.
    let saved = journey.document();
    ask(&mut journey, Command::New(Box::default(), RoomName::Pose));
    assert_eq!(journey.document(), Document::default());
    journey.press(Modifiers::COMMAND, Key::O);
    journey.press(Modifiers::NONE, Key::ArrowDown);
    // The folder of a test has another name every time; a picture has not.
    journey
        .harness
        .get_by_role_and_label(Role::TextInput, "Folder")
        .focus();
    journey.settle();
    journey.press(Modifiers::COMMAND, Key::A);
    journey
        .harness
        .event(Event::Text("/people/ann/shots".into()));
    journey.picture("project_open");
    journey
        .harness
        .get_by_role_and_label(Role::TextInput, "Name")
        .focus();
    journey.settle();
    journey.press(Modifiers::NONE, Key::Enter);
    assert_eq!(journey.document(), saved);
}

#[test]
fn unsaved_changes_are_asked_about_and_cancel_keeps_them() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut journey) = start(head()) else {
        return;
    };
    lift(&mut journey, 0.5);
    let mine = journey.document();
    ask(&mut journey, Command::New(Box::default(), RoomName::Touch));
    journey.picture("project_unsaved");
    journey.click("Cancel");
    assert_eq!(journey.document(), mine);
    // Save: the dialog asks where, and then the new project is there.
    ask(&mut journey, Command::New(Box::default(), RoomName::Touch));
    journey.click("Save changes");
    journey.press(Modifiers::COMMAND, Key::A);
    journey
        .harness
        .event(Event::Text(format!("{}/kept", folder.path().display())));
    journey.settle();
    journey.press(Modifiers::NONE, Key::Enter);
    assert_eq!(journey.document(), Document::default());
    let kept = project::open(
        &pliant_studio::files::NativeFiles,
        &folder.path().join("kept.pliant"),
    )
    .unwrap();
    assert_eq!(kept.project.document, mine);
    lift(&mut journey, 0.75);
    ask(&mut journey, Command::New(Box::new(head()), RoomName::Pose));
    journey.click("Don't save");
    assert_eq!(journey.document(), head());
}

#[test]
fn a_save_that_ends_after_its_project_was_left_says_so_and_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old.pliant");
    let Some(mut journey) = start(head()) else {
        return;
    };
    journey.studio().ask_for(Command::SaveAs(path.clone()));
    ask(&mut journey, Command::New(Box::default(), RoomName::Pose));
    assert_eq!(said(&mut journey), ("Saved old.pliant.".into(), Mood::Done));
    assert!(path.exists() && journey.document() == Document::default());
    assert_eq!(
        journey.studio().project_path(),
        None,
        "the new project has no file"
    );
    assert!(!journey.studio().is_unsaved());
}

#[test]
fn a_character_that_cannot_be_loaded_is_told_once_and_leaves_nothing_of_the_one_before() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut journey) = start(head()) else {
        return;
    };
    let missing = folder.path().join("missing.obj").display().to_string();
    let change = move |document: &mut Document| document.character.asset = missing;
    ask(
        &mut journey,
        Command::Edit(pliant_studio::history::Edit {
            label: "Lose rig".into(),
            gesture: None,
            change: Box::new(change),
        }),
    );
    assert!(
        said(&mut journey).0.contains("missing.obj"),
        "{:?}",
        said(&mut journey)
    );
    ask(
        &mut journey,
        Command::Export(folder.path().join("posed.obj")),
    );
    assert!(
        said(&mut journey).0.contains("nothing to export"),
        "{:?}",
        said(&mut journey)
    );
    journey.undo();
    ask(
        &mut journey,
        Command::Export(folder.path().join("posed.obj")),
    );
    assert_eq!(said(&mut journey).1, Mood::Done, "the head is back");
}

#[test]
fn a_project_that_is_opened_at_the_start_comes_with_its_unsaved_work() {
    let folder = tempfile::tempdir().unwrap();
    let (places, path) = (places(folder.path()), folder.path().join("face.pliant"));
    let Some(mine) = lose_work(&places, &path) else {
        return;
    };
    let saved = project::open(&pliant_studio::files::NativeFiles, &path)
        .unwrap()
        .project
        .document;
    // Whether the search ends before the first frame or after it.
    for millis in [300, 0] {
        let Some(mut next) = start(Document::default()) else {
            return;
        };
        next.studio()
            .keep_work(places.clone(), Recover::Of(path.clone()));
        std::thread::sleep(std::time::Duration::from_millis(millis));
        next.settle();
        assert_eq!(
            (next.document(), next.studio().project_path()),
            (mine.clone(), Some(&*path))
        );
        assert!(next.studio().is_unsaved() && is_kept(&places));
        leave(next, &places);
    }
    let Some(mut next) = start(Document::default()) else {
        return;
    };
    next.studio().keep_work(places.clone(), Recover::Newest);
    next.settle();
    ask(&mut next, Command::Save);
    while is_kept(&places) {
        next.harness.step();
    }
    drop(next);
    assert_ne!(saved, mine);
    let Some(mut next) = start(Document::default()) else {
        return;
    };
    next.studio()
        .keep_work(places.clone(), Recover::Of(path.clone()));
    next.settle();
    assert_eq!(
        next.document(),
        mine,
        "without unsaved work the project itself is opened"
    );
    assert!(!next.studio().is_unsaved());
}

#[test]
fn opening_another_project_during_a_recovery_loses_no_work() {
    let folder = tempfile::tempdir().unwrap();
    let (places, path) = (places(folder.path()), folder.path().join("face.pliant"));
    let Some(mine) = lose_work(&places, &path) else {
        return;
    };
    let Some(mut next) = start(Document::default()) else {
        return;
    };
    next.studio()
        .ask_for(Command::Open(path.display().to_string()));
    next.studio().keep_work(places.clone(), Recover::Newest);
    std::thread::sleep(std::time::Duration::from_millis(300));
    next.settle();
    assert_eq!(next.document(), mine);
    assert!(is_kept(&places));
    // Where the project came after the work, it asks first.
    if next.harness.query_by_label("Cancel").is_some() {
        next.click("Cancel");
    }
    assert!(next.studio().is_unsaved());
}

#[test]
fn work_that_was_never_saved_is_there_at_the_next_start() {
    let folder = tempfile::tempdir().unwrap();
    let (places, path) = (places(folder.path()), folder.path().join("face.pliant"));
    let Some(mine) = lose_work(&places, &path) else {
        return;
    };
    let Some(mut next) = start(head()) else {
        return;
    };
    next.studio().keep_work(places.clone(), Recover::Newest);
    next.settle();
    assert_eq!(next.document(), mine);
    let (sentence, _) = said(&mut next);
    assert!(
        sentence.contains("Recovered unsaved work from 'face.pliant'") && sentence.contains("Save"),
        "{sentence}"
    );
    assert!(next.studio().is_unsaved());
    // Save goes to the project that it belonged to; then there is nothing left to recover.
    ask(&mut next, Command::Save);
    assert_eq!(
        project::open(&pliant_studio::files::NativeFiles, &path)
            .unwrap()
            .project
            .document,
        mine
    );
    while is_kept(&places) {
        next.harness.step();
    }
}

#[test]
fn what_is_shown_is_exported_and_pictured() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut journey) = start(head()) else {
        return;
    };
    lift(&mut journey, 1.0);
    let rest = pliant::load("specimen:head").unwrap();
    for ending in pliant_studio::export::writable_endings() {
        let path = folder.path().join(format!("posed.{ending}"));
        ask(&mut journey, Command::Export(path.clone()));
        let (sentence, mood) = said(&mut journey);
        match &*ending {
            // Point caches hold clips only, and say so.
            "mdd" | "pc2" => assert_eq!(mood, Mood::Trouble, "{sentence}"),
            _ => assert!(mood == Mood::Done && path.exists(), "{ending}: {sentence}"),
        }
    }
    let posed = pliant::load(folder.path().join("posed.obj").to_str().unwrap()).unwrap();
    let moved = posed
        .mesh()
        .unwrap()
        .positions()
        .iter()
        .zip(rest.mesh().unwrap().positions())
        .filter(|(a, b)| a.distance(**b) > 1e-3)
        .count();
    assert!(moved > 50, "the jaw is open: {moved}");
    let picture = folder.path().join("window.png");
    ask(&mut journey, Command::Screenshot(picture.clone()));
    let bytes = std::fs::read(&picture).unwrap();
    let reader = png::Decoder::new(std::io::Cursor::new(&bytes))
        .read_info()
        .unwrap();
    assert_eq!((reader.info().width, reader.info().height), (1440, 900));
}

/// A disk of 256 kB; `None` where one may not be made, as by people who are not root.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    #[expect(clippy::print_stderr, reason = "a skipped test says so")]
    fn mount() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mounted = std::process::Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=256k", "tmpfs"])
            .arg(folder.path())
            .output();
        if !mounted.is_ok_and(|output| output.status.success()) {
            eprintln!("skipped: a small disk can be made by root on Linux only");
            return None;
        }
        Some(Self(folder))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount")
            .arg(self.0.path())
            .status();
    }
}

#[test]
fn a_full_disk_and_a_read_only_one_keep_the_old_file_and_are_told() {
    let Some(disk) = SmallDisk::mount() else {
        return;
    };
    let path = disk.0.path().join("face.pliant");
    let Some(mut journey) = start(head()) else {
        return;
    };
    lift(&mut journey, 0.5);
    ask(&mut journey, Command::SaveAs(path.clone()));
    let old = std::fs::read(&path).unwrap();
    // Whatever room is left goes to something else.
    let filler = disk.0.path().join("filler");
    let mut size = 256 << 10;
    while size > 0 && std::fs::write(&filler, vec![0_u8; size]).is_err() {
        size -= 4096;
    }
    lift(&mut journey, 0.75);
    let mine = journey.document();
    ask(&mut journey, Command::Save);
    let (sentence, mood) = said(&mut journey);
    assert!(
        sentence.contains("the disk is full")
            && sentence.contains("old file is as it was")
            && mood == Mood::Trouble,
        "{sentence}"
    );
    assert!(
        std::fs::read(&path).unwrap() == old
            && journey.document() == mine
            && journey.studio().is_unsaved()
    );
    assert_eq!(
        std::fs::read_dir(disk.0.path()).unwrap().count(),
        2,
        "nothing half-written stays"
    );
    std::fs::remove_file(filler).unwrap();
    let read_only = std::process::Command::new("mount")
        .args(["-o", "remount,ro"])
        .arg(disk.0.path())
        .status();
    if read_only.is_ok_and(|status| status.success()) {
        ask(&mut journey, Command::Save);
        let (sentence, _) = said(&mut journey);
        assert!(sentence.contains("read-only"), "{sentence}");
        assert!(std::fs::read(&path).unwrap() == old);
        let _ = std::process::Command::new("mount")
            .args(["-o", "remount,rw"])
            .arg(disk.0.path())
            .status();
    }
    ask(&mut journey, Command::Save);
    assert!(!journey.studio().is_unsaved());
}
