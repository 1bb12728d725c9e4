//! A detailed mesh driven by a few control points, learned from a handful of examples.
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

mod abstract_bones;
mod arap;
mod bone_driver;
mod bone_translations;
mod bones;
#[cfg(test)]
mod claims;
mod comparison;
mod confidence;
mod control_points;
mod control_reach;
mod detail;
mod edge_paths;
mod error;
mod exact;
mod examples;
mod ik;
mod local_blend;
mod local_frame;
mod markers;
mod meshik;
mod method;
mod model;
mod model_file;
mod model_look;
mod paired_test;
mod poisson;
mod pose_graph;
mod region_blend;
mod registration;
mod rehearsal;
mod secondary_motion;
mod selection;
mod shape_distance;
#[cfg(test)]
mod test_bar;
mod training_log;
mod validation;
mod workbench;

pub use bones::{BoneKind, Correctives, SkinOptions, SkinningDecomposition};
pub use comparison::{Comparison, Rival};
pub use confidence::Confidence;
pub use control_points::{ControlPoints, suggest_control_points};
pub use detail::{
    DetailError, DetailHeights, DetailLayer, DetailLeaveOneOut, DetailMode, DetailOptions,
    DetailReport, DetailSettings, DetailShares, DetailedExamples,
};
pub use error::LearnError;
pub use examples::Examples;
pub use ik::{IkJoint, IkPose, IkRoot, IkSkeleton, IkSolver};
pub use local_blend::LocalSettings;
pub use markers::{Align, Anchor, Axes, MarkerSource, Preparation, Prepared, Window};
pub use method::{LearnOptions, Method};
pub use model::{Driven, Driver, Missed, Model};
pub use paired_test::PairedTest;
pub use pliant_rig::{Influence, Joint, Skeleton, Skin};
pub use poisson::Hold;
pub use registration::{Scan, ScanDistance, ScanOptions, ScanRegistration, ScanReport};
pub use secondary_motion::{Jiggle, SecondaryMotion};
pub use training_log::TrainingLog;
pub use validation::{LeaveOneOut, PoseError};
