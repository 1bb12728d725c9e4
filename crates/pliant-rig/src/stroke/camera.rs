//! Perspective camera of a sketch: rays through pixels and projection to pixels.
//!
//! **Problem.** A stroke is a list of points on the screen. Each of them is a ray into the scene,
//! and each point of the scene in front of the camera has a pixel.
//!
//! **Equation.** With axes right `x`, up `y`, forward `z`, a picture of `w` × `h` pixels and the
//! vertical angle `φ`, the focal length in pixels is `f = h / (2 tan(φ/2))`, and
//!
//! ```text
//! (u, v) = (w/2 + f x/z,  h/2 − f y/z)        ray(u, v) = z + x (u − w/2)/f + y (h/2 − v)/f
//! ```
//!
//! **Departures.** `u` points right and `v` down from the upper left corner of the picture, so that
//! the centre of the first pixel is (½, ½). These are the conventions of the renderer: the rays of
//! this camera hit what is under a stroke on its picture.

use glam::DVec3;
use pliant_linalg::portable::tan;
use pliant_mesh::VertexId;
use serde::{Deserialize, Serialize};

use crate::{Pin, RigError};

/// A perspective camera with the size of its picture.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SketchCamera {
    /// The position of the camera.
    pub eye: DVec3,
    /// A point at the centre of the picture.
    pub target: DVec3,
    /// A direction that points up in the picture. If it is parallel to the viewing direction, −Z or
    /// +X is up instead.
    pub up: DVec3,
    /// The vertical field of view, in degrees.
    pub fov_y_degrees: f64,
    /// Width of the picture in pixels.
    pub width: u32,
    /// Height of the picture in pixels.
    pub height: u32,
}

/// A freehand line in the pixels of a camera; the content of a stroke file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stroke {
    /// The camera.
    pub camera: SketchCamera,
    /// Points in pixels from the upper left corner, in the order of drawing.
    pub points: Vec<[f64; 2]>,
}

/// Right-handed axes of a camera.
#[derive(Debug, Clone, Copy)]
struct Axes {
    right: DVec3,
    up: DVec3,
    forward: DVec3,
}

impl SketchCamera {
    /// Valid fields of view, in degrees. *Chosen*: those that the renderer draws without clamping.
    const ANGLES_DEGREES: std::ops::RangeInclusive<f64> = 0.1..=175.0;
    /// Squared sine of the angle below which `up` and the viewing direction count as parallel, as
    /// in the renderer.
    const PARALLEL_SQUARED: f64 = 1e-12;

    /// Returns an error for a camera that cannot project.
    pub fn check(&self) -> Result<(), RigError> {
        let bad = |what| Err(RigError::BadCamera { what });
        if ![self.eye, self.target, self.up]
            .iter()
            .all(|v| v.is_finite())
        {
            return bad("eye, target and up must be finite");
        }
        if (self.target - self.eye).try_normalize().is_none() {
            return bad("eye and target must be two different points");
        }
        if !Self::ANGLES_DEGREES.contains(&self.fov_y_degrees) {
            return bad("angle fov_y_degrees must be between 0.1 and 175");
        }
        if self.width == 0 || self.height == 0 {
            return bad("width and height must be at least one pixel");
        }
        Ok(())
    }

    /// Origin and unit direction of the ray through a point of the picture, in pixels from its
    /// upper left corner.
    #[must_use]
    pub fn ray(&self, [u, v]: [f64; 2]) -> (DVec3, DVec3) {
        let axes = self.axes();
        let focal = self.focal_pixels();
        let [center_u, center_v] = self.center_pixels();
        let right = axes.right * ((u - center_u) / focal);
        let up = axes.up * ((center_v - v) / focal);
        (self.eye, (axes.forward + (right + up)).normalize())
    }

    /// The pixel of a point, from the upper left corner; `None` behind the camera.
    #[must_use]
    pub fn project(&self, point: DVec3) -> Option<[f64; 2]> {
        let axes = self.axes();
        let offset = point - self.eye;
        let depth = offset.dot(axes.forward);
        let scale = self.focal_pixels() / depth;
        let [center_u, center_v] = self.center_pixels();
        let pixel = [
            center_u + offset.dot(axes.right) * scale,
            center_v - offset.dot(axes.up) * scale,
        ];
        (depth > 0.0 && pixel.iter().all(|c| c.is_finite())).then_some(pixel)
    }

    /// The unit viewing direction.
    #[must_use]
    pub fn forward(&self) -> DVec3 {
        self.axes().forward
    }

    /// The unit directions to the right and up in the picture.
    #[must_use]
    pub fn picture_axes(&self) -> [DVec3; 2] {
        let axes = self.axes();
        [axes.right, axes.up]
    }

    /// A pin that moves a vertex in the picture plane, by asset units to the right and up; its
    /// depth is free.
    #[must_use]
    pub fn view_pin(&self, vertex: impl Into<VertexId>, [right, up]: [f64; 2]) -> Pin {
        let axes = self.axes();
        Pin::across(vertex, axes.right * right + axes.up * up, axes.forward)
    }

