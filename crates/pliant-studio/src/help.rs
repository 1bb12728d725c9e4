//! What a person is told without asking, and on asking.

use eframe::egui::{self, Align2, RichText, Ui, vec2};

use crate::rooms::RoomName;

/// Keys and what they do, under a heading.
pub type Sheet = (&'static str, &'static [(&'static str, &'static str)]);

/// The keys that work in every room.
const EVERYWHERE: Sheet = (
    "Everywhere",
    &[
        ("Ctrl+Z", "Undo"),
        ("Ctrl+Shift+Z", "Redo"),
        ("Ctrl+N, O, S", "New, open, save"),
        ("Ctrl+Shift+S", "Save as"),
        ("Ctrl+1 … 5", "Pose, Touch, Blend, Transfer, Learn"),
        ("Ctrl + or −", "Larger or smaller window parts"),
        ("?", "This sheet"),
    ],
);

/// The keys and buttons that move the camera.
const CAMERA: Sheet = (
    "Camera",
    &[
        ("Left drag beside the model", "Orbit"),
        ("Middle or right drag, Alt+left", "Orbit"),
        ("Shift+middle or right drag", "Pan"),
        ("Wheel", "Zoom to the pointer"),
        ("F", "Frame everything"),
        ("Shift+F", "Frame what is selected"),
        ("1, 3, 7", "Front, right, top; Ctrl for the other side"),
        ("5", "Perspective or orthographic"),
    ],
);

/// Shows all keys until it is closed.
pub fn shortcuts_ui(ctx: &egui::Context, open: &mut bool, more: &[Sheet]) {
    let window =
        egui::Window::new("Shortcuts").open(open).collapsible(false).resizable(false).anchor(Align2::CENTER_CENTER, vec2(0.0, 0.0));
    window.show(ctx, |ui| {
        // The sheet stays within a small window, with its close button in sight.
        egui::ScrollArea::vertical().max_height(ctx.content_rect().height() - 120.0).show(ui, |ui| {
            ui.horizontal_top(|ui| {
                ui.vertical(|ui| [EVERYWHERE, CAMERA].iter().for_each(|sheet| sheet_ui(ui, sheet)));
                ui.add_space(16.0);
                ui.vertical(|ui| more.iter().for_each(|sheet| sheet_ui(ui, sheet)));
            });
        });
    });
}

fn sheet_ui(ui: &mut Ui, (heading, keys): &Sheet) {
    ui.strong(*heading);
    egui::Grid::new(*heading).num_columns(2).spacing(vec2(16.0, 4.0)).show(ui, |ui| {
        for (key, what) in *keys {
            ui.label(RichText::new(*key).monospace());
            ui.label(*what);
            ui.end_row();
        }
    });
    ui.add_space(8.0);
}

/// Three steps for someone who sees the room for the first time. Says whether it was put away.
pub fn hint_ui(ui: &mut Ui, room: RoomName, place: egui::Rect) -> bool {
    let mut away = false;
    let frame = egui::Frame::popup(ui.style()).inner_margin(12.0);
    let area =
        egui::Area::new(egui::Id::unique("first steps")).fixed_pos(place.left_bottom() + vec2(16.0, -16.0)).pivot(Align2::LEFT_BOTTOM);
    area.order(egui::Order::Middle).show(ui.ctx(), |ui| {
        frame.show(ui, |ui| {
            ui.set_max_width(290.0);
            ui.strong("Three steps to start");
            for (k, step) in steps(room).iter().enumerate() {
                ui.horizontal_top(|ui| {
                    ui.label(RichText::new(format!("{}", k + 1)).strong().color(crate::theme::ACCENT));
                    ui.add(egui::Label::new(*step).wrap());
                });
            }
            ui.horizontal(|ui| {
                away = ui.button("Got it").clicked();
                ui.weak("Press ? for all shortcuts.");
            });
        });
    });
    away
}

fn steps(room: RoomName) -> [&'static str; 3] {
    match room {
        RoomName::Pose => [
            "Press on a corner of the mouth and drag it up: the sliders follow.",
            "Drag beside the head to look around; the wheel zooms to the pointer.",
            "Every gesture is one step: Ctrl+Z takes it back.",
        ],
        RoomName::Touch => [
            "Brush: press on the skin and drag outwards to make a soft patch.",
            "Press: drag the ball into the patch and watch the skin give way.",
            "Bake keeps what you did as a take in the timeline.",
        ],
        RoomName::Blend => [
            "Move the weight: left is the linear blend, right the physical one.",
            "Compare the figures: the physical blend keeps area and volume.",
            "Add an obstacle and move it; the shape goes around.",
        ],
        RoomName::Transfer => [
            "Click a place on the source, then the same place on the target.",
            "A dozen pairs are enough; Suggest finds more.",
            "Transfer brings the clip over; Space plays it.",
        ],
        RoomName::Learn => [
            "Click control points onto the mesh, or let Suggest choose them.",
            "Train: a bar shows how far it is.",
            "Drag a control point; the mesh follows as in the examples.",
        ],
    }
}
