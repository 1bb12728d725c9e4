//! Big meshes, blended on a cage, with their detail carried over.
//!
//! **Problem.** Springs on a few hundred thousand vertices take seconds a frame, most of it for
//! wrinkles that only go along with what is beneath them. Balance a few thousand vertices, and let
//! the others follow them, so that no triangle of the cage shows, shapes stay exact, and no shape
//! is special.
//!
//! **Method.** The cage is a decimation of all shapes at once ([`DecimationOptions::with_poses`]);
//! its vertices are vertices of the mesh, so every shape has its cage. A blend of the cages gives
//! places `ḡ` of its vertices.
//!
//! **Equation.** With the maps `Aⱼˢ` of what surrounds cage vertex `j` from shape `s` to the blend
//! ([`local_map`]), shares `wᵢⱼ` ([`binding`]) and weights `wₛ`, vertex `i` goes to
//!
//! ```text
//! xᵢ = Σⱼ wᵢⱼ (ḡⱼ + Σₛ wₛ Aⱼˢ (vᵢˢ − gⱼˢ))
//! ```
//!
//! The offset of a vertex from the cage is turned from each shape into the blend, and there mixed.
//! At the weights of one shape all `A` are the identity, and `xᵢ = vᵢˢ`.
//!
//! **Source.** Sumner, Schmid, Pauly, "Embedded deformation for shape manipulation", 2007, eq. 1,
//! with one rest state; detail in frames of a coarse surface: Kobbelt, Campagna, Vorsatz, Seidel
//! 1998.
//!
//! **Ours.** A rest state per shape, and maps fitted to the result instead of unknowns. Vertices
//! that coincide in every shape are one for the cage, so that seams do not open. Fixed and pulled
//! vertices are where they belong to the bit, and what that takes is spread over their
//! surroundings.

mod binding;
mod local_map;

use std::collections::BTreeSet;

use pliant_linalg::parallel;
use pliant_mesh::glam::{DMat3, DVec3};
use pliant_mesh::{DecimationBudget, DecimationOptions, Mesh};

pub(crate) use binding::Binding;
use local_map::local_map;

use crate::distortion::{Distortion, blended_lengths};
use crate::interior::{by_coordinates, check_shapes, twins};
use crate::linear_blend::{linear_at, linear_blend, sole_shape};
use crate::{BlendFrame, BlendOptions, ContactBlend, ContactFrame, PhysicsError};

/// How many vertices a cage shall have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CageSize {
    /// [`Cage::DEFAULT_VERTICES`] for meshes of more than [`Cage::WORTH_A_CAGE`] vertices; others
    /// have no cage.
    #[default]
    Auto,
    /// No cage.
    None,
    /// About so many; a mesh that has no more needs no cage.
    Vertices(usize),
}

impl CageSize {
    /// The vertices of the cage of a mesh of so many; `None` where it has no cage.
    fn resolve(self, vertices: usize) -> Option<usize> {
        match self {
            Self::Auto => (vertices > Cage::WORTH_A_CAGE).then_some(Cage::DEFAULT_VERTICES),
            Self::None => None,
            Self::Vertices(wanted) => (wanted < vertices).then_some(wanted),
        }
    }
}

/// A coarse mesh in every shape, and what the full mesh has beyond it.
///
/// ```
/// use pliant_mesh::{glam::DVec3, shapes};
/// use pliant_physics::{Blend, BlendOptions, Cage, CageSize};
///
/// let ball = shapes::icosphere(4);
/// let egg = ball.posed(ball.positions().iter().map(|p| *p * DVec3::new(1.5, 1.0, 1.0)).collect())?;
/// let cage = Cage::build(&[ball, egg], CageSize::Vertices(300), &BlendOptions::default())?.expect("2562 vertices are more than 300");
/// let mut blend = Blend::new(cage.shapes(), cage.options())?;
/// let half = cage.carry(&blend.between(0.5)?)?;
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
    notes: Vec<String>,
}

