//! The press tool: a collider that follows the skin under the pointer and sinks into it.
//!
//! **Implementation.** A plain drag keeps the collider on the undeformed skin, because on the
//! deformed skin it would sink without end. It sinks in during a short time. Beside the face it
//! moves in the view plane. With modifier keys it moves freely, in the directions that all rooms
//! share.

use eframe::egui::{Color32, CursorIcon, Modifiers, Pos2, Stroke, Ui, Vec2};
use pliant::mesh::glam::DVec3;

use super::pointer::{self, Skin, SkinPoint};
use crate::engine::character::PosedCharacter;
use crate::engine::context::Cx;
use crate::model::touch::{ColliderSetup, RecordedPress, leave_baked};
use crate::rooms::PaneCanvas;
use crate::view::{DragDirection, DragPlane, Ray, View};

/// Depth per point of the wheel, in radii. Chosen: a notch is about an eighth.
const WHEEL: f64 = 0.0025;
/// How long a collider takes to sink by its radius. Chosen: a finger that presses without haste.
const SINK_SECS: f64 = 0.3;

/// Frames of the window further apart than this were a fault of the window, not of the user.
const LONGEST_GAP_SECS: f64 = 1.0 / 15.0;
/// A pointer that rests is remembered for so long.
const LONGEST_REST_SECS: f64 = 0.5;

/// The press tool.
#[derive(Debug, Default)]
pub(super) struct PressTool {
    drag: Option<PressDrag>,
    /// The wheel since the last frame: while the user has something, it pushes.
    wheel: f64,
}

impl PressTool {
    /// Whether the user has the collider.
    pub(super) fn holds(&self) -> bool {
        self.drag.is_some()
    }

    /// Takes the wheel before the camera does.
    pub(super) fn take_wheel(&mut self, ui: &Ui) {
        if self.holds() {
            self.wheel += f64::from(
                ui.input_mut(|input| std::mem::take(&mut input.smooth_scroll_delta))
                    .y,
            );
        }
    }

    /// Moves the collider; returns whether the button is in use.
    pub(super) fn canvas_ui(
        &mut self,
        on: &PaneCanvas<'_>,
        posed: &PosedCharacter,
        ui: &Ui,
        cx: &mut Cx<'_>,
    ) -> bool {
        let skin = Skin::of(posed);
        if let Some(place) = pointer::pressed(on, ui) {
            self.take(place, on, &skin, posed, cx);
        }

        self.drag.take_if(|_| !pointer::holds(ui));
        let Some(drag) = &mut self.drag else {
            hover(on, ui);
            return false;
        };

        // During a press the wheel changes the depth instead of the zoom.
        let wheel = std::mem::take(&mut self.wheel);
        let now = ui.input(|input| input.time);
        let passed = drag.passed(now);

        if let Some(pointer) = on.canvas.pointer() {
            drag.follow(
                &skin,
                &on.canvas.view,
                pointer,
                ui.input(|input| input.modifiers),
                wheel,
                passed,
            );
        }

        drag.record(passed);
        // The collider sinks in over several frames, even if the pointer rests.
        if drag.sinks() {
            ui.ctx().request_repaint();
        }

        let place = drag.place;
        let gesture = drag.gesture;
        let depth = drag.chosen_depth();
        ui.ctx().set_cursor_icon(CursorIcon::Grabbing);
        cx.edit_in_gesture(gesture, "Press", move |document| {
            let solid = &mut document.touch.solid;
            solid.place = Some(place.to_array());
            solid.depth = depth.unwrap_or(solid.depth);
        });

        if ui.input(|input| input.pointer.primary_released()) {
            self.release(cx);
        }
        true
    }

