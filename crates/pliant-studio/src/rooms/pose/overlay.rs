//! Pins, goals and lines over the picture.

use eframe::egui::{Align2, Color32, CursorIcon, FontId, Painter, Pos2, Shape, Stroke, Ui, vec2};
use pliant::mesh::glam::DVec3;

use super::hand::pin_under;
use super::marks::PinMark;
use super::{PoseRoom, Tool};
use crate::character::Posed;
use crate::rooms::{Cx, On};
use crate::view::View;

/// A free pin.
pub(super) const FREE: Color32 = Color32::from_rgb(255, 122, 48);
/// A pin that holds.
pub(super) const HELD: Color32 = Color32::from_rgb(64, 140, 255);
/// Lines that are drawn.
pub(super) const INK: Color32 = Color32::from_rgb(240, 64, 120);
/// Landmarks.
pub(super) const LANDMARK: Color32 = Color32::from_rgb(46, 160, 110);
/// Around everything, so that it shows on any skin.
const RIM: Color32 = Color32::WHITE;
/// A goal nearer than this on the screen is where the pin is.
const SAME_PLACE: f32 = 4.0;

/// Which pins are not behind the face, as long as nothing moves.
#[derive(Debug, Default)]
pub(super) struct Seen {
    of: Option<(usize, View, Vec<u32>)>,
    visible: Vec<bool>,
}

impl Seen {
    fn update(&mut self, on: &On<'_>, positions: &[DVec3], pins: &[PinMark]) {
        let vertices: Vec<u32> = pins.iter().map(|mark| mark.vertex).collect();
        let of = Some((positions.as_ptr().addr(), on.canvas.view, vertices));
        if self.of != of {
            self.visible = pins.iter().map(|mark| mark.place(positions).is_some_and(|place| is_seen(on, place))).collect();
            self.of = of;
        }
    }
}

/// Whether nothing is before a place: what a ray meets there is no nearer than a few points of the screen are wide.
fn is_seen(on: &On<'_>, place: DVec3) -> bool {
    let view = &on.canvas.view;
    let Some(hit) = view.project(place).and_then(|at| on.pick(at)) else { return true };
    let depth = (place - view.ray(view.project(place).unwrap_or_default()).origin).length();
    hit.distance >= depth - 8.0 * view.world_per_pixel(place)
}

impl PoseRoom {
    /// Everything that lies over the picture.
    pub(super) fn paint_overlay(&mut self, on: &On<'_>, ui: &Ui, posed: &Posed, positions: &[DVec3], cx: &Cx<'_>) {
        let setup = &cx.document.pose;
        self.seen.update(on, positions, &setup.pins);
        let visible = &self.seen.visible;
        paint_pins(on, positions, &setup.pins, self.hand.selected, |k| visible.get(k).copied().unwrap_or(true));
        if let Some((_, goal)) = self.hand.goal()
            && let Some(at) = on.canvas.view.project(goal)
        {
            on.canvas.painter.circle_stroke(at, 3.5, Stroke::new(1.5, RIM));
        }
        self.strokes.paint(on, posed, positions, self.tool, &setup.pins);
        if self.tool == Tool::Landmark {
            paint_landmarks(on, positions, setup.landmarks.get(&cx.document.character.asset).map_or(&[], Vec::as_slice));
        }
        if !self.hand.holds() && !self.strokes.draws() {
            hover(on, ui, positions, &setup.pins, self.tool);
        }
    }
}

/// The pins with the lines to their goals.
pub(super) fn paint_pins(on: &On<'_>, positions: &[DVec3], pins: &[PinMark], selected: Option<usize>, visible: impl Fn(usize) -> bool) {
    let painter = &on.canvas.painter;
    for (k, mark) in pins.iter().enumerate() {
        let Some(at) = mark.place(positions).and_then(|place| on.canvas.view.project(place)) else { continue };
        let strength = if visible(k) { 1.0 } else { 0.3 };
        let color = if mark.held { HELD } else { FREE }.gamma_multiply(strength);
        let goal = mark.goal().and_then(|goal| on.canvas.view.project(goal)).filter(|goal| goal.distance(at) > SAME_PLACE);
        if let Some(goal) = goal {
            painter.add(Shape::dashed_line(&[at, goal], Stroke::new(2.0, color), 5.0, 3.0));
            painter.circle_stroke(goal, 4.5, Stroke::new(2.0, color));
        }
        paint_pin(painter, at, 1.0, mark.held, strength);
        if selected == Some(k) {
            painter.circle_stroke(at, 10.5, Stroke::new(2.0, color));
        }
    }
}

/// One pin: a disc, or a diamond for one that holds.
pub(super) fn paint_pin(painter: &Painter, at: Pos2, scale: f32, held: bool, strength: f32) {
    let rim = Stroke::new(1.5, RIM.gamma_multiply(strength));
    if held {
        painter.add(diamond(at, 7.0 * scale, HELD.gamma_multiply(strength), rim));
    } else {
        painter.circle(at, 5.5 * scale, FREE.gamma_multiply(strength), rim);
    }
}

fn diamond(at: Pos2, half: f32, color: Color32, rim: Stroke) -> Shape {
    let corners = [vec2(0.0, -half), vec2(half, 0.0), vec2(0.0, half), vec2(-half, 0.0)].map(|offset| at + offset);
    Shape::convex_polygon(corners.to_vec(), color, rim)
}

fn paint_landmarks(on: &On<'_>, positions: &[DVec3], landmarks: &[u32]) {
    for (k, &vertex) in landmarks.iter().enumerate() {
        let Some(at) = positions.get(vertex as usize).and_then(|place| on.canvas.view.project(*place)) else { continue };
        on.canvas.painter.circle(at, 8.0, LANDMARK, Stroke::new(1.5, RIM));
        on.canvas.painter.text(at, Align2::CENTER_CENTER, k + 1, FontId::proportional(11.0), RIM);
    }
}

/// Shows what a press would take.
fn hover(on: &On<'_>, ui: &Ui, positions: &[DVec3], pins: &[PinMark], tool: Tool) {
    let Some(pointer) = on.canvas.response.hover_pos() else { return };
    let painter = &on.canvas.painter;
    if let Some(pin) = pin_under(pointer, on, positions, pins).filter(|_| tool != Tool::Landmark) {
        ui.ctx().set_cursor_icon(CursorIcon::Grab);
        if let Some(at) = pins[pin].place(positions).and_then(|place| on.canvas.view.project(place)) {
            painter.circle_stroke(at, 8.5, Stroke::new(2.0, RIM));
        }
        return;
    }
    let Some(hit) = on.pick(pointer) else { return };
    ui.ctx().set_cursor_icon(CursorIcon::Crosshair);
    let place = positions.get(hit.vertex as usize).copied().filter(|_| matches!(tool, Tool::Pin | Tool::Landmark));
    if let Some(at) = place.and_then(|place| on.canvas.view.project(place)) {
        painter.circle_stroke(at, 4.0, Stroke::new(1.5, RIM));
    }
}
