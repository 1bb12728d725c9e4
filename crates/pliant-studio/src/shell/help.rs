//! Help: the list of shortcuts and the first steps of each room.

use eframe::egui::{self, Align2, Label, RichText, ScrollArea, TextEdit, Ui, vec2};

use super::panels;
use crate::model::room::RoomName;
use crate::rooms;
use crate::widgets::{ShortcutGroup, theme};

/// The keys that work in every room.
const EVERYWHERE: ShortcutGroup = (
    "Everywhere",
    &[
        ("Ctrl+Z", "Undo"),
        ("Ctrl+Shift+Z, Ctrl+Y", "Redo"),
        ("Ctrl+N", "New project"),
        ("Ctrl+O", "Open a project, mesh, rig or clip"),
        ("Ctrl+I", "Import into this project"),
        ("Ctrl+S", "Save"),
        ("Ctrl+Shift+S", "Save as"),
        ("Ctrl+E", "Export"),
        ("Ctrl+Q", "Quit"),
        ("Ctrl+1 … Ctrl+5", "Pose, Touch, Blend, Transfer, Learn"),
        ("Ctrl + and Ctrl −", "Larger or smaller user interface"),
        ("Ctrl+0", "Default size of the user interface"),
        ("Enter, Esc", "Leave a text field"),
        ("?", "This list"),
    ],
);

/// The keys and buttons that move the camera.
const CAMERA: ShortcutGroup = (
    "Camera, over a view",
    &[
        ("Left drag beside the model", "Orbit"),
        ("Middle or right drag, Alt+left drag", "Orbit"),
        ("Shift+middle or right drag", "Pan"),
        ("Wheel, Ctrl+middle drag", "Zoom"),
        ("F", "Frame everything"),
        ("Shift+F", "Frame the selection"),
        ("1, 2, 3, 7", "Front, three-quarter, right, top"),
        ("Alt+1, Alt+3, Alt+7", "Back, left, bottom"),
        ("Alt+2", "Three-quarter from the other side"),
        (
            "0.5 while dragging a point",
            "Exactly this far, in asset units",
        ),
        (
            "Two fingers (View › Navigation)",
            "Orbit; with Shift pan, pinch zooms",
        ),
        ("5", "Perspective or orthographic"),
    ],
);

/// The sheets of everything: what works everywhere, then each room's own.
fn sheets() -> Vec<ShortcutGroup> {
    let rooms = RoomName::ALL
        .into_iter()
        .flat_map(|room| rooms::shortcuts(room).iter().copied());
    [EVERYWHERE, CAMERA]
        .into_iter()
        .chain(panels::SHORTCUTS.iter().copied())
        .chain(rooms)
        .collect()
}

/// The lines of a sheet that a search finds: by key, by what it does, or all of them by the
/// heading.
fn found(sheet: &ShortcutGroup, search: &str) -> Vec<(&'static str, &'static str)> {
    let words: Vec<String> = search.split_whitespace().map(str::to_lowercase).collect();
    let (heading, lines) = sheet;
    let fits = |(key, what): &&(&str, &str)| {
        let text = format!("{heading} {key} {what}").to_lowercase();
        words.iter().all(|word| text.contains(word.as_str()))
    };
    lines.iter().filter(fits).copied().collect()
}

/// Shows all keys until it is closed. `search` is what was typed into its field.
pub fn shortcuts_ui(ctx: &egui::Context, open: &mut bool, search: &mut String) {
    let window = ctx.content_rect();
    let size = vec2(720.0, 620.0).min(window.size() - vec2(40.0, 110.0));
    let sheet = egui::Window::new("Shortcuts")
        .open(open)
        .collapsible(false)
        .resizable(false)
        .fixed_size(size);

    let frame = egui::Frame::window(&ctx.global_style()).inner_margin(14.0);
    sheet
        .frame(frame)
        .anchor(Align2::CENTER_CENTER, vec2(0.0, 0.0))
        .show(ctx, |ui| {
            let field = TextEdit::singleline(search)
                .hint_text("Search keys")
                .desired_width(f32::INFINITY);
            ui.add(field)
                .on_hover_text("A key or what it does, such as: pin")
                .accessible_name("Search keys");

            ui.add_space(6.0);
            let found: Vec<_> = sheets()
                .iter()
                .map(|sheet| (sheet.0, found(sheet, search)))
                .filter(|(_, lines)| !lines.is_empty())
                .collect();

            if found.is_empty() {
                ui.weak("No shortcut matches. Search for another word.");
            }

            ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
                // Two columns of about the same height, or one where there is no room for two.
                let wide = size.x >= 600.0;
                let middle = if wide {
                    balanced_split(&found)
                } else {
                    found.len()
                };
                let (left, right) = found.split_at(middle);

                ui.columns(if right.is_empty() { 1 } else { 2 }, |columns| {
                    for sheet in left {
                        sheet_ui(&mut columns[0], sheet);
                    }
                    for sheet in right {
                        sheet_ui(&mut columns[1], sheet);
                    }
                });
            });
        });
}

/// How many sheets come into the left of two columns.
fn balanced_split(sheets: &[(&str, Vec<(&str, &str)>)]) -> usize {
    let heights: Vec<usize> = sheets.iter().map(|(_, lines)| lines.len() + 2).collect();
    let all: usize = heights.iter().sum();
    let left = |count: usize| heights[..count].iter().sum::<usize>();
    (0..=sheets.len())
        .min_by_key(|&count| left(count).max(all - left(count)))
        .unwrap_or(0)
}

