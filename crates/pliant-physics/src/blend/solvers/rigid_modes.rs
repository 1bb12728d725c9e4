//! Coarse space of overlapping aggregates that move rigidly.
//!
//! **Problem.** Limbs bend at almost no energy, and they bend as a whole: a few hundred aggregates,
//! each with a translation and a rotation, can follow where thousands of vertices would have to
//! agree with each other one spring at a time.
//!
//! **Equation.** With the shares `wᵢ꜀` of aggregates `c` in vertex `i`, which sum to one, and the
//! centres `p꜀` of the aggregates,
//!
//! ```text
//! δᵢ = Σ꜀ wᵢ꜀ (τ꜀ + ω꜀ × (xᵢ − p꜀))
//! ```
//!
//! so that a common rigid motion of all aggregates is a rigid motion of the whole.
//!
//! **Source.** Vaněk, Mandel, Brezina, "Algebraic multigrid by smoothed aggregation for second and
//! fourth order elliptic problems", 1996 (aggregates as coarse unknowns); shares as in linear-blend
//! skinning.
//!
//! **Departures.** Seeds are chosen by farthest-point sampling along springs, aggregates are the
//! vertices nearest to a seed along springs, and shares are smoothed by the mean over a vertex and
//! its springs.

use pliant_mesh::lower_edge_distances;
use std::sync::Arc;

use pliant_linalg::Symbolic;
use pliant_mesh::glam::DVec3;

use crate::blend::energy::SpringEnergy;
use crate::blend::energy::Support;

/// Shares of aggregates in the unknowns of a spring system.
#[derive(Debug, Clone)]
pub(crate) struct RigidModes {
    starts: Vec<usize>,
    /// Aggregate and share, aggregates ascending.
    shares: Vec<(u32, f64)>,
    aggregates: usize,
    /// The elimination order of the coarse system, once it was factored.
    pub(crate) symbolic: Option<Arc<Symbolic>>,
}

/// Vertices of an aggregate, on average. Measured: a horse takes as many steps with 15, at twice
/// the cost of each.
const AGGREGATE_SIZE: usize = 40;
/// With more aggregates their own system is no longer small. Chosen: 12 000 unknowns are those of
/// about 4000 vertices.
const MOST_AGGREGATES: usize = 2000;
/// Smaller shares are dropped, and the others scaled to sum to one. Chosen: they couple aggregates
/// and hardly move anything.
const LEAST_SHARE: f64 = 0.05;

impl RigidModes {
    /// Divides the unknowns of `energy` into aggregates.
    pub(crate) fn aggregate(energy: &SpringEnergy, support: &Support) -> Self {
        let unknowns = support.unknown_vertices().len();
        let (aggregate_of, aggregates) = nearest_seeds(
            energy,
            support,
            unknowns.div_ceil(AGGREGATE_SIZE).min(MOST_AGGREGATES),
        );

        let mut modes = Self {
            starts: vec![0],
            shares: Vec::new(),
            aggregates,
            symbolic: None,
        };

        // Smoothed shares: the mean over a vertex and its springs.
        let mut sums = vec![0.0; aggregates];
        for &vertex in support.unknown_vertices() {
            let around = energy
                .around(vertex as usize)
                .filter_map(|(other, _)| support.unknown_of(other));
            let own = support.unknown_of(vertex as usize).into_iter();
            modes.push_shares(
                around.chain(own).filter_map(|u| aggregate_of[u as usize]),
                &mut sums,
            );
        }

        modes
    }

    fn push_shares(&mut self, around: impl Iterator<Item = u32>, sums: &mut [f64]) {
        // Each neighbour counts once for its aggregate.
        let mut touched: Vec<u32> = Vec::new();
        for aggregate in around {
            if sums[aggregate as usize] == 0.0 {
                touched.push(aggregate);
            }
            sums[aggregate as usize] += 1.0;
        }

        touched.sort_unstable();

        // Small shares are dropped, and the rest is normalised.
        let total: f64 = touched.iter().map(|&p| sums[p as usize]).sum();
        let kept = |&&p: &&u32| sums[p as usize] >= LEAST_SHARE * total;
        let kept_total: f64 = touched.iter().filter(kept).map(|&p| sums[p as usize]).sum();

        self.shares.extend(
            touched
                .iter()
                .filter(kept)
                .map(|&p| (p, sums[p as usize] / kept_total)),
        );

        self.starts.push(self.shares.len());
        for &p in &touched {
            sums[p as usize] = 0.0;
        }
    }

    pub(crate) fn aggregates(&self) -> usize {
        self.aggregates
    }

