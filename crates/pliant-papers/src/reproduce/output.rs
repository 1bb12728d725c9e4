//! Pages on disk: one folder for each page, and the index page that lists them.

use std::fs;
use std::path::{Path, PathBuf};

use pliant_io::IoError;

use super::{ReproduceError, Reproduction};
use crate::page::{Page, Section, Table};

/// Figures of a page that the index page repeats.
const INDEX_FIGURES: usize = 6;

/// The written pages and their content.
#[derive(Debug, Clone)]
pub struct ReproductionReport {
    /// The index page.
    pub index: PathBuf,
    /// The name and the file of every page.
    pub pages: Vec<(String, PathBuf)>,
    /// The measured figures, as (page, section, name, value).
    pub figures: Vec<[String; 4]>,
    /// The pages with their tables.
    pub contents: Vec<Page>,
    /// Missing data and other warnings.
    pub warnings: Vec<String>,
}

/// Rejects an output folder below something that is no folder, before any work is lost.
pub(super) fn require_folder(out: &Path) -> Result<(), IoError> {
    let existing = out.ancestors().find(|path| path.exists());
    match existing {
        Some(path) if !path.is_dir() => Err(IoError::Write {
            path: out.to_owned(),
            source: std::io::Error::other(format!("'{}' is not a folder", path.display())),
        }),
        _ => Ok(()),
    }
}

/// Writes the pages and their index into the folder `out`.
pub(super) fn write(
    out: &Path,
    chosen: &[&Reproduction],
    pages: Vec<Page>,
) -> Result<ReproductionReport, ReproduceError> {
    let folders: Vec<PathBuf> = chosen
        .iter()
        .map(|reproduction| out.join(reproduction.name))
        .collect();

    let mut files = Vec::new();
    for (folder, page) in folders.iter().zip(&pages) {
        files.extend(page.in_folder(folder));
    }
    files.extend(index_page(chosen, &pages).in_folder(out));
    in_new_folders(&folders, || pliant_io::write_files(&files))?;

    Ok(report(out, chosen, pages))
}

fn report(out: &Path, chosen: &[&Reproduction], contents: Vec<Page>) -> ReproductionReport {
    let mut pages = Vec::new();
    let mut figures = Vec::new();
    let mut warnings = Vec::new();
    for (reproduction, page) in chosen.iter().zip(&contents) {
        let file = out.join(reproduction.name).join("index.html");
        pages.push((reproduction.name.to_owned(), file));
        for (section, name, value) in page.figures() {
            figures.push([reproduction.name, section, name, value].map(str::to_owned));
        }
        warnings.extend(page.warnings().map(str::to_owned));
    }

    ReproductionReport {
        index: out.join("index.html"),
        pages,
        figures,
        contents,
        warnings,
    }
}

/// Creates the folders and does `work`; if either fails, folders that are new are removed again.
fn in_new_folders(
    folders: &[PathBuf],
    work: impl FnOnce() -> Result<(), IoError>,
) -> Result<(), IoError> {
    let new: Vec<&Path> = folders
        .iter()
        .flat_map(|folder| folder.ancestors())
        .filter(|path| !path.exists())
        .collect();

    let done = create(folders).and_then(|()| work());
    if done.is_err() {
        // A folder precedes its ancestors; one that is not empty stays.
        for path in new {
            drop(fs::remove_dir(path));
        }
    }
    done
}

fn create(folders: &[PathBuf]) -> Result<(), IoError> {
    for path in folders {
        fs::create_dir_all(path).map_err(|source| IoError::Write {
            path: path.clone(),
            source,
        })?;
    }
    Ok(())
}

/// The page that lists all others, with the chapters of each.
fn index_page(chosen: &[&Reproduction], pages: &[Page]) -> Page {
    let mut index = Page::new(
        "Reproductions",
        "The tables and figures of the papers, computed on open data. Published values stand beside ours.",
    );

    for (reproduction, page) in chosen.iter().zip(pages) {
        let mut section = Section::new(reproduction.title, reproduction.paper);
        for (_, name, value) in page.figures().take(INDEX_FIGURES) {
            section.figure(name, value);
        }

        let mut chapters = Table::new("The chapters of the page.", ["chapter", "in the paper"]);
        for chapter in reproduction.chapters() {
            chapters.push([chapter.name, chapter.place]);
        }
        section.table(chapters);
        section.link(&format!("{}/index.html", reproduction.name), "open");
        index = index.with_section(section);
    }

    index.with_dark_mode().with_command("pliant reproduce")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_folders_are_removed_again_if_the_work_fails() {
        let place = tempfile::tempdir().unwrap();
        let deep = place.path().join("a").join("b");
        let folders = [deep.clone()];

        let failed = in_new_folders(&folders, || Err(IoError::Missing { path: deep.clone() }));
        assert!(failed.is_err() && !place.path().join("a").exists() && place.path().exists());

        in_new_folders(&folders, || Ok(())).unwrap();
        assert!(deep.is_dir());
    }
}
