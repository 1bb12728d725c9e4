//! Things that shapes run into: which vertices are inside, how deep, and the nearest way out.
//!
//! **Problem.** In every step of a blend some vertices end up inside an obstacle; each must learn the nearest point of the
//! obstacle's surface and the direction that leads out there.
//!
//! **Equation.** With the signed distance `d` of the obstacle, negative inside, a vertex `x` has the depth `−d(x)`, the
//! normal `n = ∇d(x)` and the surface point `x − d(x) n`.
//!
//! **Source.** Section 4 of the paper; Ericson, "Real-Time Collision Detection", 2005, section 5.1, for the solids in closed form.
//!
//! **Ours.** Box trees over the obstacle only: vertices are points, and a box test each culls them. Where the nearest
//! point is not unique (the centre of a sphere, the axis of a capsule) one of them is taken, always the same. An obstacle may
//! move rigidly; its queries are answered in its own frame.

use pliant_linalg::{RigidMotion, parallel};
use pliant_mesh::glam::DVec3;
use pliant_mesh::{Bounds, Mesh, SurfaceIndex, WindingTree, triangle_normal};

use crate::PhysicsError;

/// Points in one parallel task.
const POINTS_PER_TASK: usize = 256;

/// Nearer to the surface than this part of the obstacle's diagonal, the direction to the nearest point is rounding noise and
/// the triangle's own normal is taken.
const ON_SURFACE: f64 = 1e-9;

/// Directions along which the extent of a mesh is measured: ours, so that big ones cost no more than their search trees.
const MOST_DIRECTIONS: usize = 256;

/// A vertex that is inside an obstacle, or near it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contact {
    /// The vertex.
    pub vertex: u32,
    /// The nearest point of the obstacle's surface.
    pub point: DVec3,
    /// The unit normal there, out of the obstacle.
    pub normal: DVec3,
    /// How deep the vertex is inside; negative outside.
    pub depth: f64,
}

/// A closed solid that shapes do not enter.
#[derive(Debug, Clone)]
pub struct Obstacle {
    solid: Solid,
    bounds: Bounds,
}

#[derive(Debug, Clone)]
enum Solid {
    Sphere { center: DVec3, radius: f64 },
    Capsule { start: DVec3, end: DVec3, radius: f64 },
    Cylinder { start: DVec3, end: DVec3, radius: f64 },
    Mesh(Box<MeshSolid>),
}

#[derive(Debug, Clone)]
struct MeshSolid {
    index: SurfaceIndex,
    winding: WindingTree,
    /// Unit normals of the triangles, out of the solid.
    normals: Vec<DVec3>,
    /// Minus one where the triangles look inward.
    outward: f64,
    on_surface: f64,
    thickness: f64,
}

impl Obstacle {
    /// A ball.
    ///
    /// # Errors
    /// [`PhysicsError::ObstacleSize`] unless the radius is positive and all numbers are finite.
    pub fn sphere(center: DVec3, radius: f64) -> Result<Self, PhysicsError> {
        require_solid("sphere", radius, &[center])?;
        Ok(Self { solid: Solid::Sphere { center, radius }, bounds: around(&[center], radius) })
    }

    /// All points no further than `radius` from the segment between two points.
    ///
    /// # Errors
    /// As [`sphere`](Self::sphere).
    pub fn capsule(start: DVec3, end: DVec3, radius: f64) -> Result<Self, PhysicsError> {
        require_solid("capsule", radius, &[start, end])?;
        Ok(Self { solid: Solid::Capsule { start, end, radius }, bounds: around(&[start, end], radius) })
    }

    /// A round bar between the centres of its two flat ends.
    ///
    /// # Errors
    /// As [`sphere`](Self::sphere), and if the ends coincide.
    pub fn cylinder(start: DVec3, end: DVec3, radius: f64) -> Result<Self, PhysicsError> {
        require_solid("cylinder", radius, &[start, end])?;
        require_solid("cylinder", start.distance(end), &[])?;
        Ok(Self { solid: Solid::Cylinder { start, end, radius }, bounds: around(&[start, end], radius) })
    }

    /// The inside of a closed surface, whichever way its triangles look.
    ///
    /// # Errors
    /// [`PhysicsError::OpenObstacle`] if an edge has but one triangle; a mesh without triangles or with positions that are not finite.
    pub fn mesh(mesh: &Mesh) -> Result<Self, PhysicsError> {
        let index = SurfaceIndex::new(mesh)?;
        let loops = mesh.topology().boundary_loops();
        if let Some(first) = loops.first() {
            let edges = loops.iter().map(Vec::len).sum();
            return Err(PhysicsError::OpenObstacle { holes: loops.len(), edges, vertex: first[0] as usize });
        }
        let bounds = mesh.bounds().expect("a mesh with triangles has vertices");
        let outward = if mesh.signed_volume() < 0.0 { -1.0 } else { 1.0 };
        let normals: Vec<DVec3> = (0..mesh.triangles().len()).map(|t| triangle_normal(mesh.triangle_points(t)) * outward).collect();
        let on_surface = ON_SURFACE * bounds.diagonal();
        let thickness = least_extent(mesh.positions(), &normals).min(bounds.size().min_element());
        let solid = MeshSolid { index, winding: WindingTree::new(mesh)?, normals, outward, on_surface, thickness };
        Ok(Self { solid: Solid::Mesh(Box::new(solid)), bounds })
    }

