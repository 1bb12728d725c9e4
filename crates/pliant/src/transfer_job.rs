//! A transfer with all its files at hand: from a [`TransferRecipe`] to an asset that moves.
//!
//! **Steps.** [`TransferJob::load`] opens everything and declines what cannot work, [`TransferJob::correspondence`] finds the map of
//! each source, [`TransferJob::layers`] turns regions into weights, [`TransferJob::synthesis`] makes the frames, and
//! [`TransferJob::asset`] lays them into the target.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use pliant_io::{Animation, Asset, IoError, LoadOptions, npy, read_file};
use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;
use pliant_rig::Clip;
use pliant_transfer::{
    Correspondence, CorrespondenceOptions, Flexibility, Layer, Markers, Partitions, Source, Synthesis, SynthesisOptions, TransferError,
    blend_weights,
};

use crate::BuiltIn;
use crate::marker_files::read_markers;
use crate::transfer_recipe::{RecipeError, RecipeLayer, RecipeSource, Region, TransferRecipe};

/// A transfer, ready to be computed.
#[derive(Debug, Clone)]
pub struct TransferJob {
    target: Asset,
    mesh: Mesh,
    sources: Vec<JobSource>,
    layers: Vec<JobLayer>,
}

/// A source with its clip.
#[derive(Debug, Clone)]
pub struct JobSource {
    /// The name that the recipe gives it.
    pub name: String,
    /// The animation.
    pub clip: Clip,
    /// The pairs of its file, where it has one.
    pub markers: Option<Markers>,
    /// What was odd on reading.
    pub problems: Vec<String>,
}

#[derive(Debug, Clone)]
struct JobLayer {
    told: RecipeLayer,
    source: usize,
    frames: (usize, usize),
    /// For every triangle of the target whether it was drawn on; `None` for all.
    drawn: Option<Vec<bool>>,
}

impl TransferJob {
    /// Longest output, in frames. *Ours*: an hour of film; more is a slip of the pen.
    pub const MOST_FRAMES: usize = 86_400;

