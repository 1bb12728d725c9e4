//! The lighting model: three lamps and a sky on clay, and the tone curve.
//!
//! **Equation.** Lambert's cosine law for key and fill light; a sky that is cooler above than below,
//! reduced by ambient occlusion; a broad highlight; and rim light along the outline.
//!
//! ```text
//! light = sky(n) a + key max(n·k, 0) s + fill max(n·f, 0) a
//! color = albedo · light + (n·h)^32 s + rim (1 − n·v)^4 max(n·r, 0)
//! ```
//!
//! with ambient openness `a` and key shadow `s`.
//!
//! **Departures.** Powers are integers and computed by squaring (see `color::fifth_root`). The tone
//! curve is linear up to a knee and approaches white above it, so that colours are kept and
//! highlights do not clip.

use glam::Vec3;

use crate::camera::Axes;

/// The directions of the lamps, which follow the rotation of the camera about the up axis.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LightSetup {
    pub(super) up: Vec3,
    pub(crate) key: Vec3,
    pub(super) fill: Vec3,
    pub(super) rim: Vec3,
}

/// Chosen: colours of the lamps and the sky in linear light, and strengths of highlight and rim.
pub(super) const KEY: Vec3 = Vec3::new(1.06, 1.0, 0.925);
pub(super) const FILL: Vec3 = Vec3::new(0.11, 0.13, 0.165);
const SKY_ABOVE: Vec3 = Vec3::new(0.36, 0.385, 0.42);
const SKY_BELOW: Vec3 = Vec3::new(0.19, 0.172, 0.165);
const HIGHLIGHT: f32 = 0.12;
pub(super) const RIM: f32 = 0.7;
/// Chosen: occluded clay receives its own warm reflections.
const BOUNCE: Vec3 = Vec3::new(0.16, 0.10, 0.07);

/// A surface point to be shaded.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ShadingPoint {
    pub(crate) normal: Vec3,
    /// Towards the eye.
    pub(crate) view: Vec3,
    /// Ambient openness, 0 to 1.
    pub(crate) open: f32,
    /// The visible fraction of the key light, 0 to 1.
    pub(crate) lit: f32,
}

impl LightSetup {
    /// Lamps for a camera: the key above its left shoulder, the fill at its right, the rim behind
    /// the model.
    pub(crate) fn for_camera(axes: &Axes, up: Vec3) -> Self {
        let right = axes.right.as_vec3();
        let back = right.cross(up).normalize_or(Vec3::Z);
        let towards =
            |r: f32, u: f32, b: f32| (right * r + up * u + back * b).normalize_or(Vec3::Y);

        Self {
            up,
            key: towards(-0.55, 0.95, 0.66),
            fill: towards(0.85, 0.10, 0.55),
            rim: towards(0.50, 0.60, -0.75),
        }
    }

    /// The light that a surface of colour `albedo` sends to the eye.
    pub(crate) fn shade(&self, albedo: Vec3, point: &ShadingPoint) -> Vec3 {
        let ShadingPoint {
            normal,
            view,
            open,
            lit,
        } = *point;

        // Highlight (n·h)³² and rim light.
        let half = (self.key + view).normalize_or_zero();
        let gloss = fourth(fourth(square(normal.dot(half).max(0.0)))) * HIGHLIGHT * lit;
        let outline = fourth(1.0 - normal.dot(view).clamp(0.0, 1.0));
        let rim = outline * RIM * (normal.dot(self.rim).max(0.0)) * open;

        self.diffuse(albedo, point) + Vec3::splat(gloss + rim)
    }

    /// Diffuse light: sky, reflections, key and fill.
    pub(super) fn diffuse(&self, albedo: Vec3, point: &ShadingPoint) -> Vec3 {
        let ShadingPoint {
            normal, open, lit, ..
        } = *point;
        let above = 0.5 + 0.5 * normal.dot(self.up);
        let sky = SKY_BELOW + (SKY_ABOVE - SKY_BELOW) * above;
        let bounce = albedo * BOUNCE * (1.0 - open);
        let light = sky * open
            + bounce
            + KEY * (normal.dot(self.key).max(0.0) * lit)
            + FILL * (normal.dot(self.fill).max(0.0) * open);
        albedo * light
    }
}

pub(super) fn square(x: f32) -> f32 {
    x * x
}

pub(super) fn fourth(x: f32) -> f32 {
    square(square(x))
}

/// The tone curve: linear up to the knee, and white for infinite light.
///
/// Above the knee, all channels are scaled by one factor, which keeps the hue; very bright light
/// becomes pale.
pub(crate) fn tone(light: Vec3) -> Vec3 {
    const KNEE: f32 = 0.62;

    let peak = light.max_element();
    let over = (peak - KNEE) / (1.0 - KNEE);

    // NaN passes through and becomes black when it is encoded.
    if over <= 0.0 || over.is_nan() {
        return light;
    }

    // The curve is continuous at the knee and bounded by one.
    let bent = KNEE + (1.0 - KNEE) * over / (1.0 + over);
    let pale = (over / (4.0 + over)).min(1.0);
    let scaled = light * (bent / peak);

    scaled + (Vec3::splat(bent) - scaled) * pale
}
