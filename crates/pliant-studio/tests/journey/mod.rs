//! A test harness of the studio: acts by label and pointer, waits for workers, compares pictures.

#![allow(dead_code, unreachable_pub, reason = "each journey uses a part of it")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use eframe::egui::accesskit::Role;
use eframe::egui::{
    DroppedFile, DroppedFileHandle, Event, Key, Modifiers, PointerButton, Pos2, Rect, vec2,
};
use eframe::egui_wgpu::{RenderState, RendererOptions};
use egui_kittest::kittest::Queryable;
use egui_kittest::wgpu::{WgpuTestRenderer, create_render_state, default_wgpu_setup};
use egui_kittest::{Harness, SnapshotOptions};
use pliant_studio::Studio;
use pliant_studio::model::document::Document;
use pliant_studio::model::room::RoomName;
use pliant_studio::view::View;

/// Longer than any single piece of work of a journey, on a slow and busy machine.
const PATIENCE: Duration = Duration::from_secs(240);

/// How long work may catch up while a button is held.
const HELD: Duration = Duration::from_secs(2);

/// Set to 1 where a missing graphics driver is an error instead of a reason to skip.
const REQUIRED: &str = "PLIANT_REQUIRE_ADAPTER";

/// A graphics card or its stand-in in software; prints why it is missing and returns `None` on a
/// machine without.
///
/// # Panics
/// Where it is missing although `PLIANT_REQUIRE_ADAPTER=1` requests it.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
pub fn adapter_or_skip() -> Option<RenderState> {
    let found = std::panic::catch_unwind(|| {
        create_render_state(default_wgpu_setup(), RendererOptions::PREDICTABLE)
    });

    if found.is_err() {
        let required = std::env::var(REQUIRED).is_ok_and(|value| value == "1");
        assert!(
            !required,
            "no graphics adapter, though {REQUIRED}=1; install mesa-vulkan-drivers"
        );
        eprintln!("skipped: no graphics adapter on this machine (install mesa-vulkan-drivers)");
    }

    found.ok()
}

/// A file that falls into the window.
#[derive(Debug)]
struct Falling(PathBuf);

impl DroppedFile for Falling {
    fn path(&self) -> &Path {
        &self.0
    }
    fn bytes(&self) -> Result<Vec<u8>, String> {
        std::fs::read(&self.0).map_err(|error| error.to_string())
    }
}

/// A studio under test.
pub struct Journey {
    pub harness: Harness<'static, Studio>,
}

impl Journey {
    /// Opens a studio on a document, in a room; `None` without a graphics adapter.
    pub fn start(document: Document, room: RoomName) -> Option<Self> {
        let card = adapter_or_skip()?;
        let options = SnapshotOptions::new()
            .threshold(1.0)
            .max_failed_pixels(400usize);
        let build = move |cc: &mut eframe::CreationContext<'static>| {
            pliant_studio::view::install(&cc.egui_ctx, cc.wgpu_render_state.as_ref());
            let mut studio = Studio::new(&cc.egui_ctx, document);
            studio.open_room(room);
            studio.dismiss_hint();
            studio
        };

        let builder = Harness::builder()
            .with_size(vec2(1440.0, 900.0))
            .with_options(options)
            .with_max_steps(64);
        let builder = builder.renderer(WgpuTestRenderer::from_render_state(card));
        let mut journey = Self {
            harness: builder.build_eframe(build),
        };

