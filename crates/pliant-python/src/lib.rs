//! The Python package `pliant`: arrays in, arrays out.
//!
//! A thin layer: every call converts its arguments, calls one function of the libraries without the
//! interpreter's lock, and converts the result. Names are those of the libraries; options are
//! keywords with the libraries' defaults.
//!
//! - `arrays`, `failure`, `work`, `report`: arrays, errors, progress, settings.
//! - `asset`, `clip`, `mesh`, `rig`, `physics`, `transfer`, `learn`, `view`: one module for each library.
//! - `baker`, `markers`: detail maps, marker pairs.

mod arrays;
mod asset;
mod baker;
mod clip;
mod failure;
mod learn;
mod markers;
mod mesh;
mod physics;
mod report;
mod rig;
mod transfer;
mod view;
mod work;

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the command line of Pliant and returns its exit code; for a process that does nothing else.
#[pyfunction]
fn run_command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| pliant::cli::run_arguments(arguments))
}

/// The page of the viewer, which the pages of `pliant demo` use, too.
#[pyfunction]
fn viewer_page() -> &'static str {
    pliant::page::VIEWER_PAGE
}

#[pymodule]
mod _pliant {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::asset::{Asset, landmarks, load, save, specimens};
    #[pymodule_export]
    use super::baker::Baker;
    #[pymodule_export]
    use super::clip::Clip;
    #[pymodule_export]
    use super::learn::bones::Bones;
    #[pymodule_export]
    use super::learn::ik_solver::IkSolver;
    #[pymodule_export]
    use super::learn::model::Model;
    #[pymodule_export]
    use super::learn::scans::register_scans;
    #[pymodule_export]
    use super::markers::{checked_markers, mirrored_markers, suggest_markers};
    #[pymodule_export]
    use super::mesh::Mesh;
    #[pymodule_export]
    use super::mesh::box_quadratic::BoxQuadratic;
    #[pymodule_export]
    use super::mesh::geodesics::{ExactGeodesics, HeatGeodesics, edge_path};
    #[pymodule_export]
    use super::mesh::operators::{
        DeformationGradients, LeastSquares, SparseMatrix, SpdSolver, SurfaceGradient, laplacian,
        mean_values,
    };
    #[pymodule_export]
    use super::mesh::remeshing::{Decimation, LoopSubdivision, Smoother};
    #[pymodule_export]
    use super::mesh::surface_index::SurfaceIndex;
    #[pymodule_export]
    use super::physics::blend::Blend;
    #[pymodule_export]
    use super::physics::blend_frame::BlendFrame;
    #[pymodule_export]
    use super::physics::obstacle::Obstacle;
    #[pymodule_export]
    use super::physics::rig_blend::RigBlend;
    #[pymodule_export]
    use super::physics::touch::{Touch, touch_clip};
    #[pymodule_export]
    use super::rig::Rig;
    #[pymodule_export]
    use super::rig::inverter::{Inverse, Inverter};
    #[pymodule_export]
    use super::rig::live_session::LiveSession;
    #[pymodule_export]
    use super::rig::marker_track::MarkerTrack;
    #[pymodule_export]
    use super::rig::performance::{Performance, Played};
    #[pymodule_export]
    use super::rig::pin::Pin;
    #[pymodule_export]
    use super::rig::poser::{Grab, Pose, Poser};
    #[pymodule_export]
    use super::rig::prior::PosePrior;
    #[pymodule_export]
    use super::rig::residual::{Residual, ResidualLayer};
    #[pymodule_export]
    use super::rig::sketched_pose::{SketchCamera, SketchedPose};
    #[pymodule_export]
    use super::transfer::{Correspondence, flexibility, transfer, transfer_clip, transfer_shapes};
    #[pymodule_export]
    use super::view::{render, save_picture, turntable};
    #[pymodule_export]
    use super::{run_command, viewer_page};

    #[pymodule_init]
    fn init(_module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::work::remember_process();
        Ok(())
    }

    #[pymodule_export]
    #[expect(
        non_upper_case_globals,
        reason = "the name that Python gives a version"
    )]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
