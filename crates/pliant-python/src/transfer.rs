//! Shapes and animations of one mesh on another.

use std::collections::BTreeMap;
use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1, PyArray2};
use pliant::jobs::{TransferInputs, TransferJob};
use pliant::recipes::TransferRecipe;
use pliant::transfer::{
    CorrespondenceMethod, CorrespondenceOptions, Flexibility, Markers, RigTransfer,
    RigTransferOptions, RootMotion,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{self, points_array};
use crate::clip::Clip;
use crate::failure::{Failure, input_error};
use crate::mesh::Mesh;
use crate::report::{choice, from_python};
use crate::rig::Rig;
use crate::work::{run, run_long, run_unwatched};

/// Which parts of one surface correspond to which parts of another.
///
/// >>> bar = pliant.load("specimen:bar:coarse").mesh()
/// >>> map = pliant.Correspondence(bar, bar.posed(bar.positions * 2))
/// >>> map.carry(range(len(bar.triangles)))[:3].tolist()
/// [0.0, 1.0, 2.0]
#[pyclass(frozen, module = "pliant")]
pub(crate) struct Correspondence {
    correspondence: Arc<pliant::transfer::Correspondence>,
}

const METHODS: [(&str, CorrespondenceMethod); 4] = [
    ("auto", CorrespondenceMethod::Auto),
    ("warp", CorrespondenceMethod::Wang2008),
    ("registration", CorrespondenceMethod::Registration),
    ("identity", CorrespondenceMethod::Identity),
];

/// Pairs of a source vertex and a target vertex: an array of shape (n, 2), or a list of pairs.
pub(crate) fn marker_pairs(markers: &Bound<'_, PyAny>) -> Result<Markers, Failure> {
    Ok(Markers::new(arrays::index_pairs("markers", markers)?))
}

#[pymethods]
impl Correspondence {
    #[new]
    #[pyo3(signature = (source, target, *, markers=None, method="auto", progress=None))]
    fn new(
        py: Python<'_>,
        source: &Mesh,
        target: &Mesh,
        markers: Option<&Bound<'_, PyAny>>,
        method: &str,
        progress: Option<Bound<'_, PyAny>>,
    ) -> Result<Self, Failure> {
        let markers = markers.map(marker_pairs).transpose()?;
        let options =
            CorrespondenceOptions::default().with_method(choice("method", method, &METHODS)?);
        let [source, target] = [source, target].map(|mesh| Arc::clone(&mesh.mesh));
        let correspondence = run_long(py, progress, move |progress| {
            Ok(pliant::transfer::Correspondence::find_with_progress(
                &source,
                &target,
                markers.as_ref(),
                &options,
                progress,
            )?)
        })?;
        Ok(Self {
            correspondence: Arc::new(correspondence),
        })
    }

    /// The method that was used.
    #[getter]
    fn method(&self) -> &str {
        self.correspondence.method.name()
    }

    /// Warnings, one sentence each.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.correspondence.warnings.clone()
    }

    /// Where the vertices of the source lie on the target.
    #[getter]
    fn source_on_target<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray2<f64>>, Failure> {
        points_array(py, self.correspondence.source_on_target.clone())
    }

    /// The distance of each target triangle from its sources, (m,); NaN where nothing is near.
    #[getter]
    fn distances<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.correspondence.distances.clone().into_pyarray(py)
    }

    /// Source triangles and their weights for each target triangle.
    #[getter]
    fn triangle_map(&self) -> Vec<Vec<(u32, f64)>> {
        self.correspondence.map.rows().map(<[_]>::to_vec).collect()
    }

    /// Values per source triangle as values per target triangle.
    #[pyo3(signature = (values, *, missing=0.0))]
    fn carry<'py>(
        &self,
        py: Python<'py>,
        values: &Bound<'py, PyAny>,
        missing: f64,
    ) -> Result<Bound<'py, PyArray1<f64>>, Failure> {
        let values = arrays::numbers("values", values)?;
        let map = &self.correspondence.map;
        if let Some(highest) = map.highest_source()
            && highest as usize >= values.len()
        {
            return Err(input_error(format!(
                "values has {} entries, but the map names source triangle {highest}; give one for each source triangle",
                values.len()
            )));
        }
        let carried = run(py, || Ok(map.carry(&values, missing)))?;
        Ok(carried.into_pyarray(py))
    }

    fn __repr__(&self) -> String {
        format!(
            "<pliant.Correspondence: {} triangles, method {}>",
            self.correspondence.map.len(),
            self.correspondence.method.name()
        )
    }
}

