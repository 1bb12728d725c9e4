//! Flaws of a marker pair, with their codes and messages.

use crate::Markers;
use crate::markers::pairs::Misplacement;

/// What is wrong with a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MarkerFlaw {
    /// It names a vertex that does not exist. A transfer rejects it.
    OutOfRange,
    /// It repeats an earlier marker.
    Repeated {
        /// That marker.
        first: usize,
    },
    /// An earlier marker gives one of its vertices another partner.
    SecondPartner {
        /// That marker.
        other: usize,
    },
    /// One of its vertices has no faces.
    OffFaces,
    /// Its vertices are on components that do not correspond.
    OtherPart,
    /// It and another marker have each other's target vertices.
    Exchanged {
        /// That marker.
        with: usize,
    },
    /// Its target vertex is on the wrong side.
    OtherSide,
    /// Its source and target vertices are exchanged.
    Reversed,
    /// It is far from the position that the other markers predict.
    FarOff,
    /// It deviates more than its neighbours; the shapes may differ there.
    Unlike,
}

impl MarkerFlaw {
    /// The code of the flaw in reports.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::OutOfRange => "out_of_range",
            Self::Repeated { .. } => "repeated",
            Self::SecondPartner { .. } => "second_partner",
            Self::OffFaces => "off_faces",
            Self::OtherPart => "other_part",
            Self::Exchanged { .. } => "exchanged",
            Self::OtherSide => "other_side",
            Self::Reversed => "reversed",
            Self::FarOff => "far_off",
            Self::Unlike => "unlike",
        }
    }

    /// Whether the pair is certainly wrong. The other flaws only ask for a look at it.
    #[must_use]
    pub fn is_wrong(&self) -> bool {
        !matches!(self, Self::Repeated { .. } | Self::Unlike)
    }

    /// What is wrong and what to do; a sentence whose subject is the marker's label.
    #[must_use]
    pub fn message(&self, markers: &Markers) -> String {
        match self {
            Self::OutOfRange => {
                "names a vertex that does not exist; correct it or remove it".into()
            }
            Self::Repeated { first } => format!("repeats {}", markers.label(*first)),
            Self::SecondPartner { other } => {
                format!("and {} share a vertex; remove one", markers.label(*other))
            }
            Self::OffFaces => Misplacement::OffFaces.to_string(),
            Self::OtherPart => Misplacement::OtherPart.to_string(),
            Self::Exchanged { with } => format!(
                "looks exchanged with {}: each fits the other's target vertex",
                markers.label(*with)
            ),
            Self::OtherSide => {
                "looks swapped left for right: the other side of the target fits".into()
            }
            Self::Reversed => {
                "looks reversed: it fits with the target vertex first and the source vertex second"
                    .into()
            }
            Self::FarOff => {
                "is far from the position that the other markers predict; check that it names the same spot"
                    .into()
            }
            Self::Unlike => {
                "deviates more than the markers near it; ignore this if the shapes differ there"
                    .into()
            }
        }
    }

    /// The flaw with indices into all markers instead of `indices[k]` for those of a subset.
    pub(super) fn renumbered(self, indices: &[usize]) -> Self {
        match self {
            Self::Repeated { first } => Self::Repeated {
                first: indices[first],
            },
            Self::SecondPartner { other } => Self::SecondPartner {
                other: indices[other],
            },
            Self::Exchanged { with } => Self::Exchanged {
                with: indices[with],
            },
            other => other,
        }
    }
}
