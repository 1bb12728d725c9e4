//! Rendering: from a scene and a camera to a picture.
//!
//! **Problem.** Draw shaded, antialiased pictures with the same bytes on every machine.
//!
//! **Method.** Primitives are projected and sorted into tiles. Every tile is rasterised, shaded and
//! encoded on its own. Samples of a pixel that see one smooth surface are shaded once. Tiles have a
//! fixed size and share nothing, so that the number of threads cannot change a byte.
//!
//! | module | concept |
//! |---|---|
//! | `prepared_scene` | what all pictures of a scene share |
//! | `screen_primitives` | triangles, strokes and markers on the screen |
//! | `surface_shader` | the colour of a surface point |
//! | `pbr_shader` | the colour of a textured surface point |
//! | `translucent_layers` | masked and blended surfaces over opaque ones |

mod pbr_shader;
mod prepared_scene;
mod screen_primitives;
mod surface_shader;
mod translucent_layers;

use glam::{DVec3, Vec3};
use pliant_linalg::parallel;

use self::pbr_shader::Covered;
pub use self::prepared_scene::PreparedScene;
use self::screen_primitives::{Overlay, project_overlays, project_triangles};
use self::surface_shader::SurfaceShader;
use crate::camera::projection::ScreenProjection;
use crate::image::check_size;
use crate::raster::{
    NOTHING, PixelBox, SAMPLES, ScreenCapsule, ScreenTriangle, TILE, TileBins, TileSamples,
    sample_position_in_pixel,
};
use crate::shading::{FloorShadow, KeyLight, LightSetup, tone};
use crate::{Backdrop, Camera, Color, Ground, Image, Paint, Scene, Transparency, ViewError};

/// Draws a scene once; for several pictures of one scene see [`PreparedScene`].
pub fn render(scene: &Scene, camera: &Camera, size: [usize; 2]) -> Result<Image, ViewError> {
    PreparedScene::new(scene)?.render(camera, size)
}

impl PreparedScene<'_> {
    /// Draws the scene from a camera into a picture of `size` (width, height).
    pub fn render(&self, camera: &Camera, size: [usize; 2]) -> Result<Image, ViewError> {
        check_size(size)?;
        let renderer = PictureRenderer::set_up(self, camera, size);
        let mut image = Image::filled(size, Color::WHITE)?;
        let tiles = parallel::map(renderer.bins.tile_count(), 1, |tile| {
            renderer.draw_tile(tile)
        });

        for (tile, pixels) in tiles.iter().enumerate() {
            let [x, y] = renderer.bins.origin(tile);
            image.set_block([x, y], TILE, pixels);
        }

        if let Some(legend) = &self.scene.legend {
            legend.draw(&mut image);
        }

        Ok(image)
    }
}

/// Everything that the tiles of one picture need.
struct PictureRenderer<'a> {
    projection: ScreenProjection,
    rows: Vec<(Color, [u8; 3])>,
    surfaces: SurfaceShader<'a>,
    floor: Option<FloorShadow>,
    triangles: Vec<ScreenTriangle>,
    /// How each triangle is drawn; empty if all are opaque and seen from both sides.
    kinds: Vec<TriangleKind>,
    capsules: Vec<(ScreenCapsule, Overlay)>,
    boxes: Vec<Option<PixelBox>>,
    bins: TileBins,
}

/// How a triangle is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TriangleKind {
    Opaque,
    /// Not at all: its back is seen, and it has only a front.
    Culled,
    /// Where its opacity is great enough.
    Masked,
    /// Mixed with what is behind it.
    Blended,
}

