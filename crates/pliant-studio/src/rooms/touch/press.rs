//! The press: a solid in the hand, in the plane of the screen, into its depth, or along the skin's normal.

use eframe::egui::{Color32, CursorIcon, Modifiers, Pos2, Stroke, Ui};
use pliant::mesh::glam::DVec3;

use super::pointer;
use super::setup::{Recorded, leave_baked};
use super::solid::Solid;
use crate::character::Posed;
use crate::rooms::{Cx, On};
use crate::view::View;

/// Depth per point of the wheel, in what a point shows there.
const WHEEL: f64 = 0.5;

/// Frames of the window further apart than this were a fault of the window, not of the hand.
const LONGEST_GAP_SECS: f64 = 1.0 / 15.0;
/// A hand that rests is remembered for so long.
const LONGEST_REST_SECS: f64 = 0.5;

/// The hand with the solid.
#[derive(Debug, Default)]
pub(super) struct Press {
    grip: Option<Grip>,
    /// The wheel since the last frame: while the hand has something, it pushes.
    wheel: f64,
}

#[derive(Debug)]
struct Grip {
    gesture: u64,
    way: Way,
    /// Where solid and pointer were when this way was taken.
    start: DVec3,
    pointer: Pos2,
    /// The skin's normal where it was pressed.
    normal: DVec3,
    /// The solid's place, and when it was where.
    place: DVec3,
    start_frame: f64,
    seen: Vec<(f64, DVec3)>,
    /// The time of the last frame, and how long the hand has rested.
    last_time: f64,
    rested_secs: f64,
}

/// Where the hand takes the solid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// Along the screen.
    Plane,
    /// Away from the eye as the pointer goes up.
    Depth,
    /// Into the skin as the pointer goes up.
    Normal,
}

impl Way {
    /// The way that the keys choose.
    pub(super) fn of(modifiers: Modifiers) -> Self {
        match (modifiers.command, modifiers.shift) {
            (_, true) => Self::Normal,
            (true, false) => Self::Depth,
            (false, false) => Self::Plane,
        }
    }

    /// Where a place goes when the pointer does.
    pub(super) fn moved(self, view: &View, start: DVec3, normal: DVec3, from: Pos2, to: Pos2) -> DVec3 {
        let up = f64::from(from.y - to.y) * view.world_per_pixel(start);
        match self {
            Self::Plane => view.drag_in_view_plane(start, from, to),
            Self::Depth => start - view.camera.axes().back * up,
            Self::Normal => start - normal * up,
        }
    }
}

impl Press {
    /// Whether the hand has the solid.
    pub(super) fn holds(&self) -> bool {
        self.grip.is_some()
    }

    /// Takes the wheel before the camera does.
    pub(super) fn take_wheel(&mut self, ui: &Ui) {
        if self.holds() {
            self.wheel += f64::from(ui.input_mut(|input| std::mem::take(&mut input.smooth_scroll_delta)).y);
        }
    }

    /// Moves the solid; says whether the button is in use.
    pub(super) fn canvas_ui(&mut self, on: &On<'_>, posed: &Posed, ui: &Ui, cx: &mut Cx<'_>) -> bool {
        if let Some(place) = pointer::pressed(on, ui) {
            self.take(place, on, posed, cx);
        }
        self.grip.take_if(|_| !pointer::holds(ui));
        let Some(grip) = &mut self.grip else {
            hover(on, ui);
            return false;
        };
        let wheel = std::mem::take(&mut self.wheel);
        if let Some(pointer) = on.canvas.pointer() {
            grip.follow(&on.canvas.view, pointer, ui.input(|input| input.modifiers), wheel);
        }
        grip.record(ui.input(|input| input.time));
        let (place, gesture) = (grip.place, grip.gesture);
        ui.ctx().set_cursor_icon(CursorIcon::Grabbing);
        pointer::edit(cx, gesture, "Press", move |document| document.touch.solid.place = Some(place.to_array()));
        if ui.input(|input| input.pointer.primary_released()) {
            self.let_go(cx);
        }
        true
    }

    /// Takes the solid where it is, or puts it against the skin that was pressed.
    fn take(&mut self, place: Pos2, on: &On<'_>, posed: &Posed, cx: &mut Cx<'_>) {
        let setup = &cx.document.touch;
        let radius = setup.solid_radius(posed);
        let of_solid = on.pick(place).filter(|hit| hit.model != pointer::FACE);
        let of_face = pointer::pick_face(on, place);
        let normal = of_face.as_ref().map_or(on.canvas.view.camera.axes().back, |hit| pointer::normal_at(on, place, hit));
        let (solid, middle) = match (of_solid.and_then(|_| setup.solid_at(posed)), of_face) {
            (Some(taken), _) => taken,
            (None, Some(hit)) => {
                let solid = Solid { from: None, ..setup.solid.turned(normal) };
                let middle = solid.against(radius, hit.position, normal, 0.0);
                (solid, middle)
            }
            (None, None) => return,
        };
        let from = solid.from.unwrap_or(middle.to_array());
        let start_frame = if cx.clock.playing { cx.clock.frame } else { 0.0 };
        self.grip = Some(Grip::new(cx.gesture, middle, place, normal, start_frame));
        cx.edit_by_hand("Press", move |document| {
            leave_baked(document);
            document.touch.solid = Solid { place: Some(middle.to_array()), from: Some(from), ..solid };
        });
    }