    /// The box around the obstacle.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// The least extent of the solid, of a mesh along the normals of its triangles; about how far apart two of its sides are where it
    /// is convex.
    pub(crate) fn thickness(&self) -> f64 {
        match &self.solid {
            Solid::Sphere { radius, .. } | Solid::Capsule { radius, .. } => 2.0 * radius,
            Solid::Cylinder { start, end, radius } => start.distance(*end).min(2.0 * radius),
            Solid::Mesh(solid) => solid.thickness,
        }
    }

    /// The vertices that are inside, or outside by less than `margin`, in ascending order. Positions that are not finite
    /// touch nothing.
    #[must_use]
    pub fn contacts(&self, positions: &[DVec3], margin: f64) -> Vec<Contact> {
        self.contacts_at(&RigidMotion::IDENTITY, positions, margin)
    }

    /// As [`contacts`](Self::contacts), with the obstacle moved from where it was made.
    #[must_use]
    pub fn contacts_at(&self, motion: &RigidMotion, positions: &[DVec3], margin: f64) -> Vec<Contact> {
        let back = motion.inverse();
        let found = parallel::map(positions.len(), POINTS_PER_TASK, |vertex| {
            let query = back.apply(positions[vertex]);
            let (point, normal, depth) = self.nearest(query, margin)?;
            Some(Contact { vertex: vertex as u32, point: motion.apply(point), normal: motion.rotation * normal, depth })
        });
        found.into_iter().flatten().collect()
    }

    /// Surface point, normal and depth, if the depth is above minus `margin`.
    fn nearest(&self, query: DVec3, margin: f64) -> Option<(DVec3, DVec3, f64)> {
        let near = query.is_finite()
            && query.cmpge(self.bounds.min - DVec3::splat(margin)).all()
            && query.cmple(self.bounds.max + DVec3::splat(margin)).all();
        if !near {
            return None;
        }
        let (point, normal, depth) = match &self.solid {
            Solid::Sphere { center, radius } => beyond_core(query, *center, *radius, DVec3::Y),
            Solid::Capsule { start, end, radius } => {
                let core = *start + (*end - *start) * along(*start, *end, query).clamp(0.0, 1.0);
                beyond_core(query, core, *radius, across(*end - *start))
            }
            Solid::Cylinder { start, end, radius } => nearest_on_cylinder(query, *start, *end, *radius),
            Solid::Mesh(solid) => solid.nearest(query)?,
        };
        (depth > -margin).then_some((point, normal, depth))
    }
}

fn require_solid(what: &'static str, size: f64, points: &[DVec3]) -> Result<(), PhysicsError> {
    let is_good = size > 0.0 && size.is_finite() && points.iter().all(|p| p.is_finite());
    if is_good { Ok(()) } else { Err(PhysicsError::ObstacleSize { what, size }) }
}

/// The box around balls of one radius; a cylinder fits into that of its two ends.
fn around(centers: &[DVec3], radius: f64) -> Bounds {
    let bounds = Bounds::of(centers).expect("the centres are finite");
    Bounds { min: bounds.min - DVec3::splat(radius), max: bounds.max + DVec3::splat(radius) }
}

/// The least extent of points along `normals`, at most about [`MOST_DIRECTIONS`] of them; infinite where all are zero.
fn least_extent(points: &[DVec3], normals: &[DVec3]) -> f64 {
    let extent = |normal: &DVec3| {
        let heights = points.iter().map(|p| p.dot(*normal));
        let (low, high) = heights.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), h| (low.min(h), high.max(h)));
        high - low
    };
    let stride = normals.len().div_ceil(MOST_DIRECTIONS).max(1);
    normals.iter().step_by(stride).filter(|normal| **normal != DVec3::ZERO).map(extent).fold(f64::INFINITY, f64::min)
}

/// The surface at `radius` around the nearest point `core` of a core.
fn beyond_core(query: DVec3, core: DVec3, radius: f64, otherwise: DVec3) -> (DVec3, DVec3, f64) {
    let normal = (query - core).try_normalize().unwrap_or(otherwise);
    (core + normal * radius, normal, radius - query.distance(core))
}

