//! Example-based deformation: a detailed mesh driven by a few control points, trained on a few
//! poses.
//!
//! - `control`: control points, captured markers, inverse kinematics.
//! - `training`: examples, options, and quantities that all methods derive from them.
//! - `methods`: the methods that predict a pose from control points.
//! - `model`: trained models, their evaluation and their files.
//! - `validation`: leave-one-out errors and comparisons of methods.
//! - `detail`: fine, pose-dependent heights above the predicted surface.
//! - `bones`: skinning decomposition of a clip.
//! - `registration`: scans as poses of one mesh.
//! - `secondary_motion`: oscillations that follow a driven clip.
//! - `surface`: distances and regions on the reference mesh.
//!
//! ```
//! use pliant_learn::{ControlPoints, Examples, LearnOptions, Model};
//! use pliant_mesh::{glam::DVec3, shapes};
//!
//! let sheet = shapes::flat_sheet(8, 0.0);
//! let bent = |amount: f64| sheet.positions().iter().map(|p| *p + DVec3::Z * amount * p.x * p.x).collect::<Vec<_>>();
//! let names = vec!["half".to_owned(), "full".to_owned()];
//! let examples = Examples::new(sheet.clone(), vec![bent(0.2), bent(0.4)], names)?;
//! let control = ControlPoints::new(&sheet, &[0, 8, 40, 72, 80])?;
//! let model = Model::train(examples, control, &LearnOptions::default(), &())?;
//! let goals = model.control().at(&bent(0.3));
//! assert_eq!(model.drive(&goals)?.len(), sheet.vertex_count());
//! # Ok::<(), pliant_learn::LearnError>(())
//! ```

mod bones;
mod control;
mod detail;
mod error;
mod methods;
mod model;
mod registration;
mod secondary_motion;
mod surface;
#[cfg(test)]
mod test_bar;
mod training;
mod validation;

pub use bones::{BoneKind, Correctives, SkinOptions, SkinningDecomposition};
pub use control::{
    Anchor, Axes, ControlPoints, ControlTrack, DrivenPoints, EffectorReport, IkJoint, IkPose,
    IkRoot, IkSkeleton, IkSolver, MarkerAlignment, MarkerPreparation, PreparedMarkers, Window,
    control_markers, effector_markers, suggest_control_points,
};
pub use detail::{
    DetailError, DetailHeights, DetailLayer, DetailLeaveOneOut, DetailMode, DetailOptions,
    DetailReport, DetailSettings, DetailWeights, DetailedExamples,
};
pub use error::LearnError;
pub use methods::ControlConstraint;
pub use model::{
    Confidence, DriveFindings, DriveOptions, DriveReport, DrivenClip, DrivenError, DrivenPose,
    Driver, Model, UnreachedControlPoint, shown_mesh,
};
pub use pliant_rig::{Influence, Joint, Skeleton, Skin};
pub use registration::{Scan, ScanDistance, ScanOptions, ScanRegistration, ScanReport};
pub use secondary_motion::{SecondaryMotion, SecondaryMotionOptions};
pub use training::{Examples, LearnOptions, LocalSettings, Method, TrainingLog};
pub use validation::{ComparedMethod, Comparison, LeaveOneOut, PairedTest, PoseError};
