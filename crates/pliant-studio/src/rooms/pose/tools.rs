//! Tools of the Pose room: tool buttons, pins, saved strokes.

use eframe::egui::{
    self, Align, Align2, Atom, Button, Color32, FontId, IdSalt, Layout, Painter, Rect, Response,
    RichText, Stroke, Ui, Vec2, vec2,
};

use super::overlay::paint_pin;
use super::stroke_library::{ENOUGH, PLACES};
use super::{PoseRoom, Tool};
use crate::engine::context::Cx;
use crate::model::pose::PinMark;
use crate::view::DragDirection;
use crate::widgets::field::named;

impl Tool {
    /// Text of its button.
    fn label(self) -> &'static str {
        match self {
            Self::Pin => "Pin",
            Self::Stroke => "Stroke",
            Self::Curve => "Curve",
            Self::Landmark => "Landmarks",
        }
    }

    fn hint(self) -> &'static str {
        match self {
            Self::Pin => {
                "Click to pin, drag to move (Q).\nCtrl: along the normal\nShift: along the skin\nCtrl and Shift: in depth"
            }
            Self::Stroke => "Draw a line on the face; the face bends along it (W)",
            Self::Curve => "Draw a line on the face, then its goal (E)",
            Self::Landmark => "Mark landmarks that transfer saved strokes to other faces (R)",
        }
    }
}

impl PoseRoom {
    pub(super) fn tools_panel_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        ui.add_space(4.0);
        self.tool_buttons_ui(ui, cx);
        ui.add_space(8.0);

        match self.tool {
            Tool::Pin => drag_keys_ui(ui),
            Tool::Stroke => {
                ui.weak(
                    "Draw a smile on the mouth, or an arch on a brow. Drag its pins afterwards.",
                );
            }
            Tool::Curve => self.curve_steps_ui(ui),
            Tool::Landmark => landmark_steps_ui(ui, cx),
        }

        ui.separator();
        self.pins_ui(ui, cx);
        ui.separator();
        ui.strong("Stroke library");
        self.stroke_library_ui(ui, cx);
    }

    fn tool_buttons_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        let chosen = self.tool;
        ui.with_layout(Layout::top_down_justified(Align::Min), |ui| {
            for tool in Tool::ALL {
                if tool_button_ui(ui, tool, chosen == tool)
                    .on_hover_text(tool.hint())
                    .clicked()
                    && tool != chosen
                {
                    self.choose_tool(tool);
                }
            }
        });

        let mut mirrored = cx.document.pose.mirrored;
        let mirror = ui.checkbox(&mut mirrored, "Mirror pins");
        if mirror
            .on_hover_text("Pins and strokes act on both sides (M)")
            .changed()
        {
            super::toggle_mirrored(cx);
        }
    }

    fn curve_steps_ui(&mut self, ui: &mut Ui) {
        if self.strokes.has_source() {
            ui.weak("Now draw the goal of this line.");
            if ui
                .button("Start over")
                .on_hover_text("Discard the first line (Esc)")
                .clicked()
            {
                self.strokes.forget();
            }
        } else {
            ui.weak("Draw along a line of the face, such as a brow or a lip.");
        }
    }

    fn pins_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        let pins = cx.document.pose.pins.clone();
        ui.horizontal(|ui| {
            ui.strong("Pins");
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let clear = ui.add_enabled(!pins.is_empty(), Button::new("Clear pins").small());
                if clear
                    .on_hover_text("Delete all pins; the pose does not change")
                    .clicked()
                {
                    self.pin_tool.selected = None;
                    cx.edit("Clear pins", |document| {
                        document.pose.pins.clear();
                        // Without pins there is no drag to repeat with other options.
                        document.pose.pull = None;
                    });
                }
            });
        });

        if pins.is_empty() {
            ui.weak("No pins yet. Drag a point of the face to pin and move it.");
            return;
        }

        egui::ScrollArea::vertical()
            .id_salt("pins")
            .max_height(220.0)
            .show(ui, |ui| {
                for (k, mark) in pins.iter().enumerate() {
                    self.pin_row_ui(ui, k, mark, cx);
                }
            });
    }

    fn pin_row_ui(&mut self, ui: &mut Ui, k: usize, mark: &PinMark, cx: &mut Cx<'_>) {
        // The buttons on the right come first: the text takes what they leave.
        let size = vec2(ui.available_width(), ui.spacing().interact_size.y);
        let layout = Layout::right_to_left(Align::Center);
        ui.allocate_ui_with_layout(size, layout, |ui| {
            self.pin_buttons_ui(ui, k, mark, cx);
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                self.pin_name_ui(ui, k, mark);
            });
        });
    }

    fn pin_name_ui(&mut self, ui: &mut Ui, k: usize, mark: &PinMark) {
        let (_, place) = ui.allocate_space(Vec2::splat(10.0));
        paint_pin(ui.painter(), place.center(), 0.75, mark.held, 1.0);
        let name = format!("Pin {}", k + 1);
        let row = ui.selectable_label(self.pin_tool.selected == Some(k), name);
        if row
            .on_hover_text(format!("Vertex {}", mark.vertex))
            .clicked()
        {
            self.pin_tool.selected = Some(k);
        }

        // A free pin keeps a goal only if no slider reaches it.
        if mark.goal.is_some() && !mark.held {
            let text = RichText::new("too far").weak();
            ui.add(egui::Label::new(text).truncate()).on_hover_text(
                "Out of reach: no slider reaches the goal; the residual layer can close the gap",
            );
        }
    }

    fn pin_buttons_ui(&mut self, ui: &mut Ui, k: usize, mark: &PinMark, cx: &mut Cx<'_>) {
        let label = format!("Delete pin {}", k + 1);
        if named(ui.small_button("×"), &label)
            .on_hover_text(&label)
            .clicked()
        {
            self.pin_tool.selected = Some(k);
            self.delete_selected(cx);
        }

        let mut held = mark.held;
        let label = format!("Hold pin {}", k + 1);
        let hint = "Keep the position while other pins are dragged (H)";
        if named(ui.checkbox(&mut held, "Hold"), &label)
            .on_hover_text(hint)
            .changed()
        {
            self.pin_tool.selected = Some(k);
            self.toggle_held(cx);
        }
    }
}

