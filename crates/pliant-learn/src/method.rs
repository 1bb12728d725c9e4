//! The methods, and what they can be told.

use std::str::FromStr;

use crate::LearnError;
use crate::abstract_bones::AbstractBones;

/// How a pose is made from control points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// Deformations blended region by region in the frames of their control points; chooses its own
    /// settings by validation.
    #[default]
    Auto,
    /// Local kernel CCA on abstract bones: Huang et al. 2012.
    Paper,
    /// Global kernel CCA on abstract bones: Feng, Kim, Yu 2008.
    Feng,
    /// Mesh-based inverse kinematics: Sumner et al. 2005.
    MeshIk,
    /// As rigid as possible, without examples: Sorkine and Alexa 2007.
    Arap,
}

impl Method {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Auto,
        Self::Paper,
        Self::Feng,
        Self::MeshIk,
        Self::Arap,
    ];

    /// Its name in recipes and results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Paper => "paper",
            Self::Feng => "feng",
            Self::MeshIk => "meshik",
            Self::Arap => "arap",
        }
    }
}

impl FromStr for Method {
    type Err = LearnError;

    fn from_str(name: &str) -> Result<Self, LearnError> {
        Self::ALL
            .into_iter()
            .find(|method| method.name() == name)
            .ok_or_else(|| LearnError::UnknownMethod {
                name: name.to_owned(),
            })
    }
}

/// What a model is trained with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LearnOptions {
    method: Method,
    neighbors: usize,
    pose_neighbors: usize,
    beta: Option<f64>,
    bones: Option<usize>,
    exact: bool,
}

impl Default for LearnOptions {
    fn default() -> Self {
        Self {
            method: Method::Auto,
            neighbors: Self::DEFAULT_NEIGHBORS,
            pose_neighbors: Self::DEFAULT_POSE_NEIGHBORS,
            beta: None,
            bones: None,
            exact: false,
        }
    }
}

impl LearnOptions {
    /// *Paper*, section 6.1.1: `k_c = 7`.
    pub const DEFAULT_NEIGHBORS: usize = 7;
    /// *Paper*, section 6.1.2: `k_p = 7`.
    pub const DEFAULT_POSE_NEIGHBORS: usize = 7;
    /// *Paper*, section 8: `β = 3` for key-frames, and a tenth of it for captured markers.
    pub const KEYFRAME_BETA: f64 = 3.0;
    /// *Measured*: every method predicts poses left out better by 1 to 9 % than with
    /// [`KEYFRAME_BETA`](Self::KEYFRAME_BETA), on `horse-poses` and `face-poses` alike.
    pub const DEFAULT_BETA: f64 = 30.0;
    /// `β` of the methods on abstract bones, where it weighs against edges between bones.
    /// *Measured*, leave-one-out on `horse-poses` and `face-poses` with 100 bones: .0280 and
    /// .0209 with [`KEYFRAME_BETA`](Self::KEYFRAME_BETA), .0196 and .0144 with 30, .0186
    /// and .0126 with this, .0183 and .0122 with 300.
    pub const DEFAULT_BONE_BETA: f64 = 100.0;
    /// Of the methods on abstract bones. *Measured*, leave-one-out on `horse-poses`: 50, 100, 200,
    /// 400 bones give .0192, .0186, .0185, .0184. The paper has 247 to 1,355, on meshes of 17k
    /// to 49k vertices.
    pub const DEFAULT_ABSTRACT_BONES: usize = 100;
    /// *Measured*: from 100 to 400 regions the leave-one-out error of the shared sets changes by
    /// less than 2 %.
    pub const DEFAULT_BONES: usize = 200;

    /// As many neighbours as there are. With `k_p` of this there is one model of all poses instead
    /// of one per example, so that `k_c` and `k_p` give the four variants of figure 6: global,
    /// local in geometry, local in pose, both.
    pub const ALL: usize = usize::MAX;

    /// Which method. Default: [`Method::Auto`].
    #[must_use]
    pub fn with_method(self, method: Method) -> Self {
        Self { method, ..self }
    }

    /// `k_c`: control points that a bone listens to. Default:
    /// [`DEFAULT_NEIGHBORS`](Self::DEFAULT_NEIGHBORS).
    #[must_use]
    pub fn with_neighbors(self, neighbors: usize) -> Self {
        Self { neighbors, ..self }
    }

    /// `k_p`: examples that a local model is trained on. Default:
    /// [`DEFAULT_POSE_NEIGHBORS`](Self::DEFAULT_POSE_NEIGHBORS).
    #[must_use]
    pub fn with_pose_neighbors(self, pose_neighbors: usize) -> Self {
        Self {
            pose_neighbors,
            ..self
        }
    }

