//! `pliant drive`.

use std::path::PathBuf;

use pliant::driven_clip::{DriveOptions, DrivenClip, DrivenError, shown_mesh};
use pliant::learn_job::clip_asset;
use pliant_io::{npy, read_file};
use pliant_learn::{Confidence, Hold, Jiggle, Model};
use serde_json::{Map, json};

use super::console::Console;
use super::drive_control;
use super::failure::Failure;
use super::output::{self, Outputs};

const EXAMPLES: &str = "\
Examples:
  pliant drive horse.safetensors --points p.npy --out run.glb      frames x points x 3
  pliant drive horse.safetensors --points p.csv --out run.npy      a row x,y,z,x,y,z,… per frame
  pliant drive hand.safetensors --points specimen:hand:play --out play.glb
                                                                   the points of another clip of the mesh
  pliant drive horse.safetensors --points p.npy --hard --out run.glb
                                                                   the points are met exactly
  pliant drive horse.safetensors --points markers.csv --beta 0.3 --out run.glb
                                                                   noisy markers, followed loosely
  pliant drive horse.safetensors --points p.npy --out run.glb && \\
  pliant bones run.glb --count 20 --morphs 8 --out rig.glb         for an engine: bones and shapes
  pliant drive hand.safetensors --points p.npy --no-detail --out run.glb
                                                                   the smooth base of a model with details
  pliant drive hand.safetensors --points take.c3d --markers T1,T2,I1,I2,P --scale 0.1 --axes xz-y \\
      --align B1:120,B2:431,P --rest-frame 0 --smooth 0.03s --fps 30 --out hand.glb
                                                                   a captured take
  pliant drive hand.safetensors --points tips.npy --skeleton hand.json --out hand.glb
                                                                   by end effectors alone
  pliant drive horse.safetensors --points p.npy --exact --out run.glb
                                                                   an example's own points return it to the last digit
  pliant drive horse.safetensors --points p.npy --confidence c.npy --out run.glb
  pliant render run.glb --frame 3 --scalar c.npy --out sure.png    where the model is sure of frame 3
  pliant drive horse.safetensors --points p.npy --jiggle 3,0.2 --fps 30 --out run.glb
                                                                   soft parts swing 3 times a second and settle

The points are those of the recipe, in its order, where they are in each frame. Files of markers are .c3d,
.bvh, .npy (NaN: not seen) and .csv (comma, semicolon or tab; columns M1_x, M1_y, M1_z; NA: not seen).
`pliant info TAKE` lists names and gaps. Gaps in takes with names are filled and told; those of plain arrays
and tables are declined unless --max-gap is given. Points that cannot be followed, and frames outside what the
examples show, are told.

Confidence is 1 / (1 + e / 1 %), with the error e to be expected of a vertex in per cent of the longest
side: what the model's variance says, scaled so that it is right for the examples left out in turn. Only
`auto` knows it; `confidence` in --json is the mean of each frame.

