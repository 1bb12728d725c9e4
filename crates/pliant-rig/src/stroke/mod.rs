//! Strokes: drawn on the screen, laid on the surface, turned into pins.

mod camera;
mod cubic_spline;
mod curve_pins;
mod horizontal_curve;
mod landmark_warp;
mod library;
mod polyline;
mod projection;
mod screen_path;
mod sketch;
mod sketched_pose;
mod surface_curve;

pub use camera::{SketchCamera, Stroke};
pub use cubic_spline::CubicSpline;
pub use curve_pins::{CurveDirection, CurvePinOptions, EndAim, curve_pins};
pub use horizontal_curve::{DrawingPlane, HorizontalCurve, HorizontalFrame, SideStretch};
pub use landmark_warp::LandmarkWarp;
pub use library::{ReusedStroke, SavedPin, SavedStroke, StrokeLibrary};
pub use projection::{Cut, ProjectedStroke, StrokePiece};
pub use sketch::{PinDepth, PinPlace, Sketch, SketchOptions, SketchSurface};
pub use sketched_pose::{Earlier, SketchedDrag, SketchedPose};
pub use surface_curve::SurfaceCurve;
