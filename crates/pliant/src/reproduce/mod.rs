//! The papers' tables and figures again, on models that everybody can have, with the published
//! values beside ours.
//!
//! Every reproduction is one page. No file is written until all pages are made.

mod blend;
mod data;
mod lcg;
mod learn;
mod numerals;
mod pose;
mod touch;
mod transfer;

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use pliant_io::IoError;
use pliant_learn::LearnError;
use pliant_mesh::{MeshError, Progress, ProgressPart};
use pliant_physics::PhysicsError;
use pliant_rig::RigError;
use pliant_transfer::TransferError;
use pliant_view::ViewError;
use thiserror::Error;

use crate::page::{Page, Section};
use crate::touch_job::TouchError;
pub use data::{Data, Model};

/// Why a paper could not be reproduced.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReproduceError {
    /// No reproduction has this name.
    #[error("there is no reproduction named '{name}'; there are: {known}")]
    Unknown {
        /// The name asked for.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// A model could not be read, or the pages not be written.
    #[error(transparent)]
    Io(#[from] IoError),
    /// A picture could not be drawn.
    #[error(transparent)]
    View(#[from] ViewError),
    /// Work on a mesh failed.
    #[error("{model}: {source}")]
    Mesh {
        /// The model.
        model: String,
        /// What failed.
        source: MeshError,
    },
    /// Work on a rig failed.
    #[error("{model}: {source}")]
    Rig {
        /// The model.
        model: String,
        /// What failed.
        source: RigError,
    },
    /// A transfer failed.
    #[error("{model}: {source}")]
    Transfer {
        /// The model.
        model: String,
        /// What failed.
        source: TransferError,
    },
    /// A blend failed.
    #[error("{model}: {source}")]
    Physics {
        /// The model.
        model: String,
        /// What failed.
        source: PhysicsError,
    },
    /// A touch failed.
    #[error("{model}: {source}")]
    Touch {
        /// The model.
        model: String,
        /// What failed.
        source: TouchError,
    },
    /// Learning failed.
    #[error("{model}: {source}")]
    Learn {
        /// The model.
        model: String,
        /// What failed.
        source: LearnError,
    },
    /// The watcher asked to stop.
    #[error("the reproduction was stopped; nothing was written")]
    Stopped,
}

/// One page of tables and figures.
#[derive(Debug, Clone, Copy)]
pub struct Reproduction {
    /// What it is called on the command line, and its folder.
    pub name: &'static str,
    /// Its title.
    pub title: &'static str,
    /// What it reproduces.
    pub paper: &'static str,
    make: fn(&Data, &dyn Progress) -> Result<Vec<Section>, ReproduceError>,
}

/// All reproductions, in the order of the pages.
pub const REPRODUCTIONS: &[Reproduction] = &[
    Reproduction {
        name: "pose",
        title: "Posing a face by its surface",
        paper: "Çetinaslan, \"Position Manipulation Techniques for Facial Animation\", thesis, University of Porto, 2016, chapters 3 and 4",
        make: pose::sections,
    },
    Reproduction {
        name: "touch",
        title: "Soft areas of a face",
        paper: "Çetinaslan, \"Position Manipulation Techniques for Facial Animation\", thesis, University of Porto, 2016, chapter 5",
        make: touch::sections,
    },
    Reproduction {
        name: "blend",
        title: "Shapes between shapes, as springs in balance",
        paper: "Ma, Wang, Fyffe, Chen and Debevec, \"A blendshape model that incorporates physical interaction\", Computer Animation and \
                Virtual Worlds 23, 2012",
        make: blend::sections,
    },
    Reproduction {
        name: "transfer",
        title: "One animal's walk on another",
        paper: "Wang and Lee, \"Example-driven animation synthesis\", The Visual Computer 24, 2008",
        make: transfer::sections,
    },
    Reproduction {
        name: "learn",
        title: "A hand that a few points drive",
        paper: "Huang, Yin, Zhao, Qi, Yu and Tong, \"Detail-preserving controllable deformation from sparse examples\", IEEE Transactions \
                on Visualization and Computer Graphics 18, 2012",
        make: learn::sections,
    },
];

/// What was written.
#[derive(Debug, Clone)]
pub struct Reproduced {
    /// The page that lists all others.
    pub index: PathBuf,
    /// Every page made: its name and its file.
    pub pages: Vec<(String, PathBuf)>,
    /// What was measured, as (page, section, name, value).
    pub figures: Vec<[String; 4]>,
    /// The pages with their tables, for those who want the numbers.
    pub contents: Vec<Page>,
    /// What is missing or odd.
    pub problems: Vec<String>,
}

/// Makes the reproductions called `names`, all of them if there are none, in the folder `out`,
/// which is created where it does not exist.
pub fn run(
    names: &[impl AsRef<str>],
    data: &Data,
    out: &Path,
    progress: &dyn Progress,
) -> Result<Reproduced, ReproduceError> {
    let chosen = chosen(names)?;
    require_folder(out)?;
    let mut pages = Vec::new();
    for (k, reproduction) in chosen.iter().enumerate() {
        let part = ProgressPart {
            whole: progress,
            begin: k as f64 / chosen.len() as f64,
            size: 1.0 / chosen.len() as f64,
        };
        let sections = (reproduction.make)(data, &part)?;
        let page = Page::new(reproduction.title, reproduction.paper)
            .with_sections(sections)
            .with_way_up("../index.html", "All reproductions");
        pages.push(
            page.dark_too()
                .made_by(format!("pliant reproduce {}", reproduction.name)),
        );
    }
    write(out, &chosen, pages)
}

/// What a section is called while it is made, and how it is made from what the page is about.
type Chapter<C> = (&'static str, fn(C) -> Result<Section, ReproduceError>);

/// The sections of a page about `cast`, one after the other; the first tells the `problems`.
fn told<C: Copy>(
    cast: C,
    chapters: &[Chapter<C>],
    problems: Vec<String>,
    progress: &dyn Progress,
) -> Result<Vec<Section>, ReproduceError> {
    let mut sections = Vec::with_capacity(chapters.len());
    for (k, (name, chapter)) in chapters.iter().enumerate() {
        go_on(progress, name, k as f64 / chapters.len() as f64)?;
        sections.push(chapter(cast)?);
    }
    if let Some(first) = sections.first_mut() {
        problems
            .into_iter()
            .for_each(|problem| first.problem(problem));
    }
    Ok(sections)
}

/// What is left of `progress` for so many chapters once their models were loaded, which counts as
/// one.
fn after_models(
    progress: &dyn Progress,
    chapters: usize,
) -> Result<ProgressPart<'_>, ReproduceError> {
    go_on(progress, "models", 0.0)?;
    let begin = 1.0 / (chapters + 1) as f64;
    Ok(ProgressPart {
        whole: progress,
        begin,
        size: 1.0 - begin,
    })
}

fn go_on(progress: &dyn Progress, stage: &str, done: f64) -> Result<(), ReproduceError> {
    match progress.report(stage, done) {
        ControlFlow::Break(()) => Err(ReproduceError::Stopped),
        ControlFlow::Continue(()) => Ok(()),
    }
}

/// The reproductions of these names in their own order, each once.
fn chosen(names: &[impl AsRef<str>]) -> Result<Vec<&'static Reproduction>, ReproduceError> {
    let is_known = |name: &str| {
        REPRODUCTIONS
            .iter()
            .any(|reproduction| reproduction.name == name)
    };
    if let Some(unknown) = names.iter().map(AsRef::as_ref).find(|name| !is_known(name)) {
        let known: Vec<&str> = REPRODUCTIONS
            .iter()
            .map(|reproduction| reproduction.name)
            .collect();
        return Err(ReproduceError::Unknown {
            name: unknown.to_owned(),
            known: known.join(", "),
        });
    }
    let asked = |reproduction: &&Reproduction| {
        names.is_empty() || names.iter().any(|name| name.as_ref() == reproduction.name)
    };
    Ok(REPRODUCTIONS.iter().filter(asked).collect())
}

/// Declines an output folder below something that is no folder, before any work is lost.
fn require_folder(out: &Path) -> Result<(), IoError> {
    let there = out.ancestors().find(|path| path.exists());
    match there {
        Some(path) if !path.is_dir() => Err(IoError::Write {
            path: out.to_owned(),
            source: std::io::Error::other(format!("'{}' is not a folder", path.display())),
        }),
        _ => Ok(()),
    }
}

fn write(
    out: &Path,
    chosen: &[&Reproduction],
    pages: Vec<Page>,
) -> Result<Reproduced, ReproduceError> {
    let mut files = Vec::new();
    for (reproduction, page) in chosen.iter().zip(&pages) {
        files.extend(page.in_folder(&out.join(reproduction.name)));
    }
    files.extend(listing(chosen, &pages).in_folder(out));
    let folders = chosen
        .iter()
        .map(|reproduction| out.join(reproduction.name));
    in_new_folders(folders.collect(), || pliant_io::write_files(&files))?;
    let figures = chosen.iter().zip(&pages).flat_map(|(reproduction, page)| {
        page.figures().map(|(section, name, value)| {
            [reproduction.name, section, name, value].map(str::to_owned)
        })
    });
    Ok(Reproduced {
        index: out.join("index.html"),
        pages: chosen
            .iter()
            .map(|r| (r.name.to_owned(), out.join(r.name).join("index.html")))
            .collect(),
        figures: figures.collect(),
        problems: pages
            .iter()
            .flat_map(Page::problems)
            .map(str::to_owned)
            .collect(),
        contents: pages,
    })
}

/// Makes the folders and does `work`; where either fails, folders that were not there before go
/// again.
fn in_new_folders(
    folders: Vec<PathBuf>,
    work: impl FnOnce() -> Result<(), IoError>,
) -> Result<(), IoError> {
    let new: Vec<&Path> = folders
        .iter()
        .flat_map(|folder| folder.ancestors())
        .filter(|path| !path.exists())
        .collect();
    let made = folders.iter().try_for_each(|path| {
        fs::create_dir_all(path).map_err(|source| IoError::Write {
            path: path.clone(),
            source,
        })
    });
    let done = made.and_then(|()| work());
    if done.is_err() {
        // Ancestors follow what they hold; a folder that is not empty stays.
        new.iter().for_each(|path| drop(fs::remove_dir(path)));
    }
    done
}

/// The page that lists all others.
fn listing(chosen: &[&Reproduction], pages: &[Page]) -> Page {
    let mut listing = Page::new(
        "Reproductions",
        "The papers' tables and figures on open data, with the published values beside ours.",
    );
    for (reproduction, page) in chosen.iter().zip(pages) {
        let mut section = Section::new(reproduction.title, reproduction.paper);
        page.figures()
            .take(6)
            .for_each(|(_, name, value)| section.figure(name, value));
        section.link(&format!("{}/index.html", reproduction.name), "open");
        listing = listing.with_section(section);
    }
    listing.dark_too().made_by("pliant reproduce")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_choose_each_once_and_none_means_all() {
        let names = |chosen: Vec<&Reproduction>| chosen.iter().map(|r| r.name).collect::<Vec<_>>();
        assert_eq!(names(chosen(&["pose", "pose"]).unwrap()), ["pose"]);
        assert_eq!(chosen(&[""; 0]).unwrap().len(), REPRODUCTIONS.len());
        let message = chosen(&["pose", "prose"]).unwrap_err().to_string();
        assert!(
            message.contains("'prose'") && message.contains("pose"),
            "{message}"
        );
    }

    #[test]
    fn folders_made_for_work_that_failed_go_again() {
        let place = tempfile::tempdir().unwrap();
        let deep = place.path().join("a").join("b");
        let failed = in_new_folders(vec![deep.clone()], || {
            Err(IoError::Missing { path: deep.clone() })
        });
        assert!(failed.is_err() && !place.path().join("a").exists() && place.path().exists());
        in_new_folders(vec![deep.clone()], || Ok(())).unwrap();
        assert!(deep.is_dir());
    }

    #[test]
    fn a_watcher_who_asks_to_stop_is_heard() {
        struct Impatient;
        impl Progress for Impatient {
            fn report(&self, _: &str, _: f64) -> ControlFlow<()> {
                ControlFlow::Break(())
            }
        }
        let place = tempfile::tempdir().unwrap();
        let out = place.path().join("out");
        let stopped = run(&["pose"], &Data::built_in(), &out, &Impatient);
        assert!(matches!(stopped, Err(ReproduceError::Stopped)) && !out.exists());
    }
}
