//! Pictures as arrays.

use std::sync::Arc;

use numpy::{IntoPyArray, PyArray3, PyArray4, PyArrayMethods};
use pliant::pictures::materials;
use pliant::view::{Image, Look, Shot, View, to_apng};
use pyo3::prelude::*;

use crate::arrays;
use crate::asset::Asset;
use crate::failure::{Failure, input_error};
use crate::mesh::Mesh;
use crate::rig::Rig;
use crate::work::{run, run_unwatched};

/// A picture of an asset, rig, mesh: (height, width, 3), uint8.
///
/// An asset shows its materials and textures, unless `clay` is set. `weights` sets the sliders of an asset or a rig.
/// `values` gives one number for each vertex, face or triangle, shown as colours with isolines `isolines` apart. `rest`
/// is the mesh that the camera frames.
///
/// >>> pliant.render(pliant.load("specimen:bar:coarse").mesh(), size=(64, 48)).shape
/// (48, 64, 3)
#[pyfunction]
#[pyo3(signature = (content, *, view="three-quarter", size=(640, 480), weights=None, wire=false, flat=false, clay=false, values=None, title="", value_range=None, isolines=None, rest=None))]
#[expect(
    clippy::too_many_arguments,
    reason = "options are keywords of one call"
)]
pub(crate) fn render<'py>(
    py: Python<'py>,
    content: &Bound<'py, PyAny>,
    view: &str,
    size: (usize, usize),
    weights: Option<&Bound<'py, PyAny>>,
    wire: bool,
    flat: bool,
    clay: bool,
    values: Option<&Bound<'py, PyAny>>,
    title: &str,
    value_range: Option<(f64, f64)>,
    isolines: Option<f64>,
    rest: Option<&Mesh>,
) -> Result<Bound<'py, PyArray3<u8>>, Failure> {
    let shot = shot(view, size)?;
    let shown = Shown::of(py, content, weights)?;
    let mut look = Look::default().with_wire(wire).with_flat(flat);
    if let Some(values) = values {
        look = look.with_scalar(arrays::numbers("values", values)?, title);
    }
    if let Some((low, high)) = value_range {
        look = look.with_range(low, high);
    }
    if let Some(step) = isolines {
        if !(step > 0.0 && step.is_finite()) {
            return Err(input_error(format!(
                "isolines is {step}; give their distance, a number above 0"
            )));
        }
        look = look.with_isolines(isolines);
    }

    let plain = clay || values.is_some();
    let image = run(py, || {
        let look = shown.dressed(look, plain);
        Ok(match rest {
            Some(rest) => shot.of_pose(&shown.mesh, &rest.mesh, &look)?,
            None => shot.of(&shown.mesh, &look)?,
        })
    })?;
    let [width, height] = image.size();
    Ok(images_array(py, &[image])?.reshape([height, width, 3])?)
}

/// A full rotation about the vertical axis: (frames, height, width, 3), uint8, for `save_picture`.
///
/// >>> bar = pliant.load("specimen:bar:coarse")
/// >>> pliant.turntable(bar, frames=3, size=(64, 48)).shape
/// (3, 48, 64, 3)
#[pyfunction]
#[pyo3(signature = (content, *, frames=36, view="three-quarter", size=(640, 480), weights=None, wire=false, flat=false, clay=false))]
#[expect(
    clippy::too_many_arguments,
    reason = "options are keywords of one call"
)]
pub(crate) fn turntable<'py>(
    py: Python<'py>,
    content: &Bound<'py, PyAny>,
    frames: usize,
    view: &str,
    size: (usize, usize),
    weights: Option<&Bound<'py, PyAny>>,
    wire: bool,
    flat: bool,
    clay: bool,
) -> Result<Bound<'py, PyArray4<u8>>, Failure> {
    if frames == 0 {
        return Err(input_error("frames is 0; give at least 1"));
    }
    let shot = shot(view, size)?;
    let shown = Shown::of(py, content, weights)?;
    let images = run_unwatched(py, move || {
        let look = shown.dressed(Look::default().with_wire(wire).with_flat(flat), clay);
        Ok(shot.turntable(&shown.mesh, &look, frames)?)
    })?;
    images_array(py, &images)
}

fn shot(view: &str, size: (usize, usize)) -> Result<Shot, Failure> {
    let Some(view) = View::from_name(view) else {
        return Err(input_error(format!(
            "view is '{view}'; give front, back, side, three-quarter or top"
        )));
    };
    Ok(Shot::new(view, [size.0, size.1]))
}

/// A mesh to draw, and the asset that has its materials.
struct Shown {
    mesh: Arc<pliant::mesh::Mesh>,
    asset: Option<Arc<pliant::io::Asset>>,
}

