//! Training options: the method and its parameters.

use std::str::FromStr;

use crate::LearnError;

/// The method that predicts a pose from control points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// Deformation gradients blended in local frames, region by region. Hyper-parameters are chosen
    /// by validation.
    #[default]
    Auto,
    /// Local kernel CCA on abstract bones (Huang et al. 2012).
    Huang2012,
    /// Global kernel CCA on abstract bones (Feng, Kim, Yu 2008).
    Feng2008,
    /// Mesh-based inverse kinematics, MeshIK (Sumner et al. 2005).
    Sumner2005,
    /// As-rigid-as-possible deformation, without examples (Sorkine and Alexa 2007).
    Sorkine2007,
}

impl Method {
    /// All methods.
    pub const ALL: [Self; 5] = [
        Self::Auto,
        Self::Huang2012,
        Self::Feng2008,
        Self::Sumner2005,
        Self::Sorkine2007,
    ];

    /// Its name in recipes and results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Huang2012 => "paper",
            Self::Feng2008 => "feng",
            Self::Sumner2005 => "meshik",
            Self::Sorkine2007 => "arap",
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

/// Options of a training.
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
    /// *Huang 2012*, section 6.1.1: `k_c = 7`.
    pub const DEFAULT_NEIGHBORS: usize = 7;
    /// *Huang 2012*, section 6.1.2: `k_p = 7`.
    pub const DEFAULT_POSE_NEIGHBORS: usize = 7;
    /// *Huang 2012*, section 8: `β = 3` for key-frames, and a tenth of it for captured markers.
    pub const KEYFRAME_BETA: f64 = 3.0;
    /// *Measured*: every method predicts poses left out better by 1 to 9 % than with
    /// [`KEYFRAME_BETA`](Self::KEYFRAME_BETA), on `horse-poses` and `face-poses` alike.
    pub const DEFAULT_BETA: f64 = 30.0;
    /// `β` of the methods on abstract bones, relative to the edges between bones.
    /// *Measured*, leave-one-out on `horse-poses` and `face-poses` with 100 bones: .0280 and
    /// .0209 with [`KEYFRAME_BETA`](Self::KEYFRAME_BETA), .0196 and .0144 with 30, .0186
    /// and .0126 with this, .0183 and .0122 with 300.
    pub const DEFAULT_BONE_BETA: f64 = 100.0;
    /// Number of abstract bones. *Measured*, leave-one-out on `horse-poses`: 50, 100, 200,
    /// 400 bones give .0192, .0186, .0185, .0184. Huang et al. use 247 to 1,355 bones on meshes of
    /// 17k to 49k vertices.
    pub const DEFAULT_ABSTRACT_BONES: usize = 100;
    /// Number of regions. *Measured*: from 100 to 400 regions, the leave-one-out error of the
    /// shared sets changes by less than 2 %.
    pub const DEFAULT_BONES: usize = 200;

    /// All neighbours. With this value, `k_p` trains one model on all poses instead of one per
    /// example. `k_c` and `k_p` thus give the four variants of figure 6: global, local in
    /// geometry, local in pose, and both.
    pub const ALL: usize = usize::MAX;

    /// The method. Default: [`Method::Auto`].
    #[must_use]
    pub fn with_method(self, method: Method) -> Self {
        Self { method, ..self }
    }

    /// `k_c`: nearest control points that predict a bone or region. Default:
    /// [`DEFAULT_NEIGHBORS`](Self::DEFAULT_NEIGHBORS).
    #[must_use]
    pub fn with_neighbors(self, neighbors: usize) -> Self {
        Self { neighbors, ..self }
    }

    /// `k_p`: nearest examples that train a local model. Default:
    /// [`DEFAULT_POSE_NEIGHBORS`](Self::DEFAULT_POSE_NEIGHBORS).
    #[must_use]
    pub fn with_pose_neighbors(self, pose_neighbors: usize) -> Self {
        Self {
            pose_neighbors,
            ..self
        }
    }

    /// `β`: the weight of soft control points. Default: [`DEFAULT_BETA`](Self::DEFAULT_BETA), or
    /// [`DEFAULT_BONE_BETA`](Self::DEFAULT_BONE_BETA) for the methods on abstract bones.
    #[must_use]
    pub fn with_beta(self, beta: f64) -> Self {
        Self {
            beta: Some(beta),
            ..self
        }
    }