/// What the length of an edge costs the decimation beside its form. Measured on horses: half the
/// steps to balance, and a tenth less strain, than with the form alone; more gains nothing.
const EVENNESS: f64 = 1e-2;

/// Vertices in one parallel task.
const GRAIN: usize = 1024;

/// Fixed vertices that are more than this share of the cage are thinned out there: ours, so that
/// most of it is left for what moves.
const FIXED_SHARE: f64 = 0.25;

/// Passes that spread what held vertices lack over their surroundings: ours; each leaves about half
/// of it, or less.
const HOLD_PASSES: usize = 6;

/// The share that a cage vertex has about in the vertex it lies at, since a dozen of them share in
/// it.
const FULL_SHARE: f64 = 0.2;

impl Cage {
    /// Meshes of more vertices have a cage by default: ours, where a frame begins to take longer
    /// than an animator waits.
    pub const WORTH_A_CAGE: usize = 50_000;
    /// Vertices of a cage by default. Measured on poses of a horse: after a rigid fit the full
    /// solve is off by 0.3 % of the diagonal (root mean square) with 2000, and by 0.15 % with
    /// 4000.
    pub const DEFAULT_VERTICES: usize = 3000;

    /// The cage of shapes that are poses of one mesh; `None` where they are to have none. `options`
    /// are those of the full mesh.
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
        let Some(wanted) = size.resolve(shapes[0].vertex_count()) else {
            return Ok(None);
        };
        let welded = Welded::new(&all)?;
        let kept = kept_vertices(&welded, options, wanted);
        let decimation = welded.surface.decimated(
            DecimationBudget::Vertices(wanted),
            &DecimationOptions::default()
                .with_poses(welded.shapes[1..].to_vec())
                .with_kept(kept)
                .with_evenness(EVENNESS),
        )?;
        let (coarse, sources) = (decimation.mesh(), decimation.sources());
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
            notes: vec![note(
                shapes[0].vertex_count(),
                sources.len(),
                decimation.budget_met(),
            )],
            coarse: shapes.iter().map(pose).collect::<Result<_, _>>()?,
            binding,
        }))
    }

    /// The shapes of the cage, to be blended.
    #[must_use]
    pub fn shapes(&self) -> &[Mesh] {
        &self.coarse
    }

    /// The options for that.
    #[must_use]
    pub fn options(&self) -> &BlendOptions {
        &self.options
    }

    /// The mesh with all its vertices, in the first shape.
    #[must_use]
    pub fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    /// What a user should know about this cage.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The full mesh for a frame of the cage. Area, volume and strain are those of the full mesh;
    /// the report, points inside and elements turned over are the cage's.
    ///
    /// # Errors
    /// A frame of another mesh or of another number of shapes.
    pub fn carry(&self, frame: &BlendFrame) -> Result<BlendFrame, PhysicsError> {
        self.require_own(frame)?;
        self.figures(frame, self.positions(frame))
    }

    /// As [`carry`](Self::carry) among obstacles: vertices that reach into one are put on its
    /// surface. Contacts are the cage's.
    ///
    /// # Errors
    /// As [`carry`](Self::carry).
    pub fn carry_contact(
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
        contact.push_out(&mut positions, |vertex| held.contains(&vertex));
        Ok(ContactFrame {
            shape: self.figures(&frame.shape, positions)?,
            ..frame.clone()
        })
    }

    fn figures(
        &self,
        frame: &BlendFrame,
        positions: Vec<DVec3>,
    ) -> Result<BlendFrame, PhysicsError> {
        let (surface, linear) = (
            self.mesh.posed(positions)?,
            self.mesh.posed(linear_blend(
                &self.shapes,
                &frame.weights,
                self.mesh.vertex_count(),
            ))?,
        );
        let blended = blended_lengths(&self.mesh, &self.shapes, &frame.weights);
        let of = |mesh: &Mesh| Distortion::beside(mesh, &blended);
        let (
            Distortion {
                area,
                volume,
                strain,
            },
            linear,
        ) = parallel::join(|| of(&surface), || of(&linear));
        Ok(BlendFrame {
            positions: surface.positions().to_vec(),
            area,
            volume,
            strain,
            linear,
            ..frame.clone()
        })
    }

    /// Where all vertices go.
    fn positions(&self, frame: &BlendFrame) -> Vec<DVec3> {
        if let Some(shape) = self.sole_shape(frame) {
            return self.shapes[shape].clone();
        }
        let active: Vec<usize> = (0..self.shapes.len())
            .filter(|&s| frame.weights[s] != 0.0)
            .collect();
        let maps = parallel::map(self.around.len(), GRAIN, |node| {
            self.node_map(node, &active, frame)
        });
        let mut positions = vec![DVec3::ZERO; self.mesh.vertex_count()];
        parallel::for_each_chunk_mut(&mut positions, GRAIN, |start, chunk| {
            let mut turned = vec![DMat3::ZERO; active.len()];
            for (k, place) in chunk.iter_mut().enumerate() {
                *place = match self.binding.row(start + k) {
                    [] => linear_at(&self.shapes, &frame.weights, start + k),
                    row => self.carried(start + k, row, &active, &maps, &mut turned),
                };
            }
        });
        self.hold(&mut positions, &frame.weights);
        positions
    }

    /// Where the cage vertices of `row` take a vertex; `turned` has room for a map per active
    /// shape.
    fn carried(
        &self,
        vertex: usize,
        row: &[(u32, f64)],
        active: &[usize],
        maps: &[(DVec3, Vec<DMat3>)],
        turned: &mut [DMat3],
    ) -> DVec3 {
        let mut place = DVec3::ZERO;
        turned.fill(DMat3::ZERO);
        for &(node, share) in row {
            let (lack, maps) = &maps[node as usize];
            place += *lack * share;
            turned
                .iter_mut()
                .zip(maps)
                .for_each(|(sum, map)| *sum += *map * share);
        }
        place
            + turned
                .iter()
                .zip(active)
                .map(|(map, &s)| *map * self.shapes[s][vertex])
                .sum::<DVec3>()
    }

    /// The map of a cage vertex for each active shape, by its weight, and what all of them lack to
    /// its place.
    fn node_map(&self, node: usize, active: &[usize], frame: &BlendFrame) -> (DVec3, Vec<DMat3>) {
        let map = |&s: &usize| {
            local_map(
                &self.around[node],
                node,
                self.coarse[s].positions(),
                &frame.positions,
            ) * frame.weights[s]
        };
        let maps: Vec<DMat3> = active.iter().map(map).collect();
        let turned: DVec3 = maps
            .iter()
            .zip(active)
            .map(|(map, &s)| *map * self.coarse[s].positions()[node])
            .sum();
        (frame.positions[node] - turned, maps)
    }

    /// The shape that a frame is, to the bit.
    fn sole_shape(&self, frame: &BlendFrame) -> Option<usize> {
        sole_shape(&frame.weights).filter(|&sole| {
            frame.positions == self.coarse[sole].positions() && self.pulls.is_empty()
        })
    }

    /// Puts held vertices where they belong, and their surroundings with them.
    fn hold(&self, positions: &mut [DVec3], weights: &[f64]) {
        let fixed = self
            .fixed
            .iter()
            .map(|&v| (v, linear_at(&self.shapes, weights, v)));
        let goals: Vec<(usize, DVec3)> = fixed.chain(self.pulls.iter().copied()).collect();
        if goals.is_empty() {
            return;
        }
        for _ in 0..HOLD_PASSES {
            let lacks = self.lacks(&goals, positions);
            parallel::for_each_chunk_mut(positions, GRAIN, |start, chunk| {
                for (k, place) in chunk.iter_mut().enumerate() {
                    *place += self
                        .binding
                        .row(start + k)
                        .iter()
                        .map(|&(node, share)| lacks[node as usize] * share)
                        .sum::<DVec3>();
                }
            });
        }
        for (vertex, place) in goals {
            positions[vertex] = place;
        }
    }

    /// What the held vertices that a cage vertex carries lack on the mean.
    fn lacks(&self, goals: &[(usize, DVec3)], positions: &[DVec3]) -> Vec<DVec3> {
        let mut sums = vec![(DVec3::ZERO, 0.0_f64); self.around.len()];
        for &(vertex, place) in goals {
            for &(node, share) in self.binding.row(vertex) {
                let (sum, total) = &mut sums[node as usize];
                *sum += (place - positions[vertex]) * share;
                *total += share;
            }
        }
        // A cage vertex that barely touches a held one barely moves for it.
        sums.iter()
            .map(|&(sum, total)| sum / total.max(FULL_SHARE))
            .collect()
    }

    fn require_own(&self, frame: &BlendFrame) -> Result<(), PhysicsError> {
        let (found, expected) = (frame.positions.len(), self.around.len());
        if found != expected {
            return Err(PhysicsError::PerVertex {
                what: "the frame of the cage",
                found,
                expected,
            });
        }
        let (found, expected) = (frame.weights.len(), self.shapes.len());
        if found == expected {
            Ok(())
        } else {
            Err(PhysicsError::WeightCount { found, expected })
        }
    }
}

