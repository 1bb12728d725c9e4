//! The colour of a textured surface point: textures, tangent space, opacity.
//!
//! **Equation.** With triangle edges `e₁, e₂` and their UV differences `(u₁, v₁), (u₂, v₂)`:
//!
//! ```text
//! T = (v₂ e₁ − v₁ e₂) / (u₁ v₂ − u₂ v₁)        n = t_x T + t_y B + t_z N
//! ```
//!
//! where `T` is made orthogonal to the interpolated normal `N` and `B = ± N × T` has the side of the
//! UVs.
//!
//! **Source.** E. Lengyel, "Computing tangent space basis vectors for an arbitrary mesh", 2001.
//!
//! **Departures.** Tangents are those of the triangle, not averaged over vertices, as in viewers
//! that take them from screen derivatives.

use glam::{DVec3, Vec2, Vec3, Vec4};

use super::surface_shader::{Hit, SurfaceShader, hit_points};
use crate::camera::projection::to_single;
use crate::pbr::{PbrMaterial, PbrPaint, Transparency};
use crate::shading::{PbrPoint, ShadingPoint, tone};
use crate::texture::Footprint;
use crate::{Paint, TextureMap};

/// The colour of a surface point, and how much of what is behind it is hidden.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Covered {
    pub(crate) color: Vec3,
    pub(crate) opacity: f32,
}

/// Barycentric coordinates of a point and of its neighbours one pixel to the right and down.
struct PixelWeights {
    here: Vec3,
    right: Vec3,
    down: Vec3,
}

impl<'a> SurfaceShader<'a> {
    /// The material of a triangle, if it has one.
    pub(crate) fn pbr(&self, source: u32) -> Option<(&'a PbrPaint, &'a PbrMaterial)> {
        let object = &self.scene.scene.objects[self.object_of(source)];
        let Paint::Pbr(paint) = &object.material.paint else {
            return None;
        };
        let first = self.scene.objects[self.object_of(source)].first_triangle;
        let face = object.mesh.triangle_faces()[(source - first) as usize];
        Some((paint, paint.material(face as usize)?))
    }

    /// The colour of a triangle with a material at a screen position, after the tone curve.
    pub(crate) fn shade_pbr(
        &self,
        (paint, material): (&PbrPaint, &PbrMaterial),
        source: u32,
        x: f64,
        y: f64,
    ) -> Covered {
        let hit = self.hit(source, x, y);
        let weights = self.pixel_weights(&hit, x, y, 1.0);
        let look = |map: &Option<TextureMap>| sampled(&hit, map.as_ref(), &weights);
        let base = base_color(&hit, paint, material, &weights);
        let opacity = match material.transparency {
            Transparency::Blend => base.w.clamp(0.0, 1.0),
            _ => 1.0,
        };

        let emissive = material.emissive * look(&material.emissive_map).truncate();
        if material.unlit {
            let color = base.truncate() + emissive;
            return Covered { color, opacity };
        }

        let (smooth, view, facing) = hit.frame();
        let normal = mapped_normal(&hit, material, &weights, smooth, facing);
        let occlusion = look(&material.occlusion_map).x;
        let light = self.light_at(&hit, smooth, facing);
        let point = ShadingPoint {
            normal,
            view,
            open: light.0 * occlusion,
            lit: light.1,
        };

        let shine = look(&material.metallic_roughness_map);
        let surface = PbrPoint {
            base_color: base.truncate(),
            metallic: material.metallic * shine.z,
            roughness: material.roughness * shine.y,
            emissive,
        };
        let color = tone(self.lights.shade_pbr(&surface, &point));
        Covered { color, opacity }
    }

    /// Whether a masked triangle is visible at a sample.
    pub(crate) fn passes_mask(
        &self,
        (paint, material): (&PbrPaint, &PbrMaterial),
        source: u32,
        x: f64,
        y: f64,
    ) -> bool {
        let Transparency::Mask(cutoff) = material.transparency else {
            return true;
        };
        // A sample stands for a part of the pixel.
        let hit = self.hit(source, x, y);
        let weights = self.pixel_weights(&hit, x, y, 0.35);
        base_color(&hit, paint, material, &weights).w >= cutoff
    }

