//! A small set of vertices that cuts a graph in two.
//!
//! **Method.** Contract the graph until it is small, grow one side from several seeds, keep the
//! best cut, and undo the contractions one by one. On each graph on the way, vertices of the
//! cut move to one side and pull their neighbours on the other side into the cut, the
//! best move first even where it makes the cut larger; the best state seen is kept
//! (Fiduccia & Mattheyses, with vertices in place of edges as in Ashcraft & Liu).

use std::collections::BinaryHeap;

use super::coarsen::{Clusters, contract};
use super::graph::Graph;

/// The mark of a vertex of the cut; its sides are marked 0 and 1.
pub(super) const SEPARATOR: u8 = 2;

/// A graph of this size is cut directly.
const COARSEST_VERTICES: usize = 80;
/// Seeds from which a side is grown.
const SEEDS: usize = 5;
/// The same for graphs above [`LARGE_GRAPH`], whose cuts matter most.
const SEEDS_OF_LARGE: usize = 16;
const LARGE_GRAPH: usize = 2000;
/// A side may hold this part of the weight.
const LARGEST_SIDE: f64 = 0.6;
/// Sweeps of moves on one graph; most find nothing after three.
const SWEEPS: usize = 3;
/// Moves beyond the best state after which a sweep gives up: so many on large graphs, fewer on small ones.
const PATIENCE: usize = 60;
const PATIENCE_OF_SMALL: usize = 5;
/// No cluster grows beyond this multiple of the mean weight on the coarsest graph.
const HEAVIEST: f64 = 1.5;

/// The side of every vertex, [`SEPARATOR`] for those of the cut; `clusters` make the first smaller graph.
pub(super) fn bisect(graph: &Graph, clusters: &Clusters) -> Vec<u8> {
    let total: u32 = graph.weights.iter().sum();
    let heaviest = (HEAVIEST * f64::from(total) / COARSEST_VERTICES as f64) as u32 + 1;
    let mut generator = Generator(0x2545_F491_4F6C_DD1D);
    let mut levels = vec![contract(graph, clusters)];
    let mut maps: Vec<Clusters> = Vec::new();
    while levels[levels.len() - 1].len() > COARSEST_VERTICES {
        let finest = &levels[levels.len() - 1];
        let pairs = Clusters::pairs(finest, heaviest, generator.below(finest.len()));
        if pairs.count * 20 > finest.len() * 19 {
            break; // Hardly smaller: more rounds would not end.
        }
        let smaller = contract(finest, &pairs);
        maps.push(pairs);
        levels.push(smaller);
    }
    let seeds = if graph.len() > LARGE_GRAPH { SEEDS_OF_LARGE } else { SEEDS };
    let mut side = cut_directly(&levels[levels.len() - 1], seeds, &mut generator);
    for k in (0..maps.len()).rev() {
        side = refine_on(&levels[k], &maps[k], &side);
    }
    refine_on(graph, clusters, &side)
}

/// Carries a cut over to the larger graph and improves it there.
fn refine_on(graph: &Graph, clusters: &Clusters, side: &[u8]) -> Vec<u8> {
    let mut cut = Cut::new(graph, clusters.of.iter().map(|&c| side[c as usize]).collect());
    cut.refine();
    cut.side
}

/// The best of several grown and refined cuts.
fn cut_directly(graph: &Graph, seeds: usize, generator: &mut Generator) -> Vec<u8> {
    let mut best: Option<(Cost, Vec<u8>)> = None;
    for _ in 0..seeds {
        let mut cut = Cut::new(graph, vec![1; graph.len()]);
        cut.grow(generator.below(graph.len()));
        cut.refine();
        if best.as_ref().is_none_or(|(cost, _)| cut.cost() < *cost) {
            best = Some((cut.cost(), cut.side));
        }
    }
    best.expect("at least one seed").1
}

/// Numbers without a pattern (Marsaglia's xorshift), the same in every run.
struct Generator(u64);

impl Generator {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (((self.0 >> 32) * n as u64) >> 32) as usize
    }
}

/// What a cut is judged by: first whether both sides are light enough, then its weight, then balance.
type Cost = (u32, u32, u32);

/// A cut that is being improved.
pub(super) struct Cut<'a> {
    graph: &'a Graph,
    side: Vec<u8>,
    /// Weight of side 0, side 1 and the cut.
    load: [u32; 3],
    limit: u32,
    /// For vertices of the cut: the weight that a move to side 0 or 1 would take out of the cut.
    gain: Vec<[i32; 2]>,
    /// Vertices that may be moved to side 0 and 1, best first; entries with an old gain are skipped.
    queue: [BinaryHeap<i64>; 2],
    moved: Vec<bool>,
    /// Every change of side since the best state, to be undone.
    history: Vec<(u32, u8)>,
}

impl<'a> Cut<'a> {
    pub(super) fn new(graph: &'a Graph, side: Vec<u8>) -> Self {
        let mut load = [0; 3];
        for (&s, &weight) in side.iter().zip(&graph.weights) {
            load[s as usize] += weight;
        }
        let limit = (LARGEST_SIDE * f64::from(load.iter().sum::<u32>())) as u32 + 1;
        let n = graph.len();
        Self { graph, side, load, limit, gain: vec![[0; 2]; n], queue: Default::default(), moved: vec![false; n], history: Vec::new() }
    }

    pub(super) fn into_sides(self) -> Vec<u8> {
        self.side
    }