impl<'a> PictureRenderer<'a> {
    fn set_up(prepared: &'a PreparedScene<'a>, camera: &Camera, size: [usize; 2]) -> Self {
        let projection = ScreenProjection::new(camera, &prepared.space, size);
        let up = camera.up.try_normalize().unwrap_or(DVec3::Y);
        let lights = LightSetup::for_camera(&projection.axes, up.as_vec3());
        let key = KeyLight::draw(lights.key, &prepared.occluders());
        let floor = floor_height(prepared, up)
            .map(|height| FloorShadow::cast(up, height, &prepared.ambient, &key));
        let surfaces = SurfaceShader::new(prepared, projection, lights, key);
        let triangles = project_triangles(prepared, &projection);
        let kinds = triangle_kinds(prepared, &surfaces, &triangles);
        let capsules = project_overlays(prepared, &projection);
        let mut boxes = parallel::map(triangles.len(), 4096, |k| triangles[k].pixels(size));

        // Capsules are numbered after the triangles.
        boxes.extend(capsules.iter().map(|(capsule, _)| capsule.pixels(size)));
        let bins = TileBins::sort(&boxes, size);
        let rows = backdrop_rows(&prepared.scene.backdrop, size[1]);

        Self {
            projection,
            rows,
            surfaces,
            floor,
            triangles,
            kinds,
            capsules,
            boxes,
            bins,
        }
    }

    fn draw_tile(&self, tile: usize) -> Vec<[u8; 3]> {
        let origin = self.bins.origin(tile);
        let members = self.bins.members(tile);
        let mut pixels = Vec::with_capacity(TILE * TILE);
        if members.is_empty() {
            pixels.extend((0..TILE * TILE).map(|k| self.background_bytes(origin, k)));
            return pixels;
        }

        let mut samples = TileSamples::empty(origin);
        // Front faces first: on closed meshes they hide all back faces, which are then skipped
        // early.
        for outer in [true, false] {
            self.draw_members(&mut samples, members, outer);
        }

        if self.has_layers(members) {
            return self.layered_pixels(&samples, members);
        }
        pixels.extend((0..TILE * TILE).map(|k| self.resolve(&samples, k).to_srgb8()));
        pixels
    }

    /// Draws the primitives of a tile that show their front, or the others.
    fn draw_members(&self, samples: &mut TileSamples, members: &[u32], outer: bool) {
        for &member in members {
            let k = member as usize;
            let Some(pixel_box) = &self.boxes[k] else {
                continue;
            };

            let is_opaque = self
                .kinds
                .get(k)
                .is_none_or(|&kind| kind == TriangleKind::Opaque);
            match self.triangles.get(k) {
                Some(triangle) if triangle.faces_eye() == outer && is_opaque => {
                    samples.draw_triangle(triangle, pixel_box, member)
                }
                None if outer => samples.draw_capsule(
                    &self.capsules[k - self.triangles.len()].0,
                    pixel_box,
                    member,
                ),
                _ => {}
            }
        }
    }

    /// The colour behind everything in a pixel of a tile.
    fn background(&self, origin: [usize; 2], pixel: usize) -> Color {
        let (plain, _) = self.row(origin, pixel);
        shadowed(*plain, self.floor_shadow(origin, pixel))
    }

    /// [`PictureRenderer::background`], encoded. Most pixels are outside the shadow and have the
    /// bytes of their row.
    fn background_bytes(&self, origin: [usize; 2], pixel: usize) -> [u8; 3] {
        let (plain, bytes) = self.row(origin, pixel);
        let shadow = self.floor_shadow(origin, pixel);
        if shadow == 0.0 {
            *bytes
        } else {
            shadowed(*plain, shadow).to_srgb8()
        }
    }

    fn row(&self, origin: [usize; 2], pixel: usize) -> &(Color, [u8; 3]) {
        // Tiles at the lower border extend below the picture.
        &self.rows[(origin[1] + pixel / TILE).min(self.rows.len() - 1)]
    }

    fn floor_shadow(&self, origin: [usize; 2], pixel: usize) -> f32 {
        let Some(floor) = &self.floor else { return 0.0 };
        let x = origin[0] + pixel % TILE;
        let y = origin[1] + pixel / TILE;
        let (from, along) = self.projection.ray(x as f64 + 0.5, y as f64 + 0.5);
        floor.along(from, along)
    }

