//! Frames of a clip as pictures: an animated PNG, or a folder with one PNG for each frame.
//!
//! In a folder every picture is complete as soon as it has its name, and the manifest is written
//! again after each: a process that is stopped loses the picture that it was drawing, no more.

use std::path::{Path, PathBuf};

use pliant::pieces::{InputFile, JoinedPieces, Manifest, PieceFile};
use pliant_io::{ContentHash, record_reads};
use pliant_mesh::Progress as _;
use pliant_rig::{Clip, FrameSelection};
use pliant_view::{Image, ViewError, from_apng, to_apng};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::render::{Args, PictureSet, RenderReport, frame_millis};
use crate::cli::commands::program::join::JoinedReport;
use crate::cli::pieces::{Invocation, JoinedResult, Made, PieceContent, content, run_piece};
use crate::cli::report::console::Console;
use crate::cli::report::failure::Failure;
use crate::cli::report::output;

/// What a piece needs beside its pictures to be joined.
#[derive(Debug, Serialize, Deserialize)]
struct RenderPiece {
    report: RenderReport,
    warnings: Vec<String>,
    /// Milliseconds of a frame.
    millis: u16,
}

/// Number of frames of the clip that is shown; none for a single picture.
pub(crate) fn frame_count(args: &Args) -> Result<Option<usize>, Failure> {
    let set = args.open()?;
    if args.shows_clip() {
        Ok(Some(set.asset.clip()?.frames().len()))
    } else {
        Ok(None)
    }
}

/// Draws a piece, or a result that `--resume` may find done.
pub(super) fn run(args: &Args, invocation: &Invocation, console: &Console) -> Result<(), Failure> {
    if is_folder(&args.out) && args.shows_clip() {
        return draw_folder(args, invocation, console);
    }
    output::require_ending(&args.out, &["png", "apng"])?;
    run_piece(&args.piece, invocation, &args.out, console, || {
        draw_file(args, console)
    })
}

/// Whether several pictures go to a folder. A path without an ending names one.
fn is_folder(out: &Path) -> bool {
    out.is_dir() || out.extension().is_none()
}

/// The picture of a frame in a folder.
fn picture_in(folder: &Path, frame: usize) -> PathBuf {
    folder.join(format!("frame.{frame:04}.png"))
}

fn draw_file(args: &Args, console: &Console) -> Result<Made<RenderReport>, Failure> {
    let set = args.open()?;
    if !args.shows_clip() {
        return draw_still(args, set);
    }
    let clip = set.asset.clip()?;
    let whole = clip.frames().len();
    let frames = args.piece.frames_of(whole)?;
    let bar = console.progress_bar();
    let mut images = Vec::with_capacity(frames.len());
    for (done, &k) in frames.iter().enumerate() {
        let _ = bar.report("drawing", done as f64 / frames.len() as f64);
        images.push(set.frame(&clip, k).map_err(|error| args.about(&error))?);
    }
    drop(bar);

    let png = to_apng(&images, frame_millis(&clip)).map_err(|error| args.about(&error))?;
    output::write(&args.out, png)?;
    let piece = RenderPiece::new(args, &set, &clip);
    Ok(Made {
        report: RenderReport {
            frames: Some(frames.len()),
            ..piece.report.clone()
        },
        summary: format!("written to {}\n", args.out.display()),
        warnings: set.warnings,
        piece: PieceContent {
            frames,
            whole,
            content: content(&piece),
            exact: None,
        },
    })
}

/// A single picture: the whole has one frame.
fn draw_still(args: &Args, set: PictureSet) -> Result<Made<RenderReport>, Failure> {
    let png = args.draw(&set)?;
    output::write(&args.out, png)?;
    Ok(Made {
        report: set.report(args),
        summary: format!("written to {}\n", args.out.display()),
        warnings: set.warnings,
        piece: PieceContent {
            frames: vec![0],
            whole: 1,
            content: Value::Null,
            exact: None,
        },
    })
}

impl RenderPiece {
    fn new(args: &Args, set: &PictureSet, clip: &Clip) -> Self {
        Self {
            report: set.report(args),
            warnings: set.warnings.clone(),
            millis: frame_millis(clip),
        }
    }
}

/// A folder of pictures in the making.
struct Folder<'a> {
    path: &'a Path,
    /// The manifest so far; its frames and files are those that are finished.
    manifest: Manifest,
    manifest_path: PathBuf,
    finished: Vec<usize>,
}

fn draw_folder(args: &Args, invocation: &Invocation, console: &Console) -> Result<(), Failure> {
    let (opened, reads) = record_reads(|| {
        let set = args.open()?;
        let clip = set.asset.clip()?;
        Ok::<_, Failure>((set, clip))
    });
    let (set, clip) = opened?;
    let whole = clip.frames().len();
    let frames = args.piece.frames_of(whole)?;
    make_folder(&args.out)?;

    let piece = RenderPiece::new(args, &set, &clip);
    let manifest = Manifest {
        version: Manifest::VERSION,
        program: Manifest::PROGRAM.into(),
        command: invocation.command.clone(),
        arguments: invocation.arguments.clone(),
        inputs: reads.into_iter().map(InputFile::from).collect(),
        frames: String::new(),
        whole,
        files: Vec::new(),
        exact: None,
        content: content(&piece),
        report: Value::Null,
        problems: set.warnings.clone(),
    };
    let mut folder = Folder::open(&args.out, manifest, &frames);
    if args.piece.resume {
        folder.resume();
    }

    let bar = console.progress_bar();
    for (done, &k) in frames.iter().enumerate() {
        let _ = bar.report("drawing", done as f64 / frames.len() as f64);
        if folder.finished.contains(&k) {
            continue;
        }
        let image = set.frame(&clip, k).map_err(|error| args.about(&error))?;
        folder.add(k, &image).map_err(|error| match error {
            PictureFailure::View(error) => args.about(&error),
            PictureFailure::Write(failure) => failure,
        })?;
    }
    drop(bar);

    let report = RenderReport {
        frames: Some(frames.len()),
        ..piece.report
    };
    let summary = format!(
        "{} pictures written to {}\n",
        frames.len(),
        args.out.display()
    );
    console.print_summary(&report, &summary, &set.warnings)
}

