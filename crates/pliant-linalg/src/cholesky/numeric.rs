//! Numeric factorisation: the multifrontal method.
//!
//! **Method.** Each block of columns gathers its entries of the matrix and the updates
//! of its children, is factored as a dense matrix, and passes the Schur complement of its
//! rows to its parent. Subtrees are independent, so they run at the same time; updates of
//! children are added in a fixed order, so that the bits do not depend on threads.
//!
//! **Source.** Duff & Reid, "The multifrontal solution of indefinite sparse symmetric linear
//! equations", TOMS 1983; Liu, "The multifrontal method for sparse matrix solution",
//! SIAM Review 1992.
//!
//! **Departures.** The diagonal of the factor is stored inverted, which saves the divisions in
//! every solve.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, MatMut, MatRef, Par};

use super::symbolic::{Node, Symbolic};
use crate::parallel;
use crate::simd::{Kernel, run_vectorized};

/// A pivot below this multiple of `√n` roundings of the entry on the diagonal counts as zero, for
/// `n` unknowns.
///
/// Chosen: the last pivot of a singular Laplacian is rounding; measured on grids of 100 to 360 000
/// unknowns it is at most `1.1 ε √n` of the diagonal, either sign.
const ROUNDINGS: f64 = 8.0;

/// Subtrees with less work (multiplications) are factored by one thread.
const WORK_PER_TASK: f64 = 4e6;
/// Blocks of at most this many columns are factored here; wider ones by `faer`, whose kernels have
/// a start-up cost.
const NARROW: usize = 8;
/// Blocks with more work than this are cut into tiles.
const WORK_PER_BLOCK: f64 = 6e7;
/// Columns of a tile.
const TILE: usize = 128;

/// The column, in the order of elimination, whose pivot is not positive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BadPivot(pub(super) usize);

/// The Schur complement that a node passes to its parent: `rows × rows`, lower triangle, by
/// columns.
type Update = Vec<f64>;

/// Writes the factor of the matrix with entries `entries` to `values`.
pub(super) fn factor(
    symbolic: &Symbolic,
    entries: &[f64],
    values: &mut [f64],
) -> Result<(), BadPivot> {
    let tolerance = ROUNDINGS * f64::EPSILON * (symbolic.size() as f64).sqrt();
    let numeric = Numeric {
        symbolic,
        entries,
        tolerance,
    };

    numeric.factor_trees(symbolic.roots(), values).map(|_| ())
}

#[derive(Clone, Copy)]
struct Numeric<'a> {
    symbolic: &'a Symbolic,
    entries: &'a [f64],
    /// The smallest pivot, relative to the diagonal.
    tolerance: f64,
}

