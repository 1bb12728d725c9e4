//! `pliant mirror`: mirror a pose, or make a rig symmetric.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use pliant_io::Asset;
use pliant_rig::{Rig, Side, SliderPairs, VertexMirror, mirror_rig, symmetric_rig};
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::args::plane::{PlaneChoice, PlaneReport, choose_plane, parse_plane};
use crate::cli::args::settings::SettingsArgs;
use crate::cli::args::slider_weights::{self, WeightsByName};
use crate::cli::args::source;
use crate::cli::report::console::Console;
use crate::cli::report::counted;
use crate::cli::report::failure::Failure;
use crate::cli::report::output::{self, SavedAsset, path_text};

const EXAMPLES: &str = "\
Examples:
  # Mirror a pose
  pliant mirror face.glb --weights-in smirk.json --weights-out other.json

  # Make the right side of a rig from its left side
  pliant mirror face.glb --from left --out even.glb

  # Replace each target by the mirror image of its partner
  pliant mirror face.glb --out flipped.glb

  # Give the plane, and find partners by their displacements
  pliant mirror scan.obj+deltas.npy --plane x:0.2 --pairs shape \\
      --out flipped.glb

Partners:
  Sliders are paired by name (smile_L and smile_R, jawLeft and jawRight), or
  with --pairs shape by their displacements. A slider without a side is its
  own partner. Vertices are paired by position, and from there along the
  faces. Sliders and vertices without a partner stay as they are; the report
  lists them.";

/// Mirrors a pose or a rig, or makes a rig symmetric.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, group(clap::ArgGroup::new("what").required(true).args(["weights_in", "out"])))]
pub(crate) struct Args {
    /// Rig: any asset with targets.
    rig: String,

    /// Pose to mirror: a JSON map from slider to weight.
    #[arg(long, value_name = "W.json", requires = "weights_out", conflicts_with_all = ["out", "from"])]
    weights_in: Option<PathBuf>,

    /// File for the mirrored pose.
    #[arg(long, value_name = "W.json", requires = "weights_in")]
    weights_out: Option<PathBuf>,

    /// File for the mirrored rig.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Keep this side of the character and make the other side from it.
    #[arg(long, value_enum, value_name = "SIDE")]
    from: Option<SideArg>,

    /// How sliders are paired.
    #[arg(long, value_enum, default_value_t = PairingArg::Name)]
    pairs: PairingArg,

    /// Symmetry plane: x, y or z, with a coordinate in asset units, as x:0.5 [default: detected].
    #[arg(long, value_name = "AXIS[:AT]", value_parser = parse_plane)]
    plane: Option<PlaneChoice>,

    #[command(flatten)]
    settings: SettingsArgs,

    /// File name of the neutral mesh in a folder of OBJ files [default: neutral.obj].
    #[arg(long, value_name = "NAME")]
    neutral: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SideArg {
    /// The left side of the character.
    Left,
    /// The right side of the character.
    Right,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PairingArg {
    /// By the side in their names.
    Name,
    /// By their displacements.
    Shape,
}

/// The report of `pliant mirror`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum MirrorReport {
    Pose(MirroredPose),
    Rig(MirroredRig),
}

/// A mirrored pose.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct MirroredPose {
    #[serde(flatten)]
    sliders: PairedSliders,
    /// Mirrored weights that are not zero, by slider.
    weights: WeightsByName,
    /// File of the mirrored pose.
    out: String,
}

/// A mirrored rig.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct MirroredRig {
    #[serde(flatten)]
    sliders: PairedSliders,
    /// Symmetry plane.
    plane: PlaneReport,
    /// Vertices without a mirror image.
    unmatched_vertices: Vec<u32>,
    #[serde(flatten)]
    saved: SavedAsset,
}

/// Sliders and their partners.
#[derive(Debug, Serialize, JsonSchema)]
struct PairedSliders {
    /// Sliders of both sides.
    pairs: Vec<[String; 2]>,
    /// Sliders without a side.
    middle: Vec<String>,
    /// Sliders without a partner.
    unpaired: Vec<String>,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    let _spinner = console.spinner("mirroring");
    let asset = source::load_with_targets(&args.rig, args.neutral.as_deref())?;
    let asset = args.settings.apply(asset)?;
    let rig = asset.rig()?;
    match (&args.weights_in, &args.weights_out, &args.out) {
        (Some(from), Some(to), _) => args.mirror_pose(&asset, &rig, from, to, console),
        (_, _, Some(out)) => args.mirror_targets(&asset, &rig, out, console),
        _ => unreachable!("the argument group requires one of them"),
    }
}