/// Where the foot of `query` lies on a line: zero at `start`, one at `end`.
fn along(start: DVec3, end: DVec3, query: DVec3) -> f64 {
    let axis = end - start;
    let length_squared = axis.length_squared();
    if length_squared > 0.0 { (query - start).dot(axis) / length_squared } else { 0.0 }
}

/// A unit vector across an axis, or any one where there is no axis.
fn across(axis: DVec3) -> DVec3 {
    axis.try_normalize().map_or(DVec3::Y, DVec3::any_orthonormal_vector)
}

fn nearest_on_cylinder(query: DVec3, start: DVec3, end: DVec3, radius: f64) -> (DVec3, DVec3, f64) {
    let (axis, length) = ((end - start).normalize(), start.distance(end));
    let height = (query - start).dot(axis);
    let foot = start + axis * height;
    let (distance, outward) = (query.distance(foot), (query - foot).try_normalize().unwrap_or_else(|| across(axis)));
    let (cap_depth, cap_normal) = if 2.0 * height < length { (height, -axis) } else { (length - height, axis) };
    let side_depth = radius - distance;
    if side_depth >= 0.0 && cap_depth >= 0.0 {
        // Inside, the nearer of the two.
        let (normal, depth) = if side_depth < cap_depth { (outward, side_depth) } else { (cap_normal, cap_depth) };
        return (query + normal * depth, normal, depth);
    }
    let point = start + axis * height.clamp(0.0, length) + outward * distance.min(radius);
    let normal = (query - point).try_normalize().unwrap_or(if side_depth < 0.0 { outward } else { cap_normal });
    (point, normal, -query.distance(point))
}

