//! Camera control: mouse buttons that orbit, pan and zoom, and keys for the standard views.
//!
//! | | |
//! |---|---|
//! | orbit | middle drag, right drag, Alt + left drag |
//! | pan | Shift or Alt + middle drag, Shift + right drag |
//! | zoom | wheel, pinch, Alt + right drag, Ctrl + middle drag |
//! | standard views | 1 front, 2 three-quarter, 3 right, 7 top; with Alt from the opposite side |
//! | perspective | 5 |
//!
//! These are the habits of Blender and of Maya, which do not contradict each other. With a touch pad
//! ([`PointerDevice::TouchPad`]) two fingers orbit, with Shift they pan, and a pinch or Ctrl zooms.
//!
//! **Implementation.** The left button alone belongs to the tool. The start of a drag decides what
//! it does: releasing Alt half-way does not pass the drag to the tool.

use eframe::egui::{Context, CursorIcon, Id, Key, Modifiers, PointerButton, Pos2, Response, Vec2};
use pliant::mesh::glam::DVec3;

use super::screen::View;
use crate::engine::storage::preferences::PointerDevice;
use crate::model::camera::{Camera, Side};

/// Effect of a drag on the camera.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gesture {
    /// Orbits the target.
    Orbit,
    /// Pans.
    Pan,
    /// Zooms.
    Dolly,
}

/// Radians per point of a drag: half a turn in the user's width.
const ORBIT_RAD_PER_POINT: f64 = 0.008;
/// Growth of the picture per point of a drag or of the wheel.
const DOLLY_PER_POINT: f64 = 0.006;
const WHEEL_PER_POINT: f64 = 0.0028;
/// The strongest zoom of one event.
const STRONGEST_ZOOM: f64 = 4.0;

impl Gesture {
    /// What a button does; `None` is the tool's.
    #[must_use]
    pub fn of(button: PointerButton, modifiers: Modifiers) -> Option<Self> {
        match button {
            PointerButton::Primary => modifiers.alt.then_some(Self::Orbit),
            PointerButton::Middle if modifiers.shift || modifiers.alt => Some(Self::Pan),
            PointerButton::Middle if modifiers.command => Some(Self::Dolly),
            PointerButton::Secondary if modifiers.alt => Some(Self::Dolly),
            PointerButton::Secondary if modifiers.shift => Some(Self::Pan),
            PointerButton::Middle | PointerButton::Secondary => Some(Self::Orbit),
            PointerButton::Extra1 | PointerButton::Extra2 => None,
        }
    }

    /// The camera after a drag by so many points.
    #[must_use]
    pub fn apply(self, view: &View, drag: Vec2) -> Camera {
        let [x, y] = [drag.x, drag.y].map(f64::from);
        match self {
            Self::Orbit => {
                let mut camera = view.camera;
                camera.orbit(-x * ORBIT_RAD_PER_POINT, y * ORBIT_RAD_PER_POINT);
                camera
            }
            Self::Pan => view.panned(drag),
            Self::Dolly => {
                view.zoom_to_cursor(view.rect.center(), ((y - x) * DOLLY_PER_POINT).exp())
            }
        }
    }

    fn cursor(self) -> CursorIcon {
        match self {
            Self::Orbit => CursorIcon::AllScroll,
            Self::Pan => CursorIcon::Grabbing,
            Self::Dolly => CursorIcon::ResizeVertical,
        }
    }
}

/// The device whose scrolling moves the camera of this window.
pub fn set_pointer_device(ctx: &Context, device: PointerDevice) {
    ctx.data_mut(|data| data.insert_temp(device_id(), device));
}

fn device_id() -> Id {
    Id::unique("pliant pointer device")
}

/// Moves the camera by what the user does over the viewport; returns whether a drag is the
/// camera's.
///
/// `pivot` gives the place in the scene that a wheel nears, from the one under the cursor; it is
/// asked only then.
pub(super) fn navigate(
    view: &View,
    response: &Response,
    camera: &mut Camera,
    pivot: impl FnOnce(Pos2) -> Option<DVec3>,
) -> bool {
    let gesture = current_gesture(response);
    if let Some(gesture) = gesture {
        *camera = gesture.apply(view, response.drag_delta());
        response.ctx.set_cursor_icon(gesture.cursor());
    }

    // Keys and the wheel belong to the viewport under the pointer.
    if response.contains_pointer() {
        let device = response
            .ctx
            .data(|data| data.get_temp::<PointerDevice>(device_id()));
        if device == Some(PointerDevice::TouchPad) && orbit_by_fingers(view, response, camera) {
            return gesture.is_some();
        }
        zoom_by_wheel(view, response, camera, pivot);
        look_by_keys(&response.ctx, camera);
    }

    gesture.is_some()
}

/// The gesture of the drag that is in progress.
fn current_gesture(response: &Response) -> Option<Gesture> {
    let ctx = &response.ctx;
    let id = gesture_id(response.id);
    if response.drag_started() {
        let buttons = [
            PointerButton::Primary,
            PointerButton::Middle,
            PointerButton::Secondary,
        ];
        let modifiers = ctx.input(|input| input.modifiers);

        let button = buttons
            .into_iter()
            .find(|&button| response.drag_started_by(button));
        let gesture = button.and_then(|button| Gesture::of(button, modifiers));

        ctx.data_mut(|data| data.insert_temp(id, gesture));
    }

    let started = ctx
        .data(|data| data.get_temp::<Option<Gesture>>(id))
        .flatten();

    if !response.dragged() {
        ctx.data_mut(|data| data.remove::<Option<Gesture>>(id));
    }

    // The frame in which the button comes up still belongs to the gesture.
    started.filter(|_| response.dragged() || response.drag_stopped())
}

