//! Springs of a shape: connectivity, rest lengths and stiffness between the shapes.
//!
//! **Problem.** Put springs on the surface and through the inside of a shape. Their rest lengths
//! distinguish the shapes.
//!
//! **Equation.** A spring `q` joins vertices `i < j`. In shape `s` its rest length is `rˢ = |vᵢˢ −
//! vⱼˢ|`; at the weights `w`, which sum to one,
//!
//! ```text
//! r̄ = Σₛ wₛ rˢ        k = 1 / r̄
//! ```
//!
//! or, where the energy has edges alone, `k = L̄ / r̄²` with the mean edge `L̄` of the surface,
//! blended as all lengths are.
//!
//! Structure springs are the edges of the triangulation, bending springs join vertices at graph
//! distance two, internal springs are the edges of tetrahedra. A pair has one spring, of the first
//! of these kinds that applies.
//!
//! **Source.** Ma, Wang, Fyffe, Chen, Debevec, "A blendshape model that incorporates physical
//! interaction", 2012, sections 3.1, 3.3 and 3.5.
//!
//! **Departures.** Weights outside 0..1 may give negative lengths: a rest length has a lower bound
//! relative to the shortest length of all shapes. Springs between coincident vertices have no
//! length, and their constant is bounded. A map over the vertices changes the stiffness locally; a
//! spring takes the mean of its ends.

use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;

use crate::blend::interior::tetrahedron::edges_of;

/// Number of springs of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SpringCounts {
    /// Edges of the triangulation.
    pub structure: usize,
    /// Pairs of surface vertices at graph distance two.
    pub bending: usize,
    /// Edges of tetrahedra that are neither.
    pub internal: usize,
    /// Springs from the shape to its anchors.
    pub anchor: usize,
}

impl SpringCounts {
    /// All but those to anchors.
    #[must_use]
    pub fn in_shape(&self) -> usize {
        self.structure + self.bending + self.internal
    }
}

/// Springs with a rest length in each of several shapes.
#[derive(Debug, Clone)]
pub(crate) struct Springs {
    ends: Vec<[u32; 2]>,
    counts: SpringCounts,
    points: usize,
    /// One list per shape.
    rest: Vec<Vec<f64>>,
    /// Stiffness of each spring relative to `k`: one without a map.
    stiffness: Vec<f64>,
    /// The mean edge of the surface, by shape.
    edges: Vec<f64>,
    law: StiffnessLaw,
}

/// The dependence of the stiffness on the length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StiffnessLaw {
    /// `k = 1 / r̄`.
    Inverse,
    /// `k = L̄ / r̄²`: equal relative strains have equal energies.
    InverseSquare,
}

/// A spring between the shapes: `½ stiffness (length − rest)²`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spring {
    pub(crate) rest: f64,
    pub(crate) stiffness: f64,
}

/// Extrapolated rest lengths have at least this share of the shortest length of all shapes. Chosen:
/// a spring compressed to a twentieth is already a fold.
pub(crate) const LEAST_SHARE: f64 = 0.05;

/// A spring shorter than this share of the mean edge has the constant of one with that length.
/// Chosen: far below the edges of a valid mesh.
const SHORT: f64 = 1e-3;

/// Where the energy has edges alone, springs to anchors only fix the rigid motion. Chosen: small
/// compared with edges, large compared with the tolerances.
const ANCHOR_SHARE: f64 = 1e-3;

impl Springs {
    /// Springs of `mesh` and of tetrahedra over its vertices and interior points, and `extra` ones
    /// to anchors.
    ///
    /// `shapes` holds the position of every point, surface vertices first. Indices are checked where
    /// they enter the crate.
    pub(crate) fn new(
        mesh: &Mesh,
        tetrahedra: &[[u32; 4]],
        extra: &[[u32; 2]],
        shapes: &[Vec<DVec3>],
    ) -> Self {
        let (ends, counts) = connect(mesh, tetrahedra);
        Self::joining(ends, counts, extra, shapes)
    }