    /// Number of regions or abstract bones. Default: [`DEFAULT_BONES`](Self::DEFAULT_BONES), or
    /// [`DEFAULT_ABSTRACT_BONES`](Self::DEFAULT_ABSTRACT_BONES) for the methods on abstract bones,
    /// which use at most one bone for every three vertices.
    #[must_use]
    pub fn with_bones(self, bones: usize) -> Self {
        Self {
            bones: Some(bones),
            ..self
        }
    }

    /// Whether the control points of an example reproduce that example exactly. Default: up to the
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

    /// Number of regions or abstract bones.
    #[must_use]
    pub fn bones(&self) -> usize {
        self.bones.unwrap_or(if self.on_bones() {
            Self::DEFAULT_ABSTRACT_BONES
        } else {
            Self::DEFAULT_BONES
        })
    }

    /// Warnings about options that a mesh of so many vertices cannot satisfy.
    #[must_use]
    pub fn warnings(&self, vertices: usize) -> Vec<String> {
        let most = Self::most_abstract_bones(vertices);
        if !self.on_bones() || self.bones() <= most {
            return Vec::new();
        }

        vec![format!(
            "{} bones are too many for {vertices} vertices; {most} are used",
            self.bones()
        )]
    }

    /// The most abstract bones of a mesh: a rigid motion needs three vertices to be determined.
    pub(crate) fn most_abstract_bones(vertices: usize) -> usize {
        (vertices / 3).max(1)
    }

    /// Number of regions of the surface before training. The methods on abstract bones find their
    /// bones during training; there, only the detail layer uses regions.
    pub(crate) fn regions(&self) -> usize {
        if self.on_bones() {
            Self::DEFAULT_BONES
        } else {
            self.bones()
        }
    }

    /// Whether the method uses abstract bones.
    fn on_bones(&self) -> bool {
        matches!(self.method, Method::Huang2012 | Method::Feng2008)
    }

    /// Whether examples are reproduced exactly.
    #[must_use]
    pub fn exact(&self) -> bool {
        self.exact
    }

    /// The options as text, for the fingerprint of a training log.
    ///
    /// The words belong to version 1 of the log: they stay when names in the code change.
    pub(crate) fn log_text(&self) -> String {
        let method = match self.method {
            Method::Auto => "Auto",
            Method::Huang2012 => "Paper",
            Method::Feng2008 => "Feng",
            Method::Sumner2005 => "MeshIk",
            Method::Sorkine2007 => "Arap",
        };
        format!(
            "LearnOptions {{ method: {method}, neighbors: {}, pose_neighbors: {}, beta: {:?}, bones: {:?}, exact: {} }}",
            self.neighbors, self.pose_neighbors, self.beta, self.bones, self.exact
        )
    }

    pub(crate) fn check(&self) -> Result<(), LearnError> {
        let counts = [
            ("k_c", self.neighbors, 3, "at least 3"),
            ("k_p", self.pose_neighbors, 1, "at least 1"),
            ("bones", self.bones(), 1, "at least 1"),
        ];
        for (what, value, least, needed) in counts {
            if value < least {
                return Err(LearnError::BadNumber {
                    what,
                    value: value as f64,
                    needed,
                });
            }
        }

        let beta = self.beta();
        if !(beta > 0.0 && beta.is_finite()) {
            return Err(LearnError::BadNumber {
                what: "beta",
                value: beta,
                needed: "a number above zero",
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_is_parsed_from_its_name() {
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
    fn too_many_bones_for_the_vertices_give_a_warning() {
        let options = LearnOptions::default()
            .with_method(Method::Huang2012)
            .with_bones(50);
        assert!(
            options.warnings(150).is_empty()
                && options.with_method(Method::Auto).warnings(20).is_empty()
        );
        assert!(options.warnings(149)[0].contains("49 are used"));
    }

    #[test]
    fn numbers_out_of_range_are_rejected_by_name() {
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

    #[test]
    fn the_log_text_is_that_of_version_1_of_the_log() {
        let options = LearnOptions::default()
            .with_method(Method::Sumner2005)
            .with_beta(30.0);
        assert_eq!(
            options.log_text(),
            "LearnOptions { method: MeshIk, neighbors: 7, pose_neighbors: 7, beta: Some(30.0), bones: None, exact: false }"
        );
    }
}
