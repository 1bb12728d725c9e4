//! From a scene and a camera to a picture.
//!
//! **Problem.** Draw shaded, antialiased pictures on any machine, with the same bytes on each.
//!
//! **Form.** Primitives are projected, sorted into tiles, and every tile is rasterised, shaded and
//! encoded on its own. Neighbouring samples of a pixel that see one smooth surface are shaded once.
//!
//! **Ours.** Tiles are of fixed size and share nothing, so the number of threads cannot change a
//! byte.

use glam::{DVec3, Vec3};
use pliant_linalg::parallel;

use crate::bins::Bins;
use crate::ground::FloorShadow;
use crate::image::check_size;
use crate::key_light::KeyLight;
use crate::lens::{Lens, ScreenPoint};
use crate::raster::{
    NOTHING, PixelBox, SAMPLES, ScreenCapsule, ScreenTriangle, TILE, TileSamples, sample_place,
};
use crate::shade::{Studio, tone};
use crate::surface::Surfaces;
use crate::{Backdrop, Camera, Color, Ground, Image, Scene, Stage, ViewError};

/// Draws a scene once; for several pictures of one scene see [`Stage`].
pub fn render(scene: &Scene, camera: &Camera, size: [usize; 2]) -> Result<Image, ViewError> {
    Stage::prepare(scene)?.render(camera, size)
}

impl Stage<'_> {
    /// Draws the scene from a camera into a picture of `size` (width, height).
    pub fn render(&self, camera: &Camera, size: [usize; 2]) -> Result<Image, ViewError> {
        check_size(size)?;
        let shot = Shot::set_up(self, camera, size);
        let mut image = Image::filled(size, Color::WHITE)?;
        let tiles = parallel::map(shot.bins.tile_count(), 1, |tile| shot.draw_tile(tile));
        for (tile, pixels) in tiles.iter().enumerate() {
            let [x, y] = shot.bins.origin(tile);
            image.set_block([x, y], TILE, pixels);
        }
        if let Some(legend) = &self.scene.legend {
            legend.draw(&mut image);
        }
        Ok(image)
    }
}

/// Everything one picture needs, ready for its tiles.
struct Shot<'a> {
    lens: Lens,
    rows: Vec<(Color, [u8; 3])>,
    surfaces: Surfaces<'a>,
    floor: Option<FloorShadow>,
    triangles: Vec<ScreenTriangle>,
    capsules: Vec<(ScreenCapsule, Overlay)>,
    boxes: Vec<Option<PixelBox>>,
    bins: Bins,
}

/// A primitive that is drawn over the surfaces.
#[derive(Debug, Clone, Copy)]
enum Overlay {
    Line(Color),
    Ball(Color),
}

