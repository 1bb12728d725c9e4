//! `pliant split`: a target as a left and a right one.

use std::path::PathBuf;

use pliant_io::Asset;
use pliant_rig::{
    MirrorPlane, Rig, Side, SideStyle, SplitOptions, SplitRig, split_rig, splittable_targets,
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::args::number::non_negative;
use crate::cli::args::plane::{PlaneChoice, PlaneReport, choose_plane, parse_plane};
use crate::cli::args::settings::SettingsArgs;
use crate::cli::args::source;
use crate::cli::report::console::Console;
use crate::cli::report::counted;
use crate::cli::report::failure::Failure;
use crate::cli::report::output::{self, SavedAsset};

const EXAMPLES: &str = "\
Examples:
  # smile becomes smileLeft and smileRight
  pliant split face.glb --target smile --out sides.glb

  # Two targets, with a transition of 0.8 units
  pliant split face.glb --target smile frown --width 0.8 --out sides.glb

  # All targets that have no side in their names and move both sides
  pliant split face.glb --out sides.glb

Result:
  The left and the right target add up to the original exactly. Names follow
  the style of the rig: if it has eyeBlink_L, smile becomes smile_L and
  smile_R.";

/// Splits targets into a left and a right one.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Rig: any asset with targets.
    rig: String,

    /// Targets to split [default: all without a side that move both sides].
    #[arg(long, value_name = "NAME", num_args = 1..)]
    target: Vec<String>,

    /// Width of the transition between the sides, in asset units; 0 cuts sharply [default: 5 % of
    /// the diagonal].
    #[arg(long, value_name = "W", allow_negative_numbers = true, value_parser = non_negative)]
    width: Option<f64>,

    /// Plane between the sides: x, y or z, with a coordinate in asset units, as x:0.5 [default:
    /// found].
    #[arg(long, value_name = "AXIS[:AT]", value_parser = parse_plane)]
    plane: Option<PlaneChoice>,

    /// File for the rig.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,

    #[command(flatten)]
    settings: SettingsArgs,

    /// File name of the neutral mesh in a folder of OBJ files [default: neutral.obj].
    #[arg(long, value_name = "NAME")]
    neutral: Option<String>,
}

/// The report of `pliant split`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SplitReport {
    /// Targets that were split.
    split: Vec<SplitTarget>,
    /// Width of the transition, in asset units.
    width: f64,
    /// Plane between the sides.
    plane: PlaneReport,
    #[serde(flatten)]
    saved: SavedAsset,
}

/// A target and its two parts.
#[derive(Debug, Serialize, JsonSchema)]
struct SplitTarget {
    /// Name of the original target.
    target: String,
    /// Name of the left target.
    left: String,
    /// Name of the right target.
    right: String,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    let _spinner = console.spinner("splitting");
    let asset = source::load_with_targets(&args.rig, args.neutral.as_deref())?;
    let asset = args.settings.apply(asset)?;
    let rig = asset.rig()?;
    let remedy = "give one, as --plane x:0.5";
    let plane = choose_plane(args.plane, rig.neutral(), &args.rig, remedy)?;

    let mut options = SplitOptions::new(&rig, plane);
    if let Some(width) = args.width {
        options = options.with_width(width);
    }

    let names = args.target_names(&rig, plane)?;
    // The style of the whole rig: a single object may have no target with a side.
    let style = SideStyle::of_rig(&rig);
    let split = split_targets(&asset, &names, &options, &style)?;

    let mut warnings = asset.warnings.clone();
    warnings.extend(
        args.width
            .and_then(|width| asset.length_warning("--width", width)),
    );
    let halves = names.iter().map(|name| SplitTarget {
        target: name.clone(),
        left: style.name(name, Side::Left),
        right: style.name(name, Side::Right),
    });
    let report = SplitReport {
        split: halves.collect(),
        width: options.width,
        plane: plane.into(),
        saved: output::save_asset(&split, &args.out, &mut warnings)?,
    };

    if names.is_empty() {
        warnings.push(
            "no target was split: all have a side in their names or move one side only".into(),
        );
    }
    let summary = format!(
        "split {}; written to {}\n",
        counted(names.len(), "target", "targets"),
        args.out.display()
    );
    console.print_summary(&report, &summary, &warnings)
}

/// The asset with the named targets of every object split.
fn split_targets(
    asset: &Asset,
    names: &[String],
    options: &SplitOptions,
    style: &SideStyle,
) -> Result<Asset, Failure> {
    let split = asset.map_rigs(|object| {
        let targets = object.rig.targets();

        // An object of the asset may lack some of the targets.
        let own: Vec<usize> = (0..targets.len())
            .filter(|&k| names.contains(&targets[k].name))
            .collect();
        let SplitRig { rig, sources } = split_rig(&object.rig, &own, options, style)?;
        Ok((rig, sources.into_iter().map(Some).collect()))
    });
    Ok(split?)
}

impl Args {
    /// The names of the targets to split.
    fn target_names(&self, rig: &Rig, plane: MirrorPlane) -> Result<Vec<String>, Failure> {
        let targets = rig.targets();
        if self.target.is_empty() {
            let splittable = splittable_targets(rig, plane);
            return Ok(splittable
                .iter()
                .map(|&k| targets[k].name.clone())
                .collect());
        }

        for name in &self.target {
            if !targets.iter().any(|target| target.name == *name) {
                return Err(Failure::new(format!(
                    "{}: there is no target '{name}'; `pliant info` lists the targets",
                    self.rig
                )));
            }
        }
        Ok(self.target.clone())
    }
}
