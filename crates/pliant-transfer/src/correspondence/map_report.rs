//! Quality of a triangle map: coverage, residual and distortion.
//!
//! **Measures.** A target triangle is *uncovered* if no source triangle is within reach, and
//! *flipped* if all source triangles within reach face away. The *residual* is the mean distance to
//! the sources over the target's diagonal. The *distortion* compares the steps between neighbouring
//! target triangles with the steps between their sources,
//!
//! ```text
//! distortion = (Σ |sₜ − sᵤ| / source size) / (Σ |cₜ − cᵤ| / target size)        t, u neighbours
//! ```
//!
//! It is one for the identity, and large if neighbours take their motion from distant places.

use pliant_linalg::parallel;
use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;

use super::TriangleMap;
use crate::extent::{diagonal, size, triangle_centroid};

/// The largest distance of a source that covers a triangle, relative to the target's size. Chosen:
/// wider than any gap of a usable fit.
pub(crate) const REACH: f64 = 0.07;

/// Target triangles in one parallel task.
const TRIANGLES_PER_TASK: usize = 1024;

/// Whether the source has a triangle for a target triangle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coverage {
    Covered,
    Flipped,
    Uncovered,
}

/// The sources of one target triangle, with their weights and mean distance.
#[derive(Debug, Clone)]
pub(crate) struct MatchedSources {
    pub(crate) sources: Vec<(u32, f64)>,
    pub(crate) distance: f64,
    pub(crate) coverage: Coverage,
}

/// How good a map from the triangles of a target to those of a source is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MapReport {
    /// Number of target triangles.
    pub triangles: usize,
    /// Target triangles without a source triangle near them.
    pub uncovered: usize,
    /// Target triangles near which all source triangles face away.
    pub flipped: usize,
    /// Mean distance to the source triangles over the target's diagonal.
    pub residual: f64,
    /// Length of the steps between neighbours on the source relative to those on the target; one
    /// is no distortion.
    pub distortion: f64,
    /// Root mean square distance of the markers from their goals over the target's diagonal, after
    /// fitting.
    pub marker_residual: f64,
}

impl MapReport {
    /// Above this share of uncovered or flipped triangles the map is doubtful, above
    /// [`BAD_SHARE`](Self::BAD_SHARE) bad.
    pub const DOUBTFUL_SHARE: f64 = 0.05;
    /// Up to this share of uncovered or flipped triangles the map is complete: a fin, a few
    /// triangles inside a mouth.
    pub const COMPLETE_SHARE: f64 = 0.005;
    /// Above this share of uncovered or flipped triangles a map is bad.
    pub const BAD_SHARE: f64 = 0.5;
    /// Measured: 1.0 to 1.6 on `horse-camel`, above 10 with random markers.
    pub const DOUBTFUL_DISTORTION: f64 = 2.0;
    /// Above this distortion a map is bad: neighbours take their motion from unrelated places.
    pub const BAD_DISTORTION: f64 = 8.0;
    /// Above this residual the markers contradict each other. Measured: below 0.001 on
    /// `horse-camel`.
    pub const DOUBTFUL_MARKERS: f64 = 0.05;

    /// The report of a mesh mapped onto itself.
    #[must_use]
    pub fn identity(triangles: usize) -> Self {
        Self {
            triangles,
            uncovered: 0,
            flipped: 0,
            residual: 0.0,
            distortion: 1.0,
            marker_residual: 0.0,
        }
    }

    pub(crate) fn of(
        matches: &[MatchedSources],
        map: &TriangleMap,
        source: &Mesh,
        target: &Mesh,
        marker_residual: f64,
    ) -> Self {
        let distances = matches.iter().map(|matched| matched.distance);
        let mean_distance = distances.sum::<f64>() / matches.len().max(1) as f64;
        Self {
            triangles: matches.len(),
            uncovered: count(matches, Coverage::Uncovered),
            flipped: count(matches, Coverage::Flipped),
            residual: ratio(mean_distance, diagonal(target)),
            distortion: distortion(map, source, target),
            marker_residual,
        }
    }

    /// The share of the target triangles that are uncovered or flipped.
    #[must_use]
    pub fn lost_share(&self) -> f64 {
        (self.uncovered + self.flipped) as f64 / self.triangles.max(1) as f64
    }

    /// Whether the source covers the whole target except single triangles, without any warning.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.lost_share() <= Self::COMPLETE_SHARE && self.warnings().is_empty()
    }

    /// Whether the map should not be used.
    #[must_use]
    pub fn is_bad(&self) -> bool {
        self.lost_share() > Self::BAD_SHARE || self.distortion > Self::BAD_DISTORTION
    }

    /// Warnings for the user, one sentence each.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.lost_share() > Self::DOUBTFUL_SHARE {
            warnings.push(format!(
                "{} of {} target triangles have no source triangle near them and {} only one that faces away; add markers there",
                self.uncovered, self.triangles, self.flipped
            ));
        }

        if self.distortion > Self::DOUBTFUL_DISTORTION {
            warnings.push(format!(
                "neighbouring target triangles take their motion from places {:.1} times as far apart as they are; check the markers",
                self.distortion
            ));
        }

        if self.marker_residual > Self::DOUBTFUL_MARKERS {
            warnings.push(format!(
                "the fitted markers are {:.1} % of the target's diagonal away from their goals; check that each pair names the same spot",
                100.0 * self.marker_residual
            ));
        }
        warnings
    }

    /// Compares maps, lower is better: lost triangles plus distortion beyond one.
    pub(crate) fn penalty(&self) -> f64 {
        self.lost_share() + (self.distortion - 1.0).max(0.0)
    }
}

fn count(matches: &[MatchedSources], coverage: Coverage) -> usize {
    matches
        .iter()
        .filter(|matched| matched.coverage == coverage)
        .count()
}

fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

fn distortion(map: &TriangleMap, source: &Mesh, target: &Mesh) -> f64 {
    // sₜ: the weighted mean of the centroids of a triangle's sources.
    let places = parallel::map(map.len(), TRIANGLES_PER_TASK, |t| {
        let mut place = DVec3::ZERO;
        for &(s, weight) in map.row(t) {
            place += triangle_centroid(source, s as usize) * weight;
        }
        place
    });

    let mut on_source = 0.0;
    let mut on_target = 0.0;
    // Each pair of neighbours once.
    for t in (0..map.len()).filter(|&t| !map.row(t).is_empty()) {
        for u in target.topology().adjacent_triangles(t) {
            let u = u as usize;
            if u > t && !map.row(u).is_empty() {
                on_source += places[t].distance(places[u]);
                on_target += triangle_centroid(target, t).distance(triangle_centroid(target, u));
            }
        }
    }

    let relative = ratio(on_source, size(source)) / ratio(on_target, size(target));
    if relative.is_finite() { relative } else { 1.0 }
}
