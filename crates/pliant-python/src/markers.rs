//! Marker pairs: suggested, mirrored and checked.

use std::sync::Arc;

use numpy::PyArray2;
use pliant::transfer::{MarkerSuggestions, Markers, check_markers, mirror_markers, symmetry_plane};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::rows_array;
use crate::failure::{Failure, input_error};
use crate::mesh::Mesh;
use crate::transfer::marker_pairs;
use crate::work::{run, run_long};

fn pair_array<'py>(
    py: Python<'py>,
    pairs: &[(u32, u32)],
) -> Result<Bound<'py, PyArray2<i64>>, Failure> {
    let rows: Vec<Vec<i64>> = pairs
        .iter()
        .map(|&(source, target)| vec![source.into(), target.into()])
        .collect();
    rows_array(py, &rows, 2)
}

fn given(markers: Option<&Bound<'_, PyAny>>) -> Result<Markers, Failure> {
    Ok(markers.map(marker_pairs).transpose()?.unwrap_or_default())
}

/// The next pairs of a source vertex and a target vertex that help a transfer most: (count, 2). The
/// target vertices are guesses; look at them before use.
///
/// >>> hound, tapir = pliant.load("specimen:hound").mesh(), pliant.load("specimen:tapir").mesh()
/// >>> pliant.suggest_markers(hound, tapir, count=2).shape
/// (2, 2)
#[pyfunction]
#[pyo3(signature = (source, target, *, markers=None, count=4, progress=None))]
pub(crate) fn suggest_markers<'py>(
    py: Python<'py>,
    source: &Mesh,
    target: &Mesh,
    markers: Option<&Bound<'py, PyAny>>,
    count: usize,
    progress: Option<Bound<'py, PyAny>>,
) -> Result<Bound<'py, PyArray2<i64>>, Failure> {
    let markers = given(markers)?;
    let [source, target] = [source, target].map(|mesh| Arc::clone(&mesh.mesh));
    let found = run_long(py, progress, move |progress| {
        Ok(MarkerSuggestions::find_with_progress(
            &source, &target, &markers, None, count, progress,
        )?)
    })?;
    let pairs: Vec<(u32, u32)> = found
        .suggestions
        .iter()
        .map(|suggestion| (suggestion.source, suggestion.target))
        .collect();
    pair_array(py, &pairs)
}

/// The pairs, each followed by its mirror image on symmetric meshes, and warnings.
///
/// >>> bar = pliant.load("specimen:bar:coarse").mesh()
/// >>> pairs, warnings = pliant.mirror_markers(bar, bar, [[0, 0]])
/// >>> pairs.shape[1]
/// 2
#[pyfunction]
#[pyo3(name = "mirror_markers", signature = (source, target, markers))]
pub(crate) fn mirrored_markers<'py>(
    py: Python<'py>,
    source: &Mesh,
    target: &Mesh,
    markers: &Bound<'py, PyAny>,
) -> Result<(Bound<'py, PyArray2<i64>>, Vec<String>), Failure> {
    let markers = marker_pairs(markers)?;
    let mirrored = run(py, || {
        let plane = |mesh: &pliant::mesh::Mesh, side: &str| {
            symmetry_plane(mesh).ok_or_else(|| {
                input_error(format!(
                    "the {side} is not symmetric enough to find its plane; set the pairs of both sides"
                ))
            })
        };
        let planes = [
            plane(&source.mesh, "source")?,
            plane(&target.mesh, "target")?,
        ];
        Ok(mirror_markers(
            &source.mesh,
            &target.mesh,
            &markers,
            planes,
        )?)
    })?;
    Ok((pair_array(py, mirrored.markers.pairs())?, mirrored.warnings))
}

/// What is wrong with each pair, and warnings about all: a dictionary of `pairs` and `warnings`.
///
/// >>> bar = pliant.load("specimen:bar:coarse").mesh()
/// >>> check = pliant.check_markers(bar, bar, [[0, 0], [0, 5]])
/// >>> len(check["pairs"]), check["pairs"][1]["wrong"]
/// (2, True)
#[pyfunction]
#[pyo3(name = "check_markers", signature = (source, target, markers))]
pub(crate) fn checked_markers<'py>(
    py: Python<'py>,
    source: &Mesh,
    target: &Mesh,
    markers: &Bound<'py, PyAny>,
) -> Result<Bound<'py, PyDict>, Failure> {
    let markers = marker_pairs(markers)?;
    let check = run(py, || {
        Ok(check_markers(&source.mesh, &target.mesh, &markers)?)
    })?;

    let mut pairs = Vec::new();
    for assessment in &check.assessments {
        let entry = PyDict::new(py);
        let flaws = assessment.flaws.iter();
        let messages: Vec<String> = flaws.clone().map(|flaw| flaw.message(&markers)).collect();
        let wrong = flaws.clone().any(pliant::transfer::MarkerFlaw::is_wrong);
        entry.set_item("deviation", assessment.deviation)?;
        entry.set_item("wrong", wrong)?;
        entry.set_item("flaws", flaws.map(|flaw| flaw.code()).collect::<Vec<_>>())?;
        entry.set_item("messages", messages)?;
        pairs.push(entry);
    }

    let mut warnings = check.warnings.clone();
    warnings.extend(check.error.as_ref().map(ToString::to_string));
    let found = PyDict::new(py);
    found.set_item("pairs", pairs)?;
    found.set_item("warnings", warnings)?;
    Ok(found)
}
