//! Registration of scans: scans of one subject as poses of one mesh.
//!
//! - `scan_registration`: the whole method, and its result.
//! - `options`: its parameters.
//! - `rigid_alignment`: the rigid motion of a scan into the frame of the reference.
//! - `low_resolution`: smoothing and decimation.
//! - `nearest_pose`: the registered pose from which a scan is deformed.
//! - `normal_displacements`: heights of a scan above a smooth surface.
//! - `report`: distances, missed rays and flipped triangles.
//!
//! **Problem.** A reference scan and several examples are given, each with its own triangles, frame
//! and resolution, and a few markers between the reference and each. Find one mesh that takes the
//! shape of all: coarse and smooth for the large deformation, fine for the rest.
//!
//! **Method.**
//!
//! ```text
//! Pᵢ  the scan, aligned rigidly with the reference P₀                       rigid_alignment
//! P̄ᵢ  without wrinkles; P̄₀ also with few, evenly spread vertices           low_resolution
//! P̃ᵢ  P̄₀, or the P̃ⱼ nearest to Pᵢ, deformed onto P̄ᵢ with its markers        nearest_pose, pliant_transfer::register
//! Ŝᵢ  P̃ᵢ subdivided, displaced along its normals by hᵢ onto Pᵢ             normal_displacements
//! ```
//!
//! **Source.** Huang, Yin, Zhao, Qi, Yu and Tong, "Detail-Preserving Controllable Deformation from
//! Sparse Examples", 2012, section 5.
//!
//! **Departures.** Huang et al. deform by the correspondence step of deformation transfer (Sumner
//! and Popović 2004). Here it is the registration of the transfer, with the same three terms
//! (smoothness, identity, closest valid points) and the markers. Examples are smoothed but not
//! retiled, and deformed from the nearest registered pose.

mod low_resolution;
mod nearest_pose;
mod normal_displacements;
mod options;
mod report;
mod rigid_alignment;
mod scan_registration;
#[cfg(test)]
mod tests;

pub(crate) use normal_displacements::{ScanSurface, normal_displacements};
pub use options::ScanOptions;
pub use report::{ScanDistance, ScanReport};
pub use scan_registration::{Scan, ScanRegistration};
