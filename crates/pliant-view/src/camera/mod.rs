//! Cameras, and framing: the nearest camera that shows all points.
//!
//! **Problem.** Given points and a viewing direction, find the nearest eye from which all of them
//! are inside the picture.
//!
//! **Equation.** In camera axes (right `x`, up `y`, into the scene `z`) a point is inside a
//! perspective picture whose left and right borders have the tangents `λ` and `ρ` if `−λ (z − e_z)
//! ≤ x − eₓ ≤ ρ (z − e_z)`. With `A = max(x − ρ z)` and `B = max(−x − λ z)` this leaves for the eye
//!
//! ```text
//! e_z ≤ −(A + B) / (λ + ρ)        A + ρ e_z ≤ eₓ ≤ −B − λ e_z
//! ```
//!
//! and likewise for `y`. The nearest eye takes the smaller of the two greatest `e_z` and the middle
//! of what is left for `eₓ` and `e_y`. An orthographic picture needs the extents only.
//!
//! **Departures.** Up is +Y and the front is +Z, as in glTF; for other conventions, set `up` and rotate by the azimuth.

pub(crate) mod projection;

use glam::DVec3;
use pliant_linalg::portable::{sin_cos, tan};
use pliant_mesh::Bounds;

use self::projection::{ScreenProjection, UnitSpace};

/// An eye, what it looks at, and how it projects.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Camera {
    /// The position of the eye.
    pub eye: DVec3,
    /// A point in the middle of the picture.
    pub target: DVec3,
    /// The upward direction of the world, for the picture and the ground.
    pub up: DVec3,
    /// Perspective or parallel rays.
    pub projection: Projection,
}

/// How rays leave the eye.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Projection {
    /// Rays from one point.
    Perspective {
        /// The angle between the picture's upper and lower side.
        vertical_fov_rad: f64,
    },
    /// Parallel rays.
    Orthographic {
        /// The distance between the picture's upper and lower side, in the scene's unit.
        height: f64,
    },
}

/// A direction to look from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum View {
    /// From +Z.
    Front,
    /// From −Z.
    Back,
    /// From +X: the model's left side.
    Side,
    /// From the front, slightly from the side and from above.
    ThreeQuarter,
    /// From +Y, the front below.
    Top,
    /// From any direction.
    Orbit {
        /// Rotation about the up axis, from the front towards +X.
        azimuth_rad: f64,
        /// Angle above the horizon.
        elevation_rad: f64,
    },
}

impl View {
    /// The named views and their names on a command line.
    pub const NAMED: [(&'static str, Self); 5] = [
        ("front", Self::Front),
        ("side", Self::Side),
        ("three-quarter", Self::ThreeQuarter),
        ("back", Self::Back),
        ("top", Self::Top),
    ];

    /// The view of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMED
            .iter()
            .find(|(known, _)| *known == name)
            .map(|&(_, view)| view)
    }

    /// The unit vector from the model to the eye, in a world whose up is +Y.
    #[must_use]
    pub fn direction(self) -> DVec3 {
        let (azimuth, elevation) = match self {
            Self::Front => return DVec3::Z,
            Self::Back => return DVec3::NEG_Z,
            Self::Side => return DVec3::X,
            Self::Top => return DVec3::Y,
            Self::ThreeQuarter => (0.61, 0.26),
            Self::Orbit {
                azimuth_rad,
                elevation_rad,
            } => (azimuth_rad, elevation_rad),
        };

        let (sin_a, cos_a) = sin_cos(azimuth);
        let (sin_e, cos_e) = sin_cos(elevation);
        DVec3::new(sin_a * cos_e, sin_e, cos_a * cos_e)
    }
}

/// How a camera is placed to show given points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Framing {
    /// The direction to look from.
    pub view: View,
    /// Width over height of the picture.
    pub aspect: f64,
    /// The vertical angle of view; zero means parallel rays.
    pub vertical_fov_rad: f64,
    /// The free border on each side, as a fraction of the picture.
    pub margin: f64,
    /// The additional free border at the right, as a fraction of the width, for a legend.
    pub room_right: f64,
}

impl Framing {
    /// Chosen: a portrait projection (about 60 mm on full frame), so that faces keep their proportions.
    pub const DEFAULT_VERTICAL_FOV_RAD: f64 = 0.4;
    /// Chosen: leaves room for the contact shadow.
    pub const DEFAULT_MARGIN: f64 = 0.08;

