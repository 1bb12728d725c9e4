//! Models of simple solids for obstacles and colliders, and the arrows of a move gizmo.
//!
//! **Implementation.** Round solids are surfaces of revolution: an outline of radii along an axis.
//! They are computed once and placed by scale and rotation; only a capsule has its own mesh for
//! each ratio of length and radius.

use std::f64::consts::{FRAC_PI_2, TAU};
use std::sync::{Arc, OnceLock};

use eframe::egui::{
    AsIdSalt, Color32, Id, Painter, Pos2, Rect, Response, Role, Sense, Shape, Stroke, Ui, Vec2,
    WidgetInfo,
};
use pliant::mesh::glam::{DAffine3, DQuat, DVec2, DVec3};

use super::axis_gizmo::color_of;
use super::scene::Model;
use super::screen::View;
use super::viewport::Canvas;
use crate::engine::surface::{Surface, Vertices};
use crate::model::camera::Side;

/// Sides of a round solid.
const SECTORS: usize = 48;
/// Rings from the equator of a ball to its pole.
const RINGS: usize = 12;
/// An arrow's head: its length and radius, in the arrow's radii.
const HEAD: [f64; 2] = [7.0, 2.6];

/// A point of an outline: radius and height, with the direction that is outwards there.
#[derive(Debug, Clone, Copy)]
struct OutlinePoint {
    place: DVec2,
    outward: DVec2,
}

/// Solids that are made once.
#[derive(Debug, Clone)]
pub struct Solids {
    sphere: Model,
    cylinder: Model,
    cuboid: Model,
    capsule: Arc<Surface>,
    arrow: Arc<Surface>,
}

impl Default for Solids {
    fn default() -> Self {
        Self::new()
    }
}

impl Solids {
    /// Makes them.
    #[must_use]
    pub fn new() -> Self {
        let ball = capsule_outline(0.0, 1.0);
        let bar = cylinder_outline();
        let arrow = arrow_outline(1.0, 0.1);
        let capsule = lathed_surface(ball.len());

        Self {
            sphere: lathe(&capsule, &ball),
            cylinder: lathe(&lathed_surface(bar.len()), &bar),
            cuboid: unit_cuboid(),
            capsule,
            arrow: lathed_surface(arrow.len()),
        }
    }

    /// Those of the program.
    pub fn shared() -> &'static Self {
        static SOLIDS: OnceLock<Solids> = OnceLock::new();
        SOLIDS.get_or_init(Self::new)
    }

    /// A ball.
    #[must_use]
    pub fn sphere(&self, center: DVec3, radius: f64) -> Model {
        let placement = DAffine3::from_scale_rotation_translation(
            DVec3::splat(radius),
            DQuat::IDENTITY,
            center,
        );
        self.sphere.clone().with_placement(placement)
    }

    /// A round bar between the centres of its two flat ends.
    #[must_use]
    pub fn cylinder(&self, start: DVec3, end: DVec3, radius: f64) -> Model {
        let length = start.distance(end);
        let placement = DAffine3::from_scale_rotation_translation(
            DVec3::new(radius, radius, length),
            turn_to(end - start),
            start,
        );
        self.cylinder.clone().with_placement(placement)
    }

    /// All that is no further than `radius` from a segment. Its vertices are made again by each
    /// call: keep it while it does not change.
    #[must_use]
    pub fn capsule(&self, start: DVec3, end: DVec3, radius: f64) -> Model {
        let outline = capsule_outline(start.distance(end), radius);
        lathe(&self.capsule, &outline).with_placement(DAffine3::from_rotation_translation(
            turn_to(end - start),
            start,
        ))
    }

    /// A box that reaches as far as `half_extents` along its own axes.
    #[must_use]
    pub fn cuboid(&self, center: DVec3, half_extents: DVec3, rotation: DQuat) -> Model {
        self.cuboid
            .clone()
            .with_placement(DAffine3::from_scale_rotation_translation(
                half_extents,
                rotation.normalize(),
                center,
            ))
    }

    /// An arrow with a shaft of some radius; its vertices are made again, as the capsule's.
    #[must_use]
    pub fn arrow(&self, start: DVec3, end: DVec3, radius: f64) -> Model {
        let outline = arrow_outline(start.distance(end), radius);
        lathe(&self.arrow, &outline).with_placement(DAffine3::from_rotation_translation(
            turn_to(end - start),
            start,
        ))
    }
}

