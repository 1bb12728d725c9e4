//! Forward and backward substitution over the dense blocks of a factor.
//!
//! **Problem.** A solve reads every entry of the factor twice and does little else, so it
//! should run at the speed of memory, on all cores, without allocating.
//!
//! **Method.** Groups of subtrees are swept at the same time, each in a vector of its own, then the
//! crown above them (see [`SweepPlan`](super::sweep_plan::SweepPlan)). Forward, the sums of a group
//! for the crown are added in the order of the groups; backward, the group copies the solution of
//! the crown.

use super::sweep_plan::Task;
use super::symbolic::Symbolic;
use crate::parallel;
use crate::simd::{Kernel, run_vectorized};

/// Unknowns in one task of writing back.
const UNKNOWNS_PER_TASK: usize = 16384;

/// Numbers that a solve needs room for; kept between solves so that these do not allocate.
#[derive(Debug, Clone, Default)]
pub struct SolveWorkspace {
    values: Vec<f64>,
}

impl SolveWorkspace {
    /// An empty workspace; the first solve makes it as large as it needs.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

/// A factor and how to sweep over it.
#[derive(Clone, Copy)]
pub(super) struct Sweep<'a> {
    pub(super) symbolic: &'a Symbolic,
    pub(super) values: &'a [f64],
}

