//! The pull tool: a soft vertex that is dragged.

use eframe::egui::{Color32, CursorIcon, Pos2, Stroke, Ui};
use pliant::mesh::VertexId;
use pliant::mesh::glam::DVec3;

use super::pointer;
use crate::engine::command::Notice;
use crate::engine::context::Cx;
use crate::engine::touch::simulation::TouchResult;
use crate::model::touch::{Method, VertexPull, leave_baked};
use crate::rooms::PaneCanvas;
use crate::view::DragPlane;

/// The colour of a pulled vertex.
const COLOR: Color32 = Color32::from_rgb(255, 150, 60);

/// The pull tool.
#[derive(Debug, Default)]
pub(super) struct PullTool {
    drag: Option<PullDrag>,
}

#[derive(Debug)]
struct PullDrag {
    gesture: u64,
    vertex: VertexId,
    plane: DragPlane,
    /// Where the vertex is in the character's own shape.
    own: DVec3,
}

impl PullTool {
    /// Pulls; returns whether the button is in use.
    pub(super) fn canvas_ui(
        &mut self,
        on: &PaneCanvas<'_>,
        touched: Option<&TouchResult>,
        ui: &Ui,
        cx: &mut Cx<'_>,
    ) -> bool {
        if let Some(place) = pointer::pressed(on, ui) {
            self.take(place, on, touched, cx);
        }

        self.drag.take_if(|_| !pointer::holds(ui));
        let Some(drag) = &mut self.drag else {
            self.hover(on, touched, ui);
            return false;
        };

        if let Some(pointer) = on.canvas.pointer() {
            drag.plane.follow_input(ui, &on.canvas.view, pointer);
        }

        ui.ctx().set_cursor_icon(CursorIcon::Grabbing);
        let released = ui.input(|input| input.pointer.primary_released());
        let vertex = drag.vertex;
        let offset = (drag.plane.place() - drag.own).to_array();
        cx.edit_in_gesture(drag.gesture, "Pull", move |document| {
            leave_baked(document);
            // The pull ends with the button, unless pulls are kept.
            let holds = !released || document.touch.stays;
            document.touch.pull = Some(VertexPull {
                vertex,
                offset,
                holds,
            });
        });

        if released {
            self.drag = None;
        }
        true
    }

    fn take(
        &mut self,
        place: Pos2,
        on: &PaneCanvas<'_>,
        touched: Option<&TouchResult>,
        cx: &mut Cx<'_>,
    ) {
        let Some(hit) = pointer::pick_face(on, place) else {
            return;
        };
        if cx.document.touch.simulation.method == Method::Verlet {
            cx.notify(Notice::hint(
                "The Verlet method does not support pulls; choose XPBD on the right.",
            ));
            return;
        }

        let soft = touched.filter(|touched| touched.region.node_of(hit.vertex).is_some());
        let Some(touched) = soft else {
            cx.notify(Notice::hint(
                "Only soft skin can be pulled; brush a patch there first.",
            ));
            return;
        };

        let vertex = hit.vertex.index();
        // The drag starts at the deformed position and is stored relative to the animated one.
        let start = touched.positions[vertex];
        let own = touched.posed.positions[vertex];
        let normal = pointer::normal_at(on, place, &hit);
        self.drag = Some(PullDrag {
            gesture: cx.gesture,
            vertex: hit.vertex,
            plane: DragPlane::new(start, normal, place),
            own,
        });
    }

    /// Lights the soft vertex that a press would take.
    fn hover(&self, on: &PaneCanvas<'_>, touched: Option<&TouchResult>, ui: &Ui) {
        let Some(hit) = on
            .canvas
            .response
            .hover_pos()
            .and_then(|place| pointer::pick_face(on, place))
        else {
            return;
        };

        let soft = touched.filter(|touched| touched.region.node_of(hit.vertex).is_some());
        ui.ctx().set_cursor_icon(if soft.is_some() {
            CursorIcon::Grab
        } else {
            CursorIcon::NotAllowed
        });

        if let Some(at) = soft.and_then(|touched| {
            on.canvas
                .view
                .project(touched.positions[hit.vertex.index()])
        }) {
            on.canvas
                .painter
                .circle_stroke(at, 5.0, Stroke::new(1.5, Color32::WHITE));
        }
    }

    /// Draws the pull from the character's own shape to the fingers.
    pub(super) fn paint(&self, on: &PaneCanvas<'_>, touched: &TouchResult, cx: &Cx<'_>) {
        let Some(pull) = cx.document.touch.pull.filter(|pull| pull.holds) else {
            return;
        };
        let Some(own) = touched.posed.positions.get(pull.vertex.index()) else {
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
