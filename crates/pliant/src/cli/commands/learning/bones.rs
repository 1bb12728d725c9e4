//! `pliant bones`: skinning decomposition of a clip.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use pliant_io::{Asset, SkinBinding, SkinTrack, npy};
use pliant_learn::{Correctives, LearnError, SkinOptions, SkinningDecomposition};
use pliant_rig::Clip;
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::args::source;
use crate::cli::report::console::Console;
use crate::cli::report::failure::Failure;
use crate::cli::report::milliseconds_since;
use crate::cli::report::output::{self, OutputFiles, path_text};

const EXAMPLES: &str = "\
Examples:
  # A clip as a skinned rig
  pliant bones walk.glb --count 20 --out rig.glb

  # Also write what the rig shows: frames x vertices x 3
  pliant bones horse.reference.obj+horse.frames.npy --count 20 \\
      --reconstruction r.npy --out rig.glb

  # At most two bones for each vertex
  pliant bones 'specimen:hound#walk' --count 15 --influences 2 \\
      --out rig.glb

  # Corrective shapes for what the bones leave over
  pliant bones walk.glb --count 20 --morphs 8 --out rig.glb

  # A driven clip for a game engine
  pliant drive horse.safetensors --points p.npy --out run.glb
  pliant bones run.glb --count 20 --morphs 8 --out rig.glb

Result:
  The rig has one skin and one animation with a key for every frame: rotations
  and translations of joints. A joint sits in the middle of the vertices that
  it moves; its parent is the joint with which it shares most vertices. The
  bind pose is the reference pose of the clip, and vertices keep their order.
  'rms' is the distance of the rig from the clip, in asset units.

Corrective shapes (--morphs):
  They are targets of the same mesh in the bind pose, with a weight for every
  frame; engines apply them before the bones. Each one lowers the error
  (rms_with_morphs). As many as there are frames reproduce the clip.";

/// Converts a clip to bones and skinning weights (skinning decomposition).
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Clip: any asset with frames.
    clip: String,

    /// Number of bones.
    #[arg(long, value_name = "N")]
    count: usize,

    /// Largest number of bones that move a vertex, 1 to 4.
    #[arg(long, value_name = "K", default_value_t = SkinOptions::DEFAULT_INFLUENCES as u8, value_parser = clap::value_parser!(u8).range(1..=4))]
    influences: u8,

    /// Number of corrective shapes [default: none].
    #[arg(long, value_name = "K")]
    morphs: Option<usize>,

    /// Penalty on differences between the bone weights of neighbouring vertices, such as 1e-5.
    #[arg(long, value_name = "S", default_value_t = 0.0)]
    smoothness: f64,

    /// File for the rig.
    #[arg(long, value_name = "RIG.glb")]
    out: PathBuf,

    /// File for the positions that the rig gives in every frame.
    #[arg(long, value_name = "FILE.npy")]
    reconstruction: Option<PathBuf>,
}

/// The report of `pliant bones`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct BonesReport {
    /// File of the rig.
    out: String,
    /// Number of bones.
    bones: usize,
    /// Number of frames.
    frames: usize,
    /// Largest number of bones that move a vertex.
    influences: usize,
    /// Root mean square distance of the rig from the clip, in asset units.
    rms: f64,
    /// Number of corrective shapes; absent without `--morphs`.
    #[serde(skip_serializing_if = "Option::is_none")]
    morphs: Option<usize>,
    /// The distance with corrective shapes; absent without `--morphs`.
    #[serde(skip_serializing_if = "Option::is_none")]
    rms_with_morphs: Option<f64>,
    /// Iterations of the decomposition.
    rounds: usize,
    /// Time of the computation, in milliseconds.
    ms: f64,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    output::require_ending(&args.out, &["glb", "gltf"])?;
    output::require_ending_if_given(args.reconstruction.as_deref(), &["npy"])?;
    let _spinner = console.spinner("finding bones");
    let asset = pliant_io::load(&args.clip, &source::options(None))?;
    let clip = asset.clip()?;

    let start = Instant::now();
    let bones = args
        .decompose(&clip)
        .map_err(|error| Failure::about(&args.clip, &error))?;
    let ms = milliseconds_since(start);

    let rig = bones.rig(&asset, &clip)?;
    let outputs = args.write(&rig, clip.reference().vertex_count())?;
    let report = bones.report(args, clip.frames().len(), ms);
    let warnings = [asset.warnings, outputs.warnings, bones.warnings()].concat();
    console.print_summary(&report, &report.summary(), &warnings)
}

