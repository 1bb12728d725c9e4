//! A transfer with all its files at hand: from a [`TransferRecipe`] to an asset that moves.
//!
//! **Steps.** [`TransferJob::load`] opens everything and declines what cannot work, [`TransferJob::correspondence`] finds the map of
//! each source, [`TransferJob::layers`] turns regions into weights, [`TransferJob::synthesis`] makes the frames, and
//! [`TransferJob::asset`] lays them into the target.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use pliant_io::{Animation, Asset, IoError, LoadOptions};
use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;
use pliant_rig::Clip;
use pliant_transfer::{
    ContactOptions, Correspondence, CorrespondenceOptions, Entanglement, Flexibility, Layer, Markers, Parting, Partitions,
    PoseModification, Source, Synthesis, SynthesisOptions, TransferError,
};

use crate::BuiltIn;
use crate::marker_files::read_markers;
use crate::transfer_recipe::{RecipeError, RecipeLayer, RecipeModification, RecipeSource, Threshold, TransferRecipe};
use crate::transfer_region::Drawn;

/// A transfer, ready to be computed.
#[derive(Debug, Clone)]
pub struct TransferJob {
    target: Asset,
    mesh: Mesh,
    sources: Vec<JobSource>,
    layers: Vec<JobLayer>,
    modifications: Vec<(RecipeModification, Drawn)>,
    told: JobOptions,
}

/// What a recipe says about all of its layers.
#[derive(Debug, Clone)]
struct JobOptions {
    synthesis: SynthesisOptions,
    check: bool,
    untangle: bool,
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
    told: RecipeSource,
}

#[derive(Debug, Clone)]
struct JobLayer {
    told: RecipeLayer,
    source: usize,
    frames: (usize, usize),
    drawn: Drawn,
}

