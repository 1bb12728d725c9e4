//! Abstract bones of some examples: which vertices follow them, and how they turn.
//!
//! **Problem.** Examples as linear blend skinning, so that a pose is told by one rotation per bone.
//!
//! **Source.** Huang et al. 2012, section 6.1; the skin is that of [`SkinningDecomposition`].
//!
//! **Ours.** Vertices rather than triangles are gathered. The reference is one of the examples, so
//! that bones stay when nothing moves. A pose that is left out is not seen: bones are found anew
//! for every choice of examples.

use pliant_linalg::parallel;
use pliant_mesh::glam::{DQuat, DVec3};
use pliant_rig::{Clip, Skin};

use crate::control_reach::ControlReach;
use crate::pose_graph::{nearest, upper};
use crate::workbench::Workbench;
use crate::{LearnError, SkinOptions, SkinningDecomposition};

/// Rounds of improving weights and motions. *Measured* on `horse-poses` with 100 bones: from 0 to
/// 30 rounds the leave-one-out error changes by less than 1 %, the time fourfold.
const ROUNDS: usize = 5;

/// A skin, and the rotations of its bones.
#[derive(Debug, Clone)]
pub(crate) struct AbstractBones {
    pub(crate) skin: Skin,
    /// By example trained on and bone, seen from where the control points are as a whole; with `w
    /// ≥ 0`.
    pub(crate) rotations: Vec<Vec<DQuat>>,
}

impl AbstractBones {
    /// The most bones of a mesh: a motion takes three vertices to be known.
    pub(crate) fn most(vertices: usize) -> usize {
        (vertices / 3).max(1)
    }

    /// About `count` bones of the examples `trained_on`.
    pub(crate) fn find(
        bench: &Workbench,
        trained_on: &[usize],
        count: usize,
    ) -> Result<Self, LearnError> {
        let examples = &bench.examples;
        let frames = trained_on
            .iter()
            .map(|&i| examples.pose(i).to_vec())
            .collect();
        let clip = Clip::new("examples", examples.reference().clone(), frames)?;
        let count = count.min(Self::most(examples.reference().vertex_count()));
        let found = SkinningDecomposition::of(
            &clip,
            &SkinOptions::default().with_bones(count).with_rounds(ROUNDS),
        )?;
        let turns = |(frame, &example): (usize, &usize)| {
            let back = DQuat::from_mat3(&bench.alignments[example].rotation)
                .normalize()
                .conjugate();
            (0..found.bone_count())
                .map(|bone| upper((back * found.motion(frame, bone).rotation).normalize()))
                .collect()
        };
        Ok(Self {
            rotations: trained_on.iter().enumerate().map(turns).collect(),
            skin: found.skin,
        })
    }

    /// The `count` control points nearest to each bone along the surface, ascending.
    ///
    /// A bone stands at the vertex nearest to the middle of those that follow it.
    pub(crate) fn listens(
        &self,
        rest: &[DVec3],
        reach: &ControlReach,
        count: usize,
    ) -> Vec<Vec<u32>> {
        let centers = self.skin.centers(rest);
        parallel::map(centers.len(), 4, |bone| {
            let square = |v: usize| rest[v].distance_squared(centers[bone]);
            let (_, place) = (1..rest.len()).fold((square(0), 0), |best, v| {
                if square(v) < best.0 {
                    (square(v), v)
                } else {
                    best
                }
            });
            let mut points = nearest(&reach.at(place), count);
            points.sort_unstable();
            points
        })
    }
}
