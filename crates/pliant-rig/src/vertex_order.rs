//! Targets whose vertices come in another order than the neutral's.
//!
//! **Problem.** A sculpting tool or a scan pipeline writes the same vertices in another order. The
//! counts agree, so every reader takes the target, and the surface tears into spikes when the
//! slider moves.
//!
//! **Equation.** The stretch of an edge is `|xᵢ − xⱼ| / max(|x⁰ᵢ − x⁰ⱼ|, ℓᵢ, ℓⱼ)` with the mean
//! length `ℓ` of the neutral's edges around each end. A vertex is torn out where all but a quarter
//! of its edges are stretched [`TORN`] times or more; with [`LEAST_TORN`] of those in a target, the
//! vertices around them that are stretched [`TORN_BESIDE`] times belong to them too.
//!
//! **Ours.** Opening lips and lids stretch edges tenfold, but in one direction: along the lip the
//! edges stay as they are. Measured: the lower quartile of a vertex' stretches stays below 2.7 in
//! the targets of every face at hand (ICT, Face Cap, MakeHuman, our own), and below 3.2 in the
//! poses of clips of animals, hands and cloth; only an elastic cow in free flight has one or two
//! vertices at 4.7 in some frames.

use pliant_mesh::Mesh;
use pliant_mesh::glam::{DVec3, Vec3};

use crate::{Rig, Target};

/// Stretch of a vertex that was torn out of its surroundings.
const TORN: f64 = 4.0;
/// Stretch that is enough beside such vertices.
const TORN_BESIDE: f64 = 1.5;
/// Fewer are a spike in a sculpt rather than another order.
const LEAST_TORN: usize = 4;

/// A target in which vertices have changed places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scrambled {
    /// The target's name.
    pub target: String,
    /// The vertices that are in each other's places, ascending.
    pub vertices: Vec<u32>,
}

/// The targets of a rig whose vertex order differs from the neutral's, at least in part.
///
/// Looks at the shape at weight 1. The cost is about that of reading each displacement twice.
#[must_use]
pub fn find_scrambled(rig: &Rig) -> Vec<Scrambled> {
    let surroundings = Surroundings::of(rig.neutral());
    let targets = rig.targets();
    let found =
        pliant_linalg::parallel::map(targets.len(), 1, |k| surroundings.torn_out(&targets[k]));
    let named = targets
        .iter()
        .zip(found)
        .filter(|(_, vertices)| !vertices.is_empty());
    named
        .map(|(target, vertices)| Scrambled {
            target: target.name.clone(),
            vertices,
        })
        .collect()
}

/// A neutral with the mean edge around each vertex.
struct Surroundings<'a> {
    mesh: &'a Mesh,
    mean_edges: Vec<f64>,
}

impl<'a> Surroundings<'a> {
    fn of(mesh: &'a Mesh) -> Self {
        let (points, rings) = (mesh.positions(), mesh.topology().vertex_neighbors());
        let mean = |(v, ring): (usize, &[u32])| {
            let total: f64 = ring
                .iter()
                .map(|&w| points[v].distance(points[w as usize]))
                .sum();
            total / ring.len().max(1) as f64
        };
        Self {
            mesh,
            mean_edges: rings.iter().enumerate().map(mean).collect(),
        }
    }

    /// The vertices that are torn out by a target; none where too few are to be believed.
    fn torn_out(&self, target: &Target) -> Vec<u32> {
        let deltas = target.to_dense(self.mesh.vertex_count());
        // Who has not moved has not changed places.
        let torn: Vec<u32> = target
            .vertices
            .iter()
            .copied()
            .filter(|&v| self.is_stretched(v, &deltas, TORN))
            .collect();
        if torn.len() < LEAST_TORN {
            Vec::new()
        } else {
            self.spread(torn, &deltas)
        }
    }

    /// The torn vertices and those around them that are stretched too.
    fn spread(&self, mut torn: Vec<u32>, deltas: &[Vec3]) -> Vec<u32> {
        let mut known = vec![false; deltas.len()];
        torn.iter().for_each(|&v| known[v as usize] = true);
        let mut next = 0;
        while next < torn.len() {
            for &neighbor in self
                .mesh
                .topology()
                .vertex_neighbors()
                .row(torn[next] as usize)
            {
                let v = neighbor as usize;
                if !known[v]
                    && deltas[v] != Vec3::ZERO
                    && self.is_stretched(neighbor, deltas, TORN_BESIDE)
                {
                    known[v] = true;
                    torn.push(neighbor);
                }
            }
            next += 1;
        }
        torn.sort_unstable();
        torn
    }

