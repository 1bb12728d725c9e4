//! `pliant convert`: an asset in another file format.

use std::path::{Path, PathBuf};

use pliant_io::{Asset, PerformanceOptions, is_performance_file, performance, read_performance};
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::args::bake::BakeArgs;
use crate::cli::args::settings::SettingsArgs;
use crate::cli::args::source;
use crate::cli::args::target_normals::TargetNormalsArgs;
use crate::cli::batch::{self, BatchReport};
use crate::cli::report::console::Console;
use crate::cli::report::failure::Failure;
use crate::cli::report::output::{self, SavedAsset};

const EXAMPLES: &str = "\
Examples:
  # A mesh
  pliant convert head.obj head.glb

  # Many files; one bad file does not stop the others
  pliant convert heads/*.obj --out-dir glb --to glb

  # A rig: one mesh with morph targets
  pliant convert neutral.obj+deltas.npy head.glb

  # A rig from scans, without displacements shorter than 0.001
  pliant convert face.obj+deltas.npy face.glb --prune 0.001

  # One frame of a clip
  pliant convert walk.reference.obj+walk.frames.npy@12 pose.obj

  # A mesh and the displacements of its targets
  pliant convert head.glb head.obj+head.npy

  # A clip as a few targets whose weights move, a fraction of the size
  pliant convert walk.glb small.glb --bake shapes

  # A mesh and its frames
  pliant convert walk.glb walk.reference.obj+walk.frames.npy

  # A performance: CSV and JSON with the same channels
  pliant convert take.csv take.json

  # Positions only: frames x vertices x 3, float64
  pliant convert walk.glb walk.npy

What is kept:
  Vertex order, quads, UV seams, groups, materials and names are kept wherever
  both formats can store them; warnings list what the output format cannot
  store. Point caches (MDD, PC2) and .npy files hold positions only: keep the
  mesh beside them.";

const USAGE: &str = "\
pliant convert [OPTIONS] <IN> <OUT>
       pliant convert [OPTIONS] <IN>… --out-dir <DIR> --to <ENDING>";

/// Converts assets to another file format.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, override_usage = USAGE)]
pub(crate) struct Args {
    /// Asset to read.
    #[arg(value_name = "IN")]
    input: String,

    /// File to write. Its ending selects the format. With --out-dir, another asset to read.
    #[arg(value_name = "OUT", required_unless_present = "out_dir")]
    output: Option<PathBuf>,

    /// Further assets to read.
    #[arg(value_name = "IN", requires = "out_dir")]
    more: Vec<String>,

    /// Convert all assets to files in this folder, one after another.
    #[arg(long, value_name = "DIR", requires = "to")]
    out_dir: Option<PathBuf>,

    /// Format of the files in --out-dir, by its ending.
    #[arg(long, value_name = "ENDING", requires = "out_dir")]
    to: Option<String>,

    #[command(flatten)]
    settings: SettingsArgs,

    #[command(flatten)]
    bake: BakeArgs,

    #[command(flatten)]
    target_normals: TargetNormalsArgs,

    /// File name of the neutral mesh in a folder of OBJ files [default: neutral.obj].
    #[arg(long, value_name = "NAME")]
    neutral: Option<String>,

    /// Leave out displacements of targets that are shorter than this, in asset units. Files
    /// become smaller; the error of a vertex is at most this for each active slider.
    #[arg(long, value_name = "LENGTH", allow_negative_numbers = true, value_parser = parse_length)]
    prune: Option<f32>,
}

/// The report of `pliant convert`: of one asset, or of a list.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum ConvertOutput {
    One(ConvertReport),
    Batch(BatchReport),
}

/// A converted asset.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ConvertReport {
    #[serde(flatten)]
    saved: SavedAsset,
    /// Vertices of the asset.
    vertices: usize,
    /// Displacements that `--prune` removed.
    pruned: usize,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    if let (Some(folder), Some(ending)) = (&args.out_dir, &args.to) {
        let inputs = args.inputs();
        let outputs = batch::outputs_in(folder, ending, &inputs)?;
        let report = ConvertOutput::Batch;
        return batch::run_batch(&inputs, &outputs, console, report, |input, out| {
            if pliant_io::is_same_file(Path::new(input), out) {
                return Err(Failure::new(format!(
                    "cannot write '{}': the result would replace the input; write to another folder",
                    out.display()
                )));
            }
            Ok(args.make(input, out)?.warnings)
        });
    }

    let out = args.output.as_deref().expect("clap requires OUT");
    let _spinner = console.spinner("converting");
    let made = args.make(&args.input, out)?;
    let report = ConvertOutput::One(made.report);
    console.print_summary(&report, &made.summary, &made.warnings)
}

/// A file that was written.
struct Converted {
    report: ConvertReport,
    summary: String,
    warnings: Vec<String>,
}

impl Args {
    /// All assets of a list.
    fn inputs(&self) -> Vec<String> {
        let second = self
            .output
            .as_ref()
            .map(|path| path.to_string_lossy().into_owned());
        let mut inputs = vec![self.input.clone()];
        inputs.extend(second);
        inputs.extend(self.more.iter().cloned());
        inputs
    }

    /// Converts one asset.
    fn make(&self, input: &str, out: &Path) -> Result<Converted, Failure> {
        if is_performance_file(Path::new(input)) && is_channels_file(out) {
            return convert_performance(input, out);
        }
        self.bake.require_targets(out)?;
        let asset = pliant_io::load(input, &source::options(self.neutral.as_deref()))?;
        let asset = self.target_normals.apply(self.settings.apply(asset)?);
        let before = displacement_count(&asset);
        let asset = match self.prune {
            Some(shortest) => asset.pruned(shortest)?,
            None => asset,
        };

        let pruned = before - displacement_count(&asset);
        let asset = match self.bake.shape_tolerance(&asset) {
            Some(tolerance) => asset.with_clip_as_shapes(tolerance)?,
            None => asset,
        };

        let mut warnings = asset.warnings.clone();
        let report = ConvertReport {
            saved: output::save_asset(&asset, out, &mut warnings)?,
            vertices: asset.vertex_count(),
            pruned,
        };

        let mut summary = String::new();
        if self.prune.is_some() {
            summary = format!("removed {pruned} of {before} displacements; ");
        }
        summary += &format!("written to {}\n", out.display());
        Ok(Converted {
            report,
            summary,
            warnings,
        })
    }
}

/// Whether a file holds channels as a table or as JSON, by its ending.
fn is_channels_file(path: &Path) -> bool {
    let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase());
    ending.is_some_and(|ending| ending == "csv" || ending == "json")
}

/// The channels of a performance in another form.
fn convert_performance(input: &str, out: &Path) -> Result<Converted, Failure> {
    let options = PerformanceOptions::default();
    let take = read_performance(input, &options, &source::options(None))?;
    if take.channels().is_empty() {
        return Err(Failure::new(format!(
            "{input}: it holds markers and no channels; `pliant play --markers` finds weights for them"
        )));
    }

    let is_json = out
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("json"));
    let bytes = if is_json {
        performance::write_json(&take)
    } else {
        performance::write_csv(&take)
    };
    output::write(out, bytes)?;
    Ok(Converted {
        report: ConvertReport {
            saved: SavedAsset {
                out: output::path_text(out),
                left_out: Vec::new(),
            },
            vertices: 0,
            pruned: 0,
        },
        summary: format!("written to {}\n", out.display()),
        warnings: take.notes,
    })
}

fn displacement_count(asset: &Asset) -> usize {
    asset
        .objects
        .iter()
        .flat_map(|object| object.rig.targets())
        .map(|target| target.vertices.len())
        .sum()
}

fn parse_length(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(length) if length.is_finite() && length >= 0.0 => Ok(length),
        _ => Err(format!("'{text}' is not a length of zero or more")),
    }
}
