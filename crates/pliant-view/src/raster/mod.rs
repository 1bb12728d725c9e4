//! Rasterisation of a tile: the nearest primitive at each sample.
//!
//! **Problem.** For eight samples in every pixel, find the nearest primitive: a triangle, a thick
//! line or a disc.
//!
//! **Equation.** A sample is inside a triangle if three edge functions `e(x, y) = a x + b y + c`
//! are positive.
//!
//! **Source.** J. Pineda, "A parallel algorithm for polygon rasterization", SIGGRAPH 1988.
//!
//! **Departures.** An edge function is computed from its end points in a fixed order, and negated if
//! the triangle has the other order. Rounding is symmetric, so that the two triangles at an edge
//! get exactly opposite values: no sample between them is missed or taken twice (zero belongs to one
//! side only). Samples lie on a rank-1 lattice: no two share a row or column, so that
//! near-horizontal and near-vertical edges have eight steps.
//!
//! `tile_bins` sorts primitives into tiles; `depth_peeling` draws translucent triangles in layers.

mod depth_peeling;
mod tile_bins;

pub(crate) use self::depth_peeling::PeeledDepths;
pub(crate) use self::tile_bins::TileBins;
use crate::camera::projection::ScreenPoint;
use crate::min_max::{greater, lesser};

/// Side of a tile in pixels. Chosen: its samples fit the second-level cache of a core.
pub(crate) const TILE: usize = 32;
/// Samples in a pixel.
pub(crate) const SAMPLES: usize = 8;
/// Marks a sample that sees the background.
pub(crate) const NOTHING: u32 = u32::MAX;

/// The position of sample `k` in its pixel; the first is nearest to the middle.
pub(crate) const fn sample_position_in_pixel(k: usize) -> [f32; 2] {
    let k = (k + 4) % SAMPLES;
    [
        (k as f32 + 0.5) / SAMPLES as f32,
        ((3 * k % SAMPLES) as f32 + 0.5) / SAMPLES as f32,
    ]
}

const SAMPLE_X: [f32; SAMPLES] = sample_coordinates(0);
const SAMPLE_Y: [f32; SAMPLES] = sample_coordinates(1);

const fn sample_coordinates(axis: usize) -> [f32; SAMPLES] {
    let mut all = [0.0; SAMPLES];
    let mut k = 0;
    while k < SAMPLES {
        all[k] = sample_position_in_pixel(k)[axis];
        k += 1;
    }
    all
}

/// A triangle on the screen.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScreenTriangle {
    pub(crate) points: [ScreenPoint; 3],
    /// The index of the triangle in the scene.
    pub(crate) source: u32,
}

/// A line with round ends on the screen; a disc if both ends are equal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScreenCapsule {
    pub(crate) ends: [ScreenPoint; 2],
    pub(crate) radius: f64,
}

/// A box of pixels, the upper ends excluded.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PixelBox {
    pub(crate) x: [usize; 2],
    pub(crate) y: [usize; 2],
}

impl PixelBox {
    /// The pixels of a picture that a box on the screen touches; `None` if there are none.
    pub(crate) fn around(
        min: [f64; 2],
        max: [f64; 2],
        [width, height]: [usize; 2],
    ) -> Option<Self> {
        let range = |low: f64, high: f64, side: usize| {
            // Casts truncate and saturate. The comparisons are false for NaN, which gives `None`.
            let inside = high >= 0.0 && low < side as f64;
            inside.then(|| [low as usize, (high as usize).min(side - 1) + 1])
        };
        Some(Self {
            x: range(min[0], max[0], width)?,
            y: range(min[1], max[1], height)?,
        })
    }

    /// The part inside a tile, relative to the first pixel of the tile.
    fn in_tile(&self, tile: &TileSamples) -> Self {
        let cut = |[a, b]: [usize; 2], origin: usize| {
            [
                a.max(origin) - origin,
                b.min(origin + TILE).max(origin) - origin,
            ]
        };
        Self {
            x: cut(self.x, tile.origin[0]),
            y: cut(self.y, tile.origin[1]),
        }
    }
}

impl ScreenTriangle {
    /// Whether the corners run counter-clockwise as seen on the screen: the outer side of an
    /// authored face.
    pub(crate) fn faces_eye(&self) -> bool {
        let [p, q, r] = &self.points;
        (q.x - p.x) * (r.y - p.y) < (q.y - p.y) * (r.x - p.x)
    }

    pub(crate) fn pixels(&self, size: [usize; 2]) -> Option<PixelBox> {
        let (min, max) = extent(&self.points);
        PixelBox::around(min, max, size)
    }
}

impl ScreenCapsule {
    pub(crate) fn pixels(&self, size: [usize; 2]) -> Option<PixelBox> {
        let (min, max) = extent(&self.ends);
        PixelBox::around(
            min.map(|m| m - self.radius),
            max.map(|m| m + self.radius),
            size,
        )
    }
}

