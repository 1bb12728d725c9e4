//! Options of a skinning decomposition.

use super::minimum_norm_point::MOST_INFLUENCES;
use super::motions::BoneKind;
use crate::LearnError;

/// Options of a skinning decomposition.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct SkinOptions {
    /// Number of bones.
    pub bones: usize,
    /// The most influences on a vertex.
    pub influences: usize,
    /// Rigid or affine motions.
    pub kind: BoneKind,
    /// Penalty on differences between the weights of neighbours.
    pub smoothness: f64,
    /// The most rounds of the alternation between weights and motions.
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
    /// *Chosen*: enough for a body.
    pub const DEFAULT_BONES: usize = 20;
    /// *Chosen*: the number that game engines support.
    pub const DEFAULT_INFLUENCES: usize = 4;
    /// *Chosen*: most clips converge earlier.
    pub const DEFAULT_ROUNDS: usize = 60;

    /// Number of bones. Default: [`DEFAULT_BONES`](Self::DEFAULT_BONES).
    #[must_use]
    pub fn with_bones(self, bones: usize) -> Self {
        Self { bones, ..self }
    }

    /// The most influences on a vertex, 1 to 8. Default:
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

    /// Penalises the difference between the weights of a vertex and the mean of its neighbours. A
    /// difference of 1 costs as much as an error of √smoothness of the diagonal in every frame.
    /// Default: 0, no penalty.
    #[must_use]
    pub fn with_smoothness(self, smoothness: f64) -> Self {
        Self { smoothness, ..self }
    }

    /// The most rounds of the alternation between weights and motions. Default:
    /// [`DEFAULT_ROUNDS`](Self::DEFAULT_ROUNDS).
    #[must_use]
    pub fn with_rounds(self, rounds: usize) -> Self {
        Self { rounds, ..self }
    }

    pub(super) fn check(&self, vertices: usize) -> Result<(), LearnError> {
        // Three points determine a rigid motion.
        let most = (vertices / 3).max(1);
        if self.bones == 0 {
            return Err(bad_number("the number of bones", 0.0, "at least 1"));
        }
        if !(1..=MOST_INFLUENCES).contains(&self.influences) {
            return Err(bad_number(
                "the number of influences on a vertex",
                self.influences as f64,
                "1 to 8",
            ));
        }
        if !(self.smoothness >= 0.0 && self.smoothness.is_finite()) {
            return Err(bad_number(
                "the smoothness of weights",
                self.smoothness,
                "at least 0",
            ));
        }
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

fn bad_number(what: &'static str, value: f64, needed: &'static str) -> LearnError {
    LearnError::BadNumber {
        what,
        value,
        needed,
    }
}
