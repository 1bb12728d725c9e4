//! Detection of targets whose vertices are stored in another order than those of the neutral.
//!
//! **Problem.** A sculpting tool or a scan pipeline writes the same vertices in another order. The
//! counts agree, so every reader accepts the target, and the surface breaks into spikes when the
//! slider moves.
//!
//! **Equation.** The stretch of an edge is `|xᵢ − xⱼ| / max(|nᵢ − nⱼ|, ℓᵢ, ℓⱼ)` with the mean
//! length `ℓ` of the edges of the neutral at each end. A vertex is an outlier if all but a quarter
//! of its edges have a stretch of [`OUTLIER_STRETCH`] or more. With [`LEAST_OUTLIERS`] of those in
//! a target, connected vertices with a stretch of [`NEIGHBOUR_STRETCH`] are outliers too.
//!
//! **Departures.** The method is ours. Opening lips and lids stretch edges tenfold, but in one
//! direction: the edges along the lip keep their length. *Measured*: the lower quartile of the
//! stretches at a vertex stays below 2.7 in the targets of all faces that we tested (ICT, Face Cap,
//! MakeHuman, our own), and below 3.2 in the poses of clips of animals, hands and cloth; only an
//! elastic cow in free flight has one or two vertices at 4.7 in some frames.

use pliant_linalg::parallel;
use pliant_mesh::Mesh;
use pliant_mesh::glam::{DVec3, Vec3};

use super::{Rig, Target};

/// The stretch of an outlier.
const OUTLIER_STRETCH: f64 = 4.0;
/// The stretch of an outlier beside another one.
const NEIGHBOUR_STRETCH: f64 = 1.5;
/// Fewer outliers are a spike in a sculpt rather than another order.
const LEAST_OUTLIERS: usize = 4;

/// A target whose vertices are stored in another order, at least in part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReorderedTarget {
    /// The name of the target.
    pub target: String,
    /// The vertices that are out of order, ascending.
    pub vertices: Vec<u32>,
}

/// The targets of a rig whose vertex order differs from that of the neutral, at least in part.
///
/// It tests the shape at weight 1. The cost is about that of reading each displacement twice.
#[must_use]
pub fn find_reordered_targets(rig: &Rig) -> Vec<ReorderedTarget> {
    let edges = RestEdges::of(rig.neutral());
    let targets = rig.targets();
    let outliers = parallel::map(targets.len(), 1, |k| edges.outliers(&targets[k]));

    let mut reordered = Vec::new();
    for (target, vertices) in targets.iter().zip(outliers) {
        if !vertices.is_empty() {
            reordered.push(ReorderedTarget {
                target: target.name.clone(),
                vertices,
            });
        }
    }

    reordered
}

/// A neutral with the mean edge length at each vertex.
pub(super) struct RestEdges<'a> {
    mesh: &'a Mesh,
    mean_lengths: Vec<f64>,
}

impl<'a> RestEdges<'a> {
    pub(super) fn of(mesh: &'a Mesh) -> Self {
        let points = mesh.positions();
        let mut mean_lengths = Vec::with_capacity(points.len());
        for (v, ring) in mesh.topology().vertex_neighbors().iter().enumerate() {
            let lengths = ring.iter().map(|&w| points[v].distance(points[w as usize]));
            mean_lengths.push(lengths.sum::<f64>() / ring.len().max(1) as f64);
        }

        Self { mesh, mean_lengths }
    }

    /// The mean length of the edges at each vertex.
    pub(super) fn mean_lengths(&self) -> &[f64] {
        &self.mean_lengths
    }

    /// The vertices of a target that are out of order; none if there are too few outliers.
    fn outliers(&self, target: &Target) -> Vec<u32> {
        let deltas = target.to_dense(self.mesh.vertex_count());
        self.outliers_of(target.vertices.clone(), &deltas)
    }

    /// As [`outliers`](Self::outliers), for a shape that is given by its positions.
    pub(super) fn outliers_of_shape(&self, positions: &[DVec3]) -> Vec<u32> {
        let rest = self.mesh.positions().iter();
        let deltas: Vec<Vec3> = positions
            .iter()
            .zip(rest)
            .map(|(to, from)| (*to - *from).as_vec3())
            .collect();
        let moved = (0..deltas.len() as u32).filter(|&v| deltas[v as usize] != Vec3::ZERO);
        self.outliers_of(moved.collect(), &deltas)
    }

    /// The vertices of edges that a shape stretches as much as an outlier does.
    pub(super) fn torn_vertices(&self, positions: &[DVec3]) -> Vec<u32> {
        let deltas: Vec<Vec3> = positions
            .iter()
            .zip(self.mesh.positions())
            .map(|(to, from)| (*to - *from).as_vec3())
            .collect();
        let edges = self.mesh.topology().edges().iter();
        let mut torn: Vec<u32> = edges
            .filter(|[v, w]| {
                self.is_edge_stretched(*v as usize, *w as usize, &deltas, OUTLIER_STRETCH)
            })
            .flatten()
            .copied()
            .collect();
        torn.sort_unstable();
        torn.dedup();
        torn
    }

    /// A vertex that did not move is not out of order.
    fn outliers_of(&self, moved: Vec<u32>, deltas: &[Vec3]) -> Vec<u32> {
        let mut outliers = moved;
        outliers.retain(|&v| self.is_stretched(v, deltas, OUTLIER_STRETCH));

        if outliers.len() < LEAST_OUTLIERS {
            Vec::new()
        } else {
            self.grow(outliers, deltas)
        }
    }

