//! The orbit camera of a viewport: target, yaw, pitch and distance.
//!
//! **Problem.** Orbit, pan and zoom, with the up axis upright.
//!
//! **Equation.** With yaw `ψ` and pitch `θ`, the axes right `r`, up `u` and back `b` (towards the
//! camera) and the position `e` of the camera are
//!
//! ```text
//! r = (cos ψ, 0, −sin ψ)     b = (sin ψ cos θ, sin θ, cos ψ cos θ)     u = b × r     e = target + distance · b
//! ```
//!
//! **Implementation.** `r` does not depend on the pitch, so that views straight down and up need no
//! special case. The orthographic projection keeps the size of objects at the target.

use std::f64::consts::{FRAC_PI_2, PI};

use pliant::mesh::Bounds;
use pliant::mesh::glam::{DMat4, DVec3};
use pliant::view::{Camera as Framed, Framing, Projection as FramedProjection, View as FramedView};
use serde::{Deserialize, Serialize};

/// The projection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Projection {
    /// Rays from one point.
    #[default]
    Perspective,
    /// Parallel rays.
    Orthographic,
}

/// A side from which to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// From +Z.
    Front,
    /// From −Z.
    Back,
    /// From +X.
    Right,
    /// From −X.
    Left,
    /// From +Y, the front at the lower edge.
    Top,
    /// From −Y, the front at the upper edge.
    Bottom,
}

impl Side {
    /// All sides.
    pub const ALL: [Self; 6] = [
        Self::Front,
        Self::Back,
        Self::Right,
        Self::Left,
        Self::Top,
        Self::Bottom,
    ];

    /// Display name.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Front => "Front",
            Self::Back => "Back",
            Self::Right => "Right",
            Self::Left => "Left",
            Self::Top => "Top",
            Self::Bottom => "Bottom",
        }
    }

    /// Display name of the view from this side.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Front => "Front view",
            Self::Back => "Back view",
            Self::Right => "Right view",
            Self::Left => "Left view",
            Self::Top => "Top view",
            Self::Bottom => "Bottom view",
        }
    }

    /// Its key, as a tooltip says it.
    #[must_use]
    pub fn shortcut(self) -> &'static str {
        match self {
            Self::Front => "1",
            Self::Back => "Alt+1",
            Self::Right => "3",
            Self::Left => "Alt+3",
            Self::Top => "7",
            Self::Bottom => "Alt+7",
        }
    }

    /// The side across.
    #[must_use]
    pub fn opposite(self) -> Self {
        match self {
            Self::Front => Self::Back,
            Self::Back => Self::Front,
            Self::Right => Self::Left,
            Self::Left => Self::Right,
            Self::Top => Self::Bottom,
            Self::Bottom => Self::Top,
        }
    }

    /// The unit vector towards the camera.
    #[must_use]
    pub fn direction(self) -> DVec3 {
        match self {
            Self::Front => DVec3::Z,
            Self::Back => DVec3::NEG_Z,
            Self::Right => DVec3::X,
            Self::Left => DVec3::NEG_X,
            Self::Top => DVec3::Y,
            Self::Bottom => DVec3::NEG_Y,
        }
    }

    /// Yaw and pitch that look from there.
    fn angles(self) -> [f64; 2] {
        match self {
            Self::Front => [0.0, 0.0],
            Self::Back => [PI, 0.0],
            Self::Right => [FRAC_PI_2, 0.0],
            Self::Left => [-FRAC_PI_2, 0.0],
            Self::Top => [0.0, FRAC_PI_2],
            Self::Bottom => [0.0, -FRAC_PI_2],
        }
    }
}

/// An orbit camera with +Y up.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Camera {
    /// The centre of the orbit.
    pub target: DVec3,
    /// Rotation about the up axis, from the front towards +X, in radians.
    pub yaw: f64,
    /// Height above the horizon, −π/2 to π/2 radians.
    pub pitch: f64,
    /// From the target to the camera.
    pub distance: f64,
    /// The angle between the picture's upper and lower side.
    pub fov_y_rad: f64,
    /// The projection.
    pub projection: Projection,
}

