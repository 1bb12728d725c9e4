//! Cage: a coarse mesh that is solved, while the vertices of the full mesh follow.
//!
//! - [`binding`]: the cage vertices that each vertex follows, and their weights.
//! - [`local_map`](mod@local_map): the deformation around a cage vertex as a linear map.
//!
//! **Problem.** Springs on a few hundred thousand vertices take seconds a frame, most of it for
//! wrinkles that only follow the shape beneath them. Solve for a few thousand vertices, and let the
//! others follow, such that no triangle of the cage is visible, given shapes stay exact, and the
//! order of the shapes does not matter.
//!
//! **Method.** The cage is a decimation of all shapes at once ([`DecimationOptions::with_poses`]);
//! its vertices are vertices of the mesh, so every shape has its cage. A blend of the cages gives
//! the positions `ḡ` of its vertices.
//!
//! **Equation.** With the maps `Aⱼˢ` around cage vertex `j` from shape `s` to the blend
//! ([`local_map`](mod@local_map)), weights `wᵢⱼ` ([`binding`]) and blend weights `wₛ`, vertex `i`
//! moves to
//!
//! ```text
//! xᵢ = Σⱼ wᵢⱼ (ḡⱼ + Σₛ wₛ Aⱼˢ (vᵢˢ − gⱼˢ))
//! ```
//!
//! The offset of a vertex from the cage is mapped from each shape into the blend, and blended
//! there. At the weights of one shape all `A` are the identity, and `xᵢ = vᵢˢ`.
//!
//! **Source.** Sumner, Schmid, Pauly, "Embedded deformation for shape manipulation", 2007, eq. 1,
//! with one rest state; detail in frames of a coarse surface: Kobbelt, Campagna, Vorsatz, Seidel
//! 1998.
//!
//! **Departures.** A rest state per shape, and maps that are fitted to the result instead of
//! unknowns. Vertices that coincide in every shape are merged for the cage, so that seams do not
//! open. Fixed and pulled vertices have their exact positions, and the correction for this is
//! distributed over their surroundings.

mod binding;
mod local_map;

use std::collections::BTreeSet;

use pliant_linalg::parallel;
use pliant_mesh::glam::{DMat3, DVec3};
use pliant_mesh::{DecimationBudget, DecimationOptions, Mesh};

pub(crate) use binding::Binding;
use local_map::local_map;

use crate::blend::distortion::{Distortion, blended_lengths};
use crate::blend::interior::{by_coordinates, check_shapes, twins};
use crate::blend::linear_blend::{linear_at, linear_blend, sole_shape};
use crate::{BlendFrame, BlendOptions, ContactBlend, ContactFrame, PhysicsError};

/// The number of cage vertices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CageSize {
    /// [`Cage::DEFAULT_VERTICES`] for meshes of more than [`Cage::CAGE_THRESHOLD`] vertices;
    /// smaller meshes have no cage.
    #[default]
    Auto,
    /// No cage.
    None,
    /// About this many; a mesh with fewer vertices has no cage.
    Vertices(usize),
}

impl CageSize {
    /// The number of cage vertices of a mesh; `None` where it has no cage.
    fn resolve(self, vertices: usize) -> Option<usize> {
        match self {
            Self::Auto => (vertices > Cage::CAGE_THRESHOLD).then_some(Cage::DEFAULT_VERTICES),
            Self::None => None,
            Self::Vertices(budget) => (budget < vertices).then_some(budget),
        }
    }
}

