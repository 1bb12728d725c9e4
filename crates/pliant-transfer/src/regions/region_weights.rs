//! Blend weights of a selected region: refined by stiff partitions or softened by a geodesic band.
//!
//! **Problem.** A user selects triangles by hand, so the border is rough. A layer needs one smooth
//! weight per triangle.
//!
//! **Method.** Stiff parts of the target are taken or left as a whole, and the flexible parts
//! between them blend; where nothing is stiff, or the user asks for it, a band along the border
//! blends instead. [`blend_weights`] turns that into weights.
//!
//! **Source.** Wang, Lee, "Example-driven animation synthesis", 2008, section 4.

use std::collections::BTreeSet;

use pliant_mesh::Mesh;
use serde::{Deserialize, Serialize, Serializer};

use crate::{DEFAULT_BAND, Membership, Partitions, TransferError, blend_weights, geodesic_band};

/// How the border of a region is softened.
///
/// As text: `"auto"`, or a number for the band.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
#[serde(try_from = "NumberOrAuto")]
pub enum BorderBand {
    /// By the flexible parts between stiff ones; by a band of [`DEFAULT_BAND`] where nothing is
    /// stiff.
    #[default]
    Auto,
    /// By a band to either side of the border, as part of the target's diagonal.
    Share(f64),
}

/// Which triangles count as stiff.
///
/// As text: `"auto"`, or a number for the flexibility.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
#[serde(try_from = "NumberOrAuto")]
pub enum StiffnessThreshold {
    /// As [`Partitions::detect`] chooses it.
    #[default]
    Auto,
    /// Those with a flexibility below this.
    Below(f64),
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected \"auto\" or a number")]
enum NumberOrAuto {
    Number(f64),
    Word(String),
}

impl NumberOrAuto {
    /// The number, or `None` for "auto".
    fn number(self) -> Result<Option<f64>, String> {
        match self {
            Self::Number(number) => Ok(Some(number)),
            Self::Word(word) if word == "auto" => Ok(None),
            Self::Word(word) => Err(format!("expected \"auto\" or a number, not \"{word}\"")),
        }
    }
}

impl TryFrom<NumberOrAuto> for BorderBand {
    type Error = String;

    fn try_from(text: NumberOrAuto) -> Result<Self, String> {
        Ok(text.number()?.map_or(Self::Auto, Self::Share))
    }
}

impl TryFrom<NumberOrAuto> for StiffnessThreshold {
    type Error = String;

    fn try_from(text: NumberOrAuto) -> Result<Self, String> {
        Ok(text.number()?.map_or(Self::Auto, Self::Below))
    }
}

impl Serialize for BorderBand {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Auto => serializer.serialize_str("auto"),
            Self::Share(share) => serializer.serialize_f64(*share),
        }
    }
}

impl Serialize for StiffnessThreshold {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Auto => serializer.serialize_str("auto"),
            Self::Below(flexibility) => serializer.serialize_f64(*flexibility),
        }
    }
}

/// A selected region of a target, and how its border is treated.
#[derive(Debug, Clone, PartialEq)]
pub struct RegionSelection {
    /// Whether each triangle of the target is selected; `None` for all of them.
    pub triangles: Option<Vec<bool>>,
    /// Which of these are under strokes; `None` without strokes. A stroke along a stiff partition
    /// selects it, however thin it is.
    pub strokes: Option<Vec<bool>>,
    /// Whether stiff partitions are taken or left as a whole.
    pub refine: bool,
    /// Which triangles are stiff.
    pub threshold: StiffnessThreshold,
    /// How the border is softened.
    pub band: BorderBand,
}

impl RegionSelection {
    /// The faces that are selected in whole or in part, ascending; `None` for all.
    #[must_use]
    pub fn faces(&self, mesh: &Mesh) -> Option<Vec<u32>> {
        let selected = self.triangles.as_ref()?;
        let mut faces = BTreeSet::new();
        for (&face, &selected) in mesh.triangle_faces().iter().zip(selected) {
            if selected {
                faces.insert(face);
            }
        }
        Some(faces.into_iter().collect())
    }

    /// The weight of every triangle of `mesh`; `partitions` gives the stiff partitions, and is called
    /// only where they are needed.
    ///
    /// # Errors
    /// A mesh without a surface; errors of `partitions`.
    pub fn weights(
        &self,
        mesh: &Mesh,
        partitions: impl FnOnce(StiffnessThreshold) -> Result<Partitions, TransferError>,
    ) -> Result<Vec<f64>, TransferError> {
        let Some(selected) = &self.triangles else {
            return Ok(vec![1.0; mesh.triangles().len()]);
        };

        let diagonal = mesh.bounds().map_or(0.0, |bounds| bounds.diagonal());
        let members = match self.band {
            BorderBand::Share(share) => geodesic_band(mesh, selected, share * diagonal)?,
            BorderBand::Auto if !self.refine => selected
                .iter()
                .map(|&selected| Membership::drawn(selected))
                .collect(),
            BorderBand::Auto => match partitions(self.threshold)? {
                partitions if partitions.any_stiff() => match &self.strokes {
                    Some(strokes) => partitions.refine_with_strokes(mesh, selected, strokes)?,
                    None => partitions.refine(selected)?,
                },
                _ => geodesic_band(mesh, selected, DEFAULT_BAND * diagonal)?,
            },
        };

        blend_weights(mesh, &members)
    }

    /// Why all `weights` of the region are zero; `None` where some are not.
    #[must_use]
    pub fn why_empty(&self, weights: &[f64]) -> Option<&'static str> {
        if weights.iter().any(|&weight| weight != 0.0) {
            return None;
        }
        Some(match self.band {
            BorderBand::Auto if self.refine => {
                "covers no stiff part by more than half, and no stroke runs along half of one; select more, or refine = false"
            }
            BorderBand::Share(_) if self.triangles.iter().flatten().any(|&selected| selected) => {
                "lies completely within its band; make the band narrower"
            }
            _ => "is empty",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::shapes::flat_sheet;

    fn selection(triangles: Option<Vec<bool>>, band: BorderBand) -> RegionSelection {
        RegionSelection {
            triangles,
            strokes: None,
            refine: false,
            threshold: StiffnessThreshold::Auto,
            band,
        }
    }

    fn no_partitions(_: StiffnessThreshold) -> Result<Partitions, TransferError> {
        panic!("partitions are not needed")
    }

    #[test]
    fn a_whole_region_has_weight_one_everywhere() {
        let sheet = flat_sheet(4, 0.0);
        let whole = selection(None, BorderBand::Auto);
        let weights = whole.weights(&sheet, no_partitions).unwrap();

        assert_eq!(weights, vec![1.0; sheet.triangles().len()]);
        assert_eq!(
            (whole.faces(&sheet), whole.why_empty(&weights)),
            (None, None)
        );
    }

    #[test]
    fn an_empty_region_says_why_it_is_empty() {
        let sheet = flat_sheet(4, 0.0);
        let count = sheet.triangles().len();
        let empty = selection(Some(vec![false; count]), BorderBand::Share(0.1));

        assert_eq!(empty.why_empty(&vec![0.0; count]), Some("is empty"));
        assert_eq!(empty.faces(&sheet), Some(Vec::new()));
    }
}
