//! A viewport: shows a scene, controls the camera, and passes other input to the tool.
//!
//! **Implementation.** Tools draw pins, strokes and labels over the picture with egui's painter,
//! through the [`View`] that the picture was rendered with.

use std::sync::Arc;

use eframe::egui::{
    Align2, AsIdSalt, FontId, Id, Painter, PointerButton, Pos2, Rect, Response, Role, Sense, Ui,
    Vec2, WidgetInfo,
};
use eframe::egui_wgpu;

use super::axis_gizmo::axis_gizmo_ui;
use super::gpu::drawing::{Ground, compose};
use super::gpu::{self, Picture};
use super::legend::{LEGEND_SIZE, legend_ui};
use super::navigation::{Gesture, navigate};
use super::occlusion::Occlusion;
use super::scene::{Hit, Model, Paint, Scene};
use super::screen::View;
use crate::engine::heat::Heat;
use crate::model::camera::Camera;
use crate::model::look::Look;

/// Input and painting for a tool, with the projection of the picture.
#[derive(Clone)]
pub struct Canvas {
    /// Clicks and drags on the picture.
    pub response: Response,
    /// Draws over the picture, within its rectangle.
    pub painter: Painter,
    /// The camera that the picture was drawn with.
    pub view: View,
    /// Whether the drag in progress moves the camera: tools let it pass.
    pub navigating: bool,
}

impl Canvas {
    /// Whether the tool may start a drag in this frame.
    #[must_use]
    pub fn tool_drag_started(&self) -> bool {
        !self.navigating && self.response.drag_started_by(PointerButton::Primary)
    }

    /// Whether the tool's drag continues.
    #[must_use]
    pub fn tool_dragged(&self) -> bool {
        !self.navigating && self.response.dragged_by(PointerButton::Primary)
    }

    /// Whether the tool's drag ended in this frame.
    #[must_use]
    pub fn tool_drag_stopped(&self) -> bool {
        !self.navigating && self.response.drag_stopped_by(PointerButton::Primary)
    }

    /// Whether the tool was clicked with, without Alt.
    #[must_use]
    pub fn tool_clicked(&self) -> bool {
        self.response.clicked() && !self.response.ctx.input(|input| input.modifiers.alt)
    }

    /// Where the pointer is, on the picture or dragged away from it.
    #[must_use]
    pub fn pointer(&self) -> Option<Pos2> {
        self.response
            .interact_pointer_pos()
            .or_else(|| self.response.hover_pos())
    }

    /// Where the button of the drag in progress went down: a drag is known a few points later.
    #[must_use]
    pub fn press_origin(&self) -> Option<Pos2> {
        self.response
            .ctx
            .input(|input| input.pointer.press_origin())
    }

    /// The object under the pointer.
    #[must_use]
    pub fn pick(&self, scene: &Scene) -> Option<Hit> {
        scene.pick(&self.view.ray(self.pointer()?))
    }

    /// Lets the left button orbit, for drags on empty space.
    pub fn orbit_with_left(&self, camera: &mut Camera) {
        if self.tool_dragged() {
            *camera = Gesture::Orbit.apply(&self.view, self.response.drag_delta());
        }
    }
}

/// Margin between the picture's border and what lies over it.
const MARGIN: f32 = 14.0;