fn gesture_id(viewport: Id) -> Id {
    viewport.with("gesture")
}

/// Two fingers orbit, and pan with Shift; returns whether they moved the camera. Ctrl and a pinch
/// are left to the zoom.
fn orbit_by_fingers(view: &View, response: &Response, camera: &mut Camera) -> bool {
    let (way, shift, zooms) = response.ctx.input(|input| {
        let zooms = input.modifiers.command || input.zoom_delta() != 1.0;
        (input.smooth_scroll_delta, input.modifiers.shift, zooms)
    });
    if zooms || way == Vec2::ZERO {
        return false;
    }

    response
        .ctx
        .input_mut(|input| input.smooth_scroll_delta = Vec2::ZERO);
    let gesture = if shift { Gesture::Pan } else { Gesture::Orbit };
    let view = View {
        camera: *camera,
        ..*view
    };
    *camera = gesture.apply(&view, way);
    true
}

fn zoom_by_wheel(
    view: &View,
    response: &Response,
    camera: &mut Camera,
    pivot: impl FnOnce(Pos2) -> Option<DVec3>,
) {
    let Some(cursor) = response.hover_pos() else {
        return;
    };

    let (scroll, pinch) = response.ctx.input_mut(|input| {
        // The event is consumed, so that a surrounding list does not scroll.
        let scroll = std::mem::take(&mut input.smooth_scroll_delta);
        (f64::from(scroll.y), f64::from(input.zoom_delta()))
    });

    if scroll == 0.0 && pinch == 1.0 {
        return;
    }

    let factor =
        ((-scroll * WHEEL_PER_POINT).exp() / pinch).clamp(1.0 / STRONGEST_ZOOM, STRONGEST_ZOOM);
    let view = View {
        camera: *camera,
        ..*view
    };

    camera.zoom_about(
        pivot(cursor).unwrap_or_else(|| view.at_target_depth(cursor)),
        factor,
    );
}

fn look_by_keys(ctx: &Context, camera: &mut Camera) {
    // During a drag, digits are its length.
    if ctx.text_edit_focused() || ctx.input(|input| input.pointer.any_down()) {
        return;
    }

    for (modifiers, from_left) in [(Modifiers::ALT, false), (Modifiers::NONE, true)] {
        if ctx.input_mut(|input| input.consume_key(modifiers, Key::Num2)) {
            camera.look_three_quarter(from_left);
        }
    }

    // Those with Alt first: a key without takes them, too.
    for side in [
        Side::Back,
        Side::Left,
        Side::Bottom,
        Side::Front,
        Side::Right,
        Side::Top,
    ] {
        let (key, modifiers) = key_of(side);
        if ctx.input_mut(|input| input.consume_key(modifiers, key)) {
            camera.look_from(side);
        }
    }

    if ctx.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Num5)) {
        camera.toggle_projection();
    }
}

fn key_of(side: Side) -> (Key, Modifiers) {
    match side {
        Side::Front => (Key::Num1, Modifiers::NONE),
        Side::Back => (Key::Num1, Modifiers::ALT),
        Side::Right => (Key::Num3, Modifiers::NONE),
        Side::Left => (Key::Num3, Modifiers::ALT),
        Side::Top => (Key::Num7, Modifiers::NONE),
        Side::Bottom => (Key::Num7, Modifiers::ALT),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eframe::egui::{Rect, pos2, vec2};

    #[test]
    fn the_left_button_alone_belongs_to_the_tool() {
        assert_eq!(Gesture::of(PointerButton::Primary, Modifiers::NONE), None);
        assert_eq!(Gesture::of(PointerButton::Primary, Modifiers::SHIFT), None);
        assert_eq!(
            Gesture::of(PointerButton::Primary, Modifiers::COMMAND),
            None
        );

        assert_eq!(
            Gesture::of(PointerButton::Primary, Modifiers::ALT),
            Some(Gesture::Orbit)
        );
    }

    #[test]
    fn other_buttons_orbit_pan_and_zoom() {
        for (button, modifiers, expected) in [
            (PointerButton::Middle, Modifiers::NONE, Gesture::Orbit),
            (PointerButton::Middle, Modifiers::SHIFT, Gesture::Pan),
            (PointerButton::Middle, Modifiers::ALT, Gesture::Pan),
            (PointerButton::Secondary, Modifiers::NONE, Gesture::Orbit),
            (PointerButton::Secondary, Modifiers::SHIFT, Gesture::Pan),
            (PointerButton::Secondary, Modifiers::ALT, Gesture::Dolly),
        ] {
            assert_eq!(
                Gesture::of(button, modifiers),
                Some(expected),
                "{button:?} {modifiers:?}"
            );
        }
    }

    #[test]
    fn dragging_rotates_the_near_side_with_the_pointer() {
        let view = View {
            camera: Camera::default(),
            rect: Rect::from_min_size(pos2(0.0, 0.0), vec2(400.0, 300.0)),
        };
        // A point between the camera and the target.
        let near_side = view.camera.target + view.camera.axes().back;
        let turned = View {
            camera: Gesture::Orbit.apply(&view, vec2(20.0, 10.0)),
            ..view
        };

        let before = view.project(near_side).unwrap();
        let after = turned.project(near_side).unwrap();

        assert!(
            after.x > before.x && after.y > before.y,
            "{before:?} {after:?}"
        );

        assert!(
            Gesture::Dolly.apply(&view, vec2(20.0, 0.0)).distance < view.camera.distance,
            "to the right is nearer"
        );
    }
}
