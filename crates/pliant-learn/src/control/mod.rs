//! Control points, and where their positions come from.
//!
//! - `control_points`: the vertices that drive a model, given or suggested.
//! - `control_track`: positions of all control points over time, from markers or end effectors.
//! - `alignment`: the rigid motion of all control points together.
//! - `local_frame`: the rigid frame of the control points near a region.
//! - `shape_distance`: the distance between two sets of control points up to a rigid motion.
//! - `control_distances`: geodesic distances from every vertex to every control point.
//! - `markers`: control points from captured markers.
//! - `ik`: control points from a few end effectors (inverse kinematics).

mod alignment;
mod control_distances;
mod control_points;
mod control_track;
mod ik;
mod local_frame;
mod markers;
mod shape_distance;

pub(crate) use alignment::Alignment;
pub(crate) use control_distances::ControlDistances;
pub use control_points::{ControlPoints, suggest_control_points};
pub use control_track::{ControlTrack, EffectorReport, control_markers, effector_markers};
pub use ik::{IkJoint, IkPose, IkRoot, IkSkeleton, IkSolver};
pub(crate) use local_frame::{FramePose, LocalFrame};
pub use markers::{
    Anchor, Axes, DrivenPoints, MarkerAlignment, MarkerPreparation, PreparedMarkers, Window,
};
pub(crate) use shape_distance::{shape_distance, spread};