        journey.settle();
        Some(journey)
    }

    /// The studio.
    pub fn studio(&mut self) -> &mut Studio {
        self.harness.state_mut()
    }

    /// The document.
    pub fn document(&self) -> Document {
        self.harness.state().document().clone()
    }

    /// Waits until all work is done and shown.
    pub fn settle(&mut self) {
        let started = Instant::now();
        let mut quiet = 0;
        while quiet < 4 {
            self.harness.step();
            quiet = if self.harness.state_mut().busy() {
                0
            } else {
                quiet + 1
            };
            assert!(started.elapsed() < PATIENCE, "work does not end");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Clicks what is labelled so.
    pub fn click(&mut self, label: &str) {
        self.harness.get_by_label(label).click();
        self.settle();
    }

    /// Presses a key.
    pub fn press(&mut self, modifiers: Modifiers, key: Key) {
        self.harness.key_press_modifiers(modifiers, key);
        self.settle();
    }

    /// Undoes or redoes by the keyboard.
    pub fn undo(&mut self) {
        self.press(Modifiers::COMMAND, Key::Z);
    }

    /// Makes the step again.
    pub fn redo(&mut self) {
        self.press(Modifiers::COMMAND | Modifiers::SHIFT, Key::Z);
    }

    /// Where the thing labelled so is on the screen.
    pub fn rect(&self, label: &str) -> Rect {
        self.harness.get_by_label(label).rect()
    }

    /// How the camera of a viewport of the open room sees.
    pub fn view(&self, pane: usize) -> View {
        let rect = self
            .harness
            .get_all_by_role(Role::Canvas)
            .nth(pane)
            .expect("a viewport")
            .rect();

        let view_state = self.harness.state().view_state();
        View {
            camera: view_state.cameras[&view_state.room][pane].camera,
            rect,
        }
    }

    /// Presses the left button at the first point, goes along all of them, and lets go at the last.
    pub fn drag(&mut self, way: &[Pos2]) {
        self.drag_with(way, Modifiers::NONE);
    }

    /// As [`drag`](Self::drag), with keys held.
    pub fn drag_with(&mut self, way: &[Pos2], modifiers: Modifiers) {
        let button = |pos, pressed| Event::PointerButton {
            pos,
            button: PointerButton::Primary,
            pressed,
            modifiers,
        };

        let first = way[0];
        let last = way[way.len() - 1];
        self.harness
            .event_modifiers(Event::PointerMoved(first), modifiers);
        self.harness.step();
        self.harness.event_modifiers(button(first, true), modifiers);
        self.harness.step();

        for &place in &way[1..] {
            self.harness
                .event_modifiers(Event::PointerMoved(place), modifiers);
            self.harness.step();
        }

        self.settle_held();
        self.harness.event_modifiers(button(last, false), modifiers);
        self.settle();
    }

    /// Lets work catch up while the button is down.
    pub fn settle_held(&mut self) {
        let started = Instant::now();
        // A held pin asks again in every frame, so work never ends; long enough for the newest
        // answer is enough.
        for _ in 0..12 {
            self.harness.step();
            while self.harness.state_mut().busy() && started.elapsed() < HELD {
                self.harness.step();
                std::thread::sleep(Duration::from_millis(2));
            }
        }
    }

    /// Drops files where the pointer is.
    pub fn drop_files(&mut self, paths: &[PathBuf]) {
        let handles = paths
            .iter()
            .map(|path| Arc::new(Falling(path.clone())) as DroppedFileHandle);
        self.harness.input_mut().dropped_files.extend(handles);
        self.harness.step();
        self.settle();
    }

    /// Drops files at a place of the window.
    pub fn drop_files_at(&mut self, place: Pos2, paths: &[PathBuf]) {
        self.harness.event(Event::PointerMoved(place));
        self.settle();
        self.drop_files(paths);
    }

    /// Types a name into the file dialog and confirms it.
    pub fn choose_file(&mut self, path: &Path) {
        self.type_name(path);
        self.press(Modifiers::NONE, Key::Enter);
    }

    /// Types a name into the file dialog, instead of what is there.
    pub fn type_name(&mut self, path: &Path) {
        self.harness
            .get_by_role_and_label(Role::TextInput, "Name")
            .focus();
        self.settle();
        self.press(Modifiers::COMMAND, Key::A);
        self.harness.event(Event::Text(
            path.to_str().expect("a path in plain text").to_owned(),
        ));
        self.settle();
    }

    /// What is said at the bottom of the window.
    pub fn notice_text(&mut self) -> String {
        self.studio()
            .notice()
            .map_or_else(String::new, |notice| notice.text.clone())
    }

    /// Compares the window with the picture of this name.
    pub fn picture(&mut self, name: &str) {
        self.harness.remove_cursor();
        self.settle();
        self.harness.snapshot(name);
    }
}