    /// The edges of `mesh` alone, whose energy depends on the relative strain, and soft `extra`
    /// springs.
    pub(crate) fn edges(mesh: &Mesh, extra: &[[u32; 2]], shapes: &[Vec<DVec3>]) -> Self {
        let ends: Vec<[u32; 2]> = mesh
            .topology()
            .edges()
            .iter()
            .map(|&e| ascending(e))
            .collect();

        let counts = SpringCounts {
            structure: ends.len(),
            ..SpringCounts::default()
        };

        let mut springs = Self {
            law: StiffnessLaw::InverseSquare,
            ..Self::joining(ends, counts, extra, shapes)
        };

        springs.stiffness[counts.structure..].fill(ANCHOR_SHARE);
        springs
    }

    fn joining(
        mut ends: Vec<[u32; 2]>,
        mut counts: SpringCounts,
        extra: &[[u32; 2]],
        shapes: &[Vec<DVec3>],
    ) -> Self {
        counts.anchor = extra.len();
        ends.extend_from_slice(extra);

        // Rest lengths, and the mean edge of the surface, in every shape.
        let rest: Vec<Vec<f64>> = shapes.iter().map(|points| lengths(points, &ends)).collect();
        let edges = rest
            .iter()
            .map(|lengths| {
                lengths[..counts.structure].iter().sum::<f64>() / counts.structure.max(1) as f64
            })
            .collect();

        let stiffness = vec![1.0; ends.len()];
        Self {
            points: shapes.first().map_or(0, Vec::len),
            ends,
            counts,
            rest,
            stiffness,
            edges,
            law: StiffnessLaw::Inverse,
        }
    }

    /// Springs whose stiffness is the mean of `map` at their ends, relative to the mean of `map`
    /// over all points: only ratios matter.
    pub(crate) fn with_stiffness(mut self, map: &[f64]) -> Self {
        let mean = map.iter().sum::<f64>() / map.len().max(1) as f64;
        for (own, ends) in self.stiffness.iter_mut().zip(&self.ends) {
            let [i, j] = *ends;
            let k = 0.5 * (map[i as usize] + map[j as usize]);
            *own *= k / mean;
        }

        self
    }

    pub(crate) fn counts(&self) -> SpringCounts {
        self.counts
    }

    pub(crate) fn ends(&self) -> &[[u32; 2]] {
        &self.ends
    }

    pub(crate) fn points(&self) -> usize {
        self.points
    }

    /// The springs between the shapes at `weights`.
    pub(crate) fn blended(&self, weights: &[f64]) -> Vec<Spring> {
        let edge = self.mean_edge(weights);
        (0..self.ends.len())
            .map(|q| self.blend_one(q, weights, edge))
            .collect()
    }

    /// The springs between the shapes at `weights`, at rest at `points`.
    pub(crate) fn at_rest(&self, weights: &[f64], points: &[DVec3]) -> Vec<Spring> {
        let mut springs = self.blended(weights);
        for (spring, &ends) in springs.iter_mut().zip(&self.ends) {
            spring.rest = length(points, ends);
        }
        springs
    }

    /// The mean edge of the surface between the shapes.
    pub(crate) fn mean_edge(&self, weights: &[f64]) -> f64 {
        blended(self.edges.iter().copied(), weights)
    }

    fn blend_one(&self, q: usize, weights: &[f64], edge: f64) -> Spring {
        let rest = blended(self.rest.iter().map(|lengths| lengths[q]), weights);

        // The constant of very short springs is bounded.
        let floor = if edge > 0.0 { SHORT * edge } else { 1.0 };
        let softness = match self.law {
            StiffnessLaw::Inverse => rest.max(floor),
            StiffnessLaw::InverseSquare => (rest * rest / edge.max(floor)).max(floor),
        };

        Spring {
            rest,
            stiffness: self.stiffness[q] / softness,
        }
    }
}