/// A coarse mesh in every shape, and the binding of the full mesh to it.
///
/// ```
/// use pliant_mesh::{glam::DVec3, shapes};
/// use pliant_physics::{Blend, BlendOptions, Cage, CageSize};
///
/// let ball = shapes::icosphere(4);
/// let egg = ball.posed(ball.positions().iter().map(|p| *p * DVec3::new(1.5, 1.0, 1.0)).collect())?;
/// let cage = Cage::build(&[ball, egg], CageSize::Vertices(300), &BlendOptions::default())?.expect("2562 vertices are more than 300");
/// let mut blend = Blend::new(cage.shapes(), cage.options())?;
/// let half = cage.to_full_mesh(&blend.between(0.5)?)?;
/// assert_eq!(half.positions.len(), 2562);
/// # Ok::<(), pliant_physics::PhysicsError>(())
/// ```
#[derive(Debug)]
pub struct Cage {
    mesh: Mesh,
    shapes: Vec<Vec<DVec3>>,
    coarse: Vec<Mesh>,
    options: BlendOptions,
    binding: Binding,
    /// Up to two edges around each cage vertex.
    around: Vec<Vec<u32>>,
    fixed: Vec<usize>,
    pulls: Vec<(usize, DVec3)>,
    warnings: Vec<String>,
}

/// The weight of edge lengths in the decimation relative to the shape. Measured on horses: half the
/// solver steps, and a tenth less strain, than without; larger weights gain nothing.
const EVENNESS: f64 = 1e-2;

/// Vertices in one parallel task.
const GRAIN: usize = 1024;

/// Fixed vertices that are more than this share of the cage are thinned out. Chosen: most of the
/// cage remains for moving vertices.
const FIXED_SHARE: f64 = 0.25;

/// Passes that distribute the errors of held vertices over their surroundings. Chosen; each leaves
/// about half of the error, or less.
const CORRECTION_PASSES: usize = 6;

/// The typical weight of a cage vertex at its own position, where about a dozen cage vertices
/// contribute.
const FULL_SHARE: f64 = 0.2;

impl Cage {
    /// Meshes with more vertices have a cage by default. Chosen: from there on, a frame takes
    /// longer than an animator waits.
    pub const CAGE_THRESHOLD: usize = 50_000;
    /// Default number of cage vertices. Measured on poses of a horse: after a rigid fit the error
    /// against the full solve is 0.3 % of the diagonal (root mean square) with 2000, and 0.15 %
    /// with 4000.
    pub const DEFAULT_VERTICES: usize = 3000;

    /// The cage of shapes that are poses of one mesh; `None` where they need none. `options` are
    /// those of the full mesh.
    ///
    /// # Errors
    /// As [`Blend::new`](crate::Blend::new).
    pub fn build(
        shapes: &[Mesh],
        size: CageSize,
        options: &BlendOptions,
    ) -> Result<Option<Self>, PhysicsError> {
        let all: Vec<&Mesh> = shapes.iter().collect();
        check_shapes(&all)?;
        shapes[0].require_surface()?;
        options.check(&shapes[0])?;

        let Some(budget) = size.resolve(shapes[0].vertex_count()) else {
            return Ok(None);
        };

        let welded = WeldedShapes::new(&all)?;
        let kept = kept_vertices(&welded, options, budget);

        // Held vertices stay in the cage.
        let decimation = welded.surface.decimated(
            DecimationBudget::Vertices(budget),
            &DecimationOptions::default()
                .with_poses(welded.shapes[1..].to_vec())
                .with_kept(kept)
                .with_evenness(EVENNESS),
        )?;

        let coarse = decimation.mesh();
        let sources = decimation.sources();
        let corners = |vertex: usize| {
            let place = decimation.places()[vertex];
            coarse.triangles()[place.triangle as usize]
                .into_iter()
                .zip(place.barycentric)
                .collect()
        };

        let binding = Binding::new(&welded, coarse, sources, corners);
        let pose = |shape: &Mesh| {
            coarse.posed(
                sources
                    .iter()
                    .map(|&v| shape.positions()[v as usize])
                    .collect(),
            )
        };

        Ok(Some(Self {
            mesh: shapes[0].clone(),
            shapes: shapes
                .iter()
                .map(|shape| shape.positions().to_vec())
                .collect(),
            options: options.on_cage(&binding, sources.len()),
            around: surroundings(coarse),
            fixed: options.fixed.clone(),
            pulls: options.pulls.clone(),
            warnings: vec![cage_warning(
                shapes[0].vertex_count(),
                sources.len(),
                decimation.budget_met(),
            )],
            coarse: shapes.iter().map(pose).collect::<Result<_, _>>()?,
            binding,
        }))
    }