impl Args {
    fn mirror_pose(
        &self,
        asset: &Asset,
        rig: &Rig,
        from: &Path,
        to: &Path,
        console: &Console,
    ) -> Result<(), Failure> {
        output::require_ending(to, &["json"])?;
        let weights = slider_weights::read(from, rig, &asset.presets)?;
        let names = names(rig);
        let pairs = match self.pairs {
            PairingArg::Name => SliderPairs::by_name(&names),
            PairingArg::Shape => SliderPairs::by_shape(rig, &self.vertex_mirror(rig)?),
        };

        let mirrored = pairs.mirror_weights(&weights);
        slider_weights::write(to, rig, &mirrored)?;

        // A slider without a partner matters only where the pose uses it.
        let mut used = pairs.unpaired();
        used.retain(|&slider| weights[slider] != 0.0);
        let mut warnings = asset.warnings.clone();
        warnings.extend(unpaired_warning(&used, &names));

        let report = MirrorReport::Pose(MirroredPose {
            sliders: PairedSliders::new(&pairs, &names),
            weights: slider_weights::by_name(rig, &mirrored),
            out: path_text(to),
        });
        let summary = format!("mirrored the pose; written to {}\n", to.display());
        console.print_summary(&report, &summary, &warnings)
    }

    fn mirror_targets(
        &self,
        asset: &Asset,
        rig: &Rig,
        out: &Path,
        console: &Console,
    ) -> Result<(), Failure> {
        let mirror = self.vertex_mirror(rig)?;
        let names = names(rig);
        let pairs = match self.pairs {
            PairingArg::Name => SliderPairs::by_name(&names),
            PairingArg::Shape => SliderPairs::by_shape(rig, &mirror),
        };

        let mirrored = match self.from {
            None => mirror_rig(rig, &mirror, &pairs),
            Some(SideArg::Left) => symmetric_rig(rig, &mirror, &pairs, Side::Left),
            Some(SideArg::Right) => symmetric_rig(rig, &mirror, &pairs, Side::Right),
        };
        let mirrored = mirrored.map_err(|error| Failure::about(&self.rig, &error))?;

        let mut warnings = asset.warnings.clone();
        warnings.extend(unpaired_warning(&pairs.unpaired(), &names));
        warnings.extend(unmatched_warning(&mirror));

        let mirrored_asset = asset.with_targets(mirrored.targets())?;

        let report = MirrorReport::Rig(MirroredRig {
            sliders: PairedSliders::new(&pairs, &names),
            plane: mirror.plane().into(),
            unmatched_vertices: mirror.unmatched(),
            saved: output::save_asset(&mirrored_asset, out, &mut warnings)?,
        });
        let summary = format!(
            "mirrored {}; written to {}\n",
            counted(names.len(), "target", "targets"),
            out.display()
        );
        console.print_summary(&report, &summary, &warnings)
    }

    fn vertex_mirror(&self, rig: &Rig) -> Result<VertexMirror, Failure> {
        let remedy = "give one, as --plane x:0.5";
        let plane = choose_plane(self.plane, rig.neutral(), &self.rig, remedy)?;
        let mirror = VertexMirror::by_position(rig.neutral(), plane);

        // A plane beside the mesh is a mistake, not a rig without symmetry.
        if mirror.partners().iter().all(Option::is_none) {
            return Err(Failure::new(format!(
                "{}: no vertex has a mirror image at this plane; give another plane, as --plane x",
                self.rig
            )));
        }
        Ok(mirror)
    }
}

fn names(rig: &Rig) -> Vec<&str> {
    rig.targets()
        .iter()
        .map(|target| target.name.as_str())
        .collect()
}

fn unpaired_warning(unpaired: &[usize], names: &[&str]) -> Option<String> {
    if unpaired.is_empty() {
        return None;
    }
    let quoted: Vec<String> = unpaired
        .iter()
        .map(|&slider| format!("'{}'", names[slider]))
        .collect();
    Some(format!(
        "{} target(s) have no partner and stay as they are: {}",
        quoted.len(),
        quoted.join(", ")
    ))
}

fn unmatched_warning(mirror: &VertexMirror) -> Option<String> {
    let unmatched = mirror.unmatched().len();
    (unmatched > 0).then(|| {
        format!(
            "{unmatched} of {} vertices have no mirror image and stay as they are",
            mirror.partners().len()
        )
    })
}

impl PairedSliders {
    fn new(pairs: &SliderPairs, names: &[&str]) -> Self {
        let mut sided = Vec::new();
        let mut middle = Vec::new();
        for (slider, partner) in pairs.partners().iter().enumerate() {
            match *partner {
                Some(partner) if partner == slider => middle.push(names[slider].to_owned()),
                // Each pair once, with the earlier slider first.
                Some(partner) if slider < partner => {
                    sided.push([names[slider].to_owned(), names[partner].to_owned()]);
                }
                _ => {}
            }
        }

        let unpaired = pairs.unpaired();
        Self {
            pairs: sided,
            middle,
            unpaired: unpaired.iter().map(|&k| names[k].to_owned()).collect(),
        }
    }
}