/// The weighted mean of a measure over the shapes. Where weights extrapolate, it has at least a
/// share of the least value of all shapes.
pub(crate) fn blended(by_shape: impl Iterator<Item = f64>, weights: &[f64]) -> f64 {
    let mut sum = 0.0;
    let mut least = f64::INFINITY;
    for (value, w) in by_shape.zip(weights) {
        sum += w * value;
        least = value.min(least);
    }

    sum.max(LEAST_SHARE * least)
}

fn lengths(points: &[DVec3], ends: &[[u32; 2]]) -> Vec<f64> {
    ends.iter().map(|&ends| length(points, ends)).collect()
}

/// The distance of two points.
pub(crate) fn length(points: &[DVec3], [i, j]: [u32; 2]) -> f64 {
    points[i as usize].distance(points[j as usize])
}

/// Structure, bending and internal springs, in this order, each pair once.
fn connect(mesh: &Mesh, tetrahedra: &[[u32; 4]]) -> (Vec<[u32; 2]>, SpringCounts) {
    let mut ends: Vec<[u32; 2]> = mesh
        .topology()
        .edges()
        .iter()
        .map(|&e| ascending(e))
        .collect();

    // Bending springs follow the edges, without pairs that are edges.
    let structure = ends.len();
    ends.extend(second_neighbors(mesh));
    let bending = ends.len() - structure;

    // Sorted, for the search of internal pairs.
    let mut known = ends.clone();

    known.sort_unstable();

    // Edges of tetrahedra that are no spring yet.
    let mut internal = edges_of(tetrahedra);
    internal.retain(|pair| known.binary_search(pair).is_err());
    ends.extend_from_slice(&internal);

    (
        ends,
        SpringCounts {
            structure,
            bending,
            internal: internal.len(),
            anchor: 0,
        },
    )
}

/// Pairs of vertices at graph distance two, the lower one first.
fn second_neighbors(mesh: &Mesh) -> Vec<[u32; 2]> {
    let topology = mesh.topology();
    let mut pairs = Vec::new();
    for vertex in 0..mesh.vertex_count() {
        let ring = topology.vertex_neighbors().row(vertex);
        for other in topology.two_ring(vertex) {
            if other as usize > vertex && ring.binary_search(&other).is_err() {
                pairs.push([vertex as u32, other]);
            }
        }
    }

    pairs
}