    /// The shapes of the cage.
    #[must_use]
    pub fn shapes(&self) -> &[Mesh] {
        &self.coarse
    }

    /// The blend options of the cage.
    #[must_use]
    pub fn options(&self) -> &BlendOptions {
        &self.options
    }

    /// The full mesh in the first shape.
    #[must_use]
    pub fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    /// Warnings about the cage.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The frame of the full mesh for a frame of the cage. Area, volume and strain are those of the
    /// full mesh; the report, interior points and inverted elements are those of the cage.
    ///
    /// # Errors
    /// A frame of another mesh or of another number of shapes.
    pub fn to_full_mesh(&self, frame: &BlendFrame) -> Result<BlendFrame, PhysicsError> {
        self.require_own(frame)?;
        self.measured(frame, self.positions(frame))
    }

    /// As [`to_full_mesh`](Self::to_full_mesh) among obstacles: vertices inside one are moved to
    /// its surface. Contacts are those of the cage.
    ///
    /// # Errors
    /// As [`to_full_mesh`](Self::to_full_mesh).
    pub fn to_full_mesh_with_contact(
        &self,
        frame: &ContactFrame,
        contact: &ContactBlend,
    ) -> Result<ContactFrame, PhysicsError> {
        self.require_own(&frame.shape)?;
        let mut positions = self.positions(&frame.shape);
        let held: BTreeSet<usize> = self
            .fixed
            .iter()
            .copied()
            .chain(self.pulls.iter().map(|pull| pull.0))
            .collect();

        contact.project_out(&mut positions, |vertex| held.contains(&vertex));
        Ok(ContactFrame {
            shape: self.measured(&frame.shape, positions)?,
            ..frame.clone()
        })
    }

    /// The frame with the measures of the full mesh at `positions`.
    fn measured(
        &self,
        frame: &BlendFrame,
        positions: Vec<DVec3>,
    ) -> Result<BlendFrame, PhysicsError> {
        let linear = linear_blend(&self.shapes, &frame.weights, self.mesh.vertex_count());
        let linear = self.mesh.posed(linear)?;
        let surface = self.mesh.posed(positions)?;

        let blended = blended_lengths(&self.mesh, &self.shapes, &frame.weights);
        let (own, linear) = parallel::join(
            || Distortion::beside(&surface, &blended),
            || Distortion::beside(&linear, &blended),
        );

        Ok(BlendFrame {
            positions: surface.positions().to_vec(),
            area: own.area,
            volume: own.volume,
            strain: own.strain,
            linear,
            ..frame.clone()
        })
    }

    /// The positions of all vertices.
    fn positions(&self, frame: &BlendFrame) -> Vec<DVec3> {
        if let Some(shape) = self.sole_shape(frame) {
            return self.shapes[shape].clone();
        }

        // Shapes without weight need no maps.
        let active: Vec<usize> = (0..self.shapes.len())
            .filter(|&s| frame.weights[s] != 0.0)
            .collect();
        // The maps of all cage vertices, then all vertices.
        let maps = parallel::map(self.around.len(), GRAIN, |node| {
            self.node_map(node, &active, frame)
        });

        let mut positions = vec![DVec3::ZERO; self.mesh.vertex_count()];
        parallel::for_each_chunk_mut(&mut positions, GRAIN, |start, chunk| {
            let mut rotated = vec![DMat3::ZERO; active.len()];
            for (k, place) in chunk.iter_mut().enumerate() {
                *place = match self.binding.row(start + k) {
                    [] => linear_at(&self.shapes, &frame.weights, start + k),
                    row => self.embedded(start + k, row, &active, &maps, &mut rotated),
                };
            }
        });

        self.hold(&mut positions, &frame.weights);
        positions
    }

