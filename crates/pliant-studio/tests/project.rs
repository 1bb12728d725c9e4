//! Projects: save, open again, drop files, export, close with unsaved changes.

#[path = "journey/filing.rs"]
mod filing;
mod journey;

use eframe::egui::accesskit::Role;
use eframe::egui::{Event, Key, Modifiers};
use egui_kittest::kittest::Queryable as _;
use filing::{head, is_kept, last_notice, leave, lift, lose_work, places, request, start};
use pliant_studio::Recover;
use pliant_studio::engine::command::{Command, Severity};
use pliant_studio::engine::storage::project_store;
use pliant_studio::model::document::Document;
use pliant_studio::model::room::RoomName;

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
    request(&mut journey, Command::SaveAs(path.clone()));

    assert_eq!(
        last_notice(&mut journey),
        ("Saved smile.pliant.".into(), Severity::Done)
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

    request(&mut other, Command::Open(path.display().to_string()));
    assert_eq!(other.document(), saved);
    assert!(!other.studio().is_unsaved());

    // The next save goes to the same file without a request.
    lift(&mut other, 0.125);
    request(&mut other, Command::Save);

    assert_eq!(
        project_store::open(&pliant_studio::engine::storage::files::NativeFiles, &path)
            .unwrap()
            .project
            .document,
        other.document()
    );
}

#[test]
fn foreign_damaged_and_newer_files_are_reported_and_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut journey) = start(head()) else {
        return;
    };

    let before = journey.document();
    let cases = [
        ("foreign", "solid cube", "is not a Pliant project"),
        (
            "half",
            "{\"format\": \"pliant project\", \"version\": 1,\n\"document\": {\"chara",
            "ends unexpectedly",
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
        ("empty", "", "is not a Pliant project"),
    ];

    for (name, text, expected) in cases {
        let path = folder.path().join(format!("{name}.pliant"));
        std::fs::write(&path, text).unwrap();
        request(&mut journey, Command::Open(path.display().to_string()));

        let (message, severity) = last_notice(&mut journey);
        assert!(
            message.contains(expected)
                && message.contains(name)
                && severity == Severity::Error
                && !message.contains('\n'),
            "{message}"
        );

        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        assert_eq!(journey.document(), before);
    }

    request(
        &mut journey,
        Command::Open(folder.path().join("none.pliant").display().to_string()),
    );

    assert!(
        last_notice(&mut journey).0.contains("does not exist"),
        "{:?}",
        last_notice(&mut journey)
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

    let (message, severity) = last_notice(&mut journey);
    assert!(
        message.contains("notes.txt") && severity == Severity::Error,
        "{message}"
    );

    let path = folder.path().join("hound.pliant");
    request(&mut journey, Command::SaveAs(path.clone()));
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
fn the_dialog_saves_opens_and_confirms_overwriting() {
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

    // The same name again is a request.
    lift(&mut journey, 0.25);
    journey.press(Modifiers::COMMAND | Modifiers::SHIFT, Key::S);
    journey.press(Modifiers::NONE, Key::Enter);

    assert!(
        journey
            .harness
            .query_by_label_contains("already exists")
            .is_some()
    );

    journey.press(Modifiers::NONE, Key::Escape);
    assert!(
        journey
            .harness
            .query_by_label_contains("already exists")
            .is_none()
    );

    assert!(journey.studio().is_unsaved());
    journey.press(Modifiers::NONE, Key::Enter);
    journey.click("Replace");

    assert!(journey.harness.query_by_label("Replace").is_none());
    assert!(!journey.studio().is_unsaved());

    // Opened by the keyboard alone: the arrow chooses, Enter takes.
    let saved = journey.document();
    request(&mut journey, Command::New(Box::default(), RoomName::Pose));

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
fn closing_with_unsaved_changes_asks_first() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut journey) = start(head()) else {
        return;
    };

    lift(&mut journey, 0.5);
    let mine = journey.document();
    request(&mut journey, Command::New(Box::default(), RoomName::Touch));
    journey.picture("project_unsaved");
    journey.click("Cancel");

    assert_eq!(journey.document(), mine);
    // Save: the dialog asks where, and then the new project is there.
    request(&mut journey, Command::New(Box::default(), RoomName::Touch));
    journey.click("Save changes");
    journey.press(Modifiers::COMMAND, Key::A);
    journey
        .harness
        .event(Event::Text(format!("{}/kept", folder.path().display())));

    journey.settle();
    journey.press(Modifiers::NONE, Key::Enter);
    assert_eq!(journey.document(), Document::default());

    let kept = project_store::open(
        &pliant_studio::engine::storage::files::NativeFiles,
        &folder.path().join("kept.pliant"),
    )
    .unwrap();

    assert_eq!(kept.project.document, mine);
    lift(&mut journey, 0.75);
    request(&mut journey, Command::New(Box::new(head()), RoomName::Pose));
    journey.click("Don't save");

    assert_eq!(journey.document(), head());
}

#[test]
fn a_late_save_of_a_closed_project_only_shows_a_notice() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old.pliant");
    let Some(mut journey) = start(head()) else {
        return;
    };

    journey
        .studio()
        .request_command(Command::SaveAs(path.clone()));
    request(&mut journey, Command::New(Box::default(), RoomName::Pose));
    assert_eq!(
        last_notice(&mut journey),
        ("Saved old.pliant.".into(), Severity::Done)
    );
    assert!(path.exists() && journey.document() == Document::default());
    assert_eq!(
        journey.studio().project_path(),
        None,
        "the new project has no file"
    );

    assert!(!journey.studio().is_unsaved());
}

