//! The demo page: every capability on the built-in models, with pictures, figures and files.
//!
//! No file is written until all sections are computed, so a stopped demo leaves no file behind.
//!
//! - `specimens`: the built-in models.
//! - `materials`: colours and textures that stay in a file.
//! - `pose`, `touch`, `blend`, `transfer`, `learn`: the five capabilities.
//! - `capture`: a recorded performance, cleaned and played.
//! - `geodesics`, `surfaces`: distances, decimation and subdivision.

mod blend;
mod capture;
mod geodesics;
mod learn;
mod materials;
mod pose;
mod specimens;
mod surfaces;
mod touch;
mod transfer;

use std::path::{Path, PathBuf};

use pliant_io::IoError;
use pliant_learn::LearnError;
use pliant_mesh::{MeshError, Progress, Stopped};
use pliant_papers::page::{Page, Section, viewer_page};
use pliant_physics::{PhysicsError, TouchError};
use pliant_rig::{Clip, RigError};
use pliant_transfer::TransferError;
use pliant_view::ViewError;
use thiserror::Error;
use web_time::Instant;

/// Why the demo could not be computed or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DemoError {
    /// A file cannot be written.
    #[error(transparent)]
    Io(#[from] IoError),
    /// A picture cannot be drawn.
    #[error(transparent)]
    View(#[from] ViewError),
    /// Work on a built-in mesh fails.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// Work on a built-in rig fails.
    #[error(transparent)]
    Rig(#[from] RigError),
    /// A blend of built-in models fails.
    #[error(transparent)]
    Physics(#[from] PhysicsError),
    /// A touch of a built-in model fails.
    #[error(transparent)]
    Touch(#[from] TouchError),
    /// A transfer between built-in models fails.
    #[error(transparent)]
    Transfer(#[from] TransferError),
    /// Training on a built-in model fails.
    #[error(transparent)]
    Learn(#[from] LearnError),
    /// The caller stopped the work.
    #[error("the demo was stopped; nothing was written")]
    Stopped(#[from] Stopped),
}

/// The written files of the demo.
#[derive(Debug, Clone)]
pub struct Demo {
    /// The page.
    pub index: PathBuf,
    /// Every file, the page last.
    pub files: Vec<PathBuf>,
    /// The measured figures, as (section, name, value) in the order of the page.
    pub figures: Vec<(String, String, String)>,
}

/// Computes the demo and writes it into the folder `out`, which is created if it does not exist.
///
/// # Errors
/// A folder that cannot be created, files that cannot be written, stopped work.
pub fn run(out: &Path, progress: &dyn Progress) -> Result<Demo, DemoError> {
    type Chapter = fn(&mut Vec<Section>) -> Result<(), DemoError>;
    let chapters: [(&str, Chapter); 13] = [
        ("head", specimens::head),
        ("hand", specimens::hand),
        ("hound and tapir", specimens::quadrupeds),
        ("bar", specimens::bar),
        ("materials", materials::chapter),
        ("pose", pose::chapter),
        ("touch", touch::chapter),
        ("blend", blend::chapter),
        ("transfer", transfer::chapter),
        ("learn", learn::chapter),
        ("capture", capture::chapter),
        ("geodesics", geodesics::chapter),
        ("surfaces", surfaces::chapter),
    ];

    // Before the work, so that an impossible folder is reported at once.
    std::fs::create_dir_all(out).map_err(|error| IoError::Write {
        path: out.to_owned(),
        source: error,
    })?;

    let mut sections = Vec::new();
    for (k, (name, chapter)) in chapters.iter().enumerate() {
        let done = k as f64 / chapters.len() as f64;
        progress.proceed(name, done)?;
        chapter(&mut sections)?;
    }

    write(out, &page(sections)?)
}

/// The picture at the top of the page and of the README: four built-in models, as a PNG.
///
/// # Errors
/// Never for the built-in models.
pub fn family_picture() -> Result<Vec<u8>, DemoError> {
    Ok(specimens::family()?.to_png()?)
}

fn page(sections: Vec<Section>) -> Result<Page, DemoError> {
    let text = "Pose, touch, blend, transfer and learn the deformation of a character mesh from \
                examples. This page shows the built-in models and every capability of Pliant on \
                them.";
    let page = Page::new("Pliant", text).with_picture(
        "pliant.png",
        "Four built-in models",
        family_picture()?,
    );
    Ok(page.with_sections(sections).with_command("pliant demo"))
}

fn write(out: &Path, page: &Page) -> Result<Demo, DemoError> {
    let files = page.in_folder(out);
    pliant_io::write_files(&files)?;
    let figures = page
        .figures()
        .map(|(section, name, value)| (section.to_owned(), name.to_owned(), value.to_owned()))
        .collect();

    Ok(Demo {
        index: out.join("index.html"),
        files: files.into_iter().map(|(path, _)| path).collect(),
        figures,
    })
}

/// A clip that can be turned and played.
fn add_viewer(section: &mut Section, file: &str, caption: &str, clip: &Clip) {
    let fps = clip.frames_per_second();
    let page = viewer_page(clip.reference(), clip.frames(), fps, caption);
    section.viewer(file, caption, page);
}

/// The result of `work` and its time in milliseconds.
fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let began = Instant::now();
    let result = work();
    (result, began.elapsed().as_secs_f64() * 1e3)
}

fn milliseconds(value: f64) -> String {
    if value < 10.0 {
        format!("{value:.2} ms")
    } else {
        format!("{value:.0} ms")
    }
}
