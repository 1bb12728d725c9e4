//! `pliant transfer`.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::ValueEnum;
use pliant::transfer_job::TransferJob;
use pliant::transfer_recipe::{RecipeError, RecipeMethod, RecipeRoot, RecipeUp, TransferRecipe};
use pliant_io::read_file;
use pliant_mesh::Progress as _;
use pliant_transfer::{AlignmentCandidate, Correspondence, CorrespondenceOptions, FeetReport, MapReport, Motion, Parting};
use serde_json::{Map, Value, json};

use super::console::{Bar, Console};
use super::failure::Failure;
use super::{edited, output};

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

Markers are pairs of vertices that are the same spot, source first, counted from 0: JSON
[[source, target], …] or lines of two numbers, with names or without, or the landmarks of both meshes as
SOURCE.json+TARGET.json (see `pliant markers --help`). Four different pairs are the fewest;
`pliant markers suggest` says where they help and `pliant markers check` which are wrong. Without markers
all ways round that lie nearly as well are tried, and what is unsure is said. The report says how many target triangles found no
partner (uncovered) or only one that faces away (flipped), and how far partners are apart (residual,
as part of the target's diagonal). The target keeps its names, UVs and polygons.

A recipe has more to say: per layer a region (files, faces, \"#GROUP\" or strokes over vertices), what counts as
stiff (threshold), how its border blends (refine, band), when it shows (frames, at, speed, ease) and how (mode);
per source markers, method and align_poses; [[modify]] turns parts of the target's reference pose. Its keys
output, root, feet, up, check and untangle are those of the options here, which come first where both are given.

With --feet, vertices that stay low and still against the source's ground stay so on the target; the report
says how far they slid before and after (slide, as part of the diagonal). With --check or --untangle,
`intersections` counts, frame by frame, pairs of triangles that cut each other and did not at rest.";

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
    root: Option<Root>,

    /// Feet that stand in the source stand in the target.
    #[arg(long)]
    feet: bool,

    /// The direction away from the ground, for --feet [default: y].
    #[arg(long, value_enum)]
    up: Option<Up>,

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
    method: Option<Method>,

    /// Where to write the target with its clip (default: where the recipe says).
    #[arg(long, value_name = "CLIP", required_unless_present_any = ["init", "recipe"])]
    out: Option<PathBuf>,

    /// Write a recipe to start from, and nothing else.
    #[arg(long, value_name = "FILE.toml", conflicts_with_all = ["recipe", "source", "target", "markers", "out"])]
    init: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Root {
    /// The target covers the same way for its size.
    Carry,
    /// The target stays in place.
    Fix,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Up {
    X,
    Y,
    Z,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Method {
    /// Registration, and the warp too where that is doubtful.
    Auto,
    /// Both meshes are warped to least-squares meshes of the markers.
    Warp,
    /// The source is laid onto the target.
    Registration,
}

/// What was made, and at what cost.
struct Made {
    motion: Motion,
    partings: Vec<Parting>,
    found: Vec<Correspondence>,
    problems: Vec<String>,
    map_ms: f64,
    factor_ms: f64,
    solve_ms: f64,
    check_ms: f64,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    if let Some(file) = &args.init {
        return init(file, console);
    }
    let (job, name, out) = args.job()?;
    let out = out.as_path();
    // An ending that cannot be written is told now rather than after the work.
    pliant_io::plan_save(&job.asset(&name, &[job.target().positions().to_vec()])?, out)?;
    let mut made = args.make(&job, &console.progress()).map_err(|error| args.failed(error))?;
    let mut object = made.describe(&job);
    edited::save(&job.asset(&name, &made.motion.frames)?, out, &mut object, &mut made.problems)?;
    console.done(object, &made.told(out), &made.problems)
}

fn init(file: &Path, console: &Console) -> Result<(), Failure> {
    if file.exists() {
        return Err(Failure::could_not(format!("'{}' is there already; name another file, or remove it", file.display())));
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
            let (source, target) = self.source.as_deref().zip(self.target.as_deref()).expect("clap asks for both");
            let recipe = self.over(TransferRecipe::plain(source, target, self.markers.as_deref()));
            let job = TransferJob::load(&recipe, None).map_err(|error| self.failed(error))?;
            let name = job.sources()[0].clip.name().to_owned();
            return Ok((job, name, self.out.clone().expect("clap asks for --out")));
        };
        let bytes = read_file(file)?;
        let text = std::str::from_utf8(&bytes).map_err(|error| Failure::about(file.display(), &error))?;
        let recipe = self.over(TransferRecipe::parse(text).map_err(|error| self.failed(error))?);
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let Some(out) = self.out.clone().or_else(|| recipe.output.as_ref().map(|output| folder.join(output))) else {
            return Err(Failure::usage("nowhere to write to; give --out CLIP, or output = \"CLIP\" in the recipe"));
        };
        let job = TransferJob::load(&recipe, Some(folder)).map_err(|error| self.failed(error))?;
        Ok((job, file.file_stem().unwrap_or_default().to_string_lossy().into_owned(), out))
    }

    /// The recipe with what the command line says instead.
    fn over(&self, mut recipe: TransferRecipe) -> TransferRecipe {
        recipe.root = self.root.map_or(recipe.root, Into::into);
        recipe.up = self.up.map_or(recipe.up, Into::into);
        recipe.feet |= self.feet;
        recipe.check |= self.check;
        recipe.untangle |= self.untangle;
        for source in &mut recipe.sources {
            source.method = self.method.map_or(source.method, Into::into);
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

    fn make(&self, job: &TransferJob, bar: &Bar) -> Result<Made, RecipeError> {
        let mut problems = job.problems();
        let began = Instant::now();
        let mut found: Vec<Correspondence> = Vec::new();
        for (k, source) in job.sources().iter().enumerate() {
            let _ = bar.report(&format!("matching {}", source.name), 0.0);
            let correspondence = job.correspondence(k, &CorrespondenceOptions::default())?;
            problems.extend(correspondence.problems.iter().map(|problem| format!("source '{}': {problem}", source.name)));
            found.push(correspondence);
        }
        let (layers, odd_layers) = job.layers(&found)?;
        let (options, odd_options) = job.options(&found)?;
        problems.extend(odd_layers.into_iter().chain(odd_options));
        let map_ms = milliseconds(began);
        let began = Instant::now();
        let mut synthesis = job.synthesis(&found, layers, options)?;
        let factor_ms = milliseconds(began);
        let began = Instant::now();
        let count = synthesis.frame_count();
        let tell = |what: &str, k: usize| {
            let _ = bar.report(what, k as f64 / count as f64);
        };
        let motion = synthesis.motion(|k| tell("making frames", k));
        let mut motion = motion.map_err(|source| RecipeError::Transfer { place: "the frames".into(), source })?;
        let solve_ms = milliseconds(began);
        drop(synthesis);
        let began = Instant::now();
        let partings = job.untangle(&mut motion.frames, |k| tell("looking for self-intersections", k))?;
        let check_ms = milliseconds(began);
        problems.extend(tangled(&partings));
        problems.extend(
            motion
                .feet
                .filter(|feet| feet.vertices == 0)
                .map(|_| "no foot stands in the source: nothing stays low and still against its ground; see --up".to_owned()),
        );
        Ok(Made { motion, partings, found, problems, map_ms, factor_ms, solve_ms, check_ms })
    }
}

/// What is left of self-intersections, if anything.
fn tangled(partings: &[Parting]) -> Option<String> {
    let frames = partings.iter().filter(|parting| parting.after > 0).count();
    let pairs: usize = partings.iter().map(|parting| parting.after).sum();
    (frames > 0).then(|| {
        format!(
            "{frames} of {} frames cut through themselves where the target at rest does not: {pairs} pairs of triangles",
            partings.len()
        )
    })
}

impl Made {
    fn ms_per_frame(&self) -> f64 {
        self.solve_ms / self.motion.frames.len().max(1) as f64
    }

    /// The map with the most lost triangles, and of equal ones that with the farthest partners.
    fn worst(&self) -> &MapReport {
        let reports = self.found.iter().map(|found| &found.report);
        let order = |a: &&MapReport, b: &&MapReport| a.lost_share().total_cmp(&b.lost_share()).then(a.residual.total_cmp(&b.residual));
        reports.max_by(order).expect("a layer has a source")
    }

    fn describe(&self, job: &TransferJob) -> Map<String, Value> {
        let source = |(k, found): (usize, &Correspondence)| {
            let mut map = report_json(&found.report);
            map["name"] = json!(job.sources()[k].name);
            map["method"] = json!(format!("{:?}", found.method).to_lowercase());
            map["candidates"] = found.candidates.iter().map(candidate_json).collect();
            map
        };
        let mut object = Map::new();
        object.insert("frames".into(), json!(self.motion.frames.len()));
        object.insert("vertices".into(), json!(job.target().vertex_count()));
        object.insert("map".into(), report_json(self.worst()));
        object.insert("sources".into(), self.found.iter().enumerate().map(source).collect());
        object.insert("map_ms".into(), json!(self.map_ms));
        object.insert("factor_ms".into(), json!(self.factor_ms));
        object.insert("solve_ms_per_frame".into(), json!(self.ms_per_frame()));
        let diagonal = job.target().bounds().map_or(1.0, |bounds| bounds.diagonal());
        if !self.partings.is_empty() {
            object.insert("check_ms_per_frame".into(), json!(self.check_ms / self.partings.len() as f64));
            object.insert("intersections".into(), self.partings.iter().map(|parting| parting.after).collect());
            object.insert("intersections_before".into(), self.partings.iter().map(|parting| parting.before).collect());
            let corrections = self.partings.iter().map(|parting| parting.largest_correction / diagonal);
            object.insert("largest_untangling".into(), json!(corrections.fold(0.0, f64::max)));
        }
        if let Some(feet) = &self.motion.feet {
            object.insert("feet".into(), feet_json(feet, diagonal));
        }
        object
    }

    fn told(&self, out: &Path) -> String {
        let map = self.worst();
        format!(
            "{} frames; {} of {} target triangles uncovered, {} flipped, partners {:.2} % of the diagonal apart; matched in {:.0} ms, \
             factored in {:.1} ms, {:.2} ms a frame; written to {}\n",
            self.motion.frames.len(),
            map.uncovered,
            map.triangles,
            map.flipped,
            100.0 * map.residual,
            self.map_ms,
            self.factor_ms,
            self.ms_per_frame(),
            out.display()
        )
    }
}

fn candidate_json(candidate: &AlignmentCandidate) -> Value {
    let AlignmentCandidate { similarity, misfit, fitted } = candidate;
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

impl From<Root> for RecipeRoot {
    fn from(root: Root) -> Self {
        match root {
            Root::Carry => Self::Carry,
            Root::Fix => Self::Fix,
        }
    }
}

impl From<Up> for RecipeUp {
    fn from(up: Up) -> Self {
        match up {
            Up::X => Self::X,
            Up::Y => Self::Y,
            Up::Z => Self::Z,
        }
    }
}

impl From<Method> for RecipeMethod {
    fn from(method: Method) -> Self {
        match method {
            Method::Auto => Self::Auto,
            Method::Warp => Self::Warp,
            Method::Registration => Self::Registration,
        }
    }
}

pub(crate) fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}