impl MeshSolid {
    fn nearest(&self, query: DVec3) -> Option<(DVec3, DVec3, f64)> {
        let closest = self.index.closest_point(query)?;
        let inside = self.outward * self.winding.winding_number(query) > 0.5;
        let side = if inside { 1.0 } else { -1.0 };
        let normal = if closest.distance > self.on_surface {
            (closest.point - query) * (side / closest.distance)
        } else {
            self.normals[closest.place.triangle as usize]
        };
        Some((closest.point, normal, side * closest.distance))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_solids::bar;
    use pliant_mesh::glam::DQuat;
    use pliant_mesh::shapes::{bumpy_sheet, icosphere};

    fn grid(low: f64, high: f64, count: usize) -> Vec<DVec3> {
        let at = |k: usize| low + (high - low) * (k as f64 + 0.37) / count as f64;
        (0..count.pow(3)).map(|k| DVec3::new(at(k % count), at(k / count % count), at(k / count / count))).collect()
    }

    /// Every contact's point lies on the surface, straight above the vertex, and moving there leaves no depth.
    fn assert_consistent(obstacle: &Obstacle, tolerance: f64) {
        let bounds = obstacle.bounds();
        let positions: Vec<DVec3> = grid(-0.2, 1.2, 12).into_iter().map(|p| bounds.min + p * bounds.size()).collect();
        let contacts = obstacle.contacts(&positions, f64::MAX.sqrt());
        assert_eq!(contacts.len(), positions.len());
        assert!(contacts.iter().any(|c| c.depth > 0.0) && contacts.iter().any(|c| c.depth < 0.0));
        for contact in contacts {
            let position = positions[contact.vertex as usize];
            assert!((contact.normal.length() - 1.0).abs() < 1e-9);
            assert!((position + contact.normal * contact.depth).distance(contact.point) < tolerance);
            let there = obstacle.contacts(&[contact.point], 1.0);
            assert!(there[0].depth.abs() < tolerance, "{} left", there[0].depth);
        }
    }

    #[test]
    fn a_plate_is_as_thin_however_it_is_turned() {
        let bar = bar(2);
        for turn in [DQuat::IDENTITY, DQuat::from_rotation_x(0.8) * DQuat::from_rotation_y(0.7)] {
            let points = bar.positions().iter().map(|p| turn * (*p * DVec3::new(1.0, 3.0, 0.1))).collect();
            let plate = Obstacle::mesh(&bar.posed(points).unwrap()).unwrap();
            assert!((plate.thickness() - 0.1).abs() < 1e-12, "{}", plate.thickness());
        }
    }

    #[test]
    fn moving_a_vertex_along_its_normal_by_its_depth_brings_it_to_the_surface() {
        let (a, b) = (DVec3::new(0.3, -0.2, 0.1), DVec3::new(1.5, 0.8, -0.4));
        assert_consistent(&Obstacle::sphere(a, 0.7).unwrap(), 1e-12);
        assert_consistent(&Obstacle::capsule(a, b, 0.3).unwrap(), 1e-12);
        assert_consistent(&Obstacle::cylinder(a, b, 0.3).unwrap(), 1e-12);
        assert_consistent(&Obstacle::mesh(&icosphere(3)).unwrap(), 1e-9);
        assert_consistent(&Obstacle::mesh(&bar(3)).unwrap(), 1e-9);
    }

    #[test]
    fn a_box_has_the_depth_of_its_closed_form() {
        let obstacle = Obstacle::mesh(&bar(4)).unwrap();
        let positions: Vec<DVec3> = grid(-0.45, 0.45, 8).into_iter().map(|p| p + DVec3::X * 2.0).collect();
        for contact in obstacle.contacts(&positions, 0.0) {
            let p = positions[contact.vertex as usize];
            let expected = 0.5 - p.y.abs().max(p.z.abs());
            assert!((contact.depth - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn a_mesh_of_a_ball_agrees_with_the_ball() {
        let (mesh, ball) = (Obstacle::mesh(&icosphere(5)).unwrap(), Obstacle::sphere(DVec3::ZERO, 1.0).unwrap());
        let positions: Vec<DVec3> = grid(-1.1, 1.1, 10);
        let (found, expected) = (mesh.contacts(&positions, 0.05), ball.contacts(&positions, 0.05));
        let vertices = |contacts: &[Contact]| contacts.iter().filter(|c| c.depth.abs() < 0.04).map(|c| c.vertex).collect::<Vec<_>>();
        assert_eq!(vertices(&found), vertices(&expected));
        for (a, b) in found.iter().zip(&expected).filter(|(_, b)| b.depth < 0.8) {
            assert!((a.depth - b.depth).abs() < 1e-3 && a.normal.dot(b.normal) > 0.99);
        }
    }

    #[test]
    fn a_mesh_that_looks_inward_is_the_same_obstacle() {
        let sphere = icosphere(2);
        let turned: Vec<[u32; 3]> = sphere.triangles().iter().map(|&[a, b, c]| [a, c, b]).collect();
        let turned = Mesh::from_triangles(sphere.positions().to_vec(), &turned).unwrap();
        let positions = grid(-0.9, 0.9, 6);
        let contacts = |mesh: &Mesh| Obstacle::mesh(mesh).unwrap().contacts(&positions, 0.1);
        let (outward, inward) = (contacts(&sphere), contacts(&turned));
        assert_eq!(outward.len(), inward.len());
        for (a, b) in outward.iter().zip(&inward) {
            assert!(a.vertex == b.vertex && (a.depth - b.depth).abs() < 1e-12);
        }
    }

    #[test]
    fn an_obstacle_that_moved_meets_moved_vertices_as_before() {
        let obstacle = Obstacle::mesh(&bar(2)).unwrap();
        let motion = RigidMotion { rotation: DQuat::from_rotation_y(1.1), translation: DVec3::new(3.0, -1.0, 0.5) };
        let positions: Vec<DVec3> = grid(-1.0, 1.0, 6);
        let moved: Vec<DVec3> = positions.iter().map(|&p| motion.apply(p)).collect();
        let (still, carried) = (obstacle.contacts(&positions, 0.2), obstacle.contacts_at(&motion, &moved, 0.2));
        assert_eq!(still.len(), carried.len());
        for (a, b) in still.iter().zip(&carried) {
            // Points between two faces may choose either; how deep they are does not change.
            assert!(a.vertex == b.vertex && (a.depth - b.depth).abs() < 1e-9);
            assert!(motion.inverse().apply(b.point).distance(positions[b.vertex as usize]) < a.depth.abs() + 1e-9);
        }
    }

    #[test]
    fn an_open_mesh_is_declined_and_the_hole_is_named() {
        let error = Obstacle::mesh(&bumpy_sheet(3, 0.1)).unwrap_err();
        assert!(matches!(error, PhysicsError::OpenObstacle { holes: 1, edges: 12, .. }), "{error}");
        for radius in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Obstacle::sphere(DVec3::ZERO, radius).is_err());
        }
        assert!(Obstacle::cylinder(DVec3::ONE, DVec3::ONE, 1.0).is_err());
        assert!(Obstacle::sphere(DVec3::NAN, 1.0).is_err());
    }

    #[test]
    fn what_is_not_finite_touches_nothing() {
        let obstacle = Obstacle::sphere(DVec3::ZERO, 1.0).unwrap();
        assert!(obstacle.contacts(&[DVec3::NAN, DVec3::INFINITY], 1.0).is_empty());
    }

    #[test]
    fn the_middle_of_a_solid_has_a_way_out() {
        for obstacle in [
            Obstacle::sphere(DVec3::ZERO, 1.0),
            Obstacle::capsule(-DVec3::X, DVec3::X, 1.0),
            Obstacle::capsule(DVec3::ZERO, DVec3::ZERO, 1.0),
        ] {
            let contact = obstacle.unwrap().contacts(&[DVec3::ZERO], 0.0)[0];
            assert!((contact.depth - 1.0).abs() < 1e-12 && (contact.point.length() - 1.0).abs() < 1e-12);
        }
    }
}
