//! Files: what the command line opens and writes.

use std::sync::Arc;

use numpy::{IntoPyArray, PyArrayMethods};
use pliant::io::{LoadOptions, RepairKind, SaveReport, UpAxis};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{affine_rows, index_array, locator, rows_array};
use crate::clip::Clip;
use crate::failure::{Failure, input_error};
use crate::mesh::Mesh;
use crate::report::choice;
use crate::rig::Rig;
use crate::rig::performance::{self, Performance, Played};
use crate::work::{run, run_unwatched};

/// What a file holds: objects, targets, skins, clips, materials.
///
/// >>> asset = pliant.load("specimen:head")
/// >>> asset.target_names[:2], asset.meters_per_unit
/// (['eyeBlinkLeft', 'eyeBlinkRight'], 0.01)
#[pyclass(frozen, module = "pliant", from_py_object)]
#[derive(Clone)]
pub(crate) struct Asset {
    pub(crate) asset: Arc<pliant::io::Asset>,
}

impl Asset {
    pub(crate) fn of(asset: pliant::io::Asset) -> Self {
        Self {
            asset: Arc::new(asset),
        }
    }
}

/// Opens a file (`face.glb`), a part of it (`file#name`), a frame (`clip@12`), a folder of OBJ targets or a
/// built-in model (`specimen:head`).
///
/// >>> pliant.load("specimen:bar").mesh()
/// <pliant.Mesh: 2786 vertices, 2784 faces>
#[pyfunction]
#[pyo3(signature = (locator, *, neutral=None))]
pub(crate) fn load(
    py: Python<'_>,
    locator: &Bound<'_, PyAny>,
    neutral: Option<&str>,
) -> Result<Asset, Failure> {
    let locator = self::locator(locator)?;
    let neutral = neutral.map(str::to_owned);
    let asset = run_unwatched(py, move || {
        let mut options = LoadOptions::default().with_specimens(&pliant::BuiltIn);
        if let Some(neutral) = &neutral {
            options = options.with_neutral(neutral);
        }
        Ok(pliant::io::load(&locator, &options)?)
    })?;
    Ok(Asset::of(asset))
}

/// Writes an asset, rig, mesh or clip in the format of the path's ending. Returns what the format cannot
/// store, one sentence each.
///
/// >>> import tempfile, pathlib
/// >>> bar = pliant.load("specimen:bar:coarse").mesh()
/// >>> with tempfile.TemporaryDirectory() as folder:
/// ...     left_out = pliant.save(pathlib.Path(folder) / "bar.ply", bar)
/// ...     pliant.load(pathlib.Path(folder) / "bar.ply").mesh().vertex_count == bar.vertex_count
/// True
#[pyfunction]
pub(crate) fn save(
    py: Python<'_>,
    path: &Bound<'_, PyAny>,
    content: &Bound<'_, PyAny>,
) -> Result<Vec<String>, Failure> {
    let path = locator(path)?;
    let asset = asset_of(content)?;
    let report: SaveReport = run(py, || Ok(pliant::io::save(&asset, &path)?))?;
    Ok(report.left_out)
}

/// The names of the built-in models.
///
/// >>> "head" in pliant.specimens()
/// True
#[pyfunction]
pub(crate) fn specimens() -> Vec<&'static str> {
    pliant::specimens::names().to_vec()
}

/// The landmarks of a face, on a rig or on a mesh: a dictionary from names, such as `"mouth corner left"`,
/// to a vertex and a confidence from 0 (a guess) to 1.
///
/// >>> vertex, confidence = pliant.landmarks(pliant.load("specimen:head").rig())["mouth corner left"]
/// >>> vertex, confidence > 0.9
/// (4728, True)
#[pyfunction]
pub(crate) fn landmarks<'py>(
    py: Python<'py>,
    content: &Bound<'py, PyAny>,
) -> Result<Bound<'py, PyDict>, Failure> {
    let rig = if let Ok(rig) = content.cast::<Rig>() {
        Arc::clone(&rig.get().rig)
    } else if let Ok(mesh) = content.cast::<Mesh>() {
        let mesh = (*mesh.get().mesh).clone();
        Arc::new(pliant::rig::Rig::without_targets(mesh))
    } else {
        return Err(input_error("landmarks: give a Rig or a Mesh"));
    };
    let found = run_unwatched(py, move || Ok(pliant::landmarks::of_rig(&rig)?))?;
    let landmarks = PyDict::new(py);
    for found in found {
        landmarks.set_item(found.landmark.to_string(), (found.vertex, found.confidence))?;
    }
    Ok(landmarks)
}

