//! Animation synthesis from a recipe: from opened files to an animated asset.
//!
//! **Steps.** [`TransferJob::load`] opens all files and rejects what cannot work,
//! [`TransferJob::run`] computes the frames, and [`TransferJob::asset`] puts them into the target.
//! Inside, [`TransferJob::correspondence`] matches each source to the target,
//! [`TransferJob::layers`] turns regions into weights, and [`TransferJob::synthesis`] combines
//! them.
//!
//! - `load`: from a recipe to a checked job.
//! - `result`: frames, warnings and timings.

mod load;
mod result;

use std::borrow::Cow;
use std::sync::Arc;

use pliant_io::{Animation, Asset, IoError};
use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, Progress, Stopped};
use pliant_rig::Clip;
use pliant_transfer::{
    Correspondence, CorrespondenceOptions, Flexibility, Layer, Markers, Partitions,
    PoseModification, RegionSelection, SelfIntersectionRemoval, SelfIntersectionReport, Source,
    StiffnessThreshold, Synthesis, SynthesisOptions, TransferError,
};
use web_time::Instant;

use crate::recipes::{RecipeError, RecipeLayer, RecipeModification, RecipeSource};
pub use result::{TransferResult, TransferTimes};

/// A transfer with all its files opened.
#[derive(Debug, Clone)]
pub struct TransferJob {
    target: Arc<Asset>,
    mesh: Arc<Mesh>,
    sources: Vec<JobSource>,
    layers: Vec<JobLayer>,
    modifications: Vec<(RecipeModification, RegionSelection)>,
    settings: TransferSettings,
}

/// The settings of a recipe that hold for all layers.
#[derive(Debug, Clone)]
struct TransferSettings {
    synthesis: SynthesisOptions,
    check: bool,
    untangle: bool,
}

/// The opened files of a recipe; shared, so that a caller can use them for several jobs.
#[derive(Debug, Clone)]
pub struct TransferInputs {
    /// The target.
    pub target: Arc<Asset>,
    /// The target in its rest pose: the [mesh](Asset::mesh) of its asset.
    pub mesh: Arc<Mesh>,
    /// The clip of every source, with its marker pairs if it has some, in the recipe's order.
    pub sources: Vec<(Arc<Clip>, Option<Markers>)>,
}

/// A source with its clip.
#[derive(Debug, Clone)]
pub struct JobSource {
    /// The name in the recipe.
    pub name: String,
    /// The animation.
    pub clip: Arc<Clip>,
    /// The pairs of its marker file, if it has one.
    pub markers: Option<Markers>,
    /// Warnings of reading.
    pub warnings: Vec<String>,
    recipe: RecipeSource,
}

#[derive(Debug, Clone)]
struct JobLayer {
    recipe: RecipeLayer,
    source: usize,
    frames: (usize, usize),
    region: RegionSelection,
}

impl TransferJob {
    /// The sources in the recipe's order.
    #[must_use]
    pub fn sources(&self) -> &[JobSource] {
        &self.sources
    }

    /// The target in its rest pose.
    #[must_use]
    pub fn target(&self) -> &Mesh {
        &self.mesh
    }

