//! Options of a synthesis: root motion, reference poses, foot contacts.

use pliant_mesh::glam::DVec3;

use super::{PoseModification, ReconstructionWeighting};
use crate::{FootContactOptions, RootMotion};

/// Options of a [`Synthesis`](super::Synthesis), besides its layers.
#[derive(Debug, Clone, Default)]
pub struct SynthesisOptions {
    pub(super) root: RootMotion,
    pub(super) weighting: ReconstructionWeighting,
    pub(super) pose: Option<PoseModification>,
    /// With the index of the source.
    pub(super) aligned: Vec<(usize, PoseModification)>,
    pub(super) planted_feet: Option<FootContactOptions>,
    pub(super) size_ratio: Option<f64>,
}

impl SynthesisOptions {
    /// How to treat the source's root motion. Default: [`RootMotion::Carry`].
    #[must_use]
    pub fn with_root(self, root: RootMotion) -> Self {
        Self { root, ..self }
    }

    /// The weights of triangles in the reconstruction. Default:
    /// [`ReconstructionWeighting::Area`].
    #[must_use]
    pub fn with_weighting(self, weighting: ReconstructionWeighting) -> Self {
        Self { weighting, ..self }
    }

    /// Another reference pose of the target. Default: none.
    #[must_use]
    pub fn with_pose(self, pose: PoseModification) -> Self {
        Self {
            pose: Some(pose),
            ..self
        }
    }

    /// Corrects the deformations of one source for a reference pose that differs from the target's,
    /// as given by [`PoseModification::aligning`]. A layer that compounds uses the rotation of the
    /// whole only. Default: none.
    #[must_use]
    pub fn with_aligned_source(mut self, source: usize, pose: PoseModification) -> Self {
        self.aligned.retain(|(other, _)| *other != source);
        self.aligned.push((source, pose));
        self
    }

    /// Keeps feet that stand in a source standing in the target:
    /// [`Synthesis::frame`](super::Synthesis::frame) by the root motion alone,
    /// [`Synthesis::motion`](super::Synthesis::motion) foot by foot. With [`RootMotion::Fix`] this
    /// applies to sources whose ground moves. Default: off.
    #[must_use]
    pub fn with_planted_feet(self, contacts: FootContactOptions) -> Self {
        Self {
            planted_feet: Some(contacts),
            ..self
        }
    }

    /// The ratio of displacements of the target's root and components to those of the source.
    /// Default: the ratio of the diagonals.
    #[must_use]
    pub fn with_size_ratio(self, ratio: f64) -> Self {
        Self {
            size_ratio: Some(ratio),
            ..self
        }
    }

    /// The pose modification that aligns `source`.
    pub(super) fn aligned_with(&self, source: usize) -> Option<&PoseModification> {
        let (_, pose) = self.aligned.iter().find(|(other, _)| *other == source)?;
        Some(pose)
    }

    /// A displacement of a source in the target's directions.
    pub(super) fn in_directions_of_target(&self, source: usize, displacement: DVec3) -> DVec3 {
        let mut displacement = displacement;
        if let Some(pose) = self.aligned_with(source) {
            displacement = pose.in_directions_of_target(displacement);
        }
        if let Some(pose) = &self.pose {
            displacement = pose.in_directions_of_target(displacement);
        }
        displacement
    }
}