    /// The position of a vertex that follows the cage vertices of `row`; `maps` holds the
    /// translation and the maps of each cage vertex, `blended` has room for a map per active shape.
    fn embedded(
        &self,
        vertex: usize,
        row: &[(u32, f64)],
        active: &[usize],
        maps: &[(DVec3, Vec<DMat3>)],
        blended: &mut [DMat3],
    ) -> DVec3 {
        let mut translation = DVec3::ZERO;
        blended.fill(DMat3::ZERO);
        for &(node, share) in row {
            let (own, maps) = &maps[node as usize];
            translation += *own * share;
            for (sum, map) in blended.iter_mut().zip(maps) {
                *sum += *map * share;
            }
        }

        let mapped = blended
            .iter()
            .zip(active)
            .map(|(map, &s)| *map * self.shapes[s][vertex]);
        translation + mapped.sum::<DVec3>()
    }

    /// The map of a cage vertex for each active shape, times its weight, and the translation to the
    /// position of the vertex.
    fn node_map(&self, node: usize, active: &[usize], frame: &BlendFrame) -> (DVec3, Vec<DMat3>) {
        let mut maps = Vec::with_capacity(active.len());
        let mut mapped = DVec3::ZERO;
        for &s in active {
            let from = self.coarse[s].positions();
            let map = local_map(&self.around[node], node, from, &frame.positions);
            let map = map * frame.weights[s];
            mapped += map * from[node];
            maps.push(map);
        }

        (frame.positions[node] - mapped, maps)
    }

    /// The given shape that a frame is, to the bit.
    fn sole_shape(&self, frame: &BlendFrame) -> Option<usize> {
        sole_shape(&frame.weights).filter(|&sole| {
            frame.positions == self.coarse[sole].positions() && self.pulls.is_empty()
        })
    }

    /// Moves held vertices to their exact positions, and their surroundings with them.
    fn hold(&self, positions: &mut [DVec3], weights: &[f64]) {
        let fixed = self
            .fixed
            .iter()
            .map(|&v| (v, linear_at(&self.shapes, weights, v)));
        // Fixed vertices move linearly, pulled ones are at their goals.
        let goals: Vec<(usize, DVec3)> = fixed.chain(self.pulls.iter().copied()).collect();

        if goals.is_empty() {
            return;
        }

        for _ in 0..CORRECTION_PASSES {
            let errors = self.errors(&goals, positions);
            parallel::for_each_chunk_mut(positions, GRAIN, |start, chunk| {
                for (k, place) in chunk.iter_mut().enumerate() {
                    *place += self
                        .binding
                        .row(start + k)
                        .iter()
                        .map(|&(node, share)| errors[node as usize] * share)
                        .sum::<DVec3>();
                }
            });
        }

        for (vertex, place) in goals {
            positions[vertex] = place;
        }
    }

    /// The mean error of the held vertices that follow each cage vertex.
    fn errors(&self, goals: &[(usize, DVec3)], positions: &[DVec3]) -> Vec<DVec3> {
        let mut sums = vec![(DVec3::ZERO, 0.0_f64); self.around.len()];
        for &(vertex, place) in goals {
            for &(node, share) in self.binding.row(vertex) {
                let (sum, total) = &mut sums[node as usize];
                *sum += (place - positions[vertex]) * share;
                *total += share;
            }
        }

        // A cage vertex with a small weight in a held vertex moves little for it.
        sums.iter()
            .map(|&(sum, total)| sum / total.max(FULL_SHARE))
            .collect()
    }

    fn require_own(&self, frame: &BlendFrame) -> Result<(), PhysicsError> {
        let found = frame.positions.len();
        let expected = self.around.len();
        if found != expected {
            return Err(PhysicsError::PerVertex {
                what: "the frame of the cage",
                found,
                expected,
            });
        }

        let found = frame.weights.len();
        let expected = self.shapes.len();
        if found == expected {
            Ok(())
        } else {
            Err(PhysicsError::WeightCount { found, expected })
        }
    }
}

