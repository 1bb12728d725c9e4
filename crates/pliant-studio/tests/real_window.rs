//! A real window on a virtual screen with a real pointer: one test per room.
//!
//! A window without a screen that shows the same project in the same size gives the positions on
//! the screen.

mod journey;
#[path = "journey/screen.rs"]
mod screen;

use std::path::PathBuf;
use std::process::Child;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use eframe::egui::{Pos2, Vec2, vec2};
use journey::Journey;
use pliant_studio::engine::storage::files::NativeFiles;
use pliant_studio::engine::storage::preferences::Preferences;
use pliant_studio::engine::storage::project_store::{self, BlobStore};
use pliant_studio::model::document::Document;
use pliant_studio::model::project::Project;
use pliant_studio::model::room::RoomName;
use pliant_studio::model::view_state::ViewState;
use pliant_studio::model::{blend, learn, pose, touch, transfer};
use screen::{Picture, Screen};
use tempfile::TempDir;

/// Vertices of the built-in head.
const LEFT_MOUTH_CORNER: usize = 4686;
const LEFT_BROW: usize = 7005;
/// How long work of a room may take, on a slow and busy machine.
const PATIENCE: Duration = Duration::from_secs(180);

/// One window at a time: a software driver takes all cores.
static TURN: Mutex<()> = Mutex::new(());

/// The user before a screen.
struct Person {
    _turn: MutexGuard<'static, ()>,
    screen: Screen,
    studio: Child,
    folder: TempDir,
    /// The same window without a screen, which tells where things are.
    map: Journey,
}

impl Drop for Person {
    fn drop(&mut self) {
        let _ = self.studio.kill();
        let _ = self.studio.wait();
    }
}

impl Person {
    /// Opens a project that holds `document` in a room; `None` where there is no screen or no
    /// graphics adapter.
    fn open(document: Document, room: RoomName) -> Option<Self> {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let screen = Screen::start_or_skip()?;
        let map = Journey::start(document.clone(), room)?;
        let folder = tempfile::tempdir().unwrap();
        let project = Project {
            document,
            view_state: ViewState {
                room,
                ..ViewState::default()
            },
            session: None,
        };

        project_store::save(
            &NativeFiles,
            &file(&folder),
            &project,
            &mut BlobStore::default(),
        )
        .unwrap();

        // The first steps stand above the view and would move it.
        let preferences = Preferences {
            hint_seen: true,
            ..Preferences::default()
        };

        preferences
            .save(&NativeFiles, &folder.path().join("config"))
            .unwrap();

        let mut command = screen.command(env!("CARGO_BIN_EXE_pliant-studio"));
        command
            .arg(file(&folder))
            .env("PLIANT_STATE", folder.path().join("state"))
            .env("PLIANT_CONFIG", folder.path().join("config"));

        let studio = command.spawn().unwrap();
        let person = Self {
            _turn: turn,
            screen,
            studio,
            folder,
            map,
        };

        person
            .screen
            .wait_until("the model", |picture| picture.highlighted() > 25_000);
        sleep(Duration::from_secs(1));

        // Without a window manager nobody else gives it the keyboard.
        person
            .screen
            .xdotool(&["search", "--name", "Pliant", "windowfocus"]);

        Some(person)
    }

    fn look(&self, name: &str) -> Picture {
        let picture = self.screen.picture();
        picture.keep(name);
        picture
    }

    /// Saves, and reads what was saved.
    fn save(&self) -> Document {
        self.screen.press("ctrl+s");
        sleep(Duration::from_millis(500));
        project_store::open(&NativeFiles, &file(&self.folder))
            .unwrap()
            .project
            .document
    }

    /// What the project holds once it was saved and `done`.
    fn saved(&self, done: impl Fn(&Document) -> bool) -> Document {
        let started = Instant::now();
        loop {
            let document = self.save();
            if done(&document) {
                return document;
            }
            assert!(
                started.elapsed() < PATIENCE,
                "it did not come: {document:?}"
            );
        }
    }

    fn drag(&self, from: Pos2, by: Vec2) {
        let way: Vec<[f32; 2]> = (0..=10)
            .map(|k| from + by * (k as f32 / 10.0))
            .map(|p| [p.x, p.y])
            .collect();
        self.screen.drag(&way);
    }

    fn click(&self, label: &str) {
        let place = self.map.rect(label).center();
        self.screen.click([place.x, place.y]);
    }

