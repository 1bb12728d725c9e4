//! `pliant transfer`: the animation of one mesh on another.

use std::path::{Path, PathBuf};

use pliant::jobs::TransferJob;
use pliant::pieces::JoinedPieces;
use pliant::recipes::{CorrespondenceArg, RecipeError, RootMotionArg, TransferRecipe, UpAxis};
use pliant_io::Asset;
use schemars::JsonSchema;
use serde::Serialize;

use super::transfer_report::{TransferFigures, TransferPiece, TransferSummary};
use crate::cli::args::recipe_file;
use crate::cli::args::target_normals::TargetNormalsArgs;
use crate::cli::commands::program::join::JoinedReport;
use crate::cli::pieces::{
    Invocation, JoinedResult, Made, PieceArgs, PieceContent, content, exact_positions, run_piece,
};
use crate::cli::report::console::Console;
use crate::cli::report::failure::Failure;
use crate::cli::report::output::{self, SavedAsset, path_text};

const EXAMPLES: &str = "\
Examples:
  # The walk of one animal on another
  pliant transfer --source walk.glb --target camel.obj \\
      --markers pairs.json --out camel.glb

  # Without markers: the geometry alone gives the correspondence
  pliant transfer --source 'specimen:hound#walk' --target specimen:tapir \\
      --out tapir.glb

  # In place, as positions: frames x vertices x 3
  pliant transfer --source walk.glb --target camel.obj \\
      --markers pairs.csv --root fix --out camel.npy

  # Planted feet, and no self-intersections
  pliant transfer --source 'specimen:hound#walk' --target specimen:tapir \\
      --feet --untangle --out tapir.glb

  # A recipe to start from, with every key explained
  pliant transfer --init recipe.toml

  # Parts of several clips on regions of the target, in layers
  pliant transfer recipe.toml --out mix.glb

Markers:
  A marker is a pair of corresponding vertices, source first, counted from 0.
  A file holds JSON [[source, target], …], or lines of two numbers. Names and
  landmark files are described in `pliant markers --help`. At least four
  different pairs are needed. `pliant markers suggest` proposes pairs, and
  `pliant markers check` finds wrong ones. Without markers, every plausible
  orientation is tried; an ambiguous match is reported.

Recipe:
  A recipe can set more than the options. For each layer: region (a file,
  faces, \"#GROUP\" or strokes over vertices), threshold, refine, band, frames,
  at, speed, ease and mode. For each source: markers, method, turn and
  align_poses. [[modify]] rotates parts of the reference pose of the target.
  The keys output, root, feet, up, check and untangle are those of the options
  here; options take precedence.

Report; see `pliant schema transfer`:
  uncovered, flipped    target triangles without a source triangle near them,
                        or with one that faces away
  residual              mean distance of corresponding points, relative to the
                        diagonal of the target
  slide_before, slide   how far planted feet slide with root motion alone, and
                        corrected (--feet), relative to the diagonal
  intersections         for each frame, pairs of triangles that intersect and
                        do not at rest (--check, --untangle)

The target keeps its names, UV coordinates and polygons.";

const USAGE: &str = "\
pliant transfer [OPTIONS] --source <CLIP> --target <MESH> --out <CLIP>
       pliant transfer [OPTIONS] <RECIPE.toml>
       pliant transfer --init <FILE.toml>";

/// Transfers the animation of one mesh to another.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, override_usage = USAGE)]
pub(crate) struct Args {
    /// Recipe with sources and layers.
    #[arg(value_name = "RECIPE.toml", conflicts_with_all = ["source", "target", "markers"], required_unless_present_any = ["source", "target", "init"])]
    recipe: Option<PathBuf>,

    /// Clip to transfer.
    #[arg(long, value_name = "CLIP", requires = "target")]
    source: Option<String>,

    /// Mesh that receives the animation.
    #[arg(long, value_name = "MESH", requires = "source")]
    target: Option<String>,

    /// Pairs of corresponding vertices, at least four [default: none; the geometry alone gives the
    /// correspondence].
    #[arg(long, value_name = "FILE", requires = "source")]
    markers: Option<String>,

    /// How to treat the root motion of the source [default: carry].
    #[arg(long, value_enum)]
    root: Option<RootMotionArg>,

    /// Plant the feet: vertices that stand in the source stand in the target.
    #[arg(long)]
    feet: bool,

    /// Up direction for --feet [default: y].
    #[arg(long, value_enum)]
    up: Option<UpAxis>,

    /// Compensate for different reference poses, one rigid part after another.
    #[arg(long)]
    align_poses: bool,

    /// Count, for each frame, new self-intersections of the target.
    #[arg(long)]
    check: bool,

    /// Remove new self-intersections where a small correction suffices.
    #[arg(long)]
    untangle: bool,

    /// Correspondence method [default: auto].
    #[arg(long, value_enum)]
    method: Option<CorrespondenceArg>,

    #[command(flatten)]
    target_normals: TargetNormalsArgs,

    /// File for the target with its clip [default: `output` of the recipe].
    #[arg(long, value_name = "CLIP", required_unless_present_any = ["init", "recipe"])]
    out: Option<PathBuf>,

    /// Write a recipe to start from, and do nothing else.
    #[arg(long, value_name = "FILE.toml", conflicts_with_all = ["recipe", "source", "target", "markers", "out"])]
    init: Option<PathBuf>,

    // Last, because its heading holds for all options after it.
    #[command(flatten)]
    piece: PieceArgs,
}

/// The report of `pliant transfer`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum TransferReport {
    /// A transferred animation.
    Result(Box<TransferSummary>),
    /// A recipe written by `--init`.
    Init(InitReport),
}