/// A button with an icon before its name and its key after it.
fn tool_button_ui(ui: &mut Ui, tool: Tool, chosen: bool) -> Response {
    let icon = IdSalt::new("icon");
    let button = Button::selectable(
        chosen,
        (Atom::custom(icon, Vec2::splat(16.0)), tool.label()),
    )
    .atom_ui(ui);

    let color = ui
        .style()
        .interact_selectable(&button.response, chosen)
        .text_color();

    if let Some(rect) = button.rect(icon) {
        paint_icon(ui.painter(), rect, tool, color);
    }

    let end = button.response.rect.right_center() - vec2(8.0, 0.0);
    ui.painter().text(
        end,
        Align2::RIGHT_CENTER,
        tool.key().name(),
        FontId::proportional(11.0),
        color.gamma_multiply(0.6),
    );

    button.response
}

fn paint_icon(painter: &Painter, rect: Rect, tool: Tool, color: Color32) {
    let at = |x: f32, y: f32| rect.min + vec2(x, y) * rect.size();
    let pen = Stroke::new(1.8, color);
    // A parabola, open at the top.
    let arc = |lift: f32| {
        (0..=8)
            .map(|k| k as f32 / 8.0)
            .map(|x| at(0.05 + 0.9 * x, lift + 1.6 * x * (1.0 - x)))
            .collect::<Vec<_>>()
    };

    match tool {
        Tool::Pin => {
            painter.circle(at(0.5, 0.3), 4.0, color, Stroke::NONE);
            painter.line_segment([at(0.5, 0.4), at(0.5, 0.98)], pen);
        }
        Tool::Stroke => {
            painter.line(arc(0.35), pen);
        }
        Tool::Curve => {
            painter.line(arc(0.55), Stroke::new(1.2, color.gamma_multiply(0.7)));
            painter.line(arc(0.1), pen);
        }
        Tool::Landmark => {
            painter.circle_stroke(at(0.5, 0.5), 4.5, pen);
            painter.line_segment([at(0.5, 0.0), at(0.5, 1.0)], Stroke::new(1.0, color));
            painter.line_segment([at(0.0, 0.5), at(1.0, 0.5)], Stroke::new(1.0, color));
        }
    }
}

fn drag_keys_ui(ui: &mut Ui) {
    egui::Grid::new("drag keys")
        .num_columns(2)
        .spacing([8.0, 2.0])
        .show(ui, |ui| {
            for (keys, direction) in DragDirection::ALL.map(DragDirection::words) {
                ui.label(RichText::new(keys).small());
                ui.label(RichText::new(direction).small().weak());
                ui.end_row();
            }
        });
}

fn landmark_steps_ui(ui: &mut Ui, cx: &mut Cx<'_>) {
    let asset = cx.document.character.asset.clone();
    let count = cx.document.pose.landmarks.get(&asset).map_or(0, Vec::len);
    // The next place of the list, then free landmarks.
    match PLACES.get(count) {
        Some(place) => ui.weak(format!(
            "Click the {place} ({} of {}).",
            count + 1,
            PLACES.len()
        )),
        None => ui.weak(format!("{count} landmarks. Click one to remove it.")),
    };
    if count < ENOUGH {
        ui.weak(format!(
            "Mark {ENOUGH} or more, the same places on each face."
        ));
    }

    if count > 0 && ui.button("Clear landmarks").clicked() {
        cx.edit("Clear landmarks", move |document| {
            document.pose.landmarks.remove(&asset);
        });
    }
}