impl Numeric<'_> {
    /// Factors neighbouring subtrees, whose values are `values`; the first bad pivot in their order
    /// is reported.
    fn factor_trees(&self, roots: &[u32], values: &mut [f64]) -> Result<Vec<Update>, BadPivot> {
        let nodes = &self.symbolic.nodes;
        match roots {
            [] => Ok(Vec::new()),
            [root] => Ok(vec![self.factor_tree(*root as usize, values)?]),
            _ => {
                // Subtrees are split where their work is about halved.
                let work =
                    |roots: &[u32]| roots.iter().map(|&s| nodes[s as usize].work).sum::<f64>();
                let half = work(roots) / 2.0;
                let mut sum = 0.0;
                let at_half = roots.iter().position(|&s| {
                    sum += nodes[s as usize].work;
                    sum >= half
                });

                let middle = (at_half.unwrap_or(0) + 1).min(roots.len() - 1);
                let (left, right) = roots.split_at(middle);

                // Values of neighbouring subtrees are contiguous.
                let start =
                    |roots: &[u32]| nodes[nodes[roots[0] as usize].subtree as usize].value_start;
                let (left_values, right_values) = values.split_at_mut(start(right) - start(left));

                // Small subtrees are not worth a task of their own.
                let (a, b) = if half > WORK_PER_TASK {
                    parallel::join(
                        || self.factor_trees(left, left_values),
                        || self.factor_trees(right, right_values),
                    )
                } else {
                    (
                        self.factor_trees(left, left_values),
                        self.factor_trees(right, right_values),
                    )
                };

                let mut updates = a?;
                updates.extend(b?);
                Ok(updates)
            }
        }
    }

    fn factor_tree(&self, root: usize, values: &mut [f64]) -> Result<Update, BadPivot> {
        let node = &self.symbolic.nodes[root];
        if node.work < WORK_PER_TASK {
            return run_vectorized(SmallTree {
                numeric: *self,
                root,
                values,
            });
        }

        // Large nodes: children first, possibly in parallel, then their updates are added here.
        let children = self.symbolic.children_of(root);
        let own_start = values.len() - node.columns * node.height();
        let (values_below, block) = values.split_at_mut(own_start);
        let updates = self.factor_trees(children, values_below)?;

        // Assemble the block: entries of the matrix, then the updates of the children in their
        // order.
        let mut own = vec![0.0; node.rows * node.rows];
        block.fill(0.0);
        self.add_entries(root, block);
        for (&child, update) in children.iter().zip(&updates) {
            self.add_update(child as usize, update, block, &mut own);
        }

        // The updates of the children are large; their memory is free before the elimination.
        drop(updates);
        self.eliminate(root, block, &mut own)?;
        Ok(own)
    }

    /// Factors a small subtree, node by node.
    #[inline(always)]
    fn factor_tree_in_place(&self, root: usize, values: &mut [f64]) -> Result<Update, BadPivot> {
        let symbolic = self.symbolic;
        let first = symbolic.nodes[root].subtree as usize;
        let start = symbolic.nodes[first].value_start;

        // Updates of nodes of even and of odd depth: a node writes to one stack while its children
        // leave the other.
        let mut stacks: [Update; 2] = [Vec::new(), Vec::new()];
        for s in first..=root {
            let node = &symbolic.nodes[s];
            let range = node.values();
            let block = &mut values[range.start - start..range.end - start];
            let [even, odd] = &mut stacks;
            let (own_stack, child_stack) = if node.depth.is_multiple_of(2) {
                (even, odd)
            } else {
                (odd, even)
            };

            // The node's own update is zero at first; its block starts with the entries of the
            // matrix.
            let own_start = own_stack.len();
            own_stack.resize(own_start + node.rows * node.rows, 0.0);
            let own = &mut own_stack[own_start..];
            block.fill(0.0);
            self.add_entries(s, block);

            // The updates of the children are the last ones on their stack, in order.
            let length = |child: u32| symbolic.nodes[child as usize].rows.pow(2);
            let children = symbolic.children_of(s);
            let base = child_stack.len() - children.iter().map(|&c| length(c)).sum::<usize>();
            let mut offset = base;
            for &child in children {
                self.add_update(
                    child as usize,
                    &child_stack[offset..offset + length(child)],
                    block,
                    own,
                );
                offset += length(child);
            }

            // The children's updates are used up.
            child_stack.truncate(base);
            self.eliminate(s, block, own)?;
        }

        let [even, odd] = stacks;
        Ok(if symbolic.nodes[root].depth.is_multiple_of(2) {
            even
        } else {
            odd
        })
    }

    /// Adds the entries of the matrix in the columns of node `s`.
    #[inline(always)]
    fn add_entries(&self, s: usize, block: &mut [f64]) {
        let range = self.symbolic.assembly_starts[s] as usize
            ..self.symbolic.assembly_starts[s + 1] as usize;
        for &(source, target) in &self.symbolic.assembly[range] {
            block[target as usize] = self.entries[source as usize];
        }
    }

    /// Adds the update of `child` to the block of its parent and to the parent's own update.
    #[inline(always)]
    fn add_update(&self, child: usize, update: &[f64], block: &mut [f64], own: &mut [f64]) {
        let node = &self.symbolic.nodes[child];
        let parent = &self.symbolic.nodes[node.parent as usize];
        let relative = &self.symbolic.relative[node.row_start..node.row_start + node.rows];

        for (j, &column) in relative.iter().enumerate() {
            let source = &update[j * node.rows + j..(j + 1) * node.rows];
            let column = column as usize;

            // A column of the update goes to a column of the parent's block, or to the parent's own
            // update.
            let (target, shift) = if column < parent.columns {
                (
                    &mut block[column * parent.height()..(column + 1) * parent.height()],
                    0,
                )
            } else {
                let column = column - parent.columns;
                (
                    &mut own[column * parent.rows..(column + 1) * parent.rows],
                    parent.columns,
                )
            };

            for (&row, &value) in relative[j..].iter().zip(source) {
                target[row as usize - shift] += value;
            }
        }
    }

    /// Factors the columns of node `s` and subtracts their products from `own`.
    #[inline(always)]
    fn eliminate(&self, s: usize, block: &mut [f64], own: &mut [f64]) -> Result<(), BadPivot> {
        let node = &self.symbolic.nodes[s];
        if node.columns <= NARROW {
            self.eliminate_narrow(node, block, own)
        } else {
            self.eliminate_wide(node, block, own)
        }
    }

    /// The smallest pivot that column `j` of a node may have.
    #[inline(always)]
    fn smallest_pivot(&self, node: &Node, j: usize) -> f64 {
        let source = self.symbolic.diagonal[node.first + j];
        if source == u32::MAX {
            0.0
        } else {
            self.tolerance * self.entries[source as usize].abs()
        }
    }

    #[inline(always)]
    fn eliminate_narrow(
        &self,
        node: &Node,
        block: &mut [f64],
        own: &mut [f64],
    ) -> Result<(), BadPivot> {
        let height = node.height();
        for j in 0..node.columns {
            let (done, rest) = block.split_at_mut((j + 1) * height);
            let column = &mut done[j * height + j..];
            let pivot = column[0];
            // Written so that a pivot that is not a number fails too.
            if !(pivot > self.smallest_pivot(node, j) && pivot < f64::INFINITY) {
                return Err(BadPivot(node.first + j));
            }

            // Scale the column by its pivot, and subtract its products from the later columns.
            let inverse = 1.0 / pivot.sqrt();
            column[0] = inverse;
            for value in &mut column[1..] {
                *value *= inverse;
            }

            for (k, later) in rest.chunks_exact_mut(height).enumerate() {
                let factor = column[k + 1];
                for (target, &value) in later[j + 1 + k..].iter_mut().zip(&column[k + 1..]) {
                    *target -= factor * value;
                }
            }
        }

        subtract_products(block, node.columns, own, node.rows);
        Ok(())
    }

    fn eliminate_wide(
        &self,
        node: &Node,
        block: &mut [f64],
        own: &mut [f64],
    ) -> Result<(), BadPivot> {
        let height = node.height();

        // Large blocks are factored in tiles, so that several threads share the work.
        let spread = (height as f64).powi(2) * node.columns as f64 > WORK_PER_BLOCK;
        let tile = if spread { TILE } else { node.columns };

        for start in (0..node.columns).step_by(tile) {
            let width = tile.min(node.columns - start);
            let (done, later) = block.split_at_mut((start + width) * height);
            let panel = &mut done[start * height..];
            self.factor_panel(node, panel, start, width)?;

            // All later columns get the products of the panel, in parallel by columns.
            let panel = &*panel;
            parallel::for_each_chunk_mut(later, height * TILE, |offset, columns| {
                let row = start + width + offset / height;
                let count = columns.len() / height;
                let rows = MatRef::from_column_major_slice(panel, height, width)
                    .subrows(row, height - row);
                let target = MatMut::from_column_major_slice_mut(columns, height, count)
                    .subrows_mut(row, height - row);

                matmul(
                    target,
                    Accum::Add,
                    rows,
                    rows.subrows(0, count).transpose(),
                    -1.0,
                    Par::Seq,
                );
            });
        }

        // The Schur complement, then the diagonal is stored inverted.
        self.subtract_wide(node, block, own, spread);
        for j in 0..node.columns {
            block[j * height + j] = block[j * height + j].recip();
        }

        Ok(())
    }

    /// Factors columns `start..start + width` of a block, to which all earlier columns have been
    /// applied.
    fn factor_panel(
        &self,
        node: &Node,
        panel: &mut [f64],
        start: usize,
        width: usize,
    ) -> Result<(), BadPivot> {
        // The panel is a square on the diagonal and the rows below it.
        let height = node.height();
        let panel = MatMut::from_column_major_slice_mut(panel, height, width);
        let (mut square, below) = panel.split_at_row_mut(start).1.split_at_row_mut(width);
        let scratch =
            llt::factor::cholesky_in_place_scratch::<f64>(width, Par::Seq, Default::default());
        let mut buffer = MemBuffer::new(scratch);

        llt::factor::cholesky_in_place(
            square.as_mut(),
            Default::default(),
            Par::Seq,
            MemStack::new(&mut buffer),
            Default::default(),
        )
        .map_err(|llt::factor::LltError::NonPositivePivot { index }| {
            BadPivot(node.first + start + index)
        })?;

        // `faer` accepts any positive pivot; those that are rounding noise fail here.
        for j in 0..width {
            let pivot = square[(j, j)] * square[(j, j)];
            if !(pivot > self.smallest_pivot(node, start + j) && pivot < f64::INFINITY) {
                return Err(BadPivot(node.first + start + j));
            }
        }

        solve_rows(square.as_ref(), below);
        Ok(())
    }

    /// `own ← own − L₂₁ L₂₁ᵀ`, lower triangle.
    fn subtract_wide(&self, node: &Node, block: &[f64], own: &mut [f64], spread: bool) {
        let rows = MatRef::from_column_major_slice(block, node.height(), node.columns)
            .subrows(node.columns, node.rows);
        if !spread {
            let own = MatMut::from_column_major_slice_mut(own, node.rows, node.rows);
            let (lower, dense) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
            triangular::matmul(
                own,
                lower,
                Accum::Add,
                rows,
                dense,
                rows.transpose(),
                dense,
                -1.0,
                Par::Seq,
            );

            return;
        }

        // Large updates are computed in tiles of columns, only the lower triangle.
        parallel::for_each_chunk_mut(own, node.rows * TILE, |offset, columns| {
            let row = offset / node.rows;
            let count = columns.len() / node.rows;
            let target = MatMut::from_column_major_slice_mut(columns, node.rows, count)
                .subrows_mut(row, node.rows - row);
            let rows = rows.subrows(row, node.rows - row);

            matmul(
                target,
                Accum::Add,
                rows,
                rows.subrows(0, count).transpose(),
                -1.0,
                Par::Seq,
            );
        });
    }
}

