//! The colour of a surface point: ray–triangle intersection, paint, lines and lighting.
//!
//! **Equation.** A ray `o + s d` meets the triangle `p, p + e, p + f` at barycentrics
//!
//! ```text
//! u = (o − p)·(d × f) / e·(d × f)        v = d·((o − p) × e) / e·(d × f)
//! ```
//!
//! **Source.** T. Möller, B. Trumbore, "Fast, minimum storage ray/triangle intersection", JGT 1997.
//!
//! **Departures.** The rasteriser has found that the sample is inside, so that barycentric coordinates
//! are only clamped against rounding. The coverage of lines (wire, isolines) depends on their
//! distance in pixels, from the change of the coordinates across a pixel.

use glam::{DVec3, Vec3};
use pliant_linalg::parallel;

use super::prepared_scene::{PreparedObject, PreparedScene, VERTICES_PER_TASK};
use crate::camera::projection::{ScreenProjection, to_single};
use crate::shading::{KeyLight, LightSetup, ShadingPoint};
use crate::{Color, ColorMap, Object, Paint, ScalarPaint, Wire};

/// The colours of all surfaces in a picture.
pub(crate) struct SurfaceShader<'a> {
    pub(super) scene: &'a PreparedScene<'a>,
    projection: ScreenProjection,
    pub(super) lights: LightSetup,
    key: KeyLight,
    /// The index of the first triangle of each object.
    first_triangles: Vec<u32>,
    /// The visible fraction of the key light at each vertex of each object; zero if it faces away.
    vertex_lit: Vec<Vec<f32>>,
}

/// Chosen: the key light is interpolated between corners that differ by less, which is not visible.
const LIT_AGREEMENT: f32 = 0.05;

/// A point of a triangle.
pub(super) struct Hit<'a> {
    index: usize,
    pub(super) object: &'a Object,
    pub(super) prepared: &'a PreparedObject,
    pub(super) triangle: usize,
    pub(super) weights: Vec3,
    ray: (DVec3, DVec3),
}

impl<'a> SurfaceShader<'a> {
    pub(crate) fn new(
        scene: &'a PreparedScene<'a>,
        projection: ScreenProjection,
        lights: LightSetup,
        key: KeyLight,
    ) -> Self {
        let first_triangles = scene
            .objects
            .iter()
            .map(|prepared| prepared.first_triangle)
            .collect();

        let vertex_lit = scene
            .objects
            .iter()
            .map(|prepared| lit_vertices(prepared, &key))
            .collect();

        Self {
            scene,
            projection,
            lights,
            key,
            first_triangles,
            vertex_lit,
        }
    }

    pub(super) fn object_of(&self, source: u32) -> usize {
        self.first_triangles
            .partition_point(|&first| first <= source)
            - 1
    }

    /// Whether two triangles belong to one surface that is smooth between them.
    pub(crate) fn continuous(&self, a: u32, b: u32) -> bool {
        let object = self.object_of(a);
        if object != self.object_of(b) {
            return false;
        }

        let prepared = &self.scene.objects[object];
        let normal =
            |source: u32| prepared.normals.faces[(source - prepared.first_triangle) as usize];
        let same_paint = match &self.scene.scene.objects[object].material.paint {
            // Colours of faces change at every edge.
            Paint::FaceColors(_) | Paint::FaceScalar(_) => false,
            Paint::Pbr(paint) => {
                let faces = self.scene.scene.objects[object].mesh.triangle_faces();
                let face = |source: u32| faces[(source - prepared.first_triangle) as usize];
                paint.of_face.get(face(a) as usize) == paint.of_face.get(face(b) as usize)
            }
            _ => true,
        };

        same_paint && normal(a).dot(normal(b)) > 0.8
    }

    /// Light from the surface of triangle `source` towards the eye, at a screen position.
    pub(crate) fn shade(&self, source: u32, x: f64, y: f64) -> Vec3 {
        let hit = self.hit(source, x, y);
        let (normal, view, facing) = hit.frame();
        let (open, lit) = self.light_at(&hit, normal, facing);
        let point = ShadingPoint {
            normal,
            view,
            open,
            lit,
        };

        let material = &hit.object.material;
        let plain = if facing {
            material.color
        } else {
            material.back_color
        };

        self.lights
            .shade(self.painted(&hit, x, y).unwrap_or(plain).0, &point)
    }

    /// Openness to light from all directions, and the visible fraction of the key light.
    pub(super) fn light_at(&self, hit: &Hit<'_>, normal: Vec3, facing: bool) -> (f32, f32) {
        let position = to_single(hit.position());
        let open = match (hit.prepared.fine[hit.triangle], facing) {
            (true, true) => hit.interpolate(|v| hit.prepared.openness[v]),
            // Openness at vertices belongs to the front; the back is assumed half open.
            (true, false) => 0.55,
            (false, _) => self.scene.ambient.openness(position, normal),
        };

        let lit = if normal.dot(self.key.direction()) > 0.0 {
            self.lit(hit, position, normal, facing)
        } else {
            0.0
        };

        (open, lit)
    }

