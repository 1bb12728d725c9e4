//! A shape as overlapping pieces that move rigidly.
//!
//! **Problem.** Limbs bend at almost no price, and they bend as a whole: a few hundred pieces, each
//! with a place and a turn of its own, can follow where thousands of vertices would have to agree
//! with each other one spring at a time.
//!
//! **Equation.** With the share `wᵢ꜀` of piece `c` in vertex `i`, which sum to one, and the piece's
//! centre `p꜀`,
//!
//! ```text
//! δᵢ = Σ꜀ wᵢ꜀ (τ꜀ + ω꜀ × (xᵢ − p꜀))
//! ```
//!
//! so that motions of all pieces as one body are motions of the whole as one body.
//!
//! **Source.** Vaněk, Mandel, Brezina, "Algebraic multigrid by smoothed aggregation for second and
//! fourth order elliptic problems", 1996 (pieces as coarse unknowns); shares as in linear-blend
//! skinning.
//!
//! **Ours.** Seeds are as far from each other as springs reach ("farthest points"), pieces are the
//! vertices nearest to a seed along springs, and shares are smoothed by the mean over a vertex and
//! its springs.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use std::sync::Arc;

use pliant_linalg::Symbolic;
use pliant_mesh::glam::DVec3;

use crate::energy::SpringEnergy;
use crate::support::Support;

/// Shares of pieces in the unknowns of a spring system.
#[derive(Debug, Clone)]
pub(crate) struct RigidModes {
    starts: Vec<usize>,
    /// Piece and share, pieces ascending.
    shares: Vec<(u32, f64)>,
    pieces: usize,
    /// The order of the pieces' system, once it was factored.
    pub(crate) symbolic: Option<Arc<Symbolic>>,
}

/// Vertices in a piece, on average: measured, a horse takes as many steps with 15, at twice the
/// price of each.
const PIECE_SIZE: usize = 40;
/// Above this many pieces their own system is no longer small: ours, 12 000 unknowns are those of
/// about 4000 vertices.
const MOST_PIECES: usize = 2000;
/// Shares below this are dropped, and what is left is scaled to one: ours, they couple pieces and
/// hardly move anything.
const LEAST_SHARE: f64 = 0.05;

impl RigidModes {
    /// Cuts the unknowns of `energy` into pieces.
    pub(crate) fn cut(energy: &SpringEnergy, support: &Support) -> Self {
        let unknowns = support.unknown_vertices().len();
        let (piece_of, pieces) = nearest_seeds(
            energy,
            support,
            unknowns.div_ceil(PIECE_SIZE).min(MOST_PIECES),
        );
        let mut modes = Self {
            starts: vec![0],
            shares: Vec::new(),
            pieces,
            symbolic: None,
        };
        let mut sums = vec![0.0; pieces];
        for &vertex in support.unknown_vertices() {
            let around = energy
                .around(vertex as usize)
                .filter_map(|(other, _)| support.unknown_of(other));
            let own = support.unknown_of(vertex as usize).into_iter();
            modes.push_shares(
                around.chain(own).filter_map(|u| piece_of[u as usize]),
                &mut sums,
            );
        }
        modes
    }

    fn push_shares(&mut self, around: impl Iterator<Item = u32>, sums: &mut [f64]) {
        let mut touched: Vec<u32> = Vec::new();
        for piece in around {
            if sums[piece as usize] == 0.0 {
                touched.push(piece);
            }
            sums[piece as usize] += 1.0;
        }
        touched.sort_unstable();
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
        touched.iter().for_each(|&p| sums[p as usize] = 0.0);
    }

    pub(crate) fn pieces(&self) -> usize {
        self.pieces
    }

    /// Where the shares of an unknown lie among [`shares`](Self::shares).
    pub(crate) fn range(&self, unknown: usize) -> std::ops::Range<usize> {
        self.starts[unknown]..self.starts[unknown + 1]
    }

    /// Piece and share, unknown after unknown.
    pub(crate) fn shares(&self) -> &[(u32, f64)] {
        &self.shares
    }

