//! Commands that compute pieces of their result: `--frames`, `--resume`, and manifests.
//!
//! - [`PieceArgs`]: the options of these commands.
//! - [`Invocation`]: the command line in a form that can be compared and run again.
//! - [`run_piece`]: runs the work of a command, or finds it done; writes the manifest.

mod invocation;

use std::path::{Path, PathBuf};

use pliant::pieces::{JoinedPieces, Manifest, PieceError, PieceFile};
use pliant_io::{ContentHash, npy, record_reads};
use pliant_mesh::glam::DVec3;
use pliant_rig::FrameSelection;
use serde::Serialize;
use serde_json::Value;

use crate::cli::commands::program::join::JoinedReport;
use crate::cli::report::console::Console;
use crate::cli::report::failure::Failure;
pub(crate) use invocation::{GivenArgument, Invocation};

/// Options of commands whose result can be computed in pieces.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Pieces for several machines")]
pub(crate) struct PieceArgs {
    /// Only these frames of the whole result, counted from 0: 0-9, 0-9:2 for every second one, or a
    /// list such as 0-4,7. `pliant join` joins the pieces to the whole, to the bit.
    #[arg(long, value_name = "A-B")]
    pub(crate) frames: Option<FrameSelection>,

    /// Do nothing if the output is there, complete, and made by this command from the same inputs.
    #[arg(long)]
    pub(crate) resume: bool,
}

/// What a command made.
pub(crate) struct Made<R> {
    pub(crate) report: R,
    pub(crate) summary: String,
    pub(crate) warnings: Vec<String>,
    /// The content of the manifest.
    pub(crate) piece: PieceContent,
}

/// What a piece needs beside its output to be joined.
pub(crate) struct PieceContent {
    /// The frames of the piece.
    pub(crate) frames: Vec<usize>,
    /// Number of frames of the whole.
    pub(crate) whole: usize,
    /// Whatever the command needs.
    pub(crate) content: Value,
    /// An array whose first dimension counts the frames.
    pub(crate) exact: Option<Vec<u8>>,
}

impl PieceArgs {
    /// The frames of the piece, ascending; all without `--frames`.
    pub(crate) fn frames_of(&self, whole: usize) -> Result<Vec<usize>, Failure> {
        match &self.frames {
            None => Ok((0..whole).collect()),
            Some(frames) => frames
                .of(whole)
                .map_err(|error| Failure::about("--frames", &error)),
        }
    }

    /// Whether a manifest is written: the others need none.
    pub(crate) fn writes_manifest(&self) -> bool {
        self.frames.is_some() || self.resume
    }

    /// The manifest of an output that is complete and still valid.
    fn done(&self, invocation: &Invocation, out: &Path) -> Option<Manifest> {
        let path = Manifest::path_of(out);
        if !self.resume || !path.is_file() {
            return None;
        }
        let manifest = Manifest::read(&path).ok()?;
        let is_same = manifest.program == Manifest::PROGRAM
            && manifest.command == invocation.command
            && manifest.arguments == invocation.arguments
            && manifest.frame_numbers().ok()? == self.frames_of(manifest.whole).ok()?;
        (is_same && manifest.check_files(&path).is_ok() && manifest.inputs_are_unchanged())
            .then_some(manifest)
    }
}

/// Positions as the exact numbers of a piece.
pub(crate) fn exact_positions(frames: &[Vec<DVec3>]) -> Vec<u8> {
    let vertices = frames.first().map_or(0, Vec::len);
    npy::write_points(&[frames.len(), vertices], frames.iter().flatten())
}

/// Content as JSON.
pub(crate) fn content(value: &impl Serialize) -> Value {
    serde_json::to_value(value).expect("the content of a piece has text keys")
}

