//! A character that cannot be loaded: the reason, and what to do.

use eframe::egui::{Align, Layout, Rect, RichText, Ui, UiBuilder, vec2};

use crate::engine::command::Command;
use crate::engine::context::Cx;
use crate::engine::library::AssetState;

/// Why the character cannot be loaded; `None` where it can, or where there is none.
pub(crate) fn failure(cx: &mut Cx<'_>) -> Option<String> {
    let asset = &cx.document.character.asset;
    if asset.is_empty() {
        return None;
    }
    if let AssetState::Failed(message) = cx.library.get(asset) {
        Some(message)
    } else {
        None
    }
}

/// The message in the centre of an empty viewport, with the ways out below.
pub fn failed_rig_ui(ui: &mut Ui, place: Rect, cx: &mut Cx<'_>) {
    let Some(message) = failure(cx) else { return };
    let size = vec2((place.width() - 40.0).clamp(80.0, 460.0), 120.0);
    let middle = Rect::from_center_size(place.center(), size);
    let mut ui = ui.new_child(
        UiBuilder::new()
            .max_rect(middle)
            .layout(Layout::top_down(Align::Center)),
    );

    ui.label(
        RichText::new(message)
            .size(15.0)
            .color(ui.visuals().error_fg_color),
    );
    ui.add_space(8.0);

    ui.horizontal(|ui| {
        // The two buttons in the centre of their line; viewports have no space between them.
        ui.spacing_mut().item_spacing.x = 8.0;
        ui.add_space((ui.available_width() - 150.0).max(0.0) / 2.0);

        if ui
            .button("Try again")
            .on_hover_text("Use this after the file was restored")
            .clicked()
        {
            cx.library.forget_failures();
        }

        if ui
            .button("Open…")
            .on_hover_text("Another project, mesh or rig (Ctrl+O)")
            .clicked()
        {
            cx.command(Command::AskOpen);
        }
    });
}
