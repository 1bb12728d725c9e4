//! A studio that is killed at any moment loses at most the last seconds of edits, and never a file.
//!
//! The studio under test is this program, started again as a child process: the real frame loop of
//! the window, without a graphics card.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command as Process, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use eframe::egui;
use pliant::mesh::glam::DVec3;
use pliant_studio::engine::command::Command;
use pliant_studio::engine::storage::autosave::Session;
use pliant_studio::engine::storage::files::NativeFiles;
use pliant_studio::engine::storage::places::Places;
use pliant_studio::engine::storage::{project_store, recovery};
use pliant_studio::model::document::{Character, Document};
use pliant_studio::model::history::Edit;
use pliant_studio::model::timeline::Take;
use pliant_studio::{Recover, Studio};

/// The promise: edits older than this when the program is killed come back.
const PROMISED: Duration = Duration::from_secs(5);
/// Names the folder of a rehearsal, in the child.
const FOLDER: &str = "PLIANT_REHEARSAL";
/// How many vertices a frame of the child's takes has; 0 makes none.
const BIG: &str = "PLIANT_REHEARSAL_BIG";
/// The slider whose weight counts edits.
const COUNTER: &str = "edits";

fn millis() -> u64 {
    SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |since| since.as_millis() as u64)
}

fn places(folder: &Path) -> Places {
    Places {
        state: folder.join("state"),
        config: folder.join("config"),
    }
}

fn project_file(folder: &Path) -> PathBuf {
    folder.join("face.pliant")
}

fn edits(document: &Document) -> u64 {
    document
        .character
        .weights
        .get(COUNTER)
        .copied()
        .unwrap_or(0.0) as u64
}

/// The child: edits twenty times a second and saves now and then, until it is killed.
#[test]
#[ignore = "started by the other tests of this file"]
fn rehearse() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else {
        return;
    };

    let vertices: usize = std::env::var(BIG)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(0);
    let ctx = egui::Context::default();
    let document = Document {
        character: Character {
            asset: "specimen:head".into(),
            ..Character::default()
        },
        ..Document::default()
    };

    let mut studio = Studio::new(&ctx, document);
    studio.enable_autosave(places(&folder), Recover::Newest);
    studio.request_command(Command::SaveAs(project_file(&folder)));

    for number in 1_u64.. {
        let change = move |document: &mut Document| {
            document.character.set_weight(COUNTER, number as f64);
            if vertices > 0 && number.is_multiple_of(8) {
                document.timeline.takes.clear();
                document.timeline.add_take(Take::made(
                    format!("take {number}"),
                    "specimen:head",
                    &[vec![DVec3::splat(number as f64); vertices]],
                    24.0,
                ));
            }
        };

        studio.request_command(Command::Edit(Edit {
            label: "Edit".into(),
            gesture: None,
            change: Box::new(change),
        }));

        if number.is_multiple_of(if vertices > 0 { 8 } else { 30 }) {
            studio.request_command(Command::Save);
        }

        let begun = SystemTime::now();
        while begun.elapsed().unwrap_or_default() < Duration::from_millis(50) {
            let mut output = ctx.run_ui(egui::RawInput::default(), |ui| studio.window_ui(ui));
            // There is no graphics card to take them.
            output.textures_delta.clear();
            std::thread::sleep(Duration::from_millis(5));
        }

        report(number);
    }
}

#[expect(clippy::print_stdout, reason = "how the child speaks to the test")]
fn report(number: u64) {
    println!("edit {number} {}", millis());
}

/// A child that works, and the edits it told of, with their times.
struct Rehearsal {
    child: Child,
    message: Arc<Mutex<Vec<(u64, u64)>>>,
    folder: PathBuf,
}

impl Rehearsal {
    fn start(folder: &Path, vertices: usize) -> Self {
        let program = std::env::current_exe().unwrap();
        let arguments = [
            "--exact",
            "rehearse",
            "--ignored",
            "--nocapture",
            "--test-threads",
            "1",
        ];

        let mut process = Process::new(program);
        process
            .args(arguments)
            .env(FOLDER, folder)
            .env(BIG, vertices.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());

        let mut child = process.spawn().unwrap();
        let message = Arc::new(Mutex::new(Vec::new()));
        let heard = BufReader::new(child.stdout.take().unwrap());
        let list = message.clone();

        std::thread::spawn(move || {
            for line in heard.lines().map_while(Result::ok) {
                if let Some((number, at)) = line
                    .split("edit ")
                    .nth(1)
                    .and_then(|rest| rest.split_once(' '))
                {
                    list.lock()
                        .unwrap()
                        .push((number.parse().unwrap(), at.trim().parse().unwrap()));
                }
            }
        });

        Self {
            child,
            message,
            folder: folder.to_owned(),
        }
    }

