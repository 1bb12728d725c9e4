//! Graded lattice of interior points: fine beneath the surface, coarse towards the centre.
//!
//! **Problem.** Springs across a thick component are long and let its surface crumple; interior
//! points shorten them. A regular lattice as fine as the surface would have far more points than
//! the surface has vertices.
//!
//! **Method.** An octree whose cells double in size with the depth below the surface. The centres
//! and corners of equal cells form a body-centred cubic lattice, whose Delaunay tetrahedra are well
//! shaped; cells near the surface are the smallest.
//!
//! **Source.** Labelle and Shewchuk, "Isosurface Stuffing", SIGGRAPH 2007, for the lattice and its
//! grading.
//!
//! **Departures.** Only the points are used, with a small random displacement (the lattice is
//! cospherical throughout), at least half a cell below the surface; the size of the smallest cell
//! is adapted to their number.

use pliant_linalg::parallel;
use pliant_mesh::glam::DVec3;

use super::delaunay::split_mix;
use crate::blend::interior::component::ClosedComponent;

/// A cell is at most this many times the depth of its centre. Chosen: with 1, there are two layers
/// of the smallest cells.
const GRADING: f64 = 1.0;

/// Distance of points from the surface, relative to the side of their cell, so that tetrahedra
/// beneath it are not flat.
const CLEARANCE: f64 = 0.5;

/// Random displacement of points, relative to the side of the cell.
const JITTER: f64 = 0.05;

/// Rounds to reach a number of points, and the accepted ratio.
const ROUNDS: usize = 6;
const NEAR_ENOUGH: f64 = 1.1;

/// The smallest cell relative to the radius of a component, and the largest number of points:
/// surfaces without area or edges, and tiny spacings, would otherwise have no limit.
const SMALLEST_CELL: f64 = 1.0 / 2048.0;
const MOST_POINTS: f64 = 2e6;

const CELLS_PER_TASK: usize = 64;

/// A point inside a part.
#[derive(Debug, Clone, Copy)]
pub(super) struct InnerPoint {
    pub(super) position: DVec3,
    /// Its distance from the surface.
    pub(super) depth: f64,
}

/// At most about `most` points, with cells no smaller than `finest`.
pub(super) fn inner_points(solid: &ClosedComponent, finest: f64, most: f64) -> Vec<InnerPoint> {
    // Two points per cube, and cells that double with the depth, make about four points per squared
    // side of the surface's cells.
    let side_for = |points: f64| (4.0 * solid.surface.area() / points).sqrt();
    let finest = finest.max(side_for(MOST_POINTS)).max(SMALLEST_CELL);

    // The cell size is adapted until the number of points is close enough.
    let mut side = finest.max(side_for(most.max(1.0)));

    let mut best = Vec::new();
    for _ in 0..ROUNDS {
        let points = Octree::new(side).points(solid);
        let excess = points.len().max(1) as f64 / most.max(1.0);
        if excess <= NEAR_ENOUGH && points.len() >= best.len() {
            best = points;
        }
        if excess <= NEAR_ENOUGH && (side == finest || excess * NEAR_ENOUGH >= 1.0) {
            break;
        }

        // Most points lie in a layer beneath the surface, whose number goes with the square of the
        // cell.
        side = (side * excess.sqrt()).max(finest);
    }

    best
}

/// The side of a triangle if all triangles of the surface were equal and equilateral, or the mean
/// edge if that is longer.
pub(super) fn typical_edge(solid: &ClosedComponent) -> f64 {
    let triangles = solid.surface.triangles().len().max(1) as f64;
    (solid.surface.area() * 4.0 / (3.0_f64.sqrt() * triangles))
        .sqrt()
        .max(solid.surface.mean_edge_length())
}

/// A cube around the unit ball, divided recursively.
struct Octree {
    /// The side of the smallest cells.
    finest: f64,
    levels: u32,
}

/// The classification of a cell.
#[derive(Clone, Copy, PartialEq)]
enum CellStatus {
    Outside,
    Split,
    Kept,
}

impl Octree {
    fn new(finest: f64) -> Self {
        let mut levels = 0;
        while finest * f64::from(1_u32 << levels) < 2.0 {
            levels += 1;
        }
        Self { finest, levels }
    }

    /// The position of a lattice point; half a smallest side is the unit of its integer
    /// coordinates.
    fn point(&self, place: [u32; 3]) -> DVec3 {
        let middle = f64::from(1_u32 << self.levels);
        DVec3::from(place.map(|c| (f64::from(c) - middle) * 0.5 * self.finest))
    }

    fn points(&self, solid: &ClosedComponent) -> Vec<InnerPoint> {
        let candidates = self.candidates(solid);
        let depths = parallel::map(candidates.len(), CELLS_PER_TASK, |k| {
            let (place, units) = candidates[k];

            // Jitter resolves the cospherical lattice.
            let side = f64::from(units) * 0.5 * self.finest;
            let position = self.point(place) + jitter_direction(place) * (JITTER * side);

            // The inside test is expensive: only where the distance is large enough.
            let far_enough = solid.distance(position) >= CLEARANCE * side;
            InnerPoint {
                position,
                depth: if far_enough {
                    solid.depth(position)
                } else {
                    -1.0
                },
            }
        });

        depths
            .into_iter()
            .filter(|point| point.depth > 0.0)
            .collect()
    }