impl BlendOptions {
    /// The same options on a cage: supports at cage vertices.
    pub(crate) fn on_cage(&self, binding: &Binding, nodes: usize) -> Self {
        // Several vertices may lie at one cage vertex; sets name it once.
        let anchor: BTreeSet<usize> = self
            .anchor
            .iter()
            .filter_map(|&v| binding.main_node(v))
            .collect();
        let fixed: BTreeSet<usize> = self
            .fixed
            .iter()
            .filter_map(|&v| binding.node_at(v))
            .collect();

        let mut pulls = Vec::new();
        for &(v, goal) in &self.pulls {
            if let Some(node) = binding.node_at(v) {
                pulls.push((node, goal));
            }
        }

        let stiffness = self.stiffness.as_ref();
        Self {
            anchor: anchor.into_iter().collect(),
            fixed: fixed.into_iter().collect(),
            pulls,
            stiffness: stiffness.map(|map| binding.gather(map, nodes)),
            ..self.clone()
        }
    }
}

/// A mesh with merged coincident vertices, and its shapes in an order that does not depend on the
/// caller's.
struct WeldedShapes {
    surface: Mesh,
    shapes: Vec<Vec<DVec3>>,
    /// For each vertex the one it is merged with.
    twins: Vec<u32>,
}

impl WeldedShapes {
    fn new(shapes: &[&Mesh]) -> Result<Self, PhysicsError> {
        let twins = twins(shapes);
        let mut poses: Vec<Vec<DVec3>> = shapes
            .iter()
            .map(|shape| shape.positions().to_vec())
            .collect();

        // Sums over the shapes then have the same bits for any order of the given shapes.
        poses.sort_by(|a, b| by_coordinates(a, b));
        let triangles: Vec<[u32; 3]> = shapes[0]
            .triangles()
            .iter()
            .map(|t| t.map(|v| twins[v as usize]))
            .collect();

        Ok(Self {
            surface: Mesh::from_triangles(poses[0].clone(), &triangles)?,
            shapes: poses,
            twins,
        })
    }

    fn distance(&self, a: u32, b: u32) -> f64 {
        binding::distance(&self.shapes, a, b)
    }

    fn is_used(&self, vertex: usize) -> bool {
        !self
            .surface
            .topology()
            .vertex_triangles()
            .row(vertex)
            .is_empty()
    }
}

/// Pulled vertices, and as many fixed ones as the cage has room for, at least one in each component
/// that has any.
fn kept_vertices(welded: &WeldedShapes, options: &BlendOptions, budget: usize) -> Vec<u32> {
    let fixed: BTreeSet<u32> = options.fixed.iter().map(|&v| welded.twins[v]).collect();
    let room = (FIXED_SHARE * budget as f64).max(1.0);
    let stride = (fixed.len() as f64 / room).ceil().max(1.0) as usize;

    let mut kept = BTreeSet::new();
    let mut components = BTreeSet::new();
    let component_of = welded.surface.topology().component_of_vertex();
    for (k, &v) in fixed.iter().enumerate() {
        if components.insert(component_of[v as usize]) || k % stride == 0 {
            kept.insert(v);
        }
    }
    kept.extend(options.pulls.iter().map(|&(v, _)| welded.twins[v]));
    kept.retain(|&v| welded.is_used(v as usize));

    kept.into_iter().collect()
}

/// The vertices up to two edges from each.
fn surroundings(cage: &Mesh) -> Vec<Vec<u32>> {
    let topology = cage.topology();
    (0..cage.vertex_count())
        .map(|vertex| topology.two_ring(vertex))
        .collect()
}

fn cage_warning(vertices: usize, nodes: usize, is_small_enough: bool) -> String {
    let reason = if is_small_enough {
        ""
    } else {
        ", the fewest that its shape allows"
    };
    format!("the {vertices} vertices follow a cage of {nodes} of them{reason}")
}

#[cfg(test)]
mod tests;
