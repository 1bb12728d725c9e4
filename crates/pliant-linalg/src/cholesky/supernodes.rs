//! Supernodes: columns of the factor with (almost) the same rows, stored as dense blocks.
//!
//! **Method.** Consecutive columns whose patterns agree form a supernode; a supernode then
//! joins its parent where that stores few zeros, since one large block is faster
//! than two small ones.
//!
//! **Source.** Ashcraft & Grimes, "The influence of relaxed supernode partitions on the
//! multifrontal method", TOMS 1989.

use super::elimination_tree::{EliminationTree, NONE, invert, postorder};
use crate::ordering::Graph;

/// A forest of supernodes; all numbers are places of vertices in the order of elimination.
#[derive(Debug)]
pub(super) struct Supernodes {
    /// The vertex at each place.
    pub(super) order: Vec<u32>,
    /// The columns of supernode `s` are the places `starts[s]..starts[s + 1]`.
    pub(super) starts: Vec<u32>,
    /// The parent of each supernode.
    pub(super) parent: Vec<u32>,
    /// The places below the columns in which a supernode has entries, ascending, one supernode
    /// after the other.
    pub(super) rows: Vec<u32>,
    /// Where the rows of each supernode begin.
    pub(super) row_starts: Vec<usize>,
}

/// A supernode under construction. Sizes count unknowns.
#[derive(Debug, Clone)]
struct Block {
    columns: u64,
    rows: u64,
    /// Entries that are not zero by structure.
    entries: u64,
    children: Vec<u32>,
}

impl Block {
    fn stored(columns: u64, rows: u64) -> u64 {
        columns * (columns + 1) / 2 + columns * rows
    }
}

impl Supernodes {
    pub(super) fn new(graph: &Graph, tree: &EliminationTree) -> Self {
        let (starts, parent) = fundamental(graph, tree);
        let joined = join_blocks(graph, tree, &starts, &parent);
        let mut supernodes = arrange(tree, &starts, &parent, &joined);
        supernodes.find_rows(graph);
        supernodes
    }

    /// The union of the columns' own entries and the children's rows.
    fn find_rows(&mut self, graph: &Graph) {
        let place = invert(&self.order);
        let count = self.parent.len();
        let mut children: Vec<Vec<u32>> = vec![Vec::new(); count];
        for s in 0..count {
            if self.parent[s] != NONE {
                children[self.parent[s] as usize].push(s as u32);
            }
        }

        // `seen` holds, for each row, the last supernode that listed it.
        let mut seen = vec![NONE; self.order.len()];
        self.row_starts = Vec::with_capacity(count + 1);
        self.row_starts.push(0);

        for s in 0..count {
            let begin = self.rows.len();
            let end_column = self.starts[s + 1];
            for k in self.starts[s]..end_column {
                for &u in graph.neighbours(self.order[k as usize] as usize) {
                    let row = place[u as usize];
                    if row >= end_column && seen[row as usize] != s as u32 {
                        seen[row as usize] = s as u32;
                        self.rows.push(row);
                    }
                }
            }

            // Rows of children above their own columns are inherited (fill).
            for &child in &children[s] {
                for k in self.row_starts[child as usize]..self.row_starts[child as usize + 1] {
                    let row = self.rows[k];
                    if row >= end_column && seen[row as usize] != s as u32 {
                        seen[row as usize] = s as u32;
                        self.rows.push(row);
                    }
                }
            }

            self.rows[begin..].sort_unstable();
            self.row_starts.push(self.rows.len());
        }
    }
}

/// Maximal runs of columns with one pattern: where they start, and their forest.
fn fundamental(graph: &Graph, tree: &EliminationTree) -> (Vec<u32>, Vec<u32>) {
    let n = tree.order.len();
    let (mut starts, mut owner) = (vec![0], vec![0_u32; n]);
    for k in 1..n {
        // A column continues a run when it has the pattern of its only child, less that child.
        let weight = graph.weight(tree.order[k - 1] as usize);
        if tree.parent[k - 1] != k as u32 || tree.counts[k - 1] != tree.counts[k] + weight {
            starts.push(k as u32);
        }
        owner[k] = starts.len() as u32 - 1;
    }
    if n > 0 {
        starts.push(n as u32);
    }

    // The parent of a run is the run that holds the parent of its last column.
    let last_column = |s: usize| starts[s + 1] as usize - 1;
    let above = |s: usize| tree.parent[last_column(s)];
    let parent = (0..starts.len() - 1)
        .map(|s| {
            if above(s) == NONE {
                NONE
            } else {
                owner[above(s) as usize]
            }
        })
        .collect();

    (starts, parent)
}

