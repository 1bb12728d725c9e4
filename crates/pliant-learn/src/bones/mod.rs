//! Abstract bones: a clip as a skin and the motions of its bones.
//!
//! **Problem.** Find bones, their motions in every frame and the weights of every vertex such that
//! linear blend skinning shows the examples as nearly as possible, with few influences on each
//! vertex.
//!
//! **Equation.** Eq. 1 of the source, over all examples `i`:
//!
//! ```text
//! min Σᵢ Σᵥ |Σ_{j ∈ B(v)} wᵥⱼ Tⱼᵢ vʳ − vᵢ|²        w ≥ 0,  Σⱼ wᵥⱼ = 1,  |B(v)| ≤ K
//! ```
//!
//! **Source.** "Detail-preserving controllable deformation from sparse examples", section 6.1;
//! James and Twigg, "Skinning mesh animations", 2005; Le and Deng, "Smooth skinning decomposition
//! with rigid bones", 2012.
//!
//! **Ours.** Vertices rather than triangles are clustered, and no bone is ever lost on the way.
//! Weights and motions are improved by turns; since turns alone creep, motions are carried on along
//! their last step (Ang and Gillis, "Accelerating nonnegative matrix factorization algorithms using
//! extrapolation", 2019), and go back where that made it worse, so that the error never rises.

mod clustering;
mod correctives;
mod fit;
mod joints;
mod motions;
mod moving_points;
mod nearest_in_hull;
mod rigid_moments;
mod weights;

use pliant_linalg::{RigidMotion, nearest_rotation};
use pliant_mesh::glam::{DAffine3, DQuat, DVec3};
use pliant_rig::{Clip, Skeleton, Skin};

use crate::LearnError;
use clustering::Clusters;
pub use correctives::Correctives;
use fit::Fit;
pub use motions::BoneKind;
use moving_points::MovingPoints;
use nearest_in_hull::MOST_INFLUENCES;

/// How bones are found.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct SkinOptions {
    /// How many bones.
    pub bones: usize,
    /// The most bones that move a vertex.
    pub influences: usize,
    /// How bones may move.
    pub kind: BoneKind,
    /// How strongly weights are drawn to those of the neighbours.
    pub smoothness: f64,
    /// The most rounds of improving weights and motions.
    pub rounds: usize,
}

impl Default for SkinOptions {
    fn default() -> Self {
        Self {
            bones: Self::DEFAULT_BONES,
            influences: Self::DEFAULT_INFLUENCES,
            kind: BoneKind::Rigid,
            smoothness: 0.0,
            rounds: Self::DEFAULT_ROUNDS,
        }
    }
}

impl SkinOptions {
    /// *Ours*: enough for a body.
    pub const DEFAULT_BONES: usize = 20;
    /// *Ours*: what engines play.
    pub const DEFAULT_INFLUENCES: usize = 4;
    /// *Ours*: most clips stop before, where ten rounds gain too little.
    pub const DEFAULT_ROUNDS: usize = 60;

    /// How many bones. Default: [`DEFAULT_BONES`](Self::DEFAULT_BONES).
    #[must_use]
    pub fn with_bones(self, bones: usize) -> Self {
        Self { bones, ..self }
    }

    /// The most bones that move a vertex, 1 to 8. Default:
    /// [`DEFAULT_INFLUENCES`](Self::DEFAULT_INFLUENCES).
    #[must_use]
    pub fn with_influences(self, influences: usize) -> Self {
        Self { influences, ..self }
    }

    /// Rigid bones (the default) or affine ones.
    #[must_use]
    pub fn with_kind(self, kind: BoneKind) -> Self {
        Self { kind, ..self }
    }

    /// Draws the weights of a vertex to the mean of its neighbours'. A difference of 1 then counts
    /// as much as a miss of √smoothness of the diagonal in every frame. Default: 0, no draw.
    #[must_use]
    pub fn with_smoothness(self, smoothness: f64) -> Self {
        Self { smoothness, ..self }
    }

    /// The most rounds of improving weights and motions. Default:
    /// [`DEFAULT_ROUNDS`](Self::DEFAULT_ROUNDS).
    #[must_use]
    pub fn with_rounds(self, rounds: usize) -> Self {
        Self { rounds, ..self }
    }

    fn check(&self, vertices: usize) -> Result<(), LearnError> {
        let bad = |what, value: f64, needed| {
            Err(LearnError::BadNumber {
                what,
                value,
                needed,
            })
        };
        if self.bones == 0 {
            return bad("the number of bones", 0.0, "at least 1");
        }
        if !(1..=MOST_INFLUENCES).contains(&self.influences) {
            return bad(
                "the number of influences on a vertex",
                self.influences as f64,
                "1 to 8",
            );
        }
        if !(self.smoothness >= 0.0 && self.smoothness.is_finite()) {
            return bad("the smoothness of weights", self.smoothness, "at least 0");
        }
        // A motion takes three points to be known.
        let most = (vertices / 3).max(1);
        if self.bones > most {
            return Err(LearnError::TooManyBones {
                bones: self.bones,
                vertices,
                most,
            });
        }
        Ok(())
    }
}

/// A clip as bones that move and vertices that follow them.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SkinningDecomposition {
    /// Which bones each vertex follows.
    pub skin: Skin,
    /// Where each bone takes the reference pose: frame by frame, bone by bone.
    pub transforms: Vec<Vec<DAffine3>>,
    /// The root of the mean squared distance of all vertices in all frames to their examples, in
    /// the clip's units.
    pub rms: f64,
    /// How many rounds it took.
    pub rounds: usize,
    /// What is odd about it, one sentence each.
    pub problems: Vec<String>,
}

impl SkinningDecomposition {
    /// Finds the bones of a clip.
    ///
    /// The clip needs faces, and two frames that differ.
    pub fn of(clip: &Clip, options: &SkinOptions) -> Result<Self, LearnError> {
        let frames = clip.frames().len();
        if frames < 2 {
            return Err(LearnError::TooFewExamples {
                found: frames,
                needed: 2,
            });
        }
        let points = MovingPoints::of(clip)?;
        options.check(points.vertex_count())?;
        let clusters = Clusters::of(&points, clip.reference(), options.bones);
        let mut fit = Fit::of(&points, clip.reference(), clusters, options);
        let rounds = fit.run();
        fit.finish(clip, rounds)
    }

    /// How many bones there are.
    #[must_use]
    pub fn bone_count(&self) -> usize {
        self.skin.bone_count()
    }

    /// The motion of a bone in a frame; of an affine bone the one with the nearest rotation.
    #[must_use]
    pub fn motion(&self, frame: usize, bone: usize) -> RigidMotion {
        let transform = self.transforms[frame][bone];
        RigidMotion {
            rotation: DQuat::from_mat3(&nearest_rotation(transform.matrix3)).normalize(),
            translation: transform.translation,
        }
    }

    /// The bones as joints, for vertices at `rest`: each in the middle of what follows it, below
    /// the one it shares most with.
    #[must_use]
    pub fn skeleton(&self, rest: &[DVec3]) -> Skeleton {
        joints::skeleton_of(&self.skin, rest)
    }

    /// The positions of every frame as the bones show them.
    #[must_use]
    pub fn reconstruction(&self, rest: &[DVec3]) -> Vec<Vec<DVec3>> {
        self.transforms
            .iter()
            .map(|motions| self.skin.blend(rest, motions))
            .collect()
    }
}
