//! Triangle areas with a penalty on collapse.
//!
//! **Problem.** The dihedral angle of a degenerate triangle is undefined: it jumps by half a turn,
//! and its forces are unbounded near there. Lengths alone let triangles of a crumpled surface
//! degenerate.
//!
//! **Equation.** With the area `A` of a triangle, the area `Ā` that its blended edges enclose, and
//! their mean `ℓ̄`,
//!
//! ```text
//! E = κ (Ā / ℓ̄) ψ(A / Ā)        ∇_c A = ½ n × (b − a)
//! ```
//!
//! with the unit normal `n` and the penalty `ψ` of [`crate::blend::energy::tetrahedron_volume`],
//! which is zero at the target area and steep towards zero area.
//!
//! **Source.** Grinspun, Hirani, Desbrun, Schröder, "Discrete shells", 2003, have areas beside
//! edges and angles; Fröhlich and Botsch 2011 leave them out.
//!
//! **Departures.** Blended edges, each a convex combination, keep the triangle inequality, so edges
//! and areas are consistent. Triangles without a hinge have no penalty.

use std::collections::BTreeSet;

use pliant_mesh::glam::{DMat3, DVec3};

use crate::blend::energy::springs::blended;

/// Triangles in each of several shapes.
#[derive(Debug, Clone)]
pub(crate) struct TriangleAreas {
    /// The corners of each, then the fourth corner of its hinge.
    pub(crate) corners: Vec<[u32; 4]>,
    /// Three lengths of edges for each triangle, by shape.
    edges: Vec<Vec<f64>>,
}

impl TriangleAreas {
    /// The triangles of `hinges`, each once.
    pub(crate) fn of(hinges: &[[u32; 4]], shapes: &[Vec<DVec3>]) -> Self {
        let mut seen = BTreeSet::new();
        let mut corners = Vec::new();
        for &[a, b, c, d] in hinges {
            for side in [[a, b, c, d], [b, a, d, c]] {
                let mut key = [side[0], side[1], side[2]];
                key.sort_unstable();
                if seen.insert(key) {
                    corners.push(side);
                }
            }
        }

        let mut edges = Vec::with_capacity(shapes.len());
        for points in shapes {
            let mut lengths = Vec::with_capacity(3 * corners.len());
            for &[a, b, c, _] in &corners {
                for [i, j] in [[a, b], [b, c], [c, a]] {
                    lengths.push(points[i as usize].distance(points[j as usize]));
                }
            }
            edges.push(lengths);
        }

        Self { corners, edges }
    }

    /// The area of a triangle at `weights` and its weight `Ā / ℓ̄`; both zero for a degenerate one.
    pub(crate) fn blended(&self, triangle: usize, weights: &[f64]) -> (f64, f64) {
        let edges = [0, 1, 2].map(|k| {
            blended(
                self.edges.iter().map(|edges| edges[3 * triangle + k]),
                weights,
            )
        });
        let area = enclosed(edges);
        let mean = edges.iter().sum::<f64>() / 3.0;
        (area, if mean > 0.0 { area / mean } else { 0.0 })
    }
}

/// The area of a triangle with these edges: Heron's formula, in Kahan's order, which keeps the
/// digits of slivers.
fn enclosed(mut edges: [f64; 3]) -> f64 {
    edges.sort_by(|a, b| b.total_cmp(a));
    let [a, b, c] = edges;
    let square = (a + (b + c)) * (c - (a - b)) * (c + (a - b)) * (a + (b - c));
    0.25 * square.max(0.0).sqrt()
}

/// The area of the first three corners and its gradients; a degenerate triangle has none.
pub(crate) fn area([a, b, c, _]: [DVec3; 4]) -> (f64, [DVec3; 4]) {
    let normal = (b - a).cross(c - a);
    let half = |edge: DVec3| normal.normalize_or_zero().cross(edge) * 0.5;
    (
        0.5 * normal.length(),
        [half(c - b), half(a - c), half(b - a), DVec3::ZERO],
    )
}

/// The second derivative of the area by two corners.
pub(crate) fn area_curvature([a, b, c, _]: [DVec3; 4], row: usize, column: usize) -> DMat3 {
    let normal = (b - a).cross(c - a);
    let double = normal.length();
    if row == 3 || column == 3 || double == 0.0 {
        return DMat3::ZERO;
    }

    // The derivative of ½ n̂ × e: the normal tilts, and the opposite edge changes.
    let unit = normal / double;
    let opposite = [c - b, a - c, b - a];
    let along = |step: DVec3| {
        let change = opposite[column].cross(step);
        let tilt = (change - unit * unit.dot(change)) / double;

        // The opposite edge of a corner runs from the next but one to the next.
        let sign = [0.0, -1.0, 1.0][(column + 3 - row) % 3];
        (tilt.cross(opposite[row]) + unit.cross(step) * sign) * 0.5
    };

    DMat3::from_cols(along(DVec3::X), along(DVec3::Y), along(DVec3::Z))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::triangle_area;

    const PLACES: [DVec3; 4] = [
        DVec3::new(0.1, 0.2, -0.3),
        DVec3::new(1.3, 0.1, 0.2),
        DVec3::new(0.4, 0.9, 0.7),
        DVec3::new(0.3, -1.0, 0.5),
    ];

    fn moved(column: usize, axis: usize, by: f64) -> [DVec3; 4] {
        let mut places = PLACES;
        places[column][axis] += by;
        places
    }

    #[test]
    fn gradients_and_curvature_are_derivatives() {
        let step = 1e-6;
        let gradients = area(PLACES).1;
        for (column, axis) in (0..4).flat_map(|column| (0..3).map(move |axis| (column, axis))) {
            let above = area(moved(column, axis, step));
            let below = area(moved(column, axis, -step));

            assert!(((above.0 - below.0) / (2.0 * step) - gradients[column][axis]).abs() < 1e-9);
            for row in 0..4 {
                let slope = (above.1[row] - below.1[row]) / (2.0 * step);
                assert!(
                    slope.distance(area_curvature(PLACES, row, column).col(axis)) < 1e-8,
                    "{row} {column} {axis}"
                );
            }
        }
    }

    #[test]
    fn blended_edges_enclose_the_area_of_each_shape_at_its_own_weight() {
        // At one-hot weights the blended area is the area of the shape.
        let other: Vec<DVec3> = PLACES
            .iter()
            .map(|p| *p * DVec3::new(1.0, 2.0, 0.5))
            .collect();
        let shapes = [PLACES.to_vec(), other];
        let triangles = TriangleAreas::of(&[[0, 1, 2, 3]], &shapes);

        assert_eq!(triangles.corners, [[0, 1, 2, 3], [1, 0, 3, 2]]);
        for (shape, weights) in [[1.0, 0.0], [0.0, 1.0]].iter().enumerate() {
            for (k, &[a, b, c, _]) in triangles.corners.iter().enumerate() {
                let truth = triangle_area([a, b, c].map(|v| shapes[shape][v as usize]));
                assert!((triangles.blended(k, weights).0 / truth - 1.0).abs() < 1e-14);
            }
        }

        assert_eq!(enclosed([1.0, 2.0, 3.0]), 0.0);
        assert!((enclosed([3.0, 5.0, 4.0]) - 6.0).abs() < 1e-15);
    }
}