    /// From `view` into a picture of `size`.
    #[must_use]
    pub fn new(view: View, size: [usize; 2]) -> Self {
        let aspect = size[0].max(1) as f64 / size[1].max(1) as f64;
        Self {
            view,
            aspect,
            vertical_fov_rad: Self::DEFAULT_VERTICAL_FOV_RAD,
            margin: Self::DEFAULT_MARGIN,
            room_right: 0.0,
        }
    }

    /// With parallel rays.
    #[must_use]
    pub fn orthographic(self) -> Self {
        Self {
            vertical_fov_rad: 0.0,
            ..self
        }
    }

    /// With another free border, as a share of the picture on each side.
    #[must_use]
    pub fn with_margin(self, margin: f64) -> Self {
        Self { margin, ..self }
    }

    /// With room for a legend, as a share of the width.
    #[must_use]
    pub fn with_room_right(self, room_right: f64) -> Self {
        Self { room_right, ..self }
    }

    /// The right border between the middle (0) and the right side (1) of the picture.
    fn right_fill(&self, fill: f64) -> f64 {
        (fill - 2.0 * self.room_right).max(0.05 - fill)
    }
}

impl Camera {
    /// The nearest camera that shows the whole box.
    #[must_use]
    pub fn framing(bounds: &Bounds, framing: &Framing) -> Self {
        let corners: [DVec3; 8] = std::array::from_fn(|k| {
            let pick = |bit: usize, low: f64, high: f64| if k >> bit & 1 == 0 { low } else { high };
            let (min, max) = (bounds.min, bounds.max);
            DVec3::new(
                pick(0, min.x, max.x),
                pick(1, min.y, max.y),
                pick(2, min.z, max.z),
            )
        });
        Self::framing_points(&corners, framing)
    }

    /// The nearest camera that shows all finite points; tighter than framing their box.
    #[must_use]
    pub fn framing_points(points: &[DVec3], framing: &Framing) -> Self {
        let back = framing.view.direction();
        let axes = Axes::looking(-back, DVec3::Y);
        let fill = (1.0 - 2.0 * framing.margin).clamp(0.05, 1.0);
        let local: Vec<DVec3> = points
            .iter()
            .filter(|p| p.is_finite())
            .map(|p| axes.local(*p))
            .collect();

        let Some(bounds) = Bounds::of(&local) else {
            return Self::framing_points(&[DVec3::NEG_ONE, DVec3::ONE], framing);
        };

        // The picture of a single point needs some extent, too.
        let least = (bounds.center().length() * 1e-9).max(1e-12);
        if framing.vertical_fov_rad <= 0.0 {
            return Self::framing_parallel(&bounds, &axes, framing, fill, least);
        }

        // The tangents of the borders, as in the equation of the module.
        let tau = tan(framing.vertical_fov_rad * 0.5);
        let across = Borders::around(
            &local,
            tau * framing.aspect * fill,
            tau * framing.aspect * framing.right_fill(fill),
            |p| p.x,
        );

        let upright = Borders::around(&local, tau * fill, tau * fill, |p| p.y);
        // The eye must satisfy both pairs of borders and be in front of all points.
        let z = across
            .nearest()
            .min(upright.nearest())
            .min(bounds.min.z - least);
        let eye = DVec3::new(across.middle(z), upright.middle(z), z);

        Self {
            eye: axes.world(eye),
            target: axes.world(DVec3::new(eye.x, eye.y, bounds.center().z)),
            up: DVec3::Y,
            projection: Projection::Perspective {
                vertical_fov_rad: framing.vertical_fov_rad,
            },
        }
    }

    fn framing_parallel(
        local: &Bounds,
        axes: &Axes,
        framing: &Framing,
        fill: f64,
        least: f64,
    ) -> Self {
        let center = local.center();
        let size = local.size();
        let right_fill = framing.right_fill(fill);
        // The picture must contain the width and the height.
        let height = (size.y / fill)
            .max(2.0 * size.x / (framing.aspect * (fill + right_fill)))
            .max(least);

        // The model moves to the left to leave the room at the right.
        let aside = 0.25 * (fill - right_fill) * height * framing.aspect;
        let target = center + DVec3::X * aside;

        Self {
            eye: axes.world(target - DVec3::Z * size.z.max(height)),
            target: axes.world(target),
            up: DVec3::Y,
            projection: Projection::Orthographic { height },
        }
    }