    fn wait_for_edit(&self, number: u64) {
        let begun = SystemTime::now();
        while self
            .message
            .lock()
            .unwrap()
            .last()
            .is_none_or(|(last, _)| *last < number)
        {
            assert!(
                begun.elapsed().unwrap() < Duration::from_secs(120),
                "the child does not work"
            );
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Kills it, starts recovery as the next start of the program would, and compares.
    fn kill(mut self) -> (u64, u64) {
        let killed = millis();
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        std::thread::sleep(Duration::from_millis(20));

        let message = self.message.lock().unwrap().clone();
        let due = message
            .iter()
            .filter(|(_, at)| *at + (PROMISED.as_millis() as u64) < killed)
            .map(|(number, _)| *number)
            .max()
            .unwrap_or(0);

        let found = self.found();
        assert!(
            found >= due,
            "{found} edits came back, but {due} were older than {PROMISED:?}"
        );

        (message.last().map_or(0, |(number, _)| *number), found)
    }

    /// The newest edit that the user finds again: in recovered work, else in the project.
    fn found(&self) -> u64 {
        let path = project_file(&self.folder);
        let saved = path.exists().then(|| {
            project_store::open(&NativeFiles, &path).unwrap_or_else(|error| panic!("{error}"))
        });
        let saved = saved.map(|opened| {
            assert_eq!(
                opened.warning(),
                None,
                "a project names only results that are there"
            );
            edits(&opened.project.document)
        });

        let state = places(&self.folder).state;
        let session = Session::begin(Arc::new(NativeFiles), &state).unwrap();
        let lost = recovery::lost_work(&NativeFiles, &state);
        let recovered = lost.first().map(|lost| {
            assert!(lost.project.is_none() || lost.project.as_deref() == Some(&*path));
            let opened = recovery::read(&NativeFiles, lost, &session)
                .unwrap_or_else(|error| panic!("{error}"));
            recovery::claim(&NativeFiles, lost, &session).unwrap_or_else(|error| panic!("{error}"));
            edits(&opened.project.document)
        });

        recovered.or(saved).unwrap_or(0)
    }
}

/// Splitmix: the same moments in every run.
fn random(seed: &mut u64) -> f64 {
    *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*seed ^ (*seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

#[test]
fn a_killed_studio_loses_at_most_the_last_seconds() {
    let mut seed = 9;
    let mut worst = 0;
    for round in 0..4 {
        let folders: Vec<_> = (0..5).map(|_| tempfile::tempdir().unwrap()).collect();
        let started: Vec<_> = folders
            .iter()
            .map(|folder| Rehearsal::start(folder.path(), 0))
            .collect();

        started[0].wait_for_edit(1);
        let longest = if round % 2 == 0 { 9.0 } else { 2.0 };
        let mut moments: Vec<f64> = started
            .iter()
            .map(|_| random(&mut seed) * longest)
            .collect();

        moments.sort_by(f64::total_cmp);
        let mut waited = 0.0;
        for (rehearsal, moment) in started.into_iter().zip(moments) {
            std::thread::sleep(Duration::from_secs_f64(moment - waited));
            waited = moment;
            let (message, found) = rehearsal.kill();
            worst = worst.max(message.saturating_sub(found));
        }
    }

    // An edit is reported 50 ms after it was made: a whole promise of them would be a hundred.
    assert!(
        worst <= 100,
        "of 20 studios killed the worst lost {worst} edits, made 20 a second"
    );
}

#[test]
fn a_studio_killed_in_the_middle_of_a_big_save_leaves_a_whole_project() {
    let mut seed = 77;
    for _ in 0..3 {
        let folders: Vec<_> = (0..2).map(|_| tempfile::tempdir().unwrap()).collect();
        // 24 MB in every eighth edit.
        let started: Vec<_> = folders
            .iter()
            .map(|folder| Rehearsal::start(folder.path(), 2_000_000))
            .collect();

        for rehearsal in started {
            rehearsal.wait_for_edit(8);
            std::thread::sleep(Duration::from_secs_f64(random(&mut seed) * 0.5));
            rehearsal.kill();
        }
    }
}
