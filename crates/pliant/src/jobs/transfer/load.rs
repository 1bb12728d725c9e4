//! From a transfer recipe to a job: opens the files and checks the values.

use std::path::Path;
use std::sync::Arc;

use pliant_io::{Asset, IoError, LoadOptions};
use pliant_mesh::Mesh;
use pliant_transfer::{FootContactOptions, Layer, RegionSelection, SynthesisOptions};

use super::{JobLayer, JobSource, TransferInputs, TransferJob, TransferSettings};
use crate::BuiltIn;
use crate::recipes::{
    RecipeError, RecipeLayer, RecipeModification, RecipeSource, SelectionReader, TransferRecipe,
    read_markers,
};

impl TransferJob {
    /// Opens the files of a recipe; relative paths start at `folder`, or at the working directory.
    ///
    /// # Errors
    /// Files that cannot be read and values that are out of range, with the file or the table and
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
        Self::plan(recipe, target, mesh, sources, &files)
    }

    /// The job of a recipe whose target, clips and markers are opened already; paths of region
    /// files start at `folder`.
    ///
    /// # Errors
    /// As [`load`](Self::load), except for what is open already; another number of clips than of
    /// sources.
    pub fn new(
        recipe: &TransferRecipe,
        inputs: TransferInputs,
        folder: Option<&Path>,
    ) -> Result<Self, RecipeError> {
        if inputs.sources.len() != recipe.sources.len() {
            return Err(RecipeError::meaning(
                "source",
                format!(
                    "there are {} clips for {} sources; give one for each",
                    inputs.sources.len(),
                    recipe.sources.len()
                ),
            ));
        }

        let mut sources = Vec::with_capacity(inputs.sources.len());
        for ((clip, markers), recipe) in inputs.sources.into_iter().zip(&recipe.sources) {
            sources.push(JobSource {
                name: recipe.name.clone(),
                clip,
                markers,
                warnings: Vec::new(),
                recipe: recipe.clone(),
            });
        }

        let files = Files { folder };
        Self::plan(recipe, inputs.target, inputs.mesh, sources, &files)
    }

    fn plan(
        recipe: &TransferRecipe,
        target: Arc<Asset>,
        mesh: Arc<Mesh>,
        sources: Vec<JobSource>,
        files: &Files<'_>,
    ) -> Result<Self, RecipeError> {
        mesh.require_surface()
            .map_err(|error| RecipeError::transfer(&recipe.target)(error.into()))?;
        require_distinct(&sources)?;

        let mut layers = Vec::with_capacity(recipe.layers.len());
        for (k, layer) in recipe.layers.iter().enumerate() {
            layers.push(files.layer(k, layer, &sources, &mesh)?);
        }
        let mut modifications = Vec::with_capacity(recipe.modifications.len());
        for (k, modification) in recipe.modifications.iter().enumerate() {
            modifications.push(files.modification(k, modification, &mesh)?);
        }

        Ok(Self {
            target,
            mesh,
            sources,
            layers,
            modifications,
            settings: TransferSettings::of(recipe),
        })
    }
}

impl TransferSettings {
    fn of(recipe: &TransferRecipe) -> Self {
        let mut synthesis = SynthesisOptions::default()
            .with_root(recipe.root)
            .with_weighting(recipe.form);
        if recipe.feet {
            let contacts = FootContactOptions::default().with_up(recipe.up.into());
            synthesis = synthesis.with_planted_feet(contacts);
        }

        Self {
            synthesis,
            check: recipe.check,
            untangle: recipe.untangle,
        }
    }
}

