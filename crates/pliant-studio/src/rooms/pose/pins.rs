//! Pins under the pointer.

use eframe::egui::{Color32, CursorIcon, Key, Pos2, Stroke, Ui};
use pliant::mesh::glam::DVec3;
use pliant::rig::{Aim, Pin};

use super::PinMark;
use crate::character::{Drag, Posed};
use crate::document::Weights;
use crate::rooms::{Cx, On};

/// How near the pointer must be to a pin to take it, in points.
const REACH: f32 = 10.0;

/// A hand with its pins.
#[derive(Debug, Default)]
pub struct Hand {
    selected: Option<usize>,
    grip: Option<Grip>,
}

/// A pin in the hand.
#[derive(Debug)]
struct Grip {
    gesture: u64,
    pin: usize,
    /// Where the pin was wanted, and where the pointer was, when it was taken.
    goal: DVec3,
    pointer: Pos2,
    /// The surface's normal there.
    normal: DVec3,
    /// The pose from which it is dragged.
    base: Weights,
    /// Where each pin's vertex was in that pose.
    places: Vec<DVec3>,
}

/// The weights of a posed character by name.
fn weights_of(posed: &Posed) -> Weights {
    posed.rig.targets().iter().zip(&posed.weights).filter(|(_, w)| **w != 0.0).map(|(t, w)| (t.name.clone(), *w)).collect()
}

impl Hand {
    /// The tools of pins.
    pub fn tools_ui(&mut self, ui: &mut Ui, cx: &mut Cx<'_>) {
        let pins = &cx.document.pose.pins;
        ui.label(format!("{} pins", pins.len()));
        let selected = self.selected.filter(|&k| k < pins.len());
        ui.add_enabled_ui(selected.is_some(), |ui| {
            if ui.button("Delete pin").on_hover_text("Delete").clicked() {
                self.delete(cx);
            }
        });
        if ui.button("Clear pins").on_hover_text("Take all pins off; the pose stays").clicked() {
            cx.edit("Clear pins", |document| document.pose.pins.clear());
        }
    }

    fn delete(&mut self, cx: &mut Cx<'_>) {
        if let Some(pin) = self.selected.take().filter(|&k| k < cx.document.pose.pins.len()) {
            cx.edit("Delete pin", move |document| {
                document.pose.pins.remove(pin);
            });
        }
    }

    /// Takes, moves and shows pins.
    pub fn canvas_ui(&mut self, on: &On<'_>, ui: &mut Ui, cx: &mut Cx<'_>) -> bool {
        let Some(posed) = cx.posed.cloned() else { return false };
        if ui.input(|input| input.key_pressed(Key::Delete)) && !ui.ctx().egui_wants_keyboard_input() {
            self.delete(cx);
        }
        let pressed = on.canvas.response.drag_started_by(eframe::egui::PointerButton::Primary) && ui.input(|i| !i.modifiers.alt);
        if let Some(pointer) = ui.input(|i| i.pointer.press_origin()).filter(|_| pressed) {
            self.take(pointer, on, &posed, cx);
        }
        if self.grip.is_some() {
            self.drag(on, ui, cx);
        }
        self.paint(on, &posed, ui, cx);
        self.grip.is_some()
    }

    fn take(&mut self, pointer: Pos2, on: &On<'_>, posed: &Posed, cx: &mut Cx<'_>) {
        let pins = &cx.document.pose.pins;
        let near = |pin: &PinMark| on.canvas.view.project(DVec3::from_array(pin.goal)).is_some_and(|p| p.distance(pointer) <= REACH);
        let found = pins.iter().position(near);
        let hit = on.pick(pointer);
        let vertex = match (found, &hit) {
            (Some(pin), _) => pins[pin].vertex,
            (None, Some(hit)) => hit.vertex,
            (None, None) => return,
        };
        let mut marks = pins.clone();
        let pin = found.unwrap_or_else(|| {
            marks.push(PinMark { vertex, goal: posed.positions[vertex as usize].to_array(), held: false });
            marks.len() - 1
        });
        let places = marks.iter().map(|mark| posed.positions[mark.vertex as usize]).collect();
        let normal = posed.vertices.normals[vertex as usize].as_dvec3();
        let goal = DVec3::from_array(marks[pin].goal);
        self.selected = Some(pin);
        self.grip = Some(Grip { gesture: cx.gesture, pin, goal, pointer, normal, base: weights_of(posed), places });
        if found.is_none() {
            cx.edit_by_hand("Drag pin", move |document| document.pose.pins = marks);
        }
    }