#[test]
fn a_failed_character_is_reported_once_and_removes_the_previous_one() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut journey) = start(head()) else {
        return;
    };

    let missing = folder.path().join("missing.obj").display().to_string();
    let change = move |document: &mut Document| document.character.asset = missing;
    request(
        &mut journey,
        Command::Edit(pliant_studio::model::history::Edit {
            label: "Lose rig".into(),
            gesture: None,
            change: Box::new(change),
        }),
    );

    assert!(
        last_notice(&mut journey).0.contains("missing.obj"),
        "{:?}",
        last_notice(&mut journey)
    );

    request(
        &mut journey,
        Command::Export(folder.path().join("posed.obj")),
    );

    assert!(
        last_notice(&mut journey).0.contains("nothing to export"),
        "{:?}",
        last_notice(&mut journey)
    );
    journey.undo();

    request(
        &mut journey,
        Command::Export(folder.path().join("posed.obj")),
    );

    assert_eq!(
        last_notice(&mut journey).1,
        Severity::Done,
        "the head is back"
    );
}

#[test]
fn opening_a_project_at_the_start_recovers_its_unsaved_work() {
    let folder = tempfile::tempdir().unwrap();
    let places = places(folder.path());
    let path = folder.path().join("face.pliant");
    let Some(mine) = lose_work(&places, &path) else {
        return;
    };

    let saved = project_store::open(&pliant_studio::engine::storage::files::NativeFiles, &path)
        .unwrap()
        .project
        .document;

    // Whether the search ends before the first frame or after it.
    for millis in [300, 0] {
        let Some(mut next) = start(Document::default()) else {
            return;
        };

        next.studio()
            .enable_autosave(places.clone(), Recover::Of(path.clone()));
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

    next.studio()
        .enable_autosave(places.clone(), Recover::Newest);
    next.settle();
    request(&mut next, Command::Save);

    while is_kept(&places) {
        next.harness.step();
    }

    drop(next);
    assert_ne!(saved, mine);

    let Some(mut next) = start(Document::default()) else {
        return;
    };

    next.studio()
        .enable_autosave(places.clone(), Recover::Of(path.clone()));
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
    let places = places(folder.path());
    let path = folder.path().join("face.pliant");
    let Some(mine) = lose_work(&places, &path) else {
        return;
    };
    let Some(mut next) = start(Document::default()) else {
        return;
    };

    next.studio()
        .request_command(Command::Open(path.display().to_string()));
    next.studio()
        .enable_autosave(places.clone(), Recover::Newest);
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
fn never_saved_work_is_recovered_at_the_next_start() {
    let folder = tempfile::tempdir().unwrap();
    let places = places(folder.path());
    let path = folder.path().join("face.pliant");
    let Some(mine) = lose_work(&places, &path) else {
        return;
    };
    let Some(mut next) = start(head()) else {
        return;
    };

    next.studio()
        .enable_autosave(places.clone(), Recover::Newest);
    next.settle();
    assert_eq!(next.document(), mine);

    let (message, _) = last_notice(&mut next);
    assert!(
        message.contains("Recovered unsaved work from 'face.pliant'") && message.contains("Save"),
        "{message}"
    );
    assert!(next.studio().is_unsaved());

    // Save goes to the project that it belonged to; then there is nothing left to recover.
    request(&mut next, Command::Save);
    assert_eq!(
        project_store::open(&pliant_studio::engine::storage::files::NativeFiles, &path)
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
fn the_shown_pose_is_exported_and_captured() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut journey) = start(head()) else {
        return;
    };

    lift(&mut journey, 1.0);
    let rest = pliant::load("specimen:head").unwrap();
    for ending in pliant_studio::engine::export::writable_endings() {
        let path = folder.path().join(format!("posed.{ending}"));
        request(&mut journey, Command::Export(path.clone()));
        let (message, severity) = last_notice(&mut journey);
        match &*ending {
            // Point caches hold clips only, and say so.
            "mdd" | "pc2" => assert_eq!(severity, Severity::Error, "{message}"),
            _ => assert!(
                severity == Severity::Done && path.exists(),
                "{ending}: {message}"
            ),
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
    request(&mut journey, Command::Screenshot(picture.clone()));

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
fn a_full_or_read_only_disk_keeps_the_old_file() {
    let Some(disk) = SmallDisk::mount() else {
        return;
    };

    let path = disk.0.path().join("face.pliant");
    let Some(mut journey) = start(head()) else {
        return;
    };

    lift(&mut journey, 0.5);
    request(&mut journey, Command::SaveAs(path.clone()));
    let old = std::fs::read(&path).unwrap();

    // Whatever room is left goes to something else.
    let filler = disk.0.path().join("filler");
    let mut size = 256 << 10;

    while size > 0 && std::fs::write(&filler, vec![0_u8; size]).is_err() {
        size -= 4096;
    }

    lift(&mut journey, 0.75);
    let mine = journey.document();
    request(&mut journey, Command::Save);

    let (message, severity) = last_notice(&mut journey);
    assert!(
        message.contains("the disk is full")
            && message.contains("old file is unchanged")
            && severity == Severity::Error,
        "{message}"
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
        request(&mut journey, Command::Save);
        let (message, _) = last_notice(&mut journey);
        assert!(message.contains("read-only"), "{message}");
        assert!(std::fs::read(&path).unwrap() == old);
        let _ = std::process::Command::new("mount")
            .args(["-o", "remount,rw"])
            .arg(disk.0.path())
            .status();
    }

    request(&mut journey, Command::Save);
    assert!(!journey.studio().is_unsaved());
}