/// Turns +Z to a direction.
fn turn_to(direction: DVec3) -> DQuat {
    DQuat::from_rotation_arc(DVec3::Z, direction.normalize_or(DVec3::Z))
}

fn capsule_outline(length: f64, radius: f64) -> Vec<OutlinePoint> {
    let arc = |height: f64, from: f64| {
        (0..=RINGS).map(move |k| {
            let angle = from + FRAC_PI_2 * k as f64 / RINGS as f64;
            let outward = DVec2::new(angle.cos(), angle.sin());
            OutlinePoint {
                place: DVec2::new(0.0, height) + outward * radius,
                outward,
            }
        })
    };
    arc(0.0, -FRAC_PI_2).chain(arc(length, 0.0)).collect()
}

/// From height 0 to 1 with radius 1; each corner twice, once for either side.
fn cylinder_outline() -> Vec<OutlinePoint> {
    sharp_outline(&[DVec2::ZERO, DVec2::X, DVec2::ONE, DVec2::Y])
}

fn arrow_outline(length: f64, radius: f64) -> Vec<OutlinePoint> {
    let [head_length, head_radius] = HEAD.map(|share| share * radius);
    let neck = (length - head_length).max(0.0);
    let corners = [
        [0.0, 0.0],
        [radius, 0.0],
        [radius, neck],
        [head_radius, neck],
        [0.0, length],
    ];

    sharp_outline(&corners.map(DVec2::from_array))
}

/// Straight sides between corners, each with its own normal.
fn sharp_outline(corners: &[DVec2]) -> Vec<OutlinePoint> {
    corners
        .windows(2)
        .flat_map(|side| {
            let along = (side[1] - side[0]).normalize_or_zero();
            // The side's normal, to the right of its direction.
            let outward = DVec2::new(along.y, -along.x);
            [
                OutlinePoint {
                    place: side[0],
                    outward,
                },
                OutlinePoint {
                    place: side[1],
                    outward,
                },
            ]
        })
        .collect()
}

/// Sweeps an outline (from the lower to the upper pole) around +Z.
fn lathe(surface: &Arc<Surface>, outline: &[OutlinePoint]) -> Model {
    // The outline has radius and height; a sector rotates it about +Z.
    let around = |flat: DVec2, sector: usize| {
        let (sin, cos) = (TAU * sector as f64 / SECTORS as f64).sin_cos();
        DVec3::new(flat.x * cos, flat.x * sin, flat.y)
    };

    let rings = || {
        outline
            .iter()
            .flat_map(|turned| (0..SECTORS).map(move |sector| (turned, sector)))
    };
    let positions: Vec<DVec3> = rings()
        .map(|(turned, sector)| around(turned.place, sector))
        .collect();

    let normals: Vec<DVec3> = rings()
        .map(|(turned, sector)| around(turned.outward, sector))
        .collect();

    Model::new(
        surface.clone(),
        Arc::new(Vertices::from((positions.as_slice(), normals.as_slice()))),
    )
}

/// The triangles of all outlines with as many points. Solids show no wireframe: their triangles
/// mean nothing to the user.
fn lathed_surface(rings: usize) -> Arc<Surface> {
    let mut triangles = Vec::new();
    for ring in 0..rings - 1 {
        for sector in 0..SECTORS {
            let at = |ring: usize, sector: usize| (ring * SECTORS + sector % SECTORS) as u32;
            // The last sector is joined to the first.
            let [a, b, c, d] = [
                at(ring, sector),
                at(ring, sector + 1),
                at(ring + 1, sector + 1),
                at(ring + 1, sector),
            ];
            triangles.extend([[a, b, c], [a, c, d]]);
        }
    }

    Arc::new(Surface {
        triangles,
        edges: Vec::new(),
        appearance: None,
    })
}