impl<'a> Shot<'a> {
    fn set_up(stage: &'a Stage<'a>, camera: &Camera, size: [usize; 2]) -> Self {
        let lens = Lens::new(camera, &stage.space, size);
        let up = camera.up.try_normalize().unwrap_or(DVec3::Y);
        let studio = Studio::for_camera(&lens.axes, up.as_vec3());
        let key = KeyLight::draw(studio.key, &stage.occluders());
        let floor =
            floor_height(stage, up).map(|height| FloorShadow::cast(up, height, &stage.sky, &key));
        let surfaces = Surfaces::new(stage, lens, studio, key);
        let triangles = project_triangles(stage, &lens);
        let capsules = project_overlays(stage, &lens);
        let mut boxes = parallel::map(triangles.len(), 4096, |k| triangles[k].pixels(size));
        boxes.extend(capsules.iter().map(|(capsule, _)| capsule.pixels(size)));
        let bins = Bins::sort(&boxes, size);
        let rows = backdrop_rows(&stage.scene.backdrop, size[1]);
        Self {
            lens,
            rows,
            surfaces,
            floor,
            triangles,
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
        // Outer sides first: on closed meshes they hide all inner sides, which then are dropped
        // before their samples.
        for outer in [true, false] {
            self.draw_members(&mut samples, members, outer);
        }
        pixels.extend((0..TILE * TILE).map(|k| self.resolve(&samples, k).to_srgb8()));
        pixels
    }

    /// Draws those primitives of a tile that show their outer side, or the others.
    fn draw_members(&self, samples: &mut TileSamples, members: &[u32], outer: bool) {
        for &member in members {
            let k = member as usize;
            let Some(pixel_box) = &self.boxes[k] else {
                continue;
            };
            match self.triangles.get(k) {
                Some(triangle) if triangle.faces_eye() == outer => {
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

    /// As [`Shot::background`], already encoded; most pixels lie outside the shadow and share their
    /// row's bytes.
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
        // Tiles at the lower border reach below the picture.
        &self.rows[(origin[1] + pixel / TILE).min(self.rows.len() - 1)]
    }

    fn floor_shadow(&self, origin: [usize; 2], pixel: usize) -> f32 {
        let Some(floor) = &self.floor else { return 0.0 };
        let (x, y) = (origin[0] + pixel % TILE, origin[1] + pixel / TILE);
        let (from, along) = self.lens.ray(x as f64 + 0.5, y as f64 + 0.5);
        floor.along(from, along)
    }

    /// The colour of one pixel: the mean over its samples, each group of alike samples shaded once.
    fn resolve(&self, samples: &TileSamples, pixel: usize) -> Color {
        let seen = &samples.seen[pixel];
        let depth = &samples.depth[pixel];
        let mut left = (1_u32 << SAMPLES) - 1;
        let mut sum = Vec3::ZERO;
        while left != 0 {
            let first = left.trailing_zeros() as usize;
            let mut group = 0_u32;
            for k in first..SAMPLES {
                let alike = seen[k] == seen[first]
                    || self.alike(seen[first], seen[k], depth[first], depth[k]);
                group |= u32::from(alike) << k;
            }
            group &= left;
            left &= !group;
            let color = self.sample_color(samples.origin, pixel, seen[first], first);
            let color = self.lined(color, samples, pixel, group);
            sum += color * group.count_ones() as f32;
        }
        Color(sum / SAMPLES as f32)
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
        let (mut left, mut cover) = (group, 0.0);
        while left != 0 {
            let first = left.trailing_zeros() as usize;
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
    fn alike(&self, a: u32, b: u32, depth_a: f32, depth_b: f32) -> bool {
        let triangles = self.triangles.len();
        if a as usize >= triangles || b as usize >= triangles {
            return false;
        }
        let near =
            (depth_a - depth_b).abs() < 0.01 * if self.lens.perspective { depth_a } else { 1.0 };
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
            Some(triangle) => tone(self.surfaces.shade(triangle.source, x, y)),
            None => {
                let (capsule, overlay) = &self.capsules[seen as usize - self.triangles.len()];
                overlay_color(capsule, *overlay, [x, y])
            }
        }
    }
}

/// The backdrop's colour in each row, plain and encoded.
fn backdrop_rows(backdrop: &Backdrop, height: usize) -> Vec<(Color, [u8; 3])> {
    let color = |row: usize| {
        let t = (row as f32 + 0.5) / height as f32;
        backdrop.top.mix(backdrop.bottom, t * t * (3.0 - 2.0 * t))
    };
    (0..height)
        .map(|row| (color(row), color(row).to_srgb8()))
        .collect()
}

/// The backdrop in shadow, which keeps a trace of warmth, as of light bounced from clay.
fn shadowed(plain: Color, shadow: f32) -> Color {
    Color(plain.0 * (Vec3::ONE - Vec3::new(0.80, 0.812, 0.82) * shadow))
}

/// The place on the screen of a sample of a tile's pixel.
fn sample_position(origin: [usize; 2], pixel: usize, sample: usize) -> [f64; 2] {
    let [dx, dy] = sample_place(sample).map(f64::from);
    [
        (origin[0] + pixel % TILE) as f64 + dx,
        (origin[1] + pixel / TILE) as f64 + dy,
    ]
}

fn overlay_color(capsule: &ScreenCapsule, overlay: Overlay, place: [f64; 2]) -> Vec3 {
    let ([dx, dy], _) = capsule.offset(place);
    let (x, y) = ((dx / capsule.radius) as f32, (dy / capsule.radius) as f32);
    match overlay {
        Overlay::Line(color) => color.0,
        Overlay::Ball(color) => {
            let z = (1.0 - x * x - y * y).max(0.0).sqrt();
            // Lit from the upper left like everything else, with a dark outline that sets it off
            // from the surface.
            let lambert = (-0.5 * x - 0.62 * y + 0.6 * z).max(0.0);
            let gloss = lambert * lambert * lambert * lambert;
            let outline = if z < 0.42 { 0.35 } else { 1.0 };
            tone((color.0 * (0.45 + 0.85 * lambert) + Vec3::splat(0.22 * gloss * gloss)) * outline)
        }
    }
}

/// The floor's height along `up` in unit space.
fn floor_height(stage: &Stage<'_>, up: DVec3) -> Option<f64> {
    match stage.scene.backdrop.ground {
        Ground::None => None,
        Ground::FloorAt(height) => {
            Some(stage.space.point(up * height).dot(up)).filter(|h| h.is_finite())
        }
        Ground::Floor => {
            let points = stage.objects.iter().flat_map(|object| &object.positions);
            points
                .map(|p| p.dot(up))
                .filter(|h| h.is_finite())
                .reduce(f64::min)
        }
    }
}

/// Triangles in one parallel task.
const TRIANGLES_PER_TASK: usize = 4096;

fn project_triangles(stage: &Stage<'_>, lens: &Lens) -> Vec<ScreenTriangle> {
    let mut all = Vec::new();
    for (object, staged) in stage.scene.objects.iter().zip(&stage.objects) {
        let projected = parallel::map(staged.positions.len(), TRIANGLES_PER_TASK, |v| {
            Projected::new(staged.positions[v], lens)
        });
        let triangles = object.mesh.triangles();
        let pieces = parallel::map(triangles.len().div_ceil(TRIANGLES_PER_TASK), 1, |piece| {
            let first = piece * TRIANGLES_PER_TASK;
            let mut piece = Vec::with_capacity(TRIANGLES_PER_TASK);
            for (t, &[a, b, c]) in triangles
                .iter()
                .enumerate()
                .skip(first)
                .take(TRIANGLES_PER_TASK)
            {
                let corners = [
                    &projected[a as usize],
                    &projected[b as usize],
                    &projected[c as usize],
                ];
                clip_near(corners, staged.first_triangle + t as u32, lens, &mut piece);
            }
            piece
        });
        all.extend(pieces.into_iter().flatten());
    }
    all
}

/// A vertex in camera coordinates, and on the screen if it is in front of the near plane.
struct Projected {
    view: DVec3,
    screen: ScreenPoint,
    in_front: bool,
}

impl Projected {
    fn new(p: DVec3, lens: &Lens) -> Self {
        let view = lens.view(p);
        Self {
            view,
            screen: lens.screen(view),
            in_front: lens.in_front(view),
        }
    }
}

/// Appends the part of a triangle in front of the near plane: none, one or two triangles.
fn clip_near(corners: [&Projected; 3], source: u32, lens: &Lens, all: &mut Vec<ScreenTriangle>) {
    let [a, b, c] = corners;
    if a.in_front && b.in_front && c.in_front {
        all.push(ScreenTriangle {
            points: [a.screen, b.screen, c.screen],
            source,
        });
        return;
    }
    if corners.iter().any(|corner| corner.view.is_nan()) {
        return;
    }
    let mut push = |views: [DVec3; 3]| {
        all.push(ScreenTriangle {
            points: views.map(|v| lens.screen(v)),
            source,
        })
    };
    let in_front = corners.iter().filter(|corner| corner.in_front).count();
    // Turned so that the corner that is alone on its side comes first.
    let alone = corners
        .iter()
        .position(|corner| corner.in_front == (in_front == 1))
        .unwrap_or(0);
    let [a, b, c] = [0, 1, 2].map(|k| corners[(alone + k) % 3].view);
    match in_front {
        1 => push([a, lens.near_crossing(a, b), lens.near_crossing(a, c)]),
        2 => {
            let (to_b, to_c) = (lens.near_crossing(b, a), lens.near_crossing(c, a));
            push([to_b, b, c]);
            push([to_b, c, to_c]);
        }
        _ => {}
    }
}

/// How far overlays are lifted towards the eye, in radii of the scene, so that the surface does not
/// swallow them.
const OVERLAY_LIFT: f64 = 0.012;

fn project_overlays(stage: &Stage<'_>, lens: &Lens) -> Vec<(ScreenCapsule, Overlay)> {
    let lifted = |p: DVec3| {
        let view = lens.view(stage.space.point(p));
        let mut at = lens.screen(view);
        at.depth = lens.nearer(at.depth, OVERLAY_LIFT);
        (view.is_finite() && lens.in_front(view)).then_some(at)
    };
    let mut all = Vec::new();
    for stroke in &stage.scene.strokes {
        for pair in stroke.points.windows(2) {
            if let (Some(a), Some(b)) = (lifted(pair[0]), lifted(pair[1])) {
                all.push((
                    ScreenCapsule {
                        ends: [a, b],
                        radius: 0.5 * stroke.width_px,
                    },
                    Overlay::Line(stroke.color),
                ));
            }
        }
    }
    for marker in &stage.scene.markers {
        if let Some(at) = lifted(marker.position) {
            all.push((
                ScreenCapsule {
                    ends: [at, at],
                    radius: marker.radius_px,
                },
                Overlay::Ball(marker.color),
            ));
        }
    }
    all
}
