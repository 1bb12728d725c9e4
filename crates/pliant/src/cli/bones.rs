//! `pliant bones`.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use pliant_io::{SkinBinding, SkinTrack, npy};
use pliant_learn::{SkinOptions, SkinningDecomposition};
use serde_json::{Map, json};

use super::console::Console;
use super::failure::Failure;
use super::output::{self, Outputs};
use super::source;

const EXAMPLES: &str = "\
Examples:
  pliant bones walk.glb --count 20 --out rig.glb          a clip as a skinned rig
  pliant bones horse.reference.obj+horse.frames.npy --count 20 --out rig.glb --reconstruction r.npy
                                                          and what the rig shows, frames x vertices x 3
  pliant bones 'specimen:hound#walk' --count 15 --influences 2 --out rig.glb
                                                          for an engine that blends two bones
  pliant bones walk.glb --count 20 --morphs 8 --out rig.glb
                                                          and shapes for what the bones leave over
  pliant drive horse.safetensors --points p.npy --out run.glb
  pliant bones run.glb --count 20 --morphs 8 --out rig.glb
                                                          a driven clip for an engine

The rig has one skin and one animation with a key for every frame: rotations and translations of
joints, which stand in the middle of what they move and hang on those they share most vertices with.
Its bind pose is the clip's reference, and vertices keep their order. The report says how far the rig
is from the clip (rms, in the clip's units).

Morphs are corrective shapes in the bind pose, in the same mesh, with a weight for every frame; engines
apply them before the bones. Each one more lowers the error (rms_with_morphs), and as many as there
are frames show the clip itself.";

/// A clip as bones, with a skin that any engine plays.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The clip: any asset with frames.
    clip: String,

    /// How many bones.
    #[arg(long, value_name = "N")]
    count: usize,

    /// The most bones that move a vertex, 1 to 4.
    #[arg(long, value_name = "K", default_value_t = SkinOptions::DEFAULT_INFLUENCES as u8, value_parser = clap::value_parser!(u8).range(1..=4))]
    influences: u8,

    /// How many corrective shapes for what the bones leave over.
    #[arg(long, value_name = "K")]
    morphs: Option<usize>,

    /// Draw the weights of a vertex to its neighbours', e.g. 1e-5.
    #[arg(long, value_name = "S", default_value_t = 0.0)]
    smoothness: f64,

    /// Where to write the rig.
    #[arg(long, value_name = "RIG.glb")]
    out: PathBuf,

    /// Where to write what the rig shows in every frame.
    #[arg(long, value_name = "FILE.npy")]
    reconstruction: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    output::require_ending(&args.out, &["glb", "gltf"])?;
    if let Some(path) = &args.reconstruction {
        output::require_ending(path, &["npy"])?;
    }
    let _working = console.working("finding bones");
    let asset = pliant_io::load(&args.clip, &source::options(None))?;
    let clip = asset.clip()?;
    let began = Instant::now();
    let options = SkinOptions::default()
        .with_bones(args.count)
        .with_influences(args.influences.into())
        .with_smoothness(args.smoothness);
    let about = |error| Failure::about(&args.clip, &error);
    let made = SkinningDecomposition::of(&clip, &options).map_err(about)?;
    let shapes = args
        .morphs
        .map(|count| made.correctives(&clip, count).map_err(about))
        .transpose()?;
    let ms = began.elapsed().as_secs_f64() * 1e3;
    let rest = clip.reference().positions();
    let binding = SkinBinding {
        skin: Arc::new(made.skin.clone()),
        skeleton: Arc::new(made.skeleton(rest)),
    };
    let track = SkinTrack {
        binding,
        motions: Arc::new(made.transforms.clone()),
    };
    let mut outputs = Outputs::default();
    let (targets, weights) = shapes.as_ref().map_or((&[][..], &[][..]), |shapes| {
        (&shapes.targets[..], &shapes.weights[..])
    });
    let rig = asset.with_shaped_skin_clip(asset.only_clip()?.clone(), &track, targets, weights)?;
    outputs.add_asset(&args.out, &rig)?;
    if let Some(path) = &args.reconstruction {
        let shown = rig.clip()?;
        outputs.add(
            path,
            npy::write_points(
                &[shown.frames().len(), rest.len()],
                shown.frames().iter().flatten(),
            ),
        );
    }
    outputs.write()?;
    let odd_shapes = shapes
        .as_ref()
        .map_or(Vec::new(), |shapes| shapes.problems.clone());
    let problems = [
        asset.problems.clone(),
        outputs.problems.clone(),
        made.problems.clone(),
        odd_shapes,
    ]
    .concat();
    let mut object = Map::new();
    object.insert("out".into(), json!(args.out.display().to_string()));
    object.insert("bones".into(), json!(made.bone_count()));
    object.insert("frames".into(), json!(clip.frames().len()));
    object.insert("influences".into(), json!(made.skin.most_influences()));
    object.insert("rms".into(), json!(made.rms));
    if let Some(shapes) = &shapes {
        object.insert("morphs".into(), json!(shapes.targets.len()));
        object.insert("rms_with_morphs".into(), json!(shapes.rms));
    }
    object.insert("rounds".into(), json!(made.rounds));
    object.insert("ms".into(), json!(ms));
    let with_shapes = shapes.map_or(String::new(), |shapes| {
        format!(", {:.4} with {} morphs", shapes.rms, shapes.targets.len())
    });
    let text = format!(
        "{} bones over {} frames, {:.4} from the clip in the root mean square{with_shapes}; found in {ms:.0} ms; written to {}\n",
        made.bone_count(),
        clip.frames().len(),
        made.rms,
        args.out.display()
    );
    console.done(object, &text, &problems)
}
