//! `pliant drive`: a mesh from moving control points.

use std::path::PathBuf;

use pliant::jobs::clip_asset;
use pliant::learn::ControlTrack;
use pliant::learn::{DriveOptions, DrivenClip, DrivenError, shown_mesh};
use pliant::pieces::JoinedPieces;
use pliant_io::{Asset, npy, read_file};
use pliant_learn::{Confidence, ControlConstraint, DriveFindings, Model, SecondaryMotionOptions};
use pliant_mesh::glam::DVec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cli::args::capture::{CaptureArgs, EffectorReport};
use crate::cli::args::target_normals::TargetNormalsArgs;
use crate::cli::commands::program::join::JoinedReport;
use crate::cli::pieces::{
    Invocation, JoinedResult, Made, PieceArgs, PieceContent, content, exact_positions,
    mean_per_frame, run_piece,
};
use crate::cli::report::console::Console;
use crate::cli::report::failure::Failure;
use crate::cli::report::output::{self, OutputFiles, SavedAsset, path_text};

const EXAMPLES: &str = "\
Examples:
  # Control points from an array: frames x points x 3
  pliant drive horse.safetensors --points p.npy --out run.glb

  # From a table: one row x,y,z,x,y,z,… for each frame
  pliant drive horse.safetensors --points p.csv --out run.npy

  # From another clip of the same mesh
  pliant drive hand.safetensors --points specimen:hand:play \\
      --out play.glb

  # Reach the control points exactly
  pliant drive horse.safetensors --points p.npy --hard --out run.glb

  # Follow noisy markers loosely
  pliant drive horse.safetensors --points markers.csv --beta 0.3 \\
      --out run.glb

  # Bones and corrective shapes for a game engine
  pliant drive horse.safetensors --points p.npy --out run.glb
  pliant bones run.glb --count 20 --morphs 8 --out rig.glb

  # The smooth base of a model with detail
  pliant drive hand.safetensors --points p.npy --no-detail --out run.glb

  # A motion capture
  pliant drive hand.safetensors --points take.c3d \\
      --markers T1,T2,I1,I2,P --scale 0.1 --axes xz-y \\
      --align B1:120,B2:431,P --rest-frame 0 --smooth 0.03s --fps 30 \\
      --out hand.glb

  # End effectors only; inverse kinematics finds the other points
  pliant drive hand.safetensors --points tips.npy --skeleton hand.json \\
      --out hand.glb

  # The control points of an example return that example exactly
  pliant drive horse.safetensors --points p.npy --exact --out run.glb

  # How certain the model is of frame 3, as a picture
  pliant drive horse.safetensors --points p.npy --confidence c.npy \\
      --out run.glb
  pliant render run.glb --frame 3 --scalar c.npy --out sure.png

  # Secondary motion: soft parts oscillate at 3 Hz
  pliant drive horse.safetensors --points p.npy --jiggle 3,0.2 --fps 30 \\
      --out run.glb

Files of points:
  .npy, .csv    positions of the control points in the order of the recipe
  .c3d, .bvh, .npy, .csv with a header
                captures of markers; NaN or NA marks a gap; columns of a CSV
                are M1_x, M1_y, M1_z (comma, semicolon or tab)
  `pliant info FILE` lists markers and gaps. Gaps of captures with names are
  filled, with a warning; gaps of plain arrays and tables need --max-gap.
  Warnings also name control points that cannot be followed, and frames
  outside the range of the examples.

Confidence (--confidence), for models of method auto:
  1 / (1 + e / 1 %), where e is the expected error of a vertex in percent of
  the longest side. It is calibrated by leave-one-out validation. --json lists
  the mean of each frame.

