//! The result of a transfer: frames, warnings and timings.

use pliant_transfer::{
    Correspondence, FootContactReport, MapReport, Motion, SelfIntersectionReport,
};

/// The frames of a transfer and what is known about them.
#[derive(Debug, Clone)]
pub struct TransferResult {
    /// The frames, and the report on the feet.
    pub motion: Motion,
    /// The self-intersections of each frame, if the recipe asks for them.
    pub partings: Vec<SelfIntersectionReport>,
    /// The correspondence of each source to the target.
    pub correspondences: Vec<Correspondence>,
    /// What a user should know, one sentence each.
    pub warnings: Vec<String>,
    /// The time of each step.
    pub times: TransferTimes,
}

/// Wall times of a transfer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TransferTimes {
    /// Correspondences and weights.
    pub map_ms: f64,
    /// Factorisation of the target's system.
    pub factor_ms: f64,
    /// All frames.
    pub solve_ms: f64,
    /// Self-intersections.
    pub check_ms: f64,
}

impl TransferResult {
    /// Mean time of a frame.
    #[must_use]
    pub fn ms_per_frame(&self) -> f64 {
        self.times.solve_ms / self.motion.frames.len().max(1) as f64
    }

    /// The report on the correspondence with the most unmatched triangles, and among equal ones
    /// that with the largest residual.
    ///
    /// # Panics
    /// Never: a recipe without a source gives no result.
    #[must_use]
    pub fn worst_map(&self) -> &MapReport {
        let reports = self.correspondences.iter().map(|found| &found.report);
        let order = |a: &&MapReport, b: &&MapReport| {
            a.lost_share()
                .total_cmp(&b.lost_share())
                .then(a.residual.total_cmp(&b.residual))
        };
        reports.max_by(order).expect("a layer has a source")
    }
}

/// The self-intersections that remain, if any.
pub(super) fn self_intersection_warning(partings: &[SelfIntersectionReport]) -> Option<String> {
    let frames = partings.iter().filter(|parting| parting.after > 0).count();
    let pairs: usize = partings.iter().map(|parting| parting.after).sum();
    let count = partings.len();
    (frames > 0).then(|| {
        format!(
            "{frames} of {count} frames have self-intersections that the rest pose does not have: {pairs} pairs of triangles"
        )
    })
}

pub(super) fn no_feet_warning(feet: &FootContactReport) -> Option<String> {
    let why = "no foot stands in the source: no vertex stays low and still relative to the ground; check which axis is up";
    (feet.vertices == 0).then(|| why.to_owned())
}
