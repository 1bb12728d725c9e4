//! The patch brush: a press sets the centre of a soft patch, a drag its radius.

use eframe::egui::{Align2, Color32, CursorIcon, FontId, Pos2, Stroke, Ui};
use pliant::mesh::VertexId;
use pliant::mesh::glam::DVec3;

use super::pointer;
use crate::engine::character::PosedCharacter;
use crate::engine::context::Cx;
use crate::engine::touch::default_radius;
use crate::model::touch::{Patch, leave_baked};
use crate::rooms::PaneCanvas;

/// How near the pointer must be to a patch's centre to take it, in points.
const REACH: f32 = 10.0;
/// A drag shorter than this sets no radius: the user only clicked.
const LEAST_DRAG: f32 = 4.0;
/// The least radius, in those of a click.
const LEAST_RADIUS: f64 = 0.02;

/// The patch brush.
#[derive(Debug, Default)]
pub(super) struct PatchBrush {
    /// The patch that the panel and the keys are about.
    pub(super) selected: Option<usize>,
    drag: Option<PatchDrag>,
}

#[derive(Debug)]
struct PatchDrag {
    gesture: u64,
    patch: usize,
    center: DVec3,
    pointer: Pos2,
}

impl PatchBrush {
    /// Sets patches; returns whether the button is in use.
    pub(super) fn canvas_ui(
        &mut self,
        on: &PaneCanvas<'_>,
        posed: &PosedCharacter,
        ui: &Ui,
        cx: &mut Cx<'_>,
    ) -> bool {
        if let Some(place) = pointer::pressed(on, ui) {
            self.take(place, on, posed, cx);
        }

        // Another window may have taken the release of the button.
        self.drag.take_if(|_| !pointer::holds(ui));
        if let Some(drag) = &self.drag {
            drag_patch(drag, on, posed, cx);
            if ui.input(|input| input.pointer.primary_released()) {
                self.drag = None;
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

        self.drag.is_some()
    }

    fn take(&mut self, place: Pos2, on: &PaneCanvas<'_>, posed: &PosedCharacter, cx: &mut Cx<'_>) {
        let patches = &cx.document.touch.patches;
        let near = |patch: &Patch| {
            pointer::center(on, patch).is_some_and(|at| at.distance(place) <= REACH)
        };
        let center_of = |vertex: VertexId| posed.positions.get(vertex.index()).copied();

        // A press on the centre of a patch changes its radius.
        if let Some(patch) = patches.iter().position(near) {
            self.selected = Some(patch);
            let center = center_of(patches[patch].center);
            self.drag = center.map(|center| PatchDrag {
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
        self.drag = Some(PatchDrag {
            gesture: cx.gesture,
            patch: patches.len(),
            center,
            pointer: place,
        });

        cx.edit_continuously("Brush patch", move |document| {
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

    /// Draws the centres and the radius being dragged.
    pub(super) fn paint(&self, on: &PaneCanvas<'_>, cx: &Cx<'_>) {
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

            // The radius is shown while it is being dragged.
            if self.drag.as_ref().is_some_and(|drag| drag.patch == k) {
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

/// The radius is as far as the user went, at the centre's depth.
fn drag_patch(drag: &PatchDrag, on: &PaneCanvas<'_>, posed: &PosedCharacter, cx: &mut Cx<'_>) {
    let Some(pointer) = on
        .canvas
        .pointer()
        .filter(|place| place.distance(drag.pointer) >= LEAST_DRAG)
    else {
        return;
    };

    // The radius is the drag in the view plane, at the depth of the centre.
    let radius = on
        .canvas
        .view
        .drag_in_view_plane(drag.center, drag.pointer, pointer)
        .distance(drag.center);
    let patch = drag.patch;
    let radius = radius.max(LEAST_RADIUS * default_radius(posed));

    cx.edit_in_gesture(drag.gesture, "Brush patch", move |document| {
        leave_baked(document);
        if let Some(patch) = document.touch.patches.get_mut(patch) {
            patch.radius = radius;
        }
    });
}