    /// The outliers and the connected vertices that are stretched too.
    fn grow(&self, mut outliers: Vec<u32>, deltas: &[Vec3]) -> Vec<u32> {
        let mut included = vec![false; deltas.len()];
        for &v in &outliers {
            included[v as usize] = true;
        }

        // Breadth-first: the list grows while it is read.
        let neighbors = self.mesh.topology().vertex_neighbors();
        let mut next = 0;
        while next < outliers.len() {
            for &neighbor in neighbors.row(outliers[next] as usize) {
                let v = neighbor as usize;
                if !included[v]
                    && deltas[v] != Vec3::ZERO
                    && self.is_stretched(neighbor, deltas, NEIGHBOUR_STRETCH)
                {
                    included[v] = true;
                    outliers.push(neighbor);
                }
            }
            next += 1;
        }

        outliers.sort_unstable();
        outliers
    }

    /// Whether all but a quarter of the edges of a vertex have at least the stretch `stretch`.
    fn is_stretched(&self, vertex: u32, deltas: &[Vec3], stretch: f64) -> bool {
        let v = vertex as usize;
        let ring = self.mesh.topology().vertex_neighbors().row(v);
        if ring.is_empty() {
            return false;
        }

        // An edge cannot grow by more than the difference of the displacements of its ends; with
        // this test, most vertices are done after two edges.
        let least_growth = ((stretch - 1.0) * self.mean_lengths[v]) as f32 * 0.999;
        let mut short_left = ring.len() / 4;
        for &w in ring {
            let w = w as usize;
            let is_short = deltas[v].distance_squared(deltas[w]) < least_growth * least_growth
                || !self.is_edge_stretched(v, w, deltas, stretch);
            if is_short && short_left == 0 {
                return false;
            }
            short_left -= usize::from(is_short);
        }

        true
    }

    fn is_edge_stretched(&self, v: usize, w: usize, deltas: &[Vec3], stretch: f64) -> bool {
        let points = self.mesh.positions();
        let moved = |v: usize| -> DVec3 { points[v] + deltas[v].as_dvec3() };
        let rest_length = points[v]
            .distance(points[w])
            .max(self.mean_lengths[v])
            .max(self.mean_lengths[w]);
        moved(v).distance(moved(w)) >= stretch * rest_length
    }
}

#[cfg(test)]
mod tests {
    use pliant_mesh::shapes::bumpy_sheet;

    use super::*;

    /// A sheet and its shape after bending by many edge lengths.
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
        Rig::without_targets(mesh.clone())
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

    fn precision_and_recall(found: &[u32], truth: &[u32]) -> (f64, f64) {
        let both = found.iter().filter(|v| truth.contains(v)).count() as f64;
        (both / found.len() as f64, both / truth.len() as f64)
    }

    #[test]
    fn the_vertices_of_a_shuffled_block_are_found() {
        let (mesh, shape) = bent_sheet();
        for first in [0, 400, 1201] {
            let block = first..first + 300;
            let reordered = shuffled(&shape, block.clone());
            let truth: Vec<u32> = block
                .filter(|&v| reordered[v] != shape[v])
                .map(|v| v as u32)
                .collect();

            let found = find_reordered_targets(&rig(&mesh, &reordered));
            assert_eq!(found.len(), 1);

            let (precision, recall) = precision_and_recall(&found[0].vertices, &truth);
            assert!(
                precision > 0.95 && recall > 0.95,
                "precision {precision}, recall {recall}"
            );
        }
    }

    #[test]
    fn large_smooth_motion_is_not_reported() {
        let (mesh, shape) = bent_sheet();
        assert!(find_reordered_targets(&rig(&mesh, &shape)).is_empty());

        let far = |p: &DVec3| DVec3::new(p.x * 3.0, -p.y, p.z + 70.0);
        assert!(
            find_reordered_targets(&rig(
                &mesh,
                &mesh.positions().iter().map(far).collect::<Vec<_>>()
            ))
            .is_empty()
        );

        // A slit that opens by ten edges: its edges across are stretched, those along it are not.
        let open = |p: &DVec3| *p + DVec3::Y * if p.y > 0.5 { 0.25 } else { 0.0 };
        assert!(
            find_reordered_targets(&rig(
                &mesh,
                &mesh.positions().iter().map(open).collect::<Vec<_>>()
            ))
            .is_empty()
        );
    }

    #[test]
    fn the_result_does_not_depend_on_the_unit() {
        let (mesh, shape) = bent_sheet();
        let reordered = shuffled(&shape, 400..700);
        let found = find_reordered_targets(&rig(&mesh, &reordered));
        for scale in [1.0 / 1024.0, 4096.0] {
            let scaled = |points: &[DVec3]| points.iter().map(|p| *p * scale).collect::<Vec<_>>();
            let larger = mesh.posed(scaled(mesh.positions())).unwrap();
            assert_eq!(
                find_reordered_targets(&rig(&larger, &scaled(&reordered))),
                found
            );
        }
    }

    #[test]
    fn numbers_that_are_not_finite_are_not_reported() {
        let (mesh, mut shape) = bent_sheet();
        shape[7] = DVec3::NAN;
        assert!(find_reordered_targets(&rig(&mesh, &shape)).is_empty());
    }
}