/// For each fundamental supernode, the later one that it becomes part of (itself where it is the
/// last).
fn join_blocks(graph: &Graph, tree: &EliminationTree, starts: &[u32], parent: &[u32]) -> Vec<u32> {
    let count = parent.len();
    let mut blocks: Vec<Block> = (0..count)
        .map(|s| {
            let range = starts[s] as usize..starts[s + 1] as usize;
            let columns = range
                .clone()
                .map(|k| u64::from(graph.weight(tree.order[k] as usize)))
                .sum();
            let rows = u64::from(tree.counts[range.start]) - columns;

            Block {
                columns,
                rows,
                entries: Block::stored(columns, rows),
                children: Vec::new(),
            }
        })
        .collect();

    // Children are offered to their parents bottom-up; grandchildren of a joined child become
    // candidates too.
    let mut joined: Vec<u32> = (0..count as u32).collect();
    for s in 0..count {
        let mut candidates = std::mem::take(&mut blocks[s].children);
        // The longest patterns are the most like the parent's.
        candidates.sort_by_key(|&c| std::cmp::Reverse(blocks[c as usize].rows));

        for c in candidates {
            let child = &blocks[c as usize];
            let own = &blocks[s];
            if worth_joining(child, own) {
                let (columns, entries) = (child.columns, child.entries);

                // The child's columns become part of the parent; its own children are offered
                // again.
                let grandchildren = std::mem::take(&mut blocks[c as usize].children);
                let own = &mut blocks[s];
                own.columns += columns;
                own.entries += entries;
                own.children.extend(grandchildren);
                joined[c as usize] = s as u32;
            } else {
                blocks[s].children.push(c);
            }
        }

        if parent[s] != NONE {
            blocks[parent[s] as usize].children.push(s as u32);
        }
    }

    // Joins form chains; each ends at the block that was kept.
    for s in (0..count).rev() {
        joined[s] = joined[joined[s] as usize];
    }

    joined
}

/// Whether the zeros that a join would store cost less than a block of its own. Chosen near the
/// defaults of CHOLMOD (Chen, Davis, Hager & Rajamanickam, TOMS 2008): the wider the block, the
/// fewer zeros.
fn worth_joining(child: &Block, parent: &Block) -> bool {
    let columns = child.columns + parent.columns;
    let stored = Block::stored(columns, parent.rows);
    let zeros = (stored - child.entries - parent.entries) as f64 / stored as f64;
    match columns {
        0..=4 => true,
        5..=16 => zeros < 0.5,
        17..=48 => zeros < 0.15,
        _ => zeros < 0.05,
    }
}

/// Renumbers so that the columns of each joined supernode and each subtree are contiguous.
fn arrange(tree: &EliminationTree, starts: &[u32], parent: &[u32], joined: &[u32]) -> Supernodes {
    let count = parent.len();
    // Blocks that were not joined keep the name of their last supernode.
    let kept: Vec<u32> = (0..count as u32)
        .filter(|&s| joined[s as usize] == s)
        .collect();
    let mut name = vec![NONE; count];
    for (k, &s) in kept.iter().enumerate() {
        name[s as usize] = k as u32;
    }

    let above = |s: u32| {
        if parent[s as usize] == NONE {
            NONE
        } else {
            name[joined[parent[s as usize] as usize] as usize]
        }
    };

    // A postorder makes subtrees contiguous.
    let kept_parent: Vec<u32> = kept.iter().map(|&s| above(s)).collect();
    let post = postorder(&kept_parent);
    let moved = invert(&post);

    // The columns of a block are those of all supernodes joined to it, in their old order.
    let mut parts: Vec<Vec<u32>> = vec![Vec::new(); kept.len()];
    for s in 0..count {
        parts[moved[name[joined[s] as usize] as usize] as usize].push(s as u32);
    }
    let mut order = Vec::with_capacity(tree.order.len());
    let mut new_starts = vec![0];
    for list in &parts {
        for &s in list {
            order.extend_from_slice(
                &tree.order[starts[s as usize] as usize..starts[s as usize + 1] as usize],
            );
        }
        new_starts.push(order.len() as u32);
    }

    let new_parent = post
        .iter()
        .map(|&k| kept_parent[k as usize])
        .map(|p| if p == NONE { NONE } else { moved[p as usize] })
        .collect();

    Supernodes {
        order,
        starts: new_starts,
        parent: new_parent,
        rows: Vec::new(),
        row_starts: Vec::new(),
    }
}
