//! Attractions of a registration: points of the source that are drawn to points of the target.
//!
//! **Equation.** The second, third and fourth sums of the [registration](super): closest points of
//! the target, of the source, and markers.

use pliant_linalg::parallel;
use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, SurfaceIndex, triangle_normals, vertex_normals};

use super::RegistrationOptions;
use crate::TransferError;
use crate::correspondence::boundary::Boundary;
use crate::extent::{size, vertex_areas};

/// Vertices in one parallel task.
const VERTICES_PER_TASK: usize = 128;

/// Closest points farther than this share of the target's size do not attract: without a bound, a
/// search for a triangle that faces the same direction may visit the whole surface.
const REACH: f64 = 0.3;

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
    boundary: Boundary<'a>,
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
            boundary: Boundary::of(target),
            size: size(target),
        })
    }

    /// The distance beyond which nothing attracts.
    fn reach(&self) -> f64 {
        REACH * self.size
    }

    /// Draws each `stride`-th vertex of the source to the closest point of the target that faces the
    /// same direction. `boundary` is that of the source.
    pub(super) fn attract_source_vertices(
        &self,
        moved: &Mesh,
        masses: &[f64],
        boundary: &Boundary<'_>,
        stride: usize,
        options: &RegistrationOptions,
    ) -> Vec<Attraction> {
        let normals = vertex_normals(moved);

        let count = moved.vertex_count().div_ceil(stride);
        let found = parallel::map(count, VERTICES_PER_TASK, |k| {
            let i = k * stride;
            // A vertex without faces has no normal, and a search would visit the whole target.
            if normals[i] == DVec3::ZERO {
                return None;
            }

            let x = moved.positions()[i];
            let closest = self.index.closest_point_within(x, self.reach(), |t| {
                self.normals[t as usize].dot(normals[i]) >= options.facing
            })?;
            // Over a hole the closest points concentrate at its boundary.
            if options.gaps && self.boundary.holds(&closest.place) && !boundary.has_vertex(i) {
                return None;
            }

            // Between point to point (0) and point to plane (1).
            let normal = self.normals[closest.place.triangle as usize];
            let on_plane = x - normal * normal.dot(x - closest.point);
            let goal = closest.point.lerp(on_plane, options.sliding);
            Some(Attraction::of_vertex(i, goal, masses[i] * stride as f64))
        });
        found.into_iter().flatten().collect()
    }

    /// Draws to each `stride`-th vertex of the target the closest point of the source that faces the same
    /// direction.
    pub(super) fn attract_to_target_vertices(
        &self,
        moved: &Mesh,
        boundary: &Boundary<'_>,
        stride: usize,
        options: &RegistrationOptions,
    ) -> Result<Vec<Attraction>, TransferError> {
        let index = SurfaceIndex::new(moved)?;
        let normals = triangle_normals(moved);

        let count = self.target.vertex_count().div_ceil(stride);
        let found = parallel::map(count, VERTICES_PER_TASK, |k| {
            let j = k * stride;
            if self.vertex_normals[j] == DVec3::ZERO {
                return None;
            }

            let y = self.target.positions()[j];
            let closest = index.closest_point_within(y, self.reach(), |t| {
                normals[t as usize].dot(self.vertex_normals[j]) >= options.facing
            })?;

            // Beyond the boundary of the source the target has no counterpart.
            if boundary.holds(&closest.place) && !self.boundary.has_vertex(j) {
                return None;
            }

            // Here the target vertex slides along the plane of the source.
            let normal = normals[closest.place.triangle as usize];
            let on_plane = closest.point + normal * normal.dot(y - closest.point);
            Some(Attraction {
                corners: moved.triangles()[closest.place.triangle as usize],
                barycentric: closest.place.barycentric,
                goal: y.lerp(on_plane, options.sliding),
                weight: options.from_target * self.vertex_masses[j] * stride as f64,
            })
        });
        Ok(found.into_iter().flatten().collect())
    }
}
