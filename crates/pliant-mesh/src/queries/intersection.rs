//! Self-intersections: pairs of triangles that cut each other.
//!
//! **Problem.** Posed and blended surfaces may intersect themselves; a count and a list show where.
//!
//! **Rule.** Two triangles cut when their insides meet: either each has corners strictly on both
//! sides of the other's plane and the two segments in which they meet that plane overlap in more
//! than a point, or both lie in one plane and overlap in an area. Touching is not cutting:
//! neighbours that share a corner or an edge, welded or not, count only if they overlap beyond it.
//! Triangles without area have no inside and never count.
//!
//! **Source.** The interval test is Möller's, "A Fast Triangle-Triangle Intersection Test", JGT
//! 1997; coplanar pairs are separated by separating axes.
//!
//! **Departures.** Lengths below a 1e-10th of the pair's size (plus the rounding of its
//! coordinates) are zero. The search tree is `parry3d`'s; pairs are found by triangle, in order.

use glam::{DVec2, DVec3};
use pliant_linalg::parallel;

use crate::surface::measure::{area_vector, is_flat};
use crate::{Bounds, Mesh, MeshError, MeshReport, SurfaceIndex};

/// Triangles in one parallel task.
const TRIANGLES_PER_TASK: usize = 256;

/// Part of a pair's size that counts as zero.
const RELATIVE_TOLERANCE: f64 = 1e-10;

impl Mesh {
    /// Pairs of triangles that cut through each other, low index first, in ascending order.
    ///
    /// A mesh without triangles has none; one with NaN positions is declined.
    pub fn self_intersections(&self) -> Result<Vec<[u32; 2]>, MeshError> {
        if self.triangles().is_empty() {
            return Ok(Vec::new());
        }

        Ok(SurfaceIndex::new(self)?.self_intersections())
    }
}

impl SurfaceIndex {
    /// Pairs of triangles that cut through each other, as [`Mesh::self_intersections`].
    #[must_use]
    pub fn self_intersections(&self) -> Vec<[u32; 2]> {
        let plates: Vec<Option<Plate>> = self
            .corners()
            .iter()
            .map(|&corners| Plate::of(corners))
            .collect();

        // Each pair is tested once, from its lower triangle.
        let partners = parallel::map(plates.len(), TRIANGLES_PER_TASK, |t| {
            let Some(plate) = &plates[t] else {
                return Vec::new();
            };

            let near = self
                .near_box(plate.bounds)
                .filter(|&other| other as usize > t);
            let cuts = near.filter(|&other| {
                plates[other as usize]
                    .as_ref()
                    .is_some_and(|other| cut(plate, other))
            });

            let mut cuts: Vec<u32> = cuts.collect();
            cuts.sort_unstable();
            cuts
        });

        partners
            .iter()
            .enumerate()
            .flat_map(|(t, row)| row.iter().map(move |&other| [t as u32, other]))
            .collect()
    }
}

impl MeshReport {
    /// The same report with self-intersections counted; `None` where positions cannot be compared.
    #[must_use]
    pub fn with_self_intersections(self, mesh: &Mesh) -> Self {
        Self {
            self_intersections: mesh.self_intersections().ok().map(|pairs| pairs.len()),
            ..self
        }
    }
}

/// A triangle with an inside.
#[derive(Debug, Clone)]
struct Plate {
    corners: [DVec3; 3],
    normal: DVec3,
    bounds: Bounds,
}

impl Plate {
    fn of(corners: [DVec3; 3]) -> Option<Self> {
        let [a, b, c] = corners;
        let normal = area_vector(corners).try_normalize()?;
        let bounds = Bounds {
            min: a.min(b).min(c),
            max: a.max(b).max(c),
        };

        (!is_flat(corners)).then_some(Self {
            corners,
            normal,
            bounds,
        })
    }

    /// Signed distances of `other`'s corners from this plane, with those below `tolerance` set to
    /// zero.
    fn heights(&self, other: &Self, tolerance: f64) -> [f64; 3] {
        // Measured from the nearest corner: a shared one is then at zero for any
        // rounding of the plane.
        other.corners.map(|p| {
            let from = self
                .corners
                .into_iter()
                .min_by(|a, b| a.distance_squared(p).total_cmp(&b.distance_squared(p)));
            let height = self.normal.dot(p - from.unwrap_or(p));

            if height.abs() <= tolerance {
                0.0
            } else {
                height
            }
        })
    }

    /// The stretch along `axis` in which the triangle meets the plane that its corners' `heights`
    /// refer to.
    fn stretch(&self, heights: [f64; 3], axis: DVec3, origin: DVec3) -> [f64; 2] {
        let along = self.corners.map(|p| axis.dot(p - origin));
        let mut stretch = [f64::INFINITY, f64::NEG_INFINITY];

        // Corners on the plane and crossings of sides bound the interval.
        let mut include = |x: f64| stretch = [stretch[0].min(x), stretch[1].max(x)];
        for (i, j) in [(0, 1), (1, 2), (2, 0)] {
            if heights[i] == 0.0 {
                include(along[i]);
            }
            if heights[i] * heights[j] < 0.0 {
                include(
                    along[i] + (along[j] - along[i]) * (heights[i] / (heights[i] - heights[j])),
                );
            }
        }

        stretch
    }
}