fn ascending([i, j]: [u32; 2]) -> [u32; 2] {
    [i.min(j), i.max(j)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_shapes::{Bar, bar};

    fn springs_of(bar: &Bar) -> Springs {
        Springs::new(
            &bar.mesh,
            &bar.tetrahedra,
            &[],
            std::slice::from_ref(&bar.points),
        )
    }

    #[test]
    fn each_pair_has_one_spring_of_the_kind_of_its_graph_distance() {
        let bar = bar(6, 2);
        let springs = springs_of(&bar);
        let neighbors = bar.mesh.topology().vertex_neighbors();

        let mut seen = std::collections::BTreeSet::new();
        for (q, &[i, j]) in springs.ends().iter().enumerate() {
            assert!(
                i < j && seen.insert([i, j]),
                "spring {q} joins {i} and {j} again"
            );

            let surface = (j as usize) < bar.mesh.vertex_count();

            // The kind by graph distance, found by brute force.
            let near = surface && neighbors.row(i as usize).contains(&j);
            let second = surface
                && !near
                && neighbors
                    .row(i as usize)
                    .iter()
                    .any(|&m| neighbors.row(m as usize).contains(&j));

            let counts = springs.counts();
            let expected = if near {
                0..counts.structure
            } else if second {
                counts.structure..counts.structure + counts.bending
            } else {
                counts.structure + counts.bending..usize::MAX
            };

            assert!(
                expected.contains(&q),
                "spring {q} between {i} and {j} stands among another kind"
            );
        }

        let total: usize = (0..bar.mesh.vertex_count() as u32)
            .map(|i| bar.mesh.topology().two_ring(i as usize).len())
            .sum();

        assert_eq!(
            springs.counts().structure + springs.counts().bending,
            total / 2
        );
    }

    #[test]
    fn every_edge_of_every_tetrahedron_has_a_spring() {
        let bar = bar(5, 3);
        let springs = springs_of(&bar);
        let known: std::collections::BTreeSet<_> = springs.ends().iter().copied().collect();
        let mut corners = bar
            .tetrahedra
            .iter()
            .flat_map(|t| t.iter().flat_map(move |&v| t.iter().map(move |&w| [v, w])));
        assert!(corners.all(|[v, w]| v == w || known.contains(&ascending([v, w]))));
    }

    #[test]
    fn extrapolated_rest_lengths_are_positive_and_interpolated_ones_are_the_mean() {
        let bar = bar(4, 2);

        // Extrapolation beyond a shape of half the size.
        let half: Vec<DVec3> = bar.points.iter().map(|p| *p * 0.5).collect();
        let springs = Springs::new(&bar.mesh, &[], &[], &[bar.points.clone(), half]);

        for (mean, spring) in springs
            .blended(&[0.25, 0.75])
            .iter()
            .zip(springs.blended(&[-1.0, 2.0]))
        {
            assert!((mean.stiffness * mean.rest - 1.0).abs() < 1e-12);
            assert!(spring.rest > 0.0 && spring.rest < mean.rest, "{spring:?}");
        }

        let lengths = lengths(&bar.points, springs.ends());
        assert!(
            springs
                .blended(&[0.25, 0.75])
                .iter()
                .zip(lengths)
                .all(|(s, r)| (s.rest - 0.625 * r).abs() < 1e-12)
        );
    }

    #[test]
    fn coincident_vertices_give_a_finite_constant() {
        let mut bar = bar(4, 2);
        let [i, j] = bar.mesh.topology().edges()[0];
        bar.points[j as usize] = bar.points[i as usize];
        let springs = springs_of(&bar).blended(&[1.0]);
        assert!(
            springs.iter().any(|s| s.rest == 0.0)
                && springs.iter().all(|s| s.stiffness.is_finite())
        );
    }

    #[test]
    fn edge_stiffness_follows_the_mean_edge_and_a_constant_map_changes_nothing() {
        let bar = bar(5, 2);

        // Long springs to an anchor must not change the mean edge.
        let larger: Vec<DVec3> = bar.points.iter().map(|p| *p * 3.0).collect();
        let far = [[0, bar.points.len() as u32 - 1]; 40];
        let held = Springs::edges(&bar.mesh, &far, &[bar.points.clone(), larger]);
        let weights = [0.25, 0.75];
        let edge = held.mean_edge(&weights);

        assert!((edge - 2.5 * bar.mesh.mean_edge_length()).abs() < 1e-12);
        let springs = held.blended(&weights);
        let count = held.counts().structure;

        assert!(
            springs[..count]
                .iter()
                .all(|s| (s.stiffness * s.rest * s.rest / edge - 1.0).abs() < 1e-12)
        );

        let even = held
            .with_stiffness(&vec![7.0; bar.points.len()])
            .blended(&weights);

        assert!(
            springs
                .iter()
                .zip(even)
                .all(|(a, b)| (a.stiffness / b.stiffness - 1.0).abs() < 1e-12)
        );
    }

    #[test]
    fn only_ratios_of_a_stiffness_map_matter() {
        let bar = bar(4, 2);
        let map: Vec<f64> = (0..bar.points.len()).map(|i| 1.0 + i as f64).collect();
        let tenfold: Vec<f64> = map.iter().map(|k| 10.0 * k).collect();
        let one = springs_of(&bar).with_stiffness(&map);
        let ten = springs_of(&bar).with_stiffness(&tenfold);

        assert!(
            one.blended(&[1.0])
                .iter()
                .zip(ten.blended(&[1.0]))
                .all(|(a, b)| (a.stiffness / b.stiffness - 1.0).abs() < 1e-12)
        );

        let ([a, b], [c, d]) = (one.ends()[0], one.ends()[1]);
        let ratio = one.stiffness[0] / one.stiffness[1];
        assert!((ratio - f64::from(a + b + 2) / f64::from(c + d + 2)).abs() < 1e-12);
    }
}
