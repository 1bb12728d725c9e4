//! Soft patches: step by step, or as a clip.

use std::sync::{Arc, Mutex};

use numpy::{IntoPyArray, PyArray1, PyArray2};
use pliant::mesh::VertexId;
use pliant::physics::{
    Collider, ObstacleMotion, SoftMaterial, SoftPatch, TouchCollider, TouchEnding, TouchFrame,
    TouchJob, TouchMethod, TouchOptions, VerletOptions,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::blend::pulls as read_pulls;
use super::obstacle::{Obstacle, rigid_motion};
use crate::arrays::{self, index_array, points_array};
use crate::clip::Clip;
use crate::failure::{Failure, input_error};
use crate::mesh::Mesh;
use crate::report::{choice, from_python};
use crate::work::{lock, run, run_long};

/// Soft patches of a mesh, simulated step by step.
///
/// >>> head = pliant.load("specimen:head").mesh()
/// >>> x, y, z = head.positions[2134] + [0.6, 0, 0.6]
/// >>> ball = pliant.Obstacle.sphere([0, 0, 0], 1.0)
/// >>> touch = pliant.Touch(head, [(2134, 4.0)], colliders=[ball])
/// >>> report = touch.step(1 / 60, colliders=[[[1, 0, 0, x], [0, 1, 0, y], [0, 0, 1, z], [0, 0, 0, 1]]])
/// >>> report["max_displacement"] > 0
/// True
#[pyclass(frozen, module = "pliant")]
pub(crate) struct Touch {
    touch: Mutex<pliant::physics::Touch>,
}

/// Patches as pairs of a vertex and a radius.
fn patches(patches: &Bound<'_, PyAny>) -> Result<Vec<SoftPatch>, Failure> {
    let wrong = |entry: &str| {
        input_error(format!(
            "patches: {entry}give pairs of a vertex and a radius, as in [(1204, 0.03)]"
        ))
    };
    let mut found = Vec::new();
    for patch in patches.try_iter().map_err(|_| wrong(""))? {
        let patch = patch?;
        let Ok((vertex, radius)) = patch.extract::<(u32, f64)>() else {
            return Err(wrong(&format!(
                "entry {} is {}; ",
                found.len(),
                patch.repr()?
            )));
        };
        found.push(SoftPatch {
            center: VertexId::new(vertex),
            radius,
        });
    }
    Ok(found)
}

/// Options that a touch and a clip share, from keywords.
fn touch_options(
    method: &str,
    material: Option<&Bound<'_, PyAny>>,
    substeps: Option<usize>,
    gravity: Option<&Bound<'_, PyAny>>,
    inertia: f64,
    pins: Option<&Bound<'_, PyAny>>,
    skin_contact: bool,
) -> Result<TouchOptions, Failure> {
    let methods = [
        ("xpbd", TouchMethod::Xpbd),
        ("verlet", TouchMethod::Verlet(VerletOptions::default())),
    ];
    let mut options = TouchOptions::default()
        .with_method(choice("method", method, &methods)?)
        .with_inertia(inertia)
        .with_skin_contact(skin_contact);
    if let Some(material) = material {
        options = options.with_material(from_python::<SoftMaterial>("material", material)?);
    }
    if let Some(substeps) = substeps {
        options = options.with_substeps(substeps);
    }
    if let Some(gravity) = gravity {
        options = options.with_gravity(arrays::point("gravity", gravity)?);
    }
    if let Some(pins) = pins {
        let pins = arrays::indices("pins", pins)?;
        options = options.with_pins(pins.into_iter().map(|pin| pin as usize).collect());
    }
    Ok(options)
}

#[pymethods]
impl Touch {
    #[new]
    #[pyo3(signature = (mesh, patches, *, colliders=Vec::new(), friction=0.3, method="xpbd", material=None, substeps=None, gravity=None, inertia=0.0, pins=None, skin_contact=false))]
    #[expect(
        clippy::too_many_arguments,
        reason = "options are keywords of one call"
    )]
    fn new(
        py: Python<'_>,
        mesh: &Mesh,
        patches: &Bound<'_, PyAny>,
        colliders: Vec<Obstacle>,
        friction: f64,
        method: &str,
        material: Option<&Bound<'_, PyAny>>,
        substeps: Option<usize>,
        gravity: Option<&Bound<'_, PyAny>>,
        inertia: f64,
        pins: Option<&Bound<'_, PyAny>>,
        skin_contact: bool,
    ) -> Result<Self, Failure> {
        let patches = self::patches(patches)?;
        let options = touch_options(
            method,
            material,
            substeps,
            gravity,
            inertia,
            pins,
            skin_contact,
        )?;
        let touch = run(py, || {
            let mut touch = pliant::physics::Touch::new(&mesh.mesh, &patches, &options)?;
            for collider in colliders {
                touch.add_collider(Collider::new(collider.obstacle, friction)?)?;
            }
            Ok(touch)
        })?;
        Ok(Self {
            touch: Mutex::new(touch),
        })
    }

    /// The soft vertices.
    #[getter]
    fn vertices<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray1<i64>>, Failure> {
        let vertices = run(py, || Ok(lock(&self.touch)?.region().vertices().to_vec()))?;
        Ok(index_array(py, vertices))
    }

    /// How soft they are, from 0 at the rim of a patch.
    #[getter]
    fn softness<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray1<f64>>, Failure> {
        let softness = run(py, || Ok(lock(&self.touch)?.region().softness().to_vec()))?;
        Ok(softness.into_pyarray(py))
    }

    /// The positions of the whole mesh, (n, 3).
    #[getter]
    fn positions<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray2<f64>>, Failure> {
        let positions = run(py, || Ok(lock(&self.touch)?.positions().to_vec()))?;
        points_array(py, positions)
    }

    /// The next frame: the animated shape, a 4 × 4 matrix for each collider, and where soft vertices
    /// are pulled to.
    #[pyo3(signature = (secs, *, shape=None, colliders=None, pulls=None))]
    fn step<'py>(
        &self,
        py: Python<'py>,
        secs: f64,
        shape: Option<&Bound<'py, PyAny>>,
        colliders: Option<&Bound<'py, PyAny>>,
        pulls: Option<&Bound<'py, PyAny>>,
    ) -> Result<Bound<'py, PyDict>, Failure> {
        let shape = shape
            .map(|shape| arrays::points("shape", shape))
            .transpose()?;
        let shape = shape.as_ref().map(arrays::Points::as_slice);
        let mut motions = Vec::new();
        if let Some(colliders) = colliders {
            for (k, motion) in colliders.try_iter()?.enumerate() {
                let what = format!("collider {k}");
                motions.push(rigid_motion(
                    &what,
                    &arrays::rows(&what, &motion?)?.concat(),
                )?);
            }
        }
        let pulls = match pulls {
            Some(pulls) => read_pulls("pulls", pulls)?,
            None => Vec::new(),
        };

        let report = run(py, || {
            let frame = TouchFrame {
                shape,
                colliders: &motions,
                pulls: &pulls,
                secs,
            };
            Ok(lock(&self.touch)?.step(&frame)?)
        })?;
        let found = PyDict::new(py);
        found.set_item("substeps", report.substeps)?;
        found.set_item("contacts", report.contacts)?;
        found.set_item("face_contacts", report.face_contacts)?;
        found.set_item("max_penetration", report.max_penetration)?;
        found.set_item("max_face_penetration", report.max_face_penetration)?;
        found.set_item("max_strain", report.max_strain)?;
        found.set_item("max_displacement", report.max_displacement)?;
        Ok(found)
    }
}

