//! Closest points, ray casts and inside tests by a bounding volume hierarchy.
//!
//! **Problem.** Pins, scans and brushes give points in space; methods need a triangle and
//! barycentric coordinates, thousands of times per frame.
//!
//! **Equation.** The closest point of a triangle is its plane's foot point when that lies
//! inside, else the closest of its three sides. A ray meets a triangle where the three edge
//! functions of the sheared triangle have one sign. The generalised winding number
//!
//! ```text
//! w(p) = 1/4π Σ_t Ω_t(p),     tan(Ω/2) = det(a, b, c) / (|a||b||c| + (a·b)|c| + (b·c)|a| + (c·a)|b|)
//! ```
//!
//! is one inside a closed outward surface, zero outside, and degrades gracefully on open ones.
//!
//! **Source.** Woop, Benthin, Wald, "Watertight Ray/Triangle Intersection", JCGT 2013; van Oosterom
//! and Strackee, "The Solid Angle of a Plane Triangle", 1983; Jacobson, Kavan, Sorkine-Hornung,
//! "Robust Inside-Outside Segmentation using Generalized Winding Numbers", SIGGRAPH 2013. The tree
//! is `parry3d`'s.
//!
//! **Departures.** A triangle without area is treated as a segment or a point; no result holds
//! NaN. The winding number is a plain sum over all triangles.

use std::f64::consts::TAU;

use glam::DVec3;
use parry3d_f64::bounding_volume::Aabb;
use parry3d_f64::partitioning::{Bvh, BvhBuildStrategy, BvhNode};
use pliant_linalg::parallel;

use crate::queries::ray::Ray;
use crate::{Bounds, Mesh, MeshError, TrianglePoint};

/// Queries in one parallel task.
const QUERIES_PER_TASK: usize = 64;

/// A triangle whose height is below the root of this part of its sides is a segment.
const FLAT_SQUARED: f64 = 1e-20;

/// Coordinates beyond this overflow in the square of an area.
const COORDINATE_LIMIT: f64 = 1e70;

/// The point of a surface that is closest to a query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClosestPoint {
    /// The place on the surface.
    pub place: TrianglePoint,
    /// The same in space.
    pub point: DVec3,
    /// Its distance from the query.
    pub distance: f64,
}

/// Where a ray first meets a surface, from either side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RayHit {
    /// The place on the surface.
    pub place: TrianglePoint,
    /// Its distance from the ray's origin, as a length.
    pub distance: f64,
}

/// A search tree over the triangles of one pose of a mesh.
#[derive(Clone)]
pub struct SurfaceIndex {
    tree: Bvh,
    corners: Vec<[DVec3; 3]>,
}

impl std::fmt::Debug for SurfaceIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SurfaceIndex")
            .field("triangles", &self.corners.len())
            .finish_non_exhaustive()
    }
}

impl SurfaceIndex {
    /// Builds the tree; needs at least one triangle and finite positions below 1e70.
    pub fn new(mesh: &Mesh) -> Result<Self, MeshError> {
        require_moderate(mesh)?;
        let corners: Vec<[DVec3; 3]> = (0..mesh.triangles().len())
            .map(|t| mesh.triangle_points(t))
            .collect();
        Ok(Self {
            tree: triangle_tree(&corners),
            corners,
        })
    }

    /// The closest point of the surface; `None` only for a query that is not finite or beyond 1e70.
    /// Among equally close triangles the choice is fixed, but not the lowest.
    #[must_use]
    pub fn closest_point(&self, query: DVec3) -> Option<ClosestPoint> {
        self.closest_point_where(query, |_| true)
    }

    /// The closest point on the triangles that `accepted` admits; `None` also where it admits none.
    ///
    /// `accepted` is called only for triangles that are closer than the best so far.
    #[must_use]
    pub fn closest_point_where(
        &self,
        query: DVec3,
        accepted: impl Fn(u32) -> bool,
    ) -> Option<ClosestPoint> {
        self.closest_point_within(query, f64::INFINITY, accepted)
    }

