//! Options of a correspondence: the method, its parameters, and the treatment of a bad map.

use serde::{Deserialize, Serialize};

use super::RegistrationOptions;

/// The method that brings two meshes together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CorrespondenceMethod {
    /// Registration first. If its report is doubtful, other methods follow; the map with the best
    /// report is taken.
    #[default]
    Auto,
    /// Wang and Lee 2008: both meshes are warped to least-squares meshes of the markers.
    #[serde(rename = "warp")]
    Wang2008,
    /// Non-rigid registration of the source onto the target.
    Registration,
    /// For poses of one mesh: each triangle corresponds to itself.
    #[serde(skip)]
    Identity,
}

impl CorrespondenceMethod {
    /// The name of the method in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Wang2008 => "warp",
            Self::Registration => "registration",
            Self::Identity => "identity",
        }
    }
}

/// How to treat a map whose report is bad ([`MapReport::is_bad`](super::MapReport::is_bad)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BadMapPolicy {
    /// Return the map with its warnings.
    #[default]
    Warn,
    /// Return [`TransferError::BadMap`](crate::TransferError::BadMap).
    Reject,
}

/// Options of [`Correspondence::find`](super::Correspondence::find).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CorrespondenceOptions {
    pub(super) method: CorrespondenceMethod,
    pub(super) registration: Option<RegistrationOptions>,
    pub(super) closeness: f64,
    pub(super) bad_map: BadMapPolicy,
}

impl Default for CorrespondenceOptions {
    fn default() -> Self {
        Self {
            method: CorrespondenceMethod::Auto,
            registration: None,
            closeness: Self::DEFAULT_CLOSENESS,
            bad_map: BadMapPolicy::Warn,
        }
    }
}

impl CorrespondenceOptions {
    /// Measured on `horse-camel`; Wang and Lee 2008 say "close enough".
    pub const DEFAULT_CLOSENESS: f64 = 1.0;

    /// The method. Default: [`CorrespondenceMethod::Auto`].
    #[must_use]
    pub fn with_method(self, method: CorrespondenceMethod) -> Self {
        Self { method, ..self }
    }

    /// Options of the registration of the source onto the target. Default:
    /// [`RegistrationOptions::for_markers`].
    #[must_use]
    pub fn with_registration(self, registration: RegistrationOptions) -> Self {
        Self {
            registration: Some(registration),
            ..self
        }
    }

    /// The largest distance between warped centroids of corresponding triangles, in mean edge
    /// lengths of the warped target. The nearest triangle always corresponds.
    /// Default: [`DEFAULT_CLOSENESS`](Self::DEFAULT_CLOSENESS).
    #[must_use]
    pub fn with_closeness(self, closeness: f64) -> Self {
        Self { closeness, ..self }
    }

    /// How to treat a bad map. Default: [`BadMapPolicy::Warn`].
    #[must_use]
    pub fn with_bad_map_policy(self, bad_map: BadMapPolicy) -> Self {
        Self { bad_map, ..self }
    }
}