    /// From the centre of the piece to the vertex, for every share, where unknowns are at `places`.
    pub(crate) fn levers(&self, places: &[DVec3]) -> Vec<DVec3> {
        let mut sums = vec![(DVec3::ZERO, 0.0); self.pieces];
        for (unknown, place) in places.iter().enumerate() {
            for &(piece, share) in &self.shares[self.range(unknown)] {
                sums[piece as usize].0 += *place * share;
                sums[piece as usize].1 += share;
            }
        }
        let lever = |unknown: usize, &(piece, _): &(u32, f64)| {
            places[unknown] - sums[piece as usize].0 / sums[piece as usize].1
        };
        (0..places.len())
            .flat_map(|unknown| {
                self.shares[self.range(unknown)]
                    .iter()
                    .map(move |share| lever(unknown, share))
            })
            .collect()
    }
}

/// The nearest of `count` seeds for every unknown, along springs; none where no seed reaches. Also
/// the number of seeds.
fn nearest_seeds(
    energy: &SpringEnergy,
    support: &Support,
    count: usize,
) -> (Vec<Option<u32>>, usize) {
    let unknowns = support.unknown_vertices();
    let mut nearest: Vec<Option<u32>> = vec![None; unknowns.len()];
    let mut distances = vec![f64::INFINITY; unknowns.len()];
    let mut queue = BinaryHeap::new();
    let mut seeds = 0;
    while seeds < count {
        let farthest = (1..distances.len()).fold(0, |best, u| {
            if distances[u] > distances[best] {
                u
            } else {
                best
            }
        });
        if distances[farthest] == 0.0 {
            break;
        }
        queue.push((Reverse(0), farthest as u32));
        while let Some((Reverse(bits), unknown)) = queue.pop() {
            let distance = f64::from_bits(bits);
            if distance >= distances[unknown as usize] {
                continue;
            }
            (distances[unknown as usize], nearest[unknown as usize]) =
                (distance, Some(seeds as u32));
            let vertex = unknowns[unknown as usize] as usize;
            for ((other, _), rest) in energy.around(vertex).zip(energy.rests(vertex)) {
                let Some(other) = support.unknown_of(other) else {
                    continue;
                };
                if distance + rest < distances[other as usize] {
                    queue.push((Reverse((distance + rest).to_bits()), other)); // Bits of positive numbers are in their order.
                }
            }
        }
        seeds += 1;
    }
    (nearest, seeds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::springs::Springs;
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
            RigidModes::cut(&energy, &Support::free(springs.points())),
            bar.points,
        )
    }

    #[test]
    fn shares_of_a_vertex_sum_to_one_and_every_piece_has_vertices() {
        let (modes, points) = cut_bar();
        assert!(modes.pieces() > 5);
        let mut size = vec![0.0; modes.pieces()];
        for unknown in 0..points.len() {
            let shares = &modes.shares()[modes.range(unknown)];
            assert!((shares.iter().map(|s| s.1).sum::<f64>() - 1.0).abs() < 1e-12);
            shares
                .iter()
                .for_each(|&(piece, share)| size[piece as usize] += share);
        }
        assert!(size.iter().all(|&s| s > 1.0), "{size:?}");
    }

    #[test]
    fn pieces_that_move_as_one_body_move_the_shape_as_one_body() {
        let (modes, points) = cut_bar();
        let levers = modes.levers(&points);
        let (turn, place) = (DVec3::new(0.3, -0.2, 0.5), DVec3::new(1.0, 2.0, 3.0));
        for (unknown, point) in points.iter().enumerate() {
            let center = |at: usize| *point - levers[at];
            let piece = |at: usize| {
                (place + turn.cross(center(at)) + turn.cross(levers[at])) * modes.shares()[at].1
            };
            let moved: DVec3 = modes.range(unknown).map(piece).sum();
            assert!(moved.distance(place + turn.cross(*point)) < 1e-12);
        }
    }
}
