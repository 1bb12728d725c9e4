//! Connected components of a shape, with the support and the frame of each.
//!
//! **Problem.** Eyes, teeth and head are one mesh but share no spring: the rigid motion of each
//! must be fixed separately.
//!
//! **Departures.** A component with a fixed vertex is solved in world coordinates. Every other
//! component has its own [`Anchor`] and is solved in the frame of the anchor, where the placement
//! of the shapes does not matter. Corners of anchors are numbered after all other points.

use pliant_linalg::{LinalgError, RigidMotion};
use pliant_mesh::glam::DVec3;

use crate::blend::anchor::{Anchor, CORNERS};
use crate::blend::energy::SpringEnergy;

/// Connected components and their anchors.
#[derive(Debug, Clone)]
pub(crate) struct Components {
    anchors: Vec<Anchor>,
    /// The anchor of each vertex, if its component has one.
    anchor_of: Vec<Option<u32>>,
}

impl Components {
    /// Finds the components of `network` and gives an anchor to each that has springs and none of
    /// the `fixed` vertices, around its `seeds`.
    pub(crate) fn hold(
        network: &SpringEnergy,
        shapes: &[Vec<DVec3>],
        fixed: &[usize],
        seeds: &[usize],
    ) -> Result<Self, LinalgError> {
        let mut components = Self {
            anchors: Vec::new(),
            anchor_of: vec![None; network.points()],
        };

        // Components are named by their first vertex.
        let mut component_of: Vec<Option<usize>> = vec![None; network.points()];
        for root in 0..network.points() {
            if component_of[root].is_some() {
                continue;
            }

            // Single vertices and components with a fixed vertex need no anchor.
            let members = flood(network, root, &mut component_of);
            if members.len() == 1 || fixed.iter().any(|&v| component_of[v] == Some(root)) {
                continue;
            }

            // The anchor lies around the user's seeds in this component.
            let inside: Vec<u32> = seeds
                .iter()
                .filter(|&&v| component_of[v] == Some(root))
                .map(|&v| v as u32)
                .collect();

            for &member in &members {
                components.anchor_of[member as usize] = Some(components.anchors.len() as u32);
            }

            components
                .anchors
                .push(Anchor::place(&members, &inside, network, shapes)?);
        }

        Ok(components)
    }

    pub(crate) fn anchors(&self) -> &[Anchor] {
        &self.anchors
    }

    /// The shapes in the frames of their anchors, followed by the corners of the anchors.
    pub(crate) fn to_local(&self, shapes: &[Vec<DVec3>]) -> Vec<Vec<DVec3>> {
        let mut all = Vec::with_capacity(shapes.len());
        for (s, shape) in shapes.iter().enumerate() {
            let mut back = Vec::with_capacity(self.anchors.len());
            for anchor in &self.anchors {
                back.push(anchor.in_shape(s).inverse());
            }

            let mut local = Vec::with_capacity(shape.len() + CORNERS * self.anchors.len());
            for (vertex, p) in shape.iter().enumerate() {
                local.push(self.frame_of(vertex, &back).apply(*p));
            }
            local.extend(self.anchors.iter().flat_map(Anchor::corners));
            all.push(local);
        }

        all
    }

    /// Springs between the corners of each anchor and its region.
    pub(crate) fn springs(&self) -> Vec<[u32; 2]> {
        let mut ends = Vec::new();
        for (k, anchor) in self.anchors.iter().enumerate() {
            let first = (self.anchor_of.len() + k * CORNERS) as u32;
            for &vertex in &anchor.region {
                ends.extend((first..first + CORNERS as u32).map(|corner| [vertex, corner]));
            }
        }

        ends
    }

    /// The frame of every anchor between the shapes.
    pub(crate) fn frames(&self, weights: &[f64]) -> Vec<RigidMotion> {
        self.anchors
            .iter()
            .map(|anchor| anchor.at(weights))
            .collect()
    }

    /// The frame of every anchor that best fits its region in `points`, given the shapes in the
    /// frames of the anchors.
    pub(crate) fn frames_around(
        &self,
        points: &[DVec3],
        local: &[Vec<DVec3>],
    ) -> Result<Vec<RigidMotion>, LinalgError> {
        let share = 1.0 / local.len() as f64;
        let mut frames = Vec::with_capacity(self.anchors.len());
        for anchor in &self.anchors {
            let mean_at = |v: &u32| local.iter().map(|s| s[*v as usize] * share).sum::<DVec3>();
            let mean: Vec<DVec3> = anchor.region.iter().map(mean_at).collect();
            let now: Vec<DVec3> = anchor.region.iter().map(|&v| points[v as usize]).collect();
            frames.push(RigidMotion::fit(&mean, &now, None)?);
        }
        Ok(frames)
    }

    /// Points of the shape in the frames of their anchors.
    pub(crate) fn local_points(&self, points: &[DVec3], frames: &[RigidMotion]) -> Vec<DVec3> {
        let inverse: Vec<RigidMotion> = frames.iter().map(RigidMotion::inverse).collect();
        let local = |(v, p): (usize, &DVec3)| self.frame_of(v, &inverse).apply(*p);
        points.iter().enumerate().map(local).collect()
    }

    /// The frame of a vertex among `frames`.
    pub(crate) fn frame_of(&self, vertex: usize, frames: &[RigidMotion]) -> RigidMotion {
        self.anchor_of[vertex].map_or(RigidMotion::IDENTITY, |anchor| frames[anchor as usize])
    }
}

/// The vertices that springs connect to `root`; marks them with it.
fn flood(network: &SpringEnergy, root: usize, component_of: &mut [Option<usize>]) -> Vec<u32> {
    let mut members = vec![root as u32];
    component_of[root] = Some(root);

    // Breadth-first search over the springs.
    let mut next = 0;

    while next < members.len() {
        for (other, _) in network.around(members[next] as usize) {
            if component_of[other].is_none() {
                component_of[other] = Some(root);
                members.push(other as u32);
            }
        }
        next += 1;
    }

    members
}