    /// The range of an unknown among [`shares`](Self::shares).
    pub(crate) fn range(&self, unknown: usize) -> std::ops::Range<usize> {
        self.starts[unknown]..self.starts[unknown + 1]
    }

    /// Aggregate and share, unknown after unknown.
    pub(crate) fn shares(&self) -> &[(u32, f64)] {
        &self.shares
    }

    /// From the centre of the aggregate to the vertex, for every share, with unknowns at
    /// `positions`.
    pub(crate) fn levers(&self, positions: &[DVec3]) -> Vec<DVec3> {
        let mut sums = vec![(DVec3::ZERO, 0.0); self.aggregates];
        for (unknown, position) in positions.iter().enumerate() {
            for &(aggregate, share) in &self.shares[self.range(unknown)] {
                sums[aggregate as usize].0 += *position * share;
                sums[aggregate as usize].1 += share;
            }
        }

        let mut levers = Vec::with_capacity(self.shares.len());
        for (unknown, position) in positions.iter().enumerate() {
            for &(aggregate, _) in &self.shares[self.range(unknown)] {
                let (sum, total) = sums[aggregate as usize];
                levers.push(*position - sum / total);
            }
        }

        levers
    }
}

/// The nearest of `count` seeds for every unknown, along springs, and the number of seeds; `None`
/// where no seed reaches.
fn nearest_seeds(
    energy: &SpringEnergy,
    support: &Support,
    count: usize,
) -> (Vec<Option<u32>>, usize) {
    let unknowns = support.unknown_vertices();
    let mut nearest: Vec<Option<u32>> = vec![None; unknowns.len()];
    let mut distances = vec![f64::INFINITY; unknowns.len()];

    let mut seeds = 0;
    while seeds < count {
        let farthest = farthest(&distances);
        if distances[farthest] == 0.0 {
            break;
        }

        // From the new seed, as far as it is nearer than all others.
        let springs = |unknown: u32| {
            let vertex = unknowns[unknown as usize] as usize;
            let rests = energy.around(vertex).zip(energy.rests(vertex));
            rests.filter_map(|((other, _), rest)| Some((support.unknown_of(other)?, rest)))
        };
        lower_edge_distances(
            farthest as u32,
            f64::INFINITY,
            &mut distances,
            springs,
            |unknown| {
                nearest[unknown as usize] = Some(seeds as u32);
            },
        );

        seeds += 1;
    }

    (nearest, seeds)
}

/// The index of the first largest distance.
fn farthest(distances: &[f64]) -> usize {
    let mut best = 0;
    for u in 1..distances.len() {
        if distances[u] > distances[best] {
            best = u;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blend::energy::Springs;
    use crate::test_shapes::bar;

    fn cut_bar() -> (RigidModes, Vec<DVec3>) {
        let bar = bar(24, 4);
        let springs = Springs::new(
            &bar.mesh,
            &bar.tetrahedra,
            &[],
            std::slice::from_ref(&bar.points),
        );

        let energy = SpringEnergy::new(springs.points(), springs.ends(), &springs.blended(&[1.0]));
        (
            RigidModes::aggregate(&energy, &Support::free(springs.points())),
            bar.points,
        )
    }

    #[test]
    fn the_shares_of_a_vertex_sum_to_one_and_every_aggregate_has_vertices() {
        let (modes, points) = cut_bar();
        assert!(modes.aggregates() > 5);

        let mut size = vec![0.0; modes.aggregates()];
        for unknown in 0..points.len() {
            let shares = &modes.shares()[modes.range(unknown)];
            assert!((shares.iter().map(|s| s.1).sum::<f64>() - 1.0).abs() < 1e-12);
            for &(aggregate, share) in shares {
                size[aggregate as usize] += share;
            }
        }

        assert!(size.iter().all(|&s| s > 1.0), "{size:?}");
    }

    #[test]
    fn a_common_rigid_motion_of_all_aggregates_moves_the_shape_rigidly() {
        let (modes, points) = cut_bar();
        let levers = modes.levers(&points);
        let turn = DVec3::new(0.3, -0.2, 0.5);
        let place = DVec3::new(1.0, 2.0, 3.0);

        for (unknown, point) in points.iter().enumerate() {
            let center = |at: usize| *point - levers[at];
            let aggregate = |at: usize| {
                (place + turn.cross(center(at)) + turn.cross(levers[at])) * modes.shares()[at].1
            };
            let moved: DVec3 = modes.range(unknown).map(aggregate).sum();
            assert!(moved.distance(place + turn.cross(*point)) < 1e-12);
        }
    }
}
