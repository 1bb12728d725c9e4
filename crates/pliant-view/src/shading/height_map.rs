//! Height maps of a scene along a direction (shadow maps), for all shadows.
//!
//! **Problem.** Decide whether the light along a direction reaches a point, with a soft transition.
//!
//! **Equation.** With parallel rays along `d`, a point of height `h = p·d` is lit if no surface
//! above the same texel is higher than `h`. The lowest heights of the same
//! map give the answer for `−d`.
//!
//! **Source.** L. Williams, "Casting curved shadows on curved surfaces", SIGGRAPH 1978;
//! percentage-closer filtering: W. Reeves, D. Salesin, R. Cook, "Rendering antialiased shadows with
//! depth maps", SIGGRAPH 1987.
//!
//! **Departures.** The test of a texel is a ramp instead of a step, which hides the texel grid with few
//! taps.

use glam::{Vec2, Vec3};

use crate::min_max::{greater, lesser};

/// Half the side of a map: a little more than the unit sphere.
const REACH: f32 = 1.02;

/// Directions of a map: two across and one along the light.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LightAxes {
    u: Vec3,
    v: Vec3,
    /// Towards the light.
    pub(crate) d: Vec3,
}

impl LightAxes {
    pub(crate) fn towards(d: Vec3) -> Self {
        let aside = if d.x.abs() < 0.6 { Vec3::X } else { Vec3::Y };
        let u = d.cross(aside).normalize();
        Self {
            u,
            v: d.cross(u),
            d,
        }
    }

    /// Across (two) and along.
    fn local(&self, p: Vec3) -> Vec3 {
        Vec3::new(p.dot(self.u), p.dot(self.v), p.dot(self.d))
    }
}

/// A surface to be drawn into maps, in unit space.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Occluder<'a> {
    pub(crate) positions: &'a [Vec3],
    pub(crate) triangles: &'a [[u32; 3]],
}

/// The extreme heights above each texel.
#[derive(Debug)]
pub(crate) struct HeightMap {
    pub(crate) axes: LightAxes,
    side: usize,
    /// Texels per unit of length.
    scale: f32,
    highest: Vec<f32>,
    lowest: Vec<f32>,
}

/// Which end of a map's axis the light is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LightEnd {
    /// At `+d`.
    High,
    /// At `−d`.
    Low,
}

