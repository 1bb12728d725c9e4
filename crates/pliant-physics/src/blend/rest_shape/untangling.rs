//! Untangling of a rest shape: elements that no given shape inverts are not inverted.
//!
//! **Problem.** The path fits vectors and lengths, and thin elements may turn inside out on it. As a
//! rest shape, an inverted element pulls the wrong way.
//!
//! **Equation.** Every point of an element whose volume `v` is below the bound `ε minₛ vˢ` moves to
//! the minimum of
//!
//! ```text
//! Σ max(0, 2 ε minₛ vˢ − v(x))² / v̄² + μ |x − x⁰|² / h²
//! ```
//!
//! over the elements around it, in a fixed order and with a fixed number of sweeps. `v` is linear in
//! one point, so that each step of Newton's method is a solve with a 3 × 3 matrix.
//!
//! **Source.** Freitag, Plassmann, "Local optimization-based simplicial mesh untangling and
//! improvement", 2000 (local, one point at a time); the penalty on volumes below a bound: Escobar,
//! Rodríguez, Montenegro, Montero, González-Yuste 2003.
//!
//! **Departures.** A quadratic penalty with the distance from the path, instead of the largest least
//! volume. The bound of an element is below its volume in every given shape, so that given shapes
//! do not change; elements that some shape inverts have none. Surface vertices move less readily
//! than interior points, and seams not at all.

use std::collections::BTreeSet;

use pliant_linalg::{outer, parallel};
use pliant_mesh::glam::{DMat3, DVec3};

use crate::blend::interior::tetrahedron::volume;

/// The bound `ε` relative to the least volume of the given shapes. Chosen: visibly not flat.
const BOUND: f64 = 0.05;
/// Sweeps over the points of inverted elements.
const SWEEPS: usize = 20;
/// Steps of Newton's method for a point; the penalty is piecewise quadratic.
const STEPS: usize = 3;
/// `μ` of interior points and of surface vertices. Chosen: interior points are not visible.
const INTERIOR_STAY: f64 = 1e-4;
const SURFACE_STAY: f64 = 1e-2;
/// Elements in one parallel task.
const GRAIN: usize = 4096;

/// Elements with their bounds.
#[derive(Debug)]
pub(super) struct Untangling {
    /// With positive volumes in all given shapes.
    tetrahedra: Vec<[u32; 4]>,
    /// `ε minₛ vˢ`.
    bounds: Vec<f64>,
    /// `v̄`, the mean volume over the given shapes.
    volumes: Vec<f64>,
    /// The elements around each point: where its list begins in `members`.
    starts: Vec<usize>,
    members: Vec<u32>,
    /// `μ` of each point; infinite for points that do not move.
    stays: Vec<f64>,
}

impl Untangling {
    /// Bounds from the given shapes, whose first `surface` points are vertices; `twins` are held.
    pub(super) fn new(
        tetrahedra: &[[u32; 4]],
        shapes: &[Vec<DVec3>],
        surface: usize,
        twins: &[(u32, u32)],
    ) -> Self {
        let points = shapes[0].len();
        let mut own = Self {
            tetrahedra: Vec::with_capacity(tetrahedra.len()),
            bounds: Vec::with_capacity(tetrahedra.len()),
            volumes: Vec::with_capacity(tetrahedra.len()),
            starts: Vec::new(),
            members: Vec::new(),
            stays: vec![SURFACE_STAY; points],
        };
        own.stays[surface..].fill(INTERIOR_STAY);
        for &(v, first) in twins {
            own.stays[v as usize] = f64::INFINITY;
            own.stays[first as usize] = f64::INFINITY;
        }

        for &[a, b, c, d] in tetrahedra {
            // Whichever way the corners are listed, the first shape counts as positive.
            let is_flipped = signed([a, b, c, d], &shapes[0]) < 0.0;
            let corners = if is_flipped {
                [a, b, d, c]
            } else {
                [a, b, c, d]
            };
            let of_shapes = shapes.iter().map(|shape| signed(corners, shape));
            let least = of_shapes.clone().fold(f64::INFINITY, f64::min);
            if least > 0.0 {
                own.tetrahedra.push(corners);
                own.bounds.push(BOUND * least);
                own.volumes
                    .push(of_shapes.sum::<f64>() / shapes.len() as f64);
            }
        }
        own.list_members(points);
        own
    }

    fn list_members(&mut self, points: usize) {
        let mut counts = vec![0; points + 1];
        for &v in self.tetrahedra.iter().flatten() {
            counts[v as usize + 1] += 1;
        }
        for k in 0..points {
            counts[k + 1] += counts[k];
        }

        self.members = vec![0; counts[points]];
        self.starts.clone_from(&counts);
        for (t, corners) in (0..).zip(&self.tetrahedra) {
            for &v in corners {
                self.members[counts[v as usize]] = t;
                counts[v as usize] += 1;
            }
        }
    }

