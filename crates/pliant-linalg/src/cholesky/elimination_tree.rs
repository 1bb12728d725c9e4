//! The elimination tree of an ordered graph and the lengths of the factor's columns.
//!
//! **Source.** Liu, "The role of elimination trees in sparse factorization", SIMAX 1990;
//! Gilbert, Ng & Peyton, "An efficient algorithm to compute row and column counts for
//! sparse Cholesky factorization", SIMAX 1994.
//!
//! **Departures.** Vertices have weights (a vertex may stand for several unknowns), so counts are
//! sums of weights.

use crate::ordering::Graph;

/// No vertex.
pub(super) const NONE: u32 = u32::MAX;

/// An order of elimination in which every subtree is contiguous, its tree and its column counts.
#[derive(Debug)]
pub(super) struct EliminationTree {
    /// The vertex at each place.
    pub(super) order: Vec<u32>,
    /// The place of each vertex.
    pub(super) place: Vec<u32>,
    /// The parent of each place, [`NONE`] for roots; always later.
    pub(super) parent: Vec<u32>,
    /// Unknowns in each column of the factor, the vertex itself included.
    pub(super) counts: Vec<u32>,
}

impl EliminationTree {
    pub(super) fn new(graph: &Graph, mut order: Vec<u32>) -> Self {
        let parent = parents(graph, &order, &invert(&order));

        // In postorder every subtree is contiguous; the tree is renumbered accordingly.
        let post = postorder(&parent);
        let moved = invert(&post);
        let parent = post
            .iter()
            .map(|&k| parent[k as usize])
            .map(|p| if p == NONE { NONE } else { moved[p as usize] })
            .collect();

        order = post.iter().map(|&k| order[k as usize]).collect();
        let place = invert(&order);
        let mut tree = Self {
            order,
            place,
            parent,
            counts: Vec::new(),
        };

        tree.counts = tree.column_counts(graph);
        tree
    }

    fn column_counts(&self, graph: &Graph) -> Vec<u32> {
        let n = self.order.len();
        let weight = |k: usize| i64::from(graph.weight(self.order[k] as usize));
        let first = self.first_descendants();
        let mut delta = vec![0_i64; n];

        // Per row: the largest first descendant met, and the last leaf of its subtree; sets of
        // places joined so far.
        let mut largest = vec![NONE; n];
        let mut last_leaf = vec![NONE; n];
        let mut ancestor: Vec<u32> = (0..n as u32).collect();

        for j in 0..n {
            // A leaf adds a column; a child's own column is not part of its parent's.
            if first[j] as usize == j {
                delta[j] += weight(j);
            }

            let parent = self.parent[j];
            if parent != NONE {
                delta[parent as usize] -= weight(j);
            }

            // Each neighbour later in the order is a row of this column.
            for &u in graph.neighbours(self.order[j] as usize) {
                let row = self.place[u as usize] as usize;
                // Only leaves of the row's subtree start a new path to the row (skeleton matrix).
                if row <= j || (largest[row] != NONE && first[j] <= largest[row]) {
                    continue;
                }

                largest[row] = first[j];
                delta[j] += weight(row);
                // Two paths share everything above their least common ancestor.
                if last_leaf[row] != NONE {
                    delta[find(&mut ancestor, last_leaf[row]) as usize] -= weight(row);
                }

                last_leaf[row] = j as u32;
            }

            if parent != NONE {
                ancestor[j] = parent;
            }
        }

        // Sums of the differences over subtrees are the counts.
        for j in 0..n {
            if self.parent[j] != NONE {
                delta[self.parent[j] as usize] += delta[j];
            }
        }

        delta.iter().map(|&d| d as u32).collect()
    }

    /// The first place of every subtree.
    fn first_descendants(&self) -> Vec<u32> {
        let mut first: Vec<u32> = (0..self.parent.len() as u32).collect();
        for k in 0..first.len() {
            if self.parent[k] != NONE {
                let above = self.parent[k] as usize;
                first[above] = first[above].min(first[k]);
            }
        }
        first
    }
}

/// The representative of the set of `k`, with path halving.
fn find(ancestor: &mut [u32], mut k: u32) -> u32 {
    while ancestor[k as usize] != k {
        let up = ancestor[ancestor[k as usize] as usize];
        ancestor[k as usize] = up;
        k = up;
    }
    k
}

fn parents(graph: &Graph, order: &[u32], place: &[u32]) -> Vec<u32> {
    let n = order.len();
    let (mut parent, mut ancestor) = (vec![NONE; n], vec![NONE; n]);
    for k in 0..n as u32 {
        for &u in graph.neighbours(order[k as usize] as usize) {
            // Follow the path of ancestors to its end, which becomes a child of `k`, and
            // compress the path.
            let mut i = place[u as usize];
            while i < k {
                let up = ancestor[i as usize];
                ancestor[i as usize] = k;
                if up == NONE {
                    parent[i as usize] = k;
                    break;
                }
                i = up;
            }
        }
    }

    parent
}

/// The nodes of a forest, children before parents, every subtree contiguous.
pub(super) fn postorder(parent: &[u32]) -> Vec<u32> {
    let n = parent.len();

    // Children are linked in ascending order; roots are the children of one more node.
    let mut child = vec![NONE; n + 1];
    let mut sibling = vec![NONE; n];
    for k in (0..n).rev() {
        let above = if parent[k] == NONE {
            n
        } else {
            parent[k] as usize
        };
        sibling[k] = child[above];
        child[above] = k as u32;
    }

    // A depth-first walk without recursion.
    let mut post = Vec::with_capacity(n);
    let mut stack = Vec::new();
    let mut next = child[n];
    loop {
        while next != NONE {
            stack.push(next);
            next = child[next as usize];
        }
        let Some(k) = stack.pop() else { return post };
        post.push(k);
        next = sibling[k as usize];
    }
}

/// The inverse of a permutation.
pub(super) fn invert(order: &[u32]) -> Vec<u32> {
    let mut place = vec![0; order.len()];
    for (k, &v) in order.iter().enumerate() {
        place[v as usize] = k as u32;
    }
    place
}
