//! Exact geodesic distance on a polyhedron, up to a radius (window propagation).
//!
//! **Problem.** Distances along the surface from a few points to the vertices around them, as
//! exact as rounding allows on any triangulation, at a cost that depends on the disc and not on
//! the mesh.
//!
//! **Equation.** A shortest path is straight where the triangles it crosses are unfolded into
//! the plane, and bends only at sources, at vertices with a total angle above 2π and at reflex
//! corners of a boundary. A *window* is a part of an edge to which all paths unfold to one
//! source `S`: there `d(p) = σ + |S − p|`, `σ` being the length up to the last bend. Windows are
//! carried across triangles in the order of their least distance. A window dies when a vertex
//! `v` of its triangle, at distance `d(v)`, offers each of its paths a shortcut:
//!
//! ```text
//! σ + |S − p| > d(v) + |v − p|      p: the end of the window farther from v on its edge,
//!                                      or, for the corner passed by, the end on the far side
//! ```
//!
//! Of the windows that enter a triangle through one side and see its apex, only the one with
//! the shortest path to the apex has children on both sides of it.
//!
//! **Source.** Chen and Han, "Shortest Paths on a Polyhedron", SoCG 1990 (one angle, one split);
//! Xin and Wang, "Improving Chen and Han's Algorithm on the Discrete Geodesic Problem", ACM TOG
//! 28(4), 2009 (order and filters).
//!
//! **Departures.** A window enters all other triangles of an edge, so that non-manifold edges and
//! inconsistent orientation need no repair; repeated triangles are skipped. Where a path bends,
//! only the shadow behind the vertex is lit. Windows are trimmed to the part that their edge's ends
//! do not reach sooner. Ties within rounding are kept on both sides, and a vertex on the border
//! between two windows is seen by both, so that flat regions have no cracks. On surfaces that lie
//! on each other, with different diagonals and joined edges, all paths tie and the number of
//! windows may become very large; such a query returns an error.

mod bucket_queue;
mod propagation;
#[cfg(test)]
mod tests;
mod unfolding;
mod window;

use std::sync::Arc;

use propagation::{Arrival, Sweep, Wavefront};
use unfolding::{Unfolding, following, preceding};

use crate::{Mesh, MeshError, Progress, SurfacePoint, Topology, TrianglePoint};

/// Vertices within a distance of the sources.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Disc {
    /// The vertices, ascending.
    pub vertices: Vec<u32>,
    /// The distance of each.
    pub distances: Vec<f64>,
}

impl Disc {
    /// The distance of every vertex of a mesh with `vertex_count` of them; infinite outside the
    /// disc.
    ///
    /// # Panics
    /// If the disc holds a vertex beyond `vertex_count`.
    #[must_use]
    pub fn to_dense(&self, vertex_count: usize) -> Vec<f64> {
        let mut dense = vec![f64::INFINITY; vertex_count];
        for (&vertex, &distance) in self.vertices.iter().zip(&self.distances) {
            dense[vertex as usize] = distance;
        }
        dense
    }
}

/// Exact geodesic distances on one pose of a mesh.
///
/// Construction is linear in the size of the mesh, once per pose. The cost of a disc depends on the
/// disc only. A clone shares the geometry, for queries on several threads.
#[derive(Debug, Clone)]
pub struct ExactGeodesics {
    mesh: Mesh,
    unfolding: Arc<Unfolding>,
    front: Wavefront,
}

impl ExactGeodesics {
    /// Lays out every triangle of `mesh`.
    ///
    /// Declines positions that are not finite, a mesh without faces and edges longer than 1e100.
    pub fn new(mesh: &Mesh) -> Result<Self, MeshError> {
        mesh.require_surface()?;
        let unfolding = Unfolding::of(mesh)?;
        let front = Wavefront::new(&unfolding, mesh.vertex_count());
        Ok(Self {
            mesh: mesh.clone(),
            unfolding: Arc::new(unfolding),
            front,
        })
    }

    /// All vertices no farther than `radius` from the nearest source, which may be infinite.
    pub fn disc(&mut self, sources: &[SurfacePoint], radius: f64) -> Result<Disc, MeshError> {
        self.disc_with_progress(sources, radius, &())
    }

    /// As [`disc`](Self::disc), with progress.
    ///
    /// # Errors
    /// As [`disc`](Self::disc), and [`MeshError::Stopped`] if `progress` asks for it.
    pub fn disc_with_progress(
        &mut self,
        sources: &[SurfacePoint],
        radius: f64,
        progress: &dyn Progress,
    ) -> Result<Disc, MeshError> {
        if radius.is_nan() || radius < 0.0 {
            return Err(MeshError::BadNumber {
                what: "the radius",
                value: radius,
                needed: "zero or more",
            });
        }

        self.sweep(sources, radius, progress)?;

        // The sweep may pass the radius by rounding, so that each distance is compared again.
        let mut vertices: Vec<u32> = self
            .front
            .reached()
            .iter()
            .copied()
            .filter(|&v| self.front.distance(v) <= radius)
            .collect();
        vertices.sort_unstable();
        let distances = vertices.iter().map(|&v| self.front.distance(v)).collect();

        self.front.clear();

        Ok(Disc {
            vertices,
            distances,
        })
    }

    /// The distance of every vertex from the nearest source; infinite where no path leads.
    pub fn distances(&mut self, sources: &[SurfacePoint]) -> Result<Vec<f64>, MeshError> {
        self.distances_with_progress(sources, &())
    }

