//! Dragging of a point in the view plane or, with modifier keys, along the normal, the surface or
//! the depth.
//!
//! A number that is typed during the drag is its length: the point goes exactly so far, in units of
//! the scene, in the direction in which the pointer moved it (a negative number: backwards).
//!
//! Another key starts another direction at the current position, so that nothing jumps. All rooms
//! use this, so that keys mean the same wherever a point is dragged.

use eframe::egui::{Align2, Color32, Context, Event, FontId, Id, Key, Modifiers, Pos2, Ui, vec2};
use pliant::mesh::glam::DVec3;

use super::{Canvas, View};

/// The direction of a drag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DragDirection {
    /// In the view plane.
    #[default]
    Screen,
    /// Along the skin's normal.
    Normal,
    /// Along the skin: in the plane that touches it.
    Tangent,
    /// Away from the camera as the pointer goes up, towards it as it goes down.
    Depth,
}

impl DragDirection {
    /// The ways, in the order in which people are reported of them.
    pub const ALL: [Self; 4] = [Self::Screen, Self::Normal, Self::Tangent, Self::Depth];
    /// The keys of all directions, for tooltips.
    pub const KEYS: &'static str =
        "Ctrl: along the normal\nShift: along the skin\nCtrl and Shift: in depth";

    /// The direction that the modifier keys choose.
    #[must_use]
    pub fn of(modifiers: Modifiers) -> Self {
        match (modifiers.command, modifiers.shift) {
            (false, false) => Self::Screen,
            (true, false) => Self::Normal,
            (false, true) => Self::Tangent,
            (true, true) => Self::Depth,
        }
    }

    /// Its keys and its description.
    #[must_use]
    pub fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Screen => ("Drag", "in the view plane"),
            Self::Normal => ("Ctrl", "along the normal"),
            Self::Tangent => ("Shift", "along the skin"),
            Self::Depth => ("Ctrl Shift", "in depth"),
        }
    }
}

/// A dragged point.
#[derive(Debug, Clone, Copy)]
pub struct DragPlane {
    direction: DragDirection,
    /// Point and pointer at the start of this direction.
    start: DVec3,
    pointer: Pos2,
    /// The skin's outward normal where the point was taken.
    normal: DVec3,
    place: DVec3,
}

impl DragPlane {
    /// A normal that is seen under less than this cannot be followed by a pointer. Chosen: 20
    /// degrees, where a point of the screen is three of the normal.
    const LEAST_SINE: f64 = 0.34;

    /// Takes hold of the point at `start`.
    #[must_use]
    pub fn new(start: DVec3, normal: DVec3, pointer: Pos2) -> Self {
        Self {
            direction: DragDirection::Screen,
            start,
            pointer,
            normal,
            place: start,
        }
    }

    /// Where the point is now.
    #[must_use]
    pub fn place(&self) -> DVec3 {
        self.place
    }

    /// The current direction.
    #[must_use]
    pub fn direction(&self) -> DragDirection {
        self.direction
    }

    /// Follows the pointer in the direction that the keys choose, as far as it goes or as the typed
    /// number says, and returns the position of the point.
    pub fn follow_input(&mut self, ui: &Ui, view: &View, pointer: Pos2) -> DVec3 {
        let modifiers = ui.input(|input| input.modifiers);
        let place = self.follow(view, pointer, modifiers);
        let Some(length) = typed_length(ui.ctx()) else {
            return place;
        };

        // Without a movement of the pointer, the point leaves the skin.
        let way = (place - self.start).normalize_or(self.normal.normalize_or_zero());
        self.place = self.start + way * length;
        self.place
    }

    /// Follows the pointer in the direction that the keys choose, and returns the position of the
    /// point.
    pub fn follow(&mut self, view: &View, pointer: Pos2, modifiers: Modifiers) -> DVec3 {
        let direction = DragDirection::of(modifiers);
        if direction != self.direction {
            (self.direction, self.start, self.pointer) = (direction, self.place, pointer);
        }
        let place = self.moved(view, pointer);
        // A plane that is seen edge-on has no finite intersection.
        self.place = if place.is_finite() { place } else { self.place };
        self.place
    }

    /// Pushes the point away from the camera, as a wheel does; the drag continues from there.
    pub fn push(&mut self, view: &View, pointer: Pos2, length: f64) {
        self.place -= view.camera.axes().back * length;
        (self.start, self.pointer) = (self.place, pointer);
    }

    fn moved(&self, view: &View, to: Pos2) -> DVec3 {
        let start = self.start;
        let from = self.pointer;
        let up = f64::from(from.y - to.y) * view.world_per_pixel(start);
        match self.direction {
            DragDirection::Screen => view.drag_in_view_plane(start, from, to),
            DragDirection::Tangent => view.drag_in_plane(start, self.normal, from, to),
            DragDirection::Depth => start - view.camera.axes().back * up,
            DragDirection::Normal if self.normal_faces_camera(view) => {
                start + self.normal.normalize_or_zero() * up
            }
            DragDirection::Normal => view.drag_along(start, self.normal, from, to),
        }
    }

    /// Whether the normal is a dot on the screen, along which nothing can be pulled: then up the
    /// screen is out of the skin.
    fn normal_faces_camera(&self, view: &View) -> bool {
        let Some(at) = view.project(self.start) else {
            return true;
        };
        let sine = view
            .ray(at)
            .direction
            .cross(self.normal.normalize_or_zero())
            .length();
        sine < Self::LEAST_SINE
    }
}

