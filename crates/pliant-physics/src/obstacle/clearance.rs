//! How much room there is at least around a place outside an obstacle, without a search.
//!
//! **Problem.** Most points that are asked about lie in the box around an obstacle but nowhere near
//! it, between the fingers of a hand, and for them the search for the nearest triangle takes
//! longest.
//!
//! **Equation.** Distances change no faster than places: with the distance `d` at the middle `c` of
//! a cell outside,
//!
//! ```text
//! d(x) ≥ d(c) − |x − c|
//! ```
//!
//! **Source.** The triangle inequality.
//!
//! **Ours.** Equally many cells along each side of the box.

use pliant_linalg::parallel;
use pliant_mesh::Bounds;
use pliant_mesh::glam::DVec3;

/// Cells along each side: ours, so that the grid is made in a few times the time of the search
/// tree.
const CELLS: usize = 16;
/// Cells in one parallel task.
const GRAIN: usize = 64;

#[derive(Debug, Clone)]
pub(super) struct Clearance {
    min: DVec3,
    cell: DVec3,
    /// The distance at the middle of each cell outside, `x` first; zero inside.
    distances: Vec<f64>,
}

impl Clearance {
    /// Room nowhere.
    pub(super) fn none() -> Self {
        Self {
            min: DVec3::ZERO,
            cell: DVec3::ONE,
            distances: vec![0.0; CELLS.pow(3)],
        }
    }

    /// Asks for the signed distance, negative inside, at the middles of cells.
    pub(super) fn new(bounds: Bounds, distance: impl Fn(DVec3) -> f64 + Sync) -> Self {
        let (min, cell) = (bounds.min, bounds.size() / CELLS as f64);
        let at = |index: [usize; 3]| distance(middle(min, cell, index)).max(0.0);
        let distances = parallel::map(CELLS.pow(3), GRAIN, |k| {
            at([k % CELLS, k / CELLS % CELLS, k / CELLS / CELLS])
        });
        Self {
            min,
            cell,
            distances,
        }
    }

    /// How far `place` is outside at least; possibly negative.
    pub(super) fn at(&self, place: DVec3) -> f64 {
        // A box without extent has cells without; any of them will do.
        let index = ((place - self.min) / self.cell)
            .to_array()
            .map(|along| (along as usize).min(CELLS - 1));
        let distance = self.distances[index[0] + CELLS * (index[1] + CELLS * index[2])];
        distance - place.distance(middle(self.min, self.cell, index))
    }
}

fn middle(min: DVec3, cell: DVec3, index: [usize; 3]) -> DVec3 {
    min + cell * (DVec3::from(index.map(|k| k as f64)) + 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_never_less_room_than_told_and_far_away_almost_as_much() {
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
            let place = bounds.min + share * bounds.size();
            let told = clearance.at(place);
            assert!(told <= distance(place).max(0.0) + 1e-12, "{place}");
            let is_within = place.clamp(bounds.min, bounds.max) == place;
            assert!(
                !is_within || told >= distance(place) - 2.0 * half_diagonal,
                "{place}"
            );
        }
        assert!(Clearance::none().at(DVec3::ZERO) <= 0.0);
    }
}
