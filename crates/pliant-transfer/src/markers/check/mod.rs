//! Marker check: finds wrong marker pairs and names the mistake.
//!
//! **Problem.** A user sets dozens of pairs by hand. One pair with left and right exchanged twists a
//! leg of the target, and only the result shows it.
//!
//! **Method.** Vertex numbers are checked against the meshes, and the components of both vertices
//! against those of the other markers. Then each pair is compared with the position that the other
//! pairs predict (see `prediction`). An outlier is tested for the usual mistakes.
//!
//! **Files.** [`flaw`] (the mistakes and their messages), [`outliers`] (pairs that contradict the
//! others), [`coverage`] (places far from all markers).

mod coverage;
mod flaw;
mod outliers;

use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;

use crate::extent::diagonal;
use crate::markers::pairs::Misplacement;
use crate::{Markers, Similarity, TransferError};
use outliers::OutlierAnalysis;

pub use coverage::MarkerCoverage;
pub use flaw::MarkerFlaw;

/// Pairs that a similarity misses by less, relative to the target's diagonal, are not exchanged.
/// Chosen.
const EXCHANGED_MISS: f64 = 0.05;

/// If more than this share of the markers contradicts the others, none is left out. Chosen: with
/// more, the others are no longer a majority in every neighbourhood.
const MOST_LEFT_OUT: f64 = 0.25;

/// The result of the check for one pair.
#[derive(Debug, Clone, PartialEq)]
pub struct MarkerAssessment {
    /// The distance from the position that the other markers predict, relative to the target's
    /// diagonal; `None` if there are too few markers for a prediction.
    pub deviation: Option<f64>,
    /// What is wrong with it.
    pub flaws: Vec<MarkerFlaw>,
}

/// The result of a marker check.
#[derive(Debug, Clone)]
pub struct MarkerCheck {
    /// One for each pair.
    pub assessments: Vec<MarkerAssessment>,
    /// How the markers cover source and target; `None` without a pair.
    pub coverage: Option<[MarkerCoverage; 2]>,
    /// Warnings for the user, one sentence each.
    pub warnings: Vec<String>,
    /// The error with which a transfer would reject the markers.
    pub error: Option<TransferError>,
}

impl MarkerCheck {
    /// Whether every pair names vertices that exist.
    #[must_use]
    pub fn all_in_range(&self) -> bool {
        !self
            .assessments
            .iter()
            .any(|assessment| assessment.flaws.contains(&MarkerFlaw::OutOfRange))
    }
}

/// Checks each pair by itself and against the others.
///
/// # Errors
/// If a mesh has no faces or a position is not finite.
pub fn check_markers(
    source: &Mesh,
    target: &Mesh,
    markers: &Markers,
) -> Result<MarkerCheck, TransferError> {
    source.require_surface()?;
    target.require_surface()?;
    let (error, mut warnings) = match markers.check(source, target) {
        Ok(warnings) => (None, warnings),
        Err(error) => (Some(error), Vec::new()),
    };

    let valid = ValidMarkers::of(markers, source, target);
    let mut assessments = vec![MarkerAssessment::out_of_range(); markers.pairs().len()];
    for &index in &valid.indices {
        assessments[index].flaws.clear();
    }

    let mut flaws = duplicates(&valid.markers);
    flaws.extend(misplacements(&valid.markers, source, target));
    let analysis = OutlierAnalysis::new(&valid.markers, source, target)?;
    for (k, &index) in valid.indices.iter().enumerate() {
        assessments[index].deviation = analysis.deviation(k);
        flaws.extend(analysis.flaw(k).map(|flaw| (k, flaw)));
    }
    for (k, flaw) in flaws {
        let flaw = flaw.renumbered(&valid.indices);
        assessments[valid.indices[k]].flaws.push(flaw);
    }
    warnings.extend(analysis.warnings(&valid.markers));

    let coverage = MarkerCoverage::of_both(&valid.markers, source, target)?;
    if let Some([on_source, on_target]) = &coverage {
        warnings.extend(on_source.warning("source"));
        warnings.extend(on_target.warning("target"));
    }
    Ok(MarkerCheck {
        assessments,
        coverage,
        warnings,
        error,
    })
}

impl MarkerAssessment {
    fn out_of_range() -> Self {
        Self {
            deviation: None,
            flaws: vec![MarkerFlaw::OutOfRange],
        }
    }
}

/// The markers whose vertices exist, and their indices among all. Only these can be checked
/// further.
struct ValidMarkers {
    markers: Markers,
    indices: Vec<usize>,
}

impl ValidMarkers {
    fn of(markers: &Markers, source: &Mesh, target: &Mesh) -> Self {
        let mut valid = Self {
            markers: Markers::default(),
            indices: Vec::new(),
        };
        for (k, &pair) in markers.pairs().iter().enumerate() {
            if markers.require_in_range(k, source, target).is_ok() {
                valid.markers.push(markers.names()[k].clone(), pair);
                valid.indices.push(k);
            }
        }
        valid
    }
}

