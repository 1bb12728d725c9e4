//! Pulls: the neighbourhood of a pulled vertex follows it.
//!
//! **Problem.** A single pulled vertex would stand out like a needle; fingers hold a bit of skin.
//!
//! **Equation.** At the distance `d` along edges from a vertex that is pulled by `p`, with the
//! reach `r`,
//!
//! ```text
//! f = (1 − (d/r)²)²        goal = rest + f p        stiffness of the foundation = 1 + G f
//! ```
//!
//! **Departures.** Our own; the pulled vertex itself is fixed at its goal. Along edges, so that one
//! lip does not move the other.

use std::collections::BTreeMap;

use pliant_mesh::glam::DVec3;
use pliant_mesh::{Topology, lower_edge_distances};

use crate::touch::soft_region::SoftRegion;

/// Stiffness of a pull relative to the foundation. Chosen so that the profile `f` is visible.
const FIRMNESS: f64 = 400.0;
/// The reach relative to the radius of the patch. Chosen: at 0.3, a vertex pulled by a third of the
/// radius stands out as a thorn.
const REACH: f64 = 0.7;
/// The least reach in mean edges of the patches. Chosen: some neighbours are within it on every
/// mesh.
const LEAST_REACH: f64 = 2.5;

/// A soft node under a pull.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PulledNode {
    pub(crate) node: u32,
    /// From its rest position to its goal.
    pub(crate) offset: DVec3,
    pub(crate) hold: PullHold,
}

/// How a pull holds a node.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PullHold {
    Fixed,
    /// By a foundation of this relative stiffness.
    Spring {
        firmness: f64,
    },
}

/// The surroundings of pulls.
pub(crate) struct PullRegion<'a> {
    pub(crate) region: &'a SoftRegion,
    pub(crate) topology: &'a Topology,
    /// The animated shape, by vertex.
    pub(crate) rest: &'a [DVec3],
    pub(crate) mean_edge: f64,
}

impl PullRegion<'_> {
    /// The nodes under pulls of soft vertices.
    pub(crate) fn of(&self, pulls: &[(usize, DVec3)]) -> Vec<PulledNode> {
        // Where several pulls reach a node, the nearest one counts.
        let mut held: BTreeMap<u32, (f64, DVec3)> = BTreeMap::new();
        for &(vertex, goal) in pulls {
            let Some(own) = self.region.node_of(vertex) else {
                continue;
            };

            let reach = (REACH * self.region.reach(own)).max(LEAST_REACH * self.mean_edge);
            for (node, distance) in self.within(vertex as u32, reach) {
                let share = distance / reach;
                if held.get(&node).is_none_or(|known| share < known.0) {
                    held.insert(node, (share, goal - self.rest[vertex]));
                }
            }
        }

        let mut nodes = Vec::with_capacity(held.len());
        for (node, (share, displacement)) in held {
            let falloff = (1.0 - share * share) * (1.0 - share * share);
            let hold = if share == 0.0 {
                PullHold::Fixed
            } else {
                PullHold::Spring {
                    firmness: 1.0 + FIRMNESS * falloff,
                }
            };
            nodes.push(PulledNode {
                node,
                offset: displacement * falloff,
                hold,
            });
        }

        nodes
    }

    /// Soft nodes within a distance of a soft vertex along edges between soft vertices (Dijkstra).
    fn within(&self, vertex: u32, reach: f64) -> Vec<(u32, f64)> {
        // A pull does not reach across rigid skin.
        let soft_edges = |v: u32| {
            let row = self.topology.vertex_neighbors().row(v as usize);
            let from = self.rest[v as usize];
            row.iter()
                .filter(|&&w| self.region.node_of(w as usize).is_some())
                .map(move |&w| (w, from.distance(self.rest[w as usize])))
        };

        let mut distances = vec![f64::INFINITY; self.rest.len()];
        let mut reached = Vec::new();
        lower_edge_distances(vertex, reach.next_down(), &mut distances, soft_edges, |v| {
            reached.push(v)
        });

        reached.sort_unstable();
        reached
            .into_iter()
            .filter_map(|v| {
                Some((
                    self.region.node_of(v as usize)? as u32,
                    distances[v as usize],
                ))
            })
            .collect()
    }
}
