//! Outlier analysis of markers: each pair is compared with the prediction of the others.
//!
//! **Method.** A pair that deviates significantly from its [prediction](Predictions) is tested for
//! the usual mistakes: exchanged with another outlier, the target vertex on the other side, source
//! and target vertex exchanged. A mistake explains the deviation if its correction leaves less than
//! [`EXPLAINED`] of it.
//!
//! **Departures.** An outlier without such an explanation is called far off above
//! [`FAR_OFF`]; below, the shapes may differ there.

use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;
use pliant_rig::MirrorPlane;

use super::MarkerFlaw;
use crate::extent::diagonal;
use crate::markers::mirror::symmetry_plane;
use crate::markers::prediction::{OUTLIER_SCORE, Predictions};
use crate::{Markers, Similarity, TransferError};

/// A pair with a higher score is wrong even without an explanation. Measured: none of the 107
/// published pairs of `horse-camel` reaches it; the hump and the tail, where the shapes differ, come
/// nearest.
const FAR_OFF: f64 = 12.0;

/// How much shapes usually differ, relative to the target's diagonal. Measured: 0.02 for
/// `horse-camel`.
const USUAL_DIFFERENCE: f64 = 0.02;

/// A pair that deviates less, relative to the target's diagonal, is not an outlier.
const LEAST_DEVIATION: f64 = 0.02;

/// A pair that deviates less, relative to the target's diagonal, is not tested for the wrong side:
/// nearer to the symmetry plane, both sides are nearly the same spot, and the search for the plane
/// takes longer than the map.
const LEAST_MIRRORED_DEVIATION: f64 = 0.05;

/// A mistake explains a deviation if its correction leaves less than this share of it.
const EXPLAINED: f64 = 0.4;

/// A mirrored source is reported only if the markers miss the source itself by more than this,
/// relative to the diagonal: shapes that differ less may fit both.
const LEAST_MIRRORED_MISS: f64 = 0.05;

/// A mirrored source that fits much better misses the markers by less than this share.
const MUCH_BETTER: f64 = 0.5;

/// Each pair compared with the others.
pub(super) struct OutlierAnalysis<'a> {
    source: &'a Mesh,
    target: &'a Mesh,
    pairs: &'a [(u32, u32)],
    /// `None` with too few markers.
    predictions: Option<Predictions>,
    flaws: Vec<Option<MarkerFlaw>>,
}

/// The correction of a mistake: what is wrong, and the deviation that remains without it.
type Correction = (f64, MarkerFlaw);

impl<'a> OutlierAnalysis<'a> {
    /// All vertices of `markers` must exist.
    pub(super) fn new(
        markers: &'a Markers,
        source: &'a Mesh,
        target: &'a Mesh,
    ) -> Result<Self, TransferError> {
        let pairs = markers.pairs();
        let mut analysis = Self {
            source,
            target,
            pairs,
            predictions: None,
            flaws: vec![None; pairs.len()],
        };
        if markers.distinct().pairs().len() < Markers::FEWEST {
            return Ok(analysis);
        }

        let (from, to) = analysis.positions();
        let least = LEAST_DEVIATION * diagonal(target);
        analysis.predictions = Some(Predictions::new(&from, &to, least)?);
        analysis.explain_outliers();
        Ok(analysis)
    }

    /// Finds the flaw of every outlier.
    fn explain_outliers(&mut self) {
        let outliers: Vec<usize> = (0..self.pairs.len())
            .filter(|&k| self.is_outlier(k))
            .collect();
        if outliers.is_empty() {
            return;
        }

        // The plane is searched for once, and only if an outlier is far enough off for it.
        let mut plane = None;
        for &k in &outliers {
            let may_be_mirrored = self
                .deviation(k)
                .is_some_and(|deviation| deviation > LEAST_MIRRORED_DEVIATION);
            let plane = may_be_mirrored
                .then(|| *plane.get_or_insert_with(|| symmetry_plane(self.target)))
                .flatten();
            self.flaws[k] = self
                .mistake(k, &outliers, plane)
                .or_else(|| self.unexplained(k));
        }
    }

    /// The positions of the source vertices and of the target vertices.
    fn positions(&self) -> (Vec<DVec3>, Vec<DVec3>) {
        (0..self.pairs.len())
            .map(|k| (self.from(k), self.to(k)))
            .unzip()
    }

    fn from(&self, k: usize) -> DVec3 {
        self.source.positions()[self.pairs[k].0 as usize]
    }

    fn to(&self, k: usize) -> DVec3 {
        self.target.positions()[self.pairs[k].1 as usize]
    }

    /// The distance of marker `k` from its prediction, relative to the target's diagonal.
    pub(super) fn deviation(&self, k: usize) -> Option<f64> {
        let diagonal = diagonal(self.target);
        let distance = self.predictions.as_ref()?.expected(k).distance(self.to(k));
        (diagonal > 0.0).then(|| distance / diagonal)
    }

    pub(super) fn flaw(&self, k: usize) -> Option<MarkerFlaw> {
        self.flaws[k]
    }