    /// As [`distances`](Self::distances), with progress.
    ///
    /// # Errors
    /// As [`distances`](Self::distances), and [`MeshError::Stopped`] if `progress` asks for it.
    pub fn distances_with_progress(
        &mut self,
        sources: &[SurfacePoint],
        progress: &dyn Progress,
    ) -> Result<Vec<f64>, MeshError> {
        self.sweep(sources, f64::INFINITY, progress)?;
        let distances = (0..self.mesh.vertex_count() as u32)
            .map(|v| self.front.distance(v))
            .collect();
        self.front.clear();
        Ok(distances)
    }

    fn sweep(
        &mut self,
        sources: &[SurfacePoint],
        radius: f64,
        progress: &dyn Progress,
    ) -> Result<(), MeshError> {
        if sources.is_empty() {
            return Err(MeshError::NoSource);
        }

        sources
            .iter()
            .try_for_each(|source| source.check(&self.mesh))?;

        // The order of the queue is subject to rounding, so that the sweep goes a little further;
        // the caller drops vertices beyond the radius.
        let limit = radius * (1.0 + 1e-12);
        let topology = self.mesh.topology();
        let mut sweep = Sweep {
            unfolding: &self.unfolding,
            topology,
            front: &mut self.front,
            limit,
        };

        for source in sources {
            match *source {
                SurfacePoint::Vertex(vertex) => sweep.add_source(vertex, 0.0),
                SurfacePoint::InTriangle(TrianglePoint {
                    triangle,
                    barycentric,
                }) => add_source_in_triangle(&mut sweep, &self.mesh, triangle, barycentric),
            }
        }

        // An aborted sweep leaves windows in the queue; they must not reach the next query.
        let error = match sweep.run(progress) {
            Ok(true) => return Ok(()),
            Ok(false) => MeshError::CoincidentSheets {
                reached: self.front.reached().len(),
            },
            Err(stopped) => stopped.into(),
        };
        self.front.abandon();
        Err(error)
    }
}

/// Adds a source at a point of a triangle: a corner, a point of an edge or an inner point.
fn add_source_in_triangle(sweep: &mut Sweep<'_>, mesh: &Mesh, named: u32, barycentric: [f64; 3]) {
    // A triangle that occurs twice is represented by its first copy; weights are permuted to its
    // corners.
    let sum: f64 = barycentric.iter().sum();
    let triangle = unfolding::first_alike(mesh.topology(), named);
    let corners = mesh.triangles()[triangle as usize];
    let weights = match mesh.triangles()[named as usize] {
        same if same == corners => barycentric,
        permuted => corners.map(|v| {
            barycentric[permuted
                .iter()
                .position(|&w| w == v)
                .expect("alike triangles have the same corners")]
        }),
    }
    .map(|w| w / sum);

    // At a corner the source is a vertex.
    if let Some(k) = (0..3).find(|&k| weights[k] == 1.0) {
        return sweep.add_source(corners[k], 0.0);
    }

    // Distances to the corners are straight lines inside the triangle.
    let position = SurfacePoint::InTriangle(TrianglePoint {
        triangle: named,
        barycentric,
    })
    .position(mesh);
    let without_sides = mesh.topology().triangle_edges()[triangle as usize][0] == Topology::NONE;

    for k in 0..3 {
        let side = 3 * triangle + k as u32;
        let edge = *sweep.unfolding.side(side);
        let distance = position.distance(mesh.positions()[edge.opposite as usize]);
        if without_sides {
            // A triangle that repeats a vertex is a line: light leaves it at its ends.
            sweep.add_source(edge.opposite, distance);
            continue;
        }

        let [foot, height] = edge.apex;
        let start = weights[k];
        let end = weights[(k + 1) % 3];
        let apex = weights[(k + 2) % 3];

        // The ray to the apex crosses the side where the weights of its two ends balance.
        sweep.arrive(
            edge.opposite,
            distance,
            Arrival {
                side,
                entry: edge.length * end / (start + end),
            },
        );

        // The source in the frame of this side; on an edge, the triangles beyond it see the source
        // too.
        let along = end * edge.length + apex * foot;
        if apex == 0.0 {
            add_source_on_edge(sweep, side, along);
        } else {
            sweep.leave_whole(side, [along, apex * height], 0.0, Topology::NONE);
        }
    }
}

/// Adds a source at a point of an edge through the two other sides of each triangle beyond it.
fn add_source_on_edge(sweep: &mut Sweep<'_>, side: u32, along: f64) {
    let from = *sweep.unfolding.side(side);
    let mut beyond = from.across;
    while beyond != side {
        let entered = *sweep.unfolding.side(beyond);

        // Both sides of an edge measure lengths from their own start.
        let along = if entered.start == from.start {
            along
        } else {
            from.length - along
        };

        let [foot, height] = entered.apex;
        sweep.arrive(
            entered.opposite,
            window::length(foot - along, height),
            Arrival {
                side: beyond,
                entry: along,
            },
        );

        let (left, right) = (preceding(beyond), following(beyond));
        let left_length = sweep.unfolding.side(left).length;
        let right_length = sweep.unfolding.side(right).length;

        // The left side runs from the apex to the start, the right side from the end to the apex.
        let on_left = [
            left_length - along * foot / left_length,
            along * height / left_length,
        ];

        let rest = entered.length - along;
        let on_right = [
            rest * (entered.length - foot) / right_length,
            rest * height / right_length,
        ];

        sweep.leave_whole(left, on_left, 0.0, Topology::NONE);
        sweep.leave_whole(right, on_right, 0.0, Topology::NONE);
        beyond = entered.across;
    }
}
