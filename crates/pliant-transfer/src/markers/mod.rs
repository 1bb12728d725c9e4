//! Markers: pairs of corresponding vertices on a source and a target mesh.
//!
//! - [`pairs`]: [`Markers`], the list of pairs, and the checks that every correspondence runs.
//! - [`file_format`]: reading and writing marker files (JSON, CSV, plain lines).
//! - [`landmarks`]: named vertices of one mesh; two such lists give markers.
//! - [`named_entries`]: parsing that marker files and landmark files share.
//! - [`check`]: which markers are wrong, and why.
//! - [`prediction`]: leave-one-out prediction of markers.
//! - [`mirror`]: markers of the other side of a symmetric mesh.
//! - [`near_vertex`]: the nearest vertex whose surface faces a given direction.
//!
//! Suggestions for new markers need a correspondence; they are in
//! [`marker_suggestion`](crate::correspondence::marker_suggestion).

pub(crate) mod check;
mod file_format;
mod landmarks;
mod mirror;
mod named_entries;
pub(crate) mod near_vertex;
mod pairs;
mod prediction;

pub use check::{MarkerAssessment, MarkerCheck, MarkerCoverage, MarkerFlaw, check_markers};
pub use file_format::MarkerFormat;
pub use landmarks::Landmarks;
pub use mirror::{MirroredMarkers, mirror_markers, symmetry_plane};
pub use pairs::Markers;
