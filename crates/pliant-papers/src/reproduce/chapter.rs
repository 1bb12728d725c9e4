//! Chapters: the sections of a page, each with its place in the paper and its function.

use pliant_mesh::{Progress, ProgressPart};

use super::ReproduceError;
use crate::page::Section;

/// What a section of a page reproduces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChapterEntry {
    /// The name of the chapter, for the index page and for progress reports.
    pub name: &'static str,
    /// The tables, figures and equations of the paper, such as "table 5.1, figure 5.7".
    pub place: &'static str,
}

/// An entry with the function that computes its section from the models `M` of the page.
pub(super) struct Chapter<M: ?Sized> {
    entry: ChapterEntry,
    section: fn(&M) -> Result<Section, ReproduceError>,
}

impl<M: ?Sized> Chapter<M> {
    pub(super) fn new(
        name: &'static str,
        place: &'static str,
        section: fn(&M) -> Result<Section, ReproduceError>,
    ) -> Self {
        Self {
            entry: ChapterEntry { name, place },
            section,
        }
    }
}

/// The entries of some chapters.
pub(super) fn entries<M: ?Sized>(chapters: &[Chapter<M>]) -> Vec<ChapterEntry> {
    chapters.iter().map(|chapter| chapter.entry).collect()
}

/// Computes the sections of a page in order; the first one lists the `warnings`.
pub(super) fn sections<M: ?Sized>(
    models: &M,
    chapters: &[Chapter<M>],
    warnings: Vec<String>,
    progress: &dyn Progress,
) -> Result<Vec<Section>, ReproduceError> {
    let mut sections = Vec::with_capacity(chapters.len());
    for (k, chapter) in chapters.iter().enumerate() {
        let done = k as f64 / chapters.len() as f64;
        go_on(progress, chapter.entry.name, done)?;
        sections.push((chapter.section)(models)?);
    }

    if let Some(first) = sections.first_mut() {
        for warning in warnings {
            first.warning(warning);
        }
    }
    Ok(sections)
}

/// Reports that the models are loaded, and returns the part of `progress` that remains for the
/// chapters. Loading counts as one chapter.
pub(super) fn after_models(
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
    Ok(progress.proceed(stage, done)?)
}
