//! The quality of a correspondence in reports.

use pliant_transfer::MapReport;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The quality of a correspondence from a source to a target mesh.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct CorrespondenceReport {
    /// Triangles of the target mesh.
    triangles: usize,
    /// Target triangles without a source triangle near them.
    uncovered: usize,
    /// Target triangles near which all source triangles face away.
    flipped: usize,
    /// Mean distance of corresponding points, relative to the diagonal of the target mesh.
    residual: f64,
    /// Ratio of the steps between neighbours on the source to those on the target; 1 is none.
    distortion: f64,
    /// Root mean square distance of the markers after the fit, relative to the diagonal.
    marker_residual: f64,
}

impl From<&MapReport> for CorrespondenceReport {
    fn from(map: &MapReport) -> Self {
        Self {
            triangles: map.triangles,
            uncovered: map.uncovered,
            flipped: map.flipped,
            residual: map.residual,
            distortion: map.distortion,
            marker_residual: map.marker_residual,
        }
    }
}

/// The quality of a correspondence, for people.
pub(crate) fn correspondence_text(map: &CorrespondenceReport) -> String {
    format!(
        "  {} of {} target triangles uncovered, {} flipped;\n  mean distance {:.2} % of the diagonal",
        map.uncovered,
        map.triangles,
        map.flipped,
        100.0 * map.residual
    )
}
