//! A transfer with all its files at hand: from a [`TransferRecipe`] to an asset that moves.
//!
//! **Steps.** [`TransferJob::load`] opens everything and declines what cannot work,
//! [`TransferJob::run`] makes the frames, and [`TransferJob::asset`] lays them into the target.
//! Inside, [`TransferJob::correspondence`] finds the map of each source, [`TransferJob::layers`]
//! turns regions into weights, and [`TransferJob::synthesis`] puts them together.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pliant_io::{Animation, Asset, IoError, LoadOptions};
use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, Progress};
use pliant_rig::Clip;
use pliant_transfer::{
    ContactOptions, Correspondence, CorrespondenceOptions, Entanglement, FeetReport, Flexibility,
    Layer, MapReport, Markers, Motion, Parting, Partitions, PoseModification, Source, Synthesis,
    SynthesisOptions, TransferError,
};
use web_time::Instant;

use crate::BuiltIn;
use crate::marker_files::read_markers;
use crate::transfer_recipe::{
    RecipeError, RecipeLayer, RecipeModification, RecipeSource, Threshold, TransferRecipe,
};
use crate::transfer_region::Drawn;

/// A transfer, ready to be computed.
#[derive(Debug, Clone)]
pub struct TransferJob {
    target: Arc<Asset>,
    mesh: Arc<Mesh>,
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

/// What a recipe names, opened; shared, so that a caller who asks again and again opens it once.
#[derive(Debug, Clone)]
pub struct TransferInputs {
    /// The target.
    pub target: Arc<Asset>,
    /// The target at rest: the [mesh](Asset::mesh) of its asset.
    pub mesh: Arc<Mesh>,
    /// The clip of every source, with its marker pairs where it has some, in the recipe's order.
    pub sources: Vec<(Arc<Clip>, Option<Markers>)>,
}

/// A source with its clip.
#[derive(Debug, Clone)]
pub struct JobSource {
    /// The name that the recipe gives it.
    pub name: String,
    /// The animation.
    pub clip: Arc<Clip>,
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
    /// Files that cannot be read, and values that cannot be meant, with the file or the table and
    /// key.
    pub fn load(recipe: &TransferRecipe, folder: Option<&Path>) -> Result<Self, RecipeError> {
        let files = Files { folder };
        let target = Arc::new(files.asset(&recipe.target)?);
        let mesh = Arc::new(target.mesh()?);
        let sources = recipe
            .sources
            .iter()
            .map(|source| files.source(source))
            .collect::<Result<Vec<_>, _>>()?;
        Self::planned(recipe, target, mesh, sources, &files)
    }

    /// The job of a recipe whose target, clips and markers are at hand; regions that are files
    /// start at `folder`.
    ///
    /// # Errors
    /// As [`load`](Self::load), but for what is open already.
    ///
    /// # Panics
    /// If there is not one clip per source of the recipe.
    pub fn new(
        recipe: &TransferRecipe,
        inputs: TransferInputs,
        folder: Option<&Path>,
    ) -> Result<Self, RecipeError> {
        assert_eq!(
            inputs.sources.len(),
            recipe.sources.len(),
            "one clip per source"
        );
        let source =
            |((clip, markers), told): ((Arc<Clip>, Option<Markers>), &RecipeSource)| JobSource {
                name: told.name.clone(),
                clip,
                markers,
                problems: Vec::new(),
                told: told.clone(),
            };
        let sources = inputs
            .sources
            .into_iter()
            .zip(&recipe.sources)
            .map(source)
            .collect();
        Self::planned(
            recipe,
            inputs.target,
            inputs.mesh,
            sources,
            &Files { folder },
        )
    }

