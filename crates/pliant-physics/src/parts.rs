//! The connected parts of a shape, what holds each, and the frame in which each is balanced.
//!
//! **Problem.** Eyes, teeth and head are one mesh but hold no spring in common: each needs
//! something that says where it stands.
//!
//! **Ours.** A part that has a fixed vertex is balanced in place. Every other part has an
//! [`Anchor`] of its own and is balanced in the anchor's frame, where it does not matter where the
//! shapes stand. Corners of anchors are points behind all others.

use pliant_linalg::{LinalgError, RigidMotion};
use pliant_mesh::glam::DVec3;

use crate::anchor::{Anchor, CORNERS};
use crate::energy::SpringEnergy;

/// Parts and their anchors.
#[derive(Debug, Clone)]
pub(crate) struct Parts {
    anchors: Vec<Anchor>,
    /// The anchor of each vertex, if its part has one.
    anchor_of: Vec<Option<u32>>,
}

impl Parts {
    /// Finds the parts of `network` and gives an anchor to each that has springs and none of the
    /// `fixed` vertices, around the `seeds` that lie in it.
    pub(crate) fn hold(
        network: &SpringEnergy,
        shapes: &[Vec<DVec3>],
        fixed: &[usize],
        seeds: &[usize],
    ) -> Result<Self, LinalgError> {
        let mut parts = Self {
            anchors: Vec::new(),
            anchor_of: vec![None; network.points()],
        };
        let mut part_of: Vec<Option<usize>> = vec![None; network.points()];
        for root in 0..network.points() {
            if part_of[root].is_some() {
                continue;
            }
            let members = flood(network, root, &mut part_of);
            if members.len() == 1 || fixed.iter().any(|&v| part_of[v] == Some(root)) {
                continue;
            }
            let inside: Vec<u32> = seeds
                .iter()
                .filter(|&&v| part_of[v] == Some(root))
                .map(|&v| v as u32)
                .collect();
            for &member in &members {
                parts.anchor_of[member as usize] = Some(parts.anchors.len() as u32);
            }
            parts
                .anchors
                .push(Anchor::place(&members, &inside, network, shapes)?);
        }
        Ok(parts)
    }

    pub(crate) fn anchors(&self) -> &[Anchor] {
        &self.anchors
    }

    /// The shapes in the frames of their anchors, with the anchors' corners behind.
    pub(crate) fn to_local(&self, shapes: &[Vec<DVec3>]) -> Vec<Vec<DVec3>> {
        let local = |(s, shape): (usize, &Vec<DVec3>)| {
            let back: Vec<RigidMotion> = self
                .anchors
                .iter()
                .map(|anchor| anchor.in_shape(s).inverse())
                .collect();
            let own = shape
                .iter()
                .enumerate()
                .map(|(vertex, p)| self.frame_of(vertex, &back).apply(*p));
            own.chain(self.anchors.iter().flat_map(Anchor::corners))
                .collect()
        };
        shapes.iter().enumerate().map(local).collect()
    }

    /// Springs between the corners of each anchor and its region.
    pub(crate) fn springs(&self) -> Vec<[u32; 2]> {
        let mut ends = Vec::new();
        for (k, anchor) in self.anchors.iter().enumerate() {
            let first = (self.anchor_of.len() + k * CORNERS) as u32;
            ends.extend(
                anchor
                    .region
                    .iter()
                    .flat_map(|&vertex| (0..CORNERS as u32).map(move |c| [vertex, first + c])),
            );
        }
        ends
    }

    /// Where every anchor stands between the shapes.
    pub(crate) fn frames(&self, weights: &[f64]) -> Vec<RigidMotion> {
        self.anchors
            .iter()
            .map(|anchor| anchor.at(weights))
            .collect()
    }

    /// The frame of a vertex among `frames`.
    pub(crate) fn frame_of(&self, vertex: usize, frames: &[RigidMotion]) -> RigidMotion {
        self.anchor_of[vertex].map_or(RigidMotion::IDENTITY, |anchor| frames[anchor as usize])
    }
}

/// The vertices that springs join to `root`; marks them with it.
fn flood(network: &SpringEnergy, root: usize, part_of: &mut [Option<usize>]) -> Vec<u32> {
    let mut members = vec![root as u32];
    part_of[root] = Some(root);
    let mut next = 0;
    while next < members.len() {
        for (other, _) in network.around(members[next] as usize) {
            if part_of[other].is_none() {
                part_of[other] = Some(root);
                members.push(other as u32);
            }
        }
        next += 1;
    }
    members
}
