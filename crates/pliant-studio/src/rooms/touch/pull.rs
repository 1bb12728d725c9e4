//! The fingers: a soft vertex that is pulled.

use eframe::egui::{Color32, CursorIcon, Pos2, Stroke, Ui};
use pliant::mesh::glam::DVec3;

use super::live::Touched;
use super::pointer;
use super::setup::{Method, Pull, leave_baked};
use crate::command::Notice;
use crate::rooms::{Cx, On};
use crate::view::DragPlane;

/// The colour of a pulled vertex.
const COLOR: Color32 = Color32::from_rgb(255, 150, 60);

/// Fingers with a vertex.
#[derive(Debug, Default)]
pub(super) struct Fingers {
    grip: Option<Grip>,
}

#[derive(Debug)]
struct Grip {
    gesture: u64,
    vertex: u32,
    drag: DragPlane,
    /// Where the vertex is in the character's own shape.
    own: DVec3,
}

impl Fingers {
    /// Pulls; says whether the button is in use.
    pub(super) fn canvas_ui(
        &mut self,
        on: &On<'_>,
        touched: Option<&Touched>,
        ui: &Ui,
        cx: &mut Cx<'_>,
    ) -> bool {
        if let Some(place) = pointer::pressed(on, ui) {
            self.take(place, on, touched, cx);
        }
        self.grip.take_if(|_| !pointer::holds(ui));
        let Some(grip) = &mut self.grip else {
            self.hover(on, touched, ui);
            return false;
        };
        if let Some(pointer) = on.canvas.pointer() {
            grip.drag
                .follow(&on.canvas.view, pointer, ui.input(|input| input.modifiers));
        }
        ui.ctx().set_cursor_icon(CursorIcon::Grabbing);
        let released = ui.input(|input| input.pointer.primary_released());
        let (vertex, offset) = (grip.vertex, (grip.drag.place() - grip.own).to_array());
        pointer::edit(cx, grip.gesture, "Pull", move |document| {
            leave_baked(document);
            let holds = !released || document.touch.stays;
            document.touch.pull = Some(Pull {
                vertex,
                offset,
                holds,
            });
        });
        if released {
            self.grip = None;
        }
        true
    }

    fn take(&mut self, place: Pos2, on: &On<'_>, touched: Option<&Touched>, cx: &mut Cx<'_>) {
        let Some(hit) = pointer::pick_face(on, place) else {
            return;
        };
        if cx.document.touch.simulation.method == Method::Verlet {
            cx.tell(Notice::hint(
                "The thesis' method knows no pulls; choose Small steps (XPBD) on the right.",
            ));
            return;
        }
        let soft = touched.filter(|touched| touched.region.node_of(hit.vertex as usize).is_some());
        let Some(touched) = soft else {
            cx.tell(Notice::hint(
                "Only soft skin can be pulled: brush a patch there first.",
            ));
            return;
        };
        let vertex = hit.vertex as usize;
        let (start, own) = (touched.positions[vertex], touched.posed.positions[vertex]);
        let normal = pointer::normal_at(on, place, &hit);
        self.grip = Some(Grip {
            gesture: cx.gesture,
            vertex: hit.vertex,
            drag: DragPlane::new(start, normal, place),
            own,
        });
    }

    /// Lights the soft vertex that a press would take.
    fn hover(&self, on: &On<'_>, touched: Option<&Touched>, ui: &Ui) {
        let Some(hit) = on
            .canvas
            .response
            .hover_pos()
            .and_then(|place| pointer::pick_face(on, place))
        else {
            return;
        };
        let soft = touched.filter(|touched| touched.region.node_of(hit.vertex as usize).is_some());
        ui.ctx().set_cursor_icon(if soft.is_some() {
            CursorIcon::Grab
        } else {
            CursorIcon::NotAllowed
        });
        if let Some(at) = soft.and_then(|touched| {
            on.canvas
                .view
                .project(touched.positions[hit.vertex as usize])
        }) {
            on.canvas
                .painter
                .circle_stroke(at, 5.0, Stroke::new(1.5, Color32::WHITE));
        }
    }

    /// Draws the pull from the character's own shape to the fingers.
    pub(super) fn paint(&self, on: &On<'_>, touched: &Touched, cx: &Cx<'_>) {
        let Some(pull) = cx.document.touch.pull.filter(|pull| pull.holds) else {
            return;
        };
        let Some(own) = touched.posed.positions.get(pull.vertex as usize) else {
            return;
        };
        let view = &on.canvas.view;
        if let (Some(from), Some(to)) = (
            view.project(*own),
            view.project(*own + DVec3::from_array(pull.offset)),
        ) {
            on.canvas
                .painter
                .line_segment([from, to], Stroke::new(1.5, COLOR));
            on.canvas
                .painter
                .circle(to, 5.0, COLOR, Stroke::new(1.5, Color32::WHITE));
        }
    }
}
