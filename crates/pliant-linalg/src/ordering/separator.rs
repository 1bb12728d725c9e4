//! Vertex separators by multilevel bisection.
//!
//! **Method.** Contract the graph until it is small, grow one side from several seeds, keep the
//! best cut, and undo the contractions one by one, with the cut refined on each graph.

use super::coarsen::{Clusters, contract};
use super::cut_tree::CutTree;
use super::graph::Graph;
use super::refinement::{Cost, Refinement};

/// The mark of a vertex of the cut; its sides are marked 0 and 1.
pub(super) const SEPARATOR: u8 = 2;

/// A graph of this size is cut directly.
const COARSEST_VERTICES: usize = 80;
/// Seeds from which a side is grown. Measured: more than these make cuts no smaller, on average.
const SEEDS: usize = 2;
/// The same for graphs above [`LARGE_GRAPH`], whose cuts matter most.
const SEEDS_OF_LARGE: usize = 8;
const LARGE_GRAPH: usize = 500;
/// No cluster grows beyond this multiple of the mean weight on the coarsest graph.
const HEAVIEST: f64 = 1.5;

/// A cut and its two sides; `clusters` make the first smaller graph.
pub(super) fn bisect(graph: &Graph, clusters: &Clusters) -> CutTree {
    let mut generator = Generator(0x2545_F491_4F6C_DD1D);
    if graph.len() <= COARSEST_VERTICES {
        return cut_directly(graph, SEEDS, &mut generator);
    }

    let total: u32 = graph.weights.iter().sum();
    let heaviest = (HEAVIEST * f64::from(total) / COARSEST_VERTICES as f64) as u32 + 1;

    // Contract until the graph is small; the weight limit keeps clusters of similar size.
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

    // The coarsest cut decides most; large graphs try more seeds.
    let seeds = if graph.len() > LARGE_GRAPH {
        SEEDS_OF_LARGE
    } else {
        SEEDS
    };

    // Undo the contractions, and refine the cut on each graph.
    let mut tree = cut_directly(&levels[levels.len() - 1], seeds, &mut generator);
    for k in (0..maps.len()).rev() {
        tree = refine_on(&levels[k], &maps[k], tree);
    }

    refine_on(graph, clusters, tree)
}

/// Carries a cut over to the larger graph and improves it there.
fn refine_on(graph: &Graph, clusters: &Clusters, tree: CutTree) -> CutTree {
    let mut refinement = Refinement::new(graph, tree.on_members(clusters));
    refinement.refine(0);
    refinement.tree
}

/// The best of several grown and refined cuts.
fn cut_directly(graph: &Graph, seeds: usize, generator: &mut Generator) -> CutTree {
    let uncut = CutTree::of_sides(graph, &vec![1; graph.len()]);
    let mut best: Option<(Cost, CutTree)> = None;
    for _ in 0..seeds {
        let mut refinement = Refinement::new(graph, uncut.clone());
        refinement.grow(generator.below(graph.len()));
        refinement.refine(0);

        if best
            .as_ref()
            .is_none_or(|(cost, _)| refinement.cost() < *cost)
        {
            best = Some((refinement.cost(), refinement.tree));
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