/// A touch from the first frame to the last, with colliders and pulls that move out and back.
///
/// >>> head = pliant.load("specimen:head").mesh()
/// >>> clip = pliant.touch_clip(head, [(2134, 2.0)], pulls={2134: [0, 0, 0.5]}, frames=3)
/// >>> len(clip), bool((clip.frames[1][2134] - head.positions[2134])[2] > 0.3)
/// (3, True)
#[pyfunction]
#[pyo3(signature = (mesh, patches, *, colliders=Vec::new(), pulls=None, animation=None, ending="return", frames=None, settle_secs=0.0, frames_per_second=TouchJob::DEFAULT_FPS, friction=0.3, method="xpbd", material=None, substeps=None, gravity=None, inertia=0.0, pins=None, skin_contact=false, progress=None))]
#[expect(
    clippy::too_many_arguments,
    reason = "options are keywords of one call"
)]
pub(crate) fn touch_clip(
    py: Python<'_>,
    mesh: &Mesh,
    patches: &Bound<'_, PyAny>,
    colliders: Vec<(Obstacle, [f64; 3])>,
    pulls: Option<&Bound<'_, PyAny>>,
    animation: Option<Clip>,
    ending: &str,
    frames: Option<usize>,
    settle_secs: f64,
    frames_per_second: f64,
    friction: f64,
    method: &str,
    material: Option<&Bound<'_, PyAny>>,
    substeps: Option<usize>,
    gravity: Option<&Bound<'_, PyAny>>,
    inertia: f64,
    pins: Option<&Bound<'_, PyAny>>,
    skin_contact: bool,
    progress: Option<Bound<'_, PyAny>>,
) -> Result<Clip, Failure> {
    let patches = self::patches(patches)?;
    let endings = [
        ("return", TouchEnding::Return),
        ("hold", TouchEnding::Hold),
        ("release", TouchEnding::Release),
    ];
    let pulls = match pulls {
        Some(pulls) => read_pulls("pulls", pulls)?,
        None => Vec::new(),
    };
    if !(frames_per_second.is_finite() && frames_per_second > 0.0) {
        return Err(input_error(format!(
            "frames_per_second is {frames_per_second}; give a number above 0"
        )));
    }
    if !(settle_secs.is_finite() && settle_secs >= 0.0) {
        return Err(input_error(format!(
            "settle_secs is {settle_secs}; give a number from 0"
        )));
    }
    let ending = choice("ending", ending, &endings)?;
    let options = touch_options(
        method,
        material,
        substeps,
        gravity,
        inertia,
        pins,
        skin_contact,
    )?;

    let mesh = Arc::clone(&mesh.mesh);
    let clip = run_long(py, progress, move |progress| {
        let mut moving = Vec::new();
        for (obstacle, displacement) in colliders {
            moving.push(TouchCollider {
                collider: Collider::new(obstacle.obstacle, friction)?,
                motion: ObstacleMotion::still(),
                motion_secs: 0.0,
                displacement: displacement.into(),
                timing: None,
                rides_on: None,
            });
        }
        let job = TouchJob {
            animation: animation.map(|clip| (*clip.clip).clone()),
            colliders: moving,
            pulls,
            ending,
            options,
            frames,
            settle_secs,
            fps: frames_per_second,
            ..TouchJob::new((*mesh).clone(), patches)
        };
        let touched = job.run(progress)?;
        let clip = pliant::rig::Clip::new("touch", (*mesh).clone(), touched.frames)?;
        Ok(clip.with_frames_per_second(frames_per_second))
    })?;
    Ok(Clip::of(clip))
}
