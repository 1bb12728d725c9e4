//! Obstacles: solids with a signed distance, for penetration depth and nearest surface point.
//!
//! - [`convex`]: balls, capsules, cylinders and boxes in closed form.
//! - [`mesh_solid`]: the inside of a closed triangle mesh.
//! - [`clearance`]: a grid of lower bounds on the distance from a mesh.
//! - [`deepest_point`]: the deepest point of a triangle.
//!
//! **Problem.** In every step of a blend some vertices are inside an obstacle; each needs the
//! nearest point of the obstacle's surface and the outward normal there. A vertex that passed
//! through a thin obstacle in a single step needs its point of entry.
//!
//! **Equation.** With the signed distance `d` of the obstacle, negative inside, a vertex `x` has
//! the depth `−d(x)`, the normal `n = ∇d(x)` and the surface point `x − d(x) n`.
//!
//! **Source.** Ma et al. 2012, section 4; Ericson, "Real-Time Collision Detection", 2005, section
//! 5.1, for the solids in closed form.
//!
//! **Departures.** Search trees over the obstacle only: vertices are points, and a test with the
//! bounds culls them. Where the nearest point is not unique (the centre of a sphere, the axis of a
//! capsule) always the same one is taken. An obstacle may move rigidly; queries are answered in its
//! own frame.

mod clearance;
mod convex;
mod deepest_point;
mod mesh_solid;

use pliant_linalg::{RigidMotion, parallel};
use pliant_mesh::glam::{DQuat, DVec3};
use pliant_mesh::{Bounds, Mesh, VertexId};

use crate::PhysicsError;
use convex::ConvexSolid;
use mesh_solid::MeshSolid;

/// Points in one parallel task.
const POINTS_PER_TASK: usize = 256;

/// A distance below this share of the obstacle's diagonal counts as zero.
const ON_SURFACE: f64 = 1e-9;

/// A vertex inside an obstacle, or near it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contact {
    /// The vertex.
    pub vertex: VertexId,
    /// The nearest point of the obstacle's surface.
    pub point: DVec3,
    /// The unit normal there, out of the obstacle.
    pub normal: DVec3,
    /// How deep the vertex is inside; negative outside.
    pub depth: f64,
}

/// The nearest surface point of a query, in the frame of the obstacle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct NearestSurface {
    /// The nearest point of the surface.
    pub(crate) point: DVec3,
    /// The unit normal there, out of the obstacle.
    pub(crate) normal: DVec3,
    /// How deep the point is inside; negative outside.
    pub(crate) depth: f64,
}

/// A closed solid.
#[derive(Debug, Clone)]
pub struct Obstacle {
    solid: Solid,
    bounds: Bounds,
}

#[derive(Debug, Clone)]
enum Solid {
    ConvexSolid(ConvexSolid),
    Mesh(Box<MeshSolid>),
}

impl Obstacle {
    /// A ball.
    ///
    /// # Errors
    /// [`PhysicsError::ObstacleSize`] unless the radius is positive and all numbers are finite.
    pub fn sphere(center: DVec3, radius: f64) -> Result<Self, PhysicsError> {
        require_solid("sphere", radius, &[center])?;
        Ok(Self::convex(ConvexSolid::Capsule {
            start: center,
            end: center,
            radius,
        }))
    }

    /// All points no further than `radius` from the segment between two points.
    ///
    /// # Errors
    /// As [`sphere`](Self::sphere).
    pub fn capsule(start: DVec3, end: DVec3, radius: f64) -> Result<Self, PhysicsError> {
        require_solid("capsule", radius, &[start, end])?;
        Ok(Self::convex(ConvexSolid::Capsule { start, end, radius }))
    }

    /// A round bar between the centres of its two flat ends.
    ///
    /// # Errors
    /// As [`sphere`](Self::sphere), and if the ends coincide.
    pub fn cylinder(start: DVec3, end: DVec3, radius: f64) -> Result<Self, PhysicsError> {
        require_solid("cylinder", radius, &[start, end])?;
        require_solid("cylinder", start.distance(end), &[])?;
        Ok(Self::convex(ConvexSolid::Cylinder { start, end, radius }))
    }

    /// A box around `center` with `half_extents` along its own axes, which `rotation` rotates; the
    /// quaternion may have any length but zero.
    ///
    /// # Errors
    /// As [`sphere`](Self::sphere).
    pub fn cuboid(
        center: DVec3,
        half_extents: DVec3,
        rotation: DQuat,
    ) -> Result<Self, PhysicsError> {
        let rotation = rotation.normalize();
        require_solid(
            "box",
            2.0 * half_extents.min_element(),
            &[center, half_extents, rotation.xyz()],
        )?;

        Ok(Self::convex(ConvexSolid::Cuboid {
            center,
            half_extents,
            rotation,
        }))
    }