/// A subtree that one thread factors.
struct SmallTree<'a> {
    numeric: Numeric<'a>,
    root: usize,
    values: &'a mut [f64],
}

impl Kernel for SmallTree<'_> {
    type Output = Result<Update, BadPivot>;

    #[inline(always)]
    fn run(self) -> Self::Output {
        self.numeric.factor_tree_in_place(self.root, self.values)
    }
}

/// `B ← B L⁻ᵀ`, rows in parallel in fixed parts.
fn solve_rows(lower: MatRef<'_, f64>, rows: MatMut<'_, f64>) {
    const ROWS: usize = 512;
    if rows.nrows() <= ROWS {
        solve_lower_triangular_in_place(lower, rows.transpose_mut(), Par::Seq);
        return;
    }
    let middle = (rows.nrows() / ROWS).div_ceil(2) * ROWS;
    let (top, bottom) = rows.split_at_row_mut(middle);
    parallel::join(|| solve_rows(lower, top), || solve_rows(lower, bottom));
}

/// `own ← own − L₂₁ L₂₁ᵀ` for a block of few columns, lower triangle.
#[inline(always)]
fn subtract_products(block: &[f64], columns: usize, own: &mut [f64], rows: usize) {
    let height = columns + rows;

    // Up to four columns at once, so that `own` is read and written less often.
    let mut k = 0;
    while k < columns {
        let width = (columns - k).min(4);
        let column = |c: usize| &block[(k + c) * height + columns..(k + c + 1) * height];
        match width {
            4 => subtract_outer([column(0), column(1), column(2), column(3)], own, rows),
            3 => subtract_outer([column(0), column(1), column(2)], own, rows),
            2 => subtract_outer([column(0), column(1)], own, rows),
            _ => subtract_outer([column(0)], own, rows),
        }

        k += width;
    }
}

#[inline(always)]
fn subtract_outer<const C: usize>(columns: [&[f64]; C], own: &mut [f64], rows: usize) {
    for q in 0..rows {
        let target = &mut own[q * rows + q..(q + 1) * rows];
        let n = target.len();
        let sources = columns.map(|column| &column[q..][..n]);
        let factors = sources.map(|source| source[0]);

        for i in 0..n {
            let mut sum = 0.0;
            for c in 0..C {
                sum += factors[c] * sources[c][i];
            }
            target[i] -= sum;
        }
    }
}