fn require_distinct(sources: &[JobSource]) -> Result<(), RecipeError> {
    for (k, source) in sources.iter().enumerate() {
        let is_taken = sources[..k]
            .iter()
            .any(|earlier| earlier.name == source.name);
        if is_taken {
            let message = format!(
                "an earlier source has the name '{}'; give each source its own name",
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
        let mut options = LoadOptions::default().with_specimens(&BuiltIn);
        if let Some(folder) = self.folder {
            options = options.with_folder(folder);
        }
        pliant_io::load(locator, &options)
    }

    fn source(&self, recipe: &RecipeSource) -> Result<JobSource, RecipeError> {
        let asset = self.asset(&recipe.clip)?;
        let clip = asset.clip()?;
        let mut warnings = asset.warnings;

        // Without a marker file the correspondence follows from the shapes.
        let mut markers = None;
        if let Some(file) = &recipe.markers {
            let (read, marker_warnings) = read_markers(file, self.folder)?;
            markers = Some(read);
            warnings.extend(marker_warnings);
        }

        Ok(JobSource {
            name: recipe.name.clone(),
            clip: Arc::new(clip),
            markers,
            warnings,
            recipe: recipe.clone(),
        })
    }

    fn modification(
        &self,
        k: usize,
        recipe: &RecipeModification,
        mesh: &Mesh,
    ) -> Result<(RecipeModification, RegionSelection), RecipeError> {
        let [x, y, z] = recipe.axis;
        let is_finite = recipe.axis.iter().all(|part| part.is_finite());
        let is_zero = recipe.axis.iter().all(|&part| part == 0.0);
        if !is_finite || is_zero {
            let message = format!("it is [{x}, {y}, {z}]; give a direction, such as [0, 1, 0]");
            return Err(RecipeError::meaning(format!("modify {k}, axis"), message));
        }
        if !recipe.degrees.is_finite() {
            let message = format!("it is {}; give a number", recipe.degrees);
            return Err(RecipeError::meaning(
                format!("modify {k}, degrees"),
                message,
            ));
        }

        let reader = self.regions(format!("modify {k}"), mesh);
        Ok((recipe.clone(), reader.read(recipe.region_keys())?))
    }

    fn layer(
        &self,
        k: usize,
        recipe: &RecipeLayer,
        sources: &[JobSource],
        mesh: &Mesh,
    ) -> Result<JobLayer, RecipeError> {
        let source = source_named(k, &recipe.source, sources)?;
        // Frames and source are checked before any region file is opened.
        let frames = frame_range(k, recipe, sources[source].clip.frames().len())?;
        let reader = self.regions(format!("layer {k}"), mesh);
        let layer = JobLayer {
            recipe: recipe.clone(),
            source,
            frames,
            region: reader.read(recipe.region_keys())?,
        };

        require_playable(k, &layer)?;
        Ok(layer)
    }

    fn regions<'a>(&'a self, place: String, mesh: &'a Mesh) -> SelectionReader<'a> {
        SelectionReader {
            mesh,
            place,
            folder: self.folder,
        }
    }
}

/// The index of the source of layer `k`.
fn source_named(k: usize, name: &str, sources: &[JobSource]) -> Result<usize, RecipeError> {
    if let Some(source) = sources.iter().position(|source| source.name == name) {
        return Ok(source);
    }

    let names: Vec<String> = sources
        .iter()
        .map(|source| format!("'{}'", source.name))
        .collect();
    let message = format!(
        "no source is named '{name}'; the sources are {}",
        names.join(", ")
    );
    Err(RecipeError::meaning(format!("layer {k}, source"), message))
}

/// First and last frame of layer `k` in a clip of `count` frames.
fn frame_range(
    k: usize,
    recipe: &RecipeLayer,
    count: usize,
) -> Result<(usize, usize), RecipeError> {
    let [first, last] = recipe.frames.unwrap_or([0, count.saturating_sub(1)]);
    if first > last || last >= count {
        let message = format!(
            "[{first}, {last}] of a clip with {count} frames, counted from 0; give a range inside the clip"
        );
        return Err(RecipeError::meaning(format!("layer {k}, frames"), message));
    }
    Ok((first, last))
}

fn require_playable(k: usize, layer: &JobLayer) -> Result<(), RecipeError> {
    let RecipeLayer { speed, ease, .. } = layer.recipe;
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

    let end = layer.with_weights(Vec::new()).end();
    let most = Layer::MOST_FRAMES;
    if end > most {
        return Err(RecipeError::meaning(
            format!("layer {k}"),
            format!("it ends after {end} frames, and {most} is the most; check at and speed"),
        ));
    }
    Ok(())
}
