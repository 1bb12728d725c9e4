//! Volume, thickness and edges of tetrahedra.
//!
//! **Departures.** The volume and the faces of four nearly collinear points are rounding errors,
//! and so is their ratio: such points have no thickness. They are detected by the width of the
//! widest face, which is accurate wherever it is more than a share of the longest edge.

use pliant_mesh::glam::DVec3;
use pliant_mesh::triangle_area;

/// The six edges of a tetrahedron, by corner indices.
pub(crate) const EDGES: [[usize; 2]; 6] = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];

/// Faces narrower than this share of the longest edge count as degenerate. Chosen: far above
/// rounding and far below the needles of real surfaces.
pub(super) const LEAST_WIDTH: f64 = 1e-3;

/// The signed volume, positive where `d` lies on the side from which the triangle `a b c` is
/// counterclockwise.
pub(crate) fn volume([a, b, c, d]: [DVec3; 4]) -> f64 {
    (b - a).dot((c - a).cross(d - a)) / 6.0
}

/// The least height relative to the shortest edge: 0.816 for the regular tetrahedron, near zero for
/// coplanar points, about one for needles and plates, which tolerate motion well; negative when
/// inverted. Zero where corners coincide or are collinear.
pub(super) fn thickness(corners: [DVec3; 4]) -> f64 {
    let [a, b, c, d] = corners;
    let largest_face = [[a, b, c], [a, b, d], [a, c, d], [b, c, d]]
        .map(triangle_area)
        .into_iter()
        .fold(0.0, f64::max);
    // 3 V / A is the height over the largest face, the least height.
    let lengths = EDGES.map(|[i, j]| corners[i].distance(corners[j]));

    let (shortest, longest) = lengths
        .iter()
        .fold((f64::INFINITY, 0.0_f64), |(s, l), &length| {
            (s.min(length), l.max(length))
        });
    let is_wide = 2.0 * largest_face > LEAST_WIDTH * longest * longest && shortest > 0.0;

    if is_wide {
        3.0 * volume(corners) / (largest_face * shortest)
    } else {
        0.0
    }
}

/// The edges of tetrahedra, each once, low end first, ascending.
pub(crate) fn edges_of(tetrahedra: &[[u32; 4]]) -> Vec<[u32; 2]> {
    let pair = |t: &[u32; 4], [i, j]: [usize; 2]| [t[i].min(t[j]), t[i].max(t[j])];
    let mut edges: Vec<[u32; 2]> = tetrahedra
        .iter()
        .flat_map(|t| EDGES.map(|edge| pair(t, edge)))
        .collect();
    edges.sort_unstable();
    edges.dedup();
    edges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_thickness_of_the_regular_tetrahedron_is_its_height_and_negative_for_its_mirror_image() {
        let regular = [
            DVec3::ONE,
            DVec3::new(1.0, -1.0, -1.0),
            DVec3::new(-1.0, -1.0, 1.0),
            DVec3::new(-1.0, 1.0, -1.0),
        ];

        assert!((volume(regular) - 8.0 / 3.0).abs() < 1e-15);
        assert!((thickness(regular) - (2.0_f64 / 3.0).sqrt()).abs() < 1e-15);
        assert_eq!(
            thickness(regular.map(|p| p * DVec3::new(-1.0, 1.0, 1.0))),
            -thickness(regular)
        );
    }

    #[test]
    fn needles_are_thick_and_squares_are_not() {
        let needle = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::new(0.3, 0.3, 100.0)];
        let square = [DVec3::ZERO, DVec3::X, DVec3::new(1.0, 1.0, 0.01), DVec3::Y];
        assert!(thickness(needle) > 0.5 && thickness(square).abs() < 0.01);
        assert_eq!(thickness([DVec3::ONE; 4]), 0.0);
    }

    #[test]
    fn collinear_points_have_no_thickness_at_any_rounding() {
        let direction = DVec3::new(0.3, -0.7, 0.2);
        for digits in [1e-16, 1e-13, 1e-9, 1e-5] {
            let noise =
                |k: f64| DVec3::new((k * 7.1).sin(), (k * 3.3).cos(), (k * 1.7).sin()) * digits;
            let line = [0.0, 0.31, 0.62, 1.7].map(|k| direction * k + noise(k));

            assert_eq!(thickness(line), 0.0, "{digits}");
            assert_eq!(
                thickness([line[1], line[0], line[2], line[3]]),
                0.0,
                "{digits}"
            );
        }
    }
}