    /// The colour of a pixel: the mean of its samples.
    fn resolve(&self, samples: &TileSamples, pixel: usize) -> Color {
        let mut sum = Vec3::ZERO;
        self.each_group(samples, pixel, |group, color| {
            sum += color * group.count_ones() as f32;
        });
        Color(sum / SAMPLES as f32)
    }

    /// Samples of one smooth surface are shaded once: calls `add` with each such group and its
    /// colour.
    fn each_group(&self, samples: &TileSamples, pixel: usize, mut add: impl FnMut(u32, Vec3)) {
        let seen = &samples.seen[pixel];
        // One bit for each sample that is not shaded yet.
        let mut left = (1_u32 << SAMPLES) - 1;
        while left != 0 {
            let (first, group) = self.group_of(samples, pixel, left);
            left &= !group;
            let color = self.sample_color(samples.origin, pixel, seen[first], first);
            add(group, self.lined(color, samples, pixel, group));
        }
    }

    /// The first of the samples that are `left`, and all of them that see its surface.
    fn group_of(&self, samples: &TileSamples, pixel: usize, left: u32) -> (usize, u32) {
        let seen = &samples.seen[pixel];
        let depth = &samples.depth[pixel];
        let first = left.trailing_zeros() as usize;
        let mut group = 0_u32;
        for k in first..SAMPLES {
            let alike = seen[k] == seen[first]
                || self.see_one_surface(seen[first], seen[k], depth[first], depth[k]);
            group |= u32::from(alike) << k;
        }
        (first, group & left)
    }

    /// The colour of a group of samples under the lines of each triangle that they see.
    fn lined(&self, color: Vec3, samples: &TileSamples, pixel: usize, group: u32) -> Vec3 {
        let seen = &samples.seen[pixel];
        let source = |k: usize| {
            self.triangles
                .get(seen[k] as usize)
                .map(|triangle| triangle.source)
        };

        let Some(wire) =
            source(group.trailing_zeros() as usize).and_then(|first| self.surfaces.wire(first))
        else {
            return color;
        };

        let mut left = group;
        let mut cover = 0.0;
        while left != 0 {
            let first = left.trailing_zeros() as usize;
            // Samples of one triangle have the same edges.
            let same = (0..SAMPLES)
                .filter(|&k| seen[k] == seen[first])
                .fold(0, |all, k| all | 1 << k)
                & left;

            left &= !same;
            let [x, y] = sample_position(samples.origin, pixel, first);
            let own =
                source(first).map_or(0.0, |source| self.surfaces.wire_cover(source, wire, x, y));

            cover += own * same.count_ones() as f32;
        }

        Color(color)
            .mix(wire.color, cover / group.count_ones() as f32)
            .0
    }

    /// Whether two samples of a pixel see one smooth piece of surface.
    fn see_one_surface(&self, a: u32, b: u32, depth_a: f32, depth_b: f32) -> bool {
        let triangles = self.triangles.len();
        if a as usize >= triangles || b as usize >= triangles {
            return false;
        }

        let near = (depth_a - depth_b).abs()
            < 0.01
                * if self.projection.perspective {
                    depth_a
                } else {
                    1.0
                };
        near && self.surfaces.continuous(
            self.triangles[a as usize].source,
            self.triangles[b as usize].source,
        )
    }

    fn sample_color(&self, origin: [usize; 2], pixel: usize, seen: u32, sample: usize) -> Vec3 {
        if seen == NOTHING {
            return self.background(origin, pixel).0;
        }

        let [x, y] = sample_position(origin, pixel, sample);
        match self.triangles.get(seen as usize) {
            Some(triangle) => self.surface_at(triangle.source, x, y).color,
            None => {
                let (capsule, overlay) = &self.capsules[seen as usize - self.triangles.len()];
                overlay_color(capsule, *overlay, [x, y])
            }
        }
    }

    /// The colour of a triangle at a screen position.
    fn surface_at(&self, source: u32, x: f64, y: f64) -> Covered {
        match self.surfaces.pbr(source) {
            Some(pbr) => self.surfaces.shade_pbr(pbr, source, x, y),
            None => Covered {
                color: tone(self.surfaces.shade(source, x, y)),
                opacity: 1.0,
            },
        }
    }

