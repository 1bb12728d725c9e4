//! Points inside a part: fine beneath the surface, coarse in the depth.
//!
//! **Problem.** Springs across a thick part are long and let its surface crumple; points inside
//! shorten them. A regular lattice as fine as the surface would hold far more points than the
//! surface has vertices.
//!
//! **Method.** An octree whose cells double in size with the depth below the surface. The centres
//! and corners of equal cells form a body-centred cubic lattice, whose Delaunay tetrahedra are well
//! shaped; cells near the surface are the smallest.
//!
//! **Source.** Labelle and Shewchuk, "Isosurface Stuffing", SIGGRAPH 2007, for the lattice and its
//! grading.
//!
//! **Ours.** Only the points are taken, moved a little at random (the lattice is cospherical
//! throughout), at least half a cell below the surface; their number is met by the size of the
//! smallest cell.

use pliant_linalg::parallel;
use pliant_mesh::glam::DVec3;

use super::delaunay::mixed;
use super::part::Solid;

/// A cell is no larger than its centre's depth times this. Ours: with 1, cells beneath the surface
/// lie two deep.
const GRADING: f64 = 1.0;

/// Points keep this part of their cell's side from the surface, so that tetrahedra beneath it are
/// not flat.
const CLEARANCE: f64 = 0.5;

/// How far points are moved from the lattice, as a part of the cell's side.
const JITTER: f64 = 0.05;

/// Rounds to meet a number of points, and how near is near enough.
const ROUNDS: usize = 6;
const NEAR_ENOUGH: f64 = 1.1;

/// No cell is smaller than this part of a part's radius, and no lattice is made for more points:
/// surfaces without area or edges, and tiny spacings, would have no end of them.
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
pub(super) fn inner_points(solid: &Solid, finest: f64, most: f64) -> Vec<InnerPoint> {
    // Two points per cube, and cells that double with the depth, make about four points per squared
    // side of the surface's cells.
    let side_for = |points: f64| (4.0 * solid.surface.area() / points).sqrt();
    let finest = finest.max(side_for(MOST_POINTS)).max(SMALLEST_CELL);
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

/// The side of a triangle if all of the surface's triangles were equal and equilateral, or the mean
/// edge if that is longer.
pub(super) fn typical_edge(solid: &Solid) -> f64 {
    let triangles = solid.surface.triangles().len().max(1) as f64;
    (solid.surface.area() * 4.0 / (3.0_f64.sqrt() * triangles))
        .sqrt()
        .max(solid.surface.mean_edge_length())
}

/// A cube around the unit ball, halved again and again.
struct Octree {
    /// The side of the smallest cells.
    finest: f64,
    levels: u32,
}

/// What becomes of a cell.
#[derive(Clone, Copy, PartialEq)]
enum Verdict {
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

    /// Half a smallest side is the unit of whole-number places.
    fn point(&self, place: [u32; 3]) -> DVec3 {
        let middle = f64::from(1_u32 << self.levels);
        DVec3::from(place.map(|c| (f64::from(c) - middle) * 0.5 * self.finest))
    }

    fn points(&self, solid: &Solid) -> Vec<InnerPoint> {
        let candidates = self.candidates(solid);
        let depths = parallel::map(candidates.len(), CELLS_PER_TASK, |k| {
            let (place, units) = candidates[k];
            let side = f64::from(units) * 0.5 * self.finest;
            let position = self.point(place) + random_vector(place) * (JITTER * side);
            // Inside is asked for only where the distance would do.
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

    /// Centres and corners of all cells that are kept, each once, with the side of the smallest
    /// cell they belong to.
    fn candidates(&self, solid: &Solid) -> Vec<([u32; 3], u32)> {
        let mut candidates = Vec::new();
        let mut cells = vec![[0_u32; 3]];
        for level in 0..=self.levels {
            let units = 2 << (self.levels - level);
            let verdicts = parallel::map(cells.len(), CELLS_PER_TASK, |k| {
                self.judge(solid, cells[k], units)
            });
            let mut next = Vec::new();
            for (&cell, verdict) in cells.iter().zip(verdicts) {
                match verdict {
                    Verdict::Outside => {}
                    Verdict::Split => next
                        .extend(corner_offsets().map(|offset| add(cell.map(|c| 2 * c), offset, 1))),
                    Verdict::Kept => {
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

    fn judge(&self, solid: &Solid, cell: [u32; 3], units: u32) -> Verdict {
        let side = f64::from(units) * 0.5 * self.finest;
        let center = self.point(cell.map(|c| c * units + units / 2));
        let distance = solid.distance(center);
        let half_diagonal = 0.5 * 3.0_f64.sqrt() * side;
        match () {
            () if units == 2 => Verdict::Kept,
            () if distance <= half_diagonal => Verdict::Split,
            () if !solid.contains(center) => Verdict::Outside,
            () if side > GRADING * distance => Verdict::Split,
            () => Verdict::Kept,
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

/// A vector with components between −1 and 1 that depends on the place alone.
fn random_vector(place: [u32; 3]) -> DVec3 {
    let seed = place.iter().fold(0, |seed, &c| mixed(seed ^ u64::from(c)));
    DVec3::from([1, 2, 3].map(|k| mixed(seed ^ k) as f64 / u64::MAX as f64 * 2.0 - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::shapes::icosphere;

    fn sphere() -> Solid {
        Solid::close(icosphere(4))
            .unwrap()
            .expect("a closed surface")
    }

    #[test]
    fn points_are_about_as_many_as_asked_and_lie_inside() {
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
    fn points_keep_their_distance_from_each_other_and_from_the_surface() {
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
    fn the_depth_is_filled_more_coarsely_than_the_rim() {
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