/// Whether the insides of two triangles meet.
fn cut(one: &Plate, other: &Plate) -> bool {
    let both = one.bounds.union(&other.bounds);
    let largest = both.min.abs().max(both.max.abs()).max_element();
    let tolerance = RELATIVE_TOLERANCE * both.diagonal() + 8.0 * f64::EPSILON * largest;
    let theirs = one.heights(other, tolerance);
    if theirs.iter().all(|&h| h > 0.0) || theirs.iter().all(|&h| h < 0.0) {
        return false; // Most candidates that are no neighbours end here.
    }

    // Both triangles in one plane are a problem in two dimensions.
    let ours = other.heights(one, tolerance);
    if theirs == [0.0; 3] || ours == [0.0; 3] {
        return overlap_in_plane(one, other, tolerance);
    }
    if !crosses(theirs) || !crosses(ours) {
        return false;
    }
    let Some(axis) = one.normal.cross(other.normal).try_normalize() else {
        return false;
    };

    // Both triangles cross the line of intersection of their planes; their intervals must overlap.
    let origin = one.corners[0];
    let a = one.stretch(ours, axis, origin);
    let b = other.stretch(theirs, axis, origin);

    a[1].min(b[1]) - a[0].max(b[0]) > tolerance
}

fn crosses(heights: [f64; 3]) -> bool {
    heights.iter().any(|&h| h > 0.0) && heights.iter().any(|&h| h < 0.0)
}

/// Whether two triangles of one plane share an area: no side of either keeps them apart.
fn overlap_in_plane(one: &Plate, other: &Plate, tolerance: f64) -> bool {
    let (x, y) = one.normal.any_orthonormal_pair();
    let flatten = |plate: &Plate| {
        plate
            .corners
            .map(|p| p - one.corners[0])
            .map(|p| DVec2::new(x.dot(p), y.dot(p)))
    };

    // Separating axes are the normals of all six sides.
    let (ours, theirs) = (flatten(one), flatten(other));
    let axes = [ours, theirs]
        .into_iter()
        .flat_map(|[a, b, c]| [b - a, c - b, a - c])
        .filter_map(|side| side.perp().try_normalize());

    axes.into_iter().all(|axis| {
        let ([a, b], [c, d]) = (extent(ours, axis), extent(theirs, axis));
        b.min(d) - a.max(c) > tolerance
    })
}

