//! The result of a transfer: frames, warnings and timings.

use pliant_transfer::{Correspondence, MapReport, Motion, SelfIntersectionReport};

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
    /// Those of them that do not depend on the frames.
    pub input_warnings: Vec<String>,
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

    /// The warnings about frames, given the number of self-intersections that remain in each, if
    /// they were counted, and the number of standing vertices, if feet were planted.
    #[must_use]
    pub fn frame_warnings(intersections: &[usize], standing: Option<usize>) -> Vec<String> {
        let mut warnings = Vec::new();
        let tangled = intersections.iter().filter(|&&pairs| pairs > 0).count();
        if tangled > 0 {
            let count = intersections.len();
            let pairs: usize = intersections.iter().sum();
            warnings.push(format!(
                "{tangled} of {count} frames have self-intersections that the rest pose does not have: {pairs} pairs of triangles"
            ));
        }
        if standing == Some(0) {
            warnings.push("no foot stands in the source: no vertex stays low and still relative to the ground; check which axis is up".into());
        }
        warnings
    }
}