fn sheet_ui(ui: &mut Ui, (heading, lines): &(&str, Vec<(&str, &str)>)) {
    ui.strong(*heading);
    ui.spacing_mut().interact_size.y = 0.0;
    let width = ui.available_width();
    egui::Grid::new(*heading)
        .num_columns(2)
        .spacing(vec2(12.0, 3.0))
        .show(ui, |ui| {
            for (key, what) in lines {
                ui.scope(|ui| {
                    ui.set_width(0.44 * width);
                    ui.add(
                        Label::new(
                            RichText::new(*key).color(theme::ThemeColors::of(ui.visuals()).accent),
                        )
                        .wrap(),
                    );
                });

                ui.scope(|ui| {
                    ui.set_width(0.5 * width);
                    ui.add(Label::new(*what).wrap());
                });
                ui.end_row();
            }
        });

    ui.add_space(10.0);
}

/// What was pressed beside the first steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HintAnswer {
    /// They are not shown again in this room.
    PutAway,
    /// The tour begins.
    Tour,
}

/// Three steps for someone who sees the room for the first time, in a strip of its own above the
/// view.
pub fn hint_ui(ui: &mut Ui, room: RoomName) -> Option<HintAnswer> {
    let mut answer = None;
    let frame = egui::Frame::side_top_panel(ui.style())
        .fill(ui.visuals().faint_bg_color)
        .inner_margin(egui::Margin::symmetric(12, 8));

    egui::Panel::top("first steps").frame(frame).show(ui, |ui| {
        ui.horizontal_wrapped(|ui| {
            ui.strong("Three steps to start");
            if ui
                .button("Got it")
                .on_hover_text("Help › First steps shows them again")
                .clicked()
            {
                answer = Some(HintAnswer::PutAway);
            }
            if ui
                .button("Take the tour")
                .on_hover_text("Five short tasks on built-in models, one for each room")
                .clicked()
            {
                answer = Some(HintAnswer::Tour);
            }
            ui.weak("Press ? for all shortcuts.");
        });

        let steps = steps(room);
        // Side by side where a line holds a few words.
        ui.columns(
            if ui.available_width() >= 480.0 { 3 } else { 1 },
            |columns| {
                let count = columns.len();
                for (k, step) in steps.iter().enumerate() {
                    columns[k % count].horizontal_top(|ui| {
                        ui.label(
                            RichText::new(format!("{}", k + 1))
                                .strong()
                                .color(theme::ThemeColors::of(ui.visuals()).accent),
                        );
                        ui.add(Label::new(*step).wrap());
                    });
                }
            },
        );
    });
    answer
}

fn steps(room: RoomName) -> [&'static str; 3] {
    match room {
        RoomName::Pose => [
            "Press on a corner of the mouth and drag it up: the sliders follow.",
            "Drag beside the head to look around; the wheel zooms to the pointer.",
            "Every gesture is one step; Ctrl+Z undoes it.",
        ],
        RoomName::Touch => [
            "Brush: press on the skin and drag outwards to make a soft patch.",
            "Press: drag the sphere into the patch; the skin deforms.",
            "Bake stores the press as a take in the timeline.",
        ],
        RoomName::Blend => [
            "Move the weight: left is the linear blend, right the physical one.",
            "Compare the figures: the physical blend keeps area and volume.",
            "Add an obstacle and move it; the shape moves around it.",
        ],
        RoomName::Transfer => [
            "Click a point on the source, then the same point on the target.",
            "A dozen pairs are enough; Suggest finds more.",
            "Run transfer computes the animation; Space plays it.",
        ],
        RoomName::Learn => [
            "Click control points onto the mesh, or let Suggest choose them.",
            "Train: a progress bar shows the state.",
            "Drag a control point; the mesh follows as in the examples.",
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_room_has_shortcuts_and_headings_are_unique() {
        let headings: Vec<&str> = sheets().iter().map(|(heading, _)| *heading).collect();
        for room in RoomName::ALL {
            assert!(headings.contains(&room.label()), "{room:?}");
        }
        assert_eq!(
            headings.iter().collect::<BTreeSet<_>>().len(),
            headings.len()
        );
    }

    #[test]
    fn a_key_has_one_meaning_within_a_group() {
        for (heading, lines) in sheets() {
            let keys: BTreeSet<&str> = lines.iter().map(|(key, _)| *key).collect();
            assert_eq!(keys.len(), lines.len(), "{heading}");
        }
    }

    #[test]
    fn shortcuts_are_found_by_key_meaning_and_heading() {
        assert_eq!(found(&EVERYWHERE, "redo").len(), 1);
        assert_eq!(found(&EVERYWHERE, "SHIFT+s"), [("Ctrl+Shift+S", "Save as")]);
        assert_eq!(found(&CAMERA, "camera").len(), CAMERA.1.len());
        assert!(found(&CAMERA, "redo").is_empty());
    }

    #[test]
    fn the_columns_are_split_evenly() {
        let sheet = |lines: usize| ("", vec![("", ""); lines]);
        assert_eq!(
            balanced_split(&[sheet(10), sheet(2), sheet(2), sheet(2)]),
            1
        );
        assert_eq!(balanced_split(&[]), 0);
    }
}
