//! Groups of eight constraints without a common vertex, projected at once.
//!
//! **Problem.** Gauss–Seidel projects one constraint after another. Constraints without a common
//! vertex are independent; several of them at once give the same positions as one by one.
//!
//! **Equation.** A constraint `C(x₁ … x_N) = 0` with inverse masses `w`, compliance `α`, step `h`,
//! `α̃ = α/h²` and a multiplier `λ` that starts at zero in each step moves its vertices by
//!
//! ```text
//! Δλ = (−C − α̃ λ) / (Σ wᵢ |∇ᵢC|² + α̃)        Δxᵢ = wᵢ ∇ᵢC Δλ
//! ```
//!
//! **Source.** Macklin, Müller, Chentanez, "XPBD", MIG 2016, eqs. 17 and 18; with `α = 0` and `λ =
//! 0` it is Müller et al., "Position based dynamics", 2007, and eqs. 5.6 and 5.7 of Çetinaslan
//! 2016.
//!
//! **Departures.** Groups are filled in the order of the constraints, first fit among the last few
//! groups with a free lane: neighbouring constraints stay near in memory. Empty lanes refer to a
//! vertex that does not move.

use super::lanes::{LANES, Lanes, Vectors};
use super::particle::Particle;

/// Groups that are searched for a free lane. Chosen: on triangle meshes less than one lane in fifty
/// stays empty.
const OPEN_GROUPS: usize = 24;

/// A kind of constraint on `N` vertices with `P` parameters and `R` multipliers.
pub(crate) trait Constraint<const N: usize, const P: usize, const R: usize> {
    /// Projects eight constraints.
    fn project(
        &self,
        places: &mut [Vectors; N],
        inverse_masses: &[Lanes; N],
        parameters: &[Lanes; P],
        multipliers: &mut [Lanes; R],
    );
}

/// Eight constraints on `N` vertices without a common vertex.
#[derive(Debug, Clone)]
pub(crate) struct ConstraintGroup<const N: usize, const P: usize, const R: usize> {
    pub(crate) vertices: [[u32; LANES]; N],
    pub(crate) parameters: [Lanes; P],
    pub(crate) multipliers: [Lanes; R],
    /// The constraint in each lane, in the given order; empty lanes repeat the first.
    pub(crate) sources: [u32; LANES],
    pub(crate) filled: usize,
}

/// Packs constraints into groups; empty lanes get the vertex `held`, which has no inverse mass.
pub(crate) fn pack<const N: usize, const P: usize, const R: usize>(
    constraints: &[[u32; N]],
    held: u32,
) -> Vec<ConstraintGroup<N, P, R>> {
    let mut groups: Vec<ConstraintGroup<N, P, R>> =
        Vec::with_capacity(constraints.len() / LANES + 1);
    let mut first_open = 0;
    for (source, vertices) in constraints.iter().enumerate() {
        // The first open group without a common vertex.
        let meets = |group: &ConstraintGroup<N, P, R>| {
            (0..group.filled).any(|k| group.vertices.iter().any(|row| vertices.contains(&row[k])))
        };
        let place =
            (first_open..groups.len()).find(|&g| groups[g].filled < LANES && !meets(&groups[g]));
        let place = place.unwrap_or_else(|| {
            groups.push(ConstraintGroup::empty(held, source as u32));
            groups.len() - 1
        });

        groups[place].push(vertices, source as u32);
        while first_open < groups.len()
            && (groups[first_open].filled == LANES || groups.len() - first_open > OPEN_GROUPS)
        {
            first_open += 1;
        }
    }

    groups
}

/// Projects all groups in order.
#[inline(always)]
pub(crate) fn sweep<const N: usize, const P: usize, const R: usize>(
    constraint: &impl Constraint<N, P, R>,
    groups: &mut [ConstraintGroup<N, P, R>],
    particles: &mut [Particle],
) {
    for group in groups {
        let mut places = [Vectors::default(); N];
        let mut inverse_masses = [Lanes::ZERO; N];
        for corner in 0..N {
            (places[corner], inverse_masses[corner]) = gather(particles, &group.vertices[corner]);
        }

        constraint.project(
            &mut places,
            &inverse_masses,
            &group.parameters,
            &mut group.multipliers,
        );

        // No vertex is in two constraints of a group, so no result is overwritten.
        for corner in 0..N {
            scatter(
                particles,
                &group.vertices[corner],
                &places[corner],
                &inverse_masses[corner],
            );
        }
    }
}

