//! Projection between screen and scene: points, rays, drags.
//!
//! **Equation.** With the axes right `r`, up `u`, back `b` of a camera at `e`, a focal length `f`
//! in points of the screen and a point `p` at the depth `d = (e − p)·b`, the position of `p` is
//! `f/d ((p − e)·r, −(p − e)·u)` from the centre of the rectangle. In an orthographic view `d` is
//! the distance of the camera for all points. All points on the ray under the cursor stay there
//! when the camera and its target are scaled about any point of that ray.

use eframe::egui::{Pos2, Rect, Vec2};
use pliant::mesh::glam::{DVec2, DVec3};
use pliant::rig::SketchCamera;

use crate::model::camera::{Camera, Projection};

/// A ray into the scene.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ray {
    /// Where it starts.
    pub origin: DVec3,
    /// The unit vector it runs along.
    pub direction: DVec3,
}

impl Ray {
    /// Where the ray meets the plane through `point`; `None` when it runs along it or away from it.
    #[must_use]
    pub fn meet_plane(&self, point: DVec3, normal: DVec3) -> Option<DVec3> {
        let along = (point - self.origin).dot(normal) / self.direction.dot(normal);
        (along.is_finite() && along >= 0.0).then(|| self.origin + self.direction * along)
    }

    /// How far along the line `point + s · direction` it is nearest to the ray; `None` when both
    /// run the same way.
    #[must_use]
    pub fn nearest_on_line(&self, point: DVec3, direction: DVec3) -> Option<f64> {
        let unit = direction.try_normalize()?;
        let across = unit.dot(self.direction);
        let offset = self.origin - point;
        let sine_squared = 1.0 - across * across;
        let along = (offset.dot(unit) - across * offset.dot(self.direction)) / sine_squared;
        (sine_squared > 1e-4 && along.is_finite()).then_some(along)
    }
}

/// A camera on a rectangle of the screen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct View {
    /// The camera.
    pub camera: Camera,
    /// The rectangle, in egui's points.
    pub rect: Rect,
}

impl View {
    /// The angle of the far camera that stands for one without perspective. Chosen: near the least
    /// that a sketch may have; a point one picture's height before or behind the target is
    /// misplaced by a four-hundredth of its way from the centre.
    const PARALLEL_SKETCH_DEGREES: f64 = 0.15;

    /// Width over height.
    #[must_use]
    pub fn aspect(&self) -> f64 {
        f64::from(self.rect.width()) / f64::from(self.rect.height()).max(1.0)
    }

    /// Where a point falls on the screen; `None` behind the camera.
    #[must_use]
    pub fn project(&self, point: DVec3) -> Option<Pos2> {
        let place = self.middle() + self.offset_on_screen(point)?;
        let place = Pos2::new(place.x as f32, place.y as f32);
        place.is_finite().then_some(place)
    }

    /// The ray through a place of the screen.
    #[must_use]
    pub fn ray(&self, place: Pos2) -> Ray {
        let axes = self.camera.axes();
        let offset = self.offset_from_center(place);
        match self.camera.projection {
            Projection::Perspective => {
                // Screen y points down, the camera's up axis points up.
                let across = (axes.right * offset.x - axes.up * offset.y) / self.focal_points();
                Ray {
                    origin: self.camera.position(),
                    direction: (across - axes.back).normalize(),
                }
            }
            Projection::Orthographic => {
                let across = (axes.right * offset.x - axes.up * offset.y)
                    * self.world_per_pixel(self.camera.target);
                Ray {
                    origin: self.camera.position() + across,
                    direction: -axes.back,
                }
            }
        }
    }

    /// The length that one of egui's points shows at the depth of a place in the scene.
    #[must_use]
    pub fn world_per_pixel(&self, point: DVec3) -> f64 {
        let depth = match self.camera.projection {
            Projection::Perspective => (self.camera.position() - point)
                .dot(self.camera.axes().back)
                .abs(),
            Projection::Orthographic => self.camera.distance,
        };
        depth / self.focal_points()
    }

    /// Where a point goes when it is dragged in the plane through it that is parallel to the
    /// screen.
    #[must_use]
    pub fn drag_in_view_plane(&self, point: DVec3, from: Pos2, to: Pos2) -> DVec3 {
        self.drag_in_plane(point, self.camera.axes().back, from, to)
    }