/// The targets of one rig on another mesh, and a report for each shape.
///
/// >>> bar = pliant.load("specimen:bar:coarse").mesh()
/// >>> rig = pliant.Rig(bar.positions, bar.faces, [bar.positions * 0.1], ["grow"])
/// >>> found, reports = pliant.transfer_shapes(rig, bar.posed(bar.positions * 2))
/// >>> bool(abs(found.deltas - 2 * rig.deltas).max() < 1e-4), reports[0]["name"]
/// (True, 'grow')
#[pyfunction]
#[pyo3(signature = (source, target, *, correspondence=None, markers=None, method="auto", tolerance=RigTransferOptions::DEFAULT_TOLERANCE, closures=true, progress=None))]
#[expect(
    clippy::too_many_arguments,
    reason = "options are keywords of one call"
)]
pub(crate) fn transfer_shapes<'py>(
    py: Python<'py>,
    source: &Rig,
    target: &Mesh,
    correspondence: Option<&Bound<'py, Correspondence>>,
    markers: Option<&Bound<'py, PyAny>>,
    method: &str,
    tolerance: f64,
    closures: bool,
    progress: Option<Bound<'py, PyAny>>,
) -> Result<(Rig, Vec<Bound<'py, PyDict>>), Failure> {
    let markers = markers.map(marker_pairs).transpose()?;
    let matching =
        CorrespondenceOptions::default().with_method(choice("method", method, &METHODS)?);
    let given = correspondence.map(|found| Arc::clone(&found.get().correspondence));
    let options = RigTransferOptions::default()
        .with_tolerance(tolerance)
        .with_closures(closures);

    let source = Arc::clone(&source.rig);
    let target = Arc::clone(&target.mesh);
    let transferred = run_long(py, progress, move |progress| {
        let correspondence = match given {
            Some(given) => given,
            None => Arc::new(pliant::transfer::Correspondence::find_with_progress(
                source.neutral(),
                &target,
                markers.as_ref(),
                &matching,
                progress,
            )?),
        };
        let transfer = RigTransfer::new(&source, &target, &correspondence, options)?;
        Ok(transfer.rig(progress)?)
    })?;

    let mut reports = Vec::new();
    for shape in &transferred.shapes {
        let report = PyDict::new(py);
        report.set_item("name", &shape.name)?;
        report.set_item("moved", shape.moved)?;
        report.set_item("pairs", shape.pairs)?;
        report.set_item("lost_pairs", shape.lost_pairs)?;
        report.set_item("gap_before", shape.gap_before)?;
        report.set_item("gap_after", shape.gap_after)?;
        report.set_item("warnings", shape.warnings())?;
        reports.push(report);
    }
    Ok((Rig::of(transferred.rig), reports))
}

/// A clip of one mesh on another mesh.
///
/// >>> bend = pliant.load("specimen:bar:coarse#bend").clip()
/// >>> moved = pliant.transfer_clip(bend, bend.reference.posed(bend.reference.positions * 2))
/// >>> moved.frames.shape == bend.frames.shape
/// True
#[pyfunction]
#[pyo3(signature = (clip, target, *, markers=None, method="auto", turn=true, align_poses=false, root="carry", feet=false, untangle=false, progress=None))]
#[expect(
    clippy::too_many_arguments,
    reason = "options are keywords of one call"
)]
pub(crate) fn transfer_clip(
    py: Python<'_>,
    clip: &Clip,
    target: &Mesh,
    markers: Option<&Bound<'_, PyAny>>,
    method: &str,
    turn: bool,
    align_poses: bool,
    root: &str,
    feet: bool,
    untangle: bool,
    progress: Option<Bound<'_, PyAny>>,
) -> Result<Clip, Failure> {
    let markers = markers.map(marker_pairs).transpose()?;
    let method = choice("method", method, &METHODS)?;
    let root = choice(
        "root",
        root,
        &[("carry", RootMotion::Carry), ("fix", RootMotion::Fix)],
    )?;
    let mut recipe = TransferRecipe::plain("clip", "target", None);
    recipe.root = root;
    recipe.feet = feet;
    recipe.untangle = untangle;
    for source in &mut recipe.sources {
        source.method = method;
        source.turn = turn;
        source.align_poses = align_poses;
    }

    let clip = Arc::clone(&clip.clip);
    let mesh = Arc::clone(&target.mesh);
    let moved = run_long(py, progress, move |progress| {
        let inputs = TransferInputs {
            target: Arc::new(pliant::io::Asset::from_mesh((*mesh).clone())),
            mesh: Arc::clone(&mesh),
            sources: vec![(Arc::clone(&clip), markers)],
        };
        let result = TransferJob::new(&recipe, inputs, None)?.run(progress)?;
        let frames = result.motion.frames;
        let moved = pliant::rig::Clip::new(clip.name(), (*mesh).clone(), frames)?;
        Ok(moved.with_frames_per_second(clip.frames_per_second()))
    })?;
    Ok(Clip::of(moved))
}