    /// Moves `points` so that elements keep their bounds, as far as possible.
    pub(super) fn apply(&self, points: &mut [DVec3]) {
        let mut start: Option<Vec<DVec3>> = None;
        for _ in 0..SWEEPS {
            let below = self.below(points);
            if below.is_empty() {
                return;
            }
            let start = start.get_or_insert_with(|| points.to_vec());
            for v in below {
                if self.stays[v as usize].is_finite() {
                    self.relax(v as usize, start[v as usize], points);
                }
            }
        }
    }

    /// The corners of elements below their bounds, ascending.
    fn below(&self, points: &[DVec3]) -> BTreeSet<u32> {
        let count = self.tetrahedra.len().div_ceil(GRAIN);
        let found = parallel::map(count, 1, |chunk| {
            let all = chunk * GRAIN..self.tetrahedra.len().min((chunk + 1) * GRAIN);
            let is_below = |t: &usize| signed(self.tetrahedra[*t], points) < self.bounds[*t];
            all.filter(is_below).collect::<Vec<usize>>()
        });
        let corners = found.into_iter().flatten().map(|t| self.tetrahedra[t]);
        corners.flatten().collect()
    }

    /// Moves one point to the minimum of its penalty.
    fn relax(&self, v: usize, start: DVec3, points: &mut [DVec3]) {
        for _ in 0..STEPS {
            let mut gradient = DVec3::ZERO;
            let mut hessian = DMat3::ZERO;
            let mut inverse_squared_size = 0.0;
            for &t in &self.members[self.starts[v]..self.starts[v + 1]] {
                let t = t as usize;
                let corners = self.tetrahedra[t];
                let slope = volume_gradient(corners, v as u32, points) / self.volumes[t];
                inverse_squared_size += slope.length_squared();
                let missing = (2.0 * self.bounds[t] - signed(corners, points)) / self.volumes[t];
                if missing > 0.0 {
                    gradient -= slope * missing;
                    hessian += outer(slope, slope);
                }
            }

            // `h` is the size of the elements around the point.
            let stay = self.stays[v] * inverse_squared_size;
            gradient += (points[v] - start) * stay;
            hessian += DMat3::from_diagonal(DVec3::splat(stay));
            let step = hessian.inverse() * gradient;
            if !step.is_finite() {
                return;
            }
            points[v] -= step;
        }
    }
}

fn signed(corners: [u32; 4], points: &[DVec3]) -> f64 {
    volume(corners.map(|v| points[v as usize]))
}

/// The gradient of the volume by the position of one corner.
fn volume_gradient(corners: [u32; 4], vertex: u32, points: &[DVec3]) -> DVec3 {
    let [a, b, c, d] = corners.map(|v| points[v as usize]);
    let by_corner = match corners.iter().position(|&v| v == vertex) {
        Some(0) => (d - b).cross(c - b),
        Some(1) => (c - a).cross(d - a),
        Some(2) => (d - a).cross(b - a),
        Some(3) => (b - a).cross(c - a),
        _ => DVec3::ZERO,
    };
    by_corner / 6.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two tetrahedra on either side of a triangle.
    const PAIR: [[u32; 4]; 2] = [[0, 1, 2, 3], [0, 2, 1, 4]];

    fn pair() -> Vec<DVec3> {
        vec![
            DVec3::ZERO,
            DVec3::X,
            DVec3::Y,
            DVec3::new(0.3, 0.3, 0.9),
            DVec3::new(0.3, 0.3, -0.8),
        ]
    }

    #[test]
    fn the_gradient_of_the_volume_is_its_difference_quotient() {
        let points = pair();
        for corners in PAIR {
            for v in corners {
                let gradient = volume_gradient(corners, v, &points);
                for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
                    let mut moved = points.clone();
                    moved[v as usize] += axis;
                    // The volume is linear in one corner.
                    let change = signed(corners, &moved) - signed(corners, &points);
                    assert!((gradient.dot(axis) - change).abs() < 1e-14);
                }
            }
        }
    }

    #[test]
    fn an_inverted_element_is_turned_back_and_the_given_shape_stays() {
        let given = pair();
        for surface in [0, 5] {
            let untangling = Untangling::new(&PAIR, std::slice::from_ref(&given), surface, &[]);
            let mut points = given.clone();
            untangling.apply(&mut points);
            assert_eq!(points, given);

            points[3].z = -0.2;
            untangling.apply(&mut points);
            for (t, corners) in PAIR.iter().enumerate() {
                let least = untangling.bounds[t];
                assert!(
                    signed(*corners, &points) > 0.5 * least,
                    "{surface} {t}: {points:?}"
                );
            }
        }
    }

    #[test]
    fn elements_that_a_given_shape_inverts_are_left_alone() {
        let mut other = pair();
        other[3].z = -0.5;
        let untangling = Untangling::new(&PAIR[..1], &[pair(), other.clone()], 5, &[]);
        assert!(untangling.tetrahedra.is_empty());
        let mut points = other.clone();
        untangling.apply(&mut points);
        assert_eq!(points, other);
    }
}
