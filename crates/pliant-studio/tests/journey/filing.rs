//! Helpers for tests with files.

#![allow(dead_code, unreachable_pub, reason = "each journey uses a part of it")]

use std::path::Path;

use pliant_studio::Recover;
use pliant_studio::engine::command::{Command, Severity};
use pliant_studio::engine::storage::files::NativeFiles;
use pliant_studio::engine::storage::places::Places;
use pliant_studio::engine::storage::project_store;
use pliant_studio::model::document::{Character, Document};
use pliant_studio::model::history::Edit;
use pliant_studio::model::room::RoomName;

use crate::journey::Journey;

pub fn head() -> Document {
    Document {
        character: Character {
            asset: "specimen:head".into(),
            ..Character::default()
        },
        ..Document::default()
    }
}

pub fn start(document: Document) -> Option<Journey> {
    Journey::start(document, RoomName::Pose)
}

pub fn request(journey: &mut Journey, command: Command) {
    journey.studio().request_command(command);
    journey.harness.step();
    journey.settle();
}

pub fn edit(change: impl FnOnce(&mut Document) + Send + 'static) -> Command {
    Command::Edit(Edit {
        label: "Edit".into(),
        gesture: None,
        change: Box::new(change),
    })
}

pub fn lift(journey: &mut Journey, weight: f64) {
    request(
        journey,
        edit(move |document| document.character.set_weight("jawOpen", weight)),
    );
}

/// What was said last.
pub fn last_notice(journey: &mut Journey) -> (String, Severity) {
    let notice = journey.studio().notice().expect("a notice");
    (notice.text.clone(), notice.severity)
}

/// The document that a project's file holds.
pub fn on_disk(path: &Path) -> Document {
    project_store::open(&NativeFiles, path)
        .unwrap()
        .project
        .document
}

/// Whether there is unsaved work.
pub fn is_kept(places: &Places) -> bool {
    let mut sessions = std::fs::read_dir(places.state.join("sessions"))
        .unwrap()
        .flatten();
    sessions.any(|entry| {
        entry
            .path()
            .extension()
            .is_some_and(|ending| ending == "pliant")
    })
}

/// The unsaved work on a project by a program that is gone, as its lock is.
pub fn lose_work(places: &Places, path: &Path) -> Option<Document> {
    let mut journey = start(head())?;
    journey
        .studio()
        .enable_autosave(places.clone(), Recover::Newest);
    request(&mut journey, Command::SaveAs(path.to_owned()));
    lift(&mut journey, 0.375);

    while !is_kept(places) {
        journey.harness.step();
    }

    let document = journey.document();
    leave(journey, places);
    Some(document)
}

/// Ends a studio with unsaved work, and waits until its worker has let go of the lock, as a process
/// does when it dies.
pub fn leave(journey: Journey, places: &Places) {
    drop(journey);
    while pliant_studio::engine::storage::recovery::lost_work(&NativeFiles, &places.state)
        .is_empty()
    {
        std::thread::yield_now();
    }
    // The user works for longer than moments, so the work is no peril to whoever opens it next.
    for lost in pliant_studio::engine::storage::recovery::lost_work(&NativeFiles, &places.state) {
        let _ = std::fs::remove_file(lost.text.with_extension("starts"));
    }
}

pub fn places(folder: &Path) -> Places {
    Places {
        state: folder.join("state"),
        config: folder.join("config"),
    }
}