    /// The closest point nearer than `reach` on the triangles that `accepted` admits; the shorter
    /// the reach, the fewer triangles are tested.
    #[must_use]
    pub fn closest_point_within(
        &self,
        query: DVec3,
        reach: f64,
        accepted: impl Fn(u32) -> bool,
    ) -> Option<ClosestPoint> {
        if !is_moderate(query) {
            return None;
        }

        // Bounds are compared by squared distances, which need no root.
        let squared_to_box = |node: &BvhNode, _: f64| {
            (query - query.clamp(node.mins(), node.maxs())).length_squared()
        };
        let squared_to_triangle = |t: u32, best: f64| {
            let (_, point) = closest_on_triangle(self.corners[t as usize], query);
            let squared = point.distance_squared(query);
            (squared < best && accepted(t)).then_some(squared)
        };

        let (triangle, _) =
            self.tree
                .find_best(reach * reach, squared_to_box, squared_to_triangle)?;
        let (barycentric, point) = closest_on_triangle(self.corners[triangle as usize], query);

        Some(ClosestPoint {
            place: TrianglePoint {
                triangle,
                barycentric,
            },
            point,
            distance: point.distance(query),
        })
    }

    /// [`closest_point`](Self::closest_point) of each query, in parallel.
    pub fn closest_points(&self, queries: &[DVec3]) -> Result<Vec<ClosestPoint>, MeshError> {
        let found = parallel::map(queries.len(), QUERIES_PER_TASK, |k| {
            self.closest_point(queries[k])
        });
        let each = found.into_iter().enumerate();
        each.map(|(query, point)| point.ok_or(MeshError::QueryNotFinite { query }))
            .collect()
    }

    /// The first hit along `direction` (of any length but zero) no further than `max_distance`.
    /// Rays that pass between two triangles along a shared edge hit one of them; a ray within a
    /// triangle's plane does not hit it.
    #[must_use]
    pub fn cast_ray(&self, origin: DVec3, direction: DVec3, max_distance: f64) -> Option<RayHit> {
        self.cast_ray_where(origin, direction, max_distance, |_| true)
    }

    /// As [`cast_ray`](Self::cast_ray), ignoring triangles that `accepted` does not admit.
    #[must_use]
    pub fn cast_ray_where(
        &self,
        origin: DVec3,
        direction: DVec3,
        max_distance: f64,
        accepted: impl Fn(u32) -> bool,
    ) -> Option<RayHit> {
        let ray = Ray::new(origin, direction)?;

        // The tree finds distances below its bound; a hit at exactly `max_distance` counts.
        let bound = max_distance.min(f64::MAX).next_up();
        let to_box = |node: &BvhNode, _: f64| ray.box_distance(node.mins(), node.maxs());
        let to_triangle = |t: u32, best: f64| {
            let (distance, _) = ray.triangle_hit(self.corners[t as usize])?;
            (distance < best && accepted(t)).then_some(distance)
        };

        let (triangle, distance) = self.tree.find_best(bound, to_box, to_triangle)?;
        let (_, barycentric) = ray.triangle_hit(self.corners[triangle as usize])?;
        Some(RayHit {
            place: TrianglePoint {
                triangle,
                barycentric,
            },
            distance,
        })
    }

    /// How often the surface winds around `query`. Cost is linear in triangles.
    #[must_use]
    pub fn winding_number(&self, query: DVec3) -> f64 {
        if !is_moderate(query) {
            return 0.0;
        }
        self.corners
            .iter()
            .map(|corners| half_solid_angle(corners.map(|p| p - query)))
            .sum::<f64>()
            / TAU
    }

    /// Whether `query` is inside: the surface winds around it by more than one half.
    #[must_use]
    pub fn contains(&self, query: DVec3) -> bool {
        self.winding_number(query) > 0.5
    }

    /// Triangles whose boxes meet the box of `bounds`, in a fixed order.
    pub(crate) fn near_box(&self, bounds: Bounds) -> impl Iterator<Item = u32> {
        let query = BvhNode::leaf(Aabb::new(bounds.min, bounds.max), 0);
        self.tree.leaves(move |node| node.intersects(&query))
    }

    /// The corners of each triangle in space.
    pub(crate) fn corners(&self) -> &[[DVec3; 3]] {
        &self.corners
    }
}

/// Declines a mesh without triangles or with positions whose areas cannot be squared.
pub(crate) fn require_moderate(mesh: &Mesh) -> Result<(), MeshError> {
    mesh.require_surface()?;
    let largest = mesh
        .positions()
        .iter()
        .map(|p| p.abs().max_element())
        .fold(0.0, f64::max);

    if largest < COORDINATE_LIMIT {
        return Ok(());
    }

    Err(MeshError::BadNumber {
        what: "the largest coordinate",
        value: largest,
        needed: "below 1e70",
    })
}

fn triangle_tree(corners: &[[DVec3; 3]]) -> Bvh {
    let boxes = corners
        .iter()
        .map(|&[a, b, c]| Aabb::new(a.min(b).min(c), a.max(b).max(c)));
    Bvh::from_iter(BvhBuildStrategy::Binned, boxes.enumerate())
}

