//! Control points from captured markers (motion capture).
//!
//! - `preparation`: the options, and all steps from a take to control points.
//! - `axis_order`: permutation and signs of the axes of a take.
//! - `gaps`: interpolation of missing markers.
//! - `alignment`: the rigid motion from a take to the model.
//! - `time_filter`: interpolation, smoothing and resampling over frames.
//!
//! **Problem.** A take has its own names, order, unit, axes and frame rate. The subject moves as a
//! whole, markers disappear, and no marker is exactly at a control point.
//!
//! **Steps**, in this order: select markers; scale and permute axes; fill gaps; align the take with
//! the model, frame by frame or once; subtract the offsets of a frame that shows the rest pose;
//! place control points without a marker; smooth and resample. A step that is not requested changes
//! no bit.
//!
//! **Source.** Huang et al. 2012, section 8: markers selected by hand, four of them for the
//! alignment, 120 Hz resampled to 30.

mod alignment;
mod axis_order;
mod gaps;
mod preparation;
#[cfg(test)]
mod tests;
mod time_filter;

pub use alignment::{Anchor, MarkerAlignment};
pub use axis_order::Axes;
pub use preparation::{DrivenPoints, MarkerPreparation, PreparedMarkers};
pub use time_filter::Window;