/// A mesh whose vertices that coincide in all shapes are one, and those shapes in an order that is
/// not the caller's.
struct Welded {
    surface: Mesh,
    shapes: Vec<Vec<DVec3>>,
    /// For each vertex the one that stands for it.
    twins: Vec<u32>,
}

impl Welded {
    fn new(shapes: &[&Mesh]) -> Result<Self, PhysicsError> {
        let twins = twins(shapes);
        let mut poses: Vec<Vec<DVec3>> = shapes
            .iter()
            .map(|shape| shape.positions().to_vec())
            .collect();
        // Sums over the shapes then have the same bits whatever order the shapes are given in.
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

/// Pulled and fixed vertices, of the latter as many as the cage has room for, and at least one in
/// each part that has any.
fn kept_vertices(welded: &Welded, options: &BlendOptions, wanted: usize) -> Vec<u32> {
    let fixed: BTreeSet<u32> = options.fixed.iter().map(|&v| welded.twins[v]).collect();
    let room = (FIXED_SHARE * wanted as f64).max(1.0);
    let stride = (fixed.len() as f64 / room).ceil().max(1.0) as usize;
    let mut parts = BTreeSet::new();
    let part_of = welded.surface.topology().component_of_vertex();
    let stays = |&(k, v): &(usize, &u32)| parts.insert(part_of[*v as usize]) || k % stride == 0;
    let mut kept: BTreeSet<u32> = fixed
        .iter()
        .enumerate()
        .filter(stays)
        .map(|(_, &v)| v)
        .collect();
    kept.extend(options.pulls.iter().map(|&(v, _)| welded.twins[v]));
    kept.into_iter()
        .filter(|&v| welded.is_used(v as usize))
        .collect()
}

/// The vertices up to two edges from each.
fn surroundings(cage: &Mesh) -> Vec<Vec<u32>> {
    let topology = cage.topology();
    (0..cage.vertex_count())
        .map(|vertex| topology.two_ring(vertex))
        .collect()
}

fn note(vertices: usize, nodes: usize, is_small_enough: bool) -> String {
    let reason = if is_small_enough {
        ""
    } else {
        ", which is the least that its form allows"
    };
    format!(
        "the {vertices} vertices are blended on a cage of {nodes} of them{reason}, and their detail is carried over"
    )
}

#[cfg(test)]
mod tests;