/// Animations of several sources on regions of a mesh, as `recipe` describes it: the content of a recipe
/// of the command `transfer`, as a dictionary, in which `target` and the `clip` of each source are left
/// out.
///
/// `sources` maps the names of the recipe's sources to clips, `markers` the same names to pairs of
/// vertices. Regions are `"all"`, `"#group"` or lists of faces. Returns the clip and warnings.
///
/// >>> hound, tapir = pliant.load("specimen:hound#walk").clip(), pliant.load("specimen:tapir").mesh()
/// >>> recipe = {"source": [{"name": "walk"}], "layer": [{"source": "walk", "frames": [0, 3]}]}
/// >>> clip, warnings = pliant.transfer(recipe, tapir, {"walk": hound})
/// >>> len(clip)
/// 4
#[pyfunction]
#[pyo3(signature = (recipe, target, sources, *, markers=None, progress=None))]
pub(crate) fn transfer(
    py: Python<'_>,
    recipe: &Bound<'_, PyDict>,
    target: &Mesh,
    sources: BTreeMap<String, Clip>,
    markers: Option<BTreeMap<String, Bound<'_, PyAny>>>,
    progress: Option<Bound<'_, PyAny>>,
) -> Result<(Clip, Vec<String>), Failure> {
    let recipe = complete_recipe(recipe)?;
    let recipe: TransferRecipe = from_python("recipe", recipe.as_any())?;
    let mut markers = markers.unwrap_or_default();
    let mut inputs = Vec::new();
    for source in &recipe.sources {
        let clip = sources.get(&source.name).ok_or_else(|| {
            input_error(format!(
                "sources has no clip '{}', which the recipe names",
                source.name
            ))
        })?;
        let pairs = markers.remove(&source.name);
        let pairs = pairs.map(|pairs| marker_pairs(&pairs)).transpose()?;
        inputs.push((Arc::clone(&clip.clip), pairs));
    }
    if let Some(name) = markers.keys().next() {
        return Err(input_error(format!(
            "markers names the source '{name}', which the recipe does not have"
        )));
    }

    let mesh = Arc::clone(&target.mesh);
    let fps = inputs.first().map(|(clip, _)| clip.frames_per_second());
    let (clip, warnings) = run_long(py, progress, move |progress| {
        let inputs = TransferInputs {
            target: Arc::new(pliant::io::Asset::from_mesh((*mesh).clone())),
            mesh: Arc::clone(&mesh),
            sources: inputs,
        };
        let result = TransferJob::new(&recipe, inputs, None)?.run(progress)?;
        let clip = pliant::rig::Clip::new("transfer", (*mesh).clone(), result.motion.frames)?;
        let clip = match fps {
            Some(fps) => clip.with_frames_per_second(fps),
            None => clip,
        };
        Ok((clip, result.warnings))
    })?;
    Ok((Clip::of(clip), warnings))
}

/// The recipe with the keys that name files, which Python gives as objects.
fn complete_recipe<'py>(recipe: &Bound<'py, PyDict>) -> Result<Bound<'py, PyDict>, Failure> {
    let recipe = recipe.copy()?;
    if !recipe.contains("target")? {
        recipe.set_item("target", "target")?;
    }
    let Some(sources) = recipe.get_item("source")? else {
        return Err(input_error(
            "recipe: give a list 'source' and a list 'layer'",
        ));
    };
    let completed = pyo3::types::PyList::empty(recipe.py());
    for source in sources.try_iter()? {
        let source = source?;
        let Ok(source) = source.cast::<PyDict>() else {
            return Err(input_error("recipe: a source is a dictionary with a name"));
        };
        let source = source.copy()?;
        if !source.contains("clip")? {
            source.set_item("clip", "clip")?;
        }
        completed.append(source)?;
    }
    recipe.set_item("source", completed)?;
    Ok(recipe)
}

/// The flexibility of each triangle over a clip, (m,): how much its deformation differs from that of its
/// neighbours (Wang, Lee 2008, eq. 1). Without unit.
///
/// >>> bend = pliant.load("specimen:bar:coarse#bend").clip()
/// >>> pliant.flexibility(bend).shape == (len(bend.reference.triangles),)
/// True
#[pyfunction]
pub(crate) fn flexibility<'py>(
    py: Python<'py>,
    clip: &Clip,
) -> Result<Bound<'py, PyArray1<f64>>, Failure> {
    let clip = Arc::clone(&clip.clip);
    let flexibility = run_unwatched(py, move || Ok(Flexibility::of(&clip)?))?;
    Ok(flexibility.of_triangles().to_vec().into_pyarray(py))
}
