//! Skin between two fingers.
//!
//! **Problem.** A vertex that is pulled alone stands out like a needle; fingers hold a bit of skin.
//!
//! **Equation.** At the distance `d` along edges from a vertex that is pulled by `p`, with the
//! reach `r`,
//!
//! ```text
//! f = (1 − (d/r)²)²        goal = rest + f p        firmness of the bed = 1 + G f
//! ```
//!
//! **Ours.** All of it; the pulled vertex itself is held in place. Along edges, so that one lip
//! does not take the other with it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use pliant_mesh::Topology;
use pliant_mesh::glam::DVec3;

use super::soft_region::SoftRegion;

/// How many times as firm as its bed a pull holds skin: ours, so that the form of `f` shows.
const FIRMNESS: f64 = 400.0;
/// The reach as a share of the patch's radius: ours.
const REACH: f64 = 0.3;
/// The reach in mean edges of the patches, at least: ours, some neighbours are within it on every
/// mesh.
const LEAST_REACH: f64 = 2.5;

/// How a soft node is held by a pull.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grip {
    pub(crate) node: u32,
    /// From its rest place.
    pub(crate) offset: DVec3,
    pub(crate) hold: Hold,
}

/// How firmly.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Hold {
    InPlace,
    /// By a bed that is so many times as firm.
    Softly {
        firmness: f64,
    },
}

/// Where pulls take hold.
pub(crate) struct Grips<'a> {
    pub(crate) region: &'a SoftRegion,
    pub(crate) topology: &'a Topology,
    /// The animated shape, by vertex.
    pub(crate) rest: &'a [DVec3],
    pub(crate) mean_edge: f64,
}

impl Grips<'_> {
    /// What pulls of soft vertices to places hold.
    pub(crate) fn of(&self, pulls: &[(usize, DVec3)]) -> Vec<Grip> {
        // Where several pulls reach a node, the nearest one counts.
        let mut held: BTreeMap<u32, (f64, DVec3)> = BTreeMap::new();
        for &(vertex, place) in pulls {
            let Some(own) = self.region.node_of(vertex) else {
                continue;
            };
            let reach = (REACH * self.region.reach(own)).max(LEAST_REACH * self.mean_edge);
            for (node, distance) in self.within(vertex as u32, reach) {
                let share = distance / reach;
                if held.get(&node).is_none_or(|known| share < known.0) {
                    held.insert(node, (share, place - self.rest[vertex]));
                }
            }
        }
        let grip = |(node, (share, way)): (u32, (f64, DVec3))| {
            let fall = (1.0 - share * share) * (1.0 - share * share);
            let hold = if share == 0.0 {
                Hold::InPlace
            } else {
                Hold::Softly {
                    firmness: 1.0 + FIRMNESS * fall,
                }
            };
            Grip {
                node,
                offset: way * fall,
                hold,
            }
        };
        held.into_iter().map(grip).collect()
    }

    /// Soft nodes within a distance of a soft vertex along edges between soft vertices (Dijkstra).
    fn within(&self, vertex: u32, reach: f64) -> Vec<(u32, f64)> {
        let mut nearest: BTreeMap<u32, f64> = BTreeMap::from([(vertex, 0.0)]);
        // Distances are not negative, so that their bits are in their order.
        let mut front = BinaryHeap::from([Reverse((0_u64, vertex))]);
        while let Some(Reverse((bits, v))) = front.pop() {
            let so_far = f64::from_bits(bits);
            for &w in self.topology.vertex_neighbors().row(v as usize) {
                let distance = so_far + self.rest[v as usize].distance(self.rest[w as usize]);
                let is_nearer = nearest.get(&w).is_none_or(|&known| distance < known);
                if distance < reach && is_nearer && self.region.node_of(w as usize).is_some() {
                    nearest.insert(w, distance);
                    front.push(Reverse((distance.to_bits(), w)));
                }
            }
        }
        nearest
            .into_iter()
            .filter_map(|(v, distance)| Some((self.region.node_of(v as usize)? as u32, distance)))
            .collect()
    }
}
