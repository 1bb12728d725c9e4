//! Projection of triangles, strokes and markers to the screen, with clipping at the near plane.

use glam::DVec3;
use pliant_linalg::parallel;

use super::prepared_scene::PreparedScene;
use crate::Color;
use crate::camera::projection::{ScreenPoint, ScreenProjection};
use crate::raster::{ScreenCapsule, ScreenTriangle};

/// A primitive that is drawn over the surfaces.
#[derive(Debug, Clone, Copy)]
pub(super) enum Overlay {
    Line(Color),
    Ball(Color),
}

/// Triangles in one parallel task.
const TRIANGLES_PER_TASK: usize = 4096;

/// All triangles of the scene in front of the near plane.
pub(super) fn project_triangles(
    scene: &PreparedScene<'_>,
    projection: &ScreenProjection,
) -> Vec<ScreenTriangle> {
    let mut all = Vec::new();
    for (object, prepared) in scene.scene.objects.iter().zip(&scene.objects) {
        let projected = parallel::map(prepared.positions.len(), TRIANGLES_PER_TASK, |v| {
            ProjectedVertex::new(prepared.positions[v], projection)
        });
        let triangles = object.mesh.triangles();
        // Pieces keep their order, so that the number of threads does not matter.
        let pieces = parallel::map(triangles.len().div_ceil(TRIANGLES_PER_TASK), 1, |piece| {
            let first = piece * TRIANGLES_PER_TASK;
            let mut piece = Vec::with_capacity(TRIANGLES_PER_TASK);
            for (t, &[a, b, c]) in triangles
                .iter()
                .enumerate()
                .skip(first)
                .take(TRIANGLES_PER_TASK)
            {
                let corners = [
                    &projected[a as usize],
                    &projected[b as usize],
                    &projected[c as usize],
                ];
                clip_near(
                    corners,
                    prepared.first_triangle + t as u32,
                    projection,
                    &mut piece,
                );
            }

            piece
        });

        all.extend(pieces.into_iter().flatten());
    }

    all
}

/// A vertex in camera coordinates, and on the screen if it is in front of the near plane.
struct ProjectedVertex {
    view: DVec3,
    screen: ScreenPoint,
    in_front: bool,
}

impl ProjectedVertex {
    fn new(p: DVec3, projection: &ScreenProjection) -> Self {
        let view = projection.view(p);
        Self {
            view,
            screen: projection.screen(view),
            in_front: projection.in_front(view),
        }
    }
}

/// Appends the part of a triangle in front of the near plane: none, one or two triangles.
fn clip_near(
    corners: [&ProjectedVertex; 3],
    source: u32,
    projection: &ScreenProjection,
    all: &mut Vec<ScreenTriangle>,
) {
    let [a, b, c] = corners;
    if a.in_front && b.in_front && c.in_front {
        all.push(ScreenTriangle {
            points: [a.screen, b.screen, c.screen],
            source,
        });
        return;
    }

    // Triangles with vertices that are not finite are not drawn.
    if corners.iter().any(|corner| corner.view.is_nan()) {
        return;
    }

    // The source keeps the index of the whole triangle, for its paint.
    let mut push = |views: [DVec3; 3]| {
        all.push(ScreenTriangle {
            points: views.map(|v| projection.screen(v)),
            source,
        })
    };

    let in_front = corners.iter().filter(|corner| corner.in_front).count();
    // Rotated so that the corner that is alone on its side of the plane comes first.
    let alone = corners
        .iter()
        .position(|corner| corner.in_front == (in_front == 1))
        .unwrap_or(0);

    let [a, b, c] = [0, 1, 2].map(|k| corners[(alone + k) % 3].view);
    match in_front {
        1 => push([
            a,
            projection.near_crossing(a, b),
            projection.near_crossing(a, c),
        ]),
        2 => {
            let to_b = projection.near_crossing(b, a);
            let to_c = projection.near_crossing(c, a);
            push([to_b, b, c]);
            push([to_b, c, to_c]);
        }
        _ => {}
    }
}

/// Chosen: how far overlays are moved towards the eye, in radii of the scene, so that the surface
/// does not hide them.
const OVERLAY_LIFT: f64 = 0.012;

/// All segments of strokes and all markers in front of the near plane.
pub(super) fn project_overlays(
    scene: &PreparedScene<'_>,
    projection: &ScreenProjection,
) -> Vec<(ScreenCapsule, Overlay)> {
    let lifted = |p: DVec3| {
        let view = projection.view(scene.space.point(p));
        let mut at = projection.screen(view);
        at.depth = projection.nearer(at.depth, OVERLAY_LIFT);
        (view.is_finite() && projection.in_front(view)).then_some(at)
    };

    let mut all = Vec::new();
    for stroke in &scene.scene.strokes {
        for pair in stroke.points.windows(2) {
            if let (Some(a), Some(b)) = (lifted(pair[0]), lifted(pair[1])) {
                all.push((
                    ScreenCapsule {
                        ends: [a, b],
                        radius: 0.5 * stroke.width_px,
                    },
                    Overlay::Line(stroke.color),
                ));
            }
        }
    }

    for marker in &scene.scene.markers {
        if let Some(at) = lifted(marker.position) {
            all.push((
                ScreenCapsule {
                    ends: [at, at],
                    radius: marker.radius_px,
                },
                Overlay::Ball(marker.color),
            ));
        }
    }

    all
}
