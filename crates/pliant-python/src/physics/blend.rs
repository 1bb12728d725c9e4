//! Shapes between shapes, as equilibria of springs, also among obstacles.

use std::sync::{Arc, Mutex};

use pliant::physics::{BlendClip, SceneBlend, WeightPath};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::blend_frame::BlendFrame;
use super::obstacle::Obstacle;
use super::scene_keywords::{Amount, SceneKeywords};
use crate::arrays;
use crate::clip::Clip;
use crate::failure::{Failure, input_error};
use crate::mesh::Mesh;
use crate::work::{lock, run, run_long};

/// Shapes between poses of one mesh, as equilibria of springs: rotating parts keep their size.
///
/// >>> straight = pliant.load("specimen:bar:coarse").mesh()
/// >>> bent = pliant.load("specimen:bar:coarse#bend@24").mesh()
/// >>> half = pliant.Blend([straight, bent]).at([0.5, 0.5])
/// >>> half.converged, round(half.volume / straight.signed_volume(), 2)
/// (True, 1.0)
#[pyclass(frozen, module = "pliant")]
pub(crate) struct Blend {
    scene: Arc<Mutex<SceneBlend>>,
    reference: Mesh,
    shapes: usize,
}

/// Vertices and where they are pulled to, from a dictionary.
pub(crate) fn pulls(
    what: &str,
    pulls: &Bound<'_, PyAny>,
) -> Result<Vec<(usize, pliant::mesh::glam::DVec3)>, Failure> {
    let Ok(pulls) = pulls.cast::<PyDict>() else {
        return Err(input_error(format!(
            "{what}: give a dictionary from vertices to three numbers"
        )));
    };
    let mut found = Vec::new();
    for (vertex, to) in pulls {
        let Ok(vertex) = vertex.extract::<usize>() else {
            return Err(input_error(format!(
                "{what}: {} is no vertex index from 0",
                vertex.repr()?
            )));
        };
        found.push((
            vertex,
            arrays::point(&format!("{what}: vertex {vertex}"), &to)?,
        ));
    }
    Ok(found)
}

fn vertex_list(what: &str, vertices: Option<&Bound<'_, PyAny>>) -> Result<Vec<usize>, Failure> {
    match vertices {
        Some(vertices) => Ok(arrays::indices(what, vertices)?
            .into_iter()
            .map(|v| v as usize)
            .collect()),
        None => Ok(Vec::new()),
    }
}

#[pymethods]
impl Blend {
    #[new]
    #[pyo3(signature = (shapes, *, solver="fast", energy="springs", interior=Amount::Auto, cage=Amount::Auto, anchor=None, fixed=None, pulls=None, stiffness=None, obstacles=Vec::new(), friction=0.0, self_contact=false, contact="active-set", progress=None))]
    #[expect(
        clippy::too_many_arguments,
        reason = "options are keywords of one call"
    )]
    fn new(
        py: Python<'_>,
        shapes: Vec<Mesh>,
        solver: &str,
        energy: &str,
        interior: Amount,
        cage: Amount,
        anchor: Option<&Bound<'_, PyAny>>,
        fixed: Option<&Bound<'_, PyAny>>,
        pulls: Option<&Bound<'_, PyAny>>,
        stiffness: Option<&Bound<'_, PyAny>>,
        obstacles: Vec<Obstacle>,
        friction: f64,
        self_contact: bool,
        contact: &str,
        progress: Option<Bound<'_, PyAny>>,
    ) -> Result<Self, Failure> {
        let Some(reference) = shapes.first().cloned() else {
            return Err(input_error("shapes is empty; give poses of one mesh"));
        };

        let keywords = SceneKeywords {
            solver,
            energy,
            interior,
            cage,
            friction,
            self_contact,
            contact,
        };
        let mut blend = keywords
            .blend()?
            .with_anchor(vertex_list("anchor", anchor)?)
            .with_fixed(vertex_list("fixed", fixed)?);
        if let Some(pulls) = pulls {
            blend = blend.with_pulls(self::pulls("pulls", pulls)?);
        }
        if let Some(map) = stiffness {
            let count = reference.mesh.vertex_count();
            blend = blend.with_stiffness(arrays::numbers_for("stiffness", map, count, "vertices")?);
        }
        let options = keywords.scene(blend, obstacles)?;

        let count = shapes.len();
        let scene = run_long(py, progress, move |progress| {
            let shapes: Vec<_> = shapes.iter().map(|shape| (*shape.mesh).clone()).collect();
            Ok(SceneBlend::new_for_frames(&shapes, &options, 1, progress)?)
        })?;
        Ok(Self {
            scene: Arc::new(Mutex::new(scene)),
            reference,
            shapes: count,
        })
    }

    /// Warnings about the shapes, one sentence each.
    #[getter]
    fn warnings(&self, py: Python<'_>) -> Result<Vec<String>, Failure> {
        run(py, || Ok(lock(&self.scene)?.warnings().to_vec()))
    }

    /// The shape at weights that sum to one. `time` moves obstacles from 0 to 1.
    #[pyo3(signature = (weights, *, time=0.0))]
    fn at(
        &self,
        py: Python<'_>,
        weights: &Bound<'_, PyAny>,
        time: f64,
    ) -> Result<BlendFrame, Failure> {
        let weights = arrays::numbers_for("weights", weights, self.shapes, "shapes")?;
        let scene = Arc::clone(&self.scene);
        let frame = run_long(py, None, move |watch| {
            Ok(watch.lock(&scene)?.step(&weights, time)?)
        })?;
        Ok(BlendFrame { frame })
    }

    /// Frames at the weights of each row, or `steps` steps from the first shape through all others.
    #[pyo3(signature = (weights=None, *, steps=36, name="blend", frames_per_second=None, progress=None))]
    fn clip(
        &self,
        py: Python<'_>,
        weights: Option<&Bound<'_, PyAny>>,
        steps: u32,
        name: &str,
        frames_per_second: Option<f64>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> Result<Clip, Failure> {
        let rows = match weights {
            Some(weights) => arrays::rows_for("weights", weights, self.shapes, "shapes")?,
            None => WeightPath::OneWay {
                shapes: self.shapes,
                steps,
            }
            .frames()
            .collect(),
        };

        let scene = Arc::clone(&self.scene);
        let reference = Arc::clone(&self.reference.mesh);
        let name = name.to_owned();
        let clip = run_long(py, progress, move |watch| {
            let solved = BlendClip::at_weights(&mut *watch.lock(&scene)?, &rows, watch)?;
            let reference = (*reference).clone();
            Ok(pliant::rig::Clip::new(name, reference, solved.positions())?)
        })?;
        Ok(Clip::of(match frames_per_second {
            Some(fps) => clip.with_frames_per_second(fps),
            None => clip,
        }))
    }

    fn __repr__(&self) -> String {
        let vertices = self.reference.mesh.vertex_count();
        format!(
            "<pliant.Blend: {} shapes of {vertices} vertices>",
            self.shapes
        )
    }
}
