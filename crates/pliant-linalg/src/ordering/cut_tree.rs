//! The tree of recursive bisections (nested dissection).

use super::coarsen::Clusters;
use super::graph::Graph;
use super::separator::SEPARATOR;

/// A cut with the parts on its two sides, or a leaf that is not cut.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    /// Where its second side starts; its first side starts right after it. For a leaf the same as
    /// `end`.
    pub(super) middle: u32,
    /// The part after all of its own.
    pub(super) end: u32,
    /// Unknowns in the cut or leaf itself.
    pub(super) weight: u32,
}

/// Parts in the order cut, first side, second side, so that all below a cut is contiguous; part 0
/// is the whole graph.
///
/// Vertices of two parts share an edge only if one part lies below the other.
#[derive(Debug, Clone)]
pub(super) struct CutTree {
    pub(super) parts: Vec<Part>,
    /// The part of each vertex.
    pub(super) of: Vec<u32>,
}

impl CutTree {
    /// A graph that is not cut.
    pub(super) fn leaf(graph: &Graph) -> Self {
        Self {
            parts: vec![Part {
                middle: 1,
                end: 1,
                weight: graph.weights.iter().sum(),
            }],
            of: vec![0; graph.len()],
        }
    }

    /// One cut between two leaves.
    pub(super) fn of_sides(graph: &Graph, side: &[u8]) -> Self {
        // Part 0 is the cut, parts 1 and 2 are the two leaves.
        let mut parts = vec![
            Part {
                middle: 2,
                end: 3,
                weight: 0,
            },
            Part {
                middle: 2,
                end: 2,
                weight: 0,
            },
            Part {
                middle: 3,
                end: 3,
                weight: 0,
            },
        ];

        let of: Vec<u32> = side
            .iter()
            .map(|&s| if s == SEPARATOR { 0 } else { 1 + u32::from(s) })
            .collect();
        for (&part, weight) in of.iter().zip(&graph.weights) {
            parts[part as usize].weight += weight;
        }

        Self { parts, of }
    }

    /// A cut of `graph` between two trees; `lists` are the vertices of both and of the cut.
    pub(super) fn join(graph: &Graph, lists: &[Vec<u32>; 3], [left, right]: [Self; 2]) -> Self {
        let middle = 1 + left.parts.len() as u32;
        let weight = lists[2].iter().map(|&v| graph.weights[v as usize]).sum();
        let mut parts = Vec::with_capacity(middle as usize + right.parts.len());
        parts.push(Part {
            middle,
            end: middle + right.parts.len() as u32,
            weight,
        });

        // Part numbers of the sides are shifted behind the new cut.
        let mut of = vec![0; graph.len()];
        for ((tree, first), list) in [(&left, 1), (&right, middle)].into_iter().zip(lists) {
            parts.extend(tree.parts.iter().map(|part| Part {
                middle: part.middle + first,
                end: part.end + first,
                ..*part
            }));
            for (&v, &part) in list.iter().zip(&tree.of) {
                of[v as usize] = part + first;
            }
        }

        Self { parts, of }
    }

    /// The tree below one side of the root, for the vertices `list` of that side.
    pub(super) fn below_root(&self, side: usize, list: &[u32]) -> Self {
        let Part { middle, end, .. } = self.parts[0];
        let (first, end) = if side == 0 {
            (1, middle)
        } else {
            (middle, end)
        };

        let move_down = |part: &Part| Part {
            middle: part.middle - first,
            end: part.end - first,
            ..*part
        };

        Self {
            parts: self.parts[first as usize..end as usize]
                .iter()
                .map(move_down)
                .collect(),
            of: list.iter().map(|&v| self.of[v as usize] - first).collect(),
        }
    }

    /// The same cuts on the graph whose clusters are the vertices of this one.
    pub(super) fn on_members(self, clusters: &Clusters) -> Self {
        Self {
            of: clusters.of.iter().map(|&c| self.of[c as usize]).collect(),
            parts: self.parts,
        }
    }

    pub(super) fn is_cut(&self, part: u32) -> bool {
        let Part { middle, end, .. } = self.parts[part as usize];
        middle < end
    }

    /// The vertices on both sides of the root and in its cut, ascending.
    pub(super) fn lists(&self) -> [Vec<u32>; 3] {
        let middle = self.parts[0].middle;
        let mut lists = [Vec::new(), Vec::new(), Vec::new()];
        for (v, &part) in self.of.iter().enumerate() {
            lists[if part == 0 {
                2
            } else {
                usize::from(part >= middle)
            }]
            .push(v as u32);
        }

        lists
    }

    /// The vertices of every part, ascending.
    pub(super) fn members(&self) -> Vec<Vec<u32>> {
        let mut members = vec![Vec::new(); self.parts.len()];
        for (v, &part) in self.of.iter().enumerate() {
            members[part as usize].push(v as u32);
        }
        members
    }

    /// Parts in the order of elimination: both sides before their cut.
    pub(super) fn eliminated(&self) -> Vec<u32> {
        let mut order = Vec::with_capacity(self.parts.len());
        let mut open: Vec<u32> = Vec::new();
        for part in 0..self.parts.len() as u32 {
            // A part whose range has ended is complete: both of its sides are in the order.
            while let Some(&above) = open
                .last()
                .filter(|&&above| self.parts[above as usize].end <= part)
            {
                order.push(above);
                open.pop();
            }
            open.push(part);
        }

        order.extend(open.into_iter().rev());
        order
    }
}