/// From −1 to 1 along each axis, each face with its own corners.
fn unit_cuboid() -> Model {
    let mut positions = Vec::new();
    let mut normals = Vec::new();
    let mut triangles = Vec::new();
    for side in Side::ALL {
        let out = side.direction();
        // Two axes across the face, so that its corners run counter-clockwise.
        let u = DVec3::new(out.z, out.x, out.y);
        let v = out.cross(u);
        let first = positions.len() as u32;
        positions.extend([out - u - v, out + u - v, out + u + v, out - u + v]);
        normals.extend([out; 4]);
        triangles.extend([[first, first + 1, first + 2], [first, first + 2, first + 3]]);
    }

    let surface = Arc::new(Surface {
        triangles,
        edges: Vec::new(),
        appearance: None,
    });

    Model::new(
        surface,
        Arc::new(Vertices::from((positions.as_slice(), normals.as_slice()))),
    )
}

/// Length of a gizmo's arrows on the screen, in points.
const GIZMO_LENGTH: f32 = 64.0;
/// Half the side of what can be grabbed.
const GRIP: f32 = 10.0;
/// An arrow shorter than this on the screen points at the camera and cannot be dragged.
const SHORTEST: f32 = 16.0;

/// Three arrows and a middle by which a place is dragged: along an axis, or in the view plane.
///
/// Returns where the place goes while it is dragged. `label` names what is moved.
pub fn gizmo_ui(
    ui: &Ui,
    canvas: &Canvas,
    id: impl AsIdSalt,
    label: &str,
    place: DVec3,
) -> Option<DVec3> {
    let id = canvas.response.id.with("gizmo").with(id);
    let middle = canvas.view.project(place)?;
    let axes = [Side::Right, Side::Top, Side::Front];

    let mut moved = None;
    for side in axes {
        // An axis that points at the camera cannot be dragged.
        let Some(tip) = arrow_tip(&canvas.view, place, side.direction()) else {
            continue;
        };

        let (letter, color) = color_of(side);
        let drag_area = drag_area_ui(
            ui,
            id.with(letter),
            tip,
            format!("Move {label} along {letter}"),
        );

        let color = if drag_area.hovered() || drag_area.dragged() {
            Color32::WHITE
        } else {
            color
        };

        paint_arrow(&canvas.painter, middle, tip, color);
        moved = moved.or(dragged_place(&drag_area, place, |start, from, to| {
            canvas.view.drag_along(start, side.direction(), from, to)
        }));
    }

    // The centre moves in the view plane.
    let drag_area = drag_area_ui(ui, id.with("middle"), middle, format!("Move {label}"));
    let fill = if drag_area.hovered() || drag_area.dragged() {
        Color32::WHITE
    } else {
        Color32::from_gray(225)
    };

    canvas
        .painter
        .circle(middle, 6.0, fill, Stroke::new(1.5, Color32::from_gray(40)));

    moved.or(dragged_place(&drag_area, place, |start, from, to| {
        canvas.view.drag_in_view_plane(start, from, to)
    }))
}

/// A line with a solid head, on a dark rim that keeps it readable on any ground.
fn paint_arrow(painter: &Painter, start: Pos2, tip: Pos2, color: Color32) {
    let along = (tip - start).normalized();
    let neck = tip - along * 11.0;
    let aside = along.rot90() * 5.5;
    let rim = Stroke::new(1.0, Color32::from_black_alpha(120));
    painter.line_segment([start, neck], Stroke::new(4.0, rim.color));
    painter.line_segment([start, neck], Stroke::new(2.5, color));
    painter.add(Shape::convex_polygon(
        vec![tip, neck + aside, neck - aside],
        color,
        rim,
    ));
}

/// Where an axis' arrow ends on the screen; `None` where it points at the camera.
fn arrow_tip(view: &View, place: DVec3, direction: DVec3) -> Option<Pos2> {
    let length = view.world_per_pixel(place) * f64::from(GIZMO_LENGTH);
    let middle = view.project(place)?;
    let tip = view.project(place + direction * length)?;
    (middle.distance(tip) > SHORTEST).then_some(tip)
}