fn asset_of(content: &Bound<'_, PyAny>) -> Result<Arc<pliant::io::Asset>, Failure> {
    if let Ok(asset) = content.cast::<Asset>() {
        return Ok(Arc::clone(&asset.get().asset));
    }
    let asset = if let Ok(rig) = content.cast::<Rig>() {
        pliant::io::Asset::from_rig((*rig.get().rig).clone())
    } else if let Ok(mesh) = content.cast::<Mesh>() {
        pliant::io::Asset::from_mesh((*mesh.get().mesh).clone())
    } else if let Ok(clip) = content.cast::<Clip>() {
        pliant::io::Asset::from_clip(&clip.get().clip)
    } else {
        let kind = content.get_type().qualname()?;
        return Err(input_error(format!(
            "{kind} cannot be saved; give an Asset, Rig, Mesh or Clip"
        )));
    };
    Ok(Arc::new(asset))
}

#[pymethods]
impl Asset {
    #[new]
    fn new(content: &Bound<'_, PyAny>) -> Result<Self, Failure> {
        Ok(Self {
            asset: asset_of(content)?,
        })
    }

    /// The name, often that of the file.
    #[getter]
    fn name(&self) -> &str {
        &self.asset.name
    }

    /// The names of the objects.
    #[getter]
    fn objects(&self) -> Vec<String> {
        self.asset
            .objects
            .iter()
            .map(|object| object.name().to_owned())
            .collect()
    }

    /// The names of the clips.
    #[getter]
    fn clips(&self) -> Vec<String> {
        self.asset
            .clips
            .iter()
            .map(|clip| clip.name.clone())
            .collect()
    }

    /// The names of the targets of all objects.
    #[getter]
    fn target_names(&self) -> Vec<String> {
        self.asset.target_names()
    }

