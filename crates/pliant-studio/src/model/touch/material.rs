//! Named materials of the skin.

use pliant::physics::SoftMaterial;

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

    /// Text of the list entry.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Cheek => "Soft cheek",
            Self::Firm => "Firm skin",
            Self::Jelly => "Jelly",
        }
    }

    /// Its numbers. Chosen by eye on the head specimen.
    #[must_use]
    pub fn material(self) -> SoftMaterial {
        let cheek = SoftMaterial::default();
        match self {
            Self::Cheek => cheek,
            Self::Firm => SoftMaterial {
                frequency_hz: 10.0,
                damping_ratio: 0.6,
                depth: 0.15,
                ..cheek
            },
            Self::Jelly => SoftMaterial {
                frequency_hz: 2.5,
                damping_ratio: 0.1,
                volume: 3.0,
                ..cheek
            },
        }
    }

    /// The preset with these numbers.
    #[must_use]
    pub fn of(material: &SoftMaterial) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|preset| preset.material() == *material)
    }
}