impl Default for Camera {
    /// A little from the side and from above, around the unit ball.
    fn default() -> Self {
        Self {
            target: DVec3::ZERO,
            yaw: 0.45,
            pitch: 0.12,
            distance: 6.0,
            fov_y_rad: Self::DEFAULT_FOV_Y_RAD,
            projection: Projection::Perspective,
        }
    }
}

/// A camera's right, upper and backward directions, right-handed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Axes {
    /// Towards the right side of the screen.
    pub right: DVec3,
    /// Towards its upper side.
    pub up: DVec3,
    /// Out of the screen, towards the camera.
    pub back: DVec3,
}

impl Camera {
    /// Chosen: the portrait lens of the pictures, so that a face keeps its proportions.
    pub const DEFAULT_FOV_Y_RAD: f64 = Framing::DEFAULT_VERTICAL_FOV_RAD;
    /// Yaw and pitch of the three-quarter view, in radians. Chosen: as in `pliant render`.
    const THREE_QUARTER: [f64; 2] = [0.61, 0.26];
    /// Distances that arithmetic can bear, in scene units.
    const DISTANCES: [f64; 2] = [1e-9, 1e12];
    /// The nearest visible depth as a share of the distance.
    const NEAR_SHARE: f64 = 1e-3;

    /// Position of the camera.
    #[must_use]
    pub fn position(&self) -> DVec3 {
        self.target + self.axes().back * self.distance
    }

    /// Directions of the screen in the world.
    #[must_use]
    pub fn axes(&self) -> Axes {
        let (sin_yaw, cos_yaw) = self.yaw.sin_cos();
        let (sin_pitch, cos_pitch) = self.pitch.sin_cos();
        let right = DVec3::new(cos_yaw, 0.0, -sin_yaw);
        let back = DVec3::new(sin_yaw * cos_pitch, sin_pitch, cos_yaw * cos_pitch);
        Axes {
            right,
            up: back.cross(right),
            back,
        }
    }

    /// Orbits by radians about the up axis and upwards; the pitch is clamped at the poles.
    pub fn orbit(&mut self, yaw_rad: f64, pitch_rad: f64) {
        self.yaw = (self.yaw + yaw_rad + PI).rem_euclid(2.0 * PI) - PI;
        self.pitch = (self.pitch + pitch_rad).clamp(-FRAC_PI_2, FRAC_PI_2);
    }

    /// Pans the camera and its target, by lengths of the scene to the right and up.
    pub fn pan(&mut self, right: f64, up: f64) {
        let axes = self.axes();
        self.target += axes.right * right + axes.up * up;
    }

    /// Brings everything `factor` times as near to `pivot`: below 1 the picture grows about it.
    pub fn zoom_about(&mut self, pivot: DVec3, factor: f64) {
        let [nearest, farthest] = Self::DISTANCES;
        let distance = (self.distance * factor).clamp(nearest, farthest);
        let factor = distance / self.distance;
        if factor.is_finite() && pivot.is_finite() {
            self.distance = distance;
            self.target = pivot + (self.target - pivot) * factor;
        }
    }

    /// Looks from a side at the same target.
    pub fn look_from(&mut self, side: Side) {
        [self.yaw, self.pitch] = side.angles();
    }

    /// Looks from the front, turned towards the character's left (+X) or right side and a little
    /// from above, at the same target: the view in which depth and silhouette are both seen.
    pub fn look_three_quarter(&mut self, from_left: bool) {
        let [yaw, pitch] = Self::THREE_QUARTER;
        (self.yaw, self.pitch) = (if from_left { yaw } else { -yaw }, pitch);
    }

    /// Perspective on or off.
    pub fn toggle_projection(&mut self) {
        self.projection = match self.projection {
            Projection::Perspective => Projection::Orthographic,
            Projection::Orthographic => Projection::Perspective,
        };
    }

    /// Changes the distance so that the whole box is visible in a square picture.
    pub fn frame(&mut self, bounds: Bounds) {
        self.frame_in(bounds, 1.0);
    }

    /// As [`frame`](Self::frame), in a picture with this width over height.
    pub fn frame_in(&mut self, bounds: Bounds, aspect: f64) {
        let share = |k: u32| DVec3::new(f64::from(k & 1), f64::from(k >> 1 & 1), f64::from(k >> 2));
        let corners: Vec<DVec3> = (0..8)
            .map(|k| bounds.min + bounds.size() * share(k))
            .collect();
        self.frame_points(&corners, aspect);
    }

