//! Attractions of a registration: points of the source that are drawn to points of the target.
//!
//! **Equation.** The second, third and fourth sums of the [registration](super): closest points of
//! the target, of the source, and markers.

use pliant_linalg::parallel;
use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, SurfaceIndex, TrianglePoint, triangle_normals, vertex_normals};

use super::RegistrationOptions;
use crate::TransferError;
use crate::extent::{size, vertex_areas};

/// Vertices in one parallel task.
const VERTICES_PER_TASK: usize = 128;

/// A point of the source, given by barycentric coordinates, with a goal and a weight.
pub(super) struct Attraction {
    pub(super) corners: [u32; 3],
    pub(super) barycentric: [f64; 3],
    pub(super) goal: DVec3,
    pub(super) weight: f64,
}

impl Attraction {
    pub(super) fn of_vertex(vertex: usize, goal: DVec3, weight: f64) -> Self {
        Self {
            corners: [vertex as u32; 3],
            barycentric: [1.0, 0.0, 0.0],
            goal,
            weight,
        }
    }

    /// The corners with a coefficient other than zero.
    pub(super) fn terms(&self) -> impl Iterator<Item = (usize, f64)> {
        self.corners
            .iter()
            .zip(&self.barycentric)
            .filter(|(_, coefficient)| **coefficient != 0.0)
            .map(|(&vertex, &coefficient)| (vertex as usize, coefficient))
    }
}

/// The target of a registration.
pub(super) struct TargetSurface<'a> {
    target: &'a Mesh,
    index: SurfaceIndex,
    normals: Vec<DVec3>,
    vertex_normals: Vec<DVec3>,
    /// Areas of the vertices over the mean area of a source vertex.
    vertex_masses: Vec<f64>,
    on_boundary: Vec<bool>,
    pub(super) size: f64,
}

impl<'a> TargetSurface<'a> {
    /// `mean_area` is that of a source vertex.
    pub(super) fn new(target: &'a Mesh, mean_area: f64) -> Result<Self, TransferError> {
        let mut vertex_masses = vertex_areas(target);
        for mass in &mut vertex_masses {
            *mass /= mean_area;
        }

        Ok(Self {
            target,
            index: SurfaceIndex::new(target)?,
            normals: triangle_normals(target),
            vertex_normals: vertex_normals(target),
            vertex_masses,
            on_boundary: boundary_vertices(target),
            size: size(target),
        })
    }

    /// Draws each vertex of the source to the closest point of the target that faces the same
    /// direction.
    pub(super) fn attract_source_vertices(
        &self,
        moved: &Mesh,
        masses: &[f64],
        options: &RegistrationOptions,
    ) -> Vec<Attraction> {
        let normals = vertex_normals(moved);
        let on_boundary = if options.gaps {
            boundary_vertices(moved)
        } else {
            Vec::new()
        };

        let found = parallel::map(moved.vertex_count(), VERTICES_PER_TASK, |i| {
            // A vertex without faces has no normal, and a search would visit the whole target.
            if normals[i] == DVec3::ZERO {
                return None;
            }

            let x = moved.positions()[i];
            let closest = self.index.closest_point_where(x, |t| {
                self.normals[t as usize].dot(normals[i]) >= options.facing
            })?;
            // Over a hole the closest points concentrate at its boundary.
            if options.gaps && self.is_on_boundary(&closest.place) && !on_boundary[i] {
                return None;
            }

            // Between point to point (0) and point to plane (1).
            let normal = self.normals[closest.place.triangle as usize];
            let on_plane = x - normal * normal.dot(x - closest.point);
            let goal = closest.point.lerp(on_plane, options.sliding);
            Some(Attraction::of_vertex(i, goal, masses[i]))
        });
        found.into_iter().flatten().collect()
    }

    /// Draws to each vertex of the target the closest point of the source that faces the same
    /// direction.
    pub(super) fn attract_to_target_vertices(
        &self,
        moved: &Mesh,
        options: &RegistrationOptions,
    ) -> Result<Vec<Attraction>, TransferError> {
        let index = SurfaceIndex::new(moved)?;
        let normals = triangle_normals(moved);

        let found = parallel::map(self.target.vertex_count(), VERTICES_PER_TASK, |j| {
            if self.vertex_normals[j] == DVec3::ZERO {
                return None;
            }

            let y = self.target.positions()[j];
            let closest = index.closest_point_where(y, |t| {
                normals[t as usize].dot(self.vertex_normals[j]) >= options.facing
            })?;

            // Here the target vertex slides along the plane of the source.
            let normal = normals[closest.place.triangle as usize];
            let on_plane = closest.point + normal * normal.dot(y - closest.point);
            Some(Attraction {
                corners: moved.triangles()[closest.place.triangle as usize],
                barycentric: closest.place.barycentric,
                goal: y.lerp(on_plane, options.sliding),
                weight: options.from_target * self.vertex_masses[j],
            })
        });
        Ok(found.into_iter().flatten().collect())
    }

    /// Whether a point is on a boundary edge of the target, or on a vertex of one.
    fn is_on_boundary(&self, point: &TrianglePoint) -> bool {
        let corners = self.target.triangles()[point.triangle as usize];
        let touched: Vec<u32> = (0..3)
            .filter(|&k| point.barycentric[k] > 0.0)
            .map(|k| corners[k])
            .collect();

        // One corner: on a vertex; two corners: on an edge; three: inside the triangle.
        let topology = self.target.topology();
        match touched[..] {
            [v] => self.on_boundary[v as usize],
            [a, b] => topology
                .edge_between(a, b)
                .is_some_and(|edge| topology.is_boundary_edge(edge)),
            _ => false,
        }
    }
}

/// For each vertex whether it is on a boundary edge.
fn boundary_vertices(mesh: &Mesh) -> Vec<bool> {
    let topology = mesh.topology();
    let mut on_boundary = vec![false; mesh.vertex_count()];
    for (edge, ends) in topology.edges().iter().enumerate() {
        if topology.is_boundary_edge(edge) {
            on_boundary[ends[0] as usize] = true;
            on_boundary[ends[1] as usize] = true;
        }
    }
    on_boundary
}
