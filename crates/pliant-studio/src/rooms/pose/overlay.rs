//! Pins, goals and lines over the picture.

use std::sync::Arc;

use eframe::egui::{Align2, Color32, CursorIcon, FontId, Painter, Pos2, Shape, Stroke, Ui, vec2};
use pliant::mesh::glam::DVec3;

use super::hand::pin_under;
use super::marks::PinMark;
use super::{PoseRoom, Tool};
use crate::character::Posed;
use crate::rooms::{Cx, On};
use crate::view::{Model, Scene, View};
use crate::work::{Inbox, Latest, Outbox, Wake};

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

/// Which pins are not behind the face. Rays through a big face take their time, so they are cast
/// beside the window.
#[derive(Default)]
pub(super) struct Seen {
    worker: Option<Latest<Looked, Vec<bool>>>,
    asked: Option<Looked>,
    visible: Vec<bool>,
}

/// Places on a face, looked at from somewhere.
#[derive(Clone)]
struct Looked {
    scene: Scene,
    view: View,
    places: Vec<Option<DVec3>>,
}

impl PartialEq for Looked {
    fn eq(&self, other: &Self) -> bool {
        let same = |(a, b): (&Model, &Model)| {
            Arc::ptr_eq(&a.vertices, &b.vertices) && Arc::ptr_eq(&a.surface, &b.surface)
        };
        let (own, others) = (&self.scene.models, &other.scene.models);
        self.view == other.view
            && self.places == other.places
            && own.len() == others.len()
            && own.iter().zip(others).all(same)
    }
}

impl Seen {
    /// Whether an answer is still to come.
    pub(super) fn busy(&self) -> bool {
        self.worker.as_ref().is_some_and(Latest::busy)
    }

    /// Fetches the answer.
    pub(super) fn fetch(&mut self) {
        // Without one pins are shown as seen: nothing to tell.
        if let Some(Ok(visible)) = self.worker.as_ref().and_then(Latest::answer) {
            self.visible = visible;
        }
    }

    fn update(&mut self, on: &On<'_>, positions: &[DVec3], pins: &[PinMark], wake: &Wake) {
        let places = pins.iter().map(|mark| mark.place(positions)).collect();
        let looked = Looked {
            scene: on.scene.clone(),
            view: on.canvas.view,
            places,
        };
        if self.asked.as_ref() != Some(&looked) {
            if !pins.is_empty() {
                self.worker
                    .get_or_insert_with(|| Latest::new("Looking at pins", wake.clone(), look))
                    .ask(looked.clone());
            }
            self.asked = Some(looked);
        }
    }
}

fn look(inbox: &Inbox<Looked>, outbox: &Outbox<Vec<bool>>) {
    while let Some(looked) = inbox.next() {
        outbox.put(Ok(looked
            .places
            .iter()
            .map(|place| place.is_some_and(|place| looked.sees(place)))
            .collect()));
    }
}

impl Looked {
    /// Whether nothing is before a place: what a ray meets there is no nearer than a few points of
    /// the screen are wide.
    fn sees(&self, place: DVec3) -> bool {
        let Some(ray) = self.view.project(place).map(|at| self.view.ray(at)) else {
            return true;
        };
        let depth = (place - ray.origin).length();
        self.scene
            .pick(&ray)
            .is_none_or(|hit| hit.distance >= depth - 8.0 * self.view.world_per_pixel(place))
    }
}

impl PoseRoom {
    /// Everything that lies over the picture.
    pub(super) fn paint_overlay(
        &mut self,
        on: &On<'_>,
        ui: &Ui,
        posed: &Posed,
        positions: &[DVec3],
        cx: &Cx<'_>,
    ) {
        let setup = &cx.document.pose;
        self.seen.update(on, positions, &setup.pins, cx.wake);
        let visible = &self.seen.visible;
        paint_pins(on, positions, &setup.pins, self.hand.selected, |k| {
            visible.get(k).copied().unwrap_or(true)
        });
        if let Some((_, goal)) = self.hand.goal()
            && let Some(at) = on.canvas.view.project(goal)
        {
            on.canvas
                .painter
                .circle_stroke(at, 3.5, Stroke::new(1.5, RIM));
        }
        self.strokes
            .paint(on, posed, positions, self.tool, &setup.pins);
        if self.tool == Tool::Landmark {
            paint_landmarks(
                on,
                positions,
                setup
                    .landmarks
                    .get(&cx.document.character.asset)
                    .map_or(&[], Vec::as_slice),
            );
        }
        if !self.hand.holds() && !self.strokes.draws() {
            hover(on, ui, positions, &setup.pins, self.tool);
        }
    }
}

