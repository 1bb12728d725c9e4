//! The small axes in the corner of a viewport; a click on an axis looks along it.

use eframe::egui::{
    Align2, Color32, FontId, Id, Painter, Pos2, Rect, Role, Sense, Stroke, Ui, Vec2, WidgetInfo,
    pos2, vec2,
};

use crate::model::camera::{Camera, Side};

/// From the centre to the tips, in points.
const REACH: f32 = 30.0;
/// Radius of a tip that can be clicked.
const TIP: f32 = 9.0;
/// From the picture's corner to the centre.
const INSET: f32 = REACH + TIP + 10.0;

/// Draws the axes into the upper right corner and looks along the one that is clicked.
pub(super) fn axis_gizmo_ui(
    ui: &Ui,
    painter: &Painter,
    id: Id,
    label: &str,
    rect: Rect,
    camera: &mut Camera,
) {
    if rect.width() < 6.0 * INSET || rect.height() < 5.0 * INSET {
        return;
    }

    let middle = pos2(rect.right() - INSET, rect.top() + INSET);
    let axes = camera.axes();
    let towards_camera = |side: Side| side.direction().dot(axes.back);
    let mut sides = Side::ALL;

    // Far tips first: near ones lie over them, and get the click.
    sides.sort_by(|a, b| towards_camera(*a).total_cmp(&towards_camera(*b)));
    for side in sides {
        let direction = side.direction();
        let place = middle
            + vec2(
                direction.dot(axes.right) as f32,
                -direction.dot(axes.up) as f32,
            ) * REACH;

        if tip_ui(
            ui,
            painter,
            id,
            label,
            side,
            middle,
            place,
            towards_camera(side) as f32,
        ) {
            camera.look_from(side);
        }
    }
}

/// One tip with its line; returns whether it was clicked.
fn tip_ui(
    ui: &Ui,
    painter: &Painter,
    id: Id,
    label: &str,
    side: Side,
    middle: Pos2,
    place: Pos2,
    near: f32,
) -> bool {
    let response = ui.interact(
        Rect::from_center_size(place, Vec2::splat(2.0 * TIP)),
        id.with(("axis", side.name())),
        Sense::click(),
    );

    response.widget_info(|| {
        WidgetInfo::labeled(
            Role::Button,
            ui.is_enabled(),
            format!("{}, {label}", side.name()),
        )
    });

    let (letter, color) = color_of(side);
    // What points away is fainter.
    let color = color.gamma_multiply(0.62 + 0.38 * (0.5 + 0.5 * near));
    let positive = matches!(side, Side::Right | Side::Top | Side::Front);

    if positive {
        painter.line_segment([middle, place], Stroke::new(2.0, color));
        painter.circle_filled(place, TIP - 1.0, color);
        painter.text(
            place,
            Align2::CENTER_CENTER,
            letter,
            FontId::proportional(11.0),
            Color32::from_gray(16),
        );
    } else {
        painter.circle(
            place,
            TIP - 3.0,
            color.gamma_multiply(0.28),
            Stroke::new(1.0, color.gamma_multiply(0.7)),
        );
    }

    if response.hovered() || response.has_focus() {
        painter.circle_stroke(
            place,
            TIP + 0.5,
            Stroke::new(1.5, ui.visuals().strong_text_color()),
        );
    }

    response
        .on_hover_text(format!("{} ({})", side.name(), side.shortcut()))
        .clicked()
}

/// The letter and colour of an axis and of its handles.
pub(super) fn color_of(side: Side) -> (&'static str, Color32) {
    match side {
        Side::Right | Side::Left => ("X", Color32::from_rgb(236, 94, 98)),
        Side::Top | Side::Bottom => ("Y", Color32::from_rgb(132, 196, 84)),
        Side::Front | Side::Back => ("Z", Color32::from_rgb(88, 152, 246)),
    }
}