Skeleton (--skeleton), JSON or TOML:
  {\"root\": \"fixed\", \"joints\": [
    {\"name\": \"wrist\", \"control\": 0},
    {\"name\": \"knuckle\", \"parent\": \"wrist\", \"vertex\": 812},
    {\"name\": \"tip\", \"parent\": \"knuckle\", \"control\": 2,
     \"effector\": true}]}
  A joint is at a control point (its index in the recipe), a vertex, or a
  position (at: [x, y, z]); every control point needs a joint. Joints may have
  stiffness and limit_degrees (0: no rotation). root = \"free\" lets the whole
  skeleton move. natural = \"rest\" prefers the rest pose over the examples.";

/// Animates the mesh of a trained model by moving control points.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Model of `pliant learn`.
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    /// Positions of the control points: an array, a table, a capture of markers, or a clip of the
    /// same mesh.
    #[arg(long, value_name = "P")]
    points: PathBuf,

    /// Reach the control points exactly.
    #[arg(long, conflicts_with = "beta")]
    hard: bool,

    /// Weight of the control points: larger values follow them more closely [default: of the
    /// model].
    #[arg(long, value_name = "BETA", allow_negative_numbers = true)]
    beta: Option<f64>,

    /// Leave out the detail that the model has learned.
    #[arg(long)]
    no_detail: bool,

    /// Add the residuals of the examples, so that their control points return them exactly
    /// [default: of the model].
    #[arg(long)]
    exact: bool,

    /// File for the confidence of each vertex, from 0 to 1: frames x vertices, for `render
    /// --scalar`.
    #[arg(long, value_name = "C.npy")]
    confidence: Option<PathBuf>,

    /// Secondary motion of parts far from the control points: frequency in Hz, and damping ratio
    /// (0 never stops, 1 does not overshoot) [default damping: 0.15].
    #[arg(long, value_name = "HZ[,DAMPING]", value_parser = parse_jiggle)]
    jiggle: Option<(f64, f64)>,

    #[command(flatten)]
    target_normals: TargetNormalsArgs,

    /// File for the clip.
    #[arg(long, value_name = "CLIP")]
    out: PathBuf,

    // Last, because its heading holds for all options after it.
    #[command(flatten)]
    capture: CaptureArgs,

    #[command(flatten)]
    piece: PieceArgs,
}

fn parse_jiggle(text: &str) -> Result<(f64, f64), String> {
    let (hertz, damping) = match text.split_once(',') {
        Some((hertz, damping)) => (hertz, damping.trim().parse().ok()),
        None => (text, Some(SecondaryMotionOptions::DEFAULT_DAMPING)),
    };
    hertz
        .trim()
        .parse()
        .ok()
        .zip(damping)
        .ok_or_else(|| format!("'{text}' is not HZ or HZ,DAMPING, as in 3,0.2"))
}

/// The report of `pliant drive`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DriveReport {
    /// Number of frames.
    frames: usize,
    /// Vertices of the mesh.
    vertices: usize,
    /// Whether the clip has detail.
    detail: bool,
    /// Mean time of a frame, in milliseconds.
    ms_per_frame: f64,
    /// Frames per second; null where nothing gives them.
    fps: Option<f64>,
    /// End effectors; absent without `--skeleton`.
    #[serde(skip_serializing_if = "Option::is_none")]
    effectors: Option<EffectorReport>,
    /// Mean confidence of each frame; absent without `--confidence`.
    #[serde(skip_serializing_if = "Option::is_none")]
    confidence: Option<Vec<f64>>,
    #[serde(flatten)]
    saved: SavedAsset,
}

/// What a piece of a driven clip needs to be joined.
#[derive(Debug, Serialize, Deserialize)]
struct DrivePiece {
    findings: DriveFindings,
    ms_per_frame: f64,
    /// Mean confidence of each frame; empty without `--confidence`.
    confidence: Vec<f64>,
}

pub(crate) fn run(args: &Args, invocation: &Invocation, console: &Console) -> Result<(), Failure> {
    run_piece(&args.piece, invocation, &args.out, console, || {
        args.make(console)
    })
}

/// Number of frames of the whole result.
pub(crate) fn frame_count(args: &Args) -> Result<Option<usize>, Failure> {
    Ok(Some(args.open()?.control.frames.len()))
}

/// The driven clip whose pieces these are.
pub(crate) fn join(args: &Args, pieces: &JoinedPieces) -> Result<JoinedResult, Failure> {
    let input = args.open()?;
    let parts: Vec<DrivePiece> = pieces.contents()?;
    let result = args.result(&input, pieces.positions()?)?;
    let mut outputs = OutputFiles::default();
    outputs.add_asset(&args.out, &args.target_normals.apply(result))?;
    outputs.write()?;

    let times = parts.iter().map(|part| part.ms_per_frame);
    let mut findings = parts[0].findings.clone();
    for part in &parts[1..] {
        findings.join(&part.findings);
    }
    let confidence = pieces.in_order(parts.iter().map(|part| part.confidence.clone()).collect());
    let driven = Driven {
        frames: pieces.frame_count(),
        ms_per_frame: mean_per_frame(pieces, times),
        confidence: confidence.ok(),
        warnings: findings.warnings(),
    };
    let (report, warnings) = args.report(input, driven, outputs);
    Ok(JoinedResult {
        summary: report.summary(),
        report: JoinedReport::Drive(Box::new(report)),
        warnings,
    })
}

/// Model and control points of a clip.
struct DriveInput {
    model: Model,
    control: ControlTrack,
    with_detail: bool,
}

/// The frames of a driven clip, without their positions.
struct Driven {
    frames: usize,
    ms_per_frame: f64,
    /// The mean of each frame.
    confidence: Option<Vec<f64>>,
    warnings: Vec<String>,
}

impl Args {
    fn open(&self) -> Result<DriveInput, Failure> {
        let model = Model::from_bytes(&read_file(&self.model)?)
            .map_err(|error| Failure::about(self.model.display(), &error))?;
        let control = self.capture.read(&self.points, &model)?;
        let with_detail = model.detail().is_some() && !self.no_detail;
        Ok(DriveInput {
            model,
            control,
            with_detail,
        })
    }

    /// The selected frames, with their output written.
    fn make(&self, console: &Console) -> Result<Made<DriveReport>, Failure> {
        output::require_clip_format(&self.out)?;
        output::require_ending_if_given(self.confidence.as_deref(), &["npy"])?;
        let input = self.open()?;
        let DriveInput {
            model,
            control,
            with_detail,
        } = &input;
        let whole = control.frames.len();
        let selected = self.piece.frames_of(whole)?;

        // A format that cannot be written is reported before the work, not after it.
        let rest = shown_mesh(model, *with_detail).positions().to_vec();
        let still = self.result(&input, vec![rest])?;
        pliant_io::plan_save(&still, &self.out)?;

        let options = self.options(*with_detail);
        let bar = console.progress_bar();
        let mut driven = DrivenClip::of_frames(model, control, &options, &selected, &bar)
            .map_err(|error| self.about(&error))?;
        drop(bar);

        // The frames move into the asset, because a clip can be large.
        let frames = std::mem::take(&mut driven.frames);
        let exact = self
            .piece
            .writes_manifest()
            .then(|| exact_positions(&frames));
        let result = self.target_normals.apply(self.result(&input, frames)?);
        let outputs = self.write(model, &driven.confidence, &result)?;

        let confidence = self.mean_confidence(&driven.confidence);
        let piece = DrivePiece {
            findings: driven.findings,
            ms_per_frame: driven.ms_per_frame,
            confidence: confidence.clone().unwrap_or_default(),
        };
        let driven = Driven {
            frames: selected.len(),
            ms_per_frame: driven.ms_per_frame,
            confidence,
            warnings: driven.warnings,
        };
        let (report, warnings) = self.report(input, driven, outputs);
        Ok(Made {
            summary: report.summary(),
            report,
            warnings,
            piece: PieceContent {
                frames: selected,
                whole,
                content: content(&piece),
                exact,
            },
        })
    }

    /// The report of a clip that was written, and its warnings.
    fn report(
        &self,
        input: DriveInput,
        driven: Driven,
        outputs: OutputFiles,
    ) -> (DriveReport, Vec<String>) {
        let saved = SavedAsset {
            out: path_text(&self.out),
            left_out: outputs.left_out,
        };
        let report = DriveReport {
            frames: driven.frames,
            vertices: shown_mesh(&input.model, input.with_detail).vertex_count(),
            detail: input.with_detail,
            ms_per_frame: driven.ms_per_frame,
            fps: input.control.fps,
            effectors: input.control.effectors.map(EffectorReport::from),
            confidence: driven.confidence,
            saved,
        };
        let warnings = [input.control.warnings, driven.warnings, outputs.warnings].concat();
        (report, warnings)
    }

    fn options(&self, with_detail: bool) -> DriveOptions {
        let hold = if self.hard {
            Some(ControlConstraint::Hard)
        } else {
            self.beta.map(ControlConstraint::Soft)
        };
        DriveOptions {
            hold,
            exact: self.exact,
            with_detail,
            with_confidence: self.confidence.is_some(),
            jiggle: self.jiggle,
        }
    }

    /// The mesh with the frames as its clip, at the rate of the control points.
    fn result(&self, input: &DriveInput, frames: Vec<Vec<DVec3>>) -> Result<Asset, Failure> {
        let stem = self.points.file_stem().unwrap_or_default();
        let name = stem.to_string_lossy();
        let mut asset = clip_asset(&input.model, input.with_detail, &name, frames)
            .map_err(|error| Failure::about(self.model.display(), &error))?;

        // Without a rate, the clip keeps the default of the format.
        if let Some(fps) = input.control.fps {
            for clip in &mut asset.clips {
                clip.frames_per_second = fps;
            }
        }
        Ok(asset)
    }

    /// Writes the clip and, if wanted, the confidence.
    fn write(
        &self,
        model: &Model,
        confidence: &[Confidence],
        result: &Asset,
    ) -> Result<OutputFiles, Failure> {
        let mut outputs = OutputFiles::default();
        if let Some(path) = &self.confidence {
            let vertices = model.examples().reference().vertex_count();
            let values = confidence.iter().flat_map(Confidence::of_vertices);
            outputs.add(path, npy::write_f64(&[confidence.len(), vertices], values));
        }
        outputs.add_asset(&self.out, result)?;
        outputs.write()?;
        Ok(outputs)
    }

    /// The mean of each frame; the file has all vertices.
    fn mean_confidence(&self, confidence: &[Confidence]) -> Option<Vec<f64>> {
        self.confidence.as_ref()?;
        Some(confidence.iter().map(Confidence::mean).collect())
    }

    /// An error of a frame is about the points, any other one about the model.
    fn about(&self, error: &DrivenError) -> Failure {
        match error {
            DrivenError::Frame { frame, source } => {
                Failure::about(format!("{}, frame {frame}", self.points.display()), source)
            }
            error => Failure::about(self.model.display(), error),
        }
    }
}

impl DriveReport {
    fn summary(&self) -> String {
        format!(
            "{} frames, {:.1} ms per frame; written to {}\n",
            self.frames, self.ms_per_frame, self.saved.out
        )
    }
}
