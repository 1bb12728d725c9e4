//! Skinning decomposition of a clip: clustering, then alternation of weights and motions.

use pliant_linalg::{RigidMotion, nearest_rotation};
use pliant_mesh::glam::{DAffine3, DQuat, DVec3};
use pliant_mesh::{MeshError, Progress, ProgressPart};
use pliant_rig::{Clip, Skeleton, Skin};

use super::clustering::Clusters;
use super::fit::Fit;
use super::joints;
use super::options::SkinOptions;
use super::trajectories::Trajectories;
use crate::LearnError;

/// A clip as moving bones with skinning weights.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SkinningDecomposition {
    /// Bones and weights of each vertex.
    pub skin: Skin,
    /// Transformation of the reference pose by each bone: frame by frame, bone by bone.
    pub transforms: Vec<Vec<DAffine3>>,
    /// RMS distance of all vertices in all frames from the clip, in its units.
    pub rms: f64,
    /// Number of rounds.
    pub rounds: usize,
    /// Warnings, one sentence each.
    pub warnings: Vec<String>,
}

impl SkinningDecomposition {
    /// Decomposes a clip.
    ///
    /// The clip needs faces, and two frames that differ.
    pub fn of(clip: &Clip, options: &SkinOptions) -> Result<Self, LearnError> {
        Self::of_with_progress(clip, options, &())
    }

    /// As [`of`](Self::of), reporting to `progress`.
    ///
    /// # Errors
    /// As [`of`](Self::of), and [`LearnError::Stopped`] if `progress` asks for it.
    pub fn of_with_progress(
        clip: &Clip,
        options: &SkinOptions,
        progress: &dyn Progress,
    ) -> Result<Self, LearnError> {
        let frames = clip.frames().len();
        if frames < 2 {
            return Err(LearnError::TooFewExamples {
                found: frames,
                needed: 2,
            });
        }

        let points = Trajectories::of(clip)?;
        options.check(points.vertex_count())?;
        let [clustering, fitting] = [(0.0, 0.3), (0.3, 0.7)].map(|(begin, size)| ProgressPart {
            whole: progress,
            begin,
            size,
        });
        let clusters = Clusters::of(&points, clip.reference(), options.bones, &clustering)?;
        let mut fit = Fit::of(&points, clip.reference(), clusters, options);
        let rounds = fit.run(&fitting)?;

        fit.finish(clip, rounds)
    }

    /// A decomposition that was stored: bones, weights and motions, frame by frame.
    ///
    /// # Errors
    /// [`LearnError::Mesh`] if a frame has another number of bones than the skin.
    pub fn from_parts(
        skin: Skin,
        transforms: Vec<Vec<DAffine3>>,
        rms: f64,
        rounds: usize,
        warnings: Vec<String>,
    ) -> Result<Self, LearnError> {
        let expected = skin.bone_count();
        if let Some(frame) = transforms.iter().find(|frame| frame.len() != expected) {
            return Err(MeshError::Count {
                what: "the list of motions",
                found: frame.len(),
                expected,
            }
            .into());
        }
        Ok(Self {
            skin,
            transforms,
            rms,
            rounds,
            warnings,
        })
    }

    /// Number of bones.
    #[must_use]
    pub fn bone_count(&self) -> usize {
        self.skin.bone_count()
    }

    /// The motion of a bone in a frame; for an affine bone, the motion with the nearest rotation.
    #[must_use]
    pub fn motion(&self, frame: usize, bone: usize) -> RigidMotion {
        let transform = self.transforms[frame][bone];
        RigidMotion {
            rotation: DQuat::from_mat3(&nearest_rotation(transform.matrix3)).normalize(),
            translation: transform.translation,
        }
    }

    /// The bones as joints, for vertices at `rest`. Each joint is at the centre of the vertices
    /// that it moves; its parent is the joint with which it shares most weight.
    #[must_use]
    pub fn skeleton(&self, rest: &[DVec3]) -> Skeleton {
        joints::skeleton_of(&self.skin, rest)
    }

    /// The positions of every frame by linear blend skinning.
    #[must_use]
    pub fn reconstruction(&self, rest: &[DVec3]) -> Vec<Vec<DVec3>> {
        self.transforms
            .iter()
            .map(|motions| self.skin.blend(rest, motions))
            .collect()
    }
}