    fn planned(
        recipe: &TransferRecipe,
        target: Arc<Asset>,
        mesh: Arc<Mesh>,
        sources: Vec<JobSource>,
        files: &Files<'_>,
    ) -> Result<Self, RecipeError> {
        mesh.require_surface()
            .map_err(|e| RecipeError::transfer(&recipe.target)(e.into()))?;
        require_distinct(&sources)?;
        let layer = |(k, layer): (usize, &RecipeLayer)| files.layer(k, layer, &sources, &mesh);
        let layers = recipe
            .layers
            .iter()
            .enumerate()
            .map(layer)
            .collect::<Result<Vec<_>, _>>()?;
        let modification =
            |(k, told): (usize, &RecipeModification)| files.modification(k, told, &mesh);
        let modifications = recipe
            .modifications
            .iter()
            .enumerate()
            .map(modification)
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            target,
            mesh,
            sources,
            layers,
            modifications,
            told: JobOptions::of(recipe),
        })
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
        self.target
            .problems
            .iter()
            .chain(self.sources.iter().flat_map(|source| &source.problems))
            .cloned()
            .collect()
    }

    /// The faces of the target that each layer was drawn on, ascending; `None` for all of it.
    #[must_use]
    pub fn layer_faces(&self) -> Vec<Option<Vec<u32>>> {
        self.layers
            .iter()
            .map(|layer| layer.drawn.faces(&self.mesh))
            .collect()
    }

    /// The same for what is turned.
    #[must_use]
    pub fn modification_faces(&self) -> Vec<Option<Vec<u32>>> {
        self.modifications
            .iter()
            .map(|(_, drawn)| drawn.faces(&self.mesh))
            .collect()
    }

    /// Where the mesh of one source corresponds to the target, by the method of its recipe.
    ///
    /// # Errors
    /// As [`Correspondence::find`], with the name of the source.
    ///
    /// # Panics
    /// If there is no such source.
    pub fn correspondence(
        &self,
        source: usize,
        options: &CorrespondenceOptions,
    ) -> Result<Correspondence, RecipeError> {
        self.correspondence_with_progress(source, options, &())
    }

    /// As [`correspondence`](Self::correspondence), watched.
    ///
    /// # Errors
    /// As [`correspondence`](Self::correspondence), and [`TransferError::Stopped`] if `progress`
    /// asks for it.
    ///
    /// # Panics
    /// If there is no such source.
    pub fn correspondence_with_progress(
        &self,
        source: usize,
        options: &CorrespondenceOptions,
        progress: &dyn Progress,
    ) -> Result<Correspondence, RecipeError> {
        let JobSource {
            name,
            clip,
            markers,
            told,
            ..
        } = &self.sources[source];
        let options = (*options).with_method(told.method.into());
        let found = Correspondence::find_with_progress(
            clip.reference(),
            &self.mesh,
            markers.as_ref(),
            &options,
            progress,
        );
        found.map_err(RecipeError::transfer(format!("source '{name}'")))
    }

    /// The layers with their weights, given the correspondence of each source; and what is odd
    /// about them.
    ///
    /// # Errors
    /// Clips whose flexibility cannot be computed.
    pub fn layers(
        &self,
        found: &[Correspondence],
    ) -> Result<(Vec<Layer>, Vec<String>), RecipeError> {
        let mut problems = Vec::new();
        let mut layers = Vec::new();
        for (k, layer) in self.layers.iter().enumerate() {
            let weights = self
                .weights(&layer.drawn, layer.source, found)
                .map_err(RecipeError::transfer(format!("layer {k}")))?;
            problems.extend(
                layer
                    .drawn
                    .nothing_in(&weights)
                    .map(|why| format!("layer {k} moves nothing: its region {why}")),
            );
            layers.push(layer.with_weights(weights));
        }
        Ok((layers, problems))
    }

    /// What a region counts on every triangle, where `source` says what is stiff.
    fn weights(
        &self,
        drawn: &Drawn,
        source: usize,
        found: &[Correspondence],
    ) -> Result<Vec<f64>, TransferError> {
        drawn.weights(&self.mesh, |threshold| {
            self.partitions(source, found, threshold)
        })
    }

    /// The stiff parts of the target under one source.
    fn partitions(
        &self,
        source: usize,
        found: &[Correspondence],
        threshold: Threshold,
    ) -> Result<Partitions, TransferError> {
        let flexibility = Flexibility::of(&self.sources[source].clip)?;
        let on_target = found[source]
            .map
            .filled(&self.mesh)
            .carry(flexibility.of_triangles(), 0.0);
        match threshold {
            Threshold::Auto => Partitions::found(&self.mesh, &on_target),
            Threshold::Below(flexibility) => Partitions::new(&self.mesh, &on_target, flexibility),
        }
    }

    /// What the recipe says about root, feet and poses; and what is odd about it.
    ///
    /// # Errors
    /// Clips whose flexibility cannot be computed.
    pub fn options(
        &self,
        found: &[Correspondence],
    ) -> Result<(SynthesisOptions, Vec<String>), RecipeError> {
        let mut options = self.told.synthesis.clone();
        let mut problems = Vec::new();
        for (k, source) in self
            .sources
            .iter()
            .enumerate()
            .filter(|(_, source)| source.told.turn && !source.told.align_poses)
        {
            let place = RecipeError::transfer(format!("source '{}'", source.name));
            let map = found[k].map.filled(&self.mesh);
            if let Some(pose) = PoseModification::facing(&self.mesh, source.clip.reference(), &map)
                .map_err(place)?
            {
                problems.push(format!(
                    "source '{}' faces another way than the target: its motion is turned by {:.0}° to fit",
                    source.name,
                    pose.whole_angle_rad().to_degrees()
                ));
                options = options.with_aligned_source(k, pose);
            }
        }
        for (k, source) in self
            .sources
            .iter()
            .enumerate()
            .filter(|(_, source)| source.told.align_poses)
        {
            let place = || RecipeError::transfer(format!("source '{}', align_poses", source.name));
            let partitions = self
                .partitions(k, found, Threshold::Auto)
                .map_err(place())?;
            let map = found[k].map.filled(&self.mesh);
            let pose =
                PoseModification::aligning(&self.mesh, source.clip.reference(), &map, &partitions)
                    .map_err(place())?;
            options = options.with_aligned_source(k, pose);
        }
        if let Some((pose, odd)) = self.pose(found)? {
            problems.extend(odd);
            options = options.with_pose(pose);
        }
        Ok((options, problems))
    }

    /// The reference pose of the target that the recipe's modifications make, and what is odd about
    /// them; nothing without a modification or a layer.
    ///
    /// # Errors
    /// Clips whose flexibility cannot be computed.
    pub fn pose(
        &self,
        found: &[Correspondence],
    ) -> Result<Option<(PoseModification, Vec<String>)>, RecipeError> {
        let Some(lowest) = self
            .layers
            .first()
            .filter(|_| !self.modifications.is_empty())
        else {
            return Ok(None);
        };
        let mut problems = Vec::new();
        let mut pose = PoseModification::none(self.mesh.triangles().len());
        for (k, (told, drawn)) in self.modifications.iter().enumerate() {
            let place = || RecipeError::transfer(format!("modify {k}"));
            let weights = self.weights(drawn, lowest.source, found).map_err(place())?;
            problems.extend(
                drawn
                    .nothing_in(&weights)
                    .map(|why| format!("modify {k} turns nothing: its region {why}")),
            );
            pose.turn_region(&weights, told.axis.into(), told.degrees.to_radians())
                .map_err(place())?;
        }
        Ok(Some((pose, problems)))
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
        let source = |(source, found): (&'a JobSource, &'a Correspondence)| Source {
            clip: &source.clip,
            map: Cow::Borrowed(&found.map),
        };
        let sources = self.sources.iter().zip(found).map(source).collect();
        Synthesis::new(&self.mesh, sources, layers, options)
            .map_err(RecipeError::transfer("the synthesis"))
    }

    /// Does all of it.
    ///
    /// # Errors
    /// As every step; and [`TransferError::Stopped`] if `progress` asks for it.
    pub fn run(&self, progress: &dyn Progress) -> Result<Transferred, RecipeError> {
        let began = Instant::now();
        let mut correspondences = Vec::new();
        for (k, source) in self.sources.iter().enumerate() {
            go_on(progress, &format!("matching {}", source.name), 0.0)?;
            correspondences.push(self.correspondence_with_progress(
                k,
                &CorrespondenceOptions::default(),
                progress,
            )?);
        }
        let found_ms = milliseconds(began);
        let mut made = self.run_with(correspondences, progress)?;
        made.times.map_ms += found_ms;
        Ok(made)
    }

    /// The rest of it, with the correspondence of each source at hand.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_with(
        &self,
        correspondences: Vec<Correspondence>,
        progress: &dyn Progress,
    ) -> Result<Transferred, RecipeError> {
        let mut problems = self.problems();
        for (source, found) in self.sources.iter().zip(&correspondences) {
            problems.extend(
                found
                    .problems
                    .iter()
                    .map(|problem| format!("source '{}': {problem}", source.name)),
            );
        }
        let began = Instant::now();
        let (layers, odd_layers) = self.layers(&correspondences)?;
        let (options, odd_options) = self.options(&correspondences)?;
        problems.extend(odd_layers.into_iter().chain(odd_options));
        let map_ms = milliseconds(began);
        let began = Instant::now();
        let mut synthesis = self.synthesis(&correspondences, layers, options)?;
        let factor_ms = milliseconds(began);
        let began = Instant::now();
        let mut motion = synthesis
            .motion(progress)
            .map_err(RecipeError::transfer("the frames"))?;
        let solve_ms = milliseconds(began);
        drop(synthesis);
        let began = Instant::now();
        let partings = self.untangle(&mut motion.frames, progress)?;
        let times = TransferTimes {
            map_ms,
            factor_ms,
            solve_ms,
            check_ms: milliseconds(began),
        };
        problems.extend(tangled(&partings));
        problems.extend(motion.feet.and_then(|feet| nothing_stands(&feet)));
        Ok(Transferred {
            motion,
            partings,
            correspondences,
            problems,
            times,
        })
    }

    /// Where `frames` cut through themselves and the target at rest does not, frame by frame;
    /// parted if the recipe says so, and empty if it asks for neither.
    ///
    /// # Errors
    /// Frames of another mesh, or with positions that are not finite; [`TransferError::Stopped`] if
    /// `progress` asks for it.
    pub fn untangle(
        &self,
        frames: &mut [Vec<DVec3>],
        progress: &dyn Progress,
    ) -> Result<Vec<Parting>, RecipeError> {
        if !(self.told.check || self.told.untangle) {
            return Ok(Vec::new());
        }
        let place = || RecipeError::transfer("self-intersections");
        let entanglement = Entanglement::new(&self.mesh).map_err(place())?;
        let count = frames.len();
        let mut partings = Vec::with_capacity(count);
        for (k, frame) in frames.iter_mut().enumerate() {
            go_on(
                progress,
                "looking for self-intersections",
                k as f64 / count as f64,
            )?;
            let parting = if self.told.untangle {
                entanglement.part(frame)
            } else {
                entanglement.look_at(frame)
            };
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
        let [layer] = self.layers.as_slice() else {
            return Vec::new();
        };
        let names = self.sources[layer.source]
            .clip
            .frame_names()
            .get(layer.frames.0..=layer.frames.1);
        names
            .filter(|_| layer.told.at == 0 && layer.told.speed == 1.0)
            .unwrap_or_default()
            .to_vec()
    }
}

