//! Which terms a blend balances, as a user names them.
//!
//! **Problem.** Springs fit solids, shells fit cloth, and some shapes need angles or volumes beside
//! lengths: let a user say so in a word.
//!
//! **Method.** `springs` are those of the paper, `edges` the edges of the surface alone. `angles`
//! and `volume` join either. `shell` stands for `edges,angles,volume`.
//!
//! **Source.** Ma et al. 2012 (springs); Fröhlich and Botsch, "Example-driven deformations based on
//! discrete shells", 2011 (the shell).

use std::fmt;
use std::str::FromStr;

use crate::PhysicsError;

/// What keeps lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Lengths {
    /// Springs along edges, to second neighbours and through the inside.
    #[default]
    Springs,
    /// Edges of the surface alone, each strained by its share; there are no points inside.
    Edges,
}

/// The terms of the energy whose minimum is a blend, each with its weight beside that of lengths.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct EnergyTerms {
    lengths: Lengths,
    angles: Option<f64>,
    volume: Option<f64>,
}

impl EnergyTerms {
    /// Springs alone, as in Ma et al. 2012: the default.
    #[must_use]
    pub fn springs() -> Self {
        Self::default()
    }

    /// Edges, angles and the enclosed volume with the published weights.
    #[must_use]
    pub fn shell() -> Self {
        Self {
            lengths: Lengths::Edges,
            angles: Some(1.0),
            volume: Some(1.0),
        }
    }

    /// The same terms with other lengths.
    #[must_use]
    pub fn with_lengths(self, lengths: Lengths) -> Self {
        Self { lengths, ..self }
    }

    /// Angles between triangles, `weight` times as stiff as they are by default, and a price on
    /// triangles that collapse, which would have no angle.
    #[must_use]
    pub fn with_angles(self, weight: f64) -> Self {
        Self {
            angles: Some(weight),
            ..self
        }
    }

    /// Volumes of tetrahedra, and of closed surfaces without any, `weight` times as stiff as they
    /// are by default.
    #[must_use]
    pub fn with_volume(self, weight: f64) -> Self {
        Self {
            volume: Some(weight),
            ..self
        }
    }

    /// What keeps lengths.
    #[must_use]
    pub fn lengths(&self) -> Lengths {
        self.lengths
    }

    /// The weight of angles, if they count.
    #[must_use]
    pub fn angles(&self) -> Option<f64> {
        self.angles
    }

    /// The weight of volumes, if they count.
    #[must_use]
    pub fn volume(&self) -> Option<f64> {
        self.volume
    }

    /// That weights are such as a minimum can have.
    pub(crate) fn check(&self) -> Result<(), PhysicsError> {
        for (term, weight) in [("angles", self.angles), ("volume", self.volume)] {
            if let Some(value) = weight.filter(|w| !(w.is_finite() && *w > 0.0)) {
                return Err(PhysicsError::TermWeight { term, value });
            }
        }
        Ok(())
    }
}

impl fmt::Display for EnergyTerms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.lengths {
            Lengths::Springs => "springs",
            Lengths::Edges => "edges",
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
        let mut has_lengths = false;
        for part in text.split(',').map(str::trim) {
            let (name, weight) = part
                .split_once(':')
                .map_or((part, None), |(name, weight)| (name, Some(weight)));
            let unknown = || PhysicsError::Term {
                term: part.to_owned(),
            };
            let value =
                weight.map_or(Ok(1.0), |w| w.trim().parse::<f64>().map_err(|_| unknown()))?;
            match name {
                "springs" | "edges" | "shell" if weight.is_some() || has_lengths => {
                    return Err(PhysicsError::LengthsTerm {
                        term: part.to_owned(),
                    });
                }
                "springs" => has_lengths = true,
                "edges" => (terms.lengths, has_lengths) = (Lengths::Edges, true),
                "shell" => {
                    let Self { angles, volume, .. } = Self::shell();
                    terms = Self {
                        lengths: Lengths::Edges,
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
        terms.check()?;
        if has_lengths {
            Ok(terms)
        } else {
            Err(PhysicsError::NoLengths)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_read_as_they_are_written() {
        for text in [
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
    fn terms_that_are_none_and_terms_without_lengths_are_declined() {
        for text in [
            "",
            "spring",
            "springs:2",
            "springs,edges",
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