/// Shows a scene in a rectangle of `size` and moves the camera by what the user does over it.
///
/// `label` is the viewport's name for screen readers. Without a graphics card it says
/// so instead.
pub fn viewport_ui(
    ui: &mut Ui,
    id: impl AsIdSalt,
    label: &str,
    camera: &mut Camera,
    scene: &Scene,
    look: &Look,
    size: Vec2,
) -> Canvas {
    let (_, rect) = ui.allocate_space(size);
    let id = ui.make_persistent_id("viewport").with(id);
    let response = ui.interact(rect, id, Sense::click_and_drag());
    response.widget_info(|| WidgetInfo::labeled(Role::Canvas, ui.is_enabled(), label));

    let before = View {
        camera: *camera,
        rect,
    };
    // The picture and the tool use the camera after this frame's navigation.
    let navigating = navigate(&before, &response, camera, |cursor| {
        scene.pick(&before.ray(cursor)).map(|hit| hit.position)
    });

    let painter = ui.painter_at(rect);
    picture_ui(
        ui,
        &painter,
        id,
        &View {
            camera: *camera,
            rect,
        },
        scene,
        look,
    );

    if let Some(heat) = shown_heat(scene).filter(|_| look.legend) {
        legend_ui(
            &painter,
            Rect::from_min_size(
                rect.right_bottom() - LEGEND_SIZE - Vec2::splat(MARGIN),
                LEGEND_SIZE,
            ),
            heat,
        );
    }

    if look.axes {
        axis_gizmo_ui(ui, &painter, id, label, rect, camera);
    }

    Canvas {
        response,
        painter,
        view: View {
            camera: *camera,
            rect,
        },
        navigating,
    }
}

fn shown_heat(scene: &Scene) -> Option<&Heat> {
    scene.models.iter().find_map(|model| match &model.paint {
        Paint::Heat(heat) => Some(heat),
        Paint::Own | Paint::Plain(_) | Paint::Colors(_) => None,
    })
}

/// The picture itself, or one message where no graphics card can draw it.
fn picture_ui(ui: &Ui, painter: &Painter, id: Id, view: &View, scene: &Scene, look: &Look) {
    // Without a graphics card a message replaces the picture.
    let Some(screen) = gpu::screen(ui.ctx()) else {
        painter.rect_filled(view.rect, 0.0, ui.visuals().extreme_bg_color);
        let galley = painter.layout(
            NO_CARD.to_owned(),
            FontId::proportional(14.0),
            ui.visuals().text_color(),
            view.rect.width() - 48.0,
        );

        painter.galley(
            Align2::CENTER_CENTER
                .anchor_size(view.rect.center(), galley.size())
                .min,
            galley,
            ui.visuals().text_color(),
        );

        return;
    };

    let ground = persistent_ground(ui, id, scene);
    let occlusion = Occlusion::of(ui.ctx(), id);
    let mut drawing = compose(
        id,
        view,
        scene,
        look,
        ground,
        occlusion.known().as_ref(),
        ui.visuals(),
        ui.ctx().pixels_per_point(),
    );
    occlusion.settle(ui.ctx(), &mut drawing, scene);

    let frame = ui.ctx().cumulative_frame_nr();
    painter.add(egui_wgpu::Callback::new_paint_callback(
        view.rect,
        Picture {
            drawing,
            screen,
            frame,
        },
    ));
}

/// Message of a viewport without a graphics card.
const NO_CARD: &str = "The 3D view needs a graphics driver with Vulkan, Metal or DirectX 12. Install one (on Debian: mesa-vulkan-drivers) and start again.";

/// The ground where the models stood when they came. A chin that drops takes it along, and it stays
/// there: it never goes through a model and never jumps up and down with it.
#[derive(Debug, Clone)]
struct GroundPlacement {
    /// Address and length of each model's triangles.
    surfaces: Vec<[usize; 2]>,
    ground: Option<Ground>,
}

fn persistent_ground(ui: &Ui, id: Id, scene: &Scene) -> Option<Ground> {
    let key = |model: &Model| {
        [
            Arc::as_ptr(&model.surface).addr(),
            model.surface.triangles.len(),
        ]
    };

    let surfaces: Vec<[usize; 2]> = scene.models.iter().map(key).collect();
    let standing_id = id.with("ground");
    // The ground is kept while the same meshes are shown, in whatever pose.
    let known = ui
        .ctx()
        .data(|data| data.get_temp::<GroundPlacement>(standing_id))
        .filter(|standing| standing.surfaces == surfaces);

    let ground = match known {
        Some(standing) => standing.ground.map(|ground| ground.lowered_below(scene)),
        None => Ground::under(scene),
    };

    ui.ctx()
        .data_mut(|data| data.insert_temp(standing_id, GroundPlacement { surfaces, ground }));
    ground
}