impl JobOptions {
    fn of(recipe: &TransferRecipe) -> Self {
        let synthesis = SynthesisOptions::default()
            .with_root(recipe.root.into())
            .with_form(recipe.form.into());
        let contacts = ContactOptions::default().with_up(recipe.up.into());
        let synthesis = if recipe.feet {
            synthesis.with_planted_feet(contacts)
        } else {
            synthesis
        };
        Self {
            synthesis,
            check: recipe.check,
            untangle: recipe.untangle,
        }
    }
}

/// What a transfer made, and at what cost.
#[derive(Debug, Clone)]
pub struct Transferred {
    /// The frames, and what became of the feet.
    pub motion: Motion,
    /// Where frames cut through themselves, if that was to be looked at.
    pub partings: Vec<Parting>,
    /// From each source to the target.
    pub correspondences: Vec<Correspondence>,
    /// What a person should know, one sentence each.
    pub problems: Vec<String>,
    /// How long each part took.
    pub times: TransferTimes,
}

/// Wall times of a transfer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TransferTimes {
    /// Correspondences and weights.
    pub map_ms: f64,
    /// The system of the target.
    pub factor_ms: f64,
    /// All frames.
    pub solve_ms: f64,
    /// Self-intersections.
    pub check_ms: f64,
}

impl Transferred {
    /// Time for one frame.
    #[must_use]
    pub fn ms_per_frame(&self) -> f64 {
        self.times.solve_ms / self.motion.frames.len().max(1) as f64
    }

