//! The solver that turns pins into weights, as the document stores it.

use std::sync::Arc;

use pliant::rig::{
    Bounded, Hybrid, Localized, PoseSolver, PseudoInverse, Range, Rig, SliderPairs, Tikhonov,
    Transpose, Units,
};
use serde::{Deserialize, Serialize};

/// A solver and its options.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Method {
    /// Which one.
    pub kind: MethodKind,
    /// Bounded: penalty on moving one more slider.
    pub sparsity: f64,
    /// Bounded: penalty on moved surface.
    pub damping: f64,
    /// Bounded: the radius around pins within which motion has a low penalty, in asset units;
    /// `None` suits the rig.
    pub reach: Option<f64>,
    /// Bounded: whether both sides of a face move alike.
    pub symmetric: bool,
    /// Damped and localized: penalty on squared weights.
    pub alpha: f64,
    /// Localized: the outer radius, in the asset's units; `None` suits the rig.
    pub radius: Option<f64>,
    /// Hybrid: share of the pseudo-inverse; `None` takes it from the smallest singular value.
    pub gamma: Option<f64>,
    /// All but bounded: whether options are in the scene's unit, as in Çetinaslan 2016, instead of
    /// relative to the rig.
    pub scene_units: bool,
    /// All but bounded: whether weights may leave their limits.
    pub beyond_limits: bool,
}

/// The solvers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MethodKind {
    /// Inside the limits, few sliders, near the pins.
    #[default]
    Bounded,
    /// Pseudo-inverse (Çetinaslan 2016, eq. 4.2).
    PseudoInverse,
    /// Least squares with a penalty on weights (eq. 3.5).
    Tikhonov,
    /// Tikhonov without targets that hardly move a pin (eq. 3.6).
    Localized,
    /// Along the transpose (eq. 4.5).
    Transpose,
    /// Between pseudo-inverse and transpose (eq. 4.7).
    Hybrid,
}

impl Default for Method {
    fn default() -> Self {
        Self {
            kind: MethodKind::Bounded,
            sparsity: Bounded::DEFAULT_SPARSITY,
            damping: Bounded::DEFAULT_DAMPING,
            reach: None,
            symmetric: false,
            alpha: Tikhonov::DEFAULT_ALPHA,
            radius: None,
            gamma: None,
            scene_units: false,
            beyond_limits: false,
        }
    }
}

impl MethodKind {
    /// All of them, the default first.
    pub const ALL: [Self; 6] = [
        Self::Bounded,
        Self::Hybrid,
        Self::Localized,
        Self::Transpose,
        Self::Tikhonov,
        Self::PseudoInverse,
    ];

    /// Text of the list entry.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Bounded => "Bounded",
            Self::PseudoInverse => "Pseudo-inverse",
            Self::Tikhonov => "Damped",
            Self::Localized => "Localized",
            Self::Transpose => "Transpose",
            Self::Hybrid => "Hybrid",
        }
    }

    /// Text of the tooltip.
    #[must_use]
    pub fn hint(self) -> &'static str {
        match self {
            Self::Bounded => "Sparse solution within the slider limits, near the pins",
            Self::PseudoInverse => {
                "Reaches the pins exactly and ignores the slider limits (Çetinaslan 2016, eq. 4.2)"
            }
            Self::Tikhonov => {
                "Least squares with a penalty on the weights (Çetinaslan 2016, eq. 3.5)"
            }
            Self::Localized => {
                "Damped, without targets that move a pin only slightly (Çetinaslan 2016, eq. 3.6)"
            }
            Self::Transpose => {
                "Moves each slider in proportion to its effect on the pins (Çetinaslan 2016, eq. 4.5)"
            }
            Self::Hybrid => "Blend of pseudo-inverse and transpose (Çetinaslan 2016, eq. 4.7)",
        }
    }
}

impl Method {
    /// A method with its usual options.
    #[must_use]
    pub fn of(kind: MethodKind) -> Self {
        Self {
            kind,
            ..Self::default()
        }
    }

    /// The solver for a rig, where some vertices should stay: bounded drags do not move them.
    #[must_use]
    pub fn solver(&self, rig: &Rig, held: &[u32]) -> Arc<dyn PoseSolver> {
        let units = if self.scene_units {
            Units::Scene
        } else {
            Units::Relative
        };

        // Two methods share the damping.
        let tikhonov = Tikhonov {
            alpha: self.alpha,
            units,
        };

        match self.kind {
            MethodKind::PseudoInverse => Arc::new(PseudoInverse),
            MethodKind::Tikhonov => Arc::new(tikhonov),
            MethodKind::Localized => Arc::new(Localized {
                tikhonov,
                outer_radius: self.radius,
            }),
            MethodKind::Transpose => Arc::new(Transpose { units }),
            MethodKind::Hybrid => Arc::new(Hybrid {
                gamma: self.gamma,
                units,
            }),
            MethodKind::Bounded => Arc::new(self.bounded(rig).with_protected(held.to_vec())),
        }
    }

    /// What becomes of weights outside their limits.
    #[must_use]
    pub fn range(&self) -> Range {
        if self.beyond_limits {
            Range::Free
        } else {
            Range::Clip
        }
    }

    fn bounded(&self, rig: &Rig) -> Bounded {
        let bounded = Bounded::default()
            .with_sparsity(self.sparsity)
            .with_damping(self.damping)
            .with_reach(self.reach);
        if !self.symmetric {
            return bounded;
        }
        let names: Vec<&str> = rig.targets().iter().map(|target| &*target.name).collect();
        bounded.with_symmetry(SliderPairs::by_name(&names).partners().to_vec(), 1.0)
    }
}