    fn drag(&mut self, on: &On<'_>, ui: &Ui, cx: &mut Cx<'_>) {
        let Some(grip) = &self.grip else { return };
        let (pin, gesture) = (grip.pin, grip.gesture);
        let Some(pointer) = ui.input(|i| i.pointer.interact_pos()) else { return };
        let modifiers = ui.input(|i| i.modifiers);
        let view = &on.canvas.view;
        let goal = match (modifiers.command, modifiers.shift) {
            (false, false) => view.drag_in_view_plane(grip.goal, grip.pointer, pointer),
            (true, false) => view.drag_along(grip.goal, grip.normal, grip.pointer, pointer),
            (false, true) => view.drag_in_plane(grip.goal, grip.normal, grip.pointer, pointer),
            (true, true) => view.drag_along(grip.goal, -view.camera.axes().back, grip.pointer, pointer),
        };
        if cx.gesture != gesture {
            self.grip = None;
            return;
        }
        let pins = cx.document.pose.pins.iter().enumerate().map(|(k, mark)| {
            let wanted = if k == pin { goal } else { DVec3::from_array(mark.goal) };
            let place = grip.places.get(k).copied().unwrap_or(wanted);
            Pin { aim: Aim::Point, ..Pin::new(mark.vertex as usize, wanted - place) }
        });
        let pins: Vec<Pin> = pins.collect();
        if pins.len() == grip.places.len() {
            *cx.drag = Some(Drag { gesture, base: grip.base.clone(), pins, method: cx.document.pose.method });
            cx.edit_by_hand("Drag pin", move |document| {
                if let Some(mark) = document.pose.pins.get_mut(pin) {
                    mark.goal = goal.to_array();
                }
            });
        }
        if ui.input(|i| i.pointer.primary_released()) {
            self.grip = None;
        }
    }

    fn paint(&self, on: &On<'_>, posed: &Posed, ui: &Ui, cx: &Cx<'_>) {
        for (k, mark) in cx.document.pose.pins.iter().enumerate() {
            let Some(place) = posed.positions.get(mark.vertex as usize) else { continue };
            let (Some(at), Some(goal)) = (on.canvas.view.project(*place), on.canvas.view.project(DVec3::from_array(mark.goal))) else {
                continue;
            };
            let color = if mark.held { Color32::from_rgb(90, 150, 255) } else { Color32::from_rgb(255, 120, 60) };
            on.canvas.painter.line_segment([at, goal], Stroke::new(1.5, color.gamma_multiply(0.7)));
            on.canvas.painter.circle(at, 5.0, color, Stroke::new(1.5, Color32::WHITE));
            if self.selected == Some(k) {
                on.canvas.painter.circle_stroke(at, 9.0, Stroke::new(1.5, color));
            }
        }
        let hovering = on.canvas.response.hover_pos().filter(|_| self.grip.is_none());
        if let Some(hit) = hovering.and_then(|p| on.pick(p)) {
            ui.ctx().set_cursor_icon(CursorIcon::Crosshair);
            if let Some(at) = on.canvas.view.project(posed.positions[hit.vertex as usize]) {
                on.canvas.painter.circle_stroke(at, 4.0, Stroke::new(1.0, Color32::WHITE));
            }
        }
    }
}