    fn focal_pixels(&self) -> f64 {
        0.5 * f64::from(self.height) / tan(0.5 * self.fov_y_degrees.to_radians())
    }

    fn center_pixels(&self) -> [f64; 2] {
        [0.5 * f64::from(self.width), 0.5 * f64::from(self.height)]
    }

    fn axes(&self) -> Axes {
        let forward = (self.target - self.eye)
            .try_normalize()
            .unwrap_or(DVec3::NEG_Z);

        // The first direction that is not parallel to the view.
        let right = [self.up, DVec3::NEG_Z, DVec3::X]
            .into_iter()
            .map(|up| forward.cross(up.normalize_or_zero()))
            .find(|right| right.length_squared() > Self::PARALLEL_SQUARED)
            .map_or(DVec3::X, DVec3::normalize);

        Axes {
            right,
            up: right.cross(forward),
            forward,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn camera() -> SketchCamera {
        SketchCamera {
            eye: DVec3::new(1.0, 2.0, 5.0),
            target: DVec3::new(0.5, 0.0, -1.0),
            up: DVec3::Y,
            fov_y_degrees: 35.0,
            width: 640,
            height: 480,
        }
    }

    #[test]
    fn a_point_on_a_ray_projects_to_the_pixel_of_the_ray() {
        for pixel in [[0.5, 0.5], [320.0, 240.0], [639.5, 100.25], [-30.0, 700.0]] {
            let (origin, direction) = camera().ray(pixel);
            for distance in [0.1, 3.0, 1000.0] {
                let found = camera()
                    .project(origin + direction * distance)
                    .expect("in front");
                assert!(
                    (0..2).all(|c| (found[c] - pixel[c]).abs() < 1e-9),
                    "{found:?} {pixel:?}"
                );
            }

            assert_eq!(camera().project(origin - direction), None);
        }
    }

    #[test]
    fn a_view_pin_moves_along_the_picture_and_ignores_depth() {
        let camera = camera();
        let pin = camera.view_pin(3, [0.3, -0.2]);
        let [right, up] = camera.picture_axes();
        assert!((pin.displacement.dot(right) - 0.3).abs() < 1e-15);
        assert!((pin.displacement.dot(up) + 0.2).abs() < 1e-15);
        assert!(pin.displacement.dot(camera.forward()).abs() < 1e-15);

        let (projection, _) = pin.aim.projection_and_goal(DVec3::ZERO, DVec3::ZERO);
        assert!((projection * camera.forward()).length() < 1e-15);

        // To the right and up in the picture, whose rows run down.
        let from = camera.project(camera.target).unwrap();
        let to = camera.project(camera.target + pin.displacement).unwrap();
        assert!(to[0] > from[0] && to[1] > from[1]);
    }

    #[test]
    fn the_target_is_at_the_center_and_the_field_of_view_spans_the_height() {
        let camera = camera();
        let [u, v] = camera.project(camera.target).unwrap();
        assert!((u - 320.0).abs() < 1e-9 && (v - 240.0).abs() < 1e-9);
        let top = camera.ray([320.0, 0.0]).1;
        let bottom = camera.ray([320.0, 480.0]).1;
        assert!((top.angle_between(bottom).to_degrees() - 35.0).abs() < 1e-9);
        assert!(top.y > bottom.y, "pixel rows run down");
    }

    #[test]
    fn invalid_cameras_are_errors() {
        let broken = [
            SketchCamera {
                target: camera().eye,
                ..camera()
            },
            SketchCamera {
                up: DVec3::NAN,
                ..camera()
            },
            SketchCamera {
                fov_y_degrees: 180.0,
                ..camera()
            },
            SketchCamera {
                fov_y_degrees: f64::NAN,
                ..camera()
            },
            SketchCamera {
                width: 0,
                ..camera()
            },
        ];

        assert!(
            broken
                .iter()
                .all(|c| matches!(c.check(), Err(RigError::BadCamera { .. })))
        );
        assert_eq!(camera().check(), Ok(()));
        assert_eq!(
            SketchCamera {
                up: DVec3::ZERO,
                ..camera()
            }
            .check(),
            Ok(()),
            "another direction is up then"
        );
    }

    #[test]
    fn a_stroke_file_round_trips() {
        let text = r#"{"camera": {"eye": [0, 0, 3], "target": [0, 0, 0], "up": [0, 1, 0], "fov_y_degrees": 40, "width": 64, "height": 48},
                       "points": [[1, 2.5], [3, 4]]}"#;
        let stroke: Stroke = serde_json::from_str(text).unwrap();

        assert_eq!(
            (stroke.camera.eye, stroke.camera.height, stroke.points[0]),
            (DVec3::Z * 3.0, 48, [1.0, 2.5])
        );
        assert_eq!(
            serde_json::from_str::<Stroke>(&serde_json::to_string(&stroke).unwrap()).unwrap(),
            stroke
        );
    }
}
