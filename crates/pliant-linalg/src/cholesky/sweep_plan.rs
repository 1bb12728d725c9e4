//! The schedule of a triangular solve: its tasks and the memory of each.
//!
//! **Method.** The forest of blocks is cut into about [`TASKS`] groups of whole subtrees and a
//! crown above them. Each group works on a vector of its own: its columns, followed by
//! the rows of its roots, which lie in the crown. The grouping depends on the matrix
//! alone, so the bits of a solve do not depend on threads.

use super::elimination_tree::NONE;
use super::symbolic::Node;

/// Groups of subtrees that the factor is cut into. Chosen: more would leave too much in the crown.
const TASKS: usize = 8;
/// A factor with fewer values is swept by one thread.
const VALUES_PER_TASK: usize = 1 << 16;

/// Which vector each block of the factor works on.
#[derive(Debug)]
pub(super) struct SweepPlan {
    pub(super) tasks: Vec<Task>,
    /// Nodes above all groups, children first.
    pub(super) crown: Vec<u32>,
    pub(super) crown_columns: usize,
    pub(super) crown_longest: usize,
    /// The first column of each node in its vector.
    pub(super) first: Vec<u32>,
    /// For each row of a node: its place in the vector.
    pub(super) rows: Vec<u32>,
    /// For the outer rows of all groups: their place in the crown.
    pub(super) outer: Vec<u32>,
    /// The unknown of each column, group after group, then the crown.
    pub(super) unknowns: Vec<u32>,
    /// The place of each unknown in the workspace.
    pub(super) place_of: Vec<u32>,
    /// Vectors of all groups and the crown.
    pub(super) workspace: usize,
    pub(super) spread: bool,
}

/// A group of subtrees with consecutive nodes.
#[derive(Debug, Clone)]
pub(super) struct Task {
    pub(super) nodes: std::ops::Range<usize>,
    pub(super) columns: usize,
    /// Rows of its roots.
    pub(super) outer: usize,
    pub(super) longest: usize,
    pub(super) column_start: usize,
    pub(super) outer_start: usize,
    pub(super) workspace_start: usize,
}

impl Task {
    fn workspace(&self) -> usize {
        self.columns + self.outer + self.longest
    }
}

impl SweepPlan {
    pub(super) fn new(nodes: &[Node], rows: &[u32], unknowns: &[u32]) -> Self {
        let total = nodes.last().map_or(0, |node| node.values().end);
        let (mut tasks, crown) = group_subtrees(nodes, total);
        let mut crown_place = vec![NONE; unknowns.len()];

        // Columns of the crown are numbered in the order of its nodes.
        let mut crown_columns = 0;
        for &s in &crown {
            for k in 0..nodes[s as usize].columns {
                crown_place[nodes[s as usize].first + k] = (crown_columns + k) as u32;
            }
            crown_columns += nodes[s as usize].columns;
        }

        let mut plan = Self {
            tasks: Vec::new(),
            crown_columns,
            crown_longest: crown
                .iter()
                .map(|&s| nodes[s as usize].height())
                .max()
                .unwrap_or(0),
            first: vec![0; nodes.len()],
            rows: vec![0; rows.len()],
            outer: Vec::new(),
            unknowns: Vec::with_capacity(unknowns.len()),
            place_of: vec![0; unknowns.len()],
            workspace: 0,
            spread: total > VALUES_PER_TASK,
            crown: Vec::new(),
        };

        // Each task gets a vector of its own, so that tasks never write to the same place.
        for task in &mut tasks {
            plan.add_task(task, nodes, rows, unknowns, &crown_place);
        }

        // The crown's rows are all in the crown, because every ancestor of a crown node is.
        for &s in &crown {
            let node = &nodes[s as usize];
            plan.first[s as usize] = crown_place[node.first];
            for k in node.row_start..node.row_start + node.rows {
                plan.rows[k] = crown_place[rows[k] as usize];
            }

            plan.add_unknowns(
                node,
                unknowns,
                plan.workspace + crown_place[node.first] as usize,
            );
        }

        plan.workspace += plan.crown_columns + plan.crown_longest;
        (plan.tasks, plan.crown) = (tasks, crown);
        plan
    }