fn extent(points: &[ScreenPoint]) -> ([f64; 2], [f64; 2]) {
    let mut min = [f64::INFINITY; 2];
    let mut max = [f64::NEG_INFINITY; 2];
    for p in points {
        for (k, x) in [p.x, p.y].into_iter().enumerate() {
            min[k] = if x < min[k] { x } else { min[k] };
            max[k] = if x > max[k] { x } else { max[k] };
        }
    }
    (min, max)
}

/// The nearest primitive and its depth for every sample of a tile.
#[derive(Debug)]
pub(crate) struct TileSamples {
    /// The tile's first pixel.
    pub(crate) origin: [usize; 2],
    /// Greater is nearer.
    pub(crate) depth: Vec<[f32; SAMPLES]>,
    pub(crate) seen: Vec<[u32; SAMPLES]>,
}

impl TileSamples {
    pub(crate) fn empty(origin: [usize; 2]) -> Self {
        let pixels = TILE * TILE;
        Self {
            origin,
            depth: vec![[f32::NEG_INFINITY; SAMPLES]; pixels],
            seen: vec![[NOTHING; SAMPLES]; pixels],
        }
    }

    /// Draws a triangle with the index `seen`.
    pub(crate) fn draw_triangle(
        &mut self,
        triangle: &ScreenTriangle,
        pixels: &PixelBox,
        seen: u32,
    ) {
        let Some(setup) = TriangleSetup::new(&triangle.points, self.origin) else {
            return;
        };

        let area = pixels.in_tile(self);
        for y in area.y[0]..area.y[1] {
            for x in area.x[0]..area.x[1] {
                let at = setup.at_pixel(x as i32 as f32, y as i32 as f32);
                let pixel = y * TILE + x;
                if at.misses_pixel(&setup) || setup.is_behind(&self.depth[pixel]) {
                    continue;
                }
                setup.cover(&at, seen, &mut self.depth[pixel], &mut self.seen[pixel]);
            }
        }
    }

    /// Draws a thick line or disc with the index `seen`; its depth varies only along its axis.
    pub(crate) fn draw_capsule(&mut self, capsule: &ScreenCapsule, pixels: &PixelBox, seen: u32) {
        let area = pixels.in_tile(self);
        for y in area.y[0]..area.y[1] {
            for x in area.x[0]..area.x[1] {
                let pixel = y * TILE + x;
                for k in 0..SAMPLES {
                    let position = [
                        (self.origin[0] + x) as f64 + f64::from(SAMPLE_X[k]),
                        (self.origin[1] + y) as f64 + f64::from(SAMPLE_Y[k]),
                    ];
                    let Some(depth) = capsule.depth_at(position) else {
                        continue;
                    };

                    if depth > self.depth[pixel][k] {
                        self.depth[pixel][k] = depth;
                        self.seen[pixel][k] = seen;
                    }
                }
            }
        }
    }
}

impl ScreenCapsule {
    /// The offset of a position from the nearest point of the axis, and the parameter of that point
    /// in `[0, 1]`.
    pub(crate) fn offset(&self, [x, y]: [f64; 2]) -> ([f64; 2], f64) {
        let [a, b] = self.ends;
        let (dx, dy) = (b.x - a.x, b.y - a.y);
        let length_squared = dx * dx + dy * dy;
        let t = if length_squared > 0.0 {
            (((x - a.x) * dx + (y - a.y) * dy) / length_squared).clamp(0.0, 1.0)
        } else {
            0.0
        };
        ([x - a.x - dx * t, y - a.y - dy * t], t)
    }

    fn depth_at(&self, position: [f64; 2]) -> Option<f32> {
        let ([dx, dy], t) = self.offset(position);
        let [a, b] = self.ends;
        (dx * dx + dy * dy <= self.radius * self.radius)
            .then_some((a.depth + (b.depth - a.depth) * t) as f32)
    }
}

/// Edge functions and depth plane of one triangle, relative to a tile's corner.
struct TriangleSetup {
    edges: [Edge; 3],
    depth: Plane,
    depth_to_sample: [f32; SAMPLES],
    depth_range: [f32; 2],
}

/// `a x + b y + c` in pixels of the tile.
#[derive(Clone, Copy)]
struct Plane {
    a: f32,
    b: f32,
    c: f32,
}

struct Edge {
    plane: Plane,
    /// The least value that counts as inside: 0, or the least positive number if zero belongs to
    /// the other side.
    least: f32,
    /// The change of the plane from the corner of a pixel to each of its samples.
    to_sample: [f32; SAMPLES],
    /// The greatest change within a pixel.
    reach: f32,
}

/// Values at a pixel's corner.
struct PixelValues {
    edges: [f32; 3],
    depth: f32,
}

impl PixelValues {
    /// Whether the whole pixel is outside one edge.
    #[inline]
    fn misses_pixel(&self, setup: &TriangleSetup) -> bool {
        (0..3).any(|k| self.edges[k] + setup.edges[k].reach < 0.0)
    }
}