    /// Where a point goes when it is dragged in the plane through it with this normal; it stays
    /// where the plane is seen edge-on.
    #[must_use]
    pub fn drag_in_plane(&self, point: DVec3, normal: DVec3, from: Pos2, to: Pos2) -> DVec3 {
        let meet = |place| self.ray(place).meet_plane(point, normal);
        match (meet(from), meet(to)) {
            (Some(start), Some(end)) => point + (end - start),
            _ => point,
        }
    }

    /// Where a point goes when it is dragged along a direction; it stays where that points into the
    /// screen.
    #[must_use]
    pub fn drag_along(&self, point: DVec3, direction: DVec3, from: Pos2, to: Pos2) -> DVec3 {
        let along = |place| self.ray(place).nearest_on_line(point, direction);
        match (along(from), along(to)) {
            (Some(start), Some(end)) => point + direction.normalize() * (end - start),
            _ => point,
        }
    }

    /// The place at the target's depth under a place of the screen.
    #[must_use]
    pub fn at_target_depth(&self, place: Pos2) -> DVec3 {
        self.ray(place)
            .meet_plane(self.camera.target, self.camera.axes().back)
            .unwrap_or(self.camera.target)
    }

    /// The camera after bringing what is under the cursor `factor` times as near; it stays under
    /// the cursor.
    #[must_use]
    pub fn zoom_to_cursor(&self, cursor: Pos2, factor: f64) -> Camera {
        let mut camera = self.camera;
        camera.zoom_about(self.at_target_depth(cursor), factor);
        camera
    }

    /// The camera after sliding the picture by a drag on the screen.
    #[must_use]
    pub fn panned(&self, drag: Vec2) -> Camera {
        let mut camera = self.camera;
        let scale = self.world_per_pixel(camera.target);
        camera.pan(-f64::from(drag.x) * scale, f64::from(drag.y) * scale);
        camera
    }

    /// The camera of a stroke that is drawn here; its pixels are [`to_uv`](Self::to_uv).
    ///
    /// Strokes know perspective only: without it, the camera is far away.
    #[must_use]
    pub fn sketch_camera(&self) -> SketchCamera {
        let camera = &self.camera;
        let axes = self.camera.axes();
        // A far camera with a small angle stands for an orthographic one.
        let (fov_y_degrees, distance) = match camera.projection {
            Projection::Perspective => (camera.fov_y_rad.to_degrees(), camera.distance),
            Projection::Orthographic => {
                let degrees = Self::PARALLEL_SKETCH_DEGREES;
                (
                    degrees,
                    camera.half_height() / (0.5 * degrees.to_radians()).tan(),
                )
            }
        };

        let [width, height] = self.sketch_size();
        SketchCamera {
            eye: camera.target + axes.back * distance,
            target: camera.target,
            up: axes.up,
            fov_y_degrees,
            width,
            height,
        }
    }

    /// A place of the screen in the pixels of [`sketch_camera`](Self::sketch_camera): right and
    /// down from the upper left corner.
    #[must_use]
    pub fn to_uv(&self, place: Pos2) -> [f64; 2] {
        let [width, height] = self.sketch_size();
        let offset = self.offset_from_center(place) * (f64::from(height) / self.height());
        [
            0.5 * f64::from(width) + offset.x,
            0.5 * f64::from(height) + offset.y,
        ]
    }

    fn sketch_size(&self) -> [u32; 2] {
        [self.rect.width(), self.rect.height()].map(|side| side.round().max(1.0) as u32)
    }

    fn middle(&self) -> DVec2 {
        let Pos2 { x, y } = self.rect.center();
        DVec2::new(f64::from(x), f64::from(y))
    }

    fn offset_from_center(&self, place: Pos2) -> DVec2 {
        DVec2::new(f64::from(place.x), f64::from(place.y)) - self.middle()
    }

    fn height(&self) -> f64 {
        f64::from(self.rect.height()).max(1.0)
    }

    /// The distance at which a length of the scene is as many points long.
    fn focal_points(&self) -> f64 {
        0.5 * self.height() / self.camera.half_height_tangent()
    }