A skeleton is JSON or TOML:
  {\"root\": \"fixed\", \"joints\": [
    {\"name\": \"wrist\", \"control\": 0}, {\"name\": \"knuckle\", \"parent\": \"wrist\", \"vertex\": 812},
    {\"name\": \"tip\", \"parent\": \"knuckle\", \"control\": 2, \"effector\": true}]}
A joint sits at a control point (by its place in the recipe), a vertex or a place (at: [x, y, z]); every
control point needs one. Also: stiffness, limit_degrees per joint (0: it never turns); root = \"free\" lets the whole move;
natural = \"rest\" prefers the rest pose instead of what the examples do.";

/// The mesh of a model where its control points go.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A model of `pliant learn`.
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    /// Where the control points are: .npy of frames x points x 3, CSV with a row per frame, a take
    /// of markers (.c3d, .bvh, .csv with a header), or a clip of the same mesh, which they are
    /// taken from.
    #[arg(long, value_name = "P")]
    points: PathBuf,

    #[command(flatten)]
    control: drive_control::ControlArgs,

    /// Meet the control points exactly.
    #[arg(long, conflicts_with = "beta")]
    hard: bool,

    /// How closely control points are followed [default: as learned].
    #[arg(long, value_name = "BETA", allow_negative_numbers = true)]
    beta: Option<f64>,

    /// The smooth base alone, without the details that the model has learned.
    #[arg(long)]
    no_detail: bool,

    /// Add what is left of the examples, so that their own points return them exactly [default: as
    /// learned].
    #[arg(long)]
    exact: bool,

    /// Where to write how sure the model is of each vertex, from 0 to 1: .npy of frames x
    /// vertices, for `render --scalar`.
    #[arg(long, value_name = "C.npy")]
    confidence: Option<PathBuf>,

    /// Let parts far from the control points swing after the pose: how often a second, and how
    /// fast it dies away (0 never, 1 without overshooting) [default damping: 0.15].
    #[arg(long, value_name = "HZ[,DAMPING]", value_parser = parse_jiggle)]
    jiggle: Option<(f64, f64)>,

    /// Where to write the clip.
    #[arg(long, value_name = "CLIP")]
    out: PathBuf,
}

fn parse_jiggle(text: &str) -> Result<(f64, f64), String> {
    let (hertz, damping) = text
        .split_once(',')
        .map_or((text, None), |(hertz, damping)| (hertz, Some(damping)));
    let number = |word: &str| {
        word.trim()
            .parse::<f64>()
            .map_err(|_| format!("'{text}' is not HZ or HZ,DAMPING, as in 3,0.2"))
    };
    Ok((
        number(hertz)?,
        damping.map_or(Ok(Jiggle::DEFAULT_DAMPING), number)?,
    ))
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    output::require_clip_format(&args.out)?;
    args.confidence
        .iter()
        .try_for_each(|path| output::require_ending(path, &["npy"]))?;
    let model = Model::from_bytes(&read_file(&args.model)?)
        .map_err(|error| Failure::about(args.model.display(), &error))?;
    let mut control = args.control.read(&args.points, &model)?;
    let name = args
        .points
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let with_detail = model.detail().is_some() && !args.no_detail;
    let asset_of = |frames| {
        let mut asset = clip_asset(&model, with_detail, &name, frames)
            .map_err(|error| Failure::about(args.model.display(), &error))?;
        asset.clips.iter_mut().for_each(|clip| {
            clip.frames_per_second = control.fps.unwrap_or(clip.frames_per_second)
        });
        Ok::<_, Failure>(asset)
    };
    let rest = shown_mesh(&model, with_detail);
    // An ending that cannot be written is told now rather than after the work.
    pliant_io::plan_save(&asset_of(vec![rest.positions().to_vec()])?, &args.out)?;
    let driven = DrivenClip::of(&model, &control, &args.options(with_detail))
        .map_err(|error| args.failed(&error))?;
    let DrivenClip {
        frames,
        confidence,
        problems,
        ms_per_frame,
    } = driven;
    let mut object = Map::new();
    object.insert("frames".into(), json!(frames.len()));
    object.insert("vertices".into(), json!(rest.vertex_count()));
    object.insert("detail".into(), json!(with_detail));
    object.insert("ms_per_frame".into(), json!(ms_per_frame));
    let text = format!(
        "{} frames, {ms_per_frame:.1} ms a frame; written to {}\n",
        frames.len(),
        args.out.display()
    );
    drive_control::tell(&mut object, control.fps, control.effectors);
    let mut outputs = Outputs::default();
    if let Some(path) = &args.confidence {
        object.insert(
            "confidence".into(),
            json!(
                confidence
                    .iter()
                    .map(Confidence::mean)
                    .collect::<Vec<f64>>()
            ),
        );
        let vertices = model.examples().reference().vertex_count();
        outputs.add(
            path,
            npy::write_f64(
                &[confidence.len(), vertices],
                confidence.iter().flat_map(Confidence::of_vertices),
            ),
        );
    }
    outputs.add_asset(&args.out, &asset_of(frames)?)?;
    outputs.write()?;
    object.insert("out".into(), json!(args.out.display().to_string()));
    object.insert("left_out".into(), json!(outputs.left_out));
    control
        .problems
        .extend(problems.into_iter().chain(outputs.problems));
    console.done(object, &text, &control.problems)
}

impl Args {
    fn options(&self, with_detail: bool) -> DriveOptions {
        let hold = if self.hard {
            Some(Hold::Hard)
        } else {
            self.beta.map(Hold::Soft)
        };
        DriveOptions {
            hold,
            exact: self.exact,
            with_detail,
            with_confidence: self.confidence.is_some(),
            jiggle: self.jiggle,
        }
    }

    /// Frames are those of the points, all else is about the model.
    fn failed(&self, error: &DrivenError) -> Failure {
        match error {
            DrivenError::Frame { frame, source } => {
                Failure::about(format!("{}, frame {frame}", self.points.display()), source)
            }
            error => Failure::about(self.model.display(), error),
        }
    }
}
