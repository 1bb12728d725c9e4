//! Uniform grid for the search of near triangles.
//!
//! **Problem.** Thousands of vertices search thousands of triangles in every frame; building a
//! search tree takes longer than all of their queries.
//!
//! **Method.** An item is listed in each cell that its bounds intersect; lists are stored
//! consecutively, along x for neighbouring cells.
//!
//! **Source.** Teschner, Heidelberger, Müller, Pomeranets, Gross, "Optimized spatial hashing for
//! collision detection of deformable objects", 2003, with a plain grid instead of the hash, since
//! the region is small.

use std::ops::Range;

use pliant_mesh::Bounds;
use pliant_mesh::glam::DVec3;

/// Cells along the longest side, at most. Chosen so that clearing the grid takes a tenth of a
/// millisecond.
const MOST_CELLS: f64 = 64.0;

/// A uniform grid over a box.
#[derive(Debug, Clone)]
pub(super) struct Grid {
    bounds: Bounds,
    cell: f64,
    counts: [usize; 3],
}

/// The items of each cell.
#[derive(Debug)]
pub(super) struct Buckets {
    starts: Vec<u32>,
    order: Vec<u32>,
}

impl Grid {
    /// Cells of about this size; `None` where the bounds are not finite or the size is zero.
    pub(super) fn new(bounds: Bounds, size: f64) -> Option<Self> {
        let cell = size.max(bounds.size().max_element() / MOST_CELLS);
        let is_good = cell > 0.0 && cell.is_finite() && bounds.min.is_finite();
        let counts = (bounds.size() / cell)
            .to_array()
            .map(|along| along as usize + 1);

        is_good.then_some(Self {
            bounds,
            cell,
            counts,
        })
    }

    /// Number of cells.
    pub(super) fn len(&self) -> usize {
        self.counts.iter().product()
    }

    /// The cells that intersect the bounds, as runs of consecutive numbers, ascending; none for
    /// bounds outside.
    pub(super) fn runs(
        &self,
        Bounds { min, max }: Bounds,
    ) -> impl Iterator<Item = Range<usize>> + use<> {
        // Bounds outside the grid have an empty range of cells.
        let is_here = min.cmple(self.bounds.max).all() && max.cmpge(self.bounds.min).all();
        let (low, high) = if is_here {
            (self.cell_of(min), self.cell_of(max))
        } else {
            ([1; 3], [0; 3])
        };

        let ([width, height, _], rows) = (self.counts, (high[1] + 1).saturating_sub(low[1]));
        (0..rows * (high[2] + 1).saturating_sub(low[2])).map(move |k| {
            let start = width * (low[1] + k % rows + height * (low[2] + k / rows));
            start + low[0]..start + high[0] + 1
        })
    }

    /// The cell of a position, or the nearest one at the border.
    fn cell_of(&self, place: DVec3) -> [usize; 3] {
        let along = ((place - self.bounds.min) / self.cell).to_array();
        [0, 1, 2].map(|k| (along[k] as usize).min(self.counts[k] - 1))
    }
}

impl Buckets {
    /// Lists items with the given bounds.
    pub(super) fn new(grid: &Grid, boxes: &[Bounds]) -> Self {
        let mut starts = vec![0_u32; grid.len() + 1];
        for cell in boxes.iter().flat_map(|bounds| grid.runs(*bounds)).flatten() {
            starts[cell + 1] += 1;
        }

        for cell in 0..grid.len() {
            starts[cell + 1] += starts[cell];
        }

        // Counting sort by cell.
        let mut next = starts.clone();
        let mut order = vec![0_u32; starts[grid.len()] as usize];
        for (item, bounds) in boxes.iter().enumerate() {
            for cell in grid.runs(*bounds).flatten() {
                order[next[cell] as usize] = item as u32;
                next[cell] += 1;
            }
        }

        Self { starts, order }
    }

    /// The items of all cells, one cell after the other.
    pub(super) fn order(&self) -> &[u32] {
        &self.order
    }

    /// The range in [`order`](Self::order) of the items of a run of cells.
    pub(super) fn places(&self, cells: Range<usize>) -> Range<usize> {
        self.starts[cells.start] as usize..self.starts[cells.end] as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_that_meet_share_a_cell() {
        let bounds = |k: f64| {
            let min = DVec3::new((3.0 * k).sin(), (5.0 * k).cos(), (7.0 * k).sin());
            Bounds {
                min,
                max: min + DVec3::new(0.4, 0.2 * (1.0 + k.sin()), 0.1),
            }
        };

        let boxes: Vec<Bounds> = (0..80).map(|k| bounds(f64::from(k))).collect();
        let grid = Grid::new(
            Bounds {
                min: DVec3::splat(-0.8),
                max: DVec3::splat(0.9),
            },
            0.13,
        )
        .unwrap();

        let buckets = Buckets::new(&grid, &boxes);
        let mut met = 0;
        for (a, one) in boxes.iter().enumerate() {
            let found: Vec<u32> = grid
                .runs(*one)
                .flat_map(|cells| buckets.order()[buckets.places(cells)].to_vec())
                .collect();
            for (b, other) in boxes.iter().enumerate() {
                let common = Bounds {
                    min: one.min.max(other.min),
                    max: one.max.min(other.max),
                };
                let is_inside = common.min.cmple(DVec3::splat(0.9)).all()
                    && common.max.cmpge(DVec3::splat(-0.8)).all();

                if is_inside && common.min.cmple(common.max).all() {
                    assert!(found.contains(&(b as u32)), "{a} {b}");
                    met += usize::from(a != b);
                }
            }
        }

        assert!(met > 0);

        // And things are in no more cells than their boxes can meet.
        assert!(
            buckets.order.len() < 80 * 5 * 5 * 2,
            "{}",
            buckets.order.len()
        );

        assert!(
            Grid::new(
                Bounds {
                    min: DVec3::NAN,
                    max: DVec3::ONE
                },
                1.0
            )
            .is_none()
        );
    }
}
