//! A rotation gizmo of three rings.
//!
//! **Equation.** Angles about x, y and z, one after another, are the rotation `Z Y X`. The angle
//! about x changes by a rotation about `Z Y x̂`, the angle about y by one about `Z ŷ`, the angle
//! about z by one about `ẑ`. One ring is perpendicular to each of these axes, as in a gimbal, and
//! the point of a ring under the pointer follows the pointer.

use std::f64::consts::TAU;

use eframe::egui::{
    Align2, AsIdSalt, Color32, Context, CursorIcon, FontId, Id, Pos2, Rect, Response, Role, Sense,
    Stroke, Ui, Vec2, WidgetInfo,
};
use pliant::mesh::glam::{DQuat, DVec3};

use super::axis_gizmo::color_of;
use super::screen::View;
use super::viewport::Canvas;
use crate::model::camera::Side;

/// Radius of the rings on the screen, in points.
const RADIUS: f32 = 72.0;
/// Half the side of what can be grabbed.
const GRIP: f32 = 9.0;
/// Straight pieces of a ring.
const PIECES: usize = 64;
/// A ring that is seen from its side, so that this or less of its width is left, cannot be dragged.
const THINNEST: f64 = 0.08;
/// Angles are whole degrees, and with Ctrl multiples of this.
const COARSE: f64 = 15.0;

/// The dragged ring.
#[derive(Debug, Clone, Copy, Default)]
struct Held {
    /// Its angle when it was taken.
    degrees: f64,
    /// The angle of its point under the pointer then.
    from: f64,
    /// Where it was.
    place: DVec3,
}

impl Held {
    fn of(ctx: &Context, id: Id) -> Option<Self> {
        ctx.is_being_dragged(id)
            .then(|| ctx.data(|data| data.get_temp(id)))?
    }
}

/// One of the three.
struct Ring {
    place: DVec3,
    axis: DVec3,
    /// Two directions across the axis, by the right hand.
    across: [DVec3; 2],
    radius: f64,
}

/// Rings around a place for angles about x, y and z, one after another. Returns the angles while
/// one is dragged; `label` names what is rotated.
pub fn rotation_gizmo_ui(
    ui: &Ui,
    canvas: &Canvas,
    id: impl AsIdSalt,
    label: &str,
    place: DVec3,
    degrees: [f64; 3],
) -> Option<[f64; 3]> {
    let id = canvas.response.id.with("turn gizmo").with(id);
    let axes = gimbal(degrees);
    let sides = [Side::Right, Side::Top, Side::Front];

    // The rotated region moves under the pointer; the rings stay where they were taken, because
    // otherwise the angle would feed back.
    let held = sides
        .into_iter()
        .find_map(|side| Held::of(ui.ctx(), id.with(color_of(side).0)));
    let place = held.map_or(place, |held| held.place);

    let mut turned = None;
    for (k, side) in sides.into_iter().enumerate() {
        let ring = Ring::new(&canvas.view, place, axes[k]);
        let (letter, color) = color_of(side);
        let Some(drag_area) = ring.drag_area_ui(
            ui,
            canvas,
            id.with(letter),
            format!("Rotate {label} about {letter}"),
        ) else {
            ring.paint(canvas, color.gamma_multiply(0.5), 1.5);
            continue;
        };

        let hot = drag_area.hovered() || drag_area.dragged();
        ring.paint(
            canvas,
            if hot { Color32::WHITE } else { color },
            if hot { 3.5 } else { 2.5 },
        );

        if hot {
            ui.ctx().set_cursor_icon(CursorIcon::Grab);
        }

        if let Some(angle) = dragged_angle(ui, &drag_area, &canvas.view, &ring, degrees[k]) {
            let at = drag_area
                .interact_pointer_pos()
                .unwrap_or(drag_area.rect.center())
                + Vec2::new(16.0, -16.0);
            canvas.painter.text(
                at,
                Align2::LEFT_BOTTOM,
                format!("{letter} {angle:.0}°"),
                FontId::proportional(14.0),
                Color32::WHITE,
            );

            let mut angles = degrees;
            angles[k] = angle;
            turned = Some(angles);
        }
    }
    turned
}

/// The axes about which the angles about x, y and z turn.
fn gimbal([_, y, z]: [f64; 3]) -> [DVec3; 3] {
    let about_z = DQuat::from_rotation_z(z.to_radians());
    let about_y = DQuat::from_rotation_y(y.to_radians());
    [about_z * about_y * DVec3::X, about_z * DVec3::Y, DVec3::Z]
}

impl Ring {
    fn new(view: &View, place: DVec3, axis: DVec3) -> Self {
        let first = axis.any_orthonormal_vector();
        Self {
            place,
            axis,
            across: [first, axis.cross(first)],
            radius: view.world_per_pixel(place) * f64::from(RADIUS),
        }
    }

    fn point(&self, angle_rad: f64) -> DVec3 {
        let (sin, cos) = angle_rad.sin_cos();
        self.place + (self.across[0] * cos + self.across[1] * sin) * self.radius
    }

    /// The angle of the ring's point under the pointer; nothing for a ring that is seen from its
    /// side.
    fn angle_at(&self, view: &View, pointer: Pos2) -> Option<f64> {
        let ray = view.ray(pointer);
        if ray.direction.dot(self.axis).abs() < THINNEST {
            return None;
        }

        let from_place = ray.meet_plane(self.place, self.axis)? - self.place;
        Some(
            from_place
                .dot(self.across[1])
                .atan2(from_place.dot(self.across[0])),
        )
    }

    fn angles() -> impl Iterator<Item = f64> {
        (0..=PIECES).map(|k| TAU * k as f64 / PIECES as f64)
    }