impl Sweep<'_> {
    /// Solves for `R` right-hand sides at once: `read` gives them for an unknown, `write` takes the
    /// solution in `target`.
    pub(super) fn solve<const R: usize, const LANES: usize, T: Send + Sync>(
        &self,
        target: &mut [T],
        workspace: &mut SolveWorkspace,
        read: impl Fn(&T) -> [f64; R] + Sync + Send,
        write: impl Fn(&mut T, [f64; R]) + Sync + Send,
    ) {
        let plan = &self.symbolic.plan;
        workspace
            .values
            .resize((R * plan.workspace).max(workspace.values.len()), 0.0);

        // The vectors of the tasks lie one after the other; that of the crown (the nodes above all
        // tasks) is last.
        let vectors = workspace.values[..R * plan.workspace]
            .as_chunks_mut::<R>()
            .0;
        let crown_start = plan.workspace - plan.crown_columns - plan.crown_longest;
        let (vectors_of_tasks, crown) = vectors.split_at_mut(crown_start);
        let input = |unknown: u32| read(&target[unknown as usize]);

        // Forward substitution: all subtrees, then the crown, which collects their sums.
        self.for_each_task(&plan.tasks, vectors_of_tasks, &|task, vector| {
            self.forward_task::<R, LANES>(task, vector, &input)
        });
        self.sweep_crown::<R, LANES>(vectors_of_tasks, crown, &input);

        // Backward substitution: every subtree reads the solution of the crown.
        let crown = &*crown;
        self.for_each_task(&plan.tasks, vectors_of_tasks, &|task, vector| {
            self.backward_task::<R, LANES>(task, vector, crown)
        });

        // The solution goes back to the order of the unknowns.
        let vectors = &*vectors;
        let grain = if plan.spread {
            UNKNOWNS_PER_TASK
        } else {
            usize::MAX
        };

        parallel::for_each_chunk_mut(target, grain, |start, chunk| {
            for (item, &place) in chunk.iter_mut().zip(&plan.place_of[start..]) {
                write(item, vectors[place as usize]);
            }
        });
    }

    /// Calls `work` for each task with its own vector.
    fn for_each_task<const R: usize>(
        &self,
        tasks: &[Task],
        vectors: &mut [[f64; R]],
        work: &(impl Fn(&Task, &mut [[f64; R]]) + Sync),
    ) {
        match tasks {
            [] => {}
            // Halves are split recursively, so that `rayon` can steal large pieces first.
            [task] => work(task, vectors),
            _ => {
                let (left, right) = tasks.split_at(tasks.len() / 2);
                let (left_vectors, right_vectors) =
                    vectors.split_at_mut(right[0].workspace_start - left[0].workspace_start);
                let halves = (
                    || self.for_each_task(left, left_vectors, work),
                    || self.for_each_task(right, right_vectors, work),
                );

                if self.symbolic.plan.spread {
                    parallel::join(halves.0, halves.1);
                } else {
                    let (mut left, mut right) = halves;
                    left();
                    right();
                }
            }
        }
    }

    fn forward_task<const R: usize, const LANES: usize>(
        &self,
        task: &Task,
        vector: &mut [[f64; R]],
        input: &impl Fn(u32) -> [f64; R],
    ) {
        let plan = &self.symbolic.plan;
        let (vector, buffer) = vector.split_at_mut(task.columns + task.outer);
        // The right-hand side of the task's own columns; rows outside collect updates and start at
        // zero.
        for (place, &unknown) in vector
            .iter_mut()
            .zip(&plan.unknowns[task.column_start..task.column_start + task.columns])
        {
            *place = input(unknown);
        }

        vector[task.columns..].fill([0.0; R]);
        run_vectorized(Forward::<_, R, LANES> {
            sweep: *self,
            nodes: task.nodes.clone(),
            vector,
            buffer,
        });
    }

    fn backward_task<const R: usize, const LANES: usize>(
        &self,
        task: &Task,
        vector: &mut [[f64; R]],
        crown: &[[f64; R]],
    ) {
        let plan = &self.symbolic.plan;
        let (vector, buffer) = vector.split_at_mut(task.columns + task.outer);

        // Rows outside the task are solved already: they are read from the crown.
        for (place, &outer) in vector[task.columns..]
            .iter_mut()
            .zip(&plan.outer[task.outer_start..])
        {
            *place = crown[outer as usize];
        }

        run_vectorized(Backward::<_, R, LANES> {
            sweep: *self,
            nodes: task.nodes.clone().rev(),
            vector,
            buffer,
        });
    }

    fn sweep_crown<const R: usize, const LANES: usize>(
        &self,
        vectors: &[[f64; R]],
        crown: &mut [[f64; R]],
        input: &impl Fn(u32) -> [f64; R],
    ) {
        let plan = &self.symbolic.plan;
        let (vector, buffer) = crown.split_at_mut(plan.crown_columns);
        let first = plan.unknowns.len() - plan.crown_columns;

        // The right-hand side of the crown's own columns, and the sums of the tasks.
        for (place, &unknown) in vector.iter_mut().zip(&plan.unknowns[first..]) {
            *place = input(unknown);
        }
        for task in &plan.tasks {
            let sums = &vectors[task.workspace_start + task.columns..][..task.outer];
            for (sum, &outer) in sums.iter().zip(&plan.outer[task.outer_start..]) {
                for r in 0..R {
                    vector[outer as usize][r] += sum[r];
                }
            }
        }

        // The crown has no rows outside, so both substitutions run one after the other.
        let nodes = plan.crown.iter().map(|&s| s as usize);
        run_vectorized(Forward::<_, R, LANES> {
            sweep: *self,
            nodes: nodes.clone(),
            vector,
            buffer,
        });
        run_vectorized(Backward::<_, R, LANES> {
            sweep: *self,
            nodes: nodes.rev(),
            vector,
            buffer,
        });
    }

    #[inline(always)]
    fn forward_node<const R: usize, const LANES: usize>(
        &self,
        s: usize,
        vector: &mut [[f64; R]],
        buffer: &mut [[f64; R]],
    ) {
        let node = &self.symbolic.nodes[s];
        let plan = &self.symbolic.plan;
        let first = plan.first[s] as usize;

        // A right-hand side with few entries reaches only the blocks above them: the others are not
        // even read.
        if vector[first..first + node.columns]
            .iter()
            .all(|value| *value == [0.0; R])
        {
            return;
        }

        // Gather the block's rows in a contiguous buffer, solve there, scatter the sums.
        let rows = &plan.rows[node.row_start..node.row_start + node.rows];
        let buffer = &mut buffer[..node.height()];
        let (own, below) = buffer.split_at_mut(node.columns);
        own.copy_from_slice(&vector[first..first + node.columns]);
        below.fill([0.0; R]);
        forward_block::<R, LANES>(&self.values[node.values()], node.columns, buffer);
        vector[first..first + node.columns].copy_from_slice(&buffer[..node.columns]);

        for (&row, sum) in rows.iter().zip(&buffer[node.columns..]) {
            let place = &mut vector[row as usize];
            for r in 0..R {
                place[r] += sum[r];
            }
        }
    }

    #[inline(always)]
    fn backward_node<const R: usize, const LANES: usize>(
        &self,
        s: usize,
        vector: &mut [[f64; R]],
        buffer: &mut [[f64; R]],
    ) {
        let node = &self.symbolic.nodes[s];
        let plan = &self.symbolic.plan;
        let first = plan.first[s] as usize;
        let rows = &plan.rows[node.row_start..node.row_start + node.rows];
        let buffer = &mut buffer[..node.height()];

        // Gather the solution above the block, and solve for the block's own columns.
        buffer[..node.columns].copy_from_slice(&vector[first..first + node.columns]);
        for (&row, value) in rows.iter().zip(&mut buffer[node.columns..]) {
            *value = vector[row as usize];
        }

        backward_block::<R, LANES>(&self.values[node.values()], node.columns, buffer);
        vector[first..first + node.columns].copy_from_slice(&buffer[..node.columns]);
    }
}

