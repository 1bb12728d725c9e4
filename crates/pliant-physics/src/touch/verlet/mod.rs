//! Soft patch by position Verlet and projected constraints (Çetinaslan 2016).
//!
//! - [`edge_length`], [`corner_angle`], [`dihedral_angle`]: the three constraints.
//! - [`angle_gradient`]: the common part of the angle constraints.
//! - [`options`]: damping, stiffness and iterations.
//!
//! **Problem.** Soft vertices move by inertia, yield to collisions, and keep the lengths and angles
//! of the surface at rest; held vertices around them do not move.
//!
//! **Equation.** With the acceleration `a`, the step `Δt` and the damping `k`, algorithm 1 is
//!
//! ```text
//! q_{n+1} = q_n + (q_n − q_{n−1})(1 − k) + a Δt²                               (5.3)
//! in each iteration: collisions (5.13), then for all edges, all corners of triangles, all hinges:
//!                    Δqᵢ = wᵢ λ ∇ᵢC        λ = −C / Σⱼ wⱼ |∇ⱼC|²               (5.6, 5.7)
//! ```
//!
//! with `C` of [`edge_length`] (5.8), [`corner_angle`] (5.9) and [`dihedral_angle`] (5.10).
//! Velocities are differences of positions: the displacements of projections continue as motion.
//!
//! **Source.** Çetinaslan, "Position Manipulation Techniques for Facial Animation", PhD thesis,
//! Universidade do Porto, 2016, chapter 5 and appendix A; Müller, Heidelberger, Hennix, Ratcliff,
//! "Position based dynamics", 2007; Jakobsen, "Advanced character physics", 2001.
//!
//! **Departures.** Equations 5.1 to 5.13 are correct as printed; the files of the constraints list,
//! equation by equation, where appendix A is not (A.1, A.2, A.8, A.9), and the meaning of its
//! stiffness. Algorithm 1 reads as if each vertex had its iterations before the next one moves; we
//! follow the text, all constraints of one kind and then all of the next. Masses are one, weights
//! of held vertices zero. Constraints are projected in groups of eight without a common vertex, one
//! after the other: a Gauss–Seidel order like any other, and the same on every machine. As in any
//! such method the stiffness grows with the iterations and with shorter steps, and velocities are
//! not rescaled when the step length changes. The method is not stable for every input: a node whose
//! position is not finite, or ten diagonals of the patch from rest, returns to rest. A deep dent may stay: see [`dihedral_angle`].

mod angle_gradient;
mod corner_angle;
mod dihedral_angle;
mod edge_length;
mod options;
#[cfg(test)]
mod test_gradients;
#[cfg(test)]
mod tests;

use pliant_linalg::simd::{Kernel, run_vectorized};
use pliant_mesh::Bounds;
use pliant_mesh::glam::DVec3;

use super::soft_mesh::SoftMesh;
use crate::touch::projection::constraint_group::{ConstraintGroup, pack, sweep};
use crate::touch::projection::lanes::{LANES, Lanes, Vectors};
use crate::touch::projection::particle::{Particle, particle, place_of, put};
use corner_angle::CornerAngles;
use dihedral_angle::DihedralAngle;
use edge_length::EdgeLength;
pub use options::VerletOptions;

/// Nodes further from rest than this many diagonals of the patch return to it. Chosen: no skin is
/// stretched that far.
const LOST: f64 = 10.0;

/// A patch that moves by algorithm 1.
#[derive(Debug, Clone)]
pub(crate) struct VerletBody {
    options: VerletOptions,
    /// By node; soft ones come first.
    rest: Vec<DVec3>,
    /// By node, and a held one at the end for empty lanes.
    particles: Vec<Particle>,
    /// Positions of soft nodes before the last step.
    previous: Vec<DVec3>,
    edges: Vec<ConstraintGroup<2, 1, 0>>,
    triangles: Vec<ConstraintGroup<3, 3, 0>>,
    hinges: Vec<ConstraintGroup<4, 1, 0>>,
}

impl VerletBody {
    /// A body at rest, with the nodes of `mesh` at `rest`.
    pub(crate) fn new(mesh: &SoftMesh, rest: &[DVec3], options: &VerletOptions) -> Self {
        assert_eq!(rest.len(), mesh.vertices.len(), "one position per node");
        let inverse_mass = |node: usize| if node < mesh.soft_count { 1.0 } else { 0.0 };
        let mut particles: Vec<Particle> = rest
            .iter()
            .enumerate()
            .map(|(node, p)| particle(*p, inverse_mass(node)))
            .collect();

        // Empty lanes refer to an additional held particle.
        let spare = particles.len() as u32;
        particles.push([0.0; 4]);
        let mut body = Self {
            options: *options,
            rest: rest.to_vec(),
            particles,
            previous: rest[..mesh.soft_count].to_vec(),
            edges: if options.stretch {
                pack(&mesh.connections.edges, spare)
            } else {
                Vec::new()
            },
            triangles: if options.shear {
                pack(&mesh.connections.triangles, spare)
            } else {
                Vec::new()
            },
            hinges: if options.bend {
                pack(&mesh.connections.hinges, spare)
            } else {
                Vec::new()
            },
        };

        run_vectorized(MeasureRest(&mut body));
        body
    }