/// One projection (eqs. 17 and 18) of a constraint with the value `violation`; `compliance` is
/// `α̃`.
#[inline(always)]
pub(crate) fn relax<const N: usize>(
    places: &mut [Vectors; N],
    inverse_masses: &[Lanes; N],
    violation: Lanes,
    gradients: [Vectors; N],
    compliance: Lanes,
    multiplier: &mut Lanes,
) {
    // Eq. 18.
    let mut response = compliance;
    for k in 0..N {
        response = response + inverse_masses[k] * gradients[k].dot(gradients[k]);
    }

    let step = (-violation - compliance * *multiplier).over(response);
    *multiplier = *multiplier + step;
    for k in 0..N {
        places[k] += gradients[k] * (inverse_masses[k] * step);
    }
}

/// All three gradients of a function of differences of three positions, from those at the second
/// and third.
#[inline(always)]
pub(crate) fn balanced([second, third]: [Vectors; 2]) -> [Vectors; 3] {
    [-(second + third), second, third]
}

/// Positions and inverse masses of the vertices of eight lanes.
#[inline(always)]
fn gather(particles: &[Particle], vertices: &[u32; LANES]) -> (Vectors, Lanes) {
    let mut places = Vectors::default();
    let mut inverse_masses = Lanes::ZERO;
    for k in 0..LANES {
        let [x, y, z, w] = particles[vertices[k] as usize];
        (
            places.x.0[k],
            places.y.0[k],
            places.z.0[k],
            inverse_masses.0[k],
        ) = (x, y, z, w);
    }

    (places, inverse_masses)
}

#[inline(always)]
fn scatter(
    particles: &mut [Particle],
    vertices: &[u32; LANES],
    places: &Vectors,
    inverse_masses: &Lanes,
) {
    for k in 0..LANES {
        particles[vertices[k] as usize] = [
            places.x.0[k],
            places.y.0[k],
            places.z.0[k],
            inverse_masses.0[k],
        ];
    }
}

impl<const N: usize, const P: usize, const R: usize> ConstraintGroup<N, P, R> {
    fn empty(held: u32, source: u32) -> Self {
        Self {
            vertices: [[held; LANES]; N],
            parameters: [Lanes::ZERO; P],
            multipliers: [Lanes::ZERO; R],
            sources: [source; LANES],
            filled: 0,
        }
    }

    fn push(&mut self, vertices: &[u32; N], source: u32) {
        for (row, &vertex) in self.vertices.iter_mut().zip(vertices) {
            row[self.filled] = vertex;
        }
        self.sources[self.filled] = source;
        self.filled += 1;
    }

    /// Sets the parameters of every constraint, by its index and its vertices; also those of empty
    /// lanes, whose vertices are all the held one.
    pub(crate) fn set_parameters(&mut self, of: impl Fn(usize, [u32; N]) -> [f64; P]) {
        for k in 0..LANES {
            let vertices = std::array::from_fn(|corner| self.vertices[corner][k]);
            for (row, value) in self
                .parameters
                .iter_mut()
                .zip(of(self.sources[k] as usize, vertices))
            {
                row.0[k] = value;
            }
        }
    }

    /// Sets the multipliers to zero.
    pub(crate) fn reset_multipliers(&mut self) {
        self.multipliers = [Lanes::ZERO; R];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::shapes::icosphere;

    #[test]
    fn every_constraint_is_in_one_group_and_no_group_holds_a_vertex_twice() {
        let ball = icosphere(4);
        let held = ball.vertex_count() as u32;
        let groups: Vec<ConstraintGroup<3, 1, 1>> = pack(ball.triangles(), held);

        // Every constraint once, and no vertex twice in a group.
        let mut seen = vec![0; ball.triangles().len()];
        for group in &groups {
            let mut vertices: Vec<u32> = group
                .vertices
                .iter()
                .flat_map(|row| row[..group.filled].iter().copied())
                .collect();

            vertices.sort_unstable();
            assert!(vertices.windows(2).all(|pair| pair[0] != pair[1]));
            assert!(
                group
                    .vertices
                    .iter()
                    .all(|row| row[group.filled..].iter().all(|&v| v == held))
            );

            for k in 0..group.filled {
                assert_eq!(
                    ball.triangles()[group.sources[k] as usize],
                    [0, 1, 2].map(|c| group.vertices[c][k])
                );
                seen[group.sources[k] as usize] += 1;
            }
        }

        assert!(seen.iter().all(|&count| count == 1));
        let places = groups.len() * LANES;
        assert!(
            places < ball.triangles().len() * 51 / 50,
            "{places} places for {} constraints",
            ball.triangles().len()
        );
    }
}
