//! Minimum degree ordering of the small parts that dissection leaves.
//!
//! **Method.** Eliminate the vertex with the fewest neighbours, join these, repeat. Rows of
//! bits hold the graph, so joining is a few `or`s.
//!
//! **Departures.** Neighbours in the cuts around the part are never eliminated here but count as
//! neighbours, as in Pellegrini, Roman & Amestoy, "Hybridizing nested dissection and halo
//! approximate minimum degree", 2000.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::SymbolicSparseColMatRef;
use faer::sparse::linalg::amd;

use super::graph::Graph;

/// Orders the `vertices` of a small part of `whole`, whose indices there `place` gives; all other
/// vertices are eliminated later.
pub(super) fn order_leaf(
    whole: &Graph,
    vertices: &[u32],
    place: impl Fn(u32) -> Option<u32>,
) -> Vec<u32> {
    let n = vertices.len();
    let around = || {
        vertices
            .iter()
            .enumerate()
            .flat_map(|(k, &v)| whole.neighbours(v as usize).iter().map(move |&u| (k, u)))
    };

    // The halo: vertices of cuts that touch the leaf. They count as neighbours.
    let mut halo: Vec<u32> = around()
        .map(|(_, u)| u)
        .filter(|&u| place(u).is_none())
        .collect();
    halo.sort_unstable();
    halo.dedup();
    let words = (n + halo.len()).div_ceil(64).max(1);

    // One bit row per vertex: first the leaf, then the halo.
    let mut rows = vec![0_u64; n * words];
    for (k, u) in around() {
        let bit = match place(u) {
            Some(place) => place as usize,
            None => {
                n + halo
                    .binary_search(&u)
                    .expect("a neighbour outside the leaf lies in its halo")
            }
        };
        rows[k * words + bit / 64] |= 1 << (bit % 64);
    }

    eliminate(n, words, &mut rows)
        .into_iter()
        .map(|k| vertices[k])
        .collect()
}

/// The order of elimination of the `n` rows of `words` words each; bits from `n` on are never
/// eliminated.
fn eliminate(n: usize, words: usize, rows: &mut [u64]) -> Vec<usize> {
    // The degree and the row in one number, so that the smallest is found without a branch.
    let key = |row: &[u64], k: usize| {
        (u64::from(row.iter().map(|w| w.count_ones()).sum::<u32>()) << 32) | k as u64
    };
    let mut keys: Vec<u64> = (0..n)
        .map(|k| key(&rows[k * words..(k + 1) * words], k))
        .collect();

    let mut pivot_row = vec![0; words];
    let mut order = Vec::with_capacity(n);
    for _ in 0..n {
        // Eliminate the vertex of least degree …
        let smallest = keys.iter().fold(u64::MAX, |a, &b| a.min(b));
        let pivot = smallest as u32 as usize;
        order.push(pivot);
        keys[pivot] = u64::MAX;
        pivot_row.copy_from_slice(&rows[pivot * words..(pivot + 1) * words]);

        // … and join its neighbours: each gets all bits of the pivot's row but its own and the
        // pivot's.
        for w in 0..n.div_ceil(64) {
            let mut bits = pivot_row[w];
            while bits != 0 {
                let k = 64 * w + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                if k >= n {
                    break;
                }

                let row = &mut rows[k * words..(k + 1) * words];
                for (word, joined) in row.iter_mut().zip(&pivot_row) {
                    *word |= joined;
                }

                row[k / 64] &= !(1 << (k % 64));
                row[pivot / 64] &= !(1 << (pivot % 64));
                keys[k] = key(row, k);
            }
        }
    }

    order
}

/// Orders a part of any size that could not be cut, by approximate minimum degree; `vertices` are
/// its names.
pub(super) fn order_part(part: &Graph, vertices: &[u32]) -> Vec<u32> {
    let n = part.len();
    let starts: Vec<usize> = part.starts.iter().map(|&s| s as usize).collect();
    let neighbours: Vec<usize> = part.neighbours.iter().map(|&u| u as usize).collect();
    let pattern = SymbolicSparseColMatRef::new_unsorted_checked(n, n, &starts, None, &neighbours);

    let (mut forward, mut inverse) = (vec![0_usize; n], vec![0_usize; n]);
    let mut buffer = MemBuffer::new(amd::order_maybe_unsorted_scratch::<usize>(
        n,
        neighbours.len(),
    ));

    amd::order_maybe_unsorted(
        &mut forward,
        &mut inverse,
        pattern,
        amd::Control::default(),
        MemStack::new(&mut buffer),
    )
    .expect("the size of a graph in memory fits its index");

    forward.into_iter().map(|v| vertices[v]).collect()
}