/// Bones and corrective shapes of a clip.
struct Bones {
    skinning: SkinningDecomposition,
    correctives: Option<Correctives>,
}

impl Args {
    fn decompose(&self, clip: &Clip) -> Result<Bones, LearnError> {
        let options = SkinOptions::default()
            .with_bones(self.count)
            .with_influences(self.influences.into())
            .with_smoothness(self.smoothness);
        let skinning = SkinningDecomposition::of(clip, &options)?;
        let correctives = match self.morphs {
            Some(count) => Some(skinning.correctives(clip, count)?),
            None => None,
        };
        Ok(Bones {
            skinning,
            correctives,
        })
    }

    /// Writes the rig and, if wanted, the positions that it gives.
    fn write(&self, rig: &Asset, vertices: usize) -> Result<OutputFiles, Failure> {
        let mut outputs = OutputFiles::default();
        outputs.add_asset(&self.out, rig)?;
        if let Some(path) = &self.reconstruction {
            // The positions come from the rig as engines evaluate it, not from the solver.
            let clip = rig.clip()?;
            let shape = [clip.frames().len(), vertices];
            outputs.add(
                path,
                npy::write_points(&shape, clip.frames().iter().flatten()),
            );
        }
        outputs.write()?;
        Ok(outputs)
    }
}

impl Bones {
    /// The asset with the skin, the bones and the corrective shapes as its clip.
    fn rig(&self, asset: &Asset, clip: &Clip) -> Result<Asset, Failure> {
        let rest = clip.reference().positions();
        let track = SkinTrack {
            binding: SkinBinding {
                skin: Arc::new(self.skinning.skin.clone()),
                skeleton: Arc::new(self.skinning.skeleton(rest)),
            },
            motions: Arc::new(self.skinning.transforms.clone()),
        };

        // Engines add targets in the bind pose, before the skin.
        let (targets, weights) = match &self.correctives {
            Some(shapes) => (&shapes.targets[..], &shapes.weights[..]),
            None => (&[][..], &[][..]),
        };

        // Name and frame rate are those of the original clip.
        let animation = asset.only_clip()?.clone();
        Ok(asset.with_shaped_skin_clip(animation, &track, targets, weights)?)
    }

    fn report(&self, args: &Args, frames: usize, ms: f64) -> BonesReport {
        let correctives = self.correctives.as_ref();
        BonesReport {
            out: path_text(&args.out),
            bones: self.skinning.bone_count(),
            frames,
            influences: self.skinning.skin.most_influences(),
            rms: self.skinning.rms,
            morphs: correctives.map(|shapes| shapes.targets.len()),
            rms_with_morphs: correctives.map(|shapes| shapes.rms),
            rounds: self.skinning.rounds,
            ms,
        }
    }

    fn warnings(&self) -> Vec<String> {
        let mut warnings = self.skinning.warnings.clone();
        if let Some(shapes) = &self.correctives {
            warnings.extend(shapes.warnings.clone());
        }
        warnings
    }
}

impl BonesReport {
    fn summary(&self) -> String {
        let with_morphs = match (self.rms_with_morphs, self.morphs) {
            (Some(rms), Some(morphs)) => format!(", {rms:.4} with {morphs} corrective shapes"),
            _ => String::new(),
        };
        format!(
            "{} bones over {} frames; computed in {:.0} ms\n  RMS distance from the clip {:.4}{with_morphs}\nwritten to {}\n",
            self.bones, self.frames, self.ms, self.rms, self.out
        )
    }
}
