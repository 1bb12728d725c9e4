//! Pliant lets a person pose, touch, blend, transfer and learn the deformation of a
//! character mesh from examples.
//!
//! This crate collects the libraries under one name and adds what works on files. The command
//! `pliant` is built on it.
//!
//! - [`recipes`]: recipe files of the commands `transfer`, `learn` and `register`.
//! - [`jobs`]: the work of a recipe with all its files opened.
//! - [`bundle`]: commands as jobs of render farms.
//! - [`landmarks`]: landmarks of a face, by the targets of a rig and by the shape of the mesh.
//! - [`pictures`]: pictures of meshes and markers.
//! - [`pieces`]: pieces of a result that several machines compute, and how they are joined.
//! - `demo`, `page` and `reproduce` (feature `papers`): the demo page, HTML pages, and the tables
//!   and figures of the papers.
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

// The command line names this library as a user of it does.
#[cfg(feature = "cli")]
extern crate self as pliant;

pub mod bundle;
#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "papers")]
pub mod demo;
pub mod jobs;
pub mod landmarks;
pub mod pictures;
pub mod pieces;
pub mod recipes;

pub use pliant_io as io;
pub use pliant_learn as learn;
pub use pliant_linalg as linalg;
pub use pliant_mesh as mesh;
#[cfg(feature = "papers")]
pub use pliant_papers::{page, reproduce};
pub use pliant_physics as physics;
pub use pliant_rig as rig;
pub use pliant_specimens as specimens;
pub use pliant_specimens::{BuiltIn, load};
pub use pliant_transfer as transfer;
pub use pliant_view as view;
