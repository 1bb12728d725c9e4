//! Strokes: drawn on the screen, projected onto the surface, converted to pins.
//!
//! - [`SketchCamera`], [`Stroke`]: a camera and a line in its pixels.
//! - `screen_path`: filling of gaps between recorded points.
//! - [`ProjectedStroke`], [`Cut`], [`StrokePiece`]: the stroke on the visible surface.
//! - `polyline`, [`CubicSpline`], [`SurfaceCurve`]: curves in space and on the surface.
//! - [`HorizontalCurve`], [`DrawingPlane`]: the arc that approximates a stroke.
//! - [`Sketch`], [`SketchSurface`]: pins from one stroke.
//! - [`curve_pins`]: pins that move a curve onto another one.
//! - [`Feature`], [`FaceFeatures`]: the brow, lid, lip, jaw, cheek or nose that a stroke lies on.
//! - [`SketchedPose`], [`SketchedDrag`]: poses from several strokes.
//! - [`StrokeLibrary`], [`SavedStroke`], [`LandmarkWarp`]: strokes reused on other faces.

mod camera;
mod cubic_spline;
mod curve_pins;
mod feature;
mod horizontal_curve;
mod landmark_warp;
mod polyline;
mod projected_stroke;
mod screen_path;
mod sketch;
mod sketched_pose;
mod stroke_library;
mod surface_curve;

pub use camera::{SketchCamera, Stroke};
pub use cubic_spline::CubicSpline;
pub use curve_pins::{CurveDirection, CurvePinOptions, EndAim, curve_pins};
pub use feature::{FaceFeatures, Feature};
pub use horizontal_curve::{DrawingPlane, HorizontalCurve, HorizontalFrame, SideStretch};
pub use landmark_warp::LandmarkWarp;
pub use projected_stroke::{Cut, ProjectedStroke, StrokePiece};
pub use sketch::{PinDepth, PinPlace, Sketch, SketchOptions, SketchSurface};
pub use sketched_pose::{EarlierStrokes, SketchedDrag, SketchedPose};
pub use stroke_library::{ReusedStroke, SavedPin, SavedStroke, StrokeLibrary};
pub use surface_curve::SurfaceCurve;