fn drag_area_ui(ui: &Ui, id: Id, place: Pos2, label: String) -> Response {
    let drag_area = ui.interact(
        Rect::from_center_size(place, Vec2::splat(2.0 * GRIP)),
        id,
        Sense::drag(),
    );
    drag_area.widget_info(|| WidgetInfo::labeled(Role::Button, ui.is_enabled(), &label));
    drag_area
}

/// Where a drag that began at some place has taken it: from the start each time, so that nothing
/// adds up.
fn dragged_place(
    drag_area: &Response,
    place: DVec3,
    drag: impl Fn(DVec3, Pos2, Pos2) -> DVec3,
) -> Option<DVec3> {
    let ctx = &drag_area.ctx;
    let pointer = drag_area.interact_pointer_pos();
    // The start is stored for the whole drag, so that rounding does not accumulate.
    if drag_area.drag_started()
        && let Some(from) = ctx.input(|input| input.pointer.press_origin()).or(pointer)
    {
        ctx.data_mut(|data| data.insert_temp(drag_area.id, (place, from)));
    }

    if !drag_area.dragged() {
        return None;
    }

    let (start, from) = ctx.data(|data| data.get_temp::<(DVec3, Pos2)>(drag_area.id))?;
    Some(drag(start, from, pointer?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant::mesh::Mesh;

    fn as_mesh(model: &Model) -> Mesh {
        let positions = (0..model.vertices.positions.len())
            .map(|v| model.position(v as u32))
            .collect();
        Mesh::from_triangles(positions, &model.surface.triangles).unwrap()
    }

    #[test]
    fn solids_have_the_volume_of_their_closed_form() {
        let solids = Solids::new();
        let start = DVec3::new(1.0, 2.0, 3.0);
        let end = DVec3::new(2.0, 0.0, 5.0);
        let radius = 0.5_f64;

        let length = start.distance(end);
        let ball = TAU * 2.0 / 3.0 * radius.powi(3);
        let bar = 0.5 * TAU * radius * radius * length;
        let turn = DQuat::from_rotation_x(0.4);

        for (name, model, volume) in [
            ("sphere", solids.sphere(start, radius), ball),
            ("cylinder", solids.cylinder(start, end, radius), bar),
            ("capsule", solids.capsule(start, end, radius), bar + ball),
            (
                "cuboid",
                solids.cuboid(start, DVec3::new(1.0, 2.0, 3.0), turn),
                48.0,
            ),
        ] {
            let found = as_mesh(&model).signed_volume();
            assert!(
                (found / volume - 1.0).abs() < 0.02,
                "{name}: {found} for {volume}"
            );
        }
    }

    #[test]
    fn normals_point_out_of_the_triangles_they_belong_to() {
        let solids = Solids::new();
        let x = DVec3::X * 10.0;
        for model in [
            solids.sphere(DVec3::ZERO, 1.0),
            solids.cylinder(DVec3::ZERO, x, 1.0),
            solids.arrow(DVec3::ZERO, x, 0.5),
        ] {
            let positions = &model.vertices.positions;
            let normals = &model.vertices.normals;
            for triangle in &model.surface.triangles {
                let [a, b, c] = triangle.map(|v| positions[v as usize]);
                let area = (b - a).cross(c - a);
                assert!(
                    triangle
                        .iter()
                        .all(|&v| area.dot(normals[v as usize]) > -1e-5)
                );
            }
        }
    }

    #[test]
    fn a_capsule_reaches_its_radius_beyond_both_ends() {
        let model = Solids::new().capsule(DVec3::ZERO, DVec3::Y * 2.0, 0.5);
        let bounds = as_mesh(&model).bounds().unwrap();
        assert!(
            (bounds.min.y + 0.5).abs() < 1e-6 && (bounds.max.y - 2.5).abs() < 1e-6,
            "{bounds:?}"
        );
    }
}
