//! Dihedral angles between neighbouring triangles (hinges).
//!
//! **Problem.** Lengths of edges do not determine how a surface is bent across them.
//!
//! **Equation.** An edge from `a` to `b` has the triangles with the third corners `c` and `d`. With
//! `e = b − a`, `n₁ = e × (c − a)`, `n₂ = (d − a) × e`,
//!
//! ```text
//! θ = atan2((n₁ × n₂)·e / |e|, n₁·n₂)        ∇_c θ = −|e| n₁ / |n₁|²        ∇_d θ = −|e| n₂ / |n₂|²
//! E = ½ μ (l̄² / Ā)(θ − θ̄)²
//! ```
//!
//! where `l̄`, `θ̄` and the area `Ā` of both triangles are blended linearly between the shapes.
//! Gradients at `a` and `b` follow from the feet of `c` and `d` on the edge.
//!
//! **Source.** Fröhlich and Botsch, "Example-driven deformations based on discrete shells",
//! Computer Graphics Forum 30(8), 2011; the weight `l̄² / Ā`: Grinspun, Hirani, Desbrun, Schröder,
//! "Discrete shells", 2003; the gradients: Bridson, Marino, Fedkiw, "Simulation of clothing with
//! folds and wrinkles", 2003.
//!
//! **Departures.** The angles of all shapes are taken within half a turn of their mean direction,
//! so the order of the shapes does not matter, and the change between two shapes is at most half a
//! turn. The weight of slivers is bounded. Edges of triangles that are nearly degenerate in some
//! shape have no angle, since rounding would decide it. Nor have edges whose angle changes by
//! almost half a turn: the direction of that change is ambiguous.

use std::f64::consts::TAU;

use pliant_mesh::glam::{DMat3, DVec3};
use pliant_mesh::{Mesh, triangle_area};

/// The area of two triangles counts as at least this share of the squared edge. Chosen: a twentieth
/// of its value for equilateral triangles.
const LEAST_AREA: f64 = 0.05;

/// Triangles lower than this share of their longest side count as degenerate. Chosen.
const LEAST_HEIGHT: f64 = 1e-3;

/// Angles that change by more between shapes, in radians, have an ambiguous direction. Chosen as
/// for the mean of rotations.
const MOST_CHANGE: f64 = 2.5;

/// Edges with two triangles, in each of several shapes.
#[derive(Debug, Clone)]
pub(crate) struct Hinges {
    /// Both ends of each edge, then the third corners of its triangles.
    pub(crate) corners: Vec<[u32; 4]>,
    /// By shape.
    states: Vec<Vec<HingeState>>,
}

/// A hinge in one shape.
#[derive(Debug, Clone, Copy)]
struct HingeState {
    angle: f64,
    length: f64,
    area: f64,
}

impl Hinges {
    /// The edges of `mesh` with two triangles, in each of `shapes`.
    pub(crate) fn of(mesh: &Mesh, shapes: &[Vec<DVec3>]) -> Self {
        let topology = mesh.topology();

        // Degenerate and ambiguous hinges are left out for all shapes.
        let sound = |&[a, b, c, d]: &[u32; 4]| {
            let is_sound = |shape: &Vec<DVec3>| {
                [[a, b, c], [a, b, d]]
                    .iter()
                    .all(|t| !is_degenerate(t.map(|v| shape[v as usize])))
            };
            shapes.iter().all(is_sound)
        };

        let corners = (0..topology.edges().len())
            .filter_map(|edge| hinge_corners(mesh, edge))
            .filter(sound);
        let corners: Vec<[u32; 4]> = corners
            .filter(|hinge| is_unambiguous(hinge, shapes))
            .collect();

        // Angles within half a turn of their mean direction can be blended linearly.
        let mut states: Vec<Vec<HingeState>> = shapes
            .iter()
            .map(|shape| corners.iter().map(|c| HingeState::of(c, shape)).collect())
            .collect();

        for hinge in 0..corners.len() {
            let near = mean_direction(states.iter().map(|shape| shape[hinge].angle));
            for shape in &mut states {
                shape[hinge].angle = near + wrapped(shape[hinge].angle - near);
            }
        }

        Self { corners, states }
    }

    /// The angle of a hinge at `weights` and its weight `l̄² / Ā`.
    pub(crate) fn blended(&self, hinge: usize, weights: &[f64]) -> (f64, f64) {
        let sum = |value: fn(&HingeState) -> f64| {
            self.states
                .iter()
                .zip(weights)
                .map(|(shape, w)| value(&shape[hinge]) * w)
                .sum::<f64>()
        };

        // Slivers would have an unbounded weight.
        let square = sum(|state| state.length).powi(2);
        let area = sum(|state| state.area).max(LEAST_AREA * square);
        (
            sum(|state| state.angle),
            if area > 0.0 { square / area } else { 0.0 },
        )
    }
}