/// What contradictions between markers mean for a map.
pub(crate) struct Inconsistencies {
    /// Indices of the markers that may be left out of the map, in ascending order.
    pub(crate) wrong: Vec<usize>,
    /// Warnings for the user, one sentence each.
    pub(crate) warnings: Vec<String>,
}

/// Warnings about markers that contradict each other: outliers, left and right exchanged, source
/// and target exchanged. All vertices must exist.
///
/// Markers that are certainly wrong may be left out, unless they are too many to tell them from the
/// right ones, or too few remain.
pub(crate) fn inconsistencies(
    source: &Mesh,
    target: &Mesh,
    markers: &Markers,
) -> Result<Inconsistencies, TransferError> {
    let analysis = OutlierAnalysis::new(markers, source, target)?;
    let mut warnings = analysis.warnings(markers);
    let exchanged_columns = exchanged_columns_warning(source, target, markers)?;

    let count = markers.pairs().len();
    let mut wrong: Vec<usize> = (0..count)
        .filter(|&k| analysis.flaw(k).is_some_and(|flaw| flaw.is_wrong()))
        .collect();
    let are_few = wrong.len() as f64 <= MOST_LEFT_OUT * count as f64;
    let enough_remain = count - wrong.len() >= Markers::FEWEST;
    if exchanged_columns.is_some() || !are_few || !enough_remain {
        wrong.clear();
    }
    warnings.extend(exchanged_columns);
    Ok(Inconsistencies { wrong, warnings })
}

/// A warning if the pairs fit far better read as (target, source).
fn exchanged_columns_warning(
    source: &Mesh,
    target: &Mesh,
    markers: &Markers,
) -> Result<Option<String>, TransferError> {
    let exchanged: Vec<(u32, u32)> = markers.pairs().iter().map(|&(a, b)| (b, a)).collect();
    let given = fit_residual(source, target, markers.pairs())?;
    let (Some(given), Some(other)) = (given, fit_residual(source, target, &exchanged)?) else {
        return Ok(None);
    };

    // A similarity of wrong pairs fits badly; the factor two excludes symmetric markers.
    let is_exchanged = given > EXCHANGED_MISS && 2.0 * other < given;
    Ok(is_exchanged.then(|| {
        "the pairs fit far better with their numbers exchanged: is the source's vertex first in each?".to_owned()
    }))
}

/// Root mean square distance of the pairs after the best similarity, relative to the target's
/// diagonal; `None` if a vertex does not exist.
fn fit_residual(
    source: &Mesh,
    target: &Mesh,
    pairs: &[(u32, u32)],
) -> Result<Option<f64>, TransferError> {
    let mut from: Vec<DVec3> = Vec::with_capacity(pairs.len());
    let mut to: Vec<DVec3> = Vec::with_capacity(pairs.len());
    for &(a, b) in pairs {
        let p = source.positions().get(a as usize);
        let q = target.positions().get(b as usize);
        let (Some(&p), Some(&q)) = (p, q) else {
            return Ok(None);
        };
        from.push(p);
        to.push(q);
    }

    // Relative to the diagonal, so that the units do not matter.
    let moved = Similarity::fit(&from, &to)?.apply_all(&from);
    let squares: f64 = moved
        .iter()
        .zip(&to)
        .map(|(p, q)| p.distance_squared(*q))
        .sum();
    let rms = (squares / pairs.len().max(1) as f64).sqrt();
    Ok(Some(rms / diagonal(target)))
}

/// Markers that repeat an earlier pair, or give a vertex of an earlier pair another partner.
fn duplicates(markers: &Markers) -> Vec<(usize, MarkerFlaw)> {
    let pairs = markers.pairs();
    let mut flaws = Vec::new();
    for (k, &(a, b)) in pairs.iter().enumerate() {
        // An exact repetition is harmless; another partner of the same vertex is not.
        let earlier = &pairs[..k];
        if let Some(first) = earlier.iter().position(|&pair| pair == (a, b)) {
            flaws.push((k, MarkerFlaw::Repeated { first }));
        } else if let Some(other) = earlier.iter().position(|&(c, d)| a == c || b == d) {
            flaws.push((k, MarkerFlaw::SecondPartner { other }));
        }
    }
    flaws
}

/// Markers on a vertex without faces, or on components that do not correspond.
fn misplacements(markers: &Markers, source: &Mesh, target: &Mesh) -> Vec<(usize, MarkerFlaw)> {
    let mut flaws = Vec::new();
    for (k, misplacement) in markers.misplacements(source, target) {
        let flaw = match misplacement {
            Misplacement::OffFaces => MarkerFlaw::OffFaces,
            Misplacement::OtherPart => MarkerFlaw::OtherPart,
        };
        flaws.push((k, flaw));
    }
    flaws
}

#[cfg(test)]
mod tests;
