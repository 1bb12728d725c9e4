//! What soft skin is made of, as the document remembers it.

use pliant::physics::SoftMaterial;
use serde::{Deserialize, Serialize};

/// The numbers of a [`SoftMaterial`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Material {
    /// How often it swings in a second: the more, the stiffer.
    pub frequency_hz: f64,
    /// 0 swings for ever, 1 comes back without overshoot.
    pub damping_ratio: f64,
    /// How far a drag along the surface is felt, as a share of the radius.
    pub spread: f64,
    /// How wide creases are, as a share of the radius.
    pub roundness: f64,
    /// How firmly triangles keep their form.
    pub shear: f64,
    /// How firmly triangles keep their area.
    pub area: f64,
    /// How deep the flesh is, as a share of the radius.
    pub depth: f64,
    /// How firmly flesh keeps its volume: it bulges.
    pub volume: f64,
    /// By which part edges may grow or shrink at most.
    pub strain_limit: f64,
}

impl Default for Material {
    fn default() -> Self {
        Self::from(SoftMaterial::default())
    }
}

impl From<SoftMaterial> for Material {
    fn from(soft: SoftMaterial) -> Self {
        let SoftMaterial { frequency_hz, damping_ratio, spread, roundness, shear, area, depth, volume, strain_limit } = soft;
        Self { frequency_hz, damping_ratio, spread, roundness, shear, area, depth, volume, strain_limit }
    }
}

impl Material {
    /// For the simulation.
    #[must_use]
    pub fn soft_material(&self) -> SoftMaterial {
        let Self { frequency_hz, damping_ratio, spread, roundness, shear, area, depth, volume, strain_limit } = *self;
        SoftMaterial { frequency_hz, damping_ratio, spread, roundness, shear, area, depth, volume, strain_limit }
    }
}

/// Materials with a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preset {
    /// A cheek.
    Cheek,
    /// Skin over bone.
    Firm,
    /// It swings for long.
    Jelly,
}

impl Preset {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Cheek, Self::Firm, Self::Jelly];

    /// What the list says.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Cheek => "Soft cheek",
            Self::Firm => "Firm skin",
            Self::Jelly => "Jelly",
        }
    }

    /// Its numbers. *Ours*, judged by eye on the head.
    #[must_use]
    pub fn material(self) -> Material {
        let cheek = Material::default();
        match self {
            Self::Cheek => cheek,
            Self::Firm => Material { frequency_hz: 10.0, damping_ratio: 0.6, depth: 0.15, ..cheek },
            Self::Jelly => Material { frequency_hz: 2.5, damping_ratio: 0.1, volume: 3.0, ..cheek },
        }
    }

    /// The preset with these numbers.
    #[must_use]
    pub fn of(material: &Material) -> Option<Self> {
        Self::ALL.into_iter().find(|preset| preset.material() == *material)
    }
}
