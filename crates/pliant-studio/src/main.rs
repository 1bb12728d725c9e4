//! The window.

use std::process::ExitCode;

use eframe::egui;
use pliant_studio::Studio;
use pliant_studio::document::{Character, Document};

fn main() -> ExitCode {
    let asset = std::env::args().nth(1).unwrap_or_else(|| "specimen:head".into());
    let document = Document { character: Character { asset, ..Character::default() }, ..Document::default() };
    let viewport = egui::ViewportBuilder::default().with_title("Pliant").with_inner_size([1440.0, 900.0]).with_app_id("pliant-studio");
    let options = eframe::NativeOptions { viewport, ..eframe::NativeOptions::default() };
    match eframe::run_native("Pliant", options, Box::new(move |cc| Ok(Box::new(start(cc, document))))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn start(cc: &eframe::CreationContext<'_>, document: Document) -> Studio {
    pliant_studio::view::install(&cc.egui_ctx, cc.wgpu_render_state.as_ref());
    Studio::new(&cc.egui_ctx, document)
}