    /// The solid stays or goes back, and its way is remembered.
    fn let_go(&mut self, cx: &mut Cx<'_>) {
        let Some(grip) = self.grip.take() else { return };
        let Some(recorded) = Recorded::of(grip.start_frame, &grip.seen) else { return };
        pointer::edit(cx, grip.gesture, "Press", move |document| {
            let touch = &mut document.touch;
            touch.recorded = Some(recorded);
            if !touch.stays {
                touch.solid.place = touch.solid.from;
            }
        });
    }

    /// A line from the hand's solid to the skin it was put against.
    pub(super) fn paint(&self, on: &On<'_>) {
        let Some(grip) = &self.grip else { return };
        let view = &on.canvas.view;
        if let (Some(from), Some(to)) = (view.project(grip.start), view.project(grip.place)) {
            on.canvas.painter.line_segment([from, to], Stroke::new(1.0, Color32::WHITE.gamma_multiply(0.6)));
        }
    }
}

impl Grip {
    fn new(gesture: u64, middle: DVec3, pointer: Pos2, normal: DVec3, start_frame: f64) -> Self {
        let (way, seen) = (Way::Plane, Vec::new());
        Self { gesture, way, start: middle, pointer, normal, place: middle, start_frame, seen, last_time: f64::NAN, rested_secs: 0.0 }
    }

    /// Remembers where the solid is. A window that hangs and a hand that rests for long are no part of the way.
    fn record(&mut self, now: f64) {
        let passed = (now - self.last_time).clamp(0.0, LONGEST_GAP_SECS);
        self.last_time = now;
        let Some(&(time, place)) = self.seen.last() else {
            self.seen.push((0.0, self.place));
            return;
        };
        self.rested_secs = if place == self.place { self.rested_secs + passed } else { 0.0 };
        if self.rested_secs <= LONGEST_REST_SECS {
            self.seen.push((time + passed, self.place));
        }
    }

    /// Goes with the pointer; another key begins another way where the solid is, so that nothing jumps.
    fn follow(&mut self, view: &View, pointer: Pos2, modifiers: Modifiers, wheel: f64) {
        let way = Way::of(modifiers);
        if way != self.way || wheel != 0.0 {
            let pushed = view.camera.axes().back * (wheel * WHEEL * view.world_per_pixel(self.place));
            (self.way, self.start, self.pointer) = (way, self.place - pushed, pointer);
        }
        let place = self.way.moved(view, self.start, self.normal, self.pointer, pointer);
        self.place = if place.is_finite() { place } else { self.place };
    }
}

fn hover(on: &On<'_>, ui: &Ui) {
    let Some(hit) = on.canvas.response.hover_pos().and_then(|place| on.pick(place)) else { return };
    ui.ctx().set_cursor_icon(if hit.model == pointer::FACE { CursorIcon::Crosshair } else { CursorIcon::Grab });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Camera;
    use eframe::egui::{Rect, pos2, vec2};

    fn view() -> View {
        View { camera: Camera::default(), rect: Rect::from_min_size(pos2(0.0, 0.0), vec2(400.0, 300.0)) }
    }

    fn grip(pointer: Pos2) -> Grip {
        Grip::new(0, DVec3::ZERO, pointer, DVec3::X, 0.0)
    }

    #[test]
    fn a_window_that_hangs_and_a_hand_that_rests_are_no_part_of_the_way() {
        let mut grip = grip(pos2(0.0, 0.0));
        for (now, x) in [(10.0, 0.0), (10.05, 1.0), (14.0, 2.0)] {
            grip.place = DVec3::X * x;
            grip.record(now);
        }
        let times: Vec<f64> = grip.seen.iter().map(|(time, _)| *time).collect();
        assert!((times[1] - 0.05).abs() < 1e-9 && (times[2] - 0.05 - LONGEST_GAP_SECS).abs() < 1e-9, "{times:?}");
        (0..600).for_each(|k| grip.record(14.0 + 0.02 * f64::from(k)));
        let rested = grip.seen[grip.seen.len() - 1].0 - times[2];
        assert!((rested - LONGEST_REST_SECS).abs() < 0.03, "{rested}");
    }

    #[test]
    fn keys_choose_plane_depth_or_normal_and_nothing_jumps_between_them() {
        let (view, from, to) = (view(), pos2(200.0, 150.0), pos2(230.0, 110.0));
        let back = view.camera.axes().back;
        let mut grip = grip(from);
        grip.follow(&view, to, Modifiers::NONE, 0.0);
        let in_plane = grip.place;
        assert!(in_plane.length() > 0.0 && in_plane.dot(back).abs() < 1e-9 * in_plane.length());
        grip.follow(&view, to, Modifiers::SHIFT, 0.0);
        assert!(grip.place.distance(in_plane) < 1e-12, "a key alone moves nothing");
        grip.follow(&view, to - vec2(0.0, 20.0), Modifiers::SHIFT, 0.0);
        let pushed = grip.place - in_plane;
        assert!(pushed.normalize().distance(DVec3::NEG_X) < 1e-9, "up is into the skin: {pushed}");
        grip.follow(&view, to, Modifiers::COMMAND, 0.0);
        let before = grip.place;
        grip.follow(&view, to - vec2(0.0, 20.0), Modifiers::COMMAND, 0.0);
        assert!((grip.place - before).normalize().distance(-back) < 1e-9, "up is away from the eye");
    }

    #[test]
    fn the_wheel_pushes_away_from_the_eye() {
        let (view, at) = (view(), pos2(200.0, 150.0));
        let mut grip = grip(at);
        grip.follow(&view, at, Modifiers::NONE, 40.0);
        assert!(grip.place.normalize().distance(-view.camera.axes().back) < 1e-9);
        let once = grip.place;
        grip.follow(&view, at, Modifiers::NONE, 0.0);
        assert_eq!(grip.place, once, "it is not added again");
    }
}