/// Collects what is typed while a button of the pointer is down; once per frame, before the tools.
pub fn collect_typed_length(ctx: &Context) {
    let id = typed_id();
    // The frame in which the button comes up still belongs to the drag.
    let drags = ctx.input(|input| input.pointer.primary_down() || input.pointer.primary_released());
    if !drags || ctx.text_edit_focused() {
        ctx.data_mut(|data| data.remove::<String>(id));
        return;
    }

    let mut text = ctx
        .data(|data| data.get_temp::<String>(id))
        .unwrap_or_default();
    ctx.input(|input| {
        for event in &input.events {
            match event {
                Event::Text(typed) => {
                    text.extend(
                        typed
                            .chars()
                            .filter(|c| c.is_ascii_digit() || "-.,".contains(*c)),
                    );
                }
                Event::Key {
                    key: Key::Backspace,
                    pressed: true,
                    ..
                } => {
                    text.pop();
                }
                _ => {}
            }
        }
    });
    ctx.data_mut(|data| data.insert_temp(id, text));
}

/// The length that was typed during the drag in progress.
#[must_use]
pub fn typed_length(ctx: &Context) -> Option<f64> {
    let text = ctx.data(|data| data.get_temp::<String>(typed_id()))?;
    let length: f64 = text.replace(',', ".").parse().ok()?;
    length.is_finite().then_some(length)
}

/// Shows the typed length beside the pointer.
pub fn typed_length_ui(canvas: &Canvas) {
    let ctx = &canvas.response.ctx;
    let (Some(length), Some(pointer)) = (typed_length(ctx), canvas.pointer()) else {
        return;
    };
    if canvas.tool_dragged() {
        let font = FontId::proportional(14.0);
        let text = canvas
            .painter
            .layout_no_wrap(format!("{length}"), font, Color32::WHITE);
        let place = Align2::LEFT_BOTTOM.anchor_size(pointer + vec2(14.0, -8.0), text.size());
        canvas
            .painter
            .rect_filled(place.expand(4.0), 3.0, Color32::from_black_alpha(170));
        canvas.painter.galley(place.min, text, Color32::WHITE);
    }
}

fn typed_id() -> Id {
    Id::unique("pliant typed length")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::camera::Camera;
    use eframe::egui::{Rect, pos2, vec2};

    fn view() -> View {
        View {
            camera: Camera::default(),
            rect: Rect::from_min_size(pos2(0.0, 0.0), vec2(400.0, 300.0)),
        }
    }

    #[test]
    fn modifier_keys_choose_the_drag_direction() {
        let view = view();
        let axes = view.camera.axes();
        let normal = (axes.right + 0.5 * axes.up).normalize();
        let from = view.project(DVec3::ZERO).unwrap();
        let dragged = |modifiers| {
            let mut drag = DragPlane::new(DVec3::ZERO, normal, from);
            // The first call starts the direction at the current position.
            drag.follow(&view, from, modifiers);
            drag.follow(&view, from + vec2(30.0, -25.0), modifiers)
        };

        let screen = dragged(Modifiers::NONE);
        assert!(
            screen.dot(axes.back).abs() < 1e-9
                && screen.dot(axes.right) > 0.0
                && screen.dot(axes.up) > 0.0
        );

        let along = dragged(Modifiers::COMMAND);
        assert!(along.dot(normal) > 0.0 && along.normalize().distance(normal) < 1e-9);

        let skin = dragged(Modifiers::SHIFT);
        assert!(skin.length() > 0.0 && skin.dot(normal).abs() < 1e-9 * skin.length());

        let depth = dragged(Modifiers::COMMAND | Modifiers::SHIFT);
        assert!(
            depth.normalize().distance(-axes.back) < 1e-9,
            "up is away from the eye"
        );
    }

    #[test]
    fn for_a_normal_towards_the_eye_up_moves_out_of_the_skin() {
        let view = view();
        let from = view.project(DVec3::ZERO).unwrap();
        let normal = -view.ray(from).direction;
        let mut drag = DragPlane::new(DVec3::ZERO, normal, from);

        drag.follow(&view, from, Modifiers::COMMAND);
        let out = drag.follow(&view, from - vec2(0.0, 20.0), Modifiers::COMMAND);
        let wanted = normal * (20.0 * view.world_per_pixel(DVec3::ZERO));

        assert!(
            out.distance(wanted) < 1e-9 * wanted.length(),
            "{out} {wanted}"
        );
    }

    #[test]
    fn a_modifier_key_alone_does_not_move_the_point() {
        let view = view();
        let from = pos2(200.0, 150.0);
        let to = pos2(230.0, 110.0);
        let mut drag = DragPlane::new(DVec3::ZERO, DVec3::X, from);
        let first = drag.follow(&view, to, Modifiers::NONE);

        for modifiers in [
            Modifiers::SHIFT,
            Modifiers::COMMAND,
            Modifiers::COMMAND | Modifiers::SHIFT,
            Modifiers::NONE,
        ] {
            assert!(
                drag.follow(&view, to, modifiers).distance(first) < 1e-12,
                "{modifiers:?}"
            );
        }

        // The wheel pushes along the view direction, and the point stays under the pointer.
        drag.push(&view, to, 0.25);
        let pushed = drag.place();
        assert!((pushed - first).distance(view.camera.axes().back * -0.25) < 1e-12);
        assert!(drag.follow(&view, to, Modifiers::NONE).distance(pushed) < 1e-12);
    }
}