    /// The report on the map with the most lost triangles, and of equal ones that with the farthest
    /// partners.
    ///
    /// # Panics
    /// Never: a recipe without a source makes nothing.
    #[must_use]
    pub fn worst_map(&self) -> &MapReport {
        let reports = self.correspondences.iter().map(|found| &found.report);
        let order = |a: &&MapReport, b: &&MapReport| {
            a.lost_share()
                .total_cmp(&b.lost_share())
                .then(a.residual.total_cmp(&b.residual))
        };
        reports.max_by(order).expect("a layer has a source")
    }
}

/// What is left of self-intersections, if anything.
fn tangled(partings: &[Parting]) -> Option<String> {
    let frames = partings.iter().filter(|parting| parting.after > 0).count();
    let pairs: usize = partings.iter().map(|parting| parting.after).sum();
    let count = partings.len();
    (frames > 0)
        .then(|| format!("{frames} of {count} frames cut through themselves where the target at rest does not: {pairs} pairs of triangles"))
}

fn nothing_stands(feet: &FeetReport) -> Option<String> {
    let why = "no foot stands in the source: nothing stays low and still against its ground; is another axis up?";
    (feet.vertices == 0).then(|| why.to_owned())
}

fn go_on(progress: &dyn Progress, stage: &str, done: f64) -> Result<(), RecipeError> {
    match progress.report(stage, done) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(RecipeError::transfer(stage)(TransferError::Stopped)),
    }
}