    /// As [`frame_in`](Self::frame_in) for all finite points: tighter than their box. Without any,
    /// nothing moves.
    pub fn frame_points(&mut self, points: &[DVec3], aspect: f64) {
        if !points.iter().any(|point| point.is_finite()) {
            return;
        }

        // Just beside the pole the framing still knows which way is up.
        let elevation_rad = self.pitch.clamp(1e-5 - FRAC_PI_2, FRAC_PI_2 - 1e-5);
        let view = FramedView::Orbit {
            azimuth_rad: self.yaw,
            elevation_rad,
        };

        let aspect = if aspect.is_finite() {
            aspect.clamp(0.05, 20.0)
        } else {
            1.0
        };

        let framing = Framing {
            view,
            aspect,
            vertical_fov_rad: self.fov_y_rad,
            margin: Framing::DEFAULT_MARGIN,
            room_right: 0.0,
        };

        let [nearest, farthest] = Self::DISTANCES;
        let framed = Framed::framing_points(
            points,
            &if self.projection == Projection::Perspective {
                framing
            } else {
                framing.orthographic()
            },
        );

        let distance = match framed.projection {
            FramedProjection::Perspective { .. } => framed.eye.distance(framed.target),
            FramedProjection::Orthographic { height } => 0.5 * height / self.half_height_tangent(),
        };

        self.target = framed.target;
        self.distance = distance.clamp(nearest, farthest);
    }

    /// Half the height of the picture over the distance of what it shows.
    pub(crate) fn half_height_tangent(&self) -> f64 {
        (0.5 * self.fov_y_rad).tan()
    }

    /// Half the height of the picture at the target, in scene units.
    #[must_use]
    pub fn half_height(&self) -> f64 {
        self.distance * self.half_height_tangent()
    }

    /// The world in camera coordinates: x right, y up, z towards the camera.
    #[must_use]
    pub fn view_from_world(&self) -> DMat4 {
        let Axes { right, up, back } = self.axes();
        let eye = self.position();
        let row = |axis: DVec3| axis.extend(-axis.dot(eye));
        DMat4::from_cols(row(right), row(up), row(back), DMat4::IDENTITY.w_axis).transpose()
    }

    /// The graphics card's clip space from camera coordinates, with depth 1 at the near plane and 0
    /// far away.
    ///
    /// `depths` (nearest and farthest from the camera, either may be negative) bound what is seen
    /// without perspective.
    #[must_use]
    pub fn clip_from_view(&self, aspect: f64, depths: [f64; 2]) -> DMat4 {
        let columns = match self.projection {
            // Depth is near / −z.
            Projection::Perspective => {
                let focal = 1.0 / self.half_height_tangent();
                let near = self.distance * Self::NEAR_SHARE;
                [
                    [focal / aspect, 0.0, 0.0, 0.0],
                    [0.0, focal, 0.0, 0.0],
                    [0.0, 0.0, 0.0, -1.0],
                    [0.0, 0.0, near, 0.0],
                ]
            }
            // Depth is (far + z) / (far − near).
            Projection::Orthographic => {
                let per_half = 1.0 / self.half_height();
                let [near, far] = depths;
                let per_range = 1.0 / (far - near);
                let along = [0.0, 0.0, far * per_range, 1.0];

                [
                    [per_half / aspect, 0.0, 0.0, 0.0],
                    [0.0, per_half, 0.0, 0.0],
                    [0.0, 0.0, per_range, 0.0],
                    along,
                ]
            }
        };
        DMat4::from_cols_array_2d(&columns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_views_look_from_their_direction() {
        let mut camera = Camera::default();
        for side in Side::ALL {
            camera.look_from(side);
            assert!(camera.axes().back.distance(side.direction()) < 1e-15);
            assert_eq!(side.opposite().direction(), -side.direction());
        }
    }

    #[test]
    fn a_camera_is_restored_from_its_text() {
        let camera = Camera {
            projection: Projection::Orthographic,
            ..Camera::default()
        };
        let text = serde_json::to_string(&camera).unwrap();
        assert_eq!(serde_json::from_str::<Camera>(&text).unwrap(), camera);
    }
}