    /// Where a vertex of an asset is on the screen.
    fn vertex(&self, asset: &str, vertex: usize) -> Pos2 {
        let mesh = pliant::load(asset).unwrap().mesh().unwrap();
        self.map
            .view(0)
            .project(mesh.positions()[vertex])
            .expect("before the eye")
    }
}

fn file(folder: &TempDir) -> PathBuf {
    folder.path().join("shot.pliant")
}

#[test]
fn a_mouth_corner_dragged_up_smiles_and_a_stroke_lifts_a_brow() {
    let Some(person) = Person::open(pose::head(), RoomName::Pose) else {
        return;
    };

    let before = person.look("window_head");
    person.drag(
        person.vertex("specimen:head", LEFT_MOUTH_CORNER),
        vec2(8.0, -30.0),
    );

    let smile = |document: &Document| {
        document
            .character
            .weights
            .get("mouthSmileLeft")
            .copied()
            .unwrap_or(0.0)
    };

    person.saved(|document| smile(document) > 0.2);
    let smiling = person.look("window_smile");
    assert!(
        smiling.differences(&before) > 1000,
        "the face and the panel changed"
    );

    person.screen.press("w");
    let brow = person.vertex("specimen:head", LEFT_BROW);
    let arch: Vec<[f32; 2]> = (0..=20)
        .map(|k| k as f32 / 20.0 - 0.5)
        .map(|t| [brow.x + 80.0 * t, brow.y - 34.0 + 60.0 * t * t])
        .collect();

    person.screen.drag(&arch);
    let raised = |document: &Document| {
        document
            .character
            .weights
            .iter()
            .filter(|(name, _)| name.starts_with("brow"))
            .map(|(_, w)| w)
            .sum::<f64>()
    };

    person.saved(|document| raised(document) > 0.1);
    person.look("window_brow");
}

#[test]
fn a_ball_presses_the_cheek() {
    let Some(person) = Person::open(touch::press_a_cheek(), RoomName::Touch) else {
        return;
    };

    let before = person.look("window_cheek");
    let center = person.map.document().touch.patches[0].center.index();
    let at = person.vertex("specimen:head", center);
    person.screen.press("p");
    person.drag(at, vec2(-12.0, 8.0));
    person.saved(|document| document.touch.recorded.is_some());

    assert!(person.look("window_pressed").differences(&before) > 300);
}

#[test]
fn a_bar_bends_around_a_cylinder() {
    let Some(person) = Person::open(blend::bar_around_a_cylinder(), RoomName::Blend) else {
        return;
    };
    person.click("Half way");
    person.saved(|document| document.blend.weights == [0.5, 0.5]);
    sleep(Duration::from_secs(3));
    person.look("window_bar");
}

#[test]
fn the_tapir_walks_like_the_hound() {
    let Some(person) = Person::open(transfer::walking_tapir(), RoomName::Transfer) else {
        return;
    };

    person
        .screen
        .wait_until("both animals", |picture| picture.highlighted() > 60_000);
    person.click("Run transfer");

    let walked = person.saved(|document| {
        document
            .timeline
            .takes
            .iter()
            .any(|take| take.of == "specimen:tapir")
    });

    assert!(
        walked
            .timeline
            .takes
            .iter()
            .any(|take| take.frame_count > 8)
    );

    person.screen.press("space");
    sleep(Duration::from_secs(2));
    person.look("window_tapir");
}

#[test]
fn a_fingertip_is_dragged() {
    let Some(person) = Person::open(learn::drive_a_hand(), RoomName::Learn) else {
        return;
    };

    let trained = person.saved(|document| document.learn.trained.is_some());
    let tip = trained.learn.recipe.points[fingertip(&trained)] as usize;
    let before = person.look("window_hand");
    let moved = |document: &Document| {
        !document.learn.drive.goals.is_empty() || !document.learn.drive.effectors.is_empty()
    };

    // The model may still be on its way to the user.
    let tries = (0..10).any(|_| {
        person.drag(
            person.vertex(&trained.learn.recipe.sources[0], tip),
            vec2(30.0, 60.0),
        );
        moved(&person.save())
    });

    assert!(tries, "the fingertip can be taken");
    assert!(
        person.look("window_finger").differences(&before) > 1000,
        "the finger bends"
    );
}

/// The control point at the tip of the index finger.
fn fingertip(document: &Document) -> usize {
    let skeleton = document.learn.skeleton.as_ref().unwrap();
    skeleton
        .joints
        .iter()
        .find(|joint| joint.name == "index tip")
        .and_then(|joint| joint.control)
        .unwrap()
}