    fn add_task(
        &mut self,
        task: &mut Task,
        nodes: &[Node],
        rows: &[u32],
        unknowns: &[u32],
        crown_place: &[u32],
    ) {
        // Where this task's lists begin.
        task.column_start = self.unknowns.len();
        task.outer_start = self.outer.len();
        task.workspace_start = self.workspace;

        // The columns of the task are contiguous.
        let first_column = nodes[task.nodes.start].first;
        let last = &nodes[task.nodes.end - 1];
        task.columns = last.first + last.columns - first_column;
        let end_column = first_column + task.columns;

        // Roots come last in their subtrees, so the outer rows of a subtree are known before its
        // nodes when walked backward.
        let mut outer_place = vec![(NONE, 0_u32); 0];
        for s in task.nodes.clone().rev() {
            let node = &nodes[s];
            let is_root = node.parent == NONE || !task.nodes.contains(&(node.parent as usize));
            let own_rows = &rows[node.row_start..node.row_start + node.rows];

            // The outer rows of a root lie in the crown; the task collects sums for them.
            if is_root {
                outer_place.clear();
                for &row in own_rows {
                    outer_place.push((row, (task.columns + task.outer) as u32));
                    self.outer.push(crown_place[row as usize]);
                    task.outer += 1;
                }
            }

            // Inner rows are columns of the task; outer rows are among those of the root, in order.
            let mut k = 0;
            for (place, &row) in self.rows[node.row_start..node.row_start + node.rows]
                .iter_mut()
                .zip(own_rows)
            {
                *place = if (row as usize) < end_column {
                    row - first_column as u32
                } else {
                    while outer_place[k].0 != row {
                        k += 1;
                    }
                    outer_place[k].1
                };
            }

            self.first[s] = (node.first - first_column) as u32;
            task.longest = task.longest.max(node.height());
        }

        // Unknowns are listed in the order of the nodes, after their places are known.
        for s in task.nodes.clone() {
            self.add_unknowns(&nodes[s], unknowns, self.workspace + self.first[s] as usize);
        }

        self.workspace += task.workspace();
    }

    fn add_unknowns(&mut self, node: &Node, unknowns: &[u32], workspace_start: usize) {
        for k in 0..node.columns {
            let unknown = unknowns[node.first + k];
            self.place_of[unknown as usize] = (workspace_start + k) as u32;
            self.unknowns.push(unknown);
        }
    }
}

/// Groups of subtrees with about equal numbers of values, and the nodes above them.
fn group_subtrees(nodes: &[Node], total: usize) -> (Vec<Task>, Vec<u32>) {
    let share = total.div_ceil(TASKS);
    let values_of = |s: usize| nodes[s].values().end - nodes[nodes[s].subtree as usize].value_start;
    let light = |s: usize| values_of(s) <= share;
    let mut tasks = Vec::<Task>::new();
    let mut crown = Vec::new();
    let mut open = 0; // Values in the last group, while more may join it.

    let mut s = 0;
    while s < nodes.len() {
        // A node with too many values belongs to the crown.
        if !light(s) {
            crown.push(s as u32);
            open = usize::MAX;
            s += 1;
            continue;
        }

        // The largest subtree from here that is still light.
        let mut root = s;
        while nodes[root].parent != NONE && light(nodes[root].parent as usize) {
            root = nodes[root].parent as usize;
        }

        // It joins the last group if that ends here and has room; else it starts a new one.
        let values = values_of(root);
        match tasks
            .last_mut()
            .filter(|task| task.nodes.end == s && open != usize::MAX && open + values <= share)
        {
            Some(task) => {
                task.nodes.end = root + 1;
                open += values;
            }
            None => {
                let nodes = s..root + 1;
                tasks.push(Task {
                    nodes,
                    columns: 0,
                    outer: 0,
                    longest: 0,
                    column_start: 0,
                    outer_start: 0,
                    workspace_start: 0,
                });

                open = values;
            }
        }

        s = root + 1;
    }

    (tasks, crown)
}
