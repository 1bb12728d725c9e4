//! `pliant transfer`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use pliant::transfer_job::{TransferJob, Transferred};
use pliant::transfer_recipe::{RecipeError, RecipeMethod, RecipeRoot, RecipeUp, TransferRecipe};
use pliant_transfer::{AlignmentCandidate, Correspondence, FeetReport, MapReport, Parting};
use serde_json::{Map, Value, json};

use super::console::Console;
use super::failure::Failure;
use super::{edited, output, recipe_file};

const EXAMPLES: &str = "\
Examples:
  pliant transfer --source walk.glb --target camel.obj --markers pairs.json --out camel.glb
                                              one animal's walk on another
  pliant transfer --source 'specimen:hound#walk' --target specimen:tapir --out tapir.glb
                                              without markers: the shapes alone decide
  pliant transfer --source walk.glb --target camel.obj --markers pairs.csv --root fix --out camel.npy
                                              on the spot, as plain positions, frames x vertices x 3
  pliant transfer --source 'specimen:hound#walk' --target specimen:tapir --feet --untangle --out tapir.glb
                                              standing feet stand, and legs do not run through each other
  pliant transfer --init recipe.toml          a recipe to start from, with every key explained
  pliant transfer recipe.toml --out mix.glb   parts of several clips on parts of the target, in layers

