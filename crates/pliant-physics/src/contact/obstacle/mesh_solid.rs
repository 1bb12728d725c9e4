//! Signed distance of a closed triangle mesh.
//!
//! **Problem.** The depth of thousands of points inside a triangle mesh, in each of many steps.
//!
//! **Equation.** A point `x` whose nearest surface point is `p` is inside if the surface winds
//! around it. Where the surface bounds one solid without defects, that is also the sign of
//!
//! ```text
//! (p − x) · n,    n = Σₜ αₜ nₜ
//! ```
//!
//! with the normals of the triangles that meet in `p`, weighted by their angles there: one
//! triangle, the two of an edge, or all around a vertex.
//!
//! **Source.** Bærentzen and Aanæs, "Signed distance computation using the angle weighted
//! pseudonormal", IEEE TVCG 11(3), 2005; otherwise Jacobson, Kavan, Sorkine-Hornung, "Robust
//! inside-outside segmentation using generalized winding numbers", 2013.
//!
//! **Departures.** The sign of the normal is used where it is equivalent to the winding number: a
//! single closed manifold with consistent orientation, without degenerate triangles and
//! self-intersections.

use pliant_mesh::glam::DVec3;
use pliant_mesh::{ClosestPoint, Mesh, MeshReport, SurfaceIndex, WindingTree, triangle_normal};

use super::clearance::Clearance;
use super::{NearestSurface, ON_SURFACE};
use crate::PhysicsError;

/// Directions along which the extent of a mesh is measured. Chosen so that large meshes cost no
/// more than their search trees.
const MOST_DIRECTIONS: usize = 256;

/// A closed mesh with its search structures.
#[derive(Debug, Clone)]
pub(super) struct MeshSolid {
    index: SurfaceIndex,
    /// Unit normals of the triangles, out of the solid.
    normals: Vec<DVec3>,
    side: InsideTest,
    on_surface: f64,
    thickness: f64,
    clearance: Clearance,
}

/// The test for the inside.
#[derive(Debug, Clone)]
enum InsideTest {
    Normals(Box<FeatureNormals>),
    /// With minus one where the triangles face inward.
    Winding(WindingTree, f64),
}

/// Outward normals of vertices and edges, of any length.
#[derive(Debug, Clone)]
struct FeatureNormals {
    /// The corners of each triangle, and its edges from each corner to the next.
    features: Vec<([u32; 3], [u32; 3])>,
    edges: Vec<DVec3>,
    vertices: Vec<DVec3>,
}

impl MeshSolid {
    pub(super) fn new(mesh: &Mesh) -> Result<Self, PhysicsError> {
        let index = SurfaceIndex::new(mesh)?;
        let loops = mesh.topology().boundary_loops();
        if let Some(first) = loops.first() {
            let edges = loops.iter().map(Vec::len).sum();
            return Err(PhysicsError::OpenObstacle {
                holes: loops.len(),
                edges,
                vertex: first[0] as usize,
            });
        }

        let bounds = mesh.bounds().expect("a mesh with triangles has vertices");

        // Triangles may face either way.
        let outward = if mesh.signed_volume() < 0.0 {
            -1.0
        } else {
            1.0
        };

        let normals: Vec<DVec3> = (0..mesh.triangles().len())
            .map(|t| triangle_normal(mesh.triangle_points(t)) * outward)
            .collect();
        let thickness = least_extent(mesh.positions(), &normals).min(bounds.size().min_element());
        let side = if bounds_one_solid(mesh) {
            InsideTest::Normals(Box::new(FeatureNormals::new(mesh, &normals)))
        } else {
            InsideTest::Winding(WindingTree::new(mesh)?, outward)
        };

        let mut solid = Self {
            index,
            normals,
            side,
            on_surface: ON_SURFACE * bounds.diagonal(),
            thickness,
            clearance: Clearance::none(),
        };

        solid.clearance = Clearance::new(bounds, |place| {
            solid
                .nearest_anywhere(place)
                .map_or(0.0, |nearest| -nearest.depth)
        });

        Ok(solid)
    }

    pub(super) fn thickness(&self) -> f64 {
        self.thickness
    }

    /// The nearest surface point of `query`; possibly `None` where it is outside by more than
    /// `margin`.
    pub(super) fn nearest(&self, query: DVec3, margin: f64) -> Option<NearestSurface> {
        if self.clearance.at(query) > margin {
            return None;
        }
        self.nearest_anywhere(query)
    }