    fn is_outlier(&self, k: usize) -> bool {
        let is_significant = self
            .predictions
            .as_ref()
            .is_some_and(|predictions| predictions.score(k, 0.0) > OUTLIER_SCORE);
        is_significant
            && self
                .deviation(k)
                .is_some_and(|deviation| deviation > LEAST_DEVIATION)
    }

    /// The mistake that explains why marker `k` is an outlier; of several, the one whose correction
    /// leaves the smallest deviation.
    fn mistake(
        &self,
        k: usize,
        outliers: &[usize],
        plane: Option<MirrorPlane>,
    ) -> Option<MarkerFlaw> {
        let predictions = self.predictions.as_ref()?;
        let mut single = Vec::new();
        if let Some(plane) = plane {
            let image = plane.mirror_point(self.to(k));
            let left = predictions.expected(k).distance(image);
            single.push((left, MarkerFlaw::OtherSide));
        }
        single.extend(self.reversal(predictions, k));

        // An exchange explains two markers at once, so it has priority.
        let allowed = self.allowed(predictions, k);
        let exchanges = self.exchanges(predictions, k, outliers);
        smallest(&exchanges, allowed).or_else(|| smallest(&single, allowed))
    }

    /// The deviation that a correction of marker `k` may leave.
    fn allowed(&self, predictions: &Predictions, k: usize) -> f64 {
        EXPLAINED * predictions.expected(k).distance(self.to(k))
    }

    /// The exchanges of target vertices with another outlier that also explain the other one.
    fn exchanges(
        &self,
        predictions: &Predictions,
        k: usize,
        outliers: &[usize],
    ) -> Vec<Correction> {
        let mut exchanges = Vec::new();
        for &with in outliers {
            let others_left = predictions.expected(with).distance(self.to(k));
            if with != k && others_left < self.allowed(predictions, with) {
                let left = predictions.expected(k).distance(self.to(with));
                exchanges.push((left, MarkerFlaw::Exchanged { with }));
            }
        }
        exchanges
    }

    /// Source and target vertex exchanged, if both exist on the other mesh.
    fn reversal(&self, predictions: &Predictions, k: usize) -> Option<Correction> {
        let (a, b) = self.pairs[k];
        let from = *self.source.positions().get(b as usize)?;
        let to = *self.target.positions().get(a as usize)?;
        let left = predictions.position(k, from).distance(to);
        Some((left, MarkerFlaw::Reversed))
    }

    /// The flaw of outlier `k` that no mistake explains, if shapes may differ as much as they
    /// usually do.
    fn unexplained(&self, k: usize) -> Option<MarkerFlaw> {
        let usual = USUAL_DIFFERENCE * diagonal(self.target);
        let score = self.predictions.as_ref()?.score(k, usual);
        if score > FAR_OFF {
            Some(MarkerFlaw::FarOff)
        } else if score > OUTLIER_SCORE {
            Some(MarkerFlaw::Unlike)
        } else {
            None
        }
    }

    /// Warnings about markers that the others contradict, and about left and right exchanged in all
    /// of them.
    pub(super) fn warnings(&self, markers: &Markers) -> Vec<String> {
        let mut warnings = Vec::new();
        for k in 0..self.pairs.len() {
            let flaw = self.flaws[k].filter(MarkerFlaw::is_wrong);
            if let (Some(flaw), Some(deviation)) = (flaw, self.deviation(k)) {
                warnings.push(format!(
                    "{} {} ({:.1} % of the diagonal off)",
                    markers.label(k),
                    flaw.message(markers),
                    100.0 * deviation
                ));
            }
        }
        warnings.extend(self.mirrored_warning());
        warnings
    }

    /// A warning if the mirror image of the source fits the markers much better than the source.
    fn mirrored_warning(&self) -> Option<String> {
        self.predictions.as_ref()?;
        let (from, to) = self.positions();
        let image: Vec<DVec3> = from
            .iter()
            .map(|&p| p * DVec3::new(-1.0, 1.0, 1.0))
            .collect();

        let plain = fit_residual(&from, &to)? / diagonal(self.target);
        let mirrored = fit_residual(&image, &to)? / diagonal(self.target);
        if !(plain > LEAST_MIRRORED_MISS && mirrored < MUCH_BETTER * plain) {
            return None;
        }
        Some(format!(
            "left and right look swapped in all markers: a mirrored source misses them by {:.1} % of the diagonal, the source by {:.1} %",
            100.0 * mirrored,
            100.0 * plain
        ))
    }
}

/// The flaw whose correction leaves the smallest deviation below `allowed`; the first of equal
/// ones.
fn smallest(corrections: &[Correction], allowed: f64) -> Option<MarkerFlaw> {
    let mut best: Option<Correction> = None;
    for &(left, flaw) in corrections {
        if left < allowed && best.is_none_or(|(least, _)| left < least) {
            best = Some((left, flaw));
        }
    }
    best.map(|(_, flaw)| flaw)
}

/// Root mean square distance of `to` from `from` moved by the similarity that fits best.
fn fit_residual(from: &[DVec3], to: &[DVec3]) -> Option<f64> {
    let similarity = Similarity::fit(from, to).ok()?;
    let squared = from
        .iter()
        .zip(to)
        .map(|(&p, &q)| similarity.apply(p).distance_squared(q))
        .sum::<f64>();
    Some((squared / to.len() as f64).sqrt())
}
