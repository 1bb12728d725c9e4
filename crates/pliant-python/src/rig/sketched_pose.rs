//! Strokes on a face: a line drawn on the screen becomes pins on the pose so far.

use std::sync::{Arc, Mutex};

use numpy::{PyArray1, PyArray2};
use pliant::rig::{
    Bounded, EarlierStrokes, FaceFeatures, Feature, HorizontalFrame, MostProbable, PinDepth,
    PinPlace, PoseSolver, Range, SideStretch, SketchOptions, SketchSurface, SliderPairs,
    VertexMirror,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::Rig;
use super::pin::Pin;
use super::poser::Pose;
use super::prior::PosePrior;
use crate::arrays::{self, index_array, points_array};
use crate::failure::{Failure, input_error};
use crate::report::{choice, from_python};
use crate::work::{lock, run};

/// A camera: where it is, what it looks at, and its picture of `size` (width, height) in pixels. Pixels
/// count from the upper left corner.
///
/// >>> camera = pliant.SketchCamera([0, 0, 5], [0, 0, 0], fov_y_degrees=90, size=(200, 100))
/// >>> camera.project([0, 0, 0])
/// (100.0, 50.0)
#[pyclass(frozen, module = "pliant", from_py_object)]
#[derive(Clone)]
pub(crate) struct SketchCamera {
    camera: pliant::rig::SketchCamera,
}

#[pymethods]
impl SketchCamera {
    #[new]
    #[pyo3(signature = (eye, target, *, up=None, fov_y_degrees=30.0, size=(640, 480)))]
    fn new(
        eye: &Bound<'_, PyAny>,
        target: &Bound<'_, PyAny>,
        up: Option<&Bound<'_, PyAny>>,
        fov_y_degrees: f64,
        size: (u32, u32),
    ) -> Result<Self, Failure> {
        let up = match up {
            Some(up) => arrays::point("up", up)?,
            None => pliant::mesh::glam::DVec3::Y,
        };
        let camera = pliant::rig::SketchCamera {
            eye: arrays::point("eye", eye)?,
            target: arrays::point("target", target)?,
            up,
            fov_y_degrees,
            width: size.0,
            height: size.1,
        };
        camera.check()?;
        Ok(Self { camera })
    }

    /// The pixel of a point, (x, y), or `None` for a point behind the camera.
    fn project(&self, point: &Bound<'_, PyAny>) -> Result<Option<(f64, f64)>, Failure> {
        let point = arrays::point("point", point)?;
        Ok(self.camera.project(point).map(|[x, y]| (x, y)))
    }

    /// Origin and unit direction of the ray through a pixel (x, y).
    fn ray(&self, pixel: (f64, f64)) -> ([f64; 3], [f64; 3]) {
        let (origin, direction) = self.camera.ray([pixel.0, pixel.1]);
        (origin.to_array(), direction.to_array())
    }

    /// A pin that is bound in the plane of the picture only: a displacement to the right and up, in units
    /// of the asset.
    fn pin(&self, vertex: u32, displacement: (f64, f64)) -> Pin {
        let vertex = pliant::mesh::VertexId::new(vertex);
        Pin {
            pin: self
                .camera
                .view_pin(vertex, [displacement.0, displacement.1]),
        }
    }

    fn __repr__(&self) -> String {
        let [x, y, z] = self.camera.eye.to_array();
        format!(
            "<pliant.SketchCamera at ({x}, {y}, {z}), {} × {} pixels>",
            self.camera.width, self.camera.height
        )
    }
}

/// A pose that is drawn stroke by stroke, from weights or from rest. With `symmetric`, each stroke is
/// also drawn on the other side; with a `prior`, the most probable pose follows the strokes.
///
/// >>> rig = pliant.load("specimen:head").rig()
/// >>> middle = rig.positions.mean(axis=0)
/// >>> camera = pliant.SketchCamera(middle + [0, 0, 60], middle, size=(800, 600))
/// >>> x, y = camera.project(rig.positions[4480])
/// >>> sketch = pliant.SketchedPose(rig, symmetric=True)
/// >>> drawn = sketch.draw([[x + 12 * k, y - 0.8 * k * k] for k in range(-3, 4)], camera)
/// >>> drawn["feature"], bool(sketch.weights.max() > 0.1)
/// ('lip', True)
#[pyclass(frozen, module = "pliant")]
pub(crate) struct SketchedPose {
    pose: Mutex<pliant::rig::SketchedPose>,
    rig: Rig,
    features: FaceFeatures,
    mirror: Option<VertexMirror>,
}

const FEATURES: [(&str, Feature); 6] = [
    ("brow", Feature::Brow),
    ("lid", Feature::Lid),
    ("lip", Feature::Lip),
    ("jaw", Feature::Jaw),
    ("cheek", Feature::Cheek),
    ("nose", Feature::Nose),
];

#[pymethods]
impl SketchedPose {
    #[new]
    #[pyo3(signature = (rig, weights=None, *, symmetric=false, hold_earlier=true, prior=None))]
    fn new(
        py: Python<'_>,
        rig: &Rig,
        weights: Option<&Bound<'_, PyAny>>,
        symmetric: bool,
        hold_earlier: bool,
        prior: Option<&PosePrior>,
    ) -> Result<Self, Failure> {
        let weights = match weights {
            Some(weights) => rig.weights(weights)?,
            None => vec![0.0; rig.rig.sliders().len()],
        };
        let earlier = if hold_earlier {
            EarlierStrokes::Held
        } else {
            EarlierStrokes::Released
        };

        let (pose, features, mirror) = run(py, || {
            rig.rig.neutral().require_surface()?;
            let mirror = symmetric.then(|| rig.vertex_mirror()).transpose()?;
            let solver: Arc<dyn PoseSolver> = match prior {
                Some(prior) => Arc::new(MostProbable::new(prior.prior_for(&rig.rig)?)),
                None if symmetric => {
                    let partners = SliderPairs::by_name(&rig.names()).partners().to_vec();
                    Arc::new(Bounded::default().with_symmetry(partners, 1.0))
                }
                None => Arc::new(Bounded::default()),
            };
            let poser = pliant::rig::Poser::new(&rig.rig)?;
            let pose = pliant::rig::SketchedPose::new(&poser, weights, solver, Range::Clip);
            let features = FaceFeatures::of(&rig.rig);
            Ok((pose.with_earlier(earlier), features, mirror))
        })?;
        Ok(Self {
            pose: Mutex::new(pose),
            rig: rig.clone(),
            features,
            mirror,
        })
    }

    /// Draws a stroke of pixels (k, 2) on the pose so far, seen by a camera (a `SketchCamera`, or a dictionary of
    /// `eye`, `target`, `up`, `fov_y_degrees`, `width` and `height`), and returns what was understood: `feature`,
    /// `ends`, `radius`, `central_angle_rad`, `cut`.
    ///
    /// The middle of the stroke follows its bow; its ends are pulled against the bow, or with it where the
    /// sliders cannot follow. Only sliders of the `feature` that the stroke is on follow it.
    #[pyo3(signature = (stroke, camera, *, feature="auto", ends="auto", depth="free", place="vertex", middle_scale=SketchOptions::DEFAULT_MIDDLE_SCALE, side_scale=SketchOptions::DEFAULT_SIDE_SCALE, frame="curve"))]
    #[expect(
        clippy::too_many_arguments,
        reason = "options are keywords of one call"
    )]
    fn draw<'py>(
        &self,
        py: Python<'py>,
        stroke: &Bound<'py, PyAny>,
        camera: &Bound<'py, PyAny>,
        feature: &str,
        ends: &str,
        depth: &str,
        place: &str,
        middle_scale: f64,
        side_scale: f64,
        frame: &str,
    ) -> Result<Bound<'py, PyDict>, Failure> {
        let points = pixels(stroke)?;
        let camera = match camera.cast::<SketchCamera>() {
            Ok(camera) => camera.get().camera,
            Err(_) => from_python("camera", camera)?,
        };
        let all = [
            (SideStretch::Tangent, "against"),
            (SideStretch::Bow, "with"),
        ];
        let readings = match ends {
            "auto" => &all[..],
            "against" => &all[..1],
            "with" => &all[1..],
            other => {
                return Err(input_error(format!(
                    "ends is '{other}'; give one of 'auto', 'against', 'with'"
                )));
            }
        };
        let depth = choice(
            "depth",
            depth,
            &[("free", PinDepth::Free), ("plane", PinDepth::Plane)],
        )?;
        let place = choice(
            "place",
            place,
            &[("vertex", PinPlace::Vertex), ("surface", PinPlace::Surface)],
        )?;
        let frame = choice(
            "frame",
            frame,
            &[
                ("curve", HorizontalFrame::Curve),
                ("world", HorizontalFrame::World),
            ],
        )?;
        let named = match feature {
            "auto" | "any" => None,
            name => Some(choice("feature", name, &FEATURES)?),
        };

        let rig = &self.rig.rig;
        let drawn = run(py, || {
            let mut face = lock(&self.pose)?;
            let positions = face.positions();
            let surface = SketchSurface::of_rig(rig, &positions)?;
            let mut sketches = Vec::new();
            let mut pins = Vec::new();
            for (stretch, _) in readings {
                let options = SketchOptions::default()
                    .with_middle_scale(middle_scale)
                    .with_side_scale(side_scale)
                    .with_side_stretch(*stretch)
                    .with_depth(depth)
                    .with_frame(frame)
                    .with_pin_place(place);
                let sketch = surface.sketch(&camera, &points, &options)?;
                pins.push(match &self.mirror {
                    Some(mirror) => mirror.mirror_pins(rig.neutral(), &positions, &sketch.pins)?,
                    None => sketch.pins.clone(),
                });
                sketches.push(sketch);
            }

            let followed = match (feature, named) {
                ("auto", _) => self.features.at_curve(rig, &sketches[0].curve)?,
                (_, named) => named,
            };
            let followers = followed.map(|feature| self.features.followers(feature));
            let stretches = match ends {
                "auto" => Feature::side_stretches(followed),
                _ => &[],
            };
            let mut order: Vec<usize> = stretches
                .iter()
                .filter_map(|stretch| readings.iter().position(|(of, _)| of == stretch))
                .collect();
            if order.is_empty() {
                order = (0..readings.len()).collect();
            }
            let ordered: Vec<_> = order.iter().map(|&k| pins[k].clone()).collect();
            let taken = order[face.draw_on(&ordered, followers.as_deref())?];
            Ok((sketches.swap_remove(taken), followed, readings[taken].1))
        })?;

        let (sketch, followed, ends) = drawn;
        let report = PyDict::new(py);
        report.set_item("feature", followed.map(Feature::name))?;
        report.set_item("ends", ends)?;
        report.set_item("radius", sketch.radius)?;
        report.set_item("central_angle_rad", sketch.central_angle_rad)?;
        report.set_item("middle_ordinate", sketch.middle_ordinate)?;
        report.set_item("cut", sketch.cut.is_some())?;
        Ok(report)
    }

    /// The weights so far, (s,).
    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray1<f64>>, Failure> {
        let weights = lock(&self.pose)?.weights().to_vec();
        Ok(numpy::IntoPyArray::into_pyarray(weights, py))
    }

    /// The positions of the pose so far, (n, 3), on which the next stroke is drawn.
    #[getter]
    fn positions<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray2<f64>>, Failure> {
        let positions = run(py, || Ok(lock(&self.pose)?.positions()))?;
        points_array(py, positions)
    }

    /// All strokes as one pose, with the stroke of each pin, (p,), counted from 0.
    fn finish<'py>(&self, py: Python<'py>) -> Result<(Pose, Bound<'py, PyArray1<i64>>), Failure> {
        let drag = run(py, || Ok(lock(&self.pose)?.finish()?))?;
        let strokes = index_array(py, drag.strokes.iter().map(|&stroke| stroke as u32));
        Ok((Pose::of(drag.pose, self.rig.clone()), strokes))
    }

    fn __repr__(&self) -> String {
        format!(
            "<pliant.SketchedPose: {} sliders>",
            self.rig.rig.sliders().len()
        )
    }
}

/// Pixels as rows of an array.
fn pixels(stroke: &Bound<'_, PyAny>) -> Result<Vec<[f64; 2]>, Failure> {
    let rows = arrays::rows("stroke", stroke)?;
    let pixel = |row: &Vec<f64>| match row[..] {
        [x, y] if x.is_finite() && y.is_finite() => Ok([x, y]),
        _ => Err(input_error(
            "stroke: give k × 2 finite numbers, pixels from the upper left corner",
        )),
    };
    rows.iter().map(pixel).collect()
}