/// Why a picture is not in its folder.
enum PictureFailure {
    View(ViewError),
    Write(Failure),
}

impl<'a> Folder<'a> {
    fn open(path: &'a Path, manifest: Manifest, frames: &[usize]) -> Self {
        // A colon cannot be in a file name everywhere.
        let name = FrameSelection::of_frames(frames)
            .to_string()
            .replace(':', "x");
        Self {
            path,
            manifest,
            manifest_path: Manifest::path_of(&path.join(format!("frames.{name}"))),
            finished: Vec::new(),
        }
    }

    /// Takes over the pictures of an earlier run of the same job.
    fn resume(&mut self) {
        let Ok(earlier) = Manifest::read(&self.manifest_path) else {
            return;
        };
        let frames = earlier.frame_numbers().unwrap_or_default();
        let is_same = self.manifest.difference(&earlier).is_none();
        if !is_same || earlier.check_files(&self.manifest_path).is_err() {
            return;
        }
        self.finished = frames;
        self.manifest.files = earlier.files;
    }

    fn add(&mut self, frame: usize, image: &Image) -> Result<(), PictureFailure> {
        let png = image.to_png().map_err(PictureFailure::View)?;
        let path = picture_in(self.path, frame);
        let place = self.finished.partition_point(|&before| before < frame);
        self.finished.insert(place, frame);
        self.manifest.files.insert(
            place,
            PieceFile {
                name: path
                    .file_name()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned(),
                sha256: ContentHash::of(&png),
            },
        );
        self.manifest.frames = FrameSelection::of_frames(&self.finished).to_string();

        let files = [
            (path, png),
            (self.manifest_path.clone(), self.manifest.to_bytes()),
        ];
        pliant_io::write_files(&files).map_err(|error| PictureFailure::Write(error.into()))
    }
}

fn make_folder(folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|error| {
        Failure::new(format!(
            "cannot make the folder '{}': {error}",
            folder.display()
        ))
    })
}

/// The pictures of all pieces, in a folder or as an animated PNG.
pub(crate) fn join(args: &Args, pieces: &JoinedPieces) -> Result<JoinedResult, Failure> {
    let parts: Vec<RenderPiece> = pieces.contents()?;
    if is_folder(&args.out) {
        make_folder(&args.out)?;
        for (k, frame) in pictures(pieces)?.into_iter().enumerate() {
            let target = picture_in(&args.out, k);
            if !pliant_io::is_same_file(&target, &frame.path) {
                output::write(&target, frame.png()?)?;
            }
        }
    } else {
        output::require_ending(&args.out, &["png", "apng"])?;
        let mut images = Vec::with_capacity(pieces.frame_count());
        for frame in pictures(pieces)? {
            images.push(frame.image()?);
        }
        let png = to_apng(&images, parts[0].millis).map_err(|error| args.about(&error))?;
        output::write(&args.out, png)?;
    }

    let report = RenderReport {
        frames: Some(pieces.frame_count()),
        out: output::path_text(&args.out),
        ..parts[0].report.clone()
    };
    let summary = format!("written to {}\n", args.out.display());
    Ok(JoinedResult {
        report: JoinedReport::Render(Box::new(report)),
        summary,
        warnings: parts[0].warnings.clone(),
    })
}

/// The picture of a frame: a file of its own, or a frame of an animated PNG.
struct Picture {
    path: PathBuf,
    /// The frame in the file, decoded where the file holds several.
    image: Option<Image>,
}

impl Picture {
    fn image(self) -> Result<Image, Failure> {
        match self.image {
            Some(image) => Ok(image),
            None => decoded(&self.path)?
                .pop()
                .ok_or_else(|| Failure::new(format!("'{}' holds no picture", self.path.display()))),
        }
    }

    fn png(self) -> Result<Vec<u8>, Failure> {
        match self.image {
            Some(image) => image
                .to_png()
                .map_err(|error| Failure::about(self.path.display(), &error)),
            None => Ok(pliant_io::read_file(&self.path)?),
        }
    }
}

fn decoded(path: &Path) -> Result<Vec<Image>, Failure> {
    from_apng(&pliant_io::read_file(path)?).map_err(|error| Failure::about(path.display(), &error))
}

/// The pictures of all frames in order.
fn pictures(pieces: &JoinedPieces) -> Result<Vec<Picture>, Failure> {
    let mut rows = Vec::new();
    for piece in pieces.pieces() {
        let files = &piece.manifest.files;
        let path = |file: &PieceFile| piece.manifest_path.with_file_name(&file.name);
        // A folder has a file for each frame.
        let is_animation = files.len() == 1 && !files[0].name.starts_with("frame.");
        let own: Vec<Picture> = if is_animation {
            let path = path(&files[0]);
            let images = decoded(&path)?;
            let picture = |image| Picture {
                path: path.clone(),
                image: Some(image),
            };
            images.into_iter().map(picture).collect()
        } else {
            let picture = |file| Picture {
                path: path(file),
                image: None,
            };
            files.iter().map(picture).collect()
        };
        rows.push(own);
    }
    Ok(pieces.in_order(rows)?)
}