    /// Right and down from the centre of the rectangle; `None` behind the camera.
    fn offset_on_screen(&self, point: DVec3) -> Option<DVec2> {
        let axes = self.camera.axes();
        let offset = point - self.camera.position();
        let depth = match self.camera.projection {
            Projection::Perspective => -offset.dot(axes.back),
            Projection::Orthographic => self.camera.distance,
        };
        (depth > 0.0).then(|| {
            DVec2::new(offset.dot(axes.right), -offset.dot(axes.up)) * (self.focal_points() / depth)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::FRAC_PI_2;

    use eframe::egui::pos2;
    use pliant::mesh::Bounds;

    /// Rounding of a place on the screen to single precision, in points.
    const SCREEN_ROUNDING: f64 = 4.0 * 1000.0 * f32::EPSILON as f64;

    fn views() -> Vec<View> {
        let rect = Rect::from_min_max(pos2(40.0, 20.0), pos2(680.5, 500.25));
        let camera = Camera {
            target: DVec3::new(0.3, 1.4, -0.2),
            yaw: 0.7,
            pitch: -0.35,
            distance: 4.0,
            ..Camera::default()
        };

        let straight_down = Camera {
            pitch: FRAC_PI_2,
            ..camera
        };

        let parallel = Camera {
            projection: Projection::Orthographic,
            ..camera
        };

        [camera, straight_down, parallel]
            .map(|camera| View { camera, rect })
            .to_vec()
    }

    fn places() -> [Pos2; 4] {
        [
            pos2(360.25, 260.125),
            pos2(41.0, 499.0),
            pos2(600.5, 30.25),
            pos2(222.0, 333.0),
        ]
    }

    fn apart(a: Pos2, b: Pos2) -> f64 {
        f64::from(a.distance(b))
    }

    #[test]
    fn projecting_a_point_of_a_ray_gives_its_screen_position() {
        for view in views() {
            for place in places() {
                let Ray { origin, direction } = view.ray(place);
                for along in [0.5, 3.0, 200.0] {
                    let found = view.project(origin + direction * along).expect("in front");
                    assert!(apart(found, place) < SCREEN_ROUNDING, "{found:?} {place:?}");
                }
            }
        }

        let view = views()[0];
        assert_eq!(
            view.project(view.camera.position() + view.camera.axes().back),
            None,
            "behind the eye"
        );
    }

    #[test]
    fn the_matrices_agree_with_the_projection() {
        for view in views() {
            let clip_from_world = view.camera.clip_from_view(view.aspect(), [-50.0, 50.0])
                * view.camera.view_from_world();
            for point in [
                DVec3::ZERO,
                DVec3::new(1.0, 2.0, 0.5),
                DVec3::new(-0.4, 0.9, -0.7),
            ] {
                let seen = clip_from_world.project_point3(point);
                let center = view.rect.center();
                let size = view.rect.size();
                let place = pos2(
                    center.x + 0.5 * size.x * seen.x as f32,
                    center.y - 0.5 * size.y * seen.y as f32,
                );
                assert!(apart(place, view.project(point).unwrap()) < SCREEN_ROUNDING);
                assert!(seen.z > 0.0 && seen.z < 1.0, "depth {}", seen.z);
            }

            // The depth buffer is reversed.
            let near = view.camera.target + view.camera.axes().back;
            let far = view.camera.target - view.camera.axes().back;

            assert!(
                clip_from_world.project_point3(near).z > clip_from_world.project_point3(far).z,
                "near things have more depth"
            );
        }
    }

    #[test]
    fn zooming_keeps_what_is_under_the_cursor() {
        for view in views() {
            for (place, factor) in places().into_iter().zip([0.5, 0.9, 1.3, 4.0]) {
                let Ray { origin, direction } = view.ray(place);
                let zoomed = View {
                    camera: view.zoom_to_cursor(place, factor),
                    ..view
                };

                // All points of the ray stay on it, not only that at the distance of the target.
                for along in [5.0, 9.0] {
                    let found = zoomed
                        .project(origin + direction * along)
                        .expect("still in front");
                    assert!(
                        apart(found, place) < 4.0 * SCREEN_ROUNDING,
                        "{found:?} {place:?}"
                    );
                }

                assert!((zoomed.camera.distance / view.camera.distance - factor).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn a_point_dragged_in_the_view_plane_follows_the_cursor_and_keeps_its_depth() {
        for view in views() {
            let point = DVec3::new(0.5, 1.1, 0.3);
            let from = view.project(point).unwrap();
            for to in places() {
                let moved = view.drag_in_view_plane(point, from, to);
                assert!(apart(view.project(moved).unwrap(), to) < 4.0 * SCREEN_ROUNDING);
                assert!((moved - point).dot(view.camera.axes().back).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn dragging_along_an_axis_or_in_a_plane_stays_on_it_and_inverts_the_projection() {
        for view in views() {
            let point = DVec3::new(0.5, 1.1, 0.3);
            let from = view.project(point).unwrap();
            let along_x = point + DVec3::X * 0.4;

            assert!(
                view.drag_along(point, DVec3::X * 3.0, from, view.project(along_x).unwrap())
                    .distance(along_x)
                    < 1e-4
            );

            let in_plane = point + DVec3::new(0.2, 0.0, -0.3);
            assert!(
                view.drag_in_plane(point, DVec3::Y, from, view.project(in_plane).unwrap())
                    .distance(in_plane)
                    < 1e-4
            );
        }

        // An axis straight into the screen is not movable with the pointer.
        let view = views()[2];
        let into_the_screen = view.camera.axes().back;
        let point = view.camera.target;

        assert_eq!(
            view.drag_along(
                point,
                into_the_screen,
                pos2(100.0, 100.0),
                pos2(200.0, 100.0)
            ),
            point
        );
    }

    #[test]
    fn the_length_of_a_screen_point_is_correct() {
        for view in views() {
            let point = DVec3::new(0.5, 1.1, 0.3);
            let step = view.camera.axes().right * view.world_per_pixel(point);
            assert!(
                (apart(
                    view.project(point + step).unwrap(),
                    view.project(point).unwrap()
                ) - 1.0)
                    .abs()
                    < SCREEN_ROUNDING
            );
        }
    }

    #[test]
    fn the_sketch_camera_agrees_with_the_view() {
        let point = DVec3::new(0.5, 1.1, 0.3);
        for view in views() {
            let sketch = view.sketch_camera();
            assert_eq!(sketch.check(), Ok(()));

            let [u, v] = view.to_uv(view.project(point).unwrap());
            let [sketch_u, sketch_v] = sketch.project(point).unwrap();

            // Without perspective the far camera is off by its own small angle.
            let allowed = if view.camera.projection == Projection::Perspective {
                2.0 * SCREEN_ROUNDING
            } else {
                0.5
            };

            assert!(
                (u - sketch_u).abs() < allowed && (v - sketch_v).abs() < allowed,
                "{u} {v} against {sketch_u} {sketch_v}"
            );
        }
    }

    #[test]
    fn framing_shows_the_whole_box_from_every_side_and_keeps_the_direction() {
        let bounds = Bounds {
            min: DVec3::new(-1.0, 0.5, -2.0),
            max: DVec3::new(2.0, 4.0, 1.0),
        };
        for view in views() {
            let mut camera = view.camera;
            camera.frame_in(bounds, view.aspect());
            let framed = View {
                camera,
                rect: view.rect,
            };

            assert_eq!(
                (camera.yaw, camera.pitch),
                (view.camera.yaw, view.camera.pitch)
            );

            // The bits of k choose a corner of the box.
            for k in 0..8 {
                let share = DVec3::new(f64::from(k & 1), f64::from(k >> 1 & 1), f64::from(k >> 2));
                let place = framed
                    .project(bounds.min + bounds.size() * share)
                    .expect("in front");
                assert!(view.rect.contains(place), "{place:?}");
            }
        }
    }

    #[test]
    fn orbiting_keeps_the_target_in_the_middle_and_up_upright() {
        let mut camera = views()[0].camera;
        for _ in 0..50 {
            camera.orbit(0.7, 0.2);
            let view = View {
                camera,
                ..views()[0]
            };

            assert!(
                apart(view.project(camera.target).unwrap(), view.rect.center()) < SCREEN_ROUNDING
            );
            assert!(camera.axes().up.y >= 0.0 && camera.axes().right.y == 0.0);
        }

        assert_eq!(camera.pitch, FRAC_PI_2, "the pitch ends at the pole");
    }

    #[test]
    fn panning_slides_the_picture_with_the_cursor() {
        for view in views() {
            let target = view.camera.target;
            let moved = View {
                camera: view.panned(Vec2::new(30.0, -12.0)),
                ..view
            };
            let expected = view.project(target).unwrap() + Vec2::new(30.0, -12.0);
            assert!(apart(moved.project(target).unwrap(), expected) < 4.0 * SCREEN_ROUNDING);
        }
    }
}