/// A recipe to start from.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct InitReport {
    /// The recipe.
    out: String,
}

/// A transfer with the name of its clip and its output file.
struct NamedJob {
    job: TransferJob,
    name: String,
    out: PathBuf,
}

pub(crate) fn run(args: &Args, invocation: &Invocation, console: &Console) -> Result<(), Failure> {
    if let Some(file) = &args.init {
        return init(file, console);
    }
    let out = args.output()?;
    run_piece(&args.piece, invocation, &out, console, || {
        args.make(console)
    })
}

/// Number of frames of the whole result; none where there is only a recipe to write.
pub(crate) fn frame_count(args: &Args) -> Result<Option<usize>, Failure> {
    match args.init {
        Some(_) => Ok(None),
        None => Ok(Some(args.job()?.job.frame_count())),
    }
}

/// The transfer whose pieces these are.
pub(crate) fn join(args: &Args, pieces: &JoinedPieces) -> Result<JoinedResult, Failure> {
    let NamedJob { job, name, out } = args.job()?;
    let all: Vec<usize> = (0..pieces.frame_count()).collect();
    let result = job.asset_of_frames(&name, &all, &pieces.positions()?)?;
    let (figures, mut warnings) = TransferPiece::join(pieces, &pieces.contents()?)?;
    let saved = args.save(result, &out, &mut warnings)?;

    let summary = TransferSummary::new(figures, saved);
    let text = summary.text();
    let report = TransferReport::Result(Box::new(summary));
    Ok(JoinedResult {
        report: JoinedReport::Transfer(Box::new(report)),
        summary: text,
        warnings,
    })
}

fn init(file: &Path, console: &Console) -> Result<(), Failure> {
    if file.exists() {
        return Err(Failure::new(format!(
            "'{}' already exists; give another file name, or remove the file",
            file.display()
        )));
    }

    output::write(file, TransferRecipe::TEMPLATE.as_bytes().to_vec())?;
    let out = path_text(file);
    let summary = format!("written to {out}\n");
    console.print_summary(&TransferReport::Init(InitReport { out }), &summary, &[])
}

impl Args {
    fn job(&self) -> Result<NamedJob, Failure> {
        match &self.recipe {
            Some(recipe) => self.recipe_job(recipe),
            None => self.plain_job(),
        }
    }

    /// The output file, which a recipe may name.
    fn output(&self) -> Result<PathBuf, Failure> {
        match (&self.out, &self.recipe) {
            (Some(out), _) => Ok(out.clone()),
            (None, Some(recipe)) => self.read_recipe(recipe).map(|(_, out)| out),
            (None, None) => Ok(PathBuf::new()),
        }
    }