    /// The visible fraction of the key light: interpolated if the corners nearly agree, else computed
    /// at the point.
    fn lit(&self, hit: &Hit<'_>, position: Vec3, normal: Vec3, facing: bool) -> f32 {
        let lit = &self.vertex_lit[hit.index];
        let [a, b, c] = hit.corners().map(|v| lit[v]);
        // Interpolation would blur the edge of a shadow inside the triangle.
        let spread = a.max(b).max(c) - a.min(b).min(c);
        let interpolable = facing && hit.prepared.fine[hit.triangle] && spread < LIT_AGREEMENT;
        if interpolable {
            hit.interpolate(|v| lit[v])
        } else {
            self.key.lit(position, normal)
        }
    }

    pub(super) fn hit(&self, source: u32, x: f64, y: f64) -> Hit<'_> {
        let index = self.object_of(source);
        let object = &self.scene.scene.objects[index];
        let prepared = &self.scene.objects[index];
        let triangle = (source - prepared.first_triangle) as usize;
        let ray = self.projection.ray(x, y);
        let weights = barycentrics(ray, hit_points(object, prepared, triangle));

        Hit {
            index,
            object,
            prepared,
            triangle,
            weights,
            ray,
        }
    }

    fn painted(&self, hit: &Hit<'_>, x: f64, y: f64) -> Option<Color> {
        let face = hit.object.mesh.triangle_faces()[hit.triangle] as usize;
        match &hit.object.material.paint {
            Paint::Plain | Paint::Pbr(_) => None,
            Paint::VertexColors(colors) => {
                let corners = hit.corners();
                Some(Color(
                    (0..3).map(|k| colors[corners[k]].0 * hit.weights[k]).sum(),
                ))
            }
            Paint::FaceColors(colors) => Some(colors[face]),
            Paint::FaceScalar(paint) => Some(dimmed(
                paint.map.color(paint.range.position(paint.values[face])),
            )),
            Paint::VertexScalar(paint) => Some(dimmed(self.scalar_color(hit, paint, x, y))),
        }
    }

    fn scalar_color(&self, hit: &Hit<'_>, paint: &ScalarPaint, x: f64, y: f64) -> Color {
        let values = hit.corners().map(|v| paint.values[v]);
        if values.iter().any(|v| !v.is_finite()) {
            return ColorMap::neutral();
        }

        let value_at = |w: Vec3| (0..3).map(|k| f64::from(w[k]) * values[k]).sum::<f64>();
        let value = value_at(hit.weights);
        let color = paint.map.color(paint.range.position(value));
        let Some(spacing) = paint.isoline_spacing.filter(|s| *s > 0.0) else {
            return color;
        };

        // The gradient of the value, from its change to the right and down by one pixel.
        let step = |dx: f64, dy: f64| value_at(self.weights_at(hit, x + dx, y + dy)) - value;
        let across = step(1.0, 0.0);
        let down = step(0.0, 1.0);
        let per_pixel = (across * across + down * down).sqrt();

        // Lines fade where they are less than six pixels apart.
        let line = value / spacing;
        let distance_px = (line - line.round()).abs() * spacing / per_pixel.max(1e-300);
        let crowded = (spacing / per_pixel.max(1e-300) / 6.0).clamp(0.0, 1.0);

        Color(color.0 * (1.0 - 0.62 * (line_cover(distance_px, 1.3) * crowded) as f32))
    }

    /// Barycentric coordinates of another screen position in the plane of the triangle, unclamped.
    pub(super) fn weights_at(&self, hit: &Hit<'_>, x: f64, y: f64) -> Vec3 {
        plane_barycentrics(
            self.projection.ray(x, y),
            hit_points(hit.object, hit.prepared, hit.triangle),
        )
    }

    /// The lines on the object of a triangle.
    pub(crate) fn wire(&self, source: u32) -> Option<&Wire> {
        self.scene.scene.objects[self.object_of(source)]
            .material
            .wire
            .as_ref()
    }

    /// The coverage of a screen position by the lines along authored edges.
    pub(crate) fn wire_cover(&self, source: u32, wire: &Wire, x: f64, y: f64) -> f32 {
        let hit = &self.hit(source, x, y);
        let here = self.weights_at(hit, x, y);
        let right = self.weights_at(hit, x + 1.0, y) - here;
        let down = self.weights_at(hit, x, y + 1.0) - here;

        let authored = authored_edges(hit.object, hit.triangle);
        let mut cover = 0.0_f64;
        for k in 0..3 {
            let per_pixel = f64::from((right[k] * right[k] + down[k] * down[k]).sqrt());
            if !authored[k] || per_pixel <= 0.0 {
                continue;
            }
            // On triangles a few pixels high, lines fade instead of filling the surface.
            let crowded = (1.0 / per_pixel / 5.0).clamp(0.0, 1.0);
            cover = cover.max(line_cover(f64::from(here[k]) / per_pixel, wire.width_px) * crowded);
        }

        (cover * wire.opacity) as f32
    }
}