Markers are pairs of vertices that are the same spot, source first, counted from 0: JSON [[source,
target], …] or lines of two numbers, with names or without, or the landmarks of both meshes as
SOURCE.json+TARGET.json (see `pliant markers --help`). Four different pairs are the fewest;
`pliant markers suggest` says where they help and `pliant markers check` which are wrong. Without
markers all ways round that lie nearly as well are tried, and what is unsure is said. The report
says how many target triangles found no partner (uncovered) or only one that faces away (flipped),
and how far partners are apart (residual, as part of the target's diagonal). The target keeps its
names, UVs and polygons.

A recipe has more to say: per layer a region (files, faces, \"#GROUP\" or strokes over vertices),
what counts as stiff (threshold), how its border blends (refine, band), when it shows (frames, at,
speed, ease) and how (mode); per source markers, method, turn and align_poses; [[modify]] turns
parts of the target's reference pose. Its keys output, root, feet, up, check and untangle are
those of the options here, which come first where both are given.

With --feet, vertices that stay low and still against the source's ground stay so on the target;
the report says how far they slid, led by the root alone (slide_before) and held (slide), as parts
of the diagonal. With --check or --untangle, `intersections` counts, frame by frame, pairs of
triangles that cut each other and did not at rest.";

/// Other meshes' animations on a mesh of its own.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A recipe with sources and layers.
    #[arg(value_name = "RECIPE.toml", conflicts_with_all = ["source", "target", "markers"], required_unless_present_any = ["source", "target", "init"])]
    recipe: Option<PathBuf>,

    /// The clip that moves the target.
    #[arg(long, value_name = "CLIP", requires = "target")]
    source: Option<String>,

    /// The mesh that is to move.
    #[arg(long, value_name = "MESH", requires = "source")]
    target: Option<String>,

    /// Pairs of vertices that are the same spot (default: the shapes alone decide).
    #[arg(long, value_name = "FILE", requires = "source")]
    markers: Option<String>,

    /// What becomes of the way that the source covers [default: carry].
    #[arg(long, value_enum)]
    root: Option<RecipeRoot>,

    /// Feet that stand in the source stand in the target.
    #[arg(long)]
    feet: bool,

    /// The direction away from the ground, for --feet [default: y].
    #[arg(long, value_enum)]
    up: Option<RecipeUp>,

    /// Make up for reference poses that differ, stiff part by stiff part.
    #[arg(long)]
    align_poses: bool,

    /// Count, frame by frame, where the target cuts through itself and does not at rest.
    #[arg(long)]
    check: bool,

    /// Part frames that cut through themselves, where a small correction does.
    #[arg(long)]
    untangle: bool,

    /// How the meshes are brought together [default: auto].
    #[arg(long, value_enum)]
    method: Option<RecipeMethod>,

    /// Where to write the target with its clip (default: where the recipe says).
    #[arg(long, value_name = "CLIP", required_unless_present_any = ["init", "recipe"])]
    out: Option<PathBuf>,

    /// Write a recipe to start from, and nothing else.
    #[arg(long, value_name = "FILE.toml", conflicts_with_all = ["recipe", "source", "target", "markers", "out"])]
    init: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    if let Some(file) = &args.init {
        return init(file, console);
    }
    let (job, name, out) = args.job()?;
    let out = out.as_path();
    output::require_clip_format(out)?;
    // An ending that cannot be written is told now rather than after the work.
    pliant_io::plan_save(
        &job.asset(&name, &[job.target().positions().to_vec()])?,
        out,
    )?;
    let mut made = job
        .run(&console.progress())
        .map_err(|error| args.failed(error))?;
    let mut object = described(&made, &job);
    edited::save(
        &job.asset(&name, &made.motion.frames)?,
        out,
        &mut object,
        &mut made.problems,
    )?;
    console.done(object, &told(&made, diagonal(&job), out), &made.problems)
}

fn init(file: &Path, console: &Console) -> Result<(), Failure> {
    if file.exists() {
        return Err(Failure::could_not(format!(
            "'{}' is there already; name another file, or remove it",
            file.display()
        )));
    }
    output::write(file, TransferRecipe::TEMPLATE.as_bytes().to_vec())?;
    let mut object = Map::new();
    object.insert("out".into(), json!(file.display().to_string()));
    console.done(object, &format!("written to {}\n", file.display()), &[])
}

impl Args {
    /// What is to be done, the name of the clip that comes of it, and where it goes.
    fn job(&self) -> Result<(TransferJob, String, PathBuf), Failure> {
        let Some(file) = &self.recipe else {
            let (source, target) = self
                .source
                .as_deref()
                .zip(self.target.as_deref())
                .expect("clap asks for both");
            let recipe = self.over(TransferRecipe::plain(
                source,
                target,
                self.markers.as_deref(),
            ));
            let job = TransferJob::load(&recipe, None).map_err(|error| self.failed(error))?;
            let name = job.sources()[0].clip.name().to_owned();
            return Ok((job, name, self.out.clone().expect("clap asks for --out")));
        };
        let (text, folder) = recipe_file::read(file)?;
        let recipe = self.over(TransferRecipe::parse(&text).map_err(|error| self.failed(error))?);
        let folder = folder.unwrap_or(Path::new("."));
        let Some(out) = self
            .out
            .clone()
            .or_else(|| recipe.output.as_ref().map(|output| folder.join(output)))
        else {
            return Err(Failure::usage(
                "nowhere to write to; give --out CLIP, or output = \"CLIP\" in the recipe",
            ));
        };
        let job = TransferJob::load(&recipe, Some(folder)).map_err(|error| self.failed(error))?;
        Ok((
            job,
            file.file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
            out,
        ))
    }

    /// The recipe with what the command line says instead.
    fn over(&self, mut recipe: TransferRecipe) -> TransferRecipe {
        recipe.root = self.root.unwrap_or(recipe.root);
        recipe.up = self.up.unwrap_or(recipe.up);
        recipe.feet |= self.feet;
        recipe.check |= self.check;
        recipe.untangle |= self.untangle;
        for source in &mut recipe.sources {
            source.method = self.method.unwrap_or(source.method);
            source.align_poses |= self.align_poses;
        }
        recipe
    }

    fn failed(&self, error: RecipeError) -> Failure {
        match (&self.recipe, error) {
            (Some(recipe), error) => Failure::about(recipe.display(), &error),
            (None, error) => error.into(),
        }
    }
}

fn described(made: &Transferred, job: &TransferJob) -> Map<String, Value> {
    let source = |(k, found): (usize, &Correspondence)| {
        let mut map = report_json(&found.report);
        map["name"] = json!(job.sources()[k].name);
        map["method"] = json!(found.method.name());
        map["candidates"] = found.candidates.iter().map(candidate_json).collect();
        map
    };
    let Transferred {
        motion,
        partings,
        correspondences,
        times,
        ..
    } = made;
    let mut object = Map::new();
    object.insert("frames".into(), json!(motion.frames.len()));
    object.insert("vertices".into(), json!(job.target().vertex_count()));
    object.insert("map".into(), report_json(made.worst_map()));
    object.insert(
        "sources".into(),
        correspondences.iter().enumerate().map(source).collect(),
    );
    object.insert("map_ms".into(), json!(times.map_ms));
    object.insert("factor_ms".into(), json!(times.factor_ms));
    object.insert("solve_ms_per_frame".into(), json!(made.ms_per_frame()));
    let diagonal = diagonal(job);
    if !partings.is_empty() {
        object.insert(
            "check_ms_per_frame".into(),
            json!(times.check_ms / partings.len() as f64),
        );
        object.insert(
            "intersections".into(),
            partings.iter().map(|parting| parting.after).collect(),
        );
        object.insert(
            "intersections_before".into(),
            partings.iter().map(|parting| parting.before).collect(),
        );
        let corrections = partings
            .iter()
            .map(|parting| parting.largest_correction / diagonal);
        object.insert(
            "largest_untangling".into(),
            json!(corrections.fold(0.0, f64::max)),
        );
    }
    if let Some(feet) = &motion.feet {
        object.insert("feet".into(), feet_json(feet, diagonal));
    }
    object
}

fn told(made: &Transferred, diagonal: f64, out: &Path) -> String {
    let map = made.worst_map();
    let mut text = String::new();
    if let Some(feet) = made.motion.feet {
        let [before, after] =
            [feet.slide_before, feet.slide_after].map(|slide| 100.0 * slide / diagonal);
        let _ = writeln!(
            text,
            "feet: {} vertices stand at some time; they slide {after:.2} % of the diagonal, {before:.2} % unheld",
            feet.vertices
        );
    }
    if !made.partings.is_empty() {
        let cut = |of: fn(&Parting) -> usize| {
            made.partings
                .iter()
                .filter(|parting| of(parting) > 0)
                .count()
        };
        let (before, after) = (cut(|parting| parting.before), cut(|parting| parting.after));
        let _ = writeln!(
            text,
            "self-intersections: {before} frame(s) cut through themselves, {after} in the end"
        );
    }
    let _ = writeln!(
        text,
        "{} frames; {} of {} target triangles uncovered, {} flipped, partners {:.2} % of the diagonal apart; matched in {:.0} ms, \
         factored in {:.1} ms, {:.2} ms a frame; written to {}",
        made.motion.frames.len(),
        map.uncovered,
        map.triangles,
        map.flipped,
        100.0 * map.residual,
        made.times.map_ms,
        made.times.factor_ms,
        made.ms_per_frame(),
        out.display()
    );
    text
}

/// The unit of the lengths that are told.
fn diagonal(job: &TransferJob) -> f64 {
    job.target()
        .bounds()
        .map_or(1.0, |bounds| bounds.diagonal())
}

fn candidate_json(candidate: &AlignmentCandidate) -> Value {
    let AlignmentCandidate {
        similarity,
        misfit,
        fitted,
    } = candidate;
    json!({
        "misfit": misfit,
        "scale": similarity.scale,
        "rotation": similarity.motion.rotation.to_array(),
        "translation": similarity.motion.translation.to_array(),
        "map": fitted.as_ref().map(report_json),
    })
}

/// Lengths as parts of the diagonal, but for the ground's step, which is one in the asset's units.
fn feet_json(feet: &FeetReport, diagonal: f64) -> Value {
    json!({
        "vertices": feet.vertices,
        "ground_step": feet.ground_step.to_array(),
        "slide_before": feet.slide_before / diagonal,
        "slide": feet.slide_after / diagonal,
        "largest_correction": feet.largest_correction / diagonal,
    })
}

pub(crate) fn report_json(report: &MapReport) -> Value {
    json!({
        "triangles": report.triangles,
        "uncovered": report.uncovered,
        "flipped": report.flipped,
        "residual": report.residual,
        "distortion": report.distortion,
        "marker_residual": report.marker_residual,
    })
}

pub(crate) fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}
