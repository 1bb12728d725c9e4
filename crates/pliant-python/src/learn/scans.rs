//! Scans of one subject as poses of one mesh.

use std::sync::Arc;

use pliant::learn::{Scan, ScanOptions, ScanRegistration};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::clip::Clip;
use crate::failure::{Failure, input_error};
use crate::mesh::Mesh;
use crate::transfer::marker_pairs;
use crate::work::run_long;

/// Scans of one subject as poses of one mesh: a clip of the coarse base, and one of the fine surface.
///
/// `scans` lists meshes with their marker pairs to the reference, (k, 2): a vertex of the reference and one
/// of the scan. Returns both clips and a report for each scan, the reference first.
#[pyfunction]
#[pyo3(signature = (reference, scans, *, names=None, vertices=None, levels=ScanOptions::DEFAULT_LEVELS, smoothing=ScanOptions::DEFAULT_SMOOTHING, reach=ScanOptions::DEFAULT_REACH, icp=0, chain=true, progress=None))]
#[expect(
    clippy::too_many_arguments,
    reason = "options are keywords of one call"
)]
pub(crate) fn register_scans<'py>(
    py: Python<'py>,
    reference: &Mesh,
    scans: Vec<(Mesh, Bound<'py, PyAny>)>,
    names: Option<Vec<String>>,
    vertices: Option<usize>,
    levels: usize,
    smoothing: f64,
    reach: f64,
    icp: usize,
    chain: bool,
    progress: Option<Bound<'py, PyAny>>,
) -> Result<(Clip, Clip, Vec<Bound<'py, PyDict>>), Failure> {
    let names = names.unwrap_or_else(|| (0..scans.len()).map(|k| format!("scan {k}")).collect());
    if names.len() != scans.len() {
        return Err(input_error(format!(
            "names has {} entries for {} scans; give one for each",
            names.len(),
            scans.len()
        )));
    }
    let mut all = Vec::new();
    for ((mesh, markers), name) in scans.into_iter().zip(names) {
        all.push(Scan {
            name,
            mesh: (*mesh.mesh).clone(),
            markers: marker_pairs(&markers)?,
        });
    }
    let mut options = ScanOptions::default()
        .with_levels(levels)
        .with_smoothing(smoothing)
        .with_reach(reach)
        .with_icp(icp)
        .with_chain(chain);
    if let Some(vertices) = vertices {
        options = options.with_vertices(vertices);
    }

    let reference = Arc::clone(&reference.mesh);
    let registered = run_long(py, progress, move |progress| {
        Ok(ScanRegistration::of(&reference, &all, &options, progress)?)
    })?;
    let mut reports = Vec::new();
    for scan in &registered.reports {
        let report = PyDict::new(py);
        report.set_item("name", &scan.name)?;
        report.set_item("rigid", scan.rigid)?;
        report.set_item("markers", scan.markers)?;
        report.set_item("mean_before", scan.before.mean)?;
        report.set_item("mean_after", scan.after.mean)?;
        report.set_item("max_after", scan.after.max)?;
        report.set_item("missed", scan.missed)?;
        report.set_item("flipped", scan.flipped_high)?;
        reports.push(report);
    }
    Ok((Clip::of(registered.low), Clip::of(registered.high), reports))
}
