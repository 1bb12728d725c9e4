//! `pliant drive`.

use std::path::PathBuf;
use std::time::Instant;

use pliant::learn_job::{PointsError, clip_asset, detailed_clip_asset, read_points};
use pliant_io::read_file;
use pliant_learn::{Hold, Model};
use serde_json::{Map, json};

use super::console::Console;
use super::failure::Failure;
use super::transfer::milliseconds;
use super::{edited, output};

const EXAMPLES: &str = "\
Examples:
  pliant drive horse.safetensors --points p.npy --out run.glb      frames x points x 3
  pliant drive horse.safetensors --points p.csv --out run.npy      a row x,y,z,x,y,z,… per frame
  pliant drive horse.safetensors --points p.npy --hard --out run.glb
                                                                   the points are met exactly
  pliant drive horse.safetensors --points markers.csv --beta 0.3 --out run.glb
                                                                   noisy markers, followed loosely
  pliant drive horse.safetensors --points p.npy --out run.glb && \\
  pliant bones run.glb --count 20 --morphs 8 --out rig.glb         for an engine: bones and shapes

  pliant drive hand.safetensors --points p.npy --no-detail --out run.glb
                                                                   the smooth base of a model with details

The points are those of the recipe, in its order, where they are in each frame.";

/// The mesh of a model where its control points go.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A model of `pliant learn`.
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    /// Where the control points are: .npy of frames x points x 3, or CSV with a row per frame.
    #[arg(long, value_name = "P")]
    points: PathBuf,

    /// Meet the control points exactly.
    #[arg(long, conflicts_with = "beta")]
    hard: bool,

    /// How closely control points are followed [default: as learned].
    #[arg(long, value_name = "BETA")]
    beta: Option<f64>,

    /// The smooth base alone, without the details that the model has learned.
    #[arg(long)]
    no_detail: bool,

    /// Where to write the clip.
    #[arg(long, value_name = "CLIP")]
    out: PathBuf,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    output::require_clip_format(&args.out)?;
    let about_model = |error| Failure::about(args.model.display(), &error);
    let model = Model::from_bytes(&read_file(&args.model)?).map_err(about_model)?;
    let goals = read_points(&args.points, model.control().count()).map_err(|error| match error {
        PointsError::File(error) => error.into(),
        error => Failure::could_not(error.to_string()),
    })?;
    if goals.is_empty() {
        return Err(Failure::could_not(format!("{}: it has no frame; give at least one", args.points.display())));
    }
    let name = args.points.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let detail = model.detail().filter(|_| !args.no_detail);
    let to_asset = if detail.is_some() { detailed_clip_asset } else { clip_asset };
    let asset_of = |frames| to_asset(&model, &name, frames).map_err(|error| Failure::about(args.model.display(), &error));
    let rest = detail.map_or(model.examples().reference(), |layer| layer.mesh());
    // An ending that cannot be written is told now rather than after the work.
    pliant_io::plan_save(&asset_of(vec![rest.positions().to_vec()])?, &args.out)?;
    let driver = match (args.hard, args.beta) {
        (true, _) => model.driver_with(Hold::Hard).map_err(about_model)?,
        (false, Some(beta)) => model.driver_with(Hold::Soft(beta)).map_err(about_model)?,
        (false, None) => model.driver(),
    };
    let began = Instant::now();
    let mut frames = Vec::with_capacity(goals.len());
    for (frame, goals) in goals.iter().enumerate() {
        let about_frame = |error| Failure::about(format!("{}, frame {frame}", args.points.display()), &error);
        let pose = if detail.is_some() { driver.detailed_pose(goals) } else { driver.pose(goals) };
        frames.push(pose.map_err(about_frame)?);
    }
    let ms_per_frame = milliseconds(began) / goals.len() as f64;
    let mut object = Map::new();
    object.insert("frames".into(), json!(frames.len()));
    object.insert("vertices".into(), json!(rest.vertex_count()));
    object.insert("detail".into(), json!(detail.is_some()));
    object.insert("ms_per_frame".into(), json!(ms_per_frame));
    let text = format!("{} frames, {ms_per_frame:.1} ms a frame; written to {}\n", frames.len(), args.out.display());
    let mut problems = Vec::new();
    edited::save(&asset_of(frames)?, &args.out, &mut object, &mut problems)?;
    console.done(object, &text, &problems)
}