/// `L x = b` over some nodes, in their order.
struct Forward<'a, Nodes, const R: usize, const LANES: usize> {
    sweep: Sweep<'a>,
    nodes: Nodes,
    vector: &'a mut [[f64; R]],
    buffer: &'a mut [[f64; R]],
}

impl<Nodes: Iterator<Item = usize>, const R: usize, const LANES: usize> Kernel
    for Forward<'_, Nodes, R, LANES>
{
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for s in self.nodes {
            self.sweep
                .forward_node::<R, LANES>(s, self.vector, self.buffer);
        }
    }
}

/// `Lᵀ x = b` over some nodes, in their order.
struct Backward<'a, Nodes, const R: usize, const LANES: usize> {
    sweep: Sweep<'a>,
    nodes: Nodes,
    vector: &'a mut [[f64; R]],
    buffer: &'a mut [[f64; R]],
}

impl<Nodes: Iterator<Item = usize>, const R: usize, const LANES: usize> Kernel
    for Backward<'_, Nodes, R, LANES>
{
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for s in self.nodes {
            self.sweep
                .backward_node::<R, LANES>(s, self.vector, self.buffer);
        }
    }
}

/// `x₁ ← L₁₁⁻¹ x₁`, `x₂ ← x₂ − L₂₁ x₁` for the dense block `L` of `columns` columns, its diagonal
/// inverted.
#[inline(always)]
fn forward_block<const R: usize, const LANES: usize>(
    block: &[f64],
    columns: usize,
    x: &mut [[f64; R]],
) {
    let height = x.len();
    let mut j = 0;
    // Four columns at a time: the triangle on the diagonal first, then all rows below it.
    while j + 4 <= columns {
        let [c0, c1, c2, c3] = four_columns(block, height, j);
        let (solved, rest) = x[j..].split_at_mut(4);
        for r in 0..R {
            let x0 = solved[0][r] * c0[0];
            let x1 = (solved[1][r] - c0[1] * x0) * c1[1];
            let x2 = (solved[2][r] - c0[2] * x0 - c1[2] * x1) * c2[2];
            let x3 = (solved[3][r] - c0[3] * x0 - c1[3] * x1 - c2[3] * x2) * c3[3];
            (solved[0][r], solved[1][r], solved[2][r], solved[3][r]) = (x0, x1, x2, x3);
        }

        let [x0, x1, x2, x3] = [solved[0], solved[1], solved[2], solved[3]];
        // Explicit chunks: left to itself the compiler unrolls further than most columns are long.
        let (chunks, tail) = rest.as_chunks_mut::<LANES>();
        let [(d0, t0), (d1, t1), (d2, t2), (d3, t3)] =
            [c0, c1, c2, c3].map(|c| c[4..].as_chunks::<LANES>());

        for ((((chunk, e0), e1), e2), e3) in chunks.iter_mut().zip(d0).zip(d1).zip(d2).zip(d3) {
            for i in 0..LANES {
                for r in 0..R {
                    chunk[i][r] -=
                        (e0[i] * x0[r] + e1[i] * x1[r]) + (e2[i] * x2[r] + e3[i] * x3[r]);
                }
            }
        }

        // The rows that fill no chunk.
        for ((((value, e0), e1), e2), e3) in tail.iter_mut().zip(t0).zip(t1).zip(t2).zip(t3) {
            for r in 0..R {
                value[r] -= (e0 * x0[r] + e1 * x1[r]) + (e2 * x2[r] + e3 * x3[r]);
            }
        }

        j += 4;
    }

    // The last columns, fewer than four, one by one.
    for j in j..columns {
        let column = &block[j * height + j..(j + 1) * height];
        let (solved, rest) = x[j..].split_at_mut(1);
        for r in 0..R {
            solved[0][r] *= column[0];
        }

        for (value, &entry) in rest.iter_mut().zip(&column[1..]) {
            for r in 0..R {
                value[r] -= entry * solved[0][r];
            }
        }
    }
}

