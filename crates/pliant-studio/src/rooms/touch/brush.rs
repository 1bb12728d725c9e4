//! The brush: a press sets the middle of a soft patch, a drag outwards its radius.

use eframe::egui::{Align2, Color32, CursorIcon, FontId, Pos2, Stroke, Ui};
use pliant::mesh::glam::DVec3;

use super::pointer;
use super::setup::{Patch, default_radius, leave_baked};
use crate::character::Posed;
use crate::rooms::{Cx, On};

/// How near the pointer must be to a patch's middle to take it, in points.
const REACH: f32 = 10.0;
/// A drag shorter than this sets no radius: the hand only clicked.
const LEAST_DRAG: f32 = 4.0;
/// The least radius, in those of a click.
const LEAST_RADIUS: f64 = 0.02;

/// The brush in the hand.
#[derive(Debug, Default)]
pub(super) struct Brush {
    /// The patch that the panel and the keys are about.
    pub(super) selected: Option<usize>,
    grip: Option<Grip>,
}

#[derive(Debug)]
struct Grip {
    gesture: u64,
    patch: usize,
    center: DVec3,
    pointer: Pos2,
}

impl Brush {
    /// Sets patches; says whether the button is in use.
    pub(super) fn canvas_ui(
        &mut self,
        on: &On<'_>,
        posed: &Posed,
        ui: &Ui,
        cx: &mut Cx<'_>,
    ) -> bool {
        if let Some(place) = pointer::pressed(on, ui) {
            self.take(place, on, posed, cx);
        }
        self.grip.take_if(|_| !pointer::holds(ui));
        if let Some(grip) = &self.grip {
            drag(grip, on, posed, cx);
            if ui.input(|input| input.pointer.primary_released()) {
                self.grip = None;
                return true;
            }
        } else if on
            .canvas
            .response
            .hover_pos()
            .is_some_and(|place| pointer::pick_face(on, place).is_some())
        {
            ui.ctx().set_cursor_icon(CursorIcon::Crosshair);
        }
        self.grip.is_some()
    }

    fn take(&mut self, place: Pos2, on: &On<'_>, posed: &Posed, cx: &mut Cx<'_>) {
        let patches = &cx.document.touch.patches;
        let near = |patch: &Patch| {
            pointer::center(on, patch).is_some_and(|at| at.distance(place) <= REACH)
        };
        let center_of = |vertex: u32| posed.positions.get(vertex as usize).copied();
        if let Some(patch) = patches.iter().position(near) {
            self.selected = Some(patch);
            let center = center_of(patches[patch].center);
            self.grip = center.map(|center| Grip {
                gesture: cx.gesture,
                patch,
                center,
                pointer: place,
            });
            return;
        }
        let Some((vertex, center)) = pointer::pick_face(on, place)
            .and_then(|hit| Some((hit.vertex, center_of(hit.vertex)?)))
        else {
            return;
        };
        let patch = Patch {
            center: vertex,
            radius: default_radius(posed),
        };
        self.selected = Some(patches.len());
        self.grip = Some(Grip {
            gesture: cx.gesture,
            patch: patches.len(),
            center,
            pointer: place,
        });
        cx.edit_by_hand("Brush patch", move |document| {
            leave_baked(document);
            document.touch.patches.push(patch);
        });
    }

    /// Deletes the selected patch.
    pub(super) fn delete(&mut self, cx: &mut Cx<'_>) {
        if let Some(patch) = self
            .selected
            .take()
            .filter(|&k| k < cx.document.touch.patches.len())
        {
            delete_patch(patch, cx);
        }
    }

    /// Draws the middles and the radius in the hand.
    pub(super) fn paint(&self, on: &On<'_>, cx: &Cx<'_>) {
        for (k, patch) in cx.document.touch.patches.iter().enumerate() {
            let Some(at) = pointer::center(on, patch) else {
                continue;
            };
            let painter = &on.canvas.painter;
            painter.circle(
                at,
                4.5,
                Color32::WHITE,
                Stroke::new(1.5, Color32::from_gray(40)),
            );
            if self.selected == Some(k) {
                painter.circle_stroke(at, 8.5, Stroke::new(1.5, Color32::WHITE));
            }
            if self.grip.as_ref().is_some_and(|grip| grip.patch == k) {
                let text = format!("radius {:.3}", patch.radius);
                pointer::label(
                    painter,
                    at + eframe::egui::vec2(14.0, -14.0),
                    Align2::LEFT_BOTTOM,
                    &text,
                    FontId::proportional(13.0),
                );
            }
        }
    }
}

/// Deletes a patch.
pub(super) fn delete_patch(patch: usize, cx: &mut Cx<'_>) {
    cx.edit("Delete patch", move |document| {
        leave_baked(document);
        if patch < document.touch.patches.len() {
            document.touch.patches.remove(patch);
        }
    });
}

/// The radius is as far as the hand went, at the middle's depth.
fn drag(grip: &Grip, on: &On<'_>, posed: &Posed, cx: &mut Cx<'_>) {
    let Some(pointer) = on
        .canvas
        .pointer()
        .filter(|place| place.distance(grip.pointer) >= LEAST_DRAG)
    else {
        return;
    };
    let radius = on
        .canvas
        .view
        .drag_in_view_plane(grip.center, grip.pointer, pointer)
        .distance(grip.center);
    let (patch, radius) = (grip.patch, radius.max(LEAST_RADIUS * default_radius(posed)));
    pointer::edit(cx, grip.gesture, "Brush patch", move |document| {
        leave_baked(document);
        if let Some(patch) = document.touch.patches.get_mut(patch) {
            patch.radius = radius;
        }
    });
}