    /// The transfer of the selected frames, with its output written.
    fn make(&self, console: &Console) -> Result<Made<TransferReport>, Failure> {
        let NamedJob { job, name, out } = self.job()?;
        output::require_clip_format(&out)?;
        let frames = self.piece.frames_of(job.frame_count())?;
        // A format that cannot be written is reported before the transfer, not after it.
        let still = job.asset(&name, &[job.target().positions().to_vec()])?;
        pliant_io::plan_save(&still, &out)?;

        let mut transferred = job
            .run_frames(&frames, &console.progress_bar())
            .map_err(|error| self.about(error))?;

        let result = job.asset_of_frames(&name, &frames, &transferred.motion.frames)?;
        let saved = self.save(result, &out, &mut transferred.warnings)?;
        let figures = TransferFigures::new(&transferred, &job);
        let piece = TransferPiece {
            figures: figures.clone(),
            warnings: transferred.input_warnings,
        };
        let exact = self.piece.writes_manifest();
        let summary = TransferSummary::new(figures, saved);
        Ok(Made {
            summary: summary.text(),
            report: TransferReport::Result(Box::new(summary)),
            warnings: transferred.warnings,
            piece: PieceContent {
                frames,
                whole: job.frame_count(),
                content: content(&piece),
                exact: exact.then(|| exact_positions(&transferred.motion.frames)),
            },
        })
    }

    fn save(
        &self,
        result: Asset,
        out: &Path,
        warnings: &mut Vec<String>,
    ) -> Result<SavedAsset, Failure> {
        output::save_asset(&self.target_normals.apply(result), out, warnings)
    }

    /// The transfer of one clip, from options alone.
    fn plain_job(&self) -> Result<NamedJob, Failure> {
        // A recipe with one source and one layer over the whole target.
        let (source, target) = self
            .source
            .as_deref()
            .zip(self.target.as_deref())
            .expect("clap requires both");
        let recipe = TransferRecipe::plain(source, target, self.markers.as_deref());
        let job = TransferJob::load(&self.override_recipe(recipe), None)
            .map_err(|error| self.about(error))?;

        Ok(NamedJob {
            name: job.sources()[0].clip.name().to_owned(),
            job,
            out: self.out.clone().expect("clap requires --out"),
        })
    }

    fn recipe_job(&self, file: &Path) -> Result<NamedJob, Failure> {
        let (recipe, out) = self.read_recipe(file)?;
        let folder = recipe_file::folder_of(file).unwrap_or(Path::new("."));

        // The clip has the name of the recipe, since it has no source of its own.
        let stem = file.file_stem().unwrap_or_default();
        Ok(NamedJob {
            job: TransferJob::load(&recipe, Some(folder)).map_err(|error| self.about(error))?,
            name: stem.to_string_lossy().into_owned(),
            out,
        })
    }

    /// The recipe in a file, and where its result goes.
    fn read_recipe(&self, file: &Path) -> Result<(TransferRecipe, PathBuf), Failure> {
        let (text, folder) = recipe_file::read(file)?;
        let folder = folder.unwrap_or(Path::new("."));
        let recipe = TransferRecipe::parse(&text).map_err(|error| self.about(error))?;
        let recipe = self.override_recipe(recipe);

        // Paths in a recipe start at its folder, paths of options at the current one.
        let output = recipe.output.as_ref().map(|output| folder.join(output));
        match self.out.clone().or(output) {
            Some(out) => Ok((recipe, out)),
            None => Err(Failure::usage(
                "there is no output file; give --out CLIP, or output = \"CLIP\" in the recipe",
            )),
        }
    }

    /// The recipe with the options of the command line, which take precedence.
    fn override_recipe(&self, mut recipe: TransferRecipe) -> TransferRecipe {
        recipe.root = self.root.map_or(recipe.root, Into::into);
        recipe.up = self.up.unwrap_or(recipe.up);
        recipe.feet |= self.feet;
        recipe.check |= self.check;
        recipe.untangle |= self.untangle;

        // Options have no names of sources; they hold for all of them.
        for source in &mut recipe.sources {
            source.method = self.method.map_or(source.method, Into::into);
            source.align_poses |= self.align_poses;
        }
        recipe
    }

    fn about(&self, error: RecipeError) -> Failure {
        match &self.recipe {
            Some(recipe) => Failure::about(recipe.display(), &error),
            None => error.into(),
        }
    }
}