    /// Whether all but a quarter of a vertex' edges are stretched `times` or more.
    fn is_stretched(&self, vertex: u32, deltas: &[Vec3], times: f64) -> bool {
        let v = vertex as usize;
        let ring = self.mesh.topology().vertex_neighbors().row(v);
        // An edge cannot grow by more than its ends part; most vertices are done after two edges.
        let least_parting = ((times - 1.0) * self.mean_edges[v]) as f32 * 0.999;
        let is_short = |w: usize| {
            deltas[v].distance_squared(deltas[w]) < least_parting * least_parting
                || !self.is_long(v, w, deltas, times)
        };
        let mut short_left = ring.len() / 4;
        !ring.is_empty()
            && ring.iter().all(|&w| {
                let short = is_short(w as usize);
                if short && short_left == 0 {
                    return false;
                }
                short_left -= usize::from(short);
                true
            })
    }

    fn is_long(&self, v: usize, w: usize, deltas: &[Vec3], times: f64) -> bool {
        let points = self.mesh.positions();
        let place = |v: usize| -> DVec3 { points[v] + deltas[v].as_dvec3() };
        let unit = points[v]
            .distance(points[w])
            .max(self.mean_edges[v])
            .max(self.mean_edges[w]);
        place(v).distance(place(w)) >= times * unit
    }
}

#[cfg(test)]
mod tests {
    use pliant_mesh::shapes::bumpy_sheet;

    use super::*;

    /// A sheet that a target bends by many edges' length.
    fn bent_sheet() -> (Mesh, Vec<DVec3>) {
        let mesh = bumpy_sheet(40, 0.3);
        let bend = |p: &DVec3| *p + DVec3::new(0.1 * p.y, 0.0, 0.4 * (3.0 * p.x).sin() * p.y);
        let shape = mesh.positions().iter().map(bend).collect();
        (mesh, shape)
    }

    fn rig(mesh: &Mesh, shape: &[DVec3]) -> Rig {
        let deltas = shape
            .iter()
            .zip(mesh.positions())
            .map(|(a, b)| (*a - *b).as_vec3());
        Rig::still(mesh.clone())
            .with_targets(vec![Target::from_dense("bend", deltas)])
            .unwrap()
    }

    /// A fixed shuffle of the vertices of a block (Fisher and Yates with a linear congruence).
    fn shuffled(shape: &[DVec3], block: std::ops::Range<usize>) -> Vec<DVec3> {
        let mut shape = shape.to_vec();
        let mut state = 12345_u64;
        for k in (block.start + 1..block.end).rev() {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            shape.swap(
                k,
                block.start + (state >> 33) as usize % (k + 1 - block.start),
            );
        }
        shape
    }

    /// Of what was found and of what there is, the share that is both.
    fn precision_and_recall(found: &[u32], truth: &[u32]) -> (f64, f64) {
        let both = found.iter().filter(|v| truth.contains(v)).count() as f64;
        (both / found.len() as f64, both / truth.len() as f64)
    }

    #[test]
    fn a_shuffled_block_is_named_vertex_by_vertex() {
        let (mesh, shape) = bent_sheet();
        for first in [0, 400, 1201] {
            let block = first..first + 300;
            let scrambled = shuffled(&shape, block.clone());
            let truth: Vec<u32> = block
                .filter(|&v| scrambled[v] != shape[v])
                .map(|v| v as u32)
                .collect();
            let found = find_scrambled(&rig(&mesh, &scrambled));
            assert_eq!(found.len(), 1);
            let (precision, recall) = precision_and_recall(&found[0].vertices, &truth);
            assert!(
                precision > 0.95 && recall > 0.95,
                "precision {precision}, recall {recall}"
            );
        }
    }

    #[test]
    fn large_smooth_motion_is_no_other_order() {
        let (mesh, shape) = bent_sheet();
        assert!(find_scrambled(&rig(&mesh, &shape)).is_empty());
        let far = |p: &DVec3| DVec3::new(p.x * 3.0, -p.y, p.z + 70.0);
        assert!(
            find_scrambled(&rig(
                &mesh,
                &mesh.positions().iter().map(far).collect::<Vec<_>>()
            ))
            .is_empty()
        );
        // A slit that opens by ten edges: its edges across are stretched, those along it are not.
        let open = |p: &DVec3| *p + DVec3::Y * if p.y > 0.5 { 0.25 } else { 0.0 };
        assert!(
            find_scrambled(&rig(
                &mesh,
                &mesh.positions().iter().map(open).collect::<Vec<_>>()
            ))
            .is_empty()
        );
    }

    #[test]
    fn the_finding_does_not_depend_on_the_unit() {
        let (mesh, shape) = bent_sheet();
        let scrambled = shuffled(&shape, 400..700);
        let found = find_scrambled(&rig(&mesh, &scrambled));
        for scale in [1.0 / 1024.0, 4096.0] {
            let scaled = |points: &[DVec3]| points.iter().map(|p| *p * scale).collect::<Vec<_>>();
            let larger = mesh.posed(scaled(mesh.positions())).unwrap();
            assert_eq!(find_scrambled(&rig(&larger, &scaled(&scrambled))), found);
        }
    }

    #[test]
    fn numbers_that_are_not_finite_do_no_harm() {
        let (mesh, mut shape) = bent_sheet();
        shape[7] = DVec3::NAN;
        assert!(find_scrambled(&rig(&mesh, &shape)).is_empty());
    }
}
