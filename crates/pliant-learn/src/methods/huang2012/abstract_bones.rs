//! Abstract bones: a skinning decomposition of the training examples.
//!
//! **Problem.** Approximate the examples by linear blend skinning, so that one rotation per bone
//! describes a pose.
//!
//! **Source.** Huang et al. 2012, section 6.1; the decomposition is [`SkinningDecomposition`].
//!
//! **Departures.** Vertices instead of triangles are clustered. The reference is one of the
//! examples, so that the bones are at rest in the reference pose. Every training set has its own
//! bones, so that a left-out pose has no influence on them.

use pliant_linalg::parallel;
use pliant_mesh::Progress;
use pliant_mesh::glam::{DQuat, DVec3};
use pliant_rig::{Clip, Skin};

use super::pose_graph::nearest;
use crate::control::{Alignment, ControlDistances};
use crate::methods::rotations::with_positive_w;
use crate::training::TrainingData;
use crate::{LearnError, LearnOptions, SkinOptions, SkinningDecomposition};

/// Rounds of the skinning decomposition. *Measured* on `horse-poses` with 100 bones: from 0 to 30
/// rounds the leave-one-out error changes by less than 1 %, and the time by a factor of four.
const ROUNDS: usize = 5;

/// Skinning weights, and the rotations of the bones.
#[derive(Debug, Clone)]
pub(crate) struct AbstractBones {
    pub(crate) skin: Skin,
    /// By training example and bone, relative to the alignment of the control points; with `w ≥ 0`.
    pub(crate) rotations: Vec<Vec<DQuat>>,
}

impl AbstractBones {
    /// About `count` bones of the examples `trained_on`.
    pub(crate) fn find(
        data: &TrainingData,
        trained_on: &[usize],
        count: usize,
        progress: &dyn Progress,
    ) -> Result<Self, LearnError> {
        let examples = &data.examples;
        let frames = trained_on
            .iter()
            .map(|&i| examples.pose(i).to_vec())
            .collect();
        let clip = Clip::new("examples", examples.reference().clone(), frames)?;

        // A request beyond the limit gives a warning, not an error.
        let most = LearnOptions::most_abstract_bones(examples.reference().vertex_count());
        let options = SkinOptions::default()
            .with_bones(count.min(most))
            .with_rounds(ROUNDS);
        let decomposition = SkinningDecomposition::of_with_progress(&clip, &options, progress)?;

        let mut rotations = Vec::with_capacity(trained_on.len());
        for (frame, &example) in trained_on.iter().enumerate() {
            rotations.push(aligned_rotations(
                &decomposition,
                frame,
                &data.alignments[example],
            ));
        }
        Ok(Self {
            rotations,
            skin: decomposition.skin,
        })
    }

    /// The `count` control points nearest to each bone along the surface, ascending.
    ///
    /// The position of a bone is the vertex nearest to the centre of the vertices that it moves.
    pub(crate) fn neighbor_points(
        &self,
        rest: &[DVec3],
        distances: &ControlDistances,
        count: usize,
    ) -> Vec<Vec<u32>> {
        let centers = self.skin.centers(rest);
        parallel::map(centers.len(), 4, |bone| {
            // The vertex nearest to the centre of the bone.
            let mut least = rest[0].distance_squared(centers[bone]);
            let mut vertex = 0;
            for (v, p) in rest.iter().enumerate().skip(1) {
                let square = p.distance_squared(centers[bone]);
                if square < least {
                    (least, vertex) = (square, v);
                }
            }

            let mut points = nearest(&distances.at(vertex), count);
            points.sort_unstable();
            points
        })
    }
}

/// The rotations of all bones in a frame, relative to the alignment of its control points.
fn aligned_rotations(
    decomposition: &SkinningDecomposition,
    frame: usize,
    alignment: &Alignment,
) -> Vec<DQuat> {
    let back = DQuat::from_mat3(&alignment.rotation)
        .normalize()
        .conjugate();
    let mut rotations = Vec::with_capacity(decomposition.bone_count());
    for bone in 0..decomposition.bone_count() {
        let rotation = decomposition.motion(frame, bone).rotation;
        rotations.push(with_positive_w((back * rotation).normalize()));
    }
    rotations
}
