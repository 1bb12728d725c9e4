//! How good a triangle map is.
//!
//! **Figures.** A target triangle is *uncovered* when no source triangle lies within reach of it,
//! and *flipped* when only such lie there that face the other way. The *residual* is the mean
//! distance to the partners over the target's diagonal. The *distortion* compares steps from a
//! target triangle to its neighbours with the steps that their sources make,
//!
//! ```text
//! distortion = (Σ |sₜ − sᵤ| / source size) / (Σ |cₜ − cᵤ| / target size)        t, u neighbours
//! ```
//!
//! one for the identity, and large where neighbours take their motion from far apart: a torn map.

use pliant_linalg::parallel;
use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, Topology};

use crate::TriangleMap;
use crate::extent::{diagonal, size};

/// How far a partner may be, as a part of the target's size. Ours: wider than any gap that a usable
/// fit leaves.
pub(crate) const REACH: f64 = 0.07;

/// Target triangles in one parallel task.
const TRIANGLES_PER_TASK: usize = 1024;

/// Whether the source has something for a target triangle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coverage {
    Covered,
    Flipped,
    Uncovered,
}

/// The sources of one target triangle, how far they are from it, and whether that is near enough.
#[derive(Debug, Clone)]
pub(crate) struct Partners {
    pub(crate) sources: Vec<(u32, f64)>,
    pub(crate) distance: f64,
    pub(crate) coverage: Coverage,
}

/// How good a map from the triangles of a target to those of a source is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MapReport {
    /// Target triangles.
    pub triangles: usize,
    /// Target triangles with nothing of the source near them.
    pub uncovered: usize,
    /// Target triangles near which all of the source faces the other way.
    pub flipped: usize,
    /// Mean distance between partners over the target's diagonal.
    pub residual: f64,
    /// How much longer the steps between neighbours are on the source than on the target; one is
    /// none.
    pub distortion: f64,
    /// Root mean square distance of the markers from their places over the target's diagonal,
    /// after fitting.
    pub marker_residual: f64,
}

impl MapReport {
    /// Above this part of uncovered or flipped triangles the map is doubtful, above
    /// [`BAD_SHARE`](Self::BAD_SHARE) bad.
    pub const DOUBTFUL_SHARE: f64 = 0.05;
    /// Up to this part of uncovered or flipped triangles nothing is missing: a fin, a few triangles
    /// inside a mouth.
    pub const COMPLETE_SHARE: f64 = 0.005;
    /// Above this part of uncovered or flipped triangles a map is bad.
    pub const BAD_SHARE: f64 = 0.5;
    /// Measured: 1.0 to 1.6 on `horse-camel`, above 10 with markers at random.
    pub const DOUBTFUL_DISTORTION: f64 = 2.0;
    /// Above this a map is bad: neighbours take their motion from anywhere.
    pub const BAD_DISTORTION: f64 = 8.0;
    /// Above this the markers contradict each other. Measured: below 0.001 on `horse-camel`.
    pub const DOUBTFUL_MARKERS: f64 = 0.05;

    /// The map of a mesh onto itself.
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
        partners: &[Partners],
        map: &TriangleMap,
        source: &Mesh,
        target: &Mesh,
        marker_residual: f64,
    ) -> Self {
        let count = |coverage| partners.iter().filter(|p| p.coverage == coverage).count();
        let mean = partners.iter().map(|p| p.distance).sum::<f64>() / partners.len().max(1) as f64;
        Self {
            triangles: partners.len(),
            uncovered: count(Coverage::Uncovered),
            flipped: count(Coverage::Flipped),
            residual: ratio(mean, diagonal(target)),
            distortion: distortion(map, source, target),
            marker_residual,
        }
    }

    /// The part of the target triangles that are uncovered or flipped.
    #[must_use]
    pub fn lost_share(&self) -> f64 {
        (self.uncovered + self.flipped) as f64 / self.triangles.max(1) as f64
    }

    /// Whether the source covers all of the target but single triangles, and nothing else is
    /// doubtful.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.lost_share() <= Self::COMPLETE_SHARE && self.problems().is_empty()
    }

    /// Whether the map is better not used.
    #[must_use]
    pub fn is_bad(&self) -> bool {
        self.lost_share() > Self::BAD_SHARE || self.distortion > Self::BAD_DISTORTION
    }

    /// What a person should know, one sentence each.
    #[must_use]
    pub fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        if self.lost_share() > Self::DOUBTFUL_SHARE {
            problems.push(format!(
                "{} of {} target triangles have no source triangle near them and {} only one that faces away; add markers there",
                self.uncovered, self.triangles, self.flipped
            ));
        }
        if self.distortion > Self::DOUBTFUL_DISTORTION {
            problems.push(format!(
                "neighbouring target triangles take their motion from places {:.1} times as far apart as they are; check the markers",
                self.distortion
            ));
        }
        if self.marker_residual > Self::DOUBTFUL_MARKERS {
            problems.push(format!(
                "the markers end {:.1} % of the target's diagonal away from their places; check that pairs name the same spot",
                100.0 * self.marker_residual
            ));
        }
        problems
    }

    /// Lower is better: lost triangles and torn neighbourhoods.
    pub(crate) fn badness(&self) -> f64 {
        self.lost_share() + (self.distortion - 1.0).max(0.0)
    }
}

fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

fn distortion(map: &TriangleMap, source: &Mesh, target: &Mesh) -> f64 {
    let centroid = |mesh: &Mesh, t: usize| mesh.triangle_points(t).into_iter().sum::<DVec3>() / 3.0;
    let places = parallel::map(map.len(), TRIANGLES_PER_TASK, |t| {
        let sum =
            |place: DVec3, &(s, weight): &(u32, f64)| place + centroid(source, s as usize) * weight;
        map.row(t).iter().fold(DVec3::ZERO, sum)
    });
    let topology: &Topology = target.topology();
    let (mut on_source, mut on_target) = (0.0, 0.0);
    for t in (0..map.len()).filter(|&t| !map.row(t).is_empty()) {
        for u in topology
            .adjacent_triangles(t)
            .map(|u| u as usize)
            .filter(|&u| u > t && !map.row(u).is_empty())
        {
            on_source += places[t].distance(places[u]);
            on_target += centroid(target, t).distance(centroid(target, u));
        }
    }
    let relative = ratio(on_source, size(source)) / ratio(on_target, size(target));
    if relative.is_finite() { relative } else { 1.0 }
}
