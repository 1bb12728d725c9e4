//! Constraints in groups that share no vertex, so that eight are projected at once.
//!
//! **Problem.** Gauss–Seidel moves vertices for one constraint after another. Constraints without a
//! common vertex do not see each other; several of them at once give the same positions as one by
//! one.
//!
//! **Equation.** A constraint `C(x₁ … x_N) = 0` with inverse masses `w`, compliance `α`, step `h`,
//! `α̃ = α/h²` and a multiplier `λ` that starts at zero in each step moves its vertices by
//!
//! ```text
//! Δλ = (−C − α̃ λ) / (Σ wᵢ |∇ᵢC|² + α̃)        Δxᵢ = wᵢ ∇ᵢC Δλ
//! ```
//!
//! **Source.** Macklin, Müller, Chentanez, "XPBD", MIG 2016, eqs. 17 and 18; with `α = 0` and `λ`
//! forgotten it is Müller et al., "Position based dynamics", 2007, and eqs. 5.6 and 5.7 of
//! Çetinaslan's thesis.
//!
//! **Ours.** Groups are filled in the order of the constraints, first fit among the last few groups
//! that have a place left: near constraints stay near in memory. Places that stay empty point at a
//! vertex that does not move.

use super::lanes::{LANES, Lanes, Vectors};
use super::particle::Particle;

/// Groups that are looked at for a free place: ours; on triangle meshes it leaves under one place
/// in fifty empty.
const OPEN_GROUPS: usize = 24;

/// A kind of constraint on `N` vertices with `P` numbers of its own and `R` multipliers.
pub(crate) trait Constraint<const N: usize, const P: usize, const R: usize> {
    /// Moves `places` towards satisfying eight constraints.
    fn project(
        &self,
        places: &mut [Vectors; N],
        inverse_masses: &[Lanes; N],
        parameters: &[Lanes; P],
        multipliers: &mut [Lanes; R],
    );
}

/// Eight constraints on `N` vertices that have no vertex in common.
#[derive(Debug, Clone)]
pub(crate) struct Group<const N: usize, const P: usize, const R: usize> {
    pub(crate) vertices: [[u32; LANES]; N],
    pub(crate) parameters: [Lanes; P],
    pub(crate) multipliers: [Lanes; R],
    /// Which constraint is in which lane, in the order they were given; the first of them again in
    /// lanes that are empty.
    pub(crate) sources: [u32; LANES],
    pub(crate) filled: usize,
}

/// Lays constraints into groups; empty places get the vertex `held`, which has no inverse mass.
pub(crate) fn pack<const N: usize, const P: usize, const R: usize>(
    constraints: &[[u32; N]],
    held: u32,
) -> Vec<Group<N, P, R>> {
    let mut groups: Vec<Group<N, P, R>> = Vec::with_capacity(constraints.len() / LANES + 1);
    let mut first_open = 0;
    for (source, vertices) in constraints.iter().enumerate() {
        let meets = |group: &Group<N, P, R>| {
            (0..group.filled).any(|k| group.vertices.iter().any(|row| vertices.contains(&row[k])))
        };
        let place =
            (first_open..groups.len()).find(|&g| groups[g].filled < LANES && !meets(&groups[g]));
        let place = place.unwrap_or_else(|| {
            groups.push(Group::empty(held, source as u32));
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
    groups: &mut [Group<N, P, R>],
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

/// One step of a constraint whose value is off by `violation`; `compliance` is `α̃`.
#[inline(always)]
pub(crate) fn relax<const N: usize>(
    places: &mut [Vectors; N],
    inverse_masses: &[Lanes; N],
    violation: Lanes,
    gradients: [Vectors; N],
    compliance: Lanes,
    multiplier: &mut Lanes,
) {
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

/// Gradients of what only differences of three places enter, from those at the second and third.
#[inline(always)]
pub(crate) fn balanced([second, third]: [Vectors; 2]) -> [Vectors; 3] {
    [-(second + third), second, third]
}

#[inline(always)]
fn gather(particles: &[Particle], vertices: &[u32; LANES]) -> (Vectors, Lanes) {
    let (mut places, mut inverse_masses) = (Vectors::default(), Lanes::ZERO);
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

impl<const N: usize, const P: usize, const R: usize> Group<N, P, R> {
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

    /// Sets the numbers of every constraint, by its place in the order given and its vertices;
    /// empty lanes are asked for, too, all with the held vertex.
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

    pub(crate) fn forget(&mut self) {
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
        let groups: Vec<Group<3, 1, 1>> = pack(ball.triangles(), held);
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