    fn cost(&self) -> Cost {
        let heavier = self.load[0].max(self.load[1]);
        (heavier.saturating_sub(self.limit), self.load[2], heavier)
    }

    /// Grows side 0 from `seed` until it is as heavy as side 1.
    fn grow(&mut self, seed: usize) {
        let mut next = 0;
        self.set_side(seed, SEPARATOR);
        self.enqueue(seed);
        while self.load[0] < self.load[1] {
            if let Some(v) = self.pop(0) {
                self.move_vertex(v, 0);
            } else {
                // This connected part is used up.
                while next < self.side.len() && self.side[next] != 1 {
                    next += 1;
                }
                if next == self.side.len() {
                    break;
                }
                self.set_side(next, SEPARATOR);
                self.enqueue(next);
            }
        }
    }

    /// Sweeps of moves until one finds nothing.
    pub(super) fn refine(&mut self) {
        for _ in 0..SWEEPS {
            let before = self.cost();
            self.sweep();
            if self.cost() >= before {
                break;
            }
        }
    }

    fn sweep(&mut self) {
        self.queue.iter_mut().for_each(BinaryHeap::clear);
        self.moved.fill(false);
        for v in 0..self.side.len() {
            if self.side[v] == SEPARATOR {
                self.enqueue(v);
            }
        }
        self.history.clear();
        let (mut best, mut keep, mut since) = (self.cost(), 0, 0);
        let patience = PATIENCE.min(PATIENCE_OF_SMALL + self.side.len() / 16);
        while since < patience {
            let Some((v, to)) = self.best_move() else { break };
            self.moved[v] = true;
            self.move_vertex(v, to);
            since += 1;
            if self.cost() < best {
                (best, keep, since) = (self.cost(), self.history.len(), 0);
            }
        }
        for k in (keep..self.history.len()).rev() {
            let (v, from) = self.history[k];
            self.change_side(v as usize, from);
        }
    }

    /// The move with the largest gain that keeps its side light enough.
    fn best_move(&mut self) -> Option<(usize, u8)> {
        let tops = [self.peek(0), self.peek(1)];
        let lighter = usize::from(self.load[1] < self.load[0]);
        let fits = |to: usize| tops[to].filter(|&(_, v)| self.load[to] + self.graph.weights[v as usize] <= self.limit || to == lighter);
        let to = match (fits(0), fits(1)) {
            (Some(a), Some(b)) if a.0 == b.0 => lighter,
            (Some(a), Some(b)) => usize::from(b.0 > a.0),
            (Some(_), None) => 0,
            (None, Some(_)) => 1,
            (None, None) => return None,
        };
        self.pop(to).map(|v| (v, to as u8))
    }

    /// The best current entry of a queue, after dropping outdated ones.
    fn peek(&mut self, to: usize) -> Option<(i32, u32)> {
        while let Some(&top) = self.queue[to].peek() {
            let (gain, v) = ((top >> 32) as i32, top as u32);
            let place = v as usize;
            if self.side[place] == SEPARATOR && self.gain[place][to] == gain && !self.moved[place] {
                return Some((gain, v));
            }
            self.queue[to].pop();
        }
        None
    }

    fn pop(&mut self, to: usize) -> Option<usize> {
        let (_, v) = self.peek(to)?;
        self.queue[to].pop();
        Some(v as usize)
    }

    /// Computes the gains of a vertex of the cut and offers it for moving.
    fn enqueue(&mut self, v: usize) {
        let mut gain = [self.graph.weights[v] as i32; 2];
        for &u in self.graph.neighbours(v) {
            let side = self.side[u as usize];
            if side != SEPARATOR {
                gain[1 - side as usize] -= self.graph.weights[u as usize] as i32;
            }
        }
        self.gain[v] = gain;
        if !self.moved[v] {
            self.queue[0].push(key(gain[0], v));
            self.queue[1].push(key(gain[1], v));
        }
    }

    /// Moves `v` out of the cut to side `to`; its neighbours on the other side join the cut.
    fn move_vertex(&mut self, v: usize, to: u8) {
        let graph = self.graph;
        let other = 1 - to;
        self.set_side(v, to);
        for &u in graph.neighbours(v) {
            let place = u as usize;
            if self.side[place] == SEPARATOR {
                self.change_gain(place, other, -(graph.weights[v] as i32));
            } else if self.side[place] == other {
                self.set_side(place, SEPARATOR);
                self.enqueue(place);
                for &w in graph.neighbours(place) {
                    if self.side[w as usize] == SEPARATOR && w != u {
                        self.change_gain(w as usize, to, graph.weights[place] as i32);
                    }
                }
            }
        }
    }

    fn change_gain(&mut self, v: usize, to: u8, change: i32) {
        self.gain[v][to as usize] += change;
        if !self.moved[v] {
            self.queue[to as usize].push(key(self.gain[v][to as usize], v));
        }
    }

    fn set_side(&mut self, v: usize, side: u8) {
        self.history.push((v as u32, self.side[v]));
        self.change_side(v, side);
    }

    fn change_side(&mut self, v: usize, side: u8) {
        let weight = self.graph.weights[v];
        self.load[self.side[v] as usize] -= weight;
        self.load[side as usize] += weight;
        self.side[v] = side;
    }
}

/// A vertex and its gain in one number that sorts by gain.
fn key(gain: i32, v: usize) -> i64 {
    (i64::from(gain) << 32) | v as i64
}