    /// Takes the collider where it is, or puts it against the skin that was pressed.
    fn take(
        &mut self,
        place: Pos2,
        on: &PaneCanvas<'_>,
        skin: &Skin,
        posed: &PosedCharacter,
        cx: &mut Cx<'_>,
    ) {
        let setup = &cx.document.touch;
        let radius = setup.solid_radius(posed);
        // A press on the collider takes it where it is.
        let of_solid = on.pick(place).filter(|hit| hit.model != pointer::FACE);
        let view = &on.canvas.view;
        let (solid, middle, normal) = match (
            of_solid.and_then(|_| setup.solid_at(posed)),
            skin.at(&view.ray(place)),
        ) {
            (Some((solid, middle)), _) => {
                let normal = solid.axis();
                (solid, middle, normal)
            }
            (None, Some(point)) => {
                let solid = ColliderSetup {
                    from: None,
                    ..setup.solid.turned(point.normal)
                };
                let middle = solid.against(radius, point.place, point.normal, 0.0);
                (solid, middle, point.normal)
            }
            (None, None) => return,
        };

        let from = solid.from.unwrap_or(middle.to_array());
        // During playback the press belongs to the current frame.
        let start_frame = if cx.clock.playing {
            cx.clock.frame
        } else {
            0.0
        };

        let mut drag = PressDrag::new(
            cx.gesture,
            solid.clone(),
            radius,
            middle,
            normal,
            place,
            start_frame,
        );

        drag.settle(skin, view, place);
        drag.wanted_depth = drag.depth.max(radius * solid.depth);
        self.drag = Some(drag);
        cx.edit_continuously("Press", move |document| {
            leave_baked(document);
            document.touch.solid = ColliderSetup {
                place: Some(middle.to_array()),
                from: Some(from),
                ..solid
            };
        });
    }

    /// The collider stays or goes back, and its way is remembered.
    fn release(&mut self, cx: &mut Cx<'_>) {
        let Some(drag) = self.drag.take() else { return };
        let Some(recorded) = RecordedPress::of(drag.start_frame, &drag.seen) else {
            return;
        };

        cx.edit_in_gesture(drag.gesture, "Press", move |document| {
            let touch = &mut document.touch;
            touch.recorded = Some(recorded);
            // The collider returns to where it was taken.
            if !touch.stays {
                touch.solid.place = touch.solid.from;
            }
        });
    }

    /// A line from where the collider was taken to where it is.
    pub(super) fn paint(&self, on: &PaneCanvas<'_>) {
        let Some(drag) = &self.drag else { return };
        let view = &on.canvas.view;
        if let (Some(from), Some(to)) = (view.project(drag.start), view.project(drag.place)) {
            on.canvas.painter.line_segment(
                [from, to],
                Stroke::new(1.0, Color32::WHITE.gamma_multiply(0.6)),
            );
        }
    }
}

#[derive(Debug)]
struct PressDrag {
    gesture: u64,
    solid: ColliderSetup,
    radius: f64,
    /// Where it was taken, and where it is.
    start: DVec3,
    place: DVec3,
    /// On the skin: its depth and goal depth, the offset of the skin under it from the pointer, and
    /// its distance beside that skin.
    depth: f64,
    wanted_depth: f64,
    off_pointer: Vec2,
    off_skin: DVec3,
    /// The skin's normal under it.
    normal: DVec3,
    /// Where the pointer was last.
    pointer: Pos2,
    /// Freely, while keys are held.
    free: Option<DragPlane>,
    wheeled: bool,
    start_frame: f64,
    seen: Vec<(f64, DVec3)>,
    /// The time of the last frame, and how long the user has rested.
    last_time: f64,
    rested_secs: f64,
}

impl PressDrag {
    fn new(
        gesture: u64,
        solid: ColliderSetup,
        radius: f64,
        middle: DVec3,
        normal: DVec3,
        pointer: Pos2,
        start_frame: f64,
    ) -> Self {
        Self {
            gesture,
            solid,
            radius,
            start: middle,
            place: middle,
            depth: 0.0,
            wanted_depth: 0.0,
            off_pointer: Vec2::ZERO,
            off_skin: DVec3::ZERO,
            normal,
            pointer,
            free: None,
            wheeled: false,
            start_frame,
            seen: Vec::new(),
            last_time: f64::NAN,
            rested_secs: 0.0,
        }
    }

    /// The time since the last frame, as far as it counts.
    fn passed(&mut self, now: f64) -> f64 {
        let passed = now - std::mem::replace(&mut self.last_time, now);
        if passed.is_nan() {
            0.0
        } else {
            passed.clamp(0.0, LONGEST_GAP_SECS)
        }
    }

