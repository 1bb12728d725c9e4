//! Level lines on a mesh, such as the outline of a geodesic circle.
//!
//! **Equation.** Values are linear on a triangle, so the line where they are `r` crosses it
//! straight, from the edge `ij` at `xᵢ + (r − dᵢ) / (dⱼ − dᵢ) (xⱼ − xᵢ)`.

use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;

/// The segments on which `values`, one per vertex, are `level`. Triangles with a value that is not
/// finite have none.
pub(in super::super) fn level_segments(mesh: &Mesh, values: &[f64], level: f64) -> Vec<[DVec3; 2]> {
    let crossing = |&[a, b, c]: &[u32; 3]| {
        let ends: Vec<DVec3> = [[a, b], [b, c], [c, a]]
            .into_iter()
            .filter_map(|edge| crossing_point(mesh, values, level, edge))
            .collect();
        <[DVec3; 2]>::try_from(ends).ok()
    };

    let finite = |triangle: &&[u32; 3]| triangle.iter().all(|&v| values[v as usize].is_finite());
    mesh.triangles()
        .iter()
        .filter(finite)
        .filter_map(crossing)
        .collect()
}

fn crossing_point(mesh: &Mesh, values: &[f64], level: f64, [i, j]: [u32; 2]) -> Option<DVec3> {
    let (below, above) = (values[i as usize], values[j as usize]);
    // Half-open comparison, so that a line through a vertex crosses two of three edges.
    ((below < level) != (above < level)).then(|| {
        let share = (level - below) / (above - below);
        mesh.positions()[i as usize].lerp(mesh.positions()[j as usize], share)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::shapes::{bumpy_sheet, icosphere};

    #[test]
    fn a_level_line_of_a_sphere_has_its_height_and_length() {
        let sphere = icosphere(5);
        let heights: Vec<f64> = sphere.positions().iter().map(|p| p.y).collect();
        let segments = level_segments(&sphere, &heights, 0.6);

        assert!(segments.iter().flatten().all(|p| (p.y - 0.6).abs() < 1e-12));
        let length: f64 = segments.iter().map(|[a, b]| a.distance(*b)).sum();

        // The radius at a height of 0.6 is 0.8; chords of an inscribed polyhedron are shorter by
        // the square of an edge (0.03).
        let circle = std::f64::consts::TAU * 0.8;

        assert!(
            length < circle && length > circle * (1.0 - 0.03 * 0.03 * 4.0),
            "{length} of {circle}"
        );
    }

    #[test]
    fn a_level_line_through_vertices_is_counted_once() {
        let square = bumpy_sheet(4, 0.0);
        let across: Vec<f64> = square.positions().iter().map(|p| p.x).collect();
        let length = |level: f64| {
            level_segments(&square, &across, level)
                .iter()
                .map(|[a, b]| a.distance(*b))
                .sum::<f64>()
        };

        for level in [0.25, 0.3, 0.5, 0.99, 1.0] {
            assert!(
                (length(level) - 1.0).abs() < 1e-12,
                "{level}: {}",
                length(level)
            );
        }

        assert_eq!(length(1.5), 0.0);
        assert!(level_segments(&square, &vec![f64::INFINITY; across.len()], 0.5).is_empty());
    }
}
