//! The frames, foot contacts and self-intersections of a transfer: report and summary.

use std::fmt::Write as _;

use pliant::jobs::{TransferJob, TransferResult};
use pliant::pieces::JoinedPieces;
use pliant_transfer::{AlignmentCandidate, Correspondence, FootContactReport};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::correspondence_report::{CorrespondenceReport, correspondence_text};
use crate::cli::pieces::mean_per_frame;
use crate::cli::report::failure::Failure;
use crate::cli::report::output::SavedAsset;

/// A transferred animation.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TransferSummary {
    #[serde(flatten)]
    figures: TransferFigures,
    #[serde(flatten)]
    saved: SavedAsset,
}

/// The figures of a transferred animation, or of a piece of it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(super) struct TransferFigures {
    /// Number of frames.
    frames: usize,
    /// Vertices of the target mesh.
    vertices: usize,
    /// The worst correspondence.
    map: CorrespondenceReport,
    /// The correspondence of each source.
    sources: Vec<SourceReport>,
    /// Time to find the correspondences, in milliseconds.
    map_ms: f64,
    /// Time of the factorisation, in milliseconds.
    factor_ms: f64,
    /// Mean time to solve a frame, in milliseconds.
    solve_ms_per_frame: f64,
    /// Self-intersections; absent without `--check` and `--untangle`.
    #[serde(flatten)]
    intersections: Option<IntersectionReport>,
    /// Planted feet; absent without `--feet`.
    #[serde(skip_serializing_if = "Option::is_none")]
    feet: Option<FootReport>,
}

/// What a piece of a transfer needs to be joined.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct TransferPiece {
    pub(super) figures: TransferFigures,
    /// Warnings that do not depend on the frames.
    pub(super) warnings: Vec<String>,
}

/// The correspondence of one source.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
struct SourceReport {
    #[serde(flatten)]
    map: CorrespondenceReport,
    /// Name of the source.
    name: String,
    /// Method of the correspondence.
    method: String,
    /// Orientations that were tried; empty with markers.
    candidates: Vec<CandidateReport>,
}

/// An orientation of the source over the target.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
struct CandidateReport {
    /// Distance of the surfaces relative to the diagonal, plus a tenth of the mean difference of
    /// the normals.
    misfit: f64,
    /// Scale from source to target.
    scale: f64,
    /// Quaternion x, y, z, w from source to target.
    rotation: [f64; 4],
    /// Translation from source to target.
    translation: [f64; 3],
    /// The correspondence of this orientation; null where it was not computed.
    map: Option<CorrespondenceReport>,
}

/// Self-intersections of the target.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
struct IntersectionReport {
    /// Mean time to check a frame, in milliseconds.
    check_ms_per_frame: f64,
    /// For each frame, pairs of triangles that intersect and do not at rest.
    intersections: Vec<usize>,
    /// The same before the correction.
    intersections_before: Vec<usize>,
    /// Largest correction, relative to the diagonal.
    largest_untangling: f64,
}

/// Planted feet. Lengths are relative to the diagonal, except for the ground.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
struct FootReport {
    /// Vertices that stand at some time.
    vertices: usize,
    /// Mean displacement of the ground between frames, in asset units.
    ground_step: [f64; 3],
    /// How far standing vertices slide with the root motion alone.
    slide_before: f64,
    /// How far standing vertices slide after the correction.
    slide: f64,
    /// Largest correction of a vertex.
    largest_correction: f64,
}

impl TransferSummary {
    pub(super) fn new(figures: TransferFigures, saved: SavedAsset) -> Self {
        Self { figures, saved }
    }

    /// The summary for people.
    pub(super) fn text(&self) -> String {
        let figures = &self.figures;
        let mut text = String::new();
        if let Some(feet) = &figures.feet {
            let _ = writeln!(
                text,
                "feet: {} vertices stand at some time; they slide {:.2} % of the diagonal, {:.2} % without the correction",
                feet.vertices,
                100.0 * feet.slide,
                100.0 * feet.slide_before
            );
        }
        if let Some(found) = &figures.intersections {
            let frames = |counts: &[usize]| counts.iter().filter(|&&pairs| pairs > 0).count();
            let _ = writeln!(
                text,
                "self-intersections: in {} frame(s), {} after the correction",
                frames(&found.intersections_before),
                frames(&found.intersections)
            );
        }

        let _ = writeln!(
            text,
            "{} frames\n{}\n  correspondence in {:.0} ms, factorisation in {:.1} ms, {:.2} ms per frame\nwritten to {}",
            figures.frames,
            correspondence_text(&figures.map),
            figures.map_ms,
            figures.factor_ms,
            figures.solve_ms_per_frame,
            self.saved.out
        );
        text
    }
}