    /// Remembers where the collider is. A window that hangs and A pointer that rests for long are
    /// no part of the way.
    fn record(&mut self, passed: f64) {
        let Some(&(time, place)) = self.seen.last() else {
            self.seen.push((0.0, self.place));
            return;
        };

        self.rested_secs = if place == self.place {
            self.rested_secs + passed
        } else {
            0.0
        };

        // A long rest is not recorded.
        if self.rested_secs <= LONGEST_REST_SECS {
            self.seen.push((time + passed, self.place));
        }
    }

    /// Whether it is on its way into the skin or out of it.
    fn sinks(&self) -> bool {
        self.free.is_none() && self.depth != self.wanted_depth
    }

    /// The depth that the wheel chose, in radii.
    fn chosen_depth(&self) -> Option<f64> {
        self.wheeled
            .then(|| (self.wanted_depth / self.radius).clamp(0.0, ColliderSetup::MOST_DEPTH))
    }

    /// Goes with the pointer: over the skin, or freely while keys are held; nothing jumps between
    /// them.
    fn follow(
        &mut self,
        skin: &Skin,
        view: &View,
        pointer: Pos2,
        modifiers: Modifiers,
        wheel: f64,
        passed: f64,
    ) {
        let pushed = wheel * WHEEL * self.radius;
        if DragDirection::of(modifiers) == DragDirection::Screen {
            // Modifier keys were released: continue on the skin from here.
            if self.free.take().is_some() {
                self.settle(skin, view, pointer);
            }

            self.wheeled |= wheel != 0.0;
            self.wanted_depth = (self.wanted_depth + pushed)
                .min(self.depth.max(ColliderSetup::MOST_DEPTH * self.radius));

            // The depth changes at a limited speed.
            let step = passed * self.radius / SINK_SECS;
            self.depth += (self.wanted_depth - self.depth).clamp(-step, step);
            self.over(skin, view, pointer);
        } else {
            let free = self
                .free
                .get_or_insert_with(|| DragPlane::new(self.place, self.normal, pointer));
            if wheel != 0.0 {
                free.push(view, pointer, pushed);
            }
            self.place = free.follow(view, pointer, modifiers);
        }

        self.pointer = pointer;
    }

    /// Goes over the skin under the pointer, or along the screen beside it.
    fn over(&mut self, skin: &Skin, view: &View, pointer: Pos2) {
        let place = match skin.at(&view.ray(pointer + self.off_pointer)) {
            Some(point) => {
                self.normal = point.normal;
                self.pressed_into(&point) + self.off_skin
            }
            None => view.drag_in_view_plane(self.place, self.pointer, pointer),
        };
        self.place = if place.is_finite() { place } else { self.place };
    }

    /// Where its centre is when it is as deep in the skin at a point as it should be.
    fn pressed_into(&self, point: &SkinPoint) -> DVec3 {
        self.solid.against(
            self.radius,
            point.place,
            point.normal,
            -self.depth / self.radius,
        )
    }

    /// Goes on over the skin from where it is: the skin under it is followed with the pointer.
    fn settle(&mut self, skin: &Skin, view: &View, pointer: Pos2) {
        let reach = self.solid.reach(self.radius, self.normal);
        // The ray starts well outside, because the collider may be deep in the skin.
        let down = Ray {
            origin: self.place + self.normal * (3.0 * reach),
            direction: -self.normal,
        };

        let below = skin
            .at(&down)
            .and_then(|point| Some((point, view.project(point.place)?)));
        let Some((_, at)) = below else { return };
        // The ray may meet other skin that is nearer to the camera.
        let Some(point) = skin.at(&view.ray(at)) else {
            return;
        };

        self.off_pointer = at - pointer;
        self.depth = self.solid.reach(self.radius, point.normal)
            - (self.place - point.place).dot(point.normal);
        self.wanted_depth = self.depth;
        self.off_skin = self.place - self.pressed_into(&point);
    }
}

fn hover(on: &PaneCanvas<'_>, ui: &Ui) {
    let Some(hit) = on
        .canvas
        .response
        .hover_pos()
        .and_then(|place| on.pick(place))
    else {
        return;
    };
    ui.ctx().set_cursor_icon(if hit.model == pointer::FACE {
        CursorIcon::Crosshair
    } else {
        CursorIcon::Grab
    });
}

#[cfg(test)]
#[path = "press_tests.rs"]
mod tests;