    /// Sets another rest shape: new lengths and angles, held nodes at their new positions, soft
    /// ones moved by the difference with their velocity.
    pub(crate) fn set_rest(&mut self, rest: &[DVec3]) {
        assert_eq!(rest.len(), self.rest.len(), "one position per node");
        for (node, &new) in rest.iter().enumerate() {
            let old = self.rest[node];

            // In this order a node at rest stays at rest to the bit.
            let place = if node < self.previous.len() {
                new + (self.place(node) - old)
            } else {
                new
            };

            self.set_place(node, place);
            if let Some(previous) = self.previous.get_mut(node) {
                *previous = new + (*previous - old);
            }
        }

        self.rest.copy_from_slice(rest);
        run_vectorized(MeasureRest(self));
    }

    /// One step of algorithm 1. `collide` moves nodes out of colliders, before each projection of
    /// all constraints; nodes without inverse mass are moved back after the step.
    pub(crate) fn step(
        &mut self,
        acceleration: DVec3,
        dt_secs: f64,
        collide: &mut dyn FnMut(&mut [Particle]),
    ) {
        // Eq. 5.3.
        let fall = acceleration * (dt_secs * dt_secs);
        for node in 0..self.previous.len() {
            let place = self.place(node);
            self.set_place(
                node,
                place + (place - self.previous[node]) * (1.0 - self.options.damping) + fall,
            );
            self.previous[node] = place;
        }

        let node_count = self.rest.len();
        for _ in 0..self.options.iterations {
            collide(&mut self.particles[..node_count]);
            run_vectorized(ProjectAll(self));
        }

        for node in self.previous.len()..node_count {
            self.set_place(node, self.rest[node]);
        }
        self.return_lost_nodes();
    }

    /// Returns nodes whose position is not finite, or far outside of the patch, to rest.
    fn return_lost_nodes(&mut self) {
        let Some(bounds) = Bounds::of(&self.rest) else {
            return;
        };

        // A patch without extent tells nothing about distances.
        let size = bounds.diagonal();
        let furthest = if size > 0.0 { LOST * size } else { f64::MAX };
        for node in 0..self.previous.len() {
            let rest = self.rest[node];
            let is_near = |place: DVec3| place.distance(rest) <= furthest;
            if !(is_near(self.place(node)) && is_near(self.previous[node])) {
                self.set_place(node, rest);
                self.previous[node] = rest;
            }
        }
    }

    /// Positions by node, with an inverse mass of zero for held ones.
    pub(crate) fn particles(&self) -> &[Particle] {
        &self.particles[..self.rest.len()]
    }

    fn place(&self, node: usize) -> DVec3 {
        place_of(&self.particles[node])
    }

    fn set_place(&mut self, node: usize, place: DVec3) {
        put(&mut self.particles[node], place);
    }
}

/// All edges, then all corners, then all hinges.
struct ProjectAll<'a>(&'a mut VerletBody);

impl Kernel for ProjectAll<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let VerletBody {
            options,
            particles,
            edges,
            triangles,
            hinges,
            ..
        } = self.0;

        sweep(&EdgeLength, edges, particles);
        sweep(&CornerAngles, triangles, particles);
        sweep(
            &DihedralAngle {
                share: 1.0 - options.bend_stiffness,
            },
            hinges,
            particles,
        );
    }
}

/// A constraint that keeps its value at rest.
trait RestMeasure<const N: usize, const P: usize> {
    /// The parameters of eight constraints at rest, with their vertices at `places`.
    fn measure(places: &[Vectors; N]) -> [Lanes; P];
}

/// Lengths and angles at rest, by the arithmetic of the projections: at rest there is nothing to
/// correct, to the last bit.
struct MeasureRest<'a>(&'a mut VerletBody);

impl Kernel for MeasureRest<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let VerletBody {
            rest,
            edges,
            triangles,
            hinges,
            ..
        } = self.0;

        measure_all::<EdgeLength, _, _>(edges, rest);
        measure_all::<CornerAngles, _, _>(triangles, rest);
        measure_all::<DihedralAngle, _, _>(hinges, rest);
    }
}

#[inline(always)]
fn measure_all<C: RestMeasure<N, P>, const N: usize, const P: usize>(
    groups: &mut [ConstraintGroup<N, P, 0>],
    rest: &[DVec3],
) {
    for group in groups {
        let mut places = [Vectors::default(); N];
        for (place, vertices) in places.iter_mut().zip(&group.vertices) {
            // Empty lanes refer to a node behind the last one: any position will do.
            for k in 0..LANES {
                let position = rest.get(vertices[k] as usize).copied().unwrap_or_default();
                place.set_lane(k, position);
            }
        }

        group.parameters = C::measure(&places);
    }
}
