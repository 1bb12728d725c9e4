//! `pliant join`: the whole result of a job from its pieces.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Parser;
use pliant::pieces::{JoinedPieces, Piece};
use pliant_io::ContentHash;
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::commands::animation::{blend, blend_report, transfer};
use crate::cli::commands::inspection::{render, render_frames};
use crate::cli::commands::learning::{drive, validate};
use crate::cli::commands::posing::invert;
use crate::cli::pieces::JoinedResult;
use crate::cli::report::console::Console;
use crate::cli::report::failure::Failure;
use crate::cli::{Cli, Command};

const EXAMPLES: &str = "\
Examples:
  # A transfer in two pieces, perhaps on two machines, and the whole
  pliant transfer --source 'specimen:hound#walk' --target specimen:tapir \\
      --frames 0-15 --out a.glb
  pliant transfer --source 'specimen:hound#walk' --target specimen:tapir \\
      --frames 16-31 --out b.glb
  pliant join a.glb b.glb --out walk.glb

  # Pieces in one format, the whole in another
  pliant join a.npy b.npy --out walk.usda

  # Pictures of several machines as an animated PNG
  pliant join pictures-1 pictures-2 --out walk.png

  # Inputs that lie elsewhere than where the pieces were made
  pliant join a.glb b.glb --out walk.glb -- \\
      --source elsewhere/walk.glb --target elsewhere/tapir.obj

Pieces:
  A piece is the output of a command with --frames, or a folder of such
  outputs. Beside it lies PIECE.piece.json, which names the command, its
  arguments, the inputs by the SHA-256 hash of their content, and the frames;
  formats that round positions also have PIECE.piece.npy. Keep these files
  together. The order of the pieces does not matter.

  The whole equals the result of the command without --frames to the bit, in
  every format. The inputs are read again and must not have changed.

  Pieces of another job, frames in two pieces and frames in none are refused by
  name. So are pieces of another version of pliant.";

/// Joins the pieces of a result that several machines computed.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Outputs of a command with --frames, or folders of them.
    #[arg(value_name = "PIECE", required = true)]
    pieces: Vec<PathBuf>,

    /// File for the whole result, in any format of the command; a folder for pictures.
    #[arg(long, value_name = "WHOLE")]
    out: PathBuf,

    /// The arguments of the pieces, with the paths that their inputs have here.
    #[arg(last = true, value_name = "ARGUMENTS")]
    arguments: Vec<OsString>,
}

/// The report of `pliant join`: that of the command, with the pieces.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct JoinReport {
    /// The command whose result was joined.
    command: String,
    /// The pieces in the order of their first frames.
    pieces: Vec<PieceReport>,
    #[serde(flatten)]
    result: JoinedReport,
}

/// A piece.
#[derive(Debug, Serialize, JsonSchema)]
struct PieceReport {
    /// Its file.
    file: String,
    /// Its frames in the whole.
    frames: String,
}

/// The report of the whole; times are those of the pieces.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum JoinedReport {
    Blend(Box<blend_report::BlendReport>),
    Drive(Box<drive::DriveReport>),
    Invert(Box<invert::InvertReport>),
    Render(Box<render::RenderReport>),
    Transfer(Box<transfer::TransferReport>),
    Validate(Box<validate::ValidateReport>),
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    let mut pieces = Vec::new();
    for path in &args.pieces {
        pieces.extend(Piece::read(path)?);
    }
    let pieces = JoinedPieces::new(pieces)?;
    refuse_pieces_as_output(&args.out, &pieces)?;

    let command = args.command(&pieces)?;
    if args.arguments.is_empty() {
        require_same_inputs(&pieces)?;
    } else {
        args.require_known_inputs(&pieces)?;
    }
    let JoinedResult {
        report: result,
        summary,
        warnings,
    } = match &command {
        Command::Blend(args) => blend::join(args, &pieces)?,
        Command::Drive(args) => drive::join(args, &pieces)?,
        Command::Invert(args) => invert::join(args, &pieces)?,
        Command::Render(args) => render_frames::join(args, &pieces)?,
        Command::Transfer(args) => transfer::join(args, &pieces)?,
        Command::Validate(args) => validate::join(args, &pieces)?,
        _ => {
            let name = &pieces.manifest().command;
            return Err(Failure::new(format!(
                "'{}' is a piece of '{name}', which has no pieces that can be joined",
                pieces.pieces()[0].name
            )));
        }
    };

    let mut list = Vec::new();
    for piece in pieces.pieces() {
        list.push(PieceReport {
            file: piece.name.clone(),
            frames: piece.manifest.frames.clone(),
        });
    }
    let summary = format!("{} pieces joined; {summary}", list.len());
    let report = JoinReport {
        command: pieces.manifest().command.clone(),
        pieces: list,
        result,
    };
    console.print_summary(&report, &summary, &warnings)
}

impl Args {
    /// The command of the pieces, with the output of the whole.
    fn command(&self, pieces: &JoinedPieces) -> Result<Command, Failure> {
        let manifest = pieces.manifest();
        let mut line: Vec<OsString> = vec!["pliant".into(), manifest.command.clone().into()];
        line.extend(["--out".into(), self.out.clone().into_os_string()]);
        if self.arguments.is_empty() {
            line.extend(manifest.arguments.iter().map(OsString::from));
        } else {
            line.extend(self.arguments.iter().cloned());
        }

        let parsed = Cli::try_parse_from(line).map_err(|error| {
            let text = error.to_string();
            let reason = text.lines().next().unwrap_or_default();
            let reason = reason.strip_prefix("error: ").unwrap_or(reason);
            let message = format!("the arguments of the pieces cannot be used: {reason}");
            if self.arguments.is_empty() {
                Failure::new(message)
            } else {
                Failure::usage(message)
            }
        })?;
        Ok(parsed.command)
    }
}

impl Args {
    /// Files that stand for inputs elsewhere must have their content.
    fn require_known_inputs(&self, pieces: &JoinedPieces) -> Result<(), Failure> {
        let known = pieces.manifest().input_hashes();
        for argument in &self.arguments {
            let text = argument.to_string_lossy();
            for path in text.split(['=', '+', '#', '@']).map(Path::new) {
                if !pliant_io::is_file(path) {
                    continue;
                }
                if !known.contains(&ContentHash::of(&pliant_io::read_file(path)?)) {
                    return Err(Failure::new(format!(
                        "'{}' is none of the inputs of '{}'; name the files that the pieces were made from",
                        path.display(),
                        pieces.pieces()[0].name
                    )));
                }
            }
        }
        Ok(())
    }
}

/// An input that changed would give a whole of two halves.
fn require_same_inputs(pieces: &JoinedPieces) -> Result<(), Failure> {
    for input in &pieces.manifest().inputs {
        let bytes = pliant_io::read_file(&input.path)?;
        if ContentHash::of(&bytes) != input.sha256 {
            return Err(Failure::new(format!(
                "the input '{}' changed after '{}' was made; make the pieces again",
                input.path.display(),
                pieces.pieces()[0].name
            )));
        }
    }
    Ok(())
}

fn refuse_pieces_as_output(out: &Path, pieces: &JoinedPieces) -> Result<(), Failure> {
    for piece in pieces.pieces() {
        for file in &piece.manifest.files {
            let path = piece.manifest_path.with_file_name(&file.name);
            if out.is_file() && pliant_io::is_same_file(out, &path) {
                return Err(Failure::new(format!(
                    "cannot write '{}': the whole would replace a piece; write to another file",
                    out.display()
                )));
            }
        }
    }
    Ok(())
}