    /// Opens what a recipe names; relative paths start at `folder`, or where the program runs.
    ///
    /// # Errors
    /// Files that cannot be read, and values that cannot be meant, with the file or the table and key.
    pub fn load(recipe: &TransferRecipe, folder: Option<&Path>) -> Result<Self, RecipeError> {
        let files = Files { folder };
        let target = files.asset(&recipe.target)?;
        let mesh = target.mesh()?;
        mesh.require_surface().map_err(|e| RecipeError::transfer(&recipe.target)(e.into()))?;
        let sources = recipe.sources.iter().map(|source| files.source(source)).collect::<Result<Vec<_>, _>>()?;
        require_distinct(&sources)?;
        let layer = |(k, layer): (usize, &RecipeLayer)| files.layer(k, layer, &sources, &mesh);
        let layers = recipe.layers.iter().enumerate().map(layer).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { target, mesh, sources, layers })
    }

    /// The sources in the recipe's order.
    #[must_use]
    pub fn sources(&self) -> &[JobSource] {
        &self.sources
    }

    /// The target at rest.
    #[must_use]
    pub fn target(&self) -> &Mesh {
        &self.mesh
    }

    /// What was odd on reading, one sentence each.
    #[must_use]
    pub fn problems(&self) -> Vec<String> {
        self.target.problems.iter().chain(self.sources.iter().flat_map(|source| &source.problems)).cloned().collect()
    }

    /// Where the mesh of one source corresponds to the target.
    ///
    /// # Errors
    /// As [`Correspondence::find`], with the name of the source.
    ///
    /// # Panics
    /// If there is no such source.
    pub fn correspondence(&self, source: usize, options: &CorrespondenceOptions) -> Result<Correspondence, RecipeError> {
        let JobSource { name, clip, markers, .. } = &self.sources[source];
        let found = match markers {
            Some(markers) => Correspondence::find(clip.reference(), &self.mesh, markers, options),
            None => Correspondence::find_without_markers(clip.reference(), &self.mesh, options),
        };
        found.map_err(RecipeError::transfer(format!("source '{name}'")))
    }

    /// The layers with their weights, given the correspondence of each source; and what is odd about them.
    ///
    /// # Errors
    /// Clips whose flexibility cannot be computed.
    pub fn layers(&self, found: &[Correspondence]) -> Result<(Vec<Layer>, Vec<String>), RecipeError> {
        let mut problems = Vec::new();
        let mut layers = Vec::new();
        for (k, layer) in self.layers.iter().enumerate() {
            let weights = self.weights(layer, &found[layer.source]).map_err(RecipeError::transfer(format!("layer {k}")))?;
            if weights.iter().all(|&w| w == 0.0) {
                let why =
                    if layer.told.refine { "covers no stiff part by more than half; draw more, or refine = false" } else { "is empty" };
                problems.push(format!("layer {k} moves nothing: its region {why}"));
            }
            layers.push(layer.with_weights(weights));
        }
        Ok((layers, problems))
    }

    fn weights(&self, layer: &JobLayer, found: &Correspondence) -> Result<Vec<f64>, TransferError> {
        match &layer.drawn {
            None => Ok(vec![1.0; self.mesh.triangles().len()]),
            Some(drawn) if !layer.told.refine => Ok(drawn.iter().map(|&selected| f64::from(u8::from(selected))).collect()),
            Some(drawn) => {
                let flexibility = Flexibility::of(&self.sources[layer.source].clip)?;
                let on_target = found.map.filled(&self.mesh).carry(flexibility.of_triangles(), 0.0);
                let partitions = Partitions::new(&self.mesh, &on_target, Partitions::DEFAULT_THRESHOLD)?;
                blend_weights(&self.mesh, &partitions.refine(drawn)?)
            }
        }
    }

    /// The new animation, ready to be computed frame by frame.
    ///
    /// # Errors
    /// As [`Synthesis::new`].
    pub fn synthesis<'a>(
        &'a self,
        found: &'a [Correspondence],
        layers: Vec<Layer>,
        options: SynthesisOptions,
    ) -> Result<Synthesis<'a>, RecipeError> {
        let source = |(source, found): (&'a JobSource, &'a Correspondence)| Source { clip: &source.clip, map: Cow::Borrowed(&found.map) };
        let sources = self.sources.iter().zip(found).map(source).collect();
        Synthesis::new(&self.mesh, sources, layers, options).map_err(RecipeError::transfer("the synthesis"))
    }

    /// The target's own asset with `frames` as its clip, at the rate of the lowest layer's source.
    ///
    /// # Errors
    /// Frames with another number of vertices.
    pub fn asset(&self, name: &str, frames: &[Vec<DVec3>]) -> Result<Asset, IoError> {
        let mut animation = Animation::new(name, frames.len());
        if let Some(lowest) = self.layers.first() {
            animation.frames_per_second = self.sources[lowest.source].clip.frames_per_second();
        }
        animation.frame_names = self.frame_names();
        self.target.with_point_clip(animation, frames)
    }

    /// The names of the source's frames, where every frame of the output is one of them.
    fn frame_names(&self) -> Vec<String> {
        let [layer] = self.layers.as_slice() else { return Vec::new() };
        let names = self.sources[layer.source].clip.frame_names().get(layer.frames.0..=layer.frames.1);
        names.filter(|_| layer.told.at == 0 && layer.told.speed == 1.0).unwrap_or_default().to_vec()
    }
}

impl JobLayer {
    fn with_weights(&self, weights: Vec<f64>) -> Layer {
        let RecipeLayer { mode, at, speed, ease, .. } = self.told;
        Layer { source: self.source, weights, mode: mode.into(), frames: self.frames, at, speed, ease }
    }
}

fn require_distinct(sources: &[JobSource]) -> Result<(), RecipeError> {
    for (k, source) in sources.iter().enumerate() {
        if sources[..k].iter().any(|earlier| earlier.name == source.name) {
            let message = format!("the name '{}' is taken by an earlier source; give each its own", source.name);
            return Err(RecipeError::meaning(format!("source {k}, name"), message));
        }
    }
    Ok(())
}

/// The files around a recipe.
struct Files<'a> {
    folder: Option<&'a Path>,
}