    /// What can be taken: where the ring is nearest to the pointer, and its point nearest to the
    /// eye while the pointer is elsewhere.
    fn drag_area_ui(&self, ui: &Ui, canvas: &Canvas, id: Id, label: String) -> Option<Response> {
        let view = &canvas.view;
        let towards_camera = view.camera.axes().back;
        // A ring that is seen edge-on has no usable angle.
        if towards_camera.dot(self.axis).abs() < THINNEST {
            return None;
        }

        let points: Vec<(DVec3, Pos2)> = Self::angles()
            .map(|angle| self.point(angle))
            .filter_map(|p| Some((p, view.project(p)?)))
            .collect();
        let pointer = ui.input(|input| input.pointer.latest_pos());
        let nearest = pointer.and_then(|pointer| {
            points
                .iter()
                .min_by(|a, b| a.1.distance(pointer).total_cmp(&b.1.distance(pointer)))
        });

        let near = nearest
            .filter(|(_, at)| pointer.is_some_and(|pointer| at.distance(pointer) <= 2.0 * GRIP));
        // Otherwise the handle is at the point nearest to the camera, where tests find it.
        let front = points
            .iter()
            .max_by(|a, b| a.0.dot(towards_camera).total_cmp(&b.0.dot(towards_camera)));
        let at = near.or(front)?.1;

        let drag_area = ui.interact(
            Rect::from_center_size(at, Vec2::splat(2.0 * GRIP)),
            id,
            Sense::drag(),
        );

        drag_area.widget_info(|| WidgetInfo::labeled(Role::Button, ui.is_enabled(), &label));
        Some(drag_area)
    }

    /// The far half is faint.
    fn paint(&self, canvas: &Canvas, color: Color32, width: f32) {
        let back = canvas.view.camera.axes().back;
        let points: Vec<DVec3> = Self::angles().map(|angle| self.point(angle)).collect();
        for piece in points.windows(2) {
            // The far half of a ring is faint and has no outline.
            let near = (piece[0] - self.place).dot(back) >= 0.0;
            let (Some(from), Some(to)) =
                (canvas.view.project(piece[0]), canvas.view.project(piece[1]))
            else {
                continue;
            };

            let shown = if near {
                color
            } else {
                color.gamma_multiply(0.35)
            };

            if near {
                canvas.painter.line_segment(
                    [from, to],
                    Stroke::new(width + 1.5, Color32::from_black_alpha(90)),
                );
            }

            canvas
                .painter
                .line_segment([from, to], Stroke::new(width, shown));
        }
    }
}

/// The angle of a ring being dragged: from where the drag began each time, so that nothing adds up.
fn dragged_angle(
    ui: &Ui,
    drag_area: &Response,
    view: &View,
    ring: &Ring,
    degrees: f64,
) -> Option<f64> {
    let ctx = &drag_area.ctx;
    if drag_area.drag_started()
        && let Some(from) = ctx
            .input(|input| input.pointer.press_origin())
            .and_then(|origin| ring.angle_at(view, origin))
    {
        ctx.data_mut(|data| {
            data.insert_temp(
                drag_area.id,
                Held {
                    degrees,
                    from,
                    place: ring.place,
                },
            )
        });
    }

    if !drag_area.dragged() {
        // The state of this drag is removed.
        ctx.data_mut(|data| data.remove_temp::<Held>(drag_area.id));
        return None;
    }

    let Held {
        degrees: start,
        from,
        ..
    } = Held::of(ctx, drag_area.id)?;
    let now = ring.angle_at(view, drag_area.interact_pointer_pos()?)?;

    let step = if ui.input(|input| input.modifiers.command) {
        COARSE
    } else {
        1.0
    };

    Some(wrapped(
        ((start + (now - from).to_degrees()) / step).round() * step,
    ))
}

/// The same angle, from −180° to 180°.
fn wrapped(degrees: f64) -> f64 {
    let turns = (degrees / 360.0).round();
    degrees - 360.0 * turns
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::camera::Camera;
    use eframe::egui::pos2;

    #[test]
    fn the_angle_of_a_projected_ring_point_is_recovered() {
        let mut camera = Camera::default();
        camera.orbit(0.7, 0.4);
        let view = View {
            camera,
            rect: Rect::from_min_max(pos2(100.0, 50.0), pos2(900.0, 650.0)),
        };

        for axis in gimbal([0.0, 25.0, -40.0]) {
            let ring = Ring::new(&view, camera.target, axis);
            for angle in Ring::angles().take(PIECES) {
                let seen = view.project(ring.point(angle)).unwrap();
                let found = ring.angle_at(&view, seen).unwrap();
                let apart = wrapped((found - angle).to_degrees());
                assert!(apart.abs() < 0.2, "{angle} is found as {found}");
            }
        }
    }

    #[test]
    fn a_rotation_about_a_gimbal_axis_changes_only_its_angle() {
        let turn = |[x, y, z]: [f64; 3]| {
            DQuat::from_rotation_z(z.to_radians())
                * DQuat::from_rotation_y(y.to_radians())
                * DQuat::from_rotation_x(x.to_radians())
        };
        let degrees = [10.0, -35.0, 70.0];
        let more = 20.0_f64;

        for (k, axis) in gimbal(degrees).into_iter().enumerate() {
            let mut changed = degrees;
            changed[k] += more;
            let turned = DQuat::from_axis_angle(axis, more.to_radians()) * turn(degrees);
            assert!(turned.angle_between(turn(changed)) < 1e-7, "axis {k}");
        }

        assert_eq!(
            (wrapped(190.0), wrapped(-190.0), wrapped(170.0)),
            (-170.0, 170.0, 170.0)
        );
    }
}