    /// The position of a point in a picture of `size`, in pixels from the top left; `None` behind
    /// the camera.
    #[must_use]
    pub fn project(&self, point: DVec3, size: [usize; 2]) -> Option<[f64; 2]> {
        let projection = ScreenProjection::new(self, &UnitSpace::of(None), size);
        let view = projection.view(point);
        let at = projection.screen(view);
        (view.is_finite() && projection.in_front(view)).then_some([at.x, at.y])
    }

    /// The right, up and forward directions of the camera.
    pub(crate) fn axes(&self) -> Axes {
        Axes::looking(self.target - self.eye, self.up)
    }

    /// The camera rotated about the vertical line through `pivot`, from the front towards +X.
    #[must_use]
    pub fn orbited(&self, pivot: DVec3, angle_rad: f64) -> Self {
        let axis = self.up.try_normalize().unwrap_or(DVec3::Y);

        // Rodrigues' rotation formula.
        let (sin, cos) = sin_cos(angle_rad);
        let rotate = |v: DVec3| v * cos + axis.cross(v) * sin + axis * (axis.dot(v) * (1.0 - cos));
        Self {
            eye: pivot + rotate(self.eye - pivot),
            target: pivot + rotate(self.target - pivot),
            ..*self
        }
    }
}

/// The constraints of two opposite borders of a picture on the eye, as in the equation of the
/// module.
struct Borders {
    low_tangent: f64,
    high_tangent: f64,
    a: f64,
    b: f64,
}

impl Borders {
    fn around(
        local: &[DVec3],
        low_tangent: f64,
        high_tangent: f64,
        coordinate: impl Fn(&DVec3) -> f64,
    ) -> Self {
        let a = local
            .iter()
            .map(|p| coordinate(p) - high_tangent * p.z)
            .fold(f64::NEG_INFINITY, f64::max);

        let b = local
            .iter()
            .map(|p| -coordinate(p) - low_tangent * p.z)
            .fold(f64::NEG_INFINITY, f64::max);

        Self {
            low_tangent,
            high_tangent,
            a,
            b,
        }
    }

    /// The greatest depth of the eye.
    fn nearest(&self) -> f64 {
        -(self.a + self.b) / (self.low_tangent + self.high_tangent)
    }

    /// The middle of the interval that is left for the eye at a depth.
    fn middle(&self, z: f64) -> f64 {
        0.5 * ((self.a + self.high_tangent * z) + (-self.b - self.low_tangent * z))
    }
}

/// Right-handed camera axes: `right`, `up`, and `forward` into the scene.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Axes {
    pub(crate) right: DVec3,
    pub(crate) up: DVec3,
    pub(crate) forward: DVec3,
}

impl Axes {
    /// Axes that look along `forward` with `up` upwards. If the two are parallel, −Z or +X is
    /// upwards instead.
    pub(crate) fn looking(forward: DVec3, up: DVec3) -> Self {
        let forward = forward.try_normalize().unwrap_or(DVec3::NEG_Z);
        let right = [up, DVec3::NEG_Z, DVec3::X]
            .into_iter()
            .map(|up| forward.cross(up.normalize_or_zero()))
            .find(|right| right.length_squared() > 1e-12)
            .map_or(DVec3::X, DVec3::normalize);

        Self {
            right,
            up: right.cross(forward),
            forward,
        }
    }

    /// World direction or point to camera coordinates (without moving the origin).
    pub(crate) fn local(&self, v: DVec3) -> DVec3 {
        DVec3::new(v.dot(self.right), v.dot(self.up), v.dot(self.forward))
    }

