//! Grid of lower bounds on the distance from an obstacle.
//!
//! **Problem.** Most query points lie in the bounds of an obstacle but not near it, between the
//! fingers of a hand, and for them the search for the nearest triangle takes longest.
//!
//! **Equation.** Distances change no faster than positions: with the distance `d` at the centre `c`
//! of a cell outside,
//!
//! ```text
//! d(x) ≥ d(c) − |x − c|
//! ```
//!
//! **Source.** The triangle inequality.
//!
//! **Departures.** The same number of cells along each side of the bounds.

use pliant_linalg::parallel;
use pliant_mesh::Bounds;
use pliant_mesh::glam::DVec3;

/// Cells along each side. Chosen so that building the grid takes a few times as long as building
/// the search tree.
const CELLS: usize = 16;
/// Cells in one parallel task.
const GRAIN: usize = 64;

/// Lower bounds on the distance, by cell.
#[derive(Debug, Clone)]
pub(super) struct Clearance {
    min: DVec3,
    cell: DVec3,
    /// The distance at the centre of each cell outside, `x` first; zero inside.
    distances: Vec<f64>,
}

impl Clearance {
    /// Bounds of zero everywhere.
    pub(super) fn none() -> Self {
        Self {
            min: DVec3::ZERO,
            cell: DVec3::ONE,
            distances: vec![0.0; CELLS.pow(3)],
        }
    }

    /// Evaluates the signed distance, negative inside, at the centres of cells.
    pub(super) fn new(bounds: Bounds, distance: impl Fn(DVec3) -> f64 + Sync) -> Self {
        let min = bounds.min;
        let cell = bounds.size() / CELLS as f64;
        let at = |index: [usize; 3]| distance(center_of(min, cell, index)).max(0.0);
        let distances = parallel::map(CELLS.pow(3), GRAIN, |k| {
            at([k % CELLS, k / CELLS % CELLS, k / CELLS / CELLS])
        });

        Self {
            min,
            cell,
            distances,
        }
    }

    /// A lower bound on the distance of a position outside; may be negative.
    pub(super) fn at(&self, position: DVec3) -> f64 {
        // A box without extent has cells without; any of them will do.
        // Positions outside the bounds use the nearest cell.
        let index = ((position - self.min) / self.cell)
            .to_array()
            .map(|along| (along as usize).min(CELLS - 1));
        let distance = self.distances[index[0] + CELLS * (index[1] + CELLS * index[2])];
        distance - position.distance(center_of(self.min, self.cell, index))
    }
}

fn center_of(min: DVec3, cell: DVec3, index: [usize; 3]) -> DVec3 {
    min + cell * (DVec3::from(index.map(|k| k as f64)) + 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_is_never_above_the_distance_and_nearly_tight_far_away() {
        let bounds = Bounds {
            min: DVec3::new(-3.0, -1.0, -1.0),
            max: DVec3::new(1.0, 1.0, 2.0),
        };
        let distance = |p: DVec3| p.length() - 0.5;
        let clearance = Clearance::new(bounds, distance);
        let half_diagonal = 0.5 * bounds.diagonal() / CELLS as f64;

        for k in 0..1000_u32 {
            let share = DVec3::new(
                f64::from(k % 10),
                f64::from(k / 10 % 10),
                f64::from(k / 100),
            ) / 8.0
                - 0.06;

            let position = bounds.min + share * bounds.size();
            let bound = clearance.at(position);
            assert!(bound <= distance(position).max(0.0) + 1e-12, "{position}");

            let is_within = position.clamp(bounds.min, bounds.max) == position;
            assert!(
                !is_within || bound >= distance(position) - 2.0 * half_diagonal,
                "{position}"
            );
        }

        assert!(Clearance::none().at(DVec3::ZERO) <= 0.0);
    }
}
