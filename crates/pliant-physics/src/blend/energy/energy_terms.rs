//! Selection of the energy terms of a blend.
//!
//! **Problem.** Springs suit solids, thin shells suit cloth, and some shapes need angles or volumes
//! in addition to lengths: let a user select the terms by name.
//!
//! **Method.** `path` are springs that are at rest in a shape on an even path between the shapes,
//! `springs` those of Ma et al. 2012 with blended rest lengths, `edges` the edges of the surface alone.
//! `angles` and `volume` can be added to the latter two. `shell` stands for `edges,angles,volume`.
//!
//! **Source.** Ma et al. 2012 (springs); Fröhlich and Botsch, "Example-driven deformations based on
//! discrete shells", 2011 (the shell).

use std::fmt;
use std::str::FromStr;

use crate::PhysicsError;

/// The term that preserves lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LengthTerm {
    /// The springs of [`Springs`](Self::Springs), at rest in a shape that depends continuously on the
    /// weights.
    #[default]
    Path,
    /// Springs along edges, to second neighbours and through the interior, with blended rest lengths.
    Springs,
    /// Edges of the surface alone, by their relative strain; there are no interior points.
    Edges,
}

/// The terms of the energy whose minimum is a blend, each with its weight relative to the length
/// term.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct EnergyTerms {
    lengths: LengthTerm,
    angles: Option<f64>,
    volume: Option<f64>,
}

impl EnergyTerms {
    /// Springs around an even path: the default.
    #[must_use]
    pub fn path() -> Self {
        Self::default()
    }

    /// Springs with blended rest lengths, as in Ma et al. 2012.
    #[must_use]
    pub fn springs() -> Self {
        Self::default().with_lengths(LengthTerm::Springs)
    }

    /// Edges, angles and the enclosed volume with the weights of Fröhlich and Botsch 2011.
    #[must_use]
    pub fn shell() -> Self {
        Self {
            lengths: LengthTerm::Edges,
            angles: Some(1.0),
            volume: Some(1.0),
        }
    }

    /// The same terms with another length term.
    #[must_use]
    pub fn with_lengths(self, lengths: LengthTerm) -> Self {
        Self { lengths, ..self }
    }

    /// Dihedral angles, with `weight` times their default stiffness, and a penalty on collapsing
    /// triangles, whose angles are undefined.
    #[must_use]
    pub fn with_angles(self, weight: f64) -> Self {
        Self {
            angles: Some(weight),
            ..self
        }
    }

    /// Volumes of tetrahedra, and of closed surfaces without tetrahedra, with `weight` times their
    /// default stiffness.
    #[must_use]
    pub fn with_volume(self, weight: f64) -> Self {
        Self {
            volume: Some(weight),
            ..self
        }
    }

    /// The length term.
    #[must_use]
    pub fn lengths(&self) -> LengthTerm {
        self.lengths
    }

    /// The weight of angles, if they are selected.
    #[must_use]
    pub fn angles(&self) -> Option<f64> {
        self.angles
    }

    /// The weight of volumes, if they are selected.
    #[must_use]
    pub fn volume(&self) -> Option<f64> {
        self.volume
    }

    /// Rejects weights that are not positive and finite.
    pub(crate) fn check(&self) -> Result<(), PhysicsError> {
        for (term, weight) in [("angles", self.angles), ("volume", self.volume)] {
            if let Some(value) = weight.filter(|w| !(w.is_finite() && *w > 0.0)) {
                return Err(PhysicsError::TermWeight { term, value });
            }
            if weight.is_some() && self.lengths == LengthTerm::Path {
                return Err(PhysicsError::PathTerm { term });
            }
        }
        Ok(())
    }
}

impl fmt::Display for EnergyTerms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.lengths {
            LengthTerm::Path => "path",
            LengthTerm::Springs => "springs",
            LengthTerm::Edges => "edges",
        })?;

        for (term, weight) in [("angles", self.angles), ("volume", self.volume)] {
            match weight {
                Some(1.0) => write!(f, ",{term}")?,
                Some(weight) => write!(f, ",{term}:{weight}")?,
                None => {}
            }
        }

        Ok(())
    }
}

/// Terms by name, separated by commas; a colon and a weight may follow `angles` and `volume`.
impl FromStr for EnergyTerms {
    type Err = PhysicsError;

    fn from_str(text: &str) -> Result<Self, PhysicsError> {
        let mut terms = Self::default();

        // Exactly one length term, in any position.
        let mut has_lengths = false;
        for part in text.split(',').map(str::trim) {
            let (name, weight) = part
                .split_once(':')
                .map_or((part, None), |(name, weight)| (name, Some(weight)));
            let unknown = || PhysicsError::Term {
                term: part.to_owned(),
            };

            // A missing weight is one.
            let value =
                weight.map_or(Ok(1.0), |w| w.trim().parse::<f64>().map_err(|_| unknown()))?;
            match name {
                "path" | "springs" | "edges" | "shell" if weight.is_some() || has_lengths => {
                    return Err(PhysicsError::LengthsTerm {
                        term: part.to_owned(),
                    });
                }
                "path" => has_lengths = true,
                "springs" => (terms.lengths, has_lengths) = (LengthTerm::Springs, true),
                "edges" => (terms.lengths, has_lengths) = (LengthTerm::Edges, true),
                "shell" => {
                    let Self { angles, volume, .. } = Self::shell();
                    terms = Self {
                        lengths: LengthTerm::Edges,
                        angles: terms.angles.or(angles),
                        volume: terms.volume.or(volume),
                    };
                    has_lengths = true;
                }
                "angles" => terms.angles = Some(value),
                "volume" => terms.volume = Some(value),
                _ => return Err(unknown()),
            }
        }

        if !has_lengths {
            return Err(PhysicsError::NoLengths);
        }
        terms.check()?;
        Ok(terms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_survive_a_round_trip_through_text() {
        for text in [
            "path",
            "springs",
            "edges",
            "springs,angles",
            "edges,angles:0.5,volume:20",
            "springs,volume",
        ] {
            assert_eq!(text.parse::<EnergyTerms>().unwrap().to_string(), text);
        }

        assert_eq!(
            "shell".parse::<EnergyTerms>().unwrap(),
            EnergyTerms::shell()
        );

        assert_eq!(
            "volume:3, shell".parse::<EnergyTerms>().unwrap(),
            EnergyTerms::shell().with_volume(3.0)
        );
    }

    #[test]
    fn unknown_terms_and_terms_without_lengths_are_rejected() {
        for text in [
            "",
            "spring",
            "springs:2",
            "springs,edges",
            "path,springs",
            "path,volume",
            "springs,volume:big",
            "springs,angles:-1",
            "springs,angles:inf",
        ] {
            assert!(text.parse::<EnergyTerms>().is_err(), "{text}");
        }
        assert!(matches!(
            "angles,volume".parse::<EnergyTerms>(),
            Err(PhysicsError::NoLengths)
        ));
    }
}