pub(crate) fn is_moderate(p: DVec3) -> bool {
    p.is_finite() && p.abs().max_element() < COORDINATE_LIMIT
}

fn blend([a, b, c]: [DVec3; 3], [u, v, w]: [f64; 3]) -> DVec3 {
    a * u + b * v + c * w
}

/// Barycentric coordinates and position of the point of a triangle that is closest to `p`.
#[must_use]
pub fn closest_on_triangle([a, b, c]: [DVec3; 3], p: DVec3) -> ([f64; 3], DVec3) {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let normal = ab.cross(ac);
    let scale = normal.length_squared();

    // Coordinates of the foot point, times the squared area.
    let w = ab.cross(ap).dot(normal);
    let v = ap.cross(ac).dot(normal);
    let u = scale - v - w;

    // Where the area of a needle is rounding noise, so are the coordinates, and the sides are the
    // triangle.
    let has_inside = scale > FLAT_SQUARED * (ab.length_squared() * ac.length_squared());
    if has_inside && u >= 0.0 && v >= 0.0 && w >= 0.0 {
        let barycentric = [u / scale, v / scale, w / scale];
        return (barycentric, blend([a, b, c], barycentric));
    }

    // Only a side with `p` beyond it can be the closest.
    let mut best = ([1.0, 0.0, 0.0], a);
    let mut least = f64::INFINITY;
    for (i, j, beyond) in [(0, 1, w), (1, 2, u), (2, 0, v)] {
        if has_inside && beyond >= 0.0 {
            continue;
        }

        let start = [a, b, c][i];
        let end = [a, b, c][j];
        let along = parameter_on_segment(start, end, p);
        let point = start + (end - start) * along;
        let squared = point.distance_squared(p);

        if squared < least {
            let mut barycentric = [0.0; 3];
            barycentric[i] = 1.0 - along;
            barycentric[j] = along;
            (best, least) = ((barycentric, point), squared);
        }
    }

    best
}

fn parameter_on_segment(start: DVec3, end: DVec3, p: DVec3) -> f64 {
    let along = end - start;
    let length_squared = along.length_squared();
    let t = (p - start).dot(along) / length_squared;
    // A segment of no length has one point.
    if t.is_finite() {
        t.clamp(0.0, 1.0)
    } else {
        0.0
    }
}

