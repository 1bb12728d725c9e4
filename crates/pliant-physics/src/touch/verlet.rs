//! A soft patch by position Verlet and projected constraints: the method of the thesis.
//!
//! **Problem.** Soft vertices move on, give way to what they meet, and keep the lengths and angles
//! of the surface at rest; held ones around them do not move.
//!
//! **Equation.** With the acceleration `a`, the step `Δt` and the damping `k`, algorithm 1 is
//!
//! ```text
//! q_{n+1} = q_n + (q_n − q_{n−1})(1 − k) + a Δt²                               (5.3)
//! as often as told:  out of what is met (5.13), then for all edges, all corners of triangles, all hinges:
//!                    Δqᵢ = wᵢ λ ∇ᵢC        λ = −C / Σⱼ wⱼ |∇ⱼC|²               (5.6, 5.7)
//! ```
//!
//! with `C` of [`edge_length`] (5.8), [`corner_angle`] (5.9) and [`dihedral_angle`] (5.10).
//! Velocities are differences of positions: what the projections move moves on.
//!
//! **Source.** Çetinaslan, "Position Manipulation Techniques for Facial Animation", PhD thesis,
//! Universidade do Porto, 2016, chapter 5 and appendix A; Müller, Heidelberger, Hennix, Ratcliff,
//! "Position based dynamics", 2007; Jakobsen, "Advanced character physics", 2001.
//!
//! **Ours.** Equations 5.1 to 5.13 are right as printed; the constraints' files tell, equation by
//! equation, where appendix A is not (A.1, A.2, A.8, A.9), and what its stiffness means. Algorithm
//! 1 reads as if each vertex had its iterations before the next one moves; we take the text's word,
//! all of one kind and then all of the next. Masses are one, weights of held vertices zero.
//! Constraints are projected in groups of eight that share no vertex, one after the other: an order
//! of Gauss–Seidel like any other, and the same on every machine. As in any such method stiffness
//! grows with the iterations and with shorter steps, and velocities that were made in a step of
//! another length are taken for those of this one. A deep dent may stay: see [`dihedral_angle`].

mod angle_slope;
mod arc_cosine;
mod corner_angle;
mod dihedral_angle;
mod edge_length;
mod options;
#[cfg(test)]
mod test_slopes;
#[cfg(test)]
mod tests;

use pliant_linalg::wide::{Kernel, run_wide};
use pliant_mesh::glam::DVec3;

use super::constraint_group::{Group, pack, sweep};
use super::lanes::{LANES, Lanes, Vectors};
use super::particle::{Particle, particle, place_of, put};
use super::soft_mesh::SoftMesh;
use corner_angle::CornerAngles;
use dihedral_angle::DihedralAngle;
use edge_length::EdgeLength;
pub use options::VerletOptions;

/// A patch that moves by algorithm 1.
#[derive(Debug, Clone)]
pub(crate) struct VerletBody {
    options: VerletOptions,
    /// By node; soft ones come first.
    rest: Vec<DVec3>,
    /// By node, and a held one at the end for places that hold no constraint.
    particles: Vec<Particle>,
    /// Where soft nodes were before the last step.
    previous: Vec<DVec3>,
    edges: Vec<Group<2, 1, 0>>,
    triangles: Vec<Group<3, 3, 0>>,
    hinges: Vec<Group<4, 1, 0>>,
}

impl VerletBody {
    /// At rest, with the nodes of `mesh` at `rest`.
    pub(crate) fn new(mesh: &SoftMesh, rest: &[DVec3], options: &VerletOptions) -> Self {
        assert_eq!(rest.len(), mesh.vertices.len(), "a place for every node");
        let inverse_mass = |node: usize| if node < mesh.soft_count { 1.0 } else { 0.0 };
        let mut particles: Vec<Particle> = rest
            .iter()
            .enumerate()
            .map(|(node, p)| particle(*p, inverse_mass(node)))
            .collect();
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
        run_wide(MeasureRest(&mut body));
        body
    }

    /// The nodes are at `rest` when nothing touches them: lengths and angles anew, held nodes put
    /// there, soft ones carried along by the difference with the velocity they have.
    pub(crate) fn set_rest(&mut self, rest: &[DVec3]) {
        assert_eq!(rest.len(), self.rest.len(), "a place for every node");
        for (node, &new) in rest.iter().enumerate() {
            let old = self.rest[node];
            // In this order a node that is where it rests stays so to the bit.
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
        run_wide(MeasureRest(self));
    }

    /// One step of algorithm 1. `collide` moves nodes out of what they meet, once before each
    /// projection of all constraints; nodes without inverse mass are put back after the step.
    pub(crate) fn step(
        &mut self,
        acceleration: DVec3,
        dt_secs: f64,
        collide: &mut dyn FnMut(&mut [Particle]),
    ) {
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
            run_wide(ProjectAll(self));
        }
        for node in self.previous.len()..node_count {
            self.set_place(node, self.rest[node]);
        }
    }

    /// By node: places, and zero for those that are held.
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

/// A constraint that keeps what it has at rest.
trait AtRest<const N: usize, const P: usize> {
    /// The parameters of eight constraints with their vertices at `places`.
    fn measure(places: &[Vectors; N]) -> [Lanes; P];
}

/// Lengths and angles at rest, by the arithmetic of the projections: at rest they find nothing to
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
fn measure_all<C: AtRest<N, P>, const N: usize, const P: usize>(
    groups: &mut [Group<N, P, 0>],
    rest: &[DVec3],
) {
    for group in groups {
        let mut places = [Vectors::default(); N];
        for (place, vertices) in places.iter_mut().zip(&group.vertices) {
            // Places without a constraint point behind the last node: any place will do.
            (0..LANES).for_each(|k| {
                place.set_lane(
                    k,
                    rest.get(vertices[k] as usize).copied().unwrap_or_default(),
                )
            });
        }
        group.parameters = C::measure(&places);
    }
}