/// The pins with the lines to their goals.
pub(super) fn paint_pins(
    on: &On<'_>,
    positions: &[DVec3],
    pins: &[PinMark],
    selected: Option<usize>,
    visible: impl Fn(usize) -> bool,
) {
    let painter = &on.canvas.painter;
    for (k, mark) in pins.iter().enumerate() {
        let Some(at) = mark
            .place(positions)
            .and_then(|place| on.canvas.view.project(place))
        else {
            continue;
        };
        let strength = if visible(k) { 1.0 } else { 0.3 };
        let color = if mark.held { HELD } else { FREE }.gamma_multiply(strength);
        let goal = mark
            .goal()
            .and_then(|goal| on.canvas.view.project(goal))
            .filter(|goal| goal.distance(at) > SAME_PLACE);
        if let Some(goal) = goal {
            painter.add(Shape::dashed_line(
                &[at, goal],
                Stroke::new(2.0, color),
                5.0,
                3.0,
            ));
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
    let corners = [
        vec2(0.0, -half),
        vec2(half, 0.0),
        vec2(0.0, half),
        vec2(-half, 0.0),
    ]
    .map(|offset| at + offset);
    Shape::convex_polygon(corners.to_vec(), color, rim)
}

fn paint_landmarks(on: &On<'_>, positions: &[DVec3], landmarks: &[u32]) {
    for (k, &vertex) in landmarks.iter().enumerate() {
        let Some(at) = positions
            .get(vertex as usize)
            .and_then(|place| on.canvas.view.project(*place))
        else {
            continue;
        };
        on.canvas
            .painter
            .circle(at, 8.0, LANDMARK, Stroke::new(1.5, RIM));
        on.canvas.painter.text(
            at,
            Align2::CENTER_CENTER,
            k + 1,
            FontId::proportional(11.0),
            RIM,
        );
    }
}

/// Shows what a press would take.
fn hover(on: &On<'_>, ui: &Ui, positions: &[DVec3], pins: &[PinMark], tool: Tool) {
    let Some(pointer) = on.canvas.response.hover_pos() else {
        return;
    };
    let painter = &on.canvas.painter;
    if let Some(pin) = pin_under(pointer, on, positions, pins).filter(|_| tool != Tool::Landmark) {
        ui.ctx().set_cursor_icon(CursorIcon::Grab);
        if let Some(at) = pins[pin]
            .place(positions)
            .and_then(|place| on.canvas.view.project(place))
        {
            painter.circle_stroke(at, 8.5, Stroke::new(2.0, RIM));
        }
        return;
    }
    let Some(hit) = on.pick(pointer) else { return };
    ui.ctx().set_cursor_icon(CursorIcon::Crosshair);
    let place = positions
        .get(hit.vertex as usize)
        .copied()
        .filter(|_| matches!(tool, Tool::Pin | Tool::Landmark));
    if let Some(at) = place.and_then(|place| on.canvas.view.project(place)) {
        painter.circle_stroke(at, 4.0, Stroke::new(1.5, RIM));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Camera;
    use eframe::egui::Rect;
    use pliant::mesh::shapes::icosphere;

    #[test]
    fn what_is_behind_a_ball_is_not_seen_and_what_is_before_it_is() {
        let view = View {
            camera: Camera::default(),
            rect: Rect::from_min_size(Pos2::ZERO, vec2(400.0, 300.0)),
        };
        let back = view.camera.axes().back;
        let scene = Scene::of(Model::of(&icosphere(4)));
        let looked = Looked {
            scene,
            view,
            places: [back, -back]
                .map(|place| Some(view.camera.target + place))
                .to_vec(),
        };
        let sees = |k: usize| looked.places[k].is_some_and(|place| looked.sees(place));
        assert!(sees(0) && !sees(1));
        let mut turned = looked.clone();
        turned.scene.models[0].vertices = Arc::new((*turned.scene.models[0].vertices).clone());
        assert!(
            looked == looked.clone() && looked != turned,
            "other positions are looked at anew"
        );
    }
}