    /// The inverse of [`Axes::local`].
    pub(crate) fn world(&self, v: DVec3) -> DVec3 {
        self.right * v.x + self.up * v.y + self.forward * v.z
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: [usize; 2] = [320, 200];

    fn views() -> Vec<View> {
        let orbit = |k: i32| View::Orbit {
            azimuth_rad: 0.7 * f64::from(k),
            elevation_rad: 0.3 * f64::from(k % 9 - 4),
        };
        View::NAMED
            .iter()
            .map(|&(_, view)| view)
            .chain((0..20).map(orbit))
            .collect()
    }

    /// The extremes of the projected corners of a box.
    fn projected(bounds: &Bounds, camera: &Camera) -> ([f64; 2], [f64; 2]) {
        let (mut min, mut max) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
        for k in 0..8 {
            let share = DVec3::new(f64::from(k & 1), f64::from(k >> 1 & 1), f64::from(k >> 2));
            let at = camera
                .project(bounds.min + bounds.size() * share, SIZE)
                .expect("in front of the camera");
            for c in 0..2 {
                (min[c], max[c]) = (min[c].min(at[c]), max[c].max(at[c]));
            }
        }

        (min, max)
    }

    #[test]
    fn framing_contains_the_bounds_and_touches_the_margin() {
        let boxes = [
            Bounds {
                min: DVec3::new(-1.0, -2.0, -3.0),
                max: DVec3::new(4.0, 0.5, 1.0),
            },
            Bounds {
                min: DVec3::splat(1e-7),
                max: DVec3::new(3e-7, 2e-7, 5e-7),
            },
            Bounds {
                min: DVec3::splat(-4e6),
                max: DVec3::new(3e6, 9e6, 5e6),
            },
        ];
        for bounds in boxes {
            for view in views() {
                for framing in [
                    Framing::new(view, SIZE),
                    Framing::new(view, SIZE).orthographic(),
                ] {
                    let (min, max) = projected(&bounds, &Camera::framing(&bounds, &framing));
                    let border = SIZE.map(|side| framing.margin * side as f64);
                    let slack = [0, 1]
                        .map(|c| (min[c] - border[c]).min(SIZE[c] as f64 - border[c] - max[c]));

                    assert!(
                        slack.iter().all(|s| *s > -1e-6),
                        "{view:?}: outside by {slack:?}"
                    );

                    assert!(
                        slack[0].min(slack[1]) < 1e-3,
                        "{view:?}: not tight, {slack:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn room_for_a_legend_stays_free() {
        let bounds = Bounds {
            min: DVec3::new(-1.0, -2.0, -3.0),
            max: DVec3::new(4.0, 0.5, 1.0),
        };
        for view in views() {
            let framing = Framing::new(view, SIZE).with_room_right(0.2);
            for framing in [framing, framing.orthographic()] {
                let (min, max) = projected(&bounds, &Camera::framing(&bounds, &framing));
                let [left, right] = [framing.margin, 1.0 - framing.margin - 0.2]
                    .map(|share| share * SIZE[0] as f64);
                assert!(
                    min[0] > left - 1e-6 && max[0] < right + 1e-6,
                    "{view:?}: {min:?} to {max:?}"
                );
            }
        }
    }

    #[test]
    fn named_views_look_from_their_own_side() {
        let bounds = Bounds {
            min: DVec3::NEG_ONE,
            max: DVec3::ONE,
        };
        let eye = |view| Camera::framing(&bounds, &Framing::new(view, SIZE)).eye;

        assert!(
            eye(View::Front).z > 1.0
                && eye(View::Back).z < -1.0
                && eye(View::Side).x > 1.0
                && eye(View::Top).y > 1.0
        );

        // From the top the front is at the picture's lower side.
        let top = Camera::framing(&bounds, &Framing::new(View::Top, SIZE));
        assert!(
            top.project(DVec3::Z, SIZE).unwrap()[1] > top.project(DVec3::NEG_Z, SIZE).unwrap()[1]
        );
    }

    #[test]
    fn a_full_orbit_returns_to_its_start() {
        let camera = Camera::framing(
            &Bounds {
                min: DVec3::NEG_ONE,
                max: DVec3::ONE,
            },
            &Framing::new(View::ThreeQuarter, SIZE),
        );

        let quarter = |camera: Camera| camera.orbited(DVec3::ZERO, std::f64::consts::FRAC_PI_2);
        let around = quarter(quarter(quarter(quarter(camera))));
        assert!(around.eye.distance(camera.eye) < 16.0 * f64::EPSILON * camera.eye.length());
        assert_eq!(View::from_name("three-quarter"), Some(View::ThreeQuarter));
    }
}
