//! Depth peeling: the layers of translucent triangles in a tile, from front to back.
//!
//! **Problem.** Translucent surfaces mix with what is behind them, in the order of their depth at
//! each sample, and memory must not grow with their number.
//!
//! **Method.** Each pass draws, at each sample, the nearest translucent triangle that lies behind
//! the layer before and in front of the opaque surface.
//!
//! **Source.** C. Everitt, "Interactive order-independent transparency", NVIDIA 2001.

use super::{PixelBox, SAMPLES, ScreenTriangle, TileSamples, TriangleSetup};
use crate::raster::{NOTHING, TILE};

/// The depth in front of which nothing more is drawn, for each sample of a tile.
pub(crate) type PeeledDepths = Vec<[f32; SAMPLES]>;

impl TileSamples {
    /// Samples with the depths of `self` that see nothing yet.
    pub(crate) fn empty_layer(&self) -> Self {
        Self {
            origin: self.origin,
            depth: self.depth.clone(),
            seen: vec![[NOTHING; SAMPLES]; TILE * TILE],
        }
    }

    /// Draws a triangle like [`draw_triangle`](Self::draw_triangle), but only behind `peeled`.
    pub(crate) fn draw_triangle_behind(
        &mut self,
        triangle: &ScreenTriangle,
        pixels: &PixelBox,
        seen: u32,
        peeled: &PeeledDepths,
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

                // Each sample sees the triangle as if it were the first, unless it is peeled there.
                let mut depth = self.depth[pixel];
                let mut own = [NOTHING; SAMPLES];
                setup.cover(&at, seen, &mut depth, &mut own);
                for k in 0..SAMPLES {
                    if own[k] == seen && depth[k] < peeled[pixel][k] {
                        self.depth[pixel][k] = depth[k];
                        self.seen[pixel][k] = seen;
                    }
                }
            }
        }
    }
}