impl HingeState {
    fn of(corners: &[u32; 4], points: &[DVec3]) -> Self {
        let [a, b, c, d] = corners.map(|v| points[v as usize]);
        let angle = angle([a, b, c, d]).map_or(0.0, |(angle, _)| angle);
        Self {
            angle,
            length: a.distance(b),
            area: triangle_area([a, b, c]) + triangle_area([b, a, d]),
        }
    }
}

/// Whether the angles of a hinge in all shapes are within [`MOST_CHANGE`].
fn is_unambiguous(corners: &[u32; 4], shapes: &[Vec<DVec3>]) -> bool {
    // The range of the angles around their mean direction.
    let angles: Vec<f64> = shapes
        .iter()
        .map(|shape| HingeState::of(corners, shape).angle)
        .collect();
    let near = mean_direction(angles.iter().copied());
    let (least, most) = angles
        .iter()
        .map(|a| wrapped(a - near))
        .fold((0.0, 0.0), |(l, m): (f64, f64), a| (l.min(a), m.max(a)));

    most - least <= MOST_CHANGE
}

/// Whether a triangle has almost no height.
fn is_degenerate([a, b, c]: [DVec3; 3]) -> bool {
    let longest = a
        .distance_squared(b)
        .max(b.distance_squared(c))
        .max(c.distance_squared(a));
    let is_high = 2.0 * triangle_area([a, b, c]) > LEAST_HEIGHT * longest;
    !is_high
}

/// The angle over the edge from the first to the second corner, and its gradients; `None` where a
/// triangle has no area.
pub(crate) fn angle([a, b, c, d]: [DVec3; 4]) -> Option<(f64, [DVec3; 4])> {
    let edge = b - a;
    let first = edge.cross(c - a);
    let second = (d - a).cross(edge);
    let length = edge.length();
    let squares = [first.length_squared(), second.length_squared()];

    if !(length > 0.0 && squares[0] > 0.0 && squares[1] > 0.0) {
        return None;
    }

    let along = edge / length;
    let angle = first.cross(second).dot(along).atan2(first.dot(second));

    // Gradients at the wings; the ends of the edge follow from their feet.
    let at_c = first * (-length / squares[0]);
    let at_d = second * (-length / squares[1]);
    let foot = |corner: DVec3| (corner - a).dot(along) / length;
    let at_b = -(at_c * foot(c) + at_d * foot(d));
    let at_a = -(at_c + at_d + at_b);

    Some((angle, [at_a, at_b, at_c, at_d]))
}

/// The second derivative of the angle by two corners: the derivative of the gradient at `row` by
/// the position of `column`.
pub(crate) fn angle_curvature(places: [DVec3; 4], row: usize, column: usize) -> DMat3 {
    DMat3::from_cols(
        gradient_change(places, column, DVec3::X)[row],
        gradient_change(places, column, DVec3::Y)[row],
        gradient_change(places, column, DVec3::Z)[row],
    )
}

/// The change of the gradients when a corner moves; zero where a triangle has no area.
fn gradient_change(places: [DVec3; 4], corner: usize, step: DVec3) -> [DVec3; 4] {
    let Some((_, [_, _, at_c, at_d])) = angle(places) else {
        return [DVec3::ZERO; 4];
    };

    let [a, b, c, d] = places;
    let mut moves = [DVec3::ZERO; 4];
    moves[corner] = step;

    // Derivatives along `step` of the edge, of both normals and of the feet of both wings.
    let edge = b - a;
    let stretch = moves[1] - moves[0];
    let length = edge.length();
    let lengthened = edge.dot(stretch) / length;
    let side = |third: DVec3, moved: DVec3, at: DVec3, sign: f64| {
        let arm = third - a;
        let swing = moved - moves[0];
        let normal = edge.cross(arm) * sign;
        let fold = (stretch.cross(arm) + edge.cross(swing)) * sign;
        let square = normal.length_squared();
        let change = (normal * lengthened + fold * length) / -square
            - at * (2.0 * normal.dot(fold) / square);
        let foot = arm.dot(edge) / (length * length);
        let slide = (swing.dot(edge) + arm.dot(stretch)) / (length * length)
            - 2.0 * foot * lengthened / length;

        (change, -(change * foot + at * slide))
    };

    let first = side(c, moves[2], at_c, 1.0);
    let second = side(d, moves[3], at_d, -1.0);
    let at_b = first.1 + second.1;
    [-(first.0 + second.0 + at_b), at_b, first.0, second.0]
}

/// The same angle within half a turn of zero.
pub(crate) fn wrapped(angle: f64) -> f64 {
    angle - TAU * (angle / TAU).round()
}

