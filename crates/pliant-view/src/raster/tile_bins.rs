//! Sorting of primitives into tiles: a counting sort that keeps the drawing order in each tile.

use super::{PixelBox, TILE};

/// For each tile, the primitives that may touch it, in drawing order.
#[derive(Debug)]
pub(crate) struct TileBins {
    columns: usize,
    starts: Vec<u32>,
    members: Vec<u32>,
}

impl TileBins {
    /// Sorts primitives by their boxes of pixels into the tiles of a picture.
    pub(crate) fn sort(boxes: &[Option<PixelBox>], [width, height]: [usize; 2]) -> Self {
        let columns = width.div_ceil(TILE);
        let rows = height.div_ceil(TILE);
        let mut starts = vec![0_u32; columns * rows + 1];
        let tiles = |b: &PixelBox| {
            let x = b.x;
            let y = b.y;
            (y[0] / TILE..=(y[1] - 1) / TILE).flat_map(move |row| {
                (x[0] / TILE..=(x[1] - 1) / TILE).map(move |column| row * columns + column)
            })
        };

        // Count the members of each tile, then sum the counts to starts.
        for tile in boxes.iter().flatten().flat_map(tiles) {
            starts[tile + 1] += 1;
        }
        for tile in 0..columns * rows {
            starts[tile + 1] += starts[tile];
        }

        let mut next = starts.clone();
        let mut members = vec![0; starts[columns * rows] as usize];
        for (k, pixels) in boxes.iter().enumerate() {
            for tile in pixels.iter().flat_map(tiles) {
                members[next[tile] as usize] = k as u32;
                next[tile] += 1;
            }
        }

        Self {
            columns,
            starts,
            members,
        }
    }

    pub(crate) fn tile_count(&self) -> usize {
        self.starts.len() - 1
    }

    /// The first pixel of a tile.
    pub(crate) fn origin(&self, tile: usize) -> [usize; 2] {
        [tile % self.columns * TILE, tile / self.columns * TILE]
    }

    pub(crate) fn members(&self, tile: usize) -> &[u32] {
        &self.members[self.starts[tile] as usize..self.starts[tile + 1] as usize]
    }
}