pub(crate) fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

impl JobLayer {
    fn with_weights(&self, weights: Vec<f64>) -> Layer {
        let RecipeLayer {
            mode,
            at,
            speed,
            ease,
            ..
        } = self.told;
        Layer {
            source: self.source,
            weights,
            mode: mode.into(),
            frames: self.frames,
            at,
            speed,
            ease,
        }
    }
}

fn require_distinct(sources: &[JobSource]) -> Result<(), RecipeError> {
    for (k, source) in sources.iter().enumerate() {
        if sources[..k]
            .iter()
            .any(|earlier| earlier.name == source.name)
        {
            let message = format!(
                "the name '{}' is taken by an earlier source; give each its own",
                source.name
            );
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
        pliant_io::load(
            locator,
            &self
                .folder
                .map_or(options, |folder| options.with_folder(folder)),
        )
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder
            .map_or_else(|| file.into(), |folder| folder.join(file))
    }

    fn source(&self, told: &RecipeSource) -> Result<JobSource, RecipeError> {
        let asset = self.asset(&told.clip)?;
        let clip = asset.clip()?;
        let (markers, odd) = told
            .markers
            .as_deref()
            .map(|file| read_markers(file, self.folder))
            .transpose()?
            .unzip();
        let problems = asset
            .problems
            .into_iter()
            .chain(odd.into_iter().flatten())
            .collect();
        Ok(JobSource {
            name: told.name.clone(),
            clip: Arc::new(clip),
            markers,
            problems,
            told: told.clone(),
        })
    }

    fn modification(
        &self,
        k: usize,
        told: &RecipeModification,
        mesh: &Mesh,
    ) -> Result<(RecipeModification, Drawn), RecipeError> {
        let [x, y, z] = told.axis;
        if !(told.axis.iter().all(|part| part.is_finite())
            && told.axis.iter().any(|&part| part != 0.0))
        {
            let message = format!("it is [{x}, {y}, {z}]; give a direction, such as [0, 1, 0]");
            return Err(RecipeError::meaning(format!("modify {k}, axis"), message));
        }
        if !told.degrees.is_finite() {
            return Err(RecipeError::meaning(
                format!("modify {k}, degrees"),
                format!("it is {}; give a number", told.degrees),
            ));
        }
        let drawn = Drawn::read(told.selection(), mesh, &format!("modify {k}"), |file| {
            self.path(file)
        })?;
        Ok((told.clone(), drawn))
    }

    fn layer(
        &self,
        k: usize,
        told: &RecipeLayer,
        sources: &[JobSource],
        mesh: &Mesh,
    ) -> Result<JobLayer, RecipeError> {
        let Some(source) = sources.iter().position(|source| source.name == told.source) else {
            let names: Vec<String> = sources
                .iter()
                .map(|source| format!("'{}'", source.name))
                .collect();
            let message = format!(
                "no source is named '{}'; there are {}",
                told.source,
                names.join(", ")
            );
            return Err(RecipeError::meaning(format!("layer {k}, source"), message));
        };
        let count = sources[source].clip.frames().len();
        let [first, last] = told.frames.unwrap_or([0, count.saturating_sub(1)]);
        if first > last || last >= count {
            let message = format!(
                "[{first}, {last}] of a clip with {count} frames, counted from 0; give a range inside"
            );
            return Err(RecipeError::meaning(format!("layer {k}, frames"), message));
        }
        let drawn = Drawn::read(told.selection(), mesh, &format!("layer {k}"), |file| {
            self.path(file)
        })?;
        let layer = JobLayer {
            told: told.clone(),
            source,
            frames: (first, last),
            drawn,
        };
        require_playable(k, &layer)?;
        Ok(layer)
    }
}

fn require_playable(k: usize, layer: &JobLayer) -> Result<(), RecipeError> {
    let RecipeLayer { speed, ease, .. } = layer.told;
    if !(speed > 0.0 && speed.is_finite()) {
        return Err(RecipeError::meaning(
            format!("layer {k}, speed"),
            format!("it is {speed}; give a number above zero"),
        ));
    }
    if !(ease >= 0.0 && ease.is_finite()) {
        return Err(RecipeError::meaning(
            format!("layer {k}, ease"),
            format!("it is {ease}; give a number of frames from zero up"),
        ));
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