impl TransferJob {
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
        let modification = |(k, told): (usize, &RecipeModification)| files.modification(k, told, &mesh);
        let modifications = recipe.modifications.iter().enumerate().map(modification).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { target, mesh, sources, layers, modifications, told: JobOptions::of(recipe) })
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

    /// Where the mesh of one source corresponds to the target, by the method of its recipe.
    ///
    /// # Errors
    /// As [`Correspondence::find`], with the name of the source.
    ///
    /// # Panics
    /// If there is no such source.
    pub fn correspondence(&self, source: usize, options: &CorrespondenceOptions) -> Result<Correspondence, RecipeError> {
        let JobSource { name, clip, markers, told, .. } = &self.sources[source];
        let options = (*options).with_method(told.method.into());
        let found = Correspondence::find(clip.reference(), &self.mesh, markers.as_ref(), &options);
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
            let weights = self.weights(&layer.drawn, layer.source, found).map_err(RecipeError::transfer(format!("layer {k}")))?;
            problems.extend(layer.drawn.nothing_in(&weights).map(|why| format!("layer {k} moves nothing: its region {why}")));
            layers.push(layer.with_weights(weights));
        }
        Ok((layers, problems))
    }

    /// What a region counts on every triangle, where `source` says what is stiff.
    fn weights(&self, drawn: &Drawn, source: usize, found: &[Correspondence]) -> Result<Vec<f64>, TransferError> {
        drawn.weights(&self.mesh, |threshold| self.partitions(source, found, threshold))
    }

    /// The stiff parts of the target under one source.
    fn partitions(&self, source: usize, found: &[Correspondence], threshold: Threshold) -> Result<Partitions, TransferError> {
        let flexibility = Flexibility::of(&self.sources[source].clip)?;
        let on_target = found[source].map.filled(&self.mesh).carry(flexibility.of_triangles(), 0.0);
        match threshold {
            Threshold::Auto => Partitions::found(&self.mesh, &on_target),
            Threshold::Below(flexibility) => Partitions::new(&self.mesh, &on_target, flexibility),
        }
    }

    /// What the recipe says about root, feet and poses; and what is odd about it.
    ///
    /// # Errors
    /// Clips whose flexibility cannot be computed.
    pub fn options(&self, found: &[Correspondence]) -> Result<(SynthesisOptions, Vec<String>), RecipeError> {
        let mut options = self.told.synthesis.clone();
        for (k, source) in self.sources.iter().enumerate().filter(|(_, source)| source.told.align_poses) {
            let place = || RecipeError::transfer(format!("source '{}', align_poses", source.name));
            let partitions = self.partitions(k, found, Threshold::Auto).map_err(place())?;
            let map = found[k].map.filled(&self.mesh);
            let pose = PoseModification::aligning(&self.mesh, source.clip.reference(), &map, &partitions).map_err(place())?;
            options = options.with_aligned_source(k, pose);
        }
        let mut problems = Vec::new();
        if let Some(lowest) = self.layers.first().filter(|_| !self.modifications.is_empty()) {
            let mut pose = PoseModification::none(self.mesh.triangles().len());
            for (k, (told, drawn)) in self.modifications.iter().enumerate() {
                let place = || RecipeError::transfer(format!("modify {k}"));
                let weights = self.weights(drawn, lowest.source, found).map_err(place())?;
                problems.extend(drawn.nothing_in(&weights).map(|why| format!("modify {k} turns nothing: its region {why}")));
                pose.turn_region(&weights, told.axis.into(), told.degrees.to_radians()).map_err(place())?;
            }
            options = options.with_pose(pose);
        }
        Ok((options, problems))
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

    /// Where `frames` cut through themselves and the target at rest does not, frame by frame; parted if the recipe says so, and
    /// empty if it asks for neither. `begin` hears the number of each frame.
    ///
    /// # Errors
    /// Frames of another mesh, or with positions that are not finite.
    pub fn untangle(&self, frames: &mut [Vec<DVec3>], mut begin: impl FnMut(usize)) -> Result<Vec<Parting>, RecipeError> {
        if !(self.told.check || self.told.untangle) {
            return Ok(Vec::new());
        }
        let place = || RecipeError::transfer("self-intersections");
        let entanglement = Entanglement::new(&self.mesh).map_err(place())?;
        let mut partings = Vec::with_capacity(frames.len());
        for (k, frame) in frames.iter_mut().enumerate() {
            begin(k);
            let parting = if self.told.untangle { entanglement.part(frame) } else { entanglement.look_at(frame) };
            partings.push(parting.map_err(place())?);
        }
        Ok(partings)
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

impl JobOptions {
    fn of(recipe: &TransferRecipe) -> Self {
        let synthesis = SynthesisOptions::default().with_root(recipe.root.into()).with_form(recipe.form.into());
        let contacts = ContactOptions::default().with_up(recipe.up.into());
        let synthesis = if recipe.feet { synthesis.with_planted_feet(contacts) } else { synthesis };
        Self { synthesis, check: recipe.check, untangle: recipe.untangle }
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
        Ok(JobSource { name: told.name.clone(), clip, markers, problems, told: told.clone() })
    }

    fn modification(&self, k: usize, told: &RecipeModification, mesh: &Mesh) -> Result<(RecipeModification, Drawn), RecipeError> {
        let [x, y, z] = told.axis;
        if !(told.axis.iter().all(|part| part.is_finite()) && told.axis.iter().any(|&part| part != 0.0)) {
            let message = format!("it is [{x}, {y}, {z}]; give a direction, such as [0, 1, 0]");
            return Err(RecipeError::meaning(format!("modify {k}, axis"), message));
        }
        if !told.degrees.is_finite() {
            return Err(RecipeError::meaning(format!("modify {k}, degrees"), format!("it is {}; give a number", told.degrees)));
        }
        let drawn = Drawn::read(told.selection(), mesh, &format!("modify {k}"), |file| self.path(file))?;
        Ok((told.clone(), drawn))
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
        let drawn = Drawn::read(told.selection(), mesh, &format!("layer {k}"), |file| self.path(file))?;
        let layer = JobLayer { told: told.clone(), source, frames: (first, last), drawn };
        require_playable(k, &layer)?;
        Ok(layer)
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
    let (end, most) = (layer.with_weights(Vec::new()).end(), Layer::MOST_FRAMES);
    if end > most {
        return Err(RecipeError::meaning(
            format!("layer {k}"),
            format!("it ends after {end} frames, and {most} is the most; check at and speed"),
        ));
    }
    Ok(())
}