impl Shown {
    fn of(
        py: Python<'_>,
        content: &Bound<'_, PyAny>,
        weights: Option<&Bound<'_, PyAny>>,
    ) -> Result<Self, Failure> {
        let posed = |rig: &Rig, weights: &Bound<'_, PyAny>| {
            let weights = rig.weights(weights)?;
            let neutral = rig.rig.neutral();
            run(py, || {
                Ok(Arc::new(neutral.posed(rig.rig.evaluate(&weights))?))
            })
        };

        if let Ok(asset) = content.cast::<Asset>() {
            let asset = Arc::clone(&asset.get().asset);
            let mesh = match weights {
                Some(weights) => {
                    let rig = run(py, || {
                        let rig = asset.rig()?;
                        Ok(Rig::of(asset.rest_pose().rig(&rig)?))
                    })?;
                    posed(&rig, weights)?
                }
                None => Arc::new(run(py, || Ok(asset.resting_mesh()?))?),
            };
            let asset = Some(asset);
            return Ok(Self { mesh, asset });
        }
        if let Ok(rig) = content.cast::<Rig>() {
            let rig = rig.get();
            let mesh = match weights {
                Some(weights) => posed(rig, weights)?,
                None => Arc::new(rig.rig.neutral().clone()),
            };
            return Ok(Self { mesh, asset: None });
        }

        let Ok(mesh) = content.cast::<Mesh>() else {
            let kind = content.get_type().qualname()?;
            return Err(input_error(format!(
                "{kind} has no picture; give an Asset, Rig or Mesh"
            )));
        };
        if weights.is_some() {
            return Err(input_error("a mesh has no sliders; give weights to a Rig"));
        }
        Ok(Self {
            mesh: Arc::clone(&mesh.get().mesh),
            asset: None,
        })
    }

    /// The look with the materials of the asset, unless it is plain.
    fn dressed(&self, look: Look, plain: bool) -> Look {
        match &self.asset {
            Some(asset) if !plain => look.with_materials(materials(asset, &self.mesh).0),
            _ => look,
        }
    }
}

/// Pictures of one size as an array.
fn images_array<'py>(
    py: Python<'py>,
    images: &[Image],
) -> Result<Bound<'py, PyArray4<u8>>, Failure> {
    let [width, height] = images.first().map_or([0, 0], Image::size);
    let pixels = images.iter().flat_map(|image| image.pixels().iter());
    let bytes: Vec<u8> = pixels.flatten().copied().collect();
    Ok(bytes
        .into_pyarray(py)
        .reshape([images.len(), height, width, 3])?)
}

/// Writes a picture (height, width, 3) of uint8 as PNG, or frames (f, height, width, 3) as an animated PNG, which
/// browsers play.
///
/// >>> import tempfile, pathlib
/// >>> picture = pliant.render(pliant.load("specimen:bar").mesh(), size=(64, 48))
/// >>> with tempfile.TemporaryDirectory() as folder:
/// ...     pliant.save_picture(pathlib.Path(folder) / "bar.png", picture)
/// ...     (pathlib.Path(folder) / "bar.png").read_bytes()[1:4]
/// b'PNG'
#[pyfunction]
#[pyo3(signature = (path, picture, *, frames_per_second=24.0))]
pub(crate) fn save_picture(
    py: Python<'_>,
    path: &Bound<'_, PyAny>,
    picture: &Bound<'_, PyAny>,
    frames_per_second: f64,
) -> Result<(), Failure> {
    let path = arrays::locator(path)?;
    let (shape, bytes) = arrays::bytes("picture", picture)?;
    let (frames, height, width) = match shape[..] {
        [height, width, 3] => (None, height, width),
        [frames, height, width, 3] => (Some(frames), height, width),
        _ => {
            return Err(input_error(format!(
                "picture has shape {shape:?}; give (height, width, 3), or (frames, height, width, 3)"
            )));
        }
    };
    let millis = 1000.0 / frames_per_second;
    if !(millis >= 1.0 && millis <= f64::from(u16::MAX)) {
        return Err(input_error(format!(
            "frames_per_second is {frames_per_second}; give a number from 0.02 to 1000"
        )));
    }

    run(py, || {
        let mut images = Vec::new();
        for frame in bytes.chunks((height * width * 3).max(1)) {
            let pixels = frame.chunks_exact(3).map(|p| [p[0], p[1], p[2]]);
            images.push(Image::from_pixels([width, height], pixels.collect())?);
        }
        let file = match (frames, &images[..]) {
            (None, [image]) => image.to_png()?,
            _ => to_apng(&images, millis.round() as u16)?,
        };
        Ok(pliant::io::write_files(&[(path.into(), file)])?)
    })
}