    fn pixel_weights(&self, hit: &Hit<'_>, x: f64, y: f64, step: f64) -> PixelWeights {
        let here = self.weights_at(hit, x, y);
        PixelWeights {
            here: hit.weights,
            right: self.weights_at(hit, x + step, y) - here,
            down: self.weights_at(hit, x, y + step) - here,
        }
    }
}

/// The base colour and opacity at a point.
fn base_color(
    hit: &Hit<'_>,
    paint: &PbrPaint,
    material: &PbrMaterial,
    weights: &PixelWeights,
) -> Vec4 {
    let mut base = material.base_color * sampled(hit, material.base_color_map.as_ref(), weights);
    base.w *= sampled(hit, material.opacity_map.as_ref(), weights).x;
    if material.vertex_colors && !paint.vertex_colors.is_empty() {
        let corners = hit.corners();
        base *= (0..3)
            .map(|k| paint.vertex_colors[corners[k]] * hit.weights[k])
            .sum::<Vec4>();
    }
    base
}

/// A texture at a point; white without texture or UVs.
fn sampled(hit: &Hit<'_>, map: Option<&TextureMap>, weights: &PixelWeights) -> Vec4 {
    let Some((map, uvs)) = map.and_then(|map| Some((map, corner_uvs(hit, map.uv_set)?))) else {
        return Vec4::ONE;
    };
    let at = |w: Vec3| uvs[0] * w.x + uvs[1] * w.y + uvs[2] * w.z;
    map.sample(&Footprint {
        uv: at(weights.here),
        right: at(weights.right),
        down: at(weights.down),
    })
}

/// The UVs of the corners of a triangle.
fn corner_uvs(hit: &Hit<'_>, uv_set: usize) -> Option<[Vec2; 3]> {
    let layer = hit.object.mesh.uv_layers().get(uv_set)?;
    let mut uvs = [Vec2::ZERO; 3];
    for (uv, &corner) in uvs.iter_mut().zip(&hit.prepared.corners[hit.triangle]) {
        let value = layer.corners[corner as usize]?;
        *uv = layer.values[value as usize].as_vec2();
    }
    Some(uvs)
}

/// The normal on the side of the eye, after the normal map.
fn mapped_normal(
    hit: &Hit<'_>,
    material: &PbrMaterial,
    weights: &PixelWeights,
    smooth: Vec3,
    facing: bool,
) -> Vec3 {
    let Some(map) = &material.normal_map else {
        return smooth;
    };
    let Some(uvs) = corner_uvs(hit, map.uv_set) else {
        return smooth;
    };

    // The map belongs to the outer side; the back shows its negative.
    let outer = if facing { smooth } else { -smooth };
    let texel = sampled(hit, Some(map), weights).truncate() * 2.0 - Vec3::ONE;
    let slopes = Vec2::new(texel.x, texel.y) * material.normal_scale;
    let points = hit_points(hit.object, hit.prepared, hit.triangle);
    let Some((tangent, bitangent)) = tangent_frame(points, uvs, map, outer) else {
        return smooth;
    };

    let bent = tangent * slopes.x + bitangent * slopes.y + outer * texel.z;
    let bent = bent.normalize_or(outer);
    if facing { bent } else { -bent }
}

/// Unit vectors along which U and V of a texture grow, orthogonal to a normal; V points up.
fn tangent_frame(
    [p, q, r]: [DVec3; 3],
    uvs: [Vec2; 3],
    map: &TextureMap,
    normal: Vec3,
) -> Option<(Vec3, Vec3)> {
    let turned = uvs.map(|uv| {
        let down = map.linear * Vec2::new(uv.x, -uv.y);
        Vec2::new(down.x, -down.y)
    });
    let (a, b) = (turned[1] - turned[0], turned[2] - turned[0]);
    let area = a.perp_dot(b);
    // Scaled up, so that small triangles keep their bits in single precision.
    let (e, f) = (to_single((q - p) * 1e4), to_single((r - p) * 1e4));
    let side = if area < 0.0 { -1.0 } else { 1.0 };
    let along_u = (e * b.y - f * a.y) * side;
    let along_v = (f * a.x - e * b.x) * side;

    let tangent = (along_u - normal * normal.dot(along_u)).try_normalize()?;
    let across = normal.cross(tangent);
    let bitangent = if across.dot(along_v) < 0.0 {
        -across
    } else {
        across
    };
    (area != 0.0).then_some((tangent, bitangent))
}
