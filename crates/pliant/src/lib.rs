//! Pliant lets a person pose, touch, blend, transfer and learn the deformation of a
//! character mesh from examples.
//!
//! This crate gathers the libraries under one name; the command line `pliant` is built
//! on nothing else.
//!
//! ```
//! use pliant::mesh::{HeatGeodesics, HeatOptions, SurfacePoint};
//! use pliant::mesh::shapes::icosphere;
//!
//! let sphere = icosphere(3);
//! let geodesics = HeatGeodesics::factor(&sphere, &HeatOptions::default())?; // once per mesh
//! let distances = geodesics.distances(&[SurfacePoint::Vertex(0)])?; // as often as you like
//! let farthest = distances.iter().copied().fold(0.0, f64::max);
//! assert!((farthest - std::f64::consts::PI).abs() < 0.1);
//! # Ok::<(), pliant::mesh::MeshError>(())
//! ```

mod built_in;
pub mod demo;
pub mod drive_job;
pub mod drive_report;
pub mod driven_clip;
mod film;
mod hand_skeleton;
pub mod learn_detail;
pub mod learn_job;
pub mod learn_recipe;
pub mod marker_files;
pub mod marker_picture;
pub mod page;
pub mod picture;
mod pressing_ball;
pub mod register_job;
pub mod register_recipe;
pub mod reproduce;
pub mod skeleton_file;
pub mod touch_job;
mod touch_picture;
pub mod touched_clip;
pub mod transfer_job;
pub mod transfer_recipe;
mod transfer_region;
mod walking_tapir;

pub use built_in::{BuiltIn, load};
pub use pliant_io as io;
pub use pliant_learn as learn;
pub use pliant_linalg as linalg;
pub use pliant_mesh as mesh;
pub use pliant_physics as physics;
pub use pliant_rig as rig;
pub use pliant_specimens as specimens;
pub use pliant_transfer as transfer;
pub use pliant_view as view;
