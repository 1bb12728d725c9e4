//! The frames, foot contacts and self-intersections of a transfer: report and summary.

use std::fmt::Write as _;
use std::path::Path;

use pliant::jobs::{TransferJob, TransferResult};
use pliant_transfer::{
    AlignmentCandidate, Correspondence, FootContactReport, SelfIntersectionReport,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::correspondence_report::{CorrespondenceReport, correspondence_text};
use crate::cli::report::output::SavedAsset;

/// A transferred animation.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TransferSummary {
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
    #[serde(flatten)]
    saved: SavedAsset,
}

/// The correspondence of one source.
#[derive(Debug, Serialize, JsonSchema)]
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
#[derive(Debug, Serialize, JsonSchema)]
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
#[derive(Debug, Serialize, JsonSchema)]
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
#[derive(Debug, Serialize, JsonSchema)]
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
    pub(super) fn new(transferred: &TransferResult, job: &TransferJob, saved: SavedAsset) -> Self {
        let diagonal = target_diagonal(job);

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
            saved,
        }
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

/// The diagonal of the target mesh, to which lengths are relative.
pub(super) fn target_diagonal(job: &TransferJob) -> f64 {
    job.target()
        .bounds()
        .map_or(1.0, |bounds| bounds.diagonal())
}

pub(super) fn transfer_summary(transferred: &TransferResult, diagonal: f64, out: &Path) -> String {
    let mut text = String::new();
    if let Some(feet) = transferred.motion.feet {
        let before = 100.0 * feet.slide_before / diagonal;
        let after = 100.0 * feet.slide_after / diagonal;
        let _ = writeln!(
            text,
            "feet: {} vertices stand at some time; they slide {after:.2} % of the diagonal, {before:.2} % without the correction",
            feet.vertices
        );
    }
    if !transferred.partings.is_empty() {
        let before = frames_with(&transferred.partings, |parting| parting.before);
        let after = frames_with(&transferred.partings, |parting| parting.after);
        let _ = writeln!(
            text,
            "self-intersections: in {before} frame(s), {after} after the correction"
        );
    }

    let times = &transferred.times;
    let _ = writeln!(
        text,
        "{} frames\n{}\n  correspondence in {:.0} ms, factorisation in {:.1} ms, {:.2} ms per frame\nwritten to {}",
        transferred.motion.frames.len(),
        correspondence_text(transferred.worst_map()),
        times.map_ms,
        times.factor_ms,
        transferred.ms_per_frame(),
        out.display()
    );
    text
}

fn frames_with(
    partings: &[SelfIntersectionReport],
    count: fn(&SelfIntersectionReport) -> usize,
) -> usize {
    partings.iter().filter(|parting| count(parting) > 0).count()
}