fn lit_vertices(prepared: &PreparedObject, key: &KeyLight) -> Vec<f32> {
    parallel::map(prepared.single.len(), VERTICES_PER_TASK, |v| {
        let normal = prepared.normals.vertices[v];
        if normal.dot(key.direction()) > 0.0 {
            key.lit(prepared.single[v], normal)
        } else {
            0.0
        }
    })
}

/// In full key light, surfaces are brighter than 1 by a constant factor. Dimming by it makes the
/// colour of a value equal to that in the legend.
fn dimmed(color: Color) -> Color {
    Color(color.0 * 0.76)
}

/// Coverage of a line of some width at a distance from its middle, both in pixels: soft over one
/// pixel.
fn line_cover(distance_px: f64, width_px: f64) -> f64 {
    (0.5 * width_px + 0.5 - distance_px.abs()).clamp(0.0, 1.0) * width_px.min(1.0)
}

/// For each corner of a fan triangle, whether the edge opposite to it was authored.
fn authored_edges(object: &Object, triangle: usize) -> [bool; 3] {
    let face_of = object.mesh.triangle_faces();
    let face = face_of[triangle];
    let first = triangle == 0 || face_of[triangle - 1] != face;
    let last = triangle + 1 == face_of.len() || face_of[triangle + 1] != face;
    // In a fan triangle (p₀, pₖ, pₖ₊₁), the edge opposite to p₀ is always authored, the other two only
    // at the ends of the fan.
    [true, last, first]
}

pub(super) fn hit_points(
    object: &Object,
    prepared: &PreparedObject,
    triangle: usize,
) -> [DVec3; 3] {
    object.mesh.triangles()[triangle].map(|v| prepared.positions[v as usize])
}

/// Barycentric coordinates of a ray in the plane of a triangle; those of the first corner if the ray
/// is parallel to the plane.
fn plane_barycentrics((origin, direction): (DVec3, DVec3), [p, q, r]: [DVec3; 3]) -> Vec3 {
    let e = q - p;
    let f = r - p;
    let t = origin - p;
    let across = direction.cross(f);
    let determinant = e.dot(across);
    if determinant == 0.0 {
        return Vec3::X;
    }

    let inverse = 1.0 / determinant;
    let u = t.dot(across) * inverse;
    let v = direction.dot(t.cross(e)) * inverse;

    Vec3::new((1.0 - u - v) as f32, u as f32, v as f32)
}

/// [`plane_barycentrics`], clamped to the triangle.
fn barycentrics(ray: (DVec3, DVec3), points: [DVec3; 3]) -> Vec3 {
    let inside = plane_barycentrics(ray, points)
        .max(Vec3::ZERO)
        .min(Vec3::ONE);
    let sum = inside.x + inside.y + inside.z;
    if sum > 0.0 { inside / sum } else { Vec3::X }
}

impl Hit<'_> {
    pub(super) fn corners(&self) -> [usize; 3] {
        self.object.mesh.triangles()[self.triangle].map(|v| v as usize)
    }

    fn interpolate(&self, value: impl Fn(usize) -> f32) -> f32 {
        let corners = self.corners();
        (0..3).map(|k| value(corners[k]) * self.weights[k]).sum()
    }

    fn position(&self) -> DVec3 {
        let [p, q, r] = hit_points(self.object, self.prepared, self.triangle);
        p * f64::from(self.weights.x)
            + q * f64::from(self.weights.y)
            + r * f64::from(self.weights.z)
    }

    /// The normal on the side of the eye, the direction towards the eye, and whether the outer side
    /// is seen.
    pub(super) fn frame(&self) -> (Vec3, Vec3, bool) {
        let view = -to_single(self.ray.1).normalize_or(Vec3::NEG_Z);
        let facing = self.prepared.normals.faces[self.triangle].dot(view) >= 0.0;
        let [a, b, c] = self.prepared.normals.corners[self.triangle];
        let smooth =
            (a * self.weights.x + b * self.weights.y + c * self.weights.z).normalize_or(view);
        (if facing { smooth } else { -smooth }, view, facing)
    }
}
