//! Projection between unit space and the screen.
//!
//! **Method.** A scene is moved and scaled so that its bounding sphere is the unit sphere; all
//! tolerances in shading are relative to the model, whatever its unit. Depth is a number that is
//! linear on the screen and greater for nearer points: `1/z` in perspective, `−z` for parallel rays.

use glam::{DVec3, Vec3};
use pliant_linalg::portable::tan;
use pliant_mesh::Bounds;

use super::{Axes, Camera, Projection};

/// The translation and scale into the unit sphere.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UnitSpace {
    center: DVec3,
    scale: f64,
}

/// Coordinates beyond this are treated as not finite, so that squares cannot overflow.
const GREATEST_COORDINATE: f64 = 1e150;

impl UnitSpace {
    pub(crate) fn of(bounds: Option<Bounds>) -> Self {
        let Some(bounds) = bounds else {
            return Self {
                center: DVec3::ZERO,
                scale: 1.0,
            };
        };

        let radius = 0.5 * bounds.diagonal();
        let scale = if radius > 0.0 { 1.0 / radius } else { 1.0 };
        Self {
            center: bounds.center(),
            scale,
        }
    }

    /// The point in unit space; NaN if it is not usable.
    pub(crate) fn point(&self, p: DVec3) -> DVec3 {
        if is_usable(p) {
            (p - self.center) * self.scale
        } else {
            DVec3::NAN
        }
    }

    pub(crate) fn length(&self, length: f64) -> f64 {
        length * self.scale
    }
}

/// Whether a point can be drawn.
pub(crate) fn is_usable(p: DVec3) -> bool {
    p.abs().max_element() < GREATEST_COORDINATE && p.is_finite()
}

/// A point on the screen, in pixels from the top left, with its depth.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ScreenPoint {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) depth: f64,
}

/// A camera in unit space, bound to a picture's size.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScreenProjection {
    pub(crate) axes: Axes,
    pub(crate) eye: DVec3,
    /// Middle of the picture, in pixels.
    middle: [f64; 2],
    /// Pixels per unit at distance 1 (perspective) or everywhere (parallel rays).
    scale: f64,
    /// The inverse of `scale`.
    per_pixel: f64,
    pub(crate) perspective: bool,
    near: f64,
}

impl ScreenProjection {
    /// Chosen: the near plane, as a fraction of the distance to the target.
    const NEAR_FRACTION: f64 = 1e-3;

    pub(crate) fn new(camera: &Camera, space: &UnitSpace, [width, height]: [usize; 2]) -> Self {
        let eye = space.point(camera.eye);
        let target = space.point(camera.target);
        let half_height = 0.5 * height as f64;
        // Pixels for each unit, from half the height of the picture.
        let (perspective, scale) = match camera.projection {
            Projection::Perspective { vertical_fov_rad } => (
                true,
                half_height / tan(vertical_fov_rad.clamp(1e-3, 3.1) * 0.5),
            ),
            Projection::Orthographic { height } => {
                (false, half_height / (0.5 * space.length(height)).max(1e-12))
            }
        };

        // Parallel rays come from infinity, so that nothing is behind the eye.
        let near = if perspective {
            Self::NEAR_FRACTION * eye.distance(target).min(1.0)
        } else {
            f64::NEG_INFINITY
        };

        Self {
            axes: camera.axes(),
            eye,
            middle: [0.5 * width as f64, half_height],
            scale,
            per_pixel: 1.0 / scale,
            perspective,
            near,
        }
    }

    /// Camera coordinates of a point in unit space.
    pub(crate) fn view(&self, p: DVec3) -> DVec3 {
        self.axes.local(p - self.eye)
    }

    pub(crate) fn in_front(&self, view: DVec3) -> bool {
        view.z >= self.near
    }

    /// The intersection of the line from `a` to `b` with the near plane.
    pub(crate) fn near_crossing(&self, a: DVec3, b: DVec3) -> DVec3 {
        let t = (self.near - a.z) / (b.z - a.z);
        let crossing = a + (b - a) * t;
        DVec3::new(crossing.x, crossing.y, self.near)
    }

    /// The screen position of camera coordinates in front of the eye.
    pub(crate) fn screen(&self, view: DVec3) -> ScreenPoint {
        let (stretch, depth) = if self.perspective {
            (self.scale / view.z, 1.0 / view.z)
        } else {
            (self.scale, -view.z)
        };
        ScreenPoint {
            x: self.middle[0] + view.x * stretch,
            y: self.middle[1] - view.y * stretch,
            depth,
        }
    }

    /// Depth moved towards the eye by a length in unit space.
    pub(crate) fn nearer(&self, depth: f64, length: f64) -> f64 {
        if self.perspective {
            1.0 / (1.0 / depth - length).max(self.near)
        } else {
            depth + length
        }
    }

    /// Origin and direction, in unit space, of the ray through a screen position.
    pub(crate) fn ray(&self, x: f64, y: f64) -> (DVec3, DVec3) {
        let across = self.axes.right * ((x - self.middle[0]) * self.per_pixel)
            + self.axes.up * ((self.middle[1] - y) * self.per_pixel);
        if self.perspective {
            (self.eye, self.axes.forward + across)
        } else {
            (self.eye + across, self.axes.forward)
        }
    }
}

/// In single precision, which shading uses.
pub(crate) fn to_single(v: DVec3) -> Vec3 {
    v.as_vec3()
}