impl HeightMap {
    /// Draws all occluders into a map of `side` by `side` texels.
    pub(crate) fn draw(axes: LightAxes, side: usize, occluders: &[Occluder<'_>]) -> Self {
        // A border of one texel, so that taps stay inside the map.
        let scale = (side - 2) as f32 / (2.0 * REACH);
        let mut map = Self {
            axes,
            side,
            scale,
            highest: vec![f32::NEG_INFINITY; side * side],
            lowest: vec![f32::INFINITY; side * side],
        };

        let mut local = Vec::new();
        for occluder in occluders {
            local.clear();
            local.extend(occluder.positions.iter().map(|&p| map.texel_of(p)));
            for &[a, b, c] in occluder.triangles {
                map.draw_triangle([local[a as usize], local[b as usize], local[c as usize]]);
            }
        }

        map
    }

    /// The length of a texel's side.
    pub(crate) fn texel(&self) -> f32 {
        2.0 * REACH / (self.side - 2) as f32
    }

    /// Position in texels (texel centres at whole numbers) and height.
    #[inline]
    fn texel_of(&self, p: Vec3) -> Vec3 {
        let q = self.axes.local(p);
        let middle = 0.5 * (self.side - 1) as f32;
        Vec3::new(q.x * self.scale + middle, q.y * self.scale + middle, q.z)
    }

    fn draw_triangle(&mut self, [p, q, r]: [Vec3; 3]) {
        let last = (self.side - 1) as f32;
        // The texel centres inside the bounding box. Most triangles of a dense mesh have none.
        let x0 = greater(lesser(lesser(p.x, q.x), r.x), 0.0);
        let x1 = lesser(greater(greater(greater(p.x, q.x), r.x), 0.0), last);
        let y0 = greater(lesser(lesser(p.y, q.y), r.y), 0.0);
        let y1 = lesser(greater(greater(greater(p.y, q.y), r.y), 0.0), last);
        let first_x = ceil(x0);
        let end_x = floor(x1) + 1;
        let first_y = ceil(y0);
        let end_y = floor(y1) + 1;
        if first_x >= end_x || first_y >= end_y {
            return;
        }

        let pq = q - p;
        let pr = r - p;
        let area = pq.x * pr.y - pq.y * pr.x;
        if area.abs() <= 1e-12 || area.is_nan() {
            return;
        }

        // Barycentric coordinates of each texel centre.
        let inverse = 1.0 / area;
        for y in first_y..end_y {
            let dy = y as i32 as f32 - p.y;
            for x in first_x..end_x {
                let dx = x as i32 as f32 - p.x;
                let b = (dx * pr.y - dy * pr.x) * inverse;
                let c = (dy * pq.x - dx * pq.y) * inverse;

                if b >= 0.0 && c >= 0.0 && b + c <= 1.0 {
                    let height = p.z + pq.z * b + pr.z * c;
                    let k = y * self.side + x;
                    self.highest[k] = greater(height, self.highest[k]);
                    self.lowest[k] = lesser(height, self.lowest[k]);
                }
            }
        }
    }

    /// How much of the light at `end` reaches `p`, 0 to 1: four taps, each falling over `ramp` of
    /// height.
    #[inline]
    pub(crate) fn lit(&self, p: Vec3, end: LightEnd, ramp: f32) -> f32 {
        let at = self.texel_of(p);
        self.lit_at(Vec2::new(at.x, at.y), at.z, end, ramp)
    }

    #[inline]
    fn lit_at(&self, position: Vec2, height: f32, end: LightEnd, ramp: f32) -> f32 {
        let Some(corner) = self.cell(position) else {
            return 1.0;
        };

        // At the low end, light comes from below the lowest surface.
        let (map, sign) = if end == LightEnd::High {
            (&self.highest, 1.0)
        } else {
            (&self.lowest, -1.0)
        };
        let steep = sign / ramp;

        corner.blend(|k| unit(1.0 + (height - map[k]) * steep))
    }

    /// For a light at the high end: the share of a disc of `taps` around `p` that is hidden, and
    /// the mean height of what hides it. Taps are in units of `radius`; each falls over `ramp`
    /// of height.
    pub(crate) fn hidden(&self, p: Vec3, taps: &[Vec2], radius: f32, ramp: f32) -> (f32, f32) {
        let at = self.texel_of(p);
        let scale = radius * self.scale;
        let steep = 1.0 / ramp;
        let (mut hidden, mut heights) = (0.0, 0.0);

        for &tap in taps {
            let Some(cell) = self.cell(Vec2::new(at.x, at.y) + tap * scale) else {
                continue;
            };
            let share = cell.blend(|k| unit((self.highest[k] - at.z) * steep));
            hidden += share;
            if share > 0.0 {
                heights += share * (cell.highest(&self.highest) - at.z);
            }
        }

        (
            hidden / taps.len() as f32,
            if hidden > 0.0 { heights / hidden } else { 0.0 },
        )
    }

    /// The four texels around a position; `None` outside the map.
    #[inline]
    fn cell(&self, position: Vec2) -> Option<Cell> {
        let limit = (self.side - 1) as f32;
        // The comparisons are false for NaN, which is outside.
        let inside =
            position.x >= 0.0 && position.y >= 0.0 && position.x < limit && position.y < limit;
        if !inside {
            return None;
        }

        let (x, y) = (position.x as i32, position.y as i32);
        let first = y as usize * self.side + x as usize;
        Some(Cell {
            first,
            side: self.side,
            share: [position.x - x as f32, position.y - y as f32],
        })
    }

    /// How near the scene is above `p` in the direction of the light, from 0 (nothing) to 1 (touching).
    ///
    /// Valid only for points below the whole scene, where the nearest surface is the lowest one.
    pub(crate) fn closeness(&self, p: Vec3, end: LightEnd, reach: f32) -> f32 {
        let at = self.texel_of(p);
        let Some(cell) = self.cell(Vec2::new(at.x, at.y)) else {
            return 0.0;
        };

        cell.blend(|k| {
            let gap = if end == LightEnd::High {
                self.lowest[k] - at.z
            } else {
                at.z - self.highest[k]
            };
            let share = gap.max(0.0) / reach;
            1.0 / (1.0 + share * share)
        })
    }
}

/// Four neighbouring texels and a position between them.
struct Cell {
    first: usize,
    side: usize,
    share: [f32; 2],
}

impl Cell {
    #[inline]
    fn highest(&self, map: &[f32]) -> f32 {
        let k = self.first;
        greater(
            greater(map[k], map[k + 1]),
            greater(map[k + self.side], map[k + self.side + 1]),
        )
    }

    /// The bilinear interpolation of a function of the texels.
    #[inline]
    fn blend(&self, of: impl Fn(usize) -> f32) -> f32 {
        let [x, y] = self.share;
        let upper = of(self.first) * (1.0 - x) + of(self.first + 1) * x;
        let lower = of(self.first + self.side) * (1.0 - x) + of(self.first + self.side + 1) * x;
        upper * (1.0 - y) + lower * y
    }
}

/// Clamped to 0…1.
#[inline]
fn unit(x: f32) -> f32 {
    lesser(greater(x, 0.0), 1.0)
}

/// The integer part of a number that is not negative. Processors convert directly to `i32`.
#[inline]
fn floor(x: f32) -> usize {
    x as i32 as usize
}

/// The least integer not below `x`, which is not negative.
#[inline]
fn ceil(x: f32) -> usize {
    let whole = x as i32;
    (whole + i32::from((whole as f32) < x)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_roof_shades_only_points_below_it() {
        let positions = [
            Vec3::new(-0.5, 0.5, -0.5),
            Vec3::new(0.5, 0.5, -0.5),
            Vec3::new(0.5, 0.5, 0.5),
            Vec3::new(-0.5, 0.5, 0.5),
        ];

        let roof = Occluder {
            positions: &positions,
            triangles: &[[0, 1, 2], [0, 2, 3]],
        };
        let map = HeightMap::draw(LightAxes::towards(Vec3::Y), 128, &[roof]);
        let lit = |p: Vec3, end| map.lit(p, end, 0.01);

        assert_eq!(lit(Vec3::new(0.1, -0.3, 0.2), LightEnd::High), 0.0);
        assert_eq!(lit(Vec3::new(0.1, 0.8, 0.2), LightEnd::High), 1.0);
        assert_eq!(lit(Vec3::new(0.7, -0.3, 0.2), LightEnd::High), 1.0);
        assert_eq!(lit(Vec3::new(0.1, 0.8, 0.2), LightEnd::Low), 0.0);
        assert_eq!(lit(Vec3::new(9.0, -0.3, 0.2), LightEnd::High), 1.0);
    }
}