impl TriangleSetup {
    fn new(points: &[ScreenPoint; 3], origin: [usize; 2]) -> Option<Self> {
        let [p, q, r] = *points;
        let area = (q.x - p.x) * (r.y - p.y) - (q.y - p.y) * (r.x - p.x);
        if area == 0.0 || !area.is_finite() {
            return None;
        }

        // Both sides are drawn; the edge functions need one orientation.
        let [p, q, r] = if area > 0.0 { [p, q, r] } else { [p, r, q] };
        let edges = [
            Edge::new(p, q, origin),
            Edge::new(q, r, origin),
            Edge::new(r, p, origin),
        ];

        // The plane through the depths of the corners, relative to the tile.
        let area = area.abs();
        let dq = q.depth - p.depth;
        let dr = r.depth - p.depth;
        let a = (dq * (r.y - p.y) - dr * (q.y - p.y)) / area;
        let b = (dr * (q.x - p.x) - dq * (r.x - p.x)) / area;
        let c = p.depth + a * (origin[0] as f64 - p.x) + b * (origin[1] as f64 - p.y);
        let depth = Plane {
            a: a as f32,
            b: b as f32,
            c: c as f32,
        };

        let least = p.depth.min(q.depth).min(r.depth) as f32;
        let most = p.depth.max(q.depth).max(r.depth) as f32;
        Some(Self {
            edges,
            depth,
            depth_to_sample: depth.to_samples(),
            depth_range: [least, most],
        })
    }

    /// Whether the whole triangle lies behind all samples of a pixel.
    #[inline]
    fn is_behind(&self, depth: &[f32; SAMPLES]) -> bool {
        let farthest = depth
            .iter()
            .fold(f32::INFINITY, |all, &one| lesser(one, all));
        self.depth_range[1] <= farthest
    }

    #[inline]
    fn at_pixel(&self, x: f32, y: f32) -> PixelValues {
        PixelValues {
            edges: std::array::from_fn(|k| self.edges[k].plane.at(x, y)),
            depth: self.depth.at(x, y),
        }
    }

    /// Tests all samples of a pixel, with masks instead of branches, so that the compiler can
    /// vectorise the loop.
    #[inline]
    fn cover(
        &self,
        at: &PixelValues,
        name: u32,
        depth: &mut [f32; SAMPLES],
        seen: &mut [u32; SAMPLES],
    ) {
        let [e0, e1, e2] = &self.edges;
        let [least, most] = self.depth_range;
        let mut nearer = [0_u32; SAMPLES];
        let mut here = [0_f32; SAMPLES];
        for k in 0..SAMPLES {
            // The depth plane of a sliver is steep, so that depths are clamped to those of its corners.
            here[k] = lesser(greater(at.depth + self.depth_to_sample[k], least), most);
            let inside = u32::from(at.edges[0] + e0.to_sample[k] >= e0.least)
                & u32::from(at.edges[1] + e1.to_sample[k] >= e1.least)
                & u32::from(at.edges[2] + e2.to_sample[k] >= e2.least);
            nearer[k] = 0_u32.wrapping_sub(inside & u32::from(here[k] > depth[k]));
        }

        // A mask of all ones selects the new value.
        for k in 0..SAMPLES {
            depth[k] =
                f32::from_bits(here[k].to_bits() & nearer[k] | depth[k].to_bits() & !nearer[k]);
            seen[k] = name & nearer[k] | seen[k] & !nearer[k];
        }
    }
}

impl Plane {
    #[inline]
    fn at(&self, x: f32, y: f32) -> f32 {
        (self.a * x + self.b * y) + self.c
    }

    /// The change from a pixel's corner to each of its samples.
    #[inline]
    fn to_samples(self) -> [f32; SAMPLES] {
        let mut change = [0.0; SAMPLES];
        for k in 0..SAMPLES {
            change[k] = self.a * SAMPLE_X[k] + self.b * SAMPLE_Y[k];
        }
        change
    }
}

impl Edge {
    /// The edge from `p` to `q`, inside to its left in a picture whose y points down.
    fn new(p: ScreenPoint, q: ScreenPoint, origin: [usize; 2]) -> Self {
        // A fixed order of the end points gives both triangles at the edge opposite values.
        let forward = (p.x, p.y) <= (q.x, q.y);
        let (s, t) = if forward { (p, q) } else { (q, p) };
        let a = s.y - t.y;
        let b = t.x - s.x;
        let c = a * (origin[0] as f64 - s.x) + b * (origin[1] as f64 - s.y);
        let sign = if forward { 1.0 } else { -1.0 };
        let plane = Plane {
            a: (sign * a) as f32,
            b: (sign * b) as f32,
            c: (sign * c) as f32,
        };

        let least = if forward { 0.0 } else { f32::from_bits(1) };
        Self {
            plane,
            least,
            to_sample: plane.to_samples(),
            reach: greater(plane.a, 0.0) + greater(plane.b, 0.0),
        }
    }
}