/// Runs `work` and prints its report, or that of an earlier run that `--resume` finds valid.
///
/// For a piece, the manifest is written after the outputs: an output without one is not complete.
pub(crate) fn run_piece<R: Serialize>(
    args: &PieceArgs,
    invocation: &Invocation,
    out: &Path,
    console: &Console,
    work: impl FnOnce() -> Result<Made<R>, Failure>,
) -> Result<(), Failure> {
    if let Some(manifest) = args.done(invocation, out) {
        let summary = format!("{} is there already; nothing to do\n", out.display());
        return console.print_summary(&manifest.report, &summary, &manifest.problems);
    }
    if !args.writes_manifest() {
        let made = work()?;
        return console.print_summary(&made.report, &made.summary, &made.warnings);
    }

    // Machines of a farm begin in an empty folder.
    if let Some(folder) = out.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(|error| {
            Failure::new(format!(
                "cannot make the folder '{}': {error}",
                folder.display()
            ))
        })?;
    }
    let (made, reads) = record_reads(work);
    let made = made?;
    let inputs = reads.into_iter().map(Into::into).collect();
    let report = serde_json::to_value(&made.report).expect("a report has text keys");
    write_manifest(
        invocation,
        out,
        ManifestParts {
            piece: made.piece,
            inputs,
            report,
            problems: made.warnings.clone(),
        },
    )?;
    console.print_summary(&made.report, &made.summary, &made.warnings)
}

struct ManifestParts {
    piece: PieceContent,
    inputs: Vec<pliant::pieces::InputFile>,
    report: Value,
    problems: Vec<String>,
}

fn write_manifest(
    invocation: &Invocation,
    out: &Path,
    parts: ManifestParts,
) -> Result<(), Failure> {
    let path = Manifest::path_of(out);
    let mut files = Vec::new();
    let mut exact = None;
    let mut outputs: Vec<(PathBuf, Vec<u8>)> = Vec::new();
    for file in files_of(out) {
        let bytes = pliant_io::read_file(&file)?;
        // An output that holds the exact numbers needs no second file.
        if parts.piece.exact.as_ref() == Some(&bytes) {
            exact = file_name(&file);
        }
        files.extend(piece_file(&file, &bytes));
    }
    if let (Some(bytes), None) = (&parts.piece.exact, &exact) {
        let mut name = out.as_os_str().to_owned();
        name.push(".piece.npy");
        let file = PathBuf::from(name);
        files.extend(piece_file(&file, bytes));
        exact = file_name(&file);
        outputs.push((file, bytes.clone()));
    }

    let manifest = Manifest {
        version: Manifest::VERSION,
        program: Manifest::PROGRAM.into(),
        command: invocation.command.clone(),
        arguments: invocation.arguments.clone(),
        inputs: parts.inputs,
        frames: FrameSelection::of_frames(&parts.piece.frames).to_string(),
        whole: parts.piece.whole,
        files,
        exact,
        content: parts.piece.content,
        report: parts.report,
        problems: parts.problems,
    };
    outputs.push((path, manifest.to_bytes()));
    Ok(pliant_io::write_files(&outputs)?)
}

/// The files of an output: one, or the two of `MESH+ARRAY`, which lie in one folder.
fn files_of(out: &Path) -> Vec<PathBuf> {
    if out.is_file() {
        return vec![out.to_owned()];
    }
    let text = out.to_string_lossy();
    let mut parts = text.split('+');
    let first = PathBuf::from(parts.next().unwrap_or_default());
    let others: Vec<PathBuf> = parts.map(|part| first.with_file_name(part)).collect();
    let mut files = vec![first];
    files.extend(others);
    files.retain(|file| file.is_file());
    files
}

fn file_name(path: &Path) -> Option<String> {
    Some(path.file_name()?.to_string_lossy().into_owned())
}

fn piece_file(path: &Path, bytes: &[u8]) -> Option<PieceFile> {
    Some(PieceFile {
        name: file_name(path)?,
        sha256: ContentHash::of(bytes),
    })
}

impl From<PieceError> for Failure {
    fn from(error: PieceError) -> Self {
        match error {
            PieceError::File(error) => error.into(),
            error => Self::new(error.to_string()),
        }
    }
}

/// What joining pieces gives: the report of the command over all frames.
pub(crate) struct JoinedResult {
    pub(crate) report: JoinedReport,
    pub(crate) summary: String,
    pub(crate) warnings: Vec<String>,
}

/// The mean of the times of pieces, by their numbers of frames.
pub(crate) fn mean_per_frame(pieces: &JoinedPieces, times: impl Iterator<Item = f64>) -> f64 {
    let mut sum = 0.0;
    for (frames, time) in pieces.frames().iter().zip(times) {
        sum += frames.len() as f64 * time;
    }
    sum / pieces.frame_count().max(1) as f64
}

/// Refuses a frame range for a result without frames.
pub(crate) fn refuse_frames(args: &PieceArgs, why: &str) -> Result<(), Failure> {
    if args.frames.is_some() {
        return Err(Failure::usage(format!("--frames needs a clip, and {why}")));
    }
    Ok(())
}
