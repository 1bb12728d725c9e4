//! Light on metallic-roughness materials, from the same lamps as on clay.
//!
//! **Equation.** Diffuse light is that of clay on the part of the base colour that is not metallic.
//! Lamps are reflected by microfacets, `f = D V F`, with `α = roughness²`:
//!
//! ```text
//! π D = α² / ((n·h)² (α² − 1) + 1)²
//! V = 1/2 / (n·l √((n·v)² (1 − α²) + α²) + n·v √((n·l)² (1 − α²) + α²))
//! F = F₀ + (1 − F₀) (1 − v·h)⁵,    F₀ = 0.04 + (base − 0.04) metallic
//! ```
//!
//! and a studio of soft boxes is reflected as `environment(r) (F₀ A + B)`.
//!
//! **Source.** B. Walter et al., "Microfacet models for refraction through rough surfaces", EGSR
//! 2007 (D); E. Heitz, "Understanding the masking-shadowing function", JCGT 2014 (V); B. Karis,
//! "Physically based shading on mobile", 2014 (A, B).
//!
//! **Departures.** The exponential in A and B is replaced by `(1 − n·v)⁶`, which needs products
//! only.

use glam::Vec3;

use super::lighting::{FILL, KEY, LightSetup, RIM, ShadingPoint, fourth, square};

/// A material at a surface point.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PbrPoint {
    pub(crate) base_color: Vec3,
    pub(crate) metallic: f32,
    pub(crate) roughness: f32,
    pub(crate) emissive: Vec3,
}

/// Chosen: a white matte surface in full light just stays below the knee of the tone curve's end.
const EXPOSURE: f32 = 0.8;
/// Chosen: smoother surfaces would show lamps as single bright samples.
const LEAST_ROUGHNESS: f32 = 0.12;
/// Chosen: radiance of the studio that surfaces reflect, above and below the horizon, and of the
/// soft boxes in it.
const STUDIO_ABOVE: Vec3 = Vec3::new(0.66, 0.70, 0.75);
const STUDIO_BELOW: Vec3 = Vec3::new(0.20, 0.185, 0.175);
const KEY_BOX: f32 = 1.5;
const RIM_BOX: f32 = 0.9;

impl LightSetup {
    /// The light that a material sends to the eye.
    pub(crate) fn shade_pbr(&self, material: &PbrPoint, point: &ShadingPoint) -> Vec3 {
        let base = material.base_color;
        let metallic = material.metallic.clamp(0.0, 1.0);
        let roughness = material.roughness.clamp(LEAST_ROUGHNESS, 1.0);
        let diffuse = self.diffuse(base * (1.0 - metallic), point);

        let mirror = Vec3::splat(0.04) + (base - Vec3::splat(0.04)) * metallic;
        let lamps = KEY * (self.reflected(self.key, roughness, point) * point.lit);
        let fill = FILL * (self.reflected(self.fill, roughness, point) * point.open);
        let half = (self.key + point.view).normalize_or_zero();
        let fresnel = schlick(mirror, point.view.dot(half));
        let studio = self.studio(roughness, point) * environment_response(mirror, roughness, point);

        let grazing = fourth(1.0 - point.normal.dot(point.view).clamp(0.0, 1.0));
        let rim = grazing * 0.25 * RIM * point.normal.dot(self.rim).max(0.0) * point.open;

        let reflected = (lamps + fill) * fresnel + studio;
        (diffuse + reflected + Vec3::splat(rim)) * EXPOSURE + material.emissive
    }

    /// `π D V n·l` of a lamp, bounded so that no sample outshines a pixel.
    fn reflected(&self, lamp: Vec3, roughness: f32, point: &ShadingPoint) -> f32 {
        let ShadingPoint { normal, view, .. } = *point;
        let to_lamp = normal.dot(lamp).max(0.0);
        let to_eye = normal.dot(view).max(1e-3);
        let half = (lamp + view).normalize_or_zero();
        let cos = normal.dot(half).max(0.0);

        let a = square(roughness);
        let a2 = square(a);
        let spread = cos * cos * (a2 - 1.0) + 1.0;
        let density = a2 / square(spread).max(1e-6);
        let masked = |from: f32, to: f32| from * (to * to * (1.0 - a2) + a2).sqrt();
        let visible = 0.5 / (masked(to_lamp, to_eye) + masked(to_eye, to_lamp)).max(1e-4);
        (density * visible * to_lamp).min(40.0)
    }

    /// Light from the studio in the direction of reflection: sharp for a mirror, even for a matte
    /// surface.
    fn studio(&self, roughness: f32, point: &ShadingPoint) -> Vec3 {
        let ShadingPoint { normal, view, .. } = *point;
        let towards = normal * (2.0 * normal.dot(view)) - view;
        let height = towards.dot(self.up);

        // The horizon is as soft as the surface is rough.
        let soft = 0.15 + 0.85 * roughness;
        let t = (0.5 + 0.5 * height / soft).clamp(0.0, 1.0);
        let above = t * t * (3.0 - 2.0 * t);
        let room = STUDIO_BELOW + (STUDIO_ABOVE - STUDIO_BELOW) * above;

        // Soft boxes: a narrow lobe for a mirror, a wide one for a matte surface.
        let lobe = |lamp: Vec3| {
            let cos = towards.dot(lamp).max(0.0);
            let narrow = fourth(cos * cos);
            let wide = 0.45 * square(cos);
            narrow + (wide - narrow) * roughness
        };
        let boxes = KEY * (KEY_BOX * lobe(self.key)) + Vec3::splat(RIM_BOX * lobe(self.rim));
        (room + boxes) * point.open
    }
}

/// `F₀ + (1 − F₀)(1 − cos)⁵`.
fn schlick(mirror: Vec3, cos: f32) -> Vec3 {
    let grazing = 1.0 - cos.clamp(0.0, 1.0);
    mirror + (Vec3::ONE - mirror) * (fourth(grazing) * grazing)
}

/// `F₀ A + B`: the share of even light from all sides that a surface reflects.
fn environment_response(mirror: Vec3, roughness: f32, point: &ShadingPoint) -> Vec3 {
    let to_eye = point.normal.dot(point.view).clamp(0.0, 1.0);
    let grazing = 1.0 - to_eye;
    let falloff = fourth(grazing) * square(grazing);
    let r = [
        1.0 - roughness,
        0.0425 - 0.0275 * roughness,
        1.04 - 0.572 * roughness,
        0.022 * roughness - 0.04,
    ];
    let a = square(r[0]).min(falloff) * r[0] + r[1];
    let scale = -1.04 * a + r[2];
    let bias = 1.04 * a + r[3];
    (mirror * scale + Vec3::splat(bias)).max(Vec3::ZERO)
}
