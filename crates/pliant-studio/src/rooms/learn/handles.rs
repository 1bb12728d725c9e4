//! Round handles that are dragged over the picture.

use eframe::egui::{
    Align2, Color32, CursorIcon, FontId, Id, Pos2, Rect, Response, Role, Sense, Stroke, Ui, Vec2,
    WidgetInfo, vec2,
};
use pliant::mesh::glam::DVec3;

use crate::rooms::PaneCanvas;
use crate::view::{DragPlane, View};

/// Half the side of what can be taken, in points.
const REACH: f32 = 9.0;

/// Something to be taken.
#[derive(Debug, Clone)]
pub(super) struct Handle {
    /// Which one it is.
    pub(super) index: usize,
    /// Its name for the user and tests.
    pub(super) label: String,
    /// Where it is.
    pub(super) place: DVec3,
    /// The surface's normal there.
    pub(super) normal: DVec3,
}

/// A handle being dragged.
#[derive(Debug, Clone, Copy)]
pub(super) struct Held {
    /// The gesture that took it.
    pub(super) gesture: u64,
    /// Which one it is.
    pub(super) index: usize,
    plane: DragPlane,
}

/// Input on handles in one frame.
#[derive(Debug, Default)]
pub(super) struct HandleResponse {
    /// The handle under the pointer.
    pub(super) hovered: Option<usize>,
    /// The handle that was clicked or taken.
    pub(super) pressed: Option<usize>,
    /// The pointer of a drag in progress.
    pub(super) pointer: Option<Pos2>,
}

/// Lays handles over the picture and says what the user does to them; `held` is what it holds from
/// frame to frame.
pub(super) fn handles_ui(
    ui: &Ui,
    on: &PaneCanvas<'_>,
    handles: &[Handle],
    gesture: u64,
    held: &mut Option<Held>,
) -> HandleResponse {
    let mut touched = HandleResponse::default();
    // Those on the far side first, so that near ones are on top.
    let (near, far): (Vec<&Handle>, Vec<&Handle>) = handles
        .iter()
        .partition(|handle| is_near(&on.canvas.view, handle));

    for handle in far.into_iter().chain(near) {
        let Some(at) = on.canvas.view.project(handle.place) else {
            continue;
        };

        let drag_area = drag_area_ui(
            ui,
            on.canvas.response.id.with("handle").with(handle.index),
            at,
            &handle.label,
        );

        if drag_area.hovered() {
            touched.hovered = Some(handle.index);
            ui.ctx().set_cursor_icon(CursorIcon::Grab);
        }

        if drag_area.clicked() || drag_area.drag_started() {
            touched.pressed = Some(handle.index);
        }

        if drag_area.drag_started() {
            let pointer = ui.input(|input| input.pointer.press_origin()).unwrap_or(at);
            let plane = DragPlane::new(handle.place, handle.normal, pointer);
            *held = Some(Held {
                gesture,
                index: handle.index,
                plane,
            });
        }

        if held.is_some_and(|held| held.index == handle.index && held.gesture == gesture) {
            touched.pointer = drag_area
                .interact_pointer_pos()
                .filter(|_| drag_area.dragged());
            if touched.pointer.is_some() {
                ui.ctx().set_cursor_icon(CursorIcon::Grabbing);
            }
        }
    }

    // Released, or interrupted by another press.
    if held
        .is_some_and(|held| held.gesture != gesture || ui.input(|input| !input.pointer.any_down()))
    {
        *held = None;
    }
    touched
}

fn drag_area_ui(ui: &Ui, id: Id, at: Pos2, label: &str) -> Response {
    let drag_area = ui.interact(
        Rect::from_center_size(at, Vec2::splat(2.0 * REACH)),
        id,
        Sense::click_and_drag(),
    );
    drag_area.widget_info(|| WidgetInfo::labeled(Role::Button, ui.is_enabled(), label));
    drag_area
}

/// Whether a handle is on the side of the surface that is seen.
pub(super) fn is_near(view: &View, handle: &Handle) -> bool {
    handle.normal.dot(view.camera.position() - handle.place) >= 0.0
}

impl Held {
    /// Where the handle goes, by the keys that are held.
    pub(super) fn follow(&mut self, ui: &Ui, view: &View, pointer: Pos2) -> DVec3 {
        self.plane.follow_input(ui, view, pointer)
    }
}

/// How a handle is drawn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dot {
    /// Its colour.
    pub(super) color: Color32,
    /// Its radius in points.
    pub(super) radius: f32,
    /// Whether it has a ring around it.
    pub(super) ringed: bool,
}

/// Draws a handle, and words beside it; one on the far side is faint.
pub(super) fn paint_handle(on: &PaneCanvas<'_>, handle: &Handle, dot: Dot, text: &str) {
    let Some(at) = on.canvas.view.project(handle.place) else {
        return;
    };

    // Handles on the far side of the mesh are faint.
    let (fade, edge) = if is_near(&on.canvas.view, handle) {
        (1.0, 1.5)
    } else {
        (0.35, 1.0)
    };
    let white = Color32::WHITE.gamma_multiply(fade);

    on.canvas.painter.circle(
        at,
        dot.radius,
        dot.color.gamma_multiply(fade),
        Stroke::new(edge, white),
    );

    if dot.ringed {
        on.canvas
            .painter
            .circle_stroke(at, dot.radius + 4.0, Stroke::new(1.5, dot.color));
    }

    if !text.is_empty() {
        paint_text(
            on,
            at + vec2(dot.radius + 4.0, -dot.radius - 2.0),
            text,
            fade,
        );
    }
}

/// White on a dark ground: readable over any colour of the mesh.
fn paint_text(on: &PaneCanvas<'_>, at: Pos2, text: &str, fade: f32) {
    let painter = &on.canvas.painter;
    let color = Color32::WHITE.gamma_multiply(fade);
    let galley = painter.layout_no_wrap(text.to_owned(), FontId::proportional(11.0), color);
    let rect = Align2::LEFT_BOTTOM.anchor_size(at, galley.size());

    painter.rect_filled(
        rect.expand2(vec2(3.0, 1.0)),
        3.0,
        Color32::from_black_alpha((150.0 * fade) as u8),
    );
    painter.galley(rect.min, galley, color);
}