/// Half the signed solid angle of a triangle seen from the origin.
pub(crate) fn half_solid_angle([a, b, c]: [DVec3; 3]) -> f64 {
    let (la, lb, lc) = (a.length(), b.length(), c.length());
    a.dot(b.cross(c))
        .atan2(la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::icosphere;
    use crate::test_shapes::{Random, irregular_torus, random_points};
    use glam::DQuat;
    use parry3d_f64::query::PointQuery;
    use parry3d_f64::shape::Triangle;

    fn soup(seed: u64, count: usize) -> Mesh {
        let triangles: Vec<[u32; 3]> = (0..count as u32)
            .map(|t| [3 * t, 3 * t + 1, 3 * t + 2])
            .collect();
        Mesh::from_triangles(random_points(seed, 3 * count), &triangles).unwrap()
    }

    #[test]
    fn a_ray_passes_through_triangles_that_are_not_accepted() {
        let ball = icosphere(3);
        let index = SurfaceIndex::new(&ball).unwrap();
        let origin = DVec3::new(0.1, 0.2, 3.0);
        let faces_down = |t: u32| crate::triangle_normal(ball.triangle_points(t as usize)).z < 0.0;
        let front = index.cast_ray(origin, -DVec3::Z, 9.0).unwrap();
        let back = index
            .cast_ray_where(origin, -DVec3::Z, 9.0, faces_down)
            .unwrap();

        assert!(!faces_down(front.place.triangle) && faces_down(back.place.triangle));

        // Both lie on the sphere, at equal distances from its centre.
        assert!(
            (front.distance + back.distance - 6.0).abs() < 0.02,
            "{front:?} {back:?}"
        );

        assert_eq!(
            index.cast_ray_where(origin, -DVec3::Z, front.distance, faces_down),
            None
        );
    }

    #[test]
    fn the_closest_point_is_that_of_a_search_over_all_triangles() {
        for mesh in [soup(2, 60), irregular_torus(20, 12)] {
            let index = SurfaceIndex::new(&mesh).unwrap();
            let queries: Vec<DVec3> = random_points(11, 300)
                .into_iter()
                .map(|p| p * 3.0)
                .collect();

            for (query, found) in queries.iter().zip(index.closest_points(&queries).unwrap()) {
                // parry's own projection is independent evidence.
                let best = (0..mesh.triangles().len())
                    .map(|t| {
                        let [a, b, c] = mesh.triangle_points(t);
                        Triangle::new(a, b, c)
                            .project_local_point(*query, false)
                            .point
                            .distance(*query)
                    })
                    .fold(f64::INFINITY, f64::min);

                assert!(
                    (found.distance - best).abs() < 1e-12,
                    "{} {best}",
                    found.distance
                );

                assert!(
                    found
                        .point
                        .distance(found.place.position(mesh.triangles(), mesh.positions()))
                        < 1e-14
                );

                let [u, v, w] = found.place.barycentric;
                assert!(u >= 0.0 && v >= 0.0 && w >= 0.0 && (u + v + w - 1.0).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn only_points_within_reach_are_found() {
        let mesh = soup(7, 60);
        let index = SurfaceIndex::new(&mesh).unwrap();
        for query in random_points(13, 200) {
            let found = index.closest_point(query).unwrap();
            assert_eq!(
                index.closest_point_within(query, found.distance * 1.001, |_| true),
                Some(found)
            );

            assert_eq!(
                index.closest_point_within(query, found.distance * 0.999, |_| true),
                None
            );
        }
    }

    #[test]
    fn the_closest_accepted_point_is_that_of_the_accepted_triangles_alone() {
        let mesh = soup(7, 60);
        let index = SurfaceIndex::new(&mesh).unwrap();
        let kept: Vec<[u32; 3]> = mesh.triangles().iter().copied().step_by(3).collect();
        let alone =
            SurfaceIndex::new(&Mesh::from_triangles(mesh.positions().to_vec(), &kept).unwrap())
                .unwrap();

        for query in random_points(12, 200) {
            let found = index.closest_point_where(query, |t| t % 3 == 0).unwrap();
            let expected = alone.closest_point(query).unwrap();
            assert_eq!(
                (found.place.triangle, found.distance),
                (3 * expected.place.triangle, expected.distance)
            );
        }

        assert_eq!(index.closest_point_where(DVec3::ZERO, |_| false), None);
    }

    #[test]
    fn a_triangle_without_area_answers_as_the_segment_or_point_it_is() {
        let line = [DVec3::ZERO, DVec3::X, DVec3::X * 3.0];
        let (weights, point) = closest_on_triangle(line, DVec3::new(2.0, 1.0, 0.0));
        assert_eq!(
            (point, blend(line, weights)),
            (DVec3::X * 2.0, DVec3::X * 2.0)
        );

        let (weights, point) = closest_on_triangle([DVec3::Y; 3], DVec3::ZERO);
        assert_eq!((point, weights.iter().sum::<f64>()), (DVec3::Y, 1.0));

        // Needles so thin that their area is rounding noise.
        let mut random = Random(5);
        for _ in 0..200 {
            let (a, b, p) = (random.point(), random.point(), random.point());
            let (weights, point) = closest_on_triangle([a, b, a.lerp(b, 0.3)], p);
            let on_segment = a.lerp(b, parameter_on_segment(a, b, p));
            assert!(
                point.distance(on_segment) < 1e-7
                    && (point.distance(p) - on_segment.distance(p)).abs() < 1e-12
            );
            assert!(weights.iter().all(|w| (0.0..=1.0).contains(w)));
        }
    }

    /// Möller and Trumbore's test, as evidence of another kind.
    fn plain_hit(origin: DVec3, direction: DVec3, [a, b, c]: [DVec3; 3]) -> Option<f64> {
        let (e1, e2) = (b - a, c - a);
        let p = direction.cross(e2);
        let q = (origin - a).cross(e1);
        let determinant = e1.dot(p);
        let u = (origin - a).dot(p) / determinant;
        let v = direction.dot(q) / determinant;
        let t = e2.dot(q) / determinant;

        (u >= 0.0 && v >= 0.0 && u + v <= 1.0 && t >= 0.0).then_some(t)
    }

    #[test]
    fn the_first_hit_is_that_of_a_search_over_all_triangles() {
        let mesh = soup(3, 80);
        let index = SurfaceIndex::new(&mesh).unwrap();
        let mut random = Random(9);

        let mut hits = 0;
        for _ in 0..500 {
            let origin = random.point() * 2.0;
            let direction = random.point() - origin;
            let unit = direction.normalize();
            let all = (0..80).filter_map(|t| plain_hit(origin, unit, mesh.triangle_points(t)));
            let expected = all.fold(f64::INFINITY, f64::min);
            let found = index.cast_ray(origin, direction, f64::INFINITY);

            hits += usize::from(found.is_some());
            assert_eq!(found.is_some(), expected.is_finite());

            let Some(hit) = found else { continue };
            assert!((hit.distance - expected).abs() < 1e-12);

            let point = hit.place.position(mesh.triangles(), mesh.positions());
            assert!(point.distance(origin + unit * hit.distance) < 1e-12);
            assert_eq!(index.cast_ray(origin, direction, hit.distance), Some(hit));
            assert_ne!(
                index.cast_ray(origin, direction, hit.distance * (1.0 - 1e-12)),
                Some(hit)
            );
        }

        assert!(hits > 100);
    }

    #[test]
    fn no_ray_leaves_a_closed_surface_through_its_vertices_or_edges() {
        let mesh = icosphere(2);
        let index = SurfaceIndex::new(&mesh).unwrap();
        let origin = DVec3::new(0.01, -0.02, 0.03);
        let middles = mesh
            .topology()
            .edges()
            .iter()
            .map(|&[a, b]| (mesh.positions()[a as usize] + mesh.positions()[b as usize]) * 0.5);

        for target in mesh.positions().iter().copied().chain(middles) {
            let hit = index
                .cast_ray(origin, target - origin, 10.0)
                .expect("the sphere is closed");
            assert!((hit.distance - target.distance(origin)).abs() < 1e-12);
        }
    }

    #[test]
    fn a_rotated_input_gives_rotated_results() {
        let mesh = irregular_torus(12, 9);
        let rotation = DQuat::from_euler(glam::EulerRot::XYZ, 0.4, -1.1, 2.3);
        let rotated = mesh
            .posed(mesh.positions().iter().map(|&p| rotation * p).collect())
            .unwrap();
        let index = SurfaceIndex::new(&mesh).unwrap();
        let rotated_index = SurfaceIndex::new(&rotated).unwrap();

        let mut random = Random(4);
        for _ in 0..200 {
            let (p, d) = (random.point() * 3.0, random.point());
            let one = index.closest_point(p).unwrap();
            let other = rotated_index.closest_point(rotation * p).unwrap();

            assert!((rotation * one.point).distance(other.point) < 1e-12);
            let one = index.cast_ray(p, d, 9.0);
            let other = rotated_index.cast_ray(rotation * p, rotation * d, 9.0);

            assert_eq!(one.is_some(), other.is_some());
            assert!(
                one.zip(other)
                    .is_none_or(|(one, other)| (one.distance - other.distance).abs() < 1e-11)
            );
            assert!(
                (index.winding_number(p) - rotated_index.winding_number(rotation * p)).abs()
                    < 1e-12
            );
        }
    }

    #[test]
    fn the_winding_number_of_a_torus_is_one_inside_and_zero_in_its_hole() {
        let mesh = irregular_torus(40, 24);
        let index = SurfaceIndex::new(&mesh).unwrap();
        for (point, expected) in [
            (DVec3::new(2.0, 0.1, 0.2), 1.0),
            (DVec3::ZERO, 0.0),
            (DVec3::new(0.0, 4.0, 0.0), 0.0),
        ] {
            assert!((index.winding_number(point) - expected).abs() < 1e-12);
            assert_eq!(index.contains(point), expected == 1.0);
        }
    }

    #[test]
    fn queries_that_are_not_finite_are_declined() {
        let index = SurfaceIndex::new(&soup(1, 1)).unwrap();
        assert_eq!(index.closest_point(DVec3::NAN), None);
        assert_eq!(
            index.closest_points(&[DVec3::ZERO, DVec3::X * f64::INFINITY]),
            Err(MeshError::QueryNotFinite { query: 1 })
        );

        for direction in [DVec3::ZERO, DVec3::NAN, DVec3::splat(f64::INFINITY)] {
            assert_eq!(index.cast_ray(DVec3::ZERO, direction, 1.0), None);
        }

        assert_eq!(
            index.cast_ray(DVec3::ZERO, DVec3::X, f64::NAN),
            index.cast_ray(DVec3::ZERO, DVec3::X, f64::INFINITY)
        );

        let unpaved = Mesh::from_triangles(vec![DVec3::ZERO], &[]).unwrap();
        assert_eq!(SurfaceIndex::new(&unpaved).err(), Some(MeshError::NoFaces));

        let huge =
            Mesh::from_triangles(vec![DVec3::X * 1e200, DVec3::Y, DVec3::Z], &[[0, 1, 2]]).unwrap();
        assert!(matches!(
            SurfaceIndex::new(&huge),
            Err(MeshError::BadNumber { .. })
        ));
    }
}