    /// The inside of a closed surface, for either orientation of its triangles.
    ///
    /// # Errors
    /// [`PhysicsError::OpenObstacle`] if an edge has only one triangle; a mesh without triangles or
    /// with positions that are not finite.
    pub fn mesh(mesh: &Mesh) -> Result<Self, PhysicsError> {
        let solid = MeshSolid::new(mesh)?;
        let bounds = mesh.bounds().expect("a mesh with triangles has vertices");
        Ok(Self {
            solid: Solid::Mesh(Box::new(solid)),
            bounds,
        })
    }

    fn convex(solid: ConvexSolid) -> Self {
        Self {
            bounds: solid.bounds(),
            solid: Solid::ConvexSolid(solid),
        }
    }

    /// The axis-aligned bounds of the obstacle.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// The least extent of the solid, for a mesh along the normals of its triangles; about the
    /// distance of opposite sides where it is convex.
    pub(crate) fn thickness(&self) -> f64 {
        match &self.solid {
            Solid::ConvexSolid(solid) => solid.thickness(),
            Solid::Mesh(solid) => solid.thickness(),
        }
    }

    pub(crate) fn is_mesh(&self) -> bool {
        matches!(self.solid, Solid::Mesh(_))
    }

    /// The vertices that are inside, or outside by less than `margin`, in ascending order.
    /// Positions that are not finite have no contact.
    #[must_use]
    pub fn contacts(&self, positions: &[DVec3], margin: f64) -> Vec<Contact> {
        self.contacts_at(&RigidMotion::IDENTITY, positions, margin)
    }

    /// As [`contacts`](Self::contacts), with the obstacle moved by `motion`.
    #[must_use]
    pub fn contacts_at(
        &self,
        motion: &RigidMotion,
        positions: &[DVec3],
        margin: f64,
    ) -> Vec<Contact> {
        let back = motion.inverse();

        // Queries in the frame of the obstacle, answers in world coordinates.
        let found = parallel::map(positions.len(), POINTS_PER_TASK, |vertex| {
            let query = back.apply(positions[vertex]);
            let NearestSurface {
                point,
                normal,
                depth,
            } = self.nearest(query, margin)?;

            Some(Contact {
                vertex: vertex.into(),
                point: motion.apply(point),
                normal: motion.rotation * normal,
                depth,
            })
        });

        found.into_iter().flatten().collect()
    }

    /// The nearest surface point of `query`, in the frame of the obstacle, if it is inside or
    /// outside by less than `margin`.
    pub(crate) fn nearest(&self, query: DVec3, margin: f64) -> Option<NearestSurface> {
        let Bounds { min, max } = self.bounds;

        // Written so that a query that is NaN is near nothing.
        if !(query.cmpge(min - DVec3::splat(margin)).all()
            && query.cmple(max + DVec3::splat(margin)).all()
            && query.is_finite())
        {
            return None;
        }

        let nearest = match &self.solid {
            Solid::ConvexSolid(solid) => solid.nearest(query),
            Solid::Mesh(solid) => solid.nearest(query, margin)?,
        };

        (nearest.depth > -margin).then_some(nearest)
    }

    /// The first entry of a segment in the frame of the obstacle, and the outward unit normal
    /// there; `None` if the segment starts inside or does not enter. A segment that starts on the
    /// surface and leads inwards enters at once.
    pub(crate) fn entry(&self, from: DVec3, to: DVec3) -> Option<(DVec3, DVec3)> {
        let Bounds { min, max } = self.bounds;
        if !(from.min(to).cmple(max).all()
            && from.max(to).cmpge(min).all()
            && from.is_finite()
            && to.is_finite())
        {
            return None;
        }

        match &self.solid {
            Solid::ConvexSolid(solid) => solid.entry(from, to, ON_SURFACE * self.bounds.diagonal()),
            Solid::Mesh(solid) => solid.entry(from, to),
        }
    }
}

fn require_solid(what: &'static str, size: f64, points: &[DVec3]) -> Result<(), PhysicsError> {
    let is_good = size > 0.0 && size.is_finite() && points.iter().all(|p| p.is_finite());
    if is_good {
        Ok(())
    } else {
        Err(PhysicsError::ObstacleSize { what, size })
    }
}

#[cfg(test)]
mod tests;
