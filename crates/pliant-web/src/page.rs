//! The studio on the canvas of a page.

use std::cell::RefCell;

use eframe::egui;
use eframe::wasm_bindgen::JsValue;
use pliant_studio::engine::command::Command;
use pliant_studio::engine::storage::places::Places;
use pliant_studio::engine::work::host::{self, Host};
use pliant_studio::model::document::{Character, Document};
use pliant_studio::model::room::RoomName;
use pliant_studio::{Recover, Studio};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::labels::Labels;
use crate::link::Link;
use crate::{storage, threads};

thread_local! {
    static WINDOW: RefCell<Option<egui::Context>> = const { RefCell::new(None) };
}

#[wasm_bindgen(js_namespace = pliant)]
extern "C" {
    /// A defect of the program.
    #[wasm_bindgen(js_name = failed)]
    fn report_failure(message: &str);
    /// The first picture is on the canvas.
    #[wasm_bindgen(js_name = firstPicture)]
    fn report_first_picture();
    /// What the page shows and whether it works, for tests.
    #[wasm_bindgen(js_name = status)]
    fn report_status(text: &str);
}

/// Starts the studio on `canvas` in the state that `link` asks for.
#[wasm_bindgen]
pub async fn start(
    canvas: eframe::web_sys::HtmlCanvasElement,
    link: String,
) -> Result<(), JsValue> {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        before(panic);
        report_failure(&panic.to_string());
    }));
    host::install(Host {
        spawn: threads::spawn,
        wake: threads::wake,
        ask_files: storage::ask_files,
        give_file: storage::give_file,
    });

    let link = Link::parse(&link);
    let create: eframe::AppCreator<'static> = Box::new(move |cc| Ok(Box::new(page(cc, &link))));
    let runner = eframe::WebRunner::new();
    runner
        .start(canvas, eframe::WebOptions::default(), create)
        .await
}

/// Paints the window again.
#[wasm_bindgen]
pub fn repaint() {
    threads::woken();
    WINDOW.with_borrow(|window| {
        if let Some(window) = window {
            window.request_repaint();
        }
    });
}

/// The studio, and what follows each of its frames.
struct Page {
    studio: Studio,
    frames: u64,
    status: String,
}

impl eframe::App for Page {
    fn ui(&mut self, ui: &mut egui::Ui, frame: &mut eframe::Frame) {
        self.studio.ui(ui, frame);
        storage::keep_changes();

        self.frames += 1;
        let busy = self.studio.busy();
        if self.frames == 2 {
            report_first_picture();
        }
        self.report(busy);
    }
}

impl Page {
    fn report(&mut self, busy: bool) {
        let document = self.studio.document();
        let notice = self.studio.notice().map(|notice| notice.text.clone());
        let status = serde_json::json!({
            "asset": document.character.asset,
            "room": self.studio.view_state().room.label().to_lowercase(),
            "weights": document.character.weights,
            "takes": document.timeline.takes.iter().map(|take| &take.name).collect::<Vec<_>>(),
            "notice": notice,
            "busy": busy,
        });
        let status = status.to_string();
        if status != self.status {
            report_status(&status);
            self.status = status;
        }
    }
}

fn page(cc: &eframe::CreationContext<'_>, link: &Link) -> Page {
    WINDOW.set(Some(cc.egui_ctx.clone()));
    pliant_studio::view::install(&cc.egui_ctx, cc.wgpu_render_state.as_ref());

    let room = link.room.as_deref().and_then(room_named);
    // Without a wish, the work of the last visit is shown, or else a head to try things on.
    let recover = match (&link.asset, room) {
        (None, None) => Recover::Newest,
        _ => Recover::Nothing,
    };
    let asset = link.asset.clone().unwrap_or_else(|| "specimen:head".into());
    let is_file = !asset.starts_with("specimen:");
    let document = Document {
        character: Character {
            asset: if is_file {
                String::new()
            } else {
                asset.clone()
            },
            ..Character::default()
        },
        ..Document::default()
    };

    if link.labels {
        cc.egui_ctx.enable_accesskit();
        cc.egui_ctx.add_plugin(Labels);
    }
    let mut studio = Studio::new(&cc.egui_ctx, document);
    if let Some(room) = room {
        studio.open_room(room);
    }
    if is_file {
        studio.request_command(Command::Open(asset));
    }
    let places = Places {
        state: "/state".into(),
        config: "/config".into(),
    };
    studio.enable_autosave(places, recover);
    Page {
        studio,
        frames: 0,
        status: String::new(),
    }
}

fn room_named(name: &str) -> Option<RoomName> {
    RoomName::ALL
        .into_iter()
        .find(|room| room.label().to_lowercase() == name)
}

/// The results of this page, for a comparison with those of the desktop.
#[wasm_bindgen(js_name = methodResults)]
pub fn method_results() -> String {
    crate::same_bits::method_results_json().unwrap_or_else(|error| error.to_string())
}