impl Files<'_> {
    fn asset(&self, locator: &str) -> Result<Asset, IoError> {
        let options = LoadOptions::default().with_specimens(&BuiltIn);
        pliant_io::load(locator, &self.folder.map_or(options, |folder| options.with_folder(folder)))
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder.map_or_else(|| file.into(), |folder| folder.join(file))
    }

    fn source(&self, told: &RecipeSource) -> Result<JobSource, RecipeError> {
        let asset = self.asset(&told.clip)?;
        let clip = asset.clip()?;
        let (markers, odd) = told.markers.as_deref().map(|file| read_markers(file, self.folder)).transpose()?.unzip();
        let problems = asset.problems.into_iter().chain(odd.into_iter().flatten()).collect();
        Ok(JobSource { name: told.name.clone(), clip, markers, problems })
    }

    fn layer(&self, k: usize, told: &RecipeLayer, sources: &[JobSource], mesh: &Mesh) -> Result<JobLayer, RecipeError> {
        let Some(source) = sources.iter().position(|source| source.name == told.source) else {
            let names: Vec<String> = sources.iter().map(|source| format!("'{}'", source.name)).collect();
            let message = format!("no source is named '{}'; there are {}", told.source, names.join(", "));
            return Err(RecipeError::meaning(format!("layer {k}, source"), message));
        };
        let count = sources[source].clip.frames().len();
        let [first, last] = told.frames.unwrap_or([0, count.saturating_sub(1)]);
        if first > last || last >= count {
            let message = format!("[{first}, {last}] of a clip with {count} frames, counted from 0; give a range inside");
            return Err(RecipeError::meaning(format!("layer {k}, frames"), message));
        }
        let drawn = self.region(k, &told.region, mesh)?;
        let layer = JobLayer { told: told.clone(), source, frames: (first, last), drawn };
        require_playable(k, &layer)?;
        Ok(layer)
    }

    fn region(&self, k: usize, region: &Region, mesh: &Mesh) -> Result<Option<Vec<bool>>, RecipeError> {
        let place = format!("layer {k}, region");
        let faces = match region {
            Region::All => return Ok(None),
            Region::Faces(faces) => chosen(faces, mesh).map_err(|message| RecipeError::meaning(place, message))?,
            Region::File(file) => {
                let path = self.path(file);
                let bytes = read_file(&path)?;
                let place = format!("{place}, {}", path.display());
                let is_array = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("npy"));
                let read = if is_array { mask(&bytes, mesh) } else { list(&bytes, mesh) };
                read.map_err(|message| RecipeError::meaning(place, message))?
            }
        };
        Ok(Some(mesh.triangle_faces().iter().map(|&face| faces[face as usize]).collect()))
    }
}

fn require_playable(k: usize, layer: &JobLayer) -> Result<(), RecipeError> {
    let RecipeLayer { speed, ease, .. } = layer.told;
    if !(speed > 0.0 && speed.is_finite()) {
        return Err(RecipeError::meaning(format!("layer {k}, speed"), format!("it is {speed}; give a number above zero")));
    }
    if !(ease >= 0.0 && ease.is_finite()) {
        return Err(RecipeError::meaning(format!("layer {k}, ease"), format!("it is {ease}; give a number of frames from zero up")));
    }
    let (end, most) = (layer.with_weights(Vec::new()).end(), TransferJob::MOST_FRAMES);
    if end > most {
        return Err(RecipeError::meaning(
            format!("layer {k}"),
            format!("it ends after {end} frames, and {most} is the most; check at and speed"),
        ));
    }
    Ok(())
}

/// 0 or 1 per face.
fn mask(bytes: &[u8], mesh: &Mesh) -> Result<Vec<bool>, String> {
    let array = npy::read(bytes).map_err(|error| error.to_string())?;
    let faces = mesh.face_count();
    if array.values.len() != faces {
        return Err(format!("{} numbers where the target has {faces} faces; give one per face", array.values.len()));
    }
    match array.values.iter().position(|&value| value != 0.0 && value != 1.0) {
        Some(face) => Err(format!("face {face} has the value {}; give 0 or 1", array.values[face])),
        None => Ok(array.values.iter().map(|&value| value == 1.0).collect()),
    }
}

/// A JSON list of faces.
fn list(bytes: &[u8], mesh: &Mesh) -> Result<Vec<bool>, String> {
    let faces: Vec<usize> = serde_json::from_slice(bytes).map_err(|error| format!("{error}; give a JSON list of faces, counted from 0"))?;
    chosen(&faces, mesh)
}

fn chosen(faces: &[usize], mesh: &Mesh) -> Result<Vec<bool>, String> {
    let mut region = vec![false; mesh.face_count()];
    for &face in faces {
        let entry = region.get_mut(face).ok_or_else(|| format!("face {face} of a target with {}, counted from 0", mesh.face_count()))?;
        *entry = true;
    }
    Ok(region)
}
