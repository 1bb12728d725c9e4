//! Pins, goals and lines over the picture.

use std::sync::Arc;

use eframe::egui::{Align2, Color32, CursorIcon, FontId, Painter, Pos2, Shape, Stroke, Ui, vec2};
use pliant::mesh::glam::DVec3;

use super::pin_tool::pin_under;
use super::{PoseRoom, Tool};
use crate::engine::character::PosedCharacter;
use crate::engine::context::Cx;
use crate::engine::work::{Inbox, Latest, Outbox, Wake};
use crate::model::pose::PinMark;
use crate::rooms::PaneCanvas;
use crate::view::{Model, Scene, View};

/// A free pin.
pub(super) const FREE: Color32 = Color32::from_rgb(255, 122, 48);
/// A pin that holds.
pub(super) const HELD: Color32 = Color32::from_rgb(64, 140, 255);
/// Lines that are drawn.
pub(super) const INK: Color32 = Color32::from_rgb(240, 64, 120);
/// Landmarks.
pub(super) const LANDMARK: Color32 = Color32::from_rgb(46, 160, 110);
/// The outline of all marks, visible on any colour.
const RIM: Color32 = Color32::WHITE;
/// A goal nearer than this on the screen is where the pin is.
const SAME_PLACE: f32 = 4.0;

/// The pins that are not hidden by the face. A worker casts the rays, because they take long on a
/// large face.
#[derive(Default)]
pub(super) struct VisiblePins {
    worker: Option<Latest<PinVisibility, Vec<bool>>>,
    requested: Option<PinVisibility>,
    visible: Vec<bool>,
}

/// Places on a face, looked at from somewhere.
#[derive(Clone)]
struct PinVisibility {
    scene: Scene,
    view: View,
    places: Vec<Option<DVec3>>,
}

impl PartialEq for PinVisibility {
    fn eq(&self, other: &Self) -> bool {
        let same = |(a, b): (&Model, &Model)| {
            Arc::ptr_eq(&a.vertices, &b.vertices) && Arc::ptr_eq(&a.surface, &b.surface)
        };
        let own = &self.scene.models;
        let others = &other.scene.models;
        self.view == other.view
            && self.places == other.places
            && own.len() == others.len()
            && own.iter().zip(others).all(same)
    }
}

impl VisiblePins {
    /// Whether a result is pending.
    pub(super) fn busy(&self) -> bool {
        self.worker.as_ref().is_some_and(Latest::busy)
    }

    /// Fetches the result.
    pub(super) fn fetch(&mut self) {
        // Without a result all pins are shown; a failure needs no notice.
        if let Some(Ok(visible)) = self.worker.as_ref().and_then(Latest::result) {
            self.visible = visible;
        }
    }

    fn update(&mut self, on: &PaneCanvas<'_>, positions: &[DVec3], pins: &[PinMark], wake: &Wake) {
        let places = pins.iter().map(|mark| mark.place(positions)).collect();
        let looked = PinVisibility {
            scene: on.scene.clone(),
            view: on.canvas.view,
            places,
        };

        if self.requested.as_ref() != Some(&looked) {
            // Without pins there is nothing to cast rays for.
            if !pins.is_empty() {
                self.worker
                    .get_or_insert_with(|| Latest::new("Looking at pins", wake.clone(), look))
                    .send(looked.clone());
            }
            self.requested = Some(looked);
        }
    }
}

fn look(inbox: &Inbox<PinVisibility>, outbox: &Outbox<Vec<bool>>) {
    while let Some(looked) = inbox.next() {
        outbox.put(Ok(looked
            .places
            .iter()
            .map(|place| place.is_some_and(|place| looked.sees(place)))
            .collect()));
    }
}

impl PinVisibility {
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
        on: &PaneCanvas<'_>,
        ui: &Ui,
        posed: &PosedCharacter,
        positions: &[DVec3],
        cx: &Cx<'_>,
    ) {
        let setup = &cx.document.pose;
        self.seen.update(on, positions, &setup.pins, cx.wake);
        // Until the worker is done, pins are drawn as visible.
        let visible = &self.seen.visible;
        paint_pins(on, positions, &setup.pins, self.pin_tool.selected, |k| {
            visible.get(k).copied().unwrap_or(true)
        });

        // The goal of the dragged pin.
        if let Some((_, goal)) = self.pin_tool.goal()
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

        if !self.pin_tool.holds() && !self.strokes.draws() {
            hover(on, ui, positions, &setup.pins, self.tool);
        }
    }
}

/// The pins with the lines to their goals.
pub(super) fn paint_pins(
    on: &PaneCanvas<'_>,
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
        // A dashed line shows what the drag did not reach.
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

fn paint_landmarks(on: &PaneCanvas<'_>, positions: &[DVec3], landmarks: &[u32]) {
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

/// Shows the object that a press would select.
fn hover(on: &PaneCanvas<'_>, ui: &Ui, positions: &[DVec3], pins: &[PinMark], tool: Tool) {
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
    // Strokes start anywhere; pins and landmarks snap to a vertex.
    let place = positions
        .get(hit.vertex.index())
        .copied()
        .filter(|_| matches!(tool, Tool::Pin | Tool::Landmark));

    if let Some(at) = place.and_then(|place| on.canvas.view.project(place)) {
        painter.circle_stroke(at, 4.0, Stroke::new(1.5, RIM));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::camera::Camera;
    use eframe::egui::Rect;
    use pliant::mesh::shapes::icosphere;

    #[test]
    fn points_behind_a_sphere_are_hidden_and_points_in_front_are_visible() {
        let view = View {
            camera: Camera::default(),
            rect: Rect::from_min_size(Pos2::ZERO, vec2(400.0, 300.0)),
        };
        let back = view.camera.axes().back;
        let scene = Scene::of(Model::of(&icosphere(4)));

        let looked = PinVisibility {
            scene,
            view,
            places: [back, -back]
                .map(|place| Some(view.camera.target + place))
                .to_vec(),
        };

        let sees = |k: usize| looked.places[k].is_some_and(|place| looked.sees(place));
        assert!(sees(0) && !sees(1));

        // The same positions in another allocation count as new ones.
        let mut turned = looked.clone();
        turned.scene.models[0].vertices = Arc::new((*turned.scene.models[0].vertices).clone());
        assert!(
            looked == looked.clone() && looked != turned,
            "other positions are looked at anew"
        );
    }
}