    /// The colour and opacity of the triangle that a sample sees.
    fn covered(&self, samples: &TileSamples, pixel: usize, sample: usize) -> Covered {
        let [x, y] = sample_position(samples.origin, pixel, sample);
        let seen = samples.seen[pixel][sample] as usize;
        self.surface_at(self.triangles[seen].source, x, y)
    }
}

/// How each triangle is drawn; empty if no object has materials.
fn triangle_kinds(
    prepared: &PreparedScene<'_>,
    surfaces: &SurfaceShader<'_>,
    triangles: &[ScreenTriangle],
) -> Vec<TriangleKind> {
    let mut objects = prepared.scene.objects.iter();
    if !objects.any(|object| matches!(object.material.paint, Paint::Pbr(_))) {
        return Vec::new();
    }

    parallel::map(triangles.len(), 4096, |k| {
        let triangle = &triangles[k];
        let Some((_, material)) = surfaces.pbr(triangle.source) else {
            return TriangleKind::Opaque;
        };
        if !material.double_sided && !triangle.faces_eye() {
            return TriangleKind::Culled;
        }
        match material.transparency {
            Transparency::Opaque => TriangleKind::Opaque,
            Transparency::Mask(_) => TriangleKind::Masked,
            Transparency::Blend => TriangleKind::Blended,
        }
    })
}

/// The colour of the backdrop in each row, linear and encoded.
fn backdrop_rows(backdrop: &Backdrop, height: usize) -> Vec<(Color, [u8; 3])> {
    let color = |row: usize| {
        let t = (row as f32 + 0.5) / height as f32;
        backdrop.top.mix(backdrop.bottom, t * t * (3.0 - 2.0 * t))
    };
    (0..height)
        .map(|row| (color(row), color(row).to_srgb8()))
        .collect()
}

/// The backdrop in shadow, slightly warm from light that clay reflects.
fn shadowed(plain: Color, shadow: f32) -> Color {
    Color(plain.0 * (Vec3::ONE - Vec3::new(0.80, 0.812, 0.82) * shadow))
}

/// The screen position of a sample.
fn sample_position(origin: [usize; 2], pixel: usize, sample: usize) -> [f64; 2] {
    let [dx, dy] = sample_position_in_pixel(sample).map(f64::from);
    [
        (origin[0] + pixel % TILE) as f64 + dx,
        (origin[1] + pixel / TILE) as f64 + dy,
    ]
}

fn overlay_color(capsule: &ScreenCapsule, overlay: Overlay, position: [f64; 2]) -> Vec3 {
    let ([dx, dy], _) = capsule.offset(position);
    let x = (dx / capsule.radius) as f32;
    let y = (dy / capsule.radius) as f32;
    match overlay {
        Overlay::Line(color) => color.0,
        Overlay::Ball(color) => {
            let z = (1.0 - x * x - y * y).max(0.0).sqrt();
            // Lit from the upper left like the surfaces, with a dark outline for contrast.
            let lambert = (-0.5 * x - 0.62 * y + 0.6 * z).max(0.0);
            let gloss = lambert * lambert * lambert * lambert;
            let outline = if z < 0.42 { 0.35 } else { 1.0 };
            tone((color.0 * (0.45 + 0.85 * lambert) + Vec3::splat(0.22 * gloss * gloss)) * outline)
        }
    }
}

/// The height of the floor along `up`, in unit space.
fn floor_height(prepared: &PreparedScene<'_>, up: DVec3) -> Option<f64> {
    match prepared.scene.backdrop.ground {
        Ground::None => None,
        Ground::FloorAt(height) => {
            Some(prepared.space.point(up * height).dot(up)).filter(|h| h.is_finite())
        }
        Ground::Floor => {
            let points = prepared.objects.iter().flat_map(|object| &object.positions);
            points
                .map(|p| p.dot(up))
                .filter(|h| h.is_finite())
                .reduce(f64::min)
        }
    }
}
