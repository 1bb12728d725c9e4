//! The demo: every capability on the built-in models, as one page of pictures, figures and files.
//!
//! No file is written until everything is made, so a demo that is stopped leaves none behind.

mod blend;
mod geodesics;
mod learn;
mod pose;
mod specimens;
mod surfaces;
mod touch;
mod transfer;

use std::path::{Path, PathBuf};

use pliant_io::IoError;
use pliant_learn::LearnError;
use pliant_mesh::{MeshError, Progress};
use pliant_physics::PhysicsError;
use pliant_rig::RigError;
use pliant_transfer::TransferError;
use pliant_view::ViewError;
use thiserror::Error;
use web_time::Instant;

use crate::page::{Page, Section};
use crate::touch_job::TouchError;

/// Why a demo could not be made.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DemoError {
    /// Its files could not be written.
    #[error(transparent)]
    Io(#[from] IoError),
    /// A picture could not be drawn.
    #[error(transparent)]
    View(#[from] ViewError),
    /// Work on a built-in mesh failed.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// Work on a built-in rig failed.
    #[error(transparent)]
    Rig(#[from] RigError),
    /// A blend of built-in models failed.
    #[error(transparent)]
    Physics(#[from] PhysicsError),
    /// A touch of a built-in model failed.
    #[error(transparent)]
    Touch(#[from] TouchError),
    /// A transfer between built-in models failed.
    #[error(transparent)]
    Transfer(#[from] TransferError),
    /// Learning from a built-in model failed.
    #[error(transparent)]
    Learn(#[from] LearnError),
    /// The watcher asked to stop.
    #[error("the demo was stopped; nothing was written")]
    Stopped,
}

/// What a demo wrote.
#[derive(Debug, Clone)]
pub struct Demo {
    /// The page to open.
    pub index: PathBuf,
    /// Every file, the page last.
    pub files: Vec<PathBuf>,
    /// What was measured, as (section, name, value) in the order of the page.
    pub figures: Vec<(String, String, String)>,
}

/// Makes the demo in the folder `out`, which is created where it does not exist.
pub fn run(out: &Path, progress: &dyn Progress) -> Result<Demo, DemoError> {
    type Chapter = fn(&mut Vec<Section>) -> Result<(), DemoError>;
    let chapters: [(&str, Chapter); 11] = [
        ("head", specimens::head),
        ("hand", specimens::hand),
        ("hound and tapir", specimens::quadrupeds),
        ("bar", specimens::bar),
        ("pose", pose::chapter),
        ("touch", touch::chapter),
        ("blend", blend::chapter),
        ("transfer", transfer::chapter),
        ("learn", learn::chapter),
        ("geodesics", geodesics::chapter),
        ("surfaces", surfaces::chapter),
    ];
    // Before the work, so that a folder that cannot be is not found out after it.
    std::fs::create_dir_all(out).map_err(|error| IoError::Write {
        path: out.to_owned(),
        source: error,
    })?;
    let mut sections = Vec::new();
    for (k, (name, chapter)) in chapters.iter().enumerate() {
        if progress
            .report(name, k as f64 / chapters.len() as f64)
            .is_break()
        {
            return Err(DemoError::Stopped);
        }
        chapter(&mut sections)?;
    }
    write(out, &page(sections)?)
}

/// The picture at the top of the page and of the README: four built-in models, as a PNG.
pub fn family_picture() -> Result<Vec<u8>, DemoError> {
    Ok(specimens::family()?.to_png()?)
}

fn page(sections: Vec<Section>) -> Result<Page, DemoError> {
    let text = "Pose, touch, blend, transfer and learn the deformation of a character mesh from examples. These are the built-in models and \
                what Pliant does with them.";
    let page = Page::new("Pliant", text).with_picture(
        "pliant.png",
        "Four built-in models",
        family_picture()?,
    );
    Ok(page.with_sections(sections).made_by("pliant demo"))
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

/// The result of `work` and how long it took.
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