fn mean_direction(angles: impl Iterator<Item = f64>) -> f64 {
    let (sine, cosine) = angles
        .map(f64::sin_cos)
        .fold((0.0, 0.0), |(s, c), (sine, cosine)| (s + sine, c + cosine));
    f64::atan2(sine, cosine)
}

/// Both ends of an edge with two triangles, then the third corners of these; `None` where they are
/// one vertex.
pub(crate) fn hinge_corners(mesh: &Mesh, edge: usize) -> Option<[u32; 4]> {
    let [a, b] = mesh.topology().edges()[edge];
    let third = |t: u32| {
        mesh.triangles()[t as usize]
            .into_iter()
            .find(|&v| v != a && v != b)
    };

    // Boundary and non-manifold edges are no hinges.
    let &[first, second] = mesh.topology().edge_triangles().row(edge) else {
        return None;
    };

    let c = third(first)?;
    let d = third(second)?;
    (c != d).then_some([a, b, c, d])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    /// Two triangles over the x axis, the second rotated by `angle`.
    fn hinge(angle: f64) -> [DVec3; 4] {
        [
            DVec3::ZERO,
            DVec3::X,
            DVec3::new(0.3, 1.0, 0.0),
            DVec3::new(0.6, -angle.cos(), -angle.sin()),
        ]
    }

    #[test]
    fn the_angle_is_the_rotation_of_one_triangle_against_the_other() {
        for fold in [-3.0, -1.0, 0.0, 0.5, 2.0, 3.1] {
            let (found, _) = angle(hinge(fold)).unwrap();
            assert!((found - fold).abs() < 1e-12, "{found} {fold}");
        }
        assert!(angle([DVec3::ZERO, DVec3::X, DVec3::X * 2.0, DVec3::Y]).is_none());
    }

    #[test]
    fn the_curvature_of_the_angle_is_the_derivative_of_its_gradients() {
        let step = 1e-6;
        for fold in [-2.0, 0.0, 0.4, 3.0] {
            let places = hinge(fold);
            for (column, axis) in (0..4).flat_map(|column| (0..3).map(move |axis| (column, axis))) {
                let moved = |by: f64| {
                    let mut places = places;
                    places[column][axis] += by;
                    angle(places).unwrap().1
                };
                let above = moved(step);
                let below = moved(-step);

                for row in 0..4 {
                    let slope = (above[row] - below[row]) / (2.0 * step);
                    assert!(
                        slope.distance(angle_curvature(places, row, column).col(axis)) < 1e-7,
                        "{fold} {row} {column} {axis}"
                    );
                }
            }
        }
    }

    #[test]
    fn edges_of_triangles_that_are_degenerate_in_some_shape_have_no_angle() {
        let mesh = Mesh::from_triangles(hinge(0.0).to_vec(), &[[0, 1, 2], [1, 0, 3]]).unwrap();

        // The fourth corner lies almost on the edge.
        let mut collapsed = hinge(0.5).to_vec();
        collapsed[3] = DVec3::X * 0.5 + DVec3::Z * 1e-9;

        assert_eq!(
            Hinges::of(&mesh, &[hinge(0.0).to_vec(), hinge(0.5).to_vec()])
                .corners
                .len(),
            1
        );

        assert!(
            Hinges::of(&mesh, &[hinge(0.0).to_vec(), collapsed])
                .corners
                .is_empty()
        );
    }

    #[test]
    fn angles_near_half_a_turn_are_blended_along_the_shorter_arc_in_any_order() {
        let mesh = Mesh::from_triangles(hinge(0.0).to_vec(), &[[0, 1, 2], [1, 0, 3]]).unwrap();
        let shapes = [hinge(PI - 0.1).to_vec(), hinge(0.2 - PI).to_vec()];
        let (half, _) = Hinges::of(&mesh, &shapes).blended(0, &[0.5, 0.5]);
        assert!(wrapped(half - (PI + 0.05)).abs() < 1e-12, "{half}");
        let swapped = Hinges::of(&mesh, &[shapes[1].clone(), shapes[0].clone()])
            .blended(0, &[0.5, 0.5])
            .0;
        assert!((swapped - half).abs() < 1e-12);
    }

    #[test]
    fn an_angle_that_changes_by_almost_half_a_turn_is_left_out() {
        let mesh = Mesh::from_triangles(hinge(0.0).to_vec(), &[[0, 1, 2], [1, 0, 3]]).unwrap();
        assert!(
            Hinges::of(&mesh, &[hinge(-1.5).to_vec(), hinge(1.5).to_vec()])
                .corners
                .is_empty()
        );

        assert_eq!(
            Hinges::of(&mesh, &[hinge(-1.2).to_vec(), hinge(1.2).to_vec()])
                .corners
                .len(),
            1
        );
    }
}