    /// The warnings of reading, one sentence each.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = self.target.warnings.clone();
        for source in &self.sources {
            warnings.extend_from_slice(&source.warnings);
        }
        warnings
    }

    /// The selected faces of each layer, ascending; `None` for the whole target.
    #[must_use]
    pub fn layer_faces(&self) -> Vec<Option<Vec<u32>>> {
        self.layers
            .iter()
            .map(|layer| layer.region.faces(&self.mesh))
            .collect()
    }

    /// The selected faces of each modification, ascending; `None` for the whole target.
    #[must_use]
    pub fn modification_faces(&self) -> Vec<Option<Vec<u32>>> {
        self.modifications
            .iter()
            .map(|(_, region)| region.faces(&self.mesh))
            .collect()
    }

    /// The correspondence of one source to the target, by the method of its recipe.
    ///
    /// # Errors
    /// As [`Correspondence::find`], with the name of the source; and a source that the job does not
    /// have.
    pub fn correspondence(
        &self,
        source: usize,
        options: &CorrespondenceOptions,
    ) -> Result<Correspondence, RecipeError> {
        self.correspondence_with_progress(source, options, &())
    }

    /// As [`correspondence`](Self::correspondence), with progress.
    ///
    /// # Errors
    /// As [`correspondence`](Self::correspondence), and [`TransferError::Stopped`] if `progress`
    /// asks for it.
    pub fn correspondence_with_progress(
        &self,
        source: usize,
        options: &CorrespondenceOptions,
        progress: &dyn Progress,
    ) -> Result<Correspondence, RecipeError> {
        let count = self.sources.len();
        let source = self.sources.get(source).ok_or_else(|| {
            RecipeError::meaning(
                format!("source {source}"),
                format!("the recipe has {count} sources, counted from 0"),
            )
        })?;
        let options = (*options).with_method(source.recipe.method);
        Correspondence::find_with_progress(
            source.clip.reference(),
            &self.mesh,
            source.markers.as_ref(),
            &options,
            progress,
        )
        .map_err(source.failed())
    }

    /// The layers with their weights, given the correspondence of each source; and the warnings
    /// about them.
    ///
    /// # Errors
    /// Clips whose flexibility cannot be computed.
    pub fn layers(
        &self,
        correspondences: &[Correspondence],
    ) -> Result<(Vec<Layer>, Vec<String>), RecipeError> {
        let mut layers = Vec::with_capacity(self.layers.len());
        let mut warnings = Vec::new();
        for (k, layer) in self.layers.iter().enumerate() {
            let weights = self
                .weights(&layer.region, layer.source, correspondences)
                .map_err(RecipeError::transfer(format!("layer {k}")))?;
            if let Some(why) = layer.region.why_empty(&weights) {
                warnings.push(format!("layer {k} moves nothing: its region {why}"));
            }
            layers.push(layer.with_weights(weights));
        }
        Ok((layers, warnings))
    }

    /// The weight of every triangle in a region, where `source` decides what is stiff.
    fn weights(
        &self,
        region: &RegionSelection,
        source: usize,
        correspondences: &[Correspondence],
    ) -> Result<Vec<f64>, TransferError> {
        region.weights(&self.mesh, |threshold| {
            self.partitions(source, correspondences, threshold)
        })
    }

    /// The stiff parts of the target under one source.
    fn partitions(
        &self,
        source: usize,
        correspondences: &[Correspondence],
        threshold: StiffnessThreshold,
    ) -> Result<Partitions, TransferError> {
        // Measured on the source, and carried to the target by the correspondence.
        let flexibility = Flexibility::of(&self.sources[source].clip)?;
        let map = correspondences[source].map.filled(&self.mesh);
        let on_target = map.carry(flexibility.of_triangles(), 0.0);

        match threshold {
            StiffnessThreshold::Auto => Partitions::detect(&self.mesh, &on_target),
            StiffnessThreshold::Below(flexibility) => {
                Partitions::new(&self.mesh, &on_target, flexibility)
            }
        }
    }

    /// The options of the synthesis: root motion, feet and reference poses; and the warnings about
    /// them.
    ///
    /// # Errors
    /// Clips whose flexibility cannot be computed.
    pub fn options(
        &self,
        correspondences: &[Correspondence],
    ) -> Result<(SynthesisOptions, Vec<String>), RecipeError> {
        let mut options = self.settings.synthesis.clone();
        let mut warnings = Vec::new();

        // Aligned poses include the facing direction, so only one of both applies.
        for (k, source) in self.sources.iter().enumerate() {
            if !source.recipe.turn || source.recipe.align_poses {
                continue;
            }
            if let Some(pose) = self.facing(source, &correspondences[k])? {
                warnings.push(format!(
                    "source '{}' faces another direction than the target: its motion is rotated by {:.0}° to the target's direction",
                    source.name,
                    pose.whole_angle_rad().to_degrees()
                ));
                options = options.with_aligned_source(k, pose);
            }
        }

        for (k, source) in self.sources.iter().enumerate() {
            if source.recipe.align_poses {
                let pose = self.aligned_pose(k, correspondences)?;
                options = options.with_aligned_source(k, pose);
            }
        }

        if let Some((pose, pose_warnings)) = self.pose(correspondences)? {
            warnings.extend(pose_warnings);
            options = options.with_pose(pose);
        }

        Ok((options, warnings))
    }

    /// The rotation that makes a source face the target's direction, if it is needed.
    fn facing(
        &self,
        source: &JobSource,
        correspondence: &Correspondence,
    ) -> Result<Option<PoseModification>, RecipeError> {
        let map = correspondence.map.filled(&self.mesh);
        PoseModification::facing(&self.mesh, source.clip.reference(), &map).map_err(source.failed())
    }

    /// The modification that takes the reference pose of a source to that of the target.
    fn aligned_pose(
        &self,
        k: usize,
        correspondences: &[Correspondence],
    ) -> Result<PoseModification, RecipeError> {
        let source = &self.sources[k];
        let place = format!("source '{}', align_poses", source.name);
        let partitions = self
            .partitions(k, correspondences, StiffnessThreshold::Auto)
            .map_err(RecipeError::transfer(&place))?;

        let map = correspondences[k].map.filled(&self.mesh);
        PoseModification::aligning(&self.mesh, source.clip.reference(), &map, &partitions)
            .map_err(RecipeError::transfer(&place))
    }

    /// The reference pose of the target after the recipe's modifications, and the warnings about
    /// them; `None` without a modification or a layer.
    ///
    /// # Errors
    /// Clips whose flexibility cannot be computed.
    pub fn pose(
        &self,
        correspondences: &[Correspondence],
    ) -> Result<Option<(PoseModification, Vec<String>)>, RecipeError> {
        let Some(lowest) = self.layers.first() else {
            return Ok(None);
        };
        if self.modifications.is_empty() {
            return Ok(None);
        }

        let mut pose = PoseModification::none(self.mesh.triangles().len());
        let mut warnings = Vec::new();
        for (k, (recipe, region)) in self.modifications.iter().enumerate() {
            let place = format!("modify {k}");
            let weights = self
                .weights(region, lowest.source, correspondences)
                .map_err(RecipeError::transfer(&place))?;
            if let Some(why) = region.why_empty(&weights) {
                warnings.push(format!("modify {k} rotates nothing: its region {why}"));
            }

            pose.rotate_region(&weights, recipe.axis.into(), recipe.degrees.to_radians())
                .map_err(RecipeError::transfer(&place))?;
        }

        Ok(Some((pose, warnings)))
    }

    /// The synthesis, ready to be computed frame by frame.
    ///
    /// # Errors
    /// As [`Synthesis::new`].
    pub fn synthesis<'a>(
        &'a self,
        correspondences: &'a [Correspondence],
        layers: Vec<Layer>,
        options: SynthesisOptions,
    ) -> Result<Synthesis<'a>, RecipeError> {
        let mut sources = Vec::with_capacity(self.sources.len());
        for (source, correspondence) in self.sources.iter().zip(correspondences) {
            sources.push(Source {
                clip: &source.clip,
                map: Cow::Borrowed(&correspondence.map),
            });
        }
        Synthesis::new(&self.mesh, sources, layers, options)
            .map_err(RecipeError::transfer("the synthesis"))
    }

    /// Matches all sources and computes all frames.
    ///
    /// # Errors
    /// As every step; and [`TransferError::Stopped`] if `progress` asks for it.
    pub fn run(&self, progress: &dyn Progress) -> Result<TransferResult, RecipeError> {
        let all: Vec<usize> = (0..self.frame_count()).collect();
        self.run_frames(&all, progress)
    }

    /// Number of frames of the whole result: until the last layer ends.
    #[must_use]
    pub fn frame_count(&self) -> usize {
        let ends = self
            .layers
            .iter()
            .map(|layer| layer.with_weights(Vec::new()).end());
        ends.max().unwrap_or(0)
    }

    /// As [`run`](Self::run), for some frames of the result in ascending order; they are those of
    /// the whole result to the bit, see [`Synthesis::motion_of`].
    ///
    /// # Errors
    /// As [`run`](Self::run).
    ///
    /// # Panics
    /// For a frame after the last one.
    pub fn run_frames(
        &self,
        frames: &[usize],
        progress: &dyn Progress,
    ) -> Result<TransferResult, RecipeError> {
        let began = Instant::now();
        let mut correspondences = Vec::new();
        for (k, source) in self.sources.iter().enumerate() {
            go_on(progress, &format!("matching {}", source.name), 0.0)?;
            let options = CorrespondenceOptions::default();
            correspondences.push(self.correspondence_with_progress(k, &options, progress)?);
        }
        let match_ms = milliseconds(began);

        let mut result = self.run_frames_with(correspondences, frames, progress)?;
        result.times.map_ms += match_ms;
        Ok(result)
    }

    /// Computes all frames with a given correspondence for each source.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_with(
        &self,
        correspondences: Vec<Correspondence>,
        progress: &dyn Progress,
    ) -> Result<TransferResult, RecipeError> {
        let all: Vec<usize> = (0..self.frame_count()).collect();
        self.run_frames_with(correspondences, &all, progress)
    }

    /// Computes some frames with a given correspondence for each source.
    fn run_frames_with(
        &self,
        correspondences: Vec<Correspondence>,
        frames: &[usize],
        progress: &dyn Progress,
    ) -> Result<TransferResult, RecipeError> {
        let mut warnings = self.warnings();
        for (source, correspondence) in self.sources.iter().zip(&correspondences) {
            for warning in &correspondence.warnings {
                warnings.push(format!("source '{}': {warning}", source.name));
            }
        }

        // Weights of regions count as part of the correspondence.
        let began = Instant::now();
        let (layers, layer_warnings) = self.layers(&correspondences)?;
        let (options, option_warnings) = self.options(&correspondences)?;
        warnings.extend(layer_warnings);
        warnings.extend(option_warnings);
        let map_ms = milliseconds(began);

        let began = Instant::now();
        let mut synthesis = self.synthesis(&correspondences, layers, options)?;
        let factor_ms = milliseconds(began);

        let began = Instant::now();
        let mut motion = synthesis
            .motion_of(frames, progress)
            .map_err(RecipeError::transfer("the frames"))?;
        let solve_ms = milliseconds(began);

        // The synthesis borrows the correspondences, which the result takes.
        drop(synthesis);
        let began = Instant::now();
        let partings = self.untangle(&mut motion.frames, progress)?;
        let times = TransferTimes {
            map_ms,
            factor_ms,
            solve_ms,
            check_ms: milliseconds(began),
        };

        let input_warnings = warnings.clone();
        let intersections: Vec<usize> = partings.iter().map(|parting| parting.after).collect();
        let standing = motion.feet.map(|feet| feet.vertices);
        warnings.extend(TransferResult::frame_warnings(&intersections, standing));
        Ok(TransferResult {
            input_warnings,
            motion,
            partings,
            correspondences,
            warnings,
            times,
        })
    }

    /// Self-intersections of `frames` that the rest pose does not have, frame by frame; corrected
    /// if the recipe asks for it, and empty if it asks for neither.
    ///
    /// # Errors
    /// Frames of another mesh, or with positions that are not finite; [`TransferError::Stopped`] if
    /// `progress` asks for it.
    pub fn untangle(
        &self,
        frames: &mut [Vec<DVec3>],
        progress: &dyn Progress,
    ) -> Result<Vec<SelfIntersectionReport>, RecipeError> {
        let TransferSettings {
            check, untangle, ..
        } = self.settings;
        if !check && !untangle {
            return Ok(Vec::new());
        }

        let place = "self-intersections";
        let entanglement =
            SelfIntersectionRemoval::new(&self.mesh).map_err(RecipeError::transfer(place))?;
        let count = frames.len();
        let mut partings = Vec::with_capacity(count);
        for (k, frame) in frames.iter_mut().enumerate() {
            let done = k as f64 / count as f64;
            go_on(progress, "looking for self-intersections", done)?;

            let parting = if untangle {
                entanglement.remove(frame)
            } else {
                entanglement.count(frame)
            };
            partings.push(parting.map_err(RecipeError::transfer(place))?);
        }

        Ok(partings)
    }

    /// The target's asset with `frames` as its clip, at the frame rate of the lowest layer's
    /// source.
    ///
    /// # Errors
    /// Frames with another number of vertices.
    pub fn asset(&self, name: &str, frames: &[Vec<DVec3>]) -> Result<Asset, IoError> {
        let all: Vec<usize> = (0..frames.len()).collect();
        self.asset_of_frames(name, &all, frames)
    }

    /// As [`asset`](Self::asset), where `frames` are those frames of the whole result whose
    /// `numbers` are given.
    ///
    /// # Errors
    /// As [`asset`](Self::asset).
    pub fn asset_of_frames(
        &self,
        name: &str,
        numbers: &[usize],
        frames: &[Vec<DVec3>],
    ) -> Result<Asset, IoError> {
        let mut animation = Animation::new(name, frames.len());
        if let Some(lowest) = self.layers.first() {
            animation.frames_per_second = self.sources[lowest.source].clip.frames_per_second();
        }
        let names = self.frame_names();
        let of_numbers = numbers.iter().map(|&k| names.get(k).cloned());
        animation.frame_names = of_numbers.collect::<Option<_>>().unwrap_or_default();
        self.target.with_point_clip(animation, frames)
    }

    /// The names of the source's frames, if every frame of the output is one of them.
    fn frame_names(&self) -> Vec<String> {
        let [layer] = self.layers.as_slice() else {
            return Vec::new();
        };
        if layer.recipe.at != 0 || layer.recipe.speed != 1.0 {
            return Vec::new();
        }

        let (first, last) = layer.frames;
        let names = self.sources[layer.source].clip.frame_names();
        names.get(first..=last).unwrap_or_default().to_vec()
    }
}

impl JobSource {
    /// Adds the name of the source to an error.
    fn failed(&self) -> impl FnOnce(TransferError) -> RecipeError {
        |error| {
            let markers = self.recipe.markers.as_ref();
            let file = markers.filter(|_| error.is_about_markers());
            let place = file.map_or_else(|| format!("source '{}'", self.name), String::clone);
            RecipeError::transfer(place)(error)
        }
    }
}

impl JobLayer {
    fn with_weights(&self, weights: Vec<f64>) -> Layer {
        Layer {
            source: self.source,
            weights,
            mode: self.recipe.mode,
            frames: self.frames,
            at: self.recipe.at,
            speed: self.recipe.speed,
            ease: self.recipe.ease,
        }
    }
}

fn go_on(progress: &dyn Progress, stage: &str, done: f64) -> Result<(), RecipeError> {
    let stopped = |stopped: Stopped| RecipeError::transfer(stage)(stopped.into());
    progress.proceed(stage, done).map_err(stopped)
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}
