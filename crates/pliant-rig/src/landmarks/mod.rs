//! Landmarks of a face: named points such as `mouth corner left`, and where the targets of a rig
//! show them.
//!
//! - [`FaceLandmark`], [`FacePlace`]: the names.
//! - [`FoundLandmark`]: a vertex for a landmark, with a confidence.
//! - [`landmarks_by_targets`]: the vertices that known expressions move most.

mod by_targets;
mod face_landmark;

pub use by_targets::landmarks_by_targets;
pub use face_landmark::{FaceLandmark, FacePlace};

/// A vertex for a landmark.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FoundLandmark {
    /// The landmark.
    pub landmark: FaceLandmark,
    /// The vertex.
    pub vertex: u32,
    /// From 0 (a guess) to 1 (certain).
    pub confidence: f64,
}