impl TransferFigures {
    pub(super) fn new(transferred: &TransferResult, job: &TransferJob) -> Self {
        let diagonal = job
            .target()
            .bounds()
            .map_or(1.0, |bounds| bounds.diagonal());

        // Correspondences are in the order of the sources.
        let mut sources = Vec::new();
        for (k, correspondence) in transferred.correspondences.iter().enumerate() {
            let name = job.sources()[k].name.clone();
            sources.push(SourceReport::new(name, correspondence));
        }

        let feet = transferred.motion.feet.as_ref();
        Self {
            frames: transferred.motion.frames.len(),
            vertices: job.target().vertex_count(),
            map: transferred.worst_map().into(),
            sources,
            map_ms: transferred.times.map_ms,
            factor_ms: transferred.times.factor_ms,
            solve_ms_per_frame: transferred.ms_per_frame(),
            intersections: IntersectionReport::new(transferred, diagonal),
            feet: feet.map(|feet| FootReport::new(feet, diagonal)),
        }
    }
}

impl TransferPiece {
    /// The figures of the whole, and its warnings. Times of preparation are sums over the pieces.
    pub(super) fn join(
        joined: &JoinedPieces,
        pieces: &[Self],
    ) -> Result<(TransferFigures, Vec<String>), Failure> {
        let all = || pieces.iter().map(|piece| &piece.figures);
        let mut whole = pieces[0].figures.clone();
        whole.frames = joined.frame_count();
        whole.map_ms = all().map(|figures| figures.map_ms).sum();
        whole.factor_ms = all().map(|figures| figures.factor_ms).sum();
        whole.solve_ms_per_frame =
            mean_per_frame(joined, all().map(|figures| figures.solve_ms_per_frame));

        if whole.intersections.is_some() {
            let found: Vec<&IntersectionReport> = all()
                .filter_map(|figures| figures.intersections.as_ref())
                .collect();
            let counts = |of: fn(&IntersectionReport) -> &Vec<usize>| {
                joined.in_order(found.iter().map(|found| of(found).clone()).collect())
            };
            let times = found.iter().map(|found| found.check_ms_per_frame);
            let largest = found.iter().map(|found| found.largest_untangling);
            whole.intersections = Some(IntersectionReport {
                check_ms_per_frame: mean_per_frame(joined, times),
                intersections: counts(|found| &found.intersections)?,
                intersections_before: counts(|found| &found.intersections_before)?,
                largest_untangling: largest.fold(0.0, f64::max),
            });
        }

        let mut warnings = pieces[0].warnings.clone();
        let counts = whole.intersections.as_ref();
        let counts = counts.map_or(&[][..], |found| &found.intersections);
        let standing = whole.feet.as_ref().map(|feet| feet.vertices);
        warnings.extend(TransferResult::frame_warnings(counts, standing));
        Ok((whole, warnings))
    }
}

impl SourceReport {
    fn new(name: String, correspondence: &Correspondence) -> Self {
        let candidates = correspondence.candidates.iter();
        Self {
            map: (&correspondence.report).into(),
            name,
            method: correspondence.method.name().to_owned(),
            candidates: candidates.map(CandidateReport::from).collect(),
        }
    }
}

impl From<&AlignmentCandidate> for CandidateReport {
    fn from(candidate: &AlignmentCandidate) -> Self {
        let similarity = &candidate.similarity;
        Self {
            misfit: candidate.misfit,
            scale: similarity.scale,
            rotation: similarity.motion.rotation.to_array(),
            translation: similarity.motion.translation.to_array(),
            map: candidate.fitted.as_ref().map(CorrespondenceReport::from),
        }
    }
}

impl IntersectionReport {
    fn new(transferred: &TransferResult, diagonal: f64) -> Option<Self> {
        let partings = &transferred.partings;
        if partings.is_empty() {
            return None;
        }

        let corrections = partings
            .iter()
            .map(|parting| parting.largest_correction / diagonal);
        Some(Self {
            check_ms_per_frame: transferred.times.check_ms / partings.len() as f64,
            intersections: partings.iter().map(|parting| parting.after).collect(),
            intersections_before: partings.iter().map(|parting| parting.before).collect(),
            largest_untangling: corrections.fold(0.0, f64::max),
        })
    }
}

impl FootReport {
    fn new(feet: &FootContactReport, diagonal: f64) -> Self {
        Self {
            vertices: feet.vertices,
            ground_step: feet.ground_step.to_array(),
            slide_before: feet.slide_before / diagonal,
            slide: feet.slide_after / diagonal,
            largest_correction: feet.largest_correction / diagonal,
        }
    }
}