/// `x₁ ← L₁₁⁻ᵀ (x₁ − L₂₁ᵀ x₂)`; sums run in `LANES` parts, a power of two.
#[inline(always)]
fn backward_block<const R: usize, const LANES: usize>(
    block: &[f64],
    columns: usize,
    x: &mut [[f64; R]],
) {
    let height = x.len();
    let whole = columns - columns % 4;
    // Backwards: first the last columns that do not fill a group of four.
    for j in (whole..columns).rev() {
        let column = &block[j * height + j..(j + 1) * height];
        let (solved, rest) = x[j..].split_at_mut(1);
        let [sum] = dots::<R, LANES, 1>([&column[1..]], rest);
        for r in 0..R {
            solved[0][r] = (solved[0][r] - sum[r]) * column[0];
        }
    }

    // Then groups of four: sums over the rows below, and the triangle from its last row up.
    for j in (0..whole).step_by(4).rev() {
        let [c0, c1, c2, c3] = four_columns(block, height, j);
        let (solved, rest) = x[j..].split_at_mut(4);
        let [s0, s1, s2, s3] = dots::<R, LANES, 4>([&c0[4..], &c1[4..], &c2[4..], &c3[4..]], rest);

        for r in 0..R {
            let x3 = (solved[3][r] - s3[r]) * c3[3];
            let x2 = (solved[2][r] - s2[r] - c2[3] * x3) * c2[2];
            let x1 = (solved[1][r] - s1[r] - c1[2] * x2 - c1[3] * x3) * c1[1];
            let x0 = (solved[0][r] - s0[r] - c0[1] * x1 - c0[2] * x2 - c0[3] * x3) * c0[0];
            (solved[0][r], solved[1][r], solved[2][r], solved[3][r]) = (x0, x1, x2, x3);
        }
    }
}

/// Columns `j..j + 4` of a block, from row `j` on.
#[inline(always)]
fn four_columns(block: &[f64], height: usize, j: usize) -> [&[f64]; 4] {
    [0, 1, 2, 3].map(|k| &block[(j + k) * height + j..(j + k + 1) * height])
}

/// The products of `C` columns with `R` vectors.
#[inline(always)]
fn dots<const R: usize, const LANES: usize, const C: usize>(
    columns: [&[f64]; C],
    x: &[[f64; R]],
) -> [[f64; R]; C] {
    let whole = x.len() - x.len() % LANES;
    let columns = columns.map(|column| &column[..x.len()]);
    let mut lanes = [[[0.0; R]; LANES]; C];

    // One sum per lane, so that the additions do not wait for each other.
    let mut i = 0;
    while i < whole {
        let part = &x[i..i + LANES];
        for c in 0..C {
            let entries = &columns[c][i..i + LANES];
            for lane in 0..LANES {
                for r in 0..R {
                    lanes[c][lane][r] += entries[lane] * part[lane][r];
                }
            }
        }

        i += LANES;
    }

    // The lanes are added in halves, a fixed order, then the rows that fill no lane.
    let mut sums = [[0.0; R]; C];
    for c in 0..C {
        for r in 0..R {
            let mut width = LANES;
            while width > 1 {
                width /= 2;
                for lane in 0..width {
                    lanes[c][lane][r] += lanes[c][lane + width][r];
                }
            }

            sums[c][r] = lanes[c][0][r];
            for i in whole..x.len() {
                sums[c][r] += columns[c][i] * x[i][r];
            }
        }
    }

    sums
}