    fn nearest_anywhere(&self, query: DVec3) -> Option<NearestSurface> {
        let closest = self.index.closest_point(query)?;
        let side = if self.is_inside(query, &closest) {
            1.0
        } else {
            -1.0
        };

        // On the surface the direction to the nearest point is rounding noise.
        let normal = if closest.distance > self.on_surface {
            (closest.point - query) * (side / closest.distance)
        } else {
            self.normals[closest.place.triangle as usize]
        };

        Some(NearestSurface {
            point: closest.point,
            normal,
            depth: side * closest.distance,
        })
    }

    fn is_inside(&self, query: DVec3, closest: &ClosestPoint) -> bool {
        match &self.side {
            InsideTest::Normals(features) => {
                features
                    .at(closest, &self.normals)
                    .dot(closest.point - query)
                    > 0.0
            }
            InsideTest::Winding(tree, outward) => outward * tree.winding_number(query) > 0.5,
        }
    }

    /// The first entry of a segment, and the normal there.
    pub(super) fn entry(&self, from: DVec3, to: DVec3) -> Option<(DVec3, DVec3)> {
        let segment = to - from;
        let direction = segment.try_normalize()?;

        // A little earlier, so that a segment that starts on the surface meets it.
        let origin = from - direction * (2.0 * self.on_surface);
        let enters = |t: u32| self.normals[t as usize].dot(direction) < 0.0;
        let hit = self.index.cast_ray_where(
            origin,
            direction,
            segment.length() + 2.0 * self.on_surface,
            enters,
        )?;

        let starts_inside = self
            .nearest(from, 0.0)
            .is_some_and(|nearest| nearest.depth > self.on_surface);

        (!starts_inside).then(|| {
            (
                origin + direction * hit.distance,
                self.normals[hit.place.triangle as usize],
            )
        })
    }
}

/// Whether a closed surface is the boundary of one solid without self-intersections.
fn bounds_one_solid(mesh: &Mesh) -> bool {
    let health = MeshReport::of(mesh);
    let is_manifold = health.components == 1
        && health.non_manifold_edges == 0
        && health.non_manifold_vertices == 0;
    let is_oriented = health.flipped_edges == 0 && health.degenerate_triangles == 0;

    is_manifold
        && is_oriented
        && mesh
            .self_intersections()
            .is_ok_and(|pairs| pairs.is_empty())
}

/// The least extent of points along `normals`, at most about [`MOST_DIRECTIONS`] of them; infinite
/// where all are zero.
fn least_extent(points: &[DVec3], normals: &[DVec3]) -> f64 {
    let extent = |normal: &DVec3| {
        let heights = points.iter().map(|p| p.dot(*normal));
        let (low, high) = heights.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), h| {
            (low.min(h), high.max(h))
        });
        high - low
    };

    let stride = normals.len().div_ceil(MOST_DIRECTIONS).max(1);
    normals
        .iter()
        .step_by(stride)
        .filter(|normal| **normal != DVec3::ZERO)
        .map(extent)
        .fold(f64::INFINITY, f64::min)
}

impl FeatureNormals {
    fn new(mesh: &Mesh, normals: &[DVec3]) -> Self {
        let topology = mesh.topology();

        // Angle-weighted normals of vertices, plain sums at edges.
        let mut vertices = vec![DVec3::ZERO; mesh.vertex_count()];
        for (t, corners) in mesh.triangles().iter().enumerate() {
            let points = mesh.triangle_points(t);
            for k in 0..3 {
                let angle = (points[(k + 1) % 3] - points[k])
                    .angle_between(points[(k + 2) % 3] - points[k]);
                vertices[corners[k] as usize] += normals[t] * angle;
            }
        }

        let edges = topology
            .edge_triangles()
            .iter()
            .map(|around| around.iter().map(|&t| normals[t as usize]).sum())
            .collect();

        let features = mesh
            .triangles()
            .iter()
            .copied()
            .zip(topology.triangle_edges().iter().copied())
            .collect();

        Self {
            features,
            edges,
            vertices,
        }
    }

    /// The normal of the triangle, edge or vertex that a nearest point lies on; points on edges and
    /// vertices have barycentric coordinates of exactly zero.
    fn at(&self, closest: &ClosestPoint, normals: &[DVec3]) -> DVec3 {
        let triangle = closest.place.triangle as usize;
        let (corners, edges) = self.features[triangle];
        match closest.place.barycentric.map(|weight| weight > 0.0) {
            [true, true, true] => normals[triangle],
            [true, true, false] => self.edges[edges[0] as usize],
            [false, true, true] => self.edges[edges[1] as usize],
            [true, false, true] => self.edges[edges[2] as usize],
            [true, false, false] => self.vertices[corners[0] as usize],
            [false, true, false] => self.vertices[corners[1] as usize],
            [false, false, _] => self.vertices[corners[2] as usize],
        }
    }
}