fn extent(corners: [DVec2; 3], axis: DVec2) -> [f64; 2] {
    let [a, b, c] = corners.map(|p| axis.dot(p));
    [a.min(b).min(c), a.max(b).max(c)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::icosphere;
    use crate::test_shapes::{grid, irregular_torus, random_points};

    fn pair(a: [DVec3; 3], b: [DVec3; 3]) -> bool {
        let one = cut(&Plate::of(a).unwrap(), &Plate::of(b).unwrap());
        assert_eq!(
            one,
            cut(&Plate::of(b).unwrap(), &Plate::of(a).unwrap()),
            "the test is symmetric"
        );
        one
    }

    /// Whether a side of one passes through the inside of the other: for pairs in general position,
    /// the same.
    fn a_side_pierces(a: [DVec3; 3], b: [DVec3; 3]) -> bool {
        let pierces = |[p, q]: [DVec3; 2], [a, b, c]: [DVec3; 3]| {
            let volume =
                |a: DVec3, b: DVec3, c: DVec3, d: DVec3| (b - a).dot((c - a).cross(d - a)) > 0.0;
            let signs = [volume(p, q, a, b), volume(p, q, b, c), volume(p, q, c, a)];
            volume(p, a, b, c) != volume(q, a, b, c) && signs[0] == signs[1] && signs[1] == signs[2]
        };
        let sides = |[a, b, c]: [DVec3; 3]| [[a, b], [b, c], [c, a]];
        sides(a).into_iter().any(|side| pierces(side, b))
            || sides(b).into_iter().any(|side| pierces(side, a))
    }

    #[test]
    fn random_triangles_give_the_pairs_of_a_brute_force_search() {
        for (seed, count, size) in [(1, 40, 1.0), (2, 150, 0.4)] {
            let centers = random_points(seed + 100, count);
            let positions: Vec<DVec3> = random_points(seed, 3 * count)
                .into_iter()
                .enumerate()
                .map(|(k, p)| centers[k / 3] + p * size)
                .collect();

            let triangles: Vec<[u32; 3]> = (0..count as u32)
                .map(|t| [3 * t, 3 * t + 1, 3 * t + 2])
                .collect();
            let mesh = Mesh::from_triangles(positions, &triangles).unwrap();
            let all = (0..count).flat_map(|s| (s + 1..count).map(move |t| [s, t]));
            let expected: Vec<[u32; 2]> = all
                .filter(|&[s, t]| a_side_pierces(mesh.triangle_points(s), mesh.triangle_points(t)))
                .map(|pair| pair.map(|t| t as u32))
                .collect();

            assert!(expected.len() > 20);
            assert_eq!(mesh.self_intersections().unwrap(), expected);
        }
    }

    #[test]
    fn two_crossing_quads_intersect_and_two_parallel_ones_do_not() {
        let flat = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
        let quads = |second: fn(f64, f64) -> DVec3| {
            let positions = flat
                .iter()
                .map(|&(x, y)| DVec3::new(x, y, 0.0))
                .chain(flat.iter().map(|&(x, y)| second(x, y)))
                .collect();
            Mesh::from_polygons(positions, &[vec![0, 1, 2, 3], vec![4, 5, 6, 7]]).unwrap()
        };

        let crossing = quads(|x, y| DVec3::new(0.1 * y, x, y));
        let pairs = crossing.self_intersections().unwrap();
        assert!(!pairs.is_empty() && pairs.iter().all(|&[s, t]| s < 2 && t >= 2));
        assert_eq!(
            MeshReport::of(&crossing)
                .with_self_intersections(&crossing)
                .self_intersections,
            Some(pairs.len())
        );

        assert!(
            quads(|x, y| DVec3::new(x, y, 0.01))
                .self_intersections()
                .unwrap()
                .is_empty()
        );
    }

    #[test]
    fn surfaces_whose_neighbours_only_touch_have_no_self_intersection() {
        for mesh in [icosphere(3), irregular_torus(24, 15), grid(9, 9)] {
            assert!(mesh.self_intersections().unwrap().is_empty());
            // Far from the origin and unwelded, neighbours still only touch.
            let positions: Vec<DVec3> = (0..mesh.triangles().len())
                .flat_map(|t| mesh.triangle_points(t))
                .map(|p| p + DVec3::splat(1000.0))
                .collect();

            let triangles: Vec<[u32; 3]> = (0..mesh.triangles().len() as u32)
                .map(|t| [3 * t, 3 * t + 1, 3 * t + 2])
                .collect();

            assert!(
                Mesh::from_triangles(positions, &triangles)
                    .unwrap()
                    .self_intersections()
                    .unwrap()
                    .is_empty()
            );
        }
    }

    #[test]
    fn neighbours_intersect_only_if_they_overlap_beyond_shared_corners() {
        let [o, x, y, z] = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
        assert!(!pair([o, x, y], [o, y, -x]), "side by side in a plane");
        assert!(
            pair([o, x, y], [o, x, y * 2.0 + x]),
            "folded back onto its neighbour"
        );

        assert!(pair([o, x, y], [x, o, y]), "twice the same");
        assert!(
            !pair([o, x, y], [o, x, z]),
            "a right angle on a shared edge"
        );
        assert!(!pair([o, x, y], [o, z, z - x]), "a shared corner only");

        assert!(
            pair([o, x, y], [o, x + y + z, x + y - z]),
            "through a shared corner into the other's inside"
        );

        assert!(
            !pair([o, x, y], [(x + y) * 0.25, z, z + x]),
            "a corner that rests on the inside"
        );

        assert!(
            pair([o, x, y], [(x + y) * 0.25 - z * 1e-6, z, z + x]),
            "a corner just through the inside"
        );
    }

    #[test]
    fn self_intersections_are_invariant_under_rigid_motion_and_scale() {
        let rotation = glam::DQuat::from_euler(glam::EulerRot::XYZ, 0.4, -1.1, 2.3);
        let mesh = irregular_torus(24, 12);
        let folded: Vec<DVec3> = mesh
            .positions()
            .iter()
            .map(|p| DVec3::new(p.x, p.y * (1.0 + 0.9 * p.x), p.z * p.y))
            .collect();

        let reference = mesh
            .posed(folded.clone())
            .unwrap()
            .self_intersections()
            .unwrap();

        assert!(!reference.is_empty());
        for scale in [1e-6, 1.0, 1e5] {
            let moved = folded
                .iter()
                .map(|&p| (rotation * p + DVec3::new(3.0, -1.0, 2.0)) * scale)
                .collect();
            assert_eq!(
                mesh.posed(moved).unwrap().self_intersections().unwrap(),
                reference
            );
        }
    }

    #[test]
    fn degenerate_meshes_give_no_pairs_and_nan_is_declined() {
        let positions = vec![DVec3::ZERO, DVec3::X, DVec3::X * 2.0, DVec3::Y];
        let mesh =
            Mesh::from_triangles(positions.clone(), &[[0, 1, 2], [0, 0, 3], [0, 1, 3]]).unwrap();

        assert_eq!(mesh.self_intersections(), Ok(Vec::new()));
        let mut broken = positions;
        broken[1].x = f64::NAN;

        let broken = mesh.posed(broken).unwrap();
        assert!(matches!(
            broken.self_intersections(),
            Err(MeshError::NotFinite { vertex: 1, .. })
        ));

        assert_eq!(
            MeshReport::of(&broken)
                .with_self_intersections(&broken)
                .self_intersections,
            None
        );

        assert_eq!(
            Mesh::from_triangles(Vec::new(), &[])
                .unwrap()
                .self_intersections(),
            Ok(Vec::new())
        );
    }
}