    /// `β`: how closely soft control points are followed. Default:
    /// [`DEFAULT_BETA`](Self::DEFAULT_BETA), or [`DEFAULT_BONE_BETA`](Self::DEFAULT_BONE_BETA)
    /// of the methods on abstract bones.
    #[must_use]
    pub fn with_beta(self, beta: f64) -> Self {
        Self {
            beta: Some(beta),
            ..self
        }
    }

    /// Regions of the surface that move by themselves. Default:
    /// [`DEFAULT_BONES`](Self::DEFAULT_BONES), or
    /// [`DEFAULT_ABSTRACT_BONES`](Self::DEFAULT_ABSTRACT_BONES) of the methods on abstract bones.
    /// Of those there are at most a third of the vertices.
    #[must_use]
    pub fn with_bones(self, bones: usize) -> Self {
        Self {
            bones: Some(bones),
            ..self
        }
    }

    /// Whether control points of an example return that example to the last digit. Default: to the
    /// fit of the regression.
    #[must_use]
    pub fn with_exact(self, exact: bool) -> Self {
        Self { exact, ..self }
    }

    /// The method.
    #[must_use]
    pub fn method(&self) -> Method {
        self.method
    }

    /// `k_c`.
    #[must_use]
    pub fn neighbors(&self) -> usize {
        self.neighbors
    }

    /// `k_p`.
    #[must_use]
    pub fn pose_neighbors(&self) -> usize {
        self.pose_neighbors
    }

    /// `β`.
    #[must_use]
    pub fn beta(&self) -> f64 {
        self.beta.unwrap_or(if self.on_bones() {
            Self::DEFAULT_BONE_BETA
        } else {
            Self::DEFAULT_BETA
        })
    }

    /// How many regions.
    #[must_use]
    pub fn bones(&self) -> usize {
        self.bones.unwrap_or(if self.on_bones() {
            Self::DEFAULT_ABSTRACT_BONES
        } else {
            Self::DEFAULT_BONES
        })
    }

    /// What cannot be done as asked for a mesh of so many vertices, one sentence each.
    #[must_use]
    pub fn problems(&self, vertices: usize) -> Vec<String> {
        let most = AbstractBones::most(vertices);
        let clipped = self.on_bones() && self.bones() > most;
        clipped
            .then(|| {
                format!(
                    "{} bones are too many for {vertices} vertices; {most} are used",
                    self.bones()
                )
            })
            .into_iter()
            .collect()
    }

    /// Regions that the surface is cut into beforehand. Abstract bones are found from the poses
    /// instead; then details alone go by regions.
    pub(crate) fn regions(&self) -> usize {
        if self.on_bones() {
            Self::DEFAULT_BONES
        } else {
            self.bones()
        }
    }

    /// Whether the method moves abstract bones.
    fn on_bones(&self) -> bool {
        matches!(self.method, Method::Paper | Method::Feng)
    }

    /// Whether examples come back exactly.
    #[must_use]
    pub fn exact(&self) -> bool {
        self.exact
    }

    pub(crate) fn check(&self) -> Result<(), LearnError> {
        let counts = [
            ("k_c", self.neighbors, 3, "at least 3"),
            ("k_p", self.pose_neighbors, 1, "at least 1"),
            ("bones", self.bones(), 1, "at least 1"),
        ];
        match counts
            .into_iter()
            .find(|(_, value, least, _)| value < least)
        {
            Some((what, value, _, needed)) => Err(LearnError::BadNumber {
                what,
                value: value as f64,
                needed,
            }),
            None if !(self.beta() > 0.0 && self.beta().is_finite()) => Err(LearnError::BadNumber {
                what: "beta",
                value: self.beta(),
                needed: "a number above zero",
            }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_goes_by_its_name() {
        assert!(
            Method::ALL
                .into_iter()
                .all(|method| method.name().parse() == Ok(method))
        );
        let message = "magic".parse::<Method>().unwrap_err().to_string();
        assert!(
            message.contains("magic") && message.contains("meshik"),
            "{message}"
        );
    }

    #[test]
    fn more_bones_than_vertices_can_tell_apart_are_clipped_with_a_reason() {
        let options = LearnOptions::default()
            .with_method(Method::Paper)
            .with_bones(50);
        assert!(
            options.problems(150).is_empty()
                && options.with_method(Method::Auto).problems(20).is_empty()
        );
        assert!(options.problems(149)[0].contains("49 are used"));
    }

    #[test]
    fn numbers_that_cannot_be_are_declined_by_name() {
        let options = LearnOptions::default();
        assert!(options.check().is_ok());
        for (bad, name) in [
            (options.with_neighbors(2), "k_c"),
            (options.with_pose_neighbors(0), "k_p"),
            (options.with_bones(0), "bones"),
            (options.with_beta(-1.0), "beta"),
        ] {
            assert!(bad.check().unwrap_err().to_string().contains(name));
        }
    }
}