    /// What was odd about the file, one sentence each.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.asset.warnings.clone()
    }

    /// Metres of one unit of length, or `None` where the file does not say.
    #[getter]
    fn meters_per_unit(&self) -> Option<f64> {
        self.asset.meters_per_unit
    }

    /// All objects as one mesh.
    fn mesh(&self, py: Python<'_>) -> Result<Mesh, Failure> {
        Ok(Mesh::of(run(py, || Ok(self.asset.mesh()?))?))
    }

    /// All objects as one rig; a target that several objects have is one slider.
    fn rig(&self, py: Python<'_>) -> Result<Rig, Failure> {
        Ok(Rig::of(run(py, || Ok(self.asset.rig()?))?))
    }

    /// The only clip, as positions frame by frame; name another with `part`.
    fn clip(&self, py: Python<'_>) -> Result<Clip, Failure> {
        Ok(Clip::of(run(py, || Ok(self.asset.clip()?))?))
    }

    /// One object or clip, by its name or its path.
    fn part(&self, py: Python<'_>, name: &str) -> Result<Self, Failure> {
        Ok(Self::of(run(py, || Ok(self.asset.part(name)?))?))
    }

    /// A frame of the only clip, counted from 0, as a mesh.
    fn at_frame(&self, py: Python<'_>, frame: usize) -> Result<Self, Failure> {
        Ok(Self::of(run(py, || Ok(self.asset.at_frame(frame)?))?))
    }

    /// The same asset with the targets and settings of a rig of the same vertices.
    fn with_rig(&self, py: Python<'_>, rig: &Rig) -> Result<Self, Failure> {
        Ok(Self::of(run(py, || Ok(self.asset.with_rig(&rig.rig)?))?))
    }

    /// The weight curves of the only clip, for a clip that moves targets.
    fn performance(&self, py: Python<'_>) -> Result<Performance, Failure> {
        Ok(Performance::of(run(py, || {
            Ok(self.asset.performance()?)
        })?))
    }

    /// The same asset without displacements of targets that are shorter than `shortest`, in units of the asset.
    fn pruned(&self, py: Python<'_>, shortest: f32) -> Result<Self, Failure> {
        if !(shortest.is_finite() && shortest >= 0.0) {
            return Err(input_error(format!(
                "shortest is {shortest}; give a length from 0"
            )));
        }
        Ok(Self::of(run(py, || Ok(self.asset.pruned(shortest)?))?))
    }

    /// The same asset with its clip as few targets whose weights move, within `tolerance` of the diagonal.
    #[pyo3(signature = (*, tolerance=3e-5))]
    fn with_clip_as_shapes(&self, py: Python<'_>, tolerance: f64) -> Result<Self, Failure> {
        if !(tolerance.is_finite() && tolerance > 0.0) {
            return Err(input_error(format!(
                "tolerance is {tolerance}; give a number above 0"
            )));
        }
        let asset = Arc::clone(&self.asset);
        let baked = run_unwatched(py, move || Ok(asset.with_clip_as_shapes(tolerance)?))?;
        Ok(Self::of(baked))
    }

    /// The skin of an object, by its name: `names`, `parents` (or `None`) and `bind` matrices (j, 4, 4) of the joints, and
    /// the `weights` (n, j) of the vertices; `None` for an object that follows no joints.
    fn skin<'py>(
        &self,
        py: Python<'py>,
        object: &str,
    ) -> Result<Option<Bound<'py, PyDict>>, Failure> {
        let Some(object) = self.asset.objects.iter().find(|o| o.name() == object) else {
            return Err(input_error(format!(
                "there is no object '{object}'; the asset has {}",
                self.objects().join(", ")
            )));
        };
        let Some(binding) = &object.skin else {
            return Ok(None);
        };

        let joints = binding.skeleton.joints();
        let bones = binding.skin.bone_count();
        let mut weights = vec![vec![0.0; bones]; object.vertex_count()];
        for (vertex, row) in weights.iter_mut().enumerate() {
            for influence in binding.skin.influences(vertex) {
                row[influence.bone as usize] = influence.weight;
            }
        }
        let bind: Vec<f64> = joints
            .iter()
            .flat_map(|joint| affine_rows(&joint.bind()))
            .collect();

        let names: Vec<&str> = joints.iter().map(|joint| &*joint.name).collect();
        let parents: Vec<Option<usize>> = joints.iter().map(|joint| joint.parent).collect();
        let skin = PyDict::new(py);
        skin.set_item("names", names)?;
        skin.set_item("parents", parents)?;
        skin.set_item("bind", bind.into_pyarray(py).reshape([joints.len(), 4, 4])?)?;
        skin.set_item("weights", rows_array(py, &weights, bones)?)?;
        Ok(Some(skin))
    }

    /// Plays a performance on the targets, the head and the eyes; `map` is that of
    /// `Performance.guess_map`, by default by name and meaning. `sides` is `"own"`, `"symmetric"` or
    /// `"mirrored"`; `head` is `"auto"`, `"mesh"` or `"none"`.
    #[pyo3(signature = (performance, *, map=None, sides="own", head="auto", still_eyes=false, pivot=None, tolerance=0.0))]
    #[expect(
        clippy::too_many_arguments,
        reason = "options are keywords of one call"
    )]
    fn play(
        &self,
        py: Python<'_>,
        performance: &Performance,
        map: Option<&Bound<'_, PyAny>>,
        sides: &str,
        head: &str,
        still_eyes: bool,
        pivot: Option<&Bound<'_, PyAny>>,
        tolerance: f64,
    ) -> Result<Played, Failure> {
        performance::play(
            py,
            self,
            performance,
            map,
            sides,
            head,
            still_eyes,
            pivot,
            tolerance,
        )
    }

    /// The same asset with repairs of these kinds (`order`, `twins`, `degenerate`, `orientation`,
    /// `components`; all by default), what was done (`what`, `place`, `count`, `indices`), and what was
    /// found but not repaired.
    #[pyo3(signature = (kinds=None))]
    #[expect(clippy::type_complexity, reason = "an asset and two lists")]
    fn repaired<'py>(
        &self,
        py: Python<'py>,
        kinds: Option<Vec<String>>,
    ) -> Result<(Self, Vec<Bound<'py, PyDict>>, Vec<String>), Failure> {
        let known = RepairKind::ALL.map(|kind| (kind.name(), kind));
        let kinds = match kinds {
            Some(kinds) => kinds
                .iter()
                .map(|kind| choice("kinds", kind, &known))
                .collect::<Result<Vec<_>, _>>()?,
            None => RepairKind::ALL.to_vec(),
        };
        let asset = Arc::clone(&self.asset);
        let repaired = run_unwatched(py, move || Ok(asset.repaired(&kinds)?))?;
        let mut repairs = Vec::new();
        for repair in repaired.repairs {
            let entry = PyDict::new(py);
            entry.set_item("what", repair.what.name())?;
            entry.set_item("place", repair.place)?;
            entry.set_item("count", repair.count)?;
            entry.set_item("indices", index_array(py, repair.indices))?;
            repairs.push(entry);
        }
        Ok((Self::of(repaired.asset), repairs, repaired.warnings))
    }

    /// The same asset with another unit and the given axis up (`"y"` or `"z"`). An unknown unit is not
    /// scaled.
    fn in_space(&self, py: Python<'_>, up: &str, meters_per_unit: f64) -> Result<Self, Failure> {
        if !(meters_per_unit.is_finite() && meters_per_unit > 0.0) {
            return Err(input_error(format!(
                "meters_per_unit is {meters_per_unit}; give a number above 0"
            )));
        }
        let up = choice("up", up, &[("y", UpAxis::Y), ("z", UpAxis::Z)])?;
        let asset = run(py, || {
            Ok(self.asset.in_space(up, meters_per_unit).into_owned())
        })?;
        Ok(Self::of(asset))
    }

    /// Writes it in the format of the path's ending; returns what the format cannot store, one sentence each.
    fn save(&self, py: Python<'_>, path: &Bound<'_, PyAny>) -> Result<Vec<String>, Failure> {
        let path = locator(path)?;
        let report = run(py, || Ok(pliant::io::save(&self.asset, &path)?))?;
        Ok(report.left_out)
    }

    fn __repr__(&self) -> String {
        format!(
            "<pliant.Asset: {} objects, {} vertices, {} targets, {} clips>",
            self.asset.objects.len(),
            self.asset.vertex_count(),
            self.asset.target_names().len(),
            self.asset.clips.len()
        )
    }
}