    /// Centres and corners of all kept cells, each once, with the side of the smallest cell they
    /// belong to.
    fn candidates(&self, solid: &ClosedComponent) -> Vec<([u32; 3], u32)> {
        let mut candidates = Vec::new();
        let mut cells = vec![[0_u32; 3]];
        for level in 0..=self.levels {
            let units = 2 << (self.levels - level);
            let statuses = parallel::map(cells.len(), CELLS_PER_TASK, |k| {
                self.classify(solid, cells[k], units)
            });

            // Kept cells give points, divided cells eight children.
            let mut next = Vec::new();
            for (&cell, status) in cells.iter().zip(statuses) {
                match status {
                    CellStatus::Outside => {}
                    CellStatus::Split => next
                        .extend(corner_offsets().map(|offset| add(cell.map(|c| 2 * c), offset, 1))),
                    CellStatus::Kept => {
                        let low = cell.map(|c| c * units);
                        candidates.push((low.map(|c| c + units / 2), units));
                        candidates.extend(
                            corner_offsets().map(|offset| (add(low, offset, units), units)),
                        );
                    }
                }
            }

            cells = next;
        }

        candidates.sort_unstable();
        candidates.dedup_by_key(|(place, _)| *place);
        candidates
    }

    fn classify(&self, solid: &ClosedComponent, cell: [u32; 3], units: u32) -> CellStatus {
        let side = f64::from(units) * 0.5 * self.finest;
        let center = self.point(cell.map(|c| c * units + units / 2));
        let distance = solid.distance(center);

        // A cell that the surface may cross is divided.
        let half_diagonal = 0.5 * 3.0_f64.sqrt() * side;

        match () {
            () if units == 2 => CellStatus::Kept,
            () if distance <= half_diagonal => CellStatus::Split,
            () if !solid.contains(center) => CellStatus::Outside,
            () if side > GRADING * distance => CellStatus::Split,
            () => CellStatus::Kept,
        }
    }
}

/// The corners of the unit cube.
fn corner_offsets() -> impl Iterator<Item = [u32; 3]> {
    (0..8).map(|k| [k & 1, k >> 1 & 1, k >> 2])
}

fn add(place: [u32; 3], offset: [u32; 3], units: u32) -> [u32; 3] {
    [0, 1, 2].map(|k| place[k] + offset[k] * units)
}

/// A vector with components between −1 and 1 that depends on the lattice point alone.
fn jitter_direction(place: [u32; 3]) -> DVec3 {
    let seed = place
        .iter()
        .fold(0, |seed, &c| split_mix(seed ^ u64::from(c)));
    DVec3::from([1, 2, 3].map(|k| split_mix(seed ^ k) as f64 / u64::MAX as f64 * 2.0 - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::shapes::icosphere;

    fn sphere() -> ClosedComponent {
        ClosedComponent::close(icosphere(4))
            .unwrap()
            .expect("a closed surface")
    }

    #[test]
    fn the_number_of_points_is_about_as_requested_and_they_lie_inside() {
        let solid = sphere();
        let edge = typical_edge(&solid);
        for most in [200.0, 800.0, 2000.0] {
            let points = inner_points(&solid, 0.5 * edge, most);
            assert!(
                (0.6..1.1 + 1e-9).contains(&(points.len() as f64 / most)),
                "{} for {most}",
                points.len()
            );

            for point in &points {
                assert!(
                    (1.0 - point.position.length() - point.depth).abs() < 0.01,
                    "the depth is the distance from the sphere"
                );
            }
        }
    }

    #[test]
    fn points_have_a_minimum_distance_from_each_other_and_from_the_surface() {
        let solid = sphere();
        let side = 2.5 * typical_edge(&solid);
        let points = inner_points(&solid, side, f64::INFINITY);

        assert!(points.iter().all(|p| p.depth >= 0.5 * side));
        for (k, p) in points.iter().enumerate() {
            // Half a space diagonal, less what both are moved by.
            let nearest = points
                .iter()
                .take(k)
                .map(|q| q.position.distance(p.position))
                .fold(f64::INFINITY, f64::min);
            assert!(
                nearest > (0.5 - 2.0 * JITTER) * 3.0_f64.sqrt() * side * 0.99,
                "{nearest} {side}"
            );
        }
    }

    #[test]
    fn the_centre_is_filled_more_coarsely_than_the_rim() {
        let points = inner_points(&sphere(), 0.06, f64::INFINITY);
        let density = |low: f64, high: f64| {
            let count = points
                .iter()
                .filter(|p| (low..high).contains(&p.position.length()))
                .count();
            count as f64 / (high.powi(3) - low.powi(3))
        };
        assert!(density(0.8, 0.95) > 8.0 * density(0.0, 0.5));
    }
}
